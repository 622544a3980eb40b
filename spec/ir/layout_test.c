/* Layouts, exhaustively: every register of every lane and warp of blocked layouts over all small
** shapes of rank 1 to 3, against a count of how often each element is held. */
#include "dsl/ir/layout.h"
#include "spec/unit/unit.h"

enum { MAX_ELEMENTS = 1 << 15 };

static int64_t numel(const GpShape *s) {
    int64_t n = 1;
    assert_true(gp_shape_numel(s, &n));
    return n;
}

static uint32_t power_part(int64_t n) { return (uint32_t)(n & -n); }

/* Each element is held, all equally often; coordinates stay in range; runs are consecutive. */
static void check_layout(const GpLayout *l, const GpShape *shape, uint32_t threads) {
    static int held[MAX_ELEMENTS];
    int64_t n = numel(shape);
    uint32_t registers = gp_layout_registers(l), run = gp_layout_run(l);
    GpShape own = gp_layout_shape(l);
    assert_true(gp_shape_eq(&own, shape));
    assert_int_equal(gp_layout_threads(l), threads);
    assert_true(gp_layout_covers(l));
    memset(held, 0, (size_t)n * sizeof held[0]);
    for (uint32_t thread = 0; thread < threads; thread++) {
        int64_t before = 0;
        for (uint32_t reg = 0; reg < registers; reg++) {
            int32_t coord[GP_MAX_RANK];
            gp_layout_at(l, reg, thread % 32, thread / 32, coord);
            int64_t at = 0;
            for (int a = 0; a < shape->rank; a++) {
                assert_true(coord[a] >= 0 && coord[a] < shape->dim[a]);
                at = at * shape->dim[a] + coord[a];
            }
            held[at]++;
            if (reg % run != 0) assert_int_equal(at, before + 1);
            before = at;
        }
    }
    for (int64_t i = 0; i < n; i++)
        assert_int_equal(held[i], (int64_t)registers * threads / n);
}

static void check_blocked(GpArena *arena, const GpShape *shape, uint32_t vector, uint32_t threads) {
    GpMark mark = gp_arena_mark(arena);
    const GpLayout *l = gp_layout_blocked(arena, shape, vector, threads, GP_LAYOUT_STREAM);
    check_layout(l, shape, threads);
    uint32_t inner = power_part(shape->dim[shape->rank - 1]);
    assert_true(gp_layout_run(l) >= GP_MIN(vector, inner));
    gp_arena_restore(arena, mark);
}

static void each_width(GpArena *arena, const GpShape *shape) {
    for (uint32_t vector = 1; vector <= 8; vector *= 2)
        for (uint32_t threads = 32; threads <= 128; threads += 32)
            check_blocked(arena, shape, vector, threads);
}

static void test_blocked(void **state) {
    GpArena *arena = *state;
    static const int64_t dims[] = {1, 2, 3, 4, 6, 7, 8, 12, 16};
    for (int64_t n = 1; n <= 300; n++) each_width(arena, &(GpShape){.dim = {n}, .rank = 1});
    each_width(arena, &(GpShape){.dim = {4096}, .rank = 1});
    for (size_t i = 0; i < GP_COUNT(dims); i++) {
        for (size_t j = 0; j < GP_COUNT(dims); j++) {
            each_width(arena, &(GpShape){.dim = {dims[i], dims[j]}, .rank = 2});
            for (size_t k = 0; k < GP_COUNT(dims); k += 2)
                each_width(arena, &(GpShape){.dim = {dims[i], dims[j], dims[k]}, .rank = 3});
        }
    }
}

static void test_documented_order(void **state) {
    GpArena *arena = *state;
    GpShape shape = {.dim = {4, 256}, .rank = 2};
    const GpLayout *l = gp_layout_blocked(arena, &shape, 4, 128, GP_LAYOUT_STREAM);
    int32_t c[GP_MAX_RANK];
    assert_int_equal(gp_layout_registers(l), 8);
    gp_layout_at(l, 3, 0, 0, c); /* registers run first */
    assert_true(c[0] == 0 && c[1] == 3);
    gp_layout_at(l, 0, 31, 0, c); /* then lanes */
    assert_true(c[0] == 0 && c[1] == 124);
    gp_layout_at(l, 0, 0, 1, c); /* then warps, into the next axis when this one is full */
    assert_true(c[0] == 0 && c[1] == 128);
    gp_layout_at(l, 0, 0, 2, c);
    assert_true(c[0] == 1 && c[1] == 0);
    gp_layout_at(l, 4, 0, 0, c); /* then registers again */
    assert_true(c[0] == 2 && c[1] == 0);
}

/* 192 rows are three times 64: the repetition is the slowest register digit. */
static void test_repetition(void **state) {
    GpArena *arena = *state;
    GpShape shape = {.dim = {192, 2}, .rank = 2};
    const GpLayout *l = gp_layout_blocked(arena, &shape, 2, 32, GP_LAYOUT_STREAM);
    int32_t c[GP_MAX_RANK];
    assert_true(l->atom[0] == 64 && l->repeat[0] == 3);
    assert_int_equal(gp_layout_registers(l), 12);
    gp_layout_at(l, 4, 0, 0, c);
    assert_true(c[0] == 64 && c[1] == 0);
    gp_layout_at(l, 11, 31, 0, c);
    assert_true(c[0] == 128 + 32 + 31 && c[1] == 1);
}

static void test_covers(void **state) {
    (void)state;
    GpLayout l = {.rank = 1, .bits = {2, 0, 0}, .atom = {4}, .repeat = {1}};
    l.bases[0][0][0] = 1;
    l.bases[0][1][0] = 1; /* the same bit twice: 2 and 3 are never held */
    assert_false(gp_layout_covers(&l));
    l.bases[0][1][0] = 3; /* a swizzle */
    assert_true(gp_layout_covers(&l));
    assert_int_equal(gp_layout_run(&l), 1);
    l.bases[0][1][0] = 4; /* outside */
    assert_false(gp_layout_covers(&l));
    GpLayout odd = {.rank = 1, .atom = {3}, .repeat = {1}};
    assert_false(gp_layout_covers(&odd));
    GpLayout scalar = {.rank = 0};
    assert_true(gp_layout_covers(&scalar));
    assert_int_equal(gp_layout_registers(&scalar), 1);
}

/* A lane that flips the lowest bit breaks the ascending run. */
static void test_run_with_foreign_bits(void **state) {
    (void)state;
    GpLayout l = {.rank = 1, .bits = {2, 1, 0}, .atom = {8}, .repeat = {1}};
    l.bases[0][0][0] = 1;
    l.bases[0][1][0] = 2;
    l.bases[1][0][0] = 4;
    assert_int_equal(gp_layout_run(&l), 4);
    l.bases[1][0][0] = 6;
    assert_int_equal(gp_layout_run(&l), 2);
    l.bases[1][0][0] = 5;
    assert_int_equal(gp_layout_run(&l), 1);
}

static void test_equal(void **state) {
    GpArena *arena = *state;
    GpShape a = {.dim = {8, 32}, .rank = 2}, b = {.dim = {32, 8}, .rank = 2};
    const GpLayout *x = gp_layout_blocked(arena, &a, 4, 32, GP_LAYOUT_STREAM);
    assert_true(gp_layout_equal(x, gp_layout_blocked(arena, &a, 4, 32, GP_LAYOUT_STREAM)));
    assert_false(gp_layout_equal(x, gp_layout_blocked(arena, &a, 2, 32, GP_LAYOUT_STREAM)));
    assert_false(gp_layout_equal(x, gp_layout_blocked(arena, &b, 4, 32, GP_LAYOUT_STREAM)));
}

/* A slice holds what the layout holds, without the axis, in the same threads. */
static void check_slice(GpArena *arena, const GpLayout *l, int axis) {
    const GpLayout *s = gp_layout_slice(arena, l, axis);
    assert_true(gp_layout_covers(s));
    assert_int_equal(gp_layout_threads(s), gp_layout_threads(l));
    for (uint32_t thread = 0; thread < gp_layout_threads(l); thread++) {
        for (uint32_t r = 0; r < gp_layout_registers(l); r++) {
            int32_t want[GP_MAX_RANK], at[GP_MAX_RANK], zero[GP_MAX_RANK];
            uint32_t held = 0;
            gp_layout_at(l, r, 0, 0, zero);
            gp_layout_at(l, r, thread % 32, thread / 32, want);
            for (int a = axis; a + 1 < l->rank; a++) {
                zero[a] = zero[a + 1];
                want[a] = want[a + 1];
            }
            assert_true(gp_layout_register(s, zero, &held));
            gp_layout_at(s, held, thread % 32, thread / 32, at);
            for (int a = 0; a < s->rank; a++) assert_int_equal(at[a], want[a]);
        }
    }
}

static int64_t offset_of(const GpShape *shape, const int32_t *at) {
    int64_t offset = 0;
    for (int a = 0; a < shape->rank; a++) offset = offset * shape->dim[a] + at[a];
    return offset;
}

/* Each thread holds the same row-major offsets in both. */
static void check_reshape(GpArena *arena, const GpLayout *l, const GpShape *shape) {
    GpShape old = gp_layout_shape(l);
    const GpLayout *s = gp_layout_reshape(arena, l, shape);
    assert_non_null(s);
    assert_true(gp_layout_covers(s));
    for (uint32_t thread = 0; thread < gp_layout_threads(l); thread++) {
        for (uint32_t r = 0; r < gp_layout_registers(l); r++) {
            int32_t a[GP_MAX_RANK], b[GP_MAX_RANK];
            gp_layout_at(l, r, thread % 32, thread / 32, a);
            gp_layout_at(s, r, thread % 32, thread / 32, b);
            assert_int_equal(offset_of(&old, a), offset_of(shape, b));
        }
    }
}

static void test_derived(void **state) {
    GpArena *arena = *state;
    static const GpShape shapes[] = {{{8, 64}, 2}, {{4, 8, 16}, 3}, {{6, 24}, 2}, {{3, 5, 8}, 3}};
    for (size_t i = 0; i < GP_COUNT(shapes); i++)
        for (uint32_t vector = 1; vector <= 4; vector *= 4)
            for (int axis = 0; axis < shapes[i].rank; axis++)
                check_slice(arena, gp_layout_blocked(arena, &shapes[i], vector, 64, GP_LAYOUT_STREAM), axis);
    GpShape flat = {{512}, 1}, unit = {{1, 6, 1, 24}, 4}, other = {{12, 12}, 2}, split = {{3, 2, 6, 4}, 4};
    GpShape wide = {{192, 160}, 2}, parts = {{2, 96, 20, 8}, 4}, deep = {{48, 4, 160}, 3};
    const GpLayout *square = gp_layout_blocked(arena, &shapes[0], 4, 64, GP_LAYOUT_STREAM);
    check_reshape(arena, square, &flat);
    check_reshape(arena, gp_layout_blocked(arena, &flat, 2, 32, GP_LAYOUT_STREAM), &shapes[1]);
    const GpLayout *odd = gp_layout_blocked(arena, &shapes[2], 2, 32, GP_LAYOUT_STREAM);
    check_reshape(arena, odd, &unit);
    check_reshape(arena, odd, &split);
    assert_null(gp_layout_reshape(arena, odd, &other));
    for (uint32_t threads = 128; threads <= 512; threads += 128) {
        const GpLayout *sums = gp_layout_mma(arena, &wide, threads, 1);
        check_reshape(arena, sums, &deep);
        check_reshape(arena, gp_layout_reshape(arena, sums, &deep), &wide);
        assert_null(gp_layout_reshape(arena, sums, &parts)); /* of 192 the factor 3 is not the slowest */
        check_slice(arena, sums, 0);
        check_slice(arena, sums, 1);
    }

    GpPerm perm = {{2, 0, 1}, 3};
    const GpLayout *l = gp_layout_blocked(arena, &shapes[1], 2, 64, GP_LAYOUT_STREAM);
    const GpLayout *p = gp_layout_permute(arena, l, &perm);
    int32_t a[GP_MAX_RANK], b[GP_MAX_RANK];
    gp_layout_at(l, 5, 19, 1, a);
    gp_layout_at(p, 5, 19, 1, b);
    assert_true(b[0] == a[2] && b[1] == a[0] && b[2] == a[1]);
}

/* PTX ISA, "Register Fragments for wgmma.mma_async.m64nNk16", accumulator D: in thread t of the
** warpgroup, d[i] is row 16 * (t / 32) + 8 * (i / 2 % 2) + t % 32 / 4, column 8 * (i / 4) +
** 2 * (t % 4) + i % 2. */
static void check_accumulator(GpArena *arena, int32_t n) {
    GpShape shape = {{64, n}, 2};
    const GpLayout *l = gp_layout_mma(arena, &shape, 128, 1);
    check_layout(l, &shape, 128);
    assert_int_equal(gp_layout_registers(l), n / 2);
    for (int32_t t = 0; t < 128; t++) {
        for (int32_t i = 0; i < n / 2; i++) {
            int32_t at[GP_MAX_RANK];
            gp_layout_at(l, (uint32_t)i, (uint32_t)t % 32, (uint32_t)t / 32, at);
            assert_int_equal(at[0], 16 * (t / 32) + 8 * (i / 2 % 2) + t % 32 / 4);
            assert_int_equal(at[1], 8 * (i / 4) + 2 * (t % 4) + i % 2);
        }
    }
}

static void test_accumulator(void **state) {
    GpArena *arena = *state;
    for (int32_t n = 8; n <= 256; n += 8) check_accumulator(arena, n);
    GpShape tall = {{256, 96}, 2}, batch = {{2, 64, 16}, 3};
    const GpLayout *l = gp_layout_mma(arena, &tall, 256, 1);
    int32_t at[GP_MAX_RANK];
    check_layout(l, &tall, 256);
    gp_layout_at(l, 0, 0, 4, at); /* the second warpgroup has the next 64 rows */
    assert_true(at[0] == 64 && at[1] == 0);
    check_layout(gp_layout_mma(arena, &batch, 256, 1), &batch, 256);
    GpShape three = {{192, 96}, 2};
    const GpLayout *groups = gp_layout_mma(arena, &three, 384, 1);
    check_layout(groups, &three, 384);
    assert_int_equal(gp_layout_registers(groups), 48);
    gp_layout_at(groups, 0, 0, 8, at); /* the third warpgroup has the last 64 */
    assert_true(at[0] == 128 && at[1] == 0);
    check_slice(arena, l, 1);
    check_slice(arena, l, 0);
}

static void test_same_thread(void **state) {
    GpArena *arena = *state;
    GpShape wide = {{64, 128}, 2}, narrow = {{64, 32}, 2}, square = {{8, 64}, 2};
    uint32_t map[64];
    const GpLayout *a = gp_layout_slice(arena, gp_layout_mma(arena, &wide, 128, 1), 1);
    const GpLayout *b = gp_layout_slice(arena, gp_layout_mma(arena, &narrow, 128, 1), 1);
    assert_true(gp_layout_same_thread(a, b, map)); /* rows are held alike whatever the width */
    assert_true(map[0] == 0 && map[1] == 1);
    const GpLayout *l = gp_layout_blocked(arena, &square, 4, 32, GP_LAYOUT_STREAM);
    GpLayout swapped = *l;
    memcpy(swapped.bases[0][0], l->bases[0][1], sizeof l->bases[0][0]);
    memcpy(swapped.bases[0][1], l->bases[0][0], sizeof l->bases[0][0]);
    assert_true(gp_layout_same_thread(l, &swapped, map));
    assert_true(map[0] == 0 && map[1] == 2 && map[2] == 1 && map[3] == 3 && map[4] == 4);
    swapped.bases[0][1][1] = 3; /* a sum of two bases: register 2 of it is register 3 */
    swapped.bases[0][0][1] = 2;
    assert_true(gp_layout_same_thread(l, &swapped, map));
    assert_true(map[1] == 2 && map[2] == 3 && map[3] == 1);
    assert_false(gp_layout_same_thread(l, gp_layout_blocked(arena, &square, 2, 32, GP_LAYOUT_STREAM), map));
    assert_false(gp_layout_same_thread(l, gp_layout_blocked(arena, &square, 4, 64, GP_LAYOUT_STREAM), map));
    assert_false(gp_layout_same_thread(gp_layout_blocked(arena, &wide, 4, 128, GP_LAYOUT_STREAM),
                                       gp_layout_mma(arena, &wide, 128, 1), map));
}

static GpSession session;
static int open_arena(void **state) {
    gp_session_init(&session, NULL, NULL, NULL);
    *state = gp_arena_new(&session);
    return 0;
}
static int close_arena(void **state) {
    gp_arena_free(*state);
    return session.bytes != 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_blocked),    cmocka_unit_test(test_documented_order),
        cmocka_unit_test(test_repetition), cmocka_unit_test(test_covers),
        cmocka_unit_test(test_equal),      cmocka_unit_test(test_run_with_foreign_bits),
        cmocka_unit_test(test_derived),    cmocka_unit_test(test_accumulator),
        cmocka_unit_test(test_same_thread),
    };
    return cmocka_run_group_tests(tests, open_arena, close_arena);
}
