/* Prints a tree as source that parses to an equal tree: common parts and items. Types and
** patterns are in ast_print_type.c, statements and expressions in ast_print_expr.c. */
#include "dsl/ast_print.h"

void gp_print_puts(GpPrinter *p, const char *text) { gp_text_puts(p->out, text); }

void gp_print_line(GpPrinter *p) {
    gp_text_puts(p->out, "\n");
    gp_text_pad(p->out, ' ', p->indent * 4);
}

void gp_print_sym(GpPrinter *p, GpSym sym) {
    if (sym)
        gp_text_add(p->out, sym->name, sym->len);
}

void gp_print_name(GpPrinter *p, GpSym name) {
    if (!name) {
        gp_print_puts(p, "_");
        return;
    }
    GpTok tok = gp_tok_keyword(name->name, name->len);
    bool is_plain = tok == GpTok_Name || tok == GpTok_SelfVal || tok == GpTok_SelfTy ||
                    tok == GpTok_Super || tok == GpTok_Crate;
    if (!is_plain)
        gp_print_puts(p, "r#");
    gp_print_sym(p, name);
}

void gp_print_list(GpPrinter *p, GpNodeList list, const char *sep) {
    for (uint32_t i = 0; i < list.len; i++) {
        if (i > 0)
            gp_print_puts(p, sep);
        gp_print_node(p, list.at[i]);
    }
}

static bool has_attr(GpNodeList attrs, bool is_inner) {
    for (uint32_t i = 0; i < attrs.len; i++) {
        if (GP_AS(Attr, attrs.at[i])->is_inner == is_inner)
            return true;
    }
    return false;
}

void gp_print_block_of(GpPrinter *p, GpNodeList inner, GpNodeList list, const char *after,
                       const GpNode *tail) {
    gp_print_puts(p, "{");
    p->indent++;
    if (has_attr(inner, true)) {
        gp_print_line(p);
        gp_print_attrs(p, inner, true, true);
    }
    for (uint32_t i = 0; i < list.len; i++) {
        gp_print_line(p);
        gp_print_node(p, list.at[i]);
        gp_print_puts(p, after);
    }
    if (tail)
        gp_print_line(p);
    gp_print_node(p, tail);
    p->indent--;
    if (list.len > 0 || tail || has_attr(inner, true))
        gp_print_line(p);
    gp_print_puts(p, "}");
}

/* Attributes */

/* A doc literal that can stand as `/// text`: one line, only \\ and \" escaped. */
static bool is_line_doc(const GpAstAttr *a) {
    if (!a->value || a->value->kind != GpNode_Lit || a->args.len > 0)
        return false;
    GpNodeList segs = GP_AS(Path, a->path)->segments;
    GpSym name = GP_AS(Segment, segs.at[0])->name;
    const GpAstLit *lit = GP_AS(Lit, a->value);
    if (segs.len != 1 || name->len != 3 || memcmp(name->name, "doc", 3) != 0 ||
        lit->tok != GpTok_Str)
        return false;
    const char *text = lit->text->name;
    if (text[0] != '"' || text[1] == '/')
        return false;
    for (uint32_t i = 1; i + 1 < lit->text->len; i++) {
        if (text[i] == '\n' || text[i] == '\r')
            return false;
        if (text[i] == '\\' && text[++i] != '\\' && text[i] != '"')
            return false;
    }
    return true;
}

static void print_doc(GpPrinter *p, const GpAstAttr *a) {
    GpSym text = GP_AS(Lit, a->value)->text;
    gp_print_puts(p, a->is_inner ? "//!" : "///");
    for (uint32_t i = 1; i + 1 < text->len; i++) {
        if (text->name[i] == '\\')
            i++;
        gp_text_add(p->out, &text->name[i], 1);
    }
}

static void print_attr_path(GpPrinter *p, const GpNode *n) {
    GpNodeList segs = ((const GpAstPath *)n)->segments;
    if (((const GpAstPath *)n)->is_global)
        gp_print_puts(p, "::");
    for (uint32_t i = 0; i < segs.len; i++) {
        if (i > 0)
            gp_print_puts(p, "::");
        gp_print_sym(p, GP_AS(Segment, segs.at[i])->name);
    }
}

void gp_print_Attr(GpPrinter *p, const GpAstAttr *a) {
    gp_print_puts(p, a->is_inner ? "#![" : "#[");
    print_attr_path(p, a->path);
    if (a->args.len > 0 || a->tokens) {
        gp_print_puts(p, "(");
        gp_print_list(p, a->args, ", ");
        gp_print_node(p, a->tokens);
        gp_print_puts(p, ")");
    } else if (a->value) {
        gp_print_puts(p, " = ");
        gp_print_node(p, a->value);
    }
    gp_print_puts(p, "]");
}

void gp_print_attrs(GpPrinter *p, GpNodeList attrs, bool is_inner, bool on_lines) {
    bool is_first = true;
    for (uint32_t i = 0; i < attrs.len; i++) {
        const GpAstAttr *a = GP_AS(Attr, attrs.at[i]);
        if (a->is_inner != is_inner)
            continue;
        if (is_inner && !is_first)
            gp_print_line(p);
        is_first = false;
        bool is_doc = is_line_doc(a);
        if (is_doc)
            print_doc(p, a);
        else
            gp_print_Attr(p, a);
        if (is_inner)
            continue;
        if (on_lines || is_doc)
            gp_print_line(p);
        else
            gp_print_puts(p, " ");
    }
}

/* Items */

static void print_flag(GpPrinter *p, bool flag, const char *text) {
    if (flag)
        gp_print_puts(p, text);
}

static void print_opt(GpPrinter *p, const char *before, const GpNode *n) {
    if (!n)
        return;
    gp_print_puts(p, before);
    gp_print_node(p, n);
}

static void print_generics(GpPrinter *p, GpNodeList generics) {
    if (generics.len == 0)
        return;
    gp_print_puts(p, "<");
    gp_print_list(p, generics, ", ");
    gp_print_puts(p, ">");
}

void gp_print_bounds(GpPrinter *p, const char *before, GpNodeList bounds) {
    if (bounds.len == 0)
        return;
    gp_print_puts(p, before);
    gp_print_list(p, bounds, " + ");
}

static void print_where(GpPrinter *p, GpNodeList where) {
    if (where.len == 0)
        return;
    gp_print_line(p);
    gp_print_puts(p, "where");
    p->indent++;
    for (uint32_t i = 0; i < where.len; i++) {
        gp_print_line(p);
        gp_print_node(p, where.at[i]);
        gp_print_puts(p, ",");
    }
    p->indent--;
    gp_print_line(p);
}

static void print_head(GpPrinter *p, GpNodeList attrs, bool is_pub) {
    gp_print_attrs(p, attrs, false, true);
    print_flag(p, is_pub, "pub ");
}

void gp_print_Fn(GpPrinter *p, const GpAstFn *n) {
    print_head(p, n->attrs, n->is_pub);
    print_flag(p, n->is_const, "const ");
    print_flag(p, n->is_unsafe, "unsafe ");
    print_flag(p, n->is_extern, "extern ");
    gp_print_node(p, n->abi);
    print_flag(p, n->abi != NULL, " ");
    gp_print_puts(p, "fn ");
    gp_print_name(p, n->name);
    print_generics(p, n->generics);
    gp_print_puts(p, "(");
    gp_print_list(p, n->params, ", ");
    gp_print_puts(p, ")");
    print_opt(p, " -> ", n->ret);
    print_where(p, n->where);
    if (!n->body) {
        gp_print_puts(p, ";");
        return;
    }
    print_flag(p, n->where.len == 0, " ");
    const GpAstBlock *body = GP_AS(Block, n->body);
    gp_print_block_of(p, n->attrs, body->stmts, "", body->tail); /* inner attributes stand inside */
}

static void print_fields(GpPrinter *p, bool is_tuple, GpNodeList fields) {
    if (is_tuple) {
        gp_print_puts(p, "(");
        gp_print_list(p, fields, ", ");
        gp_print_puts(p, ")");
    } else {
        gp_print_puts(p, " ");
        gp_print_block_of(p, (GpNodeList){0}, fields, ",", NULL);
    }
}

void gp_print_Struct(GpPrinter *p, const GpAstStruct *n) {
    print_head(p, n->attrs, n->is_pub);
    gp_print_puts(p, "struct ");
    gp_print_name(p, n->name);
    print_generics(p, n->generics);
    if (!n->is_tuple)
        print_where(p, n->where);
    if (!n->is_unit)
        print_fields(p, n->is_tuple, n->fields);
    if (n->is_tuple)
        print_where(p, n->where);
    print_flag(p, n->is_unit || n->is_tuple, ";");
}

void gp_print_Union(GpPrinter *p, const GpAstUnion *n) {
    print_head(p, n->attrs, n->is_pub);
    gp_print_puts(p, "union ");
    gp_print_name(p, n->name);
    print_generics(p, n->generics);
    print_where(p, n->where);
    print_fields(p, false, n->fields);
}

void gp_print_Enum(GpPrinter *p, const GpAstEnum *n) {
    print_head(p, n->attrs, n->is_pub);
    gp_print_puts(p, "enum ");
    gp_print_name(p, n->name);
    print_generics(p, n->generics);
    print_where(p, n->where);
    print_fields(p, false, n->variants);
}

void gp_print_Trait(GpPrinter *p, const GpAstTrait *n) {
    print_head(p, n->attrs, n->is_pub);
    print_flag(p, n->is_unsafe, "unsafe ");
    gp_print_puts(p, "trait ");
    gp_print_name(p, n->name);
    print_generics(p, n->generics);
    gp_print_bounds(p, ": ", n->bounds);
    print_where(p, n->where);
    print_flag(p, n->where.len == 0, " ");
    gp_print_block_of(p, n->attrs, n->items, "", NULL);
}

void gp_print_Impl(GpPrinter *p, const GpAstImpl *n) {
    print_head(p, n->attrs, false);
    print_flag(p, n->is_unsafe, "unsafe ");
    gp_print_puts(p, "impl");
    print_generics(p, n->generics);
    gp_print_puts(p, n->is_negative ? " !" : " ");
    gp_print_node(p, n->trait);
    print_flag(p, n->trait != NULL, " for ");
    gp_print_node(p, n->self_type);
    print_where(p, n->where);
    print_flag(p, n->where.len == 0, " ");
    gp_print_block_of(p, n->attrs, n->items, "", NULL);
}

void gp_print_Module(GpPrinter *p, const GpAstModule *n) {
    print_head(p, n->attrs, n->is_pub);
    gp_print_puts(p, "mod ");
    gp_print_name(p, n->name);
    gp_print_puts(p, n->is_file ? ";" : " ");
    if (!n->is_file)
        gp_print_block_of(p, n->attrs, n->items, "", NULL);
}

void gp_print_TypeAlias(GpPrinter *p, const GpAstTypeAlias *n) {
    print_head(p, n->attrs, n->is_pub);
    gp_print_puts(p, "type ");
    gp_print_name(p, n->name);
    print_generics(p, n->generics);
    gp_print_bounds(p, ": ", n->bounds);
    print_opt(p, " = ", n->type);
    print_where(p, n->where);
    gp_print_puts(p, ";");
}

void gp_print_Const(GpPrinter *p, const GpAstConst *n) {
    print_head(p, n->attrs, n->is_pub);
    gp_print_puts(p, "const ");
    gp_print_name(p, n->name);
    print_opt(p, ": ", n->type);
    print_opt(p, " = ", n->value);
    gp_print_puts(p, ";");
}

void gp_print_Static(GpPrinter *p, const GpAstStatic *n) {
    print_head(p, n->attrs, n->is_pub);
    gp_print_puts(p, n->is_mut ? "static mut " : "static ");
    gp_print_name(p, n->name);
    print_opt(p, ": ", n->type);
    print_opt(p, " = ", n->value);
    gp_print_puts(p, ";");
}

void gp_print_UseTree(GpPrinter *p, const GpAstUseTree *n) {
    print_flag(p, n->is_global, "::");
    if (n->name)
        gp_print_name(p, n->name);
    print_flag(p, n->name && n->children.len > 0, "::");
    print_flag(p, n->is_glob, "*");
    bool has_braces = n->is_group || n->children.len > 1;
    print_flag(p, has_braces, "{");
    gp_print_list(p, n->children, ", ");
    print_flag(p, has_braces, "}");
    if (n->alias) {
        gp_print_puts(p, " as ");
        gp_print_name(p, n->alias);
    }
}

void gp_print_Use(GpPrinter *p, const GpAstUse *n) {
    print_head(p, n->attrs, n->is_pub);
    gp_print_puts(p, "use ");
    gp_print_node(p, n->tree);
    gp_print_puts(p, ";");
}

void gp_print_Extern(GpPrinter *p, const GpAstExtern *n) {
    print_head(p, n->attrs, false);
    print_flag(p, n->is_unsafe, "unsafe ");
    gp_print_puts(p, "extern ");
    gp_print_node(p, n->abi);
    print_flag(p, n->abi != NULL, " ");
    gp_print_block_of(p, n->attrs, n->items, "", NULL);
}

void gp_print_MacroRules(GpPrinter *p, const GpAstMacroRules *n) {
    print_head(p, n->attrs, false);
    gp_print_puts(p, "macro_rules! ");
    gp_print_name(p, n->name);
    gp_print_puts(p, " {\n");
    gp_print_node(p, n->body);
    gp_print_puts(p, "\n}");
}

void gp_print_MacroItem(GpPrinter *p, const GpAstMacroItem *n) {
    print_head(p, n->attrs, false);
    gp_print_node(p, n->macro);
    bool has_braces =
        n->macro->kind == GpNode_Macro && GP_AS(Macro, n->macro)->open == GpTok_LBrace;
    print_flag(p, !has_braces, ";");
}

void gp_print_Generic(GpPrinter *p, const GpAstGeneric *n) {
    gp_print_attrs(p, n->attrs, false, false);
    print_flag(p, n->is_const, "const ");
    gp_print_name(p, n->name);
    gp_print_bounds(p, ": ", n->bounds);
    print_opt(p, ": ", n->type);
    print_opt(p, " = ", n->preset);
}

void gp_print_Bound(GpPrinter *p, const GpAstBound *n) {
    print_flag(p, n->is_maybe, "?");
    gp_print_sym(p, n->lifetime);
    print_flag(p, n->lifetimes.len > 0, "for");
    print_generics(p, n->lifetimes);
    print_flag(p, n->lifetimes.len > 0, " ");
    gp_print_node(p, n->path);
}

void gp_print_Where(GpPrinter *p, const GpAstWhere *n) {
    gp_print_sym(p, n->lifetime);
    print_flag(p, n->lifetimes.len > 0, "for");
    print_generics(p, n->lifetimes);
    print_flag(p, n->lifetimes.len > 0, " ");
    gp_print_node(p, n->type);
    gp_print_puts(p, ": ");
    gp_print_bounds(p, "", n->bounds);
}

void gp_print_SelfParam(GpPrinter *p, const GpAstSelfParam *n) {
    gp_print_attrs(p, n->attrs, false, false);
    print_flag(p, n->is_ref, "&");
    gp_print_sym(p, n->lifetime);
    print_flag(p, n->lifetime != NULL, " ");
    print_flag(p, n->is_mut, "mut ");
    gp_print_puts(p, "self");
    print_opt(p, ": ", n->type);
}

void gp_print_Param(GpPrinter *p, const GpAstParam *n) {
    gp_print_attrs(p, n->attrs, false, false);
    gp_print_node(p, n->pat);
    print_opt(p, ": ", n->type);
}

void gp_print_FieldDef(GpPrinter *p, const GpAstFieldDef *n) {
    gp_print_attrs(p, n->attrs, false, n->name != NULL);
    print_flag(p, n->is_pub, "pub ");
    if (n->name) {
        gp_print_name(p, n->name);
        gp_print_puts(p, ": ");
    }
    gp_print_node(p, n->type);
}

void gp_print_Variant(GpPrinter *p, const GpAstVariant *n) {
    gp_print_attrs(p, n->attrs, false, true);
    gp_print_name(p, n->name);
    if (n->is_tuple || n->fields.len > 0)
        print_fields(p, n->is_tuple, n->fields);
    print_opt(p, " = ", n->value);
}

void gp_print_File(GpPrinter *p, const GpAstFile *n) {
    if (has_attr(n->attrs, true)) {
        gp_print_attrs(p, n->attrs, true, true);
        gp_print_puts(p, "\n\n");
    }
    for (uint32_t i = 0; i < n->items.len; i++) {
        if (i > 0)
            gp_print_puts(p, "\n");
        gp_print_node(p, n->items.at[i]);
        gp_print_puts(p, "\n");
    }
}

#define GP_AST(Kind, group, fields)                                                                \
    static void print_##Kind(GpPrinter *p, const GpNode *n) {                                      \
        gp_print_##Kind(p, (const GpAst##Kind *)n);                                                \
    }
#include "dsl/ast.def"

static void (*const printers[GpNode_count])(GpPrinter *p, const GpNode *n) = {
#define GP_AST(Kind, group, fields) [GpNode_##Kind] = print_##Kind,
#include "dsl/ast.def"
};

void gp_print_node(GpPrinter *p, const GpNode *n) {
    if (n)
        printers[n->kind](p, n);
}

void gp_node_print(const GpNode *n, GpText *out) {
    GpPrinter p = {.out = out};
    gp_print_node(&p, n);
}
