/* Scaled products of matrices, and the packed elements that they take. A scaled element is exact
** in f32, so that the product is one of f32; sm_100's instructions for it are not used. */
#include "dsl/lower_tile.h"

static const struct {
    GpElem elem, scale;
    int block;
} rows[] = {
#define GP_MMA_SCALED(elem, scale, block) {GpElem_##elem, GpElem_##scale, block},
#include "dsl/ir/mma_scaled.def"
};

static bool has_row(GpElem elem, GpElem scale, int64_t block) {
    for (size_t i = 0; i < GP_COUNT(rows); i++)
        if (rows[i].elem == elem && rows[i].scale == scale && rows[i].block == block)
            return true;
    return false;
}

/* The elements that share a scale along an axis; 0 when the shapes do not go together. */
static int64_t block_of(const GpValue *x, const GpValue *scale, int axis) {
    const GpShape *a = &x->type->shape, *b = &scale->type->shape;
    if (a->rank != b->rank || axis < 0)
        return 0;
    for (int i = 0; i < a->rank; i++)
        if (i == axis ? b->dim[i] < 1 || a->dim[i] % b->dim[i] != 0 : a->dim[i] != b->dim[i])
            return 0;
    return a->dim[axis] / b->dim[axis];
}

/* Each of the tile's elements times its block's scale, as f32. */
static GpValue *apply(GpLower *lo, GpValue *x, GpValue *scale, int axis, int64_t block) {
    const GpShape whole = x->type->shape;
    GpShape column = scale->type->shape, repeated = column;
    column.rank = repeated.rank = (uint8_t)(whole.rank + 1);
    for (int i = whole.rank; i > axis + 1; i--)
        column.dim[i] = repeated.dim[i] = whole.dim[i - 1];
    column.dim[axis + 1] = 1;
    repeated.dim[axis + 1] = block;
    GpValue *s = gp_lower_convert(lo, scale, GpElem_F32);
    s = gp_tile_broadcast(lo, gp_tile_reshape(lo, s, &column), &repeated);
    return gp_build2(&lo->b, GpOp_Mul, gp_lower_convert(lo, x, GpElem_F32),
                     gp_tile_reshape(lo, s, &whole));
}

GpVal gp_lower_MatMulScaled(GpLower *lo, const GpLowerCall *call) {
    GpValue *x[5];
    for (uint32_t i = 0; i < 5; i++)
        x[i] = gp_call_scalar(lo, call, i);
    GpElem elem = x[0]->type->elem, scale = x[3]->type->elem;
    int k[2] = {x[0]->type->shape.rank - 1, x[1]->type->shape.rank - 2};
    int64_t block = block_of(x[0], x[3], k[0]);
    if (!gp_tile_are_matrices(x) || !block || block != block_of(x[1], x[4], k[1])) {
        gp_lower_refuse(lo, call->span, "a product of tiles and scales of these shapes");
        return gp_lower_undef(lo, call->type);
    }
    if (!has_row(elem, scale, block)) {
        gp_lower_refuse(lo, call->span, "a product of `%s` scaled by `%s` in blocks of %lld",
                        gp_elem_info[elem].name, gp_elem_info[scale].name, (long long)block);
        return gp_lower_undef(lo, call->type);
    }
    GpValue *operands[] = {apply(lo, x[0], x[3], k[0], block), apply(lo, x[1], x[4], k[1], block), x[2]};
    const GpIrType *t = x[2]->type;
    return gp_call_result(lo, call, gp_build(&lo->b, GpOp_Mma, operands, 3, &t, 1)->results[0]);
}

/* ---- Elements as bytes ----------------------------------------------------------------------- */

/* Bits are moved in the unsigned type of their width, and tiles are flat until the end: a wider element is
** two of half its width, the lower one first. f4e2m1fn and i4 are kept in the low half of a byte. */

static GpElem unsigned_of(uint32_t bits) {
    return bits == 64 ? GpElem_U64 : bits == 32 ? GpElem_U32 : bits == 16 ? GpElem_U16 : GpElem_U8;
}

static uint32_t bits_of(GpElem elem) { return gp_elem_info[elem].bits; }

static GpValue *constant(GpLower *lo, const GpValue *like, uint64_t v) {
    return gp_build_const(&lo->b, like->type, (GpScalar){.elem = like->type->elem, .u = v});
}

/* Elements of four bits as bytes below 16, and such bytes as elements. */
static GpValue *nibbles_to_bytes(GpLower *lo, GpValue *x) {
    x = gp_lower_convert(lo, gp_build_bitcast(&lo->b, x, GpElem_I4), GpElem_U8);
    return gp_build2(&lo->b, GpOp_And, x, constant(lo, x, 0xf));
}

static GpValue *bytes_to_nibbles(GpLower *lo, GpValue *x, GpElem elem) {
    return gp_build_bitcast(&lo->b, gp_lower_convert(lo, x, GpElem_I4), elem);
}

static GpValue *flat(GpLower *lo, GpValue *x) {
    GpShape line = {.rank = 1};
    (void)gp_shape_numel(&x->type->shape, &line.dim[0]);
    return gp_tile_reshape(lo, x, &line);
}

/* {n} to {2n}: the lower `bits` bits of each element, then the rest of it. */
static GpValue *halve(GpLower *lo, GpValue *x, uint32_t bits) {
    gp_assert(bits < 64);
    GpElem to = unsigned_of(bits);
    int64_t n = x->type->shape.dim[0];
    GpShape column = {.dim = {n, 1}, .rank = 2}, pairs = {.dim = {n, 2}, .rank = 2};
    GpValue *half[2] = {gp_build2(&lo->b, GpOp_And, x, constant(lo, x, (UINT64_C(1) << bits) - 1)),
                        gp_build2(&lo->b, GpOp_Shr, x, constant(lo, x, bits))};
    for (int i = 0; i < 2; i++)
        half[i] = gp_tile_reshape(lo, gp_lower_convert(lo, half[i], to), &column);
    const GpIrType *t = gp_ir_tile(lo->fn, to, &pairs);
    GpInst *cat = gp_build(&lo->b, GpOp_Cat, half, 2, &t, 1);
    cat->axis = 1;
    return flat(lo, cat->results[0]);
}

/* {2n} to {n}: two elements of `bits` bits in one. */
static GpValue *join(GpLower *lo, GpValue *x, uint32_t bits) {
    GpElem to = unsigned_of(2 * bits);
    int64_t n = x->type->shape.dim[0] / 2;
    GpShape column = {.dim = {n, 1}, .rank = 2}, pairs = {.dim = {n, 2}, .rank = 2};
    const GpIrType *t = gp_ir_tile(lo->fn, x->type->elem, &column);
    GpValue *half[2], *at[3] = {gp_tile_reshape(lo, x, &pairs), gp_build_int(&lo->b, GpElem_I32, 0)};
    for (int i = 0; i < 2; i++) {
        at[2] = gp_build_int(&lo->b, GpElem_I32, i);
        half[i] = flat(lo, gp_build(&lo->b, GpOp_ExtractTile, at, 3, &t, 1)->results[0]);
        half[i] = gp_lower_convert(lo, half[i], to);
    }
    GpValue *high = gp_build2(&lo->b, GpOp_Shl, half[1], constant(lo, half[1], bits));
    return gp_build2(&lo->b, GpOp_Or, half[0], high);
}

/* The bytes hold the elements, and no element type is one of parts of bits. */
static bool check_packing(GpLower *lo, const GpLowerCall *call, GpElem elem, const GpShape *bytes,
                          const GpShape *elems) {
    int64_t have = 0, want = 0;
    if (elem == GpElem_Bool || elem == GpElem_TF32)
        gp_lower_refuse(lo, call->span, "`%s` of `%s`", call->def->name->name, gp_elem_info[elem].name);
    else if (!gp_shape_numel(bytes, &have) || !gp_shape_numel(elems, &want) ||
             8 * have != bits_of(elem) * want || elems->rank == 0)
        gp_lower_refuse(lo, call->span, "`%s` of other bytes than those of the elements",
                        call->def->name->name);
    else
        return true;
    return false;
}

GpVal gp_lower_UnpackBytes(GpLower *lo, const GpLowerCall *call) {
    GpValue *x = gp_build_bitcast(&lo->b, gp_call_scalar(lo, call, 0), GpElem_U8);
    GpElem elem = gp_lower_adt_elem(call->type);
    GpShape to = gp_lower_adt_shape(lo, call->type);
    if (!check_packing(lo, call, elem, &x->type->shape, &to))
        return gp_lower_undef(lo, call->type);
    x = flat(lo, x);
    if (bits_of(elem) == 4)
        x = bytes_to_nibbles(lo, halve(lo, x, 4), elem);
    for (uint32_t bits = 8; bits < bits_of(elem); bits *= 2)
        x = join(lo, x, bits);
    return gp_call_result(lo, call, gp_build_bitcast(&lo->b, gp_tile_reshape(lo, x, &to), elem));
}

GpVal gp_lower_PackBytes(GpLower *lo, const GpLowerCall *call) {
    GpValue *x = gp_call_scalar(lo, call, 0);
    GpElem elem = x->type->elem;
    GpShape to = gp_lower_adt_shape(lo, call->type);
    if (!check_packing(lo, call, elem, &to, &x->type->shape))
        return gp_lower_undef(lo, call->type);
    x = flat(lo, x);
    if (bits_of(elem) == 4)
        x = join(lo, nibbles_to_bytes(lo, x), 4);
    else
        x = gp_build_bitcast(&lo->b, x, unsigned_of(bits_of(elem)));
    for (uint32_t bits = bits_of(elem); bits > 8; bits /= 2)
        x = halve(lo, x, bits / 2);
    return gp_call_result(lo, call, gp_build_bitcast(&lo->b, gp_tile_reshape(lo, x, &to), gp_lower_adt_elem(call->type)));
}
