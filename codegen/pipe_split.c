/* Loops of products whose turns branch on their number, in two: index-set splitting.
**
** In a causal attention the tiles before the diagonal need no mask:
**     for j in a..z { .. if j < m { x } else { y } .. }
** is
**     for j in a..m { .. x .. }  for j in m..z { .. y .. }
** with m between a and z. A branch in the loop would be the end of what can be scheduled together,
** and the wait for the second product would come before the work that hides it. */
#include "codegen/pipe.h"

typedef struct Split {
    GpIrFn *fn;
    GpInst *loop, *branch;
    uint32_t below; /* the region of the branch that early turns take */
    GpValue *bound; /* the first turn that takes the other */
    GpValue **map;  /* by id of the values that were there before */
    bool is_done;
} Split;

/* Comparisons of the turn's number with a bound: which region early turns take. */
static const struct {
    GpPred pred;
    uint8_t turn, below; /* the operand that is the number; the region */
} forms[] = {{GpPred_Lt, 0, 0}, {GpPred_Ge, 0, 1}, {GpPred_Gt, 1, 0}, {GpPred_Le, 1, 1}};

/* The same in every turn, and made of scalars alone. */
static bool is_invariant(const Split *s, const GpValue *v) {
    const GpRegion *body = s->loop->regions[0];
    if (!v->inst || v->inst->parent != body)
        return v->region != body;
    if (gp_ir_effect(v->inst) != GpEffect_Pure || v->inst->region_count ||
        v->type->kind != GpIrType_Scalar)
        return false;
    for (uint32_t i = 0; i < v->inst->operand_count; i++)
        if (!is_invariant(s, v->inst->operands[i]))
            return false;
    return true;
}

bool gp_pipe_has_jump(const GpRegion *r) {
    for (const GpInst *x = r->first; x; x = x->next) {
        if (x->target || x->op == GpOp_Return)
            return true;
        for (uint32_t i = 0; i < x->region_count; i++)
            if (gp_pipe_has_jump(x->regions[i]))
                return true;
    }
    return false;
}

static bool is_split(Split *s, GpInst *branch) {
    const GpValue *turn = s->loop->regions[0]->params[0];
    const GpInst *cmp = branch->op == GpOp_If ? branch->operands[0]->inst : NULL;
    if (!cmp || cmp->op != GpOp_Cmp)
        return false;
    for (size_t i = 0; i < GP_COUNT(forms); i++) {
        GpValue *bound = cmp->operands[1 - forms[i].turn];
        if (cmp->pred != forms[i].pred || cmp->operands[forms[i].turn] != turn ||
            !is_invariant(s, bound))
            continue;
        s->branch = branch;
        s->below = forms[i].below;
        s->bound = bound;
        return true;
    }
    return false;
}

static bool holds_loop(const GpInst *inst) {
    if (inst->region_count && inst->op != GpOp_If && !gp_op_is_whole(inst->op))
        return true;
    for (uint32_t i = 0; i < inst->region_count; i++)
        for (const GpInst *x = inst->regions[i]->first; x; x = x->next)
            if (holds_loop(x))
                return true;
    return false;
}

static bool find_branch(Split *s) {
    GpScalar step;
    uint32_t products = 0;
    if (s->loop->op != GpOp_For || !gp_ir_const(s->loop->operands[2], &step) || step.i != 1 ||
        gp_pipe_has_jump(s->loop->regions[0]))
        return false;
    s->branch = NULL;
    for (GpInst *x = s->loop->regions[0]->first; x; x = x->next) {
        if (holds_loop(x))
            return false; /* the innermost loop is what counts, also where it is in a branch */
        products += x->op == GpOp_Mma;
        if (!s->branch)
            (void)is_split(s, x);
    }
    return products && s->branch;
}

static void hoist(Split *s, GpBuilder *b, GpValue *v) {
    if (!v->inst || v->inst->parent != s->loop->regions[0] || s->map[v->id])
        return;
    for (uint32_t i = 0; i < v->inst->operand_count; i++)
        hoist(s, b, v->inst->operands[i]);
    gp_ir_copy(b, v->inst, s->map);
}

/* The first turn of the second loop. */
static GpValue *build_middle(Split *s, GpBuilder *b) {
    GpValue *lower = s->loop->operands[0], *upper = s->loop->operands[1];
    hoist(s, b, s->bound);
    GpValue *middle = s->map[s->bound->id] ? s->map[s->bound->id] : s->bound;
    return gp_build2(b, GpOp_Min, gp_build2(b, GpOp_Max, middle, lower), upper);
}

static void copy_body(Split *s, GpBuilder *b, const GpRegion *taken) {
    for (const GpInst *x = s->loop->regions[0]->first; x; x = x->next) {
        if (x != s->branch) {
            gp_ir_copy(b, x, s->map);
            continue;
        }
        const GpInst *end = gp_ir_terminator(taken);
        for (const GpInst *y = taken->first; y != end; y = y->next)
            gp_ir_copy(b, y, s->map);
        for (uint32_t i = 0; i < x->result_count; i++) {
            GpValue *v = end->operands[i];
            s->map[x->results[i]->id] = s->map[v->id] ? s->map[v->id] : v;
        }
    }
}

static GpInst *build_loop(Split *s, GpBuilder *b, GpValue *lower, GpValue *upper,
                          GpValue *const *start, const GpRegion *taken) {
    const GpInst *old = s->loop;
    const GpRegion *from = old->regions[0];
    GpIrFn *fn = s->fn;
    GpValue **operands = GP_NEW_ARRAY(fn->arena, GpValue *, old->operand_count);
    const GpIrType **types = GP_NEW_ARRAY(fn->arena, const GpIrType *, old->result_count);
    operands[0] = lower, operands[1] = upper, operands[2] = old->operands[2];
    for (uint32_t i = 0; i < old->result_count; i++) {
        operands[3 + i] = start[i];
        types[i] = old->results[i]->type;
    }
    GpInst *loop = gp_build(b, GpOp_For, operands, old->operand_count, types, old->result_count);
    GpRegion *body = gp_ir_region(fn);
    gp_ir_set_regions(fn, loop, &body, 1);
    for (uint32_t i = 0; i < from->param_count; i++) {
        const GpValue *v = from->params[i];
        s->map[v->id] = gp_ir_region_param(fn, body, v->type, v->name);
    }
    GpBuilder in = {.fn = fn, .region = body, .span = old->span};
    copy_body(s, &in, taken);
    return loop;
}

static void split(GpInst *inst, void *ud) {
    Split *s = ud;
    s->loop = inst;
    if (!find_branch(s))
        return;
    GpBuilder b = {.fn = s->fn, .region = inst->parent, .before = inst, .span = inst->span};
    GpValue *lower = inst->operands[0], *upper = inst->operands[1], *middle = build_middle(s, &b);
    const GpInst *early = build_loop(s, &b, lower, middle, inst->operands + 3,
                                     s->branch->regions[s->below]);
    const GpInst *late = build_loop(s, &b, middle, upper, early->results,
                                    s->branch->regions[1 - s->below]);
    for (uint32_t i = 0; i < inst->result_count; i++)
        inst->results[i]->forward = late->results[i];
    gp_ir_remove(inst);
    s->is_done = true;
}

bool gp_pipe_split(GpEmit *e) {
    GpIrFn *fn = (GpIrFn *)(uintptr_t)e->fn;
    Split s = {.fn = fn, .map = GP_NEW_ARRAY(fn->arena, GpValue *, fn->next_id)};
    gp_ir_walk(fn, GpWalk_After, split, &s);
    if (!s.is_done)
        return false;
    gp_ir_apply_forwards(fn);
    gp_ir_number(fn);
    return true;
}
