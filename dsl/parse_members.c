/* Members of structs, unions and enums, and use trees. */
#include "dsl/parse.h"

/* `;` between members is reported in rustc's words and taken for a comma. */
static bool eat_member_comma(GpParser *p, GpTok close, const char *what) {
    if (p->tok.tok == GpTok_Semi && gp_parser_may_report(p)) {
        GpSpan span = gp_parser_span(p);
        GpDiag *d =
            gp_diag(p->diags, GpDiag_G0016, span, gp_arena_printf(p->arena, "%s fields", what));
        gp_suggest(d, span, ",", "replace `;` with `,`");
        gp_parser_bump(p);
        return true;
    }
    return gp_parser_eat_comma(p, close);
}

/* Field = {Attr} [Visibility] Name ":" Type */
static GpNode *parse_field(GpParser *p) {
    GpNodeList attrs = gp_parse_outer_attrs(p);
    GpSpan first = gp_parser_span(p);
    if (p->tok.tok == GpTok_RBrace && gp_parser_report_lost_attrs(p, attrs, "field"))
        return NULL;
    bool is_pub = gp_parse_visibility(p);
    GpSym name = gp_parser_expect_name(p);
    GpNode *type = gp_parser_expect(p, GpTok_Colon) ? gp_parse_type(p) : NULL;
    GpAstFieldDef *field = GP_PARSER_NEW(p, FieldDef, first);
    field->attrs = attrs;
    field->is_pub = is_pub;
    field->name = name;
    field->type = type;
    return &field->node;
}

/* Fields = "{" [Field {"," Field} [","]] "}" */
GpNodeList gp_parse_fields(GpParser *p, const char *what) {
    GpNodeVec fields = {0};
    uint32_t close = p->partner[p->at];
    if (!gp_parser_expect(p, GpTok_LBrace))
        return gp_parser_list(&fields);
    while (!gp_parser_is(p, GpTok_RBrace) && !p->parked) {
        uint32_t start = p->at;
        GpNode *field = parse_field(p);
        if (field) {
            GP_PUSH(p->arena, &fields, field);
            eat_member_comma(p, GpTok_RBrace, what);
        }
        gp_parser_recover(p, start, close, GpTok_Comma);
    }
    gp_parser_expect(p, GpTok_RBrace);
    return gp_parser_list(&fields);
}

/* TupleFields = "(" [{Attr} [Visibility] Type {"," ..} [","]] ")" */
GpNodeList gp_parse_tuple_fields(GpParser *p) {
    GpNodeVec fields = {0};
    gp_parser_expect(p, GpTok_LParen);
    while (!gp_parser_is(p, GpTok_RParen) && !p->parked) {
        GpNodeList attrs = gp_parse_outer_attrs(p);
        GpSpan first = gp_parser_span(p);
        bool is_pub = gp_parse_visibility(p);
        GpNode *type = gp_parse_type(p);
        GpAstFieldDef *field = GP_PARSER_NEW(p, FieldDef, first);
        field->attrs = attrs;
        field->is_pub = is_pub;
        field->type = type;
        GP_PUSH(p->arena, &fields, &field->node);
        if (!gp_parser_eat_comma(p, GpTok_RParen))
            break;
    }
    gp_parser_expect(p, GpTok_RParen);
    return gp_parser_list(&fields);
}

/* Variant = {Attr} [Visibility] Name [Fields | TupleFields] ["=" Expr] */
static GpNode *parse_variant(GpParser *p) {
    GpNodeList attrs = gp_parse_outer_attrs(p), fields = {0};
    GpSpan first = gp_parser_span(p);
    if (p->tok.tok == GpTok_RBrace && gp_parser_report_lost_attrs(p, attrs, "variant"))
        return NULL;
    GpSym name = gp_parser_expect_name(p);
    bool is_tuple = gp_parser_is(p, GpTok_LParen);
    if (is_tuple)
        fields = gp_parse_tuple_fields(p);
    else if (gp_parser_is(p, GpTok_LBrace))
        fields = gp_parse_fields(p, "enum variant");
    GpNode *value = gp_parser_eat(p, GpTok_Eq) ? gp_parse_expr(p) : NULL;
    GpAstVariant *variant = GP_PARSER_NEW(p, Variant, first);
    variant->attrs = attrs;
    variant->name = name;
    variant->is_tuple = is_tuple;
    variant->fields = fields;
    variant->value = value;
    return &variant->node;
}

/* Enum = "enum" Name [Generics] [Where] "{" [Variant {"," Variant} [","]] "}" */
GpNode *gp_parse_enum(GpParser *p, GpNodeList attrs, GpSpan first, bool is_pub) {
    gp_parser_expect(p, GpTok_Enum);
    GpSym name = gp_parser_expect_name(p);
    GpNodeList generics = gp_parse_generics(p), where = gp_parse_where(p);
    GpNodeVec variants = {0};
    uint32_t close = p->partner[p->at];
    if (gp_parser_expect(p, GpTok_LBrace)) {
        while (!gp_parser_is(p, GpTok_RBrace) && !p->parked) {
            uint32_t start = p->at;
            GpNode *variant = parse_variant(p);
            if (variant) {
                GP_PUSH(p->arena, &variants, variant);
                eat_member_comma(p, GpTok_RBrace, "enum");
            }
            gp_parser_recover(p, start, close, GpTok_Comma);
        }
        gp_parser_expect(p, GpTok_RBrace);
    }
    GpAstEnum *e = GP_PARSER_NEW(p, Enum, first);
    e->attrs = attrs;
    e->is_pub = is_pub;
    e->name = name;
    e->generics = generics;
    e->where = where;
    e->variants = gp_parser_list(&variants);
    return &e->node;
}

static GpNode *parse_use_tree(GpParser *p, bool may_be_global);

/* UseGroup = "{" [UseTree {"," UseTree} [","]] "}" */
static GpNodeList parse_use_group(GpParser *p) {
    GpNodeVec trees = {0};
    gp_parser_expect(p, GpTok_LBrace);
    while (!gp_parser_is(p, GpTok_RBrace) && !p->parked) {
        GpNode *tree = parse_use_tree(p, true);
        GP_PUSH(p->arena, &trees, tree);
        if (!gp_parser_eat_comma(p, GpTok_RBrace))
            break;
    }
    gp_parser_expect(p, GpTok_RBrace);
    return gp_parser_list(&trees);
}

/* The name of one step of a use path: a name or self, super, crate, Self. */
static GpSym parse_use_name(GpParser *p) {
    GpTok tok = p->tok.tok;
    if (tok != GpTok_SelfVal && tok != GpTok_Super && tok != GpTok_Crate && tok != GpTok_SelfTy) {
        return gp_parser_expect_name(p);
    }
    GpSym name = gp_parser_sym(p, gp_parser_span(p));
    gp_parser_bump(p);
    return name;
}

static void parse_use_alias(GpParser *p, GpAstUseTree *tree) {
    if (gp_parser_eat(p, GpTok_As))
        tree->alias = gp_parser_expect_name(p);
}

/* What follows `::`: one child, or the children of a group with members. */
static GpNodeList parse_use_children(GpParser *p) {
    bool is_group = p->tok.tok == GpTok_LBrace && gp_parser_peek(p, 1) != GpTok_RBrace;
    if (is_group)
        return parse_use_group(p);
    GpNodeVec one = {0};
    GpNode *child = parse_use_tree(p, false);
    GP_PUSH(p->arena, &one, child);
    return gp_parser_list(&one);
}

/* UseTree = ["::"] ("*" | UseGroup | Name ["::" UseTree | "as" Name]); the first `::` not after a
 * name */
static GpNode *parse_use_tree(GpParser *p, bool may_be_global) {
    GpSpan first = gp_parser_span(p);
    GpAstUseTree *tree = GP_AST_NEW(p->arena, UseTree, first);
    if (gp_parser_enter(p)) {
        tree->is_global = may_be_global && gp_parser_eat(p, GpTok_ColonColon);
        if (gp_parser_eat(p, GpTok_Star)) {
            tree->is_glob = true;
        } else if (gp_parser_is(p, GpTok_LBrace)) {
            tree->is_group = true;
            tree->children = parse_use_group(p);
        } else {
            tree->name = parse_use_name(p);
            if (gp_parser_eat(p, GpTok_ColonColon))
                tree->children = parse_use_children(p);
            else
                parse_use_alias(p, tree);
        }
    }
    gp_parser_leave(p);
    tree->node.span = gp_parser_since(p, first);
    return &tree->node;
}

/* Use = "use" UseTree ";" */
GpNode *gp_parse_use(GpParser *p, GpNodeList attrs, GpSpan first, bool is_pub) {
    gp_parser_expect(p, GpTok_Use);
    GpNode *tree = parse_use_tree(p, true);
    gp_parser_expect_semi(p);
    GpAstUse *use = GP_PARSER_NEW(p, Use, first);
    use->attrs = attrs;
    use->is_pub = is_pub;
    use->tree = tree;
    return &use->node;
}
