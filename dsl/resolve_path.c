/* Paths: names in scope, then segment by segment through modules, enums and types. Outside of
** bodies every generic argument must be written; inside, left-out ones become variables. */
#include "dsl/resolve.h"

/* ---- names in scope -------------------------------------------------------------------------- */

static GpDef *find_generic(GpDef *scope, GpSym name, GpNamespace ns) {
    GpDef *g = gp_map_get(&scope->generic_names, name);
    bool is_type = g && g->kind == GpDef_TypeParam;
    return g && is_type == (ns == GpNs_Type) ? g : NULL;
}

GpTrack gp_scope_track(const GpDef *scope) {
    GpTrack track = GpTrack_None;
    for (const GpDef *at = scope; at && track == GpTrack_None; at = at->parent)
        track = at->track;
    return track;
}

/* The prelude of the scope's track first; without a track both are in scope, tile first. */
static GpDef *find_in_preludes(GpCheck *c, GpDef *scope, GpSym name, GpNamespace ns) {
    GpTrack track = gp_scope_track(scope);
    const GpTrack order[3] = {track, track == GpTrack_None ? GpTrack_Tile : GpTrack_None,
                              track == GpTrack_None ? GpTrack_Simt : GpTrack_None};
    for (uint32_t i = 0; i < GP_COUNT(order); i++) {
        GpDef *prelude = c->std->prelude[order[i]];
        GpDef *def = prelude ? gp_find_in_module(c, prelude, name, ns) : NULL;
        if (def)
            return def;
    }
    return NULL;
}

/* Looks through functions, impls and types around up to the module. Generics of a function are
** not seen by functions inside it. */
static GpDef *find_around(GpCheck *c, GpDef *scope, GpSym name, GpNamespace ns) {
    bool sees_generics = true;
    for (GpDef *at = scope; at; at = at->parent) {
        GpDef *def = NULL;
        if (at->kind == GpDef_Fn || at->kind == GpDef_Module)
            def = gp_find_in_module(c, at, name, ns);
        if (!def && sees_generics && at->kind != GpDef_Module)
            def = find_generic(at, name, ns);
        if (def || at->kind == GpDef_Module)
            return def;
        if (at->kind == GpDef_Fn && at->parent->kind != GpDef_Impl &&
            at->parent->kind != GpDef_Trait)
            sees_generics = false;
    }
    return NULL;
}

GpDef *gp_find_name(GpCheck *c, GpDef *scope, GpSym name, GpNamespace ns) {
    GpDef *def = find_around(c, scope, name, ns);
    if (!def && ns == GpNs_Type)
        def = gp_find_crate(c, name);
    return def ? def : find_in_preludes(c, scope, name, ns);
}

GpDef *gp_find_on_other_track(GpCheck *c, GpDef *scope, GpSym name, GpNamespace ns) {
    GpTrack track = gp_scope_track(scope);
    if (track == GpTrack_None || gp_find_name(c, scope, name, ns))
        return NULL;
    return gp_find_in_module(c, c->std->prelude[track == GpTrack_Tile ? GpTrack_Simt : GpTrack_Tile], name, ns);
}

const GpType *gp_find_primitive(GpCheck *c, GpSym name) {
    GpElem elem;
    if (gp_elem_find((GpStr){name->name, name->len}, &elem))
        return gp_ty_elem(c->types, elem);
    if (strcmp(name->name, "usize") == 0)
        return gp_ty_usize(c->types);
    if (strcmp(name->name, "isize") == 0)
        return gp_ty_isize(c->types);
    if (strcmp(name->name, "char") == 0)
        return gp_ty_char(c->types);
    if (strcmp(name->name, "str") == 0)
        return gp_ty_str(c->types);
    return NULL;
}

/* ---- reports -------------------------------------------------------------------------------- */

static GpSpan seg_span(const GpAstSegment *seg) {
    return (GpSpan){seg->node.span.src, seg->node.span.off, seg->name->len};
}

/* What rustc says is missing: a function where a call follows. */
static const char *missing_value(GpSpan name) {
    const char *rest = name.src ? name.src->text + name.off + name.len : "";
    return *rest == '(' ? "cannot find function" : "cannot find value";
}

/* The nearest name, for a report that will be shown. */
static GpSym similar_for(const GpDiag *d, GpCheck *c, GpDef *scope, GpSym name, GpWanted wanted) {
    return gp_diag_is_kept(d) ? gp_find_similar(c, scope, name, wanted) : NULL;
}

/* A type that only kernels of the other track see. */
static bool help_track(GpCheck *c, GpDef *scope, GpSym name, GpDiag *d) {
    if (!gp_find_on_other_track(c, scope, name, GpNs_Type))
        return false;
    if (gp_scope_track(scope) == GpTrack_Tile) {
        gp_primary_label(d, "a type of the SIMT track");
        gp_help(d, "a tile kernel takes tensors, `&Tensor<..>` to read and `&mut Tensor<..>` to write, and computes with tiles");
    } else {
        gp_primary_label(d, "a type of the tile track");
        gp_help(d, "a SIMT kernel takes slices, `&[f32]` to read and `DisjointSlice<f32>` to write, and computes with numbers");
    }
    return true;
}

/* `self` where no parameter is. */
static void report_self(GpCheck *c, GpDef *scope, GpSpan span) {
    GpDef *fn = scope;
    while (fn && fn->kind != GpDef_Fn)
        fn = fn->parent;
    GpDiag *d = gp_diag(c->diags, GpDiag_E0424, span);
    gp_primary_label(d,
                     "`self` value is a keyword only available in methods with a `self` parameter");
    if (!fn || !fn->name)
        return;
    if (fn->sig.has_self) {
        gp_label(d, fn->span, "this function has one, but a macro sees only what it is given");
        return;
    }
    gp_label(d, fn->span, "this function doesn't have a `self` parameter");
    if (fn->parent && (fn->parent->kind == GpDef_Impl || fn->parent->kind == GpDef_Trait))
        gp_help(d, "add it: `fn %s(&self%s`", fn->name->name, fn->sig.param_count ? ", ..)" : ")");
}

/* A generic of a function around, which a function inside does not see. */
static GpDef *find_outer_generic(GpDef *scope, GpSym name, GpNamespace ns) {
    GpDef *found = NULL;
    for (GpDef *at = scope; at && at->kind != GpDef_Module && !found; at = at->parent)
        found = find_generic(at, name, ns);
    return found;
}

/* The generic of `scope` that is written around a place; NULL: none, as in a where clause. */
static GpNode *generic_around(const GpDef *scope, GpSpan span) {
    for (uint32_t i = 0; i < scope->generic_count; i++) {
        GpNode *n = scope->generics[i]->node;
        if (n && n->kind == GpNode_Generic && n->span.src == span.src && n->span.off <= span.off &&
            span.off < n->span.off + n->span.len)
            return n;
    }
    return NULL;
}

/* A constant that a type names and nothing declares: what declares it as a generic of the function. */
static void suggest_generic(GpCheck *c, GpDef *scope, GpSym name, GpSpan use, GpDiag *d) {
    GpDef *fn = scope;
    while (fn && fn->kind != GpDef_Fn)
        fn = fn->parent;
    if (!fn || !fn->node)
        return;
    const GpAstFn *ast = GP_AS(Fn, fn->node);
    if (generic_around(fn, use)) /* a generic's type depends on no other one */
        return;
    const GpDef *type = gp_find_name(c, scope, name, GpNs_Type);
    const char *text = gp_arena_printf(c->arena, "const %s: i32", name->name);
    GpSpan at = {fn->span.src, fn->span.off + fn->span.len, 0};
    if (type && type->kind == GpDef_TypeParam) {
        gp_suggest(d, type->span, text, "`%s` is a type here; a generic that is a number is", name->name);
    } else if (ast->generics.len) {
        GpSpan last = ast->generics.at[ast->generics.len - 1]->span;
        at = (GpSpan){last.src, last.off + last.len, 0};
        gp_suggest(d, at, gp_arena_printf(c->arena, ", %s", text), "declare it as a generic");
    } else {
        gp_suggest(d, at, gp_arena_printf(c->arena, "<%s>", text), "declare it as a generic");
    }
}

/* The nearest constant, of types, and generics where nothing is near. */
static void help_constant(GpCheck *c, GpDef *scope, GpAstSegment *seg, GpDiag *d) {
    GpSym near = similar_for(d, c, scope, seg->name, GpWanted_Constant);
    if (near)
        gp_suggest(d, seg_span(seg), near->name, "a similar name exists");
    else
        suggest_generic(c, scope, seg->name, seg_span(seg), d);
}

static void report_lone(GpCheck *c, GpDef *scope, GpAstSegment *seg, GpNamespace ns) {
    GpSpan span = seg_span(seg);
    const char *what = gp_arena_printf(c->arena, "`%s`", seg->name->name);
    const GpDef *type = ns == GpNs_Value ? gp_find_name(c, scope, seg->name, GpNs_Type) : NULL;
    if (type && type->has_bad_bound) /* `B: i32` for `const B: i32` was reported */
        return;
    if (gp_report_unknown_import(c, scope, seg->name, span))
        return;
    if (strcmp(seg->name->name, "self") == 0) {
        report_self(c, scope, span);
        return;
    }
    GpDef *outer = find_outer_generic(scope, seg->name, ns);
    if (outer) {
        GpDiag *d = gp_diag(c->diags, GpDiag_E0401, span);
        gp_primary_label(d, "use of generic parameter from outer item");
        gp_label(d, outer->span, "generic parameter from outer item");
        return;
    }
    GpDiag *d;
    if (ns == GpNs_Type)
        d = gp_diag(c->diags, GpDiag_E0425, span, "cannot find type", what, "this scope");
    else
        d = gp_diag(c->diags, GpDiag_E0425, span, missing_value(seg_span(seg)), what, "this scope");
    if (ns == GpNs_Type && help_track(c, scope, seg->name, d))
        return;
    GpSym near = ns == GpNs_Type ? similar_for(d, c, scope, seg->name, GpWanted_Type) : NULL;
    const char *own = ns == GpNs_Type ? gp_find_foreign(seg->name->name, GpForeign_Type) : NULL;
    if (own)
        gp_suggest(d, span, own, "the type is called `%s` here", own);
    else if (ns == GpNs_Value)
        help_constant(c, scope, seg, d);
    else if (near)
        gp_suggest(d, span, near->name, "a similar name exists");
    gp_note_unknown_globs(c, scope, d);
    gp_primary_label(d, "not found in this scope");
}

static void report_first(GpCheck *c, GpDef *scope, GpAstSegment *seg) {
    if (gp_report_unknown_import(c, scope, seg->name, seg_span(seg)))
        return;
    bool is_type_like = seg->name->name[0] >= 'A' && seg->name->name[0] <= 'Z';
    bool is_super = strcmp(seg->name->name, "super") == 0;
    const char *what =
        gp_arena_printf(c->arena,
                        is_type_like ? "use of undeclared type `%s`"
                        : is_super   ? "there are too many leading `%s` keywords"
                                     : "use of unresolved module or unlinked crate `%s`",
                        seg->name->name);
    GpDiag *d = gp_diag(c->diags, GpDiag_E0433, seg_span(seg), what);
    GpSym near = similar_for(d, c, scope, seg->name, GpWanted_Head);
    if (gp_help_foreign(d, seg_span(seg), seg->name))
        near = NULL;
    if (near)
        gp_suggest(d, seg_span(seg), near->name, "a similar name exists");
    gp_primary_label(d, "%s", what);
}

static void report_in_module(GpCheck *c, GpDef *module, GpAstSegment *seg, GpNamespace ns,
                             bool is_last) {
    const char *holder = module->name ? module->name->name : "crate";
    if (!is_last) {
        const char *what =
            gp_arena_printf(c->arena, "could not find `%s` in `%s`", seg->name->name, holder);
        gp_primary_label(gp_diag(c->diags, GpDiag_E0433, seg_span(seg), what), "%s", what);
        return;
    }
    const char *what = gp_arena_printf(c->arena, "`%s`", seg->name->name);
    const char *where =
        module->name ? gp_arena_printf(c->arena, "module `%s`", holder) : "the crate root";
    GpDiag *d =
        gp_diag(c->diags, GpDiag_E0425, seg_span(seg),
                ns == GpNs_Type ? "cannot find type" : missing_value(seg_span(seg)), what, where);
    GpSym near = !gp_diag_is_kept(d) ? NULL : gp_find_similar_in(module, seg->name, ns);
    GpDef *meant = near ? gp_find_in_module(c, module, near, ns) : NULL;
    if (!meant) {
        gp_primary_label(d, "not found in `%s`", holder);
        return;
    }
    const char *kind = gp_def_kind_name(meant);
    if (!meant->is_std)
        gp_label(d, meant->span, "similarly named %s `%s` defined here", kind, near->name);
    gp_suggest(d, seg_span(seg), near->name, "%s %s with a similar name exists",
               gp_def_article(meant), kind);
}

static void report_assoc(GpCheck *c, const GpType *self, GpAstSegment *seg, GpNamespace ns) {
    const char *type = gp_ty_name(c->arena, self);
    if (self->kind == GpTy_Error)
        return;
    GpDiag *d;
    if (ns == GpNs_Type && self->kind != GpTy_Param && self->kind != GpTy_Assoc) {
        d = gp_diag(c->diags, GpDiag_E0223, seg_span(seg));
        gp_primary_label(d, "no associated type `%s` of `%s` is known", seg->name->name, type);
        return;
    }
    if (ns == GpNs_Type) {
        d = gp_diag(c->diags, GpDiag_E0220, seg_span(seg), seg->name->name,
                    gp_arena_printf(c->arena, "`%s`", type));
        gp_primary_label(d, "associated type `%s` not found", seg->name->name);
        return;
    }
    const char *what = self->kind == GpTy_Adt ? gp_def_kind_name(self->def) : "type";
    bool is_enum = self->kind == GpTy_Adt && self->def->kind == GpDef_Enum;
    d = gp_diag(c->diags, GpDiag_E0599, seg_span(seg),
                is_enum ? "variant or associated item" : "function or associated item",
                seg->name->name, gp_arena_printf(c->arena, "%s `%s`", what, type));
    gp_primary_label(d, "%s not found in `%s`",
                     is_enum ? "variant or associated item" : "function or associated item", type);
}

/* ---- walking ----------------------------------------------------------------------------------
 */

/* A path being followed. */
typedef struct Walk {
    GpCheck *c;
    GpDef *scope;
    GpAstPath *path;
    GpNamespace ns; /* of the last segment */
    bool fill;
    uint32_t at; /* the next segment */
    GpTarget *out;
} Walk;

static GpAstSegment *segment(const Walk *w, uint32_t i) {
    return GP_AS(Segment, w->path->segments.at[i]);
}

static bool set_type(Walk *w, const GpType *t) {
    *w->out = (GpTarget){.type = t};
    if (t->kind == GpTy_Adt || t->kind == GpTy_Param) {
        w->out->def = (GpDef *)t->def;
        w->out->args = t->args;
        w->out->arg_count = t->arg_count;
    }
    return true;
}

static const GpType *adt_type(Walk *w, GpDef *def, GpAstSegment *seg) {
    const GpGArg *args = gp_resolve_args(w->c, w->scope, def, GP_NO_OWNER, seg, w->fill);
    if (def->kind != GpDef_TypeAlias)
        return gp_ty_adt(w->c->types, def, args, def->generic_count);
    GpSubst s = gp_subst_of(def, args);
    return gp_ty_subst(w->c->types, gp_alias_type(w->c, def), &s);
}

static void refuse_args(GpCheck *c, const GpAstSegment *seg, const char *what) {
    GpSpan all = gp_span_join(seg->args.at[0]->span, seg->args.at[seg->args.len - 1]->span);
    const char *kind = seg->args.at[0]->kind == GpNode_Lifetime ? "lifetime" : "generic";
    GpDiag *d = gp_diag(c->diags, GpDiag_E0109, all, kind,
                        gp_arena_printf(c->arena, "%s `%s`", what, seg->name->name));
    gp_primary_label(d, "%s argument not allowed", kind);
}

/* Enters what a def stands for; `seg` carries its generic arguments. */
static bool set_def(Walk *w, GpDef *def, GpAstSegment *seg) {
    const GpGArg *args;
    switch (def->kind) {
    case GpDef_Struct:
    case GpDef_Union:
    case GpDef_Enum:
    case GpDef_TypeAlias:
        return set_type(w, adt_type(w, def, seg));
    case GpDef_TypeParam:
        if (seg->args.len)
            refuse_args(w->c, seg, "type parameter");
        return set_type(w, gp_ty_param(w->c->types, def));
    case GpDef_AssocType:
        return set_type(w, def->alias ? def->alias : gp_ty_error(w->c->types));
    case GpDef_Fn:
    case GpDef_Variant:
        args = gp_resolve_args(w->c, w->scope, def, GP_NO_OWNER, seg, w->fill);
        *w->out = (GpTarget){def, args, def->generic_count, NULL};
        return true;
    case GpDef_Module:
    case GpDef_Trait:
    case GpDef_Impl:
    case GpDef_Const:
    case GpDef_Static:
    case GpDef_ConstParam:
    case GpDef_Macro:
        *w->out = (GpTarget){.def = def};
        return true;
    }
    gp_unreachable();
}

/* Enum::Variant: the arguments stand on either segment. */
static bool set_variant(Walk *w, const GpType *type, GpDef *variant, GpAstSegment *seg) {
    const GpGArg *args = type->args;
    if (seg->has_args)
        args = gp_resolve_args(w->c, w->scope, variant, GP_NO_OWNER, seg, w->fill);
    *w->out = (GpTarget){variant, args, type->arg_count, NULL};
    return true;
}

/* An associated item with its owner's arguments; its own follow from the segment. */
static bool set_assoc(Walk *w, const GpType *self, GpAssocFound found, GpAstSegment *seg) {
    GpDef *item = found.item;
    if (item->kind == GpDef_AssocType) {
        GpSubst s = {(const GpDef *const *)item->generics, found.owner_args,
                     item->parent_generic_count};
        const GpType *t = item->alias && item->parent->kind == GpDef_Impl
                              ? gp_ty_subst(w->c->types, item->alias, &s)
                              : gp_ty_assoc(w->c->types, self, item, found.owner_args + 1,
                                            item->parent_generic_count - 1);
        return set_type(w, gp_normalize(w->c, t));
    }
    GpOwnerArgs owner = {found.owner_args, item->parent_generic_count};
    const GpGArg *args = gp_resolve_args(w->c, w->scope, item, owner, seg, w->fill);
    *w->out = (GpTarget){item, args, item->generic_count, NULL};
    return true;
}

/* `f32::Output`: only of a generic and of Self does the trait follow from the bounds. */
static bool is_ambiguous(const Walk *w, const GpType *self) {
    const GpAstSegment *first = segment(w, 0);
    return self->kind != GpTy_Param && self->kind != GpTy_Assoc && !w->scope->is_std &&
           !w->path->self_type && strcmp(first->name->name, "Self") != 0;
}

static void report_ambiguous(GpCheck *c, const GpType *self, const GpDef *item, GpSpan at) {
    const GpDef *trait = item->parent->kind == GpDef_Trait ? item->parent : item->parent->trait;
    GpDiag *d = gp_diag(c->diags, GpDiag_E0223, at);
    gp_primary_label(d, "the trait is not said");
    if (trait && trait->name)
        gp_help(d, "name it: `<%s as %s>::%s`", gp_ty_name(c->arena, self), trait->name->name,
                item->name->name);
}

static bool step_type(Walk *w, const GpType *self, GpAstSegment *seg, GpNamespace ns) {
    GpAssocFound found;
    if (self->kind == GpTy_Adt && self->def->kind == GpDef_Enum && ns == GpNs_Value) {
        GpDef *variant = gp_map_get(&self->def->values, seg->name);
        if (variant)
            return set_variant(w, self, variant, seg);
    }
    if (self->kind == GpTy_Adt && self->def->kind == GpDef_Enum && ns == GpNs_Type) {
        GpDef *variant = gp_map_get(&self->def->types, seg->name);
        if (variant)
            return set_variant(w, self, variant, seg);
    }
    if (gp_find_assoc_item(w->c, self, seg->name, ns == GpNs_Type, &found)) {
        if (found.item->kind == GpDef_AssocType && is_ambiguous(w, self))
            report_ambiguous(w->c, self, found.item, seg_span(seg));
        else if (!gp_is_visible(found.item, w->scope))
            gp_report_private(w->c, found.item, seg_span(seg));
        return set_assoc(w, self, found, seg);
    }
    report_assoc(w->c, self, seg, ns);
    return false;
}

/* Trait::item: Self is to be inferred. */
static bool step_trait(Walk *w, GpDef *trait, const GpType *self, GpAstSegment *seg,
                       GpNamespace ns) {
    GpDef *item = gp_map_get(gp_def_map(trait, ns), seg->name);
    if (!item || (!self && !w->c->unify)) {
        const char *what = gp_arena_printf(w->c->arena, "`%s`", seg->name->name);
        const char *where = gp_arena_printf(w->c->arena, "trait `%s`", trait->name->name);
        GpDiag *d = gp_diag(w->c->diags, GpDiag_E0425, seg_span(seg),
                            ns == GpNs_Type ? "cannot find type" : missing_value(seg_span(seg)),
                            what, where);
        gp_primary_label(d, "not found in `%s`", trait->name->name);
        return false;
    }
    GpGArg *owner = GP_NEW_ARRAY(w->c->arena, GpGArg, trait->generic_count);
    owner[0] = (GpGArg){GpGArg_Type, {.type = self ? self : gp_fresh_type(w->c, GpInfer_Any)}};
    const GpGArg *given = w->out->args;
    for (uint32_t i = 1; i < trait->generic_count; i++)
        owner[i] = given && i < w->out->arg_count ? given[i]
                   : w->c->unify                  ? gp_fresh_arg(w->c, trait->generics[i])
                                                  : gp_garg_error(w->c, trait->generics[i]);
    if (self && item->kind != GpDef_AssocType) {
        GpAssocFound exact;
        if (self->kind != GpTy_Param && self->kind != GpTy_Infer && trait->generic_count == 1 &&
            gp_find_assoc_item(w->c, self, seg->name, false, &exact) &&
            exact.item->parent->trait == trait)
            return set_assoc(w, self, exact, seg);
    }
    return set_assoc(w, owner[0].type, (GpAssocFound){item, owner}, seg);
}

static bool step_module(Walk *w, GpDef *module, GpAstSegment *seg, GpNamespace ns, bool is_last) {
    if (strcmp(seg->name->name, "super") == 0 && module->parent) {
        *w->out = (GpTarget){.def = gp_module_of(module->parent)};
        return true;
    }
    GpDef *def = gp_find_in_module(w->c, module, seg->name, ns);
    if (!def) {
        if (!module->is_std || !gp_report_peer_name(w->c, seg->name, seg_span(seg)))
            report_in_module(w->c, module, seg, ns, is_last);
        return false;
    }
    if (!gp_is_visible(def, w->scope))
        gp_report_private(w->c, def, seg_span(seg));
    return set_def(w, def, seg);
}

static bool step(Walk *w) {
    bool is_last = w->at + 1 == w->path->segments.len;
    GpNamespace ns = is_last ? w->ns : GpNs_Type;
    GpAstSegment *seg = segment(w, w->at++);
    GpTarget here = *w->out;
    if (here.type)
        return step_type(w, here.type, seg, ns);
    if (here.def->kind == GpDef_Module)
        return step_module(w, here.def, seg, ns, is_last);
    if (here.def->kind == GpDef_Trait)
        return step_trait(w, here.def, NULL, seg, ns);
    GpDiag *d = gp_diag(w->c->diags, GpDiag_E0433, seg_span(seg),
                        gp_arena_printf(w->c->arena, "`%s` is %s %s, not a module or type",
                                        here.def->name ? here.def->name->name : "crate",
                                        gp_def_article(here.def), gp_def_kind_name(here.def)));
    gp_primary_label(d, "not found");
    return false;
}

static bool start_self_type(Walk *w) {
    GpAstSegment *seg = segment(w, 0);
    const GpType *self = gp_self_type(w->c, w->scope);
    if (!self) {
        GpDiag *d = gp_diag(w->c->diags, GpDiag_E0411, seg_span(seg));
        gp_primary_label(d, "`Self` is only available in impls, traits, or type definitions");
        return false;
    }
    return set_type(w, self);
}

/* The first segment. */
static bool start(Walk *w) {
    bool is_last = w->path->segments.len == 1;
    GpAstSegment *seg = segment(w, 0);
    const char *name = seg->name->name;
    GpNamespace ns = is_last ? w->ns : GpNs_Type;
    w->at = 1;
    if (strcmp(name, "Self") == 0)
        return start_self_type(w);
    GpDef *def = NULL;
    if (strcmp(name, "crate") == 0)
        def = gp_crate_of(w->scope);
    else if (strcmp(name, "self") == 0 && !is_last)
        def = gp_module_of(w->scope);
    else if (strcmp(name, "super") == 0 && gp_module_of(w->scope)->parent)
        def = gp_module_of(gp_module_of(w->scope)->parent);
    else
        def = w->path->is_global ? gp_find_crate(w->c, seg->name)
                                 : gp_find_name(w->c, w->scope, seg->name, ns);
    const GpType *primitive = ns == GpNs_Type ? gp_find_primitive(w->c, seg->name) : NULL;
    /* `use core::f32` does not hide the type's own items. */
    if (def && primitive && def->kind == GpDef_Module && !is_last &&
        !gp_find_in_module(w->c, def, segment(w, 1)->name,
                           w->path->segments.len == 2 ? w->ns : GpNs_Type))
        def = NULL;
    if (def && primitive && def->kind == GpDef_Module && is_last)
        def = NULL;
    if (def)
        return set_def(w, def, seg);
    if (primitive) {
        if (seg->args.len)
            refuse_args(w->c, seg, "builtin type");
        return set_type(w, primitive);
    }
    if (is_last)
        report_lone(w->c, w->scope, seg, ns);
    else
        report_first(w->c, w->scope, seg);
    return false;
}

/* <Type as Trait>:: */
static bool start_qualified(Walk *w) {
    const GpType *self = gp_type_of_node(w->c, w->scope, w->path->self_type);
    if (self->kind == GpTy_Error)
        return false;
    set_type(w, self);
    if (!w->path->self_trait)
        return true;
    GpAstPath *tp = GP_AS(Path, w->path->self_trait);
    GpDef *trait = gp_resolve_trait(w->c, w->scope, tp);
    if (!trait || !w->path->segments.len)
        return false;
    GpGArg *owner = GP_NEW(w->c->arena, GpGArg);
    *owner = (GpGArg){GpGArg_Type, {.type = self}};
    GpAstSegment *last = GP_AS(Segment, tp->segments.at[tp->segments.len - 1]);
    w->out->args = gp_resolve_args(w->c, w->scope, trait, (GpOwnerArgs){owner, 1}, last, w->fill);
    w->out->arg_count = trait->generic_count;
    bool is_last = w->path->segments.len == 1;
    return step_trait(w, trait, self, segment(w, w->at++), is_last ? w->ns : GpNs_Type);
}

bool gp_resolve_target(GpCheck *c, GpDef *scope, GpAstPath *path, GpNamespace ns, bool fill,
                       GpTarget *out) {
    Walk w = {c, scope, path, ns, fill, 0, out};
    *out = (GpTarget){.def = NULL};
    if (path->self_type ? !start_qualified(&w) : !path->segments.len || !start(&w))
        return false;
    while (w.at < path->segments.len) {
        if (!step(&w))
            return false;
    }
    return true;
}

GpDef *gp_find_path_quietly(GpCheck *c, GpDef *scope, GpNode *node, GpNamespace ns) {
    GpAstPath *path = GP_AS(Path, node);
    if (path->self_type || path->segments.len != 1)
        return NULL;
    return gp_find_name(c, scope, GP_AS(Segment, path->segments.at[0])->name, ns);
}

bool gp_resolve_path(GpCheck *c, GpDef *scope, GpNode *path, GpNamespace ns, GpRes *out) {
    GpTarget target;
    if (!gp_resolve_target(c, scope, GP_AS(Path, path), ns, c->unify != NULL, &target) ||
        (target.type && target.type->kind == GpTy_Error)) {
        *out = (GpRes){.kind = GpRes_Error};
        return false;
    }
    *out = (GpRes){
        .kind = GpRes_Def, .def = target.def, .args = target.args, .arg_count = target.arg_count};
    return true;
}

/* ---- traits -----------------------------------------------------------------------------------
 */

GpDef *gp_resolve_trait(GpCheck *c, GpDef *scope, GpAstPath *path) {
    if (path->segments.len == 1 && !path->self_type) {
        GpAstSegment *seg = GP_AS(Segment, path->segments.at[0]);
        GpDef *def = gp_find_name(c, scope, seg->name, GpNs_Type);
        if (!def && gp_report_unknown_import(c, scope, seg->name, seg_span(seg)))
            return NULL;
        if (!def && !gp_find_primitive(c, seg->name)) {
            GpDiag *d = gp_diag(c->diags, GpDiag_E0405, seg_span(seg), seg->name->name);
            GpSym near = similar_for(d, c, scope, seg->name, GpWanted_Trait);
            if (near)
                gp_suggest(d, seg_span(seg), near->name, "a similar name exists");
            gp_primary_label(d, "not found in this scope");
            return NULL;
        }
        if (def && def->kind == GpDef_Trait)
            return def;
        GpDiag *d = gp_diag(c->diags, GpDiag_E0404, seg_span(seg),
                            def ? gp_def_kind_name(def) : "builtin type", seg->name->name);
        gp_primary_label(d, "not a trait");
        GpNode *generic = def ? NULL : generic_around(scope, seg_span(seg));
        if (generic)
            gp_suggest(d, (GpSpan){generic->span.src, generic->span.off, 0}, "const ",
                       "you might have meant to write a const parameter here");
        return NULL;
    }
    GpAstPath bare = *path; /* arguments are the caller's */
    GpTarget target;
    if (!gp_resolve_target(c, scope, &bare, GpNs_Type, true, &target))
        return NULL;
    if (target.def && target.def->kind == GpDef_Trait)
        return target.def;
    gp_primary_label(gp_diag(c->diags, GpDiag_E0404, path->node.span,
                             target.def ? gp_def_kind_name(target.def) : "type", "this"),
                     "not a trait");
    return NULL;
}
