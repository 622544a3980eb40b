/* Intrinsics of cuda_device: thread indices and the slice that only a witness opens. */
#include "dsl/lower.h"

static GpValue *axis_op(GpLower *lo, GpOp op, uint32_t axis) {
    const GpIrType *t = gp_ir_scalar(lo->fn, GpElem_U32);
    GpInst *inst = gp_build(&lo->b, op, NULL, 0, &t, 1);
    inst->axis = (uint8_t)axis;
    return inst->results[0];
}

/* threadIdx_x and its eleven sisters: which register, then which axis. */
GpVal gp_lower_ThreadAxis(GpLower *lo, const GpLowerCall *call) {
    static const struct {
        const char *name;
        GpOp op;
    } rows[] = {
        {"threadIdx_", GpOp_ThreadId},
        {"blockIdx_", GpOp_BlockId},
        {"blockDim_", GpOp_BlockDim},
        {"gridDim_", GpOp_GridDim},
    };
    const char *name = call->def->name->name;
    for (size_t i = 0; i < GP_COUNT(rows); i++) {
        size_t n = strlen(rows[i].name);
        if (!strncmp(name, rows[i].name, n) && name[n] >= 'x' && name[n] <= 'z' && !name[n + 1])
            return gp_call_result(lo, call, axis_op(lo, rows[i].op, (uint32_t)(name[n] - 'x')));
    }
    gp_unreachable();
}

static GpValue *widen(GpLower *lo, GpValue *v) { return gp_lower_convert(lo, v, GpElem_U64); }

/* The linear index is unique only in one dimension. A contract promises that; else the launch is refused, and code
** that is launched otherwise gives every thread the index that no slice has. */
GpVal gp_lower_ThreadIndex1D(GpLower *lo, const GpLowerCall *call) {
    GpValue *none = gp_build_int(&lo->b, GpElem_U64, -1);
    if (lo->kernel->kernel.domain != 1)
        lo->fn->linear = call->span;
    if (lo->fn->block[1] > 1 || lo->fn->block[2] > 1)
        return gp_call_result(lo, call, none);
    GpValue *block = widen(lo, axis_op(lo, GpOp_BlockId, 0));
    GpValue *size = widen(lo, axis_op(lo, GpOp_BlockDim, 0));
    GpValue *thread = widen(lo, axis_op(lo, GpOp_ThreadId, 0));
    GpValue *index = gp_build2(&lo->b, GpOp_Add, gp_build2(&lo->b, GpOp_Mul, block, size), thread);
    if (lo->kernel->kernel.domain == 1)
        return gp_call_result(lo, call, index);
    GpValue *rows = axis_op(lo, GpOp_GridDim, 1);
    GpValue *blocks = gp_build2(&lo->b, GpOp_Or, rows, axis_op(lo, GpOp_GridDim, 2));
    GpValue *is_linear =
        gp_build_cmp(&lo->b, GpPred_Eq, blocks, gp_build_int(&lo->b, GpElem_U32, 1));
    return gp_call_result(lo, call, gp_build_select(&lo->b, is_linear, index, none));
}

GpVal gp_lower_ThreadIndexGet(GpLower *lo, const GpLowerCall *call) {
    return gp_call_result(lo, call, gp_call_scalar(lo, call, 0));
}

GpVal gp_lower_ThreadIndexInBounds(GpLower *lo, const GpLowerCall *call) {
    GpValue *index = gp_call_scalar(lo, call, 0), *len = gp_call_scalar(lo, call, 1);
    return gp_call_result(lo, call, gp_build_cmp(&lo->b, GpPred_Lt, index, len));
}

/* The element's address as a reference: (address, valid). */
static void put_element(GpLower *lo, const GpVal *slice, GpValue *index, GpLeaf *ref) {
    ref[0].value = gp_build2(&lo->b, GpOp_PtrAdd, gp_lower_get(lo, slice, 0), index);
    ref[1].value = NULL;
}

GpVal gp_lower_DisjointGetMut(GpLower *lo, const GpLowerCall *call) {
    GpVal slice = gp_call_arg(lo, call, 0), out = gp_lower_undef(lo, call->type);
    GpValue *index = gp_call_scalar(lo, call, 1);
    if (slice.count != 2 || out.count != 3)
        return out;
    out.at[0].value = gp_build_cmp(&lo->b, GpPred_Lt, index, gp_lower_get(lo, &slice, 1));
    put_element(lo, &slice, index, out.at + 1);
    return out;
}

GpVal gp_lower_DisjointGetUnchecked(GpLower *lo, const GpLowerCall *call) {
    GpVal slice = gp_call_arg(lo, call, 0), out = gp_lower_undef(lo, call->type);
    GpValue *index = widen(lo, gp_call_scalar(lo, call, 1));
    if (slice.count == 2 && out.count == 2)
        put_element(lo, &slice, index, out.at);
    return out;
}

static GpValue *len_of(GpLower *lo, const GpLowerCall *call) {
    GpVal slice = gp_call_arg(lo, call, 0);
    gp_assert(slice.count == 2);
    return gp_lower_get(lo, &slice, 1);
}

GpVal gp_lower_DisjointLen(GpLower *lo, const GpLowerCall *call) {
    return gp_call_result(lo, call, len_of(lo, call));
}

GpVal gp_lower_DisjointIsEmpty(GpLower *lo, const GpLowerCall *call) {
    GpValue *zero = gp_build_int(&lo->b, GpElem_U64, 0);
    return gp_call_result(lo, call, gp_build_cmp(&lo->b, GpPred_Eq, len_of(lo, call), zero));
}
