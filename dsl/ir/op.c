/* The tables of op.def and sig.def, and looking an operation up by its spelling. */
#include "dsl/ir/ir.h"

const GpOpInfo gp_op_info[GpOp_count] = {
#define GP_OP(id, spelling, levels_, sig_, effect_, algebra_, lowering, surface_, sm, ptx, doc_)   \
    [GpOp_##id] = {.name = (spelling),                                                             \
                   .levels = (levels_),                                                            \
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
#define GP_SIG(id, attr_, regions_, elementwise_, elems_, doc_)                                    \
    [GpSig_##id] = {.attr = GpIrAttr_##attr_,                                                      \
                    .regions = (regions_),                                                         \
                    .elementwise = (elementwise_),                                                 \
                    .elems = GpSigElems_##elems_,                                                  \
                    .doc = (doc_)},
#include "dsl/ir/sig.def"
};

bool gp_sig_takes(GpSig sig, GpElem elem) {
    switch (gp_sig_info[sig].elems) {
    case GpSigElems_None: return false;
    case GpSigElems_Float: return gp_elem_is_float(elem);
    case GpSigElems_Int: return gp_elem_is_integer(elem);
    case GpSigElems_Number: return elem != GpElem_Bool;
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
