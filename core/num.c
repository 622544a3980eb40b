/* Conversions between the float formats that C lacks and those that it has.
**
** One rounding serves all formats: a double is cut to the format's precision, to nearest with
** ties to even, straight from its bits. Every f32 is a double, so conversions from f32 take the
** same way and nothing is ever rounded twice. */
#include "core/elem.h"

#include <math.h>

typedef enum Overflow {
    Overflow_Infinity, /* IEEE: all-ones exponent is infinity or NaN */
    Overflow_Saturate, /* no infinity; the largest code is NaN, the one below the largest value */
    Overflow_Finite,   /* neither infinity nor NaN, which becomes the largest value */
} Overflow;

typedef struct Format {
    int exponent_bits, mantissa_bits;
    Overflow overflow;
} Format;

static const Format f16 = {5, 10, Overflow_Infinity};
static const Format bf16 = {8, 7, Overflow_Infinity};
static const Format tf32 = {8, 10, Overflow_Infinity};
static const Format f8e4m3 = {4, 3, Overflow_Saturate};
static const Format f8e5m2 = {5, 2, Overflow_Infinity};
static const Format f8e5m3 = {5, 3, Overflow_Saturate}; /* has no sign: eight bits of magnitude */
static const Format f4e2m1 = {2, 1, Overflow_Finite};

static uint64_t bits_of_double(double v) {
    uint64_t bits;
    memcpy(&bits, &v, sizeof bits);
    return bits;
}

/* value / 2^shift to nearest, ties to even. */
static uint64_t shift_round(uint64_t value, int shift) {
    if (shift <= 0)
        return value << -shift;
    if (shift > 63)
        return 0; /* value < 2^54: below half of the last place */
    uint64_t kept = value >> shift;
    uint64_t rest = value & ((UINT64_C(1) << shift) - 1);
    uint64_t half = UINT64_C(1) << (shift - 1);
    return kept + (rest > half || (rest == half && (kept & 1)));
}

/* Exponent and mantissa fields of `infinity`, which is also the first NaN or out-of-range code. */
static uint32_t overflow_code(Format f) {
    uint32_t all = (UINT32_C(1) << (f.exponent_bits + f.mantissa_bits)) - 1;
    uint32_t mantissa = (UINT32_C(1) << f.mantissa_bits) - 1;
    switch (f.overflow) {
    case Overflow_Infinity:
        return all - mantissa;
    case Overflow_Saturate:
        return all;
    case Overflow_Finite:
        return all + 1;
    }
    gp_unreachable();
}

/* NaN keeps its sign and the upper payload bits, and is quiet. */
static uint32_t encode_nan(Format f, uint64_t mantissa) {
    if (f.overflow == Overflow_Saturate)
        return overflow_code(f);
    uint32_t quiet = UINT32_C(1) << (f.mantissa_bits - 1);
    return overflow_code(f) | quiet | (uint32_t)(mantissa >> (52 - f.mantissa_bits));
}

static uint32_t encode(Format f, double v) {
    uint64_t bits = bits_of_double(v);
    uint32_t sign = (uint32_t)(bits >> 63) << (f.exponent_bits + f.mantissa_bits);
    int exponent = (int)(bits >> 52 & 0x7ff) - 1023;
    uint64_t mantissa = bits & ((UINT64_C(1) << 52) - 1);
    uint32_t limit = f.overflow == Overflow_Infinity ? overflow_code(f) : overflow_code(f) - 1;
    if (exponent == 1024 && mantissa && f.overflow == Overflow_Finite)
        return limit;
    if (exponent == 1024 && mantissa)
        return sign | encode_nan(f, mantissa);
    if (exponent == -1023)
        return sign; /* zero; a double's subnormals are below half of any last place */

    int bias = (1 << (f.exponent_bits - 1)) - 1;
    int biased = exponent + bias;
    if (biased > 1 << f.exponent_bits)
        return sign | limit;
    mantissa |= UINT64_C(1) << 52;
    int shift = 52 - f.mantissa_bits;
    uint32_t code;
    if (biased > 0) {
        /* The leading one adds 1 to the exponent field; a carry from rounding does the same. */
        code = (uint32_t)(biased - 1) << f.mantissa_bits;
        code += (uint32_t)shift_round(mantissa, shift);
    } else {
        code = (uint32_t)shift_round(mantissa, shift + 1 - biased);
    }
    return sign | GP_MIN(code, limit);
}

static float decode(Format f, uint32_t code) {
    int width = f.exponent_bits + f.mantissa_bits;
    int bias = (1 << (f.exponent_bits - 1)) - 1;
    uint32_t magnitude = code & ((UINT32_C(1) << width) - 1);
    uint32_t mantissa = magnitude & ((UINT32_C(1) << f.mantissa_bits) - 1);
    int exponent = (int)(magnitude >> f.mantissa_bits);
    bool is_negative = code >> width & 1;
    uint32_t bits;
    if (magnitude >= overflow_code(f)) {
        bits = UINT32_C(0x7f800000) | mantissa << (23 - f.mantissa_bits);
    } else {
        float value = exponent ? ldexpf((float)(mantissa | UINT32_C(1) << f.mantissa_bits),
                                        exponent - bias - f.mantissa_bits)
                               : ldexpf((float)mantissa, 1 - bias - f.mantissa_bits);
        memcpy(&bits, &value, sizeof bits);
    }
    bits |= is_negative ? UINT32_C(0x80000000) : 0;
    float out;
    memcpy(&out, &bits, sizeof out);
    return out;
}

float gp_f32_from_f16(uint16_t bits) { return decode(f16, bits); }
uint16_t gp_f16_from_f64(double v) { return (uint16_t)encode(f16, v); }
float gp_f32_from_bf16(uint16_t bits) { return decode(bf16, bits); }
uint16_t gp_bf16_from_f64(double v) { return (uint16_t)encode(bf16, v); }
float gp_f32_from_f8e4m3(uint8_t bits) { return decode(f8e4m3, bits); }
uint8_t gp_f8e4m3_from_f32(float v) { return (uint8_t)encode(f8e4m3, (double)v); }
uint8_t gp_f8e4m3_from_f64(double v) { return (uint8_t)encode(f8e4m3, v); }
float gp_f32_from_f8e5m2(uint8_t bits) { return decode(f8e5m2, bits); }
uint8_t gp_f8e5m2_from_f64(double v) { return (uint8_t)encode(f8e5m2, v); }
float gp_f32_from_f4e2m1(uint8_t bits) { return decode(f4e2m1, bits & 0xf); }
uint8_t gp_f4e2m1_from_f64(double v) { return (uint8_t)encode(f4e2m1, v); }
float gp_f32_from_f8e5m3(uint8_t bits) { return decode(f8e5m3, bits); }
uint8_t gp_f8e5m3_from_f64(double v) { return v < 0 ? 0xff : (uint8_t)encode(f8e5m3, fabs(v)); }
float gp_f32_from_f8e8m0(uint8_t bits) { return bits == 0xff ? NAN : ldexpf(1, bits - 127); }
/* Halfway between two powers of two is the one with the even code. */
uint8_t gp_f8e8m0_from_f64(double v) {
    int exponent;
    if (isnan(v) || v < 0)
        return 0xff;
    double half = frexp(v, &exponent); /* v = half * 2^exponent, 0.5 <= half < 1 */
    int code = exponent + 126;
    if (isinf(v) || code > 254)
        return 254;
    if (v == 0 || code < 0)
        return 0;
    return (uint8_t)GP_MIN(code + (half > 0.75 || (half == 0.75 && code % 2 == 1)), 254);
}
float gp_tf32_from_f64(double v) { return decode(tf32, encode(tf32, v)); }
