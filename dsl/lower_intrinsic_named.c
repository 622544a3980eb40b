/* Arithmetic of cutile::core that has a name of its own and modes as markers. A mode is honoured,
** changes nothing, or is refused by name; it is never dropped. */
#include "dsl/lower_tile.h"

static bool is_mode(const GpLowerCall *call, uint32_t arg, const char *mode) {
    return !strcmp(gp_tile_marker(call, arg), mode);
}

static GpVal refuse_mode(GpLower *lo, const GpLowerCall *call, uint32_t arg, const char *module,
                         GpElem elem) {
    gp_lower_refuse(lo, call->span, "`%s` of `%s` with %s::%s", call->def->name->name,
                    gp_elem_info[elem].name, module, gp_tile_marker(call, arg));
    return gp_lower_undef(lo, call->type);
}

/* Approx and Full let any near result stand, so nearest does; absent is nearest too. */
static GpRounding rounding_of(const GpLowerCall *call, uint32_t arg) {
    return is_mode(call, arg, "PositiveInf")   ? GpRounding_Up
           : is_mode(call, arg, "NegativeInf") ? GpRounding_Down
           : is_mode(call, arg, "NearestAway") ? GpRounding_Away
           : is_mode(call, arg, "Zero") || is_mode(call, arg, "NearestIntToZero")
               ? GpRounding_Zero
               : GpRounding_Near;
}

static GpValue *constant(GpLower *lo, const GpIrType *t, double f) {
    return gp_build_const(&lo->b, t, (GpScalar){.elem = t->elem, .f = f});
}

static GpValue *integer(GpLower *lo, const GpIrType *t, int64_t i) {
    GpScalar v = {.elem = t->elem};
    gp_scalar_from_int(i, t->elem, &v);
    return gp_build_const(&lo->b, t, v);
}

/* Subnormal numbers become zeros of their sign where the marker says so; f32 alone has that mode,
** as in PTX. */
static GpValue *flush(GpLower *lo, const GpLowerCall *call, uint32_t arg, GpValue *x) {
    if (!is_mode(call, arg, "Enabled") || x->type->elem != GpElem_F32)
        return x;
    GpValue *least = constant(lo, x->type, 0x1p-126);
    GpValue *is_less = gp_build_cmp(&lo->b, GpPred_Lt, gp_build1(&lo->b, GpOp_Abs, x), least);
    GpValue *zero = gp_build2(&lo->b, GpOp_Mul, x, constant(lo, x->type, 0.0));
    return gp_build_select(&lo->b, is_less, zero, x);
}

/* ---- Integers and floats by name ------------------------------------------------------------ */

typedef struct Row {
    const char *name;
    GpOp op;
    uint8_t operands;
} Row;

static const Row rows[] = {
    {"addi", GpOp_Add, 2}, {"subi", GpOp_Sub, 2}, {"muli", GpOp_Mul, 2}, {"negi", GpOp_Neg, 1},
    {"absi", GpOp_Abs, 1}, {"andi", GpOp_And, 2}, {"ori", GpOp_Or, 2},   {"xori", GpOp_Xor, 2},
    {"noti", GpOp_Not, 1}, {"shli", GpOp_Shl, 2}, {"shri", GpOp_Shr, 2}, {"addf", GpOp_Add, 2},
    {"subf", GpOp_Sub, 2}, {"mulf", GpOp_Mul, 2}, {"divf", GpOp_Div, 2}, {"remf", GpOp_Rem, 2},
    {"negf", GpOp_Neg, 1}, {"absf", GpOp_Abs, 1}, {"fma", GpOp_Fma, 3},
};

static const Row *find_row(const GpLowerCall *call) {
    for (size_t i = 0; i < GP_COUNT(rows); i++)
        if (gp_call_is(call, rows[i].name))
            return &rows[i];
    gp_unreachable();
}

static GpValue *round_row(GpLower *lo, GpOp op, GpValue **x, uint32_t count, GpRounding mode) {
    if (mode != GpRounding_Near)
        return gp_round_op(lo, op, x, count, mode);
    return gp_build(&lo->b, op, x, count, &x[0]->type, 1)->results[0];
}

/* overflow:: modes promise that nothing wraps, and wrapping keeps every promise. */
GpVal gp_lower_NamedInt(GpLower *lo, const GpLowerCall *call) {
    const Row *row = find_row(call);
    GpValue *x[3];
    gp_tile_read(lo, call, x, row->operands);
    return gp_call_result(lo, call, round_row(lo, row->op, x, row->operands, GpRounding_Near));
}

/* Modes after the operands: rounding, then ftz. */
GpVal gp_lower_NamedFloat(GpLower *lo, const GpLowerCall *call) {
    const Row *row = find_row(call);
    uint32_t rounding = row->operands, ftz = rounding + 1;
    GpValue *x[3];
    gp_tile_read(lo, call, x, row->operands);
    for (uint32_t i = 0; i < row->operands; i++)
        x[i] = flush(lo, call, ftz, x[i]);
    GpValue *r = round_row(lo, row->op, x, row->operands, rounding_of(call, rounding));
    if (!r)
        return refuse_mode(lo, call, rounding, "rounding", x[0]->type->elem);
    return gp_call_result(lo, call, flush(lo, call, ftz, r));
}

/* Quotients round toward zero; one less where the rest has the other sign than the divisor rounds
** down, one more where it has the same rounds up. */
GpVal gp_lower_NamedDivide(GpLower *lo, const GpLowerCall *call) {
    GpValue *x[2];
    gp_tile_read(lo, call, x, 2);
    bool is_rem = gp_call_is(call, "remi");
    GpValue *q = gp_lower_divide(lo, is_rem ? GpOp_Rem : GpOp_Div, x[0], x[1], call->span);
    bool is_down = is_mode(call, 2, "NegativeInf"), is_up = is_mode(call, 2, "PositiveInf");
    if (is_rem || is_mode(call, 2, "Zero") || is_mode(call, 2, ""))
        return gp_call_result(lo, call, q);
    const GpIrType *t = x[0]->type;
    if (!is_down && !is_up)
        return refuse_mode(lo, call, 2, "rounding", t->elem);
    GpValue *rest = gp_build2(&lo->b, GpOp_Sub, x[0], gp_build2(&lo->b, GpOp_Mul, q, x[1]));
    GpValue *zero = integer(lo, t, 0), *one = integer(lo, t, 1);
    GpValue *is_rest_less = gp_build_cmp(&lo->b, GpPred_Lt, rest, zero);
    GpValue *differs = gp_build2(&lo->b, GpOp_Xor, is_rest_less,
                                 gp_build_cmp(&lo->b, GpPred_Lt, x[1], zero));
    if (is_up)
        differs = gp_build1(&lo->b, GpOp_Not, differs);
    GpValue *has_rest = gp_build_cmp(&lo->b, GpPred_Ne, rest, zero);
    GpValue *next = gp_build2(&lo->b, is_down ? GpOp_Sub : GpOp_Add, q, one);
    q = gp_build_select(&lo->b, gp_build2(&lo->b, GpOp_And, has_rest, differs), next, q);
    return gp_call_result(lo, call, q);
}

/* ---- The high half of a product ------------------------------------------------------------- */

/* Of u64, from products of halves. */
static GpValue *high_u64(GpLower *lo, GpValue *x, GpValue *y) {
    const GpIrType *t = x->type;
    GpBuilder *b = &lo->b;
    GpValue *k = integer(lo, t, 32), *mask = integer(lo, t, UINT32_MAX);
    GpValue *xl = gp_build2(b, GpOp_And, x, mask), *xh = gp_build2(b, GpOp_Shr, x, k);
    GpValue *yl = gp_build2(b, GpOp_And, y, mask), *yh = gp_build2(b, GpOp_Shr, y, k);
    GpValue *low = gp_build2(b, GpOp_Shr, gp_build2(b, GpOp_Mul, xl, yl), k);
    GpValue *mid = gp_build2(b, GpOp_Add, gp_build2(b, GpOp_Mul, xh, yl), low);
    GpValue *other = gp_build2(b, GpOp_Add, gp_build2(b, GpOp_Mul, xl, yh),
                               gp_build2(b, GpOp_And, mid, mask));
    GpValue *high = gp_build2(b, GpOp_Add, gp_build2(b, GpOp_Mul, xh, yh),
                              gp_build2(b, GpOp_Shr, mid, k));
    return gp_build2(b, GpOp_Add, high, gp_build2(b, GpOp_Shr, other, k));
}

/* Two's complement: a negative factor counts 2^64 too much. */
static GpValue *high_i64(GpLower *lo, GpValue *x, GpValue *y) {
    GpValue *zero = integer(lo, x->type, 0);
    GpValue *high = high_u64(lo, gp_build_cast(&lo->b, x, GpElem_U64),
                             gp_build_cast(&lo->b, y, GpElem_U64));
    high = gp_build_cast(&lo->b, high, GpElem_I64);
    GpValue *is_x_less = gp_build_cmp(&lo->b, GpPred_Lt, x, zero);
    GpValue *is_y_less = gp_build_cmp(&lo->b, GpPred_Lt, y, zero);
    high = gp_build2(&lo->b, GpOp_Sub, high, gp_build_select(&lo->b, is_x_less, y, zero));
    return gp_build2(&lo->b, GpOp_Sub, high, gp_build_select(&lo->b, is_y_less, x, zero));
}

GpVal gp_lower_MulHigh(GpLower *lo, const GpLowerCall *call) {
    GpValue *x[2];
    gp_tile_read(lo, call, x, 2);
    GpElem elem = x[0]->type->elem;
    const GpElemInfo *e = &gp_elem_info[elem];
    if (elem == GpElem_U64)
        return gp_call_result(lo, call, high_u64(lo, x[0], x[1]));
    if (elem == GpElem_I64)
        return gp_call_result(lo, call, high_i64(lo, x[0], x[1]));
    GpElem wide = e->cls == GpClass_Uint ? GpElem_U64 : GpElem_I64;
    GpValue *product = gp_build2(&lo->b, GpOp_Mul, gp_build_cast(&lo->b, x[0], wide),
                                 gp_build_cast(&lo->b, x[1], wide));
    product = gp_build2(&lo->b, GpOp_Shr, product, integer(lo, product->type, e->bits));
    return gp_call_result(lo, call, gp_build_cast(&lo->b, product, elem));
}

/* ---- Comparison ----------------------------------------------------------------------------- */

static bool find_pred(const GpLowerCall *call, GpPred *out) {
    static const char *const names[GP_PRED_COUNT] = {
        [GpPred_Eq] = "Equal",          [GpPred_Ne] = "NotEqual",
        [GpPred_Lt] = "LessThan",       [GpPred_Le] = "LessThanOrEqual",
        [GpPred_Gt] = "GreaterThan",    [GpPred_Ge] = "GreaterThanOrEqual"};
    for (int p = 0; p < GP_PRED_COUNT; p++)
        if (is_mode(call, 2, names[p])) {
            *out = (GpPred)p;
            return true;
        }
    return false;
}

/* The IR's comparisons are ordered, ne excepted; unordered ones are the opposite's negation. */
static GpValue *compare_floats(GpLower *lo, GpPred p, bool is_unordered, GpValue **x) {
    static const GpPred opposite[GP_PRED_COUNT] = {
        [GpPred_Eq] = GpPred_Ne, [GpPred_Ne] = GpPred_Eq, [GpPred_Lt] = GpPred_Ge,
        [GpPred_Le] = GpPred_Gt, [GpPred_Gt] = GpPred_Le, [GpPred_Ge] = GpPred_Lt};
    bool is_equality = p == GpPred_Eq || p == GpPred_Ne;
    if (is_equality ? is_unordered == (p == GpPred_Ne) : !is_unordered)
        return gp_build_cmp(&lo->b, p, x[0], x[1]);
    if (!is_equality)
        return gp_build1(&lo->b, GpOp_Not, gp_build_cmp(&lo->b, opposite[p], x[0], x[1]));
    GpValue *differs = gp_build2(&lo->b, GpOp_Or, gp_build_cmp(&lo->b, GpPred_Lt, x[0], x[1]),
                                 gp_build_cmp(&lo->b, GpPred_Gt, x[0], x[1]));
    return p == GpPred_Ne ? differs : gp_build1(&lo->b, GpOp_Not, differs);
}

GpVal gp_lower_NamedCompare(GpLower *lo, const GpLowerCall *call) {
    GpValue *x[2];
    GpPred p;
    gp_tile_read(lo, call, x, 2);
    if (!find_pred(call, &p))
        return gp_lower_undef(lo, call->type);
    if (!gp_elem_is_float(x[0]->type->elem))
        return gp_call_result(lo, call, gp_build_cmp(&lo->b, p, x[0], x[1]));
    return gp_call_result(lo, call, compare_floats(lo, p, is_mode(call, 3, "Unordered"), x));
}

/* ---- Lesser and greater, roots, powers ------------------------------------------------------ */

/* With nan::Enabled a NaN among the operands is the result. */
GpVal gp_lower_MinMaxFloat(GpLower *lo, const GpLowerCall *call) {
    GpValue *x[2];
    gp_tile_read(lo, call, x, 2);
    for (int i = 0; i < 2; i++)
        x[i] = flush(lo, call, 3, x[i]);
    GpOp op = gp_call_is(call, "minf") ? GpOp_Min : GpOp_Max;
    GpValue *v = gp_build2(&lo->b, op, x[0], x[1]);
    for (int i = 0; i < 2 && is_mode(call, 2, "Enabled"); i++)
        v = gp_build_select(&lo->b, gp_build_cmp(&lo->b, GpPred_Ne, x[i], x[i]), x[i], v);
    return gp_call_result(lo, call, v);
}

GpVal gp_lower_RootMode(GpLower *lo, const GpLowerCall *call) {
    GpValue *x = flush(lo, call, 2, gp_call_scalar(lo, call, 0));
    GpValue *r = round_row(lo, GpOp_Sqrt, &x, 1, rounding_of(call, 1));
    return r ? gp_call_result(lo, call, r) : refuse_mode(lo, call, 1, "rounding", x->type->elem);
}

GpVal gp_lower_MathMode(GpLower *lo, const GpLowerCall *call) {
    GpValue *x = gp_call_scalar(lo, call, 0);
    bool flushes = is_mode(call, 1, "Enabled") && x->type->elem == GpElem_F32;
    if (gp_call_is(call, "exp2")) /* of a subnormal number it is 1 either way */
        return gp_call_result(lo, call,
                              gp_build1(&lo->b, flushes ? GpOp_Exp2Flush : GpOp_Exp2, x));
    GpValue *root = gp_build1(&lo->b, GpOp_Rsqrt, flush(lo, call, 1, x));
    return gp_call_result(lo, call, flush(lo, call, 1, root));
}

/* A type narrower than f32 would round the product too much. */
static GpValue *exp_approx(GpLower *lo, GpValue *x) {
    bool is_f32 = x->type->elem == GpElem_F32;
    return is_f32 ? gp_build_exp_approx(&lo->b, x) : gp_build1(&lo->b, GpOp_Exp, x);
}

/* The same bits, of which no pass that chooses the precision (pass_narrow.c, pass_scale.c) sees the use. */
static GpValue *opaque(GpLower *lo, GpValue *x) {
    if (x->type->elem != GpElem_F32)
        return x;
    return gp_build_bitcast(&lo->b, gp_build_bitcast(&lo->b, x, GpElem_U32), GpElem_F32);
}

GpVal gp_lower_ApproxMode(GpLower *lo, const GpLowerCall *call) {
    GpValue *x = gp_call_scalar(lo, call, 0);
    bool is_exp = gp_call_is(call, "exp");
    if (is_mode(call, 1, "Approx"))
        x = is_exp ? exp_approx(lo, x) : gp_build1(&lo->b, GpOp_TanhApprox, x);
    else if (is_mode(call, 1, "Full"))
        x = opaque(lo, gp_build1(&lo->b, is_exp ? GpOp_Exp : GpOp_Tanh, opaque(lo, x)));
    else if (is_mode(call, 1, ""))
        x = gp_build1(&lo->b, is_exp ? GpOp_Exp : GpOp_Tanh, x);
    else
        return refuse_mode(lo, call, 1, "rounding", x->type->elem);
    return gp_call_result(lo, call, x);
}

/* ---- Conversions ---------------------------------------------------------------------------- */

/* A float as a whole number: what the conversion to an integer then keeps. */
static GpValue *to_whole(GpLower *lo, const GpLowerCall *call, GpValue *x) {
    switch (rounding_of(call, 1)) {
    case GpRounding_Up:
        return gp_build1(&lo->b, GpOp_Ceil, x);
    case GpRounding_Down:
        return gp_build1(&lo->b, GpOp_Floor, x);
    case GpRounding_Zero:
        return x;
    case GpRounding_Near:
        return gp_round_even(lo, x);
    case GpRounding_Away:
        return gp_build1(&lo->b, GpOp_Round, x);
    }
    gp_unreachable();
}

GpVal gp_lower_NamedConvert(GpLower *lo, const GpLowerCall *call) {
    GpValue *x = gp_call_scalar(lo, call, 0);
    GpElem from = x->type->elem, to = gp_lower_adt_elem(call->type);
    uint32_t have = gp_elem_info[from].bits, want = gp_elem_info[to].bits;
    bool is_to_float = gp_call_is(call, "ftof") || gp_call_is(call, "itof");
    if (gp_call_is(call, "ftoi")) {
        x = to_whole(lo, call, x);
    } else if (is_to_float && rounding_of(call, 1) != GpRounding_Near) {
        return gp_call_result(lo, call, gp_round_convert(lo, x, to, rounding_of(call, 1)));
    } else if (!is_to_float && (gp_call_is(call, "exti") ? have > want : have < want)) {
        gp_lower_refuse(lo, call->span, "`%s` from `%s` to `%s`", call->def->name->name,
                        gp_elem_info[from].name, gp_elem_info[to].name);
        return gp_lower_undef(lo, call->type);
    }
    return gp_call_result(lo, call, gp_lower_convert(lo, x, to));
}

GpVal gp_lower_BitcastTile(GpLower *lo, const GpLowerCall *call) {
    GpValue *x = gp_call_scalar(lo, call, 0);
    GpElem from = x->type->elem, to = gp_lower_adt_elem(call->type);
    if (gp_elem_info[from].bits != gp_elem_info[to].bits || from == GpElem_Bool ||
        to == GpElem_Bool) {
        gp_lower_refuse(lo, call->span, "`bitcast` from `%s` to `%s`", gp_elem_info[from].name,
                        gp_elem_info[to].name);
        return gp_lower_undef(lo, call->type);
    }
    return gp_call_result(lo, call, gp_build_bitcast(&lo->b, x, to));
}

/* What the peer's compiler may rely on, and what the type alone tells. */
GpVal gp_lower_SameValue(GpLower *lo, const GpLowerCall *call) {
    (void)lo;
    return call->args[0];
}
