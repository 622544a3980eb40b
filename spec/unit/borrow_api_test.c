/* Borrowed memory through the public header and through Lua. The lender is another state: its tensors
** are memory that the borrowing one knows nothing of, on the device of argv[1]. */
#include <string.h>

#include <lauxlib.h>
#include <lua.h>
#include <lualib.h>

#include "core/include/gpulua.h"
#include "spec/unit/unit.h"

enum { COUNT = 8 };

static const char *device;
static gpulua_state *lender, *g;
static gpulua_module *m;
static gpulua_tensor *lent; /* 0 1 2 .. */
static int released;

static void count_release(void *ud) {
    assert_ptr_equal(ud, &released);
    released++;
}

static void accepted(gpulua_state *state, gpulua_status status) {
    gpulua_diag d;
    if (status != GPULUA_OK && gpulua_diag_at(state, 0, &d)) print_error("error[%s]: %s\n", d.code, d.title);
    assert_int_equal(status, GPULUA_OK);
}

static gpulua_state *open_state(void) {
    gpulua_config config = {.size = sizeof(config), .device = device, .cache_dir = ""};
    gpulua_state *state;
    assert_int_equal(gpulua_open(&config, &state), GPULUA_OK);
    return state;
}

static int set_up(void **unused) {
    static const char source[] =
        "#[kernel] fn double(x: &[f32], mut z: DisjointSlice<f32>) {\n"
        "    let idx = thread::index_1d();\n"
        "    let i = idx.get();\n"
        "    if let Some(out) = z.get_mut(idx) { *out = x[i] * 2.0; }\n"
        "}\n";
    (void)unused;
    int64_t count = COUNT;
    float host[COUNT];
    for (int i = 0; i < COUNT; i++) host[i] = (float)i;
    lender = open_state();
    g = open_state();
    released = 0;
    accepted(lender, gpulua_tensor_new(lender, "f32", &count, 1, &lent));
    accepted(lender, gpulua_tensor_write(lent, host, sizeof(host)));
    accepted(g, gpulua_compile(g, "double.rs", source, strlen(source), &m));
    return 0;
}

static int tear_down(void **unused) {
    (void)unused;
    gpulua_module_free(m);
    gpulua_close(g);
    gpulua_tensor_free(lent);
    gpulua_close(lender);
    return 0;
}

static const int64_t whole[] = {COUNT};

static gpulua_borrow memory_of_lender(void) {
    gpulua_borrow b = {.size = sizeof(b), .address = gpulua_tensor_address(lent), .bytes = COUNT * sizeof(float),
                       .dtype = "f32", .shape = whole, .rank = 1, .release = count_release, .ud = &released};
    return b;
}

static gpulua_status launch_double(gpulua_tensor *x, gpulua_tensor *z) {
    gpulua_arg args[] = {gpulua_arg_tensor(x), gpulua_arg_tensor(z)};
    return gpulua_launch(m, "double", args, 2, NULL);
}

static void expect_lent(float first, float step) {
    float host[COUNT];
    accepted(lender, gpulua_tensor_read(lent, host, sizeof(host)));
    for (int i = 0; i < COUNT; i++) assert_true(host[i] == first + step * (float)i);
}

static void refused(gpulua_status status, gpulua_status want, const char *code) {
    gpulua_diag d;
    assert_int_equal(status, want);
    assert_true(gpulua_diag_at(g, 0, &d));
    assert_string_equal(d.code, code);
}

/* ---- C ---------------------------------------------------------------------------------- */

/* Kernels read and write it, and a view keeps it; the last handle gives it back. */
static void test_kernels(void **unused) {
    (void)unused;
    gpulua_borrow b = memory_of_lender();
    gpulua_tensor *x, *z, *flat, *view, *other;
    gpulua_memory_info info = {.size = sizeof(info)};
    accepted(g, gpulua_tensor_borrow(g, &b, &x));
    accepted(g, gpulua_memory(g, &info));
    assert_int_equal(info.used, 0);
    assert_true(gpulua_tensor_address(x) == b.address);
    accepted(g, gpulua_tensor_new(g, "f32", whole, 1, &z));
    accepted(g, launch_double(x, z));
    refused(launch_double(x, x), GPULUA_E_DIAGNOSTICS, "E0502");
    refused(gpulua_tensor_borrow(g, &b, &other), GPULUA_E_DIAGNOSTICS, "G0318");
    accepted(g, gpulua_tensor_reshape(x, whole, 1, &view));
    gpulua_tensor_free(x);
    accepted(g, launch_double(z, view));
    assert_int_equal(released, 0);
    gpulua_tensor_free(view);
    assert_int_equal(released, 1);
    expect_lent(0, 4);
    b.readonly = 1;
    accepted(g, gpulua_tensor_borrow(g, &b, &flat));
    refused(launch_double(z, flat), GPULUA_E_DIAGNOSTICS, "E0596");
    accepted(g, gpulua_tensor_drop(flat));
    assert_int_equal(released, 2);
    gpulua_tensor_free(flat);
    gpulua_tensor_free(z);
    assert_int_equal(released, 2);
    expect_lent(0, 4);
}

/* An array of the program, column by column, with a device named. */
static void test_array(void **unused) {
    (void)unused;
    static float array[3][COUNT];
    const int64_t shape[] = {COUNT, 3}, strides[] = {1, COUNT};
    float host[COUNT][3];
    gpulua_tensor *t, *there;
    for (int i = 0; i < 3 * COUNT; i++) array[i / COUNT][i % COUNT] = (float)i;
    gpulua_borrow b = {.size = sizeof(b), .device = "cpu", .address = (uint64_t)(uintptr_t)array,
                       .bytes = sizeof(array), .dtype = "f32", .shape = shape, .rank = 2, .strides = strides};
    accepted(g, gpulua_tensor_borrow(g, &b, &t));
    assert_string_equal(gpulua_tensor_device(t), "cpu");
    assert_int_equal(gpulua_tensor_stride(t, 1), COUNT);
    accepted(g, gpulua_tensor_read(t, host, sizeof(host)));
    for (int i = 0; i < COUNT; i++)
        for (int k = 0; k < 3; k++) assert_true(host[i][k] == array[k][i]);
    accepted(g, gpulua_tensor_to(t, device, &there));
    accepted(g, gpulua_tensor_fill(t, -1));
    assert_true(array[0][0] == -1 && array[2][COUNT - 1] == -1);
    if (strcmp(device, "cpu") != 0) { /* a copy, which has what was there */
        accepted(g, gpulua_tensor_copy(t, there));
        assert_true(array[1][2] == COUNT + 2);
    }
    gpulua_tensor_free(there);
    gpulua_tensor_free(t);
}

static void refused_argument(gpulua_status status, const char *title) {
    gpulua_diag d;
    assert_int_equal(status, GPULUA_E_ARGUMENT);
    assert_true(gpulua_diag_at(g, 0, &d));
    assert_non_null(strstr(d.title, title));
}

/* What is refused takes nothing. */
static void test_refused(void **unused) {
    (void)unused;
    gpulua_tensor *t;
    const int64_t negative[] = {-1}, zero[] = {0};
    gpulua_borrow b = memory_of_lender();
    assert_int_equal(gpulua_tensor_borrow(g, NULL, &t), GPULUA_E_ARGUMENT);
    b.size = 8;
    assert_int_equal(gpulua_tensor_borrow(g, &b, &t), GPULUA_E_ARGUMENT);
    b = memory_of_lender();
    b.dtype = "f33";
    refused_argument(gpulua_tensor_borrow(g, &b, &t), "unknown dtype `f33`");
    b = memory_of_lender();
    b.shape = negative;
    refused_argument(gpulua_tensor_borrow(g, &b, &t), "extent -1 on axis 0 is negative");
    b.shape = NULL;
    refused_argument(gpulua_tensor_borrow(g, &b, &t), "a shape of rank 1 has no extents");
    b.rank = 7;
    refused_argument(gpulua_tensor_borrow(g, &b, &t), "rank 7 is more than 6");
    b = memory_of_lender();
    b.device = "gpu";
    refused(gpulua_tensor_borrow(g, &b, &t), GPULUA_E_NO_DEVICE, "G0912");
    b = memory_of_lender();
    b.strides = negative;
    refused(gpulua_tensor_borrow(g, &b, &t), GPULUA_E_DIAGNOSTICS, "G0317");
    b.strides = zero;
    refused(gpulua_tensor_borrow(g, &b, &t), GPULUA_E_DIAGNOSTICS, "G0317");
    b = memory_of_lender();
    b.bytes--;
    refused(gpulua_tensor_borrow(g, &b, &t), GPULUA_E_DIAGNOSTICS, "G0317");
    b = memory_of_lender();
    b.address++;
    refused(gpulua_tensor_borrow(g, &b, &t), GPULUA_E_DIAGNOSTICS, "G0317");
    b.address = 0;
    refused(gpulua_tensor_borrow(g, &b, &t), GPULUA_E_DIAGNOSTICS, "G0317");
    assert_null(t);
    assert_int_equal(released, 0);
    gpulua_state *closed = open_state();
    gpulua_tensor *kept;
    b = memory_of_lender();
    accepted(closed, gpulua_tensor_borrow(closed, &b, &kept));
    gpulua_close(closed);
    assert_int_equal(released, 1);
    gpulua_tensor_free(kept);
    assert_int_equal(released, 1);
}

/* ---- Lua -------------------------------------------------------------------------------- */

static const char script_start[] =
    "local gpu = require 'gpulua'\n"
    "kept = setmetatable({}, {__mode = 'v'})\n"
    "function lend() local value = {} kept[1] = value return value end\n"
    "function is_kept() collectgarbage() collectgarbage() return kept[1] ~= nil end\n"
    "x = gpu.borrow(address, {8}, 'f32', {keep = lend(), bytes = 32})\n"
    "assert(is_kept() and x:to_table()[8] == 7 and x.address == number)\n";

static void give_address(lua_State *L) {
    lua_pushlightuserdata(L, (void *)(uintptr_t)gpulua_tensor_address(lent));
    lua_setglobal(L, "address");
    lua_pushinteger(L, (lua_Integer)gpulua_tensor_address(lent));
    lua_setglobal(L, "number");
}

static void run_lua(lua_State *L, const char *text) {
    if (luaL_dostring(L, text) != LUA_OK) fail_msg("%s", luaL_tolstring(L, -1, NULL));
}

/* A value is kept by whatever has the memory: the tensor, views, ops that were not run. */
static void test_keep(void **unused) {
    (void)unused;
    lua_State *L = gpulua_lua(g);
    give_address(L);
    run_lua(L, script_start);
    run_lua(L, "local gpu = require 'gpulua'\n"
               "local k = gpu.kernels[[#[kernel] fn half(mut z: DisjointSlice<f32>) {\n"
               "    if let Some(out) = z.get_mut(thread::index_1d()) { *out = *out / 2.0; } }]]\n"
               "local view = x:slice{5, 8}\n"
               "x = nil\n"
               "assert(is_kept())\n"
               "local op = k.half(view)\n"
               "view = nil\n"
               "assert(is_kept())\n"
               "coroutine.wrap(function() op:sync() op = nil assert(not is_kept()) end)()\n");
    float host[COUNT];
    accepted(lender, gpulua_tensor_read(lent, host, sizeof(host)));
    assert_true(host[3] == 3 && host[4] == 2 && host[7] == 3.5F);
    /* One that is freed lets go; one that is refused never had it. */
    run_lua(L, "local gpu = require 'gpulua'\n"
               "x = gpu.borrow(number, {4, 2}, 'f32', {keep = lend(), strides = {1, 4}})\n"
               "assert(x[{2, 2}] == 2.5 and is_kept())\n"
               "x:free()\n"
               "assert(not is_kept())\n"
               "assert(not pcall(gpu.borrow, number, {8}, 'f32', {keep = lend(), bytes = 31}) and not is_kept())\n"
               "assert(not pcall(gpu.borrow, number, {8}, 'f32', {keep = lend(), kept = 1}) and not is_kept())\n");
}

/* A host's Lua lives on, and gets back what it lent to a state that is closed. */
static void test_closed(void **unused) {
    (void)unused;
    gpulua_config config = {.size = sizeof(config), .device = device, .cache_dir = ""};
    gpulua_state *state;
    lua_State *L = luaL_newstate();
    assert_non_null(L);
    luaL_openlibs(L);
    assert_int_equal(gpulua_open_on(L, &config, &state), GPULUA_OK);
    give_address(L);
    run_lua(L, script_start);
    gpulua_close(state);
    run_lua(L, "assert(not is_kept())");
    assert_int_equal(gpulua_open_on(L, &config, &state), GPULUA_OK);
    run_lua(L, script_start);
    run_lua(L, "finalised = setmetatable({}, {__gc = function() x:free() end})");
    gpulua_close(state);
    lua_close(L);
    /* A Lua of its own goes with its state, and what it keeps. */
    run_lua(gpulua_lua(g), "package.loaded.gpulua = nil");
    give_address(gpulua_lua(g));
    run_lua(gpulua_lua(g), script_start);
}

int main(int argc, char **argv) {
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_kernels, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_array, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_refused, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_keep, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_closed, set_up, tear_down),
    };
    device = argc > 1 ? argv[1] : "cpu";
    return cmocka_run_group_tests(tests, NULL, NULL);
}
