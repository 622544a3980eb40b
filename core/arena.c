/* Arena: a stack of chunks, filled by moving a mark upwards.
**
** Invariant: the newest chunk is the only one that is allocated from, so a savepoint is one
** position, and restoring it frees exactly the chunks that came later. */
#include "core/arena.h"

#include <stdio.h>

#include "core/str.h"

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define HAS_ASAN 1
#endif
#elif defined(__SANITIZE_ADDRESS__)
#define HAS_ASAN 1
#endif

/* Under AddressSanitizer only what was handed out is accessible, and pieces do not touch. */
#ifdef HAS_ASAN
#include <sanitizer/asan_interface.h>
#define REDZONE        16
#define hide(at, size) __asan_poison_memory_region((at), (size))
#define show(at, size) __asan_unpoison_memory_region((at), (size))
#else
#define REDZONE        0
#define hide(at, size) ((void)(at), (void)(size))
#define show(at, size) ((void)(at), (void)(size))
#endif

#define ALIGN         16
#define FIRST_CHUNK   ((size_t)4096)
#define LARGEST_CHUNK ((size_t)1 << 20) /* growth stops here; larger requests get their own */

typedef struct Chunk {
    struct Chunk *older;
    size_t size; /* of the whole block, header included */
    size_t used; /* header included */
} Chunk;

#define HEADER ((sizeof(Chunk) + ALIGN - 1) & ~(size_t)(ALIGN - 1))

struct GpArena {
    GpSession *session;
    Chunk *newest;
    GpDeferred *deferred; /* newest first */
    size_t bytes;         /* of all chunks */
    size_t next_size;
};

GpArena *gp_arena_new(GpSession *s) {
    GpArena *arena = GP_TRY_NEW(s, GpArena);
    if (!arena)
        return NULL;
    arena->session = s;
    arena->next_size = FIRST_CHUNK;
    return arena;
}

/* Records lie in chunks, so destructors run before the chunks they lie in go. */
static void run_deferred(GpArena *arena, GpDeferred *until) {
    while (arena->deferred != until) {
        GpDeferred *record = arena->deferred;
        arena->deferred = record->next;
        if (record->fn)
            record->fn(record->object);
    }
}

static void free_chunks(GpArena *arena, Chunk *until) {
    while (arena->newest != until) {
        Chunk *chunk = arena->newest;
        arena->newest = chunk->older;
        arena->bytes -= chunk->size;
        show(chunk, chunk->size);
        gp_free(arena->session, chunk, chunk->size);
    }
}

void gp_arena_free(GpArena *arena) {
    if (!arena)
        return;
    run_deferred(arena, NULL);
    free_chunks(arena, NULL);
    gp_free(arena->session, arena, sizeof *arena);
}

GpSession *gp_arena_session(const GpArena *arena) { return arena->session; }
size_t gp_arena_bytes(const GpArena *arena) { return arena->bytes; }

static void add_chunk(GpArena *arena, size_t need) {
    size_t size = GP_MAX(arena->next_size, HEADER + need);
    Chunk *chunk = gp_realloc(arena->session, NULL, 0, size);
    *chunk = (Chunk){.older = arena->newest, .size = size, .used = HEADER};
    hide((char *)chunk + HEADER, size - HEADER);
    arena->newest = chunk;
    arena->bytes += size;
    arena->next_size = GP_MIN(arena->next_size * 2, LARGEST_CHUNK);
}

void *gp_arena_alloc(GpArena *arena, size_t size) {
    if (size > SIZE_MAX / 2)
        gp_throw(arena->session, GpStatus_NoMemory);
    size_t need = (size_t)gp_align_up(size ? size : 1, ALIGN) + REDZONE;
    if (!arena->newest || arena->newest->size - arena->newest->used < need)
        add_chunk(arena, need);
    char *at = (char *)arena->newest + arena->newest->used;
    arena->newest->used += need;
    show(at, size);
    return memset(at, 0, size);
}

void *gp_arena_alloc_array(GpArena *arena, size_t count, size_t size) {
    if (size != 0 && count > SIZE_MAX / 2 / size)
        gp_throw(arena->session, GpStatus_NoMemory);
    return gp_arena_alloc(arena, count * size);
}

char *gp_arena_copy(GpArena *arena, const char *text, size_t len) {
    if (len > SIZE_MAX / 2)
        gp_throw(arena->session, GpStatus_NoMemory);
    char *copy = gp_arena_alloc(arena, len + 1);
    if (len)
        memcpy(copy, text, len);
    return copy;
}

char *gp_arena_printf(GpArena *arena, const char *fmt, ...) {
    va_list args, again;
    va_start(args, fmt);
    va_copy(again, args);
    int len = vsnprintf(NULL, 0, fmt, args);
    va_end(args);
    gp_assert(len >= 0);
    char *text = gp_arena_alloc(arena, (size_t)len + 1);
    vsnprintf(text, (size_t)len + 1, fmt, again);
    va_end(again);
    return text;
}

GpDeferred *gp_arena_defer(GpArena *arena) {
    GpDeferred *record = GP_NEW(arena, GpDeferred);
    record->next = arena->deferred;
    arena->deferred = record;
    return record;
}

GpMark gp_arena_mark(GpArena *arena) {
    Chunk *chunk = arena->newest;
    return (GpMark){chunk, chunk ? chunk->used : 0, arena->deferred};
}

void gp_arena_restore(GpArena *arena, GpMark mark) {
    run_deferred(arena, mark.deferred);
    free_chunks(arena, mark.chunk);
    if (!arena->newest)
        return;
    hide((char *)arena->newest + mark.used, arena->newest->used - mark.used);
    arena->newest->used = mark.used;
}

void *gp_arena_grow(GpArena *arena, void *at, uint32_t *cap, size_t size) {
    if (*cap > UINT32_C(1) << 30)
        gp_throw(arena->session, GpStatus_Limit);
    uint32_t wider = *cap ? *cap * 2 : 8;
    void *fresh = gp_arena_alloc_array(arena, wider, size);
    if (*cap)
        memcpy(fresh, at, *cap * size);
    *cap = wider;
    return fresh;
}
