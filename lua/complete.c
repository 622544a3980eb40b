/* Completion for the interactive loop: the last name of a path such as `gpu.ten` or `t:resh`, from
** the globals, the fields of tables, and the methods of values. Nothing of the program is called:
** only tables are looked into, without metamethods of the user's. */
#include "lua/repl.h"

#include <stdlib.h>

/* Pushes the table or value that `len` bytes of a path name; false when there is none. */
static bool push_path(lua_State *L, const char *path, size_t len) {
    lua_pushglobaltable(L);
    while (len > 0) {
        size_t part = strcspn(path, ".:");
        part = GP_MIN(part, len);
        if (!lua_istable(L, -1)) return false;
        lua_pushlstring(L, path, part);
        lua_rawget(L, -2);
        lua_remove(L, -2);
        path += part + 1;
        len -= GP_MIN(part + 1, len);
    }
    return true;
}

/* Adds prefix .. name to the list at index 1 when `name` starts as `start`. */
static void add_match(lua_State *L, const char *prefix, size_t prefix_len, const char *start,
                      const char *name) {
    if (strncmp(name, start, strlen(start)) != 0 || strncmp(name, "__", 2) == 0) return;
    lua_pushlstring(L, prefix, prefix_len);
    lua_pushstring(L, name);
    lua_concat(L, 2);
    lua_rawseti(L, 1, (lua_Integer)lua_rawlen(L, 1) + 1);
}

static void add_keys(lua_State *L, const char *text, size_t prefix_len) {
    lua_pushnil(L);
    while (lua_next(L, -2)) {
        lua_pop(L, 1);
        if (lua_type(L, -1) == LUA_TSTRING)
            add_match(L, text, prefix_len, text + prefix_len, lua_tostring(L, -1));
    }
}

/* The methods of one of our values, at the top of the stack. */
static void add_methods(lua_State *L, const char *text, size_t prefix_len) {
    for (const GpLuaType *type = gp_lua_types; type->type; type++) {
        if (!gp_box_test(L, -1, type->type)) continue;
        for (const GpLuaFn *fn = type->methods; fn->name; fn++)
            add_match(L, text, prefix_len, text + prefix_len, fn->name);
    }
}

/* (text) -> list of completions */
static int find_matches(lua_State *L) {
    const char *text = lua_touserdata(L, 1);
    size_t prefix_len = 0;
    for (size_t i = 0; text[i]; i++)
        if (text[i] == '.' || text[i] == ':') prefix_len = i + 1;
    lua_newtable(L);
    lua_replace(L, 1);
    if (push_path(L, text, prefix_len)) {
        if (lua_type(L, -1) == LUA_TSTRING && luaL_getmetafield(L, -1, "__index") == LUA_TNIL)
            lua_pushnil(L);
        if (lua_istable(L, -1)) add_keys(L, text, prefix_len);
        else add_methods(L, text, prefix_len);
    }
    lua_settop(L, 1);
    return 1;
}

char *gp_repl_complete(lua_State *L, const char *text, int index) {
    static const char key[] = "gpulua.completions";
    char *found = NULL;
    if (!lua_checkstack(L, 4)) return NULL;
    if (index == 0) {
        lua_pushcfunction(L, find_matches);
        lua_pushlightuserdata(L, (void *)(uintptr_t)text);
        if (lua_pcall(L, 1, 1, 0) != LUA_OK) {
            lua_pop(L, 1);
            return NULL;
        }
        lua_setfield(L, LUA_REGISTRYINDEX, key);
    }
    if (lua_getfield(L, LUA_REGISTRYINDEX, key) == LUA_TTABLE) {
        if (lua_rawgeti(L, -1, index + 1) == LUA_TSTRING) found = strdup(lua_tostring(L, -1));
        lua_pop(L, 1);
    }
    lua_pop(L, 1);
    return found;
}
