/* Which products' sums are moved to other registers once they are there.
**
** Sums stay in the registers that they begin with while the product is under way, and LLVM must not move them before
** they are waited for. It would where those registers and the ones that the sums are wanted in cannot be the same:
** where a loop hands on the first and the next turn begins with anything else, or hands on the sums in the place of
** what is in use while they are made. Moves that it does not look into, behind the wait, leave it nothing to do. */
#include "codegen/pipe.h"

/* What becomes of the registers that a product's sums begin with. */
typedef struct Sums {
    const GpPipe *pipe;
    const GpInst *product;
    const GpValue *from; /* what they are handed on as: a loop's value */
    uint8_t *known[2];   /* by id; of values that may be `from`, and of others */
} Sums;
enum { NOT_KNOWN, STAYS, LEAVES };

static bool stays(const Sums *s, const GpValue *v, bool is_made);

static bool stays_in(const Sums *s, const GpValue *v, bool is_made) {
    const GpInst *inst = v->inst;
    if (!inst || !inst->operand_count)
        return false;
    bool is_in_place = inst->op == GpOp_Mma || gp_sig_info[gp_op_info[inst->op].sig].elementwise;
    const GpValue *of = inst->operands[inst->op == GpOp_Mma ? 2 : 0];
    if (inst->op != GpOp_If)
        return is_in_place && s->pipe->uses[of->id] == 1 && stays(s, of, true);
    for (uint32_t r = 0; r < inst->region_count; r++) {
        const GpInst *end = gp_ir_terminator(inst->regions[r]);
        if (end->op == GpOp_Yield && !stays(s, end->operands[v->index], is_made))
            return false;
    }
    return true;
}

/* Whether the value, which a loop hands on in the place of `from`, is that or made of the sums in their registers. */
static bool stays(const Sums *s, const GpValue *v, bool is_made) {
    if (v == s->product->results[0] || (v == s->from && !is_made))
        return true;
    uint8_t *known = &s->known[is_made][v->id];
    if (*known == NOT_KNOWN)
        *known = stays_in(s, v, is_made) ? STAYS : LEAVES;
    return *known == STAYS;
}

/* By id: the values for which a question was answered with no. With yes it is over. */
static bool is_seen(bool *seen, const GpValue *v) {
    bool is_known = seen[v->id];
    seen[v->id] = true;
    return is_known;
}

/* Whether the registers of `v`, with which the sums begin, become another value's while the sums are in use: in the
** next turn of a loop. */
static bool is_replaced(GpEmit *e, const GpValue *v, const GpInst *product, bool *seen) {
    const GpInst *inst = v->inst, *owner = inst ? NULL : v->region->owner;
    Sums s = {e->pipe, product, v, {NULL, NULL}};
    if (is_seen(seen, v) || (!inst && !owner))
        return false;
    if (owner && owner->op == GpOp_For) {
        for (int i = 0; i < 2; i++)
            s.known[i] = GP_NEW_ARRAY(e->arena, uint8_t, e->fn->next_id);
        return !stays(&s, gp_ir_terminator(v->region)->operands[v->index - GP_FOR_INDICES], false);
    }
    if (owner)
        return true;
    if (inst->op == GpOp_Mma || inst->op == GpOp_For)
        return is_replaced(e, inst->op == GpOp_Mma ? inst->operands[2] : gp_loop_starts(inst)[v->index], product, seen);
    bool is_any = false;
    for (uint32_t i = 0; i < inst->operand_count && inst->op == GpOp_Loop; i++)
        is_any |= gp_ir_is_tile(inst->operands[i]) && is_replaced(e, inst->operands[i], product, seen);
    for (uint32_t r = 0; r < inst->region_count && inst->op == GpOp_If; r++) {
        const GpInst *end = gp_ir_terminator(inst->regions[r]);
        is_any |= end->op == GpOp_Yield && is_replaced(e, end->operands[v->index], product, seen);
    }
    return is_any;
}

/* Whether the value has the registers of `sums`, or begins with them. */
static bool begins_with(const GpValue *v, const GpValue *sums, bool *seen) {
    const GpInst *inst = v->inst;
    if (v == sums)
        return true;
    if (!inst || is_seen(seen, v))
        return false;
    if (inst->op == GpOp_Mma)
        return begins_with(inst->operands[2], sums, seen);
    bool is_any = inst->op == GpOp_For && begins_with(gp_loop_starts(inst)[v->index], sums, seen);
    for (uint32_t r = 0; r < inst->region_count && (inst->op == GpOp_For || inst->op == GpOp_If); r++) {
        const GpInst *end = gp_ir_terminator(inst->regions[r]);
        is_any |= end->op == GpOp_Yield && begins_with(end->operands[v->index], sums, seen);
    }
    return is_any;
}

/* Whether a loop hands the sums on in the place of a value that is in use behind the product. */
static bool takes_place(GpEmit *e, const GpInst *product, bool *seen) {
    const GpValue *sums = product->results[0];
    for (const GpInst *loop = product->parent->owner; loop; loop = loop->parent->owner) {
        if (loop->op == GpOp_Loop)
            return true;
        for (uint32_t i = 0; i < loop->result_count && loop->op == GpOp_For; i++) {
            const GpPipeLife *before = &e->pipe->life[gp_loop_params(loop)[i]->id];
            if (before->last > e->pipe->life[sums->id].first &&
                begins_with(gp_ir_terminator(loop->regions[0])->operands[i], sums, seen))
                return true;
        }
    }
    return false;
}

bool gp_pipe_moves_sums(GpEmit *e, const GpInst *product) {
    return takes_place(e, product, GP_NEW_ARRAY(e->arena, bool, e->fn->next_id)) ||
           is_replaced(e, product->operands[2], product, GP_NEW_ARRAY(e->arena, bool, e->fn->next_id));
}
