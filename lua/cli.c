/* The stand-alone program: options, script and exit status as lua5.4 has them (Reference Manual
** 5.4, section 7), checked against it by spec/cli. The loop that reads lines is in repl.c. */
#include "lua/cli.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <lualib.h>

#include "lua/repl.h"

typedef struct Options {
    bool interactive, version, help, no_env;
    int script; /* index in argv; argc: none */
    int bad;    /* index of a bad option; 0: none */
} Options;

/* What stands before messages; NULL in the interactive loop: nothing does. */
static const char *program = "gpulua";

/* ---- Messages and calls --------------------------------------------------------------------- */

static void print_message(const char *prefix, const char *text) {
    if (prefix)
        fprintf(stderr, "%s: ", prefix);
    fprintf(stderr, "%s\n", text);
    fflush(stderr);
}

bool gp_cli_complain(lua_State *L, int status) {
    if (status == LUA_OK)
        return true;
    bool is_report = luaL_testudata(L, -1, GP_ERROR) != NULL;
    if (is_report)
        luaL_tolstring(L, -1, NULL);
    const char *text = lua_tostring(L, -1);
    print_message(is_report ? NULL : program, text ? text : "(error message not a string)");
    lua_pop(L, is_report ? 2 : 1);
    return false;
}

/* Turns the error into text: strings get a traceback, objects speak for themselves. Our own error
** objects stay what they are: their report has a form of its own, without the program's name. */
static int handle_message(lua_State *L) {
    const char *text = lua_tostring(L, 1);
    if (!text) {
        if (luaL_testudata(L, 1, GP_ERROR))
            return 1;
        if (luaL_callmeta(L, 1, "__tostring") && lua_type(L, -1) == LUA_TSTRING)
            return 1;
        text = lua_pushfstring(L, "(error object is a %s value)", luaL_typename(L, 1));
    }
    luaL_traceback(L, L, text, 1);
    return 1;
}

static lua_State *signalled; /* a signal handler has no other way to know */

static void stop(lua_State *L, lua_Debug *ar) {
    (void)ar;
    lua_sethook(L, NULL, 0, 0);
    luaL_error(L, "interrupted!");
}

/* Without SA_RESTART, so that an interrupt ends a read that blocks. */
static void set_signal(int number, void (*handler)(int)) {
    struct sigaction action = {.sa_handler = handler};
    sigemptyset(&action.sa_mask);
    sigaction(number, &action, NULL);
}

/* The first interrupt stops the running code, in Lua or in a long wait; a second one kills. */
static void handle_signal(int number) {
    int mask = LUA_MASKCALL | LUA_MASKRET | LUA_MASKLINE | LUA_MASKCOUNT;
    set_signal(number, SIG_DFL);
    lua_sethook(signalled, stop, mask, 1);
    gpulua_state **state = (gpulua_state **)lua_getextraspace(signalled);
    if (*state)
        gpulua_interrupt(*state);
}

int gp_cli_call(lua_State *L, int arg_count, int result_count) {
    int base = lua_gettop(L) - arg_count;
    lua_pushcfunction(L, handle_message);
    lua_insert(L, base);
    signalled = L;
    set_signal(SIGINT, handle_signal);
    int status = lua_pcall(L, arg_count, result_count, base);
    set_signal(SIGINT, SIG_DFL);
    gpulua_state *g = *(gpulua_state **)lua_getextraspace(L);
    if (g)
        g->interrupted = 0; /* Lua code took it: no later wait may end by it */
    lua_remove(L, base);
    return status;
}

static bool run_loaded(lua_State *L, int load_status) {
    int status = load_status;
    if (status == LUA_OK)
        status = gp_cli_call(L, 0, 0);
    return gp_cli_complain(L, status);
}

static bool run_string(lua_State *L, const char *text, const char *name) {
    gp_state_type(*(gpulua_state **)lua_getextraspace(L), name, text);
    return run_loaded(L, luaL_loadbuffer(L, text, strlen(text), name));
}

/* `-l mod` and `-l name=mod`: requires it into a global. */
static bool require_library(lua_State *L, char *spec) {
    char *equals = strchr(spec, '=');
    const char *global = spec, *module = spec;
    if (equals) {
        *equals = '\0';
        module = equals + 1;
    }
    lua_getglobal(L, "require");
    lua_pushstring(L, module);
    int status = gp_cli_call(L, 1, 1);
    if (status == LUA_OK)
        lua_setglobal(L, global);
    return gp_cli_complain(L, status);
}

/* ---- Options -------------------------------------------------------------------------------- */

const char gp_cli_options[] = "  -e stat   execute string 'stat'\n"
                              "  -i        enter interactive mode after executing 'script'\n"
                              "  -l mod    require library 'mod' into global 'mod'\n"
                              "  -l g=mod  require library 'mod' into global 'g'\n"
                              "  -v        show version information\n"
                              "  -E        ignore environment variables\n"
                              "  -W        turn warnings on\n"
                              "  --        stop handling options\n"
                              "  -         stop handling options and execute stdin\n";

static void print_usage(const char *bad) {
    if (bad[1] == 'e' || bad[1] == 'l')
        fprintf(stderr, "%s: '%s' needs argument\n", program, bad);
    else
        fprintf(stderr, "%s: unrecognized option '%s'\n", program, bad);
    fprintf(stderr,
            "usage: %s [options] [script [args]]\n"
            "Available options are:\n"
            "%s"
            "Commands (gpulua help): check, emit, doctor, explain, cache\n",
            program, gp_cli_options);
    fflush(stderr);
}

/* What lua5.4 does not know and other programs answer. */
static bool read_long_option(const char *word, Options *o) {
    bool is_version = strcmp(word, "--version") == 0;
    bool is_help = strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0;
    o->version |= is_version;
    o->help |= is_help;
    return is_version || is_help;
}

/* Reads one option; false when it is a bad one. Sets *has_value when the next word is its. */
static bool read_option(const char *word, bool has_next, Options *o, bool *has_value) {
    *has_value = false;
    switch (word[1]) {
    case 'E':
        o->no_env = true;
        return word[2] == '\0';
    case 'i':
        o->interactive = o->version = true;
        return word[2] == '\0';
    case 'v':
        o->version = true;
        return word[2] == '\0';
    case 'W':
        return word[2] == '\0';
    case 'e':
    case 'l':
        *has_value = word[2] == '\0';
        return !*has_value || has_next;
    default: /* any other letter */
        return false;
    }
}

static Options read_options(int argc, char **argv) {
    Options o = {.script = argc};
    for (int i = 1; i < argc; i++) {
        bool has_value;
        const char *word = argv[i];
        if (word[0] != '-' || word[1] == '\0') {
            o.script = i;
            return o;
        }
        if (read_long_option(word, &o))
            continue;
        if (word[1] == '-') {
            if (word[2] != '\0')
                o.bad = i;
            o.script = i + 1;
            return o;
        }
        bool has_next = i + 1 < argc && argv[i + 1][0] != '-';
        if (!read_option(word, has_next, &o, &has_value)) {
            o.bad = i;
            return o;
        }
        if (has_value)
            i++;
    }
    return o;
}

/* -e, -l and -W in order, up to the script. */
static bool run_options(lua_State *L, char **argv, int end) {
    for (int i = 1; i < end; i++) {
        char option = argv[i][1];
        if (option == 'W')
            lua_warning(L, "@on", 0);
        if (option != 'e' && option != 'l')
            continue;
        char *value = argv[i][2] ? argv[i] + 2 : argv[++i];
        bool ok =
            option == 'e' ? run_string(L, value, "=(command line)") : require_library(L, value);
        if (!ok)
            return false;
    }
    return true;
}

static bool has_execute(char **argv, int end) {
    for (int i = 1; i < end; i++)
        if (argv[i][0] == '-' && argv[i][1] == 'e')
            return true;
    return false;
}

static bool run_init(lua_State *L) {
    const char *name = "=LUA_INIT_5_4", *init = getenv(name + 1);
    if (!init) {
        name = "=LUA_INIT";
        init = getenv(name + 1);
    }
    if (!init)
        return true;
    if (init[0] == '@')
        return run_loaded(L, luaL_loadfile(L, init + 1));
    return run_string(L, init, name);
}

/* The global `arg`: the script is 0, its arguments follow, what stood before is negative. */
static void create_arg(lua_State *L, int argc, char **argv, int script) {
    if (script == argc)
        script = 0;
    int count = argc - (script + 1);
    lua_createtable(L, count, script + 1);
    for (int i = 0; i < argc; i++) {
        lua_pushstring(L, argv[i]);
        lua_rawseti(L, -2, i - script);
    }
    lua_setglobal(L, "arg");
}

/* Pushes what `arg` holds from 1 on: LUA_INIT and -e may have changed it. Returns their number. */
static int push_args(lua_State *L) {
    if (lua_getglobal(L, "arg") != LUA_TTABLE)
        luaL_error(L, "'arg' is not a table");
    int table = lua_gettop(L);
    int count = (int)luaL_len(L, table);
    luaL_checkstack(L, count + 3, "too many arguments to script");
    for (int i = 1; i <= count; i++)
        lua_rawgeti(L, table, i);
    lua_remove(L, table);
    return count;
}

/* A kernel file in the place of a script: Lua's error would be about its first word. */
static void name_kernel_file(lua_State *L, const char *path) {
    size_t len = strlen(path);
    if (len < 3 || strcmp(path + len - 3, ".rs") != 0)
        return;
    lua_pop(L, 1);
    lua_pushfstring(L, "'%s' is a kernel file: gpulua check %s", path, path);
}

/* A misspelt command in the place of a script that is not there. */
static void name_command(lua_State *L, const char *word) {
    const char *near = gp_cmd_similar(word);
    if (!near)
        return;
    lua_pushfstring(L, " (did you mean `gpulua %s`?)", near);
    lua_concat(L, 2);
}

static bool run_script(lua_State *L, char **argv, int script) {
    const char *path = argv[script];
    bool is_stdin = strcmp(path, "-") == 0 && strcmp(argv[script - 1], "--") != 0;
    int status = luaL_loadfile(L, is_stdin ? NULL : path);
    if (status == LUA_ERRSYNTAX)
        name_kernel_file(L, path);
    if (status == LUA_ERRFILE && !is_stdin)
        name_command(L, path);
    if (status == LUA_OK) {
        int count = push_args(L);
        status = gp_cli_call(L, count, LUA_MULTRET);
    }
    return gp_cli_complain(L, status);
}

static void print_version(void) {
    printf("%s  (gpulua %s, LLVM %s)\n", LUA_COPYRIGHT, GPULUA_VERSION, gp_codegen_llvm_version());
    fflush(stdout);
}

/* ---- The program ---------------------------------------------------------------------------- */

typedef struct Program {
    int argc;
    char **argv;
    gpulua_state *g;
} Program;

static void run_repl(lua_State *L) {
    const char *before = program;
    program = NULL;
    gp_repl_run(L);
    program = before;
}

static bool run_program(lua_State *L, const Program *p) {
    Options o = read_options(p->argc, p->argv);
    int end = GP_MIN(o.script, p->argc);
    if (p->argv[0] && p->argv[0][0])
        program = p->argv[0];
    if (o.bad) {
        print_usage(p->argv[o.bad]);
        return false;
    }
    if (o.help)
        return gp_cmd_help(p->g, 1, p->argv) == EXIT_SUCCESS;
    if (o.version)
        print_version();
    luaL_openlibs(L);
    create_arg(L, p->argc, p->argv, o.script < p->argc ? o.script : p->argc);
    lua_gc(L, LUA_GCGEN, 0, 0);
    if (!o.no_env && !run_init(L))
        return false;
    if (!run_options(L, p->argv, end))
        return false;
    if (o.script < p->argc && !run_script(L, p->argv, o.script))
        return false;
    if (o.interactive) {
        run_repl(L);
    } else if (o.script >= p->argc && !has_execute(p->argv, end) && !o.version) {
        if (isatty(STDIN_FILENO)) {
            print_version();
            run_repl(L);
        } else {
            run_loaded(L, luaL_loadfile(L, NULL));
        }
    }
    return true;
}

static int protected_program(lua_State *L) {
    const Program *p = lua_touserdata(L, 1);
    luaL_checkversion(L);
    lua_pushboolean(L, run_program(L, p));
    return 1;
}

/* A script of that name wins; a folder is none. */
static const GpCommand *find_command(int argc, char **argv) {
    struct stat info;
    if (argc < 2 || (stat(argv[1], &info) == 0 && !S_ISDIR(info.st_mode)))
        return NULL;
    for (const GpCommand *c = gp_commands; c->name; c++)
        if (strcmp(c->name, argv[1]) == 0)
            return c;
    return NULL;
}

static bool ignores_environment(int argc, char **argv) {
    Options o = read_options(argc, argv);
    return o.no_env;
}

static void write_stderr(void *ud, const char *text, size_t len) {
    (void)ud;
    fwrite(text, 1, len, stderr);
    fflush(stderr);
}

/* Warnings are off until -W or warn("@on"), as in lua5.4, which luaL_newstate arranges. */
static gpulua_state *open_state(lua_State *L, int argc, char **argv) {
    gpulua_state *g = NULL;
    gpulua_config config = {.size = sizeof(config), .write = write_stderr};
    bool no_env = ignores_environment(argc, argv);
    config.ignore_environment = no_env;
    if (no_env) {
        lua_pushboolean(L, 1);
        lua_setfield(L, LUA_REGISTRYINDEX, "LUA_NOENV");
    }
    gpulua_status status = gpulua_open_on(L, &config, &g);
    if (status != GPULUA_OK)
        print_message(program, gpulua_status_name(status));
    return g;
}

GP_API int gpulua_main(int argc, char **argv) {
    lua_State *L = luaL_newstate();
    if (!L) {
        print_message(program, "cannot create state: not enough memory");
        return EXIT_FAILURE;
    }
    gpulua_state *g = open_state(L, argc, argv);
    if (!g) {
        lua_close(L);
        return EXIT_FAILURE;
    }
    *(gpulua_state **)lua_getextraspace(L) = g;
    const GpCommand *command = find_command(argc, argv);
    int result = EXIT_FAILURE;
    if (command) {
        result = gp_cmd_run(command, g, argc - 1, argv + 1);
    } else {
        Program p = {argc, argv, g};
        lua_pushcfunction(L, protected_program);
        lua_pushlightuserdata(L, &p);
        int status = lua_pcall(L, 1, 1, 0);
        bool is_fine = lua_toboolean(L, -1);
        gp_cli_complain(L, status);
        result = status == LUA_OK && is_fine ? EXIT_SUCCESS : EXIT_FAILURE;
    }
    lua_close(L);
    gpulua_close(g);
    return result;
}
