/* Regions, and merging the values of what leaves them.
**
** A region is lowered first and its instruction built after it, when every edge is known: a leaf
** becomes a result when some edge changed it. Loops cannot wait, so they carry every variable
** that may change as a region parameter, and drop those that all edges back left alone. */
#include "dsl/lower_tile.h"

static GpLeaf *copy_state(GpLower *lo, uint32_t count) {
    GpLeaf *state = GP_NEW_ARRAY(lo->arena, GpLeaf, count);
    if (count)
        memcpy(state, lo->leaves.at, count * sizeof *state);
    return state;
}

GpJoin *gp_join_open(GpLower *lo, const GpType *type) {
    GpJoin *j = GP_NEW(lo->arena, GpJoin);
    j->type = type;
    j->depth = lo->region_depth;
    j->leaf_count = lo->leaves.len;
    j->entry = copy_state(lo, j->leaf_count);
    j->was_dead = lo->is_dead;
    return j;
}

void gp_lower_set_dead(GpLower *lo) {
    lo->is_dead = true;
    lo->b.region = gp_ir_region(lo->fn); /* what is still built belongs to nothing */
    lo->b.before = NULL;
}

void gp_join_edge(GpLower *lo, GpJoin *j, GpOp op, GpVal val) {
    if (lo->is_dead)
        return;
    if (val.count != gp_lower_leaf_count(lo, j->type))
        val = gp_lower_undef(lo, j->type);
    GpInst *inst = gp_build(&lo->b, op, NULL, 0, NULL, 0);
    gp_assert(lo->leaves.len >= j->leaf_count);
    GpEdge e = {.inst = inst, .state = copy_state(lo, j->leaf_count), .val = val};
    GP_PUSH(lo->arena, &j->edges, e);
    gp_lower_set_dead(lo);
}

GpLowerPlace gp_lower_enter(GpLower *lo, GpRegion *region) {
    GpLowerPlace at = {lo->b.region, lo->b.before, gp_lower_open_scope(lo)};
    lo->b.region = region;
    lo->b.before = NULL;
    lo->region_depth++;
    return at;
}

void gp_lower_leave(GpLower *lo, GpLowerPlace at) {
    lo->b.region = at.region;
    lo->b.before = at.before;
    lo->region_depth--;
    gp_lower_close_scope(lo, at.scope);
}

/* Variables as at the join's opening. */
static void reset_leaves(GpLower *lo, const GpJoin *j) {
    if (j->leaf_count)
        memcpy(lo->leaves.at, j->entry, j->leaf_count * sizeof(GpLeaf));
    lo->is_dead = j->was_dead;
}

/* ---- Results ----------------------------------------------------------------------------- */

/* Leaf `index` of the edge's value (is_value) or state; of a tensor, each of its parts. */
typedef struct Merged {
    bool is_value;
    uint32_t index;
    const GpIrType *type;
    const GpIrType *tensor; /* NULL: the leaf is no tensor */
    uint32_t part;
} Merged;

typedef GP_VEC(Merged) MergedList;

static const GpLeaf *edge_leaf(const GpEdge *e, bool is_value, uint32_t k) {
    return is_value ? &e->val.at[k] : &e->state[k];
}

static void refuse_alias(GpLower *lo, GpSpan span) {
    GpDiag *d = gp_lower_refuse(lo, span, "a reference that is to one variable or another");
    if (d)
        gp_help(d, "write through each in its branch; what is only read is taken by value: `let r = if c { a } else { b };`");
}

/* Tensors differ in what is known of their extents. */
static const GpIrType *leaf_type(GpLower *lo, const GpLeaf *leaf) {
    const GpIrType *t = leaf->value->type;
    return t->kind == GpIrType_Tensor ? gp_tensor_any(lo, t) : t;
}

/* The one constant that the leaf is on every edge; what is unset may be anything. */
static bool is_constant(const GpJoin *j, bool is_value, uint32_t k, GpScalar *out) {
    bool is_found = false;
    for (uint32_t i = 0; i < j->edges.len; i++) {
        const GpLeaf *leaf = edge_leaf(&j->edges.at[i], is_value, k);
        GpScalar v;
        if (!leaf->value && !leaf->alias)
            continue;
        if (!leaf->value || leaf->value->type->kind != GpIrType_Scalar || !gp_ir_const(leaf->value, &v) ||
            (is_found && (v.elem != out->elem || v.u != out->u)))
            return false;
        *out = v;
        is_found = true;
    }
    return is_found;
}

/* What the leaf is after the join when no result is needed for it: true. Else its type. */
static bool is_settled(GpLower *lo, const GpJoin *j, bool is_value, uint32_t k, GpLeaf *same,
                       const GpIrType **type) {
    const GpEdge *first = &j->edges.at[0];
    bool has_alias = false, all_same = true;
    GpScalar one;
    *type = NULL;
    for (uint32_t i = 0; i < j->edges.len; i++) {
        const GpLeaf *leaf = edge_leaf(&j->edges.at[i], is_value, k);
        has_alias |= leaf->alias != NULL;
        all_same &= gp_lower_same_leaf(leaf, edge_leaf(first, is_value, k));
        if (!leaf->value)
            continue;
        const GpIrType *t = leaf_type(lo, leaf);
        if (*type && *type != t && !has_alias)
            gp_lower_refuse(lo, lo->b.span, "a reference to one memory space or another");
        *type = t;
    }
    if (!all_same && is_constant(j, is_value, k, &one)) {
        *same = (GpLeaf){.value = gp_build_const(&lo->b, gp_ir_scalar(lo->fn, one.elem), one)};
        return true;
    }
    *same = *edge_leaf(first, is_value, k);
    bool is_gone = same->alias && same->alias->depth > j->depth;
    if ((!all_same && has_alias) || is_gone)
        refuse_alias(lo, lo->b.span);
    if (has_alias || !*type)
        return true;
    return !is_value && all_same && gp_lower_same_leaf(same, &j->entry[k]);
}

/* The leaf as an operand of the edge's terminator. */
static GpValue *edge_value(GpLower *lo, const GpEdge *e, const Merged *m) {
    const GpLeaf *leaf = edge_leaf(e, m->is_value, m->index);
    if (leaf->value && !m->tensor)
        return leaf->value;
    GpBuilder saved = lo->b;
    lo->b.region = e->inst->parent;
    lo->b.before = e->inst;
    GpValue *v = leaf->value ? gp_tensor_part(lo, gp_lower_resolve(leaf->value), m->part)
                 : m->tensor ? gp_tensor_no_part(lo, m->type)
                             : gp_lower_any(lo, m->type);
    if (!v) /* was refused */
        v = gp_build_int(&lo->b, GpElem_U64, 0);
    lo->b = saved;
    return v;
}

static void push_merged(GpLower *lo, MergedList *list, Merged m) {
    m.tensor = m.type->kind == GpIrType_Tensor ? m.type : NULL;
    uint32_t count = m.tensor ? gp_tensor_parts(m.tensor) : 1;
    for (m.part = 0; m.part < count; m.part++) {
        if (m.tensor)
            m.type = gp_tensor_part_type(lo, m.tensor, m.part);
        GP_PUSH(lo->arena, list, m);
    }
}

/* Result i of the list as the leaf that it is of; of a tensor's parts the first makes it. */
static GpLeaf leaf_of_results(GpLower *lo, const GpInst *inst, const MergedList *list, uint32_t i) {
    const Merged *m = &list->at[i];
    return (GpLeaf){.value = m->tensor ? gp_tensor_of_parts(lo, m->tensor, inst->results + i)
                                       : inst->results[i]};
}

static void set_edge_operands(GpLower *lo, const GpEdge *e, const Merged *list, uint32_t count) {
    e->inst->operands = GP_NEW_ARRAY(lo->fn->arena, GpValue *, count);
    e->inst->operand_count = count;
    for (uint32_t i = 0; i < count; i++)
        e->inst->operands[i] = edge_value(lo, e, &list[i]);
}

static void set_targets(GpJoin *j, GpInst *inst) {
    for (uint32_t i = 0; i < j->edges.len; i++)
        if (j->edges.at[i].inst->op != GpOp_Yield)
            j->edges.at[i].inst->target = inst;
}

/* Nothing comes out: the region still needs an end. */
static void end_unreachable(GpLower *lo) {
    if (!lo->is_dead)
        gp_build(&lo->b, GpOp_Return, NULL, 0, NULL, 0);
    gp_lower_set_dead(lo);
}

/* Decides which leaves become results and sets the others' value after the join. */
static void merge(GpLower *lo, GpJoin *j, GpVal *out, MergedList *list) {
    *out = gp_lower_undef(lo, j->type);
    reset_leaves(lo, j);
    if (!j->edges.len)
        return;
    uint32_t n = out->count;
    for (uint32_t k = 0; k < n + j->leaf_count; k++) {
        Merged m = {.is_value = k < n, .index = k < n ? k : k - n};
        GpLeaf same;
        if (!is_settled(lo, j, m.is_value, m.index, &same, &m.type)) {
            push_merged(lo, list, m);
            continue;
        }
        if (m.is_value)
            out->at[m.index] = same;
        else
            lo->leaves.at[m.index] = same;
    }
}

static const GpIrType **merged_types(GpLower *lo, const MergedList *list) {
    const GpIrType **types = GP_NEW_ARRAY(lo->arena, const GpIrType *, list->len);
    for (uint32_t i = 0; i < list->len; i++)
        types[i] = list->at[i].type;
    return types;
}

/* An instruction to build, but for its results. */
typedef struct Shell {
    GpOp op;
    GpValue *const *operands;
    uint32_t operand_count;
    GpRegion *const *regions;
    uint32_t region_count;
} Shell;

static GpVal finish(GpLower *lo, GpJoin *j, Shell s) {
    GpVal out;
    MergedList list = {0};
    merge(lo, j, &out, &list);
    for (uint32_t i = 0; i < j->edges.len; i++)
        set_edge_operands(lo, &j->edges.at[i], list.at, list.len);
    GpInst *inst = gp_build(&lo->b, s.op, s.operands, s.operand_count, merged_types(lo, &list),
                            list.len);
    gp_ir_set_regions(lo->fn, inst, s.regions, s.region_count);
    set_targets(j, inst);
    for (uint32_t i = 0; i < list.len; i++) {
        if (list.at[i].part)
            continue;
        GpLeaf leaf = leaf_of_results(lo, inst, &list, i);
        if (list.at[i].is_value)
            out.at[list.at[i].index] = leaf;
        else
            lo->leaves.at[list.at[i].index] = leaf;
    }
    if (!j->edges.len)
        end_unreachable(lo);
    return out;
}

GpVal gp_join_finish_block(GpLower *lo, GpJoin *j, GpRegion *region) {
    return finish(lo, j, (Shell){GpOp_Block, NULL, 0, &region, 1});
}

/* ---- If ---------------------------------------------------------------------------------- */

GpVal gp_lower_if(GpLower *lo, GpValue *cond, const GpType *type, GpLowerBranch then,
                  GpLowerBranch otherwise, void *ud) {
    GpScalar known;
    if (gp_ir_const(cond, &known))
        return known.u ? then(lo, ud) : otherwise(lo, ud);
    GpSpan span = lo->b.span;
    GpJoin *j = gp_join_open(lo, type);
    GpRegion *regions[2] = {gp_ir_region(lo->fn), gp_ir_region(lo->fn)};
    for (int i = 0; i < 2; i++) {
        GpLowerPlace at = gp_lower_enter(lo, regions[i]);
        GpVal v = i == 0 ? then(lo, ud) : otherwise(lo, ud);
        gp_join_edge(lo, j, GpOp_Yield, v);
        gp_lower_leave(lo, at);
        reset_leaves(lo, j);
    }
    lo->b.span = span;
    return finish(lo, j, (Shell){GpOp_If, &cond, 1, regions, 2});
}

/* ---- Loops ------------------------------------------------------------------------------- */

/* Most partitions are `mut` only to be stored into. */
static bool may_change(const GpLower *lo, const GpVar *var) {
    return !var->has_memory && (!var->local || var->local->is_mut) &&
           (!gp_lower_is_partition(var->type) || gp_map_has(&lo->assigned, var->local));
}

static bool is_set(const GpLower *lo, const GpVar *var) {
    for (uint32_t i = 0; i < var->count; i++) {
        const GpLeaf *leaf = &lo->leaves.at[var->base + i];
        if (leaf->value || leaf->alias)
            return true;
    }
    return false;
}

/* A tensor of the parts that the region carries; their parameters follow all others. */
static void carry_tensor(GpLower *lo, GpCarry *c, uint32_t leaf, const GpIrType *type) {
    GpCarriedTensor t = {.leaf = leaf, .type = gp_tensor_any(lo, type)};
    GP_PUSH(lo->arena, &c->tensors, t);
}

/* Of a partition that is set in the loop first, the usual form is assumed. */
static GpValue *usual_form(GpLower *lo, const GpIrType *t, uint32_t form) {
    return form == 1 ? gp_lower_any(lo, t) : gp_build_int(&lo->b, t->elem, form - GP_VIEW_LEAD);
}

static void open_tensors(GpLower *lo, GpCarry *c) {
    GpBuilder saved = lo->b;
    lo->b.region = c->region;
    lo->b.before = NULL;
    for (uint32_t i = 0; i < c->tensors.len; i++) {
        GpCarriedTensor *t = &c->tensors.at[i];
        for (uint32_t p = 0; p < gp_tensor_parts(t->type); p++)
            t->params[p] = gp_ir_region_param(lo->fn, c->region, gp_tensor_part_type(lo, t->type, p), NULL);
        t->made = gp_tensor_of_parts(lo, t->type, t->params);
        lo->leaves.at[t->leaf] = (GpLeaf){.value = t->made};
    }
    lo->b = saved;
}

/* Unset leaves of a set variable (the payload of None) get a value, so that they can be carried. */
static void carry_var(GpLower *lo, GpCarry *c, const GpVar *var) {
    if (!may_change(lo, var) || !is_set(lo, var))
        return;
    for (uint32_t i = 0; i < var->count; i++) {
        GpLeaf *leaf = &lo->leaves.at[var->base + i];
        if (leaf->alias)
            continue;
        const GpIrType *type = leaf->value ? leaf->value->type : gp_lower_leaf_type(lo, var->type, i);
        uint32_t form = gp_lower_view_form(lo, var->type, i);
        if (form) {
            if (!leaf->value)
                leaf->value = usual_form(lo, type, form);
            GP_PUSH(lo->arena, &c->forms, var->base + i);
            continue;
        }
        if (type->kind == GpIrType_Tensor) {
            carry_tensor(lo, c, var->base + i, type);
            continue;
        }
        if (!leaf->value)
            leaf->value = gp_lower_any(lo, type);
        if (!leaf->value)
            continue;
        const char *name = var->local && var->count == 1 ? var->local->name->name : NULL;
        c->params[var->base + i] = gp_ir_region_param(lo->fn, c->region, leaf->value->type, name);
    }
}

GpCarry *gp_carry_open(GpLower *lo, const GpType *type, const GpIrType *index) {
    GpCarry *c = GP_NEW(lo->arena, GpCarry);
    c->region = gp_ir_region(lo->fn);
    c->params = GP_NEW_ARRAY(lo->arena, GpValue *, lo->leaves.len);
    if (index)
        gp_ir_region_param(lo->fn, c->region, index, NULL);
    c->fixed = index ? 1 : 0;
    for (uint32_t i = 0; i < lo->live.len; i++)
        carry_var(lo, c, lo->live.at[i]);
    c->exit = gp_join_open(lo, type);
    c->again = gp_join_open(lo, gp_ty_unit(lo->types));
    for (uint32_t i = 0; i < c->exit->leaf_count; i++)
        if (c->params[i])
            lo->leaves.at[i] = (GpLeaf){.value = c->params[i]};
    open_tensors(lo, c);
    return c;
}

static bool keeps(const GpJoin *j, uint32_t k, const GpValue *param) {
    for (uint32_t i = 0; i < j->edges.len; i++) {
        const GpLeaf *leaf = &j->edges.at[i].state[k];
        if (leaf->alias || gp_lower_resolve(leaf->value) != param)
            return false;
    }
    return true;
}

/* Removes the parameters that never change: they are their first value. */
static void drop_unchanged(GpCarry *c, bool with_exits) {
    uint32_t kept = c->fixed;
    for (uint32_t k = 0; k < c->exit->leaf_count; k++) {
        GpValue *p = c->params[k];
        if (!p)
            continue;
        if (keeps(c->again, k, p) && (!with_exits || keeps(c->exit, k, p))) {
            p->forward = c->exit->entry[k].value;
            c->params[k] = NULL;
            continue;
        }
        c->region->params[kept] = p;
        p->index = kept++;
    }
    for (uint32_t i = 0; i < c->tensors.len; i++) {
        GpCarriedTensor *t = &c->tensors.at[i];
        GpValue *entry = c->exit->entry[t->leaf].value;
        if (entry && keeps(c->again, t->leaf, t->made) && (!with_exits || keeps(c->exit, t->leaf, t->made))) {
            t->made->forward = entry;
            gp_ir_remove(t->made->inst);
            t->made = NULL;
        }
        for (uint32_t p = 0; t->made && p < gp_tensor_parts(t->type); p++) {
            c->region->params[kept] = t->params[p];
            t->params[p]->index = kept++;
        }
    }
    c->region->param_count = kept;
}

/* An alias that a turn of the loop redirects is no compile-time place. */
static void check_aliases(GpLower *lo, const GpCarry *c) {
    for (uint32_t i = 0; i < c->again->edges.len; i++)
        for (uint32_t k = 0; k < c->again->leaf_count; k++) {
            const GpLeaf *was = &c->again->entry[k], *is = &c->again->edges.at[i].state[k];
            if ((was->alias || (is->alias && was->value)) && !gp_lower_same_leaf(was, is))
                refuse_alias(lo, lo->b.span);
        }
}

static bool is_same_form(const GpLeaf *a, const GpLeaf *b) {
    GpScalar x, y;
    if (!a->value || !b->value)
        return !b->value;
    return gp_lower_same_leaf(a, b) ||
           (gp_ir_const(a->value, &x) && gp_ir_const(b->value, &y) && x.u == y.u);
}

static void check_forms(GpLower *lo, const GpCarry *c, const GpJoin *j) {
    for (uint32_t i = 0; i < j->edges.len; i++)
        for (uint32_t f = 0; f < c->forms.len; f++) {
            uint32_t k = c->forms.at[f];
            if (is_same_form(&j->entry[k], &j->edges.at[i].state[k]))
                continue;
            gp_lower_refuse(lo, lo->b.span, "a partition that gets another padding or order of axes in a loop");
            return;
        }
}

static MergedList carried_list(GpLower *lo, const GpCarry *c) {
    MergedList list = {0};
    for (uint32_t k = 0; k < c->exit->leaf_count; k++) {
        if (!c->params[k])
            continue;
        push_merged(lo, &list, (Merged){.index = k, .type = c->params[k]->type});
    }
    for (uint32_t i = 0; i < c->tensors.len; i++)
        if (c->tensors.at[i].made)
            push_merged(lo, &list, (Merged){.index = c->tensors.at[i].leaf, .type = c->tensors.at[i].type});
    return list;
}

static GpValue **carried_inits(GpLower *lo, const GpCarry *c, const MergedList *list,
                               uint32_t before) {
    GpValue **inits = GP_NEW_ARRAY(lo->arena, GpValue *, list->len + before);
    for (uint32_t i = 0; i < list->len; i++) {
        const Merged *m = &list->at[i];
        GpValue *entry = c->exit->entry[m->index].value;
        inits[before + i] = !m->tensor ? entry
                            : entry    ? gp_tensor_part(lo, gp_lower_resolve(entry), m->part)
                                       : gp_tensor_no_part(lo, m->type);
    }
    return inits;
}

GpVal gp_carry_finish_loop(GpLower *lo, GpCarry *c) {
    check_aliases(lo, c);
    check_forms(lo, c, c->again);
    drop_unchanged(c, false);
    MergedList list = carried_list(lo, c);
    GpValue **inits = carried_inits(lo, c, &list, 0);
    for (uint32_t i = 0; i < c->again->edges.len; i++)
        set_edge_operands(lo, &c->again->edges.at[i], list.at, list.len);
    GpVal out = finish(lo, c->exit, (Shell){GpOp_Loop, inits, list.len, &c->region, 1});
    set_targets(c->again, c->region->owner);
    return out;
}

void gp_carry_finish_for(GpLower *lo, GpCarry *c, GpValue *lower, GpValue *upper, GpValue *step) {
    check_aliases(lo, c);
    check_forms(lo, c, c->again);
    check_forms(lo, c, c->exit);
    drop_unchanged(c, true);
    MergedList list = carried_list(lo, c);
    GpValue **operands = carried_inits(lo, c, &list, GP_FOR_BOUNDS);
    operands[0] = lower;
    operands[1] = upper;
    operands[2] = step;
    GpJoin *joins[2] = {c->again, c->exit};
    for (int j = 0; j < 2; j++)
        for (uint32_t i = 0; i < joins[j]->edges.len; i++)
            set_edge_operands(lo, &joins[j]->edges.at[i], list.at, list.len);
    reset_leaves(lo, c->exit);
    GpInst *inst =
        gp_build(&lo->b, GpOp_For, operands, GP_FOR_BOUNDS + list.len, merged_types(lo, &list), list.len);
    gp_ir_set_regions(lo->fn, inst, &c->region, 1);
    set_targets(c->again, inst);
    set_targets(c->exit, inst);
    for (uint32_t i = 0; i < list.len; i++)
        if (!list.at[i].part)
            lo->leaves.at[list.at[i].index] = leaf_of_results(lo, inst, &list, i);
}
