/* Kernels of an engine, and the options that `with` gives them. */
#include <stdio.h>

#include "lua/engine_private.h"

static void free_variants(GpSession *s, GpVariants *vs) {
    if (--vs->refs > 0) return;
    while (vs->first) {
        GpVariant *v = vs->first;
        vs->first = v->next;
        for (int i = 0; i < GpLeft_count; i++) gp_exec_release(v->exec[i]);
        gp_arena_free(v->arena);
        gp_free(s, v, sizeof(*v));
    }
    gp_free(s, vs, sizeof(*vs));
}

/* A reference to the variants, or new ones. */
static GpVariants *take_variants(GpSession *s, GpVariants *shared) {
    GpVariants *vs = shared ? shared : GP_TRY_NEW(s, GpVariants);
    if (vs) vs->refs++;
    return vs;
}

static GpKernel *make_kernel(GpEngine *e, GpModule *m, const GpDef *def, GpVariants *variants) {
    GpKernel *k = GP_TRY_NEW(&e->session, GpKernel);
    if (!k) return NULL;
    k->engine = e;
    k->refs = 1;
    k->def = def;
    k->arena = gp_arena_new(&e->session);
    k->variants = take_variants(&e->session, variants);
    if (!k->arena || !k->variants) {
        gp_arena_free(k->arena);
        if (k->variants) free_variants(&e->session, k->variants);
        gp_free(&e->session, k, sizeof(*k));
        return NULL;
    }
    k->module = gp_module_retain(m);
    return k;
}

GpStatus gp_kernel_new(GpEngine *e, GpModule *m, const GpDef *def, GpKernel **out) {
    *out = make_kernel(e, m, def, NULL);
    return *out ? GpStatus_Ok : GpStatus_NoMemory;
}

GpKernel *gp_kernel_retain(GpKernel *k) {
    k->refs++;
    return k;
}

void gp_kernel_release(GpKernel *k) {
    if (!k || --k->refs > 0) return;
    GpSession *s = &k->engine->session;
    gp_stream_release(k->options.stream);
    gp_arena_free(k->bound);
    gp_arena_free(k->arena);
    free_variants(s, k->variants);
    gp_module_release(k->module);
    gp_free(s, k, sizeof(*k));
}

const char *gp_kernel_name(const GpKernel *k) { return k->def->name->name; }
GpDevice *gp_kernel_device(const GpKernel *k) { return k->device; }

/* ---- Options ---------------------------------------------------------------------------- */

bool gp_def_has_generic(const GpDef *def, GpStr name) {
    for (uint32_t i = 0; i < def->generic_count; i++) {
        GpSym own = def->generics[i]->name;
        if (gp_str_eq(name, (GpStr){own->name, own->len})) return true;
    }
    return false;
}

static GpStatus refuse_name(GpKernel *k, GpStr name, GpSite site, GpDiags *diags) {
    GpText known = {.session = &k->engine->session}, text = {.session = &k->engine->session};
    gp_text_add(&text, name.at, name.len);
    for (uint32_t i = 0; i < k->def->generic_count; i++)
        gp_text_printf(&known, "%s`%s`", i ? ", " : "", k->def->generics[i]->name->name);
    GpDiag *d = gp_diag(diags, GpDiag_G0340,
                        gp_engine_resolve_word(k->engine, site, gp_text_cstr(&text)),
                        gp_kernel_name(k), gp_text_cstr(&text));
    gp_note_at(d, k->def->span, "kernel `%s` declared here", gp_kernel_name(k));
    if (known.len)
        gp_help(d, "its generics are %s; launch options are " GP_LAUNCH_OPTIONS,
                gp_text_cstr(&known));
    else
        gp_help(d, "it has no generics; launch options are " GP_LAUNCH_OPTIONS);
    gp_text_free(&known);
    gp_text_free(&text);
    return GpStatus_Diagnostics;
}

static GpStatus refuse_schedule(GpKernel *k, GpScheduleKey key, int64_t value, GpSite site,
                                GpDiags *diags) {
    char number[32];
    const char *name = gp_schedule_info[key].name;
    GpText values = {.session = &k->engine->session};
    snprintf(number, sizeof number, "%lld", (long long)value);
    GpDiag *d = gp_diag(diags, GpDiag_G0342, gp_engine_resolve_word(k->engine, site, name), name,
                        gp_kernel_name(k), number);
    gp_note_at(d, k->def->span, "kernel `%s` declared here", gp_kernel_name(k));
    gp_schedule_print_values(key, &values);
    if (k->def->kernel.track == GpTrack_Tile)
        gp_help(d, "`%s` can be %s", name, gp_text_cstr(&values));
    else
        gp_help(d, "the threads of a SIMT kernel are those of its block: `block = {..}`");
    gp_text_free(&values);
    return GpStatus_Diagnostics;
}

static GpStatus check_schedule(GpKernel *k, const int64_t *schedule, GpSite site, GpDiags *diags) {
    bool is_tile = k->def->kernel.track == GpTrack_Tile;
    for (int i = 0; i < GpScheduleKey_count; i++) {
        GpScheduleKey key = (GpScheduleKey)i;
        if (schedule[i] && !(is_tile && gp_schedule_allows(key, schedule[i])))
            return refuse_schedule(k, key, schedule[i], site, diags);
    }
    return GpStatus_Ok;
}

typedef struct CopyOptions {
    const GpKernel *from;
    const GpKernelOptions *add;
    GpKernel *to;
} CopyOptions;

static void copy_named(GpKernel *k, GpNamedArg *list, const GpNamedArg *arg) {
    uint32_t i = 0;
    for (; i < k->options.named_count; i++)
        if (gp_str_eq(list[i].name, arg->name)) break;
    list[i] = *arg;
    list[i].name.at = gp_arena_copy(k->arena, arg->name.at, arg->name.len);
    if (arg->kind == GpNamed_Text) list[i].text.at = gp_arena_copy(k->arena, arg->text.at, arg->text.len);
    if (i == k->options.named_count) k->options.named_count++;
}

static void copy_options(GpSession *s, void *ud) {
    CopyOptions *c = ud;
    const GpKernelOptions *old = &c->from->options, *add = c->add;
    GpKernelOptions *to = &c->to->options;
    (void)s;
    GpNamedArg *list = GP_NEW_ARRAY(c->to->arena, GpNamedArg, old->named_count + add->named_count);
    to->named = list;
    for (uint32_t i = 0; i < old->named_count; i++) copy_named(c->to, list, &old->named[i]);
    for (uint32_t i = 0; i < add->named_count; i++) copy_named(c->to, list, &add->named[i]);
    for (int axis = 0; axis < 3; axis++) {
        bool new_grid = add->grid[0] > 0, new_block = add->block[0] > 0;
        to->grid[axis] = new_grid ? add->grid[axis] : old->grid[axis];
        to->block[axis] = new_block ? add->block[axis] : old->block[axis];
    }
    for (int i = 0; i < GpScheduleKey_count; i++)
        to->schedule[i] = add->schedule[i] ? add->schedule[i] : old->schedule[i];
    to->shared_bytes = add->shared_bytes ? add->shared_bytes : old->shared_bytes;
    to->stream = add->stream ? add->stream : old->stream;
    if (to->stream) gp_stream_retain(to->stream);
}

GpStatus gp_kernel_with(GpKernel *k, const GpKernelOptions *options, GpSite site, GpDiags *diags,
                        GpKernel **out) {
    *out = NULL;
    for (uint32_t i = 0; i < options->named_count; i++)
        if (!gp_def_has_generic(k->def, options->named[i].name))
            return refuse_name(k, options->named[i].name, site, diags);
    GpStatus status = check_schedule(k, options->schedule, site, diags);
    if (status != GpStatus_Ok) return status;
    GpKernel *made = make_kernel(k->engine, k->module, k->def, k->variants);
    if (!made) return GpStatus_NoMemory;
    CopyOptions copy = {k, options, made};
    status = gp_protect(&k->engine->session, copy_options, &copy);
    if (status != GpStatus_Ok) gp_kernel_release(made);
    else *out = made;
    return status;
}
