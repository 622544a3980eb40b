/* Scalar values of any element type: storage form, conversions, text. */
#include "core/elem.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static uint64_t bits_of_float(float v) {
    uint32_t bits;
    memcpy(&bits, &v, sizeof bits);
    return bits;
}

static uint64_t bits_of_double(double v) {
    uint64_t bits;
    memcpy(&bits, &v, sizeof bits);
    return bits;
}

static float float_of_bits(uint64_t bits) {
    uint32_t low = (uint32_t)bits;
    float v;
    memcpy(&v, &low, sizeof v);
    return v;
}

static double double_of_bits(uint64_t bits) {
    double v;
    memcpy(&v, &bits, sizeof v);
    return v;
}

uint64_t gp_scalar_bits(GpScalar v) {
    switch (v.elem) {
    case GpElem_F64:
        return bits_of_double(v.f);
    case GpElem_F32:
        return bits_of_float((float)v.f);
    case GpElem_F16:
        return gp_f16_from_f64(v.f);
    case GpElem_BF16:
        return gp_bf16_from_f64(v.f);
    case GpElem_TF32:
        return bits_of_float(gp_tf32_from_f64(v.f));
    case GpElem_F8E4:
        return gp_f8e4m3_from_f64(v.f);
    case GpElem_F8E5:
        return gp_f8e5m2_from_f64(v.f);
    case GpElem_F8E8:
        return gp_f8e8m0_from_f64(v.f);
    case GpElem_F8E5M3:
        return gp_f8e5m3_from_f64(v.f);
    case GpElem_F4E2:
        return gp_f4e2m1_from_f64(v.f);
    case GpElem_I64:
    case GpElem_I32:
    case GpElem_I16:
    case GpElem_I8:
    case GpElem_U64:
    case GpElem_U32:
    case GpElem_U16:
    case GpElem_U8:
        return v.u;
    case GpElem_I4:
        return v.u & 0xf;
    case GpElem_Bool:
        return v.u != 0;
    case GpElem_count:
        break;
    }
    gp_unreachable();
}

static GpScalar make_float(GpElem elem, double f) { return (GpScalar){.elem = elem, .f = f}; }
static GpScalar make_bits(GpElem elem, uint64_t u) { return (GpScalar){.elem = elem, .u = u}; }

/* The low `bits` of an integer, extended by the sign of the type. */
static uint64_t extend(GpElem elem, uint64_t bits) {
    int unused = 64 - gp_elem_info[elem].bits;
    if (!gp_elem_is_signed(elem))
        return bits << unused >> unused;
    uint64_t sign = UINT64_C(1) << (gp_elem_info[elem].bits - 1);
    bits = bits << unused >> unused;
    return (bits ^ sign) - sign;
}

static GpScalar decode(GpElem elem, uint64_t bits) {
    switch (elem) {
    case GpElem_F64:
        return make_float(elem, double_of_bits(bits));
    case GpElem_F32:
    case GpElem_TF32:
        return make_float(elem, (double)float_of_bits(bits));
    case GpElem_F16:
        return make_float(elem, (double)gp_f32_from_f16((uint16_t)bits));
    case GpElem_BF16:
        return make_float(elem, (double)gp_f32_from_bf16((uint16_t)bits));
    case GpElem_F8E4:
        return make_float(elem, (double)gp_f32_from_f8e4m3((uint8_t)bits));
    case GpElem_F8E5:
        return make_float(elem, (double)gp_f32_from_f8e5m2((uint8_t)bits));
    case GpElem_F8E8:
        return make_float(elem, (double)gp_f32_from_f8e8m0((uint8_t)bits));
    case GpElem_F8E5M3:
        return make_float(elem, (double)gp_f32_from_f8e5m3((uint8_t)bits));
    case GpElem_F4E2:
        return make_float(elem, (double)gp_f32_from_f4e2m1((uint8_t)bits));
    case GpElem_I64:
    case GpElem_I32:
    case GpElem_I16:
    case GpElem_I8:
    case GpElem_I4:
    case GpElem_U64:
    case GpElem_U32:
    case GpElem_U16:
    case GpElem_U8:
        return make_bits(elem, extend(elem, bits));
    case GpElem_Bool:
        return make_bits(elem, (bits & 0xff) != 0);
    case GpElem_count:
        break;
    }
    gp_unreachable();
}

GpScalar gp_scalar_load(GpElem elem, const void *from) {
    const uint8_t *bytes = from;
    uint64_t bits = 0;
    for (int i = 0; i < gp_elem_info[elem].bytes; i++)
        bits |= (uint64_t)bytes[i] << (8 * i);
    return decode(elem, bits);
}

void gp_scalar_store(GpScalar v, void *to) {
    uint8_t *bytes = to;
    uint64_t bits = gp_scalar_bits(v);
    for (int i = 0; i < gp_elem_info[v.elem].bytes; i++)
        bytes[i] = (uint8_t)(bits >> (8 * i));
}

GpScalar gp_scalar_wrap(GpScalar v) { return decode(v.elem, gp_scalar_bits(v)); }

/* An integer as a double that rounds on to any narrower format as the integer would: what a
** double cannot hold is rounded to odd, so no tie is made or lost (Boldo and Melquiond,
** "Emulation of FMA and correctly rounded sums", 2008). */
static double double_rounded_to_odd(GpScalar v) {
    bool is_negative = gp_elem_is_signed(v.elem) && v.i < 0;
    uint64_t magnitude = is_negative ? -v.u : v.u;
    int shift = magnitude >> 53 ? 11 - __builtin_clzll(magnitude) : 0;
    uint64_t kept = magnitude >> shift;
    if (kept << shift != magnitude)
        kept |= 1;
    double d = ldexp((double)kept, shift);
    return is_negative ? -d : d;
}

static GpScalar cast_to_float(GpScalar v, GpElem to) {
    if (gp_elem_is_float(v.elem))
        return gp_scalar_wrap(make_float(to, v.f));
    if (to == GpElem_F64) {
        return make_float(to, gp_elem_is_signed(v.elem) ? (double)v.i : (double)v.u);
    }
    return gp_scalar_wrap(make_float(to, double_rounded_to_odd(v)));
}

static uint64_t largest(GpElem e) {
    return UINT64_MAX >> (64 - gp_elem_info[e].bits + gp_elem_is_signed(e));
}

/* Truncates; saturates at the ends of the type; NaN is 0. */
static GpScalar saturate(double v, GpElem to) {
    double end = ldexp(1.0, gp_elem_info[to].bits - gp_elem_is_signed(to)); /* first too large */
    double low = gp_elem_is_signed(to) ? -end : 0.0;
    if (isnan(v))
        return make_bits(to, 0);
    if (v >= end)
        return make_bits(to, largest(to));
    if (v <= low)
        return make_bits(to, gp_elem_is_signed(to) ? ~largest(to) : 0);
    return make_bits(to, gp_elem_is_signed(to) ? (uint64_t)(int64_t)v : (uint64_t)v);
}

GpScalar gp_scalar_cast(GpScalar v, GpElem to) {
    if (gp_elem_is_float(to))
        return cast_to_float(v, to);
    if (to == GpElem_Bool) {
        return make_bits(to, gp_elem_is_float(v.elem) ? v.f != 0.0 : v.u != 0);
    }
    if (gp_elem_is_float(v.elem))
        return saturate(v.f, to);
    return make_bits(to, extend(to, v.u));
}

static bool is_out_of_range(double v, GpScalar rounded) {
    if (!isfinite(v))
        return false;
    /* Saturation hides it: 464 is halfway to the 480 that would follow 448. */
    if (rounded.elem == GpElem_F8E4)
        return fabs(v) > 464.0;
    if (rounded.elem == GpElem_F4E2)
        return fabs(v) > 7.0;
    if (rounded.elem == GpElem_F8E5M3)
        return !(v >= 0 && v <= 118784.0);
    if (rounded.elem == GpElem_F8E8)
        return !(v >= 0x1p-127 && v <= 0x1.8p127);
    return !isfinite(rounded.f);
}

bool gp_scalar_from_double(double v, GpElem to, GpScalar *out) {
    if (gp_elem_is_float(to)) {
        GpScalar rounded = gp_scalar_wrap(make_float(to, v));
        if (is_out_of_range(v, rounded))
            return false;
        *out = rounded;
        return true;
    }
    /* -2^63 and 2^64 are doubles, so the comparison decides before any cast can overflow. */
    if (!(v >= -0x1p63 && v < 0x1p64) || v != trunc(v))
        return false;
    if (v < 0x1p63)
        return gp_scalar_from_int((int64_t)v, to, out);
    if (to != GpElem_U64)
        return false;
    *out = make_bits(to, (uint64_t)v);
    return true;
}

bool gp_scalar_from_int(int64_t v, GpElem to, GpScalar *out) {
    GpScalar whole = {.elem = GpElem_I64, .i = v};
    if (gp_elem_is_float(to)) {
        GpScalar rounded = gp_scalar_cast(whole, to);
        if (!isfinite(rounded.f) || rounded.f >= 0x1p63 || (int64_t)rounded.f != v)
            return false;
        *out = rounded;
        return true;
    }
    if (v < 0 && !gp_elem_is_signed(to))
        return false;
    if (to == GpElem_Bool ? v > 1 : v > 0 && (uint64_t)v > largest(to))
        return false;
    if (v < 0 && v < (int64_t)~largest(to))
        return false;
    *out = make_bits(to, (uint64_t)v);
    return true;
}

/* The host may have set a locale whose decimal point is a comma. */
static void make_point(char *text) {
    for (; *text; text++) {
        if (!strchr("0123456789+-e", *text))
            *text = '.';
    }
}

/* The fewest digits that give the value back; positional up to 16 digits, else with exponent. */
static void print_finite(GpScalar v, GpText *out) {
    char text[64];
    int digits = 1;
    for (; digits < 17; digits++) {
        snprintf(text, sizeof text, "%.*e", digits - 1, v.f);
        if (gp_scalar_wrap(make_float(v.elem, strtod(text, NULL))).f == v.f)
            break;
    }
    snprintf(text, sizeof text, "%.*e", digits - 1, v.f);
    int exponent = (int)strtol(strchr(text, 'e') + 1, NULL, 10);
    if (exponent >= -5 && exponent < 16) {
        snprintf(text, sizeof text, "%.*f", GP_MAX(digits - 1 - exponent, 0), v.f);
    }
    make_point(text);
    gp_text_puts(out, text);
}

void gp_scalar_print(GpScalar v, GpText *out) {
    switch (gp_elem_info[v.elem].cls) {
    case GpClass_Float:
    case GpClass_Code:
        if (isnan(v.f)) {
            gp_text_puts(out, "nan");
        } else if (isinf(v.f)) {
            gp_text_puts(out, v.f < 0 ? "-inf" : "inf");
        } else {
            print_finite(v, out);
        }
        return;
    case GpClass_Int:
        gp_text_printf(out, "%lld", (long long)v.i);
        return;
    case GpClass_Uint:
        gp_text_printf(out, "%llu", (unsigned long long)v.u);
        return;
    case GpClass_Bool:
        gp_text_puts(out, v.u ? "true" : "false");
        return;
    }
    gp_unreachable();
}
