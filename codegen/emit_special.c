/* f32 functions on the GPU by its special function unit (special.def): 2^f and 1 / f to about one ULP, log2 f to 22 bits
** behind the point, tanh to 11 bits. */
#include "codegen/emit.h"

static const struct {
    const char *intrinsic;
    bool is_overloaded;
    GpOp exact;
} rows[GpOp_count] = {
#define GP_SPECIAL(id, intrinsic, overloaded, exact) [GpOp_##id] = {intrinsic, overloaded, GpOp_##exact},
#include "codegen/special.def"
};

static LLVMTypeRef f32(GpEmit *e) { return LLVMFloatTypeInContext(e->ctx); }
static LLVMValueRef number(GpEmit *e, double v) { return LLVMConstReal(f32(e), v); }

static LLVMValueRef fma_of(GpEmit *e, LLVMValueRef a, double b, LLVMValueRef c) {
    return gp_emit_intrinsic(e, "llvm.fma", f32(e), (LLVMValueRef[]){a, number(e, b), c}, 3);
}

/* e^x = 2^k * 2^f; k = rint(x * log2 e) from -126 to 127, f = x * log2 e - k with log2 e in two
** parts. The sum with 1.5 * 2^23 + 1 leaves k + 127, which is 2^k's exponent, in the low bits.
** Beyond the range of k, f is what makes the result infinity, zero or NaN. */
static LLVMValueRef emit_exp(GpEmit *e, LLVMValueRef x) {
    LLVMValueRef part = fma_of(e, x, 0x1.71547652b82fep+0 / 253, number(e, 126.0 / 253));
    part = gp_emit_intrinsic(e, "llvm.nvvm.saturate.f", NULL, &part, 1);
    LLVMValueRef shifted = fma_of(e, part, 253.0, number(e, 12582913.0));
    LLVMValueRef k = LLVMBuildFSub(e->b, shifted, number(e, 12583039.0), "");
    LLVMValueRef f = fma_of(e, x, 0x1.715476p+0, LLVMBuildFNeg(e->b, k, ""));
    f = fma_of(e, x, 0x1.4ae0cp-26, f);
    LLVMValueRef bits = LLVMBuildBitCast(e->b, shifted, LLVMInt32TypeInContext(e->ctx), "");
    LLVMValueRef power = LLVMBuildShl(e->b, bits, gp_emit_i32(e, 23), "");
    power = LLVMBuildBitCast(e->b, power, f32(e), "");
    return LLVMBuildFMul(e->b, gp_emit_special(e, GpOp_Exp2Flush, f), power, "");
}

bool gp_special_computes(GpOp op) { return rows[op].intrinsic != NULL; }

GpOp gp_special_exact(GpOp op) { return gp_special_computes(op) ? rows[op].exact : op; }

LLVMValueRef gp_emit_special(GpEmit *e, GpOp op, LLVMValueRef x) {
    if (LLVMTypeOf(x) != f32(e) || !gp_special_computes(op))
        return NULL;
    if (op == GpOp_Exp)
        return emit_exp(e, x);
    LLVMValueRef y = gp_emit_intrinsic(e, rows[op].intrinsic, rows[op].is_overloaded ? f32(e) : NULL, &x, 1);
    LLVMSetFastMathFlags(y, LLVMFastMathApproxFunc);
    return y;
}
