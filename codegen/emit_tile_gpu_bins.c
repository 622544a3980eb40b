/* Updates of few places by many elements of a block, as those of a histogram.
**
** The second-level cache takes about one update of a place a nanosecond, whoever asks. So a block adds up its own updates
** first, in shared memory: the places from the lowest one on that it updates have a bin each, and what lies beyond them
** goes to memory as it comes. Then each bin that was touched is one update; those of a warp lie side by side, in whole
** sectors. An update that orders nothing and whose old value nobody reads may come later and joined with others, if its
** operation is associative and commutative; sums of floats are not.
**
** Bins stay for a whole loop where nothing could tell: its turns only load, compute and update. */
#include "codegen/emit_tile_gpu.h"

enum { LEAST_ELEMENTS = 256, MOST_BINS = 4096, LOWEST_BYTES = GP_GPU_VECTOR_BYTES };

struct GpBins {
    const GpInst *update;
    LLVMValueRef lowest; /* where the offset of the first bin's place is, no_offset before it is known */
    LLVMValueRef first;  /* where the bins are */
    uint32_t count;
};

static LLVMValueRef no_offset(GpEmit *e) { return gp_emit_i64(e, INT64_MAX); }

/* A bin an element at most, where they serve one update: their updates then cost no more than the elements'. */
static uint32_t count_of(const GpInst *update, const GpInst *loop) {
    uint32_t count = MOST_BINS;
    while (!loop && count / 2 >= gp_ir_numel(update->operands[1]->type))
        count /= 2;
    return count;
}

/* Offsets that follow each other meet in one update only by whole rows. */
static bool is_binned(const GpEmit *e, const GpInst *inst) {
    uint32_t identity;
    if (inst->op != GpOp_AtomicRmw || inst->ordering != GpOrdering_Relaxed || e->uses[inst->results[0]->id] ||
        !gp_ir_is_tile(inst->operands[1]) || inst->operands[0]->type->space != GpSpace_Global)
        return false;
    return gp_emit_update_identity(inst, &identity) && gp_ir_numel(inst->operands[1]->type) >= LEAST_ELEMENTS &&
           !gp_gpu_follows(inst->operands[1]) && !e->pipe && !e->async && !e->is_alone &&
           gp_gpu_has_room(e, (uint64_t)MOST_BINS * GP_GPU_WORD_BYTES + LOWEST_BYTES);
}

/* Looks for the one update of a loop. */
typedef struct Look {
    const GpEmit *e;
    const GpRegion *body;
    const GpInst *update;
    bool is_quiet; /* nothing else in it could tell when the update is made */
} Look;

static void look_for_update(GpInst *inst, void *ud) {
    Look *k = ud;
    if (!gp_ir_is_inside(inst->parent, k->body) || !is_binned(k->e, inst))
        return;
    k->is_quiet &= !k->update;
    k->update = inst;
}

static bool is_quiet(const Look *k, const GpInst *inst) {
    if (inst == k->update || inst->op == GpOp_CheckIndex)
        return true;
    if (inst->op == GpOp_LoadTile)
        return !gp_ir_may_alias(k->e->fn, inst->operands[0], k->update->operands[0]);
    if (inst->op == GpOp_Break || inst->op == GpOp_Continue)
        return gp_ir_is_inside(inst->target->regions[0], k->body);
    return inst->op != GpOp_Return && (inst->region_count || inst->op == GpOp_Yield || gp_ir_effect(inst) == GpEffect_Pure);
}

static void look_at(GpInst *inst, void *ud) {
    Look *k = ud;
    k->is_quiet &= !gp_ir_is_inside(inst->parent, k->body) || is_quiet(k, inst);
}

static const GpInst *update_of(const GpEmit *e, const GpInst *loop) {
    Look k = {e, loop->regions[0], NULL, true};
    gp_ir_walk(e->fn, GpWalk_Before, look_for_update, &k);
    if (!k.update)
        return NULL;
    const GpValue *base = k.update->operands[0];
    if (gp_ir_is_inside(base->inst ? base->inst->parent : base->region, k.body))
        return NULL; /* another one in each turn */
    gp_ir_walk(e->fn, GpWalk_Before, look_at, &k);
    return k.is_quiet ? k.update : NULL;
}

static LLVMValueRef bin_at(GpEmit *e, const GpBins *b, LLVMValueRef index) {
    return gp_emit_gep(e, GpElem_U32, b->first, index);
}

static LLVMValueRef thread_index(GpEmit *e) {
    return LLVMBuildZExt(e->b, gp_gpu_thread(e), LLVMInt64TypeInContext(e->ctx), "");
}

/* All bins hold what changes nothing. */
static void clear(GpEmit *e, const GpBins *b) {
    enum { RUN = GP_GPU_VECTOR_BYTES / GP_GPU_WORD_BYTES };
    uint32_t threads = gp_tile_gpu_threads(e), identity = 0;
    LLVMValueRef word[RUN], thread = thread_index(e);
    gp_assert(gp_emit_update_identity(b->update, &identity));
    for (int i = 0; i < RUN; i++)
        word[i] = LLVMConstInt(LLVMInt32TypeInContext(e->ctx), identity, false);
    LLVMBasicBlockRef some = gp_emit_block(e, "clear"), done = gp_emit_block(e, "cleared");
    LLVMValueRef has_some = LLVMBuildICmp(e->b, LLVMIntULT, thread, gp_emit_i64(e, b->count / RUN), "");
    LLVMBuildCondBr(e->b, has_some, some, done);
    gp_emit_at(e, some);
    for (uint32_t k = 0; k < b->count; k += threads * RUN) {
        LLVMValueRef index = LLVMBuildNUWMul(e->b, thread, gp_emit_i64(e, RUN), "");
        LLVMValueRef at = bin_at(e, b, LLVMBuildNUWAdd(e->b, index, gp_emit_i64(e, k), ""));
        LLVMSetAlignment(LLVMBuildStore(e->b, LLVMConstVector(word, RUN), at), GP_GPU_VECTOR_BYTES);
    }
    LLVMValueRef is_first = LLVMBuildICmp(e->b, LLVMIntEQ, thread, gp_emit_i64(e, 0), "");
    GpPlace lowest = {GpElem_I64, b->lowest, is_first, no_offset(e), NULL};
    gp_tile_store(e, &lowest);
    LLVMBuildBr(e->b, done);
    gp_emit_at(e, done);
    gp_gpu_barrier(e);
}

/* loop: NULL for one update alone */
static void begin(GpEmit *e, const GpInst *update, const GpInst *loop) {
    GpBins *b = GP_NEW(e->arena, GpBins), **open = gp_tile_gpu_bins(e);
    *b = (GpBins){.update = update, .count = count_of(update, loop)};
    b->first = gp_gpu_bin_memory(e, b->count * (uint64_t)GP_GPU_WORD_BYTES + LOWEST_BYTES);
    b->lowest = gp_emit_behind(e, b->first, b->count * (int64_t)GP_GPU_WORD_BYTES);
    *open = b;
    clear(e, b);
}

typedef struct Update {
    GpEmit *e;
    const GpInst *inst;
    LLVMValueRef ptr, value, x[GP_ACCESS_OPERANDS];
} Update;

static LLVMValueRef update_bin(GpEmit *e, void *ud) {
    const Update *u = ud;
    gp_emit_shared_update(e, u->inst, u->ptr, u->value);
    return NULL;
}

/* Each touched bin once; a warp's are side by side. */
static void flush(GpEmit *e, const GpBins *b) {
    LLVMTypeRef i64 = LLVMInt64TypeInContext(e->ctx), word = LLVMInt32TypeInContext(e->ctx);
    uint32_t identity = 0;
    gp_assert(gp_emit_update_identity(b->update, &identity));
    gp_gpu_barrier(e);
    LLVMValueRef lowest = gp_emit_mem_load(e, GpElem_I64, b->lowest), thread = thread_index(e);
    LLVMBasicBlockRef before = LLVMGetInsertBlock(e->b), loop = gp_emit_block(e, "flush");
    LLVMBasicBlockRef turn = gp_emit_block(e, "bin"), done = gp_emit_block(e, "flushed");
    LLVMBuildBr(e->b, loop);
    gp_emit_at(e, loop);
    LLVMValueRef i = LLVMBuildPhi(e->b, i64, "");
    LLVMBuildCondBr(e->b, LLVMBuildICmp(e->b, LLVMIntULT, i, gp_emit_i64(e, b->count), ""), turn, done);
    gp_emit_at(e, turn);
    LLVMValueRef sum = gp_emit_mem_load(e, GpElem_U32, bin_at(e, b, i));
    LLVMValueRef is_touched = LLVMBuildICmp(e->b, LLVMIntNE, sum, LLVMConstInt(word, identity, false), "");
    LLVMValueRef x[GP_ACCESS_OPERANDS] = {gp_emit_get(e, b->update->operands[0]),
                                          LLVMBuildAdd(e->b, lowest, i, ""), sum, is_touched};
    (void)gp_emit_access(e, b->update, x, NULL);
    LLVMValueRef next = LLVMBuildNUWAdd(e->b, i, gp_emit_i64(e, gp_tile_gpu_threads(e)), "");
    LLVMBasicBlockRef latch = LLVMGetInsertBlock(e->b);
    LLVMBuildBr(e->b, loop);
    LLVMAddIncoming(i, (LLVMValueRef[]){thread, next}, (LLVMBasicBlockRef[]){before, latch}, 2);
    gp_emit_at(e, done);
    gp_gpu_barrier(e);
}

static void end(GpEmit *e) {
    GpBins **open = gp_tile_gpu_bins(e);
    flush(e, *open);
    *open = NULL;
}

static LLVMValueRef lesser(GpEmit *e, LLVMValueRef a, LLVMValueRef b) {
    LLVMValueRef args[] = {a, b};
    return gp_emit_intrinsic(e, "llvm.smin", LLVMTypeOf(a), args, 2);
}

/* What one update of a tile has, register by register. */
typedef struct Elements {
    const GpBound *operands;
    uint32_t count;
    LLVMValueRef ok; /* NULL: yes */
} Elements;

static LLVMValueRef is_active(GpEmit *e, const Elements *x, uint32_t r) {
    LLVMValueRef mask = gp_gpu_at(&x->operands[3], r);
    return x->ok ? LLVMBuildAnd(e->b, mask, x->ok, "") : mask;
}

/* The lowest offset of the block becomes that of the first bin. */
static void find_lowest(GpEmit *e, const GpBins *b, const Elements *x) {
    LLVMValueRef least = no_offset(e);
    for (uint32_t r = 0; r < x->count; r++) {
        LLVMValueRef offset = gp_gpu_at(&x->operands[1], r);
        least = lesser(e, least, LLVMBuildSelect(e->b, is_active(e, x, r), offset, no_offset(e), ""));
    }
    for (uint32_t mask = GP_GPU_LANES / 2; mask; mask /= 2)
        least = lesser(e, least, gp_gpu_shuffle(e, GpElem_I64, least, mask));
    LLVMBasicBlockRef leader = gp_emit_block(e, "leader"), join = gp_emit_block(e, "lowest");
    LLVMValueRef lane = LLVMBuildAnd(e->b, gp_gpu_thread(e), gp_emit_i32(e, GP_GPU_LANES - 1), "");
    LLVMBuildCondBr(e->b, LLVMBuildICmp(e->b, LLVMIntEQ, lane, gp_emit_i32(e, 0), ""), leader, join);
    gp_emit_at(e, leader);
    LLVMBuildAtomicRMW(e->b, LLVMAtomicRMWBinOpMin, b->lowest, least, LLVMAtomicOrderingMonotonic, false);
    LLVMBuildBr(e->b, join);
    gp_emit_at(e, join);
    gp_gpu_barrier(e);
}

/* The first turn that updates finds the window; no thread asks once another one may have answered. */
static void find_window(GpEmit *e, const GpBins *b, const Elements *x) {
    LLVMBasicBlockRef find = gp_emit_block(e, "window"), join = gp_emit_block(e, "found");
    LLVMValueRef seen = gp_emit_mem_load(e, GpElem_I64, b->lowest);
    LLVMBuildCondBr(e->b, LLVMBuildICmp(e->b, LLVMIntEQ, seen, no_offset(e), ""), find, join);
    gp_emit_at(e, find);
    gp_gpu_barrier(e);
    find_lowest(e, b, x);
    LLVMBuildBr(e->b, join);
    gp_emit_at(e, join);
}

static void update_register(GpEmit *e, const GpBins *b, const Elements *x, LLVMValueRef lowest, uint32_t r) {
    LLVMValueRef offset = gp_gpu_at(&x->operands[1], r), ok = is_active(e, x, r);
    LLVMValueRef index = LLVMBuildSub(e->b, offset, lowest, "");
    LLVMValueRef is_near = LLVMBuildICmp(e->b, LLVMIntULT, index, gp_emit_i64(e, b->count), "");
    Update u = {.inst = b->update, .ptr = bin_at(e, b, index), .value = gp_gpu_at(&x->operands[2], r)};
    gp_emit_guarded(e, LLVMBuildAnd(e->b, ok, is_near, ""), NULL, update_bin, &u);
    LLVMValueRef far[GP_ACCESS_OPERANDS] = {gp_gpu_at(&x->operands[0], r), offset, u.value, ok};
    (void)gp_emit_access(e, b->update, far, LLVMBuildNot(e->b, is_near, ""));
}

bool gp_gpu_update_bins(GpEmit *e, const GpInst *inst, const GpBound *operands, const GpShapeLayout *s) {
    GpBins **open = gp_tile_gpu_bins(e);
    bool is_open = *open && (*open)->update == inst;
    if (!is_open && !is_binned(e, inst))
        return false;
    Elements x = {operands, gp_layout_registers(s->layout), s->is_owner};
    if (!is_open)
        begin(e, inst, NULL);
    const GpBins *b = *open;
    if (is_open)
        find_window(e, b, &x);
    else
        find_lowest(e, b, &x);
    LLVMValueRef lowest = gp_emit_mem_load(e, GpElem_I64, b->lowest);
    for (uint32_t r = 0; r < x.count; r++)
        update_register(e, b, &x, lowest, r);
    if (!is_open)
        end(e);
    return true;
}

bool gp_tile_gpu_open_bins(GpEmit *e, const GpInst *loop) {
    if (!e->is_gpu || !e->is_tile || !gp_is_loop(loop) || *gp_tile_gpu_bins(e))
        return false;
    const GpInst *update = update_of(e, loop);
    if (update)
        begin(e, update, loop);
    return update != NULL;
}

void gp_tile_gpu_close_bins(GpEmit *e) { end(e); }
