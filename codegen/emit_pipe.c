/* The roles of a warp-specialised kernel, and the protocol of the rings between them.
**
** Invariant of a ring: stage s is filled for the n-th time when `full[s]` completes its n-th phase,
** and may be overwritten after `empty[s]` completes its n-th. Each role keeps a stage and a parity
** of its own; the producer's parity starts at one, because a fresh barrier lets a waiter for
** parity one pass. */
#include <stdio.h>

#include "codegen/emit_i32.h"
#include "codegen/emit_tile_gpu.h"
#include "codegen/inline_ptx.h"
#include "codegen/pipe.h"

enum {
    WARPGROUP_WARPS = GP_GPU_WARPGROUP / GP_GPU_LANES,
    CONSUMER_BARRIER = 1,  /* hardware barrier of all consumers */
    WARPGROUP_BARRIER = 2, /* of the first warpgroup, then of the others */
    TURN_BARRIER = 6,
    EMPTY = GP_PIPE_BARRIERS / 2 /* where the second one of a stage is */
};

static LLVMTypeRef i32(GpEmit *e) { return LLVMInt32TypeInContext(e->ctx); }

static LLVMValueRef call(GpEmit *e, const char *name, LLVMValueRef *args, uint32_t count) {
    return gp_emit_intrinsic(e, name, NULL, args, count);
}

bool gp_pipe_has(const GpEmit *e, const GpInst *inst) {
    return !e->pipe || e->pipe->role == GpPipe_Consumer || gp_map_has(&e->pipe->slice, inst);
}

bool gp_pipe_carries(const GpEmit *e, const GpValue *v) {
    return !e->pipe || e->pipe->role == GpPipe_Consumer || e->pipe->in_slice[v->id];
}

bool gp_pipe_reports(const GpEmit *e, const GpInst *check) {
    return !e->pipe || e->pipe->role == GpPipe_Producer || !gp_map_has(&e->pipe->slice, check);
}

/* ---- Shared memory and barriers ---------------------------------------------------------- */

LLVMValueRef gp_pipe_at(GpEmit *e, LLVMValueRef offset) {
    return gp_emit_gep(e, GpElem_U8, e->pipe->shared, offset);
}

static LLVMValueRef address(GpEmit *e, uint64_t offset) {
    return gp_pipe_at(e, gp_emit_i32(e, (int64_t)offset));
}

/* The barrier of a stage: `which` is 0 for full and EMPTY for empty. It lies behind the stage's place: with the constant
** in that offset all places in shared memory would be alike to LLVM's strength reduction, which compares each of a
** kernel's with each. */
static LLVMValueRef stage_barrier(GpEmit *e, const GpChannel *c, LLVMValueRef stage, int which) {
    LLVMValueRef at = gp_i32_scale(e, stage, GP_PIPE_BARRIERS);
    return gp_emit_behind(e, gp_pipe_at(e, at), (int64_t)c->barriers + which);
}

/* All threads of the block, or of the cluster. */
static void sync_start(GpEmit *e) {
    LLVMValueRef id = gp_emit_i32(e, 0);
    if (e->pipe->cluster == 1) {
        call(e, "llvm.nvvm.barrier.cta.sync.aligned.all", &id, 1);
        return;
    }
    call(e, "llvm.nvvm.barrier.cluster.arrive.relaxed.aligned", NULL, 0); /* behind the fence */
    call(e, "llvm.nvvm.barrier.cluster.wait.aligned", NULL, 0);
}

static void init_fetch(GpEmit *e) {
    const GpPipe *p = e->pipe;
    for (uint32_t i = 0; p->fetch.load && i < p->warpgroups; i++) {
        LLVMValueRef args[] = {address(e, p->fetch.barriers + (uint64_t)i * GP_PIPE_FETCH_BARRIER), gp_emit_i32(e, 1)};
        call(e, "llvm.nvvm.mbarrier.init.shared", args, 2);
    }
}

static void init_barriers(GpEmit *e) {
    GpPipe *p = e->pipe;
    LLVMBasicBlockRef init = gp_emit_block(e, "init"), start = gp_emit_block(e, "start");
    LLVMValueRef is_first = LLVMBuildICmp(e->b, LLVMIntEQ, gp_gpu_thread(e), gp_emit_i32(e, 0), "");
    LLVMBuildCondBr(e->b, is_first, init, start);
    gp_emit_at(e, init);
    for (uint32_t i = 0; i < p->channel_count; i++) {
        const GpChannel *c = &p->channels[i];
        for (uint32_t s = 0; s < c->stages; s++) {
            uint64_t slot = c->barriers + (uint64_t)s * GP_PIPE_BARRIERS;
            LLVMValueRef full[] = {address(e, slot), gp_emit_i32(e, 1)};
            uint32_t readers = p->warpgroups * (c->is_shared ? p->cluster : c->is_read ? WARPGROUP_WARPS : 1);
            LLVMValueRef empty[] = {address(e, slot + EMPTY), gp_emit_i32(e, readers)};
            call(e, "llvm.nvvm.mbarrier.init.shared", full, 2);
            call(e, "llvm.nvvm.mbarrier.init.shared", empty, 2);
        }
    }
    init_fetch(e);
    call(e, "llvm.nvvm.fence.mbarrier_init.release.cluster", NULL, 0);
    LLVMBuildBr(e->b, start);
    gp_emit_at(e, start);
    sync_start(e);
}

void gp_pipe_wait(GpEmit *e, LLVMValueRef barrier, LLVMValueRef parity) {
    LLVMBasicBlockRef wait = gp_emit_block(e, "wait"), passed = gp_emit_block(e, "passed");
    LLVMBuildBr(e->b, wait);
    gp_emit_at(e, wait);
    LLVMValueRef args[] = {barrier, parity};
    LLVMValueRef done =
        call(e, "llvm.nvvm.mbarrier.try.wait.parity.scope.cta.space.cta", args, 2);
    LLVMBuildCondBr(e->b, done, passed, wait);
    gp_emit_at(e, passed);
}

void gp_pipe_barrier(GpEmit *e) {
    gp_pipe_give_turn(e);
    LLVMValueRef args[] = {gp_emit_i32(e, CONSUMER_BARRIER),
                           gp_emit_i32(e, gp_pipe_tile_threads(e->pipe))};
    call(e, "llvm.nvvm.barrier.cta.sync.aligned.count", args, 2);
}

LLVMValueRef gp_pipe_any(GpEmit *e, LLVMValueRef cond) {
    gp_pipe_give_turn(e);
    LLVMValueRef args[] = {gp_emit_i32(e, CONSUMER_BARRIER),
                           gp_emit_i32(e, gp_pipe_tile_threads(e->pipe)), cond};
    return call(e, "llvm.nvvm.barrier.cta.red.or.aligned.count", args, 3);
}

void gp_pipe_warpgroup_barrier(GpEmit *e) {
    LLVMValueRef id = gp_i32_add(e, e->pipe->warpgroup, gp_emit_i32(e, WARPGROUP_BARRIER));
    LLVMValueRef args[] = {id, gp_emit_i32(e, GP_GPU_WARPGROUP)};
    call(e, "llvm.nvvm.barrier.cta.sync.aligned.count", args, 2);
}

/* A hardware barrier for each warpgroup's turn: itself and the other, which arrives. */
static void turn_barrier(GpEmit *e, const char *name, LLVMValueRef id) {
    LLVMValueRef args[] = {id, gp_emit_i32(e, INT64_C(2) * GP_GPU_WARPGROUP)};
    call(e, name, args, 2);
}

static LLVMValueRef other_turn(GpEmit *e) {
    return LLVMBuildSub(e->b, gp_emit_i32(e, TURN_BARRIER + 1), e->pipe->warpgroup, "");
}

void gp_pipe_take_turn(GpEmit *e) {
    turn_barrier(e, "llvm.nvvm.barrier.cta.sync.aligned.count",
                 gp_i32_add(e, e->pipe->warpgroup, gp_emit_i32(e, TURN_BARRIER)));
    e->pipe->has_turn = true;
}

static void call_other(GpEmit *e) {
    turn_barrier(e, "llvm.nvvm.barrier.cta.arrive.aligned.count", other_turn(e));
}

void gp_pipe_give_turn(GpEmit *e) {
    if (e->pipe->has_turn)
        call_other(e);
    e->pipe->has_turn = false;
}

/* ptxas moves other work across barriers. So this one's number is made of the value too, in a way that
** does not change it: v * v + v is even. */
void gp_pipe_give_turn_after(GpEmit *e, LLVMValueRef v) {
    GpInlinePtx ptx = gp_inline_begin(e, 2);
    uint32_t bits = gp_inline_input(&ptx, LLVMBuildBitCast(e->b, v, i32(e), ""));
    uint32_t id = gp_inline_input(&ptx, other_turn(e));
    gp_inline_puts(&ptx, "{ .reg .b32 t; mad.lo.s32 t, $%u, $%u, $%u; and.b32 t, t, 1; add.s32 t, t, $%u; ", bits, bits, bits, id);
    gp_inline_puts(&ptx, "barrier.cta.arrive.aligned t, %d; }", 2 * GP_GPU_WARPGROUP);
    gp_inline_call(&ptx, NULL);
    e->pipe->has_turn = false;
}

/* The first turn is the first warpgroup's. */
static void open_turns(GpEmit *e) {
    LLVMBasicBlockRef give = gp_emit_block(e, "give"), start = gp_emit_block(e, "start");
    LLVMValueRef is_second =
        LLVMBuildICmp(e->b, LLVMIntEQ, e->pipe->warpgroup, gp_emit_i32(e, 1), "");
    LLVMBuildCondBr(e->b, is_second, give, start);
    gp_emit_at(e, give);
    call_other(e);
    LLVMBuildBr(e->b, start);
    gp_emit_at(e, start);
}

/* ---- Rings ------------------------------------------------------------------------------- */

/* The counters are memory that LLVM turns into registers. Each is frozen, so that nobody asks of a place what the
** stages before it were made of. */
static void open_rings(GpEmit *e, int64_t parity) {
    for (uint32_t i = 0; i < e->pipe->channel_count; i++) {
        GpChannel *c = &e->pipe->channels[i];
        c->stage = gp_emit_alloca(e, i32(e), 1, 4);
        c->phase = gp_emit_alloca(e, i32(e), 1, 4);
        c->now = NULL;
        LLVMBuildStore(e->b, gp_emit_i32(e, 0), c->stage);
        LLVMBuildStore(e->b, gp_emit_i32(e, parity), c->phase);
    }
}

static LLVMValueRef read_counter(GpEmit *e, LLVMValueRef at) {
    return LLVMBuildLoad2(e->b, i32(e), at, "");
}

static void advance(GpEmit *e, const GpChannel *c, LLVMValueRef stage) {
    LLVMValueRef next = gp_i32_add(e, stage, gp_emit_i32(e, 1));
    LLVMValueRef wraps = LLVMBuildICmp(e->b, LLVMIntEQ, next, gp_emit_i32(e, c->stages), "");
    LLVMValueRef phase = read_counter(e, c->phase);
    phase = LLVMBuildXor(e->b, phase, LLVMBuildZExt(e->b, wraps, i32(e), ""), "");
    next = LLVMBuildSelect(e->b, wraps, gp_emit_i32(e, 0), next, "");
    LLVMBuildStore(e->b, LLVMBuildFreeze(e->b, next, ""), c->stage);
    LLVMBuildStore(e->b, phase, c->phase);
}

/* Waits until it is full. */
static LLVMValueRef stage(GpEmit *e, GpChannel *c) {
    if (c->now)
        return c->now;
    c->now = read_counter(e, c->stage);
    gp_pipe_wait(e, stage_barrier(e, c, c->now, 0), read_counter(e, c->phase));
    return c->now;
}

LLVMValueRef gp_pipe_tile(GpEmit *e, const GpFeed *f) {
    GpChannel *c = f->group->channel;
    LLVMValueRef at = gp_i32_scale(e, stage(e, c), (int64_t)c->stage_bytes);
    return gp_i32_add(e, at, gp_emit_i32(e, (int64_t)(c->offset + f->offset)));
}

static LLVMValueRef lane_of(GpEmit *e) {
    return gp_i32_low(e, gp_gpu_thread(e), GP_GPU_WARPGROUP);
}

/* In the block of the cluster that has the lane's number. LLVM's intrinsic would have a fence of all
** memory in front, which the copies need not wait for. */
static void arrive_in_peer(GpEmit *e, const GpChannel *c) {
    LLVMValueRef at = gp_i32_scale(e, c->now, GP_PIPE_BARRIERS);
    at = gp_i32_add(e, at, gp_emit_i32(e, (int64_t)c->barriers + EMPTY));
    GpInlinePtx ptx = gp_inline_begin(e, 1);
    uint32_t barrier = gp_inline_input(&ptx, gp_i32_add(e, e->pipe->peer, at));
    gp_inline_puts(&ptx, "mbarrier.arrive.shared::cluster.b64 _, [$%u];", barrier);
    gp_inline_call(&ptx, NULL);
}

/* One thread arrives for its warpgroup, or for its warp where that has read the stage. A product that read the stage had
** all its warps; without one a warp may still wait for the stage to be full, and would miss that the next tile filled it. */
void gp_pipe_release(GpEmit *e, GpChannel *c) {
    LLVMValueRef all = gp_emit_i32(e, -1);
    if (c->is_read)
        call(e, "llvm.nvvm.bar.warp.sync", &all, 1);
    else if (!c->is_ring)
        gp_pipe_warpgroup_barrier(e);
    LLVMBasicBlockRef arrive = gp_emit_block(e, "arrive"), released = gp_emit_block(e, "released");
    LLVMValueRef last = gp_emit_i32(e, c->is_shared ? e->pipe->cluster - 1 : 0);
    LLVMIntPredicate is_in = c->is_shared ? LLVMIntULE : LLVMIntEQ;
    LLVMValueRef lane = c->is_read ? gp_i32_low(e, gp_gpu_thread(e), GP_GPU_LANES) : lane_of(e);
    LLVMBuildCondBr(e->b, LLVMBuildICmp(e->b, is_in, lane, last, ""), arrive, released);
    gp_emit_at(e, arrive);
    if (c->is_shared) {
        arrive_in_peer(e, c);
    } else {
        LLVMValueRef args[] = {stage_barrier(e, c, c->now, EMPTY), gp_emit_i32(e, 1)};
        call(e, "llvm.nvvm.mbarrier.arrive.scope.cta.space.cta", args, 2);
    }
    LLVMBuildBr(e->b, released);
    gp_emit_at(e, released);
    advance(e, c, c->now);
    c->now = NULL;
}

/* ---- The producer's loads ---------------------------------------------------------------- */

/* The first line that this block copies. */
static LLVMValueRef first_line(GpEmit *e, const GpFeed *f) {
    return gp_i32_scale(e, e->pipe->rank, f->lines / e->pipe->cluster);
}

LLVMValueRef gp_pipe_in_cluster(GpEmit *e, LLVMValueRef at) {
    return LLVMBuildAddrSpaceCast(e->b, at, LLVMPointerTypeInContext(e->ctx, 7), "");
}

void gp_pipe_copy(GpEmit *e, const GpPipeCopy *c) {
    LLVMValueRef args[3 + GP_PIPE_MOST_RANK + 5] = {NULL};
    uint32_t count = 0;
    args[count++] = c->at;
    args[count++] = c->barrier;
    args[count++] = e->pipe->map_params[c->map];
    for (int a = 0; a < c->rank; a++)
        args[count++] = c->coord[a];
    args[count++] = LLVMConstInt(LLVMInt16TypeInContext(e->ctx), c->blocks, false);
    args[count++] = gp_emit_i64(e, 0); /* no cache hint */
    args[count++] = gp_emit_bool(e, c->blocks != 0);
    args[count++] = gp_emit_bool(e, false);
    args[count++] = gp_emit_i32(e, 0);
    char name[64];
    snprintf(name, sizeof name, "llvm.nvvm.cp.async.bulk.tensor.g2s.tile.%dd", c->rank);
    call(e, name, args, count);
}

static void copy_panel(GpEmit *e, const GpFeed *f, uint32_t panel, LLVMValueRef stage, LLVMValueRef const *from, int rank) {
    const GpChannel *c = f->group->channel;
    uint32_t width = f->panel_bytes / gp_elem_info[f->load->results[0]->type->elem].bytes;
    uint64_t offset = c->offset + f->offset + (uint64_t)panel * f->lines * f->panel_bytes;
    LLVMValueRef at = gp_i32_scale(e, stage, (int64_t)c->stage_bytes);
    GpPipeCopy copy = {.map = f->map, .rank = rank, .blocks = f->is_shared ? (1u << e->pipe->cluster) - 1 : 0};
    if (f->is_shared) {
        LLVMValueRef line = first_line(e, f);
        at = gp_i32_add(e, at, gp_i32_scale(e, line, f->panel_bytes));
    }
    copy.at = gp_pipe_in_cluster(e, gp_emit_behind(e, gp_pipe_at(e, at), (int64_t)offset));
    copy.barrier = stage_barrier(e, c, stage, 0);
    memcpy(copy.coord, from, (size_t)rank * sizeof *from);
    copy.coord[0] = gp_i32_add(e, from[0], gp_emit_i32(e, (int64_t)panel * width));
    gp_pipe_copy(e, &copy);
}

static void produce(GpEmit *e, const GpFeed *f) {
    GpChannel *c = f->group->channel;
    if (f->load == f->group->opener) {
        c->now = read_counter(e, c->stage);
        gp_pipe_wait(e, stage_barrier(e, c, c->now, EMPTY), read_counter(e, c->phase));
        LLVMValueRef args[] = {stage_barrier(e, c, c->now, 0),
                               gp_emit_i32(e, (int64_t)f->group->copied)};
        call(e, "llvm.nvvm.mbarrier.arrive.expect.tx.scope.cta.space.cta", args, 2);
    }
    LLVMValueRef coord[GP_PIPE_MOST_RANK] = {NULL};
    int copied = gp_pipe_coords(e, f->load, coord);
    if (f->is_shared) {
        int a[2], rank = gp_tile_shape(f->load)->rank;
        (void)gp_feed_axes(gp_tile_shape(f->load), a);
        LLVMValueRef *line = &coord[rank - 1 - a[0]];
        *line = gp_i32_add(e, *line, first_line(e, f));
    }
    for (uint32_t i = 0; i < f->panels; i++)
        copy_panel(e, f, i, c->now, coord, copied);
    if (f->load == f->group->closer)
        advance(e, c, c->now);
}

bool gp_pipe_load(GpEmit *e, const GpInst *inst) {
    GpFeed *f = e->pipe ? gp_map_get(&e->pipe->feeds.of, inst) : NULL;
    bool is_fetched = e->pipe && e->pipe->fetch.load == inst;
    if (is_fetched)
        gp_pipe_fetch(e);
    if (!f)
        return is_fetched;
    if (e->pipe->role == GpPipe_Producer)
        produce(e, f);
    else if (f->is_read)
        gp_pipe_read(e, f);
    else if (f->group->channel->is_held)
        gp_pipe_hold(e, f);
    else if (!f->group->channel->is_ring && inst == f->group->closer)
        (void)stage(e, f->group->channel);
    return true;
}

/* A block stays until the others of its cluster have arrived at its barriers for the last time: then
** every stage is free. The consumers wait for that with the producer's parity, which is the other one.
** (The producer calls functions, and would have to save what it needs behind its loop.) */
static void drain_rings(GpEmit *e) {
    for (uint32_t i = 0; i < e->pipe->channel_count; i++) {
        const GpChannel *c = &e->pipe->channels[i];
        for (uint32_t s = 0; s < c->stages && c->is_shared; s++) {
            LLVMValueRef stage = read_counter(e, c->stage);
            LLVMValueRef parity = LLVMBuildXor(e->b, read_counter(e, c->phase), gp_emit_i32(e, 1), "");
            gp_pipe_wait(e, stage_barrier(e, c, stage, EMPTY), parity);
            advance(e, c, stage);
        }
    }
}

/* ---- Roles ------------------------------------------------------------------------------- */

static void set_registers(GpEmit *e, const char *direction, int64_t count) {
    if (!count)
        return; /* there are enough for all */
    char name[64];
    snprintf(name, sizeof name, "llvm.nvvm.setmaxnreg.%s.sync.aligned.u32", direction);
    LLVMValueRef n = gp_emit_i32(e, count);
    call(e, name, &n, 1);
}

static LLVMValueRef warpgroup_of(GpEmit *e) {
    LLVMValueRef n = gp_i32_shift(e, gp_gpu_thread(e), GP_GPU_WARPGROUP_BITS);
    LLVMValueRef args[] = {gp_emit_i32(e, -1), n, gp_emit_i32(e, 0), gp_emit_i32(e, GP_GPU_LANES - 1)};
    return call(e, "llvm.nvvm.shfl.sync.idx.i32", args, 4);
}

/* Walks this block's tiles, or its one tile. */
static void walk_grid(GpEmit *e) {
    GpPipe *p = e->pipe;
    LLVMValueRef extent[3], number = p->number;
    gp_pipe_extent(e, p->is_persistent ? p->grid : e->grid_dim, extent);
    LLVMBasicBlockRef before = LLVMGetInsertBlock(e->b), head = NULL, body = NULL;
    p->latch = gp_emit_block(e, "done");
    if (p->is_persistent) {
        LLVMValueRef all = LLVMBuildMul(e->b, extent[0], extent[1], "");
        all = LLVMBuildMul(e->b, all, extent[2], "");
        head = gp_emit_block(e, "tiles");
        body = gp_emit_block(e, "tile");
        LLVMBuildBr(e->b, head);
        gp_emit_at(e, head);
        number = LLVMBuildPhi(e->b, i32(e), "");
        LLVMAddIncoming(number, &p->number, &before, 1);
        LLVMBuildCondBr(e->b, LLVMBuildICmp(e->b, LLVMIntULT, number, all, ""), body, p->latch);
        gp_emit_at(e, body);
        p->latch = gp_emit_block(e, "next_tile");
    }
    gp_pipe_place(e, number, extent, e->block_id);
    (void)gp_emit_region(e, e->fn->body);
    gp_emit_at(e, p->latch);
    if (!p->is_persistent)
        return;
    LLVMValueRef next = gp_i32_add(e, number, p->count);
    LLVMAddIncoming(number, &next, &p->latch, 1);
    LLVMBuildBr(e->b, head);
    gp_emit_at(e, LLVMGetSuccessor(LLVMGetBasicBlockTerminator(head), 1));
}

/* What was loaded once a tile is given back; what was issued is waited for. */
void gp_pipe_return(GpEmit *e) {
    for (uint32_t i = 0; i < e->pipe->channel_count && e->pipe->role == GpPipe_Consumer; i++) {
        GpChannel *c = &e->pipe->channels[i];
        LLVMValueRef now = c->now;
        if (!c->is_ring && now && !c->ends.count)
            gp_pipe_release(e, c);
        c->now = now; /* what does not end here gives it back too */
    }
    LLVMBuildBr(e->b, e->pipe->latch);
}

static void emit_producer(GpEmit *e, LLVMBasicBlockRef end) {
    LLVMBasicBlockRef lead = gp_emit_block(e, "lead");
    e->pipe->role = GpPipe_Producer;
    set_registers(e, "dec", gp_pipe_registers(e->pipe)->producer);
    LLVMValueRef first = gp_emit_i32(e, gp_pipe_tile_threads(e->pipe));
    LLVMValueRef is_lead = LLVMBuildICmp(e->b, LLVMIntEQ, gp_gpu_thread(e), first, "");
    LLVMBuildCondBr(e->b, is_lead, lead, end);
    gp_emit_at(e, lead);
    open_rings(e, 1);
    walk_grid(e);
    LLVMBuildBr(e->b, end);
}

static void find_peer(GpEmit *e) {
    LLVMValueRef lane = LLVMBuildAnd(e->b, gp_gpu_thread(e), gp_emit_i32(e, e->pipe->cluster - 1), "");
    LLVMValueRef args[] = {e->pipe->shared, lane};
    e->pipe->peer = LLVMBuildPtrToInt(e->b, call(e, "llvm.nvvm.mapa.shared.cluster", args, 2), i32(e), "");
}

static void emit_consumer(GpEmit *e, LLVMBasicBlockRef end) {
    e->pipe->role = GpPipe_Consumer;
    set_registers(e, "inc", gp_pipe_registers(e->pipe)->consumer);
    open_rings(e, 0);
    gp_pipe_open_fetch(e);
    if (e->pipe->cluster > 1)
        find_peer(e);
    if (e->pipe->turn_opens.count)
        open_turns(e);
    walk_grid(e);
    gp_pipe_drain_stores(e);
    drain_rings(e);
    LLVMBuildBr(e->b, end);
}

/* This block's number among all, x fastest, and how many there are; in a cluster, the cluster's. */
static void number_block(GpEmit *e) {
    GpPipe *p = e->pipe;
    LLVMValueRef const *id = e->block_id, *dim = e->grid_dim;
    p->number = id[0];
    p->count = dim[0];
    if (p->cluster > 1) {
        p->rank = call(e, "llvm.nvvm.read.ptx.sreg.cluster.ctarank", NULL, 0);
        p->number = LLVMBuildUDiv(e->b, id[0], gp_emit_i32(e, p->cluster), "");
        p->count = LLVMBuildUDiv(e->b, dim[0], gp_emit_i32(e, p->cluster), "");
    }
    if (p->is_persistent) {
        memcpy(e->grid_dim, p->grid, sizeof p->grid);
        return;
    }
    LLVMValueRef row = gp_i32_add(e, LLVMBuildMul(e->b, id[2], dim[1], ""), id[1]);
    p->number = gp_i32_add(e, LLVMBuildMul(e->b, row, dim[0], ""), id[0]);
}

void gp_pipe_emit(GpEmit *e) {
    GpPipe *p = e->pipe;
    LLVMBasicBlockRef producer = gp_emit_block(e, "producer"), consumer, end;
    consumer = gp_emit_block(e, "consumer");
    end = gp_emit_block(e, "end");
    p->shared = gp_gpu_dynamic_shared(e);
    init_barriers(e);
    number_block(e);
    p->warpgroup = warpgroup_of(e);
    LLVMValueRef n = gp_emit_i32(e, p->warpgroups);
    LLVMBuildCondBr(e->b, LLVMBuildICmp(e->b, LLVMIntEQ, p->warpgroup, n, ""), producer, consumer);
    gp_emit_at(e, producer);
    emit_producer(e, end);
    gp_emit_at(e, consumer);
    emit_consumer(e, end);
    gp_emit_at(e, end);
    LLVMBuildRetVoid(e->b);
}
