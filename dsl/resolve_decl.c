/* What a declaration shows to be wrong by itself: types that hold themselves (E0072), generics that
** nothing decides (E0392, E0207), Copy of what is not (E0204), discriminants given twice (E0081).
*/
#include "dsl/resolve.h"

/* ---- generics that are mentioned --------------------------------------------------------------
 */

typedef struct Mentions {
    GpCheck *c;
    GpMap params; /* GpDef of a generic -> itself */
    bool has_error;
} Mentions;

static void mention(Mentions *m, const GpDef *param) {
    gp_map_set(m->c->arena, &m->params, param, (void *)(uintptr_t)param);
}

static void visit_const(Mentions *m, const GpConst *value) {
    for (uint32_t i = 0; i < value->term_count; i++)
        for (uint32_t k = 0; k < value->terms[i].atom_count; k++)
            if (value->terms[i].atoms[k].param)
                mention(m, value->terms[i].atoms[k].param);
    m->has_error |= value->kind == GpConst_Error;
}

static void visit_shape(Mentions *m, const GpShapeTy *shape) {
    if (shape->kind == GpShape_Param)
        mention(m, shape->param);
    for (uint8_t i = 0; shape->kind == GpShape_List && i < shape->rank; i++)
        visit_const(m, shape->dim[i]);
    m->has_error |= shape->kind == GpShape_Error;
}

/* What stands in a projection is not decided by it. */
static void visit_type(Mentions *m, const GpType *t) {
    m->has_error |= t->kind == GpTy_Error;
    if (t->kind == GpTy_Param)
        mention(m, t->def);
    if (t->kind == GpTy_Assoc)
        return;
    if (t->inner)
        visit_type(m, t->inner);
    if (t->count)
        visit_const(m, t->count);
    for (uint32_t i = 0; i < t->arg_count; i++) {
        if (t->args[i].kind == GpGArg_Type)
            visit_type(m, t->args[i].type);
        else if (t->args[i].kind == GpGArg_Const)
            visit_const(m, t->args[i].value);
        else
            visit_shape(m, t->args[i].shape);
    }
}

static void visit_fields(Mentions *m, const GpDef *def) {
    for (uint32_t i = 0; i < def->field_count; i++)
        visit_type(m, def->field_types[i]);
    for (uint32_t i = 0; def->kind == GpDef_Enum && i < def->item_count; i++)
        visit_fields(m, def->items[i]);
}

/* Lifetimes are not in types: those that the text of the fields names. */
static void visit_lifetimes(GpNode *n, void *ud) {
    Mentions *m = ud;
    GpSym name = n->kind == GpNode_TypeRef    ? GP_AS(TypeRef, n)->lifetime
                 : n->kind == GpNode_Lifetime ? GP_AS(Lifetime, n)->name
                 : n->kind == GpNode_Bound    ? GP_AS(Bound, n)->lifetime
                                              : NULL;
    if (name)
        gp_map_set(m->c->arena, &m->params, name, (void *)(uintptr_t)name);
    gp_node_children(n, visit_lifetimes, ud);
}

static void report_unused(GpCheck *c, GpSpan at, const char *kind, GpSym name) {
    GpDiag *d = gp_diag(c->diags, GpDiag_E0392, at, kind, name->name);
    gp_primary_label(d, "unused %s", kind);
    gp_help(d, "remove `%s`, or use it in a field", name->name);
}

static void check_unused(GpCheck *c, const GpDef *def) {
    GpNodeList list = gp_node_generics(def->node);
    Mentions m = {.c = c};
    if (!list.len)
        return;
    visit_fields(&m, def);
    GpNodeList fields = def->kind == GpDef_Enum ? GP_AS(Enum, def->node)->variants
                                                : GP_AS(Struct, def->node)->fields;
    for (uint32_t i = 0; i < fields.len; i++)
        visit_lifetimes(fields.at[i], &m);
    if (m.has_error)
        return;
    for (uint32_t i = 0; i < list.len; i++) {
        const GpAstGeneric *g = GP_AS(Generic, list.at[i]);
        if (g->is_lifetime && !gp_map_get(&m.params, g->name))
            report_unused(c, g->node.span, "lifetime parameter", g->name);
    }
    for (uint32_t i = 0; i < def->generic_count; i++)
        if (def->generics[i]->kind == GpDef_TypeParam && !gp_map_get(&m.params, def->generics[i]))
            report_unused(c, def->generics[i]->span, "type parameter", def->generics[i]->name);
}

/* impl<T>: T follows from the type or the trait, or from a bound that fixes an associated type. */
static void check_decided(GpCheck *c, const GpDef *impl) {
    Mentions m = {.c = c};
    visit_type(&m, impl->self_type);
    for (uint32_t i = 0; i < impl->trait_arg_count; i++) {
        GpType arg = {.kind = GpTy_Tuple, .args = &impl->trait_args[i], .arg_count = 1};
        visit_type(&m, &arg);
    }
    for (uint32_t i = 0; i < impl->generic_count; i++)
        for (uint32_t b = 0; b < impl->generics[i]->bound_count; b++)
            for (uint32_t k = 0; k < impl->generics[i]->bound_args[b].assoc_count; k++)
                visit_type(&m, impl->generics[i]->bound_args[b].assoc_types[k]);
    for (uint32_t i = 0; !m.has_error && i < impl->generic_count; i++) {
        const GpDef *g = impl->generics[i];
        const char *kind = g->kind == GpDef_TypeParam ? "type" : "const";
        if (!gp_map_get(&m.params, g))
            gp_primary_label(gp_diag(c->diags, GpDiag_E0207, g->span, kind, g->name->name),
                             "unconstrained %s parameter", kind);
    }
}

/* ---- types that hold themselves ---------------------------------------------------------------
 */

static void push_held(GpCheck *c, GpDefVec *held, const GpType *t) {
    if (t->kind == GpTy_Array)
        push_held(c, held, t->inner);
    if (t->kind == GpTy_Adt && !t->def->is_std)
        GP_PUSH(c->arena, held, (GpDef *)(uintptr_t)t->def);
    for (uint32_t i = 0; (t->kind == GpTy_Adt || t->kind == GpTy_Tuple) && i < t->arg_count; i++)
        if (t->args[i].kind == GpGArg_Type)
            push_held(c, held, t->args[i].type);
}

static void push_fields(GpCheck *c, GpDefVec *held, const GpDef *def) {
    for (uint32_t i = 0; i < def->field_count; i++)
        push_held(c, held, def->field_types[i]);
    for (uint32_t i = 0; def->kind == GpDef_Enum && i < def->item_count; i++)
        push_fields(c, held, def->items[i]);
}

typedef struct Visit {
    GpDef *def;
    GpDefVec held; /* by value, in its fields */
    uint32_t next;
} Visit;

typedef GP_VEC(Visit) VisitVec;

enum { SIZE_RUNNING = 1, SIZE_KNOWN = 2 }; /* check_state of a struct or enum */

static void enter(GpCheck *c, VisitVec *path, GpDef *def) {
    Visit v = {.def = def};
    def->check_state = SIZE_RUNNING;
    push_fields(c, &v.held, def);
    GP_PUSH(c->arena, path, v);
}

/* The path from `def` on leads back to it. */
static void report_endless(GpCheck *c, const VisitVec *path, const GpDef *def) {
    const GpDef *first = def;
    for (uint32_t i = path->len; path->at[i - 1].def != def; i--)
        if (path->at[i - 1].def->span.off < first->span.off)
            first = path->at[i - 1].def;
    GpDiag *d = gp_diag(c->diags, GpDiag_E0072, first->span, first->name->name);
    gp_primary_label(d, "it holds itself, so it has no size");
    gp_help(d, "a reference or an index breaks the cycle");
}

static void check_size(GpCheck *c, GpDef *def) {
    VisitVec path = {0};
    if (!def->check_state)
        enter(c, &path, def);
    while (path.len) {
        Visit *top = &path.at[path.len - 1];
        GpDef *next = top->next < top->held.len ? top->held.at[top->next++] : NULL;
        if (!next) {
            top->def->check_state = SIZE_KNOWN;
            path.len--;
        } else if (next->check_state == SIZE_RUNNING) {
            report_endless(c, &path, next);
            for (uint32_t i = 0; i < path.len; i++)
                path.at[i].def->check_state = SIZE_KNOWN;
            return;
        } else if (!next->check_state) {
            enter(c, &path, next);
        }
    }
}

/* ---- Copy --------------------------------------------------------------------------------------
 */

/* A derive asks its own bounds of the generics. */
static bool can_be_copy(const GpType *t) {
    if (t->kind == GpTy_Param || t->kind == GpTy_Assoc)
        return true;
    if (t->kind == GpTy_Array)
        return can_be_copy(t->inner);
    if (t->kind != GpTy_Adt && t->kind != GpTy_Tuple)
        return gp_ty_is_copy(t);
    for (uint32_t i = 0; i < t->arg_count; i++)
        if (t->args[i].kind == GpGArg_Type && !can_be_copy(t->args[i].type))
            return false;
    return t->kind == GpTy_Tuple || t->def->is_copy;
}

static bool report_not_copy(GpCheck *c, const GpDef *def, const GpDef *adt, GpSpan at) {
    for (uint32_t i = 0; i < def->field_count; i++) {
        if (can_be_copy(def->field_types[i]))
            continue;
        GpDiag *d = gp_diag(c->diags, GpDiag_E0204, at, adt->name->name);
        gp_primary_label(d, "a field of it is not `Copy`");
        gp_label(d, def->field_spans[i], "this field has type `%s`",
                 gp_ty_name(c->arena, def->field_types[i]));
        return true;
    }
    for (uint32_t i = 0; def->kind == GpDef_Enum && i < def->item_count; i++)
        if (report_not_copy(c, def->items[i], adt, at))
            return true;
    return false;
}

/* The name in `#[derive(..)]`; NULL: not derived. */
static GpNode *find_derive(const GpDef *def, const char *trait) {
    GpNodeList attrs = gp_node_attrs(def->node);
    for (uint32_t i = 0; i < attrs.len; i++) {
        GpAstAttr *a = GP_AS(Attr, attrs.at[i]);
        for (uint32_t k = 0; a->path && k < a->args.len; k++) {
            GpNode *arg = a->args.at[k];
            GpAstPath *p =
                arg->kind == GpNode_PathExpr ? GP_AS(Path, GP_AS(PathExpr, arg)->path) : NULL;
            if (p && p->segments.len == 1 &&
                strcmp(GP_AS(Segment, p->segments.at[0])->name->name, trait) == 0)
                return arg;
        }
    }
    return NULL;
}

static void check_derived_copy(GpCheck *c, const GpDef *def) {
    GpNode *copy = find_derive(def, "Copy");
    if (!copy || report_not_copy(c, def, def, copy->span) || find_derive(def, "Clone"))
        return;
    const GpDef *clone = c->std->lang[GpLang_Clone];
    const GpType *self = gp_self_type(c, (GpDef *)(uintptr_t)def);
    if (!clone || gp_index_impl(c, clone, self, NULL, 0))
        return;
    GpDiag *d = gp_diag(
        c->diags, GpDiag_E0277, copy->span,
        gp_arena_printf(c->arena, "the trait bound `%s: Clone` is not satisfied", def->name->name));
    gp_primary_label(d, "the trait `Clone` is not implemented for `%s`", def->name->name);
    gp_suggest(d, (GpSpan){copy->span.src, copy->span.off, 0}, "Clone, ",
               "what is `Copy` is `Clone` too");
}

/* ---- discriminants ------------------------------------------------------------------------------
 */

static void check_discriminants(GpCheck *c, const GpDef *def) {
    GpMap seen = {0};
    for (uint32_t i = 0; i < def->item_count; i++) {
        GpDef *v = def->items[i];
        const char *value = gp_arena_printf(c->arena, "%lld", (long long)v->discriminant);
        GpSym key = gp_intern_cstr(c->names, value);
        const GpDef *old = gp_map_get(&seen, key);
        if (!old) {
            gp_map_set(c->arena, &seen, key, v);
            continue;
        }
        GpDiag *d = gp_diag(c->diags, GpDiag_E0081, def->span, value);
        gp_label(d, old->span, "`%s` is %s", old->name->name, value);
        gp_label(d, v->span, "and so is `%s`", v->name->name);
        return;
    }
}

/* ---- bounds of the types that a declaration names ---------------------------------------------
 */

static void visit_bounds(GpNode *n, void *ud) {
    GpCheck *c = ud;
    const GpType *t = n->kind == GpNode_TypePath ? n->type : NULL;
    uint32_t at, bound;
    if (n->kind == GpNode_Block || n->kind == GpNode_ItemStmt || n->kind == GpNode_Variant)
        return;
    gp_node_children(n, visit_bounds, ud);
    if (!t || t->kind != GpTy_Adt ||
        !gp_find_unmet_bound(c, t->def, t->args, t->arg_count, &at, &bound))
        return;
    const GpDef *trait = t->def->generics[at]->bounds[bound];
    const char *type = gp_ty_name(c->arena, t->args[at].type);
    GpDiag *d = gp_diag(c->diags, GpDiag_E0277, n->span,
                        gp_arena_printf(c->arena, "the trait bound `%s: %s` is not satisfied", type,
                                        trait->name->name));
    gp_primary_label(d, "the trait `%s` is not implemented for `%s`", trait->name->name, type);
    gp_suggest_bound(c, d, t->args[at].type, trait->name->name);
    if (!t->def->is_std)
        gp_note_at(d, t->def->span, "required by a bound in `%s`", t->def->name->name);
}

static void check_fn(GpCheck *c, const GpDef *def) {
    bool is_trait = def->parent->kind == GpDef_Trait;
    bool is_impl = def->parent->kind == GpDef_Impl && def->parent->trait;
    if (GP_AS(Fn, def->node)->is_const && (is_trait || is_impl))
        gp_primary_label(
            gp_diag(c->diags, GpDiag_E0379, def->span, is_trait ? "traits" : "trait impls"),
            "remove the `const`");
}

void gp_check_decl(GpCollect *k, GpDef *def) {
    if (k->is_std || !def->node || def->kind == GpDef_Module || def->kind == GpDef_Macro)
        return;
    if (def->kind == GpDef_Fn)
        check_fn(k->c, def);
    if (def->kind != GpDef_Impl && def->kind != GpDef_Trait)
        gp_node_children(def->node, visit_bounds, k->c);
    if (def->kind == GpDef_Struct || def->kind == GpDef_Enum) {
        check_unused(k->c, def);
        check_size(k->c, def);
        check_derived_copy(k->c, def);
    }
    if (def->kind == GpDef_Enum)
        check_discriminants(k->c, def);
    if (def->kind == GpDef_Impl && def->self_type->kind != GpTy_Error)
        check_decided(k->c, def);
    if (def->kind == GpDef_Impl && def->trait && def->trait->lang == GpLang_Copy &&
        def->self_type->kind == GpTy_Adt)
        report_not_copy(k->c, def->self_type->def, def->self_type->def,
                        GP_AS(Impl, def->node)->self_type->span);
}
