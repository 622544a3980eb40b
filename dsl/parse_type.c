/* Types. */
#include "dsl/macro.h"
#include "dsl/parse.h"

/* TupleType = "(" [Type {"," Type} [","]] ")"; parentheses around one type leave no node */
static GpNode *parse_paren_type(GpParser *p) {
    GpSpan first = gp_parser_span(p);
    GpNodeVec types = {0};
    bool has_comma = false;
    gp_parser_expect(p, GpTok_LParen);
    while (!gp_parser_is(p, GpTok_RParen) && !p->parked) {
        GpNode *type = gp_parse_type(p);
        GP_PUSH(p->arena, &types, type);
        has_comma = gp_parser_eat_comma(p, GpTok_RParen);
        if (!has_comma)
            break;
    }
    gp_parser_expect(p, GpTok_RParen);
    if (types.len == 1 && !has_comma)
        return types.at[0];
    GpAstTypeTuple *tuple = GP_PARSER_NEW(p, TypeTuple, first);
    tuple->types = gp_parser_list(&types);
    return &tuple->node;
}

/* ArrayType = "[" Type [";" Expr] "]" */
static GpNode *parse_bracket_type(GpParser *p) {
    GpSpan first = gp_parser_span(p);
    gp_parser_expect(p, GpTok_LBracket);
    GpNode *type = gp_parse_type(p), *count = NULL;
    bool is_array = gp_parser_eat(p, GpTok_Semi);
    if (is_array)
        count = gp_parse_expr(p);
    gp_parser_expect(p, GpTok_RBracket);
    if (is_array) {
        GpAstTypeArray *array = GP_PARSER_NEW(p, TypeArray, first);
        array->type = type;
        array->count = count;
        return &array->node;
    }
    GpAstTypeSlice *slice = GP_PARSER_NEW(p, TypeSlice, first);
    slice->type = type;
    return &slice->node;
}

/* `&dyn A + B` needs parentheses: E0178. */
static void refuse_bare_sum(GpParser *p, GpSpan first, GpNode *target) {
    bool is_sum = p->tok.tok == GpTok_Plus &&
                  (target->kind == GpNode_TypeBounds || target->kind == GpNode_TypePath);
    if (!is_sum || !gp_parser_may_report(p))
        return;
    gp_parser_bump(p);
    gp_parse_bounds(p);
    GpSpan span = gp_parser_since(p, first);
    uint32_t inner = target->span.off - span.off;
    GpDiag *d = gp_diag(p->diags, GpDiag_E0178, span);
    gp_suggest(d, span,
               gp_arena_printf(p->arena, "%.*s(%.*s)", (int)inner, p->src->text + span.off,
                               (int)(span.len - inner), p->src->text + span.off + inner),
               "try adding parentheses");
}

/* RefType = "&" [Lifetime] ["mut"] TypeNoBounds */
static GpNode *parse_ref_type(GpParser *p) {
    GpSpan first = gp_parser_span(p);
    GpSym lifetime = NULL;
    gp_parser_expect_punct(p, GpTok_And);
    if (gp_parser_is(p, GpTok_Lifetime))
        lifetime = gp_parse_lifetime(p);
    bool is_mut = gp_parser_eat(p, GpTok_Mut);
    GpNode *type = gp_parse_type_no_bounds(p);
    refuse_bare_sum(p, first, type);
    GpAstTypeRef *ref = GP_PARSER_NEW(p, TypeRef, first);
    ref->lifetime = lifetime;
    ref->is_mut = is_mut;
    ref->type = type;
    return &ref->node;
}

/* PtrType = "*" ("mut" | "const") TypeNoBounds */
static GpNode *parse_ptr_type(GpParser *p) {
    GpSpan first = gp_parser_span(p);
    gp_parser_expect(p, GpTok_Star);
    bool is_mut = gp_parser_eat(p, GpTok_Mut);
    if (!is_mut && !gp_parser_eat(p, GpTok_Const)) {
        GpDiag *d = gp_parser_expected(p, "`mut` or `const` keyword in raw pointer type");
        if (d)
            gp_help(d, "add `mut` or `const` after the `*`");
    }
    GpNode *type = gp_parse_type_no_bounds(p);
    GpAstTypePtr *ptr = GP_PARSER_NEW(p, TypePtr, first);
    ptr->is_mut = is_mut;
    ptr->type = type;
    return &ptr->node;
}

/* FnParam = [(Name | "_") ":"] Type; the name means nothing and is not kept */
static GpNode *parse_fn_type_param(GpParser *p) {
    if (p->tok.tok == GpTok_Name && gp_parser_peek(p, 1) == GpTok_Colon) {
        gp_parser_bump(p);
        gp_parser_bump(p);
    }
    return gp_parse_type(p);
}

/* FnType = ForLifetimes ["unsafe"] ["extern" [Abi]] "fn" "(" [FnParam {"," FnParam} [","]] ")"
 * ["->" Type] */
static GpNode *parse_fn_type(GpParser *p, GpSpan first, GpNodeList lifetimes) {
    GpNodeVec params = {0};
    GpNode *abi = NULL;
    bool is_unsafe = gp_parser_eat(p, GpTok_Unsafe);
    bool is_extern = gp_parser_eat(p, GpTok_Extern);
    if (is_extern)
        abi = gp_parse_abi(p);
    gp_parser_expect(p, GpTok_Fn);
    gp_parser_expect(p, GpTok_LParen);
    while (!gp_parser_is(p, GpTok_RParen) && !p->parked) {
        GpNode *param = parse_fn_type_param(p);
        GP_PUSH(p->arena, &params, param);
        if (!gp_parser_eat_comma(p, GpTok_RParen))
            break;
    }
    gp_parser_expect(p, GpTok_RParen);
    GpNode *ret = gp_parser_eat(p, GpTok_Arrow) ? gp_parse_type_no_bounds(p) : NULL;
    GpAstTypeFn *fn = GP_PARSER_NEW(p, TypeFn, first);
    fn->lifetimes = lifetimes;
    fn->is_unsafe = is_unsafe;
    fn->is_extern = is_extern;
    fn->abi = abi;
    fn->params = gp_parser_list(&params);
    fn->ret = ret;
    return &fn->node;
}

static GpNode *make_bounds_type(GpParser *p, GpSpan first, bool is_dyn, GpNodeList bounds) {
    GpAstTypeBounds *type = GP_PARSER_NEW(p, TypeBounds, first);
    type->is_dyn = is_dyn;
    type->bounds = bounds;
    return &type->node;
}

static GpNodeList one_bound(GpParser *p, GpNodeList lifetimes) {
    GpSpan first = gp_parser_span(p);
    GpNodeVec bounds = {0};
    GpAstBound *bound = GP_AST_NEW(p->arena, Bound, first);
    bound->lifetimes = lifetimes;
    bound->is_maybe = gp_parser_eat(p, GpTok_Question);
    if (lifetimes.len == 0)
        bound->lifetimes = gp_parse_for_lifetimes(p);
    if (gp_parser_is(p, GpTok_Lifetime))
        bound->lifetime = gp_parse_lifetime(p);
    else
        bound->path = gp_parse_path(p, GpPath_Type);
    bound->node.span = gp_parser_since(p, first);
    GP_PUSH(p->arena, &bounds, &bound->node);
    return gp_parser_list(&bounds);
}

/* BoundsType = ("impl" | "dyn") Bounds */
static GpNode *parse_bounds_type(GpParser *p, bool allows_plus) {
    GpSpan first = gp_parser_span(p);
    bool is_dyn = p->tok.tok == GpTok_Dyn;
    gp_parser_bump(p);
    GpNodeList bounds = allows_plus ? gp_parse_bounds(p) : one_bound(p, (GpNodeList){0});
    if (bounds.len == 0)
        gp_parser_expected(p, "at least one trait");
    return make_bounds_type(p, first, is_dyn, bounds);
}

/* PathType = Path | MacroCall */
static GpNode *parse_path_type(GpParser *p) {
    GpSpan first = gp_parser_span(p);
    GpNode *path = gp_parse_path(p, GpPath_Type);
    if (p->tok.tok == GpTok_Not) {
        GpNode *macro = gp_parse_macro(p, path);
        GpAstTypeMacro *type = GP_PARSER_NEW(p, TypeMacro, first);
        type->macro = macro;
        return &type->node;
    }
    GpAstTypePath *type = GP_PARSER_NEW(p, TypePath, first);
    type->path = path;
    return &type->node;
}

static bool is_underscore(const GpParser *p) {
    return p->tok.tok == GpTok_Name && p->tok.len == 1 && p->src->text[p->tok.off] == '_';
}

static GpNode *parse_one_word_type(GpParser *p, GpNodeKind kind) {
    GpNode *type = gp_node_make(p->arena, kind, gp_parser_span(p));
    if (kind == GpNode_TypeNever)
        GP_AS(TypeNever, type)->is_never = true;
    else
        GP_AS(TypeInfer, type)->is_infer = true;
    gp_parser_bump(p);
    return type;
}

static GpNode *parse_type_kind(GpParser *p, bool allows_plus) {
    GpTok tok = p->tok.tok;
    GpSpan first = gp_parser_span(p);
    if (is_underscore(p))
        return parse_one_word_type(p, GpNode_TypeInfer);
    if (tok == GpTok_Not)
        return parse_one_word_type(p, GpNode_TypeNever);
    if (tok == GpTok_And || tok == GpTok_AndAnd)
        return parse_ref_type(p);
    if (tok == GpTok_Star)
        return parse_ptr_type(p);
    if (tok == GpTok_LParen)
        return parse_paren_type(p);
    if (tok == GpTok_LBracket)
        return parse_bracket_type(p);
    if (tok == GpTok_Impl || tok == GpTok_Dyn)
        return parse_bounds_type(p, allows_plus);
    if (tok == GpTok_Fn || tok == GpTok_Unsafe || tok == GpTok_Extern)
        return parse_fn_type(p, first, (GpNodeList){0});
    if (tok == GpTok_For) {
        GpNodeList lifetimes = gp_parse_for_lifetimes(p);
        bool is_fn =
            p->tok.tok == GpTok_Fn || p->tok.tok == GpTok_Unsafe || p->tok.tok == GpTok_Extern;
        if (is_fn)
            return parse_fn_type(p, first, lifetimes);
        return make_bounds_type(p, first, true, one_bound(p, lifetimes));
    }
    if (gp_parser_at_fragment(p, 1u << GpFragment_Ty))
        return gp_parse_fragment(p, GpFragment_Ty);
    if (gp_parser_at_path(p))
        return parse_path_type(p);
    memset(p->expected, 0, sizeof p->expected);
    gp_parser_expected(p, "type");
    return gp_parser_bad(p);
}

static GpNode *parse_type_nested(GpParser *p, bool allows_plus) {
    GpNode *type = gp_parser_enter(p) ? parse_type_kind(p, allows_plus) : gp_parser_bad(p);
    gp_parser_leave(p);
    return type;
}

/* Type = TypeNoBounds | ("impl" | "dyn") Bounds */
GpNode *gp_parse_type(GpParser *p) { return parse_type_nested(p, true); }

/* TypeNoBounds: a type in which `+` would be ambiguous */
GpNode *gp_parse_type_no_bounds(GpParser *p) { return parse_type_nested(p, false); }

/* Ret = ["->" Type] */
GpNode *gp_parse_ret(GpParser *p) {
    return gp_parser_eat(p, GpTok_Arrow) ? gp_parse_type(p) : NULL;
}
