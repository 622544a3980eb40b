/* The built-in crates: parsed and collected once per session, before its first module. All crates
** are collected together, since each may use the others. */
#include "dsl/std.h"

#include "dsl/resolve.h"

GpStd *gp_std_new(GpSession *s) {
    GpStd *std = GP_TRY_NEW(s, GpStd);
    if (std)
        std->session = s;
    return std;
}

void gp_std_free(GpStd *std) {
    if (!std)
        return;
    gp_diags_release(std->diags);
    gp_arena_free(std->arena);
    gp_free(std->session, std, sizeof *std);
}

static void release_source(void *source) { gp_source_release(source); }

static GpAstFile *parse_text(GpStd *std, const char *name, const char *text, size_t len) {
    GpDeferred *deferred = gp_arena_defer(std->arena);
    GpSource *source = gp_source_new(std->session, name, text, len, 1, 1);
    if (!source)
        gp_throw(std->session, GpStatus_NoMemory);
    deferred->object = source;
    deferred->fn = release_source;
    GpParse p = {std->arena, std->names, std->diags, NULL};
    return gp_parse_file(&p, source);
}

static GpDef *make_crate(GpCollect *k, const char *name) {
    GpStd *std = k->c->std;
    GpSym sym = gp_intern_cstr(std->names, name);
    GpDef *crate = gp_collect_def(k, GpDef_Module, sym, GP_NO_SPAN, NULL, NULL);
    crate->is_pub = true;
    gp_map_set(std->arena, &std->crates, sym, crate);
    return crate;
}

static GpDef *find_module(GpStd *std, GpDef *crate, const char *name) {
    return gp_map_get(&crate->types, gp_intern_cstr(std->names, name));
}

static void free_text(void *text) { gp_text_free(text); }

static GpText *make_text(GpStd *std) {
    GpText *text = GP_NEW(std->arena, GpText);
    GpDeferred *deferred = gp_arena_defer(std->arena);
    text->session = std->session;
    deferred->object = text;
    deferred->fn = free_text;
    return text;
}

static void collect_surface(GpCollect *k) {
    GpStd *std = k->c->std;
    GpText *tile = make_text(std), *core = make_text(std);
    gp_surface_print(tile, core);
    if (tile->failed || core->failed)
        gp_throw(std->session, GpStatus_NoMemory);
    gp_collect_items(k, std->cutile_core,
                     parse_text(std, "cutile.rs (from tables)", tile->at, tile->len)->items);
    gp_collect_items(k, std->core,
                     parse_text(std, "core.rs (from tables)", core->at, core->len)->items);
}

/* A mistake in dsl/std is a bug: it is logged, then the process stops. */
static void expect_no_errors(GpStd *std) {
    if (!gp_diags_errors(std->diags))
        return;
    GpText text = {.session = std->session};
    gp_diags_render(std->diags, (GpRenderStyle){false, false}, &text);
    gp_log(std->session, "%s", gp_text_cstr(&text));
    gp_text_free(&text);
    gp_bug(__FILE__, __LINE__, "the built-in crates have errors");
}

static void fill(GpStd *std) {
    GpCheck c = {.std = std,
                 .arena = std->arena,
                 .types = std->types,
                 .names = std->names,
                 .diags = std->diags};
    GpCollect k = {.c = &c, .is_std = true, .next_id = &std->next_def_id};
    for (size_t i = 0; i < gp_std_source_count; i++) {
        const GpStdSource *s = &gp_std_sources[i];
        GpDef *crate = make_crate(&k, s->crate);
        const char *name = gp_arena_printf(std->arena, "%s.rs", s->crate);
        gp_collect_items(&k, crate, parse_text(std, name, s->text, s->len)->items);
    }
    std->core = gp_map_get(&std->crates, gp_intern_cstr(std->names, "core"));
    std->cuda_device = gp_map_get(&std->crates, gp_intern_cstr(std->names, "cuda_device"));
    GpDef *cutile = gp_map_get(&std->crates, gp_intern_cstr(std->names, "cutile"));
    gp_assert(std->core && std->cuda_device && cutile);
    gp_map_set(std->arena, &std->crates, gp_intern_cstr(std->names, "std"), std->core);
    std->cutile_core = find_module(std, cutile, "core");
    std->prelude[GpTrack_None] = find_module(std, std->core, "prelude");
    std->prelude[GpTrack_Tile] = find_module(std, cutile, "prelude");
    std->prelude[GpTrack_Simt] = find_module(std, std->cuda_device, "prelude");
    gp_assert(std->cutile_core && std->prelude[0] && std->prelude[1] && std->prelude[2]);
    collect_surface(&k);
    gp_collect_passes(&k);
    std->impls = k.impls.at;
    std->impl_count = k.impls.len;
    for (uint32_t i = 0; i < k.consts.len; i++)
        gp_check_const(&c, k.consts.at[i]);
    expect_no_errors(std);
}

/* Throws when memory runs out; what was made until then goes away with the next fill or free. */
void gp_std_fill(GpStd *std) {
    if (std->is_filled)
        return;
    gp_diags_release(std->diags);
    gp_arena_free(std->arena);
    *std = (GpStd){.session = std->session};
    std->arena = gp_arena_new(std->session);
    std->diags = gp_diags_new(std->session);
    if (!std->arena || !std->diags)
        gp_throw(std->session, GpStatus_NoMemory);
    std->names = gp_interner_make(std->arena);
    std->types = gp_types_make(std->arena);
    fill(std);
    std->is_filled = true;
}
