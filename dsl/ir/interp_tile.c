/* The interpreter's tile operations: tiles are arrays in row-major order. */
#include "dsl/ir/interp.h"

/* The next coordinates in row-major order. */
static void step_coord(const GpShape *shape, int64_t *coord) {
    for (int a = shape->rank - 1; a >= 0; a--) {
        if (++coord[a] < shape->dim[a]) return;
        coord[a] = 0;
    }
}

GpFlow gp_interp_Splat(GpInterp *in, const GpInst *inst) {
    int64_t n = gp_ir_numel(inst->results[0]->type);
    GpScalar v = gp_interp_get(in, inst, 0), *to = gp_interp_result(in, inst);
    for (int64_t e = 0; e < n; e++) to[e] = v;
    return GpFlow_Next;
}

GpFlow gp_interp_Broadcast(GpInterp *in, const GpInst *inst) {
    const GpShape *from = &inst->operands[0]->type->shape, *to = &inst->results[0]->type->shape;
    const GpScalar *x = gp_interp_at(in, inst->operands[0]);
    GpScalar *y = gp_interp_result(in, inst);
    int64_t n = gp_ir_numel(inst->results[0]->type), coord[GP_MAX_RANK] = {0};
    for (int64_t e = 0; e < n; e++) {
        int64_t at = 0;
        for (int a = 0; a < from->rank; a++)
            at = at * from->dim[a] + (from->dim[a] == 1 ? 0 : coord[a]);
        y[e] = x[at];
        step_coord(to, coord);
    }
    return GpFlow_Next;
}

static void copy_elements(GpInterp *in, const GpInst *inst) {
    size_t n = (size_t)gp_ir_numel(inst->operands[0]->type);
    memcpy(gp_interp_result(in, inst), gp_interp_at(in, inst->operands[0]), n * sizeof(GpScalar));
}

GpFlow gp_interp_Reshape(GpInterp *in, const GpInst *inst) {
    copy_elements(in, inst);
    return GpFlow_Next;
}

GpFlow gp_interp_ToScalar(GpInterp *in, const GpInst *inst) {
    copy_elements(in, inst);
    return GpFlow_Next;
}

GpFlow gp_interp_Iota(GpInterp *in, const GpInst *inst) {
    const GpIrType *type = inst->results[0]->type;
    int64_t n = gp_ir_numel(type);
    for (int64_t e = 0; e < n; e++)
        gp_interp_result(in, inst)[e] = gp_scalar_wrap((GpScalar){.elem = type->elem, .i = e});
    return GpFlow_Next;
}

static const GpInterpTensor *get_tensor(const GpInterp *in, const GpInst *inst) {
    return (const GpInterpTensor *)(uintptr_t)gp_interp_get(in, inst, 0).u;
}

GpFlow gp_interp_Dim(GpInterp *in, const GpInst *inst) {
    gp_interp_result(in, inst)->i = (int32_t)get_tensor(in, inst)->dim[inst->axis];
    return GpFlow_Next;
}

GpFlow gp_interp_Below(GpInterp *in, const GpInst *inst) {
    *gp_interp_result(in, inst) = gp_interp_get(in, inst, 0);
    return GpFlow_Next;
}

/* The cell of a tensor that is made refers to this place, made with the instruction. */
GpFlow gp_interp_MakeTensor(GpInterp *in, const GpInst *inst) {
    GpInterpTensor *t = (GpInterpTensor *)(uintptr_t)gp_interp_result(in, inst)->u;
    uint32_t rank = inst->results[0]->type->shape.rank;
    t->base = (uint8_t *)(uintptr_t)gp_interp_get(in, inst, 0).u;
    for (uint32_t a = 0; a < rank; a++) {
        t->dim[a] = gp_interp_get(in, inst, 1 + a).i;
        t->stride[a] = gp_interp_get(in, inst, 1 + rank + a).i;
    }
    return GpFlow_Next;
}

GpFlow gp_interp_TensorBase(GpInterp *in, const GpInst *inst) {
    gp_interp_result(in, inst)->u = (uint64_t)(uintptr_t)get_tensor(in, inst)->base;
    return GpFlow_Next;
}

GpFlow gp_interp_Stride(GpInterp *in, const GpInst *inst) {
    gp_interp_result(in, inst)->i = get_tensor(in, inst)->stride[inst->axis];
    return GpFlow_Next;
}

GpFlow gp_interp_Window(GpInterp *in, const GpInst *inst) {
    GpInterpTensor *t = (GpInterpTensor *)(uintptr_t)gp_interp_result(in, inst)->u;
    uint32_t rank = inst->results[0]->type->shape.rank;
    *t = *get_tensor(in, inst);
    for (uint32_t a = 0; a < rank; a++) {
        int64_t bytes = gp_elem_info[inst->results[0]->type->elem].bytes;
        t->base += gp_interp_get(in, inst, 1 + a).i * t->stride[a] * bytes;
        t->dim[a] = gp_interp_get(in, inst, 1 + rank + a).i;
    }
    return GpFlow_Next;
}

/* Where tile elements lie in a tensor. */
typedef struct Access {
    const GpInterpTensor *tensor;
    const GpIrType *tile;
    int64_t origin[GP_MAX_RANK]; /* element coordinates of the tile's first element */
    bool is_on;                  /* the mask */
} Access;

/* Coordinates stand from operand `first` on. */
static Access get_access(const GpInterp *in, const GpInst *inst, uint32_t first,
                         const GpIrType *tile) {
    Access access = {.tensor = get_tensor(in, inst), .tile = tile, .is_on = true};
    uint32_t rank = tile->shape.rank;
    for (uint32_t a = 0; a < rank; a++)
        access.origin[a] =
            gp_interp_get(in, inst, first + a).i * (inst->by_element ? 1 : tile->shape.dim[a]);
    if (inst->operand_count > first + rank)
        access.is_on = gp_interp_get(in, inst, first + rank).u != 0;
    return access;
}

/* The address of an element of the tile; NULL beyond the tensor. */
static void *find_element(const Access *access, const int64_t *coord) {
    const GpInterpTensor *t = access->tensor;
    int64_t offset = 0;
    for (int a = 0; a < access->tile->shape.rank; a++) {
        int64_t at = access->origin[a] + coord[a];
        if (at < 0 || at >= t->dim[a]) return NULL;
        offset += at * t->stride[a];
    }
    return access->is_on ? t->base + offset * gp_elem_info[access->tile->elem].bytes : NULL;
}

GpFlow gp_interp_LoadTile(GpInterp *in, const GpInst *inst) {
    const GpIrType *tile = inst->results[0]->type;
    Access access = get_access(in, inst, 1, tile);
    int64_t n = gp_ir_numel(tile), coord[GP_MAX_RANK] = {0};
    GpScalar pad = gp_ir_pad(inst), *to = gp_interp_result(in, inst);
    for (int64_t e = 0; e < n; e++) {
        const void *from = find_element(&access, coord);
        to[e] = from ? gp_scalar_load(tile->elem, from) : pad;
        step_coord(&tile->shape, coord);
    }
    return GpFlow_Next;
}

GpFlow gp_interp_StoreTile(GpInterp *in, const GpInst *inst) {
    const GpIrType *tile = inst->operands[1]->type;
    Access access = get_access(in, inst, 2, tile);
    int64_t n = gp_ir_numel(tile), coord[GP_MAX_RANK] = {0};
    const GpScalar *from = gp_interp_at(in, inst->operands[1]);
    for (int64_t e = 0; e < n; e++) {
        void *to = find_element(&access, coord);
        if (to) gp_scalar_store(from[e], to);
        step_coord(&tile->shape, coord);
    }
    return GpFlow_Next;
}
