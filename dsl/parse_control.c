/* Conditions, match and the loops. */
#include "dsl/parse.h"

/* Cond = Expr, with let conditions, and no struct literal outside parentheses */
static GpNode *parse_cond(GpParser *p) {
    return gp_parse_expr_with(p, GpExpr_NoStruct | GpExpr_Let);
}

/* The block after a condition; where it is missing the message points at the condition. */
static GpNode *parse_then(GpParser *p, GpNode *cond, GpSpan keyword, const char *what) {
    if (p->tok.tok == GpTok_LBrace || !gp_parser_may_report(p))
        return gp_parse_block(p, NULL);
    if (cond->kind == GpNode_Block && cond->span.off > keyword.off) {
        GpSpan gap = {keyword.src, keyword.off + keyword.len, 0};
        const char *title = gp_arena_printf(p->arena, "condition for `%s` expression", what);
        GpDiag *d = gp_diag(p->diags, GpDiag_G0009, gap, title);
        gp_primary_label(d, "expected condition here");
        gp_label(d, (GpSpan){cond->span.src, cond->span.off, 1},
                 "if this block is the condition of the `%s` expression, then it must be followed "
                 "by another block",
                 what);
        return cond;
    }
    const GpNode *last = cond;
    while (last->kind == GpNode_Binary)
        last = ((const GpAstBinary *)last)->rhs;
    if (last != cond && last->kind == GpNode_Block) {
        GpDiag *d = gp_diag(p->diags, GpDiag_G0020, keyword, what);
        gp_label(d, (GpSpan){last->span.src, last->span.off, 1},
                 "this block is the right-hand side of the operator before it");
        return gp_parser_bad(p);
    }
    GpDiag *d = gp_parser_expected(p, "`{`");
    if (d)
        gp_note_at(d, cond->span, "the `%s` expression is missing a block after this condition",
                   what);
    return gp_parser_bad(p);
}

/* If = "if" Cond Block ["else" (Block | If)] */
GpNode *gp_parse_if(GpParser *p) {
    GpSpan first = gp_parser_span(p);
    GpNode *otherwise = NULL;
    if (!gp_parser_enter(p)) {
        gp_parser_leave(p);
        return gp_parser_bad(p);
    }
    gp_parser_expect(p, GpTok_If);
    GpNode *cond = parse_cond(p);
    GpNode *then = parse_then(p, cond, first, "if");
    if (gp_parser_eat(p, GpTok_Else)) {
        otherwise = gp_parser_is(p, GpTok_If) ? gp_parse_if(p) : gp_parse_block(p, NULL);
    }
    gp_parser_leave(p);
    gp_parser_grow(p, p->height + 1);
    GpAstIf *e = GP_PARSER_NEW(p, If, first);
    e->cond = cond;
    e->then = then;
    e->otherwise = otherwise;
    return &e->node;
}

/* Arm = {Attr} Pat ["if" Cond] "=>" Expr [","]; the comma may be missing after a block */
static GpNode *parse_arm(GpParser *p) {
    GpNodeList attrs = gp_parse_outer_attrs(p);
    GpSpan first = gp_parser_span(p);
    GpNode *pat = gp_parse_pat(p), *guard = NULL, *body = NULL;
    if (gp_parser_eat(p, GpTok_If))
        guard = gp_parse_expr_with(p, GpExpr_Let);
    if (gp_parser_expect(p, GpTok_FatArrow)) {
        body = gp_parse_expr_with(p, GpExpr_Stmt);
        if (!gp_parser_eat(p, GpTok_Comma) && !gp_node_is_block_like(body))
            gp_parser_eat_comma(p, GpTok_RBrace);
    }
    GpAstArm *arm = GP_PARSER_NEW(p, Arm, first);
    arm->attrs = attrs;
    arm->pat = pat;
    arm->guard = guard;
    arm->body = body;
    return &arm->node;
}

/* Match = "match" Expr "{" {InnerAttr} {Arm} "}" */
GpNode *gp_parse_match(GpParser *p) {
    GpSpan first = gp_parser_span(p);
    GpNodeVec arms = {0}, attrs = {0};
    gp_parser_expect(p, GpTok_Match);
    GpNode *scrutinee = gp_parse_expr_with(p, GpExpr_NoStruct);
    uint32_t close = p->partner[p->at];
    if (gp_parser_expect(p, GpTok_LBrace)) {
        gp_parse_inner_attrs(p, &attrs);
        while (!gp_parser_is(p, GpTok_RBrace) && !p->parked) {
            uint32_t start = p->at;
            GpNode *arm = parse_arm(p);
            GP_PUSH(p->arena, &arms, arm);
            gp_parser_recover(p, start, close, GpTok_Comma);
        }
        gp_parser_expect(p, GpTok_RBrace);
    }
    GpAstMatch *e = GP_PARSER_NEW(p, Match, first);
    e->attrs = gp_parser_list(&attrs);
    e->scrutinee = scrutinee;
    e->arms = gp_parser_list(&arms);
    return &e->node;
}

/* While = "while" Cond Block */
static GpNode *parse_while(GpParser *p, GpSym label, GpSpan first) {
    GpSpan keyword = gp_parser_span(p);
    gp_parser_expect(p, GpTok_While);
    GpNode *cond = parse_cond(p);
    GpNode *body = parse_then(p, cond, keyword, "while");
    GpAstWhile *e = GP_PARSER_NEW(p, While, first);
    e->label = label;
    e->cond = cond;
    e->body = body;
    return &e->node;
}

/* For = "for" Pat "in" Expr Block */
static GpNode *parse_for(GpParser *p, GpSym label, GpSpan first) {
    gp_parser_expect(p, GpTok_For);
    GpNode *pat = gp_parse_pat(p);
    bool is_other = p->tok.tok == GpTok_Eq || gp_parser_is_weak(p, 0, GpTok_OfWord);
    if (!gp_parser_eat(p, GpTok_In) && gp_parser_may_report(p)) {
        GpSpan gap = {p->prev.src, p->prev.off + p->prev.len, 0};
        GpDiag *d = gp_diag(p->diags, GpDiag_G0009, is_other ? gp_parser_span(p) : gap,
                            "`in` in `for` loop");
        if (is_other)
            gp_suggest(d, gp_parser_span(p), "in", "try using `in` here instead");
        else
            gp_suggest(d, gap, " in", "try adding `in` here");
        if (is_other)
            gp_parser_bump(p);
    }
    GpNode *iter = gp_parse_expr_with(p, GpExpr_NoStruct);
    GpNode *body = gp_parse_block(p, NULL);
    GpAstFor *e = GP_PARSER_NEW(p, For, first);
    e->label = label;
    e->pat = pat;
    e->iter = iter;
    e->body = body;
    return &e->node;
}

/* BlockExpr = ["unsafe" | "const"] Block */
static GpNode *parse_block_expr(GpParser *p, GpSym label, GpSpan first) {
    bool is_unsafe = gp_parser_eat(p, GpTok_Unsafe);
    bool is_const = !is_unsafe && gp_parser_eat(p, GpTok_Const);
    GpNode *node = gp_parse_block(p, NULL);
    GpAstBlock *block = GP_AS(Block, node);
    block->label = label;
    block->is_unsafe = is_unsafe;
    block->is_const = is_const;
    block->node.span = gp_parser_since(p, first);
    return node;
}

/* Loop = [Label ":"] (While | For | "loop" Block | BlockExpr) */
GpNode *gp_parse_loop(GpParser *p) {
    GpSpan first = gp_parser_span(p);
    GpSym label = NULL;
    if (p->tok.tok == GpTok_Lifetime) {
        label = gp_parse_label(p);
        gp_parser_expect(p, GpTok_Colon);
    }
    if (gp_parser_is(p, GpTok_While))
        return parse_while(p, label, first);
    if (gp_parser_is(p, GpTok_For))
        return parse_for(p, label, first);
    if (!gp_parser_eat(p, GpTok_Loop))
        return parse_block_expr(p, label, first);
    GpNode *body = gp_parse_block(p, NULL);
    GpAstLoop *e = GP_PARSER_NEW(p, Loop, first);
    e->label = label;
    e->body = body;
    return &e->node;
}
