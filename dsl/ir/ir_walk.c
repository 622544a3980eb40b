/* Walking, numbering, replacing and cloning. Order is program order: an instruction, then its
** regions in turn, then the next instruction. */
#include "dsl/ir/ir.h"

static void walk_region(GpRegion *r, GpWalk order, void (*visit)(GpInst *, void *), void *ud) {
    for (GpInst *inst = r->first, *next; inst; inst = next) {
        next = inst->next; /* a visitor may remove what it visits, or insert before it */
        if (order == GpWalk_Before) visit(inst, ud);
        if (inst->parent)
            for (uint32_t i = 0; i < inst->region_count; i++)
                walk_region(inst->regions[i], order, visit, ud);
        if (order == GpWalk_After) visit(inst, ud);
    }
}

void gp_ir_walk(const GpIrFn *fn, GpWalk order, void (*visit)(GpInst *inst, void *ud), void *ud) {
    walk_region(fn->body, order, visit, ud);
}

bool gp_ir_is_inside(const GpRegion *r, const GpRegion *outer) {
    while (r != outer && r->owner) r = r->owner->parent;
    return r == outer;
}

/* The end of a chain of forwards; shortens the chain on the way. */
static GpValue *resolve_value(GpValue *v) {
    GpValue *end = v;
    while (end->forward) end = end->forward;
    while (v->forward && v->forward != end) {
        GpValue *next = v->forward;
        v->forward = end;
        v = next;
    }
    return end;
}

static void resolve_operands(GpInst *inst, void *ud) {
    (void)ud;
    for (uint32_t i = 0; i < inst->operand_count; i++)
        inst->operands[i] = resolve_value(inst->operands[i]);
}

void gp_ir_apply_forwards(GpIrFn *fn) { gp_ir_walk(fn, GpWalk_Before, resolve_operands, NULL); }

static void number_region(GpRegion *r, uint32_t *id) {
    for (uint32_t i = 0; i < r->param_count; i++) r->params[i]->id = (*id)++;
    for (GpInst *inst = r->first; inst; inst = inst->next) {
        for (uint32_t i = 0; i < inst->result_count; i++) inst->results[i]->id = (*id)++;
        for (uint32_t i = 0; i < inst->region_count; i++) number_region(inst->regions[i], id);
    }
}

void gp_ir_number(GpIrFn *fn) {
    uint32_t id = 0;
    number_region(fn->body, &id);
    fn->next_id = id;
}

static bool has_site(const GpInst *inst) {
    return gp_sig_info[gp_op_info[inst->op].sig].attrs & GP_HAS(Site);
}

static void mark_site(GpInst *inst, void *ud) {
    uint32_t *number = ud;
    if (has_site(inst)) number[inst->site] = 1;
}

static void number_site(GpInst *inst, void *ud) {
    const uint32_t *number = ud;
    if (has_site(inst)) inst->site = number[inst->site];
}

void gp_ir_drop_sites(GpIrFn *fn) {
    uint32_t *number = GP_NEW_ARRAY(fn->arena, uint32_t, fn->site_count), count = 0;
    gp_ir_walk(fn, GpWalk_Before, mark_site, number);
    for (uint32_t i = 0; i < fn->site_count; i++) {
        if (!number[i]) continue;
        fn->sites[count] = fn->sites[i];
        number[i] = count++;
    }
    fn->site_count = count;
    gp_ir_walk(fn, GpWalk_Before, number_site, number);
}

static void count_region(const GpRegion *r, uint32_t *uses) {
    for (const GpInst *inst = r->first; inst; inst = inst->next) {
        for (uint32_t i = 0; i < inst->operand_count; i++) uses[inst->operands[i]->id]++;
        for (uint32_t i = 0; i < inst->region_count; i++) count_region(inst->regions[i], uses);
    }
}

uint32_t *gp_ir_count_uses(const GpIrFn *fn, GpArena *arena) {
    uint32_t *uses = GP_NEW_ARRAY(arena, uint32_t, fn->next_id);
    count_region(fn->body, uses);
    return uses;
}

bool gp_ir_region_writes(const GpRegion *r) {
    for (const GpInst *inst = r->first; inst; inst = inst->next) {
        GpEffect effect = gp_ir_effect(inst);
        if (effect == GpEffect_Write || effect == GpEffect_Convergent) return true;
        for (uint32_t i = 0; i < inst->region_count; i++)
            if (gp_ir_region_writes(inst->regions[i])) return true;
    }
    return false;
}

static void copy_region(GpIrFn *fn, const GpRegion *from, GpRegion *to, GpValue **map) {
    GpBuilder b = {.fn = fn, .region = to};
    for (uint32_t i = 0; i < from->param_count; i++) {
        const GpValue *v = from->params[i];
        map[v->id] = gp_ir_region_param(fn, to, v->type, v->name);
    }
    for (const GpInst *inst = from->first; inst; inst = inst->next) gp_ir_copy(&b, inst, map);
}

GpInst *gp_ir_copy(GpBuilder *b, const GpInst *inst, GpValue **map) {
    GpArena *arena = b->fn->arena;
    GpValue **operands = GP_NEW_ARRAY(arena, GpValue *, inst->operand_count);
    const GpIrType **types = GP_NEW_ARRAY(arena, const GpIrType *, inst->result_count);
    for (uint32_t i = 0; i < inst->operand_count; i++) {
        GpValue *v = inst->operands[i];
        operands[i] = map[v->id] ? map[v->id] : v;
    }
    for (uint32_t i = 0; i < inst->result_count; i++) types[i] = inst->results[i]->type;
    gp_assert(!inst->target);
    b->span = inst->span;
    GpInst *to = gp_build(b, inst->op, operands, inst->operand_count, types, inst->result_count);
    GpInst made = *to;
    *to = *inst;
    to->prev = made.prev, to->next = made.next, to->parent = made.parent;
    to->operands = made.operands, to->results = made.results;
    GpRegion **regions = GP_NEW_ARRAY(arena, GpRegion *, inst->region_count);
    for (uint32_t i = 0; i < inst->region_count; i++) regions[i] = gp_ir_region(b->fn);
    gp_ir_set_regions(b->fn, to, regions, inst->region_count);
    for (uint32_t i = 0; i < inst->result_count; i++) {
        to->results[i]->name = inst->results[i]->name;
        map[inst->results[i]->id] = to->results[i];
    }
    for (uint32_t i = 0; i < inst->region_count; i++)
        copy_region(b->fn, inst->regions[i], to->regions[i], map);
    return to;
}

/* Cloning keeps ids, so the copy's values are found by id. */
typedef struct Clone {
    GpIrFn *to;
    GpValue **values; /* by id of the original */
    GpMap insts;      /* original -> copy: targets of break and continue */
} Clone;

static const GpIrType *clone_type(Clone *c, const GpIrType *t) {
    switch (t->kind) {
    case GpIrType_Scalar: return gp_ir_scalar(c->to, t->elem);
    case GpIrType_Ptr: return gp_ir_ptr(c->to, t->elem, t->space);
    case GpIrType_Tensor: return gp_ir_tensor(c->to, t->elem, &t->shape);
    case GpIrType_Tile: return gp_ir_tile(c->to, t->elem, &t->shape);
    }
    gp_unreachable();
}

static GpValue *clone_value(Clone *c, const GpValue *v) {
    GpArena *arena = c->to->arena;
    GpValue *copy = GP_NEW(arena, GpValue);
    copy->type = clone_type(c, v->type);
    copy->index = v->index;
    copy->id = v->id;
    copy->name = v->name ? gp_arena_copy(arena, v->name, strlen(v->name)) : NULL;
    c->values[v->id] = copy;
    return copy;
}

static void clone_region(Clone *c, const GpRegion *from, GpRegion *to);

static GpInst *clone_inst(Clone *c, const GpInst *from) {
    GpArena *arena = c->to->arena;
    GpInst *inst = GP_NEW(arena, GpInst);
    *inst = *from;
    inst->prev = inst->next = NULL;
    gp_map_set(arena, &c->insts, from, inst);
    if (from->text) inst->text = gp_arena_copy(arena, from->text, strlen(from->text));
    if (from->target) inst->target = gp_map_get(&c->insts, from->target);
    inst->operands = GP_NEW_ARRAY(arena, GpValue *, from->operand_count);
    for (uint32_t i = 0; i < from->operand_count; i++)
        inst->operands[i] = c->values[from->operands[i]->id];
    inst->results = GP_NEW_ARRAY(arena, GpValue *, from->result_count);
    for (uint32_t i = 0; i < from->result_count; i++) {
        inst->results[i] = clone_value(c, from->results[i]);
        inst->results[i]->inst = inst;
    }
    inst->regions = GP_NEW_ARRAY(arena, GpRegion *, from->region_count);
    for (uint32_t i = 0; i < from->region_count; i++) {
        inst->regions[i] = gp_ir_region(c->to);
        inst->regions[i]->owner = inst;
        clone_region(c, from->regions[i], inst->regions[i]);
    }
    return inst;
}

static void clone_region(Clone *c, const GpRegion *from, GpRegion *to) {
    to->params = GP_NEW_ARRAY(c->to->arena, GpValue *, from->param_count);
    to->param_count = from->param_count;
    for (uint32_t i = 0; i < from->param_count; i++) {
        to->params[i] = clone_value(c, from->params[i]);
        to->params[i]->region = to;
    }
    for (const GpInst *inst = from->first; inst; inst = inst->next) {
        GpInst *copy = clone_inst(c, inst);
        copy->parent = to;
        copy->prev = to->last;
        if (to->last) to->last->next = copy;
        else to->first = copy;
        to->last = copy;
    }
}

static void clone_sites(GpIrFn *to, const GpIrFn *from) {
    to->site_cap = to->site_count = from->site_count;
    to->sites = GP_NEW_ARRAY(to->arena, GpCheckSite, from->site_count);
    for (uint32_t i = 0; i < from->site_count; i++) {
        GpCheckSite site = from->sites[i];
        site.what = gp_arena_copy(to->arena, site.what, strlen(site.what));
        site.place.file = gp_arena_copy(to->arena, site.place.file, strlen(site.place.file));
        to->sites[i] = site;
    }
}

static void place_global(GpInst *inst, void *ud) {
    GpIrFn *fn = ud;
    if (inst->op != GpOp_Global) return;
    for (const GpIrGlobal *g = fn->globals; g; g = g->next)
        if (!strcmp(g->name, inst->text)) return;
    GpIrGlobal *made = GP_NEW(fn->arena, GpIrGlobal);
    *made = (GpIrGlobal){.next = fn->globals, .name = inst->text};
    gp_scalar_store(inst->imm, &made->memory);
    fn->globals = made;
}

void gp_ir_place_globals(GpIrFn *fn) { gp_ir_walk(fn, GpWalk_Before, place_global, fn); }

GpIrFn *gp_ir_clone(GpArena *arena, const GpIrFn *fn) {
    GpIrFn *to = gp_ir_fn_make(arena, fn->name, fn->track, fn->span);
    Clone c = {.to = to, .values = GP_NEW_ARRAY(arena, GpValue *, fn->next_id)};
    to->symbol = gp_arena_copy(arena, fn->symbol, strlen(fn->symbol));
    memcpy(to->block, fn->block, sizeof to->block);
    to->max_threads = fn->max_threads;
    to->min_blocks = fn->min_blocks;
    to->schedule = fn->schedule;
    to->equal_lens = fn->equal_lens;
    to->next_id = fn->next_id;
    to->params = GP_NEW_ARRAY(arena, GpIrParam, fn->param_count);
    to->param_count = fn->param_count;
    if (fn->param_count) memcpy(to->params, fn->params, fn->param_count * sizeof *fn->params);
    clone_sites(to, fn);
    clone_region(&c, fn->body, to->body);
    gp_ir_place_globals(to);
    return to;
}
