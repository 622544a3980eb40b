/* Lexer of IR text. */
#include "dsl/ir/ir_lex.h"

static bool is_word(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           (unsigned char)c >= 0x80 || (c != '\0' && strchr("_.?+-", c) != NULL);
}

static uint32_t skip_blank(const GpSource *src, uint32_t at) {
    const char *s = src->text;
    for (;;) {
        while (at < src->len && (s[at] == ' ' || s[at] == '\t' || s[at] == '\n' || s[at] == '\r'))
            at++;
        if (at + 1 >= src->len || s[at] != '/' || s[at + 1] != '/') return at;
        while (at < src->len && s[at] != '\n') at++;
    }
}

static uint32_t word_end(const GpSource *src, uint32_t at) {
    while (at < src->len && is_word(src->text[at])) at++;
    return at;
}

static uint32_t string_end(const GpSource *src, uint32_t at) {
    while (at < src->len && src->text[at] != '"') at += src->text[at] == '\\' ? 2 : 1;
    return GP_MIN(at, src->len);
}

GpIrToken gp_ir_lex(GpSource *src, uint32_t *at) {
    uint32_t start = skip_blank(src, *at), from = start, to;
    GpIrTok tok;
    if (start >= src->len) {
        *at = src->len;
        return (GpIrToken){GpIrTok_End, {src->text + src->len, 0}, {src, src->len, 0}};
    }
    char c = src->text[start];
    uint32_t end;
    if (c == '"') {
        tok = GpIrTok_String;
        from = start + 1;
        to = string_end(src, from);
        end = GP_MIN(to + 1, src->len);
    } else if ((c == '%' || c == '^' || c == '@') && word_end(src, start + 1) > start + 1) {
        tok = c == '%' ? GpIrTok_Value : c == '^' ? GpIrTok_Label : GpIrTok_Name;
        from = start + 1;
        end = to = word_end(src, from);
    } else if (is_word(c)) {
        tok = GpIrTok_Word;
        end = to = word_end(src, from);
    } else {
        tok = GpIrTok_Punct;
        end = to = start + 1;
    }
    *at = end;
    return (GpIrToken){tok, {src->text + from, to - from}, {src, start, end - start}};
}
