/* A module from its source to a checked tree. Phases stop between each other: what could not be
** parsed is not resolved, what has type errors is not checked for moves. */
#include "dsl/check.h"
#include "dsl/macro.h"

typedef struct Build {
    GpModule *m;
    GpDiags *diags;
} Build;

static void check_bodies(GpCheck *c) {
    GpModule *m = c->module;
    for (uint32_t i = 0; i < m->const_count; i++)
        gp_check_const(c, m->consts[i]);
    for (uint32_t i = 0; i < m->const_count; i++)
        gp_check_const_value(c, m->consts[i]);
    for (uint32_t i = 0; i < m->fn_count; i++)
        gp_check_fn(c, m->fns[i]);
    gp_check_calls(c);
    c->unify = NULL;
}

static void build(GpSession *s, void *ud) {
    Build *b = ud;
    GpModule *m = b->m;
    (void)s;
    uint32_t before = gp_diags_errors(b->diags);
    gp_std_fill(m->std);
    GpMap macros = {0};
    GpParse p = {m->arena, m->std->names, b->diags, &macros};
    m->file = gp_parse_file(&p, m->source);
    if (gp_diags_errors(b->diags) == before)
        gp_expand_file(&p, m->file);
    GpCheck c = {.module = m,
                 .std = m->std,
                 .arena = m->arena,
                 .types = m->std->types,
                 .names = m->std->names,
                 .diags = b->diags};
    if (gp_diags_errors(b->diags) == before) {
        gp_collect(&c, m->file);
        check_bodies(&c);
    }
    if (gp_diags_errors(b->diags) != before)
        return;
    for (uint32_t i = 0; i < m->fn_count; i++)
        gp_check_moves(&c, m->fns[i]);
}

GpStatus gp_module_new(GpStd *std, GpSource *src, GpDiags *diags, GpModule **out) {
    GpModule *m = GP_TRY_NEW(std->session, GpModule);
    *out = NULL;
    if (!m)
        return GpStatus_NoMemory;
    *m = (GpModule){.session = std->session, .refs = 1, .std = std};
    m->source = gp_source_retain(src);
    m->arena = gp_arena_new(std->session);
    Build b = {m, diags};
    GpStatus status = m->arena ? gp_protect(std->session, build, &b) : GpStatus_NoMemory;
    if (status != GpStatus_Ok || gp_diags_failed(diags)) {
        gp_module_release(m);
        return status != GpStatus_Ok ? status : GpStatus_NoMemory;
    }
    *out = m;
    return GpStatus_Ok;
}

GpModule *gp_module_retain(GpModule *m) {
    m->refs++;
    return m;
}

void gp_module_release(GpModule *m) {
    if (!m || --m->refs)
        return;
    gp_arena_free(m->arena);
    gp_source_release(m->source);
    gp_free(m->session, m, sizeof *m);
}

typedef struct ParseOnly {
    GpArena *arena;
    GpSource *src;
    GpDiags *diags;
    GpText *out;
} ParseOnly;

static void parse_only(GpSession *s, void *ud) {
    ParseOnly *p = ud;
    (void)s;
    GpParse parse = {p->arena, gp_interner_make(p->arena), p->diags, NULL};
    GpAstFile *file = gp_parse_file(&parse, p->src);
    if (p->out)
        gp_node_print(&file->node, p->out);
}

GpStatus gp_module_parse(GpSession *s, GpSource *src, GpDiags *diags, GpText *ast) {
    ParseOnly p = {gp_arena_new(s), src, diags, ast};
    if (!p.arena)
        return GpStatus_NoMemory;
    GpStatus status = gp_protect(s, parse_only, &p);
    gp_arena_free(p.arena);
    return status;
}

uint32_t gp_module_kernel_count(const GpModule *m) { return m->kernel_count; }

const GpDef *gp_module_kernel_at(const GpModule *m, uint32_t i) {
    gp_assert(i < m->kernel_count);
    return m->kernels[i];
}

const GpDef *gp_module_find_kernel(const GpModule *m, GpStr name) {
    for (uint32_t i = 0; i < m->kernel_count; i++) {
        GpSym sym = m->kernels[i]->name;
        if (gp_str_eq((GpStr){sym->name, sym->len}, name))
            return m->kernels[i];
    }
    return NULL;
}

const GpDef *gp_module_find_fn(const GpModule *m, GpStr name) {
    for (uint32_t i = 0; i < m->fn_count; i++) {
        const GpDef *fn = m->fns[i];
        if (fn->parent->kind == GpDef_Module && gp_str_eq((GpStr){fn->name->name, fn->name->len}, name))
            return fn;
    }
    return NULL;
}

/* The attribute that would make a kernel of it; NULL: neither. */
static const char *kernel_attribute(const GpModule *m, const GpDef *fn) {
    if (fn->track != GpTrack_Simt && gp_sig_is_kernels(m->std->types, fn, GpTrack_Tile))
        return "#[tile] ";
    if (fn->track != GpTrack_Tile && gp_sig_is_kernels(m->std->types, fn, GpTrack_Simt))
        return "#[kernel] ";
    return NULL;
}

void gp_module_report_no_kernel(const GpModule *m, const char *name, GpSpan at, GpDiags *diags) {
    GpDiag *d = gp_diag(diags, GpDiag_G0341, at, name);
    const GpDef *fn = gp_module_find_fn(m, gp_str_from(name));
    if (!fn)
        return;
    gp_label(d, fn->span, "a function without `#[tile]` or `#[kernel]` is for kernels to call");
    const char *attribute = kernel_attribute(m, fn);
    if (attribute)
        gp_suggest(d, (GpSpan){fn->node->span.src, fn->node->span.off, 0}, attribute, "make it a kernel");
    else
        gp_help(d, "call it in a kernel, which takes tensors or slices and numbers, and returns nothing");
}
