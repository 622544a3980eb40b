/* Strings: slices, a growing buffer, interned symbols and a symbol-keyed map. */
#ifndef GP_STR_H
#define GP_STR_H

#include <stdarg.h>

#include "core/arena.h"

typedef struct GpStr {
    const char *at; /* not NUL-terminated */
    size_t len;
} GpStr;
#define GP_STR(literal) ((GpStr){(literal), sizeof(literal) - 1})
bool gp_str_eq(GpStr a, GpStr b);
GpStr gp_str_from(const char *cstr);
/* Edits between two names, a swap of neighbours counting as one; UINT32_MAX for names of more than
** 64 bytes. */
uint32_t gp_str_distance(GpStr a, GpStr b);

/* Text being built, on the heap of a session. Out of memory sets `failed` and keeps what was
** there: text is built where nothing may throw (rendering an error). Start from
** {.session = s}. `at` is NUL-terminated once anything was added, else NULL. */
typedef struct GpText {
    GpSession *session;
    char *at;
    size_t len, cap;
    bool failed;
} GpText;
void gp_text_add(GpText *t, const char *at, size_t len);
void gp_text_puts(GpText *t, const char *cstr);
void gp_text_pad(GpText *t, char c, int count); /* count <= 0 adds nothing */
GP_PRINTF(2, 3) void gp_text_printf(GpText *t, const char *fmt, ...);
void gp_text_vprintf(GpText *t, const char *fmt, va_list args);
const char *gp_text_cstr(const GpText *t); /* never NULL */
void gp_text_free(GpText *t);

/* What a noun of so many takes: "" or "s". */
static inline const char *gp_plural(int64_t n) { return n == 1 ? "" : "s"; }

/* A symbol: equal names are the same pointer within one interner. */
typedef struct GpSymbol {
    uint32_t hash, len;
    char name[]; /* NUL-terminated */
} GpSymbol;
typedef const GpSymbol *GpSym;

typedef struct GpInterner GpInterner;
GpInterner *gp_interner_make(GpArena *arena);
GpSym gp_intern(GpInterner *in, const char *at, size_t len);
GpSym gp_intern_cstr(GpInterner *in, const char *name);

/* Open-addressing map from a pointer key (a GpSym, a hash-consed type) to a pointer.
** Zero-initialised is empty. NULL keys are not allowed; NULL values are. */
typedef struct GpMap {
    struct GpMapSlot {
        const void *key;
        void *value;
    } *slots;
    uint32_t count, cap;
} GpMap;
void *gp_map_get(const GpMap *m, const void *key); /* NULL when absent */
bool gp_map_has(const GpMap *m, const void *key);
/* Sets key to value; returns the slot's old value or NULL. */
void *gp_map_set(GpArena *arena, GpMap *m, const void *key, void *value);

/* FNV-1a style mixing for hash-consing; not for untrusted table keys outside a compile. */
uint32_t gp_hash_bytes(const void *at, size_t len, uint32_t seed);
uint32_t gp_hash_u64(uint64_t value, uint32_t seed);

#endif
