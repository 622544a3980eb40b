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

/* ptx: the operation; kinds: the letter of its type for unsigned, signed and float */
typedef struct UpdateRow {
    LLVMAtomicRMWBinOp as_signed, as_unsigned;
    const char *ptx;
    char kinds[4];
} UpdateRow;
static const UpdateRow updates[GpAtomic_count] = {
    [GpAtomic_Add] = {LLVMAtomicRMWBinOpAdd, LLVMAtomicRMWBinOpAdd, "add", "uuf"},
    [GpAtomic_And] = {LLVMAtomicRMWBinOpAnd, LLVMAtomicRMWBinOpAnd, "and", "bbb"},
    [GpAtomic_Or] = {LLVMAtomicRMWBinOpOr, LLVMAtomicRMWBinOpOr, "or", "bbb"},
    [GpAtomic_Xor] = {LLVMAtomicRMWBinOpXor, LLVMAtomicRMWBinOpXor, "xor", "bbb"},
    [GpAtomic_Max] = {LLVMAtomicRMWBinOpMax, LLVMAtomicRMWBinOpUMax, "max", "us"},
    [GpAtomic_Min] = {LLVMAtomicRMWBinOpMin, LLVMAtomicRMWBinOpUMin, "min", "us"},
    [GpAtomic_Xchg] = {LLVMAtomicRMWBinOpXchg, LLVMAtomicRMWBinOpXchg, "exch", "bbb"},
};

/* The NVPTX backend drops order and scope of atomicrmw (LLVM 22 prints `atom.global.xor.b64`
** whatever they are), so updates that PTX has are written out. */
static LLVMValueRef emit_ptx_update(GpEmit *e, const Element *x, LLVMValueRef v) {
    static const char *const orders[GpOrdering_count] = {
        [GpOrdering_Weak] = "relaxed",    [GpOrdering_Relaxed] = "relaxed",
        [GpOrdering_Acquire] = "acquire", [GpOrdering_Release] = "release",
        [GpOrdering_AcqRel] = "acq_rel"};
    static const char *const ranges[GpMemScope_count] = {
        [GpMemScope_Block] = "cta", [GpMemScope_Device] = "gpu", [GpMemScope_System] = "sys"};
    const UpdateRow *row = &updates[x->inst->atomic];
    uint32_t bits = gp_elem_info[x->elem].bits;
    bool is_sum = gp_elem_is_float(x->elem) && x->inst->atomic == GpAtomic_Add;
    char kind = row->kinds[is_sum ? 2 : gp_elem_is_signed(x->elem) ? 1 : 0];
    const char *text = gp_arena_printf(
        e->arena, "atom.%s.%s.global.%s.%c%u $0, [$1], $2;", orders[x->inst->ordering],
        ranges[x->inst->scope], row->ptx, kind, (unsigned)bits);
    const char *letter = is_sum ? (bits == 64 ? "d" : "f") : bits == 64 ? "l" : "r";
    const char *constraints =
        gp_arena_printf(e->arena, "=%s,l,%s,~{memory}", letter, letter);
    LLVMTypeRef types[] = {LLVMTypeOf(x->ptr), LLVMTypeOf(v)};
    LLVMTypeRef type = LLVMFunctionType(LLVMTypeOf(v), types, 2, false);
    LLVMValueRef code = LLVMGetInlineAsm(type, text, strlen(text), constraints,
                                         strlen(constraints), true, false, LLVMInlineAsmDialectATT,
                                         false);
    LLVMValueRef args[] = {x->ptr, v};
    return LLVMBuildCall2(e->b, type, code, args, 2, "");
}

static bool is_ptx_update(const GpEmit *e, const Element *x) {
    return e->is_gpu && gp_elem_info[x->elem].bits >= 32 &&
           x->inst->operands[0]->type->space == GpSpace_Global;
}

static LLVMValueRef emit_update(GpEmit *e, void *ud) {
    const Element *x = ud;
    const UpdateRow *row = &updates[x->inst->atomic];
    LLVMAtomicRMWBinOp op = gp_elem_is_signed(x->elem) ? row->as_signed : row->as_unsigned;
    bool is_sum = gp_elem_is_float(x->elem) && x->inst->atomic == GpAtomic_Add;
    bool is_native = x->elem == GpElem_F32 || x->elem == GpElem_F64;
    if (is_sum && !is_native)
        return emit_cas_loop(e, x);
    LLVMValueRef v = is_sum ? x->value : to_bits(e, x->elem, x->value);
    if (is_ptx_update(e, x)) {
        v = emit_ptx_update(e, x, v);
        return is_sum ? v : from_bits(e, x->elem, v);
    }
    v = LLVMBuildAtomicRMW(e->b, is_sum ? LLVMAtomicRMWBinOpFAdd : op, x->ptr, v,
                           orderings[x->inst->ordering], false);
    set_scope(e, x->inst, v);
    return is_sum ? v : from_bits(e, x->elem, v);
}

LLVMValueRef gp_emit_access(GpEmit *e, const GpInst *inst, LLVMValueRef const *x,
                            LLVMValueRef extra) {
    Element a = {.inst = inst, .elem = inst->operands[0]->type->elem};
    LLVMValueRef offset = x[1];
    a.ptr = LLVMBuildGEP2(e->b, gp_emit_mem_type(e, a.elem), x[0], &offset, 1, "");
    LLVMTypeRef type = gp_emit_type(e, a.elem);
    if (inst->op == GpOp_Gather) {
        LLVMValueRef ok = extra ? LLVMBuildAnd(e->b, x[2], extra, "") : x[2];
        LLVMValueRef v = gp_emit_guarded(e, ok, type, emit_gather, &a);
        return LLVMBuildSelect(e->b, x[2], v, x[3], "");
    }
    a.value = inst->op == GpOp_AtomicCas ? x[3] : x[2];
    a.expected = inst->op == GpOp_AtomicCas ? x[2] : NULL;
    LLVMValueRef mask = inst->op == GpOp_AtomicCas ? x[4] : x[3];
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
    LLVMValueRef x[GP_ACCESS_OPERANDS] = {NULL};
    for (uint32_t i = 0; i < inst->operand_count; i++)
        x[i] = gp_emit_get(e, inst->operands[i]);
    LLVMValueRef v = gp_emit_access(e, inst, x, NULL);
    if (v)
        gp_emit_set(e, inst->results[0], v);
}
