/* Removes instructions whose results nobody uses and that do nothing else.
**
** Reads count as doing nothing: a read is proved or masked before it is made. A `loop` is kept
** even when empty: it may run for ever. A `for` ends, since its step is positive. */
#include "dsl/ir/pass.h"

typedef struct Dce {
    uint32_t *uses;
    bool changed;
} Dce;

static bool is_removable(const GpInst *inst, const GpInst *whole);

/* Nothing in the region is seen outside `whole`. */
static bool is_quiet(const GpRegion *r, const GpInst *whole) {
    for (const GpInst *inst = r->first; inst; inst = inst->next)
        if (!is_removable(inst, whole)) return false;
    return true;
}

static bool is_inside(const GpInst *inst, const GpInst *ancestor) {
    for (; inst; inst = inst->parent->owner)
        if (inst == ancestor) return true;
    return false;
}

static bool is_quiet_control(const GpInst *inst, const GpInst *whole) {
    if (inst->op == GpOp_Return || inst->op == GpOp_Loop) return false;
    if (inst->op == GpOp_Break || inst->op == GpOp_Continue) return is_inside(inst->target, whole);
    for (uint32_t i = 0; i < inst->region_count; i++)
        if (!is_quiet(inst->regions[i], whole)) return false;
    return true;
}

static bool is_removable(const GpInst *inst, const GpInst *whole) {
    switch (gp_ir_effect(inst)) {
    case GpEffect_Pure:
    case GpEffect_Read: return true;
    case GpEffect_Write: return gp_op_info[inst->op].sig == GpSig_Slot;
    case GpEffect_Check:
    case GpEffect_Convergent: return false;
    case GpEffect_Control: return is_quiet_control(inst, whole);
    }
    gp_unreachable();
}

static void drop_uses(Dce *d, const GpInst *inst) {
    for (uint32_t i = 0; i < inst->operand_count; i++) d->uses[inst->operands[i]->id]--;
    for (uint32_t i = 0; i < inst->region_count; i++)
        for (const GpInst *in = inst->regions[i]->first; in; in = in->next) drop_uses(d, in);
}

/* Backwards, so that a user goes before what it uses. */
static void sweep(Dce *d, GpRegion *r) {
    for (GpInst *inst = r->last, *prev; inst; inst = prev) {
        prev = inst->prev;
        bool is_used = gp_op_is_terminator(inst->op);
        for (uint32_t i = 0; i < inst->result_count; i++)
            is_used = is_used || d->uses[inst->results[i]->id] != 0;
        if (!is_used && is_removable(inst, inst)) {
            drop_uses(d, inst);
            gp_ir_remove(inst);
            d->changed = true;
            continue;
        }
        for (uint32_t i = inst->region_count; i > 0; i--) sweep(d, inst->regions[i - 1]);
    }
}

bool gp_pass_dce(GpIrFn *fn) {
    Dce d = {.uses = gp_ir_count_uses(fn, fn->arena)};
    sweep(&d, fn->body);
    return d.changed;
}
