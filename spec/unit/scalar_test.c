/* Scalars, element types and shapes. Casts are compared with C's own where C defines them and
** with values from Rust's reference ("Numeric cast") where it does not. */
#include <math.h>

#include "core/elem.h"
#include "spec/unit/unit.h"

static GpScalar int_of(GpElem e, int64_t i) { return (GpScalar){.elem = e, .i = i}; }
static GpScalar uint_of(GpElem e, uint64_t u) { return (GpScalar){.elem = e, .u = u}; }
static GpScalar float_of(GpElem e, double f) { return (GpScalar){.elem = e, .f = f}; }

static void test_table(void **state) {
    (void)state;
    GpElem e;
    assert_true(gp_elem_find(GP_STR("bf16"), &e) && e == GpElem_BF16);
    assert_true(gp_elem_find(GP_STR("bool"), &e) && e == GpElem_Bool);
    assert_false(gp_elem_find(GP_STR("f1"), &e));
    for (int i = 0; i < GpElem_count; i++) {
        bool is_nibble = i == GpElem_F4E2 || i == GpElem_I4;
        assert_int_equal(gp_elem_info[i].bits, is_nibble ? 4 : gp_elem_info[i].bytes * 8);
    }
    assert_true(gp_elem_is_signed(GpElem_I8) && !gp_elem_is_signed(GpElem_F32));
    assert_true(gp_elem_is_integer(GpElem_U64) && !gp_elem_is_integer(GpElem_Bool));
}

/* load(store(x)) is x for every bit pattern of up to 16 bits, and for some wider ones. */
static void test_storage_round_trip(void **state) {
    (void)state;
    for (int e = 0; e < GpElem_count; e++) {
        int bytes = gp_elem_info[e].bytes;
        uint32_t count = bytes == 1 ? 256 : 65536;
        for (uint32_t i = 0; i < count; i++) {
            uint8_t from[8] = {0}, to[9] = {0};
            for (int b = 0; b < bytes; b++)
                from[b] = (uint8_t)(i >> 8 * (b & 1));
            if (e == GpElem_Bool)
                from[0] &= 1;
            if (gp_elem_info[e].bits == 4)
                from[0] &= 0xf;
            if (e == GpElem_TF32)
                from[0] = 0, from[1] &= 0xe0; /* what a tf32 can hold */
            to[bytes] = 0xa5;
            GpScalar v = gp_scalar_load((GpElem)e, from);
            gp_scalar_store(v, to);
            assert_int_equal(to[bytes], 0xa5);
            if (gp_elem_is_float((GpElem)e) && isnan(v.f))
                continue;
            assert_memory_equal(from, to, (size_t)bytes);
        }
    }
    int16_t minus = -2;
    assert_int_equal(gp_scalar_load(GpElem_I16, &minus).i, -2);
    assert_int_equal(gp_scalar_load(GpElem_U16, &minus).u, 65534);
}

static void test_cast_like_c(void **state) {
    (void)state;
    const int64_t values[] = {0,         1,         -1,        127,      128,   255,
                              256,       -128,      -129,      32767,    65535, 65536,
                              INT32_MAX, INT32_MIN, INT64_MAX, INT64_MIN};
    for (size_t i = 0; i < GP_COUNT(values); i++) {
        GpScalar v = int_of(GpElem_I64, values[i]);
        assert_int_equal(gp_scalar_cast(v, GpElem_I8).i, (int8_t)values[i]);
        assert_int_equal(gp_scalar_cast(v, GpElem_U8).u, (uint8_t)values[i]);
        assert_int_equal(gp_scalar_cast(v, GpElem_I32).i, (int32_t)values[i]);
        assert_int_equal(gp_scalar_cast(v, GpElem_U32).u, (uint32_t)values[i]);
        assert_true(gp_scalar_cast(v, GpElem_U64).u == (uint64_t)values[i]);
        assert_true(gp_scalar_cast(v, GpElem_F32).f == (double)(float)values[i]);
        assert_true(gp_scalar_cast(v, GpElem_F64).f == (double)values[i]);
        GpScalar u = uint_of(GpElem_U64, (uint64_t)values[i]);
        assert_true(gp_scalar_cast(u, GpElem_F32).f == (double)(float)(uint64_t)values[i]);
    }
}

/* Integers near ties of f32 beyond 2^53, where a way through f64 would round twice. */
static void test_int_to_f32_rounds_once(void **state) {
    (void)state;
    for (int shift = 30; shift < 39; shift++) {
        int64_t tie = ((int64_t)1 << (shift + 24)) + ((int64_t)1 << shift);
        for (int64_t delta = -1; delta <= 1; delta++) {
            GpScalar v = int_of(GpElem_I64, tie + delta);
            assert_true(gp_scalar_cast(v, GpElem_F32).f == (double)(float)(tie + delta));
            v.i = -v.i;
            assert_true(gp_scalar_cast(v, GpElem_F32).f == (double)(float)-(tie + delta));
        }
    }
    /* bf16 keeps 8 bits: 2^60 + 2^52 is a tie, one more is not. */
    GpScalar v = int_of(GpElem_I64, (INT64_C(1) << 60) + (INT64_C(1) << 52) + 1);
    assert_true(gp_scalar_cast(v, GpElem_BF16).f == 0x1p60 + 0x1p53);
    v.i--;
    assert_true(gp_scalar_cast(v, GpElem_BF16).f == 0x1p60);
}

static void test_float_to_int_saturates(void **state) {
    (void)state;
    GpScalar nan = float_of(GpElem_F32, (double)NAN);
    assert_int_equal(gp_scalar_cast(nan, GpElem_I32).i, 0);
    assert_int_equal(gp_scalar_cast(float_of(GpElem_F64, 1e30), GpElem_I32).i, INT32_MAX);
    assert_int_equal(gp_scalar_cast(float_of(GpElem_F64, -1e30), GpElem_I32).i, INT32_MIN);
    assert_true(gp_scalar_cast(float_of(GpElem_F64, HUGE_VAL), GpElem_I64).i == INT64_MAX);
    assert_true(gp_scalar_cast(float_of(GpElem_F64, -HUGE_VAL), GpElem_I64).i == INT64_MIN);
    assert_true(gp_scalar_cast(float_of(GpElem_F64, 0x1p64), GpElem_U64).u == UINT64_MAX);
    assert_true(gp_scalar_cast(float_of(GpElem_F64, 0x1p63), GpElem_U64).u == UINT64_C(1) << 63);
    assert_int_equal(gp_scalar_cast(float_of(GpElem_F64, -5.0), GpElem_U8).u, 0);
    assert_int_equal(gp_scalar_cast(float_of(GpElem_F64, 255.9), GpElem_U8).u, 255);
    assert_int_equal(gp_scalar_cast(float_of(GpElem_F64, -1.9), GpElem_I8).i, -1);
    assert_int_equal(gp_scalar_cast(float_of(GpElem_F64, -128.9), GpElem_I8).i, -128);
    assert_int_equal(gp_scalar_cast(float_of(GpElem_F64, 0.5), GpElem_Bool).u, 1);
    assert_int_equal(gp_scalar_cast(int_of(GpElem_Bool, 1), GpElem_I32).i, 1);
}

static void test_wrap(void **state) {
    (void)state;
    assert_int_equal(gp_scalar_wrap(int_of(GpElem_I8, 200)).i, -56);
    assert_int_equal(gp_scalar_wrap(int_of(GpElem_U8, -1)).u, 255);
    assert_true(gp_scalar_wrap(float_of(GpElem_F32, 0.1)).f == (double)0.1f);
    assert_true(gp_scalar_wrap(float_of(GpElem_F16, 2049.0)).f == 2048.0);
    assert_true(gp_scalar_wrap(float_of(GpElem_F64, 0.1)).f == 0.1);
}

static void expect_double(double v, GpElem to, bool is_accepted) {
    GpScalar out;
    assert_int_equal(gp_scalar_from_double(v, to, &out), is_accepted);
    if (is_accepted)
        assert_int_equal(out.elem, to);
}

static void test_from_lua_numbers(void **state) {
    (void)state;
    expect_double(0.1, GpElem_F32, true);
    expect_double(1e39, GpElem_F32, false);
    expect_double(HUGE_VAL, GpElem_F16, true);
    expect_double((double)NAN, GpElem_BF16, true);
    expect_double(65519.0, GpElem_F16, true);
    expect_double(65520.0, GpElem_F16, false);
    expect_double(464.0, GpElem_F8E4, true);
    expect_double(465.0, GpElem_F8E4, false);
    expect_double(1.5, GpElem_I32, false);
    expect_double((double)NAN, GpElem_I32, false);
    expect_double(HUGE_VAL, GpElem_U64, false);
    expect_double(0x1p63, GpElem_U64, true);
    expect_double(0x1p63, GpElem_I64, false);
    expect_double(-0x1p63, GpElem_I64, true);
    expect_double(0x1p64, GpElem_U64, false);
    expect_double(-1.0, GpElem_U64, false);
    expect_double(2.0, GpElem_Bool, false);
    GpScalar out;
    for (int64_t v = -70000; v <= 70000; v++) {
        assert_int_equal(gp_scalar_from_int(v, GpElem_I8, &out), v == (int8_t)v);
        assert_int_equal(gp_scalar_from_int(v, GpElem_U8, &out), v == (uint8_t)v);
        assert_int_equal(gp_scalar_from_int(v, GpElem_I16, &out), v == (int16_t)v);
        assert_int_equal(gp_scalar_from_int(v, GpElem_U16, &out), v == (uint16_t)v);
        bool is_half = llabs(v) <= 65504 && v % (llabs(v) > 32768   ? 32
                                                 : llabs(v) > 16384 ? 16
                                                 : llabs(v) > 8192  ? 8
                                                 : llabs(v) > 4096  ? 4
                                                 : llabs(v) > 2048  ? 2
                                                                    : 1) ==
                                                0;
        assert_int_equal(gp_scalar_from_int(v, GpElem_F16, &out), is_half);
    }
    assert_true(gp_scalar_from_int(16777216, GpElem_F32, &out));
    assert_false(gp_scalar_from_int(16777217, GpElem_F32, &out));
    assert_false(gp_scalar_from_int(INT64_MAX, GpElem_F64, &out));
    assert_true(gp_scalar_from_int(INT64_MIN, GpElem_F64, &out));
    assert_true(gp_scalar_from_int(INT64_MIN, GpElem_I64, &out) && out.i == INT64_MIN);
    assert_false(gp_scalar_from_int(INT64_MIN, GpElem_I32, &out));
}

static void expect_print(GpScalar v, const char *want) {
    GpSession s;
    gp_session_init(&s, NULL, NULL, NULL);
    GpText t = {.session = &s};
    gp_scalar_print(v, &t);
    assert_string_equal(gp_text_cstr(&t), want);
    gp_text_free(&t);
}

static void test_print(void **state) {
    (void)state;
    expect_print(float_of(GpElem_F32, 1.0), "1");
    expect_print(float_of(GpElem_F32, -0.5), "-0.5");
    expect_print(float_of(GpElem_F32, (double)0.1f), "0.1");
    expect_print(float_of(GpElem_F64, 0.1), "0.1");
    expect_print(float_of(GpElem_F64, (double)0.1f), "0.10000000149011612");
    expect_print(float_of(GpElem_F32, 1000.0), "1000");
    expect_print(float_of(GpElem_F32, 16777216.0), "16777216");
    expect_print(float_of(GpElem_F64, 1e20), "1e+20");
    expect_print(float_of(GpElem_F64, 1.5e-9), "1.5e-09");
    expect_print(float_of(GpElem_F64, 0.00012), "0.00012");
    expect_print(float_of(GpElem_F32, -0.0), "-0");
    expect_print(float_of(GpElem_F16, HUGE_VAL), "inf");
    expect_print(float_of(GpElem_F16, -HUGE_VAL), "-inf");
    expect_print(float_of(GpElem_F64, (double)NAN), "nan");
    expect_print(int_of(GpElem_I64, INT64_MIN), "-9223372036854775808");
    expect_print(uint_of(GpElem_U64, UINT64_MAX), "18446744073709551615");
    expect_print(uint_of(GpElem_Bool, 1), "true");
}

/* What is printed reads back as the same value, for every f16 and some f32 and f64. */
static void test_print_round_trips(void **state) {
    (void)state;
    GpSession s;
    gp_session_init(&s, NULL, NULL, NULL);
    uint64_t random = 88172645463325252u;
    for (int i = 0; i < 30000; i++) {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        const GpElem elems[] = {GpElem_F16, GpElem_F32, GpElem_F64};
        GpElem e = elems[i % 3];
        GpScalar v = gp_scalar_load(e, &random);
        if (!isfinite(v.f))
            continue;
        GpText t = {.session = &s};
        gp_scalar_print(v, &t);
        double back = strtod(t.at, NULL);
        assert_true(gp_scalar_wrap(float_of(e, back)).f == v.f);
        gp_text_free(&t);
    }
}

static void test_shapes(void **state) {
    (void)state;
    GpSession s;
    gp_session_init(&s, NULL, NULL, NULL);
    GpShape a = {.dim = {128, 64}, .rank = 2}, b = {.dim = {128, 64, 1}, .rank = 3};
    int64_t count;
    assert_true(gp_shape_eq(&a, &a) && !gp_shape_eq(&a, &b));
    assert_true(gp_shape_numel(&a, &count) && count == 8192);
    assert_true(gp_shape_numel(&(GpShape){.rank = 0}, &count) && count == 1);
    assert_false(gp_shape_numel(&(GpShape){.dim = {4, GP_DYNAMIC}, .rank = 2}, &count));
    GpShape huge = {.dim = {INT64_C(1) << 32, INT64_C(1) << 31}, .rank = 2};
    assert_false(gp_shape_numel(&huge, &count));
    huge.dim[2] = 0;
    huge.rank = 3;
    assert_true(gp_shape_numel(&huge, &count) && count == 0);
    GpText t = {.session = &s};
    gp_shape_print(&a, &t);
    gp_shape_print(&(GpShape){.dim = {GP_DYNAMIC}, .rank = 1}, &t);
    gp_shape_print(&(GpShape){.rank = 0}, &t);
    assert_string_equal(t.at, "[128, 64][-1][]");
    gp_text_free(&t);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_table),
        cmocka_unit_test(test_storage_round_trip),
        cmocka_unit_test(test_cast_like_c),
        cmocka_unit_test(test_int_to_f32_rounds_once),
        cmocka_unit_test(test_float_to_int_saturates),
        cmocka_unit_test(test_wrap),
        cmocka_unit_test(test_from_lua_numbers),
        cmocka_unit_test(test_print),
        cmocka_unit_test(test_print_round_trips),
        cmocka_unit_test(test_shapes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
