/* The model of diagnostics: a list, its entries, labels and children.
**
** Everything that a list holds is in its own arena. Report sites may stand where nothing may
** throw (a handler called by LLVM), so each allocation runs under its own gp_protect and a
** failure only sets `failed`. */
#include "core/diag.h"

#include <stdarg.h>

static const GpDiagRow rows[] = {
#define GP_DIAG(code, severity, title, explain)                                                    \
    [GpDiag_##code] = {#code, GpSeverity_##severity, title, explain},
#include "core/diag.def"
};

typedef GP_VEC(GpDiagLabel) Labels;
typedef GP_VEC(GpDiagChild) Children;
typedef GP_VEC(GpDiag *) Entries;

struct GpDiag {
    GpDiags *list;
    bool is_swallowed; /* a duplicate, one too many, or one that found no memory */
    GpDiagCode code;
    const char *title;
    struct GpDiag *next; /* with the same hash of code and span */
    GpSpan span;         /* the primary one, in the expansion that it comes from */
    Labels labels;       /* the primary one first; in texts, as all that is shown */
    Children children;
};

struct GpDiags {
    GpSession *session;
    GpArena *arena;
    uint32_t errors;
    bool failed;
    Entries entries;
    GpMap by_place;   /* hash of code and span -> the newest GpDiag */
    GpDiag swallowed; /* what gp_diag returns when it keeps nothing */
};

const GpDiagRow *gp_diag_row(GpDiagCode code) {
    gp_assert(code < GpDiagCode_count);
    return &rows[code];
}

bool gp_diag_find(const char *code, GpDiagCode *out) {
    for (int i = 0; i < GpDiagCode_count; i++) {
        if (strcmp(rows[i].code, code) != 0)
            continue;
        *out = (GpDiagCode)i;
        return true;
    }
    return false;
}

const char *gp_severity_name(GpSeverity severity) {
    switch (severity) {
    case GpSeverity_Error:
        return "error";
    case GpSeverity_Warning:
        return "warning";
    case GpSeverity_Note:
        return "note";
    }
    gp_unreachable();
}

GpDiags *gp_diags_new(GpSession *s) {
    GpDiags *ds = GP_TRY_NEW(s, GpDiags);
    if (!ds)
        return NULL;
    *ds = (GpDiags){.session = s, .arena = gp_arena_new(s)};
    if (!ds->arena) {
        gp_free(s, ds, sizeof *ds);
        return NULL;
    }
    ds->swallowed = (GpDiag){.list = ds, .is_swallowed = true, .title = ""};
    return ds;
}

static void release_sources(GpDiag *d) {
    gp_source_release(d->span.src);
    for (uint32_t i = 0; i < d->labels.len; i++)
        gp_source_release(d->labels.at[i].span.src);
    for (uint32_t i = 0; i < d->children.len; i++)
        gp_source_release(d->children.at[i].span.src);
}

void gp_diags_release(GpDiags *ds) {
    if (!ds)
        return;
    for (uint32_t i = 0; i < ds->entries.len; i++)
        release_sources(ds->entries.at[i]);
    gp_arena_free(ds->arena);
    gp_free(ds->session, ds, sizeof *ds);
}

GpDiags *gp_diags_take(GpDiags *ds) {
    GpDiags *taken = gp_diags_new(ds->session);
    if (!taken)
        return NULL;
    GpDiags old = *ds;
    ds->arena = taken->arena;
    ds->entries = taken->entries;
    ds->by_place = taken->by_place;
    ds->errors = 0;
    ds->failed = false;
    taken->arena = old.arena;
    taken->entries = old.entries;
    taken->by_place = old.by_place;
    taken->errors = old.errors;
    taken->failed = old.failed;
    for (uint32_t i = 0; i < taken->entries.len; i++)
        taken->entries.at[i]->list = taken;
    return taken;
}

/* One piece of work that may run out of memory. */
typedef struct Addition {
    GpDiags *list;
    GpDiag *diag; /* NULL asks for a new one */
    const char *title;
    GpDiagCode code;
    const GpDiagLabel *label;
    const GpDiagChild *child;
} Addition;

static void add_label(GpArena *arena, GpDiag *d, GpDiagLabel label) {
    label.text = gp_arena_copy(arena, label.text, strlen(label.text));
    label.span = gp_span_root(label.span);
    GP_PUSH(arena, &d->labels, label);
    gp_source_retain(label.span.src);
}

static void add_child(GpArena *arena, GpDiag *d, GpDiagChild child) {
    child.text = gp_arena_copy(arena, child.text, strlen(child.text));
    child.span = gp_span_root(child.span);
    if (child.replacement) {
        child.replacement = gp_arena_copy(arena, child.replacement, strlen(child.replacement));
    }
    GP_PUSH(arena, &d->children, child);
    gp_source_retain(child.span.src);
}

static const void *place_key(GpDiagCode code, GpSpan span) {
    uint32_t hash = gp_hash_u64((uint64_t)span.off << 32 | span.len, (uint32_t)code);
    return (const void *)((uintptr_t)hash | (uintptr_t)1 << 32);
}

static void run_addition(GpSession *s, void *ud) {
    (void)s;
    Addition *add = ud;
    GpArena *arena = add->list->arena;
    if (add->diag) {
        if (add->label)
            add_label(arena, add->diag, *add->label);
        if (add->child)
            add_child(arena, add->diag, *add->child);
        return;
    }
    GpDiag *d = GP_NEW(arena, GpDiag);
    d->list = add->list;
    d->code = add->code;
    d->title = gp_arena_copy(arena, add->title, strlen(add->title));
    GP_PUSH(arena, &add->list->entries, d); /* before the label: the list owns its source */
    if (add->label->span.src) {
        add_label(arena, d, *add->label);
        d->span = add->label->span;
        gp_source_retain(d->span.src);
    }
    d->next = gp_map_set(arena, &add->list->by_place, place_key(d->code, d->span), d);
    add->diag = d;
}

/* The diagnostic worked on; NULL when memory ran out. */
static GpDiag *run(Addition add) {
    uint32_t count = add.list->entries.len;
    if (gp_protect(add.list->session, run_addition, &add) == GpStatus_Ok)
        return add.diag;
    add.list->failed = true;
    if (!add.diag)
        add.list->entries.len = count;
    return NULL;
}

static void format_title(GpText *out, const char *title, va_list args) {
    for (const char *hole; (hole = strstr(title, "%s")); title = hole + 2) {
        gp_text_add(out, title, (size_t)(hole - title));
        gp_text_puts(out, va_arg(args, const char *));
    }
    gp_text_puts(out, title);
}

/* One mistake, one error. Without a place only the text can tell two apart. */
static bool is_known(const GpDiags *ds, GpDiagCode code, GpSpan primary, const char *title) {
    const GpDiag *d = gp_map_get(&ds->by_place, place_key(code, primary));
    for (; d; d = d->next) {
        if (d->code != code)
            continue;
        if (!gp_span_eq(d->span, primary))
            continue;
        if (primary.src || strcmp(d->title, title) == 0)
            return true;
    }
    return false;
}

GpDiag *gp_diag(GpDiags *ds, GpDiagCode code, GpSpan primary, ...) {
    const GpDiagRow *row = gp_diag_row(code);
    bool is_error = row->severity == GpSeverity_Error;
    if (is_error && ds->errors >= GP_MAX_ERRORS)
        return &ds->swallowed;
    GpText title = {.session = ds->session};
    va_list args;
    va_start(args, primary);
    format_title(&title, row->title, args);
    va_end(args);
    GpDiag *d = NULL;
    if (title.failed) {
        ds->failed = true;
    } else if (!is_known(ds, code, primary, gp_text_cstr(&title))) {
        GpDiagLabel label = {.span = primary, .text = "", .primary = true};
        d = run(
            (Addition){.list = ds, .code = code, .title = gp_text_cstr(&title), .label = &label});
    }
    gp_text_free(&title);
    if (!d)
        return &ds->swallowed;
    ds->errors += is_error;
    GpSpan call = gp_span_call(primary);
    if (call.src) {
        gp_label(d, call, "in this macro invocation");
        gp_note(d, "this error originates in the macro `%s`", primary.src->macro);
    }
    return d;
}

/* Formats the text and adds the label or child that waits for it. */
static void add_text(GpDiag *d, GpDiagLabel *label, GpDiagChild *child, const char *fmt,
                     va_list args) {
    if (d->is_swallowed)
        return;
    GpText text = {.session = d->list->session};
    gp_text_vprintf(&text, fmt, args);
    if (text.failed) {
        d->list->failed = true;
    } else {
        if (label)
            label->text = gp_text_cstr(&text);
        if (child)
            child->text = gp_text_cstr(&text);
        run((Addition){.list = d->list, .diag = d, .label = label, .child = child});
    }
    gp_text_free(&text);
}

static void set_primary(GpSession *s, void *ud) {
    (void)s;
    Addition *add = ud;
    const char *text = add->title;
    add->diag->labels.at[0].text = gp_arena_copy(add->list->arena, text, strlen(text));
}

void gp_primary_label(GpDiag *d, const char *fmt, ...) {
    if (d->is_swallowed)
        return;
    GpText text = {.session = d->list->session};
    va_list args;
    va_start(args, fmt);
    gp_text_vprintf(&text, fmt, args);
    va_end(args);
    if (d->labels.len == 0) { /* without a place, what the label says is still the reason */
        gp_note(d, "%s", gp_text_cstr(&text));
        gp_text_free(&text);
        return;
    }
    Addition add = {.list = d->list, .diag = d, .title = gp_text_cstr(&text)};
    if (text.failed || gp_protect(d->list->session, set_primary, &add) != GpStatus_Ok) {
        d->list->failed = true;
    }
    gp_text_free(&text);
}

void gp_label(GpDiag *d, GpSpan span, const char *fmt, ...) {
    if (!span.src)
        return;
    GpDiagLabel label = {.span = span};
    va_list args;
    va_start(args, fmt);
    add_text(d, &label, NULL, fmt, args);
    va_end(args);
}

void gp_note(GpDiag *d, const char *fmt, ...) {
    GpDiagChild child = {.kind = GpChild_Note};
    va_list args;
    va_start(args, fmt);
    add_text(d, NULL, &child, fmt, args);
    va_end(args);
}

void gp_note_at(GpDiag *d, GpSpan span, const char *fmt, ...) {
    GpDiagChild child = {.kind = GpChild_Note, .span = span};
    va_list args;
    va_start(args, fmt);
    add_text(d, NULL, &child, fmt, args);
    va_end(args);
}

void gp_help(GpDiag *d, const char *fmt, ...) {
    GpDiagChild child = {.kind = GpChild_Help};
    va_list args;
    va_start(args, fmt);
    add_text(d, NULL, &child, fmt, args);
    va_end(args);
}

void gp_suggest(GpDiag *d, GpSpan span, const char *replacement, const char *fmt, ...) {
    GpDiagChild child = {.kind = GpChild_Suggestion, .span = span, .replacement = replacement};
    va_list args;
    va_start(args, fmt);
    add_text(d, NULL, &child, fmt, args);
    va_end(args);
}

uint32_t gp_diags_count(const GpDiags *ds) { return ds->entries.len; }
uint32_t gp_diags_errors(const GpDiags *ds) { return ds->errors; }

bool gp_diag_is_kept(const GpDiag *d) { return !d->is_swallowed; }
bool gp_diags_failed(const GpDiags *ds) { return ds->failed; }

const GpDiag *gp_diags_at(const GpDiags *ds, uint32_t i) {
    gp_assert(i < ds->entries.len);
    return ds->entries.at[i];
}

GpDiagCode gp_diag_code(const GpDiag *d) { return d->code; }
GpSeverity gp_diag_severity(const GpDiag *d) { return rows[d->code].severity; }
const char *gp_diag_title(const GpDiag *d) { return d->title; }
GpSpan gp_diag_span(const GpDiag *d) { return d->labels.len ? d->labels.at[0].span : GP_NO_SPAN; }
uint32_t gp_diag_label_count(const GpDiag *d) { return d->labels.len; }

GpDiagLabel gp_diag_label_at(const GpDiag *d, uint32_t i) {
    gp_assert(i < d->labels.len);
    return d->labels.at[i];
}

uint32_t gp_diag_child_count(const GpDiag *d) { return d->children.len; }

GpDiagChild gp_diag_child_at(const GpDiag *d, uint32_t i) {
    gp_assert(i < d->children.len);
    return d->children.at[i];
}

GpSession *gp_diag_session(const GpDiag *d) { return d->list->session; }

/* Negative when a comes first. Without a place comes last among its severity. */
static int compare(const GpDiag *a, const GpDiag *b) {
    if (rows[a->code].severity != rows[b->code].severity) {
        return rows[a->code].severity < rows[b->code].severity ? -1 : 1;
    }
    if (!a->labels.len || !b->labels.len)
        return (int)!a->labels.len - (int)!b->labels.len;
    GpPlaceInFile at = gp_span_start(a->labels.at[0].span);
    GpPlaceInFile bt = gp_span_start(b->labels.at[0].span);
    int by_file = strcmp(at.file, bt.file);
    if (by_file)
        return by_file;
    if (at.line != bt.line)
        return at.line < bt.line ? -1 : 1;
    return (at.column > bt.column) - (at.column < bt.column);
}

void gp_diags_sort(GpDiags *ds) {
    for (uint32_t i = 1; i < ds->entries.len; i++) {
        GpDiag *d = ds->entries.at[i];
        uint32_t j = i;
        for (; j > 0 && compare(ds->entries.at[j - 1], d) > 0; j--) {
            ds->entries.at[j] = ds->entries.at[j - 1];
        }
        ds->entries.at[j] = d;
    }
}
