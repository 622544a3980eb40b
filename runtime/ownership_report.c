/* What is said when a storage may not be used: rustc's words where rustc has the error, with the
** place of both sides, and the name that each of them gave to the value. */
#include <stdio.h>

#include "runtime/internal.h"

/* One verdict being written. */
typedef struct Verdict {
    const GpRequest *q;
    GpRuntime *rt;
    GpDiags *diags;
    GpSpan here;
    GpText name; /* "`z`", or words where the value has no name */
} Verdict;

static const char *name_of(const Verdict *v) { return gp_text_cstr(&v->name); }

/* ---- Names ------------------------------------------------------------------------------ */

/* "`z`", the name in what the hint points at; nothing when it has none. */
static bool read_name(const GpRuntime *rt, GpSite site, GpSiteHint hint, GpText *out) {
    hint.is_name = true;
    GpSpan span = gp_site_span_of(rt, site, &hint);
    if (!span.src || span.len == 0)
        return false;
    gp_text_puts(out, "`");
    gp_text_add(out, span.src->text + span.off, span.len);
    gp_text_puts(out, "`");
    return true;
}

/* A name that the running code has for the value: for tiles, that of the tensor they borrow. */
static bool find_name(const GpRequest *q, const GpRuntime *rt, GpText *out, GpSpan *at) {
    if (!q->via)
        return gp_value_find_name(rt, q->tensor, out, at);
    return gp_value_find_name(rt, q->via, out, at) ||
           (q->via->access == GpAccess_Write && gp_value_find_name(rt, q->tensor, out, at));
}

/* The place and name of what is refused: those of the argument's own expression on the line, else
** of the caller's variables, else the parameter. */
static Verdict begin_verdict(const GpRequest *q, GpDiags *diags) {
    GpRuntime *rt = q->tensor->storage->device->rt;
    Verdict v = {.q = q, .rt = rt, .diags = diags, .name = {.session = rt->session}};
    v.here = gp_site_span_of(rt, q->site, &q->hint);
    bool is_arg = q->hint.callee != NULL;
    if (is_arg && read_name(rt, q->site, q->hint, &v.name))
        return v;
    GpSpan at = GP_NO_SPAN;
    if (find_name(q, rt, &v.name, &at)) {
        GpSpan line = gp_site_span(rt, q->site);
        bool is_line = v.here.off == line.off && v.here.len == line.len;
        if (is_line && at.src)
            v.here = at;
    } else if (is_arg) {
        gp_text_printf(&v.name, "argument %u (`%s`) of `%s`", q->hint.arg + 1, q->param,
                       q->hint.callee);
    } else {
        gp_text_puts(&v.name, q->via ? "the partition" : "the tensor");
    }
    return v;
}

static GpStatus end_verdict(Verdict *v) {
    gp_text_free(&v->name);
    return GpStatus_Diagnostics;
}

/* A label on what the hint points at, which tells the name used there where it is another one. */
static void label_other(const Verdict *v, GpDiag *d, GpSite site, GpSiteHint hint,
                        const char *text) {
    GpText other = {.session = v->rt->session};
    GpSpan span = gp_site_span_of(v->rt, site, &hint);
    if (read_name(v->rt, site, hint, &other) && strcmp(other.at, name_of(v)) != 0) {
        gp_label(d, span, "%s, as %s", text, other.at);
    } else {
        gp_label(d, span, "%s", text);
    }
    gp_text_free(&other);
}

/* The same with that name in the text: "`z` was frozen here". */
static void label_named(const Verdict *v, GpDiag *d, GpSite site, GpSiteHint hint,
                        const char *before, const char *behind) {
    GpText name = {.session = v->rt->session};
    if (!read_name(v->rt, site, hint, &name))
        gp_text_puts(&name, name_of(v));
    gp_label(d, gp_site_span_of(v->rt, site, &hint), "%s%s%s", before, gp_text_cstr(&name), behind);
    gp_text_free(&name);
}

/* A view is refused for what happened to its storage, under another name. */
static void note_base(const Verdict *v, GpDiag *d) {
    const GpTensor *base = v->q->tensor->storage->maker;
    if (v->q->via || !base || base == v->q->tensor)
        return;
    GpText name = {.session = v->rt->session};
    if (gp_value_find_name(v->rt, base, &name, NULL) && strcmp(name.at, name_of(v)) != 0)
        gp_note(d, "%s is a view of %s", name_of(v), name.at);
    gp_text_free(&name);
}

/* ---- States ----------------------------------------------------------------------------- */

static void report_freed(const Verdict *v) {
    const GpStorage *st = v->q->tensor->storage;
    GpDiag *d = gp_diag(v->diags, GpDiag_G0302, v->here, name_of(v));
    gp_primary_label(d, "value used here after it was freed");
    label_other(v, d, st->state_at, (GpSiteHint){.method = st->state_by}, "value freed here");
    note_base(v, d);
}

static void report_moved(const Verdict *v, GpConflict conflict) {
    const GpStorage *st = v->q->tensor->storage;
    bool is_ended = conflict == GpConflict_Ended;
    GpSite moved_at = is_ended ? v->q->via->ended_at : st->state_at;
    GpSiteHint hint = {.method = is_ended ? "unpartition" : st->state_by};
    GpDiag *d = gp_diag(v->diags, GpDiag_E0382, v->here, "use of", name_of(v));
    gp_primary_label(d, "value used here after move");
    label_other(v, d, moved_at, hint, "value moved here");
    note_base(v, d);
    if (conflict == GpConflict_Partitioned)
        gp_help(d, "a partition owns its tensor: use `tiles` to borrow it for one launch, or "
                   "`unpartition` to get it back");
}

static void report_frozen(const Verdict *v) {
    GpSite frozen_at = v->q->tensor->storage->frozen_at;
    GpDiag *d;
    if (gp_verb_is_move(v->q->verb)) {
        d = gp_diag(v->diags, GpDiag_E0507, v->here, name_of(v), ", which is frozen");
        gp_primary_label(d, "move out of %s occurs here", name_of(v));
    } else {
        d = gp_diag(v->diags, GpDiag_E0596, v->here, name_of(v), "frozen");
        gp_primary_label(d, "cannot borrow as mutable");
    }
    label_named(v, d, frozen_at, (GpSiteHint){.method = "freeze"}, "", " was frozen here");
    note_base(v, d);
    gp_help(d, "write to a copy of it");
}

static void report_part(const Verdict *v) {
    GpDiag *d = gp_diag(v->diags, GpDiag_E0507, v->here, name_of(v), ", which is a part of a tensor");
    gp_primary_label(d, "move out of %s occurs here", name_of(v));
    note_base(v, d);
    if (v->q->verb == GpVerb_Drop) {
        gp_help(d, "free the whole tensor");
    } else {
        gp_help(d, "use `tiles` to borrow it for one launch");
    }
}

/* ---- Loans ------------------------------------------------------------------------------ */

static const char *borrow_kind(GpAccess access) {
    return access == GpAccess_Read ? "immutable" : "mutable";
}

static GpDiag *report_loan_title(const Verdict *v, const GpLoan *loan, GpSiteHint there) {
    GpDiag *d;
    const char *name = name_of(v);
    char text[64];
    if (loan->access == GpAccess_Move) {
        d = gp_diag(v->diags, GpDiag_E0382, v->here, "use of", name);
        gp_primary_label(d, "value used here after move");
        label_other(v, d, loan->site, there, "value moved here");
    } else if (gp_verb_is_move(v->q->verb)) {
        d = gp_diag(v->diags, GpDiag_E0505, v->here, name);
        gp_primary_label(d, "move out of %s occurs here", name);
        label_named(v, d, loan->site, there, "borrow of ", " occurs here");
    } else if (v->q->verb == GpVerb_Assign) {
        d = gp_diag(v->diags, GpDiag_E0506, v->here, name);
        gp_primary_label(d, "%s is assigned to here but it was already borrowed", name);
        label_named(v, d, loan->site, there, "", " is borrowed here");
    } else if (v->q->verb == GpVerb_Write && loan->access == GpAccess_Write) {
        d = gp_diag(v->diags, GpDiag_E0499, v->here, name);
        gp_primary_label(d, "second mutable borrow occurs here");
        label_other(v, d, loan->site, there, "first mutable borrow occurs here");
    } else {
        const char *mine = v->q->verb == GpVerb_Read ? "immutable" : "mutable";
        const char *other = borrow_kind(loan->access);
        d = gp_diag(v->diags, GpDiag_E0502, v->here, name, mine, other);
        gp_primary_label(d, "%s borrow occurs here", mine);
        snprintf(text, sizeof text, "%s borrow occurs here", other);
        label_other(v, d, loan->site, there, text);
    }
    return d;
}

/* Two handles of one storage: which of its names is which. */
static void note_shared(const Verdict *v, GpDiag *d, const GpTensor *other) {
    GpText name = {.session = v->rt->session};
    if (other != v->q->tensor && gp_value_find_name(v->rt, other, &name, NULL) &&
        strcmp(name.at, name_of(v)) != 0)
        gp_note(d, "%s and %s share elements", name_of(v), name.at);
    gp_text_free(&name);
}

static void report_loan(const Verdict *v, const GpLoan *loan) {
    GpSiteHint there = {.callee = loan->kernel, .arg = loan->arg};
    GpDiag *d = report_loan_title(v, loan, there);
    note_shared(v, d, loan->tensor);
    gp_note(d, "the launch of `%s` made there was not run, and holds its arguments until it is",
            loan->kernel);
    gp_help(d, "run it first, with `run()` or `sync()`");
}

GpStatus gp_own_report(const GpRequest *q, GpConflict conflict, const GpLoan *loan,
                       GpDiags *diags) {
    Verdict v = begin_verdict(q, diags);
    switch (conflict) {
    case GpConflict_None:
        gp_unreachable();
    case GpConflict_Freed:
        report_freed(&v);
        break;
    case GpConflict_Moved:
    case GpConflict_Partitioned:
    case GpConflict_Ended:
        report_moved(&v, conflict);
        break;
    case GpConflict_Frozen:
        report_frozen(&v);
        break;
    case GpConflict_Part:
        report_part(&v);
        break;
    case GpConflict_Loan:
        report_loan(&v, loan);
        break;
    }
    return end_verdict(&v);
}

/* ---- Two arguments of one launch -------------------------------------------------------- */

/* Both places may be one line, so the labels name the parameters. */
static void label_pair(const Verdict *v, GpDiag *d, const GpRequest *a, const char *mine,
                       const char *other) {
    GpText text = {.session = v->rt->session};
    if (gp_diag_span(d).src) /* the note below says it all */
        gp_primary_label(d, "%s, for parameter `%s`", mine, v->q->param);
    gp_text_printf(&text, "%s, for parameter `%s`", other, a->param);
    label_other(v, d, a->site, a->hint, gp_text_cstr(&text));
    gp_text_free(&text);
    note_shared(v, d, a->tensor);
}

GpStatus gp_own_report_pair(const GpRequest *a, const GpRequest *b, const char *kernel,
                            GpDiags *diags) {
    Verdict v = begin_verdict(b, diags);
    const char *name = name_of(&v);
    GpDiag *d;
    if (a->verb == GpVerb_Move) {
        d = gp_diag(diags, GpDiag_E0382, v.here, "use of", name);
        label_pair(&v, d, a, "value used here after move", "value moved here");
    } else if (b->verb == GpVerb_Move) {
        d = gp_diag(diags, GpDiag_E0505, v.here, name);
        label_pair(&v, d, a, "move occurs here", "borrow occurs here");
    } else if (a->verb == GpVerb_Write && b->verb == GpVerb_Write) {
        d = gp_diag(diags, GpDiag_E0499, v.here, name);
        label_pair(&v, d, a, "second mutable borrow occurs here",
                   "first mutable borrow occurs here");
    } else if (b->verb == GpVerb_Read) {
        d = gp_diag(diags, GpDiag_E0502, v.here, name, "immutable", "mutable");
        label_pair(&v, d, a, "immutable borrow occurs here", "mutable borrow occurs here");
    } else {
        d = gp_diag(diags, GpDiag_E0502, v.here, name, "mutable", "immutable");
        label_pair(&v, d, a, "mutable borrow occurs here", "immutable borrow occurs here");
    }
    if (!v.here.src)
        gp_note(d, "they are parameters `%s` and `%s` of kernel `%s`", a->param, b->param, kernel);
    return end_verdict(&v);
}

GpStatus gp_own_report_second_run(const GpRuntime *rt, const void *op, GpSite first, GpSite second,
                                  GpDiags *diags) {
    GpText name = {.session = rt->session};
    GpSpan here;
    if (!gp_value_find_name(rt, op, &name, &here))
        gp_text_puts(&name, "the op");
    if (!here.src)
        here = gp_site_span(rt, second);
    GpDiag *d = gp_diag(diags, GpDiag_E0382, here, "use of", gp_text_cstr(&name));
    gp_primary_label(d, "value used here after move");
    gp_label(d, gp_site_span(rt, first), "value moved here: the op was run");
    gp_help(d, "an op runs once; call the kernel again for another launch");
    gp_text_free(&name);
    return GpStatus_Diagnostics;
}
