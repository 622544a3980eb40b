/* Who may use a storage now, and what to say when somebody may not.
**
** The state (owned, partitioned, moved, freed; frozen beside it) and the loans live with the
** storage, so all handles, Lua and the C API get one answer. Only ops that were made and not
** enqueued hold loans: what is enqueued is ordered by streams and never conflicts. The words
** are rustc's where rustc has the error. */
#include "runtime/internal.h"

typedef enum Conflict {
    Conflict_None,
    Conflict_Freed,
    Conflict_Moved,
    Conflict_Partitioned,
    Conflict_Ended, /* a partition that was unwrapped */
    Conflict_Frozen,
    Conflict_Part, /* a move of a view that is only a part */
    Conflict_Loan,
} Conflict;

static bool is_writing(GpVerb verb) { return verb != GpVerb_Read && verb != GpVerb_Drop; }
static bool is_moving(GpVerb verb) { return verb == GpVerb_Move || verb == GpVerb_Drop; }

static bool is_conflicting(const GpLoan *loan, const GpRequest *q) {
    if (loan->access == GpAccess_Move || is_moving(q->verb))
        return true;
    if (loan->access == GpAccess_Read && q->verb == GpVerb_Read)
        return false;
    return gp_tensor_overlaps(loan->tensor, q->tensor);
}

static Conflict find_conflict(const GpRequest *q, const GpLoan **loan) {
    const GpStorage *st = q->tensor->storage;
    *loan = NULL;
    if (q->via && q->via->is_ended)
        return Conflict_Ended;
    switch (st->state) {
    case GpOwn_Freed:
        return Conflict_Freed;
    case GpOwn_Moved:
        return Conflict_Moved;
    case GpOwn_Partitioned:
        if (!q->via || st->owner != q->via)
            return Conflict_Partitioned;
        break;
    case GpOwn_Owned:
        break;
    }
    if (st->is_frozen && is_writing(q->verb))
        return Conflict_Frozen;
    if (q->verb == GpVerb_Move && !q->tensor->is_whole)
        return Conflict_Part;
    for (*loan = st->loans; *loan; *loan = (*loan)->next) {
        if (is_conflicting(*loan, q))
            return Conflict_Loan;
    }
    return Conflict_None;
}

/* One verdict being written. */
typedef struct Verdict {
    const GpRequest *q;
    GpRuntime *rt;
    GpDiags *diags;
    GpSpan here;
    const char *name;
} Verdict;

static const char *borrow_kind(GpAccess access) {
    return access == GpAccess_Read ? "immutable" : "mutable";
}

/* A view is refused for what happened to its storage, under another name. */
static void note_base(const Verdict *v, GpDiag *d) {
    const GpTensor *base = v->q->tensor->storage->maker;
    if (v->q->via || !base || base == v->q->tensor)
        return;
    GpText name = {.session = v->rt->session};
    gp_value_name(v->rt, base, "", &name);
    if (name.len && strcmp(name.at, v->name) != 0)
        gp_note(d, "%s is a view of %s", v->name, name.at);
    gp_text_free(&name);
}

static void report_freed(const Verdict *v) {
    GpDiag *d = gp_diag(v->diags, GpDiag_G0302, v->here, v->name);
    gp_primary_label(d, "value used here after it was freed");
    gp_label(d, gp_site_span(v->rt, v->q->tensor->storage->state_at), "value freed here");
    note_base(v, d);
}

static void report_moved(const Verdict *v, Conflict conflict) {
    const GpStorage *st = v->q->tensor->storage;
    const GpPartition *ended = conflict == Conflict_Ended ? v->q->via : NULL;
    GpSite moved_at = ended ? ended->ended_at : st->state_at;
    GpDiag *d = gp_diag(v->diags, GpDiag_E0382, v->here, "use of", v->name);
    gp_primary_label(d, "value used here after move");
    gp_label(d, gp_site_span(v->rt, moved_at), "value moved here");
    note_base(v, d);
    if (conflict == Conflict_Partitioned)
        gp_help(d, "a partition owns its tensor: use `tiles` to borrow it for one launch, or "
                   "`unpartition` to get it back");
}

static void report_frozen(const Verdict *v) {
    GpSpan frozen = gp_site_span(v->rt, v->q->tensor->storage->frozen_at);
    GpDiag *d;
    if (is_moving(v->q->verb)) {
        d = gp_diag(v->diags, GpDiag_E0507, v->here, v->name, ", which is frozen");
        gp_primary_label(d, "move out of %s occurs here", v->name);
    } else {
        d = gp_diag(v->diags, GpDiag_E0596, v->here, v->name, "frozen");
        gp_primary_label(d, "cannot borrow as mutable");
    }
    gp_label(d, frozen, "%s was frozen here", v->name);
    gp_help(d, "write to a copy of it");
}

static void report_part(const Verdict *v) {
    GpDiag *d = gp_diag(v->diags, GpDiag_E0507, v->here, v->name, ", which is a part of a tensor");
    gp_primary_label(d, "move out of %s occurs here", v->name);
    note_base(v, d);
    gp_help(d, "use `tiles` to borrow it for one launch");
}

static GpDiag *report_loan_title(const Verdict *v, const GpLoan *loan, GpSpan there) {
    GpDiag *d;
    if (loan->access == GpAccess_Move) {
        d = gp_diag(v->diags, GpDiag_E0382, v->here, "use of", v->name);
        gp_primary_label(d, "value used here after move");
        gp_label(d, there, "value moved here");
    } else if (is_moving(v->q->verb)) {
        d = gp_diag(v->diags, GpDiag_E0505, v->here, v->name);
        gp_primary_label(d, "move out of %s occurs here", v->name);
        gp_label(d, there, "borrow of %s occurs here", v->name);
    } else if (v->q->verb == GpVerb_Assign) {
        d = gp_diag(v->diags, GpDiag_E0506, v->here, v->name);
        gp_primary_label(d, "%s is assigned to here but it was already borrowed", v->name);
        gp_label(d, there, "%s is borrowed here", v->name);
    } else if (v->q->verb == GpVerb_Write && loan->access == GpAccess_Write) {
        d = gp_diag(v->diags, GpDiag_E0499, v->here, v->name);
        gp_primary_label(d, "second mutable borrow occurs here");
        gp_label(d, there, "first mutable borrow occurs here");
    } else {
        const char *mine = v->q->verb == GpVerb_Read ? "immutable" : "mutable";
        const char *other = borrow_kind(loan->access);
        d = gp_diag(v->diags, GpDiag_E0502, v->here, v->name, mine, other);
        gp_primary_label(d, "%s borrow occurs here", mine);
        gp_label(d, there, "%s borrow occurs here", other);
    }
    return d;
}

static void report_loan(const Verdict *v, const GpLoan *loan) {
    GpDiag *d = report_loan_title(v, loan, gp_site_span(v->rt, loan->site));
    GpText other = {.session = v->rt->session};
    if (loan->tensor != v->q->tensor)
        gp_value_name(v->rt, loan->tensor, "", &other);
    if (other.len && strcmp(other.at, v->name) != 0)
        gp_note(d, "%s and %s share elements", v->name, other.at);
    gp_text_free(&other);
    gp_note(d, "the launch of `%s` made there was not run, and holds its arguments until it is",
            loan->kernel);
    gp_help(d, "run it first, with `run()` or `sync()`");
}

/* The argument of a launch, or the name of the value where it stands on the line. */
static GpSpan request_span(const GpRequest *q, const GpText *name) {
    const GpRuntime *rt = q->tensor->storage->device->rt;
    GpSiteHint hint = q->hint;
    char word[128] = "";
    const char *text = gp_text_cstr(name);
    size_t len = strlen(text);
    if (!hint.callee && text[0] == '`' && len - 2 < sizeof(word)) {
        memcpy(word, text + 1, len - 2);
        word[len - 2] = '\0';
        hint.word = word;
    }
    return gp_site_span_of(rt, q->site, &hint);
}

static GpStatus report(const GpRequest *q, Conflict conflict, const GpLoan *loan, GpDiags *diags) {
    GpRuntime *rt = q->tensor->storage->device->rt;
    GpText name = {.session = rt->session};
    gp_value_name(rt, q->via ? (const void *)q->via : q->tensor,
                  q->via ? "the partition" : "the tensor", &name);
    Verdict v = {q, rt, diags, request_span(q, &name), gp_text_cstr(&name)};
    switch (conflict) {
    case Conflict_None:
        gp_unreachable();
    case Conflict_Freed:
        report_freed(&v);
        break;
    case Conflict_Moved:
    case Conflict_Partitioned:
    case Conflict_Ended:
        report_moved(&v, conflict);
        break;
    case Conflict_Frozen:
        report_frozen(&v);
        break;
    case Conflict_Part:
        report_part(&v);
        break;
    case Conflict_Loan:
        report_loan(&v, loan);
        break;
    }
    gp_text_free(&name);
    return GpStatus_Diagnostics;
}

GpStatus gp_own_check(const GpRequest *q, GpDiags *diags) {
    const GpStorage *st = q->tensor->storage;
    if (GP_LIKELY(st->state == GpOwn_Owned && !st->loans && !st->is_frozen &&
                  q->verb != GpVerb_Move && (!q->via || !q->via->is_ended)))
        return GpStatus_Ok;
    const GpLoan *loan;
    Conflict conflict = find_conflict(q, &loan);
    if (conflict == Conflict_None)
        return GpStatus_Ok;
    const GpRuntime *rt = st->device->rt;
    if ((conflict == Conflict_Partitioned || conflict == Conflict_Loan) && rt->hooks.collect) {
        rt->hooks.collect(rt->hooks.ud); /* no verdict depends on the collector */
        conflict = find_conflict(q, &loan);
        if (conflict == Conflict_None)
            return GpStatus_Ok;
    }
    return report(q, conflict, loan, diags);
}

/* Both places may be one line, so the labels name the parameters. */
GpStatus gp_own_report_pair(const GpRequest *a, const GpRequest *b, const char *kernel,
                            GpDiags *diags) {
    GpRuntime *rt = b->tensor->storage->device->rt;
    GpText name = {.session = rt->session};
    gp_value_name(rt, b->via ? (const void *)b->via : b->tensor, "the tensor", &name);
    GpSpan here = request_span(b, &name), there = request_span(a, &name);
    const char *text = gp_text_cstr(&name);
    GpDiag *d;
    if (a->verb == GpVerb_Move) {
        d = gp_diag(diags, GpDiag_E0382, here, "use of", text);
        gp_primary_label(d, "value used here after move, for parameter `%s`", b->param);
        gp_label(d, there, "value moved here, for parameter `%s`", a->param);
    } else if (b->verb == GpVerb_Move) {
        d = gp_diag(diags, GpDiag_E0505, here, text);
        gp_primary_label(d, "move out of %s occurs here, for parameter `%s`", text, b->param);
        gp_label(d, there, "borrow of %s occurs here, for parameter `%s`", text, a->param);
    } else if (a->verb == GpVerb_Write && b->verb == GpVerb_Write) {
        d = gp_diag(diags, GpDiag_E0499, here, text);
        gp_primary_label(d, "second mutable borrow occurs here, for parameter `%s`", b->param);
        gp_label(d, there, "first mutable borrow occurs here, for parameter `%s`", a->param);
    } else {
        const char *mine = b->verb == GpVerb_Read ? "immutable" : "mutable";
        const char *other = a->verb == GpVerb_Read ? "immutable" : "mutable";
        d = gp_diag(diags, GpDiag_E0502, here, text, mine, other);
        gp_primary_label(d, "%s borrow occurs here, for parameter `%s`", mine, b->param);
        gp_label(d, there, "%s borrow occurs here, for parameter `%s`", other, a->param);
    }
    if (!here.src)
        gp_note(d, "they are parameters `%s` and `%s` of kernel `%s`", a->param, b->param, kernel);
    gp_text_free(&name);
    return GpStatus_Diagnostics;
}

GpStatus gp_own_report_second_run(const GpRuntime *rt, const void *op, GpSite first, GpSite second,
                                  GpDiags *diags) {
    GpText name = {.session = rt->session};
    gp_value_name(rt, op, "the op", &name);
    GpDiag *d = gp_diag(diags, GpDiag_E0382, gp_site_span(rt, second), "use of", gp_text_cstr(&name));
    gp_primary_label(d, "value used here after move");
    gp_label(d, gp_site_span(rt, first), "value moved here: the op was run");
    gp_help(d, "an op runs once; call the kernel again for another launch");
    gp_text_free(&name);
    return GpStatus_Diagnostics;
}

GpStatus gp_tensor_check(GpTensor *t, GpAccess access, GpSite site, GpDiags *diags) {
    return gp_own_check(
        &(GpRequest){.tensor = t, .verb = gp_verb_of(access), .site = site}, diags);
}

GpStatus gp_tensor_drop(GpTensor *t, GpSite site, GpDiags *diags) {
    GpStorage *st = t->storage;
    if (st->state != GpOwn_Owned)
        return GpStatus_Ok;
    GpStatus status =
        gp_own_check(&(GpRequest){.tensor = t, .verb = GpVerb_Drop, .site = site}, diags);
    if (status != GpStatus_Ok)
        return status;
    gp_storage_free_memory(st);
    st->state = GpOwn_Freed;
    st->state_at = site;
    return GpStatus_Ok;
}

GpStatus gp_tensor_freeze(GpTensor *t, GpSite site, GpDiags *diags) {
    GpStorage *st = t->storage;
    GpStatus status =
        gp_own_check(&(GpRequest){.tensor = t, .verb = GpVerb_Read, .site = site}, diags);
    if (status != GpStatus_Ok || st->is_frozen)
        return status;
    st->is_frozen = true;
    st->frozen_at = site;
    return GpStatus_Ok;
}

bool gp_tensor_is_frozen(const GpTensor *t) { return t->storage->is_frozen; }
