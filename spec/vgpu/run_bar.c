/* Barriers of a block: bar.* by number. */
#include "spec/vgpu/vgpu.h"

/* Threads that a barrier without a count waits for: those that did not end. */
static uint32_t live_threads(const VgCta *c) {
    uint32_t live = 0;
    for (uint32_t i = 0; i < c->warp_count; i++)
        live += c->warps[i].live ? VG_LANES : 0;
    return live;
}

/* The barrier of an instruction and how many threads it waits for; NULL when reported. */
static VgBarrier *find_barrier(VgRun *x, const VgOperand *id, const VgOperand *count) {
    uint64_t n, threads = 0;
    if (!vg_uniform(x, id, 4, &n) || (count && !vg_uniform(x, count, 4, &threads)))
        return NULL;
    if (n > 15) {
        (void)vg_fault(x, VG_FAILED, -1, "barrier %llu; there are 16", (unsigned long long)n);
        return NULL;
    }
    if (count && (threads == 0 || threads % VG_LANES || threads > 1024)) {
        (void)vg_fault(x, VG_FAILED, -1, "a barrier for %llu threads, which is no number of warps",
                       (unsigned long long)threads);
        return NULL;
    }
    VgBarrier *b = &x->warp->cta->barriers[n];
    if (b->arrived && b->expected != threads) {
        (void)vg_fault(x, VG_FAILED, -1, "barrier %llu for %llu threads; others wait at it for %u",
                       (unsigned long long)n, (unsigned long long)threads, b->expected);
        return NULL;
    }
    b->expected = (uint32_t)threads;
    return b;
}

static void complete(VgRun *x, VgBarrier *b) {
    uint32_t wanted = b->expected ? b->expected : live_threads(x->warp->cta);
    if (!b->arrived || b->arrived < wanted)
        return;
    b->phase++;
    b->arrived = 0;
    b->result_or = b->votes_or;
    b->result_and = !b->votes_nand;
    b->result_count = b->votes;
    b->votes_or = b->votes_nand = b->votes = 0;
    vg_stamp_drop(x->launch, &b->done);
    b->done = b->arriving;
    b->arriving = (VgStamp){0};
    x->launch->progress++;
}

static void arrive(VgRun *x, VgBarrier *b) {
    b->arrived += VG_LANES;
    vg_release(x, x->mask, &b->arriving);
    x->launch->progress++;
    complete(x, b);
}

/* Over when the phase in which the warp arrived is. Warps that ended meanwhile may complete it. */
static VgOutcome wait(VgRun *x, const VgOperand *id, const VgOperand *count) {
    VgBarrier *b;
    if (!x->split->ticket) {
        VgOutcome together = vg_together(x, x->warp->live);
        if (together != VgOutcome_Next)
            return together;
        b = find_barrier(x, id, count);
        if (!b)
            return VgOutcome_Fail;
        x->split->ticket = b->phase + 1;
        arrive(x, b);
    } else {
        uint64_t n = 0;
        (void)vg_uniform(x, id, 4, &n);
        b = &x->warp->cta->barriers[n];
        if (b->phase + 1 == x->split->ticket)
            complete(x, b);
    }
    if (b->phase + 1 == x->split->ticket)
        return VgOutcome_Wait;
    vg_acquire(x, x->mask, &b->done);
    return VgOutcome_Next;
}

VgOutcome vg_run_bar_sync(VgRun *x, const VgInst *in) {
    return wait(x, &in->ops[0], in->op_count > 1 ? &in->ops[1] : NULL);
}

VgOutcome vg_run_bar_arrive(VgRun *x, const VgInst *in) {
    VgOutcome together = vg_together(x, x->warp->live);
    if (together != VgOutcome_Next)
        return together;
    VgBarrier *b = find_barrier(x, &in->ops[0], &in->ops[1]);
    if (!b)
        return VgOutcome_Fail;
    arrive(x, b);
    return VgOutcome_Next;
}

/* bar.red d, id [, count], p */
VgOutcome vg_run_bar_red(VgRun *x, const VgInst *in) {
    const VgOperand *voted = &in->ops[in->op_count - 1];
    const VgOperand *count = in->op_count > 3 ? &in->ops[2] : NULL;
    uint32_t votes = vg_read_pred(x, voted) & x->mask;
    uint64_t n = 0;
    if (!vg_uniform(x, &in->ops[1], 4, &n))
        return VgOutcome_Fail;
    VgBarrier *b = &x->warp->cta->barriers[n & 15];
    if (!x->split->ticket && x->mask == x->warp->live) {
        b->votes_or |= votes != 0;
        b->votes_nand |= votes != x->mask;
        b->votes += (uint32_t)__builtin_popcount(votes);
    }
    VgOutcome outcome = wait(x, &in->ops[1], count);
    if (outcome != VgOutcome_Next)
        return outcome;
    VgLanes out;
    for (uint32_t lane = 0; lane < VG_LANES; lane++)
        out.u32[lane] = b->result_count;
    bool is_or = in->mod[VgClass_Logic] == VgMod_Or;
    vg_write(x, &in->ops[0], VgType_U32, &out);
    vg_write_pred(x, &in->ops[0], (is_or ? b->result_or : b->result_and) ? VG_ALL : 0);
    return VgOutcome_Next;
}
