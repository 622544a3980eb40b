/* Traits, impls and associated items: which types implement what, and what stands behind
** Type::name. Candidates are tried by unification and taken back. */
#include "dsl/generic.h"

#include "dsl/type_table.h"
#include "dsl/unify.h"

/* ---- indices ----------------------------------------------------------------------------------
 */

/* Adds def to the list under key, in the map of the module or std. */
static void index_add(GpCheck *c, GpMap *map, const void *key, GpDef *def) {
    GpDefList *list = gp_map_get(map, key);
    if (!list) {
        list = GP_NEW(c->arena, GpDefList);
        gp_map_set(c->arena, map, key, list);
    }
    GP_PUSH(c->arena, list, def);
}

/* The struct or enum that a type is, or refers to; NULL: another kind of type. */
static const GpDef *adt_of(const GpType *t) {
    while (t && t->kind == GpTy_Ref)
        t = t->inner;
    return t && t->kind == GpTy_Adt ? t->def : NULL;
}

/* Items are found by name and the struct or enum that they can be of, so that a `new` of each of
 *many
 ** types costs nothing: the key is a symbol made of the two. The items of a trait are entered for
 ** every type that implements it; those of the built-in traits, which types may derive, for none in
 ** particular; all of them under `any_param`, for type parameters. */
static const GpDef any_param;

static GpSym item_key(GpCheck *c, GpSym name, const GpDef *adt) {
    const void *parts[2] = {name, adt};
    return gp_intern(c->names, (const char *)parts, sizeof parts);
}

/* An impl of a trait stands under the trait, the struct or enum that it is for, and that of the
** trait's first argument, which may be any: `every`. */
static const GpDef every;

static GpSym impl_key(GpCheck *c, const GpDef *trait, const GpDef *adt, const GpDef *arg) {
    const void *parts[3] = {trait, adt, arg};
    return gp_intern(c->names, (const char *)parts, sizeof parts);
}

static const GpDef *arg_adt(GpCheck *c, const GpGArg *args) {
    if (!args || args[0].kind != GpGArg_Type)
        return NULL;
    return adt_of(c->unify ? gp_shallow(c, args[0].type) : args[0].type);
}

bool gp_is_apart(const GpType *a, const GpType *b) {
    const GpDef *x = adt_of(a), *y = adt_of(b);
    return x && y && x != y;
}

static void add_items(GpCheck *c, GpMap *items, const GpDef *owner, const GpDef *adt) {
    for (uint32_t i = 0; i < owner->item_count; i++) {
        GpDef *item = owner->items[i];
        if (item->name)
            index_add(c, items, item_key(c, item->name, adt), item);
    }
}

void gp_index_items(GpCheck *c, GpDef *owner) {
    GpMap *items = c->module ? &c->module->assoc_items : &c->std->assoc_items;
    GpMap *impls = c->module ? &c->module->trait_impls : &c->std->trait_impls;
    if (owner->kind == GpDef_Impl && owner->trait) {
        const GpDef *adt = adt_of(owner->self_type);
        const GpDef *arg = owner->trait_arg_count ? arg_adt(c, owner->trait_args) : NULL;
        index_add(c, impls, impl_key(c, owner->trait, adt, &every), owner);
        if (owner->trait_arg_count)
            index_add(c, impls, impl_key(c, owner->trait, adt, arg), owner);
    }
    if (owner->kind == GpDef_Trait) {
        add_items(c, items, owner, &any_param);
        if (owner->is_std)
            add_items(c, items, owner, NULL);
        return;
    }
    add_items(c, items, owner, adt_of(owner->self_type));
    if (owner->trait && !owner->trait->is_std)
        add_items(c, items, owner->trait, adt_of(owner->self_type));
}

/* The n-th of a list, or NULL and *n counts on behind it. */
static GpDef *nth_of(const GpMap *map, const void *key, uint32_t *n) {
    const GpDefList *list = gp_map_get(map, key);
    if (list && *n < list->len)
        return list->at[*n];
    *n -= list ? list->len : 0;
    return NULL;
}

static GpDef *nth(GpCheck *c, const GpMap *std_map, const GpMap *map, const void *key,
                  uint32_t *n) {
    GpDef *def = nth_of(std_map, key, n);
    return def || !c->module ? def : nth_of(map, key, n);
}

GpDef *gp_index_assoc(GpCheck *c, GpSym name, const GpType *self, uint32_t n) {
    const GpMap *own = c->module ? &c->module->assoc_items : NULL;
    const GpDef *adt = adt_of(self);
    GpDef *def = NULL;
    while (self->kind == GpTy_Ref)
        self = self->inner;
    if (self->kind == GpTy_Param || self->kind == GpTy_Assoc)
        adt = &any_param;
    if (adt)
        def = nth(c, &c->std->assoc_items, own, item_key(c, name, adt), &n);
    return def ? def : nth(c, &c->std->assoc_items, own, item_key(c, name, NULL), &n);
}

GpDef *gp_index_impl(GpCheck *c, const GpDef *trait, const GpType *self, const GpGArg *wanted,
                     uint32_t n) {
    const GpMap *own = c->module ? &c->module->trait_impls : NULL;
    const GpDef *arg = arg_adt(c, trait->generic_count > 1 ? wanted : NULL);
    const GpDef *adts[2] = {adt_of(self), NULL}, *args[2] = {arg ? arg : &every, NULL};
    GpDef *def = NULL;
    for (uint32_t i = adts[0] ? 0 : 1; i < 2 && !def; i++)
        for (uint32_t k = 0; k < (arg ? 2 : 1) && !def; k++)
            def = nth(c, &c->std->trait_impls, own, impl_key(c, trait, adts[i], args[k]), &n);
    return def;
}

/* ---- variables --------------------------------------------------------------------------------
 */

bool gp_unify_enter(GpCheck *c) {
    if (c->unify)
        return false;
    gp_unify_begin(c);
    return true;
}

void gp_unify_leave(GpCheck *c, bool entered) {
    if (entered)
        c->unify = NULL;
}

GpGArg *gp_fresh_args(GpCheck *c, const GpDef *def, const GpGArg *given, uint32_t first) {
    GpGArg *args = GP_NEW_ARRAY(c->arena, GpGArg, def->generic_count);
    for (uint32_t i = 0; i < def->generic_count; i++)
        args[i] = i < first ? given[i] : gp_fresh_arg(c, def->generics[i]);
    return args;
}

/* ---- traits -----------------------------------------------------------------------------------
 */

static bool has_supertrait(const GpDef *trait, const GpDef *wanted, uint32_t depth) {
    if (trait == wanted)
        return true;
    const GpDef *self = trait->generics[0];
    for (uint32_t i = 0; i < self->bound_count && depth < 16; i++) {
        if (self->bounds[i] != trait && has_supertrait(self->bounds[i], wanted, depth + 1))
            return true;
    }
    return false;
}

/* Whether a bound, its supertraits included, gives the parameter that trait. */
static bool param_has_bound(const GpDef *param, const GpDef *trait) {
    for (uint32_t i = 0; i < param->bound_count; i++) {
        if (has_supertrait(param->bounds[i], trait, 0))
            return true;
    }
    return false;
}

static bool param_is_copy(const GpDef *trait, uint32_t depth) {
    if (trait->lang == GpLang_Copy)
        return true;
    const GpDef *self = trait->generics[0];
    for (uint32_t i = 0; i < self->bound_count && depth < 16; i++) {
        if (self->bounds[i] != trait && param_is_copy(self->bounds[i], depth + 1))
            return true;
    }
    return false;
}

static bool args_are_copy(const GpType *t) {
    for (uint32_t i = 0; i < t->arg_count; i++) {
        if (t->args[i].kind == GpGArg_Type && !gp_ty_is_copy(t->args[i].type))
            return false;
    }
    return true;
}

bool gp_ty_is_copy(const GpType *t) {
    switch (t->kind) {
    case GpTy_Error:
    case GpTy_Never:
    case GpTy_Elem:
    case GpTy_Usize:
    case GpTy_Isize:
    case GpTy_Char:
    case GpTy_RawPtr:
    case GpTy_FnItem:
        return true;
    case GpTy_Infer:
        return t->infer != GpInfer_Any;
    case GpTy_Str:
    case GpTy_Slice:
    case GpTy_Assoc:
        return false;
    case GpTy_Closure: /* what a plain closure captures is borrowed or copied */
        return !GP_AS(Closure, (GpNode *)(uintptr_t)t->node)->is_move;
    case GpTy_Ref:
        return !t->is_mut;
    case GpTy_Array:
        return gp_ty_is_copy(t->inner);
    case GpTy_Tuple:
        return args_are_copy(t);
    case GpTy_Adt:
        return t->def->is_copy && args_are_copy(t);
    case GpTy_Param:
        for (uint32_t i = 0; i < t->def->bound_count; i++) {
            if (param_is_copy(t->def->bounds[i], 0))
                return true;
        }
        return false;
    }
    gp_unreachable();
}

bool gp_ty_is_lang(const GpType *t, GpLang lang) {
    return t->kind == GpTy_Adt && t->def->lang == lang;
}

const GpType *gp_expr_type(const GpNode *expr) {
    const GpType *t = expr->type;
    for (const GpAdjust *a = expr->adjust; a; a = a->next)
        t = a->type;
    return t;
}

static bool bounds_hold(GpCheck *c, const GpDef *owner, const GpGArg *args, uint32_t count) {
    uint32_t generic, bound;
    return !gp_find_unmet_bound(c, owner, args, count, &generic, &bound);
}

bool gp_match_impl(GpCheck *c, const GpDef *impl, const GpType *self, GpGArg **args) {
    if (!impl->self_type || impl->self_type->kind == GpTy_Error ||
        gp_is_apart(impl->self_type, self))
        return false;
    *args = gp_fresh_args(c, impl, NULL, 0);
    GpSubst s = gp_subst_of(impl, *args);
    return gp_unify(c, gp_ty_subst(c->types, impl->self_type, &s), self) &&
           bounds_hold(c, impl, *args, impl->generic_count);
}

/* The trait's own generics as the impl has them; NULL asks for none in particular. */
static bool match_trait_args(GpCheck *c, const GpDef *impl, const GpGArg *impl_args,
                             const GpGArg *wanted) {
    GpSubst s = gp_subst_of(impl, impl_args);
    for (uint32_t i = 0; wanted && i < impl->trait_arg_count; i++) {
        if (!gp_unify_arg(c, gp_garg_subst(c->types, impl->trait_args[i], &s), wanted[i]))
            return false;
    }
    return true;
}

bool gp_match_trait_impl(GpCheck *c, const GpDef *impl, const GpType *self, const GpGArg *wanted,
                         GpGArg **args) {
    return gp_match_impl(c, impl, self, args) && match_trait_args(c, impl, *args, wanted);
}

static bool has_impl(GpCheck *c, const GpType *t, const GpDef *trait, const GpGArg *wanted) {
    bool entered = gp_unify_enter(c), found = false;
    for (uint32_t n = 0; !found; n++) {
        const GpDef *impl = gp_index_impl(c, trait, t, wanted, n);
        if (!impl)
            break;
        GpGArg *args;
        GpTry mark = gp_unify_try(c);
        found = gp_match_trait_impl(c, impl, t, wanted, &args);
        gp_unify_undo(c, mark);
    }
    gp_unify_leave(c, entered);
    return found;
}

/* Equal arguments; variables are bound to make them so. */
static bool unify_given(GpCheck *c, const GpGArg *a, const GpGArg *b, uint32_t count) {
    bool entered = gp_unify_enter(c), same = true;
    for (uint32_t i = 0; i < count && same; i++)
        same = gp_unify_arg(c, a[i], b[i]);
    gp_unify_leave(c, entered);
    return same;
}

/* Whether a bound of the parameter gives it the trait with these arguments; a bound that has the
** trait as a supertrait gives it with any. */
static bool param_has(GpCheck *c, const GpDef *param, const GpDef *trait, const GpGArg *wanted) {
    for (uint32_t i = 0; i < param->bound_count; i++) {
        if (!has_supertrait(param->bounds[i], trait, 0))
            continue;
        const GpGArg *given = param->bounds[i] == trait ? param->bound_args[i].args : NULL;
        if (!wanted || !given || unify_given(c, given, wanted, param->bound_args[i].arg_count))
            return true;
    }
    return false;
}

bool gp_implements_with(GpCheck *c, const GpType *t, const GpDef *trait, const GpGArg *wanted) {
    t = gp_normalize(c, gp_shallow(c, t));
    if (t->kind == GpTy_Error || t->kind == GpTy_Never)
        return true;
    if (t->kind == GpTy_Infer && t->infer == GpInfer_Any)
        return true; /* decided when it is known */
    if (trait->lang == GpLang_Copy || trait->lang == GpLang_Clone)
        return gp_ty_is_copy(gp_zonk(c, t)) || has_impl(c, t, trait, NULL);
    if (trait->lang == GpLang_Fn && t->kind == GpTy_Ref)
        return gp_implements(c, t->inner, trait);
    if (trait->lang == GpLang_Fn)
        return t->kind == GpTy_Closure || t->kind == GpTy_FnItem ||
               (t->kind == GpTy_Param && param_has_bound(t->def, trait));
    if (t->kind == GpTy_Param && param_has(c, t->def, trait, wanted))
        return true;
    return has_impl(c, t, trait, wanted);
}

bool gp_implements(GpCheck *c, const GpType *t, const GpDef *trait) {
    return gp_implements_with(c, t, trait, NULL);
}

const GpGArg *gp_bound_args(GpCheck *c, const GpDef *def, const GpGArg *args, uint32_t count,
                            const GpDef *generic, uint32_t bound) {
    const GpBoundArgs *b = &generic->bound_args[bound];
    GpSubst s = {(const GpDef *const *)def->generics, args, GP_MIN(count, def->generic_count)};
    if (!b->arg_count)
        return NULL;
    GpGArg *out = GP_NEW_ARRAY(c->arena, GpGArg, b->arg_count);
    for (uint32_t i = 0; i < b->arg_count; i++)
        out[i] = gp_garg_subst(c->types, b->args[i], &s);
    return out;
}

bool gp_find_unmet_bound(GpCheck *c, const GpDef *def, const GpGArg *args, uint32_t count,
                         uint32_t *generic, uint32_t *bound) {
    for (uint32_t i = 0; i < count && i < def->generic_count; i++) {
        const GpDef *g = def->generics[i];
        if (args[i].kind != GpGArg_Type)
            continue;
        for (uint32_t b = 0; b < g->bound_count; b++) {
            const GpGArg *wanted = gp_bound_args(c, def, args, count, g, b);
            if (gp_implements_with(c, args[i].type, g->bounds[b], wanted))
                continue;
            *generic = i;
            *bound = b;
            return true;
        }
    }
    return false;
}

/* ---- associated items -------------------------------------------------------------------------
 */

/* An item of a trait among the bounds of a parameter, supertraits included. */
static GpDef *item_of_bounds(const GpDef *param, GpSym name, bool want_type,
                             const GpBoundArgs **args, uint32_t depth) {
    for (uint32_t i = 0; i < param->bound_count && depth < 16; i++) {
        GpDef *trait = param->bounds[i];
        GpDef *item = gp_map_get(want_type ? &trait->types : &trait->values, name);
        *args = &param->bound_args[i];
        if (!item && trait->generics[0] != param)
            item = item_of_bounds(trait->generics[0], name, want_type, args, depth + 1);
        if (item)
            return item;
    }
    return NULL;
}

static bool find_param_item(GpCheck *c, const GpType *self, GpSym name, bool want_type,
                            GpAssocFound *out) {
    const GpBoundArgs *bound;
    GpDef *item = item_of_bounds(self->def, name, want_type, &bound, 0);
    if (!item)
        return false;
    GpDef *trait = item->parent;
    out->item = item;
    out->owner_args = GP_NEW_ARRAY(c->arena, GpGArg, trait->generic_count);
    out->owner_args[0] = (GpGArg){GpGArg_Type, {.type = self}};
    for (uint32_t i = 1; i < trait->generic_count; i++) {
        if (i - 1 < bound->arg_count)
            out->owner_args[i] = bound->args[i - 1];
        else if (c->unify)
            out->owner_args[i] = gp_fresh_arg(c, trait->generics[i]);
        else
            out->owner_args[i] = (GpGArg){GpGArg_Type, {.type = gp_ty_error(c->types)}};
    }
    return true;
}

static bool is_candidate(const GpDef *item, bool want_type, int pass) {
    if ((item->kind == GpDef_AssocType) != want_type)
        return false;
    bool is_trait = item->parent->kind == GpDef_Trait;
    const GpDef *trait = item->parent->trait;
    if (pass == 1) /* which impl of Mul<f32>, Mul<V> is meant is selected later */
        return !is_trait && trait && (trait->generic_count == 1 || want_type);
    return pass == 0 ? !is_trait && !trait : is_trait;
}

/* Pass 0: inherent impls; 1: impls of traits; 2: items of traits that the type implements (their
** defaults, and operators of types that implement a trait by rule). */
static bool try_item(GpCheck *c, const GpType *self, GpDef *item, GpAssocFound *out) {
    GpTry mark = gp_unify_try(c);
    out->item = item;
    if (item->parent->kind == GpDef_Impl) {
        if (gp_match_impl(c, item->parent, self, &out->owner_args))
            return true;
    } else if (gp_implements(c, self, item->parent)) {
        GpGArg own = {GpGArg_Type, {.type = self}};
        out->owner_args = gp_fresh_args(c, item->parent, &own, 1);
        return true;
    }
    gp_unify_undo(c, mark);
    return false;
}

bool gp_find_assoc_item(GpCheck *c, const GpType *self, GpSym name, bool want_type,
                        GpAssocFound *out) {
    self = gp_shallow(c, self);
    if (self->kind == GpTy_Param && find_param_item(c, self, name, want_type, out))
        return true;
    if (self->kind == GpTy_Infer && self->infer == GpInfer_Any)
        return false;
    bool entered = gp_unify_enter(c), found = false;
    for (int pass = 0; pass < 3 && !found; pass++) {
        for (uint32_t n = 0; !found; n++) {
            GpDef *item = gp_index_assoc(c, name, self, n);
            if (!item)
                break;
            found = is_candidate(item, want_type, pass) && try_item(c, self, item, out);
        }
    }
    for (uint32_t i = 0; found && entered && i < out->item->parent_generic_count; i++)
        out->owner_args[i] = gp_zonk_arg(c, out->owner_args[i]);
    gp_unify_leave(c, entered);
    return found;
}

static GpDef *impl_item(GpCheck *c, const GpType *self, const GpDef *impl, GpGArg *args, GpSym name,
                        GpSubst *subst) {
    const GpDef *trait = impl->trait;
    GpDef *item = gp_map_get(&impl->values, name);
    item = item ? item : gp_map_get(&impl->types, name);
    if (item) {
        for (uint32_t i = 0; i < impl->generic_count; i++)
            args[i] = gp_zonk_arg(c, args[i]);
        *subst = gp_subst_of(impl, args);
        return item;
    }
    item = gp_map_get(&trait->values, name);
    item = item ? item : gp_map_get(&trait->types, name);
    GpGArg *of_trait = GP_NEW_ARRAY(c->arena, GpGArg, trait->generic_count);
    of_trait[0] = (GpGArg){GpGArg_Type, {.type = self}};
    GpSubst s = gp_subst_of(impl, args);
    for (uint32_t i = 1; i < trait->generic_count && i - 1 < impl->trait_arg_count; i++)
        of_trait[i] = gp_zonk_arg(c, gp_garg_subst(c->types, impl->trait_args[i - 1], &s));
    *subst = gp_subst_of(trait, of_trait);
    return item;
}

/* Whether another impl than the n-th fits as well: the arguments of the trait do not tell yet. */
static bool is_ambiguous(GpCheck *c, const GpType *self, const GpDef *trait, const GpGArg *wanted,
                         uint32_t n) {
    bool found = false;
    for (n++; !found; n++) {
        const GpDef *impl = gp_index_impl(c, trait, self, wanted, n);
        if (!impl)
            return false;
        GpGArg *args;
        GpTry mark = gp_unify_try(c);
        found = gp_match_trait_impl(c, impl, self, wanted, &args);
        gp_unify_undo(c, mark);
    }
    return true;
}

static bool has_open_arg(GpCheck *c, const GpDef *trait, const GpGArg *wanted) {
    for (uint32_t i = 0; wanted && i + 1 < trait->generic_count; i++) {
        if (wanted[i].kind == GpGArg_Type && gp_zonk(c, wanted[i].type)->has_infer)
            return true;
    }
    return false;
}

GpDef *gp_find_assoc(GpCheck *c, const GpType *self, const GpDef *trait, const GpGArg *wanted,
                     GpSym name, GpSubst *subst) {
    self = gp_shallow(c, self);
    if (self->kind == GpTy_Param || self->kind == GpTy_Infer || self->kind == GpTy_Error)
        return NULL;
    bool entered = gp_unify_enter(c);
    GpDef *item = NULL;
    for (uint32_t n = 0; !item; n++) {
        const GpDef *impl = gp_index_impl(c, trait, self, wanted, n);
        if (!impl)
            break;
        GpGArg *args;
        GpTry mark = gp_unify_try(c);
        bool is_open = has_open_arg(c, trait, wanted);
        if (!gp_match_trait_impl(c, impl, self, wanted, &args)) {
            gp_unify_undo(c, mark);
            continue;
        }
        if (is_open) {
            gp_unify_undo(c, mark);
            if (is_ambiguous(c, self, trait, wanted, n))
                break;
            gp_match_trait_impl(c, impl, self, wanted, &args);
        }
        item = impl_item(c, self, impl, args, name, subst);
    }
    gp_unify_leave(c, entered);
    return item;
}

/* ---- projections ------------------------------------------------------------------------------
 */

static const GpType *param_projection(GpCheck *c, const GpDef *param, const GpType *assoc) {
    for (uint32_t i = 0; i < param->bound_count; i++) {
        const GpBoundArgs *b = &param->bound_args[i];
        if (param->bounds[i] != assoc->def->parent ||
            !unify_given(c, b->args, assoc->args, GP_MIN(b->arg_count, assoc->arg_count)))
            continue;
        for (uint32_t k = 0; k < b->assoc_count; k++) {
            if (b->assoc_names[k] == assoc->def->name)
                return b->assoc_types[k];
        }
    }
    return assoc;
}

static const GpType *project(void *ud, const GpType *assoc) {
    GpCheck *c = ud;
    GpSubst s;
    const GpType *self = gp_shallow(c, assoc->inner);
    if (self->kind == GpTy_Error)
        return self;
    if (self->kind == GpTy_Param)
        return param_projection(c, self->def, assoc);
    if (self->kind == GpTy_Infer && self->infer == GpInfer_Any)
        return assoc;
    const GpGArg *wanted = assoc->arg_count ? assoc->args : NULL;
    GpDef *item = gp_find_assoc(c, self, assoc->def->parent, wanted, assoc->def->name, &s);
    if (!item || !item->alias)
        return assoc;
    return gp_normalize(c, gp_ty_subst(c->types, item->alias, &s));
}

static const GpType *keep_type(void *ud, const GpType *t) {
    (void)ud;
    return t;
}

static const GpConst *keep_atom(void *ud, GpAtom atom) {
    return gp_const_atom(((GpCheck *)ud)->types, atom);
}

static const GpShapeTy *keep_shape(void *ud, const GpShapeTy *sh) {
    (void)ud;
    return sh;
}

const GpType *gp_normalize(GpCheck *c, const GpType *t) {
    GpTypeMap m = {c->types, keep_type, keep_atom, keep_shape, project, c};
    return t->has_param ? gp_map_type(&m, t) : t;
}

/* In bodies what is not known yet becomes a variable that later bindings decide. */
static const GpType *project_or_defer(void *ud, const GpType *assoc) {
    GpCheck *c = ud;
    const GpType *t = project(c, assoc);
    return t->kind == GpTy_Assoc && t->has_infer && c->unify ? gp_unify_defer(c, t) : t;
}

GpFnSig gp_sig_subst(GpCheck *c, const GpDef *fn, const GpGArg *args, uint32_t count) {
    const GpDef *of = fn->kind == GpDef_Variant ? fn->parent : fn;
    GpSubst s = {(const GpDef *const *)of->generics, args, GP_MIN(count, of->generic_count)};
    GpTypeMap m = {c->types, keep_type, keep_atom, keep_shape, project_or_defer, c};
    GpFnSig sig = fn->sig;
    sig.params = GP_NEW_ARRAY(c->arena, const GpType *, sig.param_count);
    for (uint32_t i = 0; i < sig.param_count; i++)
        sig.params[i] = gp_map_type(&m, gp_ty_subst(c->types, fn->sig.params[i], &s));
    sig.ret = gp_map_type(&m, gp_ty_subst(c->types, fn->sig.ret, &s));
    return sig;
}
