/* The interpreter's state, shared by interp*.c. */
#ifndef GP_INTERP_H
#define GP_INTERP_H

#include "dsl/ir/ir.h"

typedef struct GpInterpTensor {
    uint8_t *base;
    int64_t dim[GP_MAX_RANK];
    int64_t stride[GP_MAX_RANK]; /* in elements */
} GpInterpTensor;

/* How an instruction or a region was left. Break and Continue stand in GpInterp.left. */
typedef enum GpFlow { GpFlow_Next, GpFlow_Break, GpFlow_Continue, GpFlow_Return } GpFlow;

typedef struct GpInterpSlot {
    void *memory;
    size_t bytes;
} GpInterpSlot;

typedef struct GpInterp {
    const GpIrFn *fn;
    GpStop *stop;
    GpSession session; /* its own: runs of several threads share nothing that changes */
    GpArena *arena;
    /* By value id: its elements, row-major; one for a scalar. An address is in `u`, and so is
    ** the address of a tensor's GpInterpTensor. */
    GpScalar **cells;
    GpScalar *scratch; /* values on their way from one set of places to another */
    GP_VEC(GpInterpSlot) slots;
    const GpGrid *grid;
    uint32_t block[3], thread[3];
    GpMailbox *mailbox; /* NULL when the function has no sites */
    const GpInst *left; /* the break or continue that is under way */
    GpText printed;     /* by a print; its memory is kept for the next */
    uint64_t turns;     /* of loops; every so often the host is asked whether to stop */
} GpInterp;

static inline GpScalar *gp_interp_at(const GpInterp *in, const GpValue *v) {
    return in->cells[v->id];
}
static inline GpScalar gp_interp_get(const GpInterp *in, const GpInst *inst, uint32_t operand) {
    return in->cells[inst->operands[operand]->id][0];
}
static inline GpScalar *gp_interp_result(const GpInterp *in, const GpInst *inst) {
    return in->cells[inst->results[0]->id];
}

/* Runs a region to its end, or to where it is left. */
GpFlow gp_interp_region(GpInterp *in, const GpRegion *r);

/* One function for each signature that is not elementwise: gp_interp_Splat .. */
#define GP_INTERP_DECLARE_0(id) GpFlow gp_interp_##id(GpInterp *in, const GpInst *inst);
#define GP_INTERP_DECLARE_1(id)
#define GP_SIG(id, attrs, regions, elementwise, elems, doc) GP_INTERP_DECLARE_##elementwise(id)
#include "dsl/ir/sig.def"

#endif
