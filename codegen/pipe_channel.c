/* How the loads of a warp-specialised kernel share shared memory: groups, the rings they go through,
** and the room for stores. */
#include "codegen/pipe.h"

enum { LEAST_STAGES = 2, GOOD_STAGES = 3 };

/* ---- Groups and channels ----------------------------------------------------------------- */

/* The products that read a feed, by its place among the feeds. */
typedef struct Reader {
    const GpInst *first, *last;
} Reader;

typedef struct Readers {
    const GpPipe *pipe;
    Reader *of;
} Readers;

static void note_readers(GpInst *inst, void *ud) {
    const Readers *r = ud;
    GpFeedView view;
    for (uint32_t i = 0; i < 2 && inst->op == GpOp_Mma; i++) {
        if (!gp_feed_view(&r->pipe->feeds, inst->operands[i], &view))
            continue;
        Reader *of = &r->of[view.feed - r->pipe->feeds.at];
        of->first = of->first ? of->first : inst;
        of->last = inst;
    }
}

static GpGroup *find_group(GpPipe *p, const GpRegion *region, const Reader *r) {
    for (uint32_t i = 0; i < p->group_count; i++) {
        GpGroup *g = &p->groups[i];
        if (g->region == region && g->first == r->first && g->last == r->last)
            return g;
    }
    GpGroup *g = &p->groups[p->group_count++];
    *g = (GpGroup){.region = region, .first = r->first, .last = r->last};
    return g;
}

static GpFeed *feed_of(const GpPipe *p, const GpInst *load) { return gp_map_get(&p->feeds.of, load); }

/* Of loads that are nested in something and whose products stand beside them the stage is given back where
** those were waited for. Otherwise they are anywhere, and it is where the loads' region ends. */
static bool goes_around(const GpGroup *g) {
    return g->region->owner && g->first->parent == g->region && g->last->parent == g->region;
}

static bool make_groups(GpEmit *e, GpPipe *p) {
    Readers r = {p, GP_NEW_ARRAY(e->arena, Reader, p->feeds.count + 1)};
    gp_ir_walk(e->fn, GpWalk_Before, note_readers, &r);
    p->groups = GP_NEW_ARRAY(e->arena, GpGroup, p->feeds.count + 1);
    for (uint32_t i = 0; i < p->feeds.count; i++) {
        GpFeed *f = &p->feeds.at[i];
        if (f->is_read)
            r.of[i] = (Reader){f->load, gp_pipe_last_work(e, f->load)};
        if (!r.of[i].first)
            return false; /* dead code, which passes remove */
        GpGroup *g = find_group(p, f->load->parent, &r.of[i]);
        f->group = g;
        g->is_read = f->is_read;
        f->offset = g->bytes;
        g->bytes += gp_feed_bytes(f);
        g->copied += gp_feed_copied(f);
        g->opener = g->opener ? g->opener : f->load;
        if (g->closer)
            feed_of(p, g->closer)->beside = f;
        g->closer = f->load;
    }
    return true;
}

static bool is_alike(const GpPipe *p, const GpGroup *a, const GpGroup *b) {
    const GpFeed *f = feed_of(p, a->opener), *h = feed_of(p, b->opener);
    for (; f && h; f = f->beside, h = h->beside)
        if (f->load->operands[0] != h->load->operands[0] ||
            !gp_shape_eq(gp_tile_shape(f->load), gp_tile_shape(h->load)))
            return false;
    return !f && !h;
}

/* Of a load and another instruction of its region: values are numbered in the order of the program. */
static bool is_behind(const GpInst *load, const GpInst *y) {
    while (y && !y->result_count)
        y = y->prev;
    return !y || load->results[0]->id > y->results[0]->id;
}

/* Whether the region stands between the group's first load and its last product. */
static bool is_amid(const GpGroup *g, const GpRegion *r) {
    while (r->owner && r->owner->parent != g->region)
        r = r->owner->parent;
    for (const GpInst *x = g->opener; r->owner && x != g->last->next; x = x->next)
        if (x == r->owner)
            return true;
    return false;
}

/* Where a region ends nothing of it is in use, so that what goes into a ring first comes out first when
** groups of different regions share it. So it does where one is loaded behind the products of another of
** the same tiles, which are waited for there. Not so what is loaded and read while the other is in use. */
static bool shares_ring(const GpPipe *p, const GpGroup *o, const GpGroup *g, bool is_same) {
    bool is_apart = o->region != g->region;
    if (!is_alike(p, o, g) && (is_same || !is_apart || o->bytes != g->bytes))
        return false;
    return (is_apart || is_behind(g->opener, o->last)) && !is_amid(o, g->region) && !is_amid(g, o->region);
}

/* Of the same tiles, or else of as many bytes. */
static GpChannel *find_ring(GpPipe *p, const GpGroup *g, bool is_same) {
    for (uint32_t i = 0; i < p->channel_count; i++) {
        bool fits = p->channels[i].is_ring && p->channels[i].is_read == g->is_read;
        for (const GpGroup *o = p->groups; o < g && fits; o++)
            if (o->channel == &p->channels[i])
                fits = shares_ring(p, o, g, is_same);
        if (fits)
            return &p->channels[i];
    }
    return NULL;
}

static GpChannel *find_channel(GpPipe *p, const GpGroup *g) {
    GpChannel *ring = goes_around(g) ? find_ring(p, g, true) : NULL;
    if (!ring && goes_around(g))
        ring = find_ring(p, g, false);
    if (ring)
        return ring;
    GpChannel *c = &p->channels[p->channel_count++];
    *c = (GpChannel){.is_ring = goes_around(g), .is_read = g->is_read, .stage_bytes = g->bytes};
    return c;
}

static bool make_channels(GpEmit *e, GpPipe *p) {
    if (!make_groups(e, p))
        return false;
    p->channels = GP_NEW_ARRAY(e->arena, GpChannel, p->group_count + 1);
    for (uint32_t i = 0; i < p->group_count; i++)
        p->groups[i].channel = find_channel(p, &p->groups[i]);
    return true;
}

/* Whether a channel has the stages of the rings. Without `has_reads` what threads read has one. */
static bool has_stages(const GpChannel *c, bool has_reads) { return c->is_ring && (has_reads || !c->is_read); }

/* Shared memory but for the stores'. */
typedef struct Room {
    uint64_t fixed, ring; /* a stage of all rings */
} Room;

static Room measure(const GpPipe *p, bool has_reads) {
    uint64_t fetch = p->fetch.load ? GP_PIPE_MOST_WARPGROUPS * GP_PIPE_FETCH_BARRIER : 0;
    Room r = {p->exchange_room + fetch, 0};
    for (uint32_t i = 0; i < p->channel_count; i++) {
        const GpChannel *c = &p->channels[i];
        *(has_stages(c, has_reads) ? &r.ring : &r.fixed) += c->stage_bytes + GP_PIPE_BARRIERS;
    }
    return r;
}

static void place(GpPipe *p, uint32_t stages, bool has_reads) {
    uint64_t at = p->staging_bytes;
    p->staging = 0;
    for (uint32_t i = 0; i < p->channel_count; i++) {
        GpChannel *c = &p->channels[i];
        c->stages = has_stages(c, has_reads) ? stages : 1;
        c->offset = at;
        at += c->stages * c->stage_bytes;
    }
    for (uint32_t i = 0; i < p->channel_count; i++) {
        p->channels[i].barriers = at;
        at += (uint64_t)p->channels[i].stages * GP_PIPE_BARRIERS;
    }
    p->fetch.barriers = at;
    at += p->fetch.load ? GP_PIPE_MOST_WARPGROUPS * GP_PIPE_FETCH_BARRIER : 0;
    p->exchange_at = p->shared_bytes = at;
}

/* As many stages as fit beside `staging` bytes; rings share alike. */
static GpUnpiped place_channels(const GpEmit *e, GpPipe *p, uint64_t staging, uint32_t most, bool has_reads) {
    Room r = measure(p, has_reads);
    uint64_t room = gp_target_shared(e->target), fixed = r.fixed + staging;
    if (!r.ring)
        return GpUnpiped_Loop;
    uint64_t stages = fixed < room ? (room - fixed) / r.ring : 0;
    if (GP_MIN(stages, most) < LEAST_STAGES)
        return GpUnpiped_Shared;
    p->staging_bytes = staging;
    place(p, (uint32_t)GP_MIN(stages, most), has_reads);
    return GpUnpiped_None;
}

/* ---- Stores ------------------------------------------------------------------------------ */

typedef struct Stores {
    GpEmit *e;
    GpPipe *pipe;
    const GpInst *store; /* whose tensor is looked for */
    bool is_behind;      /* it was met */
    uint32_t loads, others;
} Stores;

static void count_accesses(GpInst *inst, void *ud) {
    Stores *s = ud;
    s->is_behind |= inst == s->store;
    for (uint32_t i = 0; i < inst->operand_count; i++) {
        const GpValue *v = inst->operands[i];
        bool is_same = v->type->kind == GpIrType_Tensor && gp_ir_may_alias(s->e->fn, v, s->store->operands[0]);
        if (!is_same || inst->op == GpOp_Dim || inst->op == GpOp_Window || inst == s->store)
            continue;
        bool is_load = inst->op == GpOp_LoadTile && !s->is_behind;
        s->loads += is_load;
        s->others += !is_load;
    }
}

/* Copies from shared memory keep no order among themselves or with other accesses. So nothing but loads of
** the tensor comes before the store, and nothing behind it. Made again, it waits for its last copies. */
static bool is_alone(Stores *s, const GpInst *store, GpPipeStore *out) {
    s->store = store;
    s->is_behind = false;
    s->loads = s->others = 0;
    gp_ir_walk(s->e->fn, GpWalk_Before, count_accesses, s);
    out->is_repeated = store->parent->owner != NULL;
    out->is_loaded = s->loads > 0;
    return !s->others && !(out->is_repeated && out->is_loaded);
}

/* False: an axis before the last two has more than one element. */
static bool matrix_of(const GpShape *shape, GpShape *matrix) {
    for (int a = 0; a + 2 < shape->rank; a++)
        if (shape->dim[a] != 1)
            return false;
    *matrix = (GpShape){.rank = 2};
    for (int a = 0; a < 2 && shape->rank >= 2; a++)
        matrix->dim[a] = shape->dim[shape->rank - 2 + a];
    return shape->rank >= 2;
}

/* The widest swizzle whose panels make up lines of so many bytes; 0: none does. */
static uint32_t panel_of(uint64_t line_bytes) {
    for (uint32_t bytes = GP_FEED_LINE_BYTES; bytes > GP_FEED_CHUNK_BYTES; bytes /= 2)
        if (line_bytes % bytes == 0)
            return bytes;
    return 0;
}

static bool can_leave(Stores *s, const GpInst *inst, GpPipeStore *out) {
    const GpValue *v = inst->operands[1];
    const GpShape *shape = &v->type->shape;
    GpPipeTensor t;
    int a[2];
    if (inst->part || !gp_pipe_tensor(s->e, inst, &t) || !t.param->is_unique || gp_elem_info[v->type->elem].bits != 16 ||
        !gp_feed_axes(shape, a) || a[1] != shape->rank - 1)
        return false;
    while (v->inst && v->inst->op == GpOp_Reshape && gp_feed_drops_units(v->inst))
        v = v->inst->operands[0];
    *out = (GpPipeStore){.inst = inst, .value = v, .row_axis = shape->rank - 1 - a[0]};
    if (!is_alone(s, inst, out) || !matrix_of(&v->type->shape, &out->matrix))
        return false;
    out->panel_bytes = panel_of((uint64_t)out->matrix.dim[1] * 2);
    return out->panel_bytes && out->matrix.dim[0] % gp_pipe_rows(s->pipe) == 0;
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
    gp_ir_walk(e->fn, GpWalk_Before, count_stores, &count);
    p->stores = GP_NEW_ARRAY(e->arena, GpPipeStore, count + 1);
    gp_ir_walk(e->fn, GpWalk_Before, add_store, &s);
    for (uint32_t i = 0; i < p->store_count; i++) {
        const GpShape *matrix = &p->stores[i].matrix;
        most = GP_MAX(most, (uint64_t)(matrix->dim[0] * matrix->dim[1]) * 2);
    }
    return most;
}

/* A third stage is worth more than room for all of a tile that leaves, if half of it has some: what is written then
** waits once for copies. What is copied ahead has to be there whole. */
static uint64_t room_of_stores(const GpEmit *e, const GpPipe *p, uint64_t whole, uint32_t most) {
    Room r = measure(p, true);
    uint64_t panel = GP_FEED_CHUNK_BYTES;
    for (uint32_t i = 0; i < p->store_count; i++)
        panel = GP_MAX(panel, p->stores[i].panel_bytes);
    uint64_t unit = GP_PIPE_BLOCK_ROWS * panel * p->warpgroups;
    uint64_t used = r.fixed + r.ring * GP_MIN(most, GOOD_STAGES), all = gp_target_shared(e->target);
    uint64_t left = used < all ? (all - used) / unit * unit : 0;
    return p->fetch.load || 2 * left < whole ? whole : GP_MIN(left, whole);
}

/* Stores go without staging where it would leave less than two stages, and what threads read with one where it must. */
GpUnpiped gp_pipe_place_channels(GpEmit *e, GpPipe *p) {
    if (!make_channels(e, p))
        return GpUnpiped_Reader;
    uint32_t asked = e->fn->schedule.stages, most = asked ? asked : GP_PIPE_MOST_STAGES;
    uint64_t staging = find_stores(e, p);
    gp_pipe_find_fetch(e, p);
    if (staging && place_channels(e, p, room_of_stores(e, p, staging, most), most, true) == GpUnpiped_None)
        return GpUnpiped_None;
    p->store_count = 0;
    p->fetch.load = NULL;
    GpUnpiped why = place_channels(e, p, 0, most, true);
    return why == GpUnpiped_Shared && p->has_reads ? place_channels(e, p, 0, most, false) : why;
}
