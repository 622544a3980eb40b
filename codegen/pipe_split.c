/* Loops of products in two, where a comparison is known in early or in late turns: index-set splitting.
**
** In a causal attention the tiles before the diagonal need no mask:
**     for j in a..z { .. if j < m { x } else { y } .. }
** is
**     for j in a..m { .. x .. }  for j in m..z { .. y .. }
** with m between a and z, and so is a mask of elements that would keep all of them. A branch in the loop
** would be the end of what can be scheduled together, and the wait for the second product would come before
** the work that hides it. */
#include "codegen/emit_tile_gpu.h"
#include "dsl/ir/pass.h"

enum { MOST_SPLITS = 4 };

typedef struct Split {
    GpPipeLoop at;
    GpMap *kept;       /* comparisons in loops that stay as they are */
    const GpInst *cmp; /* of the loop that is split */
    bool want;         /* with which there is least to do */
    bool value;        /* what it is in the turns that it is known in */
    bool is_exact;     /* and in the others it is the other one */
    bool is_done;
    GpPipeBound bound;
} Split;

/* ---- What is the same in every turn ------------------------------------------------------ */

bool gp_pipe_is_invariant(const GpPipeLoop *l, const GpValue *v) {
    const GpRegion *body = l->inst->regions[0];
    if (!v->inst || v->inst->parent != body)
        return v->region != body;
    if (gp_ir_effect(v->inst) != GpEffect_Pure || v->inst->region_count ||
        v->type->kind != GpIrType_Scalar)
        return false;
    for (uint32_t i = 0; i < v->inst->operand_count; i++)
        if (!gp_pipe_is_invariant(l, v->inst->operands[i]))
            return false;
    return true;
}

GpValue *gp_pipe_hoist(GpPipeLoop *l, GpBuilder *b, GpValue *v) {
    if (!v->inst || v->inst->parent != l->inst->regions[0])
        return v;
    if (!l->map[v->id]) {
        for (uint32_t i = 0; i < v->inst->operand_count; i++)
            (void)gp_pipe_hoist(l, b, v->inst->operands[i]);
        gp_ir_copy(b, v->inst, l->map);
    }
    return l->map[v->id];
}

/* ---- Which comparison -------------------------------------------------------------------- */

typedef enum Want { Want_False, Want_True, Want_Nothing } Want;

static Want find_want(const GpRegion *body, const GpValue *v);

/* Constants are no work. */
static uint32_t count_elements(const GpInst *inst) {
    bool is_work = inst->result_count && inst->op != GpOp_Const && inst->op != GpOp_Splat;
    return is_work ? (uint32_t)gp_ir_numel(inst->results[0]->type) : 1;
}

static uint32_t count_work(const GpRegion *r) {
    uint32_t count = 0;
    for (const GpInst *x = r->first; x; x = x->next) {
        count += count_elements(x);
        for (uint32_t i = 0; i < x->region_count; i++)
            count += count_work(x->regions[i]);
    }
    return count;
}

/* The value of v with which the instruction, which reads it, has least to do. */
static Want want_of(const GpRegion *body, const GpInst *x, const GpValue *v) {
    static const Want other[] = {[Want_False] = Want_True, [Want_True] = Want_False, [Want_Nothing] = Want_Nothing};
    if (x->op == GpOp_If)
        return count_work(x->regions[0]) > count_work(x->regions[1]) ? Want_False : Want_True;
    if (x->op == GpOp_Select && x->operands[0] == v && v->type->kind == GpIrType_Tile)
        return gp_gpu_is_uniform(x->operands[2])   ? Want_True
               : gp_gpu_is_uniform(x->operands[1]) ? Want_False
                                                   : Want_Nothing;
    if (x->op == GpOp_Cast && v->type->kind == GpIrType_Tile)
        return Want_False;
    bool is_handed = x->op == GpOp_And || x->op == GpOp_Or || x->op == GpOp_Reshape || x->op == GpOp_Broadcast;
    if (!is_handed && x->op != GpOp_Not)
        return Want_Nothing;
    Want want = find_want(body, x->results[0]);
    return x->op == GpOp_Not ? other[want] : want;
}

static Want find_want(const GpRegion *body, const GpValue *v) {
    Want want = Want_Nothing;
    for (const GpInst *x = v->inst->next; x && want == Want_Nothing; x = x->next)
        for (uint32_t i = 0; i < x->operand_count && want == Want_Nothing; i++)
            if (x->operands[i] == v)
                want = want_of(body, x, v);
    return want;
}

/* Comparisons of the turn's number itself with a bound: which operand it is, and what early turns give. */
static const struct {
    GpPred pred;
    uint8_t turn, early;
} forms[] = {{GpPred_Lt, 0, 1}, {GpPred_Ge, 0, 0}, {GpPred_Gt, 1, 1}, {GpPred_Le, 1, 0}};

static bool find_exact(Split *s, GpBuilder *b) {
    const GpInst *loop = s->at.inst;
    for (size_t i = 0; i < GP_COUNT(forms); i++) {
        GpValue *bound = s->cmp->operands[1 - forms[i].turn];
        if (s->cmp->pred != forms[i].pred || s->cmp->operands[forms[i].turn] != loop->regions[0]->params[0] ||
            !gp_pipe_is_invariant(&s->at, bound))
            continue;
        GpValue *middle = gp_build2(b, GpOp_Max, gp_pipe_hoist(&s->at, b, bound), loop->operands[0]);
        s->bound = (GpPipeBound){gp_build2(b, GpOp_Min, middle, loop->operands[1]), true};
        s->value = forms[i].early;
        return true;
    }
    return false;
}

/* A comparison that is the same in every turn: one of the loops has all of them. */
static bool find_same(Split *s, GpBuilder *b) {
    GpValue *const *sides = s->cmp->operands, *const *bounds = s->at.inst->operands, *holds;
    if (s->cmp->results[0]->type->kind != GpIrType_Scalar || !gp_pipe_is_invariant(&s->at, sides[0]) ||
        !gp_pipe_is_invariant(&s->at, sides[1]))
        return false;
    holds = gp_build_cmp(b, s->cmp->pred, gp_pipe_hoist(&s->at, b, sides[0]), gp_pipe_hoist(&s->at, b, sides[1]));
    s->bound = (GpPipeBound){gp_build_select(b, holds, bounds[1], bounds[0]), true};
    s->value = true;
    return true;
}

/* What is built for a comparison of which nothing is known stands nowhere. */
static bool find_bound(Split *s) {
    Want want = find_want(s->at.inst->regions[0], s->cmp->results[0]);
    if (want == Want_Nothing || gp_map_has(s->kept, s->cmp))
        return false;
    GpIrFn *fn = s->at.fn;
    GpRegion *made = gp_ir_region(fn);
    GpBuilder b = {.fn = fn, .region = made, .span = s->at.inst->span};
    s->at.map = GP_NEW_ARRAY(fn->arena, GpValue *, fn->next_id);
    s->want = s->value = want == Want_True;
    s->is_exact = find_exact(s, &b) || find_same(s, &b);
    if (!s->is_exact && !gp_pipe_find_bound(&s->at, &b, s->cmp, s->value, &s->bound))
        return false;
    while (made->first) {
        GpInst *x = made->first;
        gp_ir_remove(x);
        gp_ir_insert(x, s->at.inst->parent, s->at.inst);
    }
    return true;
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

/* The innermost loop is what counts, also where it is in a branch. */
bool gp_pipe_can_split(const GpInst *loop) {
    uint32_t products = 0;
    if (loop->op != GpOp_For || !gp_ir_counts_by_one(loop) || gp_pipe_has_jump(loop->regions[0]))
        return false;
    for (const GpInst *x = loop->regions[0]->first; x; x = x->next) {
        if (holds_loop(x))
            return false;
        products += x->op == GpOp_Mma;
    }
    return products > 0;
}

/* ---- Two loops --------------------------------------------------------------------------- */

/* Comparisons in the turns that have most to do. */
static void keep(Split *s, const GpInst *inst) {
    if (inst->op == GpOp_Cmp)
        gp_map_set(s->at.fn->arena, s->kept, inst, NULL);
    for (uint32_t i = 0; i < inst->region_count; i++)
        for (const GpInst *x = inst->regions[i]->first; x; x = x->next)
            keep(s, x);
}

/* What the comparison is in a loop's turns. */
typedef enum Known { Known_False, Known_True, Known_Not } Known;

static void copy_body(Split *s, GpBuilder *b, Known known) {
    for (const GpInst *x = s->at.inst->regions[0]->first; x; x = x->next) {
        if (x == s->cmp && known != Known_Not) {
            GpScalar value = {.elem = GpElem_Bool, .u = known == Known_True};
            s->at.map[x->results[0]->id] = gp_build_const(b, x->results[0]->type, value);
            continue;
        }
        const GpInst *copy = gp_ir_copy(b, x, s->at.map);
        if (known != (s->want ? Known_True : Known_False))
            keep(s, copy);
    }
}

static GpInst *build_loop(Split *s, GpBuilder *b, GpValue *lower, GpValue *upper, GpValue *const *start,
                          Known known) {
    const GpInst *old = s->at.inst;
    const GpRegion *from = old->regions[0];
    GpInst *loop = gp_ir_build_for(b, (GpValue *[]){lower, upper, old->operands[2]}, start, old->result_count);
    GpRegion *body = loop->regions[0];
    for (uint32_t i = 0; i < from->param_count; i++) {
        s->at.map[from->params[i]->id] = body->params[i];
        body->params[i]->name = from->params[i]->name;
    }
    GpBuilder in = {.fn = s->at.fn, .region = body, .span = old->span};
    copy_body(s, &in, known);
    return loop;
}

static void split(GpInst *inst, void *ud) {
    Split *s = ud;
    if (s->is_done || !gp_pipe_can_split(inst))
        return;
    s->at.inst = inst;
    for (const GpInst *x = inst->regions[0]->first; x && !s->is_done; x = x->next) {
        s->cmp = x;
        s->is_done = x->op == GpOp_Cmp && find_bound(s);
    }
    if (!s->is_done)
        return;
    GpBuilder b = {.fn = s->at.fn, .region = inst->parent, .before = inst, .span = inst->span};
    Known known = s->value ? Known_True : Known_False, rest = Known_Not;
    if (s->is_exact)
        rest = s->value ? Known_False : Known_True;
    const GpInst *early = build_loop(s, &b, inst->operands[0], s->bound.middle, gp_loop_starts(inst),
                                     s->bound.is_early ? known : rest);
    const GpInst *late = build_loop(s, &b, s->bound.middle, inst->operands[1], early->results,
                                    s->bound.is_early ? rest : known);
    for (uint32_t i = 0; i < inst->result_count; i++)
        inst->results[i]->forward = late->results[i];
    gp_ir_remove(inst);
}

static bool split_all(GpIrFn *fn, GpMap *kept) {
    bool is_done = false;
    for (uint32_t i = 0; i < MOST_SPLITS; i++) {
        Split s = {.at = {.fn = fn}, .kept = kept};
        gp_ir_walk(fn, GpWalk_After, split, &s);
        if (!s.is_done)
            break;
        gp_ir_apply_forwards(fn);
        (void)gp_pass_fold(fn);
        (void)gp_pass_dce(fn);
        gp_ir_number(fn);
        is_done = true;
    }
    return is_done;
}

bool gp_pipe_split(GpEmit *e) {
    GpIrFn *fn = e->fn;
    GpMap kept = {0};
    bool is_asked = gp_pipe_ask_sign(fn), is_done = split_all(fn, &kept);
    if (!is_asked && gp_pipe_ask_sign(fn))
        is_done |= split_all(fn, &kept);
    return is_done;
}
