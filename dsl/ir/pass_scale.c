/* The factor log2 e of exponentials (pass_narrow.c) goes to where their arguments get a factor anyway.
**
**   m = max(x * c, m0); .. exp2_flush((x * c - m) * l)   ->   m = max(x * (c l), m0 l); .. exp2_flush(x * (c l) - m)
**
** Differences, maxima, choices and what loops and branches hand on scale with what they are made of. So all
** values that are connected by these are multiplied by l where they come from, if nothing else is made of
** them than arguments of exponentials, and if that takes fewer products. Rounding c * l is as another c
** within 2^-24; equal values stay equal. What is stored of them besides, as m + ln(sum), is divided by l before. It is part of a kernel's meaning, as pass_narrow.c is.
**
** For exponentials the absolute error of their arguments counts: c * tanh(x) among these is made of a tanh within 2^-21,
** or, where all is rounded to 8 bits in the end, |c| is known to be 64 at most and no more than two are added up, of
** tanh_approx: that is 2^-16.4 off on an H200, over every f32, and the powers 2^-10.4. */
#include "dsl/ir/pass.h"
#include "dsl/ir/rounded.h"

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
    GpInst **dead;       /* removed in the end */
    uint32_t dead_count;
    uint32_t known;      /* ids below it are of values that were there before */
    Use *exits;          /* where values are stored */
    uint32_t exit_count;
    int64_t saved;       /* products */
    uint8_t *demands;    /* by id, where the function has a tanh; NULL */
    GpExactness exactest; /* of the powers */
    int64_t exact_count; /* elements of the greatest power that is used as it is */
    uint8_t *terms;      /* by id: tanh in a sum, COARSE_TERMS + 1 at most */
    bool is_coarse;      /* tanh_approx is exact enough */
    bool is_open;        /* something else is made of the values */
    bool has_huge;       /* a constant that has no product by log2 e */
    bool has_exact_exit; /* a value is stored that no logarithm is part of, so that its relative error counts */
    bool has_bare;       /* an exponential of 2 has one for its argument */
    bool changed;
} Web;

/* ---- Users ------------------------------------------------------------------------------- */

static void count_uses(GpInst *inst, void *ud) {
    Web *w = ud;
    for (uint32_t i = 0; i < inst->operand_count; i++)
        w->first_use[inst->operands[i]->id + 1]++;
    bool is_feeder = inst->op == GpOp_Yield || inst->target;
    const GpInst *to = gp_ir_goes_to(inst);
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

static bool is_linear(const GpInst *inst) {
    GpOp fold = inst->op == GpOp_Reduce ? gp_ir_fold_op(inst) : GpOp_count;
    bool scales = linear[inst->op].scales && (inst->op != GpOp_Fma || has_factor(inst));
    return scales || fold == GpOp_Max || fold == GpOp_Min;
}

static void add(Web *w, GpValue *v) {
    gp_assert(v->id < w->known);
    if (w->is_seen[v->id])
        return;
    w->is_seen[v->id] = true;
    w->values[w->count++] = v;
}

/* Its product by log2 e is finite. */
static const double most = (double)(float)((double)FLT_MAX / GP_LOG2_E);
static bool is_small(double v) { return fabs(v) < most; }

static bool is_argument(const GpValue *v) { return !v->inst && !v->region->owner; }

static void add_operand(Web *w, GpInst *inst, uint32_t i) {
    GpValue *v = inst->operands[i];
    GpScalar value;
    bool is_const = gp_ir_const(v, &value);
    w->has_huge |= is_const && isfinite(value.f) && !is_small(value.f);
    if (is_const || is_argument(v))
        w->given[w->given_count++] = (Use){inst, i};
    else
        add(w, v);
}

/* A loop, a branch or a block: its results are what it is handed. */
static bool hands_on(const GpInst *inst) { return gp_op_info[inst->op].effect == GpEffect_Control; }

/* What a loop carries as its k-th value: in its turns, and behind a `for`. */
static uint32_t find_carried(const GpInst *loop, uint32_t k, GpValue *out[2]) {
    out[0] = gp_loop_params(loop)[k];
    out[1] = loop->op == GpOp_For ? loop->results[k] : NULL;
    return loop->op == GpOp_For ? 2 : 1;
}

static void add_carried(Web *w, const GpInst *loop, uint32_t k) {
    GpValue *carried[2];
    for (uint32_t i = find_carried(loop, k, carried); i-- > 0;)
        add(w, carried[i]);
}

/* What `inst` is handed as its k-th value: for the next turn, or as a result. */
static void add_feeders(Web *w, const GpInst *inst, uint32_t k, bool is_turn) {
    for (const Feeder *f = gp_map_get(&w->feeders, inst); f; f = f->next)
        if (is_turn == (gp_is_loop(inst) && f->inst->op != GpOp_Break))
            add_operand(w, f->inst, k);
}

enum { SCALING = 4 }; /* instructions of scale_finite */

static void visit_maker(Web *w, const GpValue *v) {
    GpInst *inst = v->inst ? v->inst : v->region->owner;
    if (!v->inst && gp_is_loop(inst)) {
        uint32_t k = v->index - gp_loop_indices(inst);
        add_operand(w, inst, gp_loop_bounds(inst) + k);
        add_carried(w, inst, k);
        add_feeders(w, inst, k, true);
    } else if (v->inst && hands_on(inst)) {
        add_feeders(w, inst, v->index, false);
        if (inst->op == GpOp_For)
            add_carried(w, inst, v->index);
    } else if (v->inst && is_linear(inst)) {
        for (uint32_t i = linear[inst->op].from; i < inst->operand_count; i++)
            add_operand(w, inst, i);
    } else if (!v->inst || !has_factor(inst)) {
        w->saved -= SCALING * gp_ir_numel(v->type);
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

static void visit_power(Web *w, const GpInst *power) {
    GpExactness exactness = w->demands ? gp_ir_exactness(w->demands[power->results[0]->id]) : GpExact_All;
    w->exactest = GP_MAX(w->exactest, exactness);
    if (exactness == GpExact_All)
        w->exact_count = GP_MAX(w->exact_count, gp_ir_numel(power->results[0]->type));
}

static void visit_exponent(Web *w, const GpInst *product) {
    w->saved += gp_ir_numel(product->results[0]->type);
    Use *end;
    for (Use *u = uses_of(w, product->results[0], &end); u != end; u++)
        visit_power(w, u->inst);
}

static bool is_logarithm(const GpValue *v) {
    while (v->inst && (v->inst->op == GpOp_Reshape || v->inst->op == GpOp_Broadcast))
        v = v->inst->operands[0];
    return v->inst && (v->inst->op == GpOp_Ln || v->inst->op == GpOp_Log);
}

static void visit_exit(Web *w, const Use *u) {
    const GpValue *v = u->inst->operands[u->operand], *sum = v;
    while (sum->inst && sum->inst->op == GpOp_Reshape)
        sum = sum->inst->operands[0];
    bool adds = sum->inst && sum->inst->op == GpOp_Add;
    w->has_exact_exit |= !adds || !(is_logarithm(sum->inst->operands[0]) || is_logarithm(sum->inst->operands[1]));
    w->exits[w->exit_count++] = *u;
    w->saved -= gp_ir_numel(v->type);
}

/* The value is an argument of a power, or stored; false: neither. */
static bool visit_end(Web *w, const Use *u) {
    GpInst *inst = u->inst;
    bool is_power = inst->op == GpOp_Exp || inst->op == GpOp_Exp2Flush;
    bool is_product = inst->op == GpOp_Mul && is_exponent(w, inst);
    bool is_stored = inst->op == GpOp_StoreTile && u->operand == 1;
    if (is_product)
        visit_exponent(w, inst);
    if (is_power)
        visit_power(w, inst);
    if (is_stored)
        visit_exit(w, u);
    w->has_bare |= inst->op == GpOp_Exp2Flush;
    return is_power || is_product || is_stored;
}

/* The values that a use makes of one, by scaling it or handing it on; 0: none. */
static uint32_t find_made(const Use *u, GpValue *out[2]) {
    const GpInst *inst = u->inst, *to = gp_ir_goes_to(inst);
    bool is_scaled = is_linear(inst) && u->operand >= linear[inst->op].from;
    if (is_scaled || (to && (inst->op == GpOp_Break || (inst->op == GpOp_Yield && !gp_is_loop(to))))) {
        out[0] = is_scaled ? inst->results[0] : to->results[u->operand];
        return 1;
    }
    if (gp_is_loop(inst) && u->operand >= gp_loop_bounds(inst))
        return find_carried(inst, u->operand - gp_loop_bounds(inst), out);
    return to && (inst->op == GpOp_Continue || inst->op == GpOp_Yield) ? find_carried(to, u->operand, out) : 0;
}

static void visit_use(Web *w, const Use *u) {
    const GpInst *to = gp_ir_goes_to(u->inst);
    GpValue *made[2];
    if (to && (to->op == GpOp_Reduce || to->op == GpOp_Scan)) {
        w->is_open = true; /* it combines them */
        return;
    }
    if (visit_end(w, u))
        return;
    uint32_t count = find_made(u, made);
    w->is_open |= count == 0;
    for (uint32_t i = 0; i < count; i++)
        add(w, made[i]);
}

static void follow(Web *w, GpValue *from) {
    w->count = w->given_count = w->exit_count = 0;
    w->saved = w->exact_count = 0;
    w->exactest = GpExact_8;
    w->is_open = w->has_bare = w->has_huge = w->has_exact_exit = false;
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
    if (gp_ir_const(x, &value))
        return build_number(x, b, is_small(value.f) ? (double)(float)(value.f * GP_LOG2_E) : value.f);
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
    } else if (!is_carried && !(inst && is_linear(inst))) {
        scale_value(w, v);
    }
}

/* The walk, which may stand before it, has it still. */
static void bury(Web *w, GpInst *inst) { w->dead[w->dead_count++] = inst; }

static void replace(Web *w, GpInst *inst, GpValue *by) {
    gp_pass_replace(inst->results[0], by);
    bury(w, inst);
}

static void take_factor(Web *w, const Use *u) {
    GpInst *inst = u->inst;
    if (inst->op == GpOp_Exp)
        inst->op = GpOp_Exp2;
    if (inst->op == GpOp_Mul && !inst->results[0]->forward)
        replace(w, inst, inst->operands[u->operand]);
}

/* What is stored is as it was. */
static void give_factor(const Web *w, const Use *u) {
    GpBuilder b = builder_at(w, u->inst->parent, u->inst);
    GpValue **v = &u->inst->operands[u->operand];
    *v = gp_build2(&b, GpOp_Mul, *v, build_number(*v, &b, (double)(float)(1 / GP_LOG2_E)));
}

static void apply(Web *w) {
    for (uint32_t i = 0; i < w->count; i++)
        scale_maker(w, w->values[i]);
    for (uint32_t i = 0; i < w->given_count; i++) {
        const Use *u = &w->given[i];
        GpBuilder b = builder_at(w, u->inst->parent, u->inst);
        u->inst->operands[u->operand] = scale_factor(&b, u->inst->operands[u->operand]);
    }
    for (uint32_t i = 0; i < w->exit_count; i++)
        give_factor(w, &w->exits[i]);
    for (uint32_t i = 0; i < w->count; i++) {
        Use *end;
        for (Use *u = uses_of(w, w->values[i], &end); u != end; u++)
            take_factor(w, u);
    }
    w->changed = true;
}

/* ---- Caps --------------------------------------------------------------------------------- */

enum {
    COARSE_CAP = 64,
    COARSE_TERMS = 2, /* a score less the greatest one has two */
};

static bool is_used_once(const Web *w, const GpValue *v) {
    Use *end, *u = uses_of(w, v, &end);
    return end - u == 1;
}

/* x of tanh(x), a quotient by one value as a product. */
static GpValue *argument_of(Web *w, const GpInst *tanh) {
    GpValue *x = tanh->operands[0];
    bool is_quotient = x->inst && x->inst->op == GpOp_Div && x->id < w->known && is_used_once(w, x);
    if (!is_quotient || !gp_ir_repeats(x->inst->operands[1]))
        return x;
    GpBuilder b = builder_at(w, x->inst->parent, x->inst);
    bury(w, x->inst);
    return gp_build_by_inverse(&b, x->inst);
}

/* Which operand of a product, or of an fma's, is a tanh of f32 that is used there only; 2: none. */
static uint32_t find_tanh(const Web *w, const GpInst *inst) {
    uint32_t i = inst && has_factor(inst) ? 1 - find_factor(inst) : 2;
    const GpValue *t = i < 2 ? inst->operands[i] : NULL;
    bool is_tanh = t && t->inst && t->inst->op == GpOp_Tanh && t->type->elem == GpElem_F32;
    return is_tanh && gp_ir_numel(t->type) > w->exact_count && is_used_once(w, t) ? i : 2;
}

typedef struct Raise { /* of the terms of a value */
    const GpValue *of;
    uint8_t by;
} Raise;

static void raise(Web *w, Raise *queue, uint32_t *count, const GpValue *v, uint8_t by) {
    uint8_t *terms = &w->terms[v->id], more = (uint8_t)GP_MIN(by, COARSE_TERMS + 1 - *terms);
    *terms = (uint8_t)(*terms + more);
    if (more)
        queue[(*count)++] = (Raise){v, more};
}

static void raise_made(Web *w, Raise *queue, uint32_t *count, const Raise *r, const Use *u) {
    GpValue *made[2];
    bool adds = u->inst->op == GpOp_Add || u->inst->op == GpOp_Sub || u->inst->op == GpOp_Fma;
    for (uint32_t i = find_made(u, made); i-- > 0;) {
        uint8_t had = w->terms[made[i]->id], has = w->terms[r->of->id];
        raise(w, queue, count, made[i], adds ? r->by : (uint8_t)(has - GP_MIN(had, has)));
    }
}

/* No sum has more than COARSE_TERMS tanh in it: their errors add up. */
static bool has_few_terms(Web *w) {
    Raise *queue = GP_NEW_ARRAY(w->fn->arena, Raise, (uint64_t)w->count * (COARSE_TERMS + 1));
    uint32_t count = 0;
    bool is_few = true;
    for (uint32_t k = 0; k < w->count; k++)
        if (find_tanh(w, w->values[k]->inst) < 2)
            raise(w, queue, &count, w->values[k], 1);
    for (uint32_t i = 0; i < count; i++) {
        Use *end;
        is_few &= w->terms[queue[i].of->id] <= COARSE_TERMS;
        for (Use *u = uses_of(w, queue[i].of, &end); u != end; u++)
            raise_made(w, queue, &count, &queue[i], u);
    }
    return is_few;
}

static bool is_coarse(const Web *w, const GpValue *factor, double unit) {
    GpScalar c;
    return w->is_coarse && gp_ir_const(factor, &c) && fabs(c.f) <= COARSE_CAP * unit;
}

static void shorten_tanh(Web *w, GpInst *inst, uint32_t i, double unit) {
    GpInst *tanh = inst->operands[i]->inst;
    GpScalar cap;
    GpBuilder b = builder_at(w, tanh->parent, tanh);
    GpValue *x = argument_of(w, tanh);
    if (is_coarse(w, inst->operands[1 - i], unit))
        inst->operands[i] = gp_build1(&b, GpOp_TanhApprox, x);
    else if (inst->op == GpOp_Mul && gp_ir_const(inst->operands[1 - i], &cap))
        replace(w, inst, gp_build_tanh_near(&b, x, cap.f));
    else
        inst->operands[i] = gp_build_tanh_near(&b, x, 1);
    bury(w, tanh);
    w->changed = true;
}

/* unit: what the factors have been multiplied by. */
static void shorten_caps(Web *w, double unit) {
    w->is_coarse = w->exactest == GpExact_8 && w->exit_count == 0 && has_few_terms(w);
    for (uint32_t k = 0; k < w->count; k++) {
        GpInst *inst = w->values[k]->inst;
        uint32_t i = find_tanh(w, inst);
        if (i < 2)
            shorten_tanh(w, inst, i, unit);
    }
}

/* ------------------------------------------------------------------------------------------- */

static void try_web(Web *w, GpValue *from) {
    if (from->id >= w->known || w->is_seen[from->id] || from->forward)
        return;
    follow(w, from);
    bool is_scaled = !w->is_open && !w->has_bare && w->saved > 0 && !(w->exit_count > 0 && w->has_huge);
    if (is_scaled)
        apply(w);
    if (!w->is_open && !w->has_exact_exit && w->demands)
        shorten_caps(w, is_scaled ? GP_LOG2_E : 1);
}

static void try_power(GpInst *inst, void *ud) {
    Web *w = ud;
    const GpValue *v = inst->result_count ? inst->results[0] : NULL;
    if (!v || v->id >= w->known || v->type->elem != GpElem_F32)
        return;
    if (inst->op == GpOp_Mul && inst->operands[0]->id < w->known && is_exponent(w, inst))
        try_web(w, inst->operands[0]);
    if (inst->op == GpOp_Exp2Flush && w->demands)
        try_web(w, inst->operands[0]);
}

static void look_for_tanh(GpInst *inst, void *ud) {
    *(bool *)ud |= inst->op == GpOp_Tanh && inst->results[0]->type->elem == GpElem_F32;
}

bool gp_pass_scale(GpIrFn *fn) {
    Web w = {.fn = fn, .known = fn->next_id};
    bool has_tanh = false;
    find_uses(&w);
    w.is_seen = GP_NEW_ARRAY(fn->arena, bool, w.known);
    w.values = GP_NEW_ARRAY(fn->arena, GpValue *, w.known);
    w.exits = GP_NEW_ARRAY(fn->arena, Use, w.first_use[w.known + 1]);
    w.given = GP_NEW_ARRAY(fn->arena, Use, w.first_use[w.known + 1]);
    w.dead = GP_NEW_ARRAY(fn->arena, GpInst *, w.known);
    gp_ir_walk(fn, GpWalk_Before, look_for_tanh, &has_tanh);
    if (has_tanh) {
        w.demands = gp_ir_find_demands(fn, gp_ir_count_uses(fn, fn->arena));
        w.terms = GP_NEW_ARRAY(fn->arena, uint8_t, w.known);
    }
    gp_ir_walk(fn, GpWalk_Before, try_power, &w);
    for (uint32_t i = 0; i < w.dead_count; i++)
        gp_ir_remove(w.dead[i]);
    if (w.changed)
        gp_ir_apply_forwards(fn);
    return w.changed;
}
