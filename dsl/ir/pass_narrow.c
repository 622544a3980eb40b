/* Functions of f32 are as exact as what is made of their results. It is part of a kernel's meaning, like
** contraction (pass_fma.c): it depends on the program alone.
**
** Where results are only rounded to 11 bits or fewer (bf16, f16, tf32, ..), on the way there at most
** multiplied, divided and chosen from, and powers added to constants, which keeps relative errors:
**   exp(x) -> exp2_flush(x * log2 e), also where the results are added up
**   x / c  -> x * (1 / c), with one c for many elements; also as the argument of tanh_approx
**   x * (1 / y) -> x / y, which rounds once
**   x / (c + exp(..)) -> x * rcp_flush(c + exp(..)), and 0 where the sum is 2^126 or more
**   a +- a * tanh(x) -> a * rcp_flush(..); tanh(x) -> tanh_approx(x) for 8 bits, else what is exact enough for 11 (rounded.h)
**   log(c + exp(..)), c >= 1 -> within 2^-15 (rounded.h)
** Where results are added to others on the way, as to a residual, powers and quotients are short, whose errors are far below
** the sum's rounding, and the others stay: what is left of log(1 + exp(x)) - x would be their error.
** The product's rounding is as one of x: a relative error of |x| 2^-24 more. */
#include "dsl/ir/pass.h"
#include "dsl/ir/rounded.h"

typedef struct Narrow {
    GpIrFn *fn;
    const uint8_t *demands;
    uint32_t *uses;
    bool changed;
} Narrow;

/* A power, and a number far from the least and the greatest: the reciprocal is a normal number, or 0. */
static bool has_short_inverse(const GpValue *v) { return gp_ir_is_power_and(v, 0x1p-60); }

/* It is rounded, or what it is added to is. */
static bool is_rounded_sum(uint8_t demands) { return gp_ir_is_rounded(demands & (uint8_t)~GP_DEMAND_ADDED); }

static void replace(Narrow *n, GpInst *inst, GpValue *by) {
    by->name = inst->results[0]->name;
    gp_pass_replace(inst->results[0], by);
    gp_ir_remove(inst);
    n->changed = true;
}

/* y, when operand i is 1 / y and nothing else uses that; NULL. */
static GpValue *find_inverted(const Narrow *n, const GpInst *product, uint32_t i) {
    const GpValue *v = product->operands[i];
    GpScalar one;
    bool is_inverse = v->inst && v->inst->op == GpOp_Div && n->uses[v->id] == 1 &&
                      !gp_ir_repeats(v->inst->operands[1]) && !has_short_inverse(v->inst->operands[1]) &&
                      gp_ir_const(v->inst->operands[0], &one) && one.f == 1;
    return is_inverse ? v->inst->operands[1] : NULL;
}

static void divide(Narrow *n, GpInst *product) {
    GpBuilder b = {.fn = n->fn, .region = product->parent, .before = product, .span = product->span};
    for (uint32_t i = 0; i < 2; i++) {
        GpValue *y = find_inverted(n, product, i);
        if (!y)
            continue;
        replace(n, product, gp_build2(&b, GpOp_Div, product->operands[1 - i], y));
        return;
    }
}

/* A quotient, by what is known of the divisor. */
static void invert(Narrow *n, GpBuilder *b, GpInst *div) {
    GpValue *a = div->operands[0], *y = div->operands[1], *by;
    GpScalar one;
    if (gp_ir_repeats(y)) {
        by = gp_build_by_inverse(b, div);
    } else if (has_short_inverse(y) && is_rounded_sum(n->demands[div->results[0]->id])) {
        by = gp_build1(b, GpOp_RcpFlush, y);
        if (!gp_ir_const(a, &one) || one.f != 1)
            by = gp_build2(b, GpOp_Mul, a, by);
    } else {
        return;
    }
    replace(n, div, by);
}

/* a +- a * tanh(x); the walk comes to that tanh, which nothing uses then. */
static void add_tanh(Narrow *n, GpBuilder *b, GpInst *inst) {
    uint32_t i = gp_ir_find_tanh(inst, n->uses);
    if (i == inst->operand_count)
        return;
    GpInst *tanh = inst->operands[i]->inst;
    GpValue *by = gp_build_one_plus_tanh(b, tanh->operands[0], inst->op == GpOp_Sub);
    if (inst->op == GpOp_Fma)
        by = gp_build2(b, GpOp_Mul, by, inst->operands[2]);
    n->uses[tanh->results[0]->id] = 0;
    replace(n, inst, by);
}

static void shorten_tanh(Narrow *n, GpBuilder *b, GpInst *inst, uint8_t demands) {
    GpValue *x = inst->operands[0];
    if (n->uses[inst->results[0]->id] == 0)
        gp_ir_remove(inst);
    else
        replace(n, inst, demands & GP_DEMAND_11 ? gp_build_tanh_rounded(b, x) : gp_build1(b, GpOp_TanhApprox, x));
}

static void shorten(Narrow *n, GpInst *inst) {
    uint8_t demands = inst->result_count ? n->demands[inst->results[0]->id] : GP_DEMAND_ALL;
    bool is_exact = demands & (GP_DEMAND_ALL | GP_DEMAND_HANDED) || (demands & GP_DEMAND_ADDED && !is_rounded_sum(demands));
    if (is_exact || inst->results[0]->type->elem != GpElem_F32)
        return;
    GpBuilder b = {.fn = n->fn, .region = inst->parent, .before = inst, .span = inst->span};
    if (inst->op == GpOp_Mul)
        divide(n, inst);
    else if (inst->op == GpOp_Exp && !(demands & GP_DEMAND_ARGUMENT))
        replace(n, inst, gp_build_exp_approx(&b, inst->operands[0]));
    else if (inst->op == GpOp_Div && !(demands & GP_DEMAND_TERM))
        invert(n, &b, inst);
    else if (inst->op == GpOp_Tanh && gp_ir_is_rounded(demands))
        shorten_tanh(n, &b, inst, demands);
    else if (gp_ir_is_log_of_power(inst) && gp_ir_is_rounded(demands))
        replace(n, inst, gp_build_log_rounded(&b, inst->operands[0]));
    else if (gp_ir_is_rounded(demands))
        add_tanh(n, &b, inst);
}

/* Backwards, so that a value's users come before it: they are made of it as it was written. */
static void walk(Narrow *n, GpRegion *r) {
    for (GpInst *inst = r->last, *prev; inst; inst = prev) {
        prev = inst->prev;
        for (uint32_t i = inst->region_count; i > 0; i--)
            walk(n, inst->regions[i - 1]);
        shorten(n, inst);
    }
}

bool gp_pass_narrow(GpIrFn *fn) {
    Narrow n = {.fn = fn, .uses = gp_ir_count_uses(fn, fn->arena)};
    n.demands = gp_ir_find_demands(fn, n.uses);
    walk(&n, fn->body);
    if (n.changed)
        gp_ir_apply_forwards(fn);
    return n.changed;
}
