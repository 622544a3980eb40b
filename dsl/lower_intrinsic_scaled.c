/* Scaled products of matrices, and the packed elements that they take. A scaled element is exact
** in f32, so that the product is one of f32; sm_100's instructions for it are not used. */
#include "dsl/lower_tile.h"

static const struct {
    GpElem elem, scale;
    int block;
} rows[] = {
#define GP_MMA_SCALED(elem, scale, block) {GpElem_##elem, GpElem_##scale, block},
#include "dsl/ir/mma_scaled.def"
};

static bool has_row(GpElem elem, GpElem scale, int64_t block) {
    for (size_t i = 0; i < GP_COUNT(rows); i++)
        if (rows[i].elem == elem && rows[i].scale == scale && rows[i].block == block)
            return true;
    return false;
}

/* The elements that share a scale along an axis; 0 when the shapes do not go together. */
static int64_t block_of(const GpValue *x, const GpValue *scale, int axis) {
    const GpShape *a = &x->type->shape, *b = &scale->type->shape;
    if (a->rank != b->rank || axis < 0)
        return 0;
    for (int i = 0; i < a->rank; i++)
        if (i == axis ? b->dim[i] < 1 || a->dim[i] % b->dim[i] != 0 : a->dim[i] != b->dim[i])
            return 0;
    return a->dim[axis] / b->dim[axis];
}

/* Each of the tile's elements times its block's scale, as f32. */
static GpValue *apply(GpLower *lo, GpValue *x, GpValue *scale, int axis, int64_t block) {
    const GpShape whole = x->type->shape;
    GpShape column = scale->type->shape, repeated = column;
    column.rank = repeated.rank = (uint8_t)(whole.rank + 1);
    for (int i = whole.rank; i > axis + 1; i--)
        column.dim[i] = repeated.dim[i] = whole.dim[i - 1];
    column.dim[axis + 1] = 1;
    repeated.dim[axis + 1] = block;
    GpValue *s = gp_lower_convert(lo, scale, GpElem_F32);
    s = gp_tile_broadcast(lo, gp_tile_reshape(lo, s, &column), &repeated);
    return gp_build2(&lo->b, GpOp_Mul, gp_lower_convert(lo, x, GpElem_F32),
                     gp_tile_reshape(lo, s, &whole));
}

GpVal gp_lower_MatMulScaled(GpLower *lo, const GpLowerCall *call) {
    GpValue *x[5];
    for (uint32_t i = 0; i < 5; i++)
        x[i] = gp_call_scalar(lo, call, i);
    GpElem elem = x[0]->type->elem, scale = x[3]->type->elem;
    int k[2] = {x[0]->type->shape.rank - 1, x[1]->type->shape.rank - 2};
    int64_t block = block_of(x[0], x[3], k[0]);
    if (!gp_tile_are_matrices(x) || !block || block != block_of(x[1], x[4], k[1])) {
        gp_lower_refuse(lo, call->span, "a product of tiles and scales of these shapes");
        return gp_lower_undef(lo, call->type);
    }
    if (!has_row(elem, scale, block)) {
        gp_lower_refuse(lo, call->span, "a product of `%s` scaled by `%s` in blocks of %lld",
                        gp_elem_info[elem].name, gp_elem_info[scale].name, (long long)block);
        return gp_lower_undef(lo, call->type);
    }
    GpValue *operands[] = {apply(lo, x[0], x[3], k[0], block), apply(lo, x[1], x[4], k[1], block), x[2]};
    const GpIrType *t = x[2]->type;
    return gp_call_result(lo, call, gp_build(&lo->b, GpOp_Mma, operands, 3, &t, 1)->results[0]);
}

/* ---- Two elements in a byte ----------------------------------------------------------------- */

static GpValue *retype(GpLower *lo, GpValue *x, GpElem elem) {
    const GpIrType *t = gp_ir_tile(lo->fn, elem, &x->type->shape);
    return x->type->elem == elem ? x : gp_build(&lo->b, GpOp_Bitcast, &x, 1, &t, 1)->results[0];
}

static GpValue *byte(GpLower *lo, const GpIrType *t, uint64_t v) {
    return gp_build_const(&lo->b, t, (GpScalar){.elem = GpElem_U8, .u = v});
}

/* Whether the shapes differ in the last axis alone, which holds two elements of one in the other. */
static bool are_halves(const GpShape *bytes, const GpShape *elems) {
    int last = bytes->rank - 1;
    if (bytes->rank != elems->rank || last < 0 || bytes->rank >= GP_MAX_RANK)
        return false;
    for (int i = 0; i < last; i++)
        if (bytes->dim[i] != elems->dim[i])
            return false;
    return elems->dim[last] == 2 * bytes->dim[last];
}

static bool check_packing(GpLower *lo, const GpLowerCall *call, GpElem elem, const GpShape *bytes,
                          const GpShape *elems) {
    if (elem != GpElem_F4E2)
        gp_lower_refuse(lo, call->span, "`%s` of `%s`", call->def->name->name, gp_elem_info[elem].name);
    else if (!are_halves(bytes, elems))
        gp_lower_refuse(lo, call->span, "`%s` that does not make one byte of two elements",
                        call->def->name->name);
    else
        return true;
    return false;
}

/* The elements as {.., k / 2, 2}: of each byte the lower half, then the upper one. */
static GpShape pairs_of(const GpShape *bytes) {
    GpShape pairs = *bytes;
    pairs.dim[pairs.rank++] = 2;
    return pairs;
}

GpVal gp_lower_UnpackBytes(GpLower *lo, const GpLowerCall *call) {
    GpValue *x = retype(lo, gp_call_scalar(lo, call, 0), GpElem_U8);
    GpElem elem = gp_lower_adt_elem(call->type);
    GpShape to = gp_lower_adt_shape(lo, call->type), from = x->type->shape;
    if (!check_packing(lo, call, elem, &from, &to))
        return gp_lower_undef(lo, call->type);
    GpShape pairs = pairs_of(&from), column = pairs;
    column.dim[column.rank - 1] = 1;
    GpValue *half[2] = {gp_build2(&lo->b, GpOp_And, x, byte(lo, x->type, 0xf)),
                        gp_build2(&lo->b, GpOp_Shr, x, byte(lo, x->type, 4))};
    for (int i = 0; i < 2; i++)
        half[i] = gp_tile_reshape(lo, half[i], &column);
    const GpIrType *t = gp_ir_tile(lo->fn, GpElem_U8, &pairs);
    GpInst *cat = gp_build(&lo->b, GpOp_Cat, half, 2, &t, 1);
    cat->axis = (uint8_t)from.rank;
    return gp_call_result(lo, call, retype(lo, gp_tile_reshape(lo, cat->results[0], &to), elem));
}

GpVal gp_lower_PackBytes(GpLower *lo, const GpLowerCall *call) {
    GpValue *x = gp_call_scalar(lo, call, 0);
    GpShape to = gp_lower_adt_shape(lo, call->type), from = x->type->shape;
    if (!check_packing(lo, call, x->type->elem, &to, &from))
        return gp_lower_undef(lo, call->type);
    GpShape pairs = pairs_of(&to), column = pairs;
    column.dim[column.rank - 1] = 1;
    x = gp_tile_reshape(lo, retype(lo, x, GpElem_U8), &pairs);
    const GpIrType *t = gp_ir_tile(lo->fn, GpElem_U8, &column);
    GpValue *half[2], *at[GP_MAX_RANK + 1] = {x};
    for (int i = 0; i < 2; i++) {
        for (int axis = 0; axis < pairs.rank; axis++)
            at[axis + 1] = gp_build_int(&lo->b, GpElem_I32, axis == to.rank ? i : 0);
        half[i] = gp_build(&lo->b, GpOp_ExtractTile, at, pairs.rank + 1u, &t, 1)->results[0];
        half[i] = gp_tile_reshape(lo, half[i], &to);
    }
    GpValue *high = gp_build2(&lo->b, GpOp_Shl, half[1], byte(lo, half[1]->type, 4));
    GpValue *bytes = gp_build2(&lo->b, GpOp_Or, half[0], high);
    return gp_call_result(lo, call, retype(lo, bytes, gp_lower_adt_elem(call->type)));
}
