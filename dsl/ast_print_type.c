/* Prints paths, types and patterns. */
#include "dsl/ast_print.h"

static void print_angle_list(GpPrinter *p, GpNodeList list) {
    gp_print_puts(p, "<");
    gp_print_list(p, list, ", ");
    gp_print_puts(p, ">");
}

/* A type after & * or ->, where `+` would end it. */
static void print_tight_type(GpPrinter *p, const GpNode *n) {
    bool has_plus =
        n && n->kind == GpNode_TypeBounds && ((const GpAstTypeBounds *)n)->bounds.len > 1;
    if (has_plus)
        gp_print_puts(p, "(");
    gp_print_node(p, n);
    if (has_plus)
        gp_print_puts(p, ")");
}

void gp_print_Segment(GpPrinter *p, const GpAstSegment *n) {
    bool is_expr = p->is_expr_path;
    p->is_expr_path = false;
    gp_print_name(p, n->name);
    if (n->is_call) {
        gp_print_puts(p, "(");
        gp_print_list(p, n->args, ", ");
        gp_print_puts(p, ")");
        if (n->ret)
            gp_print_puts(p, " -> ");
        print_tight_type(p, n->ret);
    } else if (n->has_args) {
        if (is_expr)
            gp_print_puts(p, "::");
        print_angle_list(p, n->args);
    }
    p->is_expr_path = is_expr;
}

void gp_print_Path(GpPrinter *p, const GpAstPath *n) {
    bool is_expr = p->is_expr_path;
    p->is_expr_path = false;
    if (n->self_type) {
        gp_print_puts(p, "<");
        gp_print_node(p, n->self_type);
        if (n->self_trait) {
            gp_print_puts(p, " as ");
            gp_print_node(p, n->self_trait);
        }
        gp_print_puts(p, ">::");
    }
    if (n->is_global)
        gp_print_puts(p, "::");
    p->is_expr_path = is_expr;
    gp_print_list(p, n->segments, "::");
}

void gp_print_expr_path(GpPrinter *p, const GpNode *path) {
    bool outer = p->is_expr_path;
    p->is_expr_path = true;
    gp_print_node(p, path);
    p->is_expr_path = outer;
}

void gp_print_Assoc(GpPrinter *p, const GpAstAssoc *n) {
    gp_print_name(p, n->name);
    gp_print_bounds(p, ": ", n->bounds);
    if (!n->type && !n->bounds.len)
        gp_print_puts(p, ":"); /* a bound of nothing, as in Row<T:> */
    if (n->type)
        gp_print_puts(p, " = ");
    gp_print_node(p, n->type);
}

void gp_print_Lifetime(GpPrinter *p, const GpAstLifetime *n) { gp_print_sym(p, n->name); }

void gp_print_Tokens(GpPrinter *p, const GpAstTokens *n) { gp_print_sym(p, n->text); }

void gp_print_TypePath(GpPrinter *p, const GpAstTypePath *n) { gp_print_node(p, n->path); }

void gp_print_TypeRef(GpPrinter *p, const GpAstTypeRef *n) {
    gp_print_puts(p, "&");
    gp_print_sym(p, n->lifetime);
    if (n->lifetime)
        gp_print_puts(p, " ");
    if (n->is_mut)
        gp_print_puts(p, "mut ");
    print_tight_type(p, n->type);
}

void gp_print_TypePtr(GpPrinter *p, const GpAstTypePtr *n) {
    gp_print_puts(p, n->is_mut ? "*mut " : "*const ");
    print_tight_type(p, n->type);
}

void gp_print_TypeSlice(GpPrinter *p, const GpAstTypeSlice *n) {
    gp_print_puts(p, "[");
    gp_print_node(p, n->type);
    gp_print_puts(p, "]");
}

void gp_print_TypeArray(GpPrinter *p, const GpAstTypeArray *n) {
    gp_print_puts(p, "[");
    gp_print_node(p, n->type);
    gp_print_puts(p, "; ");
    gp_print_node(p, n->count);
    gp_print_puts(p, "]");
}

static void print_tuple(GpPrinter *p, GpNodeList list) {
    gp_print_puts(p, "(");
    gp_print_list(p, list, ", ");
    gp_print_puts(p, list.len == 1 ? ",)" : ")");
}

void gp_print_TypeTuple(GpPrinter *p, const GpAstTypeTuple *n) { print_tuple(p, n->types); }

void gp_print_TypeNever(GpPrinter *p, const GpAstTypeNever *n) {
    (void)n;
    gp_print_puts(p, "!");
}

void gp_print_TypeInfer(GpPrinter *p, const GpAstTypeInfer *n) {
    (void)n;
    gp_print_puts(p, "_");
}

void gp_print_TypeFn(GpPrinter *p, const GpAstTypeFn *n) {
    if (n->lifetimes.len > 0) {
        gp_print_puts(p, "for");
        print_angle_list(p, n->lifetimes);
        gp_print_puts(p, " ");
    }
    if (n->is_unsafe)
        gp_print_puts(p, "unsafe ");
    if (n->is_extern)
        gp_print_puts(p, "extern ");
    gp_print_node(p, n->abi);
    gp_print_puts(p, n->abi ? " fn(" : "fn(");
    gp_print_list(p, n->params, ", ");
    gp_print_puts(p, ")");
    if (n->ret)
        gp_print_puts(p, " -> ");
    print_tight_type(p, n->ret);
}

void gp_print_TypeBounds(GpPrinter *p, const GpAstTypeBounds *n) {
    gp_print_puts(p, n->is_dyn ? "dyn " : "impl ");
    gp_print_bounds(p, "", n->bounds);
}

void gp_print_TypeMacro(GpPrinter *p, const GpAstTypeMacro *n) { gp_print_node(p, n->macro); }

/* Patterns */

void gp_print_PatWild(GpPrinter *p, const GpAstPatWild *n) {
    (void)n;
    gp_print_puts(p, "_");
}

void gp_print_PatRest(GpPrinter *p, const GpAstPatRest *n) {
    (void)n;
    gp_print_puts(p, "..");
}

void gp_print_PatName(GpPrinter *p, const GpAstPatName *n) {
    if (n->is_ref)
        gp_print_puts(p, "ref ");
    if (n->is_mut)
        gp_print_puts(p, "mut ");
    gp_print_name(p, n->name);
    if (n->sub)
        gp_print_puts(p, " @ ");
    gp_print_node(p, n->sub);
}

void gp_print_PatRange(GpPrinter *p, const GpAstPatRange *n) {
    gp_print_node(p, n->lo);
    gp_print_puts(p, n->is_closed ? "..=" : "..");
    gp_print_node(p, n->hi);
}

void gp_print_PatRef(GpPrinter *p, const GpAstPatRef *n) {
    gp_print_puts(p, n->is_mut ? "&mut " : "&");
    gp_print_node(p, n->pat);
}

void gp_print_PatTuple(GpPrinter *p, const GpAstPatTuple *n) {
    bool is_rest = n->pats.len == 1 && n->pats.at[0]->kind == GpNode_PatRest;
    if (is_rest)
        gp_print_puts(p, "(..)");
    else
        print_tuple(p, n->pats);
}

void gp_print_PatSlice(GpPrinter *p, const GpAstPatSlice *n) {
    gp_print_puts(p, "[");
    gp_print_list(p, n->pats, ", ");
    gp_print_puts(p, "]");
}

void gp_print_PatPath(GpPrinter *p, const GpAstPatPath *n) { gp_print_expr_path(p, n->path); }

void gp_print_PatTupleStruct(GpPrinter *p, const GpAstPatTupleStruct *n) {
    gp_print_expr_path(p, n->path);
    gp_print_puts(p, "(");
    gp_print_list(p, n->pats, ", ");
    gp_print_puts(p, ")");
}

void gp_print_PatStruct(GpPrinter *p, const GpAstPatStruct *n) {
    gp_print_expr_path(p, n->path);
    gp_print_puts(p, " { ");
    gp_print_list(p, n->fields, ", ");
    if (n->has_rest)
        gp_print_puts(p, n->fields.len > 0 ? ", .." : "..");
    gp_print_puts(p, " }");
}

void gp_print_PatField(GpPrinter *p, const GpAstPatField *n) {
    const GpAstPatName *name = n->pat->kind == GpNode_PatName ? (const GpAstPatName *)n->pat : NULL;
    bool is_short = name && name->name == n->name && !name->sub;
    if (!is_short) {
        gp_print_name(p, n->name);
        gp_print_puts(p, ": ");
    }
    gp_print_node(p, n->pat);
}

void gp_print_PatMacro(GpPrinter *p, const GpAstPatMacro *n) { gp_print_node(p, n->macro); }

void gp_print_PatParen(GpPrinter *p, const GpAstPatParen *n) {
    gp_print_puts(p, "(");
    gp_print_node(p, n->pat);
    gp_print_puts(p, ")");
}

void gp_print_PatOr(GpPrinter *p, const GpAstPatOr *n) { gp_print_list(p, n->pats, " | "); }

void gp_print_PatLit(GpPrinter *p, const GpAstPatLit *n) { gp_print_node(p, n->value); }
