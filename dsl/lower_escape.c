/* Which scalar locals need memory: those a reference to which is chosen at run time. A reference
** that is an argument, a receiver, an operand or the value of an immutable variable is to a place
** that lowering knows, and stays an alias; any other use of `&x` makes x a slot. And which locals are
** assigned. */
#include "dsl/lower.h"

typedef struct Scan {
    GpLower *lo;
    bool is_known; /* the parent keeps a reference's place known */
} Scan;

static bool keeps_place(const GpNode *n) {
    if (n->kind == GpNode_Let) {
        const GpAstLet *let = (const GpAstLet *)(const void *)n;
        const GpRes *res = let->pat->kind == GpNode_PatName ? let->pat->res : NULL;
        return res && res->local && !res->local->is_mut;
    }
    return n->kind == GpNode_Call || n->kind == GpNode_MethodCall || n->kind == GpNode_Unary ||
           n->kind == GpNode_Binary || n->kind == GpNode_Assign || n->kind == GpNode_Field ||
           n->kind == GpNode_Index || n->kind == GpNode_LetCond || n->kind == GpNode_Macro;
}

static const GpLocal *borrowed_local(GpNode *n) {
    if (n->kind != GpNode_Borrow)
        return NULL;
    n = gp_node_bare(GP_AS(Borrow, n)->operand);
    return n->res && n->res->kind == GpRes_Local ? n->res->local : NULL;
}

static const GpLocal *assigned_local(GpNode *n) {
    if (n->kind != GpNode_Assign)
        return NULL;
    n = gp_node_bare(GP_AS(Assign, n)->lhs);
    return n->res && n->res->kind == GpRes_Local ? n->res->local : NULL;
}

static void scan(GpNode *n, void *ud) {
    Scan *s = ud;
    const GpLocal *target = assigned_local(n);
    if (target)
        gp_map_set(s->lo->arena, &s->lo->assigned, target, (void *)(uintptr_t)target);
    const GpLocal *local = borrowed_local(n);
    if (local && !s->is_known)
        gp_map_set(s->lo->arena, &s->lo->escaping, local, (void *)(uintptr_t)local);
    Scan inner = {s->lo, n->kind == GpNode_Paren ? s->is_known : keeps_place(n)};
    gp_node_children(n, scan, &inner);
}

void gp_lower_find_escaping(GpLower *lo, GpNode *body) {
    if (gp_map_has(&lo->scanned, body))
        return;
    gp_map_set(lo->arena, &lo->scanned, body, body);
    Scan s = {lo, false};
    scan(body, &s);
}
