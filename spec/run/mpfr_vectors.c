/* Writes correctly rounded values of the elementary functions, by MPFR, for spec/run/cases_mpfr.lua:
**
**   mpfr_vectors > spec/run/mpfr.bin
**
** A table for each function and type: a line "name type operands count", then `count` times the
** operands and the value in storage form, little-endian. Operands are special values, values at
** the ends of the format, huge arguments and random ones where the function is of interest. The
** file is always the same, so a test can compare it. */
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <mpfr.h>

enum { PRECISION = 400, COUNT_F32 = 520, COUNT_F64 = 170 };

typedef int (*Unary)(mpfr_t, const mpfr_t, mpfr_rnd_t);
typedef int (*Binary)(mpfr_t, const mpfr_t, const mpfr_t, mpfr_rnd_t);

static int rsqrt_of(mpfr_t to, const mpfr_t x, mpfr_rnd_t rounding) {
    mpfr_sqrt(to, x, rounding); /* mpfr_rec_sqrt loses the sign of -0 */
    return mpfr_ui_div(to, 1, to, rounding);
}

typedef struct Function {
    const char *name;
    Unary unary;
    Binary binary;
    double low, high; /* where random arguments lie */
} Function;

static const Function functions[] = {
    {"sqrt", mpfr_sqrt, NULL, 0, 1e6},        {"rsqrt", rsqrt_of, NULL, 0, 100},
    {"exp", mpfr_exp, NULL, -110, 95},        {"exp2", mpfr_exp2, NULL, -155, 132},
    {"ln", mpfr_log, NULL, 0, 4},             {"log2", mpfr_log2, NULL, 0, 4},
    {"log10", mpfr_log10, NULL, 0, 12},       {"sin", mpfr_sin, NULL, -20, 20},
    {"cos", mpfr_cos, NULL, -20, 20},         {"tan", mpfr_tan, NULL, -20, 20},
    {"sinh", mpfr_sinh, NULL, -12, 12},       {"cosh", mpfr_cosh, NULL, -12, 12},
    {"tanh", mpfr_tanh, NULL, -10, 10},       {"pow", NULL, mpfr_pow, 0, 12},
    {"atan2", NULL, mpfr_atan2, -10, 10},
};

/* splitmix64 */
static uint64_t draw(uint64_t *state) {
    uint64_t z = (*state += 0x9E3779B97F4A7C15u);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}

static double float_of(uint32_t bits) {
    float f;
    memcpy(&f, &bits, sizeof f);
    return (double)f;
}

static double double_of(uint64_t bits) {
    double d;
    memcpy(&d, &bits, sizeof d);
    return d;
}

/* The special magnitudes: of each format its ends, then numbers of every size. */
static double special(bool is_f32, uint32_t which) {
    static const double common[] = {
        0, 1, 2, 0.5, 1.5, 3, 10, 1e-3, 1e-10, 1e4, 12345.678, 1e5, 1e7, 1e10, 3e15, 1e22, 1e30, 3e38,
        0.7853981633974483, 1.5707963267948966, 3.141592653589793, 6.283185307179586, 2.718281828459045,
        88.72283, 87.33654, 103.97, 89.4, 0.34657359, 9.01, 20.0, 128, 127.5, 126, 149,
    };
    enum { COMMON = sizeof common / sizeof *common };
    static const uint32_t f32_ends[] = {1, 0x7fffff, 0x800000, 0x7f7fffff, 0x7f800000, 0x7fc00000, 0x3f800001, 0x3f7fffff};
    static const uint64_t f64_ends[] = {1, 0xfffffffffffff, 0x10000000000000, 0x7fefffffffffffff, 0x7ff0000000000000,
                                        0x7ff8000000000000, 0x3ff0000000000001, 0x3fefffffffffffff};
    if (which < COMMON) return common[which];
    return is_f32 ? float_of(f32_ends[which - COMMON]) : double_of(f64_ends[which - COMMON]);
}
enum { SPECIALS = 34 + 8 };

static double argument(const Function *f, bool is_f32, uint64_t *state) {
    uint64_t word = draw(state);
    double unit = (double)(draw(state) >> 11) * 0x1p-53;
    switch (word & 7) {
    case 0: /* any bits at all */
        return is_f32 ? float_of((uint32_t)(word >> 32)) : double_of(draw(state));
    case 1: /* any order of magnitude */
        return (word >> 8 & 1 ? -1 : 1) * exp((unit - 0.5) * 150);
    default:
        return f->low + unit * (f->high - f->low);
    }
}

static void put(bool is_f32, double v) {
    float f = (float)v;
    uint64_t bits = 0;
    if (is_f32) memcpy(&bits, &f, sizeof f);
    else memcpy(&bits, &v, sizeof v);
    if (isnan(v)) bits = is_f32 ? 0x7fc00000u : 0x7ff8000000000000u;
    for (int i = 0; i < (is_f32 ? 4 : 8); i++) putchar((int)(bits >> (8 * i) & 0xff));
}

static void write_row(const Function *f, bool is_f32, const double *args) {
    mpfr_t x, y, value;
    mpfr_inits2(PRECISION, x, y, value, (mpfr_ptr)0);
    mpfr_set_d(x, args[0], MPFR_RNDN);
    mpfr_set_d(y, args[1], MPFR_RNDN);
    if (f->unary) f->unary(value, x, MPFR_RNDN);
    else f->binary(value, x, y, MPFR_RNDN);
    put(is_f32, args[0]);
    if (f->binary) put(is_f32, args[1]);
    /* 400 bits and then the format: no value is so near a tie that the first rounding matters. */
    put(is_f32, is_f32 ? (double)mpfr_get_flt(value, MPFR_RNDN) : mpfr_get_d(value, MPFR_RNDN));
    mpfr_clears(x, y, value, (mpfr_ptr)0);
}

static void write_table(const Function *f, bool is_f32) {
    int count = is_f32 ? COUNT_F32 : COUNT_F64, arity = f->binary ? 2 : 1;
    uint64_t state = 20240607;
    printf("%s %s %d %d\n", f->name, is_f32 ? "f32" : "f64", arity, count);
    for (int i = 0; i < count; i++) {
        double args[2] = {0, 0};
        for (int k = 0; k < 2; k++) {
            uint32_t which = (uint32_t)i / 2 * (k ? 7 : 1);
            bool is_special = i < 2 * SPECIALS || (f->binary && k == 1 && i % 3 == 0);
            double v = is_special ? special(is_f32, which % SPECIALS) : argument(f, is_f32, &state);
            if (is_special && i % 2) v = -v;
            args[k] = is_f32 ? (double)(float)v : v;
        }
        write_row(f, is_f32, args);
    }
}

int main(void) {
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
        write_table(&functions[i], true);
        write_table(&functions[i], false);
    }
    return fflush(stdout) == 0 ? 0 : 1;
}
