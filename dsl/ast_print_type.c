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

static void print_segment(GpPrinter *p, const GpAstSegment *n) {
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

static void print_path(GpPrinter *p, const GpAstPath *n) {
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

static void print_assoc(GpPrinter *p, const GpAstAssoc *n) {
    gp_print_name(p, n->name);
    gp_print_bounds(p, ": ", n->bounds);
    if (!n->type && !n->bounds.len)
        gp_print_puts(p, ":"); /* a bound of nothing, as in Row<T:> */
    if (n->type)
        gp_print_puts(p, " = ");
    gp_print_node(p, n->type);
}

static void print_lifetime(GpPrinter *p, const GpAstLifetime *n) { gp_print_sym(p, n->name); }

static void print_tokens(GpPrinter *p, const GpAstTokens *n) { gp_print_sym(p, n->text); }

static void print_type_path(GpPrinter *p, const GpAstTypePath *n) { gp_print_node(p, n->path); }

static void print_type_ref(GpPrinter *p, const GpAstTypeRef *n) {
    gp_print_puts(p, "&");
    gp_print_sym(p, n->lifetime);
    if (n->lifetime)
        gp_print_puts(p, " ");
    if (n->is_mut)
        gp_print_puts(p, "mut ");
    print_tight_type(p, n->type);
}

static void print_type_ptr(GpPrinter *p, const GpAstTypePtr *n) {
    gp_print_puts(p, n->is_mut ? "*mut " : "*const ");
    print_tight_type(p, n->type);
}

static void print_type_slice(GpPrinter *p, const GpAstTypeSlice *n) {
    gp_print_puts(p, "[");
    gp_print_node(p, n->type);
    gp_print_puts(p, "]");
}

static void print_type_array(GpPrinter *p, const GpAstTypeArray *n) {
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

static void print_type_tuple(GpPrinter *p, const GpAstTypeTuple *n) { print_tuple(p, n->types); }

static void print_type_never(GpPrinter *p, const GpAstTypeNever *n) {
    (void)n;
    gp_print_puts(p, "!");
}

static void print_type_infer(GpPrinter *p, const GpAstTypeInfer *n) {
    (void)n;
    gp_print_puts(p, "_");
}

static void print_type_fn(GpPrinter *p, const GpAstTypeFn *n) {
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

static void print_type_bounds(GpPrinter *p, const GpAstTypeBounds *n) {
    gp_print_puts(p, n->is_dyn ? "dyn " : "impl ");
    gp_print_bounds(p, "", n->bounds);
}

static void print_type_macro(GpPrinter *p, const GpAstTypeMacro *n) { gp_print_node(p, n->macro); }

bool gp_print_type(GpPrinter *p, const GpNode *n) {
#define CASE(Kind, fn)                                                                             \
    if (n->kind == GpNode_##Kind)                                                                  \
        return fn(p, (const GpAst##Kind *)n), true;
    CASE(Path, print_path)
    CASE(Segment, print_segment)
    CASE(Assoc, print_assoc)
    CASE(Lifetime, print_lifetime)
    CASE(Tokens, print_tokens)
    CASE(TypePath, print_type_path)
    CASE(TypeRef, print_type_ref)
    CASE(TypePtr, print_type_ptr)
    CASE(TypeSlice, print_type_slice)
    CASE(TypeArray, print_type_array)
    CASE(TypeTuple, print_type_tuple)
    CASE(TypeNever, print_type_never)
    CASE(TypeInfer, print_type_infer)
    CASE(TypeFn, print_type_fn)
    CASE(TypeBounds, print_type_bounds)
    CASE(TypeMacro, print_type_macro)
#undef CASE
    return false;
}

/* Patterns */

static void print_pat_name(GpPrinter *p, const GpAstPatName *n) {
    if (n->is_ref)
        gp_print_puts(p, "ref ");
    if (n->is_mut)
        gp_print_puts(p, "mut ");
    gp_print_name(p, n->name);
    if (n->sub)
        gp_print_puts(p, " @ ");
    gp_print_node(p, n->sub);
}

static void print_pat_range(GpPrinter *p, const GpAstPatRange *n) {
    gp_print_node(p, n->lo);
    gp_print_puts(p, n->is_closed ? "..=" : "..");
    gp_print_node(p, n->hi);
}

static void print_pat_ref(GpPrinter *p, const GpAstPatRef *n) {
    gp_print_puts(p, n->is_mut ? "&mut " : "&");
    gp_print_node(p, n->pat);
}

static void print_pat_tuple(GpPrinter *p, const GpAstPatTuple *n) {
    bool is_rest = n->pats.len == 1 && n->pats.at[0]->kind == GpNode_PatRest;
    if (is_rest)
        gp_print_puts(p, "(..)");
    else
        print_tuple(p, n->pats);
}

static void print_pat_slice(GpPrinter *p, const GpAstPatSlice *n) {
    gp_print_puts(p, "[");
    gp_print_list(p, n->pats, ", ");
    gp_print_puts(p, "]");
}

static void print_pat_path(GpPrinter *p, const GpAstPatPath *n) { gp_print_expr_path(p, n->path); }

static void print_pat_tuple_struct(GpPrinter *p, const GpAstPatTupleStruct *n) {
    gp_print_expr_path(p, n->path);
    gp_print_puts(p, "(");
    gp_print_list(p, n->pats, ", ");
    gp_print_puts(p, ")");
}

static void print_pat_struct(GpPrinter *p, const GpAstPatStruct *n) {
    gp_print_expr_path(p, n->path);
    gp_print_puts(p, " { ");
    gp_print_list(p, n->fields, ", ");
    if (n->has_rest)
        gp_print_puts(p, n->fields.len > 0 ? ", .." : "..");
    gp_print_puts(p, " }");
}

static void print_pat_field(GpPrinter *p, const GpAstPatField *n) {
    const GpAstPatName *name = n->pat->kind == GpNode_PatName ? (const GpAstPatName *)n->pat : NULL;
    bool is_short = name && name->name == n->name && !name->sub;
    if (!is_short) {
        gp_print_name(p, n->name);
        gp_print_puts(p, ": ");
    }
    gp_print_node(p, n->pat);
}

static void print_pat_macro(GpPrinter *p, const GpAstPatMacro *n) { gp_print_node(p, n->macro); }

static void print_pat_paren(GpPrinter *p, const GpAstPatParen *n) {
    gp_print_puts(p, "(");
    gp_print_node(p, n->pat);
    gp_print_puts(p, ")");
}

static void print_pat_or(GpPrinter *p, const GpAstPatOr *n) { gp_print_list(p, n->pats, " | "); }

static void print_pat_lit(GpPrinter *p, const GpAstPatLit *n) { gp_print_node(p, n->value); }

bool gp_print_pat(GpPrinter *p, const GpNode *n) {
    if (n->kind == GpNode_PatWild)
        return gp_print_puts(p, "_"), true;
    if (n->kind == GpNode_PatRest)
        return gp_print_puts(p, ".."), true;
#define CASE(Kind, fn)                                                                             \
    if (n->kind == GpNode_##Kind)                                                                  \
        return fn(p, (const GpAst##Kind *)n), true;
    CASE(PatName, print_pat_name)
    CASE(PatLit, print_pat_lit)
    CASE(PatRange, print_pat_range)
    CASE(PatRef, print_pat_ref)
    CASE(PatTuple, print_pat_tuple)
    CASE(PatSlice, print_pat_slice)
    CASE(PatPath, print_pat_path)
    CASE(PatTupleStruct, print_pat_tuple_struct)
    CASE(PatStruct, print_pat_struct)
    CASE(PatField, print_pat_field)
    CASE(PatOr, print_pat_or)
    CASE(PatParen, print_pat_paren)
    CASE(PatMacro, print_pat_macro)
#undef CASE
    return false;
}
