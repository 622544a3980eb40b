/* What the rules of signatures share: ir_verify_sig.c has those of values and control flow, ir_verify_tile.c
** those of tiles, ir_verify_memory.c those of tensors and addresses. */
#ifndef GP_IR_VERIFY_SIG_H
#define GP_IR_VERIFY_SIG_H

#include "dsl/ir/ir_verify.h"

typedef GpVerifier V;
typedef const GpInst I;

/* One rule per signature; false when it is broken, and said why. */
#define GP_SIG(id, attrs, regions, elementwise, elems, doc) bool gp_sig_##id(V *v, I *inst);
#include "dsl/ir/sig.def"

static inline const GpIrType *in(I *inst, uint32_t i) { return inst->operands[i]->type; }
static inline const GpIrType *out(I *inst) { return inst->results[0]->type; }

static inline bool need_counts(V *v, I *inst, uint32_t operands, uint32_t results) {
    if (inst->operand_count != operands)
        return gp_ir_refuse(v, inst, "it takes %u operands, not %u", operands, inst->operand_count);
    if (inst->result_count != results)
        return gp_ir_refuse(v, inst, "it gives %u results, not %u", results, inst->result_count);
    return true;
}

static inline bool need(V *v, I *inst, bool rule, const char *text) {
    return rule || gp_ir_refuse(v, inst, "%s", text);
}

static inline bool is_scalar(const GpIrType *t, GpElem elem) {
    return t->kind == GpIrType_Scalar && t->elem == elem;
}
static inline bool is_index(const GpIrType *t) {
    return is_scalar(t, GpElem_I64) || is_scalar(t, GpElem_U64);
}
static inline bool has_numbers(const GpIrType *t) {
    return t->kind == GpIrType_Scalar || t->kind == GpIrType_Tile;
}
/* Scalars both, or tiles of one shape both. */
static inline bool is_alike(const GpIrType *a, const GpIrType *b) {
    return has_numbers(a) && a->kind == b->kind && gp_shape_eq(&a->shape, &b->shape);
}

static inline bool is_integer(GpElem e) { return gp_elem_is_integer(e); }
static inline bool is_number(GpElem e) { return gp_elems_hold(GpSigElems_Number, e); }

static inline bool is_tile(const GpIrType *t) { return t->kind == GpIrType_Tile; }
static inline bool has_shape(const GpIrType *t, const GpShape *shape) {
    return is_tile(t) && gp_shape_eq(&t->shape, shape);
}

#endif
