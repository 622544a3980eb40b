/* Definitions of macros: the rules as token trees, and what may not be written in them. The words
** and the follow sets are rustc's; what they are for is told in the Rust reference, "Macro
** follow-set ambiguity formal specification". */
#include "dsl/macro_parse.h"

#define MAX_NESTING 128

typedef struct Reader {
    const GpParse *in;
    const GpToken *toks;
    const uint32_t *partner;
    uint32_t at;
    bool is_lhs;
    bool is_broken;
    uint32_t depth;
    GP_VEC(GpTree *) vars;
} Reader;

static GpSpan span_of(const GpToken *t) { return (GpSpan){t->src, t->off, t->len}; }

static const char *text_of(const Reader *r, const GpToken *t) {
    return gp_arena_copy(r->in->arena, t->src->text + t->off, GP_MIN(t->len, 60u));
}

static GpDiag *report(Reader *r, GpSpan span, const char *what) {
    r->is_broken = true;
    return gp_diag(r->in->diags, GpDiag_G0034, span, what);
}

static GpSym sym_of(const Reader *r, const GpToken *t) {
    return gp_intern(r->in->names, t->src->text + t->off, t->len);
}

/* ---- token trees --------------------------------------------------------------------------- */

typedef GP_VEC(GpTree) Trees;

static void read_trees(Reader *r, uint32_t end, Trees *out);

static void read_list(Reader *r, uint32_t end, GpTree *into) {
    Trees kids = {0};
    if (r->depth++ < MAX_NESTING) {
        read_trees(r, end, &kids);
    } else {
        gp_diag(r->in->diags, GpDiag_G0010, span_of(&r->toks[r->at]));
        r->is_broken = true;
    }
    r->depth--;
    into->kids = kids.at;
    into->count = kids.len;
    r->at = end;
}

static bool is_op(GpTok tok) {
    return tok == GpTok_Star || tok == GpTok_Plus || tok == GpTok_Question;
}

/* Seq = "$" "(" Trees ")" [Sep] ("*" | "+" | "?"), the cursor on the parenthesis */
static void read_seq(Reader *r, GpTree *t, uint32_t end) {
    GpToken open = r->toks[r->at];
    uint32_t close = r->partner[r->at++];
    t->kind = GpTree_Seq;
    read_list(r, close, t);
    r->at = close + 1;
    t->span = gp_span_join(span_of(&open), span_of(&r->toks[close]));
    if (r->at < end && !is_op(r->toks[r->at].tok)) {
        t->has_sep = true;
        t->sep = r->toks[r->at++];
    }
    if (r->at >= end || !is_op(r->toks[r->at].tok)) {
        const GpToken *at = r->at < end ? &r->toks[r->at] : &r->toks[close];
        report(r, span_of(at), "expected one of: `*`, `+`, or `?`");
        return;
    }
    t->op = r->toks[r->at].tok;
    if (t->op == GpTok_Question && t->has_sep)
        report(r, span_of(&t->sep), "the `?` macro repetition operator does not take a separator");
    r->at++;
}

static bool find_fragment(const GpToken *t, GpFragmentKind *out) {
    for (unsigned i = 0; i < GpFragment_count; i++) {
        const char *name = gp_fragment_rows[i].name;
        if (t->len != strlen(name) || memcmp(t->src->text + t->off, name, t->len) != 0)
            continue;
        *out = (GpFragmentKind)i;
        return true;
    }
    return false;
}

/* Decl = "$" Name ":" Fragment, the cursor behind the name */
static void read_decl(Reader *r, GpTree *t, uint32_t end) {
    t->kind = GpTree_Decl;
    bool has_kind =
        r->at + 1 < end && r->toks[r->at].tok == GpTok_Colon && gp_macro_is_word(&r->toks[r->at + 1]);
    if (!has_kind) {
        report(r, t->span, "missing fragment specifier");
        return;
    }
    const GpToken *kind = &r->toks[r->at + 1];
    r->at += 2;
    t->span = gp_span_join(t->span, span_of(kind));
    t->has_kind = find_fragment(kind, &t->fragment);
    if (t->has_kind)
        return;
    GpDiag *d =
        report(r, t->span,
               gp_arena_printf(r->in->arena, "invalid fragment specifier `%s`", text_of(r, kind)));
    gp_help(d, "valid fragment specifiers are `ident`, `block`, `stmt`, `expr`, `pat`, `ty`, "
               "`lifetime`, `literal`, `path`, `meta`, `tt`, `item` and `vis`, along with "
               "`expr_2021` and `pat_param`");
}

/* What follows a `$`. */
static void read_dollar(Reader *r, uint32_t end, Trees *out) {
    GpTree t = {.kind = GpTree_Token, .dollar = r->toks[r->at]};
    const GpToken *next = r->at + 1 < end ? &r->toks[r->at + 1] : NULL;
    r->at++;
    if (next && next->tok == GpTok_LParen) {
        read_seq(r, &t, end);
    } else if (next && next->tok == GpTok_Crate) {
        t.tok = *next;
        r->at++;
    } else if (next && gp_macro_is_word(next)) {
        t.kind = GpTree_Use;
        t.tok = *next;
        t.name = sym_of(r, next);
        t.span = gp_span_join(span_of(&t.dollar), span_of(next));
        r->at++;
        if (r->is_lhs)
            read_decl(r, &t, end);
    } else if (next && (next->tok == GpTok_LBrace || next->tok == GpTok_Dollar)) {
        GpDiag *d =
            gp_diag(r->in->diags, GpDiag_G0008, span_of(&t.dollar), "meta-variable expressions");
        gp_primary_label(d, "not supported");
        r->is_broken = true;
    } else if (next) {
        report(r, span_of(next),
               gp_arena_printf(r->in->arena, "expected identifier, found `%s`", text_of(r, next)));
    } else {
        t.tok = t.dollar;
    }
    GP_PUSH(r->in->arena, out, t);
}

static void read_trees(Reader *r, uint32_t end, Trees *out) {
    while (r->at < end && !r->is_broken) {
        const GpToken *tok = &r->toks[r->at];
        if (tok->tok == GpTok_Dollar) {
            read_dollar(r, end, out);
            continue;
        }
        GpTree t = {.kind = GpTree_Token, .tok = *tok};
        uint32_t close = r->partner[r->at];
        r->at++;
        if (close >= r->at && close < end) {
            t.kind = GpTree_Group;
            t.close = r->toks[close];
            read_list(r, close, &t);
            r->at = close + 1;
        }
        GP_PUSH(r->in->arena, out, t);
    }
}

/* The variables of a matcher, once the trees do not move any more. */
static void collect_vars(Reader *r, GpTree *list, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
        if (list[i].kind == GpTree_Decl) {
            list[i].var = r->vars.len;
            GP_PUSH(r->in->arena, &r->vars, &list[i]);
        }
        collect_vars(r, list[i].kids, list[i].count);
    }
}

static void find_duplicates(Reader *r) {
    for (uint32_t i = 0; i < r->vars.len; i++) {
        for (uint32_t j = 0; j < i; j++) {
            if (r->vars.at[i]->name != r->vars.at[j]->name)
                continue;
            GpDiag *d = report(r, r->vars.at[i]->span, "duplicate matcher binding");
            gp_primary_label(d, "duplicate binding");
            gp_label(d, r->vars.at[j]->span, "previous binding");
            return;
        }
    }
}

/* ---- checks of a matcher ------------------------------------------------------------------- */

static bool may_be_empty(const GpTree *t) {
    return (t->kind == GpTree_Decl && t->fragment == GpFragment_Vis) ||
           (t->kind == GpTree_Seq && t->op != GpTok_Plus) ||
           (t->kind == GpTree_Token && t->tok.tok == GpTok_DocComment);
}

/* A repetition of nothing would never end. */
static void check_empty(Reader *r, const GpTree *list, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
        const GpTree *t = &list[i];
        bool is_empty = t->kind == GpTree_Seq && !t->has_sep;
        for (uint32_t j = 0; j < t->count && is_empty; j++)
            is_empty = may_be_empty(&t->kids[j]);
        if (is_empty) {
            report(r, t->span, "repetition matches empty token tree");
            return;
        }
        check_empty(r, t->kids, t->count);
    }
}

/* A place in a matcher and the lists around it. */
typedef struct Place {
    const GpTree *list;
    uint32_t count, at;
    const GpTree *in;          /* the Seq or Group whose kids the list is; NULL: the matcher */
    const struct Place *outer; /* behind that one */
} Place;

typedef struct Follow {
    Reader *r;
    const GpTree *decl;
    bool is_reported;
} Follow;

static bool is_one_of(GpTok tok, const GpTok *list, size_t count) {
    for (size_t i = 0; i < count; i++) {
        if (list[i] == tok)
            return true;
    }
    return false;
}
#define IS_ONE_OF(tok, ...)                                                                        \
    is_one_of((tok), (const GpTok[]){__VA_ARGS__}, sizeof((GpTok[]){__VA_ARGS__}) / sizeof(GpTok))

static bool begins_type(GpTok tok) {
    return IS_ONE_OF(tok, GpTok_Name, GpTok_LParen, GpTok_LBracket, GpTok_Not, GpTok_Star,
                     GpTok_And, GpTok_AndAnd, GpTok_Question, GpTok_Lifetime, GpTok_Less, GpTok_Shl,
                     GpTok_ColonColon, GpTok_For, GpTok_Impl, GpTok_Fn, GpTok_Unsafe, GpTok_Extern,
                     GpTok_Typeof, GpTok_Dyn, GpTok_SelfTy, GpTok_SelfVal, GpTok_Super,
                     GpTok_Crate);
}

/* Whether a token may stand behind a fragment of that kind. */
static bool may_follow(GpFragmentKind kind, const GpToken *t) {
    GpTok tok = t->tok;
    switch (kind) {
    case GpFragment_Expr:
    case GpFragment_Expr2021:
    case GpFragment_Stmt:
        return IS_ONE_OF(tok, GpTok_FatArrow, GpTok_Comma, GpTok_Semi);
    case GpFragment_PatParam:
        if (tok == GpTok_Or)
            return true;
        return IS_ONE_OF(tok, GpTok_FatArrow, GpTok_Comma, GpTok_Eq, GpTok_If, GpTok_In);
    case GpFragment_Pat:
        return IS_ONE_OF(tok, GpTok_FatArrow, GpTok_Comma, GpTok_Eq, GpTok_If, GpTok_In);
    case GpFragment_Path:
    case GpFragment_Ty:
        return IS_ONE_OF(tok, GpTok_LBrace, GpTok_LBracket, GpTok_FatArrow, GpTok_Comma,
                         GpTok_Greater, GpTok_Shr, GpTok_Eq, GpTok_Colon, GpTok_Semi, GpTok_Or,
                         GpTok_As, GpTok_Where);
    case GpFragment_Vis:
        return tok == GpTok_Comma || (gp_macro_is_word(t) && tok != GpTok_Priv) || begins_type(tok);
    case GpFragment_Block:
    case GpFragment_Ident:
    case GpFragment_Item:
    case GpFragment_Lifetime:
    case GpFragment_Literal:
    case GpFragment_Meta:
    case GpFragment_Tt:
        return true;
    case GpFragment_count:
        break;
    }
    gp_unreachable();
}

static bool may_follow_decl(GpFragmentKind kind, GpFragmentKind next) {
    if (kind == GpFragment_Ty || kind == GpFragment_Path)
        return next == GpFragment_Block;
    if (kind == GpFragment_Vis)
        return next == GpFragment_Ident || next == GpFragment_Ty || next == GpFragment_Path;
    return gp_fragment_rows[kind].follow == NULL;
}

static void refuse_follow(Follow *f, GpSpan span, const char *next) {
    if (f->is_reported)
        return;
    f->is_reported = true;
    const GpFragmentRow *row = &gp_fragment_rows[f->decl->fragment];
    GpDiag *d = report(f->r, span,
                       gp_arena_printf(f->r->in->arena,
                                       "`$%s:%s` is followed by `%s`, which is not allowed for "
                                       "`%s` fragments",
                                       f->decl->name->name, row->name, next, row->name));
    gp_primary_label(d, "not allowed after `%s` fragments", row->name);
    gp_note(d, "allowed there are: %s", row->follow);
}

static void check_next(Follow *f, const Place *place);

static void check_token(Follow *f, const GpToken *t) {
    if (!may_follow(f->decl->fragment, t))
        refuse_follow(f, span_of(t), text_of(f->r, t));
}

static void check_end(Follow *f, const Place *place) {
    const GpTree *in = place->in;
    if (!in || in->kind == GpTree_Group)
        return; /* a closing delimiter may always follow */
    if (in->has_sep)
        check_token(f, &in->sep);
    /* Without a separator rustc does not ask whether the repetition may follow itself. */
    check_next(f, place->outer);
}

/* Checks all that can come at the place. */
static void check_next(Follow *f, const Place *place) {
    if (f->is_reported)
        return;
    if (place->at == place->count) {
        check_end(f, place);
        return;
    }
    const GpTree *t = &place->list[place->at];
    Place behind = *place;
    behind.at++;
    if (t->kind == GpTree_Seq) {
        Place inside = {t->kids, t->count, 0, t, &behind};
        check_next(f, &inside);
    } else if (t->kind == GpTree_Decl) {
        if (!may_follow_decl(f->decl->fragment, t->fragment))
            refuse_follow(f, t->span,
                          gp_arena_printf(f->r->in->arena, "$%s:%s", t->name->name,
                                          gp_fragment_rows[t->fragment].name));
    } else {
        check_token(f, &t->tok);
    }
    if (may_be_empty(t))
        check_next(f, &behind);
}

static void check_follow(Reader *r, const GpTree *list, uint32_t count, const GpTree *in,
                         const Place *outer) {
    for (uint32_t i = 0; i < count && !r->is_broken; i++) {
        const GpTree *t = &list[i];
        Place behind = {list, count, i + 1, in, outer};
        if (t->kind == GpTree_Decl && gp_fragment_rows[t->fragment].follow) {
            Follow f = {.r = r, .decl = t};
            check_next(&f, &behind);
        } else if (t->kids) {
            check_follow(r, t->kids, t->count, t, &behind);
        }
    }
}

/* ---- rules --------------------------------------------------------------------------------- */

static bool read_matcher(Reader *r, uint32_t end, GpRule *rule) {
    uint32_t close = r->partner[r->at];
    if (close <= r->at || close >= end) {
        report(r, span_of(&r->toks[r->at]),
               "invalid macro matcher; matchers must be contained in balanced delimiters");
        return false;
    }
    Trees trees = {0};
    r->at++;
    r->is_lhs = true;
    r->vars.len = 0;
    r->vars.at = NULL;
    r->vars.cap = 0;
    read_trees(r, close, &trees);
    r->at = close + 1;
    rule->lhs = trees.at;
    rule->lhs_count = trees.len;
    if (r->is_broken)
        return false;
    collect_vars(r, rule->lhs, rule->lhs_count);
    rule->vars = r->vars.at;
    rule->var_count = r->vars.len;
    find_duplicates(r);
    check_empty(r, rule->lhs, rule->lhs_count);
    if (!r->is_broken)
        check_follow(r, rule->lhs, rule->lhs_count, NULL, NULL);
    return !r->is_broken;
}

static bool read_transcriber(Reader *r, uint32_t end, GpRule *rule) {
    uint32_t close = r->at < end ? r->partner[r->at] : 0;
    if (close <= r->at || close >= end) {
        const GpToken *at = r->at < end ? &r->toks[r->at] : &r->toks[end];
        report(r, span_of(at), "macro rhs must be delimited");
        return false;
    }
    Trees trees = {0};
    rule->rhs_span = gp_span_join(span_of(&r->toks[r->at]), span_of(&r->toks[close]));
    r->at++;
    r->is_lhs = false;
    read_trees(r, close, &trees);
    r->at = close + 1;
    rule->rhs = trees.at;
    rule->rhs_count = trees.len;
    return !r->is_broken;
}

static void expect_token(Reader *r, uint32_t end, GpTok tok) {
    if (r->at < end && r->toks[r->at].tok == tok) {
        r->at++;
        return;
    }
    const GpToken *at = &r->toks[r->at < end ? r->at : end];
    r->is_broken = true;
    gp_diag(r->in->diags, GpDiag_G0001, span_of(at),
            gp_arena_printf(r->in->arena, "`%s`", gp_tok_info[tok].spelling),
            gp_arena_printf(r->in->arena, "`%s`", text_of(r, at)));
}

/* `macro_rules! name` */
static GpSpan name_span(const GpAstMacroRules *node, const GpToken *open) {
    GpSpan span = node->node.span;
    if (span.src != open->src || open->off <= span.off)
        return span;
    span.len = open->off - span.off;
    while (span.len > 0 && strchr(" \t\r\n", span.src->text[span.off + span.len - 1]))
        span.len--;
    return span;
}

/* Rules = Rule {";" Rule} [";"]; Rule = Group "=>" Group */
GpRules *gp_macro_define(GpParse *in, const GpAstMacroRules *node, const GpTokenRun *body) {
    GpRules *rules = GP_NEW(in->arena, GpRules);
    GpParser p = {.arena = in->arena, .toks = body->toks, .count = body->len};
    gp_parser_pair_tokens(&p);
    Reader r = {.in = in, .toks = body->toks, .partner = p.partner, .at = 1};
    GP_VEC(GpRule) list = {0};
    uint32_t end = body->len - 1;
    while (r.at < end && !r.is_broken) {
        GpRule rule = {0};
        if (!read_matcher(&r, end, &rule))
            break;
        expect_token(&r, end, GpTok_FatArrow);
        if (r.is_broken || !read_transcriber(&r, end, &rule))
            break;
        GP_PUSH(in->arena, &list, rule);
        if (r.at < end)
            expect_token(&r, end, GpTok_Semi);
    }
    if (list.len == 0 && !r.is_broken)
        report(&r, node->node.span, "macros must contain at least one rule");
    rules->name = node->name;
    rules->span = name_span(node, &body->toks[0]);
    rules->written = body->toks[0].src;
    rules->rules = list.at;
    rules->count = list.len;
    rules->is_broken = r.is_broken;
    return rules;
}
