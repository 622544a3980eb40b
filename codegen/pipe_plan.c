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

bool gp_pipe_matrix_axes(const GpShape *shape, int axis[2]) {
    int count = 0;
    for (int a = 0; a < shape->rank; a++) {
        if (shape->dim[a] == 1)
            continue;
        if (count == 2)
            return false;
        axis[count++] = a;
    }
    return count == 2;
}

bool gp_pipe_drops_units(const GpInst *reshape) {
    const GpShape *from = &reshape->operands[0]->type->shape;
    const GpShape *to = &reshape->results[0]->type->shape;
    int a[2], b[2];
    return gp_pipe_matrix_axes(from, a) && gp_pipe_matrix_axes(to, b) && from->dim[a[0]] == to->dim[b[0]] &&
           from->dim[a[1]] == to->dim[b[1]];
}

static bool is_swap(const GpInst *permute) {
    int a[2];
    (void)gp_pipe_matrix_axes(&permute->results[0]->type->shape, a);
    return permute->perm.axis[a[0]] > permute->perm.axis[a[1]];
}

static bool is_view_op(const GpInst *inst) {
    int a[2];
    if (inst->op == GpOp_Reshape)
        return gp_pipe_drops_units(inst);
    return inst->op == GpOp_Permute && gp_pipe_matrix_axes(&inst->results[0]->type->shape, a);
}

bool gp_pipe_view(const GpPipe *p, const GpValue *v, GpFeedView *out) {
    out->is_swapped = false;
    while (v->inst && is_view_op(v->inst)) {
        out->is_swapped ^= v->inst->op == GpOp_Permute && is_swap(v->inst);
        v = v->inst->operands[0];
    }
    out->feed = v->inst ? gp_map_get(&p->feed_of, v->inst) : NULL;
    return out->feed != NULL;
}

static bool set_panels(GpFeed *f, const GpShape *shape, uint32_t elem_bytes) {
    int a[2];
    if (!gp_pipe_matrix_axes(shape, a) || a[1] != shape->rank - 1)
        return false;
    int64_t bytes = shape->dim[a[1]] * elem_bytes;
    bool is_narrow = bytes == 32 || bytes == 64;
    if (shape->dim[a[0]] > GP_PIPE_MOST_LINES || shape->dim[a[0]] % 8 ||
        (!is_narrow && bytes % GP_PIPE_LINE_BYTES))
        return false;
    f->lines = (uint32_t)shape->dim[a[0]];
    f->width = (uint32_t)shape->dim[a[1]];
    f->panel_bytes = (uint32_t)GP_MIN(bytes, GP_PIPE_LINE_BYTES);
    f->panels = (uint32_t)bytes / f->panel_bytes;
    return true;
}

static bool can_feed(const GpEmit *e, const GpInst *load, GpFeed *out) {
    const GpValue *tensor = load->operands[0];
    if (tensor->inst || tensor->region != e->fn->body)
        return false;
    const GpIrParam *p = &e->fn->params[tensor->index];
    const GpShape *shape = &load->results[0]->type->shape;
    *out = (GpFeed){.load = load};
    return p->aligned16 && p->unit_stride && !p->is_written && load->imm.u == 0 &&
           shape->rank <= TMA_RANK &&
           set_panels(out, shape, gp_elem_info[load->results[0]->type->elem].bytes);
}

typedef struct Survey {
    GpEmit *e;
    GpPipe *pipe;
    uint32_t loads, products;
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
    s->loads += inst->op == GpOp_LoadTile;
    s->products += inst->op == GpOp_Mma;
    s->is_fit &= !parts_roles(inst);
}

static void add_feed(GpInst *inst, void *ud) {
    Survey *s = ud;
    GpFeed *f = &s->pipe->feeds[s->pipe->feed_count];
    if (inst->op != GpOp_LoadTile || !can_feed(s->e, inst, f))
        return;
    gp_map_set(s->e->arena, &s->pipe->feed_of, inst, f);
    s->pipe->feed_count++;
}

/* Anything but a product or a change of shape that reads a feed keeps it from being one. */
static void drop_feeds(GpInst *inst, void *ud) {
    Survey *s = ud;
    GpFeedView view;
    if (is_view_op(inst))
        return;
    for (uint32_t i = 0; i < inst->operand_count; i++) {
        bool is_operand = inst->op == GpOp_Mma && i < 2;
        if (!is_operand && inst->operands[i]->type->kind == GpIrType_Tile &&
            gp_pipe_view(s->pipe, inst->operands[i], &view))
            gp_map_set(s->e->arena, &s->pipe->feed_of, view.feed->load, NULL);
    }
}

/* Which axis of an operand is innermost must suit its type. */
static bool is_operand_fit(const GpFeedView *v, bool is_b, const GpWgmmaRow *row) {
    bool is_k_major = v->is_swapped == is_b;
    if (is_k_major)
        return v->feed->width % row->k == 0;
    return row->has_transpose && v->feed->panel_bytes == GP_PIPE_LINE_BYTES;
}

static bool is_product_fit(Survey *s, const GpInst *mma) {
    const GpWgmmaRow *a, *b;
    GpFeedView view;
    if (!gp_wgmma_find(mma, &a, &b) || !gp_pipe_view(s->pipe, mma->operands[1], &view) ||
        !is_operand_fit(&view, true, b))
        return false;
    if (gp_pipe_view(s->pipe, mma->operands[0], &view))
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

static void keep_feeds(GpEmit *e, GpPipe *p) {
    uint32_t kept = 0;
    for (uint32_t i = 0; i < p->feed_count; i++) {
        if (!gp_map_get(&p->feed_of, p->feeds[i].load))
            continue;
        p->feeds[kept] = p->feeds[i];
        gp_map_set(e->arena, &p->feed_of, p->feeds[kept].load, &p->feeds[kept]);
        kept++;
    }
    p->feed_count = kept;
}

static bool find_feeds(GpEmit *e, GpPipe *p) {
    Survey s = {.e = e, .pipe = p, .is_fit = true};
    GpIrFn *fn = (GpIrFn *)(uintptr_t)e->fn;
    gp_ir_walk(fn, GpWalk_Before, survey_inst, &s);
    if (!s.is_fit || !s.products || !s.loads)
        return false;
    p->feeds = GP_NEW_ARRAY(e->arena, GpFeed, s.loads + 1);
    gp_ir_walk(fn, GpWalk_Before, add_feed, &s);
    gp_ir_walk(fn, GpWalk_Before, drop_feeds, &s);
    gp_ir_walk(fn, GpWalk_Before, check_product, &s);
    keep_feeds(e, p);
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
