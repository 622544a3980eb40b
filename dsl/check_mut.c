/* Mutability: what may be assigned and borrowed as mutable (E0070, E0384, E0594, E0596), and which
** locals need memory because a reference to them exists.
**
** `let x;` and its first assignment are the move checker's: it alone knows the paths. */
#include "dsl/check_body.h"

/* A place, read from its outside in. */
typedef struct Place {
    GpLocal *root;        /* NULL: a value or a static */
    const GpDef *item;    /* the static; NULL: none */
    const GpNode *shared; /* the expression whose & reference the place goes through */
    bool is_through;      /* goes through a reference or pointer */
    bool is_whole;        /* the local itself */
} Place;

static void step_refs(GpBody *b, Place *p, const GpNode *base, const GpType *t, uint32_t derefs) {
    for (uint32_t i = 0; i < derefs; i++) {
        t = gp_body_head(b, t);
        if ((t->kind == GpTy_Ref || t->kind == GpTy_RawPtr) && !t->is_mut && !p->shared)
            p->shared = base;
        p->is_through = true;
        if (t->kind != GpTy_Ref)
            return;
        t = t->inner;
    }
}

static uint32_t count_derefs(const GpNode *n) {
    uint32_t count = 0;
    for (const GpAdjust *a = n->adjust; a; a = a->next)
        count += a->kind == GpAdjust_Deref;
    return count;
}

static Place read_place(GpBody *b, GpNode *n) {
    Place p = {.is_whole = true};
    for (;;) {
        n = gp_node_bare(n);
        if (n->kind == GpNode_PathExpr) {
            p.root = n->res && n->res->kind == GpRes_Local ? n->res->local : NULL;
            p.item = n->res && n->res->kind == GpRes_Def ? n->res->def : NULL;
            return p;
        }
        p.is_whole = false;
        if (n->kind == GpNode_Field) {
            GpNode *base = GP_AS(Field, n)->base;
            step_refs(b, &p, base, gp_expr_type(base), n->res ? n->res->derefs : 0);
            n = base;
        } else if (n->kind == GpNode_Index) {
            GpNode *base = GP_AS(Index, n)->base;
            step_refs(b, &p, base, base->type, count_derefs(base));
            n = base;
        } else if (n->kind == GpNode_Unary && GP_AS(Unary, n)->op == GpTok_Star) {
            GpNode *base = GP_AS(Unary, n)->operand;
            step_refs(b, &p, base, gp_expr_type(base), 1);
            n = base;
        } else {
            return p;
        }
    }
}

bool gp_body_is_place(GpBody *b, GpNode *n) {
    (void)b;
    n = gp_node_bare(n);
    if (n->kind == GpNode_PathExpr)
        return !n->res || n->res->kind == GpRes_Local ||
               (n->res->kind == GpRes_Def && n->res->def && n->res->def->kind == GpDef_Static);
    return n->kind == GpNode_Field || n->kind == GpNode_Index ||
           (n->kind == GpNode_Unary && GP_AS(Unary, n)->op == GpTok_Star);
}

/* The local that a place is part of without going through a reference; NULL when there is none. */
static GpLocal *place_root(GpBody *b, GpNode *place) {
    Place p = read_place(b, place);
    return p.is_through ? NULL : p.root;
}

void gp_body_mark_addressed(GpBody *b, GpNode *place) {
    GpLocal *root = place_root(b, place);
    if (root)
        root->is_addressed = true;
}

/* `x.y`, `a[_]`, `*p`: as rustc names places. */
static const char *describe(GpBody *b, GpNode *n) {
    n = gp_node_bare(n);
    if (n->kind == GpNode_Field)
        return gp_arena_printf(b->c->arena, "%s.%s", describe(b, GP_AS(Field, n)->base),
                               GP_AS(Field, n)->name->name);
    if (n->kind == GpNode_Index)
        return gp_arena_printf(b->c->arena, "%s[_]", describe(b, GP_AS(Index, n)->base));
    if (n->kind == GpNode_Unary && GP_AS(Unary, n)->op == GpTok_Star)
        return gp_arena_printf(b->c->arena, "*%s", describe(b, GP_AS(Unary, n)->operand));
    return gp_body_text(b, n->span);
}

/* ---- helps ------------------------------------------------------------------------------- */

static GpSpan before(GpSpan span) { return (GpSpan){span.src, span.off, 0}; }

static void help_local(GpDiag *d, const GpLocal *l, const char *text) {
    if (l->span.src && l->name && strcmp(l->name->name, "self") != 0)
        gp_suggest(d, before(l->span), "mut ", "%s", text);
}

/* The written type of the reference that the place goes through. */
static void help_shared(GpBody *b, GpDiag *d, const GpNode *shared) {
    const GpNode *n = gp_node_bare((GpNode *)(uintptr_t)shared);
    if (n->kind != GpNode_PathExpr || !n->res || n->res->kind != GpRes_Local)
        return;
    const GpLocalInfo *info = &b->infos.at[n->res->local->id];
    const GpType *t = gp_body_head(b, n->res->local->type);
    const GpType *slice = t->kind == GpTy_Ref ? gp_body_head(b, t->inner) : t;
    const GpNode *self = b->fn->sig.has_self ? GP_AS(Fn, b->fn->node)->params.at[0] : NULL;
    if (self && n->res->local->is_param && strcmp(n->res->local->name->name, "self") == 0) {
        if (gp_body_text(b, self->span)[0] == '&' && strlen(gp_body_text(b, self->span)) == strlen("&self"))
            gp_suggest(d, self->span, "&mut self", "consider changing this to be a mutable reference");
        return;
    }
    if (b->fn->kernel.track == GpTrack_Simt && n->res->local->is_param && info->type_node &&
        slice->kind == GpTy_Slice) {
        const char *name = n->res->local->name->name;
        GpSpan whole = gp_span_join(n->res->local->span, info->type_node->span);
        gp_suggest(d, whole,
                   gp_arena_printf(b->c->arena, "mut %s: DisjointSlice<%s>", name,
                                   gp_body_name(b, slice->inner)),
                   "threads write to a `DisjointSlice`, each to its own element: "
                   "`if let Some(o) = %s.get_mut(idx) { *o = .. }`",
                   name);
        return;
    }
    if (info->type_node && info->type_node->kind == GpNode_TypeRef &&
        !GP_AS(TypeRef, info->type_node)->lifetime)
        gp_suggest(d, (GpSpan){info->type_node->span.src, info->type_node->span.off + 1, 0}, "mut ",
                   "consider changing this to be a mutable reference");
    else if (info->init && info->init->kind == GpNode_Borrow)
        gp_suggest(d, (GpSpan){info->init->span.src, info->init->span.off + 1, 0}, "mut ",
                   "consider changing this to be a mutable reference");
}

/* ---- assignment -------------------------------------------------------------------------- */

static void report_whole(GpBody *b, GpLocal *l, GpSpan span) {
    const char *what = l->is_param ? "cannot assign to immutable argument"
                                   : "cannot assign twice to immutable variable";
    GpDiag *d = gp_diag(b->c->diags, GpDiag_E0384, span,
                        gp_arena_printf(b->c->arena, "%s `%s`", what, l->name->name));
    gp_primary_label(d, "%s", what);
    if (!l->is_param)
        gp_label(d, l->span, "first assignment to `%s`", l->name->name);
    help_local(d, l, "consider making this binding mutable");
}

void gp_body_check_assignable(GpBody *b, GpNode *place, GpSpan span, GpSpan op, bool is_compound) {
    if (place->type && gp_body_is(b, place->type, GpTy_Error))
        return;
    if (!gp_body_is_place(b, place)) {
        GpDiag *d = gp_diag(b->c->diags, is_compound ? GpDiag_E0067 : GpDiag_E0070, op);
        gp_label(d, place->span, "cannot assign to this expression");
        return;
    }
    Place p = read_place(b, place);
    if (p.shared) {
        GpDiag *d = gp_diag(b->c->diags, GpDiag_E0594, span,
                            gp_arena_printf(b->c->arena, "`%s`, which is behind a `&` reference",
                                            describe(b, place)));
        gp_primary_label(d, "`%s` is a `&` reference, so it cannot be written",
                         describe(b, (GpNode *)(uintptr_t)p.shared));
        help_shared(b, d, p.shared);
        return;
    }
    GpLocal *l = p.root;
    if (!p.is_through && p.item && p.item->kind == GpDef_Static && p.item->node &&
        !GP_AS(Static, p.item->node)->is_mut)
        gp_primary_label(
            gp_diag(b->c->diags, GpDiag_E0594, span,
                    gp_arena_printf(b->c->arena, "immutable static item `%s`", p.item->name->name)),
            "cannot assign");
    if (!l || p.is_through)
        return;
    if (l->is_mut)
        return;
    if (p.is_whole && l->closure == b->closure) {
        if (!b->infos.at[l->id].is_deferred)
            report_whole(b, l, span);
        return;
    }
    const char *which = p.is_whole ? "it" : gp_arena_printf(b->c->arena, "`%s`", l->name->name);
    GpDiag *d = gp_diag(b->c->diags, GpDiag_E0594, span,
                        gp_arena_printf(b->c->arena, "`%s`, as %s is not declared as mutable",
                                        describe(b, place), which));
    gp_primary_label(d, "cannot assign");
    help_local(d, l, "consider changing this to be mutable");
}

/* ---- mutable borrows --------------------------------------------------------------------- */

static void report_shared(GpBody *b, const char *place, const GpNode *shared, GpSpan span) {
    GpDiag *d = gp_diag(b->c->diags, GpDiag_E0596, span,
                        gp_arena_printf(b->c->arena, "`%s`", place), "behind a `&` reference");
    gp_primary_label(
        d, "`%s` is a `&` reference, so the data it refers to cannot be borrowed as mutable",
        describe(b, (GpNode *)(uintptr_t)shared));
    help_shared(b, d, shared);
}

static void check_place(GpBody *b, GpNode *place, GpSpan span, Place p, const char *name) {
    if (p.shared) {
        report_shared(b, name, p.shared, span);
        return;
    }
    GpLocal *l = p.root;
    if (!l || p.is_through || l->is_mut || gp_body_is(b, place->type, GpTy_Error))
        return;
    if (l->is_param && b->fn->kernel.track != GpTrack_None && gp_ty_is_lang(l->type, GpLang_Tensor))
        return; /* G0212 */
    GpDiag *d = gp_diag(b->c->diags, GpDiag_E0596, span, gp_arena_printf(b->c->arena, "`%s`", name),
                        "not declared as mutable");
    gp_primary_label(d, "cannot borrow as mutable");
    help_local(d, l, "consider changing this to be mutable");
}

void gp_body_check_borrow_mut(GpBody *b, GpNode *place, GpSpan span) {
    if (gp_body_is_place(b, place))
        check_place(b, place, span, read_place(b, place), describe(b, place));
}

void gp_body_check_reborrow_mut(GpBody *b, GpNode *receiver, const GpType *from, uint32_t derefs) {
    Place p = {0};
    step_refs(b, &p, receiver, from, derefs);
    if (gp_body_is_place(b, receiver)) {
        Place inner = read_place(b, receiver);
        p.root = inner.root;
        p.shared = p.shared ? p.shared : inner.shared;
    }
    if (p.shared)
        report_shared(b, gp_arena_printf(b->c->arena, "*%s", describe(b, receiver)), p.shared,
                      receiver->span);
}
