/* Who wrote and who read each byte of shared memory, and whether an access comes behind theirs.
**
** The last write and up to three reads since it are kept; a read that another follows in the
** order of events is replaced by that, else the oldest generic one goes: a race may be missed
** then, none is made up. Two writes of the same value are no race: threads that hold the same
** element of a tile all store it. */
#include "spec/vgpu/vgpu.h"

#define SHOW_BYTES 96

typedef struct Access {
    VgRun *x;
    VgCta *cta;
    uint32_t offset, bytes;
    uint32_t lane; /* the thread that accesses, or issued the unit that does */
    uint32_t actor, time;
    VgAccess how;
    bool is_same_value; /* the last byte was written by two with the same value */
} Access;

/* What did it, and is that over for the thread? The asynchronous proxy sees the writes of threads
** only behind a fence. */
static bool is_before(const Access *a, uint32_t actor, uint32_t time, bool needs_fence) {
    const VgWarp *w = a->x->warp;
    const VgThread *t = &w->cta->threads[vg_thread(w, a->lane)];
    bool is_own = actor == vg_actor(w->cta, VgActor_Thread, vg_thread(w, a->lane));
    if (needs_fence)
        return is_own ? t->fenced_at >= time : t->fenced->at[actor] >= time;
    return is_own || t->seen->at[actor] >= time;
}

static bool report(const Access *a, const char *does, uint32_t at, uint32_t actor, const char *did,
                   uint32_t line, bool is_fence) {
    char who[SHOW_BYTES];
    vg_describe_actor(a->x->launch, actor, who, sizeof who);
    (void)vg_fault(a->x, VG_FAILED, (int)a->lane,
                   is_fence
                       ? "%s shared memory at %#x through the asynchronous proxy; %s %s it at PTX "
                         "line %u with no fence.proxy.async in between"
                       : "data race: %s shared memory at %#x, which %s %s at PTX line %u; "
                         "nothing orders the two",
                   does, at, who, did, line);
    return false;
}

static bool check_write(Access *a, const VgByte *b, uint32_t at) {
    bool is_async = a->how & VgAccess_Async, is_read = !(a->how & VgAccess_Write);
    const char *does = a->how & VgAccess_Write ? "writes" : "reads";
    if (!(b->state & VgByte_Written)) {
        if (!is_read)
            return true;
        (void)vg_fault(a->x, VG_FAILED, (int)a->lane,
                       "reads shared memory at %#x, which nobody wrote", at);
        return false;
    }
    if ((b->state & VgByte_Atomic) && (a->how & VgAccess_Atomic))
        return true;
    const uint8_t *stored = a->x->stored;
    bool is_ordered = is_before(a, b->write_actor, b->write_time, false);
    a->is_same_value = !is_ordered && !is_read && !is_async && stored &&
                       stored[at - a->offset] == a->cta->shared[at];
    if (!is_ordered && !a->is_same_value)
        return report(a, does, at, b->write_actor, "wrote", b->write_line, false);
    bool needs_fence = is_async && !(b->state & VgByte_Async);
    if (needs_fence && !is_before(a, b->write_actor, b->write_time, true))
        return report(a, does, at, b->write_actor, "wrote", b->write_line, true);
    return true;
}

static bool check_reads(const Access *a, const VgByte *b, uint32_t at) {
    for (uint32_t i = 0; i < b->reader_count; i++) {
        const VgReader *r = &b->readers[i];
        bool is_same =
            r->actor == a->actor || ((b->state & VgByte_Atomic) && (a->how & VgAccess_Atomic));
        if (!is_same && !is_before(a, r->actor, r->time, false))
            return report(a, "writes", at, r->actor, "reads", r->line, false);
    }
    return true;
}

static void add_reader(const Access *a, VgByte *b) {
    VgReader new = {a->time, (uint16_t)a->actor, (uint16_t)a->x->inst->line,
                    (a->how & VgAccess_Async) != 0};
    uint32_t victim = 0;
    for (uint32_t i = 0; i < b->reader_count; i++) {
        VgReader *r = &b->readers[i];
        if (r->actor == new.actor || is_before(a, r->actor, r->time, false)) {
            *r = new;
            return;
        }
        if (b->readers[victim].is_async)
            victim = i;
    }
    if (b->reader_count < GP_COUNT(b->readers))
        b->readers[b->reader_count++] = new;
    else if (!b->readers[victim].is_async || new.is_async)
        b->readers[victim] = new;
}

static bool check_byte(Access *a, VgByte *b, uint32_t at) {
    if (!check_write(a, b, at))
        return false;
    if (!(a->how & VgAccess_Write)) {
        add_reader(a, b);
        return true;
    }
    if (!check_reads(a, b, at))
        return false;
    bool is_atomic = a->how & VgAccess_Atomic, is_async = a->how & VgAccess_Async;
    b->state =
        (uint8_t)(VgByte_Written | (is_atomic ? VgByte_Atomic : 0) | (is_async ? VgByte_Async : 0));
    b->write_time = a->time;
    b->write_actor = (uint16_t)a->actor;
    b->write_line = (uint16_t)a->x->inst->line;
    b->reader_count = 0;
    return true;
}

/* Neighbours mostly have the same past: its consequence is copied. */
static bool check_bytes(Access *a) {
    VgByte before = {0}, *after = NULL;
    for (uint32_t i = 0; i < a->bytes; i++) {
        VgByte *b = &a->cta->bytes[a->offset + i];
        if (after && memcmp(b, &before, sizeof before) == 0) {
            *b = *after;
            continue;
        }
        before = *b;
        if (!check_byte(a, b, a->offset + i))
            return false;
        after = a->is_same_value ? NULL : b;
        a->is_same_value = false;
    }
    return true;
}

bool vg_check_shared(VgRun *x, VgCta *cta, uint32_t offset, uint32_t bytes, uint32_t lane,
                     VgAccess how) {
    uint32_t thread = vg_thread(x->warp, lane);
    Access a = {.x = x, .cta = cta, .offset = offset, .bytes = bytes, .lane = lane, .how = how};
    a.actor = vg_actor(x->warp->cta, VgActor_Thread, thread);
    a.time = x->warp->cta->threads[thread].now;
    return check_bytes(&a);
}

bool vg_check_async(VgRun *x, VgCta *cta, uint32_t offset, uint32_t bytes, uint32_t lane,
                    VgAccess how, VgUnit unit) {
    Access a = {.x = x,
                .cta = cta,
                .offset = offset,
                .bytes = bytes,
                .lane = lane,
                .how = how,
                .actor = unit.actor,
                .time = unit.time};
    return check_bytes(&a);
}
