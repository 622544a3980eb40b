/* UTF-8 decoding and display width. */
#include "core/utf8.h"

typedef struct Range {
    uint32_t first, last;
} Range;

/* Blocks of Unicode 15 that terminals draw in no column of their own, or in two. Whole blocks
** where almost all of a block is so: the worst outcome is a caret one column off. */
static const Range no_width[] = {
    {0x0300, 0x036f}, {0x0483, 0x0489}, {0x0591, 0x05bd}, {0x0610, 0x061a},
    {0x064b, 0x065f}, {0x1ab0, 0x1aff}, {0x1dc0, 0x1dff}, {0x200b, 0x200d},
    {0x20d0, 0x20ff}, {0xfe00, 0xfe0f}, {0xfe20, 0xfe2f}, {0xe0100, 0xe01ef},
};
static const Range two_columns[] = {
    {0x1100, 0x115f},   {0x2e80, 0x303e},   {0x3041, 0x33ff},   {0x3400, 0x4dbf},
    {0x4e00, 0x9fff},   {0xa000, 0xa4cf},   {0xac00, 0xd7a3},   {0xf900, 0xfaff},
    {0xfe30, 0xfe6f},   {0xff00, 0xff60},   {0xffe0, 0xffe6},   {0x1f300, 0x1f64f},
    {0x1f680, 0x1f6ff}, {0x1f900, 0x1f9ff}, {0x20000, 0x3fffd},
};

static bool is_within(uint32_t c, const Range *ranges, size_t count) {
    for (size_t i = 0; i < count; i++) {
        if (c >= ranges[i].first && c <= ranges[i].last)
            return true;
    }
    return false;
}

int gp_utf8_width(uint32_t character) {
    if (character < 0x300)
        return 1;
    if (is_within(character, no_width, GP_COUNT(no_width)))
        return 0;
    return is_within(character, two_columns, GP_COUNT(two_columns)) ? 2 : 1;
}

uint32_t gp_utf8_next(GpStr text, size_t *at) {
    /* Smallest character of each length: anything below was encoded too long. */
    static const uint32_t smallest[] = {0, 0, 0x80, 0x800, 0x10000};
    size_t start = (*at)++;
    uint32_t c = (unsigned char)text.at[start];
    if (c < 0x80)
        return c;
    size_t len = c >= 0xf0 && c < 0xf8   ? 4
                 : c >= 0xe0 && c < 0xf0 ? 3
                 : c >= 0xc0 && c < 0xe0 ? 2
                                         : 0;
    if (len == 0 || start + len > text.len)
        return GP_UTF8_BAD;
    c &= 0x7fu >> len;
    for (size_t i = 1; i < len; i++) {
        uint32_t next = (unsigned char)text.at[start + i];
        if ((next & 0xc0) != 0x80)
            return GP_UTF8_BAD;
        c = c << 6 | (next & 0x3f);
    }
    bool is_surrogate = c >= 0xd800 && c <= 0xdfff;
    if (c < smallest[len] || c > 0x10ffff || is_surrogate)
        return GP_UTF8_BAD;
    *at = start + len;
    return c;
}
