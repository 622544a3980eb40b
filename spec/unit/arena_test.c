/* Arenas: alignment, zeroing, savepoints, destructors, protection, running out of memory. */
#include "spec/unit/unit.h"

typedef struct Order {
    int seen[8];
    int count;
} Order;

typedef struct Item {
    Order *order;
    int id;
} Item;

static void record_item(void *object) {
    Item *item = object;
    item->order->seen[item->order->count++] = item->id;
}

static void defer_item(GpArena *arena, Item *item) {
    GpDeferred *record = gp_arena_defer(arena);
    record->object = item;
    record->fn = record_item;
}

static void test_alignment_and_zero(void **state) {
    (void)state;
    GpSession s;
    gp_session_init(&s, NULL, NULL, NULL);
    GpArena *arena = gp_arena_new(&s);
    for (size_t size = 0; size < 3000; size += 7) {
        unsigned char *at = gp_arena_alloc(arena, size);
        assert_int_equal((uintptr_t)at % 16, 0);
        for (size_t i = 0; i < size; i++)
            assert_int_equal(at[i], 0);
        memset(at, 0xff, size);
    }
    assert_true(gp_arena_bytes(arena) <= s.bytes);
    gp_arena_free(arena);
    assert_int_equal(s.bytes, 0);
}

static void test_memory_is_zero_after_restore(void **state) {
    (void)state;
    GpSession s;
    gp_session_init(&s, NULL, NULL, NULL);
    GpArena *arena = gp_arena_new(&s);
    int *kept = GP_NEW(arena, int);
    *kept = 41;
    GpMark mark = gp_arena_mark(arena);
    size_t bytes = gp_arena_bytes(arena);
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < 100; i++) {
            unsigned char *at = gp_arena_alloc(arena, 1000);
            assert_int_equal(at[999], 0);
            memset(at, 0xee, 1000);
        }
        gp_arena_restore(arena, mark);
        assert_int_equal(gp_arena_bytes(arena), bytes);
        assert_int_equal(*kept, 41);
    }
    gp_arena_free(arena);
}

static void test_restore_of_empty_mark(void **state) {
    (void)state;
    GpSession s;
    gp_session_init(&s, NULL, NULL, NULL);
    GpArena *arena = gp_arena_new(&s);
    GpMark mark = gp_arena_mark(arena);
    gp_arena_alloc(arena, 100000);
    gp_arena_restore(arena, mark);
    assert_int_equal(gp_arena_bytes(arena), 0);
    gp_arena_free(arena);
}

static void test_destructors_newest_first(void **state) {
    (void)state;
    GpSession s;
    gp_session_init(&s, NULL, NULL, NULL);
    GpArena *arena = gp_arena_new(&s);
    Order order = {.count = 0};
    Item items[4] = {{&order, 1}, {&order, 2}, {&order, 3}, {&order, 4}};
    defer_item(arena, &items[0]);
    GpMark mark = gp_arena_mark(arena);
    defer_item(arena, &items[1]);
    gp_arena_defer(arena); /* never filled */
    gp_arena_alloc(arena, 50000);
    defer_item(arena, &items[2]);
    gp_arena_restore(arena, mark);
    assert_int_equal(order.count, 2);
    assert_int_equal(order.seen[0], 3);
    assert_int_equal(order.seen[1], 2);
    defer_item(arena, &items[3]);
    gp_arena_free(arena);
    assert_int_equal(order.count, 4);
    assert_int_equal(order.seen[2], 4);
    assert_int_equal(order.seen[3], 1);
}

static void test_vector(void **state) {
    (void)state;
    GpSession s;
    gp_session_init(&s, NULL, NULL, NULL);
    GpArena *arena = gp_arena_new(&s);
    GP_VEC(int) v = {0};
    for (int i = 0; i < 1000; i++)
        GP_PUSH(arena, &v, i * i);
    assert_int_equal(v.len, 1000);
    for (int i = 0; i < 1000; i++)
        assert_int_equal(v.at[i], i * i);
    assert_string_equal(gp_arena_printf(arena, "%d-%s", 7, "x"), "7-x");
    gp_arena_free(arena);
}

/* ---- protection ---- */

static void throw_limit(GpSession *s, void *ud) {
    (void)ud;
    gp_throw(s, GpStatus_Limit);
}

static void throw_inside(GpSession *s, void *ud) {
    *(GpStatus *)ud = gp_protect(s, throw_limit, NULL);
    gp_throw(s, GpStatus_Io);
}

static void test_nested_protection(void **state) {
    (void)state;
    GpSession s;
    gp_session_init(&s, NULL, NULL, NULL);
    GpStatus inner = GpStatus_Ok;
    assert_int_equal(gp_protect(&s, throw_inside, &inner), GpStatus_Io);
    assert_int_equal(inner, GpStatus_Limit);
    assert_null(s.jump);
    assert_string_equal(gp_status_name(GpStatus_NoDriver), "no_driver");
    assert_string_equal(gp_status_name(GpStatus_Ok), "ok");
    assert_string_equal(gp_status_text(GpStatus_Interrupted), "interrupted");
}

typedef struct Overflow {
    GpArena *arena;
} Overflow;

static void allocate_too_much(GpSession *s, void *ud) {
    (void)s;
    gp_arena_alloc_array(((Overflow *)ud)->arena, SIZE_MAX / 4, 8);
}

static void test_size_overflow_throws(void **state) {
    (void)state;
    GpSession s;
    gp_session_init(&s, NULL, NULL, NULL);
    Overflow job = {gp_arena_new(&s)};
    assert_int_equal(gp_protect(&s, allocate_too_much, &job), GpStatus_NoMemory);
    gp_arena_free(job.arena);
}

/* ---- every allocation fails ---- */

typedef struct Work {
    GpArena *arena;
    Order order;
    Item items[3];
} Work;

static void do_work(GpSession *s, void *ud) {
    (void)s;
    Work *work = ud;
    for (int i = 0; i < 3; i++) {
        work->items[i] = (Item){&work->order, i};
        defer_item(work->arena, &work->items[i]);
        for (int j = 0; j < 20; j++)
            gp_arena_alloc(work->arena, 2000);
    }
    GP_VEC(int) v = {0};
    for (int i = 0; i < 2000; i++)
        GP_PUSH(work->arena, &v, i);
    GpInterner *in = gp_interner_make(work->arena);
    GpMap map = {0};
    for (int i = 0; i < 500; i++) {
        char name[16];
        int len = snprintf(name, sizeof name, "name%d", i);
        gp_map_set(work->arena, &map, gp_intern(in, name, (size_t)len), work);
    }
}

static bool run_work(GpSession *s) {
    Work work = {.arena = gp_arena_new(s)};
    if (!work.arena)
        return false;
    GpStatus status = gp_protect(s, do_work, &work);
    int deferred = 0;
    while (deferred < 3 && work.items[deferred].order)
        deferred++;
    gp_arena_free(work.arena);
    /* The last record may have failed before it was filled. */
    assert_true(work.order.count == deferred || work.order.count == deferred - 1);
    assert_true(status == GpStatus_Ok || status == GpStatus_NoMemory);
    return status == GpStatus_Ok;
}

static void test_every_allocation_fails(void **state) {
    (void)state;
    assert_true(fail_every_allocation(run_work) > 5);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_alignment_and_zero),
        cmocka_unit_test(test_memory_is_zero_after_restore),
        cmocka_unit_test(test_restore_of_empty_mark),
        cmocka_unit_test(test_destructors_newest_first),
        cmocka_unit_test(test_vector),
        cmocka_unit_test(test_nested_protection),
        cmocka_unit_test(test_size_overflow_throws),
        cmocka_unit_test(test_every_allocation_fails),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
