/* gpu.ops: the table of the IR's operations as Lua values, for tools, docs and specs. */
#include "lua/state.h"

#include "dsl/ir/ir.h"

static void push_tracks(lua_State *L, uint8_t tracks) {
    lua_createtable(L, 0, 2);
    lua_pushboolean(L, (tracks & GP_T) != 0);
    lua_setfield(L, -2, "tile");
    lua_pushboolean(L, (tracks & GP_S) != 0);
    lua_setfield(L, -2, "simt");
}

/* The names of the element types, in the order of elem.def. */
static void push_elems(lua_State *L, GpSig sig) {
    lua_newtable(L);
    for (int elem = 0; elem < GpElem_count; elem++) {
        if (!gp_sig_takes(sig, (GpElem)elem)) continue;
        lua_pushstring(L, gp_elem_info[elem].name);
        lua_rawseti(L, -2, (lua_Integer)lua_rawlen(L, -2) + 1);
    }
}

static void push_op(lua_State *L, const GpOpInfo *op) {
    static const char *const surfaces[] = {"none", "math", "tile", "method"};
    lua_createtable(L, 0, 7);
    lua_pushstring(L, op->name);
    lua_setfield(L, -2, "name");
    lua_pushstring(L, gp_sig_info[op->sig].doc);
    lua_setfield(L, -2, "signature");
    lua_pushstring(L, surfaces[op->surface]);
    lua_setfield(L, -2, "surface");
    lua_pushstring(L, op->doc);
    lua_setfield(L, -2, "doc");
    lua_pushboolean(L, gp_sig_info[op->sig].elementwise);
    lua_setfield(L, -2, "elementwise");
    push_tracks(L, op->tracks);
    lua_setfield(L, -2, "tracks");
    push_elems(L, op->sig);
    lua_setfield(L, -2, "dtypes");
}

static int gpu_ops(lua_State *L) {
    lua_createtable(L, GpOp_count, 0);
    for (int op = 0; op < GpOp_count; op++) {
        push_op(L, &gp_op_info[op]);
        lua_rawseti(L, -2, op + 1);
    }
    return 1;
}

const GpLuaFn gp_lua_ops_functions[] = {
    {"ops", gpu_ops, "ops() -> {{name, signature, surface, tracks, elementwise, dtypes, doc}, ..}",
     "The operations that kernels are made of, with the element types each takes."},
    {NULL, NULL, NULL, NULL},
};
