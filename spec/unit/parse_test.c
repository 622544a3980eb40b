/* The parser on files. Those in parse/ parse without errors and print to an equal tree; where a
** .txt stands beside one, to that text. Those in ui/parse/ are refused with the report in the
** .stderr beside them. BLESS=1 writes both anew; read the difference before you commit it.
** Takes the spec folder as its argument. */
#include <dirent.h>

#include "core/os_posix.h"
#include "spec/unit/unit.h"

#include "spec/unit/parse_support.h"

static const char *folder = ".";

static GpText read_file(GpSession *s, const char *path) {
    GpText text = {.session = s};
    if (gp_file_read(path, &text) != GpStatus_Ok)
        fail_msg("cannot read %s", path);
    return text;
}

/* Compares with the file at path, or writes it when BLESS is set. A missing file is an error
** only when it must be there. */
static bool is_as_blessed(GpSession *s, const char *path, const char *got, bool must_exist) {
    GpText want = {.session = s};
    bool exists = gp_file_read(path, &want) == GpStatus_Ok;
    if (getenv("BLESS") && (exists || must_exist)) {
        assert_int_equal(gp_file_write(s, path, got, strlen(got)), GpStatus_Ok);
        gp_text_free(&want);
        return true;
    }
    bool is_same = exists ? strcmp(gp_text_cstr(&want), got) == 0 : !must_exist;
    if (!is_same)
        print_error("%s differs:\n%s\n", path, got);
    gp_text_free(&want);
    return is_same;
}

static bool check_round_trip(ParseCase *c, const char *base) {
    char path[1024];
    snprintf(path, sizeof path, "%s.txt", base);
    bool is_good = c->is_parsed && c->is_stable && !c->has_thrown;
    if (!is_good) {
        GpText report = {.session = &c->s};
        gp_diags_render(c->diags, (GpRenderStyle){false, false}, &report);
        print_error("%s: %s\n%s\n", base,
                    c->is_parsed ? "prints to another tree" : "does not parse",
                    gp_text_cstr(&report));
        gp_text_free(&report);
        return false;
    }
    return is_as_blessed(&c->s, path, gp_text_cstr(&c->text), false);
}

static bool check_refused(ParseCase *c, const char *base) {
    char path[1024];
    snprintf(path, sizeof path, "%s.stderr", base);
    if (c->is_parsed || c->has_thrown) {
        print_error("%s is not refused\n", base);
        return false;
    }
    GpText report = {.session = &c->s};
    gp_diags_sort(c->diags);
    gp_diags_render(c->diags, (GpRenderStyle){false, false}, &report);
    bool is_same = is_as_blessed(&c->s, path, gp_text_cstr(&report), true);
    gp_text_free(&report);
    return is_same;
}

static int run_folder(const char *sub, bool (*check)(ParseCase *c, const char *base)) {
    char path[1024];
    int failed = 0, count = 0;
    snprintf(path, sizeof path, "%s/%s", folder, sub);
    DIR *dir = opendir(path);
    assert_non_null(dir);
    for (struct dirent *e; (e = readdir(dir)) != NULL;) {
        size_t len = strlen(e->d_name);
        if (len < 4 || strcmp(e->d_name + len - 3, ".rs") != 0)
            continue;
        char base[2048], file[2064];
        snprintf(base, sizeof base, "%s/%.*s", path, (int)len - 3, e->d_name);
        snprintf(file, sizeof file, "%s.rs", base);
        GpSession s;
        gp_session_init(&s, NULL, NULL, NULL);
        GpText text = read_file(&s, file);
        ParseCase c;
        parse_case_init(&c, e->d_name, gp_text_cstr(&text), text.len);
        gp_text_free(&text);
        if (!check(&c, base))
            failed++;
        parse_case_done(&c);
        assert_int_equal(c.s.bytes, 0);
        count++;
    }
    closedir(dir);
    assert_true(count > 0);
    return failed;
}

static void test_round_trip(void **state) {
    (void)state;
    assert_int_equal(run_folder("parse", check_round_trip), 0);
}

static void test_refused(void **state) {
    (void)state;
    assert_int_equal(run_folder("ui/parse", check_refused), 0);
}

/* A parsed text, for the tests below. */
static GpNode *parse_text(ParseCase *c, const char *text) {
    parse_case_init(c, "text", text, strlen(text));
    return &c->file->node;
}

static void test_equality_sees_differences(void **state) {
    (void)state;
    static const char *const same[][2] = {
        {"fn f() { (a + b) * c; }", "fn f() { ((a + b)) * (c); }"},
        {"/// text\nfn f() {}", "#[doc = \" text\"] fn f() {}"},
        {"fn f(a: (i32)) {}", "fn f(a: i32) {}"},
    };
    static const char *const different[][2] = {
        {"fn f() { a + b }", "fn f() { a - b }"},
        {"fn f() { a + b }", "fn f() { a + b; }"},
        {"fn f() { a }", "fn f() { r#a2 }"},
        {"fn f(a: &T) {}", "fn f(a: &mut T) {}"},
        {"fn f() { 1 }", "fn f() { 1i32 }"},
        {"fn f() { a + b * c }", "fn f() { (a + b) * c }"},
        {"use a::b;", "use a::c;"},
        {"fn f() { 0..1 }", "fn f() { 0..=1 }"},
        {"fn f() { x.0 }", "fn f() { x.1 }"},
        {"fn f() { f(a,) }", "fn f() { f(a, b) }"},
    };
    for (size_t i = 0; i < GP_COUNT(same) + GP_COUNT(different); i++) {
        bool is_same = i < GP_COUNT(same);
        const char *const *pair = is_same ? same[i] : different[i - GP_COUNT(same)];
        ParseCase a, b;
        GpSession *s = &a.s;
        parse_text(&a, pair[0]);
        assert_true(a.is_parsed && a.is_stable);
        b = (ParseCase){.src = gp_source_new(s, "b", pair[1], strlen(pair[1]), 1, 1)};
        GpParse p = {a.arena, a.names, a.diags, NULL};
        GpAstFile *other = gp_parse_file(&p, b.src);
        assert_int_equal(gp_diags_errors(a.diags), 0);
        if (gp_node_equal(&a.file->node, &other->node) != is_same)
            fail_msg("%s | %s", pair[0], pair[1]);
        gp_source_release(b.src);
        parse_case_done(&a);
    }
}

static void count_nodes(GpNode *n, void *ud) {
    ++*(int *)ud;
    gp_node_children(n, count_nodes, ud);
}

static void test_children(void **state) {
    (void)state;
    ParseCase c;
    int count = 0;
    count_nodes(parse_text(&c, "fn f(a: i32) { a + 1; }"), &count);
    /* File Fn Param PatName TypePath Path Segment Block ExprStmt Binary PathExpr Path Segment Lit
     */
    assert_int_equal(count, 14);
    parse_case_done(&c);
}

static char *repeat(const char *before, const char *open, const char *middle, const char *close,
                    const char *after, int n) {
    size_t size = strlen(before) + strlen(middle) + strlen(after) +
                  (size_t)n * (strlen(open) + strlen(close)) + 1;
    char *text = malloc(size), *at = text;
    assert_non_null(text);
    at = stpcpy(at, before);
    for (int i = 0; i < n; i++)
        at = stpcpy(at, open);
    at = stpcpy(at, middle);
    for (int i = 0; i < n; i++)
        at = stpcpy(at, close);
    stpcpy(at, after);
    return text;
}

static void test_nesting(void **state) {
    (void)state;
    static const struct {
        const char *before, *open, *middle, *close, *after;
        int good;
    } cases[] = {
        {"fn f() { ", "(", "1", ")", " }", 200},
        {"fn f() { ", "{", "1", "}", " }", 200},
        {"fn f() { ", "-", "1", "", " }", 200},
        {"fn f() { ", "", "1", " + 1", " }", 900},
        {"fn f() { ", "", "a", ".b()", " }", 900},
        {"fn f(a: ", "&", "T", "", ") {}", 200},
        {"fn f(a: ", "A<", "T", ">", ") {}", 200},
        {"fn f() { let ", "(", "a", ",)", " = b; }", 200},
        {"", "mod a {", "", "}", "", 200},
        {"fn f() { ", "if a {} else ", "{}", "", " }", 200},
        {"fn f() { ", "a = ", "1", "", " }", 200},
        {"use a::", "{b::", "c", "}", ";", 200},
        {"fn f() { ", "m!(", "1", ")", " }", 200},
        {"fn f() { ", "m!(", "1", " => 2)", " }", 200},
        {"fn f() { ", "m!(;", "1", ")", " }", 100000},
        {"fn f() { ", "|| ", "1", "", " }", 200},
        {"fn f(a: [T; ", "[1; ", "1", "]", "]) {}", 200},
    };
    for (size_t i = 0; i < GP_COUNT(cases); i++) {
        for (int deep = 0; deep < 2; deep++) {
            int n = deep ? 100000 : cases[i].good;
            char *text = repeat(cases[i].before, cases[i].open, cases[i].middle, cases[i].close,
                                cases[i].after, n);
            ParseCase c;
            parse_text(&c, text);
            bool should_parse = !deep || cases[i].good == 100000;
            if (c.is_parsed != should_parse)
                fail_msg("case %zu at %d", i, n);
            if (should_parse)
                assert_true(c.is_stable);
            if (!should_parse) {
                assert_int_equal(gp_diags_count(c.diags), 1);
                assert_int_equal(gp_diag_code(gp_diags_at(c.diags, 0)), GpDiag_G0010);
            }
            parse_case_done(&c);
            free(text);
        }
    }
}

static int which_text;

static bool parse_with_failures(GpSession *s) {
    static const char *const texts[] = {
        "#[tile] fn f<const N: i32>(a: &T<{[N]}>) { let x = m![1, 2]; match x { _ => y + } }",
        "#[tile] fn f<const N: i32>(a: &T<{[N]}>) { let x = m![a => 2]; match x { _ => y } }",
    };
    const char *text = texts[which_text];
    ParseCase c = {.text = {.session = s}};
    GpArena *arena = gp_arena_new(s);
    GpDiags *diags = gp_diags_new(s);
    GpSource *src = gp_source_new(s, "text", text, strlen(text), 1, 1);
    bool is_done = false;
    if (arena && diags && src) {
        c.arena = arena;
        c.diags = diags;
        c.src = src;
        is_done =
            gp_protect(s, parse_in, &c) == GpStatus_Ok && !gp_diags_failed(diags) && !c.text.failed;
        is_done = is_done && (!c.is_parsed || c.printed);
    }
    gp_text_free(&c.text);
    gp_source_release(c.printed);
    gp_diags_release(diags);
    gp_source_release(src);
    gp_arena_free(arena);
    return is_done;
}

static void test_out_of_memory(void **state) {
    (void)state;
    for (which_text = 0; which_text < 2; which_text++) {
        assert_true(fail_every_allocation(parse_with_failures) > 3);
    }
}

int main(int argc, char **argv) {
    if (argc > 1)
        folder = argv[1];
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_round_trip),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_equality_sees_differences),
        cmocka_unit_test(test_children),
        cmocka_unit_test(test_nesting),
        cmocka_unit_test(test_out_of_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
