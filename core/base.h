/* Attributes, assertions and the few helpers that every file may use.
** Nothing here allocates, prints or knows any other gpulua type. */
#ifndef GP_BASE_H
#define GP_BASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#if defined(__GNUC__)
#define GP_PRINTF(fmt, args) __attribute__((format(printf, fmt, args)))
#define GP_NODISCARD __attribute__((warn_unused_result))
#define GP_NORETURN __attribute__((noreturn))
#define GP_API __attribute__((visibility("default")))
#define GP_LIKELY(x) __builtin_expect(!!(x), 1)
#define GP_UNLIKELY(x) __builtin_expect(!!(x), 0)
#else
#error "gpulua needs gcc or clang"
#endif

#define GP_COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define GP_MIN(a, b) ((a) < (b) ? (a) : (b))
#define GP_MAX(a, b) ((a) > (b) ? (a) : (b))

/* Reports a broken invariant of gpulua itself and stops the process; the only abort(). */
GP_NORETURN void gp_bug(const char *file, int line, const char *what);

/* A bug in gpulua, never a mistake of a user. Checked in every build: the checks are cheap
** beside what they guard, and going on with a broken invariant means wrong numbers. */
#define gp_assert(cond) (GP_LIKELY(cond) ? (void)0 : gp_bug(__FILE__, __LINE__, #cond))
#define gp_unreachable() gp_bug(__FILE__, __LINE__, "unreachable")

static inline uint64_t gp_align_up(uint64_t n, uint64_t align) {
    return (n + align - 1) & ~(align - 1);
}

static inline int64_t gp_ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }

#endif
