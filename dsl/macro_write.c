/* Transcription: a rule's right side with its variables replaced. Every token that the macro wrote
** comes from the expansion; what the caller wrote keeps its place. */
#include "dsl/macro_parse.h"

typedef struct Writer {
    GpParse *in;
    const GpMatch *match;
    GpSource *expansion;
    uint32_t *budget;
    GP_VEC(GpToken) out;
    GP_VEC(uint32_t) indices; /* of the repetitions around */
    bool is_broken;
} Writer;

/* A place in the definition, as the expansion has it. */
static GpSpan in_expansion(const Writer *w, GpSpan span) {
    return (GpSpan){w->expansion, span.off, span.len};
}

static void put_token(Writer *w, GpToken t) {
    if (*w->budget == 0) {
        if (!w->is_broken)
            gp_diag(w->in->diags, GpDiag_G0037, w->expansion->call, w->expansion->macro);
        w->is_broken = true;
        return;
    }
    --*w->budget;
    GP_PUSH(w->in->arena, &w->out, t);
}

static void put_own(Writer *w, GpToken t) {
    t.src = w->expansion;
    put_token(w, t);
}

static GpBinding *find_binding(const Writer *w, GpSym name) {
    const GpRule *rule = w->match->rule;
    for (uint32_t i = 0; i < rule->var_count; i++) {
        if (rule->vars[i]->name != name)
            continue;
        GpBinding *b = &w->match->vars[i];
        for (uint32_t d = 0; d < w->indices.len && !b->fragment; d++) {
            if (w->indices.at[d] >= b->count)
                return b;
            b = &b->items[w->indices.at[d]];
        }
        return b;
    }
    return NULL;
}

static bool is_kept(GpFragmentKind kind) {
    unsigned kept =
        GP_FRAGMENT_EXPRS | GP_FRAGMENT_PATS | 1u << GpFragment_Ty | 1u << GpFragment_Path;
    return kept >> kind & 1u;
}

/* A kept fragment stands where the variable is used. */
static void put_run(Writer *w, const GpTree *use, const GpFragment *f) {
    const GpTokenRun *run = &f->run;
    bool is_whole = run->len == 1 && run->toks[0].tok == GpTok_Fragment;
    for (uint32_t i = 0; i < run->len && !is_kept(f->kind); i++)
        put_token(w, run->toks[i]);
    if (!is_kept(f->kind))
        return;
    if (is_whole)
        f = run->toks[0].fragment;
    GpToken t = {.tok = GpTok_Fragment,
                 .space_before = true,
                 .off = use->span.off,
                 .len = use->span.len,
                 .src = w->expansion,
                 .fragment = f};
    put_token(w, t);
}

static void put_var(Writer *w, const GpTree *t) {
    const GpBinding *b = find_binding(w, t->name);
    if (!b) {
        put_own(w, t->dollar);
        put_own(w, t->tok);
    } else if (b->fragment) {
        put_run(w, t, b->fragment);
    } else if (!w->is_broken) {
        w->is_broken = true;
        gp_diag(w->in->diags, GpDiag_G0035, gp_span_root(in_expansion(w, t->span)),
                gp_arena_printf(w->in->arena, "variable `%s` is still repeating at this depth",
                                t->name->name));
    }
}

/* How often a repetition repeats: all variables in it that repeat there agree. */
typedef struct Count {
    bool is_known;
    uint32_t count;
    GpSym name;
    const char *conflict;
} Count;

static void count_in(Writer *w, const GpTree *list, uint32_t count, Count *c) {
    for (uint32_t i = 0; i < count && !c->conflict; i++) {
        const GpTree *t = &list[i];
        const GpBinding *b = t->kind == GpTree_Use ? find_binding(w, t->name) : NULL;
        if (b && !b->fragment && c->is_known && c->count != b->count) {
            c->conflict = gp_arena_printf(
                w->in->arena, "meta-variable `%s` repeats %u time%s, but `%s` repeats %u time%s",
                c->name->name, c->count, gp_plural(c->count), t->name->name, b->count,
                gp_plural(b->count));
        } else if (b && !b->fragment && !c->is_known) {
            *c = (Count){true, b->count, t->name, NULL};
        }
        count_in(w, t->kids, t->count, c);
    }
}

static void put_list(Writer *w, const GpTree *list, uint32_t count);

static void put_seq(Writer *w, const GpTree *t) {
    Count c = {0};
    count_in(w, t->kids, t->count, &c);
    const char *what = c.conflict;
    if (!c.is_known)
        what = "attempted to repeat an expression containing no syntax variables matched as "
               "repeating at this depth";
    else if (c.count == 0 && t->op == GpTok_Plus)
        what = "this must repeat at least once";
    if (what) {
        w->is_broken = true;
        gp_diag(w->in->diags, GpDiag_G0035, gp_span_root(in_expansion(w, t->span)), what);
        return;
    }
    for (uint32_t i = 0; i < c.count && !w->is_broken; i++) {
        if (i > 0 && t->has_sep)
            put_own(w, t->sep);
        GP_PUSH(w->in->arena, &w->indices, i);
        put_list(w, t->kids, t->count);
        w->indices.len--;
    }
}

static void put_list(Writer *w, const GpTree *list, uint32_t count) {
    for (uint32_t i = 0; i < count && !w->is_broken; i++) {
        const GpTree *t = &list[i];
        switch (t->kind) {
        case GpTree_Token:
            put_own(w, t->tok);
            break;
        case GpTree_Group:
            put_own(w, t->tok);
            put_list(w, t->kids, t->count);
            put_own(w, t->close);
            break;
        case GpTree_Seq:
            put_seq(w, t);
            break;
        case GpTree_Use:
            put_var(w, t);
            break;
        case GpTree_Decl:
            gp_unreachable();
        }
    }
}

const GpToken *gp_macro_write(GpParse *in, const GpMatch *match, GpSource *expansion, GpSpan end,
                              uint32_t *budget, uint32_t *count) {
    Writer w = {.in = in, .match = match, .expansion = expansion, .budget = budget};
    put_list(&w, match->rule->rhs, match->rule->rhs_count);
    if (w.is_broken)
        return NULL;
    GpToken last = {.tok = GpTok_End, .src = end.src, .off = end.off, .len = end.len};
    GP_PUSH(in->arena, &w.out, last);
    *count = w.out.len;
    return w.out.at;
}
