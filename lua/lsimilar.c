/* "Did you mean" for names that users look up in the module and in its values. A name that is near
** no other stays nil, as Lua has it, so that programs can ask whether a function is there. */
#include <ctype.h>

#include "lua/lsimilar.h"

void gp_lua_consider(GpLuaSimilar *s, const char *name, size_t len) {
    GpStr wanted = gp_str_from(s->wanted);
    size_t limit = GP_MAX(GP_MAX(wanted.len, len) / 3, (size_t)1);
    uint32_t distance = gp_str_distance(wanted, (GpStr){name, len});
    if (distance > limit || (s->name && distance >= s->distance)) return;
    s->name = name;
    s->len = len;
    s->distance = distance;
}

/* The fields that the usage of __index lists: "t[i], t.shape, t.ndim". */
static void consider_fields(GpLuaSimilar *s, const char *usage) {
    for (const char *dot = strchr(usage, '.'); dot; dot = strchr(dot + 1, '.')) {
        size_t len = 0;
        while (isalpha((unsigned char)dot[1 + len])) len++;
        if (len > 0) gp_lua_consider(s, dot + 1, len);
    }
}

/* The names of functions, and the fields that the usage of their __index lists. */
static void consider_functions(GpLuaSimilar *s, const GpLuaFn *fns) {
    for (const GpLuaFn *f = fns; f->name; f++) {
        if (strcmp(f->name, "__index") == 0) consider_fields(s, f->usage);
        else if (strncmp(f->name, "__", 2) != 0) gp_lua_consider(s, f->name, strlen(f->name));
    }
}

/* What is meant by a name of other libraries; NULL: it is none of theirs. */
static const char *find_foreign(const char *what, const char *name) {
    static const char *const rows[][3] = {
        {"gpulua", "tensor", "from_table"},       {"gpulua", "array", "from_table"},
        {"gpulua", "synchronize", "sync"},        {"gpulua", "uniform", "rand"},
        {"gpulua", "normal", "randn"},            {"gpulua.Partition", "tiles", "unpartition"}, {"gpulua.Partition", "partition", "unpartition"},
        {"gpulua.Tensor", "tolist", "to_table"},
        {"gpulua.Tensor", "numpy", "to_table"},   {"gpulua.Tensor", "astype", "convert"},
        {"gpulua.Tensor", "type", "convert"},     {"gpulua.Tensor", "cuda", "to"},
        {"gpulua.Tensor", "cpu", "to"},           {"gpulua.Tensor", "clone", "copy"},
        {"gpulua.Tensor", "size", "shape"},       {"gpulua.Tensor", "transpose", "permute"},
        {"gpulua.Tensor", "T", "permute"},        {"gpulua.Tensor", "flatten", "reshape"},
    };
    for (size_t i = 0; i < GP_COUNT(rows); i++)
        if (strcmp(rows[i][0], what) == 0 && strcmp(rows[i][1], name) == 0) return rows[i][2];
    return NULL;
}

int gp_lua_refuse_similar(lua_State *L, const GpLuaSimilar *s, const char *what) {
    const char *foreign = find_foreign(what, s->wanted);
    if ((foreign || s->name) && s->wanted[0] != '_') {
        lua_pushlstring(L, foreign ? foreign : s->name, foreign ? strlen(foreign) : s->len);
        return luaL_error(L, "%s has no `%s`; did you mean `%s`?", what, s->wanted,
                          lua_tostring(L, -1));
    }
    lua_pushnil(L);
    return 1;
}

int gp_lua_missing_field(lua_State *L, const char *type, const GpLuaFn *fns) {
    GpLuaSimilar s = {.wanted = lua_tostring(L, 2)};
    consider_functions(&s, fns);
    return gp_lua_refuse_similar(L, &s, type);
}

/* __index of a type's methods: upvalue 1 is the type's row. */
static int missing_method(lua_State *L) {
    const GpLuaType *type = lua_touserdata(L, lua_upvalueindex(1));
    if (lua_type(L, 2) == LUA_TSTRING) return gp_lua_missing_field(L, type->type, type->methods);
    lua_pushnil(L);
    return 1;
}

static int missing_function(lua_State *L) {
    if (lua_type(L, 2) != LUA_TSTRING) {
        lua_pushnil(L);
        return 1;
    }
    GpLuaSimilar s = {.wanted = lua_tostring(L, 2)};
    for (const GpLuaFn *const *table = gp_lua_functions; *table; table++)
        consider_functions(&s, *table);
    return gp_lua_refuse_similar(L, &s, "gpulua");
}

void gp_lua_watch(lua_State *L, const GpLuaType *type) {
    lua_createtable(L, 0, 1);
    if (type) {
        lua_pushlightuserdata(L, (void *)(uintptr_t)type);
        lua_pushcclosure(L, missing_method, 1);
    } else {
        lua_pushcfunction(L, missing_function);
    }
    lua_setfield(L, -2, "__index");
    lua_setmetatable(L, -2);
}
