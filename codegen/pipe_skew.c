/* Two products of a loop at once: the second works on what the first one made a turn before.
**
** In a loop whose one product (p) feeds another (q) through elementwise work, as in attention,
**     for j { s = p(j); a, c = work(s, acc); acc = q(a, tile(j), c) }
** matrix unit and other units take turns. The loop is rotated, so that q of a turn runs while the
** work of the next is done (Shah et al., FlashAttention-3, arXiv 2407.08608, section 3.2):
**     s = p(0); a, c = work(s, acc)
**     for j from 1 { s = p(j); acc = q(a, tile(j - 1), c); a, c = work(s, acc) }
**     acc = q(a, tile(last), c)
** Every value stays the same. A loop without turns keeps what it started with. */
#include "codegen/pipe.h"

typedef struct Skew {
    GpIrFn *fn;
    GpPipe *pipe;
    GpInst *loop;
    GpRegion *body;
    GpInst *p, *q;
    uint32_t acc;  /* which carried value q makes */
    GpMap late;    /* instructions that go with q: the load of its tile, and views of it */
    GpMap moved;   /* scalars of the body that the load needs */
    GpMap dropped; /* those that nothing else needs */
    uint32_t most; /* ids below are of values that were there before */
} Skew;

static bool is_in(const Skew *s, const GpValue *v) {
    return v->inst && v->inst->parent == s->body;
}

/* Whether v is made, in the body, of `from`. What nested regions do counts as anything. */
static bool depends(const Skew *s, const GpValue *v, const GpValue *from, uint8_t *seen) {
    if (v == from)
        return true;
    if (!is_in(s, v) || seen[v->id])
        return false;
    seen[v->id] = 1;
    if (v->inst->op == GpOp_If || v->inst->op == GpOp_For)
        return true;
    for (uint32_t i = 0; i < v->inst->operand_count; i++)
        if (depends(s, v->inst->operands[i], from, seen))
            return true;
    return false;
}

static bool is_made_of(const Skew *s, const GpValue *v, const GpValue *from) {
    return depends(s, v, from, GP_NEW_ARRAY(s->fn->arena, uint8_t, s->most));
}

/* What places the tile follows from the turn's number and from outside. */
static bool can_move(Skew *s, const GpValue *v) {
    if (v == s->body->params[0])
        return true;
    if (!v->inst)
        return v->region != s->body;
    if (!is_in(s, v) || gp_map_has(&s->moved, v->inst))
        return true;
    bool is_plain = gp_ir_effect(v->inst) == GpEffect_Pure || v->inst->op == GpOp_CheckIndex;
    if (!is_plain || v->inst->region_count || v->type->kind != GpIrType_Scalar)
        return false;
    for (uint32_t i = 0; i < v->inst->operand_count; i++)
        if (!can_move(s, v->inst->operands[i]))
            return false;
    gp_map_set(s->fn->arena, &s->moved, v->inst, NULL);
    return true;
}

static bool find_load(Skew *s) {
    GpFeedView view;
    if (!gp_feed_view(&s->pipe->feeds, s->q->operands[1], &view) || view.feed->load->parent != s->body ||
        view.feed->group->first != s->q || view.feed->group->last != s->q)
        return false;
    for (GpValue *v = s->q->operands[1];; v = v->inst->operands[0]) {
        gp_map_set(s->fn->arena, &s->late, v->inst, NULL);
        if (v->inst == view.feed->load)
            break;
    }
    for (uint32_t i = 1; i < view.feed->load->operand_count; i++)
        if (!can_move(s, view.feed->load->operands[i]))
            return false;
    return true;
}

static bool uses_value(const GpInst *inst, const GpValue *v) {
    for (uint32_t i = 0; i < inst->operand_count; i++)
        if (inst->operands[i] == v)
            return true;
    for (uint32_t r = 0; r < inst->region_count; r++)
        for (const GpInst *x = inst->regions[r]->first; x; x = x->next)
            if (uses_value(x, v))
                return true;
    return false;
}

/* The sum is first read after p. */
static bool is_read_late(const Skew *s) {
    for (const GpInst *inst = s->body->first; inst != s->p->next; inst = inst->next)
        if (uses_value(inst, gp_loop_params(s->loop)[s->acc]))
            return false;
    return true;
}

static bool find_products(Skew *s) {
    GpFeedView view;
    for (GpInst *inst = s->body->first; inst; inst = inst->next) {
        if (inst->op != GpOp_Mma)
            continue;
        s->p = s->p ? s->p : inst;
        s->q = inst;
    }
    if (!s->q || s->p == s->q || s->pipe->uses[s->q->results[0]->id] != 1 ||
        gp_feed_view(&s->pipe->feeds, s->q->operands[0], &view))
        return false;
    const GpInst *end = gp_ir_terminator(s->body);
    for (s->acc = 0; s->acc < end->operand_count; s->acc++)
        if (end->operands[s->acc] == s->q->results[0])
            break;
    return s->acc < end->operand_count &&
           !is_made_of(s, s->p->results[0], gp_loop_params(s->loop)[s->acc]) &&
           is_made_of(s, s->q->operands[0], s->p->results[0]) && is_read_late(s);
}

static bool is_gone(const Skew *s, const GpInst *inst) {
    return inst == s->q || gp_map_has(&s->late, inst) || gp_map_has(&s->dropped, inst);
}

static bool is_needed(const Skew *s, const GpInst *inst) {
    for (const GpInst *x = inst->next; x; x = x->next)
        if (!is_gone(s, x) && uses_value(x, inst->results[0]))
            return true;
    return false;
}

static void find_dropped(Skew *s) {
    for (const GpInst *inst = s->body->last; inst; inst = inst->prev)
        if (gp_map_has(&s->moved, inst) && !is_needed(s, inst))
            gp_map_set(s->fn->arena, &s->dropped, inst, NULL);
}

/* p's sums, and what q works on and adds to, are alive together. */
static bool fits_registers(const Skew *s) {
    const GpValue *alive[] = {s->p->results[0], s->q->operands[0], s->q->results[0]};
    int64_t words = 0;
    for (size_t i = 0; i < GP_COUNT(alive); i++)
        words += gp_pipe_words(s->pipe, alive[i]->type);
    return words <= gp_pipe_registers(s->pipe)->operands;
}

static bool can_skew(Skew *s) {
    return gp_ir_counts_by_one(s->loop) && find_products(s) && fits_registers(s) && find_load(s);
}

/* ---- Rotating ---------------------------------------------------------------------------- */

static GpValue **new_map(const Skew *s) { return GP_NEW_ARRAY(s->fn->arena, GpValue *, s->most); }

static GpValue *mapped(GpValue **map, GpValue *v) { return map[v->id] ? map[v->id] : v; }

/* q with the tile of turn `turn`. */
static GpValue *build_q(Skew *s, GpBuilder *b, GpValue *turn, GpValue *a, GpValue *c) {
    GpValue **map = new_map(s);
    map[s->body->params[0]->id] = turn;
    for (const GpInst *inst = s->body->first; inst != s->q; inst = inst->next)
        if (gp_map_has(&s->moved, inst) || gp_map_has(&s->late, inst))
            gp_ir_copy(b, inst, map);
    map[s->q->operands[0]->id] = a;
    map[s->q->operands[2]->id] = c;
    return gp_ir_copy(b, s->q, map)->results[0];
}

/* A turn's body without q; behind p comes q of the turn before, if there was one. */
static void build_turn(Skew *s, GpBuilder *b, GpValue **map, GpValue *const *before) {
    gp_assert(s->p && s->q);
    for (const GpInst *inst = s->body->first; inst->next; inst = inst->next) {
        if (is_gone(s, inst))
            continue;
        gp_ir_copy(b, inst, map);
        if (inst == s->p && before)
            map[gp_loop_params(s->loop)[s->acc]->id] = build_q(s, b, before[2], before[0], before[1]);
    }
}

/* What a turn hands on: the carried values but the sum, then q's operands and the turn's number. */
static GpValue **handed_on(const Skew *s, GpValue **map, GpValue *turn, uint32_t *count) {
    const GpInst *end = gp_ir_terminator(s->body);
    GpValue **out = GP_NEW_ARRAY(s->fn->arena, GpValue *, end->operand_count + 2);
    *count = 0;
    for (uint32_t k = 0; k < end->operand_count; k++)
        if (k != s->acc)
            out[(*count)++] = mapped(map, end->operands[k]);
    out[(*count)++] = mapped(map, s->q->operands[0]);
    out[(*count)++] = mapped(map, s->q->operands[2]);
    out[(*count)++] = turn;
    return out;
}

static GpInst *build_loop(Skew *s, GpBuilder *b, GpValue *const *start, uint32_t count) {
    GpValue *const *old = s->loop->operands;
    GpValue *bounds[GP_FOR_BOUNDS] = {gp_build2(b, GpOp_Add, old[0], old[2]), old[1], old[2]};
    GpInst *loop = gp_ir_build_for(b, bounds, start, count);
    GpRegion *body = loop->regions[0];
    GpValue **map = new_map(s), *turn = body->params[0], **carried = gp_loop_params(loop);
    map[s->body->params[0]->id] = turn;
    for (uint32_t i = 0, k = 0; i + 3 < count; i++) {
        k += k == s->acc;
        map[gp_loop_params(s->loop)[k++]->id] = carried[i];
    }
    GpBuilder in = {.fn = s->fn, .region = body, .span = b->span};
    build_turn(s, &in, map, carried + count - 3);
    uint32_t handed;
    GpValue **next = handed_on(s, map, turn, &handed);
    gp_build(&in, GpOp_Yield, next, handed, NULL, 0);
    return loop;
}

static void build_turns(Skew *s, GpRegion *then) {
    GpBuilder b = {.fn = s->fn, .region = then, .span = s->loop->span};
    GpValue **map = new_map(s), **start, **ends;
    uint32_t count, results = s->loop->result_count;
    map[s->body->params[0]->id] = s->loop->operands[0];
    for (uint32_t k = 0; k < results; k++)
        map[gp_loop_params(s->loop)[k]->id] = gp_loop_starts(s->loop)[k];
    build_turn(s, &b, map, NULL);
    start = handed_on(s, map, s->loop->operands[0], &count);
    GpValue **r = build_loop(s, &b, start, count)->results;
    ends = GP_NEW_ARRAY(s->fn->arena, GpValue *, results);
    for (uint32_t k = 0; k < results; k++)
        ends[k] = k == s->acc ? NULL : r[k - (k > s->acc)];
    ends[s->acc] = build_q(s, &b, r[count - 1], r[count - 3], r[count - 2]);
    gp_build(&b, GpOp_Yield, ends, results, NULL, 0);
}

static void rotate(Skew *s) {
    GpIrFn *fn = s->fn;
    GpInst *loop = s->loop;
    GpBuilder b = {.fn = fn, .region = loop->parent, .before = loop, .span = loop->span};
    GpValue *some = gp_build_cmp(&b, GpPred_Lt, loop->operands[0], loop->operands[1]);
    const GpIrType **types = GP_NEW_ARRAY(fn->arena, const GpIrType *, loop->result_count);
    for (uint32_t i = 0; i < loop->result_count; i++)
        types[i] = loop->results[i]->type;
    GpInst *either = gp_build(&b, GpOp_If, &some, 1, types, loop->result_count);
    GpRegion *regions[] = {gp_ir_region(fn), gp_ir_region(fn)};
    gp_ir_set_regions(fn, either, regions, 2);
    build_turns(s, regions[0]);
    GpBuilder none = {.fn = fn, .region = regions[1], .span = loop->span};
    gp_build(&none, GpOp_Yield, gp_loop_starts(loop), loop->result_count, NULL, 0);
    for (uint32_t i = 0; i < loop->result_count; i++)
        loop->results[i]->forward = either->results[i];
    gp_ir_remove(loop);
}

static void try_loop(GpInst *inst, void *ud) {
    Skew *found = ud, s = {.fn = found->fn, .pipe = found->pipe, .loop = inst, .most = found->fn->next_id};
    if (inst->op != GpOp_For || found->loop)
        return;
    s.body = inst->regions[0];
    if (!can_skew(&s))
        return;
    find_dropped(&s);
    *found = s;
}

bool gp_pipe_skew(GpEmit *e) {
    Skew found = {.fn = e->fn, .pipe = e->pipe};
    gp_ir_walk(e->fn, GpWalk_Before, try_loop, &found);
    if (!found.loop)
        return false;
    rotate(&found);
    gp_ir_apply_forwards(e->fn);
    gp_ir_number(e->fn);
    return true;
}

/* ---- Turns ------------------------------------------------------------------------------- */

typedef struct Turns {
    GpIrFn *fn;
    GpPipe *pipe;
} Turns;

/* What a multiprocessor does in a cycle: bytes of first operands that are multiplied with an element of
** the second; results of the special function unit. */
enum { PRODUCT_BYTES = 4096, SPECIAL_RESULTS = 16 };

static uint64_t product_cycles(const GpInst *mma) {
    const GpIrType *a = mma->operands[0]->type;
    uint64_t bytes = (uint64_t)a->shape.dim[0] * (uint64_t)a->shape.dim[1] * gp_elem_info[a->elem].bytes;
    return bytes * (uint64_t)mma->results[0]->type->shape.dim[1] / PRODUCT_BYTES;
}

static uint64_t special_cycles(const GpInst *inst) {
    if (!gp_special_computes(inst->op) || inst->results[0]->type->elem == GpElem_F64)
        return 0;
    return (uint64_t)gp_ir_numel(inst->results[0]->type) / SPECIAL_RESULTS;
}

/* Where the special function unit is about as busy as the matrix unit, warpgroups that come to their
** other work shortly one after the other share it, and then wait for their products together. There
** the turn is given when half of that work is done: before the operation with which it is more.
** NULL: at once. */
static const GpInst *late_end(const Skew *s) {
    uint64_t products = 0, special = 0, done = 0;
    for (const GpInst *x = s->body->first; x; x = x->next) {
        products += x->op == GpOp_Mma ? product_cycles(x) : 0;
        special += special_cycles(x);
    }
    if (special * 4 < products * 3 || gp_pipe_has_jump(s->body))
        return NULL;
    for (const GpInst *x = s->q->next; x; x = x->next) {
        done += special_cycles(x);
        if (done * 2 > special)
            return x;
    }
    return NULL;
}

/* Whether with `load` more stages of a ring have been opened in its region than there are. Which is more than a
** turn may take: the other warpgroup gives its stages back in its own. */
static bool goes_round(const GpPipe *p, const GpInst *load) {
    const GpFeed *f = load->op == GpOp_LoadTile ? gp_map_get(&p->feeds.of, load) : NULL;
    uint32_t opened = 0;
    for (const GpGroup *g = p->groups; f && g <= f->group; g++)
        opened += g->channel == f->group->channel && g->region == f->group->region;
    return f && f->group->channel->is_ring && opened > f->group->channel->stages;
}

/* In a loop whose last product does not wait for its first one, all are issued together and the rest
** of the body is other work: then the matrix unit is one warpgroup's while the other works. */
static void find_turn(GpInst *inst, void *ud) {
    const Turns *t = ud;
    Skew s = {.fn = t->fn, .loop = inst};
    if (inst->op != GpOp_For)
        return;
    s.body = inst->regions[0];
    s.most = s.fn->next_id;
    for (GpInst *x = s.body->first; x && !goes_round(t->pipe, x); x = x->next) {
        if (x->op != GpOp_Mma)
            continue;
        s.p = s.p ? s.p : x;
        s.q = x;
    }
    if (s.p == s.q || is_made_of(&s, s.q->results[0], s.p->results[0]))
        return;
    gp_map_set(t->fn->arena, &t->pipe->turn_opens, s.p, NULL);
    const GpInst *late = late_end(&s);
    gp_map_set(t->fn->arena, &t->pipe->turn_closes, late ? late : s.q, NULL);
}

void gp_pipe_find_turns(GpEmit *e, GpPipe *p) {
    Turns t = {e->fn, p};
    if (p->warpgroups == 2)
        gp_ir_walk(t.fn, GpWalk_Before, find_turn, &t);
}
