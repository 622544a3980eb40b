/* Blocks, statements, conditions, match, break and continue. */
#include "dsl/lower.h"

static GpVal do_nothing(GpLower *lo, void *ud) {
    (void)ud;
    return gp_lower_unit(lo);
}

/* ---- Statements ----------------------------------------------------------------------------- */

static void declare(GpLower *lo, GpNode *pat) {
    if (pat->kind == GpNode_PatParen)
        declare(lo, GP_AS(PatParen, pat)->pat);
    if (pat->kind == GpNode_PatTuple)
        for (uint32_t i = 0; i < GP_AS(PatTuple, pat)->pats.len; i++)
            declare(lo, GP_AS(PatTuple, pat)->pats.at[i]);
    const GpLocal *local = pat->kind == GpNode_PatName && pat->res ? pat->res->local : NULL;
    if (!local)
        return;
    const GpType *t = gp_lower_type(lo, local->type);
    gp_lower_add_var(lo, local, t, gp_lower_needs_memory(lo, local, t));
}

static GpVal run_otherwise(GpLower *lo, void *ud) {
    return gp_lower_expr(lo, ((GpAstLet *)ud)->otherwise);
}

static void lower_let(GpLower *lo, GpAstLet *let) {
    if (!let->init) {
        declare(lo, let->pat);
        return;
    }
    GpSpot s = gp_lower_place(lo, let->init);
    /* Only a name or a reference can keep the place itself; everything else is a copy. */
    if (s.kind != GpSpot_Slice)
        s = gp_spot_value(gp_spot_read(lo, &s, let->init->span));
    if (lo->is_dead)
        return;
    if (let->otherwise) {
        GpValue *test = gp_pat_test(lo, let->pat, s);
        if (test)
            gp_lower_if(lo, test, gp_ty_unit(lo->types), do_nothing, run_otherwise, let);
    }
    gp_pat_bind(lo, let->pat, s);
}

static void lower_stmt(GpLower *lo, GpNode *n) {
    GpSpan outer = lo->b.span;
    lo->b.span = n->span;
    if (n->kind == GpNode_Let)
        lower_let(lo, GP_AS(Let, n));
    if (n->kind == GpNode_ExprStmt)
        gp_lower_place(lo, GP_AS(ExprStmt, n)->expr);
    lo->b.span = outer;
}

static GpVal lower_stmts(GpLower *lo, GpAstBlock *b) {
    GpLowerScope scope = gp_lower_open_scope(lo);
    for (uint32_t i = 0; i < b->stmts.len && !lo->is_dead; i++)
        lower_stmt(lo, b->stmts.at[i]);
    GpVal v = gp_lower_undef(lo, gp_lower_node_type(lo, &b->node));
    if (b->tail && !lo->is_dead)
        v = gp_lower_expr(lo, b->tail);
    gp_lower_close_scope(lo, scope);
    return v;
}

GpVal gp_lower_block(GpLower *lo, GpNode *n) {
    GpAstBlock *b = GP_AS(Block, n);
    if (!b->label)
        return lower_stmts(lo, b);
    GpJoin *exit = gp_join_open(lo, gp_lower_node_type(lo, n));
    GpLowerTarget target = {.outer = lo->targets, .node = n, .exit = exit};
    lo->targets = &target;
    GpRegion *region = gp_ir_region(lo->fn);
    GpLowerPlace at = gp_lower_enter(lo, region);
    GpVal v = lower_stmts(lo, b);
    gp_join_edge(lo, exit, GpOp_Yield, v);
    gp_lower_leave(lo, at);
    lo->targets = target.outer;
    return gp_join_finish_block(lo, exit, region);
}

static GpLowerTarget *find_loop(GpLower *lo, const GpNode *n) {
    const GpNode *node = n->res ? n->res->node : NULL;
    for (GpLowerTarget *t = lo->targets; t; t = t->outer)
        if (node ? t->node == node : t->again != NULL)
            return t;
    gp_unreachable();
}

GpVal gp_lower_break(GpLower *lo, GpNode *n) {
    GpNode *value = GP_AS(Break, n)->value;
    GpVal v = value ? gp_lower_expr(lo, value) : gp_lower_unit(lo);
    if (!lo->is_dead)
        gp_join_edge(lo, find_loop(lo, n)->exit, GpOp_Break, v);
    return gp_lower_undef(lo, gp_lower_node_type(lo, n));
}

GpVal gp_lower_continue(GpLower *lo, GpNode *n) {
    if (!lo->is_dead)
        gp_join_edge(lo, find_loop(lo, n)->again, GpOp_Continue, gp_lower_unit(lo));
    return gp_lower_undef(lo, gp_lower_node_type(lo, n));
}

/* ---- Conditions ----------------------------------------------------------------------------- */

typedef GP_VEC(GpNode *) NodeVec;

/* The terms of a chain of &&; one term when it holds no `let`. */
static bool flatten(GpLower *lo, GpNode *n, NodeVec *out) {
    n = gp_node_bare(n);
    if (n->kind == GpNode_Binary && GP_AS(Binary, n)->op == GpTok_AndAnd) {
        bool left = flatten(lo, GP_AS(Binary, n)->lhs, out);
        bool right = flatten(lo, GP_AS(Binary, n)->rhs, out);
        return left || right;
    }
    GP_PUSH(lo->arena, out, n);
    return n->kind == GpNode_LetCond;
}

typedef struct Chain {
    NodeVec conds;
    uint32_t at;
    GpNode *pat; /* to bind first; NULL: none */
    GpSpot spot;
    GpJoin *out;
    GpLowerBranch then;
    void *ud;
} Chain;

static void lower_chain(GpLower *lo, Chain *c);

static GpVal chain_then(GpLower *lo, void *ud) {
    Chain *c = ud;
    GpLowerScope scope = gp_lower_open_scope(lo);
    if (c->pat)
        gp_pat_bind(lo, c->pat, c->spot);
    Chain rest = *c;
    rest.at++;
    lower_chain(lo, &rest);
    gp_lower_close_scope(lo, scope);
    return gp_lower_unit(lo);
}

static void lower_chain(GpLower *lo, Chain *c) {
    if (c->at == c->conds.len) {
        GpVal v = c->then(lo, c->ud);
        gp_join_edge(lo, c->out, GpOp_Break, v);
        return;
    }
    GpNode *cond = c->conds.at[c->at];
    GpValue *test;
    c->pat = NULL;
    if (cond->kind == GpNode_LetCond) {
        GpAstLetCond *let = GP_AS(LetCond, cond);
        c->pat = let->pat;
        c->spot = gp_lower_place(lo, let->init);
        test = gp_pat_test(lo, c->pat, c->spot);
    } else {
        test = gp_lower_scalar(lo, cond);
    }
    if (lo->is_dead)
        return;
    if (!test)
        test = gp_build_int(&lo->b, GpElem_Bool, 1);
    gp_lower_if(lo, test, gp_ty_unit(lo->types), chain_then, do_nothing, c);
}

typedef struct OneLet {
    GpNode *pat;
    GpSpot spot;
    GpLowerBranch then, otherwise;
    void *ud;
} OneLet;

static GpVal one_then(GpLower *lo, void *ud) {
    OneLet *o = ud;
    GpLowerScope scope = gp_lower_open_scope(lo);
    gp_pat_bind(lo, o->pat, o->spot);
    GpVal v = o->then(lo, o->ud);
    gp_lower_close_scope(lo, scope);
    return v;
}

static GpVal one_otherwise(GpLower *lo, void *ud) {
    OneLet *o = ud;
    return o->otherwise(lo, o->ud);
}

static GpVal lower_one_let(GpLower *lo, GpAstLetCond *let, const GpType *type, OneLet o) {
    o.pat = let->pat;
    o.spot = gp_lower_place(lo, let->init);
    if (lo->is_dead)
        return gp_lower_undef(lo, type);
    GpValue *test = gp_pat_test(lo, o.pat, o.spot);
    return test ? gp_lower_if(lo, test, type, one_then, one_otherwise, &o) : one_then(lo, &o);
}

GpVal gp_lower_cond(GpLower *lo, GpNode *cond, const GpType *type, GpLowerBranch then,
                    GpLowerBranch otherwise, void *ud) {
    Chain c = {.then = then, .ud = ud};
    if (!flatten(lo, cond, &c.conds)) {
        GpValue *test = gp_lower_scalar(lo, cond);
        if (lo->is_dead)
            return gp_lower_undef(lo, type);
        return gp_lower_if(lo, test, type, then, otherwise, ud);
    }
    if (c.conds.len == 1)
        return lower_one_let(lo, GP_AS(LetCond, c.conds.at[0]), type,
                             (OneLet){.then = then, .otherwise = otherwise, .ud = ud});
    c.out = gp_join_open(lo, type);
    GpRegion *region = gp_ir_region(lo->fn);
    GpLowerPlace at = gp_lower_enter(lo, region);
    lower_chain(lo, &c);
    GpVal v = lo->is_dead ? gp_lower_undef(lo, type) : otherwise(lo, ud);
    gp_join_edge(lo, c.out, GpOp_Yield, v);
    gp_lower_leave(lo, at);
    return gp_join_finish_block(lo, c.out, region);
}

static GpVal if_then(GpLower *lo, void *ud) { return gp_lower_expr(lo, ((GpAstIf *)ud)->then); }

static GpVal if_otherwise(GpLower *lo, void *ud) {
    GpAstIf *n = ud;
    return n->otherwise ? gp_lower_expr(lo, n->otherwise) : gp_lower_unit(lo);
}

GpVal gp_lower_if_expr(GpLower *lo, GpNode *n) {
    GpAstIf *x = GP_AS(If, n);
    return gp_lower_cond(lo, x->cond, gp_lower_node_type(lo, n), if_then, if_otherwise, x);
}

/* ---- Match ---------------------------------------------------------------------------------- */

typedef struct Match {
    const GpType *type;
    GpSpot spot;
    const GpNodeList *arms;
    uint32_t at;
} Match;

static GpVal lower_arms(GpLower *lo, Match m);

static GpAstArm *arm_of(const Match *m) { return GP_AS(Arm, m->arms->at[m->at]); }

static GpVal arm_body(GpLower *lo, void *ud) {
    Match *m = ud;
    GpLowerScope scope = gp_lower_open_scope(lo);
    gp_pat_bind(lo, arm_of(m)->pat, m->spot);
    GpVal v = gp_lower_expr(lo, arm_of(m)->body);
    gp_lower_close_scope(lo, scope);
    return v;
}

static GpVal next_arms(GpLower *lo, void *ud) {
    Match next = *(Match *)ud;
    next.at++;
    return lower_arms(lo, next);
}

/* Bindings copy, so the guard's may be made again for the body. */
static GpVal arm_guard(GpLower *lo, void *ud) {
    Match *m = ud;
    GpLowerScope scope = gp_lower_open_scope(lo);
    gp_pat_bind(lo, arm_of(m)->pat, m->spot);
    GpVal v = gp_lower_expr(lo, arm_of(m)->guard);
    gp_lower_close_scope(lo, scope);
    return v;
}

static GpVal arm_no(GpLower *lo, void *ud) {
    (void)ud;
    return gp_lower_one(lo, gp_ty_elem(lo->types, GpElem_Bool),
                        gp_build_int(&lo->b, GpElem_Bool, 0));
}

static GpVal lower_arms(GpLower *lo, Match m) {
    if (m.at >= m.arms->len || lo->is_dead)
        return gp_lower_undef(lo, m.type);
    GpAstArm *arm = arm_of(&m);
    bool is_last = m.at + 1 == m.arms->len;
    GpValue *test = is_last && !arm->guard ? NULL : gp_pat_test(lo, arm->pat, m.spot);
    if (arm->guard) {
        if (!test)
            test = gp_build_int(&lo->b, GpElem_Bool, 1);
        GpVal v = gp_lower_if(lo, test, gp_ty_elem(lo->types, GpElem_Bool), arm_guard, arm_no, &m);
        test = gp_lower_get(lo, &v, 0);
    }
    if (!test)
        return arm_body(lo, &m);
    return gp_lower_if(lo, test, m.type, arm_body, next_arms, &m);
}

GpVal gp_lower_match(GpLower *lo, GpNode *n) {
    GpAstMatch *x = GP_AS(Match, n);
    Match m = {.type = gp_lower_node_type(lo, n), .arms = &x->arms};
    m.spot = gp_lower_place(lo, x->scrutinee);
    return lower_arms(lo, m);
}
