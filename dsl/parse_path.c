/* Paths and generic arguments. */
#include "dsl/macro.h"
#include "dsl/parse.h"

static bool is_segment_word(GpTok tok) {
    return tok == GpTok_SelfVal || tok == GpTok_SelfTy || tok == GpTok_Super || tok == GpTok_Crate;
}

bool gp_parser_at_path(GpParser *p) {
    GpTok tok = p->tok.tok;
    return gp_parser_is(p, GpTok_Name) || is_segment_word(tok) || tok == GpTok_ColonColon ||
           gp_parser_at_fragment(p, 1u << GpFragment_Path) || gp_parser_is_punct(p, GpTok_Less);
}

/* Assoc = Name (":" Bounds | "=" (Type | ConstArg)) */
static GpNode *parse_assoc(GpParser *p) {
    GpSpan first = gp_parser_span(p);
    GpSym name = gp_parser_expect_name(p);
    GpNodeList bounds = {0};
    GpNode *type = NULL;
    if (gp_parser_eat(p, GpTok_Colon)) {
        bounds = gp_parse_bounds(p);
    } else {
        gp_parser_expect(p, GpTok_Eq);
        type = p->tok.tok == GpTok_LBrace ? gp_parse_block(p, NULL) : gp_parse_neg_lit(p);
        if (!type)
            type = gp_parse_type(p);
    }
    GpAstAssoc *assoc = GP_PARSER_NEW(p, Assoc, first);
    assoc->name = name;
    assoc->type = type;
    assoc->bounds = bounds;
    return &assoc->node;
}

/* An expression that a macro was given: a name may be a type's or a constant's. */
static GpNode *parse_expr_arg(GpParser *p) {
    GpSpan first = gp_parser_span(p);
    if (p->tok.fragment->run.len == 1 && p->tok.fragment->run.toks[0].tok == GpTok_Name)
        return gp_parse_fragment(p, GpFragment_Ty);
    GpNode *value = gp_parse_fragment(p, GpFragment_Expr);
    if (value->kind == GpNode_Lit || value->kind == GpNode_Block)
        return value;
    GpAstBlock *block = GP_PARSER_NEW(p, Block, first);
    block->tail = value;
    return &block->node;
}

/* GenericArg = Lifetime | Block | ["-"] Literal | Assoc | Type */
static GpNode *parse_generic_arg(GpParser *p) {
    GpSpan first = gp_parser_span(p);
    GpTok next = gp_parser_peek(p, 1);
    if (gp_parser_is(p, GpTok_Lifetime)) {
        GpSym name = gp_parse_lifetime(p);
        GpAstLifetime *lifetime = GP_PARSER_NEW(p, Lifetime, first);
        lifetime->name = name;
        return &lifetime->node;
    }
    if (p->tok.tok == GpTok_LBrace)
        return gp_parse_block(p, NULL);
    if (p->tok.tok == GpTok_Name && (next == GpTok_Eq || next == GpTok_Colon))
        return parse_assoc(p);
    if (gp_parser_at_fragment(p, GP_FRAGMENT_EXPRS))
        return parse_expr_arg(p);
    GpNode *lit = gp_parse_neg_lit(p);
    return lit ? lit : gp_parse_type(p);
}

/* GenericArgs = [GenericArg {"," GenericArg} [","]] ">" */
GpNodeList gp_parse_generic_args(GpParser *p) {
    GpNodeVec args = {0};
    while (!gp_parser_is_punct(p, GpTok_Greater) && !p->parked) {
        GpNode *arg = parse_generic_arg(p);
        GP_PUSH(p->arena, &args, arg);
        if (!gp_parser_eat_comma(p, GpTok_Greater))
            break;
    }
    gp_parser_expect_punct(p, GpTok_Greater);
    return gp_parser_list(&args);
}

/* FnArgs = "(" [Type {"," Type} [","]] ")" ["->" Type], as in Fn(i32) -> f32 */
static void parse_fn_args(GpParser *p, GpAstSegment *seg) {
    GpNodeVec args = {0};
    gp_parser_expect(p, GpTok_LParen);
    while (!gp_parser_is(p, GpTok_RParen) && !p->parked) {
        GpNode *arg = gp_parse_type(p);
        GP_PUSH(p->arena, &args, arg);
        if (!gp_parser_eat_comma(p, GpTok_RParen))
            break;
    }
    gp_parser_expect(p, GpTok_RParen);
    seg->is_call = true;
    seg->args = gp_parser_list(&args);
    if (gp_parser_eat(p, GpTok_Arrow))
        seg->ret = gp_parse_type_no_bounds(p);
}

/* Segment = (Name | "self" | "Self" | "super" | "crate") [["::"] "<" GenericArgs | FnArgs]
** In expressions the `::` before `<` has to be there; plain paths have no arguments. */
static GpNode *parse_segment(GpParser *p, GpPathStyle style) {
    GpSpan first = gp_parser_span(p);
    GpAstSegment *seg = GP_AST_NEW(p->arena, Segment, first);
    if (is_segment_word(p->tok.tok)) {
        seg->name = gp_parser_sym(p, first);
        gp_parser_bump(p);
    } else {
        seg->name = gp_parser_expect_name(p);
    }
    if (style == GpPath_Plain)
        return &seg->node;
    GpTok next = gp_parser_peek(p, 1);
    bool has_turbofish =
        p->tok.tok == GpTok_ColonColon && (next == GpTok_Less || next == GpTok_Shl);
    if (has_turbofish)
        gp_parser_bump(p);
    if ((has_turbofish || style == GpPath_Type) && gp_parser_is_punct(p, GpTok_Less)) {
        gp_parser_eat_punct(p, GpTok_Less);
        seg->has_args = true;
        seg->args = gp_parse_generic_args(p);
    } else if (style == GpPath_Type && gp_parser_is(p, GpTok_LParen)) {
        parse_fn_args(p, seg);
    }
    seg->node.span = gp_parser_since(p, first);
    return &seg->node;
}

/* Path = ["::" | "<" Type ["as" Path] ">" "::"] Segment {"::" Segment} */
GpNode *gp_parse_path(GpParser *p, GpPathStyle style) {
    GpSpan first = gp_parser_span(p);
    GpNode *self_type = NULL, *self_trait = NULL;
    GpNodeVec segs = {0};
    bool is_global = false;
    if (gp_parser_at_fragment(p, 1u << GpFragment_Path))
        return gp_parse_fragment(p, GpFragment_Path);
    if (style != GpPath_Plain && gp_parser_eat_punct(p, GpTok_Less)) {
        self_type = gp_parse_type(p);
        if (gp_parser_eat(p, GpTok_As))
            self_trait = gp_parse_path(p, GpPath_Type);
        gp_parser_expect_punct(p, GpTok_Greater);
        gp_parser_expect(p, GpTok_ColonColon);
    } else {
        is_global = gp_parser_eat(p, GpTok_ColonColon);
    }
    do {
        GpNode *seg = parse_segment(p, style);
        GP_PUSH(p->arena, &segs, seg);
    } while (!p->parked && gp_parser_eat(p, GpTok_ColonColon));
    GpAstPath *path = GP_PARSER_NEW(p, Path, first);
    path->is_global = is_global;
    path->self_type = self_type;
    path->self_trait = self_trait;
    path->segments = gp_parser_list(&segs);
    return &path->node;
}
