/* String slices and text that grows on the session's heap without ever throwing. */
#include "core/str.h"

#include <stdio.h>

bool gp_str_eq(GpStr a, GpStr b) {
    return a.len == b.len && (a.len == 0 || memcmp(a.at, b.at, a.len) == 0);
}

GpStr gp_str_from(const char *cstr) { return (GpStr){cstr, strlen(cstr)}; }

/* Optimal string alignment: insertions, deletions, substitutions, swaps of neighbours. */
uint32_t gp_str_distance(GpStr a, GpStr b) {
    enum { LONGEST = 64 };
    if (a.len > LONGEST || b.len > LONGEST)
        return UINT32_MAX;
    uint32_t rows[3][LONGEST + 1];
    uint32_t *before = rows[0], *last = rows[1], *row = rows[2];
    for (uint32_t k = 0; k <= b.len; k++)
        last[k] = k;
    for (uint32_t i = 1; i <= a.len; i++) {
        row[0] = i;
        for (uint32_t k = 1; k <= b.len; k++) {
            bool same = a.at[i - 1] == b.at[k - 1];
            uint32_t best = GP_MIN(GP_MIN(last[k] + 1, row[k - 1] + 1), last[k - 1] + !same);
            if (i > 1 && k > 1 && a.at[i - 1] == b.at[k - 2] && a.at[i - 2] == b.at[k - 1])
                best = GP_MIN(best, before[k - 2] + 1);
            row[k] = best;
        }
        uint32_t *free_row = before;
        before = last;
        last = row;
        row = free_row;
    }
    return last[b.len];
}

/* Makes room for `extra` more bytes and a NUL. */
static bool reserve(GpText *t, size_t extra) {
    if (t->failed)
        return false;
    if (extra >= SIZE_MAX / 4 - t->len)
        return !(t->failed = true);
    size_t need = t->len + extra + 1;
    if (need <= t->cap)
        return true;
    size_t cap = GP_MAX(GP_MAX(t->cap * 2, need), (size_t)64);
    char *fresh = gp_try_realloc(t->session, t->at, t->cap, cap);
    if (!fresh)
        return !(t->failed = true);
    t->at = fresh;
    t->cap = cap;
    return true;
}

void gp_text_add(GpText *t, const char *at, size_t len) {
    if (!reserve(t, len))
        return;
    if (len)
        memcpy(t->at + t->len, at, len);
    t->len += len;
    t->at[t->len] = '\0';
}

void gp_text_puts(GpText *t, const char *cstr) { gp_text_add(t, cstr, strlen(cstr)); }

void gp_text_pad(GpText *t, char c, int count) {
    if (count <= 0 || !reserve(t, (size_t)count))
        return;
    memset(t->at + t->len, c, (size_t)count);
    t->len += (size_t)count;
    t->at[t->len] = '\0';
}

void gp_text_vprintf(GpText *t, const char *fmt, va_list args) {
    va_list again;
    va_copy(again, args);
    int len = vsnprintf(NULL, 0, fmt, args);
    gp_assert(len >= 0);
    if (reserve(t, (size_t)len)) {
        vsnprintf(t->at + t->len, (size_t)len + 1, fmt, again);
        t->len += (size_t)len;
    }
    va_end(again);
}

void gp_text_printf(GpText *t, const char *fmt, ...) {
    va_list args;
    va_start(args, fmt);
    gp_text_vprintf(t, fmt, args);
    va_end(args);
}

const char *gp_text_cstr(const GpText *t) { return t->at ? t->at : ""; }

void gp_text_free(GpText *t) {
    gp_free(t->session, t->at, t->cap);
    *t = (GpText){.session = t->session};
}
