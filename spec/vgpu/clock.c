/* What happened before what: vector clocks (Mattern; FastTrack, Flanagan and Freund 2009).
**
** An actor is a thread, or a unit that works beside the threads: the copies that a thread issued,
** the loads that complete on one mbarrier, the wgmma of a warpgroup. A clock has the time of
** each actor up to which its actions are known to be over. Each thread has two: what it has seen,
** and the part of it that a proxy fence stands behind, which is all that the asynchronous proxy
** may rely on. Clocks are shared and never change once a thread has them. */
#include <stdlib.h>

#include "spec/vgpu/vgpu.h"

VgClock *vg_clock_new(VgLaunch *l) {
    VgClock *c = l->spare_clocks;
    if (c) {
        l->spare_clocks = c->spare;
        memset(c->at, 0, l->actors * sizeof *c->at);
    } else {
        c = calloc(1, sizeof *c + l->actors * sizeof *c->at);
    }
    gp_assert(c);
    c->refs = 1;
    return c;
}

static VgClock *retain(VgClock *c) {
    c->refs++;
    return c;
}

void vg_clock_release(VgLaunch *l, VgClock *c) {
    if (!c || --c->refs > 0)
        return;
    c->spare = l->spare_clocks;
    l->spare_clocks = c;
}

void vg_clocks_free(VgLaunch *l) {
    while (l->spare_clocks) {
        VgClock *c = l->spare_clocks;
        l->spare_clocks = c->spare;
        free(c);
    }
}

static void raise_to(VgClock *to, const VgClock *from, uint32_t count) {
    for (uint32_t i = 0; i < count; i++)
        to->at[i] = GP_MAX(to->at[i], from->at[i]);
}

static bool is_covered(const VgClock *small, const VgClock *large, uint32_t count) {
    uint32_t above = 0;
    for (uint32_t i = 0; i < count; i++)
        above |= (uint32_t)(small->at[i] > large->at[i]);
    return !above;
}

/* What both know; one of the two where it knows all. */
static VgClock *join(VgLaunch *l, VgClock *a, VgClock *b) {
    if (a == b || is_covered(b, a, l->actors))
        return retain(a);
    if (is_covered(a, b, l->actors))
        return retain(b);
    VgClock *c = vg_clock_new(l);
    memcpy(c->at, a->at, l->actors * sizeof *c->at);
    raise_to(c, b, l->actors);
    return c;
}

static void set_clock(VgLaunch *l, VgClock **to, VgClock *c) {
    vg_clock_release(l, *to);
    *to = c;
}

/* ---- Actors ------------------------------------------------------------------------------- */

uint32_t vg_actor(const VgCta *c, VgActorKind kind, uint32_t index) {
    uint32_t n = c->warp_count * VG_LANES, first = c->rank * (3 * n + VG_MAX_MBARS + VG_MAX_GROUPS);
    switch (kind) {
    case VgActor_Thread:
        return first + index;
    case VgActor_Copies:
        return first + n + index;
    case VgActor_Stores:
        return first + 2 * n + index;
    case VgActor_Mbar:
        return first + 3 * n + index;
    case VgActor_Group:
        return first + 3 * n + VG_MAX_MBARS + index;
    }
    gp_unreachable();
}

uint32_t vg_actor_count(const VgCta *c) {
    return c->launch->cluster_ctas * (3 * c->warp_count * VG_LANES + VG_MAX_MBARS + VG_MAX_GROUPS);
}

void vg_describe_actor(const VgLaunch *l, uint32_t actor, char *text, size_t bytes) {
    uint32_t n = l->ctas[0].warp_count * VG_LANES, in_cta = 3 * n + VG_MAX_MBARS + VG_MAX_GROUPS;
    uint32_t at = actor % in_cta;
    const VgCta *c = &l->ctas[actor / in_cta];
    char of[32] = "";
    if (l->cluster_ctas > 1)
        snprintf(of, sizeof of, " of block %u", c->rank);
    if (at < n)
        snprintf(text, bytes, "thread %u (warp %u lane %u)%s", at, at / VG_LANES, at % VG_LANES, of);
    else if (at < 2 * n)
        snprintf(text, bytes, "a cp.async of thread %u%s", at - n, of);
    else if (at < 3 * n)
        snprintf(text, bytes, "a bulk store of thread %u%s", at - 2 * n, of);
    else if (at < 3 * n + VG_MAX_MBARS)
        snprintf(text, bytes, "a bulk load that completes on the mbarrier at %#x%s",
                 c->mbars[at - 3 * n].offset, of);
    else
        snprintf(text, bytes, "a wgmma of warpgroup %u%s", at - 3 * n - VG_MAX_MBARS, of);
}

/* ---- Threads ------------------------------------------------------------------------------ */

static VgThread *thread_at(const VgRun *x, uint32_t lane) {
    return &x->warp->cta->threads[vg_thread(x->warp, lane)];
}

void vg_threads_start(VgCta *c) {
    VgLaunch *l = c->launch;
    VgClock *zero = vg_clock_new(l);
    for (uint32_t i = 0; i < c->warp_count * VG_LANES; i++) {
        VgThread *t = &c->threads[i];
        set_clock(l, &t->seen, retain(zero));
        set_clock(l, &t->fenced, retain(zero));
        t->now = 1;
        t->fenced_at = t->inits = 0;
    }
    vg_clock_release(l, zero);
}

void vg_release(VgRun *x, uint32_t mask, VgStamp *to) {
    VgLaunch *l = x->launch;
    const VgClock *seen = NULL, *fenced = NULL;
    if (!to->seen) {
        to->seen = vg_clock_new(l);
        to->fenced = vg_clock_new(l);
    }
    VG_EACH_LANE(lane, mask) {
        VgThread *t = thread_at(x, lane);
        uint32_t self = vg_actor(x->warp->cta, VgActor_Thread, vg_thread(x->warp, lane));
        if (t->seen != seen)
            raise_to(to->seen, t->seen, l->actors);
        if (t->fenced != fenced)
            raise_to(to->fenced, t->fenced, l->actors);
        seen = t->seen;
        fenced = t->fenced;
        to->seen->at[self] = GP_MAX(to->seen->at[self], t->now);
        to->fenced->at[self] = GP_MAX(to->fenced->at[self], t->fenced_at);
        t->now++;
    }
}

/* Only what the threads did before a fence of mbarriers' initialization. */
void vg_release_inits(VgRun *x, uint32_t mask, VgStamp *to) {
    VgLaunch *l = x->launch;
    if (!to->seen) {
        to->seen = vg_clock_new(l);
        to->fenced = vg_clock_new(l);
    }
    VG_EACH_LANE(lane, mask) {
        uint32_t self = vg_actor(x->warp->cta, VgActor_Thread, vg_thread(x->warp, lane));
        to->seen->at[self] = GP_MAX(to->seen->at[self], thread_at(x, lane)->inits);
    }
}

VgOutcome vg_run_fence_init(VgRun *x, const VgInst *in) {
    (void)in;
    VG_EACH_LANE(lane, x->mask) {
        VgThread *t = thread_at(x, lane);
        t->inits = t->now++;
    }
    return VgOutcome_Next;
}

/* Lanes mostly have the same clock: the join is made once. */
static void acquire_clock(VgRun *x, uint32_t mask, VgClock *from, size_t field) {
    VgLaunch *l = x->launch;
    VgClock *before = NULL, *after = NULL;
    VG_EACH_LANE(lane, mask) {
        VgClock **to = (VgClock **)(void *)((char *)thread_at(x, lane) + field);
        if (*to != before) {
            vg_clock_release(l, before);
            vg_clock_release(l, after);
            before = retain(*to);
            after = join(l, *to, from);
        }
        gp_assert(after);
        set_clock(l, to, retain(after));
    }
    vg_clock_release(l, before);
    vg_clock_release(l, after);
}

void vg_acquire(VgRun *x, uint32_t mask, const VgStamp *from) {
    if (!from->seen)
        return;
    acquire_clock(x, mask, from->seen, offsetof(VgThread, seen));
    acquire_clock(x, mask, from->fenced, offsetof(VgThread, fenced));
}

void vg_acquire_actor(VgRun *x, uint32_t mask, uint32_t actor, uint32_t time) {
    VgClock *one = vg_clock_new(x->launch);
    one->at[actor] = time;
    acquire_clock(x, mask, one, offsetof(VgThread, seen));
    vg_clock_release(x->launch, one);
}

void vg_stamp_drop(VgLaunch *l, VgStamp *s) {
    vg_clock_release(l, s->seen);
    vg_clock_release(l, s->fenced);
    *s = (VgStamp){0};
}

void vg_fence_proxy(VgRun *x, uint32_t mask) {
    VG_EACH_LANE(lane, mask) {
        VgThread *t = thread_at(x, lane);
        set_clock(x->launch, &t->fenced, retain(t->seen));
        t->fenced_at = t->now++;
    }
}

/* The threads of a warp meet. */
void vg_meet(VgRun *x, uint32_t mask) {
    VgStamp s = {0};
    vg_release(x, mask, &s);
    vg_acquire(x, mask, &s);
    vg_stamp_drop(x->launch, &s);
}
