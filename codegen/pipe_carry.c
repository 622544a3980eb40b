/* Which products take their first sums from registers that get another value while their own are in use.
**
** Sums stay in the registers that they begin with. Where those are what a loop hands on, and the next turn begins with
** anything else, LLVM gives the product's sums other registers, and moves them there before they are waited for. So
** they begin in registers of their own. */
#include "codegen/pipe.h"

/* What becomes of the registers that a product's sums begin with. */
typedef struct Sums {
    const GpPipe *pipe;
    const GpInst *product;
    const GpValue *from; /* what they are handed on as: a loop's value */
    uint8_t *known;      /* by id */
} Sums;
enum { NOT_KNOWN, STAYS, LEAVES };

static bool stays(const Sums *s, const GpValue *v);

static bool stays_in(const Sums *s, const GpValue *v) {
    const GpInst *inst = v->inst;
    if (!inst || !inst->operand_count)
        return false;
    bool is_made = inst->op == GpOp_Mma || gp_sig_info[gp_op_info[inst->op].sig].elementwise;
    const GpValue *of = inst->operands[inst->op == GpOp_Mma ? 2 : 0];
    if (inst->op != GpOp_If)
        return is_made && s->pipe->uses[of->id] == 1 && stays(s, of);
    for (uint32_t r = 0; r < inst->region_count; r++) {
        const GpInst *end = gp_ir_terminator(inst->regions[r]);
        if (end->op == GpOp_Yield && !stays(s, end->operands[v->index]))
            return false;
    }
    return true;
}

/* Whether the value, which a loop hands on in the place of `from`, is that or made of the sums in their registers. */
static bool stays(const Sums *s, const GpValue *v) {
    if (v == s->from || v == s->product->results[0])
        return true;
    if (s->known[v->id] == NOT_KNOWN)
        s->known[v->id] = stays_in(s, v) ? STAYS : LEAVES;
    return s->known[v->id] == STAYS;
}

/* Whether the registers of `v`, with which the sums begin, become another value's while the sums are in use: in the
** next turn of a loop. */
static bool is_replaced(GpEmit *e, const GpValue *v, const GpInst *product, uint8_t *seen) {
    const GpInst *inst = v->inst, *owner = inst ? NULL : v->region->owner;
    Sums s = {e->pipe, product, v, NULL};
    if (seen[v->id] || (!inst && !owner))
        return false;
    seen[v->id] = 1;
    if (owner && owner->op == GpOp_For) {
        s.known = GP_NEW_ARRAY(e->arena, uint8_t, e->fn->next_id);
        return !stays(&s, gp_ir_terminator(v->region)->operands[v->index - 1]);
    }
    if (owner)
        return true;
    if (inst->op == GpOp_Mma || inst->op == GpOp_For)
        return is_replaced(e, inst->operands[inst->op == GpOp_Mma ? 2 : 3 + v->index], product, seen);
    bool is_any = false;
    for (uint32_t i = 0; i < inst->operand_count && inst->op == GpOp_Loop; i++)
        is_any |= inst->operands[i]->type->kind == GpIrType_Tile && is_replaced(e, inst->operands[i], product, seen);
    for (uint32_t r = 0; r < inst->region_count && inst->op == GpOp_If; r++) {
        const GpInst *end = gp_ir_terminator(inst->regions[r]);
        is_any |= end->op == GpOp_Yield && is_replaced(e, end->operands[v->index], product, seen);
    }
    return is_any;
}

bool gp_pipe_moves_sums(GpEmit *e, const GpInst *product) {
    return is_replaced(e, product->operands[2], product, GP_NEW_ARRAY(e->arena, uint8_t, e->fn->next_id));
}
