/* mbarrier objects: phases that end when all arrivals and all expected bytes are there.
**
** Loads that complete on one arrive as late as the program allows: when a thread waits for the
** phase (with an odd seed: at once). */
#include <stdlib.h>

#include "spec/vgpu/async.h"

#define MOST_TX ((1 << 20) - 1)

/* ---- Finding ------------------------------------------------------------------------------ */

VgMbar *vg_mbar_find(VgCta *c, uint32_t offset) {
    for (uint32_t i = 0; i < c->mbar_count; i++) {
        if (c->mbars[i].offset == offset)
            return &c->mbars[i];
    }
    return NULL;
}

static bool knows_init(const VgRun *x, const VgMbar *m, uint32_t lane) {
    uint32_t thread = vg_thread(x->warp, lane);
    bool is_own = m->init.actor == vg_actor(x->warp->cta, VgActor_Thread, thread);
    return is_own || x->warp->cta->threads[thread].seen->at[m->init.actor] >= m->init.time;
}

VgMbar *vg_mbar_at(VgRun *x, uint64_t address, uint32_t lane, VgCta **owner) {
    uint32_t offset;
    if (VG_WINDOW(address) == VG_WINDOW_SHARED)
        address &= UINT32_MAX;
    *owner = vg_shared_cta(x, address, &offset);
    VgMbar *m = *owner ? vg_mbar_find(*owner, offset) : NULL;
    if (!m) {
        (void)vg_fault(x, VG_FAILED, (int)lane, "no mbarrier was initialized at %#llx",
                       (unsigned long long)address);
        return NULL;
    }
    if (!knows_init(x, m, lane)) {
        (void)vg_fault(x, VG_FAILED, (int)lane,
                       "uses the mbarrier at %#x, but nothing orders this behind its "
                       "initialization at PTX line %u",
                       offset, m->init_line);
        return NULL;
    }
    return m;
}

/* ---- Phases ------------------------------------------------------------------------------- */

static uint64_t outstanding(const VgMbar *m) {
    uint64_t bytes = 0;
    for (const VgBulk *b = m->loads; b; b = b->next)
        bytes += b->bytes;
    return bytes;
}

/* Ends the phase if nothing is missing. */
static VgOutcome complete(VgRun *x, VgMbar *m) {
    VgLaunch *l = x->launch;
    if (m->pending || m->tx)
        return VgOutcome_Next;
    if (m->loads)
        return vg_fault(x, VG_FAILED, -1,
                        "phase %u of the mbarrier at %#x ends while %llu bytes are still loaded: "
                        "they were not expected",
                        m->phase, m->offset, (unsigned long long)outstanding(m));
    m->phase++;
    m->pending = m->count;
    vg_stamp_drop(l, &m->done);
    m->done = m->arriving;
    m->arriving = (VgStamp){0};
    if (m->done.seen)
        m->done.seen->at[m->channel] = m->phase;
    l->progress++;
    return VgOutcome_Next;
}

VgOutcome vg_mbar_deliver(VgRun *x, VgMbar *m) {
    while (m->loads) {
        VgBulk *b = m->loads;
        m->loads = b->next;
        m->tx -= b->bytes;
        bool is_fine = vg_bulk_run(x, b);
        free(b);
        if (!is_fine)
            return VgOutcome_Fail;
    }
    if (m->tx < 0 && m->pending == 0)
        return vg_fault(x, VG_FAILED, -1,
                        "phase %u of the mbarrier at %#x got %lld bytes more than it expected",
                        m->phase, m->offset, (long long)-m->tx);
    return complete(x, m);
}

VgOutcome vg_mbar_arrive(VgRun *x, VgMbar *m, uint32_t lane, uint64_t count) {
    if (count == 0 || count > m->pending)
        return vg_fault(x, VG_FAILED, (int)lane,
                        "%llu arrivals at the mbarrier at %#x; %u of %u are left in phase %u",
                        (unsigned long long)count, m->offset, m->pending, m->count, m->phase);
    vg_release(x, 1u << lane, &m->arriving);
    m->pending -= (uint32_t)count;
    x->launch->progress++;
    return complete(x, m);
}

static VgOutcome expect(VgRun *x, VgMbar *m, uint32_t lane, uint64_t bytes) {
    m->tx += (int64_t)bytes;
    if (bytes > MOST_TX || m->tx > MOST_TX)
        return vg_fault(x, VG_FAILED, (int)lane, "more than %d bytes are expected", MOST_TX);
    return VgOutcome_Next;
}

/* ---- Instructions ------------------------------------------------------------------------- */

VgOutcome vg_run_mbar_init(VgRun *x, const VgInst *in) {
    VgLanes at, buf;
    vg_addresses(x, &in->ops[0], &at);
    const VgLanes *count = vg_read(x, &in->ops[1], 4, &buf);
    VgCta *c = x->warp->cta;
    VG_EACH_LANE(lane, x->mask) {
        uint64_t address =
            VG_WINDOW(at.u64[lane]) == VG_WINDOW_SHARED ? at.u64[lane] & UINT32_MAX : at.u64[lane];
        if (!vg_reach(x, VgMod_SharedCta, address, 8, lane, VgAccess_Write))
            return VgOutcome_Fail;
        uint32_t offset = (uint32_t)address, number = 0;
        while (number < c->mbar_count && c->mbars[number].offset != offset)
            number++;
        if (number == VG_MAX_MBARS || count->u32[lane] == 0 || count->u32[lane] > MOST_TX)
            return vg_fault(x, VG_FAILED, (int)lane,
                            number == VG_MAX_MBARS ? "too many mbarriers"
                                                   : "a count of 0 or over 2^20");
        VgMbar *m = &c->mbars[number];
        c->mbar_count = GP_MAX(c->mbar_count, number + 1);
        vg_mbar_drop(x->launch, m);
        uint32_t thread = vg_thread(x->warp, lane);
        *m = (VgMbar){.offset = offset,
                      .count = count->u32[lane],
                      .pending = count->u32[lane],
                      .channel = vg_actor(c, VgActor_Mbar, number),
                      .init_line = in->line,
                      .init = {vg_actor(c, VgActor_Thread, thread), c->threads[thread].now}};
    }
    return VgOutcome_Next;
}

void vg_mbar_drop(VgLaunch *l, VgMbar *m) {
    while (m->loads) {
        VgBulk *b = m->loads;
        m->loads = b->next;
        free(b);
    }
    vg_stamp_drop(l, &m->arriving);
    vg_stamp_drop(l, &m->done);
    m->offset = 0;
}

VgOutcome vg_run_mbar_inval(VgRun *x, const VgInst *in) {
    VgLanes at;
    VgCta *c;
    vg_addresses(x, &in->ops[0], &at);
    VG_EACH_LANE(lane, x->mask) {
        VgMbar *m = vg_mbar_at(x, at.u64[lane], lane, &c);
        if (!m)
            return VgOutcome_Fail;
        vg_mbar_drop(x->launch, m);
    }
    return VgOutcome_Next;
}

/* state, [a] {, count}; with expect_tx the third operand is bytes, and one arrives. */
VgOutcome vg_run_mbar_arrive(VgRun *x, const VgInst *in) {
    bool is_expecting = in->id == VgInst_MbarArriveExpect;
    VgLanes at, buf, state;
    VgCta *c;
    vg_addresses(x, &in->ops[1], &at);
    const VgLanes *n = in->op_count > 2 ? vg_read(x, &in->ops[2], 4, &buf) : NULL;
    VG_EACH_LANE(lane, x->mask) {
        VgMbar *m = vg_mbar_at(x, at.u64[lane], lane, &c);
        if (!m || !vg_visit(x, c, vg_thread_unit(x, lane), lane))
            return VgOutcome_Fail;
        if (c != x->warp->cta && in->ops[0].kind != VgOperand_None)
            return vg_fault(x, VG_FAILED, (int)lane, "an mbarrier of another block gives no state");
        state.u64[lane] = m->phase;
        if (is_expecting && n && expect(x, m, lane, n->u32[lane]) == VgOutcome_Fail)
            return VgOutcome_Fail;
        uint64_t count = n && !is_expecting ? n->u32[lane] : 1;
        if (vg_mbar_arrive(x, m, lane, count) == VgOutcome_Fail)
            return VgOutcome_Fail;
    }
    vg_write(x, &in->ops[0], VgType_B64, &state);
    return VgOutcome_Next;
}

VgOutcome vg_run_mbar_expect(VgRun *x, const VgInst *in) {
    VgLanes at, buf;
    VgCta *c;
    vg_addresses(x, &in->ops[0], &at);
    const VgLanes *bytes = vg_read(x, &in->ops[1], 4, &buf);
    VG_EACH_LANE(lane, x->mask) {
        VgMbar *m = vg_mbar_at(x, at.u64[lane], lane, &c);
        if (!m || expect(x, m, lane, bytes->u32[lane]) == VgOutcome_Fail)
            return VgOutcome_Fail;
    }
    return VgOutcome_Next;
}

/* Is the phase over that a thread asks for, by parity or by the state that its arrival gave? */
static bool is_over(const VgInst *in, const VgMbar *m, uint64_t asked) {
    bool is_parity = in->id == VgInst_MbarTryParity || in->id == VgInst_MbarTestParity;
    return is_parity ? (m->phase & 1) != (asked & 1) : m->phase != (uint32_t)asked;
}

/* p, [a], parity or state {, time}. try_wait gives up the first time, as the hardware
** may, and waits when it is asked again; test_wait never waits. */
VgOutcome vg_run_mbar_wait(VgRun *x, const VgInst *in) {
    bool is_parity = in->id == VgInst_MbarTryParity || in->id == VgInst_MbarTestParity;
    bool is_test = in->id == VgInst_MbarTestParity || in->id == VgInst_MbarTest;
    uint32_t bytes = is_parity ? 4 : 8, over = 0;
    VgLanes at, buf;
    VgCta *c;
    vg_addresses(x, &in->ops[1], &at);
    const VgLanes *asked = vg_read(x, &in->ops[2], bytes, &buf);
    VG_EACH_LANE(lane, x->mask) {
        VgMbar *m = vg_mbar_at(x, at.u64[lane], lane, &c);
        if (!m)
            return VgOutcome_Fail;
        if (c != x->warp->cta)
            return vg_fault(x, VG_FAILED, (int)lane, "waits for an mbarrier of another block");
        uint64_t what = vg_lane(asked, bytes, lane);
        bool is_late = !is_over(in, m, what) && m->pending == 0 && m->loads;
        if (is_late && vg_mbar_deliver(x, m) == VgOutcome_Fail)
            return VgOutcome_Fail;
        over |= (uint32_t)is_over(in, m, what) << lane;
    }
    bool is_done = over == x->mask;
    bool is_again = x->split->gave_up == in;
    if (!is_done && !is_test && !x->split->is_forced && is_again)
        return VgOutcome_Wait;
    x->split->gave_up = is_done ? NULL : in;
    VgMbar *m = NULL;
    VG_EACH_LANE(lane, over) {
        VgMbar *next = vg_mbar_at(x, at.u64[lane], lane, &c);
        if (next && next != m)
            vg_acquire(x, over, &next->done);
        m = next;
    }
    vg_write_pred(x, &in->ops[0], over);
    return is_done ? VgOutcome_Next : VgOutcome_Yield;
}

void vg_describe_wait(const VgCta *c, const VgSplit *s, char *text, size_t bytes) {
    const VgInst *in = &s->frame->func->insts.at[s->pc];
    text[0] = '\0';
    if (in->run != vg_run_mbar_wait)
        return;
    VgRun x = {
        .launch = c->launch, .warp = s->warp, .frame = s->frame, .mask = s->mask, .inst = in};
    VgLanes at;
    vg_addresses(&x, &in->ops[1], &at);
    uint32_t offset, lane = (uint32_t)vg_first_lane(s->mask);
    VgCta *owner = vg_shared_cta(&x, at.u64[lane] & UINT32_MAX, &offset);
    const VgMbar *m = owner ? vg_mbar_find(owner, offset) : NULL;
    if (m)
        snprintf(text, bytes,
                 "; the mbarrier at %#x is in phase %u, %u of %u arrivals and %lld bytes missing",
                 m->offset, m->phase, m->pending, m->count, (long long)m->tx);
}
