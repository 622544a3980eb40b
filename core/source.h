/* Sources and spans. A source is a text that diagnostics can point into: a kernel file, a
** kernel string inside a script, or a script itself. */
#ifndef GP_SOURCE_H
#define GP_SOURCE_H

#include "core/session.h"
#include "core/str.h"

typedef struct GpSource GpSource;

/* A piece of a source. src NULL: no place (made by the compiler). */
typedef struct GpSpan {
    GpSource *src;
    uint32_t off, len;
} GpSpan;
#define GP_NO_SPAN ((GpSpan){NULL, 0, 0})
static inline bool gp_span_eq(GpSpan a, GpSpan b) { return a.src == b.src && a.off == b.off && a.len == b.len; }

/* Reference-counted and immutable: diagnostics outlive the module they speak of. The count is
** not atomic: a session is used by one thread at a time.
**
** One expansion of a macro is a source too: it shares the text of the source that the macro was
** written in, so that its spans are places there, and it is another source, so that a span tells
** from which expansion it came. */
struct GpSource {
    GpSession *session;
    uint32_t refs;
    const char *name;       /* shown to users: path or chunk name */
    const char *text;       /* NUL-terminated copy */
    uint32_t len;
    uint32_t first_line;    /* line of text[0] in `name`; 1 for a whole file */
    uint32_t first_column;  /* column of text[0], 1-based: a kernel string starts after `[[` */
    uint32_t *line_starts;  /* offsets; line_starts[0] == 0 */
    uint32_t line_count;
    GpSource *root;    /* expansions: the text that the macro was written in, never an expansion */
    GpSpan call;       /* expansions: the call, in another expansion or in a text */
    const char *macro; /* expansions: the macro's name */
    const void *rules; /* expansions: which macro; compared, not read */
    uint32_t depth;    /* expansions around this one, itself included */
};

/* Copies name and text; refs is 1. NULL when out of memory or longer than 2^31 bytes. */
GP_NODISCARD GpSource *gp_source_new(GpSession *s, const char *name, const char *text, size_t len,
                                     uint32_t first_line, uint32_t first_column);
GpSource *gp_source_retain(GpSource *src);
void gp_source_release(GpSource *src); /* NULL is ignored */

/* A new expansion of a macro that was written in `written` (a text or an expansion). NULL when out
** of memory. */
GP_NODISCARD GpSource *gp_source_new_expansion(GpSource *written, GpSpan call, const char *macro,
                                               const void *rules);

/* The smallest span that covers both. Where they come from different expansions of one text, the
** calls that lead to them are covered instead. */
GpSpan gp_span_join(GpSpan a, GpSpan b);
/* The same place in the text itself. Out of an expansion it is cut to the text: a span computed
** from two others may end anywhere where a macro made them neighbours. */
GpSpan gp_span_root(GpSpan span);
/* The call in the text that led to the expansion that span is in; GP_NO_SPAN outside of any. */
GpSpan gp_span_call(GpSpan span);

typedef struct GpPlaceInFile {
    const char *file;
    uint32_t line, column; /* 1-based; column counts bytes */
} GpPlaceInFile;
/* Where a span starts, in the user's file. {"<none>", 0, 0} for GP_NO_SPAN. */
GpPlaceInFile gp_span_start(GpSpan span);
/* The whole text of line number `line` (1-based within the source text), without newline. */
GpStr gp_source_line(const GpSource *src, uint32_t index);
/* Index into line_starts of the line that holds offset `off`. */
uint32_t gp_source_line_index(const GpSource *src, uint32_t off);

#endif
