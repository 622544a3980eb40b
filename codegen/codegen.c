/* The entry points: a compile's arena, its optimized copy of the IR, and the choice of backend. */
#include "codegen/async.h"
#include "codegen/emit_tile_gpu.h"

GpCodegen *gp_codegen_new(GpSession *s) {
    GpCodegen *cg = GP_TRY_NEW(s, GpCodegen);
    if (cg)
        cg->session = s;
    return cg;
}

void gp_codegen_free(GpCodegen *cg) {
    if (!cg)
        return;
    gp_free(cg->session, cg->math_path, cg->math_bytes);
    gp_free(cg->session, cg, sizeof *cg);
}

const char *gp_codegen_llvm_version(void) { return gp_llvm_version(); }

typedef struct Compile {
    GpCodegen *cg;
    const GpIrFn *fn;
    const GpTarget *target;
    GpDiags *diags;
    GpStage stage;
    GpText *text; /* NULL: make an image */
    GpImage **image;
    GpArena *arena;
    GpLlvm llvm;
    GpStatus status;
    bool has_products, is_shared; /* of tile kernels for a GPU: gp_tile_gpu_round */
} Compile;

static GpIrFn *optimized_copy(Compile *c) {
    GpIrFn *fn = gp_ir_clone(c->arena, c->fn);
    gp_ir_run_passes(fn, GpPassStage_Optimize);
    if (c->target->kind != GpTarget_Interp) /* which runs the function as it is, with all of its sites */
        gp_ir_drop_sites(fn);
    gp_ir_number(fn);
    return fn;
}

/* What a backend emits. */
static GpIrFn *emitted_copy(Compile *c) {
    GpIrFn *fn = optimized_copy(c);
    if (c->target->kind == GpTarget_Nvptx && fn->track == GpTrack_Tile)
        c->has_products = gp_tile_gpu_round(fn, c->is_shared);
    return fn;
}

static GpEmit *make_emit(Compile *c, GpIrFn *fn) {
    GpEmit *e = GP_NEW(c->arena, GpEmit);
    *e = (GpEmit){.cg = c->cg,
                  .arena = c->arena,
                  .fn = fn,
                  .target = c->target,
                  .diags = c->diags,
                  .llvm = &c->llvm};
    e->is_gpu = c->target->kind == GpTarget_Nvptx;
    e->is_tile = fn->track == GpTrack_Tile;
    e->bound = GP_NEW_ARRAY(c->arena, GpBound, fn->next_id);
    e->tensors = GP_NEW_ARRAY(c->arena, GpTensorArg, fn->next_id);
    return e;
}

static void add_interface(Compile *c, GpEmit *e, GpImage *image) {
    uint32_t bytes = 0;
    e->abi = gp_ir_abi(e->fn, c->arena, &e->abi_count, &bytes);
    image->session = c->cg->session;
    image->name = c->fn->name;
    image->params = e->abi;
    image->param_count = e->abi_count;
    image->param_bytes = bytes;
    image->written = gp_ir_written(c->fn);
    image->overwrites = gp_ir_overwrites(c->fn);
    image->sites = e->fn->sites;
    image->site_count = e->fn->site_count;
}

static GpStatus run_backend(Compile *c, GpEmit *e, GpImage *image) {
    if (c->target->kind != GpTarget_Interp && !gp_target_check_ops(e->fn, c->target, c->diags))
        return GpStatus_Diagnostics;
    switch (c->target->kind) {
    case GpTarget_Nvptx:
        return gp_nvptx_compile(e, c->stage, c->text, image);
    case GpTarget_Cpu:
        return gp_cpu_compile(e, c->stage, c->text, image);
    case GpTarget_Interp:
        return gp_oracle_compile(c->cg->session, c->fn, image);
    }
    gp_unreachable();
}

static void finish(Compile *c, const GpImage *image) {
    if (c->status == GpStatus_Compiler)
        gp_diag(c->diags, GpDiag_G0500, c->fn->span, c->fn->name, c->llvm.message);
    if (c->status != GpStatus_Ok || c->text)
        return;
    *c->image = gp_image_copy(c->cg->session, image);
    if (*c->image)
        return;
    if (image->release)
        image->release(image->cpu_self);
    c->status = GpStatus_NoMemory;
}

static GpEmit *open_emit(Compile *c, GpIrFn *fn, uint64_t exchange, GpImage *image) {
    GpEmit *e = make_emit(c, fn);
    e->exchange_room = exchange;
    add_interface(c, e, image);
    gp_pipe_plan(e);
    if (!e->pipe)
        gp_async_plan(e);
    return e;
}

/* As it is written, or with products transposed whose second operand is computed. */
static GpEmit *open_first(Compile *c, uint64_t exchange, GpImage *image) {
    GpEmit *e = open_emit(c, emitted_copy(c), exchange, image);
    if (e->pipe || e->unpiped != GpUnpiped_Computed)
        return e;
    GpIrFn *fn = emitted_copy(c);
    GpEmit *transposed = gp_pipe_transpose(fn) ? open_emit(c, fn, exchange, image) : NULL;
    if (!transposed || transposed->pipe)
        return transposed ? transposed : e;
    return open_emit(c, emitted_copy(c), exchange, image);
}

/* With what threads read where it is worked on, and its loops rotated and split, where that can be and the result still fits. */
static GpEmit *open_best(Compile *c, uint64_t exchange, GpImage *image) {
    GpEmit *e = open_first(c, exchange, image);
    bool is_moved = e->pipe && gp_pipe_sink(e);
    bool is_spread = e->pipe && !gp_pipe_loops_jump(e) && gp_pipe_spread(e);
    if (is_moved || is_spread)
        e = open_emit(c, e->fn, exchange, image);
    bool is_rotated = e->pipe && !gp_pipe_loops_jump(e) && (gp_pipe_skew(e) || gp_pipe_ahead(e));
    bool is_split = e->pipe && gp_pipe_split(e);
    if (!is_rotated && !is_split)
        return e;
    e = open_emit(c, e->fn, exchange, image);
    return e->pipe ? e : open_emit(c, emitted_copy(c), exchange, image);
}

/* With rows of products for the tensor cores where copies bring the operands, else with extents that threads can share. */
static GpEmit *open_rounded(Compile *c, uint64_t exchange, GpImage *image) {
    GpEmit *e = open_best(c, exchange, image);
    if (e->pipe || e->async || !c->has_products)
        return e;
    c->is_shared = true;
    return open_best(c, exchange, image);
}

static void compile(GpSession *s, void *ud) {
    (void)s;
    Compile *c = ud;
    bool wants_ir = c->text && (c->stage == GpStage_Ir || c->stage == GpStage_IrOptimized);
    if (wants_ir && c->stage == GpStage_Ir) {
        gp_ir_print(c->fn, c->text);
        return;
    }
    if (wants_ir) {
        gp_ir_print(optimized_copy(c), c->text);
        return;
    }
    GpImage image = {0};
    uint64_t exchange = 0;
    GpEmit *e;
    do {
        gp_llvm_done(&c->llvm);
        e = open_rounded(c, exchange, &image);
        c->status = run_backend(c, e, &image);
    } while (gp_pipe_wants_more(e, &exchange) || gp_async_wants_more(e, &exchange));
    finish(c, &image);
}

static GpStatus run(Compile *c) {
    c->arena = gp_arena_new(c->cg->session);
    if (!c->arena)
        return GpStatus_NoMemory;
    GpStatus thrown = gp_protect(c->cg->session, compile, c);
    gp_llvm_done(&c->llvm);
    gp_arena_free(c->arena);
    return thrown != GpStatus_Ok ? thrown : c->status;
}

GpStatus gp_codegen_compile(GpCodegen *cg, const GpIrFn *fn, const GpTarget *target, GpDiags *diags,
                            GpImage **image) {
    *image = NULL;
    Compile c = {.cg = cg, .fn = fn, .target = target, .diags = diags, .image = image};
    return run(&c);
}

GpStatus gp_codegen_emit(GpCodegen *cg, const GpIrFn *fn, const GpTarget *target, GpStage stage,
                         GpDiags *diags, GpText *out) {
    bool is_gpu = target->kind == GpTarget_Nvptx, is_cpu = target->kind == GpTarget_Cpu;
    if ((stage == GpStage_Ptx && !is_gpu) || (stage == GpStage_Asm && !is_cpu) ||
        ((stage == GpStage_Llvm || stage == GpStage_LlvmOptimized) && !is_gpu && !is_cpu))
        return GpStatus_Unsupported;
    Compile c = {.cg = cg, .fn = fn, .target = target, .diags = diags, .stage = stage, .text = out};
    return run(&c);
}
