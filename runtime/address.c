/* Which storage an address belongs to: those of a device that have memory, as a tree by address. Live
** memory does not overlap, so only the last storage that begins before the end of a range can have
** some of it.
**
** The tree is a treap: in order of address from left to right, and of rank from the root down, where
** ranks are hashes, so that its depth is logarithmic whatever comes and goes. It lies in the storages:
** nothing in it can run out of memory. */
#include "runtime/internal.h"

static uint32_t rank(const GpStorage *st) { return gp_hash_u64(st->address, 0); }

/* A total order, also where a lender took back memory that is still borrowed, and it was lent again. */
static bool is_before(const GpStorage *a, const GpStorage *b) {
    return a->address != b->address ? a->address < b->address : (uintptr_t)a < (uintptr_t)b;
}

static GpStorage **side_of(GpStorage *at, const GpStorage *st) {
    return is_before(st, at) ? &at->lower : &at->higher;
}

void gp_storage_place(GpStorage *st, uint64_t address, uint64_t bytes) {
    st->address = address;
    st->bytes = bytes;
    if (!bytes)
        return;
    GpStorage **at = &st->device->placed, **lower = &st->lower, **higher = &st->higher;
    while (*at && rank(*at) >= rank(st))
        at = side_of(*at, st);
    GpStorage *rest = *at;
    *at = st;
    while (rest) { /* what was here goes to its two sides */
        if (is_before(rest, st)) {
            *lower = rest;
            lower = &rest->higher;
            rest = rest->higher;
        } else {
            *higher = rest;
            higher = &rest->lower;
            rest = rest->lower;
        }
    }
    *lower = *higher = NULL;
}

void gp_storage_unplace(GpStorage *st) {
    if (st->bytes) {
        GpStorage **at = &st->device->placed, *lower = st->lower, *higher = st->higher;
        while (*at != st)
            at = side_of(*at, st);
        while (lower && higher) {
            if (rank(lower) >= rank(higher)) {
                *at = lower;
                at = &lower->higher;
                lower = lower->higher;
            } else {
                *at = higher;
                at = &higher->lower;
                higher = higher->lower;
            }
        }
        *at = lower ? lower : higher;
    }
    st->address = 0;
    st->bytes = 0;
}

const GpStorage *gp_storage_at(const GpDevice *d, uint64_t first, uint64_t bytes) {
    const GpStorage *last = NULL;
    for (const GpStorage *st = d->placed; st;) {
        bool begins_before = st->address < first + bytes;
        last = begins_before ? st : last;
        st = begins_before ? st->higher : st->lower;
    }
    return last && first < last->address + last->bytes ? last : NULL;
}
