/* Reports: every place lies inside its text, nothing is said twice, the order is that of the text,
** and all text is filled in. */
#include "spec/fuzz/judge.h"

static void judge_span(const Judged *j, GpSpan span, const char *what) {
    if (!span.src)
        return;
    judge_require(j, span.off <= span.src->len && span.len <= span.src->len - span.off,
                  "%s from %u for %u of %u bytes", what, span.off, span.len, span.src->len);
}

static void judge_text(const Judged *j, const char *text, bool may_be_empty) {
    bool is_filled = text && (*text || may_be_empty) && !strstr(text, "(null)");
    judge_require(j, is_filled, "a text that lacks something: %s", text ? text : "all of it");
}

static void judge_diag(const Judged *j, const GpDiag *d) {
    judge_text(j, gp_diag_title(d), false);
    judge_require(j, gp_diag_span(d).src != NULL, "%s has no place",
                  gp_diag_row(gp_diag_code(d))->code);
    for (uint32_t i = 0; i < gp_diag_label_count(d); i++) {
        GpDiagLabel label = gp_diag_label_at(d, i);
        judge_span(j, label.span, "a label");
        judge_text(j, label.text, true);
    }
    for (uint32_t i = 0; i < gp_diag_child_count(d); i++) {
        GpDiagChild child = gp_diag_child_at(d, i);
        judge_span(j, child.span, "a note");
        judge_text(j, child.text, false);
        judge_require(j, child.kind != GpChild_Suggestion || child.span.src,
                      "a suggestion without a place: %s", child.text);
    }
}

/* Which expansion of a macro the place is in, when it is in one: its call is labelled first. */
static GpSpan call_of(const GpDiag *d) {
    return gp_diag_label_at(d, gp_diag_label_count(d) > 1).span;
}

/* Of two neighbours in the sorted list. */
static void judge_order(const Judged *j, const GpDiag *a, const GpDiag *b) {
    GpSpan x = gp_diag_span(a), y = gp_diag_span(b);
    const char *first = gp_diag_row(gp_diag_code(a))->code,
               *second = gp_diag_row(gp_diag_code(b))->code;
    if (gp_diag_severity(a) != gp_diag_severity(b)) {
        judge_require(j, gp_diag_severity(a) < gp_diag_severity(b), "%s comes before %s", first,
                      second);
        return;
    }
    if (x.src != y.src)
        return;
    judge_require(j, x.off <= y.off, "%s at %u comes before %s at %u", first, x.off, second, y.off);
    bool is_same = gp_diag_code(a) == gp_diag_code(b) && x.off == y.off && x.len == y.len;
    judge_require(j, !is_same || call_of(a).off != call_of(b).off, "%s is said twice at %u", first,
                  x.off);
}

void judge_diags(const Judged *j, const GpDiags *ds) {
    for (uint32_t i = 0; i < gp_diags_count(ds); i++) {
        judge_diag(j, gp_diags_at(ds, i));
        if (i)
            judge_order(j, gp_diags_at(ds, i - 1), gp_diags_at(ds, i));
    }
}
