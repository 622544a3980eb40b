/* Jumps in a warp-specialised kernel, and checks that end a block.
**
** The roles stay together when both leave at the same place. So the producer has what decides a jump, where
** a load follows it or a loop of loads ends by it; and nowhere a stage is half loaded or half read. */
#include "codegen/pipe.h"

bool gp_pipe_ends_block(const GpInst *inst) {
    return inst->op == GpOp_CheckDiv || inst->op == GpOp_Assert ||
           (inst->op == GpOp_Return && inst->parent->owner);
}

static bool is_jump(const GpInst *inst) { return inst->target || gp_pipe_ends_block(inst); }

bool gp_pipe_has_jump(const GpRegion *r) {
    for (const GpInst *x = r->first; x; x = x->next) {
        if (is_jump(x))
            return true;
        for (uint32_t i = 0; i < x->region_count; i++)
            if (gp_pipe_has_jump(x->regions[i]))
                return true;
    }
    return false;
}

/* ---- Where stages are in use ------------------------------------------------------------- */

/* Whether the instruction, or something in it, leaves the region. */
static bool leaves(const GpInst *inst, const GpRegion *r) {
    if (gp_pipe_ends_block(inst) || (inst->target && !gp_ir_is_inside(inst->target->parent, r)))
        return true;
    for (uint32_t i = 0; i < inst->region_count; i++)
        for (const GpInst *x = inst->regions[i]->first; x; x = x->next)
            if (leaves(x, r))
                return true;
    return false;
}

bool gp_pipe_leaves(const GpInst *first, const GpInst *end) {
    for (const GpInst *x = first; x && x != end; x = x->next)
        if (leaves(x, x->parent))
            return true;
    return false;
}

bool gp_pipe_jumps_fit(const GpPipe *p) {
    for (uint32_t i = 0; i < p->group_count; i++) {
        const GpGroup *g = &p->groups[i];
        const GpInst *end = g->channel->is_ring ? g->last : g->region->owner ? NULL : g->closer;
        if (gp_pipe_leaves(g->opener, end))
            return false;
    }
    return true;
}

static void find_loop_jump(GpInst *inst, void *ud) {
    bool is_loop = gp_is_loop(inst);
    *(bool *)ud |= is_loop && gp_pipe_has_jump(inst->regions[0]);
}

bool gp_pipe_loops_jump(const GpEmit *e) {
    bool jumps = false;
    gp_ir_walk(e->fn, GpWalk_Before, find_loop_jump, &jumps);
    return jumps;
}

/* ---- What the producer has to know ------------------------------------------------------- */

typedef struct Search {
    GpPipe *pipe;
    const GpInst *found; /* a jump that the producer has to take and does not know */
    bool has_loads;      /* behind what was looked at last */
} Search;

static bool has_slice_loop(const GpPipe *p, const GpInst *inst) {
    for (const GpInst *o = inst->parent->owner; o; o = o->parent->owner)
        if (o->op != GpOp_If && o->op != GpOp_Block && gp_map_has(&p->slice, o))
            return true;
    return false;
}

/* Backwards, so that what follows is known. */
static void search_region(Search *s, const GpRegion *r) {
    for (const GpInst *x = r->last; x && !s->found; x = x->prev) {
        for (uint32_t i = x->region_count; i > 0; i--)
            search_region(s, x->regions[i - 1]);
        s->has_loads |= gp_map_get(&s->pipe->feeds.of, x) != NULL;
        bool is_ours = x->target ? gp_map_has(&s->pipe->slice, x->target)
                                 : gp_pipe_ends_block(x) && (s->has_loads || has_slice_loop(s->pipe, x));
        if (is_ours && !s->found && !gp_map_has(&s->pipe->slice, x))
            s->found = x;
    }
}

const GpInst *gp_pipe_next_jump(GpPipe *p, const GpRegion *body) {
    Search s = {.pipe = p};
    search_region(&s, body);
    return s.found;
}
