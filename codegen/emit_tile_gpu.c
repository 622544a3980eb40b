/* Tile operations on the GPU: one LLVM scalar per register of the value's layout.
**
** tile_layout.c chooses the layouts; here they get their coordinates in terms of the thread's number,
** and the block its threads, barrier and exchange buffer. Control flow on the tile track is uniform,
** so barriers are legal anywhere. */
#include "codegen/async.h"
#include "codegen/emit_tile_gpu.h"

enum { LEAST_THREADS = GP_GPU_LANES, USUAL_THREADS = 128, MOST_THREADS = 512 };
enum { USUAL_WORDS = 40, MOST_WORDS = 64 }; /* of the largest tile, in a thread */

struct GpTileGpu {
    uint32_t threads;
    const GpLayout **of;            /* by value id */
    GpShapeLayout *layouts;
    LLVMValueRef shared[GpAsyncRoom_count]; /* the exchange buffer; with e->async, one of two */
    uint64_t shared_bytes[GpAsyncRoom_count];
    uint64_t largest;               /* bytes of the largest tile in registers */
    GpBins *bins;
    LLVMValueRef bin_memory;        /* likewise, of its largest use */
    uint64_t bin_bytes;
    GpConversion *conversions;
    LLVMValueRef barrier; /* the last of the block */
};

typedef struct Survey {
    uint64_t numel, words; /* of the largest tile */
    uint32_t least_bytes, most_bytes;
    GpElem elem;
} Survey;

static void survey_type(Survey *s, const GpIrType *type) {
    if (type->kind != GpIrType_Tile)
        return;
    int64_t numel = gp_ir_numel(type);
    uint32_t bytes = gp_elem_info[type->elem].bytes;
    uint64_t words = (uint64_t)numel * GP_MAX(bytes, 4u) / 4;
    if (words > s->words) {
        s->words = words;
        s->elem = type->elem;
    }
    s->numel = GP_MAX(s->numel, (uint64_t)numel);
}

static void survey_inst(GpInst *inst, void *ud) {
    Survey *s = ud;
    for (uint32_t i = 0; i < inst->result_count; i++)
        survey_type(s, inst->results[i]->type);
    if (inst->op != GpOp_LoadTile && inst->op != GpOp_StoreTile)
        return;
    uint32_t bytes = gp_elem_info[inst->operands[0]->type->elem].bytes;
    s->least_bytes = GP_MIN(s->least_bytes, bytes);
    s->most_bytes = GP_MAX(s->most_bytes, bytes);
}

uint32_t gp_tile_gpu_threads(const GpEmit *e) { return e->gpu->threads; }

static Survey survey(const GpIrFn *fn) {
    Survey s = {.least_bytes = GP_GPU_VECTOR_BYTES, .most_bytes = 1};
    gp_ir_walk(fn, GpWalk_Before, survey_inst, &s);
    return s;
}

static GpBlockShare share_of(const GpIrFn *fn, const Survey *s) {
    GpBlockShare share = {.threads = LEAST_THREADS, .vector = gp_gpu_vector(s->least_bytes, s->most_bytes)};
    while (share.threads < USUAL_THREADS && (uint64_t)share.threads * share.vector < s->numel)
        share.threads *= 2;
    while (share.threads < MOST_THREADS && s->words / share.threads > USUAL_WORDS)
        share.threads *= 2;
    if (fn->schedule.warps)
        share.threads = LEAST_THREADS;
    while (share.threads * 2 <= fn->schedule.warps * (uint32_t)GP_GPU_LANES)
        share.threads *= 2;
    share.most_words = (uint64_t)share.threads * MOST_WORDS;
    return share;
}

GpBlockShare gp_tile_gpu_share(const GpIrFn *fn) {
    Survey s = survey(fn);
    return share_of(fn, &s);
}

bool gp_tile_gpu_prepare(GpEmit *e) {
    Survey s = survey(e->fn);
    e->gpu = GP_NEW(e->arena, GpTileGpu);
    e->gpu->largest = s.words * GP_GPU_WORD_BYTES;
    e->uses = gp_ir_count_uses(e->fn, e->arena);
    if (e->pipe || e->async) {
        e->gpu->threads = e->pipe ? gp_pipe_tile_threads(e->pipe) : e->async->threads;
        e->gpu->of = gp_tile_layouts(e);
        return true;
    }
    uint32_t threads = share_of(e->fn, &s).threads;
    e->gpu->threads = threads;
    if (s.words / threads <= MOST_WORDS) {
        e->gpu->of = gp_tile_layouts(e);
        return true;
    }
    GpDiag *d = gp_diag(e->diags, GpDiag_G0503, e->fn->span,
                        gp_arena_printf(e->arena, "%llu", (unsigned long long)s.numel),
                        gp_elem_info[s.elem].name);
    gp_note(d, "at most %u 32-bit words fit %u warp%s", MOST_WORDS * threads, threads / GP_GPU_LANES,
            gp_plural(threads / GP_GPU_LANES));
    gp_help(d, threads < MOST_THREADS ? "use smaller tiles, or more warps" : "use smaller tiles");
    e->refused = true;
    return false;
}

GpConversion **gp_tile_gpu_conversions(GpEmit *e) { return &e->gpu->conversions; }

GpBins **gp_tile_gpu_bins(GpEmit *e) { return &e->gpu->bins; }

LLVMValueRef gp_gpu_thread(GpEmit *e) { return e->thread_id[0]; }

/* Sum over the thread's bits of their bases on `axis`. Consecutive bits whose bases double are
** one shift and mask. Bases of a blocked layout are disjoint bits, so XOR is addition. */
static LLVMValueRef thread_coord(GpEmit *e, const GpLayout *l, int axis) {
    int32_t basis[2 * GP_LAYOUT_BITS] = {0};
    int bits = 0;
    for (int i = 0; i < l->bits[GpLayoutDim_Lane]; i++)
        basis[bits++] = l->bases[GpLayoutDim_Lane][i][axis];
    for (int i = 0; i < l->bits[GpLayoutDim_Warp]; i++)
        basis[bits++] = l->bases[GpLayoutDim_Warp][i][axis];
    LLVMValueRef sum = gp_emit_i32(e, 0);
    for (int i = 0; i < bits;) {
        int end = i + 1;
        if (basis[i] == 0) {
            i = end;
            continue;
        }
        while (end < bits && basis[end] == basis[end - 1] * 2)
            end++;
        LLVMValueRef part = LLVMBuildLShr(e->b, gp_gpu_thread(e), gp_emit_i32(e, i), "");
        part = LLVMBuildAnd(e->b, part, gp_emit_i32(e, (INT64_C(1) << (end - i)) - 1), "");
        part = LLVMBuildNSWMul(e->b, part, gp_emit_i32(e, basis[i]), "");
        sum = LLVMBuildNSWAdd(e->b, sum, part, "");
        i = end;
    }
    if (gp_layout_group_step(l, axis)) {
        LLVMValueRef group = LLVMBuildLShr(e->b, gp_gpu_thread(e), gp_emit_i32(e, gp_layout_group_bits(l)), "");
        group = LLVMBuildNSWMul(e->b, group, gp_emit_i32(e, gp_layout_group_step(l, axis)), "");
        sum = LLVMBuildNSWAdd(e->b, sum, group, "");
    }
    return LLVMBuildZExt(e->b, sum, LLVMInt64TypeInContext(e->ctx), "");
}

/* Of the threads that hold the same element, the one whose useless bits are zero owns it. */
static LLVMValueRef owner_test(GpEmit *e, const GpLayout *l) {
    uint32_t mask = gp_layout_useless_mask(l);
    if (!mask)
        return NULL;
    LLVMValueRef extra = LLVMBuildAnd(e->b, gp_gpu_thread(e), gp_emit_i32(e, (int32_t)mask), "");
    return LLVMBuildICmp(e->b, LLVMIntEQ, extra, gp_emit_i32(e, 0), "");
}

/* Made at the function's entry, so that it dominates every use. */
const GpShapeLayout *gp_gpu_layout(GpEmit *e, const GpLayout *l) {
    for (GpShapeLayout *s = e->gpu->layouts; s; s = s->next)
        if (s->layout == l || gp_layout_equal(s->layout, l))
            return s;
    GpShapeLayout *s = GP_NEW(e->arena, GpShapeLayout);
    *s = (GpShapeLayout){.shape = gp_layout_shape(l), .layout = l, .next = e->gpu->layouts};
    LLVMBasicBlockRef here = LLVMGetInsertBlock(e->b);
    gp_emit_at(e, e->entry);
    for (int a = 0; a < s->shape.rank; a++)
        s->coord[a] = thread_coord(e, s->layout, a);
    s->is_owner = owner_test(e, s->layout);
    gp_emit_at(e, here);
    e->gpu->layouts = s;
    return s;
}

const GpLayout *gp_gpu_bare_layout_of(const GpEmit *e, const GpValue *v) { return e->gpu->of[v->id]; }

const GpShapeLayout *gp_gpu_layout_of(GpEmit *e, const GpValue *v) {
    return gp_gpu_layout(e, e->gpu->of[v->id]);
}

uint32_t gp_tile_gpu_registers(GpEmit *e, const GpValue *v) {
    return gp_layout_registers(e->gpu->of[v->id]);
}

LLVMValueRef gp_gpu_register(const GpEmit *e, const GpValue *v, uint32_t r) {
    return gp_gpu_at(&e->bound[v->id], r);
}

void gp_gpu_coords(GpEmit *e, const GpShapeLayout *s, uint32_t reg, LLVMValueRef *c) {
    int32_t at[GP_MAX_RANK];
    gp_layout_at(s->layout, reg, 0, 0, at);
    for (int a = 0; a < s->shape.rank; a++)
        c[a] = LLVMBuildNUWAdd(e->b, s->coord[a], gp_emit_i64(e, at[a]), "");
}

/* Nothing but arithmetic since the last barrier. */
static bool has_barrier(const GpEmit *e) {
    LLVMValueRef i = LLVMGetLastInstruction(LLVMGetInsertBlock(e->b));
    while (i && (LLVMIsABinaryOperator(i) || LLVMIsACastInst(i) || LLVMIsACmpInst(i) || LLVMIsASelectInst(i) ||
                 LLVMIsAGetElementPtrInst(i)))
        i = LLVMGetPreviousInstruction(i);
    return i && i == e->gpu->barrier;
}

void gp_gpu_barrier(GpEmit *e) {
    if (e->pipe) {
        gp_pipe_barrier(e);
        return;
    }
    if (e->is_alone) {
        LLVMValueRef all = gp_emit_i32(e, -1);
        gp_emit_intrinsic(e, "llvm.nvvm.bar.warp.sync", NULL, &all, 1);
        return;
    }
    if (has_barrier(e))
        return;
    LLVMValueRef id = gp_emit_i32(e, 0);
    e->gpu->barrier = gp_emit_intrinsic(e, "llvm.nvvm.barrier.cta.sync.aligned.all", NULL, &id, 1);
}

static LLVMValueRef make_exchange(GpEmit *e, const char *name, uint64_t bytes) {
    LLVMTypeRef type = LLVMArrayType2(LLVMInt8TypeInContext(e->ctx), bytes);
    LLVMValueRef at = LLVMAddGlobalInAddressSpace(e->module, type, name, 3);
    LLVMSetLinkage(at, LLVMInternalLinkage);
    LLVMSetAlignment(at, GP_GPU_VECTOR_BYTES);
    LLVMSetInitializer(at, LLVMGetUndef(type));
    return at;
}

LLVMValueRef gp_gpu_dynamic_shared(GpEmit *e) {
    LLVMTypeRef type = LLVMArrayType2(LLVMInt8TypeInContext(e->ctx), 0);
    LLVMValueRef at = LLVMAddGlobalInAddressSpace(e->module, type, "gp_dynamic_shared", 3);
    LLVMSetLinkage(at, LLVMExternalLinkage);
    LLVMSetAlignment(at, GP_FEED_ALIGN);
    return at;
}

static void refuse_exchange(GpEmit *e, uint64_t most, int64_t numel, GpElem elem) {
    GpDiag *d = gp_diag(e->diags, GpDiag_G0503, e->fn->span,
                        gp_arena_printf(e->arena, "%lld", (long long)numel), gp_elem_info[elem].name);
    gp_note(d, "its elements go from thread to thread through shared memory, %llu bytes at most", (unsigned long long)most);
    gp_help(d, "use smaller tiles");
    e->refused = true;
}

/* With e->async a buffer of any size: where it does not fit the kernel is compiled again. */
LLVMValueRef gp_gpu_shared(GpEmit *e, uint64_t bytes, int64_t numel, GpElem elem) {
    uint64_t most = gp_target_shared(e->target);
    GpAsyncRoom room = e->async && gp_async_loop(e, e->region) ? GpAsyncRoom_Inside : GpAsyncRoom_Outside;
    if (bytes > most && !e->async && !e->refused)
        refuse_exchange(e, most, numel, elem);
    if (!e->gpu->shared[room])
        e->gpu->shared[room] = make_exchange(e, "gp_exchange", GP_GPU_STATIC_SHARED);
    e->gpu->shared_bytes[room] = GP_MAX(e->gpu->shared_bytes[room], bytes);
    return e->gpu->shared[room];
}

/* The exchange buffer may come to need the largest tile's. */
bool gp_gpu_has_room(const GpEmit *e, uint64_t bytes) {
    return e->gpu->largest + bytes <= gp_target_shared(e->target);
}

LLVMValueRef gp_gpu_bin_memory(GpEmit *e, uint64_t bytes) {
    if (!e->gpu->bin_memory)
        e->gpu->bin_memory = make_exchange(e, "gp_bins", GP_GPU_STATIC_SHARED);
    e->gpu->bin_bytes = GP_MAX(e->gpu->bin_bytes, bytes);
    return e->gpu->bin_memory;
}

static void lower_iota(GpEmit *e, const GpInst *inst) {
    const GpShapeLayout *s = gp_gpu_layout_of(e, inst->results[0]);
    GpBound out = gp_emit_bound_make(e, gp_layout_registers(s->layout));
    for (uint32_t r = 0; r < out.count; r++) {
        LLVMValueRef c[GP_MAX_RANK];
        gp_gpu_coords(e, s, r, c);
        out.at[r] = gp_gpu_iota(e, inst, c);
    }
    e->bound[inst->results[0]->id] = out;
}

LLVMValueRef gp_tile_gpu_any_zero(GpEmit *e, const GpValue *v) {
    LLVMValueRef any = gp_emit_bool(e, false);
    for (uint32_t r = 0; r < e->bound[v->id].count; r++) {
        LLVMValueRef x = gp_gpu_register(e, v, r);
        LLVMValueRef is_zero = LLVMBuildICmp(e->b, LLVMIntEQ, x, LLVMConstNull(LLVMTypeOf(x)), "");
        any = LLVMBuildOr(e->b, any, is_zero, "");
    }
    if (e->pipe)
        return gp_pipe_any(e, any);
    LLVMValueRef args[] = {gp_emit_i32(e, 0), any};
    return gp_emit_intrinsic(e, "llvm.nvvm.barrier.cta.red.or.aligned.all", NULL, args, 2);
}

void gp_tile_gpu_inst(GpEmit *e, const GpInst *inst) {
    if (inst->op == GpOp_LoadTile)
        gp_gpu_load(e, inst);
    else if (inst->op == GpOp_StoreTile)
        gp_gpu_store(e, inst);
    else if (inst->op == GpOp_Splat)
        gp_emit_set(e, inst->results[0], gp_emit_get(e, inst->operands[0]));
    else if (inst->op == GpOp_Iota)
        lower_iota(e, inst);
    else if (inst->op == GpOp_Extract)
        gp_emit_set(e, inst->results[0], gp_gpu_register(e, inst->operands[0], 0));
    else
        gp_gpu_view(e, inst);
}

uint64_t gp_tile_gpu_dynamic(const GpEmit *e) {
    uint64_t bytes = e->gpu->shared_bytes[GpAsyncRoom_Outside];
    return bytes + e->gpu->bin_bytes > GP_GPU_STATIC_SHARED ? bytes : 0;
}

static void fit_bins(GpEmit *e) {
    LLVMValueRef made = e->gpu->bin_memory;
    if (!made)
        return;
    LLVMReplaceAllUsesWith(made, make_exchange(e, "gp_bin_memory", e->gpu->bin_bytes));
    LLVMDeleteGlobal(made);
}

/* The buffers were made as large as they may be; now their sizes are known. */
void gp_tile_gpu_finish(GpEmit *e) {
    if (e->gpu)
        fit_bins(e);
    for (GpAsyncRoom room = 0; e->gpu && room < GpAsyncRoom_count; room++) {
        LLVMValueRef made = e->gpu->shared[room], fit;
        uint64_t bytes = e->gpu->shared_bytes[room];
        if (!made)
            continue;
        fit = e->pipe                  ? gp_pipe_exchange(e, bytes)
              : e->async               ? gp_async_exchange(e, room, bytes)
              : gp_tile_gpu_dynamic(e) ? gp_gpu_dynamic_shared(e)
                                       : make_exchange(e, "gp_exchange_buffer", bytes);
        LLVMReplaceAllUsesWith(made, fit);
        LLVMDeleteGlobal(made);
    }
}
