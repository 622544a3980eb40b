/* Removes checks that what is known at their place proves.
**
** Facts are conditions with a known truth: the condition of an enclosing `if`, of an `if` whose
** other region never comes to its end, an assert that was passed. They are kept in a stack that
** follows the regions. A fact about i and n proves a check of the same SSA values i and n, so no
** arithmetic is needed; the only rules about numbers are constants, the index of a `for` with a
** constant lower bound (its step is positive and it ends before it would wrap), values that are
** never negative by what makes them, and lengths that the launch made equal. Comparisons of
** unsigned values prove both bounds at once, of signed ones only the upper one.
**
** A check that failed was reported and its access masked, so a failed check is no fact; but a
** second check of the same values gives the same answer and need not report again. */
#include "dsl/ir/pass.h"

typedef struct Fact {
    const GpInst *cond; /* cmp, check_index */
    bool truth;
} Fact;

typedef struct Check {
    GpIrFn *fn;
    GP_VEC(Fact) facts;
    GP_VEC(GpInst *) passed; /* earlier check_index and check_div in scope */
    bool changed;
} Check;

static bool is_len(const Check *c, const GpValue *v) {
    return v->region == c->fn->body && c->fn->params[v->index].kind == GpParam_Len;
}

/* One length: the same value, or two slices' lengths of a launch where all are equal. */
static bool is_same_length(const Check *c, GpValue *a, GpValue *b) {
    GpScalar x, y;
    a = gp_pass_settled(a), b = gp_pass_settled(b);
    if (a == b) return true;
    if (gp_ir_const(a, &x) && gp_ir_const(b, &y)) return x.elem == y.elem && x.u == y.u;
    return c->fn->equal_lens && is_len(c, a) && is_len(c, b);
}

enum { MAX_NESTING = 16 };

static void add_fact(Check *c, GpValue *cond, bool truth, int nesting);

static const GpInst *get_yield(const GpRegion *r) {
    const GpInst *end = gp_ir_terminator(r);
    return end && end->op == GpOp_Yield ? end : NULL;
}

/* The value of a short-circuit `&&` or `||` is a result of an `if` one of whose regions yields a
** constant: the other truth says which region ran and what it gave. */
static void add_if_facts(Check *c, const GpInst *inst, uint32_t result, bool truth, int nesting) {
    for (uint32_t side = 0; side < 2; side++) {
        const GpInst *constant = get_yield(inst->regions[side]);
        const GpInst *other = get_yield(inst->regions[1 - side]);
        GpScalar v;
        if (!constant || !other ||
            !gp_ir_const(gp_pass_settled(constant->operands[result]), &v)) continue;
        if ((v.u != 0) == truth) continue;
        add_fact(c, inst->operands[0], side == 1, nesting + 1);
        add_fact(c, other->operands[result], truth, nesting + 1);
    }
}

static void add_fact(Check *c, GpValue *cond, bool truth, int nesting) {
    cond = gp_pass_settled(cond);
    const GpInst *inst = cond->inst;
    if (!inst || cond->type->kind != GpIrType_Scalar || nesting > MAX_NESTING) return;
    if (inst->op == GpOp_Cmp || (inst->op == GpOp_CheckIndex && truth)) {
        Fact fact = {inst, truth};
        GP_PUSH(c->fn->arena, &c->facts, fact);
    } else if (inst->op == GpOp_Not) {
        add_fact(c, inst->operands[0], !truth, nesting + 1);
    } else if (inst->op == (truth ? GpOp_And : GpOp_Or)) {
        add_fact(c, inst->operands[0], truth, nesting + 1);
        add_fact(c, inst->operands[1], truth, nesting + 1);
    } else if (inst->op == GpOp_If) {
        add_if_facts(c, inst, cond->index, truth, nesting);
    }
}

/* A known comparison as `x < y` (or <=, ==, !=) of its settled operands. */
typedef struct Known {
    GpValue *x, *y;
    GpPred pred; /* Lt, Le, Eq or Ne */
} Known;

static bool get_known(const Fact *fact, Known *k) {
    static const GpPred negated[] = {
        [GpPred_Eq] = GpPred_Ne, [GpPred_Ne] = GpPred_Eq, [GpPred_Lt] = GpPred_Ge,
        [GpPred_Le] = GpPred_Gt, [GpPred_Gt] = GpPred_Le, [GpPred_Ge] = GpPred_Lt};
    const GpInst *inst = fact->cond;
    if (inst->op != GpOp_Cmp || gp_elem_is_float(inst->operands[0]->type->elem)) return false;
    *k = (Known){gp_pass_settled(inst->operands[0]), gp_pass_settled(inst->operands[1]),
                 fact->truth ? inst->pred : negated[inst->pred]};
    if (k->pred != GpPred_Gt && k->pred != GpPred_Ge) return true;
    *k = (Known){k->y, k->x, k->pred == GpPred_Gt ? GpPred_Lt : GpPred_Le};
    return true;
}

/* The `for` that counts this value, or NULL. */
static const GpInst *find_for(const GpValue *index) {
    const GpInst *owner = index->region ? index->region->owner : NULL;
    return owner && owner->op == GpOp_For && index->index == 0 ? owner : NULL;
}

static bool is_not_negative(const Check *c, GpValue *v, int nesting);

/* What a value is says so: a counter, an index or an extent, or a cast of one. */
static bool is_not_negative_by_origin(const Check *c, GpValue *v, int nesting) {
    GpElem elem = v->type->elem;
    const GpInst *loop = find_for(v);
    if (loop && is_not_negative(c, gp_pass_settled(loop->operands[0]), nesting + 1)) return true;
    const GpInst *inst = v->inst;
    if (!inst) return false;
    if (inst->op == GpOp_Below || inst->op == GpOp_ProgramId || inst->op == GpOp_NumPrograms ||
        inst->op == GpOp_Dim)
        return true;
    if (inst->op != GpOp_Cast || gp_elem_is_float(inst->operands[0]->type->elem)) return false;
    GpElem from = inst->operands[0]->type->elem;
    bool fits = gp_elem_info[from].bits < gp_elem_info[elem].bits ||
                (from == elem && gp_elem_is_signed(from));
    return fits && is_not_negative(c, gp_pass_settled(inst->operands[0]), nesting + 1);
}

/* What holds where the check stands says so. */
static bool is_not_negative_by_facts(const Check *c, const GpValue *v) {
    for (uint32_t i = 0; i < c->facts.len; i++) {
        const Fact *fact = &c->facts.at[i];
        Known f;
        GpScalar k;
        if (fact->cond->op == GpOp_CheckIndex && gp_pass_settled(fact->cond->operands[0]) == v)
            return true;
        if (!get_known(fact, &f) || f.y != v || !gp_ir_const(f.x, &k)) continue;
        if ((f.pred == GpPred_Le && k.i >= 0) || (f.pred == GpPred_Lt && k.i >= -1)) return true;
    }
    return false;
}

static bool is_not_negative(const Check *c, GpValue *v, int nesting) {
    GpScalar k;
    if (nesting > MAX_NESTING) return false;
    if (!gp_elem_is_signed(v->type->elem)) return true;
    if (gp_ir_const(v, &k)) return k.i >= 0;
    return is_not_negative_by_origin(c, v, nesting) || is_not_negative_by_facts(c, v);
}

/* `limit` is at most `length`. A u64 length that was cast to i64 is itself when it is not
** negative, which `index < limit` for an index that is not negative implies. */
static bool is_within(const Check *c, GpValue *limit, GpValue *length) {
    GpScalar a, b;
    limit = gp_pass_settled(limit), length = gp_pass_settled(length);
    if (is_same_length(c, limit, length)) return true;
    if (gp_ir_const(limit, &a) && gp_ir_const(length, &b)) {
        bool is_known = (!gp_elem_is_signed(a.elem) || a.i >= 0) &&
                        (!gp_elem_is_signed(b.elem) || b.i >= 0);
        return is_known && a.u <= b.u;
    }
    const GpInst *cast = limit->inst;
    return cast && cast->op == GpOp_Cast && limit->type->elem == GpElem_I64 &&
           cast->operands[0]->type->elem == GpElem_U64 &&
           is_same_length(c, cast->operands[0], length);
}

static bool is_below_by_origin(const Check *c, const GpValue *index, GpValue *length) {
    const GpInst *loop = find_for(index);
    if (loop && is_within(c, loop->operands[1], length)) return true;
    if (index->inst && index->inst->op == GpOp_Below &&
        is_within(c, index->inst->operands[1], length))
        return true;
    return index->inst && index->inst->op == GpOp_ProgramId && length->inst &&
           length->inst->op == GpOp_NumPrograms && index->inst->axis == length->inst->axis;
}

/* index < length, given that index is not negative. */
static bool is_below(const Check *c, GpValue *index, GpValue *length) {
    GpScalar i, n;
    if (gp_ir_const(index, &i) && gp_ir_const(length, &n))
        return i.u < n.u && (!gp_elem_is_signed(n.elem) || n.i >= 0);
    if (is_below_by_origin(c, index, length)) return true;
    for (uint32_t f = 0; f < c->facts.len; f++) {
        const Fact *fact = &c->facts.at[f];
        Known k;
        if (fact->cond->op == GpOp_CheckIndex) {
            if (gp_pass_settled(fact->cond->operands[0]) == index &&
                is_within(c, fact->cond->operands[1], length))
                return true;
        } else if (get_known(fact, &k) && k.pred == GpPred_Lt && k.x == index &&
                   is_within(c, k.y, length)) {
            return true;
        }
    }
    return false;
}

static bool is_nonzero(const Check *c, GpValue *v) {
    GpScalar k;
    if (gp_ir_const(v, &k)) return k.u != 0;
    if (v->inst && v->inst->op == GpOp_NumPrograms) return true; /* this block is one */
    for (uint32_t i = 0; i < c->facts.len; i++) {
        Known f;
        if (!get_known(&c->facts.at[i], &f)) continue;
        if (f.pred == GpPred_Ne && ((f.x == v && gp_ir_const(f.y, &k)) ||
                                    (f.y == v && gp_ir_const(f.x, &k))))
            if (k.u == 0) return true;
        /* x < v or x <= v with a constant x says so when x is not negative, or is positive. */
        if (f.y != v || !gp_ir_const(f.x, &k)) continue;
        int64_t least = gp_elem_is_signed(k.elem) ? k.i : (int64_t)(k.u != 0);
        if ((f.pred == GpPred_Lt && least >= 0) || (f.pred == GpPred_Le && least > 0)) return true;
    }
    return false;
}

static GpInst *find_passed(const Check *c, const GpInst *inst) {
    for (uint32_t i = 0; i < c->passed.len; i++) {
        GpInst *old = c->passed.at[i];
        if (old->op != inst->op ||
            gp_pass_settled(old->operands[0]) != gp_pass_settled(inst->operands[0]))
            continue;
        if (inst->op == GpOp_CheckDiv ||
            is_same_length(c, old->operands[1], inst->operands[1]))
            return old;
    }
    return NULL;
}

static void remove_check(Check *c, GpInst *inst, GpValue *by) {
    if (by) gp_pass_replace(inst->results[0], by);
    gp_ir_remove(inst);
    c->changed = true;
}

static void visit_check_index(Check *c, GpInst *inst) {
    GpValue *index = gp_pass_settled(inst->operands[0]);
    GpValue *length = gp_pass_settled(inst->operands[1]);
    if (is_not_negative(c, index, 0) && is_below(c, index, length)) {
        GpBuilder b = {.fn = c->fn, .region = inst->parent, .before = inst, .span = inst->span};
        remove_check(c, inst, gp_build_int(&b, GpElem_Bool, 1));
        return;
    }
    GpInst *passed = find_passed(c, inst);
    if (passed) remove_check(c, inst, passed->results[0]);
    else GP_PUSH(c->fn->arena, &c->passed, inst);
}

static void visit_check_div(Check *c, GpInst *inst) {
    if (is_nonzero(c, gp_pass_settled(inst->operands[0])) || find_passed(c, inst))
        remove_check(c, inst, NULL);
    else GP_PUSH(c->fn->arena, &c->passed, inst);
}

static void visit_region(Check *c, GpRegion *r);

/* Afterwards the condition is known when one of the regions never comes to its end. */
static void visit_if(Check *c, GpInst *inst) {
    for (uint32_t side = 0; side < 2; side++) {
        uint32_t facts = c->facts.len;
        add_fact(c, inst->operands[0], side == 0, 0);
        visit_region(c, inst->regions[side]);
        c->facts.len = facts;
    }
    for (uint32_t side = 0; side < 2; side++)
        if (!get_yield(inst->regions[side])) add_fact(c, inst->operands[0], side == 1, 0);
}

static void visit_inst(Check *c, GpInst *inst) {
    GpScalar k;
    if (inst->op == GpOp_CheckIndex) {
        visit_check_index(c, inst);
    } else if (inst->op == GpOp_CheckDiv) {
        visit_check_div(c, inst);
    } else if (inst->op == GpOp_Assert) {
        if (gp_ir_const(gp_pass_settled(inst->operands[0]), &k) && k.u) remove_check(c, inst, NULL);
        else add_fact(c, inst->operands[0], true, 0);
    } else if (inst->op == GpOp_If) {
        visit_if(c, inst);
    } else {
        for (uint32_t i = 0; i < inst->region_count; i++) visit_region(c, inst->regions[i]);
    }
}

static void visit_region(Check *c, GpRegion *r) {
    uint32_t facts = c->facts.len, passed = c->passed.len;
    for (GpInst *inst = r->first, *next; inst; inst = next) {
        next = inst->next;
        visit_inst(c, inst);
    }
    c->facts.len = facts;
    c->passed.len = passed;
}

bool gp_pass_check(GpIrFn *fn) {
    Check c = {.fn = fn};
    visit_region(&c, fn->body);
    if (c.changed) gp_ir_apply_forwards(fn);
    return c.changed;
}
