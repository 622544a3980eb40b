/* The factor log2 e of exponentials (pass_narrow.c) goes to where their arguments get a factor anyway.
**
**   m = max(x * c, m0); .. exp2_flush((x * c - m) * l)   ->   m = max(x * (c l), m0 l); .. exp2_flush(x * (c l) - m)
**
** Differences, maxima, choices and what loops and branches hand on scale with what they are made of. So all
** values that are connected by these are multiplied by l where they come from, if nothing else is made of
** them than arguments of exponentials, and if that takes fewer products. Rounding c * l is as another c
** within 2^-24; equal values stay equal. It is part of a kernel's meaning, as pass_narrow.c is. */
#include "dsl/ir/pass.h"

#include <float.h>
#include <math.h>

typedef struct Use {
    GpInst *inst;
    uint32_t operand;
} Use;

typedef struct Feeder { /* what hands values on to a loop's next turn, or out of it or of a branch */
    GpInst *inst;
    struct Feeder *next;
} Feeder;

typedef struct Web {
    GpIrFn *fn;
    uint32_t *first_use; /* by id: into uses */
    Use *uses;
    GpMap feeders;       /* of an instruction with regions */
    bool *is_seen;       /* by id: in this web or in one before it */
    GpValue **values;    /* of this web */
    uint32_t count;
    Use *given;          /* operands that are constants and arguments, which have other users maybe */
    uint32_t given_count;
    uint32_t known;      /* ids below it are of values that were there before */
    int64_t saved;       /* products */
    bool is_open;        /* something else is made of the values */
    bool changed;
} Web;

/* ---- Users ------------------------------------------------------------------------------- */

static void count_uses(GpInst *inst, void *ud) {
    Web *w = ud;
    for (uint32_t i = 0; i < inst->operand_count; i++)
        w->first_use[inst->operands[i]->id + 1]++;
    bool is_feeder = inst->op == GpOp_Yield || inst->target;
    const GpInst *to = inst->target ? inst->target : inst->parent->owner;
    if (!is_feeder || !to)
        return;
    Feeder *f = GP_NEW(w->fn->arena, Feeder);
    *f = (Feeder){inst, gp_map_get(&w->feeders, to)};
    gp_map_set(w->fn->arena, &w->feeders, to, f);
}

static void note_uses(GpInst *inst, void *ud) {
    Web *w = ud;
    for (uint32_t i = 0; i < inst->operand_count; i++)
        w->uses[--w->first_use[inst->operands[i]->id + 1]] = (Use){inst, i};
}

/* uses of v: from first_use[id + 1] to below first_use[id + 2]. */
static void find_uses(Web *w) {
    uint32_t total = 0;
    w->first_use = GP_NEW_ARRAY(w->fn->arena, uint32_t, w->known + 2);
    gp_ir_walk(w->fn, GpWalk_Before, count_uses, w);
    for (uint32_t i = 0; i <= w->known + 1; i++) {
        total += w->first_use[i];
        w->first_use[i] = total;
    }
    w->uses = GP_NEW_ARRAY(w->fn->arena, Use, total);
    gp_ir_walk(w->fn, GpWalk_Before, note_uses, w);
}

static Use *uses_of(const Web *w, const GpValue *v, Use **end) {
    *end = w->uses + w->first_use[v->id + 2];
    return w->uses + w->first_use[v->id + 1];
}

/* ---- The web ----------------------------------------------------------------------------- */

/* Scales with its operands: those from this one on; 0: all. */
static const struct {
    bool scales;
    uint8_t from;
} linear[GpOp_count] = {
    [GpOp_Add] = {true, 0},     [GpOp_Sub] = {true, 0},       [GpOp_Neg] = {true, 0},     [GpOp_Max] = {true, 0},
    [GpOp_Min] = {true, 0},     [GpOp_Select] = {true, 1},    [GpOp_Splat] = {true, 0},   [GpOp_Broadcast] = {true, 0},
    [GpOp_Reshape] = {true, 0}, [GpOp_Permute] = {true, 0},   [GpOp_Fma] = {true, 2},
};

static bool is_linear(const GpInst *inst) {
    GpOp fold = inst->op == GpOp_Reduce ? gp_ir_fold_op(inst) : GpOp_count;
    return linear[inst->op].scales || fold == GpOp_Max || fold == GpOp_Min;
}

static int64_t count_elements(const GpValue *v) {
    int64_t numel = 1;
    if (v->type->kind == GpIrType_Tile)
        (void)gp_shape_numel(&v->type->shape, &numel);
    return numel;
}

static void add(Web *w, GpValue *v) {
    gp_assert(v->id < w->known);
    if (w->is_seen[v->id])
        return;
    w->is_seen[v->id] = true;
    w->values[w->count++] = v;
}

static bool is_argument(const GpValue *v) { return !v->inst && !v->region->owner; }

static void add_operand(Web *w, GpInst *inst, uint32_t i) {
    GpValue *v = inst->operands[i];
    GpScalar value;
    if (gp_ir_const(v, &value) || is_argument(v))
        w->given[w->given_count++] = (Use){inst, i};
    else
        add(w, v);
}

/* A loop, a branch or a block: its results are what it is handed. */
static bool hands_on(const GpInst *inst) { return gp_op_info[inst->op].effect == GpEffect_Control; }

static bool is_loop(const GpInst *inst) { return inst && (inst->op == GpOp_For || inst->op == GpOp_Loop); }

/* Where the k-th value that a loop carries is in its operands and among its region's parameters. */
static uint32_t start_of(const GpInst *loop, uint32_t k) { return loop->op == GpOp_For ? k + 3 : k; }
static uint32_t param_of(const GpInst *loop, uint32_t k) { return loop->op == GpOp_For ? k + 1 : k; }

/* A `for` gives what it carries. */
static void add_carried(Web *w, GpInst *loop, uint32_t k) {
    add(w, loop->regions[0]->params[param_of(loop, k)]);
    if (loop->op == GpOp_For)
        add(w, loop->results[k]);
}

/* What `inst` is handed as its k-th value: for the next turn, or as a result. */
static void add_feeders(Web *w, const GpInst *inst, uint32_t k, bool is_turn) {
    for (const Feeder *f = gp_map_get(&w->feeders, inst); f; f = f->next)
        if (is_turn == (is_loop(inst) && f->inst->op != GpOp_Break))
            add_operand(w, f->inst, k);
}

/* c of x * c, when it is the same for all elements; 2: there is none. */
static uint32_t find_factor(const GpInst *product) {
    GpScalar value;
    for (uint32_t i = 0; i < 2; i++) {
        const GpValue *c = product->operands[i];
        if ((c->inst && c->inst->op == GpOp_Splat) || gp_ir_const(c, &value) || c->type->kind == GpIrType_Scalar)
            return i;
    }
    return 2;
}

static bool has_factor(const GpInst *inst) {
    return (inst->op == GpOp_Mul || inst->op == GpOp_Fma) && find_factor(inst) < 2;
}

enum { SCALING = 4 }; /* instructions of scale_finite */

static void visit_maker(Web *w, const GpValue *v) {
    GpInst *inst = v->inst ? v->inst : v->region->owner;
    if (!v->inst && is_loop(inst)) {
        uint32_t k = v->index - param_of(inst, 0);
        add_operand(w, inst, start_of(inst, k));
        add_carried(w, inst, k);
        add_feeders(w, inst, k, true);
    } else if (v->inst && hands_on(inst)) {
        add_feeders(w, inst, v->index, false);
        if (inst->op == GpOp_For)
            add_carried(w, inst, v->index);
    } else if (v->inst && is_linear(inst) && (inst->op != GpOp_Fma || has_factor(inst))) {
        for (uint32_t i = linear[inst->op].from; i < inst->operand_count; i++)
            add_operand(w, inst, i);
    } else if (!v->inst || !has_factor(inst)) {
        w->saved -= SCALING * count_elements(v);
    }
}

static bool is_exponent(const Web *w, const GpInst *product) {
    GpScalar value;
    Use *end, *u = uses_of(w, product->results[0], &end);
    bool is_product = gp_ir_const(product->operands[1], &value) && value.f == GP_LOG2_E && u != end;
    for (; u != end; u++)
        is_product &= u->inst->op == GpOp_Exp2Flush;
    return is_product;
}

static void visit_use(Web *w, const Use *u) {
    GpInst *inst = u->inst, *to = inst->target ? inst->target : inst->parent->owner;
    bool combines = to && (to->op == GpOp_Reduce || to->op == GpOp_Scan);
    if (combines)
        w->is_open = true;
    else if (inst->op == GpOp_Mul && is_exponent(w, inst))
        w->saved += count_elements(inst->results[0]);
    else if (is_linear(inst) && u->operand >= linear[inst->op].from)
        add(w, inst->results[0]);
    else if (is_loop(inst) && u->operand >= start_of(inst, 0))
        add_carried(w, inst, u->operand - start_of(inst, 0));
    else if (to && (inst->op == GpOp_Break || (inst->op == GpOp_Yield && !is_loop(to))))
        add(w, to->results[u->operand]);
    else if (to && (inst->op == GpOp_Continue || inst->op == GpOp_Yield))
        add_carried(w, to, u->operand);
    else
        w->is_open |= inst->op != GpOp_Exp;
}

static void follow(Web *w, GpValue *from) {
    w->count = w->given_count = 0;
    w->saved = 0;
    w->is_open = false;
    add(w, from);
    for (uint32_t i = 0; i < w->count; i++) {
        Use *end;
        visit_maker(w, w->values[i]);
        for (Use *u = uses_of(w, w->values[i], &end); u != end; u++)
            visit_use(w, u);
    }
}

/* ---- Scaling ----------------------------------------------------------------------------- */

static GpValue *build_number(const GpValue *like, GpBuilder *b, double v) {
    return gp_build_const(b, like->type, (GpScalar){.elem = like->type->elem, .f = v});
}

/* x times log2 e. What would be infinite then, and NaN, stays: it is as far from everything else, and from
** itself the difference is zero, as before. */
static GpValue *scale_finite(GpBuilder *b, GpValue *x) {
    GpScalar value;
    double most = (double)(float)((double)FLT_MAX / GP_LOG2_E);
    if (gp_ir_const(x, &value))
        return build_number(x, b, fabs(value.f) < most ? (double)(float)(value.f * GP_LOG2_E) : value.f);
    GpValue *is_small = gp_build_cmp(b, GpPred_Lt, gp_build1(b, GpOp_Abs, x), build_number(x, b, most));
    return gp_build_select(b, is_small, gp_build2(b, GpOp_Mul, x, build_number(x, b, GP_LOG2_E)), x);
}

/* c, or what it repeats, times log2 e. */
static GpValue *scale_factor(GpBuilder *b, GpValue *c) {
    if (!c->inst || c->inst->op != GpOp_Splat)
        return scale_finite(b, c);
    GpValue *one = scale_finite(b, c->inst->operands[0]);
    return gp_build(b, GpOp_Splat, &one, 1, &c->type, 1)->results[0];
}

static GpBuilder builder_at(const Web *w, GpRegion *r, GpInst *before) {
    return (GpBuilder){.fn = w->fn, .region = r, .before = before, .span = before->span};
}

/* The value times log2 e, for all its users. */
static void scale_value(const Web *w, GpValue *v) {
    GpRegion *r = v->inst ? v->inst->parent : v->region;
    GpBuilder b = builder_at(w, r, v->inst ? v->inst->next : r->first);
    GpValue *by = scale_finite(&b, v);
    Use *end;
    for (Use *u = uses_of(w, v, &end); u != end; u++)
        u->inst->operands[u->operand] = by;
}

static void scale_maker(const Web *w, GpValue *v) {
    GpInst *inst = v->inst;
    bool is_carried = inst ? hands_on(inst) : v->region->owner != NULL;
    if (inst && has_factor(inst)) {
        GpBuilder b = builder_at(w, inst->parent, inst);
        uint32_t i = find_factor(inst);
        inst->operands[i] = scale_factor(&b, inst->operands[i]);
    } else if (!is_carried && !(inst && is_linear(inst) && inst->op != GpOp_Fma)) {
        scale_value(w, v);
    }
}

static void take_factor(const Use *u) {
    GpInst *inst = u->inst;
    if (inst->op == GpOp_Exp)
        inst->op = GpOp_Exp2;
    if (inst->op != GpOp_Mul || !inst->parent)
        return;
    gp_pass_replace(inst->results[0], inst->operands[u->operand]);
    gp_ir_remove(inst);
}

static void apply(Web *w) {
    for (uint32_t i = 0; i < w->count; i++)
        scale_maker(w, w->values[i]);
    for (uint32_t i = 0; i < w->given_count; i++) {
        const Use *u = &w->given[i];
        GpBuilder b = builder_at(w, u->inst->parent, u->inst);
        u->inst->operands[u->operand] = scale_factor(&b, u->inst->operands[u->operand]);
    }
    for (uint32_t i = 0; i < w->count; i++) {
        Use *end;
        for (Use *u = uses_of(w, w->values[i], &end); u != end; u++)
            take_factor(u);
    }
    w->changed = true;
}

static void try_product(GpInst *inst, void *ud) {
    Web *w = ud;
    if (inst->op != GpOp_Mul || inst->results[0]->id >= w->known || inst->results[0]->type->elem != GpElem_F32 ||
        inst->operands[0]->id >= w->known || w->is_seen[inst->operands[0]->id] || !is_exponent(w, inst))
        return;
    follow(w, inst->operands[0]);
    if (!w->is_open && w->saved > 0)
        apply(w);
}

bool gp_pass_scale(GpIrFn *fn) {
    Web w = {.fn = fn, .known = fn->next_id};
    find_uses(&w);
    w.is_seen = GP_NEW_ARRAY(fn->arena, bool, w.known);
    w.values = GP_NEW_ARRAY(fn->arena, GpValue *, w.known);
    w.given = GP_NEW_ARRAY(fn->arena, Use, w.first_use[w.known + 1]);
    gp_ir_walk(fn, GpWalk_Before, try_product, &w);
    if (w.changed)
        gp_ir_apply_forwards(fn);
    return w.changed;
}
