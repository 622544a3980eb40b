/* The rules of operations on tiles: their shapes. */
#include "dsl/ir/ir_verify_sig.h"

bool gp_sig_Splat(V *v, I *inst) {
    return need_counts(v, inst, 1, 1) &&
           need(v, inst, in(inst, 0)->kind == GpIrType_Scalar && out(inst)->kind == GpIrType_Tile &&
                             in(inst, 0)->elem == out(inst)->elem,
                "it makes a tile of a scalar of its element type");
}

bool gp_sig_Broadcast(V *v, I *inst) {
    if (!need_counts(v, inst, 1, 1)) return false;
    const GpIrType *a = in(inst, 0), *b = out(inst);
    bool fits = a->kind == GpIrType_Tile && b->kind == GpIrType_Tile && a->elem == b->elem &&
                a->shape.rank == b->shape.rank;
    for (int i = 0; fits && i < a->shape.rank; i++)
        fits = a->shape.dim[i] == b->shape.dim[i] || a->shape.dim[i] == 1;
    return need(v, inst, fits, "axes of extent 1 are repeated, others stay");
}

bool gp_sig_Reshape(V *v, I *inst) {
    if (!need_counts(v, inst, 1, 1)) return false;
    const GpIrType *a = in(inst, 0), *b = out(inst);
    int64_t m = 0, n = 0;
    bool is_tiles = a->kind == GpIrType_Tile && b->kind == GpIrType_Tile && a->elem == b->elem;
    return need(v, inst,
                is_tiles && gp_shape_numel(&a->shape, &m) &&
                    gp_shape_numel(&b->shape, &n) && m == n,
                "it keeps the number of elements");
}

bool gp_sig_Iota(V *v, I *inst) {
    return need_counts(v, inst, 0, 1) &&
           need(v, inst,
                out(inst)->kind == GpIrType_Tile && out(inst)->shape.rank == 1 &&
                    is_integer(out(inst)->elem),
                "it makes an integer tile of rank 1");
}

bool gp_sig_ToScalar(V *v, I *inst) {
    if (!need_counts(v, inst, 1, 1)) return false;
    int64_t n = 0;
    return need(v, inst, in(inst, 0)->kind == GpIrType_Tile &&
                             gp_shape_numel(&in(inst, 0)->shape, &n) && n == 1 &&
                             is_scalar(out(inst), in(inst, 0)->elem),
                "it takes a tile of one element");
}

/* The body of a reduction: backends call it as often as they like, in any order. */
static bool check_combination(V *v, I *inst) {
    const GpRegion *r = inst->regions[0];
    GpElem elem = in(inst, 0)->elem;
    if (!need(v, inst, r->param_count == 2 && is_scalar(r->params[0]->type, elem) &&
                           is_scalar(r->params[1]->type, elem),
              "its region takes the accumulator and an element"))
        return false;
    for (I *i = r->first; i && i != r->last; i = i->next) {
        bool is_plain = (unsigned)i->op < GpOp_count && gp_op_info[i->op].effect == GpEffect_Pure &&
                        i->region_count == 0;
        for (uint32_t k = 0; is_plain && k < i->operand_count; k++)
            is_plain = in(i, k)->kind == GpIrType_Scalar;
        for (uint32_t k = 0; is_plain && k < i->result_count; k++)
            is_plain = i->results[k]->type->kind == GpIrType_Scalar;
        if (!is_plain)
            return gp_ir_refuse(v, inst, "its region holds pure scalar operations only");
    }
    return need(v, inst, r->last && r->last->op == GpOp_Yield, "its region ends in a yield");
}

static bool check_reduction(V *v, I *inst) {
    if (!need_counts(v, inst, 2, 1)) return false;
    const GpIrType *x = in(inst, 0);
    bool fits = is_tile(x) && is_scalar(in(inst, 1), x->elem) && out(inst)->elem == x->elem;
    return need(v, inst, fits,
                "it takes a tile and a scalar identity of its element type") &&
           need(v, inst, inst->axis < x->shape.rank, "the tile has no such axis");
}

bool gp_sig_Reduce(V *v, I *inst) {
    if (!check_reduction(v, inst)) return false;
    GpShape shape = {.rank = 0};
    const GpShape *from = &in(inst, 0)->shape;
    for (int a = 0; a < from->rank; a++)
        if (a != inst->axis) shape.dim[shape.rank++] = from->dim[a];
    return need(v, inst, has_shape(out(inst), &shape), "the result has every axis but the one") &&
           check_combination(v, inst);
}

bool gp_sig_Scan(V *v, I *inst) {
    return check_reduction(v, inst) &&
           need(v, inst, out(inst) == in(inst, 0), "the result is of the tile's type") &&
           check_combination(v, inst);
}

bool gp_sig_Permute(V *v, I *inst) {
    if (!need_counts(v, inst, 1, 1)) return false;
    const GpIrType *x = in(inst, 0);
    GpShape shape = {.rank = x->shape.rank};
    bool is_taken[GP_MAX_RANK] = {false};
    bool fits = is_tile(x) && inst->perm.rank == x->shape.rank && out(inst)->elem == x->elem;
    for (int k = 0; fits && k < x->shape.rank; k++) {
        uint8_t from = inst->perm.axis[k];
        fits = from < x->shape.rank && !is_taken[from];
        if (!fits) break;
        is_taken[from] = true;
        shape.dim[k] = x->shape.dim[from];
    }
    return need(v, inst, fits, "it names every axis of a tile once") &&
           need(v, inst, has_shape(out(inst), &shape), "the result's extents are permuted alike");
}

bool gp_sig_Cat(V *v, I *inst) {
    if (!need_counts(v, inst, 2, 1)) return false;
    const GpIrType *a = in(inst, 0), *b = in(inst, 1);
    bool fits = is_tile(a) && is_tile(b) && a->elem == b->elem && out(inst)->elem == a->elem &&
                a->shape.rank == b->shape.rank && inst->axis < a->shape.rank;
    if (!need(v, inst, fits, "it takes two tiles of one element type and rank that have the axis"))
        return false;
    GpShape shape = a->shape;
    for (int k = 0; fits && k < shape.rank; k++) {
        if (k == inst->axis) shape.dim[k] += b->shape.dim[k];
        else fits = shape.dim[k] == b->shape.dim[k];
    }
    return need(v, inst, fits && has_shape(out(inst), &shape),
                "extents add along the axis and are equal elsewhere");
}

bool gp_sig_ExtractTile(V *v, I *inst) {
    if (!need(v, inst, inst->operand_count && is_tile(in(inst, 0)), "it takes a tile")) return false;
    const GpIrType *x = in(inst, 0);
    if (!need_counts(v, inst, 1u + x->shape.rank, 1)) return false;
    bool fits = is_tile(out(inst)) && out(inst)->elem == x->elem &&
                out(inst)->shape.rank == x->shape.rank;
    for (int a = 0; fits && a < x->shape.rank; a++) {
        int64_t part = out(inst)->shape.dim[a];
        fits = part > 0 && x->shape.dim[a] % part == 0;
    }
    if (!need(v, inst, fits, "the result's extents divide the tile's")) return false;
    for (uint32_t i = 1; i < inst->operand_count; i++)
        if (!is_scalar(in(inst, i), GpElem_I32)) return gp_ir_refuse(v, inst, "indices are i32");
    return true;
}

bool gp_sig_Mma(V *v, I *inst) {
    if (!need_counts(v, inst, 3, 1)) return false;
    const GpIrType *a = in(inst, 0), *b = in(inst, 1), *acc = in(inst, 2);
    GpElem sum;
    uint8_t rank = a->shape.rank, m = rank == 3, k = rank - 1;
    bool fits = is_tile(a) && is_tile(b) && is_tile(acc) && (rank == 2 || rank == 3) &&
                b->shape.rank == rank && acc->shape.rank == rank &&
                a->shape.dim[k] == b->shape.dim[m] && a->shape.dim[m] == acc->shape.dim[m] &&
                b->shape.dim[k] == acc->shape.dim[k];
    if (fits && rank == 3)
        fits = a->shape.dim[0] == b->shape.dim[0] && a->shape.dim[0] == acc->shape.dim[0];
    return need(v, inst, fits, "it takes m x k, k x n and m x n tiles, or batches of them") &&
           need(v, inst, gp_mma_find(a->elem, b->elem, acc->elem, &sum),
                "it does not take these element types together") &&
           need(v, inst, out(inst) == acc, "the result is of the accumulator's type");
}
