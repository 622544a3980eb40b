/* How exact values have to be for what becomes of them: a fixed point over the function, from the least demands up. */
#include "dsl/ir/pass.h"
#include "dsl/ir/rounded.h"

typedef struct Demands {
    uint8_t *of; /* by id */
    bool changed;
} Demands;

bool gp_ir_is_narrow(GpElem elem) {
    return elem == GpElem_TF32 || (gp_elem_is_float(elem) && gp_elem_info[elem].bits <= 16);
}

/* Results are as exact as the operands, relative to the sum of what is added. */
static const bool keeps_error[GpOp_count] = {
    [GpOp_Select] = true,  [GpOp_Mul] = true,       [GpOp_Div] = true,     [GpOp_Neg] = true, [GpOp_Add] = true,
    [GpOp_Reshape] = true, [GpOp_Broadcast] = true, [GpOp_Permute] = true, [GpOp_Fma] = true,
};

static uint8_t of_carried(const Demands *d, const GpInst *loop, uint32_t k) {
    uint8_t turn = d->of[loop->regions[0]->params[gp_loop_param(loop, k)]->id];
    return loop->op == GpOp_For ? GP_MAX(turn, d->of[loop->results[k]->id]) : turn;
}

/* Of the i-th value that an instruction hands on. */
static uint8_t of_handed(const Demands *d, const GpInst *inst, uint32_t i) {
    const GpInst *to = inst->target ? inst->target : inst->parent->owner;
    if (gp_is_loop(inst))
        return i >= gp_loop_start(inst, 0) ? of_carried(d, inst, i - gp_loop_start(inst, 0)) : GpExact_All;
    if (!to || gp_op_info[to->op].effect != GpEffect_Control)
        return GpExact_All;
    if (inst->op == GpOp_Break || (inst->op == GpOp_Yield && !gp_is_loop(to)))
        return d->of[to->results[i]->id];
    return inst->op == GpOp_Continue || inst->op == GpOp_Yield ? of_carried(d, to, i) : GpExact_All;
}

static uint8_t of_use(const Demands *d, const GpInst *inst, uint32_t i) {
    if (inst->result_count == 0)
        return of_handed(d, inst, i);
    const GpValue *result = inst->results[0];
    if (keeps_error[inst->op] || (inst->op == GpOp_Mma && i == 2))
        return d->of[result->id];
    if (inst->op == GpOp_Cast && gp_ir_is_narrow(result->type->elem))
        return result->type->elem == GpElem_F16 || result->type->elem == GpElem_TF32 ? GpExact_11 : GpExact_8;
    if (inst->op == GpOp_Reduce && i == 0 && gp_ir_fold_op(inst) == GpOp_Add)
        return GP_MIN(d->of[result->id], GpExact_11);
    return of_handed(d, inst, i);
}

static void demand(Demands *d, const GpInst *inst) {
    for (uint32_t i = 0; i < inst->operand_count; i++) {
        uint8_t *known = &d->of[inst->operands[i]->id], now = of_use(d, inst, i);
        d->changed |= now > *known;
        *known = GP_MAX(*known, now);
    }
}

/* Backwards, so that a value's users come before it: only what loops carry takes another walk. */
static void walk(Demands *d, const GpRegion *r) {
    for (const GpInst *inst = r->last; inst; inst = inst->prev) {
        for (uint32_t i = inst->region_count; i > 0; i--)
            walk(d, inst->regions[i - 1]);
        demand(d, inst);
    }
}

uint8_t *gp_ir_find_exactness(const GpIrFn *fn) {
    Demands d = {.of = GP_NEW_ARRAY(fn->arena, uint8_t, fn->next_id), .changed = true};
    while (d.changed) {
        d.changed = false;
        walk(&d, fn->body);
    }
    return d.of;
}
