/* Which arguments a kernel writes, and which a launch overwrites whole: every element stored on every path, none read. Such
** a launch ends an older failure of the tensor. Recognises the two forms that kernels have, and
** says no to anything else: a tile stored at the block's own coordinates, and an element stored
** through the bounds check of the thread's linear index. */
#include "dsl/ir/ir.h"

typedef struct Walk {
    const GpIrFn *fn;
    uint64_t read;    /* arguments that are loaded from */
    bool ends_early;  /* some thread or block may end before the stores */
} Walk;

/* The source-level argument that a function parameter belongs to; -1 for other values. */
static int arg_of(const GpIrFn *fn, const GpValue *v) {
    if (!v->region || v->region != fn->body || fn->params[v->index].arg >= 64) return -1;
    return fn->params[v->index].arg;
}

static const GpValue *base_of(const GpValue *ptr) {
    while (ptr->inst && ptr->inst->op == GpOp_PtrAdd) ptr = ptr->inst->operands[0];
    return ptr;
}

static bool reads_memory(GpOp op) {
    return gp_op_info[op].effect == GpEffect_Read || op == GpOp_AtomicRmw || op == GpOp_AtomicCas;
}

static void visit(GpInst *inst, void *ud) {
    Walk *w = ud;
    if (reads_memory(inst->op)) {
        const GpValue *base = base_of(inst->operands[0]);
        int arg = arg_of(w->fn, base);
        bool is_local = base->type->kind == GpIrType_Ptr && base->type->space != GpSpace_Global;
        if (arg >= 0) w->read |= (uint64_t)1 << arg;
        else if (!is_local) w->read = UINT64_MAX; /* an address of unknown origin */
    }
    if (inst->op == GpOp_CheckDiv || inst->op == GpOp_Assert) w->ends_early = true;
    if (inst->op == GpOp_Return && inst->parent != w->fn->body) w->ends_early = true;
}

/* ---- Tile: store_tile at program ids 0, 1, .. with no mask ------------------------------------ */

static bool is_program_id(const GpValue *v, uint32_t axis) {
    return v->inst && v->inst->op == GpOp_ProgramId && v->inst->axis == axis;
}

static bool is_own_tile(const GpInst *store) {
    uint32_t rank = store->operands[0]->type->shape.rank;
    if (store->operand_count != rank + 2 || store->by_element) return false;
    for (uint32_t axis = 0; axis < rank; axis++)
        if (!is_program_id(store->operands[axis + 2], axis)) return false;
    return true;
}

/* ---- SIMT: if index < len { store base[index] } ------------------------------------------------ */

static bool is_cast_of(const GpValue *v, GpOp op) {
    if (v->inst && v->inst->op == GpOp_Cast) v = v->inst->operands[0];
    return v->inst && v->inst->op == op && v->inst->axis == 0;
}

/* block_id * block_dim + thread_id; the launch is one-dimensional when the caller says so. */
static bool is_linear_index(const GpValue *v) {
    if (v->inst && v->inst->op == GpOp_Select) v = v->inst->operands[1];
    if (!v->inst || v->inst->op != GpOp_Add) return false;
    const GpValue *product = v->inst->operands[0];
    return product->inst && product->inst->op == GpOp_Mul &&
           is_cast_of(product->inst->operands[0], GpOp_BlockId) &&
           is_cast_of(product->inst->operands[1], GpOp_BlockDim) &&
           is_cast_of(v->inst->operands[1], GpOp_ThreadId);
}

/* The argument that the branch stores whole; -1: none. */
static int stored_by_branch(const GpIrFn *fn, const GpInst *branch) {
    const GpInst *cmp = branch->operands[0]->inst;
    if (!cmp || cmp->op != GpOp_Cmp || cmp->pred != GpPred_Lt) return -1;
    const GpValue *index = cmp->operands[0], *length = cmp->operands[1];
    int len_arg = arg_of(fn, length);
    if (len_arg < 0 || fn->params[length->index].kind != GpParam_Len || !is_linear_index(index))
        return -1;
    for (const GpInst *i = branch->regions[0]->first; i; i = i->next) {
        if (i->op != GpOp_Store || i->operand_count != 2) continue;
        const GpInst *at = i->operands[0]->inst;
        if (!at || at->op != GpOp_PtrAdd || at->operands[1] != index) continue;
        int arg = arg_of(fn, at->operands[0]);
        if (arg >= 0 && (arg == len_arg || fn->equal_lens)) return arg; /* equal lengths share one value */
    }
    return -1;
}

uint64_t gp_ir_overwrites(const GpIrFn *fn) {
    Walk w = {.fn = fn};
    uint64_t stored = 0;
    gp_ir_walk(fn, GpWalk_Before, visit, &w);
    for (const GpInst *i = fn->body->first; i; i = i->next) {
        int arg = -1;
        if (i->op == GpOp_StoreTile && is_own_tile(i)) arg = arg_of(fn, i->operands[0]);
        else if (i->op == GpOp_If) arg = stored_by_branch(fn, i);
        if (arg >= 0) stored |= (uint64_t)1 << arg;
    }
    return w.ends_early ? 0 : stored & ~w.read;
}

/* ---- Written at all ---------------------------------------------------------------------------- */

typedef struct Origin {
    GpIrFn *fn;
    GpMap seen;        /* values */
    bool is_of_region; /* a region gave it */
} Origin;

/* How many of the first operands it may be derived from: an address is also a number, to be computed with. */
static uint32_t sources(const GpInst *inst) {
    GpOp op = inst->op;
    if (op == GpOp_Window || op == GpOp_MakeTensor || op == GpOp_PtrAdd) return 1;
    bool is_number = gp_op_info[op].effect == GpEffect_Pure && op != GpOp_Dim && op != GpOp_Stride;
    return is_number ? inst->operand_count : 0;
}

static void mark_origin(Origin *o, const GpValue *v) {
    if (gp_map_has(&o->seen, v)) return;
    gp_map_set(o->fn->arena, &o->seen, v, NULL);
    bool has_address = v->type->kind == GpIrType_Tensor || v->type->kind == GpIrType_Ptr;
    if (has_address && arg_of(o->fn, v) >= 0) o->fn->params[v->index].is_written = true;
    o->is_of_region |= v->inst ? v->inst->region_count > 0 : v->region != o->fn->body;
    for (uint32_t i = 0; v->inst && i < sources(v->inst); i++) mark_origin(o, v->inst->operands[i]);
}

/* An address that a region gave may be any that was taken. */
static void mark_taken(GpInst *inst, void *ud) {
    if (inst->op == GpOp_TensorBase) mark_origin(ud, inst->operands[0]);
}

static void mark(GpInst *inst, void *ud) {
    Origin o = {.fn = ud};
    if (gp_op_info[inst->op].effect != GpEffect_Write || !inst->operand_count) return;
    mark_origin(&o, inst->operands[0]);
    if (o.is_of_region) gp_ir_walk(o.fn, GpWalk_Before, mark_taken, &o);
}

void gp_ir_mark_written(GpIrFn *fn) { gp_ir_walk(fn, GpWalk_Before, mark, fn); }

uint64_t gp_ir_written(const GpIrFn *fn) {
    uint64_t args = 0;
    for (uint32_t i = 0; i < fn->param_count; i++)
        if (fn->params[i].is_written && fn->params[i].arg < 64) args |= (uint64_t)1 << fn->params[i].arg;
    return args;
}
