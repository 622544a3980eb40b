/* What becomes of values in the end: a fixed point over the function, from none up. */
#include "dsl/ir/pass.h"
#include "dsl/ir/rounded.h"

typedef struct Demands {
    uint8_t *of; /* by id */
    const uint32_t *uses;
    bool changed;
} Demands;

/* Results are as exact as the operands; of sums, relative to the sum of what is added. */
static const enum { LOSES, KEEPS, ADDS } errors[GpOp_count] = {
    [GpOp_Select] = KEEPS,    [GpOp_Mul] = KEEPS,     [GpOp_Div] = KEEPS, [GpOp_Neg] = KEEPS, [GpOp_Reshape] = KEEPS,
    [GpOp_Broadcast] = KEEPS, [GpOp_Permute] = KEEPS, [GpOp_Add] = ADDS,  [GpOp_Fma] = ADDS,
};

/* A power and a number that is not negative. */
static bool is_sum_of_power(const GpInst *inst, uint32_t power) {
    const GpValue *v = inst->operands[power];
    GpScalar c;
    return inst->op == GpOp_Add && v->inst && v->inst->op == GpOp_Exp && gp_ir_const(inst->operands[1 - power], &c) &&
           c.f >= 0;
}

uint32_t gp_ir_find_tanh(const GpInst *inst, const uint32_t *uses) {
    bool is_sum = inst->op == GpOp_Add || inst->op == GpOp_Sub, is_fma = inst->op == GpOp_Fma;
    for (uint32_t i = 0; (is_sum || is_fma) && i < 2; i++) {
        const GpValue *t = inst->operands[i], *a = inst->operands[is_fma ? 2 : 1 - i];
        GpScalar one;
        bool is_whole = is_fma ? gp_ir_is_same(inst->operands[1 - i], a) : gp_ir_const(a, &one) && one.f == 1;
        bool is_tanh = t->inst && t->inst->op == GpOp_Tanh && t->type->elem == GpElem_F32 && uses[t->id] == 1;
        if (is_tanh && is_whole && !(inst->op == GpOp_Sub && i == 0))
            return i;
    }
    return inst->operand_count;
}

bool gp_ir_is_power_and(const GpValue *v, double least) {
    for (uint32_t i = 0; v->inst && v->inst->op == GpOp_Add && i < 2; i++) {
        const GpInst *power = v->inst->operands[i]->inst;
        bool is_power = power && (power->op == GpOp_Exp || power->op == GpOp_Exp2 || power->op == GpOp_Exp2Flush);
        GpScalar c;
        if (is_power && gp_ir_const(v->inst->operands[1 - i], &c))
            return c.f >= least && c.f <= 0x1p60;
    }
    return false;
}

bool gp_ir_is_log_of_power(const GpInst *inst) {
    return (inst->op == GpOp_Log || inst->op == GpOp_Ln) && gp_ir_is_power_and(inst->operands[0], 1);
}

static uint8_t of_carried(const Demands *d, const GpInst *loop, uint32_t k) {
    uint8_t turn = d->of[gp_loop_params(loop)[k]->id];
    return GP_DEMAND_HANDED | turn | (loop->op == GpOp_For ? d->of[loop->results[k]->id] : 0);
}

/* Of the i-th value that an instruction hands on. */
static uint8_t of_handed(const Demands *d, const GpInst *inst, uint32_t i) {
    const GpInst *to = gp_ir_goes_to(inst);
    if (gp_is_loop(inst))
        return i >= gp_loop_bounds(inst) ? of_carried(d, inst, i - gp_loop_bounds(inst)) : GP_DEMAND_ALL;
    if (!to || gp_op_info[to->op].effect != GpEffect_Control)
        return GP_DEMAND_ALL;
    if (inst->op == GpOp_Break || (inst->op == GpOp_Yield && !gp_is_loop(to)))
        return GP_DEMAND_HANDED | d->of[to->results[i]->id];
    return inst->op == GpOp_Continue || inst->op == GpOp_Yield ? of_carried(d, to, i) : GP_DEMAND_ALL;
}

static uint8_t of_cast(GpElem to) {
    if (to == GpElem_F16 || to == GpElem_TF32)
        return GP_DEMAND_11;
    return gp_elem_is_float(to) && gp_elem_info[to].bits <= 16 ? 0 : GP_DEMAND_ALL;
}

static uint8_t of_use(const Demands *d, const GpInst *inst, uint32_t i) {
    if (inst->result_count == 0)
        return of_handed(d, inst, i);
    uint8_t result = d->of[inst->results[0]->id];
    bool is_function = i == gp_ir_find_tanh(inst, d->uses) || gp_ir_is_log_of_power(inst);
    bool is_part = is_sum_of_power(inst, i) || (is_function && gp_ir_is_rounded(result));
    if (errors[inst->op] == KEEPS || is_part)
        return result;
    if (errors[inst->op] == ADDS || (inst->op == GpOp_Mma && i == 2))
        return result | GP_DEMAND_ADDED;
    if (inst->op == GpOp_Cast)
        return of_cast(inst->results[0]->type->elem);
    if (inst->op == GpOp_Reduce && i == 0 && gp_ir_fold_op(inst) == GpOp_Add)
        return GP_DEMAND_TERM | (gp_ir_exactness(result) == GpExact_8 ? 0 : GP_DEMAND_11);
    if (inst->op == GpOp_TanhApprox || (inst->op == GpOp_Tanh && gp_ir_is_rounded(result)))
        return GP_DEMAND_ARGUMENT;
    return of_handed(d, inst, i);
}

static void look_at(Demands *d, const GpInst *inst) {
    for (uint32_t i = 0; i < inst->operand_count; i++) {
        uint8_t *known = &d->of[inst->operands[i]->id], now = of_use(d, inst, i) | *known;
        d->changed |= now != *known;
        *known = now;
    }
}

/* Backwards, so that a value's users come before it: only what loops carry takes another walk. */
static void walk(Demands *d, const GpRegion *r) {
    for (const GpInst *inst = r->last; inst; inst = inst->prev) {
        for (uint32_t i = inst->region_count; i > 0; i--)
            walk(d, inst->regions[i - 1]);
        look_at(d, inst);
    }
}

uint8_t *gp_ir_find_demands(const GpIrFn *fn, const uint32_t *uses) {
    Demands d = {.of = GP_NEW_ARRAY(fn->arena, uint8_t, fn->next_id), .uses = uses, .changed = true};
    while (d.changed) {
        d.changed = false;
        walk(&d, fn->body);
    }
    return d.of;
}
