/* Products by warpgroup (wgmma), asynchronous: issued where they stand, waited for where their sums
** are first read.
**
** The instruction is inline PTX: LLVM has no intrinsic for it. So is the wait, which ties every sum
** that it completes: otherwise LLVM would move readers above it. Products complete in order, so
** the wait for one is the wait for all before it. Rows of the result go to warpgroups in turns of
** 64; a thread's sums are as PTX's figure for m64nNk16 has them, and for operands from registers
** likewise. */
#include "codegen/emit_i32.h"
#include "codegen/emit_tile_gpu.h"
#include "codegen/fragment.h"
#include "codegen/inline_ptx.h"
#include "codegen/pipe.h"

#include <math.h>

enum { MOST_PENDING = 8, ALL_STEPS = 1 << 20 };

struct GpPending {
    const GpInst *inst;
    GpBound sums;   /* in the order of the instruction; of a product in parts those of the last one */
    GpBound addend; /* what they are added to when they are there; count 0: nothing */
    GpBound added;  /* of the parts before */
    GpBound words; /* the operand from registers, until the product has read it */
};

static const GpWgmmaRow rows[] = {
#define GP_WGMMA(elem, type, k, has_transpose) {GpElem_##elem, type, k, has_transpose},
#include "codegen/wgmma.def"
};

static const GpWgmmaRow *find_row(GpElem elem) {
    for (size_t i = 0; i < GP_COUNT(rows); i++)
        if (rows[i].elem == elem)
            return &rows[i];
    return NULL;
}

static bool is_byte(const GpWgmmaRow *row) { return gp_elem_info[row->elem].bytes == 1; }

bool gp_wgmma_find(const GpInst *mma, const GpWgmmaRow **a, const GpWgmmaRow **b) {
    const GpShape *to = &mma->results[0]->type->shape;
    *a = find_row(mma->operands[0]->type->elem);
    *b = find_row(mma->operands[1]->type->elem);
    if (!*a || !*b || mma->results[0]->type->elem != GpElem_F32 || to->rank != 2)
        return false;
    bool is_same = *a == *b || (is_byte(*a) && is_byte(*b));
    return is_same && to->dim[1] % 8 == 0 && to->dim[1] <= 256 &&
           mma->operands[0]->type->shape.dim[1] % (*a)->k == 0;
}

static bool is_zero(const GpValue *v) {
    GpScalar value;
    return gp_ir_const(v, &value) && value.f == 0 && !signbit(value.f);
}

/* Sums of 8-bit products are kept with fewer bits than f32 has: those of one product go to the
** accumulator by an addition (DeepSeek-V3, arXiv 2412.19437, section 3.3.2). */
bool gp_wgmma_promotes(const GpInst *mma) {
    return is_byte(find_row(mma->operands[0]->type->elem)) && !is_zero(mma->operands[2]);
}

/* ---- Operands ---------------------------------------------------------------------------- */

/* A matrix descriptor (PTX ISA, "Matrix descriptor format"): address, strides in units of 16 bytes. */
typedef struct Operand {
    LLVMValueRef descriptor; /* i64; of the first step */
    uint32_t step;           /* bytes from one step of k to the next inside a panel */
    uint32_t steps;          /* in a panel */
    uint64_t panel;          /* bytes from one panel of k to the next */
    bool is_transposed;
} Operand;

/* 1 for a swizzle of 128 bytes, 2 of 64, 3 of 32. */
static uint64_t swizzle_code(const GpFeed *f) { return gp_panel_shift(f->panel_bytes) + 1; }

/* `line` is the first line (or, transposed, column) of the operand's part, a multiple of 8. */
static Operand open_operand(GpEmit *e, const GpFeedView *v, bool is_b, LLVMValueRef line) {
    const GpFeed *f = v->feed;
    Operand o = {.is_transposed = v->is_swapped != is_b};
    uint64_t panel = (uint64_t)f->lines * f->panel_bytes, leading = 16;
    LLVMValueRef at = gp_pipe_tile(e, f);
    uint64_t line_bytes = f->panel_bytes;
    if (o.is_transposed) {
        line_bytes = panel / (f->panel_bytes / gp_elem_info[f->load->results[0]->type->elem].bytes);
        leading = panel;
        o.step = 16 * f->panel_bytes;
        o.steps = ALL_STEPS;
    } else {
        o.step = GP_FRAGMENT_STEP_BYTES;
        o.steps = f->panel_bytes / GP_FRAGMENT_STEP_BYTES;
        o.panel = panel;
    }
    at = gp_i32_add(e, at, gp_i32_scale(e, line, (int64_t)line_bytes));
    LLVMValueRef base = LLVMBuildPtrToInt(e->b, e->pipe->shared, LLVMInt32TypeInContext(e->ctx), "");
    at = gp_i32_shift(e, gp_i32_add(e, at, base), 4);
    at = LLVMBuildAnd(e->b, at, gp_emit_i32(e, 0x3fff), "");
    uint64_t fixed = swizzle_code(f) << 62 | (uint64_t)(GP_SWIZZLE_LINES * f->panel_bytes / 16) << 32 |
                     (leading / 16) << 16;
    at = LLVMBuildZExt(e->b, at, LLVMInt64TypeInContext(e->ctx), "");
    o.descriptor = LLVMBuildOr(e->b, at, gp_emit_i64(e, (int64_t)fixed), "");
    return o;
}

static uint64_t step_offset(const Operand *o, uint32_t step) {
    return ((uint64_t)(step % o->steps) * o->step + step / o->steps * o->panel) / 16;
}

const GpShapeLayout *gp_wgmma_layout(GpEmit *e, const GpShape *shape) {
    return gp_gpu_layout(e, gp_gpu_sums_layout(e, shape));
}

uint32_t *gp_wgmma_places(GpEmit *e, const GpShapeLayout *s) {
    uint32_t count = gp_layout_registers(s->layout), rows_each = gp_pipe_rows(e->pipe);
    uint32_t *at = GP_NEW_ARRAY(e->arena, uint32_t, count), columns = (uint32_t)s->shape.dim[1];
    for (uint32_t r = 0; r < count; r++) {
        int32_t c[GP_MAX_RANK];
        gp_layout_at(s->layout, r, 0, 0, c);
        uint32_t block = (uint32_t)c[0] / rows_each, half = (uint32_t)c[0] / 8 % 2;
        size_t eight = block * columns / 8 + (uint32_t)c[1] / 8;
        at[(eight * 2 + half) * 2 + (uint32_t)c[1] % 2] = r;
    }
    return at;
}

static GpBound pack_operand(GpEmit *e, const GpValue *v) {
    const GpShapeLayout *s = gp_wgmma_layout(e, &v->type->shape);
    const uint32_t *at = gp_wgmma_places(e, s);
    GpBound from = gp_gpu_convert(e, v, s), out;
    out = gp_emit_bound_make(e, gp_layout_registers(s->layout) / 2);
    for (uint32_t i = 0; i < out.count; i++)
        out.at[i] = gp_emit_pair(e, gp_gpu_at(&from, at[2UL * i]), gp_gpu_at(&from, at[2UL * i + 1]));
    return out;
}

/* ---- One product ------------------------------------------------------------------------- */

/* A product of a warpgroup: `blocks` of 64 rows, one inline PTX each. */
typedef struct Product {
    const GpInst *inst;
    const GpWgmmaRow *a_row, *b_row;
    GpFeedView a_view, b_view;
    bool has_words, is_zero; /* a comes from registers; the accumulator starts at zero */
    uint32_t blocks, n, steps;
    GpPipePart part;
    Operand a, b;
    GpBound sums, words; /* in the order of the instruction */
} Product;

static Product product_of(GpEmit *e, const GpInst *inst) {
    Product p = {.inst = inst, .is_zero = is_zero(inst->operands[2]) || gp_wgmma_promotes(inst)};
    (void)gp_wgmma_find(inst, &p.a_row, &p.b_row);
    (void)gp_feed_view(&e->pipe->feeds, inst->operands[1], &p.b_view);
    bool is_fed = gp_feed_view(&e->pipe->feeds, inst->operands[0], &p.a_view), is_held = is_fed && p.a_view.feed->group->channel->is_held;
    p.has_words = !is_fed || is_held;
    const GpShape *to = &inst->results[0]->type->shape;
    p.blocks = (uint32_t)to->dim[0] / gp_pipe_rows(e->pipe);
    p.n = (uint32_t)to->dim[1];
    p.steps = (uint32_t)inst->operands[0]->type->shape.dim[1] / p.a_row->k;
    p.part = gp_pipe_part(e->pipe, inst);
    p.b = open_operand(e, &p.b_view, true, gp_emit_i32(e, 0));
    if (p.has_words)
        p.words = is_held ? p.a_view.feed->words : pack_operand(e, inst->operands[0]);
    return p;
}

static void put_registers(GpInlinePtx *ptx, uint32_t first, uint32_t count) {
    for (uint32_t i = 0; i < count; i++)
        gp_inline_puts(ptx, "%s$%u", i ? "," : "{", first + i);
    gp_inline_puts(ptx, "}");
}

static void put_step(GpInlinePtx *ptx, const Product *p, uint32_t step, uint32_t a, uint32_t b) {
    gp_inline_puts(ptx, "add.s64 db, $%u, %llu; ", b,
                   (unsigned long long)step_offset(&p->b, step));
    if (!p->has_words)
        gp_inline_puts(ptx, "add.s64 da, $%u, %llu; ", a,
                       (unsigned long long)step_offset(&p->a, step));
    gp_inline_puts(ptx, "wgmma.mma_async.sync.aligned.m64n%uk%u.f32.%s.%s ", p->part.columns,
                   p->a_row->k, p->a_row->type, p->b_row->type);
    put_registers(ptx, 0, p->part.columns / 2);
    if (p->has_words) {
        gp_inline_puts(ptx, ", ");
        put_registers(ptx, a + GP_FRAGMENT_WORDS * step, GP_FRAGMENT_WORDS);
    } else {
        gp_inline_puts(ptx, ", da");
    }
    gp_inline_puts(ptx, ", db, %d, 1, 1", p->is_zero && step == 0 ? 0 : 1);
    if (p->a_row->has_transpose && !p->has_words)
        gp_inline_puts(ptx, ", %d", p->a.is_transposed);
    if (p->b_row->has_transpose)
        gp_inline_puts(ptx, ", %d", p->b.is_transposed);
    gp_inline_puts(ptx, "; ");
}

static GpBound range_of(const GpBound *all, uint32_t first, uint32_t count) {
    return (GpBound){all->at + first, count};
}

/* One inline PTX: columns from `column` of a block of rows. */
static void issue_block(GpEmit *e, Product *p, uint32_t block, uint32_t column, bool is_last) {
    uint32_t words_each = p->words.count / p->blocks;
    GpBound sums = range_of(&p->sums, (block * p->n + column) / 2, p->part.columns / 2);
    GpBound words = range_of(&p->words, block * words_each, words_each);
    GpInlinePtx ptx = gp_inline_begin(e, sums.count + words.count + 2);
    uint32_t a = 0;
    gp_inline_outputs(&ptx, &sums);
    if (!p->is_zero)
        gp_inline_tied(&ptx, &sums, 0);
    if (p->has_words) {
        for (uint32_t i = 0; i < words.count; i++)
            a = gp_inline_input(&ptx, words.at[i]) - i;
    } else {
        LLVMValueRef line = gp_i32_scale(e, e->pipe->warpgroup, GP_PIPE_BLOCK_ROWS);
        int64_t first = (int64_t)block * gp_pipe_rows(e->pipe);
        p->a = open_operand(e, &p->a_view, false, gp_i32_add(e, line, gp_emit_i32(e, first)));
        a = gp_inline_input(&ptx, p->a.descriptor);
    }
    uint32_t b = gp_inline_input(&ptx, p->b.descriptor);
    gp_inline_puts(&ptx, "{ .reg .b64 da, db; wgmma.fence.sync.aligned; ");
    for (uint32_t step = 0; step < p->steps; step++)
        put_step(&ptx, p, step, a, b);
    if (is_last)
        gp_inline_puts(&ptx, "wgmma.commit_group.sync.aligned; ");
    gp_inline_puts(&ptx, "}");
    gp_inline_call(&ptx, sums.at);
}

static void issue_part(GpEmit *e, Product *p, uint32_t block, uint32_t column) {
    if (column)
        p->b = open_operand(e, &p->b_view, true, gp_emit_i32(e, column));
    for (uint32_t i = 0; i < p->part.blocks; i++)
        issue_block(e, p, block + i, column, i + 1 == p->part.blocks);
}

/* ---- Waiting ----------------------------------------------------------------------------- */

/* A move that LLVM does not look into. */
static LLVMValueRef move(GpEmit *e, LLVMValueRef v) {
    GpInlinePtx ptx = gp_inline_begin(e, 1);
    gp_inline_outputs(&ptx, &(GpBound){&v, 1});
    uint32_t from = gp_inline_input(&ptx, v);
    gp_inline_puts(&ptx, "mov.b32 $0, $%u;", from);
    gp_inline_call(&ptx, &v);
    return v;
}

static void bind_sums(GpEmit *e, const GpPending *done, LLVMValueRef *at) {
    if (!done->sums.count)
        return;
    const GpValue *v = done->inst->results[0];
    const GpShapeLayout *layout = gp_wgmma_layout(e, &v->type->shape);
    const uint32_t *places = gp_wgmma_places(e, layout);
    uint32_t before = done->added.count;
    GpBound out = gp_emit_bound_make(e, before + done->sums.count);
    for (uint32_t i = 0; i < before; i++)
        out.at[places[i]] = done->added.at[i];
    bool is_moved = !done->addend.count && gp_pipe_moves_sums(e, done->inst);
    for (uint32_t i = 0; i < done->sums.count; i++) {
        LLVMValueRef sum = is_moved ? move(e, at[i]) : at[i];
        out.at[places[before + i]] = done->addend.count ? LLVMBuildFAdd(e->b, done->addend.at[i], sum, "") : sum;
    }
    gp_gpu_bind(e, v, out, layout);
}

static void release_read(GpEmit *e, const GpInst *product) {
    for (uint32_t i = 0; i < e->pipe->group_count; i++) {
        const GpGroup *g = &e->pipe->groups[i];
        if (g->channel->is_ring && !g->is_read && g->last == product)
            gp_pipe_release(e, g->channel);
    }
}

/* Waits for the first `count` pending products. */
static void settle(GpEmit *e, uint32_t count) {
    GpPipe *p = e->pipe;
    if (!count)
        return;
    uint32_t values = 0, first = 0;
    for (uint32_t i = 0; i < count; i++)
        values += p->pending[i].sums.count + p->pending[i].words.count;
    GpInlinePtx ptx = gp_inline_begin(e, values);
    for (uint32_t i = 0; i < count; i++) {
        gp_inline_outputs(&ptx, &p->pending[i].sums);
        gp_inline_outputs(&ptx, &p->pending[i].words);
    }
    for (uint32_t i = 0; i < count; i++) {
        gp_inline_tied(&ptx, &p->pending[i].sums, first);
        first += p->pending[i].sums.count;
        gp_inline_tied(&ptx, &p->pending[i].words, first);
        first += p->pending[i].words.count;
    }
    gp_inline_puts(&ptx, "wgmma.wait_group.sync.aligned %u;", p->pending_count - count);
    LLVMValueRef *outs = GP_NEW_ARRAY(e->arena, LLVMValueRef, values + 1);
    gp_inline_call(&ptx, outs);
    for (uint32_t i = 0; i < count; i++) {
        bind_sums(e, &p->pending[i], outs);
        outs += p->pending[i].sums.count + p->pending[i].words.count;
        release_read(e, p->pending[i].inst);
    }
    p->pending_count -= count;
    memmove(p->pending, p->pending + count, p->pending_count * sizeof *p->pending);
}

/* ---- Issuing ----------------------------------------------------------------------------- */

/* A product that adds to the sums of one still under way goes on in the same registers, without a
** wait, when nobody else reads those. */
static bool continues(const GpEmit *e, const GpInst *inst) {
    const GpPipe *p = e->pipe;
    const GpValue *acc = inst->operands[2];
    return !gp_wgmma_promotes(inst) && p->pending_count && acc->inst == p->pending[p->pending_count - 1].inst &&
           p->uses[acc->id] == 1;
}

static GpBound start_sums(GpEmit *e, const Product *p, const uint32_t *places) {
    const GpShapeLayout *s = gp_wgmma_layout(e, &p->inst->results[0]->type->shape);
    GpBound from = gp_gpu_convert(e, p->inst->operands[2], s);
    GpBound sums = gp_emit_bound_make(e, p->blocks * p->n / 2);
    for (uint32_t i = 0; i < sums.count; i++)
        sums.at[i] = gp_gpu_at(&from, places[i]);
    return sums;
}

/* Issues the product, and adds the sums of its parts but the last to their accumulators. How many sums
** those are. */
static uint32_t issue_parts(GpEmit *e, Product *p, const GpBound *addend) {
    uint32_t each = p->part.blocks * p->part.columns / 2, first = 0;
    for (;; first += each) {
        issue_part(e, p, first * 2 / p->n, first * 2 % p->n);
        if (first + each == p->sums.count)
            return first;
        gp_assert(addend->at); /* only sums that are added are in parts */
        GpBound part = range_of(&p->sums, first, each);
        GpInlinePtx ptx = gp_inline_begin(e, each);
        gp_inline_outputs(&ptx, &part);
        gp_inline_tied(&ptx, &part, 0);
        gp_inline_puts(&ptx, "wgmma.wait_group.sync.aligned 0;");
        gp_inline_call(&ptx, part.at);
        for (uint32_t i = 0; i < each; i++)
            part.at[i] = LLVMBuildFAdd(e->b, addend->at[first + i], part.at[i], "");
    }
}

void gp_wgmma(GpEmit *e, const GpInst *inst) {
    GpPipe *pipe = e->pipe;
    if (!pipe->pending)
        pipe->pending = GP_NEW_ARRAY(e->arena, GpPending, MOST_PENDING);
    if (pipe->pending_count == MOST_PENDING)
        settle(e, 1);
    if (gp_pipe_part(pipe, inst).is_alone)
        settle(e, pipe->pending_count);
    bool goes_on = continues(e, inst);
    Product p = product_of(e, inst);
    const GpShapeLayout *layout = gp_wgmma_layout(e, &inst->results[0]->type->shape);
    const uint32_t *places = gp_wgmma_places(e, layout);
    p.sums = start_sums(e, &p, places);
    GpBound addend = {NULL, 0};
    if (gp_wgmma_promotes(inst))
        addend = start_sums(e, &p, places);
    if (gp_map_has(&pipe->turn_opens, inst))
        gp_pipe_take_turn(e);
    uint32_t added = issue_parts(e, &p, &addend), left = p.sums.count - added;
    if (gp_map_has(&pipe->turn_closes, inst))
        gp_pipe_give_turn(e);
    if (goes_on)
        pipe->pending[pipe->pending_count - 1].sums.count = 0;
    bool is_made = p.has_words && !p.a_view.feed;
    pipe->pending[pipe->pending_count++] = (GpPending){
        .inst = inst,
        .sums = range_of(&p.sums, added, left),
        .addend = addend.count ? range_of(&addend, added, left) : addend,
        .added = range_of(&p.sums, 0, added),
        .words = is_made ? p.words : (GpBound){NULL, 0},
    };
    GpBound out = gp_emit_bound_make(e, p.sums.count);
    for (uint32_t i = 0; i < out.count; i++)
        out.at[places[i]] = p.sums.at[i];
    gp_gpu_bind(e, inst->results[0], out, layout);
}

/* ---- Before an instruction --------------------------------------------------------------- */

/* Whether products may stay under way from before the instruction to behind it: it branches, and
** comes back from each branch. */
static bool is_passed(const GpInst *inst) {
    if (gp_pipe_ends_block(inst))
        return false;
    if (inst->op != GpOp_If)
        return !inst->region_count || gp_op_is_whole(inst->op);
    for (uint32_t r = 0; r < inst->region_count; r++)
        for (const GpInst *x = inst->regions[r]->first; x; x = x->next)
            if (!is_passed(x) || x->op == GpOp_Mma ||
                (gp_op_is_terminator(x->op) && x->op != GpOp_Yield))
                return false;
    return true;
}

/* Whether the product under way has to give its stage back before `inst` can read one of the same ring. */
static bool holds_ring(const GpPipe *p, const GpInst *product, const GpInst *inst) {
    GpFeedView view;
    for (uint32_t k = 0; k < 2 && inst->op == GpOp_Mma; k++) {
        if (!gp_feed_view(&p->feeds, inst->operands[k], &view))
            continue;
        for (uint32_t i = 0; i < p->group_count; i++) {
            const GpGroup *g = &p->groups[i], *other = view.feed->group;
            if (g->last == product && g != other && g->channel == other->channel)
                return true;
        }
    }
    return false;
}

/* How many of the products under way, oldest first, `inst` waits for: those it reads, also in its
** branches. A loop and the end of its body wait for everything. */
static uint32_t count_read(GpEmit *e, const GpInst *inst) {
    const GpPipe *p = e->pipe;
    const GpInst *owner = inst->parent->owner;
    bool is_end = gp_op_is_terminator(inst->op) && !(owner && is_passed(owner));
    uint32_t needed = is_end || !is_passed(inst) ? p->pending_count : 0;
    for (uint32_t i = 0; i < inst->operand_count; i++) {
        bool is_chained = inst->op == GpOp_Mma && i == 2 && continues(e, inst);
        for (uint32_t k = needed; k < p->pending_count && !is_chained; k++)
            if (inst->operands[i] == p->pending[k].inst->results[0])
                needed = k + 1;
    }
    for (uint32_t k = needed; k < p->pending_count; k++)
        if (holds_ring(p, p->pending[k].inst, inst))
            needed = k + 1;
    for (uint32_t r = 0; r < inst->region_count && needed < p->pending_count; r++)
        for (const GpInst *x = inst->regions[r]->first; x; x = x->next) {
            uint32_t inside = count_read(e, x);
            needed = inside > needed ? inside : needed;
        }
    return needed;
}

void gp_pipe_before(GpEmit *e, const GpInst *inst) {
    const GpPipe *p = e->pipe;
    if (!p || p->role == GpPipe_Producer)
        return;
    if (p->pending_count)
        settle(e, count_read(e, inst));
    if (inst->region_count && !gp_op_is_whole(inst->op))
        gp_pipe_give_turn(e);
    if (p->has_turn && inst->op != GpOp_Mma && gp_map_has(&p->turn_closes, inst)) {
        const GpValue *v = inst->operands[0];
        LLVMValueRef last = gp_gpu_register(e, v, e->bound[v->id].count - 1);
        gp_pipe_give_turn_after(e, gp_emit_to_float(e, v->type->elem, last));
    }
    gp_pipe_at_end(e, inst);
}
