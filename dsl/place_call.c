/* Calls in place form: arguments in order, each into a temporary, then one step that takes them.
** What the signature's lifetimes say about the result is in place_region.c. */
#include "dsl/place_build.h"

/* A call whose res says what is called. */
typedef struct Callee {
    GpNode *node;
    GpSpan name;
} Callee;

static const char *callable_name(const GpNode *bound) {
    if (bound->kind != GpNode_Bound || !((const GpAstBound *)bound)->path)
        return NULL;
    const GpAstPath *p = (const GpAstPath *)((const GpAstBound *)bound)->path;
    const GpAstSegment *last = (const GpAstSegment *)p->segments.at[p->segments.len - 1];
    return last->is_call ? last->name->name : NULL;
}

static const char *first_callable(GpNodeList bounds) {
    for (uint32_t i = 0; i < bounds.len; i++)
        if (callable_name(bounds.at[i]))
            return callable_name(bounds.at[i]);
    return NULL;
}

/* The bound as written, "Fn", "FnMut" or "FnOnce", of a generic of the function that stands for
** something to call: after the names are resolved the three are one trait. `param` is the parameter
** that may say so in its type. */
static const char *bound_of(const GpDef *fn, const GpType *t, uint32_t param) {
    if (!t || t->kind != GpTy_Param || !t->def->bound_types || !fn->node ||
        fn->node->kind != GpNode_Fn)
        return NULL;
    GpAstFn *ast = GP_AS(Fn, fn->node);
    const char *found = NULL;
    for (uint32_t i = 0; i < ast->generics.len && !found; i++)
        if (GP_AS(Generic, ast->generics.at[i])->name == t->def->name)
            found = first_callable(GP_AS(Generic, ast->generics.at[i])->bounds);
    for (uint32_t i = 0; i < ast->where.len && !found; i++) {
        GpAstWhere *w = GP_AS(Where, ast->where.at[i]);
        if (w->type && w->type->kind == GpNode_TypePath)
            found = first_callable(w->bounds);
    }
    GpNode *p = param < ast->params.len ? ast->params.at[param] : NULL;
    if (!found && p && p->kind == GpNode_Param && GP_AS(Param, p)->type->kind == GpNode_TypeBounds)
        found = first_callable(GP_AS(TypeBounds, GP_AS(Param, p)->type)->bounds);
    return found;
}

static GpOperand build_arg(GpBuild *b, GpNode *n, const GpDef *def, uint32_t param) {
    GpNode *bare = gp_bare(n);
    if (def && bare->kind == GpNode_Closure)
        b->bound =
            bound_of(def, param < def->sig.param_count ? def->sig.params[param] : NULL, param);
    b->is_arg = true;
    GpOperand use = gp_build_operand(b, n);
    b->is_arg = false;
    b->bound = NULL;
    return use;
}

static void finish_call(GpBuild *b, GpPlace *dst, const Callee *c, GpOperand *uses,
                        const GpType *const *params, uint32_t count) {
    const GpType *ret = c->node->type;
    const GpRes *res = c->node->res;
    const GpDef *def = res ? res->def : NULL;
    if (!dst && ret->kind != GpTy_Never)
        dst = gp_build_temp(b, ret, c->node->span);
    if (def) {
        GpSigRegions sig = gp_regions_of_call(b->f, res, params, ret, c->node->span);
        for (uint32_t i = 0; i < count && i < def->sig.param_count; i++)
            if (uses[i].place)
                gp_regions_flow(b->f, params[i], uses[i].place->regions, sig.params[i],
                                uses[i].span, false);
        if (dst) {
            bool is_return = b->f->slots.at[dst->local].kind == GpSlot_Return;
            gp_regions_flow(b->f, ret, sig.ret, dst->regions, c->node->span, is_return);
        }
    }
    GpStep *s = gp_build_step(b, GpStep_Call, c->node->span);
    s->name_span = c->name;
    s->callee = def;
    s->node = c->node;
    s->dst = dst;
    gp_step_uses(b, s, uses, count);
    if (ret->kind == GpTy_Never)
        gp_build_dead_end(b);
}

/* ---- functions and constructors -------------------------------------------------------------- */

static void call_fn(GpBuild *b, GpPlace *dst, GpNode *n, GpAstCall *call) {
    const GpRes *res = n->res;
    Callee c = {n, call->callee->span};
    GpOperand *uses = GP_NEW_ARRAY(b->arena, GpOperand, call->args.len);
    uint32_t declared = GP_MAX(call->args.len, res->def->sig.param_count);
    const GpType **params = GP_NEW_ARRAY(b->arena, const GpType *, declared);
    for (uint32_t i = 0; i < call->args.len; i++) {
        uses[i] = build_arg(b, call->args.at[i], res->def, i);
        params[i] = gp_expr_type(call->args.at[i]);
    }
    for (uint32_t i = call->args.len; i < declared; i++) /* modes that were left out */
        params[i] = gp_ty_unit(b->f->c->types);
    finish_call(b, dst, &c, uses, params, call->args.len);
}

static void call_construct(GpBuild *b, GpPlace *dst, GpNode *n, GpAstCall *call) {
    GpOperand *uses = GP_NEW_ARRAY(b->arena, GpOperand, call->args.len);
    GpPlace *to = dst;
    if (to && n->res->def->kind == GpDef_Variant)
        to = gp_place_variant(b->f, to, n->res->def);
    for (uint32_t i = 0; i < call->args.len; i++) {
        uses[i] = gp_build_operand(b, call->args.at[i]);
        if (to && uses[i].place)
            gp_build_regions(b, uses[i].place, gp_place_field(b->f, to, i, uses[i].place->type),
                             n->span);
    }
    GpStep *s = gp_build_step(b, GpStep_Assign, n->span);
    s->dst = dst;
    gp_step_uses(b, s, uses, call->args.len);
}

/* ---- values that can be called --------------------------------------------------------------- */

static void flow_all(GpBuild *b, GpRegions from, const GpPlace *dst, GpSpan span) {
    bool is_return = dst && b->f->slots.at[dst->local].kind == GpSlot_Return;
    for (uint32_t i = 0; dst && i < from.len; i++)
        for (uint32_t k = 0; k < dst->regions.len; k++)
            gp_region_outlives(b->f, from.at[i], dst->regions.at[k], span, is_return);
}

static GpOperand borrow_callee(GpBuild *b, GpPlace *p, GpLoanKind kind, GpSpan span) {
    const GpType *t = gp_ty_ref(b->f->c->types, p->type, kind != GpLoan_Shared);
    GpPlace *ref = gp_build_temp(b, t, span);
    gp_build_loan(b, ref, p, kind, span);
    return gp_operand_of(b, ref, span);
}

/* A parameter of the function is called as its bound says. */
static GpClosureKind kind_of_param(const GpForm *f, const GpType *t) {
    const char *bound = NULL;
    for (uint32_t i = 0; i < f->fn->sig.param_count && !bound; i++)
        if (f->fn->sig.params[i] == t)
            bound = bound_of(f->fn, t, i);
    if (!bound || !strcmp(bound, "Fn"))
        return GpClosure_Fn;
    return !strcmp(bound, "FnMut") ? GpClosure_Mut : GpClosure_Once;
}

/* Fn borrows what it calls, FnMut borrows it mutably, FnOnce takes it. */
static GpOperand take_callee(GpBuild *b, GpPlace *p, GpSpan span) {
    const GpClosureForm *cl =
        p->type->kind == GpTy_Closure ? gp_find_closure(b->f, p->type->node) : NULL;
    GpClosureKind kind = cl                            ? cl->kind
                         : p->type->kind == GpTy_Param ? kind_of_param(b->f, p->type)
                                                       : GpClosure_Fn;
    switch (kind) {
    case GpClosure_Fn:
        return borrow_callee(b, p, GpLoan_Shared, span);
    case GpClosure_Mut:
        return borrow_callee(b, p, GpLoan_Mut, span);
    case GpClosure_Once:
        return gp_operand_of(b, p, span);
    }
    gp_unreachable();
}

static void call_value(GpBuild *b, GpPlace *dst, GpNode *n, GpAstCall *call) {
    uint32_t count = call->args.len + 1;
    GpOperand *uses = GP_NEW_ARRAY(b->arena, GpOperand, count);
    GpPlace *p = gp_build_place(b, call->callee);
    while (p->type->kind == GpTy_Ref)
        p = gp_place_deref(b->f, p);
    GpOperand callee = take_callee(b, p, call->callee->span);
    for (uint32_t i = 0; i < call->args.len; i++)
        uses[i + 1] = build_arg(b, call->args.at[i], NULL, 0);
    uses[0] = callee;
    if (!dst && n->type->kind != GpTy_Never)
        dst = gp_build_temp(b, n->type, n->span);
    for (uint32_t i = 0; i < count; i++)
        if (uses[i].place)
            flow_all(b, uses[i].place->regions, dst, n->span);
    GpStep *s = gp_build_step(b, GpStep_Call, n->span);
    s->name_span = call->callee->span;
    s->node = n;
    s->dst = dst;
    s->why = GpMove_Call;
    gp_step_uses(b, s, uses, count);
    if (n->type->kind == GpTy_Never)
        gp_build_dead_end(b);
}

void gp_build_call(GpBuild *b, GpPlace *dst, GpNode *n) {
    GpAstCall *call = GP_AS(Call, n);
    if (n->res && n->res->kind == GpRes_Construct)
        call_construct(b, dst, n, call);
    else if (n->res && n->res->kind == GpRes_Def)
        call_fn(b, dst, n, call);
    else
        call_value(b, dst, n, call);
}

/* ---- methods --------------------------------------------------------------------------------- */

/* A receiver or operand that a call takes by value: the move is the call's own. */
static void explain_move(GpBuild *b, GpOperand use, const Callee *c, GpMoveWhy why, uint32_t arg) {
    GpBlock *blk = &b->f->blocks.at[b->block];
    for (uint32_t i = blk->steps.len; use.place && i-- > 0;) {
        GpStep *s = &blk->steps.at[i];
        if (s->dst != use.place)
            continue;
        s->why = why;
        s->name_span = c->name;
        s->callee = c->node->res ? c->node->res->def : NULL;
        s->arg = arg;
        s->node = c->node;
        return;
    }
}

void gp_build_method(GpBuild *b, GpPlace *dst, GpNode *n) {
    GpAstMethodCall *m = GP_AS(MethodCall, n);
    uint32_t count = m->args.len + 1;
    GpOperand *uses = GP_NEW_ARRAY(b->arena, GpOperand, count);
    const GpType **params = GP_NEW_ARRAY(b->arena, const GpType *, count);
    const GpDef *def = n->res ? n->res->def : NULL;
    Callee c = {n, gp_method_span(m)};
    uses[0] = build_arg(b, m->receiver, NULL, 0);
    params[0] = gp_expr_type(m->receiver);
    if (uses[0].kind == GpUse_Move) {
        GpSpan rest = {c.name.src, c.name.off, n->span.off + n->span.len - c.name.off};
        explain_move(b, uses[0], &(Callee){n, rest}, GpMove_Method, 0);
    }
    for (uint32_t i = 1; i < count; i++) {
        uses[i] = build_arg(b, m->args.at[i - 1], def, i);
        params[i] = gp_expr_type(m->args.at[i - 1]);
        explain_move(b, uses[i], &c, GpMove_Plain, i);
    }
    finish_call(b, dst, &c, uses, params, count);
}

/* An operator that is a method of a struct: both sides by value. */
void gp_build_overload(GpBuild *b, GpPlace *dst, GpNode *n, GpNode *lhs, GpNode *rhs) {
    GpOperand uses[2];
    const GpType *params[2] = {gp_expr_type(lhs), rhs ? gp_expr_type(rhs) : NULL};
    uses[0] = gp_build_operand(b, lhs);
    if (rhs)
        uses[1] = gp_build_operand(b, rhs);
    Callee c = {n, n->span};
    finish_call(b, dst, &c, uses, params, rhs ? 2 : 1);
}

/* ---- macros ---------------------------------------------------------------------------------- */

/* Assertions take their condition; everything else looks at its arguments. */
void gp_build_macro(GpBuild *b, GpPlace *dst, GpNode *n) {
    GpAstMacro *m = GP_AS(Macro, n);
    bool is_const = n->res && n->res->kind == GpRes_Const;
    for (uint32_t i = 0; !is_const && i < m->args.len; i++) {
        GpNode *arg = m->args.at[i];
        GpNode *bare = gp_bare(arg);
        if (!arg->type || bare->kind == GpNode_Lit)
            continue;
        if (bare->kind != GpNode_PathExpr && bare->kind != GpNode_Field &&
            bare->kind != GpNode_Index) {
            gp_build_operand(b, arg);
            continue;
        }
        GpPlace *p = gp_build_place(b, arg);
        const GpType *t = gp_ty_ref(b->f->c->types, p->type, false);
        gp_build_loan(b, gp_build_temp(b, t, arg->span), p, GpLoan_Shared, arg->span);
    }
    gp_build_step(b, GpStep_Assign, n->span)->dst = dst;
    if (n->type->kind == GpTy_Never)
        gp_build_dead_end(b);
}
