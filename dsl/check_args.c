/* Arguments against parameters: counts, types, what can be called, and reports about them. */
#include "dsl/check_call.h"
#include "dsl/resolve.h"
#include "dsl/unify.h"

/* `p.load(i, j)` and `t.reshape(M, N)`: one list in the place of several arguments. */
static void suggest_list(GpBody *b, GpDiag *d, const GpCallee *c, GpNodeList args) {
    const GpType *t = gp_body_head(b, c->params[0]);
    const char *open = gp_ty_is_lang(t, GpLang_Shape) ? "shape![" : t->kind == GpTy_Array ? "[" : NULL;
    GpSpan all = gp_span_join(args.at[0]->span, args.at[args.len - 1]->span);
    const char *text = gp_body_text(b, all);
    if (open && strlen(text) == all.len && text[0] != '[')
        gp_suggest(d, all, gp_arena_printf(b->c->arena, "%s%s]", open, text), "they are one list");
}

static void report_count(GpBody *b, const GpCallee *c, GpNode *call, GpNodeList args) {
    const char *title = gp_arena_printf(
        b->c->arena, "this %s takes %u argument%s but %u argument%s %s supplied", c->noun, c->count,
        gp_plural(c->count), args.len, gp_plural(args.len), args.len == 1 ? "was" : "were");
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
    if (c->def && c->def->is_std && c->count == 1 && args.len > 1)
        suggest_list(b, d, c, args);
    if (c->def && c->def->is_std && args.len == 1 && c->count == 2 &&
        gp_ty_is_lang(gp_body_head(b, gp_expr_type(args.at[0])), GpLang_Tile))
        gp_body_help_reduction(b, d, c->def->name);
    if (c->def && !c->def->is_std && c->def->span.src)
        gp_note_at(d, c->def->span, "%s defined here", c->noun);
}

const GpType *gp_fn_bound(const GpType *declared) {
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

GpDiag *gp_body_wrong_count(GpBody *b, GpSpan span, const char *what, uint32_t want, uint32_t has) {
    return gp_diag(b->c->diags, GpDiag_E0593, span,
                   gp_arena_printf(b->c->arena,
                                   "%s is expected to take %u argument%s, but it takes %u argument%s",
                                   what, want, gp_plural(want), has, gp_plural(has)));
}

/* An argument for a parameter of type F: Fn(A, B) -> C: a closure takes its types from the bound, a
** function must have them. */
static void check_callable(GpBody *b, const GpCallee *c, GpNode *arg, const GpType *param,
                           const GpType *bound) {
    GpSubst s = {(const GpDef *const *)c->def->generics, c->args,
                 GP_MIN(c->arg_count, c->def->generic_count)};
    bound = gp_ty_subst(b->c->types, bound, &s);
    uint32_t count = bound->arg_count - 1;
    const GpType **want = GP_NEW_ARRAY(b->c->arena, const GpType *, count);
    for (uint32_t i = 0; i < count; i++)
        want[i] = bound->args[i].type;
    const GpType *ret = bound->args[count].type;
    GpNode *bare = gp_node_bare(arg);
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
    if (sig.param_count != count) {
        gp_primary_label(gp_body_wrong_count(b, arg->span, "function", count, sig.param_count),
                         "expected function that takes %u argument%s", count, gp_plural(count));
        return;
    }
    bool fits = gp_body_unify(b, ret, sig.ret, arg->span);
    for (uint32_t i = 0; fits && i < count; i++)
        fits = gp_body_unify(b, want[i], sig.params[i], arg->span);
    if (!fits)
        gp_primary_label(gp_diag(b->c->diags, GpDiag_E0631, arg->span), "expected `%s`, found `%s`",
                         fn_text(b, want, count, ret),
                         fn_text(b, sig.params, sig.param_count, sig.ret));
    gp_body_use_fn(b, t->def, arg->span);
}

/* "max_tile(t, constant(0.0, t.shape()))" for the arguments, where `tile` is a variable; NULL where it is none. */
const char *gp_body_tile_call(GpBody *b, const char *name, const GpNode *tile, GpNodeList args) {
    const char *list = "", *like = gp_body_text(b, tile->span);
    if (tile->kind != GpNode_PathExpr)
        return NULL;
    for (uint32_t i = 0; i < args.len; i++) {
        GpNode *arg = gp_node_bare(args.at[i]);
        const char *text = gp_body_text(b, args.at[i]->span);
        const GpAstLit *lit = arg->kind == GpNode_Lit ? GP_AS(Lit, arg) : NULL;
        const GpType *t = gp_body_head(b, tile->type);
        bool lacks_point = lit && lit->tok == GpTok_Int && !lit->suffix && gp_ty_is_lang(t, GpLang_Tile) &&
                           gp_body_is_float(gp_body_head(b, t->args[0].type));
        if (lit)
            text = gp_arena_printf(b->c->arena, "constant(%s%s, %s.shape())", text, lacks_point ? ".0" : "", like);
        list = gp_arena_printf(b->c->arena, "%s%s%s", list, i ? ", " : "", text);
    }
    return gp_arena_printf(b->c->arena, "%s(%s)", name, list);
}

/* From the callee to the parenthesis behind the last argument; nothing where a macro wrote one of them. */
static GpSpan call_span(const GpCallee *c, GpNodeList args) {
    GpSpan last = args.at[args.len - 1]->span;
    if (!last.src || last.src != c->span.src || last.off < c->span.off ||
        last.src->text[c->span.off + c->span.len] != '(')
        return GP_NO_SPAN;
    const char *text = last.src->text;
    uint32_t end = last.off + last.len;
    end += (uint32_t)strspn(text + end, " \n\t,");
    return (GpSpan){c->span.src, c->span.off, end + (text[end] == ')') - c->span.off};
}

/* A call of a function on numbers, as `max`, with a tile: E0277, naming the one on tiles. */
static bool report_tile(GpBody *b, const GpCallee *c, GpNodeList args, uint32_t at) {
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
    const char *call = gp_body_tile_call(b, name, args.at[at], args);
    GpSpan whole = call_span(c, args);
    if (call && whole.src && gp_diag_is_kept(d))
        gp_suggest(d, whole, call,
                   "`%s` takes numbers; on tiles it is `%s`", c->def->name->name, name);
    else
        gp_help(d, "`%s` takes numbers; on tiles it is `%s`, where a number is spread: `constant(0.0, t.shape())`",
                c->def->name->name, name);
    return true;
}

/* One argument; false after the report of a tile that was given for a number. */
static bool check_arg(GpBody *b, const GpCallee *c, GpNodeList args, uint32_t at, GpReason why) {
    const GpType *bound = c->declared ? gp_fn_bound(c->declared[at]) : NULL;
    if (bound) {
        check_callable(b, c, args.at[at], c->params[at], bound);
        return true;
    }
    b->alike = (GpArgs){args, c->receiver};
    gp_body_expect(b, args.at[at], c->params[at], why);
    b->alike = (GpArgs){0};
    return !report_tile(b, c, args, at);
}

static bool is_late(const GpCallee *c, GpNode *arg, uint32_t at) {
    return (c->declared && gp_fn_bound(c->declared[at])) ||
           gp_node_bare(arg)->kind == GpNode_Closure;
}

/* An argument of a call that is wrong for another reason: what a closure takes is then not known. */
static void forget_arg(GpBody *b, GpNode *arg, const GpType *hint) {
    GpNode *bare = gp_node_bare(arg);
    if (bare->kind != GpNode_Closure) {
        gp_body_expr(b, arg, hint);
        return;
    }
    uint32_t count = GP_AS(Closure, bare)->params.len;
    const GpType *any = gp_body_error(b), **want = GP_NEW_ARRAY(b->c->arena, const GpType *, count);
    for (uint32_t i = 0; i < count; i++)
        want[i] = any;
    arg->type = bare->type = gp_body_closure(b, bare, want, count, any);
}

void gp_forget_args(GpBody *b, GpNodeList args) {
    for (uint32_t i = 0; i < args.len; i++)
        forget_arg(b, args.at[i], NULL);
}

void gp_check_args(GpBody *b, const GpCallee *c, GpNode *call, GpNodeList args) {
    if (args.len != c->count) {
        for (uint32_t i = 0; i < args.len; i++)
            forget_arg(b, args.at[i], i < c->count ? c->params[i] : NULL);
        report_count(b, c, call, args);
        return;
    }
    GpReason why = {c->span,
                    gp_arena_printf(b->c->arena, "arguments to this %s are incorrect", c->noun),
                    c->def};
    for (int pass = 0; pass < 2; pass++) /* closures last: the others tell their types */
        for (uint32_t i = 0; i < args.len; i++) {
            if (is_late(c, args.at[i], i) != (pass == 1) || check_arg(b, c, args, i, why))
                continue;
            b->pending.at[c->bounds].is_done = true;
            for (i++; i < args.len; i++)
                gp_body_expr(b, args.at[i], NULL);
            return;
        }
}

void gp_guide_by_result(GpBody *b, const GpType *ret, const GpType *hint) {
    if (!hint)
        return;
    hint = gp_body_head(b, hint);
    ret = gp_body_head(b, ret);
    if (hint->kind == GpTy_Infer || hint->kind == GpTy_Ref || hint->kind == GpTy_Error ||
        !ret->has_infer)
        return;
    gp_unify(b->c, ret, hint);
}

