/* The ownership cases of spec/ui/own through the C API: the same calls give the same codes and
** titles, but for the names, which C values do not have.
**
** Each case makes the calls of the script of its name; what is refused is compared, in order, with
** the error lines of the script's .txt. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <lauxlib.h>
#include <lua.h>
#include <lualib.h>

#include "core/include/gpulua.h"
#include "core/include/gpulua_lua.h"
#include "spec/unit/unit.h"

static const char *folder;
static gpulua_state *g;
static gpulua_module *m;
static char *expected, *next_line; /* of the running case */

static const char kernels[] =
    "#[tile]\n"
    "fn add<const B: i32>(z: &mut Tensor<f32, {[B]}>, x: &Tensor<f32, {[-1]}>, "
    "y: &Tensor<f32, {[-1]}>) {\n"
    "    z.store(x.load_like(z) + y.load_like(z));\n"
    "}\n"
    "#[kernel]\n"
    "fn double(x: &[f32], mut z: DisjointSlice<f32>) {\n"
    "    let idx = thread::index_1d();\n"
    "    let i = idx.get();\n"
    "    if let Some(out) = z.get_mut(idx) { *out = x[i] * 2.0; }\n"
    "}\n";

/* ---- Comparing -------------------------------------------------------------------------- */

/* Replaces the first phrase for a value by `_`: a name in backticks, or words. */
static void hide_subject(char *title) {
    static const char *const words[] = {"the tensor", "the partition", "the op", "argument "};
    char *at = strchr(title, '`'), *end = at ? strchr(at + 1, '`') + 1 : NULL;
    for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++) {
        char *found = strstr(title, words[i]);
        if (!found || (at && found > at)) continue;
        at = found;
        end = found + strlen(words[i]);
        if (i == 3) end = strrchr(found, '`') + 1; /* argument 2 (`x`) of `add` */
    }
    if (!at) return;
    memmove(at + 1, end, strlen(end) + 1);
    *at = '_';
}

/* "error[E0382]: .." lines of the .txt, one after another. */
static char *next_error(void) {
    while (next_line) {
        char *line = next_line, *end = strchr(line, '\n');
        next_line = end ? end + 1 : NULL;
        if (end) *end = '\0';
        if (strncmp(line, "error[", 6) == 0) return line;
    }
    return NULL;
}

static void refused(gpulua_status status) {
    gpulua_diag d;
    char got[512], want[512];
    char *line = next_error();
    assert_non_null(line);
    assert_int_equal(status, GPULUA_E_DIAGNOSTICS);
    assert_true(gpulua_diag_at(g, 0, &d));
    snprintf(got, sizeof(got), "error[%s]: %s", d.code, d.title);
    snprintf(want, sizeof(want), "%s", line);
    hide_subject(got);
    hide_subject(want);
    assert_string_equal(got, want);
}

static void accepted(gpulua_status status) {
    if (status != GPULUA_OK) {
        gpulua_diag d;
        assert_true(gpulua_diag_at(g, 0, &d));
        print_error("error[%s]: %s\n", d.code, d.title);
    }
    assert_int_equal(status, GPULUA_OK);
}

static void begin_case(const char *name) {
    char path[512];
    snprintf(path, sizeof(path), "%s/%s.txt", folder, name);
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    expected = calloc(1, 1 << 16);
    assert_non_null(expected);
    assert_true(fread(expected, 1, (1 << 16) - 1, file) > 0);
    fclose(file);
    next_line = expected;
}

static void end_case(void) {
    char *line = next_error();
    if (line) print_error("not refused: %s\n", line);
    assert_null(line);
    free(expected);
}

/* ---- Calls ------------------------------------------------------------------------------ */

static gpulua_tensor *zeros(int64_t count) {
    gpulua_tensor *t;
    accepted(gpulua_tensor_new(g, "f32", &count, 1, &t));
    return t;
}

static gpulua_tensor *part(gpulua_tensor *t, int64_t start, int64_t stop) {
    gpulua_tensor *view;
    accepted(gpulua_tensor_slice(t, &start, &stop, &view));
    return view;
}

static gpulua_status cut(gpulua_tensor *t, gpulua_partition **out) {
    int64_t tile = 4;
    return gpulua_partition_new(t, &tile, 1, out);
}

static gpulua_status read_all(gpulua_tensor *t) {
    char host[256];
    return gpulua_tensor_read(t, host, gpulua_tensor_bytes(t));
}

static gpulua_status fill(gpulua_tensor *t) {
    char host[256] = {0};
    return gpulua_tensor_write(t, host, gpulua_tensor_bytes(t));
}

static gpulua_status launch_double(gpulua_tensor *x, gpulua_tensor *z) {
    gpulua_arg args[] = {gpulua_arg_tensor(x), gpulua_arg_tensor(z)};
    return gpulua_launch(m, "double", args, 2, NULL);
}

static gpulua_status make_double(gpulua_tensor *x, gpulua_tensor *z, gpulua_op **op) {
    gpulua_arg args[] = {gpulua_arg_tensor(x), gpulua_arg_tensor(z)};
    return gpulua_op_make(m, "double", args, 2, NULL, op);
}

static gpulua_status make_add(gpulua_partition *z, gpulua_tensor *x, gpulua_tensor *y,
                              gpulua_op **op) {
    gpulua_arg args[] = {gpulua_arg_partition(z), gpulua_arg_tensor(x), gpulua_arg_tensor(y)};
    return gpulua_op_make(m, "add", args, 3, NULL, op);
}

static gpulua_partition *tiles(gpulua_tensor *t) {
    int64_t tile = 4;
    gpulua_partition *p;
    accepted(gpulua_tiles(t, &tile, 1, &p));
    return p;
}

/* ---- Cases ------------------------------------------------------------------------------ */

static void test_alias(void **state) {
    (void)state;
    begin_case("alias");
    gpulua_tensor *z = zeros(8), *other, *back;
    int64_t eight = 8;
    accepted(gpulua_tensor_reshape(z, &eight, 1, &other));
    gpulua_partition *p;
    accepted(cut(z, &p));
    refused(read_all(other));
    refused(read_all(z));
    accepted(gpulua_unpartition(p, &back));
    accepted(read_all(other));
    gpulua_partition_free(p);
    gpulua_tensor_free(back);
    gpulua_tensor_free(other);
    gpulua_tensor_free(z);
    end_case();
}

static void test_view(void **state) {
    (void)state;
    begin_case("view");
    int64_t sides[] = {4, 4}, tile[] = {2, 2}, start[] = {1, 0}, stop[] = {2, 4}, all = 16;
    int64_t narrow[] = {1, 2}, from = 0, to = 2;
    gpulua_tensor *z, *row, *flat, *view, *back;
    gpulua_partition *p, *q;
    accepted(gpulua_tensor_new(g, "f32", sides, 2, &z));
    accepted(gpulua_tensor_slice(z, start, stop, &row));
    accepted(gpulua_tensor_reshape(z, &all, 1, &flat));
    accepted(gpulua_partition_new(z, tile, 2, &p));
    refused(read_all(row));
    /* Lua's fill and C's write are assignments both */
    refused(fill(flat));
    refused(gpulua_tensor_slice(flat, &from, &to, &view));
    accepted(gpulua_unpartition(p, &back));
    refused(gpulua_partition_new(row, narrow, 2, &q));
    refused(gpulua_tensor_drop(row));
    accepted(gpulua_tensor_drop(z));
    refused(read_all(flat));
    gpulua_partition_free(p);
    gpulua_tensor_free(back);
    gpulua_tensor_free(row);
    gpulua_tensor_free(flat);
    gpulua_tensor_free(z);
    end_case();
}

static void test_overlap(void **state) {
    (void)state;
    begin_case("overlap");
    int64_t sides[] = {4, 4};
    int64_t starts[][2] = {{0, 0}, {0, 2}, {0, 1}}, stops[][2] = {{4, 2}, {4, 4}, {4, 3}};
    gpulua_tensor *z = zeros(16), *rows, *columns[3];
    gpulua_tensor *low = part(z, 0, 8), *high = part(z, 8, 16), *middle = part(z, 4, 12);
    accepted(launch_double(low, high));
    refused(launch_double(low, middle));
    accepted(gpulua_tensor_reshape(z, sides, 2, &rows));
    for (int i = 0; i < 3; i++)
        accepted(gpulua_tensor_slice(rows, starts[i], stops[i], &columns[i]));
    accepted(gpulua_tensor_copy(columns[0], columns[1]));
    refused(gpulua_tensor_copy(columns[0], columns[2]));
    gpulua_op *op;
    accepted(make_double(low, high, &op));
    refused(fill(low));
    refused(read_all(middle));
    accepted(read_all(low));
    accepted(gpulua_op_sync(op));
    gpulua_op_free(op);
    for (int i = 0; i < 3; i++) gpulua_tensor_free(columns[i]);
    gpulua_tensor_free(rows);
    gpulua_tensor_free(low);
    gpulua_tensor_free(high);
    gpulua_tensor_free(middle);
    gpulua_tensor_free(z);
    end_case();
}

static void test_lazy(void **state) {
    (void)state;
    begin_case("lazy");
    gpulua_tensor *x = zeros(8), *y = zeros(8), *z = zeros(8);
    gpulua_partition *p = tiles(z), *q = tiles(y), *moved;
    gpulua_op *op, *other;
    accepted(make_add(p, x, y, &op));
    refused(read_all(z));
    refused(make_add(p, x, y, &other));
    refused(fill(x));
    refused(cut(x, &moved));
    refused(gpulua_tensor_drop(z));
    refused(make_add(q, x, x, &other));
    accepted(read_all(x));
    accepted(gpulua_op_run(op));
    accepted(read_all(z));
    gpulua_op_free(op);
    gpulua_partition_free(p);
    gpulua_partition_free(q);
    gpulua_tensor_free(x);
    gpulua_tensor_free(y);
    gpulua_tensor_free(z);
    end_case();
}

/* Where the script has a table, C has an array. */
static void test_table(void **state) {
    (void)state;
    begin_case("table");
    gpulua_tensor *z = zeros(8), *list[] = {zeros(8), zeros(8)}, *back;
    refused(launch_double(z, z));
    gpulua_partition *p;
    accepted(cut(z, &p));
    refused(read_all(z));
    gpulua_op *op;
    accepted(make_double(list[1], list[0], &op));
    refused(fill(list[0]));
    gpulua_op_free(op);
    gpulua_tensor *same = list[0];
    refused(launch_double(same, list[0]));
    accepted(gpulua_unpartition(p, &back));
    gpulua_partition_free(p);
    gpulua_tensor_free(back);
    gpulua_tensor_free(z);
    gpulua_tensor_free(list[0]);
    gpulua_tensor_free(list[1]);
    end_case();
}

static void test_stream(void **state) {
    (void)state;
    begin_case("stream");
    gpulua_stream *a, *b;
    accepted(gpulua_stream_new(g, &a));
    accepted(gpulua_stream_new(g, &b));
    gpulua_tensor *x = zeros(8), *y = zeros(8), *z = zeros(8);
    gpulua_op *op;
    accepted(make_double(x, y, &op));
    accepted(gpulua_op_run_on(op, a));
    gpulua_op_free(op);
    accepted(make_double(y, z, &op));
    accepted(gpulua_op_run_on(op, b));
    gpulua_op_free(op);
    accepted(fill(x));
    accepted(gpulua_tensor_drop(z));
    accepted(read_all(y));
    accepted(make_double(x, y, &op));
    refused(fill(y));
    accepted(gpulua_op_run_on(op, a));
    gpulua_op_free(op);
    gpulua_tensor_free(x);
    gpulua_tensor_free(y);
    gpulua_tensor_free(z);
    gpulua_stream_free(a);
    gpulua_stream_free(b);
    end_case();
}

static void test_twice(void **state) {
    (void)state;
    begin_case("twice");
    gpulua_tensor *x = zeros(8), *z = zeros(8);
    gpulua_op *op;
    accepted(make_double(x, z, &op));
    accepted(gpulua_op_run(op));
    refused(gpulua_op_run(op));
    accepted(gpulua_op_sync(op));
    refused(gpulua_op_run(op));
    gpulua_op_free(op);
    gpulua_tensor_free(x);
    gpulua_tensor_free(z);
    end_case();
}

static void test_failed(void **state) {
    (void)state;
    begin_case("failed");
    int64_t eight = 8, tile[] = {4, 4};
    gpulua_tensor *x = zeros(8), *z = zeros(8), *frozen = zeros(8), *small;
    gpulua_partition *p;
    accepted(gpulua_tensor_new(g, "f16", &eight, 1, &small));
    accepted(gpulua_tensor_freeze(frozen));
    refused(launch_double(small, z));
    refused(launch_double(z, frozen));
    refused(gpulua_partition_new(z, tile, 2, &p));
    p = tiles(z);
    gpulua_arg args[] = {gpulua_arg_partition(p), gpulua_arg_tensor(x), gpulua_arg_tensor(z)};
    refused(gpulua_launch(m, "add", args, 3, NULL));
    accepted(launch_double(x, z));
    gpulua_partition_free(p);
    gpulua_tensor_free(x);
    gpulua_tensor_free(z);
    gpulua_tensor_free(frozen);
    gpulua_tensor_free(small);
    end_case();
}

/* Where Lua's collector finds garbage, C frees a handle. */
static void test_discarded(void **state) {
    (void)state;
    begin_case("discarded");
    gpulua_tensor *z = zeros(8);
    gpulua_partition *p;
    accepted(cut(z, &p));
    gpulua_partition_free(p);
    accepted(read_all(z));
    accepted(cut(z, &p));
    refused(read_all(z));
    gpulua_partition_free(p);
    accepted(read_all(z));
    gpulua_tensor_free(z);
    end_case();
}

static void test_collected(void **state) {
    (void)state;
    begin_case("collected");
    gpulua_tensor *x = zeros(8), *z = zeros(8);
    gpulua_op *op;
    accepted(make_double(x, z, &op));
    gpulua_op_free(op);
    accepted(fill(z));
    accepted(make_double(x, z, &op));
    refused(fill(z));
    gpulua_op_free(op);
    accepted(fill(z));
    gpulua_tensor_free(x);
    gpulua_tensor_free(z);
    end_case();
}

static void test_frozen(void **state) {
    (void)state;
    begin_case("frozen");
    gpulua_tensor *w = zeros(8), *z = zeros(8);
    gpulua_op *op;
    gpulua_partition *p = tiles(z), *q;
    accepted(make_double(z, w, &op));
    refused(gpulua_tensor_freeze(w));
    accepted(gpulua_op_sync(op));
    gpulua_op_free(op);
    accepted(gpulua_tensor_freeze(w));
    accepted(make_add(p, w, w, &op));
    accepted(gpulua_op_sync(op));
    gpulua_op_free(op);
    refused(fill(w));
    refused(launch_double(z, w));
    refused(cut(w, &q));
    gpulua_tensor *half = part(w, 0, 4);
    refused(fill(half));
    gpulua_tensor_free(half);
    gpulua_partition_free(p);
    gpulua_tensor_free(w);
    gpulua_tensor_free(z);
    end_case();
}

static void test_freed(void **state) {
    (void)state;
    begin_case("freed");
    gpulua_tensor *z = zeros(8), *v = part(z, 0, 4), *other = zeros(4);
    accepted(gpulua_tensor_drop(z));
    accepted(gpulua_tensor_drop(z));
    refused(read_all(z));
    refused(launch_double(v, other));
    refused(read_all(z));
    gpulua_tensor_free(z);
    gpulua_tensor_free(v);
    gpulua_tensor_free(other);
    end_case();
}

static void test_unpartition(void **state) {
    (void)state;
    begin_case("unpartition");
    gpulua_tensor *x = zeros(8), *z = zeros(8), *back, *again;
    gpulua_partition *p;
    gpulua_op *op;
    accepted(cut(z, &p));
    accepted(make_add(p, x, x, &op));
    accepted(gpulua_op_sync(op));
    gpulua_op_free(op);
    accepted(make_add(p, x, x, &op));
    refused(gpulua_unpartition(p, &again));
    accepted(gpulua_op_sync(op));
    gpulua_op_free(op);
    refused(gpulua_tensor_drop(z));
    accepted(gpulua_unpartition(p, &back));
    accepted(read_all(z));
    refused(make_add(p, x, x, &op));
    refused(gpulua_unpartition(p, &again));
    gpulua_partition_free(p);
    gpulua_tensor_free(back);
    gpulua_tensor_free(x);
    gpulua_tensor_free(z);
    end_case();
}

/* A C caller has no names: the parameter says which argument is meant. */
static void test_names(void **state) {
    (void)state;
    gpulua_diag d;
    gpulua_tensor *x = zeros(8);
    assert_int_equal(launch_double(x, x), GPULUA_E_DIAGNOSTICS);
    assert_true(gpulua_diag_at(g, 0, &d));
    assert_string_equal(d.title, "cannot borrow argument 2 (`z`) of `double` as mutable because it "
                                 "is also borrowed as immutable");
    assert_null(d.file);
    gpulua_tensor_free(x);
}

/* ---- Closing ---------------------------------------------------------------------------- */

static void count_text(void *ud, const char *text, size_t len) {
    (void)text;
    *(size_t *)ud += len;
}

static gpulua_state *open_state(size_t *written) {
    gpulua_config config = {.size = sizeof(config), .device = "cpu", .write = count_text,
                            .hook_ud = written, .cache_dir = ""};
    gpulua_state *state;
    assert_int_equal(gpulua_open(&config, &state), GPULUA_OK);
    return state;
}

/* From C the name of nothing is a diagnostic too. */
static void test_unknown_kernel(void **unused) {
    (void)unused;
    gpulua_diag d;
    assert_int_equal(gpulua_launch(m, "triple", NULL, 0, NULL), GPULUA_E_DIAGNOSTICS);
    assert_true(gpulua_diag_at(g, 0, &d));
    assert_string_equal(d.code, "G0341");
    assert_string_equal(d.title, "the module has no kernel `triple`");
}

static void test_schedule(void **unused) {
    (void)unused;
    gpulua_diag d;
    gpulua_tensor *x = zeros(8), *z = zeros(8);
    gpulua_partition *p = tiles(z);
    gpulua_arg args[] = {gpulua_arg_partition(p), gpulua_arg_tensor(x), gpulua_arg_tensor(x)};
    gpulua_launch_options options = {.size = sizeof options, .warps = 33};
    assert_int_equal(gpulua_launch(m, "add", args, 3, &options), GPULUA_E_DIAGNOSTICS);
    assert_true(gpulua_diag_at(g, 0, &d));
    assert_string_equal(d.code, "G0342");
    assert_string_equal(d.title, "`warps` of kernel `add` cannot be 33");
    options = (gpulua_launch_options){
        .size = sizeof options, .warps = 8, .stages = 2, .cluster = 4, .persistent = 2};
    accepted(gpulua_launch(m, "add", args, 3, &options));
    gpulua_partition_free(p);
    gpulua_tensor_free(x);
    gpulua_tensor_free(z);
}

/* Handles outlive their state: every call refuses them, and they can be freed. */
static void test_close(void **unused) {
    (void)unused;
    size_t written = 0;
    gpulua_state *kept = g, *state = open_state(&written);
    gpulua_module *kept_module = m;
    g = state;
    assert_int_equal(gpulua_compile(g, "own.rs", kernels, sizeof(kernels) - 1, &m), GPULUA_OK);
    gpulua_tensor *x = zeros(8), *z = zeros(8), *view = part(z, 0, 4), *made, *back;
    gpulua_partition *p;
    gpulua_op *op, *run, *other;
    accepted(make_double(x, z, &run));
    accepted(gpulua_op_run(run));
    accepted(make_double(x, z, &op));
    gpulua_tensor *y = zeros(8);
    accepted(cut(y, &p));
    gpulua_close(state);
    assert_int_not_equal(read_all(x), GPULUA_OK);
    assert_int_not_equal(fill(view), GPULUA_OK);
    assert_int_not_equal(gpulua_op_run(op), GPULUA_OK);
    assert_int_not_equal(gpulua_op_sync(run), GPULUA_OK);
    assert_int_not_equal(make_double(x, z, &other), GPULUA_OK);
    assert_int_not_equal(launch_double(x, z), GPULUA_OK);
    assert_int_not_equal(gpulua_unpartition(p, &back), GPULUA_OK);
    assert_int_not_equal(gpulua_tensor_freeze(x), GPULUA_OK);
    assert_int_not_equal(gpulua_tensor_reshape(x, &(int64_t){8}, 1, &made), GPULUA_OK);
    assert_int_equal(gpulua_tensor_rank(x), 1);
    assert_int_equal(gpulua_tensor_address(x), 0);
    gpulua_module_free(m);
    gpulua_op_free(run);
    gpulua_op_free(op);
    gpulua_partition_free(p);
    gpulua_tensor_free(view);
    gpulua_tensor_free(y);
    gpulua_tensor_free(x);
    gpulua_tensor_free(z);
    assert_true(written > 0); /* the op that was never run */
    g = kept;
    m = kept_module;
}

static void expect_refused(gpulua_status status, const char *title) {
    gpulua_diag d;
    assert_int_equal(status, GPULUA_E_ARGUMENT);
    assert_true(gpulua_diag_at(g, 0, &d));
    assert_non_null(strstr(d.title, title));
}

/* Arguments that make no tensor are named. */
static void test_new_refused(void **unused) {
    (void)unused;
    int64_t sides[] = {4, -2};
    gpulua_tensor *t;
    expect_refused(gpulua_tensor_new(g, "f33", sides, 1, &t), "unknown dtype `f33`; dtypes are f64, f32");
    expect_refused(gpulua_tensor_new(g, NULL, sides, 1, &t), "unknown dtype `NULL`");
    expect_refused(gpulua_tensor_new(g, "f32", sides, 2, &t), "extent -2 on axis 1 is negative");
    expect_refused(gpulua_tensor_new(g, "f32", sides, 99, &t), "rank 99 is more than");
    expect_refused(gpulua_tensor_new(g, "f32", NULL, 1, &t), "a shape of rank 1 has no extents");
    assert_null(t);
}

/* A script's values, and finalisers that run after ours, when the state closes. */
static void test_close_lua(void **unused) {
    (void)unused;
    static const char script[] =
        "late = setmetatable({}, {__gc = function() pcall(function() gpu.zeros{4} print(z) end) end})\n"
        "gpu = require 'gpulua'\n"
        "k = gpu.kernels[[#[kernel] fn f(x: &[f32], mut z: DisjointSlice<f32>) {}]]\n"
        "x, z = gpu.ones{8}, gpu.zeros{8}\n"
        "op, p, s = k.f(x, z), gpu.zeros{8}:partition{4}, gpu.stream()\n"
        "early = setmetatable({}, {__gc = function() op:run(s) p:unpartition() z:free() end})\n"
        "err = select(2, pcall(function() print(p.nothing.x) end))\n"
        "bad = select(2, pcall(k.f, x, x))\n";
    size_t written = 0;
    gpulua_state *state = open_state(&written);
    gpulua_tensor *t;
    int64_t eight = 8;
    assert_int_equal(gpulua_tensor_new(state, "f32", &eight, 1, &t), GPULUA_OK);
    assert_int_equal(gpulua_run_string(state, script, sizeof(script) - 1, "=script"), GPULUA_OK);
    gpulua_close(state);
    assert_int_not_equal(read_all(t), GPULUA_OK);
    gpulua_tensor_free(t);
}

/* A verdict of a C call collects Lua's garbage, though the coroutine that called last is gone. */
static void test_collects_lua(void **unused) {
    (void)unused;
    static const char script[] =
        "local gpu = require 'gpulua'\n"
        "coroutine.wrap(function() gpu.zeros{4}:fill(1) end)()\n"
        "setmetatable({}, {__gc = function() gpu.zeros{4} pcall(gpu.zeros, 'x') ran = true end})\n";
    gpulua_tensor *x = zeros(8), *z = zeros(8);
    gpulua_op *op;
    accepted(gpulua_run_string(g, script, sizeof(script) - 1, "=script"));
    accepted(make_double(x, z, &op));
    gpulua_diag d;
    assert_int_equal(read_all(z), GPULUA_E_DIAGNOSTICS);
    assert_true(gpulua_diag_at(g, 0, &d));
    assert_string_equal(d.code, "E0502");
    lua_getglobal(gpulua_lua(g), "ran");
    assert_true(lua_toboolean(gpulua_lua(g), -1));
    lua_pop(gpulua_lua(g), 1);
    accepted(gpulua_op_sync(op));
    gpulua_op_free(op);
    gpulua_tensor_free(x);
    gpulua_tensor_free(z);
}

static void run_lua(lua_State *L, const char *text) {
    if (luaL_dostring(L, text) != LUA_OK) fail_msg("%s", luaL_tolstring(L, -1, NULL));
}

/* What a host's Lua keeps of a closed state raises errors; a second state can follow. */
static void test_host_lua(void **unused) {
    (void)unused;
    gpulua_config config = {.size = sizeof(config), .device = "cpu", .cache_dir = ""};
    gpulua_state *first, *second;
    lua_State *L = luaL_newstate();
    assert_non_null(L);
    luaL_openlibs(L);
    assert_int_equal(gpulua_open_on(L, &config, &first), GPULUA_OK);
    run_lua(L, "old = require 'gpulua' kept = old.zeros{8} read = kept.to_table "
               "part = old.zeros{8}:partition{4}");
    gpulua_close(first);
    run_lua(L, "for _, f in ipairs{old.zeros, old.stream, old.sync, old.kernels} do\n"
               "  assert(not pcall(f, {8}))\n"
               "end\n"
               "assert(not pcall(read, kept)) assert(not pcall(part.unpartition, part))");
    assert_int_equal(gpulua_open_on(L, &config, &second), GPULUA_OK);
    run_lua(L, "local gpu = require 'gpulua' assert(gpu ~= old)\n"
               "assert(gpu.ones{4}:to_table()[4] == 1) assert(not pcall(old.zeros, {8}))\n"
               "assert(not pcall(gpu.zeros{8}.copy_from, gpu.zeros{8}, kept))");
    gpulua_close(second);
    lua_close(L);
}

/* The module opened in a coroutine that dies before it is used. */
static void test_opened_in_coroutine(void **unused) {
    (void)unused;
    lua_State *L = luaL_newstate();
    assert_non_null(L);
    luaL_openlibs(L);
    lua_pushcfunction(L, luaopen_gpulua);
    lua_setglobal(L, "open");
    run_lua(L, "coroutine.wrap(function() gpu = open() gpu.device 'cpu' end)()\n"
               "collectgarbage()\n"
               "z = gpu.zeros{8} p = z:partition{4} p = nil z:fill(2) q = z:partition{4}\n"
               "assert(not pcall(z.fill, z, 3))\n"
               "late = setmetatable({}, {__gc = function() gpu.zeros{8} pcall(z.fill, z) end})");
    lua_close(L);
}

int main(int argc, char **argv) {
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_new_refused),
        cmocka_unit_test(test_alias),     cmocka_unit_test(test_view),
        cmocka_unit_test(test_overlap),   cmocka_unit_test(test_lazy),
        cmocka_unit_test(test_table),     cmocka_unit_test(test_stream),
        cmocka_unit_test(test_twice),     cmocka_unit_test(test_failed),
        cmocka_unit_test(test_discarded), cmocka_unit_test(test_collected),
        cmocka_unit_test(test_frozen),    cmocka_unit_test(test_freed),
        cmocka_unit_test(test_unpartition), cmocka_unit_test(test_names),
        cmocka_unit_test(test_unknown_kernel), cmocka_unit_test(test_schedule),
        cmocka_unit_test(test_close),     cmocka_unit_test(test_close_lua),
        cmocka_unit_test(test_collects_lua), cmocka_unit_test(test_host_lua),
        cmocka_unit_test(test_opened_in_coroutine),
    };
    size_t written = 0;
    if (argc < 2) return 2;
    folder = argv[1];
    g = open_state(&written);
    if (gpulua_compile(g, "own.rs", kernels, sizeof(kernels) - 1, &m) != GPULUA_OK) return 2;
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    gpulua_module_free(m);
    gpulua_close(g);
    return failed;
}
