/* Operators, literals, assignments and casts. */
#include "dsl/lower.h"

typedef struct BinaryRow {
    bool is_op, is_cmp;
    GpOp op;
    GpPred pred;
} BinaryRow;

/* What each operator token builds; `x op= y` shares the row of `x op y`. */
static const BinaryRow binary_rows[GpTok_count] = {
    [GpTok_Plus] = {true, false, GpOp_Add, 0},
    [GpTok_PlusEq] = {true, false, GpOp_Add, 0},
    [GpTok_Minus] = {true, false, GpOp_Sub, 0},
    [GpTok_MinusEq] = {true, false, GpOp_Sub, 0},
    [GpTok_Star] = {true, false, GpOp_Mul, 0},
    [GpTok_StarEq] = {true, false, GpOp_Mul, 0},
    [GpTok_Slash] = {true, false, GpOp_Div, 0},
    [GpTok_SlashEq] = {true, false, GpOp_Div, 0},
    [GpTok_Percent] = {true, false, GpOp_Rem, 0},
    [GpTok_PercentEq] = {true, false, GpOp_Rem, 0},
    [GpTok_And] = {true, false, GpOp_And, 0},
    [GpTok_AndEq] = {true, false, GpOp_And, 0},
    [GpTok_Or] = {true, false, GpOp_Or, 0},
    [GpTok_OrEq] = {true, false, GpOp_Or, 0},
    [GpTok_Caret] = {true, false, GpOp_Xor, 0},
    [GpTok_CaretEq] = {true, false, GpOp_Xor, 0},
    [GpTok_Shl] = {true, false, GpOp_Shl, 0},
    [GpTok_ShlEq] = {true, false, GpOp_Shl, 0},
    [GpTok_Shr] = {true, false, GpOp_Shr, 0},
    [GpTok_ShrEq] = {true, false, GpOp_Shr, 0},
    [GpTok_EqEq] = {false, true, GpOp_Cmp, GpPred_Eq},
    [GpTok_NotEq] = {false, true, GpOp_Cmp, GpPred_Ne},
    [GpTok_Less] = {false, true, GpOp_Cmp, GpPred_Lt},
    [GpTok_LessEq] = {false, true, GpOp_Cmp, GpPred_Le},
    [GpTok_Greater] = {false, true, GpOp_Cmp, GpPred_Gt},
    [GpTok_GreaterEq] = {false, true, GpOp_Cmp, GpPred_Ge},
};

/* ---- Literals ------------------------------------------------------------------------------ */

static bool read_literal(GpNode *n, GpElem elem, GpScalar *out) {
    uint64_t u;
    *out = (GpScalar){.elem = elem};
    if (GP_AS(Lit, n)->tok == GpTok_Float)
        out->f = gp_lit_float(n);
    else if (!gp_lit_int(n, &u))
        return false;
    else if (gp_elem_is_float(elem))
        out->f = (double)u;
    else
        out->u = u;
    *out = gp_scalar_wrap(*out);
    return true;
}

GpVal gp_lower_literal(GpLower *lo, GpNode *n) {
    const GpType *t = gp_lower_node_type(lo, n);
    bool is_tile = gp_ty_is_lang(t, GpLang_Tile);
    GpElem elem = GpElem_I32;
    GpScalar v;
    if (is_tile)
        elem = gp_lower_adt_elem(t);
    if ((!is_tile && !gp_lower_elem(t, &elem)) || !read_literal(n, elem, &v)) {
        if (t->kind != GpTy_Ref)
            gp_lower_refuse(lo, n->span, "this literal");
        return gp_lower_undef(lo, t);
    }
    return gp_lower_one(lo, t, gp_build_const(&lo->b, gp_lower_leaf_type(lo, t, 0), v));
}

/* -2147483648 is one literal: its digits alone do not fit. */
static bool negate_literal(GpLower *lo, GpNode *n, GpVal *out) {
    GpNode *operand = gp_node_bare(GP_AS(Unary, n)->operand);
    const GpType *t = gp_lower_node_type(lo, n);
    GpElem elem;
    GpScalar v;
    if (operand->kind != GpNode_Lit || operand->adjust || !gp_lower_elem(t, &elem))
        return false;
    if (!read_literal(operand, elem, &v))
        return false;
    if (gp_elem_is_float(elem))
        v.f = -v.f;
    else
        v.u = 0 - v.u;
    *out =
        gp_lower_one(lo, t, gp_build_const(&lo->b, gp_ir_scalar(lo->fn, elem), gp_scalar_wrap(v)));
    return true;
}

/* ---- Arithmetic ---------------------------------------------------------------------------- */

GpValue *gp_lower_splat(GpLower *lo, GpValue *v, GpElem elem, const GpShape *shape) {
    const GpIrType *t = gp_ir_tile(lo->fn, elem, shape);
    GpScalar k;
    if (v->type->kind == GpIrType_Tile)
        return v;
    if (gp_ir_const(v, &k) && k.elem == elem)
        return gp_build_const(&lo->b, t, k);
    return gp_build(&lo->b, GpOp_Splat, &v, 1, &t, 1)->results[0];
}

GpValue *gp_lower_convert(GpLower *lo, GpValue *v, GpElem to) {
    GpScalar k;
    if (v->type->elem == to)
        return v;
    if (gp_ir_const(v, &k) && v->type->kind == GpIrType_Scalar)
        return gp_build_const(&lo->b, gp_ir_scalar(lo->fn, to), gp_scalar_cast(k, to));
    return gp_build_cast(&lo->b, v, to);
}

/* A generic element type has every operator, until it is known. */
static bool has_operator(GpLower *lo, GpOp op, const GpValue *x, GpSpan span) {
    if (gp_sig_takes(gp_op_info[op].sig, x->type->elem))
        return true;
    gp_lower_refuse(lo, span, "`%s` of elements of type `%s`", gp_op_info[op].name,
                    gp_elem_info[x->type->elem].name);
    return false;
}

static GpValue *apply(GpLower *lo, const BinaryRow *row, GpValue *x, GpValue *y, GpSpan span) {
    if (row->is_cmp)
        return gp_build_cmp(&lo->b, row->pred, x, y);
    if (!has_operator(lo, row->op, x, span))
        return x;
    if (row->op == GpOp_Div || row->op == GpOp_Rem)
        return gp_lower_divide(lo, row->op, x, y, span);
    if (row->op == GpOp_Shl || row->op == GpOp_Shr)
        y = y->type->kind == GpIrType_Scalar ? gp_lower_convert(lo, y, x->type->elem) : y;
    return gp_build2(&lo->b, row->op, x, y);
}

/* The one leaf of an operand, through references: `&a + &b` adds what they refer to. */
static GpValue *operand(GpLower *lo, GpSpot s, GpSpan span) {
    s = gp_spot_auto_deref(lo, s, span);
    GpVal v = gp_spot_read(lo, &s, span);
    if (v.count == 1)
        return gp_lower_get(lo, &v, 0);
    if (!lo->is_dead)
        gp_lower_refuse(lo, span, "this operator on `%s`", gp_ty_name(lo->arena, s.type));
    return NULL;
}

/* Scalars spread over the other operand's tile. */
static void match_shapes(GpLower *lo, GpValue **x, GpValue **y) {
    bool tile_x = (*x)->type->kind == GpIrType_Tile, tile_y = (*y)->type->kind == GpIrType_Tile;
    GpShape shape = tile_x ? (*x)->type->shape : (*y)->type->shape;
    if (tile_x && !tile_y)
        *y = gp_lower_splat(lo, *y, (*y)->type->elem, &shape);
    if (tile_y && !tile_x)
        *x = gp_lower_splat(lo, *x, (*x)->type->elem, &shape);
}

/* ---- && and || ----------------------------------------------------------------------------- */

typedef struct Logic {
    GpNode *rhs;
    bool is_and;
} Logic;

static GpVal logic_rhs(GpLower *lo, void *ud) { return gp_lower_expr(lo, ((Logic *)ud)->rhs); }

static GpVal logic_known(GpLower *lo, void *ud) {
    const GpType *t = gp_ty_elem(lo->types, GpElem_Bool);
    return gp_lower_one(lo, t, gp_build_int(&lo->b, GpElem_Bool, !((Logic *)ud)->is_and));
}

/* No effect and no check: it may run where Rust would not. */
static bool is_cheap(GpNode *n) {
    n = gp_node_bare(n);
    if (n->kind == GpNode_Lit)
        return true;
    if (n->kind == GpNode_PathExpr)
        return n->res && n->res->kind == GpRes_Local;
    if (n->kind == GpNode_Cast)
        return is_cheap(GP_AS(Cast, n)->operand);
    if (n->kind == GpNode_Unary)
        return GP_AS(Unary, n)->op != GpTok_Star && is_cheap(GP_AS(Unary, n)->operand);
    if (n->kind != GpNode_Binary)
        return false;
    GpAstBinary *b = GP_AS(Binary, n);
    return b->op != GpTok_Slash && b->op != GpTok_Percent && is_cheap(b->lhs) &&
           is_cheap(b->rhs);
}

static GpVal lower_logic(GpLower *lo, GpAstBinary *b) {
    const GpType *t = gp_ty_elem(lo->types, GpElem_Bool);
    Logic logic = {b->rhs, b->op == GpTok_AndAnd};
    GpValue *lhs = gp_lower_scalar(lo, b->lhs);
    GpScalar known;
    if (is_cheap(b->rhs) && !gp_ir_const(lhs, &known)) {
        GpValue *rhs = gp_lower_scalar(lo, b->rhs);
        return gp_lower_one(lo, t, gp_build2(&lo->b, logic.is_and ? GpOp_And : GpOp_Or, lhs, rhs));
    }
    if (logic.is_and)
        return gp_lower_if(lo, lhs, t, logic_rhs, logic_known, &logic);
    return gp_lower_if(lo, lhs, t, logic_known, logic_rhs, &logic);
}

/* An operand whose operators are methods. */
static bool is_struct(GpLower *lo, const GpNode *n) {
    const GpType *t = gp_lower_type(lo, gp_expr_type(n));
    return t->kind == GpTy_Adt && !t->def->is_std;
}

/* ---- Nodes --------------------------------------------------------------------------------- */

GpVal gp_lower_binary(GpLower *lo, GpNode *n) {
    GpAstBinary *b = GP_AS(Binary, n);
    if (b->op == GpTok_AndAnd || b->op == GpTok_OrOr)
        return lower_logic(lo, b);
    const GpType *t = gp_lower_node_type(lo, n);
    const BinaryRow *row = &binary_rows[b->op];
    if (n->res && n->res->def && is_struct(lo, b->lhs))
        return gp_lower_overload(lo, n, b->lhs, b->rhs);
    GpValue *x = operand(lo, gp_lower_place(lo, b->lhs), b->lhs->span);
    GpValue *y = operand(lo, gp_lower_place(lo, b->rhs), b->rhs->span);
    if (!x || !y || lo->is_dead)
        return gp_lower_undef(lo, t);
    gp_assert(row->is_op || row->is_cmp);
    match_shapes(lo, &x, &y);
    return gp_lower_one(lo, t, apply(lo, row, x, y, n->span));
}

GpVal gp_lower_unary(GpLower *lo, GpNode *n) {
    GpAstUnary *u = GP_AS(Unary, n);
    const GpType *t = gp_lower_node_type(lo, n);
    GpVal literal;
    if (u->op == GpTok_Minus && negate_literal(lo, n, &literal))
        return literal;
    if (n->res && n->res->def && is_struct(lo, u->operand))
        return gp_lower_overload(lo, n, u->operand, NULL);
    GpValue *x = operand(lo, gp_lower_place(lo, u->operand), u->operand->span);
    if (!x || lo->is_dead)
        return gp_lower_undef(lo, t);
    GpOp op = u->op == GpTok_Minus ? GpOp_Neg : GpOp_Not;
    if (!has_operator(lo, op, x, n->span))
        return gp_lower_undef(lo, t);
    return gp_lower_one(lo, t, gp_build1(&lo->b, op, x));
}

static void assign_to(GpLower *lo, GpNode *lhs, GpVal v) {
    lhs = gp_node_bare(lhs);
    if (lhs->kind == GpNode_Wild)
        return;
    if (lhs->kind == GpNode_Tuple) {
        GpNodeList items = GP_AS(Tuple, lhs)->items;
        for (uint32_t i = 0; i < items.len && i < gp_lower_field_count(v.type); i++) {
            const GpType *t = gp_lower_field_type(lo, v.type, i);
            uint32_t off = gp_lower_field_at(lo, v.type, i);
            assign_to(lo, items.at[i], gp_lower_part(&v, t, off, gp_lower_leaf_count(lo, t)));
        }
        return;
    }
    GpSpot s = gp_lower_place(lo, lhs);
    if (s.kind == GpSpot_Value && !lo->is_dead)
        gp_lower_refuse(lo, lhs->span, "assigning to this");
    gp_spot_write(lo, &s, v, lhs->span);
}

/* A partition as the new value of one with the same padding and order of axes, of which the code
** that loads its tiles is made. */
static void assign_partition(GpLower *lo, GpNode *lhs, GpVal v) {
    GpSpot s = gp_lower_place(lo, lhs);
    GpVal old = gp_spot_read(lo, &s, lhs->span);
    for (uint32_t k = 1; k < v.count && k < old.count; k++) {
        GpScalar a, b;
        if (!gp_lower_view_form(lo, v.type, k) || !old.at[k].value)
            continue;
        if (!gp_ir_const(old.at[k].value, &a) || !gp_ir_const(gp_lower_get(lo, &v, k), &b) || a.u != b.u) {
            gp_lower_refuse(lo, lhs->span, "assigning a partition with another padding or order of axes");
            return;
        }
        v.at[k] = old.at[k];
    }
    gp_spot_write(lo, &s, v, lhs->span);
}

/* Rust evaluates the right side first. */
GpVal gp_lower_assign(GpLower *lo, GpNode *n) {
    GpAstAssign *a = GP_AS(Assign, n);
    if (a->op == GpTok_Eq) {
        GpVal v = gp_lower_expr(lo, a->rhs);
        if (v.type && gp_lower_is_partition(v.type) && !lo->is_dead)
            assign_partition(lo, a->lhs, v);
        else if (!lo->is_dead)
            assign_to(lo, a->lhs, v);
        return gp_lower_unit(lo);
    }
    GpValue *y = operand(lo, gp_lower_place(lo, a->rhs), a->rhs->span);
    if (!y || lo->is_dead)
        return gp_lower_unit(lo);
    GpSpot s = gp_lower_place(lo, a->lhs);
    GpValue *x = operand(lo, s, a->lhs->span);
    if (!x)
        return gp_lower_unit(lo);
    match_shapes(lo, &x, &y);
    GpValue *sum = apply(lo, &binary_rows[a->op], x, y, n->span);
    gp_spot_write(lo, &s, gp_lower_one(lo, s.type, sum), n->span);
    return gp_lower_unit(lo);
}

GpVal gp_lower_cast(GpLower *lo, GpNode *n) {
    const GpType *t = gp_lower_node_type(lo, n);
    GpVal v = gp_lower_expr(lo, GP_AS(Cast, n)->operand);
    GpElem to = GpElem_I32;
    bool is_tag = v.count && v.type->kind == GpTy_Adt && v.type->def->kind == GpDef_Enum;
    if (v.type == t || v.type->kind == GpTy_Never)
        return v.type == t ? v : gp_lower_undef(lo, t);
    if ((v.count != 1 && !is_tag) || !gp_lower_elem(t, &to)) {
        if (!lo->is_dead)
            gp_lower_refuse(lo, n->span, "a cast from `%s` to `%s`", gp_ty_name(lo->arena, v.type),
                            gp_ty_name(lo->arena, t));
        return gp_lower_undef(lo, t);
    }
    return gp_lower_one(lo, t, gp_lower_convert(lo, gp_lower_get(lo, &v, 0), to));
}
