/* match: the types of its arms. Which values no arm matches is found in check_exhaust.c. */
#include "dsl/check_body.h"

typedef struct Join {
    const GpType *want; /* what the place asks for, NULL */
    const GpType *hint;
    const GpType *type; /* of the arms so far, NULL */
    GpReason why;
    GpSpan first;
    bool all_diverge;
} Join;

static void join_arm(GpBody *b, GpNode *body, Join *j) {
    if (j->want) {
        gp_body_expect(b, body, j->want, j->why);
        return;
    }
    const GpType *t = gp_body_expr(b, body, j->hint ? j->hint : j->type);
    if (!j->type || gp_body_is(b, j->type, GpTy_Never)) {
        j->type = t;
        j->first = body->span;
        return;
    }
    if (gp_body_can_coerce(b, body, j->type))
        return;
    GpDiag *d =
        gp_diag(b->c->diags, GpDiag_E0308, body->span, "`match` arms have incompatible types");
    gp_primary_label(d, "expected %s, found %s", gp_body_describe(b, j->type),
                     gp_body_describe(b, t));
    gp_label(d, j->first, "this is found to be of type %s", gp_body_describe(b, j->type));
    j->type = gp_body_error(b);
}

static void check_arm(GpBody *b, GpAstMatch *m, GpAstArm *arm, const GpType *type, Join *j) {
    uint32_t visible = b->visible.len;
    gp_body_pat(b, arm->pat, type, NULL, m->scrutinee);
    if (arm->guard)
        gp_body_cond(b, arm->guard);
    bool before = b->diverges;
    join_arm(b, arm->body, j);
    j->all_diverge &= b->diverges;
    b->diverges = before;
    b->visible.len = visible;
}

static const GpType *check_match(GpBody *b, GpNode *n, Join *j) {
    GpAstMatch *m = GP_AS(Match, n);
    const GpType *type = gp_body_expr(b, m->scrutinee, NULL);
    bool before = b->diverges;
    uint32_t errors = gp_diags_errors(b->c->diags);
    j->all_diverge = true;
    for (uint32_t i = 0; i < m->arms.len; i++)
        check_arm(b, m, GP_AS(Arm, m->arms.at[i]), type, j);
    b->diverges = before || (j->all_diverge && m->arms.len);
    if (errors == gp_diags_errors(b->c->diags) && !gp_body_is(b, type, GpTy_Error))
        gp_body_exhaustive(b, m, type);
    if (!m->arms.len || (j->all_diverge && (!j->type || gp_body_is(b, j->type, GpTy_Never))))
        return gp_ty_never(b->c->types);
    if (!j->want) /* arms that ended before a type was known */
        for (uint32_t i = 0; i < m->arms.len; i++)
            if (gp_body_is(b, gp_expr_type(GP_AS(Arm, m->arms.at[i])->body), GpTy_Never))
                gp_body_can_coerce(b, GP_AS(Arm, m->arms.at[i])->body, j->type);
    return j->want ? j->want : j->type;
}

const GpType *gp_check_match(GpBody *b, GpNode *n, const GpType *hint) {
    Join j = {.hint = hint};
    return check_match(b, n, &j);
}

const GpType *gp_body_match_expect(GpBody *b, GpNode *n, const GpType *want, GpReason why) {
    Join j = {.want = want, .why = why};
    n->type = check_match(b, n, &j);
    if (gp_body_is(b, n->type, GpTy_Never))
        gp_body_diverge(b, n);
    gp_body_coerce(b, n, want, why);
    return want;
}
