/* Tensors that asynchronous copies reach: arguments, and slices of one on one axis.
**
** Beyond a slice its tensor goes on, but loads find zeros there and stores leave it: maps of slices have axes for that
** (GP_MAP_SLICE_END). The innermost axis has no stride that two axes could share. */
#include "codegen/emit_i32.h"
#include "codegen/pipe.h"

enum { BEYOND = GP_MAP_SLICE_END /* no tensor has this coordinate */ };

static bool is_whole_axis(const GpInst *slice, int axis) {
    const GpValue *tensor = slice->operands[0], *extent = slice->operands[1 + tensor->type->shape.rank + axis];
    GpScalar start, n;
    if (!gp_ir_const(slice->operands[1 + axis], &start) || start.i != 0)
        return false;
    if (gp_ir_const(extent, &n))
        return n.i == tensor->type->shape.dim[axis];
    return extent->inst && extent->inst->op == GpOp_Dim && extent->inst->operands[0] == tensor &&
           extent->inst->axis == axis;
}

/* The axis of the slice, or GP_MAX_RANK: there are more. */
static int slice_axis(const GpInst *slice) {
    int rank = slice->results[0]->type->shape.rank, axis = rank;
    for (int a = 0; a < rank; a++) {
        if (is_whole_axis(slice, a))
            continue;
        if (axis < rank)
            return GP_MAX_RANK;
        axis = a;
    }
    return axis;
}

bool gp_pipe_tensor(const GpEmit *e, const GpInst *access, GpPipeTensor *out) {
    const GpValue *tensor = access->operands[0];
    int rank = gp_tile_shape(access)->rank;
    *out = (GpPipeTensor){.rank = rank};
    if (tensor->inst && tensor->inst->op == GpOp_Window) {
        int axis = slice_axis(tensor->inst);
        if (axis + 1 >= rank && axis != rank)
            return false;
        out->slice = axis < rank ? tensor->inst : NULL;
        out->axis = axis;
        out->rank += out->slice ? GP_MAP_SLICE_MORE : 0;
        tensor = tensor->inst->operands[0];
    }
    if (tensor->inst || tensor->region != e->fn->body || (out->slice && access->by_element))
        return false;
    out->param = &e->fn->params[tensor->index];
    return out->param->aligned16 && out->param->unit_stride && out->rank <= GP_PIPE_MOST_RANK;
}

/* What does not fit 32 bits lies beyond every tensor. */
static LLVMValueRef narrow(GpEmit *e, LLVMValueRef at) {
    LLVMValueRef low = LLVMBuildTrunc(e->b, at, LLVMInt32TypeInContext(e->ctx), "");
    LLVMValueRef same = LLVMBuildSExt(e->b, low, LLVMTypeOf(at), "");
    LLVMValueRef fits = LLVMBuildICmp(e->b, LLVMIntEQ, same, at, "");
    return LLVMBuildSelect(e->b, fits, low, gp_emit_i32(e, BEYOND), "");
}

/* A row in front of the slice would be one of the tensor: its tile is beyond. */
static void move_into_slice(GpEmit *e, const GpPipeTensor *t, int rank, LLVMValueRef *out) {
    const GpValue *const *of = (const GpValue *const *)t->slice->operands + 1 + t->axis;
    LLVMValueRef start = gp_emit_get(e, of[0]), extent = gp_emit_get(e, of[rank]), *row = &out[rank - 1 - t->axis];
    LLVMValueRef is_in_front = LLVMBuildICmp(e->b, LLVMIntSLT, *row, gp_emit_i32(e, 0), "");
    *row = LLVMBuildSelect(e->b, is_in_front, gp_emit_i32(e, BEYOND), *row, "");
    *row = gp_i32_add(e, *row, LLVMBuildSub(e->b, gp_emit_i32(e, GP_MAP_SLICE_END), extent, ""));
    out[rank] = gp_i32_add(e, start, extent);
    out[rank + 1] = gp_emit_i32(e, GP_MAP_SLICE_END);
}

int gp_pipe_coords(GpEmit *e, const GpInst *inst, LLVMValueRef *out) {
    GpPipeTensor t;
    int rank = gp_tile_shape(inst)->rank;
    const GpValue *mask = gp_tile_mask(inst);
    (void)gp_pipe_tensor(e, inst, &t);
    for (int a = 0; a < rank; a++)
        out[rank - 1 - a] = narrow(e, gp_tile_start(e, inst, a));
    if (mask)
        out[rank - 1] = LLVMBuildSelect(e->b, gp_emit_get(e, mask), out[rank - 1],
                                        gp_emit_i32(e, BEYOND), "");
    if (t.slice)
        move_into_slice(e, &t, rank, out);
    return t.rank;
}
