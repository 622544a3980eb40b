/* Floats rounded in a direction, from operations that round to nearest: the nearest result and the
** sign of what it misses tell the directed one, which is that result or the one beside it (Muller
** et al., "Handbook of Floating-Point Arithmetic", 2nd edition, 4.3 and 4.7). A value is held as
** head + tail, the head of f64; types narrower than f64 are exact in it, or nearly so. */
#include <math.h>

#include "dsl/lower_tile.h"

typedef struct Exact {
    GpValue *head, *tail; /* of the tail the sign counts alone; NULL: 0 */
    GpValue *is_over;     /* the head is infinite though the value is not; NULL: never */
} Exact;

static GpValue *number(GpLower *lo, const GpIrType *t, double f) {
    return gp_build_const(&lo->b, t, (GpScalar){.elem = t->elem, .f = f});
}

static GpValue *op1(GpLower *lo, GpOp op, GpValue *x) { return gp_build1(&lo->b, op, x); }
static GpValue *op2(GpLower *lo, GpOp op, GpValue *x, GpValue *y) {
    return gp_build2(&lo->b, op, x, y);
}
static GpValue *compare(GpLower *lo, GpPred p, GpValue *x, GpValue *y) {
    return gp_build_cmp(&lo->b, p, x, y);
}
static GpValue *choose(GpLower *lo, GpValue *c, GpValue *x, GpValue *y) {
    return gp_build_select(&lo->b, c, x, y);
}
static GpValue *fused(GpLower *lo, GpValue *x, GpValue *y, GpValue *z) {
    return gp_build(&lo->b, GpOp_Fma, (GpValue *[]){x, y, z}, 3, &x->type, 1)->results[0];
}
static GpValue *is_below(GpLower *lo, GpValue *x, double limit) {
    return compare(lo, GpPred_Lt, op1(lo, GpOp_Abs, x), number(lo, x->type, limit));
}

/* ---- Exact values --------------------------------------------------------------------------- */

/* Knuth's sum of two with its error. */
static Exact sum(GpLower *lo, GpValue *a, GpValue *b) {
    GpValue *head = op2(lo, GpOp_Add, a, b), *bb = op2(lo, GpOp_Sub, head, a);
    GpValue *aa = op2(lo, GpOp_Sub, head, bb);
    GpValue *tail = op2(lo, GpOp_Add, op2(lo, GpOp_Sub, a, aa), op2(lo, GpOp_Sub, b, bb));
    return (Exact){.head = head, .tail = tail};
}

/* A sum that is zero is -0 when rounded down, unless both are 0. */
static Exact sum_toward(GpLower *lo, GpValue *a, GpValue *b, GpRounding mode) {
    if (mode != GpRounding_Down)
        return sum(lo, a, b);
    Exact e = sum(lo, op1(lo, GpOp_Neg, a), op1(lo, GpOp_Neg, b));
    return (Exact){.head = op1(lo, GpOp_Neg, e.head), .tail = op1(lo, GpOp_Neg, e.tail)};
}

/* x, and where it is small a multiple that is not: a power of two changes no sign of an error. */
static GpValue *scaled(GpLower *lo, GpValue *is_small, GpValue *x, double by) {
    return choose(lo, is_small, op2(lo, GpOp_Mul, x, number(lo, x->type, by)), x);
}

/* Of f64: the error of the rounded product, which is the product itself where that became zero. */
static Exact product(GpLower *lo, GpValue *a, GpValue *b) {
    GpValue *head = op2(lo, GpOp_Mul, a, b), *is_small = is_below(lo, head, 0x1p-900);
    GpValue *error = fused(lo, scaled(lo, is_small, a, 0x1p128), b,
                           op1(lo, GpOp_Neg, scaled(lo, is_small, head, 0x1p128)));
    GpValue *by = number(lo, a->type, 0x1p600), *zero = number(lo, a->type, 0.0);
    GpValue *large = op2(lo, GpOp_Mul, op2(lo, GpOp_Mul, a, by), op2(lo, GpOp_Mul, b, by));
    return (Exact){.head = head,
                   .tail = choose(lo, compare(lo, GpPred_Eq, head, zero), large, error)};
}

static Exact quotient(GpLower *lo, GpValue *a, GpValue *b, bool is_wide) {
    GpValue *head = op2(lo, GpOp_Div, a, b), *zero = number(lo, a->type, 0.0);
    if (is_wide) {
        GpValue *is_small = op2(lo, GpOp_And, is_below(lo, a, 0x1p-400), is_below(lo, b, 0x1p400));
        a = scaled(lo, is_small, a, 0x1p600);
        b = scaled(lo, is_small, b, 0x1p600);
    }
    GpValue *rest = fused(lo, op1(lo, GpOp_Neg, head), b, a);
    GpValue *is_negative = compare(lo, GpPred_Lt, b, zero);
    return (Exact){.head = head, .tail = choose(lo, is_negative, op1(lo, GpOp_Neg, rest), rest)};
}

static Exact root(GpLower *lo, GpValue *x) {
    GpValue *head = op1(lo, GpOp_Sqrt, x), *is_small = is_below(lo, x, 0x1p-400);
    GpValue *r = scaled(lo, is_small, head, 0x1p300);
    return (Exact){.head = head,
                   .tail = fused(lo, op1(lo, GpOp_Neg, r), r, scaled(lo, is_small, x, 0x1p600))};
}

/* Operands that are finite gave an infinite head; a quotient by zero is infinite. */
static GpValue *is_over(GpLower *lo, GpOp op, GpValue *head, GpValue **x, uint32_t count) {
    GpValue *over =
        compare(lo, GpPred_Eq, op1(lo, GpOp_Abs, head), number(lo, head->type, HUGE_VAL));
    for (uint32_t i = 0; i < count; i++)
        over = op2(lo, GpOp_And, over, is_below(lo, x[i], HUGE_VAL));
    if (op == GpOp_Div)
        over = op2(lo, GpOp_And, over, compare(lo, GpPred_Ne, x[1], number(lo, head->type, 0.0)));
    return over;
}

static Exact compute(GpLower *lo, GpOp op, GpValue **x, bool is_wide, GpRounding mode) {
    if (op == GpOp_Sqrt)
        return root(lo, x[0]);
    if (op == GpOp_Mul && is_wide)
        return product(lo, x[0], x[1]);
    if (op == GpOp_Mul)
        return (Exact){.head = op2(lo, GpOp_Mul, x[0], x[1])};
    if (op == GpOp_Div)
        return quotient(lo, x[0], x[1], is_wide);
    if (op == GpOp_Fma)
        return sum_toward(lo, op2(lo, GpOp_Mul, x[0], x[1]), x[2], mode);
    gp_assert(op == GpOp_Add || op == GpOp_Sub);
    return sum_toward(lo, x[0], op == GpOp_Sub ? op1(lo, GpOp_Neg, x[1]) : x[1], mode);
}

/* ---- The neighbour -------------------------------------------------------------------------- */

/* Whether the exact value is on that side of the rounded one. */
static GpValue *is_beyond(GpLower *lo, const Exact *e, GpValue *r, GpPred side) {
    GpValue *wide = gp_lower_convert(lo, r, GpElem_F64), *zero = number(lo, wide->type, 0.0);
    GpPred opposite = side == GpPred_Lt ? GpPred_Gt : GpPred_Lt;
    GpValue *is = compare(lo, side, e->head, wide);
    if (e->tail) {
        GpValue *by_tail = compare(lo, side, e->tail, zero);
        is =
            op2(lo, GpOp_Or, is, op2(lo, GpOp_And, compare(lo, GpPred_Eq, e->head, wide), by_tail));
    }
    if (e->is_over) {
        GpValue *was = op2(lo, GpOp_And, e->is_over, compare(lo, opposite, wide, zero));
        is = op2(lo, GpOp_Or, is, was);
    }
    return is;
}

static GpElem bits_of(GpElem elem) {
    for (int i = 0; i < GpElem_count; i++)
        if (gp_elem_info[i].cls == GpClass_Int && gp_elem_info[i].bits == gp_elem_info[elem].bits)
            return (GpElem)i;
    gp_unreachable();
}

static const GpIrType *retyped(GpLower *lo, const GpIrType *t, GpElem elem) {
    return t->kind == GpIrType_Tile ? gp_ir_tile(lo->fn, elem, &t->shape)
                                    : gp_ir_scalar(lo->fn, elem);
}

/* The number beside r, away from zero or toward it: magnitudes count as their bits do. */
static GpValue *beside(GpLower *lo, GpValue *r, GpValue *is_away) {
    GpValue *bits = gp_build_bitcast(&lo->b, r, bits_of(r->type->elem));
    GpScalar by = {.elem = bits->type->elem, .i = r->type->elem == GpElem_TF32 ? 1 << 13 : 1};
    GpValue *step = gp_build_const(&lo->b, bits->type, by);
    bits = choose(lo, is_away, op2(lo, GpOp_Add, bits, step), op2(lo, GpOp_Sub, bits, step));
    return gp_build_bitcast(&lo->b, bits, r->type->elem);
}

/* f8e4m3fn has no infinity to round to: beyond its greatest number stays that number. */
static GpValue *is_last(GpLower *lo, GpValue *r) {
    return compare(lo, GpPred_Ge, op1(lo, GpOp_Abs, r), number(lo, r->type, 448.0));
}

static GpValue *round_exact(GpLower *lo, const Exact *e, GpElem elem, GpRounding mode) {
    GpValue *r = gp_lower_convert(lo, e->head, elem), *zero = number(lo, r->type, 0.0);
    GpValue *is_negative = compare(lo, GpPred_Lt, r, zero);
    const GpIrType *flags = is_negative->type;
    GpValue *never = gp_build_const(&lo->b, flags, (GpScalar){.elem = GpElem_Bool});
    GpValue *is_less = is_beyond(lo, e, r, GpPred_Lt), *is_greater = is_beyond(lo, e, r, GpPred_Gt);
    GpValue *moves, *is_away;
    if (mode == GpRounding_Zero) {
        moves = choose(lo, is_negative, is_greater,
                       op2(lo, GpOp_And, is_less, compare(lo, GpPred_Gt, r, zero)));
        is_away = never;
    } else if (mode == GpRounding_Up) {
        moves = is_greater;
        is_away = op1(lo, GpOp_Not, is_negative);
    } else {
        moves = is_less; /* of -0 away from zero: what rounds to 0 is not less than it */
        is_away = op1(lo, GpOp_Not, compare(lo, GpPred_Gt, r, zero));
    }
    if (elem == GpElem_F8E4) {
        GpValue *stays = op2(lo, GpOp_And, is_away, is_last(lo, r));
        moves = op2(lo, GpOp_And, moves, op1(lo, GpOp_Not, stays));
    }
    return choose(lo, moves, beside(lo, r, is_away), r);
}

GpValue *gp_round_op(GpLower *lo, GpOp op, GpValue **x, uint32_t count, GpRounding mode) {
    GpElem elem = x[0]->type->elem;
    bool is_wide = elem == GpElem_F64;
    if ((is_wide && op == GpOp_Fma) || mode == GpRounding_Away)
        return NULL;
    GpValue *wide[3] = {x[0], x[0], x[0]};
    for (uint32_t i = 0; i < count; i++)
        wide[i] = gp_lower_convert(lo, x[i], GpElem_F64);
    Exact e = compute(lo, op, wide, is_wide, mode);
    if (is_wide)
        e.is_over = is_over(lo, op, e.head, wide, count);
    return round_exact(lo, &e, elem, mode);
}

/* 64-bit integers are the sum of their halves, each exact. */
static Exact whole(GpLower *lo, GpValue *x) {
    const GpIrType *t = x->type, *f64 = retyped(lo, t, GpElem_F64);
    GpValue *width = gp_build_const(&lo->b, t, (GpScalar){.elem = t->elem, .i = 32});
    GpValue *mask = gp_build_const(&lo->b, t, (GpScalar){.elem = t->elem, .i = UINT32_MAX});
    GpValue *high = gp_lower_convert(lo, op2(lo, GpOp_Shr, x, width), GpElem_F64);
    GpValue *low = gp_lower_convert(lo, op2(lo, GpOp_And, x, mask), GpElem_F64);
    return sum(lo, op2(lo, GpOp_Mul, high, number(lo, f64, 0x1p32)), low);
}

/* The nearest r, and its neighbour where the value is right between the two: the even one of them
** is then nearer to zero. Both distances are exact. */
static GpValue *round_away(GpLower *lo, const Exact *e, GpValue *r) {
    GpValue *wide = gp_lower_convert(lo, r, GpElem_F64);
    GpValue *always = gp_build_const(&lo->b, compare(lo, GpPred_Eq, r, r)->type,
                                     (GpScalar){.elem = GpElem_Bool, .u = 1});
    GpValue *next = beside(lo, r, always), *wide_next = gp_lower_convert(lo, next, GpElem_F64);
    GpValue *here = op2(lo, GpOp_Sub, e->head, wide), *there = op2(lo, GpOp_Sub, wide_next, e->head);
    if (e->tail) {
        here = op2(lo, GpOp_Add, here, e->tail);
        there = op2(lo, GpOp_Sub, there, e->tail);
    }
    return choose(lo, compare(lo, GpPred_Eq, here, there), next, r);
}

GpValue *gp_round_convert(GpLower *lo, GpValue *x, GpElem to, GpRounding mode) {
    GpElem from = x->type->elem;
    bool is_long = gp_elem_is_integer(from) && gp_elem_info[from].bits == 64;
    Exact e = is_long ? whole(lo, x) : (Exact){.head = gp_lower_convert(lo, x, GpElem_F64)};
    return mode == GpRounding_Away ? round_away(lo, &e, gp_lower_convert(lo, x, to))
                                   : round_exact(lo, &e, to, mode);
}

/* Halves to the even neighbour. */
GpValue *gp_round_even(GpLower *lo, GpValue *x) {
    const GpIrType *t = x->type;
    GpValue *low = op1(lo, GpOp_Floor, x), *half = number(lo, t, 0.5);
    GpValue *rest = op2(lo, GpOp_Sub, x, low), *next = op2(lo, GpOp_Add, low, number(lo, t, 1.0));
    GpValue *halved = op2(lo, GpOp_Mul, low, half);
    GpValue *is_odd = compare(lo, GpPred_Ne, op1(lo, GpOp_Floor, halved), halved);
    GpValue *is_tie = compare(lo, GpPred_Eq, rest, half);
    GpValue *goes_up =
        op2(lo, GpOp_Or, compare(lo, GpPred_Gt, rest, half), op2(lo, GpOp_And, is_tie, is_odd));
    return choose(lo, goes_up, next, low);
}
