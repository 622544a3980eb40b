/* The session: allocator with its accounting and test failure, hooks, log. */
#include "core/session.h"

#include <stdatomic.h>
#include <stdlib.h>

#include "core/str.h"

static void *alloc_with_libc(void *ud, void *ptr, size_t old_size, size_t new_size) {
    (void)ud;
    (void)old_size;
    if (new_size == 0) {
        free(ptr);
        return NULL;
    }
    return realloc(ptr, new_size);
}

void gp_session_init(GpSession *s, GpAllocFn alloc, void *alloc_ud, const GpHooks *hooks) {
    *s = (GpSession){.alloc = alloc ? alloc : alloc_with_libc, .alloc_ud = alloc_ud};
    if (hooks)
        s->hooks = *hooks;
}

/* True when this allocation is the one that a test wants to fail. */
static bool is_failing_now(GpSession *s) { return s->fail_at != 0 && --s->fail_at == 0; }

void *gp_try_realloc(GpSession *s, void *ptr, size_t old_size, size_t new_size) {
    if (new_size == 0) {
        gp_free(s, ptr, old_size);
        return NULL;
    }
    if (is_failing_now(s))
        return NULL;
    void *fresh = s->alloc(s->alloc_ud, ptr, ptr ? old_size : 0, new_size);
    if (!fresh)
        return NULL;
    s->bytes += new_size - (ptr ? old_size : 0); /* wraps to a subtraction when shrinking */
    return fresh;
}

void *gp_realloc(GpSession *s, void *ptr, size_t old_size, size_t new_size) {
    void *fresh = gp_try_realloc(s, ptr, old_size, new_size);
    if (!fresh && new_size != 0)
        gp_throw(s, GpStatus_NoMemory);
    return fresh;
}

void gp_free(GpSession *s, void *ptr, size_t size) {
    if (!ptr)
        return;
    gp_assert(s->bytes >= size);
    s->bytes -= size;
    s->alloc(s->alloc_ud, ptr, size, 0);
}

void *gp_try_calloc(GpSession *s, size_t size) {
    void *fresh = gp_try_realloc(s, NULL, 0, size);
    if (fresh)
        memset(fresh, 0, size);
    return fresh;
}

bool gp_interrupted(GpSession *s) {
    return s->hooks.interrupted && s->hooks.interrupted(s->hooks.ud);
}

bool gp_stopped(GpStop *stop) {
    if (!stop)
        return false;
    if (!atomic_load_explicit(&stop->is_stopped, memory_order_relaxed) && gp_interrupted(stop->session))
        atomic_store(&stop->is_stopped, true);
    return atomic_load_explicit(&stop->is_stopped, memory_order_relaxed);
}

void gp_log(GpSession *s, const char *fmt, ...) {
    if (!s->hooks.log)
        return;
    GpText line = {.session = s};
    va_list args;
    va_start(args, fmt);
    gp_text_vprintf(&line, fmt, args);
    va_end(args);
    s->hooks.log(s->hooks.ud, gp_text_cstr(&line), line.len);
    gp_text_free(&line);
}
