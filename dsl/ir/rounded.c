/* Shorter forms of functions of f32, for what is rounded. All have e^(2x), which is 2^(2x log2 e) and one instruction
** of a GPU, and a reciprocal, which is another:
**   tanh x = 1 - 2 / (1 + e^2x)     1 + tanh x = 1 / (1/2 + e^-2x / 2)     1 - tanh x = 1 / (1/2 + e^2x / 2)
**
** The power of z = 2x is off by 2^-22 + |z| 2^-24 of itself, the sum by 2^-24, its reciprocal by 2^-23. What that makes
** of 2 / (1 + e^z) is largest near z = 0, where half of the power's error counts: less than 2^-21 in all, with the
** rounding of the difference; farther out |z| e^z / (1 + e^z)^2 is less than 1/4. That is little beside tanh x where |x|
** is 2^-7 or more; x is within 2^-15 of it below. 1 + tanh x and 1 - tanh x have no difference: they are as exact as the
** powers. */
#include "dsl/ir/rounded.h"

#include <math.h>

static GpValue *number(GpBuilder *b, const GpValue *like, double v) {
    return gp_build_const(b, like->type, (GpScalar){.elem = like->type->elem, .f = v});
}

static GpValue *fma_of(GpBuilder *b, GpValue *x, GpValue *y, GpValue *z) {
    return gp_build(b, GpOp_Fma, (GpValue *[]){x, y, z}, 3, &x->type, 1)->results[0];
}

/* 1 / (1 + e^2x) */
static GpValue *half_less(GpBuilder *b, GpValue *x) {
    GpValue *power = gp_build1(b, GpOp_Exp2Flush, gp_build2(b, GpOp_Mul, x, number(b, x, 2 * GP_LOG2_E)));
    return gp_build1(b, GpOp_RcpFlush, gp_build2(b, GpOp_Add, power, number(b, x, 1)));
}

GpValue *gp_build_tanh_near(GpBuilder *b, GpValue *x, double c) {
    GpValue *part = half_less(b, x);
    return fma_of(b, part, number(b, x, -2 * c), number(b, x, c));
}

GpValue *gp_build_tanh_rounded(GpBuilder *b, GpValue *x) {
    GpValue *is_small = gp_build_cmp(b, GpPred_Lt, gp_build1(b, GpOp_Abs, x), number(b, x, 0x1p-7));
    return gp_build_select(b, is_small, x, gp_build_tanh_near(b, x, 1));
}

GpValue *gp_build_one_plus_tanh(GpBuilder *b, GpValue *x, bool is_less) {
    GpValue *z = fma_of(b, x, number(b, x, (is_less ? 2 : -2) * GP_LOG2_E), number(b, x, -1));
    GpValue *sum = gp_build2(b, GpOp_Add, gp_build1(b, GpOp_Exp2Flush, z), number(b, x, 0.5));
    return gp_build1(b, GpOp_RcpFlush, sum);
}

#define LN_2 0x1.62e43p-1 /* ln 2, rounded to f32 */

/* The logarithm to base 2 is off by 2^-22: 2^-15 of log x where x - 1, which is exact there, is 2^-7 or more. Below, the third
** term of the series is less than 2^-15 of it. */
GpValue *gp_build_log_rounded(GpBuilder *b, GpValue *x) {
    GpValue *t = gp_build2(b, GpOp_Sub, x, number(b, x, 1));
    GpValue *is_near = gp_build_cmp(b, GpPred_Lt, t, number(b, x, 0x1p-7));
    GpValue *near = fma_of(b, t, gp_build2(b, GpOp_Mul, t, number(b, x, -0.5)), t);
    GpValue *far = gp_build2(b, GpOp_Mul, gp_build1(b, GpOp_Log2Flush, x), number(b, x, LN_2));
    return gp_build_select(b, is_near, near, far);
}

static GpInst *find_repeat(const GpValue *c) {
    bool is_repeated = c->inst && (c->inst->op == GpOp_Splat || c->inst->op == GpOp_Broadcast);
    return is_repeated ? c->inst : NULL;
}

bool gp_ir_repeats(const GpValue *c) {
    GpScalar value;
    return find_repeat(c) || gp_ir_const(c, &value);
}

GpValue *gp_build_by_inverse(GpBuilder *b, const GpInst *quotient) {
    GpValue *c = quotient->operands[1];
    GpInst *repeat = find_repeat(c);
    GpValue *from = repeat ? repeat->operands[0] : c;
    GpValue *inverse = gp_build2(b, GpOp_Div, number(b, from, 1), from);
    if (repeat)
        inverse = gp_build(b, repeat->op, &inverse, 1, &c->type, 1)->results[0];
    return gp_build2(b, GpOp_Mul, quotient->operands[0], inverse);
}

/* A product is looked into, since each place where it stands in the source has its own. */
static bool is_same(const GpValue *x, const GpValue *y, bool looks_in) {
    GpScalar a, c;
    if (x == y || (gp_ir_const(x, &a) && gp_ir_const(y, &c)))
        return x == y || (a.f == c.f && x->type == y->type);
    bool are_products = looks_in && x->inst && y->inst && x->inst->op == GpOp_Mul && y->inst->op == GpOp_Mul;
    return are_products && is_same(x->inst->operands[0], y->inst->operands[0], false) &&
           is_same(x->inst->operands[1], y->inst->operands[1], false);
}

bool gp_ir_is_same(const GpValue *x, const GpValue *y) { return is_same(x, y, true); }
