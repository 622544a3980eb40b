/* Borrowed memory: tensors over what another library has. */
#include "lua/lsimilar.h"
#include "lua/state.h"

/* ---- What a borrowed tensor keeps ----------------------------------------------------------- */

/* A userdata with the value as user value 1, in the registry under its own address until the memory
** is given back: views, ops and partitions keep it too, whatever became of the first handle. */
typedef struct Keep {
    lua_State *L; /* the main thread: a coroutine may be gone, and a Lua goes behind all that it has */
} Keep;

static void let_go(void *ud) {
    Keep *keep = ud;
    lua_State *L = keep->L;
    if (!lua_checkstack(L, 1)) return; /* it goes with its Lua */
    lua_pushnil(L);
    lua_rawsetp(L, LUA_REGISTRYINDEX, keep);
}

/* Keeps the value at the top of the stack, and pops it. */
static Keep *keep_value(lua_State *L, gpulua_state *g) {
    Keep *keep = lua_newuserdatauv(L, sizeof(*keep), 1);
    keep->L = g->L;
    lua_insert(L, -2);
    lua_setiuservalue(L, -2, 1);
    lua_rawsetp(L, LUA_REGISTRYINDEX, keep);
    return keep;
}

/* ---- Arguments ------------------------------------------------------------------------------ */

enum { OPTIONS = 4 };
static const char *const option_names[] = {"bytes", "strides", "device", "readonly", "keep"};

static void refuse_unknown(lua_State *L) {
    luaL_checktype(L, OPTIONS, LUA_TTABLE);
    lua_pushnil(L);
    while (lua_next(L, OPTIONS)) {
        lua_pop(L, 1);
        bool is_known = false;
        GpLuaSimilar near = {.wanted = lua_type(L, -1) == LUA_TSTRING ? lua_tostring(L, -1) : ""};
        for (size_t i = 0; i < GP_COUNT(option_names); i++) {
            is_known |= strcmp(near.wanted, option_names[i]) == 0;
            gp_lua_consider(&near, option_names[i], strlen(option_names[i]));
        }
        if (is_known) continue;
        lua_pushvalue(L, -1);
        lua_pushfstring(L, "unknown option '%s'", luaL_tolstring(L, -1, NULL));
        if (near.name) lua_pushfstring(L, "%s; did you mean '%s'?", lua_tostring(L, -1), near.name);
        luaL_argerror(L, OPTIONS, lua_tostring(L, -1));
    }
}

/* Pushes the option, which stays on the stack; raises unless it is nil or of the type. */
static bool push_option(lua_State *L, const char *name, int type) {
    int got = lua_getfield(L, OPTIONS, name);
    if (got != LUA_TNIL && got != type)
        luaL_argerror(L, OPTIONS, lua_pushfstring(L, "`%s` is a %s, not a %s", name, lua_typename(L, type),
                                                  lua_typename(L, got)));
    return got != LUA_TNIL;
}

static void read_strides(lua_State *L, int rank, int64_t *out) {
    if (luaL_len(L, -1) != rank)
        luaL_argerror(L, OPTIONS, lua_pushfstring(L, "%d `strides` are expected, one for each axis", rank));
    for (int i = 0; i < rank; i++) {
        int is_integer;
        lua_geti(L, -1, i + 1);
        out[i] = lua_tointegerx(L, -1, &is_integer);
        if (!is_integer) luaL_argerror(L, OPTIONS, "`strides` holds integers");
        lua_pop(L, 1);
    }
}

static void read_options(lua_State *L, GpBorrow *b, int64_t *strides, const char **device) {
    refuse_unknown(L);
    if (push_option(L, "bytes", LUA_TNUMBER)) {
        lua_Integer bytes = lua_tointeger(L, -1);
        if (!lua_isinteger(L, -1) || bytes < 0) luaL_argerror(L, OPTIONS, "`bytes` is an integer, 0 or more");
        b->bytes = (uint64_t)bytes;
    }
    if (push_option(L, "strides", LUA_TTABLE)) {
        read_strides(L, b->shape.rank, strides);
        b->stride = strides;
    }
    if (push_option(L, "device", LUA_TSTRING)) *device = lua_tostring(L, -1);
    if (push_option(L, "readonly", LUA_TBOOLEAN)) b->is_readonly = lua_toboolean(L, -1);
}

static uint64_t check_address(lua_State *L) {
    if (lua_islightuserdata(L, 1)) return (uint64_t)(uintptr_t)lua_touserdata(L, 1);
    if (!lua_isinteger(L, 1)) luaL_argerror(L, 1, "an address is an integer or a light userdata");
    return (uint64_t)lua_tointeger(L, 1);
}

static int gpu_borrow(lua_State *L) {
    int64_t strides[GP_MAX_RANK];
    const char *name = NULL;
    GpBorrow b = {.address = check_address(L), .bytes = UINT64_MAX};
    gp_lua_new_shape(L, 2, &b.shape);
    b.elem = gp_lua_new_elem(L, 2, 3, GpElem_F32);
    bool has_options = !lua_isnoneornil(L, OPTIONS);
    if (has_options) read_options(L, &b, strides, &name);
    gpulua_state *g = gp_lua_state(L);
    GpSite site = gp_lua_site(L);
    GpDiags *diags = gp_lua_diags(L);
    GpDevice *device;
    GpTensor *t = NULL;
    GpStatus status = name ? gp_device_open(gp_engine_runtime(g->engine), gp_str_from(name), diags, &device, NULL)
                           : gp_engine_device(g->engine, diags, &device);
    if (status != GpStatus_Ok) return gp_lua_fail(L, status);
    GpBox *box = gp_box_push(L, GP_TENSOR, 0);
    int made = lua_gettop(L);
    if (has_options && lua_getfield(L, OPTIONS, "keep") != LUA_TNIL) {
        b.ud = keep_value(L, g);
        b.release = let_go;
    }
    status = gp_tensor_borrow(device, &b, site, diags, &t);
    if (status != GpStatus_Ok && b.release) let_go(b.ud);
    gp_lua_check(L, status);
    gp_box_fill(L, box, t);
    lua_settop(L, made);
    return 1;
}

const GpLuaFn gp_lua_borrow_functions[] = {
    {"borrow", gpu_borrow, "borrow(address, {n, ..} [, dtype] [, {keep, readonly, strides, bytes, device}]) -> Tensor",
     "A tensor over memory of another library, not copied: of the host for `cpu`, of the device for a GPU. The address is an integer or a light userdata. "
     "The script promises that the memory stays while the tensor or a view of it is used, for which `keep` names a value that is kept as long (not the tensor itself, which would keep both for ever), "
     "and that nobody else uses it while enqueued work does (t:sync() waits for that). `readonly = true` freezes it; `strides` are in elements; "
     "where `bytes` says how many there are, the elements must lie in them."},
    {NULL, NULL, NULL, NULL},
};
