/* Generic parameters, bounds and where clauses. */
#include "dsl/parse.h"

/* Lifetime; the symbol keeps its quote: `'a` */
GpSym gp_parse_lifetime(GpParser *p) {
    GpSpan span = gp_parser_span(p);
    if (!gp_parser_expect(p, GpTok_Lifetime))
        return NULL;
    return gp_parser_sym(p, span);
}

GpSym gp_parse_label(GpParser *p) {
    const GpSource *src = p->tok.src;
    GpSym name = gp_parse_lifetime(p);
    if (!name || !src->root)
        return name;
    char *own = gp_arena_alloc(p->arena, name->len + 1 + sizeof src);
    memcpy(own, name->name, name->len + 1);
    memcpy(own + name->len + 1, &src, sizeof src);
    return gp_intern(p->names, own, name->len + 1 + sizeof src);
}

/* ConstDefault = Block | Path | ["-"] Literal */
static GpNode *parse_const_default(GpParser *p) {
    if (p->tok.tok == GpTok_LBrace)
        return gp_parse_block(p, NULL);
    GpNode *lit = gp_parse_neg_lit(p);
    return lit ? lit : gp_parse_type(p);
}

/* Generic = {Attr} (Lifetime [":" Bounds] | "const" Name ":" Type ["=" ConstDefault]
**         | Name [":" Bounds] ["=" Type]) */
static GpNode *parse_generic(GpParser *p) {
    GpNodeList attrs = gp_parse_outer_attrs(p);
    GpSpan first = gp_parser_span(p);
    GpAstGeneric *g = GP_AST_NEW(p->arena, Generic, first);
    g->attrs = attrs;
    if (gp_parser_is(p, GpTok_Lifetime)) {
        g->is_lifetime = true;
        g->name = gp_parse_lifetime(p);
        if (gp_parser_eat(p, GpTok_Colon))
            g->bounds = gp_parse_bounds(p);
    } else if (gp_parser_eat(p, GpTok_Const)) {
        g->is_const = true;
        g->name = gp_parser_expect_name(p);
        if (gp_parser_expect(p, GpTok_Colon))
            g->type = gp_parse_type(p);
        if (gp_parser_eat(p, GpTok_Eq))
            g->preset = parse_const_default(p);
    } else {
        g->name = gp_parser_expect_name(p);
        if (gp_parser_eat(p, GpTok_Colon))
            g->bounds = gp_parse_bounds(p);
        if (gp_parser_eat(p, GpTok_Eq))
            g->preset = gp_parse_type(p);
    }
    g->node.span = gp_parser_since(p, first);
    return &g->node;
}

static GpNodeList parse_generic_list(GpParser *p) {
    GpNodeVec generics = {0};
    while (!gp_parser_is_punct(p, GpTok_Greater) && !p->parked) {
        GpNode *generic = parse_generic(p);
        GP_PUSH(p->arena, &generics, generic);
        if (!gp_parser_eat_comma(p, GpTok_Greater))
            break;
    }
    gp_parser_expect_punct(p, GpTok_Greater);
    return gp_parser_list(&generics);
}

/* Generics = ["<" [Generic {"," Generic} [","]] ">"] */
GpNodeList gp_parse_generics(GpParser *p) {
    if (!gp_parser_eat_punct(p, GpTok_Less))
        return (GpNodeList){0};
    return parse_generic_list(p);
}

/* ForLifetimes = ["for" "<" [Generic {"," Generic} [","]] ">"] */
GpNodeList gp_parse_for_lifetimes(GpParser *p) {
    if (gp_parser_peek(p, 0) != GpTok_For)
        return (GpNodeList){0};
    gp_parser_bump(p);
    if (!gp_parser_expect_punct(p, GpTok_Less))
        return (GpNodeList){0};
    return parse_generic_list(p);
}

/* Bound = Lifetime | "(" Bound ")" | ["?"] ForLifetimes Path */
static GpNode *parse_bound(GpParser *p) {
    GpSpan first = gp_parser_span(p);
    bool has_parens = gp_parser_eat(p, GpTok_LParen);
    GpAstBound *bound = GP_AST_NEW(p->arena, Bound, first);
    if (!has_parens && gp_parser_is(p, GpTok_Lifetime)) {
        bound->lifetime = gp_parse_lifetime(p);
        return &bound->node;
    }
    bound->is_maybe = gp_parser_eat(p, GpTok_Question);
    bound->lifetimes = gp_parse_for_lifetimes(p);
    bound->path = gp_parse_path(p, GpPath_Type);
    if (has_parens)
        gp_parser_expect(p, GpTok_RParen);
    bound->node.span = gp_parser_since(p, first);
    return &bound->node;
}

static bool at_bound(GpParser *p) {
    GpTok tok = gp_parser_peek(p, 0);
    return gp_parser_is(p, GpTok_Lifetime) || tok == GpTok_Question || tok == GpTok_For ||
           tok == GpTok_LParen || gp_parser_at_path(p);
}

/* Bounds = [Bound {"+" Bound} ["+"]] */
GpNodeList gp_parse_bounds(GpParser *p) {
    GpNodeVec bounds = {0};
    while (at_bound(p)) {
        GpNode *bound = parse_bound(p);
        GP_PUSH(p->arena, &bounds, bound);
        if (!gp_parser_eat_punct(p, GpTok_Plus))
            break;
    }
    return gp_parser_list(&bounds);
}

static bool at_where_end(GpParser *p) {
    return gp_parser_is(p, GpTok_LBrace) || gp_parser_is(p, GpTok_Semi) ||
           gp_parser_is(p, GpTok_Eq) || p->parked;
}

/* Where = ["where" [Predicate {"," Predicate} [","]]]
** Predicate = (Lifetime | ForLifetimes Type) ":" Bounds */
GpNodeList gp_parse_where(GpParser *p) {
    GpNodeVec predicates = {0};
    if (!gp_parser_eat(p, GpTok_Where))
        return (GpNodeList){0};
    while (!at_where_end(p)) {
        GpSpan first = gp_parser_span(p);
        GpAstWhere *where = GP_AST_NEW(p->arena, Where, first);
        if (gp_parser_is(p, GpTok_Lifetime)) {
            where->lifetime = gp_parse_lifetime(p);
        } else {
            where->lifetimes = gp_parse_for_lifetimes(p);
            where->type = gp_parse_type(p);
        }
        if (gp_parser_expect(p, GpTok_Colon))
            where->bounds = gp_parse_bounds(p);
        where->node.span = gp_parser_since(p, first);
        GP_PUSH(p->arena, &predicates, &where->node);
        if (!gp_parser_eat(p, GpTok_Comma))
            break;
    }
    if (!at_where_end(p))
        gp_parser_unexpected(p);
    return gp_parser_list(&predicates);
}
