/* Conflicts of borrows in rustc's words: where the loan was made, what conflicts with it, and why
** the loan is still alive there. */
#include "dsl/borrow.h"
#include "dsl/move.h"

static const char *quoted(GpBorrows *b, const GpPlace *p) { return gp_place_quoted(b->f, p); }

/* ---- why a loan is alive --------------------------------------------------------------------- */

typedef struct Why {
    uint32_t slot;           /* the local that may hold it; GP_NONE: the caller */
    uint32_t universal;      /* the caller's region */
    const GpOutlives *blame; /* the constraint that sends it there */
} Why;

typedef GP_VEC(uint32_t) Queue;

/* Breadth first from one region along the constraints. */
typedef struct Search {
    GpForm *f;
    uint32_t first;
    uint32_t *came; /* per region: the constraint that led there + 1; 0: none did yet */
    Queue queue;
} Search;

static void begin(Search *s, uint32_t first) {
    s->first = first;
    s->queue.len = 0;
    memset(s->came, 0, s->f->regions.len * sizeof *s->came);
    GP_PUSH(s->f->c->arena, &s->queue, first);
}

static void go_on(Search *s, uint32_t region) {
    GpForm *f = s->f;
    for (uint32_t c = f->regions.at[region].first; c != GP_NONE; c = f->chain.at[c]) {
        uint32_t to = f->outlives.at[c].shorter;
        if (s->came[to] || to == s->first)
            continue;
        s->came[to] = c + 1;
        GP_PUSH(f->c->arena, &s->queue, to);
    }
}

/* Of the constraints on the way to a region the last one of a return, else the last one. */
static const GpOutlives *find_blame(const Search *s, uint32_t region) {
    const GpOutlives *last = NULL;
    while (region != s->first) {
        const GpOutlives *o = &s->f->outlives.at[s->came[region] - 1];
        if (o->is_return)
            return o;
        if (!last)
            last = o;
        region = o->longer;
    }
    return last;
}

/* What keeps a loan alive: the first thing on its region's way that lives at the conflict. */
static Why find_why(GpBorrows *b, uint32_t loan, GpBits live) {
    GpForm *f = b->f;
    Search s = {.f = f, .came = GP_NEW_ARRAY(f->c->arena, uint32_t, f->regions.len)};
    begin(&s, f->loans.at[loan].region);
    for (uint32_t head = 0; head < s.queue.len; head++) {
        uint32_t r = s.queue.at[head], slot = b->slot_of_region[r];
        if (f->regions.at[r].is_universal)
            return (Why){GP_NONE, r, find_blame(&s, r)};
        if (slot != GP_NONE && gp_bits_has(live, f->slots.at[slot].live))
            return (Why){slot, GP_NONE, find_blame(&s, r)};
        go_on(&s, r);
    }
    return (Why){GP_NONE, GP_NONE, NULL};
}

typedef struct Later {
    const GpStep *step;
    GpOperand use;
    bool is_later_round;
} Later;

static bool scan(GpBorrows *b, uint32_t slot, uint32_t block, uint32_t from, Later *out,
                 bool *stop) {
    const GpBlock *blk = &b->f->blocks.at[block];
    for (uint32_t k = from; k < blk->steps.len; k++) {
        const GpStep *s = &blk->steps.at[k];
        if (gp_step_uses_slot(b->f, s, slot, &out->use)) {
            out->step = s;
            return true;
        }
        if (gp_step_defines_slot(s, slot)) {
            *stop = true;
            return false;
        }
    }
    return false;
}

typedef struct Visit {
    uint32_t block;
    bool is_back;
} Visit;

/* The next step that reads the local, breadth first. */
static bool find_later(GpBorrows *b, uint32_t slot, const GpConflict *c, Later *out) {
    GpForm *f = b->f;
    GpArena *a = f->c->arena;
    bool stop = false;
    if (scan(b, slot, c->block, c->step, out, &stop) || stop)
        return !stop;
    bool *seen = GP_NEW_ARRAY(a, bool, f->blocks.len);
    GP_VEC(Visit) queue = {0};
    GP_PUSH(a, &queue, ((Visit){c->block, false}));
    for (uint32_t head = 0; head < queue.len; head++) {
        Visit v = queue.at[head];
        const GpBlock *blk = &f->blocks.at[v.block];
        for (uint32_t i = 0; i < blk->next.len; i++) {
            uint32_t to = blk->next.at[i];
            if (seen[to])
                continue;
            seen[to] = true;
            bool is_back = v.is_back || f->blocks.at[to].order <= blk->order;
            stop = false;
            if (scan(b, slot, to, 0, out, &stop)) {
                out->is_later_round = is_back;
                return true;
            }
            if (!stop)
                GP_PUSH(a, &queue, ((Visit){to, is_back}));
        }
    }
    return false;
}

static const char *life_name(GpForm *f, uint32_t region) {
    const GpLifetime *l = &f->regions.at[region];
    return l->name ? l->name->name : "'1";
}

static void explain_caller(GpBorrows *b, GpDiag *d, const Why *why, const GpLoan *loan) {
    GpForm *f = b->f;
    if (!why->blame || f->closure)
        return;
    const GpLifetime *l = &f->regions.at[why->universal];
    const char *verb = why->blame->is_return ? "returning this value" : "this usage";
    if (!l->name && l->span.src)
        gp_label(d, l->span, "let's call the lifetime of this reference `'1`");
    gp_label(d, why->blame->span, "%s requires that %s is borrowed for `%s`", verb,
             quoted(b, loan->place), life_name(f, why->universal));
}

/* `first`, `mutable ` ..: says which borrow. */
static void explain(GpBorrows *b, GpDiag *d, const GpConflict *c, const char *which) {
    Why why = find_why(b, c->theirs, c->live);
    if (why.universal != GP_NONE) {
        explain_caller(b, d, &why, &b->f->loans.at[c->theirs]);
        return;
    }
    Later later = {0};
    if (why.slot == GP_NONE || !find_later(b, why.slot, c, &later))
        return;
    const GpStep *s = later.step;
    bool is_temp = b->f->slots.at[why.slot].kind == GpSlot_Temp;
    const char *loop = later.is_later_round ? ", in later iteration of loop" : "";
    if (s->why == GpMove_Closure) {
        const GpClosureForm *cl = gp_map_get(&b->f->closures, s->node);
        gp_label(d, later.use.span, "%sborrow later captured here by closure%s", which, loop);
        for (uint32_t i = 0; cl && i < cl->captures.len; i++)
            if (cl->body->slots.at[cl->captures.at[i].place->local].local ==
                b->f->slots.at[why.slot].local)
                gp_label(d, cl->captures.at[i].span, "%sborrow later used by closure", which);
    } else if (s->kind == GpStep_Call && is_temp) {
        gp_label(d, s->name_span, "%sborrow later used by call%s", which, loop);
    } else if (later.use.kind == GpUse_Inspect && b->f->slots.at[why.slot].kind == GpSlot_User) {
        gp_label(d, later.use.span, "%sborrow later stored here", which);
    } else if (!gp_span_eq(later.use.span, c->span) || later.is_later_round) {
        gp_label(d, later.use.span, "%sborrow later used here%s", which, loop);
    }
}

/* ---- borrow against borrow ------------------------------------------------------------------- */

static const char *word_of(const GpLoan *l) {
    return l->kind == GpLoan_Shared ? "immutable" : "mutable";
}

static void label_closure(GpBorrows *b, GpDiag *d, const GpLoan *l, const char *which) {
    if (l->closure)
        gp_label(d, l->use_span, "%sborrow occurs due to use of %s in closure", which,
                 quoted(b, l->place));
}

static void help_split(GpDiag *d, const GpLoan *x, const GpLoan *y) {
    if (x->place->proj == GpProj_Index && y->place->proj == GpProj_Index)
        gp_help(d,
                "use `.split_at_mut(position)` to obtain two mutable non-overlapping sub-slices");
}

static void report_two_mut(GpBorrows *b, const GpConflict *c, const GpLoan *mine,
                           const GpLoan *theirs) {
    GpDiag *d = gp_diag(b->f->c->diags, GpDiag_E0499, c->span, quoted(b, mine->place));
    if (gp_span_eq(mine->span, theirs->span)) {
        gp_primary_label(d, "%s was mutably borrowed here in the previous iteration of the loop",
                         quoted(b, mine->place));
        explain(b, d, c, "first ");
        return;
    }
    gp_primary_label(d, "second mutable borrow occurs here");
    gp_label(d, theirs->span, "first mutable borrow occurs here");
    label_closure(b, d, theirs, "first ");
    label_closure(b, d, mine, "second ");
    explain(b, d, c, "first ");
    help_split(d, mine, theirs);
}

static void report_two(GpBorrows *b, const GpConflict *c) {
    const GpLoan *mine = &b->f->loans.at[c->mine], *theirs = &b->f->loans.at[c->theirs];
    if (mine->kind != GpLoan_Shared && theirs->kind != GpLoan_Shared) {
        report_two_mut(b, c, mine, theirs);
        return;
    }
    const char *my = word_of(mine), *their = word_of(theirs);
    GpDiag *d = gp_diag(b->f->c->diags, GpDiag_E0502, c->span, quoted(b, mine->place), my, their);
    gp_primary_label(d, "%s borrow occurs here", my);
    if (!gp_span_eq(mine->span, theirs->span))
        gp_label(d, theirs->span, "%s borrow occurs here", their);
    label_closure(b, d, theirs, "first ");
    label_closure(b, d, mine, "second ");
    explain(b, d, c, gp_arena_printf(b->f->c->arena, "%s ", their));
    help_split(d, mine, theirs);
}

/* ---- borrow against anything else ------------------------------------------------------------ */

static void label_closure_use(GpDiag *d, const GpLoan *l) {
    if (l->closure)
        gp_label(d, l->use_span, "borrow occurs due to use in closure");
}

static void label_decl(GpBorrows *b, GpDiag *d, const GpPlace *p) {
    const GpSlot *slot = &b->f->slots.at[p->local];
    if (slot->local)
        gp_label(d, gp_slot_decl_span(slot), "binding `%s` declared here", slot->local->name->name);
}

static void report_use(GpBorrows *b, const GpConflict *c, const GpLoan *theirs) {
    GpDiag *d = gp_diag(b->f->c->diags, GpDiag_E0503, c->span, quoted(b, c->place));
    gp_primary_label(d, "use of borrowed %s", quoted(b, theirs->place));
    gp_label(d, theirs->span, "%s is borrowed here", quoted(b, theirs->place));
    label_closure_use(d, theirs);
    explain(b, d, c, "");
}

static void report_move(GpBorrows *b, const GpConflict *c, const GpLoan *theirs) {
    GpDiag *d = gp_diag(b->f->c->diags, GpDiag_E0505, c->span, quoted(b, c->place));
    gp_primary_label(d, "move out of %s occurs here", quoted(b, c->place));
    label_decl(b, d, theirs->place);
    gp_label(d, theirs->span, "borrow of %s occurs here", quoted(b, theirs->place));
    label_closure_use(d, theirs);
    explain(b, d, c, "");
    gp_note_clone(b->f, d, c->place->type);
}

static void report_assign(GpBorrows *b, const GpConflict *c, const GpLoan *theirs) {
    GpDiag *d = gp_diag(b->f->c->diags, GpDiag_E0506, c->span, quoted(b, c->place));
    gp_primary_label(d, "%s is assigned to here but it was already borrowed", quoted(b, c->place));
    if (!gp_span_eq(theirs->span, c->span))
        gp_label(d, theirs->span, "%s is borrowed here", quoted(b, c->place));
    label_closure_use(d, theirs);
    explain(b, d, c, "");
}

/* ---- what does not live long enough ---------------------------------------------------------- */

static void report_returned(GpBorrows *b, const GpLoan *loan, const GpOutlives *blame) {
    GpForm *f = b->f;
    const GpSlot *slot = &f->slots.at[loan->place->local];
    bool is_direct = gp_span_eq(loan->span, blame->span);
    const char *what = "temporary value", *note = "temporary value created here";
    if (slot->local) {
        const char *name = gp_place_quoted(f, loan->place);
        const char *kind = loan->place->parent          ? "local data"
                           : slot->kind == GpSlot_Param ? "function parameter"
                                                        : "local variable";
        what = gp_arena_printf(f->c->arena, "%s %s", kind, name);
        note = gp_arena_printf(f->c->arena, "%s is borrowed here", name);
    }
    GpDiag *d = gp_diag(f->c->diags, GpDiag_E0515, blame->span,
                        is_direct ? "reference to" : "value referencing", what);
    gp_primary_label(d, "returns a %s data owned by the current function",
                     is_direct ? "reference to" : "value referencing");
    if (!is_direct)
        gp_label(d, loan->span, "%s", note);
}

/* A closure that borrows what dies before it. */
static void report_escaping(GpBorrows *b, const GpLoan *loan, const GpOutlives *blame) {
    GpDiag *d = gp_diag(b->f->c->diags, GpDiag_E0373, loan->span, quoted(b, loan->place));
    gp_primary_label(d, "may outlive borrowed value %s", quoted(b, loan->place));
    gp_label(d, loan->use_span, "%s is borrowed here", quoted(b, loan->place));
    gp_note_at(d, blame->span, "closure is returned here");
    gp_suggest(d, (GpSpan){loan->span.src, loan->span.off, 0}, "move ",
               "to force the closure to take ownership of %s (and any other referenced variables), "
               "use the `move` keyword",
               quoted(b, loan->place));
}

static void report_temporary(GpBorrows *b, const GpConflict *c, const GpLoan *loan) {
    GpSpan at = b->f->slots.at[loan->place->local].span;
    GpDiag *d = gp_diag(b->f->c->diags, GpDiag_E0716, at);
    gp_primary_label(d, "creates a temporary value which is freed while still in use");
    bool is_stmt = c->span.src && c->span.len == 1 && c->span.src->text[c->span.off] == ';';
    gp_label(d, c->span, "temporary value is freed at the end of this %s",
             is_stmt ? "statement" : "block");
    explain(b, d, c, "");
    gp_help(d, "consider using a `let` binding to create a longer lived value");
}

static void report_ended(GpBorrows *b, const GpConflict *c, const GpLoan *loan) {
    GpForm *f = b->f;
    Why why = find_why(b, c->theirs, c->live);
    if (why.universal != GP_NONE && why.blame && why.blame->is_return) {
        if (loan->closure)
            report_escaping(b, loan, why.blame);
        else
            report_returned(b, loan, why.blame);
        return;
    }
    const GpSlot *slot = &f->slots.at[loan->place->local];
    if (!slot->local) {
        report_temporary(b, c, loan);
        return;
    }
    GpSpan at = loan->closure ? loan->use_span : loan->span;
    GpDiag *d = gp_diag(f->c->diags, GpDiag_E0597, at, quoted(b, loan->place));
    gp_primary_label(d, "borrowed value does not live long enough");
    if (loan->closure)
        gp_label(d, loan->span, "value captured here");
    label_decl(b, d, loan->place);
    GpSpan end = c->span;
    if (slot->kind == GpSlot_Param && !f->closure) { /* a parameter ends with the body */
        GpSpan body = GP_AS(Fn, f->fn->node)->body->span;
        end = (GpSpan){body.src, body.off + body.len - 1, 1};
    }
    gp_label(d, end, "%s dropped here while still borrowed", quoted(b, loan->place));
    explain(b, d, c, "");
}

void gp_report_conflict(GpBorrows *b, const GpConflict *c) {
    const GpLoan *theirs = &b->f->loans.at[c->theirs];
    b->f->reported++;
    switch (c->touch) {
    case GpTouch_Copy:
    case GpTouch_Look:
        report_use(b, c, theirs);
        return;
    case GpTouch_Shared:
    case GpTouch_Mut:
    case GpTouch_Reserve:
        report_two(b, c);
        return;
    case GpTouch_Move:
        report_move(b, c, theirs);
        return;
    case GpTouch_Assign:
        report_assign(b, c, theirs);
        return;
    case GpTouch_End:
        report_ended(b, c, theirs);
        return;
    }
    gp_unreachable();
}

/* ---- lifetimes of the caller ----------------------------------------------------------------- */

/* A named lifetime is wanted of a parameter whose own is not written: naming it helps. */
static bool report_explicit(GpForm *f, uint32_t from, uint32_t to, const GpOutlives *blame) {
    const GpSlot *slot = NULL;
    for (uint32_t i = 0; i < f->slots.len && !slot; i++)
        for (uint32_t k = 0; k < f->slots.at[i].place->regions.len; k++)
            if (f->slots.at[i].kind == GpSlot_Param && f->slots.at[i].place->regions.at[k] == from)
                slot = &f->slots.at[i];
    if (f->regions.at[from].name || !f->regions.at[to].name || !slot || !slot->local ||
        strcmp(slot->local->name->name, "self") == 0)
        return false;
    const char *life = life_name(f, to);
    GpDiag *d = gp_diag(f->c->diags, GpDiag_E0621, blame->span, slot->local->name->name);
    gp_primary_label(d, "lifetime `%s` required", life);
    GpSpan ref = f->regions.at[from].span;
    if (ref.src && ref.src->text[ref.off] == '&')
        gp_suggest(d, (GpSpan){ref.src, ref.off + 1, 0}, gp_arena_printf(f->c->arena, "%s ", life),
                   "add explicit lifetime `%s` to the type of `%s`", life, slot->local->name->name);
    f->reported++;
    return true;
}

static void report_outlives(GpForm *f, uint32_t from, uint32_t to, const GpOutlives *blame) {
    GpDiag *d = gp_diag(f->c->diags, GpDiag_G0160, blame->span);
    const char *x = f->regions.at[from].name ? life_name(f, from) : "'1";
    const char *y = f->regions.at[to].name ? life_name(f, to) : "'2";
    if (blame->is_return)
        gp_primary_label(d,
                         "function was supposed to return data with lifetime `%s` but it is "
                         "returning data with lifetime `%s`",
                         y, x);
    else
        gp_primary_label(d, "this usage requires that `%s` must outlive `%s`", x, y);
    if (f->regions.at[from].span.src)
        gp_label(d, f->regions.at[from].span, "lifetime `%s` is the one of this reference", x);
    f->reported++;
}

/* What flows from one region of the caller into another one that nothing says it outlives. */
static void check_universal(Search *s, uint32_t from, const bool *declared) {
    GpForm *f = s->f;
    begin(s, from);
    for (uint32_t head = 0; head < s->queue.len; head++) {
        uint32_t r = s->queue.at[head];
        if (f->regions.at[r].is_universal && !declared[r]) {
            const GpOutlives *blame = find_blame(s, r);
            if (!report_explicit(f, from, r, blame))
                report_outlives(f, from, r, blame);
            return;
        }
        go_on(s, r);
    }
}

/* Everything that a region outlives by what the signature says. */
static void find_declared(GpForm *f, uint32_t from, bool *declared, Queue *queue) {
    bool is_static =
        f->regions.at[from].name && strcmp(f->regions.at[from].name->name, "'static") == 0;
    memset(declared, is_static, f->regions.len * sizeof *declared);
    declared[from] = true;
    queue->len = 0;
    GP_PUSH(f->c->arena, queue, from);
    for (uint32_t head = 0; head < queue->len; head++)
        for (uint32_t i = 0; i < f->known.len; i++) {
            const GpOutlives *o = &f->known.at[i];
            if (o->longer != queue->at[head] || declared[o->shorter])
                continue;
            declared[o->shorter] = true;
            GP_PUSH(f->c->arena, queue, o->shorter);
        }
}

void gp_report_lifetimes(GpBorrows *b) {
    GpForm *f = b->f;
    if (f->closure)
        return;
    GpArena *a = f->c->arena;
    bool *declared = GP_NEW_ARRAY(a, bool, f->regions.len);
    Search s = {.f = f, .came = GP_NEW_ARRAY(a, uint32_t, f->regions.len)};
    for (uint32_t r = 0; r < f->regions.len; r++) {
        if (!f->regions.at[r].is_universal || f->regions.at[r].first == GP_NONE)
            continue;
        find_declared(f, r, declared, &s.queue);
        check_universal(&s, r, declared);
    }
}
