/* Closures: expressions whose parameters take their types from annotations or from the Fn bound of
** the parameter that they are passed to. */
#include "dsl/check_body.h"

static void check_params(GpBody *b, GpAstClosure *cl, GpClosureSig *sig, const GpType *const *want,
                         uint32_t count) {
    for (uint32_t i = 0; i < cl->params.len; i++) {
        GpAstParam *p = GP_AS(Param, cl->params.at[i]);
        const GpType *t = i < count ? want[i] : NULL;
        if (p->type) {
            const GpType *written = gp_type_of_node(b->c, b->fn, p->type);
            if (t && !gp_body_unify(b, t, written, p->type->span))
                gp_body_mismatch(b, p->type->span, t, written, GP_NO_REASON);
            t = written;
        }
        if (!t)
            t = gp_fresh_type(b->c, GpInfer_Any);
        sig->params[i] = t;
        p->node.type = t;
        if (gp_body_pat(b, p->pat, t, p->type, NULL))
            gp_body_irrefutable(b, p->pat, t, "function argument");
    }
}

const GpType *gp_body_closure(GpBody *b, GpNode *n, const GpType *const *want, uint32_t count,
                              const GpType *ret) {
    GpAstClosure *cl = GP_AS(Closure, n);
    if (want && count != cl->params.len) {
        GpDiag *d = gp_body_wrong_count(b, n->span, "closure", count, cl->params.len);
        gp_primary_label(d, "takes %u argument%s", cl->params.len, gp_plural(cl->params.len));
    }
    GpClosureSig *sig = GP_NEW(b->c->arena, GpClosureSig);
    sig->params = GP_NEW_ARRAY(b->c->arena, const GpType *, cl->params.len);
    sig->count = cl->params.len;
    sig->ret = cl->ret ? gp_type_of_node(b->c, b->fn, cl->ret) : gp_fresh_type(b->c, GpInfer_Any);
    if (ret && !gp_unify(b->c, sig->ret, ret) && cl->ret)
        gp_body_mismatch(b, cl->ret->span, ret, sig->ret, GP_NO_REASON);
    GpFrame frame = {.kind = GpFrame_Closure,
                     .node = n,
                     .result = sig->ret,
                     .outer = b->frame,
                     .ret_span = cl->ret ? cl->ret->span : GP_NO_SPAN};
    GpNode *outer_closure = b->closure;
    bool diverged = b->diverges;
    uint32_t visible = b->visible.len;
    b->frame = &frame;
    b->closure = n;
    b->diverges = false;
    check_params(b, cl, sig, want, count);
    GpReason why = GP_NO_REASON;
    if (cl->ret)
        why = (GpReason){cl->ret->span, "expected because of return type", NULL};
    gp_body_expect(b, cl->body, sig->ret, why);
    b->frame = frame.outer;
    b->closure = outer_closure;
    b->diverges = diverged;
    b->visible.len = visible;
    gp_map_set(b->c->arena, &b->closures, n, sig);
    return gp_ty_closure(b->c->types, n);
}

const GpType *gp_check_closure(GpBody *b, GpNode *n, const GpType *hint) {
    (void)hint;
    return gp_body_closure(b, n, NULL, 0, NULL);
}
