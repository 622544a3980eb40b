/* A suggestion as rustc shows it: text inserted in a line has plus signs below it, a line that
** gets new lines after or within it a tilde before it and they plus signs; any other change is
** shown as the old lines and the new ones. */
#include "core/diag_draw.h"

/* The change, reduced to what differs. */
typedef struct Change {
    const GpSource *src;
    uint32_t off, end;    /* replaced bytes */
    GpStr text;           /* what replaces them */
    uint32_t first, last; /* lines that hold off and end */
} Change;

/* Changed `to` for `from`: a shared beginning is dropped, and so is a shared end if then only
** an insertion is left. "x" to "x.clone()" inserts ".clone()". */
static Change reduce(GpSpan span, const char *replacement) {
    Change c = {.src = span.src, .text = gp_str_from(replacement)};
    c.off = GP_MIN(span.off, c.src->len);
    c.end = GP_MIN(c.off + span.len, c.src->len);
    GpStr from = {c.src->text + c.off, c.end - c.off};
    size_t same = 0;
    while (same < from.len && same < c.text.len && from.at[same] == c.text.at[same])
        same++;
    size_t rest = from.len - same;
    if (c.text.len >= same + rest && from.len &&
        memcmp(from.at + same, c.text.at + c.text.len - rest, rest) == 0) {
        c.text = (GpStr){c.text.at + same, c.text.len - from.len};
        c.off += (uint32_t)same;
        c.end = c.off;
    }
    c.first = gp_source_line_index(c.src, c.off);
    c.last = gp_source_line_index(c.src, c.end);
    return c;
}

static bool is_one_line(const Change *c) {
    return c->first == c->last && !memchr(c->text.at, '\n', c->text.len);
}

/* Whole lines put before a line. */
static bool is_new_lines(const Change *c) {
    return c->off == c->end && c->off == c->src->line_starts[c->first] && c->text.len &&
           c->text.at[c->text.len - 1] == '\n';
}

static GpStr slice(GpStr text, size_t from, size_t to) {
    return (GpStr){text.at + from, to - from};
}

/* Parts of a line: what stays on the left, the change, what stays on the right. */
static uint32_t draw_parts(GpDrawing *dr, uint32_t row, uint32_t col, const GpStr parts[3],
                           GpInk ink) {
    uint32_t start = col + gp_canvas_width(parts[0]);
    col = gp_canvas_text(&dr->canvas, row, col, parts[0], GpInk_Plain);
    col = gp_canvas_text(&dr->canvas, row, col, parts[1], ink);
    gp_canvas_text(&dr->canvas, row, col, parts[2], GpInk_Plain);
    return start;
}

static GpStr left_of(const Change *c) {
    GpStr line = gp_source_line(c->src, c->first);
    return slice(line, 0, GP_MIN(c->off - c->src->line_starts[c->first], line.len));
}

static GpStr right_of(const Change *c) {
    GpStr line = gp_source_line(c->src, c->last);
    return slice(line, GP_MIN(c->end - c->src->line_starts[c->last], line.len), line.len);
}

/* At most `len` bytes from the start, or from the end, of a text; characters stay whole. */
static GpStr clip_right(GpStr text, size_t len) {
    if (text.len <= len)
        return text;
    while (len > 0 && ((unsigned char)text.at[len] & 0xc0) == 0x80)
        len--;
    return slice(text, 0, len);
}

static GpStr clip_left(GpStr text, size_t len) {
    if (text.len <= len)
        return text;
    size_t from = text.len - len;
    while (from < text.len && ((unsigned char)text.at[from] & 0xc0) == 0x80)
        from++;
    return slice(text, from, text.len);
}

/* What is drawn left and right of a change within one line. */
typedef struct Around {
    GpStr left, right;
    uint32_t shift;
} Around;

static Around find_around(const Change *c) {
    Around a = {left_of(c), right_of(c), gp_draw_shift(c->src, c->first)};
    if (a.shift + a.left.len + a.right.len <= GP_WINDOW)
        return a;
    return (Around){clip_left(a.left, GP_WINDOW / 3), clip_right(a.right, GP_WINDOW / 3), 0};
}

static uint32_t code_column(const GpDrawing *dr) { return dr->number_width + 3; }

static bool is_space(char ch) { return ch == ' ' || ch == '\t'; }

static void draw_insertion(GpDrawing *dr, const Change *c) {
    uint32_t row = gp_draw_next_row(dr);
    gp_draw_number(dr, row, c->src->first_line + c->first);
    gp_draw_gutter(dr, row);
    gp_draw_gutter(dr, row + 1);
    Around around = find_around(c);
    GpStr text = clip_right(c->text, GP_WINDOW);
    GpStr parts[3] = {around.left, text, around.right};
    uint32_t col = draw_parts(dr, row, code_column(dr) + around.shift, parts, GpInk_Added);
    GpStr seen = text; /* plus signs below what can be seen */
    while (seen.len && is_space(seen.at[0]))
        seen.at++, seen.len--;
    while (seen.len && is_space(seen.at[seen.len - 1]))
        seen.len--;
    if (!seen.len)
        seen = text;
    col += gp_canvas_width(slice(text, 0, (size_t)(seen.at - text.at)));
    for (uint32_t i = 0, width = gp_canvas_width(seen); i < width; i++) {
        gp_canvas_glyph(&dr->canvas, row + 1, col + i, GpGlyph_Added, GpInk_Added);
    }
}

static GpInk change_ink(GpGlyph glyph) {
    return glyph == GpGlyph_Removed ? GpInk_Removed : GpInk_Added;
}

/* "12 + text" or "12 - text"; returns the row. */
static uint32_t draw_changed_line(GpDrawing *dr, uint32_t number, GpGlyph glyph) {
    uint32_t row = gp_draw_next_row(dr);
    gp_draw_number(dr, row, number);
    gp_canvas_glyph(&dr->canvas, row, dr->number_width + 1, glyph, change_ink(glyph));
    return row;
}

static void draw_one_line_change(GpDrawing *dr, const Change *c) {
    uint32_t number = c->src->first_line + c->first;
    Around around = find_around(c);
    uint32_t col = code_column(dr) + around.shift;
    GpStr before = {c->src->text + c->off, c->end - c->off};
    GpStr old[3] = {around.left, clip_right(before, GP_WINDOW), around.right};
    draw_parts(dr, draw_changed_line(dr, number, GpGlyph_Removed), col, old, GpInk_Removed);
    GpStr new[3] = {around.left, clip_right(c->text, GP_WINDOW), around.right};
    draw_parts(dr, draw_changed_line(dr, number, GpGlyph_Added), col, new, GpInk_Added);
    gp_draw_gutter(dr, gp_draw_next_row(dr));
}

typedef GP_VEC(GpStr) Lines;

static Lines split(GpArena *arena, GpStr text) {
    Lines lines = {0};
    size_t start = 0;
    for (size_t i = 0; i < text.len; i++) {
        if (text.at[i] != '\n')
            continue;
        GP_PUSH(arena, &lines, slice(text, start, i));
        start = i + 1;
    }
    GP_PUSH(arena, &lines, slice(text, start, text.len));
    return lines;
}

static GpStr join(GpArena *arena, GpStr a, GpStr b, GpStr c) {
    char *all = gp_arena_alloc(arena, a.len + b.len + c.len + 1);
    memcpy(all, a.at, a.len);
    memcpy(all + a.len, b.at, b.len);
    memcpy(all + a.len + b.len, c.at, c.len);
    return (GpStr){all, a.len + b.len + c.len};
}

static void draw_whole_lines(GpDrawing *dr, const Lines *lines, uint32_t from, uint32_t to,
                             uint32_t number, GpGlyph glyph) {
    for (uint32_t i = from; i < to; i++) {
        uint32_t row = draw_changed_line(dr, number + i, glyph);
        gp_canvas_text(&dr->canvas, row, code_column(dr), clip_right(lines->at[i], GP_WINDOW),
                       change_ink(glyph));
    }
}

/* Old lines, then new ones, without those that are equal at either end. */
static void draw_lines_change(GpDrawing *dr, const Change *c) {
    Lines old = {0};
    for (uint32_t line = c->first; line <= c->last; line++) {
        GP_PUSH(dr->arena, &old, gp_source_line(c->src, line));
    }
    Lines new = split(dr->arena, join(dr->arena, left_of(c), c->text, right_of(c)));
    uint32_t top = 0, old_end = old.len, new_end = new.len;
    while (top < old_end && top < new_end && gp_str_eq(old.at[top], new.at[top]))
        top++;
    while (old_end > top && new_end > top && gp_str_eq(old.at[old_end - 1], new.at[new_end - 1])) {
        old_end--;
        new_end--;
    }
    uint32_t number = c->src->first_line + c->first;
    draw_whole_lines(dr, &old, top, old_end, number, GpGlyph_Removed);
    draw_whole_lines(dr, &new, top, new_end, number, GpGlyph_Added);
    gp_draw_gutter(dr, gp_draw_next_row(dr));
}

/* Lines put after or into a line. */
static void draw_lines_insertion(GpDrawing *dr, const Change *c) {
    uint32_t number = c->src->first_line + c->first;
    Lines added = split(dr->arena, c->text);
    uint32_t row = draw_changed_line(dr, number, GpGlyph_Altered);
    Around around = find_around(c);
    uint32_t col = code_column(dr) + around.shift;
    col = gp_canvas_text(&dr->canvas, row, col, around.left, GpInk_Plain);
    gp_canvas_text(&dr->canvas, row, col, clip_right(added.at[0], GP_WINDOW), GpInk_Added);
    draw_whole_lines(dr, &added, 1, added.len, number, GpGlyph_Added);
    GpStr last = clip_right(added.at[added.len - 1], GP_WINDOW);
    gp_canvas_text(&dr->canvas, gp_draw_next_row(dr) - 1, code_column(dr) + gp_canvas_width(last),
                   around.right, GpInk_Plain);
    gp_draw_gutter(dr, gp_draw_next_row(dr));
}

void gp_draw_suggestion(GpDrawing *dr, GpSpan span, const char *replacement) {
    Change c = reduce(span, replacement);
    gp_draw_gutter(dr, gp_draw_next_row(dr));
    bool is_insertion = c.off == c.end;
    if (is_insertion && is_one_line(&c)) {
        draw_insertion(dr, &c);
    } else if (is_insertion && !is_new_lines(&c)) {
        draw_lines_insertion(dr, &c);
    } else if (is_one_line(&c)) {
        draw_one_line_change(dr, &c);
    } else {
        draw_lines_change(dr, &c);
    }
}

uint32_t gp_draw_suggestion_last(GpSpan span, const char *replacement) {
    Change c = reduce(span, replacement);
    uint32_t added = 0;
    for (size_t i = 0; i < c.text.len; i++)
        added += c.text.at[i] == '\n';
    return c.src->first_line + GP_MAX(c.last, c.first + added);
}
