/* Mailboxes: how a failed check in a kernel reaches the host.
**
** A launch of a kernel with check sites owns a slot with a mailbox in memory that both sides
** see. When the launch is known to be done the slot is looked at: a failure is copied out and
** stored with every storage that the launch wrote, until that is overwritten whole; then the
** slot is free again. Nothing here waits, except that a stream with very many launches in
** flight is waited for when slots run out. */
#include <stdio.h>

#include "runtime/internal.h"

#define CHUNK_SLOTS 1024
#define MAX_SLOTS (16 * CHUNK_SLOTS)
#define INLINE_WRITTEN 6

struct GpSlot {
    GpSlot *next;
    GpDevice *device;
    GpMailbox *box;
    uint64_t address; /* of the mailbox, for the device */
    uint32_t refs;    /* the list of outstanding slots, and ops that will ask */
    GpExec *exec;
    GpSite site;
    GpUse use;
    uint64_t launch; /* number of the launch in the runtime */
    GpFailure *failure;
    GpStorage *written[INLINE_WRITTEN];
    GpStorage **more; /* a heap array for a launch with more of them */
    uint32_t written_count, more_cap;
};

typedef struct GpSlotChunk {
    struct GpSlotChunk *next;
    GpMailbox *boxes;
    GpSlot slots[CHUNK_SLOTS];
} GpSlotChunk;

static bool add_chunk(GpDevice *d) {
    GpSlotChunk *chunk = GP_TRY_NEW(d->rt->session, GpSlotChunk);
    if (!chunk)
        return false;
    uint64_t address;
    chunk->boxes = d->ops->shared_alloc(d, sizeof(GpMailbox) * CHUNK_SLOTS, &address);
    if (!chunk->boxes) {
        gp_free(d->rt->session, chunk, sizeof *chunk);
        return false;
    }
    memset(chunk->boxes, 0, sizeof(GpMailbox) * CHUNK_SLOTS);
    chunk->next = d->slot_chunks;
    d->slot_chunks = chunk;
    d->slot_count += CHUNK_SLOTS;
    for (uint32_t i = 0; i < CHUNK_SLOTS; i++) {
        chunk->slots[i] = (GpSlot){.next = d->free_slots,
                                   .device = d,
                                   .box = &chunk->boxes[i],
                                   .address = address + i * sizeof(GpMailbox)};
        d->free_slots = &chunk->slots[i];
    }
    return true;
}

void gp_slots_free(GpDevice *d) {
    while (d->slot_chunks) {
        GpSlotChunk *chunk = d->slot_chunks;
        d->slot_chunks = chunk->next;
        d->ops->shared_free(d, chunk->boxes, sizeof(GpMailbox) * CHUNK_SLOTS);
        gp_free(d->rt->session, chunk, sizeof *chunk);
    }
    d->free_slots = NULL;
}

/* Free slots by finding done launches, then by more memory, then by waiting. */
static bool find_slots(GpStream *s, GpDiags *diags) {
    GpDevice *d = s->device;
    for (GpStream *other = d->streams; other; other = other->next) {
        GpSlot *first = other->outstanding.first;
        if (first && gp_use_poll(first->use))
            gp_stream_reap(other);
    }
    if (d->free_slots)
        return true;
    if (d->slot_count < MAX_SLOTS && add_chunk(d))
        return true;
    for (GpStream *other = d->streams; other && !d->free_slots; other = other->next) {
        if (other->outstanding.first && gp_stream_wait(other, diags) != GpStatus_Ok)
            return false;
    }
    return d->free_slots != NULL;
}

GpSlot *gp_slot_take(GpStream *s, GpDiags *diags) {
    GpDevice *d = s->device;
    if (GP_UNLIKELY(!d->free_slots) && !find_slots(s, diags))
        return NULL;
    GpSlot *slot = d->free_slots;
    d->free_slots = slot->next;
    slot->next = NULL;
    slot->refs = 1;
    return slot;
}

uint64_t gp_slot_address(const GpSlot *slot) { return slot->address; }

static GpStorage **written_at(GpSlot *slot, uint32_t i) {
    return i < INLINE_WRITTEN ? &slot->written[i] : &slot->more[i - INLINE_WRITTEN];
}

bool gp_slot_add_written(GpSlot *slot, GpStorage *st) {
    uint32_t extra = slot->written_count - INLINE_WRITTEN;
    if (slot->written_count >= INLINE_WRITTEN && extra == slot->more_cap) {
        uint32_t cap = GP_MAX(slot->more_cap * 2, UINT32_C(8));
        GpStorage **more =
            gp_try_realloc(slot->device->rt->session, slot->more,
                           slot->more_cap * sizeof *more, cap * sizeof *more);
        if (!more)
            return false;
        slot->more = more;
        slot->more_cap = cap;
    }
    gp_storage_pin(st);
    *written_at(slot, slot->written_count++) = st;
    return true;
}

static void let_written_go(GpSlot *slot) {
    GpSession *s = slot->device->rt->session;
    uint32_t count = slot->written_count;
    slot->written_count = 0;
    for (uint32_t i = 0; i < count; i++)
        gp_storage_unpin(*written_at(slot, i));
    if (slot->more)
        gp_free(s, slot->more, slot->more_cap * sizeof *slot->more);
    slot->more = NULL;
    slot->more_cap = 0;
}

void gp_slot_enqueued(GpSlot *slot, GpExec *exec, GpSite site, GpUse use) {
    slot->exec = gp_exec_retain(exec);
    slot->site = site;
    slot->use = use;
    slot->launch = slot->device->rt->launches;
    slot->refs++; /* the list's */
    GpSlotList *list = &use.stream->outstanding;
    if (list->last) {
        list->last->next = slot;
    } else {
        list->first = slot;
    }
    list->last = slot;
}

/* Out of the list; a slot that is enqueued again stands near its head. */
static void unlist(GpSlot *slot) {
    GpSlotList *list = &slot->use.stream->outstanding;
    GpSlot *before = NULL;
    for (GpSlot *at = list->first; at != slot; at = at->next)
        before = at;
    if (before) {
        before->next = slot->next;
    } else {
        list->first = slot->next;
    }
    if (list->last == slot)
        list->last = before;
    slot->next = NULL;
    slot->refs--;
    GpExec *exec = slot->exec;
    slot->exec = NULL;
    gp_exec_release(exec);
}

bool gp_slot_arm(GpSlot *slot, const GpRunRequest *r) {
    bool is_outstanding = slot->exec != NULL;
    if (is_outstanding)
        unlist(slot);
    if (slot->failure)
        gp_failure_release(slot->failure, slot->device->rt->session);
    slot->failure = NULL;
    for (uint32_t i = 0; i < r->arg_count && !is_outstanding; i++) {
        const GpRunArg *arg = &r->args[i];
        if (arg->tensor && arg->access != GpAccess_Read &&
            !gp_slot_add_written(slot, arg->tensor->storage)) {
            let_written_go(slot);
            return false;
        }
    }
    return true;
}

void gp_slot_disarm(GpSlot *slot) {
    if (!slot->exec)
        let_written_go(slot);
    gp_slot_release(slot);
}

void gp_slot_release(GpSlot *slot) {
    if (!slot || --slot->refs != 0)
        return;
    GpDevice *d = slot->device;
    if (slot->failure)
        gp_failure_release(slot->failure, d->rt->session);
    slot->failure = NULL;
    slot->next = d->free_slots;
    d->free_slots = slot;
}

void gp_slot_cancel(GpSlot *slot) {
    let_written_go(slot);
    gp_slot_release(slot);
}

GpFailure *gp_slot_failure(const GpSlot *slot) { return slot->failure; }

void gp_failure_release(GpFailure *f, GpSession *s) {
    if (--f->refs != 0)
        return;
    gp_exec_release(f->exec);
    gp_free(s, f, sizeof *f);
}

static GpFailure *share(GpFailure *f) {
    f->refs++;
    return f;
}

static void store_failure(GpSlot *slot, GpStream *s) {
    GpFailure *f = GP_TRY_NEW(slot->device->rt->session, GpFailure);
    if (!f)
        return; /* out of host memory; the next allocation of the user says so */
    *f = (GpFailure){
        .refs = 1, .exec = gp_exec_retain(slot->exec), .site = slot->site, .box = *slot->box};
    slot->failure = f;
    if (s->failure && s->failure->is_raised) { /* by another wait: nobody is owed it any more */
        gp_failure_release(s->failure, slot->device->rt->session);
        s->failure = NULL;
    }
    if (!s->failure)
        s->failure = share(f);
    for (uint32_t i = 0; i < slot->written_count; i++) {
        GpStorage *st = *written_at(slot, i);
        if (!st->failure && slot->launch > st->clean_launch)
            st->failure = share(f);
    }
}

/* State 1 means that a thread ended between claiming the mailbox and filling it in. */
static void look_at(GpSlot *slot, GpStream *s) {
    GpDevice *d = slot->device;
    uint32_t state = __atomic_load_n(&slot->box->state, __ATOMIC_ACQUIRE);
    if (state != 0 && d->lost == GpStatus_Ok)
        store_failure(slot, s);
    if (state != 0)
        memset(slot->box, 0, sizeof *slot->box);
    let_written_go(slot);
    GpExec *exec = slot->exec;
    slot->exec = NULL;
    gp_exec_release(exec);
}

void gp_stream_reap(GpStream *s) {
    GpSlotList *list = &s->outstanding;
    while (list->first && gp_use_is_done(list->first->use)) {
        GpSlot *slot = list->first;
        list->first = slot->next;
        if (!list->first)
            list->last = NULL;
        slot->next = NULL;
        look_at(slot, s);
        gp_slot_release(slot);
    }
}

/* ---- The message ------------------------------------------------------------------------ */

static GpDiag *report_title(const GpFailure *f, const GpCheckSite *site, GpSpan at,
                            GpDiags *diags) {
    char value[32], limit[32], axis[8];
    snprintf(value, sizeof value, "%lld", (long long)f->box.value);
    snprintf(limit, sizeof limit, "%lld", (long long)f->box.limit);
    snprintf(axis, sizeof axis, "%d", site->axis);
    switch (site->kind) {
    case GpCheck_Index:
        return gp_diag(diags, GpDiag_G0401, at, limit, value);
    case GpCheck_Tile:
        return gp_diag(diags, GpDiag_G0402, at, limit, axis, value);
    case GpCheck_Divide:
        return gp_diag(diags, GpDiag_G0403, at);
    case GpCheck_Require:
        return gp_diag(diags, GpDiag_G0405, at, site->what ? site->what : "what it relies on");
    case GpCheck_Assert:
        return gp_diag(diags, GpDiag_G0404, at, site->what ? site->what : "assertion failed");
    }
    gp_unreachable();
}

static void note_thread(GpDiag *d, const GpFailure *f) {
    const GpMailbox *b = &f->box;
    if (f->exec->image->threads) {
        gp_note(d, "in kernel `%s`, block (%u, %u, %u)", f->exec->image->name, b->block[0],
                b->block[1], b->block[2]);
    } else {
        gp_note(d, "in kernel `%s`, block (%u, %u, %u), thread (%u, %u, %u)",
                f->exec->image->name, b->block[0], b->block[1], b->block[2], b->thread[0],
                b->thread[1], b->thread[2]);
    }
}

GpStatus gp_failure_raise(GpFailure *f, GpDiags *diags) {
    f->is_raised = true;
    GpRuntime *rt = f->exec->device->rt;
    const GpImage *image = f->exec->image;
    GpSpan launched = gp_site_span(rt, f->site);
    static const GpCheckSite unknown = {.kind = GpCheck_Assert, .what = "a check failed"};
    const GpCheckSite *site =
        f->box.site < image->site_count ? &image->sites[f->box.site] : &unknown;
    GpSpan at = rt->hooks.locate && site->place.file
                    ? rt->hooks.locate(rt->hooks.ud, site)
                    : GP_NO_SPAN;
    GpDiag *d = report_title(f, site, at.src ? at : launched, diags);
    if (site->kind == GpCheck_Require)
        gp_primary_label(d, "%lld is given, and there are %lld", (long long)f->box.value,
                         (long long)f->box.limit);
    if (at.src) {
        if (site->what && site->kind != GpCheck_Assert && site->kind != GpCheck_Require)
            gp_primary_label(d, "`%s`", site->what);
        if (launched.src)
            gp_note_at(d, launched, "in this launch");
    } else if (site->place.file) {
        gp_note(d, "at %s:%u:%u%s%s%s", site->place.file, site->place.line, site->place.column,
                site->what ? ": `" : "", site->what ? site->what : "", site->what ? "`" : "");
    }
    note_thread(d, f);
    gp_note(d, "what the launch wrote counts as failed until it is overwritten whole");
    return GpStatus_Diagnostics;
}
