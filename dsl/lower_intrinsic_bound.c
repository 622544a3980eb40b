/* Partitions whose counts of tiles are Dims: what is known of indices, and accesses whose
** coordinates are refused unless it proves them in range. */
#include "dsl/ir/eval.h"
#include "dsl/lower_tile.h"

enum { SAME_DEPTH = 8 };

static bool is_same(GpValue *a, GpValue *b, int depth) {
    a = gp_lower_resolve(a), b = gp_lower_resolve(b);
    if (a == b)
        return true;
    const GpInst *x = a->inst, *y = b->inst;
    if (!x || !y || x->op != y->op || a->type != b->type || depth == 0 || x->region_count ||
        gp_ir_effect(x) != GpEffect_Pure || x->operand_count != y->operand_count ||
        !gp_ir_same_attrs(x, y))
        return false;
    for (uint32_t i = 0; i < x->operand_count; i++)
        if (!is_same(x->operands[i], y->operands[i], depth - 1))
            return false;
    return true;
}

bool gp_tile_is_same(GpValue *a, GpValue *b) { return is_same(a, b, SAME_DEPTH); }

bool gp_tile_known(GpValue *v, GpScalar *out) {
    v = gp_lower_resolve(v);
    if (gp_ir_const(v, out))
        return true;
    const GpInst *inst = v->inst;
    GpScalar args[3];
    if (!inst || v->type->kind != GpIrType_Scalar || inst->operand_count > GP_COUNT(args) ||
        !gp_sig_info[gp_op_info[inst->op].sig].elementwise)
        return false;
    for (uint32_t i = 0; i < inst->operand_count; i++)
        if (!gp_tile_known(inst->operands[i], &args[i]))
            return false;
    return gp_eval(inst->op, inst->pred, v->type->elem, args, out);
}

/* A block's index is below the number of blocks. */
static bool is_block_index(GpValue *index, GpValue *count) {
    index = gp_lower_resolve(index), count = gp_lower_resolve(count);
    return index->inst && count->inst && index->inst->op == GpOp_ProgramId &&
           count->inst->op == GpOp_NumPrograms && index->inst->axis == count->inst->axis;
}

bool gp_tile_is_below(GpLower *lo, GpValue *index, GpValue *count) {
    GpScalar i, n;
    index = gp_lower_resolve(index);
    if (gp_tile_known(index, &i))
        return i.i >= 0 && gp_tile_known(count, &n) && i.i < n.i;
    GpValue *limit = gp_map_get(&lo->below, index);
    if (limit && gp_tile_known(limit, &i) && gp_tile_known(count, &n))
        return i.i <= n.i;
    return (limit && gp_tile_is_same(limit, count)) || is_block_index(index, count);
}

void gp_tile_require(GpLower *lo, const GpLowerCall *call, const GpTileNeed *need) {
    GpValue *operands[] = {need->holds, need->found, need->limit};
    GpInst *inst = gp_build(&lo->b, GpOp_Assert, operands, GP_COUNT(operands), NULL, 0);
    inst->site = gp_ir_add_site(lo->fn, GpCheck_Require, 0, call->span, need->what);
}

void gp_tile_require_within(GpLower *lo, const GpLowerCall *call, GpValue *value, GpValue *limit, const char *what) {
    GpValue *from_zero = gp_build_cmp(&lo->b, GpPred_Le, gp_build_int(&lo->b, GpElem_I32, 0), value);
    GpValue *to_limit = gp_build_cmp(&lo->b, GpPred_Le, value, limit);
    GpTileNeed need = {gp_build2(&lo->b, GpOp_And, from_zero, to_limit), value, limit, what};
    gp_tile_require(lo, call, &need);
}

GpVal gp_lower_DimValue(GpLower *lo, const GpLowerCall *call) {
    return gp_call_result(lo, call, gp_call_scalar(lo, call, 0));
}

GpVal gp_lower_CoordOf(GpLower *lo, const GpLowerCall *call) {
    GpVal v = gp_call_arg(lo, call, 0);
    v.type = call->type;
    return v;
}

/* The bound stands for the count from here on: what is below the one is below the other. */
static bool set_bound(GpLower *lo, const GpLowerCall *call, GpTileView *v, uint32_t axis,
                      GpValue *bound) {
    GpScalar have, want;
    if (gp_tile_is_same(v->count[axis], bound))
        return true;
    if (gp_tile_known(v->count[axis], &have) && gp_tile_known(bound, &want)) {
        if (have.i == want.i)
            return true;
        GpDiag *d = gp_diag(lo->diags, GpDiag_G0255, call->span,
                            gp_arena_printf(lo->arena, "%u", axis));
        gp_primary_label(d, "%lld is given, and there are %lld tiles", (long long)want.i,
                         (long long)have.i);
        lo->has_failed = true;
        return false;
    }
    GpTileNeed need = {
        gp_build_cmp(&lo->b, GpPred_Eq, bound, v->count[axis]), bound, v->count[axis],
        gp_arena_printf(lo->arena, "the number of tiles on axis %u, as `with_bounds` gives it,", axis)};
    gp_tile_require(lo, call, &need);
    v->count[axis] = bound;
    return true;
}

GpVal gp_lower_WithBounds(GpLower *lo, const GpLowerCall *call) {
    GpTileView v;
    GpVal bounds = gp_call_arg(lo, call, 1);
    if (!gp_tile_read_view(lo, call, 0, &v) || bounds.count != v.rank)
        return gp_lower_undef(lo, call->type);
    for (uint32_t i = 0; i < v.rank; i++)
        if (!set_bound(lo, call, &v, i, gp_lower_get(lo, &bounds, i)))
            return gp_lower_undef(lo, call->type);
    return gp_tile_pack_view(lo, call->type, &v);
}

/* Coordinates of a bounded partition carry their proof. */
static bool read_proved(GpLower *lo, const GpLowerCall *call, uint32_t arg, const GpTileView *v,
                        GpValue **coords) {
    if (!gp_tile_read_coords(lo, call, arg, v->rank, coords))
        return false;
    for (uint32_t i = 0; i < v->rank && !lo->kernel->kernel.unchecked; i++) {
        GpScalar index, count;
        if (gp_tile_is_below(lo, coords[i], v->count[i]))
            continue;
        GpDiag *d = gp_diag(lo->diags, GpDiag_G0256, call->span,
                            gp_arena_printf(lo->arena, "%u", i));
        if (gp_tile_known(coords[i], &index) && gp_tile_known(v->count[i], &count))
            gp_primary_label(d, "tile %lld of %lld", (long long)index.i, (long long)count.i);
        else
            gp_primary_label(d, "this coordinate comes from a different dimension");
        lo->has_failed = true;
        return false;
    }
    return true;
}

GpVal gp_lower_BoundedLoad(GpLower *lo, const GpLowerCall *call) {
    GpTileView v;
    GpValue *coords[GP_MAX_RANK] = {NULL};
    if (!gp_tile_read_view(lo, call, 0, &v) || !read_proved(lo, call, 1, &v, coords))
        return gp_lower_undef(lo, call->type);
    return gp_tile_load_view(lo, call, &v, coords, NULL);
}

GpVal gp_lower_BoundedStore(GpLower *lo, const GpLowerCall *call) {
    GpTileView v;
    GpValue *coords[GP_MAX_RANK] = {NULL};
    if (!gp_tile_read_view(lo, call, 0, &v) || !read_proved(lo, call, 2, &v, coords))
        return gp_lower_undef(lo, call->type);
    return gp_tile_store_view(lo, call, &v, coords, NULL);
}
