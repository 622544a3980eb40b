/* Fragments: the pieces that a macro's variable can stand for. A kept fragment is one token; its
** own tokens are parsed by a parser of their own each time it is used, so that no node has two
** parents. */
#include "dsl/macro_parse.h"

const GpFragmentRow gp_fragment_rows[GpFragment_count] = {
#define GP_FRAGMENT(id, name, follow) [GpFragment_##id] = {name, follow},
#include "dsl/fragment.def"
};

bool gp_parser_at_fragment(const GpParser *p, unsigned kinds) {
    return p->tok.tok == GpTok_Fragment && (kinds >> p->tok.fragment->kind & 1u);
}

/* ident, lifetime and tt are no nodes: they are stepped over. */
static GpNode *skip_tokens(GpParser *p, GpFragmentKind kind) {
    GpNode *bad = gp_parser_bad(p);
    bool is_group = kind == GpFragment_Tt && p->partner[p->at] > p->at && !p->parked;
    if (is_group)
        gp_parser_skip_group(p);
    else
        gp_parser_bump(p);
    return bad;
}

static GpNode *parse_vis(GpParser *p) {
    GpNode *bad = gp_parser_bad(p);
    gp_parse_visibility(p);
    return bad;
}

GpNode *gp_parse_as(GpParser *p, GpFragmentKind kind) {
    GpNode *lit;
    switch (kind) {
    case GpFragment_Block:
        return gp_parse_block(p, NULL);
    case GpFragment_Expr:
    case GpFragment_Expr2021:
        return gp_parse_expr(p);
    case GpFragment_Item:
        return gp_parse_item(p, gp_parse_outer_attrs(p));
    case GpFragment_Literal:
        lit = gp_parse_neg_lit(p);
        if (!lit)
            gp_parser_expected(p, "literal");
        return lit ? lit : gp_parser_bad(p);
    case GpFragment_Meta:
        return gp_parse_meta(p, gp_parser_span(p), false);
    case GpFragment_Pat:
        return gp_parse_pat(p);
    case GpFragment_PatParam:
        return gp_parse_pat_no_or(p);
    case GpFragment_Path:
        return gp_parse_path(p, GpPath_Type);
    case GpFragment_Stmt:
        return gp_parse_stmt_alone(p);
    case GpFragment_Ty:
        return gp_parse_type(p);
    case GpFragment_Vis:
        return parse_vis(p);
    case GpFragment_Ident:
    case GpFragment_Lifetime:
    case GpFragment_Tt:
        return skip_tokens(p, kind);
    case GpFragment_count:
        break;
    }
    gp_unreachable();
}

GpNode *gp_parse_fragment(GpParser *p, unsigned as) {
    const GpFragment *f = p->tok.fragment;
    GpParser sub = *p;
    if (!gp_parser_enter(p)) {
        gp_parser_leave(p);
        return gp_parser_bad(p);
    }
    sub.depth = p->depth;
    sub.toks = f->run.toks;
    sub.count = f->run.len + 1;
    sub.partner = f->partner;
    gp_parser_start(&sub);
    GpNode *n = gp_parse_as(&sub, (GpFragmentKind)as);
    if (!sub.parked && sub.at != f->run.len)
        gp_parser_unexpected(&sub);
    gp_parser_leave(p);
    p->height = sub.height;
    p->gave_up = sub.gave_up;
    if (sub.parked)
        gp_parser_park(p);
    else
        gp_parser_bump(p);
    return n;
}

void gp_parser_init_tokens(GpParser *p, const GpParse *in, const GpToken *toks, uint32_t count) {
    *p = (GpParser){.arena = in->arena,
                    .names = in->names,
                    .diags = in->diags,
                    .macros = in->macros,
                    .is_expansion = true,
                    .toks = toks,
                    .count = count};
    gp_parser_pair_tokens(p);
    gp_parser_start(p);
}
