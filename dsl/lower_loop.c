/* Loops. `while c { b }` is a loop that breaks when c fails; `for` over a range that cannot
** overflow is the IR's `for`, other ranges count turns in u64. */
#include "dsl/lower.h"

static void open_target(GpLower *lo, GpLowerTarget *t, const GpNode *n, const GpCarry *c) {
    *t = (GpLowerTarget){.outer = lo->targets,
                         .node = n,
                         .exit = c->exit,
                         .again = c->again,
                         .again_op = GpOp_Continue};
    lo->targets = t;
}

static void run_body(GpLower *lo, GpCarry *c, GpNode *body) {
    gp_lower_expr(lo, body);
    gp_join_edge(lo, c->again, GpOp_Yield, gp_lower_unit(lo));
}

GpVal gp_lower_loop(GpLower *lo, GpNode *n) {
    GpLowerTarget target;
    GpCarry *c = gp_carry_open(lo, gp_lower_node_type(lo, n), NULL);
    open_target(lo, &target, n, c);
    GpLowerPlace at = gp_lower_enter(lo, c->region);
    run_body(lo, c, GP_AS(Loop, n)->body);
    gp_lower_leave(lo, at);
    lo->targets = target.outer;
    return gp_carry_finish_loop(lo, c);
}

typedef struct While {
    GpCarry *carry;
    GpNode *body; /* inside the condition's scope when that has bindings, else NULL */
} While;

static GpVal while_holds(GpLower *lo, void *ud) {
    While *w = ud;
    if (w->body)
        gp_lower_expr(lo, w->body);
    return gp_lower_unit(lo);
}

static GpVal while_ends(GpLower *lo, void *ud) {
    gp_join_edge(lo, ((While *)ud)->carry->exit, GpOp_Break, gp_lower_unit(lo));
    return gp_lower_unit(lo);
}

static void find_let(GpNode *n, void *ud) {
    if (n->kind == GpNode_LetCond)
        *(bool *)ud = true;
    if (n->kind == GpNode_Paren || n->kind == GpNode_Binary)
        gp_node_children(n, find_let, ud);
}

GpVal gp_lower_while(GpLower *lo, GpNode *n) {
    GpAstWhile *x = GP_AS(While, n);
    const GpType *unit = gp_ty_unit(lo->types);
    bool has_let = false;
    find_let(x->cond, &has_let);
    GpLowerTarget target;
    GpCarry *c = gp_carry_open(lo, unit, NULL);
    While w = {c, has_let ? x->body : NULL};
    open_target(lo, &target, n, c);
    GpLowerPlace at = gp_lower_enter(lo, c->region);
    gp_lower_cond(lo, x->cond, unit, while_holds, while_ends, &w);
    if (has_let)
        gp_join_edge(lo, c->again, GpOp_Yield, gp_lower_unit(lo));
    else
        run_body(lo, c, x->body);
    gp_lower_leave(lo, at);
    lo->targets = target.outer;
    return gp_carry_finish_loop(lo, c);
}

/* ---- for ------------------------------------------------------------------------------------ */

typedef struct Range {
    GpValue *lo, *hi;
    bool is_closed, is_reversed;
} Range;

static bool read_range(GpLower *lo, GpNode *n, Range *out) {
    n = gp_lower_unparen(n);
    if (n->kind == GpNode_MethodCall) {
        GpAstMethodCall *m = GP_AS(MethodCall, n);
        if (!strcmp(m->name->name, "rev") && !m->args.len) {
            out->is_reversed = !out->is_reversed;
            return read_range(lo, m->receiver, out);
        }
    }
    if (n->kind == GpNode_Range) {
        GpAstRange *r = GP_AS(Range, n);
        if (!r->lo || !r->hi)
            return false;
        out->lo = gp_lower_scalar(lo, r->lo);
        out->hi = gp_lower_scalar(lo, r->hi);
        out->is_closed = r->is_closed;
        return true;
    }
    if (!gp_ty_is_lang(gp_lower_type(lo, gp_expr_type(n)), GpLang_Range))
        return false;
    GpVal v = gp_lower_expr(lo, n);
    if (v.count != 2)
        return false;
    out->lo = gp_lower_get(lo, &v, 0);
    out->hi = gp_lower_get(lo, &v, 1);
    return true;
}

/* a..=b with b known and not the greatest value is a..b + 1. */
static bool open_constant(GpLower *lo, Range *r) {
    GpScalar hi;
    if (!r->is_closed || !gp_ir_const(r->hi, &hi))
        return false;
    GpScalar next = hi;
    next.u++;
    next = gp_scalar_wrap(next);
    if (gp_elem_is_signed(hi.elem) ? next.i <= hi.i : next.u <= hi.u)
        return false;
    r->hi = gp_build_const(&lo->b, r->hi->type, next);
    r->is_closed = false;
    return true;
}

static GpElem unsigned_of(GpElem elem) {
    static const GpElem by_log[] = {GpElem_U8, GpElem_U16, GpElem_U32, GpElem_U64};
    uint32_t log = 0;
    while (8u << log < gp_elem_info[elem].bits)
        log++;
    return by_log[log];
}

/* How many turns the range has. Wraps to 0 only for 2^64 turns, which nobody waits for. */
static GpValue *count_turns(GpLower *lo, const Range *r) {
    GpValue *holds = gp_build_cmp(&lo->b, r->is_closed ? GpPred_Le : GpPred_Lt, r->lo, r->hi);
    GpValue *n = gp_build2(&lo->b, GpOp_Sub, r->hi, r->lo);
    n = gp_lower_convert(lo, n, unsigned_of(n->type->elem));
    n = gp_lower_convert(lo, n, GpElem_U64);
    if (r->is_closed)
        n = gp_build2(&lo->b, GpOp_Add, n, gp_build_int(&lo->b, GpElem_U64, 1));
    return gp_build_select(&lo->b, holds, n, gp_build_int(&lo->b, GpElem_U64, 0));
}

static GpValue *item_of(GpLower *lo, const Range *r, GpValue *turn) {
    GpElem elem = r->lo->type->elem;
    turn = gp_lower_convert(lo, turn, elem);
    if (!r->is_reversed)
        return gp_build2(&lo->b, GpOp_Add, r->lo, turn);
    GpValue *last = r->hi;
    if (!r->is_closed)
        last = gp_build2(&lo->b, GpOp_Sub, last, gp_build_int(&lo->b, elem, 1));
    return gp_build2(&lo->b, GpOp_Sub, last, turn);
}

static void lower_turns(GpLower *lo, GpNode *n, const Range *r, GpValue *upper, bool is_counted) {
    GpAstFor *x = GP_AS(For, n);
    GpLowerTarget target;
    GpElem elem = upper->type->elem;
    GpValue *lower = is_counted ? gp_build_int(&lo->b, elem, 0) : r->lo;
    GpValue *step = gp_build_int(&lo->b, elem, 1);
    GpCarry *c = gp_carry_open(lo, gp_ty_unit(lo->types), upper->type);
    open_target(lo, &target, n, c);
    GpLowerPlace at = gp_lower_enter(lo, c->region);
    GpValue *index = c->region->params[0];
    if (x->pat->kind == GpNode_PatName && !is_counted)
        index->name = GP_AS(PatName, x->pat)->name->name;
    GpValue *item = is_counted ? item_of(lo, r, index) : index;
    gp_pat_bind(lo, x->pat, gp_spot_value(gp_lower_one(lo, gp_lower_type(lo, x->pat->type), item)));
    run_body(lo, c, x->body);
    gp_lower_leave(lo, at);
    lo->targets = target.outer;
    gp_carry_finish_for(lo, c, lower, upper, step);
}

GpVal gp_lower_for(GpLower *lo, GpNode *n) {
    GpAstFor *x = GP_AS(For, n);
    Range r = {0};
    if (!read_range(lo, x->iter, &r) || r.lo->type != r.hi->type) {
        gp_lower_refuse(lo, x->iter->span, "a `for` loop over this");
        return gp_lower_unit(lo);
    }
    if (lo->is_dead)
        return gp_lower_unit(lo);
    if (!r.is_reversed)
        open_constant(lo, &r);
    bool is_counted = r.is_closed || r.is_reversed;
    lower_turns(lo, n, &r, is_counted ? count_turns(lo, &r) : r.hi, is_counted);
    return gp_lower_unit(lo);
}
