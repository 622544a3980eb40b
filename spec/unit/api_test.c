/* The C API beside ownership: streams, graphs, maps, fills, copies, other element types, texts. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/include/gpulua.h"
#include "spec/unit/unit.h"

enum { COUNT = 12 };

static gpulua_state *g;
static gpulua_module *m;

static const char kernels[] =
    "#[kernel]\n"
    "fn double(x: &[f32], mut z: DisjointSlice<f32>) {\n"
    "    let idx = thread::index_1d();\n"
    "    let i = idx.get();\n"
    "    if let Some(out) = z.get_mut(idx) { *out = x[i] * 2.0; }\n"
    "}\n"
    "#[tile]\n"
    "fn shared<const B: i32, const M: [i32; 1]>(mut y: MappedPartitionMut<f32, {[B]}, M>, a: f32) {\n"
    "    for i in y.iter_indices() { y.store(constant(a, shape![B]), i); }\n"
    "}\n"
    "#[tile]\n"
    "fn set<const B: i32>(y: &mut Tensor<f32, {[B]}>, a: f32) { y.store(constant(a, shape![B])); }\n";

/* ---- Helpers ---------------------------------------------------------------------------- */

static void print_to(void *unused, const char *text, size_t len) {
    (void)unused;
    fwrite(text, 1, len, stderr);
}

static void accepted(gpulua_status status) {
    if (status != GPULUA_OK) gpulua_diag_render(g, 0, print_to, NULL);
    assert_int_equal(status, GPULUA_OK);
}

static void refused(gpulua_status status, gpulua_status want, const char *code, const char *title) {
    gpulua_diag d;
    assert_int_equal(status, want);
    assert_true(gpulua_diag_at(g, 0, &d));
    assert_string_equal(d.code, code);
    assert_non_null(strstr(d.title, title));
}

static gpulua_tensor *ones(void) {
    int64_t count = COUNT;
    gpulua_tensor *t;
    accepted(gpulua_tensor_new(g, "f32", &count, 1, &t));
    accepted(gpulua_tensor_fill(t, 1));
    return t;
}

static void holds(gpulua_tensor *t, size_t first, size_t count, float want) {
    float host[COUNT];
    accepted(gpulua_tensor_read(t, host, sizeof(host)));
    for (size_t i = first; i < first + count; i++) assert_true(host[i] == want);
}

static gpulua_status launch_double(gpulua_tensor *x, gpulua_tensor *z, gpulua_stream *stream) {
    gpulua_arg args[] = {gpulua_arg_tensor(x), gpulua_arg_tensor(z)};
    gpulua_launch_options options = {0};
    options.size = sizeof(options);
    options.stream = stream;
    return gpulua_launch(m, "double", args, 2, &options);
}

/* ---- Tests ------------------------------------------------------------------------------ */

static void test_streams(void **unused) {
    (void)unused;
    gpulua_stream *a, *b;
    gpulua_tensor *x = ones(), *y = ones(), *z = ones();
    accepted(gpulua_stream_new(g, &a));
    accepted(gpulua_stream_new(g, &b));
    accepted(launch_double(x, y, a));
    accepted(launch_double(y, z, b)); /* behind the other, whose tensor it reads */
    accepted(gpulua_stream_sync(b));
    assert_true(gpulua_stream_is_idle(b));
    holds(z, 0, COUNT, 4);
    gpulua_arg args[] = {gpulua_arg_tensor(z), gpulua_arg_tensor(y)};
    gpulua_op *op;
    accepted(gpulua_op_make(m, "double", args, 2, NULL, &op));
    assert_false(gpulua_op_is_done(op));
    accepted(gpulua_op_run_on(op, a));
    accepted(gpulua_op_sync(op));
    assert_true(gpulua_op_is_done(op));
    holds(y, 0, COUNT, 8);
    gpulua_op_free(op);
    gpulua_stream_free(a);
    gpulua_stream_free(b);
    gpulua_tensor_free(x);
    gpulua_tensor_free(y);
    gpulua_tensor_free(z);
}

static void test_graph(void **unused) {
    (void)unused;
    gpulua_graph *graph;
    gpulua_stream *stream;
    gpulua_tensor *x = ones(), *y = ones(), *z = ones(), *first, *none;
    accepted(gpulua_stream_new(g, &stream));
    accepted(gpulua_graph_begin(g, &graph));
    accepted(launch_double(x, y, NULL));
    accepted(launch_double(y, z, NULL));
    float host[COUNT];
    refused(gpulua_tensor_read(y, host, sizeof(host)), GPULUA_E_DIAGNOSTICS, "G0343", "");
    accepted(gpulua_graph_end(graph));
    holds(z, 0, COUNT, 1); /* recorded, not run */
    assert_int_equal(gpulua_graph_launch_count(graph), 2);
    accepted(gpulua_graph_launch(graph, NULL));
    accepted(gpulua_graph_sync(graph));
    holds(z, 0, COUNT, 4);
    accepted(gpulua_graph_arg(graph, "x", &first));
    accepted(gpulua_tensor_fill_int(first, 3));
    accepted(gpulua_graph_launch(graph, stream));
    holds(z, 0, COUNT, 12);
    assert_int_equal(gpulua_graph_arg(graph, "nothing", &none), GPULUA_E_ARGUMENT);
    assert_null(none);
    accepted(gpulua_tensor_drop(x));
    refused(gpulua_graph_launch(graph, NULL), GPULUA_E_DIAGNOSTICS, "G0302", "");
    gpulua_graph_free(graph);
    accepted(gpulua_graph_begin(g, &graph));
    gpulua_graph_free(graph); /* ends the recording */
    accepted(launch_double(y, z, NULL));
    holds(z, 0, COUNT, 12);
    gpulua_stream_free(stream);
    gpulua_tensor_free(first);
    gpulua_tensor_free(x);
    gpulua_tensor_free(y);
    gpulua_tensor_free(z);
}

static void test_partitions(void **unused) {
    (void)unused;
    gpulua_tensor *t = ones();
    gpulua_partition *p;
    const int64_t tile = 4, map = 1, zero = 0;
    accepted(gpulua_tiles(t, &tile, 1, &p));
    accepted(gpulua_partition_map(p, &map, 1, 2));
    gpulua_arg args[] = {gpulua_arg_partition(p), gpulua_arg_float(7)};
    accepted(gpulua_launch(m, "shared", args, 2, NULL));
    holds(t, 0, COUNT, 7);
    assert_int_not_equal(gpulua_partition_map(p, &zero, 1, 2), GPULUA_OK);
    gpulua_partition_free(p);
    accepted(gpulua_tiles(t, &tile, 1, &p));
    gpulua_partition_prefix(p);
    gpulua_launch_options options = {0};
    options.size = sizeof(options);
    options.grid[0] = 2;
    args[0] = gpulua_arg_partition(p);
    args[1] = gpulua_arg_float(9);
    accepted(gpulua_launch(m, "set", args, 2, &options));
    holds(t, 0, 8, 9);
    holds(t, 8, 4, 7);
    gpulua_partition_free(p);
    gpulua_tensor_free(t);
}

static void test_tensors(void **unused) {
    (void)unused;
    gpulua_tensor *t = ones(), *copy, *bits, *wide, *part;
    const int64_t shape[] = {3, 4}, start[] = {0, 1}, stop[] = {3, 3}, few = 5;
    accepted(gpulua_tensor_to(t, NULL, &copy));
    accepted(gpulua_tensor_fill(t, 2));
    accepted(gpulua_tensor_sync(t));
    holds(copy, 0, COUNT, 1);
    assert_string_equal(gpulua_tensor_device(copy), "cpu");
    int64_t count = COUNT;
    int32_t host[COUNT];
    accepted(gpulua_tensor_reinterpret(t, "i32", &count, 1, &bits));
    accepted(gpulua_tensor_read(bits, host, sizeof(host)));
    assert_int_equal(host[5], 0x40000000);
    refused(gpulua_tensor_fill(bits, 1.5), GPULUA_E_ARGUMENT, "G0900", "1.5 is no value of i32");
    refused(gpulua_tensor_reinterpret(t, "f33", &count, 1, &wide), GPULUA_E_ARGUMENT, "G0900", "unknown dtype `f33`");
    assert_int_not_equal(gpulua_tensor_reinterpret(t, "f64", &few, 1, &wide), GPULUA_OK);
    accepted(gpulua_tensor_reshape(t, shape, 2, &wide));
    accepted(gpulua_tensor_slice(wide, start, stop, &part));
    assert_int_equal(gpulua_tensor_stride(part, 0), 4);
    assert_int_equal(gpulua_tensor_stride(part, 1), 1);
    assert_int_equal(gpulua_tensor_stride(part, 2), 0);
    gpulua_memory_info info = {0};
    info.size = sizeof(info);
    accepted(gpulua_memory(g, &info));
    assert_true(info.used >= sizeof(float) * 2 * COUNT);
    gpulua_tensor_free(part);
    gpulua_tensor_free(wide);
    gpulua_tensor_free(bits);
    gpulua_tensor_free(copy);
    gpulua_tensor_free(t);
}

static void test_text(void **unused) {
    (void)unused;
    const char *text;
    const char *name = "B";
    const int64_t extent = 4;
    gpulua_launch_options options = {0};
    options.size = sizeof(options);
    options.names = &name;
    options.values = &extent;
    options.name_count = 1;
    accepted(gpulua_kernel_text(m, "set", "ir", NULL, &options, &text));
    assert_non_null(strstr(text, "fn @set"));
    accepted(gpulua_kernel_text(m, "set", "ptx", NULL, &options, &text));
    assert_non_null(strstr(text, ".visible .entry"));
    assert_int_equal(gpulua_kernel_text(m, "set", "sass", NULL, &options, &text), GPULUA_E_ARGUMENT);
    assert_int_not_equal(gpulua_kernel_text(m, "set", "ptx", "sm_1", &options, &text), GPULUA_OK);
}

static void test_random(void **unused) {
    (void)unused;
    gpulua_tensor *t = ones(), *n = ones(), *whole;
    float first[COUNT], again[COUNT], normal[COUNT];
    double sum = 0;
    gpulua_seed(g, 7);
    accepted(gpulua_tensor_fill_uniform(t));
    accepted(gpulua_tensor_fill_normal(n));
    accepted(gpulua_tensor_read(t, first, sizeof(first)));
    accepted(gpulua_tensor_read(n, normal, sizeof(normal)));
    accepted(gpulua_tensor_fill_uniform(t));
    accepted(gpulua_tensor_read(t, again, sizeof(again)));
    for (int i = 0; i < COUNT; i++) {
        assert_true(first[i] >= 0 && first[i] < 1 && first[i] != again[i]);
        sum += (double)normal[i];
    }
    assert_true(sum > -COUNT && sum < COUNT && first[0] != normal[0]);
    char script[256]; /* Lua's are the same */
    snprintf(script, sizeof(script), "local gpu = require 'gpulua'; gpu.seed(7)\n"
             "assert(gpu.rand{12}[3] == %a and gpu.randn{12}[12] == %a)", (double)first[2], (double)normal[11]);
    accepted(gpulua_run_string(g, script, strlen(script), "random"));
    accepted(gpulua_tensor_convert(t, "i32", &whole));
    refused(gpulua_tensor_fill_normal(whole), GPULUA_E_ARGUMENT, "G0900", "random numbers are floats, no i32");
    gpulua_tensor_free(whole);
    gpulua_tensor_free(n);
    gpulua_tensor_free(t);
}

static void test_convert(void **unused) {
    (void)unused;
    const float from[COUNT] = {-1.5f, 300, 2.75f, 3, 4, 5, 6, 7, 8, 9, 10, -300};
    const int64_t shape[] = {3, 4};
    const size_t turned[] = {1, 0};
    int8_t to[COUNT];
    gpulua_tensor *t = ones(), *bytes, *wide, *columns;
    accepted(gpulua_tensor_write(t, from, sizeof(from)));
    accepted(gpulua_tensor_convert(t, "i8", &bytes));
    assert_string_equal(gpulua_tensor_dtype(bytes), "i8");
    accepted(gpulua_tensor_read(bytes, to, sizeof(to)));
    assert_true(to[0] == -1 && to[1] == 127 && to[2] == 2 && to[10] == 10 && to[11] == -128);
    gpulua_tensor_free(bytes);
    accepted(gpulua_tensor_reshape(t, shape, 2, &wide));
    accepted(gpulua_tensor_permute(wide, turned, &columns)); /* rows of it are no neighbours */
    accepted(gpulua_tensor_convert(columns, "i8", &bytes));
    assert_int_equal(gpulua_tensor_extent(bytes, 0), 4);
    accepted(gpulua_tensor_read(bytes, to, sizeof(to)));
    assert_true(to[0] == -1 && to[1] == 4 && to[2] == 8 && to[3] == 127 && to[11] == -128);
    gpulua_tensor_free(bytes);
    refused(gpulua_tensor_convert(t, "f33", &bytes), GPULUA_E_ARGUMENT, "G0900", "unknown dtype `f33`");
    assert_null(bytes);
    accepted(gpulua_tensor_drop(t));
    assert_int_equal(gpulua_tensor_convert(t, "i8", &bytes), GPULUA_E_DIAGNOSTICS);
    gpulua_tensor_free(columns);
    gpulua_tensor_free(wide);
    gpulua_tensor_free(t);
}

static void test_info(void **unused) {
    (void)unused;
    const int64_t tile = 4;
    gpulua_tensor *t = ones();
    gpulua_partition *p;
    gpulua_launch_info info = {0};
    gpulua_arg args[2];
    accepted(gpulua_tiles(t, &tile, 1, &p));
    args[0] = gpulua_arg_partition(p);
    args[1] = gpulua_arg_float(9);
    assert_int_equal(gpulua_kernel_info(m, "set", args, 2, NULL, &info), GPULUA_E_ARGUMENT);
    info.size = sizeof(info);
    accepted(gpulua_kernel_info(m, "set", args, 2, NULL, &info));
    assert_string_equal(info.device, "cpu");
    assert_true(info.threads == 0 && info.warps == 0 && info.unpiped == NULL);
    holds(t, 0, COUNT, 1); /* nothing ran */
    refused(gpulua_kernel_info(m, "nothing", args, 2, NULL, &info), GPULUA_E_DIAGNOSTICS, "G0341", "nothing");
    gpulua_partition_free(p);
    gpulua_tensor_free(t);
}

static gpulua_state *open_state(void) {
    gpulua_config config = {0};
    gpulua_state *state = NULL;
    config.size = sizeof(config);
    config.device = "cpu";
    config.cache_dir = "";
    assert_int_equal(gpulua_open(&config, &state), GPULUA_OK);
    return state;
}

/* What is left is refused, and can be freed. */
static void test_close(void **unused) {
    (void)unused;
    gpulua_state *kept = g;
    gpulua_module *kept_module = m;
    gpulua_stream *stream, *other;
    gpulua_graph *graph;
    g = open_state();
    accepted(gpulua_compile(g, "api.rs", kernels, sizeof(kernels) - 1, &m));
    gpulua_tensor *x = ones(), *y = ones();
    accepted(gpulua_stream_new(g, &stream));
    accepted(gpulua_graph_begin(g, &graph));
    accepted(launch_double(x, y, NULL));
    accepted(gpulua_graph_end(graph));
    assert_int_equal(gpulua_stream_new(kept, &other), GPULUA_OK);
    assert_int_equal(gpulua_graph_launch(graph, other), GPULUA_E_WRONG_STATE);
    gpulua_stream_free(other);
    gpulua_close(g);
    assert_int_not_equal(gpulua_tensor_fill(x, 1), GPULUA_OK);
    assert_int_not_equal(gpulua_stream_sync(stream), GPULUA_OK);
    assert_int_not_equal(gpulua_graph_launch(graph, stream), GPULUA_OK);
    assert_int_not_equal(gpulua_graph_launch(graph, NULL), GPULUA_OK);
    gpulua_graph_free(graph);
    gpulua_stream_free(stream);
    gpulua_tensor_free(x);
    gpulua_tensor_free(y);
    gpulua_module_free(m);
    g = kept;
    m = kept_module;
}

int main(void) {
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_streams), cmocka_unit_test(test_graph), cmocka_unit_test(test_partitions),
        cmocka_unit_test(test_tensors), cmocka_unit_test(test_text), cmocka_unit_test(test_random), cmocka_unit_test(test_convert),
        cmocka_unit_test(test_info), cmocka_unit_test(test_close),
    };
    g = open_state();
    if (gpulua_compile(g, "api.rs", kernels, sizeof(kernels) - 1, &m) != GPULUA_OK) {
        gpulua_diag_render(g, 0, print_to, NULL);
        return 2;
    }
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    gpulua_module_free(m);
    gpulua_close(g);
    return failed;
}
