/* The order in which blocks walk the grid, and whether they stay for all of it.
**
** Blocks that run at once should share what they load: consecutive ones are neighbours along the
** axes that the loads in loops depend on. With two such axes they go through groups of GROUP rows
** of the first, the second axis forth and back (the next group starts at what is still in the
** cache); with one, they go along another axis first. Where the loops' lengths depend on the block
** the longest come first, as far as the last block of an axis has the longest, and the hardware
** hands out blocks; otherwise each block stays and takes one tile after another. */
#include "codegen/emit_i32.h"
#include "codegen/pipe.h"

enum { GROUP = 16, UNEVEN_GROUP = 4, AXES = 3, SEEN = 0x80 };

typedef struct Dependence {
    const GpEmit *e;
    uint8_t *of; /* by value id: bit a, program_id[a] goes into it */
    bool has_turns; /* also into how often the loops ran that it comes out of */
} Dependence;

static uint8_t axes_of(Dependence *d, const GpValue *v);

/* A value that turns hand on, inside or behind the loop: its start, and what a turn makes of it. The
** number of a turn depends on nothing: the loops around a load are looked at by themselves. */
static uint8_t axes_of_carried(Dependence *d, const GpInst *loop, const GpValue *v) {
    if (!v->inst && v->index == 0)
        return 0;
    uint32_t k = v->inst ? v->index : v->index - 1;
    uint8_t axes = axes_of(d, gp_loop_starts(loop)[k]) |
                   axes_of(d, gp_ir_terminator(loop->regions[0])->operands[k]);
    for (uint32_t i = 0; i < gp_pipe_controls(loop) && v->inst && d->has_turns; i++)
        axes |= axes_of(d, loop->operands[i]);
    return axes;
}

static uint8_t axes_of_any(Dependence *d, const GpInst *inst) {
    uint8_t axes = 0;
    for (uint32_t i = 0; i < inst->operand_count; i++)
        axes |= axes_of(d, inst->operands[i]);
    for (uint32_t i = 0; i < inst->region_count && inst->op != GpOp_Reduce; i++) {
        const GpInst *end = gp_ir_terminator(inst->regions[i]);
        for (uint32_t k = 0; k < end->operand_count; k++)
            if (end->operands[k]->type->kind != GpIrType_Tile)
                axes |= axes_of(d, end->operands[k]);
    }
    return axes;
}

static uint8_t axes_of(Dependence *d, const GpValue *v) {
    if (d->of[v->id] & SEEN || v->type->kind == GpIrType_Tensor)
        return d->of[v->id] % SEEN;
    d->of[v->id] = SEEN;
    const GpInst *inst = v->inst ? v->inst : v->region->owner;
    uint8_t axes = 0;
    if (inst && inst->op == GpOp_ProgramId)
        axes = (uint8_t)(1u << inst->axis);
    else if (inst && inst->op == GpOp_For)
        axes = axes_of_carried(d, inst, v);
    else if (inst)
        axes = axes_of_any(d, inst);
    d->of[v->id] = axes | SEEN;
    return axes;
}

/* Axes that the scalars depend on among the instruction's first operands. Nothing is kept for the next
** one: of the values of a cycle only the one that was asked for is known in full. */
static uint8_t operand_axes(Dependence *d, const GpInst *inst, uint32_t count) {
    uint8_t axes = 0;
    memset(d->of, 0, d->e->fn->next_id);
    for (uint32_t k = 0; k < count; k++)
        if (inst->operands[k]->type->kind == GpIrType_Scalar)
            axes |= axes_of(d, inst->operands[k]);
    const GpInst *part = count ? inst->operands[0]->inst : NULL;
    return part && part->op == GpOp_Window ? axes | operand_axes(d, part, part->operand_count) : axes;
}

static uint8_t load_axes(Dependence *d, const GpInst *load) {
    return operand_axes(d, load, load->operand_count);
}

/* Axes that the loads of rings depend on, and that the loops around them do. For the walk the last turns
** of a loop are like the others, though their tiles lie where it ended. */
static void find_axes(Dependence *d, const GpPipe *p, uint8_t *loads, uint8_t *lengths) {
    *loads = *lengths = 0;
    for (uint32_t i = 0; i < p->feeds.count; i++) {
        const GpInst *load = p->feeds.at[i].load;
        if (!p->feeds.at[i].group->channel->is_ring)
            continue;
        d->has_turns = false;
        *loads |= load_axes(d, load);
        d->has_turns = true;
        for (const GpInst *o = load->parent->owner; o; o = o->parent->owner)
            *lengths |= operand_axes(d, o, gp_pipe_controls(o));
    }
}

/* ---- Clusters ---------------------------------------------------------------------------- */

typedef struct Repeat {
    const GpIrFn *fn;
    Dependence *d;
    bool is_fine;
    uint8_t loads; /* axes that they depend on, in loops or not */
} Repeat;

static bool reads_only(const Repeat *r, const GpInst *inst) {
    const GpIrParam *p = gp_ir_root_param(r->fn, inst->operands[0]);
    return p && !p->is_written;
}

/* May two blocks make the same tile? */
static void try_repeat(GpInst *inst, void *ud) {
    Repeat *r = ud;
    GpEffect effect = gp_ir_effect(inst);
    bool is_quiet = effect != GpEffect_Write && inst->op != GpOp_Print;
    r->is_fine &= inst->op == GpOp_StoreTile || is_quiet;
    r->is_fine &= effect != GpEffect_Read || reads_only(r, inst);
    if (inst->op == GpOp_LoadTile)
        r->loads |= load_axes(r->d, inst);
}

static bool can_share(Dependence *d, const GpFeed *f, uint8_t axis) {
    return f->group->channel->is_ring && !f->is_read && f->lines % (8 * GP_PIPE_CLUSTER) == 0 &&
           !(load_axes(d, f->load) >> axis & 1);
}

static uint64_t alike_bytes(Dependence *d, const GpPipe *p, uint8_t axis) {
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < p->feeds.count; i++)
        if (can_share(d, &p->feeds.at[i], axis))
            bytes += gp_feed_bytes(&p->feeds.at[i]);
    return bytes;
}

/* Copies of a whole line of the cache that begin within one take two. Where most of what is loaded is such, less goes
** through the cache in pairs (7000 x 7000 x 7000 on one H200: 455 TFLOP/s alone, 597 in pairs; 4096 x 4096, of which
** the first operand's rows alone begin within lines: 0.97 of whole lines alone, 0.95 in pairs). */
static bool splits_lines(const GpEmit *e, const GpPipe *p) {
    uint64_t all = 0, split = 0;
    for (uint32_t i = 0; i < p->feeds.count; i++) {
        const GpFeed *f = &p->feeds.at[i];
        uint32_t bytes = f->width * gp_elem_info[f->load->results[0]->type->elem].bytes;
        if (!f->group->channel->is_ring)
            continue;
        all += (uint64_t)f->lines * bytes;
        if (bytes >= GP_FEED_LINE_BYTES && gp_ir_root_param(e->fn, f->load->operands[0])->splits_lines)
            split += (uint64_t)f->lines * bytes;
    }
    return 2 * split > all;
}

static bool wants_cluster(const GpEmit *e, const GpPipe *p) {
    uint32_t asked = e->fn->schedule.cluster;
    return asked ? asked >= GP_PIPE_CLUSTER : splits_lines(e, p);
}

/* A cluster has tiles that are side by side on the axis on which most of the stages is the same, but
** not everything that is loaded. The loops around the rings must be as long for both. Where the grid is
** odd on the axis its last tile is both blocks': what a kernel reads it may not write then, and nothing
** but stores may show. */
static void find_cluster(GpEmit *e, GpPipe *p, Dependence *d, uint8_t lengths) {
    Repeat r = {e->fn, d, true, 0};
    uint64_t most = 0;
    p->cluster = 1;
    gp_ir_walk(e->fn, GpWalk_Before, try_repeat, &r);
    if (!wants_cluster(e, p) || !p->is_persistent || !r.is_fine || p->has_jump)
        return;
    for (uint8_t a = 0; a < (uint8_t)AXES; a++) {
        uint64_t bytes = (r.loads & ~lengths) >> a & 1 ? alike_bytes(d, p, a) : 0;
        if (bytes <= most)
            continue;
        most = bytes;
        p->cluster = GP_PIPE_CLUSTER;
        p->pair_axis = a;
    }
    for (uint32_t i = 0; i < p->feeds.count && most; i++) {
        p->feeds.at[i].is_shared = can_share(d, &p->feeds.at[i], p->pair_axis);
        p->feeds.at[i].group->channel->is_shared |= p->feeds.at[i].is_shared;
    }
}

/* ---- The walk ---------------------------------------------------------------------------- */

void gp_pipe_schedule(GpEmit *e, GpPipe *p) {
    uint8_t loads, lengths, persistent = e->fn->schedule.persistent;
    Dependence d = {e, GP_NEW_ARRAY(e->arena, uint8_t, e->fn->next_id), true};
    find_axes(&d, p, &loads, &lengths);
    GpWalkOrder *w = &p->order;
    uint8_t rest[AXES], deep[AXES];
    int rest_count = 0, deep_count = 0;
    for (uint8_t a = 0; a < (uint8_t)AXES; a++) {
        if (loads >> a & 1)
            deep[deep_count++] = a;
        else
            rest[rest_count++] = a;
    }
    bool is_two = deep_count >= 2;
    w->slow = deep_count == 3 ? deep[0] : rest[rest_count - 1];
    w->grouped = deep_count == 0 ? rest[0] : is_two ? deep[deep_count - 2] : deep[0];
    w->across = is_two ? deep[deep_count - 1] : deep_count == 1 ? rest[0] : rest[1];
    w->is_descending = lengths >> w->across & 1;
    w->group = lengths ? UNEVEN_GROUP : is_two ? GROUP : 1;
    w->is_snake = is_two && !lengths;
    p->is_persistent = persistent ? persistent == 2 : lengths == 0;
    find_cluster(e, p, &d, lengths);
    if (p->cluster > 1 && p->pair_axis == w->grouped)
        w->group = GP_MAX(w->group / p->cluster, 1);
}

void gp_pipe_extent(GpEmit *e, LLVMValueRef const *grid, LLVMValueRef *extent) {
    const GpPipe *p = e->pipe;
    memcpy(extent, grid, AXES * sizeof *extent);
    if (p->cluster == 1)
        return;
    LLVMValueRef *pairs = &extent[p->pair_axis];
    *pairs = gp_i32_add(e, *pairs, gp_emit_i32(e, p->cluster - 1));
    *pairs = LLVMBuildUDiv(e->b, *pairs, gp_emit_i32(e, p->cluster), "");
}

/* This block's tile of the cluster's. The last one stands in for those beyond the grid. */
static void place_in_cluster(GpEmit *e, LLVMValueRef *id) {
    const GpPipe *p = e->pipe;
    LLVMValueRef *at = &id[p->pair_axis], last;
    last = LLVMBuildSub(e->b, p->grid[p->pair_axis], gp_emit_i32(e, 1), "");
    *at = gp_i32_scale(e, *at, p->cluster);
    *at = gp_i32_add(e, *at, p->rank);
    *at = LLVMBuildSelect(e->b, LLVMBuildICmp(e->b, LLVMIntULT, *at, last, ""), *at, last, "");
}

/* The block's place in the grid from its number, or its cluster's, in this order. */
void gp_pipe_place(GpEmit *e, LLVMValueRef n, LLVMValueRef const *extent, LLVMValueRef *id) {
    const GpWalkOrder *w = &e->pipe->order;
    LLVMBuilderRef b = e->b;
    LLVMValueRef rows = extent[w->grouped], columns = extent[w->across];
    LLVMValueRef group = gp_emit_i32(e, w->group), plane = LLVMBuildMul(b, rows, columns, "");
    id[w->slow] = LLVMBuildUDiv(b, n, plane, "");
    n = LLVMBuildSub(b, n, LLVMBuildMul(b, id[w->slow], plane, ""), "");
    LLVMValueRef per_group = LLVMBuildMul(b, group, columns, "");
    LLVMValueRef g = LLVMBuildUDiv(b, n, per_group, "");
    n = LLVMBuildSub(b, n, LLVMBuildMul(b, g, per_group, ""), "");
    LLVMValueRef first = LLVMBuildMul(b, g, group, ""), left = LLVMBuildSub(b, rows, first, "");
    LLVMValueRef is_short = LLVMBuildICmp(b, LLVMIntULT, left, group, "");
    LLVMValueRef size = LLVMBuildSelect(b, is_short, left, group, "");
    LLVMValueRef column = LLVMBuildUDiv(b, n, size, "");
    LLVMValueRef row = LLVMBuildSub(b, n, LLVMBuildMul(b, column, size, ""), "");
    id[w->grouped] = LLVMBuildAdd(b, first, row, "");
    LLVMValueRef last = LLVMBuildSub(b, columns, gp_emit_i32(e, 1), "");
    LLVMValueRef mirrored = LLVMBuildSub(b, last, column, "");
    if (w->is_snake) {
        LLVMValueRef is_odd = LLVMBuildTrunc(b, g, LLVMInt1TypeInContext(e->ctx), "");
        mirrored = LLVMBuildSelect(b, is_odd, mirrored, column, "");
    }
    id[w->across] = w->is_snake || w->is_descending ? mirrored : column;
    if (e->pipe->cluster > 1)
        place_in_cluster(e, id);
}
