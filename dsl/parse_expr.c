/* Operators: a Pratt parser over the binding powers of token.def. Prefix operators bind tighter
** than every binary one and looser than the postfix ones.
**
** The height of the tree is bounded as well as the depth of the calls: a long chain of left-
** associative operators is built in a loop but walked by recursion. */
#include "dsl/parse.h"

enum {
    Power_Compare = 9, /* token.def: the non-associative level */
    Power_AfterAnd = 8,
    Power_Prefix = 27
};

static GpNode *parse_binary(GpParser *p, unsigned min_power, unsigned flags);
static GpNode *parse_closure(GpParser *p, unsigned flags);

bool gp_parser_at_expr(const GpParser *p) {
    static const GpTok starts[] = {
        GpTok_Name,     GpTok_Lifetime, GpTok_Int,        GpTok_Float,  GpTok_Str,
        GpTok_ByteStr,  GpTok_Char,     GpTok_Byte,       GpTok_Async,  GpTok_Break,
        GpTok_Const,    GpTok_Continue, GpTok_Crate,      GpTok_False,  GpTok_For,
        GpTok_If,       GpTok_Let,      GpTok_Loop,       GpTok_Match,  GpTok_Move,
        GpTok_Return,   GpTok_SelfTy,   GpTok_SelfVal,    GpTok_Super,  GpTok_True,
        GpTok_Unsafe,   GpTok_While,    GpTok_ColonColon, GpTok_AndAnd, GpTok_OrOr,
        GpTok_Shl,      GpTok_DotDot,   GpTok_DotDotEq,   GpTok_Minus,  GpTok_Star,
        GpTok_And,      GpTok_Or,       GpTok_Less,       GpTok_Not,    GpTok_LParen,
        GpTok_LBracket, GpTok_LBrace,   GpTok_Fragment,
    };
    for (size_t i = 0; i < GP_COUNT(starts); i++) {
        if (starts[i] == p->tok.tok)
            return true;
    }
    return false;
}

bool gp_node_is_block_like(const GpNode *n) {
    return n->kind == GpNode_If || n->kind == GpNode_Match || n->kind == GpNode_While ||
           n->kind == GpNode_Loop || n->kind == GpNode_For || n->kind == GpNode_Block ||
           (n->kind == GpNode_Macro && ((const GpAstMacro *)n)->open == GpTok_LBrace);
}

/* Is there an operand for the range, break or return before the cursor? */
static bool at_operand(const GpParser *p, unsigned flags) {
    return gp_parser_at_expr(p) && !((flags & GpExpr_NoStruct) && p->tok.tok == GpTok_LBrace);
}

/* Unary = ("-" | "!" | "*") Prefix */
static GpNode *parse_unary(GpParser *p, unsigned flags) {
    GpSpan first = gp_parser_span(p);
    GpTok op = p->tok.tok;
    gp_parser_bump(p);
    GpNode *operand = parse_binary(p, Power_Prefix, flags & GpExpr_NoStruct);
    GpAstUnary *unary = GP_PARSER_NEW(p, Unary, first);
    unary->op = op;
    unary->operand = operand;
    return &unary->node;
}

/* Borrow = "&" ["mut" | "raw" ("const" | "mut")] Prefix */
static GpNode *parse_borrow(GpParser *p, unsigned flags) {
    GpSpan first = gp_parser_span(p);
    gp_parser_expect_punct(p, GpTok_And);
    GpTok next = gp_parser_peek(p, 1);
    bool is_raw = gp_parser_is_weak(p, 0, GpTok_Raw) && (next == GpTok_Const || next == GpTok_Mut);
    if (is_raw)
        gp_parser_bump(p);
    bool is_mut = gp_parser_eat(p, GpTok_Mut);
    if (is_raw && !is_mut)
        gp_parser_eat(p, GpTok_Const);
    GpNode *operand = parse_binary(p, Power_Prefix, flags & GpExpr_NoStruct);
    GpAstBorrow *borrow = GP_PARSER_NEW(p, Borrow, first);
    borrow->is_raw = is_raw;
    borrow->is_mut = is_mut;
    borrow->operand = operand;
    return &borrow->node;
}

/* Range = [Operand] (".." [Operand] | "..=" Operand) */
static GpNode *parse_range(GpParser *p, GpNode *lo, unsigned flags) {
    GpSpan op = gp_parser_span(p), first = lo ? lo->span : op;
    unsigned power = gp_tok_info[p->tok.tok].rbp;
    bool is_closed = p->tok.tok == GpTok_DotDotEq;
    gp_parser_bump(p);
    GpNode *hi = at_operand(p, flags) ? parse_binary(p, power, flags & GpExpr_NoStruct) : NULL;
    if (is_closed && !hi && gp_parser_may_report(p)) {
        GpDiag *d = gp_diag(p->diags, GpDiag_E0586, op);
        gp_suggest(d, op, "..", "use `..` instead");
        gp_note(d, "inclusive ranges must be bounded at the end (`..=b` or `a..=b`)");
    }
    GpAstRange *range = GP_PARSER_NEW(p, Range, first);
    range->lo = lo;
    range->hi = hi;
    range->is_closed = is_closed;
    return &range->node;
}

/* LetCond = "let" Pat "=" Expr, the expression without && and || of its own */
static GpNode *parse_let_cond(GpParser *p, unsigned flags) {
    GpSpan first = gp_parser_span(p);
    if (!(flags & GpExpr_Let) && gp_parser_may_report(p)) {
        GpDiag *d = gp_diag(p->diags, GpDiag_G0001, first, "expression", "`let` statement");
        gp_primary_label(d, "expected expression");
        gp_note(d, "only supported directly in conditions of `if` and `while` expressions");
    }
    gp_parser_bump(p);
    GpNode *pat = gp_parse_pat(p), *init = NULL;
    if (gp_parser_expect(p, GpTok_Eq))
        init = parse_binary(p, Power_AfterAnd, flags & GpExpr_NoStruct);
    GpAstLetCond *let = GP_PARSER_NEW(p, LetCond, first);
    let->pat = pat;
    let->init = init;
    return &let->node;
}

/* Break = "break" [Label] [Expr]; Continue = "continue" [Label]; Return = "return" [Expr] */
static GpNode *parse_jump(GpParser *p, unsigned flags) {
    GpSpan first = gp_parser_span(p);
    GpTok tok = p->tok.tok;
    GpSym label = NULL;
    GpNode *value = NULL;
    gp_parser_bump(p);
    bool has_label = tok != GpTok_Return && gp_parser_is(p, GpTok_Lifetime) &&
                     gp_parser_peek(p, 1) != GpTok_Colon;
    if (has_label)
        label = gp_parse_label(p);
    if (tok != GpTok_Continue && at_operand(p, flags))
        value = parse_binary(p, 0, flags & GpExpr_NoStruct);
    if (tok == GpTok_Continue) {
        GpAstContinue *jump = GP_PARSER_NEW(p, Continue, first);
        jump->label = label;
        return &jump->node;
    }
    if (tok == GpTok_Return) {
        GpAstReturn *jump = GP_PARSER_NEW(p, Return, first);
        jump->value = value;
        return &jump->node;
    }
    GpAstBreak *jump = GP_PARSER_NEW(p, Break, first);
    jump->label = label;
    jump->value = value;
    return &jump->node;
}

/* Prefix = Unary | Borrow | Range | LetCond | Closure | Jump | Primary {Postfix} */
static GpNode *parse_prefix(GpParser *p, unsigned flags) {
    GpTok tok = p->tok.tok;
    if (tok == GpTok_Minus || tok == GpTok_Not || tok == GpTok_Star)
        return parse_unary(p, flags);
    if (tok == GpTok_And || tok == GpTok_AndAnd)
        return parse_borrow(p, flags);
    if (tok == GpTok_DotDot || tok == GpTok_DotDotEq)
        return parse_range(p, NULL, flags);
    if (tok == GpTok_Let)
        return parse_let_cond(p, flags);
    if (tok == GpTok_Or || tok == GpTok_OrOr || tok == GpTok_Move)
        return parse_closure(p, flags);
    if (tok == GpTok_Break || tok == GpTok_Continue || tok == GpTok_Return)
        return parse_jump(p, flags);
    GpSpan first = gp_parser_span(p);
    GpNode *base = gp_parse_primary(p, flags);
    /* A block in statement position is a statement; only `.` and `?` make it an operand. */
    bool is_stmt = (flags & GpExpr_Stmt) && gp_node_is_block_like(base) &&
                   p->tok.tok != GpTok_Dot && p->tok.tok != GpTok_Question;
    return is_stmt ? base : gp_parse_postfix(p, base, first);
}

/* `x as T < y` reads `<` as the start of generic arguments; rustc refuses it in these words. */
static GpNode *parse_cast_type(GpParser *p) {
    GpTok next = gp_parser_peek(p, 1);
    bool is_risky =
        p->tok.tok == GpTok_Name && (next == GpTok_Less || next == GpTok_Shl) && !p->is_quiet;
    if (!is_risky)
        return gp_parse_type_no_bounds(p);
    GpParserMark mark = gp_parser_mark(p);
    p->is_quiet = true;
    GpNode *type = gp_parse_type_no_bounds(p);
    p->is_quiet = false;
    if (!p->parked)
        return type;
    gp_parser_back(p, mark);
    const char *name = gp_parser_sym(p, gp_parser_span(p))->name;
    gp_parser_bump(p);
    if (gp_parser_may_report(p)) {
        GpDiag *d = gp_diag(p->diags, GpDiag_G0014, gp_parser_span(p), name);
        gp_primary_label(d, "not interpreted as comparison");
        gp_help(d, "put parentheses around the cast: `(.. as %s)`", name);
    }
    gp_parser_park(p);
    return type;
}

static GpNode *make_cast(GpParser *p, GpNode *operand) {
    gp_parser_bump(p);
    GpNode *type = parse_cast_type(p);
    GpAstCast *cast = GP_PARSER_NEW(p, Cast, operand->span);
    cast->operand = operand;
    cast->type = type;
    return &cast->node;
}

static bool is_compare(const GpNode *n) {
    return n->kind == GpNode_Binary &&
           gp_tok_info[((const GpAstBinary *)n)->op].lbp == Power_Compare;
}

/* `b & c`, whose operator binds stronger than a comparison. */
static bool is_bitwise(const GpNode *n) {
    GpTok op = n->kind == GpNode_Binary ? ((const GpAstBinary *)n)->op : GpTok_End;
    return op == GpTok_And || op == GpTok_Or || op == GpTok_Caret;
}

static void report_chain(GpParser *p, GpSpan op, const GpNode *between) {
    if (!gp_parser_may_report(p))
        return;
    GpDiag *d = gp_diag(p->diags, GpDiag_G0007, op);
    gp_label(d, gp_parser_span(p), "second comparison");
    if (is_bitwise(between)) {
        const char *joint = gp_tok_info[((const GpAstBinary *)between)->op].spelling;
        gp_help(d, "comparisons that `%s` joins stand in parentheses: `(a < b) %s (c < d)`", joint, joint);
        gp_parser_park(p);
        return;
    }
    gp_help(d, "use `::<...>` instead of `<...>` to specify lifetime, type, or const arguments");
    gp_help(d, "or split the comparison into two, joined by `&&`");
    gp_parser_park(p);
}

static bool report_operator(GpParser *p, uint32_t tokens, const char *title, const char *instead) {
    if (!gp_parser_may_report(p))
        return true;
    GpSpan span = gp_parser_span(p);
    for (uint32_t i = 1; i < tokens; i++)
        span.len += p->toks[p->at + i].len;
    gp_suggest(gp_diag(p->diags, GpDiag_G0015, span, title), span, instead, "use `%s` instead",
               instead + strspn(instead, " "));
    gp_parser_park(p);
    return true;
}

/* Operators of other languages, where a binary operator may stand: reported, true. */
static bool refuse_foreign_operator(GpParser *p) {
    GpTok tok = p->tok.tok, next = gp_parser_peek(p, 1), last = gp_parser_peek(p, 2);
    bool is_tight = gp_parser_is_tight(p, 1);
    bool is_end =
        last == GpTok_Semi || last == GpTok_RBrace || last == GpTok_RParen || last == GpTok_Comma;
    if (tok == GpTok_Plus && next == GpTok_Plus && is_tight && is_end) {
        return report_operator(p, 2, "Rust has no postfix increment operator", " += 1");
    }
    if (tok == GpTok_EqEq && next == GpTok_Eq && is_tight) {
        return report_operator(p, 2, "invalid comparison operator `===`", "==");
    }
    if (tok == GpTok_NotEq && next == GpTok_Eq && is_tight) {
        return report_operator(p, 2, "invalid comparison operator `!==`", "!=");
    }
    if (tok == GpTok_Less && next == GpTok_Greater && is_tight) {
        return report_operator(p, 2, "invalid comparison operator `<>`", "!=");
    }
    if (gp_parser_is_weak(p, 0, GpTok_AndWord)) {
        return report_operator(p, 1, "`and` is not a logical operator", "&&");
    }
    if (gp_parser_is_weak(p, 0, GpTok_OrWord)) {
        return report_operator(p, 1, "`or` is not a logical operator", "||");
    }
    return false;
}

static bool has_let(const GpNode *n) {
    if (n->kind == GpNode_LetCond)
        return true;
    return n->kind == GpNode_Binary && ((const GpAstBinary *)n)->op == GpTok_AndAnd &&
           (has_let(((const GpAstBinary *)n)->rhs) || has_let(((const GpAstBinary *)n)->lhs));
}

/* lhs, the operator at the cursor, and what it takes on its right. */
static GpNode *parse_infix(GpParser *p, GpNode *lhs, unsigned flags) {
    GpTok op = p->tok.tok;
    GpSpan op_span = gp_parser_span(p);
    unsigned rhs_flags =
        flags & (GpExpr_NoStruct | (op == GpTok_AndAnd ? (unsigned)GpExpr_Let : 0u));
    if (op == GpTok_As)
        return make_cast(p, lhs);
    if (op == GpTok_DotDot || op == GpTok_DotDotEq)
        return parse_range(p, lhs, flags);
    if (op == GpTok_OrOr && has_let(lhs) && gp_parser_may_report(p)) {
        gp_diag(p->diags, GpDiag_G0008, op_span, "`||` operators in let chain conditions");
    }
    gp_parser_bump(p);
    GpNode *rhs = parse_binary(p, gp_tok_info[op].rbp, rhs_flags);
    if (gp_tok_info[op].lbp == gp_tok_info[op].rbp) {
        GpAstAssign *assign = GP_PARSER_NEW(p, Assign, lhs->span);
        assign->lhs = lhs;
        assign->op = op;
        assign->rhs = rhs;
        return &assign->node;
    }
    GpAstBinary *binary = GP_PARSER_NEW(p, Binary, lhs->span);
    binary->lhs = lhs;
    binary->op = op;
    binary->rhs = rhs;
    if (is_compare(&binary->node) && gp_tok_info[p->tok.tok].lbp == Power_Compare)
        report_chain(p, op_span, rhs);
    return &binary->node;
}

/* Binary = Prefix {Operator Binary}, by binding power */
static GpNode *parse_binary(GpParser *p, unsigned min_power, unsigned flags) {
    uint32_t outer = p->height;
    p->height = 0;
    GpNode *lhs = gp_parser_enter(p) ? parse_prefix(p, flags) : gp_parser_bad(p);
    uint32_t height = p->height + 1;
    bool is_stmt = (flags & GpExpr_Stmt) && gp_node_is_block_like(lhs);
    while (!is_stmt && !p->parked) {
        unsigned power = gp_tok_info[p->tok.tok].lbp;
        gp_parser_note_expected(p, GpExpect_Operator);
        if (min_power < Power_Prefix && refuse_foreign_operator(p))
            break;
        /* A range takes no range as its operand, and ends before looser operators only. */
        if (power == 0 || power < min_power)
            break;
        p->height = 0;
        lhs = parse_infix(p, lhs, flags);
        height = GP_MAX(height, p->height) + 1;
        if (!gp_parser_grow(p, height))
            break;
    }
    gp_parser_leave(p);
    p->height = GP_MAX(outer, height);
    return lhs;
}

/* Expr = Binary */
GpNode *gp_parse_expr(GpParser *p) { return parse_binary(p, 0, 0); }

GpNode *gp_parse_expr_with(GpParser *p, unsigned flags) { return parse_binary(p, 0, flags); }

/* Closure = ["move"] ("||" | "|" [PatNoOr [":" Type] {"," ..}] "|") (Expr | "->" Type Block) */
static GpNode *parse_closure(GpParser *p, unsigned flags) {
    GpSpan first = gp_parser_span(p);
    GpNodeVec params = {0};
    GpNode *ret = NULL;
    bool is_move = gp_parser_eat(p, GpTok_Move);
    if (!gp_parser_eat(p, GpTok_OrOr)) {
        gp_parser_expect(p, GpTok_Or);
        while (!gp_parser_is(p, GpTok_Or) && !p->parked) {
            GpNodeList attrs = gp_parse_outer_attrs(p);
            GpSpan start = gp_parser_span(p);
            GpNode *pat = gp_parse_pat_no_or(p);
            GpNode *type = gp_parser_eat(p, GpTok_Colon) ? gp_parse_type(p) : NULL;
            GpAstParam *param = GP_PARSER_NEW(p, Param, start);
            param->attrs = attrs;
            param->pat = pat;
            param->type = type;
            GP_PUSH(p->arena, &params, &param->node);
            if (!gp_parser_eat_comma(p, GpTok_Or))
                break;
        }
        gp_parser_expect(p, GpTok_Or);
    }
    if (gp_parser_eat(p, GpTok_Arrow))
        ret = gp_parse_type_no_bounds(p);
    GpNode *body = ret ? gp_parse_block(p, NULL) : parse_binary(p, 0, flags & GpExpr_NoStruct);
    GpAstClosure *closure = GP_PARSER_NEW(p, Closure, first);
    closure->is_move = is_move;
    closure->params = gp_parser_list(&params);
    closure->ret = ret;
    closure->body = body;
    return &closure->node;
}
