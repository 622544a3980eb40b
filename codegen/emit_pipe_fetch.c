/* The tile that is copied ahead (pipe_fetch.c): each warpgroup starts the copies of its own rows, and reads them as it will
** write what it stores there. They start in the loop's third turn, when the stores of the tile before have left: who waited
** for those in front of the loop would start no products meanwhile. Before a loop that may end sooner they start in front. */
#include "codegen/emit_i32.h"
#include "codegen/emit_tile_gpu.h"
#include "codegen/pipe.h"

static GpPipeStaging staging_of(GpEmit *e, GpShape *matrix) {
    int a[2];
    const GpShape *shape = gp_tile_shape(e->pipe->fetch.load);
    (void)gp_feed_axes(shape, a);
    *matrix = (GpShape){.rank = 2, .dim = {shape->dim[a[0]], shape->dim[a[1]]}};
    return gp_pipe_staging(e, matrix, e->pipe->fetch.panel_bytes);
}

static LLVMValueRef barrier_of(GpEmit *e) {
    LLVMValueRef at = gp_i32_scale(e, e->pipe->warpgroup, GP_PIPE_FETCH_BARRIER);
    return gp_emit_behind(e, gp_pipe_at(e, at), (int64_t)e->pipe->fetch.barriers);
}

void gp_pipe_open_fetch(GpEmit *e) {
    if (!e->pipe->fetch.load)
        return;
    e->pipe->fetch.phase = gp_emit_alloca(e, LLVMInt32TypeInContext(e->ctx), 1, 4);
    LLVMBuildStore(e->b, gp_emit_i32(e, 0), e->pipe->fetch.phase);
}

static void start(GpEmit *e, void *ud) {
    const GpPipeFetch *f = &e->pipe->fetch;
    GpShape matrix;
    GpPipeStaging s = staging_of(e, &matrix);
    LLVMValueRef from[GP_PIPE_MOST_RANK] = {NULL};
    GpPipeCopy copy = {.map = f->map, .rank = gp_pipe_coords(e, f->load, from)};
    uint32_t bytes = s.blocks * s.panels * GP_PIPE_BLOCK_ROWS * s.panel_bytes;
    gp_pipe_wait_left(e, ud);
    LLVMValueRef expect[] = {barrier_of(e), gp_emit_i32(e, bytes)};
    gp_emit_intrinsic(e, "llvm.nvvm.mbarrier.arrive.expect.tx.scope.cta.space.cta", NULL, expect, 2);
    copy.barrier = expect[0];
    for (uint32_t block = 0; block < s.blocks; block++)
        for (uint32_t panel = 0; panel < s.panels; panel++) {
            memcpy(copy.coord, from, sizeof from);
            copy.at = gp_pipe_in_cluster(e, gp_pipe_panel(e, &s, block, panel, 1, copy.coord));
            gp_pipe_copy(e, &copy);
        }
}

enum { LATE = 2 };

static bool is_ahead(const GpEmit *e, const GpInst *loop) {
    return e->pipe && e->pipe->role == GpPipe_Consumer && e->pipe->fetch.ahead == loop;
}

static bool is_late(const GpInst *loop) { return loop->op == GpOp_For && !gp_pipe_has_jump(loop->regions[0]); }

static void start_where(GpEmit *e, LLVMIntPredicate is, LLVMValueRef turns) {
    LLVMBasicBlockRef ahead = gp_emit_block(e, "ahead"), on = gp_emit_block(e, "on");
    LLVMValueRef late = LLVMConstInt(LLVMTypeOf(turns), LATE, false);
    LLVMBuildCondBr(e->b, LLVMBuildICmp(e->b, is, turns, late, ""), ahead, on);
    gp_emit_at(e, ahead);
    gp_pipe_in_first(e, start, NULL);
    LLVMBuildBr(e->b, on);
    gp_emit_at(e, on);
}

void gp_pipe_before_loop(GpEmit *e, const GpInst *loop, LLVMValueRef turns) {
    if (is_ahead(e, loop) && is_late(loop))
        start_where(e, LLVMIntULE, turns);
    else if (is_ahead(e, loop))
        gp_pipe_in_first(e, start, NULL);
}

void gp_pipe_turn(GpEmit *e, const GpInst *loop, LLVMValueRef k) {
    if (is_ahead(e, loop) && is_late(loop))
        start_where(e, LLVMIntEQ, k);
}

static LLVMValueRef element(GpEmit *e, GpElem elem, LLVMValueRef words, uint32_t word, uint32_t half) {
    LLVMValueRef v = gp_i32_shift(e, LLVMBuildExtractValue(e->b, words, word, ""), INT64_C(16) * half);
    return gp_emit_from_mem(e, elem, LLVMBuildTrunc(e->b, v, gp_emit_mem_type(e, elem), ""));
}

void gp_pipe_fetch(GpEmit *e) {
    const GpPipeFetch *f = &e->pipe->fetch;
    const GpValue *v = f->load->results[0];
    LLVMTypeRef i32 = LLVMInt32TypeInContext(e->ctx);
    LLVMValueRef phase = LLVMBuildLoad2(e->b, i32, f->phase, "");
    gp_pipe_wait(e, barrier_of(e), phase);
    LLVMBuildStore(e->b, LLVMBuildXor(e->b, phase, gp_emit_i32(e, 1), ""), f->phase);
    GpShape matrix;
    GpPipeStaging s = staging_of(e, &matrix);
    const GpShapeLayout *layout = gp_wgmma_layout(e, &v->type->shape);
    const uint32_t *at = gp_wgmma_places(e, gp_wgmma_layout(e, &matrix));
    GpBound out = gp_emit_bound_make(e, gp_layout_registers(layout->layout));
    for (uint32_t i = 0; i < s.blocks * s.strips; i++) {
        LLVMValueRef from = gp_pipe_strip(e, &s, i / s.strips, i % s.strips);
        LLVMValueRef words = gp_emit_intrinsic(e, "llvm.nvvm.ldmatrix.sync.aligned.m8n8.x4.b16", LLVMTypeOf(from), &from, 1);
        for (uint32_t k = 0; k < 8; k++)
            out.at[at[i * 8 + k]] = element(e, v->type->elem, words, k / 2, k % 2);
    }
    gp_gpu_bind(e, v, out, layout);
}
