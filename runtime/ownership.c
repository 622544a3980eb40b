/* Who may use a storage now.
**
** The state (owned, partitioned, moved, freed; frozen beside it) and the loans live with the
** storage, so all handles, Lua and the C API get one answer. Only ops that were made and not
** enqueued hold loans: what is enqueued is ordered by streams and never conflicts. What is said
** to whoever may not is in ownership_report.c. */
#include "runtime/internal.h"

static bool is_writing(GpVerb verb) { return verb != GpVerb_Read && verb != GpVerb_Drop; }

static bool is_conflicting(const GpLoan *loan, const GpRequest *q) {
    if (loan->access == GpAccess_Move || gp_verb_is_move(q->verb))
        return true;
    if (loan->access == GpAccess_Read && q->verb == GpVerb_Read)
        return false;
    return gp_tensor_overlaps(loan->tensor, q->tensor);
}

/* The part of the answer that is the storage's own: what no loan can change. */
static GpConflict find_state_conflict(const GpRequest *q) {
    const GpStorage *st = q->tensor->storage;
    if (q->via && q->via->is_ended)
        return GpConflict_Ended;
    switch (st->state) {
    case GpOwn_Freed:
        return GpConflict_Freed;
    case GpOwn_Moved:
        return GpConflict_Moved;
    case GpOwn_Partitioned:
        return q->via && st->owner == q->via ? GpConflict_None : GpConflict_Partitioned;
    case GpOwn_Owned:
        return GpConflict_None;
    }
    gp_unreachable();
}

static GpConflict find_conflict(const GpRequest *q, const GpLoan **loan) {
    const GpStorage *st = q->tensor->storage;
    *loan = NULL;
    GpConflict conflict = find_state_conflict(q);
    if (conflict != GpConflict_None)
        return conflict;
    if (st->is_frozen && is_writing(q->verb))
        return GpConflict_Frozen;
    if (gp_verb_is_move(q->verb) && !q->tensor->is_whole)
        return GpConflict_Part;
    /* The newest loan is the first in the list: the line nearest to the mistake. */
    for (*loan = st->loans; *loan; *loan = (*loan)->next) {
        if (is_conflicting(*loan, q))
            return GpConflict_Loan;
    }
    return GpConflict_None;
}

/* No verdict depends on the collector: the other side may be garbage. */
static bool is_collectable(GpConflict conflict) {
    return conflict == GpConflict_Partitioned || conflict == GpConflict_Loan;
}

static bool collect(const GpRuntime *rt) {
    if (rt->hooks.collect)
        rt->hooks.collect(rt->hooks.ud);
    return rt->hooks.collect != NULL;
}

GpStatus gp_own_check(const GpRequest *q, GpDiags *diags) {
    const GpStorage *st = q->tensor->storage;
    if (GP_LIKELY(gp_own_is_plain(q->tensor, q->via, gp_verb_is_move(q->verb))))
        return GpStatus_Ok;
    const GpLoan *loan;
    GpConflict conflict = find_conflict(q, &loan);
    if (is_collectable(conflict) && collect(st->device->rt))
        conflict = find_conflict(q, &loan);
    return conflict == GpConflict_None ? GpStatus_Ok : gp_own_report(q, conflict, loan, diags);
}

bool gp_own_is_clear(const GpRequest *q) {
    const GpLoan *loan;
    return find_conflict(q, &loan) == GpConflict_None;
}

GpStatus gp_own_check_alive(GpTensor *t, GpSite site, GpDiags *diags) {
    GpRequest q = {.tensor = t, .verb = GpVerb_Read, .site = site};
    GpConflict conflict = find_state_conflict(&q);
    if (is_collectable(conflict) && collect(t->storage->device->rt))
        conflict = find_state_conflict(&q);
    return conflict == GpConflict_None ? GpStatus_Ok : gp_own_report(&q, conflict, NULL, diags);
}

void gp_own_take(GpStorage *st, GpSite site) {
    st->state = GpOwn_Moved;
    st->state_at = site;
    st->state_by = NULL;
    st->owner = NULL;
}

GpStatus gp_tensor_check(GpTensor *t, GpAccess access, GpSite site, GpDiags *diags) {
    return gp_own_check(
        &(GpRequest){.tensor = t, .verb = gp_verb_of(access), .site = site}, diags);
}

GpStatus gp_tensor_drop(GpTensor *t, GpSite site, GpDiags *diags) {
    GpStorage *st = t->storage;
    if (st->state == GpOwn_Freed)
        return GpStatus_Ok;
    GpStatus status =
        gp_own_check(&(GpRequest){.tensor = t, .verb = GpVerb_Drop, .site = site}, diags);
    if (status != GpStatus_Ok)
        return status;
    st->state = GpOwn_Freed;
    st->state_at = site;
    st->state_by = "free";
    gp_storage_free_memory(st);
    return GpStatus_Ok;
}

GpStatus gp_tensor_freeze(GpTensor *t, GpSite site, GpDiags *diags) {
    GpStorage *st = t->storage;
    GpStatus status =
        gp_own_check(&(GpRequest){.tensor = t, .verb = GpVerb_Read, .site = site}, diags);
    if (status != GpStatus_Ok || st->is_frozen)
        return status;
    st->is_frozen = true;
    st->frozen_at = site;
    return GpStatus_Ok;
}

bool gp_tensor_is_frozen(const GpTensor *t) { return t->storage->is_frozen; }
