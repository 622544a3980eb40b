/* Sums of rows that a loop carries, kept by the threads that have the elements.
**
**   for j (s = 0) { .. s * f + sum(w, 1) }   ->   for j (s = 0) { .. s * f + sum(w as [.., C / 8, 8], 1) }; sum(s, 1)
**
** A thread has two of each eight columns of what comes from a product, so that the loop has no exchange between
** threads: that would also keep the assembler from mixing what stands before and behind it. */
#include "codegen/pipe.h"
#include "dsl/ir/pass.h"

enum { COLUMNS = 8, LEAST = 64 };

typedef struct Spread {
    GpIrFn *fn;
    uint32_t *uses, known; /* by id; ids below it are of values that were there */
    bool is_changed;
} Spread;

typedef struct Sum {
    GpInst *update;     /* fma(sum, factor, part), or add(sum, part) */
    const GpInst *fold; /* of the row */
    GpValue *factor;    /* NULL: none */
} Sum;

static bool has_product_of(const GpRegion *body, const GpIrType *type) {
    for (const GpInst *x = body->first; x; x = x->next)
        if (x->op == GpOp_Mma && x->results[0]->type == type)
            return true;
    return false;
}

/* The sum of each row of elements that lie as a product's, in the loop's body; NULL: v is something else. */
static const GpInst *find_fold(const GpValue *v, const GpRegion *body) {
    while (v->inst && v->inst->op == GpOp_Reshape)
        v = v->inst->operands[0];
    const GpInst *fold = v->inst;
    if (!fold || fold->op != GpOp_Reduce || fold->parent != body || fold->axis != 1 || gp_ir_fold_op(fold) != GpOp_Add ||
        !gp_ir_is_zero(fold->operands[1]))
        return NULL;
    const GpIrType *type = fold->operands[0]->type;
    bool is_fit = type->elem == GpElem_F32 && type->shape.rank == 2 && type->shape.dim[1] >= LEAST &&
                  type->shape.dim[1] % COLUMNS == 0 && has_product_of(body, type);
    return is_fit ? fold : NULL;
}

static bool find_sum(const Spread *s, const GpInst *loop, uint32_t carried, Sum *sum) {
    const GpRegion *body = loop->regions[0];
    const GpValue *param = gp_loop_params(loop)[carried], *next = body->last->operands[carried];
    GpInst *update = next->inst;
    bool is_update = update && next->id < s->known && update->parent == body && (update->op == GpOp_Fma || update->op == GpOp_Add) &&
                     s->uses[param->id] == 1 && s->uses[next->id] == 1 && gp_ir_is_zero(gp_loop_starts(loop)[carried]);
    if (!is_update)
        return false;
    uint32_t side = update->operands[0] == param ? 0 : 1, last = update->operand_count - 1;
    bool is_product = update->op == GpOp_Fma;
    const GpValue *part = update->operands[is_product ? last : 1 - side];
    *sum = (Sum){update, find_fold(part, body), is_product ? update->operands[1 - side] : NULL};
    return sum->fold && update->operands[side] == param;
}

static GpValue *shaped(GpBuilder *b, GpOp op, GpValue *v, GpShape shape) {
    const GpIrType *type = gp_ir_tile(b->fn, v->type->elem, &shape);
    return v->type == type ? v : gp_build(b, op, &v, 1, &type, 1)->results[0];
}

/* The same sum of other elements, along axis 1. */
static GpValue *fold_of(Spread *s, GpBuilder *b, const GpInst *fold, GpValue *of, GpShape shape) {
    GpValue **map = GP_NEW_ARRAY(s->fn->arena, GpValue *, s->fn->next_id);
    map[fold->operands[0]->id] = of;
    GpValue *identity = fold->operands[1];
    map[identity->id] = gp_build_const(b, identity->type, (GpScalar){.elem = identity->type->elem});
    GpValue *total = gp_ir_copy(b, fold, map)->results[0];
    total->type = gp_ir_tile(b->fn, of->type->elem, &shape);
    return total;
}

static void replace_total(Spread *s, GpInst *loop, uint32_t carried, const Sum *sum, GpShape given) {
    GpValue *result = loop->results[carried];
    int64_t rows = result->type->shape.dim[0];
    GpBuilder b = {.fn = s->fn, .region = loop->parent, .before = loop->next, .span = loop->span};
    GpValue *fold = fold_of(s, &b, sum->fold, result, (GpShape){.rank = 1, .dim = {rows}});
    result->forward = shaped(&b, GpOp_Reshape, fold, given);
    gp_ir_apply_forwards(s->fn);
    result->forward = NULL;
    fold->inst->operands[0] = result;
}

static void spread(Spread *s, GpInst *loop, uint32_t carried, const Sum *sum) {
    GpRegion *body = loop->regions[0];
    GpValue *w = sum->fold->operands[0], *param = gp_loop_params(loop)[carried];
    int64_t rows = w->type->shape.dim[0], columns = w->type->shape.dim[1];
    GpShape given = param->type->shape, many = {.rank = 2, .dim = {rows, COLUMNS}};
    GpBuilder b = {.fn = s->fn, .region = body, .before = sum->update, .span = sum->update->span};
    GpValue *parts = shaped(&b, GpOp_Reshape, w, (GpShape){.rank = 3, .dim = {rows, columns / COLUMNS, COLUMNS}});
    parts = fold_of(s, &b, sum->fold, parts, many);
    GpValue *factor = sum->factor;
    if (factor) {
        factor = shaped(&b, GpOp_Reshape, factor, (GpShape){.rank = 2, .dim = {rows, 1}});
        factor = shaped(&b, GpOp_Broadcast, factor, many);
    }
    GpValue *operands[] = {param, factor ? factor : parts, parts};
    gp_assert(sum->update->operand_count <= GP_COUNT(operands));
    for (uint32_t i = 0; i < sum->update->operand_count; i++)
        sum->update->operands[i] = operands[i];
    const GpIrType *type = parts->type;
    param->type = loop->results[carried]->type = sum->update->results[0]->type = type;
    b = (GpBuilder){.fn = s->fn, .region = loop->parent, .before = loop, .span = loop->span};
    gp_loop_starts(loop)[carried] = gp_build_const(&b, type, (GpScalar){.elem = type->elem});
    replace_total(s, loop, carried, sum, given);
    s->is_changed = true;
}

static void spread_loop(GpInst *loop, void *ud) {
    Spread *s = ud;
    Sum sum;
    for (uint32_t i = 0; loop->op == GpOp_For && i < loop->result_count; i++)
        if (find_sum(s, loop, i, &sum))
            spread(s, loop, i, &sum);
}

bool gp_pipe_spread(GpEmit *e) {
    Spread s = {.fn = e->fn};
    s.known = s.fn->next_id;
    s.uses = gp_ir_count_uses(s.fn, s.fn->arena);
    gp_ir_walk(s.fn, GpWalk_After, spread_loop, &s);
    if (s.is_changed) {
        (void)gp_pass_dce(s.fn); /* the whole rows' sums */
        gp_ir_number(s.fn);
    }
    return s.is_changed;
}
