/* Matching a call's tokens with a macro's rules, as rustc does it: all ways to go on are followed
** side by side, one token at a time; a fragment is parsed only where nothing else is possible, and
** is never given back. */
#include "dsl/macro_parse.h"

typedef enum LocKind {
    Loc_Token,
    Loc_SeqStart,
    Loc_SeqEnd,  /* behind the last tree of a repetition without a separator */
    Loc_Sep,     /* the same with one */
    Loc_SepPast, /* behind the separator */
    Loc_Decl,
    Loc_End
} LocKind;

/* A step of a matcher, flattened. */
typedef struct Loc {
    LocKind kind;
    GpToken tok;        /* Token, Sep */
    const GpTree *tree; /* Seq*, Decl */
    uint32_t first;     /* Seq*: index of the first step inside */
    uint32_t past;      /* SeqStart: index of the first step behind */
    uint32_t vars, var; /* SeqStart: how many variables are inside, from which on */
    uint32_t depth;     /* SeqStart, Decl: repetitions around it */
} Loc;

/* What one way has bound so far, newest first; shared between ways. */
typedef struct Bound {
    const struct Bound *before;
    const GpFragment *fragment; /* NULL: a repetition begins */
    uint32_t var, depth;
} Bound;

typedef struct Way {
    uint32_t at; /* index of its step */
    const Bound *bound;
} Way;
typedef GP_VEC(Way) Ways;

typedef struct Matcher {
    const GpParse *in;
    GpParser p;
    const GpRules *rules;
    GP_VEC(Loc) locs;
    Ways now, next, parsing; /* to look at; past this token; before a fragment */
    Way done;
    uint32_t done_count;
    const Loc *tried; /* the step looked at last */
} Matcher;

typedef struct Failure {
    bool is_set;
    uint32_t position;
    GpToken tok;
    const Loc *tried;
} Failure;

static GpSpan span_of(const GpToken *t) { return (GpSpan){t->src, t->off, t->len}; }

/* ---- steps --------------------------------------------------------------------------------- */

static uint32_t add_loc(Matcher *m, Loc loc) {
    GP_PUSH(m->in->arena, &m->locs, loc);
    return m->locs.len - 1;
}

static uint32_t count_vars(const GpTree *list, uint32_t count) {
    uint32_t n = 0;
    for (uint32_t i = 0; i < count; i++)
        n += (list[i].kind == GpTree_Decl) + count_vars(list[i].kids, list[i].count);
    return n;
}

static void flatten(Matcher *m, const GpTree *list, uint32_t count, uint32_t depth, uint32_t *var) {
    for (uint32_t i = 0; i < count; i++) {
        const GpTree *t = &list[i];
        if (t->kind == GpTree_Decl) {
            add_loc(m, (Loc){.kind = Loc_Decl, .tree = t, .depth = depth});
            ++*var;
        } else if (t->kind == GpTree_Group) {
            add_loc(m, (Loc){.kind = Loc_Token, .tok = t->tok});
            flatten(m, t->kids, t->count, depth, var);
            add_loc(m, (Loc){.kind = Loc_Token, .tok = t->close});
        } else if (t->kind == GpTree_Seq) {
            Loc loc = {.kind = Loc_SeqStart, .tree = t, .var = *var, .depth = depth};
            loc.vars = count_vars(t->kids, t->count);
            uint32_t start = add_loc(m, loc);
            flatten(m, t->kids, t->count, depth + 1, var);
            loc.first = start + 1;
            loc.kind = t->has_sep ? Loc_Sep : Loc_SeqEnd;
            loc.tok = t->sep;
            add_loc(m, loc);
            loc.kind = Loc_SepPast;
            if (t->has_sep)
                add_loc(m, loc);
            m->locs.at[start].past = m->locs.len;
        } else if (t->tok.tok != GpTok_DocComment) {
            add_loc(m, (Loc){.kind = Loc_Token, .tok = t->tok});
        }
    }
}

/* ---- tokens -------------------------------------------------------------------------------- */

static bool is_same_token(const GpToken *a, const GpToken *b) {
    if (a->tok != b->tok || a->tok == GpTok_Fragment)
        return false;
    GpTokClass cls = gp_tok_info[a->tok].cls;
    if (cls == GpTokClass_Punct || cls == GpTokClass_Keyword || cls == GpTokClass_Reserved)
        return true;
    return a->len == b->len && memcmp(a->src->text + a->off, b->src->text + b->off, a->len) == 0;
}

static bool is_underscore(const GpToken *t) {
    return t->tok == GpTok_Name && t->len == 1 && t->src->text[t->off] == '_';
}

static bool is_literal(GpTok tok) {
    return tok == GpTok_Int || tok == GpTok_Float || tok == GpTok_Str || tok == GpTok_ByteStr ||
           tok == GpTok_Char || tok == GpTok_Byte || tok == GpTok_True || tok == GpTok_False ||
           tok == GpTok_Minus;
}

static bool begins_type(GpTok tok) {
    return tok == GpTok_Name || tok == GpTok_LParen || tok == GpTok_LBracket || tok == GpTok_Not ||
           tok == GpTok_Star || tok == GpTok_And || tok == GpTok_AndAnd || tok == GpTok_Lifetime ||
           tok == GpTok_Less || tok == GpTok_Shl || tok == GpTok_ColonColon || tok == GpTok_For ||
           tok == GpTok_Impl || tok == GpTok_Fn || tok == GpTok_Unsafe || tok == GpTok_Extern ||
           tok == GpTok_Dyn || tok == GpTok_SelfTy || tok == GpTok_SelfVal || tok == GpTok_Super ||
           tok == GpTok_Crate;
}

static bool begins_path(GpTok tok) {
    return tok == GpTok_Name || tok == GpTok_ColonColon || tok == GpTok_SelfTy ||
           tok == GpTok_SelfVal || tok == GpTok_Super || tok == GpTok_Crate;
}

static bool begins_pat(const GpToken *t, bool may_be_or) {
    GpTok tok = t->tok;
    return begins_path(tok) || is_literal(tok) || tok == GpTok_LParen || tok == GpTok_LBracket ||
           tok == GpTok_And || tok == GpTok_AndAnd || tok == GpTok_DotDot ||
           tok == GpTok_DotDotEq || tok == GpTok_Less || tok == GpTok_Ref || tok == GpTok_Mut ||
           (tok == GpTok_Or && may_be_or);
}

static bool is_closer(GpTok tok) {
    return tok == GpTok_RParen || tok == GpTok_RBracket || tok == GpTok_RBrace || tok == GpTok_End;
}

/* A kept fragment stands for itself, for a token tree, and for what it could be read as. */
static bool may_be_kept(GpFragmentKind kind, const GpFragment *f) {
    unsigned is = 1u << f->kind;
    if (kind == GpFragment_Tt || kind == f->kind)
        return true;
    if (kind == GpFragment_Literal)
        return (is & GP_FRAGMENT_EXPRS) && is_literal(f->run.toks[0].tok) && f->run.len <= 2;
    if (kind == GpFragment_Expr || kind == GpFragment_Expr2021 || kind == GpFragment_Stmt)
        return is & (GP_FRAGMENT_EXPRS | 1u << GpFragment_Path);
    if (kind == GpFragment_Pat || kind == GpFragment_PatParam)
        return is & (GP_FRAGMENT_EXPRS | GP_FRAGMENT_PATS | 1u << GpFragment_Path);
    return kind == GpFragment_Ty && f->kind == GpFragment_Path;
}

/* Whether a fragment of that kind can begin with the current token. */
static bool may_begin(const GpParser *p, GpFragmentKind kind) {
    const GpToken *t = &p->tok;
    if (t->tok == GpTok_End)
        return false;
    if (t->tok == GpTok_Fragment)
        return may_be_kept(kind, t->fragment);
    switch (kind) {
    case GpFragment_Expr:
        return gp_parser_at_expr(p) && t->tok != GpTok_Let;
    case GpFragment_Expr2021:
        return gp_parser_at_expr(p) && t->tok != GpTok_Let && t->tok != GpTok_Const &&
               !is_underscore(t);
    case GpFragment_Ty:
        return begins_type(t->tok);
    case GpFragment_Ident:
        return gp_macro_is_word(t) && !is_underscore(t);
    case GpFragment_Literal:
        return is_literal(t->tok);
    case GpFragment_Vis:
        return gp_macro_is_word(t) || t->tok == GpTok_Comma || begins_type(t->tok);
    case GpFragment_Block:
        return t->tok == GpTok_LBrace;
    case GpFragment_Path:
        return begins_path(t->tok) || t->tok == GpTok_Less;
    case GpFragment_Meta:
        return begins_path(t->tok) || t->tok == GpTok_Unsafe || t->tok == GpTok_DocComment;
    case GpFragment_Pat:
        return begins_pat(t, true);
    case GpFragment_PatParam:
        return begins_pat(t, false);
    case GpFragment_Lifetime:
        return t->tok == GpTok_Lifetime;
    case GpFragment_Item:
    case GpFragment_Stmt:
    case GpFragment_Tt:
        return !is_closer(t->tok);
    case GpFragment_count:
        break;
    }
    gp_unreachable();
}

/* ---- fragments ----------------------------------------------------------------------------- */

/* The tokens from `first` (at index `from`) to the cursor, which may stand inside a `>>`. */
static GpTokenRun cut_run(Matcher *m, GpToken first, uint32_t from) {
    const GpParser *p = &m->p;
    GP_VEC(GpToken) toks = {0};
    GpToken now = p->tok;
    for (uint32_t i = from; i < p->at; i++)
        GP_PUSH(m->in->arena, &toks, i == from ? first : p->toks[i]);
    uint32_t begin = p->at == from ? first.off : p->toks[p->at].off;
    if (now.off > begin && now.src == p->toks[p->at].src && now.tok != GpTok_End) {
        GpToken part = p->at == from ? first : p->toks[p->at];
        part.len = now.off - begin;
        part.tok = gp_tok_punct(part.src->text + part.off, part.len);
        GP_PUSH(m->in->arena, &toks, part);
    }
    GpToken end = {.tok = GpTok_End, .src = now.src, .off = now.off};
    GP_PUSH(m->in->arena, &toks, end);
    return (GpTokenRun){toks.at, toks.len - 1};
}

/* Parses the fragment at the cursor; NULL after a report. */
static const GpFragment *parse_var(Matcher *m, const Loc *loc) {
    GpParser *p = &m->p;
    GpFragmentKind kind = loc->tree->fragment;
    GpToken first = p->tok;
    uint32_t from = p->at;
    GpNode *n;
    bool is_kept = first.tok == GpTok_Fragment && kind != GpFragment_Vis;
    if (is_kept)
        gp_parser_bump(p);
    else if ((n = gp_parse_as(p, kind)) && n->kind == GpNode_Bad && p->parked)
        return NULL;
    if (p->parked)
        return NULL;
    GpFragment *f = GP_NEW(m->in->arena, GpFragment);
    f->kind = kind;
    f->run = cut_run(m, first, from);
    GpParser pairs = {.arena = m->in->arena, .toks = f->run.toks, .count = f->run.len + 1};
    gp_parser_pair_tokens(&pairs);
    f->partner = pairs.partner;
    return f;
}

/* ---- the walk ------------------------------------------------------------------------------ */

static const Bound *bind(Matcher *m, const Bound *before, uint32_t var, uint32_t depth,
                         const GpFragment *fragment) {
    Bound *b = GP_NEW(m->in->arena, Bound);
    *b = (Bound){before, fragment, var, depth};
    return b;
}

static void go(Matcher *m, Ways *to, uint32_t at, const Bound *bound) {
    Way w = {at, bound};
    GP_PUSH(m->in->arena, to, w);
}

static void start_seq(Matcher *m, Way w, const Loc *loc) {
    const Bound *bound = w.bound;
    for (uint32_t i = 0; i < loc->vars; i++)
        bound = bind(m, bound, loc->var + i, loc->depth, NULL);
    if (loc->tree->op != GpTok_Plus)
        go(m, &m->now, loc->past, bound);
    go(m, &m->now, w.at + 1, bound);
}

static void step(Matcher *m, Way w) {
    const Loc *loc = &m->locs.at[w.at];
    const GpToken *tok = &m->p.tok;
    if (loc->kind != Loc_End)
        m->tried = loc;
    switch (loc->kind) {
    case Loc_Token:
        if (is_same_token(&loc->tok, tok))
            go(m, &m->next, w.at + 1, w.bound);
        break;
    case Loc_SeqStart:
        start_seq(m, w, loc);
        break;
    case Loc_SeqEnd:
        go(m, &m->now, w.at + 1, w.bound);
        if (loc->tree->op != GpTok_Question)
            go(m, &m->now, loc->first, w.bound);
        break;
    case Loc_Sep:
        go(m, &m->now, w.at + 2, w.bound);
        if (is_same_token(&loc->tok, tok))
            go(m, &m->next, w.at + 1, w.bound);
        break;
    case Loc_SepPast:
        go(m, &m->now, loc->first, w.bound);
        break;
    case Loc_Decl:
        if (may_begin(&m->p, loc->tree->fragment))
            go(m, &m->parsing, w.at, w.bound);
        break;
    case Loc_End:
        if (tok->tok == GpTok_End && m->done_count++ == 0)
            m->done = w;
        break;
    }
}

typedef enum Outcome { Outcome_Fits, Outcome_Fails, Outcome_Reported } Outcome;

static Outcome report_ambiguity(Matcher *m, const char *what) {
    GpDiag *d =
        gp_diag(m->in->diags, GpDiag_G0033, gp_parser_span(&m->p), m->rules->name->name, what);
    gp_label(d, m->rules->span, "when calling this macro");
    return Outcome_Reported;
}

static const char *list_options(const Matcher *m) {
    const char *list = "";
    for (uint32_t i = 0; i < m->parsing.len; i++) {
        const GpTree *t = m->locs.at[m->parsing.at[i].at].tree;
        list = gp_arena_printf(m->in->arena, "%s%s%s ('%s')", list, i ? " or " : "",
                               gp_fragment_rows[t->fragment].name, t->name->name);
    }
    if (m->next.len)
        list = gp_arena_printf(m->in->arena, "%s or %u other option%s", list, m->next.len,
                               gp_plural(m->next.len));
    return gp_arena_printf(m->in->arena, "multiple parsing options: built-in NTs %s", list);
}

/* Tries one rule from the start of the arguments. */
static Outcome try_rule(Matcher *m, const GpRule *rule) {
    uint32_t var = 0;
    m->locs.len = m->now.len = m->next.len = 0;
    m->locs.at = NULL; /* failures keep steps of the last rule */
    m->locs.cap = 0;
    m->tried = NULL;
    flatten(m, rule->lhs, rule->lhs_count, 0, &var);
    add_loc(m, (Loc){.kind = Loc_End});
    go(m, &m->now, 0, NULL);
    for (;;) {
        m->next.len = m->parsing.len = m->done_count = 0;
        while (m->now.len)
            step(m, m->now.at[--m->now.len]);
        if (m->p.tok.tok == GpTok_End && m->done_count > 1)
            return report_ambiguity(m, "multiple successful parses");
        if (m->p.tok.tok == GpTok_End && m->done_count == 1)
            return Outcome_Fits;
        if (m->next.len == 0 && m->parsing.len == 0)
            return Outcome_Fails;
        if (m->parsing.len > 1 || (m->parsing.len && m->next.len))
            return report_ambiguity(m, list_options(m));
        if (m->next.len) {
            Ways swap = m->now;
            m->now = m->next;
            m->next = swap;
            gp_parser_bump(&m->p);
            continue;
        }
        Way w = m->parsing.at[0];
        const Loc *loc = &m->locs.at[w.at];
        const GpFragment *f = parse_var(m, loc);
        if (!f)
            return Outcome_Reported;
        go(m, &m->now, w.at + 1, bind(m, w.bound, loc->tree->var, loc->depth, f));
    }
}

/* ---- bindings ------------------------------------------------------------------------------ */

static GpBinding *add_item(GpArena *arena, GpBinding *to) {
    if (to->count == to->cap)
        to->items = gp_arena_grow(arena, to->items, &to->cap, sizeof *to->items);
    GpBinding *item = &to->items[to->count++];
    *item = (GpBinding){0};
    return item;
}

/* The newest binding of `var` below `depth` repetitions. */
static void put(GpArena *arena, GpBinding *vars, const Bound *b) {
    GpBinding *at = &vars[b->var];
    for (uint32_t i = 1; i < b->depth; i++)
        at = &at->items[at->count - 1];
    if (b->depth > 0)
        at = add_item(arena, at);
    at->fragment = b->fragment;
}

static void fill_match(Matcher *m, const GpRule *rule, GpMatch *out) {
    GP_VEC(const Bound *) list = {0};
    out->rule = rule;
    out->vars = GP_NEW_ARRAY(m->in->arena, GpBinding, rule->var_count);
    for (const Bound *b = m->done.bound; b; b = b->before)
        GP_PUSH(m->in->arena, &list, b);
    for (uint32_t i = list.len; i-- > 0;)
        put(m->in->arena, out->vars, list.at[i]);
}

/* ---- failures ------------------------------------------------------------------------------ */

static void note_failure(Matcher *m, Failure *f) {
    uint32_t position = m->p.at;
    if (f->is_set && position <= f->position)
        return;
    *f = (Failure){true, position, m->p.tok, m->tried};
}

static void report_failure(Matcher *m, const Failure *f, GpSpan call, const GpTokenRun *args) {
    const GpToken *tok = &f->tok;
    GpDiag *d;
    if (tok->tok == GpTok_End) {
        GpSpan at = args->len == 2 ? call : span_of(&args->toks[args->len - 1]);
        d = gp_diag(m->in->diags, GpDiag_G0031, at);
        gp_primary_label(d, "missing tokens in macro arguments");
    } else {
        const char *text =
            tok->tok == GpTok_Fragment
                ? gp_arena_printf(m->in->arena, "`%s` metavariable",
                                  gp_fragment_rows[tok->fragment->kind].name)
                : gp_parser_describe(
                      &(GpParser){.arena = m->in->arena, .toks = tok, .tok = *tok, .count = 1}, 0);
        d = gp_diag(m->in->diags, GpDiag_G0030, span_of(tok), text);
        gp_primary_label(d, "no rules expected this token in macro call");
    }
    gp_label(d, m->rules->span, "when calling this macro");
    const Loc *loc = f->tried;
    if (loc && loc->kind == Loc_Decl)
        gp_note_at(d, loc->tree->span, "while trying to match meta-variable `$%s:%s`",
                   loc->tree->name->name, gp_fragment_rows[loc->tree->fragment].name);
    else if (loc && (loc->kind == Loc_Token || loc->kind == Loc_Sep))
        gp_note_at(d, span_of(&loc->tok), "while trying to match `%.*s`", (int)loc->tok.len,
                   loc->tok.src->text + loc->tok.off);
    else if (loc)
        gp_note_at(d, loc->tree->span, "while trying to match sequence %s",
                   loc->kind == Loc_SeqStart ? "start" : "end");
}

/* The tokens between the delimiters, the closing one as End. A doc comment is the attribute that it
** stands for: `#`, `[`, the comment, `]`. */
static const GpToken *copy_args(const GpParse *in, const GpTokenRun *args, uint32_t *count) {
    GP_VEC(GpToken) toks = {0};
    for (uint32_t i = 1; i < args->len; i++) {
        GpToken t = args->toks[i], part = t;
        bool is_doc = t.tok == GpTok_DocComment;
        part.tok = GpTok_Pound;
        if (is_doc)
            GP_PUSH(in->arena, &toks, part);
        part.tok = GpTok_Not;
        if (is_doc && t.src->text[t.off + 2] == '!')
            GP_PUSH(in->arena, &toks, part);
        part.tok = GpTok_LBracket;
        if (is_doc)
            GP_PUSH(in->arena, &toks, part);
        GP_PUSH(in->arena, &toks, t);
        part.tok = GpTok_RBracket;
        if (is_doc)
            GP_PUSH(in->arena, &toks, part);
    }
    gp_assert(toks.len > 0); /* the closing delimiter */
    toks.at[toks.len - 1].tok = GpTok_End;
    *count = toks.len;
    return toks.at;
}

bool gp_macro_match(GpParse *in, const GpRules *rules, GpSpan call, const GpTokenRun *args,
                    GpMatch *out) {
    Matcher m = {.in = in, .rules = rules};
    uint32_t count;
    const GpToken *toks = copy_args(in, args, &count);
    gp_parser_init_tokens(&m.p, in, toks, count);
    m.p.macros = NULL; /* what is parsed here is thrown away */
    Failure failure = {0};
    for (uint32_t i = 0; i < rules->count; i++) {
        gp_parser_start(&m.p);
        Outcome outcome = try_rule(&m, &rules->rules[i]);
        if (outcome == Outcome_Fits) {
            fill_match(&m, &rules->rules[i], out);
            return true;
        }
        if (outcome == Outcome_Reported)
            return false;
        note_failure(&m, &failure);
    }
    if (rules->count)
        report_failure(&m, &failure, call, args);
    return false;
}
