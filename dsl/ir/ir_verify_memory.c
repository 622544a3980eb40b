/* The rules of tensors, addresses, and what reads and writes there. */
#include "dsl/ir/ir_verify_sig.h"

bool gp_sig_Dim(V *v, I *inst) {
    if (!need_counts(v, inst, 1, 1)) return false;
    return need(v, inst, in(inst, 0)->kind == GpIrType_Tensor, "it takes a tensor") &&
           need(v, inst, inst->axis < in(inst, 0)->shape.rank, "the tensor has no such axis") &&
           need(v, inst, is_scalar(out(inst), GpElem_I32), "the result is an i32");
}

/* Operands from `first` on; those that the result's type has are constants. */
static bool has_extents(V *v, I *inst, uint32_t first) {
    const GpShape *shape = &out(inst)->shape;
    for (uint32_t i = 0; i < (uint32_t)shape->rank; i++) {
        GpScalar extent;
        if (shape->dim[i] != GP_DYNAMIC &&
            !(gp_ir_const(inst->operands[first + i], &extent) && extent.i == shape->dim[i]))
            return gp_ir_refuse(v, inst, "an extent is another than the type says");
    }
    return true;
}

bool gp_sig_MakeTensor(V *v, I *inst) {
    if (!need(v, inst, inst->operand_count >= 1 && inst->result_count == 1,
              "it takes an address and gives a tensor"))
        return false;
    const GpIrType *t = out(inst);
    uint32_t rank = t->shape.rank;
    if (!need(v, inst, t->kind == GpIrType_Tensor && in(inst, 0)->kind == GpIrType_Ptr &&
                           in(inst, 0)->elem == t->elem && inst->operand_count == 1 + 2 * rank,
              "it makes a tensor of the address's element type of extents and strides"))
        return false;
    for (uint32_t i = 0; i < rank; i++)
        if (!is_scalar(in(inst, 1 + i), GpElem_I32) ||
            !is_scalar(in(inst, 1 + rank + i), GpElem_I64))
            return gp_ir_refuse(v, inst, "extents are i32 and strides i64");
    return has_extents(v, inst, 1);
}

bool gp_sig_TensorBase(V *v, I *inst) {
    return need_counts(v, inst, 1, 1) &&
           need(v, inst, in(inst, 0)->kind == GpIrType_Tensor && out(inst)->kind == GpIrType_Ptr &&
                             out(inst)->space == GpSpace_Global &&
                             out(inst)->elem == in(inst, 0)->elem,
                "it gives an address of the tensor's element type");
}

bool gp_sig_Stride(V *v, I *inst) {
    return need_counts(v, inst, 1, 1) &&
           need(v, inst, in(inst, 0)->kind == GpIrType_Tensor, "it takes a tensor") &&
           need(v, inst, inst->axis < in(inst, 0)->shape.rank, "the tensor has no such axis") &&
           need(v, inst, is_scalar(out(inst), GpElem_I64), "the result is an i64");
}

bool gp_sig_Window(V *v, I *inst) {
    if (!need(v, inst, inst->operand_count >= 1 && inst->result_count == 1,
              "it takes a tensor and gives one"))
        return false;
    const GpIrType *from = in(inst, 0), *to = out(inst);
    uint32_t rank = from->shape.rank;
    bool fits = from->kind == GpIrType_Tensor && to->kind == GpIrType_Tensor &&
                from->elem == to->elem && to->shape.rank == rank &&
                inst->operand_count == 1 + 2 * rank;
    if (!need(v, inst, fits, "it keeps element type and rank"))
        return false;
    for (uint32_t i = 1; i < inst->operand_count; i++)
        if (!is_scalar(in(inst, i), GpElem_I32))
            return gp_ir_refuse(v, inst, "starts and extents are i32");
    return has_extents(v, inst, 1 + rank);
}

/* Tile coordinates from operand `first` on, then perhaps a mask. */
static bool check_access(V *v, I *inst, uint32_t first, const GpIrType *tile) {
    const GpIrType *tensor = in(inst, 0);
    uint32_t rank = tensor->shape.rank;
    if (!need(v, inst, tensor->kind == GpIrType_Tensor && tile->kind == GpIrType_Tile &&
                           tile->elem == tensor->elem && tile->shape.rank == rank,
              "the tile is of the tensor's element type and rank"))
        return false;
    uint32_t want = first + rank;
    if (inst->operand_count != want && inst->operand_count != want + 1)
        return gp_ir_refuse(v, inst, "it takes %u coordinates", rank);
    for (uint32_t i = first; i < want; i++)
        if (!is_scalar(in(inst, i), GpElem_I32))
            return gp_ir_refuse(v, inst, "tile coordinates are i32");
    return need(v, inst, inst->operand_count == want || is_scalar(in(inst, want), GpElem_Bool),
                "the mask is a bool");
}

bool gp_sig_LoadTile(V *v, I *inst) {
    if (!need(v, inst, inst->operand_count >= 1 && inst->result_count == 1,
              "it takes a tensor and gives a tile"))
        return false;
    return need(v, inst, inst->imm.u == 0 || inst->imm.elem == out(inst)->elem,
                "the padding value is not of the tile's element type") &&
           check_access(v, inst, 1, out(inst));
}

bool gp_sig_StoreTile(V *v, I *inst) {
    if (!need(v, inst, inst->operand_count >= 2 && inst->result_count == 0,
              "it takes a tensor and a tile"))
        return false;
    return check_access(v, inst, 2, in(inst, 1));
}

bool gp_sig_PtrAdd(V *v, I *inst) {
    return need_counts(v, inst, 2, 1) &&
           need(v, inst, in(inst, 0)->kind == GpIrType_Ptr && in(inst, 0) == out(inst),
                "it takes and gives one type of address") &&
           need(v, inst, is_index(in(inst, 1)), "the index is i64 or u64");
}

bool gp_sig_Slot(V *v, I *inst) {
    return need_counts(v, inst, 0, 1) &&
           need(v, inst, out(inst)->kind == GpIrType_Ptr && out(inst)->space == GpSpace_Local,
                "the result is an address of local memory") &&
           need(v, inst, inst->imm.i >= 1 && inst->imm.i <= GP_MAX_TILE,
                "it has 1 to 2^20 elements");
}

static bool check_mask(V *v, I *inst, uint32_t at) {
    if (inst->operand_count != at && inst->operand_count != at + 1)
        return gp_ir_refuse(v, inst, "it takes %u operands and perhaps a mask", at);
    return need(v, inst, inst->operand_count == at || is_scalar(in(inst, at), GpElem_Bool),
                "the mask is a bool");
}

bool gp_sig_Load(V *v, I *inst) {
    return check_mask(v, inst, 1) && need(v, inst, inst->result_count == 1, "it gives a value") &&
           need(v, inst,
                in(inst, 0)->kind == GpIrType_Ptr && is_scalar(out(inst), in(inst, 0)->elem),
                "the result is of the address's element type");
}

bool gp_sig_Store(V *v, I *inst) {
    return check_mask(v, inst, 2) && need(v, inst, inst->result_count == 0, "it gives nothing") &&
           need(v, inst,
                in(inst, 0)->kind == GpIrType_Ptr && is_scalar(in(inst, 1), in(inst, 0)->elem),
                "the value is of the address's element type");
}

typedef enum Access { Access_Load, Access_Store, Access_Update } Access;

static bool check_ordering(V *v, I *inst, Access access) {
    static const bool allowed[GpOrdering_count][3] = {
#define GP_ORDERING(id, word, loads, stores, updates) [GpOrdering_##id] = {loads, stores, updates},
#include "dsl/ir/access.def"
    };
    return allowed[inst->ordering][access] ||
           gp_ir_refuse(v, inst, "it cannot be %s", gp_ir_ordering_words[inst->ordering]);
}

/* (ptr, offsets, values of the pointee's type .., mask) */
static bool check_elements(V *v, I *inst, uint32_t values, Access access) {
    const GpIrType *ptr = in(inst, 0), *offsets = in(inst, 1), *mask = in(inst, 2 + values);
    if (!need(v, inst, ptr->kind == GpIrType_Ptr, "it takes an address") ||
        !need(v, inst, has_numbers(offsets) && offsets->elem == GpElem_I64, "offsets are i64"))
        return false;
    for (uint32_t i = 2; i < 2 + values; i++)
        if (!is_alike(in(inst, i), offsets) || in(inst, i)->elem != ptr->elem)
            return gp_ir_refuse(v, inst, "operand %u is of the address's element type and the "
                                         "offsets' shape", i);
    return need(v, inst, is_alike(mask, offsets) && mask->elem == GpElem_Bool,
                "the mask is bool in the offsets' shape") &&
           need(v, inst,
                inst->result_count == 0 ||
                    (is_alike(out(inst), offsets) && out(inst)->elem == ptr->elem),
                "the result is of the address's element type and the offsets' shape") &&
           check_ordering(v, inst, access);
}

bool gp_sig_Gather(V *v, I *inst) {
    return need_counts(v, inst, 4, 1) && check_elements(v, inst, 0, Access_Load) &&
           need(v, inst, is_scalar(in(inst, 3), in(inst, 0)->elem),
                "the padding value is a scalar of the address's element type");
}

bool gp_sig_Scatter(V *v, I *inst) {
    return need_counts(v, inst, 4, 0) && check_elements(v, inst, 1, Access_Store);
}

bool gp_sig_AtomicRmw(V *v, I *inst) {
    if (!need_counts(v, inst, 4, 1) || !check_elements(v, inst, 1, Access_Update)) return false;
    GpElem elem = in(inst, 0)->elem;
    return gp_elems_hold(gp_atomic_info[inst->atomic].elems, elem) ||
           gp_ir_refuse(v, inst, "%s does not take %s", gp_ir_atomic_words[inst->atomic],
                        gp_elem_info[elem].name);
}

bool gp_sig_AtomicCas(V *v, I *inst) {
    return need_counts(v, inst, 5, 1) && check_elements(v, inst, 2, Access_Update) &&
           need(v, inst, is_number(in(inst, 0)->elem), "it takes integers or floats");
}

bool gp_sig_IntToPtr(V *v, I *inst) {
    return need_counts(v, inst, 1, 1) &&
           need(v, inst, is_scalar(in(inst, 0), GpElem_I64), "it takes an i64") &&
           need(v, inst, out(inst)->kind == GpIrType_Ptr && out(inst)->space == GpSpace_Global,
                "the result is an address of global memory");
}

bool gp_sig_PtrToInt(V *v, I *inst) {
    return need_counts(v, inst, 1, 1) &&
           need(v, inst, in(inst, 0)->kind == GpIrType_Ptr, "it takes an address") &&
           need(v, inst, is_scalar(out(inst), GpElem_I64), "the result is an i64");
}

bool gp_sig_Global(V *v, I *inst) {
    return need_counts(v, inst, 0, 1) &&
           need(v, inst,
                out(inst)->kind == GpIrType_Ptr && out(inst)->space == GpSpace_Global &&
                    inst->imm.elem == out(inst)->elem,
                "the result is an address of global memory, of the number's element type");
}
