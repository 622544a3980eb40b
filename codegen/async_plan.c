/* Whether a kernel's operands come by cp.async, and how their tiles share shared memory. */
#include "codegen/async.h"
#include "codegen/emit_tile_gpu.h"
#include "codegen/fragment.h"

enum {
    LEAST_STAGES = 2,
    USUAL_STAGES = 3,
    MOST_STAGES = 4,
    LEAST_WARPS = 4,
    MOST_WARPS = 16,
    MOST_SUMS = 128,  /* registers of a thread that hold sums */
    MOST_LINE = 1024 /* bytes of a tile's line */
};

/* By element coordinates a tile begins anywhere, and so does one whose lines have no whole chunks. */
static bool starts_on_chunk(const GpInst *load) {
    const GpIrType *type = load->results[0]->type;
    int64_t width = gp_tile_extents(load)->dim[type->shape.rank - 1];
    return !load->by_element && width * gp_elem_info[type->elem].bytes % GP_FEED_CHUNK_BYTES == 0;
}

/* Rows of chunks that threads copy must be whole: see emit_async.c. */
static bool can_feed(const GpEmit *e, const GpInst *load, GpFeed *out) {
    const GpIrParam *p = gp_feed_tensor(e, load);
    return p && !p->is_written && load->imm.u == 0 && gp_feed_set_panels(out, load->results[0]->type) && starts_on_chunk(load) &&
           out->panel_bytes * out->panels <= MOST_LINE;
}

/* ---- Products ---------------------------------------------------------------------------- */

typedef struct Survey {
    GpEmit *e;
    GpAsync *async;
    uint32_t products, loops;
    bool is_fit, has_words; /* all products; some operand comes from registers */
    int64_t rows, columns;  /* of the largest product */
    int64_t most_sums, most_words; /* of products beside each other; of the largest tile */
    int64_t most_second;           /* words of a second operand that is computed, on its way to shared memory */
} Survey;

/* Sums of products that stand beside each other are alive together. */
static int64_t sums_beside(const GpInst *mma) {
    int64_t sum = 0;
    for (const GpInst *x = mma->parent->first; x; x = x->next)
        sum += x->op == GpOp_Mma ? gp_ir_numel(x->results[0]->type) : 0;
    return sum;
}

static int64_t second_words(const GpInst *mma) {
    const GpValue *v = mma->operands[1];
    while (v->inst && gp_tile_moves(v->inst->op))
        v = v->inst->operands[0];
    bool is_loaded = v->inst && v->inst->op == GpOp_LoadTile;
    return is_loaded ? 0 : gp_ir_numel(v->type);
}

static void survey_product(Survey *s, const GpInst *mma) {
    const GpShape *to = &mma->results[0]->type->shape;
    bool has_words = false;
    s->products++;
    s->is_fit = s->is_fit && gp_mma_sync_fits(s->async, mma, &has_words);
    s->has_words |= has_words;
    if (s->is_fit && to->dim[0] * to->dim[1] > s->rows * s->columns) {
        s->rows = to->dim[0];
        s->columns = to->dim[1];
    }
    s->most_sums = GP_MAX(s->most_sums, sums_beside(mma));
    s->most_second = GP_MAX(s->most_second, second_words(mma));
}

static void survey_inst(GpInst *inst, void *ud) {
    Survey *s = ud;
    GpFeedView view;
    s->loops += inst->op == GpOp_For;
    if (inst->op == GpOp_Mma)
        survey_product(s, inst);
    for (uint32_t i = 0; i < inst->result_count; i++) {
        const GpIrType *type = inst->results[i]->type;
        if (type->kind == GpIrType_Tile && !gp_feed_view(&s->async->feeds, inst->results[i], &view))
            s->most_words = GP_MAX(s->most_words, gp_ir_numel(type) * GP_MAX(gp_elem_info[type->elem].bytes, 4) / 4);
    }
}

/* Warps beside each other so that a warp's part is as square as it can be: it reads least then. A
** product whose operand comes from registers has whole rows in a warp. */
static uint32_t fit_across(const Survey *s, uint32_t warps) {
    uint32_t best = 1;
    int64_t least = INT64_MAX;
    for (uint32_t across = 1; across <= (s->has_words ? 1 : warps); across *= 2) {
        int64_t down = warps / across;
        int64_t edge = GP_MAX(s->rows / down, (int64_t)GP_FRAGMENT_ROWS) +
                       GP_MAX(s->columns / across, (int64_t)GP_FRAGMENT_ROWS);
        if (edge < least) {
            least = edge;
            best = across;
        }
    }
    return best;
}

/* As many warps as the sums need, and what is computed beside them. With sixteen a thread has half of the registers:
** those are for sums alone. */
static bool fit_warps(const GpEmit *e, const Survey *s) {
    uint32_t asked = e->fn->schedule.warps, warps = LEAST_WARPS;
    while (asked ? warps * 2 <= asked : s->most_sums > (int64_t)MOST_SUMS * warps * GP_GPU_LANES)
        warps *= 2;
    if (!asked && warps < MOST_WARPS / 2 && s->most_sums + s->most_second > (int64_t)MOST_SUMS * warps * 32)
        warps = MOST_WARPS / 2;
    while (asked && warps > asked)
        warps /= 2;
    uint32_t most = warps >= MOST_WARPS ? MOST_SUMS / 2 : MOST_SUMS;
    s->async->threads = warps * GP_GPU_LANES;
    s->async->across = fit_across(s, warps);
    return warps <= MOST_WARPS && s->most_sums <= (int64_t)most * s->async->threads &&
           s->most_words <= (int64_t)most * s->async->threads;
}

/* ---- Loops ------------------------------------------------------------------------------- */

typedef struct Slice {
    GpEmit *e;
    GpAsyncLoop *loop;
    GpMap known; /* instruction of the body -> itself where is_known; NULL where not */
} Slice;

/* Scalars, and tiles of one element: places of tiles may be read from a tensor, as those of a page table are. */
static bool can_compute(const Slice *s, const GpInst *inst, const GpIrType *type) {
    if (inst->region_count || gp_ir_numel(type) != 1)
        return false;
    if (inst->op == GpOp_LoadTile) {
        const GpIrParam *p = gp_feed_tensor(s->e, inst);
        return p && !p->is_written;
    }
    return gp_ir_effect(inst) == GpEffect_Pure || inst->op == GpOp_CheckIndex;
}

/* Whether a later turn's value is made of the loop's index there and of what stands before the loop.
** The loads stand in the body itself: what is in no region of it stands outside. */
static bool is_known(Slice *s, const GpValue *v) {
    const GpRegion *body = s->loop->loop->regions[0];
    const GpInst *inst = v->inst;
    if (!inst && v->region == body)
        return v->index == 0;
    if (!inst || inst->parent != body || v->type->kind == GpIrType_Tensor)
        return true;
    if (gp_map_has(&s->known, inst))
        return gp_map_get(&s->known, inst) != NULL;
    bool is_fit = can_compute(s, inst, v->type);
    for (uint32_t i = 0; i < inst->operand_count && is_fit; i++)
        is_fit = is_known(s, inst->operands[i]);
    gp_map_set(s->e->arena, &s->known, inst, is_fit ? (void *)(uintptr_t)inst : NULL);
    return is_fit;
}

static void mark_inst(Slice *s, const GpInst *inst) {
    if (inst->parent != s->loop->loop->regions[0] || gp_map_has(&s->loop->slice, inst))
        return;
    gp_map_set(s->e->arena, &s->loop->slice, inst, NULL);
    for (uint32_t i = 0; i < inst->operand_count; i++)
        if (inst->operands[i]->inst)
            mark_inst(s, inst->operands[i]->inst);
}

static bool mark_load(Slice *s, const GpInst *load) {
    for (uint32_t i = 1; i < load->operand_count; i++)
        if (!is_known(s, load->operands[i]))
            return false;
    mark_inst(s, load);
    return true;
}

/* The body's first product, where every turn comes to it: what has regions may jump. */
static const GpInst *find_product(const GpRegion *body) {
    const GpInst *x = body->first;
    while (x && x->op != GpOp_Mma && (!x->region_count || gp_op_is_whole(x->op)))
        x = x->next;
    return x && x->op == GpOp_Mma ? x : NULL;
}

static void add_loop(GpInst *inst, void *ud) {
    Survey *s = ud;
    GpAsync *a = s->async;
    if (inst->op != GpOp_For)
        return;
    GpAsyncLoop *l = &a->loops[a->loop_count];
    *l = (GpAsyncLoop){.loop = inst};
    Slice slice = {.e = s->e, .loop = l};
    for (uint32_t i = 0; i < a->feeds.count; i++) {
        GpFeed *f = &a->feeds.at[i];
        if (f->load->parent != inst->regions[0] || !mark_load(&slice, f->load))
            continue;
        f->loop = l;
        f->offset = l->stage_bytes;
        l->stage_bytes += gp_feed_bytes(f);
    }
    l->product = find_product(inst->regions[0]);
    a->loop_count += l->stage_bytes > 0;
}

GpAsyncLoop *gp_async_loop(const GpEmit *e, const GpRegion *r) {
    for (; r && r->owner; r = r->owner->parent)
        for (uint32_t i = 0; i < e->async->loop_count; i++)
            if (e->async->loops[i].loop == r->owner)
                return &e->async->loops[i];
    return NULL;
}

/* ---- Shared memory ----------------------------------------------------------------------- */

/* Single tiles, then rings: a loop's behind that of the loop around it. Where all ends. */
static uint64_t place_rings(GpEmit *e, uint32_t stages) {
    GpAsync *a = e->async;
    uint64_t singles = 0, end;
    for (uint32_t i = 0; i < a->feeds.count; i++) {
        if (a->feeds.at[i].loop)
            continue;
        a->feeds.at[i].offset = singles;
        singles += gp_feed_bytes(&a->feeds.at[i]);
    }
    end = singles;
    for (uint32_t i = 0; i < a->loop_count; i++) {
        GpAsyncLoop *l = &a->loops[i];
        const GpAsyncLoop *outer = gp_async_loop(e, l->loop->parent);
        l->offset = outer ? outer->offset + stages * outer->stage_bytes : singles;
        end = GP_MAX(end, l->offset + stages * l->stage_bytes);
    }
    a->stages = stages;
    a->room_at[GpAsyncRoom_Outside] = singles;
    a->room_at[GpAsyncRoom_Inside] = end;
    return end;
}

static bool fit_stages(GpEmit *e) {
    uint32_t asked = e->fn->schedule.stages;
    uint32_t stages = asked ? GP_MIN(asked, (uint32_t)MOST_STAGES) : USUAL_STAGES;
    uint64_t most = gp_target_shared(e->target);
    while (stages >= LEAST_STAGES && place_rings(e, stages) + e->async->exchange_room > most)
        stages--;
    return stages >= LEAST_STAGES;
}

void gp_async_plan(GpEmit *e) {
    if (!e->is_tile || e->target->kind != GpTarget_Nvptx || e->fn->schedule.stages == 1)
        return;
    GpAsync *a = GP_NEW(e->arena, GpAsync);
    Survey s = {.e = e, .async = a, .is_fit = true};
    a->exchange_room = e->exchange_room;
    gp_feeds_find(e, &a->feeds, can_feed, NULL, NULL);
    gp_ir_walk(e->fn, GpWalk_Before, survey_inst, &s);
    if (!s.is_fit || !s.products || !fit_warps(e, &s))
        return;
    a->loops = GP_NEW_ARRAY(e->arena, GpAsyncLoop, s.loops + 1);
    gp_ir_walk(e->fn, GpWalk_Before, add_loop, &s);
    e->async = a;
    if (!a->loop_count || !fit_stages(e))
        e->async = NULL;
}

uint64_t gp_async_shared(const GpEmit *e) {
    const GpAsync *a = e->async;
    uint64_t bytes = a->room_at[GpAsyncRoom_Inside];
    for (int i = 0; i < GpAsyncRoom_count; i++)
        bytes = GP_MAX(bytes, a->room_at[i] + a->room_bytes[i]);
    return bytes;
}
