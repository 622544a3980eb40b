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
    return inst->op == GpOp_If ? 1 : inst->op == GpOp_For ? 3 : 0;
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

/* Value `k` of those that a structured instruction carries and returns. */
static void mark_carried(Slice *s, const GpInst *owner, uint32_t k) {
    mark_inst(s, owner);
    if (owner->op == GpOp_For)
        mark_value(s, owner->operands[3 + k]);
    for (uint32_t i = 0; i < owner->region_count; i++)
        mark_value(s, gp_ir_terminator(owner->regions[i])->operands[k]);
    if (owner->op == GpOp_For)
        mark_value(s, owner->regions[0]->params[1 + k]);
    mark_value(s, owner->results[k]);
}

static void mark_value(Slice *s, const GpValue *v) {
    if (s->pipe->in_slice[v->id] || v->type->kind == GpIrType_Tensor)
        return;
    s->pipe->in_slice[v->id] = true;
    const GpInst *inst = v->inst ? v->inst : v->region->owner;
    if (!inst)
        return; /* the function's parameter */
    GpEffect effect = gp_ir_effect(inst);
    bool is_plain = effect == GpEffect_Pure || effect == GpEffect_Control ||
                    inst->op == GpOp_CheckIndex;
    if (v->type->kind == GpIrType_Tile || !is_plain || inst->op == GpOp_Extract) {
        s->is_scalar = false;
        return;
    }
    mark_inst(s, inst);
    if (inst->region_count == 0) {
        for (uint32_t i = 0; i < inst->operand_count; i++)
            mark_value(s, inst->operands[i]);
    } else if (v->inst) {
        mark_carried(s, inst, v->index);
    } else if (v->index > 0) {
        mark_carried(s, inst, v->index - 1);
    }
}

bool gp_pipe_slice(GpEmit *e, GpPipe *p) {
    Slice s = {e, p, true};
    p->in_slice = GP_NEW_ARRAY(e->arena, bool, e->fn->next_id);
    gp_map_set(e->arena, &p->slice, gp_ir_terminator(e->fn->body), NULL);
    for (uint32_t i = 0; i < p->feeds.count; i++) {
        const GpInst *load = p->feeds.at[i].load;
        mark_inst(&s, load);
        for (uint32_t k = 1; k < load->operand_count; k++)
            mark_value(&s, load->operands[k]);
    }
    return s.is_scalar;
}
