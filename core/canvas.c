/* The canvas: drawing into cells and writing them out. */
#include "core/canvas.h"

#include "core/utf8.h"

#define TAB_WIDTH 4

static const char *const escapes[] = {
#define GP_INK(id, escape) [GpInk_##id] = escape,
#include "core/ink.def"
};

static const char *const glyphs[][2] = {
#define GP_GLYPH(id, ascii, unicode) [GpGlyph_##id] = {ascii, unicode},
#include "core/glyph.def"
};

/* The cell at a place; rows and columns up to it come to be, blank. */
static GpCell *get_cell(GpCanvas *c, uint32_t row, uint32_t col) {
    while (c->rows.len <= row)
        GP_PUSH(c->arena, &c->rows, (GpCanvasRow){0});
    GpCanvasRow *cells = &c->rows.at[row];
    while (cells->len <= col) {
        GpCell blank = {.at = " ", .len = 1, .ink = GpInk_Plain};
        GP_PUSH(c->arena, cells, blank);
    }
    return &cells->at[col];
}

/* Characters that move the cursor or reorder what stands around them (rustc refuses the same
** ones as "text flow control"). */
static bool is_steering(uint32_t ch) {
    return ch < 0x20 || (ch >= 0x7f && ch < 0xa0) || (ch >= 0x202a && ch <= 0x202e) ||
           (ch >= 0x2066 && ch <= 0x2069);
}

static GpStr stand_in(GpCanvas *c, uint32_t ch) {
    if (ch >= 0x20)
        return GP_STR("\xef\xbf\xbd");
    /* U+2400 to U+241F are pictures of the C0 controls. */
    return (GpStr){gp_arena_printf(c->arena, "\xe2\x90%c", (int)(0x80 + ch)), 3};
}

/* Width as drawn, which differs from the terminal's for what never reaches it. */
static uint32_t drawn_width(uint32_t ch) {
    if (ch == '\t')
        return TAB_WIDTH;
    return is_steering(ch) ? 1 : (uint32_t)gp_utf8_width(ch);
}

uint32_t gp_canvas_width(GpStr text) {
    uint32_t width = 0;
    for (size_t i = 0; i < text.len;)
        width += drawn_width(gp_utf8_next(text, &i));
    return width;
}

static uint32_t draw_character(GpCanvas *c, uint32_t row, uint32_t col, GpCell cell,
                               uint32_t width) {
    *get_cell(c, row, col) = cell;
    for (uint32_t i = 1; i < width; i++) {
        *get_cell(c, row, col + i) = (GpCell){.at = NULL, .len = 0, .ink = cell.ink};
    }
    return col + width;
}

uint32_t gp_canvas_text(GpCanvas *c, uint32_t row, uint32_t col, GpStr text, GpInk ink) {
    GpCell *last = NULL;
    for (size_t i = 0; i < text.len;) {
        size_t start = i;
        uint32_t ch = gp_utf8_next(text, &i);
        uint32_t width = drawn_width(ch);
        GpStr shown = {text.at + start, i - start};
        if (ch == '\t') {
            while (width-- > 0)
                col = draw_character(c, row, col, (GpCell){" ", 1, ink}, 1);
            last = NULL;
            continue;
        }
        if (width == 0 && last && last->at + last->len == shown.at) {
            last->len += (uint32_t)shown.len;
            continue;
        }
        if (width == 0)
            continue; /* a mark with nothing to stand on */
        if (is_steering(ch))
            shown = stand_in(c, ch);
        if (ch == GP_UTF8_BAD)
            shown = GP_STR("\xef\xbf\xbd");
        uint32_t at = col;
        col = draw_character(c, row, col, (GpCell){shown.at, (uint32_t)shown.len, ink}, width);
        last = get_cell(c, row, at);
    }
    return col;
}

void gp_canvas_glyph(GpCanvas *c, uint32_t row, uint32_t col, GpGlyph glyph, GpInk ink) {
    gp_canvas_text(c, row, col, gp_str_from(glyphs[glyph][c->is_unicode]), ink);
}

static bool is_blank(const GpCell *cell) { return cell->len == 1 && cell->at[0] == ' '; }

static void write_row(const GpCanvasRow *row, bool has_color, GpText *out) {
    uint32_t len = row->len;
    while (len > 0 && is_blank(&row->at[len - 1]))
        len--;
    GpInk ink = GpInk_Plain;
    for (uint32_t i = 0; i < len; i++) {
        const GpCell *cell = &row->at[i];
        if (has_color && cell->ink != ink) {
            if (*escapes[ink])
                gp_text_puts(out, "\x1b[0m");
            if (*escapes[cell->ink])
                gp_text_printf(out, "\x1b[%sm", escapes[cell->ink]);
            ink = cell->ink;
        }
        if (cell->at)
            gp_text_add(out, cell->at, cell->len);
    }
    if (has_color && *escapes[ink])
        gp_text_puts(out, "\x1b[0m");
    gp_text_puts(out, "\n");
}

void gp_canvas_write(const GpCanvas *c, bool has_color, GpText *out) {
    for (uint32_t i = 0; i < c->rows.len; i++)
        write_row(&c->rows.at[i], has_color, out);
}
