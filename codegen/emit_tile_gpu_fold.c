/* Reductions, scans, concatenations and accesses through addresses on the GPU.
**
** A reduction combines the registers of a thread, then the lanes of a warp by shuffles, then the
** warps through shared memory, which also brings the totals into the layout of their own shape:
** every thread that holds a total gets it. A scan doubles its reach in shared memory at each step
** (Hillis and Steele). Barriers stand in uniform control flow only. */
#include "codegen/emit_tile_gpu.h"

static LLVMTypeRef i32(GpEmit *e) { return LLVMInt32TypeInContext(e->ctx); }

/* The value of another lane, `mask` bits away. */
static LLVMValueRef shuffle_word(GpEmit *e, LLVMValueRef word, uint32_t mask) {
    LLVMValueRef args[] = {gp_emit_i32(e, -1), word, gp_emit_i32(e, mask), gp_emit_i32(e, 31)};
    return gp_emit_intrinsic(e, "llvm.nvvm.shfl.sync.bfly.i32", NULL, args, 4);
}

static LLVMValueRef shuffle(GpEmit *e, GpElem elem, LLVMValueRef v, uint32_t mask) {
    unsigned bits = 8u * gp_elem_info[elem].bytes;
    LLVMTypeRef whole = LLVMIntTypeInContext(e->ctx, bits);
    LLVMValueRef x = LLVMBuildBitCast(e->b, gp_emit_to_mem(e, elem, v), whole, "");
    if (bits < 64) {
        LLVMValueRef word = LLVMBuildZExt(e->b, x, i32(e), "");
        x = LLVMBuildTrunc(e->b, shuffle_word(e, word, mask), whole, "");
    } else {
        LLVMTypeRef pair = LLVMVectorType(i32(e), 2);
        LLVMValueRef words = LLVMBuildBitCast(e->b, x, pair, ""), out = LLVMGetPoison(pair);
        for (int i = 0; i < 2; i++) {
            LLVMValueRef at = gp_emit_i32(e, i);
            LLVMValueRef word =
                shuffle_word(e, LLVMBuildExtractElement(e->b, words, at, ""), mask);
            out = LLVMBuildInsertElement(e->b, out, word, at, "");
        }
        x = LLVMBuildBitCast(e->b, out, whole, "");
    }
    return gp_emit_from_mem(e, elem, LLVMBuildBitCast(e->b, x, gp_emit_mem_type(e, elem), ""));
}

static LLVMValueRef and_with(GpEmit *e, LLVMValueRef a, LLVMValueRef b) {
    return a && b ? LLVMBuildAnd(e->b, a, b, "") : a ? a : b;
}

static void store_shared(GpEmit *e, GpElem elem, LLVMValueRef shared, LLVMValueRef index,
                         LLVMValueRef v, LLVMValueRef ok) {
    GpPlace p = {elem, gp_emit_gep(e, elem, shared, index), ok, v, NULL};
    gp_tile_store(e, &p);
}

static LLVMValueRef load_shared(GpEmit *e, GpElem elem, LLVMValueRef shared, LLVMValueRef index) {
    return gp_emit_mem_load(e, elem, gp_emit_gep(e, elem, shared, index));
}

/* A reduction under way. */
typedef struct Fold {
    const GpInst *inst;
    const GpShapeLayout *from, *to;
    GpElem elem;
    uint32_t *first;      /* a register of each group */
    LLVMValueRef *total;  /* of each group: registers that differ on the axis only */
    uint32_t groups;
    uint32_t warp_parts;  /* how many warps hold parts of one total */
    LLVMValueRef warp_part; /* i64 */
    LLVMValueRef ok;      /* this thread writes its totals; NULL: yes */
} Fold;

static bool is_same_group(const Fold *d, uint32_t a, uint32_t b) {
    int32_t at[2][GP_MAX_RANK];
    gp_layout_at(d->from->layout, a, 0, 0, at[0]);
    gp_layout_at(d->from->layout, b, 0, 0, at[1]);
    for (int x = 0; x < d->from->shape.rank; x++)
        if (x != d->inst->axis && at[0][x] != at[1][x])
            return false;
    return true;
}

static void fold_registers(GpEmit *e, Fold *d) {
    uint32_t count = gp_layout_registers(d->from->layout);
    d->first = GP_NEW_ARRAY(e->arena, uint32_t, count);
    d->total = GP_NEW_ARRAY(e->arena, LLVMValueRef, count);
    for (uint32_t r = 0; r < count; r++) {
        LLVMValueRef x = gp_gpu_register(e, d->inst->operands[0], r);
        uint32_t g = 0;
        while (g < d->groups && !is_same_group(d, d->first[g], r))
            g++;
        if (g < d->groups) {
            d->total[g] = gp_emit_combination(e, d->inst, d->total[g], x);
            continue;
        }
        d->first[g] = r;
        d->total[g] = x;
        d->groups++;
    }
}

/* A lane bit on the axis: the lanes that it tells apart hold parts of the same totals. */
static void fold_lanes(GpEmit *e, Fold *d) {
    const GpLayout *l = d->from->layout;
    uint32_t mask = 0;
    for (int i = 0; i < l->bits[GpLayoutDim_Lane]; i++) {
        if (l->bases[GpLayoutDim_Lane][i][d->inst->axis] == 0)
            continue;
        mask |= 1u << i;
        for (uint32_t g = 0; g < d->groups; g++) {
            LLVMValueRef other = shuffle(e, d->elem, d->total[g], 1u << i);
            d->total[g] = gp_emit_combination(e, d->inst, d->total[g], other);
        }
    }
    d->ok = d->from->is_owner;
    if (!mask)
        return;
    LLVMValueRef part = LLVMBuildAnd(e->b, gp_gpu_thread(e), gp_emit_i32(e, mask), "");
    d->ok = and_with(e, d->ok, LLVMBuildICmp(e->b, LLVMIntEQ, part, gp_emit_i32(e, 0), ""));
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
    d->warp_part = LLVMBuildZExt(e->b, part, LLVMInt64TypeInContext(e->ctx), "");
}

static int64_t numel_of(const GpShape *shape) {
    int64_t numel = 0;
    gp_assert(gp_shape_numel(shape, &numel));
    return numel;
}

void gp_gpu_fold(GpEmit *e, const GpInst *inst) {
    Fold d = {.inst = inst, .from = gp_gpu_layout(e, &inst->operands[0]->type->shape)};
    d.to = gp_gpu_layout(e, &inst->results[0]->type->shape);
    d.elem = inst->results[0]->type->elem;
    fold_registers(e, &d);
    fold_lanes(e, &d);
    number_warps(e, &d);
    int64_t numel = numel_of(&d.to->shape);
    uint64_t bytes = (uint64_t)numel * d.warp_parts * gp_elem_info[d.elem].bytes;
    LLVMValueRef shared = gp_gpu_shared(e, bytes, numel_of(&d.from->shape), d.elem);
    LLVMValueRef c[GP_MAX_RANK], rest[GP_MAX_RANK] = {NULL};
    LLVMValueRef start = LLVMBuildMul(e->b, d.warp_part, gp_emit_i64(e, numel), "");
    gp_gpu_barrier(e);
    for (uint32_t g = 0; g < d.groups; g++) {
        gp_gpu_coords(e, d.from, d.first[g], c);
        for (int a = 0, k = 0; a < d.from->shape.rank; a++)
            if (a != inst->axis)
                rest[k++] = c[a];
        LLVMValueRef at = LLVMBuildAdd(e->b, start, gp_tile_linear(e, &d.to->shape, rest), "");
        store_shared(e, d.elem, shared, at, d.total[g], d.ok);
    }
    gp_gpu_barrier(e);
    GpBound out = gp_emit_bound_make(e, gp_layout_registers(d.to->layout));
    for (uint32_t r = 0; r < out.count; r++) {
        gp_gpu_coords(e, d.to, r, c);
        LLVMValueRef at = gp_tile_linear(e, &d.to->shape, c);
        out.at[r] = gp_emit_get(e, inst->operands[1]);
        for (uint32_t w = 0; w < d.warp_parts; w++) {
            LLVMValueRef place = LLVMBuildAdd(e->b, at, gp_emit_i64(e, w * numel), "");
            out.at[r] =
                gp_emit_combination(e, inst, out.at[r], load_shared(e, d.elem, shared, place));
        }
    }
    e->bound[inst->results[0]->id] = out;
}

/* Where `c` is `reach` elements or more after the start of the scan, and the index of the element
** that many before it (of itself elsewhere). */
static LLVMValueRef find_earlier(GpEmit *e, const GpInst *inst, const GpShapeLayout *s,
                                 LLVMValueRef const *c, int64_t reach, LLVMValueRef *index) {
    LLVMValueRef at[GP_MAX_RANK], along = c[inst->axis], n = gp_emit_i64(e, reach);
    memcpy(at, c, sizeof at);
    LLVMValueRef earlier = inst->is_reverse ? LLVMBuildAdd(e->b, along, n, "")
                                            : LLVMBuildSub(e->b, along, n, "");
    LLVMValueRef extent = gp_emit_i64(e, s->shape.dim[inst->axis]);
    LLVMValueRef has = LLVMBuildICmp(e->b, LLVMIntULT, earlier, extent, "");
    at[inst->axis] = LLVMBuildSelect(e->b, has, earlier, along, "");
    *index = gp_tile_linear(e, &s->shape, at);
    return has;
}

void gp_gpu_scan(GpEmit *e, const GpInst *inst) {
    const GpShapeLayout *s = gp_gpu_layout(e, &inst->results[0]->type->shape);
    GpElem elem = inst->results[0]->type->elem;
    uint64_t bytes = (uint64_t)numel_of(&s->shape) * gp_elem_info[elem].bytes;
    LLVMValueRef shared = gp_gpu_shared(e, bytes, numel_of(&s->shape), elem), at;
    GpBound out = gp_emit_bound_make(e, gp_layout_registers(s->layout));
    LLVMValueRef(*c)[GP_MAX_RANK] = gp_arena_alloc(e->arena, out.count * sizeof *c);
    memset(c, 0, out.count * sizeof *c);
    for (uint32_t r = 0; r < out.count; r++) {
        gp_gpu_coords(e, s, r, c[r]);
        LLVMValueRef x = gp_gpu_register(e, inst->operands[0], r);
        LLVMValueRef has = find_earlier(e, inst, s, c[r], 1, &at);
        LLVMValueRef first = gp_emit_combination(e, inst, gp_emit_get(e, inst->operands[1]), x);
        out.at[r] = LLVMBuildSelect(e->b, has, x, first, "");
    }
    for (int64_t reach = 1; reach < s->shape.dim[inst->axis]; reach *= 2) {
        gp_gpu_barrier(e);
        for (uint32_t r = 0; r < out.count; r++)
            store_shared(e, elem, shared, gp_tile_linear(e, &s->shape, c[r]), out.at[r],
                         s->is_owner);
        gp_gpu_barrier(e);
        for (uint32_t r = 0; r < out.count; r++) {
            LLVMValueRef has = find_earlier(e, inst, s, c[r], reach, &at);
            LLVMValueRef earlier = load_shared(e, elem, shared, at);
            LLVMValueRef both = gp_emit_combination(e, inst, earlier, out.at[r]);
            out.at[r] = LLVMBuildSelect(e->b, has, both, out.at[r], "");
        }
    }
    e->bound[inst->results[0]->id] = out;
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

void gp_gpu_cat(GpEmit *e, const GpInst *inst) {
    const GpShapeLayout *to = gp_gpu_layout(e, &inst->results[0]->type->shape);
    GpElem elem = inst->results[0]->type->elem;
    uint64_t bytes = (uint64_t)numel_of(&to->shape) * gp_elem_info[elem].bytes;
    LLVMValueRef shared = gp_gpu_shared(e, bytes, numel_of(&to->shape), elem);
    int64_t first = 0;
    gp_gpu_barrier(e);
    for (uint32_t i = 0; i < 2; i++) {
        const GpValue *v = inst->operands[i];
        const GpShapeLayout *from = gp_gpu_layout(e, &v->type->shape);
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
        gp_gpu_fold(e, inst);
    else if (inst->op == GpOp_Scan)
        gp_gpu_scan(e, inst);
    else if (inst->op == GpOp_Cat)
        gp_gpu_cat(e, inst);
    else
        gp_gpu_mma(e, inst);
}

enum { MOST_OPERANDS = 5 };

static LLVMValueRef access_register(GpEmit *e, const GpInst *inst, uint32_t r, LLVMValueRef ok) {
    LLVMValueRef x[MOST_OPERANDS];
    gp_assert(inst->operand_count <= MOST_OPERANDS);
    for (uint32_t i = 0; i < inst->operand_count; i++) {
        const GpValue *v = inst->operands[i];
        x[i] = v->type->kind == GpIrType_Tile ? gp_gpu_register(e, v, r) : gp_emit_get(e, v);
    }
    return gp_emit_access(e, inst, x, ok);
}

/* Each element once, by its owner; a scalar by the first thread. Barriers before and after give
** the block's accesses the order of the program. */
void gp_tile_gpu_access(GpEmit *e, const GpInst *inst) {
    const GpIrType *type = inst->operands[1]->type;
    bool is_tile = type->kind == GpIrType_Tile;
    GpShape one = {{0}, 0};
    const GpShapeLayout *s = gp_gpu_layout(e, is_tile ? &type->shape : &one);
    uint32_t count = gp_layout_registers(s->layout);
    GpBound out = gp_emit_bound_make(e, count);
    bool is_plain = inst->op == GpOp_Gather && inst->ordering == GpOrdering_Weak;
    LLVMValueRef ok = is_plain ? NULL : s->is_owner;
    gp_gpu_barrier(e);
    for (uint32_t r = 0; r < count; r++)
        out.at[r] = access_register(e, inst, r, ok);
    gp_gpu_barrier(e);
    if (!inst->result_count)
        return;
    if (ok) {
        GpElem elem = inst->results[0]->type->elem;
        uint64_t bytes = (uint64_t)numel_of(&s->shape) * gp_elem_info[elem].bytes;
        LLVMValueRef shared = gp_gpu_shared(e, bytes, numel_of(&s->shape), elem);
        for (uint32_t r = 0; r < count; r++) {
            LLVMValueRef c[GP_MAX_RANK];
            gp_gpu_coords(e, s, r, c);
            store_shared(e, elem, shared, gp_tile_linear(e, &s->shape, c), out.at[r], ok);
        }
        out = read_back(e, s, elem, shared);
    }
    e->bound[inst->results[0]->id] = out;
}
