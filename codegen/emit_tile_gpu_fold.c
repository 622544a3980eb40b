/* Reductions and concatenations on the GPU.
**
** A reduction combines the registers of a thread, then the lanes of a warp by shuffles, then the
** warps through shared memory, where several hold parts of one total; each thread that held a part
** has the total then. Barriers stand in uniform control flow only. */
#include "codegen/emit_tile_gpu.h"

static LLVMTypeRef i32(GpEmit *e) { return LLVMInt32TypeInContext(e->ctx); }

/* What a lane of this warp has: `name` says how `lane` names it. */
typedef struct Shuffle {
    const char *name;
    LLVMValueRef lane; /* i32 */
} Shuffle;

static LLVMValueRef shuffle_word(GpEmit *e, const Shuffle *s, LLVMValueRef word) {
    LLVMValueRef args[] = {gp_emit_i32(e, -1), word, s->lane, gp_emit_i32(e, GP_GPU_LANES - 1)};
    return gp_emit_intrinsic(e, s->name, NULL, args, 4);
}

static LLVMValueRef shuffle(GpEmit *e, const Shuffle *s, GpElem elem, LLVMValueRef v) {
    unsigned bits = 8u * gp_elem_info[elem].bytes;
    LLVMTypeRef whole = LLVMIntTypeInContext(e->ctx, bits);
    LLVMValueRef x = LLVMBuildBitCast(e->b, gp_emit_to_mem(e, elem, v), whole, "");
    if (bits < 64) {
        LLVMValueRef word = LLVMBuildZExt(e->b, x, i32(e), "");
        x = LLVMBuildTrunc(e->b, shuffle_word(e, s, word), whole, "");
    } else {
        LLVMTypeRef pair = LLVMVectorType(i32(e), 2);
        LLVMValueRef words = LLVMBuildBitCast(e->b, x, pair, ""), out = LLVMGetPoison(pair);
        for (int i = 0; i < 2; i++) {
            LLVMValueRef at = gp_emit_i32(e, i);
            LLVMValueRef word = shuffle_word(e, s, LLVMBuildExtractElement(e->b, words, at, ""));
            out = LLVMBuildInsertElement(e->b, out, word, at, "");
        }
        x = LLVMBuildBitCast(e->b, out, whole, "");
    }
    return gp_emit_from_mem(e, elem, LLVMBuildBitCast(e->b, x, gp_emit_mem_type(e, elem), ""));
}

LLVMValueRef gp_gpu_shuffle(GpEmit *e, GpElem elem, LLVMValueRef v, uint32_t mask) {
    Shuffle s = {"llvm.nvvm.shfl.sync.bfly.i32", gp_emit_i32(e, mask)};
    return shuffle(e, &s, elem, v);
}

LLVMValueRef gp_gpu_shuffle_first(GpEmit *e, GpElem elem, LLVMValueRef v, uint32_t mask) {
    LLVMValueRef lane = LLVMBuildAnd(e->b, gp_gpu_thread(e), gp_emit_i32(e, (GP_GPU_LANES - 1) & ~mask), "");
    Shuffle s = {"llvm.nvvm.shfl.sync.idx.i32", lane};
    return shuffle(e, &s, elem, v);
}

static void store_shared(GpEmit *e, GpElem elem, LLVMValueRef shared, LLVMValueRef index,
                         LLVMValueRef v, LLVMValueRef ok) {
    GpPlace p = {elem, gp_emit_gep(e, elem, shared, index), ok, v, NULL};
    gp_tile_store(e, &p);
}

static LLVMValueRef load_shared(GpEmit *e, GpElem elem, LLVMValueRef shared, LLVMValueRef index) {
    return gp_emit_mem_load(e, elem, gp_emit_gep(e, elem, shared, index));
}

enum { CHAINS = 4 };

/* A reduction under way. The totals are in the slice of the operand's layout. */
typedef struct Fold {
    const GpInst *inst;
    const GpShapeLayout *from, *to;
    GpElem elem;
    GpBound total;
    uint32_t warp_parts;    /* how many warps hold parts of one total */
    LLVMValueRef warp_part; /* i64 */
} Fold;

/* In several chains for each total, which need not wait for each other. */
static void fold_registers(GpEmit *e, Fold *d) {
    uint32_t count = gp_layout_registers(d->from->layout);
    d->total = gp_emit_bound_make(e, gp_layout_registers(d->to->layout));
    LLVMValueRef *part = GP_NEW_ARRAY(e->arena, LLVMValueRef, (size_t)d->total.count * CHAINS);
    uint32_t *taken = GP_NEW_ARRAY(e->arena, uint32_t, d->total.count);
    for (uint32_t r = 0; r < count; r++) {
        LLVMValueRef x = gp_gpu_register(e, d->inst->operands[0], r);
        int32_t at[GP_MAX_RANK];
        uint32_t g = 0;
        gp_layout_at(d->from->layout, r, 0, 0, at);
        for (int a = d->inst->axis; a + 1 < d->from->shape.rank; a++)
            at[a] = at[a + 1];
        gp_assert(gp_layout_register(d->to->layout, at, &g));
        LLVMValueRef *chain = &part[(size_t)g * CHAINS + taken[g]++ % CHAINS];
        *chain = *chain ? gp_emit_combination(e, d->inst, *chain, x) : x;
    }
    for (uint32_t g = 0; g < d->total.count; g++) {
        LLVMValueRef *chain = &part[(size_t)g * CHAINS];
        for (uint32_t width = CHAINS / 2; width > 0; width /= 2)
            for (uint32_t i = 0; i < width; i++)
                if (chain[i + width])
                    chain[i] = gp_emit_combination(e, d->inst, chain[i], chain[i + width]);
        d->total.at[g] = chain[0];
    }
}

/* What one instruction does with a word of each lane. */
typedef struct Redux {
    GpOp op;
    const char *as_signed, *as_unsigned;
} Redux;
static const Redux reduxes[] = {
    {GpOp_Add, "llvm.nvvm.redux.sync.add", "llvm.nvvm.redux.sync.add"},
    {GpOp_And, "llvm.nvvm.redux.sync.and", "llvm.nvvm.redux.sync.and"},
    {GpOp_Or, "llvm.nvvm.redux.sync.or", "llvm.nvvm.redux.sync.or"},
    {GpOp_Xor, "llvm.nvvm.redux.sync.xor", "llvm.nvvm.redux.sync.xor"},
    {GpOp_Min, "llvm.nvvm.redux.sync.min", "llvm.nvvm.redux.sync.umin"},
    {GpOp_Max, "llvm.nvvm.redux.sync.max", "llvm.nvvm.redux.sync.umax"},
};

enum { MOST_REDUXES = 16 }; /* beside each other: results are in uniform registers, of which there are 63 */

/* All lanes hold parts of each total, which are integers of 32 bits. */
static bool fold_whole_warp(GpEmit *e, Fold *d) {
    const GpLayout *l = d->from->layout;
    GpOp op = d->inst->regions[0]->first->op;
    bool is_whole = (d->elem == GpElem_I32 || d->elem == GpElem_U32) && d->total.count <= MOST_REDUXES;
    for (int i = 0; i < l->bits[GpLayoutDim_Lane]; i++)
        is_whole &= l->bases[GpLayoutDim_Lane][i][d->inst->axis] != 0;
    for (size_t k = 0; is_whole && k < GP_COUNT(reduxes); k++) {
        if (reduxes[k].op != op)
            continue;
        const char *name = gp_elem_is_signed(d->elem) ? reduxes[k].as_signed : reduxes[k].as_unsigned;
        for (uint32_t g = 0; g < d->total.count; g++) {
            LLVMValueRef args[] = {d->total.at[g], gp_emit_i32(e, -1)};
            d->total.at[g] = gp_emit_intrinsic(e, name, NULL, args, 2);
        }
        return true;
    }
    return false;
}

/* A lane bit on the axis: the lanes that it tells apart hold parts of the same totals. */
static void fold_lanes(GpEmit *e, Fold *d) {
    const GpLayout *l = d->from->layout;
    if (fold_whole_warp(e, d))
        return;
    for (int i = 0; i < l->bits[GpLayoutDim_Lane]; i++) {
        if (l->bases[GpLayoutDim_Lane][i][d->inst->axis] == 0)
            continue;
        for (uint32_t g = 0; g < d->total.count; g++) {
            LLVMValueRef other = gp_gpu_shuffle(e, d->elem, d->total.at[g], 1u << i);
            d->total.at[g] = gp_emit_combination(e, d->inst, d->total.at[g], other);
        }
    }
}

static void number_warps(GpEmit *e, Fold *d) {
    const GpLayout *l = d->from->layout;
    LLVMValueRef part = gp_emit_i32(e, 0);
    d->warp_parts = 1;
    for (int i = 0; i < l->bits[GpLayoutDim_Warp]; i++) {
        if (l->bases[GpLayoutDim_Warp][i][d->inst->axis] == 0)
            continue;
        int bit = l->bits[GpLayoutDim_Lane] + i;
        LLVMValueRef is_set = LLVMBuildLShr(e->b, gp_gpu_thread(e), gp_emit_i32(e, bit), "");
        is_set = LLVMBuildAnd(e->b, is_set, gp_emit_i32(e, 1), "");
        is_set = LLVMBuildMul(e->b, is_set, gp_emit_i32(e, d->warp_parts), "");
        part = LLVMBuildAdd(e->b, part, is_set, "");
        d->warp_parts *= 2;
    }
    if (gp_layout_group_step(l, d->inst->axis)) {
        LLVMValueRef group = LLVMBuildLShr(e->b, gp_gpu_thread(e), gp_emit_i32(e, gp_layout_group_bits(l)), "");
        part = LLVMBuildAdd(e->b, part, LLVMBuildMul(e->b, group, gp_emit_i32(e, d->warp_parts), ""), "");
        d->warp_parts *= l->groups;
    }
    d->warp_part = LLVMBuildZExt(e->b, part, LLVMInt64TypeInContext(e->ctx), "");
}

/* The threads that write: of those with one total in one warp, the one whose useless bits are 0. */
static LLVMValueRef writer_test(GpEmit *e, const Fold *d) {
    const GpLayout *l = d->from->layout;
    uint32_t mask = gp_layout_group_mask(l), bit = 0;
    for (int k = GpLayoutDim_Lane; k <= GpLayoutDim_Warp; k++) {
        for (int i = 0; i < l->bits[k]; i++, bit++) {
            bool is_part = k == GpLayoutDim_Warp && l->bases[k][i][d->inst->axis] != 0;
            bool is_other = false;
            for (int a = 0; a < l->rank; a++)
                is_other |= a != d->inst->axis && l->bases[k][i][a] != 0;
            if (!is_part && !is_other)
                mask |= 1u << bit;
        }
    }
    LLVMValueRef extra = LLVMBuildAnd(e->b, gp_gpu_thread(e), gp_emit_i32(e, mask), "");
    return mask ? LLVMBuildICmp(e->b, LLVMIntEQ, extra, gp_emit_i32(e, 0), "") : NULL;
}

/* The parts of all warps to shared memory, those of a total together; each thread combines its
** totals'. */
static void fold_warps(GpEmit *e, Fold *d) {
    int64_t numel = gp_ir_tile_numel(&d->to->shape);
    uint32_t size = gp_elem_info[d->elem].bytes, run = GP_MIN(d->warp_parts & -d->warp_parts, GP_GPU_VECTOR_BYTES / size);
    uint64_t bytes = (uint64_t)numel * d->warp_parts * size;
    LLVMValueRef shared = gp_gpu_shared(e, bytes, gp_ir_tile_numel(&d->from->shape), d->elem);
    LLVMValueRef ok = writer_test(e, d), c[GP_MAX_RANK];
    LLVMValueRef *first = GP_NEW_ARRAY(e->arena, LLVMValueRef, d->total.count);
    GpBound parts = gp_emit_bound_make(e, d->warp_parts);
    gp_gpu_barrier(e);
    for (uint32_t g = 0; g < d->total.count; g++) {
        gp_gpu_coords(e, d->to, g, c);
        first[g] = gp_tile_linear(e, &d->to->shape, c);
        first[g] = LLVMBuildMul(e->b, first[g], gp_emit_i64(e, d->warp_parts), "");
        LLVMValueRef at = LLVMBuildAdd(e->b, first[g], d->warp_part, "");
        store_shared(e, d->elem, shared, at, d->total.at[g], ok);
    }
    gp_gpu_barrier(e);
    for (uint32_t g = 0; g < d->total.count; g++) {
        LLVMValueRef from = gp_emit_gep(e, d->elem, shared, first[g]);
        for (uint32_t w = 0; w < d->warp_parts; w += run)
            gp_gpu_take_run(e, d->elem, gp_emit_gep(e, d->elem, from, gp_emit_i64(e, w)), &parts, w, run);
        d->total.at[g] = parts.at[0];
        for (uint32_t w = 1; w < d->warp_parts; w++)
            d->total.at[g] = gp_emit_combination(e, d->inst, d->total.at[g], parts.at[w]);
    }
}

static void emit_fold(GpEmit *e, const GpInst *inst) {
    if (gp_gpu_has_total(e, inst))
        return;
    Fold d = {.inst = inst, .from = gp_gpu_layout_of(e, inst->operands[0])};
    d.to = gp_gpu_layout(e, gp_layout_slice(e->arena, d.from->layout, inst->axis));
    d.elem = inst->results[0]->type->elem;
    fold_registers(e, &d);
    fold_lanes(e, &d);
    number_warps(e, &d);
    if (d.warp_parts > 1)
        fold_warps(e, &d);
    LLVMValueRef identity = gp_emit_get(e, inst->operands[1]);
    for (uint32_t g = 0; g < d.total.count; g++)
        d.total.at[g] = gp_emit_combination(e, inst, identity, d.total.at[g]);
    gp_gpu_bind(e, inst->results[0], d.total, d.to);
}

/* What the owners wrote, in every thread that holds it. */
static GpBound read_back(GpEmit *e, const GpShapeLayout *s, GpElem elem, LLVMValueRef shared) {
    GpBound out = gp_emit_bound_make(e, gp_layout_registers(s->layout));
    gp_gpu_barrier(e);
    for (uint32_t r = 0; r < out.count; r++) {
        LLVMValueRef c[GP_MAX_RANK];
        gp_gpu_coords(e, s, r, c);
        out.at[r] = load_shared(e, elem, shared, gp_tile_linear(e, &s->shape, c));
    }
    return out;
}

const GpLayout *gp_gpu_half_layout(GpEmit *e, const GpInst *cat, const GpLayout *l) {
    const GpShape *first = &cat->operands[0]->type->shape, *second = &cat->operands[1]->type->shape;
    return gp_shape_eq(first, second) ? gp_layout_narrow(e->arena, l, first) : NULL;
}

/* Threads that hold the same elements of both halves have both in the result. */
static bool cat_registers(GpEmit *e, const GpInst *inst, const GpShapeLayout *to) {
    const GpLayout *half = gp_gpu_half_layout(e, inst, to->layout);
    if (!half)
        return false;
    int32_t extent = (int32_t)inst->operands[0]->type->shape.dim[inst->axis];
    GpBound out = gp_emit_bound_make(e, gp_layout_registers(to->layout)), from[2];
    for (uint32_t i = 0; i < 2; i++)
        from[i] = gp_gpu_convert(e, inst->operands[i], gp_gpu_layout(e, half));
    for (uint32_t r = 0; r < out.count; r++) {
        int32_t c[GP_MAX_RANK];
        uint32_t held = 0;
        gp_layout_at(to->layout, r, 0, 0, c);
        bool is_second = c[inst->axis] >= extent;
        c[inst->axis] -= is_second ? extent : 0;
        gp_assert(gp_layout_register(half, c, &held));
        out.at[r] = gp_gpu_at(&from[is_second], held);
    }
    e->bound[inst->results[0]->id] = out;
    return true;
}

static void emit_cat(GpEmit *e, const GpInst *inst) {
    const GpShapeLayout *to = gp_gpu_layout_of(e, inst->results[0]);
    if (cat_registers(e, inst, to))
        return;
    GpElem elem = inst->results[0]->type->elem;
    uint64_t bytes = (uint64_t)gp_ir_tile_numel(&to->shape) * gp_elem_info[elem].bytes;
    LLVMValueRef shared = gp_gpu_shared(e, bytes, gp_ir_tile_numel(&to->shape), elem);
    int64_t first = 0;
    gp_gpu_barrier(e);
    for (uint32_t i = 0; i < 2; i++) {
        const GpValue *v = inst->operands[i];
        const GpShapeLayout *from = gp_gpu_layout_of(e, v);
        for (uint32_t r = 0; r < gp_layout_registers(from->layout); r++) {
            LLVMValueRef c[GP_MAX_RANK];
            gp_gpu_coords(e, from, r, c);
            c[inst->axis] = LLVMBuildAdd(e->b, c[inst->axis], gp_emit_i64(e, first), "");
            store_shared(e, elem, shared, gp_tile_linear(e, &to->shape, c),
                         gp_gpu_register(e, v, r), from->is_owner);
        }
        first += v->type->shape.dim[inst->axis];
    }
    e->bound[inst->results[0]->id] = read_back(e, to, elem, shared);
}

void gp_tile_gpu_whole(GpEmit *e, const GpInst *inst) {
    bool is_fold = inst->op == GpOp_Reduce || inst->op == GpOp_Scan;
    if (is_fold && !gp_gpu_is_regroupable(inst)) {
        if (inst->op == GpOp_Reduce)
            gp_gpu_fold_serially(e, inst);
        else
            gp_gpu_scan_serially(e, inst);
        return;
    }
    if (inst->op == GpOp_Reduce)
        emit_fold(e, inst);
    else if (inst->op == GpOp_Scan)
        gp_gpu_scan(e, inst);
    else if (inst->op == GpOp_Cat)
        emit_cat(e, inst);
    else
        gp_gpu_mma(e, inst);
}

GpBound gp_gpu_share(GpEmit *e, const GpShapeLayout *s, GpElem elem, const GpBound *got) {
    uint64_t bytes = (uint64_t)gp_ir_tile_numel(&s->shape) * gp_elem_info[elem].bytes;
    LLVMValueRef shared = gp_gpu_shared(e, bytes, gp_ir_tile_numel(&s->shape), elem);
    for (uint32_t r = 0; r < got->count; r++) {
        LLVMValueRef c[GP_MAX_RANK];
        gp_gpu_coords(e, s, r, c);
        store_shared(e, elem, shared, gp_tile_linear(e, &s->shape, c), got->at[r], s->is_owner);
    }
    return read_back(e, s, elem, shared);
}
