/* Gathers, scatters and atomic updates through addresses: one element, for every backend.
**
** f32 and f64 add, and everything on integers, are LLVM's atomicrmw; sums of narrower floats are
** rounded by us, in a loop of compare-and-swap. On the tile track a scalar access happens once
** for the block. */
#include "codegen/emit.h"

static const LLVMAtomicOrdering orderings[GpOrdering_count] = {
    [GpOrdering_Weak] = LLVMAtomicOrderingNotAtomic,
    [GpOrdering_Relaxed] = LLVMAtomicOrderingMonotonic,
    [GpOrdering_Acquire] = LLVMAtomicOrderingAcquire,
    [GpOrdering_Release] = LLVMAtomicOrderingRelease,
    [GpOrdering_AcqRel] = LLVMAtomicOrderingAcquireRelease,
};

/* NVPTX's names of scopes; "" is the whole system. The CPU has no narrower one. */
static const char *const scopes[GpMemScope_count] = {
    [GpMemScope_Block] = "block", [GpMemScope_Device] = "device", [GpMemScope_System] = ""};

static void set_scope(GpEmit *e, const GpInst *inst, LLVMValueRef v) {
    const char *name = scopes[inst->scope];
    if (e->is_gpu && name[0])
        LLVMSetAtomicSyncScopeID(v, LLVMGetSyncScopeID(e->ctx, name, strlen(name)));
}

typedef struct Element {
    const GpInst *inst;
    GpElem elem;
    LLVMValueRef ptr, value, expected;
} Element;

/* Atomic loads and stores are of integers: no float form is narrower than a byte. */
static LLVMTypeRef bits_type(GpEmit *e, GpElem elem) {
    return LLVMIntTypeInContext(e->ctx, 8u * gp_elem_info[elem].bytes);
}

static LLVMValueRef to_bits(GpEmit *e, GpElem elem, LLVMValueRef v) {
    return LLVMBuildBitCast(e->b, gp_emit_to_mem(e, elem, v), bits_type(e, elem), "");
}

static LLVMValueRef from_bits(GpEmit *e, GpElem elem, LLVMValueRef v) {
    return gp_emit_from_mem(e, elem,
                            LLVMBuildBitCast(e->b, v, gp_emit_mem_type(e, elem), ""));
}

static LLVMValueRef emit_gather(GpEmit *e, void *ud) {
    const Element *x = ud;
    if (x->inst->ordering == GpOrdering_Weak)
        return gp_emit_mem_load(e, x->elem, x->ptr);
    LLVMValueRef v = LLVMBuildLoad2(e->b, bits_type(e, x->elem), x->ptr, "");
    LLVMSetAlignment(v, gp_elem_info[x->elem].bytes);
    LLVMSetOrdering(v, orderings[x->inst->ordering]);
    set_scope(e, x->inst, v);
    return from_bits(e, x->elem, v);
}

static LLVMValueRef emit_scatter(GpEmit *e, void *ud) {
    const Element *x = ud;
    if (x->inst->ordering == GpOrdering_Weak) {
        gp_emit_mem_store(e, x->elem, x->value, x->ptr);
        return NULL;
    }
    LLVMValueRef store = LLVMBuildStore(e->b, to_bits(e, x->elem, x->value), x->ptr);
    LLVMSetAlignment(store, gp_elem_info[x->elem].bytes);
    LLVMSetOrdering(store, orderings[x->inst->ordering]);
    set_scope(e, x->inst, store);
    return NULL;
}

/* The old bits and whether they were the expected ones. */
static LLVMValueRef emit_swap(GpEmit *e, const Element *x, LLVMValueRef want, LLVMValueRef bits) {
    LLVMAtomicOrdering fails = x->inst->ordering == GpOrdering_Acquire ||
                                       x->inst->ordering == GpOrdering_AcqRel
                                   ? LLVMAtomicOrderingAcquire
                                   : LLVMAtomicOrderingMonotonic;
    LLVMValueRef pair = LLVMBuildAtomicCmpXchg(e->b, x->ptr, want, bits,
                                               orderings[x->inst->ordering], fails, false);
    set_scope(e, x->inst, pair);
    return pair;
}

static LLVMValueRef emit_cas(GpEmit *e, void *ud) {
    const Element *x = ud;
    LLVMValueRef pair =
        emit_swap(e, x, to_bits(e, x->elem, x->expected), to_bits(e, x->elem, x->value));
    return from_bits(e, x->elem, LLVMBuildExtractValue(e->b, pair, 0, ""));
}

/* loop: new = old + value, rounded to the type; until no one else changed it */
static LLVMValueRef emit_cas_loop(GpEmit *e, const Element *x) {
    LLVMTypeRef type = bits_type(e, x->elem);
    LLVMBasicBlockRef before = LLVMGetInsertBlock(e->b);
    LLVMBasicBlockRef turn = gp_emit_block(e, "update"), done = gp_emit_block(e, "updated");
    LLVMValueRef first = LLVMBuildLoad2(e->b, type, x->ptr, "");
    LLVMSetAlignment(first, gp_elem_info[x->elem].bytes);
    LLVMSetOrdering(first, LLVMAtomicOrderingMonotonic);
    set_scope(e, x->inst, first);
    LLVMBuildBr(e->b, turn);
    gp_emit_at(e, turn);
    LLVMValueRef old = LLVMBuildPhi(e->b, type, "");
    LLVMValueRef sum = LLVMBuildFAdd(e->b, gp_emit_to_float(e, x->elem, from_bits(e, x->elem, old)),
                                     gp_emit_to_float(e, x->elem, x->value), "");
    LLVMValueRef bits = to_bits(e, x->elem, gp_emit_from_float(e, x->elem, sum));
    LLVMValueRef pair = emit_swap(e, x, old, bits), seen = LLVMBuildExtractValue(e->b, pair, 0, "");
    LLVMBasicBlockRef latch = LLVMGetInsertBlock(e->b);
    LLVMAddIncoming(old, (LLVMValueRef[]){first, seen}, (LLVMBasicBlockRef[]){before, latch}, 2);
    LLVMBuildCondBr(e->b, LLVMBuildExtractValue(e->b, pair, 1, ""), done, turn);
    gp_emit_at(e, done);
    return from_bits(e, x->elem, seen);
}

typedef struct UpdateRow {
    LLVMAtomicRMWBinOp as_signed, as_unsigned;
} UpdateRow;
static const UpdateRow updates[GpAtomic_count] = {
    [GpAtomic_Add] = {LLVMAtomicRMWBinOpAdd, LLVMAtomicRMWBinOpAdd},
    [GpAtomic_And] = {LLVMAtomicRMWBinOpAnd, LLVMAtomicRMWBinOpAnd},
    [GpAtomic_Or] = {LLVMAtomicRMWBinOpOr, LLVMAtomicRMWBinOpOr},
    [GpAtomic_Xor] = {LLVMAtomicRMWBinOpXor, LLVMAtomicRMWBinOpXor},
    [GpAtomic_Max] = {LLVMAtomicRMWBinOpMax, LLVMAtomicRMWBinOpUMax},
    [GpAtomic_Min] = {LLVMAtomicRMWBinOpMin, LLVMAtomicRMWBinOpUMin},
    [GpAtomic_Xchg] = {LLVMAtomicRMWBinOpXchg, LLVMAtomicRMWBinOpXchg},
};

static LLVMValueRef emit_update(GpEmit *e, void *ud) {
    const Element *x = ud;
    const UpdateRow *row = &updates[x->inst->atomic];
    LLVMAtomicRMWBinOp op = gp_elem_is_signed(x->elem) ? row->as_signed : row->as_unsigned;
    bool is_sum = gp_elem_is_float(x->elem) && x->inst->atomic == GpAtomic_Add;
    bool is_native = x->elem == GpElem_F32 || x->elem == GpElem_F64;
    if (is_sum && !is_native)
        return emit_cas_loop(e, x);
    LLVMValueRef v = is_sum ? x->value : to_bits(e, x->elem, x->value);
    v = LLVMBuildAtomicRMW(e->b, is_sum ? LLVMAtomicRMWBinOpFAdd : op, x->ptr, v,
                           orderings[x->inst->ordering], false);
    set_scope(e, x->inst, v);
    return is_sum ? v : from_bits(e, x->elem, v);
}

LLVMValueRef gp_emit_access(GpEmit *e, const GpInst *inst, LLVMValueRef const *x,
                            LLVMValueRef extra) {
    Element a = {.inst = inst, .elem = inst->operands[0]->type->elem};
    LLVMValueRef mask, offset = x[1];
    a.ptr = LLVMBuildGEP2(e->b, gp_emit_mem_type(e, a.elem), x[0], &offset, 1, "");
    LLVMTypeRef type = gp_emit_type(e, a.elem);
    if (inst->op == GpOp_Gather) {
        LLVMValueRef v = gp_emit_guarded(e, x[2], type, emit_gather, &a);
        return LLVMBuildSelect(e->b, x[2], v, x[3], "");
    }
    a.value = inst->op == GpOp_AtomicCas ? x[3] : x[2];
    a.expected = inst->op == GpOp_AtomicCas ? x[2] : NULL;
    mask = inst->op == GpOp_AtomicCas ? x[4] : x[3];
    if (extra)
        mask = LLVMBuildAnd(e->b, mask, extra, "");
    if (inst->op == GpOp_Scatter)
        return gp_emit_guarded(e, mask, NULL, emit_scatter, &a);
    return gp_emit_guarded(e, mask, type, inst->op == GpOp_AtomicCas ? emit_cas : emit_update, &a);
}

void gp_op_lower_access(GpEmit *e, const GpInst *inst) {
    bool is_tile = inst->operands[1]->type->kind == GpIrType_Tile;
    if (e->is_tile && e->is_gpu) {
        gp_tile_gpu_access(e, inst);
        return;
    }
    if (is_tile) {
        gp_tile_cpu_access(e, inst);
        return;
    }
    LLVMValueRef x[5];
    for (uint32_t i = 0; i < inst->operand_count; i++)
        x[i] = gp_emit_get(e, inst->operands[i]);
    LLVMValueRef v = gp_emit_access(e, inst, x, NULL);
    if (v)
        gp_emit_set(e, inst->results[0], v);
}
