/* Functions of f32 are as exact as what is made of their results. It is part of a kernel's meaning, like
** contraction (pass_fma.c): it depends on the program alone.
**
** Where results are only rounded to 11 bits or fewer (bf16, f16, tf32, ..), on the way there at most
** multiplied, divided and chosen from, and powers added to constants, which keeps relative errors:
**   exp(x) -> exp2_flush(x * log2 e), also where the results are added up
**   x / c  -> x * (1 / c), with one c for many elements; also as the argument of tanh_approx
**   x * (1 / y) -> x / y, which rounds once
** The product's rounding is as one of x: a relative error of |x| 2^-24 more. */
#include "dsl/ir/pass.h"

/* What a value's users want of it. */
enum { WANTS_ALL = 1, WANTS_SUMS = 2, WANTS_ARGUMENT = 4 };

typedef struct Narrow {
    GpIrFn *fn;
    uint8_t *wants; /* of each value */
    uint32_t *uses;
    bool changed;
} Narrow;

static bool is_narrow(GpElem elem) {
    return elem == GpElem_TF32 || (gp_elem_is_float(elem) && gp_elem_info[elem].bits <= 16);
}

/* Results are as exact as the operands. */
static const bool keeps_error[GpOp_count] = {
    [GpOp_Select] = true,  [GpOp_Mul] = true,       [GpOp_Div] = true,     [GpOp_Neg] = true,
    [GpOp_Reshape] = true, [GpOp_Broadcast] = true, [GpOp_Permute] = true,
};

/* A power and a number that is not negative. */
static bool is_sum_of_power(const GpInst *inst, uint32_t power) {
    const GpValue *v = inst->operands[power];
    GpScalar c;
    return inst->op == GpOp_Add && v->inst && v->inst->op == GpOp_Exp && gp_ir_const(inst->operands[1 - power], &c) &&
           c.f >= 0;
}

/* What the i-th operand is used for, given what is wanted of the results. */
static uint8_t wants_of(const Narrow *n, const GpInst *inst, uint32_t i) {
    if (keeps_error[inst->op] || is_sum_of_power(inst, i))
        return n->wants[inst->results[0]->id];
    if (inst->op == GpOp_Cast)
        return is_narrow(inst->results[0]->type->elem) ? 0 : WANTS_ALL;
    if (inst->op == GpOp_Reduce && i == 0 && gp_ir_fold_op(inst) == GpOp_Add)
        return WANTS_SUMS;
    return inst->op == GpOp_TanhApprox ? WANTS_ARGUMENT : WANTS_ALL;
}

/* c, of which there are fewer than of quotients, or which is the same in each. */
static const GpValue *find_divisor(const GpInst *div) {
    const GpValue *c = div->operands[1];
    GpScalar value;
    bool is_repeated = c->inst && (c->inst->op == GpOp_Splat || c->inst->op == GpOp_Broadcast);
    return is_repeated || gp_ir_const(c, &value) ? c : NULL;
}

static GpValue *reciprocal(GpBuilder *b, const GpValue *c) {
    GpInst *repeat = c->inst;
    bool is_repeated = repeat->op == GpOp_Splat || repeat->op == GpOp_Broadcast;
    GpValue *from = is_repeated ? repeat->operands[0] : repeat->results[0];
    GpScalar one = {.elem = from->type->elem, .f = 1};
    GpValue *inverse = gp_build2(b, GpOp_Div, gp_build_const(b, from->type, one), from);
    return is_repeated ? gp_build(b, repeat->op, &inverse, 1, &c->type, 1)->results[0] : inverse;
}

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
    bool is_inverse = v->inst && v->inst->op == GpOp_Div && n->uses[v->id] == 1 && !find_divisor(v->inst) &&
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

static void shorten(Narrow *n, GpInst *inst) {
    uint8_t wants = inst->result_count ? n->wants[inst->results[0]->id] : WANTS_ALL;
    if (wants & WANTS_ALL || inst->results[0]->type->elem != GpElem_F32)
        return;
    if (inst->op == GpOp_Mul) {
        divide(n, inst);
        return;
    }
    GpBuilder b = {.fn = n->fn, .region = inst->parent, .before = inst, .span = inst->span};
    if (inst->op == GpOp_Exp && !(wants & WANTS_ARGUMENT))
        replace(n, inst, gp_build_exp_approx(&b, inst->operands[0]));
    const GpValue *c = inst->op == GpOp_Div && !(wants & WANTS_SUMS) ? find_divisor(inst) : NULL;
    if (c)
        replace(n, inst, gp_build2(&b, GpOp_Mul, inst->operands[0], reciprocal(&b, c)));
}

/* Backwards, so that a value's users come before it. */
static void walk(Narrow *n, GpRegion *r) {
    for (GpInst *inst = r->last, *prev; inst; inst = prev) {
        prev = inst->prev;
        for (uint32_t i = inst->region_count; i > 0; i--)
            walk(n, inst->regions[i - 1]);
        for (uint32_t i = 0; i < inst->operand_count; i++)
            n->wants[inst->operands[i]->id] |= wants_of(n, inst, i);
        shorten(n, inst);
    }
}

bool gp_pass_narrow(GpIrFn *fn) {
    Narrow n = {.fn = fn, .wants = GP_NEW_ARRAY(fn->arena, uint8_t, fn->next_id)};
    n.uses = gp_ir_count_uses(fn, fn->arena);
    walk(&n, fn->body);
    if (n.changed)
        gp_ir_apply_forwards(fn);
    return n.changed;
}
