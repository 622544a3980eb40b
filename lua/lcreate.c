/* Creation of tensors. Values are computed on the host in the order of the elements, so that they
** are equal on every device; constants are filled on the device, random numbers of a GPU drawn there. */
#include <math.h>

#include "lua/random.h"
#include "lua/state.h"

/* What a creation call asks for: a shape and options either in the shape's table
** (gpu.zeros{2, 3, dtype = "f16"}) or as later arguments. */
typedef struct Wanted {
    gpulua_state *g;
    GpDiags *diags;
    GpShape shape;
    GpElem elem;
    GpDevice *device;
} Wanted;

static void begin(lua_State *L, Wanted *w) {
    w->g = gp_lua_state(L);
    w->diags = gp_lua_diags(L);
    gp_lua_check(L, gp_engine_device(w->g->engine, w->diags, &w->device));
}

/* Pushes the new tensor, contents undefined; user value 1 is what it keeps. */
static GpTensor *push_new(lua_State *L, const Wanted *w) {
    GpTensor *t = NULL;
    GpBox *box = gp_box_push(L, GP_TENSOR, 1);
    gp_lua_check(L, gp_tensor_new(w->device, w->elem, &w->shape, gp_lua_site(L), w->diags, &t));
    gp_box_fill(L, box, t);
    gp_lua_account(L, w->g, gp_tensor_bytes(t));
    return t;
}

/* ---- Constants ------------------------------------------------------------------------------ */

static int create_filled(lua_State *L, const Wanted *w, GpScalar value) {
    GpTensor *t = push_new(L, w);
    gp_lua_check(L, gp_tensor_fill(t, value, gp_lua_site(L), w->diags));
    return 1;
}

static int create_constant(lua_State *L, int value) {
    Wanted w;
    GpScalar v;
    gp_lua_new_shape(L, 1, &w.shape);
    w.elem = gp_lua_new_elem(L, 1, 2, GpElem_F32);
    begin(L, &w);
    gp_assert(gp_scalar_from_int(value, w.elem, &v));
    return create_filled(L, &w, v);
}

static int gpu_zeros(lua_State *L) { return create_constant(L, 0); }
static int gpu_ones(lua_State *L) { return create_constant(L, 1); }

static int gpu_full(lua_State *L) {
    Wanted w;
    gp_lua_new_shape(L, 1, &w.shape);
    w.elem = gp_lua_new_elem(L, 1, 3, GpElem_F32);
    GpScalar v = gp_lua_scalar(L, 2, w.elem);
    begin(L, &w);
    return create_filled(L, &w, v);
}

static int gpu_empty(lua_State *L) {
    Wanted w;
    gp_lua_new_shape(L, 1, &w.shape);
    w.elem = gp_lua_new_elem(L, 1, 2, GpElem_F32);
    begin(L, &w);
    push_new(L, &w);
    return 1;
}

/* ---- Sequences ------------------------------------------------------------------------------ */

/* A host buffer that Lua frees when something raises. */
static uint8_t *push_buffer(lua_State *L, const Wanted *w, int64_t *count) {
    if (!gp_shape_numel(&w->shape, count) || *count > (INT64_MAX >> 4))
        luaL_argerror(L, 1, "the shape has too many elements");
    return lua_newuserdatauv(L, (size_t)*count * gp_elem_info[w->elem].bytes + 1, 0);
}

static int create_from(lua_State *L, const Wanted *w, const void *host) {
    GpTensor *t = push_new(L, w);
    gp_lua_check(L, gp_tensor_write(t, host, gp_tensor_bytes(t), gp_lua_site(L), w->diags));
    return 1;
}

static GpScalar make_scalar(GpElem elem, double v) {
    return gp_scalar_cast((GpScalar){.elem = GpElem_F64, .f = v}, elem);
}

/* As a value of `elem`: integers hold exactly what they are given, floats round. */
static GpScalar check_step(lua_State *L, GpElem elem, double v) {
    GpScalar scalar;
    lua_Integer whole;
    if (gp_elem_is_float(elem)) return make_scalar(elem, v);
    if (gp_scalar_from_double(v, elem, &scalar)) return scalar;
    if (v == floor(v) && lua_numbertointeger(v, &whole)) lua_pushinteger(L, whole);
    else lua_pushnumber(L, v);
    luaL_error(L, "%s is no value of %s", lua_tostring(L, -1), gp_elem_info[elem].name);
    return scalar;
}

/* start + i * step */
static int create_steps(lua_State *L, const Wanted *w, double start, double step) {
    int64_t count;
    size_t bytes = gp_elem_info[w->elem].bytes;
    uint8_t *host = push_buffer(L, w, &count);
    for (int64_t i = 0; i < count; i++)
        gp_scalar_store(check_step(L, w->elem, start + (double)i * step), host + (size_t)i * bytes);
    return create_from(L, w, host);
}

/* arange(stop), arange(start, stop), arange(start, stop, step), each with a dtype behind. */
static int gpu_arange(lua_State *L) {
    Wanted w = {.shape = {.rank = 1}};
    int numbers = 0;
    while (numbers < 3 && lua_type(L, numbers + 1) == LUA_TNUMBER) numbers++;
    if (numbers == 0) luaL_checknumber(L, 1);
    double start = numbers > 1 ? lua_tonumber(L, 1) : 0;
    double stop = lua_tonumber(L, numbers > 1 ? 2 : 1);
    double step = numbers > 2 ? lua_tonumber(L, 3) : 1;
    if (step == 0) luaL_argerror(L, 3, "the step is zero");
    double count = ceil((stop - start) / step);
    if (!(count < 9e15)) luaL_argerror(L, 1, "the range has too many elements");
    w.shape.dim[0] = count > 0 ? (int64_t)count : 0;
    w.elem = gp_lua_elem(L, numbers + 1, GpElem_F32);
    begin(L, &w);
    return create_steps(L, &w, start, step);
}

static int gpu_linspace(lua_State *L) {
    Wanted w = {.shape = {.rank = 1}};
    double start = luaL_checknumber(L, 1), stop = luaL_checknumber(L, 2);
    lua_Integer count = luaL_checkinteger(L, 3);
    luaL_argcheck(L, count >= 1, 3, "at least one element");
    w.shape.dim[0] = count;
    w.elem = gp_lua_elem(L, 4, GpElem_F32);
    begin(L, &w);
    return create_steps(L, &w, start, count > 1 ? (stop - start) / (double)(count - 1) : 0);
}

static int gpu_eye(lua_State *L) {
    Wanted w = {.shape = {.rank = 2}};
    lua_Integer rows = luaL_checkinteger(L, 1);
    bool has_columns = lua_isinteger(L, 2);
    lua_Integer columns = has_columns ? lua_tointeger(L, 2) : rows;
    luaL_argcheck(L, rows >= 0 && columns >= 0, 1, "extents are not negative");
    w.shape.dim[0] = rows;
    w.shape.dim[1] = columns;
    w.elem = gp_lua_elem(L, has_columns ? 3 : 2, GpElem_F32);
    begin(L, &w);
    int64_t count;
    size_t bytes = gp_elem_info[w.elem].bytes;
    uint8_t *host = push_buffer(L, &w, &count);
    memset(host, 0, (size_t)count * bytes);
    for (int64_t i = 0; i < GP_MIN(rows, columns); i++)
        gp_scalar_store(make_scalar(w.elem, 1), host + (size_t)(i * columns + i) * bytes);
    return create_from(L, &w, host);
}

/* ---- Random numbers ------------------------------------------------------------------------- */

static int draw_on_host(lua_State *L, const Wanted *w, bool is_normal, uint64_t stream) {
    int64_t count;
    uint8_t *host = push_buffer(L, w, &count);
    GpRandom r = {w->g->random_seed, stream, is_normal};
    gp_random_fill(&r, w->elem, count, host);
    return create_from(L, w, host);
}

/* The same numbers by a kernel. */
static int draw_on_device(lua_State *L, const Wanted *w, bool is_normal, uint64_t stream) {
    GpRandom r = {w->g->random_seed, stream, is_normal};
    gp_lua_check(L, gp_engine_draw(w->g->engine, push_new(L, w), &r, gp_lua_site(L), w->diags));
    return 1;
}

static int create_random(lua_State *L, bool is_normal) {
    Wanted w;
    gp_lua_new_shape(L, 1, &w.shape);
    w.elem = gp_lua_new_elem(L, 1, 2, GpElem_F32);
    if (gp_elem_info[w.elem].cls != GpClass_Float) luaL_argerror(L, 2, "random numbers are floats");
    begin(L, &w);
    uint64_t stream = w.g->random_stream++;
    bool is_gpu = gp_device_info(w.device)->kind == GpDevice_Cuda;
    return (is_gpu ? draw_on_device : draw_on_host)(L, &w, is_normal, stream);
}

static int gpu_rand(lua_State *L) { return create_random(L, false); }
static int gpu_randn(lua_State *L) { return create_random(L, true); }

static int gpu_seed(lua_State *L) {
    gpulua_state *g = gp_lua_state(L);
    g->random_seed = (uint64_t)luaL_checkinteger(L, 1);
    g->random_stream = 0;
    return 0;
}

/* ---- Lua tables ----------------------------------------------------------------------------- */

/* The shape of nested tables, by their first elements; *is_bool: the first value is a boolean. */
static void table_shape(lua_State *L, int index, GpShape *shape, bool *is_bool) {
    int top = lua_gettop(L);
    memset(shape, 0, sizeof(*shape));
    lua_pushvalue(L, index);
    while (lua_istable(L, -1)) {
        if (shape->rank == GP_MAX_RANK)
            luaL_argerror(L, index, lua_pushfstring(L, "tables nest more than %d deep", GP_MAX_RANK));
        shape->dim[shape->rank++] = gp_lua_len(L, -1);
        lua_geti(L, -1, 1);
    }
    *is_bool = lua_isboolean(L, -1);
    lua_settop(L, top);
}

/* A field beside the values of the table at the top of the stack would be lost. */
static void refuse_fields(lua_State *L, lua_Integer len) {
    if (lua_getmetatable(L, -1)) {
        lua_pop(L, 1); /* a view of something: its own keys say nothing */
        return;
    }
    lua_pushnil(L);
    while (lua_next(L, -2)) {
        lua_pop(L, 1);
        lua_Integer place = lua_isinteger(L, -1) ? lua_tointeger(L, -1) : 0;
        if (place >= 1 && place <= len) continue;
        lua_pushvalue(L, -1);
        const char *key = luaL_tolstring(L, -1, NULL);
        luaL_argerror(L, 1, lua_pushfstring(L, "a list of values is expected, not a key '%s'", key));
    }
}

static uint8_t *store_value(lua_State *L, GpElem elem, uint8_t *to) {
    GpScalar v;
    if (!gp_lua_to_scalar(L, -1, elem, &v))
        luaL_argerror(L, 1, lua_pushfstring(L, "%s is no value of %s", luaL_tolstring(L, -1, NULL),
                                            gp_elem_info[elem].name));
    gp_scalar_store(v, to);
    return to + gp_elem_info[elem].bytes;
}

/* Stores the table at the top of the stack, axis by axis; returns the end. */
static uint8_t *store_table(lua_State *L, const Wanted *w, int axis, uint8_t *to) {
    if (axis == w->shape.rank) return store_value(L, w->elem, to);
    luaL_checkstack(L, 8, "tables nest too deep");
    if (!lua_istable(L, -1) || luaL_len(L, -1) != w->shape.dim[axis])
        luaL_argerror(L, 1, lua_pushfstring(L, "a table of %I elements is expected on axis %d",
                                            (lua_Integer)w->shape.dim[axis], axis + 1));
    refuse_fields(L, w->shape.dim[axis]);
    for (int64_t i = 0; i < w->shape.dim[axis]; i++) {
        lua_geti(L, -1, i + 1);
        to = store_table(L, w, axis + 1, to);
        lua_pop(L, 1);
    }
    return to;
}

static int gpu_from_table(lua_State *L) {
    Wanted w;
    int64_t count;
    luaL_checktype(L, 1, LUA_TTABLE);
    bool is_bool;
    table_shape(L, 1, &w.shape, &is_bool);
    w.elem = gp_lua_elem(L, 2, is_bool ? GpElem_Bool : GpElem_F32);
    begin(L, &w);
    uint8_t *host = push_buffer(L, &w, &count);
    lua_pushvalue(L, 1);
    store_table(L, &w, 0, host);
    lua_pop(L, 1);
    return create_from(L, &w, host);
}

/* A kernel that follows the addresses takes no loan of what is there, so what is enqueued on the tensors
** is waited for, and the table keeps them. */
static int gpu_addresses(lua_State *L) {
    Wanted w = {.elem = GpElem_I64, .shape = {.rank = 1}};
    luaL_checktype(L, 1, LUA_TTABLE);
    lua_settop(L, 1);
    int64_t count = w.shape.dim[0] = gp_lua_len(L, 1);
    refuse_fields(L, count);
    begin(L, &w);
    uint8_t *host = push_buffer(L, &w, &count);
    lua_createtable(L, (int)GP_MIN(count, 1 << 16), 0);
    for (int64_t i = 0; i < count; i++) {
        lua_geti(L, 1, i + 1);
        GpBox *box = gp_box_test(L, -1, GP_TENSOR);
        if (!box) return luaL_argerror(L, 1, "a list of tensors is expected");
        if (gp_tensor_device(box->tensor) != w.device)
            return luaL_argerror(L, 1, lua_pushfstring(L, "tensor %I is on %s, and the table on %s", (lua_Integer)i + 1,
                                                       gp_device_info(gp_tensor_device(box->tensor))->name,
                                                       gp_device_info(w.device)->name));
        gp_lua_check(L, gp_tensor_sync(box->tensor, gp_lua_site(L), w.diags));
        gp_scalar_store((GpScalar){.elem = GpElem_I64, .u = gp_tensor_address(box->tensor)}, host + 8 * i);
        lua_rawseti(L, -2, i + 1);
    }
    create_from(L, &w, host);
    lua_insert(L, -2);
    lua_setiuservalue(L, -2, 1);
    return 1;
}

/* The counterpart of t:to_bytes(). */
static int gpu_from_bytes(lua_State *L) {
    Wanted w;
    size_t len;
    const char *bytes = luaL_checklstring(L, 1, &len);
    gp_lua_new_shape(L, 2, &w.shape);
    w.elem = gp_lua_new_elem(L, 2, 3, GpElem_F32);
    begin(L, &w);
    int64_t count, size = gp_elem_info[w.elem].bytes;
    if (!gp_shape_numel(&w.shape, &count) || count != (int64_t)len / size || (int64_t)len % size != 0)
        return luaL_argerror(L, 1, lua_pushfstring(L, "%I bytes are not the shape's elements of %s",
                                                   (lua_Integer)len, gp_elem_info[w.elem].name));
    if (w.elem == GpElem_Bool)
        for (size_t i = 0; i < len; i++)
            luaL_argcheck(L, (uint8_t)bytes[i] < 2, 1, "a bool is stored as 0 or 1");
    return create_from(L, &w, bytes);
}

const GpLuaFn gp_lua_create_functions[] = {
    {"zeros", gpu_zeros, "zeros{n, ..} [, dtype] -> Tensor", "All zeros; dtype f32 unless said, here or as a field of the table."},
    {"ones", gpu_ones, "ones{n, ..} [, dtype] -> Tensor", "All ones."},
    {"full", gpu_full, "full({n, ..}, value [, dtype]) -> Tensor", "All `value`, which the dtype must be able to hold."},
    {"empty", gpu_empty, "empty{n, ..} [, dtype] -> Tensor", "Contents undefined until written."},
    {"arange", gpu_arange, "arange([start,] stop [, step] [, dtype]) -> Tensor", "start, start + step, .. below stop; start is 0 and step 1 unless said. An integer dtype must be able to hold each."},
    {"linspace", gpu_linspace, "linspace(first, last, count [, dtype]) -> Tensor", "count values from first to last, both included. An integer dtype must be able to hold each."},
    {"eye", gpu_eye, "eye(rows [, columns] [, dtype]) -> Tensor", "Ones on the diagonal."},
    {"rand", gpu_rand, "rand{n, ..} [, dtype] -> Tensor", "Uniform in [0, 1) by Philox4x32-10; the same numbers on every device."},
    {"randn", gpu_randn, "randn{n, ..} [, dtype] -> Tensor", "Normal(0, 1) by Philox and Box-Muller."},
    {"seed", gpu_seed, "seed(n)", "Starts the random numbers over; a fresh state has seed 0."},
    {"from_table", gpu_from_table, "from_table(table [, dtype]) -> Tensor", "The values of nested tables; each must convert exactly to an integer dtype. dtype f32 unless said, bool when the first value is a boolean."},
    {"addresses", gpu_addresses, "addresses{tensor, ..} -> Tensor", "A table of i64 for kernels that find tensors in one (load_tensor): where each begins. It keeps them; what they are afterwards used for is the script's to order."},
    {"from_bytes", gpu_from_bytes, "from_bytes(string, {n, ..} [, dtype]) -> Tensor", "The values in storage form, row-major, as t:to_bytes() gives them."},
    {NULL, NULL, NULL, NULL},
};
