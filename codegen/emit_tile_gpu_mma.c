/* Matrix products on the GPU, through shared memory.
**
** The operands are staged in shared memory, a as rows and b as columns, each line padded by 16
** bytes so that the threads of a warp read different banks; as much of their depth at a time as
** fits. Where the element types have a
** tensor-core instruction (mma.def) and the extents are multiples of its, warps share the blocks
** of the result, of which the last may have rows that nobody wants; their sums go through shared memory, by bands of rows that fit, to the
** accumulator's layout and are added there. Otherwise each thread multiplies and
** adds for the elements that it holds, k ascending from the accumulator. */
#include "codegen/async.h"
#include "codegen/emit_tile_gpu.h"

enum { COLUMNS = 8, QUADS = 4, MOST_PARTS = 4, PAD_BYTES = GP_GPU_VECTOR_BYTES };

static const GpMmaSync sync_rows[] = {
#define GP_MMA_SYNC(a, b, staged, rows, k, operand, intrinsic)                                     \
    {GpElem_##a, GpElem_##b, GpElem_##staged, GP_MMA_##operand, rows, k, intrinsic},
#include "codegen/mma.def"
};

/* An operand in shared memory: its lines are the rows of a, the columns of b. */
typedef struct Staged {
    const GpValue *from;
    GpElem elem;
    int line_axis, depth_axis; /* of `from` */
    int64_t lines;             /* of one batch */
    int64_t pitch;             /* elements from one line to the next */
    LLVMValueRef base;
} Staged;

typedef struct Product {
    const GpInst *inst;
    const GpMmaSync *sync; /* NULL: without tensor cores */
    GpElem sum;
    int64_t batches, m, n, k;
    int64_t rows;  /* of the sums of one batch: m, rounded up to those of the instruction */
    int64_t depth; /* of k: what is staged at a time */
    Staged a, b;
} Product;

static LLVMTypeRef i32(GpEmit *e) { return LLVMInt32TypeInContext(e->ctx); }
static LLVMTypeRef i64(GpEmit *e) { return LLVMInt64TypeInContext(e->ctx); }

static LLVMValueRef scale(GpEmit *e, LLVMValueRef x, int64_t by) {
    return LLVMBuildMul(e->b, x, gp_emit_i64(e, by), "");
}

static LLVMValueRef add(GpEmit *e, LLVMValueRef x, LLVMValueRef y) {
    return LLVMBuildAdd(e->b, x, y, "");
}

static LLVMValueRef add_const(GpEmit *e, LLVMValueRef x, int64_t y) {
    return add(e, x, gp_emit_i64(e, y));
}

const GpMmaSync *gp_mma_sync_find(GpElem a, GpElem b, int64_t m, int64_t n, int64_t k) {
    for (size_t i = 0; i < GP_COUNT(sync_rows); i++) {
        const GpMmaSync *row = &sync_rows[i];
        if (row->a == a && row->b == b && m % row->rows == 0 && n % COLUMNS == 0 && k % row->k == 0)
            return row;
    }
    return NULL;
}

static void set_depth(Product *p, int64_t depth) {
    p->depth = depth;
    p->a.pitch = depth + PAD_BYTES / gp_elem_info[p->a.elem].bytes;
    p->b.pitch = depth + PAD_BYTES / gp_elem_info[p->b.elem].bytes;
}

static uint64_t bytes_of(const Product *p, const Staged *o) {
    return (uint64_t)(p->batches * o->lines * o->pitch) * gp_elem_info[o->elem].bytes;
}

/* Bytes from the start of a's lines to that of b's. */
static uint64_t b_offset(const Product *p) { return gp_align_up(bytes_of(p, &p->a), GP_GPU_VECTOR_BYTES); }

static Product product_of(const GpInst *inst) {
    const GpIrType *a = inst->operands[0]->type, *b = inst->operands[1]->type;
    const GpIrType *acc = inst->operands[2]->type;
    int last = a->shape.rank - 1;
    Product p = {.inst = inst, .sum = acc->elem};
    gp_assert(gp_mma_find(a->elem, b->elem, acc->elem, &p.sum));
    p.m = a->shape.dim[last - 1];
    p.k = a->shape.dim[last];
    p.n = b->shape.dim[last];
    p.batches = last == 2 ? a->shape.dim[0] : 1;
    p.sync = gp_mma_sync_find(a->elem, b->elem, p.m, p.n, p.k);
    if (!p.sync)
        p.sync = gp_mma_sync_find(a->elem, b->elem, gp_ceil_div(p.m, GP_MMA_ROWS) * GP_MMA_ROWS, p.n, p.k);
    p.rows = p.sync ? gp_ceil_div(p.m, p.sync->rows) * p.sync->rows : p.m;
    p.a = (Staged){inst->operands[0], a->elem, last - 1, last, p.m, 0, NULL};
    p.b = (Staged){inst->operands[1], b->elem, last, last - 1, p.n, 0, NULL};
    if (p.sync && p.sync->staged != a->elem)
        p.a.elem = p.b.elem = p.sync->staged;
    set_depth(&p, p.k);
    int64_t unit = p.sync ? p.sync->k : 1;
    while (b_offset(&p) + bytes_of(&p, &p.b) > GP_GPU_STATIC_SHARED && p.depth % (2 * unit) == 0)
        set_depth(&p, p.depth / 2);
    return p;
}

static LLVMValueRef staged_at(GpEmit *e, const Staged *o, LLVMValueRef line, LLVMValueRef along) {
    return gp_emit_gep(e, o->elem, o->base, add(e, scale(e, line, o->pitch), along));
}

/* Each element of an operand onto its line, where those from `first` on lie. */
static void stage(GpEmit *e, const Product *p, const Staged *o, int64_t first) {
    const GpShapeLayout *s = gp_gpu_layout_of(e, o->from);
    for (uint32_t r = 0; r < gp_layout_registers(s->layout); r++) {
        LLVMValueRef c[GP_MAX_RANK], x = gp_gpu_register(e, o->from, r), ok = s->is_owner;
        gp_gpu_coords(e, s, r, c);
        LLVMValueRef line = c[o->line_axis], along = c[o->depth_axis];
        if (s->shape.rank == 3)
            line = add(e, scale(e, c[0], o->lines), line);
        if (p->depth < p->k) {
            along = add_const(e, along, -first);
            LLVMValueRef in = LLVMBuildICmp(e->b, LLVMIntULT, along, gp_emit_i64(e, p->depth), "");
            ok = ok ? LLVMBuildAnd(e->b, ok, in, "") : in;
        }
        if (o->elem != o->from->type->elem)
            x = gp_emit_cast(e, x, o->from->type->elem, o->elem);
        GpPlace place = {o->elem, staged_at(e, o, line, along), ok, x, NULL};
        gp_tile_store(e, &place);
    }
}

static void stage_operands(GpEmit *e, Product *p, int64_t first) {
    uint64_t offset = b_offset(p);
    p->a.base = gp_gpu_shared(e, offset + bytes_of(p, &p->b),
                              p->batches * (p->m + p->n) * p->depth, p->a.elem);
    p->b.base = gp_emit_behind(e, p->a.base, (int64_t)offset);
    gp_gpu_barrier(e);
    stage(e, p, &p->a, first);
    stage(e, p, &p->b, first);
    gp_gpu_barrier(e);
}

/* A loop over k whose sums are carried. */
typedef struct Depth {
    LLVMValueRef k, *sum;
    LLVMBasicBlockRef head;
    uint32_t count;
} Depth;

static Depth open_depth(GpEmit *e, LLVMValueRef *start, uint32_t count) {
    Depth d = {.head = gp_emit_block(e, "depth"), .count = count};
    LLVMBasicBlockRef before = LLVMGetInsertBlock(e->b);
    LLVMValueRef zero = gp_emit_i64(e, 0);
    d.sum = GP_NEW_ARRAY(e->arena, LLVMValueRef, count);
    LLVMBuildBr(e->b, d.head);
    gp_emit_at(e, d.head);
    d.k = LLVMBuildPhi(e->b, i64(e), "");
    LLVMAddIncoming(d.k, &zero, &before, 1);
    for (uint32_t i = 0; i < count; i++) {
        d.sum[i] = LLVMBuildPhi(e->b, LLVMTypeOf(start[i]), "");
        LLVMAddIncoming(d.sum[i], &start[i], &before, 1);
    }
    return d;
}

static void close_depth(GpEmit *e, const Depth *d, LLVMValueRef *next, int64_t step, int64_t end) {
    LLVMBasicBlockRef latch = LLVMGetInsertBlock(e->b), exit = gp_emit_block(e, "summed");
    LLVMValueRef k = add_const(e, d->k, step);
    LLVMAddIncoming(d->k, &k, &latch, 1);
    for (uint32_t i = 0; i < d->count; i++)
        LLVMAddIncoming(d->sum[i], &next[i], &latch, 1);
    LLVMValueRef more = LLVMBuildICmp(e->b, LLVMIntULT, k, gp_emit_i64(e, end), "");
    LLVMBuildCondBr(e->b, more, d->head, exit);
    gp_emit_at(e, exit);
}

/* Without tensor cores */

static LLVMValueRef multiply_add(GpEmit *e, GpElem sum, LLVMValueRef x, LLVMValueRef y,
                                 LLVMValueRef total) {
    if (!gp_elem_is_float(sum))
        return LLVMBuildAdd(e->b, LLVMBuildMul(e->b, x, y, ""), total, "");
    LLVMValueRef args[] = {x, y, total};
    return gp_emit_intrinsic(e, "llvm.fma", gp_emit_type(e, sum), args, 3);
}

/* Registers of one row read one element of a, those of one column one of b: *memo. */
static LLVMValueRef read_operand(GpEmit *e, const Staged *o, GpElem sum, LLVMValueRef *memo,
                                 LLVMValueRef line, LLVMValueRef k) {
    if (*memo)
        return *memo;
    LLVMValueRef v = gp_emit_mem_load(e, o->elem, staged_at(e, o, line, k));
    return *memo = o->elem == sum ? v : gp_emit_cast(e, v, o->elem, sum);
}

/* One staged depth more in the sums. */
static void add_plain(GpEmit *e, const Product *p, const GpShapeLayout *s, LLVMValueRef *sum,
                      uint32_t count) {
    int last = s->shape.rank - 1;
    LLVMValueRef *rows = GP_NEW_ARRAY(e->arena, LLVMValueRef, (size_t)(p->batches * p->m));
    LLVMValueRef *columns = GP_NEW_ARRAY(e->arena, LLVMValueRef, (size_t)(p->batches * p->n));
    Depth d = open_depth(e, sum, count);
    for (uint32_t r = 0; r < count; r++) {
        LLVMValueRef c[GP_MAX_RANK];
        int32_t at[GP_MAX_RANK], batch;
        gp_gpu_coords(e, s, r, c);
        gp_layout_at(s->layout, r, 0, 0, at);
        batch = last == 2 ? at[0] : 0;
        LLVMValueRef row = c[last - 1], column = c[last];
        if (last == 2) {
            row = add(e, scale(e, c[0], p->m), row);
            column = add(e, scale(e, c[0], p->n), column);
        }
        LLVMValueRef x =
            read_operand(e, &p->a, p->sum, &rows[batch * p->m + at[last - 1]], row, d.k);
        LLVMValueRef y =
            read_operand(e, &p->b, p->sum, &columns[batch * p->n + at[last]], column, d.k);
        sum[r] = multiply_add(e, p->sum, x, y, d.sum[r]);
    }
    close_depth(e, &d, sum, 1, p->depth);
}

static GpBound multiply_plain(GpEmit *e, Product *p) {
    const GpValue *acc = p->inst->operands[2];
    const GpShapeLayout *s = gp_gpu_layout_of(e, p->inst->results[0]);
    GpBound from = gp_gpu_convert(e, acc, s);
    GpBound out = gp_emit_bound_make(e, gp_layout_registers(s->layout));
    bool is_narrow = acc->type->elem != p->sum;
    for (uint32_t r = 0; r < out.count; r++) {
        out.at[r] = gp_gpu_at(&from, r);
        if (is_narrow)
            out.at[r] = gp_emit_cast(e, out.at[r], acc->type->elem, p->sum);
    }
    for (int64_t first = 0; first < p->k; first += p->depth) {
        stage_operands(e, p, first);
        add_plain(e, p, s, out.at, out.count);
    }
    for (uint32_t r = 0; r < out.count && is_narrow; r++)
        out.at[r] = gp_emit_cast(e, out.at[r], p->sum, acc->type->elem);
    return out;
}

/* With tensor cores */

/* Where this thread's part of a block lies: row `group`, columns from 2 * `quad` on. */
typedef struct Lane {
    LLVMValueRef warp, group, quad; /* i64 */
} Lane;

static Lane lane_of(GpEmit *e) {
    LLVMValueRef t = LLVMBuildZExt(e->b, gp_gpu_thread(e), i64(e), "");
    Lane l = {.warp = LLVMBuildLShr(e->b, t, gp_emit_i64(e, GP_GPU_LANE_BITS), "")};
    t = LLVMBuildAnd(e->b, t, gp_emit_i64(e, GP_GPU_LANES - 1), "");
    l.group = LLVMBuildLShr(e->b, t, gp_emit_i64(e, 2), "");
    l.quad = LLVMBuildAnd(e->b, t, gp_emit_i64(e, 3), "");
    return l;
}

/* First row of a's lines and of b's lines, and row and column of the sums, of a block. */
typedef struct Block {
    LLVMValueRef a_line, b_line, row, column;
    LLVMValueRef row_in_batch; /* where rows are rounded up: then a_line is the batch's */
} Block;

static Block block_of(GpEmit *e, const Product *p, const Lane *l, uint32_t turn, uint32_t warps) {
    int64_t across = p->n / COLUMNS, down = p->rows / p->sync->rows, all = p->batches * down * across;
    LLVMValueRef n = add_const(e, l->warp, (int64_t)turn * warps);
    if (all % warps)
        n = LLVMBuildURem(e->b, n, gp_emit_i64(e, all), ""); /* done twice, to the same end */
    LLVMValueRef j = LLVMBuildURem(e->b, n, gp_emit_i64(e, across), "");
    LLVMValueRef i = LLVMBuildUDiv(e->b, n, gp_emit_i64(e, across), "");
    LLVMValueRef batch = LLVMBuildUDiv(e->b, i, gp_emit_i64(e, down), "");
    Block b = {.column = scale(e, j, COLUMNS)};
    b.row = scale(e, i, p->sync->rows); /* batches follow each other */
    b.a_line = b.row;
    if (p->rows != p->m) {
        b.a_line = scale(e, batch, p->m);
        b.row_in_batch = LLVMBuildSub(e->b, b.row, scale(e, batch, p->rows), "");
    }
    b.b_line = add(e, scale(e, batch, p->n), b.column);
    return b;
}

/* A warp's blocks, and what this thread has of their sums. */
typedef struct Share {
    Product *product;
    Lane lane;
    uint32_t turns; /* blocks */
    uint32_t parts; /* registers of one block's sums */
    Block *block;
    LLVMValueRef *sum;
} Share;

static Share share_of(GpEmit *e, Product *p) {
    uint32_t warps = gp_tile_gpu_threads(e) / GP_GPU_LANES;
    int64_t blocks = p->batches * (p->rows / p->sync->rows) * (p->n / COLUMNS);
    Share w = {.product = p,
               .lane = lane_of(e),
               .turns = (uint32_t)gp_ceil_div(blocks, warps),
               .parts = (uint32_t)p->sync->rows / 4};
    w.block = GP_NEW_ARRAY(e->arena, Block, w.turns);
    w.sum = GP_NEW_ARRAY(e->arena, LLVMValueRef, (size_t)w.turns * w.parts);
    for (uint32_t i = 0; i < w.turns; i++)
        w.block[i] = block_of(e, p, &w.lane, i, warps);
    for (uint32_t i = 0; i < w.turns * w.parts; i++)
        w.sum[i] = LLVMConstNull(gp_emit_type(e, p->sum));
    return w;
}

/* The register of a fragment: the word of a staged line that holds elements `along`.. */
static LLVMValueRef load_word(GpEmit *e, GpMmaOperand operand, const Staged *o, LLVMValueRef line,
                              LLVMValueRef along) {
    LLVMValueRef ptr = staged_at(e, o, line, along);
    LLVMTypeRef half = LLVMHalfTypeInContext(e->ctx);
    LLVMTypeRef types[] = {[GP_MMA_V2F16] = LLVMVectorType(half, 2),
                           [GP_MMA_I32] = i32(e),
                           [GP_MMA_F64] = LLVMDoubleTypeInContext(e->ctx)};
    LLVMValueRef v = LLVMBuildLoad2(e->b, types[operand], ptr, "");
    LLVMSetAlignment(v, GP_MAX(gp_elem_info[o->elem].bytes, 4u));
    return v;
}

/* Of row `group` or the eighth behind it. Rows beyond the last repeat those from the first on. */
static LLVMValueRef a_line(GpEmit *e, const Share *w, const Block *b, int64_t behind) {
    LLVMValueRef row = add_const(e, add(e, b->row_in_batch ? b->row_in_batch : b->a_line, w->lane.group), behind);
    if (!b->row_in_batch)
        return row;
    return add(e, b->a_line, LLVMBuildURem(e->b, row, gp_emit_i64(e, w->product->m), ""));
}

/* One step of k more in the sums of a block. */
static void multiply_block(GpEmit *e, const Share *w, uint32_t turn, const Depth *d) {
    const Product *p = w->product;
    const Block *b = &w->block[turn];
    size_t first = (size_t)turn * w->parts;
    bool is_tall = p->sync->rows == 16;
    int64_t word = GP_MAX(4 / gp_elem_info[p->a.elem].bytes, 1), half = QUADS * word;
    LLVMValueRef args[6 + MOST_PARTS], along = add(e, d->k, scale(e, w->lane.quad, word));
    LLVMValueRef line = add(e, b->b_line, w->lane.group);
    uint32_t count = 0;
    for (int64_t i = 0; i < (is_tall ? 4 : 1); i++)
        args[count++] = load_word(e, p->sync->operand, &p->a, a_line(e, w, b, i % 2 * 8),
                                  add_const(e, along, i / 2 * half));
    for (int64_t i = 0; i < (is_tall ? 2 : 1); i++)
        args[count++] =
            load_word(e, p->sync->operand, &p->b, line, add_const(e, along, i * half));
    for (uint32_t i = 0; i < w->parts; i++)
        args[count++] = d->sum[first + i];
    LLVMValueRef all = gp_emit_intrinsic(e, p->sync->intrinsic, NULL, args, count);
    for (uint32_t i = 0; i < w->parts; i++)
        w->sum[first + i] = LLVMBuildExtractValue(e->b, all, i, "");
}

static void multiply_share(GpEmit *e, const Share *w) {
    Product *p = w->product;
    for (int64_t first = 0; first < p->k; first += p->depth) {
        stage_operands(e, p, first);
        Depth d = open_depth(e, w->sum, w->turns * w->parts);
        for (uint32_t i = 0; i < w->turns; i++)
            multiply_block(e, w, i, &d);
        close_depth(e, &d, w->sum, p->sync->k, p->depth);
    }
}

/* Rows of the sums that are in shared memory together. */
typedef struct Band {
    LLVMValueRef shared;
    int64_t first, rows;
} Band;

/* Whether the row of the band is in it; NULL: all rows are. */
static LLVMValueRef is_in_band(GpEmit *e, const Product *p, const Band *band, LLVMValueRef row) {
    bool is_all = band->rows == p->batches * p->rows;
    return is_all ? NULL : LLVMBuildICmp(e->b, LLVMIntULT, row, gp_emit_i64(e, band->rows), "");
}

/* A block's sums in this band go to shared memory. */
static void put_band(GpEmit *e, const Share *w, uint32_t turn, const Band *band) {
    const Product *p = w->product;
    const Block *b = &w->block[turn];
    LLVMValueRef const *sum = w->sum + (size_t)turn * w->parts;
    for (int64_t i = 0; i < w->parts; i++) {
        LLVMValueRef row = add_const(e, add(e, b->row, w->lane.group), i / 2 * 8 - band->first);
        LLVMValueRef column = add_const(e, add(e, b->column, scale(e, w->lane.quad, 2)), i % 2);
        LLVMValueRef at = add(e, scale(e, row, p->n), column);
        GpPlace place = {p->sum, gp_emit_gep(e, p->sum, band->shared, at), is_in_band(e, p, band, row), sum[i], NULL};
        gp_tile_store(e, &place);
    }
}

static void take_band(GpEmit *e, const Product *p, const Band *band, LLVMValueRef *out) {
    const GpShapeLayout *s = gp_gpu_layout_of(e, p->inst->results[0]);
    int last = s->shape.rank - 1;
    for (uint32_t r = 0; r < gp_layout_registers(s->layout); r++) {
        LLVMValueRef c[GP_MAX_RANK];
        gp_gpu_coords(e, s, r, c);
        LLVMValueRef row = c[last - 1];
        if (last == 2)
            row = add(e, scale(e, c[0], p->rows), row);
        row = add_const(e, row, -band->first);
        LLVMValueRef ok = is_in_band(e, p, band, row), at = add(e, scale(e, row, p->n), c[last]);
        at = ok ? LLVMBuildSelect(e->b, ok, at, gp_emit_i64(e, 0), "") : at;
        LLVMValueRef v = gp_emit_mem_load(e, p->sum, gp_emit_gep(e, p->sum, band->shared, at));
        out[r] = out[r] ? LLVMBuildSelect(e->b, ok, v, out[r], "") : v;
    }
}

static LLVMValueRef add_sums(GpEmit *e, const Product *p, LLVMValueRef acc, LLVMValueRef sum) {
    GpElem elem = p->inst->operands[2]->type->elem;
    if (!gp_elem_is_float(p->sum))
        return LLVMBuildAdd(e->b, acc, sum, "");
    LLVMValueRef wide = elem == p->sum ? acc : gp_emit_cast(e, acc, elem, p->sum);
    LLVMValueRef v = LLVMBuildFAdd(e->b, wide, sum, "");
    return elem == p->sum ? v : gp_emit_cast(e, v, p->sum, elem);
}

/* The sums, band by band, to the layout of the accumulator, and the accumulator to them. */
static GpBound collect_share(GpEmit *e, const Share *w) {
    const Product *p = w->product;
    const GpValue *result = p->inst->results[0];
    GpBound from = gp_gpu_convert(e, p->inst->operands[2], gp_gpu_layout_of(e, result));
    GpBound out = gp_emit_bound_make(e, gp_emit_flat_count(e, result));
    int64_t line_bytes = p->n * gp_elem_info[p->sum].bytes, rows = p->batches * p->rows;
    int64_t most = GP_MAX(GP_MIN(rows, GP_GPU_STATIC_SHARED / line_bytes), INT64_C(1));
    Band band = {.shared = gp_gpu_shared(e, (uint64_t)(most * line_bytes), rows * p->n, p->sum)};
    for (; band.first < rows; band.first += most) {
        band.rows = GP_MIN(most, rows - band.first);
        gp_gpu_barrier(e);
        for (uint32_t i = 0; i < w->turns; i++)
            put_band(e, w, i, &band);
        gp_gpu_barrier(e);
        take_band(e, p, &band, out.at);
    }
    for (uint32_t r = 0; r < out.count; r++)
        out.at[r] = add_sums(e, p, gp_gpu_at(&from, r), out.at[r]);
    return out;
}

static GpBound multiply_sync(GpEmit *e, Product *p) {
    Share w = share_of(e, p);
    multiply_share(e, &w);
    return collect_share(e, &w);
}

void gp_gpu_mma(GpEmit *e, const GpInst *inst) {
    if (e->pipe) {
        gp_wgmma(e, inst);
        return;
    }
    if (e->async) {
        gp_mma_sync(e, inst);
        return;
    }
    Product p = product_of(inst);
    e->bound[inst->results[0]->id] = p.sync ? multiply_sync(e, &p) : multiply_plain(e, &p);
}

const GpLayout *gp_gpu_sums_layout(GpEmit *e, const GpShape *shape) {
    return gp_layout_mma(e->arena, shape, gp_tile_gpu_threads(e), e->async ? e->async->across : 1);
}

const GpLayout *gp_gpu_mma_layout(GpEmit *e, const GpInst *mma) {
    if (!e->pipe && !e->async)
        return NULL; /* sums go to the accumulator through shared memory */
    return gp_gpu_sums_layout(e, &mma->results[0]->type->shape);
}
