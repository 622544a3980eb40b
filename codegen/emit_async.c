/* Copies by cp.async into the stages of a loop's ring.
**
** Consecutive threads take consecutive 16-byte chunks of a line, as many whole lines at a time as the
** block has threads for. Where the tensor's base and strides are no multiples of 16 bytes, a chunk is
** copied in pieces of 8 or 4 bytes, or element by element, as the launch has it. What lies beyond the
** tensor, or beyond a load's part of the tile, is filled with zeros. */
#include "codegen/async.h"
#include "codegen/emit_tile_gpu.h"
#include "codegen/fragment.h"
#include "codegen/inline_ptx.h"

static LLVMTypeRef i32(GpEmit *e) { return LLVMInt32TypeInContext(e->ctx); }
static LLVMTypeRef i64(GpEmit *e) { return LLVMInt64TypeInContext(e->ctx); }
static LLVMValueRef add(GpEmit *e, LLVMValueRef x, LLVMValueRef y) { return LLVMBuildAdd(e->b, x, y, ""); }
static LLVMValueRef add_const(GpEmit *e, LLVMValueRef x, int64_t y) {
    return add(e, x, LLVMConstInt(LLVMTypeOf(x), (uint64_t)y, true));
}
static LLVMValueRef both(GpEmit *e, LLVMValueRef x, LLVMValueRef y) { return LLVMBuildAnd(e->b, x, y, ""); }
static LLVMValueRef is_below(GpEmit *e, LLVMValueRef x, LLVMValueRef limit) {
    return LLVMBuildICmp(e->b, LLVMIntULT, x, limit, "");
}

LLVMValueRef gp_async_at(GpEmit *e, LLVMValueRef offset) {
    return gp_emit_gep(e, GpElem_U8, e->async->shared, offset);
}

/* The same value, of which nothing is known: what is computed from it stays here. Outside of
** a loop it would take registers from it. */
static LLVMValueRef keep_here(GpEmit *e, LLVMValueRef v) {
    GpInlinePtx ptx = gp_inline_begin(e, 1);
    LLVMValueRef out;
    gp_inline_outputs(&ptx, &(GpBound){&v, 1});
    gp_inline_puts(&ptx, "mov.b32 $0, $%u;", gp_inline_input(&ptx, v));
    gp_inline_call(&ptx, &out);
    return out;
}

/* ---- One tile ---------------------------------------------------------------------------- */

/* A tile being copied. Coordinates count from the tile's first element, or from the tensor's. */
typedef struct Copy {
    const GpFeed *feed;
    const GpInst *load;
    const GpTensorArg *tensor;
    GpElem elem;
    uint32_t bytes;           /* of an element */
    int line_axis, last_axis;
    uint32_t chunks, lines;   /* of a line; lines that the block copies at a time */
    LLVMValueRef line, chunk; /* i64: the first of this thread's */
    LLVMValueRef column;      /* i32: of the chunk's first element */
    LLVMValueRef is_active;   /* NULL: every thread has a chunk of every `lines` lines */
    LLVMValueRef lines_in, columns_in; /* i32: how many of the tile's lie in the tensor */
    LLVMValueRef first;       /* global address of the thread's first chunk */
    LLVMValueRef to;          /* i32: offset of the tile in shared memory */
    LLVMValueRef own;         /* i32: of the thread's first chunk in the tile */
} Copy;

static LLVMValueRef start(GpEmit *e, const Copy *c, int axis) { return gp_tile_start(e, c->load, axis); }

static LLVMValueRef dim(GpEmit *e, const Copy *c, int axis) {
    return LLVMBuildSExt(e->b, c->tensor->dim[axis], i64(e), "");
}

/* How much of what is loaded lies in the tensor along an axis: i32. Uniform, and 32 bits wide, so that few
** registers hold what a thread has to know of its chunks. */
static LLVMValueRef extent_in(GpEmit *e, const Copy *c, int axis) {
    LLVMValueRef extent = gp_emit_i64(e, gp_tile_extents(c->load)->dim[axis]), zero = gp_emit_i64(e, 0);
    LLVMValueRef left = LLVMBuildSub(e->b, dim(e, c, axis), start(e, c, axis), "");
    left = LLVMBuildSelect(e->b, LLVMBuildICmp(e->b, LLVMIntSLT, left, extent, ""), left, extent, "");
    LLVMValueRef ok = LLVMBuildICmp(e->b, LLVMIntSGE, start(e, c, axis), zero, "");
    ok = both(e, ok, LLVMBuildICmp(e->b, LLVMIntSGT, left, zero, ""));
    return LLVMBuildTrunc(e->b, LLVMBuildSelect(e->b, ok, left, zero, ""), i32(e), "");
}

static void find_extents(GpEmit *e, Copy *c) {
    const GpValue *given = gp_tile_mask(c->load);
    LLVMValueRef ok = given ? gp_emit_get(e, given) : gp_emit_bool(e, true);
    for (int a = 0; a < gp_tile_shape(c->load)->rank; a++)
        if (a != c->line_axis && a != c->last_axis)
            ok = both(e, ok, is_below(e, start(e, c, a), dim(e, c, a)));
    c->columns_in = extent_in(e, c, c->last_axis);
    c->lines_in = LLVMBuildSelect(e->b, ok, extent_in(e, c, c->line_axis), gp_emit_i32(e, 0), "");
}

/* What does not change from turn to turn is added first. */
static void find_first(GpEmit *e, Copy *c) {
    int64_t width = GP_FEED_CHUNK_BYTES / c->bytes;
    LLVMValueRef column = LLVMBuildNUWMul(e->b, c->chunk, gp_emit_i64(e, width), "");
    c->column = LLVMBuildTrunc(e->b, column, i32(e), "");
    LLVMValueRef own = add(e, gp_gpu_axis_offset(e, c->tensor, c->line, c->line_axis),
                           gp_gpu_axis_offset(e, c->tensor, column, c->last_axis));
    LLVMValueRef tile = gp_emit_i64(e, 0);
    for (int a = 0; a < gp_tile_shape(c->load)->rank; a++)
        tile = add(e, tile, gp_gpu_axis_offset(e, c->tensor, start(e, c, a), a));
    c->first = gp_emit_gep(e, c->elem, gp_emit_gep(e, c->elem, c->tensor->base, own), tile);
}

/* Where the thread's chunk of a line lies in the tile. */
static LLVMValueRef place_chunk(GpEmit *e, const Copy *c, LLVMValueRef of_line) {
    const GpFeed *f = c->feed;
    uint32_t per_panel = f->panel_bytes / GP_FEED_CHUNK_BYTES, repeats = GP_FEED_LINE_BYTES / f->panel_bytes;
    LLVMValueRef line = LLVMBuildTrunc(e->b, of_line, i32(e), ""), chunk = LLVMBuildTrunc(e->b, c->chunk, i32(e), "");
    LLVMValueRef swizzle = LLVMBuildURem(e->b, LLVMBuildUDiv(e->b, line, gp_emit_i32(e, repeats), ""),
                                         gp_emit_i32(e, per_panel), "");
    LLVMValueRef panel = LLVMBuildUDiv(e->b, chunk, gp_emit_i32(e, per_panel), "");
    chunk = LLVMBuildURem(e->b, chunk, gp_emit_i32(e, per_panel), "");
    chunk = LLVMBuildMul(e->b, LLVMBuildXor(e->b, chunk, swizzle, ""), gp_emit_i32(e, GP_FEED_CHUNK_BYTES), "");
    LLVMValueRef at = add(e, chunk, LLVMBuildMul(e->b, line, gp_emit_i32(e, f->panel_bytes), ""));
    return add(e, at, LLVMBuildMul(e->b, panel, gp_emit_i32(e, (int64_t)f->lines * f->panel_bytes), ""));
}

static Copy copy_of(GpEmit *e, const GpFeed *f) {
    Copy c = {.feed = f, .load = f->load, .tensor = &e->tensors[f->load->operands[0]->id]};
    int axis[2];
    (void)gp_feed_axes(gp_tile_shape(f->load), axis);
    c.line_axis = axis[0];
    c.last_axis = axis[1];
    c.elem = f->load->results[0]->type->elem;
    c.bytes = gp_elem_info[c.elem].bytes;
    c.chunks = f->panels * f->panel_bytes / GP_FEED_CHUNK_BYTES;
    c.lines = GP_MIN(e->async->threads / c.chunks, f->lines);
    LLVMValueRef thread = LLVMBuildZExt(e->b, gp_gpu_thread(e), i64(e), "");
    c.line = LLVMBuildUDiv(e->b, thread, gp_emit_i64(e, c.chunks), "");
    c.chunk = LLVMBuildURem(e->b, thread, gp_emit_i64(e, c.chunks), "");
    if (c.lines * c.chunks < e->async->threads)
        c.is_active = is_below(e, c.line, gp_emit_i64(e, c.lines));
    c.to = gp_async_tile(e, f);
    c.own = place_chunk(e, &c, c.line);
    find_extents(e, &c);
    find_first(e, &c);
    return c;
}

/* The thread's chunk of a line, i64 `from` lines behind its first. */
typedef struct Chunk {
    LLVMValueRef line;   /* i32: of the tile */
    LLVMValueRef global; /* address of its first element */
    LLVMValueRef shared; /* its place */
} Chunk;

/* The swizzle repeats: a whole number of times further on, it is the same. */
static Chunk chunk_at(GpEmit *e, const Copy *c, LLVMValueRef from, LLVMValueRef global) {
    LLVMValueRef line = add(e, c->line, from);
    Chunk k = {.line = LLVMBuildTrunc(e->b, line, i32(e), ""), .global = global};
    if (c->lines % GP_SWIZZLE_LINES) {
        k.shared = gp_async_at(e, add(e, c->to, place_chunk(e, c, line)));
        return k;
    }
    LLVMValueRef behind = LLVMBuildTrunc(e->b, from, i32(e), "");
    behind = LLVMBuildMul(e->b, behind, gp_emit_i32(e, c->feed->panel_bytes), "");
    k.shared = gp_emit_gep(e, GpElem_U8, gp_async_at(e, add(e, c->to, c->own)), behind);
    return k;
}

/* The same chunk of the thread's next line. */
static LLVMValueRef step_global(GpEmit *e, const Copy *c, LLVMValueRef global) {
    LLVMValueRef step = gp_gpu_axis_offset(e, c->tensor, gp_emit_i64(e, c->lines), c->line_axis);
    return gp_emit_gep(e, c->elem, global, step);
}

/* ---- One chunk --------------------------------------------------------------------------- */

static void call_copy(GpEmit *e, uint32_t bytes, bool has_size, LLVMValueRef *args) {
    const char *cache = bytes == GP_FEED_CHUNK_BYTES ? "cg" : "ca";
    const char *name = gp_arena_printf(e->arena, "llvm.nvvm.cp.async.%s.shared.global.%u%s", cache, bytes,
                                       has_size ? ".s" : "");
    gp_emit_intrinsic(e, name, NULL, args, has_size ? 3 : 2);
}

/* Of a piece that begins `first` elements behind the chunk's first, the bytes that lie in the tensor. */
static LLVMValueRef bytes_inside(GpEmit *e, const Copy *c, const Chunk *k, int64_t first, uint32_t piece) {
    LLVMValueRef most = gp_emit_i32(e, piece), zero = gp_emit_i32(e, 0);
    LLVMValueRef left = LLVMBuildSub(e->b, c->columns_in, add_const(e, c->column, first), "");
    left = LLVMBuildMul(e->b, left, gp_emit_i32(e, c->bytes), "");
    left = LLVMBuildSelect(e->b, LLVMBuildICmp(e->b, LLVMIntSLT, left, most, ""), left, most, "");
    left = LLVMBuildSelect(e->b, LLVMBuildICmp(e->b, LLVMIntSGT, left, zero, ""), left, zero, "");
    return LLVMBuildSelect(e->b, is_below(e, k->line, c->lines_in), left, zero, "");
}

/* How a chunk is copied: pieces of this many bytes; 0: element by element. */
typedef struct Way {
    uint32_t piece;
    bool is_inside;
} Way;

static void copy_pieces(GpEmit *e, const Copy *c, const Chunk *k, Way way) {
    for (uint32_t at = 0; at < GP_FEED_CHUNK_BYTES; at += way.piece) {
        LLVMValueRef from = gp_emit_gep(e, c->elem, k->global, gp_emit_i64(e, at / c->bytes));
        LLVMValueRef args[3] = {gp_emit_behind(e, k->shared, at), from};
        if (!way.is_inside) {
            args[2] = bytes_inside(e, c, k, at / c->bytes, way.piece);
            LLVMValueRef some = LLVMBuildICmp(e->b, LLVMIntNE, args[2], gp_emit_i32(e, 0), "");
            args[1] = LLVMBuildSelect(e->b, some, from, c->tensor->base, "");
        }
        call_copy(e, way.piece, !way.is_inside, args);
    }
}

/* What lies beyond is read from zeros, so that all loads can be under way together. */
static void copy_elements(GpEmit *e, const Copy *c, const Chunk *k) {
    LLVMTypeRef memory = LLVMIntTypeInContext(e->ctx, 8 * c->bytes);
    uint32_t count = GP_FEED_CHUNK_BYTES / c->bytes;
    LLVMValueRef all = LLVMGetPoison(LLVMVectorType(memory, count));
    for (uint32_t i = 0; i < count; i++) {
        LLVMValueRef at = gp_gpu_axis_offset(e, c->tensor, gp_emit_i64(e, i), c->last_axis);
        LLVMValueRef some = LLVMBuildICmp(e->b, LLVMIntNE, bytes_inside(e, c, k, i, c->bytes), gp_emit_i32(e, 0), "");
        LLVMValueRef from = LLVMBuildSelect(e->b, some, gp_emit_gep(e, c->elem, k->global, at), e->async->zeros, "");
        LLVMValueRef v = LLVMBuildLoad2(e->b, memory, from, "");
        LLVMSetAlignment(v, c->bytes);
        all = LLVMBuildInsertElement(e->b, all, v, gp_emit_i32(e, i), "");
    }
    all = LLVMBuildBitCast(e->b, all, LLVMVectorType(i32(e), 4), "");
    LLVMSetAlignment(LLVMBuildStore(e->b, all, k->shared), GP_FEED_CHUNK_BYTES);
}

/* Where `ok`, NULL: everywhere. */
static LLVMBasicBlockRef open_guard(GpEmit *e, LLVMValueRef ok) {
    if (!ok)
        return NULL;
    LLVMBasicBlockRef then = gp_emit_block(e, "copy"), join = gp_emit_block(e, "copied");
    LLVMBuildCondBr(e->b, ok, then, join);
    gp_emit_at(e, then);
    return join;
}

static void close_guard(GpEmit *e, LLVMBasicBlockRef join) {
    if (!join)
        return;
    LLVMBuildBr(e->b, join);
    gp_emit_at(e, join);
}

static void copy_chunk(GpEmit *e, const Copy *c, const Chunk *k, bool is_last, Way way) {
    LLVMValueRef ok = c->is_active;
    if (is_last && c->feed->lines % c->lines) {
        LLVMValueRef in = is_below(e, k->line, gp_emit_i32(e, c->feed->lines));
        ok = ok ? both(e, ok, in) : in;
    }
    LLVMBasicBlockRef join = open_guard(e, ok);
    if (way.piece)
        copy_pieces(e, c, k, way);
    else
        copy_elements(e, c, k);
    close_guard(e, join);
}

/* In small pieces it is a loop: there are many. */
static void copy_in_turns(GpEmit *e, const Copy *c, Way way) {
    LLVMBasicBlockRef before = LLVMGetInsertBlock(e->b), head = gp_emit_block(e, "lines");
    LLVMBasicBlockRef end = gp_emit_block(e, "copied");
    LLVMValueRef zero = gp_emit_i64(e, 0);
    LLVMBuildBr(e->b, head);
    gp_emit_at(e, head);
    LLVMValueRef from = LLVMBuildPhi(e->b, i64(e), ""), global = LLVMBuildPhi(e->b, LLVMTypeOf(c->first), "");
    LLVMAddIncoming(from, &zero, &before, 1);
    LLVMAddIncoming(global, (LLVMValueRef[]){c->first}, &before, 1);
    Chunk k = chunk_at(e, c, from, global);
    copy_chunk(e, c, &k, true, way);
    LLVMValueRef next = add_const(e, from, c->lines), next_global = step_global(e, c, global);
    LLVMBasicBlockRef latch = LLVMGetInsertBlock(e->b);
    LLVMAddIncoming(from, &next, &latch, 1);
    LLVMAddIncoming(global, &next_global, &latch, 1);
    LLVMBuildCondBr(e->b, is_below(e, next, gp_emit_i64(e, c->feed->lines)), head, end);
    gp_emit_at(e, end);
}

static void copy_tile_so(GpEmit *e, const Copy *of, Way way) {
    Copy c = *of;
    LLVMValueRef global = c.first;
    if (!way.is_inside)
        c.column = keep_here(e, c.column);
    if (way.piece < GP_FEED_CHUNK_BYTES) {
        copy_in_turns(e, &c, way);
        return;
    }
    for (uint32_t line = 0; line < c.feed->lines; line += c.lines, global = step_global(e, &c, global)) {
        Chunk k = chunk_at(e, &c, gp_emit_i64(e, line), global);
        copy_chunk(e, &c, &k, line + c.lines > c.feed->lines, way);
    }
}

static void copy_in_chunks(GpEmit *e, const Copy *c) {
    if (c->load->part) {
        copy_tile_so(e, c, (Way){GP_FEED_CHUNK_BYTES, false});
        return;
    }
    LLVMBasicBlockRef inside = gp_emit_block(e, "interior"), ragged = gp_emit_block(e, "ragged");
    LLVMBasicBlockRef join = gp_emit_block(e, "copied");
    LLVMBuildCondBr(e->b, gp_tile_is_inside(e, c->load), inside, ragged);
    gp_emit_at(e, inside);
    copy_tile_so(e, c, (Way){GP_FEED_CHUNK_BYTES, true});
    LLVMBuildBr(e->b, join);
    gp_emit_at(e, ragged);
    copy_tile_so(e, c, (Way){GP_FEED_CHUNK_BYTES, false});
    LLVMBuildBr(e->b, join);
    gp_emit_at(e, join);
}

/* What is zero in the low bits of the address of every line's first chunk: i32. */
static LLVMValueRef alignment(GpEmit *e, const Copy *c) {
    LLVMValueRef bits = LLVMBuildPtrToInt(e->b, c->tensor->base, i64(e), "");
    for (int a = 0; a < gp_tile_shape(c->load)->rank; a++) {
        if (a == c->last_axis)
            continue;
        LLVMValueRef stride = LLVMBuildMul(e->b, c->tensor->stride[a], gp_emit_i64(e, c->bytes), "");
        bits = LLVMBuildOr(e->b, bits, stride, "");
    }
    bits = LLVMBuildTrunc(e->b, bits, i32(e), "");
    return keep_here(e, LLVMBuildAnd(e->b, bits, gp_emit_i32(e, GP_FEED_CHUNK_BYTES - 1), ""));
}

/* Pieces as large as the tensor's alignment allows, which only the launch knows. */
static void copy_unaligned(GpEmit *e, const Copy *c) {
    LLVMValueRef bits = alignment(e, c);
    LLVMBasicBlockRef join = gp_emit_block(e, "copied");
    for (uint32_t piece = GP_FEED_CHUNK_BYTES; piece >= GP_MAX(4u, c->bytes); piece /= 2) {
        LLVMBasicBlockRef then = gp_emit_block(e, "pieces"), other = gp_emit_block(e, "other");
        LLVMValueRef low = both(e, bits, gp_emit_i32(e, piece - 1));
        LLVMBuildCondBr(e->b, LLVMBuildICmp(e->b, LLVMIntEQ, low, gp_emit_i32(e, 0), ""), then, other);
        gp_emit_at(e, then);
        if (piece == GP_FEED_CHUNK_BYTES)
            copy_in_chunks(e, c);
        else
            copy_tile_so(e, c, (Way){piece, false});
        LLVMBuildBr(e->b, join);
        gp_emit_at(e, other);
    }
    copy_tile_so(e, c, (Way){0, false});
    LLVMBuildBr(e->b, join);
    gp_emit_at(e, join);
}

static void copy_tile(GpEmit *e, const GpFeed *f) {
    Copy c = copy_of(e, f);
    if (!c.tensor->param->unit_stride)
        copy_tile_so(e, &c, (Way){0, false});
    else if (c.tensor->param->aligned16)
        copy_in_chunks(e, &c);
    else
        copy_unaligned(e, &c);
}

/* ---- Groups ------------------------------------------------------------------------------ */

static void commit(GpEmit *e) { gp_emit_intrinsic(e, "llvm.nvvm.cp.async.commit.group", NULL, NULL, 0); }

static void wait(GpEmit *e, uint32_t groups) {
    LLVMValueRef n = gp_emit_i32(e, groups);
    gp_emit_intrinsic(e, "llvm.nvvm.cp.async.wait.group", NULL, &n, 1);
}

bool gp_async_has(const GpEmit *e, const GpInst *inst) {
    const GpAsyncLoop *l = e->async ? e->async->ahead : NULL;
    return !l || gp_map_has(&l->slice, inst);
}

bool gp_async_reports(const GpEmit *e) { return !e->async || !e->async->ahead; }

static LLVMValueRef read_offset(GpEmit *e, LLVMValueRef counter) {
    return LLVMBuildLoad2(e->b, i32(e), counter, "");
}

/* The stage after this one. */
static void advance(GpEmit *e, const GpAsyncLoop *l, LLVMValueRef counter) {
    int64_t end = (int64_t)(l->offset + e->async->stages * l->stage_bytes);
    LLVMValueRef next = add_const(e, read_offset(e, counter), (int64_t)l->stage_bytes);
    LLVMValueRef is_end = LLVMBuildICmp(e->b, LLVMIntEQ, next, gp_emit_i32(e, end), "");
    next = LLVMBuildSelect(e->b, is_end, gp_emit_i32(e, (int64_t)l->offset), next, "");
    LLVMBuildStore(e->b, next, counter);
}

/* Emits the loop's slice for a later index, where there is such a turn; one group in any case. */
static void copy_ahead(GpEmit *e, GpAsyncLoop *l, LLVMValueRef ok, LLVMValueRef index) {
    const GpRegion *body = l->loop->regions[0];
    uint32_t count = 0, n = 0;
    for (const GpInst *x = body->first; x; x = x->next)
        count += gp_map_has(&l->slice, x) ? x->result_count : 0;
    GpBound *kept = GP_NEW_ARRAY(e->arena, GpBound, count + 1);
    for (const GpInst *x = body->first; x; x = x->next)
        for (uint32_t i = 0; i < x->result_count && gp_map_has(&l->slice, x); i++)
            kept[n++] = e->bound[x->results[i]->id];
    GpBound of_index = e->bound[body->params[0]->id];
    LLVMBasicBlockRef join = open_guard(e, ok);
    gp_emit_set(e, body->params[0], index);
    e->async->ahead = l;
    (void)gp_emit_region(e, body);
    e->async->ahead = NULL;
    close_guard(e, join);
    n = 0;
    for (const GpInst *x = body->first; x; x = x->next)
        for (uint32_t i = 0; i < x->result_count && gp_map_has(&l->slice, x); i++)
            e->bound[x->results[i]->id] = kept[n++];
    e->bound[body->params[0]->id] = of_index;
    commit(e);
    advance(e, l, l->fill);
}

static GpAsyncLoop *find_loop(const GpEmit *e, const GpInst *loop) {
    GpAsyncLoop *l = e->async ? gp_async_loop(e, loop->regions[0]) : NULL;
    return l && l->loop == loop ? l : NULL;
}

/* What the loop starts from gets its layout first: the exchange buffer may lie over the stages. */
static void convert_carried(GpEmit *e, const GpInst *loop) {
    const GpRegion *body = loop->regions[0];
    for (uint32_t i = 1; i < body->param_count; i++)
        if (gp_ir_is_tile(body->params[i]))
            (void)gp_emit_operand(e, loop->operands[2 + i], body->params[i]);
}

/* The stages of the first turns. What was in them before was read before the barrier. */
void gp_async_fill(GpEmit *e, const GpInst *loop, LLVMValueRef turns) {
    GpAsyncLoop *l = find_loop(e, loop);
    if (!l)
        return;
    LLVMTypeRef type = LLVMTypeOf(turns);
    LLVMValueRef first = gp_emit_i32(e, (int64_t)l->offset), zero = LLVMConstNull(type);
    l->fill = gp_emit_alloca(e, i32(e), 1, 4);
    l->read = gp_emit_alloca(e, i32(e), 1, 4);
    LLVMBuildStore(e->b, first, l->fill);
    LLVMBuildStore(e->b, first, l->read);
    convert_carried(e, loop);
    gp_gpu_barrier(e);
    LLVMBasicBlockRef before = LLVMGetInsertBlock(e->b), head = gp_emit_block(e, "fill");
    LLVMBasicBlockRef end = gp_emit_block(e, "filled");
    LLVMBuildBr(e->b, head);
    gp_emit_at(e, head);
    LLVMValueRef k = LLVMBuildPhi(e->b, type, "");
    LLVMAddIncoming(k, &zero, &before, 1);
    LLVMValueRef index = LLVMBuildMul(e->b, k, gp_emit_get(e, loop->operands[2]), "");
    index = add(e, gp_emit_get(e, loop->operands[0]), index);
    copy_ahead(e, l, is_below(e, k, turns), index);
    LLVMValueRef next = add_const(e, k, 1), most = LLVMConstInt(type, e->async->stages - 1, false);
    LLVMBasicBlockRef latch = LLVMGetInsertBlock(e->b);
    LLVMAddIncoming(k, &next, &latch, 1);
    LLVMBuildCondBr(e->b, is_below(e, next, most), head, end);
    gp_emit_at(e, end);
}

/* The copies that this turn starts. */
static void copy_turn(GpEmit *e, GpAsyncLoop *l) {
    LLVMValueRef ahead = LLVMConstInt(LLVMTypeOf(l->k), e->async->stages - 1, false);
    LLVMValueRef index = LLVMBuildMul(e->b, ahead, gp_emit_get(e, l->loop->operands[2]), "");
    LLVMValueRef left = LLVMBuildSub(e->b, l->turns, l->k, "");
    copy_ahead(e, l, is_below(e, ahead, left), add(e, l->i, index));
}

void gp_async_turn(GpEmit *e, const GpInst *loop, LLVMValueRef k, LLVMValueRef i, LLVMValueRef turns) {
    GpAsyncLoop *l = find_loop(e, loop);
    if (!l)
        return;
    l->k = k;
    l->i = i;
    l->turns = turns;
    wait(e, e->async->stages - 2);
    gp_gpu_barrier(e);
    if (!l->product)
        copy_turn(e, l);
    l->now = read_offset(e, l->read);
    advance(e, l, l->read);
}

void gp_async_step(GpEmit *e, const GpInst *product) {
    GpAsyncLoop *l = gp_async_loop(e, product->parent);
    if (l && l->product == product)
        copy_turn(e, l);
}

void gp_async_leave(GpEmit *e) {
    if (e->async && gp_async_loop(e, e->region))
        wait(e, 0);
}

LLVMValueRef gp_async_tile(GpEmit *e, const GpFeed *f) {
    const GpAsyncLoop *l = f->loop;
    LLVMValueRef stage = !l ? gp_emit_i32(e, 0) : e->async->ahead ? read_offset(e, l->fill) : l->now;
    return add_const(e, stage, (int64_t)f->offset);
}

/* A tile that no loop brings is there for whoever comes behind the load. */
bool gp_async_load(GpEmit *e, const GpInst *inst) {
    const GpFeed *f = e->async ? gp_map_get(&e->async->feeds.of, inst) : NULL;
    if (!f)
        return false;
    if (e->async->ahead) {
        copy_tile(e, f);
    } else if (!f->loop) {
        gp_gpu_barrier(e);
        copy_tile(e, f);
        commit(e);
        wait(e, 0);
        gp_gpu_barrier(e);
    }
    return true;
}

/* ---- The function ------------------------------------------------------------------------ */

void gp_async_open(GpEmit *e) {
    if (!e->async)
        return;
    e->async->shared = gp_gpu_dynamic_shared(e);
    LLVMTypeRef bytes = LLVMArrayType2(i32(e), GP_FEED_CHUNK_BYTES / GP_GPU_WORD_BYTES);
    LLVMValueRef zeros = LLVMAddGlobalInAddressSpace(e->module, bytes, "gp_zeros", 1);
    LLVMSetLinkage(zeros, LLVMInternalLinkage);
    LLVMSetGlobalConstant(zeros, true);
    LLVMSetAlignment(zeros, GP_FEED_CHUNK_BYTES);
    LLVMSetInitializer(zeros, LLVMConstNull(bytes));
    e->async->zeros = zeros;
}

LLVMValueRef gp_async_exchange(GpEmit *e, GpAsyncRoom room, uint64_t bytes) {
    GpAsync *a = e->async;
    a->room_bytes[room] = bytes;
    LLVMValueRef at = gp_emit_i32(e, (int64_t)a->room_at[room]);
    return LLVMConstInBoundsGEP2(LLVMInt8TypeInContext(e->ctx), a->shared, &at, 1);
}

bool gp_async_wants_more(const GpEmit *e, uint64_t *exchange) {
    const GpAsync *a = e->async;
    uint64_t most = a ? gp_target_shared(e->target) : 0;
    if (!a || gp_async_shared(e) <= most)
        return false;
    bool is_outside = a->room_at[GpAsyncRoom_Outside] + a->room_bytes[GpAsyncRoom_Outside] > most;
    *exchange = a->room_bytes[is_outside ? GpAsyncRoom_Outside : GpAsyncRoom_Inside];
    return true;
}
