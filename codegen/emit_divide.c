/* Division of f32 on a GPU without a branch for each element.
**
** What the hardware has for it branches where numbers are out of its range, so that divisions follow each
** other. Here the quotients of several elements are found side by side: q = a r + (a - b a r) r, where r is the
** reciprocal of b to the nearest, one step of Newton's behind the special function unit's. One branch for all of
** them, which is rarely taken, divides as the hardware does.
**
** That one correction rounds a quotient correctly: a r is at most 1.5 units of the quotient's last place off, b r at
** most 2^-24 from 1, so that what is rounded is less than 5 / (2 B) units from a / b, with b = B 2^k, B of 24 bits (3 for
** the reciprocal, 2 where a - b a r has 25 bits). A quotient as near as that to the middle of two numbers is |N| / (2 B)
** units from it, with an integer N; the pairs of a and b for N up to 16 are 1.2e8, and were all tried. (Markstein,
** "Computation of elementary functions on the IBM RISC System/6000", 1990, has the theorem for a r within one unit.)
** Newton's step gives the nearest reciprocal from one within a unit of 1 / b, but for b = 2 - 2^-23, of which the
** special function unit's is the nearest.
**
** The branch is taken
** - for a dividend so small that a - b q is not exact, or a quotient that has not 24 bits, but not for zero: bits
**   without the sign, doubled, less one, are in the order of sizes with zero above all;
** - where the reciprocal of the one divisor has not 24 bits;
** - for a quotient that is NaN, which infinities, NaN, divisors near to zero and what overflows on the way become. */
#include "codegen/emit.h"

#include <math.h>

static LLVMTypeRef f32(GpEmit *e) { return LLVMFloatTypeInContext(e->ctx); }
static LLVMValueRef number(GpEmit *e, double v) { return LLVMConstReal(f32(e), v); }

static LLVMValueRef fma_of(GpEmit *e, LLVMValueRef a, LLVMValueRef b, LLVMValueRef c) {
    return gp_emit_intrinsic(e, "llvm.fma", f32(e), (LLVMValueRef[]){a, b, c}, 3);
}

static LLVMValueRef compare(GpEmit *e, LLVMRealPredicate pred, LLVMValueRef x, double y) {
    return LLVMBuildFCmp(e->b, pred, x, number(e, y), "");
}

static LLVMValueRef size_of(GpEmit *e, LLVMValueRef x) { return gp_emit_intrinsic(e, "llvm.fabs", f32(e), &x, 1); }

/* Bits without the sign, doubled: in their order whole numbers are in the order of the sizes. */
static LLVMValueRef size_bits(GpEmit *e, LLVMValueRef x) {
    LLVMTypeRef i32 = LLVMInt32TypeInContext(e->ctx);
    return LLVMBuildShl(e->b, LLVMBuildBitCast(e->b, x, i32, ""), gp_emit_i32(e, 1), "");
}

static bool is_number(LLVMValueRef x, double *v) {
    LLVMBool is_inexact;
    if (!LLVMIsAConstantFP(x))
        return false;
    *v = LLVMConstRealGetDouble(x, &is_inexact);
    return true;
}

/* Of division by it LLVM makes a product. */
static bool is_power_of_two(LLVMValueRef b) {
    double v;
    int exponent;
    return is_number(b, &v) && fabs(frexp(v, &exponent)) == 0.5;
}

/* What the quotients of a batch have to pass in common. */
typedef struct Batch {
    LLVMValueRef least; /* of size_bits less one */
    LLVMValueRef ok;
} Batch;

static void need(GpEmit *e, Batch *batch, LLVMValueRef ok) { batch->ok = LLVMBuildAnd(e->b, batch->ok, ok, ""); }

static void need_size(GpEmit *e, Batch *batch, LLVMValueRef bits) {
    LLVMTypeRef i32 = LLVMTypeOf(bits);
    batch->least = gp_emit_intrinsic(e, "llvm.umin", i32, (LLVMValueRef[]){batch->least, bits}, 2);
}

static LLVMValueRef invert(GpEmit *e, LLVMValueRef b) {
    LLVMValueRef r = gp_emit_intrinsic(e, "llvm.nvvm.rcp.approx.ftz.f", NULL, &b, 1);
    return fma_of(e, r, fma_of(e, LLVMBuildFNeg(e->b, b, ""), r, number(e, 1.0)), r);
}

/* For a zero of a positive divisor the correction is minus zero, which leaves the first product its sign. */
static LLVMValueRef correct(GpEmit *e, LLVMValueRef first, LLVMValueRef a, LLVMValueRef b, LLVMValueRef r) {
    LLVMValueRef off = fma_of(e, b, first, LLVMBuildFNeg(e->b, a, ""));
    return fma_of(e, off, LLVMBuildFNeg(e->b, r, ""), first);
}

/* One divisor: its reciprocal, and the least dividend, are found once. */
static void divide_by(GpEmit *e, Batch *batch, LLVMValueRef const *a, LLVMValueRef b, LLVMValueRef *q, uint32_t count) {
    LLVMValueRef r = invert(e, b), size = size_of(e, b), one = gp_emit_i32(e, 1);
    LLVMValueRef least = LLVMBuildFMul(e->b, size, number(e, 0x1p-124), "");
    least = gp_emit_intrinsic(e, "llvm.maxnum", f32(e), (LLVMValueRef[]){least, number(e, 0x1p-90)}, 2);
    LLVMValueRef below = LLVMBuildZExt(e->b, compare(e, LLVMRealOGT, b, 0.0), LLVMTypeOf(one), "");
    for (uint32_t i = 0; i < count; i++) {
        need_size(e, batch, LLVMBuildSub(e->b, size_bits(e, a[i]), below, ""));
        q[i] = correct(e, LLVMBuildFMul(e->b, a[i], r, ""), a[i], b, r);
    }
    least = LLVMBuildSub(e->b, size_bits(e, least), one, "");
    need(e, batch, LLVMBuildICmp(e->b, LLVMIntUGE, batch->least, least, ""));
    need(e, batch, compare(e, LLVMRealOLE, size, 0x1p+125));
}

/* Zero, or 2^-94 at least. */
static void need_normal(GpEmit *e, Batch *batch, LLVMValueRef q) {
    need_size(e, batch, LLVMBuildSub(e->b, size_bits(e, q), gp_emit_i32(e, 1), ""));
}

/* The quotient by b 2^-32, whose reciprocal has 24 bits also where that of b has not: 1 + e^-x has all sizes up to
** infinity, of which the reciprocal is zero. */
static LLVMValueRef divide_shifted(GpEmit *e, Batch *batch, LLVMValueRef a, LLVMValueRef b) {
    double v = 0;
    bool is_known = is_number(a, &v);
    LLVMValueRef most[] = {LLVMBuildFMul(e->b, b, number(e, 0x1p-32), ""), number(e, 0x1.fffffep+127)};
    b = gp_emit_intrinsic(e, "llvm.minimum", f32(e), most, 2);
    LLVMValueRef r = invert(e, b), first;
    if (is_known && v == 1.0)
        return r;
    first = LLVMBuildFMul(e->b, a, r, "");
    r = correct(e, first, a, b, r);
    if (!is_known)
        need_normal(e, batch, a);
    if (!is_known || v == 0)
        r = gp_emit_intrinsic(e, "llvm.copysign", f32(e), (LLVMValueRef[]){r, first}, 2);
    return r;
}

static void divide_each(GpEmit *e, Batch *batch, LLVMValueRef const *a, LLVMValueRef const *b, LLVMValueRef *q,
                        uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
        q[i] = divide_shifted(e, batch, a[i], b[i]);
        need_normal(e, batch, q[i]);
        q[i] = LLVMBuildFMul(e->b, q[i], number(e, 0x1p-32), "");
    }
    LLVMValueRef least = LLVMBuildSub(e->b, size_bits(e, number(e, 0x1p-94)), gp_emit_i32(e, 1), "");
    need(e, batch, LLVMBuildICmp(e->b, LLVMIntUGE, batch->least, least, ""));
}

static LLVMValueRef join(GpEmit *e, LLVMValueRef x, LLVMBasicBlockRef from_x, LLVMValueRef y,
                         LLVMBasicBlockRef from_y) {
    LLVMValueRef v = LLVMBuildPhi(e->b, f32(e), "");
    LLVMAddIncoming(v, (LLVMValueRef[]){x, y}, (LLVMBasicBlockRef[]){from_x, from_y}, 2);
    return v;
}

static void divide_exactly(GpEmit *e, LLVMValueRef const *a, LLVMValueRef const *b, LLVMValueRef *q, uint32_t count) {
    for (uint32_t i = 0; i < count; i++)
        q[i] = LLVMBuildFDiv(e->b, a[i], b[i], "");
}

/* The quotients q where all of them pass. */
static void finish(GpEmit *e, const Batch *batch, LLVMValueRef const *a, LLVMValueRef const *b, LLVMValueRef *q,
                   uint32_t count) {
    LLVMValueRef *exact = GP_NEW_ARRAY(e->arena, LLVMValueRef, count);
    LLVMBasicBlockRef from = LLVMGetInsertBlock(e->b);
    LLVMBasicBlockRef divide = gp_emit_block(e, "divide"), divided = gp_emit_block(e, "divided");
    gp_emit_likely(e, LLVMBuildCondBr(e->b, batch->ok, divided, divide));
    gp_emit_at(e, divide);
    divide_exactly(e, a, b, exact, count);
    LLVMBuildBr(e->b, divided);
    gp_emit_at(e, divided);
    for (uint32_t i = 0; i < count; i++)
        q[i] = join(e, q[i], from, exact[i], divide);
}

void gp_emit_divisions(GpEmit *e, LLVMValueRef const *a, LLVMValueRef const *b, LLVMValueRef *out, uint32_t count) {
    Batch batch = {.least = gp_emit_i32(e, -1), .ok = gp_emit_bool(e, true)};
    bool is_one = true;
    for (uint32_t i = 1; i < count; i++)
        is_one &= b[i] == b[0];
    if (is_one && is_power_of_two(b[0])) {
        divide_exactly(e, a, b, out, count);
        return;
    }
    if (is_one)
        divide_by(e, &batch, a, b[0], out, count);
    else
        divide_each(e, &batch, a, b, out, count);
    for (uint32_t i = 0; i < count; i += 2)
        need(e, &batch, LLVMBuildFCmp(e->b, LLVMRealORD, out[i], out[GP_MIN(i + 1, count - 1)], ""));
    finish(e, &batch, a, b, out, count);
}
