/* A tensor that is one or another, as a partition that was assigned may be of: regions carry its
** address, extents and strides, of which a tensor is made again. */
#include "dsl/lower_tile.h"

static uint32_t rank_of(const GpIrType *tensor) { return tensor->shape.rank; }

uint32_t gp_tensor_parts(const GpIrType *tensor) { return 1 + 2 * rank_of(tensor); }

const GpIrType *gp_tensor_any(GpLower *lo, const GpIrType *tensor) {
    GpShape shape = tensor->shape;
    for (uint32_t i = 0; i < shape.rank; i++)
        shape.dim[i] = GP_DYNAMIC;
    return gp_ir_tensor(lo->fn, tensor->elem, &shape);
}

const GpIrType *gp_tensor_part_type(GpLower *lo, const GpIrType *tensor, uint32_t part) {
    if (part == 0)
        return gp_ir_ptr(lo->fn, tensor->elem, GpSpace_Global);
    return gp_ir_scalar(lo->fn, part <= rank_of(tensor) ? GpElem_I32 : GpElem_I64);
}

GpValue *gp_tensor_part(GpLower *lo, GpValue *tensor, uint32_t part) {
    uint32_t rank = rank_of(tensor->type);
    if (part > 0 && part <= rank)
        return gp_tile_dim(lo, tensor, part - 1);
    const GpIrType *t = gp_tensor_part_type(lo, tensor->type, part);
    GpInst *inst = gp_build(&lo->b, part ? GpOp_Stride : GpOp_TensorBase, &tensor, 1, &t, 1);
    inst->axis = (uint8_t)(part ? part - 1 - rank : 0);
    return inst->results[0];
}

GpValue *gp_tensor_no_part(GpLower *lo, const GpIrType *part) {
    bool is_address = part->kind == GpIrType_Ptr;
    GpValue *zero = gp_build_int(&lo->b, is_address ? GpElem_I64 : part->elem, 0);
    return is_address ? gp_build(&lo->b, GpOp_IntToPtr, &zero, 1, &part, 1)->results[0] : zero;
}

GpValue *gp_tensor_of_parts(GpLower *lo, const GpIrType *tensor, GpValue *const *parts) {
    uint32_t rank = rank_of(tensor);
    GpValue *made = gp_tile_make_tensor(lo, parts[0], &tensor->shape, parts + 1, parts + 1 + rank);
    gp_map_set(lo->arena, &lo->joined, made, made);
    return made;
}
