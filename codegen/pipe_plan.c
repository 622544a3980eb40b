/* Whether a tile kernel runs warp-specialised, and which of its loads the producer makes. */
#include "codegen/pipe.h"

enum {
    EXCHANGE_RESERVE = 8 * 1024,
    READ_RESERVE = 2 * 1024, /* where threads read tiles: their values seldom change threads */
    WARPGROUP_WARPS = GP_GPU_WARPGROUP / GP_GPU_LANES
};

uint32_t gp_pipe_tile_threads(const GpPipe *p) { return p->warpgroups * GP_GPU_WARPGROUP; }

uint32_t gp_pipe_block_threads(const GpPipe *p) {
    return (p->warpgroups + 1) * GP_GPU_WARPGROUP;
}

uint32_t gp_pipe_rows(const GpPipe *p) { return p->warpgroups * GP_PIPE_BLOCK_ROWS; }

/* ---- Which loads and products ------------------------------------------------------------ */

/* The last panel may hold columns that nothing reads, of the tensor or beyond it. */
static void widen_panels(GpFeed *f) {
    f->panels = (f->panels * f->panel_bytes + GP_FEED_LINE_BYTES - 1) / GP_FEED_LINE_BYTES;
    f->panel_bytes = GP_FEED_LINE_BYTES;
}

/* Why the accelerator cannot bring the load's tile. */
static GpUnpiped ask_load(const GpEmit *e, const GpInst *load, GpFeed *out) {
    GpPipeTensor t;
    bool is_reached = gp_pipe_tensor(e, load, &t);
    if (!t.param)
        return GpUnpiped_Made;
    if (t.param->is_written)
        return GpUnpiped_Written;
    if (!t.param->aligned16 || !t.param->unit_stride)
        return GpUnpiped_Unaligned;
    if (load->part)
        return GpUnpiped_Rows;
    bool is_box = load->imm.u == 0 && is_reached &&
                  gp_feed_set_panels(out, load->results[0]->type) && out->lines <= GP_PIPE_MOST_LINES;
    if (is_box && out->panels > 1)
        widen_panels(out);
    return is_box ? GpUnpiped_None : GpUnpiped_Tile;
}

static bool can_feed(const GpEmit *e, const GpInst *load, GpFeed *out) {
    return ask_load(e, load, out) == GpUnpiped_None;
}

typedef struct Survey {
    GpEmit *e;
    GpPipe *pipe;
    uint32_t most; /* warpgroups */
    bool can_read, has_reads; /* feeds by threads: are looked for, are there */
    bool keeps_layouts;
    GpUnpiped why; /* the first reason that was met */
} Survey;

static void note(Survey *s, GpUnpiped why) {
    if (s->why == GpUnpiped_None)
        s->why = why;
}

typedef struct Products {
    uint32_t count;
    bool is_made; /* a first operand: there is work between products */
} Products;

static void add_product(GpInst *inst, void *ud) {
    Products *p = ud;
    bool is_swapped;
    if (inst->op != GpOp_Mma)
        return;
    const GpInst *origin = gp_feed_origin(inst->operands[0], &is_swapped);
    p->is_made |= origin && origin->op != GpOp_LoadTile;
    p->count++;
}

/* Which axis of an operand is innermost must suit its type. Transposed, its panels are of whole lines. */
static bool is_operand_fit(const GpFeedView *v, bool is_b, const GpWgmmaRow *row) {
    bool is_k_major = v->is_swapped == is_b;
    if (is_k_major)
        return v->feed->width % row->k == 0;
    if (row->has_transpose)
        widen_panels(v->feed);
    return row->has_transpose;
}

/* Why an operand is not in shared memory. */
static GpUnpiped ask_operand(const Survey *s, const GpValue *v) {
    bool is_swapped;
    const GpInst *origin = gp_feed_origin(v, &is_swapped);
    if (!origin || origin->op != GpOp_LoadTile)
        return GpUnpiped_Computed;
    GpFeed feed = {.load = origin};
    GpUnpiped why = ask_load(s->e, origin, &feed);
    return why == GpUnpiped_None ? GpUnpiped_Reader : why;
}

static GpUnpiped ask_product(Survey *s, const GpInst *mma) {
    const GpWgmmaRow *a, *b;
    const GpFeeds *feeds = &s->pipe->feeds;
    GpFeedView view;
    if (!gp_wgmma_find(mma, &a, &b))
        return GpUnpiped_Product;
    if (!gp_feed_view(feeds, mma->operands[1], &view))
        return ask_operand(s, mma->operands[1]);
    if (!is_operand_fit(&view, true, b))
        return GpUnpiped_Layout;
    if (gp_feed_view(feeds, mma->operands[0], &view))
        return is_operand_fit(&view, false, a) ? GpUnpiped_None : GpUnpiped_Layout;
    bool is_in_registers = a->has_transpose;
    return is_in_registers ? GpUnpiped_None : ask_operand(s, mma->operands[0]);
}

/* As many as the rows and the schedule allow: three where two do not share the rows evenly. */
static uint32_t fit_warpgroups(const Survey *s, const GpInst *mma) {
    int64_t blocks = mma->results[0]->type->shape.dim[0] / GP_PIPE_BLOCK_ROWS;
    uint32_t warps = s->e->fn->schedule.warps;
    if (mma->results[0]->type->shape.dim[0] % GP_PIPE_BLOCK_ROWS != 0)
        return 0;
    for (uint32_t n = s->most; n > 0; n--)
        if (blocks % n == 0 && (n != 3 || blocks % 2 != 0) && (!warps || warps == n * WARPGROUP_WARPS))
            return n;
    return 0;
}

static void check_rows(GpInst *inst, void *ud) {
    Survey *s = ud;
    if (inst->op != GpOp_Mma)
        return;
    uint32_t n = fit_warpgroups(s, inst);
    bool is_fit = n && (!s->pipe->warpgroups || s->pipe->warpgroups == n);
    s->pipe->warpgroups = n;
    note(s, is_fit ? GpUnpiped_None : GpUnpiped_Rows);
}

static void check_product(GpInst *inst, void *ud) {
    Survey *s = ud;
    if (inst->op == GpOp_Mma && s->why == GpUnpiped_None)
        note(s, ask_product(s, inst));
}

static GpUnpiped ask_all(Survey *s) {
    GpEmit *e = s->e;
    GpPipe *p = s->pipe;
    if (e->target->sm != 90 || !e->target->is_arch)
        return GpUnpiped_Target;
    if (e->fn->schedule.stages == 1)
        return GpUnpiped_Asked;
    gp_ir_walk(e->fn, GpWalk_Before, check_rows, s);
    if (s->why != GpUnpiped_None)
        return s->why;
    gp_feeds_find(e, &p->feeds, can_feed, s->can_read ? gp_pipe_can_read : NULL, p);
    for (uint32_t i = 0; i < p->feeds.count; i++)
        p->has_reads |= p->feeds.at[i].is_read;
    p->exchange_room = p->has_reads ? READ_RESERVE : EXCHANGE_RESERVE;
    if (!p->keeps_layouts)
        p->exchange_room = GP_MAX(e->exchange_room, p->exchange_room);
    gp_ir_walk(e->fn, GpWalk_Before, check_product, s);
    if (s->why == GpUnpiped_None)
        note(s, gp_pipe_place_channels(e, p));
    if (s->why == GpUnpiped_None && !gp_pipe_jumps_fit(p))
        note(s, GpUnpiped_Jump);
    if (s->why == GpUnpiped_None && !gp_pipe_fits_sums(e, p))
        note(s, GpUnpiped_Registers);
    if (s->why == GpUnpiped_None && !gp_pipe_slice(e, p))
        note(s, GpUnpiped_Slice);
    return s->why;
}

static GpPipe *try_plan(GpEmit *e, Survey *s) {
    GpPipe *p = GP_NEW(e->arena, GpPipe);
    s->pipe = p;
    s->why = GpUnpiped_None;
    p->keeps_layouts = s->keeps_layouts;
    p->uses = gp_ir_count_uses(e->fn, e->arena);
    e->unpiped = ask_all(s);
    s->has_reads |= p->has_reads;
    return e->unpiped == GpUnpiped_None ? p : NULL;
}

/* With as many warpgroups as have the registers for it. More than two hide each other's work between products; where there
** is none, two are faster: they read less of the operands again (256 x 128 on one H200: 717 TFLOP/s to 688). */
static GpPipe *fit_plan(GpEmit *e, const Products *products, Survey *s) {
    GpPipe *p = NULL;
    s->most = products->is_made || e->fn->schedule.warps ? GP_PIPE_MOST_WARPGROUPS : 3;
    for (; s->most > 1 && !p; s->most--)
        p = try_plan(e, s);
    return p;
}

/* What threads read comes through shared memory too where there is room, and what they store goes through the exchange
** buffer. NULL: it runs as other tile kernels do. */
static GpPipe *find_plan(GpEmit *e, const Products *products) {
    Survey s = {.e = e, .can_read = true, .has_reads = true};
    GpPipe *p = NULL;
    for (; s.has_reads && !p; s.can_read = false) {
        s.keeps_layouts = s.has_reads = false;
        p = fit_plan(e, products, &s);
        s.keeps_layouts = e->unpiped == GpUnpiped_Shared && e->exchange_room && e->exchange_room < gp_target_shared(e->target);
        if (!p && s.keeps_layouts)
            p = fit_plan(e, products, &s);
    }
    return p;
}

void gp_pipe_plan(GpEmit *e) {
    Products products = {0};
    if (e->is_tile)
        gp_ir_walk(e->fn, GpWalk_Before, add_product, &products);
    GpPipe *p = products.count ? find_plan(e, &products) : NULL;
    if (!p)
        return;
    gp_pipe_schedule(e, p);
    if (!gp_pipe_loops_jump(e))
        gp_pipe_find_turns(e, p);
    gp_pipe_find_held(e, p);
    gp_pipe_find_ends(e, p);
    gp_pipe_add_maps(e, p);
    gp_pipe_extend_abi(e, p);
    e->pipe = p;
}
