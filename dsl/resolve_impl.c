/* An impl of a trait against the trait: every item is there, none too many, and functions have
** the signature that callers through the trait rely on. */
#include "dsl/resolve.h"
#include "dsl/unify.h"

static bool has_item(GpDef *owner, const GpDef *item) {
    GpNamespace ns = item->kind == GpDef_AssocType ? GpNs_Type : GpNs_Value;
    GpDef *found = gp_map_get(gp_def_map(owner, ns), item->name);
    return found && found->kind == item->kind;
}

static bool has_default(const GpDef *item) {
    if (item->kind == GpDef_Fn)
        return item->has_body || item->is_std;
    if (item->kind == GpDef_Const)
        return GP_AS(Const, item->node)->value != NULL;
    return item->alias != NULL;
}

static void check_missing(GpCollect *k, GpDef *impl) {
    const char *missing = "";
    const GpDef *first = NULL;
    for (uint32_t i = 0; i < impl->trait->item_count; i++) {
        GpDef *item = impl->trait->items[i];
        if (has_item(impl, item) || has_default(item))
            continue;
        missing =
            gp_arena_printf(k->c->arena, "%s%s`%s`", missing, first ? ", " : "", item->name->name);
        first = first ? first : item;
    }
    if (!first)
        return;
    GpDiag *d = gp_diag(k->c->diags, GpDiag_E0046, GP_AS(Impl, impl->node)->trait->span, missing);
    gp_primary_label(d, "missing %s in implementation", missing);
    if (!first->is_std)
        gp_label(d, first->span, "%s from trait", missing);
}

/* ---- signatures ------------------------------------------------------------------------------ */

static uint32_t own_generics(const GpDef *fn) {
    return fn->generic_count - fn->parent_generic_count;
}

/* The trait's generics and the function's own as the impl has them. */
static GpGArg *args_for(GpCheck *c, const GpDef *impl, const GpDef *fn, const GpDef *of_trait) {
    GpGArg *args = GP_NEW_ARRAY(c->arena, GpGArg, of_trait->generic_count);
    args[0] = (GpGArg){GpGArg_Type, {.type = impl->self_type}};
    for (uint32_t i = 1; i < of_trait->parent_generic_count; i++)
        args[i] = impl->trait_args[i - 1];
    for (uint32_t i = 0; i < own_generics(fn); i++) {
        GpDef *g = fn->generics[fn->parent_generic_count + i];
        args[of_trait->parent_generic_count + i] = gp_garg_of_param(c, g);
    }
    return args;
}

static bool check_counts(GpCheck *c, GpDef *fn, GpDef *of_trait) {
    GpDiag *d;
    if (fn->sig.has_self != of_trait->sig.has_self) {
        d = gp_diag(c->diags, fn->sig.has_self ? GpDiag_E0185 : GpDiag_E0186, fn->span,
                    fn->name->name);
        gp_primary_label(d, fn->sig.has_self ? "`self` used in impl" : "expected `self` in impl");
    } else if (own_generics(fn) != own_generics(of_trait)) {
        d = gp_diag(c->diags, GpDiag_E0049, fn->span, fn->name->name,
                    gp_arena_printf(c->arena, "%u generic parameter%s", own_generics(fn),
                                    gp_plural(own_generics(fn))),
                    gp_arena_printf(c->arena, "%u", own_generics(of_trait)));
        gp_primary_label(d, "found %u", own_generics(fn));
    } else if (fn->sig.param_count != of_trait->sig.param_count) {
        d = gp_diag(c->diags, GpDiag_E0050, fn->span, fn->name->name,
                    gp_arena_printf(c->arena, "%u parameter%s", fn->sig.param_count,
                                    gp_plural(fn->sig.param_count)),
                    gp_arena_printf(c->arena, "%u", of_trait->sig.param_count));
        gp_primary_label(d, "expected %u parameter%s, found %u", of_trait->sig.param_count,
                         gp_plural(of_trait->sig.param_count), fn->sig.param_count);
    } else {
        return true;
    }
    if (!of_trait->is_std)
        gp_label(d, of_trait->span, "the trait's declaration");
    return false;
}

static void check_type(GpCheck *c, GpDef *fn, GpDef *of_trait, const GpType *got,
                       const GpType *want, GpNode *at) {
    got = gp_normalize(c, got);
    want = gp_normalize(c, want);
    if (got == want || got->kind == GpTy_Error || want->kind == GpTy_Error)
        return;
    GpDiag *d = gp_diag(c->diags, GpDiag_E0053, at ? at->span : fn->span, fn->name->name);
    gp_primary_label(d, "expected `%s`, found `%s`", gp_ty_name(c->arena, want),
                     gp_ty_name(c->arena, got));
    if (!of_trait->is_std)
        gp_label(d, of_trait->span, "type in trait");
}

static void check_fn(GpCollect *k, GpDef *impl, GpDef *fn, GpDef *of_trait) {
    GpCheck *c = k->c;
    if (impl->self_type->kind == GpTy_Error || !check_counts(c, fn, of_trait))
        return;
    for (uint32_t i = 0; i < own_generics(fn); i++) {
        const GpDef *a = fn->generics[fn->parent_generic_count + i];
        const GpDef *b = of_trait->generics[of_trait->parent_generic_count + i];
        if (a->kind != b->kind || a->const_type != b->const_type) {
            gp_primary_label(gp_diag(c->diags, GpDiag_E0053, a->span, fn->name->name),
                             "another kind of generic parameter");
            return;
        }
    }
    GpFnSig want =
        gp_sig_subst(c, of_trait, args_for(c, impl, fn, of_trait), of_trait->generic_count);
    GpAstFn *node = GP_AS(Fn, fn->node);
    for (uint32_t i = 0; i < want.param_count; i++)
        check_type(c, fn, of_trait, fn->sig.params[i], want.params[i], node->params.at[i]);
    check_type(c, fn, of_trait, fn->sig.ret, want.ret, node->ret);
}

static void check_const(GpCheck *c, const GpDef *impl, GpDef *item, GpDef *of_trait) {
    GpSubst s = {(const GpDef *const *)impl->trait->generics, args_for(c, impl, item, of_trait),
                 impl->trait->generic_count};
    const GpType *want = gp_normalize(c, gp_ty_subst(c->types, of_trait->const_type, &s));
    const GpType *got = gp_normalize(c, item->const_type);
    if (got == want || got->kind == GpTy_Error || want->kind == GpTy_Error)
        return;
    GpDiag *d =
        gp_diag(c->diags, GpDiag_E0326, GP_AS(Const, item->node)->type->span, item->name->name);
    gp_primary_label(d, "expected `%s`, found `%s`", gp_ty_name(c->arena, want),
                     gp_ty_name(c->arena, got));
    if (!of_trait->is_std)
        gp_label(d, of_trait->span, "type in trait");
}

/* ---- overlap ----------------------------------------------------------------------------------
 */

/* Whether a type could be the Self of both. */
static bool overlaps(GpCheck *c, const GpDef *a, const GpDef *b) {
    GpGArg *args;
    bool entered = gp_unify_enter(c);
    GpTry mark = gp_unify_try(c);
    GpGArg *own = gp_fresh_args(c, a, NULL, 0);
    GpSubst s = gp_subst_of(a, own);
    bool same = gp_match_impl(c, b, gp_ty_subst(c->types, a->self_type, &s), &args);
    GpSubst t = gp_subst_of(b, args);
    for (uint32_t i = 0; same && i < a->trait_arg_count; i++)
        same = gp_unify_arg(c, gp_garg_subst(c->types, a->trait_args[i], &s),
                            gp_garg_subst(c->types, b->trait_args[i], &t));
    gp_unify_undo(c, mark);
    gp_unify_leave(c, entered);
    return same;
}

static void check_inherent(GpCollect *k, GpDef *impl, GpDef *item) {
    for (uint32_t n = 0;; n++) {
        GpDef *other = gp_index_assoc(k->c, item->name, impl->self_type, n);
        if (!other || other == item)
            return;
        bool clashes = other->parent->kind == GpDef_Impl && !other->parent->trait &&
                       other->parent != impl && other->kind == item->kind &&
                       overlaps(k->c, impl, other->parent);
        if (!clashes)
            continue;
        GpDiag *d = gp_diag(k->c->diags, GpDiag_E0592, item->span, item->name->name);
        gp_primary_label(d, "duplicate definitions for `%s`", item->name->name);
        if (!other->is_std)
            gp_label(d, other->span, "other definition for `%s`", item->name->name);
        return;
    }
}

static void check_overlap(GpCollect *k, GpDef *impl) {
    for (uint32_t n = 0;; n++) {
        GpDef *other = gp_index_impl(k->c, impl->trait, impl->self_type, impl->trait_args, n);
        if (!other || other == impl)
            return;
        if (gp_is_apart(impl->self_type, other->self_type) || !overlaps(k->c, impl, other))
            continue;
        GpDiag *d = gp_diag(k->c->diags, GpDiag_E0119, GP_AS(Impl, impl->node)->self_type->span,
                            impl->trait->name->name, gp_ty_name(k->c->arena, impl->self_type));
        gp_primary_label(d, "conflicting implementation for `%s`",
                         gp_ty_name(k->c->arena, impl->self_type));
        if (!other->is_std)
            gp_label(d, GP_AS(Impl, other->node)->self_type->span, "first implementation here");
        return;
    }
}

/* `impl f32 { .. }` belongs to core: E0116, E0390. */
static void check_owner(GpCollect *k, GpDef *impl) {
    const GpType *t = impl->self_type;
    bool is_own = t->kind == GpTy_Error || (t->kind == GpTy_Adt && !t->def->is_std);
    if (is_own)
        return;
    GpDiag *d = gp_diag(k->c->diags, t->kind == GpTy_Adt ? GpDiag_E0116 : GpDiag_E0390,
                        GP_AS(Impl, impl->node)->self_type->span);
    gp_primary_label(d, "impl for a type defined outside of this source");
    gp_help(d, "declare a trait and implement it for `%s`", gp_ty_name(k->c->arena, t));
}

static bool is_own(const GpType *t) {
    while (t->kind == GpTy_Ref)
        t = t->inner;
    return t->kind == GpTy_Error || (t->kind == GpTy_Adt && !t->def->is_std);
}

/* A trait of the built-in crates needs a type of this source: E0117, E0210. */
static bool check_orphan(GpCheck *c, const GpDef *impl) {
    bool has_own = !impl->trait->is_std || is_own(impl->self_type);
    for (uint32_t i = 0; i < impl->trait_arg_count && !has_own; i++)
        has_own = impl->trait_args[i].kind == GpGArg_Type && is_own(impl->trait_args[i].type);
    if (has_own)
        return true;
    GpSpan at = GP_AS(Impl, impl->node)->self_type->span;
    const GpType *self = impl->self_type;
    if (self->kind == GpTy_Param)
        gp_primary_label(gp_diag(c->diags, GpDiag_E0210, self->def->span, self->def->name->name),
                         "not inside a type of this source");
    else
        gp_primary_label(gp_diag(c->diags, GpDiag_E0117, at), "`%s` is not defined in this source",
                         gp_ty_name(c->arena, self));
    return false;
}

/* The traits that the trait asks for: E0277. */
static void check_supertraits(GpCheck *c, const GpDef *impl) {
    const GpDef *self = impl->trait->generics[0];
    GpGArg *args = GP_NEW_ARRAY(c->arena, GpGArg, impl->trait->generic_count);
    args[0] = (GpGArg){GpGArg_Type, {.type = impl->self_type}};
    for (uint32_t i = 1; i < impl->trait->generic_count; i++)
        args[i] = impl->trait_args[i - 1];
    for (uint32_t i = 0; i < self->bound_count; i++) {
        const GpGArg *wanted =
            gp_bound_args(c, impl->trait, args, impl->trait->generic_count, self, i);
        if (self->bounds[i] == impl->trait ||
            gp_implements_with(c, impl->self_type, self->bounds[i], wanted))
            continue;
        const char *type = gp_ty_name(c->arena, impl->self_type),
                   *trait = self->bounds[i]->name->name;
        GpDiag *d = gp_diag(
            c->diags, GpDiag_E0277, GP_AS(Impl, impl->node)->self_type->span,
            gp_arena_printf(c->arena, "the trait bound `%s: %s` is not satisfied", type, trait));
        gp_primary_label(d, "the trait `%s` is not implemented for `%s`", trait, type);
        if (!impl->trait->is_std)
            gp_note_at(d, impl->trait->span, "required by a bound in `%s`",
                       impl->trait->name->name);
    }
}

/* Items of a trait's impl are as visible as the trait: E0449. */
static void check_plain(GpCheck *c, const GpDef *item) {
    const GpSpan whole = item->node->span;
    if (item->is_pub)
        gp_primary_label(gp_diag(c->diags, GpDiag_E0449, (GpSpan){whole.src, whole.off, 3}),
                         "remove the qualifier");
}

void gp_check_impl_items(GpCollect *k, GpDef *impl) {
    for (uint32_t i = 0; i < impl->item_count; i++)
        if (!impl->items[i]->name)
            gp_primary_label(gp_diag(k->c->diags, GpDiag_G0008, impl->items[i]->node->span,
                                     "items without a name inside of an `impl`"),
                             "not supported");
    if (k->is_std || !impl->self_type || impl->self_type->kind == GpTy_Error)
        return;
    if (!impl->trait) {
        check_owner(k, impl);
        for (uint32_t i = 0; i < impl->item_count; i++)
            check_inherent(k, impl, impl->items[i]);
        return;
    }
    if (!check_orphan(k->c, impl))
        return;
    check_overlap(k, impl);
    check_supertraits(k->c, impl);
    for (uint32_t i = 0; i < impl->item_count; i++) {
        GpDef *item = impl->items[i];
        if (!item->name)
            continue;
        check_plain(k->c, item);
        if (has_item(impl->trait, item)) {
            GpDef *declared = gp_map_get(&impl->trait->values, item->name);
            if (item->kind == GpDef_Fn)
                check_fn(k, impl, item, declared);
            else if (item->kind == GpDef_Const)
                check_const(k->c, impl, item, declared);
            continue;
        }
        GpDiag *d = gp_diag(k->c->diags,
                            item->kind == GpDef_Fn      ? GpDiag_E0407
                            : item->kind == GpDef_Const ? GpDiag_E0438
                                                        : GpDiag_E0437,
                            item->span, item->name->name, impl->trait->name->name);
        gp_primary_label(d, "not a member of trait `%s`", impl->trait->name->name);
    }
    check_missing(k, impl);
}
