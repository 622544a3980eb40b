/* Contraction of products of which besides differences only the greatest or the least are taken, as the scaled scores of
** a softmax:
**
**   y = x * c; m = reduce_max(y); .. exp(y - n)   ->   exp(fma(x, c, -n))
**
** Only powers are made of the difference: others may ask whether it is 0, or have a root of what is never negative. The product
** is then made for the reduction alone, and a backend that knows the factor's sign makes it of the greatest
** x. Where a mask that ends in late turns of a loop, or in early ones, chooses between the product and one value, it
** chooses between the fma and that value's difference: most turns need no mask then. It is part of a kernel's meaning, as
** pass_fma.c is, and comes behind the passes that look at products. */
#include "dsl/ir/pass.h"
#include "dsl/ir/rounded.h"

typedef struct Order {
    GpIrFn *fn;
    uint32_t *uses;
    uint32_t *ordered, *subtracted; /* uses by reductions to the greatest or the least, and as what is subtracted from */
    uint32_t *raised;               /* uses by powers */
    uint32_t known;                 /* ids below it are counted */
    bool changed;
} Order;

enum { MOST_DEPTH = 16 };

static void count(GpInst *inst, void *ud) {
    Order *o = ud;
    GpOp fold = inst->op == GpOp_Reduce ? gp_ir_fold_op(inst) : GpOp_count;
    if (fold == GpOp_Max || fold == GpOp_Min)
        o->ordered[inst->operands[0]->id]++;
    if (inst->op == GpOp_Sub)
        o->subtracted[inst->operands[0]->id]++;
    if (inst->op == GpOp_Exp || inst->op == GpOp_Exp2 || inst->op == GpOp_Exp2Flush)
        o->raised[inst->operands[0]->id]++;
}

static bool is_raised(const Order *o, const GpValue *v) { return v->id < o->known && o->raised[v->id] == o->uses[v->id]; }

static bool is_ordered(const Order *o, const GpValue *v) {
    return v->id < o->known && o->ordered[v->id] && o->ordered[v->id] + o->subtracted[v->id] == o->uses[v->id];
}

/* Not of functions, whose time it is: a cap and a causal mask had 0.75 without, 0.72 with it. */
static bool is_scaled(const GpValue *v) {
    GpValue *const *x = v->inst && v->inst->op == GpOp_Mul ? v->inst->operands : NULL;
    uint32_t factor = x && gp_ir_repeats(x[1]) ? 1 : 0;
    const GpInst *made = x ? x[1 - factor]->inst : NULL;
    return x && gp_ir_repeats(x[factor]) && !(made && gp_op_info[made->op].sig == GpSig_Float1);
}

/* How an integer, or what a condition holds for, goes on from turn to turn of a loop around it. */
enum { RISES = 1, FALLS = 2, UNKNOWN = 4 };

static uint32_t turned(uint32_t trend) {
    static const uint32_t of[] = {0, FALLS, RISES, RISES | FALLS};
    return trend < UNKNOWN ? of[trend] : UNKNOWN;
}

static uint32_t find_trend(const GpValue *v, int depth) {
    const GpInst *x = v->inst, *loop = x ? NULL : v->region->owner;
    GpScalar k;
    if (!x)
        return loop ? (loop->op == GpOp_For && v->index == 0 ? RISES : UNKNOWN) : 0;
    if (x->region_count || depth == MOST_DEPTH)
        return UNKNOWN;
    uint32_t trends[GP_MAX_RANK] = {0}, all = 0;
    for (uint32_t i = 0; i < x->operand_count; i++) {
        trends[GP_MIN(i, 1U)] = find_trend(x->operands[i], depth + 1);
        all |= trends[GP_MIN(i, 1U)];
    }
    if (x->op == GpOp_Sub)
        return trends[0] | turned(trends[1]);
    bool is_kept = x->op == GpOp_Add || x->op == GpOp_Splat || x->op == GpOp_Reshape || x->op == GpOp_Broadcast ||
                   x->op == GpOp_Iota || x->op == GpOp_Const ||
                   (x->op == GpOp_Mul && (gp_ir_const(x->operands[0], &k) || gp_ir_const(x->operands[1], &k)) && k.i > 0);
    return is_kept || (!all && v->type->kind == GpIrType_Scalar) ? all : UNKNOWN;
}

static uint32_t find_end(const GpValue *mask, int depth) {
    const GpInst *x = mask->inst;
    if (!x || depth == MOST_DEPTH)
        return UNKNOWN;
    if (x->op == GpOp_And)
        return find_end(x->operands[0], depth + 1) | find_end(x->operands[1], depth + 1);
    if (x->op == GpOp_Reshape || x->op == GpOp_Broadcast)
        return find_end(x->operands[0], depth + 1);
    if (x->op != GpOp_Cmp || x->pred == GpPred_Eq || x->pred == GpPred_Ne)
        return UNKNOWN;
    uint32_t trend = find_trend(x->operands[0], 0) | turned(find_trend(x->operands[1], 0));
    return x->pred == GpPred_Lt || x->pred == GpPred_Le ? trend : turned(trend);
}

/* A product, or where the mask holds a product and else one value. `end`: of all masks. */
static bool is_contracted(const Order *o, const GpValue *v, uint32_t *end, int depth) {
    const GpInst *x = v->inst;
    if (is_scaled(v))
        return *end == 0 || *end == RISES || *end == FALLS;
    if (!x || x->op != GpOp_Select || depth == MOST_DEPTH)
        return false;
    uint32_t by = gp_ir_repeats(x->operands[2]) ? 1 : 2;
    const GpValue *other = x->operands[3 - by], *arm = x->operands[by];
    *end |= find_end(x->operands[0], 0);
    return *end && gp_ir_repeats(other) && arm->id < o->known && o->uses[arm->id] == 1 && is_contracted(o, arm, end, depth + 1);
}

static GpValue *build_difference(GpBuilder *b, GpValue *v, GpValue *n, GpValue *negated) {
    const GpInst *x = v->inst;
    if (is_scaled(v)) {
        GpValue *operands[] = {x->operands[0], x->operands[1], negated};
        return gp_build(b, GpOp_Fma, operands, 3, &v->type, 1)->results[0];
    }
    if (gp_ir_repeats(v))
        return gp_build2(b, GpOp_Sub, v, n);
    GpValue *one = build_difference(b, x->operands[1], n, negated), *other = build_difference(b, x->operands[2], n, negated);
    return gp_build_select(b, x->operands[0], one, other);
}

static void contract(GpInst *inst, void *ud) {
    Order *o = ud;
    uint32_t end = 0;
    if (inst->op != GpOp_Sub || !gp_elem_is_float(inst->results[0]->type->elem) || !is_raised(o, inst->results[0]) ||
        !is_ordered(o, inst->operands[0]) || !is_contracted(o, inst->operands[0], &end, 0))
        return;
    GpBuilder b = {.fn = o->fn, .region = inst->parent, .before = inst, .span = inst->span};
    GpValue *n = inst->operands[1], *negated = gp_build1(&b, GpOp_Neg, n);
    GpValue *by = build_difference(&b, inst->operands[0], n, negated);
    by->name = inst->results[0]->name;
    gp_pass_replace(inst->results[0], by);
    gp_ir_remove(inst);
    o->changed = true;
}

bool gp_pass_order(GpIrFn *fn) {
    Order o = {.fn = fn, .uses = gp_ir_count_uses(fn, fn->arena), .known = fn->next_id};
    o.ordered = GP_NEW_ARRAY(fn->arena, uint32_t, o.known);
    o.subtracted = GP_NEW_ARRAY(fn->arena, uint32_t, o.known);
    o.raised = GP_NEW_ARRAY(fn->arena, uint32_t, o.known);
    gp_ir_walk(fn, GpWalk_Before, count, &o);
    gp_ir_walk(fn, GpWalk_Before, contract, &o);
    if (o.changed)
        gp_ir_apply_forwards(fn);
    return o.changed;
}
