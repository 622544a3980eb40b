/* Patterns. */
#include "dsl/macro.h"
#include "dsl/parse.h"

/* Pats = [Pat {"," Pat} [","]] Close; *has_comma tells (p) from (p,) */
static GpNodeList parse_pat_list(GpParser *p, GpTok close, bool *has_comma) {
    GpNodeVec pats = {0};
    *has_comma = false;
    gp_parser_bump(p);
    while (!gp_parser_is(p, close) && !p->parked) {
        GpNode *pat = gp_parse_pat(p);
        GP_PUSH(p->arena, &pats, pat);
        *has_comma = gp_parser_eat_comma(p, close);
        if (!*has_comma)
            break;
    }
    gp_parser_expect(p, close);
    return gp_parser_list(&pats);
}

/* TuplePat = "(" Pats ")" */
static GpNode *parse_paren_pat(GpParser *p) {
    GpSpan first = gp_parser_span(p);
    bool has_comma;
    GpNodeList pats = parse_pat_list(p, GpTok_RParen, &has_comma);
    if (pats.len == 1 && !has_comma && pats.at[0]->kind != GpNode_PatRest) {
        GpAstPatParen *paren = GP_PARSER_NEW(p, PatParen, first);
        paren->pat = pats.at[0];
        return &paren->node;
    }
    GpAstPatTuple *tuple = GP_PARSER_NEW(p, PatTuple, first);
    tuple->pats = pats;
    return &tuple->node;
}

/* SlicePat = "[" Pats "]" */
static GpNode *parse_slice_pat(GpParser *p) {
    GpSpan first = gp_parser_span(p);
    bool has_comma;
    GpNodeList pats = parse_pat_list(p, GpTok_RBracket, &has_comma);
    GpAstPatSlice *slice = GP_PARSER_NEW(p, PatSlice, first);
    slice->pats = pats;
    return &slice->node;
}

/* RefPat = "&" ["mut"] PatNoOr */
static GpNode *parse_ref_pat(GpParser *p) {
    GpSpan first = gp_parser_span(p);
    gp_parser_expect_punct(p, GpTok_And);
    bool is_mut = gp_parser_eat(p, GpTok_Mut);
    GpNode *pat = gp_parse_pat_no_or(p);
    GpAstPatRef *ref = GP_PARSER_NEW(p, PatRef, first);
    ref->is_mut = is_mut;
    ref->pat = pat;
    return &ref->node;
}

/* NamePat = ["ref"] ["mut"] Name ["@" PatNoOr] */
static GpNode *parse_name_pat(GpParser *p) {
    GpSpan first = gp_parser_span(p);
    GpNode *sub = NULL;
    bool is_ref = gp_parser_eat(p, GpTok_Ref);
    bool is_mut = gp_parser_eat(p, GpTok_Mut);
    GpSym name = gp_parser_expect_name(p);
    if (gp_parser_eat(p, GpTok_At))
        sub = gp_parse_pat_no_or(p);
    GpAstPatName *pat = GP_PARSER_NEW(p, PatName, first);
    pat->is_ref = is_ref;
    pat->is_mut = is_mut;
    pat->name = name;
    pat->sub = sub;
    return &pat->node;
}

/* FieldPat = {Attr} ((Name | Int) ":" Pat | ["ref"] ["mut"] Name) */
static GpNode *parse_field_pat(GpParser *p) {
    gp_parse_outer_attrs(p);
    GpSpan first = gp_parser_span(p);
    GpNode *pat;
    GpSym name = NULL;
    if (gp_parser_peek(p, 1) == GpTok_Colon) {
        if (gp_parser_eat(p, GpTok_Int))
            name = gp_parser_sym(p, first);
        else
            name = gp_parser_expect_name(p);
        gp_parser_expect(p, GpTok_Colon);
        pat = gp_parse_pat(p);
    } else {
        pat = parse_name_pat(p);
        if (pat->kind == GpNode_PatName)
            name = GP_AS(PatName, pat)->name;
    }
    GpAstPatField *field = GP_PARSER_NEW(p, PatField, first);
    field->name = name;
    field->pat = pat;
    return &field->node;
}

/* StructPat = Path "{" [FieldPat {"," FieldPat} [","]] [".."] "}" */
static GpNode *parse_struct_pat(GpParser *p, GpNode *path) {
    GpNodeVec fields = {0};
    bool has_rest = false;
    gp_parser_expect(p, GpTok_LBrace);
    while (!gp_parser_is(p, GpTok_RBrace) && !p->parked) {
        has_rest = gp_parser_eat(p, GpTok_DotDot);
        if (has_rest)
            break;
        GpNode *field = parse_field_pat(p);
        GP_PUSH(p->arena, &fields, field);
        if (!gp_parser_eat_comma(p, GpTok_RBrace))
            break;
    }
    gp_parser_expect(p, GpTok_RBrace);
    GpAstPatStruct *pat = GP_PARSER_NEW(p, PatStruct, path->span);
    pat->path = path;
    pat->fields = gp_parser_list(&fields);
    pat->has_rest = has_rest;
    return &pat->node;
}

/* RangeEnd = ["-"] Literal | Path */
static GpNode *parse_range_end(GpParser *p) {
    GpNode *lit = gp_parse_neg_lit(p);
    if (lit || !gp_parser_at_path(p))
        return lit;
    GpSpan first = gp_parser_span(p);
    GpNode *path = gp_parse_path(p, GpPath_Expr);
    GpAstPathExpr *e = GP_PARSER_NEW(p, PathExpr, first);
    e->path = path;
    return &e->node;
}

static bool at_range(const GpParser *p) {
    return p->tok.tok == GpTok_DotDot || p->tok.tok == GpTok_DotDotEq;
}

/* RangePat = [RangeEnd] (".." | "..=") [RangeEnd] */
static GpNode *parse_range_pat(GpParser *p, GpNode *lo, GpSpan first) {
    GpSpan op = gp_parser_span(p);
    bool is_closed = p->tok.tok == GpTok_DotDotEq;
    gp_parser_bump(p);
    GpNode *hi = parse_range_end(p);
    if (is_closed && !hi && gp_parser_may_report(p)) {
        gp_suggest(gp_diag(p->diags, GpDiag_E0586, op), op, "..", "use `..` instead");
    }
    GpAstPatRange *range = GP_PARSER_NEW(p, PatRange, first);
    range->lo = lo;
    range->hi = hi;
    range->is_closed = is_closed;
    return &range->node;
}

/* LitPat = ["-"] Literal */
static GpNode *parse_lit_pat(GpParser *p) {
    GpSpan first = gp_parser_span(p);
    GpNode *value = gp_parse_neg_lit(p);
    if (!value) {
        GpTokClass cls = gp_tok_info[p->tok.tok].cls;
        memset(p->expected, 0, sizeof p->expected);
        if (cls == GpTokClass_Keyword || cls == GpTokClass_Reserved)
            gp_parser_expect_name(p);
        else
            gp_parser_expected(p, "pattern");
        return gp_parser_bad(p);
    }
    if (at_range(p))
        return parse_range_pat(p, value, first);
    GpAstPatLit *pat = GP_PARSER_NEW(p, PatLit, first);
    pat->value = value;
    return &pat->node;
}

/* PathPat = Path ["(" Pats ")" | "{" FieldPats "}" | RangePat] */
static GpNode *parse_path_pat(GpParser *p) {
    GpSpan first = gp_parser_span(p);
    GpNode *path = gp_parse_path(p, GpPath_Expr);
    if (p->tok.tok == GpTok_LBrace)
        return parse_struct_pat(p, path);
    if (p->tok.tok == GpTok_Not) {
        GpNode *macro = gp_parse_macro(p, path);
        GpAstPatMacro *pat = GP_PARSER_NEW(p, PatMacro, first);
        pat->macro = macro;
        return &pat->node;
    }
    if (p->tok.tok == GpTok_LParen) {
        bool has_comma;
        GpNodeList pats = parse_pat_list(p, GpTok_RParen, &has_comma);
        GpAstPatTupleStruct *pat = GP_PARSER_NEW(p, PatTupleStruct, first);
        pat->path = path;
        pat->pats = pats;
        return &pat->node;
    }
    if (at_range(p)) {
        GpAstPathExpr *lo = GP_PARSER_NEW(p, PathExpr, first);
        lo->path = path;
        return parse_range_pat(p, &lo->node, first);
    }
    GpAstPatPath *pat = GP_PARSER_NEW(p, PatPath, first);
    pat->path = path;
    return &pat->node;
}

/* Is a lone name here, which binds, rather than the start of a path? */
static bool at_name_pat(const GpParser *p) {
    GpTok next = gp_parser_peek(p, 1);
    if (p->tok.tok == GpTok_Ref || p->tok.tok == GpTok_Mut)
        return true;
    return p->tok.tok == GpTok_Name && next != GpTok_ColonColon && next != GpTok_LParen &&
           next != GpTok_LBrace && next != GpTok_Not && next != GpTok_DotDot &&
           next != GpTok_DotDotEq;
}

static GpNode *parse_word_pat(GpParser *p, GpNodeKind kind) {
    GpNode *pat = gp_node_make(p->arena, kind, gp_parser_span(p));
    if (kind == GpNode_PatWild)
        GP_AS(PatWild, pat)->is_wild = true;
    else
        GP_AS(PatRest, pat)->is_rest = true;
    gp_parser_bump(p);
    return pat;
}

static GpNode *parse_pat_kind(GpParser *p) {
    GpTok tok = p->tok.tok, next = gp_parser_peek(p, 1);
    GpSpan first = gp_parser_span(p);
    if (tok == GpTok_Name && p->tok.len == 1 && p->src->text[p->tok.off] == '_')
        return parse_word_pat(p, GpNode_PatWild);
    if (tok == GpTok_DotDot &&
        (next == GpTok_Comma || next == GpTok_RParen || next == GpTok_RBracket)) {
        return parse_word_pat(p, GpNode_PatRest);
    }
    if (tok == GpTok_DotDot || tok == GpTok_DotDotEq)
        return parse_range_pat(p, NULL, first);
    if (tok == GpTok_LParen)
        return parse_paren_pat(p);
    if (tok == GpTok_LBracket)
        return parse_slice_pat(p);
    if (tok == GpTok_And || tok == GpTok_AndAnd)
        return parse_ref_pat(p);
    if (at_name_pat(p))
        return parse_name_pat(p);
    if (gp_parser_at_fragment(p, GP_FRAGMENT_EXPRS | GP_FRAGMENT_PATS))
        return gp_parse_fragment(p, GpFragment_Pat);
    if (gp_parser_at_path(p))
        return parse_path_pat(p);
    return parse_lit_pat(p);
}

/* PatNoOr = "_" | ".." | RangePat | TuplePat | SlicePat | RefPat | NamePat | PathPat | LitPat */
GpNode *gp_parse_pat_no_or(GpParser *p) {
    GpNode *pat = gp_parser_enter(p) ? parse_pat_kind(p) : gp_parser_bad(p);
    gp_parser_leave(p);
    return pat;
}

/* Pat = ["|"] PatNoOr {"|" PatNoOr} */
GpNode *gp_parse_pat(GpParser *p) {
    GpSpan first = gp_parser_span(p);
    if (p->tok.tok == GpTok_Or)
        gp_parser_bump(p);
    GpNode *pat = gp_parse_pat_no_or(p);
    if (!gp_parser_is(p, GpTok_Or))
        return pat;
    GpNodeVec pats = {0};
    GP_PUSH(p->arena, &pats, pat);
    while (gp_parser_eat(p, GpTok_Or)) {
        pat = gp_parse_pat_no_or(p);
        GP_PUSH(p->arena, &pats, pat);
    }
    GpAstPatOr *alt = GP_PARSER_NEW(p, PatOr, first);
    alt->pats = gp_parser_list(&pats);
    return &alt->node;
}
