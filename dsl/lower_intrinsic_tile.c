/* Intrinsics of cutile::core. Tile coordinates are i32; a block's own tile is the one at its
** program ids. */
#include "dsl/lower_tile.h"

GpValue *gp_tile_axis_op(GpLower *lo, GpOp op, uint32_t axis) {
    if (axis > 2)
        return gp_build_int(&lo->b, GpElem_I32, op == GpOp_NumPrograms);
    const GpIrType *t = gp_ir_scalar(lo->fn, GpElem_I32);
    GpInst *inst = gp_build(&lo->b, op, NULL, 0, &t, 1);
    inst->axis = (uint8_t)axis;
    return inst->results[0];
}

/* An axis of an argument. */
typedef struct Extent {
    uint32_t param, axis;
} Extent;

static bool is_extent(const GpExtentName *e, Extent x) {
    return e->param == x.param && e->axis == x.axis;
}

static bool is_before(const GpExtentName *e, Extent x) {
    return e->param < x.param || (e->param == x.param && e->axis < x.axis);
}

/* Of the extents that preconditions make equal, the first stands for all. */
static Extent settle(const GpLower *lo, Extent x) {
    const GpKernelAttrs *k = &lo->kernel->kernel;
    for (uint32_t i = 0; i < k->precondition_count; i++) {
        const GpPrecondition *p = &k->preconditions[i];
        const GpExtentName *other = is_extent(&p->left, x)    ? &p->right
                                    : is_extent(&p->right, x) ? &p->left
                                                              : NULL;
        if (!p->is_equal || !other || !is_before(other, x))
            continue;
        x = (Extent){other->param, other->axis};
        i = UINT32_MAX; /* again from the start */
    }
    return x;
}

/* The extent as one of an argument's; false for tensors that the kernel made. */
static bool find_extent(const GpLower *lo, const GpValue *tensor, uint32_t axis, Extent *out) {
    if (tensor->inst || tensor->region != lo->fn->body)
        return false;
    *out = settle(lo, (Extent){lo->fn->params[tensor->index].arg, axis});
    return true;
}

static GpValue *argument(const GpLower *lo, uint32_t arg) {
    for (uint32_t i = 0; i < lo->fn->param_count; i++)
        if (lo->fn->params[i].arg == arg)
            return lo->fn->body->params[i];
    gp_unreachable();
}

bool gp_tile_is_multiple(GpLower *lo, GpValue *tensor, uint32_t axis, int64_t of) {
    const GpKernelAttrs *k = &lo->kernel->kernel;
    Extent x;
    if (!find_extent(lo, gp_lower_resolve(tensor), axis, &x))
        return false;
    for (uint32_t i = 0; i < k->precondition_count; i++) {
        const GpPrecondition *p = &k->preconditions[i];
        Extent left = settle(lo, (Extent){p->left.param, p->left.axis});
        if (!p->is_equal && left.param == x.param && left.axis == x.axis && p->divisor % of == 0)
            return true;
    }
    return false;
}

GpValue *gp_tile_own_dim(GpLower *lo, GpValue *tensor, uint32_t axis) {
    int64_t known = tensor->type->shape.dim[axis];
    if (known != GP_DYNAMIC)
        return gp_build_int(&lo->b, GpElem_I32, known);
    if (tensor->inst && tensor->inst->op == GpOp_MakeTensor)
        return tensor->inst->operands[1 + axis];
    const GpIrType *t = gp_ir_scalar(lo->fn, GpElem_I32);
    GpInst *inst = gp_build(&lo->b, GpOp_Dim, &tensor, 1, &t, 1);
    inst->axis = (uint8_t)axis;
    return inst->results[0];
}

static bool is_dim(const GpValue *v, const GpValue *tensor, uint32_t axis) {
    return v->inst && v->inst->op == GpOp_Dim && v->inst->operands[0] == tensor && v->inst->axis == axis;
}

GpValue *gp_tile_dim(GpLower *lo, GpValue *tensor, uint32_t axis) {
    Extent x;
    tensor = gp_lower_resolve(tensor);
    if (find_extent(lo, tensor, axis, &x))
        return gp_tile_own_dim(lo, argument(lo, x.param), x.axis);
    if (!gp_ir_is_window(tensor))
        return gp_tile_own_dim(lo, tensor, axis);
    GpValue *from = tensor->inst->operands[0], *extent = tensor->inst->operands[1 + tensor->type->shape.rank + axis];
    return is_dim(extent, from, axis) ? gp_tile_dim(lo, from, axis) : extent;
}

enum { OPERANDS_MAX = GP_MAX_RANK + 3 };

static GpVal load_tile(GpLower *lo, const GpLowerCall *call, GpValue *tensor,
                       GpValue *const *coords, GpValue *mask) {
    GpValue *operands[OPERANDS_MAX] = {tensor};
    uint32_t n = 1, rank = tensor->type->shape.rank;
    const GpIrType *t = gp_lower_leaf_type(lo, call->type, 0);
    if (tensor->type->kind != GpIrType_Tensor || t->kind != GpIrType_Tile ||
        t->shape.rank != rank) {
        if (!lo->has_failed)
            gp_lower_refuse(lo, call->span, "a tile of another rank than its tensor");
        return gp_lower_undef(lo, call->type);
    }
    for (uint32_t i = 0; i < rank; i++)
        operands[n++] = coords[i];
    if (mask)
        operands[n++] = mask;
    return gp_call_result(lo, call,
                          gp_build(&lo->b, GpOp_LoadTile, operands, n, &t, 1)->results[0]);
}

static void own_coords(GpLower *lo, GpValue **coords, uint32_t rank) {
    for (uint32_t i = 0; i < rank; i++)
        coords[i] = gp_tile_axis_op(lo, GpOp_ProgramId, i);
}

static GpVal load_own(GpLower *lo, const GpLowerCall *call) {
    GpValue *coords[GP_MAX_RANK] = {NULL}, *tensor = gp_call_scalar(lo, call, 0);
    own_coords(lo, coords, tensor->type->shape.rank);
    return load_tile(lo, call, tensor, coords, NULL);
}

GpVal gp_lower_TensorLoad(GpLower *lo, const GpLowerCall *call) { return load_own(lo, call); }

GpVal gp_lower_TensorLoadLike(GpLower *lo, const GpLowerCall *call) { return load_own(lo, call); }

GpVal gp_lower_TensorStore(GpLower *lo, const GpLowerCall *call) {
    GpValue *operands[OPERANDS_MAX];
    operands[0] = gp_call_scalar(lo, call, 0);
    operands[1] = gp_call_scalar(lo, call, 1);
    uint32_t rank = operands[0]->type->shape.rank;
    own_coords(lo, operands + 2, rank);
    gp_build(&lo->b, GpOp_StoreTile, operands, rank + 2, NULL, 0);
    return gp_lower_undef(lo, call->type);
}

/* Coordinates from an array (or tuple) argument, as i32. */
bool gp_tile_read_coords(GpLower *lo, const GpLowerCall *call, uint32_t arg, uint32_t rank,
                        GpValue **coords) {
    GpVal v = gp_call_arg(lo, call, arg);
    if (v.count != rank) {
        if (!lo->has_failed)
            gp_lower_refuse(lo, call->span, "%u coordinates for a tensor of rank %u", v.count,
                            rank);
        return false;
    }
    for (uint32_t i = 0; i < rank; i++)
        coords[i] = gp_lower_convert(lo, gp_lower_get(lo, &v, i), GpElem_I32);
    return true;
}

GpVal gp_lower_TensorLoadTile(GpLower *lo, const GpLowerCall *call) {
    GpValue *coords[GP_MAX_RANK] = {NULL}, *tensor = gp_call_scalar(lo, call, 0);
    if (!gp_tile_read_coords(lo, call, call->arg_count - 1, tensor->type->shape.rank, coords))
        return gp_lower_undef(lo, call->type);
    return load_tile(lo, call, tensor, coords, NULL);
}

GpVal gp_lower_TensorShape(GpLower *lo, const GpLowerCall *call) {
    GpValue *tensor = gp_call_scalar(lo, call, 0);
    GpVal out = gp_lower_undef(lo, call->type);
    GpShape known = gp_lower_adt_shape(lo, call->type);
    for (uint32_t i = 0; i < out.count && i < tensor->type->shape.rank; i++)
        out.at[i].value = known.dim[i] == GP_DYNAMIC
                              ? gp_tile_dim(lo, tensor, i)
                              : gp_build_int(&lo->b, GpElem_I32, known.dim[i]);
    return out;
}

/* An argument that must be an axis known at compile time, below `limit`. */
bool gp_tile_const_axis(GpLower *lo, const GpLowerCall *call, uint32_t arg, uint32_t limit,
                       uint32_t *out) {
    GpScalar v;
    GpValue *axis = gp_call_scalar(lo, call, arg);
    if (gp_ir_const(axis, &v) && v.u < limit) {
        *out = (uint32_t)v.u;
        return true;
    }
    if (lo->is_dead)
        return false;
    GpDiag *d = gp_diag(lo->diags, GpDiag_G0253, call->span, call->def->name->name);
    gp_primary_label(d, "expected a constant from 0 to %u", limit - 1);
    lo->has_failed = true;
    return false;
}

static GpVal axis_tuple(GpLower *lo, const GpLowerCall *call, GpOp op) {
    GpVal out = gp_lower_undef(lo, call->type);
    for (uint32_t i = 0; i < out.count; i++)
        out.at[i].value = gp_tile_axis_op(lo, op, i);
    return out;
}

GpVal gp_lower_BlockIdTuple(GpLower *lo, const GpLowerCall *call) {
    return axis_tuple(lo, call, GpOp_ProgramId);
}

GpVal gp_lower_NumBlocksTuple(GpLower *lo, const GpLowerCall *call) {
    return axis_tuple(lo, call, GpOp_NumPrograms);
}

static GpVal one_axis(GpLower *lo, const GpLowerCall *call, GpOp op) {
    uint32_t axis;
    if (!gp_tile_const_axis(lo, call, 0, 3, &axis))
        return gp_lower_undef(lo, call->type);
    return gp_call_result(lo, call, gp_tile_axis_op(lo, op, axis));
}

GpVal gp_lower_ProgramIdAxis(GpLower *lo, const GpLowerCall *call) {
    return one_axis(lo, call, GpOp_ProgramId);
}

GpVal gp_lower_NumProgramsAxis(GpLower *lo, const GpLowerCall *call) {
    return one_axis(lo, call, GpOp_NumPrograms);
}

/* ---- Making and reshaping tiles -------------------------------------------------------------- */

static GpVal spread(GpLower *lo, const GpLowerCall *call) {
    GpValue *x = gp_call_scalar(lo, call, 0);
    GpShape shape = gp_lower_adt_shape(lo, call->type);
    return gp_call_result(lo, call, gp_lower_splat(lo, x, x->type->elem, &shape));
}

GpVal gp_lower_Constant(GpLower *lo, const GpLowerCall *call) { return spread(lo, call); }

GpVal gp_lower_BroadcastScalar(GpLower *lo, const GpLowerCall *call) { return spread(lo, call); }

GpVal gp_lower_ScalarToTile(GpLower *lo, const GpLowerCall *call) { return spread(lo, call); }

GpValue *gp_tile_reshape(GpLower *lo, GpValue *x, const GpShape *shape) {
    if (gp_shape_eq(&x->type->shape, shape))
        return x;
    const GpIrType *t = gp_ir_tile(lo->fn, x->type->elem, shape);
    return gp_build(&lo->b, GpOp_Reshape, &x, 1, &t, 1)->results[0];
}

GpVal gp_lower_ReshapeTile(GpLower *lo, const GpLowerCall *call) {
    GpShape shape = gp_lower_adt_shape(lo, call->type);
    return gp_call_result(lo, call, gp_tile_reshape(lo, gp_call_scalar(lo, call, 0), &shape));
}

GpValue *gp_tile_broadcast(GpLower *lo, GpValue *x, const GpShape *shape) {
    GpShape from = x->type->shape;
    if (from.rank < shape->rank) {
        GpShape wide = {.rank = shape->rank};
        int lead = shape->rank - from.rank;
        for (int i = 0; i < shape->rank; i++)
            wide.dim[i] = i < lead ? 1 : from.dim[i - lead];
        x = gp_tile_reshape(lo, x, &wide);
    }
    if (gp_shape_eq(&x->type->shape, shape))
        return x;
    const GpIrType *t = gp_ir_tile(lo->fn, x->type->elem, shape);
    return gp_build(&lo->b, GpOp_Broadcast, &x, 1, &t, 1)->results[0];
}

GpVal gp_lower_BroadcastTile(GpLower *lo, const GpLowerCall *call) {
    GpShape to = gp_lower_adt_shape(lo, call->type);
    return gp_call_result(lo, call, gp_tile_broadcast(lo, gp_call_scalar(lo, call, 0), &to));
}

GpVal gp_lower_IotaTile(GpLower *lo, const GpLowerCall *call) {
    const GpIrType *t = gp_lower_leaf_type(lo, call->type, 0);
    return gp_call_result(lo, call, gp_build(&lo->b, GpOp_Iota, NULL, 0, &t, 1)->results[0]);
}

GpVal gp_lower_TileToScalar(GpLower *lo, const GpLowerCall *call) {
    GpValue *x = gp_call_scalar(lo, call, 0);
    if (x->type->kind == GpIrType_Scalar)
        return gp_call_result(lo, call, x);
    const GpIrType *t = gp_ir_scalar(lo->fn, x->type->elem);
    return gp_call_result(lo, call, gp_build(&lo->b, GpOp_Extract, &x, 1, &t, 1)->results[0]);
}

/* ---- Elementwise ----------------------------------------------------------------------------- */

/* Scalars among the arguments spread over the tile among them. */
void gp_tile_read(GpLower *lo, const GpLowerCall *call, GpValue **x, uint32_t count) {
    const GpShape *shape = NULL;
    for (uint32_t i = 0; i < count; i++) {
        x[i] = gp_call_scalar(lo, call, i);
        if (x[i]->type->kind == GpIrType_Tile)
            shape = &x[i]->type->shape;
    }
    for (uint32_t i = 0; shape && i < count; i++)
        x[i] = gp_lower_splat(lo, x[i], x[i]->type->elem, shape);
}

GpVal gp_lower_CompareTile(GpLower *lo, const GpLowerCall *call) {
    static const char *const names[GP_PRED_COUNT] = {
        [GpPred_Eq] = "eq", [GpPred_Ne] = "ne", [GpPred_Lt] = "lt",
        [GpPred_Le] = "le", [GpPred_Gt] = "gt", [GpPred_Ge] = "ge"};
    GpValue *x[2];
    gp_tile_read(lo, call, x, 2);
    const char *sister = gp_call_sister(call);
    for (int p = 0; p < GP_PRED_COUNT; p++)
        if (!strncmp(sister, names[p], 2))
            return gp_call_result(lo, call, gp_build_cmp(&lo->b, (GpPred)p, x[0], x[1]));
    gp_unreachable();
}

GpVal gp_lower_SelectTile(GpLower *lo, const GpLowerCall *call) {
    GpValue *x[3];
    gp_tile_read(lo, call, x, 3);
    return gp_call_result(lo, call, gp_build_select(&lo->b, x[0], x[1], x[2]));
}

GpVal gp_lower_ConvertTile(GpLower *lo, const GpLowerCall *call) {
    GpElem to = gp_lower_adt_elem(call->type);
    return gp_call_result(lo, call, gp_lower_convert(lo, gp_call_scalar(lo, call, 0), to));
}

GpVal gp_lower_ConvertScalar(GpLower *lo, const GpLowerCall *call) {
    GpElem to = GpElem_I32;
    if (!gp_lower_elem(call->type, &to))
        return gp_lower_undef(lo, call->type);
    return gp_call_result(lo, call, gp_lower_convert(lo, gp_call_scalar(lo, call, 0), to));
}

/* Of bools, where false is the lesser, the least is `and`, the greatest `or`. */
GpVal gp_lower_MinMax(GpLower *lo, const GpLowerCall *call) {
    GpValue *x[2];
    gp_tile_read(lo, call, x, 2);
    bool is_min = !strncmp(gp_call_sister(call), "min", 3);
    GpOp op = is_min ? GpOp_Min : GpOp_Max;
    if (x[0]->type->elem == GpElem_Bool)
        op = is_min ? GpOp_And : GpOp_Or;
    if (!gp_sig_takes(gp_op_info[op].sig, x[0]->type->elem)) {
        gp_lower_refuse(lo, call->span, "`%s` of `%s`", call->def->name->name,
                        gp_elem_info[x[0]->type->elem].name);
        return gp_lower_undef(lo, call->type);
    }
    return gp_call_result(lo, call, gp_build2(&lo->b, op, x[0], x[1]));
}

GpVal gp_lower_TrueDiv(GpLower *lo, const GpLowerCall *call) {
    GpValue *x[2];
    gp_tile_read(lo, call, x, 2);
    GpElem elem = gp_lower_leaf_type(lo, call->type, 0)->elem;
    for (int i = 0; i < 2; i++)
        x[i] = gp_lower_convert(lo, x[i], elem);
    return gp_call_result(lo, call, gp_build2(&lo->b, GpOp_Div, x[0], x[1]));
}

GpVal gp_lower_CeilDiv(GpLower *lo, const GpLowerCall *call) {
    GpValue *x[2];
    gp_tile_read(lo, call, x, 2);
    x[1] = gp_lower_divisor(lo, x[1], call->span);
    return gp_call_result(lo, call, gp_lower_ceil_div(lo, x[0], x[1]));
}
