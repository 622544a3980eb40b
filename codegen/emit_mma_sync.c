/* Products by mma.sync whose operands lie in shared memory as feeds do, with their sums in registers.
**
** A warp has blocks of 16 x 8 sums (PTX ISA, "Matrix fragments for mma.m16n8k16"), and reads the
** operands as fragment.h has them. The first operand may be in registers: sums of a product are in the
** order that another's operand wants. */
#include "codegen/async.h"
#include "codegen/emit_i32.h"
#include "codegen/emit_tile_gpu.h"
#include "codegen/fragment.h"

enum {
    COLUMNS = 8,               /* of a block */
    PAIR = GP_FRAGMENT_ROWS,   /* columns that ldmatrix brings at a time */
    SUMS = 4
};

static LLVMTypeRef i32(GpEmit *e) { return LLVMInt32TypeInContext(e->ctx); }
static const GpMmaSync *row_of(const GpInst *mma) {
    const GpShape *a = &mma->operands[0]->type->shape, *to = &mma->results[0]->type->shape;
    if (to->rank != 2 || to->dim[0] % GP_FRAGMENT_ROWS || to->dim[1] % PAIR)
        return NULL;
    return gp_mma_sync_find(mma->operands[0]->type->elem, mma->operands[1]->type->elem, to->dim[0], to->dim[1], a->dim[1]);
}

/* Lines along k are read with transposition, of 16-bit elements, or word by word. */
static bool is_operand_fit(const GpFeedView *v, bool is_b, uint32_t bytes) {
    bool is_along_k = v->is_swapped != is_b;
    return !is_along_k || bytes == 2 || bytes == 4;
}

/* Where an operand lies; one that is in registers will lie in *staged. */
static bool find_view(const GpFeeds *feeds, const GpValue *v, GpFeedView *view, GpFeed *staged) {
    if (gp_feed_view(feeds, v, view))
        return true;
    *staged = (GpFeed){.panels = 0};
    *view = (GpFeedView){staged, false};
    return v->type->shape.rank == 2 && gp_feed_set_panels(staged, v->type);
}

/* Sixteen bits wide, the sums of one product are in the order of another's first operand. */
static bool takes_words(const GpFeeds *feeds, const GpValue *v) {
    GpFeedView view;
    return gp_elem_info[v->type->elem].bytes == 2 && !gp_feed_view(feeds, v, &view);
}

bool gp_mma_sync_fits(const GpAsync *a, const GpInst *mma, bool *has_words) {
    const GpMmaSync *row = row_of(mma);
    GpElem elem = mma->operands[0]->type->elem, sum = mma->results[0]->type->elem, wanted = sum;
    uint32_t bytes = gp_elem_info[elem].bytes;
    GpFeedView view;
    GpFeed staged;
    if (!row || row->rows != GP_FRAGMENT_ROWS || row->staged != elem ||
        !gp_mma_find(elem, mma->operands[1]->type->elem, sum, &wanted) || wanted != sum ||
        !find_view(&a->feeds, mma->operands[1], &view, &staged) || !is_operand_fit(&view, true, bytes))
        return false;
    *has_words = takes_words(&a->feeds, mma->operands[0]);
    return *has_words || (find_view(&a->feeds, mma->operands[0], &view, &staged) && is_operand_fit(&view, false, bytes));
}

/* ---- Operands ---------------------------------------------------------------------------- */

/* An operand and where it lies. */
typedef struct Source {
    const GpValue *value;
    GpFeedView view;
    GpFeed staged;
    LLVMValueRef base; /* address of the tile */
} Source;

/* Of element (line, column), the byte offset in the tile. */
static LLVMValueRef place_element(GpEmit *e, const GpFeed *f, uint32_t bytes, LLVMValueRef const *c) {
    LLVMValueRef line = LLVMBuildTrunc(e->b, c[0], i32(e), "");
    LLVMValueRef byte = gp_i32_scale(e, LLVMBuildTrunc(e->b, c[1], i32(e), ""), bytes);
    LLVMValueRef panel = LLVMBuildUDiv(e->b, byte, gp_emit_i32(e, f->panel_bytes), "");
    LLVMValueRef swizzle = gp_i32_scale(e, gp_i32_shift(e, gp_i32_low(e, line, GP_SWIZZLE_LINES), gp_panel_shift(f->panel_bytes)), GP_FEED_CHUNK_BYTES);
    byte = LLVMBuildXor(e->b, gp_i32_low(e, byte, f->panel_bytes), swizzle, "");
    byte = gp_i32_add(e, byte, gp_i32_scale(e, line, f->panel_bytes));
    return gp_i32_add(e, byte, gp_i32_scale(e, panel, (int64_t)f->lines * f->panel_bytes));
}

/* Every owner writes its elements. */
static void put_operand(GpEmit *e, const Source *s) {
    const GpShapeLayout *layout = gp_gpu_layout_of(e, s->value);
    GpElem elem = s->value->type->elem;
    uint32_t bytes = gp_elem_info[elem].bytes, run = GP_MIN(gp_layout_run(layout->layout), GP_FEED_CHUNK_BYTES / bytes);
    LLVMBasicBlockRef done = gp_emit_block(e, "put"), owner = gp_emit_block(e, "owner");
    LLVMBuildCondBr(e->b, layout->is_owner ? layout->is_owner : gp_emit_bool(e, true), owner, done);
    gp_emit_at(e, owner);
    for (uint32_t r = 0; r < gp_layout_registers(layout->layout); r += run) {
        LLVMValueRef c[GP_MAX_RANK];
        gp_gpu_coords(e, layout, r, c);
        LLVMValueRef at = gp_emit_gep(e, GpElem_U8, s->base, place_element(e, s->view.feed, bytes, c));
        gp_gpu_put_run(e, elem, at, &e->bound[s->value->id], r, run);
    }
    LLVMBuildBr(e->b, done);
    gp_emit_at(e, done);
}

static uint64_t staged_bytes(const Source *s) { return s->view.feed == &s->staged ? gp_feed_bytes(&s->staged) : 0; }

/* Tiles that came as feeds are there; the others get a place in the exchange buffer. */
static void place_sources(GpEmit *e, Source *s, uint32_t count) {
    uint64_t bytes = 0, at = 0;
    for (uint32_t i = 0; i < count; i++)
        bytes += staged_bytes(&s[i]);
    LLVMValueRef room = bytes ? gp_gpu_shared(e, bytes, 0, s->value->type->elem) : NULL;
    if (room)
        gp_gpu_barrier(e);
    for (uint32_t i = 0; i < count; i++) {
        bool is_staged = staged_bytes(&s[i]) > 0;
        s[i].base = is_staged ? gp_emit_gep(e, GpElem_U8, room, gp_emit_i32(e, (int64_t)at))
                              : gp_async_at(e, gp_async_tile(e, s[i].view.feed));
        at += staged_bytes(&s[i]);
        if (is_staged)
            put_operand(e, &s[i]);
    }
    if (room)
        gp_gpu_barrier(e);
}

static GpFragment open_operand(GpEmit *e, const Source *s, bool is_b, LLVMValueRef warp) {
    return gp_fragment_open(e, &s->view, s->value->type->elem, is_b, s->base, warp);
}

/* ---- One product ------------------------------------------------------------------------- */

typedef struct Product {
    const GpInst *inst;
    const GpMmaSync *row;
    const GpShapeLayout *layout;
    int32_t *rows, *columns; /* of this warp's blocks, from the warp's first */
    uint32_t down, across;
    uint32_t *places; /* of a sum: by (row / 8, column / 8, column % 2); its register */
    GpFragment a, b;
    bool has_words;
    GpBound words;          /* the first operand in registers, by pairs */
    uint32_t *word_places;
    GpBound sums;
} Product;

static uint32_t place_of(const GpShape *shape, int32_t row, int32_t column) {
    return ((uint32_t)row / 8 * ((uint32_t)shape->dim[1] / 8) + (uint32_t)column / 8) * 2 + (uint32_t)column % 2;
}

static uint32_t *find_places(GpEmit *e, const GpShapeLayout *s) {
    uint32_t *at = GP_NEW_ARRAY(e->arena, uint32_t, (size_t)(s->shape.dim[0] / 8 * s->shape.dim[1] / 4));
    for (uint32_t r = 0; r < gp_layout_registers(s->layout); r++) {
        int32_t c[GP_MAX_RANK];
        gp_layout_at(s->layout, r, 0, 0, c);
        at[place_of(&s->shape, c[0], c[1])] = r;
    }
    return at;
}

static void find_blocks(GpEmit *e, Product *p) {
    const GpLayout *l = p->layout->layout;
    p->rows = GP_NEW_ARRAY(e->arena, int32_t, (size_t)p->layout->shape.dim[0]);
    p->columns = GP_NEW_ARRAY(e->arena, int32_t, (size_t)p->layout->shape.dim[1]);
    for (uint32_t r = 0; r < gp_layout_registers(l); r++) {
        int32_t c[GP_MAX_RANK];
        gp_layout_at(l, r, 0, 0, c);
        if (c[1] == 0 && c[0] % GP_FRAGMENT_ROWS == 0)
            p->rows[p->down++] = c[0];
        if (c[0] == 0 && c[1] % PAIR == 0)
            p->columns[p->across++] = c[1];
    }
}

/* This warp's first row or column: i32. */
static LLVMValueRef warp_first(GpEmit *e, const GpLayout *l, int axis) {
    LLVMValueRef warp = gp_i32_shift(e, gp_gpu_thread(e), GP_GPU_LANE_BITS), sum = gp_emit_i32(e, 0);
    for (int i = 0; i < l->bits[GpLayoutDim_Warp]; i++)
        sum = gp_i32_add(e, sum, gp_i32_scale(e, gp_i32_low(e, gp_i32_shift(e, warp, i), 2), l->bases[GpLayoutDim_Warp][i][axis]));
    return sum;
}

static void open_words(GpEmit *e, Product *p) {
    const GpValue *v = p->inst->operands[0];
    const GpShapeLayout *s = gp_gpu_layout(e, gp_gpu_sums_layout(e, &v->type->shape));
    p->words = gp_gpu_convert(e, v, s);
    p->word_places = find_places(e, s);
}

/* What has to change its layout does so first: operands may lie where it is exchanged. */
static Product open_product(GpEmit *e, const GpInst *inst) {
    const GpFeeds *feeds = &e->async->feeds;
    Product p = {.inst = inst, .row = row_of(inst), .has_words = takes_words(feeds, inst->operands[0])};
    Source *b_and_a = GP_NEW_ARRAY(e->arena, Source, 2);
    uint32_t sources = p.has_words ? 1 : 2;
    p.layout = gp_gpu_layout(e, gp_gpu_sums_layout(e, &inst->results[0]->type->shape));
    p.places = find_places(e, p.layout);
    find_blocks(e, &p);
    if (p.has_words)
        open_words(e, &p);
    GpBound from = gp_gpu_convert(e, inst->operands[2], p.layout);
    p.sums = gp_emit_bound_make(e, gp_layout_registers(p.layout->layout));
    for (uint32_t r = 0; r < p.sums.count; r++)
        p.sums.at[r] = gp_gpu_at(&from, r);
    for (uint32_t i = 0; i < sources; i++) {
        b_and_a[i].value = inst->operands[1 - i];
        (void)find_view(feeds, b_and_a[i].value, &b_and_a[i].view, &b_and_a[i].staged);
    }
    place_sources(e, b_and_a, sources);
    p.b = open_operand(e, &b_and_a[0], true, warp_first(e, p.layout->layout, 1));
    if (!p.has_words)
        p.a = open_operand(e, &b_and_a[1], false, warp_first(e, p.layout->layout, 0));
    return p;
}

/* Pairs of neighbours along k: rows 0 and 8 of the first eight, then of the next. */
static void take_words(GpEmit *e, const Product *p, int32_t row, uint32_t step, LLVMValueRef *words) {
    const GpShape *shape = &p->inst->operands[0]->type->shape;
    int32_t k = (int32_t)(step * p->row->k);
    for (int32_t i = 0; i < GP_FRAGMENT_WORDS; i++) {
        uint32_t at = place_of(shape, row + i % 2 * 8, k + i / 2 * 8);
        words[i] = gp_emit_pair(e, gp_gpu_at(&p->words, p->word_places[at]), gp_gpu_at(&p->words, p->word_places[at + 1]));
    }
}

static void multiply_block(GpEmit *e, Product *p, LLVMValueRef const *a, LLVMValueRef const *b, int32_t row, int32_t column) {
    LLVMValueRef args[GP_FRAGMENT_WORDS + 2 + SUMS];
    LLVMTypeRef pair = LLVMVectorType(LLVMHalfTypeInContext(e->ctx), 2);
    uint32_t count = 0, at[SUMS];
    for (uint32_t i = 0; i < GP_FRAGMENT_WORDS + 2; i++) {
        LLVMValueRef word = i < GP_FRAGMENT_WORDS ? a[i] : b[i - GP_FRAGMENT_WORDS];
        args[count++] = p->row->operand == GP_MMA_V2F16 ? LLVMBuildBitCast(e->b, word, pair, "") : word;
    }
    for (int32_t i = 0; i < SUMS; i++) {
        at[i] = p->places[place_of(&p->layout->shape, row + i / 2 * 8, column + i % 2)];
        args[count++] = p->sums.at[at[i]];
    }
    LLVMValueRef all = gp_emit_intrinsic(e, p->row->intrinsic, NULL, args, count);
    for (unsigned i = 0; i < SUMS; i++)
        p->sums.at[at[i]] = LLVMBuildExtractValue(e->b, all, i, "");
}

static void multiply_step(GpEmit *e, Product *p, uint32_t step) {
    LLVMValueRef *a = GP_NEW_ARRAY(e->arena, LLVMValueRef, (size_t)p->down * GP_FRAGMENT_WORDS), b[GP_FRAGMENT_WORDS];
    for (uint32_t i = 0; i < p->down; i++) {
        if (p->has_words)
            take_words(e, p, p->rows[i], step, a + (size_t)i * GP_FRAGMENT_WORDS);
        else
            gp_fragment_read(e, &p->a, (uint32_t)p->rows[i], step, a + (size_t)i * GP_FRAGMENT_WORDS);
    }
    for (uint32_t j = 0; j < p->across; j++) {
        gp_fragment_read(e, &p->b, (uint32_t)p->columns[j], step, b);
        for (uint32_t i = 0; i < p->down; i++)
            for (int32_t half = 0; half < 2; half++)
                multiply_block(e, p, a + (size_t)i * GP_FRAGMENT_WORDS, b + (size_t)half * 2, p->rows[i], p->columns[j] + half * COLUMNS);
    }
}

void gp_mma_sync(GpEmit *e, const GpInst *inst) {
    Product p = open_product(e, inst);
    uint32_t steps = (uint32_t)(inst->operands[0]->type->shape.dim[1] / p.row->k);
    for (uint32_t step = 0; step < steps; step++) {
        multiply_step(e, &p, step);
        if (step == 0)
            gp_async_step(e, inst);
    }
    gp_gpu_bind(e, inst->results[0], p.sums, p.layout);
}
