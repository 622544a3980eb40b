/* gpu.tune: the fastest of several ways to launch a kernel, found once and kept on disk. */
#include <stdio.h>
#include <stdlib.h>

#include "core/os_posix.h"
#include "lua/state.h"

enum {
    KERNEL = 1,
    CHOICES,   /* the tables given to `with` */
    ARMS,      /* {kernel, args..} for each choice */
    ROUNDS = 7,
    MAX_CHOICES = 1024,
};
#define BATCH_SECONDS 0.02
#define MAX_BATCH 100000

/* ---- Arms ----------------------------------------------------------------------------------- */

/* Pushes {kernel with the choice, args..}. Behind the choices stand the arguments, or one function
** that gives those of a choice. */
static void make_arm(lua_State *L, int choice, int first, int last) {
    lua_newtable(L);
    int arm = lua_gettop(L);
    lua_getfield(L, KERNEL, "with");
    lua_pushvalue(L, KERNEL);
    lua_rawgeti(L, CHOICES, choice);
    if (!lua_istable(L, -1)) luaL_error(L, "choice %d is no table of options", choice);
    lua_call(L, 2, 1);
    lua_rawseti(L, arm, 1);
    if (lua_isfunction(L, first) && first == last) {
        lua_pushvalue(L, first);
        lua_rawgeti(L, CHOICES, choice);
        lua_call(L, 1, LUA_MULTRET);
    } else {
        luaL_checkstack(L, last, "too many arguments");
        for (int i = first; i <= last; i++) lua_pushvalue(L, i);
    }
    for (int i = lua_gettop(L) - arm; i > 0; i--) lua_rawseti(L, arm, i + 1);
}

/* Pushes the arm's kernel and arguments; returns how many. */
static int push_arm(lua_State *L, int arm) {
    lua_rawgeti(L, ARMS, arm);
    int table = lua_gettop(L), count = (int)lua_rawlen(L, table);
    luaL_checkstack(L, count + 2, "too many arguments");
    for (int i = 1; i <= count; i++) lua_rawgeti(L, table, i);
    lua_remove(L, table);
    return count;
}

/* Enqueues one launch; the status of lua_pcall, with its error on the stack. */
static int launch(lua_State *L, int arm) {
    int count = push_arm(L, arm);
    lua_getfield(L, -count, "run");
    lua_insert(L, -count - 1);
    return lua_pcall(L, count, 0, 0);
}

static GpKernel *kernel_of(lua_State *L, int arm) {
    lua_rawgeti(L, ARMS, arm);
    lua_rawgeti(L, -1, 1);
    GpKernel *kernel = gp_box_check(L, -1, GP_KERNEL)->kernel;
    lua_pop(L, 2);
    return kernel;
}

/* ---- What is kept --------------------------------------------------------------------------- */

/* The key of what comes before, and of this arm. */
static void add_arm(lua_State *L, int arm, uint8_t key[32]) {
    GpCallArg args[GP_LUA_MAX_ARGS];
    int top = lua_gettop(L), pushed = push_arm(L, arm);
    uint32_t count = gp_lua_read_args(L, top + 2, top + pushed, args);
    GpKernel *kernel = kernel_of(L, arm);
    GpSite site = gp_lua_site(L);
    GpDiags *diags = gp_lua_diags(L);
    GpText text = {.session = gp_engine_session(gp_lua_state(L)->engine)};
    gp_text_add(&text, (const char *)key, 32);
    GpStatus status = gp_kernel_describe(kernel, args, count, site, diags, &text);
    if (text.failed && status == GpStatus_Ok) status = GpStatus_NoMemory;
    if (status == GpStatus_Ok) gp_codegen_hash((GpStr){text.at, text.len}, key);
    gp_text_free(&text);
    gp_lua_check(L, status);
    lua_settop(L, top);
}

/* What the answer depends on: code, shapes and grids of all choices, and the device. */
static void make_key(lua_State *L, int count, uint8_t key[32]) {
    gp_codegen_hash(GP_STR("tune"), key);
    for (int arm = 1; arm <= count; arm++) add_arm(L, arm, key);
}

/* The number of the best choice, 0 when none is kept. */
static int recall(lua_State *L, const uint8_t key[32], int count) {
    GpEngine *e = gp_lua_state(L)->engine;
    GpText text = {.session = gp_engine_session(e)};
    bool is_there = gp_cache_get_text(gp_engine_runtime(e), key, &text);
    int best = is_there ? atoi(gp_text_cstr(&text)) : 0;
    gp_text_free(&text);
    return best <= count ? GP_MAX(best, 0) : 0;
}

static void keep(lua_State *L, const uint8_t key[32], int best) {
    char text[16];
    snprintf(text, sizeof text, "%d", best);
    gp_cache_put_text(gp_engine_runtime(gp_lua_state(L)->engine), key, gp_str_from(text));
}

/* ---- Timing --------------------------------------------------------------------------------- */

typedef struct Arm {
    bool is_out; /* it does not fit the device */
    uint32_t count;
    double times[ROUNDS];
} Arm;

/* Seconds of `count` launches and the wait for them. */
static double run_batch(lua_State *L, int arm, uint32_t count) {
    GpDevice *d = gp_kernel_device(kernel_of(L, arm));
    uint64_t start = gp_clock_ns();
    for (uint32_t i = 0; i < count; i++)
        if (launch(L, arm) != LUA_OK) lua_error(L);
    gp_lua_check(L, gp_device_sync(d, gp_lua_diags(L)));
    return (double)(gp_clock_ns() - start) * 1e-9;
}

/* Whether the error on the stack says that the choice asks too much of this device. */
static bool is_too_much(lua_State *L) {
    static const char *const codes[] = {"G0304", "G0503", "G0504", "G0913", "G0914"};
    if (!luaL_getmetafield(L, -1, "__index")) return false;
    lua_pop(L, 1);
    lua_getfield(L, -1, "code");
    const char *code = lua_tostring(L, -1);
    bool is_found = false;
    for (size_t i = 0; code && i < GP_COUNT(codes); i++) is_found |= strcmp(code, codes[i]) == 0;
    lua_pop(L, 1);
    return is_found;
}

/* Compiles, warms up and finds how many launches fill a batch. */
static void begin(lua_State *L, int number, Arm *arm) {
    if (launch(L, number) != LUA_OK) {
        if (!is_too_much(L)) lua_error(L);
        arm->is_out = true;
        return;
    }
    run_batch(L, number, 1);
    double once = run_batch(L, number, 1);
    double count = BATCH_SECONDS / GP_MAX(once, 1e-9);
    arm->count = (uint32_t)GP_MIN(GP_MAX(count, 1.0), (double)MAX_BATCH);
}

static int compare(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The number of the fastest by the median of its rounds; 0 when none fits. */
static int find_fastest(lua_State *L, int count, double *seconds) {
    Arm *arms = lua_newuserdatauv(L, (size_t)count * sizeof(*arms), 0);
    memset(arms, 0, (size_t)count * sizeof(*arms));
    int best = 0;
    for (int i = 1; i <= count; i++) begin(L, i, &arms[i - 1]);
    for (int round = 0; round < ROUNDS; round++)
        for (int i = 1; i <= count; i++)
            if (!arms[i - 1].is_out)
                arms[i - 1].times[round] = run_batch(L, i, arms[i - 1].count) / arms[i - 1].count;
    for (int i = 1; i <= count; i++) {
        Arm *arm = &arms[i - 1];
        if (arm->is_out) continue;
        qsort(arm->times, ROUNDS, sizeof(*arm->times), compare);
        if (best && arm->times[ROUNDS / 2] >= *seconds) continue;
        best = i;
        *seconds = arm->times[ROUNDS / 2];
    }
    return best;
}

/* ---- The function --------------------------------------------------------------------------- */

static int gpu_tune(lua_State *L) {
    gp_box_check(L, KERNEL, GP_KERNEL);
    luaL_checktype(L, CHOICES, LUA_TTABLE);
    int count = (int)GP_MIN(lua_rawlen(L, CHOICES), (lua_Unsigned)MAX_CHOICES + 1);
    if (count < 1 || count > MAX_CHOICES) luaL_argerror(L, CHOICES, "1 to 1024 choices are expected");
    lua_createtable(L, count, 0);
    lua_insert(L, ARMS);
    for (int i = 1; i <= count; i++) {
        int last = lua_gettop(L);
        make_arm(L, i, ARMS + 1, last);
        lua_rawseti(L, ARMS, i);
        lua_settop(L, last);
    }
    uint8_t key[32];
    double seconds = 0;
    make_key(L, count, key);
    int best = recall(L, key, count);
    bool is_kept = best != 0;
    if (!is_kept) best = find_fastest(L, count, &seconds);
    if (!best) return lua_error(L); /* of the last one that did not fit */
    if (!is_kept) keep(L, key, best);
    lua_rawgeti(L, ARMS, best);
    lua_rawgeti(L, -1, 1);
    lua_rawgeti(L, CHOICES, best);
    if (is_kept) lua_pushnil(L);
    else lua_pushnumber(L, seconds);
    return 3;
}

const GpLuaFn gp_lua_tune_functions[] = {
    {"tune", gpu_tune, "tune(kernel, {{option = value, ..}, ..}, args.. | f) -> Kernel, choice, seconds | nil",
     "Launches the kernel on the arguments with each choice of options for `with` (a schedule, const "
     "generics), many times, and gives the fastest; what does not fit the device is left out. The "
     "answer is kept on disk for this code, these shapes and this device: then no time is told. With "
     "a function, its results for a choice are the arguments: tiles may depend on the choice."},
    {NULL, NULL, NULL, NULL},
};
