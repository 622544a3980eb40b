/* Assignments: to places, to tuples of places, to what stands behind a reference. Those with an
** operator are checked as operators. */
#include "dsl/check_body.h"
#include "dsl/unify.h"

static GpReason reason_of_place(GpBody *b, GpNode *place) {
    place = gp_node_bare(place);
    if (place->kind != GpNode_PathExpr || !place->res || place->res->kind != GpRes_Local)
        return GP_NO_REASON;
    const GpLocalInfo *info = &b->infos.at[place->res->local->id];
    if (info->type_node)
        return (GpReason){info->type_node->span, "expected due to this type", NULL};
    const GpType *own = gp_zonk(b->c, place->res->local->type);
    if (info->init && gp_zonk(b->c, gp_expr_type(info->init)) == own)
        return (GpReason){info->init->span, "expected due to this value", NULL};
    if (info->init)
        return (GpReason){place->res->local->span, "expected due to the type of this binding",
                          NULL};
    return GP_NO_REASON;
}

/* `o = 1.0` where `o` is a reference to the place that is meant. */
static bool check_missing_deref(GpBody *b, GpAstAssign *a, const GpType *l) {
    GpNode *rhs = gp_node_bare(a->rhs);
    l = gp_body_known(b, l);
    if (l->kind != GpTy_Ref || !l->is_mut || rhs->kind == GpNode_If || rhs->kind == GpNode_Match ||
        rhs->kind == GpNode_Block)
        return false;
    const GpType *r = gp_body_expr(b, a->rhs, l);
    if (gp_body_can_coerce(b, a->rhs, l))
        return true;
    GpReason why = reason_of_place(b, a->lhs);
    GpDiag *d = gp_diag(b->c->diags, GpDiag_E0308, rhs->span, "mismatched types");
    gp_primary_label(d, "expected %s, found %s", gp_body_describe(b, l), gp_body_describe(b, r));
    if (why.label)
        gp_label(d, why.span, "%s", why.label);
    if (gp_body_can_coerce(b, a->rhs, l->inner) && a->lhs->span.src)
        gp_suggest(d, (GpSpan){a->lhs->span.src, a->lhs->span.off, 0}, "*",
                   "consider dereferencing here to assign to the mutably borrowed value");
    return true;
}

static bool is_call_of_fn(GpBody *b, GpNode *call) {
    gp_body_expr(b, call, NULL);
    return !call->res || call->res->kind != GpRes_Construct;
}

/* (a, _, b.x) = value: each part is a place, a tuple of them, or `_`. */
static void assign_tuple(GpBody *b, GpNode *lhs, const GpType *type, GpSpan span) {
    GpNode *n = gp_node_bare(lhs);
    type = gp_body_known(b, type);
    lhs->type = n->type = type;
    if (n->kind == GpNode_Wild)
        return;
    if (n->kind != GpNode_Tuple) {
        const GpType *t = gp_body_expr(b, lhs, NULL);
        gp_body_check_assignable(b, lhs, span, lhs->span, false);
        if (!gp_body_unify(b, t, type, lhs->span))
            gp_body_mismatch(b, lhs->span, type, t, GP_NO_REASON);
        return;
    }
    GpNodeList items = GP_AS(Tuple, n)->items;
    bool fits = type->kind == GpTy_Tuple && type->arg_count == items.len;
    if (!fits && type->kind != GpTy_Error) {
        GpDiag *d = gp_diag(b->c->diags, GpDiag_E0308, n->span, "mismatched types");
        gp_primary_label(d, "expected %s, found a tuple with %u element%s",
                         gp_body_describe(b, type), items.len, gp_plural(items.len));
    }
    for (uint32_t i = 0; i < items.len; i++)
        assign_tuple(b, items.at[i], fits ? type->args[i].type : gp_body_error(b), span);
}

static const GpType *check_plain_assign(GpBody *b, GpNode *n, GpAstAssign *a) {
    GpNode *place = gp_node_bare(a->lhs);
    if (place->kind == GpNode_Wild) {
        gp_body_expr(b, a->rhs, NULL);
        return gp_body_unit(b);
    }
    if (place->kind == GpNode_Array || place->kind == GpNode_StructLit ||
        place->kind == GpNode_Call) {
        if (place->kind == GpNode_Call && is_call_of_fn(b, place))
            gp_body_check_assignable(b, a->lhs, n->span,
                                     gp_operator_span(a->lhs, a->rhs, GpTok_Eq, n->span), false);
        else
            gp_body_unsupported(b, n->span,
                                "assignments to arrays, structs and variants of places");
        gp_body_expr(b, a->rhs, NULL);
        return gp_body_unit(b);
    }
    if (place->kind == GpNode_Tuple) {
        assign_tuple(b, a->lhs, gp_body_expr(b, a->rhs, NULL), n->span);
        return gp_body_unit(b);
    }
    const GpType *l = gp_body_expr(b, a->lhs, NULL);
    uint32_t errors = gp_diags_errors(b->c->diags);
    if (!check_missing_deref(b, a, l))
        gp_body_expect(b, a->rhs, l, reason_of_place(b, a->lhs));
    if (errors == gp_diags_errors(b->c->diags) || !gp_body_is_place(b, a->lhs))
        gp_body_check_assignable(b, a->lhs, n->span,
                                 gp_operator_span(a->lhs, a->rhs, GpTok_Eq, n->span), false);
    return gp_body_unit(b);
}

const GpType *gp_check_assign(GpBody *b, GpNode *n, const GpType *hint) {
    (void)hint;
    GpAstAssign *a = GP_AS(Assign, n);
    if (a->op == GpTok_Eq)
        return check_plain_assign(b, n, a);
    gp_check_op_assign(b, n);
    return gp_body_unit(b);
}
