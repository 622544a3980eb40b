/* Clock, whole files, and the session's allocator and hooks. */
#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/os_posix.h"
#include "spec/unit/unit.h"

static void test_clock(void **state) {
    (void)state;
    uint64_t before = gp_clock_ns();
    usleep(2000);
    uint64_t passed = gp_clock_ns() - before;
    assert_true(passed >= 2000000 && passed < UINT64_C(10000000000));
}

static void test_files(void **state) {
    (void)state;
    GpSession s;
    gp_session_init(&s, NULL, NULL, NULL);
    char folder[] = "unit-XXXXXX";
    assert_non_null(mkdtemp(folder));
    char path[64];
    snprintf(path, sizeof path, "%s/file", folder);
    char data[50000];
    for (size_t i = 0; i < sizeof data; i++)
        data[i] = (char)(i * 7);
    assert_int_equal(gp_file_write(&s, path, data, sizeof data), GpStatus_Ok);
    assert_int_equal(gp_file_write(&s, path, data, sizeof data - 1), GpStatus_Ok);
    struct stat st;
    assert_int_equal(stat(path, &st), 0);
    assert_true(st.st_mode & S_IRUSR);
    GpText text = {.session = &s};
    assert_int_equal(gp_file_read(path, &text), GpStatus_Ok);
    assert_int_equal(text.len, sizeof data - 1);
    assert_memory_equal(text.at, data, text.len);
    gp_text_free(&text);
    assert_int_equal(gp_file_read("missing/file", &text), GpStatus_Io);
    assert_int_equal(errno, ENOENT);
    assert_int_equal(gp_file_read(folder, &text), GpStatus_Io);
    assert_int_equal(gp_file_write(&s, "missing/file", "x", 1), GpStatus_Io);
    assert_int_equal(errno, ENOENT);
    char taken[64]; /* a folder cannot be replaced: fails after the temporary file is written */
    snprintf(taken, sizeof taken, "%s/taken", folder);
    assert_int_equal(mkdir(taken, 0700), 0);
    assert_int_equal(gp_file_write(&s, taken, "x", 1), GpStatus_Io);
    assert_int_equal(rmdir(taken), 0);
    s.fail_at = 1;
    assert_int_equal(gp_file_write(&s, path, "x", 1), GpStatus_NoMemory);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(rmdir(folder), 0); /* empty: no temporary file was left */
    gp_text_free(&text);
    assert_int_equal(s.bytes, 0);
}

static void test_allocator(void **state) {
    (void)state;
    GpSession s;
    gp_session_init(&s, NULL, NULL, NULL);
    char *at = gp_try_realloc(&s, NULL, 0, 100);
    assert_int_equal(s.bytes, 100);
    at = gp_try_realloc(&s, at, 100, 40);
    assert_int_equal(s.bytes, 40);
    s.fail_at = 2;
    at = gp_try_realloc(&s, at, 40, 50);
    assert_non_null(at);
    assert_null(gp_try_realloc(&s, at, 50, 60));
    assert_int_equal(s.bytes, 50);
    at = gp_try_realloc(&s, at, 50, 60);
    assert_null(gp_try_realloc(&s, at, 60, 0));
    assert_int_equal(s.bytes, 0);
}

static void keep_log(void *ud, const char *text, size_t len) { memcpy(ud, text, len + 1); }

static void test_hooks(void **state) {
    (void)state;
    char line[64] = "";
    GpHooks hooks = {.log = keep_log, .ud = line};
    GpSession s;
    gp_session_init(&s, NULL, NULL, &hooks);
    gp_log(&s, "%d lines", 3);
    assert_string_equal(line, "3 lines");
    assert_false(gp_interrupted(&s));
    gp_session_init(&s, NULL, NULL, NULL);
    gp_log(&s, "dropped");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_clock),
        cmocka_unit_test(test_files),
        cmocka_unit_test(test_allocator),
        cmocka_unit_test(test_hooks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
