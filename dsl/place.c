/* The graph of the place form: slots, interned places, blocks, steps and scopes.
**
** A scope ends in reverse order of what it declared. Leaving several scopes at once (break,
** continue, return) ends them on that path only; the builder goes on as if nothing had ended. */
#include "dsl/place_build.h"

/* ---- slots and places ------------------------------------------------------------------------ */

enum { CHILDREN_LISTED = 16 }; /* more of them are found by a map */

static GpSym child_key(GpForm *f, const GpPlace *parent, GpProj proj, uint32_t index,
                       const GpDef *variant) {
    const struct {
        const void *parent, *variant;
        uint64_t proj, index;
    } key = {parent, variant, proj, index};
    return gp_intern(f->c->names, (const char *)&key, sizeof key);
}

static void note_child(GpForm *f, GpPlace *p) {
    p->parent->child_count++;
    if (p->parent->child_count < CHILDREN_LISTED)
        return;
    if (p->parent->child_count > CHILDREN_LISTED) {
        gp_map_set(f->c->arena, &f->children,
                   child_key(f, p->parent, p->proj, p->index, p->variant), p);
        return;
    }
    for (GpPlace *q = p->parent->child; q; q = q->sibling)
        gp_map_set(f->c->arena, &f->children,
                   child_key(f, q->parent, q->proj, q->index, q->variant), q);
}

static GpPlace *make_place(GpForm *f, GpPlace key) {
    GpPlace *p = GP_NEW(f->c->arena, GpPlace);
    *p = key;
    p->id = f->places.len;
    GP_PUSH(f->c->arena, &f->places, p);
    if (p->parent) {
        p->depth = p->parent->depth + 1;
        p->sibling = p->parent->child;
        p->parent->child = p;
        note_child(f, p);
    }
    return p;
}

uint32_t gp_form_slot_with(GpForm *f, GpSlotKind kind, const GpType *type, GpRegions regions,
                           GpSpan span) {
    uint32_t id = f->slots.len;
    GpSlot slot = {.kind = kind, .span = span, .live = GP_NONE};
    slot.place =
        make_place(f, (GpPlace){.local = id, .type = type, .regions = regions, .is_owned = true});
    if (regions.len)
        slot.live = f->live_count++;
    GP_PUSH(f->c->arena, &f->slots, slot);
    return id;
}

uint32_t gp_form_slot(GpForm *f, GpSlotKind kind, const GpType *type, GpSpan span) {
    return gp_form_slot_with(f, kind, type, gp_regions_fresh(f, type), span);
}

static GpPlace *find_child(GpForm *f, GpPlace *p, GpProj proj, uint32_t index,
                           const GpDef *variant) {
    if (p->child_count >= CHILDREN_LISTED)
        return gp_map_get(&f->children, child_key(f, p, proj, index, variant));
    for (GpPlace *q = p->child; q; q = q->sibling)
        if (q->proj == proj && q->index == index && q->variant == variant)
            return q;
    return NULL;
}

static const GpType *error_type(GpForm *f) { return gp_ty_error(f->c->types); }

GpPlace *gp_place_deref(GpForm *f, GpPlace *p) {
    GpPlace *q = find_child(f, p, GpProj_Deref, 0, NULL);
    if (q)
        return q;
    GpPlace key = {.local = p->local, .proj = GpProj_Deref, .parent = p, .type = error_type(f)};
    if (p->type->kind == GpTy_Ref || p->type->kind == GpTy_RawPtr) {
        uint32_t own = p->type->kind == GpTy_Ref && p->regions.len;
        key.type = p->type->inner;
        if (p->regions.len)
            key.regions = (GpRegions){p->regions.at + own, p->regions.len - own};
    }
    return make_place(f, key);
}

GpPlace *gp_place_index(GpForm *f, GpPlace *p, const GpType *type) {
    GpPlace *q = find_child(f, p, GpProj_Index, 0, NULL);
    if (q)
        return q;
    return make_place(f, (GpPlace){.local = p->local,
                                   .proj = GpProj_Index,
                                   .parent = p,
                                   .type = type,
                                   .regions = p->regions});
}

GpPlace *gp_place_variant(GpForm *f, GpPlace *p, const GpDef *variant) {
    GpPlace *q = find_child(f, p, GpProj_Variant, 0, variant);
    if (q)
        return q;
    return make_place(f, (GpPlace){.local = p->local,
                                   .proj = GpProj_Variant,
                                   .parent = p,
                                   .type = p->type,
                                   .variant = variant,
                                   .regions = p->regions,
                                   .is_owned = p->is_owned});
}

static GpRegions tuple_regions(GpForm *f, const GpPlace *p, uint32_t index) {
    uint32_t first = 0;
    for (uint32_t i = 0; i < index; i++)
        first += gp_region_count(f, p->type->args[i].type);
    uint32_t len = gp_region_count(f, p->type->args[index].type);
    if (!len)
        return (GpRegions){0};
    return first + len <= p->regions.len ? (GpRegions){p->regions.at + first, len} : (GpRegions){0};
}

GpPlace *gp_place_field(GpForm *f, GpPlace *p, uint32_t index, const GpType *type) {
    GpPlace *q = find_child(f, p, GpProj_Field, index, NULL);
    if (q)
        return q;
    GpPlace key = {.local = p->local,
                   .proj = GpProj_Field,
                   .index = index,
                   .parent = p,
                   .type = type,
                   .is_owned = p->is_owned};
    if (p->type->kind == GpTy_Tuple && index < p->type->arg_count)
        key.regions = tuple_regions(f, p, index);
    else if (p->type->kind == GpTy_Adt)
        key.regions = gp_regions_of_field(f, p->variant ? p->variant : p->type->def, index, p->type,
                                          p->regions, type);
    return make_place(f, key);
}

bool gp_place_is_prefix(const GpPlace *prefix, const GpPlace *p) {
    while (p && p->depth > prefix->depth)
        p = p->parent;
    return p == prefix;
}

/* ---- blocks and steps ------------------------------------------------------------------------ */

uint32_t gp_build_block(GpBuild *b) {
    GP_PUSH(b->arena, &b->f->blocks, (GpBlock){.order = GP_NONE});
    return b->f->blocks.len - 1;
}

void gp_build_edge(GpBuild *b, uint32_t from, uint32_t to) {
    GpBlock *blk = &b->f->blocks.at[from], *target = &b->f->blocks.at[to];
    GP_PUSH(b->arena, &blk->next, to);
    GP_PUSH(b->arena, &target->prev, from);
}

void gp_build_goto(GpBuild *b, uint32_t block) {
    gp_build_edge(b, b->block, block);
    b->block = block;
}

void gp_build_dead_end(GpBuild *b) { b->block = gp_build_block(b); }

GpStep *gp_build_step(GpBuild *b, GpStepKind kind, GpSpan span) {
    GpBlock *blk = &b->f->blocks.at[b->block];
    GpStep s = {.kind = kind, .span = span, .loan = GP_NONE, .stmt = b->stmt};
    GP_PUSH(b->arena, &blk->steps, s);
    return &blk->steps.at[blk->steps.len - 1];
}

void gp_step_uses(GpBuild *b, GpStep *s, const GpOperand *uses, uint32_t count) {
    s->uses = GP_NEW_ARRAY(b->arena, GpOperand, count);
    for (uint32_t i = 0; i < count; i++)
        if (uses[i].place)
            s->uses[s->use_count++] = uses[i];
}

/* A closure is Copy when everything it captured is. */
static bool is_copy(const GpBuild *b, const GpType *t) {
    const GpClosureForm *cl = t->kind == GpTy_Closure ? gp_find_closure(b->f, t->node) : NULL;
    if (!cl)
        return gp_ty_is_copy(t);
    for (uint32_t i = 0; i < cl->captures.len; i++) {
        const GpCapture *c = &cl->captures.at[i];
        if (c->kind == GpCapture_Mut || (c->kind == GpCapture_Value && !is_copy(b, c->place->type)))
            return false;
    }
    return true;
}

GpOperand gp_operand_of(GpBuild *b, GpPlace *p, GpSpan span) {
    return (GpOperand){is_copy(b, p->type) ? GpUse_Copy : GpUse_Move, p, span};
}

void gp_build_regions(GpBuild *b, GpPlace *from, GpPlace *to, GpSpan span) {
    bool is_return = b->f->slots.at[to->local].kind == GpSlot_Return;
    gp_regions_flow(b->f, to->type, from->regions, to->regions, span, is_return);
}

void gp_build_copy(GpBuild *b, GpPlace *dst, GpOperand from, GpSpan span) {
    if (dst && from.place)
        gp_build_regions(b, from.place, dst, span);
    GpStep *s = gp_build_step(b, GpStep_Assign, span);
    s->dst = dst;
    gp_step_uses(b, s, &from, 1);
}

void gp_build_inspect(GpBuild *b, GpPlace *p, GpSpan span) {
    GpOperand use = {GpUse_Inspect, p, span};
    gp_step_uses(b, gp_build_step(b, GpStep_Assign, span), &use, 1);
}

/* A reborrow lives at most as long as every reference it goes through, up to the first shared
** one: that may be copied out and outlive what holds it. (NLL RFC 2094, "Reborrow constraints".) */
static void constrain_reborrow(GpBuild *b, const GpPlace *of, uint32_t region, GpSpan span) {
    for (const GpPlace *p = of; p->parent; p = p->parent) {
        if (p->proj != GpProj_Deref)
            continue;
        const GpPlace *ref = p->parent;
        if (ref->type->kind != GpTy_Ref || !ref->regions.len)
            return;
        gp_region_outlives(b->f, ref->regions.at[0], region, span, false);
        if (!ref->type->is_mut)
            return;
    }
}

/* dst = &of. Returns the loan. */
uint32_t gp_build_loan(GpBuild *b, GpPlace *dst, GpPlace *of, GpLoanKind kind, GpSpan span) {
    GpLoan loan = {
        .kind = kind, .place = of, .span = span, .use_span = GP_NO_SPAN, .holder = dst->local};
    loan.region = gp_region_new(b->f);
    constrain_reborrow(b, of, loan.region, span);
    bool is_return = b->f->slots.at[dst->local].kind == GpSlot_Return;
    if (dst->regions.len) {
        gp_region_outlives(b->f, loan.region, dst->regions.at[0], span, is_return);
        GpRegions inner = {dst->regions.at + 1, dst->regions.len - 1};
        if (dst->type->kind == GpTy_Ref && inner.len == of->regions.len) {
            uint32_t count = inner.len + 1;
            uint32_t *from = GP_NEW_ARRAY(b->arena, uint32_t, count);
            from[0] = loan.region;
            for (uint32_t i = 0; i < inner.len; i++)
                from[i + 1] = of->regions.at[i];
            gp_regions_flow(b->f, dst->type, (GpRegions){from, count}, dst->regions, span,
                            is_return);
        }
    }
    loan.block = b->block;
    loan.step = b->f->blocks.at[b->block].steps.len;
    GP_PUSH(b->arena, &b->f->loans, loan);
    GpStep *s = gp_build_step(b, GpStep_Assign, span);
    s->loan = b->f->loans.len - 1;
    s->dst = dst;
    return s->loan;
}

/* ---- scopes ---------------------------------------------------------------------------------- */

void gp_scope_push(GpBuild *b, GpSpan end) {
    GP_PUSH(b->arena, &b->scopes, (GpPlaceScope){.end = end});
}

static void end_scope(GpBuild *b, const GpPlaceScope *s) {
    for (uint32_t i = s->slots.len; i-- > 0;)
        gp_build_step(b, GpStep_Dead, s->end)->dst = b->f->slots.at[s->slots.at[i]].place;
}

void gp_scope_pop(GpBuild *b) {
    GpPlaceScope s = b->scopes.at[--b->scopes.len];
    end_scope(b, &s);
}

void gp_scope_leave(GpBuild *b, uint32_t depth) {
    for (uint32_t i = b->scopes.len; i-- > depth;)
        end_scope(b, &b->scopes.at[i]);
}

GpPlace *gp_build_temp(GpBuild *b, const GpType *t, GpSpan span) {
    uint32_t slot = gp_form_slot(b->f, GpSlot_Temp, t, span);
    GpPlaceScope *s = &b->scopes.at[b->temps];
    GP_PUSH(b->arena, &s->slots, slot);
    return gp_form_place(b->f, slot);
}

/* ---- finishing ------------------------------------------------------------------------------- */

typedef struct Visit {
    uint32_t block, at;
} Visit;

/* Reverse postorder by an explicit stack: bodies may be deep. Successors are visited from the
** last one, so that the first one comes first: among errors of one mistake rustc keeps that of
** the block that its own order, which is this one, meets first. */
void gp_form_finish(GpForm *f) {
    GpArena *a = f->c->arena;
    uint32_t count = f->blocks.len, done = count;
    GP_VEC(Visit) stack = {0};
    bool *seen = GP_NEW_ARRAY(a, bool, count);
    f->order = GP_NEW_ARRAY(a, uint32_t, count);
    GP_PUSH(a, &stack, ((Visit){0, 0}));
    seen[0] = true;
    while (stack.len) {
        Visit *v = &stack.at[stack.len - 1];
        const GpBlock *blk = &f->blocks.at[v->block];
        if (v->at < blk->next.len) {
            uint32_t to = blk->next.at[blk->next.len - ++v->at];
            if (!seen[to]) {
                seen[to] = true;
                GP_PUSH(a, &stack, ((Visit){to, 0}));
            }
            continue;
        }
        f->order[--done] = v->block;
        stack.len--;
    }
    f->order_count = count - done;
    memmove(f->order, f->order + done, f->order_count * sizeof *f->order);
    for (uint32_t i = 0; i < f->order_count; i++)
        f->blocks.at[f->order[i]].order = i;
    for (uint32_t i = 0; i < f->order_count; i++) { /* only what can be reached leads anywhere */
        GpBlock *blk = &f->blocks.at[f->order[i]];
        uint32_t kept = 0;
        for (uint32_t k = 0; k < blk->prev.len; k++)
            if (f->blocks.at[blk->prev.at[k]].order != GP_NONE)
                blk->prev.at[kept++] = blk->prev.at[k];
        blk->prev.len = kept;
    }
}
