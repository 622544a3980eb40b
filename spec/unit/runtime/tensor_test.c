/* Tensors: data through views of every kind against plain loops, on each device. */
#include "spec/unit/runtime/support.h"

static void test_round_trip(void **state) {
    (void)state;
    static const int64_t sizes[] = {0, 1, 7, 1000, 1025, 1 << 20};
    World w;
    open_world(&w);
    for (size_t i = 0; i < GP_COUNT(sizes); i++) {
        GpTensor *t = new_iota(&w, sizes[i], "t");
        size_t bytes = (size_t)sizes[i] * 4;
        float *host = malloc(bytes + 1);
        expect_status(&w, gp_tensor_read(t, host, bytes, line(1), w.diags), GpStatus_Ok);
        for (int64_t k = 0; k < sizes[i]; k++)
            assert_true(host[k] == (float)k);
        expect_code(&w, gp_tensor_read(t, host, bytes + 1, line(1), w.diags), "G0305");
        free(host);
        gp_tensor_release(t);
        w.name_count = 0;
    }
    GpMemoryInfo info;
    assert_int_equal(gp_device_memory(w.device, &info), GpStatus_Ok);
    assert_int_equal(info.used, 0);
    assert_true(info.peak >= 4 << 20);
    close_world(&w);
}

/* t[6][5][4] as t.permute(2, 0, 1)[1..3][2..6][0..4] */
static GpTensor *view_of(World *w, GpTensor *t) {
    GpTensor *cube, *turned, *part;
    const uint8_t axes[] = {2, 0, 1};
    const int64_t start[] = {1, 2, 0}, stop[] = {3, 6, 4};
    expect_status(w, gp_tensor_reshape(t, &(GpShape){{6, 5, 4}, 3}, line(1), w->diags, &cube),
                  GpStatus_Ok);
    expect_status(w, gp_tensor_permute(cube, axes, line(1), w->diags, &turned), GpStatus_Ok);
    expect_status(w, gp_tensor_slice(turned, start, stop, line(1), w->diags, &part), GpStatus_Ok);
    gp_tensor_release(cube);
    gp_tensor_release(turned);
    return part;
}

static int64_t view_index(int i, int j, int k) { return (j + 2) * 20 + k * 4 + (i + 1); }

static void test_views(void **state) {
    (void)state;
    World w;
    open_world(&w);
    GpTensor *t = new_iota(&w, 120, "t"), *v = view_of(&w, t);
    float part[2][4][4], whole[120];
    assert_true(gp_tensor_is_view(v) && !gp_tensor_is_view(t) && !gp_tensor_is_contiguous(v));
    expect_status(&w, gp_tensor_read(v, part, sizeof part, line(1), w.diags), GpStatus_Ok);
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 4; j++)
            for (int k = 0; k < 4; k++)
                assert_true(part[i][j][k] == (float)view_index(i, j, k));
    GpScalar one;
    expect_status(&w, gp_tensor_peek(v, 17, &one, line(1), w.diags), GpStatus_Ok);
    assert_true(one.f == (double)view_index(1, 0, 1));
    expect_code(&w, gp_tensor_peek(v, 32, &one, line(1), w.diags), "G0315");

    for (int i = 0; i < 32; i++)
        (&part[0][0][0])[i] = -(float)i - 1;
    expect_status(&w, gp_tensor_write(v, part, sizeof part, line(1), w.diags), GpStatus_Ok);
    expect_status(&w, gp_tensor_read(t, whole, sizeof whole, line(1), w.diags), GpStatus_Ok);
    int changed = 0;
    for (int i = 0; i < 120; i++)
        changed += whole[i] != (float)i;
    assert_int_equal(changed, 32);
    assert_true(whole[view_index(1, 2, 3)] == part[1][2][3]);
    gp_tensor_release(t);
    gp_tensor_release(v); /* the last handle, although not the first */
    close_world(&w);
}

static void check_fill(World *w, GpScalar value) {
    uint8_t bytes = gp_elem_info[value.elem].bytes;
    GpTensor *t = new_tensor(w, value.elem, (GpShape){{120}, 1}, "t");
    GpTensor *v = view_of(w, t);
    GpScalar zero = {.elem = value.elem};
    uint8_t host[120 * 8], want[8];
    expect_status(w, gp_tensor_fill(t, zero, line(1), w->diags), GpStatus_Ok);
    expect_status(w, gp_tensor_fill(v, value, line(1), w->diags), GpStatus_Ok);
    expect_status(w, gp_tensor_read(t, host, (size_t)120 * bytes, line(1), w->diags), GpStatus_Ok);
    gp_scalar_store(value, want);
    int filled = 0;
    for (size_t i = 0; i < 120; i++)
        filled += memcmp(host + i * bytes, want, bytes) == 0;
    assert_int_equal(filled, 32);
    assert_memory_equal(host + view_index(1, 3, 3) * bytes, want, bytes);
    gp_tensor_release(t);
    gp_tensor_release(v);
    w->name_count = 0;
}

static void test_fill(void **state) {
    (void)state;
    World w;
    open_world(&w);
    check_fill(&w, (GpScalar){.elem = GpElem_U8, .u = 200});
    check_fill(&w, (GpScalar){.elem = GpElem_F16, .f = -1.5});
    check_fill(&w, (GpScalar){.elem = GpElem_F32, .f = 3.25});
    check_fill(&w, (GpScalar){.elem = GpElem_F64, .f = 0.1});
    check_fill(&w, (GpScalar){.elem = GpElem_I64, .i = -1});
    GpTensor *big = new_tensor(&w, GpElem_F64, (GpShape){{3 << 18}, 1}, "big");
    GpScalar pi = {.elem = GpElem_F64, .f = 3.14}, got;
    expect_status(&w, gp_tensor_fill(big, pi, line(1), w.diags), GpStatus_Ok);
    for (int64_t i = 0; i < 3 << 18; i += 65535) {
        expect_status(&w, gp_tensor_peek(big, i, &got, line(1), w.diags), GpStatus_Ok);
        assert_true(got.f == pi.f);
    }
    gp_tensor_release(big);
    close_world(&w);
}

static void check_copy(World *w, GpDevice *to) {
    GpTensor *t = new_iota(w, 120, "t"), *v = view_of(w, t), *z, *back;
    GpShape shape = {{2, 4, 4}, 3};
    float part[32];
    expect_status(w, gp_tensor_new(to, GpElem_F32, &shape, line(1), w->diags, &z), GpStatus_Ok);
    expect_status(w, gp_tensor_copy(z, v, line(1), w->diags), GpStatus_Ok);
    expect_status(w, gp_tensor_read(z, part, sizeof part, line(1), w->diags), GpStatus_Ok);
    assert_true(part[0] == (float)view_index(0, 0, 0));
    assert_true(part[31] == (float)view_index(1, 3, 3));
    assert_true(part[18] == (float)view_index(1, 0, 2));
    back = new_tensor(w, GpElem_F32, shape, "back");
    expect_status(w, gp_tensor_copy(back, z, line(1), w->diags), GpStatus_Ok);
    GpScalar one;
    expect_status(w, gp_tensor_peek(back, 18, &one, line(1), w->diags), GpStatus_Ok);
    assert_true(one.f == (double)part[18]);
    expect_status(w, gp_tensor_copy(v, back, line(1), w->diags), GpStatus_Ok);
    expect_code(w, gp_tensor_copy(v, t, line(1), w->diags), "G0314");
    expect_code(w, gp_tensor_copy(v, v, line(1), w->diags), "E0502");
    gp_tensor_release(t);
    gp_tensor_release(v);
    gp_tensor_release(z);
    gp_tensor_release(back);
    w->name_count = 0;
}

static void test_copy(void **state) {
    (void)state;
    World w;
    open_world(&w);
    GpDevice *cpu;
    expect_status(&w, gp_device_open(w.rt, GP_STR("cpu"), w.diags, &cpu, NULL), GpStatus_Ok);
    check_copy(&w, w.device);
    check_copy(&w, cpu);
    close_world(&w);
}

static void test_refusals(void **state) {
    (void)state;
    World w;
    open_world(&w);
    GpTensor *t = new_iota(&w, 12, "t"), *out;
    call_it(&w, t, "t");
    const int64_t start[] = {3}, stop[] = {13};
    const uint8_t axes[] = {1};
    assert_int_equal(gp_tensor_reshape(t, &(GpShape){{5, 2}, 2}, line(2), w.diags, &out),
                     GpStatus_Diagnostics);
    expect_text(&w, "reshape.txt");
    assert_int_equal(gp_tensor_slice(t, start, stop, line(2), w.diags, &out),
                     GpStatus_Diagnostics);
    expect_text(&w, "slice.txt");
    expect_code(&w, gp_tensor_permute(t, axes, line(2), w.diags, &out), "G0313");
    GpShape huge = {{INT64_MAX / 4, 8}, 2};
    expect_code(&w, gp_tensor_new(w.device, GpElem_F32, &huge, line(2), w.diags, &out), "G0306");
    GpShape large = {{INT64_C(1) << 50}, 1};
    GpStatus status = gp_tensor_new(w.device, GpElem_U8, &large, line(2), w.diags, &out);
    assert_int_equal(status, GpStatus_DeviceMemory);
    assert_int_equal(w.collections, 2); /* the ladder collects twice */
    expect_code(&w, status, "G0910");
    gp_tensor_release(t);
    close_world(&w);
}

/* Handles may outlive the runtime; they are empty then. */
static void test_late_release(void **state) {
    (void)state;
    World w;
    open_world(&w);
    GpTensor *t = new_iota(&w, 12, "t");
    gp_exec_release(w.scale);
    gp_runtime_free(w.rt);
    float host[12];
    assert_int_not_equal(gp_tensor_read(t, host, sizeof host, line(1), w.diags), GpStatus_Ok);
    assert_int_equal(gp_tensor_address(t), 0);
    gp_tensor_release(t);
    gp_diags_release(w.diags);
    gp_source_release(w.script);
    gp_source_release(w.kernels);
    assert_int_equal(w.s.bytes, 0);
    assert_int_equal(fake_live(), 0);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_round_trip), cmocka_unit_test(test_views),
    cmocka_unit_test(test_fill),       cmocka_unit_test(test_copy),
    cmocka_unit_test(test_refusals),   cmocka_unit_test(test_late_release),
};
RUN_TESTS(tests)
