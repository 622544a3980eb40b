/* Which loads come through shared memory, and how their tiles lie there. */
#include "codegen/feed.h"

bool gp_feed_axes(const GpShape *shape, int axis[2]) {
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

bool gp_feed_drops_units(const GpInst *reshape) {
    const GpShape *from = &reshape->operands[0]->type->shape;
    const GpShape *to = &reshape->results[0]->type->shape;
    int a[2], b[2];
    return gp_feed_axes(from, a) && gp_feed_axes(to, b) && from->dim[a[0]] == to->dim[b[0]] &&
           from->dim[a[1]] == to->dim[b[1]];
}

static bool is_swap(const GpInst *permute) {
    int a[2];
    (void)gp_feed_axes(&permute->results[0]->type->shape, a);
    return permute->perm.axis[a[0]] > permute->perm.axis[a[1]];
}

static bool is_view_op(const GpInst *inst) {
    int a[2];
    if (inst->op == GpOp_Reshape)
        return gp_feed_drops_units(inst);
    return inst->op == GpOp_Permute && gp_feed_axes(&inst->results[0]->type->shape, a);
}

const GpInst *gp_feed_origin(const GpValue *v, bool *is_swapped) {
    *is_swapped = false;
    while (v->inst && is_view_op(v->inst)) {
        *is_swapped ^= v->inst->op == GpOp_Permute && is_swap(v->inst);
        v = v->inst->operands[0];
    }
    return v->inst;
}

bool gp_feed_view(const GpFeeds *f, const GpValue *v, GpFeedView *out) {
    const GpInst *origin = gp_feed_origin(v, &out->is_swapped);
    out->feed = origin ? gp_map_get(&f->of, origin) : NULL;
    return out->feed && !out->feed->is_read;
}

bool gp_feed_set_panels(GpFeed *f, const GpIrType *type) {
    const GpShape *shape = &type->shape;
    uint32_t elem_bytes = gp_elem_info[type->elem].bytes;
    int a[2];
    if (!gp_feed_axes(shape, a) || a[1] != shape->rank - 1 || shape->dim[a[0]] % 8)
        return false;
    f->lines = (uint32_t)shape->dim[a[0]];
    f->width = (uint32_t)shape->dim[a[1]];
    f->panel_bytes = GP_FEED_LINE_BYTES;
    while (f->panel_bytes > GP_FEED_CHUNK_BYTES && f->width * elem_bytes % f->panel_bytes)
        f->panel_bytes /= 2;
    f->panels = f->width * elem_bytes / f->panel_bytes;
    return f->panel_bytes > GP_FEED_CHUNK_BYTES;
}

uint64_t gp_feed_copied(const GpFeed *f) { return (uint64_t)f->lines * f->panel_bytes * f->panels; }

uint64_t gp_feed_bytes(const GpFeed *f) { return gp_align_up(gp_feed_copied(f), GP_FEED_ALIGN); }

const GpIrParam *gp_feed_tensor(const GpEmit *e, const GpInst *load) {
    const GpValue *tensor = load->operands[0];
    return tensor->inst || tensor->region != e->fn->body ? NULL : &e->fn->params[tensor->index];
}

typedef struct Search {
    GpEmit *e;
    GpFeeds *feeds;
    uint32_t loads;
    bool (*fits)(const GpEmit *e, const GpInst *load, GpFeed *out);
    bool (*reads)(const GpFeed *f, const void *ud);
    const void *ud;
    GpMap operands, others; /* feeds that products read; that anything else does */
} Search;

static void count_load(GpInst *inst, void *ud) {
    Search *s = ud;
    s->loads += inst->op == GpOp_LoadTile;
}

static void add_feed(GpInst *inst, void *ud) {
    Search *s = ud;
    GpFeed *f = &s->feeds->at[s->feeds->count];
    *f = (GpFeed){.load = inst};
    if (inst->op != GpOp_LoadTile || !s->fits(s->e, inst, f))
        return;
    gp_map_set(s->e->arena, &s->feeds->of, inst, f);
    s->feeds->count++;
}

static void note_readers(GpInst *inst, void *ud) {
    Search *s = ud;
    GpFeedView view;
    if (is_view_op(inst))
        return;
    for (uint32_t i = 0; i < inst->operand_count; i++) {
        bool is_operand = inst->op == GpOp_Mma && i < 2;
        if (gp_ir_is_tile(inst->operands[i]) && gp_feed_view(s->feeds, inst->operands[i], &view))
            gp_map_set(s->e->arena, is_operand ? &s->operands : &s->others, view.feed->load, view.feed);
    }
}

static bool is_kept(const Search *s, GpFeed *f) {
    bool is_operand = gp_map_has(&s->operands, f->load), is_other = gp_map_has(&s->others, f->load);
    f->is_read = is_other && !is_operand && s->reads && s->reads(f, s->ud);
    return !is_other || f->is_read;
}

void gp_feeds_find(GpEmit *e, GpFeeds *f, bool (*fits)(const GpEmit *e, const GpInst *load, GpFeed *out),
                   bool (*reads)(const GpFeed *f, const void *ud), const void *ud) {
    Search s = {.e = e, .feeds = f, .fits = fits, .reads = reads, .ud = ud};
    gp_ir_walk(e->fn, GpWalk_Before, count_load, &s);
    f->at = GP_NEW_ARRAY(e->arena, GpFeed, s.loads + 1);
    gp_ir_walk(e->fn, GpWalk_Before, add_feed, &s);
    gp_ir_walk(e->fn, GpWalk_Before, note_readers, &s);
    uint32_t kept = 0;
    for (uint32_t i = 0; i < f->count; i++) {
        if (!is_kept(&s, &f->at[i])) {
            gp_map_set(e->arena, &f->of, f->at[i].load, NULL);
            continue;
        }
        f->at[kept] = f->at[i];
        gp_map_set(e->arena, &f->of, f->at[kept].load, &f->at[kept]);
        kept++;
    }
    f->count = kept;
}
