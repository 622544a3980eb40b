/* Narrow float formats against a reference that knows no bits: the sorted list of all values of
** a format, computed from its definition, searched for the nearest one. */
#include <math.h>

#include "core/elem.h"
#include "spec/unit/unit.h"

typedef struct Case {
    const char *name;
    int exponent_bits, mantissa_bits, bias;
    double largest; /* finite */
    bool has_infinity;
    float (*decode)(uint16_t);
    uint16_t (*encode)(double);
} Case;

static float decode_e4m3(uint16_t b) { return gp_f32_from_f8e4m3((uint8_t)b); }
static uint16_t encode_e4m3(double v) { return gp_f8e4m3_from_f64(v); }
static float decode_e5m2(uint16_t b) { return gp_f32_from_f8e5m2((uint8_t)b); }
static uint16_t encode_e5m2(double v) { return gp_f8e5m2_from_f64(v); }

static const Case cases[] = {
    {"f16", 5, 10, 15, 65504.0, true, gp_f32_from_f16, gp_f16_from_f64},
    {"bf16", 8, 7, 127, 0x1.fep127, true, gp_f32_from_bf16, gp_bf16_from_f64},
    {"f8e4m3fn", 4, 3, 7, 448.0, false, decode_e4m3, encode_e4m3},
    {"f8e5m2", 5, 2, 15, 57344.0, true, decode_e5m2, encode_e5m2},
};

/* The value of a code by the definition of a binary format; codes past `largest` not asked. */
static double value_of(const Case *c, unsigned code) {
    unsigned mantissa = code & ((1u << c->mantissa_bits) - 1);
    int exponent = (int)(code >> c->mantissa_bits);
    double scale = pow(2.0, c->mantissa_bits);
    if (exponent == 0)
        return mantissa / scale * pow(2.0, 1 - c->bias);
    return (1.0 + mantissa / scale) * pow(2.0, exponent - c->bias);
}

static unsigned largest_code(const Case *c) {
    unsigned code = 0;
    while (value_of(c, code) < c->largest)
        code++;
    assert_true(value_of(c, code) == c->largest);
    return code;
}

/* Nearest code for v >= 0, ties to the even one, by bisection over the values. The step after
** the largest value decides about overflow as if one more value followed. */
static unsigned nearest(const Case *c, unsigned top, double v) {
    unsigned above = c->has_infinity ? top + 1 : top;
    double next = c->largest + (c->largest - value_of(c, top - 1));
    if (v > c->largest) {
        double middle = (c->largest + next) / 2;
        return v < middle || (v == middle && top % 2 == 0) ? top : above;
    }
    unsigned low = 0, high = top;
    while (high - low > 1) {
        unsigned m = (low + high) / 2;
        if (value_of(c, m) <= v)
            low = m;
        else
            high = m;
    }
    double down = v - value_of(c, low), up = value_of(c, high) - v;
    if (down != up)
        return down < up ? low : high;
    return low % 2 == 0 ? low : high;
}

static void test_decode_is_exact(void **state) {
    (void)state;
    for (size_t i = 0; i < GP_COUNT(cases); i++) {
        const Case *c = &cases[i];
        unsigned top = largest_code(c), sign = 1u << (c->exponent_bits + c->mantissa_bits);
        for (unsigned code = 0; code <= top; code++) {
            assert_true((double)c->decode((uint16_t)code) == value_of(c, code));
            float negative = c->decode((uint16_t)(code | sign));
            assert_true((double)negative == -value_of(c, code) && signbit(negative));
        }
        for (unsigned code = top + 1; code < sign; code++) {
            float v = c->decode((uint16_t)code);
            if (c->has_infinity && code == top + 1)
                assert_true(isinf(v) && v > 0);
            else
                assert_true(isnan(v));
        }
    }
}

static void test_round_trip(void **state) {
    (void)state;
    for (size_t i = 0; i < GP_COUNT(cases); i++) {
        const Case *c = &cases[i];
        unsigned count = 2u << (c->exponent_bits + c->mantissa_bits);
        for (unsigned code = 0; code < count; code++) {
            float v = c->decode((uint16_t)code);
            if (isnan(v)) {
                assert_true(isnan(c->decode(c->encode((double)v))));
                continue;
            }
            if (!c->has_infinity && isinf(v))
                continue;
            assert_int_equal(c->encode((double)v), code);
        }
    }
}

static void expect_nearest(const Case *c, unsigned top, double v) {
    unsigned want = nearest(c, top, v);
    unsigned sign = 1u << (c->exponent_bits + c->mantissa_bits);
    assert_int_equal(c->encode(v), want);
    assert_int_equal(c->encode(-v), want | sign);
    float single = (float)v;
    if (isfinite(single))
        assert_int_equal(c->encode((double)single), nearest(c, top, (double)single));
}

/* At every midpoint of neighbours, a last place of f64 to either side of it, and the same for
** f32: where double rounding would show. */
static void test_midpoints(void **state) {
    (void)state;
    for (size_t i = 0; i < GP_COUNT(cases); i++) {
        const Case *c = &cases[i];
        unsigned top = largest_code(c);
        for (unsigned code = 0; code <= top; code++) {
            double here = value_of(c, code);
            double next =
                code < top ? value_of(c, code + 1) : here + (here - value_of(c, code - 1));
            double middle = (here + next) / 2;
            expect_nearest(c, top, middle);
            expect_nearest(c, top, nextafter(middle, 0));
            expect_nearest(c, top, nextafter(middle, HUGE_VAL));
            expect_nearest(c, top, (double)nextafterf((float)middle, 0));
            expect_nearest(c, top, (double)nextafterf((float)middle, HUGE_VALF));
        }
    }
}

static uint32_t next_random(uint32_t *random) {
    *random ^= *random << 13;
    *random ^= *random >> 17;
    return *random ^= *random << 5;
}

static void test_random_floats(void **state) {
    (void)state;
    uint32_t random = 2463534242u;
    for (size_t i = 0; i < GP_COUNT(cases); i++) {
        const Case *c = &cases[i];
        unsigned top = largest_code(c);
        for (int n = 0; n < 300000; n++) {
            uint32_t bits = next_random(&random) & 0x7fffffff;
            float v;
            memcpy(&v, &bits, sizeof v);
            if (isfinite(v))
                assert_int_equal(c->encode((double)v), nearest(c, top, (double)v));
        }
    }
}

static void test_specials(void **state) {
    (void)state;
    assert_int_equal(gp_f16_from_f64(HUGE_VAL), 0x7c00);
    assert_int_equal(gp_f16_from_f64(-1e300), 0xfc00);
    assert_int_equal(gp_bf16_from_f64(-HUGE_VAL), 0xff80);
    assert_int_equal(gp_f8e4m3_from_f32(HUGE_VALF), 0x7e);
    assert_int_equal(gp_f8e4m3_from_f32(-1e9f), 0xfe);
    assert_int_equal(gp_f8e4m3_from_f32(NAN) & 0x7f, 0x7f);
    assert_int_equal(gp_f8e5m2_from_f64(HUGE_VAL), 0x7c);
    assert_int_equal(gp_f8e5m2_from_f64(1e9), 0x7c);
    assert_int_equal(gp_f16_from_f64(5e-324), 0);
    assert_int_equal(gp_f16_from_f64(-0.0), 0x8000);
    /* One bit above a tie that f32 would lose: rounding twice gives 0x3c00. */
    assert_int_equal(gp_f16_from_f64(1.0 + 0x1p-11 + 0x1p-40), 0x3c01);
}

/* tf32 by arithmetic: f32 with its last 13 bits rounded off. */
static void test_tf32(void **state) {
    (void)state;
    uint32_t random = 88172645u;
    for (int n = 0; n < 1000000; n++) {
        uint32_t bits = next_random(&random);
        float v;
        memcpy(&v, &bits, sizeof v);
        if (!isfinite(v) || v == 0)
            continue;
        int exponent;
        frexpf(v, &exponent);
        double place = ldexp(1.0, GP_MAX(exponent - 11, -136)); /* last of 11 bits */
        double want = nearbyint((double)v / place) * place;
        float got = gp_tf32_from_f64((double)v);
        if (isinf(got))
            assert_true(fabs(want) >= 0x1p128);
        else
            assert_true((double)got == want);
    }
    assert_true(isnan(gp_tf32_from_f64((double)NAN)));
    assert_true(gp_tf32_from_f64(1.0 + 0x1p-11 + 0x1p-40) == 1.0f + 0x1p-10f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_decode_is_exact), cmocka_unit_test(test_round_trip),
        cmocka_unit_test(test_midpoints),       cmocka_unit_test(test_random_floats),
        cmocka_unit_test(test_specials),        cmocka_unit_test(test_tf32),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
