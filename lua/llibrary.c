/* Kernels of the library itself (lua/library), compiled when one is first needed and kept in the
** registry with their module. Tensors are taken as lines of elements. */
#include "dsl/std.h"
#include "lua/state.h"

static const char modules_key = 0;

/* Replaces the object at the top by object:name(the argument above it). */
static void call_method(lua_State *L, const char *name) {
    lua_getfield(L, -2, name);
    lua_insert(L, -3);
    lua_call(L, 2, 1);
}

static void push_list(lua_State *L, lua_Integer n) {
    lua_createtable(L, 1, 0);
    lua_pushinteger(L, n);
    lua_rawseti(L, -2, 1);
}

static void push_module(lua_State *L, const char *name) {
    if (lua_rawgetp(L, LUA_REGISTRYINDEX, &modules_key) != LUA_TTABLE) {
        lua_pop(L, 1);
        lua_newtable(L);
        lua_pushvalue(L, -1);
        lua_rawsetp(L, LUA_REGISTRYINDEX, &modules_key);
    }
    if (lua_getfield(L, -1, name) == LUA_TNIL) {
        const GpStdSource *source = gp_library_source(name);
        lua_pop(L, 1);
        lua_pushvalue(L, lua_upvalueindex(1)); /* the anchor of the function that called */
        lua_pushcclosure(L, gp_lua_kernels, 1);
        lua_pushlstring(L, source->text, source->len);
        lua_pushfstring(L, "library/%s.rs", name);
        lua_call(L, 2, 1);
        lua_pushvalue(L, -1);
        lua_setfield(L, -3, name);
    }
    lua_remove(L, -2);
}

void gp_lua_library(lua_State *L, const char *module, const char *kernel) {
    luaL_checkstack(L, 16, "a kernel of the library");
    push_module(L, module);
    lua_getfield(L, -1, kernel);
    lua_remove(L, -2);
}

void gp_lua_push_line(lua_State *L, int index, bool is_written) {
    GpTensor *t = gp_box_check(L, index, GP_TENSOR)->tensor;
    int64_t count = 0;
    gp_shape_numel(gp_tensor_shape(t), &count);
    lua_pushvalue(L, index);
    push_list(L, count);
    call_method(L, "reshape");
    if (!is_written) return;
    push_list(L, GP_LIBRARY_TILE);
    call_method(L, "tiles");
}

void gp_lua_library_run(lua_State *L, int count) {
    lua_getfield(L, -count - 1, "run");
    lua_insert(L, -count - 2);
    lua_call(L, count + 1, 0);
}
