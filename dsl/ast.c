/* What every node has in common, generated from ast.def: construction, names, children and
** structural equality. Printing is in ast_print*.c. */
#include "dsl/ast.h"

static const struct NodeRow {
    const char *name;
    GpNodeGroup group;
    size_t size;
} node_rows[GpNode_count] = {
#define GP_AST(Kind, grp, fields)                                                                  \
    [GpNode_##Kind] = {.name = #Kind, .group = GpGroup_##grp, .size = sizeof(GpAst##Kind)},
#include "dsl/ast.def"
};

const char *gp_node_name(GpNodeKind kind) { return node_rows[kind].name; }

GpNodeGroup gp_node_group(GpNodeKind kind) { return node_rows[kind].group; }

GpNode *gp_node_make(GpArena *arena, GpNodeKind kind, GpSpan span) {
    GpNode *n = gp_arena_alloc(arena, node_rows[kind].size);
    n->kind = kind;
    n->span = span;
    return n;
}

GpNode *gp_node_expect(GpNode *n, GpNodeKind kind) {
    gp_assert(n != NULL && n->kind == kind);
    return n;
}

/* Children */

typedef struct Walk {
    void (*fn)(GpNode *child, void *ud);
    void *ud;
} Walk;

static void walk_node(const Walk *w, GpNode *child) {
    if (child)
        w->fn(child, w->ud);
}

static void walk_list(const Walk *w, GpNodeList list) {
    for (uint32_t i = 0; i < list.len; i++)
        walk_node(w, list.at[i]);
}

#define NODE(name) walk_node(w, n->name);
#define LIST(name) walk_list(w, n->name);
#define SYM(name)
#define FLAG(name)
#define TOK(name)
#define GP_AST(Kind, group, fields)                                                                \
    static void walk_##Kind(const GpAst##Kind *n, const Walk *w) {                                 \
        (void)n;                                                                                   \
        (void)w;                                                                                   \
        fields                                                                                     \
    }
#include "dsl/ast.def"
#undef NODE
#undef LIST
#undef SYM
#undef FLAG
#undef TOK

void gp_node_children(GpNode *n, void (*fn)(GpNode *child, void *ud), void *ud) {
    Walk w = {fn, ud};
    switch (n->kind) {
#define GP_AST(Kind, group, fields)                                                                \
    case GpNode_##Kind:                                                                            \
        walk_##Kind((const GpAst##Kind *)n, &w);                                                   \
        return;
#include "dsl/ast.def"
    case GpNode_count:
        break;
    }
    gp_unreachable();
}

/* Equality */

static bool is_equal_list(GpNodeList a, GpNodeList b) {
    if (a.len != b.len)
        return false;
    for (uint32_t i = 0; i < a.len; i++) {
        if (!gp_node_equal(a.at[i], b.at[i]))
            return false;
    }
    return true;
}

#define NODE(name) &&gp_node_equal(a->name, b->name)
#define LIST(name) &&is_equal_list(a->name, b->name)
#define SYM(name)  &&a->name == b->name
#define FLAG(name) &&a->name == b->name
#define TOK(name)  &&a->name == b->name
#define GP_AST(Kind, group, fields)                                                                \
    static bool is_equal_##Kind(const GpAst##Kind *a, const GpAst##Kind *b) {                      \
        return a->node.kind == b->node.kind fields;                                                \
    }
#include "dsl/ast.def"
#undef NODE
#undef LIST
#undef SYM
#undef FLAG
#undef TOK

static const GpNode *skip_parens(const GpNode *n) {
    while (n && n->kind == GpNode_Paren)
        n = ((const GpAstParen *)n)->operand;
    return n;
}

bool gp_node_equal(const GpNode *a, const GpNode *b) {
    a = skip_parens(a);
    b = skip_parens(b);
    if (!a || !b)
        return a == b;
    if (a->kind != b->kind)
        return false;
    switch (a->kind) {
#define GP_AST(Kind, group, fields)                                                                \
    case GpNode_##Kind:                                                                            \
        return is_equal_##Kind((const GpAst##Kind *)a, (const GpAst##Kind *)b);
#include "dsl/ast.def"
    case GpNode_count:
        break;
    }
    gp_unreachable();
}
