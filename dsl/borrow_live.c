/* Which locals are live where, and so which loans. A local is live where its value may still be
** read; a loan is live where a local is live that its region flows into (directly or through
** others), or everywhere when it flows into a region of the caller (NLL RFC 2094). */
#include "dsl/borrow.h"

static uint32_t live_of(const GpForm *f, const GpPlace *p) { return f->slots.at[p->local].live; }

static void add_live(const GpForm *f, const GpPlace *p, GpBits live) {
    uint32_t i = live_of(f, p);
    if (i != GP_NONE)
        gp_bits_add(live, i);
}

/* What is live before a step, from what is live after it. */
static void step_live(const GpForm *f, const GpStep *s, GpBits live) {
    if (s->dst && !s->dst->parent && live_of(f, s->dst) != GP_NONE)
        gp_bits_del(live, live_of(f, s->dst));
    if (s->dst && s->dst->parent && !s->dst->is_owned) /* writes through a reference read it */
        add_live(f, s->dst, live);
    for (uint32_t i = 0; i < s->use_count; i++)
        add_live(f, s->uses[i].place, live);
    if (s->loan != GP_NONE)
        add_live(f, f->loans.at[s->loan].place, live);
}

bool gp_step_uses_slot(const GpForm *f, const GpStep *s, uint32_t slot, GpOperand *out) {
    for (uint32_t i = 0; i < s->use_count; i++)
        if (s->uses[i].place->local == slot) {
            *out = s->uses[i];
            return true;
        }
    if (s->loan != GP_NONE && f->loans.at[s->loan].place->local == slot) {
        *out = (GpOperand){GpUse_Copy, f->loans.at[s->loan].place, s->span};
        return true;
    }
    if (s->dst && s->dst->parent && !s->dst->is_owned && s->dst->local == slot) {
        *out = (GpOperand){GpUse_Copy, s->dst, s->span};
        return true;
    }
    return false;
}

bool gp_step_defines_slot(const GpStep *s, uint32_t slot) {
    return s->dst && !s->dst->parent && s->dst->local == slot;
}

/* ---- locals ---------------------------------------------------------------------------------- */

static void solve_live(GpBorrows *b) {
    GpForm *f = b->f;
    GpBits live = gp_bits_make(f->c->arena, f->live_count);
    for (uint32_t i = 0; i < f->order_count; i++) {
        b->live_in[f->order[i]] = gp_bits_make(f->c->arena, f->live_count);
        b->live_out[f->order[i]] = gp_bits_make(f->c->arena, f->live_count);
    }
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t i = f->order_count; i-- > 0;) {
            uint32_t at = f->order[i];
            const GpBlock *blk = &f->blocks.at[at];
            for (uint32_t k = 0; k < blk->next.len; k++)
                gp_bits_join(b->live_out[at], b->live_in[blk->next.at[k]]);
            gp_bits_copy(live, b->live_out[at]);
            for (uint32_t k = blk->steps.len; k-- > 0;)
                step_live(f, &blk->steps.at[k], live);
            changed |= gp_bits_join(b->live_in[at], live);
        }
    }
}

/* ---- changes ----------------------------------------------------------------------------------
 */

/* Backwards: what the step reads is live before it, and dies there unless it was live behind. */
static void note_read(const GpForm *f, const GpPlace *p, GpBits live, GpIdVec *all) {
    uint32_t i = live_of(f, p);
    if (i == GP_NONE || gp_bits_has(live, i))
        return;
    gp_bits_add(live, i);
    GP_PUSH(f->c->arena, all, 2 * i + 1);
}

static bool reads(const GpForm *f, const GpStep *s, uint32_t local) {
    bool found = s->loan != GP_NONE && f->loans.at[s->loan].place->local == local;
    for (uint32_t i = 0; i < s->use_count && !found; i++)
        found = s->uses[i].place->local == local;
    return found;
}

static void step_changes(const GpForm *f, const GpStep *s, GpBits live, GpIdVec *all) {
    uint32_t defined = s->dst && !s->dst->parent ? live_of(f, s->dst) : GP_NONE;
    if (defined != GP_NONE && gp_bits_has(live, defined) && !reads(f, s, s->dst->local)) {
        gp_bits_del(live, defined);
        GP_PUSH(f->c->arena, all, 2 * defined);
    }
    if (s->dst && s->dst->parent && !s->dst->is_owned)
        note_read(f, s->dst, live, all);
    for (uint32_t i = 0; i < s->use_count; i++)
        note_read(f, s->uses[i].place, live, all);
    if (s->loan != GP_NONE)
        note_read(f, f->loans.at[s->loan].place, live, all);
}

static void find_changes(GpBorrows *b) {
    GpForm *f = b->f;
    GpArena *a = f->c->arena;
    GpBits live = gp_bits_make(a, f->live_count);
    b->changes = GP_NEW_ARRAY(a, GpLiveChanges, f->blocks.len);
    for (uint32_t i = 0; i < f->order_count; i++) {
        const GpBlock *blk = &f->blocks.at[f->order[i]];
        GpLiveChanges *c = &b->changes[f->order[i]];
        c->end = GP_NEW_ARRAY(a, uint32_t, blk->steps.len + 1);
        gp_bits_copy(live, b->live_out[f->order[i]]);
        for (uint32_t k = blk->steps.len; k-- > 0;) {
            step_changes(f, &blk->steps.at[k], live, &c->all);
            c->end[k] = c->all.len;
        }
    }
}

/* ---- loans ----------------------------------------------------------------------------------- */

static void index_regions(GpBorrows *b) {
    GpForm *f = b->f;
    b->slot_of_region = GP_NEW_ARRAY(f->c->arena, uint32_t, f->regions.len);
    b->slot_of_live = GP_NEW_ARRAY(f->c->arena, uint32_t, f->live_count);
    for (uint32_t i = 0; i < f->regions.len; i++)
        b->slot_of_region[i] = GP_NONE;
    for (uint32_t i = 0; i < f->slots.len; i++) {
        const GpSlot *s = &f->slots.at[i];
        if (s->live != GP_NONE)
            b->slot_of_live[s->live] = i;
        for (uint32_t k = 0; k < s->place->regions.len; k++)
            b->slot_of_region[s->place->regions.at[k]] = i;
    }
}

/* A temporary is read once, so nothing meets a loan of what a reference in it points to; and
** behind a shared reference nothing can be written. */
bool gp_loan_is_ignored(const GpForm *f, const GpLoan *l) {
    for (const GpPlace *p = l->place; p->parent; p = p->parent) {
        if (p->proj != GpProj_Deref)
            continue;
        const GpType *t = p->parent->type;
        if (f->slots.at[p->local].kind == GpSlot_Temp || t->kind != GpTy_Ref || !t->is_mut)
            return true;
    }
    return false;
}

/* ---- sets of regions (Tarjan's strongly connected components) ----------------------------------
 */

typedef struct Visit {
    uint32_t region, next; /* the constraint to follow */
} Visit;

typedef struct Tarjan {
    GpBorrows *b;
    uint32_t *index, *low; /* of each region, plus one; 0: not met */
    uint32_t count;
    GpIdVec open; /* met, without a set yet */
    GP_VEC(Visit) path;
} Tarjan;

static void meet(Tarjan *t, uint32_t region) {
    GpArena *a = t->b->f->c->arena;
    t->index[region] = t->low[region] = ++t->count;
    GP_PUSH(a, &t->open, region);
    GP_PUSH(a, &t->path, ((Visit){region, t->b->f->regions.at[region].first}));
}

/* What was met since `region` is its set. */
static void close_set(Tarjan *t, uint32_t region) {
    uint32_t r;
    do {
        r = t->open.at[--t->open.len];
        t->b->set_of_region[r] = t->b->set_count;
    } while (r != region);
    t->b->set_count++;
}

static void visit_from(Tarjan *t, uint32_t region) {
    const GpForm *f = t->b->f;
    meet(t, region);
    while (t->path.len) {
        Visit *v = &t->path.at[t->path.len - 1];
        uint32_t at = v->region, c = v->next;
        if (c != GP_NONE) {
            uint32_t to = f->outlives.at[c].shorter;
            v->next = f->chain.at[c];
            if (!t->index[to])
                meet(t, to);
            else if (t->b->set_of_region[to] == GP_NONE)
                t->low[at] = GP_MIN(t->low[at], t->index[to]);
            continue;
        }
        t->path.len--;
        if (t->path.len) {
            uint32_t outer = t->path.at[t->path.len - 1].region;
            t->low[outer] = GP_MIN(t->low[outer], t->low[at]);
        }
        if (t->low[at] == t->index[at])
            close_set(t, at);
    }
}

static void find_sets(GpBorrows *b) {
    GpForm *f = b->f;
    GpArena *a = f->c->arena;
    Tarjan t = {.b = b};
    t.index = GP_NEW_ARRAY(a, uint32_t, f->regions.len);
    t.low = GP_NEW_ARRAY(a, uint32_t, f->regions.len);
    b->set_of_region = GP_NEW_ARRAY(a, uint32_t, f->regions.len);
    for (uint32_t i = 0; i < f->regions.len; i++)
        b->set_of_region[i] = GP_NONE;
    for (uint32_t i = 0; i < f->regions.len; i++)
        if (!t.index[i])
            visit_from(&t, i);
    b->sets = GP_NEW_ARRAY(a, GpRegionSet, b->set_count);
    for (uint32_t i = 0; i < f->outlives.len; i++) {
        uint32_t longer = b->set_of_region[f->outlives.at[i].longer];
        uint32_t shorter = b->set_of_region[f->outlives.at[i].shorter];
        if (longer != shorter)
            GP_PUSH(a, &b->sets[shorter].longer, longer);
    }
}

/* A set is numbered after those that it flows into. */
static void find_eternal(GpBorrows *b) {
    GpForm *f = b->f;
    for (uint32_t i = 0; i < f->regions.len; i++)
        b->sets[b->set_of_region[i]].is_eternal |= f->regions.at[i].is_universal;
    for (uint32_t i = 0; i < b->set_count; i++)
        for (uint32_t k = 0; b->sets[i].is_eternal && k < b->sets[i].longer.len; k++)
            b->sets[b->sets[i].longer.at[k]].is_eternal = true;
}

void gp_borrow_live(GpBorrows *b) {
    GpForm *f = b->f;
    GpArena *a = f->c->arena;
    b->live_in = GP_NEW_ARRAY(a, GpBits, f->blocks.len);
    b->live_out = GP_NEW_ARRAY(a, GpBits, f->blocks.len);
    solve_live(b);
    find_changes(b);
    index_regions(b);
    find_sets(b);
    find_eternal(b);
    for (uint32_t i = 0; i < f->loans.len; i++)
        if (!gp_loan_is_ignored(f, &f->loans.at[i]))
            GP_PUSH(a, &b->sets[b->set_of_region[f->loans.at[i].region]].loans, i);
}
