/* Inline PTX. Strings live in the compile's arena, so that nothing leaks when memory runs out. */
#include "codegen/inline_ptx.h"

#include <stdarg.h>
#include <stdio.h>

static void reserve(GpInlinePtx *p, GpInlineString *s, size_t more) {
    if (s->len + more <= s->cap)
        return;
    size_t cap = GP_MAX(2 * s->cap, s->len + more);
    char *at = gp_arena_alloc(p->e->arena, cap);
    if (s->len)
        memcpy(at, s->at, s->len);
    s->at = at;
    s->cap = cap;
}

GP_PRINTF(3, 0)
static void add(GpInlinePtx *p, GpInlineString *s, const char *fmt, va_list args) {
    va_list again;
    va_copy(again, args);
    int n = vsnprintf(NULL, 0, fmt, args);
    gp_assert(n >= 0);
    reserve(p, s, (size_t)n + 1);
    vsnprintf(s->at + s->len, (size_t)n + 1, fmt, again);
    va_end(again);
    s->len += (size_t)n;
}

GpInlinePtx gp_inline_begin(GpEmit *e, uint32_t most) {
    GpInlinePtx p = {.e = e, .most = most};
    p.outs = GP_NEW_ARRAY(e->arena, LLVMTypeRef, most + 1);
    p.args = GP_NEW_ARRAY(e->arena, LLVMValueRef, most + 1);
    return p;
}

void gp_inline_puts(GpInlinePtx *p, const char *fmt, ...) {
    va_list args;
    va_start(args, fmt);
    add(p, &p->text, fmt, args);
    va_end(args);
}

GP_PRINTF(2, 3) static void constrain(GpInlinePtx *p, const char *fmt, ...) {
    va_list args;
    va_start(args, fmt);
    add(p, &p->constraints, fmt, args);
    va_end(args);
}

static const char *class_of(GpInlinePtx *p, LLVMTypeRef type) {
    if (type == LLVMFloatTypeInContext(p->e->ctx))
        return "f";
    return LLVMGetTypeKind(type) == LLVMIntegerTypeKind && LLVMGetIntTypeWidth(type) == 64 ? "l"
                                                                                           : "r";
}

void gp_inline_outputs(GpInlinePtx *p, const GpBound *like) {
    for (uint32_t i = 0; i < like->count; i++) {
        gp_assert(p->out_count < p->most && p->arg_count == 0);
        LLVMTypeRef type = LLVMTypeOf(like->at[i]);
        constrain(p, "=%s,", class_of(p, type));
        p->outs[p->out_count++] = type;
    }
}

void gp_inline_tied(GpInlinePtx *p, const GpBound *values, uint32_t first) {
    for (uint32_t i = 0; i < values->count; i++) {
        gp_assert(p->arg_count < p->most);
        constrain(p, "%u,", first + i);
        p->args[p->arg_count++] = values->at[i];
    }
}

uint32_t gp_inline_input(GpInlinePtx *p, LLVMValueRef v) {
    gp_assert(p->arg_count < p->most);
    constrain(p, "%s,", class_of(p, LLVMTypeOf(v)));
    p->args[p->arg_count++] = v;
    return p->out_count + p->arg_count - 1;
}

void gp_inline_call(GpInlinePtx *p, LLVMValueRef *outs) {
    GpEmit *e = p->e;
    LLVMTypeRef *types = GP_NEW_ARRAY(e->arena, LLVMTypeRef, p->arg_count + 1);
    for (uint32_t i = 0; i < p->arg_count; i++)
        types[i] = LLVMTypeOf(p->args[i]);
    LLVMTypeRef result = LLVMStructTypeInContext(e->ctx, p->outs, p->out_count, false);
    if (p->out_count < 2)
        result = p->out_count ? p->outs[0] : LLVMVoidTypeInContext(e->ctx);
    LLVMTypeRef type = LLVMFunctionType(result, types, p->arg_count, false);
    constrain(p, "~{memory}");
    LLVMValueRef fn =
        LLVMGetInlineAsm(type, p->text.at, p->text.len, p->constraints.at, p->constraints.len, true,
                         false, LLVMInlineAsmDialectATT, false);
    LLVMValueRef v = LLVMBuildCall2(e->b, type, fn, p->args, p->arg_count, "");
    LLVMAddCallSiteAttribute(v, GP_LLVM_FUNCTION, gp_llvm_attr(e->llvm, "convergent", 0));
    for (uint32_t i = 0; i < p->out_count; i++)
        outs[i] = p->out_count == 1 ? v : LLVMBuildExtractValue(e->b, v, i, "");
}
