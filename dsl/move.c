/* Moves: what may be gone where it is used (E0381, E0382, E0384) and what cannot be taken from
** where it is (E0507, E0508); and what calls and closures need mutable (E0594, E0596).
**
** Theorem: a place is used only if on every path from the entry its last event is an
** initialisation of it or of a whole that holds it, and no part of it was moved after. The
** forward analysis keeps, per owned place, whether it may be uninitialised; a move marks a place
** and its parts, an assignment clears them. Places behind a reference or an index are never
** moved, so they stand for the owned place in front. */
#include "dsl/move.h"

/* Locals that may be gone: something of them is moved, or they begin without a value. Of the others
** nothing is kept. */
static bool *find_tracked(const GpForm *f) {
    bool *is_tracked = GP_NEW_ARRAY(f->c->arena, bool, f->slots.len);
    for (uint32_t i = 0; i < f->slots.len; i++)
        is_tracked[i] = f->slots.at[i].kind == GpSlot_User && !f->slots.at[i].has_init;
    for (uint32_t i = 0; i < f->blocks.len; i++)
        for (uint32_t k = 0; k < f->blocks.at[i].steps.len; k++) {
            const GpStep *s = &f->blocks.at[i].steps.at[k];
            for (uint32_t u = 0; u < s->use_count; u++)
                if (s->uses[u].kind == GpUse_Move)
                    is_tracked[s->uses[u].place->local] = true;
        }
    for (uint32_t i = 0; i < f->slots.len; i++) {
        GpSlotKind kind = f->slots.at[i].kind;
        is_tracked[i] &= kind == GpSlot_User || kind == GpSlot_Param || kind == GpSlot_Upvar;
    }
    return is_tracked;
}

/* Locals of which a second assignment is an error: E0384. */
static bool is_assigned_once(const GpSlot *slot) {
    return slot->kind == GpSlot_User && slot->local && !slot->local->is_mut && !slot->has_init;
}

static GpPlace *owned_part(GpPlace *p) {
    while (!p->is_owned)
        p = p->parent;
    return p;
}

/* ---- numbering: a whole, then its parts ------------------------------------------------------ */

static void number(GpMoves *m, GpPlace *p) {
    uint32_t bit = m->count++;
    m->index[p->id] = bit;
    m->place_of[bit] = p;
    for (GpPlace *q = p->child; q; q = q->sibling)
        if (q->is_owned)
            number(m, q);
    m->end[bit] = m->count;
}

static void mark_path(GpMoves *m, const GpPlace *p) {
    for (; p && !m->is_path[p->id]; p = p->parent)
        m->is_path[p->id] = true;
}

static void find_paths(GpMoves *m) {
    GpForm *f = m->f;
    for (uint32_t i = 0; i < f->blocks.len; i++)
        for (uint32_t k = 0; k < f->blocks.at[i].steps.len; k++) {
            const GpStep *s = &f->blocks.at[i].steps.at[k];
            for (uint32_t u = 0; u < s->use_count; u++)
                if (s->uses[u].kind == GpUse_Move || s->uses[u].kind == GpUse_Inspect)
                    mark_path(m, s->uses[u].place);
            if (s->dst)
                mark_path(m, s->dst);
        }
}

static void prepare(GpMoves *m) {
    GpForm *f = m->f;
    GpArena *a = f->c->arena;
    m->index = GP_NEW_ARRAY(a, uint32_t, f->places.len);
    m->end = GP_NEW_ARRAY(a, uint32_t, f->places.len);
    m->place_of = GP_NEW_ARRAY(a, GpPlace *, f->places.len);
    m->is_path = GP_NEW_ARRAY(a, bool, f->places.len);
    for (uint32_t i = 0; i < f->places.len; i++)
        m->index[i] = GP_NONE;
    const bool *is_tracked = find_tracked(f);
    m->once = GP_NEW_ARRAY(a, uint32_t, f->slots.len);
    for (uint32_t i = 0; i < f->slots.len; i++)
        if (is_tracked[i])
            number(m, f->slots.at[i].place);
    m->bits = m->count;
    for (uint32_t i = 0; i < f->slots.len; i++)
        m->once[i] = is_assigned_once(&f->slots.at[i]) ? m->bits++ : GP_NONE;
    find_paths(m);
    m->entry = GP_NEW_ARRAY(a, GpBits, f->blocks.len);
    for (uint32_t i = 0; i < f->order_count; i++)
        m->entry[f->order[i]] = gp_bits_make(a, m->bits);
}

/* ---- one step's effect ----------------------------------------------------------------------- */

static void set_range(const GpMoves *m, GpBits state, const GpPlace *p, bool is_gone) {
    uint32_t bit = m->index[p->id];
    if (bit == GP_NONE)
        return;
    gp_bits_fill(state, bit, m->end[bit], is_gone);
}

static void apply_uses(const GpMoves *m, GpBits state, const GpStep *s) {
    for (uint32_t i = 0; i < s->use_count; i++)
        if (s->uses[i].kind == GpUse_Move && s->uses[i].place->is_owned)
            set_range(m, state, s->uses[i].place, true);
}

static void apply_dst(const GpMoves *m, GpBits state, const GpStep *s) {
    if (!s->dst || s->kind == GpStep_Dead)
        return;
    bool starts = s->kind == GpStep_Live;
    if (s->dst->is_owned)
        set_range(m, state, s->dst, starts);
    uint32_t once = s->dst->parent ? GP_NONE : m->once[s->dst->local];
    if (once == GP_NONE)
        return;
    if (starts)
        gp_bits_del(state, once);
    else
        gp_bits_add(state, once);
}

static void solve(GpMoves *m) {
    GpForm *f = m->f;
    GpBits state = gp_bits_make(f->c->arena, m->bits);
    bool *is_seen = GP_NEW_ARRAY(f->c->arena, bool, f->blocks.len);
    is_seen[f->order_count ? f->order[0] : 0] = true;
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t i = 0; i < f->order_count; i++) {
            const GpBlock *blk = &f->blocks.at[f->order[i]];
            gp_bits_copy(state, m->entry[f->order[i]]);
            for (uint32_t k = 0; k < blk->steps.len; k++) {
                apply_uses(m, state, &blk->steps.at[k]);
                apply_dst(m, state, &blk->steps.at[k]);
            }
            for (uint32_t k = 0; k < blk->next.len; k++) {
                uint32_t to = blk->next.at[k];
                changed |= gp_bits_join(m->entry[to], state) || !is_seen[to];
                is_seen[to] = true;
            }
        }
    }
}

/* ---- where it went --------------------------------------------------------------------------- */

typedef struct Search {
    GpMoves *m;
    const GpPlace *place;
    bool *seen; /* blocks entered from their end */
    GP_VEC(GpMoveSite) sites;
    bool is_uninit; /* a path comes from the declaration */
    bool is_init;   /* a path comes from an initialisation */
} Search;

/* Whether going further back through this step is pointless. */
static bool search_step(Search *q, uint32_t block, uint32_t step, bool is_back) {
    GpForm *f = q->m->f;
    const GpStep *s = &f->blocks.at[block].steps.at[step];
    if (s->dst && s->kind != GpStep_Dead && gp_place_is_prefix(s->dst, q->place)) {
        if (s->kind == GpStep_Live)
            q->is_uninit = true;
        else
            q->is_init = true;
        return true;
    }
    for (uint32_t i = s->use_count; i-- > 0;) {
        GpOperand u = s->uses[i];
        if (u.kind != GpUse_Move || !u.place->is_owned || !gp_place_is_prefix(u.place, q->place))
            continue;
        GP_PUSH(f->c->arena, &q->sites, ((GpMoveSite){block, step, u.place, u.span, is_back}));
        return true;
    }
    return false;
}

static bool search_block(Search *q, uint32_t block, uint32_t from, bool is_back) {
    for (uint32_t k = from; k-- > 0;)
        if (search_step(q, block, k, is_back))
            return true;
    return false;
}

typedef GP_VEC(uint32_t) Stack;

/* Goes on from the end of every block before this one: what came before in the same round of
** each loop first, then what earlier rounds left. */
static void push_before(Search *q, uint32_t block, Stack *near, Stack *far) {
    GpForm *f = q->m->f;
    const GpBlock *blk = &f->blocks.at[block];
    for (uint32_t i = 0; i < blk->prev.len; i++) {
        Stack *to = f->blocks.at[blk->prev.at[i]].order >= blk->order ? far : near;
        GP_PUSH(f->c->arena, to, blk->prev.at[i]);
    }
    if (block == f->order[0])
        q->is_init |= f->slots.at[q->place->local].kind != GpSlot_User;
}

/* The order of the sites is rustc's (get_moved_indexes): it tells equal sets apart there too. */
static void search(Search *q, uint32_t block, uint32_t step) {
    GpForm *f = q->m->f;
    Stack near = {0}, far = {0};
    bool is_far = false;
    q->seen = GP_NEW_ARRAY(f->c->arena, bool, f->blocks.len);
    if (search_block(q, block, step, false))
        return;
    push_before(q, block, &near, &far);
    /* Earlier rounds matter only when the value is there as the loop is entered. */
    while (near.len || (far.len && (is_far || (!q->sites.len && !q->is_uninit)))) {
        is_far |= !near.len;
        uint32_t from = is_far ? far.at[--far.len] : near.at[--near.len];
        if (q->seen[from])
            continue;
        q->seen[from] = true;
        if (!search_block(q, from, f->blocks.at[from].steps.len, is_far))
            push_before(q, from, is_far ? &far : &near, &far);
    }
}

/* ---- checking -------------------------------------------------------------------------------- */

static uint64_t site_key(const GpMoveSite *s) { return (uint64_t)s->block << 32 | s->step; }

static bool same_sites(GpMoveSet a, GpMoveSet b) {
    if (a.len != b.len)
        return false;
    for (uint32_t i = 0; i < a.len; i++)
        if (site_key(&a.at[i]) != site_key(&b.at[i]))
            return false;
    return true;
}

/* One error for what the same moves took away (rustc's buffer_move_error). */
static void report_use(GpMoves *m, GpBadUse use, const GpPlace *gone) {
    GpPlace *p = owned_part(use.place);
    if (m->errors.len >= GP_MAX_ERRORS)
        return; /* it would not be shown */
    while (p->parent && !m->is_path[p->id])
        p = p->parent;
    Search q = {.m = m, .place = gone};
    search(&q, use.block, use.step);
    use.used = use.place;
    use.place = p;
    if (!q.sites.len) {
        const GpPlace *root = m->f->slots.at[p->local].place;
        for (uint32_t i = 0; i < m->uninit.len; i++)
            if (m->uninit.at[i] == root)
                return;
        GP_PUSH(m->f->c->arena, &m->uninit, root);
        gp_report_uninit(m, &use, use.verb == GpAccess_Assign, q.is_init);
        return;
    }
    GpMoveError e = {use, {q.sites.at, q.sites.len}};
    for (uint32_t i = 0; i < m->errors.len; i++) {
        GpMoveError *old = &m->errors.at[i];
        if (!same_sites(old->sites, e.sites))
            continue;
        if (!gp_place_is_prefix(e.use.used, old->use.used))
            *old = e; /* a use of a part says more than a look at the whole */
        return;
    }
    GP_PUSH(m->f->c->arena, &m->errors, e);
}

/* The place that may be gone: the whole, or its first part; NULL when all is there. */
static const GpPlace *find_gone(const GpMoves *m, GpBits state, GpPlace *p) {
    GpPlace *own = owned_part(p);
    uint32_t bit = m->index[own->id];
    if (bit == GP_NONE)
        return NULL;
    uint32_t end = own == p ? m->end[bit] : bit + 1;
    uint32_t found = gp_bits_next(state, bit, end);
    return found < end ? m->place_of[found] : NULL;
}

static void check_use(GpMoves *m, GpBits state, const GpStep *s, GpOperand u, GpBadUse at) {
    at.place = u.place;
    at.span = u.span;
    const GpPlace *gone = find_gone(m, state, u.place);
    if (gone)
        report_use(m, at, gone);
    if (u.kind != GpUse_Move)
        return;
    bool is_upvar = m->f->slots.at[u.place->local].kind == GpSlot_Upvar;
    if (!u.place->is_owned || (is_upvar && m->f->bound && strcmp(m->f->bound, "FnOnce") != 0))
        gp_report_illegal_move(m, s, u);
}

static void check_dst(GpMoves *m, GpBits state, const GpStep *s, GpBadUse at) {
    if (!s->dst || (s->kind != GpStep_Assign && s->kind != GpStep_Call))
        return;
    GpPlace *p = s->dst;
    at.span = s->span;
    if (p->parent && !p->is_owned) { /* through a reference: that one must be there */
        while (p->proj != GpProj_Deref && p->proj != GpProj_Index)
            p = p->parent;
        at.place = p->parent;
        const GpPlace *gone = find_gone(m, state, at.place);
        if (gone)
            report_use(m, at, gone);
        return;
    }
    uint32_t bit = p->parent ? m->index[p->parent->id] : GP_NONE;
    if (bit != GP_NONE && gp_bits_has(state, bit)) {
        at.place = p->parent;
        at.verb = GpAccess_Assign;
        report_use(m, at, at.place);
    }
    uint32_t once = p->parent ? GP_NONE : m->once[p->local];
    if (once != GP_NONE && !s->is_init && gp_bits_has(state, once))
        gp_report_reassign(m, p, s->span);
}

/* Whether writing to the place changes what the closure captured. */
static bool is_captured(const GpForm *f, const GpPlace *p) {
    for (const GpPlace *q = p; q->parent; q = q->parent)
        if (q->proj == GpProj_Deref &&
            (q->parent->type->kind != GpTy_Ref || !q->parent->type->is_mut))
            return false;
    return f->slots.at[p->local].kind == GpSlot_Upvar;
}

/* What is written in a closure for a `Fn` bound, and what is called that must be mutable for it. */
static void check_mutable(GpMoves *m, const GpStep *s) {
    const GpForm *f = m->f;
    const GpLoan *l = s->loan != GP_NONE ? &f->loans.at[s->loan] : NULL;
    bool is_mut = l && l->kind != GpLoan_Shared, is_fn = f->bound && !strcmp(f->bound, "Fn");
    bool writes = s->kind == GpStep_Assign || s->kind == GpStep_Call;
    if (is_fn && writes && s->dst && is_captured(f, s->dst))
        gp_report_captured(m, GpDiag_E0594, s->dst, s->span);
    if (is_fn && is_mut && is_captured(f, l->place))
        gp_report_captured(m, GpDiag_E0596, l->place, l->span);
    else if (is_mut && !l->closure && !l->place->parent)
        gp_report_immutable(m, l);
}

static void check_step(GpMoves *m, GpBits state, uint32_t block, uint32_t step) {
    const GpStep *s = &m->f->blocks.at[block].steps.at[step];
    GpBadUse at = {.block = block, .step = step, .verb = GpAccess_Use};
    for (uint32_t i = 0; i < s->use_count; i++)
        check_use(m, state, s, s->uses[i], at);
    if (s->loan != GP_NONE) {
        const GpLoan *l = &m->f->loans.at[s->loan];
        GpBadUse borrow = at;
        borrow.verb = GpAccess_Borrow;
        borrow.place = l->place;
        borrow.span = l->span;
        borrow.loan = l;
        const GpPlace *gone = find_gone(m, state, l->place);
        if (gone)
            report_use(m, borrow, gone);
    }
    check_mutable(m, s);
    apply_uses(m, state, s);
    check_dst(m, state, s, at);
    apply_dst(m, state, s);
}

void gp_form_check_moves(GpForm *f) {
    GpMoves m = {.f = f};
    prepare(&m);
    solve(&m);
    GpBits state = gp_bits_make(f->c->arena, m.bits);
    for (uint32_t i = 0; i < f->order_count; i++) {
        uint32_t block = f->order[i];
        gp_bits_copy(state, m.entry[block]);
        for (uint32_t k = 0; k < f->blocks.at[block].steps.len; k++)
            check_step(&m, state, block, k);
    }
    for (uint32_t i = 0; i < m.errors.len; i++)
        gp_report_moved(&m, &m.errors.at[i].use, m.errors.at[i].sites);
}
