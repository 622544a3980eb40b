/* Drawing one diagnostic: what its parts share. Private to diag_*.c. */
#ifndef GP_DIAG_DRAW_H
#define GP_DIAG_DRAW_H

#include "core/canvas.h"
#include "core/diag.h"

/* Columns shown of a line that is longer. A kernel may be one line of many megabytes. */
#define GP_WINDOW 240

typedef struct GpDrawing {
    GpCanvas canvas;
    GpArena *arena;
    uint32_t number_width; /* columns of the largest line number shown */
} GpDrawing;

/* First row that nothing was drawn on. */
static inline uint32_t gp_draw_next_row(const GpDrawing *dr) { return dr->canvas.rows.len; }

/* An empty row with the gutter's bar. */
void gp_draw_gutter(GpDrawing *dr, uint32_t row);
/* A line number, in its place left of the gutter. */
void gp_draw_number(GpDrawing *dr, uint32_t row, uint32_t number);
/* Columns before the text of line `index`: a kernel string's first line is shifted. */
uint32_t gp_draw_shift(const GpSource *src, uint32_t index);

/* The place and the lines of some labels, the primary one's file first. */
void gp_draw_snippet(GpDrawing *dr, const GpDiagLabel *labels, uint32_t count, GpInk primary);
/* The source with the suggestion's change marked, below its text. */
void gp_draw_suggestion(GpDrawing *dr, GpSpan span, const char *replacement);
/* The largest line number that gp_draw_suggestion prints. */
uint32_t gp_draw_suggestion_last(GpSpan span, const char *replacement);

#endif
