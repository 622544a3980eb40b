/* Attributes and documentation comments. */
#include "dsl/parse.h"

/* The text of a doc comment without its marks, as a string literal. */
static GpSym doc_literal(GpParser *p, GpSpan span) {
    const char *text = p->src->text + span.off;
    uint32_t len = span.len - 3, n = 0;
    if (text[1] == '*')
        len -= 2;
    char *out = gp_arena_alloc(p->arena, (size_t)len * 2 + 2);
    out[n++] = '"';
    for (uint32_t i = 0; i < len; i++) {
        char c = text[3 + i];
        if (c == '"' || c == '\\')
            out[n++] = '\\';
        out[n++] = c;
    }
    out[n++] = '"';
    return gp_intern(p->names, out, n);
}

static GpNode *make_word_path(GpParser *p, GpSpan span, GpSym name) {
    GpAstSegment *seg = GP_AST_NEW(p->arena, Segment, span);
    seg->name = name;
    GpAstPath *path = GP_AST_NEW(p->arena, Path, span);
    GpNodeVec segs = {0};
    GP_PUSH(p->arena, &segs, &seg->node);
    path->segments = gp_parser_list(&segs);
    return &path->node;
}

static bool is_inner_doc(const GpParser *p) { return p->src->text[p->tok.off + 2] == '!'; }

static GpNode *parse_doc(GpParser *p) {
    GpSpan span = gp_parser_span(p);
    GpAstAttr *attr = GP_AST_NEW(p->arena, Attr, span);
    attr->is_inner = is_inner_doc(p);
    attr->path = make_word_path(p, span, gp_intern_cstr(p->names, "doc"));
    GpAstLit *lit = GP_AST_NEW(p->arena, Lit, span);
    lit->tok = GpTok_Str;
    lit->text = doc_literal(p, span);
    attr->value = &lit->node;
    gp_parser_bump(p);
    return &attr->node;
}

/* AttrPath = ["::"] Word {"::" Word}, a word being a name, self, super, crate or unsafe */
static GpNode *parse_attr_path(GpParser *p) {
    GpSpan first = gp_parser_span(p);
    GpNodeVec segs = {0};
    bool is_global = gp_parser_eat(p, GpTok_ColonColon);
    do {
        GpTok tok = p->tok.tok;
        GpSpan span = gp_parser_span(p);
        GpSym name;
        if (tok == GpTok_Unsafe || tok == GpTok_SelfVal || tok == GpTok_Super ||
            tok == GpTok_Crate) {
            name = gp_parser_sym(p, span);
            gp_parser_bump(p);
        } else {
            name = gp_parser_expect_name(p);
        }
        GpAstSegment *seg = GP_AST_NEW(p->arena, Segment, span);
        seg->name = name;
        GP_PUSH(p->arena, &segs, &seg->node);
    } while (gp_parser_eat(p, GpTok_ColonColon));
    GpAstPath *path = GP_PARSER_NEW(p, Path, first);
    path->is_global = is_global;
    path->segments = gp_parser_list(&segs);
    return &path->node;
}

/* An expansion's tokens come from several places: their texts, one space between. */
static GpNode *join_tokens(GpParser *p, uint32_t open) {
    GP_VEC(char) text = {0};
    for (uint32_t i = open + 1; i < p->partner[open]; i++) {
        const GpToken *t = &p->toks[i];
        for (uint32_t j = 0; j < t->len; j++)
            GP_PUSH(p->arena, &text, t->src->text[t->off + j]);
        GP_PUSH(p->arena, &text, ' ');
    }
    const GpToken *t = &p->toks[open];
    GpAstTokens *tokens = GP_AST_NEW(p->arena, Tokens, ((GpSpan){t->src, t->off, t->len}));
    tokens->text = gp_intern(p->names, text.len ? text.at : "", text.len ? text.len - 1 : 0);
    return &tokens->node;
}

/* The tokens between the delimiters at `open`, as they were written. */
GpNode *gp_parser_tokens(GpParser *p, uint32_t open) {
    uint32_t close = p->partner[open];
    if (p->is_expansion)
        return join_tokens(p, open);
    uint32_t off = p->toks[open].off + p->toks[open].len, end = p->toks[close].off;
    while (off < end && strchr(" \t\r\n", p->src->text[off]))
        off++;
    while (end > off && strchr(" \t\r\n", p->src->text[end - 1]))
        end--;
    GpSpan span = {p->src, off, end - off};
    GpAstTokens *tokens = GP_AST_NEW(p->arena, Tokens, span);
    tokens->text = gp_parser_sym(p, span);
    return &tokens->node;
}

/* Skips the delimited group at the current token. */
void gp_parser_skip_group(GpParser *p) {
    while (!p->parked && p->at < p->partner[p->at]) {
        uint32_t close = p->partner[p->at];
        p->at = close;
        p->tok = p->toks[close];
    }
    gp_parser_bump(p);
}

bool gp_parse_args_or_back(GpParser *p, GpTok close, GpNodeVec *args, GpNode **repeat) {
    GpParserMark mark = gp_parser_mark(p);
    bool was_quiet = p->is_quiet;
    p->is_quiet = true;
    gp_parser_bump(p);
    GpSpan first = gp_parser_span(p);
    while (!gp_parser_is(p, close) && !p->parked) {
        GpNode *arg = gp_parse_expr(p);
        if (repeat && args->len == 0 && gp_parser_eat(p, GpTok_Semi)) {
            GpNode *count = gp_parse_expr(p);
            GpAstRepeat *made = GP_PARSER_NEW(p, Repeat, first);
            made->value = arg;
            made->count = count;
            *repeat = &made->node;
            break;
        }
        GP_PUSH(p->arena, args, arg);
        if (!gp_parser_eat_comma(p, close))
            break;
    }
    gp_parser_expect(p, close);
    p->is_quiet = was_quiet;
    if (!p->parked)
        return true;
    gp_parser_back(p, mark);
    args->len = 0;
    if (repeat)
        *repeat = NULL;
    return false;
}

/* Meta = AttrPath ["(" Exprs ")" | "=" Expr | Group], or a doc comment, which an expansion has
 * there
 */
GpNode *gp_parse_meta(GpParser *p, GpSpan first, bool is_inner) {
    if (p->tok.tok == GpTok_DocComment)
        return parse_doc(p);
    GpNode *path = parse_attr_path(p), *value = NULL, *tokens = NULL;
    GpNodeVec args = {0};
    if (gp_parser_is(p, GpTok_LParen)) {
        if (!gp_parse_args_or_back(p, GpTok_RParen, &args, NULL)) {
            tokens = gp_parser_tokens(p, p->at);
            gp_parser_skip_group(p);
        }
    } else if (gp_parser_eat(p, GpTok_Eq)) {
        value = gp_parse_expr(p);
    } else if (p->tok.tok == GpTok_LBracket || p->tok.tok == GpTok_LBrace) {
        gp_parser_unsupported(p, gp_parser_span(p), "attributes with `[` or `{`");
        gp_parser_skip_group(p);
    }
    GpAstAttr *attr = GP_PARSER_NEW(p, Attr, first);
    attr->is_inner = is_inner;
    attr->path = path;
    attr->args = gp_parser_list(&args);
    attr->value = value;
    attr->tokens = tokens;
    return &attr->node;
}

/* Attr = "#" ["!"] "[" Meta "]" */
static GpNode *parse_attr(GpParser *p) {
    if (p->tok.tok == GpTok_DocComment)
        return parse_doc(p);
    GpSpan first = gp_parser_span(p);
    gp_parser_expect(p, GpTok_Pound);
    bool is_inner = gp_parser_eat(p, GpTok_Not);
    gp_parser_expect(p, GpTok_LBracket);
    GpNode *attr = gp_parse_meta(p, first, is_inner);
    gp_parser_expect(p, GpTok_RBracket);
    attr->span = gp_parser_since(p, first);
    return attr;
}

static bool at_inner_attr(const GpParser *p) {
    if (p->tok.tok == GpTok_DocComment)
        return is_inner_doc(p);
    return p->tok.tok == GpTok_Pound && gp_parser_peek(p, 1) == GpTok_Not &&
           gp_parser_peek(p, 2) == GpTok_LBracket;
}

GpNodeList gp_parse_outer_attrs(GpParser *p) {
    GpNodeVec attrs = {0};
    bool has_reported = false; /* once for a run of them */
    while (p->tok.tok == GpTok_Pound || p->tok.tok == GpTok_DocComment) {
        bool is_inner = at_inner_attr(p);
        GpNode *attr = parse_attr(p);
        GP_PUSH(p->arena, &attrs, attr);
        if (is_inner && !has_reported && gp_parser_may_report(p)) {
            has_reported = true;
            GpDiag *d = gp_diag(p->diags, GpDiag_G0012, attr->span);
            gp_note(d, "inner attributes, like `#![..]` and `//!`, annotate what encloses them and "
                       "stand first in it");
        }
    }
    return gp_parser_list(&attrs);
}

void gp_parse_inner_attrs(GpParser *p, GpNodeVec *out) {
    while (!p->parked && at_inner_attr(p)) {
        GpNode *attr = parse_attr(p);
        GP_PUSH(p->arena, out, attr);
    }
}

GpNodeList gp_parser_join(GpParser *p, GpNodeList a, GpNodeList b) {
    if (a.len == 0)
        return b;
    if (b.len == 0)
        return a;
    GpNode **at = GP_NEW_ARRAY(p->arena, GpNode *, (size_t)a.len + b.len);
    memcpy(at, a.at, a.len * sizeof *at);
    memcpy(at + a.len, b.at, b.len * sizeof *at);
    return (GpNodeList){at, a.len + b.len};
}

bool gp_parser_report_lost_attrs(GpParser *p, GpNodeList attrs, const char *what) {
    if (attrs.len == 0 || !gp_parser_may_report(p))
        return false;
    GpNode *last = attrs.at[attrs.len - 1];
    if (last->span.src->text[last->span.off] != '#') {
        GpDiag *d = gp_diag(p->diags, GpDiag_E0585, last->span);
        gp_primary_label(d, "this doc comment doesn't document anything");
        gp_help(
            d,
            "doc comments must come before what they document, if a comment was intended use `//`");
        return true;
    }
    gp_primary_label(gp_diag(p->diags, GpDiag_G0011, last->span, what, "attributes"),
                     "nothing follows that it could annotate");
    return true;
}
