/* Graphs: what is recorded does not run, replays do all of it in order, on any stream, and answer
** for failed checks and ownership as launches do. */
#include "spec/unit/runtime/support.h"

static void record(World *w, GpTensor *out, GpTensor *in, double by, uint32_t n) {
    ScaleCall c;
    call_scale(w, &c, out, in, n, 3);
    c.args[2].scalar.f = by;
    expect_status(w, gp_launch_now(w->rt, &c.r, NULL, w->diags), GpStatus_Ok);
}

static GpGraph *begin(World *w) {
    GpGraph *g;
    expect_status(w, gp_graph_begin(w->rt, line(2), w->diags, &g), GpStatus_Ok);
    return g;
}

static void replay(World *w, GpGraph *g, GpStream *s) {
    expect_status(w, gp_graph_launch(g, s, line(4), w->diags), GpStatus_Ok);
}

/* b = 2 a, c = 3 b, a = c / 10: each step needs the one before. */
static void test_order(void **state) {
    (void)state;
    World w;
    open_world(&w);
    GpTensor *a = new_iota(&w, 8, "a"), *b = new_iota(&w, 8, "b"), *c = new_iota(&w, 8, "c");
    GpStream *s[2];
    for (int i = 0; i < 2; i++)
        expect_status(&w, gp_stream_new(w.device, w.diags, &s[i]), GpStatus_Ok);
    GpGraph *g = begin(&w);
    record(&w, b, a, 2, 8);
    record(&w, c, b, 3, 8);
    record(&w, a, c, 0.5, 8);
    record(&w, a, c, 0.5, 0); /* no block is no launch */
    expect_status(&w, gp_graph_end(g, line(2), w.diags), GpStatus_Ok);
    assert_int_equal(gp_graph_count(g), 3);
    assert_ptr_equal(gp_graph_request(g, 1)->args[0].tensor, c);
    assert_true(peek(&w, a, 1) == 1 && peek(&w, b, 1) == 1);
    replay(&w, g, NULL);
    assert_true(peek(&w, a, 1) == 3);
    for (int i = 0; i < 5; i++)
        replay(&w, g, s[i % 2]); /* behind each other, on whatever stream */
    record(&w, b, a, 1, 8); /* and before what comes after */
    assert_true(peek(&w, b, 1) == 3 * 243);
    if (strcmp(test_device, "cuda") == 0)
        assert_int_equal(fake_number("gp_fake_graph_launches"), 6);
    gp_tensor_release(a);
    gp_tensor_release(b);
    replay(&w, g, s[0]); /* it keeps them */
    expect_status(&w, gp_graph_sync(g, w.diags), GpStatus_Ok);
    assert_true(peek(&w, c, 1) == 6 * 729);
    gp_tensor_release(c);
    gp_graph_release(g);
    for (int i = 0; i < 2; i++)
        gp_stream_release(s[i]);
    close_world(&w);
}

/* A mailbox of a graph is looked at for every replay that ended, on the stream of the last. */
static void test_failure(void **state) {
    (void)state;
    World w;
    open_world(&w);
    GpTensor *x = new_iota(&w, 8, "x"), *z = new_iota(&w, 16, "z"), *y = new_iota(&w, 8, "y");
    GpStream *s;
    GpScalar four = {.elem = GpElem_F32, .f = 4};
    float host[16];
    expect_status(&w, gp_stream_new(w.device, w.diags, &s), GpStatus_Ok);
    GpGraph *g = begin(&w);
    record(&w, y, x, 2, 8);
    record(&w, z, x, 2, 9); /* x has 8 */
    expect_status(&w, gp_graph_end(g, line(2), w.diags), GpStatus_Ok);
    for (int turn = 0; turn < 3; turn++) {
        replay(&w, g, NULL);
        replay(&w, g, s);
        record(&w, y, x, 3, 8); /* a launch of its own between replays */
        replay(&w, g, turn ? NULL : s);
        expect_code(&w, gp_graph_sync(g, w.diags), "G0401");
        expect_code(&w, gp_tensor_read(z, host, sizeof host, line(5), w.diags), "G0401");
        assert_true(peek(&w, y, 7) == 14); /* only what was written by the failed launch has failed */
        expect_status(&w, gp_tensor_fill(z, four, line(5), w.diags), GpStatus_Ok);
        assert_true(peek(&w, z, 15) == 4);
    }
    replay(&w, g, s);
    gp_graph_release(g); /* while it is in flight */
    expect_code(&w, gp_tensor_read(z, host, sizeof host, line(5), w.diags), "G0401");
    gp_stream_release(s);
    gp_tensor_release(x);
    gp_tensor_release(y);
    gp_tensor_release(z);
    close_world(&w);
}

/* A replay has the parameters of its recording: the tensor map, the virtual grid. */
static void test_tensor_map(void **state) {
    (void)state;
    if (strcmp(test_device, "cuda") != 0)
        skip(); /* a GPU's */
    World w;
    open_world(&w);
    GpTensor *x = new_tensor(&w, GpElem_F32, (GpShape){{64}, 1}, "x"), *z = new_iota(&w, 64, "z");
    GpTensor *other = new_tensor(&w, GpElem_F32, (GpShape){{32}, 1}, "other");
    GpImage *image = make_scale_map(&w.s, 1);
    GpExec *e;
    ScaleCall c;
    image->is_dependent = true; /* the fake driver captures no such launch */
    expect_status(&w, gp_exec_new(w.device, image, w.diags, &e), GpStatus_Ok);
    gp_image_release(image);
    GpGraph *g = begin(&w);
    for (int i = 0; i < 2; i++) {
        call_scale(&w, &c, z, i ? other : x, 100, 3);
        c.r.exec = e;
        expect_status(&w, gp_launch_now(w.rt, &c.r, NULL, w.diags), GpStatus_Ok);
    }
    expect_status(&w, gp_graph_end(g, line(2), w.diags), GpStatus_Ok);
    assert_int_equal(fake_encodes(), 2);
    assert_int_equal(fake_last()->map.base, gp_tensor_address(other));
    assert_int_equal(fake_last()->map.dims[0], 32);
    assert_int_equal(fake_last()->virtual_grid[0], 100);
    assert_int_equal(fake_last()->grid[0], 50); /* persistent: two even waves */
    gp_graph_release(g);
    gp_exec_release(e);
    gp_tensor_release(x);
    gp_tensor_release(z);
    gp_tensor_release(other);
    close_world(&w);
}

static void test_refused(void **state) {
    (void)state;
    World w;
    open_world(&w);
    GpTensor *x = new_iota(&w, 8, "x"), *z = new_iota(&w, 8, "z"), *t;
    GpGraph *g = begin(&w), *other;
    GpScalar got = {.elem = GpElem_F32};
    float host[8];
    ScaleCall c;
    expect_code(&w, gp_graph_begin(w.rt, line(2), w.diags, &other), "G0343");
    expect_code(&w, gp_tensor_read(z, host, sizeof host, line(5), w.diags), "G0343");
    expect_code(&w, gp_tensor_write(z, host, sizeof host, line(5), w.diags), "G0343");
    expect_code(&w, gp_tensor_fill(z, got, line(5), w.diags), "G0343");
    expect_code(&w, gp_tensor_copy(z, x, line(5), w.diags), "G0343");
    expect_code(&w, gp_tensor_peek(z, 1, &got, line(5), w.diags), "G0343");
    expect_code(&w, gp_graph_end(g, line(2), w.diags), "G0343"); /* nothing in it */
    assert_int_equal(gp_graph_launch(g, NULL, line(4), w.diags), GpStatus_Argument);
    gp_graph_release(g);
    g = begin(&w);
    call_scale(&w, &c, z, x, 8, 3);
    c.args[1].access = GpAccess_Move;
    expect_code(&w, gp_launch_now(w.rt, &c.r, NULL, w.diags), "G0343");
    expect_code(&w, gp_launch_now(w.rt, call_scale(&w, &c, z, z, 8, 3), NULL, w.diags), "E0502");
    record(&w, z, x, 2, 8);
    expect_status(&w, gp_graph_end(g, line(2), w.diags), GpStatus_Ok);
    /* each replay asks again */
    GpRunOp *op;
    expect_status(&w, gp_op_make(w.rt, call_scale(&w, &c, x, z, 8, 3), w.diags, &op), GpStatus_Ok);
    expect_code(&w, gp_graph_launch(g, NULL, line(4), w.diags), "E0502");
    expect_status(&w, gp_op_run(op, NULL, line(4), w.diags), GpStatus_Ok);
    gp_op_release(op);
    replay(&w, g, NULL);
    expect_status(&w, gp_tensor_new(w.device, GpElem_F32, &(GpShape){{4}, 1}, line(1), w.diags, &t),
                  GpStatus_Ok);
    expect_status(&w, gp_tensor_drop(x, line(4), w.diags), GpStatus_Ok);
    expect_code(&w, gp_graph_launch(g, NULL, line(4), w.diags), "G0302");
    gp_graph_release(g);
    gp_graph_release(begin(&w)); /* ends the recording */
    assert_true(peek(&w, z, 1) == 4);
    gp_tensor_release(t);
    gp_tensor_release(x);
    gp_tensor_release(z);
    close_world(&w);
}

/* A launch that cannot be recorded spoils the graph; a closed runtime refuses what is left of it. */
static void test_broken(void **state) {
    (void)state;
    World w;
    open_world(&w);
    GpTensor *x = new_iota(&w, 8, "x"), *z = new_iota(&w, 8, "z");
    ScaleCall c;
    GpGraph *g = begin(&w);
    record(&w, z, x, 2, 8);
    w.s.fail_at = 2; /* the parameter block, after the arguments were held */
    assert_int_equal(gp_launch_now(w.rt, call_scale(&w, &c, z, x, 8, 3), NULL, w.diags),
                     GpStatus_NoMemory);
    w.s.fail_at = 0;
    forget_diags(&w);
    expect_code(&w, gp_graph_end(g, line(2), w.diags), "G0343");
    gp_graph_release(g);
    g = begin(&w);
    record(&w, z, x, 2, 8);
    expect_status(&w, gp_graph_end(g, line(2), w.diags), GpStatus_Ok);
    replay(&w, g, NULL);
    gp_runtime_close(w.rt);
    assert_int_not_equal(gp_graph_launch(g, NULL, line(4), w.diags), GpStatus_Ok);
    gp_graph_release(g);
    gp_tensor_release(x);
    gp_tensor_release(z);
    close_world(&w);
}

static bool replay_once(World *w, GpTensor *const *t) {
    ScaleCall c;
    GpGraph *g = NULL;
    bool is_done = gp_graph_begin(w->rt, line(0), w->diags, &g) == GpStatus_Ok;
    for (int i = 0; i < 10; i++)
        is_done = is_done && gp_launch_now(w->rt, call_scale(w, &c, t[i % 2], t[2], 4, 0), NULL,
                                           w->diags) == GpStatus_Ok;
    is_done = is_done && gp_graph_end(g, line(0), w->diags) == GpStatus_Ok &&
              gp_graph_launch(g, NULL, line(0), w->diags) == GpStatus_Ok &&
              gp_graph_launch(g, NULL, line(0), w->diags) == GpStatus_Ok &&
              gp_graph_sync(g, w->diags) == GpStatus_Ok;
    gp_graph_release(g);
    return is_done;
}

static bool run_all_once(GpSession *s) { return use_poor_world(s, replay_once); }

/* Whatever allocation fails, nothing leaks and nothing records any more. */
static void test_out_of_memory(void **state) {
    (void)state;
    assert_true(fail_every_allocation(run_all_once) > 5);
    assert_int_equal(fake_live(), 0);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_order), cmocka_unit_test(test_failure), cmocka_unit_test(test_refused),
    cmocka_unit_test(test_out_of_memory), cmocka_unit_test(test_tensor_map),
    cmocka_unit_test(test_broken),
};
RUN_TESTS(tests)
