/* f32 exponentials, logarithms and tanh by polynomials (poly.def), for the CPU: straight-line
** code with fused multiply-adds that LLVM vectorises. Special values are those of C's <math.h>. */
#include <math.h>

#include "codegen/emit.h"

enum { EXP_TERMS = 7, LN_TERMS = 8, TANH_TERMS = 5, SUBNORMAL_SHIFT = 23 };

typedef struct ExpRow {
    double per, hi, lo, low, high, c[EXP_TERMS];
} ExpRow;
static const ExpRow exp_rows[GpOp_count] = {
#define GP_POLY_EXP(id, per, hi, lo, low, high, ...)                                               \
    [GpOp_##id] = {per, hi, lo, low, high, {__VA_ARGS__}},
#include "codegen/poly.def"
};

typedef struct LogRow {
    double scale, scale_lo, step_hi, step_lo;
} LogRow;
static const LogRow log_rows[GpOp_count] = {
#define GP_POLY_LOG(id, scale, scale_lo, step_hi, step_lo)                                         \
    [GpOp_##id] = {scale, scale_lo, step_hi, step_lo},
#include "codegen/poly.def"
};

static const double ln_terms[LN_TERMS] = {
#define GP_POLY_LN(...) __VA_ARGS__
#include "codegen/poly.def"
};

static const struct {
    double limit, c[TANH_TERMS];
} tanh_row = {
#define GP_POLY_TANH(limit, ...) limit, {__VA_ARGS__}
#include "codegen/poly.def"
};

static LLVMTypeRef f32(GpEmit *e) { return LLVMFloatTypeInContext(e->ctx); }
static LLVMTypeRef i32(GpEmit *e) { return LLVMInt32TypeInContext(e->ctx); }
static LLVMValueRef number(GpEmit *e, double v) { return LLVMConstReal(f32(e), v); }

static LLVMValueRef fma_of(GpEmit *e, LLVMValueRef a, LLVMValueRef b, LLVMValueRef c) {
    return gp_emit_intrinsic(e, "llvm.fma", f32(e), (LLVMValueRef[]){a, b, c}, 3);
}

/* c[0] + c[1] x + .. by Horner's rule */
static LLVMValueRef horner(GpEmit *e, const double *c, int count, LLVMValueRef x) {
    LLVMValueRef sum = number(e, c[count - 1]);
    for (int i = count - 2; i >= 0; i--)
        sum = fma_of(e, sum, x, number(e, c[i]));
    return sum;
}

/* A NaN becomes `low`. */
static LLVMValueRef clamp(GpEmit *e, LLVMValueRef x, double low, double high) {
    LLVMValueRef is_above = LLVMBuildFCmp(e->b, LLVMRealOGT, x, number(e, low), "");
    x = LLVMBuildSelect(e->b, is_above, x, number(e, low), "");
    LLVMValueRef is_below = LLVMBuildFCmp(e->b, LLVMRealOLT, x, number(e, high), "");
    return LLVMBuildSelect(e->b, is_below, x, number(e, high), "");
}

/* 2^k for -126 <= k <= 127 */
static LLVMValueRef power_of_two(GpEmit *e, LLVMValueRef k) {
    LLVMValueRef biased = LLVMBuildAdd(e->b, k, gp_emit_i32(e, 127), "");
    LLVMValueRef bits = LLVMBuildShl(e->b, biased, gp_emit_i32(e, 23), "");
    return LLVMBuildBitCast(e->b, bits, f32(e), "");
}

/* The power of two is applied in halves: each is a normal number, and where the result is
** subnormal the second multiplication rounds once. */
static LLVMValueRef emit_exp(GpEmit *e, const ExpRow *row, LLVMValueRef x) {
    LLVMValueRef is_nan = LLVMBuildFCmp(e->b, LLVMRealUNO, x, x, "");
    x = clamp(e, x, row->low, row->high);
    LLVMValueRef turns = LLVMBuildFMul(e->b, x, number(e, row->per), "");
    LLVMValueRef k = gp_emit_intrinsic(e, "llvm.rint", f32(e), &turns, 1);
    LLVMValueRef r = fma_of(e, k, number(e, -row->hi), x);
    if (row->lo != 0.0)
        r = fma_of(e, k, number(e, -row->lo), r);
    LLVMValueRef p = horner(e, row->c, EXP_TERMS, r);
    LLVMValueRef whole = LLVMBuildFPToSI(e->b, k, i32(e), ""); /* -152 to 130: never poison */
    LLVMValueRef half = LLVMBuildAShr(e->b, whole, gp_emit_i32(e, 1), "");
    LLVMValueRef rest = LLVMBuildSub(e->b, whole, half, "");
    p = LLVMBuildFMul(e->b, p, power_of_two(e, half), "");
    p = LLVMBuildFMul(e->b, p, power_of_two(e, rest), "");
    return LLVMBuildSelect(e->b, is_nan, number(e, (double)NAN), p, "");
}

/* x = 2^k * (1 + f), for positive finite x. */
static void split(GpEmit *e, LLVMValueRef x, LLVMValueRef *k, LLVMValueRef *f) {
    LLVMValueRef is_small = LLVMBuildFCmp(e->b, LLVMRealOLT, x, number(e, 0x1p-126), "");
    LLVMValueRef scaled = LLVMBuildFMul(e->b, x, number(e, 0x1p23), "");
    LLVMValueRef normal = LLVMBuildSelect(e->b, is_small, scaled, x, "");
    LLVMValueRef shift = LLVMBuildSelect(e->b, is_small, gp_emit_i32(e, -SUBNORMAL_SHIFT),
                                         gp_emit_i32(e, 0), "");
    LLVMValueRef bits = LLVMBuildBitCast(e->b, normal, i32(e), "");
    LLVMValueRef root_half = gp_emit_i32(e, 0x3f3504f3);
    LLVMValueRef above = LLVMBuildSub(e->b, bits, root_half, "");
    LLVMValueRef exponent = LLVMBuildAShr(e->b, above, gp_emit_i32(e, 23), "");
    LLVMValueRef whole = LLVMBuildShl(e->b, exponent, gp_emit_i32(e, 23), "");
    LLVMValueRef m = LLVMBuildBitCast(e->b, LLVMBuildSub(e->b, bits, whole, ""), f32(e), "");
    *f = LLVMBuildFSub(e->b, m, number(e, 1.0), "");
    *k = LLVMBuildSIToFP(e->b, LLVMBuildAdd(e->b, exponent, shift, ""), f32(e), "");
}

static LLVMValueRef log_specials(GpEmit *e, LLVMValueRef x, LLVMValueRef y) {
    LLVMValueRef zero = number(e, 0.0), infinity = number(e, HUGE_VAL);
    LLVMValueRef is_finite = LLVMBuildFCmp(e->b, LLVMRealOLT, x, infinity, "");
    y = LLVMBuildSelect(e->b, is_finite, y, x, "");
    LLVMValueRef is_zero = LLVMBuildFCmp(e->b, LLVMRealOEQ, x, zero, "");
    y = LLVMBuildSelect(e->b, is_zero, number(e, -HUGE_VAL), y, "");
    LLVMValueRef is_negative = LLVMBuildFCmp(e->b, LLVMRealOLT, x, zero, "");
    return LLVMBuildSelect(e->b, is_negative, number(e, (double)NAN), y, "");
}

/* Small parts are added first; ln(1 + f) = f + rest is never rounded to one number. */
static LLVMValueRef emit_log(GpEmit *e, const LogRow *row, LLVMValueRef x) {
    LLVMValueRef k, f;
    split(e, x, &k, &f);
    LLVMValueRef p = horner(e, ln_terms, LN_TERMS, f);
    p = fma_of(e, p, f, number(e, -0.5));
    LLVMValueRef rest = LLVMBuildFMul(e->b, LLVMBuildFMul(e->b, f, f, ""), p, "");
    LLVMValueRef y = LLVMBuildFMul(e->b, k, number(e, row->step_lo), "");
    if (row->scale_lo != 0.0) {
        y = fma_of(e, rest, number(e, row->scale_lo), y);
        y = fma_of(e, f, number(e, row->scale_lo), y);
    }
    y = fma_of(e, rest, number(e, row->scale), y);
    y = fma_of(e, f, number(e, row->scale), y);
    y = fma_of(e, k, number(e, row->step_hi), y);
    return log_specials(e, x, y);
}

static LLVMValueRef emit_tanh(GpEmit *e, LLVMValueRef x) {
    LLVMValueRef square = LLVMBuildFMul(e->b, x, x, ""), one = number(e, 1.0);
    LLVMValueRef p = horner(e, tanh_row.c, TANH_TERMS, square);
    LLVMValueRef near = fma_of(e, LLVMBuildFMul(e->b, p, square, ""), x, x);
    LLVMValueRef size = gp_emit_intrinsic(e, "llvm.fabs", f32(e), &x, 1);
    LLVMValueRef power = emit_exp(e, &exp_rows[GpOp_Exp], LLVMBuildFAdd(e->b, size, size, ""));
    LLVMValueRef far = LLVMBuildFAdd(e->b, power, one, "");
    far = LLVMBuildFSub(e->b, one, LLVMBuildFDiv(e->b, number(e, 2.0), far, ""), "");
    LLVMValueRef is_near = LLVMBuildFCmp(e->b, LLVMRealOLT, size, number(e, tanh_row.limit), "");
    LLVMValueRef y = LLVMBuildSelect(e->b, is_near, near, far, ""); /* near: 0 for -0 */
    return gp_emit_intrinsic(e, "llvm.copysign", f32(e), (LLVMValueRef[]){y, x}, 2);
}

/* Without the instruction, an fma is a call: then the C library's function is faster. */
static bool has_fma(GpEmit *e) {
    char *features = LLVMGetTargetMachineFeatureString(e->llvm->tm);
    char *triple = LLVMGetTargetMachineTriple(e->llvm->tm);
    bool is_x86 = strncmp(triple, "x86", 3) == 0;
    bool found = !is_x86 || strstr(features, "+fma,") || strstr(features, "+avx512f");
    LLVMDisposeMessage(features);
    LLVMDisposeMessage(triple);
    return found;
}

static bool has_row(GpOp op) {
    return op == GpOp_Tanh || exp_rows[op].per != 0.0 || log_rows[op].scale != 0.0;
}

LLVMValueRef gp_emit_poly(GpEmit *e, GpOp op, LLVMValueRef x) {
    if (!has_row(op) || LLVMTypeOf(x) != f32(e) || !has_fma(e))
        return NULL;
    if (op == GpOp_Tanh)
        return emit_tanh(e, x);
    return exp_rows[op].per != 0.0 ? emit_exp(e, &exp_rows[op], x)
                                   : emit_log(e, &log_rows[op], x);
}
