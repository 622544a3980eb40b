/* Integer division: the divisor is checked, and where it comes from beyond a tensor it counts as
** one. A ragged tile is padded with zeros, and what is computed from the padding is dropped again
** when it is stored; only elements of the tensor may be blamed for a division by zero. */
#include "dsl/lower.h"

/* How far a divisor is followed to the loads it comes from. */
enum { GP_DIVISOR_NODES = 64 };

typedef struct Lanes {
    GpLower *lo;
    uint32_t nodes;
} Lanes;

static GpValue *find_lanes(Lanes *l, GpValue *v);

static GpValue *both(Lanes *l, GpValue *a, GpValue *b) {
    if (!a || !b) return a ? a : b;
    return gp_build2(&l->lo->b, GpOp_And, a, b);
}

/* Along one axis: first + 0, 1, 2, .. < extent, in the shape of the tile. */
static GpValue *lanes_of_axis(Lanes *l, const GpShape *shape, uint8_t axis, GpValue *rest) {
    GpBuilder *b = &l->lo->b;
    GpShape line = {.rank = 1, .dim = {shape->dim[axis]}}, column = {.rank = shape->rank};
    for (int i = 0; i < shape->rank; i++) column.dim[i] = i == axis ? shape->dim[i] : 1;
    const GpIrType *index = gp_ir_tile(l->lo->fn, GpElem_I32, &line);
    GpValue *lane = gp_build(b, GpOp_Iota, NULL, 0, &index, 1)->results[0];
    GpValue *is_in = gp_build_cmp(b, GpPred_Lt, lane, gp_lower_splat(l->lo, rest, GpElem_I32, &line));
    const GpIrType *as_column = gp_ir_tile(l->lo->fn, GpElem_Bool, &column);
    const GpIrType *whole = gp_ir_tile(l->lo->fn, GpElem_Bool, shape);
    if (shape->rank == 1) return is_in;
    is_in = gp_build(b, GpOp_Reshape, &is_in, 1, &as_column, 1)->results[0];
    return gp_build(b, GpOp_Broadcast, &is_in, 1, &whole, 1)->results[0];
}

static bool is_whole(const GpIrType *tensor, const GpShape *tile, uint8_t axis) {
    return tensor->shape.dim[axis] >= 0 && tensor->shape.dim[axis] % tile->dim[axis] == 0;
}

static GpValue *lanes_of_load(Lanes *l, const GpInst *load) {
    GpBuilder *b = &l->lo->b;
    GpValue *tensor = load->operands[0], *lanes = NULL;
    const GpShape *tile = &load->results[0]->type->shape;
    const GpIrType *i32 = gp_ir_scalar(l->lo->fn, GpElem_I32);
    for (uint8_t axis = 0; axis < tile->rank; axis++) {
        if (is_whole(tensor->type, tile, axis)) continue;
        GpInst *dim = gp_build(b, GpOp_Dim, &tensor, 1, &i32, 1);
        dim->axis = axis;
        GpValue *first = load->operands[axis + 1];
        if (!load->by_element)
            first = gp_build2(b, GpOp_Mul, first, gp_build_int(b, GpElem_I32, tile->dim[axis]));
        GpValue *rest = gp_build2(b, GpOp_Sub, dim->results[0], first);
        lanes = both(l, lanes, lanes_of_axis(l, tile, axis, rest));
    }
    return lanes;
}

/* The lanes of an operand, moved as the operand is. */
static GpValue *lanes_moved(Lanes *l, const GpInst *inst) {
    GpValue *lanes = find_lanes(l, inst->operands[0]);
    if (!lanes) return NULL;
    const GpIrType *t = gp_ir_tile(l->lo->fn, GpElem_Bool, &inst->results[0]->type->shape);
    GpInst *moved = gp_build(&l->lo->b, inst->op, &lanes, 1, &t, 1);
    moved->perm = inst->perm;
    return moved->results[0];
}

/* The lanes of a tile that come from elements of tensors alone, as a bool tile; NULL when they are
** all of them, or not known. */
static GpValue *find_lanes(Lanes *l, GpValue *v) {
    const GpInst *inst = v->inst;
    if (!inst || v->type->kind != GpIrType_Tile || l->nodes++ > GP_DIVISOR_NODES) return NULL;
    if (inst->op == GpOp_LoadTile) return lanes_of_load(l, inst);
    if (inst->op == GpOp_Broadcast || inst->op == GpOp_Reshape || inst->op == GpOp_Permute)
        return lanes_moved(l, inst);
    if (!gp_sig_info[gp_op_info[inst->op].sig].elementwise) return NULL;
    GpValue *lanes = NULL;
    for (uint32_t i = 0; i < inst->operand_count; i++)
        lanes = both(l, lanes, find_lanes(l, inst->operands[i]));
    return lanes;
}

static bool is_nonzero(const GpValue *v) {
    GpScalar k;
    if (v->inst && v->inst->op == GpOp_Splat) v = v->inst->operands[0];
    return gp_ir_const(v, &k) && k.u != 0;
}

GpValue *gp_lower_divisor(GpLower *lo, GpValue *y, GpSpan span) {
    if (gp_elem_is_float(y->type->elem) || is_nonzero(y)) return y;
    Lanes l = {.lo = lo};
    GpValue *lanes = find_lanes(&l, y);
    if (lanes) {
        GpScalar one = {.elem = y->type->elem, .u = 1};
        y = gp_build_select(&lo->b, lanes, y, gp_build_const(&lo->b, y->type, one));
    }
    GpInst *check = gp_build(&lo->b, GpOp_CheckDiv, &y, 1, NULL, 0);
    check->site = gp_ir_add_site(lo->fn, GpCheck_Divide, 0, span, gp_lower_text(lo, span));
    return y;
}

GpValue *gp_lower_divide(GpLower *lo, GpOp op, GpValue *x, GpValue *y, GpSpan span) {
    return gp_build2(&lo->b, op, x, gp_lower_divisor(lo, y, span));
}

/* x / y rounded up; y > 0. No sum that could overflow. */
GpValue *gp_lower_ceil_div(GpLower *lo, GpValue *x, GpValue *y) {
    GpValue *quotient = gp_build2(&lo->b, GpOp_Div, x, y);
    GpValue *rest = gp_build2(&lo->b, GpOp_Rem, x, y);
    GpScalar zero = {.elem = x->type->elem};
    GpValue *has_rest =
        gp_build_cmp(&lo->b, GpPred_Gt, rest, gp_build_const(&lo->b, x->type, zero));
    return gp_build2(&lo->b, GpOp_Add, quotient, gp_build_cast(&lo->b, has_rest, x->type->elem));
}
