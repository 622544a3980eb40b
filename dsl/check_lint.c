/* Operations on literals that cannot succeed, whatever the kernel is launched with: rustc denies
** them where they are written (unconditional_panic, arithmetic_overflow), E0080 in constants.
**
** Only literals and operators on them are evaluated: what variables hold is the run's business. */
#include "dsl/check_body.h"

/* An integer of a type: sign-extended when the type is signed. */
typedef struct Value {
    const GpType *type;
    uint64_t bits;
} Value;

static uint32_t width(const GpType *t) {
    return t->kind == GpTy_Elem ? gp_elem_info[t->elem].bits : 64;
}

static bool is_signed(const GpType *t) {
    return t->kind == GpTy_Isize || (t->kind == GpTy_Elem && gp_elem_is_signed(t->elem));
}

static int64_t as_signed(uint64_t bits) {
    int64_t v;
    memcpy(&v, &bits, sizeof v);
    return v;
}

static uint64_t largest(const GpType *t) { return UINT64_MAX >> (64 - width(t) + is_signed(t)); }

/* Whether the result of an exact 64-bit operation is a value of the type. */
static bool is_in_range(const GpType *t, uint64_t bits) {
    if (!is_signed(t))
        return bits <= largest(t);
    int64_t v = as_signed(bits), max = as_signed(largest(t));
    return v <= max && v >= -max - 1;
}

static bool apply(GpTok op, Value l, Value r, uint64_t *out) {
    int64_t s = 0;
    bool wraps;
    if (is_signed(l.type)) {
        int64_t a = as_signed(l.bits), c = as_signed(r.bits);
        wraps = op == GpTok_Plus    ? __builtin_add_overflow(a, c, &s)
                : op == GpTok_Minus ? __builtin_sub_overflow(a, c, &s)
                                    : __builtin_mul_overflow(a, c, &s);
        memcpy(out, &s, sizeof s);
    } else {
        wraps = op == GpTok_Plus    ? __builtin_add_overflow(l.bits, r.bits, out)
                : op == GpTok_Minus ? __builtin_sub_overflow(l.bits, r.bits, out)
                                    : __builtin_mul_overflow(l.bits, r.bits, out);
    }
    return !wraps && is_in_range(l.type, *out);
}

/* False for what is no literal, and for what fails: its own node is reported. */
static bool evaluate(GpNode *n, Value *out) {
    n = gp_node_bare(n);
    if (!n->type || !gp_body_is_int(n->type))
        return false;
    *out = (Value){n->type, 0};
    if (n->kind == GpNode_Lit)
        return gp_lit_int(n, &out->bits) && is_in_range(n->type, out->bits);
    if (n->kind == GpNode_Unary && GP_AS(Unary, n)->op == GpTok_Minus) {
        GpNode *lit = gp_node_bare(GP_AS(Unary, n)->operand);
        if (lit->kind != GpNode_Lit || !gp_lit_int(lit, &out->bits))
            return false;
        out->bits = UINT64_C(0) - out->bits;
        return is_in_range(n->type, out->bits);
    }
    if (n->kind != GpNode_Binary)
        return false;
    GpAstBinary *o = GP_AS(Binary, n);
    Value l, r;
    bool is_arith = o->op == GpTok_Plus || o->op == GpTok_Minus || o->op == GpTok_Star;
    return is_arith && evaluate(o->lhs, &l) && evaluate(o->rhs, &r) &&
           apply(o->op, l, r, &out->bits);
}

/* `1_i32`, `u8::MAX` */
static const char *value_text(GpBody *b, Value v) {
    const char *type = gp_ty_name(b->c->arena, v.type);
    if (v.bits == largest(v.type))
        return gp_arena_printf(b->c->arena, "%s::MAX", type);
    if (is_signed(v.type) && as_signed(v.bits) == -as_signed(largest(v.type)) - 1)
        return gp_arena_printf(b->c->arena, "%s::MIN", type);
    if (is_signed(v.type))
        return gp_arena_printf(b->c->arena, "%lld_%s", (long long)as_signed(v.bits), type);
    return gp_arena_printf(b->c->arena, "%llu_%s", (unsigned long long)v.bits, type);
}

static void report(GpBody *b, GpNode *n, GpDiagCode code, const char *label) {
    gp_primary_label(gp_diag(b->c->diags, b->is_const ? GpDiag_E0080 : code, n->span), "%s", label);
}

static const char *operand_text(GpBody *b, GpNode *n) {
    Value v;
    return evaluate(n, &v) ? value_text(b, v) : gp_body_text(b, n->span);
}

static void check_operation(GpBody *b, GpNode *n, GpNode *lhs, GpNode *rhs, GpTok op) {
    Value l, r;
    uint64_t result;
    bool is_rem = op == GpTok_Percent;
    if (!lhs->type || !gp_body_is_int(lhs->type) || !evaluate(rhs, &r))
        return;
    if ((op == GpTok_Slash || is_rem) && r.bits == 0) {
        report(b, n, GpDiag_G0230,
               gp_arena_printf(b->c->arena,
                               is_rem ? "attempt to calculate the remainder of `%s` with a divisor "
                                        "of zero"
                                      : "attempt to divide `%s` by zero",
                               operand_text(b, lhs)));
    } else if ((op == GpTok_Shl || op == GpTok_Shr) && r.bits >= width(lhs->type)) {
        report(b, n, GpDiag_G0231,
               gp_arena_printf(b->c->arena, "attempt to shift %s by `%s`, which would overflow",
                               op == GpTok_Shl ? "left" : "right", value_text(b, r)));
    } else if ((op == GpTok_Plus || op == GpTok_Minus || op == GpTok_Star) && evaluate(lhs, &l) &&
               !apply(op, l, r, &result)) {
        report(b, n, GpDiag_G0231,
               gp_arena_printf(b->c->arena, "attempt to compute `%s %s %s`, which would overflow",
                               value_text(b, l), gp_tok_info[op].spelling, value_text(b, r)));
    }
}

static void check_index(GpBody *b, GpNode *n) {
    GpAstIndex *ix = GP_AS(Index, n);
    const GpType *t = ix->base->type;
    Value at;
    int64_t count;
    if (!t || t->kind != GpTy_Array || !gp_const_value(t->count, &count) ||
        !evaluate(ix->index, &at) || at.bits < (uint64_t)count)
        return;
    report(b, n, GpDiag_G0230,
           gp_arena_printf(b->c->arena,
                           "index out of bounds: the length is %lld but the index is %llu",
                           (long long)count, (unsigned long long)at.bits));
}

void gp_check_failing(GpBody *b, GpNode *n) {
    if (n->kind == GpNode_Binary)
        check_operation(b, n, GP_AS(Binary, n)->lhs, GP_AS(Binary, n)->rhs, GP_AS(Binary, n)->op);
    else if (n->kind == GpNode_Index)
        check_index(b, n);
}
