/* Stores of a warp-specialised kernel: a warpgroup writes its rows of the tile to shared memory by
** stmatrix, swizzled against bank conflicts, and one thread starts the copies to the tensor. They
** run on while the next tile is computed; the copy clips what lies beyond the tensor. Where not all of
** the tile has room, panels follow in those whose copies have read them. */
#include <stdio.h>

#include "codegen/emit_i32.h"
#include "codegen/emit_tile_gpu.h"
#include "codegen/fragment.h"
#include "codegen/pipe.h"

enum { ROWS = GP_PIPE_BLOCK_ROWS, STRIP_BYTES = 2 * GP_FEED_CHUNK_BYTES };

static LLVMValueRef bits(GpEmit *e, int from, int count) {
    LLVMValueRef t = LLVMBuildLShr(e->b, gp_gpu_thread(e), gp_emit_i32(e, from), "");
    return LLVMBuildAnd(e->b, t, gp_emit_i32(e, (1 << count) - 1), "");
}

void gp_pipe_in_first(GpEmit *e, void (*emit)(GpEmit *e, void *ud), void *ud) {
    LLVMBasicBlockRef first = gp_emit_block(e, "first"), on = gp_emit_block(e, "on");
    LLVMValueRef is_first =
        LLVMBuildICmp(e->b, LLVMIntEQ, bits(e, 0, GP_GPU_WARPGROUP_BITS), gp_emit_i32(e, 0), "");
    LLVMBuildCondBr(e->b, is_first, first, on);
    gp_emit_at(e, first);
    emit(e, ud);
    LLVMBuildBr(e->b, on);
    gp_emit_at(e, on);
}

/* Until all but so many groups of copies have read. */
static void wait_read(GpEmit *e, uint32_t but) {
    LLVMValueRef groups = gp_emit_i32(e, but);
    gp_emit_intrinsic(e, "llvm.nvvm.cp.async.bulk.wait.group.read", NULL, &groups, 1);
}

void gp_pipe_wait_left(GpEmit *e, void *ud) {
    (void)ud;
    wait_read(e, 0);
}

static void wait_done(GpEmit *e, void *ud) {
    (void)ud;
    LLVMValueRef none = gp_emit_i32(e, 0);
    gp_emit_intrinsic(e, "llvm.nvvm.cp.async.bulk.wait.group", NULL, &none, 1);
}

void gp_pipe_drain_stores(GpEmit *e) {
    if (e->pipe->store_count)
        gp_pipe_in_first(e, gp_pipe_wait_left, NULL);
}

typedef struct Store {
    const GpPipeStore *plan;
    GpBound value; /* of rank 2, as a product's sums lie */
    GpPipeStaging staging;
    uint32_t *at;      /* registers by (block, column / 8, half, column % 2) */
    uint32_t first, end; /* panels of this round, counted over the blocks */
} Store;

/* Where a panel of 64 rows begins among a warpgroup's. */
static uint64_t panel_at(const GpPipeStaging *s, uint32_t block, uint32_t panel) {
    return (uint64_t)ROWS * s->panel_bytes * ((block * s->panels + panel) % s->slots);
}

GpPipeStaging gp_pipe_staging(GpEmit *e, const GpShape *matrix, uint32_t panel_bytes) {
    GpPipeStaging s = {.blocks = (uint32_t)matrix->dim[0] / gp_pipe_rows(e->pipe), .panel_bytes = panel_bytes};
    s.strips = (uint32_t)matrix->dim[1] * 2 / STRIP_BYTES;
    s.panels = s.strips * STRIP_BYTES / panel_bytes;
    uint64_t slot = (uint64_t)ROWS * panel_bytes;
    s.slots = (uint32_t)GP_MIN((uint64_t)s.blocks * s.panels, e->pipe->staging_bytes / e->pipe->warpgroups / slot);
    s.base = gp_i32_scale(e, e->pipe->warpgroup, (int64_t)(slot * s.slots));
    s.base = gp_i32_add(e, s.base, gp_emit_i32(e, (int64_t)e->pipe->staging));
    return s;
}

/* The lines of 128 bytes that a row lies in decide how its chunks are exchanged. */
LLVMValueRef gp_pipe_strip(GpEmit *e, const GpPipeStaging *s, uint32_t block, uint32_t strip) {
    uint32_t bytes = s->panel_bytes, chunks = bytes / GP_FEED_CHUNK_BYTES;
    LLVMValueRef lane_row = gp_i32_add(e, gp_i32_scale(e, bits(e, GP_GPU_LANE_BITS, 2), 16), bits(e, 0, 4));
    LLVMValueRef chunk = LLVMBuildOr(e->b, bits(e, 4, 1), gp_emit_i32(e, strip * 2 % chunks), "");
    LLVMValueRef line = gp_i32_shift(e, gp_i32_low(e, lane_row, GP_SWIZZLE_LINES), gp_panel_shift(bytes));
    chunk = LLVMBuildXor(e->b, chunk, line, "");
    uint64_t panel = panel_at(s, block, strip * 2 / chunks);
    LLVMValueRef at = gp_i32_add(e, gp_i32_add(e, gp_i32_scale(e, lane_row, bytes), gp_i32_scale(e, chunk, GP_FEED_CHUNK_BYTES)),
                          gp_i32_add(e, s->base, gp_emit_i32(e, (int64_t)panel)));
    return gp_pipe_at(e, at);
}

LLVMValueRef gp_pipe_panel(GpEmit *e, const GpPipeStaging *s, uint32_t block, uint32_t panel, int row_axis, LLVMValueRef *coord) {
    LLVMValueRef row = gp_i32_scale(e, e->pipe->warpgroup, ROWS);
    row = gp_i32_add(e, row, gp_emit_i32(e, (int64_t)block * gp_pipe_rows(e->pipe)));
    coord[0] = gp_i32_add(e, coord[0], gp_emit_i32(e, (int64_t)(panel * s->panel_bytes / 2)));
    coord[row_axis] = gp_i32_add(e, coord[row_axis], row);
    return gp_pipe_at(e, gp_i32_add(e, s->base, gp_emit_i32(e, (int64_t)panel_at(s, block, panel))));
}

static void write_strip(GpEmit *e, const Store *s, uint32_t block, uint32_t strip) {
    uint32_t first = (block * s->staging.strips + strip) * 8;
    LLVMValueRef args[5] = {gp_pipe_strip(e, &s->staging, block, strip)};
    for (uint32_t i = 0; i < 4; i++)
        args[1 + i] = gp_emit_pair(e, gp_gpu_at(&s->value, s->at[first + 2 * i]),
                                    gp_gpu_at(&s->value, s->at[first + 2 * i + 1]));
    gp_emit_intrinsic(e, "llvm.nvvm.stmatrix.sync.aligned.m8n8.x4.b16",
                      gp_emit_ptr_type(e, GpSpace_Shared), args, 5);
}

static void start_copy(GpEmit *e, const Store *s, LLVMValueRef const *from, int rank, uint32_t block,
                       uint32_t panel) {
    LLVMValueRef args[2 + GP_PIPE_MOST_RANK + 2];
    memcpy(args + 2, from, (size_t)rank * sizeof *args);
    args[0] = gp_pipe_panel(e, &s->staging, block, panel, s->plan->row_axis, args + 2);
    args[1] = e->pipe->map_params[s->plan->map];
    args[2 + rank] = gp_emit_i64(e, 0);
    args[3 + rank] = gp_emit_bool(e, false);
    char name[64];
    snprintf(name, sizeof name, "llvm.nvvm.cp.async.bulk.tensor.s2g.tile.%dd", rank);
    gp_emit_intrinsic(e, name, NULL, args, (uint32_t)rank + 4);
}

static bool is_whole(const GpPipeStaging *s) { return s->slots == s->blocks * s->panels; }

/* A group for each panel where others wait for it. */
static void start_copies(GpEmit *e, void *ud) {
    const Store *s = ud;
    LLVMValueRef coord[GP_PIPE_MOST_RANK];
    int rank = gp_pipe_coords(e, s->plan->inst, coord);
    for (uint32_t i = s->first; i < s->end; i++) {
        start_copy(e, s, coord, rank, i / s->staging.panels, i % s->staging.panels);
        if (i + 1 == s->end || !is_whole(&s->staging))
            gp_emit_intrinsic(e, "llvm.nvvm.cp.async.bulk.commit.group", NULL, NULL, 0);
    }
}

/* For the panels of a round that is not the first: the one before has a group for each slot. */
static void wait_slots(GpEmit *e, void *ud) {
    const Store *s = ud;
    wait_read(e, s->staging.slots - (s->end - s->first));
}

static void write_panel(GpEmit *e, const Store *s, uint32_t block, uint32_t panel) {
    uint32_t strips = s->staging.strips / s->staging.panels;
    for (uint32_t i = 0; i < strips; i++)
        write_strip(e, s, block, panel * strips + i);
}

static void store_round(GpEmit *e, Store *s) {
    gp_pipe_in_first(e, s->first ? wait_slots : s->plan->is_repeated ? wait_done : gp_pipe_wait_left, s);
    gp_pipe_warpgroup_barrier(e);
    for (uint32_t i = s->first; i < s->end; i++)
        write_panel(e, s, i / s->staging.panels, i % s->staging.panels);
    gp_emit_intrinsic(e, s->plan->is_loaded ? "llvm.nvvm.fence.proxy.async" : "llvm.nvvm.fence.proxy.async.shared_cta",
                      NULL, NULL, 0);
    gp_pipe_warpgroup_barrier(e);
    gp_pipe_in_first(e, start_copies, s);
}

static const GpPipeStore *find_store(const GpPipe *p, const GpInst *inst) {
    for (uint32_t i = 0; p && i < p->store_count; i++)
        if (p->stores[i].inst == inst)
            return &p->stores[i];
    return NULL;
}

bool gp_pipe_store(GpEmit *e, const GpInst *inst) {
    Store s = {.plan = find_store(e->pipe, inst)};
    if (!s.plan)
        return false;
    const GpShape *matrix = &s.plan->matrix;
    const GpShapeLayout *layout = gp_wgmma_layout(e, matrix);
    const GpLayout *held = gp_layout_reshape(e->arena, layout->layout, &s.plan->value->type->shape);
    s.value = gp_gpu_convert(e, s.plan->value, gp_gpu_layout(e, held));
    s.staging = gp_pipe_staging(e, matrix, s.plan->panel_bytes);
    s.at = gp_wgmma_places(e, layout);
    for (uint32_t count = s.staging.blocks * s.staging.panels; s.first < count; s.first = s.end) {
        s.end = GP_MIN(s.first + s.staging.slots, count);
        store_round(e, &s);
    }
    return true;
}
