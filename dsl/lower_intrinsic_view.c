/* Partitions of tensors: what they are made of (GP_VIEW_LEAD in lower.h), loads and stores of
** their tiles. Coordinates are those of the partition's own axes; a tile is read from the tensor in
** the tensor's order of axes and permuted after. */
#include <math.h>

#include "dsl/lower_tile.h"

typedef GpTileView View;

static uint32_t slot(uint32_t axis, uint32_t what) {
    return GP_VIEW_LEAD + axis * GP_VIEW_PER_AXIS + what;
}

GpVal gp_tile_pack_view(GpLower *lo, const GpType *t, const View *v) {
    GpVal out = gp_lower_undef(lo, t);
    if (out.count != slot(v->rank, 0))
        return out;
    out.at[0].value = v->tensor;
    out.at[1].value = v->pad;
    for (uint32_t i = 0; i < v->rank; i++) {
        out.at[slot(i, 0)].value = v->first[i];
        out.at[slot(i, 1)].value = v->count[i];
        out.at[slot(i, 2)].value = gp_build_int(&lo->b, GpElem_I32, v->map.axis[i]);
    }
    return out;
}

static GpVal pack(GpLower *lo, const GpLowerCall *call, const View *v) {
    return gp_tile_pack_view(lo, call->type, v);
}

bool gp_tile_read_view(GpLower *lo, const GpLowerCall *call, uint32_t arg, View *v) {
    GpVal in = gp_call_arg(lo, call, arg);
    *v = (View){.tile = gp_lower_adt_shape(lo, in.type)};
    v->rank = (uint32_t)v->tile.rank;
    v->map.rank = v->tile.rank;
    if (in.count != slot(v->rank, 0) || !in.at[0].value)
        return false;
    v->tensor = gp_lower_get(lo, &in, 0);
    v->pad = gp_lower_get(lo, &in, 1);
    for (uint32_t i = 0; i < v->rank; i++) {
        GpScalar axis;
        v->first[i] = gp_lower_get(lo, &in, slot(i, 0));
        v->count[i] = gp_lower_get(lo, &in, slot(i, 1));
        if (!gp_ir_const(gp_lower_get(lo, &in, slot(i, 2)), &axis)) {
            gp_lower_refuse(lo, call->span, "a partition whose order of axes depends on a branch");
            return false;
        }
        v->map.axis[i] = (uint8_t)axis.u;
    }
    return true;
}

static bool unpack(GpLower *lo, const GpLowerCall *call, View *v) {
    return gp_tile_read_view(lo, call, 0, v);
}

/* ---- Making them ---------------------------------------------------------------------------- */

/* All of the tensor in tiles of type t's shape; false after a report. */
static bool start_of(GpLower *lo, const GpType *t, GpValue *tensor, GpSpan span, View *v) {
    *v = (View){.tensor = tensor, .tile = gp_lower_adt_shape(lo, t)};
    v->rank = (uint32_t)v->tile.rank;
    v->map.rank = v->tile.rank;
    if (tensor->type->kind != GpIrType_Tensor)
        return false;
    if (v->tile.rank != tensor->type->shape.rank) {
        gp_lower_refuse(lo, span, "a partition of another rank than its tensor");
        return false;
    }
    const GpIrType *elem = gp_ir_scalar(lo->fn, tensor->type->elem);
    v->pad = gp_build_const(&lo->b, elem, (GpScalar){.elem = elem->elem});
    for (uint32_t i = 0; i < v->rank; i++) {
        v->first[i] = gp_build_int(&lo->b, GpElem_I32, 0);
        v->map.axis[i] = (uint8_t)i;
        if (v->tile.dim[i] <= 0) {
            gp_lower_refuse(lo, span, "a partition in tiles with an extent that is not a positive constant");
            lo->has_refused_tile = true; /* its tiles are no other mistake */
            return false;
        }
    }
    return true;
}

static bool start(GpLower *lo, const GpLowerCall *call, View *v) {
    return start_of(lo, call->type, gp_call_scalar(lo, call, 0), call->span, v);
}

static void count_tiles(GpLower *lo, View *v) {
    for (uint32_t i = 0; i < v->rank; i++) {
        GpValue *extent = gp_tile_dim(lo, v->tensor, v->map.axis[i]);
        GpValue *size = gp_build_int(&lo->b, GpElem_I32, v->tile.dim[i]);
        bool is_even = gp_tile_is_multiple(lo, v->tensor, v->map.axis[i], v->tile.dim[i]);
        v->count[i] = is_even ? gp_build2(&lo->b, GpOp_Div, extent, size)
                              : gp_lower_ceil_div(lo, extent, size);
    }
}

GpVal gp_lower_whole_view(GpLower *lo, const GpType *t, GpValue *tensor) {
    View v;
    if (!start_of(lo, t, tensor, lo->b.span, &v))
        return gp_lower_undef(lo, t);
    count_tiles(lo, &v);
    return gp_tile_pack_view(lo, t, &v);
}

static GpVal make_whole(GpLower *lo, const GpLowerCall *call) {
    return gp_lower_whole_view(lo, call->type, gp_call_scalar(lo, call, 0));
}

GpVal gp_lower_TensorPartition(GpLower *lo, const GpLowerCall *call) {
    return make_whole(lo, call);
}

GpVal gp_lower_PartitionFull(GpLower *lo, const GpLowerCall *call) { return make_whole(lo, call); }

static bool map_axes(GpLower *lo, const GpLowerCall *call, uint32_t arg, View *v) {
    if (gp_tile_perm(lo, call->args[arg].type, v->rank, &v->map))
        return true;
    gp_lower_refuse(lo, call->span, "a partition whose order of axes does not name each once");
    return false;
}

GpVal gp_lower_PartitionPermuted(GpLower *lo, const GpLowerCall *call) {
    View v;
    if (!start(lo, call, &v) || !map_axes(lo, call, 2, &v))
        return gp_lower_undef(lo, call->type);
    count_tiles(lo, &v);
    return pack(lo, call, &v);
}

/* Whether a tensor is the block's own tile is known of each, and not of what a branch chose. */
static void refuse_joined(GpLower *lo, const GpLowerCall *call) {
    GpDiag *d = gp_lower_refuse(lo, call->span, "`%s` of one tensor or another", call->def->name->name);
    if (!d)
        return;
    gp_primary_label(d, "a branch decides which tensor this is");
    gp_help(d, "call it in each branch, of the one tensor that is there");
}

bool gp_tile_own(GpLower *lo, const GpLowerCall *call, const GpValue *tensor, GpShape *own) {
    const GpType *t = call->args[0].type;
    while (t->kind == GpTy_Ref)
        t = t->inner;
    if (gp_map_has(&lo->joined, tensor))
        refuse_joined(lo, call);
    if (tensor->inst || tensor->region != lo->fn->body)
        return false;
    *own = gp_lower_adt_shape(lo, t);
    const struct GpArgFacts *facts = &lo->instance->args[lo->fn->params[tensor->index].arg];
    for (int i = 0; i < own->rank; i++)
        if (own->dim[i] == GP_DYNAMIC)
            own->dim[i] = facts->tile[i];
    return true;
}

/* Part of a tensor: starts, then extents, behind operand 0. */
static GpValue *window(GpLower *lo, GpValue **operands, const GpShape *shape) {
    const GpIrType *t = gp_ir_tensor(lo->fn, operands[0]->type->elem, shape);
    return gp_build(&lo->b, GpOp_Window, operands, 1 + 2 * (uint32_t)shape->rank, &t, 1)->results[0];
}

GpVal gp_lower_TensorSlice(GpLower *lo, const GpLowerCall *call) {
    GpShape own, shape = gp_lower_adt_shape(lo, call->type->inner);
    uint32_t axis, rank = (uint32_t)shape.rank;
    GpValue *tensor = gp_lower_resolve(gp_call_scalar(lo, call, 0)), *operands[1 + 2 * GP_MAX_RANK] = {tensor};
    if (gp_tile_own(lo, call, tensor, &own) && lo->fn->params[tensor->index].is_written) {
        gp_lower_refuse(lo, call->span, "a slice of a `&mut Tensor`, which is the block's own tile");
        return gp_lower_undef(lo, call->type);
    }
    if (!gp_tile_const_axis(lo, call, 1, rank, &axis))
        return gp_lower_undef(lo, call->type);
    GpValue *start = gp_call_scalar(lo, call, 2), *end = gp_call_scalar(lo, call, 3);
    for (uint32_t i = 0; i < rank; i++) {
        operands[1 + i] = gp_build_int(&lo->b, GpElem_I32, 0);
        operands[1 + rank + i] = gp_tile_own_dim(lo, tensor, i);
    }
    gp_tile_require_within(lo, call, end, operands[1 + rank + axis], "that a slice ends within the tensor");
    gp_tile_require_within(lo, call, start, end, "that a slice starts within the tensor and not behind its end");
    operands[1 + axis] = start;
    operands[1 + rank + axis] = gp_build2(&lo->b, GpOp_Sub, end, start);
    return gp_call_result(lo, call, window(lo, operands, &shape));
}

/* The block's own tile as a tensor, for smaller tiles that do not divide it: a store beyond it is
** dropped, as one beyond the tensor. */
static GpValue *own_window(GpLower *lo, GpValue *tensor, const GpShape *own) {
    GpValue *operands[1 + 2 * GP_MAX_RANK] = {tensor};
    GpShape any = *own;
    uint32_t rank = own->rank;
    for (uint32_t i = 0; i < rank; i++) {
        GpValue *size = gp_build_int(&lo->b, GpElem_I32, own->dim[i]);
        GpValue *at = gp_build2(&lo->b, GpOp_Mul, gp_tile_axis_op(lo, GpOp_ProgramId, i), size);
        GpValue *rest = gp_build2(&lo->b, GpOp_Sub, gp_tile_dim(lo, tensor, i), at);
        any.dim[i] = GP_DYNAMIC;
        operands[1 + i] = at;
        operands[1 + rank + i] = gp_build2(&lo->b, GpOp_Min, size, rest);
    }
    return window(lo, operands, &any);
}

static bool read_padding(GpLower *lo, const GpLowerCall *call, View *v) {
    v->pad = gp_tile_padding(lo, call, 2, v->pad->type->elem);
    return v->pad != NULL;
}

/* Both forms: the method, and the function that says what is beyond the tensor. */
GpVal gp_lower_PartitionNested(GpLower *lo, const GpLowerCall *call) {
    View v;
    GpShape own;
    bool divides = true;
    if (!start(lo, call, &v) || (call->arg_count > 2 && !read_padding(lo, call, &v)))
        return gp_lower_undef(lo, call->type);
    if (!gp_tile_own(lo, call, gp_lower_resolve(v.tensor), &own))
        return make_whole(lo, call);
    for (uint32_t i = 0; i < v.rank; i++) {
        int64_t tiles = own.dim[i] / v.tile.dim[i] + (own.dim[i] % v.tile.dim[i] != 0);
        divides &= own.dim[i] % v.tile.dim[i] == 0;
        v.count[i] = gp_build_int(&lo->b, GpElem_I32, tiles);
    }
    if (!divides)
        v.tensor = own_window(lo, v.tensor, &own);
    for (uint32_t i = 0; divides && i < v.rank; i++)
        v.first[i] = gp_build2(&lo->b, GpOp_Mul, gp_tile_axis_op(lo, GpOp_ProgramId, i), v.count[i]);
    return pack(lo, call, &v);
}

static bool pad_value(GpElem elem, const char *marker, GpScalar *out) {
    *out = (GpScalar){.elem = elem};
    if (!strcmp(marker, "None") || !strcmp(marker, "Zero"))
        return true;
    double f = !strcmp(marker, "NegZero")  ? -0.0
               : !strcmp(marker, "Nan")    ? (double)NAN
               : !strcmp(marker, "PosInf") ? (double)INFINITY
                                           : -(double)INFINITY;
    return gp_elem_is_float(elem) && (isnan(f) ? (out->f = f, true)
                                               : gp_scalar_from_double(f, elem, out));
}

GpValue *gp_tile_padding(GpLower *lo, const GpLowerCall *call, uint32_t arg, GpElem elem) {
    GpScalar pad;
    if (pad_value(elem, gp_tile_marker(call, arg), &pad))
        return gp_build_const(&lo->b, gp_ir_scalar(lo->fn, elem), pad);
    gp_lower_refuse(lo, call->span, "padding::%s of `%s`", gp_tile_marker(call, arg),
                    gp_elem_info[elem].name);
    return NULL;
}

/* Both forms: with an order of axes for reading, without for writing. */
GpVal gp_lower_PartitionPadded(GpLower *lo, const GpLowerCall *call) {
    View v;
    if (!start(lo, call, &v) || !read_padding(lo, call, &v))
        return gp_lower_undef(lo, call->type);
    bool has_map = call->arg_count > 4 && strcmp(gp_tile_marker(call, 3), "Identity") != 0;
    if (has_map && !map_axes(lo, call, 3, &v))
        return gp_lower_undef(lo, call->type);
    count_tiles(lo, &v);
    return pack(lo, call, &v);
}

/* ---- Extents -------------------------------------------------------------------------------- */

GpVal gp_lower_NumTiles(GpLower *lo, const GpLowerCall *call) {
    View v;
    uint32_t axis;
    if (!gp_lower_is_partition(gp_call_spot(lo, call, 0).type)) {
        gp_lower_refuse(lo, call->span, "`num_tiles` of what is no partition");
        return gp_lower_undef(lo, call->type);
    }
    if (!unpack(lo, call, &v) || !gp_tile_const_axis(lo, call, 1, v.rank, &axis))
        return gp_lower_undef(lo, call->type);
    return gp_call_result(lo, call, v.count[axis]);
}

GpVal gp_lower_IndexSpace(GpLower *lo, const GpLowerCall *call) {
    View v;
    GpVal out = gp_lower_undef(lo, call->type);
    if (!unpack(lo, call, &v) || out.count != v.rank)
        return out;
    for (uint32_t i = 0; i < v.rank; i++)
        out.at[i].value = v.count[i];
    return out;
}

/* ---- Loads and stores ----------------------------------------------------------------------- */

/* True where the tile is one of the view's; NULL: no check. */
static GpValue *check_coords(GpLower *lo, const GpLowerCall *call, const View *v,
                             GpValue *const *coords) {
    const GpIrType *t = gp_ir_scalar(lo->fn, GpElem_Bool);
    GpValue *mask = NULL;
    for (uint32_t i = 0; i < v->rank; i++) {
        GpInst *check =
            gp_build(&lo->b, GpOp_CheckIndex, (GpValue *[]){coords[i], v->count[i]}, 2, &t, 1);
        check->site = gp_ir_add_site(lo->fn, GpCheck_Tile, (uint8_t)i, call->span,
                                     gp_lower_text(lo, call->span));
        mask = mask ? gp_build2(&lo->b, GpOp_And, mask, check->results[0]) : check->results[0];
    }
    return mask;
}

static GpValue *from_first(GpLower *lo, GpValue *first, GpValue *coord) {
    GpScalar k;
    return gp_ir_const(first, &k) && !k.u ? coord : gp_build2(&lo->b, GpOp_Add, first, coord);
}

enum { OPERANDS_MAX = GP_MAX_RANK + 3 };

GpVal gp_tile_load_view(GpLower *lo, const GpLowerCall *call, const View *v,
                        GpValue *const *coords, GpValue *mask) {
    GpValue *operands[OPERANDS_MAX];
    GpScalar pad;
    if (!gp_ir_const(v->pad, &pad)) {
        gp_lower_refuse(lo, call->span, "a partition whose padding depends on a branch");
        return gp_lower_undef(lo, call->type);
    }
    GpShape shape = {.rank = v->tile.rank};
    operands[0] = v->tensor;
    for (uint32_t i = 0; i < v->rank; i++) {
        shape.dim[v->map.axis[i]] = v->tile.dim[i];
        operands[1 + v->map.axis[i]] = from_first(lo, v->first[i], coords[i]);
    }
    uint32_t n = v->rank + 1;
    if (mask)
        operands[n++] = mask;
    const GpIrType *t = gp_ir_tile(lo->fn, v->tensor->type->elem, &shape);
    GpInst *inst = gp_build(&lo->b, GpOp_LoadTile, operands, n, &t, 1);
    inst->imm = pad;
    return gp_call_result(lo, call, gp_tile_permute(lo, inst->results[0], v->map));
}

static GpVal load(GpLower *lo, const GpLowerCall *call, bool is_checked) {
    View v;
    GpValue *coords[GP_MAX_RANK] = {NULL};
    if (!unpack(lo, call, &v) || !gp_tile_read_coords(lo, call, 1, v.rank, coords))
        return gp_lower_undef(lo, call->type);
    return gp_tile_load_view(lo, call, &v, coords,
                             is_checked ? check_coords(lo, call, &v, coords) : NULL);
}

static bool has_checks(const GpLower *lo) { return !lo->kernel->kernel.unchecked; }

GpVal gp_lower_PartitionLoad(GpLower *lo, const GpLowerCall *call) {
    return load(lo, call, has_checks(lo));
}

GpVal gp_lower_PartitionRead(GpLower *lo, const GpLowerCall *call) { return load(lo, call, false); }

/* Only views of whole tensors are permuted, and those are read only. */
GpVal gp_tile_store_view(GpLower *lo, const GpLowerCall *call, const View *v,
                         GpValue *const *coords, GpValue *mask) {
    GpValue *operands[OPERANDS_MAX] = {v->tensor, gp_call_scalar(lo, call, 1)};
    for (uint32_t i = 0; i < v->rank; i++)
        operands[2 + i] = from_first(lo, v->first[i], coords[i]);
    uint32_t n = v->rank + 2;
    if (mask)
        operands[n++] = mask;
    gp_build(&lo->b, GpOp_StoreTile, operands, n, NULL, 0);
    return gp_lower_undef(lo, call->type);
}

GpVal gp_lower_PartitionWrite(GpLower *lo, const GpLowerCall *call) {
    View v;
    GpValue *coords[GP_MAX_RANK] = {NULL};
    if (!unpack(lo, call, &v) || !gp_tile_read_coords(lo, call, 2, v.rank, coords))
        return gp_lower_undef(lo, call->type);
    bool is_checked = gp_call_is(call, "checked") && has_checks(lo);
    return gp_tile_store_view(lo, call, &v, coords,
                              is_checked ? check_coords(lo, call, &v, coords) : NULL);
}

GpVal gp_lower_TokenValue(GpLower *lo, const GpLowerCall *call) {
    return gp_lower_undef(lo, call->type);
}
