/* Tensors as Lua values: fields, elements, views, copies. Lua counts from 1 and its ranges are
** inclusive; the runtime counts from 0. */
#include "lua/lprint.h"
#include "lua/lsimilar.h"
#include "lua/state.h"

static GpTensor *check_tensor(lua_State *L) { return gp_box_check(L, 1, GP_TENSOR)->tensor; }

static void push_scalar(lua_State *L, GpScalar v) {
    switch (gp_elem_info[v.elem].cls) {
    case GpClass_Float:
    case GpClass_Code:
        lua_pushnumber(L, v.f);
        return;
    case GpClass_Bool:
        lua_pushboolean(L, v.u != 0);
        return;
    case GpClass_Int:
    case GpClass_Uint:
        lua_pushinteger(L, v.i);
        return;
    }
}

/* ---- Elements ------------------------------------------------------------------------------- */

static int64_t check_position(lua_State *L, const GpShape *shape, int axis, int index) {
    int is_integer;
    lua_Integer i = lua_tointegerx(L, index, &is_integer);
    if (!is_integer) luaL_argerror(L, 2, "an index is an integer");
    if (i < 1 || i > shape->dim[axis])
        luaL_argerror(L, 2, lua_pushfstring(L, "index %I is out of 1..%I on axis %d (tensors count "
                                               "from 1; kernels from 0)",
                                            i, (lua_Integer)shape->dim[axis], axis + 1));
    return i - 1;
}

/* The zero-based position of t[i] or t[{i, j}] in row-major order. */
static int64_t check_index(lua_State *L, const GpShape *shape) {
    int64_t at = 0;
    if (!lua_istable(L, 2)) {
        if (shape->rank != 1)
            luaL_argerror(L, 2, lua_pushfstring(L, "a tensor of rank %d wants %d indices in a table",
                                                shape->rank, shape->rank));
        return check_position(L, shape, 0, 2);
    }
    if (luaL_len(L, 2) != shape->rank)
        luaL_argerror(L, 2, lua_pushfstring(L, "%d indices are expected", shape->rank));
    for (int axis = 0; axis < shape->rank; axis++) {
        lua_geti(L, 2, axis + 1);
        at = at * shape->dim[axis] + check_position(L, shape, axis, -1);
        lua_pop(L, 1);
    }
    return at;
}

/* ipairs ends at the first nil: for it, and for other C code that walks, there is one behind the
** last element. Lua code that asks for it has miscounted. */
static bool is_walked_past(lua_State *L, const GpShape *shape) {
    lua_Debug caller;
    if (shape->rank != 1 || !lua_isinteger(L, 2) || lua_tointeger(L, 2) != shape->dim[0] + 1)
        return false;
    return lua_getstack(L, 1, &caller) && lua_getinfo(L, "S", &caller) && *caller.what == 'C';
}

static int tensor_element(lua_State *L, GpTensor *t) {
    GpScalar v;
    if (is_walked_past(L, gp_tensor_shape(t))) {
        lua_pushnil(L);
        return 1;
    }
    int64_t at = check_index(L, gp_tensor_shape(t));
    GpDiags *diags = gp_lua_diags(L);
    gp_lua_check(L, gp_tensor_peek(t, at, &v, gp_lua_site(L), diags));
    push_scalar(L, v);
    return 1;
}

/* Methods are found in upvalue 2 (lopen.c), then the fields. */
static int tensor_index(lua_State *L) {
    GpTensor *t = check_tensor(L);
    if (lua_type(L, 2) != LUA_TSTRING) return tensor_element(L, t);
    lua_pushvalue(L, 2);
    if (lua_rawget(L, lua_upvalueindex(2)) != LUA_TNIL) return 1;
    const char *name = lua_tostring(L, 2);
    const GpShape *shape = gp_tensor_shape(t);
    int64_t count = 0;
    if (strcmp(name, "shape") == 0) return gp_lua_push_extents(L, shape->dim, shape->rank);
    if (strcmp(name, "ndim") == 0) {
        lua_pushinteger(L, shape->rank);
    } else if (strcmp(name, "numel") == 0) {
        gp_shape_numel(shape, &count);
        lua_pushinteger(L, count);
    } else if (strcmp(name, "bytes") == 0) {
        lua_pushinteger(L, (lua_Integer)gp_tensor_bytes(t));
    } else if (strcmp(name, "dtype") == 0) {
        lua_pushstring(L, gp_elem_info[gp_tensor_elem(t)].name);
    } else if (strcmp(name, "device") == 0) {
        lua_pushstring(L, gp_device_info(gp_tensor_device(t))->name);
    } else if (strcmp(name, "strides") == 0) {
        return gp_lua_push_extents(L, gp_tensor_strides(t), shape->rank);
    } else if (strcmp(name, "is_contiguous") == 0) {
        lua_pushboolean(L, gp_tensor_is_contiguous(t));
    } else if (strcmp(name, "address") == 0) {
        lua_pushinteger(L, (lua_Integer)gp_tensor_address(t));
    } else {
        return gp_lua_missing_field(L, GP_TENSOR, gp_lua_tensor_methods);
    }
    return 1;
}

static int tensor_newindex(lua_State *L) {
    GpTensor *t = check_tensor(L);
    if (lua_type(L, 2) == LUA_TSTRING)
        return luaL_error(L, "a tensor has no field '%s' to assign", lua_tostring(L, 2));
    const GpShape *shape = gp_tensor_shape(t);
    int64_t at = check_index(L, shape), start[GP_MAX_RANK], stop[GP_MAX_RANK];
    GpScalar v = gp_lua_scalar(L, 3, gp_tensor_elem(t));
    for (int axis = shape->rank; axis-- > 0; at /= shape->dim[axis]) {
        start[axis] = at % shape->dim[axis];
        stop[axis] = start[axis] + 1;
    }
    GpDiags *diags = gp_lua_diags(L);
    GpSite site = gp_lua_site(L);
    gp_lua_check(L, gp_tensor_check(t, GpAccess_Write, site, diags)); /* names t, not the element */
    GpBox *element = gp_box_push(L, GP_TENSOR, 0);
    GpTensor *view = NULL;
    gp_lua_check(L, gp_tensor_slice(t, start, stop, site, diags, &view));
    gp_box_fill(L, element, view);
    gp_lua_check(L, gp_tensor_fill(view, v, site, diags));
    return 0;
}

static int tensor_len(lua_State *L) {
    const GpShape *shape = gp_tensor_shape(check_tensor(L));
    lua_pushinteger(L, shape->rank ? shape->dim[0] : 1);
    return 1;
}

static int tensor_tostring(lua_State *L) {
    GpTensor *t = check_tensor(L);
    gpulua_state *g = gp_lua_state(L);
    GpDiags *diags = gp_lua_diags(L);
    GpText text = {.session = gp_engine_session(g->engine)};
    GpStatus status = gp_tensor_print(t, gp_lua_site(L), diags, &text);
    if (status == GpStatus_Ok) lua_pushlstring(L, gp_text_cstr(&text), text.len);
    gp_text_free(&text);
    gp_lua_check(L, status);
    return 1;
}

/* ---- To Lua and between tensors -------------------------------------------------------------- */

static const uint8_t *push_table(lua_State *L, const GpShape *shape, GpElem elem, int axis,
                                 const uint8_t *from) {
    if (axis == shape->rank) {
        push_scalar(L, gp_scalar_load(elem, from));
        return from + gp_elem_info[elem].bytes;
    }
    luaL_checkstack(L, 3, "too deep");
    lua_createtable(L, (int)GP_MIN(shape->dim[axis], INT32_MAX), 0);
    for (int64_t i = 0; i < shape->dim[axis]; i++) {
        from = push_table(L, shape, elem, axis + 1, from);
        lua_rawseti(L, -2, i + 1);
    }
    return from;
}

static int tensor_to_table(lua_State *L) {
    GpTensor *t = check_tensor(L);
    GpDiags *diags = gp_lua_diags(L);
    uint64_t bytes = gp_tensor_bytes(t);
    uint8_t *host = lua_newuserdatauv(L, bytes + 1, 0);
    gp_lua_check(L, gp_tensor_read(t, host, bytes, gp_lua_site(L), diags));
    push_table(L, gp_tensor_shape(t), gp_tensor_elem(t), 0, host);
    return 1;
}

static int tensor_item(lua_State *L) {
    GpTensor *t = check_tensor(L);
    int64_t count;
    GpScalar v;
    if (!gp_shape_numel(gp_tensor_shape(t), &count) || count != 1)
        return luaL_error(L, "item() wants a tensor of one element, this one has %I", (lua_Integer)count);
    GpDiags *diags = gp_lua_diags(L);
    gp_lua_check(L, gp_tensor_peek(t, 0, &v, gp_lua_site(L), diags));
    push_scalar(L, v);
    return 1;
}

static int tensor_bytes(lua_State *L) {
    GpTensor *t = check_tensor(L);
    GpDiags *diags = gp_lua_diags(L);
    luaL_Buffer b;
    size_t bytes = (size_t)gp_tensor_bytes(t);
    char *host = luaL_buffinitsize(L, &b, bytes);
    gp_lua_check(L, gp_tensor_read(t, host, bytes, gp_lua_site(L), diags));
    luaL_pushresultsize(&b, bytes);
    return 1;
}

/* A new tensor like t on device d, with t's contents. */
static int push_copy(lua_State *L, GpTensor *t, GpDevice *d) {
    gpulua_state *g = gp_lua_state(L);
    GpDiags *diags = g->diags;
    GpTensor *made = NULL;
    GpSite site = gp_lua_site(L);
    GpBox *box = gp_box_push(L, GP_TENSOR, 0);
    gp_lua_check(L, gp_tensor_new(d, gp_tensor_elem(t), gp_tensor_shape(t), site, diags, &made));
    gp_box_fill(L, box, made);
    gp_lua_account(L, g, gp_tensor_bytes(made));
    gp_lua_check(L, gp_tensor_copy(made, t, site, diags));
    return 1;
}

static int tensor_copy(lua_State *L) {
    GpTensor *t = check_tensor(L);
    gp_lua_diags(L);
    return push_copy(L, t, gp_tensor_device(t));
}

static int tensor_convert(lua_State *L) {
    GpTensor *t = check_tensor(L), *made = NULL;
    GpElem elem = gp_lua_elem(L, 2, GpElem_F32);
    luaL_checkany(L, 2);
    gpulua_state *g = gp_lua_state(L);
    GpDiags *diags = gp_lua_diags(L);
    GpSite site = gp_lua_site(L);
    lua_settop(L, 1);
    gp_lua_check(L, gp_tensor_check(t, GpAccess_Read, site, diags));
    if (!gp_tensor_is_contiguous(t)) {
        push_copy(L, t, gp_tensor_device(t));
        lua_replace(L, 1);
        t = check_tensor(L);
    }
    GpBox *box = gp_box_push(L, GP_TENSOR, 0);
    gp_lua_check(L, gp_tensor_new(gp_tensor_device(t), elem, gp_tensor_shape(t), site, diags, &made));
    gp_box_fill(L, box, made);
    gp_lua_account(L, g, gp_tensor_bytes(made));
    gp_lua_check(L, gp_engine_convert(g->engine, made, t, site, diags));
    return 1;
}

static int tensor_to(lua_State *L) {
    GpTensor *t = check_tensor(L);
    gpulua_state *g = gp_lua_state(L);
    GpDiags *diags = gp_lua_diags(L);
    GpDevice *d;
    GpStr name = gp_str_from(luaL_checkstring(L, 2));
    GpStatus status = gp_device_open(gp_engine_runtime(g->engine), name, diags, &d, NULL);
    if (status != GpStatus_Ok) return gp_lua_fail(L, status);
    if (d == gp_tensor_device(t)) {
        lua_settop(L, 1);
        return 1;
    }
    return push_copy(L, t, d);
}

static int tensor_fill(lua_State *L) {
    GpTensor *t = check_tensor(L);
    GpScalar v = gp_lua_scalar(L, 2, gp_tensor_elem(t));
    GpDiags *diags = gp_lua_diags(L);
    gp_lua_check(L, gp_tensor_fill(t, v, gp_lua_site(L), diags));
    lua_settop(L, 1);
    return 1;
}

static int tensor_copy_from(lua_State *L) {
    GpTensor *t = check_tensor(L);
    GpTensor *from = gp_box_check(L, 2, GP_TENSOR)->tensor;
    GpDiags *diags = gp_lua_diags(L);
    gp_lua_check(L, gp_tensor_copy(t, from, gp_lua_site(L), diags));
    lua_settop(L, 1);
    return 1;
}

static int tensor_sync(lua_State *L) {
    GpTensor *t = check_tensor(L);
    GpDiags *diags = gp_lua_diags(L);
    gp_lua_check(L, gp_tensor_sync(t, gp_lua_site(L), diags));
    lua_settop(L, 1);
    return 1;
}

/* ---- Views ---------------------------------------------------------------------------------- */

static int tensor_reshape(lua_State *L) {
    GpTensor *t = check_tensor(L), *view = NULL;
    GpShape shape;
    gp_lua_shape(L, 2, "a shape", &shape);
    GpDiags *diags = gp_lua_diags(L);
    GpBox *box = gp_box_push(L, GP_TENSOR, 0);
    gp_lua_check(L, gp_tensor_reshape(t, &shape, gp_lua_site(L), diags, &view));
    gp_box_fill(L, box, view);
    return 1;
}

static int tensor_reinterpret(lua_State *L) {
    GpTensor *t = check_tensor(L), *view = NULL;
    GpShape shape = *gp_tensor_shape(t);
    luaL_checkany(L, 2);
    GpElem elem = gp_lua_elem(L, 2, GpElem_F32);
    if (!lua_isnoneornil(L, 3)) gp_lua_shape(L, 3, "a shape", &shape);
    GpDiags *diags = gp_lua_diags(L);
    GpBox *box = gp_box_push(L, GP_TENSOR, 0);
    gp_lua_check(L, gp_tensor_reinterpret(t, elem, &shape, gp_lua_site(L), diags, &view));
    gp_box_fill(L, box, view);
    return 1;
}

/* The range of one axis: {first, last}, inclusive, or one index; nil takes all. */
static void check_range(lua_State *L, int arg, int64_t extent, int64_t *first, int64_t *last) {
    *first = 1;
    *last = extent;
    if (lua_isnoneornil(L, arg)) return;
    if (lua_type(L, arg) == LUA_TNUMBER) {
        *first = *last = luaL_checkinteger(L, arg);
        return;
    }
    luaL_checktype(L, arg, LUA_TTABLE);
    lua_geti(L, arg, 1);
    lua_geti(L, arg, 2);
    if (!lua_isinteger(L, -2) || !lua_isinteger(L, -1) || luaL_len(L, arg) > 2)
        luaL_argerror(L, arg, "a range is {first, last}");
    *first = lua_tointeger(L, -2);
    *last = lua_tointeger(L, -1);
    lua_pop(L, 2);
}

/* Pushes "`x`", or "the tensor" where the caller has no name for it. */
static const char *push_name(lua_State *L, const GpTensor *t) {
    gpulua_state *g = gp_lua_state(L);
    GpText name = {.session = gp_engine_session(g->engine)};
    if (gp_lua_name(L, g, t, &name, NULL)) lua_pushfstring(L, "`%s`", gp_text_cstr(&name));
    else lua_pushliteral(L, "the tensor");
    gp_text_free(&name);
    return lua_tostring(L, -1);
}

/* Of views: raises what the runtime would, in numbers that count from 1, unless the tensor may not
** be used at all. */
static GpSpan begin_refusal(lua_State *L, GpTensor *t, GpDiags **diags) {
    GpSite site = gp_lua_site(L);
    *diags = gp_lua_diags(L);
    gp_lua_check(L, gp_tensor_check(t, GpAccess_Read, site, *diags));
    return gp_engine_resolve(gp_lua_state(L)->engine, site);
}

static void refuse_range(lua_State *L, GpTensor *t, int axis, int64_t first, int64_t last) {
    GpDiags *diags;
    const char *name = push_name(L, t);
    const char *range = lua_pushfstring(L, "{%I, %I}", (lua_Integer)first, (lua_Integer)last);
    const char *number = lua_pushfstring(L, "%d", axis + 1);
    const char *extent = lua_pushfstring(L, "%I", (lua_Integer)gp_tensor_shape(t)->dim[axis]);
    GpSpan span = begin_refusal(L, t, &diags);
    GpDiag *d = gp_diag(diags, GpDiag_G0311, span, range, number, name, extent);
    gp_note(d, "ranges and axes count from 1, and a range includes its last element");
    gp_lua_check(L, GpStatus_Diagnostics);
}

static void refuse_order(lua_State *L, GpTensor *t, const GpShape *order) {
    GpDiags *diags;
    luaL_Buffer b;
    const char *name = push_name(L, t);
    luaL_buffinit(L, &b);
    for (int i = 0; i < order->rank; i++) {
        lua_pushfstring(L, "%s%I", i ? ", " : "{", (lua_Integer)order->dim[i]);
        luaL_addvalue(&b);
    }
    luaL_addchar(&b, '}');
    luaL_pushresult(&b);
    GpSpan span = begin_refusal(L, t, &diags);
    GpDiag *d = gp_diag(diags, GpDiag_G0313, span, lua_tostring(L, -1), name);
    gp_note(d, "axes count from 1; each of the %d is named once", gp_tensor_shape(t)->rank);
    gp_lua_check(L, GpStatus_Diagnostics);
}

static int tensor_slice(lua_State *L) {
    GpTensor *t = check_tensor(L), *view = NULL;
    const GpShape *shape = gp_tensor_shape(t);
    int64_t start[GP_MAX_RANK], stop[GP_MAX_RANK];
    if (lua_gettop(L) - 1 > shape->rank)
        return luaL_error(L, "%d ranges for a tensor of rank %d", lua_gettop(L) - 1, shape->rank);
    for (int axis = 0; axis < shape->rank; axis++) {
        int64_t first;
        check_range(L, axis + 2, shape->dim[axis], &first, &stop[axis]);
        if (first < 1 || stop[axis] < first - 1 || stop[axis] > shape->dim[axis])
            refuse_range(L, t, axis, first, stop[axis]);
        start[axis] = first - 1;
    }
    GpDiags *diags = gp_lua_diags(L);
    GpBox *box = gp_box_push(L, GP_TENSOR, 0);
    gp_lua_check(L, gp_tensor_slice(t, start, stop, gp_lua_site(L), diags, &view));
    gp_box_fill(L, box, view);
    return 1;
}

static int tensor_permute(lua_State *L) {
    GpTensor *t = check_tensor(L), *view = NULL;
    GpShape order;
    uint8_t axes[GP_MAX_RANK] = {0};
    gp_lua_shape(L, 2, "an order of axes", &order);
    int rank = gp_tensor_shape(t)->rank;
    uint32_t seen = 0;
    for (int i = 0; i < GP_MIN(rank, order.rank); i++) {
        bool is_axis = order.dim[i] >= 1 && order.dim[i] <= rank;
        axes[i] = is_axis ? (uint8_t)(order.dim[i] - 1) : 0;
        seen |= is_axis ? UINT32_C(1) << axes[i] : 0;
    }
    if (order.rank != rank || seen != (UINT32_C(1) << rank) - 1) refuse_order(L, t, &order);
    GpDiags *diags = gp_lua_diags(L);
    GpBox *box = gp_box_push(L, GP_TENSOR, 0);
    gp_lua_check(L, gp_tensor_permute(t, axes, gp_lua_site(L), diags, &view));
    gp_box_fill(L, box, view);
    return 1;
}

/* ---- Ownership ------------------------------------------------------------------------------ */

static int cut(lua_State *L, GpAccess access) {
    GpTensor *t = check_tensor(L);
    GpPartition *p = NULL;
    GpShape tile;
    gp_lua_shape(L, 2, "the shape of a tile", &tile);
    GpDiags *diags = gp_lua_diags(L);
    GpBox *box = gp_box_push(L, GP_PARTITION, 0);
    gp_lua_check(L, gp_partition_new(t, &tile, access, gp_lua_site(L), diags, &p));
    gp_box_fill(L, box, p);
    return 1;
}

static int tensor_tiles(lua_State *L) { return cut(L, GpAccess_Write); }
static int tensor_partition(lua_State *L) { return cut(L, GpAccess_Move); }

static int tensor_freeze(lua_State *L) {
    GpTensor *t = check_tensor(L);
    GpDiags *diags = gp_lua_diags(L);
    gp_lua_check(L, gp_tensor_freeze(t, gp_lua_site(L), diags));
    lua_settop(L, 1);
    return 1;
}

static int tensor_free(lua_State *L) {
    GpTensor *t = check_tensor(L);
    GpDiags *diags = gp_lua_diags(L);
    gp_lua_check(L, gp_tensor_drop(t, gp_lua_site(L), diags));
    return 0;
}

/* `local t <close>`: frees as t:free() does; a moved tensor is somebody else's. */
static int tensor_close(lua_State *L) {
    GpBox *box = gp_box_test(L, 1, GP_TENSOR);
    if (!box || !box->tensor) return 0;
    GpDiags *diags = gp_lua_diags(L);
    if (gp_tensor_check(box->tensor, GpAccess_Move, gp_lua_site(L), diags) != GpStatus_Ok) {
        gp_lua_diags(L);
        return 0;
    }
    gp_lua_check(L, gp_tensor_drop(box->tensor, gp_lua_site(L), diags));
    return 0;
}

const GpLuaFn gp_lua_tensor_methods[] = {
    {"__index", tensor_index, "t[i], t[{i, j}], t.shape, t.ndim, t.numel, t.bytes, t.dtype, t.device, t.strides, t.is_contiguous, t.address",
     "An element (waits for pending work), or a field."},
    {"__newindex", tensor_newindex, "t[i] = v, t[{i, j}] = v", "Sets one element."},
    {"__len", tensor_len, "#t -> integer", "The first extent."},
    {"__tostring", tensor_tostring, "tostring(t) -> string", "Shape, dtype, device and the values, the middle left out when long."},
    {"__close", tensor_close, "local t <close>", "Frees the memory at the end of the scope, unless it was moved."},
    {"to_table", tensor_to_table, "t:to_table() -> table", "The values as nested tables; waits."},
    {"item", tensor_item, "t:item() -> number | boolean", "The value of a one-element tensor; waits."},
    {"to_bytes", tensor_bytes, "t:to_bytes() -> string", "The values in storage form, row-major; waits."},
    {"copy", tensor_copy, "t:copy() -> Tensor", "A new contiguous tensor with the same values, on the same device."},
    {"convert", tensor_convert, "t:convert(dtype) -> Tensor", "A new tensor of another dtype, each element as Rust's `as` has it."},
    {"to", tensor_to, "t:to(device) -> Tensor | nil, err", "The tensor itself when it is there, else a copy."},
    {"fill", tensor_fill, "t:fill(value) -> t", "Sets every element."},
    {"copy_from", tensor_copy_from, "t:copy_from(src) -> t", "Copies a tensor of the same dtype and shape; devices may differ."},
    {"sync", tensor_sync, "t:sync() -> t", "Waits for what is enqueued on it; raises a failed check of a kernel that wrote it."},
    {"reshape", tensor_reshape, "t:reshape{n, ..} -> Tensor", "The same memory in another shape. Where elements do not lie one after another, axes of extent 1 may come and go."},
    {"view", tensor_reshape, "t:view{n, ..} -> Tensor", "The same as reshape."},
    {"reinterpret", tensor_reinterpret, "t:reinterpret(dtype [, {n, ..}]) -> Tensor", "The same memory as elements of another dtype, in the same number of bytes."},
    {"slice", tensor_slice, "t:slice({first, last} | index | nil, ..) -> Tensor", "A part of the same memory; one range an axis, inclusive; nil takes all."},
    {"permute", tensor_permute, "t:permute{axis, ..} -> Tensor", "The same memory with its axes in another order."},
    {"tiles", tensor_tiles, "t:tiles{n, ..} -> Partition", "Borrows the tensor in tiles, as a kernel takes for `&mut Tensor`; t stays usable."},
    {"partition", tensor_partition, "t:partition{n, ..} -> Partition", "Moves the tensor into a partition; t is usable again after p:unpartition() or when p dies."},
    {"freeze", tensor_freeze, "t:freeze() -> t", "Read-only from here on."},
    {"free", tensor_free, "t:free()", "Frees the memory now; later uses are errors that name this place."},
    {NULL, NULL, NULL, NULL},
};
