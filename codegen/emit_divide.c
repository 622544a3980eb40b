/* Division of f32 on a GPU without a branch for each element.
**
** What the hardware has for it branches where numbers are out of its range, so that divisions follow each
** other. Here the quotients of several elements are found side by side, by Newton's method and two
** corrections (Markstein, "Computation of elementary functions on the IBM RISC System/6000", 1990), which
** round them correctly in the range that is asked for. One branch for all of them, which is rarely taken,
** divides the others. Zero divided, and division by infinity, are zero without it.
**
** Of one divisor for all, as the sum of a row is, the reciprocal and the range that it leaves to the dividends are
** found once: nine instructions for each are left, three of them for the range. */
#include "codegen/emit.h"

typedef struct Quotient {
    LLVMValueRef value, is_exact;
} Quotient;

static LLVMTypeRef f32(GpEmit *e) { return LLVMFloatTypeInContext(e->ctx); }
static LLVMValueRef number(GpEmit *e, double v) { return LLVMConstReal(f32(e), v); }

static LLVMValueRef fma_of(GpEmit *e, LLVMValueRef a, LLVMValueRef b, LLVMValueRef c) {
    return gp_emit_intrinsic(e, "llvm.fma", f32(e), (LLVMValueRef[]){a, b, c}, 3);
}

static LLVMValueRef compare(GpEmit *e, LLVMRealPredicate pred, LLVMValueRef x, double y) {
    return LLVMBuildFCmp(e->b, pred, x, number(e, y), "");
}

static Quotient find_quotient(GpEmit *e, LLVMValueRef a, LLVMValueRef b) {
    LLVMValueRef most = gp_emit_intrinsic(e, "llvm.minnum", f32(e), (LLVMValueRef[]){b, number(e, 0x1.fffffep+127)}, 2);
    most = gp_emit_intrinsic(e, "llvm.maxnum", f32(e), (LLVMValueRef[]){most, number(e, -0x1.fffffep+127)}, 2);
    LLVMValueRef minus = LLVMBuildFNeg(e->b, most, "");
    LLVMValueRef r = gp_emit_intrinsic(e, "llvm.nvvm.rcp.approx.ftz.f", NULL, &most, 1);
    r = fma_of(e, r, fma_of(e, minus, r, number(e, 1.0)), r);
    LLVMValueRef first = LLVMBuildFMul(e->b, a, r, "");
    LLVMValueRef q = fma_of(e, fma_of(e, minus, first, a), r, first);
    q = fma_of(e, fma_of(e, minus, q, a), r, q);
    LLVMValueRef size_a = gp_emit_intrinsic(e, "llvm.fabs", f32(e), &a, 1);
    LLVMValueRef size_b = gp_emit_intrinsic(e, "llvm.fabs", f32(e), &b, 1);
    LLVMValueRef size_q = gp_emit_intrinsic(e, "llvm.fabs", f32(e), &q, 1);
    LLVMValueRef is_normal = compare(e, LLVMRealOGE, size_q, 0x1p-125);
    LLVMValueRef is_zero = LLVMBuildOr(e->b, compare(e, LLVMRealOEQ, a, 0.0),
                                       compare(e, LLVMRealOGT, size_b, 0x1.fffffep+127), "");
    LLVMValueRef ok = LLVMBuildAnd(e->b, is_normal, compare(e, LLVMRealOGE, size_a, 0x1p-90), "");
    ok = LLVMBuildOr(e->b, ok, is_zero, "");
    ok = LLVMBuildAnd(e->b, ok, compare(e, LLVMRealOLE, size_a, 0x1p+27), "");
    ok = LLVMBuildAnd(e->b, ok, compare(e, LLVMRealOGE, size_b, 0x1p-98), "");
    return (Quotient){LLVMBuildSelect(e->b, is_normal, q, first, ""), ok};
}

/* Bits without the sign, doubled: in their order whole numbers are in the order of the sizes. */
static LLVMValueRef size_bits(GpEmit *e, LLVMValueRef x) {
    LLVMTypeRef i32 = LLVMInt32TypeInContext(e->ctx);
    return LLVMBuildShl(e->b, LLVMBuildBitCast(e->b, x, i32, ""), gp_emit_i32(e, 1), "");
}

/* Of a divisor whose fraction is all ones Newton's step may miss the nearest reciprocal. */
static LLVMValueRef has_sure_reciprocal(GpEmit *e, LLVMValueRef b) {
    LLVMValueRef ones = gp_emit_i32(e, 0x7fffff), bits = LLVMBuildBitCast(e->b, b, LLVMTypeOf(ones), "");
    return LLVMBuildICmp(e->b, LLVMIntNE, LLVMBuildAnd(e->b, bits, ones, ""), ones, "");
}

/* What is the same for every dividend. */
typedef struct Divisor {
    LLVMValueRef minus, reciprocal, least, is_ok; /* least: size_bits of the least dividend, less one */
} Divisor;

static Divisor open_divisor(GpEmit *e, LLVMValueRef b) {
    Divisor d = {.minus = LLVMBuildFNeg(e->b, b, "")};
    LLVMValueRef size = gp_emit_intrinsic(e, "llvm.fabs", f32(e), &b, 1), r;
    r = gp_emit_intrinsic(e, "llvm.nvvm.rcp.approx.ftz.f", NULL, &b, 1);
    d.reciprocal = fma_of(e, r, fma_of(e, d.minus, r, number(e, 1.0)), r);
    LLVMValueRef least = LLVMBuildFMul(e->b, size, number(e, 0x1p-124), "");
    least = gp_emit_intrinsic(e, "llvm.maxnum", f32(e), (LLVMValueRef[]){least, number(e, 0x1p-90)}, 2);
    d.least = LLVMBuildSub(e->b, size_bits(e, least), gp_emit_i32(e, 1), "");
    d.is_ok = LLVMBuildAnd(e->b, compare(e, LLVMRealOGE, size, 0x1p-98), compare(e, LLVMRealOLE, size, 0x1p+98), "");
    d.is_ok = LLVMBuildAnd(e->b, d.is_ok, has_sure_reciprocal(e, b), "");
    return d;
}

/* A quotient of zero has its sign from the first product alone. */
static Quotient divide_by(GpEmit *e, const Divisor *d, LLVMValueRef a) {
    LLVMValueRef r = d->reciprocal, first = LLVMBuildFMul(e->b, a, r, "");
    LLVMValueRef q = fma_of(e, fma_of(e, d->minus, first, a), r, first);
    q = fma_of(e, fma_of(e, d->minus, q, a), r, q);
    q = gp_emit_intrinsic(e, "llvm.copysign", f32(e), (LLVMValueRef[]){q, first}, 2);
    LLVMValueRef size = gp_emit_intrinsic(e, "llvm.fabs", f32(e), &a, 1);
    LLVMValueRef above = LLVMBuildSub(e->b, size_bits(e, a), gp_emit_i32(e, 1), ""); /* zero is above all */
    LLVMValueRef ok = LLVMBuildAnd(e->b, d->is_ok, LLVMBuildICmp(e->b, LLVMIntUGE, above, d->least, ""), "");
    return (Quotient){q, LLVMBuildAnd(e->b, ok, compare(e, LLVMRealOLE, size, 0x1p+27), "")};
}

static LLVMValueRef join(GpEmit *e, LLVMValueRef x, LLVMBasicBlockRef from_x, LLVMValueRef y,
                         LLVMBasicBlockRef from_y) {
    LLVMValueRef v = LLVMBuildPhi(e->b, f32(e), "");
    LLVMAddIncoming(v, (LLVMValueRef[]){x, y}, (LLVMBasicBlockRef[]){from_x, from_y}, 2);
    return v;
}

static LLVMValueRef divide_if_needed(GpEmit *e, const Quotient *q, LLVMValueRef a, LLVMValueRef b) {
    LLVMBasicBlockRef from = LLVMGetInsertBlock(e->b);
    LLVMBasicBlockRef divide = gp_emit_block(e, "divide"), divided = gp_emit_block(e, "divided");
    LLVMBuildCondBr(e->b, q->is_exact, divided, divide);
    gp_emit_at(e, divide);
    LLVMValueRef v = LLVMBuildFDiv(e->b, a, b, "");
    LLVMBuildBr(e->b, divided);
    gp_emit_at(e, divided);
    return join(e, q->value, from, v, divide);
}

/* One branch for all quotients, where one of them was not found. */
static void finish(GpEmit *e, const Quotient *q, LLVMValueRef const *a, LLVMValueRef const *b, LLVMValueRef *out,
                   uint32_t count) {
    LLVMValueRef all = gp_emit_bool(e, true);
    for (uint32_t i = 0; i < count; i++)
        all = LLVMBuildAnd(e->b, all, q[i].is_exact, "");
    LLVMBasicBlockRef from = LLVMGetInsertBlock(e->b);
    LLVMBasicBlockRef rest = gp_emit_block(e, "rest"), done = gp_emit_block(e, "done");
    gp_emit_likely(e, LLVMBuildCondBr(e->b, all, done, rest));
    gp_emit_at(e, rest);
    for (uint32_t i = 0; i < count; i++)
        out[i] = divide_if_needed(e, &q[i], a[i], b[i]);
    rest = LLVMGetInsertBlock(e->b);
    LLVMBuildBr(e->b, done);
    gp_emit_at(e, done);
    for (uint32_t i = 0; i < count; i++)
        out[i] = join(e, q[i].value, from, out[i], rest);
}

void gp_emit_divisions(GpEmit *e, LLVMValueRef const *a, LLVMValueRef const *b, LLVMValueRef *out, uint32_t count) {
    Quotient *q = GP_NEW_ARRAY(e->arena, Quotient, count);
    bool is_one = true;
    for (uint32_t i = 1; i < count; i++)
        is_one &= b[i] == b[0];
    Divisor d = {.is_ok = NULL};
    if (is_one)
        d = open_divisor(e, b[0]);
    for (uint32_t i = 0; i < count; i++)
        q[i] = is_one ? divide_by(e, &d, a[i]) : find_quotient(e, a[i], b[i]);
    finish(e, q, a, b, out, count);
}
