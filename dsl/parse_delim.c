/* Reads all tokens and pairs the delimiters. Broken nesting is reported here, once, and stops
** the parse: whatever came after it would be read in the wrong place. The parser may rely on
** every opening token having a partner, properly nested.
**
** Which mistake is reported, and where, follows rustc (rustc_parse, lexer/tokentrees.rs): a closing
** delimiter that does not fit ends the innermost open group all the same, and is used up unless
** some group further out waits for it. Where that leaves a `}` too many, the error stands there,
*and
** the `)` or `]` that caused it is a label. */
#include "dsl/parse.h"

/* A closing delimiter that came while another one was due. */
typedef struct Misfit {
    uint32_t close, open; /* the open group's first token */
    uint32_t meant;       /* an open delimiter that it may belong to; NONE without one */
    bool is_told;         /* in another error's labels */
} Misfit;
#define NONE        UINT32_MAX
#define MAX_MISFITS 64 /* more are not kept: one is reported */

typedef struct GpPairing {
    GpParser *p;
    GpToken *toks;
    uint32_t *partner;
    uint32_t count;
    GP_VEC(uint32_t) open;         /* indices of the delimiters that are open */
    uint32_t waiting[GpTok_count]; /* how many of them each closing delimiter would close */
    GP_VEC(Misfit) misfits;
    uint32_t odd_open; /* the first pair closed at another indentation; 0 0 without one */
    uint32_t odd_close;
    uint32_t stray; /* the closing delimiter for which nothing is open; NONE */
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

/* The outermost open delimiter of that kind whose line is indented as the token's is: the last one
** asked wins, as in rustc. */
static uint32_t find_meant(const GpPairing *q, uint32_t close) {
    uint32_t line, meant = NONE, indent = indentation(q, close, &line);
    for (uint32_t i = 0; i < q->open.len; i++) {
        if (closer_of(q->toks[q->open.at[i]].tok) == q->toks[close].tok &&
            indentation(q, q->open.at[i], &line) == indent)
            meant = q->open.at[i];
    }
    return meant;
}

static void close_delimiter(GpPairing *q, uint32_t i) {
    GpTok tok = q->toks[i].tok;
    bool is_first = true;
    while (q->open.len > 0) {
        uint32_t open = q->open.at[q->open.len - 1];
        q->open.len--;
        q->waiting[closer_of(q->toks[open].tok)]--;
        if (closer_of(q->toks[open].tok) == tok) {
            q->partner[open] = i;
            q->partner[i] = open;
            note_indentation(q, open, i);
            return;
        }
        if (is_first && q->misfits.len < MAX_MISFITS) {
            Misfit m = {i, open, find_meant(q, i), false};
            GP_PUSH(q->p->arena, &q->misfits, m);
        }
        is_first = false;
        if (q->waiting[tok] == 0)
            return;
    }
    q->stray = i;
}

/* A closing delimiter for which nothing is open. */
static void report_stray(GpPairing *q) {
    const GpTokInfo *info = &gp_tok_info[q->toks[q->stray].tok];
    GpDiag *d = gp_diag(q->p->diags, GpDiag_G0006, token_span(q, q->stray), info->spelling);
    gp_primary_label(d, "unexpected closing delimiter");
    for (uint32_t i = 0; i < q->misfits.len; i++) {
        Misfit *m = &q->misfits.at[i];
        if (!m->is_told)
            continue;
        gp_label(d, token_span(q, m->open), "the nearest open delimiter");
        gp_label(d, token_span(q, m->close), "missing open `%s` for this delimiter",
                 gp_tok_info[opener_of(q->toks[m->close].tok)].spelling);
    }
}

static void report_misfit(GpPairing *q, const Misfit *m) {
    GpDiag *d = gp_diag(q->p->diags, GpDiag_G0005, token_span(q, m->open),
                        gp_tok_info[q->toks[m->close].tok].spelling);
    gp_primary_label(d, "unclosed delimiter");
    gp_label(d, token_span(q, m->close), "mismatched closing delimiter");
    if (m->meant != NONE)
        gp_label(d, token_span(q, m->meant), "closing delimiter possibly meant for this");
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

/* One mistake, one error: the first that rustc reports. A `)` or `]` too many is told by the `}`
*that
** it leaves over. */
static void report_broken(GpPairing *q) {
    const Misfit *first = NULL;
    for (uint32_t i = 0; i < q->misfits.len; i++) {
        Misfit *m = &q->misfits.at[i];
        m->is_told = q->stray != NONE && q->toks[m->close].tok != GpTok_RBrace;
        if (!first && !m->is_told)
            first = m;
    }
    if (first)
        report_misfit(q, first);
    else if (q->stray != NONE)
        report_stray(q);
    else
        report_unclosed(q);
}

bool gp_parser_read_tokens(GpParser *p) {
    GP_VEC(GpToken) toks = {0};
    GpLexer lx;
    gp_lex_init(&lx, p->src, p->diags);
    do {
        GpToken t = gp_lex_next(&lx);
        GP_PUSH(p->arena, &toks, t);
    } while (toks.at[toks.len - 1].tok != GpTok_End);

    GpPairing q = {.p = p, .toks = toks.at, .count = toks.len, .stray = NONE};
    q.partner = GP_NEW_ARRAY(p->arena, uint32_t, toks.len);
    for (uint32_t i = 0; i < toks.len && q.stray == NONE; i++) {
        GpTok closer = closer_of(toks.at[i].tok);
        if (closer != GpTok_End) {
            GP_PUSH(p->arena, &q.open, i);
            q.waiting[closer]++;
        } else if (is_closer(toks.at[i].tok)) {
            close_delimiter(&q, i);
        }
    }
    /* An unterminated literal swallows closing delimiters: then it alone is the mistake. */
    bool is_swallowed = toks.len > 1 && toks.at[toks.len - 2].tok == GpTok_Error;
    bool is_whole = q.open.len == 0 && q.misfits.len == 0 && q.stray == NONE;
    if (!is_whole && !is_swallowed)
        report_broken(&q);
    p->toks = toks.at;
    p->partner = q.partner;
    p->count = toks.len;
    return is_whole;
}
