/* Ops: launches that were made, run, waited for. */
#include "lua/state.h"

static GpBox *check_op(lua_State *L) { return gp_box_check(L, 1, GP_RUN_OP); }

/* Pushes the written arguments, in parameter order. */
static int push_written(lua_State *L, const GpBox *box) {
    luaL_checkstack(L, (int)box->written, "too many results");
    for (uint32_t i = 0; i < box->written; i++) lua_getiuservalue(L, 1, (int)i + 1);
    return (int)box->written;
}

static int op_run(lua_State *L) {
    GpBox *box = check_op(L);
    GpStream *stream = gp_box_opt_stream(L, 2);
    gpulua_state *g = gp_lua_state(L);
    gp_lua_check(L, gp_op_run(box->op, stream, gp_state_site(g, L), gp_state_diags(g, L)));
    lua_settop(L, 1);
    return 1;
}

static int op_sync(lua_State *L) {
    GpBox *box = check_op(L);
    GpStream *stream = gp_box_opt_stream(L, 2);
    GpDiags *diags = gp_lua_diags(L);
    gp_lua_check(L, gp_op_sync(box->op, stream, gp_lua_site(L), diags));
    return push_written(L, box);
}

static int op_sync_on(lua_State *L) {
    gp_box_check(L, 2, GP_STREAM);
    return op_sync(L);
}

/* In a coroutine: yields until the op is done, so that others run meanwhile. */
static int await_more(lua_State *L, int status, lua_KContext ctx) {
    GpBox *box = check_op(L);
    (void)status;
    (void)ctx;
    if (!gp_op_is_done(box->op)) {
        lua_settop(L, 1);
        return lua_yieldk(L, 0, 0, await_more);
    }
    lua_settop(L, 1);
    return op_sync(L);
}

static int op_await(lua_State *L) {
    GpBox *box = check_op(L);
    if (!gp_op_is_run(box->op)) {
        op_run(L);
        lua_settop(L, 1);
    }
    if (!lua_isyieldable(L)) return op_sync(L);
    return await_more(L, LUA_OK, 0);
}

static int op_is_done(lua_State *L) {
    GpBox *box = check_op(L);
    gp_lua_state(L);
    lua_pushboolean(L, gp_op_is_run(box->op) && gp_op_is_done(box->op));
    return 1;
}

static int op_tostring(lua_State *L) {
    GpBox *box = check_op(L);
    const char *state = "made, not run";
    if (gp_op_is_run(box->op)) state = gp_op_is_done(box->op) ? "done" : "enqueued";
    lua_pushfstring(L, "op (%s)", state);
    return 1;
}

const GpLuaFn gp_lua_op_methods[] = {
    {"run", op_run, "op:run([stream]) -> op",
     "Enqueues the op on the stream or the device's default one; does not wait. On the CPU the kernel runs at once, before this returns. A second run is E0382."},
    {"sync", op_sync, "op:sync() -> written arguments..",
     "Runs the op if it was not run, waits for it, raises its failed check if there is one."},
    {"sync_on", op_sync_on, "op:sync_on(stream) -> written arguments..", "The same on a stream."},
    {"await", op_await, "op:await() -> written arguments..",
     "As sync; inside a coroutine it yields while the op runs."},
    {"graph", gp_lua_op_graph, "op:graph() -> Graph",
     "A graph of this launch, which counts as run and runs when the graph is launched."},
    {"is_done", op_is_done, "op:is_done() -> boolean", "Whether it was run and has ended; does not wait."},
    {"__tostring", op_tostring, "tostring(op) -> string", "Its state."},
    {NULL, NULL, NULL, NULL},
};
