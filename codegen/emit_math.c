/* Math functions: LLVM intrinsics where both backends are exact; polynomials on the CPU and the
** special function unit on the GPU for some in f32; else calls of the device library or of libm (whose
** symbols cpu.c gives to the JIT). */
#include "codegen/emit.h"

typedef struct MathRow {
    const char *intrinsic, *cname;
    uint32_t args;
} MathRow;
static const MathRow math_rows[GpOp_count] = {
#define GP_MATH(id, intrinsic, cname, args) [GpOp_##id] = {intrinsic, cname, args},
#include "codegen/math.def"
};

bool gp_math_needs_library(GpOp op) { return math_rows[op].cname && math_rows[op].cname[0]; }

static const char *library_name(GpEmit *e, GpOp op, GpElem elem) {
    const MathRow *row = &math_rows[op];
    const char *suffix = elem == GpElem_F32 ? "f" : "";
    if (!e->is_gpu)
        return gp_arena_printf(e->arena, "%s%s", row->cname, suffix);
    const char *path = gp_codegen_device_math(e->cg);
    if (path && strstr(path, "libdevice"))
        return gp_arena_printf(e->arena, "__nv_%s%s", row->cname, suffix);
    const char *type = elem == GpElem_F32 ? "ff" : "dd";
    return gp_arena_printf(e->arena, "_Z%zu%s%.*s", strlen(row->cname), row->cname, (int)row->args,
                           type);
}

static void add_call_attributes(GpEmit *e, LLVMValueRef fn) {
    static const char *const names[] = {"nounwind", "willreturn", "nofree", "nosync"};
    for (size_t i = 0; i < GP_COUNT(names); i++)
        LLVMAddAttributeAtIndex(fn, GP_LLVM_FUNCTION, gp_llvm_attr(e->llvm, names[i], 0));
    /* memory(none) */
    LLVMAddAttributeAtIndex(fn, GP_LLVM_FUNCTION, gp_llvm_attr(e->llvm, "memory", 0));
}

static LLVMValueRef call_library(GpEmit *e, GpOp op, GpElem elem, LLVMValueRef const *x, uint32_t count) {
    LLVMTypeRef type = LLVMTypeOf(x[0]), params[2] = {type, type};
    LLVMTypeRef fn_type = LLVMFunctionType(type, params, count, false);
    const char *name = library_name(e, op, elem);
    LLVMValueRef fn = LLVMGetNamedFunction(e->module, name);
    if (!fn) {
        fn = LLVMAddFunction(e->module, name, fn_type);
        add_call_attributes(e, fn);
    }
    e->has_device_math |= e->is_gpu;
    LLVMValueRef call = LLVMBuildCall2(e->b, fn_type, fn, (LLVMValueRef *)(uintptr_t)x, count, "");
    /* LLVM's libcall rewrites would give other bits, and names the JIT does not know. */
    LLVMAddCallSiteAttribute(call, GP_LLVM_FUNCTION, gp_llvm_attr(e->llvm, "nobuiltin", 0));
    return call;
}

/* Zero in place of what is below the least normal f32; NaN stays. */
static LLVMValueRef flush(GpEmit *e, LLVMValueRef v) {
    LLVMTypeRef type = LLVMTypeOf(v);
    LLVMValueRef least = LLVMConstReal(type, 0x1p-126);
    LLVMValueRef is_less = LLVMBuildFCmp(e->b, LLVMRealOLT, v, least, "");
    return LLVMBuildSelect(e->b, is_less, LLVMConstNull(type), v, "");
}

/* Zero of its sign in place of what is below the least normal f32. */
static LLVMValueRef zero_small(GpEmit *e, LLVMValueRef v) {
    LLVMTypeRef type = LLVMTypeOf(v);
    LLVMValueRef size = gp_emit_intrinsic(e, "llvm.fabs", type, &v, 1);
    LLVMValueRef is_less = LLVMBuildFCmp(e->b, LLVMRealOLT, size, LLVMConstReal(type, 0x1p-126), "");
    LLVMValueRef zero = gp_emit_intrinsic(e, "llvm.copysign", type, (LLVMValueRef[]){LLVMConstNull(type), v}, 2);
    return LLVMBuildSelect(e->b, is_less, zero, v, "");
}

static LLVMValueRef invert(GpEmit *e, LLVMValueRef v) {
    return zero_small(e, LLVMBuildFDiv(e->b, LLVMConstReal(LLVMTypeOf(v), 1.0), zero_small(e, v), ""));
}

LLVMValueRef gp_emit_math(GpEmit *e, GpOp op, GpElem elem, LLVMValueRef const *x, uint32_t count) {
    LLVMTypeRef type = LLVMTypeOf(x[0]);
    if (op == GpOp_Rsqrt) {
        LLVMValueRef root = gp_emit_intrinsic(e, "llvm.sqrt", type, x, 1);
        return LLVMBuildFDiv(e->b, LLVMConstReal(type, 1.0), root, "");
    }
    const MathRow *row = &math_rows[op];
    gp_assert(row->intrinsic && row->args == count);
    if (row->intrinsic[0])
        return gp_emit_intrinsic(e, row->intrinsic, type, x, count);
    LLVMValueRef v = e->is_gpu ? gp_emit_special(e, op, x[0]) : gp_emit_poly(e, op, x[0]);
    GpOp exact = gp_special_exact(op);
    if (v)
        return v;
    if (op == GpOp_RcpFlush)
        return invert(e, x[0]);
    if (exact == op)
        return call_library(e, op, elem, x, count);
    if (op == GpOp_Log2Flush)
        return gp_emit_math(e, exact, elem, (LLVMValueRef[]){zero_small(e, x[0])}, 1);
    v = gp_emit_math(e, exact, elem, x, count);
    return op == GpOp_Exp2Flush ? flush(e, v) : v;
}
