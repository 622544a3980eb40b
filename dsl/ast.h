/* The typed syntax tree. The parser makes it; the checker fills `type`, `res` and `adjust`;
** nothing changes it afterwards. Nodes live in the module's arena. */
#ifndef GP_AST_H
#define GP_AST_H

#include "core/source.h"
#include "core/str.h"
#include "dsl/lex.h"

typedef struct GpNode GpNode;
typedef struct GpType GpType; /* dsl/type.h */
typedef struct GpRes GpRes;   /* dsl/def.h: what a name or call means */
typedef struct GpAdjust GpAdjust; /* dsl/def.h: implicit steps applied to a value */

typedef struct GpNodeList {
    GpNode **at;
    uint32_t len;
} GpNodeList;

typedef enum GpNodeKind {
#define GP_AST(Kind, group, fields) GpNode_##Kind,
#include "dsl/ast.def"
    GpNode_count
} GpNodeKind;

typedef enum GpNodeGroup {
    GpGroup_Item, GpGroup_Type, GpGroup_Pat, GpGroup_Stmt, GpGroup_Expr, GpGroup_Part
} GpNodeGroup;

/* The head of every node. */
struct GpNode {
    GpNodeKind kind;
    GpSpan span;
    const GpType *type;     /* expressions, patterns and type nodes, after checking */
    const GpRes *res;       /* names, calls, fields, bindings, after checking */
    const GpAdjust *adjust; /* expressions: implicit steps after evaluating it; NULL none */
};

#define NODE(name) GpNode *name;
#define LIST(name) GpNodeList name;
#define SYM(name) GpSym name;
#define FLAG(name) bool name;
#define TOK(name) GpTok name;
#define GP_AST(Kind, group, fields)                                                                \
    typedef struct GpAst##Kind {                                                                   \
        GpNode node;                                                                               \
        fields                                                                                     \
    } GpAst##Kind;
#include "dsl/ast.def"
#undef NODE
#undef LIST
#undef SYM
#undef FLAG
#undef TOK

/* GP_AS(Binary, n) is n as GpAstBinary *, checked. */
#define GP_AS(Kind, n) ((GpAst##Kind *)gp_node_expect((n), GpNode_##Kind))
GpNode *gp_node_expect(GpNode *n, GpNodeKind kind);
#define GP_AST_NEW(arena, Kind, place)                                                             \
    ((GpAst##Kind *)gp_node_make((arena), GpNode_##Kind, (place)))
GpNode *gp_node_make(GpArena *arena, GpNodeKind kind, GpSpan span);

uint32_t gp_node_find_rest(GpNodeList pats);      /* where `..` stands; pats.len: nowhere */
GpNode *gp_node_bare(GpNode *n);                 /* without parentheses; NULL stays */
GpSpan gp_method_span(const GpAstMethodCall *m); /* of the name in a method call */
const char *gp_node_name(GpNodeKind kind);       /* "Binary" */
GpNodeGroup gp_node_group(GpNodeKind kind);
/* Calls fn for every direct child, in source order; or for the place where it hangs. */
typedef void GpNodeFn(GpNode *child, void *ud);
typedef void GpNodeSlotFn(GpNode **slot, void *ud);
void gp_node_children(GpNode *n, GpNodeFn *fn, void *ud);
void gp_node_slots(GpNode *n, GpNodeSlotFn *fn, void *ud);
/* Same shape, names, tokens and flags; spans and annotations do not count. Paren nodes are
** transparent. Symbols must come from one interner. */
bool gp_node_equal(const GpNode *a, const GpNode *b);
/* Source text that parses to an equal tree. */
void gp_node_print(const GpNode *n, GpText *out);

/* Parsing. Never fails: what cannot be parsed is reported once and stands as a Bad node or is
** skipped to the next item or statement. Recursion deeper than 256 levels is reported (G0010). */
typedef struct GpParse {
    GpArena *arena;
    GpInterner *names;
    GpDiags *diags;
    GpMap *macros; /* Macro or MacroRules node -> GpTokenRun * (dsl/macro.h), NULL: not wanted */
} GpParse;
GpAstFile *gp_parse_file(GpParse *p, GpSource *src);

#endif
