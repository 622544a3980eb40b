/* SIMT operations: indices of the thread, addresses, loads and stores.
**
** Also recognises the global index block_id * block_dim + thread_id of axis x. On the CPU a block
** of a one-dimensional grid whose indices all lie below every length runs a copy of the body in
*which comparing that index
** with a length is true, so that the loop over threads vectorises. */
#include "codegen/emit.h"

static const GpValue *strip_casts(const GpValue *v) {
    while (v->inst && v->inst->op == GpOp_Cast && gp_elem_is_integer(v->type->elem) &&
           gp_elem_is_integer(v->inst->operands[0]->type->elem) &&
           gp_elem_info[v->type->elem].bits >= 32)
        v = v->inst->operands[0];
    return v;
}

static bool is_op(const GpValue *v, GpOp op, uint8_t axis) {
    v = strip_casts(v);
    return v->inst && v->inst->op == op && v->inst->axis == axis;
}

static bool is_axis_x(const GpValue *v, GpOp op) { return is_op(v, op, 0); }

static bool is_block_dim(const GpIrFn *fn, const GpValue *v) {
    const GpValue *x = strip_casts(v);
    if (x->inst && x->inst->op == GpOp_Const && fn->block[0])
        return x->inst->imm.u == fn->block[0];
    return is_axis_x(v, GpOp_BlockDim);
}

static bool is_block_start(const GpIrFn *fn, const GpValue *v) {
    v = strip_casts(v);
    if (!v->inst || v->inst->op != GpOp_Mul)
        return false;
    GpValue *const *x = v->inst->operands;
    return (is_axis_x(x[0], GpOp_BlockId) && is_block_dim(fn, x[1])) ||
           (is_axis_x(x[1], GpOp_BlockId) && is_block_dim(fn, x[0]));
}

static bool is_one(const GpValue *v) {
    return v->inst && v->inst->op == GpOp_Const && v->inst->imm.u == 1;
}

/* The grid has one row and one layer: true in every interior copy. */
static bool is_linear_test(const GpValue *v) {
    if (!v->inst || v->inst->op != GpOp_Cmp || v->inst->pred != GpPred_Eq)
        return false;
    GpValue *const *x = v->inst->operands;
    const GpValue *either = is_one(x[1]) ? x[0] : is_one(x[0]) ? x[1] : NULL;
    if (!either || !either->inst || either->inst->op != GpOp_Or)
        return false;
    GpValue *const *dim = either->inst->operands;
    return (is_op(dim[0], GpOp_GridDim, 1) && is_op(dim[1], GpOp_GridDim, 2)) ||
           (is_op(dim[0], GpOp_GridDim, 2) && is_op(dim[1], GpOp_GridDim, 1));
}

static bool is_global_index(const GpIrFn *fn, const GpValue *v) {
    v = strip_casts(v);
    if (v->inst && v->inst->op == GpOp_Select && is_linear_test(v->inst->operands[0]))
        v = strip_casts(v->inst->operands[1]);
    if (!v->inst || v->inst->op != GpOp_Add)
        return false;
    GpValue *const *x = v->inst->operands;
    return (is_block_start(fn, x[0]) && is_axis_x(x[1], GpOp_ThreadId)) ||
           (is_block_start(fn, x[1]) && is_axis_x(x[0], GpOp_ThreadId));
}

static bool is_length(const GpIrFn *fn, const GpValue *v) {
    v = strip_casts(v);
    return !v->inst && v->region == fn->body && fn->params[v->index].kind == GpParam_Len;
}

bool gp_simt_is_in_range(const GpEmit *e, const GpValue *index, const GpValue *limit) {
    return is_global_index(e->fn, index) && is_length(e->fn, limit);
}

typedef struct RangeSearch {
    const GpIrFn *fn;
    bool found;
} RangeSearch;

static void note_range_check(GpInst *inst, void *ud) {
    RangeSearch *search = ud;
    if (inst->op != GpOp_CheckIndex && (inst->op != GpOp_Cmp || inst->pred != GpPred_Lt))
        return;
    search->found |=
        is_global_index(search->fn, inst->operands[0]) && is_length(search->fn, inst->operands[1]);
}

bool gp_simt_has_range_check(const GpIrFn *fn) {
    RangeSearch search = {fn, false};
    gp_ir_walk(fn, GpWalk_Before, note_range_check, &search);
    return search.found;
}

/* The interior copy is entered only where the block's last index fits in 32 bits. */
void gp_simt_note_no_wrap(GpEmit *e, const GpInst *inst) {
    const GpValue *v = inst->results[0];
    if (inst->op == GpOp_Add ? !is_global_index(e->fn, v) : !is_block_start(e->fn, v))
        return;
    LLVMValueRef x = gp_emit_get(e, v);
    if (!LLVMIsAInstruction(x))
        return;
    LLVMOpcode opcode = LLVMGetInstructionOpcode(x);
    if (opcode == LLVMAdd || opcode == LLVMMul)
        LLVMSetNUW(x, true);
}

typedef struct Access {
    GpElem elem;
    LLVMValueRef ptr, value;
} Access;

static LLVMValueRef emit_load(GpEmit *e, void *ud) {
    const Access *a = ud;
    return gp_emit_mem_load(e, a->elem, a->ptr);
}

static LLVMValueRef emit_store(GpEmit *e, void *ud) {
    const Access *a = ud;
    gp_emit_mem_store(e, a->elem, a->value, a->ptr);
    return NULL;
}

static void lower_load(GpEmit *e, const GpInst *inst) {
    Access a = {inst->results[0]->type->elem, gp_emit_get(e, inst->operands[0]), NULL};
    LLVMValueRef v = inst->operand_count == 1
                         ? emit_load(e, &a)
                         : gp_emit_guarded(e, gp_emit_get(e, inst->operands[1]),
                                           gp_emit_type(e, a.elem), emit_load, &a);
    gp_emit_set(e, inst->results[0], v);
}

static void lower_store(GpEmit *e, const GpInst *inst) {
    Access a = {inst->operands[1]->type->elem, gp_emit_get(e, inst->operands[0]),
                gp_emit_get(e, inst->operands[1])};
    if (inst->operand_count == 2)
        emit_store(e, &a);
    else
        gp_emit_guarded(e, gp_emit_get(e, inst->operands[2]), NULL, emit_store, &a);
}

static void lower_address(GpEmit *e, const GpInst *inst) {
    GpElem elem = inst->results[0]->type->elem;
    if (inst->op == GpOp_IntToPtr || inst->op == GpOp_PtrToInt) {
        LLVMValueRef x = gp_emit_get(e, inst->operands[0]);
        LLVMTypeRef i64 = LLVMInt64TypeInContext(e->ctx);
        gp_emit_set(e, inst->results[0],
                    inst->op == GpOp_PtrToInt
                        ? LLVMBuildPtrToInt(e->b, x, i64, "")
                        : LLVMBuildIntToPtr(e->b, x, gp_emit_ptr_type(e, GpSpace_Global), ""));
        return;
    }
    if (inst->op == GpOp_Slot) {
        LLVMValueRef slot =
            gp_emit_alloca(e, gp_emit_mem_type(e, elem), inst->imm.u, gp_elem_info[elem].bytes);
        gp_emit_set(e, inst->results[0], slot);
        return;
    }
    LLVMValueRef base = gp_emit_get(e, inst->operands[0]), at = gp_emit_get(e, inst->operands[1]);
    gp_emit_set(e, inst->results[0], gp_emit_gep(e, elem, base, at));
}

/* One variable for each name; it starts as the number and is never set again. */
static void lower_global(GpEmit *e, const GpInst *inst) {
    GpElem elem = inst->results[0]->type->elem;
    const char *name = gp_arena_printf(e->arena, "gp_global_%s", inst->text);
    LLVMValueRef global = LLVMGetNamedGlobal(e->module, name);
    if (!global) {
        LLVMTypeRef type = gp_emit_mem_type(e, elem);
        unsigned space = LLVMGetPointerAddressSpace(gp_emit_ptr_type(e, GpSpace_Global));
        global = LLVMAddGlobalInAddressSpace(e->module, type, name, space);
        LLVMSetInitializer(global, gp_emit_to_mem(e, elem, gp_emit_scalar(e, elem, inst->imm)));
        LLVMSetLinkage(global, LLVMInternalLinkage);
        LLVMSetAlignment(global, 8);
    }
    gp_emit_set(e, inst->results[0], global);
}

static void lower_axis(GpEmit *e, const GpInst *inst, LLVMValueRef *from) {
    gp_emit_set(e, inst->results[0], from[inst->axis]);
}

void gp_op_lower_simt(GpEmit *e, const GpInst *inst) {
    if (inst->op == GpOp_ThreadId)
        lower_axis(e, inst, e->thread_id);
    else if (inst->op == GpOp_BlockId)
        lower_axis(e, inst, e->block_id);
    else if (inst->op == GpOp_BlockDim)
        lower_axis(e, inst, e->block_dim);
    else if (inst->op == GpOp_GridDim)
        lower_axis(e, inst, e->grid_dim);
    else if (inst->op == GpOp_Global)
        lower_global(e, inst);
    else if (inst->op == GpOp_Load)
        lower_load(e, inst);
    else if (inst->op == GpOp_Store)
        lower_store(e, inst);
    else
        lower_address(e, inst);
}
