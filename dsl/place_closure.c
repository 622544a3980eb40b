/* Whole bodies in place form: of a function, and of closures inside it.
**
** A closure's body is a form of its own. Variables of the function around it are its upvars:
** there from the start, never ended. What the body does with them decides what is captured and
** how (edition 2021: the places used, not whole variables), and so what making the closure does
** to the places outside. */
#include "dsl/place_build.h"

/* ---- locals ---------------------------------------------------------------------------------- */

static bool is_own(const GpForm *f, const GpLocal *l) { return l->closure == f->closure; }

static void bind_slot(GpBuild *b, const GpLocal *l, uint32_t slot) {
    b->f->slots.at[slot].local = l;
    gp_map_set(b->arena, &b->f->slot_of, l, b->f->slots.at[slot].place);
}

uint32_t gp_build_local_slot(GpBuild *b, const GpLocal *l) {
    const GpPlace *known = gp_map_get(&b->f->slot_of, l);
    if (known)
        return known->local;
    GpSlotKind kind = !is_own(b->f, l) ? GpSlot_Upvar : l->is_param ? GpSlot_Param : GpSlot_User;
    uint32_t slot = gp_form_slot(b->f, kind, l->type, l->span);
    b->f->slots.at[slot].let_span = GP_NO_SPAN;
    bind_slot(b, l, slot);
    return slot;
}

GpPlace *gp_build_local(GpBuild *b, const GpLocal *l) {
    uint32_t slot = gp_build_local_slot(b, l);
    return gp_form_place(b->f, slot);
}

/* ---- bodies ---------------------------------------------------------------------------------- */

static GpForm *make_form(GpCheck *c, GpDef *fn, GpForm *outer, const GpNode *closure) {
    GpForm *f = GP_NEW(c->arena, GpForm);
    f->c = c;
    f->fn = fn;
    f->outer = outer;
    f->closure = closure;
    return f;
}

static void build_body(GpBuild *b, GpNode *body) {
    gp_build_into(b, b->ret, body);
    gp_scope_pop(b);
    gp_build_goto(b, b->exit);
    GpOperand use = {GpUse_Move, b->ret, body->span};
    if (gp_ty_is_copy(b->ret->type))
        use.kind = GpUse_Copy;
    gp_step_uses(b, gp_build_step(b, GpStep_Return, body->span), &use, 1);
}

static GpBuild begin(GpForm *f, const GpType *ret, GpSpan span) {
    GpBuild b = {.f = f, .arena = f->c->arena};
    b.block = gp_build_block(&b);
    b.exit = gp_build_block(&b);
    b.ret = gp_form_place(f, gp_form_slot_with(f, GpSlot_Return, ret, f->ret, span));
    gp_scope_push(&b, GP_NO_SPAN); /* parameters: they outlive every local */
    b.temps = 0;
    return b;
}

/* The parameter's value arrives; a pattern takes it apart. */
static void take_param(GpBuild *b, GpNode *pat, const GpType *type, GpRegions regions) {
    if (pat->kind == GpNode_PatName && pat->res && pat->res->kind == GpRes_Local &&
        !GP_AS(PatName, pat)->sub && pat->res->local->type == type) {
        const GpLocal *l = pat->res->local;
        uint32_t slot = gp_form_slot_with(b->f, GpSlot_Param, type, regions, l->span);
        bind_slot(b, l, slot);
        b->f->slots.at[slot].let_span = GP_NO_SPAN;
        return;
    }
    uint32_t slot = gp_form_slot_with(b->f, GpSlot_Param, type, regions, pat->span);
    gp_pat_declare(b, pat, GP_NO_SPAN, true);
    gp_place_bind(b, pat, b->f->slots.at[slot].place, NULL);
}

static void take_self(GpBuild *b, GpNode *n, GpRegions regions) {
    const GpLocal *l = n->res->local;
    uint32_t slot = gp_form_slot_with(b->f, GpSlot_Param, l->type, regions, l->span);
    bind_slot(b, l, slot);
    b->f->slots.at[slot].let_span = GP_NO_SPAN;
}

GpForm *gp_form_make(GpCheck *c, GpDef *fn) {
    GpAstFn *ast = GP_AS(Fn, fn->node);
    GpForm *f = make_form(c, fn, NULL, NULL);
    const GpType *ret = fn->sig.ret ? fn->sig.ret : gp_ty_unit(c->types);
    GpSigRegions sig = gp_regions_of_fn(f, fn);
    f->ret = sig.ret;
    GpBuild b = begin(f, ret, ast->ret ? ast->ret->span : fn->span);
    for (uint32_t i = 0; i < ast->params.len && i < fn->sig.param_count; i++) {
        GpNode *p = ast->params.at[i];
        if (p->kind == GpNode_SelfParam && p->res)
            take_self(&b, p, sig.params[i]);
        else if (p->kind == GpNode_Param)
            take_param(&b, GP_AS(Param, p)->pat, fn->sig.params[i], sig.params[i]);
    }
    build_body(&b, ast->body);
    gp_form_finish(f);
    return f;
}

/* ---- captures -------------------------------------------------------------------------------- */

/* The part of a used place that a closure captures: up to an element or a variant, and by value
** up to a reference. */
static GpPlace *capturable(GpPlace *p, bool by_value) {
    GpPlace *end = p;
    for (GpPlace *q = p; q->parent; q = q->parent)
        if (q->proj == GpProj_Index || q->proj == GpProj_Variant ||
            (by_value && q->proj == GpProj_Deref))
            end = q->parent;
    return end;
}

static void merge(GpCapture *into, const GpCapture *c) {
    if (c->kind > into->kind) {
        into->kind = c->kind;
        into->span = c->span;
    }
    into->is_moved |= c->is_moved;
}

static void add_capture(GpForm *f, GpClosureForm *cl, GpCapture c) {
    for (uint32_t i = 0; i < cl->captures.len; i++) {
        GpCapture *old = &cl->captures.at[i];
        if (old->place->local != c.place->local)
            continue;
        if (gp_place_is_prefix(old->place, c.place)) {
            merge(old, &c);
            return;
        }
        if (!gp_place_is_prefix(c.place, old->place))
            continue;
        merge(&c, old);
        cl->captures.at[i] = cl->captures.at[--cl->captures.len];
        i--;
    }
    GP_PUSH(f->c->arena, &cl->captures, c);
}

static void capture(GpForm *f, GpClosureForm *cl, GpPlace *p, GpCaptureKind kind, bool is_moved,
                    GpSpan span) {
    const GpSlot *slot = &f->slots.at[p->local];
    if (slot->kind != GpSlot_Upvar)
        return;
    bool is_move = ((const GpAstClosure *)f->closure)->is_move;
    bool by_value = is_move || kind == GpCapture_Value;
    GpPlace *q = capturable(p, by_value);
    if (kind == GpCapture_Mut && cl->kind == GpClosure_Fn)
        cl->kind = GpClosure_Mut;
    if (is_moved && p->is_owned && cl->kind != GpClosure_Once) {
        cl->kind = GpClosure_Once;
        cl->moved_span = span;
        cl->moved_name = gp_place_quoted(f, p);
    }
    add_capture(f, cl, (GpCapture){q, by_value ? GpCapture_Value : kind, is_moved, span});
}

static void capture_step(GpForm *f, GpClosureForm *cl, const GpStep *s) {
    for (uint32_t i = 0; i < s->use_count; i++) {
        const GpOperand *use = &s->uses[i];
        bool is_moved = use->kind == GpUse_Move;
        if (use->kind != GpUse_Inspect)
            capture(f, cl, use->place, is_moved ? GpCapture_Value : GpCapture_Ref, is_moved,
                    use->span);
    }
    if (s->loan != GP_NONE) {
        const GpLoan *l = &f->loans.at[s->loan];
        capture(f, cl, l->place, l->kind == GpLoan_Shared ? GpCapture_Ref : GpCapture_Mut, false,
                l->use_span.src ? l->use_span : l->span);
    }
    if (s->dst && s->kind != GpStep_Live && s->kind != GpStep_Dead)
        capture(f, cl, s->dst, GpCapture_Mut, false, s->span);
}

static void find_captures(GpForm *f, GpClosureForm *cl) {
    for (uint32_t i = 0; i < f->blocks.len; i++) {
        const GpBlock *blk = &f->blocks.at[i];
        for (uint32_t k = 0; k < blk->steps.len; k++)
            capture_step(f, cl, &blk->steps.at[k]);
    }
}

/* `move |x|`, as rustc underlines a closure. */
static GpSpan head_span(GpNode *n) {
    GpAstClosure *cl = GP_AS(Closure, n);
    GpSpan s = n->span;
    if (!s.src)
        return s;
    const char *text = s.src->text;
    uint32_t at = s.off, end = s.off + s.len;
    while (at < end && text[at] != '|')
        at++;
    at++;
    if (cl->params.len) {
        GpSpan last = cl->params.at[cl->params.len - 1]->span;
        at = GP_MAX(at, last.off + last.len);
    }
    while (at < end && text[at] != '|')
        at++;
    s.len = GP_MIN(at + 1, end) - s.off;
    return s;
}

static GpPlace *outer_place(GpBuild *b, const GpForm *inner, const GpPlace *p) {
    if (!p->parent)
        return gp_build_local(b, inner->slots.at[p->local].local);
    GpPlace *q = outer_place(b, inner, p->parent);
    if (p->proj == GpProj_Deref)
        return gp_place_deref(b->f, q);
    return gp_place_field(b->f, q, p->index, p->type);
}

static void flow_to_closure(GpBuild *b, const GpPlace *from, const GpPlace *dst, GpSpan span) {
    bool is_return = b->f->slots.at[dst->local].kind == GpSlot_Return;
    for (uint32_t i = 0; i < from->regions.len && dst->regions.len; i++)
        gp_region_outlives(b->f, from->regions.at[i], dst->regions.at[0], span, is_return);
}

static GpOperand take_capture(GpBuild *b, const GpForm *inner, const GpCapture *c, GpNode *n,
                              GpPlace *dst) {
    GpSpan head = head_span(n);
    GpPlace *p = outer_place(b, inner, c->place);
    GpOperand use = gp_operand_of(b, p, head);
    if (c->kind != GpCapture_Value) {
        const GpType *t = gp_ty_ref(b->f->c->types, p->type, c->kind == GpCapture_Mut);
        GpPlace *ref = gp_build_temp(b, t, head);
        uint32_t loan =
            gp_build_loan(b, ref, p, c->kind == GpCapture_Mut ? GpLoan_Mut : GpLoan_Shared, head);
        b->f->loans.at[loan].closure = n;
        b->f->loans.at[loan].use_span = c->span;
        use = gp_operand_of(b, ref, head);
    }
    flow_to_closure(b, use.place, dst, head);
    return use;
}

void gp_build_closure(GpBuild *b, GpPlace *dst, GpNode *n) {
    GpAstClosure *ast = GP_AS(Closure, n);
    GpClosureForm *cl = GP_NEW(b->arena, GpClosureForm);
    GpForm *f = make_form(b->f->c, b->f->fn, b->f, n);
    f->bound = b->bound;
    b->bound = NULL;
    cl->body = f;
    const GpType *ret = gp_expr_type(ast->body);
    f->ret = gp_regions_fresh(f, ret);
    for (uint32_t i = 0; i < f->ret.len; i++)
        f->regions.at[f->ret.at[i]].is_universal = true;
    GpBuild inner = begin(f, ret, ast->body->span);
    for (uint32_t i = 0; i < ast->params.len; i++)
        take_param(&inner, GP_AS(Param, ast->params.at[i])->pat, ast->params.at[i]->type,
                   gp_regions_fresh(f, ast->params.at[i]->type));
    build_body(&inner, ast->body);
    gp_form_finish(f);
    find_captures(f, cl);
    gp_map_set(b->arena, &b->f->closures, n, cl);
    if (!dst)
        dst = gp_build_temp(b, n->type, n->span);
    GpOperand *uses = GP_NEW_ARRAY(b->arena, GpOperand, cl->captures.len);
    for (uint32_t i = 0; i < cl->captures.len; i++)
        uses[i] = take_capture(b, f, &cl->captures.at[i], n, dst);
    GpStep *s = gp_build_step(b, GpStep_Assign, head_span(n));
    s->dst = dst;
    s->why = GpMove_Closure;
    s->node = n;
    gp_step_uses(b, s, uses, cl->captures.len);
}

const GpClosureForm *gp_find_closure(const GpForm *f, const GpNode *n) {
    for (; f; f = f->outer) {
        const GpClosureForm *cl = gp_map_get(&f->closures, n);
        if (cl)
            return cl;
    }
    return NULL;
}
