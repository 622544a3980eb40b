/* The interactive loop: a line is tried as an expression first, then as a statement that may go
** on over more lines. Line editing and history come from readline or libedit where the machine has
** one; they are loaded for the loop, never linked. As in Debian's lua5.4 they read pipes too. */
#include "lua/repl.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

/* LLVM's shared library brings libedit, whose names are readline's: a readline loaded afterwards
*must
** be bound to itself. The sanitizers forbid that; there, what the process has already is taken. */
#if defined(__has_feature)
#define GP_HAS_FEATURE(x) __has_feature(x)
#else
#define GP_HAS_FEATURE(x) 0
#endif
#if defined(__SANITIZE_ADDRESS__) || GP_HAS_FEATURE(address_sanitizer)
#define GP_EDITOR_BINDING 0
#define GP_EDITOR_SHARED  true
#else
#define GP_EDITOR_BINDING RTLD_DEEPBIND
#define GP_EDITOR_SHARED  false
#endif

typedef struct Editor {
    char *(*readline)(const char *prompt); /* NULL: plain stdin */
    void (*add_history)(const char *line);
    void (*free_line)(void *line); /* bound to itself, it may have an allocator of its own */
} Editor;

/* Sets the function pointer at `to`; ISO C has no conversion for what dlsym gives. */
static bool find_function(void *library, const char *name, void *to) {
    void *symbol = dlsym(library, name);
    if (symbol)
        memcpy(to, &symbol, sizeof(symbol));
    return symbol != NULL;
}

/* readline's callbacks have no argument for it. */
static struct {
    lua_State *L;
    int index;   /* between the calls for one word */
    int *append; /* readline's: the character behind a word that is complete */
} completion;

static char *next_completion(const char *text, int state) {
    completion.index = state == 0 ? 0 : completion.index + 1;
    *completion.append = '\0';
    return gp_repl_complete(completion.L, text, completion.index);
}

/* Names alone are completed: no file names where there is no match. */
static void offer_completion(void *library) {
    static const char breaks[] = " \t\n\"'><=;|&{}()[],+-*/%^~#";
    const char **word_breaks = dlsym(library, "rl_completer_word_break_characters");
    char *(**entry)(const char *, int) = NULL;
    void *symbol = dlsym(library, "rl_completion_entry_function");
    completion.append = dlsym(library, "rl_completion_append_character");
    memcpy(&entry, &symbol, sizeof(symbol));
    if (!word_breaks || !entry || !completion.append)
        return;
    *word_breaks = breaks;
    *entry = next_completion;
}

static bool find_editor(void *library, Editor *e) {
    if (!find_function(library, "readline", &e->readline))
        return false;
    find_function(library, "add_history", &e->add_history);
    e->free_line = free;
    find_function(library, "rl_free", &e->free_line);
    const char **name = dlsym(library, "rl_readline_name"); /* for `$if lua` in inputrc */
    if (name)
        *name = "lua";
    offer_completion(library);
    return true;
}

static Editor load_editor(void) {
    static const char *const names[] = {"libreadline.so.8", "libreadline.so.7", "libedit.so.2"};
    Editor e = {.free_line = free};
    if (GP_EDITOR_SHARED && find_editor(RTLD_DEFAULT, &e))
        return e;
    for (size_t i = 0; i < GP_COUNT(names); i++) {
        void *library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL | GP_EDITOR_BINDING);
        if (library && find_editor(library, &e))
            return e;
    }
    return e;
}

/* The prompt's text; the global _PROMPT or _PROMPT2 may be any value. Leaves it on the stack. */
static const char *push_prompt(lua_State *L, bool is_first) {
    if (lua_getglobal(L, is_first ? "_PROMPT" : "_PROMPT2") == LUA_TNIL) {
        lua_pop(L, 1);
        return lua_pushstring(L, is_first ? "> " : ">> ");
    }
    const char *text = luaL_tolstring(L, -1, NULL);
    lua_remove(L, -2);
    return text;
}

/* Pushes a line without its newline; false at the end of input. */
static bool read_line(lua_State *L, const Editor *e, bool is_first) {
    char *line = NULL;
    size_t size = 0;
    const char *prompt = push_prompt(L, is_first);
    if (e->readline) {
        line = e->readline(prompt);
    } else {
        fputs(prompt, stdout);
        fflush(stdout);
        ssize_t len = getline(&line, &size, stdin);
        if (len > 0 && line[len - 1] == '\n')
            line[len - 1] = '\0';
        if (len < 0) {
            free(line);
            line = NULL;
        }
    }
    lua_pop(L, 1);
    if (!line)
        return false;
    /* A leading = asked for the value in older versions of Lua. */
    if (is_first && line[0] == '=')
        lua_pushfstring(L, "return %s", line + 1);
    else
        lua_pushstring(L, line);
    e->free_line(line);
    return true;
}

static int try_expression(lua_State *L) {
    const char *line = lua_tostring(L, -1);
    const char *text = lua_pushfstring(L, "return %s;", line);
    int status = luaL_loadbuffer(L, text, strlen(text), "=stdin");
    lua_remove(L, status == LUA_OK ? -2 : -1);
    if (status != LUA_OK)
        lua_pop(L, 1);
    return status;
}

static bool is_incomplete(lua_State *L, int status) {
    static const char mark[] = "<eof>";
    size_t len;
    if (status != LUA_ERRSYNTAX)
        return false;
    const char *message = lua_tolstring(L, -1, &len);
    size_t mark_len = sizeof(mark) - 1;
    if (len < mark_len || strcmp(message + len - mark_len, mark) != 0)
        return false;
    lua_pop(L, 1);
    return true;
}

/* The line at index 1 and as many more as make a chunk. */
static int load_statement(lua_State *L, const Editor *e) {
    for (;;) {
        size_t len;
        const char *text = lua_tolstring(L, 1, &len);
        int status = luaL_loadbuffer(L, text, len, "=stdin");
        if (!is_incomplete(L, status))
            return status;
        if (!read_line(L, e, false)) {
            /* Say what was missing. */
            return luaL_loadbuffer(L, lua_tostring(L, 1), len, "=stdin");
        }
        lua_pushliteral(L, "\n");
        lua_insert(L, -2);
        lua_concat(L, 3);
    }
}

/* Leaves the chunk or an error message alone on the stack; -1 at the end of input. */
static int load_line(lua_State *L, const Editor *e) {
    lua_settop(L, 0);
    if (!read_line(L, e, true))
        return -1;
    int status = try_expression(L);
    if (status != LUA_OK)
        status = load_statement(L, e);
    const char *text = lua_tostring(L, 1);
    if (text[0] != '\0' && e->add_history)
        e->add_history(text);
    gp_state_type(*(gpulua_state **)lua_getextraspace(L), "=stdin", text);
    lua_remove(L, 1);
    return status;
}

static void print_results(lua_State *L) {
    int count = lua_gettop(L);
    if (count == 0)
        return;
    luaL_checkstack(L, LUA_MINSTACK, "too many results to print");
    lua_getglobal(L, "print");
    lua_insert(L, 1);
    if (lua_pcall(L, count, 0, 0) == LUA_OK)
        return;
    if (!luaL_testudata(L, -1, GP_ERROR)) /* a report speaks for itself */
        lua_pushfstring(L, "error calling 'print' (%s)", lua_tostring(L, -1));
    gp_cli_complain(L, LUA_ERRRUN);
}

void gp_repl_run(lua_State *L) {
    completion.L = L;
    Editor editor = load_editor();
    int status;
    while ((status = load_line(L, &editor)) != -1) {
        if (status == LUA_OK)
            status = gp_cli_call(L, 0, LUA_MULTRET);
        if (status == LUA_OK)
            print_results(L);
        else
            gp_cli_complain(L, status);
    }
    lua_settop(L, 0);
    fputs("\n", stdout);
    fflush(stdout);
}
