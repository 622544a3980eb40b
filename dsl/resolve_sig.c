/* Generics, bounds, impl headers, fields and signatures: what the items of a crate declare, once
** their names are known. */
#include "dsl/bind.h"
#include "dsl/check_call.h"
#include "dsl/resolve.h"

/* A field that the items which may have generics have. */
#define RETURN_FIELD(Kind, field)                                                                  \
    if (item->kind == GpNode_##Kind)                                                               \
        return GP_AS(Kind, item)->field;
#define RETURN_GENERIC_FIELD(field)                                                                \
    RETURN_FIELD(Fn, field)                                                                        \
    RETURN_FIELD(Struct, field)                                                                    \
    RETURN_FIELD(Enum, field)                                                                      \
    RETURN_FIELD(Trait, field)                                                                     \
    RETURN_FIELD(Impl, field)                                                                      \
    RETURN_FIELD(TypeAlias, field)                                                                 \
    return (GpNodeList){NULL, 0};

GpNodeList gp_node_generics(GpNode *item) { RETURN_GENERIC_FIELD(generics) }

static GpNodeList node_where(GpNode *item) { RETURN_GENERIC_FIELD(where) }

/* ---- generics ------------------------------------------------------------------------------- */

static const GpDef *find_generic(const GpDef *def, GpSym name) {
    const GpDef *found = gp_map_get(&def->generic_names, name);
    bool has_outer = def->parent_generic_count && def->parent;
    return found || !has_outer ? found : gp_map_get(&def->parent->generic_names, name);
}

static void add_generic(GpCollect *k, GpDef *def, GpDef *generic) {
    uint32_t own = def->generic_count - def->parent_generic_count;
    if ((own & (own - 1)) == 0) { /* what it shares with its parent is copied once */
        GpDef **wider = GP_NEW_ARRAY(k->c->arena, GpDef *, def->parent_generic_count + 2 * own + 1);
        if (def->generic_count)
            memcpy(wider, def->generics, def->generic_count * sizeof *wider);
        def->generics = wider;
    }
    generic->generic_index = def->generic_count;
    def->generics[def->generic_count++] = generic;
    if (generic->is_impl_trait)
        return;
    const GpDef *old = find_generic(def, generic->name);
    if (!old) {
        gp_map_set(k->c->arena, &def->generic_names, generic->name, generic);
        return;
    }
    GpDiag *d = gp_diag(k->c->diags, GpDiag_E0403, generic->span, generic->name->name);
    gp_primary_label(d, "already used");
    gp_label(d, old->span, "first use of `%s`", generic->name->name);
}

static GpDef *make_generic(GpCollect *k, GpDef *def, GpDefKind kind, GpSym name, GpSpan span) {
    return gp_collect_def(k, kind, name, span, NULL, def);
}

static GpSpan generic_name_span(GpAstGeneric *g) {
    GpSpan span = g->node.span;
    const char *text = span.src ? span.src->text + span.off : "";
    for (uint32_t at = 0; at + g->name->len <= span.len; at++) {
        if (memcmp(text + at, g->name->name, g->name->len) == 0 &&
            (at == 0 || text[at - 1] == ' ' || text[at - 1] == '\n'))
            return (GpSpan){span.src, span.off + at, g->name->len};
    }
    return span;
}

void gp_resolve_generics(GpCollect *k, GpDef *def) {
    GpDef *parent = def->parent;
    if (parent && (parent->kind == GpDef_Impl || parent->kind == GpDef_Trait)) {
        def->generics = parent->generics;
        def->generic_count = def->parent_generic_count = parent->generic_count;
    }
    if (def->kind == GpDef_Trait)
        add_generic(
            k, def,
            make_generic(k, def, GpDef_TypeParam, gp_intern_cstr(k->c->names, "Self"), def->span));
    GpNodeList list = gp_node_generics(def->node);
    for (uint32_t i = 0; i < list.len; i++) {
        GpAstGeneric *g = GP_AS(Generic, list.at[i]);
        if (g->is_lifetime)
            continue;
        GpDef *generic = make_generic(k, def, g->is_const ? GpDef_ConstParam : GpDef_TypeParam,
                                      g->name, generic_name_span(g));
        generic->node = &g->node;
        add_generic(k, def, generic);
    }
}

/* [i32; N] in the built-in crates and in items that are variadic: any rank. */
static const GpType *const_type_of(GpCollect *k, GpDef *def, GpNode *node) {
    GpTypes *ts = k->c->types;
    if ((k->is_std || def->is_any_rank) && node->kind == GpNode_TypeArray)
        return gp_ty_array(ts, gp_ty_elem(ts, GpElem_I32), gp_const_error(ts));
    const GpType *t = gp_type_of_node(k->c, def, node);
    bool is_int = t->kind == GpTy_Usize || t->kind == GpTy_Isize ||
                  (t->kind == GpTy_Elem && !gp_elem_is_float(t->elem));
    int64_t rank;
    if (t->kind == GpTy_Array && t->inner == gp_ty_elem(ts, GpElem_I32) &&
        gp_const_value(t->count, &rank) && rank >= 0 && rank <= GP_MAX_RANK)
        return t;
    if (t->kind == GpTy_Array && t->count->kind == GpConst_Error)
        return gp_ty_error(ts);
    if (t->kind == GpTy_Array && t->count->kind == GpConst_Poly && t->count->term_count && t->count->terms[0].atom_count) {
        GpSpan at = node->kind == GpNode_TypeArray ? GP_AS(TypeArray, node)->count->span : node->span;
        gp_refuse_const_param(k->c, at, t->count->terms[0].atoms[0].param);
        return gp_ty_error(ts);
    }
    if (!is_int && t->kind != GpTy_Error) {
        GpDiag *d = gp_diag(k->c->diags, GpDiag_G0101, node->span, gp_ty_name(k->c->arena, t));
        gp_primary_label(d, "not an integer, `bool` or `[i32; N]` with N at most 6");
        return gp_ty_error(ts);
    }
    return t;
}

/* What blocks of a tile kernel share is a Global, of one element. */
static void check_static(GpCollect *k, const GpDef *def) {
    const GpType *t = def->const_type;
    bool is_tile = def->parent && def->parent->track == GpTrack_Tile;
    bool is_global = gp_ty_is_lang(t, GpLang_Global);
    bool is_one = !is_global || (t->args[1].shape->kind == GpShape_List && t->args[1].shape->rank == 0);
    if (t->kind == GpTy_Error || (is_global ? is_one : !is_tile))
        return;
    GpDiag *d = gp_diag(k->c->diags, GpDiag_G0220, def->span,
                        gp_arena_printf(k->c->arena, "a static of type `%s`",
                                        gp_ty_name(k->c->arena, def->const_type)));
    gp_primary_label(d, is_global ? "a `Global` is one element: `Global<E, {[]}>`"
                                  : "a static of a tile module is a `Global<E, {[]}>`");
    if (!is_global)
        gp_help(d, "use `const` for a constant");
}

void gp_resolve_const_types(GpCollect *k, GpDef *def) {
    if (def->kind == GpDef_Variant)
        return;
    for (uint32_t i = def->parent_generic_count; i < def->generic_count; i++) {
        GpDef *generic = def->generics[i];
        if (generic->kind == GpDef_ConstParam)
            generic->const_type = const_type_of(k, def, GP_AS(Generic, generic->node)->type);
    }
}

/* ---- bounds --------------------------------------------------------------------------------- */

typedef struct BoundVec {
    GpDefVec traits;
    GP_VEC(const GpType *) types;
    GP_VEC(GpBoundArgs) args;
} BoundVec;

/* Fn(A, B) -> C as the tuple (A, B, C). */
static const GpType *fn_bound_type(GpCheck *c, GpDef *def, GpAstSegment *seg) {
    const GpType **items = GP_NEW_ARRAY(c->arena, const GpType *, seg->args.len + 1);
    for (uint32_t i = 0; i < seg->args.len; i++)
        items[i] = gp_type_of_node(c, def, seg->args.at[i]);
    items[seg->args.len] = seg->ret ? gp_type_of_node(c, def, seg->ret) : gp_ty_unit(c->types);
    return gp_ty_tuple(c->types, items, seg->args.len + 1);
}

static void read_assoc(GpCheck *c, GpDef *def, GpDef *trait, GpAstSegment *seg, GpBoundArgs *out) {
    GpSym *names = GP_NEW_ARRAY(c->arena, GpSym, seg->args.len);
    const GpType **types = GP_NEW_ARRAY(c->arena, const GpType *, seg->args.len);
    for (uint32_t i = 0; i < seg->args.len; i++) {
        if (seg->args.at[i]->kind != GpNode_Assoc)
            continue;
        GpAstAssoc *a = GP_AS(Assoc, seg->args.at[i]);
        if (!gp_map_get(&trait->types, a->name)) {
            GpDiag *d = gp_diag(c->diags, GpDiag_E0220, a->node.span, a->name->name,
                                gp_arena_printf(c->arena, "`%s`", trait->name->name));
            gp_primary_label(d, "associated type `%s` not found", a->name->name);
            continue;
        }
        names[out->assoc_count] = a->name;
        types[out->assoc_count++] =
            a->type ? gp_type_of_node(c, def, a->type) : gp_ty_error(c->types);
    }
    out->assoc_names = names;
    out->assoc_types = types;
}

static void add_bound(GpCollect *k, GpDef *def, BoundVec *v, GpNode *node, const GpType *self) {
    GpAstBound *bound = GP_AS(Bound, node);
    GpCheck *c = k->c;
    if (bound->lifetime || bound->is_maybe || !bound->path)
        return;
    GpAstPath *path = GP_AS(Path, bound->path);
    GpDef *trait = gp_resolve_trait(c, def, path);
    if (!trait) {
        if (self->kind == GpTy_Param)
            ((GpDef *)(uintptr_t)self->def)->has_bad_bound = true;
        return;
    }
    GpAstSegment *seg = GP_AS(Segment, path->segments.at[path->segments.len - 1]);
    const GpType *type = seg->is_call ? fn_bound_type(c, def, seg) : NULL;
    GpBoundArgs args = {.args = NULL};
    if (!seg->is_call) {
        GpGArg *selfs = GP_NEW(c->arena, GpGArg);
        *selfs = (GpGArg){GpGArg_Type, {.type = self}};
        args.args = gp_resolve_args(c, def, trait, (GpOwnerArgs){selfs, 1}, seg, false) + 1;
        args.arg_count = trait->generic_count - 1;
        read_assoc(c, def, trait, seg, &args);
    }
    GP_PUSH(c->arena, &v->traits, trait);
    GP_PUSH(c->arena, &v->types, type);
    GP_PUSH(c->arena, &v->args, args);
}

static void set_bounds(GpDef *param, const BoundVec *v) {
    param->bounds = v->traits.at;
    param->bound_types = v->types.at;
    param->bound_args = v->args.at;
    param->bound_count = v->traits.len;
}

/* The type parameter that a where clause speaks of: def's own or its impl's. */
static GpDef *where_param(GpDef *def, GpAstWhere *w) {
    if (!w->type || w->type->kind != GpNode_TypePath)
        return NULL;
    GpAstPath *path = GP_AS(Path, GP_AS(TypePath, w->type)->path);
    if (path->self_type || path->segments.len != 1)
        return NULL;
    GpSym name = GP_AS(Segment, path->segments.at[0])->name;
    for (uint32_t i = 0; i < def->generic_count; i++) {
        if (def->generics[i]->kind == GpDef_TypeParam && def->generics[i]->name == name)
            return def->generics[i];
    }
    return NULL;
}

static void add_where_bounds(GpCollect *k, GpDef *def, GpDef *param, BoundVec *v) {
    GpNodeList where = node_where(def->node);
    const GpType *self = gp_ty_param(k->c->types, param);
    for (uint32_t i = 0; i < where.len; i++) {
        GpAstWhere *w = GP_AS(Where, where.at[i]);
        if (where_param(def, w) != param)
            continue;
        for (uint32_t n = 0; n < w->bounds.len; n++)
            add_bound(k, def, v, w->bounds.at[n], self);
    }
}

static void check_wheres(GpCollect *k, GpDef *def) {
    GpNodeList where = node_where(def->node);
    for (uint32_t i = 0; i < where.len; i++) {
        GpAstWhere *w = GP_AS(Where, where.at[i]);
        if (!w->lifetime && !where_param(def, w))
            gp_primary_label(gp_diag(k->c->diags, GpDiag_G0102, w->node.span), "not supported");
    }
}

static void resolve_preset(GpCollect *k, GpDef *def, GpDef *generic) {
    GpNode *preset = generic->node ? GP_AS(Generic, generic->node)->preset : NULL;
    if (!preset)
        return;
    generic->has_preset = true;
    if (generic->kind == GpDef_TypeParam)
        generic->preset = (GpGArg){GpGArg_Type, {.type = gp_type_of_node(k->c, def, preset)}};
    else if (generic->const_type->kind == GpTy_Array)
        generic->preset = (GpGArg){GpGArg_Shape, {.shape = gp_shape_of_node(k->c, def, preset)}};
    else
        generic->preset = (GpGArg){GpGArg_Const, {.value = gp_const_of_node(k->c, def, preset)}};
}

/* A trait's own generics, as they are inside it. */
static GpBoundArgs own_args(GpCheck *c, const GpDef *trait) {
    uint32_t count = trait->generic_count - 1;
    GpGArg *args = GP_NEW_ARRAY(c->arena, GpGArg, count);
    for (uint32_t i = 0; i < count; i++)
        args[i] = gp_garg_of_param(c, trait->generics[i + 1]);
    return (GpBoundArgs){.args = args, .arg_count = count};
}

void gp_resolve_bounds(GpCollect *k, GpDef *def) {
    if (def->kind == GpDef_Variant || !def->node)
        return;
    for (uint32_t i = def->parent_generic_count; i < def->generic_count; i++) {
        GpDef *param = def->generics[i];
        resolve_preset(k, def, param);
        if (param->kind != GpDef_TypeParam)
            continue;
        BoundVec v = {.traits = {0}};
        const GpType *self = gp_ty_param(k->c->types, param);
        bool is_self = def->kind == GpDef_Trait && i == 0;
        GpNodeList bounds =
            is_self ? GP_AS(Trait, def->node)->bounds : GP_AS(Generic, param->node)->bounds;
        for (uint32_t n = 0; n < bounds.len; n++)
            add_bound(k, def, &v, bounds.at[n], self);
        add_where_bounds(k, def, param, &v);
        if (is_self) { /* Self implements the trait that it is Self of */
            GP_PUSH(k->c->arena, &v.traits, def);
            GP_PUSH(k->c->arena, &v.types, NULL);
            GP_PUSH(k->c->arena, &v.args, own_args(k->c, def));
        }
        set_bounds(param, &v);
    }
    check_wheres(k, def);
}

/* ---- impls ---------------------------------------------------------------------------------- */

void gp_resolve_impl(GpCollect *k, GpDef *def) {
    GpAstImpl *impl = GP_AS(Impl, def->node);
    GpCheck *c = k->c;
    def->self_type = gp_type_of_node(c, def, impl->self_type);
    if (!impl->trait)
        return;
    GpAstPath *path = GP_AS(Path, impl->trait);
    def->trait = gp_resolve_trait(c, def, path);
    if (!def->trait) {
        def->self_type = gp_ty_error(c->types);
        return;
    }
    GpGArg *self = GP_NEW(c->arena, GpGArg);
    *self = (GpGArg){GpGArg_Type, {.type = def->self_type}};
    GpNode *last = path->segments.at[path->segments.len - 1];
    def->trait_args = gp_resolve_args(c, def, def->trait, (GpOwnerArgs){self, 1},
                                      GP_AS(Segment, last), false) +
                      1;
    def->trait_arg_count = def->trait->generic_count - 1;
    if (def->trait->lang == GpLang_Copy && def->self_type->kind == GpTy_Adt &&
        def->self_type->def->is_std == k->is_std)
        ((GpDef *)def->self_type->def)->is_copy = true;
}

/* ---- fields --------------------------------------------------------------------------------- */

static void resolve_field_list(GpCollect *k, GpDef *def, GpDef *scope, GpNodeList fields) {
    def->field_names = GP_NEW_ARRAY(k->c->arena, GpSym, fields.len);
    def->field_types = GP_NEW_ARRAY(k->c->arena, const GpType *, fields.len);
    def->field_spans = GP_NEW_ARRAY(k->c->arena, GpSpan, fields.len);
    for (uint32_t i = 0; i < fields.len; i++) {
        GpAstFieldDef *f = GP_AS(FieldDef, fields.at[i]);
        const GpSym *old = f->name ? gp_map_get(&def->fields, f->name) : NULL;
        def->field_names[i] = f->name;
        if (old) {
            GpDiag *d = gp_diag(k->c->diags, GpDiag_E0124, f->node.span, f->name->name);
            gp_primary_label(d, "field already declared");
            gp_label(d, def->field_spans[old - def->field_names], "`%s` first declared here",
                     f->name->name);
        } else if (f->name) {
            gp_map_set(k->c->arena, &def->fields, f->name, &def->field_names[i]);
        }
        def->field_types[i] = gp_type_of_node(k->c, scope, f->type);
        def->field_spans[i] = f->node.span;
        def->field_count++;
    }
    if (fields.len && !def->field_names[0]) /* its constructor is a function */
        def->sig = (GpFnSig){.params = def->field_types,
                             .param_count = def->field_count,
                             .ret = gp_self_type(k->c, scope)};
}

static void resolve_variants(GpCollect *k, GpDef *def) {
    int64_t next = 0;
    for (uint32_t i = 0; i < def->item_count; i++) {
        GpAstVariant *v = GP_AS(Variant, def->items[i]->node);
        resolve_field_list(k, def->items[i], def, v->fields);
        if (v->value) {
            const GpConst *value = gp_const_of_node(k->c, def, v->value);
            (void)gp_const_value(value, &next);
        }
        def->items[i]->discriminant = next++;
    }
}

static const GpType *type_or_error(GpCollect *k, GpDef *scope, GpNode *node) {
    return node ? gp_type_of_node(k->c, scope, node) : gp_ty_error(k->c->types);
}

void gp_resolve_fields(GpCollect *k, GpDef *def) {
    GpNode *node = def->node;
    if (def->kind == GpDef_Struct)
        resolve_field_list(k, def, def, GP_AS(Struct, node)->fields);
    else if (def->kind == GpDef_Enum)
        resolve_variants(k, def);
    else if (def->kind == GpDef_TypeAlias)
        (void)gp_alias_type(k->c, def);
    else if (def->kind == GpDef_AssocType && GP_AS(TypeAlias, node)->type)
        def->alias = gp_type_of_node(k->c, def, GP_AS(TypeAlias, node)->type);
    else if (def->kind == GpDef_Const)
        def->const_type = type_or_error(k, def, GP_AS(Const, node)->type);
    else if (def->kind == GpDef_Static) {
        def->const_type = type_or_error(k, def, GP_AS(Static, node)->type);
        check_static(k, def);
    }
}

/* ---- signatures ------------------------------------------------------------------------------ */

static const GpType *self_param_type(GpCollect *k, GpDef *def, GpAstSelfParam *p) {
    const GpType *self = gp_self_type(k->c, def);
    if (!self) {
        gp_primary_label(gp_diag(k->c->diags, GpDiag_G0021, p->node.span),
                         "not semantically valid as function parameter");
        return gp_ty_error(k->c->types);
    }
    if (p->type)
        return gp_type_of_node(k->c, def, p->type);
    return p->is_ref ? gp_ty_ref(k->c->types, self, p->is_mut) : self;
}

/* `impl Trait` in a parameter's type is a generic without a name to write. */
static const GpType *impl_trait_type(GpCollect *k, GpDef *def, GpNode *node) {
    GpAstTypeBounds *t = GP_AS(TypeBounds, node);
    BoundVec v = {.traits = {0}};
    GpSym name = gp_intern(k->c->names, node->span.src->text + node->span.off, node->span.len);
    GpDef *param = make_generic(k, def, GpDef_TypeParam, name, node->span);
    const GpType *type = gp_ty_param(k->c->types, param);
    param->is_impl_trait = true;
    for (uint32_t i = 0; i < t->bounds.len; i++)
        add_bound(k, def, &v, t->bounds.at[i], type);
    set_bounds(param, &v);
    add_generic(k, def, param);
    return node->type = type;
}

static const GpType *param_type(GpCollect *k, GpDef *def, GpNode *node) {
    if (node->kind == GpNode_SelfParam)
        return self_param_type(k, def, GP_AS(SelfParam, node));
    GpNode *type = GP_AS(Param, node)->type;
    if (!type)
        return gp_ty_error(k->c->types);
    if (type->kind == GpNode_TypeBounds && !GP_AS(TypeBounds, type)->is_dyn)
        return impl_trait_type(k, def, type);
    if (type->kind == GpNode_TypeRef) {
        GpAstTypeRef *ref = GP_AS(TypeRef, type);
        if (ref->type->kind == GpNode_TypeBounds && !GP_AS(TypeBounds, ref->type)->is_dyn)
            return type->type =
                       gp_ty_ref(k->c->types, impl_trait_type(k, def, ref->type), ref->is_mut);
    }
    return gp_type_of_node(k->c, def, type);
}

/* The track of the crate that declares a type which the signature names. */
static GpTrack type_track(GpCheck *c, const GpType *t) {
    GpTrack track = GpTrack_None;
    if (t->kind == GpTy_Adt && t->def->is_std) {
        GpDef *crate = gp_crate_of((GpDef *)t->def);
        if (c->std->cuda_device == crate)
            return GpTrack_Simt;
        if (c->std->cutile_core && gp_crate_of(c->std->cutile_core) == crate)
            return GpTrack_Tile;
    }
    if (t->inner)
        track = type_track(c, t->inner);
    for (uint32_t i = 0; i < t->arg_count && track == GpTrack_None; i++) {
        if (t->args[i].kind == GpGArg_Type)
            track = type_track(c, t->args[i].type);
    }
    return track;
}

static void infer_track(GpCollect *k, GpDef *def) {
    if (def->intrinsic != GpIntrinsic_None || def->has_op || def->track != GpTrack_None)
        return;
    for (uint32_t i = 0; i < def->sig.param_count && def->track == GpTrack_None; i++)
        def->track = type_track(k->c, def->sig.params[i]);
    if (def->track == GpTrack_None)
        def->track = type_track(k->c, def->sig.ret);
}

/* A precondition speaks of an axis of a tensor. */
static void check_extent(GpCollect *k, GpDef *def, const GpExtentName *e) {
    const GpType *t = def->sig.params[e->param];
    t = t->kind == GpTy_Ref ? t->inner : t;
    bool is_tensor = gp_ty_is_lang(t, GpLang_Tensor) || gp_ty_is_lang(t, GpLang_MappedPartitionMut);
    const GpShapeTy *shape = is_tensor ? t->args[1].shape : NULL;
    if (t->kind == GpTy_Error || (shape && (shape->kind != GpShape_List || e->axis < shape->rank)))
        return;
    GpDiag *d = gp_diag(k->c->diags, GpDiag_G0202, e->span, "preconditions");
    if (shape)
        gp_primary_label(d, "expected an axis below %u", shape->rank);
    else
        gp_primary_label(d, "expected a tensor, this is `%s`", gp_ty_name(k->c->arena, t));
}

/* What a slice is of is a number, or known at the launch. */
static bool is_elem(const GpType *t) {
    GpElem elem;
    return gp_bind_elem(t, &elem) || t->kind == GpTy_Param || t->kind == GpTy_Error;
}

/* Tensors are the tile track's, slices the other's. Every thread of a launch has a `&mut [T]`, whole. */
static const char *other_track(const GpType *t, bool is_tile, bool is_unsafe) {
    GpParamForm form = gp_bind_form(t);
    switch (form) {
    case GpParamForm_Tensor:
    case GpParamForm_TensorMut:
    case GpParamForm_Mapped:
        return is_tile ? NULL : "a SIMT kernel takes slices: `&[f32]` to read, `DisjointSlice<f32>` to write";
    case GpParamForm_Slice:
    case GpParamForm_SliceMut:
    case GpParamForm_Disjoint:
        if (is_tile)
            return "a tile kernel takes tensors: `&Tensor<..>` to read, `&mut Tensor<..>` to write";
        if (!is_elem(gp_bind_elem_type(t, form)))
            return "a launch passes slices of numbers";
        return form == GpParamForm_SliceMut && !is_unsafe
                   ? "all threads would have it: `mut c: DisjointSlice<..>` gives each its own element, and an `unsafe` kernel may take it"
                   : NULL;
    case GpParamForm_Pointer:
    case GpParamForm_Scalar:
    case GpParamForm_Other:
        return NULL;
    }
    gp_unreachable();
}

/* What a launch cannot pass, though functions of a kernel may take it. */
static const char *instead_of_value(const GpType *t, bool is_tile) {
    if (t->kind == GpTy_Char)
        return "take a `u32`";
    if (is_tile)
        return "a launch passes tensors, numbers and, to `unsafe` kernels, pointers";
    if (t->kind == GpTy_Tuple && t->arg_count)
        return "a launch passes slices and numbers: take each element as a parameter, and make the tuple in the kernel";
    if (t->kind == GpTy_Adt && t->def->kind == GpDef_Struct && !t->def->is_std)
        return "a launch passes slices and numbers: take each field as a parameter, and make the struct in the kernel";
    if (t->kind == GpTy_Array)
        return "a launch passes slices and numbers: take a slice, `&[f32]`";
    return "a launch passes slices, numbers and, to `unsafe` kernels, pointers";
}

/* What a launch can pass in its place; NULL for what a kernel may take. */
static const char *instead_of(const GpType *t, bool is_tile, bool is_unsafe) {
    GpElem elem;
    bool is_ref = t->kind == GpTy_Ref;
    const GpType *inner = is_ref || t->kind == GpTy_RawPtr ? t->inner : t;
    GpParamForm form = gp_bind_form(t);
    if (gp_fn_bound(t))
        return "a launch passes no functions: call one of the module";
    if (form == GpParamForm_Pointer && inner->kind != GpTy_Param && !gp_bind_elem(inner, &elem))
        return "a pointer is to numbers";
    if (form != GpParamForm_Other || inner->kind == GpTy_Error)
        return other_track(t, is_tile, is_unsafe);
    if (t->kind == GpTy_Slice)
        return is_tile ? "a tile kernel takes tensors: `&Tensor<..>` to read, `&mut Tensor<..>` to write"
                       : "a slice is borrowed: `&[f32]` to read; `mut c: DisjointSlice<f32>` is written";
    if (gp_ty_is_lang(t, GpLang_Tensor))
        return "a tensor is borrowed: `&Tensor<..>` to read, `&mut Tensor<..>` for the block's own tile";
    if (is_ref && gp_ty_is_lang(inner, GpLang_MappedPartitionMut))
        return "it is taken by value: `mut z: MappedPartitionMut<..>`";
    if (is_ref && (gp_bind_elem(inner, &elem) || inner->kind == GpTy_Param))
        return "a number is taken by value";
    return instead_of_value(is_ref ? inner : t, is_tile);
}

static void check_params(GpCollect *k, const GpDef *def) {
    const GpAstFn *fn = GP_AS(Fn, def->node);
    bool is_tile = def->kernel.track == GpTrack_Tile;
    for (uint32_t i = 0; i < def->sig.param_count; i++) {
        const GpType *t = def->sig.params[i];
        const char *instead = instead_of(t, is_tile, def->is_unsafe);
        if (!instead)
            continue;
        GpDiag *d = gp_diag(k->c->diags, GpDiag_G0212, fn->params.at[i]->span, def->name->name,
                            gp_ty_name(k->c->arena, t));
        gp_primary_label(d, "%s", instead);
    }
}

bool gp_sig_is_kernels(GpTypes *types, const GpDef *def, GpTrack track) {
    bool is_kernels = def->sig.ret == gp_ty_unit(types);
    for (uint32_t i = 0; i < def->sig.param_count; i++)
        is_kernels &= !instead_of(def->sig.params[i], track == GpTrack_Tile, def->is_unsafe);
    return is_kernels;
}

static void check_kernel_sig(GpCollect *k, GpDef *def, GpAstFn *fn) {
    if (def->kernel.track == GpTrack_None)
        return;
    const GpType *ret = def->sig.ret;
    for (uint32_t i = 0; i < def->kernel.precondition_count; i++) {
        const GpPrecondition *p = &def->kernel.preconditions[i];
        check_extent(k, def, &p->left);
        if (p->is_equal)
            check_extent(k, def, &p->right);
    }
    check_params(k, def);
    if (fn->ret && ret->kind != GpTy_Error && ret != gp_ty_unit(k->c->types)) {
        GpDiag *d = gp_diag(k->c->diags, GpDiag_G0203, fn->ret->span, def->name->name,
                            gp_ty_name(k->c->arena, ret));
        gp_primary_label(d, "a kernel returns nothing");
        gp_help(d, "write results through a parameter: %s",
                def->kernel.track == GpTrack_Tile ? "`z: &mut Tensor<..>`"
                                                  : "`mut out: DisjointSlice<..>`");
    }
}

static bool is_optional(GpCollect *k, GpNode *param) {
    if (!k->is_std || param->kind != GpNode_Param || !GP_AS(Param, param)->attrs.len)
        return false;
    return gp_check_part_attr(k, GP_AS(Param, param)->attrs.at[0]);
}

void gp_resolve_sig(GpCollect *k, GpDef *def) {
    if (def->kind != GpDef_Fn)
        return;
    GpAstFn *fn = GP_AS(Fn, def->node);
    uint32_t errors = gp_diags_errors(k->c->diags);
    def->sig.params = GP_NEW_ARRAY(k->c->arena, const GpType *, fn->params.len);
    for (uint32_t i = 0; i < fn->params.len; i++) {
        def->sig.has_self |= fn->params.at[i]->kind == GpNode_SelfParam;
        def->sig.params[i] = param_type(k, def, fn->params.at[i]);
        def->sig.param_count++;
        def->sig.optional_count += is_optional(k, fn->params.at[i]);
    }
    def->sig.ret = fn->ret ? gp_type_of_node(k->c, def, fn->ret) : gp_ty_unit(k->c->types);
    infer_track(k, def);
    check_kernel_sig(k, def, fn);
    def->sig.is_wrong = gp_diags_errors(k->c->diags) != errors;
}
