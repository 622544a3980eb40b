/* Whether a tile kernel runs warp-specialised, and which of its loads the producer makes. */
#include "codegen/pipe.h"

enum {
    EXCHANGE_RESERVE = 8 * 1024,
    MOST_WARPGROUPS = 2,
    WARPGROUP_ROWS = 64,
    WARPGROUP_THREADS = 128,
    WARPGROUP_WARPS = 4,
    MOST_SUMS = 208, /* registers of a thread that hold sums */
    TMA_RANK = 5
};

uint32_t gp_pipe_tile_threads(const GpPipe *p) { return p->warpgroups * WARPGROUP_THREADS; }

uint32_t gp_pipe_block_threads(const GpPipe *p) {
    return (p->warpgroups + 1) * WARPGROUP_THREADS;
}

/* ---- Which loads and products ------------------------------------------------------------ */

static bool can_feed(const GpEmit *e, const GpInst *load, GpFeed *out) {
    const GpIrParam *p = gp_feed_tensor(e, load);
    return p && p->aligned16 && p->unit_stride && !p->is_written && load->imm.u == 0 &&
           load->results[0]->type->shape.rank <= TMA_RANK && gp_feed_set_panels(out) &&
           out->lines <= GP_PIPE_MOST_LINES &&
           (out->panels == 1 || out->panel_bytes == GP_FEED_LINE_BYTES);
}

typedef struct Survey {
    GpEmit *e;
    GpPipe *pipe;
    uint32_t products;
    bool is_fit;
} Survey;

/* The roles part for ever at a jump or at a check that ends the block. */
static bool parts_roles(const GpInst *inst) {
    return inst->op == GpOp_Loop || inst->op == GpOp_Block || inst->op == GpOp_Break ||
           inst->op == GpOp_Continue || inst->op == GpOp_CheckDiv || inst->op == GpOp_Assert ||
           (inst->op == GpOp_Return && inst->parent->owner);
}

static void survey_inst(GpInst *inst, void *ud) {
    Survey *s = ud;
    s->products += inst->op == GpOp_Mma;
    s->is_fit &= !parts_roles(inst);
}

/* Which axis of an operand is innermost must suit its type. */
static bool is_operand_fit(const GpFeedView *v, bool is_b, const GpWgmmaRow *row) {
    bool is_k_major = v->is_swapped == is_b;
    if (is_k_major)
        return v->feed->width % row->k == 0;
    return row->has_transpose && v->feed->panel_bytes == GP_FEED_LINE_BYTES;
}

static bool is_product_fit(Survey *s, const GpInst *mma) {
    const GpWgmmaRow *a, *b;
    GpFeedView view;
    if (!gp_wgmma_find(mma, &a, &b) || !gp_feed_view(&s->pipe->feeds, mma->operands[1], &view) ||
        !is_operand_fit(&view, true, b))
        return false;
    if (gp_feed_view(&s->pipe->feeds, mma->operands[0], &view))
        return is_operand_fit(&view, false, a);
    return a->has_transpose; /* from registers */
}

/* As many as the rows and the schedule allow. */
static uint32_t fit_warpgroups(const GpInst *mma, uint32_t warps) {
    int64_t rows = mma->results[0]->type->shape.dim[0];
    for (uint32_t n = MOST_WARPGROUPS; n > 0; n--)
        if (rows % ((int64_t)n * WARPGROUP_ROWS) == 0 && (!warps || warps == n * WARPGROUP_WARPS))
            return n;
    return 0;
}

static void check_product(GpInst *inst, void *ud) {
    Survey *s = ud;
    if (inst->op != GpOp_Mma || !s->is_fit)
        return;
    uint32_t n = fit_warpgroups(inst, s->e->fn->schedule.warps);
    s->is_fit = n && (!s->pipe->warpgroups || s->pipe->warpgroups == n) && is_product_fit(s, inst);
    s->pipe->warpgroups = n;
}

static bool find_feeds(GpEmit *e, GpPipe *p) {
    Survey s = {.e = e, .pipe = p, .is_fit = true};
    GpIrFn *fn = (GpIrFn *)(uintptr_t)e->fn;
    gp_ir_walk(fn, GpWalk_Before, survey_inst, &s);
    if (!s.is_fit || !s.products)
        return false;
    gp_feeds_find(e, &p->feeds, can_feed);
    gp_ir_walk(fn, GpWalk_Before, check_product, &s);
    return s.is_fit;
}

/* ---- Registers --------------------------------------------------------------------------- */

/* Sums of the products that stand beside each other are alive together. */
static void count_sums(GpInst *inst, void *ud) {
    int64_t numel = 0, sum = 0, *most = ud;
    if (inst->op != GpOp_Mma)
        return;
    for (const GpInst *x = inst->parent->first; x; x = x->next)
        if (x->op == GpOp_Mma && gp_shape_numel(&x->results[0]->type->shape, &numel))
            sum += gp_wgmma_promotes(x) ? 2 * numel : numel;
    *most = GP_MAX(*most, sum);
}

static bool fits_registers(const GpEmit *e, const GpPipe *p) {
    int64_t most = 0;
    gp_ir_walk((GpIrFn *)(uintptr_t)e->fn, GpWalk_Before, count_sums, &most);
    return most / gp_pipe_tile_threads(p) <= MOST_SUMS;
}

void gp_pipe_plan(GpEmit *e) {
    if (!e->is_tile || e->target->sm != 90 || !e->target->is_arch)
        return;
    GpPipe *p = GP_NEW(e->arena, GpPipe);
    p->exchange_room = GP_MAX(e->exchange_room, (uint64_t)EXCHANGE_RESERVE);
    if (!find_feeds(e, p) || !gp_pipe_place_channels(e, p) || !fits_registers(e, p) ||
        !gp_pipe_slice(e, p) || e->fn->schedule.stages == 1)
        return;
    p->uses = gp_ir_count_uses(e->fn, e->arena);
    gp_pipe_schedule(e, p);
    gp_pipe_find_turns(e, p);
    gp_pipe_add_maps(e, p);
    gp_pipe_extend_abi(e, p);
    e->pipe = p;
}
