/* Gathers, scatters and atomic updates through addresses: one element, for every backend.
**
** f32 and f64 add, and everything on integers, are LLVM's atomicrmw; sums of narrower floats are
** rounded by us, in a loop of compare-and-swap, where the hardware has none. On the tile track a
** scalar access happens once for the block. */
#include "codegen/inline_ptx.h"

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

/* The word that an update with it leaves as it was. */
typedef enum Identity { Identity_None, Identity_Zero, Identity_Ones, Identity_Least, Identity_Greatest } Identity;

/* ptx: the operation; kinds: the letter of its type for unsigned, signed and float */
typedef struct UpdateRow {
    LLVMAtomicRMWBinOp as_signed, as_unsigned;
    const char *ptx;
    char kinds[4];
    Identity identity;
} UpdateRow;
static const UpdateRow updates[GpAtomic_count] = {
    [GpAtomic_Add] = {LLVMAtomicRMWBinOpAdd, LLVMAtomicRMWBinOpAdd, "add", "uuf", Identity_Zero},
    [GpAtomic_And] = {LLVMAtomicRMWBinOpAnd, LLVMAtomicRMWBinOpAnd, "and", "bbb", Identity_Ones},
    [GpAtomic_Or] = {LLVMAtomicRMWBinOpOr, LLVMAtomicRMWBinOpOr, "or", "bbb", Identity_Zero},
    [GpAtomic_Xor] = {LLVMAtomicRMWBinOpXor, LLVMAtomicRMWBinOpXor, "xor", "bbb", Identity_Zero},
    [GpAtomic_Max] = {LLVMAtomicRMWBinOpMax, LLVMAtomicRMWBinOpUMax, "max", "us", Identity_Least},
    [GpAtomic_Min] = {LLVMAtomicRMWBinOpMin, LLVMAtomicRMWBinOpUMin, "min", "us", Identity_Greatest},
    [GpAtomic_Xchg] = {LLVMAtomicRMWBinOpXchg, LLVMAtomicRMWBinOpXchg, "exch", "bbb", Identity_None},
};

bool gp_emit_update_identity(const GpInst *inst, uint32_t *word) {
    GpElem elem = inst->operands[0]->type->elem;
    bool is_signed = gp_elem_is_signed(elem);
    if (gp_elem_is_float(elem) || gp_elem_info[elem].bits != 32)
        return false;
    switch (updates[inst->atomic].identity) {
    case Identity_None:
        return false;
    case Identity_Zero:
        *word = 0;
        return true;
    case Identity_Ones:
        *word = UINT32_MAX;
        return true;
    case Identity_Least:
        *word = is_signed ? (uint32_t)INT32_MIN : 0;
        return true;
    case Identity_Greatest:
        *word = is_signed ? INT32_MAX : UINT32_MAX;
        return true;
    }
    gp_unreachable();
}

static LLVMAtomicRMWBinOp update_op(const GpInst *inst) {
    const UpdateRow *row = &updates[inst->atomic];
    return gp_elem_is_signed(inst->operands[0]->type->elem) ? row->as_signed : row->as_unsigned;
}

void gp_emit_shared_update(GpEmit *e, const GpInst *inst, LLVMValueRef ptr, LLVMValueRef v) {
    LLVMValueRef update = LLVMBuildAtomicRMW(e->b, update_op(inst), ptr, v, LLVMAtomicOrderingMonotonic, false);
    LLVMSetAtomicSyncScopeID(update, LLVMGetSyncScopeID(e->ctx, "block", strlen("block")));
}

static bool is_sum(const GpInst *inst) {
    return inst->atomic == GpAtomic_Add && gp_elem_is_float(inst->operands[0]->type->elem);
}

/* Sums that the hardware has: PTX ISA, "atom" and "red". */
typedef struct SumRow {
    GpElem elem;
    uint16_t sm; /* that has it */
    const char *mode, *type, *pair; /* mode: how subnormal numbers count; pair: the type of two in a word */
} SumRow;
static const SumRow sums[] = {
    {GpElem_F64, 60, "", "f64", NULL},
    {GpElem_F32, 60, "", "f32", NULL},
    {GpElem_F16, 70, "noftz.", "f16", "f16x2"},
    {GpElem_BF16, 90, "noftz.", "bf16", "bf16x2"},
};
enum { VECTOR_SM = 90, VECTOR_PTX = 81 }; /* of sums of several words that nobody reads */

static const SumRow *sum_row(const GpEmit *e, GpElem elem) {
    for (size_t i = 0; i < GP_COUNT(sums); i++)
        if (sums[i].elem == elem && e->is_gpu && e->target->sm >= sums[i].sm)
            return &sums[i];
    return NULL;
}

static const char *const ptx_orders[GpOrdering_count] = {
    [GpOrdering_Weak] = "relaxed",    [GpOrdering_Relaxed] = "relaxed",
    [GpOrdering_Acquire] = "acquire", [GpOrdering_Release] = "release",
    [GpOrdering_AcqRel] = "acq_rel"};
static const char *const ptx_scopes[GpMemScope_count] = {
    [GpMemScope_Block] = "cta", [GpMemScope_Device] = "gpu", [GpMemScope_System] = "sys"};

/* The NVPTX backend drops order and scope of atomicrmw (LLVM 22 prints `atom.global.xor.b64`
** whatever they are), so updates that PTX has are written out. */
static LLVMValueRef emit_ptx_update(GpEmit *e, const Element *x, LLVMValueRef v) {
    const UpdateRow *row = &updates[x->inst->atomic];
    uint32_t bits = gp_elem_info[x->elem].bits;
    char kind = row->kinds[gp_elem_is_signed(x->elem) ? 1 : 0];
    const SumRow *sum = is_sum(x->inst) ? sum_row(e, x->elem) : NULL;
    const char *type = sum ? sum->type : gp_arena_printf(e->arena, "%c%u", kind, (unsigned)bits);
    const char *text =
        gp_arena_printf(e->arena, "atom.%s.%s.global.%s.%s%s $0, [$1], $2;", ptx_orders[x->inst->ordering],
                        ptx_scopes[x->inst->scope], row->ptx, sum ? sum->mode : "", type);
    LLVMTypeKind held = LLVMGetTypeKind(LLVMTypeOf(v));
    const char *letter = held == LLVMDoubleTypeKind ? "d" : held == LLVMFloatTypeKind ? "f"
                         : bits == 64               ? "l" : bits == 16                ? "h" : "r";
    const char *constraints =
        gp_arena_printf(e->arena, "=%s,l,%s,~{memory}", letter, letter);
    LLVMTypeRef types[] = {LLVMTypeOf(x->ptr), LLVMTypeOf(v)};
    LLVMTypeRef type_of = LLVMFunctionType(LLVMTypeOf(v), types, 2, false);
    LLVMValueRef code = LLVMGetInlineAsm(type_of, text, strlen(text), constraints,
                                         strlen(constraints), true, false, LLVMInlineAsmDialectATT,
                                         false);
    LLVMValueRef args[] = {x->ptr, v};
    return LLVMBuildCall2(e->b, type_of, code, args, 2, "");
}

static bool is_ptx_update(const GpEmit *e, const Element *x) {
    bool has_it = is_sum(x->inst) ? sum_row(e, x->elem) != NULL : gp_elem_info[x->elem].bits >= 32;
    return e->is_gpu && has_it && x->inst->operands[0]->type->space == GpSpace_Global;
}

static LLVMValueRef emit_update(GpEmit *e, void *ud) {
    const Element *x = ud;
    bool is_native = x->elem == GpElem_F32 || x->elem == GpElem_F64, has_sum = is_sum(x->inst);
    if (has_sum && !is_native && !is_ptx_update(e, x))
        return emit_cas_loop(e, x);
    LLVMValueRef v = has_sum ? x->value : to_bits(e, x->elem, x->value);
    if (is_ptx_update(e, x)) {
        v = emit_ptx_update(e, x, v);
        return has_sum ? v : from_bits(e, x->elem, v);
    }
    v = LLVMBuildAtomicRMW(e->b, has_sum ? LLVMAtomicRMWBinOpFAdd : update_op(x->inst), x->ptr, v,
                           orderings[x->inst->ordering], false);
    set_scope(e, x->inst, v);
    return has_sum ? v : from_bits(e, x->elem, v);
}

uint32_t gp_emit_update_bytes(const GpEmit *e, const GpInst *inst) {
    const SumRow *row = is_sum(inst) ? sum_row(e, inst->operands[0]->type->elem) : NULL;
    if (!row || row->elem == GpElem_F64 || inst->operands[0]->type->space != GpSpace_Global)
        return 0;
    bool has_vectors = e->target->sm >= VECTOR_SM && e->target->ptx >= VECTOR_PTX;
    return has_vectors ? GP_GPU_VECTOR_BYTES : row->pair ? GP_GPU_WORD_BYTES : 0;
}

void gp_emit_update_run(GpEmit *e, const GpInst *inst, LLVMValueRef ptr, LLVMValueRef const *v, uint32_t run) {
    const SumRow *row = sum_row(e, inst->operands[0]->type->elem);
    uint32_t words = row->pair ? run / 2 : run;
    GpInlinePtx ptx = gp_inline_begin(e, words + 1);
    const char *vector = words > 1 ? gp_arena_printf(e->arena, "v%u.", (unsigned)words) : "";
    uint32_t at = gp_inline_input(&ptx, LLVMBuildPtrToInt(e->b, ptr, LLVMInt64TypeInContext(e->ctx), ""));
    gp_inline_puts(&ptx, "red.%s.%s.global.add.%s%s%s [$%u], ", ptx_orders[inst->ordering], ptx_scopes[inst->scope],
                   row->mode, vector, row->pair ? row->pair : row->type, at);
    for (uint32_t i = 0; i < words; i++) {
        LLVMValueRef word = row->pair ? gp_emit_pair(e, v[2UL * i], v[2UL * i + 1]) : v[i];
        gp_inline_puts(&ptx, "%s$%u", i ? ", " : words > 1 ? "{" : "", gp_inline_input(&ptx, word));
    }
    gp_inline_puts(&ptx, words > 1 ? "};" : ";");
    gp_inline_call(&ptx, NULL);
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
    bool is_tile = gp_ir_is_tile(inst->operands[1]);
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
