/* Products whose second operand is computed, transposed: the first operand of wgmma may come from registers, the second one has
** to lie in shared memory. Of a loop that sums A B, where the second operand is computed and the first one loaded, it makes one
** that sums the transpose, B' A', and transposes the sums behind the loop. Weights of few bits are such operands. */
#include "codegen/emit_tile_gpu.h"

typedef struct Transpose {
    GpIrFn *fn;
    uint32_t *uses; /* by id of the values that were there */
    bool has_jump, is_changed;
    const GpInst *loop;         /* being looked at */
    const GpValue *from;        /* to be replaced */
    GpValue *by;
} Transpose;

static void note_jump(GpInst *inst, void *ud) {
    Transpose *t = ud;
    t->has_jump |= (inst->op == GpOp_Break || inst->op == GpOp_Continue) && inst->target == t->loop;
}

static bool is_loaded(const GpValue *v) {
    bool is_swapped = false;
    const GpInst *origin = gp_feed_origin(v, &is_swapped);
    return origin && origin->op == GpOp_LoadTile;
}

/* The product that is all that the loop does with the sums that it carries there; NULL: it does something else. */
static GpInst *product_of(const Transpose *t, const GpInst *loop, uint32_t carried) {
    const GpRegion *body = loop->regions[0];
    const GpValue *sums = gp_loop_params(loop)[carried], *next = body->last->operands[carried];
    const GpValue *first = gp_loop_starts(loop)[carried];
    GpInst *mma = next->inst;
    bool is_sum = mma && mma->op == GpOp_Mma && mma->parent == body && mma->operands[2] == sums &&
                  next->type->shape.rank == 2 && t->uses[sums->id] == 1 && t->uses[next->id] == 1;
    bool is_fit = is_sum && first->inst && first->inst->op == GpOp_Const && is_loaded(mma->operands[0]) &&
                  !is_loaded(mma->operands[1]);
    return is_fit ? mma : NULL;
}

static const GpIrType *transposed_type(GpIrFn *fn, const GpIrType *type) {
    GpShape shape = {.rank = 2, .dim = {type->shape.dim[1], type->shape.dim[0]}};
    return gp_ir_tile(fn, type->elem, &shape);
}

static GpValue *transposed(GpBuilder *b, GpValue *v) {
    const GpInst *before = v->inst;
    if (before && before->op == GpOp_Permute && before->perm.rank == 2 && before->perm.axis[0] == 1)
        return before->operands[0];
    const GpIrType *type = transposed_type(b->fn, v->type);
    GpInst *inst = gp_build(b, GpOp_Permute, &v, 1, &type, 1);
    inst->perm = (GpPerm){.axis = {1, 0}, .rank = 2};
    return inst->results[0];
}

static void replace_use(GpInst *inst, void *ud) {
    const Transpose *t = ud;
    for (uint32_t i = 0; i < inst->operand_count; i++)
        if (inst->operands[i] == t->from && inst != t->by->inst)
            inst->operands[i] = t->by;
}

static void transpose_sums(Transpose *t, GpInst *loop, uint32_t carried, GpInst *mma) {
    GpValue *result = loop->results[carried], *sums = gp_loop_params(loop)[carried];
    GpBuilder b = {.fn = t->fn, .region = mma->parent, .before = mma, .span = mma->span};
    GpValue *first = transposed(&b, mma->operands[1]), *second = transposed(&b, mma->operands[0]);
    const GpIrType *type = transposed_type(t->fn, sums->type);
    mma->operands[0] = first;
    mma->operands[1] = second;
    mma->results[0]->type = sums->type = result->type = type;
    b = (GpBuilder){.fn = t->fn, .region = loop->parent, .before = loop, .span = loop->span};
    gp_loop_starts(loop)[carried] = gp_build_const(&b, type, gp_loop_starts(loop)[carried]->inst->imm);
    b.before = loop->next;
    t->from = result;
    t->by = transposed(&b, result);
    gp_ir_walk(t->fn, GpWalk_Before, replace_use, t);
    t->is_changed = true;
}

static void transpose_loop(GpInst *loop, void *ud) {
    Transpose *t = ud;
    if (loop->op != GpOp_For)
        return;
    t->loop = loop;
    t->has_jump = false;
    gp_ir_walk(t->fn, GpWalk_Before, note_jump, t);
    for (uint32_t i = 0; i < loop->result_count && !t->has_jump; i++) {
        GpInst *mma = product_of(t, loop, i);
        if (mma)
            transpose_sums(t, loop, i, mma);
    }
}

bool gp_pipe_transpose(GpIrFn *fn) {
    Transpose t = {.fn = fn, .uses = gp_ir_count_uses(fn, fn->arena)};
    gp_ir_walk(fn, GpWalk_Before, transpose_loop, &t);
    if (t.is_changed)
        gp_ir_number(fn);
    return t.is_changed;
}
