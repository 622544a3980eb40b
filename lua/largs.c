/* Reading shapes and dtypes from Lua. */
#include "lua/state.h"

lua_Integer gp_lua_len(lua_State *L, int index) {
    lua_Integer len = luaL_len(L, index);
    if (len < 0) luaL_error(L, "a list has %I elements", len);
    return len;
}

static int64_t check_extent(lua_State *L, int arg, int index) {
    int is_integer;
    lua_Integer n = lua_tointegerx(L, index, &is_integer);
    if (!is_integer)
        luaL_argerror(L, arg, lua_type(L, index) == LUA_TSTRING
                                  ? "a shape holds integers; a dtype stands behind it, ({4}, \"f16\"), or is its field, {4, dtype = \"f16\"}"
                                  : "a shape holds integers");
    if (n < 0) luaL_argerror(L, arg, lua_pushfstring(L, "extent %I is negative", n));
    return n;
}

/* Raises for zeros(4, 4) and the like; `what`: "a shape". */
static void refuse_numbers(lua_State *L, int index, const char *what) {
    if (lua_type(L, index) != LUA_TNUMBER || lua_type(L, index + 1) != LUA_TNUMBER) return;
    luaL_Buffer b;
    int count = lua_gettop(L);
    luaL_buffinit(L, &b);
    for (int i = index; i <= count && lua_type(L, i) == LUA_TNUMBER; i++) {
        if (i > index) luaL_addstring(&b, ", ");
        lua_pushvalue(L, i);
        luaL_addvalue(&b);
    }
    luaL_pushresult(&b);
    luaL_argerror(L, index, lua_pushfstring(L, "%s is one table: {%s}", what, lua_tostring(L, -1)));
}

/* Raises for keys that are no place in the list, but for `dtype` where it is a field. */
static void refuse_fields(lua_State *L, int index, lua_Integer rank, bool has_dtype) {
    luaL_checkstack(L, 4, NULL);
    lua_pushnil(L);
    while (lua_next(L, index)) {
        lua_pop(L, 1);
        lua_Integer place = lua_isinteger(L, -1) ? lua_tointeger(L, -1) : 0;
        if (place >= 1 && place <= rank) continue;
        if (lua_type(L, -1) != LUA_TSTRING)
            luaL_argerror(L, index, "a shape is a list without holes");
        const char *name = lua_tostring(L, -1);
        if (has_dtype && strcmp(name, "dtype") == 0) continue;
        lua_pushfstring(L, "unknown field '%s': %s", name,
                        has_dtype ? "beside the extents there is `dtype`" : "only numbers are expected");
        luaL_argerror(L, index, lua_tostring(L, -1));
    }
}

static void read_shape(lua_State *L, int index, bool has_dtype, GpShape *out) {
    memset(out, 0, sizeof(*out));
    if (lua_type(L, index) == LUA_TNUMBER) {
        out->rank = 1;
        out->dim[0] = check_extent(L, index, index);
        return;
    }
    luaL_checktype(L, index, LUA_TTABLE);
    lua_Integer rank = gp_lua_len(L, index);
    if (rank > GP_MAX_RANK)
        luaL_argerror(L, index, lua_pushfstring(L, "rank %I is more than %d", rank, GP_MAX_RANK));
    refuse_fields(L, index, rank, has_dtype);
    out->rank = (uint8_t)rank;
    for (int axis = 0; axis < out->rank; axis++) {
        lua_geti(L, index, axis + 1);
        out->dim[axis] = check_extent(L, index, -1);
        lua_pop(L, 1);
    }
}

void gp_lua_shape(lua_State *L, int index, const char *what, GpShape *out) {
    refuse_numbers(L, index, what);
    read_shape(L, index, false, out);
}

void gp_lua_new_shape(lua_State *L, int index, GpShape *out) { read_shape(L, index, true, out); }

static void refuse_elem(lua_State *L, int index, const char *name) {
    GpText known = {.session = gp_engine_session(gp_lua_state(L)->engine)};
    const char *here = gp_find_foreign(name, GpForeign_Type);
    if (here) gp_text_printf(&known, "did you mean '%s'?", here);
    else gp_text_puts(&known, "dtypes are ");
    if (!here) gp_elem_print_all(&known);
    lua_pushfstring(L, "unknown dtype '%s'; %s", name, gp_text_cstr(&known));
    gp_text_free(&known);
    luaL_argerror(L, index, lua_tostring(L, -1));
}

GpElem gp_lua_elem(lua_State *L, int index, GpElem preset) {
    GpElem elem;
    if (lua_isnoneornil(L, index)) return preset;
    const char *name = luaL_checkstring(L, index);
    if (!gp_elem_find(gp_str_from(name), &elem)) refuse_elem(L, index, name);
    return elem;
}

GpElem gp_lua_new_elem(lua_State *L, int shape, int arg, GpElem preset) {
    if (lua_istable(L, shape)) {
        lua_getfield(L, shape, "dtype");
        preset = gp_lua_elem(L, lua_gettop(L), preset);
        lua_pop(L, 1);
    }
    if (arg == shape + 1) refuse_numbers(L, shape, "a shape"); /* zeros(4, 4) */
    return gp_lua_elem(L, arg, preset);
}

bool gp_lua_to_scalar(lua_State *L, int index, GpElem elem, GpScalar *out) {
    if (lua_isboolean(L, index)) return gp_scalar_from_int(lua_toboolean(L, index), elem, out);
    if (lua_isinteger(L, index)) return gp_scalar_from_int(lua_tointeger(L, index), elem, out);
    return lua_type(L, index) == LUA_TNUMBER && gp_scalar_from_double(lua_tonumber(L, index), elem, out);
}

GpScalar gp_lua_scalar(lua_State *L, int index, GpElem elem) {
    GpScalar v;
    if (!gp_lua_to_scalar(L, index, elem, &v))
        luaL_argerror(L, index, lua_pushfstring(L, "%s is no value of %s",
                                                luaL_tolstring(L, index, NULL),
                                                gp_elem_info[elem].name));
    return v;
}
