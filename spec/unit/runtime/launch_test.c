/* Launches: numbers, order across streams, failed checks, and what happens to ops. */
#include "spec/unit/runtime/support.h"

static void launch(World *w, GpTensor *out, GpTensor *in, double by, uint32_t n, GpStream *s) {
    ScaleCall c;
    call_scale(w, &c, out, in, n, 2);
    c.args[2].scalar.f = by;
    expect_status(w, gp_launch_now(w->rt, &c.r, s, w->diags), GpStatus_Ok);
}

static void test_numbers(void **state) {
    (void)state;
    static const int64_t sizes[] = {1, 7, 1000, 1025, 1 << 20};
    World w;
    open_world(&w);
    for (size_t i = 0; i < GP_COUNT(sizes); i++) {
        int64_t n = sizes[i];
        GpTensor *x = new_iota(&w, n, "x"), *z = new_iota(&w, n, "z");
        launch(&w, z, x, 3, (uint32_t)n, NULL);
        float *host = malloc((size_t)n * 4);
        expect_status(&w, gp_tensor_read(z, host, (size_t)n * 4, line(1), w.diags), GpStatus_Ok);
        for (int64_t k = 0; k < n; k++)
            assert_true(host[k] == 3 * (float)k);
        free(host);
        gp_tensor_release(x);
        gp_tensor_release(z);
        w.name_count = 0;
    }
    close_world(&w);
}

/* A chain over streams: each step needs the one before, and overwrites what another reads. */
static void test_streams(void **state) {
    (void)state;
    World w;
    open_world(&w);
    GpStream *s[6];
    GpTensor *a = new_iota(&w, 64, "a"), *b = new_iota(&w, 64, "b"), *c[6];
    for (int i = 0; i < 6; i++) {
        expect_status(&w, gp_stream_new(w.device, w.diags, &s[i]), GpStatus_Ok);
        c[i] = new_iota(&w, 64, "c");
    }
    for (int round = 0; round < 5; round++) {
        launch(&w, b, a, 2, 64, s[0]);          /* b = 2a */
        for (int i = 1; i < 6; i++)
            launch(&w, c[i], b, i, 64, s[i]);   /* five readers of b */
        launch(&w, b, a, 7, 64, s[1]);          /* behind all of them */
        launch(&w, a, c[5], 0.1, 64, s[2]);     /* a = 10a/10: behind the readers of a */
        launch(&w, c[0], b, 1, 64, s[3]);
    }
    for (int i = 1; i < 6; i++)
        assert_true(peek(&w, c[i], 3) == 2.0 * 3 * i);
    assert_true(peek(&w, c[0], 3) == 21);
    /* memory goes behind the work that uses it, whoever wrote it last */
    launch(&w, b, a, 5, 64, s[4]);
    gp_tensor_release(a);
    GpStream *main_stream = gp_device_default_stream(w.device); /* where it is freed */
    expect_status(&w, gp_stream_sync(main_stream, w.diags), GpStatus_Ok);
    assert_true(peek(&w, b, 4) == 20);
    GpStream *again;
    for (int i = 0; i < 6; i++) {
        expect_status(&w, gp_stream_sync(s[i], w.diags), GpStatus_Ok);
        assert_true(gp_stream_is_idle(s[i]));
        gp_stream_release(s[i]);
        gp_tensor_release(c[i]);
    }
    expect_status(&w, gp_stream_new(w.device, w.diags, &again), GpStatus_Ok);
    gp_stream_release(again);
    gp_tensor_release(b);
    expect_status(&w, gp_device_sync(w.device, w.diags), GpStatus_Ok);
    close_world(&w);
}

static void test_failure(void **state) {
    (void)state;
    World w;
    open_world(&w);
    GpTensor *x = new_iota(&w, 8, "x"), *z = new_iota(&w, 16, "z");
    GpRunOp *op;
    ScaleCall c;
    float host[16];
    expect_status(&w, gp_op_make(w.rt, call_scale(&w, &c, z, x, 9, 3), w.diags, &op), GpStatus_Ok);
    assert_int_equal(gp_op_sync(op, NULL, line(4), w.diags), GpStatus_Diagnostics);
    expect_text(&w, "failure.txt");
    assert_true(gp_op_is_done(op));
    expect_code(&w, gp_op_sync(op, NULL, line(4), w.diags), "G0401");
    gp_op_release(op);
    expect_code(&w, gp_tensor_read(z, host, sizeof host, line(5), w.diags), "G0401");
    expect_code(&w, gp_tensor_sync(z, line(1), w.diags), "G0401");
    expect_status(&w, gp_device_sync(w.device, w.diags), GpStatus_Ok); /* it was told already */
    assert_true(peek(&w, x, 7) == 7); /* only what was written has failed */
    /* the device stays usable, and the next launch is judged by itself */
    expect_status(&w, gp_op_make(w.rt, call_scale(&w, &c, z, x, 8, 3), w.diags, &op), GpStatus_Ok);
    expect_status(&w, gp_op_sync(op, NULL, line(4), w.diags), GpStatus_Ok);
    gp_op_release(op);
    expect_code(&w, gp_tensor_read(z, host, sizeof host, line(5), w.diags), "G0401");
    /* overwritten whole: by a write, a fill, or a launch that says so */
    expect_status(&w, gp_tensor_fill(z, (GpScalar){.elem = GpElem_F32, .f = 4}, line(5), w.diags),
                  GpStatus_Ok);
    assert_true(peek(&w, z, 15) == 4);
    launch(&w, z, x, 2, 9, NULL);
    expect_code(&w, gp_stream_sync(gp_device_default_stream(w.device), w.diags), "G0401");
    call_scale(&w, &c, z, z, 8, 3);
    c.args[1].tensor = x;
    c.args[0].is_overwritten = true;
    expect_status(&w, gp_launch_now(w.rt, &c.r, NULL, w.diags), GpStatus_Ok);
    assert_true(peek(&w, z, 7) == 14);
    /* a failure that nobody asked about before the overwriting is gone */
    GpScalar four = {.elem = GpElem_F32, .f = 4};
    launch(&w, z, x, 2, 9, NULL);
    expect_status(&w, gp_tensor_fill(z, four, line(5), w.diags), GpStatus_Ok);
    expect_status(&w, gp_tensor_read(z, host, sizeof host, line(5), w.diags), GpStatus_Ok);
    /* of two failures the first stays; a copy of failed data is refused */
    launch(&w, z, x, 2, 9, NULL);
    launch(&w, z, x, 2, 12, NULL);
    GpTensor *y = new_iota(&w, 16, "y");
    expect_code(&w, gp_tensor_copy(y, z, line(5), w.diags), "G0401");
    gp_tensor_release(x);
    gp_tensor_release(y);
    gp_tensor_release(z);
    close_world(&w);
}

/* More launches than there are mailboxes, with the written tensor gone before the end. */
static void test_many(void **state) {
    (void)state;
    World w;
    open_world(&w);
    GpTensor *x = new_iota(&w, 4, "x"), *z = new_iota(&w, 4, "z");
    for (int i = 0; i < 20000; i++)
        launch(&w, z, x, 2, i == 19999 ? 5 : 4, NULL);
    gp_tensor_release(z);
    expect_code(&w, gp_device_sync(w.device, w.diags), "G0401");
    gp_tensor_release(x);
    close_world(&w);
}

static void test_limits(void **state) {
    (void)state;
    World w;
    open_world(&w);
    GpTensor *x = new_iota(&w, 4, "x"), *z = new_iota(&w, 4, "z"), *far;
    GpDevice *other;
    ScaleCall c;
    call_scale(&w, &c, z, x, 4, 2);
    c.r.grid.grid[1] = 65536;
    assert_int_equal(gp_launch_now(w.rt, &c.r, NULL, w.diags), GpStatus_Diagnostics);
    forget_diags(&w);
    call_scale(&w, &c, z, x, 4, 2);
    c.r.grid.block[0] = 2000;
    expect_code(&w, gp_launch_now(w.rt, &c.r, NULL, w.diags), "G0304");
    c.r.grid.block[0] = 512;
    c.r.grid.block[1] = 4;
    expect_code(&w, gp_launch_now(w.rt, &c.r, NULL, w.diags), "G0304");
    call_scale(&w, &c, z, x, 4, 2);
    c.r.arg_count = 2;
    expect_code(&w, gp_launch_now(w.rt, &c.r, NULL, w.diags), "G0307");
    c.r.arg_count = 3;
    c.args[1].tensor = NULL;
    expect_code(&w, gp_launch_now(w.rt, &c.r, NULL, w.diags), "G0307");
    expect_status(&w, gp_device_open(w.rt, GP_STR("interp"), w.diags, &other, NULL), GpStatus_Ok);
    if (other != w.device) {
        expect_status(&w, gp_tensor_new(other, GpElem_F32, &(GpShape){{4}, 1}, line(1), w.diags,
                                        &far), GpStatus_Ok);
        call_scale(&w, &c, z, far, 4, 2);
        expect_code(&w, gp_launch_now(w.rt, &c.r, NULL, w.diags), "G0303");
        gp_tensor_release(far);
    }
    launch(&w, z, x, 9, 0, NULL); /* no blocks: nothing to do */
    assert_true(peek(&w, z, 3) == 3);
    gp_tensor_release(x);
    gp_tensor_release(z);
    close_world(&w);
}

static bool launch_once(World *w, GpTensor *const *t) {
    ScaleCall c;
    GpRunOp *op = NULL;
    bool is_done =
        gp_tensor_fill(t[0], (GpScalar){.elem = GpElem_F32}, line(0), w->diags) == GpStatus_Ok &&
        gp_op_make(w->rt, call_scale(w, &c, t[1], t[0], 4, 0), w->diags, &op) == GpStatus_Ok &&
        gp_op_sync(op, NULL, line(0), w->diags) == GpStatus_Ok;
    gp_op_release(op);
    return is_done;
}

static bool run_all_once(GpSession *s) { return use_poor_world(s, launch_once); }

/* Whatever allocation fails, nothing leaks and nothing is half done. */
static void test_out_of_memory(void **state) {
    (void)state;
    assert_true(fail_every_allocation(run_all_once) > 5);
    assert_int_equal(fake_live(), 0);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_numbers), cmocka_unit_test(test_streams),
    cmocka_unit_test(test_failure), cmocka_unit_test(test_many),
    cmocka_unit_test(test_limits),  cmocka_unit_test(test_out_of_memory),
};
RUN_TESTS(tests)
