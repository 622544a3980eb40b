/* Element types to and from the form in which arithmetic is done, and casts between them.
**
** Narrow floats (f16, bf16, tf32, f8) are computed in f32 and rounded to nearest even after
** every operation. A wider source goes through a value rounded to odd, so that rounding twice
** gives what rounding once would (Boldo and Melquiond, 2008). */
#include "codegen/emit.h"

static LLVMTypeRef i32(GpEmit *e) { return LLVMInt32TypeInContext(e->ctx); }
static LLVMTypeRef f32(GpEmit *e) { return LLVMFloatTypeInContext(e->ctx); }
static LLVMTypeRef f64(GpEmit *e) { return LLVMDoubleTypeInContext(e->ctx); }

static LLVMValueRef u32(GpEmit *e, uint32_t v) { return LLVMConstInt(i32(e), v, false); }

LLVMValueRef gp_emit_scalar(GpEmit *e, GpElem elem, GpScalar value) {
    LLVMTypeRef type = gp_emit_type(e, elem);
    value.elem = elem;
    if (elem == GpElem_F64 || elem == GpElem_F32 || elem == GpElem_TF32)
        return LLVMConstReal(type, gp_scalar_wrap(value).f);
    uint8_t bytes[8] = {0};
    gp_scalar_store(value, bytes);
    uint64_t bits = 0;
    memcpy(&bits, bytes, sizeof bits);
    return LLVMConstInt(type, bits, false);
}

/* A conversion of core/, found in the JIT's symbol table (cpu.c). */
static LLVMValueRef call_core(GpEmit *e, const char *name, LLVMTypeRef result, LLVMValueRef x) {
    LLVMTypeRef param = LLVMTypeOf(x);
    LLVMTypeRef type = LLVMFunctionType(result, &param, 1, false);
    LLVMValueRef fn = LLVMGetNamedFunction(e->module, name);
    if (!fn)
        fn = LLVMAddFunction(e->module, name, type);
    return LLVMBuildCall2(e->b, type, fn, &x, 1, "");
}

static LLVMValueRef half_to_float(GpEmit *e, LLVMValueRef bits) {
    LLVMValueRef half = LLVMBuildBitCast(e->b, bits, LLVMHalfTypeInContext(e->ctx), "");
    return LLVMBuildFPExt(e->b, half, f32(e), "");
}

/* f8e4m3fn: conversion instructions on the GPU, core/'s functions on the CPU. */
static LLVMValueRef e4m3_to_float(GpEmit *e, LLVMValueRef v) {
    if (!e->is_gpu)
        return call_core(e, "gp_f32_from_f8e4m3", f32(e), LLVMBuildZExt(e->b, v, i32(e), ""));
    LLVMValueRef pair = LLVMBuildZExt(e->b, v, LLVMInt16TypeInContext(e->ctx), "");
    LLVMValueRef half2 = gp_emit_intrinsic(e, "llvm.nvvm.e4m3x2.to.f16x2.rn", NULL, &pair, 1);
    LLVMValueRef half = LLVMBuildExtractElement(e->b, half2, u32(e, 0), "");
    return LLVMBuildFPExt(e->b, half, f32(e), "");
}

static LLVMValueRef e4m3_from_float(GpEmit *e, LLVMValueRef v) {
    LLVMTypeRef i8 = LLVMInt8TypeInContext(e->ctx);
    if (!e->is_gpu)
        return call_core(e, "gp_f8e4m3_from_f32", i8, v);
    LLVMValueRef args[] = {LLVMConstReal(f32(e), 0.0), v};
    LLVMValueRef pair = gp_emit_intrinsic(e, "llvm.nvvm.ff.to.e4m3x2.rn", NULL, args, 2);
    return LLVMBuildTrunc(e->b, pair, i8, "");
}

/* f8e5m2 is the upper half of an f16. */
static LLVMValueRef e5m2_to_float(GpEmit *e, LLVMValueRef v) {
    LLVMTypeRef i16 = LLVMInt16TypeInContext(e->ctx);
    LLVMValueRef wide = LLVMBuildZExt(e->b, v, i16, "");
    return half_to_float(e, LLVMBuildShl(e->b, wide, LLVMConstInt(i16, 8, false), ""));
}

static LLVMValueRef as_float(GpEmit *e, LLVMValueRef bits) {
    return LLVMBuildBitCast(e->b, bits, f32(e), "");
}

static LLVMValueRef as_byte(GpEmit *e, LLVMValueRef v) {
    return LLVMBuildTrunc(e->b, v, LLVMInt8TypeInContext(e->ctx), "");
}

/* f8e8m0fnu is the exponent of an f32; 0 stands for half the least normal one. */
static LLVMValueRef e8m0_to_float(GpEmit *e, LLVMValueRef v) {
    LLVMValueRef code = LLVMBuildZExt(e->b, v, i32(e), "");
    LLVMValueRef is_least = LLVMBuildICmp(e->b, LLVMIntEQ, code, u32(e, 0), "");
    LLVMValueRef is_nan = LLVMBuildICmp(e->b, LLVMIntEQ, code, u32(e, 0xff), "");
    LLVMValueRef bits = LLVMBuildShl(e->b, code, u32(e, 23), "");
    bits = LLVMBuildSelect(e->b, is_least, u32(e, 0x00400000), bits, "");
    return as_float(e, LLVMBuildSelect(e->b, is_nan, u32(e, 0x7fc00000), bits, ""));
}

/* Up from the middle of two powers of two, which goes to the even code. */
static LLVMValueRef e8m0_from_float(GpEmit *e, LLVMValueRef v) {
    LLVMValueRef bits = LLVMBuildBitCast(e->b, v, i32(e), "");
    LLVMValueRef code = LLVMBuildLShr(e->b, bits, u32(e, 23), "");
    LLVMValueRef rest = LLVMBuildAnd(e->b, bits, u32(e, 0x7fffff), "");
    LLVMValueRef odd = LLVMBuildAnd(e->b, code, u32(e, 1), "");
    LLVMValueRef middle = LLVMBuildSub(e->b, u32(e, 0x400000), odd, "");
    LLVMValueRef is_least = LLVMBuildICmp(e->b, LLVMIntEQ, code, u32(e, 0), "");
    middle = LLVMBuildSelect(e->b, is_least, u32(e, 0x600000), middle, "");
    LLVMValueRef up = LLVMBuildICmp(e->b, LLVMIntUGT, rest, middle, "");
    code = LLVMBuildAdd(e->b, code, LLVMBuildZExt(e->b, up, i32(e), ""), "");
    LLVMValueRef is_over = LLVMBuildICmp(e->b, LLVMIntUGT, code, u32(e, 254), "");
    code = LLVMBuildSelect(e->b, is_over, u32(e, 254), code, "");
    LLVMValueRef is_none = LLVMBuildFCmp(e->b, LLVMRealULT, v, LLVMConstReal(f32(e), 0.0), "");
    LLVMValueRef is_zero = LLVMBuildFCmp(e->b, LLVMRealOEQ, v, LLVMConstReal(f32(e), 0.0), "");
    code = LLVMBuildSelect(e->b, is_zero, u32(e, 0), code, "");
    return as_byte(e, LLVMBuildSelect(e->b, is_none, u32(e, 0xff), code, ""));
}

/* f8e5m3fnu as the top of an f32 with another bias; all ones is NaN. */
static LLVMValueRef e5m3_to_float(GpEmit *e, LLVMValueRef v) {
    LLVMValueRef code = LLVMBuildZExt(e->b, v, i32(e), "");
    LLVMValueRef is_nan = LLVMBuildICmp(e->b, LLVMIntEQ, code, u32(e, 0xff), "");
    LLVMValueRef value = as_float(e, LLVMBuildShl(e->b, code, u32(e, 20), ""));
    value = LLVMBuildFMul(e->b, value, LLVMConstReal(f32(e), 0x1p112), "");
    LLVMValueRef bits = LLVMBuildBitCast(e->b, value, i32(e), "");
    return as_float(e, LLVMBuildSelect(e->b, is_nan, u32(e, 0x7fc00000), bits, ""));
}

/* f4e2m1fn: its magnitude as the top of an f32 with another bias. */
static LLVMValueRef e2m1_to_float(GpEmit *e, LLVMValueRef v) {
    LLVMValueRef code = LLVMBuildZExt(e->b, v, i32(e), "");
    LLVMValueRef magnitude = LLVMBuildAnd(e->b, code, u32(e, 7), "");
    magnitude = as_float(e, LLVMBuildShl(e->b, magnitude, u32(e, 22), ""));
    magnitude = LLVMBuildFMul(e->b, magnitude, LLVMConstReal(f32(e), 0x1p126), "");
    LLVMValueRef sign = LLVMBuildAnd(e->b, code, u32(e, 8), "");
    sign = LLVMBuildShl(e->b, sign, u32(e, 28), "");
    LLVMValueRef bits = LLVMBuildBitCast(e->b, magnitude, i32(e), "");
    return as_float(e, LLVMBuildOr(e->b, bits, sign, ""));
}

/* How many of the middles between its numbers the magnitude is past; a tie goes to the even one. */
static LLVMValueRef e2m1_from_float(GpEmit *e, LLVMValueRef v) {
    static const double middles[] = {0.25, 0.75, 1.25, 1.75, 2.5, 3.5, 5};
    LLVMValueRef magnitude = gp_emit_intrinsic(e, "llvm.fabs", f32(e), &v, 1), code = u32(e, 0);
    for (unsigned i = 0; i < GP_COUNT(middles); i++) {
        LLVMRealPredicate past = i % 2 ? LLVMRealUGE : LLVMRealUGT;
        LLVMValueRef middle = LLVMConstReal(f32(e), middles[i]);
        LLVMValueRef is_past = LLVMBuildFCmp(e->b, past, magnitude, middle, "");
        code = LLVMBuildAdd(e->b, code, LLVMBuildZExt(e->b, is_past, i32(e), ""), "");
    }
    LLVMValueRef bits = LLVMBuildBitCast(e->b, v, i32(e), "");
    LLVMValueRef sign = LLVMBuildAnd(e->b, LLVMBuildLShr(e->b, bits, u32(e, 28), ""), u32(e, 8), "");
    LLVMValueRef is_nan = LLVMBuildFCmp(e->b, LLVMRealUNO, v, v, "");
    sign = LLVMBuildSelect(e->b, is_nan, u32(e, 0), sign, "");
    return as_byte(e, LLVMBuildOr(e->b, code, sign, ""));
}

/* Rounds the bits of a float to nearest even, dropping the lowest `drop`, which come out zero.
** NaN goes through with its quiet bit set. */
static LLVMValueRef round_bits(GpEmit *e, LLVMValueRef bits, LLVMValueRef is_nan, uint32_t drop,
                               uint32_t quiet_bit) {
    LLVMTypeRef type = LLVMTypeOf(bits);
    LLVMValueRef one = LLVMConstInt(type, 1, false);
    LLVMValueRef half = LLVMConstInt(type, (1u << (drop - 1)) - 1, false);
    LLVMValueRef mask = LLVMConstInt(type, ~(uint64_t)((1u << drop) - 1), false);
    LLVMValueRef last = LLVMBuildLShr(e->b, bits, LLVMConstInt(type, drop, false), "");
    LLVMValueRef odd = LLVMBuildAnd(e->b, last, one, "");
    LLVMValueRef rounded = LLVMBuildAdd(e->b, bits, LLVMBuildAdd(e->b, odd, half, ""), "");
    LLVMValueRef quiet = LLVMBuildOr(e->b, bits, LLVMConstInt(type, quiet_bit, false), "");
    LLVMValueRef out = LLVMBuildSelect(e->b, is_nan, quiet, rounded, "");
    return LLVMBuildAnd(e->b, out, mask, "");
}

static LLVMValueRef round_f32(GpEmit *e, LLVMValueRef v, uint32_t drop) {
    LLVMValueRef bits = LLVMBuildBitCast(e->b, v, i32(e), "");
    return round_bits(e, bits, LLVMBuildFCmp(e->b, LLVMRealUNO, v, v, ""), drop, 1u << 22);
}

/* The bits of `wide` in a narrower float type, rounded to odd: toward zero, then the last bit set
** when inexact. */
static LLVMValueRef narrow_by_odd(GpEmit *e, LLVMValueRef wide, LLVMTypeRef type,
                                  LLVMTypeRef bits_type) {
    LLVMTypeRef wide_type = LLVMTypeOf(wide);
    LLVMValueRef f = LLVMBuildFPTrunc(e->b, wide, type, "");
    LLVMValueRef back = LLVMBuildFPExt(e->b, f, wide_type, "");
    LLVMValueRef inexact = LLVMBuildFCmp(e->b, LLVMRealONE, back, wide, "");
    LLVMValueRef over =
        LLVMBuildFCmp(e->b, LLVMRealOGT, gp_emit_intrinsic(e, "llvm.fabs", wide_type, &back, 1),
                      gp_emit_intrinsic(e, "llvm.fabs", wide_type, &wide, 1), "");
    LLVMValueRef bits = LLVMBuildBitCast(e->b, f, bits_type, "");
    LLVMValueRef down = LLVMBuildSub(e->b, bits, LLVMBuildZExt(e->b, over, bits_type, ""), "");
    LLVMValueRef odd = LLVMBuildOr(e->b, down, LLVMConstInt(bits_type, 1, false), "");
    return LLVMBuildSelect(e->b, inexact, odd, bits, "");
}

static LLVMValueRef f32_by_odd(GpEmit *e, LLVMValueRef d) {
    return LLVMBuildBitCast(e->b, narrow_by_odd(e, d, f32(e), i32(e)), f32(e), "");
}

static LLVMValueRef e5m2_from_float(GpEmit *e, LLVMValueRef v) {
    LLVMTypeRef i16 = LLVMInt16TypeInContext(e->ctx);
    LLVMValueRef bits = narrow_by_odd(e, v, LLVMHalfTypeInContext(e->ctx), i16);
    bits = round_bits(e, bits, LLVMBuildFCmp(e->b, LLVMRealUNO, v, v, ""), 8, 1u << 9);
    bits = LLVMBuildLShr(e->b, bits, LLVMConstInt(i16, 8, false), "");
    return LLVMBuildTrunc(e->b, bits, LLVMInt8TypeInContext(e->ctx), "");
}

/* f8e5m3fnu is the upper part of an f16, whose greatest numbers it has twice as great: those are
** halved. */
static LLVMValueRef e5m3_from_float(GpEmit *e, LLVMValueRef v) {
    LLVMTypeRef i16 = LLVMInt16TypeInContext(e->ctx);
    LLVMValueRef zero = LLVMConstReal(f32(e), 0.0), half = LLVMConstReal(f32(e), 0.5);
    LLVMValueRef is_none = LLVMBuildFCmp(e->b, LLVMRealULT, v, zero, "");
    LLVMValueRef x = gp_emit_intrinsic(e, "llvm.fabs", f32(e), &v, 1);
    LLVMValueRef is_great = LLVMBuildFCmp(e->b, LLVMRealOGE, x, LLVMConstReal(f32(e), 32768.0), "");
    x = LLVMBuildSelect(e->b, is_great, LLVMBuildFMul(e->b, x, half, ""), x, "");
    LLVMValueRef bits = narrow_by_odd(e, x, LLVMHalfTypeInContext(e->ctx), i16);
    bits = round_bits(e, bits, is_none, 7, 1u << 9);
    LLVMValueRef code = LLVMBuildZExt(e->b, LLVMBuildLShr(e->b, bits, LLVMConstInt(i16, 7, false), ""), i32(e), "");
    code = LLVMBuildSelect(e->b, is_great, LLVMBuildAdd(e->b, code, u32(e, 8), ""), code, "");
    LLVMValueRef is_over = LLVMBuildICmp(e->b, LLVMIntUGT, code, u32(e, 254), "");
    code = LLVMBuildSelect(e->b, is_over, u32(e, 254), code, "");
    return as_byte(e, LLVMBuildSelect(e->b, is_none, u32(e, 0xff), code, ""));
}

LLVMValueRef gp_emit_to_float(GpEmit *e, GpElem elem, LLVMValueRef v) {
    if (elem == GpElem_F64 || elem == GpElem_F32 || elem == GpElem_TF32)
        return v;
    if (elem == GpElem_F16)
        return half_to_float(e, v);
    if (elem == GpElem_BF16 && e->is_gpu) {
        LLVMValueRef bf = LLVMBuildBitCast(e->b, v, LLVMBFloatTypeInContext(e->ctx), "");
        return LLVMBuildFPExt(e->b, bf, f32(e), "");
    }
    if (elem == GpElem_BF16) {
        LLVMValueRef wide = LLVMBuildZExt(e->b, v, i32(e), "");
        return LLVMBuildBitCast(e->b, LLVMBuildShl(e->b, wide, u32(e, 16), ""), f32(e), "");
    }
    if (elem == GpElem_F8E8)
        return e8m0_to_float(e, v);
    if (elem == GpElem_F8E5M3)
        return e5m3_to_float(e, v);
    if (elem == GpElem_F4E2)
        return e2m1_to_float(e, v);
    return elem == GpElem_F8E4 ? e4m3_to_float(e, v) : e5m2_to_float(e, v);
}

LLVMValueRef gp_emit_from_float(GpEmit *e, GpElem elem, LLVMValueRef v) {
    LLVMTypeRef i16 = LLVMInt16TypeInContext(e->ctx);
    if (elem == GpElem_F64 || elem == GpElem_F32)
        return v;
    if (elem == GpElem_TF32)
        return LLVMBuildBitCast(e->b, round_f32(e, v, 13), f32(e), "");
    if (elem == GpElem_F16) {
        LLVMValueRef half = LLVMBuildFPTrunc(e->b, v, LLVMHalfTypeInContext(e->ctx), "");
        return LLVMBuildBitCast(e->b, half, i16, "");
    }
    if (elem == GpElem_BF16 && e->is_gpu) {
        LLVMValueRef bf = LLVMBuildFPTrunc(e->b, v, LLVMBFloatTypeInContext(e->ctx), "");
        return LLVMBuildBitCast(e->b, bf, i16, "");
    }
    if (elem == GpElem_BF16) { /* x86's vcvtneps2bf16 flushes denormals: not used */
        LLVMValueRef high = LLVMBuildLShr(e->b, round_f32(e, v, 16), u32(e, 16), "");
        return LLVMBuildTrunc(e->b, high, i16, "");
    }
    if (elem == GpElem_F8E8)
        return e8m0_from_float(e, v);
    if (elem == GpElem_F8E5M3)
        return e5m3_from_float(e, v);
    if (elem == GpElem_F4E2)
        return e2m1_from_float(e, v);
    return elem == GpElem_F8E4 ? e4m3_from_float(e, v) : e5m2_from_float(e, v);
}

static LLVMValueRef int_to_fp(GpEmit *e, LLVMValueRef v, GpElem from, LLVMTypeRef type) {
    return gp_elem_is_signed(from) ? LLVMBuildSIToFP(e->b, v, type, "")
                                   : LLVMBuildUIToFP(e->b, v, type, "");
}

/* A 64-bit integer as a double rounded to odd: of 64 bits the low 11 become one sticky bit. */
static LLVMValueRef wide_int_by_odd(GpEmit *e, LLVMValueRef v, GpElem from) {
    LLVMValueRef zero = gp_emit_i64(e, 0), magnitude = v, is_negative = NULL;
    if (gp_elem_is_signed(from)) {
        is_negative = LLVMBuildICmp(e->b, LLVMIntSLT, v, zero, "");
        magnitude = LLVMBuildSelect(e->b, is_negative, LLVMBuildNeg(e->b, v, ""), v, "");
    }
    LLVMValueRef is_big =
        LLVMBuildICmp(e->b, LLVMIntUGE, magnitude, gp_emit_i64(e, INT64_C(1) << 53), "");
    LLVMValueRef low = LLVMBuildAnd(e->b, magnitude, gp_emit_i64(e, 0x7ff), "");
    LLVMValueRef sticky = LLVMBuildICmp(e->b, LLVMIntNE, low, zero, "");
    sticky = LLVMBuildZExt(e->b, sticky, LLVMInt64TypeInContext(e->ctx), "");
    LLVMValueRef high = LLVMBuildLShr(e->b, magnitude, gp_emit_i64(e, 11), "");
    high = LLVMBuildOr(e->b, high, sticky, "");
    LLVMValueRef kept = LLVMBuildSelect(e->b, is_big, high, magnitude, "");
    LLVMValueRef scale = LLVMBuildSelect(e->b, is_big, LLVMConstReal(f64(e), 2048.0),
                                         LLVMConstReal(f64(e), 1.0), "");
    LLVMValueRef d = LLVMBuildFMul(e->b, LLVMBuildUIToFP(e->b, kept, f64(e), ""), scale, "");
    if (!is_negative)
        return d;
    return LLVMBuildSelect(e->b, is_negative, LLVMBuildFNeg(e->b, d, ""), d, "");
}

static LLVMValueRef int_to_float(GpEmit *e, LLVMValueRef v, GpElem from, GpElem to) {
    if (to == GpElem_F64)
        return int_to_fp(e, v, from, f64(e));
    if (to == GpElem_F32 || gp_elem_info[from].bits <= 16) /* exact, or rounded once */
        return gp_emit_from_float(e, to, int_to_fp(e, v, from, f32(e)));
    LLVMValueRef d =
        gp_elem_info[from].bits == 64 ? wide_int_by_odd(e, v, from) : int_to_fp(e, v, from, f64(e));
    return gp_emit_from_float(e, to, f32_by_odd(e, d));
}

static LLVMValueRef float_to_float(GpEmit *e, LLVMValueRef v, GpElem from, GpElem to) {
    LLVMValueRef x = gp_emit_to_float(e, from, v);
    if (to == GpElem_F64)
        return from == GpElem_F64 ? x : LLVMBuildFPExt(e->b, x, f64(e), "");
    if (from != GpElem_F64)
        return gp_emit_from_float(e, to, x);
    if (to == GpElem_F32)
        return LLVMBuildFPTrunc(e->b, x, f32(e), "");
    return gp_emit_from_float(e, to, f32_by_odd(e, x));
}

static LLVMValueRef float_to_int(GpEmit *e, LLVMValueRef v, GpElem from, GpElem to) {
    LLVMValueRef x = gp_emit_to_float(e, from, v);
    const char *name = gp_elem_is_signed(to) ? "llvm.fptosi.sat" : "llvm.fptoui.sat";
    LLVMTypeRef types[] = {gp_emit_type(e, to), LLVMTypeOf(x)};
    unsigned id = LLVMLookupIntrinsicID(name, strlen(name));
    LLVMValueRef fn = LLVMGetIntrinsicDeclaration(e->module, id, types, 2);
    return LLVMBuildCall2(e->b, LLVMIntrinsicGetType(e->ctx, id, types, 2), fn, &x, 1, "");
}

static LLVMValueRef to_bool(GpEmit *e, LLVMValueRef v, GpElem from) {
    if (!gp_elem_is_float(from))
        return LLVMBuildICmp(e->b, LLVMIntNE, v, LLVMConstNull(LLVMTypeOf(v)), "");
    LLVMValueRef x = gp_emit_to_float(e, from, v);
    return LLVMBuildFCmp(e->b, LLVMRealUNE, x, LLVMConstNull(LLVMTypeOf(x)), "");
}

LLVMValueRef gp_emit_cast(GpEmit *e, LLVMValueRef v, GpElem from, GpElem to) {
    if (from == to)
        return v;
    if (to == GpElem_Bool)
        return to_bool(e, v, from);
    bool from_float = gp_elem_is_float(from), to_float = gp_elem_is_float(to);
    if (from_float && to_float)
        return float_to_float(e, v, from, to);
    if (from_float)
        return float_to_int(e, v, from, to);
    if (to_float)
        return int_to_float(e, v, from, to);
    LLVMTypeRef type = gp_emit_type(e, to);
    if (from == GpElem_Bool)
        return LLVMBuildZExt(e->b, v, type, "");
    if (gp_elem_info[to].bits < gp_elem_info[from].bits)
        return LLVMBuildTrunc(e->b, v, type, "");
    if (gp_elem_info[to].bits == gp_elem_info[from].bits)
        return v;
    return gp_elem_is_signed(from) ? LLVMBuildSExt(e->b, v, type, "")
                                   : LLVMBuildZExt(e->b, v, type, "");
}

LLVMValueRef gp_emit_bitcast(GpEmit *e, LLVMValueRef v, GpElem from, GpElem to) {
    LLVMValueRef bits = gp_emit_to_mem(e, from, v);
    bits = LLVMBuildBitCast(e->b, bits, gp_emit_mem_type(e, to), "");
    if (to == GpElem_TF32)
        return gp_emit_from_float(e, to, bits);
    return gp_emit_from_mem(e, to, bits);
}

/* The float of which `v` holds the rounded bits; NULL: it holds something else. */
static LLVMValueRef unrounded(LLVMValueRef v) {
    LLVMValueRef half = LLVMIsABitCastInst(v) ? LLVMGetOperand(v, 0) : NULL;
    LLVMValueRef from = half && LLVMIsAFPTruncInst(half) ? LLVMGetOperand(half, 0) : NULL;
    return from && LLVMGetTypeKind(LLVMTypeOf(from)) == LLVMFloatTypeKind ? from : NULL;
}

static LLVMValueRef round_pair(GpEmit *e, LLVMValueRef half, LLVMValueRef low, LLVMValueRef high) {
    bool is_brain = LLVMGetTypeKind(LLVMTypeOf(half)) == LLVMBFloatTypeKind;
    LLVMValueRef args[] = {high, low};
    const char *name = is_brain ? "llvm.nvvm.ff2bf16x2.rn" : "llvm.nvvm.ff2f16x2.rn";
    return gp_emit_intrinsic(e, name, NULL, args, 2);
}

/* The word of which `low` and `high` are the halves; NULL: there is none yet. */
static LLVMValueRef whole_word(LLVMValueRef low, LLVMValueRef high) {
    if (!LLVMIsAExtractElementInst(low) || !LLVMIsAExtractElementInst(high))
        return NULL;
    LLVMValueRef vector = LLVMGetOperand(low, 0), a = LLVMGetOperand(low, 1);
    LLVMValueRef b = LLVMGetOperand(high, 1);
    bool is_pair = LLVMGetOperand(high, 0) == vector && LLVMIsABitCastInst(vector) &&
                   LLVMConstIntGetZExtValue(a) == 0 && LLVMConstIntGetZExtValue(b) == 1;
    return is_pair ? LLVMGetOperand(vector, 0) : NULL;
}

LLVMValueRef gp_emit_pair(GpEmit *e, LLVMValueRef low, LLVMValueRef high) {
    LLVMTypeRef pair = LLVMVectorType(LLVMTypeOf(low), 2), word = LLVMInt32TypeInContext(e->ctx);
    LLVMValueRef a = unrounded(low), b = unrounded(high), v = whole_word(low, high);
    if (v)
        return v;
    if (a && b && LLVMTypeOf(LLVMGetOperand(low, 0)) == LLVMTypeOf(LLVMGetOperand(high, 0)))
        return LLVMBuildBitCast(e->b, round_pair(e, LLVMGetOperand(low, 0), a, b), word, "");
    v = LLVMBuildInsertElement(e->b, LLVMGetPoison(pair), low, gp_emit_i32(e, 0), "");
    v = LLVMBuildInsertElement(e->b, v, high, gp_emit_i32(e, 1), "");
    return LLVMBuildBitCast(e->b, v, word, "");
}

void gp_emit_unpair(GpEmit *e, LLVMValueRef word, LLVMValueRef *low, LLVMValueRef *high) {
    LLVMTypeRef pair = LLVMVectorType(LLVMInt16TypeInContext(e->ctx), 2);
    LLVMValueRef v = LLVMBuildBitCast(e->b, word, pair, "");
    *low = LLVMBuildExtractElement(e->b, v, gp_emit_i32(e, 0), "");
    *high = LLVMBuildExtractElement(e->b, v, gp_emit_i32(e, 1), "");
}
