/* Calls of tile functions whose result has a shape that follows from the arguments: reductions
** lose an axis, permutations reorder axes, joined tiles add extents. The declarations leave that
** shape open; here it is found, and an annotation that says otherwise is reported. Where the
** operand's own shape is not known the annotation stands, and the instance decides. */
#include "dsl/check_body.h"

typedef struct TileCall {
    GpBody *b;
    const GpDef *fn;
    GpNode *receiver;
    const GpNodeList *args;
    const GpType *ret;
    GpSpan span;
} TileCall;

/* Argument i, the receiver first. */
static GpNode *argument(const TileCall *c, uint32_t i) {
    uint32_t lead = c->receiver ? 1 : 0;
    return i < lead ? c->receiver : c->args->at[i - lead];
}

static bool dims_of(const TileCall *c, uint32_t i, GpDims *out) {
    return gp_body_dims(c->b, gp_expr_type(argument(c, i)), out);
}

static const char *dims_text(const TileCall *c, const GpDims *d) {
    GpText t = {.session = gp_arena_session(c->b->c->arena)};
    gp_shapety_print(gp_shape_list(c->b->c->types, d->dim, d->rank), &t);
    const char *copy = gp_arena_copy(c->b->c->arena, gp_text_cstr(&t), t.len);
    gp_text_free(&t);
    return copy;
}

static void misfit(const TileCall *c, GpSpan span, const char *why, const char *label) {
    GpDiag *d = gp_diag(c->b->c->diags, GpDiag_G0157, span, c->fn->name->name, why);
    gp_primary_label(d, "%s", label);
}

static bool same_const(const TileCall *c, const GpConst *x, const GpConst *y) {
    return gp_unify_const(c->b->c, x, y) || gp_body_oblige_const(c->b, x, y, c->span);
}

static const GpShapeTy *shape_of(const GpType *t) {
    for (uint32_t i = 0; i < t->arg_count; i++)
        if (t->args[i].kind == GpGArg_Shape)
            return t->args[i].shape;
    return NULL;
}

static const GpConst *count_of(const TileCall *c, const GpDims *d) {
    const GpConst *n = gp_const_int(c->b->c->types, 1);
    for (uint8_t i = 0; i < d->rank; i++)
        n = gp_const_mul(c->b->c->types, n, d->dim[i]);
    return n;
}

/* The peer's kernels annotate reductions with axes of extent 1 that they do not have: {[1]} for a
** full one. The elements are the same. */
static bool has_extra_ones(const TileCall *c, const GpDims *found, const GpDims *said) {
    bool has_one = false;
    for (uint8_t i = 0; i < said->rank; i++)
        has_one |= said->dim[i] == gp_const_int(c->b->c->types, 1);
    return has_one && c->fn->intrinsic == GpIntrinsic_ReduceTile && said->rank > found->rank &&
           gp_body_oblige_const(c->b, count_of(c, found), count_of(c, said), c->span);
}

static void give(const TileCall *c, const GpDims *found) {
    GpBody *b = c->b;
    const GpType *ret = gp_zonk(b->c, c->ret);
    const GpShapeTy *said = shape_of(ret);
    GpDims d;
    if (!said || said->kind == GpShape_Error)
        return;
    if (!gp_body_expand_shape(b, said, &d)) {
        gp_unify_shape(b->c, said, gp_shape_list(b->c->types, found->dim, found->rank));
        return;
    }
    bool fits = d.rank == found->rank;
    for (uint8_t i = 0; fits && i < d.rank; i++)
        fits = same_const(c, d.dim[i], found->dim[i]);
    if (!fits && !has_extra_ones(c, found, &d))
        gp_primary_label(gp_diag(b->c->diags, GpDiag_G0156, c->span, c->fn->name->name,
                                 dims_text(c, found), dims_text(c, &d)),
                         "this has shape `%s`", dims_text(c, found));
}

/* A literal axis below `rank`. */
static bool literal_axis(const TileCall *c, uint32_t i, uint8_t rank, uint8_t *out) {
    GpNode *lit = gp_node_bare(argument(c, i));
    uint64_t v = 0;
    bool is_lit = lit->kind == GpNode_Lit && gp_lit_int(lit, &v);
    if (is_lit && v < rank) {
        *out = (uint8_t)v;
        return true;
    }
    GpDiag *d = gp_diag(c->b->c->diags, GpDiag_G0253, lit->span, c->fn->name->name);
    if (is_lit)
        gp_primary_label(d, "rank %u has the axes 0 to %u", rank, rank ? rank - 1 : 0);
    else
        gp_primary_label(d, "the dimension argument must be an integer literal");
    return false;
}

static void check_reduce(const TileCall *c) {
    GpDims x, out = {.rank = 0};
    uint8_t axis;
    if (!dims_of(c, 0, &x) || !literal_axis(c, 1, x.rank, &axis))
        return;
    for (uint8_t i = 0; i < x.rank; i++)
        if (i != axis)
            out.dim[out.rank++] = x.dim[i];
    give(c, &out);
}

static void check_scan(const TileCall *c) {
    GpDims x;
    uint8_t axis;
    if (dims_of(c, 0, &x))
        literal_axis(c, 1, x.rank, &axis);
}

/* Axes in the order of an Array argument. */
static void check_permute(const TileCall *c) {
    GpDims x, perm, out;
    bool is_taken[GP_MAX_RANK] = {false};
    if (!dims_of(c, 0, &x) || !dims_of(c, 1, &perm))
        return;
    out.rank = x.rank;
    bool fits = perm.rank == x.rank;
    for (uint8_t i = 0; fits && i < x.rank; i++) {
        int64_t from;
        if (!gp_const_value(perm.dim[i], &from))
            return; /* a generic array: the instance knows */
        fits = from >= 0 && from < x.rank && !is_taken[from];
        if (!fits)
            break;
        is_taken[from] = true;
        out.dim[i] = x.dim[from];
    }
    if (fits)
        give(c, &out);
    else
        misfit(c, argument(c, 1)->span, "each axis of the tile is named once",
               gp_arena_printf(c->b->c->arena, "a tile of rank %u needs an order of its %u axes",
                               x.rank, x.rank));
}

static void check_transpose(const TileCall *c) {
    GpDims x, out = {.rank = 2};
    if (!dims_of(c, 0, &x))
        return;
    if (x.rank != 2) {
        misfit(c, c->span, "a transposed tile has two axes",
               gp_arena_printf(c->b->c->arena, "this tile has rank %u", x.rank));
        return;
    }
    out.dim[0] = x.dim[1];
    out.dim[1] = x.dim[0];
    give(c, &out);
}

static void check_cat(const TileCall *c) {
    GpDims x, y;
    uint8_t axis;
    if (!dims_of(c, 0, &x) || !dims_of(c, 1, &y) || !literal_axis(c, 2, x.rank, &axis))
        return;
    bool fits = x.rank == y.rank;
    for (uint8_t i = 0; fits && i < x.rank; i++)
        fits = i == axis || same_const(c, x.dim[i], y.dim[i]);
    if (!fits) {
        misfit(c, c->span, "only the joined axis may differ",
               gp_arena_printf(c->b->c->arena, "`%s` and `%s`", dims_text(c, &x),
                               dims_text(c, &y)));
        return;
    }
    x.dim[axis] = gp_const_add(c->b->c->types, x.dim[axis], y.dim[axis]);
    give(c, &x);
}

/* The part's shape is the annotation's; its rank and the number of indices are the tile's. */
static void check_extract(const TileCall *c) {
    GpDims x, part;
    if (!dims_of(c, 0, &x) || !gp_body_dims(c->b, c->ret, &part))
        return;
    bool fits = x.rank == part.rank;
    for (uint8_t i = 0; fits && i < x.rank; i++) {
        int64_t whole, each;
        if (gp_const_value(x.dim[i], &whole) && gp_const_value(part.dim[i], &each))
            fits = each > 0 && whole % each == 0;
    }
    if (!fits)
        misfit(c, c->span, "the parts divide the tile",
               gp_arena_printf(c->b->c->arena, "parts of `%s` of a tile of `%s`",
                               dims_text(c, &part), dims_text(c, &x)));
}

/* lhs [.., m, k], rhs [.., k, n], acc [.., m, n] */
static void check_matmul(const TileCall *c) {
    GpDims l, r, a;
    if (!strcmp(c->fn->name->name, "mma")) /* its types say it */
        return;
    if (!dims_of(c, 0, &l) || !dims_of(c, 1, &r) || !dims_of(c, 2, &a))
        return;
    uint8_t n = l.rank;
    bool fits = n == r.rank && n == a.rank && (n == 2 || n == 3);
    for (uint8_t i = 0; fits && i + 2 < n; i++)
        fits = same_const(c, l.dim[i], r.dim[i]) && same_const(c, l.dim[i], a.dim[i]);
    fits = fits && same_const(c, l.dim[n - 1], r.dim[n - 2]) &&
           same_const(c, l.dim[n - 2], a.dim[n - 2]) && same_const(c, r.dim[n - 1], a.dim[n - 1]);
    if (!fits)
        misfit(c, c->span, "they are [m, k], [k, n] and [m, n], or batches of them",
               gp_arena_printf(c->b->c->arena, "`%s`, `%s` and `%s`", dims_text(c, &l),
                               dims_text(c, &r), dims_text(c, &a)));
}

/* As many numbers as the view has axes. */
static void check_extents(const TileCall *c) {
    GpDims x;
    const GpType *ret = gp_zonk(c->b->c, c->ret);
    if (!dims_of(c, 0, &x) || ret->kind != GpTy_Array)
        return;
    if (!gp_unify_const(c->b->c, ret->count, gp_const_int(c->b->c->types, x.rank)))
        misfit(c, c->span, "a view has as many extents as axes",
               gp_arena_printf(c->b->c->arena, "this one has rank %u", x.rank));
}

/* One coordinate for each axis of the view. */
static void check_coords(const TileCall *c, uint32_t arg) {
    GpDims x;
    const GpType *t = gp_zonk(c->b->c, gp_expr_type(argument(c, arg)));
    if (!dims_of(c, 0, &x) || t->kind != GpTy_Array)
        return;
    if (!gp_unify_const(c->b->c, t->count, gp_const_int(c->b->c->types, x.rank)))
        misfit(c, argument(c, arg)->span, "there is one coordinate for each axis",
               gp_arena_printf(c->b->c->arena, "the view has rank %u", x.rank));
}

/* A stride for each extent. */
static void check_strides(const TileCall *c) {
    GpDims shape, strides;
    if (!dims_of(c, 1, &shape) || !dims_of(c, 2, &strides) || shape.rank == strides.rank)
        return;
    misfit(c, argument(c, 2)->span, "a tensor has as many strides as axes",
           gp_arena_printf(c->b->c->arena, "%u stride%s of a tensor of rank %u", strides.rank,
                           gp_plural(strides.rank), shape.rank));
}

/* The extent of the sliced axis is the launch's to say. */
static void check_slice(const TileCall *c) {
    GpDims x;
    uint8_t axis;
    const GpType *from = gp_body_head(c->b, argument(c, 0)->type);
    if (from->kind == GpTy_Ref && from->is_mut) {
        GpDiag *d = gp_diag(c->b->c->diags, GpDiag_G0251, c->span, "a slice of a `&mut Tensor`");
        gp_primary_label(d, "a `&mut Tensor` is the block's own tile");
        gp_help(d, "`partition_mut(shape![..])` is the tile in smaller ones; a `&Tensor` may be sliced, and an `unsafe` kernel may write its `partition_full_mut(shape![..])`");
        return;
    }
    if (!dims_of(c, 0, &x) || !literal_axis(c, 1, x.rank, &axis))
        return;
    x.dim[axis] = gp_const_dynamic(c->b->c->types);
    TileCall of = *c;
    of.ret = gp_zonk(c->b->c, c->ret)->inner;
    give(&of, &x);
}

/* (i32, ..) with an entry for each axis of argument 0, as the result. */
static void check_parts(const TileCall *c) {
    GpDims x;
    const GpType *ret = gp_zonk(c->b->c, c->ret), *items[GP_MAX_RANK];
    if (ret->kind == GpTy_Array) {
        check_extents(c);
        return;
    }
    if (!dims_of(c, 0, &x))
        return;
    for (uint8_t i = 0; i < x.rank; i++)
        items[i] = gp_ty_elem(c->b->c->types, GpElem_I32);
    gp_unify(c->b->c, ret, gp_ty_tuple(c->b->c->types, items, x.rank));
}

/* A tuple or Coord argument has an entry for each axis of the view. */
static void check_entries(const TileCall *c, uint32_t arg) {
    GpDims x;
    const GpType *t = gp_zonk(c->b->c, gp_expr_type(argument(c, arg)));
    bool is_coord = t->kind == GpTy_Adt && t->def->field_count;
    uint32_t count = is_coord ? t->def->field_count : t->arg_count;
    if ((t->kind != GpTy_Tuple && !is_coord) || !dims_of(c, 0, &x) || count == x.rank)
        return;
    misfit(c, argument(c, arg)->span, "there is one entry for each axis",
           gp_arena_printf(c->b->c->arena, "the view has rank %u", x.rank));
}

static void check_bounds(const TileCall *c) { check_entries(c, 1); }
static void check_store_index(const TileCall *c) { check_entries(c, 2); }

static void check_second(const TileCall *c) { check_coords(c, 1); }
static void check_third(const TileCall *c) { check_coords(c, 2); }

/* Tiles have the rank of the tensor. */
static void check_partition(const TileCall *c) {
    GpDims x, tile;
    if (!dims_of(c, 0, &x) || !dims_of(c, 1, &tile) || x.rank == tile.rank)
        return;
    misfit(c, argument(c, 1)->span, "tiles have the rank of the tensor",
           gp_arena_printf(c->b->c->arena, "tiles of rank %u of a tensor of rank %u", tile.rank,
                           x.rank));
}

typedef struct Rule {
    GpIntrinsic intrinsic;
    void (*check)(const TileCall *c);
} Rule;

static const Rule rules[] = {
    {GpIntrinsic_ReduceTile, check_reduce},      {GpIntrinsic_ReduceWith, check_reduce},
    {GpIntrinsic_ScanTile, check_scan},
    {GpIntrinsic_PermuteTile, check_permute},    {GpIntrinsic_TransposeTile, check_transpose},
    {GpIntrinsic_CatTiles, check_cat},           {GpIntrinsic_ExtractPart, check_extract},
    {GpIntrinsic_MatMul, check_matmul},          {GpIntrinsic_TensorShapeArray, check_extents},
    {GpIntrinsic_IndexSpace, check_extents},     {GpIntrinsic_TensorLoadTile, check_third},
    {GpIntrinsic_PartitionLoad, check_second},   {GpIntrinsic_PartitionRead, check_second},
    {GpIntrinsic_PartitionWrite, check_third},   {GpIntrinsic_TensorPartition, check_partition},
    {GpIntrinsic_PartitionFull, check_partition},     {GpIntrinsic_PartitionNested, check_partition},
    {GpIntrinsic_IndexParts, check_parts},            {GpIntrinsic_WithBounds, check_bounds},
    {GpIntrinsic_BoundedLoad, check_bounds},          {GpIntrinsic_BoundedStore, check_store_index},
    {GpIntrinsic_MappedStore, check_store_index},     {GpIntrinsic_MakeTensor, check_strides},          {GpIntrinsic_PartitionPadded, check_partition},   {GpIntrinsic_PartitionPermuted, check_partition},
    {GpIntrinsic_TensorSlice, check_slice},
};

void gp_body_check_tile_call(GpBody *b, const GpDef *fn, GpNode *receiver, const GpNodeList *args,
                             const GpType *ret, GpSpan span) {
    TileCall c = {b, fn, receiver, args, ret, span};
    for (size_t i = 0; i < GP_COUNT(rules); i++)
        if (rules[i].intrinsic == fn->intrinsic)
            rules[i].check(&c);
}
