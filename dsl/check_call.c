/* Calls of functions, tuple structs and variants, closures and Fn-bounded values: generic arguments
** in both directions, bounds, tracks, unsafety. */
#include "dsl/check_call.h"
#include "dsl/resolve.h"
#include "dsl/unify.h"

/* ---- what a call of a function means for its caller -------------------------------------- */

static GpTrack track_of(const GpBody *b, const GpDef *def) {
    static const GpTrack tracks[] = {
        [GpIntrinsic_None] = GpTrack_None,
#define GP_INTRINSIC(id, track, doc) [GpIntrinsic_##id] = GpTrack_##track,
#include "dsl/intrinsic.def"
    };
    if (def->track != GpTrack_None || !def->is_std)
        return def->kernel.track != GpTrack_None ? def->kernel.track : def->track;
    if (def->intrinsic != GpIntrinsic_None)
        return tracks[def->intrinsic];
    const GpDef *crate = def;
    while (crate->parent)
        crate = crate->parent;
    if (!def->has_op)
        return GpTrack_None;
    return crate == b->c->std->cutile_core   ? GpTrack_Tile
           : crate == b->c->std->cuda_device ? GpTrack_Simt
                                             : GpTrack_None;
}

static void check_track(GpBody *b, const GpDef *callee, GpSpan span) {
    GpTrack track = track_of(b, callee);
    if (track == GpTrack_None || b->fn->is_std)
        return;
    if (b->fn->track == GpTrack_None)
        b->fn->track = track;
    if (b->fn->track == track)
        return;
    GpDiag *d = gp_report_track(b->c, b->fn, span, callee->name->name, track);
    gp_primary_label(d, "%s operation", track == GpTrack_Tile ? "tile" : "SIMT");
}

void gp_body_pend_bounds(GpBody *b, const GpRes *res, GpNode *n) {
    if (res->def->generic_count && res->arg_count == res->def->generic_count)
        gp_body_pend(b, (GpPending){.kind = GpPending_Bound, .node = n, .res = res});
}

static bool is_const_body(const GpBody *b) {
    return b->is_const || (b->fn->node && b->fn->node->kind == GpNode_Fn && !b->fn->is_std &&
                           GP_AS(Fn, b->fn->node)->is_const);
}

/* A kernel that is called; perhaps what was meant is the operation whose name it took. */
static void report_kernel(GpBody *b, const GpDef *kernel, GpSpan span) {
    const char *name = kernel->name->name;
    GpDiag *d = gp_diag(b->c->diags, GpDiag_G0222, span, name);
    gp_primary_label(d, "kernels are launched from the host program");
    GpDef *prelude = b->c->std->prelude[b->fn->track];
    if (prelude && gp_find_in_module(b->c, prelude, kernel->name, GpNs_Value))
        gp_help(d, "it hides the operation `%s`, so call the kernel something else", name);
}

void gp_body_use_fn(GpBody *b, const GpDef *def, GpSpan span) {
    if (def->kind != GpDef_Fn) /* a constructor */
        return;
    GP_PUSH(b->c->arena, &b->calls, ((GpCallEdge){def, span}));
    if (def->is_unsafe)
        gp_body_need_unsafe(
            b, span, gp_arena_printf(b->c->arena, "call to unsafe function `%s`", def->name->name),
            "call to unsafe function");
    if (is_const_body(b) && !def->is_std && def->node->kind == GpNode_Fn &&
        !GP_AS(Fn, def->node)->is_const)
        gp_primary_label(gp_diag(b->c->diags, GpDiag_E0015, span, gp_def_kind_name(def),
                                 def->name->name, b->is_const ? "" : " function"),
                         "not a `const fn`");
    if (def->kernel.track != GpTrack_None)
        report_kernel(b, def, span);
    check_track(b, def, span);
}

/* ---- calls of paths ---------------------------------------------------------------------- */

static const GpType *check_fn_call(GpBody *b, GpNode *n, GpAstCall *call, const GpRes *res,
                                   const GpType *hint) {
    GpDef *def = res->def;
    GpFnSig sig = gp_sig_subst(b->c, def, res->args, res->arg_count);
    GpRes *own = gp_body_set_res(b, n, GpRes_Def);
    *own = *res;
    own->kind = GpRes_Def;
    call->callee->type = gp_ty_fn(b->c->types, def, res->args, res->arg_count);
    gp_body_use_fn(b, def, call->callee->span);
    if (def->kernel.track != GpTrack_None) { /* no arguments would make the call right */
        gp_forget_args(b, call->args);
        return gp_body_error(b);
    }
    uint32_t bounds = b->pending.len;
    gp_body_pend_bounds(b, own, call->callee);
    gp_guide_by_result(b, sig.ret, hint);
    uint32_t count = sig.param_count; /* less when modes at the end are left out */
    if (call->args.len < count && call->args.len + sig.optional_count >= count)
        count = call->args.len;
    for (uint32_t i = count; i < sig.param_count; i++) /* () stands for the mode that it has */
        if (call->args.len == count && gp_body_head(b, sig.params[i])->kind == GpTy_Infer)
            gp_unify(b->c, sig.params[i], gp_body_unit(b));
    GpCallee c = {.def = def,
                  .params = sig.params,
                  .declared = def->sig.params,
                  .count = count,
                  .args = res->args,
                  .arg_count = res->arg_count,
                  .bounds = bounds,
                  .noun = "function",
                  .span = call->callee->span};
    gp_check_args(b, &c, n, call->args);
    if (call->args.len == count && count) {
        gp_body_check_shapes(b, def, gp_expr_type(call->args.at[0]), sig.ret, n->span);
        gp_body_check_tile_call(b, def, NULL, &call->args, sig.ret, n->span);
    }
    return sig.ret;
}

const GpType *gp_body_report_fields(GpBody *b, const GpDef *variant, GpSpan span) {
    GpDiag *d = gp_diag(b->c->diags, GpDiag_E0533, span, gp_body_text(b, span));
    gp_primary_label(d, "not a value");
    gp_help(d, "it has named fields: `%s { %s: .. }`", gp_body_text(b, span),
            variant->field_names[0]->name);
    return gp_body_error(b);
}

void gp_body_check_constructor(GpBody *b, const GpDef *def, GpSpan span) {
    for (uint32_t i = 0; i < def->field_count; i++)
        if (!gp_is_field_visible(def, i, b->fn)) {
            GpDiag *d = gp_diag(b->c->diags, GpDiag_E0603, span, "tuple struct constructor",
                                def->name->name);
            gp_primary_label(d, "private tuple struct constructor");
            gp_label(d, def->field_spans[i], "this field is private");
            return;
        }
}

static const GpType *check_construct(GpBody *b, GpNode *n, GpAstCall *call, const GpRes *res,
                                     const GpType *hint) {
    GpDef *def = res->def;
    const GpType *type = gp_body_adt_of(b, res);
    gp_body_check_constructor(b, def, call->callee->span);
    GpRes *own = gp_body_set_res(b, n, GpRes_Construct);
    *own = *res;
    own->kind = GpRes_Construct;
    call->callee->type = type;
    gp_body_pend_bounds(b, own, call->callee);
    gp_guide_by_result(b, type, hint);
    const GpType **params = GP_NEW_ARRAY(b->c->arena, const GpType *, def->field_count);
    for (uint32_t i = 0; i < def->field_count; i++)
        params[i] = gp_body_field_type(b, def, res->args, res->arg_count, i);
    GpCallee c = {.def = def,
                  .params = params,
                  .count = def->field_count,
                  .noun = def->kind == GpDef_Variant ? "enum variant" : "struct",
                  .span = call->callee->span};
    gp_check_args(b, &c, n, call->args);
    return type;
}

/* ---- calls of values --------------------------------------------------------------------- */

static bool sig_of_value(GpBody *b, const GpType *t, GpCallee *c, const GpType **ret) {
    if (t->kind == GpTy_Ref)
        t = gp_body_head(b, t->inner);
    const GpType *bound = gp_fn_bound(t);
    if (bound) {
        const GpType **params = GP_NEW_ARRAY(b->c->arena, const GpType *, bound->arg_count);
        for (uint32_t i = 0; i + 1 < bound->arg_count; i++)
            params[i] = bound->args[i].type;
        *ret = bound->args[bound->arg_count - 1].type;
        c->params = params;
        c->count = bound->arg_count - 1;
        c->noun = "function";
        return true;
    }
    if (t->kind == GpTy_FnItem) {
        GpFnSig sig = gp_sig_subst(b->c, t->def, t->args, t->arg_count);
        c->params = sig.params;
        c->count = sig.param_count;
        c->noun = "function";
        *ret = sig.ret;
        gp_body_use_fn(b, t->def, c->span);
        return true;
    }
    const GpClosureSig *sig = t->kind == GpTy_Closure ? gp_map_get(&b->closures, t->node) : NULL;
    if (!sig)
        return false;
    c->params = sig->params;
    c->count = sig->count;
    c->noun = "closure";
    *ret = sig->ret;
    return true;
}

static const GpType *check_value_call(GpBody *b, GpNode *n, GpAstCall *call) {
    const GpType *t = gp_body_known(b, gp_body_expr(b, call->callee, NULL));
    GpCallee c = {.span = call->callee->span};
    const GpType *ret = NULL;
    if (sig_of_value(b, t, &c, &ret)) {
        gp_body_set_res(b, n, GpRes_Call);
        gp_check_args(b, &c, n, call->args);
        return ret;
    }
    gp_forget_args(b, call->args);
    if (t->kind != GpTy_Error && (t->kind != GpTy_Ref || gp_body_head(b, t->inner)->kind != GpTy_Error))
        gp_primary_label(gp_diag(b->c->diags, GpDiag_E0618, call->callee->span,
                                 gp_arena_printf(b->c->arena, "`%s`", gp_body_name(b, t))),
                         "call expression requires function");
    return gp_body_error(b);
}

static bool is_local_path(GpBody *b, GpNode *callee) {
    GpAstPath *p = GP_AS(Path, GP_AS(PathExpr, callee)->path);
    return p->segments.len == 1 && !p->self_type && !p->is_global &&
           gp_body_find_local(b, GP_AS(Segment, p->segments.at[0])->name, p->segments.at[0]->span);
}

const GpType *gp_check_call(GpBody *b, GpNode *n, const GpType *hint) {
    GpAstCall *call = GP_AS(Call, n);
    GpNode *callee = gp_node_bare(call->callee);
    if (callee->kind != GpNode_PathExpr || is_local_path(b, callee))
        return check_value_call(b, n, call);
    GpRes found;
    if (!gp_body_resolve(b, callee, "cannot find function", &found) || !found.def) {
        callee->type = gp_body_error(b);
        gp_forget_args(b, call->args);
        return gp_body_error(b);
    }
    *gp_body_set_res(b, callee, found.kind) = found;
    if (found.def->kind == GpDef_Fn)
        return check_fn_call(b, n, call, &found, hint);
    if ((found.def->kind == GpDef_Struct || found.def->kind == GpDef_Variant) &&
        found.def->field_count && !(found.def->field_names && found.def->field_names[0]))
        return check_construct(b, n, call, &found, hint);
    gp_forget_args(b, call->args);
    callee->type = gp_body_error(b);
    if (found.def->kind == GpDef_Variant && found.def->field_count)
        return gp_body_report_fields(b, found.def, callee->span);
    gp_primary_label(gp_diag(b->c->diags, GpDiag_E0618, callee->span,
                             gp_arena_printf(b->c->arena, "`%s`", gp_body_text(b, callee->span))),
                     "call expression requires function");
    return gp_body_error(b);
}
