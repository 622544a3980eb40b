/* Calls: functions, tuple structs and variants, methods, closures and Fn-bounded values; argument
** counts, generic arguments in both directions, bounds, tracks, unsafety. */
#include "dsl/check_body.h"
#include "dsl/resolve.h"
#include "dsl/unify.h"

static const char *plural(uint32_t n) { return n == 1 ? "" : "s"; }

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
    bool is_tile_op = track == GpTrack_Tile;
    const char *fn = b->fn->name ? b->fn->name->name : "_";
    GpDiag *d = gp_diag(b->c->diags, GpDiag_G0221, span, callee->name->name,
                        is_tile_op ? "tile" : "SIMT", fn, is_tile_op ? "SIMT" : "tile");
    gp_primary_label(d, "%s operation", is_tile_op ? "tile" : "SIMT");
    if (b->fn->kernel.track != GpTrack_None && b->fn->kernel.span.src)
        gp_label(d, b->fn->kernel.span, "this makes `%s` a %s kernel", fn,
                 is_tile_op ? "SIMT" : "tile");
}

void gp_body_pend_bounds(GpBody *b, const GpRes *res, GpNode *n) {
    if (res->def->generic_count && res->arg_count == res->def->generic_count)
        gp_body_pend(b, (GpPending){.kind = GpPending_Bound, .node = n, .res = res});
}

static bool is_const_body(const GpBody *b) {
    return b->is_const || (b->fn->node && b->fn->node->kind == GpNode_Fn && !b->fn->is_std &&
                           GP_AS(Fn, b->fn->node)->is_const);
}

void gp_body_use_fn(GpBody *b, const GpDef *def, const GpGArg *args, uint32_t count, GpSpan span) {
    (void)args;
    (void)count;
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
        gp_primary_label(gp_diag(b->c->diags, GpDiag_G0222, span, def->name->name),
                         "kernels are launched from the host program");
    check_track(b, def, span);
}

/* ---- arguments --------------------------------------------------------------------------- */

typedef struct Callee {
    const GpDef *def;              /* NULL: a value */
    const GpType *const *params;   /* with generics replaced; without self */
    const GpType *const *declared; /* as declared; NULL for values */
    uint32_t count;
    const GpGArg *args; /* for def's generics */
    uint32_t arg_count;
    GpNode *receiver; /* NULL: no method */
    uint32_t bounds;  /* functions: where their bounds are pending */
    const char *noun; /* "function", "method", "struct", "enum variant", "closure" */
    GpSpan span;      /* of the name, for labels */
} Callee;

static void report_count(GpBody *b, const Callee *c, GpNode *call, GpNodeList args) {
    const char *title = gp_arena_printf(
        b->c->arena, "this %s takes %u argument%s but %u argument%s %s supplied", c->noun, c->count,
        plural(c->count), args.len, plural(args.len), args.len == 1 ? "was" : "were");
    bool is_closure = strcmp(c->noun, "closure") == 0;
    GpDiag *d = gp_diag(b->c->diags, is_closure ? GpDiag_E0057 : GpDiag_E0061, c->span, title);
    uint32_t close = call->span.off + call->span.len;
    GpSpan parens = {call->span.src, c->span.off + c->span.len, close - c->span.off - c->span.len};
    if (args.len + 1 == c->count)
        gp_label(d, parens, "argument #%u of type `%s` is missing", c->count,
                 gp_body_name(b, c->params[args.len]));
    else if (args.len > c->count)
        gp_label(d, args.at[c->count]->span, "unexpected argument #%u of type `%s`", c->count + 1,
                 gp_body_name(b, gp_expr_type(args.at[c->count])));
    if (c->def && !c->def->is_std && c->def->span.src)
        gp_note_at(d, c->def->span, "%s defined here", c->noun);
}

static const GpType *fn_bound(const GpType *declared) {
    if (!declared || declared->kind != GpTy_Param || !declared->def->bound_types)
        return NULL;
    for (uint32_t i = 0; i < declared->def->bound_count; i++)
        if (declared->def->bound_types[i])
            return declared->def->bound_types[i];
    return NULL;
}

/* "fn(i32) -> f32" */
static const char *fn_text(GpBody *b, const GpType *const *params, uint32_t count,
                           const GpType *ret) {
    const char *list = "";
    for (uint32_t i = 0; i < count; i++)
        list =
            gp_arena_printf(b->c->arena, "%s%s%s", list, i ? ", " : "", gp_body_name(b, params[i]));
    return gp_arena_printf(b->c->arena, "fn(%s) -> %s", list, gp_body_name(b, ret));
}

/* An argument for a parameter of type F: Fn(A, B) -> C: a closure takes its types from the bound, a
** function must have them. */
static void check_callable(GpBody *b, const Callee *c, GpNode *arg, const GpType *param,
                           const GpType *bound) {
    GpSubst s = {(const GpDef *const *)c->def->generics, c->args,
                 GP_MIN(c->arg_count, c->def->generic_count)};
    bound = gp_ty_subst(b->c->types, bound, &s);
    uint32_t count = bound->arg_count - 1;
    const GpType **want = GP_NEW_ARRAY(b->c->arena, const GpType *, count);
    for (uint32_t i = 0; i < count; i++)
        want[i] = bound->args[i].type;
    const GpType *ret = bound->args[count].type;
    GpNode *bare = gp_body_bare(arg);
    if (bare->kind == GpNode_Closure) {
        bare->type = gp_body_closure(b, bare, want, count, ret);
        arg->type = bare->type;
        gp_unify(b->c, param, bare->type);
        return;
    }
    const GpType *t = gp_body_head(b, gp_body_expr(b, arg, NULL));
    gp_unify(b->c, param, t);
    if (t->kind != GpTy_FnItem)
        return;
    GpFnSig sig = gp_sig_subst(b->c, t->def, t->args, t->arg_count);
    bool fits = sig.param_count == count && gp_body_unify(b, ret, sig.ret, arg->span);
    for (uint32_t i = 0; fits && i < count; i++)
        fits = gp_body_unify(b, want[i], sig.params[i], arg->span);
    if (!fits)
        gp_primary_label(gp_diag(b->c->diags, GpDiag_E0631, arg->span), "expected `%s`, found `%s`",
                         fn_text(b, want, count, ret),
                         fn_text(b, sig.params, sig.param_count, sig.ret));
    gp_body_use_fn(b, t->def, t->args, t->arg_count, arg->span);
}

/* A call of a function on numbers, as `max`, with a tile: E0277, naming the one on tiles. */
static bool report_tile(GpBody *b, const Callee *c, GpNodeList args, uint32_t at) {
    const GpType *own = c->declared ? c->declared[at] : NULL;
    const GpType *t = gp_body_head(b, c->params[at]);
    if (!own || own->kind != GpTy_Param || !own->def->bound_count || !c->def->is_std ||
        !gp_ty_is_lang(t, GpLang_Tile) || gp_implements(b->c, t, own->def->bounds[0]))
        return false;
    const char *trait = own->def->bounds[0]->name->name, *type = gp_body_name(b, t);
    GpDiag *d = gp_diag(
        b->c->diags, GpDiag_E0277, c->span,
        gp_arena_printf(b->c->arena, "the trait bound `%s: %s` is not satisfied", type, trait));
    gp_primary_label(d, "the trait `%s` is not implemented for `%s`", trait, type);
    const char *name = gp_arena_printf(b->c->arena, "%s_tile", c->def->name->name);
    if (!gp_find_name(b->c, b->fn, gp_intern_cstr(b->c->names, name), GpNs_Value))
        return true;
    const char *like = gp_body_text(b, args.at[at]->span);
    for (uint32_t i = 0; i < args.len; i++)
        if (gp_body_bare(args.at[i])->kind == GpNode_Lit) {
            gp_help(d,
                    "`%s` takes numbers; on tiles it is `%s`, where a number is spread: "
                    "`constant(%s, %s.shape())`",
                    c->def->name->name, name, gp_body_text(b, args.at[i]->span), like);
            return true;
        }
    gp_help(d, "`%s` takes numbers; on tiles it is `%s`", c->def->name->name, name);
    return true;
}

static void check_args(GpBody *b, const Callee *c, GpNode *call, GpNodeList args) {
    if (args.len != c->count) {
        for (uint32_t i = 0; i < args.len; i++)
            gp_body_expr(b, args.at[i], i < c->count ? c->params[i] : NULL);
        report_count(b, c, call, args);
        return;
    }
    GpReason why = {c->span,
                    gp_arena_printf(b->c->arena, "arguments to this %s are incorrect", c->noun),
                    c->def};
    for (int pass = 0; pass < 2; pass++) /* closures last: the others tell their types */
        for (uint32_t i = 0; i < args.len; i++) {
            GpNode *arg = args.at[i];
            const GpType *bound = c->declared ? fn_bound(c->declared[i]) : NULL;
            bool is_late = bound || gp_body_bare(arg)->kind == GpNode_Closure;
            if (is_late != (pass == 1))
                continue;
            if (bound) {
                check_callable(b, c, arg, c->params[i], bound);
                continue;
            }
            b->alike = (GpArgs){args, c->receiver};
            gp_body_expect(b, arg, c->params[i], why);
            b->alike = (GpArgs){0};
            if (report_tile(b, c, args, i)) {
                b->pending.at[c->bounds].is_done = true;
                for (i++; i < args.len; i++)
                    gp_body_expr(b, args.at[i], NULL);
                return;
            }
        }
}

static void guide_by_result(GpBody *b, const GpType *ret, const GpType *hint) {
    if (!hint)
        return;
    hint = gp_body_head(b, hint);
    ret = gp_body_head(b, ret);
    if (hint->kind == GpTy_Infer || hint->kind == GpTy_Ref || hint->kind == GpTy_Error ||
        !ret->has_infer)
        return;
    gp_unify(b->c, ret, hint);
}

static void forget_args(GpBody *b, GpNodeList args) {
    for (uint32_t i = 0; i < args.len; i++)
        gp_body_expr(b, args.at[i], NULL);
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
    gp_body_use_fn(b, def, res->args, res->arg_count, call->callee->span);
    uint32_t bounds = b->pending.len;
    gp_body_pend_bounds(b, own, call->callee);
    guide_by_result(b, sig.ret, hint);
    uint32_t count = sig.param_count; /* less when modes at the end are left out */
    if (call->args.len < count && call->args.len + sig.optional_count >= count)
        count = call->args.len;
    for (uint32_t i = count; i < sig.param_count; i++) /* () stands for the mode that it has */
        if (call->args.len == count && gp_body_head(b, sig.params[i])->kind == GpTy_Infer)
            gp_unify(b->c, sig.params[i], gp_body_unit(b));
    Callee c = {.def = def,
                .params = sig.params,
                .declared = def->sig.params,
                .count = count,
                .args = res->args,
                .arg_count = res->arg_count,
                .bounds = bounds,
                .noun = "function",
                .span = call->callee->span};
    check_args(b, &c, n, call->args);
    if (call->args.len == count && count) {
        gp_body_check_shapes(b, def, gp_expr_type(call->args.at[0]), sig.ret, n->span);
        gp_body_check_tile_call(b, def, NULL, &call->args, sig.ret, n->span);
    }
    return sig.ret;
}

static const GpType *check_construct(GpBody *b, GpNode *n, GpAstCall *call, const GpRes *res,
                                     const GpType *hint) {
    GpDef *def = res->def;
    const GpType *type = gp_body_adt_of(b, res);
    for (uint32_t i = 0; i < def->field_count; i++)
        if (!gp_is_field_visible(def, i, b->fn)) {
            GpDiag *d = gp_diag(b->c->diags, GpDiag_E0603, call->callee->span,
                                "tuple struct constructor", def->name->name);
            gp_primary_label(d, "private tuple struct constructor");
            gp_label(d, def->field_spans[i], "this field is private");
            break;
        }
    GpRes *own = gp_body_set_res(b, n, GpRes_Construct);
    *own = *res;
    own->kind = GpRes_Construct;
    call->callee->type = type;
    gp_body_pend_bounds(b, own, call->callee);
    guide_by_result(b, type, hint);
    const GpType **params = GP_NEW_ARRAY(b->c->arena, const GpType *, def->field_count);
    for (uint32_t i = 0; i < def->field_count; i++)
        params[i] = gp_body_field_type(b, def, res->args, res->arg_count, i);
    Callee c = {.def = def,
                .params = params,
                .count = def->field_count,
                .noun = def->kind == GpDef_Variant ? "enum variant" : "struct",
                .span = call->callee->span};
    check_args(b, &c, n, call->args);
    return type;
}

/* ---- calls of values --------------------------------------------------------------------- */

static bool sig_of_value(GpBody *b, const GpType *t, Callee *c, const GpType **ret) {
    if (t->kind == GpTy_Ref)
        t = gp_body_head(b, t->inner);
    const GpType *bound = fn_bound(t);
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
        gp_body_use_fn(b, t->def, t->args, t->arg_count, c->span);
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
    Callee c = {.span = call->callee->span};
    const GpType *ret = NULL;
    if (sig_of_value(b, t, &c, &ret)) {
        gp_body_set_res(b, n, GpRes_Call);
        check_args(b, &c, n, call->args);
        return ret;
    }
    forget_args(b, call->args);
    if (t->kind != GpTy_Error)
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
    GpNode *callee = gp_body_bare(call->callee);
    if (callee->kind != GpNode_PathExpr || is_local_path(b, callee))
        return check_value_call(b, n, call);
    GpRes found;
    if (!gp_body_resolve(b, callee, "cannot find function", &found) || !found.def) {
        callee->type = gp_body_error(b);
        forget_args(b, call->args);
        return gp_body_error(b);
    }
    *gp_body_set_res(b, callee, found.kind) = found;
    if (found.def->kind == GpDef_Fn)
        return check_fn_call(b, n, call, &found, hint);
    if ((found.def->kind == GpDef_Struct || found.def->kind == GpDef_Variant) &&
        found.def->field_count && !(found.def->field_names && found.def->field_names[0]))
        return check_construct(b, n, call, &found, hint);
    forget_args(b, call->args);
    callee->type = gp_body_error(b);
    if (found.def->kind == GpDef_Variant && found.def->field_count) {
        GpDiag *d = gp_diag(b->c->diags, GpDiag_E0533, callee->span, gp_body_text(b, callee->span));
        gp_primary_label(d, "not a value");
        gp_help(d, "it has named fields: `%s { %s: .. }`", gp_body_text(b, callee->span),
                found.def->field_names[0]->name);
        return gp_body_error(b);
    }
    gp_primary_label(gp_diag(b->c->diags, GpDiag_E0618, callee->span,
                             gp_arena_printf(b->c->arena, "`%s`", gp_body_text(b, callee->span))),
                     "call expression requires function");
    return gp_body_error(b);
}

/* ---- methods ----------------------------------------------------------------------------- */

static GpSpan method_span(GpAstMethodCall *m) {
    const GpSpan r = m->receiver->span;
    if (!r.src)
        return m->node.span;
    const char *text = r.src->text;
    uint32_t at = r.off + r.len, end = m->node.span.off + m->node.span.len;
    for (; at + m->name->len <= end; at++)
        if (memcmp(text + at, m->name->name, m->name->len) == 0)
            return (GpSpan){r.src, at, m->name->len};
    return m->node.span;
}

static const char *noun_of(const GpType *t) {
    if (t->kind == GpTy_Ref)
        return "reference";
    if (t->kind == GpTy_Tuple)
        return t->arg_count ? "tuple" : "unit type";
    if (t->kind == GpTy_Array)
        return "array";
    if (t->kind == GpTy_Param)
        return "type parameter";
    if (t->kind == GpTy_Adt)
        return t->def->kind == GpDef_Enum ? "enum" : "struct";
    return "type";
}

/* The method that was meant: near the name, or a part of it (`length`: `len`), and the receiver has
** it. Impls of the module come before those of the built-in crates. */
typedef struct Nearest {
    GpBody *b;
    const GpType *receiver;
    GpSym wanted, name;
    uint32_t distance;
} Nearest;

static uint32_t method_distance(GpSym wanted, GpSym name) {
    GpSym part = wanted->len < name->len ? wanted : name;
    uint32_t limit = GP_MAX(wanted->len, 3u) / 3;
    uint32_t d = wanted == name ? UINT32_MAX : gp_name_distance(wanted, name);
    if (d <= limit)
        return d;
    bool is_part = part->len >= 3 && !memcmp(wanted->name, name->name, part->len);
    return wanted != name && is_part ? limit + 1 : UINT32_MAX;
}

static void consider_items(Nearest *n, const GpDef *owner) {
    GpMethod found;
    for (uint32_t i = 0; i < owner->item_count; i++) {
        const GpDef *item = owner->items[i];
        if (item->kind != GpDef_Fn || !item->name || !item->sig.has_self)
            continue;
        uint32_t d = method_distance(n->wanted, item->name);
        if (d >= n->distance)
            continue;
        GpTry mark = gp_unify_try(n->b->c);
        if (gp_find_method(n->b->c, n->b->fn, n->receiver, item->name, &found)) {
            n->name = item->name;
            n->distance = d;
        }
        gp_unify_undo(n->b->c, mark);
    }
}

static void consider_impls(Nearest *n, GpDef *const *impls, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
        consider_items(n, impls[i]);
        if (impls[i]->trait)
            consider_items(n, impls[i]->trait);
    }
}

static GpSym similar_method(GpBody *b, const GpType *t, GpSym name) {
    Nearest n = {b, t, name, NULL, UINT32_MAX};
    if (b->c->module)
        consider_impls(&n, b->c->module->impls, b->c->module->impl_count);
    consider_impls(&n, b->c->std->impls, b->c->std->impl_count);
    return n.name;
}

static const GpType *report_no_method(GpBody *b, GpAstMethodCall *m, const GpType *t) {
    const char *type = gp_body_name(b, t);
    GpSpan at = method_span(m);
    const GpType *inner = t;
    while (inner->kind == GpTy_Ref)
        inner = gp_body_head(b, inner->inner);
    if (inner->kind == GpTy_Error || (inner->kind == GpTy_Param && inner->def->has_bad_bound))
        return gp_body_error(b);
    if (t->kind == GpTy_Infer && t->infer == GpInfer_Any) {
        gp_primary_label(gp_diag(b->c->diags, GpDiag_E0282, m->receiver->span, ""),
                         "cannot infer type");
        return gp_body_error(b);
    }
    if (t->kind == GpTy_Infer) {
        GpDiag *d = gp_diag(b->c->diags, GpDiag_E0689, at, m->name->name, type);
        GpNode *lit = gp_body_bare(m->receiver);
        if (lit->kind == GpNode_Lit)
            gp_suggest(d, (GpSpan){lit->span.src, lit->span.off + lit->span.len, 0},
                       t->infer == GpInfer_Int ? "_i32" : "_f32",
                       "you must specify a concrete type for this numeric value, like `%s`",
                       t->infer == GpInfer_Int ? "i32" : "f32");
        return gp_body_error(b);
    }
    GpDiag *d = gp_diag(b->c->diags, GpDiag_E0599, at, "method", m->name->name,
                        gp_arena_printf(b->c->arena, "%s `%s`", noun_of(t), type));
    const GpDef *fn =
        gp_ty_is_lang(inner, GpLang_Tile) ? gp_find_name(b->c, b->fn, m->name, GpNs_Value) : NULL;
    if (fn && fn->kind == GpDef_Fn && fn->is_std) {
        gp_primary_label(d, "method not found in `%s`", type);
        const char *self = gp_body_text(b, m->receiver->span);
        GpSpan list = m->args.len
                          ? gp_span_join(m->args.at[0]->span, m->args.at[m->args.len - 1]->span)
                          : GP_NO_SPAN;
        const char *rest = list.src ? gp_body_text(b, list) : "";
        gp_suggest(d, m->node.span,
                   gp_arena_printf(b->c->arena, "%s(%s%s%s)", m->name->name, self,
                                   *rest ? ", " : "", rest),
                   "on tiles `%s` is a function", m->name->name);
        return gp_body_error(b);
    }
    uint32_t index, derefs;
    const GpType *field;
    bool is_field = gp_find_field(b->c, t, m->name, &index, &derefs, &field);
    GpSym near = is_field || !gp_diag_is_kept(d) ? NULL : similar_method(b, t, m->name);
    if (near)
        gp_suggest(d, at, near->name, "there is a method `%s` with a similar name", near->name);
    else
        gp_primary_label(d, "method not found in `%s`", type);
    if (is_field)
        gp_help(d, "`%s` is a field, not a method: remove the arguments", m->name->name);
    return gp_body_error(b);
}

/* The receiver's steps from the lookup; a &mut taken by value is reborrowed, so that it can be
** used again. */
static void adjust_receiver(GpBody *b, GpNode *receiver, const GpAdjust *steps,
                            const GpType *self) {
    const GpType *from = gp_body_head(b, gp_expr_type(receiver));
    uint32_t derefs = 0;
    bool is_mut = false, is_borrow = false;
    for (const GpAdjust *a = steps; a; a = a->next) {
        derefs += a->kind == GpAdjust_Deref;
        is_mut |= a->kind == GpAdjust_BorrowMut;
        is_borrow |= a->kind == GpAdjust_Borrow || a->kind == GpAdjust_BorrowMut;
        gp_body_adjust(b, receiver, a->kind, a->type);
    }
    if (is_borrow && !derefs)
        gp_body_mark_addressed(b, receiver);
    if (is_mut && derefs)
        gp_body_check_reborrow_mut(b, receiver, from, derefs);
    else if (is_mut)
        gp_body_check_borrow_mut(b, receiver, receiver->span);
    if (!steps && self->kind == GpTy_Ref && self->is_mut && from->kind == GpTy_Ref) {
        gp_body_adjust(b, receiver, GpAdjust_Deref, gp_body_head(b, from->inner));
        gp_body_adjust(b, receiver, GpAdjust_BorrowMut, self);
    }
}

static void apply_generics(GpBody *b, GpAstMethodCall *m, const GpMethod *found) {
    uint32_t own = found->fn->generic_count - found->fn->parent_generic_count;
    if (!m->has_generics)
        return;
    bool is_prefix = found->fn->is_std && m->generics.len < own; /* the rest are our own */
    if (m->generics.len != own && !is_prefix) {
        gp_primary_label(
            gp_diag(b->c->diags, GpDiag_E0107, method_span(m),
                    gp_arena_printf(
                        b->c->arena,
                        "method takes %u generic argument%s but %u generic argument%s %s supplied",
                        own, plural(own), m->generics.len, plural(m->generics.len),
                        m->generics.len == 1 ? "was" : "were")),
            "expected %u generic argument%s", own, plural(own));
        return;
    }
    for (uint32_t i = 0; i < m->generics.len; i++) {
        const GpDef *g = found->fn->generics[found->fn->parent_generic_count + i];
        GpGArg *arg = &found->args[found->fn->parent_generic_count + i];
        GpNode *node = m->generics.at[i];
        if (g->kind == GpDef_TypeParam)
            gp_unify(b->c, arg->type, gp_type_of_node(b->c, b->fn, node));
        else if (arg->kind == GpGArg_Shape)
            gp_unify_shape(b->c, arg->shape, gp_shape_of_node(b->c, b->fn, node));
        else
            gp_unify_const(b->c, arg->value, gp_const_of_node(b->c, b->fn, node));
    }
}

static void report_ambiguous(GpBody *b, GpAstMethodCall *m, const GpMethod *found) {
    GpDiag *d = gp_diag(b->c->diags, GpDiag_E0034, method_span(m));
    gp_primary_label(d, "multiple `%s` found", m->name->name);
    const GpDef *both[2] = {found->fn, found->other};
    for (int i = 0; i < 2; i++)
        if (!both[i]->is_std)
            gp_note_at(d, both[i]->span, "one is of the trait `%s`", both[i]->parent->name->name);
    gp_help(d, "say which: `%s::%s(..)`", found->fn->parent->name->name, m->name->name);
}

const GpType *gp_check_method(GpBody *b, GpNode *n, const GpType *hint) {
    GpAstMethodCall *m = GP_AS(MethodCall, n);
    const GpType *t = gp_body_known(b, gp_body_expr(b, m->receiver, NULL));
    GpMethod found = {0};
    bool is_known = t->kind != GpTy_Error && t->kind != GpTy_Never && t->kind != GpTy_Infer;
    if (!is_known || !gp_find_method(b->c, b->fn, t, m->name, &found) || !found.fn->sig.has_self) {
        forget_args(b, m->args);
        return t->kind == GpTy_Error || t->kind == GpTy_Never ? t : report_no_method(b, m, t);
    }
    if (!gp_is_visible(found.fn, b->fn))
        gp_report_private(b->c, found.fn, method_span(m));
    if (found.other)
        report_ambiguous(b, m, &found);
    apply_generics(b, m, &found);
    GpRes *res = gp_body_set_res(b, n, GpRes_Method);
    res->def = found.fn;
    res->args = found.args;
    res->arg_count = found.arg_count;
    gp_body_need_impl(b, res, n);
    GpFnSig sig = gp_sig_subst(b->c, found.fn, found.args, found.arg_count);
    adjust_receiver(b, m->receiver, found.adjust, gp_body_head(b, sig.params[0]));
    gp_unify(b->c, sig.params[0], gp_expr_type(m->receiver));
    gp_body_use_fn(b, found.fn, found.args, found.arg_count, method_span(m));
    gp_body_pend_bounds(b, res, n);
    guide_by_result(b, sig.ret, hint);
    Callee c = {.def = found.fn,
                .params = sig.params + 1,
                .declared = found.fn->sig.params + 1,
                .count = sig.param_count - 1,
                .args = found.args,
                .arg_count = found.arg_count,
                .receiver = m->receiver,
                .noun = "method",
                .span = method_span(m)};
    check_args(b, &c, n, m->args);
    gp_body_check_shapes(b, found.fn, gp_expr_type(m->receiver), sig.ret, n->span);
    if (m->args.len == c.count)
        gp_body_check_tile_call(b, found.fn, m->receiver, &m->args, sig.ret, n->span);
    return sig.ret;
}
