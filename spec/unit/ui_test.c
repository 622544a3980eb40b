/* Programs and what the front end says of them. Every .rs below ui/ (but in folders that other
** tests run: parse, and lower and launch, which go on from the module) becomes a module; its
** report is that of the .stderr beside it, and without one there is none. BLESS=1 writes the
** reports anew; read the difference before you commit it. Takes the spec folder, and perhaps a
** part of the paths to run, as arguments. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/os_posix.h"
#include "dsl/module.h"
#include "spec/unit/unit.h"

static const char *folder = ".", *only = "";

static void print_line(void *ud, const char *text, size_t len) {
    (void)ud;
    print_error("%.*s\n", (int)len, text);
}

/* Compares with the .stderr; with BLESS, writes or removes it. */
static bool is_as_blessed(GpSession *s, const char *path, const char *got) {
    GpText want = {.session = s};
    bool exists = gp_file_read(path, &want) == GpStatus_Ok;
    if (getenv("BLESS") && *got)
        assert_int_equal(gp_file_write(s, path, got, strlen(got)), GpStatus_Ok);
    else if (getenv("BLESS") && exists)
        assert_int_equal(remove(path), 0);
    bool is_same = getenv("BLESS") || strcmp(gp_text_cstr(&want), got) == 0;
    if (!is_same)
        print_error("%s differs:\n%s\n", path, got);
    gp_text_free(&want);
    return is_same;
}

static bool run_file(const char *base, const char *name) {
    char path[1200];
    GpSession s;
    gp_session_init(&s, NULL, NULL, &(GpHooks){.log = print_line});
    GpText text = {.session = &s}, report = {.session = &s};
    snprintf(path, sizeof path, "%s.rs", base);
    assert_int_equal(gp_file_read(path, &text), GpStatus_Ok);
    GpStd *std = gp_std_new(&s);
    GpDiags *diags = gp_diags_new(&s);
    GpSource *src = gp_source_new(&s, name, gp_text_cstr(&text), text.len, 1, 1);
    assert_true(std && diags && src);
    GpModule *m;
    assert_int_equal(gp_module_new(std, src, diags, &m), GpStatus_Ok);
    gp_diags_sort(diags);
    gp_diags_render(diags, (GpRenderStyle){false, false}, &report);
    snprintf(path, sizeof path, "%s.stderr", base);
    bool is_same = is_as_blessed(&s, path, gp_text_cstr(&report));
    gp_module_release(m);
    gp_source_release(src);
    gp_diags_release(diags);
    gp_std_free(std);
    gp_text_free(&text);
    gp_text_free(&report);
    assert_int_equal(s.bytes, 0);
    return is_same;
}

static bool is_of_other_test(const char *name) {
    static const char *const names[] = {"parse", "lower", "launch"};
    for (size_t i = 0; i < GP_COUNT(names); i++) {
        if (strcmp(names[i], name) == 0)
            return true;
    }
    return false;
}

static int run_folder(const char *path, int *count) {
    int failed = 0;
    DIR *dir = opendir(path);
    assert_non_null(dir);
    for (struct dirent *e; (e = readdir(dir)) != NULL;) {
        char base[1100];
        size_t len = strlen(e->d_name);
        snprintf(base, sizeof base, "%s/%s", path, e->d_name);
        if (e->d_name[0] == '.' || is_of_other_test(e->d_name))
            continue;
        if (e->d_type == DT_DIR) {
            failed += run_folder(base, count);
        } else if (len > 3 && strcmp(e->d_name + len - 3, ".rs") == 0 && strstr(base, only)) {
            base[strlen(base) - 3] = '\0';
            failed += !run_file(base, e->d_name);
            ++*count;
        }
    }
    closedir(dir);
    return failed;
}

static void test_reports(void **state) {
    char path[1024];
    int count = 0;
    (void)state;
    snprintf(path, sizeof path, "%s/ui", folder);
    assert_int_equal(run_folder(path, &count), 0);
    assert_true(count > 0);
}

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_reports)};
    if (argc > 1)
        folder = argv[1];
    if (argc > 2)
        only = argv[2];
    return cmocka_run_group_tests(tests, NULL, NULL);
}
