/* In which turns of a loop a comparison is known.
**
** Its sides are made of the turn's number, of what is the same in every turn, and of indices (iota), by
** sums and products with constants: each lies in a range that moves by as much from turn to turn. So the
** comparison holds for all elements, or for none, before a turn or from one on. Where integers would wrap in
** any turn nothing is known. */
#include "codegen/pipe.h"

/* An integer, or the integers of a tile, in some turn: every element lies from low to high. */
typedef struct Range {
    GpValue *low, *high; /* i64 */
    int64_t step;        /* from turn to turn */
} Range;

typedef struct Sides {
    GpPipeLoop *loop;
    GpBuilder *b;
    GpValue *turn; /* i64 */
    GpValue *fits; /* nothing wraps in the turn */
    int depth;
} Sides;

enum { MOST_DEPTH = 16, MOST_FACTOR = 1 << 20 };

static GpValue *wide(const Sides *s, int64_t v) { return gp_build_int(s->b, GpElem_I64, v); }

static void note_fit(Sides *s, GpValue *v) {
    GpValue *low = gp_build_cmp(s->b, GpPred_Ge, v, wide(s, INT32_MIN));
    GpValue *high = gp_build_cmp(s->b, GpPred_Le, v, wide(s, INT32_MAX));
    s->fits = gp_build2(s->b, GpOp_And, s->fits, gp_build2(s->b, GpOp_And, low, high));
}

static bool find_range(Sides *s, GpValue *v, Range *out);

static bool sum_ranges(Sides *s, const GpInst *inst, Range *out) {
    Range x, y;
    bool is_sub = inst->op == GpOp_Sub;
    if (!find_range(s, inst->operands[0], &x) || !find_range(s, inst->operands[1], &y))
        return false;
    out->low = gp_build2(s->b, inst->op, x.low, is_sub ? y.high : y.low);
    out->high = gp_build2(s->b, inst->op, x.high, is_sub ? y.low : y.high);
    out->step = is_sub ? x.step - y.step : x.step + y.step;
    return true;
}

static bool find_factor(const GpValue *v, GpScalar *out) {
    while (v->inst && v->inst->op == GpOp_Splat)
        v = v->inst->operands[0];
    return gp_ir_const(v, out);
}

static bool scale_range(Sides *s, const GpInst *inst, Range *out) {
    GpScalar k;
    uint32_t at = find_factor(inst->operands[1], &k) ? 0 : 1;
    Range x;
    if ((at == 1 && !find_factor(inst->operands[0], &k)) || k.i < 0 || k.i > MOST_FACTOR ||
        !find_range(s, inst->operands[at], &x))
        return false;
    out->low = gp_build2(s->b, GpOp_Mul, x.low, wide(s, k.i));
    out->high = gp_build2(s->b, GpOp_Mul, x.high, wide(s, k.i));
    out->step = x.step * k.i;
    return x.step < MOST_FACTOR;
}

/* What the instruction makes; false: nothing that is known. */
static bool compute_range(Sides *s, const GpInst *inst, Range *out) {
    if (inst->op == GpOp_Add || inst->op == GpOp_Sub)
        return sum_ranges(s, inst, out);
    if (inst->op == GpOp_Mul)
        return scale_range(s, inst, out);
    if (inst->op == GpOp_Splat || inst->op == GpOp_Reshape || inst->op == GpOp_Broadcast)
        return find_range(s, inst->operands[0], out);
    if (inst->op != GpOp_Iota)
        return false;
    *out = (Range){wide(s, 0), wide(s, gp_ir_numel(inst->results[0]->type) - 1), 0};
    return true;
}

static bool find_range(Sides *s, GpValue *v, Range *out) {
    GpScalar k;
    if (v->type->elem != GpElem_I32 || s->depth == MOST_DEPTH)
        return false;
    if (v == s->loop->inst->regions[0]->params[0]) {
        *out = (Range){s->turn, s->turn, 1};
        return true;
    }
    if (gp_ir_const(v, &k)) {
        *out = (Range){wide(s, k.i), wide(s, k.i), 0};
        return true;
    }
    if (v->type->kind == GpIrType_Scalar && gp_pipe_is_invariant(s->loop, v)) {
        GpValue *same = gp_build_cast(s->b, gp_pipe_hoist(s->loop, s->b, v), GpElem_I64);
        *out = (Range){same, same, 0};
        return true;
    }
    s->depth++;
    bool is_known = v->inst && compute_range(s, v->inst, out);
    s->depth--;
    if (is_known && (v->inst->op == GpOp_Add || v->inst->op == GpOp_Sub || v->inst->op == GpOp_Mul)) {
        note_fit(s, out->low);
        note_fit(s, out->high);
    }
    return is_known;
}

/* ---- The first turn ---------------------------------------------------------------------- */

static GpPred negated(GpPred pred) {
    static const GpPred of[GP_PRED_COUNT] = {
        [GpPred_Eq] = GpPred_Ne, [GpPred_Ne] = GpPred_Eq, [GpPred_Lt] = GpPred_Ge,
        [GpPred_Ge] = GpPred_Lt, [GpPred_Gt] = GpPred_Le, [GpPred_Le] = GpPred_Gt};
    return of[pred];
}

/* By how much x is above y, and how that moves; where it is not negative every x is above every y. */
typedef struct Slack {
    GpValue *at; /* i64; in the first turn */
    int64_t step;
} Slack;

static Slack slack_of(const Sides *s, const Range *x, const Range *y, bool is_strict) {
    GpValue *at = gp_build2(s->b, GpOp_Sub, x->low, y->high);
    return (Slack){is_strict ? gp_build2(s->b, GpOp_Sub, at, wide(s, 1)) : at, x->step - y->step};
}

/* Which sides have to be above the other for `pred`. Sides that differ do so either way; the early turns'
** is taken. */
static bool find_slack(const Sides *s, GpPred pred, const Range *x, const Range *y, Slack *out) {
    if (pred == GpPred_Eq)
        return false;
    bool is_above = pred == GpPred_Gt || pred == GpPred_Ge;
    if (pred == GpPred_Ne)
        is_above = x->step < y->step;
    bool is_strict = pred != GpPred_Ge && pred != GpPred_Le;
    *out = is_above ? slack_of(s, x, y, is_strict) : slack_of(s, y, x, is_strict);
    return out->step != 0;
}

static bool find_sides(Sides *s, const GpInst *cmp, GpValue *turn, Range *x, Range *y) {
    s->turn = turn;
    return find_range(s, cmp->operands[0], x) && find_range(s, cmp->operands[1], y);
}

/* Turns from the first one on in which the slack is not negative, or, as it grows, in which it is. */
static GpValue *count_turns(const Sides *s, const Slack *k) {
    GpValue *zero = wide(s, 0), *is_above = gp_build_cmp(s->b, GpPred_Ge, k->at, zero), *count;
    if (k->step < 0) {
        count = gp_build2(s->b, GpOp_Div, k->at, wide(s, -k->step));
        return gp_build_select(s->b, is_above, gp_build2(s->b, GpOp_Add, count, wide(s, 1)), zero);
    }
    count = gp_build2(s->b, GpOp_Sub, wide(s, k->step - 1), k->at);
    return gp_build_select(s->b, is_above, zero, gp_build2(s->b, GpOp_Div, count, wide(s, k->step)));
}

bool gp_pipe_find_bound(GpPipeLoop *l, GpBuilder *b, const GpInst *cmp, bool value, GpPipeBound *out) {
    Sides s = {.loop = l, .b = b, .fits = gp_build_int(b, GpElem_Bool, 1)};
    GpValue *lower = gp_build_cast(b, l->inst->operands[0], GpElem_I64);
    GpValue *upper = gp_build_cast(b, l->inst->operands[1], GpElem_I64);
    Range x, y, last_x, last_y;
    Slack slack;
    if (!find_sides(&s, cmp, gp_build2(b, GpOp_Sub, upper, wide(&s, 1)), &last_x, &last_y) ||
        !find_sides(&s, cmp, lower, &x, &y) ||
        !find_slack(&s, value ? cmp->pred : negated(cmp->pred), &x, &y, &slack))
        return false;
    GpValue *all = gp_build2(b, GpOp_Max, gp_build2(b, GpOp_Sub, upper, lower), wide(&s, 0));
    GpValue *count = gp_build2(b, GpOp_Min, count_turns(&s, &slack), all);
    out->is_early = slack.step < 0;
    count = gp_build_select(b, s.fits, count, out->is_early ? wide(&s, 0) : all);
    out->middle = gp_build_cast(b, gp_build2(b, GpOp_Add, lower, count), GpElem_I32);
    return true;
}
