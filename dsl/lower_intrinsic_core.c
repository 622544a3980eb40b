/* Intrinsics of core: slices, numbers, Option. */
#include "dsl/lower.h"

static GpValue *slice_len(GpLower *lo, const GpLowerCall *call) {
    GpSpot s = gp_call_spot(lo, call, 0);
    return gp_spot_len(lo, &s);
}

GpVal gp_lower_SliceLen(GpLower *lo, const GpLowerCall *call) {
    return gp_call_result(lo, call, slice_len(lo, call));
}

GpVal gp_lower_SliceIsEmpty(GpLower *lo, const GpLowerCall *call) {
    GpValue *zero = gp_build_int(&lo->b, GpElem_U64, 0);
    return gp_call_result(lo, call, gp_build_cmp(&lo->b, GpPred_Eq, slice_len(lo, call), zero));
}

GpVal gp_lower_SliceGet(GpLower *lo, const GpLowerCall *call) {
    GpVal out = gp_lower_undef(lo, call->type);
    GpSpot s = gp_call_spot(lo, call, 0);
    GpValue *index = gp_call_scalar(lo, call, 1), *len = gp_spot_len(lo, &s);
    GpValue *has = gp_build_cmp(&lo->b, GpPred_Lt, index, len);
    GpSpot element = gp_spot_element(lo, s, index, has, call->span);
    if (out.count != 3)
        return out;
    GpVal ref = gp_spot_borrow(lo, &element, call->type->args[0].type, call->span);
    out.at[0].value = has;
    out.at[1] = ref.at[0]; /* read only where it is Some: no mask */
    return out;
}

/* ---- Numbers ------------------------------------------------------------------------------- */

GpVal gp_lower_NumWrapping(GpLower *lo, const GpLowerCall *call) {
    GpValue *x = gp_call_scalar(lo, call, 0);
    if (gp_call_ends(call, "neg"))
        return gp_call_result(lo, call, gp_build1(&lo->b, GpOp_Neg, x));
    GpOp op = gp_call_ends(call, "add")   ? GpOp_Add
              : gp_call_ends(call, "sub") ? GpOp_Sub
                                          : GpOp_Mul;
    return gp_call_result(lo, call, gp_build2(&lo->b, op, x, gp_call_scalar(lo, call, 1)));
}

GpVal gp_lower_NumMinMax(GpLower *lo, const GpLowerCall *call) {
    GpValue *x = gp_call_scalar(lo, call, 0), *y = gp_call_scalar(lo, call, 1);
    if (gp_call_ends(call, "min"))
        return gp_call_result(lo, call, gp_build2(&lo->b, GpOp_Min, x, y));
    if (gp_call_ends(call, "max"))
        return gp_call_result(lo, call, gp_build2(&lo->b, GpOp_Max, x, y));
    /* clamp keeps NaN: neither comparison holds */
    GpValue *hi = gp_call_scalar(lo, call, 2);
    GpValue *below = gp_build_cmp(&lo->b, GpPred_Lt, x, y);
    GpValue *above = gp_build_cmp(&lo->b, GpPred_Gt, x, hi);
    x = gp_build_select(&lo->b, below, y, gp_build_select(&lo->b, above, hi, x));
    return gp_call_result(lo, call, x);
}

GpVal gp_lower_NumMulAdd(GpLower *lo, const GpLowerCall *call) {
    GpValue *x[3];
    for (uint32_t i = 0; i < 3; i++)
        x[i] = gp_call_scalar(lo, call, i);
    const GpIrType *t = x[0]->type;
    return gp_call_result(lo, call, gp_build(&lo->b, GpOp_Fma, x, 3, &t, 1)->results[0]);
}

enum { POWI_MAX = 1024 }; /* constant exponents up to it become a chain of products */

static GpValue *powi_chain(GpLower *lo, GpValue *x, int64_t n, GpValue *unit) {
    GpValue *power = NULL;
    for (int64_t k = n < 0 ? -n : n; k; k /= 2) {
        if (k & 1)
            power = power ? gp_build2(&lo->b, GpOp_Mul, power, x) : x;
        if (k > 1)
            x = gp_build2(&lo->b, GpOp_Mul, x, x);
    }
    return power ? power : unit;
}

/* loop (r, x, n) { if n is odd r *= x; n /= 2; if n == 0 break r; x *= x } */
static GpValue *powi_loop(GpLower *lo, GpValue *x, GpValue *n, GpValue *unit) {
    GpValue *inits[3] = {unit, x, n}, *now[3];
    GpRegion *body = gp_ir_region(lo->fn), *arms[2] = {gp_ir_region(lo->fn), gp_ir_region(lo->fn)};
    for (int i = 0; i < 3; i++)
        now[i] = gp_ir_region_param(lo->fn, body, inits[i]->type, NULL);
    GpLowerPlace at = gp_lower_enter(lo, body);
    GpValue *two = gp_build_int(&lo->b, GpElem_I32, 2), *zero = gp_build_int(&lo->b, GpElem_I32, 0);
    GpValue *odd = gp_build_cmp(&lo->b, GpPred_Ne, gp_build2(&lo->b, GpOp_Rem, now[2], two), zero);
    GpValue *more = gp_build2(&lo->b, GpOp_Mul, now[0], now[1]);
    GpValue *power = gp_build_select(&lo->b, odd, more, now[0]);
    GpValue *rest = gp_build2(&lo->b, GpOp_Div, now[2], two);
    GpValue *is_done = gp_build_cmp(&lo->b, GpPred_Eq, rest, zero);
    GpInst *test = gp_build(&lo->b, GpOp_If, &is_done, 1, NULL, 0);
    gp_ir_set_regions(lo->fn, test, arms, 2);
    GpValue *square = gp_build2(&lo->b, GpOp_Mul, now[1], now[1]);
    gp_build(&lo->b, GpOp_Yield, (GpValue *[]){power, square, rest}, 3, NULL, 0);
    lo->b.region = arms[0];
    GpInst *leave = gp_build(&lo->b, GpOp_Break, &power, 1, NULL, 0);
    lo->b.region = arms[1];
    gp_build(&lo->b, GpOp_Yield, NULL, 0, NULL, 0);
    gp_lower_leave(lo, at);
    GpInst *loop = gp_build(&lo->b, GpOp_Loop, inits, 3, &unit->type, 1);
    gp_ir_set_regions(lo->fn, loop, &body, 1);
    leave->target = loop;
    return loop->results[0];
}

/* As compiler-rt: squares, and the reciprocal at the end for a negative exponent. */
GpVal gp_lower_NumPowi(GpLower *lo, const GpLowerCall *call) {
    GpValue *x = gp_call_scalar(lo, call, 0), *exponent = gp_call_scalar(lo, call, 1);
    GpScalar n, one = {.elem = x->type->elem, .f = 1.0};
    GpValue *unit = gp_build_const(&lo->b, x->type, one);
    if (gp_ir_const(exponent, &n) && n.i <= POWI_MAX && n.i >= -POWI_MAX) {
        GpValue *power = powi_chain(lo, x, n.i, unit);
        if (n.i < 0)
            power = gp_build2(&lo->b, GpOp_Div, unit, power);
        return gp_call_result(lo, call, power);
    }
    GpValue *power = powi_loop(lo, x, exponent, unit);
    GpValue *zero = gp_build_int(&lo->b, GpElem_I32, 0);
    GpValue *is_negative = gp_build_cmp(&lo->b, GpPred_Lt, exponent, zero);
    GpValue *inverse = gp_build2(&lo->b, GpOp_Div, unit, power);
    return gp_call_result(lo, call, gp_build_select(&lo->b, is_negative, inverse, power));
}

/* Elementwise: for each bit of the widest exponent, x when the bit is set, and the square of x. */
static GpValue *powi_bits(GpLower *lo, GpValue *x, GpValue *n, GpValue *unit) {
    const GpIrType *t = n->type, *i32 = gp_ir_scalar(lo->fn, GpElem_I32);
    GpValue *inits[6] = {gp_build_int(&lo->b, GpElem_I32, 0),
                         gp_build_int(&lo->b, GpElem_I32, (int64_t)gp_elem_info[t->elem].bits),
                         gp_build_int(&lo->b, GpElem_I32, 1), unit, x, n};
    GpScalar two = {.elem = t->elem, .i = 2}, none = {.elem = t->elem};
    GpRegion *body = gp_ir_region(lo->fn);
    GpValue *now[4];
    for (int i = 0; i < 4; i++)
        now[i] = gp_ir_region_param(lo->fn, body, i ? inits[2 + i]->type : i32, NULL);
    GpLowerPlace at = gp_lower_enter(lo, body);
    GpValue *by = gp_build_const(&lo->b, t, two), *zero = gp_build_const(&lo->b, t, none);
    GpValue *odd = gp_build_cmp(&lo->b, GpPred_Ne, gp_build2(&lo->b, GpOp_Rem, now[3], by), zero);
    GpValue *more = gp_build2(&lo->b, GpOp_Mul, now[1], now[2]);
    GpValue *next[3] = {gp_build_select(&lo->b, odd, more, now[1]),
                        gp_build2(&lo->b, GpOp_Mul, now[2], now[2]),
                        gp_build2(&lo->b, GpOp_Div, now[3], by)};
    gp_build(&lo->b, GpOp_Yield, next, 3, NULL, 0);
    gp_lower_leave(lo, at);
    const GpIrType *types[3] = {unit->type, x->type, t};
    GpInst *loop = gp_build(&lo->b, GpOp_For, inits, 6, types, 3);
    gp_ir_set_regions(lo->fn, loop, &body, 1);
    return loop->results[0];
}

GpVal gp_lower_TilePowi(GpLower *lo, const GpLowerCall *call) {
    GpValue *x = gp_call_scalar(lo, call, 0), *n = gp_call_scalar(lo, call, 1);
    GpScalar one = {.elem = x->type->elem, .f = 1.0}, none = {.elem = n->type->elem};
    GpValue *unit = gp_build_const(&lo->b, x->type, one);
    GpValue *power = powi_bits(lo, x, n, unit);
    GpValue *is_negative = gp_build_cmp(&lo->b, GpPred_Lt, n, gp_build_const(&lo->b, n->type, none));
    GpValue *inverse = gp_build2(&lo->b, GpOp_Div, unit, power);
    return gp_call_result(lo, call, gp_build_select(&lo->b, is_negative, inverse, power));
}

GpVal gp_lower_NumAbs(GpLower *lo, const GpLowerCall *call) {
    return gp_call_result(lo, call, gp_build1(&lo->b, GpOp_Abs, gp_call_scalar(lo, call, 0)));
}

GpVal gp_lower_NumSignum(GpLower *lo, const GpLowerCall *call) {
    GpValue *x = gp_call_scalar(lo, call, 0);
    GpElem elem = x->type->elem;
    GpValue *zero = gp_build_const(&lo->b, x->type, (GpScalar){.elem = elem});
    GpValue *above = gp_build_cast(&lo->b, gp_build_cmp(&lo->b, GpPred_Gt, x, zero), elem);
    GpValue *below = gp_build_cast(&lo->b, gp_build_cmp(&lo->b, GpPred_Lt, x, zero), elem);
    return gp_call_result(lo, call, gp_build2(&lo->b, GpOp_Sub, above, below));
}

GpVal gp_lower_NumBits(GpLower *lo, const GpLowerCall *call) {
    GpValue *x = gp_call_scalar(lo, call, 0);
    return gp_call_result(lo, call, gp_build_bitcast(&lo->b, x, gp_lower_leaf_type(lo, call->type, 0)->elem));
}

GpVal gp_lower_NumIsNan(GpLower *lo, const GpLowerCall *call) {
    GpValue *x = gp_call_scalar(lo, call, 0);
    return gp_call_result(lo, call, gp_build_cmp(&lo->b, GpPred_Ne, x, x));
}

/* ---- Option -------------------------------------------------------------------------------- */

GpVal gp_lower_OptionIsSome(GpLower *lo, const GpLowerCall *call) {
    GpVal v = gp_call_arg(lo, call, 0);
    GpValue *has = gp_lower_get(lo, &v, 0);
    return gp_call_result(lo, call,
                          gp_call_ends(call, "none") ? gp_build1(&lo->b, GpOp_Not, has) : has);
}

typedef struct Either {
    GpVal payload, otherwise;
} Either;

static GpVal take_payload(GpLower *lo, void *ud) {
    (void)lo;
    return ((Either *)ud)->payload;
}

static GpVal take_otherwise(GpLower *lo, void *ud) {
    (void)lo;
    return ((Either *)ud)->otherwise;
}

GpVal gp_lower_OptionUnwrap(GpLower *lo, const GpLowerCall *call) {
    GpVal v = gp_call_arg(lo, call, 0);
    GpValue *has = gp_lower_get(lo, &v, 0);
    Either e = {.payload = gp_lower_part(&v, call->type, 1, v.count - 1)};
    if (gp_call_ends(call, "unwrap_or")) {
        e.otherwise = call->args[1];
        return gp_lower_if(lo, has, call->type, take_payload, take_otherwise, &e);
    }
    gp_lower_assert(lo, has, call->span, gp_lower_text(lo, call->span));
    return e.payload;
}

GpVal gp_lower_CloneValue(GpLower *lo, const GpLowerCall *call) { return gp_call_arg(lo, call, 0); }
