/* Which impl a call of a trait's method means, where the trait has generics of its own
** (`Mul<f32>`): one candidate decides them, several wait until the arguments do. */
#include "dsl/check_body.h"
#include "dsl/generic.h"
#include "dsl/unify.h"

static bool unify_arg(GpCheck *c, GpGArg a, GpGArg t) {
    if (a.kind != t.kind)
        return false;
    if (a.kind == GpGArg_Type)
        return gp_unify(c, a.type, t.type);
    return a.kind == GpGArg_Const ? gp_unify_const(c, a.value, t.value)
                                  : gp_unify_shape(c, a.shape, t.shape);
}

static bool match(GpCheck *c, const GpDef *impl, const GpRes *res) {
    GpGArg *args;
    if (!gp_match_impl(c, impl, res->args[0].type, &args))
        return false;
    GpSubst s = gp_subst_of(impl, args);
    for (uint32_t i = 0; i < impl->trait_arg_count && i + 1 < res->arg_count; i++)
        if (!unify_arg(c, gp_garg_subst(c->types, impl->trait_args[i], &s), res->args[i + 1]))
            return false;
    return true;
}

/* The bounds of a generic: T: Mul<f32>. */
static GpSelection select_bound(GpCheck *c, const GpDef *param, const GpRes *res) {
    const GpDef *trait = res->def->parent;
    const GpBoundArgs *only = NULL;
    uint32_t count = 0;
    for (uint32_t i = 0; i < param->bound_count; i++)
        if (param->bounds[i] == trait && param->bound_args) {
            only = &param->bound_args[i];
            count++;
        }
    for (uint32_t i = 0; count == 1 && i < only->arg_count && i + 1 < res->arg_count; i++)
        if (!unify_arg(c, only->args[i], res->args[i + 1]))
            return GpSelection_None;
    return GpSelection_One;
}

GpSelection gp_body_select_impl(GpBody *b, const GpRes *res) {
    GpCheck *c = b->c;
    const GpDef *trait = res->def->parent;
    if (!trait || trait->kind != GpDef_Trait || trait->generic_count < 2 || !res->arg_count)
        return GpSelection_One;
    const GpType *self = gp_body_head(b, res->args[0].type);
    if (self->kind == GpTy_Error || self->kind == GpTy_Infer)
        return GpSelection_One;
    if (self->kind == GpTy_Param)
        return select_bound(c, self->def, res);
    const GpDef *found = NULL;
    uint32_t count = 0;
    for (uint32_t n = 0;; n++) {
        const GpDef *impl = gp_index_impl(c, trait, n);
        if (!impl)
            break;
        GpTry mark = gp_unify_try(c);
        if (match(c, impl, res)) {
            found = impl;
            count++;
        }
        gp_unify_undo(c, mark);
    }
    if (count != 1)
        return count ? GpSelection_Several : GpSelection_None;
    match(c, found, res);
    return GpSelection_One;
}

void gp_body_need_impl(GpBody *b, const GpRes *res, GpNode *n) {
    GpSelection s = gp_body_select_impl(b, res);
    if (s == GpSelection_Several)
        gp_body_pend(b, (GpPending){.kind = GpPending_Impl, .node = n, .res = res});
    else if (s == GpSelection_None)
        gp_body_report_impl(b, res, n);
}

void gp_body_report_impl(GpBody *b, const GpRes *res, GpNode *n) {
    const GpDef *trait = res->def->parent;
    const char *self = gp_body_name(b, res->args[0].type), *args = "";
    for (uint32_t i = 1; i < trait->generic_count && i < res->arg_count; i++)
        if (res->args[i].kind == GpGArg_Type)
            args = gp_arena_printf(b->c->arena, "%s%s%s", args, i > 1 ? ", " : "",
                                   gp_body_name(b, res->args[i].type));
    const char *bound = gp_arena_printf(b->c->arena, "%s<%s>", trait->name->name, args);
    GpDiag *d = gp_diag(
        b->c->diags, GpDiag_E0277, n->span,
        gp_arena_printf(b->c->arena, "the trait bound `%s: %s` is not satisfied", self, bound));
    gp_primary_label(d, "the trait `%s` is not implemented for `%s`", bound, self);
}
