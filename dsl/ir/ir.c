/* The IR's objects: types, functions, regions, values, instructions, and linking them.
**
** Everything lies in the function's arena and is never freed one by one. Invariants kept here:
** equal types are one pointer within a function; value ids are unique and below fn->next_id. */
#include "dsl/ir/ir.h"

typedef struct TypeNode {
    GpIrType type;
    struct TypeNode *next; /* same hash */
} TypeNode;

static bool is_same_type(const GpIrType *a, const GpIrType *b) {
    return a->kind == b->kind && a->elem == b->elem && a->space == b->space &&
           gp_shape_eq(&a->shape, &b->shape);
}

static const void *type_key(const GpIrType *t) {
    uint32_t h = gp_hash_u64((uint64_t)t->kind << 8 | (uint64_t)t->elem, 17);
    h = gp_hash_u64((uint64_t)t->space, h);
    for (int i = 0; i < t->shape.rank; i++) h = gp_hash_u64((uint64_t)t->shape.dim[i], h);
    return (const void *)((uintptr_t)h << 1 | 1);
}

static const GpIrType *intern_type(GpIrFn *fn, GpIrType type) {
    const void *key = type_key(&type);
    TypeNode *first = gp_map_get(&fn->types, key);
    for (TypeNode *n = first; n; n = n->next)
        if (is_same_type(&n->type, &type)) return &n->type;
    TypeNode *node = GP_NEW(fn->arena, TypeNode);
    *node = (TypeNode){type, first};
    gp_map_set(fn->arena, &fn->types, key, node);
    return &node->type;
}

const GpIrType *gp_ir_scalar(GpIrFn *fn, GpElem elem) {
    return intern_type(fn, (GpIrType){.kind = GpIrType_Scalar, .elem = elem});
}

const GpIrType *gp_ir_tile(GpIrFn *fn, GpElem elem, const GpShape *shape) {
    return intern_type(fn, (GpIrType){.kind = GpIrType_Tile, .elem = elem, .shape = *shape});
}

const GpIrType *gp_ir_ptr(GpIrFn *fn, GpElem elem, GpSpace space) {
    return intern_type(fn, (GpIrType){.kind = GpIrType_Ptr, .elem = elem, .space = space});
}

const GpIrType *gp_ir_tensor(GpIrFn *fn, GpElem elem, const GpShape *shape) {
    return intern_type(fn, (GpIrType){.kind = GpIrType_Tensor, .elem = elem, .shape = *shape});
}

GpIrFn *gp_ir_fn_make(GpArena *arena, const char *name, GpTrack track, GpSpan span) {
    GpIrFn *fn = GP_NEW(arena, GpIrFn);
    fn->arena = arena;
    fn->name = fn->symbol = gp_arena_copy(arena, name, strlen(name));
    fn->track = track;
    fn->span = span;
    fn->body = gp_ir_region(fn);
    return fn;
}

static GpValue *make_value(GpIrFn *fn, const GpIrType *type, uint32_t index, const char *name) {
    gp_assert(fn->next_id < UINT32_MAX);
    GpValue *v = GP_NEW(fn->arena, GpValue);
    v->type = type;
    v->index = index;
    v->id = fn->next_id++;
    v->name = name ? gp_arena_copy(fn->arena, name, strlen(name)) : NULL;
    return v;
}

GpRegion *gp_ir_region(GpIrFn *fn) { return GP_NEW(fn->arena, GpRegion); }

GpValue *gp_ir_region_param(GpIrFn *fn, GpRegion *r, const GpIrType *type, const char *name) {
    GpValue *v = make_value(fn, type, r->param_count, name);
    v->region = r;
    uint32_t n = r->param_count;
    GpValue **params = GP_NEW_ARRAY(fn->arena, GpValue *, (size_t)n + 1);
    if (n) memcpy(params, r->params, n * sizeof(GpValue *));
    params[n] = v;
    r->params = params;
    r->param_count = n + 1;
    return v;
}

GpValue *gp_ir_add_param(GpIrFn *fn, const GpIrType *type, GpIrParam param, const char *name) {
    GpValue *v = gp_ir_region_param(fn, fn->body, type, name);
    uint32_t n = fn->param_count;
    GpIrParam *params = GP_NEW_ARRAY(fn->arena, GpIrParam, (size_t)n + 1);
    if (n) memcpy(params, fn->params, n * sizeof *params);
    params[n] = param;
    fn->params = params;
    fn->param_count = n + 1;
    return v;
}

uint32_t gp_ir_add_site(GpIrFn *fn, GpCheckKind kind, uint8_t axis, GpSpan span, const char *what) {
    if (fn->site_count == fn->site_cap)
        fn->sites = gp_arena_grow(fn->arena, fn->sites, &fn->site_cap, sizeof *fn->sites);
    fn->sites[fn->site_count] =
        (GpCheckSite){.kind = kind,
                      .axis = axis,
                      .place = gp_span_start(span),
                      .what = gp_arena_copy(fn->arena, what, strlen(what))};
    return fn->site_count++;
}

void gp_ir_insert(GpInst *inst, GpRegion *r, GpInst *before) {
    inst->parent = r;
    inst->next = before;
    inst->prev = before ? before->prev : r->last;
    if (inst->prev) inst->prev->next = inst;
    else r->first = inst;
    if (before) before->prev = inst;
    else r->last = inst;
}

GpInst *gp_build(GpBuilder *b, GpOp op, GpValue *const *operands, uint32_t operand_count,
                 const GpIrType *const *results, uint32_t result_count) {
    GpArena *arena = b->fn->arena;
    GpInst *inst = GP_NEW(arena, GpInst);
    inst->op = op;
    inst->span = b->span;
    inst->operands = GP_NEW_ARRAY(arena, GpValue *, operand_count);
    inst->operand_count = operand_count;
    if (operand_count) memcpy(inst->operands, operands, operand_count * sizeof(GpValue *));
    inst->results = GP_NEW_ARRAY(arena, GpValue *, result_count);
    inst->result_count = result_count;
    for (uint32_t i = 0; i < result_count; i++) {
        inst->results[i] = make_value(b->fn, results[i], i, NULL);
        inst->results[i]->inst = inst;
    }
    gp_ir_insert(inst, b->region, b->before);
    return inst;
}

static GpValue *build_one(GpBuilder *b, GpOp op, GpValue *const *operands, uint32_t count,
                          const GpIrType *type) {
    return gp_build(b, op, operands, count, &type, 1)->results[0];
}

GpValue *gp_build_const(GpBuilder *b, const GpIrType *type, GpScalar value) {
    gp_assert(value.elem == type->elem);
    GpValue *v = build_one(b, GpOp_Const, NULL, 0, type);
    v->inst->imm = value;
    return v;
}

GpValue *gp_build_int(GpBuilder *b, GpElem elem, int64_t value) {
    gp_assert(!gp_elem_is_float(elem));
    return gp_build_const(b, gp_ir_scalar(b->fn, elem), (GpScalar){.elem = elem, .i = value});
}

GpValue *gp_build1(GpBuilder *b, GpOp op, GpValue *x) { return build_one(b, op, &x, 1, x->type); }

GpValue *gp_build2(GpBuilder *b, GpOp op, GpValue *x, GpValue *y) {
    return build_one(b, op, (GpValue *[]){x, y}, 2, x->type);
}

/* The type of x with another element: scalar stays scalar, a tile keeps its shape. */
static const GpIrType *with_elem(GpIrFn *fn, const GpIrType *like, GpElem elem) {
    GpIrType type = *like;
    type.elem = elem;
    return intern_type(fn, type);
}

GpValue *gp_build_cmp(GpBuilder *b, GpPred pred, GpValue *x, GpValue *y) {
    const GpIrType *type = with_elem(b->fn, x->type, GpElem_Bool);
    GpValue *v = build_one(b, GpOp_Cmp, (GpValue *[]){x, y}, 2, type);
    v->inst->pred = pred;
    return v;
}

GpValue *gp_build_cast(GpBuilder *b, GpValue *x, GpElem to) {
    return build_one(b, GpOp_Cast, &x, 1, with_elem(b->fn, x->type, to));
}

GpValue *gp_build_bitcast(GpBuilder *b, GpValue *x, GpElem to) {
    return x->type->elem == to ? x : build_one(b, GpOp_Bitcast, &x, 1, with_elem(b->fn, x->type, to));
}

GpValue *gp_build_select(GpBuilder *b, GpValue *c, GpValue *x, GpValue *y) {
    return build_one(b, GpOp_Select, (GpValue *[]){c, x, y}, 3, x->type);
}

GpValue *gp_build_exp_approx(GpBuilder *b, GpValue *x) {
    GpScalar log2_e = {.elem = x->type->elem, .f = GP_LOG2_E};
    return gp_build1(b, GpOp_Exp2Flush, gp_build2(b, GpOp_Mul, x, gp_build_const(b, x->type, log2_e)));
}

void gp_ir_set_regions(GpIrFn *fn, GpInst *inst, GpRegion *const *regions, uint32_t count) {
    inst->regions = GP_NEW_ARRAY(fn->arena, GpRegion *, count);
    inst->region_count = count;
    for (uint32_t i = 0; i < count; i++) {
        inst->regions[i] = regions[i];
        regions[i]->owner = inst;
    }
}

bool gp_ir_counts_by_one(const GpInst *loop) {
    GpScalar step;
    return gp_ir_const(loop->operands[2], &step) && step.i == 1;
}

GpInst *gp_ir_build_for(GpBuilder *b, GpValue *const bounds[GP_FOR_BOUNDS], GpValue *const *start, uint32_t count) {
    GpArena *arena = b->fn->arena;
    GpValue **operands = GP_NEW_ARRAY(arena, GpValue *, GP_FOR_BOUNDS + count);
    const GpIrType **types = GP_NEW_ARRAY(arena, const GpIrType *, count);
    memcpy(operands, bounds, GP_FOR_BOUNDS * sizeof *operands);
    for (uint32_t i = 0; i < count; i++) {
        operands[GP_FOR_BOUNDS + i] = start[i];
        types[i] = start[i]->type;
    }
    GpInst *loop = gp_build(b, GpOp_For, operands, GP_FOR_BOUNDS + count, types, count);
    GpRegion *body = gp_ir_region(b->fn);
    gp_ir_set_regions(b->fn, loop, &body, 1);
    (void)gp_ir_region_param(b->fn, body, bounds[0]->type, "turn");
    for (uint32_t i = 0; i < count; i++)
        (void)gp_ir_region_param(b->fn, body, types[i], NULL);
    return loop;
}

void gp_ir_remove(GpInst *inst) {
    GpRegion *r = inst->parent;
    if (inst->prev) inst->prev->next = inst->next;
    else r->first = inst->next;
    if (inst->next) inst->next->prev = inst->prev;
    else r->last = inst->prev;
    inst->prev = inst->next = NULL;
    inst->parent = NULL;
}

int64_t gp_ir_tile_numel(const GpShape *shape) {
    int64_t numel = 0;
    gp_assert(gp_shape_numel(shape, &numel));
    return numel;
}

int64_t gp_ir_numel(const GpIrType *type) {
    return type->kind == GpIrType_Tile ? gp_ir_tile_numel(&type->shape) : 1;
}

GpInst *gp_ir_terminator(const GpRegion *r) {
    return r->last && gp_op_is_terminator(r->last->op) ? r->last : NULL;
}

bool gp_ir_is_zero(const GpValue *v) {
    GpScalar value;
    while (v->inst && (v->inst->op == GpOp_Splat || v->inst->op == GpOp_Broadcast)) v = v->inst->operands[0];
    return gp_ir_const(v, &value) && (gp_elem_is_float(v->type->elem) ? value.f == 0 : value.i == 0);
}

GpOp gp_ir_fold_op(const GpInst *fold) {
    const GpRegion *r = fold->regions[0];
    const GpInst *only = r->first;
    bool is_one = only->next == r->last && only->operand_count == 2 && r->last->operands[0]->inst == only;
    return is_one ? only->op : GpOp_count;
}

bool gp_ir_const(const GpValue *v, GpScalar *out) {
    if (!v->inst || v->inst->op != GpOp_Const) return false;
    *out = v->inst->imm;
    return true;
}
