/* Kernels for this machine: LLVM functions, passes, object code, ORC.
**
** Two functions: the body of one block (tile track) or thread (SIMT), with unpacked noalias
** parameters, and the entry that unpacks the parameter block and loops over blocks and threads.
** The body is inlined, so its noalias facts become scopes and the loops vectorise. An image owns
** its JIT: releasing the image frees the code. */
#include <llvm-c/LLJIT.h>
#include <llvm-c/Orc.h>
#include <math.h>

#include "codegen/emit.h"
#include "dsl/ir/printed.h"

/* Loops of the body are rotated already; what is left is to promote slots, hoist and vectorise. */
static const char passes[] =
    "always-inline,globaldce,function(sroa,early-cse<memssa>,instcombine<no-verify-fixpoint>,"
    "simplifycfg,loop-simplify,lcssa,loop(loop-rotate),loop-mssa(licm),gvn,"
    "instcombine<no-verify-fixpoint>,loop-simplify,lcssa,loop(indvars,loop-deletion),"
    "loop-vectorize,instcombine<no-verify-fixpoint>,simplifycfg,loop-mssa(licm),"
    "instcombine<no-verify-fixpoint>,simplifycfg)";

/* What jitted code may call: nothing else of the process is visible to it. */
typedef struct Symbol {
    const char *name;
    void (*fn)(void);
} Symbol;
#define SYMBOL(name)                                                                               \
    { #name, (void (*)(void))name }
static const Symbol symbols[] = {
    SYMBOL(memcpy),
    SYMBOL(memset),
    SYMBOL(memmove),
    SYMBOL(fmodf),
    SYMBOL(fmod),
    SYMBOL(expf),
    SYMBOL(exp),
    SYMBOL(exp2f),
    SYMBOL(exp2),
    SYMBOL(logf),
    SYMBOL(log),
    SYMBOL(log2f),
    SYMBOL(log2),
    SYMBOL(log10f),
    SYMBOL(log10),
    SYMBOL(sinf),
    SYMBOL(sin),
    SYMBOL(cosf),
    SYMBOL(cos),
    SYMBOL(tanf),
    SYMBOL(tan),
    SYMBOL(sinhf),
    SYMBOL(sinh),
    SYMBOL(coshf),
    SYMBOL(cosh),
    SYMBOL(tanhf),
    SYMBOL(tanh),
    SYMBOL(powf),
    SYMBOL(pow),
    SYMBOL(atan2f),
    SYMBOL(atan2),
    SYMBOL(fmaf),
    SYMBOL(fma),
    SYMBOL(floorf),
    SYMBOL(floor),
    SYMBOL(ceilf),
    SYMBOL(ceil),
    SYMBOL(truncf),
    SYMBOL(trunc),
    SYMBOL(roundf),
    SYMBOL(round),
    SYMBOL(gp_printed_write),
    SYMBOL(gp_stopped),
    SYMBOL(gp_f32_from_f8e4m3),
    SYMBOL(gp_f8e4m3_from_f32),
};

/* What follows the ABI's parameters in the body function: indices, and the launch's GpStop. */
enum { Index_Block, Index_Grid = 3, Index_Thread = 6, Index_Dim = 9, Index_Stop = 12, Index_count };

static LLVMTypeRef body_type(GpEmit *e) {
    LLVMTypeRef *abi = gp_emit_param_types(e);
    LLVMTypeRef *types = GP_NEW_ARRAY(e->arena, LLVMTypeRef, e->abi_count + Index_count);
    memcpy(types, abi, e->abi_count * sizeof *types);
    for (uint32_t i = 0; i < Index_Stop; i++)
        types[e->abi_count + i] = LLVMInt32TypeInContext(e->ctx);
    types[e->abi_count + Index_Stop] = LLVMPointerTypeInContext(e->ctx, 0);
    return LLVMFunctionType(LLVMVoidTypeInContext(e->ctx), types, e->abi_count + Index_count,
                            false);
}

static LLVMValueRef make_body(GpEmit *e, const char *name, LLVMTypeRef type) {
    LLVMValueRef fn = e->func = LLVMAddFunction(e->module, name, type);
    LLVMSetLinkage(fn, LLVMInternalLinkage);
    gp_emit_attributes(e, fn, 0);
    static const char *const names[] = {"alwaysinline", "nounwind"};
    for (size_t i = 0; i < GP_COUNT(names); i++)
        LLVMAddAttributeAtIndex(fn, GP_LLVM_FUNCTION, gp_llvm_attr(e->llvm, names[i], 0));
    LLVMValueRef *args = GP_NEW_ARRAY(e->arena, LLVMValueRef, e->abi_count + Index_count);
    LLVMGetParams(fn, args);
    for (int a = 0; a < 3; a++) {
        e->block_id[a] = args[e->abi_count + Index_Block + (uint32_t)a];
        e->grid_dim[a] = args[e->abi_count + Index_Grid + (uint32_t)a];
        e->thread_id[a] = args[e->abi_count + Index_Thread + (uint32_t)a];
        e->block_dim[a] = args[e->abi_count + Index_Dim + (uint32_t)a];
    }
    e->stop = args[e->abi_count + Index_Stop];
    e->entry = gp_emit_block(e, "entry");
    LLVMBasicBlockRef start = gp_emit_block(e, "body");
    gp_emit_at(e, start);
    gp_emit_params(e, args);
    gp_emit_body(e);
    gp_emit_at(e, e->entry);
    LLVMBuildBr(e->b, start);
    memset(e->bound, 0, e->fn->next_id * sizeof *e->bound);
    return fn;
}

typedef struct Entry {
    LLVMTypeRef type;                       /* of the bodies */
    LLVMValueRef body, interior;            /* interior NULL: only one body */
    LLVMValueRef *args;                     /* of a body: parameters, then indices */
    LLVMValueRef grid[3], dim[3], block[3]; /* i32 */
} Entry;

static LLVMTypeRef i32(GpEmit *e) { return LLVMInt32TypeInContext(e->ctx); }
static LLVMTypeRef i64(GpEmit *e) { return LLVMInt64TypeInContext(e->ctx); }

static LLVMValueRef load_at(GpEmit *e, LLVMTypeRef type, LLVMValueRef base, uint32_t offset) {
    return LLVMBuildLoad2(e->b, type, gp_emit_behind(e, base, offset), "");
}

/* A counting loop under construction: from 0 while below `end`. */
typedef struct Counter {
    LLVMValueRef i;
    LLVMBasicBlockRef head, exit;
} Counter;

static Counter open_loop(GpEmit *e, LLVMValueRef end) {
    LLVMTypeRef type = LLVMTypeOf(end);
    LLVMBasicBlockRef before = LLVMGetInsertBlock(e->b);
    Counter c = {.head = gp_emit_block(e, "for"), .exit = gp_emit_block(e, "done")};
    LLVMBasicBlockRef turn = gp_emit_block(e, "turn");
    LLVMValueRef zero = LLVMConstNull(type);
    LLVMBuildBr(e->b, c.head);
    gp_emit_at(e, c.head);
    c.i = LLVMBuildPhi(e->b, type, "");
    LLVMAddIncoming(c.i, &zero, &before, 1);
    LLVMBuildCondBr(e->b, LLVMBuildICmp(e->b, LLVMIntULT, c.i, end, ""), turn, c.exit);
    gp_emit_at(e, turn);
    return c;
}

static void close_loop(GpEmit *e, Counter *c) {
    LLVMValueRef one = LLVMConstInt(LLVMTypeOf(c->i), 1, false);
    LLVMValueRef next = LLVMBuildNUWAdd(e->b, c->i, one, "");
    LLVMBasicBlockRef latch = LLVMGetInsertBlock(e->b);
    LLVMAddIncoming(c->i, &next, &latch, 1);
    LLVMBuildBr(e->b, c->head);
    gp_emit_at(e, c->exit);
}

static void call_body(GpEmit *e, Entry *n, LLVMValueRef body, LLVMValueRef *thread) {
    for (int a = 0; a < 3; a++) {
        n->args[e->abi_count + Index_Block + (uint32_t)a] = n->block[a];
        n->args[e->abi_count + Index_Grid + (uint32_t)a] = n->grid[a];
        n->args[e->abi_count + Index_Thread + (uint32_t)a] = thread[a];
        n->args[e->abi_count + Index_Dim + (uint32_t)a] = n->dim[a];
    }
    LLVMBuildCall2(e->b, n->type, body, n->args, e->abi_count + Index_count, "");
}

static void emit_threads(GpEmit *e, Entry *n, LLVMValueRef body) {
    Counter z = open_loop(e, n->dim[2]), y = open_loop(e, n->dim[1]), x = open_loop(e, n->dim[0]);
    call_body(e, n, body, (LLVMValueRef[]){x.i, y.i, z.i});
    close_loop(e, &x);
    close_loop(e, &y);
    close_loop(e, &z);
}

/* A function of all threads of a block: its noalias parameters hold over the loops. */
static LLVMValueRef make_threads(GpEmit *e, const Entry *n, const char *name, LLVMValueRef body) {
    LLVMValueRef fn = e->func = LLVMAddFunction(e->module, name, n->type);
    LLVMSetLinkage(fn, LLVMInternalLinkage);
    gp_emit_attributes(e, fn, 0);
    static const char *const names[] = {"alwaysinline", "nounwind"};
    for (size_t i = 0; i < GP_COUNT(names); i++)
        LLVMAddAttributeAtIndex(fn, GP_LLVM_FUNCTION, gp_llvm_attr(e->llvm, names[i], 0));
    Entry inner = {.type = n->type};
    inner.args = GP_NEW_ARRAY(e->arena, LLVMValueRef, e->abi_count + Index_count);
    LLVMGetParams(fn, inner.args);
    for (uint32_t a = 0; a < 3; a++) {
        inner.block[a] = inner.args[e->abi_count + Index_Block + a];
        inner.grid[a] = inner.args[e->abi_count + Index_Grid + a];
        inner.dim[a] = e->fn->block[a] ? gp_emit_i32(e, e->fn->block[a])
                                       : inner.args[e->abi_count + Index_Dim + a];
    }
    gp_emit_at(e, gp_emit_block(e, "entry"));
    emit_threads(e, &inner, body);
    LLVMBuildRetVoid(e->b);
    return fn;
}

/* (block x + 1) * block dim x is at most every length and fits in 32 bits; one row of blocks. */
static LLVMValueRef is_interior(GpEmit *e, Entry *n) {
    LLVMValueRef end = LLVMBuildZExt(e->b, n->block[0], i64(e), "");
    end = LLVMBuildNUWAdd(e->b, end, gp_emit_i64(e, 1), "");
    end = LLVMBuildMul(e->b, end, LLVMBuildZExt(e->b, n->dim[0], i64(e), ""), "");
    LLVMValueRef ok = LLVMBuildICmp(e->b, LLVMIntULE, end, gp_emit_i64(e, UINT32_MAX), "");
    for (int a = 1; a < 3; a++) {
        LLVMValueRef is_flat = LLVMBuildICmp(e->b, LLVMIntEQ, n->grid[a], gp_emit_i32(e, 1), "");
        ok = LLVMBuildAnd(e->b, ok, is_flat, "");
    }
    for (uint32_t i = 0; i < e->abi_count; i++) {
        if (e->abi[i].kind != GpParam_Len)
            continue;
        LLVMValueRef fits = LLVMBuildICmp(e->b, LLVMIntULE, end, n->args[i], "");
        ok = LLVMBuildAnd(e->b, ok, fits, "");
    }
    return ok;
}

static void emit_block_body(GpEmit *e, Entry *n) {
    if (e->is_tile) {
        LLVMValueRef zero = gp_emit_i32(e, 0);
        call_body(e, n, n->body, (LLVMValueRef[]){zero, zero, zero});
        return;
    }
    if (!n->interior) {
        emit_threads(e, n, n->body);
        return;
    }
    LLVMBasicBlockRef all = gp_emit_block(e, "interior"), some = gp_emit_block(e, "edge");
    LLVMBasicBlockRef join = gp_emit_block(e, "ran");
    LLVMBuildCondBr(e->b, is_interior(e, n), all, some);
    gp_emit_at(e, all);
    Entry flat = *n;
    for (int a = 1; a < 3; a++) {
        flat.grid[a] = gp_emit_i32(e, 1);
        flat.block[a] = gp_emit_i32(e, 0);
    }
    LLVMValueRef zero = gp_emit_i32(e, 0);
    call_body(e, &flat, n->interior, (LLVMValueRef[]){zero, zero, zero});
    LLVMBuildBr(e->b, join);
    gp_emit_at(e, some);
    emit_threads(e, n, n->body);
    LLVMBuildBr(e->b, join);
    gp_emit_at(e, join);
}

/* Block number to x, y, z; x is fastest. */
static void split_block(GpEmit *e, Entry *n, LLVMValueRef number) {
    LLVMValueRef rest = number;
    for (int a = 0; a < 3; a++) {
        LLVMValueRef extent = LLVMBuildZExt(e->b, n->grid[a], i64(e), "");
        LLVMValueRef at = a < 2 ? LLVMBuildURem(e->b, rest, extent, "") : rest;
        n->block[a] = LLVMBuildTrunc(e->b, at, i32(e), "");
        if (a < 2)
            rest = LLVMBuildUDiv(e->b, rest, extent, "");
    }
}

enum { Arg_Self, Arg_Params, Arg_Grid, Arg_First, Arg_Count, Arg_Stop, Arg_count };

/* What is stopped leaves the rest of the blocks out. */
static void leave_if_stopped(GpEmit *e, const Counter *blocks) {
    LLVMBasicBlockRef next = gp_emit_block(e, "next");
    LLVMBuildCondBr(e->b, gp_emit_stopped(e), blocks->exit, next);
    gp_emit_at(e, next);
}

static void make_entry(GpEmit *e, Entry *n) {
    LLVMTypeRef ptr = LLVMPointerTypeInContext(e->ctx, 0);
    LLVMTypeRef types[Arg_count] = {ptr, ptr, ptr, i64(e), i64(e), ptr};
    LLVMTypeRef type = LLVMFunctionType(LLVMVoidTypeInContext(e->ctx), types, Arg_count, false);
    LLVMValueRef fn = e->func = LLVMAddFunction(e->module, "gp_entry", type);
    LLVMAddAttributeAtIndex(fn, GP_LLVM_FUNCTION, gp_llvm_attr(e->llvm, "nounwind", 0));
    gp_emit_at(e, gp_emit_block(e, "entry"));
    e->stop = n->args[e->abi_count + Index_Stop] = LLVMGetParam(fn, Arg_Stop);
    LLVMTypeRef *params = gp_emit_param_types(e);
    for (uint32_t i = 0; i < e->abi_count; i++)
        n->args[i] = load_at(e, params[i], LLVMGetParam(fn, Arg_Params), e->abi[i].offset);
    for (uint32_t a = 0; a < 3; a++) {
        LLVMValueRef grid = LLVMGetParam(fn, Arg_Grid);
        n->grid[a] = load_at(e, i32(e), grid, (uint32_t)offsetof(GpGrid, grid) + 4 * a);
        n->dim[a] = e->fn->block[a]
                        ? gp_emit_i32(e, e->fn->block[a])
                        : load_at(e, i32(e), grid, (uint32_t)offsetof(GpGrid, block) + 4 * a);
    }
    Counter c = open_loop(e, LLVMGetParam(fn, Arg_Count));
    split_block(e, n, LLVMBuildNUWAdd(e->b, c.i, LLVMGetParam(fn, Arg_First), ""));
    emit_block_body(e, n);
    if (e->asks_stop)
        leave_if_stopped(e, &c);
    close_loop(e, &c);
    LLVMBuildRetVoid(e->b);
}

static void use_host_cpu(GpEmit *e) {
    char *cpu = LLVMGetTargetMachineCPU(e->llvm->tm);
    char *features = LLVMGetTargetMachineFeatureString(e->llvm->tm);
    const char *pairs[][2] = {
        {"target-cpu", cpu}, {"target-features", features}, {"prefer-vector-width", "512"}};
    for (LLVMValueRef f = LLVMGetFirstFunction(e->module); f; f = LLVMGetNextFunction(f)) {
        for (size_t i = 0; i < GP_COUNT(pairs) && !LLVMIsDeclaration(f); i++) {
            LLVMAttributeRef a =
                LLVMCreateStringAttribute(e->ctx, pairs[i][0], (unsigned)strlen(pairs[i][0]),
                                          pairs[i][1], (unsigned)strlen(pairs[i][1]));
            LLVMAddAttributeAtIndex(f, GP_LLVM_FUNCTION, a);
        }
    }
    LLVMDisposeMessage(cpu);
    LLVMDisposeMessage(features);
}

static bool emit_functions(GpEmit *e) {
    Entry n = {.type = body_type(e)};
    n.args = GP_NEW_ARRAY(e->arena, LLVMValueRef, e->abi_count + Index_count);
    if (e->is_tile)
        gp_tile_cpu_prepare(e);
    n.body = make_body(e, "gp_body", n.type);
    if (!e->is_tile && !e->refused && gp_simt_has_range_check(e->fn)) {
        e->is_interior = true;
        n.interior = make_body(e, "gp_interior", n.type);
        e->is_interior = false;
        for (unsigned i = 0; i < e->abi_count; i++)
            LLVMRemoveEnumAttributeAtIndex(n.interior, i + 1,
                                           LLVMGetEnumAttributeKindForName("noalias", 7));
        n.interior = make_threads(e, &n, "gp_interior_block", n.interior);
    }
    if (e->refused)
        return false;
    make_entry(e, &n);
    use_host_cpu(e);
    return gp_llvm_verify(e->llvm);
}

static bool take_error(GpEmit *e, LLVMErrorRef error) {
    if (!error)
        return true;
    char *text = LLVMGetErrorMessage(error);
    gp_llvm_fail(e->llvm, text);
    LLVMDisposeErrorMessage(text);
    return false;
}

static bool define_symbols(GpEmit *e, LLVMOrcLLJITRef jit) {
    LLVMOrcCSymbolMapPair pairs[GP_COUNT(symbols)];
    for (size_t i = 0; i < GP_COUNT(symbols); i++) {
        LLVMOrcExecutorAddress at = (LLVMOrcExecutorAddress)(uintptr_t)symbols[i].fn;
        LLVMJITSymbolFlags flags = {
            LLVMJITSymbolGenericFlagsExported | LLVMJITSymbolGenericFlagsCallable, 0};
        pairs[i] =
            (LLVMOrcCSymbolMapPair){LLVMOrcLLJITMangleAndIntern(jit, symbols[i].name), {at, flags}};
    }
    LLVMOrcMaterializationUnitRef unit = LLVMOrcAbsoluteSymbols(pairs, GP_COUNT(symbols));
    return take_error(e, LLVMOrcJITDylibDefine(LLVMOrcLLJITGetMainJITDylib(jit), unit));
}

static void release_jit(void *self) {
    LLVMErrorRef error = LLVMOrcDisposeLLJIT(self);
    if (error)
        LLVMConsumeError(error);
}

/* The JIT takes the object over. */
static bool add_object(GpEmit *e, LLVMOrcLLJITRef jit) {
    LLVMMemoryBufferRef object = e->llvm->output;
    e->llvm->output = NULL;
    LLVMOrcJITDylibRef dylib = LLVMOrcLLJITGetMainJITDylib(jit);
    return take_error(e, LLVMOrcLLJITAddObjectFile(jit, dylib, object));
}

static bool load_object(GpEmit *e, GpImage *image) {
    LLVMOrcLLJITRef jit = NULL;
    LLVMOrcExecutorAddress entry = 0;
    if (!take_error(e, LLVMOrcCreateLLJIT(&jit, NULL)))
        return false;
    if (!define_symbols(e, jit) || !add_object(e, jit) ||
        !take_error(e, LLVMOrcLLJITLookup(jit, &entry, "gp_entry"))) {
        release_jit(jit);
        return false;
    }
    image->kind = GpImage_Cpu;
    image->cpu_entry = (GpCpuEntry)(uintptr_t)entry;
    image->cpu_self = jit;
    image->release = release_jit;
    return true;
}

static GpStatus print_stage(GpEmit *e, GpStage stage, GpText *text) {
    if (stage == GpStage_Asm) {
        LLVMMemoryBufferRef code = gp_llvm_emit(e->llvm, LLVMAssemblyFile);
        if (!code)
            return GpStatus_Compiler;
        gp_text_add(text, LLVMGetBufferStart(code), LLVMGetBufferSize(code));
        return GpStatus_Ok;
    }
    char *ir = LLVMPrintModuleToString(e->module);
    gp_text_puts(text, ir);
    LLVMDisposeMessage(ir);
    return GpStatus_Ok;
}

GpStatus gp_cpu_compile(GpEmit *e, GpStage stage, GpText *text, GpImage *image) {
    char *triple = LLVMGetDefaultTargetTriple();
    bool ok = gp_llvm_init(e->llvm, e->fn->name, triple, NULL, NULL);
    LLVMDisposeMessage(triple);
    if (!ok)
        return GpStatus_Compiler;
    e->ctx = e->llvm->ctx, e->module = e->llvm->module, e->b = e->llvm->builder;
    if (!emit_functions(e))
        return e->refused ? GpStatus_Diagnostics : GpStatus_Compiler;
    if (text && stage == GpStage_Llvm)
        return print_stage(e, stage, text);
    if (!gp_llvm_run(e->llvm, passes))
        return GpStatus_Compiler;
    if (text)
        return print_stage(e, stage, text);
    if (!gp_llvm_emit(e->llvm, LLVMObjectFile))
        return GpStatus_Compiler;
    return load_object(e, image) ? GpStatus_Ok : GpStatus_Compiler;
}
