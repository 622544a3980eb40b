/* Control flow in place form: blocks and statements, if, match, loops, and what leaves them.
** Temporaries end where edition 2024 ends them: with their statement, with the condition or arm
** they stand in, and before the variables of a block for its last expression. */
#include "dsl/place_build.h"

static GpSpan last_char(GpSpan s) { return s.len ? (GpSpan){s.src, s.off + s.len - 1, 1} : s; }

static void join(GpBuild *b, uint32_t block) { gp_build_edge(b, b->block, block); }

/* ---- statements ------------------------------------------------------------------------------ */

/* A place of its own for what a pattern takes apart, unless the value already has one. */
static bool is_simple(const GpNode *pat) {
    if (pat->kind != GpNode_PatName || !pat->res || pat->res->kind != GpRes_Local)
        return false;
    const GpLocal *l = pat->res->local;
    bool by_ref = l->type->kind == GpTy_Ref && l->type->inner == pat->type;
    return !by_ref && !((const GpAstPatName *)pat)->sub;
}

static GpPlace *slot_place(GpBuild *b, const GpLocal *l) { return gp_build_local(b, l); }

static void relate_written(GpBuild *b, GpPlace *p, GpNode *type) {
    GpRegions written = gp_regions_of_node(b->f, type, p->type);
    gp_regions_flow(b->f, p->type, p->regions, written, type->span, false);
    gp_regions_flow(b->f, p->type, written, p->regions, type->span, false);
}

static void otherwise_of(GpBuild *b, GpAstLet *let, uint32_t depth) {
    uint32_t ok = gp_build_block(b), fail = gp_build_block(b);
    gp_build_edge(b, b->block, ok);
    gp_build_goto(b, fail);
    gp_scope_leave(b, depth);
    gp_build_drop(b, let->otherwise);
    b->block = ok;
}

static void build_let(GpBuild *b, GpNode *stmt, uint32_t scope) {
    GpAstLet *let = GP_AS(Let, stmt);
    b->extend = scope;
    if (!let->init) {
        if (let->type && is_simple(let->pat))
            relate_written(b, slot_place(b, let->pat->res->local), let->type);
        return;
    }
    b->is_extended = true;
    if (is_simple(let->pat) && !let->otherwise) {
        GpPlace *dst = slot_place(b, let->pat->res->local);
        if (let->type)
            relate_written(b, dst, let->type);
        gp_build_into(b, dst, let->init);
        GpBlock *blk = &b->f->blocks.at[b->block];
        if (blk->steps.len && blk->steps.at[blk->steps.len - 1].dst == dst)
            blk->steps.at[blk->steps.len - 1].is_init = true;
        gp_build_inspect(b, dst, let->pat->span);
        return;
    }
    uint32_t temps = b->temps;
    if (!gp_pat_is_wild(let->pat)) /* what `ref` binds must live on */
        b->temps = scope;
    GpPlace *p = gp_build_place(b, let->init);
    b->temps = temps;
    if (gp_pat_is_wild(let->pat))
        return;
    if (let->type)
        relate_written(b, p, let->type);
    gp_place_test(b, let->pat, p, let->init->span);
    if (let->otherwise)
        otherwise_of(b, let, b->scopes.len - 1);
    gp_place_bind(b, let->pat, p, let->init);
}

static void build_stmt(GpBuild *b, GpNode *stmt) {
    if (stmt->kind == GpNode_ItemStmt)
        return;
    const GpNode *outer = b->stmt;
    uint32_t temps = b->temps, scope = b->scopes.len - 1;
    bool is_extended = b->is_extended;
    b->stmt = stmt;
    if (stmt->kind == GpNode_Let)
        gp_pat_declare(b, GP_AS(Let, stmt)->pat, stmt->span, GP_AS(Let, stmt)->init != NULL);
    gp_scope_push(b, last_char(stmt->span));
    b->temps = b->scopes.len - 1;
    b->is_extended = false;
    if (stmt->kind == GpNode_Let)
        build_let(b, stmt, scope);
    else
        gp_build_drop(b, GP_AS(ExprStmt, stmt)->expr);
    gp_scope_pop(b);
    b->temps = temps;
    b->is_extended = is_extended;
    b->stmt = outer;
}

/* n into dst with its temporaries ended right after. */
static void into_own_scope(GpBuild *b, GpPlace *dst, GpNode *n, GpSpan end) {
    uint32_t temps = b->temps;
    gp_scope_push(b, end);
    b->temps = b->scopes.len - 1;
    if (dst)
        gp_build_into(b, dst, n);
    else
        gp_build_drop(b, n);
    gp_scope_pop(b);
    b->temps = temps;
}

static void tail_into(GpBuild *b, GpPlace *dst, GpNode *tail) {
    const GpNode *outer = b->stmt;
    b->stmt = tail;
    into_own_scope(b, dst, tail, (GpSpan){tail->span.src, tail->span.off + tail->span.len, 0});
    b->stmt = outer;
}

void gp_build_block_into(GpBuild *b, GpPlace *dst, GpNode *n) {
    GpAstBlock *blk = GP_AS(Block, n);
    GpLeaving target = {n, GP_NONE, GP_NONE, dst, b->scopes.len, b->target};
    if (blk->label) {
        target.on_break = gp_build_block(b);
        b->target = &target;
    }
    gp_scope_push(b, last_char(n->span));
    for (uint32_t i = 0; i < blk->stmts.len; i++)
        build_stmt(b, blk->stmts.at[i]);
    if (blk->tail)
        tail_into(b, dst, blk->tail);
    else if (dst)
        gp_build_step(b, GpStep_Assign, n->span)->dst = dst;
    gp_scope_pop(b);
    if (blk->label) {
        gp_build_goto(b, target.on_break);
        b->target = target.outer;
    }
}

/* ---- conditions ------------------------------------------------------------------------------ */

/* Goes on where the last test holds; the other path ends scopes down to depth and goes to block. */
static void split(GpBuild *b, uint32_t otherwise, uint32_t depth, bool is_bool) {
    uint32_t ok = gp_build_block(b), fail = gp_build_block(b);
    gp_build_edge(b, b->block, is_bool ? fail : ok);
    gp_build_edge(b, b->block, is_bool ? ok : fail);
    b->block = fail;
    gp_scope_leave(b, depth);
    join(b, otherwise);
    b->block = ok;
}

void gp_build_cond(GpBuild *b, GpNode *n, uint32_t otherwise, uint32_t depth) {
    if (n->kind == GpNode_Binary && GP_AS(Binary, n)->op == GpTok_AndAnd) {
        gp_build_cond(b, GP_AS(Binary, n)->lhs, otherwise, depth);
        gp_build_cond(b, GP_AS(Binary, n)->rhs, otherwise, depth);
        return;
    }
    if (n->kind != GpNode_LetCond) {
        GpOperand use = gp_build_operand(b, n);
        gp_step_uses(b, gp_build_step(b, GpStep_Assign, n->span), &use, 1);
        b->f->blocks.at[b->block].cond.span = n->span;
        split(b, otherwise, depth, true);
        return;
    }
    GpAstLetCond *let = GP_AS(LetCond, n);
    GpPlace *p = gp_build_place(b, let->init);
    gp_place_test(b, let->pat, p, let->init->span);
    b->f->blocks.at[b->block].cond.span = n->span;
    split(b, otherwise, depth, false);
    gp_pat_declare(b, let->pat, GP_NO_SPAN, true);
    gp_place_bind(b, let->pat, p, let->init);
}

void gp_build_if(GpBuild *b, GpPlace *dst, GpNode *n) {
    GpAstIf *f = GP_AS(If, n);
    uint32_t otherwise = gp_build_block(b), end = gp_build_block(b), temps = b->temps;
    uint32_t depth = b->scopes.len, first = b->block;
    gp_scope_push(b, last_char(f->then->span));
    b->temps = b->scopes.len - 1;
    bool is_extended = b->is_extended;
    b->is_extended = false;
    gp_build_cond(b, f->cond, otherwise, depth);
    b->f->blocks.at[first].cond.whole = n->span;
    b->is_extended = is_extended;
    if (dst)
        gp_build_into(b, dst, f->then);
    else
        gp_build_drop(b, f->then);
    gp_scope_pop(b);
    join(b, end);
    b->temps = temps;
    b->block = otherwise;
    if (f->otherwise)
        into_own_scope(b, dst, f->otherwise, last_char(f->otherwise->span));
    else if (dst)
        gp_build_step(b, GpStep_Assign, n->span)->dst = dst;
    gp_build_goto(b, end);
}

/* ---- match ----------------------------------------------------------------------------------- */

/* One arm of a match of p; goes on in the block of the next one. */
static void build_arm(GpBuild *b, GpPlace *dst, GpAstMatch *m, uint32_t at, GpPlace *p,
                      uint32_t end) {
    GpAstArm *arm = GP_AS(Arm, m->arms.at[at]);
    bool is_last = at + 1 == m->arms.len;
    uint32_t temps = b->temps, depth = b->scopes.len;
    gp_place_test(b, arm->pat, p, m->scrutinee->span);
    uint32_t body = gp_build_block(b), next = gp_build_block(b);
    gp_build_edge(b, b->block, body);
    if (!is_last)
        gp_build_edge(b, b->block, next);
    b->block = body;
    gp_scope_push(b, last_char(arm->body->span));
    b->temps = b->scopes.len - 1;
    gp_pat_declare(b, arm->pat, GP_NO_SPAN, true);
    if (arm->guard) {
        gp_pat_show(b, arm->pat, p);
        gp_build_cond(b, arm->guard, next, depth);
    }
    gp_place_bind(b, arm->pat, p, m->scrutinee);
    if (dst)
        gp_build_into(b, dst, arm->body);
    else
        gp_build_drop(b, arm->body);
    gp_scope_pop(b);
    join(b, end);
    b->temps = temps;
    b->block = next;
}

void gp_build_match(GpBuild *b, GpPlace *dst, GpNode *n) {
    GpAstMatch *m = GP_AS(Match, n);
    bool is_extended = b->is_extended;
    b->is_extended = false;
    GpPlace *p = gp_build_place(b, m->scrutinee);
    uint32_t end = gp_build_block(b);
    b->is_extended = is_extended;
    for (uint32_t i = 0; i < m->arms.len; i++)
        build_arm(b, dst, m, i, p, end);
    b->block = end; /* the block after the last arm cannot be reached: patterns are exhaustive */
}

/* ---- loops ----------------------------------------------------------------------------------- */

static uint32_t loop_head(GpBuild *b, GpSpan shown) {
    uint32_t head = gp_build_block(b);
    gp_build_goto(b, head);
    b->f->blocks.at[head].is_loop = true;
    b->f->blocks.at[head].loop_span = shown;
    return head;
}

/* From the loop's first word to the end of its header. */
static GpSpan header(const GpNode *loop, GpSym label, const GpNode *last, uint32_t word) {
    GpSpan s = loop->span;
    if (label && s.src) {
        const char *text = s.src->text;
        uint32_t end = s.off + s.len;
        while (s.off < end && text[s.off] != ':')
            s.off++;
        s.off++;
        while (s.off < end && (text[s.off] == ' ' || text[s.off] == '\n'))
            s.off++;
    }
    s.len = last ? last->span.off + last->span.len - s.off : word;
    return s;
}

static void loop_body(GpBuild *b, GpNode *body, GpLeaving *target) {
    target->outer = b->target;
    b->target = target;
    into_own_scope(b, NULL, body, last_char(body->span));
    b->target = target->outer;
    join(b, target->on_continue);
}

void gp_build_loop(GpBuild *b, GpPlace *dst, GpNode *n) {
    GpAstLoop *l = GP_AS(Loop, n);
    uint32_t head = loop_head(b, header(n, l->label, NULL, 4)), end = gp_build_block(b);
    GpLeaving target = {n, end, head, dst, b->scopes.len, NULL};
    loop_body(b, l->body, &target);
    b->block = end;
}

/* The body of a turn that `head` may follow, and the way back to it; goes on behind the loop. */
static void build_turn(GpBuild *b, GpNode *body, GpLeaving *target, uint32_t head) {
    uint32_t again = gp_build_block(b);
    target->on_continue = again;
    target->outer = b->target;
    b->target = target;
    gp_build_drop(b, body);
    b->target = target->outer;
    gp_scope_pop(b);
    join(b, again);
    gp_build_edge(b, again, head);
    b->block = target->on_break;
}

void gp_build_while(GpBuild *b, GpNode *n) {
    GpAstWhile *w = GP_AS(While, n);
    uint32_t head = loop_head(b, header(n, w->label, w->cond, 5)), end = gp_build_block(b);
    uint32_t temps = b->temps, depth = b->scopes.len;
    gp_scope_push(b, last_char(w->body->span));
    b->temps = b->scopes.len - 1;
    gp_build_cond(b, w->cond, end, depth);
    GpLeaving target = {n, end, GP_NONE, NULL, depth, NULL};
    build_turn(b, w->body, &target, head);
    b->temps = temps;
}

/* The operands of a..b, .rev() and .step_by(k). */
static void build_iter(GpBuild *b, GpNode *iter) {
    GpNode *n = gp_bare(iter);
    if (n->kind == GpNode_Range) {
        GpAstRange *r = GP_AS(Range, n);
        if (r->lo)
            gp_build_operand(b, r->lo);
        if (r->hi)
            gp_build_operand(b, r->hi);
    } else if (n->kind == GpNode_MethodCall && n->res && n->res->kind == GpRes_Operator) {
        GpAstMethodCall *m = GP_AS(MethodCall, n);
        build_iter(b, m->receiver);
        for (uint32_t i = 0; i < m->args.len; i++)
            gp_build_operand(b, m->args.at[i]);
    } else {
        gp_build_operand(b, iter);
    }
}

void gp_build_for(GpBuild *b, GpNode *n) {
    GpAstFor *f = GP_AS(For, n);
    build_iter(b, f->iter);
    uint32_t head = loop_head(b, header(n, f->label, f->iter, 3)), end = gp_build_block(b);
    uint32_t body = gp_build_block(b), temps = b->temps;
    GpLeaving target = {n, end, head, NULL, b->scopes.len, NULL};
    gp_build_edge(b, b->block, end);
    gp_build_goto(b, body);
    gp_scope_push(b, last_char(f->body->span));
    b->temps = b->scopes.len - 1;
    gp_pat_declare(b, f->pat, GP_NO_SPAN, true);
    GpPlace *item = gp_build_temp(b, f->pat->type, f->pat->span);
    GpStep *s = gp_build_step(b, GpStep_Assign, f->pat->span);
    s->dst = item;
    s->is_init = true;
    gp_place_bind(b, f->pat, item, NULL);
    build_turn(b, f->body, &target, head);
    b->temps = temps;
}

/* ---- leaving --------------------------------------------------------------------------------- */

static void build_return(GpBuild *b, GpNode *n) {
    GpAstReturn *r = GP_AS(Return, n);
    if (r->value)
        gp_build_into(b, b->ret, r->value);
    else
        gp_build_step(b, GpStep_Assign, n->span)->dst = b->ret;
    gp_scope_leave(b, 0);
    join(b, b->exit);
    gp_build_dead_end(b);
}

void gp_build_leave(GpBuild *b, GpNode *n) {
    if (n->kind == GpNode_Return) {
        build_return(b, n);
        return;
    }
    GpLeaving *t = b->target;
    while (t && n->res && t->node != n->res->node)
        t = t->outer;
    if (!t || !n->res)
        return;
    if (n->kind == GpNode_Break) {
        GpNode *value = GP_AS(Break, n)->value;
        if (value && t->dst)
            gp_build_into(b, t->dst, value);
        else if (value)
            gp_build_drop(b, value);
        else if (t->dst)
            gp_build_step(b, GpStep_Assign, n->span)->dst = t->dst;
    }
    gp_scope_leave(b, t->depth);
    join(b, n->kind == GpNode_Break ? t->on_break : t->on_continue);
    gp_build_dead_end(b);
}
