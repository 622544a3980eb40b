/* What tile loads and stores have in common on both backends: where a tile lies in its tensor,
** whether it lies inside, and one element's access. Offsets are 64 bits wide. */
#include "codegen/emit.h"

const GpShape *gp_tile_shape(const GpInst *inst) {
    return inst->op == GpOp_StoreTile ? &inst->operands[1]->type->shape
                                      : &inst->results[0]->type->shape;
}

const GpShape *gp_tile_extents(const GpInst *inst) { return inst->part ? inst->part : gp_tile_shape(inst); }

/* Where the tile coordinates start among the operands. */
static uint32_t first_coord(const GpInst *inst) { return inst->op == GpOp_StoreTile ? 2 : 1; }

const GpValue *gp_tile_mask(const GpInst *inst) {
    uint32_t plain = first_coord(inst) + gp_tile_shape(inst)->rank;
    return inst->operand_count > plain ? inst->operands[plain] : NULL;
}

LLVMValueRef gp_tile_start(GpEmit *e, const GpInst *inst, int axis) {
    LLVMValueRef at = gp_emit_get(e, inst->operands[first_coord(inst) + (uint32_t)axis]);
    at = LLVMBuildSExt(e->b, at, LLVMInt64TypeInContext(e->ctx), "");
    if (inst->by_element)
        return at;
    return LLVMBuildNSWMul(e->b, at, gp_emit_i64(e, gp_tile_extents(inst)->dim[axis]), "");
}

LLVMValueRef gp_tile_is_inside(GpEmit *e, const GpInst *inst) {
    const GpTensorArg *t = &e->tensors[inst->operands[0]->id];
    const GpShape *shape = gp_tile_extents(inst);
    const GpValue *mask = gp_tile_mask(inst);
    LLVMValueRef all = mask ? gp_emit_get(e, mask) : gp_emit_bool(e, true);
    if (inst->is_whole)
        return all;
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

static void reshape_coords(GpEmit *e, const GpShape *from, const GpShape *to,
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

/* Part indices count modulo the number of parts, as u32. */
static void part_coords(GpEmit *e, const GpInst *inst, LLVMValueRef const *c, LLVMValueRef *at) {
    const GpShape *from = &inst->operands[0]->type->shape, *to = &inst->results[0]->type->shape;
    for (int a = 0; a < to->rank; a++) {
        LLVMValueRef index = gp_emit_get(e, inst->operands[1 + a]);
        index = LLVMBuildURem(e->b, index, gp_emit_i32(e, from->dim[a] / to->dim[a]), "");
        index = LLVMBuildZExt(e->b, index, LLVMInt64TypeInContext(e->ctx), "");
        index = LLVMBuildNSWMul(e->b, index, gp_emit_i64(e, to->dim[a]), "");
        at[a] = LLVMBuildNSWAdd(e->b, index, c[a], "");
    }
}

bool gp_tile_moves(GpOp op) {
    return op == GpOp_Broadcast || op == GpOp_Reshape || op == GpOp_Permute ||
           op == GpOp_ExtractTile;
}

void gp_tile_moved_coords(GpEmit *e, const GpInst *inst, LLVMValueRef const *c, LLVMValueRef *at) {
    const GpShape *from = &inst->operands[0]->type->shape, *to = &inst->results[0]->type->shape;
    gp_assert(gp_tile_moves(inst->op));
    if (inst->op == GpOp_Reshape)
        reshape_coords(e, from, to, c, at);
    else if (inst->op == GpOp_ExtractTile)
        part_coords(e, inst, c, at);
    else if (inst->op == GpOp_Permute)
        for (int k = 0; k < to->rank; k++)
            at[inst->perm.axis[k]] = c[k];
    else
        for (int a = 0; a < from->rank; a++)
            at[a] = from->dim[a] == 1 ? gp_emit_i64(e, 0) : c[a];
}

LLVMValueRef gp_tile_pad(GpEmit *e, const GpInst *inst) {
    if (inst->op != GpOp_LoadTile || inst->imm.u == 0)
        return NULL;
    return gp_emit_scalar(e, inst->results[0]->type->elem, gp_ir_pad(inst));
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
    LLVMValueRef v = gp_emit_guarded(e, p->in_bounds, gp_emit_type(e, p->elem), load_place, p);
    return p->pad ? LLVMBuildSelect(e->b, p->in_bounds, v, p->pad, "") : v;
}

void gp_tile_store(GpEmit *e, GpPlace *p) {
    if (p->in_bounds)
        gp_emit_guarded(e, p->in_bounds, NULL, store_place, p);
    else
        store_place(e, p);
}
