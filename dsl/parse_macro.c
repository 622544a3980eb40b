/* Macro calls and macro_rules definitions. No macro is expanded here. */
#include "dsl/macro.h"
#include "dsl/parse.h"

static GpTok closer_of(GpTok open) {
    return open == GpTok_LParen     ? GpTok_RParen
           : open == GpTok_LBracket ? GpTok_RBracket
                                    : GpTok_RBrace;
}

/* Keeps the group at token `open`, delimiters included, for the expansion of `node`. */
static void keep_tokens(GpParser *p, const GpNode *node, uint32_t open) {
    if (!p->macros || p->parked)
        return;
    GpTokenRun *run = GP_NEW(p->arena, GpTokenRun);
    run->toks = &p->toks[open];
    run->len = p->partner[open] - open + 1;
    gp_map_set(p->arena, p->macros, node, run);
}

/* MacroCall = Path "!" (Open [Exprs | Expr ";" Expr | Tokens] Close) */
GpNode *gp_parse_macro(GpParser *p, GpNode *path) {
    GpSpan first = path->span;
    gp_parser_expect(p, GpTok_Not);
    GpTok open = p->tok.tok;
    if (!gp_parser_is(p, GpTok_LParen) && !gp_parser_is(p, GpTok_LBracket) &&
        !gp_parser_is(p, GpTok_LBrace)) {
        gp_parser_unexpected(p);
        return gp_parser_bad(p);
    }
    GpTok close = closer_of(open);
    uint32_t open_at = p->at;
    GpNodeVec args = {0};
    GpNode *repeat = NULL, *tokens = NULL;
    bool is_known = gp_parse_args_or_back(p, close, &args, &repeat);
    bool has_args = is_known && !repeat;
    if (!is_known && !p->parked) {
        tokens = gp_parser_tokens(p, open_at);
        gp_parser_skip_group(p);
    }
    GpAstMacro *macro = GP_PARSER_NEW(p, Macro, first);
    macro->path = path;
    macro->open = open;
    macro->has_args = has_args;
    macro->args = gp_parser_list(&args);
    macro->has_comma = args.len && p->toks[p->partner[open_at] - 1].tok == GpTok_Comma;
    macro->repeat = repeat;
    macro->tokens = tokens;
    keep_tokens(p, &macro->node, open_at);
    return &macro->node;
}

/* MacroRules = "macro_rules" "!" Name Group */
GpNode *gp_parse_macro_rules(GpParser *p, GpNodeList attrs) {
    GpSpan first = gp_parser_span(p);
    gp_parser_bump(p);
    gp_parser_expect(p, GpTok_Not);
    GpSym name = gp_parser_expect_name(p);
    GpTok open = p->tok.tok;
    if (!gp_parser_is(p, GpTok_LBrace) && !gp_parser_is(p, GpTok_LParen) &&
        !gp_parser_is(p, GpTok_LBracket)) {
        gp_parser_unexpected(p);
        return gp_parser_bad(p);
    }
    uint32_t open_at = p->at;
    GpNode *body = gp_parser_tokens(p, open_at);
    gp_parser_skip_group(p);
    if (open != GpTok_LBrace)
        gp_parser_expect(p, GpTok_Semi);
    GpAstMacroRules *rules = GP_PARSER_NEW(p, MacroRules, first);
    rules->attrs = attrs;
    rules->name = name;
    rules->body = body;
    keep_tokens(p, &rules->node, open_at);
    return &rules->node;
}
