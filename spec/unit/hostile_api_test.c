/* The C API as a careless or unlucky application uses it: nothing where an object belongs, errors that
** cannot be shown, extents that overflow, handles that go in the middle of a call, no memory. */
#include <stdlib.h>
#include <string.h>

#include "core/include/gpulua.h"
#include "spec/unit/unit.h"

static const char kernels[] =
    "#[kernel]\n"
    "fn double(x: &[f32], mut z: DisjointSlice<f32>) {\n"
    "    let idx = thread::index_1d();\n"
    "    let i = idx.get();\n"
    "    if let Some(out) = z.get_mut(idx) { *out = x[i] * 2.0; }\n"
    "}\n";

/* An allocator that counts, and fails once. */
typedef struct Memory {
    size_t bytes;
    uint64_t fail_at; /* the n-th allocation from now; 0: none */
} Memory;

static void *allocate(void *ud, void *at, size_t old_size, size_t new_size) {
    Memory *m = ud;
    size_t had = at ? old_size : 0;
    if (new_size > had && m->fail_at && --m->fail_at == 0) return NULL;
    m->bytes += new_size - had;
    if (new_size) return realloc(at, new_size);
    free(at);
    return NULL;
}

static gpulua_state *open_on(const char *device, Memory *memory) {
    gpulua_config config = {.size = sizeof(config), .device = device, .cache_dir = ""};
    gpulua_state *g = NULL;
    if (memory) {
        config.alloc = allocate;
        config.alloc_ud = memory;
    }
    gpulua_status status = gpulua_open(&config, &g);
    assert_int_equal(status, g ? GPULUA_OK : GPULUA_E_NO_MEMORY);
    return g;
}

static gpulua_state *open_state(Memory *memory) { return open_on("cpu", memory); }

static gpulua_tensor *floats(gpulua_state *g, int64_t count) {
    gpulua_tensor *t;
    assert_int_equal(gpulua_tensor_new(g, "f32", &count, 1, &t), GPULUA_OK);
    return t;
}

/* ---- Nothing -------------------------------------------------------------------------------- */

#define WRONG(call) assert_int_equal((call), GPULUA_E_ARGUMENT)

static void test_no_object(void **unused) {
    (void)unused;
    gpulua_memory_info memory = {.size = sizeof(memory)};
    gpulua_launch_info info = {.size = sizeof(info)};
    gpulua_arg arg = gpulua_arg_int(1);
    gpulua_state *g;
    gpulua_tensor *t;
    gpulua_module *m;
    gpulua_op *op;
    gpulua_stream *s;
    gpulua_graph *graph;
    const char *text;
    uint32_t count;
    WRONG(gpulua_open(NULL, NULL));
    WRONG(gpulua_open_on(NULL, NULL, &g));
    WRONG(gpulua_run_file(NULL, "x.lua"));
    WRONG(gpulua_run_string(NULL, "", 0, NULL));
    WRONG(gpulua_gpu_count(NULL, &count));
    WRONG(gpulua_use_device(NULL, "cpu"));
    WRONG(gpulua_device_name(NULL, &text));
    WRONG(gpulua_sync(NULL));
    WRONG(gpulua_memory(NULL, &memory));
    WRONG(gpulua_stream_new(NULL, &s));
    WRONG(gpulua_stream_sync(NULL));
    WRONG(gpulua_compile(NULL, "x.rs", "", 0, &m));
    WRONG(gpulua_launch(NULL, "f", &arg, 1, NULL));
    WRONG(gpulua_op_make(NULL, "f", &arg, 1, NULL, &op));
    WRONG(gpulua_op_run(NULL));
    WRONG(gpulua_op_run_on(NULL, NULL));
    WRONG(gpulua_op_sync(NULL));
    WRONG(gpulua_kernel_text(NULL, "f", "ir", NULL, NULL, &text));
    WRONG(gpulua_kernel_info(NULL, "f", &arg, 1, NULL, &info));
    WRONG(gpulua_graph_begin(NULL, &graph));
    WRONG(gpulua_graph_end(NULL));
    WRONG(gpulua_graph_launch(NULL, NULL));
    WRONG(gpulua_graph_sync(NULL));
    WRONG(gpulua_graph_arg(NULL, "x", &t));
}

static void test_no_tensor(void **unused) {
    (void)unused;
    const int64_t n = 1;
    const size_t axis = 0;
    float host[2];
    gpulua_borrow lent = {.size = sizeof(lent)};
    gpulua_tensor *t = (gpulua_tensor *)&lent; /* no result is NULL, not what was there */
    gpulua_partition *p;
    WRONG(gpulua_tensor_new(NULL, "f32", &n, 1, &t));
    assert_null(t);
    WRONG(gpulua_tensor_borrow(NULL, &lent, &t));
    WRONG(gpulua_tensor_fill(NULL, 1));
    WRONG(gpulua_tensor_fill_int(NULL, 1));
    WRONG(gpulua_tensor_fill_uniform(NULL));
    WRONG(gpulua_tensor_fill_normal(NULL));
    WRONG(gpulua_tensor_sync(NULL));
    WRONG(gpulua_tensor_write(NULL, &n, 8));
    WRONG(gpulua_tensor_read(NULL, host, 8));
    WRONG(gpulua_tensor_reshape(NULL, &n, 1, &t));
    WRONG(gpulua_tensor_slice(NULL, &n, &n, &t));
    WRONG(gpulua_tensor_permute(NULL, &axis, &t));
    WRONG(gpulua_tensor_reinterpret(NULL, "u8", &n, 1, &t));
    WRONG(gpulua_tensor_to(NULL, "cpu", &t));
    WRONG(gpulua_tensor_convert(NULL, "u8", &t));
    WRONG(gpulua_tensor_copy(NULL, NULL));
    WRONG(gpulua_tensor_freeze(NULL));
    WRONG(gpulua_tensor_drop(NULL));
    WRONG(gpulua_tiles(NULL, &n, 1, &p));
    WRONG(gpulua_partition_new(NULL, &n, 1, &p));
    WRONG(gpulua_unpartition(NULL, &t));
    WRONG(gpulua_partition_map(NULL, &n, 1, 1));
}

static void test_tell_of_nothing(void **unused) {
    (void)unused;
    gpulua_diag d;
    assert_null(gpulua_lua(NULL));
    assert_int_equal(gpulua_diag_count(NULL), 0);
    assert_false(gpulua_diag_at(NULL, 0, &d));
    assert_false(gpulua_stream_is_idle(NULL));
    assert_null(gpulua_stream_handle(NULL));
    assert_null(gpulua_tensor_dtype(NULL));
    assert_null(gpulua_tensor_device(NULL));
    assert_int_equal(gpulua_tensor_rank(NULL), 0);
    assert_int_equal(gpulua_tensor_extent(NULL, 0), 0);
    assert_int_equal(gpulua_tensor_stride(NULL, 0), 0);
    assert_int_equal(gpulua_tensor_bytes(NULL), 0);
    assert_int_equal(gpulua_tensor_address(NULL), 0);
    assert_int_equal(gpulua_module_kernel_count(NULL), 0);
    assert_null(gpulua_module_kernel_name(NULL, 0));
    assert_false(gpulua_op_is_done(NULL));
    assert_int_equal(gpulua_graph_launch_count(NULL), 0);
    gpulua_interrupt(NULL);
    gpulua_seed(NULL, 1);
    gpulua_partition_prefix(NULL);
    gpulua_close(NULL);
    gpulua_tensor_free(NULL);
    gpulua_partition_free(NULL);
    gpulua_module_free(NULL);
    gpulua_op_free(NULL);
    gpulua_stream_free(NULL);
    gpulua_graph_free(NULL);
}

/* The diagnostics are of this call, not of the one before. */
static void told(gpulua_state *g, gpulua_status status) {
    gpulua_diag d;
    assert_int_equal(status, GPULUA_E_ARGUMENT);
    assert_int_equal(gpulua_diag_count(g), 1);
    assert_true(gpulua_diag_at(g, 0, &d));
    assert_string_not_equal(d.code, "G0305");
}

#define TOLD(call) (assert_int_equal(gpulua_tensor_write(t, "", 1), GPULUA_E_DIAGNOSTICS), told(g, (call)))

static void test_no_place(void **unused) {
    (void)unused;
    gpulua_state *g = open_state(NULL);
    gpulua_tensor *t = floats(g, 4);
    gpulua_module *m;
    const char *const no_name = NULL;
    gpulua_launch_options options = {.size = sizeof(options), .names = &no_name, .name_count = 1};
    gpulua_arg args[] = {gpulua_arg_tensor(t), gpulua_arg_tensor(NULL)};
    TOLD(gpulua_tensor_convert(t, "u8", NULL));
    TOLD(gpulua_tensor_write(t, NULL, 16));
    TOLD(gpulua_tensor_read(t, NULL, 16));
    TOLD(gpulua_tensor_copy(t, NULL));
    TOLD(gpulua_tiles(t, NULL, 1, NULL));
    TOLD(gpulua_device_name(g, NULL));
    TOLD(gpulua_gpu_count(g, NULL));
    TOLD(gpulua_memory(g, NULL));
    TOLD(gpulua_run_file(g, NULL));
    TOLD(gpulua_run_string(g, NULL, 1, NULL));
    WRONG(gpulua_compile(g, NULL, NULL, 1, &m));
    assert_int_equal(gpulua_compile(g, NULL, kernels, sizeof(kernels) - 1, &m), GPULUA_OK);
    WRONG(gpulua_launch(m, NULL, args, 2, NULL));
    WRONG(gpulua_launch(m, "double", NULL, 2, NULL));
    WRONG(gpulua_launch(m, "double", args, 2, NULL));
    args[1] = args[0];
    WRONG(gpulua_launch(m, "double", args, 2, &options));
    options.names = NULL;
    WRONG(gpulua_launch(m, "double", args, 2, &options));
    gpulua_module_free(m);
    gpulua_tensor_free(t);
    gpulua_close(g);
}

/* ---- Errors of scripts ---------------------------------------------------------------------- */

static void says(gpulua_state *g, const char *script, const char *want) {
    gpulua_diag d;
    assert_int_equal(gpulua_run_string(g, script, strlen(script), "=s"), GPULUA_E_LUA);
    assert_true(gpulua_diag_at(g, 0, &d));
    if (!strstr(d.title, want)) print_error("%s\n", d.title);
    assert_non_null(strstr(d.title, want));
}

static void test_script_errors(void **unused) {
    (void)unused;
    gpulua_state *g = open_state(NULL);
    says(g, "error('a')", "s:1: a");
    says(g, "error('a')", "stack traceback:");
    says(g, "error()", "nil");
    says(g, "x x", "s:1: syntax error");
    says(g, "error(setmetatable({}, {__tostring = function() return 'shown' end}))", "shown");
    says(g, "error(setmetatable({}, {__tostring = function() error('worse') end}))", "worse");
    says(g, "error(setmetatable({}, {__tostring = function() return {} end}))", "'__tostring' must return a string");
    says(g, "error(setmetatable({}, {__tostring = function() error({}) end}))", "table: ");
    says(g, "local function f() return 1 + f() end f()", "stack overflow");
    assert_int_equal(gpulua_run_file(g, "/no/such/file"), GPULUA_E_LUA);
    gpulua_close(g);
}

/* ---- Tensors -------------------------------------------------------------------------------- */

/* No element is there, so no stride is too large. */
static void test_empty_extents(void **unused) {
    (void)unused;
    gpulua_state *g = open_state(NULL);
    const int64_t shape[] = {16, 0, INT64_MAX / 2}, start[] = {13, 0, 5}, stop[] = {16, 0, INT64_MAX / 2};
    const int64_t far[] = {INT64_MAX, 0, 0};
    gpulua_tensor *t, *part;
    gpulua_diag d;
    assert_int_equal(gpulua_tensor_new(g, "f32", shape, 3, &t), GPULUA_OK);
    assert_int_equal(gpulua_tensor_slice(t, start, stop, &part), GPULUA_OK);
    assert_int_equal(gpulua_tensor_extent(part, 0), 3);
    gpulua_tensor_free(part);
    assert_int_equal(gpulua_tensor_slice(t, far, stop, &part), GPULUA_E_DIAGNOSTICS);
    assert_true(gpulua_diag_at(g, 0, &d));
    assert_string_equal(d.code, "G0311");
    gpulua_tensor_free(t);
    const int64_t none[] = {0, 16, INT64_MAX / 2};
    gpulua_module *m;
    assert_int_equal(gpulua_tensor_new(g, "f32", none, 3, &t), GPULUA_OK);
    assert_int_equal(gpulua_compile(g, NULL, kernels, sizeof(kernels) - 1, &m), GPULUA_OK);
    part = floats(g, 4);
    gpulua_arg args[] = {gpulua_arg_tensor(t), gpulua_arg_tensor(part)};
    assert_int_equal(gpulua_launch(m, "double", args, 2, NULL), GPULUA_OK);
    gpulua_module_free(m);
    gpulua_tensor_free(part);
    gpulua_tensor_free(t);
    gpulua_close(g);
}

/* What is recorded cannot be copied: the copy of the columns goes once. */
static void test_convert_recorded(void **unused) {
    (void)unused;
    gpulua_state *g = open_state(NULL);
    const int64_t square[] = {2, 2};
    const size_t turned[] = {1, 0};
    gpulua_tensor *t = floats(g, 4), *rows, *columns, *bytes;
    gpulua_graph *graph;
    assert_int_equal(gpulua_tensor_reshape(t, square, 2, &rows), GPULUA_OK);
    assert_int_equal(gpulua_tensor_permute(rows, turned, &columns), GPULUA_OK);
    assert_int_equal(gpulua_graph_begin(g, &graph), GPULUA_OK);
    assert_int_equal(gpulua_tensor_convert(columns, "u8", &bytes), GPULUA_E_DIAGNOSTICS);
    assert_null(bytes);
    gpulua_graph_free(graph);
    assert_int_equal(gpulua_tensor_convert(columns, "u8", &bytes), GPULUA_OK);
    gpulua_tensor_free(bytes);
    gpulua_tensor_free(columns);
    gpulua_tensor_free(rows);
    gpulua_tensor_free(t);
    gpulua_close(g);
}

static gpulua_tensor *goes_with_memory;

static void free_handle(void *ud) {
    *(int *)ud += 1;
    gpulua_tensor_free(goes_with_memory);
}

/* The lender frees the last handle, which is the one that is dropped. */
static void test_drop_frees_itself(void **unused) {
    (void)unused;
    gpulua_state *g = open_state(NULL);
    float host[4] = {0};
    const int64_t count = 4;
    int released = 0;
    gpulua_borrow b = {.size = sizeof(b), .address = (uint64_t)(uintptr_t)host, .bytes = sizeof(host), .dtype = "f32",
                       .shape = &count, .rank = 1, .release = free_handle, .ud = &released};
    assert_int_equal(gpulua_tensor_borrow(g, &b, &goes_with_memory), GPULUA_OK);
    assert_int_equal(gpulua_tensor_drop(goes_with_memory), GPULUA_OK);
    assert_int_equal(released, 1);
    gpulua_close(g);
}

/* ---- No memory ------------------------------------------------------------------------------ */

/* What an application does; whatever fails is left out. */
static bool work(gpulua_state *g) {
    gpulua_module *m = NULL;
    gpulua_tensor *x = NULL, *z = NULL, *bytes = NULL;
    gpulua_op *op = NULL;
    const int64_t n = 8;
    bool is_done = gpulua_compile(g, "a.rs", kernels, sizeof(kernels) - 1, &m) == GPULUA_OK &&
                   gpulua_tensor_new(g, "f32", &n, 1, &x) == GPULUA_OK &&
                   gpulua_tensor_new(g, "f32", &n, 1, &z) == GPULUA_OK;
    gpulua_arg args[] = {gpulua_arg_tensor(x), gpulua_arg_tensor(z)};
    is_done = is_done && gpulua_launch(m, "double", args, 2, NULL) == GPULUA_OK &&
              gpulua_op_make(m, "double", args, 2, NULL, &op) == GPULUA_OK && gpulua_op_sync(op) == GPULUA_OK &&
              gpulua_tensor_convert(z, "u8", &bytes) == GPULUA_OK && gpulua_sync(g) == GPULUA_OK;
    gpulua_op_free(op);
    gpulua_tensor_free(bytes);
    gpulua_tensor_free(z);
    gpulua_tensor_free(x);
    gpulua_module_free(m);
    return is_done;
}

/* Whether it got by without an allocation of that number. Lua collects garbage and tries again. */
static bool work_poorly(const char *device, uint64_t fail_at) {
    Memory memory = {.fail_at = fail_at};
    gpulua_state *g = open_on(device, &memory);
    bool is_done = g && work(g) && memory.fail_at;
    gpulua_close(g);
    if (memory.bytes)
        print_error("%zu bytes are left when allocation %llu fails\n", memory.bytes, (unsigned long long)fail_at);
    assert_int_equal(memory.bytes, 0);
    return is_done;
}

static void test_no_memory(void **unused) {
    (void)unused;
    uint64_t n = 1;
    while (!work_poorly("cpu", n)) n++;
    assert_true(n > 100);
}

static void test_no_memory_beside_gpu(void **unused) {
    (void)unused;
    gpulua_state *g = open_state(NULL);
    uint32_t count = 0;
    assert_int_equal(gpulua_gpu_count(g, &count), GPULUA_OK);
    gpulua_close(g);
    if (count == 0) skip();
    uint64_t n = 1;
    while (!work_poorly("cuda:0", n)) n++;
    assert_true(n > 100);
}

int main(void) {
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_no_object), cmocka_unit_test(test_no_tensor),
        cmocka_unit_test(test_tell_of_nothing), cmocka_unit_test(test_no_place),
        cmocka_unit_test(test_script_errors), cmocka_unit_test(test_empty_extents),
        cmocka_unit_test(test_convert_recorded), cmocka_unit_test(test_drop_frees_itself),
        cmocka_unit_test(test_no_memory), cmocka_unit_test(test_no_memory_beside_gpu),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
