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

void gp_step_live(const GpForm *f, const GpStep *s, GpBits live) {
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
                gp_step_live(f, &blk->steps.at[k], live);
            changed |= gp_bits_join(b->live_in[at], live);
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

/* Everything that the loan's region must outlive. `seen` is stamped, so that it need not be
** cleared for each loan. */
static void find_holders(GpBorrows *b, uint32_t loan, uint32_t *seen, GpIdVec *work) {
    GpForm *f = b->f;
    GpArena *a = f->c->arena;
    work->len = 0;
    GP_PUSH(a, work, f->loans.at[loan].region);
    seen[f->loans.at[loan].region] = loan + 1;
    while (work->len) {
        uint32_t r = work->at[--work->len], slot = b->slot_of_region[r];
        if (f->regions.at[r].is_universal)
            b->is_eternal[loan] = true;
        if (slot != GP_NONE) {
            uint32_t live = f->slots.at[slot].live;
            GpIdVec *loans = &b->loans_of_live[live];
            if (!loans->len || loans->at[loans->len - 1] != loan) {
                GP_PUSH(a, loans, loan);
            }
        }
        for (uint32_t c = f->regions.at[r].first; c != GP_NONE; c = f->chain.at[c]) {
            uint32_t to = f->outlives.at[c].shorter;
            if (seen[to] == loan + 1)
                continue;
            seen[to] = loan + 1;
            GP_PUSH(a, work, to);
        }
    }
}

void gp_borrow_live(GpBorrows *b) {
    GpForm *f = b->f;
    GpArena *a = f->c->arena;
    b->live_in = GP_NEW_ARRAY(a, GpBits, f->blocks.len);
    b->live_out = GP_NEW_ARRAY(a, GpBits, f->blocks.len);
    solve_live(b);
    index_regions(b);
    b->loans_of_live = GP_NEW_ARRAY(a, GpIdVec, f->live_count);
    b->is_eternal = GP_NEW_ARRAY(a, bool, f->loans.len);
    uint32_t *seen = GP_NEW_ARRAY(a, uint32_t, f->regions.len);
    GpIdVec work = {0};
    for (uint32_t i = 0; i < f->loans.len; i++) {
        if (!gp_loan_is_ignored(f, &f->loans.at[i]))
            find_holders(b, i, seen, &work);
    }
}
