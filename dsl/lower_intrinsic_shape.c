/* Intrinsics of cutile::core that change shapes, and matrix products. */
#include "dsl/lower_tile.h"

const char *gp_tile_marker(const GpLowerCall *call, uint32_t arg) {
    if (arg >= call->arg_count)
        return "";
    const GpType *t = call->args[arg].type;
    return t && t->kind == GpTy_Adt ? t->def->name->name : "";
}

bool gp_tile_perm(GpLower *lo, const GpType *array, uint32_t rank, GpPerm *out) {
    GpShape axes = gp_lower_adt_shape(lo, array);
    return gp_tile_is_perm(&axes, rank, out);
}

bool gp_tile_is_perm(const GpShape *axes, uint32_t rank, GpPerm *out) {
    bool is_taken[GP_MAX_RANK] = {false};
    *out = (GpPerm){.rank = (uint8_t)rank};
    if (axes->rank != (int)rank)
        return false;
    for (uint32_t i = 0; i < rank; i++) {
        int64_t from = axes->dim[i];
        if (from < 0 || from >= (int64_t)rank || is_taken[from])
            return false;
        is_taken[from] = true;
        out->axis[i] = (uint8_t)from;
    }
    return true;
}

GpValue *gp_tile_permute(GpLower *lo, GpValue *x, GpPerm perm) {
    GpShape shape = {.rank = x->type->shape.rank};
    bool is_same = true;
    for (int i = 0; i < shape.rank; i++) {
        shape.dim[i] = x->type->shape.dim[perm.axis[i]];
        is_same &= perm.axis[i] == i;
    }
    if (is_same)
        return x;
    const GpIrType *t = gp_ir_tile(lo->fn, x->type->elem, &shape);
    GpInst *inst = gp_build(&lo->b, GpOp_Permute, &x, 1, &t, 1);
    inst->perm = perm;
    return inst->results[0];
}

static const GpType *bare_type(GpLower *lo, const GpLowerCall *call, uint32_t arg) {
    (void)lo;
    const GpType *t = call->args[arg].type;
    while (t->kind == GpTy_Ref)
        t = t->inner;
    return t;
}

/* The value, or a refusal when the instance's shape is another than the annotation says. */
static GpVal result(GpLower *lo, const GpLowerCall *call, GpValue *v) {
    GpShape want = gp_lower_adt_shape(lo, call->type);
    if (gp_shape_eq(&want, &v->type->shape))
        return gp_call_result(lo, call, v);
    if (!lo->is_dead && !lo->has_failed)
        gp_lower_refuse(lo, call->span, "a result of `%s` annotated with another shape than it has",
                        call->def->name->name);
    return gp_lower_undef(lo, call->type);
}

GpVal gp_lower_PermuteTile(GpLower *lo, const GpLowerCall *call) {
    GpValue *x = gp_call_scalar(lo, call, 0);
    GpPerm perm;
    if (gp_tile_perm(lo, bare_type(lo, call, 1), (uint32_t)x->type->shape.rank, &perm))
        return result(lo, call, gp_tile_permute(lo, x, perm));
    gp_lower_refuse(lo, call->span, "`permute` without each axis of the tile once");
    return gp_lower_undef(lo, call->type);
}

GpVal gp_lower_TransposeTile(GpLower *lo, const GpLowerCall *call) {
    GpValue *x = gp_call_scalar(lo, call, 0);
    if (x->type->shape.rank != 2)
        return gp_lower_undef(lo, call->type);
    return result(lo, call, gp_tile_permute(lo, x, (GpPerm){.axis = {1, 0}, .rank = 2}));
}

GpVal gp_lower_CatTiles(GpLower *lo, const GpLowerCall *call) {
    GpValue *x[2] = {gp_call_scalar(lo, call, 0), gp_call_scalar(lo, call, 1)};
    GpShape shape = x[0]->type->shape, other = x[1]->type->shape;
    uint32_t axis;
    if (!gp_tile_const_axis(lo, call, 2, (uint32_t)shape.rank, &axis))
        return gp_lower_undef(lo, call->type);
    bool fits = other.rank == shape.rank;
    for (int i = 0; fits && i < shape.rank; i++)
        fits = i == (int)axis || shape.dim[i] == other.dim[i];
    if (!fits) {
        gp_lower_refuse(lo, call->span, "`cat` of tiles that differ in another axis");
        return gp_lower_undef(lo, call->type);
    }
    shape.dim[axis] += other.dim[axis];
    const GpIrType *t = gp_ir_tile(lo->fn, x[0]->type->elem, &shape);
    GpInst *inst = gp_build(&lo->b, GpOp_Cat, x, 2, &t, 1);
    inst->axis = (uint8_t)axis;
    return result(lo, call, inst->results[0]);
}

GpVal gp_lower_ExtractPart(GpLower *lo, const GpLowerCall *call) {
    GpValue *operands[GP_MAX_RANK + 1] = {gp_call_scalar(lo, call, 0)};
    GpShape whole = operands[0]->type->shape;
    const GpIrType *t = gp_lower_leaf_type(lo, call->type, 0), *index;
    GpVal indices = gp_call_arg(lo, call, 1);
    bool fits = t->shape.rank == whole.rank && indices.count == (uint32_t)whole.rank;
    for (int i = 0; fits && i < whole.rank; i++)
        fits = whole.dim[i] % t->shape.dim[i] == 0;
    if (!fits) {
        gp_lower_refuse(lo, call->span, "parts that do not divide the tile");
        return gp_lower_undef(lo, call->type);
    }
    index = gp_ir_scalar(lo->fn, GpElem_I32);
    for (uint32_t i = 0; i < indices.count; i++) {
        GpValue *v = gp_lower_get(lo, &indices, i);
        if (v->type->kind == GpIrType_Tile)
            v = gp_build(&lo->b, GpOp_Extract, &v, 1, &index, 1)->results[0];
        operands[i + 1] = gp_lower_convert(lo, v, GpElem_I32);
    }
    GpInst *inst = gp_build(&lo->b, GpOp_ExtractTile, operands, indices.count + 1, &t, 1);
    return gp_call_result(lo, call, inst->results[0]);
}

/* ---- Extents -------------------------------------------------------------------------------- */

GpVal gp_lower_ShapeDim(GpLower *lo, const GpLowerCall *call) {
    GpVal shape = gp_call_arg(lo, call, 0);
    uint32_t axis;
    if (!gp_tile_const_axis(lo, call, 1, shape.count, &axis))
        return gp_lower_undef(lo, call->type);
    return gp_call_result(lo, call, gp_lower_get(lo, &shape, axis));
}

/* [i32; N] of a tensor; N must be its rank. */
GpVal gp_lower_TensorShapeArray(GpLower *lo, const GpLowerCall *call) {
    GpValue *tensor = gp_call_scalar(lo, call, 0);
    GpVal out = gp_lower_undef(lo, call->type);
    if (out.count != (uint32_t)tensor->type->shape.rank) {
        gp_lower_refuse(lo, call->span, "%u extents of a tensor of rank %d", out.count,
                        tensor->type->shape.rank);
        return out;
    }
    for (uint32_t i = 0; i < out.count; i++)
        out.at[i].value = gp_tile_dim(lo, tensor, i);
    return out;
}

GpVal gp_lower_TileShape(GpLower *lo, const GpLowerCall *call) {
    return gp_lower_shape_value(lo, call->type);
}

GpVal gp_lower_PermuteArray(GpLower *lo, const GpLowerCall *call) {
    GpVal from = gp_call_arg(lo, call, 0), out = gp_lower_undef(lo, call->type);
    GpPerm perm;
    if (!gp_tile_perm(lo, bare_type(lo, call, 1), from.count, &perm) || out.count != from.count) {
        gp_lower_refuse(lo, call->span, "`permute_array` without each index once");
        return out;
    }
    for (uint32_t i = 0; i < out.count; i++)
        out.at[i].value = gp_lower_get(lo, &from, perm.axis[i]);
    return out;
}

/* ---- Matrix products ------------------------------------------------------------------------ */

/* ---- One part replaced ------------------------------------------------------------------------ */

/* The tile `times` times along an axis. */
static GpValue *repeated(GpLower *lo, GpValue *x, int axis, int64_t times) {
    GpShape to = x->type->shape, apart = {.rank = 3, .dim = {1, 1, 1}}, wide;
    for (int i = 0; i < to.rank; i++)
        apart.dim[i < axis ? 0 : 2] *= to.dim[i];
    wide = apart;
    wide.dim[1] = times;
    to.dim[axis] *= times;
    x = gp_tile_broadcast(lo, gp_tile_reshape(lo, x, &apart), &wide);
    return gp_tile_reshape(lo, x, &to);
}

/* Where the elements of an axis are of part `index` of `times`; the index counts modulo that. */
static GpValue *is_of_part(GpLower *lo, GpValue *index, int64_t times, int64_t size) {
    const GpShape line = {{times * size}, 1};
    const GpIrType *t = gp_ir_tile(lo->fn, GpElem_U32, &line), *u32 = gp_ir_scalar(lo->fn, GpElem_U32);
    GpValue *at = gp_build(&lo->b, GpOp_Iota, NULL, 0, &t, 1)->results[0];
    GpValue *part = gp_build2(&lo->b, GpOp_Div, at,
                              gp_build_const(&lo->b, t, (GpScalar){.elem = GpElem_U32, .u = (uint64_t)size}));
    GpScalar limit = {.elem = GpElem_U32, .u = (uint64_t)times};
    index = gp_build2(&lo->b, GpOp_Rem, gp_lower_convert(lo, index, GpElem_U32),
                      gp_build_const(&lo->b, u32, limit));
    return gp_build_cmp(&lo->b, GpPred_Eq, part, gp_lower_splat(lo, index, GpElem_U32, &line));
}

GpVal gp_lower_InsertPart(GpLower *lo, const GpLowerCall *call) {
    GpValue *part = gp_call_scalar(lo, call, 0), *whole = gp_call_scalar(lo, call, 1), *mask = NULL;
    GpShape small = part->type->shape, shape = whole->type->shape;
    GpVal index = gp_call_arg(lo, call, 2);
    bool fits = small.rank == shape.rank && index.count == shape.rank;
    for (int i = 0; fits && i < shape.rank; i++)
        fits = shape.dim[i] % small.dim[i] == 0;
    if (!fits) {
        gp_lower_refuse(lo, call->span, "`insert` of what is no equal part of the tile, or without an "
                                        "index for each axis");
        return gp_lower_undef(lo, call->type);
    }
    for (int i = 0; i < shape.rank; i++) {
        int64_t times = shape.dim[i] / small.dim[i];
        const GpIrType *number = gp_ir_scalar(lo->fn, GpElem_I32);
        GpValue *at = gp_lower_get(lo, &index, (uint32_t)i);
        GpShape thin = {.rank = shape.rank};
        for (int k = 0; k < shape.rank; k++)
            thin.dim[k] = k == i ? shape.dim[i] : 1;
        at = gp_build(&lo->b, GpOp_Extract, &at, 1, &number, 1)->results[0];
        GpValue *is = gp_tile_reshape(lo, is_of_part(lo, at, times, small.dim[i]), &thin);
        is = gp_tile_broadcast(lo, is, &shape);
        mask = mask ? gp_build2(&lo->b, GpOp_And, mask, is) : is;
        part = repeated(lo, part, i, times);
    }
    return gp_call_result(lo, call, mask ? gp_build_select(&lo->b, mask, part, whole) : part);
}

/* ---- Products --------------------------------------------------------------------------------- */

/* i8 with signedness::Unsigned is u8. */
static GpValue *with_sign(GpLower *lo, const GpLowerCall *call, GpValue *x, uint32_t arg) {
    const char *sign = gp_tile_marker(call, arg);
    GpElem elem = x->type->elem;
    if (!strcmp(sign, "Unsigned") && elem == GpElem_I8)
        elem = GpElem_U8;
    else if (!strcmp(sign, "Signed") && elem == GpElem_U8)
        elem = GpElem_I8;
    return gp_build_bitcast(&lo->b, x, elem);
}

bool gp_tile_are_matrices(GpValue *const *x) {
    const GpShape *l = &x[0]->type->shape, *r = &x[1]->type->shape, *a = &x[2]->type->shape;
    int n = l->rank;
    if (r->rank != n || a->rank != n || n < 2 || n > 3)
        return false;
    if (n == 3 && (l->dim[0] != r->dim[0] || l->dim[0] != a->dim[0]))
        return false;
    return l->dim[n - 1] == r->dim[n - 2] && l->dim[n - 2] == a->dim[n - 2] &&
           r->dim[n - 1] == a->dim[n - 1];
}

GpVal gp_lower_MatMul(GpLower *lo, const GpLowerCall *call) {
    GpValue *x[3];
    GpElem sum;
    for (uint32_t i = 0; i < 3; i++)
        x[i] = gp_call_scalar(lo, call, i);
    x[0] = with_sign(lo, call, x[0], 3);
    x[1] = with_sign(lo, call, x[1], 4);
    GpElem l = x[0]->type->elem, r = x[1]->type->elem, a = x[2]->type->elem;
    if (!gp_mma_find(l, r, a, &sum)) {
        gp_lower_refuse(lo, call->span, "a product of `%s` and `%s` added to `%s`",
                        gp_elem_info[l].name, gp_elem_info[r].name, gp_elem_info[a].name);
        return gp_lower_undef(lo, call->type);
    }
    if (!gp_tile_are_matrices(x)) {
        gp_lower_refuse(lo, call->span, "a product of tiles of these shapes");
        return gp_lower_undef(lo, call->type);
    }
    const GpIrType *t = x[2]->type;
    return gp_call_result(lo, call, gp_build(&lo->b, GpOp_Mma, x, 3, &t, 1)->results[0]);
}
