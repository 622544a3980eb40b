/* Hashing, and the pointer-keyed map: open addressing with linear probes, at most three
** quarters full, no removal. The order of slots depends on addresses, so nothing that a user
** sees may come from walking one. */
#include "core/str.h"

uint32_t gp_hash_bytes(const void *at, size_t len, uint32_t seed) {
    const unsigned char *bytes = at;
    uint32_t hash = UINT32_C(2166136261) ^ seed;
    for (size_t i = 0; i < len; i++)
        hash = (hash ^ bytes[i]) * UINT32_C(16777619);
    return hash ^ (hash >> 15);
}

uint32_t gp_hash_u64(uint64_t value, uint32_t seed) {
    uint64_t mixed = (value ^ seed) * UINT64_C(0x9e3779b97f4a7c15);
    mixed ^= mixed >> 32;
    mixed *= UINT64_C(0xd6e8feb86659fd93);
    return (uint32_t)(mixed >> 32);
}

/* The slot of the key, or the empty one where it belongs. Requires cap > count. */
static struct GpMapSlot *find_slot(const GpMap *m, const void *key) {
    uint32_t i = gp_hash_u64((uintptr_t)key, 0) & (m->cap - 1);
    while (m->slots[i].key && m->slots[i].key != key)
        i = (i + 1) & (m->cap - 1);
    return &m->slots[i];
}

void *gp_map_get(const GpMap *m, const void *key) {
    return m->cap ? find_slot(m, key)->value : NULL;
}

bool gp_map_has(const GpMap *m, const void *key) {
    return m->cap && find_slot(m, key)->key != NULL;
}

static void grow(GpArena *arena, GpMap *m) {
    if (m->cap > UINT32_C(1) << 30)
        gp_throw(gp_arena_session(arena), GpStatus_Limit);
    GpMap wider = {.count = m->count, .cap = m->cap ? m->cap * 2 : 16};
    wider.slots = GP_NEW_ARRAY(arena, struct GpMapSlot, wider.cap);
    for (uint32_t i = 0; i < m->cap; i++) {
        if (m->slots[i].key)
            *find_slot(&wider, m->slots[i].key) = m->slots[i];
    }
    *m = wider;
}

void *gp_map_set(GpArena *arena, GpMap *m, const void *key, void *value) {
    gp_assert(key != NULL);
    if (m->count >= m->cap / 4 * 3)
        grow(arena, m);
    struct GpMapSlot *slot = find_slot(m, key);
    void *old = slot->value;
    if (!slot->key)
        m->count++;
    *slot = (struct GpMapSlot){key, value};
    return old;
}
