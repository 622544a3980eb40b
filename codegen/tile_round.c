/* Extents that threads can not share are rounded up.
**
** Layouts hand out bits of coordinates (dsl/ir/layout.h): of a row of 1000 elements, 8 times 125, three bits,
** so that most threads of a block would hold the same, and each of them much. Here such extents become multiples of
** greater powers of two. Accesses keep what they were (GpInst.part), reductions and scans find their identity
** beyond it, and accesses through addresses are masked; what elementwise operations make there is nobody's.
** An axis that another operation takes apart keeps its extent, and so do those of products but for rows. Where copies bring the
** operands of products (async.h), nothing is rounded but these rows, to those of whole instructions of the tensor cores. */
#include "codegen/emit_tile_gpu.h"

enum { FEW = 128 }; /* elements of a tile that is not worth it */

typedef struct Axis {
    uint32_t parent; /* union-find, by value id and axis */
    int64_t extent;  /* of a root: what it becomes */
    bool is_fixed;   /* of a root */
} Axis;

/* A tile with the identity in the place of what is beyond its extents. */
typedef struct Filled {
    struct Filled *next;
    const GpValue *of, *identity;
    uint8_t axis;
    GpValue *by;
} Filled;

typedef struct Round {
    GpIrFn *fn;
    GpBlockShare share;
    Axis *axes;
    Filled *filled;
    bool has_products, is_changed;
} Round;

static uint32_t root_of(Round *p, uint32_t id) {
    while (p->axes[id].parent != id)
        id = p->axes[id].parent = p->axes[p->axes[id].parent].parent;
    return id;
}

static Axis *axis_of(Round *p, const GpValue *v, int a) {
    return &p->axes[root_of(p, v->id * GP_MAX_RANK + (uint32_t)a)];
}

static void unite_axes(Round *p, const GpValue *v, int a, const GpValue *w, int b) {
    Axis *from = axis_of(p, v, a), *to = axis_of(p, w, b);
    to->is_fixed |= from->is_fixed;
    from->parent = (uint32_t)(to - p->axes);
}

static void unite(Round *p, const GpValue *v, const GpValue *w) {
    for (int a = 0; gp_ir_is_tile(v) && gp_ir_is_tile(w) && a < v->type->shape.rank; a++)
        unite_axes(p, v, a, w, a);
}

static void fix(Round *p, const GpValue *v) {
    for (int a = 0; gp_ir_is_tile(v) && a < v->type->shape.rank; a++)
        axis_of(p, v, a)->is_fixed = true;
}

static void unite_lists(Round *p, GpValue *const *v, GpValue *const *w, uint32_t count) {
    for (uint32_t i = 0; i < count; i++)
        unite(p, v[i], w[i]);
}

/* What a yield, break or continue carries, and to where. */
static void unite_carried(Round *p, const GpInst *inst) {
    const GpInst *to = gp_ir_goes_to(inst);
    if (to && to->op != GpOp_Reduce && to->op != GpOp_Scan)
        unite_lists(p, inst->operands, gp_ir_hands_to(inst), inst->operand_count);
}

static void unite_all(Round *p, const GpInst *inst) {
    const GpValue *first = NULL;
    for (uint32_t i = 0; i < inst->operand_count + inst->result_count; i++) {
        const GpValue *v = i < inst->operand_count ? inst->operands[i] : inst->results[i - inst->operand_count];
        if (first)
            unite(p, v, first);
        first = gp_ir_is_tile(v) ? v : first;
    }
}

static void fix_all(Round *p, const GpInst *inst) {
    for (uint32_t i = 0; i < inst->operand_count; i++)
        fix(p, inst->operands[i]);
    for (uint32_t i = 0; i < inst->result_count; i++)
        fix(p, inst->results[i]);
}

/* Axes of extent 1 may come and go: those that do keep it. */
static void unite_reshaped(Round *p, const GpInst *inst) {
    const GpValue *v = inst->operands[0], *result = inst->results[0];
    const GpShape *from = &v->type->shape, *to = &result->type->shape;
    int a = 0, b = 0;
    while (a < from->rank || b < to->rank) {
        if (a < from->rank && b < to->rank && from->dim[a] == to->dim[b])
            unite_axes(p, v, a++, result, b++);
        else if (a < from->rank && from->dim[a] == 1)
            axis_of(p, v, a++)->is_fixed = true;
        else if (b < to->rank && to->dim[b] == 1)
            axis_of(p, result, b++)->is_fixed = true;
        else
            break;
    }
    if (a < from->rank || b < to->rank)
        fix_all(p, inst);
}

static void unite_moved(Round *p, const GpInst *inst) {
    const GpValue *v = inst->operands[0], *result = inst->results[0];
    int rank = v->type->shape.rank;
    if (inst->op == GpOp_Reshape)
        unite_reshaped(p, inst);
    for (int a = 0, k = 0; a < rank && inst->op == GpOp_Reduce; a++)
        if (a != inst->axis)
            unite_axes(p, v, a, result, k++);
    for (int a = 0; a < rank && inst->op == GpOp_Broadcast; a++) {
        if (v->type->shape.dim[a] == result->type->shape.dim[a])
            unite_axes(p, v, a, result, a);
        else
            axis_of(p, v, a)->is_fixed = true;
    }
    for (int k = 0; k < rank && inst->op == GpOp_Permute; k++)
        unite_axes(p, v, inst->perm.axis[k], result, k);
}

/* By what may be 0 beyond the extents, which no check sees there. */
static bool divides_integers(const GpInst *inst) {
    GpScalar by;
    bool is_division = inst->op == GpOp_Div || inst->op == GpOp_Rem;
    return is_division && !gp_elem_is_float(inst->results[0]->type->elem) &&
           !(gp_ir_const(inst->operands[1], &by) && by.i != 0);
}

static void unite_product(Round *p, const GpInst *mma) {
    for (uint32_t i = 0; i < mma->operand_count; i++)
        for (int a = 0; a < mma->operands[i]->type->shape.rank; a++)
            if (i == 1 || a != mma->operands[i]->type->shape.rank - 2)
                axis_of(p, mma->operands[i], a)->is_fixed = true;
    int row = mma->results[0]->type->shape.rank - 2;
    axis_of(p, mma->results[0], row + 1)->is_fixed = true;
    unite_axes(p, mma->operands[0], row, mma->results[0], row);
    unite_axes(p, mma->operands[2], row, mma->results[0], row);
    for (int a = 0; a < row; a++)
        axis_of(p, mma->results[0], a)->is_fixed = true;
}

static void unite_joined(Round *p, const GpInst *cat) {
    const GpValue *result = cat->results[0];
    for (uint32_t i = 0; i < cat->operand_count; i++)
        for (int a = 0; a < result->type->shape.rank; a++) {
            if (a != cat->axis)
                unite_axes(p, cat->operands[i], a, result, a);
            else
                axis_of(p, cat->operands[i], a)->is_fixed = axis_of(p, result, a)->is_fixed = true;
        }
}

static bool is_free(GpOp op) {
    return op == GpOp_Const || op == GpOp_Splat || op == GpOp_Iota || op == GpOp_LoadTile || op == GpOp_StoreTile;
}

static void note_inst(GpInst *inst, void *ud) {
    Round *p = ud;
    p->has_products |= inst->op == GpOp_Mma;
    if (inst->op == GpOp_Mma) {
        unite_product(p, inst);
    } else if (inst->op == GpOp_Cat) {
        unite_joined(p, inst);
    } else if (inst->op == GpOp_For) {
        unite_lists(p, gp_loop_starts(inst), gp_loop_params(inst), inst->result_count);
        unite_lists(p, inst->results, gp_loop_params(inst), inst->result_count);
    } else if (inst->op == GpOp_Loop) {
        unite_lists(p, inst->operands, inst->regions[0]->params, inst->operand_count);
    } else if (gp_op_is_terminator(inst->op)) {
        if (inst->op != GpOp_Return)
            unite_carried(p, inst);
    } else if (inst->op == GpOp_Reshape || inst->op == GpOp_Reduce || inst->op == GpOp_Broadcast ||
               inst->op == GpOp_Permute) {
        unite_moved(p, inst);
    } else if ((gp_sig_info[gp_op_info[inst->op].sig].elementwise && !divides_integers(inst)) ||
               inst->op == GpOp_Scan || gp_gpu_is_addressed(inst->op)) {
        unite_all(p, inst);
    } else if (!is_free(inst->op) && !inst->region_count) {
        fix_all(p, inst);
    }
}

/* ---- Extents ------------------------------------------------------------------------------------- */

static uint64_t power_in(int64_t n) { return (uint64_t)n & (0 - (uint64_t)n); }

static uint64_t power_above(uint64_t n) {
    uint64_t power = 1;
    while (power < n)
        power *= 2;
    return power;
}

static GpShape shape_of(Round *p, const GpValue *v) {
    GpShape shape = v->type->shape;
    for (int a = 0; a < shape.rank; a++)
        shape.dim[a] = axis_of(p, v, a)->extent;
    return shape;
}

/* The elements that a block can share out: the greatest power of two in each extent. */
static uint64_t shared_of(const GpShape *shape) {
    uint64_t shared = 1;
    for (int a = 0; a < shape->rank; a++)
        shared *= power_in(shape->dim[a]);
    return shared;
}

static void widen(Round *p, const GpValue *v) {
    int64_t numel = 0;
    GpShape shape = shape_of(p, v);
    if (!gp_shape_numel(&shape, &numel) || numel < FEW)
        return;
    uint64_t want = GP_MIN(power_above((uint64_t)numel), (uint64_t)p->share.threads * p->share.vector);
    for (int a = shape.rank - 1; a >= 0 && shared_of(&shape) < want; a--) {
        Axis *axis = axis_of(p, v, a);
        uint64_t power = power_in(shape.dim[a]), wider = want / shared_of(&shape) * power;
        wider = GP_MIN(wider, power_above((uint64_t)shape.dim[a]));
        if (axis->is_fixed || shape.dim[a] == 1 || wider == power)
            continue;
        shape.dim[a] = (shape.dim[a] + (int64_t)wider - 1) / (int64_t)wider * (int64_t)wider;
        axis->extent = shape.dim[a];
        p->is_changed = true;
    }
}

static void widen_product(GpInst *inst, void *ud) {
    Round *p = ud;
    if (inst->op != GpOp_Mma)
        return;
    const GpShape *a = &inst->operands[0]->type->shape, *to = &inst->results[0]->type->shape;
    int row = to->rank - 2;
    Axis *axis = axis_of(p, inst->results[0], row);
    int64_t rows = gp_ceil_div(to->dim[row], GP_MMA_ROWS) * GP_MMA_ROWS;
    if (axis->is_fixed || rows == axis->extent ||
        !gp_mma_sync_find(inst->operands[0]->type->elem, inst->operands[1]->type->elem, rows, to->dim[row + 1], a->dim[row + 1]))
        return;
    axis->extent = rows;
    p->is_changed = true;
}

static void widen_inst(GpInst *inst, void *ud) {
    for (uint32_t i = 0; i < inst->result_count; i++)
        if (gp_ir_is_tile(inst->results[i]))
            widen(ud, inst->results[i]);
}

static void visit_values(GpInst *inst, Round *p, void (*visit)(Round *p, GpValue *v)) {
    for (uint32_t i = 0; i < inst->result_count; i++)
        if (gp_ir_is_tile(inst->results[i]))
            visit(p, inst->results[i]);
    for (uint32_t i = 0; i < inst->region_count; i++)
        for (uint32_t k = 0; k < inst->regions[i]->param_count; k++)
            if (gp_ir_is_tile(inst->regions[i]->params[k]))
                visit(p, inst->regions[i]->params[k]);
}

static void begin_value(Round *p, GpValue *v) {
    for (int a = 0; a < v->type->shape.rank; a++) {
        Axis *axis = &p->axes[v->id * GP_MAX_RANK + (uint32_t)a];
        axis->parent = (uint32_t)(axis - p->axes);
        axis->extent = v->type->shape.dim[a];
    }
}

static void begin_inst(GpInst *inst, void *ud) { visit_values(inst, ud, begin_value); }

/* A tile that would no longer fit keeps its extents, and with it all. */
static void refuse_value(Round *p, GpValue *v) {
    GpShape shape = shape_of(p, v);
    int64_t numel = 0, was = 0;
    uint64_t bytes = GP_MAX(gp_elem_info[v->type->elem].bytes, 4u);
    bool is_known = gp_shape_numel(&shape, &numel) && gp_shape_numel(&v->type->shape, &was);
    if (!is_known || (numel != was && (uint64_t)numel * bytes / 4 > p->share.most_words))
        p->is_changed = false;
}

static void refuse_inst(GpInst *inst, void *ud) { visit_values(inst, ud, refuse_value); }

/* ---- The kernel ---------------------------------------------------------------------------------- */

/* The axis of a tile of this shape has these elements below its former extent. */
static GpValue *below(GpBuilder *b, const GpShape *shape, int axis, int64_t extent) {
    GpShape line = {.rank = 1, .dim = {shape->dim[axis]}}, one = *shape;
    for (int a = 0; a < one.rank; a++)
        one.dim[a] = a == axis ? shape->dim[axis] : 1;
    const GpIrType *type = gp_ir_tile(b->fn, GpElem_I32, &line);
    GpValue *at = gp_build(b, GpOp_Iota, NULL, 0, &type, 1)->results[0];
    type = gp_ir_tile(b->fn, GpElem_I32, &one);
    at = gp_build(b, GpOp_Reshape, &at, 1, &type, 1)->results[0];
    type = gp_ir_tile(b->fn, GpElem_I32, shape);
    at = gp_build(b, GpOp_Broadcast, &at, 1, &type, 1)->results[0];
    return gp_build_cmp(b, GpPred_Lt, at, gp_build_const(b, type, (GpScalar){.elem = GpElem_I32, .i = extent}));
}

/* The operand of a reduction or scan, which took its type's extents already; `was` are those before. */
static void fill(Round *p, GpInst *inst, int64_t was) {
    GpValue *v = inst->operands[0];
    for (Filled *f = p->filled; f; f = f->next)
        if (f->of == v && f->identity == inst->operands[1] && f->axis == inst->axis && f->by->inst->parent == inst->parent) {
            inst->operands[0] = f->by;
            return;
        }
    GpBuilder b = {.fn = p->fn, .region = inst->parent, .before = inst, .span = inst->span};
    GpValue *identity = gp_build(&b, GpOp_Splat, inst->operands + 1, 1, &v->type, 1)->results[0];
    GpValue *ok = below(&b, &v->type->shape, inst->axis, was);
    Filled *f = GP_NEW(p->fn->arena, Filled);
    *f = (Filled){p->filled, v, inst->operands[1], inst->axis, gp_build_select(&b, ok, v, identity)};
    p->filled = f;
    inst->operands[0] = f->by;
}

static uint32_t mask_operand(GpOp op) { return op == GpOp_Gather ? 2 : op == GpOp_AtomicCas ? 4 : 3; }

static void mask(Round *p, GpInst *inst, const GpShape *was) {
    GpBuilder b = {.fn = p->fn, .region = inst->parent, .before = inst, .span = inst->span};
    GpValue **ok = &inst->operands[mask_operand(inst->op)];
    for (int a = 0; a < was->rank; a++)
        if (was->dim[a] != (*ok)->type->shape.dim[a])
            *ok = gp_build2(&b, GpOp_And, *ok, below(&b, &(*ok)->type->shape, a, was->dim[a]));
}

/* Before types change: what an instruction that has to know was given. */
static const GpValue *told_tile(const GpInst *inst) {
    if (inst->op == GpOp_LoadTile)
        return inst->results[0];
    bool is_told = inst->op == GpOp_StoreTile || gp_gpu_is_addressed(inst->op);
    if (is_told)
        return gp_ir_is_tile(inst->operands[1]) ? inst->operands[1] : NULL;
    return inst->op == GpOp_Reduce || inst->op == GpOp_Scan ? inst->operands[0] : NULL;
}

static void keep_part(GpInst *inst, void *ud) {
    Round *p = ud;
    const GpValue *v = told_tile(inst);
    GpShape shape = v ? shape_of(p, v) : (GpShape){0};
    if (!v || gp_shape_eq(&shape, &v->type->shape))
        return;
    GpShape *part = GP_NEW(p->fn->arena, GpShape);
    *part = v->type->shape;
    inst->part = part;
}

static void retype_value(Round *p, GpValue *v) {
    GpShape shape = shape_of(p, v);
    v->type = gp_ir_tile(p->fn, v->type->elem, &shape);
}

static void retype_inst(GpInst *inst, void *ud) { visit_values(inst, ud, retype_value); }

static void finish_inst(GpInst *inst, void *ud) {
    Round *p = ud;
    const GpShape *was = inst->part;
    if (!was || inst->op == GpOp_LoadTile || inst->op == GpOp_StoreTile)
        return;
    inst->part = NULL;
    if (gp_gpu_is_addressed(inst->op))
        mask(p, inst, was);
    else if (was->dim[inst->axis] != inst->operands[0]->type->shape.dim[inst->axis])
        fill(p, inst, was->dim[inst->axis]);
}

bool gp_tile_gpu_round(GpIrFn *fn, bool is_shared) {
    Round p = {.fn = fn, .share = gp_tile_gpu_share(fn)};
    p.axes = GP_NEW_ARRAY(fn->arena, Axis, (size_t)fn->next_id * GP_MAX_RANK);
    gp_ir_walk(fn, GpWalk_Before, begin_inst, &p);
    gp_ir_walk(fn, GpWalk_Before, note_inst, &p);
    gp_ir_walk(fn, GpWalk_Before, p.has_products && !is_shared ? widen_product : widen_inst, &p);
    gp_ir_walk(fn, GpWalk_Before, refuse_inst, &p);
    if (!p.is_changed)
        return p.has_products;
    gp_ir_walk(fn, GpWalk_Before, keep_part, &p);
    gp_ir_walk(fn, GpWalk_Before, retype_inst, &p);
    gp_ir_walk(fn, GpWalk_Before, finish_inst, &p);
    gp_ir_number(fn);
    return p.has_products;
}
