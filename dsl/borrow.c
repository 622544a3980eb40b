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

static bool is_live(const GpBorrows *b, const GpCursor *cur, uint32_t loan) {
    return b->is_eternal[loan] || cur->count[loan];
}

static void flip(const GpBorrows *b, GpCursor *cur, uint32_t live) {
    bool was = gp_bits_has(cur->live, live);
    if (was)
        gp_bits_del(cur->live, live);
    else
        gp_bits_add(cur->live, live);
    const GpIdVec *loans = &b->loans_of_live[live];
    for (uint32_t i = 0; i < loans->len; i++) {
        uint32_t loan = loans->at[i];
        cur->count[loan] += was ? UINT32_MAX : 1;
        if (!is_live(b, cur, loan))
            gp_bits_del(cur->scope, loan);
    }
}

/* What becomes live or dead before each step, found backwards from the block's end. */
static void find_changes(const GpBorrows *b, GpCursor *cur, uint32_t block) {
    GpForm *f = b->f;
    const GpBlock *blk = &f->blocks.at[block];
    GpArena *a = f->c->arena;
    GpBits live = gp_bits_make(a, f->live_count), before = gp_bits_make(a, f->live_count);
    cur->changes = GP_NEW_ARRAY(a, GpIdVec, blk->steps.len + 1);
    gp_bits_copy(live, b->live_out[block]);
    for (uint32_t k = blk->steps.len; k-- > 0;) {
        gp_bits_copy(before, live);
        gp_step_live(f, &blk->steps.at[k], before);
        for (uint32_t w = 0; w < live.words; w++)
            for (uint64_t diff = live.at[w] ^ before.at[w]; diff; diff &= diff - 1)
                GP_PUSH(a, &cur->changes[k + 1], w * 64 + (uint32_t)__builtin_ctzll(diff));
        gp_bits_copy(live, before);
    }
}

static void enter_block(const GpBorrows *b, GpCursor *cur, uint32_t block) {
    find_changes(b, cur, block);
    memset(cur->count, 0, b->f->loans.len * sizeof *cur->count);
    memset(cur->live.at, 0, cur->live.words * sizeof *cur->live.at);
    gp_bits_copy(cur->scope, b->in_scope[block]);
    const GpBits in = b->live_in[block];
    GpBits keep = cur->scope;
    for (uint32_t w = 0; w < in.words; w++)
        for (uint64_t set = in.at[w]; set; set &= set - 1)
            flip(b, cur, w * 64 + (uint32_t)__builtin_ctzll(set));
    for (uint32_t w = 0; w < keep.words; w++)
        for (uint64_t set = keep.at[w]; set; set &= set - 1) {
            uint32_t loan = w * 64 + (uint32_t)__builtin_ctzll(set);
            if (!is_live(b, cur, loan))
                gp_bits_del(cur->scope, loan);
        }
}

/* A variable that is overwritten or ends takes the loans of its parts along. */
static void kill(const GpBorrows *b, GpCursor *cur, const GpStep *s) {
    if (!s->dst)
        return;
    const GpIdVec *loans = &b->loans_of_slot[s->dst->local];
    for (uint32_t i = 0; i < loans->len; i++)
        if (gp_place_is_prefix(s->dst, b->f->loans.at[loans->at[i]].place) &&
            !(s->dst->parent && s->dst->proj == GpProj_Index))
            gp_bits_del(cur->scope, loans->at[i]);
}

/* The state before step k + 1. */
static void pass_step(const GpBorrows *b, GpCursor *cur, const GpStep *s, uint32_t k) {
    kill(b, cur, s);
    /* What becomes live first: a loan may pass from one local to the next. */
    const GpIdVec *flips = &cur->changes[k + 1];
    uint32_t dying = 0;
    for (uint32_t i = 0; i < flips->len; i++) {
        if (gp_bits_has(cur->live, flips->at[i]))
            flips->at[dying++] = flips->at[i];
        else
            flip(b, cur, flips->at[i]);
    }
    for (uint32_t i = 0; i < dying; i++)
        flip(b, cur, flips->at[i]);
    if (s->loan == GP_NONE || gp_loan_is_ignored(b->f, &b->f->loans.at[s->loan]))
        return;
    gp_bits_del(cur->active, s->loan);
    if (is_live(b, cur, s->loan))
        gp_bits_add(cur->scope, s->loan);
}

static GpCursor make_cursor(GpForm *f) {
    GpArena *a = f->c->arena;
    return (GpCursor){.live = gp_bits_make(a, f->live_count),
                      .scope = gp_bits_make(a, f->loans.len),
                      .active = gp_bits_make(a, f->loans.len),
                      .count = GP_NEW_ARRAY(a, uint32_t, f->loans.len)};
}

static void solve(GpBorrows *b) {
    GpForm *f = b->f;
    b->in_scope = GP_NEW_ARRAY(f->c->arena, GpBits, f->blocks.len);
    for (uint32_t i = 0; i < f->order_count; i++)
        b->in_scope[f->order[i]] = gp_bits_make(f->c->arena, f->loans.len);
    GpCursor cur = make_cursor(f);
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t i = 0; i < f->order_count; i++) {
            const GpBlock *blk = &f->blocks.at[f->order[i]];
            GpMark mark = gp_arena_mark(f->c->arena);
            enter_block(b, &cur, f->order[i]);
            for (uint32_t k = 0; k < blk->steps.len; k++)
                pass_step(b, &cur, &blk->steps.at[k], k);
            gp_arena_restore(f->c->arena, mark);
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

static bool was_reported(GpBorrows *b, const GpPlace *p, GpSpan span) {
    uint64_t key = (uint64_t)p->id << 32 | span.off;
    for (uint32_t i = 0; i < b->reported.len; i++)
        if (b->reported.at[i] == key)
            return true;
    GP_PUSH(b->f->c->arena, &b->reported, key);
    return false;
}

static void touch(const Check *c, const GpPlace *p, GpTouch how, GpSpan span, uint32_t mine) {
    GpBorrows *b = c->b;
    const GpIdVec *loans = &b->loans_of_slot[p->local];
    bool is_shallow = how == GpTouch_Look || how == GpTouch_Assign || how == GpTouch_End;
    for (uint32_t i = 0; i < loans->len; i++) {
        uint32_t loan = loans->at[i];
        if (!gp_bits_has(c->cur->scope, loan) || is_allowed(c, how, loan) ||
            !may_overlap(b->f->loans.at[loan].place, p, is_shallow))
            continue;
        if (mine != GP_NONE && how == GpTouch_Mut && loan == mine &&
            gp_bits_has(c->cur->active, mine))
            continue; /* its own activation */
        GpConflict conflict = {c->block, c->step, how, p, span, mine, loan, c->cur->live};
        GpSpan at = how == GpTouch_End ? b->f->loans.at[loan].span : span;
        if (!was_reported(b, how == GpTouch_End ? b->f->slots.at[p->local].place : p, at))
            gp_report_conflict(b, &conflict);
        return;
    }
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
            touch(c, c->b->f->loans.at[loan].place, GpTouch_Mut, s->span, loan);
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
        if (slot->kind == GpSlot_Param && gp_bits_has(c->cur->scope, i) && c->b->is_eternal[i] &&
            is_in_frame(l->place))
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
    b->loans_of_slot = GP_NEW_ARRAY(a, GpIdVec, f->slots.len);
    b->held = GP_NEW_ARRAY(a, GpIdVec, f->slots.len);
    for (uint32_t i = 0; i < f->loans.len; i++) {
        GP_PUSH(a, &b->loans_of_slot[f->loans.at[i].place->local], i);
        if (f->loans.at[i].kind == GpLoan_TwoPhase)
            GP_PUSH(a, &b->held[f->loans.at[i].holder], i);
    }
}

void gp_form_check_borrows(GpForm *f) {
    GpBorrows b = {.f = f};
    gp_borrow_live(&b);
    index_loans(&b);
    solve(&b);
    GpCursor cur = make_cursor(f);
    for (uint32_t i = 0; i < f->order_count; i++) {
        Check c = {&b, &cur, f->order[i], 0};
        const GpBlock *blk = &f->blocks.at[c.block];
        enter_block(&b, &cur, c.block);
        for (; c.step < blk->steps.len; c.step++) {
            check_step(&c, &blk->steps.at[c.step]);
            pass_step(&b, &cur, &blk->steps.at[c.step], c.step);
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
