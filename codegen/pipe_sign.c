/* The greatest of products with one factor, in loops of products (mma).
**
**     m = reduce_max(x * c)   is   if 0 < c < inf { reduce_max(x) * c } else { reduce_max(x * c) }
**
** bit by bit: rounding keeps the order, of zeros too, and NaN counts for nothing in either. Where a mask chooses between
** the product and a constant, and nothing less than that comes out of the loop's maximum anyway,
**
**     max(m, reduce_max(select(mask, x * c, k)))   is   max(m, reduce_max(select(mask, x, -inf)) * c)
**
** The factor is the same in all turns, so that splitting (pipe_split.c) leaves a loop for either case. */
#include "codegen/emit_tile_gpu.h"
#include "dsl/ir/pass.h"

#include <math.h>

typedef struct Sign {
    GpIrFn *fn;
    uint32_t *uses;
    bool changed;
} Sign;

/* fold(x * c), or fold(select(mask, x * c, k)) */
typedef struct Scaled {
    GpInst *fold, *choice; /* choice: NULL without a mask */
    GpInst *product;
    uint32_t factor;       /* which of its operands is c */
} Scaled;

/* c of x * c: a scalar that is the same in every turn, or a constant; 2: there is none. */
static uint32_t find_factor(const GpPipeLoop *l, const GpInst *product) {
    GpScalar value;
    for (uint32_t i = 0; i < 2; i++) {
        const GpInst *c = product->operands[i]->inst;
        if (c && (gp_ir_const(product->operands[i], &value) || (c->op == GpOp_Splat && gp_pipe_is_invariant(l, c->operands[0]))))
            return i;
    }
    return 2;
}

static GpValue *scalar_of(GpBuilder *b, GpValue *c) {
    GpScalar value;
    return gp_ir_const(c, &value) ? gp_build_const(b, gp_ir_scalar(b->fn, value.elem), value) : c->inst->operands[0];
}

/* ---- What is no less than a number ------------------------------------------------------- */

typedef struct Least {
    GpIrFn *fn;
    double than;
    GpMap seen; /* values that are asked, or were: of those that turns hand on it holds by induction */
} Least;

static bool is_no_less(Least *k, const GpValue *v) {
    GpScalar value;
    const GpInst *x = v->inst, *loop = x ? x : v->region->owner;
    if (gp_ir_const(v, &value))
        return value.f >= k->than;
    if (gp_map_has(&k->seen, v))
        return true;
    if (loop && loop->op == GpOp_For && (x || v->index > 0)) {
        uint32_t i = x ? v->index : v->index - 1;
        gp_map_set(k->fn->arena, &k->seen, gp_loop_params(loop)[i], NULL);
        return is_no_less(k, gp_loop_starts(loop)[i]) &&
               is_no_less(k, gp_ir_terminator(loop->regions[0])->operands[i]);
    }
    if (x && x->op == GpOp_Max)
        return is_no_less(k, x->operands[0]) || is_no_less(k, x->operands[1]);
    bool is_moved = x && (x->op == GpOp_Splat || x->op == GpOp_Reshape || x->op == GpOp_Broadcast);
    return is_moved && is_no_less(k, x->operands[0]);
}

static GpInst *only_user(const Sign *s, const GpValue *v) {
    for (GpInst *x = v->inst->next; x && s->uses[v->id] == 1; x = x->next)
        for (uint32_t i = 0; i < x->operand_count; i++)
            if (x->operands[i] == v)
                return x;
    return NULL;
}

/* Whether k, where the mask does not hold, makes no difference to what becomes of the fold. */
static bool is_void(const Sign *s, const GpInst *fold, const GpValue *k) {
    GpScalar value;
    const GpInst *user = only_user(s, fold->results[0]);
    const GpValue *v = fold->results[0];
    if (user && user->op == GpOp_Reshape) {
        v = user->results[0];
        user = only_user(s, v);
    }
    if (gp_ir_fold_op(fold) != GpOp_Max || !user || user->op != GpOp_Max || !gp_ir_const(k, &value) || value.f >= 0)
        return false; /* of zeros the sign would count */
    Least least = {.fn = s->fn, .than = value.f};
    return is_no_less(&least, user->operands[user->operands[0] == v]);
}

/* ---- Which folds ------------------------------------------------------------------------- */

static bool is_extreme(const GpInst *inst) {
    GpScalar identity;
    GpOp fold = inst->op == GpOp_Reduce && inst->results[0]->type->elem == GpElem_F32 ? gp_ir_fold_op(inst) : GpOp_count;
    return (fold == GpOp_Max || fold == GpOp_Min) && gp_ir_const(inst->operands[1], &identity) &&
           identity.f == (fold == GpOp_Max ? -HUGE_VAL : HUGE_VAL);
}

static bool find_scaled(const Sign *s, const GpPipeLoop *l, GpInst *fold, Scaled *out) {
    GpInst *inst = is_extreme(fold) ? fold->operands[0]->inst : NULL;
    *out = (Scaled){.fold = fold};
    if (inst && inst->op == GpOp_Select && s->uses[inst->results[0]->id] == 1 && is_void(s, fold, inst->operands[2])) {
        out->choice = inst;
        inst = inst->operands[1]->inst;
    }
    out->product = inst;
    if (!inst || inst->op != GpOp_Mul || s->uses[inst->results[0]->id] > 1)
        return false;
    out->factor = find_factor(l, inst);
    return out->factor < 2;
}

/* ---- Either case ------------------------------------------------------------------------- */

/* 0 < c < inf, as a comparison that stands first in the loop. */
static GpValue *build_test(GpPipeLoop *l, GpValue *c) {
    enum { INFINITE = 0x7f800000 };
    GpRegion *body = l->inst->regions[0];
    GpBuilder out = {.fn = l->fn, .region = l->inst->parent, .before = l->inst, .span = l->inst->span};
    GpBuilder in = {.fn = l->fn, .region = body, .before = body->first, .span = l->inst->span};
    GpScalar value;
    GpValue *one = gp_ir_const(c, &value) ? scalar_of(&out, c) : gp_pipe_hoist(l, &out, c->inst->operands[0]);
    GpValue *bits = gp_build_bitcast(&out, one, GpElem_U32);
    bits = gp_build2(&out, GpOp_Sub, bits, gp_build_int(&out, GpElem_U32, 1));
    return gp_build_cmp(&in, GpPred_Lt, bits, gp_build_int(&out, GpElem_U32, INFINITE - 1));
}

/* The fold of x, times c; and x as far as the mask holds. */
static void build_short(GpBuilder *b, const Scaled *at, GpValue **out) {
    GpValue **map = GP_NEW_ARRAY(b->fn->arena, GpValue *, b->fn->next_id), *x = at->product->operands[1 - at->factor];
    if (at->choice) {
        GpScalar none = {.elem = x->type->elem, .f = -HUGE_VAL};
        x = gp_build_select(b, at->choice->operands[0], x, gp_build_const(b, x->type, none));
    }
    map[at->fold->operands[0]->id] = x;
    GpValue *v = gp_ir_copy(b, at->fold, map)->results[0], *c = scalar_of(b, at->product->operands[at->factor]);
    out[0] = gp_build2(b, GpOp_Mul, v, gp_build(b, GpOp_Splat, &c, 1, &v->type, 1)->results[0]);
    out[1] = x;
}

static void build_long(GpBuilder *b, const Scaled *at, GpValue **out) {
    GpValue **map = GP_NEW_ARRAY(b->fn->arena, GpValue *, b->fn->next_id);
    gp_ir_copy(b, at->product, map);
    if (at->choice)
        gp_ir_copy(b, at->choice, map);
    out[0] = gp_ir_copy(b, at->fold, map)->results[0];
    out[1] = at->product->operands[1 - at->factor];
}

/* An fma of x that is chosen by the same mask takes what is left of x: x itself need not be kept. */
static void take_masked(const Sign *s, const Scaled *at, GpValue *x, GpValue *masked) {
    for (GpInst *fma = at->fold->next; fma; fma = fma->next) {
        const GpInst *user = fma->op == GpOp_Fma ? only_user(s, fma->results[0]) : NULL;
        if (!user || user->op != GpOp_Select || user->operands[0] != at->choice->operands[0] || user->operands[1] != fma->results[0])
            continue;
        for (uint32_t i = 0; i < fma->operand_count; i++)
            if (fma->operands[i] == x)
                fma->operands[i] = masked;
    }
}

static void rewrite(const Sign *s, GpPipeLoop *l, const Scaled *at) {
    GpValue *x = at->product->operands[1 - at->factor], *v[2];
    GpValue *is_positive = build_test(l, at->product->operands[at->factor]);
    const GpIrType *types[] = {at->fold->results[0]->type, x->type};
    GpBuilder b = {.fn = l->fn, .region = at->fold->parent, .before = at->fold, .span = at->fold->span};
    GpInst *either = gp_build(&b, GpOp_If, &is_positive, 1, types, at->choice ? 2 : 1);
    GpRegion *arms[] = {gp_ir_region(l->fn), gp_ir_region(l->fn)};
    gp_ir_set_regions(l->fn, either, arms, 2);
    for (uint32_t i = 0; i < 2; i++) {
        GpBuilder in = {.fn = l->fn, .region = arms[i], .span = at->fold->span};
        (i ? build_long : build_short)(&in, at, v);
        gp_build(&in, GpOp_Yield, v, either->result_count, NULL, 0);
    }
    if (at->choice)
        take_masked(s, at, x, either->results[1]);
    gp_pass_replace(at->fold->results[0], either->results[0]);
    gp_ir_remove(at->fold);
}

static void visit(GpInst *loop, void *ud) {
    Sign *s = ud;
    if (!gp_pipe_can_split(loop))
        return;
    GpPipeLoop l = {s->fn, loop, NULL};
    for (GpInst *inst = loop->regions[0]->first, *next; inst; inst = next) {
        Scaled at;
        next = inst->next;
        if (!find_scaled(s, &l, inst, &at))
            continue;
        l.map = GP_NEW_ARRAY(s->fn->arena, GpValue *, s->fn->next_id);
        rewrite(s, &l, &at);
        s->changed = true;
    }
}

bool gp_pipe_ask_sign(GpIrFn *fn) {
    Sign s = {.fn = fn, .uses = gp_ir_count_uses(fn, fn->arena)};
    gp_ir_walk(fn, GpWalk_After, visit, &s);
    if (!s.changed)
        return false;
    gp_ir_apply_forwards(fn);
    (void)gp_pass_fold(fn);
    (void)gp_pass_dce(fn);
    gp_ir_number(fn);
    return true;
}
