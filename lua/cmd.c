/* The table of commands and what they share. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "core/os_posix.h"
#include "lua/cli.h"

const GpCommand gp_commands[] = {
    {"check", gp_cmd_check, "check [--with NAME=VALUE,..] [--json] [--parse-only] FILE..",
     "Checks the kernels of .rs files, or the kernel strings of .lua files. Exit status 1 when any is refused."},
    {"emit", gp_cmd_emit, "emit --stage ast|ir|llvm|ptx|asm [--target T] [--kernel NAME] [--with NAME=VALUE,..] FILE",
     "Prints a kernel at a stage of its compilation. Needs no GPU."},
    {"doctor", gp_cmd_doctor, "doctor",
     "Tells what gpulua found on this machine: Lua, LLVM, driver, devices, device math, cache."},
    {"explain", gp_cmd_explain, "explain CODE",
     "The long explanation of a diagnostic, with a wrong and a right program."},
    {"cache", gp_cmd_cache, "cache [clear]", "Tells about the disk cache of compiled kernels, or empties it."},
    {"help", gp_cmd_help, "help [COMMAND]", "This text."},
    {NULL, NULL, NULL, NULL},
};

int gp_cmd_help(gpulua_state *g, int argc, char **argv) {
    (void)g;
    printf("usage: gpulua [lua's options] [script [args]]\n");
    for (const GpCommand *c = gp_commands; c->name; c++) {
        if (argc > 1 && strcmp(argv[1], c->name) != 0) continue;
        printf("       gpulua %s\n           %s\n", c->usage, c->doc);
    }
    return EXIT_SUCCESS;
}

int gp_cmd_usage(const char *command, const char *fmt, ...) {
    va_list args;
    va_start(args, fmt);
    fprintf(stderr, "gpulua %s: ", command);
    vfprintf(stderr, fmt, args);
    va_end(args);
    for (const GpCommand *c = gp_commands; c->name; c++)
        if (strcmp(c->name, command) == 0) fprintf(stderr, "\nusage: gpulua %s\n", c->usage);
    return 2;
}

void gp_cli_report(gpulua_state *g, const GpDiags *diags) {
    GpText text = {.session = gp_engine_session(g->engine)};
    bool color = isatty(STDERR_FILENO) && !getenv("NO_COLOR");
    gp_diags_render(diags, (GpRenderStyle){.color = color}, &text);
    if (text.len) fprintf(stderr, "%s\n", gp_text_cstr(&text));
    gp_text_free(&text);
}

/* ---- --with --------------------------------------------------------------------------------- */

static bool read_pair(GpStr name, GpStr value, GpWith *out) {
    char *end;
    long long number = strtoll(value.at, &end, 0);
    bool is_number = value.len > 0 && end == value.at + value.len;
    if (gp_str_eq(name, GP_STR("block"))) {
        if (!is_number || number < 1 || number > UINT32_MAX) return false;
        out->block[0] = (uint32_t)number;
        out->block[1] = out->block[2] = 1;
        return true;
    }
    if (name.len == 0 || value.len == 0 || out->count == GP_WITH_MAX) return false;
    GpNamedArg *arg = &out->named[out->count++];
    *arg = (GpNamedArg){.name = name, .is_text = !is_number, .text = value};
    if (is_number) arg->value = number;
    if (gp_str_eq(value, GP_STR("true")) || gp_str_eq(value, GP_STR("false"))) {
        arg->is_text = false;
        arg->value = value.len == 4;
    }
    return true;
}

bool gp_cli_with(const char *text, GpWith *out) {
    while (*text) {
        size_t len = strcspn(text, ",");
        const char *equals = memchr(text, '=', len);
        if (!equals) return false;
        GpStr name = {text, (size_t)(equals - text)};
        GpStr value = {equals + 1, len - name.len - 1};
        if (!read_pair(name, value, out)) return false;
        text += len + (text[len] == ',');
    }
    return true;
}

/* ---- Kernel sources of a file ---------------------------------------------------------------- */

typedef struct Scan {
    const char *name;
    const char *text;
    size_t len;
    GpSource *whole; /* for the place of a string */
} Scan;

/* At a long bracket `[[`, `[=[`, ..: its contents. */
static bool find_long_string(const Scan *s, size_t at, GpStr *out) {
    size_t level = 0, open = at + 1;
    char close[64];
    while (open < s->len && s->text[open] == '=' && level < 60) open++, level++;
    if (s->text[at] != '[' || open >= s->len || s->text[open] != '[') return false;
    open++;
    if (open < s->len && s->text[open] == '\n') open++;
    close[0] = ']';
    memset(close + 1, '=', level);
    close[level + 1] = ']';
    const char *end = memmem(s->text + open, s->len - open, close, level + 2);
    if (!end) return false;
    *out = (GpStr){s->text + open, (size_t)(end - s->text) - open};
    return true;
}

/* The next string that stands right behind the word `kernels`, from *at on. */
static bool find_kernels(const Scan *s, size_t *at, GpStr *out) {
    static const char word[] = "kernels";
    for (;;) {
        const char *found = memmem(s->text + *at, s->len - *at, word, sizeof(word) - 1);
        if (!found) return false;
        size_t next = (size_t)(found - s->text) + sizeof(word) - 1;
        *at = next;
        while (next < s->len && strchr(" \t\n(", s->text[next])) next++;
        if (next < s->len && find_long_string(s, next, out)) {
            *at = (size_t)(out->at - s->text) + out->len;
            return true;
        }
    }
}

bool gp_cli_sources(gpulua_state *g, const char *path,
                    void (*fn)(gpulua_state *g, GpSource *src, void *ud), void *ud) {
    GpSession *session = gp_engine_session(g->engine);
    GpText text = {.session = session};
    if (gp_file_read(path, &text) != GpStatus_Ok || text.failed) {
        gp_text_free(&text);
        return false;
    }
    Scan s = {path, gp_text_cstr(&text), text.len, NULL};
    s.whole = gp_source_new(session, path, s.text, s.len, 1, 1);
    size_t suffix = strlen(path) > 4 ? strlen(path) - 4 : 0;
    if (s.whole && strcmp(path + suffix, ".lua") != 0) {
        fn(g, s.whole, ud);
    } else if (s.whole) {
        GpStr kernels;
        for (size_t at = 0; find_kernels(&s, &at, &kernels);) {
            GpPlaceInFile place =
                gp_span_start((GpSpan){s.whole, (uint32_t)(kernels.at - s.text), 0});
            GpSource *src = gp_source_new(session, path, kernels.at, kernels.len, place.line, place.column);
            if (src) fn(g, src, ud);
            gp_source_release(src);
        }
    }
    bool is_read = s.whole != NULL;
    gp_source_release(s.whole);
    gp_text_free(&text);
    return is_read;
}
