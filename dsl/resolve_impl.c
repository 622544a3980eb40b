/* An impl of a trait against the trait: every item is there, none too many, and functions have
** the signature that callers through the trait rely on. */
#include "dsl/resolve.h"

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
        missing = gp_arena_printf(k->c->arena, "%s%s`%s`", missing, first ? ", " : "", item->name->name);
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

static uint32_t own_generics(const GpDef *fn) { return fn->generic_count - fn->parent_generic_count; }

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

static const char *plural(uint32_t n) { return n == 1 ? "" : "s"; }

static bool check_counts(GpCheck *c, GpDef *fn, GpDef *of_trait) {
    GpDiag *d;
    if (fn->sig.has_self != of_trait->sig.has_self) {
        d = gp_diag(c->diags, fn->sig.has_self ? GpDiag_E0185 : GpDiag_E0186, fn->span, fn->name->name);
        gp_primary_label(d, fn->sig.has_self ? "`self` used in impl" : "expected `self` in impl");
    } else if (own_generics(fn) != own_generics(of_trait)) {
        d = gp_diag(c->diags, GpDiag_E0049, fn->span, fn->name->name,
                    gp_arena_printf(c->arena, "%u generic parameter%s", own_generics(fn), plural(own_generics(fn))),
                    gp_arena_printf(c->arena, "%u", own_generics(of_trait)));
        gp_primary_label(d, "found %u", own_generics(fn));
    } else if (fn->sig.param_count != of_trait->sig.param_count) {
        d = gp_diag(c->diags, GpDiag_E0050, fn->span, fn->name->name,
                    gp_arena_printf(c->arena, "%u parameter%s", fn->sig.param_count, plural(fn->sig.param_count)),
                    gp_arena_printf(c->arena, "%u", of_trait->sig.param_count));
        gp_primary_label(d, "expected %u parameter%s, found %u", of_trait->sig.param_count,
                         plural(of_trait->sig.param_count), fn->sig.param_count);
    } else {
        return true;
    }
    if (!of_trait->is_std)
        gp_label(d, of_trait->span, "the trait's declaration");
    return false;
}

static void check_type(GpCheck *c, GpDef *fn, GpDef *of_trait, const GpType *got, const GpType *want, GpNode *at) {
    got = gp_normalize(c, got);
    want = gp_normalize(c, want);
    if (got == want || got->kind == GpTy_Error || want->kind == GpTy_Error)
        return;
    GpDiag *d = gp_diag(c->diags, GpDiag_E0053, at ? at->span : fn->span, fn->name->name);
    gp_primary_label(d, "expected `%s`, found `%s`", gp_ty_name(c->arena, want), gp_ty_name(c->arena, got));
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
            gp_primary_label(gp_diag(c->diags, GpDiag_E0053, a->span, fn->name->name), "another kind of generic parameter");
            return;
        }
    }
    GpFnSig want = gp_sig_subst(c, of_trait, args_for(c, impl, fn, of_trait), of_trait->generic_count);
    GpAstFn *node = GP_AS(Fn, fn->node);
    for (uint32_t i = 0; i < want.param_count; i++)
        check_type(c, fn, of_trait, fn->sig.params[i], want.params[i], node->params.at[i]);
    check_type(c, fn, of_trait, fn->sig.ret, want.ret, node->ret);
}

void gp_check_impl_items(GpCollect *k, GpDef *impl) {
    if (!impl->trait || k->is_std)
        return;
    for (uint32_t i = 0; i < impl->item_count; i++) {
        GpDef *item = impl->items[i];
        if (has_item(impl->trait, item)) {
            if (item->kind == GpDef_Fn)
                check_fn(k, impl, item, gp_map_get(&impl->trait->values, item->name));
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
