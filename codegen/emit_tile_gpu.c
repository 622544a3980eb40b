/* Tile operations on the GPU: one LLVM scalar per register of a blocked layout.
**
** Every tile of one shape has the same layout, so elementwise operations need no exchange.
** Loads and stores take 16 bytes at a time where the launch facts allow, and branch once per
** tile (uniformly) between the interior and the ragged form. Broadcast and reshape read other
** elements: cheap expressions are evaluated again at the wanted coordinates, others go through
** shared memory. Control flow on the tile track is uniform, so barriers are legal anywhere. */
#include "codegen/emit_tile_gpu.h"

enum { LEAST_THREADS = 32, USUAL_THREADS = 128, MOST_THREADS = 512 };
enum { USUAL_WORDS = 32, MOST_WORDS = 64, RECOMPUTE_DEPTH = 4 };

struct GpTileGpu {
    uint32_t threads, vector;
    GpShapeLayout *layouts;
    LLVMValueRef shared; /* the exchange buffer */
    uint64_t shared_bytes;
};

typedef struct Survey {
    uint64_t numel, words; /* of the largest tile */
    uint32_t least_bytes, most_bytes;
    GpElem elem;
} Survey;

static void survey_type(Survey *s, const GpIrType *type) {
    int64_t numel = 0;
    if (type->kind != GpIrType_Tile || !gp_shape_numel(&type->shape, &numel))
        return;
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

bool gp_tile_gpu_prepare(GpEmit *e) {
    Survey s = {.least_bytes = 16, .most_bytes = 1};
    gp_ir_walk((GpIrFn *)(uintptr_t)e->fn, GpWalk_Before, survey_inst, &s);
    e->gpu = GP_NEW(e->arena, GpTileGpu);
    uint32_t vector = 16 / s.least_bytes, threads = LEAST_THREADS;
    while (vector > 1 && vector * s.most_bytes > 32)
        vector /= 2;
    while (threads < USUAL_THREADS && threads * vector < s.numel)
        threads *= 2;
    while (threads < MOST_THREADS && s.words / threads > USUAL_WORDS)
        threads *= 2;
    e->gpu->threads = threads;
    e->gpu->vector = vector;
    if (s.words / threads <= MOST_WORDS)
        return true;
    GpDiag *d = gp_diag(e->diags, GpDiag_G0503, e->fn->span,
                        gp_arena_printf(e->arena, "%llu", (unsigned long long)s.numel),
                        gp_elem_info[s.elem].name);
    gp_note(d, "at most %d 32-bit words fit", MOST_WORDS * MOST_THREADS);
    gp_help(d, "use smaller tiles");
    e->refused = true;
    return false;
}

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
    return LLVMBuildZExt(e->b, sum, LLVMInt64TypeInContext(e->ctx), "");
}

/* Of the threads that hold the same element, the one whose useless bits are zero owns it. */
static LLVMValueRef owner_test(GpEmit *e, const GpLayout *l) {
    uint32_t mask = 0, bit = 0;
    for (int d = GpLayoutDim_Lane; d <= GpLayoutDim_Warp; d++) {
        for (int i = 0; i < l->bits[d]; i++, bit++) {
            bool is_zero = true;
            for (int a = 0; a < l->rank; a++)
                is_zero &= l->bases[d][i][a] == 0;
            if (is_zero)
                mask |= 1u << bit;
        }
    }
    if (!mask)
        return NULL;
    LLVMValueRef extra = LLVMBuildAnd(e->b, gp_gpu_thread(e), gp_emit_i32(e, (int32_t)mask), "");
    return LLVMBuildICmp(e->b, LLVMIntEQ, extra, gp_emit_i32(e, 0), "");
}

/* Made at the function's entry, so that it dominates every use. */
const GpShapeLayout *gp_gpu_layout(GpEmit *e, const GpShape *shape) {
    for (GpShapeLayout *s = e->gpu->layouts; s; s = s->next)
        if (gp_shape_eq(&s->shape, shape))
            return s;
    GpShapeLayout *s = GP_NEW(e->arena, GpShapeLayout);
    *s = (GpShapeLayout){.shape = *shape, .next = e->gpu->layouts};
    s->layout = gp_layout_blocked(e->arena, shape, e->gpu->vector, e->gpu->threads);
    LLVMBasicBlockRef here = LLVMGetInsertBlock(e->b);
    gp_emit_at(e, e->entry);
    for (int a = 0; a < shape->rank; a++)
        s->coord[a] = thread_coord(e, s->layout, a);
    s->is_owner = owner_test(e, s->layout);
    gp_emit_at(e, here);
    e->gpu->layouts = s;
    return s;
}

uint32_t gp_tile_gpu_registers(GpEmit *e, const GpIrType *type) {
    return gp_layout_registers(gp_gpu_layout(e, &type->shape)->layout);
}

LLVMValueRef gp_gpu_register(const GpEmit *e, const GpValue *v, uint32_t r) {
    const GpBound *b = &e->bound[v->id];
    return b->at[b->count == 1 ? 0 : r];
}

void gp_gpu_coords(GpEmit *e, const GpShapeLayout *s, uint32_t reg, LLVMValueRef *c) {
    int32_t at[GP_MAX_RANK];
    gp_layout_at(s->layout, reg, 0, 0, at);
    for (int a = 0; a < s->shape.rank; a++)
        c[a] = LLVMBuildNUWAdd(e->b, s->coord[a], gp_emit_i64(e, at[a]), "");
}

/* Element offset of coordinate `at` (i64) on an axis: 32 bits wide where the launch proves it. */
static LLVMValueRef axis_offset(GpEmit *e, const GpTensorArg *t, LLVMValueRef at, int axis) {
    if (!t->param->small)
        return LLVMBuildNSWMul(e->b, at, t->stride[axis], "");
    LLVMTypeRef i32 = LLVMInt32TypeInContext(e->ctx);
    LLVMValueRef narrow = LLVMBuildNSWMul(e->b, LLVMBuildTrunc(e->b, at, i32, ""),
                                          LLVMBuildTrunc(e->b, t->stride[axis], i32, ""), "");
    return LLVMBuildSExt(e->b, narrow, LLVMInt64TypeInContext(e->ctx), "");
}

/* An access being emitted: the address of register 0's element and what is common. */
typedef struct Access {
    const GpInst *inst;
    const GpTensorArg *tensor;
    const GpShapeLayout *layout;
    GpElem elem;
    uint32_t registers, run; /* elements that one instruction moves */
    LLVMValueRef first;
} Access;

static Access access_of(GpEmit *e, const GpInst *inst) {
    Access a = {.inst = inst, .tensor = &e->tensors[inst->operands[0]->id]};
    a.layout = gp_gpu_layout(e, gp_tile_shape(inst));
    a.elem = inst->operands[0]->type->elem;
    a.registers = gp_layout_registers(a.layout->layout);
    a.run = 1;
    if (a.tensor->param->unit_stride && a.tensor->param->aligned16)
        a.run = GP_MIN(gp_layout_run(a.layout->layout), 16u / gp_elem_info[a.elem].bytes);
    LLVMValueRef offset = gp_emit_i64(e, 0);
    for (int x = 0; x < a.layout->shape.rank; x++) {
        LLVMValueRef at = LLVMBuildNSWAdd(e->b, gp_tile_start(e, inst, x), a.layout->coord[x], "");
        offset = LLVMBuildNSWAdd(e->b, offset, axis_offset(e, a.tensor, at, x), "");
    }
    a.first = gp_emit_gep(e, a.elem, a.tensor->base, offset);
    return a;
}

static LLVMValueRef register_address(GpEmit *e, const Access *a, uint32_t reg) {
    int32_t at[GP_MAX_RANK];
    gp_layout_at(a->layout->layout, reg, 0, 0, at);
    LLVMValueRef ptr = a->first;
    for (int x = 0; x < a->layout->shape.rank; x++)
        if (at[x])
            ptr = gp_emit_gep(e, a->elem, ptr, axis_offset(e, a->tensor, gp_emit_i64(e, at[x]), x));
    return ptr;
}

static LLVMValueRef in_bounds(GpEmit *e, const Access *a, uint32_t reg) {
    const GpValue *mask = gp_tile_mask(a->inst);
    LLVMValueRef c[GP_MAX_RANK], ok = mask ? gp_emit_get(e, mask) : gp_emit_bool(e, true);
    gp_gpu_coords(e, a->layout, reg, c);
    for (int x = 0; x < a->layout->shape.rank; x++) {
        LLVMValueRef at = LLVMBuildNSWAdd(e->b, gp_tile_start(e, a->inst, x), c[x], "");
        LLVMValueRef dim =
            LLVMBuildSExt(e->b, a->tensor->dim[x], LLVMInt64TypeInContext(e->ctx), "");
        ok = LLVMBuildAnd(e->b, ok, LLVMBuildICmp(e->b, LLVMIntULT, at, dim, ""), "");
    }
    return ok;
}

static void load_interior(GpEmit *e, const Access *a, LLVMValueRef *out) {
    LLVMTypeRef vector = LLVMVectorType(gp_emit_mem_type(e, a->elem), a->run);
    for (uint32_t r = 0; r < a->registers; r += a->run) {
        LLVMValueRef ptr = register_address(e, a, r);
        if (a->run == 1) {
            out[r] = gp_emit_mem_load(e, a->elem, ptr);
            continue;
        }
        LLVMValueRef v = LLVMBuildLoad2(e->b, vector, ptr, "");
        LLVMSetAlignment(v, a->run * gp_elem_info[a->elem].bytes);
        for (uint32_t i = 0; i < a->run; i++)
            out[r + i] = gp_emit_from_mem(e, a->elem,
                                          LLVMBuildExtractElement(e->b, v, gp_emit_i32(e, i), ""));
    }
}

/* The tensor has an element: its first one can be read in place of one beyond its end. */
static LLVMValueRef is_nonempty(GpEmit *e, const Access *a) {
    LLVMValueRef all = gp_emit_bool(e, true);
    for (int x = 0; x < a->layout->shape.rank; x++) {
        LLVMValueRef some =
            LLVMBuildICmp(e->b, LLVMIntSGT, a->tensor->dim[x], gp_emit_i32(e, 0), "");
        all = LLVMBuildAnd(e->b, all, some, "");
    }
    return all;
}

static LLVMValueRef pad_of(GpEmit *e, const Access *a) {
    LLVMValueRef pad = gp_tile_pad(e, a->inst);
    return pad ? pad : LLVMConstNull(gp_emit_type(e, a->elem));
}

/* Without a branch per element: half the blocks, and the loads can all be in flight. */
static void load_ragged(GpEmit *e, const Access *a, LLVMValueRef *out) {
    for (uint32_t r = 0; r < a->registers; r++) {
        LLVMValueRef ok = in_bounds(e, a, r);
        LLVMValueRef ptr =
            LLVMBuildSelect(e->b, ok, register_address(e, a, r), a->tensor->base, "");
        LLVMValueRef v = gp_emit_mem_load(e, a->elem, ptr);
        out[r] = LLVMBuildSelect(e->b, ok, v, pad_of(e, a), "");
    }
}

/* Whether the accesses to a tensor may touch one element from several threads: some store, and
** not all are of one tile at one place, whose elements each stay with one thread. Tiles at element
** coordinates may overlap from one turn of a loop to the next. */
typedef struct Sharing {
    const GpIrFn *fn;
    const GpValue *tensor;
    const GpInst *first;
    bool has_store, has_places;
} Sharing;

static bool may_alias(const GpIrFn *fn, const GpValue *a, const GpValue *b) {
    return a == b || (!gp_ir_is_unique(fn, a) && !gp_ir_is_unique(fn, b));
}

static bool is_same_place(const GpInst *a, const GpInst *b) {
    const GpShape *shape = gp_tile_shape(a);
    uint32_t first_a = a->op == GpOp_StoreTile ? 2 : 1, first_b = b->op == GpOp_StoreTile ? 2 : 1;
    if (a->operands[0] != b->operands[0] || a->by_element != b->by_element ||
        !gp_shape_eq(shape, gp_tile_shape(b)))
        return false;
    for (uint32_t x = 0; x < shape->rank; x++)
        if (a->operands[first_a + x] != b->operands[first_b + x])
            return false;
    return true;
}

static void note_access(GpInst *inst, void *ud) {
    Sharing *s = ud;
    if ((inst->op != GpOp_LoadTile && inst->op != GpOp_StoreTile) ||
        !may_alias(s->fn, inst->operands[0], s->tensor))
        return;
    s->has_store |= inst->op == GpOp_StoreTile;
    if (!s->first)
        s->first = inst;
    s->has_places |= inst->by_element || !is_same_place(s->first, inst);
}

/* Earlier accesses to such a tensor come before this one in every thread. */
static void order_access(GpEmit *e, const GpInst *inst) {
    Sharing s = {.fn = e->fn, .tensor = inst->operands[0]};
    gp_ir_walk((GpIrFn *)(uintptr_t)e->fn, GpWalk_Before, note_access, &s);
    if (s.has_store && s.has_places)
        gp_gpu_barrier(e);
}

static void lower_load(GpEmit *e, const GpInst *inst) {
    order_access(e, inst);
    Access a = access_of(e, inst);
    GpBound fast = gp_emit_bound_make(e, a.registers), slow = gp_emit_bound_make(e, a.registers);
    GpBound out = gp_emit_bound_make(e, a.registers);
    LLVMBasicBlockRef interior = gp_emit_block(e, "interior"), edge = gp_emit_block(e, "edge");
    LLVMBasicBlockRef ragged = gp_emit_block(e, "ragged"), join = gp_emit_block(e, "loaded");
    LLVMBuildCondBr(e->b, gp_tile_is_inside(e, inst), interior, edge);
    gp_emit_at(e, interior);
    load_interior(e, &a, fast.at);
    LLVMBuildBr(e->b, join);
    gp_emit_at(e, edge);
    LLVMBuildCondBr(e->b, is_nonempty(e, &a), ragged, join);
    gp_emit_at(e, ragged);
    load_ragged(e, &a, slow.at);
    LLVMBuildBr(e->b, join);
    gp_emit_at(e, join);
    LLVMTypeRef type = gp_emit_type(e, a.elem);
    for (uint32_t r = 0; r < a.registers; r++) {
        out.at[r] = LLVMBuildPhi(e->b, type, "");
        LLVMAddIncoming(out.at[r], (LLVMValueRef[]){fast.at[r], slow.at[r], pad_of(e, &a)},
                        (LLVMBasicBlockRef[]){interior, ragged, edge}, 3);
    }
    e->bound[inst->results[0]->id] = out;
}

static void store_interior(GpEmit *e, const Access *a, const GpValue *v) {
    LLVMTypeRef vector = LLVMVectorType(gp_emit_mem_type(e, a->elem), a->run);
    for (uint32_t r = 0; r < a->registers; r += a->run) {
        LLVMValueRef ptr = register_address(e, a, r);
        if (a->run == 1) {
            gp_emit_mem_store(e, a->elem, gp_gpu_register(e, v, r), ptr);
            continue;
        }
        LLVMValueRef x = LLVMGetPoison(vector);
        for (uint32_t i = 0; i < a->run; i++)
            x = LLVMBuildInsertElement(e->b, x,
                                       gp_emit_to_mem(e, a->elem, gp_gpu_register(e, v, r + i)),
                                       gp_emit_i32(e, i), "");
        LLVMSetAlignment(LLVMBuildStore(e->b, x, ptr), a->run * gp_elem_info[a->elem].bytes);
    }
}

static void lower_store(GpEmit *e, const GpInst *inst) {
    const GpValue *v = inst->operands[1];
    order_access(e, inst);
    Access a = access_of(e, inst);
    LLVMBasicBlockRef interior = gp_emit_block(e, "interior"), ragged = gp_emit_block(e, "ragged");
    LLVMBasicBlockRef join = gp_emit_block(e, "stored");
    if (a.layout->is_owner) {
        LLVMBasicBlockRef owner = gp_emit_block(e, "owner");
        LLVMBuildCondBr(e->b, a.layout->is_owner, owner, join);
        gp_emit_at(e, owner);
    }
    LLVMBuildCondBr(e->b, gp_tile_is_inside(e, inst), interior, ragged);
    gp_emit_at(e, interior);
    store_interior(e, &a, v);
    LLVMBuildBr(e->b, join);
    gp_emit_at(e, ragged);
    for (uint32_t r = 0; r < a.registers; r++) {
        GpPlace p = {a.elem, register_address(e, &a, r), in_bounds(e, &a, r),
                     gp_gpu_register(e, v, r), NULL};
        gp_tile_store(e, &p);
    }
    LLVMBuildBr(e->b, join);
    gp_emit_at(e, join);
}

/* Evaluating v again is as good as fetching it: no memory that may change, no library call. */
static bool is_cheap(const GpEmit *e, const GpValue *v, int depth) {
    if (v->type->kind != GpIrType_Tile)
        return true;
    if (!v->inst || v->inst->region_count || gp_op_is_whole(v->inst->op) || depth == 0)
        return false;
    if (v->inst->op == GpOp_LoadTile)
        return !e->tensors[v->inst->operands[0]->id].param->is_written;
    if (gp_math_needs_library(v->inst->op))
        return false;
    for (uint32_t i = 0; i < v->inst->operand_count; i++)
        if (!is_cheap(e, v->inst->operands[i], depth - 1))
            return false;
    return true;
}

static LLVMValueRef load_at(GpEmit *e, const GpInst *inst, LLVMValueRef const *c) {
    const GpTensorArg *t = &e->tensors[inst->operands[0]->id];
    const GpValue *mask = gp_tile_mask(inst);
    LLVMValueRef offset = gp_emit_i64(e, 0);
    LLVMValueRef ok = mask ? gp_emit_get(e, mask) : gp_emit_bool(e, true);
    for (int a = 0; a < gp_tile_shape(inst)->rank; a++) {
        LLVMValueRef at = LLVMBuildNSWAdd(e->b, gp_tile_start(e, inst, a), c[a], "");
        LLVMValueRef dim = LLVMBuildSExt(e->b, t->dim[a], LLVMInt64TypeInContext(e->ctx), "");
        ok = LLVMBuildAnd(e->b, ok, LLVMBuildICmp(e->b, LLVMIntULT, at, dim, ""), "");
        offset = LLVMBuildNSWAdd(e->b, offset, axis_offset(e, t, at, a), "");
    }
    GpElem elem = inst->operands[0]->type->elem;
    GpPlace p = {elem, gp_emit_gep(e, elem, t->base, offset), ok, NULL, gp_tile_pad(e, inst)};
    return gp_tile_load(e, &p);
}

static LLVMValueRef iota_at(GpEmit *e, const GpInst *inst, LLVMValueRef const *c) {
    LLVMTypeRef type = gp_emit_type(e, inst->results[0]->type->elem);
    return LLVMBuildIntCast2(e->b, c[0], type, false, "");
}

static LLVMValueRef eval_at(GpEmit *e, const GpValue *v, LLVMValueRef const *c) {
    if (v->type->kind != GpIrType_Tile)
        return gp_emit_get(e, v);
    const GpInst *inst = v->inst;
    if (inst->op == GpOp_Splat)
        return gp_emit_get(e, inst->operands[0]);
    if (inst->op == GpOp_LoadTile)
        return load_at(e, inst, c);
    if (inst->op == GpOp_Iota)
        return iota_at(e, inst, c);
    if (gp_tile_moves(inst->op)) {
        LLVMValueRef at[GP_MAX_RANK];
        gp_tile_moved_coords(e, inst, c, at);
        return eval_at(e, inst->operands[0], at);
    }
    LLVMValueRef x[3];
    for (uint32_t i = 0; i < inst->operand_count; i++)
        x[i] = eval_at(e, inst->operands[i], c);
    return gp_emit_element(e, inst, x);
}

void gp_gpu_barrier(GpEmit *e) {
    LLVMValueRef id = gp_emit_i32(e, 0);
    gp_emit_intrinsic(e, "llvm.nvvm.barrier.cta.sync.aligned.all", NULL, &id, 1);
}

LLVMValueRef gp_gpu_shared(GpEmit *e, uint64_t bytes, int64_t numel, GpElem elem) {
    if (bytes > GP_GPU_SHARED && !e->refused) {
        GpDiag *d = gp_diag(e->diags, GpDiag_G0503, e->fn->span,
                            gp_arena_printf(e->arena, "%lld", (long long)numel),
                            gp_elem_info[elem].name);
        gp_note(d, "its elements go from thread to thread through shared memory, %d bytes at most",
                GP_GPU_SHARED);
        gp_help(d, "use smaller tiles");
        e->refused = true;
    }
    LLVMTypeRef array = LLVMArrayType2(LLVMInt8TypeInContext(e->ctx), GP_GPU_SHARED);
    if (!e->gpu->shared) {
        e->gpu->shared = LLVMAddGlobalInAddressSpace(e->module, array, "gp_exchange", 3);
        LLVMSetLinkage(e->gpu->shared, LLVMInternalLinkage);
        LLVMSetAlignment(e->gpu->shared, 16);
        LLVMSetInitializer(e->gpu->shared, LLVMGetUndef(array));
    }
    e->gpu->shared_bytes = GP_MAX(e->gpu->shared_bytes, bytes);
    return e->gpu->shared;
}

static LLVMValueRef shared_tile(GpEmit *e, const GpIrType *type) {
    int64_t numel = 0;
    bool fits = gp_shape_numel(&type->shape, &numel);
    uint64_t bytes = (uint64_t)numel * gp_elem_info[type->elem].bytes;
    return gp_gpu_shared(e, fits ? bytes : UINT64_MAX, numel, type->elem);
}

/* Every owner writes its elements; then every thread reads those it wants. */
static void exchange(GpEmit *e, const GpInst *inst, GpBound out) {
    const GpValue *v = inst->operands[0];
    const GpShapeLayout *from = gp_gpu_layout(e, &v->type->shape);
    const GpShapeLayout *to = gp_gpu_layout(e, &inst->results[0]->type->shape);
    LLVMValueRef shared = shared_tile(e, v->type), c[GP_MAX_RANK], at[GP_MAX_RANK];
    GpElem elem = v->type->elem;
    gp_gpu_barrier(e);
    for (uint32_t r = 0; r < gp_layout_registers(from->layout); r++) {
        gp_gpu_coords(e, from, r, c);
        LLVMValueRef ptr = gp_emit_gep(e, elem, shared, gp_tile_linear(e, &from->shape, c));
        GpPlace p = {elem, ptr, from->is_owner, gp_gpu_register(e, v, r), NULL};
        gp_tile_store(e, &p);
    }
    gp_gpu_barrier(e);
    for (uint32_t r = 0; r < out.count; r++) {
        gp_gpu_coords(e, to, r, c);
        gp_tile_moved_coords(e, inst, c, at);
        LLVMValueRef ptr = gp_emit_gep(e, elem, shared, gp_tile_linear(e, &from->shape, at));
        out.at[r] = gp_emit_mem_load(e, elem, ptr);
    }
}

static void lower_view(GpEmit *e, const GpInst *inst) {
    const GpValue *v = inst->operands[0], *result = inst->results[0];
    const GpShapeLayout *to = gp_gpu_layout(e, &result->type->shape);
    GpBound out = gp_emit_bound_make(e, gp_layout_registers(to->layout));
    if (is_cheap(e, v, RECOMPUTE_DEPTH)) {
        for (uint32_t r = 0; r < out.count; r++) {
            LLVMValueRef c[GP_MAX_RANK], at[GP_MAX_RANK];
            gp_gpu_coords(e, to, r, c);
            gp_tile_moved_coords(e, inst, c, at);
            out.at[r] = eval_at(e, v, at);
        }
    } else {
        exchange(e, inst, out);
    }
    e->bound[result->id] = out;
}

static void lower_iota(GpEmit *e, const GpInst *inst) {
    const GpShapeLayout *s = gp_gpu_layout(e, &inst->results[0]->type->shape);
    GpBound out = gp_emit_bound_make(e, gp_layout_registers(s->layout));
    for (uint32_t r = 0; r < out.count; r++) {
        LLVMValueRef c[GP_MAX_RANK];
        gp_gpu_coords(e, s, r, c);
        out.at[r] = iota_at(e, inst, c);
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
    LLVMValueRef args[] = {gp_emit_i32(e, 0), any};
    return gp_emit_intrinsic(e, "llvm.nvvm.barrier.cta.red.or.aligned.all", NULL, args, 2);
}

void gp_tile_gpu_inst(GpEmit *e, const GpInst *inst) {
    if (inst->op == GpOp_LoadTile)
        lower_load(e, inst);
    else if (inst->op == GpOp_StoreTile)
        lower_store(e, inst);
    else if (inst->op == GpOp_Splat)
        gp_emit_set(e, inst->results[0], gp_emit_get(e, inst->operands[0]));
    else if (inst->op == GpOp_Iota)
        lower_iota(e, inst);
    else if (inst->op == GpOp_Extract)
        gp_emit_set(e, inst->results[0], gp_gpu_register(e, inst->operands[0], 0));
    else
        lower_view(e, inst);
}

/* The exchange buffer was made as large as it may be; now its size is known. */
void gp_tile_gpu_finish(GpEmit *e) {
    if (!e->gpu || !e->gpu->shared)
        return;
    LLVMTypeRef type = LLVMArrayType2(LLVMInt8TypeInContext(e->ctx), e->gpu->shared_bytes);
    LLVMValueRef fit = LLVMAddGlobalInAddressSpace(e->module, type, "gp_exchange_buffer", 3);
    LLVMSetLinkage(fit, LLVMInternalLinkage);
    LLVMSetAlignment(fit, 16);
    LLVMSetInitializer(fit, LLVMGetUndef(type));
    LLVMReplaceAllUsesWith(e->gpu->shared, fit);
    LLVMDeleteGlobal(e->gpu->shared);
}
