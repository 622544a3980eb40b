/* Lifetimes as declared: names that nothing declares (E0261), and references of fields and results
** whose lifetime is left out where no elision rule of the Rust reference says it (E0106). */
#include "dsl/resolve.h"

typedef struct Life {
    GpCheck *c;
    GpMap declared;       /* GpSym -> itself */
    uint32_t count;       /* positions of lifetimes that were passed */
    const GpNode *elided; /* the first one that is not written */
    GpSpan span;          /* where a name goes there */
} Life;

static void declare_list(Life *l, GpNodeList lifetimes) {
    for (uint32_t i = 0; i < lifetimes.len; i++) {
        GpNode *n = lifetimes.at[i];
        GpSym name = n->kind == GpNode_Lifetime ? GP_AS(Lifetime, n)->name
                     : n->kind == GpNode_Generic && GP_AS(Generic, n)->is_lifetime
                         ? GP_AS(Generic, n)->name
                         : NULL;
        if (name)
            gp_map_set(l->c->arena, &l->declared, name, (void *)(uintptr_t)name);
    }
}

/* ---- names that are not declared --------------------------------------------------------------
 */

static void check_name(Life *l, GpSym name, GpSpan at) {
    if (!name || strcmp(name->name, "'static") == 0 || strcmp(name->name, "'_") == 0 ||
        gp_map_get(&l->declared, name))
        return;
    gp_map_set(l->c->arena, &l->declared, name, (void *)(uintptr_t)name); /* once */
    GpDiag *d = gp_diag(l->c->diags, GpDiag_E0261, at, name->name);
    gp_primary_label(d, "undeclared lifetime");
    gp_help(d, "declare it in the generics of the item: `<%s>`", name->name);
}

/* The lifetime in the text of a reference. */
static GpSpan name_span(const GpNode *n, GpSym name) {
    const char *text = n->span.src ? n->span.src->text + n->span.off : "";
    for (uint32_t i = 0; name && i + name->len <= n->span.len; i++)
        if (memcmp(text + i, name->name, name->len) == 0)
            return (GpSpan){n->span.src, n->span.off + i, name->len};
    return n->span;
}

static void visit_names(GpNode *n, void *ud) {
    Life *l = ud;
    if (n->kind == GpNode_ItemStmt)
        return; /* has names of its own */
    if (n->kind == GpNode_Bound)
        declare_list(l, GP_AS(Bound, n)->lifetimes);
    else if (n->kind == GpNode_Where)
        declare_list(l, GP_AS(Where, n)->lifetimes);
    else if (n->kind == GpNode_TypeFn)
        declare_list(l, GP_AS(TypeFn, n)->lifetimes);
    GpSym name = n->kind == GpNode_TypeRef     ? GP_AS(TypeRef, n)->lifetime
                 : n->kind == GpNode_SelfParam ? GP_AS(SelfParam, n)->lifetime
                 : n->kind == GpNode_Lifetime  ? GP_AS(Lifetime, n)->name
                 : n->kind == GpNode_Bound     ? GP_AS(Bound, n)->lifetime
                 : n->kind == GpNode_Where     ? GP_AS(Where, n)->lifetime
                                               : NULL;
    check_name(l, name, name_span(n, name));
    gp_node_children(n, visit_names, ud);
}

/* ---- lifetimes that are left out ----------------------------------------------------------------
 */

static uint32_t declared_lifetimes(const GpType *t) {
    if (!t || t->kind != GpTy_Adt || !t->def->node)
        return 0;
    GpNodeList list = gp_node_generics(t->def->node);
    uint32_t count = 0;
    for (uint32_t i = 0; i < list.len; i++)
        count += GP_AS(Generic, list.at[i])->is_lifetime;
    return count;
}

static void pass(Life *l, const GpNode *n, GpSym written, GpSpan at) {
    l->count++;
    if (l->elided || (written && strcmp(written->name, "'_") != 0))
        return;
    l->elided = n;
    l->span = at;
}

/* `Row` for `Row<'a>`: lifetimes may be left out all together. */
static void pass_path(Life *l, GpNode *n) {
    GpAstPath *p = GP_AS(Path, GP_AS(TypePath, n)->path);
    uint32_t want = declared_lifetimes(n->type);
    if (!want || !p->segments.len)
        return;
    GpAstSegment *seg = GP_AS(Segment, p->segments.at[p->segments.len - 1]);
    for (uint32_t i = 0; i < seg->args.len; i++)
        if (seg->args.at[i]->kind == GpNode_Lifetime)
            return;
    if (strcmp(seg->name->name, "Self") == 0)
        return;
    for (uint32_t i = 0; i < want; i++)
        pass(l, n, NULL, (GpSpan){n->span.src, n->span.off, seg->name->len});
}

static void visit_positions(GpNode *n, void *ud) {
    Life *l = ud;
    if (n->kind == GpNode_TypeFn || (n->kind == GpNode_Segment && GP_AS(Segment, n)->is_call))
        return; /* elision starts anew in them */
    if (n->kind == GpNode_TypeRef)
        pass(l, n, GP_AS(TypeRef, n)->lifetime, (GpSpan){n->span.src, n->span.off, 1});
    else if (n->kind == GpNode_Lifetime)
        pass(l, n, GP_AS(Lifetime, n)->name, n->span);
    else if (n->kind == GpNode_TypePath)
        pass_path(l, n);
    gp_node_children(n, visit_positions, ud);
}

static bool has_ref_self(GpAstFn *fn) {
    if (!fn->params.len || fn->params.at[0]->kind != GpNode_SelfParam)
        return false;
    GpAstSelfParam *p = GP_AS(SelfParam, fn->params.at[0]);
    return p->is_ref || (p->type && p->type->kind == GpNode_TypeRef);
}

static GpDiag *report_missing(Life *l) {
    GpDiag *d = gp_diag(l->c->diags, GpDiag_E0106, l->span);
    gp_primary_label(d, "expected named lifetime parameter");
    return d;
}

static void check_result(GpCheck *c, GpAstFn *fn) {
    Life params = {.c = c}, ret = {.c = c};
    if (!fn->ret || has_ref_self(fn))
        return;
    visit_positions(fn->ret, &ret);
    if (!ret.elided)
        return;
    for (uint32_t i = 0; i < fn->params.len; i++)
        if (fn->params.at[i]->kind == GpNode_Param && GP_AS(Param, fn->params.at[i])->type)
            visit_positions(GP_AS(Param, fn->params.at[i])->type, &params);
    if (params.count == 1)
        return;
    GpDiag *d = report_missing(&ret);
    if (params.count)
        gp_note(d, "the result contains a borrowed value, but the signature does not say from "
                   "which parameter it is borrowed");
    else
        gp_note(d, "the result contains a borrowed value, but there is no parameter that it could "
                   "be borrowed from");
    if (params.count)
        gp_help(d, "name the lifetime: `fn %s<'a>(.. &'a ..) -> &'a ..`", fn->name->name);
    else
        gp_help(d, "return the value itself");
}

static void check_fields(GpCheck *c, GpNodeList fields) {
    for (uint32_t i = 0; i < fields.len; i++) {
        Life l = {.c = c};
        if (fields.at[i]->kind != GpNode_FieldDef)
            continue;
        visit_positions(GP_AS(FieldDef, fields.at[i])->type, &l);
        if (l.elided)
            gp_help(report_missing(&l), "declare a lifetime: `<'a>` behind the type's name, and "
                                        "name it here: `&'a ..`");
    }
}

void gp_check_lifetimes(GpCollect *k, GpDef *def) {
    if (k->is_std || !def->node || def->kind == GpDef_Module || def->kind == GpDef_Macro)
        return;
    Life l = {.c = k->c};
    for (const GpDef *at = def; at && at->node; at = at->parent)
        declare_list(&l, gp_node_generics(at->node));
    if (def->kind == GpDef_Impl || def->kind == GpDef_Trait) { /* its items are defs of their own */
        GpNodeList generics = gp_node_generics(def->node);
        for (uint32_t i = 0; i < generics.len; i++)
            visit_names(generics.at[i], &l);
        if (def->kind == GpDef_Impl)
            visit_names(GP_AS(Impl, def->node)->self_type, &l);
        return;
    }
    visit_names(def->node, &l);
    if (def->kind == GpDef_Fn)
        check_result(k->c, GP_AS(Fn, def->node));
    else if (def->kind == GpDef_Struct)
        check_fields(k->c, GP_AS(Struct, def->node)->fields);
    else if (def->kind == GpDef_Variant)
        check_fields(k->c, GP_AS(Variant, def->node)->fields);
}
