/* Interned names: an open-addressing set of symbols in an arena, at most half full. */
#include "core/str.h"

struct GpInterner {
    GpArena *arena;
    GpSymbol **slots;
    uint32_t count, cap; /* cap is a power of two */
};

#define FIRST_CAP 64u

GpInterner *gp_interner_make(GpArena *arena) {
    GpInterner *in = GP_NEW(arena, GpInterner);
    in->arena = arena;
    in->slots = GP_NEW_ARRAY(arena, GpSymbol *, FIRST_CAP);
    in->cap = FIRST_CAP;
    return in;
}

static bool is_symbol(const GpSymbol *sym, const char *at, size_t len, uint32_t hash) {
    return sym->hash == hash && sym->len == len && (len == 0 || memcmp(sym->name, at, len) == 0);
}

/* The slot of the name, or the empty one where it belongs. */
static GpSymbol **find_slot(GpInterner *in, const char *at, size_t len, uint32_t hash) {
    uint32_t i = hash & (in->cap - 1);
    while (in->slots[i] && !is_symbol(in->slots[i], at, len, hash))
        i = (i + 1) & (in->cap - 1);
    return &in->slots[i];
}

static void grow(GpInterner *in) {
    GpSymbol **old = in->slots;
    uint32_t old_cap = in->cap;
    if (old_cap > UINT32_C(1) << 30)
        gp_throw(gp_arena_session(in->arena), GpStatus_Limit);
    in->slots = GP_NEW_ARRAY(in->arena, GpSymbol *, (size_t)old_cap * 2);
    in->cap = old_cap * 2;
    for (uint32_t i = 0; i < old_cap; i++) {
        if (old[i])
            *find_slot(in, old[i]->name, old[i]->len, old[i]->hash) = old[i];
    }
}

GpSym gp_intern(GpInterner *in, const char *at, size_t len) {
    if (len > UINT32_MAX / 2)
        gp_throw(gp_arena_session(in->arena), GpStatus_Limit);
    uint32_t hash = gp_hash_bytes(at, len, 0);
    GpSymbol **slot = find_slot(in, at, len, hash);
    if (*slot)
        return *slot;
    if (in->count >= in->cap / 2) {
        grow(in);
        slot = find_slot(in, at, len, hash);
    }
    GpSymbol *sym = gp_arena_alloc(in->arena, sizeof(GpSymbol) + len + 1);
    sym->hash = hash;
    sym->len = (uint32_t)len;
    if (len)
        memcpy(sym->name, at, len);
    in->count++;
    return *slot = sym;
}

GpSym gp_intern_cstr(GpInterner *in, const char *name) { return gp_intern(in, name, strlen(name)); }
