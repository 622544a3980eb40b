/* The name that the running Lua code has for a value, for messages.
**
** All names of one handle are equal to the runtime, so the source line decides: what the running
** method is called on, then whichever variable or field holds the handle and stands on the line,
** then the innermost variable that holds it. */
#include <stdio.h>

#include "lua/lua_text.h"
#include "lua/state.h"

enum { MAX_NAMES = 16, NAME_SIZE = 96, MAX_FIELDS = 4096 };

/* The names of one object, the nearest first. */
typedef struct Names {
    lua_State *L;
    const void *object;
    int count, fields; /* fields: looked at so far */
    char at[MAX_NAMES][NAME_SIZE];
} Names;

static bool is_box_of(lua_State *L, int index, const void *object) {
    if (lua_type(L, index) != LUA_TUSERDATA) return false;
    GpBox *box = gp_box_test(L, index, GP_TENSOR);
    if (!box) box = gp_box_test(L, index, GP_PARTITION);
    if (!box) box = gp_box_test(L, index, GP_RUN_OP);
    return box && box->object == object;
}

static void add_name(Names *n, const char *name) {
    size_t len = strlen(name);
    if (n->count == MAX_NAMES || len >= NAME_SIZE) return;
    memcpy(n->at[n->count++], name, len + 1);
}

/* The key at -2 as a field of `table`: t.x, t[1]; false for other keys. */
static bool print_field(lua_State *L, const char *table, char out[NAME_SIZE]) {
    int len = -1;
    if (lua_type(L, -2) == LUA_TSTRING) {
        const char *key = lua_tostring(L, -2);
        len = snprintf(out, NAME_SIZE, "%s%s%s", table, *table ? "." : "", key);
    } else if (lua_isinteger(L, -2)) {
        len = snprintf(out, NAME_SIZE, "%s[%lld]", table, (long long)lua_tointeger(L, -2));
    }
    return len > 0 && len < NAME_SIZE;
}

/* Fields of the table at the top of the stack, and of tables in it down to `depth`. */
static void add_fields(Names *n, const char *table, int depth) {
    lua_State *L = n->L;
    char name[NAME_SIZE];
    if (!lua_checkstack(L, 8)) return;
    lua_pushnil(L);
    while (lua_next(L, -2)) {
        bool is_done = ++n->fields > MAX_FIELDS || n->count == MAX_NAMES;
        if (!is_done && print_field(L, table, name) && strcmp(name, "_G") != 0) {
            if (is_box_of(L, -1, n->object)) add_name(n, name);
            else if (depth > 1 && lua_istable(L, -1)) add_fields(n, name, depth - 1);
        }
        lua_pop(L, 1);
        if (is_done) {
            lua_pop(L, 1);
            return;
        }
    }
}

typedef const char *(*GpNext)(lua_State *L, lua_Debug *ar, int n);

static const char *next_local(lua_State *L, lua_Debug *ar, int n) { return lua_getlocal(L, ar, n); }
/* The function is at the top of the stack. */
static const char *next_upvalue(lua_State *L, lua_Debug *ar, int n) {
    (void)ar;
    return lua_getupvalue(L, -1, n);
}

static bool is_shown(const char *name) {
    return *name != '(' && *name != '\0' && strcmp(name, "_ENV") != 0;
}

/* Inner variables come last and shadow outer ones. */
static void add_variables(Names *n, lua_Debug *ar, GpNext next, bool is_table) {
    lua_State *L = n->L;
    int last = 0;
    while (next(L, ar, last + 1)) {
        lua_pop(L, 1);
        last++;
    }
    for (; last > 0; last--) {
        const char *name = next(L, ar, last);
        if (is_shown(name) && is_table && lua_istable(L, -1)) add_fields(n, name, 2);
        else if (is_shown(name) && !is_table && is_box_of(L, -1, n->object)) add_name(n, name);
        lua_pop(L, 1);
    }
}

static void add_all(Names *n, lua_Debug *ar) {
    lua_State *L = n->L;
    int top = lua_gettop(L);
    if (!lua_checkstack(L, 16)) return;
    add_variables(n, ar, next_local, false);
    bool has_function = lua_getinfo(L, "f", ar) != 0;
    if (has_function) add_variables(n, ar, next_upvalue, false);
    lua_settop(L, top);
    add_variables(n, ar, next_local, true);
    if (has_function && lua_getinfo(L, "f", ar)) add_variables(n, ar, next_upvalue, true);
    lua_settop(L, top);
    lua_pushglobaltable(L);
    add_fields(n, "", 2);
    lua_settop(L, top);
}

/* What stands before the `:` when the object's own method runs. */
static GpSpan find_receiver(lua_State *L, GpSpan line, const void *object) {
    lua_Debug called;
    if (!lua_getstack(L, 0, &called) || !lua_getinfo(L, "n", &called)) return GP_NO_SPAN;
    bool is_method = called.name && strcmp(called.namewhat, "method") == 0;
    if (!is_method || !is_box_of(L, 1, object)) return GP_NO_SPAN;
    return gp_lua_text_receiver(line, called.name);
}

static bool give(GpText *out, GpSpan *at, const char *name, size_t len, GpSpan span) {
    gp_text_add(out, name, len);
    if (at) *at = span;
    return true;
}

bool gp_lua_name(lua_State *L, gpulua_state *g, const void *object, GpText *out, GpSpan *at) {
    lua_Debug ar;
    if (at) *at = GP_NO_SPAN;
    if (!gp_lua_caller(L, &ar) || !lua_getinfo(L, "l", &ar)) return false;
    GpSite site = gp_engine_site(g->engine, gp_state_chunk(g, &ar), ar.currentline);
    GpSpan line = gp_engine_resolve(g->engine, site);
    GpSpan receiver = find_receiver(L, line, object);
    if (receiver.src) return give(out, at, receiver.src->text + receiver.off, receiver.len, receiver);
    Names names = {.L = L, .object = object};
    add_all(&names, &ar);
    for (int i = 0; i < names.count; i++) {
        GpSpan first;
        int count = gp_lua_text_count(line, names.at[i], &first);
        if (count > 0)
            return give(out, at, names.at[i], strlen(names.at[i]), count == 1 ? first : GP_NO_SPAN);
    }
    return names.count > 0 && give(out, at, names.at[0], strlen(names.at[0]), GP_NO_SPAN);
}
