/* Which tile values of a CPU function get a buffer.
**
** Every tile value is an expression, evaluated inside the loop of what consumes it (its sink: a
** store, a buffer's loop, a check). It gets a buffer instead when evaluating it there would be
** wrong or wasteful:
**   - its sink stands in another region, so it could run more often or after a change;
**   - it has several sinks and is more than a load, a constant or a change of shape;
**   - it loads from a tensor that may be written before the sink, or by the sink elsewhere.
** One walk in reverse program order decides: every user of a value comes after it. */
#include "codegen/emit.h"

struct GpTilePlan {
    GpArena *arena;
    const GpIrFn *fn;
    const GpInst **sink; /* by value id: the latest instruction whose loop reads it */
    bool *has_many, *is_far, *is_buffer;
    bool *is_moved; /* read at other coordinates than those of the sink's element */
};

static bool is_cheap(GpOp op) {
    return op == GpOp_LoadTile || op == GpOp_Splat || op == GpOp_Iota || op == GpOp_Const ||
           gp_tile_moves(op);
}

static void note_use(GpTilePlan *plan, const GpValue *v, const GpInst *sink, bool is_many,
                     bool is_moved) {
    if (!gp_ir_is_tile(v))
        return;
    uint32_t id = v->id;
    if (plan->sink[id] && plan->sink[id] != sink)
        plan->has_many[id] = true;
    plan->has_many[id] |= is_many;
    plan->is_moved[id] |= is_moved;
    if (!plan->sink[id])
        plan->sink[id] = sink;
    if (v->inst && v->inst->parent != sink->parent)
        plan->is_far[id] = true;
}

static bool writes_tensor(const GpIrFn *fn, const GpInst *inst, const GpValue *tensor) {
    if (inst->op == GpOp_StoreTile && gp_ir_may_alias(fn, inst->operands[0], tensor))
        return true;
    if (inst->op != GpOp_StoreTile && gp_ir_effect(inst) == GpEffect_Write)
        return true; /* through an address */
    for (uint32_t i = 0; i < inst->region_count; i++)
        for (const GpInst *x = inst->regions[i]->first; x; x = x->next)
            if (writes_tensor(fn, x, tensor))
                return true;
    return false;
}

/* The store writes element after element what the load read at the same one just before. */
static bool is_same_place(const GpTilePlan *plan, const GpInst *load, const GpInst *store) {
    if (store->op != GpOp_StoreTile || plan->is_moved[load->results[0]->id] ||
        store->operands[0] != load->operands[0] || store->by_element != load->by_element)
        return false;
    const GpShape *shape = gp_tile_shape(store);
    if (!gp_shape_eq(shape, gp_tile_shape(load)))
        return false;
    for (uint32_t a = 0; a < shape->rank; a++)
        if (store->operands[2 + a] != load->operands[1 + a])
            return false;
    return true;
}

static bool is_overwritten(const GpTilePlan *plan, const GpInst *load) {
    const GpInst *sink = plan->sink[load->results[0]->id];
    for (const GpInst *x = load->next; x && x != sink; x = x->next)
        if (writes_tensor(plan->fn, x, load->operands[0]))
            return true;
    /* a sink with regions runs them after it took its operands */
    if (!sink || sink->region_count || !writes_tensor(plan->fn, sink, load->operands[0]))
        return false;
    return !is_same_place(plan, load, sink);
}

static bool needs_buffer(const GpTilePlan *plan, const GpInst *inst) {
    uint32_t id = inst->results[0]->id;
    if (inst->op == GpOp_Const || inst->op == GpOp_Splat || inst->op == GpOp_Iota)
        return false;
    if (plan->is_far[id] || (plan->has_many[id] && !is_cheap(inst->op)))
        return true;
    return inst->op == GpOp_LoadTile && is_overwritten(plan, inst);
}

static void plan_region(GpTilePlan *plan, const GpRegion *r);

static void plan_inst(GpTilePlan *plan, const GpInst *inst) {
    for (uint32_t i = inst->region_count; i-- > 0;)
        plan_region(plan, inst->regions[i]);
    bool is_expression = !inst->region_count && !gp_op_is_whole(inst->op) && inst->result_count &&
                         gp_ir_is_tile(inst->results[0]);
    const GpInst *sink = inst;
    bool is_many = false, is_moved = gp_tile_moves(inst->op);
    if (is_expression) {
        uint32_t id = inst->results[0]->id;
        if (!plan->sink[id])
            return; /* nobody reads it */
        plan->is_buffer[id] = needs_buffer(plan, inst);
        if (!plan->is_buffer[id]) {
            sink = plan->sink[id];
            is_many = plan->has_many[id];
            is_moved |= plan->is_moved[id];
        }
    }
    for (uint32_t i = 0; i < inst->operand_count; i++)
        note_use(plan, inst->operands[i], sink, is_many, is_moved);
}

static void plan_region(GpTilePlan *plan, const GpRegion *r) {
    for (const GpInst *inst = r->last; inst; inst = inst->prev)
        plan_inst(plan, inst);
}

GpTilePlan *gp_tile_plan_make(GpArena *arena, const GpIrFn *fn) {
    GpTilePlan *plan = GP_NEW(arena, GpTilePlan);
    uint32_t n = fn->next_id;
    *plan = (GpTilePlan){.arena = arena, .fn = fn};
    plan->sink = GP_NEW_ARRAY(arena, const GpInst *, n);
    plan->has_many = GP_NEW_ARRAY(arena, bool, n);
    plan->is_moved = GP_NEW_ARRAY(arena, bool, n);
    plan->is_far = GP_NEW_ARRAY(arena, bool, n);
    plan->is_buffer = GP_NEW_ARRAY(arena, bool, n);
    plan_region(plan, fn->body);
    return plan;
}

bool gp_tile_plan_is_materialized(const GpTilePlan *plan, const GpValue *v) {
    return plan->is_buffer[v->id];
}

