/* Userdata: empty first, filled second, released once. */
#include "lua/state.h"

const char gp_type_tensor[] = "gpulua.Tensor";
const char gp_type_partition[] = "gpulua.Partition";
const char gp_type_module[] = "gpulua.Module";
const char gp_type_kernel[] = "gpulua.Kernel";
const char gp_type_op[] = "gpulua.Op";
const char gp_type_graph[] = "gpulua.Graph";
const char gp_type_stream[] = "gpulua.Stream";
const char gp_type_device[] = "gpulua.Device";
const char gp_type_error[] = "gpulua.Error";

GpBox *gp_box_push(lua_State *L, const char *type, int user_values) {
    GpBox *box = lua_newuserdatauv(L, sizeof(GpBox), user_values);
    memset(box, 0, sizeof(*box));
    box->type = type;
    luaL_setmetatable(L, type);
    return box;
}

void gp_box_give(gpulua_state *g, GpBox *box, void *object) {
    box->state = gp_state_retain(g);
    box->object = object;
    box->next = g->boxes;
    box->at = &g->boxes;
    if (box->next) box->next->at = &box->next;
    g->boxes = box;
}

void gp_box_fill(lua_State *L, GpBox *box, void *object) {
    gp_box_give(gp_lua_anchored(L, lua_upvalueindex(1)), box, object);
}

void gp_box_empty(GpBox *box) {
    gpulua_state *g = box->state;
    GpBox old = *box;
    if (!g) return;
    *old.at = old.next;
    if (old.next) old.next->at = old.at;
    memset(box, 0, sizeof(*box)); /* first: what is released may lead here again */
    const GpLuaType *type = gp_lua_types;
    while (type->type && type->type != old.type) type++;
    if (old.object && type->type) type->release(&old);
    gp_state_release(g);
}

GpBox *gp_box_test(lua_State *L, int index, const char *type) {
    GpBox *box = gp_box_at(L, index);
    return box && box->type == type ? box : NULL;
}

GpBox *gp_box_check(lua_State *L, int index, const char *type) {
    GpBox *box = gp_box_test(L, index, type);
    if (GP_LIKELY(box && box->object)) return box;
    luaL_checkudata(L, index, type); /* says what was there instead; an emptied box passes */
    luaL_argerror(L, index, "it was closed");
    return NULL;
}

GpStream *gp_box_opt_stream(lua_State *L, int index) {
    return lua_isnoneornil(L, index) ? NULL : gp_box_check(L, index, GP_STREAM)->stream;
}
