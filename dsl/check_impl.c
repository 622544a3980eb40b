/* Which impl a call of a trait's method means, where the trait has generics of its own
** (`Mul<f32>`): one candidate decides them, several wait until the arguments do. */
#include "dsl/check_body.h"
#include "dsl/generic.h"
#include "dsl/unify.h"

static bool unify_args(GpCheck *c, const GpGArg *given, const GpRes *res) {
    for (uint32_t i = 0; i + 1 < res->def->parent->generic_count && i + 1 < res->arg_count; i++)
        if (!gp_unify_arg(c, given[i], res->args[i + 1]))
            return false;
    return true;
}

/* The bounds of a generic: T: Mul<f32>. */
static GpSelection select_bound(GpCheck *c, const GpDef *param, const GpRes *res) {
    const GpDef *trait = res->def->parent;
    const GpBoundArgs *found = NULL;
    uint32_t count = 0, all = 0;
    for (uint32_t i = 0; i < param->bound_count; i++) {
        const GpBoundArgs *args = &param->bound_args[i];
        if (param->bounds[i] != trait || !args->arg_count)
            continue;
        all++;
        GpTry mark = gp_unify_try(c);
        if (unify_args(c, args->args, res)) {
            found = args;
            count++;
        }
        gp_unify_undo(c, mark);
    }
    if (count == 1)
        unify_args(c, found->args, res);
    return count > 1 ? GpSelection_Several : !count && all ? GpSelection_None : GpSelection_One;
}

GpSelection gp_body_select_impl(GpBody *b, const GpRes *res) {
    GpCheck *c = b->c;
    const GpDef *trait = res->def->parent, *found = NULL;
    if (!trait || trait->kind != GpDef_Trait || trait->generic_count < 2 || !res->arg_count)
        return GpSelection_One;
    const GpType *self = gp_body_head(b, res->args[0].type);
    if (self->kind == GpTy_Error || self->kind == GpTy_Infer)
        return GpSelection_One;
    if (self->kind == GpTy_Param)
        return select_bound(c, self->def, res);
    uint32_t count = 0;
    GpGArg *args;
    for (uint32_t n = 0;; n++) {
        const GpDef *impl = gp_index_impl(c, trait, self, res->args + 1, n);
        if (!impl)
            break;
        GpTry mark = gp_unify_try(c);
        if (gp_match_trait_impl(c, impl, self, res->args + 1, &args)) {
            found = impl;
            count++;
        }
        gp_unify_undo(c, mark);
    }
    if (count != 1)
        return count ? GpSelection_Several : GpSelection_None;
    gp_match_trait_impl(c, found, self, res->args + 1, &args);
    return GpSelection_One;
}

/* "Mul<f32>" */
static const char *trait_text(GpCheck *c, const GpDef *trait, const GpGArg *args) {
    const char *list = "";
    for (uint32_t i = 0; args && i + 1 < trait->generic_count; i++)
        if (args[i].kind == GpGArg_Type)
            list = gp_arena_printf(c->arena, "%s%s%s", list, *list ? ", " : "",
                                   gp_ty_name(c->arena, gp_zonk(c, args[i].type)));
    const char *name = trait->name ? trait->name->name : "_";
    return *list ? gp_arena_printf(c->arena, "%s<%s>", name, list) : name;
}

void gp_suggest_bound(GpCheck *c, GpDiag *d, const GpType *self, const char *trait) {
    const GpDef *generic = self->kind == GpTy_Param ? self->def : NULL;
    if (!generic || !generic->node || generic->is_impl_trait || generic->is_std)
        return;
    GpSpan end = {generic->node->span.src, generic->node->span.off + generic->node->span.len, 0};
    const char *joint = generic->bound_count ? " +" : ":";
    gp_suggest(d, end, gp_arena_printf(c->arena, "%s %s", joint, trait), "restrict the type");
}

static GpDiag *report_bound(GpCheck *c, const GpType *self, const char *trait, GpSpan at) {
    const char *type = gp_ty_name(c->arena, gp_zonk(c, self));
    GpDiag *d = gp_diag(
        c->diags, GpDiag_E0277, at,
        gp_arena_printf(c->arena, "the trait bound `%s: %s` is not satisfied", type, trait));
    gp_primary_label(d, "the trait `%s` is not implemented for `%s`", trait, type);
    gp_suggest_bound(c, d, self, trait);
    return d;
}

static void report_impl(GpCheck *c, const GpRes *res, GpNode *n) {
    report_bound(c, res->args[0].type, trait_text(c, res->def->parent, res->args + 1), n->span);
}

void gp_body_need_impl(GpBody *b, const GpRes *res, GpNode *n) {
    GpSelection s = gp_body_select_impl(b, res);
    if (s == GpSelection_Several)
        gp_body_pend(b, (GpPending){.kind = GpPending_Impl, .node = n, .res = res});
    else if (s == GpSelection_None)
        report_impl(b->c, res, n);
}

void gp_body_finish_impl(GpBody *b, const GpRes *res, GpNode *n) {
    GpSelection s = gp_body_select_impl(b, res);
    if (s == GpSelection_None)
        report_impl(b->c, res, n);
    if (s != GpSelection_Several || b->has_reported_infer)
        return;
    b->has_reported_infer = true;
    const GpDef *trait = res->def->parent;
    const char *self = gp_body_name(b, res->args[0].type);
    GpDiag *d = gp_diag(b->c->diags, GpDiag_E0283, n->span);
    gp_primary_label(d, "`%s` implements `%s` several times", self, trait->name->name);
    gp_help(d, "say which is meant: `<%s as %s<..>>::%s(..)`, or the type of the result", self,
            trait->name->name, res->def->name->name);
}

/* ---- bounds ------------------------------------------------------------------------------------
 */

static void note_bound(const GpDef *def, GpDiag *d) {
    if (def->name && !def->is_std && def->span.src)
        gp_note_at(d, def->span, "required by a bound in `%s`", def->name->name);
}

/* What a body names with generic arguments, zonked. */
typedef struct Named {
    const GpDef *def;
    const GpGArg *args;
    uint32_t count;
    GpSpan span;
} Named;

/* T: Mul<Output = f32>: what the impl says is that type. */
static void check_assoc(GpCheck *c, const Named *of, uint32_t generic, uint32_t bound) {
    const GpDef *g = of->def->generics[generic], *trait = g->bounds[bound];
    const GpType *self = of->args[generic].type;
    const GpBoundArgs *said = &g->bound_args[bound];
    const GpGArg *wanted = gp_bound_args(c, of->def, of->args, of->count, g, bound);
    GpSubst s = {(const GpDef *const *)of->def->generics, of->args,
                 GP_MIN(of->count, of->def->generic_count)};
    for (uint32_t i = 0; i < said->assoc_count; i++) {
        const GpDef *assoc = gp_map_get(&trait->types, said->assoc_names[i]);
        const GpType *is = gp_normalize(
            c, gp_ty_assoc(c->types, self, assoc, wanted, wanted ? trait->generic_count - 1 : 0));
        const GpType *want = gp_normalize(c, gp_ty_subst(c->types, said->assoc_types[i], &s));
        if (is->kind == GpTy_Assoc || gp_unify(c, want, is))
            continue;
        const char *name = gp_ty_name(c->arena, gp_zonk(c, want));
        GpDiag *d = gp_diag(c->diags, GpDiag_E0271, of->span, gp_ty_name(c->arena, self),
                            trait_text(c, trait, wanted), assoc->name->name, name);
        gp_primary_label(d, "expected `%s`, found `%s`", name,
                         gp_ty_name(c->arena, gp_zonk(c, is)));
        note_bound(of->def, d);
        return;
    }
}

void gp_body_finish_bound(GpBody *b, const GpRes *res, GpNode *n) {
    const GpDef *def = res->def;
    GpGArg *args = GP_NEW_ARRAY(b->c->arena, GpGArg, res->arg_count);
    for (uint32_t i = 0; i < res->arg_count; i++)
        args[i] = gp_zonk_arg(b->c, res->args[i]);
    uint32_t at, bound;
    if (gp_find_unmet_bound(b->c, def, args, res->arg_count, &at, &bound)) {
        const GpDef *g = def->generics[at];
        const GpGArg *wanted = gp_bound_args(b->c, def, args, res->arg_count, g, bound);
        if (args[at].type->kind != GpTy_Error)
            note_bound(def, report_bound(b->c, args[at].type,
                                         trait_text(b->c, g->bounds[bound], wanted), n->span));
        return;
    }
    Named of = {def, args, res->arg_count, n->span};
    for (uint32_t i = 0; i < res->arg_count && i < def->generic_count; i++)
        for (uint32_t k = 0; args[i].kind == GpGArg_Type && k < def->generics[i]->bound_count; k++)
            check_assoc(b->c, &of, i, k);
}
