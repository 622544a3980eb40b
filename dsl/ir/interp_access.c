/* The interpreter's accesses through an address and offsets. Blocks may run on several threads at
** once, so an atomic update is atomic here too; every ordering is carried out as the strongest. */
#include "dsl/ir/eval.h"
#include "dsl/ir/interp.h"

/* The elements of one access; NULL where the instruction has no such operand. */
typedef struct Elements {
    int64_t count;
    GpElem elem;
    uint8_t *base;
    const GpScalar *offsets, *mask;
} Elements;

static Elements get_elements(const GpInterp *in, const GpInst *inst, uint32_t mask) {
    const GpIrType *ptr = inst->operands[0]->type;
    return (Elements){.count = gp_ir_numel(inst->operands[1]->type),
                      .elem = ptr->elem,
                      .base = (uint8_t *)(uintptr_t)gp_interp_get(in, inst, 0).u,
                      .offsets = gp_interp_at(in, inst->operands[1]),
                      .mask = gp_interp_at(in, inst->operands[mask])};
}

/* The address of element e. Addresses wrap as the device's do, so that no C pointer is formed
** outside of its object on the way. */
static uint8_t *get_place(const Elements *x, int64_t e) {
    uint64_t bytes = x->offsets[e].u * gp_elem_info[x->elem].bytes;
    return (uint8_t *)(uintptr_t)((uint64_t)(uintptr_t)x->base + bytes);
}

/* One access of an element's size; the storage form stands in the low bytes. */
static uint64_t load_bits(const uint8_t *at, uint32_t bytes) {
    switch (bytes) {
    case 1: return __atomic_load_n(at, __ATOMIC_SEQ_CST);
    case 2: return __atomic_load_n((const uint16_t *)(const void *)at, __ATOMIC_SEQ_CST);
    case 4: return __atomic_load_n((const uint32_t *)(const void *)at, __ATOMIC_SEQ_CST);
    }
    gp_assert(bytes == 8);
    return __atomic_load_n((const uint64_t *)(const void *)at, __ATOMIC_SEQ_CST);
}

#define SWAP_BITS(type)                                                                            \
    do {                                                                                           \
        type want = (type)*old;                                                                    \
        bool ok = __atomic_compare_exchange_n((type *)(void *)at, &want, (type)bits, false,        \
                                              __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);                 \
        *old = want;                                                                               \
        return ok;                                                                                 \
    } while (0)

/* Stores `bits` where memory holds *old; else *old becomes what it holds. */
static bool swap_bits(uint8_t *at, uint32_t bytes, uint64_t *old, uint64_t bits) {
    switch (bytes) {
    case 1: SWAP_BITS(uint8_t);
    case 2: SWAP_BITS(uint16_t);
    case 4: SWAP_BITS(uint32_t);
    }
    gp_assert(bytes == 8);
    SWAP_BITS(uint64_t);
}

static GpScalar from_bits(GpElem elem, uint64_t bits) {
    uint8_t memory[8];
    memcpy(memory, &bits, sizeof memory);
    return gp_scalar_load(elem, memory);
}

static uint64_t to_bits(GpScalar v) {
    uint8_t memory[8] = {0};
    uint64_t bits;
    gp_scalar_store(v, memory);
    memcpy(&bits, memory, sizeof bits);
    return bits;
}

GpFlow gp_interp_Gather(GpInterp *in, const GpInst *inst) {
    Elements x = get_elements(in, inst, 2);
    GpScalar pad = gp_interp_get(in, inst, 3), *to = gp_interp_result(in, inst);
    bool is_weak = inst->ordering == GpOrdering_Weak;
    for (int64_t e = 0; e < x.count; e++) {
        to[e] = pad;
        if (!x.mask[e].u) continue;
        const uint8_t *at = get_place(&x, e);
        to[e] = is_weak ? gp_scalar_load(x.elem, at)
                        : from_bits(x.elem, load_bits(at, gp_elem_info[x.elem].bytes));
    }
    return GpFlow_Next;
}

/* The value that takes the place of `old`. */
static GpScalar update(GpAtomic atomic, GpScalar old, GpScalar value) {
    GpOp op = gp_atomic_info[atomic].op;
    GpScalar args[2] = {old, value}, out = value;
    if (op != GpOp_Const) (void)gp_eval(op, GpPred_Eq, old.elem, args, &out);
    return out;
}

static GpScalar update_place(GpElem elem, uint8_t *at, GpAtomic atomic, GpScalar value) {
    uint32_t bytes = gp_elem_info[elem].bytes;
    uint64_t bits = load_bits(at, bytes);
    while (!swap_bits(at, bytes, &bits, to_bits(update(atomic, from_bits(elem, bits), value)))) {}
    return from_bits(elem, bits);
}

GpFlow gp_interp_Scatter(GpInterp *in, const GpInst *inst) {
    Elements x = get_elements(in, inst, 3);
    const GpScalar *value = gp_interp_at(in, inst->operands[2]);
    bool is_weak = inst->ordering == GpOrdering_Weak;
    for (int64_t e = 0; e < x.count; e++) {
        if (!x.mask[e].u) continue;
        if (is_weak) gp_scalar_store(value[e], get_place(&x, e));
        else (void)update_place(x.elem, get_place(&x, e), GpAtomic_Xchg, value[e]);
    }
    return GpFlow_Next;
}

GpFlow gp_interp_AtomicRmw(GpInterp *in, const GpInst *inst) {
    Elements x = get_elements(in, inst, 3);
    const GpScalar *value = gp_interp_at(in, inst->operands[2]);
    GpScalar *to = gp_interp_result(in, inst);
    for (int64_t e = 0; e < x.count; e++) {
        to[e] = (GpScalar){.elem = x.elem};
        if (x.mask[e].u) to[e] = update_place(x.elem, get_place(&x, e), inst->atomic, value[e]);
    }
    return GpFlow_Next;
}

GpFlow gp_interp_AtomicCas(GpInterp *in, const GpInst *inst) {
    Elements x = get_elements(in, inst, 4);
    const GpScalar *expected = gp_interp_at(in, inst->operands[2]);
    const GpScalar *value = gp_interp_at(in, inst->operands[3]);
    GpScalar *to = gp_interp_result(in, inst);
    for (int64_t e = 0; e < x.count; e++) {
        to[e] = (GpScalar){.elem = x.elem};
        if (!x.mask[e].u) continue;
        uint64_t bits = to_bits(expected[e]);
        (void)swap_bits(get_place(&x, e), gp_elem_info[x.elem].bytes, &bits, to_bits(value[e]));
        to[e] = from_bits(x.elem, bits);
    }
    return GpFlow_Next;
}

static GpFlow copy_number(GpInterp *in, const GpInst *inst) {
    gp_interp_result(in, inst)->u = gp_interp_get(in, inst, 0).u;
    return GpFlow_Next;
}

GpFlow gp_interp_IntToPtr(GpInterp *in, const GpInst *inst) { return copy_number(in, inst); }
GpFlow gp_interp_PtrToInt(GpInterp *in, const GpInst *inst) { return copy_number(in, inst); }
