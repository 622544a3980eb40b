/* Layouts, exhaustively: every register of every lane and warp of blocked layouts over all small
** shapes of rank 1 to 3, against a count of how often each element is held. */
#include "dsl/ir/layout.h"
#include "spec/unit/unit.h"

enum { MAX_ELEMENTS = 4096 };

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
    memset(held, 0, sizeof held);
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
    const GpLayout *l = gp_layout_blocked(arena, shape, vector, threads);
    check_layout(l, shape, threads);
    uint32_t inner = power_part(shape->dim[shape->rank - 1]);
    assert_true(gp_layout_run(l) >= GP_MIN(vector, inner));
    gp_arena_restore(arena, mark);
}

static void each_width(GpArena *arena, const GpShape *shape) {
    for (uint32_t vector = 1; vector <= 8; vector *= 2)
        for (uint32_t threads = 32; threads <= 128; threads *= 4)
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
    const GpLayout *l = gp_layout_blocked(arena, &shape, 4, 128);
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
    const GpLayout *l = gp_layout_blocked(arena, &shape, 2, 32);
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
    const GpLayout *x = gp_layout_blocked(arena, &a, 4, 32);
    assert_true(gp_layout_equal(x, gp_layout_blocked(arena, &a, 4, 32)));
    assert_false(gp_layout_equal(x, gp_layout_blocked(arena, &a, 2, 32)));
    assert_false(gp_layout_equal(x, gp_layout_blocked(arena, &b, 4, 32)));
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
    };
    return cmocka_run_group_tests(tests, open_arena, close_arena);
}
