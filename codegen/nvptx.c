/* Kernels for NVIDIA GPUs: LLVM function, passes, PTX text. */
#include <stdio.h>

#include "codegen/async.h"
#include "codegen/pipe.h"

static const char passes_plain[] =
    "function(sroa,early-cse<memssa>,instcombine<no-verify-fixpoint>,simplifycfg,"
    "loop-mssa(licm),early-cse<memssa>)";
/* With library code: what is not called goes first, and what is called is inlined. */
static const char passes_math[] =
    "globaldce,nvvm-reflect,function(simplifycfg),cgscc(inline),globaldce,"
    "function(sroa,early-cse<memssa>,instcombine<no-verify-fixpoint>,simplifycfg,"
    "loop-mssa(licm),early-cse<memssa>),globaldce";

static void set_text_attribute(GpEmit *e, const char *name, const char *value) {
    LLVMAttributeRef a = LLVMCreateStringAttribute(e->ctx, name, (unsigned)strlen(name), value,
                                                   (unsigned)strlen(value));
    LLVMAddAttributeAtIndex(e->func, GP_LLVM_FUNCTION, a);
}

enum { PTX_KERNEL = 71 }; /* llvm::CallingConv::PTX_Kernel */

static void make_kernel(GpEmit *e) {
    LLVMTypeRef *params = gp_emit_param_types(e);
    LLVMTypeRef type = LLVMFunctionType(LLVMVoidTypeInContext(e->ctx), params, e->abi_count, false);
    e->func = LLVMAddFunction(e->module, e->fn->symbol, type);
    LLVMSetFunctionCallConv(e->func, PTX_KERNEL);
    gp_emit_attributes(e, e->func, 0);
    if (e->pipe)
        gp_pipe_attributes(e);
    static const char *const names[] = {"convergent", "nounwind"};
    for (size_t i = 0; i < GP_COUNT(names); i++)
        LLVMAddAttributeAtIndex(e->func, GP_LLVM_FUNCTION, gp_llvm_attr(e->llvm, names[i], 0));
    e->entry = gp_emit_block(e, "entry");
    gp_emit_at(e, e->entry);
}

static void read_registers(GpEmit *e, const char *name, LLVMValueRef *out) {
    for (int a = 0; a < 3; a++) {
        char full[64];
        snprintf(full, sizeof full, "llvm.nvvm.read.ptx.sreg.%s.%c", name, 'x' + a);
        out[a] = gp_emit_intrinsic(e, full, NULL, NULL, 0);
    }
}

static void read_indices(GpEmit *e) {
    read_registers(e, "tid", e->thread_id);
    read_registers(e, "ctaid", e->block_id);
    read_registers(e, "nctaid", e->grid_dim);
    read_registers(e, "ntid", e->block_dim);
    for (int a = 0; a < 3; a++)
        if (e->fn->block[a])
            e->block_dim[a] = gp_emit_i32(e, e->fn->block[a]);
}

static uint32_t block_threads(const GpEmit *e) {
    return e->pipe ? gp_pipe_block_threads(e->pipe) : gp_tile_gpu_threads(e);
}

static void set_bounds(GpEmit *e) {
    const GpIrFn *fn = e->fn;
    const uint32_t *block = fn->block;
    if (e->is_tile) {
        set_text_attribute(e, "nvvm.reqntid",
                           gp_arena_printf(e->arena, "%u", block_threads(e)));
    } else if (block[0] && block[1] && block[2]) {
        set_text_attribute(e, "nvvm.reqntid",
                           gp_arena_printf(e->arena, "%u,%u,%u", block[0], block[1], block[2]));
    } else if (fn->max_threads) {
        set_text_attribute(e, "nvvm.maxntid", gp_arena_printf(e->arena, "%u", fn->max_threads));
    }
    uint32_t min_blocks = e->is_tile && !e->pipe ? gp_tile_gpu_min_blocks(e) : fn->min_blocks;
    if (e->pipe)
        min_blocks = 1; /* or ptxas may not know how many registers setmaxnreg starts from */
    if (min_blocks)
        set_text_attribute(e, "nvvm.minctasm", gp_arena_printf(e->arena, "%u", min_blocks));
    if (e->pipe && e->pipe->cluster > 1)
        set_text_attribute(e, "nvvm.cluster_dim",
                           gp_arena_printf(e->arena, "%u,1,1", e->pipe->cluster));
}

static bool emit_function(GpEmit *e) {
    make_kernel(e);
    if (e->is_tile && !gp_tile_gpu_prepare(e))
        return false;
    set_bounds(e);
    gp_debug_init(e);
    read_indices(e);
    LLVMValueRef *args = GP_NEW_ARRAY(e->arena, LLVMValueRef, e->abi_count + 1);
    LLVMGetParams(e->func, args);
    gp_emit_params(e, args);
    LLVMBasicBlockRef body = gp_emit_block(e, "body");
    gp_emit_at(e, body);
    gp_async_open(e);
    if (e->pipe)
        gp_pipe_emit(e);
    else
        gp_emit_body(e);
    gp_emit_at(e, e->entry);
    LLVMBuildBr(e->b, body);
    gp_tile_gpu_finish(e);
    gp_debug_done(e);
    return !e->refused && gp_llvm_verify(e->llvm) &&
           (!e->has_device_math || gp_device_math_link(e));
}

static void print_module(GpEmit *e, GpText *text) {
    char *ir = LLVMPrintModuleToString(e->module);
    gp_text_puts(text, ir);
    LLVMDisposeMessage(ir);
}

/* How it is launched, and the schedule behind it. */
static void fill_launch(GpEmit *e, GpImage *image) {
    image->threads = e->is_tile ? block_threads(e) : 0;
    image->cluster[0] = image->cluster[1] = image->cluster[2] = 1;
    if (e->is_tile)
        image->schedule = (GpSchedule){(uint8_t)(image->threads / GP_GPU_LANES), 1, 1, 1};
    if (e->is_tile)
        image->shared_bytes = (uint32_t)gp_tile_gpu_dynamic(e);
    if (e->fetches_ahead)
        image->schedule.stages = e->fn->schedule.stages;
    image->unpiped = e->unpiped;
    if (e->pipe)
        gp_pipe_describe(e, image);
    if (e->async) {
        image->shared_bytes = (uint32_t)gp_async_shared(e);
        image->schedule.stages = (uint8_t)e->async->stages;
    }
}

/* The image's part that its PTX does not tell, as a comment. */
static void print_launch(GpEmit *e, GpText *text) {
    GpImage image = {.threads = 0};
    fill_launch(e, &image);
    if (!image.threads)
        return;
    gp_text_printf(text, "// launch: %u threads", image.threads);
    if (image.shared_bytes)
        gp_text_printf(text, ", %u bytes of dynamic shared memory", image.shared_bytes);
    gp_text_puts(text, "\n// schedule:");
    for (int i = 0; i < GpScheduleKey_count; i++)
        gp_text_printf(text, " %s %u", gp_schedule_info[i].name,
                       *gp_schedule_at(&image.schedule, (GpScheduleKey)i));
    if (image.unpiped != GpUnpiped_None)
        gp_text_printf(text, "\n// not warp-specialised: %s", gp_unpiped_text[image.unpiped]);
    gp_text_puts(text, "\n");
}

enum { DEPENDENT_SM = 90, MOST_AT_ONCE = 32 * 160 }; /* blocks that a GPU runs at once, about */

/* Where the entry's instructions begin. */
static const char *find_start(const char *ptx) {
    const char *at = strstr(strstr(ptx, ".visible .entry"), "\n{\n") + 3;
    while (strncmp(at, "\t.reg", 5) == 0 || strncmp(at, "\t.local", 7) == 0 || strncmp(at, "$L__func", 8) == 0)
        at = strchr(at, '\n') + 1;
    return at;
}

static void note_turns(GpInst *inst, void *ud) {
    bool *stays = ud;
    const GpRegion *r = inst->op == GpOp_LoadTile ? inst->parent : NULL;
    for (; r && r->owner; r = r->owner->parent)
        *stays |= gp_is_loop(r->owner);
}

/* When blocks of the next kernel may be placed: once each block has said so, or has ended. Blocks that load tile after
** tile stay for long, and mostly all run at once. Where the next kernel's took what room they leave, more of those would
** come where first a block ends than elsewhere, and the last ones would run alone: they say nothing. Saying it takes 1.2 ns
** a block of all multiprocessors together (H200), twice as long as to start one, so that of small blocks only those say it
** that may be the last to run. */
static const char *next_may_start(const GpEmit *e) {
    bool stays = false;
    if (e->pipe || e->async)
        return "\tgriddepcontrol.launch_dependents;\n";
    if (e->is_tile)
        gp_ir_walk(e->fn, GpWalk_Before, note_turns, &stays);
    if (stays)
        return "";
    return gp_arena_printf(
        e->arena,
        "\t{\n"
        "\t.reg .pred is_late;\n"
        "\t.reg .b32 left, at, of;\n"
        "\tmov.u32 of, %%nctaid.z;\n\tmov.u32 at, %%ctaid.z;\n\tsub.u32 left, of, at;\n\tsub.u32 left, left, 1;\n"
        "\tmov.u32 of, %%nctaid.y;\n\tmov.u32 at, %%ctaid.y;\n\tmad.lo.u32 left, left, of, of;\n\tsub.u32 left, left, at;\n"
        "\tsub.u32 left, left, 1;\n"
        "\tmov.u32 of, %%nctaid.x;\n\tmov.u32 at, %%ctaid.x;\n\tmad.lo.u32 left, left, of, of;\n\tsub.u32 left, left, at;\n"
        "\tsetp.le.u32 is_late, left, %u;\n"
        "\t@is_late griddepcontrol.launch_dependents;\n"
        "\t}\n",
        (unsigned)MOST_AT_ONCE);
}

/* The next kernel of a stream may be placed while this one's last blocks run, and this one waits for the
** one ahead before it touches memory. Put into the text, since LLVM moves loads of what no one writes
** past any call. */
static GpStr depend(GpEmit *e, LLVMMemoryBufferRef buffer) {
    const char *ptx = gp_arena_copy(e->arena, LLVMGetBufferStart(buffer), LLVMGetBufferSize(buffer));
    size_t len = LLVMGetBufferSize(buffer);
    if (e->target->sm < DEPENDENT_SM)
        return (GpStr){ptx, len};
    const char *text = gp_arena_printf(e->arena, "%s\tgriddepcontrol.wait;\n", next_may_start(e));
    size_t before = (size_t)(find_start(ptx) - ptx), more = strlen(text);
    char *all = GP_NEW_ARRAY(e->arena, char, len + more + 1);
    memcpy(all, ptx, before);
    memcpy(all + before, text, more);
    memcpy(all + before + more, ptx + before, len - before + 1);
    return (GpStr){all, len + more};
}

static void fill_image(GpEmit *e, GpStr ptx, GpImage *image) {
    image->kind = GpImage_Ptx;
    image->ptx = ptx.at;
    image->ptx_len = ptx.len;
    image->is_dependent = e->target->sm >= DEPENDENT_SM;
    image->entry = e->fn->symbol;
    fill_launch(e, image);
    image->ptx_version = e->target->ptx;
    image->min_sm = e->target->sm;
}

static GpStatus outcome(const GpEmit *e) {
    return e->refused ? GpStatus_Diagnostics : GpStatus_Compiler;
}

GpStatus gp_nvptx_compile(GpEmit *e, GpStage stage, GpText *text, GpImage *image) {
    const char *features = gp_arena_printf(e->arena, "+ptx%u", e->target->ptx);
    if (!gp_llvm_init(e->llvm, e->fn->name, "nvptx64-nvidia-cuda", gp_target_cpu(e->target),
                      features))
        return GpStatus_Compiler;
    e->ctx = e->llvm->ctx, e->module = e->llvm->module, e->b = e->llvm->builder;
    uint64_t exchange;
    if (!emit_function(e) || gp_pipe_wants_more(e, &exchange) || gp_async_wants_more(e, &exchange))
        return outcome(e);
    if (text && stage == GpStage_Llvm) {
        print_module(e, text);
        return GpStatus_Ok;
    }
    if (!gp_llvm_run(e->llvm, e->has_device_math ? passes_math : passes_plain))
        return outcome(e);
    if (text && stage == GpStage_LlvmOptimized) {
        print_module(e, text);
        return GpStatus_Ok;
    }
    LLVMMemoryBufferRef ptx = gp_llvm_emit(e->llvm, LLVMAssemblyFile);
    if (!ptx)
        return outcome(e);
    GpStr all = depend(e, ptx);
    if (text) {
        gp_text_add(text, all.at, all.len);
        print_launch(e, text);
    } else {
        fill_image(e, all, image);
    }
    return GpStatus_Ok;
}
