/* Twins: programs that mean what the judged one means get the same verdict. With an unused function
** behind it the text gets the same report, with a wrong one before it one error more; the tree
** printed, and its items in the opposite order, get the same codes. */
#include <stdlib.h>

#include "dsl/check.h"
#include "spec/fuzz/judge.h"

/* A report as JSON, or as one code a line in the order of the text. */
static GpText write_report(const Judged *j, const GpDiags *ds, bool only_codes) {
    GpText out = {.session = j->std->session};
    for (uint32_t i = 0; only_codes && i < gp_diags_count(ds); i++)
        gp_text_printf(&out, "%s\n", gp_diag_row(gp_diag_code(gp_diags_at(ds, i)))->code);
    if (!only_codes)
        gp_diags_json(ds, &out);
    return out;
}

static GpText report_of(const Judged *j, const GpText *text, bool only_codes) {
    GpSession *s = j->std->session;
    GpDiags *ds = gp_diags_new(s);
    GpSource *src = gp_source_new(s, j->src->name, gp_text_cstr(text), text->len, 1, 1);
    GpModule *m = NULL;
    judge_require(j, ds && src && gp_module_new(j->std, src, ds, &m) == GpStatus_Ok, "no twin");
    gp_diags_sort(ds);
    GpText out = write_report(j, ds, only_codes);
    gp_module_release(m);
    gp_diags_release(ds);
    gp_source_release(src);
    return out;
}

static void require_same(const Judged *j, GpText *a, GpText *b, const char *what) {
    judge_require(j, !strcmp(gp_text_cstr(a), gp_text_cstr(b)),
                  "%s is told otherwise:\n%s\n---\n%s", what, gp_text_cstr(a), gp_text_cstr(b));
    gp_text_free(b);
}

static int order_lines(const void *a, const void *b) {
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* The lines of a text in alphabetical order. */
static GpText sort_lines(GpText *text) {
    GpText out = {.session = text->session};
    char *lines[3 * GP_MAX_ERRORS];
    size_t count = 0;
    for (char *at = text->len ? strtok(text->at, "\n") : NULL; at && count < GP_COUNT(lines);
         at = strtok(NULL, "\n"))
        lines[count++] = at;
    qsort(lines, count, sizeof *lines, order_lines);
    for (size_t i = 0; i < count; i++)
        gp_text_printf(&out, "%s\n", lines[i]);
    gp_text_free(text);
    return out;
}

static void judge_unused(const Judged *j) {
    GpText longer = {.session = j->std->session};
    gp_text_add(&longer, j->src->text, j->src->len);
    gp_text_puts(&longer, "\nfn unused_by_all() {}\n");
    GpText report = write_report(j, j->diags, false), again = report_of(j, &longer, false);
    require_same(j, &report, &again, "the text with an unused function");
    gp_text_free(&report);
    gp_text_free(&longer);
}

/* Codes that are told with types and with moves: which of the two it was is not seen. */
static bool has_mutability(const GpDiags *ds) {
    for (uint32_t i = 0; i < gp_diags_count(ds); i++) {
        GpDiagCode code = gp_diag_code(gp_diags_at(ds, i));
        if (code == GpDiag_E0384 || code == GpDiag_E0594 || code == GpDiag_E0596)
            return true;
    }
    return false;
}

/* A function with an error in front hides nothing that is said of other functions, but for what is
** said only where all types are right. */
static void judge_wrong(const Judged *j, const GpText *printed) {
    GpText longer = {.session = j->std->session}, want = {.session = j->std->session};
    if (has_mutability(j->diags))
        return;
    gp_text_puts(&longer, "fn wrong_before_all() -> i32 { true }\n");
    gp_text_add(&longer, gp_text_cstr(printed), printed->len);
    bool has_types = judge_has_types(j);
    for (uint32_t i = 0; i < gp_diags_count(j->diags); i++) {
        const GpDiag *d = gp_diags_at(j->diags, i);
        if (!has_types || gp_diag_severity(d) != GpSeverity_Error)
            gp_text_printf(&want, "%s\n", gp_diag_row(gp_diag_code(d))->code);
    }
    gp_text_puts(&want, "E0308\n");
    GpText again = report_of(j, &longer, true);
    want = sort_lines(&want);
    again = sort_lines(&again);
    require_same(j, &want, &again, "the text with a wrong function before it");
    gp_text_free(&want);
    gp_text_free(&longer);
}

/* ---- printed trees ----------------------------------------------------------------------------
 */

typedef struct Printed {
    const Judged *j;
    GpArena *arena;
    GpDiags *diags;
    GpText in_order, reversed;
    bool has_order; /* of items says something: macros are known from where they stand, and of two with one name the first counts */
    bool has_attrs; /* of the file: they stand first */
} Printed;

static bool has_double(const GpDiags *ds) {
    for (uint32_t i = 0; i < gp_diags_count(ds); i++)
        if (gp_diag_code(gp_diags_at(ds, i)) == GpDiag_E0428)
            return true;
    return false;
}

static void find_macro(GpNode *n, void *ud) {
    bool *found = ud;
    *found |= n->kind == GpNode_MacroRules || n->kind == GpNode_MacroItem;
    if (!*found)
        gp_node_children(n, find_macro, found);
}

static void print_trees(GpSession *s, void *ud) {
    Printed *p = ud;
    (void)s;
    GpParse parse = {p->arena, gp_interner_make(p->arena), p->diags, NULL};
    GpAstFile *file = gp_parse_file(&parse, p->j->src);
    if (gp_diags_errors(p->diags))
        return;
    gp_node_print(&file->node, &p->in_order);
    p->has_order = has_double(p->j->diags);
    find_macro(&file->node, &p->has_order);
    p->has_attrs = file->attrs.len > 0;
    for (uint32_t i = 0; i < file->attrs.len; i++) {
        gp_node_print(file->attrs.at[i], &p->reversed);
        gp_text_puts(&p->reversed, "\n");
    }
    for (uint32_t i = file->items.len; i-- > 0;) {
        gp_node_print(file->items.at[i], &p->reversed);
        gp_text_puts(&p->reversed, "\n");
    }
}

static void judge_printed(const Judged *j, const Printed *p) {
    GpText codes = write_report(j, j->diags, true), again = report_of(j, &p->in_order, true);
    require_same(j, &codes, &again, gp_text_cstr(&p->in_order));
    if (!p->has_order) {
        codes = sort_lines(&codes);
        again = report_of(j, &p->reversed, true);
        again = sort_lines(&again);
        require_same(j, &codes, &again, gp_text_cstr(&p->reversed));
    }
    gp_text_free(&codes);
}

void judge_twins(const Judged *j) {
    if (gp_diags_errors(j->diags) >= GP_MAX_ERRORS)
        return; /* not all is said */
    GpSession *s = j->std->session;
    Printed p = {.j = j,
                 .arena = gp_arena_new(s),
                 .diags = gp_diags_new(s),
                 .in_order = {.session = s},
                 .reversed = {.session = s}};
    judge_require(j, p.arena && p.diags, "out of memory");
    judge_protect(j, print_trees, &p);
    if (p.in_order.len) {
        judge_unused(j);
        if (!p.has_order && !p.has_attrs && gp_diags_errors(j->diags) + 1 < GP_MAX_ERRORS)
            judge_wrong(j, &p.in_order);
        judge_printed(j, &p);
    }
    gp_text_free(&p.in_order);
    gp_text_free(&p.reversed);
    gp_diags_release(p.diags);
    gp_arena_free(p.arena);
}
