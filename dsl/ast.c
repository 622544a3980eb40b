/* What every node has in common, generated from ast.def: construction, names, children and
** structural equality. Printing is in ast_print*.c. */
#include "dsl/ast.h"

/* Where a node keeps what ast.def gives it. */
typedef struct Field {
    enum { Field_End, Field_Node, Field_List, Field_Value } kind;
    uint32_t offset, size; /* of the value, in bytes */
} Field;

#define FIELD(kind, name) {kind, offsetof(This, name), sizeof(((This *)NULL)->name)},
#define NODE(name)        FIELD(Field_Node, name)
#define LIST(name)        FIELD(Field_List, name)
#define SYM(name)         FIELD(Field_Value, name)
#define FLAG(name)        FIELD(Field_Value, name)
#define TOK(name)         FIELD(Field_Value, name)
#define GP_AST(Kind, group, fields)                                                                \
    static const Field *fields_##Kind(void) {                                                      \
        typedef GpAst##Kind This;                                                                  \
        static const Field at[] = {fields{Field_End, 0, 0}};                                       \
        return at;                                                                                 \
    }
#include "dsl/ast.def"
#undef FIELD
#undef NODE
#undef LIST
#undef SYM
#undef FLAG
#undef TOK

static const struct NodeRow {
    const char *name;
    GpNodeGroup group;
    size_t size;
    const Field *(*fields)(void); /* in source order, up to Field_End */
} node_rows[GpNode_count] = {
#define GP_AST(Kind, grp, fields)                                                                  \
    [GpNode_##Kind] = {#Kind, GpGroup_##grp, sizeof(GpAst##Kind), fields_##Kind},
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

uint32_t gp_node_find_rest(GpNodeList pats) {
    for (uint32_t i = 0; i < pats.len; i++)
        if (pats.at[i]->kind == GpNode_PatRest)
            return i;
    return pats.len;
}

GpNode *gp_node_bare(GpNode *n) {
    while (n && n->kind == GpNode_Paren)
        n = GP_AS(Paren, n)->operand;
    return n;
}

GpSpan gp_method_span(const GpAstMethodCall *m) {
    GpSpan r = m->receiver->span;
    if (!r.src)
        return m->node.span;
    const char *text = r.src->text;
    uint32_t at = r.off + r.len, end = m->node.span.off + m->node.span.len;
    for (; at + m->name->len <= end; at++)
        if (memcmp(text + at, m->name->name, m->name->len) == 0)
            return (GpSpan){r.src, at, m->name->len};
    return m->node.span;
}

/* Children */

static void visit_slot(GpNode **slot, GpNodeSlotFn *fn, void *ud) {
    if (*slot)
        fn(slot, ud);
}

void gp_node_slots(GpNode *n, GpNodeSlotFn *fn, void *ud) {
    for (const Field *f = node_rows[n->kind].fields(); f->kind != Field_End; f++) {
        void *at = (char *)n + f->offset;
        if (f->kind == Field_Node) {
            visit_slot(at, fn, ud);
        } else if (f->kind == Field_List) {
            GpNodeList list = *(GpNodeList *)at;
            for (uint32_t i = 0; i < list.len; i++)
                visit_slot(&list.at[i], fn, ud);
        }
    }
}

typedef struct Walk {
    GpNodeFn *fn;
    void *ud;
} Walk;

static void visit_child(GpNode **slot, void *ud) {
    const Walk *w = ud;
    w->fn(*slot, w->ud);
}

void gp_node_children(GpNode *n, GpNodeFn *fn, void *ud) {
    gp_node_slots(n, visit_child, &(Walk){fn, ud});
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

static bool is_equal_field(const Field *f, const GpNode *a, const GpNode *b) {
    const void *x = (const char *)a + f->offset, *y = (const char *)b + f->offset;
    if (f->kind == Field_Node)
        return gp_node_equal(*(GpNode *const *)x, *(GpNode *const *)y);
    if (f->kind == Field_List)
        return is_equal_list(*(const GpNodeList *)x, *(const GpNodeList *)y);
    return memcmp(x, y, f->size) == 0;
}

bool gp_node_equal(const GpNode *a, const GpNode *b) {
    a = gp_node_bare((GpNode *)(uintptr_t)a);
    b = gp_node_bare((GpNode *)(uintptr_t)b);
    if (!a || !b)
        return a == b;
    if (a->kind != b->kind)
        return false;
    for (const Field *f = node_rows[a->kind].fields(); f->kind != Field_End; f++) {
        if (!is_equal_field(f, a, b))
            return false;
    }
    return true;
}
