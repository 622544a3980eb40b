/* The table of commands and what they share. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "lua/cli.h"
#include "lua/lsimilar.h"

const GpCommand gp_commands[] = {
    {"check", gp_cmd_check, "check [--with NAME=VALUE,..] [--short | --json] [--parse-only] FILE..",
     "Checks the kernels of .rs files, or the kernel strings of .lua files; --with "
     "B=128,block=256\n"
     "           checks them for these generics and this block, --short prints a line for each\n"
     "           diagnostic. Exit status 1 when any is refused."},
    {"emit", gp_cmd_emit,
     "emit --stage ast|ir|ir-opt|llvm|ptx|asm [--target cpu|sm_90a|..] [--kernel NAME]\n"
     "                   [--with NAME=VALUE,..] FILE",
     "Prints a kernel at a stage of its compilation. Needs no GPU."},
    {"doctor", gp_cmd_doctor, "doctor",
     "Tells what gpulua found on this machine: Lua, LLVM, driver, devices, device math, cache."},
    {"explain", gp_cmd_explain, "explain CODE",
     "The long explanation of a diagnostic, with a wrong and a right program."},
    {"cache", gp_cmd_cache, "cache [clear]",
     "Tells about the disk cache of compiled kernels, or empties it."},
    {"help", gp_cmd_help, "help [COMMAND]", "This text, as --help does, or what COMMAND --help prints."},
    {NULL, NULL, NULL, NULL},
};

typedef struct VariableRow {
    const char *name, *doc;
} VariableRow;

static const VariableRow variables[] = {
    {"GPULUA_DEVICE", "the device of new tensors: cpu, cuda, cuda:1"},
    {"GPULUA_CACHE", "folder of the disk cache; off, none, 0 or empty: no disk cache"},
    {"GPULUA_THREADS", "threads that run kernels on the CPU"},
    {"GPULUA_LIBCUDA", "the CUDA driver's library, instead of the system's"},
    {"GPULUA_LIBDEVICE", "libdevice's bitcode, instead of the CUDA toolkit's"},
    {"NO_COLOR", "set: reports have no colours"},
};

static const GpCommand *find_command(const char *name) {
    for (const GpCommand *c = gp_commands; c->name; c++)
        if (strcmp(c->name, name) == 0)
            return c;
    return NULL;
}

const char *gp_cmd_similar(const char *word) {
    GpLuaSimilar s = {.wanted = word};
    for (const GpCommand *c = gp_commands; c->name; c++)
        gp_lua_consider(&s, c->name, strlen(c->name));
    return s.name;
}

static void print_command(const char *before, const GpCommand *c) {
    printf("%sgpulua %s\n           %s\n", before, c->usage, c->doc);
}

static void print_variables(void) {
    printf("environment:\n");
    for (size_t i = 0; i < GP_COUNT(variables); i++)
        printf("       %-16s  %s\n", variables[i].name, variables[i].doc);
}

int gp_cmd_run(const GpCommand *command, gpulua_state *g, int argc, char **argv) {
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--help") != 0 && strcmp(argv[i], "-h") != 0)
            continue;
        print_command("usage: ", command);
        return EXIT_SUCCESS;
    }
    return command->run(g, argc, argv);
}

static int report_no_command(const char *word) {
    const char *near = gp_cmd_similar(word);
    return near ? gp_cmd_usage("help", "no command is named '%s', but '%s' is", word, near)
                : gp_cmd_usage("help", "no command is named '%s'", word);
}

int gp_cmd_help(gpulua_state *g, int argc, char **argv) {
    (void)g;
    if (argc > 2)
        return gp_cmd_usage("help", "unexpected '%s'", argv[2]);
    const GpCommand *one = argc == 2 ? find_command(argv[1]) : NULL;
    if (argc == 2 && !one)
        return report_no_command(argv[1]);
    if (one) {
        print_command("usage: ", one);
        return EXIT_SUCCESS;
    }
    printf("usage: gpulua [options] [script [args]]\n");
    for (const GpCommand *c = gp_commands; c->name; c++)
        print_command("       ", c);
    printf("options, as lua5.4 has them:\n%s", gp_cli_options);
    print_variables();
    return EXIT_SUCCESS;
}

int gp_cmd_usage(const char *command, const char *fmt, ...) {
    va_list args;
    va_start(args, fmt);
    fprintf(stderr, "gpulua %s: ", command);
    vfprintf(stderr, fmt, args);
    va_end(args);
    fprintf(stderr, "\nusage: gpulua %s\n", find_command(command)->usage);
    return 2;
}

void gp_cli_report(gpulua_state *g, const GpDiags *diags) {
    GpText text = {.session = gp_engine_session(g->engine)};
    bool color = isatty(STDERR_FILENO) && !getenv("NO_COLOR");
    gp_diags_render(diags, (GpRenderStyle){.color = color}, &text);
    if (text.len)
        fprintf(stderr, "%s\n", gp_text_cstr(&text));
    gp_text_free(&text);
}

/* ---- --with --------------------------------------------------------------------------------- */

/* "256", "16x16" or "8x8x4". */
static bool read_block(GpStr text, uint32_t out[3]) {
    const char *at = text.at, *end = text.at + text.len;
    for (int axis = 0; axis < 3; axis++) {
        out[axis] = 1;
        if (axis > 0 && at == end)
            continue;
        if (axis > 0 && *at++ != 'x')
            return false;
        uint64_t extent = 0;
        const char *start = at;
        for (; at < end && *at >= '0' && *at <= '9' && extent <= UINT32_MAX; at++)
            extent = extent * 10 + (uint64_t)(*at - '0');
        if (at == start || extent < 1 || extent > UINT32_MAX)
            return false;
        out[axis] = (uint32_t)extent;
    }
    return at == end;
}

/* "[128,64]". */
static bool read_list(GpStr text, GpShape *out) {
    const char *at = text.at, *last = text.at + text.len - 1;
    *out = (GpShape){.rank = 0};
    for (char *end; at < last; at = end) {
        const char *start = at + 1; /* behind `[` or `,` */
        errno = 0;
        long long dim = strtoll(start, &end, 0);
        if (end == start || end > last || errno == ERANGE || out->rank == GP_MAX_RANK)
            return false;
        if (*end != (end == last ? ']' : ','))
            return false;
        out->dim[out->rank++] = dim;
    }
    return out->rank > 0;
}

/* A number that is allowed, or true and false of `persistent`. */
static bool read_schedule(GpStr text, GpScheduleKey key, int64_t *out) {
    char *end;
    bool is_true = gp_str_eq(text, GP_STR("true"));
    if (key == GpScheduleKey_persistent) {
        *out = is_true ? 2 : 1;
        return is_true || gp_str_eq(text, GP_STR("false"));
    }
    *out = strtoll(text.at, &end, 10);
    return end == text.at + text.len && gp_schedule_allows(key, *out);
}

static bool read_pair(GpStr name, GpStr value, GpWith *out) {
    char *end;
    GpScheduleKey key;
    if (gp_str_eq(name, GP_STR("block")))
        return read_block(value, out->block);
    if (gp_schedule_find(name, &key))
        return read_schedule(value, key, &out->schedule[key]);
    if (name.len == 0 || value.len == 0 || out->count == GP_WITH_MAX)
        return false;
    errno = 0;
    long long number = strtoll(value.at, &end, 0);
    bool is_number = end == value.at + value.len;
    if (is_number && errno == ERANGE)
        return false;
    GpNamedArg *arg = &out->named[out->count++];
    *arg = (GpNamedArg){.name = name, .kind = is_number ? GpNamed_Int : GpNamed_Text, .text = value};
    if (is_number)
        arg->value = number;
    if (gp_str_eq(value, GP_STR("true")) || gp_str_eq(value, GP_STR("false"))) {
        arg->kind = GpNamed_Int;
        arg->value = value.len == 4;
    }
    if (*value.at == '[') {
        arg->kind = GpNamed_Shape;
        return read_list(value, &arg->shape);
    }
    return true;
}

bool gp_cli_with(const char *text, GpWith *out) {
    *out = (GpWith){.count = 0};
    while (*text) {
        size_t len = strcspn(text, ",[");
        if (text[len] == '[')
            len += strcspn(text + len, "]");
        len += strcspn(text + len, ",");
        const char *equals = memchr(text, '=', len);
        if (!equals)
            return false;
        GpStr name = {text, (size_t)(equals - text)};
        GpStr value = {equals + 1, len - name.len - 1};
        if (!read_pair(name, value, out))
            return false;
        text += len + (text[len] == ',');
    }
    return true;
}

GpWith gp_cli_select(GpWith *with, const GpDef *kernel) {
    GpWith own = {.count = 0};
    for (uint32_t i = 0; i < with->count; i++) {
        if (!gp_def_has_generic(kernel, with->named[i].name))
            continue;
        own.named[own.count++] = with->named[i];
        with->is_used[i] = true;
    }
    if (kernel->track == GpTrack_Simt) {
        memcpy(own.block, with->block, sizeof(own.block));
        with->is_block_used = true;
    } else {
        memcpy(own.schedule, with->schedule, sizeof(own.schedule));
        with->is_schedule_used = true;
    }
    return own;
}

bool gp_cli_find_unused(const GpWith *with, GpStr *out) {
    for (uint32_t i = 0; i < with->count; i++) {
        if (with->is_used[i])
            continue;
        *out = with->named[i].name;
        return true;
    }
    for (int i = 0; i < GpScheduleKey_count; i++) {
        *out = gp_str_from(gp_schedule_info[i].name);
        if (with->schedule[i] && !with->is_schedule_used)
            return true;
    }
    *out = GP_STR("block");
    return with->block[0] != 0 && !with->is_block_used;
}
