/* Writes correctly rounded values of the elementary functions, and of arithmetic rounded in a
** direction, by MPFR, for spec/run/cases_mpfr.lua:
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

enum { PRECISION = 400, COUNT_DIRECTED = 130 };

typedef int (*Unary)(mpfr_t, const mpfr_t, mpfr_rnd_t);
typedef int (*Binary)(mpfr_t, const mpfr_t, const mpfr_t, mpfr_rnd_t);
typedef int (*Ternary)(mpfr_t, const mpfr_t, const mpfr_t, const mpfr_t, mpfr_rnd_t);

/* A type: bits of mantissa and exponent, and of nothing below them; values for a function. */
typedef struct Format {
    const char *name;
    int mantissa, exponent, below, count;
} Format;

static const Format formats[] = {
    {"f32", 23, 8, 0, 520}, {"f64", 52, 11, 0, 170}, {"f16", 10, 5, 0, 200},
    {"bf16", 7, 8, 0, 200}, {"tf32", 10, 8, 13, 100}, {"f8e5m2", 2, 5, 0, 100},
};

static int bias_of(const Format *t) { return (1 << (t->exponent - 1)) - 1; }
static int bytes_of(const Format *t) { return (1 + t->exponent + t->mantissa + t->below) / 8; }

static int rsqrt_of(mpfr_t to, const mpfr_t x, mpfr_rnd_t rounding) {
    mpfr_sqrt(to, x, rounding); /* mpfr_rec_sqrt loses the sign of -0 */
    return mpfr_ui_div(to, 1, to, rounding);
}

typedef struct Function {
    const char *name;
    Unary unary;
    Binary binary;
    Ternary ternary;
    double low, high; /* where random arguments lie */
} Function;

static const Function functions[] = {
    {"sqrt", mpfr_sqrt, NULL, NULL, 0, 1e6},        {"rsqrt", rsqrt_of, NULL, NULL, 0, 100},
    {"exp", mpfr_exp, NULL, NULL, -110, 95},        {"exp2", mpfr_exp2, NULL, NULL, -155, 132},
    {"ln", mpfr_log, NULL, NULL, 0, 4},             {"log2", mpfr_log2, NULL, NULL, 0, 4},
    {"log10", mpfr_log10, NULL, NULL, 0, 12},       {"sin", mpfr_sin, NULL, NULL, -20, 20},
    {"cos", mpfr_cos, NULL, NULL, -20, 20},         {"tan", mpfr_tan, NULL, NULL, -20, 20},
    {"sinh", mpfr_sinh, NULL, NULL, -12, 12},       {"cosh", mpfr_cosh, NULL, NULL, -12, 12},
    {"tanh", mpfr_tanh, NULL, NULL, -10, 10},       {"pow", NULL, mpfr_pow, NULL, 0, 12},
    {"atan2", NULL, mpfr_atan2, NULL, -10, 10},
};

/* Named with the mode behind: add.up. */
static const Function directed[] = {
    {"add", NULL, mpfr_add, NULL, -4, 4}, {"sub", NULL, mpfr_sub, NULL, -4, 4},
    {"mul", NULL, mpfr_mul, NULL, -4, 4}, {"div", NULL, mpfr_div, NULL, -4, 4},
    {"sqrt", mpfr_sqrt, NULL, NULL, 0, 9}, {"fma", NULL, NULL, mpfr_fma, -4, 4},
};
static const struct {
    const char *name;
    mpfr_rnd_t rounding;
} modes[] = {{"up", MPFR_RNDU}, {"down", MPFR_RNDD}, {"zero", MPFR_RNDZ}};

static int arity_of(const Function *f) { return f->unary ? 1 : f->binary ? 2 : 3; }

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

/* The value as one of the type, which a double holds. */
static double round_to(const Format *t, const mpfr_t value, mpfr_rnd_t rounding) {
    mpfr_t out;
    mpfr_exp_t emin = mpfr_get_emin(), emax = mpfr_get_emax();
    mpfr_init2(out, t->mantissa + 1);
    mpfr_set_emin(2 - bias_of(t) - t->mantissa);
    mpfr_set_emax(bias_of(t) + 1);
    int inexact = mpfr_set(out, value, rounding);
    inexact = mpfr_check_range(out, inexact, rounding);
    mpfr_subnormalize(out, inexact, rounding);
    double v = mpfr_get_d(out, MPFR_RNDN);
    mpfr_set_emin(emin);
    mpfr_set_emax(emax);
    mpfr_clear(out);
    return v;
}

static double near(const Format *t, double v) {
    mpfr_t x;
    mpfr_init2(x, 53);
    mpfr_set_d(x, v, MPFR_RNDN);
    v = round_to(t, x, MPFR_RNDN);
    mpfr_clear(x);
    return v;
}

/* Its bits: of a number the type has. */
static uint64_t encode(const Format *t, double v) {
    uint64_t top = (1u << t->exponent) - 1, sign = signbit(v) ? 1 : 0, field, fraction;
    int e = 0;
    double m = frexp(fabs(v), &e) * 2; /* 1 <= m < 2, v = m * 2^(e - 1) */
    e += bias_of(t) - 1;
    if (isnan(v)) {
        sign = 0;
        field = top;
        fraction = (uint64_t)1 << (t->mantissa - 1);
    } else if (isinf(v)) {
        field = top;
        fraction = 0;
    } else if (v == 0 || e < 1) {
        field = 0;
        fraction = (uint64_t)ldexp(fabs(v), bias_of(t) - 1 + t->mantissa);
    } else {
        field = (uint64_t)e;
        fraction = (uint64_t)ldexp(m - 1, t->mantissa);
    }
    return (((sign << t->exponent | field) << t->mantissa) | fraction) << t->below;
}

/* The special magnitudes: of the format its ends, then numbers of every size. */
static double special(const Format *t, uint32_t which) {
    static const double common[] = {
        0, 1, 2, 0.5, 1.5, 3, 10, 1e-3, 1e-10, 1e4, 12345.678, 1e5, 1e7, 1e10, 3e15, 1e22, 1e30, 3e38,
        0.7853981633974483, 1.5707963267948966, 3.141592653589793, 6.283185307179586, 2.718281828459045,
        88.72283, 87.33654, 103.97, 89.4, 0.34657359, 9.01, 20.0, 128, 127.5, 126, 149,
    };
    enum { COMMON = sizeof common / sizeof *common };
    double least = ldexp(1, 1 - bias_of(t)), step = ldexp(1, -t->mantissa);
    const double ends[] = {least * step, least * (1 - step), least,    ldexp(2 - step, bias_of(t)),
                           HUGE_VAL,     (double)NAN,        1 + step, 1 - step / 2};
    return which < COMMON ? near(t, common[which]) : ends[which - COMMON];
}
enum { SPECIALS = 34 + 8 };

static double argument(const Function *f, const Format *t, uint64_t *state) {
    uint64_t word = draw(state);
    double unit = (double)(draw(state) >> 11) * 0x1p-53;
    switch (word & 7) {
    case 0: /* any bits at all */
        return t->mantissa < 52 ? near(t, float_of((uint32_t)(word >> 32))) : double_of(draw(state));
    case 1: /* any order of magnitude */
        return near(t, (word >> 8 & 1 ? -1 : 1) * exp((unit - 0.5) * 150));
    default:
        return near(t, f->low + unit * (f->high - f->low));
    }
}

static void put(const Format *t, double v) {
    uint64_t bits = encode(t, v);
    for (int i = 0; i < bytes_of(t); i++) putchar((int)(bits >> (8 * i) & 0xff));
}

/* 400 bits and then the format: of a function no value is so near a tie that the first rounding
** matters, and twice in one direction is once. */
static void write_row(const Function *f, const Format *t, mpfr_rnd_t rounding, const double *args) {
    mpfr_t x, y, z, value;
    mpfr_inits2(PRECISION, x, y, z, value, (mpfr_ptr)0);
    mpfr_set_d(x, args[0], MPFR_RNDN);
    mpfr_set_d(y, args[1], MPFR_RNDN);
    mpfr_set_d(z, args[2], MPFR_RNDN);
    if (f->unary) f->unary(value, x, rounding);
    else if (f->binary) f->binary(value, x, y, rounding);
    else f->ternary(value, x, y, z, rounding);
    for (int k = 0; k < arity_of(f); k++) put(t, args[k]);
    put(t, round_to(t, value, rounding));
    mpfr_clears(x, y, z, value, (mpfr_ptr)0);
}

static void write_rows(const Function *f, const Format *t, mpfr_rnd_t rounding, int count) {
    uint64_t state = 20240607;
    int arity = arity_of(f), drawn = arity > 2 ? arity : 2;
    for (int i = 0; i < count; i++) {
        double args[3] = {0, 0, 0};
        for (int k = 0; k < drawn; k++) {
            uint32_t which = (uint32_t)i / 2 * (k == 0 ? 1 : k == 1 ? 7 : 11);
            bool is_special = i < 2 * SPECIALS || (arity > 1 && k == 1 && i % 3 == 0);
            double v = is_special ? special(t, which % SPECIALS) : argument(f, t, &state);
            args[k] = is_special && i % 2 ? -v : v;
        }
        write_row(f, t, rounding, args);
    }
}

int main(void) {
    for (size_t t = 0; t < sizeof formats / sizeof *formats; t++) {
        const Format *type = &formats[t];
        for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
            const Function *f = &functions[i];
            printf("%s %s %d %d\n", f->name, type->name, arity_of(f), type->count);
            write_rows(f, type, MPFR_RNDN, type->count);
        }
        for (size_t i = 0; i < sizeof directed / sizeof *directed; i++) {
            for (size_t m = 0; m < sizeof modes / sizeof *modes; m++) {
                const Function *f = &directed[i];
                printf("%s.%s %s %d %d\n", f->name, modes[m].name, type->name, arity_of(f), COUNT_DIRECTED);
                write_rows(f, type, modes[m].rounding, COUNT_DIRECTED);
            }
        }
    }
    return fflush(stdout) == 0 ? 0 : 1;
}
