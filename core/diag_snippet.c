/* Lays out the source lines that labels point at, as rustc's emitter does
** (rust-lang/rust, compiler/rustc_errors/src/emitter.rs).
**
** Each label becomes marks on lines: one for a label within a line, and for one over several
** lines an opening mark, bars beside the lines between, and a closing mark with the text. The
** marks of a line are placed from right to left. The rightmost text stands beside its underline;
** each text that would run into something to its right goes one row lower, joined by a connector.
**
**    13 |     g(&mut t, &mut t);
**       |     - ------  ^^^^^^ second mutable borrow occurs here     row 1: underlines
**       |     | |                                                    connectors
**       |     | first mutable borrow occurs here
**       |     first borrow later used by call
*/
#include "core/diag_draw.h"

#include <stdlib.h>

#include "core/utf8.h"

typedef enum MarkKind {
    Mark_Inline, /* within one line */
    Mark_Open,   /* first line of a multi-line span */
    Mark_Beside, /* a line of it that is only shown */
    Mark_Close,  /* last line of it; has the text */
} MarkKind;

typedef struct Mark {
    uint32_t line;       /* index into the source's lines */
    uint32_t start, end; /* columns from the left end of the code, end exclusive */
    MarkKind kind;
    uint32_t depth; /* column of the bar, from 1 outermost; 0 for Mark_Inline */
    const char *text;
    bool is_primary;
    uint32_t order; /* of the label, to keep sorting stable */
    uint32_t drop;  /* rows that the text stands below its usual place */
} Mark;

/* A label over several lines. */
typedef struct Block {
    uint32_t first, last; /* line indices */
    uint32_t start, end;  /* columns in the first and in the last line */
    uint32_t depth;
    bool is_doubled; /* another label has the same span: only the text is drawn */
    const GpDiagLabel *label;
    uint32_t order;
} Block;

typedef GP_VEC(Mark) Marks;
typedef GP_VEC(Block) Blocks;

typedef struct Snippet {
    GpDrawing *dr;
    const GpSource *src;
    GpInk primary;
    Marks marks; /* sorted by line, then from right to left */
    Blocks blocks;
    uint32_t depth;    /* bars beside the code */
    uint32_t bar_col;  /* column of depth 1 */
    uint32_t code_col; /* where source text starts */
    bool is_cut;       /* a marked line is too long: only GP_WINDOW columns are shown */
    uint32_t skip;     /* columns left of the window */
    const Mark **open; /* by depth: the block whose bar runs on, or NULL */
} Snippet;

static bool has_text(const Mark *m) { return m->text[0] != '\0'; }
static bool takes_row(const Mark *m) { return m->kind == Mark_Open || m->kind == Mark_Close; }

static GpInk mark_ink(const Snippet *sn, const Mark *m) {
    return m->is_primary ? sn->primary : GpInk_Secondary;
}

/* ---- from labels to marks ---- */

static uint32_t column_of(const GpSource *src, uint32_t line, uint32_t off) {
    GpStr text = gp_source_line(src, line);
    size_t within = GP_MIN(off - src->line_starts[line], text.len);
    uint32_t past = (uint32_t)(off - src->line_starts[line] - within); /* at the newline */
    return gp_draw_shift(src, line) + gp_canvas_width((GpStr){text.at, within}) + GP_MIN(past, 1);
}

/* The end of a span for display: a final newline is not worth another line. */
static uint32_t shown_end(GpSpan span) {
    uint32_t end = GP_MIN(span.off + span.len, span.src->len);
    while (end > span.off + 1 && span.src->text[end - 1] == '\n')
        end--;
    return GP_MAX(end, span.off);
}

static void add_label(Snippet *sn, const GpDiagLabel *label, uint32_t order) {
    GpSpan span = label->span;
    span.off = GP_MIN(span.off, span.src->len);
    uint32_t end = shown_end(span);
    uint32_t first = gp_source_line_index(span.src, span.off);
    uint32_t last = end > span.off ? gp_source_line_index(span.src, end - 1) : first;
    uint32_t start_col = column_of(span.src, first, span.off);
    uint32_t end_col = column_of(span.src, last, end);
    if (first != last) {
        Block block = {first, last, start_col, end_col, 1, false, label, order};
        GP_PUSH(sn->dr->arena, &sn->blocks, block);
        return;
    }
    Mark mark = {
        .line = first,
        .start = start_col,
        .end = GP_MAX(end_col, start_col + 1),
        .text = label->text,
        .is_primary = label->primary,
        .order = order,
    };
    GP_PUSH(sn->dr->arena, &sn->marks, mark);
}

static int compare_blocks(const void *left, const void *right) {
    const Block *a = left, *b = right;
    if (a->first != b->first)
        return a->first < b->first ? -1 : 1;
    if (a->last != b->last)
        return a->last > b->last ? -1 : 1;
    return a->order < b->order ? -1 : 1;
}

static bool is_same_block(const Block *a, const Block *b) {
    return a->first == b->first && a->last == b->last && a->start == b->start && a->end == b->end;
}

/* Blocks that share lines get different bars, the longest one leftmost. */
static void assign_depths(Snippet *sn) {
    Blocks *blocks = &sn->blocks;
    if (blocks->len)
        qsort(blocks->at, blocks->len, sizeof *blocks->at, compare_blocks);
    for (uint32_t i = 0; i < blocks->len; i++) {
        for (uint32_t j = 0; j < i; j++) {
            Block *outer = &blocks->at[j];
            if (is_same_block(outer, &blocks->at[i])) {
                outer->is_doubled = true;
            } else if (blocks->at[i].first <= outer->last) {
                outer->depth++;
            }
        }
    }
    for (uint32_t i = 0; i < blocks->len; i++)
        sn->depth = GP_MAX(sn->depth, blocks->at[i].depth);
    for (uint32_t i = 0; i < blocks->len; i++) {
        blocks->at[i].depth = sn->depth - blocks->at[i].depth + 1;
    }
}

static bool is_dull_line(const GpSource *src, uint32_t line) {
    GpStr text = gp_source_line(src, line);
    while (text.len && strchr(" \t", text.at[0]))
        text.at++, text.len--;
    while (text.len && strchr(" \t", text.at[text.len - 1]))
        text.len--;
    if (text.len <= 1)
        return text.len == 0 || strchr("{}()[]", text.at[0]);
    return memcmp(text.at, "//", 2) == 0;
}

static void add_block_mark(Snippet *sn, const Block *b, MarkKind kind, uint32_t line) {
    Mark mark = {
        .line = line,
        .kind = kind,
        .depth = b->depth,
        .text = kind == Mark_Close ? b->label->text : "",
        .is_primary = b->label->primary,
        .order = b->order,
    };
    if (kind == Mark_Open)
        mark.start = b->start;
    if (kind == Mark_Close)
        mark.start = b->end ? b->end - 1 : 0;
    mark.end = kind == Mark_Beside ? 0 : mark.start + 1;
    GP_PUSH(sn->dr->arena, &sn->marks, mark);
}

/* Of the lines between, up to three at the top are shown without dull ones at their end, and
** the one before the last. */
static void add_block(Snippet *sn, const Block *b) {
    uint32_t top = GP_MIN(b->first + 4, b->last);
    uint32_t shown = top;
    while (shown > b->first && is_dull_line(sn->src, shown - 1))
        shown--;
    add_block_mark(sn, b, Mark_Open, b->first);
    for (uint32_t line = b->first + 1; line < shown; line++) {
        add_block_mark(sn, b, Mark_Beside, line);
    }
    if (top < b->last - 1 && !is_dull_line(sn->src, b->last - 1)) {
        add_block_mark(sn, b, Mark_Beside, b->last - 1);
    }
    add_block_mark(sn, b, Mark_Close, b->last);
}

/* The second of two labels with one span: its text only, at the end. */
static void add_doubled(Snippet *sn, const Block *b) {
    add_block_mark(sn, b, Mark_Close, b->last);
    sn->marks.at[sn->marks.len - 1].kind = Mark_Inline;
}

/* Columns shown left of the first mark of a long line. */
#define LEFT_OF_MARK 40

static void cut_long_lines(Snippet *sn) {
    uint32_t widest = 0, leftmost = UINT32_MAX;
    for (uint32_t i = 0; i < sn->marks.len; i++) {
        const Mark *m = &sn->marks.at[i];
        GpStr text = gp_source_line(sn->src, m->line);
        widest = GP_MAX(widest, gp_draw_shift(sn->src, m->line) + gp_canvas_width(text));
        if (m->kind != Mark_Beside)
            leftmost = GP_MIN(leftmost, m->start);
    }
    if (widest <= GP_WINDOW)
        return;
    sn->is_cut = true;
    sn->skip = leftmost > LEFT_OF_MARK ? leftmost - LEFT_OF_MARK : 0;
    for (uint32_t i = 0; i < sn->marks.len; i++) {
        Mark *m = &sn->marks.at[i];
        if (m->kind == Mark_Beside)
            continue;
        m->start = GP_MIN(m->start - sn->skip, GP_WINDOW);
        m->end = GP_MAX(GP_MIN(m->end - sn->skip, GP_WINDOW), m->start + 1);
    }
}

static int compare_marks(const void *left, const void *right) {
    const Mark *a = left, *b = right;
    if (a->line != b->line)
        return a->line < b->line ? -1 : 1;
    if (a->start != b->start)
        return a->start > b->start ? -1 : 1;
    /* Before a mark without text on the same span, whose underline the text then stands beside. */
    if (a->end == b->end && has_text(a) != has_text(b))
        return has_text(a) ? -1 : 1;
    return a->order < b->order ? -1 : 1;
}

static void collect_marks(Snippet *sn, const GpDiagLabel *labels, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
        if (labels[i].span.src == sn->src)
            add_label(sn, &labels[i], i);
    }
    assign_depths(sn);
    for (uint32_t i = 0; i < sn->blocks.len; i++) {
        if (sn->blocks.at[i].is_doubled) {
            add_doubled(sn, &sn->blocks.at[i]);
        } else {
            add_block(sn, &sn->blocks.at[i]);
        }
    }
    cut_long_lines(sn);
    qsort(sn->marks.at, sn->marks.len, sizeof *sn->marks.at, compare_marks);
}

/* ---- one line ---- */

static bool is_overlapping(const Mark *next, const Mark *m, uint32_t padding) {
    uint32_t end = next->end + padding;
    return (m->start <= next->start && next->start < m->end) ||
           (next->start <= m->start && m->start < end);
}

/* The text of marks[i] cannot stand beside its underline. */
static bool is_first_blocked(const Mark *marks, uint32_t count, uint32_t i) {
    const Mark *m = &marks[i];
    for (uint32_t j = i + 1; j < count; j++) {
        const Mark *next = &marks[j];
        bool is_merged = next->start == m->start && next->end == m->end && !has_text(next);
        if (is_overlapping(next, m, 0) && has_text(m) && !is_merged)
            return true;
    }
    return false;
}

/* Something further left needs the row that the text of marks[i] stands on. */
static bool is_row_taken(const Mark *marks, uint32_t count, uint32_t i, uint32_t drop) {
    const Mark *m = &marks[i];
    for (uint32_t j = i + 1; j < count; j++) {
        const Mark *next = &marks[j];
        uint32_t room = has_text(next) ? gp_canvas_width(gp_str_from(next->text)) + 2 : 0;
        bool is_met = is_overlapping(next, m, room);
        if ((is_met && has_text(m) && has_text(next)) || (takes_row(m) && has_text(next)) ||
            (has_text(m) && takes_row(next)) || (takes_row(m) && takes_row(next)) ||
            (is_met && next->end <= m->end && has_text(next) && drop == 0)) {
            return true;
        }
    }
    return false;
}

/* Sets every mark's drop; returns the rows below the underlines. */
static uint32_t place_texts(Mark *marks, uint32_t count) {
    uint32_t drop = 0, deepest = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (drop == 0 && is_first_blocked(marks, count, i))
            drop++;
        marks[i].drop = drop;
        if (is_row_taken(marks, count, i, drop))
            drop++;
        deepest = GP_MAX(deepest, drop);
    }
    return deepest ? deepest + 1 : 0;
}

static void draw_bar(Snippet *sn, uint32_t row, const Mark *m) {
    gp_canvas_glyph(&sn->dr->canvas, row, sn->bar_col + m->depth - 1, GpGlyph_Span,
                    mark_ink(sn, m));
}

/* From the bar's column to the mark. */
static void draw_reaches(Snippet *sn, uint32_t row, const Mark *marks, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
        const Mark *m = &marks[i];
        if (!takes_row(m))
            continue;
        for (uint32_t col = sn->bar_col + m->depth; col < sn->code_col + m->start; col++) {
            gp_canvas_glyph(&sn->dr->canvas, row + m->drop + 1, col, GpGlyph_SpanReach,
                            mark_ink(sn, m));
        }
    }
}

static void draw_connectors(Snippet *sn, uint32_t row, const Mark *marks, uint32_t count,
                            uint32_t rows) {
    for (uint32_t i = 0; i < count; i++) {
        const Mark *m = &marks[i];
        uint32_t text_row = row + m->drop + 1;
        if (m->drop > 0 && (has_text(m) || takes_row(m))) {
            for (uint32_t r = row + 1; r <= text_row; r++) {
                gp_canvas_glyph(&sn->dr->canvas, r, sn->code_col + m->start, GpGlyph_Connector,
                                mark_ink(sn, m));
            }
        }
        if (m->kind == Mark_Open) {
            for (uint32_t r = text_row + 1; r < row + rows + 2; r++)
                draw_bar(sn, r, m);
        }
        if (m->kind == Mark_Close) {
            for (uint32_t r = row; r <= text_row; r++)
                draw_bar(sn, r, m);
        }
    }
}

static void draw_texts(Snippet *sn, uint32_t row, const Mark *marks, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
        const Mark *m = &marks[i];
        uint32_t at = row + (m->drop ? m->drop + 2 : 1);
        uint32_t col = sn->code_col + (m->drop ? m->start : m->end + 1);
        /* A text of several lines goes on below itself. */
        for (const char *text = m->text, *end; *text; text = *end ? end + 1 : end, at++) {
            end = text + strcspn(text, "\n");
            gp_canvas_text(&sn->dr->canvas, at, col, (GpStr){text, (size_t)(end - text)},
                           mark_ink(sn, m));
        }
    }
}

static int compare_for_underline(const void *left, const void *right) {
    const Mark *a = *(const Mark *const *)left, *b = *(const Mark *const *)right;
    uint32_t a_len = a->end - a->start, b_len = b->end - b->start;
    if (a_len != b_len)
        return a_len > b_len ? -1 : 1;
    if (a->is_primary != b->is_primary)
        return a->is_primary ? 1 : -1;
    return a->order < b->order ? -1 : 1;
}

/* Short ones over long ones, primary ones over others. */
static void draw_underlines(Snippet *sn, uint32_t row, const Mark *marks, uint32_t count) {
    const Mark **sorted = GP_NEW_ARRAY(sn->dr->arena, const Mark *, count);
    for (uint32_t i = 0; i < count; i++)
        sorted[i] = &marks[i];
    qsort(sorted, count, sizeof *sorted, compare_for_underline);
    for (uint32_t i = 0; i < count; i++) {
        const Mark *m = sorted[i];
        GpGlyph glyph = m->is_primary ? GpGlyph_Primary : GpGlyph_Secondary;
        for (uint32_t col = m->start; col < m->end; col++) {
            gp_canvas_glyph(&sn->dr->canvas, row + 1, sn->code_col + col, glyph, mark_ink(sn, m));
        }
    }
}

/* Nothing but blanks stands left of the column. */
static bool is_at_line_start(const Snippet *sn, const Mark *m) {
    const GpSource *src = sn->src;
    GpStr line = gp_source_line(src, m->line);
    size_t blanks = 0;
    while (blanks < line.len && strchr(" \t", line.at[blanks]))
        blanks++;
    uint32_t indent = gp_canvas_width((GpStr){line.at, blanks});
    return m->start + sn->skip <= gp_draw_shift(src, m->line) + indent;
}

/* The first byte at or past a column; *col goes from the column of text.at[0] to its own. */
static size_t find_column(GpStr text, uint32_t *col, uint32_t target) {
    size_t at = 0;
    while (at < text.len && *col < target) {
        size_t start = at;
        gp_utf8_next(text, &at);
        *col += gp_canvas_width((GpStr){text.at + start, at - start});
    }
    return at;
}

static void draw_code(Snippet *sn, uint32_t row, uint32_t line) {
    GpStr text = gp_source_line(sn->src, line);
    uint32_t col = gp_draw_shift(sn->src, line);
    size_t from = find_column(text, &col, sn->skip);
    uint32_t start = col;
    GpStr rest = {text.at + from, text.len - from};
    size_t len = sn->is_cut ? find_column(rest, &col, sn->skip + GP_WINDOW) : rest.len;
    if (start >= sn->skip) {
        gp_canvas_text(&sn->dr->canvas, row, sn->code_col + start - sn->skip, (GpStr){rest.at, len},
                       GpInk_Plain);
    }
    if (from > 0) {
        gp_canvas_glyph(&sn->dr->canvas, row, sn->code_col, GpGlyph_Elided, GpInk_Gutter);
    }
    if (len < rest.len) {
        gp_canvas_glyph(&sn->dr->canvas, row, sn->code_col + GP_WINDOW, GpGlyph_Elided,
                        GpInk_Gutter);
    }
}

static uint32_t draw_source_line(Snippet *sn, uint32_t line) {
    uint32_t row = gp_draw_next_row(sn->dr);
    gp_draw_number(sn->dr, row, sn->src->first_line + line);
    gp_draw_gutter(sn->dr, row);
    draw_code(sn, row, line);
    return row;
}

/* The line and what hangs below it. */
static void draw_marked_line(Snippet *sn, Mark *marks, uint32_t count) {
    uint32_t row = draw_source_line(sn, marks[0].line);
    bool is_bare = true; /* only bars beside it */
    for (uint32_t i = 0; i < count; i++)
        is_bare = is_bare && marks[i].kind == Mark_Beside;
    if (is_bare)
        return;
    if (count == 1 && marks[0].kind == Mark_Open && is_at_line_start(sn, &marks[0])) {
        gp_canvas_glyph(&sn->dr->canvas, row, sn->bar_col + marks[0].depth - 1, GpGlyph_SpanOpen,
                        mark_ink(sn, &marks[0]));
        return;
    }
    uint32_t rows = place_texts(marks, count);
    for (uint32_t r = 0; r <= rows; r++)
        gp_draw_gutter(sn->dr, row + r + 1);
    draw_reaches(sn, row, marks, count);
    draw_connectors(sn, row, marks, count, rows);
    draw_texts(sn, row, marks, count);
    draw_underlines(sn, row, marks, count);
    for (uint32_t r = row; r < gp_draw_next_row(sn->dr); r++)
        gp_draw_gutter(sn->dr, r);
}

/* ---- all lines of one source ---- */

/* Bars of the blocks that were open before these rows. */
static void draw_open_bars(Snippet *sn, uint32_t from_row) {
    for (uint32_t depth = 1; depth <= sn->depth; depth++) {
        if (!sn->open[depth])
            continue;
        for (uint32_t r = from_row; r < gp_draw_next_row(sn->dr); r++) {
            draw_bar(sn, r, sn->open[depth]);
        }
    }
}

static void close_blocks(Snippet *sn, const Mark *marks, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
        if (marks[i].kind == Mark_Close)
            sn->open[marks[i].depth] = NULL;
    }
}

static void open_blocks(Snippet *sn, const Mark *marks, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
        if (marks[i].kind == Mark_Open)
            sn->open[marks[i].depth] = &marks[i];
    }
}

/* One unmarked line is shown; more of them are elided. */
static void draw_gap(Snippet *sn, uint32_t line, uint32_t next) {
    uint32_t row = gp_draw_next_row(sn->dr);
    if (next - line < 2)
        return;
    if (next - line == 2) {
        draw_source_line(sn, line + 1);
    } else {
        gp_canvas_glyph(&sn->dr->canvas, row, 0, GpGlyph_Elided, GpInk_Gutter);
    }
    draw_open_bars(sn, row);
}

static void draw_lines(Snippet *sn) {
    Mark *marks = sn->marks.at;
    for (uint32_t i = 0, count; i < sn->marks.len; i += count) {
        count = 1;
        while (i + count < sn->marks.len && marks[i + count].line == marks[i].line)
            count++;
        uint32_t row = gp_draw_next_row(sn->dr);
        draw_marked_line(sn, &marks[i], count);
        close_blocks(sn, &marks[i], count);
        draw_open_bars(sn, row);
        open_blocks(sn, &marks[i], count);
        if (i + count < sn->marks.len)
            draw_gap(sn, marks[i].line, marks[i + count].line);
    }
}

static void draw_place(GpDrawing *dr, GpGlyph glyph, GpSpan span) {
    uint32_t row = gp_draw_next_row(dr);
    GpPlaceInFile at = gp_span_start(span);
    const char *text = gp_arena_printf(dr->arena, "%s:%u:%u", at.file, at.line, at.column);
    gp_canvas_glyph(&dr->canvas, row, dr->number_width, glyph, GpInk_Gutter);
    gp_canvas_text(&dr->canvas, row, dr->number_width + 4, gp_str_from(text), GpInk_Plain);
    gp_draw_gutter(dr, row + 1);
}

/* All labels of the source that labels[at] lies in. */
static void draw_source(GpDrawing *dr, const GpDiagLabel *labels, uint32_t count, uint32_t at,
                        GpInk primary) {
    if (at > 0)
        gp_draw_gutter(dr, gp_draw_next_row(dr));
    draw_place(dr, at > 0 ? GpGlyph_OtherFile : GpGlyph_File, labels[at].span);
    Snippet sn = {.dr = dr, .src = labels[at].span.src, .primary = primary};
    collect_marks(&sn, labels, count);
    sn.bar_col = dr->number_width + 3;
    sn.code_col = sn.bar_col + (sn.depth ? sn.depth + 1 : 0);
    sn.open = GP_NEW_ARRAY(dr->arena, const Mark *, sn.depth + 1);
    draw_lines(&sn);
}

void gp_draw_snippet(GpDrawing *dr, const GpDiagLabel *labels, uint32_t count, GpInk primary) {
    for (uint32_t i = 0; i < count; i++) {
        bool is_drawn = false;
        for (uint32_t j = 0; j < i; j++) {
            is_drawn = is_drawn || labels[j].span.src == labels[i].span.src;
        }
        if (!is_drawn)
            draw_source(dr, labels, count, i, primary);
    }
}
