/* Loops. `while c { b }` is a loop that breaks when c fails; `for` over a range that cannot
** overflow is the IR's `for`, other ranges count turns in u64. */
#include "dsl/lower.h"

static void open_target(GpLower *lo, GpLowerTarget *t, const GpNode *n, const GpCarry *c) {
    *t = (GpLowerTarget){.outer = lo->targets,
                         .node = n,
                         .exit = c->exit,
                         .again = c->again};
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

/* lo..hi or lo..=hi; once it is counted, `count` items from `first` on, `stride` (1 when NULL) apart. */
typedef struct Range {
    GpValue *lo, *hi;
    bool is_closed, is_counted, is_down;
    GpValue *first, *stride, *count; /* count is u64 */
} Range;

static bool read_bounds(GpLower *lo, GpNode *n, Range *out) {
    if (n->kind == GpNode_Range) {
        GpAstRange *r = GP_AS(Range, n);
        if (!r->lo || !r->hi)
            return false;
        out->lo = gp_lower_scalar(lo, r->lo);
        out->hi = gp_lower_scalar(lo, r->hi);
        out->is_closed = r->is_closed;
        return true;
    }
    const GpType *type = gp_lower_type(lo, gp_expr_type(n));
    if (gp_ty_is_lang(type, GpLang_Dim)) {
        out->lo = gp_build_int(&lo->b, GpElem_I32, 0);
        out->hi = gp_lower_scalar(lo, n);
        return true;
    }
    if (!gp_ty_is_lang(type, GpLang_Range))
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
    if (r->is_counted || !r->is_closed || !gp_ir_const(r->hi, &hi))
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

/* The item at a turn, which is u64. */
static GpValue *item_of(GpLower *lo, const Range *r, GpValue *turn) {
    turn = gp_lower_convert(lo, turn, r->first->type->elem);
    if (r->stride)
        turn = gp_build2(&lo->b, GpOp_Mul, turn, r->stride);
    return gp_build2(&lo->b, r->is_down ? GpOp_Sub : GpOp_Add, r->first, turn);
}

static void count_range(GpLower *lo, Range *r) {
    if (r->is_counted)
        return;
    r->is_counted = true;
    r->count = count_turns(lo, r);
    r->first = r->lo;
}

/* .rev() */
static void reverse(GpLower *lo, Range *r) {
    GpValue *one = gp_build_int(&lo->b, r->lo->type->elem, 1);
    bool is_plain = !r->is_counted;
    count_range(lo, r);
    if (is_plain)
        r->first = r->is_closed ? r->hi : gp_build2(&lo->b, GpOp_Sub, r->hi, one);
    else
        r->first = item_of(
            lo, r, gp_build2(&lo->b, GpOp_Sub, r->count, gp_build_int(&lo->b, GpElem_U64, 1)));
    r->is_down = !r->is_down;
}

/* .step_by(k): the first item and each k-th after it. */
static void skip(GpLower *lo, Range *r, GpNode *step) {
    GpScalar known;
    GpValue *k = gp_lower_scalar(lo, step), *zero = gp_build_int(&lo->b, k->type->elem, 0);
    if (!gp_ir_const(k, &known) || !known.u)
        gp_lower_assert(lo, gp_build_cmp(&lo->b, GpPred_Ne, k, zero), step->span,
                        "assertion failed: step != 0");
    count_range(lo, r);
    k = gp_lower_convert(lo, k, GpElem_U64);
    GpValue *none = gp_build_int(&lo->b, GpElem_U64, 0), *one = gp_build_int(&lo->b, GpElem_U64, 1);
    GpValue *more = gp_build2(&lo->b, GpOp_Div, gp_build2(&lo->b, GpOp_Sub, r->count, one), k);
    GpValue *is_empty = gp_build_cmp(&lo->b, GpPred_Eq, r->count, none);
    r->count = gp_build_select(&lo->b, is_empty, none, gp_build2(&lo->b, GpOp_Add, more, one));
    GpValue *stride = gp_lower_convert(lo, k, r->first->type->elem);
    r->stride = r->stride ? gp_build2(&lo->b, GpOp_Mul, r->stride, stride) : stride;
}

static bool read_range(GpLower *lo, GpNode *n, Range *out) {
    n = gp_node_bare(n);
    if (n->kind != GpNode_MethodCall || !n->res || n->res->kind != GpRes_Operator)
        return read_bounds(lo, n, out) && out->lo->type == out->hi->type;
    GpAstMethodCall *m = GP_AS(MethodCall, n);
    if (!read_range(lo, m->receiver, out))
        return false;
    if (m->args.len == 1)
        skip(lo, out, m->args.at[0]);
    else
        reverse(lo, out);
    return true;
}

/* The body sees an index that is known to be below the range's end. */
static void note_below(GpLower *lo, const Range *r, GpValue *index) {
    GpScalar low;
    if (gp_ir_const(r->lo, &low) && low.i >= 0 && index->type->elem == GpElem_I32)
        gp_map_set(lo->arena, &lo->below, index, r->hi);
}

static void lower_turns(GpLower *lo, GpNode *n, const Range *r) {
    GpAstFor *x = GP_AS(For, n);
    GpLowerTarget target;
    GpValue *upper = r->is_counted ? r->count : r->hi;
    GpElem elem = upper->type->elem;
    GpValue *lower = r->is_counted ? gp_build_int(&lo->b, elem, 0) : r->lo;
    GpValue *step = gp_build_int(&lo->b, elem, 1);
    GpCarry *c = gp_carry_open(lo, gp_ty_unit(lo->types), upper->type);
    open_target(lo, &target, n, c);
    GpLowerPlace at = gp_lower_enter(lo, c->region);
    GpValue *index = c->region->params[0];
    if (x->pat->kind == GpNode_PatName && !r->is_counted)
        index->name = GP_AS(PatName, x->pat)->name->name;
    GpValue *item = r->is_counted ? item_of(lo, r, index) : index;
    if (!r->is_counted)
        note_below(lo, r, index);
    gp_pat_bind(lo, x->pat, gp_spot_value(gp_lower_one(lo, gp_lower_type(lo, x->pat->type), item)));
    run_body(lo, c, x->body);
    gp_lower_leave(lo, at);
    lo->targets = target.outer;
    gp_carry_finish_for(lo, c, lower, upper, step);
}

/* This block's share of a mapped partition's tiles. */
static void lower_schedule(GpLower *lo, GpNode *n, const GpVal *schedule) {
    GpAstFor *x = GP_AS(For, n);
    GpLowerTarget target;
    GpValue *range[3];
    if (!gp_lower_schedule_range(lo, schedule, x->iter->span, range))
        return;
    GpCarry *c = gp_carry_open(lo, gp_ty_unit(lo->types), range[0]->type);
    open_target(lo, &target, n, c);
    GpLowerPlace at = gp_lower_enter(lo, c->region);
    const GpType *item = gp_lower_type(lo, x->pat->type);
    GpVal index = gp_lower_schedule_index(lo, schedule, c->region->params[0], item);
    gp_pat_bind(lo, x->pat, gp_spot_value(index));
    run_body(lo, c, x->body);
    gp_lower_leave(lo, at);
    lo->targets = target.outer;
    gp_carry_finish_for(lo, c, range[0], range[1], range[2]);
}

GpVal gp_lower_for(GpLower *lo, GpNode *n) {
    GpAstFor *x = GP_AS(For, n);
    if (gp_ty_is_lang(gp_lower_type(lo, gp_expr_type(x->iter)), GpLang_PartitionIndices)) {
        GpVal schedule = gp_lower_expr(lo, x->iter);
        if (!lo->is_dead)
            lower_schedule(lo, n, &schedule);
        return gp_lower_unit(lo);
    }
    Range r = {0};
    if (!read_range(lo, x->iter, &r)) {
        gp_lower_refuse(lo, x->iter->span, "a `for` loop over this");
        return gp_lower_unit(lo);
    }
    if (lo->is_dead)
        return gp_lower_unit(lo);
    open_constant(lo, &r);
    if (r.is_closed)
        count_range(lo, &r);
    lower_turns(lo, n, &r);
    return gp_lower_unit(lo);
}
