/* The launch ABI of a function: what its parameters are once tensors are expanded. */
#include "dsl/ir/ir.h"

typedef struct Layouter {
    GpIrFn const *fn;
    GpImageParam *to;
    uint32_t count, bytes;
} Layouter;

static void add(Layouter *l, GpParamKind kind, uint8_t arg, uint8_t axis, uint8_t bytes) {
    uint64_t offset = gp_align_up(l->bytes, bytes);
    /* A driver takes 4 KiB of parameters at most, older ones less. */
    if (offset + bytes > UINT16_MAX) gp_throw(gp_arena_session(l->fn->arena), GpStatus_Limit);
    l->to[l->count++] = (GpImageParam){kind, arg, axis, bytes, (uint16_t)offset};
    l->bytes = (uint32_t)offset + bytes;
}

static void add_tensor(Layouter *l, const GpIrParam *param, const GpIrType *type) {
    uint8_t rank = type->shape.rank;
    add(l, GpParam_Base, param->arg, 0, 8);
    for (uint8_t a = 0; a < rank; a++)
        if (type->shape.dim[a] == GP_DYNAMIC) add(l, GpParam_Dim, param->arg, a, 4);
    for (uint8_t a = 0; a < rank; a++)
        if (a + 1 < rank || !param->unit_stride) add(l, GpParam_Stride, param->arg, a, 8);
}

GpImageParam *gp_ir_abi(const GpIrFn *fn, GpArena *arena, uint32_t *count, uint32_t *bytes) {
    size_t most = (size_t)fn->param_count * (1 + 2 * GP_MAX_RANK) + 1;
    Layouter l = {.fn = fn, .to = GP_NEW_ARRAY(arena, GpImageParam, most)};
    for (uint32_t i = 0; i < fn->param_count; i++) {
        const GpIrType *type = fn->body->params[i]->type;
        const GpIrParam *param = &fn->params[i];
        if (type->kind == GpIrType_Tensor) add_tensor(&l, param, type);
        else if (type->kind == GpIrType_Ptr) add(&l, GpParam_Base, param->arg, 0, 8);
        else add(&l, param->kind, param->arg, 0, gp_elem_info[type->elem].bytes);
    }
    if (fn->site_count) add(&l, GpParam_Mailbox, 0, 0, 8);
    *count = l.count;
    *bytes = l.bytes;
    return l.to;
}
