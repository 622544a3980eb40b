/* The parser's driver: looking, moving, errors, recovery. The grammar is in the other files. */
#include "dsl/parse.h"

/* Looking */

GpTok gp_parser_peek(const GpParser *p, uint32_t ahead) {
    if (p->parked || ahead == 0)
        return p->tok.tok;
    return p->toks[GP_MIN(p->at + ahead, p->count - 1)].tok;
}

void gp_parser_note_expected(GpParser *p, unsigned what) {
    p->expected[what / 64] |= UINT64_C(1) << (what % 64);
}

bool gp_parser_is(GpParser *p, GpTok tok) {
    if (p->tok.tok == tok)
        return true;
    gp_parser_note_expected(p, (unsigned)tok);
    return false;
}

bool gp_parser_is_punct(GpParser *p, GpTok tok) {
    const char *want = gp_tok_info[tok].spelling, *have = gp_tok_info[p->tok.tok].spelling;
    if (gp_tok_info[p->tok.tok].cls == GpTokClass_Punct && strncmp(want, have, strlen(want)) == 0) {
        return true;
    }
    gp_parser_note_expected(p, (unsigned)tok);
    return false;
}

bool gp_parser_is_weak(const GpParser *p, uint32_t ahead, GpTok weak) {
    if (gp_parser_peek(p, ahead) != GpTok_Name)
        return false;
    const GpToken *t = ahead == 0 ? &p->tok : &p->toks[p->at + ahead];
    const char *want = gp_tok_info[weak].spelling;
    return t->len == strlen(want) && memcmp(t->src->text + t->off, want, t->len) == 0;
}

bool gp_parser_is_tight(const GpParser *p, uint32_t ahead) {
    return !p->toks[GP_MIN(p->at + ahead, p->count - 1)].space_before;
}

GpSpan gp_parser_span(const GpParser *p) {
    const GpToken *t = p->parked ? &p->toks[p->at] : &p->tok;
    return (GpSpan){t->src, t->off, t->len};
}

GpSpan gp_parser_since(const GpParser *p, GpSpan first) {
    if (p->prev.src == first.src && p->prev.off < first.off)
        return first;
    return gp_span_join(first, p->prev);
}

GpSym gp_parser_sym(GpParser *p, GpSpan span) {
    return gp_intern(p->names, span.src->text + span.off, span.len);
}

/* Moving */

static void forget_expected(GpParser *p) { memset(p->expected, 0, sizeof p->expected); }

static void go_to(GpParser *p, uint32_t index) {
    p->at = index;
    p->tok = p->toks[index];
    p->src = p->tok.src;
    forget_expected(p);
}

void gp_parser_start(GpParser *p) {
    go_to(p, 0);
    p->prev = (GpSpan){p->src, p->tok.off, 0};
}

void gp_parser_bump(GpParser *p) {
    if (p->parked)
        return;
    p->prev = gp_parser_span(p);
    go_to(p, GP_MIN(p->at + 1, p->count - 1));
}

bool gp_parser_eat(GpParser *p, GpTok tok) {
    if (!gp_parser_is(p, tok))
        return false;
    gp_parser_bump(p);
    return true;
}

bool gp_parser_eat_punct(GpParser *p, GpTok tok) {
    if (!gp_parser_is_punct(p, tok))
        return false;
    uint32_t len = (uint32_t)strlen(gp_tok_info[tok].spelling);
    if (p->tok.tok == tok) {
        gp_parser_bump(p);
        return true;
    }
    p->prev = (GpSpan){p->src, p->tok.off, len};
    p->tok.off += len;
    p->tok.len -= len;
    p->tok.space_before = false;
    p->tok.tok = gp_tok_punct(p->src->text + p->tok.off, p->tok.len);
    forget_expected(p);
    return true;
}

bool gp_parser_expect(GpParser *p, GpTok tok) {
    if (gp_parser_eat(p, tok))
        return true;
    gp_parser_unexpected(p);
    return false;
}

bool gp_parser_expect_punct(GpParser *p, GpTok tok) {
    if (gp_parser_eat_punct(p, tok))
        return true;
    gp_parser_unexpected(p);
    return false;
}

GpSym gp_parser_expect_name(GpParser *p) {
    GpSpan span = gp_parser_span(p);
    if (gp_parser_eat(p, GpTok_Name)) {
        bool is_raw = span.len > 2 && memcmp(p->src->text + span.off, "r#", 2) == 0;
        if (is_raw)
            span.off += 2, span.len -= 2;
        return gp_parser_sym(p, span);
    }
    GpTokClass cls = gp_tok_info[p->tok.tok].cls;
    bool is_escapable = (cls == GpTokClass_Keyword || cls == GpTokClass_Reserved) &&
                        p->tok.tok != GpTok_SelfVal && p->tok.tok != GpTok_SelfTy &&
                        p->tok.tok != GpTok_Super && p->tok.tok != GpTok_Crate;
    const char *word = gp_tok_info[p->tok.tok].spelling;
    GpDiag *d = gp_parser_expected(p, "identifier");
    if (d && is_escapable) {
        gp_suggest(d, (GpSpan){p->src, span.off, 0}, "r#", "escape `%s` to use it as an identifier",
                   word);
    }
    return NULL;
}

bool gp_parser_eat_comma(GpParser *p, GpTok close) {
    if (gp_parser_eat(p, GpTok_Comma))
        return true;
    if (gp_parser_is_punct(p, close))
        return false;
    gp_parser_unexpected(p);
    return false;
}

GpParserMark gp_parser_mark(const GpParser *p) {
    return (GpParserMark){p->at, p->tok, p->prev, p->depth, p->height};
}

void gp_parser_back(GpParser *p, GpParserMark mark) {
    if (p->gave_up)
        return;
    go_to(p, mark.at);
    p->tok = mark.tok;
    p->prev = mark.prev;
    p->depth = mark.depth;
    p->height = mark.height;
    p->parked = false;
}

static void report_depth(GpParser *p, unsigned limit) {
    if (!p->parked) {
        GpDiag *d = gp_diag(p->diags, GpDiag_G0010, gp_parser_span(p));
        gp_primary_label(d, "more than %u levels", limit);
    }
    p->gave_up = true;
    gp_parser_park(p);
}

bool gp_parser_enter(GpParser *p) {
    bool is_in = p->depth++ < GP_MAX_DEPTH;
    if (!is_in)
        report_depth(p, GP_MAX_DEPTH);
    return is_in;
}

bool gp_parser_grow(GpParser *p, uint32_t height) {
    p->height = height;
    if (height <= GP_MAX_HEIGHT)
        return true;
    report_depth(p, GP_MAX_HEIGHT);
    return false;
}

void gp_parser_leave(GpParser *p) { p->depth--; }

/* Errors */

void gp_parser_park(GpParser *p) {
    p->parked = true;
    p->tok.tok = GpTok_End;
}

bool gp_parser_may_report(GpParser *p) {
    if (!p->parked && !p->is_quiet)
        return true;
    gp_parser_park(p);
    return false;
}

static const char *describe_token(GpParser *p, const GpToken *t) {
    const char *text = gp_arena_copy(p->arena, t->src->text + t->off, GP_MIN(t->len, 60u));
    if (t->tok == GpTok_End)
        return p->is_expansion ? "end of macro arguments" : "end of input";
    if (t->tok == GpTok_DocComment)
        return gp_arena_printf(p->arena, "doc comment `%s`", text);
    if (t->len == 1 && *text == '_')
        return "reserved identifier `_`";
    switch (gp_tok_info[t->tok].cls) {
    case GpTokClass_Keyword:
        return gp_arena_printf(p->arena, "keyword `%s`", text);
    case GpTokClass_Reserved:
        return gp_arena_printf(p->arena, "reserved keyword `%s`", text);
    case GpTokClass_Special:
    case GpTokClass_Weak:
    case GpTokClass_Punct:
        break;
    }
    return gp_arena_printf(p->arena, "`%s`", text);
}

const char *gp_parser_describe(GpParser *p, uint32_t ahead) {
    return describe_token(
        p, ahead == 0 && !p->parked ? &p->tok : &p->toks[GP_MIN(p->at + ahead, p->count - 1)]);
}

static bool is_on_new_line(const GpParser *p, uint32_t from, uint32_t to) {
    return to > from && memchr(p->src->text + from, '\n', to - from) != NULL;
}

/* An invalid token was reported by the lexer: the parser adds nothing about it. */
static bool is_reported(const GpParser *p) { return p->toks[p->at].tok == GpTok_Error; }

/* Reports at the current token; where it stands on a later line, the label that says what
** should have come goes behind the previous token, where it would be written. */
static GpDiag *report_expected(GpParser *p, const char *what, const char *label) {
    GpSpan span = gp_parser_span(p);
    GpDiag *d = gp_diag(p->diags, GpDiag_G0001, span, what, gp_parser_describe(p, 0));
    uint32_t prev_end = p->prev.off + p->prev.len;
    if (p->prev.src == span.src && is_on_new_line(p, prev_end, span.off)) {
        gp_primary_label(d, "unexpected token");
        gp_label(d, (GpSpan){p->prev.src, prev_end, 0}, "%s", label);
    } else {
        gp_primary_label(d, "%s", label);
    }
    gp_parser_help_foreign(p, d, what);
    return d;
}

GpDiag *gp_parser_expected(GpParser *p, const char *what) {
    GpDiag *d = NULL;
    if (is_reported(p))
        gp_parser_park(p);
    if (gp_parser_may_report(p)) {
        d = report_expected(p, what, gp_arena_printf(p->arena, "expected %s", what));
    }
    gp_parser_park(p);
    return d;
}

static const char *expected_name(GpParser *p, unsigned what) {
    static const char *const names[] = {
        [GpExpect_Operator - GpTok_count] = "an operator",
        [GpExpect_Expr - GpTok_count] = "expression",
        [GpExpect_Type - GpTok_count] = "type",
        [GpExpect_Pattern - GpTok_count] = "pattern",
        [GpExpect_Path - GpTok_count] = "path",
        [GpExpect_Item - GpTok_count] = "item",
    };
    if (what >= GpTok_count)
        return names[what - GpTok_count];
    const GpTokInfo *info = &gp_tok_info[what];
    return info->cls == GpTokClass_Special ? info->spelling
                                           : gp_arena_printf(p->arena, "`%s`", info->spelling);
}

void gp_parser_unexpected(GpParser *p) {
    if (is_reported(p))
        gp_parser_park(p);
    if (!gp_parser_may_report(p))
        return;
    const char *names[GpExpect_count];
    uint32_t n = 0;
    for (unsigned i = 0; i < GpExpect_count; i++) {
        if (!(p->expected[i / 64] >> (i % 64) & 1))
            continue;
        const char *name = expected_name(p, i);
        uint32_t at = n++;
        for (; at > 0 && strcmp(names[at - 1], name) > 0; at--)
            names[at] = names[at - 1];
        names[at] = name;
    }
    const char *list = n > 1 ? "one of " : "";
    for (uint32_t i = 0; i < n; i++) {
        const char *join = i == 0 ? "" : n == 2 ? " or " : i == n - 1 ? ", or " : ", ";
        list = gp_arena_printf(p->arena, "%s%s%s", list, join, names[i]);
    }
    const char *label = n > 6 ? gp_arena_printf(p->arena, "expected one of %u possible tokens", n)
                              : gp_arena_printf(p->arena, "expected %s", list);
    report_expected(p, list, label);
    gp_parser_park(p);
}

void gp_parser_unsupported(GpParser *p, GpSpan span, const char *what) {
    if (!gp_parser_may_report(p))
        return;
    gp_primary_label(gp_diag(p->diags, GpDiag_G0008, span, what), "not supported");
}

/* Recovery */

/* Tokens that begin a statement or item when they begin a line. */
static bool begins_member(GpTok tok) {
    static const GpTok starts[] = {
        GpTok_Let,    GpTok_Fn,     GpTok_Pub,   GpTok_Struct,     GpTok_Enum,   GpTok_Impl,
        GpTok_Trait,  GpTok_Mod,    GpTok_Use,   GpTok_Const,      GpTok_Static, GpTok_Type,
        GpTok_If,     GpTok_For,    GpTok_While, GpTok_Loop,       GpTok_Match,  GpTok_Return,
        GpTok_Unsafe, GpTok_Extern, GpTok_Pound, GpTok_DocComment, GpTok_Break,  GpTok_Continue,
    };
    for (size_t i = 0; i < GP_COUNT(starts); i++) {
        if (starts[i] == tok)
            return true;
    }
    return false;
}

static bool starts_line(const GpParser *p, uint32_t i) {
    return i == 0 || is_on_new_line(p, p->toks[i - 1].off + p->toks[i - 1].len, p->toks[i].off);
}

/* After a brace group at the member's own level: does the member go on? */
static bool goes_on(GpTok tok) {
    return tok == GpTok_Else || tok == GpTok_Dot || tok == GpTok_Question || tok == GpTok_Comma ||
           tok == GpTok_As || tok == GpTok_Eq || tok == GpTok_RParen;
}

static uint32_t indentation(const GpParser *p, uint32_t i) {
    const GpSource *src = p->toks[i].src;
    uint32_t line = gp_source_line_index(src, p->toks[i].off);
    return (uint32_t)strspn(src->text + src->line_starts[line], " \t");
}

/* A member may begin at token i: nothing of the broken one can follow. Lines indented deeper
** than the broken member's first one belong to it. */
static bool is_boundary(const GpParser *p, uint32_t i, uint32_t start, uint32_t close) {
    return i == close || (starts_line(p, i) && indentation(p, i) <= indentation(p, start));
}

/* After token i - 1, at the member's own level: has the member that broke at `error` ended? */
static bool has_ended(const GpParser *p, uint32_t i, uint32_t error, uint32_t start, uint32_t close,
                      GpTok sep) {
    GpTok last = p->toks[i - 1].tok, next = p->toks[i].tok;
    if (i <= error)
        return false;
    if (last == GpTok_Semi && sep == last)
        return i - 1 > error || is_boundary(p, i, start, close);
    if (last == GpTok_Comma && sep == last)
        return is_boundary(p, i, start, close);
    if (last == GpTok_RBrace && sep == GpTok_Semi)
        return is_boundary(p, i, start, close) && !goes_on(next);
    return begins_member(next) && sep == GpTok_Semi && is_boundary(p, i, start, close);
}

void gp_parser_recover(GpParser *p, uint32_t start, uint32_t close, GpTok sep) {
    if (!p->parked || p->is_quiet || p->gave_up)
        return;
    uint32_t error = GP_MIN(p->at, close), i = start;
    /* The token where a statement was expected to end may begin the next one. */
    bool is_here = error > start && sep == GpTok_Semi && begins_member(p->toks[error].tok) &&
                   is_boundary(p, error, start, close);
    while (i < close && !(is_here && i == error)) {
        i = GP_MAX(i, p->partner[i]) + 1;
        if (has_ended(p, i, error, start, close, sep))
            break;
    }
    p->parked = false;
    go_to(p, GP_MIN(i, close));
    if (p->at > 0)
        p->prev = (GpSpan){p->toks[p->at - 1].src, p->toks[p->at - 1].off, p->toks[p->at - 1].len};
}

bool gp_parser_expect_semi(GpParser *p) {
    if (gp_parser_eat(p, GpTok_Semi))
        return true;
    uint32_t prev_end = p->prev.off + p->prev.len;
    bool is_line_end =
        p->tok.tok == GpTok_RBrace || (is_on_new_line(p, prev_end, p->tok.off) &&
                                       (begins_member(p->tok.tok) || gp_parser_at_expr(p)));
    if (!is_line_end || is_reported(p)) {
        gp_parser_unexpected(p);
        return false;
    }
    if (!gp_parser_may_report(p))
        return false;
    GpSpan gap = {p->prev.src, prev_end, 0};
    GpDiag *d = gp_diag(p->diags, GpDiag_G0001, gap, "`;`", gp_parser_describe(p, 0));
    gp_primary_label(d, "expected `;`");
    gp_label(d, gp_parser_span(p), "unexpected token");
    gp_suggest(d, gap, ";", "add `;` here");
    forget_expected(p);
    return true;
}

/* Building */

GpNodeList gp_parser_list(const GpNodeVec *v) { return (GpNodeList){v->at, v->len}; }

GpNode *gp_parser_bad(GpParser *p) {
    GpAstBad *bad = GP_AST_NEW(p->arena, Bad, gp_parser_span(p));
    bad->is_bad = true;
    return &bad->node;
}

GpAstFile *gp_parse_file(GpParse *in, GpSource *src) {
    GpParser p = {.arena = in->arena,
                  .names = in->names,
                  .diags = in->diags,
                  .macros = in->macros,
                  .src = src};
    GpAstFile *file = GP_AST_NEW(p.arena, File, ((GpSpan){src, 0, src->len}));
    if (!gp_parser_read_tokens(&p))
        return file;
    gp_parser_start(&p);
    p.prev = (GpSpan){src, 0, 0};
    GpNodeVec attrs = {0}, items = {0};
    gp_parse_inner_attrs(&p, &attrs);
    gp_parse_items(&p, p.count - 1, &items);
    file->attrs = gp_parser_list(&attrs);
    file->items = gp_parser_list(&items);
    return file;
}
