/* The interpreter's SIMT operations, and the indices that both tracks read. Threads run one after
** another, each with fresh local memory. */
#include "dsl/ir/interp.h"

static const uint32_t *get_index(const GpInterp *in, GpOp op) {
    if (op == GpOp_ProgramId || op == GpOp_BlockId) return in->block;
    if (op == GpOp_NumPrograms || op == GpOp_GridDim) return in->grid->grid;
    if (op == GpOp_ThreadId) return in->thread;
    gp_assert(op == GpOp_BlockDim);
    return in->grid->block;
}

GpFlow gp_interp_Axis(GpInterp *in, const GpInst *inst) {
    gp_interp_result(in, inst)->u = get_index(in, inst->op)[inst->axis];
    return GpFlow_Next;
}

static uint8_t *get_address(const GpInterp *in, const GpInst *inst) {
    return (uint8_t *)(uintptr_t)gp_interp_get(in, inst, 0).u;
}

/* The mask, which is operand `at` when it is there. */
static bool is_on(const GpInterp *in, const GpInst *inst, uint32_t at) {
    return inst->operand_count <= at || gp_interp_get(in, inst, at).u != 0;
}

GpFlow gp_interp_PtrAdd(GpInterp *in, const GpInst *inst) {
    uint64_t bytes = gp_elem_info[inst->results[0]->type->elem].bytes;
    gp_interp_result(in, inst)->u =
        gp_interp_get(in, inst, 0).u + gp_interp_get(in, inst, 1).u * bytes;
    return GpFlow_Next;
}

/* One memory per thread and instruction, however often it is executed. */
GpFlow gp_interp_Slot(GpInterp *in, const GpInst *inst) {
    GpScalar *result = gp_interp_result(in, inst);
    if (result->u) return GpFlow_Next;
    size_t bytes = (size_t)inst->imm.i * gp_elem_info[inst->results[0]->type->elem].bytes;
    GpInterpSlot slot = {gp_arena_alloc(in->arena, bytes), bytes};
    GP_PUSH(in->arena, &in->slots, slot);
    result->u = (uint64_t)(uintptr_t)slot.memory;
    return GpFlow_Next;
}

GpFlow gp_interp_Load(GpInterp *in, const GpInst *inst) {
    GpElem elem = inst->results[0]->type->elem;
    GpScalar v = {.elem = elem};
    if (is_on(in, inst, 1)) v = gp_scalar_load(elem, get_address(in, inst));
    *gp_interp_result(in, inst) = v;
    return GpFlow_Next;
}

GpFlow gp_interp_Store(GpInterp *in, const GpInst *inst) {
    if (is_on(in, inst, 2)) gp_scalar_store(gp_interp_get(in, inst, 1), get_address(in, inst));
    return GpFlow_Next;
}
