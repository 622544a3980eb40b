/* Reads all tokens and pairs the delimiters. Broken nesting is reported here, once, and stops
** the parse: whatever came after it would be read in the wrong place. The parser may rely on
** every opening token having a partner, properly nested. */
#include "dsl/parse.h"

typedef struct GpPairing {
    GpParser *p;
    GpToken *toks;
    uint32_t *partner;
    uint32_t count;
    GP_VEC(uint32_t) open; /* indices of the delimiters that are open */
    uint32_t odd_open;     /* the first pair closed at another indentation; 0 0 without one */
    uint32_t odd_close;
    bool is_broken;
} GpPairing;

static GpTok closer_of(GpTok tok) {
    return tok == GpTok_LParen     ? GpTok_RParen
           : tok == GpTok_LBracket ? GpTok_RBracket
           : tok == GpTok_LBrace   ? GpTok_RBrace
                                   : GpTok_End;
}

static bool is_closer(GpTok tok) {
    return tok == GpTok_RParen || tok == GpTok_RBracket || tok == GpTok_RBrace;
}

static GpSpan token_span(const GpPairing *q, uint32_t i) {
    return (GpSpan){q->p->src, q->toks[i].off, q->toks[i].len};
}

/* Width of the white space that starts the token's line; *line is the line's index. */
static uint32_t indentation(const GpPairing *q, uint32_t i, uint32_t *line) {
    *line = gp_source_line_index(q->p->src, q->toks[i].off);
    const char *start = q->p->src->text + q->p->src->line_starts[*line];
    return (uint32_t)strspn(start, " \t");
}

static void note_indentation(GpPairing *q, uint32_t open, uint32_t close) {
    uint32_t open_line, close_line;
    if (q->odd_close != 0)
        return;
    uint32_t a = indentation(q, open, &open_line), b = indentation(q, close, &close_line);
    if (open_line == close_line || a == b)
        return;
    q->odd_open = open;
    q->odd_close = close;
}

static GpTok opener_of(GpTok tok) {
    return tok == GpTok_RParen     ? GpTok_LParen
           : tok == GpTok_RBracket ? GpTok_LBracket
                                   : GpTok_LBrace;
}

/* A closing delimiter for which nothing is open is skipped. */
static void report_stray(GpPairing *q, uint32_t close) {
    const GpTokInfo *info = &gp_tok_info[q->toks[close].tok];
    GpDiag *d = gp_diag(q->p->diags, GpDiag_G0006, token_span(q, close), info->spelling);
    q->is_broken = true;
    if (q->open.len == 0) {
        gp_primary_label(d, "unexpected closing delimiter");
        return;
    }
    gp_primary_label(d, "missing open `%s` for this delimiter",
                     gp_tok_info[opener_of(q->toks[close].tok)].spelling);
    gp_label(d, token_span(q, q->open.at[q->open.len - 1]), "the nearest open delimiter");
}

/* `close` belongs to the open delimiter `meant`; the ones inside that were left open. */
static void report_mismatch(GpPairing *q, uint32_t meant, uint32_t close) {
    uint32_t open = q->open.at[q->open.len - 1];
    GpDiag *d = gp_diag(q->p->diags, GpDiag_G0005, token_span(q, open),
                        gp_tok_info[q->toks[close].tok].spelling);
    q->is_broken = true;
    gp_primary_label(d, "unclosed delimiter");
    gp_label(d, token_span(q, close), "mismatched closing delimiter");
    gp_label(d, token_span(q, meant), "closing delimiter possibly meant for this");
}

static void close_delimiter(GpPairing *q, uint32_t i) {
    GpTok tok = q->toks[i].tok;
    uint32_t depth = q->open.len;
    while (depth > 0 && closer_of(q->toks[q->open.at[depth - 1]].tok) != tok)
        depth--;
    if (depth == 0) {
        report_stray(q, i);
        return;
    }
    uint32_t open = q->open.at[depth - 1];
    if (depth != q->open.len)
        report_mismatch(q, open, i);
    q->open.len = depth - 1;
    q->partner[open] = i;
    q->partner[i] = open;
    note_indentation(q, open, i);
}

static void report_unclosed(GpPairing *q) {
    const GpSource *src = q->p->src;
    uint32_t end = src->len;
    while (end > 0 && strchr(" \t\r\n", src->text[end - 1]))
        end--;
    GpDiag *d = gp_diag(q->p->diags, GpDiag_G0004, (GpSpan){q->p->src, end, 0});
    for (uint32_t i = 0; i < GP_MIN(q->open.len, 5u); i++) {
        gp_label(d, token_span(q, q->open.at[i]), "unclosed delimiter");
    }
    if (q->odd_close != 0) {
        gp_label(d, token_span(q, q->odd_open), "this delimiter might not be properly closed...");
        gp_label(d, token_span(q, q->odd_close),
                 "...as it matches this but it has different indentation");
    }
}

void gp_parser_pair_tokens(GpParser *p) {
    uint32_t *partner = GP_NEW_ARRAY(p->arena, uint32_t, p->count);
    GP_VEC(uint32_t) open = {0};
    for (uint32_t i = 0; i < p->count; i++) {
        if (closer_of(p->toks[i].tok) != GpTok_End) {
            GP_PUSH(p->arena, &open, i);
        } else if (is_closer(p->toks[i].tok)) {
            gp_assert(open.len > 0);
            uint32_t at = open.at[--open.len];
            partner[at] = i;
            partner[i] = at;
        }
    }
    p->partner = partner;
}

bool gp_parser_read_tokens(GpParser *p) {
    GP_VEC(GpToken) toks = {0};
    GpLexer lx;
    gp_lex_init(&lx, p->src, p->diags);
    do {
        GpToken t = gp_lex_next(&lx);
        GP_PUSH(p->arena, &toks, t);
    } while (toks.at[toks.len - 1].tok != GpTok_End);

    GpPairing q = {.p = p, .toks = toks.at, .count = toks.len};
    q.partner = GP_NEW_ARRAY(p->arena, uint32_t, toks.len);
    /* Only the first mistake is sure: what closes what after it is a guess. */
    for (uint32_t i = 0; i < toks.len && !q.is_broken; i++) {
        if (closer_of(toks.at[i].tok) != GpTok_End)
            GP_PUSH(p->arena, &q.open, i);
        else if (is_closer(toks.at[i].tok))
            close_delimiter(&q, i);
    }
    /* An unterminated literal swallows closing delimiters: then it alone is the mistake. */
    bool is_swallowed = toks.len > 1 && toks.at[toks.len - 2].tok == GpTok_Error;
    if (q.open.len > 0 && !q.is_broken && !is_swallowed)
        report_unclosed(&q);
    p->toks = toks.at;
    p->partner = q.partner;
    p->count = toks.len;
    return q.open.len == 0 && !q.is_broken;
}
