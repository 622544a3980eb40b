/* What elementwise operations mean, against expectations written down independently: Rust's
** reference for integers and casts, IEEE 754 for floats, C's own small types for exhaustive
** 8-bit arithmetic. */
#include "dsl/ir/eval.h"

#include <float.h>
#include <math.h>

#include "spec/unit/unit.h"

static GpScalar of_int(GpElem e, int64_t i) { return (GpScalar){.elem = e, .i = i}; }
static GpScalar of_float(GpElem e, double f) { return (GpScalar){.elem = e, .f = f}; }

static GpScalar eval2(GpOp op, GpElem e, GpScalar x, GpScalar y) {
    GpScalar out;
    assert_true(gp_eval(op, GpPred_Eq, e, (GpScalar[]){x, y}, &out));
    assert_int_equal(out.elem, e);
    return out;
}

static int64_t int2(GpOp op, GpElem e, int64_t x, int64_t y) {
    return eval2(op, e, of_int(e, x), of_int(e, y)).i;
}

static int64_t int1(GpOp op, GpElem e, int64_t x) { return int2(op, e, x, 0); }

static double float2(GpOp op, GpElem e, double x, double y) {
    return eval2(op, e, of_float(e, x), of_float(e, y)).f;
}

static bool cmp(GpPred pred, GpScalar x, GpScalar y) {
    GpScalar out;
    assert_true(gp_eval(GpOp_Cmp, pred, GpElem_Bool, (GpScalar[]){x, y}, &out));
    assert_int_equal(out.elem, GpElem_Bool);
    return out.u != 0;
}

/* Every elementwise row evaluates: no row of op.def lacks its row in eval.def. */
static void test_table_is_complete(void **state) {
    (void)state;
    for (int op = 0; op < GpOp_count; op++) {
        GpSig sig = gp_op_info[op].sig;
        if (!gp_sig_info[sig].elementwise) continue;
        GpElem e = sig == GpSig_Int2 || sig == GpSig_Bits1 || sig == GpSig_Bits2 ? GpElem_I32
                                                                               : GpElem_F32;
        GpScalar one = e == GpElem_I32 ? of_int(e, 1) : of_float(e, 1.0), out;
        GpScalar args[3] = {one, one, one};
        if (sig == GpSig_Select) args[0] = of_int(GpElem_Bool, 1);
        assert_true(gp_eval((GpOp)op, GpPred_Eq, sig == GpSig_Cmp ? GpElem_Bool : e, args, &out));
    }
}

/* All pairs of i8 and u8 against C's arithmetic in int. */
static void test_all_bytes(void **state) {
    (void)state;
    for (int x = -128; x < 128; x++) {
        for (int y = -128; y < 128; y++) {
            uint8_t ux = (uint8_t)x, uy = (uint8_t)y;
            assert_int_equal(int2(GpOp_Add, GpElem_I8, x, y), (int8_t)(x + y));
            assert_int_equal(int2(GpOp_Sub, GpElem_I8, x, y), (int8_t)(x - y));
            assert_int_equal(int2(GpOp_Mul, GpElem_I8, x, y), (int8_t)(x * y));
            assert_int_equal(int2(GpOp_Add, GpElem_U8, ux, uy), (uint8_t)(ux + uy));
            assert_int_equal(int2(GpOp_Sub, GpElem_U8, ux, uy), (uint8_t)(ux - uy));
            assert_int_equal(int2(GpOp_Mul, GpElem_U8, ux, uy), (uint8_t)(ux * uy));
            assert_int_equal(int2(GpOp_And, GpElem_I8, x, y), (int8_t)(x & y));
            assert_int_equal(int2(GpOp_Or, GpElem_U8, ux, uy), ux | uy);
            assert_int_equal(int2(GpOp_Xor, GpElem_I8, x, y), (int8_t)(x ^ y));
            assert_int_equal(int2(GpOp_Min, GpElem_I8, x, y), x < y ? x : y);
            assert_int_equal(int2(GpOp_Max, GpElem_U8, ux, uy), ux > uy ? ux : uy);
            assert_int_equal(int2(GpOp_Shl, GpElem_I8, x, y), (int8_t)(ux << (uy & 7)));
            assert_int_equal(int2(GpOp_Shr, GpElem_I8, x, y), x >> (uy & 7));
            assert_int_equal(int2(GpOp_Shl, GpElem_U8, ux, uy), (uint8_t)(ux << (uy & 7)));
            assert_int_equal(int2(GpOp_Shr, GpElem_U8, ux, uy), ux >> (uy & 7));
            assert_int_equal(cmp(GpPred_Lt, of_int(GpElem_I8, x), of_int(GpElem_I8, y)), x < y);
            assert_int_equal(cmp(GpPred_Ge, of_int(GpElem_U8, ux), of_int(GpElem_U8, uy)),
                             ux >= uy);
            if (y == 0) continue;
            assert_int_equal(int2(GpOp_Div, GpElem_I8, x, y), (int8_t)(x / y));
            assert_int_equal(int2(GpOp_Rem, GpElem_I8, x, y), (int8_t)(x % y));
            assert_int_equal(int2(GpOp_Div, GpElem_U8, ux, uy), ux / uy);
            assert_int_equal(int2(GpOp_Rem, GpElem_U8, ux, uy), ux % uy);
        }
        assert_int_equal(int1(GpOp_Neg, GpElem_I8, x), (int8_t)-x);
        assert_int_equal(int1(GpOp_Abs, GpElem_I8, x), (int8_t)(x < 0 ? -x : x));
        assert_int_equal(int1(GpOp_Not, GpElem_I8, x), ~x);
        assert_int_equal(int1(GpOp_Not, GpElem_U8, (uint8_t)x), (uint8_t)~x);
    }
}

/* Rust: wrapping_*, and the masked shifts of rustc -O. */
static void test_wide_edges(void **state) {
    (void)state;
    assert_int_equal(int2(GpOp_Div, GpElem_I32, INT32_MIN, -1), INT32_MIN);
    assert_int_equal(int2(GpOp_Rem, GpElem_I32, INT32_MIN, -1), 0);
    assert_true(int2(GpOp_Div, GpElem_I64, INT64_MIN, -1) == INT64_MIN);
    assert_int_equal(int2(GpOp_Rem, GpElem_I64, INT64_MIN, -1), 0);
    assert_int_equal(int2(GpOp_Div, GpElem_I32, -7, 2), -3);
    assert_int_equal(int2(GpOp_Rem, GpElem_I32, -7, 2), -1);
    assert_int_equal(int2(GpOp_Add, GpElem_I32, INT32_MAX, 1), INT32_MIN);
    assert_true(int2(GpOp_Mul, GpElem_I64, INT64_MAX, 2) == -2);
    assert_int_equal(int2(GpOp_Shl, GpElem_I32, 1, 33), 2);
    assert_int_equal(int2(GpOp_Shr, GpElem_I32, -8, 33), -4);
    assert_true(int2(GpOp_Shl, GpElem_U64, 1, 64) == 1);
    assert_true(int2(GpOp_Shr, GpElem_I64, INT64_MIN, 63) == -1);
    assert_int_equal(int1(GpOp_Abs, GpElem_I32, INT32_MIN), INT32_MIN);
    GpScalar big = {.elem = GpElem_U64, .u = UINT64_MAX}, one = {.elem = GpElem_U64, .u = 1};
    assert_true(cmp(GpPred_Gt, big, one));
    assert_true(eval2(GpOp_Div, GpElem_U64, big, (GpScalar){.elem = GpElem_U64, .u = 2}).u ==
                UINT64_MAX / 2);
    assert_false(cmp(GpPred_Gt, of_int(GpElem_I64, -1), of_int(GpElem_I64, 1)));
}

static void test_zero_divisor_has_no_value(void **state) {
    (void)state;
    GpScalar out;
    GpScalar ints[2] = {of_int(GpElem_I32, 1), of_int(GpElem_I32, 0)};
    assert_false(gp_eval(GpOp_Div, GpPred_Eq, GpElem_I32, ints, &out));
    assert_int_equal(out.i, 0);
    assert_false(gp_eval(GpOp_Rem, GpPred_Eq, GpElem_I32, ints, &out));
    assert_true(isinf(float2(GpOp_Div, GpElem_F32, 1.0, 0.0)));
}

static void test_bool(void **state) {
    (void)state;
    for (int x = 0; x < 2; x++) {
        for (int y = 0; y < 2; y++) {
            assert_int_equal(int2(GpOp_And, GpElem_Bool, x, y), x & y);
            assert_int_equal(int2(GpOp_Or, GpElem_Bool, x, y), x | y);
            assert_int_equal(int2(GpOp_Xor, GpElem_Bool, x, y), x ^ y);
            assert_int_equal(cmp(GpPred_Lt, of_int(GpElem_Bool, x), of_int(GpElem_Bool, y)), x < y);
        }
        assert_int_equal(int1(GpOp_Not, GpElem_Bool, x), !x);
    }
}

static void test_nan_and_zeros(void **state) {
    (void)state;
    static const GpElem elems[] = {GpElem_F64, GpElem_F32, GpElem_F16, GpElem_BF16};
    for (size_t i = 0; i < GP_COUNT(elems); i++) {
        GpElem e = elems[i];
        GpScalar nan = of_float(e, (double)NAN), one = of_float(e, 1.0);
        assert_true(float2(GpOp_Min, e, (double)NAN, 1.0) == 1.0);
        assert_true(float2(GpOp_Max, e, 1.0, (double)NAN) == 1.0);
        assert_true(isnan(float2(GpOp_Min, e, (double)NAN, (double)NAN)));
        assert_true(signbit(float2(GpOp_Min, e, 0.0, -0.0)));
        assert_true(signbit(float2(GpOp_Min, e, -0.0, 0.0)));
        assert_false(signbit(float2(GpOp_Max, e, 0.0, -0.0)) ||
                     signbit(float2(GpOp_Max, e, -0.0, 0.0)));
        assert_true(cmp(GpPred_Ne, nan, nan) && cmp(GpPred_Ne, nan, one));
        assert_false(cmp(GpPred_Eq, nan, nan) || cmp(GpPred_Lt, nan, one));
        assert_false(cmp(GpPred_Le, one, nan) || cmp(GpPred_Gt, nan, one));
        assert_false(cmp(GpPred_Ge, nan, nan));
        assert_true(cmp(GpPred_Eq, of_float(e, 0.0), of_float(e, -0.0)));
        assert_false(signbit(float2(GpOp_Add, e, -0.0, 0.0)));
        assert_true(signbit(float2(GpOp_Neg, e, 0.0, 0.0)));
        assert_false(signbit(float2(GpOp_Abs, e, -0.0, 0.0)));
    }
}

static double fma_of(GpElem e, double x, double y, double z) {
    GpScalar out, args[3] = {of_float(e, x), of_float(e, y), of_float(e, z)};
    assert_true(gp_eval(GpOp_Fma, GpPred_Eq, e, args, &out));
    return out.f;
}

static void test_rounding(void **state) {
    (void)state;
    /* f32 arithmetic is not double arithmetic */
    volatile float a = 0.1f, b = 0.2f, sum = a + b;
    assert_true(float2(GpOp_Add, GpElem_F32, (double)a, (double)b) == (double)sum);
    assert_true(float2(GpOp_Add, GpElem_F64, 0.1, 0.2) == 0.1 + 0.2);
    assert_true(isinf(float2(GpOp_Mul, GpElem_F32, (double)FLT_MAX, 2.0)));
    assert_true(isfinite(float2(GpOp_Mul, GpElem_F64, (double)FLT_MAX, 2.0)));
    /* one rounding in fma, in f32 and f64: (1 + e)(1 - e) - 1 = -e^2 */
    assert_true(fma_of(GpElem_F32, 1 + 0x1p-20, 1 - 0x1p-20, -1) == -0x1p-40);
    assert_true(fma_of(GpElem_F64, 1 + 0x1p-40, 1 - 0x1p-40, -1) == -0x1p-80);
    /* f16: 11 bits; 2048 + 1 is a tie to even, 2048 + 3 rounds up, 65504 is the largest */
    assert_true(float2(GpOp_Add, GpElem_F16, 2048, 1) == 2048);
    assert_true(float2(GpOp_Add, GpElem_F16, 2048, 3) == 2052);
    assert_true(isinf(float2(GpOp_Add, GpElem_F16, 65504, 65504)));
    assert_true(float2(GpOp_Add, GpElem_BF16, 256, 1) == 256);
    assert_true(float2(GpOp_Add, GpElem_BF16, 256, 3) == 260);
    assert_true(float2(GpOp_Add, GpElem_TF32, 2048, 1) == 2048);
    /* e4m3fn has no infinity: it saturates to 448; e5m2 has one */
    assert_true(float2(GpOp_Add, GpElem_F8E4, 16, 1) == 16);
    assert_true(float2(GpOp_Mul, GpElem_F8E4, 448, 2) == 448);
    assert_true(float2(GpOp_Add, GpElem_F8E5, 8, 1) == 8);
}

/* Rust's `as`. */
static void test_casts(void **state) {
    (void)state;
    static const struct {
        GpElem from;
        double value;
        GpElem to;
        int64_t want;
    } cases[] = {
        {GpElem_F32, 300.0, GpElem_U8, 255},          {GpElem_F32, -5.0, GpElem_U8, 0},
        {GpElem_F64, 1e20, GpElem_I32, INT32_MAX},    {GpElem_F64, -1e20, GpElem_I32, INT32_MIN},
        {GpElem_F64, 1e300, GpElem_I64, INT64_MAX},   {GpElem_F64, -1e300, GpElem_I64, INT64_MIN},
        {GpElem_F32, -1.9, GpElem_I32, -1},           {GpElem_F32, 1.9, GpElem_I32, 1},
        {GpElem_F64, 128.0, GpElem_I8, 127},          {GpElem_F64, 0x1p63, GpElem_I64, INT64_MAX},
    };
    GpScalar out, v;
    for (size_t i = 0; i < GP_COUNT(cases); i++) {
        v = of_float(cases[i].from, cases[i].value);
        assert_true(gp_eval(GpOp_Cast, GpPred_Eq, cases[i].to, &v, &out));
        assert_true(out.i == cases[i].want);
    }
    v = of_float(GpElem_F32, (double)NAN);
    assert_true(gp_eval(GpOp_Cast, GpPred_Eq, GpElem_I32, &v, &out) && out.i == 0);
    v = of_int(GpElem_I32, -1);
    assert_true(gp_eval(GpOp_Cast, GpPred_Eq, GpElem_U64, &v, &out) && out.u == UINT64_MAX);
    assert_true(gp_eval(GpOp_Cast, GpPred_Eq, GpElem_U8, &v, &out) && out.u == 255);
    v = of_int(GpElem_I32, 16777217); /* 2^24 + 1: a tie in f32 */
    assert_true(gp_eval(GpOp_Cast, GpPred_Eq, GpElem_F32, &v, &out) && out.f == 16777216.0);
    v = of_int(GpElem_I64, 0x20000020000001); /* through f64 it would become a tie */
    assert_true(gp_eval(GpOp_Cast, GpPred_Eq, GpElem_F32, &v, &out) &&
                out.f == (double)(float)0x20000020000001);
}

static void test_bitcast(void **state) {
    (void)state;
    GpScalar out, v = of_float(GpElem_F32, 1.0);
    assert_true(gp_eval(GpOp_Bitcast, GpPred_Eq, GpElem_U32, &v, &out) && out.u == 0x3f800000);
    v = of_int(GpElem_I64, INT64_MIN);
    assert_true(gp_eval(GpOp_Bitcast, GpPred_Eq, GpElem_F64, &v, &out));
    assert_true(out.f == 0.0 && signbit(out.f));
    v = of_int(GpElem_U16, 0x3c00);
    assert_true(gp_eval(GpOp_Bitcast, GpPred_Eq, GpElem_F16, &v, &out) && out.f == 1.0);
}

/* Known values, and f32 results that are the rounded double ones. */
static void test_math(void **state) {
    (void)state;
    assert_true(float2(GpOp_Sqrt, GpElem_F32, 2.0, 0) == (double)1.41421356237309504880f);
    assert_true(float2(GpOp_Rsqrt, GpElem_F32, 4.0, 0) == 0.5);
    assert_true(float2(GpOp_Exp, GpElem_F32, 1.0, 0) == (double)2.71828182845904523536f);
    assert_true(float2(GpOp_Exp2, GpElem_F32, 10.0, 0) == 1024.0);
    assert_true(float2(GpOp_Ln, GpElem_F32, 2.0, 0) == (double)0.69314718055994530942f);
    assert_true(float2(GpOp_Log, GpElem_F64, 1.0, 0) == 0.0);
    assert_true(float2(GpOp_Log2, GpElem_F32, 8.0, 0) == 3.0);
    assert_true(float2(GpOp_Log10, GpElem_F64, 1000.0, 0) == 3.0);
    assert_true(float2(GpOp_Sin, GpElem_F32, 1.0, 0) == (double)0.84147098480789650665f);
    assert_true(float2(GpOp_Cos, GpElem_F32, 1.0, 0) == (double)0.54030230586813971740f);
    assert_true(float2(GpOp_Tan, GpElem_F32, 1.0, 0) == (double)1.55740772465490223051f);
    assert_true(float2(GpOp_Sinh, GpElem_F32, 1.0, 0) == (double)1.17520119364380145688f);
    assert_true(float2(GpOp_Cosh, GpElem_F32, 1.0, 0) == (double)1.54308063481524377848f);
    assert_true(float2(GpOp_Tanh, GpElem_F32, 1.0, 0) == (double)0.76159415595576488812f);
    assert_true(float2(GpOp_Pow, GpElem_F32, 2.0, 0.5) == (double)1.41421356237309504880f);
    assert_true(float2(GpOp_Powf, GpElem_F64, 3.0, 4.0) == 81.0);
    assert_true(float2(GpOp_Atan2, GpElem_F32, 1.0, -1.0) == (double)2.35619449019234492885f);
    assert_true(float2(GpOp_Floor, GpElem_F32, -1.5, 0) == -2.0);
    assert_true(float2(GpOp_Ceil, GpElem_F32, -1.5, 0) == -1.0);
    assert_true(float2(GpOp_Trunc, GpElem_F32, -1.5, 0) == -1.0);
    assert_true(float2(GpOp_Round, GpElem_F32, 2.5, 0) == 3.0);
    assert_true(float2(GpOp_Round, GpElem_F32, -2.5, 0) == -3.0);
    assert_true(float2(GpOp_Rem, GpElem_F32, -7.5, 2.0) == -1.5);
    assert_true(isnan(float2(GpOp_Sqrt, GpElem_F32, -1.0, 0)));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_table_is_complete),
        cmocka_unit_test(test_all_bytes),
        cmocka_unit_test(test_wide_edges),
        cmocka_unit_test(test_zero_divisor_has_no_value),
        cmocka_unit_test(test_bool),
        cmocka_unit_test(test_nan_and_zeros),
        cmocka_unit_test(test_rounding),
        cmocka_unit_test(test_casts),
        cmocka_unit_test(test_bitcast),
        cmocka_unit_test(test_math),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
