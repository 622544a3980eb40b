/* What a warp-specialised kernel keeps in registers: sums, operands that it makes, and first operands that
** are loaded once.
**
** Products with a first operand in registers read shared memory less: 4 KiB in place of 6 KiB for 64 x 128 sums
** and 16 elements of depth. Attention on one H200: with d = 64 1.04 times as fast, with a soft cap 1.06 times. */
#include "codegen/pipe.h"

/* By number of consumer warpgroups. Together the roles have no more than the block was launched with:
** the register file divided by its threads is 168 with three warpgroups, 128 with four and 96 with five. */
static const GpPipeRegisters registers[GP_PIPE_MOST_WARPGROUPS + 1] = {
    [1] = {.sums = 208, .operands = 200},
    [2] = {.producer = 40, .consumer = 232, .sums = 208, .operands = 200},
    [3] = {.producer = 32, .consumer = 160, .sums = 96, .operands = 128},
    [4] = {.producer = 32, .consumer = 112, .sums = 64, .operands = 80},
};

const GpPipeRegisters *gp_pipe_registers(const GpPipe *p) { return &registers[p->warpgroups]; }

int64_t gp_pipe_words(const GpPipe *p, const GpIrType *t) {
    return gp_ir_numel(t) * gp_elem_info[t->elem].bits / 32 / gp_pipe_tile_threads(p);
}

/* ---- Sums -------------------------------------------------------------------------------- */

typedef struct Sums {
    const GpPipe *pipe;
    const GpRegion *counted; /* last */
    int64_t most;
} Sums;

/* Whether the product adds to what another one beside it leaves to it alone: then it has its registers. */
static bool takes_over(const GpPipe *p, const GpInst *mma) {
    const GpValue *v = mma->operands[2];
    while (v->inst && v->inst->parent == mma->parent && p->uses[v->id] == 1) {
        if (v->inst->op == GpOp_Mma)
            return true;
        if (!gp_sig_info[gp_op_info[v->inst->op].sig].elementwise || !v->inst->operand_count)
            return false;
        v = v->inst->operands[0];
    }
    return false;
}

enum { LEAST_COLUMNS = 64 }; /* of a part: with fewer, reading the first operand again takes longest */

/* Registers of the products of a region, whose sums are alive together: what they leave, and beside it
** the sums that are to be added to accumulators. */
typedef struct Need {
    int64_t kept, added;
} Need;

static Need need_of(const GpPipe *p, const GpRegion *r) {
    Need need = {0, 0};
    for (const GpInst *x = r->first; x; x = x->next) {
        if (x->op != GpOp_Mma || takes_over(p, x))
            continue;
        int64_t words = gp_pipe_words(p, x->results[0]->type);
        need.kept += words;
        need.added += gp_wgmma_promotes(x) ? words : 0;
    }
    return need;
}

static int64_t part_words(GpPipePart part) { return (int64_t)part.blocks * part.columns / 2; }

/* The sums that are added have registers of their own. Where not all of those of a region fit, a part of
** one product's does, the largest that there is room for: larger tiles are loaded less often (tf32 of
** 128 x 256 takes 0.75 of the time of 128 x 128 on one H200, and its products read as many bytes). */
static GpPipePart part_of(const GpPipe *p, const GpInst *mma, Need need) {
    const GpShape *to = &mma->results[0]->type->shape;
    uint32_t blocks = (uint32_t)to->dim[0] / gp_pipe_rows(p), n = (uint32_t)to->dim[1];
    GpPipePart part = {.blocks = blocks, .columns = n};
    int64_t room = gp_pipe_registers(p)->sums - need.kept;
    if (!gp_wgmma_promotes(mma) || need.added <= room)
        return part;
    part.is_alone = true;
    while (part.blocks > 1 && part_words(part) > room)
        for (part.blocks--; blocks % part.blocks;)
            part.blocks--;
    for (uint32_t pieces = 2; part_words(part) > room && n / pieces >= LEAST_COLUMNS; pieces++)
        if (n / 8 % pieces == 0)
            part.columns = n / pieces;
    return part;
}

GpPipePart gp_pipe_part(const GpPipe *p, const GpInst *mma) { return part_of(p, mma, need_of(p, mma->parent)); }

/* With the parts of a product that are issued alone. */
static int64_t sums_of(const GpPipe *p, const GpRegion *r) {
    Need need = need_of(p, r);
    int64_t alone = 0;
    for (const GpInst *x = r->first; x; x = x->next) {
        if (x->op != GpOp_Mma)
            continue;
        GpPipePart part = part_of(p, x, need);
        alone = GP_MAX(alone, part.is_alone ? part_words(part) : 0);
    }
    return need.kept + (alone ? alone : need.added);
}

static void count_sums(GpInst *inst, void *ud) {
    Sums *s = ud;
    if (inst->op != GpOp_Mma || inst->parent == s->counted)
        return;
    s->counted = inst->parent;
    s->most = GP_MAX(s->most, sums_of(s->pipe, inst->parent));
}

bool gp_pipe_fits_sums(const GpEmit *e, const GpPipe *p) {
    Sums s = {.pipe = p};
    gp_ir_walk(e->fn, GpWalk_Before, count_sums, &s);
    return s.most <= gp_pipe_registers(p)->sums;
}

/* ---- First operands that are loaded once ------------------------------------------------- */

typedef struct Readers {
    GpPipe *pipe;
    GpFeed *feed;
    bool is_fit, is_met;
} Readers;

static void check_reader(GpInst *inst, void *ud) {
    Readers *r = ud;
    const GpWgmmaRow *a, *b;
    GpFeedView view;
    for (uint32_t i = 0; i < 2 && inst->op == GpOp_Mma; i++) {
        if (!gp_feed_view(&r->pipe->feeds, inst->operands[i], &view) || view.feed != r->feed)
            continue;
        bool is_same = !r->is_met || r->feed->is_swapped == view.is_swapped;
        r->is_fit &= i == 0 && is_same && gp_wgmma_find(inst, &a, &b) && a->has_transpose;
        r->feed->is_swapped = view.is_swapped;
        r->is_met = true;
    }
}

/* Of the products that stand beside each other: those in registers. */
static int64_t operands_of(const GpPipe *p, const GpRegion *r) {
    GpFeedView view;
    int64_t sum = 0;
    for (const GpInst *x = r->first; x; x = x->next) {
        bool is_made = x->op == GpOp_Mma && !gp_feed_view(&p->feeds, x->operands[0], &view);
        if (x->op == GpOp_Mma && (is_made || view.feed->group->channel->is_held))
            sum += gp_pipe_words(p, x->operands[0]->type);
    }
    return sum;
}

typedef struct Room {
    const GpEmit *e;
    GpPipe *pipe;
    const GpPipeLife *life;
    const GpPipeLife *held; /* the candidate */
    bool is_enough;
} Room;

static bool is_read(const GpPipe *p, const GpInst *inst) {
    const GpFeed *f = gp_map_get(&p->feeds.of, inst);
    return f && f->is_read;
}

/* Whether it fits beside what is alive where products are issued, or tiles read, while it is held. Those of a region may be
** under way together. */
static void check_room(GpInst *inst, void *ud) {
    Room *r = ud;
    bool is_product = inst->op == GpOp_Mma;
    if (!is_product && !is_read(r->pipe, inst))
        return;
    uint32_t at = r->life[inst->results[0]->id].first;
    if (at <= r->held->first || at > r->held->last)
        return;
    int64_t operands = operands_of(r->pipe, inst->parent), beside = sums_of(r->pipe, inst->parent) + operands;
    int64_t added = !is_product ? operands : gp_wgmma_promotes(inst) ? part_words(gp_pipe_part(r->pipe, inst)) : 0;
    int64_t words = GP_MAX(beside, gp_pipe_alive(r->e, r->life, inst) + added);
    r->is_enough &= words + gp_pipe_words(r->pipe, r->held->value->type) <= gp_pipe_registers(r->pipe)->operands;
}

void gp_pipe_find_held(GpEmit *e, GpPipe *p) {
    GpPipeLife *life = gp_pipe_live(e, p);
    p->life = life;
    for (uint32_t i = 0; i < p->feeds.count; i++) {
        GpFeed *f = &p->feeds.at[i];
        GpPipeLife *held = &life[f->load->results[0]->id];
        Readers r = {.pipe = p, .feed = f, .is_fit = !f->group->channel->is_ring && f->group->opener == f->group->closer};
        gp_ir_walk(e->fn, GpWalk_Before, check_reader, &r);
        if (!r.is_fit)
            continue;
        Room room = {e, p, life, held, true};
        gp_ir_walk(e->fn, GpWalk_Before, check_room, &room);
        f->group->channel->is_held = room.is_enough;
        if (room.is_enough)
            held->words = gp_pipe_words(p, held->value->type);
    }
}
