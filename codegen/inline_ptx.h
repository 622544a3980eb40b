/* Inline PTX with many operands, put together piece by piece: instructions that LLVM has no
** intrinsic for. Outputs come first, then inputs that are tied to outputs, then other inputs; their
** numbers in the text are in that order. */
#ifndef GP_INLINE_PTX_H
#define GP_INLINE_PTX_H

#include "codegen/emit.h"

typedef struct GpInlineString {
    char *at;
    size_t len, cap;
} GpInlineString;

typedef struct GpInlinePtx {
    GpEmit *e;
    GpInlineString text, constraints;
    LLVMTypeRef *outs;
    LLVMValueRef *args;
    uint32_t out_count, arg_count, most;
} GpInlinePtx;

/* At most `most` outputs and as many inputs. */
GpInlinePtx gp_inline_begin(GpEmit *e, uint32_t most);
GP_PRINTF(2, 3) void gp_inline_puts(GpInlinePtx *p, const char *fmt, ...);
/* One output a value, of its type: f32 in an f register, 32-bit words in an r register. */
void gp_inline_outputs(GpInlinePtx *p, const GpBound *like);
/* Inputs that are the outputs from number `first` on before the text runs. */
void gp_inline_tied(GpInlinePtx *p, const GpBound *values, uint32_t first);
uint32_t gp_inline_input(GpInlinePtx *p, LLVMValueRef v); /* its number */
/* The call: convergent, with side effects on memory. Fills `outs`, one bound a call of
** gp_inline_outputs taken together. */
void gp_inline_call(GpInlinePtx *p, LLVMValueRef *outs);

#endif
