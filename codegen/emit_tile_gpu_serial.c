/* Reductions and scans whose body may not be regrouped: `acc + x * x` is no total of totals. The
** tile goes through shared memory, and each thread folds what it holds a result of, in order along
** the axis, as the interpreter does. */
#include "codegen/emit_tile_gpu.h"

/* One op of the accumulator and the element that is associative and commutative. */
bool gp_gpu_is_regroupable(const GpInst *inst) {
    const GpRegion *body = inst->regions[0];
    const GpInst *op = body->first, *yield = body->last;
    if (!op || op->next != yield || op->result_count != 1 || yield->operands[0] != op->results[0])
        return false;
    if (op->operand_count != 2 || op->operands[0] == op->operands[1])
        return false;
    for (int i = 0; i < 2; i++)
        if (op->operands[i] != body->params[0] && op->operands[i] != body->params[1])
            return false;
    return op->op == GpOp_Add || op->op == GpOp_Mul || op->op == GpOp_Min || op->op == GpOp_Max ||
           op->op == GpOp_And || op->op == GpOp_Or || op->op == GpOp_Xor;
}

/* The operand of a fold in shared memory, row-major, seen by every thread. */
typedef struct Staged {
    const GpInst *inst;
    const GpShape *shape;
    GpElem elem;
    LLVMValueRef at;
} Staged;

static Staged stage(GpEmit *e, const GpInst *inst) {
    const GpValue *v = inst->operands[0];
    const GpShapeLayout *s = gp_gpu_layout_of(e, v);
    Staged st = {inst, &s->shape, v->type->elem, NULL};
    int64_t numel = 0;
    gp_assert(gp_shape_numel(&s->shape, &numel));
    st.at = gp_gpu_shared(e, (uint64_t)numel * gp_elem_info[st.elem].bytes, numel, st.elem);
    gp_gpu_barrier(e);
    for (uint32_t r = 0; r < gp_layout_registers(s->layout); r++) {
        LLVMValueRef c[GP_MAX_RANK];
        gp_gpu_coords(e, s, r, c);
        LLVMValueRef to = gp_emit_gep(e, st.elem, st.at, gp_tile_linear(e, &s->shape, c));
        GpPlace p = {st.elem, to, s->is_owner, gp_gpu_register(e, v, r), NULL};
        gp_tile_store(e, &p);
    }
    gp_gpu_barrier(e);
    return st;
}

/* Folds `count` (at least one) elements of the line through `c`, from the axis's start or end. */
static LLVMValueRef fold_line(GpEmit *e, const Staged *st, LLVMValueRef const *c, LLVMValueRef count) {
    LLVMTypeRef i64 = LLVMInt64TypeInContext(e->ctx);
    LLVMValueRef identity = gp_emit_get(e, st->inst->operands[1]), at[GP_MAX_RANK];
    LLVMBasicBlockRef before = LLVMGetInsertBlock(e->b);
    LLVMBasicBlockRef loop = gp_emit_block(e, "fold"), done = gp_emit_block(e, "folded");
    uint8_t axis = st->inst->axis;
    LLVMBuildBr(e->b, loop);
    gp_emit_at(e, loop);
    LLVMValueRef k = LLVMBuildPhi(e->b, i64, ""), acc = LLVMBuildPhi(e->b, LLVMTypeOf(identity), "");
    memcpy(at, c, sizeof at);
    at[axis] = k;
    if (st->inst->is_reverse)
        at[axis] = LLVMBuildSub(e->b, gp_emit_i64(e, st->shape->dim[axis] - 1), k, "");
    LLVMValueRef from = gp_emit_gep(e, st->elem, st->at, gp_tile_linear(e, st->shape, at));
    LLVMValueRef next = gp_emit_combination(e, st->inst, acc, gp_emit_mem_load(e, st->elem, from));
    LLVMValueRef after = LLVMBuildAdd(e->b, k, gp_emit_i64(e, 1), "");
    LLVMBasicBlockRef end = LLVMGetInsertBlock(e->b);
    LLVMBuildCondBr(e->b, LLVMBuildICmp(e->b, LLVMIntULT, after, count, ""), loop, done);
    LLVMAddIncoming(k, (LLVMValueRef[]){gp_emit_i64(e, 0), after}, (LLVMBasicBlockRef[]){before, end}, 2);
    LLVMAddIncoming(acc, (LLVMValueRef[]){identity, next}, (LLVMBasicBlockRef[]){before, end}, 2);
    gp_emit_at(e, done);
    return next;
}

void gp_gpu_fold_serially(GpEmit *e, const GpInst *inst) {
    Staged st = stage(e, inst);
    const GpShapeLayout *to = gp_gpu_layout_of(e, inst->results[0]);
    GpBound out = gp_emit_bound_make(e, gp_layout_registers(to->layout));
    for (uint32_t r = 0; r < out.count; r++) {
        LLVMValueRef c[GP_MAX_RANK], line[GP_MAX_RANK] = {NULL};
        gp_gpu_coords(e, to, r, c);
        for (int a = 0, k = 0; a < st.shape->rank; a++)
            line[a] = a == inst->axis ? gp_emit_i64(e, 0) : c[k++];
        out.at[r] = fold_line(e, &st, line, gp_emit_i64(e, st.shape->dim[inst->axis]));
    }
    e->bound[inst->results[0]->id] = out;
}

void gp_gpu_scan_serially(GpEmit *e, const GpInst *inst) {
    Staged st = stage(e, inst);
    const GpShapeLayout *s = gp_gpu_layout_of(e, inst->results[0]);
    GpBound out = gp_emit_bound_make(e, gp_layout_registers(s->layout));
    for (uint32_t r = 0; r < out.count; r++) {
        LLVMValueRef c[GP_MAX_RANK];
        gp_gpu_coords(e, s, r, c);
        LLVMValueRef last = c[inst->axis];
        if (inst->is_reverse)
            last = LLVMBuildSub(e->b, gp_emit_i64(e, st.shape->dim[inst->axis] - 1), last, "");
        out.at[r] = fold_line(e, &st, c, LLVMBuildAdd(e->b, last, gp_emit_i64(e, 1), ""));
    }
    e->bound[inst->results[0]->id] = out;
}
