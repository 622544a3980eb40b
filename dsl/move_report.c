/* E0381, E0382, E0384, E0507 and E0508 in rustc's words. */
#include "dsl/move.h"

/* ---- common parts ---------------------------------------------------------------------------- */

GpSpan gp_slot_decl_span(const GpSlot *slot) {
    GpSpan s = slot->span;
    if (!s.src || !slot->local || !slot->local->is_mut)
        return s;
    const char *text = s.src->text;
    uint32_t at = s.off;
    while (at > 0 && (text[at - 1] == ' ' || text[at - 1] == '\n' || text[at - 1] == '\t'))
        at--;
    if (at < 3 || at == s.off || memcmp(text + at - 3, "mut", 3) != 0)
        return s;
    return (GpSpan){s.src, at - 3, s.off + s.len - (at - 3)};
}

static const char *type_name(GpForm *f, const GpType *t) { return gp_ty_name(f->c->arena, t); }

static const GpDef *user_type(const GpType *t) {
    return t->kind == GpTy_Adt && !t->def->is_std && t->def->node && t->def->span.src ? t->def
                                                                                      : NULL;
}

void gp_note_clone(GpForm *f, GpDiag *d, const GpType *t) {
    const GpDef *def = user_type(t);
    if (!def)
        return;
    GpSpan head = def->node->span;
    head.len = def->span.off + def->span.len - head.off;
    gp_note_at(d, head, "if `%s` implemented `Clone`, you could clone the value", type_name(f, t));
}

static void note_no_copy(GpForm *f, GpDiag *d, const GpPlace *p, bool is_partial) {
    const char *what = gp_place_quoted(f, p), *type = type_name(f, p->type);
    const GpSlot *slot = &f->slots.at[p->local];
    const char *word = is_partial ? "partial move" : "move";
    if (!p->parent && slot->local)
        gp_label(d, gp_slot_decl_span(slot),
                 "%s occurs because %s has type `%s`, which does not implement the `Copy` trait",
                 word, what, type);
    else
        gp_note(d, "%s occurs because %s has type `%s`, which does not implement the `Copy` trait",
                word, what, type);
}

/* ---- E0382 ----------------------------------------------------------------------------------- */

static void label_site(GpForm *f, GpDiag *d, const GpMoveSite *site, bool is_partial,
                       bool is_same) {
    const GpStep *s = &f->blocks.at[site->block].steps.at[site->step];
    const char *loop = site->is_earlier_round ? ", in previous iteration of loop" : "";
    const char *part = is_partial ? "partially " : "";
    const char *what = gp_place_quoted(f, site->place);
    switch (s->why) {
    case GpMove_Method:
        gp_label(d, s->name_span, "%s %smoved due to this method call%s", what, part, loop);
        return;
    case GpMove_Call:
        gp_label(d, s->span, "%s %smoved due to this call%s", what, part, loop);
        return;
    case GpMove_Closure: {
        const GpClosureForm *cl = gp_map_get(&f->closures, s->node);
        if (is_same)
            gp_primary_label(d, "value %smoved into closure here%s", part, loop);
        else
            gp_label(d, site->span, "value %smoved into closure here%s", part, loop);
        for (uint32_t i = 0; cl && i < cl->captures.len; i++)
            if (cl->body->slots.at[cl->captures.at[i].place->local].local ==
                f->slots.at[site->place->local].local)
                gp_label(d, cl->captures.at[i].span, "variable moved due to use in closure");
        return;
    }
    case GpMove_Plain:
    case GpMove_Pattern:
        if (is_same)
            gp_primary_label(d, "value %smoved here%s", part, loop);
        else
            gp_label(d, site->span, "value %smoved here%s", part, loop);
        return;
    }
    gp_unreachable();
}

/* Loops around the move that the variable was declared outside of. */
static void label_loops(GpForm *f, GpDiag *d, const GpMoveSite *site, GpSpan decl) {
    for (uint32_t i = 0; i < f->order_count; i++) {
        const GpBlock *head = &f->blocks.at[f->order[i]];
        if (!head->is_loop || head->order > f->blocks.at[site->block].order || !head->loop_span.src)
            continue;
        bool is_around = false; /* an edge back to the head from the move's block or later */
        for (uint32_t k = 0; k < head->prev.len; k++)
            is_around |= f->blocks.at[head->prev.at[k]].order >= f->blocks.at[site->block].order;
        if (is_around && decl.off < head->loop_span.off && site->span.off > head->loop_span.off)
            gp_label(d, head->loop_span, "inside of this loop");
    }
}

static const GpNode *param_of(const GpDef *def, uint32_t i) {
    if (!def || def->is_std || !def->node || def->node->kind != GpNode_Fn)
        return NULL;
    GpNodeList params = GP_AS(Fn, def->node)->params;
    return i < params.len ? params.at[i] : NULL;
}

static const char *owner_name(GpForm *f, const GpDef *def) {
    if (def->parent && def->parent->kind == GpDef_Impl && def->parent->self_type &&
        def->parent->self_type->kind == GpTy_Adt)
        return gp_arena_printf(f->c->arena, "%s::%s", def->parent->self_type->def->name->name,
                               def->name->name);
    return def->name->name;
}

/* Which argument of a call stands there, the receiver first; GP_NONE: none. */
static uint32_t find_arg(const GpStep *call, GpSpan span) {
    GpNode *n = (GpNode *)(uintptr_t)call->node;
    bool is_method = n->kind == GpNode_MethodCall;
    GpNodeList args = is_method                ? GP_AS(MethodCall, n)->args
                      : n->kind == GpNode_Call ? GP_AS(Call, n)->args
                                               : (GpNodeList){0};
    for (uint32_t i = 0; i < args.len; i++)
        if (args.at[i]->span.off == span.off)
            return is_method ? i + 1 : i;
    return GP_NONE;
}

/* The call that takes what the step puts into a temporary. */
static const GpStep *find_call(const GpForm *f, const GpMoveSite *site, uint32_t *arg) {
    const GpBlock *blk = &f->blocks.at[site->block];
    const GpPlace *dst = blk->steps.at[site->step].dst;
    for (uint32_t k = site->step + 1; dst && k < blk->steps.len; k++) {
        const GpStep *s = &blk->steps.at[k];
        if (s->kind != GpStep_Call || !s->callee)
            continue;
        for (uint32_t i = 0; i < s->use_count; i++) {
            *arg = s->uses[i].place == dst ? find_arg(s, s->uses[i].span) : GP_NONE;
            if (*arg != GP_NONE)
                return s;
        }
    }
    return NULL;
}

static void note_callee(GpForm *f, GpDiag *d, const GpMoveSite *site) {
    const GpStep *s = &f->blocks.at[site->block].steps.at[site->step];
    if (s->why == GpMove_Method) {
        const GpNode *self = param_of(s->callee, 0);
        if (self)
            gp_note_at(d, (GpSpan){self->span.src, self->span.off + self->span.len - 4, 4},
                       "`%s` takes ownership of the receiver `self`, which moves %s",
                       owner_name(f, s->callee), gp_place_quoted(f, site->place));
        return;
    }
    uint32_t arg = 0;
    const GpStep *call = s->why == GpMove_Plain ? find_call(f, site, &arg) : NULL;
    const GpNode *param = call ? param_of(call->callee, arg) : NULL;
    if (param && param->kind == GpNode_Param && ((const GpAstParam *)param)->type) {
        const GpType *t =
            arg < call->callee->sig.param_count ? call->callee->sig.params[arg] : NULL;
        if (t && t->kind != GpTy_Param)
            gp_note_at(d, ((const GpAstParam *)param)->type->span,
                       "consider changing this parameter type in %s `%s` to borrow instead if "
                       "owning the value isn't "
                       "necessary",
                       call->callee->sig.has_self ? "method" : "function",
                       call->callee->name->name);
    }
}

static bool is_word(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

/* The place of `let` when `[at, at + len)` is all that a `let NAME = ..;` assigns. */
static bool find_let(const char *text, uint32_t at, uint32_t len, uint32_t *out) {
    uint32_t i = at;
    if (text[at + len] != ';' || i < 3 || memcmp(text + i - 3, " = ", 3) != 0)
        return false;
    for (i -= 3; i > 0 && is_word(text[i - 1]);)
        i--;
    bool is_let = i >= 4 && memcmp(text + i - 4, "let ", 4) == 0 && i < at - 3 &&
                  (i == 4 || !is_word(text[i - 5]));
    *out = i - 4;
    return is_let;
}

/* The text [from, to) up to the last `call` in it, each replaced by `i` that begins at `first` or
** after. Gives where that text ends. */
static uint32_t replace_calls(GpText *out, const char *text, const char *call, uint32_t from,
                              uint32_t first, uint32_t to) {
    uint32_t len = (uint32_t)strlen(call);
    for (uint32_t at = first; at + len <= to; at++) {
        if (memcmp(text + at, call, len) != 0 || is_word(text[at - 1]) || text[at - 1] == '.')
            continue;
        gp_text_add(out, text + from, at - from);
        gp_text_puts(out, "i");
        from = at + len;
    }
    return from;
}

static void put_indent(GpText *out, const char *text, uint32_t off) {
    uint32_t line = off, indent = 0;
    while (line > 0 && text[line - 1] != '\n')
        line--;
    while (text[line + indent] == ' ' || text[line + indent] == '\t')
        indent++;
    gp_text_add(out, text + line, indent);
}

/* The witness of a thread's index is used up by `get_mut`; its number is not. From the statement
** of the move to the use: a `let` of the number moves before it, or gets there, to be used. */
static void help_witness(GpForm *f, GpDiag *d, const GpMoveSite *site, GpSpan use) {
    const GpStep *s = &f->blocks.at[site->block].steps.at[site->step];
    const char *name = gp_place_name(f, site->place);
    if (!name || !gp_ty_is_lang(site->place->type, GpLang_ThreadIndex) || !s->stmt ||
        !s->stmt->span.src)
        return;
    GpSpan stmt = s->stmt->span;
    const char *text = stmt.src->text;
    const char *call = gp_arena_printf(f->c->arena, "%s.get()", name);
    uint32_t len = (uint32_t)strlen(call), end = use.off + len, let;
    if (use.off < stmt.off || end >= stmt.src->len || memcmp(text + use.off, call, len) != 0)
        return;
    const char *number = gp_arena_printf(f->c->arena, "let i = %s;", call);
    bool has_let = find_let(text, use.off, len, &let) && let > stmt.off;
    if (has_let)
        number = gp_arena_copy(f->c->arena, text + let, ++end - let);
    GpText out = {.session = gp_arena_session(f->c->arena)};
    gp_text_printf(&out, "%s\n", number);
    put_indent(&out, text, stmt.off);
    if (has_let) {
        while (let > stmt.off && strchr(" \t\n", text[let - 1]))
            let--;
        gp_text_add(&out, text + stmt.off, let - stmt.off);
    } else {
        end = replace_calls(&out, text, call, stmt.off, site->span.off,
                            GP_MAX(stmt.off + stmt.len, end));
    }
    gp_suggest(d, (GpSpan){stmt.src, stmt.off, end - stmt.off}, gp_text_cstr(&out),
               "take the index out of the witness first: `%s`", number);
    gp_text_free(&out);
}

static void note_once(GpForm *f, GpDiag *d, const GpMoveSite *site) {
    const GpStep *s = &f->blocks.at[site->block].steps.at[site->step];
    const GpType *t = site->place->type;
    const GpClosureForm *cl = t->kind == GpTy_Closure ? gp_map_get(&f->closures, t->node) : NULL;
    if (s->why != GpMove_Call || !cl || !cl->moved_name)
        return;
    gp_note_at(d, cl->moved_span,
               "closure cannot be invoked more than once because it moves the variable %s out of "
               "its environment",
               cl->moved_name);
    gp_note_at(d, site->span,
               "this value implements `FnOnce`, which causes it to be moved when called");
}

/* The moves of a use, or of parts of what it uses; whether one of them is the use itself. */
static bool label_sites(GpForm *f, GpDiag *d, const GpBadUse *use, GpMoveSet sites,
                        bool is_partial) {
    bool is_use = sites.len == 1 && sites.at[0].span.off == use->span.off;
    for (uint32_t i = 0; i < sites.len; i++) {
        const GpMoveSite *s = &sites.at[i];
        bool is_same = s->span.off == use->span.off && s->span.len == use->span.len;
        is_use |= is_same && f->blocks.at[s->block].steps.at[s->step].why != GpMove_Method;
        label_site(f, d, s, is_partial, is_same);
        if (s->is_earlier_round)
            label_loops(f, d, s, f->slots.at[use->place->local].span);
    }
    return is_use;
}

void gp_report_moved(GpMoves *m, const GpBadUse *use, GpMoveSet sites) {
    static const struct {
        const char *title, *label;
    } words[] = {[GpAccess_Use] = {"use", "used"},
                 [GpAccess_Borrow] = {"borrow", "borrowed"},
                 [GpAccess_Assign] = {"assign to part", "partially assigned"}};
    GpForm *f = m->f;
    bool is_partial = false;
    const GpPlace *moved = use->place;
    for (uint32_t i = 0; i < sites.len; i++)
        if (sites.at[i].place != use->place && gp_place_is_prefix(use->place, sites.at[i].place)) {
            is_partial = true;
            moved = sites.at[i].place;
        }
    GpDiag *d = gp_diag(f->c->diags, GpDiag_E0382, use->span,
                        gp_arena_printf(f->c->arena, "%s of%s", words[use->verb].title,
                                        is_partial ? " partially" : ""),
                        gp_place_quoted(f, use->place));
    f->reported++;
    if (!label_sites(f, d, use, sites, is_partial))
        gp_primary_label(d, "value %s here after %smove", words[use->verb].label,
                         is_partial ? "partial " : "");
    if (use->loan && use->loan->closure)
        gp_label(d, use->loan->use_span, "borrow occurs due to use in closure");
    if (moved->type->kind != GpTy_Closure)
        note_no_copy(f, d, moved, is_partial);
    note_once(f, d, &sites.at[0]);
    note_callee(f, d, &sites.at[0]);
    help_witness(f, d, &sites.at[0], use->span);
    const GpStep *first = &f->blocks.at[sites.at[0].block].steps.at[sites.at[0].step];
    if (!is_partial && (first->why == GpMove_Plain || first->why == GpMove_Closure))
        gp_note_clone(f, d, moved->type);
}

/* ---- E0381 ----------------------------------------------------------------------------------- */

static void suggest_value(GpForm *f, GpDiag *d, const GpSlot *slot) {
    const GpType *t = slot->local->type;
    const char *value = NULL;
    if (t->kind == GpTy_Elem)
        value = t->elem == GpElem_Bool ? "false" : gp_elem_is_float(t->elem) ? "42.0" : "42";
    else if (t->kind == GpTy_Usize || t->kind == GpTy_Isize)
        value = "42";
    if (!value || !slot->let_span.src)
        return;
    GpSpan end = {slot->let_span.src, slot->let_span.off + slot->let_span.len - 1, 0};
    gp_suggest(d, end, gp_arena_printf(f->c->arena, " = %s", value), "consider assigning a value");
}

void gp_report_uninit(GpMoves *m, const GpBadUse *use, bool is_partial_assign,
                      bool is_conditional) {
    GpForm *f = m->f;
    const GpSlot *slot = &f->slots.at[use->place->local];
    const char *name = gp_place_quoted(f, slot->place);
    if (is_partial_assign) {
        GpDiag *d = gp_diag(f->c->diags, GpDiag_E0381, use->span, "partially assigned", name,
                            "isn't fully initialized");
        gp_primary_label(d, "%s partially assigned here but it isn't fully initialized", name);
        gp_label(d, gp_slot_decl_span(slot), "binding declared here but left uninitialized");
        gp_help(d, "partial initialization isn't supported, fully initialize the binding with a "
                   "default value and "
                   "mutate it, or use `std::mem::MaybeUninit`");
        f->reported++;
        return;
    }
    const char *how = is_conditional ? "is possibly-uninitialized" : "isn't initialized";
    GpDiag *d = gp_diag(f->c->diags, GpDiag_E0381, use->span, "used", name, how);
    f->reported++;
    gp_primary_label(d, "%s %s here but it %s", name,
                     use->verb == GpAccess_Borrow ? "borrowed" : "used", how);
    gp_label(d, gp_slot_decl_span(slot), "binding declared here but left uninitialized");
    if (!is_conditional && slot->local)
        suggest_value(f, d, slot);
}

void gp_report_reassign(GpMoves *m, const GpPlace *p, GpSpan span) {
    GpForm *f = m->f;
    const GpSlot *slot = &f->slots.at[p->local];
    const char *name = slot->local->name->name;
    GpDiag *d = gp_diag(
        f->c->diags, GpDiag_E0384, span,
        gp_arena_printf(f->c->arena, "cannot assign twice to immutable variable `%s`", name));
    f->reported++;
    gp_primary_label(d, "cannot assign twice to immutable variable");
    gp_suggest(d, (GpSpan){slot->span.src, slot->span.off, 0}, "mut ",
               "consider making this binding mutable");
}

/* ---- E0594, E0596 ---------------------------------------------------------------------------- */

void gp_report_captured(GpMoves *m, GpDiagCode code, const GpPlace *p, GpSpan span) {
    GpForm *f = m->f;
    bool is_borrow = code == GpDiag_E0596;
    const char *place = gp_place_quoted(f, p);
    const char *why = "a captured variable in a `Fn` closure";
    f->reported++;
    GpDiag *d = is_borrow ? gp_diag(f->c->diags, code, span, place, why)
                          : gp_diag(f->c->diags, code, span,
                                    gp_arena_printf(f->c->arena, "%s, as it is %s", place, why));
    gp_primary_label(d, is_borrow ? "cannot borrow as mutable" : "cannot assign");
}

void gp_report_immutable(GpMoves *m, const GpLoan *l) {
    GpForm *f = m->f;
    const GpSlot *slot = &f->slots.at[l->place->local];
    if (!slot->local || slot->local->is_mut)
        return;
    f->reported++;
    GpDiag *d = gp_diag(f->c->diags, GpDiag_E0596, l->span, gp_place_quoted(f, l->place),
                        "not declared as mutable");
    gp_primary_label(d, "cannot borrow as mutable");
    gp_suggest(d, (GpSpan){slot->span.src, slot->span.off, 0}, "mut ",
               "consider changing this to be mutable");
}

/* ---- E0507, E0508 ---------------------------------------------------------------------------- */

static const GpPlace *find_barrier(const GpPlace *p) {
    for (; p->parent; p = p->parent)
        if (p->proj == GpProj_Deref || p->proj == GpProj_Index)
            return p;
    return NULL;
}

/* The place in front of the variants that a pattern went through. */
static const char *describe_source(GpForm *f, const GpPlace *p) {
    const GpDef *variant = NULL;
    for (const GpPlace *q = p; q->parent; q = q->parent)
        if (q->proj == GpProj_Variant) {
            variant = q->variant;
            p = q->parent;
        }
    if (!variant)
        return gp_place_quoted(f, p);
    while (p->parent && p->proj == GpProj_Deref)
        p = p->parent;
    return gp_arena_printf(f->c->arena, "%s as enum variant `%s`", gp_place_quoted(f, p),
                           variant->name->name);
}

static GpDiag *begin_illegal(GpMoves *m, GpPlace *p, GpSpan span) {
    GpForm *f = m->f;
    const GpPlace *barrier = find_barrier(p);
    if (!barrier)
        return gp_diag(
            f->c->diags, GpDiag_E0507, span, gp_place_quoted(f, p),
            gp_arena_printf(f->c->arena, ", a captured variable in an `%s` closure", f->bound));
    if (barrier->proj == GpProj_Index) {
        const GpType *t = barrier->parent->type;
        return gp_diag(f->c->diags, GpDiag_E0508, span, type_name(f, t),
                       t->kind == GpTy_Array ? "array" : "slice");
    }
    const GpType *ref = barrier->parent->type;
    const char *behind = ref->kind == GpTy_RawPtr ? " which is behind a raw pointer"
                         : ref->is_mut            ? " which is behind a mutable reference"
                                                  : " which is behind a shared reference";
    return gp_diag(f->c->diags, GpDiag_E0507, span, describe_source(f, p), behind);
}

void gp_report_illegal_move(GpMoves *m, const GpStep *s, GpOperand use) {
    GpForm *f = m->f;
    const GpPlace *barrier = find_barrier(use.place);
    bool is_pattern = s->why == GpMove_Pattern && s->node;
    bool is_index = barrier && barrier->proj == GpProj_Index;
    GpSpan span = is_pattern ? s->node->span : use.span;
    GpDiag *d = begin_illegal(m, use.place, span);
    f->reported++;
    const char *type = type_name(f, use.place->type);
    if (is_pattern) {
        if (is_index)
            gp_primary_label(d, "cannot move out of here");
        gp_label(d, use.span, "data moved here");
        gp_label(d, use.span,
                 "move occurs because %s has type `%s`, which does not implement the `Copy` trait",
                 s->dst ? gp_place_quoted(f, s->dst) : "value", type);
        gp_suggest(d, (GpSpan){span.src, span.off, 0}, "&", "consider borrowing here");
        return;
    }
    if (is_index)
        gp_primary_label(d, "cannot move out of here");
    const char *text =
        "move occurs because %s has type `%s`, which does not implement the `Copy` trait";
    if (s->why == GpMove_Method) {
        gp_label(d, s->name_span, "%s moved due to this method call",
                 gp_place_quoted(f, use.place));
        gp_primary_label(d, text, gp_place_quoted(f, use.place), type);
    } else if (is_index) {
        gp_label(d, use.span, text, gp_place_quoted(f, use.place), type);
    } else {
        gp_primary_label(d, text, gp_place_quoted(f, use.place), type);
    }
    gp_note_clone(f, d, use.place->type);
    if (s->dst && f->slots.at[s->dst->local].kind == GpSlot_User && s->why == GpMove_Plain)
        gp_suggest(d, (GpSpan){span.src, span.off, 0}, "&", "consider borrowing here");
}
