/* Diagnostics: the model, and renderings compared with texts under diag/.
**
** The .txt files named in `rustc_cases` are what rustc 1.95 printed for the .rs files beside
** them, with its code replaced by ours and its columns, which count characters, by bytes. The
** others were read and accepted by a person; GPULUA_BLESS=1 writes them anew.
** Takes the folder of this file as its argument. */
#include "core/diag.h"
#include "core/os_posix.h"
#include "spec/unit/unit.h"

static const char *folder = ".";

typedef struct Fixture {
    GpSession s;
    GpDiags *ds;
    GpSource *src;
} Fixture;

static GpText read_text(GpSession *s, const char *name) {
    GpText path = {.session = s}, text = {.session = s};
    gp_text_printf(&path, "%s/diag/%s", folder, name);
    if (gp_file_read(path.at, &text) != GpStatus_Ok)
        print_error("cannot read %s\n", path.at);
    gp_text_free(&path);
    return text;
}

static void start(Fixture *f, const char *name) {
    gp_session_init(&f->s, NULL, NULL, NULL);
    GpText text = read_text(&f->s, name);
    f->src = gp_source_new(&f->s, name, gp_text_cstr(&text), text.len, 1, 1);
    f->ds = gp_diags_new(&f->s);
    gp_text_free(&text);
}

static void finish(Fixture *f) {
    gp_diags_release(f->ds);
    gp_source_release(f->src);
    assert_int_equal(f->s.bytes, 0);
}

/* The nth (from 1) occurrence of `needle` in a line, counted from 1 within the text. */
static GpSpan at_nth(GpSource *src, uint32_t line, const char *needle, int nth) {
    const char *from = src->text + src->line_starts[line - 1] - 1;
    while (nth-- > 0) {
        from = strstr(from + 1, needle);
        assert_non_null(from);
    }
    return (GpSpan){src, (uint32_t)(from - src->text), (uint32_t)strlen(needle)};
}

static GpSpan at(GpSource *src, uint32_t line, const char *needle) {
    return at_nth(src, line, needle, 1);
}

static void expect_golden(GpSession *s, GpText *got, const char *name) {
    if (getenv("GPULUA_BLESS")) {
        GpText path = {.session = s};
        gp_text_printf(&path, "%s/diag/%s", folder, name);
        assert_int_equal(gp_file_write(s, path.at, got->at, got->len), GpStatus_Ok);
        gp_text_free(&path);
    }
    GpText want = read_text(s, name);
    assert_string_equal(gp_text_cstr(got), gp_text_cstr(&want));
    gp_text_free(&want);
    gp_text_free(got);
}

static void expect_render(Fixture *f, GpRenderStyle style, const char *name) {
    GpText got = {.session = &f->s};
    gp_diags_render(f->ds, style, &got);
    assert_false(got.failed);
    expect_golden(&f->s, &got, name);
}

/* ---- what rustc prints ---- */

static void report_mutable(GpDiags *ds, GpSource *src) {
    GpDiag *d = gp_diag(ds, GpDiag_G0900, at(src, 6, "n = 6"),
                        "cannot assign twice to immutable variable `n`");
    gp_primary_label(d, "cannot assign twice to immutable variable");
    gp_label(d, at_nth(src, 5, "n", 1), "first assignment to `n`");
    gp_suggest(d, at_nth(src, 5, "n", 1), "mut n", "consider making this binding mutable");
}

static void report_same_start(GpDiags *ds, GpSource *src) {
    GpDiag *d = gp_diag(ds, GpDiag_G0900, at_nth(src, 8, "&mut t", 2),
                        "cannot borrow `t` as mutable more than once at a time");
    gp_primary_label(d, "second mutable borrow occurs here");
    gp_label(d, at(src, 8, "&mut t"), "first mutable borrow occurs here");
    gp_label(d, at(src, 8, "g"), "first borrow later used by call");
}

static void report_elided(GpDiags *ds, GpSource *src) {
    GpDiag *d = gp_diag(ds, GpDiag_G0900, at_nth(src, 18, "s", 1), "borrow of moved value: `s`");
    gp_primary_label(d, "value borrowed here after move");
    gp_label(d, at(src, 9, "s"),
             "move occurs because `s` has type `String`, which does not implement the `Copy` "
             "trait");
    gp_label(d, at(src, 10, "||"), "value moved into closure here");
    gp_label(d, at(src, 11, "s"), "variable moved due to use in closure");
    gp_suggest(d, at(src, 11, "s"), "s.clone()",
               "consider cloning the value if the performance cost is acceptable");
}

static void report_three_labels(GpDiags *ds, GpSource *src) {
    GpSpan moved = at(src, 19, "a; let d"), used = at_nth(src, 19, "a;", 2);
    moved.len = used.len = 1;
    GpDiag *d = gp_diag(ds, GpDiag_G0900, used, "use of moved value: `a`");
    gp_primary_label(d, "value used here after move");
    gp_label(d, at(src, 19, "a"),
             "move occurs because `a` has type `String`, which does not "
             "implement the `Copy` trait");
    gp_label(d, moved, "value moved here");
    gp_suggest(d, moved, "a.clone()",
               "consider cloning the value if the performance cost is acceptable");
}

static void report_unmarked_line(GpDiags *ds, GpSource *src) {
    GpDiag *d = gp_diag(ds, GpDiag_G0900, at(src, 22, "&mut t"),
                        "cannot borrow `t` as mutable because it is also borrowed as immutable");
    gp_primary_label(d, "mutable borrow occurs here");
    gp_label(d, at(src, 20, "&t"), "immutable borrow occurs here");
    gp_label(d, at(src, 25, "*q"), "immutable borrow later used here");
}

static void report_nested_block(GpDiags *ds, GpSource *src) {
    GpDiag *d = gp_diag(ds, GpDiag_G0900, at(src, 4, "5"), "`match` arms have incompatible types");
    gp_primary_label(d, "expected `&str`, found integer");
    gp_label(d, gp_span_join(at(src, 2, "match"), at(src, 6, "}")),
             "`match` arms have incompatible types");
    gp_label(d, at(src, 3, "\"a\""), "this is found to be of type `&str`");
}

static void report_bars_elided(GpDiags *ds, GpSource *src) {
    GpSpan body = gp_span_join(at(src, 7, "{"), at(src, 15, "}"));
    GpDiag *d = gp_diag(ds, GpDiag_G0900, body, "mismatched types");
    gp_primary_label(d, "expected `i32`, found `()`");
    gp_label(d, at(src, 14, ";"), "help: remove this semicolon to return this value");
}

static void report_removed_lines(GpDiags *ds, GpSource *src) {
    GpDiag *d = gp_diag(ds, GpDiag_G0900, at(src, 16, "foo"),
                        "this function takes 1 argument but 3 arguments were supplied");
    gp_label(d, at(src, 16, "2"), "unexpected argument #2 of type `{integer}`");
    gp_label(d, at(src, 17, "3"), "unexpected argument #3 of type `{integer}`");
    gp_note_at(d, at(src, 19, "foo"), "function defined here");
    GpSpan args = gp_span_join(at(src, 16, "(1"), at(src, 17, "3)"));
    gp_suggest(d, args, "(1)", "remove the extra arguments");
}

static void report_added_line(GpDiags *ds, GpSource *src) {
    GpDiag *d = gp_diag(ds, GpDiag_G0900, at_nth(src, 1, "i32", 2), "mismatched types");
    gp_primary_label(d, "expected `i32`, found `()`");
    GpSpan name = at(src, 1, " f");
    name.off++;
    name.len--;
    gp_label(d, name, "implicitly returns `()` as its body has no tail or `return` expression");
    GpSpan end = at(src, 17, ", 3);");
    end.off += end.len;
    end.len = 0;
    gp_suggest(d, end, "\n    n", "consider returning the local binding `n`");
}

static void report_replaced(GpDiags *ds, GpSource *src) {
    GpDiag *d = gp_diag(ds, GpDiag_G0900, at(src, 20, "1i32"), "mismatched types");
    gp_primary_label(d, "expected `u8`, found `i32`");
    gp_label(d, at(src, 20, "u8"), "expected `u8` because of return type");
    gp_suggest(d, at(src, 20, "1i32"), "1u8",
               "change the type of the numeric literal from `i32` to `u8`");
}

static void report_wide(GpDiags *ds, GpSource *src) {
    GpDiag *d = gp_diag(ds, GpDiag_G0900, at_nth(src, 22, "é", 2), "mismatched types");
    gp_primary_label(d, "expected `&str`, found integer");
    gp_label(d, at(src, 22, "&str"), "expected due to this");
}

static void report_tabs(GpDiags *ds, GpSource *src) {
    GpDiag *d = gp_diag(ds, GpDiag_G0900, at_nth(src, 23, "u", 2), "mismatched types");
    gp_primary_label(d, "expected `&str`, found integer");
    gp_label(d, at(src, 23, "&str"), "expected due to this");
}

static void report_long_help(GpDiags *ds, GpSource *src) {
    GpDiag *d = gp_diag(ds, GpDiag_G0900, at(src, 24, "+"), "cannot add a float to an integer");
    gp_primary_label(d, "no implementation for `{integer} + {float}`");
    gp_help(d, "the trait `Add<{float}>` is not implemented for `{integer}`");
    gp_help(d,
            "the following other types implement trait `Add<Rhs>`:\n  %s\n  %s\n  %s\n  %s\n"
            "  %s\n  %s\n  %s\n  %s\nand 56 others",
            "`&f128` implements `Add<f128>`", "`&f128` implements `Add`",
            "`&f16` implements `Add<f16>`", "`&f16` implements `Add`",
            "`&f32` implements `Add<f32>`", "`&f32` implements `Add`",
            "`&f64` implements `Add<f64>`", "`&f64` implements `Add`");
}

static void report_new_line(GpDiags *ds, GpSource *src) {
    GpDiag *d = gp_diag(ds, GpDiag_G0900, at(src, 2, "HashMap"),
                        "cannot find type `HashMap` in this scope");
    gp_primary_label(d, "not found in this scope");
    gp_suggest(d, (GpSpan){src, 0, 0}, "use std::collections::HashMap;\n",
               "consider importing this struct");
}

static void report_if_else(GpDiags *ds, GpSource *src) {
    GpDiag *d =
        gp_diag(ds, GpDiag_G0900, at(src, 11, "\"a\""), "`if` and `else` have incompatible types");
    gp_primary_label(d, "expected integer, found `&str`");
    gp_label(d, gp_span_join(at(src, 3, "if"), at(src, 12, "}")),
             "`if` and `else` have incompatible types");
    gp_label(d, at(src, 9, "1"), "expected because of this");
}

static void report_block_closed_below(GpDiags *ds, GpSource *src) {
    GpDiag *d = gp_diag(ds, GpDiag_G0900, at(src, 13, "foo"),
                        "this function takes 1 argument but 3 arguments were supplied");
    gp_label(d, gp_span_join(at(src, 13, "{"), at(src, 16, "}")),
             "unexpected argument #2 of type `{integer}`");
    gp_label(d, at(src, 16, "\"x\""), "unexpected argument #3 of type `&'static str`");
    gp_note_at(d, at(src, 1, "foo"), "function defined here");
    GpSpan args = gp_span_join(at(src, 13, "(1"), at(src, 16, ")"));
    gp_suggest(d, args, "(1)", "remove the extra arguments");
}

static void report_unused_mut(GpDiags *ds, GpSource *src) {
    GpDiag *d =
        gp_diag(ds, GpDiag_G0900, at(src, 2, "mut r"), "variable does not need to be mutable");
    gp_label(d, at(src, 2, "mut "), "help: remove this `mut`");
    gp_note(d, "`#[warn(unused_mut)]` (part of `#[warn(unused)]`) on by default");
}

static const struct {
    const char *source, *golden;
    void (*report)(GpDiags *ds, GpSource *src);
} rustc_cases[] = {
    {"borrows.rs", "mutable.txt", report_mutable},
    {"borrows.rs", "same_start.txt", report_same_start},
    {"borrows.rs", "elided.txt", report_elided},
    {"borrows.rs", "three_labels.txt", report_three_labels},
    {"borrows.rs", "unmarked_line.txt", report_unmarked_line},
    {"types.rs", "nested_block.txt", report_nested_block},
    {"types.rs", "bars_elided.txt", report_bars_elided},
    {"types.rs", "removed_lines.txt", report_removed_lines},
    {"types.rs", "added_line.txt", report_added_line},
    {"types.rs", "replaced.txt", report_replaced},
    {"types.rs", "wide.txt", report_wide},
    {"types.rs", "tabs.txt", report_tabs},
    {"types.rs", "long_help.txt", report_long_help},
    {"imports.rs", "new_line.txt", report_new_line},
    {"spans.rs", "if_else.txt", report_if_else},
    {"spans.rs", "block_closed_below.txt", report_block_closed_below},
    {"unused.rs", "unused_mut.txt", report_unused_mut},
};

static void test_like_rustc(void **state) {
    (void)state;
    for (size_t i = 0; i < GP_COUNT(rustc_cases); i++) {
        Fixture f;
        start(&f, rustc_cases[i].source);
        rustc_cases[i].report(f.ds, f.src);
        GpText got = {.session = &f.s}, want = read_text(&f.s, rustc_cases[i].golden);
        gp_diags_render(f.ds, (GpRenderStyle){0}, &got);
        if (strcmp(gp_text_cstr(&got), gp_text_cstr(&want)) != 0) {
            print_error("%s:\n%s", rustc_cases[i].golden, gp_text_cstr(&got));
            fail();
        }
        gp_text_free(&got);
        gp_text_free(&want);
        finish(&f);
    }
}

/* ---- what rustc has no case for ---- */

static const GpRenderStyle plain = {0};

static void test_color(void **state) {
    (void)state;
    Fixture f;
    start(&f, "borrows.rs");
    report_mutable(f.ds, f.src);
    report_three_labels(f.ds, f.src);
    expect_render(&f, (GpRenderStyle){.color = true}, "color.txt");
    finish(&f);
}

static void test_unicode(void **state) {
    (void)state;
    Fixture f;
    start(&f, "types.rs");
    report_bars_elided(f.ds, f.src);
    report_nested_block(f.ds, f.src);
    report_removed_lines(f.ds, f.src);
    expect_render(&f, (GpRenderStyle){.unicode = true}, "unicode.txt");
    finish(&f);
}

/* A kernel string in a script: its first line stands where it stands in the script. */
static void test_kernel_string(void **state) {
    (void)state;
    Fixture f;
    start(&f, "imports.rs");
    const char kernel[] = "fn f(x: i32) {\n    let y = x;\n}";
    GpSource *src = gp_source_new(&f.s, "a.lua", kernel, sizeof kernel - 1, 9, 24);
    GpDiag *d = gp_diag(f.ds, GpDiag_G0900, at(src, 1, "i32"), "first line");
    gp_primary_label(d, "here");
    gp_label(d, at(src, 2, "y"), "and there");
    gp_label(d, at(f.src, 2, "map"), "and in another file");
    gp_label(d, at(f.src, 1, "fn"), "%s", "");
    gp_label(d, at(f.src, 1, "fn"), "under the same span");
    gp_note(d, "a note");
    gp_note_at(d, at(f.src, 1, "main"), "a note about another place");
    gp_suggest(d, at(src, 1, "i32"), "i64", "change the type");
    gp_suggest(d, at(src, 2, "    let y = x;\n"), "", "remove the line");
    gp_suggest(d, at(src, 2, "y"), "mut y", "insert");
    gp_source_release(src);
    expect_render(&f, plain, "kernel_string.txt");
    finish(&f);
}

/* Nested, equal and touching multi-line spans. */
static void test_blocks(void **state) {
    (void)state;
    Fixture f;
    start(&f, "types.rs");
    GpDiag *d = gp_diag(f.ds, GpDiag_G0900, gp_span_join(at(f.src, 8, "let"), at(f.src, 10, ";")),
                        "blocks");
    gp_primary_label(d, "inner");
    gp_label(d, gp_span_join(at(f.src, 7, "let"), at(f.src, 15, "3")), "outer");
    gp_label(d, gp_span_join(at(f.src, 7, "let"), at(f.src, 15, "3")), "outer again");
    gp_label(d, gp_span_join(at(f.src, 12, "let"), at(f.src, 13, ";")), "later");
    d = gp_diag(f.ds, GpDiag_G0900, at(f.src, 7, "t:"), "a text below where a block opens");
    gp_primary_label(d, "left of it");
    gp_label(d, gp_span_join(at(f.src, 7, "{"), at(f.src, 15, "}")), "the block");
    expect_render(&f, plain, "blocks.txt");
    finish(&f);
}

/* Nothing in a source or a message may steer the terminal or break the layout. */
static void test_hostile_text(void **state) {
    (void)state;
    Fixture f;
    start(&f, "imports.rs");
    const char text[] = "a\x1b[31m\xff\xc0\xaf b\xe2\x80\xae c e\xcc\x81 z\r\nend";
    GpSource *src = gp_source_new(&f.s, "evil\x1b]0;x\x07.rs", text, sizeof text - 1, 1, 1);
    GpDiag *d = gp_diag(f.ds, GpDiag_G0900, at(src, 1, "z"), "title \x1b[2J\xff");
    gp_primary_label(d, "label \x7f of\ntwo lines");
    gp_label(d, (GpSpan){src, src->len, 5}, "past the end");
    gp_label(d, (GpSpan){src, src->line_starts[1] - 1, 1}, "the newline");
    gp_suggest(d, (GpSpan){src, src->len, 0}, ";", "at the end");
    gp_source_release(src);
    expect_render(&f, plain, "hostile.txt");
    GpText json = {.session = &f.s};
    gp_diags_json(f.ds, &json);
    expect_golden(&f.s, &json, "hostile.json");
    finish(&f);
}

/* What was taken is known there, and nowhere else; its memory ends with it. */
static void test_take(void **state) {
    (void)state;
    Fixture f;
    start(&f, "imports.rs");
    for (int round = 0; round < 100; round++) {
        gp_diag(f.ds, GpDiag_G0900, (GpSpan){f.src, 1, 2}, "again");
        assert_int_equal(gp_diags_count(f.ds), 1);
        GpDiags *taken = gp_diags_take(f.ds);
        assert_int_equal(gp_diags_count(f.ds), 0);
        assert_int_equal(gp_diags_count(taken), 1);
        gp_diag(taken, GpDiag_G0900, (GpSpan){f.src, 1, 2}, "again");
        assert_int_equal(gp_diags_count(taken), 1);
        gp_diags_release(taken);
    }
    finish(&f);
}

static void test_no_place(void **state) {
    (void)state;
    Fixture f;
    start(&f, "imports.rs");
    GpDiag *d = gp_diag(f.ds, GpDiag_G0900, GP_NO_SPAN, "no place");
    gp_primary_label(d, "why, as there is no place");
    gp_note(d, "a note");
    gp_help(d, "a help\nof two lines");
    gp_diag(f.ds, GpDiag_G0900, GP_NO_SPAN, "no place, other text");
    gp_diag(f.ds, GpDiag_G0900, GP_NO_SPAN, "no place");
    expect_render(&f, plain, "no_place.txt");
    finish(&f);
}

/* A line of a megabyte is shown as a window around its marks. */
static void test_long_line(void **state) {
    (void)state;
    Fixture f;
    start(&f, "imports.rs");
    GpText text = {.session = &f.s};
    gp_text_puts(&text, "short\n");
    for (int i = 0; i < 100000; i++)
        gp_text_printf(&text, "%09d ", i);
    GpSource *src = gp_source_new(&f.s, "long", text.at, text.len, 1, 1);
    gp_text_free(&text);
    GpDiag *d = gp_diag(f.ds, GpDiag_G0900, at(src, 2, "000050000"), "long");
    gp_primary_label(d, "here");
    gp_label(d, at(src, 2, "000050010"), "near");
    gp_label(d, at(src, 2, "000070000"), "far away");
    gp_suggest(d, at(src, 2, "000050000"), "000050000.0", "insert");
    gp_suggest(d, at(src, 2, "000050000"), "x", "replace");
    gp_source_release(src);
    expect_render(&f, plain, "long_line.txt");
    finish(&f);
}

static void test_json(void **state) {
    (void)state;
    Fixture f;
    start(&f, "types.rs");
    report_removed_lines(f.ds, f.src);
    report_long_help(f.ds, f.src);
    GpText got = {.session = &f.s};
    gp_diags_json(f.ds, &got);
    expect_golden(&f.s, &got, "diags.json");
    finish(&f);
}

static void test_one_mistake_one_error(void **state) {
    (void)state;
    Fixture f;
    start(&f, "types.rs");
    for (uint32_t i = 0; i < 2; i++) {
        GpDiag *d = gp_diag(f.ds, GpDiag_G0900, at(f.src, 1, "fn"), i ? "second" : "first");
        gp_note(d, "note %u", i);
        gp_primary_label(d, "label %u", i);
        gp_label(d, at(f.src, 2, "match"), "other %u", i);
    }
    assert_int_equal(gp_diags_count(f.ds), 1);
    const GpDiag *d = gp_diags_at(f.ds, 0);
    assert_string_equal(gp_diag_title(d), "first");
    assert_int_equal(gp_diag_child_count(d), 1);
    assert_string_equal(gp_diag_label_at(d, 0).text, "label 0");
    assert_int_equal(gp_diag_label_count(d), 2);
    for (uint32_t i = 0; i < 100; i++) {
        gp_diag(f.ds, GpDiag_G0900, (GpSpan){f.src, i, 1}, "many");
    }
    assert_int_equal(gp_diags_count(f.ds), GP_MAX_ERRORS);
    assert_int_equal(gp_diags_errors(f.ds), GP_MAX_ERRORS);
    finish(&f);
}

static void test_sort(void **state) {
    (void)state;
    Fixture f;
    start(&f, "types.rs");
    GpSource *other = gp_source_new(&f.s, "a.rs", "x", 1, 1, 1);
    gp_diag(f.ds, GpDiag_G0900, GP_NO_SPAN, "5");
    gp_diag(f.ds, GpDiag_G0900, at(f.src, 9, "let"), "4");
    gp_diag(f.ds, GpDiag_G0900, at(f.src, 2, "{"), "3");
    gp_diag(f.ds, GpDiag_G0900, at(f.src, 2, "match"), "2");
    gp_diag(f.ds, GpDiag_G0900, at(other, 1, "x"), "1");
    gp_source_release(other);
    GpDiag *same_place = gp_diag(f.ds, GpDiag_G0001, at(f.src, 9, "let"), "a", "b");
    gp_diags_sort(f.ds);
    assert_ptr_equal(gp_diags_at(f.ds, 4), same_place); /* made later, so it stays behind */
    for (uint32_t i = 0; i < 4; i++) {
        assert_int_equal(gp_diag_title(gp_diags_at(f.ds, i))[0], '1' + (int)i);
    }
    finish(&f);
}

/* Rows are found by the code that users see, are in order of code, and take only %s. */
static void test_rows(void **state) {
    (void)state;
    for (int i = 0; i < GpDiagCode_count; i++) {
        const GpDiagRow *row = gp_diag_row((GpDiagCode)i);
        GpDiagCode found;
        assert_true(gp_diag_find(row->code, &found));
        assert_int_equal(found, i);
        const char *before = i > 0 ? gp_diag_row((GpDiagCode)(i - 1))->code : "";
        if (strcmp(before, row->code) >= 0)
            fail_msg("row %s stands after %s", row->code, before);
        for (const char *p = strchr(row->title, '%'); p; p = strchr(p + 1, '%')) {
            assert_int_equal(p[1], 's');
        }
        assert_true(strlen(row->explain) > 0);
    }
    GpDiagCode found;
    assert_false(gp_diag_find("E9999", &found));
}

/* ---- any text, any spans ---- */

static uint32_t next_random(uint32_t *random) {
    *random ^= *random << 13;
    *random ^= *random >> 17;
    return *random ^= *random << 5;
}

static GpSpan random_span(GpSource *src, uint32_t *random) {
    uint32_t off = next_random(random) % (src->len + 1);
    return (GpSpan){src, off, next_random(random) % (src->len + 1 - off)};
}

static GpSource *random_source(GpSession *s, uint32_t *random) {
    static const char *const pieces[] = {"a",    " ",        "\n",           "\t",   "{",
                                         "}\n",  "\xc3\xa9", "\xe6\x97\xa5", "\xff", "\x1b",
                                         "\r\n", "// x",     "\xcc\x81"};
    GpText text = {.session = s};
    for (uint32_t n = next_random(random) % 60; n > 0; n--) {
        gp_text_puts(&text, pieces[next_random(random) % GP_COUNT(pieces)]);
    }
    GpSource *src = gp_source_new(s, "random", gp_text_cstr(&text), text.len,
                                  1 + next_random(random) % 12, 1 + next_random(random) % 9);
    gp_text_free(&text);
    return src;
}

/* Removes what starts with ESC [ and ends with m. */
static void strip_escapes(GpText *text) {
    size_t to = 0;
    for (size_t i = 0; i < text->len; i++) {
        if (text->at[i] == '\x1b') {
            i += strcspn(text->at + i, "m");
        } else {
            text->at[to++] = text->at[i];
        }
    }
    if (text->at)
        text->at[to] = '\0';
    text->len = to;
}

/* No text and no spans break the renderer; colours change nothing but colours; what is printed
** holds no control character of the source and no trailing blank. */
static void test_random_spans(void **state) {
    (void)state;
    uint32_t random = 2463534242u;
    for (int round = 0; round < 3000; round++) {
        GpSession s;
        gp_session_init(&s, NULL, NULL, NULL);
        GpDiags *ds = gp_diags_new(&s);
        GpSource *src = random_source(&s, &random), *other = random_source(&s, &random);
        GpDiag *d = gp_diag(ds, GpDiag_G0900, random_span(src, &random), "t");
        gp_primary_label(d, "%s", round % 3 ? "primary" : "");
        for (uint32_t n = next_random(&random) % 5; n > 0; n--) {
            gp_label(d, random_span(n == 4 ? other : src, &random), "%s", n % 3 ? "text" : "");
        }
        char replacement[4096];
        GpSpan taken = random_span(other, &random);
        snprintf(replacement, sizeof replacement, "%.*s", (int)taken.len, other->text + taken.off);
        gp_suggest(d, random_span(other, &random), replacement, "s");
        GpText text = {.session = &s}, colored = {.session = &s};
        gp_diags_render(ds, plain, &text);
        gp_diags_render(ds, (GpRenderStyle){.color = true}, &colored);
        strip_escapes(&colored);
        assert_string_equal(text.at, colored.at);
        assert_null(strstr(text.at, " \n"));
        for (size_t i = 0; i < text.len; i++) {
            assert_true(text.at[i] == '\n' || (unsigned char)text.at[i] >= 0x20);
        }
        gp_text_free(&text);
        gp_text_free(&colored);
        gp_diags_release(ds);
        gp_source_release(src);
        gp_source_release(other);
        assert_int_equal(s.bytes, 0);
    }
}

/* ---- running out of memory ---- */

static bool report_and_render(GpSession *s) {
    const char text[] = "fn f() {\n    a(\n    b)\n}\n";
    GpSource *src = gp_source_new(s, "k.rs", text, sizeof text - 1, 1, 1);
    GpDiags *ds = src ? gp_diags_new(s) : NULL;
    bool is_done = ds != NULL;
    if (ds) {
        GpDiag *d = gp_diag(ds, GpDiag_G0900, at(src, 1, "f"), "a title");
        gp_primary_label(d, "a label");
        for (int i = 0; i < 20; i++)
            gp_label(d, (GpSpan){src, 9, 14}, "%d", i);
        gp_note_at(d, at(src, 1, "fn"), "a note");
        for (int i = 0; i < 20; i++)
            gp_suggest(d, at(src, 2, "a"), "b", "%d", i);
        GpText out = {.session = s};
        gp_diags_render(ds, plain, &out);
        gp_diags_json(ds, &out);
        is_done = !gp_diags_failed(ds) && !out.failed;
        if (is_done)
            assert_true(out.len > 1000);
        gp_text_free(&out);
    }
    gp_diags_release(ds);
    if (src)
        assert_int_equal(src->refs, 1);
    gp_source_release(src);
    return is_done;
}

static void test_every_allocation_fails(void **state) {
    (void)state;
    assert_true(fail_every_allocation(report_and_render) > 20);
}

int main(int argc, char **argv) {
    if (argc > 1)
        folder = argv[1];
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_like_rustc),   cmocka_unit_test(test_color),
        cmocka_unit_test(test_unicode),      cmocka_unit_test(test_kernel_string),
        cmocka_unit_test(test_blocks),       cmocka_unit_test(test_hostile_text),
        cmocka_unit_test(test_take),
        cmocka_unit_test(test_no_place),     cmocka_unit_test(test_long_line),
        cmocka_unit_test(test_json),         cmocka_unit_test(test_one_mistake_one_error),
        cmocka_unit_test(test_sort),         cmocka_unit_test(test_rows),
        cmocka_unit_test(test_random_spans), cmocka_unit_test(test_every_allocation_fails),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
