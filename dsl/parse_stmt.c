/* Blocks and statements. */
#include "dsl/parse.h"

/* Let = "let" PatNoOr [":" Type] ["=" Expr ["else" Block]], then ";" */
static GpNode *parse_let(GpParser *p, GpNodeList attrs, bool needs_semi) {
    GpSpan first = gp_parser_span(p);
    GpNode *type = NULL, *init = NULL, *otherwise = NULL;
    gp_parser_expect(p, GpTok_Let);
    GpNode *pat = gp_parse_pat_no_or(p);
    if (gp_parser_eat(p, GpTok_Colon))
        type = gp_parse_type(p);
    if (gp_parser_eat(p, GpTok_Eq)) {
        init = gp_parse_expr(p);
        if (gp_parser_eat(p, GpTok_Else))
            otherwise = gp_parse_block(p, NULL);
    }
    if (needs_semi)
        gp_parser_expect_semi(p);
    GpAstLet *let = GP_PARSER_NEW(p, Let, first);
    let->attrs = attrs;
    let->pat = pat;
    let->type = type;
    let->init = init;
    let->otherwise = otherwise;
    return &let->node;
}

/* The attribute list of an expression that has one. */
static GpNodeList *find_attrs(GpNode *e) {
    if (e->kind == GpNode_If)
        return &GP_AS(If, e)->attrs;
    if (e->kind == GpNode_Match)
        return &GP_AS(Match, e)->attrs;
    if (e->kind == GpNode_While)
        return &GP_AS(While, e)->attrs;
    if (e->kind == GpNode_Loop)
        return &GP_AS(Loop, e)->attrs;
    if (e->kind == GpNode_For)
        return &GP_AS(For, e)->attrs;
    if (e->kind == GpNode_Block)
        return &GP_AS(Block, e)->attrs;
    return NULL;
}

/* ExprStmt = {Attr} (BlockLikeExpr [";"] | Expr ";"); the last one without `;` is the tail */
static GpNode *parse_expr_stmt(GpParser *p, GpNodeList attrs, GpNode **tail) {
    GpSpan first = gp_parser_span(p);
    GpNode *expr = gp_parse_expr_with(p, GpExpr_Stmt);
    GpNodeList *own = find_attrs(expr);
    if (own) {
        *own = gp_parser_join(p, attrs, *own);
        attrs = (GpNodeList){0};
    }
    bool has_semi = gp_parser_eat(p, GpTok_Semi);
    bool is_end = gp_parser_is(p, GpTok_RBrace) || (p->is_expansion && p->at == p->count - 1);
    if (!has_semi && is_end && !p->parked) {
        if (attrs.len > 0)
            gp_parser_unsupported(p, attrs.at[0]->span, "attributes on the value of a block");
        *tail = expr;
        return NULL;
    }
    if (!has_semi && !gp_node_is_block_like(expr))
        has_semi = gp_parser_expect_semi(p);
    GpAstExprStmt *stmt = GP_PARSER_NEW(p, ExprStmt, first);
    stmt->attrs = attrs;
    stmt->expr = expr;
    stmt->has_semi = has_semi;
    return &stmt->node;
}

/* Stmt = ";" | {Attr} (Let | Item | ExprStmt); NULL when there is nothing to keep */
GpNode *gp_parse_stmt(GpParser *p, GpNode **tail) {
    if (gp_parser_eat(p, GpTok_Semi))
        return NULL;
    GpNodeList attrs = gp_parse_outer_attrs(p);
    if (p->tok.tok == GpTok_RBrace && gp_parser_report_lost_attrs(p, attrs, "statement"))
        return NULL;
    if (p->tok.tok == GpTok_Let)
        return parse_let(p, attrs, true);
    if (!gp_parser_at_item(p))
        return parse_expr_stmt(p, attrs, tail);
    GpSpan first = gp_parser_span(p);
    GpNode *item = gp_parse_item(p, attrs);
    GpAstItemStmt *stmt = GP_PARSER_NEW(p, ItemStmt, first);
    stmt->item = item;
    return &stmt->node;
}

GpNode *gp_parse_stmt_alone(GpParser *p) {
    GpNodeList attrs = gp_parse_outer_attrs(p);
    if (p->tok.tok == GpTok_Let)
        return parse_let(p, attrs, false);
    if (gp_parser_at_item(p))
        return gp_parse_item(p, attrs);
    return gp_parse_expr_with(p, GpExpr_Stmt);
}

/* Block = "{" {InnerAttr} {Stmt} [Expr] "}" */
GpNode *gp_parse_block(GpParser *p, GpNodeVec *inner) {
    GpSpan first = gp_parser_span(p);
    GpNodeVec stmts = {0}, attrs = {0};
    GpNode *tail = NULL;
    uint32_t close = p->partner[p->at];
    if (gp_parser_expect(p, GpTok_LBrace)) {
        gp_parse_inner_attrs(p, inner ? inner : &attrs);
        while (!gp_parser_is(p, GpTok_RBrace) && !p->parked) {
            uint32_t start = p->at;
            GpNode *stmt = gp_parse_stmt(p, &tail);
            if (stmt)
                GP_PUSH(p->arena, &stmts, stmt);
            gp_parser_recover(p, start, close, GpTok_Semi);
        }
        gp_parser_expect(p, GpTok_RBrace);
    }
    GpAstBlock *block = GP_PARSER_NEW(p, Block, first);
    block->attrs = gp_parser_list(&attrs);
    block->stmts = gp_parser_list(&stmts);
    block->tail = tail;
    return &block->node;
}
