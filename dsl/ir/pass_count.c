/* Loops that count become `for`, which later transforms know more of.
**
**   loop (i = a, x = b) { if i < n { yield } else { break i, x }; .. yield i + 1, y }
** is
**   for i in a..n (x = b) { .. yield y }    with i = max(a, n) behind it
** By one, since a larger step could jump over n to where integers wrap. */
#include "dsl/ir/pass.h"

typedef struct Count {
    GpIrFn *fn;
    GpInst *loop, *test, *leave; /* the `if` at its head, and the break in it */
    uint32_t at;                 /* which carried value counts */
    GpValue *bound;
    bool changed;
} Count;

/* Comparisons of the counter with its bound: the operand that it is, and the region that goes on. */
static const struct {
    GpPred pred;
    uint8_t counter, on;
} forms[] = {{GpPred_Lt, 0, 0}, {GpPred_Gt, 1, 0}, {GpPred_Ge, 0, 1}, {GpPred_Le, 1, 1}};

static bool is_outside(const Count *c, const GpValue *v) {
    const GpRegion *r = v->inst ? v->inst->parent : v->region;
    for (; r->owner; r = r->owner->parent)
        if (r->owner == c->loop) return false;
    return true;
}

/* What stands before the test runs at least once: it can stand before the loop if it is the same each time. */
static bool is_same(const Count *c, const GpValue *v) {
    if (is_outside(c, v)) return true;
    if (!v->inst) return false;
    for (uint32_t i = 0; i < v->inst->operand_count; i++)
        if (!is_same(c, v->inst->operands[i])) return false;
    return true;
}

static bool find_test(Count *c) {
    GpInst *x = c->loop->regions[0]->first;
    while (x->op != GpOp_If && gp_ir_effect(x) == GpEffect_Pure && !x->region_count) x = x->next;
    if (x->op != GpOp_If || x->result_count || !x->operands[0]->inst) return false;
    c->test = x;
    const GpInst *cmp = x->operands[0]->inst;
    for (size_t i = 0; i < GP_COUNT(forms) && cmp->op == GpOp_Cmp; i++) {
        const GpValue *counter = cmp->operands[forms[i].counter];
        GpRegion *on = x->regions[forms[i].on], *off = x->regions[1 - forms[i].on];
        if (cmp->pred != forms[i].pred || counter->inst || counter->region != c->loop->regions[0] ||
            counter->type->kind != GpIrType_Scalar || !gp_elem_is_integer(counter->type->elem))
            continue;
        c->at = counter->index;
        c->bound = cmp->operands[1 - forms[i].counter];
        c->leave = off->first;
        return is_same(c, c->bound) && on->first->op == GpOp_Yield && off->first->op == GpOp_Break &&
               off->first->target == c->loop;
    }
    return false;
}

static bool counts_by_one(const Count *c) {
    const GpInst *end = gp_ir_terminator(c->loop->regions[0]);
    const GpInst *next = end->op == GpOp_Yield ? end->operands[c->at]->inst : NULL;
    GpValue *counter = c->loop->regions[0]->params[c->at];
    GpScalar one;
    if (!next || next->op != GpOp_Add) return false;
    uint32_t side = next->operands[0] == counter ? 1 : 0;
    return next->operands[1 - side] == counter && gp_ir_const(next->operands[side], &one) && one.i == 1;
}

static bool jumps_to(const GpRegion *r, const GpInst *loop, const GpInst *but) {
    for (const GpInst *x = r->first; x; x = x->next) {
        if (x->target == loop && x != but) return true;
        for (uint32_t i = 0; i < x->region_count; i++)
            if (jumps_to(x->regions[i], loop, but)) return true;
    }
    return false;
}

/* The loop gives what it carries, or what it did not make. */
static bool gives_carried(const Count *c) {
    for (uint32_t i = 0; i < c->leave->operand_count; i++) {
        const GpValue *v = c->leave->operands[i];
        bool is_carried = !v->inst && v->region == c->loop->regions[0];
        if (!is_carried && !is_outside(c, v)) return false;
    }
    return true;
}

static bool can_count(Count *c) {
    return find_test(c) && counts_by_one(c) && gives_carried(c) &&
           !jumps_to(c->loop->regions[0], c->loop, c->leave);
}

/* The bound, made in front of the loop. */
static GpValue *move_bound(Count *c, GpValue *v) {
    if (is_outside(c, v)) return v;
    for (uint32_t i = 0; i < v->inst->operand_count; i++) move_bound(c, v->inst->operands[i]);
    gp_ir_remove(v->inst);
    gp_ir_insert(v->inst, c->loop->parent, c->loop);
    return v;
}

static GpInst *build_for(Count *c, GpBuilder *b) {
    const GpInst *loop = c->loop;
    uint32_t carried = 0;
    GpValue *lower = loop->operands[c->at], *step = gp_build_int(b, lower->type->elem, 1);
    GpValue **start = GP_NEW_ARRAY(c->fn->arena, GpValue *, loop->operand_count);
    for (uint32_t i = 0; i < loop->operand_count; i++)
        if (i != c->at)
            start[carried++] = loop->operands[i];
    GpInst *by = gp_ir_build_for(b, (GpValue *[]){lower, c->bound, step}, start, carried);
    GpValue **turn = by->regions[0]->params, **next = gp_loop_params(by);
    for (uint32_t i = 0; i < loop->operand_count; i++) {
        GpValue *from = loop->regions[0]->params[i], *to = i == c->at ? *turn : *next++;
        to->name = from->name;
        gp_pass_replace(from, to);
    }
    return by;
}

static void move_body(const Count *c, GpInst *by) {
    GpRegion *from = c->loop->regions[0], *body = by->regions[0];
    gp_ir_remove(c->test);
    while (from->first) {
        GpInst *x = from->first;
        gp_ir_remove(x);
        gp_ir_insert(x, body, NULL);
    }
    GpInst *end = gp_ir_terminator(body);
    end->operand_count--;
    for (uint32_t i = c->at; i < end->operand_count; i++) end->operands[i] = end->operands[i + 1];
}

static void try_loop(GpInst *inst, void *ud) {
    Count *c = ud;
    c->loop = inst;
    if (inst->op != GpOp_Loop || !can_count(c)) return;
    GpBuilder b = {.fn = c->fn, .region = inst->parent, .before = inst, .span = inst->span};
    GpValue *from = inst->operands[c->at];
    c->bound = move_bound(c, c->bound);
    GpInst *by = build_for(c, &b);
    move_body(c, by);
    GpValue *last = gp_build2(&b, GpOp_Max, from, c->bound);
    for (uint32_t i = 0; i < inst->result_count; i++) {
        GpValue *v = c->leave->operands[i];
        bool is_carried = !v->inst && v->region == inst->regions[0];
        uint32_t k = v->index - (v->index > c->at);
        if (is_carried && v->index == c->at)
            gp_pass_replace(inst->results[i], last);
        else
            gp_pass_replace(inst->results[i], is_carried ? by->results[k] : v);
    }
    gp_ir_remove(inst);
    c->changed = true;
}

bool gp_pass_count_up(GpIrFn *fn) {
    Count c = {.fn = fn};
    gp_ir_walk(fn, GpWalk_After, try_loop, &c);
    if (c.changed) gp_ir_apply_forwards(fn);
    return c.changed;
}
