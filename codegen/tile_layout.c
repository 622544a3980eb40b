/* Which layout each tile value of a GPU function has.
**
** Values that are elements of one computation share a layout, so that nothing is exchanged between
** them: operands and results of elementwise operations, scans and accesses through addresses, an
** accumulator and its product, what a loop carries and what it starts from. Such a class takes its
** layout from its dearest anchor:
**   Mma     a product whose accumulator stays in registers, and a tile that is read beside it
**   Part    what is left of such a layout after a reduction, a broadcast or a change of shape
**   Address an access through addresses, which mostly moves single elements: neighbours to neighbouring threads
**   Alone   a loop that one warp runs for its block: the same in each warp
**   Memory  a load or a store: the innermost axis in runs that one instruction moves; also what is
**           left of one, and then the larger tile's decides
** Between classes, reductions, broadcasts and changes of shape hand a layout on where the other side
** has a weaker one; where both sides keep their own, emission converts. */
#include "codegen/emit_tile_gpu.h"

typedef enum Kind { Kind_None, Kind_Address, Kind_Alone, Kind_Memory, Kind_Part, Kind_Mma } Kind;

typedef struct Anchor {
    Kind kind;
    uint64_t weight; /* elements of the tile that the layout was made for */
    const GpLayout *layout;
    uint32_t least_bytes, most_bytes; /* of the elements that whole vectors may move */
    bool is_folded, is_scanned, is_turned; /* along its innermost axis; to another place of this */
} Anchor;

typedef struct Plan {
    GpEmit *e;
    uint32_t *parent; /* by value id: union-find */
    Anchor *anchor;   /* by id of a class's root */
    bool is_changed;
} Plan;

static uint32_t root_of(Plan *p, uint32_t id) {
    while (p->parent[id] != id)
        id = p->parent[id] = p->parent[p->parent[id]];
    return id;
}

/* A constant may be in any layout: it ties nothing together, and passes share it between uses. */
bool gp_gpu_is_uniform(const GpValue *v) {
    return v->inst && (v->inst->op == GpOp_Const || v->inst->op == GpOp_Splat);
}

static void unite(Plan *p, const GpValue *a, const GpValue *b) {
    bool is_tied = gp_ir_is_tile(a) && gp_ir_is_tile(b) && !gp_gpu_is_uniform(a) && !gp_gpu_is_uniform(b);
    if (is_tied && gp_shape_eq(&a->type->shape, &b->type->shape))
        p->parent[root_of(p, a->id)] = root_of(p, b->id);
}

static void unite_lists(Plan *p, GpValue *const *a, GpValue *const *b, uint32_t count) {
    for (uint32_t i = 0; i < count; i++)
        unite(p, a[i], b[i]);
}

bool gp_gpu_is_addressed(GpOp op) {
    return op == GpOp_Gather || op == GpOp_Scatter || op == GpOp_AtomicRmw || op == GpOp_AtomicCas;
}

static bool is_pointwise(const GpInst *inst) {
    return gp_sig_info[gp_op_info[inst->op].sig].elementwise || inst->op == GpOp_Scan || gp_gpu_is_addressed(inst->op);
}

static void unite_inst(GpInst *inst, void *ud) {
    Plan *p = ud;
    const GpValue *first = NULL;
    if (inst->op == GpOp_Mma)
        unite(p, inst->operands[2], inst->results[0]);
    if (inst->op == GpOp_For) {
        unite_lists(p, gp_loop_starts(inst), gp_loop_params(inst), inst->result_count);
        unite_lists(p, inst->results, gp_loop_params(inst), inst->result_count);
    }
    if (inst->op == GpOp_Loop)
        unite_lists(p, inst->operands, inst->regions[0]->params, inst->operand_count);
    if (gp_op_is_terminator(inst->op) && inst->op != GpOp_Return && inst->parent->owner)
        unite_lists(p, inst->operands, gp_ir_hands_to(inst), inst->operand_count);
    if (!is_pointwise(inst))
        return;
    for (uint32_t i = 0; i < inst->operand_count + inst->result_count; i++) {
        const GpValue *v = i < inst->operand_count ? inst->operands[i]
                                                   : inst->results[i - inst->operand_count];
        if (!gp_ir_is_tile(v) || gp_gpu_is_uniform(v))
            continue;
        if (first)
            unite(p, first, v);
        first = v;
    }
}

static Anchor *anchor_of(Plan *p, const GpValue *v) { return &p->anchor[root_of(p, v->id)]; }

static void offer(Plan *p, const GpValue *v, Kind kind, uint64_t weight, const GpLayout *layout) {
    Anchor *a = anchor_of(p, v);
    if (!layout || kind < a->kind || (kind == a->kind && weight <= a->weight))
        return;
    a->kind = kind;
    a->weight = weight;
    a->layout = layout;
    p->is_changed = true;
}

/* What `from` has, brought to v's shape. */
static void pass_on(Plan *p, const Anchor *from, const GpValue *v, const GpLayout *layout) {
    offer(p, v, from->kind == Kind_Mma ? Kind_Part : from->kind, from->weight, layout);
}

static const GpValue *accessed_tile(const GpInst *inst) {
    if (inst->op == GpOp_LoadTile)
        return inst->results[0];
    return inst->op == GpOp_StoreTile ? inst->operands[1] : NULL;
}

bool gp_gpu_is_multiple(const GpValue *v, uint32_t of) {
    GpScalar k;
    gp_assert(of != 0);
    if (gp_ir_const(v, &k))
        return k.i % of == 0;
    GpOp op = v->inst ? v->inst->op : GpOp_Const;
    bool is_sum = op == GpOp_Add || op == GpOp_Sub;
    if (!is_sum && op != GpOp_Mul)
        return false;
    bool is_first = gp_gpu_is_multiple(v->inst->operands[0], of);
    return is_first == is_sum ? gp_gpu_is_multiple(v->inst->operands[1], of) : is_first;
}

bool gp_gpu_is_aligned(const GpEmit *e, const GpValue *tensor) {
    const GpInst *window = tensor->inst && tensor->inst->op == GpOp_Window ? tensor->inst : NULL;
    uint32_t rank = tensor->type->shape.rank, vector = 16u / gp_elem_info[tensor->type->elem].bytes;
    if (window)
        return rank && gp_gpu_is_multiple(window->operands[rank], vector) && gp_gpu_is_aligned(e, window->operands[0]);
    const GpIrParam *p = tensor->inst ? NULL : &e->fn->params[tensor->index];
    return p && p->unit_stride && p->aligned16;
}

/* Whether rows of a tensor that the kernel makes begin on runs shows when it is made (GpTensorArg.aligned). */
bool gp_gpu_takes_vectors(const GpEmit *e, const GpValue *tensor) {
    uint32_t rank = tensor->type->shape.rank, vector = 16u / gp_elem_info[tensor->type->elem].bytes;
    GpScalar stride;
    if (!rank || gp_gpu_is_aligned(e, tensor) || !tensor->inst)
        return rank && gp_gpu_is_aligned(e, tensor);
    if (tensor->inst->op == GpOp_Window)
        return gp_gpu_is_multiple(tensor->inst->operands[rank], vector) &&
               gp_gpu_takes_vectors(e, tensor->inst->operands[0]);
    return tensor->inst->op == GpOp_MakeTensor && gp_ir_const(tensor->inst->operands[2 * (size_t)rank], &stride) && stride.i == 1;
}

static void note_width(GpInst *inst, void *ud) {
    Plan *p = ud;
    const GpValue *v = accessed_tile(inst);
    if (!v)
        return;
    Anchor *a = anchor_of(p, v);
    uint32_t bytes = gp_elem_info[inst->operands[0]->type->elem].bytes;
    a->kind = Kind_Memory;
    const GpShape *part = inst->part;
    if (!gp_gpu_takes_vectors(p->e, inst->operands[0]) || (part && part->dim[part->rank - 1] % (16 / bytes) != 0))
        return;
    a->least_bytes = a->least_bytes ? GP_MIN(a->least_bytes, bytes) : bytes;
    a->most_bytes = GP_MAX(a->most_bytes, bytes);
}

uint32_t gp_gpu_vector(uint32_t least_bytes, uint32_t most_bytes) {
    uint32_t vector = least_bytes ? GP_GPU_VECTOR_BYTES / least_bytes : 1;
    while (vector > 1 && vector * most_bytes > 2u * GP_GPU_VECTOR_BYTES)
        vector /= 2;
    return vector;
}

static uint64_t numel_of(const GpValue *v) { return (uint64_t)gp_ir_numel(v->type); }

static void note_use(GpInst *inst, void *ud) {
    Plan *p = ud;
    bool is_fold = inst->op == GpOp_Reduce || inst->op == GpOp_Scan;
    if (!is_fold && inst->op != GpOp_Permute)
        return;
    uint8_t last = (uint8_t)(inst->operands[0]->type->shape.rank - 1);
    if (is_fold) {
        anchor_of(p, inst->operands[0])->is_folded |= inst->axis == last;
        anchor_of(p, inst->operands[0])->is_scanned |= inst->op == GpOp_Scan && inst->axis == last;
    }
    else if (inst->perm.axis[last] != last)
        anchor_of(p, inst->operands[0])->is_turned = anchor_of(p, inst->results[0])->is_turned = true;
}

/* Of a tile that is folded along its rows, a warp takes whole rows, so that fewer warps share one;
** of one that is scanned, contiguous parts, each of which has one total for the others.
** Of a tile that is transposed, the lanes of a warp take 128 bytes of each row and several rows: then
** whole lines of memory are moved, and different banks of shared memory, on both sides. */
static int inner_bits(const Anchor *a, uint32_t vector) {
    if (!a->is_turned && a->is_scanned)
        return GP_LAYOUT_SCAN;
    if (!a->is_turned)
        return a->is_folded ? GP_LAYOUT_ROWS : GP_LAYOUT_STREAM;
    int bits = 0;
    while (bits < GP_LAYOUT_ROWS && (vector * a->least_bytes << bits) < GP_GPU_LINE_BYTES)
        bits++;
    return bits;
}

static void anchor_access(GpInst *inst, void *ud) {
    Plan *p = ud;
    const GpValue *v = accessed_tile(inst);
    Anchor *a = v ? anchor_of(p, v) : NULL;
    if (!a || a->layout)
        return;
    uint32_t vector = gp_gpu_vector(a->least_bytes, a->most_bytes);
    a->weight = numel_of(v);
    a->layout = gp_layout_blocked(p->e->arena, &v->type->shape, vector, gp_tile_gpu_threads(p->e),
                                  inner_bits(a, vector));
}

static void anchor_addresses(GpInst *inst, void *ud) {
    Plan *p = ud;
    const GpValue *v = gp_gpu_is_addressed(inst->op) ? inst->operands[1] : NULL;
    if (v && gp_ir_is_tile(v))
        offer(p, v, Kind_Address, numel_of(v),
              gp_layout_blocked(p->e->arena, &v->type->shape, gp_gpu_aligned_run(p->e, inst), gp_tile_gpu_threads(p->e),
                                GP_LAYOUT_STREAM));
}

static void offer_alone(void *plan, const GpValue *v, const GpLayout *layout) {
    offer(plan, v, Kind_Alone, numel_of(v), layout);
}

static void anchor_alone(GpInst *inst, void *ud) {
    Plan *p = ud;
    if (inst->op == GpOp_Loop)
        gp_gpu_alone_layouts(p->e, inst, offer_alone, p);
}

static void anchor_mma(GpInst *inst, void *ud) {
    Plan *p = ud;
    const GpFeed *f = p->e->pipe ? gp_map_get(&p->e->pipe->feeds.of, inst) : NULL;
    bool is_fetched = p->e->pipe && p->e->pipe->fetch.load == inst;
    if (is_fetched || (f && f->is_read))
        offer(p, inst->results[0], Kind_Mma, numel_of(inst->results[0]), gp_gpu_sums_layout(p->e, &inst->results[0]->type->shape));
    if (inst->op == GpOp_Mma)
        offer(p, inst->results[0], Kind_Mma, numel_of(inst->results[0]),
              gp_gpu_mma_layout(p->e, inst));
}

static void link_cat(Plan *p, const GpInst *cat) {
    const GpValue *result = cat->results[0];
    for (uint32_t i = 0; i < 2; i++) {
        const GpValue *half = cat->operands[i];
        Anchor from = *anchor_of(p, half);
        const GpLayout *l = from.layout ? gp_layout_widen(p->e->arena, from.layout, &result->type->shape) : NULL;
        pass_on(p, &from, result, l && gp_gpu_half_layout(p->e, cat, l) ? l : NULL);
        from = *anchor_of(p, result);
        if (from.layout)
            pass_on(p, &from, half, gp_gpu_half_layout(p->e, cat, from.layout));
    }
}

static void link_inst(GpInst *inst, void *ud) {
    Plan *p = ud;
    GpArena *arena = p->e->arena;
    if (inst->op == GpOp_Cat)
        link_cat(p, inst);
    if (inst->op == GpOp_Reduce) {
        const Anchor from = *anchor_of(p, inst->operands[0]);
        if (from.layout)
            pass_on(p, &from, inst->results[0], gp_layout_slice(arena, from.layout, inst->axis));
    }
    if (!gp_tile_moves(inst->op))
        return;
    const GpValue *v = inst->operands[0], *result = inst->results[0];
    Anchor from = *anchor_of(p, v);
    if (from.layout && inst->op != GpOp_Broadcast)
        pass_on(p, &from, result, gp_gpu_view_layout(p->e, inst, from.layout));
    from = *anchor_of(p, result);
    if (from.layout)
        pass_on(p, &from, v, gp_gpu_viewed_layout(p->e, inst, from.layout));
}

static void walk(Plan *p, void (*visit)(GpInst *inst, void *ud)) {
    gp_ir_walk(p->e->fn, GpWalk_Before, visit, p);
}

/* The choice for each value, by id. */
typedef struct Choice {
    Plan *plan;
    const GpLayout **of;
} Choice;

static void choose(Choice *c, const GpValue *v) {
    if (!gp_ir_is_tile(v))
        return;
    GpEmit *e = c->plan->e;
    const Anchor *a = anchor_of(c->plan, v);
    bool is_load = v->inst && v->inst->op == GpOp_LoadTile && !e->pipe;
    uint32_t bytes = gp_elem_info[v->type->elem].bytes;
    if (a->layout && !(is_load && a->kind == Kind_Mma))
        c->of[v->id] = a->layout;
    else
        c->of[v->id] = gp_layout_blocked(e->arena, &v->type->shape, gp_gpu_vector(bytes, bytes),
                                         gp_tile_gpu_threads(e), GP_LAYOUT_STREAM);
}

static void choose_inst(GpInst *inst, void *ud) {
    Choice *c = ud;
    for (uint32_t i = 0; i < inst->result_count; i++)
        choose(c, inst->results[i]);
    for (uint32_t i = 0; i < inst->region_count; i++)
        for (uint32_t k = 0; k < inst->regions[i]->param_count; k++)
            choose(c, inst->regions[i]->params[k]);
}

const GpLayout **gp_tile_layouts(GpEmit *e) {
    uint32_t n = e->fn->next_id;
    Plan p = {.e = e};
    p.parent = GP_NEW_ARRAY(e->arena, uint32_t, n);
    p.anchor = GP_NEW_ARRAY(e->arena, Anchor, n);
    for (uint32_t i = 0; i < n; i++)
        p.parent[i] = i;
    walk(&p, unite_inst);
    walk(&p, note_width);
    walk(&p, note_use);
    walk(&p, anchor_access);
    walk(&p, anchor_addresses);
    walk(&p, anchor_alone);
    walk(&p, anchor_mma);
    do {
        p.is_changed = false;
        walk(&p, link_inst);
    } while (p.is_changed);
    Choice c = {&p, GP_NEW_ARRAY(e->arena, const GpLayout *, n)};
    gp_ir_walk(e->fn, GpWalk_Before, choose_inst, &c);
    return c.of;
}
