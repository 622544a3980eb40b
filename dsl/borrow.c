/* Borrows: E0499, E0502, E0503, E0505, E0506, E0515, E0597, E0716 and lifetimes that are too
** short.
**
** Theorem: while a loan is in scope nothing conflicts with it: a shared loan admits reads, a
** mutable one admits nothing but what goes through it. A loan is in scope from its borrow along
** every path on which it stays live, until its place is overwritten or ends. A two-phase loan
** (the `&mut` that a method call takes by itself) admits reads until its first use.
** Accesses of a whole conflict with loans of its parts, except that writing a variable does not
** touch what a reference in it points to. The rules are rustc's (rustc_borrowck,
** places_conflict and check_access_for_conflict). */
#include "dsl/borrow.h"

/* ---- conflicts of places --------------------------------------------------------------------- */

static const GpPlace *at_depth(const GpPlace *p, uint32_t depth) {
    while (p->depth > depth)
        p = p->parent;
    return p;
}

/* Whether touching `access` may touch what is borrowed. Both have the same root. */
static bool may_overlap(const GpPlace *borrowed, const GpPlace *access, bool is_shallow) {
    uint32_t common = GP_MIN(borrowed->depth, access->depth);
    for (uint32_t d = 1; d <= common; d++) {
        const GpPlace *x = at_depth(borrowed, d), *y = at_depth(access, d);
        if (x == y)
            continue;
        if (x->proj != y->proj) /* an element at a known place against one at any */
            return true;
        if (x->proj == GpProj_Field && x->parent->type->kind == GpTy_Adt &&
            x->parent->type->def->kind == GpDef_Union)
            return true;
        if (x->proj == GpProj_Field || x->proj == GpProj_Variant)
            return false;
    }
    for (uint32_t d = common + 1; is_shallow && d <= borrowed->depth; d++)
        if (at_depth(borrowed, d)->proj == GpProj_Deref)
            return false;
    return true;
}

/* ---- the cursor ------------------------------------------------------------------------------ */

static uint32_t set_of(const GpBorrows *b, uint32_t loan) {
    return b->set_of_region[b->f->loans.at[loan].region];
}

static bool is_live(const GpBorrows *b, const GpCursor *cur, uint32_t loan) {
    uint32_t set = set_of(b, loan);
    return b->sets[set].is_eternal || cur->count[set];
}

static GpIdVec *list_of(const GpBorrows *b, const GpCursor *cur, uint32_t loan) {
    const GpLoan *l = &b->f->loans.at[loan];
    GpOpenLoans *open = &cur->open[l->place->local];
    return l->kind == GpLoan_Shared ? &open->shared : &open->unique;
}

static void open_loan(const GpBorrows *b, GpCursor *cur, uint32_t loan) {
    if (gp_bits_has(cur->scope, loan))
        return;
    GpIdVec *list = list_of(b, cur, loan);
    gp_bits_add(cur->scope, loan);
    cur->place[loan] = list->len;
    GP_PUSH(b->f->c->arena, list, loan);
}

static void close_loan(const GpBorrows *b, GpCursor *cur, uint32_t loan) {
    if (!gp_bits_has(cur->scope, loan))
        return;
    GpIdVec *list = list_of(b, cur, loan);
    uint32_t last = list->at[--list->len];
    gp_bits_del(cur->scope, loan);
    list->at[cur->place[loan]] = last;
    cur->place[last] = cur->place[loan];
}

static void close_dead(const GpBorrows *b, GpCursor *cur, uint32_t set) {
    const GpIdVec *loans = &b->sets[set].loans;
    for (uint32_t i = 0; i < loans->len && !b->sets[set].is_eternal; i++)
        close_loan(b, cur, loans->at[i]);
}

/* A set that becomes live or dead passes that on to those that flow into it. */
static void change_set(const GpBorrows *b, GpCursor *cur, uint32_t set, bool is_more) {
    GP_PUSH(b->f->c->arena, &cur->work, set);
    while (cur->work.len) {
        uint32_t at = cur->work.at[--cur->work.len];
        bool passes = is_more ? cur->count[at]++ == 0 : --cur->count[at] == 0;
        if (!passes)
            continue;
        if (!is_more)
            close_dead(b, cur, at);
        for (uint32_t i = 0; i < b->sets[at].longer.len; i++)
            GP_PUSH(b->f->c->arena, &cur->work, b->sets[at].longer.at[i]);
    }
}

static void flip(const GpBorrows *b, GpCursor *cur, uint32_t live) {
    bool was = gp_bits_has(cur->live, live);
    const GpRegions own = b->f->slots.at[b->slot_of_live[live]].place->regions;
    if (was)
        gp_bits_del(cur->live, live);
    else
        gp_bits_add(cur->live, live);
    for (uint32_t i = 0; i < own.len; i++)
        change_set(b, cur, b->set_of_region[own.at[i]], !was);
}

static void enter_block(const GpBorrows *b, GpCursor *cur, uint32_t block) {
    const GpBits in = b->live_in[block], scope = b->in_scope[block];
    for (uint32_t w = 0; w < in.words; w++)
        for (uint64_t diff = in.at[w] & ~cur->live.at[w]; diff; diff &= diff - 1)
            flip(b, cur, w * 64 + (uint32_t)__builtin_ctzll(diff));
    for (uint32_t w = 0; w < in.words; w++)
        for (uint64_t diff = cur->live.at[w] & ~in.at[w]; diff; diff &= diff - 1)
            flip(b, cur, w * 64 + (uint32_t)__builtin_ctzll(diff));
    for (uint32_t w = 0; w < scope.words; w++)
        for (uint64_t set = scope.at[w] | cur->scope.at[w]; set; set &= set - 1) {
            uint32_t loan = w * 64 + (uint32_t)__builtin_ctzll(set);
            if (gp_bits_has(scope, loan) && is_live(b, cur, loan))
                open_loan(b, cur, loan);
            else
                close_loan(b, cur, loan);
        }
}

static void kill_in(const GpBorrows *b, GpCursor *cur, const GpStep *s, const GpIdVec *loans) {
    for (uint32_t i = loans->len; i-- > 0;)
        if (gp_place_is_prefix(s->dst, b->f->loans.at[loans->at[i]].place))
            close_loan(b, cur, loans->at[i]);
}

/* A variable that is overwritten or ends takes the loans of its parts along. */
static void kill(const GpBorrows *b, GpCursor *cur, const GpStep *s) {
    if (!s->dst || (s->dst->parent && s->dst->proj == GpProj_Index))
        return;
    kill_in(b, cur, s, &cur->open[s->dst->local].shared);
    kill_in(b, cur, s, &cur->open[s->dst->local].unique);
}

/* The state behind step k of the block. */
static void pass_step(const GpBorrows *b, GpCursor *cur, uint32_t block, uint32_t k) {
    const GpStep *s = &b->f->blocks.at[block].steps.at[k];
    const GpLiveChanges *changes = &b->changes[block];
    uint32_t last = k + 1 < b->f->blocks.at[block].steps.len ? changes->end[k + 1] : 0;
    kill(b, cur, s);
    /* What becomes live first: a loan may pass from one local to the next. */
    for (uint32_t dies = 0; dies < 2; dies++)
        for (uint32_t i = last; i < changes->end[k]; i++)
            if (changes->all.at[i] % 2 == dies)
                flip(b, cur, changes->all.at[i] / 2);
    if (s->loan == GP_NONE || gp_loan_is_ignored(b->f, &b->f->loans.at[s->loan]))
        return;
    gp_bits_del(cur->active, s->loan);
    if (is_live(b, cur, s->loan))
        open_loan(b, cur, s->loan);
}

static GpCursor make_cursor(const GpBorrows *b) {
    const GpForm *f = b->f;
    GpArena *a = f->c->arena;
    return (GpCursor){.live = gp_bits_make(a, f->live_count),
                      .count = GP_NEW_ARRAY(a, uint32_t, b->set_count),
                      .scope = gp_bits_make(a, f->loans.len),
                      .open = GP_NEW_ARRAY(a, GpOpenLoans, f->slots.len),
                      .place = GP_NEW_ARRAY(a, uint32_t, f->loans.len),
                      .active = gp_bits_make(a, f->loans.len)};
}

static void solve(GpBorrows *b) {
    GpForm *f = b->f;
    b->in_scope = GP_NEW_ARRAY(f->c->arena, GpBits, f->blocks.len);
    for (uint32_t i = 0; i < f->order_count; i++)
        b->in_scope[f->order[i]] = gp_bits_make(f->c->arena, f->loans.len);
    GpCursor cur = make_cursor(b);
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t i = 0; i < f->order_count; i++) {
            const GpBlock *blk = &f->blocks.at[f->order[i]];
            enter_block(b, &cur, f->order[i]);
            for (uint32_t k = 0; k < blk->steps.len; k++)
                pass_step(b, &cur, f->order[i], k);
            for (uint32_t k = 0; k < blk->next.len; k++)
                changed |= gp_bits_join(b->in_scope[blk->next.at[k]], cur.scope);
        }
    }
}

/* ---- accesses -------------------------------------------------------------------------------- */

typedef struct Check {
    GpBorrows *b;
    GpCursor *cur;
    uint32_t block, step;
} Check;

static bool is_allowed(const Check *c, GpTouch touch, uint32_t loan) {
    const GpLoan *l = &c->b->f->loans.at[loan];
    bool is_read = touch == GpTouch_Copy || touch == GpTouch_Look || touch == GpTouch_Shared;
    if (l->kind == GpLoan_Shared)
        return is_read || touch == GpTouch_Reserve;
    return is_read && l->kind == GpLoan_TwoPhase && !gp_bits_has(c->cur->active, loan);
}

static GpSym report_key(const GpBorrows *b, const GpPlace *p, uint32_t at) {
    const uint32_t key[2] = {p->id, at};
    return gp_intern(b->f->c->names, (const char *)key, sizeof key);
}

static bool was_reported(GpBorrows *b, const GpPlace *p, uint32_t at) {
    GpSym sym = report_key(b, p, at);
    if (gp_map_has(&b->reported, sym))
        return true;
    gp_map_set(b->f->c->arena, &b->reported, sym, b);
    return false;
}

/* Stands for the place of any report of a two-phase loan that could not begin. */
enum { RESERVED = -1 };

/* The first loan of a list, in the order of the text, that the touch conflicts with. */
static uint32_t find_conflict(const Check *c, const GpIdVec *open, const GpPlace *p, GpTouch how,
                              uint32_t mine) {
    bool is_shallow = how == GpTouch_Look || how == GpTouch_Assign || how == GpTouch_End;
    bool is_activation = mine != GP_NONE && how == GpTouch_Mut && gp_bits_has(c->cur->active, mine);
    uint32_t found = GP_NONE;
    for (uint32_t i = 0; i < open->len; i++) {
        uint32_t loan = open->at[i];
        if (loan < found && !is_allowed(c, how, loan) && !(is_activation && loan == mine) &&
            may_overlap(c->b->f->loans.at[loan].place, p, is_shallow))
            found = loan;
    }
    return found;
}

static void touch(const Check *c, const GpPlace *p, GpTouch how, GpSpan span, uint32_t mine) {
    GpBorrows *b = c->b;
    const GpOpenLoans *open = &c->cur->open[p->local];
    bool is_read = how == GpTouch_Copy || how == GpTouch_Look || how == GpTouch_Shared ||
                   how == GpTouch_Reserve;
    uint32_t unique = find_conflict(c, &open->unique, p, how, mine);
    uint32_t shared = is_read ? GP_NONE : find_conflict(c, &open->shared, p, how, mine);
    uint32_t loan = GP_MIN(unique, shared);
    if (loan == GP_NONE)
        return;
    GpConflict conflict = {c->block, c->step, how, p, span, mine, loan, c->cur->live};
    GpSpan at = how == GpTouch_End ? b->f->loans.at[loan].span : span;
    if (how == GpTouch_Reserve)
        (void)was_reported(b, p, (uint32_t)RESERVED);
    if (!was_reported(b, how == GpTouch_End ? b->f->slots.at[p->local].place : p, at.off))
        gp_report_conflict(b, &conflict);
}

/* The first use of the temporary that holds a two-phase loan makes it a full one. */
static void activate(const Check *c, const GpStep *s) {
    for (uint32_t i = 0; i < s->use_count; i++) {
        const GpIdVec *held = &c->b->held[s->uses[i].place->local];
        for (uint32_t k = 0; k < held->len; k++) {
            uint32_t loan = held->at[k];
            if (!gp_bits_has(c->cur->scope, loan) || gp_bits_has(c->cur->active, loan))
                continue;
            gp_bits_add(c->cur->active, loan);
            const GpPlace *p = c->b->f->loans.at[loan].place;
            if (!gp_map_has(&c->b->reported, report_key(c->b, p, (uint32_t)RESERVED)))
                touch(c, p, GpTouch_Mut, s->span, loan);
        }
    }
}

static void check_use(const Check *c, GpOperand u) {
    switch (u.kind) {
    case GpUse_Copy:
        touch(c, u.place, GpTouch_Copy, u.span, GP_NONE);
        break;
    case GpUse_Move:
        touch(c, u.place, GpTouch_Move, u.span, GP_NONE);
        break;
    case GpUse_Look:
        touch(c, u.place, GpTouch_Look, u.span, GP_NONE);
        break;
    case GpUse_Inspect:
        break;
    }
}

static bool is_in_frame(const GpPlace *p) {
    for (; p->parent; p = p->parent)
        if (p->proj == GpProj_Deref)
            return false;
    return true;
}

/* Parameters end with the function: loans of them may not leave it. */
static void check_exit(const Check *c) {
    GpForm *f = c->b->f;
    for (uint32_t i = 0; i < f->loans.len; i++) {
        const GpLoan *l = &f->loans.at[i];
        const GpSlot *slot = &f->slots.at[l->place->local];
        if (slot->kind == GpSlot_Param && gp_bits_has(c->cur->scope, i) &&
            c->b->sets[set_of(c->b, i)].is_eternal && is_in_frame(l->place))
            touch(c, slot->place, GpTouch_End, l->span, GP_NONE);
    }
}

static void check_step(const Check *c, const GpStep *s) {
    activate(c, s);
    for (uint32_t i = 0; i < s->use_count; i++)
        check_use(c, s->uses[i]);
    if (s->loan != GP_NONE) {
        const GpLoan *l = &c->b->f->loans.at[s->loan];
        GpTouch how = l->kind == GpLoan_Shared ? GpTouch_Shared
                      : l->kind == GpLoan_Mut  ? GpTouch_Mut
                                               : GpTouch_Reserve;
        touch(c, l->place, how, l->span, s->loan);
    }
    switch (s->kind) {
    case GpStep_Assign:
    case GpStep_Call:
        if (s->dst)
            touch(c, s->dst, GpTouch_Assign, s->span, GP_NONE);
        break;
    case GpStep_Dead:
        touch(c, s->dst, GpTouch_End, s->span, GP_NONE);
        break;
    case GpStep_Return:
        check_exit(c);
        break;
    case GpStep_Live:
        break;
    }
}

static void index_loans(GpBorrows *b) {
    GpForm *f = b->f;
    GpArena *a = f->c->arena;
    b->held = GP_NEW_ARRAY(a, GpIdVec, f->slots.len);
    for (uint32_t i = 0; i < f->loans.len; i++)
        if (f->loans.at[i].kind == GpLoan_TwoPhase)
            GP_PUSH(a, &b->held[f->loans.at[i].holder], i);
}

void gp_form_check_borrows(GpForm *f) {
    GpBorrows b = {.f = f};
    gp_borrow_live(&b);
    index_loans(&b);
    solve(&b);
    GpCursor cur = make_cursor(&b);
    for (uint32_t i = 0; i < f->order_count; i++) {
        Check c = {&b, &cur, f->order[i], 0};
        const GpBlock *blk = &f->blocks.at[c.block];
        enter_block(&b, &cur, c.block);
        for (; c.step < blk->steps.len; c.step++) {
            check_step(&c, &blk->steps.at[c.step]);
            pass_step(&b, &cur, c.block, c.step);
        }
    }
    gp_report_lifetimes(&b);
}

/* ---- entry ----------------------------------------------------------------------------------- */

static void check_closures(GpForm *f) {
    for (uint32_t i = 0; i < f->closures.cap; i++) {
        if (!f->closures.slots[i].key)
            continue;
        GpClosureForm *cl = f->closures.slots[i].value;
        gp_form_check_moves(cl->body);
        gp_form_check_borrows(cl->body);
        check_closures(cl->body);
    }
}

void gp_check_moves(GpCheck *c, GpDef *fn) {
    if (!fn->node || fn->node->kind != GpNode_Fn || !GP_AS(Fn, fn->node)->body)
        return;
    GpForm *f = gp_form_make(c, fn);
    gp_form_check_moves(f);
    gp_form_check_borrows(f);
    check_closures(f);
}
