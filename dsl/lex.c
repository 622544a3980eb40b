/* Lexer: bytes to tokens. It knows literals and comments but no grammar; the tables of
** token.def decide what is a keyword and which punctuation exists.
**
** Invariant: every token ends after it starts (End excepted), so a caller that asks until End
** always stops; the text is NUL-terminated, so one byte past the end may be read. */
#include "dsl/lex.h"

#include <stdio.h>

const GpTokInfo gp_tok_info[GpTok_count] = {
#define GP_TOKEN(id, spelling, class, lbp, rbp)                                                    \
    [GpTok_##id] = {spelling, GpTokClass_##class, lbp, rbp},
#include "dsl/token.def"
};

typedef enum CharClass { Char_Other, Char_Space, Char_Start, Char_Digit } CharClass;

static CharClass classify(unsigned char c) {
    if (c == ' ' || (c >= '\t' && c <= '\r'))
        return Char_Space;
    if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_')
        return Char_Start;
    if (c >= '0' && c <= '9')
        return Char_Digit;
    return Char_Other;
}

static GpTok find_word(const char *at, size_t len, GpTok first, GpTok last) {
    for (GpTok t = first; t <= last; t++) {
        const char *s = gp_tok_info[t].spelling;
        if (s[0] == at[0] && strlen(s) == len && memcmp(s, at, len) == 0)
            return t;
    }
    return GpTok_Error;
}

GpTok gp_tok_punct(const char *at, size_t len) {
    return find_word(at, len, GpTok_ShlEq, GpTok_RBrace);
}

GpTok gp_tok_keyword(const char *at, size_t len) {
    GpTok t = find_word(at, len, GpTok_As, GpTok_Yield);
    return t == GpTok_Error ? GpTok_Name : t;
}

void gp_lex_init(GpLexer *lx, GpSource *src, GpDiags *diags) {
    *lx = (GpLexer){.src = src, .diags = diags, .at = 0, .end = src->len};
    if (src->len >= 3 && memcmp(src->text, "\xEF\xBB\xBF", 3) == 0)
        lx->at = 3;
    /* `#!` starts an interpreter line, unless it starts an inner attribute. */
    if (src->text[lx->at] == '#' && src->text[lx->at + 1] == '!' && src->text[lx->at + 2] != '[') {
        while (lx->at < lx->end && src->text[lx->at] != '\n')
            lx->at++;
    }
}

static unsigned char peek(const GpLexer *lx, uint32_t ahead) {
    return lx->at + ahead < lx->end ? (unsigned char)lx->src->text[lx->at + ahead] : '\0';
}

static GpSpan span_from(const GpLexer *lx, uint32_t off) {
    return (GpSpan){lx->src, off, lx->at - off};
}

/* Decodes one UTF-8 sequence; false (and *len 1) when it is malformed. */
static bool decode_utf8(const GpLexer *lx, uint32_t at, uint32_t *point, uint32_t *len) {
    const unsigned char *s = (const unsigned char *)lx->src->text + at;
    uint32_t left = lx->end - at;
    uint32_t need = s[0] < 0x80   ? 1
                    : s[0] < 0xC2 ? 0
                    : s[0] < 0xE0 ? 2
                    : s[0] < 0xF0 ? 3
                    : s[0] < 0xF5 ? 4
                                  : 0;
    *len = 1;
    *point = s[0];
    if (need == 0 || need > left)
        return false;
    uint32_t value = need == 1 ? s[0] : s[0] & (0x7Fu >> need);
    for (uint32_t i = 1; i < need; i++) {
        if ((s[i] & 0xC0) != 0x80)
            return false;
        value = value << 6 | (s[i] & 0x3Fu);
    }
    *point = value;
    *len = need;
    return true;
}

/* Letters outside ASCII that may stand in a name: the scripts that formulas use. */
static bool is_letter_point(uint32_t c) {
    static const struct {
        uint32_t lo, hi;
    } range[] = {
        {0xAA, 0xAA},   {0xB5, 0xB5},     {0xBA, 0xBA},     {0xC0, 0xD6},
        {0xD8, 0xF6},   {0xF8, 0x2C1},    {0x370, 0x374},   {0x376, 0x377},
        {0x37B, 0x37D}, {0x37F, 0x37F},   {0x386, 0x386},   {0x388, 0x481},
        {0x48A, 0x52F}, {0x3041, 0x3096}, {0x30A1, 0x30FA}, {0x4E00, 0x9FFF},
    };
    for (size_t i = 0; i < GP_COUNT(range); i++) {
        if (c >= range[i].lo && c <= range[i].hi)
            return true;
    }
    return false;
}

/* Length of the name character at `at`, 0 when it cannot continue (or start) a name. */
static uint32_t name_char(const GpLexer *lx, uint32_t at, bool is_first) {
    if (at >= lx->end)
        return 0;
    unsigned char c = (unsigned char)lx->src->text[at];
    if (c < 0x80) {
        CharClass k = classify(c);
        return k == Char_Start || (k == Char_Digit && !is_first) ? 1 : 0;
    }
    uint32_t point, len;
    return decode_utf8(lx, at, &point, &len) && is_letter_point(point) ? len : 0;
}

static void skip_name(GpLexer *lx) {
    for (uint32_t n; (n = name_char(lx, lx->at, false)) != 0;)
        lx->at += n;
}

/* Comments */

static bool is_doc_comment(const GpLexer *lx) {
    unsigned char kind = peek(lx, 1), mark = peek(lx, 2);
    if (mark == '!')
        return true;
    if (kind == '/')
        return mark == '/' && peek(lx, 3) != '/';
    return mark == '*' && peek(lx, 3) != '*' && peek(lx, 3) != '/';
}

/* Skips the comment at the cursor; false when it never ends. */
static bool skip_comment(GpLexer *lx) {
    uint32_t start = lx->at;
    if (peek(lx, 1) == '/') {
        while (lx->at < lx->end && lx->src->text[lx->at] != '\n')
            lx->at++;
        if (lx->at > start && lx->src->text[lx->at - 1] == '\r')
            lx->at--;
        return true;
    }
    bool is_doc = is_doc_comment(lx);
    uint32_t depth = 0;
    while (lx->at < lx->end) {
        if (peek(lx, 0) == '/' && peek(lx, 1) == '*') {
            depth++;
            lx->at += 2;
        } else if (peek(lx, 0) == '*' && peek(lx, 1) == '/') {
            lx->at += 2;
            if (--depth == 0)
                return true;
        } else {
            lx->at++;
        }
    }
    GpDiag *d = gp_diag(lx->diags, GpDiag_E0758, (GpSpan){lx->src, start, 2},
                        is_doc ? "block doc-comment" : "block comment");
    gp_primary_label(d, "this comment is never closed");
    return false;
}

/* Literals */

static const char *suffix_or_none(GpLexer *lx, GpToken *t) {
    uint32_t start = lx->at;
    if (name_char(lx, lx->at, true))
        skip_name(lx);
    t->suffix = lx->at - start;
    return lx->src->text + start;
}

static bool is_hex(unsigned char c) {
    return classify(c) == Char_Digit || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

/* The rest of an escape after its x or u; what is wrong with it, or NULL. */
static const char *lex_hex_escape(GpLexer *lx, bool is_byte) {
    uint32_t first = lx->at;
    while (lx->at < first + 2 && is_hex(peek(lx, 0)))
        lx->at++;
    if (lx->at < first + 2)
        return "numeric character escape is too short";
    return !is_byte && lx->src->text[first] > '7' ? "out of range hex escape" : NULL;
}

static const char *lex_unicode_escape(GpLexer *lx, bool is_byte) {
    if (is_byte)
        return "unicode escape in byte string";
    if (peek(lx, 0) != '{')
        return "incorrect unicode escape sequence";
    uint32_t first = ++lx->at;
    while (is_hex(peek(lx, 0)) || peek(lx, 0) == '_')
        lx->at++;
    uint32_t n = lx->at - first;
    if (peek(lx, 0) != '}')
        return "unterminated unicode escape";
    lx->at++;
    return n == 0 ? "empty unicode escape" : n > 6 ? "overlong unicode escape" : NULL;
}

/* The escape at the cursor, which stands on the backslash. */
static void lex_escape(GpLexer *lx, bool is_byte) {
    uint32_t start = lx->at;
    unsigned char c = peek(lx, 1);
    const char *wrong = NULL;
    char title[48] = "";
    lx->at += c == '\0' ? 1 : 2;
    if (c == 'x') {
        wrong = lex_hex_escape(lx, is_byte);
    } else if (c == 'u') {
        wrong = lex_unicode_escape(lx, is_byte);
    } else if (c == '\0' || !strchr("nrt\\0'\"\n\r", c)) {
        wrong = "unknown character escape";
        uint32_t point, len;
        if (c >= 0x80 && decode_utf8(lx, start + 1, &point, &len))
            lx->at = start + 1 + len;
        snprintf(title, sizeof title, "unknown character escape: `%.*s`", (int)(lx->at - start - 1),
                 lx->src->text + start + 1);
    }
    if (wrong)
        gp_primary_label(
            gp_diag(lx->diags, GpDiag_G0003, span_from(lx, start), title[0] ? title : wrong), "%s",
            wrong);
}

/* The rest of a string after its opening quote. */
static GpTok lex_string(GpLexer *lx, uint32_t start, bool is_byte) {
    for (;;) {
        unsigned char c = peek(lx, 0);
        if (lx->at >= lx->end) {
            lx->at = lx->end;
            uint32_t open = is_byte ? 2 : 1;
            GpDiagCode code = is_byte ? GpDiag_E0766 : GpDiag_E0765;
            gp_primary_label(gp_diag(lx->diags, code, (GpSpan){lx->src, start, open}),
                             "this string is never closed");
            return GpTok_Error;
        }
        if (c == '"')
            break;
        if (c == '\\')
            lex_escape(lx, is_byte);
        else
            lx->at++;
    }
    lx->at++;
    return is_byte ? GpTok_ByteStr : GpTok_Str;
}

/* The rest of a raw string; the cursor stands on the first `#` or `"`. */
static GpTok lex_raw_string(GpLexer *lx, uint32_t start, bool is_byte) {
    uint32_t hashes = 0;
    while (peek(lx, 0) == '#')
        lx->at++, hashes++;
    lx->at++;
    while (lx->at < lx->end) {
        if (lx->src->text[lx->at++] != '"')
            continue;
        uint32_t n = 0;
        while (n < hashes && peek(lx, n) == '#')
            n++;
        if (n == hashes) {
            lx->at += n;
            return is_byte ? GpTok_ByteStr : GpTok_Str;
        }
    }
    GpDiag *d =
        gp_diag(lx->diags, GpDiag_E0748, (GpSpan){lx->src, start, hashes + 1 + (is_byte ? 2 : 1)});
    gp_primary_label(d, "unterminated raw string");
    if (hashes > 0)
        gp_note(d, "this raw string should be terminated with `\"` and %u `#`", hashes);
    return GpTok_Error;
}

/* The rest of a character or byte literal after its opening quote. */
static GpTok lex_char(GpLexer *lx, uint32_t start, bool is_byte) {
    uint32_t count = 0;
    while (lx->at < lx->end && peek(lx, 0) != '\'' && peek(lx, 0) != '\n') {
        uint32_t point, len;
        if (peek(lx, 0) == '\\') {
            lex_escape(lx, is_byte);
        } else {
            decode_utf8(lx, lx->at, &point, &len);
            lx->at += len;
        }
        count++;
    }
    if (peek(lx, 0) != '\'') {
        /* Resume after the quote: the rest of the line is most likely code. */
        lx->at = start + (is_byte ? 2 : 1);
        gp_primary_label(
            gp_diag(lx->diags, is_byte ? GpDiag_E0763 : GpDiag_E0762, span_from(lx, start)),
            "this literal is never closed");
        return GpTok_Error;
    }
    lx->at++;
    if (count == 0 && peek(lx, 0) == '\'')
        lx->at++, count = 1; /* ''' */
    if (count != 1) {
        const char *wrong = count == 0 ? "empty character literal"
                            : is_byte
                                ? "if you meant to write a byte string literal, use double quotes"
                                : "character literal may only contain one codepoint";
        gp_primary_label(gp_diag(lx->diags, GpDiag_G0003, span_from(lx, start), wrong), "%s",
                         count == 0 ? "empty character literal"
                                    : "more than one character; a text stands in double quotes");
        return GpTok_Error;
    }
    return is_byte ? GpTok_Byte : GpTok_Char;
}

/* `'` starts a lifetime when a name follows and no quote right after its first character. */
static GpTok lex_quote(GpLexer *lx) {
    uint32_t start = lx->at++;
    uint32_t first = name_char(lx, lx->at, true);
    if (first != 0 && peek(lx, first) != '\'') {
        skip_name(lx);
        if (peek(lx, 0) != '\'')
            return GpTok_Lifetime;
        lx->at = start + 1;
    }
    return lex_char(lx, start, false);
}

/* Digits of `base` and underscores; the number of digits. Wrong decimal digits are reported. */
static uint32_t lex_digits(GpLexer *lx, unsigned base) {
    uint32_t n = 0;
    for (;; lx->at++) {
        unsigned char c = peek(lx, 0);
        if (c == '_')
            continue;
        if (base == 16 ? !is_hex(c) : classify(c) != Char_Digit)
            return n;
        if (base < 10 && c >= '0' + base) {
            const char *wrong = base == 2 ? "invalid digit for a base 2 literal"
                                          : "invalid digit for a base 8 literal";
            gp_diag(lx->diags, GpDiag_G0003, (GpSpan){lx->src, lx->at, 1}, wrong);
        }
        n++;
    }
}

/* Exponent after the digits: `e` or `E`, a sign, digits. False when there is none. */
static bool lex_exponent(GpLexer *lx, uint32_t start) {
    if (peek(lx, 0) != 'e' && peek(lx, 0) != 'E')
        return false;
    uint32_t sign = peek(lx, 1) == '+' || peek(lx, 1) == '-';
    uint32_t digits = 1 + sign;
    while (peek(lx, digits) == '_')
        digits++;
    bool has_digit = classify(peek(lx, digits)) == Char_Digit;
    /* `1em` has the suffix `em`; `1e` and `1e+` are broken exponents. */
    if (!has_digit && !sign && name_char(lx, lx->at + 1, true) != 0)
        return false;
    lx->at += 1 + sign;
    if (has_digit) {
        lex_digits(lx, 10);
    } else {
        gp_diag(lx->diags, GpDiag_G0003, span_from(lx, start),
                "expected at least one digit in exponent");
    }
    return true;
}

static GpTok lex_number(GpLexer *lx, GpToken *t) {
    uint32_t start = lx->at;
    unsigned char mark = peek(lx, 0) == '0' ? peek(lx, 1) : '\0';
    unsigned base = mark == 'x' ? 16 : mark == 'o' ? 8 : mark == 'b' ? 2 : 10;
    if (base != 10) {
        lx->at += 2;
        if (lex_digits(lx, base) == 0) {
            gp_primary_label(gp_diag(lx->diags, GpDiag_E0768, span_from(lx, start)),
                             "no digits after this prefix");
        }
        suffix_or_none(lx, t);
        return GpTok_Int;
    }
    lex_digits(lx, 10);
    GpTok tok = GpTok_Int;
    if (peek(lx, 0) == '.' && peek(lx, 1) != '.' && name_char(lx, lx->at + 1, true) == 0) {
        tok = GpTok_Float;
        lx->at++;
        if (classify(peek(lx, 0)) == Char_Digit)
            lex_digits(lx, 10);
    }
    if (lex_exponent(lx, start))
        tok = GpTok_Float;
    const char *suffix = suffix_or_none(lx, t);
    return t->suffix > 0 && suffix[0] == 'f' && tok == GpTok_Int ? GpTok_Float : tok;
}

/* Names, keywords and the literals that start with a letter: r"" b"" b'' br"" r#name. */
static GpTok lex_word(GpLexer *lx, GpToken *t) {
    uint32_t start = lx->at;
    unsigned char a = peek(lx, 0), b = peek(lx, 1), c = peek(lx, 2);
    uint32_t raw = a == 'r' ? 1 : a == 'b' && b == 'r' ? 2 : 0;
    if (raw != 0) {
        uint32_t hashes = raw;
        while (peek(lx, hashes) == '#')
            hashes++;
        if (peek(lx, hashes) == '"') {
            lx->at += raw;
            GpTok tok = lex_raw_string(lx, start, raw == 2);
            suffix_or_none(lx, t);
            return tok;
        }
        if (raw == 1 && hashes == 2 && name_char(lx, lx->at + 2, true) != 0) {
            lx->at += 2;
            skip_name(lx);
            return GpTok_Name;
        }
    }
    if (a == 'b' && (b == '"' || b == '\'')) {
        lx->at += 2;
        GpTok tok = b == '"' ? lex_string(lx, start, true) : lex_char(lx, start, true);
        suffix_or_none(lx, t);
        return tok;
    }
    if (a == 'c' && (b == '"' || (b == 'r' && (c == '"' || c == '#')))) {
        lx->at++;
        gp_primary_label(
            gp_diag(lx->diags, GpDiag_G0008, (GpSpan){lx->src, start, 2}, "C string literals"),
            "not supported");
        return GpTok_Error;
    }
    skip_name(lx);
    return gp_tok_keyword(lx->src->text + start, lx->at - start);
}

/* Look-alikes that word processors and chat programs put into code. */
static const struct Lookalike {
    uint32_t point;
    const char *name, *ascii;
} lookalikes[] = {
    {0x2018, "Left Single Quotation Mark", "'"},
    {0x2019, "Right Single Quotation Mark", "'"},
    {0x201C, "Left Double Quotation Mark", "\""},
    {0x201D, "Right Double Quotation Mark", "\""},
    {0x2212, "Minus Sign", "-"},
    {0x2013, "En Dash", "-"},
    {0x2014, "Em Dash", "-"},
    {0xD7, "Multiplication Sign", "*"},
    {0xF7, "Division Sign", "/"},
    {0x37E, "Greek Question Mark", ";"},
    {0xA0, "No-Break Space", " "},
    {0x3000, "Ideographic Space", " "},
    {0xFF08, "Fullwidth Left Parenthesis", "("},
    {0xFF09, "Fullwidth Right Parenthesis", ")"},
    {0xFF0C, "Fullwidth Comma", ","},
    {0xFF1B, "Fullwidth Semicolon", ";"},
    {0x2026, "Horizontal Ellipsis", "..."},
    {0xB7, "Middle Dot", "."},
};

static GpTok lex_unknown(GpLexer *lx) {
    uint32_t start = lx->at, point, len;
    char shown[24];
    if (decode_utf8(lx, start, &point, &len)) {
        if (point < 0x20 || point >= 0x7F)
            snprintf(shown, sizeof shown, "\\u{%x}", point);
        else
            snprintf(shown, sizeof shown, "%c", (char)point);
    } else {
        snprintf(shown, sizeof shown, "\\x%02x", point);
    }
    lx->at += len;
    /* One report for a run of the same character. */
    while (lx->at + len <= lx->end &&
           memcmp(lx->src->text + lx->at, lx->src->text + start, len) == 0)
        lx->at += len;
    GpSpan span = span_from(lx, start);
    GpDiag *d = gp_diag(lx->diags, GpDiag_G0002, span, shown);
    for (size_t i = 0; i < GP_COUNT(lookalikes); i++) {
        if (lookalikes[i].point != point || span.len != len)
            continue;
        gp_suggest(d, span, lookalikes[i].ascii,
                   "Unicode character '%.*s' (%s) looks like '%s', but it is not", (int)len,
                   lx->src->text + start, lookalikes[i].name, lookalikes[i].ascii);
    }
    return GpTok_Error;
}

static GpTok lex_punct(GpLexer *lx) {
    for (uint32_t len = GP_MIN(3u, lx->end - lx->at); len > 0; len--) {
        GpTok tok = gp_tok_punct(lx->src->text + lx->at, len);
        if (tok == GpTok_Error)
            continue;
        lx->at += len;
        return tok;
    }
    return lex_unknown(lx);
}

static GpTok lex_one(GpLexer *lx, GpToken *t) {
    unsigned char c = peek(lx, 0);
    if (name_char(lx, lx->at, true) != 0)
        return lex_word(lx, t);
    if (classify(c) == Char_Digit)
        return lex_number(lx, t);
    if (c == '\'')
        return lex_quote(lx);
    if (c != '"')
        return lex_punct(lx);
    uint32_t start = lx->at++;
    GpTok tok = lex_string(lx, start, false);
    suffix_or_none(lx, t);
    return tok;
}

GpToken gp_lex_next(GpLexer *lx) {
    GpToken t = {.tok = GpTok_End, .src = lx->src};
    for (; lx->at < lx->end; t.space_before = true) {
        unsigned char c = peek(lx, 0);
        if (classify(c) == Char_Space) {
            lx->at++;
            continue;
        }
        if (c != '/' || (peek(lx, 1) != '/' && peek(lx, 1) != '*'))
            break;
        t.off = lx->at;
        bool is_doc = is_doc_comment(lx);
        bool is_closed = skip_comment(lx);
        if (is_doc || !is_closed) {
            t.tok = is_closed ? GpTok_DocComment : GpTok_Error;
            t.len = lx->at - t.off;
            return t;
        }
    }
    t.off = lx->at;
    if (lx->at < lx->end)
        t.tok = lex_one(lx, &t);
    t.len = lx->at - t.off;
    return t;
}
