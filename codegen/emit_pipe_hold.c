/* Keeps work that is long between two waits for products.
**
** ptxas moves what touches no memory below the next wait, where it runs while the tensor cores have
** nothing left of this warpgroup. In a softmax of plain scores that is as well: the other warpgroup's
** products take as long. With a special function on each side of the row maximum (a soft cap, then
** the exponential) it is longer than they are, so the maximum is held above the wait, and with it all
** that it is made of. */
#include "codegen/inline_ptx.h"
#include "codegen/pipe.h"

static bool is_special_of(const GpInst *inst, const GpShape *shape) {
    return gp_special_computes(inst->op) && gp_shape_eq(&inst->results[0]->type->shape, shape);
}

static bool is_between_specials(const GpInst *reduce) {
    const GpShape *shape = &reduce->operands[0]->type->shape;
    bool before = false, after = false;
    for (const GpInst *i = reduce->parent->first; i != reduce; i = i->next)
        before |= is_special_of(i, shape);
    for (const GpInst *i = reduce->next; i; i = i->next)
        after |= is_special_of(i, shape);
    return before && after;
}

/* A store that is never made: no number is above infinity. */
static void hold(GpEmit *e, LLVMValueRef value) {
    GpInlinePtx ptx = gp_inline_begin(e, 2);
    LLVMValueRef at = LLVMBuildPtrToInt(e->b, e->pipe->shared, LLVMInt32TypeInContext(e->ctx), "");
    uint32_t v = gp_inline_input(&ptx, value), a = gp_inline_input(&ptx, at);
    gp_inline_puts(&ptx, "{ .reg .pred p; setp.gt.f32 p, $%u, 0f7F800000; ", v);
    gp_inline_puts(&ptx, "@p st.volatile.shared.f32 [$%u], $%u; }", a, v);
    gp_inline_call(&ptx, NULL);
}

void gp_pipe_after(GpEmit *e, const GpInst *inst) {
    const GpPipe *p = e->pipe;
    if (!p || p->role == GpPipe_Producer || !p->pending_count || inst->op != GpOp_Reduce ||
        inst->results[0]->type->elem != GpElem_F32 || !is_between_specials(inst))
        return;
    const GpBound *b = &e->bound[inst->results[0]->id];
    for (uint32_t i = 0; i < b->count; i++)
        hold(e, b->at[i]);
}
