/* Tensors that a kernel makes of an address, extents and strides. */
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
