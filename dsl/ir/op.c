/* The tables of op.def and sig.def, and looking an operation up by its spelling. */
#include "dsl/ir/ir.h"

const GpOpInfo gp_op_info[GpOp_count] = {
#define GP_OP(id, spelling, tracks_, sig_, effect_, algebra_, lowering, surface_, sm, ptx, doc_)   \
    [GpOp_##id] = {.name = (spelling),                                                             \
                   .tracks = (tracks_),                                                            \
                   .algebra = (algebra_),                                                          \
                   .sig = GpSig_##sig_,                                                            \
                   .effect = GpEffect_##effect_,                                                   \
                   .surface = GpSurface_##surface_,                                                \
                   .min_sm = (sm),                                                                 \
                   .min_ptx = (ptx),                                                               \
                   .doc = (doc_)},
#include "dsl/ir/op.def"
};

const GpSigInfo gp_sig_info[GpSig_count] = {
#define GP_SIG(id, attrs_, regions_, elementwise_, elems_, doc_)                                    \
    [GpSig_##id] = {.attrs = (attrs_),                                                             \
                    .regions = (regions_),                                                         \
                    .elementwise = (elementwise_),                                                 \
                    .elems = GpSigElems_##elems_,                                                  \
                    .doc = (doc_)},
#include "dsl/ir/sig.def"
};

const GpAtomicInfo gp_atomic_info[GpAtomic_count] = {
#define GP_ATOMIC(id, word, elems_, op_) [GpAtomic_##id] = {GpSigElems_##elems_, GpOp_##op_},
#include "dsl/ir/access.def"
};

bool gp_mma_find(GpElem a, GpElem b, GpElem acc, GpElem *sum) {
    static const GpElem rows[][4] = {
#define GP_MMA(a_, b_, acc_, sum_) {GpElem_##a_, GpElem_##b_, GpElem_##acc_, GpElem_##sum_},
#include "dsl/ir/mma.def"
    };
    for (size_t i = 0; i < GP_COUNT(rows); i++) {
        if (rows[i][0] != a || rows[i][1] != b || rows[i][2] != acc) continue;
        *sum = rows[i][3];
        return true;
    }
    return false;
}

bool gp_sig_takes(GpSig sig, GpElem elem) { return gp_elems_hold(gp_sig_info[sig].elems, elem); }

bool gp_elems_hold(GpSigElems elems, GpElem elem) {
    switch (elems) {
    case GpSigElems_None: return false;
    case GpSigElems_Float: return gp_elem_info[elem].cls == GpClass_Float;
    case GpSigElems_Int: return gp_elem_is_integer(elem);
    case GpSigElems_Number: return elem != GpElem_Bool && gp_elem_info[elem].cls != GpClass_Code;
    case GpSigElems_Codes: return elem != GpElem_Bool;
    case GpSigElems_Bits: return !gp_elem_is_float(elem);
    case GpSigElems_Any: return true;
    }
    gp_unreachable();
}

bool gp_op_find(GpStr spelling, GpOp *out) {
    for (unsigned op = 0; op < GpOp_count; op++) {
        if (!gp_str_eq(spelling, gp_str_from(gp_op_info[op].name))) continue;
        *out = (GpOp)op;
        return true;
    }
    return false;
}

bool gp_op_is_terminator(GpOp op) {
    GpSig sig = gp_op_info[op].sig;
    return sig == GpSig_Carry || op == GpOp_Return;
}
