/* Devices, streams, memory and measuring. */
#include <stdlib.h>

#include "core/os_posix.h"
#include "lua/lsimilar.h"
#include "lua/state.h"

/* ---- Devices -------------------------------------------------------------------------------- */

static int push_device(lua_State *L, GpDevice *d) {
    GpBox *box = gp_box_push(L, GP_DEVICE, 0);
    gp_box_fill(L, box, d);
    return 1;
}

static int gpu_device(lua_State *L) {
    gpulua_state *g = gp_lua_state(L);
    const char *name = luaL_optstring(L, 1, NULL);
    GpDiags *diags = gp_lua_diags(L);
    GpDevice *d;
    GpStatus status = GpStatus_Ok;
    if (name) status = gp_engine_use(g->engine, gp_str_from(name), diags);
    if (status == GpStatus_Ok) status = gp_engine_device(g->engine, diags, &d);
    if (status != GpStatus_Ok) return gp_lua_fail(L, status);
    return push_device(L, d);
}

static int gpu_gpus(lua_State *L) {
    gpulua_state *g = gp_lua_state(L);
    GpDiags *diags = gp_lua_diags(L);
    lua_pushinteger(L, gp_device_count(gp_engine_runtime(g->engine), diags));
    return 1;
}

static int gpu_sync(lua_State *L) {
    gpulua_state *g = gp_lua_state(L);
    GpDiags *diags = gp_lua_diags(L);
    GpDevice *d;
    gp_lua_check(L, gp_engine_device(g->engine, diags, &d));
    gp_lua_check(L, gp_device_sync(d, diags));
    return 0;
}

static int gpu_memory(lua_State *L) {
    gpulua_state *g = gp_lua_state(L);
    GpDiags *diags = gp_lua_diags(L);
    GpDevice *d;
    GpMemoryInfo memory;
    gp_lua_check(L, gp_engine_device(g->engine, diags, &d));
    gp_lua_check(L, gp_device_memory(d, &memory));
    struct { const char *name; uint64_t value; } fields[] = {
        {"used", memory.used}, {"peak", memory.peak}, {"reserved", memory.reserved},
        {"free", memory.free}, {"total", memory.total}};
    lua_createtable(L, 0, (int)GP_COUNT(fields));
    for (size_t i = 0; i < GP_COUNT(fields); i++) {
        lua_pushinteger(L, (lua_Integer)fields[i].value);
        lua_setfield(L, -2, fields[i].name);
    }
    return 1;
}

static int device_index(lua_State *L) {
    const GpDeviceInfo *info = gp_device_info(gp_box_check(L, 1, GP_DEVICE)->device);
    const char *name = luaL_checkstring(L, 2);
    static const char *const kinds[] = {"cpu", "interp", "cuda"};
    lua_pushvalue(L, 2);
    if (lua_rawget(L, lua_upvalueindex(2)) != LUA_TNIL) return 1;
    if (strcmp(name, "name") == 0) lua_pushstring(L, info->name);
    else if (strcmp(name, "kind") == 0) lua_pushstring(L, kinds[info->kind]);
    else if (strcmp(name, "product") == 0) lua_pushstring(L, info->product);
    else if (strcmp(name, "sm") == 0) lua_pushinteger(L, info->sm);
    else if (strcmp(name, "processors") == 0) lua_pushinteger(L, info->processors);
    else if (strcmp(name, "memory") == 0) lua_pushinteger(L, (lua_Integer)info->memory);
    else if (strcmp(name, "driver") == 0) lua_pushinteger(L, info->driver_version);
    else if (strcmp(name, "math") == 0)
        lua_pushstring(L, info->kind == GpDevice_Cuda
                              ? gp_codegen_device_math(gp_engine_codegen(gp_lua_state(L)->engine))
                              : NULL);
    else return gp_lua_missing_field(L, GP_DEVICE, gp_lua_device_methods);
    return 1;
}

static int device_tostring(lua_State *L) {
    lua_pushstring(L, gp_device_info(gp_box_check(L, 1, GP_DEVICE)->device)->name);
    return 1;
}

/* ---- Streams -------------------------------------------------------------------------------- */

static int gpu_stream(lua_State *L) {
    gpulua_state *g = gp_lua_state(L);
    GpDiags *diags = gp_lua_diags(L);
    GpDevice *d;
    GpStream *stream = NULL;
    gp_lua_check(L, gp_engine_device(g->engine, diags, &d));
    GpBox *box = gp_box_push(L, GP_STREAM, 0);
    gp_lua_check(L, gp_stream_new(d, diags, &stream));
    gp_box_fill(L, box, stream);
    return 1;
}

static int stream_sync(lua_State *L) {
    GpStream *s = gp_box_check(L, 1, GP_STREAM)->stream;
    GpDiags *diags = gp_lua_diags(L);
    gp_lua_check(L, gp_stream_sync(s, diags));
    lua_settop(L, 1);
    return 1;
}

static int stream_is_idle(lua_State *L) {
    lua_pushboolean(L, gp_stream_is_idle(gp_box_check(L, 1, GP_STREAM)->stream));
    return 1;
}

/* ---- Measuring ------------------------------------------------------------------------------ */

static int gpu_clock(lua_State *L) {
    lua_pushnumber(L, (double)gp_clock_ns() * 1e-9);
    return 1;
}

static double run_batch(lua_State *L, GpDevice *d, lua_Integer count) {
    uint64_t start = gp_clock_ns();
    for (lua_Integer i = 0; i < count; i++) {
        lua_pushvalue(L, 1);
        lua_call(L, 0, 0);
    }
    gp_lua_check(L, gp_device_sync(d, gp_lua_diags(L)));
    return (double)(gp_clock_ns() - start) * 1e-9;
}

static int compare_times(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

static double opt_field(lua_State *L, const char *name, double preset) {
    double value = preset;
    if (lua_istable(L, 2)) {
        lua_getfield(L, 2, name);
        value = luaL_optnumber(L, -1, preset);
        lua_pop(L, 1);
    }
    return value;
}

enum { GP_BENCH_BATCHES = 15 };

/* Warms up, finds how many calls fill a batch, and takes the median over batches, each ended by
** one wait for the device. */
static int gpu_bench(lua_State *L) {
    gpulua_state *g = gp_lua_state(L);
    luaL_checktype(L, 1, LUA_TFUNCTION);
    double warmup = opt_field(L, "warmup_ms", 25) * 1e-3, rep = opt_field(L, "rep_ms", 150) * 1e-3;
    double times[GP_BENCH_BATCHES];
    GpDevice *d;
    gp_lua_check(L, gp_engine_device(g->engine, gp_lua_diags(L), &d));
    lua_Integer count = 1;
    double spent = run_batch(L, d, 1), last = run_batch(L, d, 1);
    while (spent < warmup || last * GP_BENCH_BATCHES < rep / 2) {
        if (last * GP_BENCH_BATCHES < rep / 2) count *= 2;
        last = run_batch(L, d, count);
        spent += last;
    }
    for (int i = 0; i < GP_BENCH_BATCHES; i++) times[i] = run_batch(L, d, count) / (double)count;
    qsort(times, GP_BENCH_BATCHES, sizeof(*times), compare_times);
    lua_createtable(L, 0, 4);
    lua_pushnumber(L, times[GP_BENCH_BATCHES / 2]);
    lua_setfield(L, -2, "median");
    lua_pushnumber(L, times[0]);
    lua_setfield(L, -2, "min");
    lua_pushnumber(L, times[GP_BENCH_BATCHES - 1]);
    lua_setfield(L, -2, "max");
    lua_pushinteger(L, count * GP_BENCH_BATCHES);
    lua_setfield(L, -2, "calls");
    return 1;
}

static int gpu_compile_stats(lua_State *L) {
    GpCompileStats s = gp_engine_compile_stats(gp_lua_state(L)->engine);
    lua_createtable(L, 0, 4);
    lua_pushinteger(L, s.instantiated);
    lua_setfield(L, -2, "instantiated");
    lua_pushinteger(L, s.compiled);
    lua_setfield(L, -2, "compiled");
    lua_pushinteger(L, s.from_disk);
    lua_setfield(L, -2, "from_disk");
    lua_pushnumber(L, (double)s.compile_ns * 1e-9);
    lua_setfield(L, -2, "seconds");
    return 1;
}

const GpLuaFn gp_lua_device_functions[] = {
    {"device", gpu_device, "device([name]) -> Device | nil, err", "Chooses the device of new tensors: \"auto\", \"cpu\", \"cuda\", \"cuda:1\"; without a name tells it."},
    {"gpus", gpu_gpus, "gpus() -> integer", "GPUs that can be used."},
    {"sync", gpu_sync, "sync()", "Waits until the device has done all that was enqueued; raises a failed check of a kernel."},
    {"memory", gpu_memory, "memory() -> {used, peak, reserved, free, total}", "The device's memory in bytes."},
    {"stream", gpu_stream, "stream() -> Stream", "A new stream of the device. Work on one stream runs in order; across streams tensors order it."},
    {"clock", gpu_clock, "clock() -> seconds", "A monotonic clock."},
    {"bench", gpu_bench, "bench(f [, {warmup_ms = 25, rep_ms = 150}]) -> {median, min, max, calls}", "Seconds a call of f takes, enqueued back to back, over batches that each wait for the device once."},
    {"compile_stats", gpu_compile_stats, "compile_stats() -> {instantiated, compiled, from_disk, seconds}", "What compiling has cost so far."},
    {NULL, NULL, NULL, NULL},
};

const GpLuaFn gp_lua_device_methods[] = {
    {"__index", device_index, "d.name, .kind, .product, .sm, .processors, .memory, .driver, .math", "Facts of the device; math: the path of the library of device functions that a GPU's kernels use."},
    {"__tostring", device_tostring, "tostring(d) -> string", "Its name."},
    {NULL, NULL, NULL, NULL},
};

const GpLuaFn gp_lua_stream_methods[] = {
    {"sync", stream_sync, "s:sync() -> s", "Waits for its work."},
    {"is_idle", stream_is_idle, "s:is_idle() -> boolean", "Whether its work is done; does not wait."},
    {NULL, NULL, NULL, NULL},
};
