/* One diagnostic for people, in rustc's form: title, snippet, notes and helps, suggestions.
** diag_snippet.c lays out the lines, diag_suggest.c the changed source, canvas.c writes. */
#include "core/diag_draw.h"

typedef struct SeverityLook {
    const char *name;
    GpInk ink;
} SeverityLook;

static SeverityLook severity_look(GpSeverity severity) {
    switch (severity) {
    case GpSeverity_Error:
        return (SeverityLook){"error", GpInk_Error};
    case GpSeverity_Warning:
        return (SeverityLook){"warning", GpInk_Warning};
    case GpSeverity_Note:
        return (SeverityLook){"note", GpInk_Note};
    }
    gp_unreachable();
}

static SeverityLook child_look(GpChildKind kind) {
    switch (kind) {
    case GpChild_Note:
        return (SeverityLook){"note", GpInk_Note};
    case GpChild_Help:
    case GpChild_Suggestion:
        return (SeverityLook){"help", GpInk_Help};
    }
    gp_unreachable();
}

void gp_draw_gutter(GpDrawing *dr, uint32_t row) {
    gp_canvas_glyph(&dr->canvas, row, dr->number_width + 1, GpGlyph_Gutter, GpInk_Gutter);
}

void gp_draw_number(GpDrawing *dr, uint32_t row, uint32_t number) {
    const char *text = gp_arena_printf(dr->arena, "%*u", (int)dr->number_width, number);
    gp_canvas_text(&dr->canvas, row, 0, gp_str_from(text), GpInk_Gutter);
}

uint32_t gp_draw_shift(const GpSource *src, uint32_t index) {
    return index == 0 ? src->first_column - 1 : 0;
}

/* Text of one or several lines; those after the first start below the first character. */
static void draw_paragraph(GpDrawing *dr, uint32_t col, const char *text, GpInk ink) {
    uint32_t row = gp_draw_next_row(dr) - 1;
    for (const char *end; (end = strchr(text, '\n')); text = end + 1, row++) {
        gp_canvas_text(&dr->canvas, row, col, (GpStr){text, (size_t)(end - text)}, ink);
    }
    gp_canvas_text(&dr->canvas, row, col, gp_str_from(text), ink);
}

static void draw_title(GpDrawing *dr, const GpDiag *d) {
    SeverityLook look = severity_look(gp_diag_severity(d));
    const char *head =
        gp_arena_printf(dr->arena, "%s[%s]", look.name, gp_diag_row(gp_diag_code(d))->code);
    uint32_t row = gp_draw_next_row(dr);
    uint32_t col = gp_canvas_text(&dr->canvas, row, 0, gp_str_from(head), look.ink);
    col = gp_canvas_text(&dr->canvas, row, col, GP_STR(": "), GpInk_Title);
    draw_paragraph(dr, col, gp_diag_title(d), GpInk_Title);
}

/* "   = note: text", beside the snippet. */
static void draw_beside(GpDrawing *dr, const GpDiagChild *child) {
    uint32_t row = gp_draw_next_row(dr);
    uint32_t col = dr->number_width + 1;
    gp_canvas_glyph(&dr->canvas, row, col, GpGlyph_Child, GpInk_Gutter);
    const char *name = child_look(child->kind).name;
    col = gp_canvas_text(&dr->canvas, row, col + 2, gp_str_from(name), GpInk_Title);
    col = gp_canvas_text(&dr->canvas, row, col, GP_STR(": "), GpInk_Plain);
    draw_paragraph(dr, col, child->text, GpInk_Plain);
}

/* "note: text", before a snippet of its own. */
static void draw_child_title(GpDrawing *dr, const GpDiagChild *child) {
    SeverityLook look = child_look(child->kind);
    uint32_t row = gp_draw_next_row(dr);
    uint32_t col = gp_canvas_text(&dr->canvas, row, 0, gp_str_from(look.name), look.ink);
    col = gp_canvas_text(&dr->canvas, row, col, GP_STR(": "), GpInk_Plain);
    draw_paragraph(dr, col, child->text, GpInk_Plain);
}

/* rustc's order: notes and helps as they were added, then the suggestions. */
static void draw_children(GpDrawing *dr, const GpDiag *d) {
    uint32_t count = gp_diag_child_count(d);
    if (count)
        gp_draw_gutter(dr, gp_draw_next_row(dr));
    for (uint32_t i = 0; i < count; i++) {
        GpDiagChild child = gp_diag_child_at(d, i);
        if (child.kind == GpChild_Suggestion)
            continue;
        if (!child.span.src) {
            draw_beside(dr, &child);
            continue;
        }
        draw_child_title(dr, &child);
        GpDiagLabel label = {.span = child.span, .text = "", .primary = true};
        gp_draw_snippet(dr, &label, 1, child_look(child.kind).ink);
    }
    for (uint32_t i = 0; i < count; i++) {
        GpDiagChild child = gp_diag_child_at(d, i);
        if (child.kind != GpChild_Suggestion)
            continue;
        draw_child_title(dr, &child);
        if (child.span.src)
            gp_draw_suggestion(dr, child.span, child.replacement);
    }
}

static uint32_t last_line(GpSpan span) {
    if (!span.src)
        return 0;
    uint32_t end = span.off + (span.len ? span.len - 1 : 0);
    return span.src->first_line + gp_source_line_index(span.src, end);
}

static uint32_t count_digits(uint32_t number) {
    uint32_t digits = 1;
    while (number /= 10)
        digits++;
    return digits;
}

/* One width for the whole diagnostic, so that all its bars stand in one column. */
static uint32_t find_number_width(const GpDiag *d) {
    uint32_t largest = 0;
    for (uint32_t i = 0; i < gp_diag_label_count(d); i++) {
        largest = GP_MAX(largest, last_line(gp_diag_label_at(d, i).span));
    }
    for (uint32_t i = 0; i < gp_diag_child_count(d); i++) {
        GpDiagChild child = gp_diag_child_at(d, i);
        largest = GP_MAX(largest, last_line(child.span));
        if (child.kind != GpChild_Suggestion || !child.span.src)
            continue;
        largest = GP_MAX(largest, gp_draw_suggestion_last(child.span, child.replacement));
    }
    return count_digits(largest);
}

typedef struct Job {
    GpArena *arena;
    const GpDiag *diag;
    GpRenderStyle style;
    GpText *out;
} Job;

static void draw_labels(GpDrawing *dr, const GpDiag *d) {
    uint32_t count = gp_diag_label_count(d);
    if (!count)
        return;
    GpDiagLabel *labels = GP_NEW_ARRAY(dr->arena, GpDiagLabel, count);
    for (uint32_t i = 0; i < count; i++)
        labels[i] = gp_diag_label_at(d, i);
    gp_draw_snippet(dr, labels, count, severity_look(gp_diag_severity(d)).ink);
}

static void run_job(GpSession *s, void *ud) {
    (void)s;
    Job *job = ud;
    GpDrawing dr = {
        .canvas = {.arena = job->arena, .is_unicode = job->style.unicode},
        .arena = job->arena,
        .number_width = find_number_width(job->diag),
    };
    draw_title(&dr, job->diag);
    draw_labels(&dr, job->diag);
    draw_children(&dr, job->diag);
    gp_canvas_write(&dr.canvas, job->style.color, job->out);
}

void gp_diag_render(const GpDiag *d, GpRenderStyle style, GpText *out) {
    GpSession *s = gp_diag_session(d);
    Job job = {.arena = gp_arena_new(s), .diag = d, .style = style, .out = out};
    if (!job.arena || gp_protect(s, run_job, &job) != GpStatus_Ok)
        out->failed = true;
    gp_arena_free(job.arena);
}

void gp_diags_render(const GpDiags *ds, GpRenderStyle style, GpText *out) {
    for (uint32_t i = 0; i < gp_diags_count(ds); i++) {
        if (i)
            gp_text_puts(out, "\n");
        gp_diag_render(gp_diags_at(ds, i), style, out);
    }
}
