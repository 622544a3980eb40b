/* Sources: lines, places in the user's file, spans. */
#include "core/source.h"
#include "spec/unit/unit.h"

static void expect_place(GpSource *src, uint32_t off, uint32_t line, uint32_t column) {
    GpPlaceInFile at = gp_span_start((GpSpan){src, off, 0});
    assert_string_equal(at.file, src->name);
    assert_int_equal(at.line, line);
    assert_int_equal(at.column, column);
}

static void expect_line(const GpSource *src, uint32_t index, const char *text) {
    assert_true(gp_str_eq(gp_source_line(src, index), gp_str_from(text)));
}

static void test_whole_file(void **state) {
    (void)state;
    GpSession s;
    gp_session_init(&s, NULL, NULL, NULL);
    const char text[] = "ab\n\r\nlong\r\n";
    GpSource *src = gp_source_new(&s, "k.rs", text, sizeof text - 1, 1, 1);
    assert_int_equal(src->line_count, 4);
    expect_line(src, 0, "ab");
    expect_line(src, 1, "");
    expect_line(src, 2, "long");
    expect_line(src, 3, "");
    expect_place(src, 0, 1, 1);
    expect_place(src, 2, 1, 3); /* the newline belongs to its line */
    expect_place(src, 3, 2, 1);
    expect_place(src, 8, 3, 4);
    expect_place(src, src->len, 4, 1);
    gp_source_release(src);
    assert_int_equal(s.bytes, 0);
}

/* In `  k = gpu.kernels [[fn f() {` the kernel starts at line 7, column 22. */
static void test_kernel_string(void **state) {
    (void)state;
    GpSession s;
    gp_session_init(&s, NULL, NULL, NULL);
    GpSource *src = gp_source_new(&s, "a.lua", "fn f() {\n  x\n}", 14, 7, 22);
    expect_place(src, 0, 7, 22);
    expect_place(src, 3, 7, 25);
    expect_place(src, 11, 8, 3);
    gp_source_release(src);
}

/* Every offset against a plain walk through the text. */
static void test_against_walk(void **state) {
    (void)state;
    GpSession s;
    gp_session_init(&s, NULL, NULL, NULL);
    char text[997];
    uint32_t random = 12345;
    for (size_t i = 0; i < sizeof text; i++) {
        random = random * 1103515245u + 12345u;
        text[i] = (random >> 16) % 9 == 0 ? '\n' : 'x';
    }
    GpSource *src = gp_source_new(&s, "r", text, sizeof text, 10, 5);
    uint32_t line = 10, column = 5;
    for (uint32_t i = 0; i < sizeof text; i++) {
        expect_place(src, i, line, column);
        assert_int_equal(gp_source_line_index(src, i), line - 10);
        column++;
        if (text[i] == '\n')
            line++, column = 1;
    }
    gp_source_release(src);
}

static void test_spans(void **state) {
    (void)state;
    GpSession s;
    gp_session_init(&s, NULL, NULL, NULL);
    GpSource *src = gp_source_new(&s, "k", "0123456789", 10, 1, 1);
    GpSpan joined = gp_span_join((GpSpan){src, 6, 2}, (GpSpan){src, 1, 3});
    assert_int_equal(joined.off, 1);
    assert_int_equal(joined.len, 7);
    joined = gp_span_join(GP_NO_SPAN, (GpSpan){src, 1, 3});
    assert_int_equal(joined.len, 3);
    assert_int_equal(gp_span_start(GP_NO_SPAN).line, 0);
    assert_string_equal(gp_span_start(GP_NO_SPAN).file, "<none>");
    assert_ptr_equal(gp_source_retain(src), src);
    gp_source_release(src);
    assert_int_equal(src->refs, 1);
    gp_source_release(src);
    gp_source_release(NULL);
    assert_int_equal(s.bytes, 0);
}

static bool make_source(GpSession *s) {
    GpSource *src = gp_source_new(s, "k", "a\nb", 3, 1, 1);
    bool is_made = src != NULL;
    gp_source_release(src);
    return is_made;
}

static void test_every_allocation_fails(void **state) {
    (void)state;
    assert_int_equal(fail_every_allocation(make_source), 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_whole_file),
        cmocka_unit_test(test_kernel_string),
        cmocka_unit_test(test_against_walk),
        cmocka_unit_test(test_spans),
        cmocka_unit_test(test_every_allocation_fails),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
