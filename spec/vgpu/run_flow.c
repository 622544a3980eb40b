/* Branches, calls and ends. */
#include <stdlib.h>

#include "spec/vgpu/vgpu.h"

VgOutcome vg_run_bra(VgRun *x, const VgInst *in) {
    VgSide sides[2] = {{x->mask, in->targets[0]}, {x->split->mask & ~x->mask, x->split->pc + 1}};
    return vg_spread(x, sides, 2, in->reconverge);
}

/* brx.idx i, {labels} */
VgOutcome vg_run_brx(VgRun *x, const VgInst *in) {
    VgLanes buf;
    const VgLanes *v = vg_read(x, &in->ops[0], 4, &buf);
    VgSide sides[VG_LANES + 1] = {{x->split->mask & ~x->mask, x->split->pc + 1}};
    uint32_t count = 1;
    VG_EACH_LANE(lane, x->mask) {
        if (v->u32[lane] >= in->target_count)
            return vg_fault(x, VG_FAILED, (int)lane, "target %u of %u", v->u32[lane],
                            in->target_count);
        uint32_t pc = in->targets[v->u32[lane]], i = 1;
        while (i < count && sides[i].pc != pc)
            i++;
        if (i == count)
            sides[count++] = (VgSide){0, pc};
        sides[i].mask |= 1u << lane;
    }
    return vg_spread(x, sides, count, in->reconverge);
}

VgOutcome vg_run_exit(VgRun *x, const VgInst *in) {
    (void)in;
    return vg_end_threads(x, x->mask);
}

VgOutcome vg_run_trap(VgRun *x, const VgInst *in) {
    (void)in;
    return vg_fault(x, VG_FAILED, -1, "trap");
}

VgOutcome vg_run_nothing(VgRun *x, const VgInst *in) {
    (void)x;
    (void)in;
    return VgOutcome_Next;
}

VgOutcome vg_run_grid_wait(VgRun *x, const VgInst *in) {
    (void)in;
    x->warp->has_waited = true;
    return VgOutcome_Next;
}

VgOutcome vg_run_yield(VgRun *x, const VgInst *in) {
    (void)x;
    (void)in;
    return VgOutcome_Yield;
}

VgOutcome vg_run_setmaxnreg(VgRun *x, const VgInst *in) {
    uint64_t count = in->ops[0].imm;
    VgWarp *w = x->warp;
    if (count < 24 || count > 256 || count % 8)
        return vg_fault(x, VG_FAILED, -1, "setmaxnreg takes 24 to 256 in steps of 8");
    if (count > w->registers + w->cta->spare_registers)
        return VgOutcome_Wait;
    VgOutcome together = vg_together(x, w->live);
    if (together == VgOutcome_Next) {
        w->cta->spare_registers += w->registers - (uint32_t)count;
        w->registers = (uint32_t)count;
    }
    return together;
}

/* ---- Calls: arguments and results are copied between the threads' stacks -------------------- */

static uint8_t *stack_of(VgWarp *w, uint32_t lane) {
    if (!w->stack)
        w->stack = calloc(VG_LANES, VG_LOCAL_BYTES);
    return w->stack + (size_t)lane * VG_LOCAL_BYTES;
}

static void copy_between(VgRun *x, uint64_t to, uint64_t from, uint64_t bytes) {
    VG_EACH_LANE(lane, x->mask) {
        uint8_t *stack = stack_of(x->warp, lane);
        memcpy(stack + to, stack + from, bytes);
    }
}

static VgFrame *take_frame(VgWarp *w, const VgFunc *f) {
    for (VgFrame **at = &w->unused; *at; at = &(*at)->caller) {
        if ((*at)->func == f) {
            VgFrame *frame = *at;
            *at = frame->caller;
            return frame;
        }
    }
    return vg_frame_new(f);
}

VgOutcome vg_run_call(VgRun *x, const VgInst *in) {
    const VgFunc *f = in->callee;
    if (f->insts.len == 0 && strcmp(f->name->name, "vprintf") == 0)
        return vg_vprintf(x, in);
    if (f->insts.len == 0)
        return vg_fault(x, VG_FAILED, -1, "function `%s` has no body", f->name->name);
    uint32_t base = (uint32_t)gp_align_up(x->frame->lane_base + x->frame->func->lane_bytes, 16);
    if (base + f->lane_bytes > VG_LOCAL_BYTES)
        return vg_fault(x, VG_FAILED, -1, "the stack of %zu bytes a thread is full",
                        VG_LOCAL_BYTES);
    if (x->mask != x->split->mask)
        return vg_fault(x, VG_FAILED, -1, "calls under a predicate are not run");
    VgFrame *frame = take_frame(x->warp, f);
    frame->caller = x->frame;
    frame->call = in;
    frame->lane_base = base;
    for (uint32_t i = 0; i < f->params.len; i++)
        copy_between(x, base + f->params.at[i]->at, x->frame->lane_base + in->ops[1].parts[i].imm,
                     f->params.at[i]->bytes);
    x->split->frame = frame;
    x->split->pc = 0;
    return VgOutcome_Moved;
}

/* All but the last `ret` of a function lead to it, where its threads meet. */
VgOutcome vg_run_ret(VgRun *x, const VgInst *in) {
    VgFrame *frame = x->frame;
    const VgFunc *f = frame->func;
    uint32_t last = f->insts.len - 1;
    if (f->is_entry)
        return vg_end_threads(x, x->mask);
    if (in != &f->insts.at[last]) {
        VgSide sides[2] = {{x->mask, last}, {x->split->mask & ~x->mask, x->split->pc + 1}};
        return vg_spread(x, sides, 2, last);
    }
    for (uint32_t i = 0; i < f->results.len; i++)
        copy_between(x, frame->caller->lane_base + frame->call->ops[0].parts[i].imm,
                     frame->lane_base + f->results.at[i]->at, f->results.at[i]->bytes);
    x->split->frame = frame->caller;
    x->split->pc = (uint32_t)(frame->call - frame->caller->func->insts.at) + 1;
    frame->caller = x->warp->unused;
    x->warp->unused = frame;
    return VgOutcome_Moved;
}
