/* GpSession: what every layer needs from its host, and the one throw.
**
** One per gpulua state, first parameter everywhere, no globals. It holds the allocator, the
** host's hooks and the innermost protected call. It owns nothing that a user sees. */
#ifndef GP_SESSION_H
#define GP_SESSION_H

#include "core/base.h"
#include "core/status.h"

/* lua_Alloc's contract: new_size 0 frees and returns NULL; failure returns NULL and leaves
** the old block; `old_size` is exact. */
typedef void *(*GpAllocFn)(void *ud, void *ptr, size_t old_size, size_t new_size);

typedef struct GpHooks {
    /* A line for the host's log; never a user's diagnostic. NULL drops it. */
    void (*log)(void *ud, const char *text, size_t len);
    /* Text that a program printed (kernel prints, notices for stderr). NULL drops it. */
    void (*write)(void *ud, const char *text, size_t len);
    /* True asks long waits and compiles to stop with GpStatus_Interrupted. NULL is false.
    ** Called from any thread. */
    bool (*interrupted)(void *ud);
    void *ud;
} GpHooks;

typedef struct GpJump GpJump; /* a protected call in progress; core/protect.c */

typedef struct GpSession {
    GpAllocFn alloc;
    void *alloc_ud;
    GpHooks hooks;
    GpJump *jump;       /* innermost gp_protect, NULL outside */
    size_t bytes;       /* host bytes allocated now through this session */
    uint64_t fail_at;   /* testing: the n-th allocation from now fails; 0 never */
} GpSession;

/* Fills *s; alloc NULL means realloc/free, hooks NULL means none. */
void gp_session_init(GpSession *s, GpAllocFn alloc, void *alloc_ud, const GpHooks *hooks);

/* Raw memory through the session's allocator. gp_try_realloc returns NULL on failure (and
** leaves ptr alone); gp_realloc throws GpStatus_NoMemory and so needs a gp_protect around it. */
GP_NODISCARD void *gp_try_realloc(GpSession *s, void *ptr, size_t old_size, size_t new_size);
GP_NODISCARD void *gp_realloc(GpSession *s, void *ptr, size_t old_size, size_t new_size);
void gp_free(GpSession *s, void *ptr, size_t size);
#define GP_TRY_NEW(s, T) ((T *)gp_try_calloc((s), sizeof(T)))
GP_NODISCARD void *gp_try_calloc(GpSession *s, size_t size);

/* Runs fn(ud); returns GpStatus_Ok, or the status thrown inside. The only setjmp.
** Memory taken inside is freed by whoever owns the arena it came from. */
GpStatus gp_protect(GpSession *s, void (*fn)(GpSession *s, void *ud), void *ud);
/* Ends the innermost gp_protect. Only for resource exhaustion and hard limits; must not cross
** a frame of LLVM, CUDA or Lua. Without a gp_protect it is a bug. */
GP_NORETURN void gp_throw(GpSession *s, GpStatus status);

bool gp_interrupted(GpSession *s);

/* Work that one interrupt ends, on as many threads as it has: a host may answer that question once. */
typedef struct GpStop {
    GpSession *session;
    _Atomic bool is_stopped;
} GpStop;
bool gp_stopped(GpStop *stop); /* asks the host; NULL: nothing stops it */
GP_PRINTF(2, 3) void gp_log(GpSession *s, const char *fmt, ...);

#endif
