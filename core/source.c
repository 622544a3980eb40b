/* Sources and spans. A source is one block: header, line table, text, name. */
#include "core/source.h"

#define LARGEST_SOURCE ((size_t)1 << 31)

static uint32_t count_lines(const char *text, size_t len) {
    uint32_t lines = 1;
    for (size_t i = 0; i < len; i++)
        lines += text[i] == '\n';
    return lines;
}

static size_t block_size(size_t name_len, size_t len, uint32_t line_count) {
    return sizeof(GpSource) + sizeof(uint32_t) * line_count + len + 1 + name_len + 1;
}

static void fill_line_starts(GpSource *src) {
    uint32_t line = 0;
    src->line_starts[line++] = 0;
    for (uint32_t i = 0; i < src->len; i++) {
        if (src->text[i] == '\n')
            src->line_starts[line++] = i + 1;
    }
}

GpSource *gp_source_new(GpSession *s, const char *name, const char *text, size_t len,
                        uint32_t first_line, uint32_t first_column) {
    gp_assert(first_line >= 1 && first_column >= 1);
    if (len > LARGEST_SOURCE)
        return NULL;
    uint32_t line_count = count_lines(text, len);
    size_t name_len = strlen(name);
    GpSource *src = gp_try_calloc(s, block_size(name_len, len, line_count));
    if (!src)
        return NULL;
    uint32_t *line_starts = (uint32_t *)(src + 1);
    char *text_copy = (char *)(line_starts + line_count);
    char *name_copy = text_copy + len + 1;
    if (len)
        memcpy(text_copy, text, len);
    memcpy(name_copy, name, name_len);
    *src = (GpSource){
        .session = s,
        .refs = 1,
        .name = name_copy,
        .text = text_copy,
        .len = (uint32_t)len,
        .first_line = first_line,
        .first_column = first_column,
        .line_starts = line_starts,
        .line_count = line_count,
    };
    fill_line_starts(src);
    return src;
}

GpSource *gp_source_retain(GpSource *src) {
    if (src)
        src->refs++;
    return src;
}

GpSource *gp_source_new_expansion(GpSource *written, GpSpan call, const char *macro,
                                  const void *rules) {
    GpSource *root = written->root ? written->root : written;
    size_t size = strlen(macro) + 1;
    GpSource *src = gp_try_calloc(root->session, sizeof *src + size);
    if (!src)
        return NULL;
    *src = *root;
    src->refs = 1;
    src->root = gp_source_retain(root);
    src->call = call;
    gp_source_retain(call.src);
    src->macro = memcpy(src + 1, macro, size);
    src->rules = rules;
    src->depth = call.src->depth + 1;
    return src;
}

void gp_source_release(GpSource *src) {
    while (src && --src->refs == 0) {
        GpSource *next = src->call.src;
        gp_source_release(src->root);
        size_t size = src->root ? sizeof *src + strlen(src->macro) + 1
                                : block_size(strlen(src->name), src->len, src->line_count);
        gp_free(src->session, src, size);
        src = next;
    }
}

GpSpan gp_span_root(GpSpan span) {
    if (!span.src || !span.src->root)
        return span;
    span.src = span.src->root;
    span.off = GP_MIN(span.off, span.src->len);
    span.len = GP_MIN(span.len, span.src->len - span.off);
    return span;
}

GpSpan gp_span_call(GpSpan span) {
    if (!span.src || !span.src->root)
        return GP_NO_SPAN;
    while (span.src->root)
        span = span.src->call;
    return span;
}

GpSpan gp_span_join(GpSpan a, GpSpan b) {
    if (!a.src)
        return b;
    if (!b.src)
        return a;
    while (a.src != b.src) {
        gp_assert(a.src->root || b.src->root);
        if (a.src->depth >= b.src->depth)
            a = a.src->call;
        else
            b = b.src->call;
    }
    uint32_t off = GP_MIN(a.off, b.off);
    uint32_t end = GP_MAX(a.off + a.len, b.off + b.len);
    return (GpSpan){a.src, off, end - off};
}

uint32_t gp_source_line_index(const GpSource *src, uint32_t off) {
    uint32_t low = 0, high = src->line_count; /* line_starts[low] <= off < line_starts[high] */
    while (high - low > 1) {
        uint32_t middle = low + (high - low) / 2;
        if (src->line_starts[middle] <= off) {
            low = middle;
        } else {
            high = middle;
        }
    }
    return low;
}

GpPlaceInFile gp_span_start(GpSpan span) {
    if (!span.src)
        return (GpPlaceInFile){"<none>", 0, 0};
    const GpSource *src = span.src;
    uint32_t index = gp_source_line_index(src, span.off);
    uint32_t column = span.off - src->line_starts[index] + 1;
    if (index == 0)
        column += src->first_column - 1;
    return (GpPlaceInFile){src->name, src->first_line + index, column};
}

GpStr gp_source_line(const GpSource *src, uint32_t index) {
    gp_assert(index < src->line_count);
    uint32_t start = src->line_starts[index];
    uint32_t end = index + 1 < src->line_count ? src->line_starts[index + 1] - 1 : src->len;
    if (end > start && src->text[end - 1] == '\r')
        end--;
    return (GpStr){src->text + start, end - start};
}
