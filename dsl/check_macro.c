/* The macros that kernels may call: shapes, assertions, panics, prints. The rest is refused by name. */
#include "dsl/check_body.h"

/* ---- shapes ------------------------------------------------------------------------------ */

static bool is_whole_array(GpBody *b, GpNode *arg) {
    arg = gp_node_bare(arg);
    if (arg->kind != GpNode_PathExpr)
        return false;
    GpAstPath *p = GP_AS(Path, GP_AS(PathExpr, arg)->path);
    if (p->segments.len != 1)
        return false;
    GpSym name = GP_AS(Segment, p->segments.at[0])->name;
    if (gp_body_find_local(b, name, arg->span))
        return false;
    const GpDef *def = gp_find_name(b->c, b->fn, name, GpNs_Value);
    return def && (def->kind == GpDef_ConstParam || def->kind == GpDef_Const) && def->const_type &&
           def->const_type->kind == GpTy_Array;
}

/* Constants of one macro argument; a local is named instead of the resolver's E0425. */
static const GpConst *extent_of(GpBody *b, GpNode *arg) {
    GpNode *n = gp_node_bare(arg);
    arg->type = gp_ty_elem(b->c->types, GpElem_I32);
    if (n->kind == GpNode_Unary && GP_AS(Unary, n)->op == GpTok_Minus) {
        GpNode *lit = gp_node_bare(GP_AS(Unary, n)->operand);
        uint64_t v;
        if (lit->kind == GpNode_Lit && gp_lit_int(lit, &v) && v == 1)
            return gp_const_dynamic(b->c->types);
    }
    if (n->kind == GpNode_PathExpr) {
        GpAstPath *p = GP_AS(Path, GP_AS(PathExpr, n)->path);
        GpLocal *l = p->segments.len == 1
                         ? gp_body_find_local(b, GP_AS(Segment, p->segments.at[0])->name, n->span)
                         : NULL;
        if (l) {
            GpDiag *d = gp_diag(b->c->diags, GpDiag_E0435, n->span);
            gp_primary_label(d, "non-constant value");
            gp_label(d, l->span, "this variable is not known at compile time");
            return gp_const_error(b->c->types);
        }
    }
    return gp_const_of_node(b->c, b->fn, arg);
}

static const GpShapeTy *shape_of_args(GpBody *b, GpNode *n, GpAstMacro *m) {
    if (m->repeat)
        return gp_shape_of_node(b->c, b->fn, m->repeat);
    if (m->args.len == 1 && is_whole_array(b, m->args.at[0]))
        return gp_shape_of_node(b->c, b->fn, m->args.at[0]);
    if (m->args.len > GP_MAX_RANK) {
        gp_primary_label(gp_diag(b->c->diags, GpDiag_G0154, n->span), "%u axes", m->args.len);
        return NULL;
    }
    const GpConst *dims[GP_MAX_RANK];
    for (uint32_t i = 0; i < m->args.len; i++)
        dims[i] = extent_of(b, m->args.at[i]);
    return gp_shape_list(b->c->types, dims, (uint8_t)m->args.len);
}

static const GpType *check_shape(GpBody *b, GpNode *n, GpAstMacro *m, GpLang lang) {
    const GpDef *def = b->c->std->lang[lang];
    const GpShapeTy *shape = shape_of_args(b, n, m);
    if (!def || !shape || shape->kind == GpShape_Error)
        return gp_body_error(b);
    GpGArg *arg = GP_NEW(b->c->arena, GpGArg);
    arg->kind = GpGArg_Shape;
    arg->shape = shape;
    gp_body_set_res(b, n, GpRes_Const);
    return gp_ty_adt(b->c->types, def, arg, 1);
}

/* ---- assertions -------------------------------------------------------------------------- */

/* The message's arguments; the text itself goes to the report when the check fails. */
static void check_message(GpBody *b, GpNodeList args, uint32_t from) {
    for (uint32_t i = from; i < args.len; i++)
        gp_body_expr(b, args.at[i], NULL);
    if (args.len > from && args.at[from]->kind != GpNode_Lit)
        gp_primary_label(gp_diag(b->c->diags, GpDiag_G0224, args.at[from]->span),
                         "expected a string literal");
    else if (args.len > from + 1)
        gp_body_unsupported(b, args.at[from + 1]->span, "formatted messages");
}

static bool need_args(GpBody *b, GpNode *n, const char *name, uint32_t given, uint32_t want) {
    if (given >= want)
        return true;
    gp_primary_label(
        gp_diag(b->c->diags, GpDiag_G0225, n->span, name, want == 1 ? "a condition" : "two values"),
        "%u argument%s given", given, gp_plural(given));
    return false;
}

static const GpType *check_assert(GpBody *b, GpNode *n, GpAstMacro *m, const char *name) {
    if (!need_args(b, n, name, m->args.len, 1))
        return gp_body_unit(b);
    gp_body_expect(b, m->args.at[0], gp_body_bool(b), GP_NO_REASON);
    check_message(b, m->args, 1);
    return gp_body_unit(b);
}

static const GpType *check_compare(GpBody *b, GpNode *n, GpAstMacro *m, const char *name) {
    if (!need_args(b, n, name, m->args.len, 2))
        return gp_body_unit(b);
    const GpType *t = gp_body_expr(b, m->args.at[0], NULL);
    gp_body_expect(b, m->args.at[1], t, GP_NO_REASON);
    t = gp_body_head(b, t);
    if (t->kind == GpTy_Adt)
        gp_body_unsupported(b, n->span, "`%s!` of structs and tiles", name);
    check_message(b, m->args, 2);
    return gp_body_unit(b);
}

/* How many {} the text has; -1 after a report. */
static int count_places(GpBody *b, GpNode *lit, const char *name) {
    GpSym text = GP_AS(Lit, lit)->text;
    int count = 0;
    for (size_t i = 0; i < text->len; i++) {
        char c = text->name[i], next = text->name[i + 1]; /* the last is the quote */
        if (c != '{' && c != '}')
            continue;
        if (c == '{' && next == '}')
            count++;
        else if (c != next) {
            GpDiag *d = gp_diag(b->c->diags, GpDiag_G0232, lit->span, name);
            gp_primary_label(d, "a value's place is `{}`; a brace is written twice");
            return -1;
        }
        i++;
    }
    return count;
}

static bool is_printable(GpBody *b, const GpType *t) {
    t = gp_body_head(b, t);
    while (t->kind == GpTy_Ref)
        t = gp_body_head(b, t->inner);
    return t->kind == GpTy_Elem || t->kind == GpTy_Usize || t->kind == GpTy_Isize ||
           t->kind == GpTy_Char || t->kind == GpTy_RawPtr || t->kind == GpTy_Param ||
           t->kind == GpTy_Infer || t->kind == GpTy_Error || gp_ty_is_lang(t, GpLang_Tile) ||
           gp_ty_is_lang(t, GpLang_Dim);
}

static const GpType *check_print(GpBody *b, GpNode *n, GpAstMacro *m, const char *name) {
    for (uint32_t i = 1; i < m->args.len; i++) {
        const GpType *t = gp_body_expr(b, m->args.at[i], NULL);
        if (is_printable(b, t))
            continue;
        gp_primary_label(gp_diag(b->c->diags, GpDiag_E0277, m->args.at[i]->span,
                                 gp_arena_printf(b->c->arena, "`%s` cannot be printed",
                                                 gp_body_name(b, t))),
                         "numbers, tiles and addresses can");
    }
    GpNode *lit = m->args.len ? gp_node_bare(m->args.at[0]) : NULL;
    if (!lit || lit->kind != GpNode_Lit || GP_AS(Lit, lit)->tok != GpTok_Str) {
        GpDiag *d = gp_diag(b->c->diags, GpDiag_G0224, lit ? lit->span : n->span);
        gp_primary_label(d, "expected a string literal");
        const char *places = "";
        for (uint32_t i = 0; i < m->args.len; i++)
            places = gp_arena_printf(b->c->arena, "%s%s{}", places, i ? " " : "");
        if (lit)
            gp_suggest(d, (GpSpan){lit->span.src, lit->span.off, 0},
                       gp_arena_printf(b->c->arena, "\"%s\", ", places), "a text comes first");
        return gp_body_unit(b);
    }
    gp_body_expr(b, m->args.at[0], NULL);
    int places = count_places(b, lit, name);
    if (places < 0 || (uint32_t)places == m->args.len - 1)
        return gp_body_unit(b);
    GpDiag *d = gp_diag(b->c->diags, GpDiag_G0232, n->span, name);
    gp_primary_label(d, "%d place%s for values, and %u value%s", places, gp_plural(places),
                     m->args.len - 1, m->args.len == 2 ? "" : "s");
    if (!places)
        gp_help(d, "`{}` in the text stands for a value");
    return gp_body_unit(b);
}

const GpType *gp_check_macro(GpBody *b, GpNode *n, const GpType *hint) {
    (void)hint;
    GpAstMacro *m = GP_AS(Macro, n);
    GpAstPath *p = GP_AS(Path, m->path);
    const char *name = GP_AS(Segment, p->segments.at[p->segments.len - 1])->name->name;
    GpMacroKind kind;
    if (!gp_macro_kind(name, &kind)) {
        gp_report_macro(b->c, n);
        return gp_body_error(b);
    }
    switch (kind) {
    case GpMacro_Shape:
        return check_shape(b, n, m, GpLang_Shape);
    case GpMacro_Array:
        return check_shape(b, n, m, GpLang_Array);
    case GpMacro_Assert:
    case GpMacro_DebugAssert:
        return check_assert(b, n, m, name);
    case GpMacro_AssertEq:
    case GpMacro_AssertNe:
    case GpMacro_DebugCompare:
        return check_compare(b, n, m, name);
    case GpMacro_Panic:
        check_message(b, m->args, 0);
        return gp_ty_never(b->c->types);
    case GpMacro_Print:
    case GpMacro_PrintLine:
        return check_print(b, n, m, name);
    }
    gp_unreachable();
}
