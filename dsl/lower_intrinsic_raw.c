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

/* Elements of a tensor at `at`, an i64 tile of rank 1 for each axis of `shape`. */
static void gather(GpLower *lo, GpValue *tensor, const GpShape *shape, GpValue *const *at,
                   GpGathered *out) {
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
        out->offsets = i ? gp_build2(&lo->b, GpOp_Add, out->offsets, offset) : offset;
        out->mask = i ? gp_build2(&lo->b, GpOp_And, out->mask, fits) : fits;
    }
    out->base = gp_build(&lo->b, GpOp_TensorBase, &tensor, 1, &ptr, 1)->results[0];
}

/* start, start + 1, .. for `extent` elements, i64. */
static GpValue *line_from(GpLower *lo, GpValue *start, int64_t extent) {
    const GpShape line = {{extent}, 1};
    const GpIrType *t = gp_ir_tile(lo->fn, GpElem_I64, &line);
    return gp_build2(&lo->b, GpOp_Add, gp_build(&lo->b, GpOp_Iota, NULL, 0, &t, 1)->results[0],
                     spread(lo, start, &line));
}

/* The elements of tile `index`, the tiles being `step` apart. */
static GpValue *line_of(GpLower *lo, GpValue *index, int64_t step, int64_t extent) {
    GpValue *start = gp_build2(&lo->b, GpOp_Mul, gp_lower_convert(lo, index, GpElem_I64),
                               gp_build_int(&lo->b, GpElem_I64, step));
    return line_from(lo, start, extent);
}

/* ---- Views ----------------------------------------------------------------------------------- */

GpVal gp_lower_RawView(GpLower *lo, const GpLowerCall *call) {
    GpVal out = gp_lower_undef(lo, call->type);
    out.at[0].value = gp_call_scalar(lo, call, 0);
    out.at[1].value = gp_tile_padding(lo, call, 2, out.at[0].value->type->elem);
    return out.at[1].value ? out : gp_lower_undef(lo, call->type);
}

static GpShape view_shape(GpLower *lo, const GpType *t, uint32_t arg) {
    return gp_lower_shape(lo, t->args[arg].shape);
}

/* The elements' lines along each axis of the tensor. */
typedef struct Lines {
    GpShape shape; /* of the tensor's axes */
    GpPerm map;
    GpValue *at[GP_MAX_RANK];
} Lines;

static bool refuse_lines(GpLower *lo, const GpLowerCall *call, const char *what) {
    gp_lower_refuse(lo, call->span, "%s", what);
    return false;
}

/* Along one axis the index is a tile, with a number for each line of the view's tile. */
static bool sparse_lines(GpLower *lo, const GpLowerCall *call, const GpType *view,
                         GpValue *const *index, Lines *out) {
    int64_t axis = -1;
    (void)gp_const_value(view->args[2].value, &axis);
    const GpShape *shape = &out->shape;
    if (axis < 0 || axis >= shape->rank || index[axis]->type->kind != GpIrType_Tile ||
        index[axis]->type->shape.rank != 1 || index[axis]->type->shape.dim[0] != shape->dim[axis])
        return refuse_lines(lo, call,
                            "a gathering view with other than an index for each line of the tile");
    for (uint32_t i = 0; i < shape->rank; i++)
        out->at[i] = i == axis ? gp_lower_convert(lo, index[i], GpElem_I64)
                               : line_of(lo, index[i], shape->dim[i], shape->dim[i]);
    return true;
}

static bool strided_lines(GpLower *lo, const GpLowerCall *call, const GpType *view,
                          GpValue *const *index, Lines *out) {
    GpShape tile = out->shape, steps = view_shape(lo, view, 2), axes = view_shape(lo, view, 3);
    if (steps.rank != tile.rank || !gp_tile_is_perm(&axes, tile.rank, &out->map))
        return refuse_lines(lo, call, "a strided view whose tile, steps and axes do not fit");
    for (uint32_t i = 0; i < tile.rank; i++) {
        out->shape.dim[out->map.axis[i]] = tile.dim[i];
        out->at[out->map.axis[i]] = line_of(lo, index[i], steps.dim[i], tile.dim[i]);
    }
    return true;
}

static bool partition_lines(GpLower *lo, const GpLowerCall *call, GpValue *const *index,
                            Lines *out) {
    GpTileView v;
    if (!gp_tile_read_view(lo, call, 0, &v))
        return false;
    out->map = v.map;
    for (uint32_t i = 0; i < v.rank; i++) {
        GpValue *tile = gp_build2(&lo->b, GpOp_Add, v.first[i], index[i]);
        out->shape.dim[v.map.axis[i]] = v.tile.dim[i];
        out->at[v.map.axis[i]] = line_of(lo, tile, v.tile.dim[i], v.tile.dim[i]);
    }
    return true;
}

/* `index` has a value for each axis of the view. */
static bool gather_at(GpLower *lo, const GpLowerCall *call, GpValue *const *index, int32_t count,
                      GpGathered *out) {
    GpVal view = gp_call_arg(lo, call, 0);
    Lines lines = {.shape = gp_lower_adt_shape(lo, view.type)};
    GpValue *tensor = gp_lower_get(lo, &view, 0);
    lines.map.rank = lines.shape.rank;
    for (uint32_t i = 0; i < GP_MAX_RANK; i++)
        lines.map.axis[i] = (uint8_t)i;
    if (tensor->type->kind != GpIrType_Tensor)
        return false;
    if (count != lines.shape.rank || tensor->type->shape.rank != lines.shape.rank)
        return refuse_lines(lo, call, "a view of another rank than its tensor or its index");
    bool is_sparse = gp_ty_is_lang(view.type, GpLang_GatherScatterView);
    for (int32_t i = 0; i < count && !is_sparse; i++)
        if (index[i]->type->kind != GpIrType_Scalar)
            return refuse_lines(lo, call, "a tile as an index of a view that gathers nothing");
    bool fits = is_sparse ? sparse_lines(lo, call, view.type, index, &lines)
                : gp_ty_is_lang(view.type, GpLang_StridedView)
                    ? strided_lines(lo, call, view.type, index, &lines)
                    : partition_lines(lo, call, index, &lines);
    if (!fits)
        return false;
    *out = (GpGathered){.map = lines.map, .pad = gp_lower_get(lo, &view, 1)};
    gather(lo, tensor, &lines.shape, lines.at, out);
    return true;
}

bool gp_tile_gather_view(GpLower *lo, const GpLowerCall *call, uint32_t index, GpGathered *out) {
    GpVal given = gp_call_arg(lo, call, index);
    GpValue *at[GP_MAX_RANK] = {NULL};
    for (uint32_t i = 0; i < given.count && i < GP_MAX_RANK; i++)
        at[i] = gp_lower_get(lo, &given, i);
    return gather_at(lo, call, at, (int32_t)given.count, out);
}

GpValue *gp_tile_unmapped(GpLower *lo, GpValue *tile, const GpPerm *map) {
    GpPerm back = {.rank = map->rank};
    for (int i = 0; i < map->rank; i++)
        back.axis[map->axis[i]] = (uint8_t)i;
    return gp_tile_permute(lo, tile, back);
}

static GpVal load_gathered(GpLower *lo, const GpLowerCall *call, const GpGathered *g) {
    const GpIrType *t = gp_ir_tile(lo->fn, g->pad->type->elem, &g->offsets->type->shape);
    GpValue *operands[] = {g->base, g->offsets, g->mask, g->pad};
    GpValue *tile = gp_build(&lo->b, GpOp_Gather, operands, 4, &t, 1)->results[0];
    return gp_call_result(lo, call, gp_tile_permute(lo, tile, g->map));
}

/* The older form: the tile of indices, then the one number of the other axis. */
GpVal gp_lower_GatherView(GpLower *lo, const GpLowerCall *call) {
    GpValue *index[2] = {gp_call_scalar(lo, call, 1), gp_call_scalar(lo, call, 2)};
    GpSpot view = gp_call_spot(lo, call, 0);
    int64_t axis = 0;
    GpGathered g;
    if (gp_const_value(view.type->args[2].value, &axis) && axis == 1) {
        GpValue *dense = index[1];
        index[1] = index[0];
        index[0] = dense;
    }
    return gather_at(lo, call, index, 2, &g) ? load_gathered(lo, call, &g)
                                             : gp_lower_undef(lo, call->type);
}

/* A tile of neighbours is loaded as one. */
static GpVal load_strided(GpLower *lo, const GpLowerCall *call) {
    GpVal view = gp_call_arg(lo, call, 0);
    GpValue *coords[GP_MAX_RANK] = {NULL}, *operands[1 + GP_MAX_RANK] = {gp_lower_get(lo, &view, 0)};
    GpShape tile = gp_lower_adt_shape(lo, view.type), shape = {.rank = tile.rank};
    GpShape steps = view_shape(lo, view.type, 2), axes = view_shape(lo, view.type, 3);
    GpPerm map = {.rank = tile.rank};
    if (!gp_tile_read_coords(lo, call, 1, (uint32_t)tile.rank, coords))
        return gp_lower_undef(lo, call->type);
    if (steps.rank != tile.rank || !gp_tile_is_perm(&axes, (uint32_t)tile.rank, &map) ||
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
    GpInst *inst = gp_build(&lo->b, GpOp_LoadTile, operands, 1 + (uint32_t)tile.rank, &t, 1);
    inst->by_element = true;
    (void)gp_ir_const(gp_lower_get(lo, &view, 1), &inst->imm);
    return gp_call_result(lo, call, gp_tile_permute(lo, inst->results[0], map));
}

GpVal gp_lower_LoadStrided(GpLower *lo, const GpLowerCall *call) { return load_strided(lo, call); }

GpVal gp_lower_LoadView(GpLower *lo, const GpLowerCall *call) {
    GpGathered g;
    if (gp_ty_is_lang(gp_call_spot(lo, call, 0).type, GpLang_StridedView))
        return load_strided(lo, call);
    return gp_tile_gather_view(lo, call, 1, &g) ? load_gathered(lo, call, &g)
                                                : gp_lower_undef(lo, call->type);
}

GpVal gp_lower_StoreView(GpLower *lo, const GpLowerCall *call) {
    GpGathered g;
    if (!gp_tile_gather_view(lo, call, 2, &g))
        return gp_lower_undef(lo, call->type);
    GpValue *tile = gp_tile_unmapped(lo, gp_call_scalar(lo, call, 1), &g.map);
    GpValue *operands[] = {g.base, g.offsets, tile, g.mask};
    gp_build(&lo->b, GpOp_Scatter, operands, 4, NULL, 0);
    return gp_lower_undef(lo, call->type);
}
