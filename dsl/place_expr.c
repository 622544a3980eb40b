/* Expressions in place form: where a value comes from and where it goes.
**
** An expression is asked for in one of three ways: as a place (a name, field, element or
** dereference stays what it is; anything else becomes a temporary), as an operand (read now,
** into a temporary: later parts of the same expression may change the place), or into a place. */
#include "dsl/place_build.h"

typedef void (*IntoFn)(GpBuild *b, GpPlace *dst, GpNode *n);

static const GpType *final_type(const GpNode *n) {
    const GpType *t = gp_expr_type(n);
    gp_assert(t);
    return t;
}

/* ---- places ---------------------------------------------------------------------------------- */

static bool is_place_expr(GpNode *n) {
    n = gp_bare(n);
    if (n->kind == GpNode_PathExpr)
        return n->res && n->res->kind == GpRes_Local;
    return n->kind == GpNode_Field || n->kind == GpNode_Index ||
           (n->kind == GpNode_Unary && GP_AS(Unary, n)->op == GpTok_Star);
}

static GpPlace *place_bare(GpBuild *b, GpNode *n);
static GpPlace *place_until(GpBuild *b, GpNode *n, const GpAdjust *end);
static void into_until(GpBuild *b, GpPlace *dst, GpNode *n, const GpAdjust *end);

static GpPlace *build_field(GpBuild *b, GpNode *n) {
    GpPlace *p = gp_build_place(b, GP_AS(Field, n)->base);
    if (!n->res || n->res->kind != GpRes_Field)
        return p;
    for (uint32_t i = 0; i < n->res->derefs; i++)
        p = gp_place_deref(b->f, p);
    return gp_place_field(b->f, p, n->res->index, n->type);
}

static GpPlace *build_index(GpBuild *b, GpNode *n) {
    GpAstIndex *x = GP_AS(Index, n);
    GpPlace *p = gp_build_place(b, x->base);
    gp_build_operand(b, x->index);
    return gp_place_index(b->f, p, n->type);
}

static GpPlace *temp_of(GpBuild *b, GpNode *n, const GpType *t) {
    return gp_build_temp(b, t, n->span);
}

static GpPlace *place_bare(GpBuild *b, GpNode *n) {
    if (is_place_expr(n)) {
        n = gp_bare(n);
        if (n->kind == GpNode_PathExpr)
            return gp_build_local(b, n->res->local);
        if (n->kind == GpNode_Field)
            return build_field(b, n);
        if (n->kind == GpNode_Index)
            return build_index(b, n);
        return gp_place_deref(b->f, gp_build_place(b, GP_AS(Unary, n)->operand));
    }
    GpPlace *t = temp_of(b, n, n->type);
    into_until(b, t, n, n->adjust);
    return t;
}

static const GpAdjust *step_before(const GpNode *n, const GpAdjust *end) {
    const GpAdjust *a = n->adjust;
    while (a->next != end)
        a = a->next;
    return a;
}

/* The place that n is once its adjustments before `end` are applied. */
static GpPlace *place_until(GpBuild *b, GpNode *n, const GpAdjust *end) {
    if (n->adjust == end)
        return place_bare(b, n);
    const GpAdjust *last = step_before(n, end);
    if (last->kind == GpAdjust_Deref)
        return gp_place_deref(b->f, place_until(b, n, last));
    GpPlace *t = temp_of(b, n, last->type);
    into_until(b, t, n, end);
    return t;
}

GpPlace *gp_build_place(GpBuild *b, GpNode *n) { return place_until(b, n, NULL); }

/* ---- operands -------------------------------------------------------------------------------- */

static bool is_constant(GpNode *n) {
    n = gp_bare(n);
    if (n->adjust)
        return false;
    if (n->res && n->res->kind == GpRes_Const)
        return true;
    if (n->kind == GpNode_PathExpr)
        return !n->res ||
               (n->res->kind != GpRes_Local && !(n->res->def && n->res->def->kind == GpDef_Static));
    return n->kind == GpNode_Lit;
}

GpOperand gp_build_operand(GpBuild *b, GpNode *n) {
    if (is_constant(n))
        return (GpOperand){GpUse_Copy, NULL, n->span};
    GpPlace *t = temp_of(b, n, final_type(n));
    gp_build_into(b, t, n);
    return gp_operand_of(b, t, n->span);
}

void gp_build_drop(GpBuild *b, GpNode *n) {
    GpNode *bare = gp_bare(n);
    if (is_constant(n))
        return;
    if (is_place_expr(n) && !n->adjust) { /* `x;` moves x, `_ = x` does not */
        gp_build_operand(b, n);
        return;
    }
    gp_build_into(b, bare->type->kind == GpTy_Never ? NULL : temp_of(b, n, final_type(n)), n);
}

/* ---- values ---------------------------------------------------------------------------------- */

/* One step that reads operands and gives dst; regions of the operands end up in dst. */
static void combine(GpBuild *b, GpPlace *dst, const GpOperand *uses, uint32_t count, GpSpan span) {
    GpStep *s = gp_build_step(b, GpStep_Assign, span);
    s->dst = dst;
    gp_step_uses(b, s, uses, count);
}

static GpOperand *operands(GpBuild *b, GpNodeList list) {
    GpOperand *uses = GP_NEW_ARRAY(b->arena, GpOperand, list.len);
    for (uint32_t i = 0; i < list.len; i++)
        uses[i] = gp_build_operand(b, list.at[i]);
    return uses;
}

static void flow_into_field(GpBuild *b, GpPlace *dst, uint32_t index, GpOperand use,
                            const GpType *t, GpSpan span) {
    if (dst && use.place)
        gp_build_regions(b, use.place, gp_place_field(b->f, dst, index, t), span);
}

static void into_tuple(GpBuild *b, GpPlace *dst, GpNode *n) {
    GpNodeList items = GP_AS(Tuple, n)->items;
    GpOperand *uses = operands(b, items);
    if (dst && dst->type->kind == GpTy_Tuple)
        for (uint32_t i = 0; i < items.len && i < dst->type->arg_count; i++)
            flow_into_field(b, dst, i, uses[i], dst->type->args[i].type, n->span);
    combine(b, dst, uses, items.len, n->span);
}

static void flow_element(GpBuild *b, GpPlace *dst, GpOperand use, GpSpan span) {
    bool is_return = b->f->slots.at[dst->local].kind == GpSlot_Return;
    if (use.place)
        gp_regions_flow(b->f, use.place->type, use.place->regions, dst->regions, span, is_return);
}

static void into_array(GpBuild *b, GpPlace *dst, GpNode *n) {
    GpNodeList items = GP_AS(Array, n)->items;
    GpOperand *uses = operands(b, items);
    for (uint32_t i = 0; dst && i < items.len; i++)
        flow_element(b, dst, uses[i], n->span);
    combine(b, dst, uses, items.len, n->span);
}

static void into_repeat(GpBuild *b, GpPlace *dst, GpNode *n) {
    GpOperand use = gp_build_operand(b, GP_AS(Repeat, n)->value);
    if (dst)
        flow_element(b, dst, use, n->span);
    combine(b, dst, &use, 1, n->span);
}

/* `..base` gives the fields that are not written. */
static void take_base(GpBuild *b, GpPlace *dst, GpNode *n, const bool *given, const GpDef *def) {
    GpPlace *base = gp_build_place(b, GP_AS(StructLit, n)->base);
    for (uint32_t i = 0; i < def->field_count; i++) {
        if (given[i])
            continue;
        GpPlace *to = gp_place_field(b->f, dst, i, def->field_types[i]);
        GpPlace *from = gp_place_field(b->f, base, i, to->type);
        GpOperand use = gp_operand_of(b, from, GP_AS(StructLit, n)->base->span);
        gp_build_regions(b, from, to, n->span);
        combine(b, NULL, &use, 1, n->span);
    }
}

static void into_struct(GpBuild *b, GpPlace *dst, GpNode *n) {
    GpAstStructLit *s = GP_AS(StructLit, n);
    GpOperand *uses = GP_NEW_ARRAY(b->arena, GpOperand, s->fields.len);
    const GpDef *def = n->res ? n->res->def : NULL;
    GpPlace *to = dst ? dst : temp_of(b, n, n->type);
    if (def && def->kind == GpDef_Variant)
        to = gp_place_variant(b->f, to, def);
    bool *given = GP_NEW_ARRAY(b->arena, bool, def ? def->field_count : 0);
    for (uint32_t i = 0; i < s->fields.len; i++) {
        GpAstFieldInit *init = GP_AS(FieldInit, s->fields.at[i]);
        uint32_t at = GP_NONE;
        (void)(def && gp_def_field(def, init->name, &at));
        if (!init->value) {
            const GpRes *res = init->node.res;
            if (!res || res->kind != GpRes_Local)
                continue;
            GpPlace *p = gp_build_local(b, res->local);
            uses[i] = gp_operand_of(b, p, init->node.span);
        } else {
            uses[i] = gp_build_operand(b, init->value);
        }
        if (at == GP_NONE)
            continue;
        given[at] = true;
        if (uses[i].place)
            flow_into_field(b, to, at, uses[i], uses[i].place->type, n->span);
    }
    if (s->base && def)
        take_base(b, to, n, given, def);
    combine(b, dst, uses, s->fields.len, n->span);
}

/* ---- operators ------------------------------------------------------------------------------- */

static void into_unary(GpBuild *b, GpPlace *dst, GpNode *n) {
    GpNode *operand = GP_AS(Unary, n)->operand;
    if (n->res && n->res->kind == GpRes_Method) {
        gp_build_overload(b, dst, n, operand, NULL);
        return;
    }
    GpOperand use = gp_build_operand(b, operand);
    combine(b, dst, &use, 1, n->span);
}

/* && and || evaluate their right side on one of two paths. */
static void into_logic(GpBuild *b, GpPlace *dst, GpNode *n) {
    GpAstBinary *x = GP_AS(Binary, n);
    GpOperand use = gp_build_operand(b, x->lhs);
    combine(b, dst, &use, 1, n->span);
    uint32_t end = gp_build_block(b), rhs = gp_build_block(b);
    gp_build_edge(b, b->block, end);
    gp_build_goto(b, rhs);
    use = gp_build_operand(b, x->rhs);
    combine(b, dst, &use, 1, n->span);
    gp_build_goto(b, end);
}

static bool is_scalar(const GpType *t) {
    return t->kind == GpTy_Elem || t->kind == GpTy_Usize || t->kind == GpTy_Isize ||
           t->kind == GpTy_Char;
}

static bool is_compare(GpTok op) {
    return op == GpTok_EqEq || op == GpTok_NotEq || op == GpTok_Less || op == GpTok_LessEq ||
           op == GpTok_Greater || op == GpTok_GreaterEq;
}

/* A comparison of anything but numbers looks at both sides; everything else takes them. */
static GpOperand side_of(GpBuild *b, GpNode *side, GpTok op) {
    if (!is_compare(op) || is_scalar(final_type(side)) || !is_place_expr(side))
        return gp_build_operand(b, side);
    GpPlace *p = gp_build_place(b, side);
    GpPlace *t = temp_of(b, side, gp_ty_ref(b->f->c->types, p->type, false));
    gp_build_loan(b, t, p, GpLoan_Shared, side->span);
    return gp_operand_of(b, t, side->span);
}

static void into_binary(GpBuild *b, GpPlace *dst, GpNode *n) {
    GpAstBinary *x = GP_AS(Binary, n);
    if (x->op == GpTok_AndAnd || x->op == GpTok_OrOr) {
        into_logic(b, dst, n);
        return;
    }
    if (n->res && n->res->kind == GpRes_Method) {
        gp_build_overload(b, dst, n, x->lhs, x->rhs);
        return;
    }
    GpOperand uses[2];
    uses[0] = side_of(b, x->lhs, x->op);
    uses[1] = side_of(b, x->rhs, x->op);
    combine(b, dst, uses, 2, n->span);
}

static void into_assign(GpBuild *b, GpPlace *dst, GpNode *n) {
    (void)dst;
    GpAstAssign *a = GP_AS(Assign, n);
    GpNode *lhs = gp_bare(a->lhs);
    if (lhs->kind == GpNode_Wild) {
        if (is_place_expr(a->rhs) && !a->rhs->adjust)
            gp_build_place(b, a->rhs);
        else
            gp_build_drop(b, a->rhs);
        return;
    }
    GpOperand rhs = gp_build_operand(b, a->rhs);
    GpPlace *to = gp_build_place(b, a->lhs);
    if (a->op == GpTok_Eq) {
        gp_build_copy(b, to, rhs, n->span);
        return;
    }
    GpOperand uses[2] = {gp_operand_of(b, to, n->span), rhs};
    combine(b, to, uses, 2, n->span);
}

static void into_cast(GpBuild *b, GpPlace *dst, GpNode *n) {
    GpOperand use = gp_build_operand(b, GP_AS(Cast, n)->operand);
    combine(b, dst, &use, 1, n->span);
}

static void into_range(GpBuild *b, GpPlace *dst, GpNode *n) {
    GpAstRange *r = GP_AS(Range, n);
    GpOperand uses[2] = {{0}, {0}};
    if (r->lo)
        uses[0] = gp_build_operand(b, r->lo);
    if (r->hi)
        uses[1] = gp_build_operand(b, r->hi);
    combine(b, dst, uses, 2, n->span);
}

/* ---- borrows --------------------------------------------------------------------------------- */

/* Constants behind & live for ever (RFC 1414). */
static bool is_promoted(GpNode *n) {
    n = gp_bare(n);
    GpNodeList items = {0};
    if (n->kind == GpNode_Lit)
        return true;
    if (n->kind == GpNode_PathExpr)
        return n->res && n->res->kind != GpRes_Local &&
               !(n->res->def && n->res->def->kind == GpDef_Static);
    if (n->kind == GpNode_Unary)
        return GP_AS(Unary, n)->op == GpTok_Minus && is_promoted(GP_AS(Unary, n)->operand);
    if (n->kind == GpNode_Binary) {
        GpAstBinary *x = GP_AS(Binary, n);
        return n->res && n->res->kind == GpRes_Operator && x->op != GpTok_Slash &&
               x->op != GpTok_Percent && is_promoted(x->lhs) && is_promoted(x->rhs);
    }
    if (n->kind == GpNode_Call && n->res && n->res->kind == GpRes_Construct)
        items = GP_AS(Call, n)->args;
    else if (n->kind == GpNode_Tuple)
        items = GP_AS(Tuple, n)->items;
    else if (n->kind == GpNode_Array)
        items = GP_AS(Array, n)->items;
    else
        return false;
    for (uint32_t i = 0; i < items.len; i++)
        if (items.at[i]->adjust || !is_promoted(items.at[i]))
            return false;
    return true;
}

static bool is_static_place(GpNode *n) {
    n = gp_bare(n);
    if (n->kind == GpNode_Field)
        return is_static_place(GP_AS(Field, n)->base);
    if (n->kind == GpNode_Index)
        return is_static_place(GP_AS(Index, n)->base);
    return n->kind == GpNode_PathExpr && n->res && n->res->def && n->res->def->kind == GpDef_Static;
}

static void into_borrow(GpBuild *b, GpPlace *dst, GpNode *n) {
    GpAstBorrow *r = GP_AS(Borrow, n);
    if ((!r->is_mut && !r->operand->adjust && is_promoted(r->operand)) ||
        is_static_place(r->operand)) {
        gp_build_operand(b, r->operand);
        combine(b, dst, NULL, 0, n->span);
        return;
    }
    uint32_t temps = b->temps;
    if (b->is_extended) /* the temporary lives as long as the block */
        b->temps = b->extend;
    GpPlace *p = gp_build_place(b, r->operand);
    b->temps = temps;
    if (!dst)
        dst = temp_of(b, n, n->type);
    gp_build_loan(b, dst, p, r->is_mut ? GpLoan_Mut : GpLoan_Shared, n->span);
}

static void into_place(GpBuild *b, GpPlace *dst, GpNode *n) {
    GpPlace *p = place_bare(b, n);
    gp_build_copy(b, dst, gp_operand_of(b, p, n->span), n->span);
}

static void into_constant(GpBuild *b, GpPlace *dst, GpNode *n) {
    combine(b, dst, NULL, 0, n->span);
}

static void into_paren(GpBuild *b, GpPlace *dst, GpNode *n) {
    gp_build_into(b, dst, GP_AS(Paren, n)->operand);
}

static void into_path(GpBuild *b, GpPlace *dst, GpNode *n) {
    (n->res && n->res->kind == GpRes_Local ? into_place : into_constant)(b, dst, n);
}

static void into_star(GpBuild *b, GpPlace *dst, GpNode *n) {
    (GP_AS(Unary, n)->op == GpTok_Star ? into_place : into_unary)(b, dst, n);
}

static void into_while(GpBuild *b, GpPlace *dst, GpNode *n) {
    (void)dst;
    gp_build_while(b, n);
}

static void into_for(GpBuild *b, GpPlace *dst, GpNode *n) {
    (void)dst;
    gp_build_for(b, n);
}

static void into_leave(GpBuild *b, GpPlace *dst, GpNode *n) {
    (void)dst;
    gp_build_leave(b, n);
}

/* `let` outside of conditions: `let p = e` as a value. */
static void into_let_cond(GpBuild *b, GpPlace *dst, GpNode *n) {
    uint32_t otherwise = gp_build_block(b), end = gp_build_block(b);
    gp_build_cond(b, n, otherwise, b->scopes.len);
    gp_build_edge(b, otherwise, end);
    gp_build_goto(b, end);
    combine(b, dst, NULL, 0, n->span);
}

/* ---- dispatch -------------------------------------------------------------------------------- */

static const IntoFn into_fns[GpNode_count] = {
    [GpNode_Lit] = into_constant,
    [GpNode_PathExpr] = into_path,
    [GpNode_Unary] = into_star,
    [GpNode_Binary] = into_binary,
    [GpNode_Assign] = into_assign,
    [GpNode_Call] = gp_build_call,
    [GpNode_MethodCall] = gp_build_method,
    [GpNode_Field] = into_place,
    [GpNode_Index] = into_place,
    [GpNode_Range] = into_range,
    [GpNode_Borrow] = into_borrow,
    [GpNode_Cast] = into_cast,
    [GpNode_Tuple] = into_tuple,
    [GpNode_Array] = into_array,
    [GpNode_Repeat] = into_repeat,
    [GpNode_StructLit] = into_struct,
    [GpNode_If] = gp_build_if,
    [GpNode_LetCond] = into_let_cond,
    [GpNode_Match] = gp_build_match,
    [GpNode_While] = into_while,
    [GpNode_Loop] = gp_build_loop,
    [GpNode_For] = into_for,
    [GpNode_Block] = gp_build_block_into,
    [GpNode_Break] = into_leave,
    [GpNode_Continue] = into_leave,
    [GpNode_Return] = into_leave,
    [GpNode_Closure] = gp_build_closure,
    [GpNode_Paren] = into_paren,
    [GpNode_Macro] = gp_build_macro,
};

static bool may_extend(GpNode *n) {
    return n->kind == GpNode_Borrow || n->kind == GpNode_Tuple || n->kind == GpNode_Array ||
           n->kind == GpNode_StructLit || n->kind == GpNode_Paren || n->kind == GpNode_Block ||
           n->kind == GpNode_Field || n->kind == GpNode_Cast || n->kind == GpNode_Index;
}

static void into_bare(GpBuild *b, GpPlace *dst, GpNode *n) {
    gp_assert(into_fns[n->kind]);
    bool is_extended = b->is_extended, is_arg = b->is_arg;
    b->is_extended &= may_extend(n);
    b->is_arg = false;
    into_fns[n->kind](b, dst, n);
    b->is_extended = is_extended;
    b->is_arg = is_arg;
}

static void into_until(GpBuild *b, GpPlace *dst, GpNode *n, const GpAdjust *end) {
    if (n->adjust == end) {
        into_bare(b, dst, n);
        return;
    }
    const GpAdjust *last = step_before(n, end);
    if (last->kind == GpAdjust_Borrow || last->kind == GpAdjust_BorrowMut) {
        bool is_arg = b->is_arg;
        GpPlace *p = place_until(b, n, last);
        if (!dst)
            dst = temp_of(b, n, last->type);
        GpLoanKind kind = last->kind == GpAdjust_Borrow ? GpLoan_Shared
                          : is_arg                      ? GpLoan_TwoPhase
                                                        : GpLoan_Mut;
        gp_build_loan(b, dst, p, kind, n->span);
    } else if (last->kind == GpAdjust_Deref) {
        gp_build_copy(b, dst, gp_operand_of(b, place_until(b, n, end), n->span), n->span);
    } else if (last->kind == GpAdjust_Never) {
        into_until(b, NULL, n, last);
    } else {
        into_until(b, dst, n, last);
    }
}

void gp_build_into(GpBuild *b, GpPlace *dst, GpNode *n) { into_until(b, dst, n, NULL); }
