/* Arithmetic on i32: places of elements, lines and bytes, in terms of the thread's number. */
#ifndef GP_EMIT_I32_H
#define GP_EMIT_I32_H

#include "codegen/emit.h"

static inline LLVMValueRef gp_i32_add(GpEmit *e, LLVMValueRef x, LLVMValueRef y) {
    return LLVMBuildAdd(e->b, x, y, "");
}

static inline LLVMValueRef gp_i32_scale(GpEmit *e, LLVMValueRef x, int64_t by) {
    return LLVMBuildMul(e->b, x, gp_emit_i32(e, by), "");
}

static inline LLVMValueRef gp_i32_shift(GpEmit *e, LLVMValueRef x, int64_t by) {
    return LLVMBuildLShr(e->b, x, gp_emit_i32(e, by), "");
}

/* Below `limit`, a power of two. */
static inline LLVMValueRef gp_i32_low(GpEmit *e, LLVMValueRef x, int64_t limit) {
    return LLVMBuildAnd(e->b, x, gp_emit_i32(e, limit - 1), "");
}

#endif
