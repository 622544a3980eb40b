/* Lifetimes beside types. A type's regions are a vector: one for each reference and lifetime
** argument, in the order of its text. The written form (an AST node) says which are named; the
** elision rules of the Rust reference say what the others are.
**
** Constraints `longer: shorter` hold everywhere in the body (NLL RFC 2094 without its
** location-sensitive subtyping, as rustc has it). */
#include "dsl/place.h"

typedef enum Elision { Elide_Fresh, Elide_Fixed } Elision;

typedef GP_VEC(uint32_t) Row;
typedef GP_VEC(bool) Flags;

typedef struct Env {
    GpForm *f;
    const GpNamedLife *names;
    uint32_t name_count;
    GpDef *const *params;           /* type generics .. */
    const GpRegions *param_regions; /* .. and what stands for their regions */
    uint32_t param_count;
    const GpNode *self_node; /* what `Self` is written as; NULL */
    Elision elision;
    uint32_t fixed;
    bool is_universal; /* fresh regions are the caller's */
    bool is_invariant; /* inside &mut */
    Row out;
    Flags invariant; /* beside out */
} Env;

/* ---- regions --------------------------------------------------------------------------------- */

uint32_t gp_region_new(GpForm *f) {
    GP_PUSH(f->c->arena, &f->regions, ((GpLifetime){.first = GP_NONE, .span = GP_NO_SPAN}));
    return f->regions.len - 1;
}

static uint32_t static_region(GpForm *f) {
    if (!f->static_region) {
        f->static_region = gp_region_new(f) + 1;
        GpLifetime *l = &f->regions.at[f->static_region - 1];
        l->is_universal = true;
        l->name = gp_intern_cstr(f->c->names, "'static");
    }
    return f->static_region - 1;
}

void gp_region_outlives(GpForm *f, uint32_t longer, uint32_t shorter, GpSpan span, bool is_return) {
    if (longer == shorter)
        return;
    GP_PUSH(f->c->arena, &f->outlives, ((GpOutlives){longer, shorter, span, is_return}));
    GP_PUSH(f->c->arena, &f->chain, f->regions.at[longer].first);
    f->regions.at[longer].first = f->outlives.len - 1;
}

/* ---- shapes of types ------------------------------------------------------------------------- */

static GpNodeList generics_of(const GpDef *def) {
    GpNode *n = def->node;
    if (!n)
        return (GpNodeList){0};
    if (n->kind == GpNode_Struct)
        return GP_AS(Struct, n)->generics;
    if (n->kind == GpNode_Enum)
        return GP_AS(Enum, n)->generics;
    if (n->kind == GpNode_Union)
        return GP_AS(Union, n)->generics;
    if (n->kind == GpNode_Fn)
        return GP_AS(Fn, n)->generics;
    if (n->kind == GpNode_Impl)
        return GP_AS(Impl, n)->generics;
    if (n->kind == GpNode_Trait)
        return GP_AS(Trait, n)->generics;
    return (GpNodeList){0};
}

static uint32_t lifetime_count(const GpDef *def) {
    GpNodeList list = generics_of(def);
    uint32_t count = 0;
    for (uint32_t i = 0; i < list.len; i++)
        count += GP_AS(Generic, list.at[i])->is_lifetime;
    return count;
}

uint32_t gp_region_count(GpForm *f, const GpType *t) {
    uint32_t count = 0;
    switch (t->kind) {
    case GpTy_Ref:
        return 1 + gp_region_count(f, t->inner);
    case GpTy_RawPtr:
    case GpTy_Array:
    case GpTy_Slice:
        return gp_region_count(f, t->inner);
    case GpTy_Adt:
    case GpTy_Tuple:
        count = t->kind == GpTy_Adt ? lifetime_count(t->def) : 0;
        for (uint32_t i = 0; i < t->arg_count; i++)
            if (t->args[i].kind == GpGArg_Type)
                count += gp_region_count(f, t->args[i].type);
        return count;
    case GpTy_Closure:
        return 1;
    case GpTy_Error:
    case GpTy_Never:
    case GpTy_Infer:
    case GpTy_Elem:
    case GpTy_Usize:
    case GpTy_Isize:
    case GpTy_Char:
    case GpTy_Str:
    case GpTy_Param:
    case GpTy_FnItem:
    case GpTy_Assoc:
        return 0;
    }
    gp_unreachable();
}

/* ---- the walk -------------------------------------------------------------------------------- */

static void push(Env *e, uint32_t region) {
    GP_PUSH(e->f->c->arena, &e->out, region);
    GP_PUSH(e->f->c->arena, &e->invariant, e->is_invariant);
}

static uint32_t elided(Env *e) {
    if (e->elision == Elide_Fixed)
        return e->fixed;
    uint32_t r = gp_region_new(e->f);
    e->f->regions.at[r].is_universal = e->is_universal;
    return r;
}

static uint32_t named(Env *e, GpSym name, GpSpan span) {
    if (!name || strcmp(name->name, "'_") == 0) {
        uint32_t r = elided(e);
        if (e->is_universal)
            e->f->regions.at[r].span = span;
        return r;
    }
    if (strcmp(name->name, "'static") == 0)
        return static_region(e->f);
    for (uint32_t i = 0; i < e->name_count; i++)
        if (e->names[i].name == name)
            return e->names[i].region;
    return elided(e);
}

static const bool *variance_of(GpForm *f, const GpDef *def);
static void walk(Env *e, const GpNode *node, const GpType *t);

static const GpAstSegment *last_segment(const GpNode *node) {
    if (!node || node->kind != GpNode_TypePath)
        return NULL;
    const GpAstPath *path = (const GpAstPath *)((const GpAstTypePath *)node)->path;
    return path->segments.len ? (const GpAstSegment *)path->segments.at[path->segments.len - 1]
                              : NULL;
}

static void walk_adt(Env *e, const GpNode *node, const GpType *t) {
    const GpAstSegment *seg = last_segment(node);
    if (seg && strcmp(seg->name->name, "Self") == 0 && e->self_node && e->self_node != node) {
        walk_adt(e, e->self_node, t);
        return;
    }
    if (seg && seg->name != t->def->name)
        seg = NULL;
    uint32_t lives = lifetime_count(t->def), at = 0;
    const bool *inv = variance_of(e->f, t->def);
    bool outer = e->is_invariant;
    for (uint32_t i = 0; i < lives; i++) {
        bool is_given = seg && at < seg->args.len && seg->args.at[at]->kind == GpNode_Lifetime;
        e->is_invariant = outer || inv[i];
        GpSym name = is_given ? GP_AS(Lifetime, seg->args.at[at++])->name : NULL;
        push(e, named(e, name, node ? node->span : GP_NO_SPAN));
    }
    for (uint32_t i = 0; i < t->arg_count; i++) {
        const GpNode *arg = seg && at < seg->args.len ? seg->args.at[at++] : NULL;
        e->is_invariant = outer || inv[lives + i];
        if (t->args[i].kind == GpGArg_Type)
            walk(e, arg, t->args[i].type);
    }
    e->is_invariant = outer;
}

static void walk_param(Env *e, const GpType *t) {
    for (uint32_t i = 0; i < e->param_count; i++) {
        if (e->params[i] != t->def)
            continue;
        for (uint32_t k = 0; k < e->param_regions[i].len; k++)
            push(e, e->param_regions[i].at[k]);
    }
}

static void know(GpForm *f, uint32_t longer, uint32_t shorter) {
    GP_PUSH(f->c->arena, &f->known, ((GpOutlives){.longer = longer, .shorter = shorter}));
}

/* Behind a reference whose region was pushed last. A signature that names &'a T promises that
** everything in T outlives 'a. */
static void walk_inner(Env *e, const GpNode *node, const GpType *t) {
    uint32_t at = e->out.len;
    bool outer = e->is_invariant;
    e->is_invariant |= t->is_mut;
    walk(e, node, t->inner);
    e->is_invariant = outer;
    for (uint32_t i = at; e->is_universal && i < e->out.len; i++)
        know(e->f, e->out.at[i], e->out.at[at - 1]);
}

static void walk_ref(Env *e, const GpNode *node, const GpType *t) {
    const GpAstTypeRef *r =
        node && node->kind == GpNode_TypeRef ? (const GpAstTypeRef *)node : NULL;
    push(e, named(e, r ? r->lifetime : NULL, node ? node->span : GP_NO_SPAN));
    walk_inner(e, r ? r->type : NULL, t);
}

static const GpNode *inner_node(const GpNode *node) {
    if (node && node->kind == GpNode_TypePtr)
        return ((const GpAstTypePtr *)node)->type;
    if (node && node->kind == GpNode_TypeSlice)
        return ((const GpAstTypeSlice *)node)->type;
    if (node && node->kind == GpNode_TypeArray)
        return ((const GpAstTypeArray *)node)->type;
    return NULL;
}

static void walk(Env *e, const GpNode *node, const GpType *t) {
    switch (t->kind) {
    case GpTy_Ref:
        walk_ref(e, node, t);
        break;
    case GpTy_RawPtr:
    case GpTy_Array:
    case GpTy_Slice:
        walk(e, inner_node(node), t->inner);
        break;
    case GpTy_Tuple:
        for (uint32_t i = 0; i < t->arg_count; i++) {
            bool fits = node && node->kind == GpNode_TypeTuple &&
                        i < ((const GpAstTypeTuple *)node)->types.len;
            walk(e, fits ? ((const GpAstTypeTuple *)node)->types.at[i] : NULL, t->args[i].type);
        }
        break;
    case GpTy_Adt:
        walk_adt(e, node, t);
        break;
    case GpTy_Param:
        walk_param(e, t);
        break;
    case GpTy_Closure:
        push(e, elided(e));
        break;
    case GpTy_Error:
    case GpTy_Never:
    case GpTy_Infer:
    case GpTy_Elem:
    case GpTy_Usize:
    case GpTy_Isize:
    case GpTy_Char:
    case GpTy_Str:
    case GpTy_FnItem:
    case GpTy_Assoc:
        break;
    }
}

static GpRegions regions_of(const Env *e) { return (GpRegions){e->out.at, e->out.len}; }

GpRegions gp_regions_fresh(GpForm *f, const GpType *t) {
    Env e = {.f = f};
    walk(&e, NULL, t);
    return regions_of(&e);
}

/* ---- variance -------------------------------------------------------------------------------- */

static GpNodeList field_nodes(const GpDef *owner) {
    if (owner->node && owner->node->kind == GpNode_Struct)
        return GP_AS(Struct, owner->node)->fields;
    if (owner->node && owner->node->kind == GpNode_Union)
        return GP_AS(Union, owner->node)->fields;
    if (owner->node && owner->node->kind == GpNode_Variant)
        return GP_AS(Variant, owner->node)->fields;
    return (GpNodeList){0};
}

static const GpNode *field_node(const GpDef *owner, uint32_t i) {
    GpNodeList list = field_nodes(owner);
    return i < list.len && list.at[i]->kind == GpNode_FieldDef ? GP_AS(FieldDef, list.at[i])->type
                                                               : NULL;
}

/* Lifetimes of a definition named in `e->names`, numbered from first. */
static uint32_t name_lifetimes(GpForm *f, const GpDef *def, GpNamedLife *names, uint32_t count,
                               const uint32_t *regions) {
    (void)f;
    GpNodeList list = generics_of(def);
    for (uint32_t i = 0, k = 0; i < list.len; i++) {
        GpAstGeneric *g = GP_AS(Generic, list.at[i]);
        if (g->is_lifetime)
            names[count++] = (GpNamedLife){g->name, regions[k++]};
    }
    return count;
}

static void mark_fields(Env *e, const GpDef *owner, bool *inv, uint32_t count) {
    for (uint32_t i = 0; i < owner->field_count; i++) {
        e->out.len = e->invariant.len = 0;
        walk(e, field_node(owner, i), owner->field_types[i]);
        for (uint32_t k = 0; k < e->out.len; k++)
            if (e->out.at[k] < count && e->invariant.at[k])
                inv[e->out.at[k]] = true;
    }
}

/* Which lifetimes and generics stand under a &mut in some field. A type inside itself counts as
** covariant: one pass finds what the fields show. */
static const bool *variance_of(GpForm *f, const GpDef *def) {
    bool *inv = gp_map_get(&f->variance, def);
    if (inv)
        return inv;
    GpArena *a = f->c->arena;
    uint32_t lives = lifetime_count(def), count = lives + def->generic_count;
    inv = GP_NEW_ARRAY(a, bool, count);
    gp_map_set(a, &f->variance, def, inv);
    uint32_t *marks = GP_NEW_ARRAY(a, uint32_t, count);
    GpNamedLife *names = GP_NEW_ARRAY(a, GpNamedLife, lives);
    GpRegions *params = GP_NEW_ARRAY(a, GpRegions, def->generic_count);
    for (uint32_t i = 0; i < count; i++)
        marks[i] = i;
    for (uint32_t i = 0; i < def->generic_count; i++)
        params[i] = (GpRegions){&marks[lives + i], 1};
    name_lifetimes(f, def, names, 0, marks);
    Env e = {.f = f,
             .names = names,
             .name_count = lives,
             .params = def->generics,
             .param_regions = params,
             .param_count = def->generic_count,
             .elision = Elide_Fixed,
             .fixed = GP_NONE};
    mark_fields(&e, def, inv, count);
    for (uint32_t i = 0; def->kind == GpDef_Enum && i < def->item_count; i++)
        if (def->items[i]->kind == GpDef_Variant)
            mark_fields(&e, def->items[i], inv, count);
    return inv;
}

void gp_regions_flow(GpForm *f, const GpType *t, GpRegions from, GpRegions to, GpSpan span,
                     bool is_return) {
    if (!from.len || !to.len)
        return;
    Env e = {.f = f, .elision = Elide_Fixed};
    walk(&e, NULL, t);
    for (uint32_t i = 0; i < from.len && i < to.len; i++) {
        gp_region_outlives(f, from.at[i], to.at[i], span, is_return);
        if (i < e.invariant.len && e.invariant.at[i])
            gp_region_outlives(f, to.at[i], from.at[i], span, is_return);
    }
}

/* ---- fields ---------------------------------------------------------------------------------- */

GpRegions gp_regions_of_field(GpForm *f, const GpDef *owner, uint32_t index, const GpType *adt,
                              GpRegions regions, const GpType *type) {
    uint32_t want = gp_region_count(f, type);
    if (!want || index >= owner->field_count)
        return (GpRegions){0};
    const GpDef *def = adt->def;
    GpArena *a = f->c->arena;
    uint32_t lives = lifetime_count(def), at = lives;
    GpNamedLife *names = GP_NEW_ARRAY(a, GpNamedLife, lives);
    GpRegions *params = GP_NEW_ARRAY(a, GpRegions, def->generic_count);
    if (regions.len >= lives)
        name_lifetimes(f, def, names, 0, regions.at);
    for (uint32_t i = 0; i < def->generic_count && i < adt->arg_count; i++) {
        uint32_t len = adt->args[i].kind == GpGArg_Type ? gp_region_count(f, adt->args[i].type) : 0;
        if (len && at + len <= regions.len)
            params[i] = (GpRegions){regions.at + at, len};
        at += len;
    }
    Env e = {.f = f,
             .names = names,
             .name_count = regions.len >= lives ? lives : 0,
             .params = def->generics,
             .param_regions = params,
             .param_count = def->generic_count};
    walk(&e, field_node(owner, index), owner->field_types[index]);
    if (e.out.len == want)
        return regions_of(&e);
    uint32_t *all =
        GP_NEW_ARRAY(a, uint32_t, want); /* a projection: as good as the first lifetime */
    for (uint32_t i = 0; i < want; i++)
        all[i] = regions.len ? regions.at[0] : static_region(f);
    return (GpRegions){all, want};
}

/* ---- signatures ------------------------------------------------------------------------------ */

static const GpNode *param_node(const GpDef *fn, uint32_t i) {
    if (!fn->node || fn->node->kind != GpNode_Fn)
        return NULL;
    GpNodeList params = GP_AS(Fn, fn->node)->params;
    if (i >= params.len)
        return NULL;
    return params.at[i]->kind == GpNode_Param ? GP_AS(Param, params.at[i])->type : params.at[i];
}

/* `&'a self` has no type node: its own parts say the same. */
static void walk_self(Env *e, const GpAstSelfParam *self, const GpType *t) {
    if (self->type) {
        walk(e, self->type, t);
        return;
    }
    if (self->is_ref && t->kind == GpTy_Ref) {
        push(e, named(e, self->lifetime, self->node.span));
        walk_inner(e, e->self_node, t);
        return;
    }
    walk(e, e->self_node, t);
}

static void walk_sig_param(Env *e, const GpDef *fn, uint32_t i) {
    const GpNode *node = param_node(fn, i);
    if (node && node->kind == GpNode_SelfParam)
        walk_self(e, (const GpAstSelfParam *)node, fn->sig.params[i]);
    else
        walk(e, node, fn->sig.params[i]);
}

static const GpNode *self_node_of(const GpDef *fn) {
    const GpDef *p = fn->parent;
    return p && p->kind == GpDef_Impl && p->node && p->node->kind == GpNode_Impl
               ? GP_AS(Impl, p->node)->self_type
               : NULL;
}

static bool has_own_lifetimes(const GpDef *p) {
    return p && (p->kind == GpDef_Impl || p->kind == GpDef_Trait);
}

/* Named lifetimes of the impl and the function, each a new region. */
static void make_names(Env *e, const GpDef *fn) {
    GpArena *a = e->f->c->arena;
    uint32_t outer = has_own_lifetimes(fn->parent) ? lifetime_count(fn->parent) : 0;
    uint32_t count = outer + lifetime_count(fn);
    GpNamedLife *names = GP_NEW_ARRAY(a, GpNamedLife, count);
    uint32_t *regions = GP_NEW_ARRAY(a, uint32_t, count);
    for (uint32_t i = 0; i < count; i++) {
        regions[i] = gp_region_new(e->f);
        e->f->regions.at[regions[i]].is_universal = e->is_universal;
    }
    if (outer)
        name_lifetimes(e->f, fn->parent, names, 0, regions);
    name_lifetimes(e->f, fn, names, outer, regions + outer);
    e->names = names;
    e->name_count = count;
}

/* 'a: 'b of a generic list. */
static void relate_names(Env *e, const GpDef *def, GpSpan span) {
    GpNodeList list = generics_of(def);
    for (uint32_t i = 0; i < list.len; i++) {
        GpAstGeneric *g = GP_AS(Generic, list.at[i]);
        for (uint32_t k = 0; g->is_lifetime && k < g->bounds.len; k++) {
            GpSym bound =
                g->bounds.at[k]->kind == GpNode_Bound      ? GP_AS(Bound, g->bounds.at[k])->lifetime
                : g->bounds.at[k]->kind == GpNode_Lifetime ? GP_AS(Lifetime, g->bounds.at[k])->name
                                                           : NULL;
            if (bound && e->is_universal)
                know(e->f, named(e, g->name, span), named(e, bound, span));
            else if (bound)
                gp_region_outlives(e->f, named(e, g->name, span), named(e, bound, span), span,
                                   false);
        }
    }
}

/* The region that an elided one in the result stands for; GP_NONE: none. */
static uint32_t elided_result(const GpDef *fn, const GpSigRegions *sig) {
    if (fn->sig.has_self && fn->sig.param_count && fn->sig.params[0]->kind == GpTy_Ref &&
        sig->params[0].len)
        return sig->params[0].at[0];
    uint32_t found = GP_NONE;
    for (uint32_t i = 0; i < fn->sig.param_count; i++)
        for (uint32_t k = 0; k < sig->params[i].len; k++) {
            if (found != GP_NONE && found != sig->params[i].at[k])
                return GP_NONE;
            found = sig->params[i].at[k];
        }
    return found;
}

static GpSigRegions walk_sig(Env *e, const GpDef *fn) {
    GpSigRegions sig = {.params = GP_NEW_ARRAY(e->f->c->arena, GpRegions, fn->sig.param_count)};
    for (uint32_t i = 0; i < fn->sig.param_count; i++) {
        e->out = (Row){0};
        e->invariant.len = 0;
        walk_sig_param(e, fn, i);
        sig.params[i] = regions_of(e);
    }
    uint32_t r = elided_result(fn, &sig);
    e->out = (Row){0};
    e->invariant.len = 0;
    if (r != GP_NONE) {
        e->elision = Elide_Fixed;
        e->fixed = r;
    }
    if (fn->sig.ret)
        walk(e, fn->node && fn->node->kind == GpNode_Fn ? GP_AS(Fn, fn->node)->ret : NULL,
             fn->sig.ret);
    sig.ret = regions_of(e);
    return sig;
}

GpSigRegions gp_regions_of_fn(GpForm *f, const GpDef *fn) {
    Env e = {.f = f, .self_node = self_node_of(fn), .is_universal = true};
    make_names(&e, fn);
    for (uint32_t i = 0; i < e.name_count; i++) {
        GP_PUSH(f->c->arena, &f->names, e.names[i]);
        f->regions.at[e.names[i].region].name = e.names[i].name;
    }
    relate_names(&e, fn, fn->span);
    if (has_own_lifetimes(fn->parent))
        relate_names(&e, fn->parent, fn->span);
    return walk_sig(&e, fn);
}

static void flow_any(GpForm *f, GpRegions from, GpRegions to, GpSpan span) {
    for (uint32_t i = 0; i < from.len; i++)
        for (uint32_t k = 0; k < to.len; k++)
            gp_region_outlives(f, from.at[i], to.at[k], span, false);
}

GpSigRegions gp_regions_of_call(GpForm *f, const GpRes *callee, const GpType *const *params,
                                const GpType *ret, GpSpan span) {
    const GpDef *fn = callee->def;
    uint32_t count = GP_MIN(fn->generic_count, callee->arg_count);
    GpRegions *given = GP_NEW_ARRAY(f->c->arena, GpRegions, fn->generic_count);
    for (uint32_t i = 0; i < count; i++)
        if (callee->args[i].kind == GpGArg_Type)
            given[i] = gp_regions_fresh(f, callee->args[i].type);
    Env e = {.f = f,
             .self_node = self_node_of(fn),
             .params = fn->generics,
             .param_regions = given,
             .param_count = count};
    make_names(&e, fn);
    relate_names(&e, fn, span);
    if (has_own_lifetimes(fn->parent))
        relate_names(&e, fn->parent, span);
    GpSigRegions sig = walk_sig(&e, fn);
    for (uint32_t i = 0; i < fn->sig.param_count; i++)
        if (sig.params[i].len != gp_region_count(f, params[i]))
            sig.params[i] = gp_regions_fresh(f, params[i]);
    if (sig.ret.len != gp_region_count(f, ret)) { /* a projection: whatever went in may come out */
        sig.ret = gp_regions_fresh(f, ret);
        for (uint32_t i = 0; i < fn->sig.param_count; i++)
            flow_any(f, sig.params[i], sig.ret, span);
    }
    return sig;
}

GpRegions gp_regions_of_node(GpForm *f, GpNode *node, const GpType *t) {
    Env e = {.f = f, .names = f->names.at, .name_count = f->names.len};
    walk(&e, node, t);
    return e.out.len == gp_region_count(f, t) ? regions_of(&e) : gp_regions_fresh(f, t);
}
