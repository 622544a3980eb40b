/* What tile loads and stores have in common on both backends: where a tile lies in its tensor,
** whether it lies inside, and one element's access. Offsets are 64 bits wide. */
#include "codegen/emit.h"

const GpShape *gp_tile_shape(const GpInst *inst) {
    return inst->op == GpOp_StoreTile ? &inst->operands[1]->type->shape
                                      : &inst->results[0]->type->shape;
}

/* Where the tile coordinates start among the operands. */
static uint32_t first_coord(const GpInst *inst) { return inst->op == GpOp_StoreTile ? 2 : 1; }

const GpValue *gp_tile_mask(const GpInst *inst) {
    uint32_t plain = first_coord(inst) + gp_tile_shape(inst)->rank;
    return inst->operand_count > plain ? inst->operands[plain] : NULL;
}

LLVMValueRef gp_tile_start(GpEmit *e, const GpInst *inst, int axis) {
    LLVMValueRef at = gp_emit_get(e, inst->operands[first_coord(inst) + (uint32_t)axis]);
    at = LLVMBuildSExt(e->b, at, LLVMInt64TypeInContext(e->ctx), "");
    return LLVMBuildNSWMul(e->b, at, gp_emit_i64(e, gp_tile_shape(inst)->dim[axis]), "");
}

LLVMValueRef gp_tile_is_inside(GpEmit *e, const GpInst *inst) {
    const GpTensorArg *t = &e->tensors[inst->operands[0]->index];
    const GpShape *shape = gp_tile_shape(inst);
    const GpValue *mask = gp_tile_mask(inst);
    LLVMValueRef all = mask ? gp_emit_get(e, mask) : gp_emit_bool(e, true);
    for (int a = 0; a < shape->rank; a++) {
        LLVMValueRef start = gp_tile_start(e, inst, a);
        LLVMValueRef end = LLVMBuildNSWAdd(e->b, start, gp_emit_i64(e, shape->dim[a]), "");
        LLVMValueRef dim = LLVMBuildSExt(e->b, t->dim[a], LLVMInt64TypeInContext(e->ctx), "");
        LLVMValueRef low = LLVMBuildICmp(e->b, LLVMIntSGE, start, gp_emit_i64(e, 0), "");
        LLVMValueRef high = LLVMBuildICmp(e->b, LLVMIntSLE, end, dim, "");
        all = LLVMBuildAnd(e->b, all, LLVMBuildAnd(e->b, low, high, ""), "");
    }
    return all;
}

LLVMValueRef gp_tile_linear(GpEmit *e, const GpShape *shape, LLVMValueRef const *c) {
    LLVMValueRef sum = gp_emit_i64(e, 0);
    for (int a = 0; a < shape->rank; a++) {
        sum = LLVMBuildNSWMul(e->b, sum, gp_emit_i64(e, shape->dim[a]), "");
        sum = LLVMBuildNSWAdd(e->b, sum, c[a], "");
    }
    return sum;
}

/* Axes of extent 1 that come or go leave the other coordinates as they are. */
static bool map_unit_axes(GpEmit *e, const GpShape *from, const GpShape *to, LLVMValueRef const *c,
                          LLVMValueRef *at) {
    int b = 0;
    for (int a = 0; a < from->rank; a++) {
        at[a] = gp_emit_i64(e, 0);
        if (from->dim[a] == 1)
            continue;
        while (b < to->rank && to->dim[b] == 1)
            b++;
        if (b == to->rank || to->dim[b] != from->dim[a])
            return false;
        at[a] = c[b++];
    }
    while (b < to->rank && to->dim[b] == 1)
        b++;
    return b == to->rank;
}

void gp_tile_reshape_coords(GpEmit *e, const GpShape *from, const GpShape *to,
                            LLVMValueRef const *c, LLVMValueRef *at) {
    if (map_unit_axes(e, from, to, c, at))
        return;
    LLVMValueRef rest = gp_tile_linear(e, to, c);
    for (int a = from->rank - 1; a >= 0; a--) {
        LLVMValueRef dim = gp_emit_i64(e, from->dim[a]);
        at[a] = LLVMBuildURem(e->b, rest, dim, "");
        rest = LLVMBuildUDiv(e->b, rest, dim, "");
    }
}

static LLVMValueRef load_place(GpEmit *e, void *ud) {
    const GpPlace *p = ud;
    return gp_emit_mem_load(e, p->elem, p->ptr);
}

static LLVMValueRef store_place(GpEmit *e, void *ud) {
    const GpPlace *p = ud;
    gp_emit_mem_store(e, p->elem, p->value, p->ptr);
    return NULL;
}

LLVMValueRef gp_tile_load(GpEmit *e, GpPlace *p) {
    if (!p->in_bounds)
        return load_place(e, p);
    return gp_emit_guarded(e, p->in_bounds, gp_emit_type(e, p->elem), load_place, p);
}

void gp_tile_store(GpEmit *e, GpPlace *p) {
    if (p->in_bounds)
        gp_emit_guarded(e, p->in_bounds, NULL, store_place, p);
    else
        store_place(e, p);
}
