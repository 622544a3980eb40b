/* luaopen_gpulua: the module table, the metatables, and the state when the host made none. */
#include <stdio.h>

#include "core/include/gpulua_lua.h"
#include "lua/lsimilar.h"
#include "lua/state.h"

/* ---- Metatables ----------------------------------------------------------------------------- */

static void release_tensor(GpBox *box) { gp_tensor_release(box->tensor); }
static void release_partition(GpBox *box) { gp_partition_release(box->partition); }
static void release_module(GpBox *box) { gp_module_release(box->module); }
static void release_kernel(GpBox *box) { gp_kernel_release(box->kernel); }
static void release_op(GpBox *box) { gp_op_release(box->op); }
static void release_graph(GpBox *box) { gp_graph_release(box->graph); }
static void release_stream(GpBox *box) { gp_stream_release(box->stream); }
static void release_device(GpBox *box) { (void)box; /* devices live as long as the runtime */ }
static void release_error(GpBox *box) { gp_diags_release(box->diags); }

const GpLuaType gp_lua_types[] = {
    {GP_TENSOR, gp_lua_tensor_methods, release_tensor},
    {GP_PARTITION, gp_lua_partition_methods, release_partition},
    {GP_MODULE, gp_lua_module_methods, release_module},
    {GP_KERNEL, gp_lua_kernel_methods, release_kernel},
    {GP_RUN_OP, gp_lua_op_methods, release_op},
    {GP_GRAPH, gp_lua_graph_methods, release_graph},
    {GP_STREAM, gp_lua_stream_methods, release_stream},
    {GP_DEVICE, gp_lua_device_methods, release_device},
    {GP_ERROR, gp_lua_error_methods, release_error},
    {NULL, NULL, NULL},
};

const GpLuaFn *const gp_lua_functions[] = {
    gp_lua_kernel_functions,
    gp_lua_create_functions,
    gp_lua_borrow_functions,
    gp_lua_device_functions,
    gp_lua_tune_functions,
    gp_lua_graph_functions,
    gp_lua_image_functions,
    gp_lua_ops_functions,
    gp_lua_help_functions,
    NULL,
};

/* __gc of every type; upvalue 2 is its row. Finalisers may run on any coroutine, at any time,
** after gpulua_close too: they only give references back. */
static int collect(lua_State *L) {
    const GpLuaType *type = lua_touserdata(L, lua_upvalueindex(2));
    GpBox *box = gp_box_test(L, 1, type->type); /* the debug library reaches this function */
    if (box) gp_box_empty(box);
    return 0;
}

/* Adds functions with the anchor as upvalue 1 to the table at the top: metamethods to the table
** at `meta` instead. */
static void add_functions(lua_State *L, int anchor, const GpLuaFn *fns, int meta) {
    for (const GpLuaFn *f = fns; f->name; f++) {
        bool is_meta = strncmp(f->name, "__", 2) == 0;
        lua_pushvalue(L, anchor);
        lua_pushcclosure(L, f->fn, 1);
        lua_setfield(L, is_meta ? meta : -2, f->name);
    }
}

static void open_type(lua_State *L, int anchor, const GpLuaType *type) {
    luaL_newmetatable(L, type->type);
    int meta = lua_gettop(L);
    lua_newtable(L);
    add_functions(L, anchor, type->methods, meta);
    /* A type whose __index is a function finds its methods in upvalue 2 of it. */
    if (lua_getfield(L, meta, "__index") == LUA_TFUNCTION) {
        lua_pushvalue(L, anchor);
        lua_pushvalue(L, meta + 1);
        lua_pushcclosure(L, lua_tocfunction(L, -3), 2);
        lua_setfield(L, meta, "__index");
        lua_pop(L, 1);
    } else {
        lua_pop(L, 1);
        gp_lua_watch(L, type);
        lua_pushvalue(L, -1);
        lua_setfield(L, meta, "__index");
    }
    lua_pop(L, 1);
    lua_pushvalue(L, anchor);
    lua_pushlightuserdata(L, (void *)type);
    lua_pushcclosure(L, collect, 2);
    lua_pushvalue(L, -1);
    lua_setfield(L, meta, "__gc");
    if (lua_getfield(L, meta, "__close") == LUA_TNIL) {
        lua_pushvalue(L, -2);
        lua_setfield(L, meta, "__close");
    }
    lua_pop(L, 2);
    lua_pushstring(L, type->type);
    lua_setfield(L, meta, "__metatable");
    lua_settop(L, meta - 1);
}

/* ---- The state of a host that opened none --------------------------------------------------- */

static void write_stderr(void *ud, const char *text, size_t len) {
    (void)ud;
    fwrite(text, 1, len, stderr);
    fflush(stderr);
}

/* Opens a state on L that closes with L, and pushes its anchor. */
static void push_own(lua_State *L) {
    gpulua_config config = {.size = sizeof(config), .write = write_stderr};
    gpulua_state *g = NULL;
    lua_getfield(L, LUA_REGISTRYINDEX, "LUA_NOENV");
    config.ignore_environment = lua_toboolean(L, -1);
    lua_pop(L, 1);
    gpulua_status status = gp_state_open(L, &config, &g);
    if (status != GPULUA_OK) luaL_error(L, "cannot open gpulua: %s", gpulua_status_name(status));
    gp_lua_push_anchor(L, g, true);
    lua_pushvalue(L, -1);
    lua_setfield(L, LUA_REGISTRYINDEX, "gpulua.state");
}

GP_API int luaopen_gpulua(lua_State *L) {
    luaL_checkversion(L);
    lua_settop(L, 0);
    if (lua_isuserdata(L, lua_upvalueindex(1))) lua_pushvalue(L, lua_upvalueindex(1));
    else push_own(L);
    for (const GpLuaType *type = gp_lua_types; type->type; type++) open_type(L, 1, type);
    lua_newtable(L);
    int module = lua_gettop(L);
    for (const GpLuaFn *const *table = gp_lua_functions; *table; table++)
        add_functions(L, 1, *table, module);
    lua_pushstring(L, gpulua_version());
    lua_setfield(L, module, "_VERSION");
    gp_lua_watch(L, NULL);
    return 1;
}
