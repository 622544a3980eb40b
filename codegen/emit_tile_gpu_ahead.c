/* Rows fetched ahead: a block of a kernel that folds or scans rows asks for the row of the block that will take its
** place.
**
** Such a block waits for its row, computes, and stores: while it computes it has nothing in flight. One
** instruction of one thread brings the row that a later block will read to the second-level cache, so
** that memory is busy meanwhile. With two stages that block comes as many blocks later as run at once,
** with three twice as many. Not done unless it is asked for. */
#include "codegen/emit_tile_gpu.h"

enum { AHEAD_SM = 90, AHEAD_PTX = 80 };

/* The one coordinate that is the block's along the grid's first axis; the others do not change with it. -1:
** none. */
static int block_axis(const GpInst *load) {
    int axis = -1, rank = gp_tile_shape(load)->rank;
    for (int a = 0; a < rank; a++) {
        const GpInst *from = load->operands[1 + a]->inst;
        bool is_block = from && from->op == GpOp_ProgramId && from->axis == 0;
        if (!from || (from->op != GpOp_ProgramId && from->op != GpOp_Const) || (is_block && axis >= 0))
            return -1;
        axis = is_block ? a : axis;
    }
    return axis;
}

/* A run of memory that starts and ends at a multiple of 16 bytes, and that nobody writes. By element
** coordinates it starts anywhere. */
static bool is_row(const GpEmit *e, const GpInst *load) {
    const GpShape *shape = gp_tile_extents(load);
    const GpValue *tensor = load->operands[0];
    for (int a = 0; a + 1 < shape->rank; a++)
        if (shape->dim[a] != 1)
            return false;
    return shape->rank > 0 && !load->by_element && !tensor->inst && gp_gpu_is_aligned(e, tensor) &&
           !e->fn->params[tensor->index].is_written &&
           shape->dim[shape->rank - 1] * gp_elem_info[tensor->type->elem].bytes % GP_GPU_VECTOR_BYTES == 0;
}

/* The later block is there, and its row lies inside. */
static LLVMValueRef is_there(GpEmit *e, const GpInst *load, LLVMValueRef later, LLVMValueRef const *start) {
    const GpTensorArg *t = &e->tensors[load->operands[0]->id];
    LLVMTypeRef i64 = LLVMInt64TypeInContext(e->ctx);
    LLVMValueRef ok = LLVMBuildICmp(e->b, LLVMIntEQ, gp_gpu_thread(e), gp_emit_i32(e, 0), "");
    ok = LLVMBuildAnd(e->b, ok, LLVMBuildICmp(e->b, LLVMIntULT, later, e->grid_dim[0], ""), "");
    for (int a = 0; a < gp_tile_shape(load)->rank; a++) {
        LLVMValueRef end = LLVMBuildAdd(e->b, start[a], gp_emit_i64(e, gp_tile_extents(load)->dim[a]), "");
        LLVMValueRef dim = LLVMBuildSExt(e->b, t->dim[a], i64, "");
        ok = LLVMBuildAnd(e->b, ok, LLVMBuildICmp(e->b, LLVMIntSLE, end, dim, ""), "");
    }
    return ok;
}

static void fetch(GpEmit *e, const GpInst *load, LLVMValueRef const *start) {
    const GpTensorArg *t = &e->tensors[load->operands[0]->id];
    GpElem elem = load->operands[0]->type->elem;
    const GpShape *shape = gp_tile_extents(load);
    LLVMValueRef offset = gp_emit_i64(e, 0);
    for (int a = 0; a < shape->rank; a++)
        offset = LLVMBuildAdd(e->b, offset, gp_gpu_axis_offset(e, t, start[a], a), "");
    LLVMValueRef args[] = {gp_emit_gep(e, elem, t->base, offset),
                           gp_emit_i32(e, shape->dim[shape->rank - 1] * gp_elem_info[elem].bytes),
                           gp_emit_i64(e, 0), gp_emit_bool(e, false)};
    gp_emit_intrinsic(e, "llvm.nvvm.cp.async.bulk.prefetch.L2", NULL, args, 4);
}

void gp_gpu_fetch_ahead(GpEmit *e, const GpInst *load) {
    uint32_t stages = e->fn->schedule.stages;
    bool is_able = e->target->sm >= AHEAD_SM && e->target->ptx >= AHEAD_PTX && !e->async;
    if (stages < 2 || !is_able || load->parent != e->fn->body || !is_row(e, load))
        return;
    uint32_t blocks = gp_tile_gpu_blocks(e) * (stages - 1);
    int axis = blocks ? block_axis(load) : -1;
    if (axis < 0)
        return;
    e->fetches_ahead = true;
    LLVMBasicBlockRef ask = gp_emit_block(e, "ahead"), go_on = gp_emit_block(e, "row");
    LLVMValueRef many = gp_emit_intrinsic(e, "llvm.nvvm.read.ptx.sreg.nsmid", NULL, NULL, 0);
    LLVMValueRef later = LLVMBuildMul(e->b, many, gp_emit_i32(e, blocks), ""), start[GP_MAX_RANK] = {NULL};
    later = LLVMBuildAdd(e->b, e->block_id[0], later, "");
    for (int a = 0; a < gp_tile_shape(load)->rank; a++)
        start[a] = gp_tile_start(e, load, a);
    LLVMValueRef extent = gp_emit_i64(e, gp_tile_extents(load)->dim[axis]);
    start[axis] = LLVMBuildZExt(e->b, later, LLVMInt64TypeInContext(e->ctx), "");
    start[axis] = LLVMBuildMul(e->b, start[axis], extent, "");
    LLVMBuildCondBr(e->b, is_there(e, load, later, start), ask, go_on);
    gp_emit_at(e, ask);
    fetch(e, load, start);
    LLVMBuildBr(e->b, go_on);
    gp_emit_at(e, go_on);
}
