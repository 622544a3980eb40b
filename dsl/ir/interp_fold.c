/* The interpreter's tile operations that move elements to other places or combine them:
** permute, cat, extract_tile, reduce, scan, mma. */
#include "dsl/ir/eval.h"
#include "dsl/ir/interp.h"

/* Row-major strides, in elements. */
static void get_strides(const GpShape *shape, int64_t *stride) {
    int64_t n = 1;
    for (int a = shape->rank - 1; a >= 0; a--) {
        stride[a] = n;
        n *= shape->dim[a];
    }
}

/* Walks the elements of `shape` in row-major order. `at` is the sum of coordinates times `step`. */
static void next_element(const GpShape *shape, const int64_t *step, int64_t *coord, int64_t *at) {
    for (int a = shape->rank - 1; a >= 0; a--) {
        *at += step[a];
        if (++coord[a] < shape->dim[a]) return;
        *at -= step[a] * shape->dim[a];
        coord[a] = 0;
    }
}

/* to[e] = from[at(e)] for the elements e of `shape`. */
static void read_strided(const GpShape *shape, const int64_t *step, int64_t at,
                         const GpScalar *from, GpScalar *to) {
    int64_t n = gp_ir_tile_numel(shape), coord[GP_MAX_RANK] = {0};
    for (int64_t e = 0; e < n; e++) {
        to[e] = from[at];
        next_element(shape, step, coord, &at);
    }
}

GpFlow gp_interp_Permute(GpInterp *in, const GpInst *inst) {
    const GpShape *to = &inst->results[0]->type->shape;
    int64_t stride[GP_MAX_RANK], step[GP_MAX_RANK];
    get_strides(&inst->operands[0]->type->shape, stride);
    for (int k = 0; k < to->rank; k++) step[k] = stride[inst->perm.axis[k]];
    read_strided(to, step, 0, gp_interp_at(in, inst->operands[0]), gp_interp_result(in, inst));
    return GpFlow_Next;
}

GpFlow gp_interp_ExtractTile(GpInterp *in, const GpInst *inst) {
    const GpShape *from = &inst->operands[0]->type->shape, *to = &inst->results[0]->type->shape;
    int64_t stride[GP_MAX_RANK] = {0}, at = 0;
    get_strides(from, stride);
    for (int a = 0; a < to->rank; a++) {
        uint32_t index = (uint32_t)gp_interp_get(in, inst, 1 + (uint32_t)a).u;
        at += (int64_t)(index % (uint64_t)(from->dim[a] / to->dim[a])) * to->dim[a] * stride[a];
    }
    read_strided(to, stride, at, gp_interp_at(in, inst->operands[0]), gp_interp_result(in, inst));
    return GpFlow_Next;
}

/* Elements before, along and after an axis: a tile is outer x extent x inner. */
typedef struct Axis {
    int64_t outer, extent, inner;
} Axis;

static Axis split_axis(const GpShape *shape, int axis) {
    Axis x = {1, shape->dim[axis], 1};
    for (int a = 0; a < axis; a++) x.outer *= shape->dim[a];
    for (int a = axis + 1; a < shape->rank; a++) x.inner *= shape->dim[a];
    return x;
}

GpFlow gp_interp_Cat(GpInterp *in, const GpInst *inst) {
    Axis a = split_axis(&inst->operands[0]->type->shape, inst->axis);
    Axis b = split_axis(&inst->operands[1]->type->shape, inst->axis);
    size_t first = (size_t)(a.extent * a.inner), second = (size_t)(b.extent * b.inner);
    const GpScalar *x = gp_interp_at(in, inst->operands[0]);
    const GpScalar *y = gp_interp_at(in, inst->operands[1]);
    GpScalar *to = gp_interp_result(in, inst);
    for (int64_t o = 0; o < a.outer; o++) {
        memcpy(to, x, first * sizeof *to);
        memcpy(to + first, y, second * sizeof *to);
        to += first + second, x += first, y += second;
    }
    return GpFlow_Next;
}

/* The region of a reduction on two scalars. */
static GpScalar combine(GpInterp *in, const GpInst *inst, GpScalar acc, GpScalar x) {
    const GpRegion *r = inst->regions[0];
    *gp_interp_at(in, r->params[0]) = acc;
    *gp_interp_at(in, r->params[1]) = x;
    (void)gp_interp_region(in, r);
    return *gp_interp_at(in, r->last->operands[0]);
}

GpFlow gp_interp_Reduce(GpInterp *in, const GpInst *inst) {
    Axis axis = split_axis(&inst->operands[0]->type->shape, inst->axis);
    const GpScalar *from = gp_interp_at(in, inst->operands[0]);
    GpScalar identity = gp_interp_get(in, inst, 1), *to = gp_interp_result(in, inst);
    for (int64_t o = 0; o < axis.outer; o++) {
        for (int64_t i = 0; i < axis.inner; i++) {
            const GpScalar *x = from + o * axis.extent * axis.inner + i;
            GpScalar acc = identity;
            for (int64_t k = 0; k < axis.extent; k++)
                acc = combine(in, inst, acc, x[k * axis.inner]);
            to[o * axis.inner + i] = acc;
        }
    }
    return GpFlow_Next;
}

GpFlow gp_interp_Scan(GpInterp *in, const GpInst *inst) {
    Axis axis = split_axis(&inst->operands[0]->type->shape, inst->axis);
    const GpScalar *from = gp_interp_at(in, inst->operands[0]);
    GpScalar identity = gp_interp_get(in, inst, 1), *to = gp_interp_result(in, inst);
    for (int64_t o = 0; o < axis.outer; o++) {
        for (int64_t i = 0; i < axis.inner; i++) {
            GpScalar acc = identity;
            for (int64_t k = 0; k < axis.extent; k++) {
                int64_t along = inst->is_reverse ? axis.extent - 1 - k : k;
                int64_t at = (o * axis.extent + along) * axis.inner + i;
                to[at] = acc = combine(in, inst, acc, from[at]);
            }
        }
    }
    return GpFlow_Next;
}

/* acc + a[0] * b[0] + a[1] * b[n] + .. in the type `sum`. */
static GpScalar dot(GpElem sum, GpScalar acc, const GpScalar *a, const GpScalar *b, int64_t count,
                    int64_t n) {
    GpScalar total = gp_scalar_cast(acc, sum), product;
    for (int64_t k = 0; k < count; k++) {
        GpScalar x[2] = {gp_scalar_cast(a[k], sum), gp_scalar_cast(b[k * n], sum)};
        (void)gp_eval(GpOp_Mul, GpPred_Eq, sum, x, &product);
        x[0] = total, x[1] = product;
        (void)gp_eval(GpOp_Add, GpPred_Eq, sum, x, &total);
    }
    return gp_scalar_cast(total, acc.elem);
}

GpFlow gp_interp_Mma(GpInterp *in, const GpInst *inst) {
    const GpIrType *ta = inst->operands[0]->type, *tb = inst->operands[1]->type;
    const GpIrType *tc = inst->operands[2]->type;
    int last = ta->shape.rank - 1;
    int64_t m = ta->shape.dim[last - 1], k = ta->shape.dim[last], n = tb->shape.dim[last];
    int64_t batches = last == 2 ? ta->shape.dim[0] : 1;
    const GpScalar *a = gp_interp_at(in, inst->operands[0]);
    const GpScalar *b = gp_interp_at(in, inst->operands[1]);
    const GpScalar *acc = gp_interp_at(in, inst->operands[2]);
    GpScalar *to = gp_interp_result(in, inst);
    GpElem sum = tc->elem;
    gp_assert(gp_mma_find(ta->elem, tb->elem, tc->elem, &sum));
    for (int64_t i = 0; i < batches * m * n; i++) {
        int64_t row = i / n, batch = row / m;
        to[i] = dot(sum, acc[i], a + row * k, b + batch * k * n + i % n, k, n);
    }
    return GpFlow_Next;
}
