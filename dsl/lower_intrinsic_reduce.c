/* Reductions and scans of cutile::core: the combination becomes the operation's region. */
#include <math.h>

#include "dsl/lower_tile.h"

typedef GpValue *(*Combine)(GpLower *lo, const GpLowerCall *call, GpValue *acc, GpValue *x);

/* The region of a reduction over elements of `elem`. */
static GpRegion *build_region(GpLower *lo, const GpLowerCall *call, GpElem elem, Combine combine) {
    GpRegion *body = gp_ir_region(lo->fn);
    const GpIrType *t = gp_ir_scalar(lo->fn, elem);
    GpValue *acc = gp_ir_region_param(lo->fn, body, t, NULL);
    GpValue *x = gp_ir_region_param(lo->fn, body, t, NULL);
    GpLowerPlace at = gp_lower_enter(lo, body);
    GpValue *next = combine(lo, call, acc, x);
    gp_build(&lo->b, GpOp_Yield, &next, 1, NULL, 0);
    gp_lower_leave(lo, at);
    return body;
}

static bool is_plain(const GpRegion *r) {
    for (const GpInst *i = r->first; i && i != r->last; i = i->next) {
        if (gp_op_info[i->op].effect != GpEffect_Pure || i->region_count)
            return false;
        for (uint32_t k = 0; k < i->operand_count; k++)
            if (i->operands[k]->type->kind != GpIrType_Scalar)
                return false;
        for (uint32_t k = 0; k < i->result_count; k++)
            if (i->results[k]->type->kind != GpIrType_Scalar)
                return false;
    }
    return r->last && r->last->op == GpOp_Yield;
}

static void use_instead(const GpRegion *r, const GpValue *old, GpValue *by) {
    for (const GpInst *i = r->first; i; i = i->next) {
        for (uint32_t k = 0; k < i->operand_count; k++)
            if (i->operands[k] == old)
                i->operands[k] = by;
        for (uint32_t k = 0; k < i->region_count; k++)
            use_instead(i->regions[k], old, by);
    }
}

/* Moves what the region computes before `inst`; gives what it yields. */
static GpValue **hoist(GpInst *inst, GpRegion *from) {
    while (from->first != from->last) {
        GpInst *x = from->first;
        gp_ir_remove(x);
        gp_ir_insert(x, inst->parent, inst);
    }
    return from->last->operands;
}

/* Branches that only compute become both values and a choice. */
static void flatten(GpLower *lo, GpRegion *r) {
    GpInst *next;
    for (GpInst *inst = r->first; inst; inst = next) {
        next = inst->next;
        for (uint32_t k = 0; k < inst->region_count; k++)
            flatten(lo, inst->regions[k]);
        if (inst->op != GpOp_If || !is_plain(inst->regions[0]) || !is_plain(inst->regions[1]))
            continue;
        GpValue **yes = hoist(inst, inst->regions[0]), **no = hoist(inst, inst->regions[1]);
        GpBuilder b = {lo->fn, r, inst, inst->span};
        for (uint32_t k = 0; k < inst->result_count; k++)
            use_instead(r, inst->results[k], gp_build_select(&b, inst->operands[0], yes[k], no[k]));
        gp_ir_remove(inst);
    }
}

static GpVal build(GpLower *lo, const GpLowerCall *call, GpOp op, GpValue *identity,
                   Combine combine) {
    GpValue *operands[2] = {gp_call_scalar(lo, call, 0), identity};
    uint32_t axis;
    GpShape from = operands[0]->type->shape, shape = {.rank = 0};
    if (!gp_tile_const_axis(lo, call, 1, (uint32_t)from.rank, &axis))
        return gp_lower_undef(lo, call->type);
    GpElem elem = operands[0]->type->elem;
    GpRegion *body = build_region(lo, call, elem, combine);
    flatten(lo, body);
    if (!is_plain(body)) {
        gp_lower_refuse(lo, call->span, "a combination that is more than arithmetic of scalars");
        return gp_lower_undef(lo, call->type);
    }
    for (int i = 0; i < from.rank; i++)
        if (op == GpOp_Scan || i != (int)axis)
            shape.dim[shape.rank++] = from.dim[i];
    const GpIrType *t = gp_ir_tile(lo->fn, elem, &shape);
    GpInst *inst = gp_build(&lo->b, op, operands, 2, &t, 1);
    inst->axis = (uint8_t)axis;
    inst->is_reverse = op == GpOp_Scan && !strcmp(gp_tile_marker(call, 2), "Reverse");
    gp_ir_set_regions(lo->fn, inst, &body, 1);
    shape = gp_lower_adt_shape(lo, call->type); /* {[1]} may stand for {[]} */
    return gp_call_result(lo, call, gp_tile_reshape(lo, inst->results[0], &shape));
}

/* ---- With a name ---------------------------------------------------------------------------- */

typedef struct Named {
    const char *name;
    GpOp op, of_bools; /* of_bools Const: bools have none */
} Named;

static const Named names[] = {{"reduce_sum", GpOp_Add, GpOp_Const},
                              {"reduce_prod", GpOp_Mul, GpOp_Const},
                              {"reduce_min", GpOp_Min, GpOp_And},
                              {"reduce_max", GpOp_Max, GpOp_Or},
                              {"reduce_xor", GpOp_Xor, GpOp_Xor},
                              {"scan_sum", GpOp_Add, GpOp_Const}};

static const Named *find_named(const GpLowerCall *call) {
    for (size_t i = 0; i < GP_COUNT(names); i++)
        if (gp_call_is(call, names[i].name))
            return &names[i];
    gp_unreachable();
}

/* A type without the arithmetic is told so. */
static bool has_combination(GpLower *lo, const GpLowerCall *call, GpElem elem) {
    const Named *n = find_named(call);
    bool is_bool = elem == GpElem_Bool;
    if (is_bool ? n->of_bools != GpOp_Const : gp_sig_takes(gp_op_info[n->op].sig, elem))
        return true;
    gp_lower_refuse(lo, call->span, "`%s` of %s", n->name, is_bool ? "bools" : gp_elem_info[elem].name);
    return false;
}

static GpValue *combine_named(GpLower *lo, const GpLowerCall *call, GpValue *acc, GpValue *x) {
    const Named *n = find_named(call);
    return gp_build2(&lo->b, x->type->elem == GpElem_Bool ? n->of_bools : n->op, acc, x);
}

/* What leaves every element as it is: 0 (-0 of floats: 0 would change the sign of another), 1, and the ends of the
** range. */
static GpScalar identity_of(GpOp op, GpElem elem) {
    const GpElemInfo *e = &gp_elem_info[elem];
    GpScalar out = {.elem = elem};
    bool is_min = op == GpOp_Min;
    if (e->cls == GpClass_Float)
        out.f = op == GpOp_Add ? -0.0 : op == GpOp_Mul ? 1.0 : is_min ? HUGE_VAL : -HUGE_VAL;
    else if (op == GpOp_Add || op == GpOp_Mul || op == GpOp_Xor)
        out.u = op == GpOp_Mul;
    else if (e->cls == GpClass_Int)
        out.i = is_min ? INT64_MAX >> (64 - e->bits) : INT64_MIN >> (64 - e->bits);
    else
        out.u = is_min ? UINT64_MAX >> (64 - e->bits) : 0;
    if (elem == GpElem_Bool)
        out.u = is_min;
    return out;
}

/* f8e4m3fn has no infinity: its greatest number ends the range. */
static GpScalar bounded(GpScalar v) {
    GpScalar out = v;
    if (gp_elem_is_float(v.elem) && isinf(v.f) && !gp_scalar_from_double(v.f, v.elem, &out))
        out.f = v.f > 0 ? 448.0 : -448.0;
    return out;
}

GpVal gp_lower_ReduceTile(GpLower *lo, const GpLowerCall *call) {
    GpElem elem = gp_call_scalar(lo, call, 0)->type->elem;
    if (!has_combination(lo, call, elem))
        return gp_lower_undef(lo, call->type);
    GpValue *identity =
        gp_build_const(&lo->b, gp_ir_scalar(lo->fn, elem), bounded(identity_of(find_named(call)->op, elem)));
    return build(lo, call, GpOp_Reduce, identity, combine_named);
}

/* ---- With a closure or an identity of the caller -------------------------------------------- */

static GpValue *combine_closure(GpLower *lo, const GpLowerCall *call, GpValue *acc, GpValue *x) {
    const GpType *elem = call->type->args[0].type;
    GpVal args[2] = {gp_lower_one(lo, elem, acc), gp_lower_one(lo, elem, x)};
    GpLowerCall inner = {
        .node = call->node, .args = args, .arg_count = 2, .type = elem, .span = call->span};
    GpVal v = gp_lower_apply(lo, call->args[call->arg_count - 1], &inner);
    return v.count == 1 ? gp_lower_get(lo, &v, 0) : acc;
}

GpVal gp_lower_ReduceWith(GpLower *lo, const GpLowerCall *call) {
    return build(lo, call, GpOp_Reduce, gp_call_scalar(lo, call, 2), combine_closure);
}

GpVal gp_lower_ScanTile(GpLower *lo, const GpLowerCall *call) {
    bool has_closure = call->arg_count > 4;
    GpElem elem = gp_call_scalar(lo, call, 0)->type->elem;
    if (!has_closure && !has_combination(lo, call, elem))
        return gp_lower_undef(lo, call->type);
    return build(lo, call, GpOp_Scan, gp_call_scalar(lo, call, 3),
                 has_closure ? combine_closure : combine_named);
}
