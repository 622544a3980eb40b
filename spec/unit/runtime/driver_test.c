/* Outcomes of the driver, through the fake one: every way in which there may be no GPU, old and
** incomplete drivers, full memory, and errors that cost the device. The second argument is the
** kind of fake: "cuda", or "plain" for the one without cuGetProcAddress. */
#include <sys/wait.h>
#include <unistd.h>

#include "core/gpu.h"
#include "runtime/internal.h"
#include "spec/unit/runtime/support.h"

static void set(const char *name, const char *value) {
    if (value) {
        setenv(name, value, 1);
    } else {
        unsetenv(name);
    }
}

static void reset_fake(void) {
    static const char *const names[] = {"INIT", "VERSION", "COUNT", "MISSING",
                                        "MEMORY", "POOLS", "STICKY"};
    for (size_t i = 0; i < GP_COUNT(names); i++) {
        char name[64];
        snprintf(name, sizeof name, "GPULUA_FAKE_%s", names[i]);
        unsetenv(name);
    }
}

/* Opening a GPU fails so; "auto" falls back and tells why once. */
static void expect_no_gpu(const char *libcuda, GpStatus want, const char *code) {
    GpSession s;
    GpRuntime *rt;
    GpDevice *d;
    bool fell_back = false;
    gp_session_init(&s, NULL, NULL, NULL);
    GpRuntimeConfig config = {.libcuda = libcuda, .cache_dir = ""};
    assert_int_equal(gp_runtime_new(&s, &config, &rt), GpStatus_Ok);
    for (int turn = 0; turn < 2; turn++) { /* asking again gives the same answer */
        GpDiags *diags = gp_diags_new(&s);
        assert_int_equal(gp_device_open(rt, GP_STR("cuda:0"), diags, &d, NULL), want);
        assert_null(d);
        assert_int_equal(gp_diags_count(diags), 1);
        const GpDiag *diag = gp_diags_at(diags, 0);
        assert_string_equal(gp_diag_row(gp_diag_code(diag))->code, code);
        if (libcuda)
            assert_non_null(strstr(gp_diag_title(diag), libcuda));
        uint32_t helps = 0;
        for (uint32_t i = 0; i < gp_diag_child_count(diag); i++)
            helps += gp_diag_child_at(diag, i).kind == GpChild_Help;
        assert_int_equal(helps, 1);
        gp_diags_release(diags);
    }
    GpDiags *diags = gp_diags_new(&s);
    assert_int_equal(gp_device_open(rt, GP_STR("auto"), diags, &d, &fell_back), GpStatus_Ok);
    assert_true(fell_back);
    assert_int_equal(gp_device_info(d)->kind, GpDevice_Cpu);
    assert_int_equal(gp_diags_errors(diags), 0);
    assert_int_equal(gp_diags_count(diags), 1);
    assert_string_equal(gp_diag_row(gp_diag_code(gp_diags_at(diags, 0)))->code, "G0916");
    gp_diags_release(diags);
    gp_runtime_free(rt);
    assert_int_equal(s.bytes, 0);
    assert_int_equal(fake_live(), 0);
}

static void test_outcomes(void **state) {
    (void)state;
    static const struct {
        const char *init;
        GpStatus status;
        const char *code;
    } rows[] = {{"34", GpStatus_StubDriver, "G0902"},  {"100", GpStatus_NoDevice, "G0903"},
                {"802", GpStatus_Driver, "G0907"},     {"803", GpStatus_Driver, "G0905"},
                {"804", GpStatus_Driver, "G0906"},     {"304", GpStatus_Driver, "G0908"},
                {"999", GpStatus_Driver, "G0908"}};
    expect_no_gpu("/nowhere/libcuda.so.1", GpStatus_NoDriver, "G0901");
    for (size_t i = 0; i < GP_COUNT(rows); i++) {
        set("GPULUA_FAKE_INIT", rows[i].init);
        expect_no_gpu(NULL, rows[i].status, rows[i].code);
    }
    set("GPULUA_FAKE_INIT", NULL);
    set("GPULUA_FAKE_COUNT", "0");
    expect_no_gpu(NULL, GpStatus_NoDevice, "G0903");
    set("GPULUA_FAKE_COUNT", NULL);
    set("GPULUA_FAKE_VERSION", "11080");
    expect_no_gpu(NULL, GpStatus_DriverTooOld, "G0904");
    reset_fake();
}

static void test_missing(void **state) {
    (void)state;
    if (strcmp(test_device, "cuda") != 0)
        skip(); /* plain names cannot be missing one by one */
    set("GPULUA_FAKE_MISSING", "cuMemsetD2D32Async");
    expect_no_gpu(NULL, GpStatus_DriverTooOld, "G0904");
    /* optional ones cost only what they are for */
    set("GPULUA_FAKE_MISSING", "cuLaunchKernelEx,cuMemPoolCreate,cuTensorMapEncodeTiled");
    World w;
    open_world(&w);
    GpTensor *t = new_iota(&w, 100, "t");
    GpImage *image = make_scale(&w.s, true);
    GpExec *e;
    image->cluster[0] = 2;
    expect_code(&w, gp_exec_new(w.device, image, w.diags, &e), "G0904");
    gp_image_release(image);
    image = make_scale_map(&w.s, 1);
    expect_code(&w, gp_exec_new(w.device, image, w.diags, &e), "G0904");
    gp_image_release(image);
    gp_tensor_release(t);
    close_world(&w);
    reset_fake();
}

static void test_names(void **state) {
    (void)state;
    World w;
    test_device = "cuda";
    open_world(&w);
    GpDevice *d;
    const GpDeviceInfo *info = gp_device_info(w.device);
    assert_string_equal(info->name, "cuda:0");
    assert_string_equal(info->product, "Fake GPU 0");
    assert_int_equal(info->sm, 90);
    assert_int_equal(info->max_ptx, 90);
    assert_non_null(strstr(gp_driver_path(w.rt), "fake"));
    assert_int_equal(gp_driver_version(w.rt), 13000);
    assert_int_equal(gp_device_count(w.rt, w.diags), 1);
    expect_status(&w, gp_device_open(w.rt, GP_STR("cuda"), w.diags, &d, NULL), GpStatus_Ok);
    assert_ptr_equal(d, w.device);
    expect_code(&w, gp_device_open(w.rt, GP_STR("cuda:1"), w.diags, &d, NULL), "G0903");
    expect_code(&w, gp_device_open(w.rt, GP_STR("cuda:x"), w.diags, &d, NULL), "G0912");
    expect_code(&w, gp_device_open(w.rt, GP_STR("tpu"), w.diags, &d, NULL), "G0912");
    close_world(&w);
}

static void refuse_image(World *w, GpImage *image, const char *code) {
    GpExec *e;
    expect_code(w, gp_exec_new(w->device, image, w->diags, &e), code);
    gp_image_release(image);
}

static void test_images(void **state) {
    (void)state;
    World w;
    open_world(&w);
    GpImage *image = make_scale(&w.s, false);
    refuse_image(&w, image, "G0914");
    image = make_scale(&w.s, true);
    image->min_sm = 100;
    refuse_image(&w, image, "G0914");
    image = make_scale(&w.s, true);
    image->ptx_version = 99;
    refuse_image(&w, image, "G0914");
    image = make_scale(&w.s, true);
    image->ptx = "BAD";
    refuse_image(&w, image, "G0913");
    image = make_scale(&w.s, true);
    image->entry = "unknown";
    refuse_image(&w, image, "G0909");
    /* clusters, and shared memory past 48 KiB */
    GpExec *e;
    ScaleCall c;
    GpTensor *x = new_iota(&w, 4, "x"), *z = new_iota(&w, 4, "z");
    image = make_scale(&w.s, true);
    image->cluster[0] = 2;
    image->shared_bytes = 100 * 1024;
    expect_status(&w, gp_exec_new(w.device, image, w.diags, &e), GpStatus_Ok);
    gp_image_release(image);
    call_scale(&w, &c, z, x, 4, 2);
    c.r.exec = e;
    for (int turn = 0; turn < 2; turn++) { /* what was allowed last is remembered, and nothing else */
        c.r.shared_bytes = 0;
        expect_status(&w, gp_launch_now(w.rt, &c.r, NULL, w.diags), GpStatus_Ok);
        expect_status(&w, gp_launch_now(w.rt, &c.r, NULL, w.diags), GpStatus_Ok);
        c.r.shared_bytes = 200 * 1024;
        expect_code(&w, gp_launch_now(w.rt, &c.r, NULL, w.diags), "G0304");
        expect_code(&w, gp_launch_now(w.rt, &c.r, NULL, w.diags), "G0304");
    }
    gp_exec_release(e);
    gp_tensor_release(x);
    gp_tensor_release(z);
    close_world(&w);
}

static GpExec *load_map(World *w, GpImage *image) {
    GpExec *e = NULL;
    expect_status(w, gp_exec_new(w->device, image, w->diags, &e), GpStatus_Ok);
    gp_image_release(image);
    return e;
}

static void expect_map(const FakeMap *m, const GpTensor *t) {
    assert_int_equal(m->base, gp_tensor_address(t));
    assert_int_equal(m->rank, t->shape.rank);
    assert_int_equal(m->type, GpCu_MapF32);
    assert_int_equal(m->swizzle, GpCu_MapSwizzle128);
    uint64_t rows = gp_tensor_address(t);
    for (int axis = 0; axis < t->shape.rank - 1; axis++)
        rows |= (uint64_t)t->stride[axis] * sizeof(float);
    assert_int_equal(m->promotion, rows % GP_GPU_LINE_BYTES ? GpCu_MapPromote64 : GpCu_MapPromote256);
    for (int i = 0; i < m->rank; i++) {
        int axis = m->rank - 1 - i;
        static const uint32_t box[] = {4, 8, 32};
        assert_int_equal(m->dims[i], t->shape.dim[axis]);
        assert_int_equal(m->box[i], box[axis]);
        if (i > 0)
            assert_int_equal(m->strides[i - 1], t->stride[axis] * 4);
    }
}

/* Tensor maps: the numbers that the driver gets, one encoding for launches alike, and refusals. */
static void test_tensor_maps(void **state) {
    (void)state;
    World w;
    open_world(&w);
    GpTensor *x = new_tensor(&w, GpElem_F32, (GpShape){{6, 10, 64}, 3}, "x"), *part, *odd;
    GpTensor *z = new_iota(&w, 4, "z");
    GpExec *e = load_map(&w, make_scale_map(&w.s, 3));
    ScaleCall c;
    for (int turn = 0; turn < 3; turn++) {
        call_scale(&w, &c, z, x, 4, 2);
        c.r.exec = e;
        expect_status(&w, gp_launch_now(w.rt, &c.r, NULL, w.diags), GpStatus_Ok);
        expect_map(&fake_last()->map, x);
    }
    assert_int_equal(fake_encodes(), 1);
    int64_t from[] = {1, 2, 4}, to[] = {5, 9, 60};
    expect_status(&w, gp_tensor_slice(x, from, to, line(1), w.diags, &part), GpStatus_Ok);
    c.args[1].tensor = part;
    expect_status(&w, gp_launch_now(w.rt, &c.r, NULL, w.diags), GpStatus_Ok);
    expect_map(&fake_last()->map, part);
    assert_int_equal(fake_encodes(), 2);
    from[2] = 1; /* 4 bytes past a multiple of 16 */
    expect_status(&w, gp_tensor_slice(x, from, to, line(1), w.diags, &odd), GpStatus_Ok);
    c.args[1].tensor = odd;
    assert_int_equal(gp_launch_now(w.rt, &c.r, NULL, w.diags), GpStatus_Diagnostics);
    expect_text(&w, "tensor_map.txt");
    c.args[1].tensor = part; /* the refused one left nothing behind */
    expect_status(&w, gp_launch_now(w.rt, &c.r, NULL, w.diags), GpStatus_Ok);
    assert_int_equal(fake_encodes(), 3);
    c.args[1].tensor = z; /* of another rank */
    expect_code(&w, gp_launch_now(w.rt, &c.r, NULL, w.diags), "G0307");
    GpTensor *all[] = {x, part, odd, z};
    for (size_t i = 0; i < GP_COUNT(all); i++)
        gp_tensor_release(all[i]);
    gp_exec_release(e);
    close_world(&w);
}

static void expect_grid(World *w, GpExec *e, GpTensor *x, GpTensor *z, uint32_t blocks,
                        uint32_t want) {
    ScaleCall c;
    call_scale(w, &c, z, x, blocks, 2);
    c.r.exec = e;
    c.r.grid.grid[1] = 2;
    expect_status(w, gp_launch_now(w->rt, &c.r, NULL, w->diags), GpStatus_Ok);
    const FakeLaunch *last = fake_last();
    assert_int_equal(last->grid[0], want);
    assert_int_equal(last->grid[1] * last->grid[2], 1);
    assert_int_equal(last->virtual_grid[0], blocks);
    assert_int_equal(last->virtual_grid[1], 2);
    assert_int_equal(last->virtual_grid[2], 1);
}

/* The grid of a persistent kernel is as many blocks as share the work evenly, at most those that run at once.
** The fake device has 4 multiprocessors. */
static void test_persistent(void **state) {
    (void)state;
    World w;
    open_world(&w);
    GpTensor *x = new_tensor(&w, GpElem_F32, (GpShape){{64}, 1}, "x"), *z = new_iota(&w, 64, "z");
    GpExec *e = load_map(&w, make_scale_map(&w.s, 1));
    GpExecInfo info;
    assert_int_equal(gp_exec_info(e, 0, &info), GpStatus_Ok);
    assert_int_equal(info.blocks, 16); /* of 128 threads */
    assert_int_equal(gp_exec_info(w.scale, 512, &info), GpStatus_Ok);
    assert_int_equal(info.blocks, 4); /* the launch decides */
    assert_int_equal(info.registers, 32);
    expect_grid(&w, e, x, z, 7, 14);
    expect_grid(&w, e, x, z, 100, 50); /* 200 in four waves of 64 at most */
    ScaleCall c;
    call_scale(&w, &c, z, x, 70000, 2);
    c.r.exec = e;
    c.r.grid.grid[1] = 70000; /* more than the hardware's y axis, and than 31 bits in all */
    expect_code(&w, gp_launch_now(w.rt, &c.r, NULL, w.diags), "G0304");
    gp_exec_release(e);
    GpImage *image = make_scale_map(&w.s, 1);
    image->shared_bytes = 200 * 1024; /* one block a multiprocessor */
    e = load_map(&w, image);
    expect_grid(&w, e, x, z, 100, 4);
    assert_int_equal(fake_last()->shared_bytes, 200 * 1024);
    gp_exec_release(e);
    image = make_scale_map(&w.s, 1);
    image->shared_bytes = 200 * 1024;
    image->cluster[0] = 2; /* three of the four have a neighbour */
    e = load_map(&w, image);
    expect_grid(&w, e, x, z, 100, 2);
    assert_int_equal(fake_last()->cluster, 2);
    gp_exec_release(e);
    image = make_scale_map(&w.s, 1);
    image->cluster[0] = 2;
    e = load_map(&w, image);
    expect_grid(&w, e, x, z, 1, 2);
    gp_exec_release(e);
    image = make_scale_map(&w.s, 1);
    image->threads = 4096;
    refuse_image(&w, image, "G0914");
    image = make_scale_map(&w.s, 1);
    image->shared_bytes = 240 * 1024;
    refuse_image(&w, image, "G0914");
    gp_tensor_release(x);
    gp_tensor_release(z);
    close_world(&w);
}

/* A kernel that waits by itself for the one ahead may start early, unless it becomes a graph's node. */
static void test_dependent(void **state) {
    (void)state;
    World w;
    open_world(&w);
    GpTensor *x = new_tensor(&w, GpElem_F32, (GpShape){{64}, 1}, "x"), *z = new_iota(&w, 64, "z");
    for (int i = 0; i < 4; i++) {
        GpImage *image = make_scale_map(&w.s, 1);
        image->is_dependent = i & 1;
        image->cluster[0] = i & 2 ? 2 : 1;
        GpExec *e = load_map(&w, image);
        expect_grid(&w, e, x, z, 10, 20);
        assert_int_equal(fake_last()->is_dependent, i & 1);
        assert_int_equal(fake_last()->cluster, i & 2 ? 2 : 1);
        gp_exec_release(e);
    }
    gp_tensor_release(x);
    gp_tensor_release(z);
    close_world(&w);
}

static void free_garbage(World *w) {
    gp_tensor_release(w->garbage);
    w->garbage = NULL;
}

/* A loop of tensors that only the collector frees never fails under a small device. */
static void check_memory(const char *pools) {
    set("GPULUA_FAKE_MEMORY", "1000000");
    set("GPULUA_FAKE_POOLS", pools);
    World w;
    open_world(&w);
    GpTensor *t;
    GpShape shape = {{150000}, 1};
    w.on_collect = free_garbage;
    for (int i = 0; i < 100; i++) {
        GpTensor *garbage = new_tensor(&w, GpElem_F32, shape, "garbage");
        w.name_count = 0;
        free_garbage(&w);
        w.garbage = garbage;
        expect_status(&w, gp_tensor_new(w.device, GpElem_F32, &shape, line(2), w.diags, &t),
                      GpStatus_Ok); /* only fits when the garbage goes */
        gp_tensor_release(t);
    }
    assert_int_equal(w.collections, 100);
    shape.dim[0] = 300000;
    GpStatus status = gp_tensor_new(w.device, GpElem_F32, &shape, line(2), w.diags, &t);
    assert_int_equal(status, GpStatus_DeviceMemory);
    expect_code(&w, status, "G0910");
    close_world(&w);
    reset_fake();
}

static void test_memory(void **state) {
    (void)state;
    check_memory(NULL);
    check_memory("0");
}

static void test_sticky(void **state) {
    (void)state;
    set("GPULUA_FAKE_STICKY", "3:700");
    World w;
    open_world(&w);
    GpTensor *x = new_iota(&w, 4, "x"), *z = new_iota(&w, 4, "z"), *t;
    ScaleCall c;
    float host[4];
    for (uint32_t i = 0; i < 3; i++)
        expect_status(&w, gp_launch_now(w.rt, call_scale(&w, &c, z, x, 4, 2 + i), NULL, w.diags),
                      GpStatus_Ok);
    assert_int_equal(gp_tensor_read(z, host, sizeof host, line(5), w.diags), GpStatus_Poisoned);
    expect_text(&w, "sticky.txt");
    /* every later call says the same */
    assert_int_equal(gp_device_sync(w.device, w.diags), GpStatus_Poisoned);
    expect_text(&w, "sticky.txt");
    assert_int_equal(gp_launch_now(w.rt, &c.r, NULL, w.diags), GpStatus_Poisoned);
    assert_int_equal(gp_tensor_new(w.device, GpElem_F32, &(GpShape){{4}, 1}, line(1), w.diags, &t),
                     GpStatus_Poisoned);
    gp_tensor_release(x);
    gp_tensor_release(z);
    end_world(&w);
    assert_int_equal(fake_live(), 2); /* the memory of x and z is the lost context's */
    reset_fake();
}

/* A host's own context is used, not retained and not released, and what was current stays. */
static void test_host_context(void **state) {
    (void)state;
    GpSession s;
    GpRuntime *rt;
    GpDevice *d;
    GpTensor *t;
    gp_session_init(&s, NULL, NULL, NULL);
    GpDiags *diags = gp_diags_new(&s);
    GpRuntimeConfig config = {.cuda_context = (void *)(uintptr_t)0x1000, .cache_dir = ""};
    assert_int_equal(gp_runtime_new(&s, &config, &rt), GpStatus_Ok);
    GpCuda *cu = gp_runtime_cuda(rt);
    GpCuContext mine = (GpCuContext)(uintptr_t)0x5000;
    assert_int_equal(gp_cuda_start(cu, diags), GpStatus_Ok);
    cu->context_set(mine);
    assert_int_equal(gp_device_open(rt, GP_STR("cuda"), diags, &d, NULL), GpStatus_Ok);
    assert_false(d->is_retained);
    GpShape shape = {{8}, 1};
    assert_int_equal(gp_tensor_new(d, GpElem_F32, &shape, line(0), diags, &t), GpStatus_Ok);
    GpScalar one = {.elem = GpElem_F32, .f = 1};
    assert_int_equal(gp_tensor_fill(t, one, line(0), diags), GpStatus_Ok);
    assert_int_equal(gp_tensor_sync(t, line(1), diags), GpStatus_Ok);
    gp_tensor_release(t);
    GpCuContext after = NULL;
    cu->context_get(&after);
    assert_ptr_equal(after, mine);
    cu->context_set(NULL);
    gp_runtime_free(rt);
    gp_diags_release(diags);
    assert_int_equal(s.bytes, 0);
    assert_int_equal(fake_live(), 0);
}

static int asked;
static bool interrupt_later(void *ud) {
    (void)ud;
    return ++asked > 3;
}

/* A wait ends when the host asks, and can be taken up again. */
static void test_interrupt(void **state) {
    (void)state;
    World w;
    open_world(&w);
    GpTensor *x = new_iota(&w, 4, "x"), *z = new_iota(&w, 4, "z");
    ScaleCall c;
    for (int i = 0; i < 1000; i++)
        expect_status(&w, gp_launch_now(w.rt, call_scale(&w, &c, z, x, 4, 2), NULL, w.diags),
                      GpStatus_Ok);
    asked = 0;
    w.s.hooks.interrupted = interrupt_later;
    assert_int_equal(gp_tensor_sync(z, line(1), w.diags), GpStatus_Interrupted);
    w.s.hooks.interrupted = NULL;
    expect_status(&w, gp_tensor_sync(z, line(1), w.diags), GpStatus_Ok);
    gp_tensor_release(x);
    gp_tensor_release(z);
    close_world(&w);
}

/* A child of fork() is refused and may exit; the parent goes on. */
static void test_fork(void **state) {
    (void)state;
    World w;
    open_world(&w);
    GpTensor *x = new_iota(&w, 4, "x");
    assert_false(gp_runtime_is_forked(w.rt));
    pid_t child = fork();
    if (child == 0) {
        float host[4];
        bool is_refused =
            gp_tensor_read(x, host, sizeof host, line(1), w.diags) == GpStatus_Forked;
        gp_tensor_release(x);
        gp_exec_release(w.scale);
        gp_runtime_free(w.rt);
        _exit(is_refused ? 0 : 1);
    }
    int status = -1;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    gp_tensor_release(x);
    close_world(&w);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_outcomes), cmocka_unit_test(test_missing), cmocka_unit_test(test_names),
    cmocka_unit_test(test_images),   cmocka_unit_test(test_memory),  cmocka_unit_test(test_sticky),
    cmocka_unit_test(test_interrupt), cmocka_unit_test(test_fork),
    cmocka_unit_test(test_host_context), cmocka_unit_test(test_tensor_maps),
    cmocka_unit_test(test_persistent),
    cmocka_unit_test(test_dependent),
};
RUN_TESTS(tests)
