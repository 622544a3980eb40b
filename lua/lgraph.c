/* Graphs: launches recorded once and replayed. */
#include "lua/lsimilar.h"
#include "lua/state.h"

static GpGraph *check_graph(lua_State *L) { return gp_box_check(L, 1, GP_GRAPH)->graph; }

/* Stores {NAME = tensor} as user value 1 of the graph at the top; of launches with a parameter of the
** same name the first counts. */
static void keep_args(lua_State *L, const GpGraph *g) {
    lua_newtable(L);
    for (uint32_t i = 0; i < gp_graph_count(g); i++) {
        const GpRunRequest *r = gp_graph_request(g, i);
        for (uint32_t k = 0; k < r->arg_count; k++) {
            if (!r->args[k].tensor || !r->args[k].param) continue;
            bool is_new = lua_getfield(L, -1, r->args[k].param) == LUA_TNIL;
            lua_pop(L, 1);
            if (!is_new) continue;
            GpBox *box = gp_box_push(L, GP_TENSOR, 0);
            gp_box_fill(L, box, gp_tensor_retain(r->args[k].tensor));
            lua_setfield(L, -2, r->args[k].param);
        }
    }
    lua_setiuservalue(L, -2, 1);
}

/* Begins to record into an empty graph, which is pushed. */
static GpGraph *begin(lua_State *L) {
    gpulua_state *g = gp_lua_state(L);
    GpGraph *graph = NULL;
    GpBox *box = gp_box_push(L, GP_GRAPH, 1);
    gp_lua_check(L, gp_graph_begin(gp_engine_runtime(g->engine), gp_lua_site(L), gp_lua_diags(L), &graph));
    gp_box_fill(L, box, graph);
    return graph;
}

/* Ends the recording of the graph at the top. */
static int end(lua_State *L, GpGraph *graph) {
    gp_lua_check(L, gp_graph_end(graph, gp_lua_site(L), gp_lua_diags(L)));
    keep_args(L, graph);
    return 1;
}

static int gpu_graph(lua_State *L) {
    luaL_checktype(L, 1, LUA_TFUNCTION);
    GpGraph *graph = begin(L);
    GpBox *box = gp_box_check(L, -1, GP_GRAPH);
    lua_pushvalue(L, 1);
    if (lua_pcall(L, 0, 0, 0) != LUA_OK) {
        gp_box_empty(box); /* which ends the recording */
        return lua_error(L);
    }
    return end(L, graph);
}

int gp_lua_op_graph(lua_State *L) {
    GpRunOp *op = gp_box_check(L, 1, GP_RUN_OP)->op;
    GpGraph *graph = begin(L);
    GpStatus status = gp_op_run(op, NULL, gp_lua_site(L), gp_lua_diags(L));
    if (status != GpStatus_Ok) gp_box_empty(gp_box_check(L, -1, GP_GRAPH));
    gp_lua_check(L, status);
    return end(L, graph);
}

static int graph_launch(lua_State *L) {
    GpGraph *graph = check_graph(L);
    GpStream *stream = gp_box_opt_stream(L, 2);
    gp_lua_check(L, gp_graph_launch(graph, stream, gp_lua_site(L), gp_lua_diags(L)));
    lua_settop(L, 1);
    return 1;
}

static int graph_sync(lua_State *L) {
    GpGraph *graph = check_graph(L);
    gp_lua_state(L);
    gp_lua_check(L, gp_graph_sync(graph, gp_lua_diags(L)));
    lua_settop(L, 1);
    return 1;
}

static int graph_index(lua_State *L) {
    gp_box_check(L, 1, GP_GRAPH);
    const char *name = luaL_checkstring(L, 2);
    lua_pushvalue(L, 2);
    if (lua_rawget(L, lua_upvalueindex(2)) != LUA_TNIL) return 1;
    if (strcmp(name, "args") != 0) return gp_lua_missing_field(L, GP_GRAPH, gp_lua_graph_methods);
    lua_getiuservalue(L, 1, 1);
    return 1;
}

static int graph_len(lua_State *L) {
    lua_pushinteger(L, gp_graph_count(check_graph(L)));
    return 1;
}

static int graph_tostring(lua_State *L) {
    int count = (int)gp_graph_count(check_graph(L));
    lua_pushfstring(L, "graph (%d launch%s)", count, count == 1 ? "" : "es");
    return 1;
}

const GpLuaFn gp_lua_graph_functions[] = {
    {"graph", gpu_graph, "graph(f) -> Graph",
     "Calls f and records the launches that it makes (`k.f:run(..)`, `op:run()`) instead of running "
     "them. The graph keeps their tensors; what is in them when it is replayed counts."},
    {NULL, NULL, NULL, NULL},
};

const GpLuaFn gp_lua_graph_methods[] = {
    {"launch", graph_launch, "g:launch([stream]) -> g",
     "Enqueues a replay of all its launches in their order; on a GPU with one call of the driver. "
     "Ownership is asked now: a tensor that was moved or freed since is E0382 or G0302."},
    {"sync", graph_sync, "g:sync() -> g", "Waits for the last replay; raises its failed check if there is one."},
    {"__index", graph_index, "g.args.NAME -> Tensor",
     "The argument of that parameter, of the first launch that has it: to be filled anew before a replay."},
    {"__len", graph_len, "#g -> integer", "Its launches."},
    {"__tostring", graph_tostring, "tostring(g) -> string", "How many launches it has."},
    {NULL, NULL, NULL, NULL},
};
