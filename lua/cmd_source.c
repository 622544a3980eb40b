/* The kernel sources of a file, for the commands: a .lua file has its kernel strings, any other file
** is one source. Lua's tokens are followed, so that comments and other strings are passed over; the
** script is compiled but not run, so a text that it computes is not read, which is said. */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/os_posix.h"
#include "lua/cli.h"

typedef enum TokenKind { Token_End, Token_Name, Token_String, Token_Other } TokenKind;

typedef struct Token {
    TokenKind kind;
    GpStr text;    /* of a string: its contents */
    bool is_exact; /* of a string: its value is its text, without escapes */
} Token;

typedef struct Scan {
    const char *at, *end;
    GpSource *whole; /* for the places of strings */
} Scan;

/* ---- Lua's tokens --------------------------------------------------------------------------- */

/* A line break after the opening bracket is no part of the string, in any of its four forms. */
static const char *skip_break(const char *at, const char *end) {
    if (at < end && (*at == '\n' || *at == '\r')) {
        char first = *at++;
        if (at < end && (*at == '\n' || *at == '\r') && *at != first)
            at++;
    }
    return at;
}

/* `[[`, `[=[`, .. at s->at: takes the bracket and what it holds; false when it is none or open. */
static bool read_long_bracket(Scan *s, GpStr *out) {
    const char *open = s->at + 1;
    while (open < s->end && *open == '=')
        open++;
    if (s->at == s->end || *s->at != '[' || open == s->end || *open != '[')
        return false;
    size_t level = (size_t)(open - s->at) - 1;
    const char *start = skip_break(open + 1, s->end);
    for (const char *c = start; c < s->end; c++) {
        size_t equals = 0;
        if (*c != ']')
            continue;
        while (equals < level && c + 1 + equals < s->end && c[1 + equals] == '=')
            equals++;
        if (equals < level || c + 1 + level >= s->end || c[1 + level] != ']')
            continue;
        *out = (GpStr){start, (size_t)(c - start)};
        s->at = c + level + 2;
        return true;
    }
    return false;
}

static void skip_line(Scan *s) {
    while (s->at < s->end && *s->at != '\n')
        s->at++;
}

static void skip_space(Scan *s) {
    GpStr comment;
    for (;;) {
        while (s->at < s->end && (isspace((unsigned char)*s->at) || *s->at == '\0'))
            s->at++;
        if (s->end - s->at < 2 || s->at[0] != '-' || s->at[1] != '-')
            return;
        s->at += 2;
        if (!read_long_bracket(s, &comment))
            skip_line(s);
    }
}

/* An open string ends with its line, as the error that Lua reports does. */
static Token read_short_string(Scan *s) {
    char quote = *s->at++;
    Token t = {Token_String, {s->at, 0}, true};
    while (s->at < s->end && *s->at != quote && *s->at != '\n') {
        if (*s->at == '\\')
            t.is_exact = false;
        s->at += *s->at == '\\' && s->at + 1 < s->end ? 2 : 1;
    }
    t.text.len = (size_t)(s->at - t.text.at);
    if (s->at < s->end)
        s->at++;
    return t;
}

static bool is_word(char c) { return isalnum((unsigned char)c) || c == '_'; }

static Token read_token(Scan *s) {
    Token t = {Token_Other, {s->at, 1}, true};
    skip_space(s);
    t.text.at = s->at;
    if (s->at == s->end) {
        t.kind = Token_End;
    } else if (*s->at == '"' || *s->at == '\'') {
        return read_short_string(s);
    } else if (read_long_bracket(s, &t.text)) {
        t.kind = Token_String;
    } else if (is_word(*s->at)) {
        if (!isdigit((unsigned char)*s->at))
            t.kind = Token_Name;
        while (s->at < s->end && is_word(*s->at))
            s->at++;
        t.text.len = (size_t)(s->at - t.text.at);
    } else {
        s->at++;
    }
    return t;
}

static bool is_other(const Token *t, char c) {
    return t->kind == Token_Other && t->text.at[0] == c;
}

/* ---- Kernel strings ------------------------------------------------------------------------- */

static void say_unread(const Scan *s, const char *at, const char *why) {
    uint32_t off = (uint32_t)(at - s->whole->text);
    GpPlaceInFile place = gp_span_start((GpSpan){s->whole, off, 0});
    fprintf(stderr, "%s:%u:%u: note: these kernels are not read: %s\n", place.file, place.line,
            place.column, why);
}

/* Behind the name `kernels`: true when a string follows that can be read as it stands. */
static bool read_argument(Scan *s, GpStr *out) {
    const char *start = s->at;
    Token t = read_token(s);
    bool is_paren = is_other(&t, '(');
    if (is_paren)
        t = read_token(s);
    if (t.kind != Token_String) {
        if (is_paren)
            say_unread(s, t.text.at, "their text is computed when the script runs");
        s->at = is_paren ? t.text.at : start;
        return false;
    }
    const char *next = s->at;
    Token after = read_token(s);
    s->at = next;
    if (is_paren && !is_other(&after, ')') && !is_other(&after, ',')) {
        say_unread(s, t.text.at, "their text is computed when the script runs");
        return false;
    }
    if (!t.is_exact)
        say_unread(s, t.text.at, "the string has escapes; write it as [[..]]");
    *out = t.text;
    return t.is_exact;
}

/* The next kernel string; false at the end of the script. */
static bool find_kernels(Scan *s, GpStr *out) {
    bool is_definition = false; /* in the name of a function that is being defined */
    for (;;) {
        Token t = read_token(s);
        if (t.kind == Token_End)
            return false;
        if (t.kind == Token_Name && gp_str_eq(t.text, GP_STR("function")))
            is_definition = true;
        if (is_other(&t, '('))
            is_definition = false;
        if (t.kind != Token_Name || is_definition)
            continue;
        if (!gp_str_eq(t.text, GP_STR("kernels")) && !gp_str_eq(t.text, GP_STR("try_kernels")))
            continue;
        if (read_argument(s, out))
            return true;
    }
}

/* ---- Files ---------------------------------------------------------------------------------- */

typedef struct Visit {
    gpulua_state *g;
    GpSourceFn fn;
    void *ud;
    bool failed; /* memory ran out */
} Visit;

/* What Lua says of a text that it cannot compile is "lua:3: unexpected symbol near 'x'". */
static void report_script(GpSource *whole, const char *message, GpDiags *diags) {
    GpSpan span = {whole, 0, 0};
    char *end;
    if (strncmp(message, "lua:", 4) == 0) {
        uint32_t line = (uint32_t)strtoul(message + 4, &end, 10);
        GpStr text = gp_source_line(whole, GP_MIN(GP_MAX(line, 1U), whole->line_count) - 1);
        size_t blanks = strspn(text.at, " \t");
        if (blanks > text.len)
            blanks = 0;
        span.off = (uint32_t)(text.at - whole->text) + (uint32_t)blanks;
        span.len = (uint32_t)(text.len - blanks);
        message = end + strspn(end, ": ");
    }
    gp_diag(diags, GpDiag_G0040, span, message);
}

/* Compiles the script. Its first line may be for the shell. */
static void check_script(const Visit *v, const Scan *s, GpDiags *diags) {
    lua_State *L = v->g->L;
    if (luaL_loadbufferx(L, s->at, (size_t)(s->end - s->at), "=lua", "t") != LUA_OK)
        report_script(s->whole, lua_tostring(L, -1), diags);
    lua_pop(L, 1);
}

static void visit(Visit *v, GpSource *src, const Scan *script) {
    GpDiags *diags = src ? gp_diags_new(gp_engine_session(v->g->engine)) : NULL;
    v->failed |= !diags;
    if (!diags)
        return;
    if (script)
        check_script(v, script, diags);
    if (!script || gp_diags_errors(diags) > 0)
        v->fn(v->g, src, diags, v->ud);
    gp_diags_release(diags);
}

static void visit_script(Visit *v, GpSource *whole) {
    GpStr text;
    Scan s = {whole->text, whole->text + whole->len, whole};
    if (strncmp(s.at, "\xef\xbb\xbf", 3) == 0)
        s.at += 3;
    if (*s.at == '#')
        skip_line(&s);
    visit(v, whole, &s);
    while (find_kernels(&s, &text)) {
        GpPlaceInFile place = gp_span_start((GpSpan){whole, (uint32_t)(text.at - whole->text), 0});
        GpSource *src = gp_source_new(gp_engine_session(v->g->engine), whole->name, text.at,
                                      text.len, place.line, place.column);
        visit(v, src, NULL);
        gp_source_release(src);
    }
}

bool gp_cli_sources(gpulua_state *g, const char *path, GpSourceFn fn, void *ud) {
    GpSession *session = gp_engine_session(g->engine);
    GpText text = {.session = session};
    GpSource *whole = NULL;
    Visit v = {.g = g, .fn = fn, .ud = ud};
    bool is_read = gp_file_read(path, &text) == GpStatus_Ok;
    if (is_read)
        whole = gp_source_new(session, path, gp_text_cstr(&text), text.len, 1, 1);
    gp_text_free(&text);
    if (!is_read)
        return false;
    const char *dot = strrchr(path, '.');
    if (whole && dot && strcmp(dot, ".lua") == 0)
        visit_script(&v, whole);
    else
        visit(&v, whole, NULL);
    gp_source_release(whole);
    if (v.failed)
        errno = ENOMEM;
    return !v.failed;
}
