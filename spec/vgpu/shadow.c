/* Who wrote and who read each byte of shared memory, and whether an access comes behind theirs.
**
** The last write and up to three reads since it are kept; a read that another follows in the
** order of events is replaced by that, else one of a thread goes: a race may be missed then, none
*is
** made up. Two writes of the same value are no race: threads that hold the same element of a tile
** all store it. */
#include "spec/vgpu/vgpu.h"

typedef struct Access {
    VgRun *x;
    const VgTouch *t;
    bool is_same_value; /* the last byte was written by two with the same value */
} Access;

/* Somebody's action on the same byte. */
typedef struct Other {
    uint32_t actor, line;
    const char *did;
} Other;

/* Is what the actor did by `time` over for the thread? The asynchronous proxy sees the writes of
** threads only behind a fence. */
static bool is_before(const Access *a, uint32_t actor, uint32_t time, bool needs_fence) {
    const VgWarp *w = a->x->warp;
    const VgThread *t = &w->cta->threads[vg_thread(w, a->t->lane)];
    bool is_own = actor == vg_actor(w->cta, VgActor_Thread, vg_thread(w, a->t->lane));
    if (needs_fence)
        return is_own ? t->fenced_at >= time : t->fenced->at[actor] >= time;
    return is_own || t->seen->at[actor] >= time;
}

static bool report(const Access *a, uint32_t at, const Other *o, bool is_fence) {
    char who[VG_ACTOR_TEXT];
    const char *does = a->t->how & VgAccess_Write ? "writes" : "reads";
    vg_describe_actor(a->x->launch, o->actor, who, sizeof who);
    (void)vg_fault(a->x, VG_FAILED, (int)a->t->lane,
                   is_fence
                       ? "%s shared memory at %#x through the asynchronous proxy; %s %s it at PTX "
                         "line %u with no fence.proxy.async in between"
                       : "data race: %s shared memory at %#x, which %s %s at PTX line %u; "
                         "nothing orders the two",
                   does, at, who, o->did, o->line);
    return false;
}

static bool has_same_value(const Access *a, uint32_t at) {
    const uint8_t *stored = a->x->stored;
    return (a->t->how & VgAccess_Write) && !(a->t->how & VgAccess_Async) && stored &&
           stored[at - a->t->offset] == a->t->cta->shared[at];
}

static bool check_write(Access *a, const VgByte *b, uint32_t at) {
    Other writer = {b->write_actor, b->write_line, "wrote"};
    if (!(b->state & VgByte_Written)) {
        if (a->t->how & VgAccess_Write)
            return true;
        (void)vg_fault(a->x, VG_FAILED, (int)a->t->lane,
                       "reads shared memory at %#x, which nobody wrote", at);
        return false;
    }
    if ((b->state & VgByte_Atomic) && (a->t->how & VgAccess_Atomic))
        return true;
    bool is_ordered = is_before(a, b->write_actor, b->write_time, false);
    a->is_same_value = !is_ordered && has_same_value(a, at);
    if (!is_ordered && !a->is_same_value)
        return report(a, at, &writer, false);
    bool needs_fence = (a->t->how & VgAccess_Async) && !(b->state & VgByte_Async);
    if (needs_fence && !is_before(a, b->write_actor, b->write_time, true))
        return report(a, at, &writer, true);
    return true;
}

static bool check_reads(const Access *a, const VgByte *b, uint32_t at) {
    if ((b->state & VgByte_Atomic) && (a->t->how & VgAccess_Atomic))
        return true;
    for (uint32_t i = 0; i < b->reader_count; i++) {
        const VgReader *r = &b->readers[i];
        Other reader = {r->actor, r->line, "reads"};
        if (!is_before(a, r->actor, r->time, false))
            return report(a, at, &reader, false);
    }
    return true;
}

static void put_reader(const Access *a, VgByte *b, uint32_t i) {
    b->readers[i] =
        (VgReader){a->t->unit.time, (uint16_t)a->t->unit.actor, (uint16_t)a->x->inst->line};
    b->async_readers &= (uint8_t) ~(1u << i);
    b->async_readers |= (uint8_t)((a->t->how & VgAccess_Async ? 1u : 0u) << i);
}

static void add_reader(const Access *a, VgByte *b) {
    uint32_t thread = 0; /* a reader that is one */
    for (uint32_t i = 0; i < b->reader_count; i++) {
        const VgReader *r = &b->readers[i];
        if (r->actor == a->t->unit.actor || is_before(a, r->actor, r->time, false)) {
            put_reader(a, b, i);
            return;
        }
        if (b->async_readers >> thread & 1)
            thread = i;
    }
    if (b->reader_count < GP_COUNT(b->readers))
        put_reader(a, b, b->reader_count++);
    else if (!(b->async_readers >> thread & 1) || (a->t->how & VgAccess_Async))
        put_reader(a, b, thread);
}

static bool check_byte(Access *a, VgByte *b, uint32_t at) {
    int how = a->t->how;
    if (!check_write(a, b, at))
        return false;
    if (!(how & VgAccess_Write)) {
        add_reader(a, b);
        return true;
    }
    if (!check_reads(a, b, at))
        return false;
    *b = (VgByte){.write_time = a->t->unit.time,
                  .write_actor = (uint16_t)a->t->unit.actor,
                  .write_line = (uint16_t)a->x->inst->line,
                  .state = (uint8_t)(VgByte_Written | (how & VgAccess_Atomic ? VgByte_Atomic : 0) |
                                     (how & VgAccess_Async ? VgByte_Async : 0))};
    return true;
}

VgUnit vg_thread_unit(const VgRun *x, uint32_t lane) {
    uint32_t thread = vg_thread(x->warp, lane);
    return (VgUnit){vg_actor(x->warp->cta, VgActor_Thread, thread),
                    x->warp->cta->threads[thread].now};
}

/* Neighbours mostly have the same past: its consequence is copied. */
bool vg_check_shared(VgRun *x, const VgTouch *t) {
    Access a = {.x = x, .t = t};
    VgByte before = {0}, *after = NULL;
    if (!vg_visit(x, t->cta, t->unit, t->lane))
        return false;
    for (uint32_t i = 0; i < t->bytes; i++) {
        VgByte *b = &t->cta->bytes[t->offset + i];
        if (after && memcmp(b, &before, sizeof before) == 0) {
            *b = *after;
            continue;
        }
        before = *b;
        if (!check_byte(&a, b, t->offset + i))
            return false;
        after = a.is_same_value ? NULL : b;
        a.is_same_value = false;
    }
    return true;
}
