/* Calls of methods: the lookup's receiver, generic arguments, and what was meant where there is
 * none. */
#include "dsl/bind.h"
#include "dsl/check_call.h"
#include "dsl/resolve.h"
#include "dsl/unify.h"

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

static void report_literal(GpBody *b, GpAstMethodCall *m, const GpType *t) {
    GpDiag *d =
        gp_diag(b->c->diags, GpDiag_E0689, gp_method_span(m), m->name->name, gp_body_name(b, t));
    GpNode *lit = gp_node_bare(m->receiver);
    if (lit->kind == GpNode_Lit)
        gp_suggest(d, (GpSpan){lit->span.src, lit->span.off + lit->span.len, 0},
                   t->infer == GpInfer_Int ? "_i32" : "_f32",
                   "you must specify a concrete type for this numeric value, like `%s`",
                   t->infer == GpInfer_Int ? "i32" : "f32");
}

/* `x.f(y)` where the language has `f(x, y)`. */
static void suggest_function(GpBody *b, GpDiag *d, GpAstMethodCall *m, const GpDef *fn) {
    const char *self = gp_body_text(b, m->receiver->span), *rest = "";
    const char *name = fn->name->name;
    bool is_borrowed = fn->sig.params[0]->kind == GpTy_Ref;
    if (m->args.len)
        rest =
            gp_body_text(b, gp_span_join(m->args.at[0]->span, m->args.at[m->args.len - 1]->span));
    gp_suggest(d, m->node.span,
               gp_arena_printf(b->c->arena, "%s(%s%s%s%s)", name, is_borrowed ? "&" : "", self,
                               *rest ? ", " : "", rest),
               "`%s` is a function", name);
}

/* `t.max(0.0)` and `t.max()`: of two tiles, and along an axis. */
static bool help_tile_function(GpBody *b, GpDiag *d, GpAstMethodCall *m) {
    const char *name = gp_arena_printf(b->c->arena, "%s_tile", m->name->name);
    if (!gp_find_name(b->c, b->fn, gp_intern_cstr(b->c->names, name), GpNs_Value))
        return false;
    if (!m->args.len) {
        gp_body_help_reduction(b, d, m->name);
        return true;
    }
    GP_VEC(GpNode *) all = {0};
    GP_PUSH(b->c->arena, &all, m->receiver);
    for (uint32_t i = 0; i < m->args.len; i++)
        GP_PUSH(b->c->arena, &all, m->args.at[i]);
    const char *call = gp_body_tile_call(b, name, m->receiver, (GpNodeList){all.at, all.len});
    if (call)
        gp_suggest(d, m->node.span, call, "of two tiles it is `%s`", name);
    else
        gp_help(d, "of two tiles it is `%s`; a number is spread: `constant(0.0, t.shape())`", name);
    return true;
}

/* A function of the built-in crates that has the name, and takes the receiver first. */
static const GpDef *function_of(GpBody *b, GpSym name, const GpType *receiver) {
    const GpDef *fn = gp_find_name(b->c, b->fn, name, GpNs_Value);
    if (!fn || fn->kind != GpDef_Fn || !fn->is_std || !fn->sig.param_count)
        return NULL;
    const GpType *first = fn->sig.params[0];
    if (first->kind == GpTy_Ref)
        first = first->inner;
    bool takes_any = first->kind == GpTy_Param && !first->def->bound_count;
    bool takes_it = first->kind == GpTy_Adt && receiver->kind == GpTy_Adt && first->def == receiver->def;
    return takes_any || takes_it ? fn : NULL;
}

/* What stands for a method that numbers, slices and arrays have in Rust. */
static const char *foreign_core(const GpAstMethodCall *m, const GpType *receiver) {
    GpElem elem;
    bool is_list = receiver->kind == GpTy_Slice || receiver->kind == GpTy_Array;
    return gp_bind_elem(receiver, &elem) ? gp_find_foreign(m->name->name, GpForeign_Number)
           : is_list                     ? gp_find_foreign(m->name->name, GpForeign_List)
                                         : NULL;
}

/* What was meant by a method that is none. */
static void help_unknown_method(GpBody *b, GpDiag *d, GpAstMethodCall *m, const GpType *inner) {
    bool is_tile = gp_ty_is_lang(inner, GpLang_Tile);
    const GpDef *fn = function_of(b, m->name, inner);
    const char *foreign = gp_find_foreign(m->name->name, GpForeign_Method);
    const char *core = foreign_core(m, inner);
    if (core)
        gp_help(d, "%s", core);
    if (is_tile && help_tile_function(b, d, m))
        return;
    if (fn)
        suggest_function(b, d, m, fn);
    else if (foreign && (is_tile || gp_ty_is_lang(inner, GpLang_Tensor)))
        gp_help(d, "%s", foreign);
    else if (is_tile)
        gp_body_help_reduction(b, d, m->name);
}

static bool is_field(GpBody *b, const GpType *t, GpSym name) {
    uint32_t index, derefs;
    const GpType *field;
    return gp_find_field(b->c, t, name, &index, &derefs, &field);
}

static void report_unknown_method(GpBody *b, GpAstMethodCall *m, const GpType *t,
                                  const GpType *inner) {
    const char *type = gp_body_name(b, t);
    GpSpan at = gp_method_span(m);
    GpDiag *d = gp_diag(b->c->diags, GpDiag_E0599, at, "method", m->name->name,
                        gp_arena_printf(b->c->arena, "%s `%s`", noun_of(t), type));
    bool is_function = function_of(b, m->name, inner) != NULL;
    bool has_field = !is_function && is_field(b, t, m->name);
    bool may_be_near = !is_function && !has_field && !foreign_core(m, inner) && gp_diag_is_kept(d);
    GpSym near = may_be_near ? similar_method(b, t, m->name) : NULL;
    if (near)
        gp_suggest(d, at, near->name, "there is a method `%s` with a similar name", near->name);
    else
        gp_primary_label(d, "method not found in `%s`", type);
    if (!near)
        help_unknown_method(b, d, m, inner);
    if (has_field)
        gp_help(d, "`%s` is a field, not a method: remove the arguments", m->name->name);
}

static void report_no_method(GpBody *b, GpAstMethodCall *m, const GpType *t) {
    const GpType *inner = t;
    while (inner->kind == GpTy_Ref)
        inner = gp_body_head(b, inner->inner);
    if (inner->kind == GpTy_Error || (inner->kind == GpTy_Param && inner->def->has_bad_bound))
        return;
    if (t->kind != GpTy_Infer)
        report_unknown_method(b, m, t, inner);
    else if (t->infer != GpInfer_Any)
        report_literal(b, m, t);
    else if (!b->has_reported_infer)
        gp_primary_label(gp_diag(b->c->diags, GpDiag_E0282, m->receiver->span, ""),
                         "cannot infer type");
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
            gp_diag(b->c->diags, GpDiag_E0107, gp_method_span(m),
                    gp_arena_printf(
                        b->c->arena,
                        "method takes %u generic argument%s but %u generic argument%s %s supplied",
                        own, gp_plural(own), m->generics.len, gp_plural(m->generics.len),
                        m->generics.len == 1 ? "was" : "were")),
            "expected %u generic argument%s", own, gp_plural(own));
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
    GpDiag *d = gp_diag(b->c->diags, GpDiag_E0034, gp_method_span(m));
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
        gp_forget_args(b, m->args);
        if (t->kind == GpTy_Error || t->kind == GpTy_Never)
            return t;
        report_no_method(b, m, t);
        return gp_body_error(b);
    }
    if (!gp_is_visible(found.fn, b->fn))
        gp_report_private(b->c, found.fn, gp_method_span(m));
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
    gp_body_use_fn(b, found.fn, gp_method_span(m));
    gp_body_pend_bounds(b, res, n);
    gp_guide_by_result(b, sig.ret, hint);
    GpCallee c = {.def = found.fn,
                  .params = sig.params + 1,
                  .declared = found.fn->sig.params + 1,
                  .count = sig.param_count - 1,
                  .args = found.args,
                  .arg_count = found.arg_count,
                  .receiver = m->receiver,
                  .noun = "method",
                  .span = gp_method_span(m)};
    gp_check_args(b, &c, n, m->args);
    gp_body_check_shapes(b, found.fn, gp_expr_type(m->receiver), sig.ret, n->span);
    if (m->args.len == c.count)
        gp_body_check_tile_call(b, found.fn, m->receiver, &m->args, sig.ret, n->span);
    return sig.ret;
}
