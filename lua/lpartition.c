/* Partitions as Lua values. */
#include "lua/state.h"

static GpPartition *check_partition(lua_State *L) {
    return gp_box_check(L, 1, GP_PARTITION)->partition;
}

static int partition_unpartition(lua_State *L) {
    GpPartition *p = check_partition(L);
    GpDiags *diags = gp_lua_diags(L);
    GpTensor *t = NULL;
    GpBox *box = gp_box_push(L, GP_TENSOR, 0);
    /* A collection before a verdict may run a finaliser that closes this very value. */
    gp_partition_retain(p);
    GpStatus status = gp_partition_unwrap(p, gp_lua_site(L), diags, &t);
    gp_partition_release(p);
    gp_lua_check(L, status);
    gp_box_fill(L, box, t);
    return 1;
}

int gp_lua_push_extents(lua_State *L, const int64_t *dims, int rank) {
    lua_createtable(L, rank, 0);
    for (int i = 0; i < rank; i++) {
        lua_pushinteger(L, dims[i]);
        lua_rawseti(L, -2, i + 1);
    }
    return 1;
}

static int partition_tile(lua_State *L) {
    const GpShape *tile = gp_partition_tile(check_partition(L));
    return gp_lua_push_extents(L, tile->dim, tile->rank);
}

static int partition_grid(lua_State *L) {
    uint32_t grid[3];
    GpPartition *p = check_partition(L);
    if (!gp_partition_grid(p, grid)) return luaL_error(L, "the grid has more than 2^32 blocks on an axis");
    int64_t dims[3] = {grid[0], grid[1], grid[2]};
    int rank = gp_partition_tile(p)->rank;
    return gp_lua_push_extents(L, dims, GP_MIN(rank, 3));
}

static int partition_map(lua_State *L) {
    GpPartition *p = check_partition(L);
    GpShape map = {.rank = 0};
    luaL_checktype(L, 2, LUA_TTABLE);
    lua_Integer rank = luaL_len(L, 2), blocks = luaL_checkinteger(L, 3);
    if (rank < 1 || rank > GP_MAX_RANK) return luaL_argerror(L, 2, "an entry for each axis expected");
    map.rank = (uint8_t)rank;
    for (int i = 0; i < map.rank; i++) {
        lua_geti(L, 2, i + 1);
        map.dim[i] = luaL_checkinteger(L, -1);
        lua_pop(L, 1);
    }
    gp_lua_check(L, gp_partition_map(p, &map, blocks, gp_lua_site(L), gp_lua_diags(L)));
    lua_settop(L, 1);
    return 1;
}

static int partition_prefix(lua_State *L) {
    gp_partition_prefix(check_partition(L));
    lua_settop(L, 1);
    return 1;
}

static int partition_tostring(lua_State *L) {
    GpPartition *p = check_partition(L);
    gpulua_state *g = gp_lua_state(L);
    GpText text = {.session = gp_engine_session(g->engine)};
    gp_text_printf(&text, "partition %s of ", gp_elem_info[gp_tensor_elem(gp_partition_tensor(p))].name);
    gp_shape_print(gp_tensor_shape(gp_partition_tensor(p)), &text);
    gp_text_puts(&text, " in tiles of ");
    gp_shape_print(gp_partition_tile(p), &text);
    lua_pushlstring(L, gp_text_cstr(&text), text.len);
    gp_text_free(&text);
    return 1;
}

const GpLuaFn gp_lua_partition_methods[] = {
    {"unpartition", partition_unpartition, "p:unpartition() -> Tensor", "Ends the partition and gives the tensor back."},
    {"tile", partition_tile, "p:tile() -> table", "The extents of a tile."},
    {"grid", partition_grid, "p:grid() -> table", "Blocks on each axis of a launch over it."},
    {"map", partition_map, "p:map({m, ..}, blocks) -> Partition", "The blocks of a launch share the tiles out, as a kernel takes for `MappedPartitionMut`; returns p."},
    {"prefix", partition_prefix, "p:prefix() -> Partition", "A launch gives its grid, which may leave out tiles at the end of an axis; returns p."},
    {"__tostring", partition_tostring, "tostring(p) -> string", "dtype, shape and tile."},
    {NULL, NULL, NULL, NULL},
};
