/* One computation for equal instructions in scope: an instruction is replaced by an equal one
** that dominates it, which with structured regions is one earlier in its own or an enclosing
** region. Reads are equal only while nothing may have written in between; a loop that writes
** counts as a write both at its entry and at its end. */
#include "dsl/ir/pass.h"

typedef struct Seen {
    GpInst *inst;
    uint32_t hash;
    uint32_t epoch; /* of memory, for reads */
    struct Seen *next;  /* in its bucket, newest first */
    struct Seen *older; /* of all in scope */
} Seen;

enum { LEAST_BUCKETS = 64 };

typedef struct Cse {
    GpIrFn *fn;
    Seen **buckets;
    uint32_t bucket_count; /* a power of two, about one for each value */
    Seen *newest;
    uint32_t epoch;
    bool changed;
} Cse;

/* Operands in a canonical order. */
static void get_operands(const GpInst *inst, GpValue **out) {
    for (uint32_t i = 0; i < inst->operand_count; i++) out[i] = gp_pass_settled(inst->operands[i]);
    bool swaps = gp_op_info[inst->op].algebra & GP_COMM && inst->operand_count == 2;
    if (!swaps || out[0]->id <= out[1]->id) return;
    GpValue *first = out[0];
    out[0] = out[1];
    out[1] = first;
}

enum { MAX_OPERANDS = GP_MAX_RANK + 3 }; /* of an instruction that can be shared */

static uint32_t hash_inst(const GpInst *inst) {
    GpValue *operands[MAX_OPERANDS];
    get_operands(inst, operands);
    uint32_t h = gp_hash_u64((uint64_t)inst->op << 16 | (uint64_t)inst->pred << 8 | inst->axis, 7);
    h = gp_hash_u64(inst->imm.u, h);
    for (uint32_t i = 0; i < inst->operand_count; i++) h = gp_hash_u64(operands[i]->id, h);
    return h;
}

static bool is_alike(const GpInst *a, const GpInst *b) {
    if (a->op != b->op || a->operand_count != b->operand_count ||
        a->result_count != b->result_count || a->region_count != b->region_count ||
        !gp_ir_same_attrs(a, b))
        return false;
    for (uint32_t i = 0; i < a->result_count; i++)
        if (a->results[i]->type != b->results[i]->type) return false;
    return true;
}

/* Operands of a and b stand for the same values; `pairs` says which of b's region's values stand
** for which of a's. */
static bool has_same_operands(const GpMap *pairs, const GpInst *a, const GpInst *b) {
    for (uint32_t i = 0; i < a->operand_count; i++) {
        GpValue *x = gp_pass_settled(a->operands[i]), *pair = gp_map_get(pairs, x);
        if ((pair ? pair : x) != gp_pass_settled(b->operands[i])) return false;
    }
    return true;
}

/* Regions that are no control flow: straight lines of pure operations, compared one by one. */
static bool is_same_region(GpArena *arena, const GpRegion *a, const GpRegion *b) {
    GpMap pairs = {0};
    if (a->param_count != b->param_count) return false;
    for (uint32_t i = 0; i < a->param_count; i++) {
        if (a->params[i]->type != b->params[i]->type) return false;
        gp_map_set(arena, &pairs, a->params[i], b->params[i]);
    }
    const GpInst *x = a->first, *y = b->first;
    for (; x && y; x = x->next, y = y->next) {
        if (x->region_count || !is_alike(x, y) || !has_same_operands(&pairs, x, y)) return false;
        for (uint32_t i = 0; i < x->result_count; i++)
            gp_map_set(arena, &pairs, x->results[i], y->results[i]);
    }
    return !x && !y;
}

static bool has_same_regions(const Cse *c, const GpInst *a, const GpInst *b) {
    GpMark mark = gp_arena_mark(c->fn->arena);
    bool same = true;
    for (uint32_t i = 0; same && i < a->region_count; i++)
        same = is_same_region(c->fn->arena, a->regions[i], b->regions[i]);
    gp_arena_restore(c->fn->arena, mark);
    return same;
}

static bool is_equal(const Cse *c, const GpInst *a, const GpInst *b) {
    if (!is_alike(a, b)) return false;
    GpValue *x[MAX_OPERANDS], *y[MAX_OPERANDS];
    get_operands(a, x);
    get_operands(b, y);
    for (uint32_t i = 0; i < a->operand_count; i++)
        if (x[i] != y[i]) return false;
    return has_same_regions(c, a, b);
}

static bool is_shareable(const GpInst *inst) {
    GpEffect effect = gp_ir_effect(inst);
    return (effect == GpEffect_Pure || effect == GpEffect_Read) && inst->result_count == 1 &&
           inst->operand_count <= MAX_OPERANDS;
}

static void share(Cse *c, GpInst *inst) {
    bool is_read = gp_ir_effect(inst) == GpEffect_Read;
    uint32_t hash = hash_inst(inst);
    Seen **bucket = &c->buckets[hash % c->bucket_count];
    for (Seen *s = *bucket; s; s = s->next) {
        if (s->hash != hash || !is_equal(c, s->inst, inst)) continue;
        if (is_read && s->epoch != c->epoch) continue;
        gp_pass_replace(inst->results[0], s->inst->results[0]);
        gp_ir_remove(inst);
        c->changed = true;
        return;
    }
    Seen *seen = GP_NEW(c->fn->arena, Seen);
    *seen = (Seen){inst, hash, c->epoch, *bucket, c->newest};
    *bucket = c->newest = seen;
}

static void visit_region(Cse *c, GpRegion *r) {
    const Seen *outer = c->newest;
    for (GpInst *inst = r->first, *next; inst; inst = next) {
        next = inst->next;
        GpEffect effect = gp_ir_effect(inst);
        if (effect == GpEffect_Write || effect == GpEffect_Convergent) c->epoch++;
        bool repeats = gp_is_loop(inst);
        if (repeats && gp_ir_region_writes(inst->regions[0])) c->epoch++;
        for (uint32_t i = 0; i < inst->region_count; i++) visit_region(c, inst->regions[i]);
        if (is_shareable(inst)) share(c, inst);
    }
    for (; c->newest != outer; c->newest = c->newest->older)
        c->buckets[c->newest->hash % c->bucket_count] = c->newest->next;
}

bool gp_pass_cse(GpIrFn *fn) {
    Cse *c = GP_NEW(fn->arena, Cse);
    *c = (Cse){.fn = fn, .bucket_count = LEAST_BUCKETS};
    while (c->bucket_count < fn->next_id) c->bucket_count *= 2;
    c->buckets = GP_NEW_ARRAY(fn->arena, Seen *, c->bucket_count);
    visit_region(c, fn->body);
    if (c->changed) gp_ir_apply_forwards(fn);
    return c->changed;
}
