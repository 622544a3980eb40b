/* Tensors that a kernel makes of an address, extents and strides, and views whose elements are
** reached one by one. */
#include "dsl/lower_tile.h"

GpValue *gp_tile_make_tensor(GpLower *lo, GpValue *address, const GpShape *shape,
                             GpValue *const *extents, GpValue *const *strides) {
    GpValue *operands[1 + 2 * GP_MAX_RANK] = {address};
    uint32_t rank = shape->rank;
    for (uint32_t i = 0; i < rank; i++) {
        operands[1 + i] = gp_lower_convert(lo, extents[i], GpElem_I32);
        operands[1 + rank + i] = gp_lower_convert(lo, strides[i], GpElem_I64);
    }
    const GpIrType *t = gp_ir_tensor(lo->fn, address->type->elem, shape);
    return gp_build(&lo->b, GpOp_MakeTensor, operands, 1 + 2 * rank, &t, 1)->results[0];
}

/* The strides that an Array argument names; false after a report. */
static bool read_strides(GpLower *lo, const GpLowerCall *call, uint32_t arg, uint32_t rank,
                         GpValue **out) {
    GpVal array = gp_call_arg(lo, call, arg);
    GpShape shape = gp_lower_adt_shape(lo, array.type);
    bool is_known = true;
    if (shape.rank != rank) {
        gp_lower_refuse(lo, call->span, "a tensor of %u axes with %u strides", rank, shape.rank);
        return false;
    }
    for (uint32_t i = 0; i < rank; i++)
        is_known &= shape.dim[i] != GP_DYNAMIC;
    for (uint32_t i = 0; is_known && i < rank; i++)
        out[i] = gp_build_int(&lo->b, GpElem_I32, shape.dim[i]);
    if (is_known)
        return true;
    GpVal dims = gp_lower_part(&array, gp_lower_field_type(lo, array.type, 0), 0, array.count);
    return gp_lower_dims(lo, &dims, &shape, out, call->span);
}

GpVal gp_lower_MakeTensor(GpLower *lo, const GpLowerCall *call) {
    GpValue *extents[GP_MAX_RANK] = {NULL}, *strides[GP_MAX_RANK] = {NULL};
    GpVal dims = gp_call_arg(lo, call, 1);
    GpShape shape = gp_lower_adt_shape(lo, call->type);
    if (dims.count != shape.rank || !read_strides(lo, call, 2, shape.rank, strides))
        return gp_lower_undef(lo, call->type);
    for (uint32_t i = 0; i < dims.count; i++)
        extents[i] = gp_lower_get(lo, &dims, i);
    GpValue *address = gp_tile_address(lo, call, 0);
    return gp_call_result(lo, call, gp_tile_make_tensor(lo, address, &shape, extents, strides));
}

/* ---- Tables of addresses --------------------------------------------------------------------- */

GpVal gp_lower_LoadTensor(GpLower *lo, const GpLowerCall *call) {
    GpValue *operands[1 + GP_MAX_RANK] = {gp_call_scalar(lo, call, 0)};
    GpValue *extents[GP_MAX_RANK] = {NULL}, *strides[GP_MAX_RANK] = {NULL};
    GpShape one = operands[0]->type->shape, shape = gp_lower_adt_shape(lo, call->type);
    GpVal dims = gp_call_arg(lo, call, 2);
    if (!gp_tile_read_coords(lo, call, 1, one.rank, operands + 1) || dims.count != shape.rank ||
        !read_strides(lo, call, 3, shape.rank, strides))
        return gp_lower_undef(lo, call->type);
    for (int i = 0; i < one.rank; i++)
        one.dim[i] = 1;
    const GpIrType *t = gp_ir_tile(lo->fn, GpElem_I64, &one);
    const GpIrType *number = gp_ir_scalar(lo->fn, GpElem_I64);
    const GpIrType *ptr = gp_ir_ptr(lo->fn, gp_lower_adt_elem(call->type), GpSpace_Global);
    GpValue *v = gp_build(&lo->b, GpOp_LoadTile, operands, 1 + (uint32_t)one.rank, &t, 1)->results[0];
    v = gp_build(&lo->b, GpOp_Extract, &v, 1, &number, 1)->results[0];
    v = gp_build(&lo->b, GpOp_IntToPtr, &v, 1, &ptr, 1)->results[0];
    for (uint32_t i = 0; i < dims.count; i++)
        extents[i] = gp_lower_get(lo, &dims, i);
    return gp_call_result(lo, call, gp_tile_make_tensor(lo, v, &shape, extents, strides));
}

/* ---- Elements one by one --------------------------------------------------------------------- */

static GpValue *spread(GpLower *lo, GpValue *scalar, const GpShape *shape) {
    return gp_lower_splat(lo, gp_lower_convert(lo, scalar, GpElem_I64), GpElem_I64, shape);
}

/* A tile of rank 1 along one axis of the shape. */
static GpValue *along(GpLower *lo, GpValue *x, uint32_t axis, const GpShape *shape) {
    GpShape thin = {.rank = shape->rank};
    for (int i = 0; i < shape->rank; i++)
        thin.dim[i] = i == (int)axis ? shape->dim[i] : 1;
    return gp_tile_broadcast(lo, gp_tile_reshape(lo, x, &thin), shape);
}

GpGathered gp_tile_gathered(GpLower *lo, GpValue *tensor, const GpShape *shape,
                            GpValue *const *at) {
    GpGathered out = {NULL, NULL, NULL};
    const GpIrType *i64 = gp_ir_scalar(lo->fn, GpElem_I64);
    const GpIrType *ptr = gp_ir_ptr(lo->fn, tensor->type->elem, GpSpace_Global);
    for (uint32_t i = 0; i < shape->rank; i++) {
        const GpShape line = {{shape->dim[i]}, 1};
        GpInst *stride = gp_build(&lo->b, GpOp_Stride, &tensor, 1, &i64, 1);
        stride->axis = (uint8_t)i;
        GpValue *offset =
            gp_build2(&lo->b, GpOp_Mul, at[i], spread(lo, stride->results[0], &line));
        GpValue *end = spread(lo, gp_tile_dim(lo, tensor, i), &line);
        GpValue *zero = spread(lo, gp_build_int(&lo->b, GpElem_I64, 0), &line);
        GpValue *fits = gp_build2(&lo->b, GpOp_And, gp_build_cmp(&lo->b, GpPred_Le, zero, at[i]),
                                  gp_build_cmp(&lo->b, GpPred_Lt, at[i], end));
        offset = along(lo, offset, i, shape);
        fits = along(lo, fits, i, shape);
        out.offsets = i ? gp_build2(&lo->b, GpOp_Add, out.offsets, offset) : offset;
        out.mask = i ? gp_build2(&lo->b, GpOp_And, out.mask, fits) : fits;
    }
    out.base = gp_build(&lo->b, GpOp_TensorBase, &tensor, 1, &ptr, 1)->results[0];
    return out;
}

/* start, start + 1, .. of tile `index` of `extent` elements, i64. */
GpValue *gp_tile_line(GpLower *lo, GpValue *index, int64_t extent) {
    const GpShape line = {{extent}, 1};
    const GpIrType *t = gp_ir_tile(lo->fn, GpElem_I64, &line);
    GpValue *start = gp_build2(&lo->b, GpOp_Mul, gp_lower_convert(lo, index, GpElem_I64),
                               gp_build_int(&lo->b, GpElem_I64, extent));
    return gp_build2(&lo->b, GpOp_Add, gp_build(&lo->b, GpOp_Iota, NULL, 0, &t, 1)->results[0],
                     spread(lo, start, &line));
}

GpVal gp_lower_RawView(GpLower *lo, const GpLowerCall *call) {
    const char *pad = gp_tile_marker(call, 2);
    if (strcmp(pad, "None") != 0 && strcmp(pad, "Zero") != 0)
        gp_lower_refuse(lo, call->span, "padding::%s of a raw view", pad);
    return gp_call_result(lo, call, gp_call_scalar(lo, call, 0));
}

GpVal gp_lower_GatherView(GpLower *lo, const GpLowerCall *call) {
    GpSpot view = gp_call_spot(lo, call, 0);
    GpValue *tensor = gp_call_scalar(lo, call, 0), *at[GP_MAX_RANK] = {NULL};
    GpShape shape = gp_lower_adt_shape(lo, view.type);
    GpValue *sparse = gp_call_scalar(lo, call, 1);
    int64_t axis = -1;
    (void)gp_const_value(view.type->args[2].value, &axis);
    if (shape.rank != 2 || axis < 0 || axis > 1 || sparse->type->shape.dim[0] != shape.dim[axis]) {
        gp_lower_refuse(lo, call->span,
                        "a gathering view of other than two axes, or with other than an index for "
                        "each line of the tile");
        return gp_lower_undef(lo, call->type);
    }
    at[axis] = gp_lower_convert(lo, sparse, GpElem_I64);
    at[1 - axis] = gp_tile_line(lo, gp_call_scalar(lo, call, 2), shape.dim[1 - axis]);
    GpGathered g = gp_tile_gathered(lo, tensor, &shape, at);
    GpElem elem = tensor->type->elem;
    GpValue *zero = gp_build_const(&lo->b, gp_ir_scalar(lo->fn, elem), (GpScalar){.elem = elem});
    const GpIrType *t = gp_ir_tile(lo->fn, elem, &shape);
    GpValue *operands[] = {g.base, g.offsets, g.mask, zero};
    return gp_call_result(lo, call, gp_build(&lo->b, GpOp_Gather, operands, 4, &t, 1)->results[0]);
}

GpVal gp_lower_LoadStrided(GpLower *lo, const GpLowerCall *call) {
    GpSpot view = gp_call_spot(lo, call, 0);
    GpValue *coords[GP_MAX_RANK] = {NULL}, *operands[1 + GP_MAX_RANK] = {gp_call_scalar(lo, call, 0)};
    GpShape tile = gp_lower_adt_shape(lo, view.type), shape = {.rank = tile.rank};
    GpShape steps = gp_lower_shape(lo, view.type->args[2].shape);
    GpShape axes = gp_lower_shape(lo, view.type->args[3].shape);
    GpPerm map = {.rank = tile.rank};
    if (!gp_tile_read_coords(lo, call, 1, tile.rank, coords))
        return gp_lower_undef(lo, call->type);
    if (steps.rank != tile.rank || !gp_tile_is_perm(&axes, tile.rank, &map) ||
        operands[0]->type->shape.rank != tile.rank) {
        gp_lower_refuse(lo, call->span, "a strided view whose tile, steps and axes do not fit");
        return gp_lower_undef(lo, call->type);
    }
    for (uint32_t i = 0; i < tile.rank; i++) {
        shape.dim[map.axis[i]] = tile.dim[i];
        operands[1 + map.axis[i]] = gp_build2(&lo->b, GpOp_Mul, coords[i],
                                              gp_build_int(&lo->b, GpElem_I32, steps.dim[i]));
    }
    const GpIrType *t = gp_ir_tile(lo->fn, operands[0]->type->elem, &shape);
    GpInst *inst = gp_build(&lo->b, GpOp_LoadTile, operands, 1 + tile.rank, &t, 1);
    inst->by_element = true;
    return gp_call_result(lo, call, gp_tile_permute(lo, inst->results[0], map));
}
