/* Loans on the place form by following each one on its own, from its borrow along every path on
** which something still lives that may hold it, asking at each step whether the step meets it. The
** checker keeps all loans of a block at once and counts what holds them. */
#include "spec/fuzz/judge.h"

enum { MAX_WORK = 4000000 };

/* A point before a step; the last one of a block is behind its steps. */
typedef struct Point {
    uint32_t block, step;
    bool is_active; /* the loan, when it is two-phase */
} Point;

typedef struct Follow {
    GpForm *f;
    uint32_t *first; /* per block: its first point among all */
    uint32_t points;
    GpBits *live;    /* per slot, over points */
    GpBits into;     /* regions that the loan's region flows into */
    bool is_eternal; /* one of them is the caller's */
    uint32_t loan;
    GpBits seen[2]; /* over points, by is_active */
    GP_VEC(Point) work;
    bool is_met;
} Follow;

/* ---- what is live -----------------------------------------------------------------------------
 */

static bool reads(const GpForm *f, const GpStep *s, uint32_t slot) {
    for (uint32_t i = 0; i < s->use_count; i++)
        if (s->uses[i].place->local == slot)
            return true;
    return (s->loan != GP_NONE && f->loans.at[s->loan].place->local == slot) ||
           (s->dst && !s->dst->is_owned && s->dst->local == slot);
}

static bool overwrites(const GpStep *s, uint32_t slot) {
    return s->dst && !s->dst->parent && s->dst->local == slot;
}

/* Backwards from behind a read to where the slot is written. */
static void mark_live(Follow *w, uint32_t slot, uint32_t block, uint32_t behind) {
    GP_VEC(Point) work = {0};
    GpArena *a = w->f->c->arena;
    GP_PUSH(a, &work, ((Point){.block = block, .step = behind}));
    while (work.len) {
        Point at = work.at[--work.len];
        const GpBlock *blk = &w->f->blocks.at[at.block];
        const GpStep *s = at.step ? &blk->steps.at[at.step - 1] : NULL;
        if (s && overwrites(s, slot) && !reads(w->f, s, slot))
            continue;
        if (s) {
            at.step--;
            if (gp_bits_has(w->live[slot], w->first[at.block] + at.step))
                continue;
            gp_bits_add(w->live[slot], w->first[at.block] + at.step);
            GP_PUSH(a, &work, at);
            continue;
        }
        for (uint32_t i = 0; i < blk->prev.len; i++) {
            uint32_t from = blk->prev.at[i], end = w->f->blocks.at[from].steps.len;
            if (gp_bits_has(w->live[slot], w->first[from] + end))
                continue;
            gp_bits_add(w->live[slot], w->first[from] + end);
            GP_PUSH(a, &work, ((Point){.block = from, .step = end}));
        }
    }
}

static void find_live(Follow *w) {
    GpForm *f = w->f;
    w->live = GP_NEW_ARRAY(f->c->arena, GpBits, f->slots.len);
    for (uint32_t slot = 0; slot < f->slots.len; slot++) {
        if (!f->slots.at[slot].place->regions.len)
            continue;
        w->live[slot] = gp_bits_make(f->c->arena, w->points);
        for (uint32_t i = 0; i < f->order_count; i++) {
            uint32_t block = f->order[i];
            for (uint32_t k = 0; k < f->blocks.at[block].steps.len; k++)
                if (reads(f, &f->blocks.at[block].steps.at[k], slot))
                    mark_live(w, slot, block, k + 1);
        }
    }
}

/* ---- whether a step meets the loan ------------------------------------------------------------
 */

static const GpPlace *part_at(const GpPlace *p, uint32_t depth) {
    while (p->depth > depth)
        p = p->parent;
    return p;
}

static bool is_union(const GpType *t) { return t->kind == GpTy_Adt && t->def->kind == GpDef_Union; }

/* Shallow: what the references in the place point to does not count. */
static bool overlaps(const GpPlace *loaned, const GpPlace *p, bool is_shallow) {
    if (loaned->local != p->local)
        return false;
    for (uint32_t d = 1; d <= loaned->depth; d++) {
        const GpPlace *x = part_at(loaned, d);
        if (d > p->depth) {
            if (is_shallow && x->proj == GpProj_Deref)
                return false;
            continue;
        }
        const GpPlace *y = part_at(p, d);
        bool is_apart =
            x->proj == y->proj && x != y &&
            (x->proj == GpProj_Variant || (x->proj == GpProj_Field && !is_union(x->parent->type)));
        if (is_apart)
            return false;
        if (x->proj != y->proj)
            return true;
    }
    return true;
}

/* What is behind a shared reference or a raw pointer is written by nobody that is checked. */
static bool is_beyond(const GpPlace *p) {
    for (; p->parent; p = p->parent)
        if (p->proj == GpProj_Deref &&
            (p->parent->type->kind != GpTy_Ref || !p->parent->type->is_mut))
            return true;
    return false;
}

typedef enum Touch { Touch_Read, Touch_Reserve, Touch_Write } Touch;

static void touch(Follow *w, bool is_active, const GpPlace *p, Touch how, bool is_shallow) {
    const GpLoan *l = &w->f->loans.at[w->loan];
    bool is_open = l->kind == GpLoan_TwoPhase && !is_active;
    bool is_allowed = l->kind == GpLoan_Shared ? how != Touch_Write : is_open && how == Touch_Read;
    w->is_met |= !is_allowed && overlaps(l->place, p, is_shallow);
}

/* A use of the temporary that holds a two-phase borrow makes it a write. */
static bool activate(Follow *w, const GpStep *s, bool is_active) {
    for (uint32_t i = 0; i < w->f->loans.len; i++) {
        const GpLoan *l = &w->f->loans.at[i];
        bool is_used = false;
        for (uint32_t k = 0; k < s->use_count; k++)
            is_used |= s->uses[k].place->local == l->holder;
        if (l->kind != GpLoan_TwoPhase || !is_used)
            continue;
        if (i == w->loan)
            is_active = true;
        else if (!is_beyond(l->place))
            touch(w, is_active, l->place, Touch_Write, false);
    }
    return is_active;
}

static bool is_in_frame(const GpPlace *p) {
    for (; p->parent; p = p->parent)
        if (p->proj == GpProj_Deref)
            return false;
    return true;
}

static void meet(Follow *w, const GpStep *s, bool is_active) {
    for (uint32_t i = 0; i < s->use_count; i++) {
        GpOperand u = s->uses[i];
        if (u.kind != GpUse_Inspect)
            touch(w, is_active, u.place, u.kind == GpUse_Move ? Touch_Write : Touch_Read,
                  u.kind == GpUse_Look);
    }
    if (s->loan != GP_NONE) {
        const GpLoan *l = &w->f->loans.at[s->loan];
        static const Touch how[] = {[GpLoan_Shared] = Touch_Read,
                                    [GpLoan_Mut] = Touch_Write,
                                    [GpLoan_TwoPhase] = Touch_Reserve};
        touch(w, is_active, l->place, how[l->kind], false);
    }
    if (s->dst && s->kind != GpStep_Live)
        touch(w, is_active, s->dst, Touch_Write, true);
    const GpLoan *own = &w->f->loans.at[w->loan];
    bool is_param = w->f->slots.at[own->place->local].kind == GpSlot_Param;
    w->is_met |= s->kind == GpStep_Return && is_param && w->is_eternal && is_in_frame(own->place);
}

/* ---- following --------------------------------------------------------------------------------
 */

static void find_into(Follow *w) {
    const GpForm *f = w->f;
    w->into = gp_bits_make(f->c->arena, f->regions.len);
    w->is_eternal = false;
    gp_bits_add(w->into, f->loans.at[w->loan].region);
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t i = 0; i < f->outlives.len; i++) {
            GpOutlives o = f->outlives.at[i];
            if (!gp_bits_has(w->into, o.longer) || gp_bits_has(w->into, o.shorter))
                continue;
            gp_bits_add(w->into, o.shorter);
            changed = true;
        }
    }
    for (uint32_t i = 0; i < f->regions.len; i++)
        w->is_eternal |= gp_bits_has(w->into, i) && f->regions.at[i].is_universal;
}

static bool is_held(const Follow *w, Point at) {
    uint32_t point = w->first[at.block] + at.step;
    for (uint32_t slot = 0; slot < w->f->slots.len; slot++) {
        GpRegions own = w->f->slots.at[slot].place->regions;
        if (!own.len || !gp_bits_has(w->live[slot], point))
            continue;
        for (uint32_t i = 0; i < own.len; i++)
            if (gp_bits_has(w->into, own.at[i]))
                return true;
    }
    return w->is_eternal;
}

static void go_to(Follow *w, Point at) {
    uint32_t point = w->first[at.block] + at.step;
    if (gp_bits_has(w->seen[at.is_active], point) || !is_held(w, at))
        return;
    gp_bits_add(w->seen[at.is_active], point);
    GP_PUSH(w->f->c->arena, &w->work, at);
}

static void follow(Follow *w) {
    const GpLoan *l = &w->f->loans.at[w->loan];
    for (int i = 0; i < 2; i++)
        w->seen[i] = gp_bits_make(w->f->c->arena, w->points);
    go_to(w, (Point){.block = l->block, .step = l->step + 1});
    while (w->work.len) {
        Point at = w->work.at[--w->work.len];
        const GpBlock *blk = &w->f->blocks.at[at.block];
        if (at.step == blk->steps.len) {
            for (uint32_t i = 0; i < blk->next.len; i++)
                go_to(w, (Point){.block = blk->next.at[i], .is_active = at.is_active});
            continue;
        }
        const GpStep *s = &blk->steps.at[at.step++];
        at.is_active = activate(w, s, at.is_active);
        meet(w, s, at.is_active);
        bool is_over =
            s->dst && s->dst->proj != GpProj_Index && gp_place_is_prefix(s->dst, l->place);
        if (!is_over && s->loan != w->loan)
            go_to(w, at);
    }
}

bool judge_loans(GpForm *f, bool *is_met) {
    Follow w = {.f = f};
    w.first = GP_NEW_ARRAY(f->c->arena, uint32_t, f->blocks.len);
    for (uint32_t i = 0; i < f->blocks.len; i++) {
        w.first[i] = w.points;
        w.points += f->blocks.at[i].steps.len + 1;
    }
    if ((uint64_t)w.points * (f->loans.len + f->slots.len) > MAX_WORK)
        return false;
    find_live(&w);
    for (w.loan = 0; w.loan < f->loans.len; w.loan++) {
        const GpLoan *l = &f->loans.at[w.loan];
        if (is_beyond(l->place) || f->blocks.at[l->block].order == GP_NONE)
            continue;
        find_into(&w);
        follow(&w);
    }
    *is_met = w.is_met;
    return true;
}
