/* First operands that threads load, a turn ahead: at addresses, or from tensors that the kernel made.
**
** In a loop like
**     for l { s = product(work(load(l)), tile(l), s) }
** the product waits for the load. It is rotated, so that the loads of a turn are under way while the product of the turn
** before is:
**     a = work(load(first)) if there is a turn
**     for l { s = product(a, tile(l), s); a = work(load(the next turn, or this one again if it is the last)) }
** Every value stays the same: the body writes nothing. */
#include "codegen/pipe.h"
#include "dsl/ir/pass.h"

typedef struct Ahead {
    GpIrFn *fn;
    const GpPipe *pipe;
    GpInst *loop, *mma;
    GpRegion *body;
    GpMap moved;   /* instructions of the body that the operand is made of */
    bool has_load; /* among them */
} Ahead;

/* Of an argument's rows that begin at no multiple of 16 bytes it costs more than it hides (8 bytes off, one H200: 254 TFLOP/s
** without, 234 with). */
static bool is_load(const GpInst *inst) {
    bool is_argument = inst->op == GpOp_LoadTile && !inst->operands[0]->inst;
    return gp_ir_effect(inst) == GpEffect_Read && !is_argument && gp_ir_numel(inst->results[0]->type) > 1;
}

/* Whether the value follows from the turn's number and from outside, by what may be done a turn early. */
static bool can_move(Ahead *a, const GpValue *v) {
    const GpInst *inst = v->inst;
    if (!inst || inst->parent != a->body)
        return inst || v->region != a->body || v->index == 0;
    if (gp_map_has(&a->moved, inst))
        return true;
    GpEffect effect = gp_ir_effect(inst);
    bool is_plain = effect == GpEffect_Pure || effect == GpEffect_Read || inst->op == GpOp_CheckIndex;
    if (!is_plain || inst->region_count || inst->op == GpOp_Mma || gp_map_get(&a->pipe->feeds.of, inst))
        return false;
    for (uint32_t i = 0; i < inst->operand_count; i++)
        if (!can_move(a, inst->operands[i]))
            return false;
    gp_map_set(a->fn->arena, &a->moved, inst, NULL);
    a->has_load |= is_load(inst);
    return true;
}

/* A turn without the loads behind its product changes nothing that they read. */
static bool is_quiet(const GpRegion *body) {
    for (const GpInst *x = body->first; x; x = x->next) {
        GpEffect effect = gp_ir_effect(x);
        bool is_plain = effect == GpEffect_Pure || effect == GpEffect_Read || x->op == GpOp_CheckIndex;
        if (!is_plain && x->op != GpOp_Yield)
            return false;
    }
    return true;
}

static bool find_operand(Ahead *a) {
    if (!gp_ir_counts_by_one(a->loop) || !is_quiet(a->body))
        return false;
    for (GpInst *x = a->body->first; x; x = x->next) {
        if (x->op != GpOp_Mma)
            continue;
        if (a->mma)
            return false; /* pipe_skew.c has those of two */
        a->mma = x;
    }
    const GpValue *v = a->mma ? a->mma->operands[0] : NULL;
    return v && v->inst && v->inst->parent == a->body && can_move(a, v) && a->has_load;
}

/* The operand as the turn `at` has it. */
static GpValue *build_operand(const Ahead *a, GpBuilder *b, GpValue *at, GpValue **map) {
    map[a->body->params[0]->id] = at;
    for (const GpInst *x = a->body->first; x; x = x->next)
        if (gp_map_has(&a->moved, x))
            gp_ir_copy(b, x, map);
    return map[a->mma->operands[0]->id];
}

static GpValue *build_first(const Ahead *a, GpBuilder *b, GpValue **map) {
    GpValue **bounds = a->loop->operands, *some = gp_build_cmp(b, GpPred_Lt, bounds[0], bounds[1]);
    const GpIrType *type = a->mma->operands[0]->type;
    GpInst *either = gp_build(b, GpOp_If, &some, 1, &type, 1);
    GpRegion *regions[] = {gp_ir_region(a->fn), gp_ir_region(a->fn)};
    gp_ir_set_regions(a->fn, either, regions, 2);
    GpBuilder then = {.fn = a->fn, .region = regions[0], .span = b->span};
    GpBuilder none = {.fn = a->fn, .region = regions[1], .span = b->span};
    GpValue *v = build_operand(a, &then, bounds[0], map);
    gp_build(&then, GpOp_Yield, &v, 1, NULL, 0);
    v = gp_build_const(&none, type, (GpScalar){.elem = type->elem});
    gp_build(&none, GpOp_Yield, &v, 1, NULL, 0);
    return either->results[0];
}

static void build_body(const Ahead *a, GpInst *to, GpValue **map, GpValue **next_map) {
    GpBuilder b = {.fn = a->fn, .region = to->regions[0], .span = to->span};
    GpValue **params = to->regions[0]->params, **handed = GP_NEW_ARRAY(a->fn->arena, GpValue *, to->result_count);
    uint32_t last = to->result_count - 1;
    for (uint32_t i = 0; i <= last; i++)
        map[a->body->params[i]->id] = params[i];
    map[a->mma->operands[0]->id] = params[GP_FOR_INDICES + last];
    const GpInst *end = gp_ir_terminator(a->body);
    gp_assert(end);
    for (const GpInst *x = a->body->first; x != end; x = x->next)
        if (x != a->mma->operands[0]->inst)
            gp_ir_copy(&b, x, map);
    GpValue *one = to->operands[2], *next = gp_build2(&b, GpOp_Add, params[0], one);
    GpValue *is_turn = gp_build_cmp(&b, GpPred_Lt, next, to->operands[1]);
    next = gp_build(&b, GpOp_Select, (GpValue *[]){is_turn, next, params[0]}, 3, &one->type, 1)->results[0];
    for (uint32_t i = 0; i < last; i++)
        handed[i] = map[end->operands[i]->id] ? map[end->operands[i]->id] : end->operands[i];
    handed[last] = build_operand(a, &b, next, next_map);
    gp_build(&b, GpOp_Yield, handed, last + 1, NULL, 0);
}

static void rotate(const Ahead *a) {
    GpIrFn *fn = a->fn;
    GpInst *from = a->loop;
    GpBuilder b = {.fn = fn, .region = from->parent, .before = from, .span = from->span};
    uint32_t last = from->result_count, most = fn->next_id;
    GpValue **maps[3], **start = GP_NEW_ARRAY(fn->arena, GpValue *, last + 1);
    for (int i = 0; i < 3; i++)
        maps[i] = GP_NEW_ARRAY(fn->arena, GpValue *, most);
    if (last)
        memcpy(start, gp_loop_starts(from), last * sizeof *start);
    start[last] = build_first(a, &b, maps[0]);
    GpInst *to = gp_ir_build_for(&b, from->operands, start, last + 1);
    build_body(a, to, maps[1], maps[2]);
    for (uint32_t i = 0; i < from->result_count; i++)
        from->results[i]->forward = to->results[i];
    gp_ir_remove(from);
}

static void try_loop(GpInst *inst, void *ud) {
    Ahead *found = ud, a = {.fn = found->fn, .pipe = found->pipe, .loop = inst};
    if (inst->op != GpOp_For || found->loop)
        return;
    a.body = inst->regions[0];
    if (find_operand(&a))
        *found = a;
}

bool gp_pipe_ahead(GpEmit *e) {
    Ahead found = {.fn = e->fn, .pipe = e->pipe};
    gp_ir_walk(e->fn, GpWalk_Before, try_loop, &found);
    if (!found.loop)
        return false;
    rotate(&found);
    gp_ir_apply_forwards(e->fn);
    (void)gp_pass_dce(e->fn);
    gp_ir_number(e->fn);
    return true;
}
