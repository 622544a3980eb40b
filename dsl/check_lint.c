/* Operations on constants that cannot succeed, whatever the kernel is launched with: rustc denies
** them where they are written (unconditional_panic, arithmetic_overflow), E0080 in constants.
**
** Only literals, constants and operators on them are evaluated: what variables hold is the run's business. */
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

static bool negate(Value v, uint64_t *out) {
    *out = UINT64_C(0) - v.bits;
    return is_signed(v.type) && as_signed(v.bits) != -as_signed(largest(v.type)) - 1;
}

enum { MOST_CONSTANTS = 16 }; /* one behind another: they may be defined by each other */

static bool evaluate_as(GpNode *n, const GpType *type, uint32_t follow, Value *out);

/* `-128i8`: its literal alone is no value of the type. */
static bool evaluate_minus(GpNode *n, uint32_t follow, Value *out) {
    GpNode *operand = gp_node_bare(GP_AS(Unary, n)->operand);
    if (operand->kind != GpNode_Lit)
        return evaluate_as(operand, out->type, follow, out) && negate(*out, &out->bits);
    if (!gp_lit_int(operand, &out->bits))
        return false;
    out->bits = UINT64_C(0) - out->bits;
    return is_in_range(out->type, out->bits);
}

/* The value of a constant: of the language's, and of as many others as are to be followed. An impl may have
** another value than its trait. */
static GpNode *constant_value(const GpNode *path, uint32_t follow) {
    const GpDef *def = path->res && path->res->kind == GpRes_Def ? path->res->def : NULL;
    if (!def || def->kind != GpDef_Const || def->parent->kind == GpDef_Trait || (!follow && !def->is_std))
        return NULL;
    return GP_AS(Const, def->node)->value;
}

/* False for what is no constant, and for what fails: its own node is reported. The type is that of nodes
** which were not checked yet. */
static bool evaluate_as(GpNode *n, const GpType *type, uint32_t follow, Value *out) {
    n = gp_node_bare(n);
    *out = (Value){n->type ? n->type : type, 0};
    if (!out->type || !gp_body_is_int(out->type))
        return false;
    if (n->kind == GpNode_Lit)
        return gp_lit_int(n, &out->bits) && is_in_range(out->type, out->bits);
    if (n->kind == GpNode_Unary && GP_AS(Unary, n)->op == GpTok_Minus)
        return evaluate_minus(n, follow, out);
    if (n->kind == GpNode_PathExpr) {
        GpNode *value = constant_value(n, follow);
        return value && evaluate_as(value, out->type, follow ? follow - 1 : 0, out);
    }
    if (n->kind != GpNode_Binary)
        return false;
    GpAstBinary *o = GP_AS(Binary, n);
    Value l, r;
    bool is_arith = o->op == GpTok_Plus || o->op == GpTok_Minus || o->op == GpTok_Star;
    return is_arith && evaluate_as(o->lhs, out->type, follow, &l) &&
           evaluate_as(o->rhs, out->type, follow, &r) && apply(o->op, l, r, &out->bits);
}

/* What a condition asks of a constant may keep it from an operation: the user's constants are followed where
** the value of another is nothing but operators. */
static bool evaluate(const GpBody *b, GpNode *n, Value *out) {
    GpNode *whole = b->fn->kind == GpDef_Const ? gp_node_bare(GP_AS(Const, b->fn->node)->value) : NULL;
    bool is_plain = whole && (whole->kind == GpNode_Binary || whole->kind == GpNode_Unary);
    return evaluate_as(n, NULL, is_plain ? MOST_CONSTANTS : 0, out);
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
    return evaluate(b, n, &v) ? value_text(b, v) : gp_body_text(b, n->span);
}

static void check_operation(GpBody *b, GpNode *n, GpNode *lhs, GpNode *rhs, GpTok op) {
    Value l, r;
    uint64_t result;
    bool is_rem = op == GpTok_Percent;
    if (!lhs->type || !gp_body_is_int(lhs->type) || !evaluate(b, rhs, &r))
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
    } else if ((op == GpTok_Plus || op == GpTok_Minus || op == GpTok_Star) && evaluate(b, lhs, &l) &&
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
        !evaluate(b, ix->index, &at) || at.bits < (uint64_t)count)
        return;
    report(b, n, GpDiag_G0230,
           gp_arena_printf(b->c->arena,
                           "index out of bounds: the length is %lld but the index is %llu",
                           (long long)count, (unsigned long long)at.bits));
}

static void check_minus(GpBody *b, GpNode *n) {
    GpNode *operand = gp_node_bare(GP_AS(Unary, n)->operand);
    Value v;
    uint64_t result;
    if (GP_AS(Unary, n)->op == GpTok_Minus && operand->kind != GpNode_Lit && evaluate(b, operand, &v) &&
        is_signed(v.type) && !negate(v, &result))
        report(b, n, GpDiag_G0231,
               gp_arena_printf(b->c->arena, "attempt to negate `%s`, which would overflow",
                               value_text(b, v)));
}

void gp_check_failing(GpBody *b, GpNode *n) {
    if (n->kind == GpNode_Binary)
        check_operation(b, n, GP_AS(Binary, n)->lhs, GP_AS(Binary, n)->rhs, GP_AS(Binary, n)->op);
    else if (n->kind == GpNode_Unary)
        check_minus(b, n);
    else if (n->kind == GpNode_Index)
        check_index(b, n);
}
