/* Arena: memory that is freed together, and the destructors that must run with it.
**
** A compile owns one arena; nothing in dsl/ or codegen/ frees by hand. Foreign objects
** (LLVM modules, builders) register a destructor: reserve the record first, create the
** object second, fill the record third, so that no exit path can leak it. */
#ifndef GP_ARENA_H
#define GP_ARENA_H

#include "core/session.h"

typedef struct GpArena GpArena;

typedef struct GpDeferred {
    void (*fn)(void *object); /* NULL: nothing to run */
    void *object;
    struct GpDeferred *next;
} GpDeferred;

/* Heap object; NULL when out of memory. */
GP_NODISCARD GpArena *gp_arena_new(GpSession *s);
/* Runs the deferred destructors, newest first, then frees everything. NULL is ignored. */
void gp_arena_free(GpArena *arena);
GpSession *gp_arena_session(const GpArena *arena);
size_t gp_arena_bytes(const GpArena *arena);

/* 16-byte aligned, zeroed. Throws GpStatus_NoMemory. size 0 gives a valid pointer. */
void *gp_arena_alloc(GpArena *arena, size_t size);
/* count * size with overflow check. */
void *gp_arena_alloc_array(GpArena *arena, size_t count, size_t size);
/* A copy of len bytes plus a final NUL. */
char *gp_arena_copy(GpArena *arena, const char *text, size_t len);
GP_PRINTF(2, 3) char *gp_arena_printf(GpArena *arena, const char *fmt, ...);
/* An empty destructor record; fill it after the object exists. Throws before, never after. */
GpDeferred *gp_arena_defer(GpArena *arena);

#define GP_NEW(arena, T) ((T *)gp_arena_alloc((arena), sizeof(T)))
#define GP_NEW_ARRAY(arena, T, count) ((T *)gp_arena_alloc_array((arena), (count), sizeof(T)))

/* Savepoints for scratch memory: open, use and restore in the same function. Destructors
** registered after the mark run at the restore. */
typedef struct GpMark {
    void *chunk;
    size_t used;
    GpDeferred *deferred;
} GpMark;
GpMark gp_arena_mark(GpArena *arena);
void gp_arena_restore(GpArena *arena, GpMark mark);

/* Growing array in an arena: GP_VEC(int) v = {0}; GP_PUSH(arena, &v, 3). Old storage stays
** in the arena until it goes, so growth doubles. */
#define GP_VEC(T)                                                                                  \
    struct {                                                                                       \
        T *at;                                                                                     \
        uint32_t len, cap;                                                                         \
    }
#define GP_PUSH(arena, vec, value)                                                                 \
    (((vec)->len == (vec)->cap                                                                     \
          ? (void)((vec)->at = gp_arena_grow((arena), (vec)->at, &(vec)->cap, sizeof(*(vec)->at))) \
          : (void)0),                                                                              \
     (vec)->at[(vec)->len++] = (value))
/* Doubles an array of *cap elements; throws on overflow of 2^31 elements. */
void *gp_arena_grow(GpArena *arena, void *at, uint32_t *cap, size_t size);

#endif
