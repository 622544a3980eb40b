/* Items: what stands in a file, a module, an impl, a trait or an extern block. */
#include "dsl/parse.h"

/* Visibility = "pub" ["(" ("crate" | "self" | "super" | "in" Path) ")"]; a kernel module has no
** outside, so how far `pub` reaches is not kept. */
bool gp_parse_visibility(GpParser *p) {
    if (!gp_parser_eat(p, GpTok_Pub))
        return false;
    if (p->tok.tok != GpTok_LParen)
        return true;
    GpTok next = gp_parser_peek(p, 1);
    bool is_scope = gp_parser_peek(p, 2) == GpTok_RParen &&
                    (next == GpTok_Crate || next == GpTok_SelfVal || next == GpTok_Super);
    if (is_scope) {
        gp_parser_skip_group(p);
    } else if (next == GpTok_In) {
        gp_parser_bump(p);
        gp_parser_bump(p);
        gp_parse_path(p, GpPath_Plain);
        gp_parser_expect(p, GpTok_RParen);
    }
    return true;
}

/* Abi = [Str] */
GpNode *gp_parse_abi(GpParser *p) { return gp_parser_is(p, GpTok_Str) ? gp_parse_lit(p) : NULL; }

typedef struct GpFnHead {
    bool is_const, is_async, is_unsafe, is_extern;
    GpNode *abi;
} GpFnHead;

/* FnHead = ["const"] ["async"] ["unsafe"] ["extern" [Abi]] "fn" */
static GpFnHead parse_fn_head(GpParser *p) {
    GpFnHead head = {0};
    GpSpan span;
    head.is_const = gp_parser_eat(p, GpTok_Const);
    span = gp_parser_span(p);
    head.is_async = gp_parser_eat(p, GpTok_Async);
    if (head.is_async)
        gp_parser_unsupported(p, span, "`async` functions");
    head.is_unsafe = gp_parser_eat(p, GpTok_Unsafe);
    if (gp_parser_is_weak(p, 0, GpTok_Safe) && gp_parser_peek(p, 1) == GpTok_Fn)
        gp_parser_bump(p);
    head.is_extern = gp_parser_eat(p, GpTok_Extern);
    if (head.is_extern)
        head.abi = gp_parse_abi(p);
    gp_parser_expect(p, GpTok_Fn);
    return head;
}

/* Does a function start here? Looks over const, async, unsafe, extern "abi". */
static bool at_fn(const GpParser *p) {
    uint32_t i = 0;
    for (;; i++) {
        GpTok tok = gp_parser_peek(p, i);
        if (tok == GpTok_Fn)
            return true;
        bool is_head = tok == GpTok_Const || tok == GpTok_Async || tok == GpTok_Unsafe ||
                       tok == GpTok_Extern || (tok == GpTok_Str && i > 0) ||
                       gp_parser_is_weak(p, i, GpTok_Safe);
        if (!is_head || i > 5)
            return false;
    }
}

/* SelfParam = ["&" [Lifetime]] ["mut"] "self" [":" Type] */
static GpNode *parse_self_param(GpParser *p, GpNodeList attrs) {
    uint32_t i = 0;
    bool is_ref = gp_parser_peek(p, 0) == GpTok_And;
    if (is_ref)
        i++;
    if (is_ref && gp_parser_peek(p, i) == GpTok_Lifetime)
        i++;
    if (gp_parser_peek(p, i) == GpTok_Mut)
        i++;
    if (gp_parser_peek(p, i) != GpTok_SelfVal || gp_parser_peek(p, i + 1) == GpTok_ColonColon)
        return NULL;
    GpSpan first = gp_parser_span(p);
    GpSym lifetime = NULL;
    GpNode *type = NULL;
    gp_parser_eat(p, GpTok_And);
    if (is_ref && p->tok.tok == GpTok_Lifetime)
        lifetime = gp_parse_lifetime(p);
    bool is_mut = gp_parser_eat(p, GpTok_Mut);
    gp_parser_bump(p);
    if (gp_parser_eat(p, GpTok_Colon))
        type = gp_parse_type(p);
    GpAstSelfParam *self = GP_PARSER_NEW(p, SelfParam, first);
    self->attrs = attrs;
    self->is_ref = is_ref;
    self->lifetime = lifetime;
    self->is_mut = is_mut;
    self->type = type;
    return &self->node;
}

/* Param = {Attr} Pat ":" Type */
static GpNode *parse_param(GpParser *p) {
    GpNodeList attrs = gp_parse_outer_attrs(p);
    GpNode *self = parse_self_param(p, attrs);
    if (self)
        return self;
    GpSpan first = gp_parser_span(p);
    GpNode *pat = gp_parse_pat_no_or(p), *type = NULL;
    if (gp_parser_expect(p, GpTok_Colon))
        type = gp_parse_type(p);
    GpAstParam *param = GP_PARSER_NEW(p, Param, first);
    param->attrs = attrs;
    param->pat = pat;
    param->type = type;
    return &param->node;
}

/* Params = "(" [Param {"," Param} [","]] ")" */
static GpNodeList parse_params(GpParser *p) {
    GpNodeVec params = {0};
    uint32_t close = p->partner[p->at];
    if (!gp_parser_expect(p, GpTok_LParen))
        return gp_parser_list(&params);
    while (!gp_parser_is(p, GpTok_RParen) && !p->parked) {
        uint32_t start = p->at;
        GpNode *param = parse_param(p);
        bool has_more = gp_parser_eat_comma(p, GpTok_RParen);
        gp_parser_recover(p, start, close, GpTok_Comma);
        GP_PUSH(p->arena, &params, param);
        if (!has_more && p->tok.tok == GpTok_RParen)
            break;
    }
    gp_parser_expect(p, GpTok_RParen);
    return gp_parser_list(&params);
}

/* Fn = FnHead Name [Generics] Params ["->" Type] [Where] (Block | ";") */
static GpNode *parse_fn(GpParser *p, GpNodeList attrs, GpSpan first, bool is_pub) {
    GpFnHead head = parse_fn_head(p);
    GpSym name = gp_parser_expect_name(p);
    GpNodeList generics = gp_parse_generics(p);
    GpNodeList params = parse_params(p);
    GpNode *ret = gp_parse_ret(p), *body = NULL;
    GpNodeList where = gp_parse_where(p);
    GpNodeVec inner = {0};
    if (!gp_parser_eat(p, GpTok_Semi)) {
        if (gp_parser_is(p, GpTok_LBrace))
            body = gp_parse_block(p, &inner);
        else
            gp_parser_unexpected(p);
    }
    GpAstFn *fn = GP_PARSER_NEW(p, Fn, first);
    fn->attrs = gp_parser_join(p, attrs, gp_parser_list(&inner));
    fn->is_pub = is_pub;
    fn->is_const = head.is_const;
    fn->is_unsafe = head.is_unsafe;
    fn->is_extern = head.is_extern;
    fn->abi = head.abi;
    fn->name = name;
    fn->generics = generics;
    fn->params = params;
    fn->ret = ret;
    fn->where = where;
    fn->body = body;
    return &fn->node;
}

/* Module = "mod" Name ("{" {InnerAttr} {Item} "}" | ";") */
static GpNode *parse_module(GpParser *p, GpNodeList attrs, GpSpan first, bool is_pub) {
    gp_parser_expect(p, GpTok_Mod);
    GpSym name = gp_parser_expect_name(p);
    GpNodeVec items = {0}, inner = {0};
    bool is_file = gp_parser_eat(p, GpTok_Semi);
    uint32_t close = p->partner[p->at];
    if (!is_file && gp_parser_expect(p, GpTok_LBrace)) {
        gp_parse_inner_attrs(p, &inner);
        gp_parse_items(p, close, &items);
        gp_parser_expect(p, GpTok_RBrace);
    }
    GpAstModule *mod = GP_PARSER_NEW(p, Module, first);
    mod->attrs = gp_parser_join(p, attrs, gp_parser_list(&inner));
    mod->is_pub = is_pub;
    mod->name = name;
    mod->is_file = is_file;
    mod->items = gp_parser_list(&items);
    return &mod->node;
}

/* The `: Type` of a const or static, which has to be there. */
static GpNode *parse_item_type(GpParser *p, const char *what) {
    if (gp_parser_eat(p, GpTok_Colon))
        return gp_parse_type(p);
    if ((p->tok.tok == GpTok_Eq || p->tok.tok == GpTok_Semi) && gp_parser_may_report(p)) {
        GpSpan gap = {p->prev.src, p->prev.off + p->prev.len, 0};
        GpDiag *d = gp_diag(p->diags, GpDiag_G0009, gap,
                            gp_arena_printf(p->arena, "type for `%s` item", what));
        GpTok value = p->tok.tok == GpTok_Eq ? gp_parser_peek(p, 1) : GpTok_End;
        const char *type = value == GpTok_Float ? ": f32" : value == GpTok_Int ? ": i32" : ": <type>";
        gp_suggest(d, gap, type, "provide a type for the item");
        return NULL;
    }
    gp_parser_unexpected(p);
    return NULL;
}

/* Const = "const" (Name | "_") ":" Type ["=" Expr] ";" */
static GpNode *parse_const(GpParser *p, GpNodeList attrs, GpSpan first, bool is_pub) {
    gp_parser_expect(p, GpTok_Const);
    bool is_unnamed =
        p->tok.tok == GpTok_Name && p->tok.len == 1 && p->src->text[p->tok.off] == '_';
    GpSym name = NULL;
    if (is_unnamed)
        gp_parser_bump(p);
    else
        name = gp_parser_expect_name(p);
    GpNode *type = parse_item_type(p, "const"), *value = NULL;
    if (gp_parser_eat(p, GpTok_Eq))
        value = gp_parse_expr(p);
    gp_parser_expect_semi(p);
    GpAstConst *c = GP_PARSER_NEW(p, Const, first);
    c->attrs = attrs;
    c->is_pub = is_pub;
    c->name = name;
    c->type = type;
    c->value = value;
    return &c->node;
}

/* Static = "static" ["mut"] Name ":" Type ["=" Expr] ";" */
static GpNode *parse_static(GpParser *p, GpNodeList attrs, GpSpan first, bool is_pub) {
    gp_parser_expect(p, GpTok_Static);
    bool is_mut = gp_parser_eat(p, GpTok_Mut);
    GpSym name = gp_parser_expect_name(p);
    GpNode *type = parse_item_type(p, "static"), *value = NULL;
    if (gp_parser_eat(p, GpTok_Eq))
        value = gp_parse_expr(p);
    gp_parser_expect_semi(p);
    GpAstStatic *s = GP_PARSER_NEW(p, Static, first);
    s->attrs = attrs;
    s->is_pub = is_pub;
    s->is_mut = is_mut;
    s->name = name;
    s->type = type;
    s->value = value;
    return &s->node;
}

/* TypeAlias = "type" Name [Generics] [":" Bounds] [Where] ["=" Type] [Where] ";" */
static GpNode *parse_type_alias(GpParser *p, GpNodeList attrs, GpSpan first, bool is_pub) {
    gp_parser_expect(p, GpTok_Type);
    GpSym name = gp_parser_expect_name(p);
    GpNodeList generics = gp_parse_generics(p), bounds = {0};
    if (gp_parser_eat(p, GpTok_Colon))
        bounds = gp_parse_bounds(p);
    GpNodeList where = gp_parse_where(p);
    GpNode *type = gp_parser_eat(p, GpTok_Eq) ? gp_parse_type(p) : NULL;
    where = gp_parser_join(p, where, gp_parse_where(p));
    gp_parser_expect_semi(p);
    GpAstTypeAlias *alias = GP_PARSER_NEW(p, TypeAlias, first);
    alias->attrs = attrs;
    alias->is_pub = is_pub;
    alias->name = name;
    alias->generics = generics;
    alias->bounds = bounds;
    alias->where = where;
    alias->type = type;
    return &alias->node;
}

/* Struct = "struct" Name [Generics] ([Where] Fields | TupleFields [Where] ";" | [Where] ";") */
static GpNode *parse_struct(GpParser *p, GpNodeList attrs, GpSpan first, bool is_pub) {
    gp_parser_expect(p, GpTok_Struct);
    GpSym name = gp_parser_expect_name(p);
    GpNodeList generics = gp_parse_generics(p), where = gp_parse_where(p), fields = {0};
    bool is_tuple = false, is_unit = false;
    if (where.len == 0 && gp_parser_is(p, GpTok_LParen)) {
        is_tuple = true;
        fields = gp_parse_tuple_fields(p);
        where = gp_parse_where(p);
        gp_parser_expect_semi(p);
    } else if (gp_parser_eat(p, GpTok_Semi)) {
        is_unit = true;
    } else if (gp_parser_is(p, GpTok_LBrace)) {
        fields = gp_parse_fields(p, "struct");
    } else {
        gp_parser_unexpected(p);
    }
    GpAstStruct *s = GP_PARSER_NEW(p, Struct, first);
    s->attrs = attrs;
    s->is_pub = is_pub;
    s->name = name;
    s->generics = generics;
    s->where = where;
    s->is_tuple = is_tuple;
    s->is_unit = is_unit;
    s->fields = fields;
    return &s->node;
}

/* Union = "union" Name [Generics] [Where] Fields */
static GpNode *parse_union(GpParser *p, GpNodeList attrs, GpSpan first, bool is_pub) {
    gp_parser_bump(p);
    GpSym name = gp_parser_expect_name(p);
    GpNodeList generics = gp_parse_generics(p), where = gp_parse_where(p);
    GpNodeList fields = gp_parse_fields(p, "union");
    GpAstUnion *u = GP_PARSER_NEW(p, Union, first);
    u->attrs = attrs;
    u->is_pub = is_pub;
    u->name = name;
    u->generics = generics;
    u->where = where;
    u->fields = fields;
    return &u->node;
}

/* Members = "{" {InnerAttr} {Item} "}" */
static GpNodeList parse_members(GpParser *p, GpNodeList *inner) {
    GpNodeVec items = {0}, attrs = {0};
    uint32_t close = p->partner[p->at];
    if (gp_parser_expect(p, GpTok_LBrace)) {
        gp_parse_inner_attrs(p, &attrs);
        gp_parse_items(p, close, &items);
        gp_parser_expect(p, GpTok_RBrace);
    }
    *inner = gp_parser_list(&attrs);
    return gp_parser_list(&items);
}

/* Trait = ["unsafe"] "trait" Name [Generics] [":" Bounds] [Where] Members */
static GpNode *parse_trait(GpParser *p, GpNodeList attrs, GpSpan first, bool is_pub) {
    bool is_unsafe = gp_parser_eat(p, GpTok_Unsafe);
    gp_parser_expect(p, GpTok_Trait);
    GpSym name = gp_parser_expect_name(p);
    GpNodeList generics = gp_parse_generics(p), bounds = {0};
    if (gp_parser_eat(p, GpTok_Colon))
        bounds = gp_parse_bounds(p);
    GpNodeList where = gp_parse_where(p), inner = {0};
    GpNodeList items = parse_members(p, &inner);
    GpAstTrait *t = GP_PARSER_NEW(p, Trait, first);
    t->attrs = gp_parser_join(p, attrs, inner);
    t->is_pub = is_pub;
    t->is_unsafe = is_unsafe;
    t->name = name;
    t->generics = generics;
    t->bounds = bounds;
    t->where = where;
    t->items = items;
    return &t->node;
}

/* Impl = ["unsafe"] "impl" [Generics] [["!"] Path "for"] Type [Where] Members */
static GpNode *parse_impl(GpParser *p, GpNodeList attrs, GpSpan first) {
    bool is_unsafe = gp_parser_eat(p, GpTok_Unsafe);
    gp_parser_expect(p, GpTok_Impl);
    GpNodeList generics = gp_parse_generics(p), inner = {0};
    bool is_negative = gp_parser_eat(p, GpTok_Not);
    GpNode *self_type = gp_parse_type(p), *trait = NULL;
    if (gp_parser_eat(p, GpTok_For)) {
        trait = self_type->kind == GpNode_TypePath ? GP_AS(TypePath, self_type)->path : NULL;
        if (!trait && gp_parser_may_report(p)) {
            gp_primary_label(gp_diag(p->diags, GpDiag_G0001, self_type->span, "a trait", "type"),
                             "not a trait");
        }
        self_type = gp_parse_type(p);
    }
    GpNodeList where = gp_parse_where(p);
    GpNodeList items = parse_members(p, &inner);
    GpAstImpl *impl = GP_PARSER_NEW(p, Impl, first);
    impl->attrs = gp_parser_join(p, attrs, inner);
    impl->is_unsafe = is_unsafe;
    impl->generics = generics;
    impl->is_negative = is_negative;
    impl->trait = trait;
    impl->self_type = self_type;
    impl->where = where;
    impl->items = items;
    return &impl->node;
}

/* Extern = ["unsafe"] "extern" [Abi] Members */
static GpNode *parse_extern(GpParser *p, GpNodeList attrs, GpSpan first) {
    bool is_unsafe = gp_parser_eat(p, GpTok_Unsafe);
    gp_parser_expect(p, GpTok_Extern);
    if (gp_parser_peek(p, 0) == GpTok_Crate) {
        gp_parser_unsupported(p, gp_parser_since(p, first), "`extern crate` items");
        gp_parser_park(p);
    }
    GpNodeList inner = {0};
    GpNode *abi = gp_parse_abi(p);
    GpNodeList items = parse_members(p, &inner);
    GpAstExtern *e = GP_PARSER_NEW(p, Extern, first);
    e->attrs = gp_parser_join(p, attrs, inner);
    e->is_unsafe = is_unsafe;
    e->abi = abi;
    e->items = items;
    return &e->node;
}

/* MacroItem = MacroCall [";"]; the semicolon may be missing only after braces */
static GpNode *parse_macro_item(GpParser *p, GpNodeList attrs, GpSpan first) {
    GpNode *path = gp_parse_path(p, GpPath_Plain);
    GpNode *macro = gp_parse_macro(p, path);
    bool has_braces = macro->kind == GpNode_Macro && GP_AS(Macro, macro)->open == GpTok_LBrace;
    if (!gp_parser_eat(p, GpTok_Semi) && !has_braces)
        gp_parser_expect_semi(p);
    GpAstMacroItem *item = GP_PARSER_NEW(p, MacroItem, first);
    item->attrs = attrs;
    item->macro = macro;
    return &item->node;
}

/* Where a Bad node will not do: `unsafe` and `const` begin blocks as well. */
bool gp_parser_at_item(const GpParser *p) {
    GpTok tok = gp_parser_peek(p, 0), next = gp_parser_peek(p, 1);
    if (at_fn(p))
        return true;
    if (tok == GpTok_Const)
        return next != GpTok_LBrace && next != GpTok_Or && next != GpTok_OrOr && next != GpTok_Move;
    if (tok == GpTok_Unsafe)
        return next == GpTok_Impl || next == GpTok_Trait || next == GpTok_Extern;
    if (tok == GpTok_Name) {
        return (gp_parser_is_weak(p, 0, GpTok_Union) && next == GpTok_Name &&
                gp_parser_peek(p, 2) != GpTok_Not) ||
               (gp_parser_is_weak(p, 0, GpTok_MacroRules) && next == GpTok_Not &&
                gp_parser_peek(p, 2) == GpTok_Name);
    }
    return tok == GpTok_Pub || tok == GpTok_Struct || tok == GpTok_Enum || tok == GpTok_Trait ||
           tok == GpTok_Impl || tok == GpTok_Mod || tok == GpTok_Use || tok == GpTok_Type ||
           tok == GpTok_Extern || tok == GpTok_Static;
}

/* The item after its attributes and visibility. */
static GpNode *parse_item_kind(GpParser *p, GpNodeList attrs, GpSpan first, bool is_pub) {
    GpTok tok = gp_parser_peek(p, 0), second = gp_parser_peek(p, 1);
    GpTok kind = tok == GpTok_Unsafe ? second : tok;
    if (at_fn(p))
        return parse_fn(p, attrs, first, is_pub);
    if (kind == GpTok_Mod)
        return parse_module(p, attrs, first, is_pub);
    if (kind == GpTok_Struct)
        return parse_struct(p, attrs, first, is_pub);
    if (kind == GpTok_Enum)
        return gp_parse_enum(p, attrs, first, is_pub);
    if (kind == GpTok_Const)
        return parse_const(p, attrs, first, is_pub);
    if (kind == GpTok_Static)
        return parse_static(p, attrs, first, is_pub);
    if (kind == GpTok_Type)
        return parse_type_alias(p, attrs, first, is_pub);
    if (kind == GpTok_Use)
        return gp_parse_use(p, attrs, first, is_pub);
    if (kind == GpTok_Trait)
        return parse_trait(p, attrs, first, is_pub);
    if (kind == GpTok_Impl && !is_pub)
        return parse_impl(p, attrs, first);
    if (kind == GpTok_Extern && !is_pub)
        return parse_extern(p, attrs, first);
    if (gp_parser_is_weak(p, 0, GpTok_Union) && second == GpTok_Name)
        return parse_union(p, attrs, first, is_pub);
    if (gp_parser_is_weak(p, 0, GpTok_MacroRules) && second == GpTok_Not)
        return gp_parse_macro_rules(p, attrs);
    if (!is_pub && tok == GpTok_Name)
        return parse_macro_item(p, attrs, first);
    return NULL;
}

/* Item = {Attr} [Visibility] ItemKind */
GpNode *gp_parse_item(GpParser *p, GpNodeList attrs) {
    GpSpan first = gp_parser_span(p);
    if (!gp_parser_enter(p)) {
        gp_parser_leave(p);
        return gp_parser_bad(p);
    }
    bool is_pub = gp_parse_visibility(p);
    GpNode *item = parse_item_kind(p, attrs, first, is_pub);
    if (!item && is_pub && gp_parser_may_report(p)) {
        gp_primary_label(gp_diag(p->diags, GpDiag_G0019, first), "the visibility");
    } else if (!item && !gp_parser_report_lost_attrs(p, attrs, "item")) {
        gp_parser_expected(p, "item");
    }
    if (!item)
        gp_parser_park(p);
    gp_parser_leave(p);
    return item ? item : gp_parser_bad(p);
}

/* Items = {Item}, up to the token `close` */
void gp_parse_items(GpParser *p, uint32_t close, GpNodeVec *out) {
    while (p->at < close && !p->parked) {
        uint32_t start = p->at;
        GpNodeList attrs = gp_parse_outer_attrs(p);
        if (!p->parked) {
            GpNode *item = gp_parse_item(p, attrs);
            if (item->kind != GpNode_Bad)
                GP_PUSH(p->arena, out, item);
        }
        gp_parser_recover(p, start, close, GpTok_Semi);
    }
}
