/* gpu.help: the documentation that stands beside each function, as text. docs/api.md is its
** output (spec/support/docs.lua), so the two cannot differ. */
#include "lua/lsimilar.h"
#include "lua/state.h"

static void add_row(luaL_Buffer *b, const char *prefix, const GpLuaFn *fn) {
    luaL_addstring(b, "- `");
    luaL_addstring(b, prefix);
    luaL_addstring(b, fn->usage);
    luaL_addstring(b, "`  \n  ");
    luaL_addstring(b, fn->doc);
    luaL_addstring(b, "\n");
}

static bool is_wanted(const GpLuaFn *fn, const char *name) {
    return !name || strcmp(fn->name, name) == 0;
}

static void add_functions(luaL_Buffer *b, const char *name) {
    if (!name) luaL_addstring(b, "## The module\n\n");
    for (const GpLuaFn *const *table = gp_lua_functions; *table; table++)
        for (const GpLuaFn *fn = *table; fn->name; fn++)
            if (is_wanted(fn, name)) add_row(b, "gpu.", fn);
}

static void add_types(luaL_Buffer *b, const char *name) {
    for (const GpLuaType *type = gp_lua_types; type->type; type++) {
        if (!name) {
            luaL_addstring(b, "\n## ");
            luaL_addstring(b, type->type);
            luaL_addstring(b, "\n\n");
        }
        for (const GpLuaFn *fn = type->methods; fn->name; fn++)
            if (is_wanted(fn, name)) add_row(b, "", fn);
    }
}

static void consider_all(GpLuaSimilar *s, const GpLuaFn *fns) {
    for (; fns->name; fns++) gp_lua_consider(s, fns->name, strlen(fns->name));
}

static int refuse_name(lua_State *L, const char *name) {
    GpLuaSimilar s = {.wanted = name};
    for (const GpLuaFn *const *table = gp_lua_functions; *table; table++) consider_all(&s, *table);
    for (const GpLuaType *type = gp_lua_types; type->type; type++) consider_all(&s, type->methods);
    if (s.name) return luaL_error(L, "nothing is called `%s`; did you mean `%s`?", name, lua_pushlstring(L, s.name, s.len));
    return luaL_error(L, "nothing is called `%s`; gpu.help() tells everything", name);
}

static int gpu_help(lua_State *L) {
    const char *name = luaL_optstring(L, 1, NULL);
    luaL_Buffer b;
    luaL_buffinit(L, &b);
    add_functions(&b, name);
    add_types(&b, name);
    luaL_pushresult(&b);
    return lua_rawlen(L, -1) ? 1 : refuse_name(L, name);
}

const GpLuaFn gp_lua_help_functions[] = {
    {"help", gpu_help, "help([name]) -> string",
     "What a function or method does, by its name; without one, everything."},
    {NULL, NULL, NULL, NULL},
};
