/* Slices, growing text, interned names, the pointer map. */
#include "spec/unit/unit.h"

static void test_text(void **state) {
    (void)state;
    GpSession s;
    gp_session_init(&s, NULL, NULL, NULL);
    GpText t = {.session = &s};
    assert_string_equal(gp_text_cstr(&t), "");
    gp_text_add(&t, "ab", 2);
    gp_text_puts(&t, "c");
    gp_text_pad(&t, '.', 3);
    gp_text_pad(&t, '.', -1);
    gp_text_printf(&t, "%d|%s", 12, "x");
    assert_string_equal(gp_text_cstr(&t), "abc...12|x");
    assert_int_equal(t.len, 10);
    for (int i = 0; i < 1000; i++)
        gp_text_puts(&t, "0123456789");
    assert_int_equal(t.len, 10010);
    assert_false(t.failed);
    gp_text_free(&t);
    assert_int_equal(s.bytes, 0);
}

static void test_text_keeps_what_it_had(void **state) {
    (void)state;
    GpSession s;
    gp_session_init(&s, NULL, NULL, NULL);
    GpText t = {.session = &s};
    gp_text_puts(&t, "kept");
    s.fail_at = 1;
    for (int i = 0; i < 100; i++)
        gp_text_puts(&t, "0123456789");
    assert_true(t.failed);
    assert_int_equal(strncmp(gp_text_cstr(&t), "kept0123", 8), 0);
    size_t len = t.len;
    gp_text_puts(&t, "more");
    assert_int_equal(t.len, len);
    gp_text_free(&t);
    assert_int_equal(s.bytes, 0);
}

static void test_slices(void **state) {
    (void)state;
    assert_true(gp_str_eq(GP_STR("abc"), gp_str_from("abc")));
    assert_false(gp_str_eq(GP_STR("abc"), GP_STR("abd")));
    assert_false(gp_str_eq(GP_STR("abc"), GP_STR("ab")));
    assert_true(gp_str_eq((GpStr){NULL, 0}, GP_STR("")));
}

static void test_interner(void **state) {
    (void)state;
    GpSession s;
    gp_session_init(&s, NULL, NULL, NULL);
    GpArena *arena = gp_arena_new(&s);
    GpInterner *in = gp_interner_make(arena);
    GpSym seen[1000];
    char name[16];
    for (int i = 0; i < 1000; i++) {
        int len = snprintf(name, sizeof name, "n%d", i);
        seen[i] = gp_intern(in, name, (size_t)len);
        assert_string_equal(seen[i]->name, name);
        assert_int_equal(seen[i]->len, len);
    }
    for (int i = 0; i < 1000; i++) {
        snprintf(name, sizeof name, "n%d", i);
        assert_ptr_equal(gp_intern_cstr(in, name), seen[i]);
        for (int j = i + 1; j < 1000; j += 97)
            assert_ptr_not_equal(seen[i], seen[j]);
    }
    assert_ptr_equal(gp_intern(in, "n1x", 2), seen[1]); /* only len bytes count */
    assert_ptr_equal(gp_intern(in, NULL, 0), gp_intern_cstr(in, ""));
    assert_ptr_not_equal(gp_intern(in, "a\0b", 3), gp_intern(in, "a\0c", 3));
    gp_arena_free(arena);
}

static void test_map(void **state) {
    (void)state;
    GpSession s;
    gp_session_init(&s, NULL, NULL, NULL);
    GpArena *arena = gp_arena_new(&s);
    GpMap map = {0};
    static int keys[5000];
    assert_null(gp_map_get(&map, &keys[0]));
    assert_false(gp_map_has(&map, &keys[0]));
    for (int i = 0; i < 5000; i++) {
        assert_null(gp_map_set(arena, &map, &keys[i], &keys[4999 - i]));
        assert_false(gp_map_has(&map, &map)); /* ends, so a slot is empty */
    }
    assert_int_equal(map.count, 5000);
    for (int i = 0; i < 5000; i++)
        assert_ptr_equal(gp_map_get(&map, &keys[i]), &keys[4999 - i]);
    assert_ptr_equal(gp_map_set(arena, &map, &keys[7], NULL), &keys[4992]);
    assert_int_equal(map.count, 5000);
    assert_true(gp_map_has(&map, &keys[7]));
    assert_null(gp_map_get(&map, &keys[7]));
    gp_arena_free(arena);
}

/* Hash-consing mixes fields one after another: order and seed must matter. */
static void test_hash(void **state) {
    (void)state;
    assert_int_not_equal(gp_hash_bytes("ab", 2, 0), gp_hash_bytes("ba", 2, 0));
    assert_int_not_equal(gp_hash_bytes("ab", 2, 0), gp_hash_bytes("ab", 2, 1));
    assert_int_not_equal(gp_hash_u64(1, gp_hash_u64(2, 0)), gp_hash_u64(2, gp_hash_u64(1, 0)));
    assert_int_not_equal(gp_hash_u64(0, 1), gp_hash_u64(0, 2));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_text),   cmocka_unit_test(test_text_keeps_what_it_had),
        cmocka_unit_test(test_slices), cmocka_unit_test(test_interner),
        cmocka_unit_test(test_map),    cmocka_unit_test(test_hash),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
