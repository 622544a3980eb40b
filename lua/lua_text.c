/* Tokens of Lua text and what stands around them. Every question reads the text from its start,
** as a line may begin inside of a string or comment; questions are asked only for messages. */
#include "lua/lua_text.h"

#include <ctype.h>

/* ---- Tokens ----------------------------------------------------------------------------- */

typedef struct Token {
    uint32_t off, len; /* len 0: the end of the text */
    bool is_name;      /* keywords too */
} Token;

typedef struct Reader {
    const char *text;
    uint32_t len, at;
} Reader;

static bool is_word_char(char c) { return isalnum((unsigned char)c) || c == '_'; }

static char char_at(const Reader *r, uint32_t at) {
    if (at >= r->len)
        return '\0';
    return r->text[at];
}

/* The number of = of the long bracket that opens here, or -1. */
static int long_bracket_level(const Reader *r, uint32_t at) {
    int level = 0;
    if (char_at(r, at) != '[')
        return -1;
    while (char_at(r, at + 1 + (uint32_t)level) == '=')
        level++;
    return char_at(r, at + 1 + (uint32_t)level) == '[' ? level : -1;
}

static uint32_t skip_long(const Reader *r, uint32_t at, int level) {
    for (at += 2 + (uint32_t)level; at < r->len; at++) {
        uint32_t end = at + 1;
        if (r->text[at] != ']')
            continue;
        while (char_at(r, end) == '=')
            end++;
        if (char_at(r, end) == ']' && end - at - 1 == (uint32_t)level)
            return end + 1;
    }
    return r->len;
}

static uint32_t skip_quoted(const Reader *r, uint32_t at) {
    char quote = r->text[at++];
    while (at < r->len && r->text[at] != quote && r->text[at] != '\n')
        at += r->text[at] == '\\' ? 2 : 1;
    return GP_MIN(at + 1, r->len);
}

static void skip_blanks(Reader *r) {
    while (r->at < r->len) {
        if (isspace((unsigned char)r->text[r->at])) {
            r->at++;
        } else if (char_at(r, r->at) == '-' && char_at(r, r->at + 1) == '-') {
            int level = long_bracket_level(r, r->at + 2);
            if (level >= 0) {
                r->at = skip_long(r, r->at + 2, level);
            } else {
                while (r->at < r->len && r->text[r->at] != '\n')
                    r->at++;
            }
        } else {
            return;
        }
    }
}

static Token next_token(Reader *r) {
    skip_blanks(r);
    Token t = {.off = r->at};
    char c = char_at(r, r->at);
    int level = long_bracket_level(r, r->at);
    if (r->at >= r->len)
        return t;
    if (is_word_char(c)) {
        t.is_name = !isdigit((unsigned char)c);
        while (is_word_char(char_at(r, r->at)))
            r->at++;
    } else if (c == '"' || c == '\'') {
        r->at = skip_quoted(r, r->at);
    } else if (level >= 0) {
        r->at = skip_long(r, r->at, level);
    } else {
        r->at++;
    }
    t.len = r->at - t.off;
    return t;
}

/* ---- The tokens from a line on ---------------------------------------------------------- */

enum { MAX_TOKENS = 2048 };

typedef struct Tokens {
    GpSource *src;
    uint32_t line_end; /* offset behind the line */
    int count;
    Token at[MAX_TOKENS + 1]; /* one of length 0 behind the last */
} Tokens;

/* From the start of the text, because a line may begin inside a string or comment. */
static void read_tokens(GpSpan from, Tokens *out) {
    Reader r = {from.src->text, from.src->len, 0};
    out->src = from.src;
    out->line_end = from.off + from.len;
    out->count = 0;
    for (Token t = next_token(&r); t.len && out->count < MAX_TOKENS; t = next_token(&r))
        if (t.off >= from.off) out->at[out->count++] = t;
    out->at[out->count] = (Token){0};
}

static bool is_token(const Tokens *ts, int i, const char *text) {
    if (i < 0 || i > ts->count) return false;
    const Token *t = &ts->at[i];
    return t->len == strlen(text) && memcmp(ts->src->text + t->off, text, t->len) == 0;
}

static bool is_on_line(const Tokens *ts, int i) {
    return i < ts->count && ts->at[i].off < ts->line_end;
}

static GpSpan span_of(const Tokens *ts, int first, int last) {
    uint32_t off = ts->at[first].off;
    return (GpSpan){ts->src, off, ts->at[last].off + ts->at[last].len - off};
}

/* +1 where a bracket or block opens, -1 where one closes. */
static int depth_change(const Tokens *ts, int i) {
    static const char *const opening[] = {"(", "[", "{", "function", "do", "if", "repeat"};
    static const char *const closing[] = {")", "]", "}", "end", "until"};
    for (size_t k = 0; k < GP_COUNT(opening); k++)
        if (is_token(ts, i, opening[k])) return 1;
    for (size_t k = 0; k < GP_COUNT(closing); k++)
        if (is_token(ts, i, closing[k])) return -1;
    return 0;
}

/* Behind the bracket that closes the one at i; count when none does. */
static int skip_group(const Tokens *ts, int i) {
    int depth = 0;
    for (; i < ts->count; i++) {
        depth += depth_change(ts, i);
        if (depth == 0) return i + 1;
    }
    return ts->count;
}

/* Behind the arguments of a call that begin at i: (..), {..} or a string. */
static int skip_arguments(const Tokens *ts, int i) {
    if (is_token(ts, i, "(") || is_token(ts, i, "{")) return skip_group(ts, i);
    return i < ts->count ? i + 1 : i;
}

/* ---- Names ------------------------------------------------------------------------------ */

static bool is_keyword(const Tokens *ts, int i) {
    static const char *const words[] = {
        "and", "break", "do", "else", "elseif", "end", "false", "for", "function", "goto", "if", "in",
        "local", "nil", "not", "or", "repeat", "return", "then", "true", "until", "while"};
    for (size_t k = 0; k < GP_COUNT(words); k++)
        if (is_token(ts, i, words[k])) return true;
    return false;
}

/* Behind the variable with its fields that begins at i; i when there is none. */
static int skip_path(const Tokens *ts, int i) {
    if (i >= ts->count || !ts->at[i].is_name || is_keyword(ts, i)) return i;
    for (i++;;) {
        if (is_token(ts, i, ".") && ts->at[i + 1].is_name) i += 2;
        else if (is_token(ts, i, "[") && is_token(ts, i + 2, "]")) i += 3;
        else return i;
    }
}

/* Methods whose result is the tensor itself, or a view of it. */
static bool is_view_method(const Tokens *ts, int i) {
    static const char *const names[] = {"tiles", "partition", "unpartition", "slice", "view",
                                        "reshape", "permute", "freeze", "fill", "sync", "copy_from"};
    for (size_t k = 0; k < GP_COUNT(names); k++)
        if (is_token(ts, i, names[k])) return true;
    return false;
}

GpSpan gp_lua_text_name(GpSpan expression) {
    Tokens ts;
    if (!expression.src) return GP_NO_SPAN;
    read_tokens(expression, &ts);
    int path = skip_path(&ts, 0), i = path;
    while (path > 0 && is_token(&ts, i, ":") && is_view_method(&ts, i + 1))
        i = skip_arguments(&ts, i + 2);
    return path == 0 || is_on_line(&ts, i) ? GP_NO_SPAN : span_of(&ts, 0, path - 1);
}

int gp_lua_text_count(GpSpan line, const char *name, GpSpan *first) {
    Tokens ts;
    int count = 0;
    size_t len = strlen(name);
    *first = GP_NO_SPAN;
    if (!line.src || len == 0) return 0;
    read_tokens(line, &ts);
    for (int i = 0; is_on_line(&ts, i); i++) {
        bool is_field = is_token(&ts, i - 1, ".") || is_token(&ts, i - 1, ":");
        int end = skip_path(&ts, i);
        if (is_field || end == i) continue;
        GpSpan path = span_of(&ts, i, end - 1);
        const char *text = line.src->text + path.off;
        if (path.len < len || memcmp(text, name, len) != 0 || is_word_char(text[len])) continue;
        /* `z` of `z[1]` too */
        if (count++ == 0) *first = (GpSpan){line.src, path.off, (uint32_t)len};
    }
    return count;
}

GpSpan gp_lua_text_find(GpSpan line, const char *name) {
    GpSpan first;
    return gp_lua_text_count(line, name, &first) == 1 ? first : GP_NO_SPAN;
}

GpSpan gp_lua_text_field(GpSpan line, const char *name) {
    Tokens ts;
    GpSpan found = GP_NO_SPAN;
    if (!line.src) return GP_NO_SPAN;
    read_tokens(line, &ts);
    for (int i = 0; is_on_line(&ts, i); i++) {
        if (!is_token(&ts, i, name) || !is_token(&ts, i - 1, ".")) continue;
        if (found.src) return GP_NO_SPAN;
        found = span_of(&ts, i, i);
    }
    return found;
}

/* ---- Calls ------------------------------------------------------------------------------ */

/* Behind the `(` of a call of the callee at token i; 0 when it is not called there. */
static int call_at(const Tokens *ts, int i, const char *callee) {
    if (!is_token(ts, i, callee) || is_token(ts, i - 1, "function")) return 0;
    for (i++; is_token(ts, i, ":") && is_token(ts, i + 1, "with");)
        i = skip_arguments(ts, i + 2);
    return is_token(ts, i, "(") ? i + 1 : 0;
}

GpSpan gp_lua_text_arg(GpSpan line, const char *callee, uint32_t arg) {
    Tokens ts;
    int at = 0;
    if (!line.src) return GP_NO_SPAN;
    read_tokens(line, &ts);
    for (int i = 0; is_on_line(&ts, i); i++) {
        int found = call_at(&ts, i, callee);
        if (found && at) return GP_NO_SPAN;
        if (found) at = found;
    }
    if (!at) return GP_NO_SPAN;
    int depth = 0, first = at;
    for (uint32_t n = 0; at < ts.count; at++) {
        bool is_end = depth == 0 && (is_token(&ts, at, ",") || is_token(&ts, at, ")"));
        if (is_end && n == arg) return at > first ? span_of(&ts, first, at - 1) : GP_NO_SPAN;
        if (is_end && is_token(&ts, at, ")")) return GP_NO_SPAN;
        if (is_end) {
            n++;
            first = at + 1;
        }
        depth += depth_change(&ts, at);
    }
    return GP_NO_SPAN;
}

GpSpan gp_lua_text_receiver(GpSpan line, const char *method) {
    Tokens ts;
    GpSpan found = GP_NO_SPAN;
    if (!line.src) return GP_NO_SPAN;
    read_tokens(line, &ts);
    for (int i = 0; is_on_line(&ts, i); i++) {
        int path = skip_path(&ts, i), end = path;
        if (path == i || is_token(&ts, i - 1, ".") || is_token(&ts, i - 1, ":")) continue;
        while (is_token(&ts, end, ":") && !is_token(&ts, end + 1, method) &&
               is_view_method(&ts, end + 1))
            end = skip_arguments(&ts, end + 2);
        if (!is_token(&ts, end, ":") || !is_token(&ts, end + 1, method)) continue;
        if (found.src) return GP_NO_SPAN;
        found = span_of(&ts, i, path - 1);
        i = end;
    }
    return found;
}
