/* Diagnostics: data first, text after.
**
** A report site makes a diagnostic from its code and a span and adds labels, notes and helps;
** it formats no report. Renderers (diag_render.c for people, diag_json.c for editors) read the
** same model. Out of memory inside the sink never throws: the diagnostic is dropped and
** `gp_diags_failed` says so. */
#ifndef GP_DIAG_H
#define GP_DIAG_H

#include "core/source.h"
#include "core/str.h"

typedef enum GpSeverity { GpSeverity_Error, GpSeverity_Warning, GpSeverity_Note } GpSeverity;
const char *gp_severity_name(GpSeverity severity); /* "error" */

typedef enum GpDiagCode {
#define GP_DIAG(code, severity, title, explain) GpDiag_##code,
#include "core/diag.def"
    GpDiagCode_count
} GpDiagCode;

typedef struct GpDiagRow {
    const char *code;     /* "E0382" */
    GpSeverity severity;
    const char *title;    /* "%s" only */
    const char *explain;  /* long text for `gpulua explain`, may hold code blocks */
} GpDiagRow;
const GpDiagRow *gp_diag_row(GpDiagCode code);
/* Looks "E0382" up. False when no row has that code. */
bool gp_diag_find(const char *code, GpDiagCode *out);

typedef struct GpDiag GpDiag;   /* one diagnostic, being built or read */
typedef struct GpDiags GpDiags; /* a list of them, reference-counted */

GP_NODISCARD GpDiags *gp_diags_new(GpSession *s); /* NULL when out of memory */
void gp_diags_release(GpDiags *ds);
/* A new list with what `ds` holds, which is empty afterwards. NULL when out of memory. */
GP_NODISCARD GpDiags *gp_diags_take(GpDiags *ds);

/* Adds a diagnostic whose title is the row's with each %s replaced by the next argument, all
** `const char *`. Never NULL. A second diagnostic with the same code and primary span is
** swallowed (one mistake, one error), and so is every error after GP_MAX_ERRORS: what is added
** to it goes nowhere. */
#define GP_MAX_ERRORS 20
GpDiag *gp_diag(GpDiags *ds, GpDiagCode code, GpSpan primary, ...);
/* Text under the primary span. */
GP_PRINTF(2, 3) void gp_primary_label(GpDiag *d, const char *fmt, ...);
/* A secondary span with its text. */
GP_PRINTF(3, 4) void gp_label(GpDiag *d, GpSpan span, const char *fmt, ...);
GP_PRINTF(2, 3) void gp_note(GpDiag *d, const char *fmt, ...);
/* A note about a place that is not part of the main snippet. */
GP_PRINTF(3, 4) void gp_note_at(GpDiag *d, GpSpan span, const char *fmt, ...);
GP_PRINTF(2, 3) void gp_help(GpDiag *d, const char *fmt, ...);
/* A help that shows the source with `span` replaced by `replacement`; len 0 inserts. */
GP_PRINTF(4, 5)
void gp_suggest(GpDiag *d, GpSpan span, const char *replacement, const char *fmt, ...);

/* Reading */
typedef enum GpChildKind { GpChild_Note, GpChild_Help, GpChild_Suggestion } GpChildKind;
typedef struct GpDiagLabel {
    GpSpan span;
    const char *text; /* never NULL, may be "" */
    bool primary;
} GpDiagLabel;
typedef struct GpDiagChild {
    GpChildKind kind;
    GpSpan span; /* GP_NO_SPAN when it has no place */
    const char *text;
    const char *replacement; /* suggestions only */
} GpDiagChild;

uint32_t gp_diags_count(const GpDiags *ds);
uint32_t gp_diags_errors(const GpDiags *ds); /* of severity error */
bool gp_diag_is_kept(const GpDiag *d);       /* false: one too many, or said before; a help is vain */
bool gp_diags_failed(const GpDiags *ds);     /* memory ran out while building one */
const GpDiag *gp_diags_at(const GpDiags *ds, uint32_t i);
GpDiagCode gp_diag_code(const GpDiag *d);
GpSeverity gp_diag_severity(const GpDiag *d);
const char *gp_diag_title(const GpDiag *d);
GpSpan gp_diag_span(const GpDiag *d); /* of the primary label; GP_NO_SPAN without one */
uint32_t gp_diag_label_count(const GpDiag *d);
GpDiagLabel gp_diag_label_at(const GpDiag *d, uint32_t i); /* 0 is the primary one */
uint32_t gp_diag_child_count(const GpDiag *d);
GpDiagChild gp_diag_child_at(const GpDiag *d, uint32_t i);
GpSession *gp_diag_session(const GpDiag *d);
/* Orders by severity, file and place; stable. Call once before rendering. */
void gp_diags_sort(GpDiags *ds);

/* Rendering: rustc's look. Colours are ANSI. No trailing blank line. */
typedef struct GpRenderStyle {
    bool color;
    bool unicode; /* box glyphs instead of ASCII */
} GpRenderStyle;
void gp_diag_render(const GpDiag *d, GpRenderStyle style, GpText *out);
void gp_diags_render(const GpDiags *ds, GpRenderStyle style, GpText *out);
/* One JSON object per diagnostic and line; the fields are listed in docs/diagnostics.md. */
void gp_diags_json(const GpDiags *ds, GpText *out);

#endif
