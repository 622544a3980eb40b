/* Ownership: states, loans and the words of every verdict (the .txt files beside this one). */
#include "spec/unit/runtime/support.h"

static GpRunOp *make_op(World *w, GpTensor *out, GpTensor *in, uint32_t at) {
    ScaleCall c;
    GpRunOp *op;
    expect_status(w, gp_op_make(w->rt, call_scale(w, &c, out, in, 8, at), w->diags, &op),
                  GpStatus_Ok);
    return op;
}

static void refuse(World *w, GpStatus status, const char *file) {
    assert_int_equal(status, GpStatus_Diagnostics);
    assert_int_equal(gp_diags_count(w->diags), 1);
    expect_text(w, file);
}

static void test_loans(void **state) {
    (void)state;
    World w;
    open_world(&w);
    GpTensor *x = new_iota(&w, 8, "x"), *z = new_iota(&w, 8, "z"), *other = new_iota(&w, 8, "o");
    GpRunOp *op = make_op(&w, z, x, 2);
    GpScalar zero = {.elem = GpElem_F32};
    GpPartition *p;
    ScaleCall c;
    GpRunOp *second;
    refuse(&w, gp_tensor_check(z, GpAccess_Read, line(3), w.diags), "loan_read.txt");
    refuse(&w, gp_tensor_check(z, GpAccess_Write, line(3), w.diags), "loan_write.txt");
    refuse(&w, gp_tensor_check(x, GpAccess_Write, line(3), w.diags), "loan_write_read.txt");
    refuse(&w, gp_tensor_fill(x, zero, line(3), w.diags), "loan_assign.txt");
    refuse(&w, gp_partition_new(z, &(GpShape){{4}, 1}, GpAccess_Move, line(3), w.diags, &p),
           "loan_move.txt");
    refuse(&w, gp_tensor_drop(z, line(3), w.diags), "loan_drop.txt");
    expect_status(&w, gp_tensor_check(x, GpAccess_Read, line(3), w.diags), GpStatus_Ok);
    GpStatus status = gp_op_make(w.rt, call_scale(&w, &c, z, other, 8, 4), w.diags, &second);
    expect_code(&w, status, "E0499");
    assert_true(w.collections >= 6); /* each verdict asked the collector first */
    expect_status(&w, gp_op_run(op, NULL, line(5), w.diags), GpStatus_Ok);
    expect_status(&w, gp_tensor_check(z, GpAccess_Move, line(6), w.diags), GpStatus_Ok);
    refuse(&w, gp_op_run(op, NULL, line(6), w.diags), "second_run.txt");
    gp_op_release(op);
    gp_tensor_release(x);
    gp_tensor_release(z);
    gp_tensor_release(other);
    assert_int_equal(w.written.len, 0);
    close_world(&w);
}

static void test_pairs(void **state) {
    (void)state;
    World w;
    open_world(&w);
    GpTensor *z = new_iota(&w, 8, "z"), *low, *high, *middle;
    const int64_t at[] = {0, 4, 2, 8, 6};
    expect_status(&w, gp_tensor_slice(z, &at[0], &at[1], line(1), w.diags, &low), GpStatus_Ok);
    expect_status(&w, gp_tensor_slice(z, &at[1], &at[3], line(1), w.diags, &high), GpStatus_Ok);
    expect_status(&w, gp_tensor_slice(z, &at[2], &at[4], line(1), w.diags, &middle), GpStatus_Ok);
    call_it(&w, low, "low");
    call_it(&w, high, "high");
    ScaleCall c;
    refuse(&w, gp_launch_now(w.rt, call_scale(&w, &c, z, z, 8, 2), NULL, w.diags), "pair_read.txt");
    call_scale(&w, &c, z, z, 8, 2);
    c.args[1].access = GpAccess_Write;
    refuse(&w, gp_launch_now(w.rt, &c.r, NULL, w.diags), "pair_write.txt");
    expect_code(&w, gp_launch_now(w.rt, call_scale(&w, &c, low, middle, 4, 2), NULL, w.diags),
                "E0502");
    expect_status(&w, gp_launch_now(w.rt, call_scale(&w, &c, low, high, 4, 2), NULL, w.diags),
                  GpStatus_Ok);
    float host[8];
    expect_status(&w, gp_tensor_read(z, host, sizeof host, line(2), w.diags), GpStatus_Ok);
    assert_true(host[0] == 8 && host[3] == 14 && host[4] == 4);
    /* an idle view holds nothing; a loan on a part leaves the rest free */
    GpRunOp *op = make_op(&w, low, high, 3);
    expect_code(&w, gp_tensor_check(z, GpAccess_Read, line(4), w.diags), "E0502");
    expect_status(&w, gp_tensor_check(high, GpAccess_Read, line(4), w.diags), GpStatus_Ok);
    refuse(&w, gp_tensor_check(middle, GpAccess_Read, line(4), w.diags), "loan_view.txt");
    gp_op_release(op);
    assert_string_equal(gp_text_cstr(&w.written),
                        "gpulua: op made at script.lua:3 was dropped without being run\n");
    expect_status(&w, gp_tensor_check(z, GpAccess_Write, line(4), w.diags), GpStatus_Ok);
    gp_tensor_release(z);
    gp_tensor_release(low);
    gp_tensor_release(high);
    gp_tensor_release(middle);
    close_world(&w);
}

static void test_partitions(void **state) {
    (void)state;
    World w;
    open_world(&w);
    GpShape tile = {{4, 3}, 2};
    GpTensor *flat = new_iota(&w, 60, "flat"), *z, *back, *part;
    expect_status(&w, gp_tensor_reshape(flat, &(GpShape){{10, 6}, 2}, line(1), w.diags, &z),
                  GpStatus_Ok);
    call_it(&w, z, "z");
    GpPartition *p, *q;
    uint32_t grid[3];
    expect_status(&w, gp_partition_new(z, &tile, GpAccess_Move, line(2), w.diags, &p),
                  GpStatus_Ok);
    call_it(&w, p, "p");
    assert_true(gp_partition_grid(p, grid));
    assert_true(grid[0] == 3 && grid[1] == 2 && grid[2] == 1);
    refuse(&w, gp_tensor_check(flat, GpAccess_Read, line(3), w.diags), "moved.txt");
    refuse(&w, gp_tensor_check(z, GpAccess_Write, line(3), w.diags), "moved_view.txt");
    expect_code(&w, gp_partition_new(z, &tile, GpAccess_Write, line(3), w.diags, &q), "E0382");
    expect_code(&w, gp_tensor_drop(z, line(3), w.diags), "E0382");
    expect_status(&w, gp_partition_unwrap(p, line(4), w.diags, &back), GpStatus_Ok);
    assert_ptr_equal(back, z);
    expect_status(&w, gp_tensor_check(flat, GpAccess_Read, line(5), w.diags), GpStatus_Ok);
    refuse(&w, gp_partition_unwrap(p, line(5), w.diags, &part), "ended.txt");
    gp_partition_release(p);
    gp_tensor_release(back);
    /* one that dies gives the storage back */
    expect_status(&w, gp_partition_new(z, &tile, GpAccess_Move, line(2), w.diags, &p),
                  GpStatus_Ok);
    gp_partition_release(p);
    expect_status(&w, gp_tensor_check(z, GpAccess_Write, line(3), w.diags), GpStatus_Ok);
    /* a borrowing one holds nothing */
    expect_status(&w, gp_partition_new(z, &tile, GpAccess_Write, line(2), w.diags, &p),
                  GpStatus_Ok);
    expect_status(&w, gp_tensor_check(flat, GpAccess_Write, line(3), w.diags), GpStatus_Ok);
    gp_partition_release(p);
    const int64_t start[] = {0, 0}, stop[] = {5, 6};
    refuse(&w, gp_partition_new(z, &(GpShape){{4}, 1}, GpAccess_Write, line(2), w.diags, &p),
           "tile_rank.txt");
    expect_code(&w, gp_partition_new(z, &(GpShape){{4, 0}, 2}, GpAccess_Move, line(2), w.diags, &p),
                "G0312");
    expect_status(&w, gp_tensor_slice(z, start, stop, line(1), w.diags, &part), GpStatus_Ok);
    call_it(&w, part, "part");
    refuse(&w, gp_partition_new(part, &tile, GpAccess_Move, line(2), w.diags, &p),
           "move_part.txt");
    expect_code(&w, gp_tensor_drop(part, line(2), w.diags), "E0507");
    gp_tensor_release(part);
    gp_tensor_release(z);
    gp_tensor_release(flat);
    close_world(&w);
}

static void test_partition_in_op(void **state) {
    (void)state;
    World w;
    open_world(&w);
    GpTensor *z = new_iota(&w, 8, "z"), *x = new_iota(&w, 8, "x"), *back;
    GpPartition *p;
    GpRunOp *op;
    ScaleCall c;
    expect_status(&w, gp_partition_new(z, &(GpShape){{1}, 1}, GpAccess_Move, line(2), w.diags, &p),
                  GpStatus_Ok);
    call_it(&w, p, "p");
    call_scale(&w, &c, z, x, 8, 3);
    c.args[2].scalar.f = 3;
    expect_code(&w, gp_launch_now(w.rt, &c.r, NULL, w.diags), "E0382"); /* not through p */
    c.args[0].partition = p;
    expect_status(&w, gp_op_make(w.rt, &c.r, w.diags, &op), GpStatus_Ok);
    refuse(&w, gp_partition_unwrap(p, line(4), w.diags, &back), "unwrap_lent.txt");
    expect_status(&w, gp_op_sync(op, NULL, line(5), w.diags), GpStatus_Ok);
    gp_op_release(op);
    expect_status(&w, gp_partition_unwrap(p, line(5), w.diags, &back), GpStatus_Ok);
    GpScalar got;
    expect_status(&w, gp_tensor_peek(back, 7, &got, line(6), w.diags), GpStatus_Ok);
    assert_true(got.f == 21);
    gp_partition_release(p);
    gp_tensor_release(back);
    gp_tensor_release(z);
    gp_tensor_release(x);
    close_world(&w);
}

static void test_freed_frozen(void **state) {
    (void)state;
    World w;
    open_world(&w);
    GpTensor *x = new_iota(&w, 8, "x"), *z = new_iota(&w, 8, "z");
    GpScalar one = {.elem = GpElem_F32, .f = 1};
    GpPartition *p;
    float host[8];
    expect_status(&w, gp_tensor_freeze(x, line(2), w.diags), GpStatus_Ok);
    assert_true(gp_tensor_is_frozen(x));
    refuse(&w, gp_tensor_fill(x, one, line(3), w.diags), "frozen.txt");
    refuse(&w, gp_partition_new(x, &(GpShape){{4}, 1}, GpAccess_Move, line(3), w.diags, &p),
           "frozen_move.txt");
    expect_status(&w, gp_tensor_read(x, host, sizeof host, line(3), w.diags), GpStatus_Ok);
    expect_status(&w, gp_tensor_drop(z, line(2), w.diags), GpStatus_Ok);
    expect_status(&w, gp_tensor_drop(z, line(3), w.diags), GpStatus_Ok);
    refuse(&w, gp_tensor_read(z, host, sizeof host, line(3), w.diags), "freed.txt");
    ScaleCall c;
    expect_code(&w, gp_launch_now(w.rt, call_scale(&w, &c, z, x, 8, 2), NULL, w.diags), "G0302");
    gp_tensor_release(x);
    gp_tensor_release(z);
    close_world(&w);
}

/* By value: moved with the op, given back by one that dies, gone with one that runs. */
static void test_by_value(void **state) {
    (void)state;
    World w;
    open_world(&w);
    GpTensor *x = new_iota(&w, 8, "x"), *z = new_iota(&w, 8, "z");
    ScaleCall c;
    GpRunOp *op;
    call_scale(&w, &c, z, x, 8, 2);
    c.args[1].access = GpAccess_Move;
    expect_status(&w, gp_op_make(w.rt, &c.r, w.diags, &op), GpStatus_Ok);
    expect_code(&w, gp_tensor_check(x, GpAccess_Read, line(3), w.diags), "E0382");
    gp_op_release(op);
    expect_status(&w, gp_tensor_check(x, GpAccess_Write, line(3), w.diags), GpStatus_Ok);
    c.args[0].tensor = x;
    expect_code(&w, gp_launch_now(w.rt, &c.r, NULL, w.diags), "E0505");
    c.args[0].tensor = z;
    expect_status(&w, gp_launch_now(w.rt, &c.r, NULL, w.diags), GpStatus_Ok);
    refuse(&w, gp_tensor_check(x, GpAccess_Read, line(3), w.diags), "by_value.txt");
    expect_code(&w, gp_tensor_drop(x, line(3), w.diags), "E0382");
    GpScalar got;
    expect_status(&w, gp_tensor_peek(z, 3, &got, line(3), w.diags), GpStatus_Ok);
    assert_true(got.f == 6);
    gp_tensor_release(x);
    gp_tensor_release(z);
    close_world(&w);
}

static void drop_garbage(World *w) {
    gp_op_release(w->garbage);
    w->garbage = NULL;
    w->on_collect = NULL;
}

/* A loan that only garbage holds is no reason to refuse. */
static void test_collector(void **state) {
    (void)state;
    World w;
    open_world(&w);
    GpTensor *x = new_iota(&w, 8, "x"), *z = new_iota(&w, 8, "z");
    w.garbage = make_op(&w, z, x, 2);
    w.on_collect = drop_garbage;
    expect_status(&w, gp_tensor_check(z, GpAccess_Move, line(3), w.diags), GpStatus_Ok);
    assert_int_equal(w.collections, 1);
    gp_tensor_release(x);
    gp_tensor_release(z);
    close_world(&w);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_loans),      cmocka_unit_test(test_pairs),
    cmocka_unit_test(test_partitions), cmocka_unit_test(test_partition_in_op),
    cmocka_unit_test(test_freed_frozen), cmocka_unit_test(test_collector),
    cmocka_unit_test(test_by_value),
};
RUN_TESTS(tests)
