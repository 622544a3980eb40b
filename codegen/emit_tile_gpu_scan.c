/* Scans whose body may be regrouped, on the GPU.
**
** The bits of the axis's coordinate are taken from the lowest on, wherever the layout has them. After
** bit k each register has its prefix in its block of 2^(k+1) elements, and each thread the totals of
** the blocks that it has a part of. Of two blocks that a bit tells apart the later one's prefixes take
** the earlier one's total: another register's, another lane's by a shuffle, or, for all the bits of
** warps that follow each other at once, another warp's through shared memory. Lanes and warps gather
** what comes before a thread's block; its registers take that once, behind the last of them. Extents
** that are no power of two repeat the block, and the repetitions follow each other in registers. */
#include "codegen/emit_tile_gpu.h"

typedef struct AxisBit {
    GpLayoutDim dim;
    int index;
} AxisBit;

typedef struct Scan {
    const GpInst *inst;
    const GpLayout *layout;
    const GpShapeLayout *s; /* while it is emitted */
    GpElem elem;
    AxisBit bit[GP_LAYOUT_BITS];
    int bits;
    uint32_t done;        /* register bits whose blocks are complete */
    GpBound prefix;       /* of each register */
    LLVMValueRef *total;  /* of the block of each register without bits of `done` */
    LLVMValueRef *before; /* what earlier lanes and warps have, likewise; NULL: nothing waits */
} Scan;

/* The bits of the axis's coordinate in order; false: one is not by itself, or groups of warps share the axis. */
static bool find_bits(Scan *d) {
    const GpLayout *l = d->layout;
    if (gp_layout_group_step(l, d->inst->axis))
        return false;
    for (int32_t value = 1; value < l->atom[d->inst->axis]; value *= 2, d->bits++) {
        bool is_found = false;
        for (int k = 0; k < GpLayoutDim_count && !is_found; k++) {
            for (int i = 0; i < l->bits[k] && !is_found; i++) {
                is_found = l->bases[k][i][d->inst->axis] == value;
                d->bit[d->bits] = (AxisBit){(GpLayoutDim)k, i};
            }
        }
        if (!is_found)
            return false;
    }
    return true;
}

static LLVMValueRef combine(GpEmit *e, const Scan *d, LLVMValueRef earlier, LLVMValueRef later) {
    return gp_emit_combination(e, d->inst, earlier, later);
}

static bool is_block(const Scan *d, uint32_t reg) { return (reg & d->done) == 0; }

/* The threads whose block is the later one of the two that bit `bit` of the thread tells apart. */
static LLVMValueRef is_later(GpEmit *e, const Scan *d, int bit) {
    LLVMValueRef set = LLVMBuildAnd(e->b, gp_gpu_thread(e), gp_emit_i32(e, INT64_C(1) << bit), "");
    return LLVMBuildICmp(e->b, d->inst->is_reverse ? LLVMIntEQ : LLVMIntNE, set, gp_emit_i32(e, 0), "");
}

static void scan_register_bit(GpEmit *e, Scan *d, int index) {
    uint32_t bit = UINT32_C(1) << index, later = d->inst->is_reverse ? 0 : bit;
    for (uint32_t r = 0; r < d->prefix.count; r++)
        if ((r & bit) == later)
            d->prefix.at[r] = combine(e, d, d->total[(r ^ bit) & ~d->done], d->prefix.at[r]);
    for (uint32_t r = 0; r < d->prefix.count; r++)
        if (is_block(d, r) && !(r & bit))
            d->total[r] = combine(e, d, d->total[r ^ later ^ bit], d->total[r ^ later]);
    d->done |= bit;
}

static void open_before(GpEmit *e, Scan *d) {
    if (d->before)
        return;
    d->before = GP_NEW_ARRAY(e->arena, LLVMValueRef, d->prefix.count);
    for (uint32_t r = 0; r < d->prefix.count; r++)
        d->before[r] = gp_emit_get(e, d->inst->operands[1]);
}

static void close_before(GpEmit *e, Scan *d) {
    for (uint32_t r = 0; r < d->prefix.count && d->before; r++)
        d->prefix.at[r] = combine(e, d, d->before[r & ~d->done], d->prefix.at[r]);
    d->before = NULL;
}

static void scan_lane_bit(GpEmit *e, Scan *d, int index) {
    LLVMValueRef later = is_later(e, d, index);
    open_before(e, d);
    for (uint32_t r = 0; r < d->prefix.count; r++) {
        if (!is_block(d, r))
            continue;
        LLVMValueRef other = gp_gpu_shuffle(e, d->elem, d->total[r], 1u << index);
        LLVMValueRef both = combine(e, d, other, d->before[r]);
        d->before[r] = LLVMBuildSelect(e->b, later, both, d->before[r], "");
        d->total[r] = combine(e, d, d->total[r], other);
    }
}

/* Warps that differ in `count` bits from bit[first] on. */
typedef struct WarpSet {
    int first, count;
    LLVMValueRef mine, base; /* i32: this warp's number among them; the thread in number 0's place */
    int32_t step[GP_LAYOUT_BITS]; /* of the thread's number, by bit */
} WarpSet;

static WarpSet warp_set(GpEmit *e, const Scan *d, int first, int count) {
    WarpSet w = {first, count, gp_emit_i32(e, 0), gp_gpu_thread(e), {0}};
    for (int i = 0; i < count; i++) {
        int bit = d->s->layout->bits[GpLayoutDim_Lane] + d->bit[first + i].index;
        w.step[i] = (int32_t)1 << bit;
        LLVMValueRef set = LLVMBuildLShr(e->b, gp_gpu_thread(e), gp_emit_i32(e, bit), "");
        set = LLVMBuildAnd(e->b, set, gp_emit_i32(e, 1), "");
        w.mine = LLVMBuildOr(e->b, w.mine, LLVMBuildShl(e->b, set, gp_emit_i32(e, i), ""), "");
        w.base = LLVMBuildAnd(e->b, w.base, gp_emit_i32(e, ~w.step[i]), "");
    }
    return w;
}

static LLVMValueRef total_place(GpEmit *e, const Scan *d, LLVMValueRef shared, LLVMValueRef thread,
                                uint32_t block) {
    int64_t first = (int64_t)block * gp_tile_gpu_threads(e);
    LLVMValueRef at = LLVMBuildAdd(e->b, thread, gp_emit_i32(e, first), "");
    at = LLVMBuildZExt(e->b, at, LLVMInt64TypeInContext(e->ctx), "");
    return gp_emit_gep(e, d->elem, shared, at);
}

/* The totals of one block in all warps of the set: their total, and that of the earlier ones. */
static void gather_warps(GpEmit *e, Scan *d, const WarpSet *w, LLVMValueRef shared, uint32_t block,
                         uint32_t r) {
    LLVMValueRef sum = NULL, earlier = NULL;
    uint32_t parts = UINT32_C(1) << w->count;
    for (uint32_t k = 0; k < parts; k++) {
        uint32_t part = d->inst->is_reverse ? parts - 1 - k : k;
        int64_t step = 0;
        for (int i = 0; i < w->count; i++)
            step += part >> i & 1 ? w->step[i] : 0;
        LLVMValueRef thread = LLVMBuildAdd(e->b, w->base, gp_emit_i32(e, step), "");
        LLVMValueRef x = gp_emit_mem_load(e, d->elem, total_place(e, d, shared, thread, block));
        LLVMValueRef is_mine = LLVMBuildICmp(e->b, LLVMIntEQ, w->mine, gp_emit_i32(e, part), "");
        if (k > 0) {
            LLVMValueRef before = combine(e, d, sum, d->before[r]);
            earlier = LLVMBuildSelect(e->b, is_mine, before, earlier, "");
        } else {
            earlier = d->before[r];
        }
        sum = k > 0 ? combine(e, d, sum, x) : x;
    }
    d->before[r] = earlier;
    d->total[r] = sum;
}

static void scan_warps(GpEmit *e, Scan *d, int first, int count) {
    WarpSet w = warp_set(e, d, first, count);
    uint32_t blocks = 0;
    for (uint32_t r = 0; r < d->prefix.count; r++)
        blocks += is_block(d, r);
    uint64_t bytes = (uint64_t)blocks * gp_tile_gpu_threads(e) * gp_elem_info[d->elem].bytes;
    LLVMValueRef shared = gp_gpu_shared(e, bytes, (int64_t)blocks * gp_tile_gpu_threads(e), d->elem);
    open_before(e, d);
    gp_gpu_barrier(e);
    for (uint32_t r = 0, block = 0; r < d->prefix.count; r++)
        if (is_block(d, r))
            gp_emit_mem_store(e, d->elem, d->total[r],
                              total_place(e, d, shared, gp_gpu_thread(e), block++));
    gp_gpu_barrier(e);
    for (uint32_t r = 0, block = 0; r < d->prefix.count; r++)
        if (is_block(d, r))
            gather_warps(e, d, &w, shared, block++, r);
}

/* The repetitions of the axis, whose digit of a register is worth `step` registers. */
static void scan_repetitions(GpEmit *e, Scan *d) {
    const GpLayout *l = d->s->layout;
    uint32_t step = UINT32_C(1) << l->bits[GpLayoutDim_Register];
    uint32_t repeat = (uint32_t)l->repeat[d->inst->axis];
    for (int a = l->rank - 1; a > d->inst->axis; a--)
        step *= (uint32_t)l->repeat[a];
    for (uint32_t k = 1; k < repeat; k++) {
        uint32_t digit = d->inst->is_reverse ? repeat - 1 - k : k;
        uint32_t earlier = d->inst->is_reverse ? digit + 1 : digit - 1;
        for (uint32_t r = 0; r < d->prefix.count; r++) {
            if (r / step % repeat != digit)
                continue;
            LLVMValueRef *from = &d->total[(r + (earlier - digit) * step) & ~d->done];
            d->prefix.at[r] = combine(e, d, *from, d->prefix.at[r]);
            if (is_block(d, r))
                d->total[r] = combine(e, d, *from, d->total[r]);
        }
    }
}

static bool has_threads(const Scan *d) {
    for (int i = 0; i < d->bits; i++)
        if (d->bit[i].dim != GpLayoutDim_Register)
            return true;
    return false;
}

/* The first element takes the identity; with bits of threads on the axis `before` starts with it. */
static void take_identity(GpEmit *e, Scan *d) {
    int64_t first = d->inst->is_reverse ? d->s->shape.dim[d->inst->axis] - 1 : 0;
    if (has_threads(d))
        return;
    for (uint32_t r = 0; r < d->prefix.count; r++) {
        int32_t at[GP_MAX_RANK];
        gp_layout_at(d->s->layout, r, 0, 0, at);
        if (at[d->inst->axis] == first)
            d->prefix.at[r] = combine(e, d, gp_emit_get(e, d->inst->operands[1]), d->prefix.at[r]);
    }
}

static void start(GpEmit *e, Scan *d) {
    d->s = gp_gpu_layout_of(e, d->inst->results[0]);
    GpBound x = gp_gpu_convert(e, d->inst->operands[0], d->s);
    d->prefix = gp_emit_bound_make(e, gp_layout_registers(d->s->layout));
    d->total = GP_NEW_ARRAY(e->arena, LLVMValueRef, d->prefix.count);
    for (uint32_t r = 0; r < d->prefix.count; r++)
        d->prefix.at[r] = gp_gpu_at(&x, r);
    take_identity(e, d);
    for (uint32_t r = 0; r < d->prefix.count; r++)
        d->total[r] = d->prefix.at[r];
}

static GpOp body_op(const GpInst *inst) { return inst->regions[0]->first->op; }

/* The identity is in no total of several threads: then it need not have the same sign of zero. */
static bool has_identity(const Scan *d, const GpInst *reduce) {
    const GpValue *a = d->inst->operands[1], *b = reduce->operands[1];
    GpScalar x, y;
    bool is_zero = gp_elem_is_float(d->elem) && gp_ir_const(a, &x) && gp_ir_const(b, &y) && x.f == 0 && y.f == 0;
    return a == b || (is_zero && has_threads(d));
}

/* The reduction behind the scan in its region that has the scan's total; NULL: there is none. */
static const GpInst *find_total(const Scan *d) {
    const GpInst *scan = d->inst;
    for (const GpInst *x = scan->next; x; x = x->next)
        if (x->op == GpOp_Reduce && x->operands[0] == scan->operands[0] && x->axis == scan->axis &&
            has_identity(d, x) && gp_gpu_is_regroupable(x) && body_op(x) == body_op(scan) &&
            body_op(x) != GpOp_Cmp)
            return x;
    return NULL;
}

static Scan scan_of(GpEmit *e, const GpInst *inst) {
    const GpValue *v = inst->results[0];
    return (Scan){.inst = inst, .layout = gp_gpu_bare_layout_of(e, v), .elem = v->type->elem};
}

bool gp_gpu_has_total(GpEmit *e, const GpInst *reduce) {
    for (const GpInst *x = reduce->prev; x; x = x->prev) {
        if (x->op != GpOp_Scan || x->operands[0] != reduce->operands[0] || !gp_gpu_is_regroupable(x))
            continue;
        Scan d = scan_of(e, x);
        bool has_bits = find_bits(&d);
        if (find_total(&d) == reduce)
            return has_bits;
    }
    return false;
}

/* Every thread has the totals of its lines: a reduction of the same tile takes them. */
static void bind_total(GpEmit *e, const Scan *d) {
    const GpInst *reduce = find_total(d);
    if (!reduce)
        return;
    const GpLayout *l = d->s->layout;
    const GpShapeLayout *to = gp_gpu_layout(e, gp_layout_slice(e->arena, l, d->inst->axis));
    GpBound out = gp_emit_bound_make(e, gp_layout_registers(to->layout));
    for (uint32_t r = 0; r < d->prefix.count; r++) {
        int32_t at[GP_MAX_RANK];
        uint32_t g = 0;
        gp_layout_at(l, r, 0, 0, at);
        int32_t digit = at[d->inst->axis] / l->atom[d->inst->axis];
        if (!is_block(d, r) || digit != (d->inst->is_reverse ? 0 : l->repeat[d->inst->axis] - 1))
            continue;
        for (int a = d->inst->axis; a + 1 < d->s->shape.rank; a++)
            at[a] = at[a + 1];
        gp_assert(gp_layout_register(to->layout, at, &g));
        out.at[g] = d->total[r];
    }
    gp_gpu_bind(e, reduce->results[0], out, to);
}

void gp_gpu_scan(GpEmit *e, const GpInst *inst) {
    Scan d = scan_of(e, inst);
    if (!find_bits(&d)) {
        gp_gpu_scan_serially(e, inst);
        return;
    }
    start(e, &d);
    for (int i = 0; i < d.bits;) {
        int end = i + 1;
        while (d.bit[i].dim == GpLayoutDim_Warp && end < d.bits && d.bit[end].dim == GpLayoutDim_Warp)
            end++;
        if (d.bit[i].dim == GpLayoutDim_Register) {
            close_before(e, &d);
            scan_register_bit(e, &d, d.bit[i].index);
        } else if (d.bit[i].dim == GpLayoutDim_Lane) {
            scan_lane_bit(e, &d, d.bit[i].index);
        } else {
            scan_warps(e, &d, i, end - i);
        }
        i = end;
    }
    close_before(e, &d);
    scan_repetitions(e, &d);
    e->bound[inst->results[0]->id] = d.prefix;
    bind_total(e, &d);
}
