/* Operands: literals, paths, groups, struct literals, and the postfix operators. */
#include "dsl/macro.h"
#include "dsl/parse.h"

static bool is_number_suffix(const char *at, size_t len) {
    static const char *const names[] = {"i8",  "i16", "i32",  "i64",   "i128", "isize", "u8", "u16",
                                        "u32", "u64", "u128", "usize", "f16",  "f32",   "f64"};
    for (size_t i = 0; i < GP_COUNT(names); i++) {
        if (strlen(names[i]) == len && memcmp(names[i], at, len) == 0)
            return true;
    }
    return false;
}

/* `1.0f`, `1u`, `1L`: what is meant. */
static const char *suffix_of_c(GpTok tok, const char *text) {
    static const char *const rows[][2] = {{"f", "f32"}, {"F", "f32"}, {"u", "u32"}, {"U", "u32"},
                                          {"l", "i64"}, {"L", "i64"}, {"ul", "u64"}, {"UL", "u64"}};
    for (size_t i = 0; i < GP_COUNT(rows); i++)
        if (strcmp(rows[i][0], text) == 0 && (tok == GpTok_Int || rows[i][1][0] == 'f'))
            return rows[i][1];
    return NULL;
}

static void check_suffix(GpParser *p, GpTok tok, GpSpan suffix) {
    if (suffix.len == 0)
        return;
    const char *text = gp_parser_sym(p, suffix)->name;
    bool is_number = tok == GpTok_Int || tok == GpTok_Float;
    bool is_good = is_number && is_number_suffix(text, suffix.len) &&
                   (tok == GpTok_Int || text[0] == 'f');
    if (is_good || !gp_parser_may_report(p))
        return;
    if (!is_number) {
        const char *kind = tok == GpTok_Str       ? "string"
                           : tok == GpTok_ByteStr ? "byte string"
                                                  : "char";
        gp_primary_label(gp_diag(p->diags, GpDiag_G0017, suffix, kind), "invalid suffix `%s`",
                         text);
    } else {
        GpDiag *d = gp_diag(p->diags, GpDiag_G0018, suffix, text);
        const char *here = suffix_of_c(tok, text);
        gp_primary_label(d, "invalid suffix `%s`", text);
        if (here)
            gp_suggest(d, suffix, here, "the type is called `%s` here", here);
        else
            gp_help(d, "the suffix must be one of the numeric types (`u32`, `isize`, `f32`, etc.)");
    }
}

/* Literal = Int | Float | Str | ByteStr | Char | Byte | "true" | "false" */
GpNode *gp_parse_lit(GpParser *p) {
    GpTok tok = p->tok.tok;
    bool is_lit = tok == GpTok_Int || tok == GpTok_Float || tok == GpTok_Str ||
                  tok == GpTok_ByteStr || tok == GpTok_Char || tok == GpTok_Byte ||
                  tok == GpTok_True || tok == GpTok_False;
    if (!is_lit)
        return NULL;
    GpSpan span = gp_parser_span(p), suffix = span;
    suffix.len = p->tok.suffix;
    suffix.off = span.off + span.len - suffix.len;
    GpAstLit *lit = GP_AST_NEW(p->arena, Lit, span);
    lit->tok = tok;
    lit->text = gp_parser_sym(p, (GpSpan){p->src, span.off, span.len - suffix.len});
    lit->suffix = suffix.len > 0 ? gp_parser_sym(p, suffix) : NULL;
    check_suffix(p, tok, suffix);
    gp_parser_bump(p);
    return &lit->node;
}

/* NegLiteral = ["-"] Literal */
GpNode *gp_parse_neg_lit(GpParser *p) {
    GpTok next = gp_parser_peek(p, 1);
    if (p->tok.tok != GpTok_Minus)
        return gp_parse_lit(p);
    if (next != GpTok_Int && next != GpTok_Float)
        return NULL;
    GpSpan first = gp_parser_span(p);
    gp_parser_bump(p);
    GpNode *operand = gp_parse_lit(p);
    GpAstUnary *unary = GP_PARSER_NEW(p, Unary, first);
    unary->op = GpTok_Minus;
    unary->operand = operand;
    return &unary->node;
}

/* Exprs = [Expr {"," Expr} [","]], up to and with close; true when the last comma was there. */
static bool parse_exprs(GpParser *p, GpTok close, GpNodeVec *out) {
    bool has_comma = false;
    while (!gp_parser_is(p, close) && !p->parked) {
        GpNode *arg = gp_parse_expr(p);
        GP_PUSH(p->arena, out, arg);
        has_comma = gp_parser_eat_comma(p, close);
        if (!has_comma)
            break;
    }
    gp_parser_expect(p, close);
    return has_comma;
}

/* Paren = "(" Expr ")"; Tuple = "(" [Expr "," {Expr ","} [Expr]] ")" */
static GpNode *parse_paren(GpParser *p) {
    GpSpan first = gp_parser_span(p);
    GpNodeVec items = {0};
    gp_parser_expect(p, GpTok_LParen);
    bool has_comma = parse_exprs(p, GpTok_RParen, &items);
    if (items.len == 1 && !has_comma) {
        GpAstParen *paren = GP_PARSER_NEW(p, Paren, first);
        paren->operand = items.at[0];
        return &paren->node;
    }
    GpAstTuple *tuple = GP_PARSER_NEW(p, Tuple, first);
    tuple->items = gp_parser_list(&items);
    return &tuple->node;
}

/* Array = "[" Exprs "]"; Repeat = "[" Expr ";" Expr "]" */
static GpNode *parse_array(GpParser *p) {
    GpSpan first = gp_parser_span(p);
    GpNodeVec items = {0};
    gp_parser_expect(p, GpTok_LBracket);
    if (!gp_parser_is(p, GpTok_RBracket)) {
        GpNode *value = gp_parse_expr(p);
        if (gp_parser_eat(p, GpTok_Semi)) {
            GpNode *count = gp_parse_expr(p);
            gp_parser_expect(p, GpTok_RBracket);
            GpAstRepeat *repeat = GP_PARSER_NEW(p, Repeat, first);
            repeat->value = value;
            repeat->count = count;
            return &repeat->node;
        }
        GP_PUSH(p->arena, &items, value);
        if (gp_parser_eat_comma(p, GpTok_RBracket))
            parse_exprs(p, GpTok_RBracket, &items);
        else
            gp_parser_expect(p, GpTok_RBracket);
    } else {
        gp_parser_bump(p);
    }
    GpAstArray *array = GP_PARSER_NEW(p, Array, first);
    array->items = gp_parser_list(&items);
    return &array->node;
}

/* FieldInit = {Attr} ((Name | Int) ":" Expr | Name) */
static GpNode *parse_field_init(GpParser *p) {
    GpNodeList attrs = gp_parse_outer_attrs(p);
    GpSpan first = gp_parser_span(p);
    GpSym name;
    GpNode *value = NULL;
    bool is_index = gp_parser_eat(p, GpTok_Int);
    if (is_index)
        name = gp_parser_sym(p, first);
    else
        name = gp_parser_expect_name(p);
    if (p->tok.tok == GpTok_Eq && gp_parser_may_report(p)) {
        GpSpan span = gp_parser_span(p);
        GpDiag *d = gp_diag(p->diags, GpDiag_G0001, span, "`:`", "`=`");
        gp_suggest(d, span, ":", "replace equals symbol with a colon");
        gp_parser_bump(p);
        value = gp_parse_expr(p);
    } else if (is_index ? gp_parser_expect(p, GpTok_Colon) : gp_parser_eat(p, GpTok_Colon)) {
        value = gp_parse_expr(p);
    }
    GpAstFieldInit *field = GP_PARSER_NEW(p, FieldInit, first);
    field->attrs = attrs;
    field->name = name;
    field->value = value;
    return &field->node;
}

/* StructLit = Path "{" [FieldInit {"," FieldInit}] [","] [".." Expr] "}" */
static GpNode *parse_struct_lit(GpParser *p, GpNode *path) {
    GpNodeVec fields = {0};
    GpNode *base = NULL;
    gp_parser_expect(p, GpTok_LBrace);
    while (!gp_parser_is(p, GpTok_RBrace) && !p->parked) {
        if (gp_parser_eat(p, GpTok_DotDot)) {
            base = gp_parse_expr(p);
            break;
        }
        GpNode *field = parse_field_init(p);
        GP_PUSH(p->arena, &fields, field);
        if (!gp_parser_eat_comma(p, GpTok_RBrace))
            break;
    }
    gp_parser_expect(p, GpTok_RBrace);
    GpAstStructLit *lit = GP_PARSER_NEW(p, StructLit, path->span);
    lit->path = path;
    lit->fields = gp_parser_list(&fields);
    lit->base = base;
    return &lit->node;
}

/* In a condition: `S { a: 1 } {` is surely a struct literal and not the block. */
static bool is_misplaced_struct(const GpParser *p) {
    return gp_parser_peek(p, 1) == GpTok_Name && gp_parser_peek(p, 2) == GpTok_Colon &&
           p->toks[GP_MIN(p->partner[p->at] + 1, p->count - 1)].tok == GpTok_LBrace;
}

/* PathExpr = Path | StructLit | MacroCall */
static GpNode *parse_path_expr(GpParser *p, unsigned flags) {
    GpSpan first = gp_parser_span(p);
    GpNode *path = gp_parse_path(p, GpPath_Expr);
    bool is_macro = gp_parser_is(p, GpTok_Not) && (gp_parser_peek(p, 1) == GpTok_LParen ||
                                                   gp_parser_peek(p, 1) == GpTok_LBracket ||
                                                   gp_parser_peek(p, 1) == GpTok_LBrace);
    if (is_macro)
        return gp_parse_macro(p, path);
    if (p->tok.tok == GpTok_LBrace && (flags & GpExpr_NoStruct) && is_misplaced_struct(p)) {
        GpNode *lit = parse_struct_lit(p, path);
        if (gp_parser_may_report(p)) {
            GpDiag *d = gp_diag(p->diags, GpDiag_G0013, lit->span);
            gp_suggest(d, lit->span,
                       gp_arena_printf(p->arena, "(%.*s)", (int)lit->span.len,
                                       p->src->text + lit->span.off),
                       "surround the struct literal with parentheses");
        }
        return lit;
    }
    if (!(flags & GpExpr_NoStruct) && gp_parser_is(p, GpTok_LBrace))
        return parse_struct_lit(p, path);
    GpAstPathExpr *e = GP_PARSER_NEW(p, PathExpr, first);
    e->path = path;
    return &e->node;
}

static GpNode *parse_wild(GpParser *p) {
    GpAstWild *wild = GP_AST_NEW(p->arena, Wild, gp_parser_span(p));
    wild->is_wild = true;
    gp_parser_bump(p);
    return &wild->node;
}

/* Primary = Literal | PathExpr | Paren | Tuple | Array | Block | If | Match | Loop | "_" */
GpNode *gp_parse_primary(GpParser *p, unsigned flags) {
    GpTok tok = p->tok.tok;
    GpNode *lit = gp_parse_lit(p);
    if (lit)
        return lit;
    if (tok == GpTok_LParen)
        return parse_paren(p);
    if (tok == GpTok_LBracket)
        return parse_array(p);
    if (tok == GpTok_If)
        return gp_parse_if(p);
    if (tok == GpTok_Match)
        return gp_parse_match(p);
    if (tok == GpTok_While || tok == GpTok_Loop || tok == GpTok_For || tok == GpTok_Lifetime ||
        tok == GpTok_LBrace ||
        ((tok == GpTok_Unsafe || tok == GpTok_Const) && gp_parser_peek(p, 1) == GpTok_LBrace)) {
        return gp_parse_loop(p);
    }
    if (tok == GpTok_Name && p->tok.len == 1 && p->src->text[p->tok.off] == '_')
        return parse_wild(p);
    if (gp_parser_at_path(p))
        return parse_path_expr(p, flags);
    if (gp_parser_at_fragment(p, GP_FRAGMENT_EXPRS))
        return gp_parse_fragment(p, GpFragment_Expr);
    if (tok == GpTok_Async) {
        gp_parser_unsupported(p, gp_parser_span(p), "`async` blocks and closures");
        gp_parser_park(p);
    }
    memset(p->expected, 0, sizeof p->expected);
    gp_parser_expected(p, "expression");
    return gp_parser_bad(p);
}

static GpNode *make_field(GpParser *p, GpNode *base, GpSpan first, GpSpan name) {
    GpAstField *field = GP_AST_NEW(p->arena, Field, gp_span_join(first, name));
    field->base = base;
    field->name = gp_parser_sym(p, name);
    return &field->node;
}

/* TupleField = Int | Float, where `.0.1` was read as a float and stands for two fields */
static GpNode *parse_tuple_field(GpParser *p, GpNode *base, GpSpan first) {
    GpSpan span = gp_parser_span(p);
    const char *text = p->src->text + span.off;
    uint32_t digits = (uint32_t)strspn(text, "0123456789"), rest = 0;
    if (p->tok.tok == GpTok_Float && text[digits] == '.')
        rest = (uint32_t)strspn(text + digits + 1, "0123456789");
    uint32_t used = rest > 0 ? digits + 1 + rest : p->tok.tok == GpTok_Float ? digits + 1 : digits;
    if (used != span.len) {
        gp_parser_expected(p, "identifier");
        return base;
    }
    GpNode *field = make_field(p, base, first, (GpSpan){p->src, span.off, digits});
    gp_parser_bump(p);
    if (rest > 0)
        return make_field(p, field, first, (GpSpan){p->src, span.off + digits + 1, rest});
    /* `t.0.` + name was read as the float `0.`: cannot be, the lexer looks one ahead. */
    if (used > digits)
        gp_parser_expected(p, "identifier");
    return field;
}

/* Member = Name ["::" "<" GenericArgs] "(" Exprs ")" | Name | TupleField, after the dot */
static GpNode *parse_member(GpParser *p, GpNode *base, GpSpan first) {
    GpSpan name_span = gp_parser_span(p);
    if (p->tok.tok == GpTok_Int || p->tok.tok == GpTok_Float)
        return parse_tuple_field(p, base, first);
    if (p->tok.tok == GpTok_Await) {
        gp_parser_unsupported(p, name_span, "`await` expressions");
        gp_parser_bump(p);
        return base;
    }
    GpSym name = gp_parser_expect_name(p);
    GpNodeList generics = {0};
    GpTok next = gp_parser_peek(p, 1);
    bool has_generics = p->tok.tok == GpTok_ColonColon && (next == GpTok_Less || next == GpTok_Shl);
    if (has_generics) {
        gp_parser_bump(p);
        gp_parser_eat_punct(p, GpTok_Less);
        generics = gp_parse_generic_args(p);
    }
    if (!has_generics && !gp_parser_is(p, GpTok_LParen)) {
        GpAstField *field = GP_PARSER_NEW(p, Field, first);
        field->base = base;
        field->name = name;
        return &field->node;
    }
    GpNodeVec args = {0};
    if (gp_parser_expect(p, GpTok_LParen))
        parse_exprs(p, GpTok_RParen, &args);
    GpAstMethodCall *call = GP_PARSER_NEW(p, MethodCall, first);
    call->receiver = base;
    call->name = name;
    call->has_generics = has_generics;
    call->generics = generics;
    call->args = gp_parser_list(&args);
    return &call->node;
}

static GpNode *parse_call(GpParser *p, GpNode *callee, GpSpan first) {
    GpNodeVec args = {0};
    gp_parser_bump(p);
    parse_exprs(p, GpTok_RParen, &args);
    GpAstCall *call = GP_PARSER_NEW(p, Call, first);
    call->callee = callee;
    call->args = gp_parser_list(&args);
    return &call->node;
}

static GpNode *parse_index(GpParser *p, GpNode *base, GpSpan first) {
    gp_parser_bump(p);
    GpNode *at = gp_parse_expr(p);
    gp_parser_expect(p, GpTok_RBracket);
    GpAstIndex *index = GP_PARSER_NEW(p, Index, first);
    index->base = base;
    index->index = at;
    return &index->node;
}

static GpNode *make_try(GpParser *p, GpNode *operand, GpSpan first) {
    gp_parser_bump(p);
    GpAstTry *try = GP_PARSER_NEW(p, Try, first);
    try->operand = operand;
    return &try->node;
}

/* Postfix = "." Member | "(" Exprs ")" | "[" Expr "]" | "?" */
GpNode *gp_parse_postfix(GpParser *p, GpNode *base, GpSpan first) {
    while (!p->parked) {
        if (gp_parser_eat(p, GpTok_Dot))
            base = parse_member(p, base, first);
        else if (gp_parser_is(p, GpTok_Question))
            base = make_try(p, base, first);
        else if (p->tok.tok == GpTok_LParen)
            base = parse_call(p, base, first);
        else if (p->tok.tok == GpTok_LBracket)
            base = parse_index(p, base, first);
        else
            break;
        if (!gp_parser_grow(p, p->height + 1))
            break;
    }
    return base;
}
