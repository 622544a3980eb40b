/* Where a tile that was loaded once, or that threads read, is given back.
**
** Its stage can take the next tile's when the last loop that reads it is over: while the sums are
** finished and stored, the producer fills it again. A loop in a branch ends it there; the other
** branches, which do not read it, give it back where they end. */
#include "codegen/pipe.h"

static bool reads(const GpPipe *p, const GpGroup *g, const GpRegion *r) {
    GpFeedView view;
    for (const GpInst *x = r->first; x; x = x->next) {
        for (uint32_t i = 0; i < 2 && x->op == GpOp_Mma; i++)
            if (gp_feed_view(&p->feeds, x->operands[i], &view) && view.feed->group == g)
                return true;
        for (uint32_t i = 0; i < x->region_count; i++)
            if (reads(p, g, x->regions[i]))
                return true;
    }
    return false;
}

/* The outermost loop in the loads' region around the last product. */
static const GpInst *last_loop(const GpGroup *g) {
    const GpInst *loop = NULL;
    for (const GpInst *o = g->last->parent->owner; o != g->region->owner; o = o->parent->owner)
        if (o->op != GpOp_If)
            loop = o;
    return loop;
}

static bool add_branches(GpEmit *e, GpPipe *p, const GpGroup *g, const GpInst *from, GpMap *ends) {
    for (const GpInst *o = from->parent->owner; from->parent != g->region; from = o, o = o->parent->owner) {
        if (gp_pipe_leaves(from->parent->first, NULL))
            return false;
        for (uint32_t i = 0; i < o->region_count; i++) {
            const GpInst *end = gp_ir_terminator(o->regions[i]);
            if (o->regions[i] == from->parent)
                continue;
            if (reads(p, g, o->regions[i]) || end->op != GpOp_Yield)
                return false;
            gp_map_set(e->arena, ends, end, g->channel);
        }
    }
    return true;
}

void gp_pipe_find_ends(GpEmit *e, GpPipe *p) {
    for (uint32_t i = 0; i < p->group_count; i++) {
        const GpGroup *g = &p->groups[i];
        if (g->is_read) {
            gp_map_set(e->arena, &g->channel->ends, g->last->next ? g->last->next : g->last, NULL);
            continue;
        }
        if (g->channel->is_held || gp_pipe_leaves(g->closer->next, NULL))
            continue; /* it is given back at its load, or where the block ends there too */
        const GpInst *loop = g->channel->is_ring ? NULL : last_loop(g);
        GpMap ends = {0};
        if (loop && add_branches(e, p, g, loop, &ends)) {
            gp_map_set(e->arena, &ends, loop->next, g->channel);
            g->channel->ends = ends;
        }
    }
}

/* The end of a region in the kernel's body gives back what was loaded there. */
static void end_region(GpEmit *e, const GpRegion *r) {
    for (uint32_t i = 0; i < e->pipe->group_count; i++) {
        GpChannel *c = e->pipe->groups[i].channel;
        if (c->is_ring || e->pipe->groups[i].region != r || !c->now)
            continue;
        if (!c->ends.count)
            gp_pipe_release(e, c);
        c->now = NULL;
    }
}

bool gp_pipe_is_end(const GpPipe *p, const GpInst *inst) {
    for (uint32_t i = 0; i < p->channel_count; i++)
        if (gp_map_has(&p->channels[i].ends, inst))
            return true;
    return false;
}

void gp_pipe_at_end(GpEmit *e, const GpInst *inst) {
    const GpPipe *p = e->pipe;
    bool is_branch = inst->op == GpOp_Yield;
    for (uint32_t i = 0; i < p->channel_count; i++) {
        GpChannel *c = &p->channels[i];
        LLVMValueRef now = c->now;
        if (!gp_map_has(&c->ends, inst))
            continue;
        gp_pipe_release(e, c);
        c->now = c->is_ring ? NULL : now; /* another branch gives it back too */
    }
    if (is_branch && inst->parent->owner)
        end_region(e, inst->parent);
}
