/* A canvas: rows of terminal cells, each with its text and its ink. Drawn in any order, then
** written once, with colours or without: both come from the same cells. */
#ifndef GP_CANVAS_H
#define GP_CANVAS_H

#include "core/str.h"

typedef enum GpInk {
#define GP_INK(id, escape) GpInk_##id,
#include "core/ink.def"
} GpInk;

typedef enum GpGlyph {
#define GP_GLYPH(id, ascii, unicode) GpGlyph_##id,
#include "core/glyph.def"
} GpGlyph;

typedef struct GpCell {
    const char *at; /* one character with its combining marks; NULL: right half of a wide one */
    uint32_t len;
    GpInk ink;
} GpCell;

typedef GP_VEC(GpCell) GpCanvasRow;

typedef struct GpCanvas {
    GpArena *arena; /* throws when memory runs out */
    bool is_unicode;
    GP_VEC(GpCanvasRow) rows;
} GpCanvas;

/* Draws text and returns the column after it. A tab is four spaces; control characters and
** bytes that are no UTF-8 get a visible stand-in, so no text can steer a terminal. The text must
** live as long as the canvas. */
uint32_t gp_canvas_text(GpCanvas *c, uint32_t row, uint32_t col, GpStr text, GpInk ink);
void gp_canvas_glyph(GpCanvas *c, uint32_t row, uint32_t col, GpGlyph glyph, GpInk ink);
/* Columns that the text takes when drawn. */
uint32_t gp_canvas_width(GpStr text);
/* Appends all rows, without trailing blanks, each with a newline. */
void gp_canvas_write(const GpCanvas *c, bool has_color, GpText *out);

#endif
