/* Userdata: empty first, filled second, released once. */
#include "lua/state.h"

GpBox *gp_box_push(lua_State *L, const char *type, int user_values) {
    GpBox *box = lua_newuserdatauv(L, sizeof(GpBox), user_values);
    memset(box, 0, sizeof(*box));
    luaL_setmetatable(L, type);
    return box;
}

void gp_box_fill(lua_State *L, GpBox *box, void *object) {
    gpulua_state *g = gp_lua_anchored(L, lua_upvalueindex(1));
    box->state = gp_state_retain(g);
    box->object = object;
}

GpBox *gp_box_test(lua_State *L, int index, const char *type) {
    return luaL_testudata(L, index, type);
}

GpBox *gp_box_check(lua_State *L, int index, const char *type) {
    GpBox *box = luaL_checkudata(L, index, type);
    if (!box->object) luaL_argerror(L, index, "it was closed");
    return box;
}
