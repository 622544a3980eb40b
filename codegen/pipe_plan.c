/* Whether a tile kernel runs warp-specialised, which of its loads the producer makes, and how they
** share shared memory. */
#include "codegen/pipe.h"

enum {
    EXCHANGE_RESERVE = 8 * 1024,
    BARRIER_BYTES = 16,
    STAGE_ALIGN = 1024, /* what a 128-byte swizzle repeats over */
    LEAST_STAGES = 2,
    MOST_WARPGROUPS = 2,
    WARPGROUP_ROWS = 64,
    WARPGROUP_THREADS = 128,
    WARPGROUP_WARPS = 4,
    MOST_SUMS = 208, /* registers of a thread that hold sums */
    TMA_RANK = 5,
    AXES = 3,
    STORE_PANEL = 64 /* columns */
};

uint32_t gp_pipe_tile_threads(const GpPipe *p) { return p->warpgroups * WARPGROUP_THREADS; }

uint32_t gp_pipe_block_threads(const GpPipe *p) {
    return (p->warpgroups + 1) * WARPGROUP_THREADS;
}

/* ---- Which loads and products ------------------------------------------------------------ */

/* The two axes of a tile that are not 1; false when there are more or fewer. */
static bool matrix_axes(const GpShape *shape, int axis[2]) {
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

static bool drops_units(const GpInst *reshape) {
    const GpShape *from = &reshape->operands[0]->type->shape;
    const GpShape *to = &reshape->results[0]->type->shape;
    int a[2], b[2];
    return matrix_axes(from, a) && matrix_axes(to, b) && from->dim[a[0]] == to->dim[b[0]] &&
           from->dim[a[1]] == to->dim[b[1]];
}

static bool is_swap(const GpInst *permute) {
    int a[2];
    (void)matrix_axes(&permute->results[0]->type->shape, a);
    return permute->perm.axis[a[0]] > permute->perm.axis[a[1]];
}

static bool is_view_op(const GpInst *inst) {
    int a[2];
    if (inst->op == GpOp_Reshape)
        return drops_units(inst);
    return inst->op == GpOp_Permute && matrix_axes(&inst->results[0]->type->shape, a);
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
    if (!matrix_axes(shape, a) || a[1] != shape->rank - 1)
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
    return s.is_fit;
}

/* ---- Channels ---------------------------------------------------------------------------- */

typedef struct Reader {
    GpPipe *pipe;
    GpFeed *feed;
    const GpInst *first, *last;
} Reader;

static void note_reader(GpInst *inst, void *ud) {
    Reader *r = ud;
    GpFeedView view;
    if (inst->op != GpOp_Mma)
        return;
    for (uint32_t i = 0; i < 2; i++) {
        if (!gp_pipe_view(r->pipe, inst->operands[i], &view) || view.feed != r->feed)
            continue;
        r->first = r->first ? r->first : inst;
        r->last = inst;
    }
}

static bool is_inside(const GpRegion *r, const GpRegion *outer) {
    while (r != outer && r->owner)
        r = r->owner->parent;
    return r == outer;
}

static GpChannel *find_channel(GpPipe *p, const Reader *r) {
    for (uint32_t i = 0; i < p->channel_count; i++) {
        GpChannel *c = &p->channels[i];
        if (c->region == r->feed->load->parent && c->first == r->first && c->last == r->last)
            return c;
    }
    GpChannel *c = &p->channels[p->channel_count++];
    *c = (GpChannel){.region = r->feed->load->parent, .first = r->first, .last = r->last};
    c->is_ring = c->region->owner != NULL;
    return c;
}

/* In a loop the products that read a tile stand beside its load: then the stage is given back
** where they were waited for. */
static bool make_channels(GpEmit *e, GpPipe *p) {
    p->channels = GP_NEW_ARRAY(e->arena, GpChannel, p->feed_count + 1);
    uint32_t kept = 0;
    for (uint32_t i = 0; i < p->feed_count; i++) {
        if (!gp_map_get(&p->feed_of, p->feeds[i].load))
            continue;
        p->feeds[kept] = p->feeds[i];
        gp_map_set(e->arena, &p->feed_of, p->feeds[kept].load, &p->feeds[kept]);
        kept++;
    }
    p->feed_count = kept;
    for (uint32_t i = 0; i < kept; i++) {
        GpFeed *f = &p->feeds[i];
        Reader r = {.pipe = p, .feed = f};
        gp_ir_walk((GpIrFn *)(uintptr_t)e->fn, GpWalk_Before, note_reader, &r);
        if (!r.first)
            return false; /* dead code, which passes remove */
        GpChannel *c = find_channel(p, &r);
        bool is_beside = r.first->parent == c->region && r.last->parent == c->region;
        if (c->is_ring ? !is_beside : !is_inside(r.first->parent, c->region))
            return false;
        f->channel = c;
        f->offset = c->stage_bytes;
        c->stage_bytes += gp_align_up((uint64_t)f->lines * f->panel_bytes * f->panels, STAGE_ALIGN);
        c->opener = c->opener ? c->opener : f->load;
        c->closer = f->load;
    }
    return true;
}

/* As many stages as fit beside `staging` bytes; rings share alike. */
static bool place_channels(GpPipe *p, uint64_t staging, uint32_t most) {
    uint64_t fixed = p->exchange_room + staging, ring = 0, at = staging;
    for (uint32_t i = 0; i < p->channel_count; i++) {
        const GpChannel *c = &p->channels[i];
        uint64_t *sum = c->is_ring ? &ring : &fixed;
        *sum += c->stage_bytes + BARRIER_BYTES;
    }
    uint64_t stages = ring && fixed < GP_PIPE_SHARED ? (GP_PIPE_SHARED - fixed) / ring : 0;
    stages = GP_MIN(stages, most);
    if (stages < LEAST_STAGES)
        return false;
    p->staging = 0;
    for (uint32_t i = 0; i < p->channel_count; i++) {
        GpChannel *c = &p->channels[i];
        c->stages = c->is_ring ? (uint32_t)stages : 1;
        c->offset = at;
        at += c->stages * c->stage_bytes;
    }
    for (uint32_t i = 0; i < p->channel_count; i++) {
        p->channels[i].barriers = at;
        at += (uint64_t)p->channels[i].stages * BARRIER_BYTES;
    }
    p->exchange_at = at;
    p->shared_bytes = at;
    return true;
}

/* ---- Stores ------------------------------------------------------------------------------ */

typedef struct Stores {
    GpEmit *e;
    GpPipe *pipe;
    const GpInst *store; /* whose tensor is looked for */
    uint32_t accesses;
} Stores;

static void count_accesses(GpInst *inst, void *ud) {
    Stores *s = ud;
    for (uint32_t i = 0; i < inst->operand_count; i++)
        s->accesses += inst->operands[i] == s->store->operands[0] && inst->op != GpOp_Dim;
}

/* Copies from shared memory keep no order among themselves or with other accesses: the store is
** the only access to its tensor, and is made once. */
static bool can_leave(Stores *s, const GpInst *inst, GpPipeStore *out) {
    const GpValue *tensor = inst->operands[0], *v = inst->operands[1];
    int a[2];
    if (tensor->inst || tensor->region != s->e->fn->body || inst->parent->owner)
        return false;
    const GpIrParam *param = &s->e->fn->params[tensor->index];
    const GpShape *shape = &v->type->shape;
    if (!param->is_unique || !param->aligned16 || !param->unit_stride || shape->rank > TMA_RANK ||
        gp_elem_info[v->type->elem].bits != 16 || !matrix_axes(shape, a) || a[1] != shape->rank - 1)
        return false;
    while (v->inst && v->inst->op == GpOp_Reshape && drops_units(v->inst))
        v = v->inst->operands[0];
    s->store = inst;
    s->accesses = 0;
    gp_ir_walk((GpIrFn *)(uintptr_t)s->e->fn, GpWalk_Before, count_accesses, s);
    *out = (GpPipeStore){.inst = inst, .value = v, .row_axis = shape->rank - 1 - a[0]};
    return s->accesses == 1 && v->type->shape.rank == 2 && v->type->shape.dim[1] % STORE_PANEL == 0 &&
           v->type->shape.dim[0] % ((int64_t)s->pipe->warpgroups * WARPGROUP_ROWS) == 0;
}

static void add_store(GpInst *inst, void *ud) {
    Stores *s = ud;
    GpPipe *p = s->pipe;
    if (inst->op == GpOp_StoreTile && can_leave(s, inst, &p->stores[p->store_count]))
        p->store_count++;
}

static void count_stores(GpInst *inst, void *ud) { *(uint32_t *)ud += inst->op == GpOp_StoreTile; }

/* Bytes of the largest tile that leaves through shared memory. */
static uint64_t find_stores(GpEmit *e, GpPipe *p) {
    Stores s = {.e = e, .pipe = p};
    uint32_t count = 0;
    uint64_t most = 0;
    gp_ir_walk((GpIrFn *)(uintptr_t)e->fn, GpWalk_Before, count_stores, &count);
    p->stores = GP_NEW_ARRAY(e->arena, GpPipeStore, count + 1);
    gp_ir_walk((GpIrFn *)(uintptr_t)e->fn, GpWalk_Before, add_store, &s);
    for (uint32_t i = 0; i < p->store_count; i++) {
        const GpShape *shape = &p->stores[i].value->type->shape;
        most = GP_MAX(most, (uint64_t)(shape->dim[0] * shape->dim[1]) * 2);
    }
    return most;
}

/* Stores go without staging where it would leave less than two stages. */
static bool place_all(GpEmit *e, GpPipe *p) {
    uint32_t asked = e->fn->schedule.stages, most = asked ? asked : GP_PIPE_MOST_STAGES;
    uint64_t staging = find_stores(e, p);
    if (staging && place_channels(p, staging, most))
        return true;
    p->store_count = 0;
    return place_channels(p, 0, most);
}

/* ---- Registers --------------------------------------------------------------------------- */

static void count_sums(GpInst *inst, void *ud) {
    int64_t numel = 0, *sum = ud;
    if (inst->op == GpOp_Mma && gp_shape_numel(&inst->results[0]->type->shape, &numel))
        *sum += numel;
}

static bool fits_registers(const GpEmit *e, const GpPipe *p) {
    int64_t sum = 0;
    gp_ir_walk((GpIrFn *)(uintptr_t)e->fn, GpWalk_Before, count_sums, &sum);
    return sum / gp_pipe_tile_threads(p) <= MOST_SUMS;
}

/* ---- Hidden parameters ------------------------------------------------------------------- */

/* One panel of the tile at a time, with all its lines. */
static GpImageMap map_of(const GpEmit *e, const GpInst *access, uint32_t panel_bytes) {
    const GpShape *shape = gp_tile_shape(access);
    GpImageMap m = {.arg = e->fn->params[access->operands[0]->index].arg,
                    .elem = access->operands[0]->type->elem,
                    .rank = shape->rank,
                    .swizzle = (uint8_t)panel_bytes};
    for (int a = 0; a < shape->rank; a++)
        m.box[a] = (uint32_t)shape->dim[a];
    m.box[shape->rank - 1] = panel_bytes / gp_elem_info[m.elem].bytes;
    return m;
}

static bool is_same_map(const GpImageMap *a, const GpImageMap *b) {
    return a->arg == b->arg && a->swizzle == b->swizzle &&
           memcmp(a->box, b->box, sizeof a->box) == 0;
}

static uint32_t add_map(GpPipe *p, const GpImageMap *m) {
    uint32_t k = 0;
    while (k < p->map_count && !is_same_map(&p->maps[k], m))
        k++;
    p->maps[k] = *m;
    p->map_count = GP_MAX(p->map_count, k + 1);
    return k;
}

static void add_maps(GpEmit *e, GpPipe *p) {
    p->maps = GP_NEW_ARRAY(e->arena, GpImageMap, p->feed_count + p->store_count);
    for (uint32_t i = 0; i < p->feed_count; i++) {
        GpImageMap m = map_of(e, p->feeds[i].load, p->feeds[i].panel_bytes);
        p->feeds[i].map = add_map(p, &m);
    }
    for (uint32_t i = 0; i < p->store_count; i++) {
        GpImageMap m = map_of(e, p->stores[i].inst, GP_PIPE_LINE_BYTES);
        m.box[m.rank - 1 - p->stores[i].row_axis] = WARPGROUP_ROWS;
        p->stores[i].map = add_map(p, &m);
    }
}

static void extend_abi(GpEmit *e, GpPipe *p) {
    GpImageParam *abi = GP_NEW_ARRAY(e->arena, GpImageParam, e->abi_count + p->map_count + AXES);
    memcpy(abi, e->abi, e->abi_count * sizeof *abi);
    const GpImageParam *last = &abi[e->abi_count - 1];
    uint64_t offset = gp_align_up((uint64_t)last->offset + last->bytes, 4);
    for (uint8_t a = 0; a < AXES && p->is_persistent; a++, offset += 4)
        abi[e->abi_count++] = (GpImageParam){GpParam_Grid, 0, a, 4, (uint16_t)offset};
    offset = gp_align_up(offset, GP_TENSOR_MAP_ALIGN);
    p->first_map = e->abi_count;
    for (uint32_t i = 0; i < p->map_count; i++) {
        abi[e->abi_count++] = (GpImageParam){GpParam_TensorMap, p->maps[i].arg, (uint8_t)i,
                                             GP_TENSOR_MAP_BYTES, (uint16_t)offset};
        offset += GP_TENSOR_MAP_BYTES;
    }
    e->abi = abi;
}

void gp_pipe_plan(GpEmit *e) {
    if (!e->is_tile || e->target->sm != 90 || !e->target->is_arch)
        return;
    GpPipe *p = GP_NEW(e->arena, GpPipe);
    p->exchange_room = GP_MAX(e->exchange_room, (uint64_t)EXCHANGE_RESERVE);
    if (!find_feeds(e, p) || !make_channels(e, p) || !place_all(e, p) || !fits_registers(e, p) ||
        !gp_pipe_slice(e, p) || e->fn->schedule.stages == 1)
        return;
    p->uses = gp_ir_count_uses(e->fn, e->arena);
    gp_pipe_schedule(e, p);
    add_maps(e, p);
    extend_abi(e, p);
    e->pipe = p;
}

uint32_t gp_pipe_params(GpEmit *e, LLVMValueRef *args) {
    GpPipe *p = e->pipe;
    uint32_t count = p->is_persistent ? AXES : 0;
    memcpy(p->grid, args, count * sizeof *args);
    p->map_params = GP_NEW_ARRAY(e->arena, LLVMValueRef, p->map_count);
    memcpy(p->map_params, args + count, p->map_count * sizeof *args);
    return count + p->map_count;
}

/* Without grid_constant LLVM copies the descriptor to local memory, where the copy unit cannot
** read it. */
void gp_pipe_attributes(GpEmit *e) {
    LLVMTypeRef type = LLVMArrayType2(LLVMInt8TypeInContext(e->ctx), GP_TENSOR_MAP_BYTES);
    unsigned byval = LLVMGetEnumAttributeKindForName("byval", 5);
    for (uint32_t i = 0; i < e->pipe->map_count; i++) {
        LLVMAttributeIndex at = e->pipe->first_map + i + 1;
        LLVMAddAttributeAtIndex(e->func, at, LLVMCreateTypeAttribute(e->ctx, byval, type));
        LLVMAddAttributeAtIndex(e->func, at,
                                gp_llvm_attr(e->llvm, "align", GP_TENSOR_MAP_ALIGN));
        LLVMAddAttributeAtIndex(
            e->func, at, LLVMCreateStringAttribute(e->ctx, "nvvm.grid_constant", 18, "", 0));
    }
}

LLVMValueRef gp_pipe_exchange(GpEmit *e, uint64_t bytes) {
    GpPipe *p = e->pipe;
    p->exchange_bytes = bytes;
    p->shared_bytes = p->exchange_at + bytes;
    LLVMValueRef at = gp_emit_i32(e, (int64_t)p->exchange_at);
    return LLVMConstInBoundsGEP2(LLVMInt8TypeInContext(e->ctx), p->shared, &at, 1);
}

bool gp_pipe_wants_more(const GpEmit *e, uint64_t *exchange) {
    if (!e->pipe || e->pipe->exchange_bytes <= e->pipe->exchange_room)
        return false;
    *exchange = e->pipe->exchange_bytes;
    return true;
}

void gp_pipe_describe(const GpEmit *e, GpImage *image) {
    const GpPipe *p = e->pipe;
    const GpImageParam *last = &e->abi[e->abi_count - 1];
    image->params = (GpImageParam *)(uintptr_t)e->abi;
    image->param_count = e->abi_count;
    image->param_bytes = (uint32_t)last->offset + last->bytes;
    image->maps = p->maps;
    image->map_count = p->map_count;
    image->shared_bytes = (uint32_t)p->shared_bytes;
    image->is_persistent = p->is_persistent;
    image->schedule.warps = (uint8_t)(gp_pipe_tile_threads(p) / 32);
    image->schedule.persistent = p->is_persistent ? 2 : 1;
    for (uint32_t i = 0; i < p->channel_count; i++)
        image->schedule.stages = (uint8_t)GP_MAX(image->schedule.stages, p->channels[i].stages);
}
