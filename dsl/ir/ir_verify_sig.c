/* One rule per signature: operands, results, attributes and the parameters of regions. What
** regions yield is checked at the yield, break or continue, which knows where it goes. */
#include "dsl/ir/ir_verify.h"

typedef GpVerifier V;
typedef const GpInst I;

static const GpIrType *in(I *inst, uint32_t i) { return inst->operands[i]->type; }
static const GpIrType *out(I *inst) { return inst->results[0]->type; }

static bool need_counts(V *v, I *inst, uint32_t operands, uint32_t results) {
    if (inst->operand_count != operands)
        return gp_ir_refuse(v, inst, "it takes %u operands, not %u", operands, inst->operand_count);
    if (inst->result_count != results)
        return gp_ir_refuse(v, inst, "it gives %u results, not %u", results, inst->result_count);
    return true;
}

static bool need(V *v, I *inst, bool rule, const char *text) {
    return rule || gp_ir_refuse(v, inst, "%s", text);
}

static bool is_scalar(const GpIrType *t, GpElem elem) {
    return t->kind == GpIrType_Scalar && t->elem == elem;
}
static bool is_index(const GpIrType *t) {
    return is_scalar(t, GpElem_I64) || is_scalar(t, GpElem_U64);
}
static bool has_numbers(const GpIrType *t) {
    return t->kind == GpIrType_Scalar || t->kind == GpIrType_Tile;
}
/* Scalars both, or tiles of one shape both. */
static bool is_alike(const GpIrType *a, const GpIrType *b) {
    return has_numbers(a) && a->kind == b->kind && gp_shape_eq(&a->shape, &b->shape);
}

static bool is_integer(GpElem e) { return gp_elem_is_integer(e); }
static bool is_number(GpElem e) { return gp_elems_hold(GpSigElems_Number, e); }

/* (x, ..) -> x */
static bool check_uniform(V *v, I *inst, uint32_t operands, const char *what) {
    if (!need_counts(v, inst, operands, 1)) return false;
    for (uint32_t i = 0; i < operands; i++)
        if (in(inst, i) != out(inst))
            return gp_ir_refuse(v, inst, "operand %u is not of the result's type", i);
    return need(v, inst, has_numbers(out(inst)) && gp_sig_takes(gp_op_info[inst->op].sig, out(inst)->elem),
                what);
}

#define UNIFORM(sig, operands, what) \
    static bool check_##sig(V *v, I *inst) { return check_uniform(v, inst, operands, what); }
UNIFORM(Num1, 1, "it takes integers or floats")
UNIFORM(Num2, 2, "it takes integers or floats")
UNIFORM(Int2, 2, "it takes integers")
UNIFORM(Bits1, 1, "it takes integers or bools")
UNIFORM(Bits2, 2, "it takes integers or bools")
UNIFORM(Float1, 1, "it takes floats")
UNIFORM(Float2, 2, "it takes floats")
UNIFORM(Float3, 3, "it takes floats")
#undef UNIFORM

static bool check_Const(V *v, I *inst) {
    if (!need_counts(v, inst, 0, 1)) return false;
    if (!need(v, inst, has_numbers(out(inst)), "a constant is a scalar or a tile")) return false;
    return need(v, inst, inst->imm.elem == out(inst)->elem,
                "the value is not of the result's element type");
}

static bool check_Cmp(V *v, I *inst) {
    if (!need_counts(v, inst, 2, 1)) return false;
    if (!need(v, inst, in(inst, 0) == in(inst, 1), "the operands differ in type")) return false;
    return need(v, inst, is_alike(in(inst, 0), out(inst)) && out(inst)->elem == GpElem_Bool,
                "the result is bool in the operands' shape");
}

static bool check_Select(V *v, I *inst) {
    if (!need_counts(v, inst, 3, 1)) return false;
    if (!need(v, inst, in(inst, 1) == out(inst) && in(inst, 2) == out(inst),
              "the choices are not of the result's type"))
        return false;
    return need(v, inst, is_alike(in(inst, 0), out(inst)) && in(inst, 0)->elem == GpElem_Bool,
                "the condition is bool in the result's shape");
}

static bool check_Cast(V *v, I *inst) {
    return need_counts(v, inst, 1, 1) &&
           need(v, inst, is_alike(in(inst, 0), out(inst)), "it keeps the shape");
}

static bool check_Bitcast(V *v, I *inst) {
    if (!check_Cast(v, inst)) return false;
    GpElem a = in(inst, 0)->elem, b = out(inst)->elem;
    return need(v, inst,
                gp_elem_info[a].bits == gp_elem_info[b].bits && a != GpElem_Bool && b != GpElem_Bool,
                "both element types are numbers of one width");
}

typedef struct Values {
    GpValue *const *at;
    uint32_t count;
} Values;

static Values operands_of(I *inst) { return (Values){inst->operands, inst->operand_count}; }
static Values results_of(I *inst) { return (Values){inst->results, inst->result_count}; }
static Values params_of(const GpRegion *r) { return (Values){r->params, r->param_count}; }

static Values without_first(Values v, uint32_t n) {
    return n ? (Values){v.at + n, v.count - n} : v;
}

static bool check_alike(V *v, I *inst, Values have, Values want, const char *what) {
    if (have.count != want.count)
        return gp_ir_refuse(v, inst, "%u values for %u %s", have.count, want.count, what);
    for (uint32_t i = 0; i < have.count; i++)
        if (have.at[i]->type != want.at[i]->type)
            return gp_ir_refuse(v, inst, "value %u is not of the type of the %s", i, what);
    return true;
}

static bool check_If(V *v, I *inst) {
    if (!need_counts(v, inst, 1, inst->result_count)) return false;
    for (uint32_t i = 0; i < inst->region_count; i++)
        if (inst->regions[i]->param_count)
            return gp_ir_refuse(v, inst, "its regions take no parameters");
    return need(v, inst, is_scalar(in(inst, 0), GpElem_Bool), "the condition is a bool");
}

static bool check_step(V *v, I *inst) {
    GpScalar step;
    if (!gp_ir_const(inst->operands[2], &step)) return true;
    bool is_positive = gp_elem_is_signed(step.elem) ? step.i > 0 : step.u > 0;
    return need(v, inst, is_positive, "the step is positive");
}

static bool check_For(V *v, I *inst) {
    if (!need(v, inst, inst->operand_count >= 3, "it takes bounds and a step")) return false;
    const GpRegion *r = inst->regions[0];
    const GpIrType *index = in(inst, 0);
    if (!need(v, inst,
              index->kind == GpIrType_Scalar && is_integer(index->elem) && in(inst, 1) == index &&
                  in(inst, 2) == index && r->param_count >= 1 && r->params[0]->type == index,
              "bounds, step and index are of one integer type"))
        return false;
    return check_step(v, inst) &&
           check_alike(v, inst, without_first(operands_of(inst), 3), results_of(inst), "results") &&
           check_alike(v, inst, without_first(params_of(r), 1), results_of(inst), "results");
}

static bool check_Loop(V *v, I *inst) {
    return check_alike(v, inst, operands_of(inst), params_of(inst->regions[0]),
                       "region parameters");
}

static bool check_Block(V *v, I *inst) {
    return need_counts(v, inst, 0, inst->result_count) &&
           need(v, inst, inst->regions[0]->param_count == 0, "its region takes no parameters");
}

/* The next turn of a loop: what its region takes. */
static bool check_turn(V *v, I *inst, I *loop) {
    Values carried = without_first(params_of(loop->regions[0]), loop->op == GpOp_For ? 1 : 0);
    return check_alike(v, inst, operands_of(inst), carried, "carried values");
}

static bool check_Carry(V *v, I *inst) {
    if (!need_counts(v, inst, inst->operand_count, 0)) return false;
    I *to = inst->op == GpOp_Yield ? inst->parent->owner : inst->target;
    if (!to) return gp_ir_refuse(v, inst, "it stands in a region of an instruction");
    bool is_turn = to->op == GpOp_Loop || to->op == GpOp_For;
    if (is_turn && inst->op != GpOp_Break) return check_turn(v, inst, to);
    bool combines = to->op == GpOp_Reduce || to->op == GpOp_Scan;
    if (combines)
        return check_alike(v, inst, operands_of(inst), (Values){inst->parent->params, 1},
                           "accumulator");
    return check_alike(v, inst, operands_of(inst), results_of(to), "results");
}

static bool check_Nothing(V *v, I *inst) { return need_counts(v, inst, 0, 0); }

static bool check_CheckIndex(V *v, I *inst) {
    if (!need_counts(v, inst, 2, 1)) return false;
    bool is_wide = is_index(in(inst, 0)) && is_scalar(in(inst, 1), GpElem_U64);
    bool is_narrow = is_scalar(in(inst, 0), GpElem_I32) && is_scalar(in(inst, 1), GpElem_I32);
    return need(v, inst, is_wide || is_narrow,
                "it takes an i64 or u64 and a u64 length, or two i32") &&
           need(v, inst, is_scalar(out(inst), GpElem_Bool), "the result is a bool");
}

static bool check_CheckDiv(V *v, I *inst) {
    return need_counts(v, inst, 1, 0) &&
           need(v, inst, has_numbers(in(inst, 0)) && is_integer(in(inst, 0)->elem),
                "it takes integers");
}

static bool check_Assert(V *v, I *inst) {
    return need_counts(v, inst, 1, 0) &&
           need(v, inst, is_scalar(in(inst, 0), GpElem_Bool), "the condition is a bool");
}

static bool check_Splat(V *v, I *inst) {
    return need_counts(v, inst, 1, 1) &&
           need(v, inst, in(inst, 0)->kind == GpIrType_Scalar && out(inst)->kind == GpIrType_Tile &&
                             in(inst, 0)->elem == out(inst)->elem,
                "it makes a tile of a scalar of its element type");
}

static bool check_Broadcast(V *v, I *inst) {
    if (!need_counts(v, inst, 1, 1)) return false;
    const GpIrType *a = in(inst, 0), *b = out(inst);
    bool fits = a->kind == GpIrType_Tile && b->kind == GpIrType_Tile && a->elem == b->elem &&
                a->shape.rank == b->shape.rank;
    for (int i = 0; fits && i < a->shape.rank; i++)
        fits = a->shape.dim[i] == b->shape.dim[i] || a->shape.dim[i] == 1;
    return need(v, inst, fits, "axes of extent 1 are repeated, others stay");
}

static bool check_Reshape(V *v, I *inst) {
    if (!need_counts(v, inst, 1, 1)) return false;
    const GpIrType *a = in(inst, 0), *b = out(inst);
    int64_t m = 0, n = 0;
    bool is_tiles = a->kind == GpIrType_Tile && b->kind == GpIrType_Tile && a->elem == b->elem;
    return need(v, inst,
                is_tiles && gp_shape_numel(&a->shape, &m) &&
                    gp_shape_numel(&b->shape, &n) && m == n,
                "it keeps the number of elements");
}

static bool check_Iota(V *v, I *inst) {
    return need_counts(v, inst, 0, 1) &&
           need(v, inst,
                out(inst)->kind == GpIrType_Tile && out(inst)->shape.rank == 1 &&
                    is_integer(out(inst)->elem),
                "it makes an integer tile of rank 1");
}

static bool check_ToScalar(V *v, I *inst) {
    if (!need_counts(v, inst, 1, 1)) return false;
    int64_t n = 0;
    return need(v, inst, in(inst, 0)->kind == GpIrType_Tile &&
                             gp_shape_numel(&in(inst, 0)->shape, &n) && n == 1 &&
                             is_scalar(out(inst), in(inst, 0)->elem),
                "it takes a tile of one element");
}

static bool check_Below(V *v, I *inst) {
    return need_counts(v, inst, 2, 1) &&
           need(v, inst,
                is_scalar(in(inst, 0), GpElem_I32) && is_scalar(in(inst, 1), GpElem_I32) &&
                    out(inst) == in(inst, 0),
                "it takes two i32 and gives one");
}

static bool check_Axis(V *v, I *inst) {
    return need_counts(v, inst, 0, 1) && need(v, inst, inst->axis < 3, "the axis is 0, 1 or 2") &&
           need(v, inst,
                is_scalar(out(inst), v->fn->track == GpTrack_Simt ? GpElem_U32 : GpElem_I32),
                "the result is i32 on the tile track, u32 on SIMT");
}

static bool check_Dim(V *v, I *inst) {
    if (!need_counts(v, inst, 1, 1)) return false;
    return need(v, inst, in(inst, 0)->kind == GpIrType_Tensor, "it takes a tensor") &&
           need(v, inst, inst->axis < in(inst, 0)->shape.rank, "the tensor has no such axis") &&
           need(v, inst, is_scalar(out(inst), GpElem_I32), "the result is an i32");
}

static bool check_MakeTensor(V *v, I *inst) {
    if (!need(v, inst, inst->operand_count >= 1 && inst->result_count == 1,
              "it takes an address and gives a tensor"))
        return false;
    const GpIrType *t = out(inst);
    uint32_t rank = t->shape.rank;
    if (!need(v, inst, t->kind == GpIrType_Tensor && in(inst, 0)->kind == GpIrType_Ptr &&
                           in(inst, 0)->elem == t->elem && inst->operand_count == 1 + 2 * rank,
              "it makes a tensor of the address's element type of extents and strides"))
        return false;
    for (uint32_t i = 0; i < rank; i++) {
        GpScalar extent;
        if (!is_scalar(in(inst, 1 + i), GpElem_I32) ||
            !is_scalar(in(inst, 1 + rank + i), GpElem_I64))
            return gp_ir_refuse(v, inst, "extents are i32 and strides i64");
        if (t->shape.dim[i] != GP_DYNAMIC &&
            !(gp_ir_const(inst->operands[1 + i], &extent) && extent.i == t->shape.dim[i]))
            return gp_ir_refuse(v, inst, "an extent is another than the type says");
    }
    return true;
}

static bool check_TensorBase(V *v, I *inst) {
    return need_counts(v, inst, 1, 1) &&
           need(v, inst, in(inst, 0)->kind == GpIrType_Tensor && out(inst)->kind == GpIrType_Ptr &&
                             out(inst)->space == GpSpace_Global &&
                             out(inst)->elem == in(inst, 0)->elem,
                "it gives an address of the tensor's element type");
}

static bool check_Stride(V *v, I *inst) {
    return need_counts(v, inst, 1, 1) &&
           need(v, inst, in(inst, 0)->kind == GpIrType_Tensor, "it takes a tensor") &&
           need(v, inst, inst->axis < in(inst, 0)->shape.rank, "the tensor has no such axis") &&
           need(v, inst, is_scalar(out(inst), GpElem_I64), "the result is an i64");
}

static bool check_Window(V *v, I *inst) {
    if (!need(v, inst, inst->operand_count >= 1 && inst->result_count == 1,
              "it takes a tensor and gives one"))
        return false;
    const GpIrType *from = in(inst, 0), *to = out(inst);
    uint32_t rank = from->shape.rank;
    bool fits = from->kind == GpIrType_Tensor && to->kind == GpIrType_Tensor &&
                from->elem == to->elem && to->shape.rank == rank &&
                inst->operand_count == 1 + 2 * rank;
    for (uint32_t i = 0; fits && i < rank; i++)
        fits = to->shape.dim[i] == GP_DYNAMIC;
    if (!need(v, inst, fits, "it keeps element type and rank, and its extents are dynamic"))
        return false;
    for (uint32_t i = 1; i < inst->operand_count; i++)
        if (!is_scalar(in(inst, i), GpElem_I32))
            return gp_ir_refuse(v, inst, "starts and extents are i32");
    return true;
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

static bool check_LoadTile(V *v, I *inst) {
    if (!need(v, inst, inst->operand_count >= 1 && inst->result_count == 1,
              "it takes a tensor and gives a tile"))
        return false;
    return need(v, inst, inst->imm.u == 0 || inst->imm.elem == out(inst)->elem,
                "the padding value is not of the tile's element type") &&
           check_access(v, inst, 1, out(inst));
}

static bool check_StoreTile(V *v, I *inst) {
    if (!need(v, inst, inst->operand_count >= 2 && inst->result_count == 0,
              "it takes a tensor and a tile"))
        return false;
    return check_access(v, inst, 2, in(inst, 1));
}

static bool check_PtrAdd(V *v, I *inst) {
    return need_counts(v, inst, 2, 1) &&
           need(v, inst, in(inst, 0)->kind == GpIrType_Ptr && in(inst, 0) == out(inst),
                "it takes and gives one type of address") &&
           need(v, inst, is_index(in(inst, 1)), "the index is i64 or u64");
}

static bool check_Slot(V *v, I *inst) {
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

static bool check_Load(V *v, I *inst) {
    return check_mask(v, inst, 1) && need(v, inst, inst->result_count == 1, "it gives a value") &&
           need(v, inst,
                in(inst, 0)->kind == GpIrType_Ptr && is_scalar(out(inst), in(inst, 0)->elem),
                "the result is of the address's element type");
}

static bool check_Store(V *v, I *inst) {
    return check_mask(v, inst, 2) && need(v, inst, inst->result_count == 0, "it gives nothing") &&
           need(v, inst,
                in(inst, 0)->kind == GpIrType_Ptr && is_scalar(in(inst, 1), in(inst, 0)->elem),
                "the value is of the address's element type");
}

static bool is_tile(const GpIrType *t) { return t->kind == GpIrType_Tile; }
static bool has_shape(const GpIrType *t, const GpShape *shape) {
    return is_tile(t) && gp_shape_eq(&t->shape, shape);
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

static bool check_Reduce(V *v, I *inst) {
    if (!check_reduction(v, inst)) return false;
    GpShape shape = {.rank = 0};
    const GpShape *from = &in(inst, 0)->shape;
    for (int a = 0; a < from->rank; a++)
        if (a != inst->axis) shape.dim[shape.rank++] = from->dim[a];
    return need(v, inst, has_shape(out(inst), &shape), "the result has every axis but the one") &&
           check_combination(v, inst);
}

static bool check_Scan(V *v, I *inst) {
    return check_reduction(v, inst) &&
           need(v, inst, out(inst) == in(inst, 0), "the result is of the tile's type") &&
           check_combination(v, inst);
}

static bool check_Permute(V *v, I *inst) {
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

static bool check_Cat(V *v, I *inst) {
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

static bool check_ExtractTile(V *v, I *inst) {
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

static bool check_Mma(V *v, I *inst) {
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

static bool check_Gather(V *v, I *inst) {
    return need_counts(v, inst, 4, 1) && check_elements(v, inst, 0, Access_Load) &&
           need(v, inst, is_scalar(in(inst, 3), in(inst, 0)->elem),
                "the padding value is a scalar of the address's element type");
}

static bool check_Scatter(V *v, I *inst) {
    return need_counts(v, inst, 4, 0) && check_elements(v, inst, 1, Access_Store);
}

static bool check_AtomicRmw(V *v, I *inst) {
    if (!need_counts(v, inst, 4, 1) || !check_elements(v, inst, 1, Access_Update)) return false;
    GpElem elem = in(inst, 0)->elem;
    return gp_elems_hold(gp_atomic_info[inst->atomic].elems, elem) ||
           gp_ir_refuse(v, inst, "%s does not take %s", gp_ir_atomic_words[inst->atomic],
                        gp_elem_info[elem].name);
}

static bool check_AtomicCas(V *v, I *inst) {
    return need_counts(v, inst, 5, 1) && check_elements(v, inst, 2, Access_Update) &&
           need(v, inst, is_number(in(inst, 0)->elem), "it takes integers or floats");
}

static bool check_IntToPtr(V *v, I *inst) {
    return need_counts(v, inst, 1, 1) &&
           need(v, inst, is_scalar(in(inst, 0), GpElem_I64), "it takes an i64") &&
           need(v, inst, out(inst)->kind == GpIrType_Ptr && out(inst)->space == GpSpace_Global,
                "the result is an address of global memory");
}

static bool check_PtrToInt(V *v, I *inst) {
    return need_counts(v, inst, 1, 1) &&
           need(v, inst, in(inst, 0)->kind == GpIrType_Ptr, "it takes an address") &&
           need(v, inst, is_scalar(out(inst), GpElem_I64), "the result is an i64");
}

/* How many {} a text has; -1 when a brace stands alone. */
static int count_places(const char *text) {
    int count = 0;
    for (const char *c = text; *c; c++) {
        if (*c != '{' && *c != '}') continue;
        if (c[0] == c[1]) c++;
        else if (c[0] == '{' && c[1] == '}') c++, count++;
        else return -1;
    }
    return count;
}

static bool check_Print(V *v, I *inst) {
    if (!need_counts(v, inst, inst->operand_count, 0)) return false;
    for (uint32_t i = 0; i < inst->operand_count; i++)
        if (!has_numbers(in(inst, i)) && in(inst, i)->kind != GpIrType_Ptr)
            return gp_ir_refuse(v, inst, "operand %u is a tensor", i);
    return need(v, inst, count_places(inst->text) == (int)inst->operand_count,
                "its text has one {} for each operand");
}

static bool check_Global(V *v, I *inst) {
    return need_counts(v, inst, 0, 1) &&
           need(v, inst,
                out(inst)->kind == GpIrType_Ptr && out(inst)->space == GpSpace_Global &&
                    inst->imm.elem == out(inst)->elem,
                "the result is an address of global memory, of the number's element type");
}

bool gp_ir_check_sig(GpVerifier *v, const GpInst *inst) {
    static bool (*const checks[GpSig_count])(V *, I *) = {
#define GP_SIG(id, attrs, regions, elementwise, elems, doc) [GpSig_##id] = check_##id,
#include "dsl/ir/sig.def"
    };
    return checks[gp_op_info[inst->op].sig](v, inst);
}
