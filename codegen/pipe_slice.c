/* The producer's slice: the copies, the scalars that place them, and the control flow around both.
**
** Marks backwards from the loads. A carried value is marked at every place where it comes from. */
#include "codegen/pipe.h"

typedef struct Slice {
    GpEmit *e;
    GpPipe *pipe;
    bool is_scalar; /* nothing else was needed so far */
} Slice;

static void mark_value(Slice *s, const GpValue *v);

uint32_t gp_pipe_controls(const GpInst *inst) {
    return inst->op == GpOp_If ? 1 : inst->op == GpOp_For ? GP_FOR_BOUNDS : 0;
}

static void mark_inst(Slice *s, const GpInst *inst) {
    if (gp_map_has(&s->pipe->slice, inst))
        return;
    gp_map_set(s->e->arena, &s->pipe->slice, inst, NULL);
    if (inst->parent->owner)
        mark_inst(s, inst->parent->owner);
    for (uint32_t i = 0; i < gp_pipe_controls(inst); i++)
        mark_value(s, inst->operands[i]);
    for (uint32_t i = 0; i < inst->region_count; i++)
        gp_map_set(s->e->arena, &s->pipe->slice, gp_ir_terminator(inst->regions[i]), NULL);
}

/* Value `k` of what goes from the region to a turn of the loop, or, with `is_out`, out of `owner`. */
static void mark_handed(Slice *s, const GpRegion *r, const GpInst *owner, uint32_t k, bool is_out) {
    for (const GpInst *x = r->first; x; x = x->next) {
        bool is_yield = x->op == GpOp_Yield && r->owner == owner && is_out != gp_is_loop(owner);
        if (is_yield || (x->target == owner && (x->op == GpOp_Break) == is_out))
            mark_value(s, x->operands[k]);
        for (uint32_t i = 0; i < x->region_count; i++)
            mark_handed(s, x->regions[i], owner, k, is_out);
    }
}

/* The results of a `loop` come from its breaks alone, those of a `for` from its last turn too. */
static void mark_result(Slice *s, const GpInst *owner, uint32_t k) {
    mark_inst(s, owner);
    for (uint32_t i = 0; i < owner->region_count; i++)
        mark_handed(s, owner->regions[i], owner, k, true);
    mark_value(s, owner->results[k]);
    if (owner->op == GpOp_For)
        mark_value(s, gp_loop_params(owner)[k]);
}

static void mark_param(Slice *s, const GpInst *owner, uint32_t k) {
    mark_inst(s, owner);
    if (k < gp_loop_indices(owner))
        return;
    uint32_t at = k - gp_loop_indices(owner);
    mark_value(s, gp_loop_starts(owner)[at]);
    mark_handed(s, owner->regions[0], owner, at, false);
    mark_value(s, owner->regions[0]->params[k]);
    if (owner->op == GpOp_For)
        mark_value(s, owner->results[at]);
}

/* Scalars, and tiles of one element, which every thread has: lengths and places of tiles may be read from a
** tensor. */
static bool can_compute(const Slice *s, const GpValue *v, const GpInst *inst) {
    GpEffect effect = gp_ir_effect(inst);
    bool is_one = gp_ir_numel(v->type) == 1;
    if (gp_ir_is_window(v))
        return true;
    if (gp_ir_is_tile(v) && inst->region_count)
        return false;
    if (inst->op == GpOp_LoadTile) {
        const GpIrParam *p = gp_ir_root_param(s->e->fn, inst->operands[0]);
        return is_one && p && !p->is_written;
    }
    return is_one && (effect == GpEffect_Pure || effect == GpEffect_Control || inst->op == GpOp_CheckIndex);
}

static void mark_value(Slice *s, const GpValue *v) {
    if (s->pipe->in_slice[v->id] || (v->type->kind == GpIrType_Tensor && !gp_ir_is_window(v)))
        return;
    s->pipe->in_slice[v->id] = true;
    const GpInst *inst = v->inst ? v->inst : v->region->owner;
    if (!inst)
        return; /* the function's parameter */
    if (!can_compute(s, v, inst)) {
        s->is_scalar = false;
        return;
    }
    mark_inst(s, inst);
    if (inst->region_count == 0) {
        for (uint32_t i = 0; i < inst->operand_count; i++)
            mark_value(s, inst->operands[i]);
    } else if (v->inst) {
        mark_result(s, inst, v->index);
    } else {
        mark_param(s, inst, v->index);
    }
}

bool gp_pipe_slice(GpEmit *e, GpPipe *p) {
    Slice s = {e, p, true};
    p->in_slice = GP_NEW_ARRAY(e->arena, bool, e->fn->next_id);
    gp_map_set(e->arena, &p->slice, gp_ir_terminator(e->fn->body), NULL);
    for (uint32_t i = 0; i < p->feeds.count; i++) {
        const GpInst *load = p->feeds.at[i].load;
        mark_inst(&s, load);
        for (uint32_t k = 0; k < load->operand_count; k++)
            mark_value(&s, load->operands[k]);
    }
    for (const GpInst *jump; (jump = gp_pipe_next_jump(p, e->fn->body));) {
        p->has_jump = true;
        mark_inst(&s, jump);
        for (uint32_t k = 0; k < jump->operand_count && !jump->target; k++)
            mark_value(&s, jump->operands[k]);
    }
    return s.is_scalar;
}
