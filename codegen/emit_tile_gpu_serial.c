/* Reductions and scans whose body may not be regrouped: `acc + x * x` is no total of totals. The
** tile goes through shared memory, and is folded in order along the axis, as the interpreter does: of a reduction
** each thread folds what it holds a result of, of a scan it takes some of the lines. */
#include "codegen/emit_tile_gpu.h"

/* Of the accumulator and the element, one each. */
static bool takes_both(const GpRegion *body, GpValue *const *operands) {
    for (int i = 0; i < 2; i++)
        if (operands[i] != body->params[0] && operands[i] != body->params[1])
            return false;
    return operands[0] != operands[1];
}

/* The accumulator or the element, the greater or the lesser. */
static bool is_choice(const GpRegion *body) {
    const GpInst *cmp = body->first, *select = cmp->next;
    return cmp->op == GpOp_Cmp && cmp->pred != GpPred_Eq && cmp->pred != GpPred_Ne && takes_both(body, cmp->operands) &&
           select->op == GpOp_Select && select->next == body->last && select->operands[0] == cmp->results[0] &&
           takes_both(body, select->operands + 1) && body->last->operands[0] == select->results[0];
}

/* One op of the accumulator and the element that is associative and commutative. */
bool gp_gpu_is_regroupable(const GpInst *inst) {
    const GpRegion *body = inst->regions[0];
    const GpInst *op = body->first, *yield = body->last;
    if (op != yield && is_choice(body))
        return true;
    if (op->next != yield || op->result_count != 1 || yield->operands[0] != op->results[0])
        return false;
    if (op->operand_count != 2 || !takes_both(body, op->operands))
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
    int64_t numel = gp_ir_tile_numel(&s->shape);
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

/* Folds the line through `c`, from the axis's start or end; a scan's prefixes take the elements' places. */
static LLVMValueRef fold_line(GpEmit *e, const Staged *st, LLVMValueRef const *c) {
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
    if (st->inst->op == GpOp_Scan)
        gp_emit_mem_store(e, st->elem, next, from);
    LLVMValueRef count = gp_emit_i64(e, st->shape->dim[axis]);
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
        out.at[r] = fold_line(e, &st, line);
    }
    e->bound[inst->results[0]->id] = out;
}

/* The first place of the tile's line of that number. */
static void line_coords(GpEmit *e, const Staged *st, LLVMValueRef line, LLVMValueRef *c) {
    for (int a = st->shape->rank - 1; a >= 0; a--) {
        LLVMValueRef dim = gp_emit_i64(e, a == st->inst->axis ? 1 : st->shape->dim[a]);
        c[a] = LLVMBuildURem(e->b, line, dim, "");
        line = LLVMBuildUDiv(e->b, line, dim, "");
    }
}

static void scan_lines(GpEmit *e, const Staged *st) {
    int64_t threads = gp_tile_gpu_threads(e), lines = gp_ir_tile_numel(st->shape) / st->shape->dim[st->inst->axis];
    LLVMValueRef thread = LLVMBuildZExt(e->b, gp_gpu_thread(e), LLVMInt64TypeInContext(e->ctx), "");
    for (int64_t first = 0; first < lines; first += threads) {
        LLVMBasicBlockRef line = gp_emit_block(e, "line"), done = gp_emit_block(e, "scanned");
        LLVMValueRef number = LLVMBuildAdd(e->b, thread, gp_emit_i64(e, first), ""), c[GP_MAX_RANK] = {NULL};
        LLVMBuildCondBr(e->b, LLVMBuildICmp(e->b, LLVMIntULT, number, gp_emit_i64(e, lines), ""), line, done);
        gp_emit_at(e, line);
        line_coords(e, st, number, c);
        (void)fold_line(e, st, c);
        LLVMBuildBr(e->b, done);
        gp_emit_at(e, done);
    }
    gp_gpu_barrier(e);
}

void gp_gpu_scan_serially(GpEmit *e, const GpInst *inst) {
    Staged st = stage(e, inst);
    scan_lines(e, &st);
    const GpShapeLayout *s = gp_gpu_layout_of(e, inst->results[0]);
    GpBound out = gp_emit_bound_make(e, gp_layout_registers(s->layout));
    for (uint32_t r = 0; r < out.count; r++) {
        LLVMValueRef c[GP_MAX_RANK];
        gp_gpu_coords(e, s, r, c);
        out.at[r] = gp_emit_mem_load(e, st.elem, gp_emit_gep(e, st.elem, st.at, gp_tile_linear(e, st.shape, c)));
    }
    e->bound[inst->results[0]->id] = out;
}
