/* Moves on the place form by trying: every state that paths lead to is kept apart, where the
 *checker
 ** joins them, and all that is gone stands in the state, place by place.
 **
 ** Temporaries begin without a value: reading one before it is written is a mistake in the form. */
#include "spec/fuzz/judge.h"

enum { MAX_STATES = 3000, MAX_PLACES = 400 };

typedef struct Seen {
    uint32_t block;
    GpBits state;
} Seen;

typedef struct Paths {
    GpForm *f;
    uint32_t bits;    /* a place is gone; then: a slot was assigned */
    GP_VEC(Seen) all; /* states at the entry of blocks, to be followed in this order */
    bool is_used, is_reassigned;
} Paths;

static const GpPlace *owned_part(const GpPlace *p) {
    while (!p->is_owned)
        p = p->parent;
    return p;
}

static bool is_variable(const GpForm *f, const GpPlace *p) {
    return f->slots.at[p->local].kind != GpSlot_Return;
}

static bool is_gone(const Paths *p, GpBits state, const GpPlace *place) {
    const GpPlace *own = owned_part(place);
    if (!is_variable(p->f, place))
        return false;
    if (gp_bits_has(state, own->id))
        return true;
    for (uint32_t i = 0; own == place && i < p->f->places.len; i++)
        if (gp_place_is_prefix(own, p->f->places.at[i]) && gp_bits_has(state, i))
            return true;
    return false;
}

static void set_gone(const Paths *p, GpBits state, const GpPlace *place, bool gone) {
    for (uint32_t i = 0; i < p->f->places.len; i++)
        if (p->f->places.at[i]->is_owned && gp_place_is_prefix(place, p->f->places.at[i]))
            gp_bits_fill(state, i, i + 1, gone);
}

/* The reference or the array that a place is reached through. */
static const GpPlace *pointer_of(const GpPlace *p) {
    for (; p->parent; p = p->parent)
        if (p->proj == GpProj_Deref || p->proj == GpProj_Index)
            return p->parent;
    return p;
}

static void write_to(Paths *p, GpBits state, const GpStep *s) {
    const GpPlace *dst = s->dst;
    const GpSlot *slot = &p->f->slots.at[dst->local];
    uint32_t once = p->f->places.len + dst->local;
    bool is_once = !dst->parent && slot->kind == GpSlot_User && slot->local &&
                   !slot->local->is_mut && !slot->has_init;
    if (s->kind == GpStep_Assign || s->kind == GpStep_Call) {
        if (!dst->is_owned) {
            p->is_used |= is_gone(p, state, pointer_of(dst));
        } else if (dst->parent && is_variable(p->f, dst)) {
            p->is_used |= gp_bits_has(state, dst->parent->id);
        }
        p->is_reassigned |= is_once && !s->is_init && gp_bits_has(state, once);
    }
    if (dst->is_owned)
        set_gone(p, state, dst, s->kind == GpStep_Live);
    if (is_once)
        gp_bits_fill(state, once, once + 1, s->kind != GpStep_Live);
}

static void take_step(Paths *p, GpBits state, const GpStep *s) {
    for (uint32_t i = 0; i < s->use_count; i++)
        p->is_used |= is_gone(p, state, s->uses[i].place);
    if (s->loan != GP_NONE)
        p->is_used |= is_gone(p, state, p->f->loans.at[s->loan].place);
    for (uint32_t i = 0; i < s->use_count; i++)
        if (s->uses[i].kind == GpUse_Move && s->uses[i].place->is_owned)
            set_gone(p, state, s->uses[i].place, true);
    if (s->dst && s->kind != GpStep_Dead)
        write_to(p, state, s);
}

static void enter(Paths *p, uint32_t block, GpBits state) {
    for (uint32_t i = 0; i < p->all.len; i++)
        if (p->all.at[i].block == block &&
            !memcmp(p->all.at[i].state.at, state.at, state.words * sizeof *state.at))
            return;
    GpBits kept = gp_bits_make(p->f->c->arena, p->bits);
    gp_bits_copy(kept, state);
    GP_PUSH(p->f->c->arena, &p->all, ((Seen){block, kept}));
}

bool judge_moves(GpForm *f, bool *is_used, bool *is_reassigned) {
    Paths p = {.f = f, .bits = f->places.len + f->slots.len};
    if (f->places.len > MAX_PLACES)
        return false;
    GpBits state = gp_bits_make(f->c->arena, p.bits);
    for (uint32_t i = 0; i < f->slots.len; i++)
        if (f->slots.at[i].kind == GpSlot_Temp)
            set_gone(&p, state, f->slots.at[i].place, true);
    enter(&p, 0, state);
    for (uint32_t i = 0; i < p.all.len && i < MAX_STATES; i++) {
        const GpBlock *blk = &f->blocks.at[p.all.at[i].block];
        gp_bits_copy(state, p.all.at[i].state);
        for (uint32_t k = 0; k < blk->steps.len; k++)
            take_step(&p, state, &blk->steps.at[k]);
        for (uint32_t k = 0; k < blk->next.len; k++)
            enter(&p, blk->next.at[k], state);
    }
    *is_used = p.is_used;
    *is_reassigned = p.is_reassigned;
    return p.all.len <= MAX_STATES;
}
