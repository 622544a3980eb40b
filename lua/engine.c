/* Life cycle of the engine, its device and its sites. */
#include "lua/engine_private.h"

#include <ctype.h>
#include <stdio.h>

#include "core/os_posix.h"
#include "lua/lua_text.h"

/* ---- What the runtime asks of its host -------------------------------------------------------- */

static GpSpan resolve_hook(void *ud, GpSite site, const GpSiteHint *hint) {
    GpSpan line = gp_engine_resolve(ud, site), found = GP_NO_SPAN;
    if (!hint) return line;
    if (hint->callee) found = gp_lua_text_arg(line, hint->callee, hint->arg);
    else if (hint->method) found = gp_lua_text_receiver(line, hint->method);
    if (hint->is_name) return gp_lua_text_name(found);
    return found.src ? found : line;
}

static void collect_hook(void *ud) {
    GpEngine *e = ud;
    if (e->hooks.collect) e->hooks.collect(e->hooks.ud);
}

static bool name_hook(void *ud, const void *value, GpText *out, GpSpan *at) {
    GpEngine *e = ud;
    return e->hooks.name && e->hooks.name(e->hooks.ud, value, out, at);
}

/* A check in a script or kernel file: what it checks, where that stands there, else the rest of
** the line. */
static GpSpan locate_hook(void *ud, const GpCheckSite *site) {
    const GpPlaceInFile *place = &site->place;
    char chunk[4096];
    snprintf(chunk, sizeof(chunk), "@%s", place->file);
    GpSpan line = gp_engine_resolve(ud, gp_engine_site(ud, chunk, (int)place->line));
    if (!line.src || place->column == 0) return line;
    uint32_t start = line.src->line_starts[place->line - 1] + place->column - 1;
    if (start < line.off || start >= line.off + line.len) return line;
    uint32_t rest = line.off + line.len - start;
    size_t len = site->what ? strlen(site->what) : 0;
    bool is_there = len > 0 && len <= rest && memcmp(line.src->text + start, site->what, len) == 0;
    return (GpSpan){line.src, start, is_there ? (uint32_t)len : rest};
}

/* ---- Life cycle ------------------------------------------------------------------------------- */

GpStatus gp_engine_new(const GpEngineConfig *config, GpEngine **out) {
    GpSession session;
    GpRuntimeConfig runtime = config->runtime;
    gp_session_init(&session, config->alloc, config->alloc_ud, &config->hooks);
    GpEngine *e = GP_TRY_NEW(&session, GpEngine);
    *out = NULL;
    if (!e) return GpStatus_NoMemory;
    e->session = session;
    snprintf(e->device_name, sizeof(e->device_name), "%s", config->device ? config->device : "auto");
    e->arena = gp_arena_new(&e->session);
    e->std = gp_std_new(&e->session);
    e->codegen = gp_codegen_new(&e->session);
    if (!e->arena || !e->std || !e->codegen) {
        gp_engine_free(e);
        return GpStatus_NoMemory;
    }
    e->hooks = runtime.hooks;
    runtime.hooks = (GpRuntimeHooks){resolve_hook, collect_hook, name_hook, e, locate_hook, gp_engine_copy};
    GpStatus status = gp_runtime_new(&e->session, &runtime, &e->runtime);
    if (status != GpStatus_Ok) {
        gp_engine_free(e);
        return status;
    }
    *out = e;
    return GpStatus_Ok;
}

void gp_engine_close(GpEngine *e) {
    if (e && e->runtime) gp_runtime_close(e->runtime);
}

void gp_engine_free(GpEngine *e) {
    if (!e) return;
    gp_engine_library_free(e);
    gp_runtime_free(e->runtime);
    gp_codegen_free(e->codegen);
    gp_std_free(e->std);
    for (uint32_t i = 0; i < e->files.len; i++) gp_source_release(e->files.at[i].source);
    gp_arena_free(e->arena);
    GpSession session = e->session;
    gp_free(&session, e, sizeof(*e));
}

GpSession *gp_engine_session(GpEngine *e) { return &e->session; }
GpRuntime *gp_engine_runtime(GpEngine *e) { return e->runtime; }
GpCodegen *gp_engine_codegen(GpEngine *e) { return e->codegen; }
GpStd *gp_engine_std(GpEngine *e) { return e->std; }
GpCompileStats gp_engine_compile_stats(const GpEngine *e) { return e->stats; }

GpStatus gp_engine_device(GpEngine *e, GpDiags *diags, GpDevice **out) {
    GpStatus status = GpStatus_Ok;
    if (!e->device) status = gp_engine_use(e, gp_str_from(e->device_name), diags);
    *out = e->device;
    return status;
}

/* Says once, on the program's own output, why `auto` runs on the CPU. */
static void tell_fallback(GpEngine *e, const GpDiags *why) {
    GpText text = {.session = &e->session};
    uint32_t count = gp_diags_count(why);
    const char *reason = count > 0 ? gp_diag_title(gp_diags_at(why, count - 1)) : "no usable GPU";
    gp_text_printf(&text, "gpulua: %s, running on the CPU\n", reason);
    if (e->session.hooks.write) e->session.hooks.write(e->session.hooks.ud, gp_text_cstr(&text), text.len);
    gp_text_free(&text);
}

GpStatus gp_engine_use(GpEngine *e, GpStr name, GpDiags *diags) {
    GpDevice *device = NULL;
    bool fell_back = false;
    GpDiags *own = gp_diags_new(&e->session);
    bool is_auto = gp_str_eq(name, GP_STR("auto"));
    GpStatus status;
    if (!own) return GpStatus_NoMemory;
    /* What `auto` finds wrong with the GPUs is no error of the caller. */
    status = gp_device_open(e->runtime, name, is_auto ? own : diags, &device, &fell_back);
    /* GPULUA_DEVICE may stand for auto: that it names no usable device is the caller's to know. */
    if (status != GpStatus_Ok && is_auto)
        status = gp_device_open(e->runtime, name, diags, &device, &fell_back);
    if (status == GpStatus_Ok) {
        e->device = device;
        if (fell_back) tell_fallback(e, own);
    }
    gp_diags_release(own);
    return status;
}

GpStatus gp_engine_target(GpEngine *e, GpDevice *d, GpTarget *out) {
    const GpDeviceInfo *info = gp_device_info(d);
    (void)e;
    switch (info->kind) {
    case GpDevice_Cpu:
        *out = (GpTarget){.kind = GpTarget_Cpu};
        return GpStatus_Ok;
    case GpDevice_Interp:
        *out = (GpTarget){.kind = GpTarget_Interp};
        return GpStatus_Ok;
    case GpDevice_Cuda:
        return gp_target_for_device(info->sm, info->max_ptx, out);
    }
    gp_unreachable();
}

bool gp_engine_stage(const char *name, GpStage *out) {
    static const struct {
        const char *name;
        GpStage stage;
    } stages[] = {{"ir", GpStage_Ir}, {"llvm", GpStage_LlvmOptimized}, {"ptx", GpStage_Ptx}, {"asm", GpStage_Asm}};
    for (size_t i = 0; i < GP_COUNT(stages); i++) {
        if (strcmp(stages[i].name, name) != 0) continue;
        *out = stages[i].stage;
        return true;
    }
    return false;
}

GpStatus gp_engine_stage_target(GpEngine *e, GpStage stage, GpDiags *diags, GpTarget *out) {
    GpDevice *device;
    GpStatus status = gp_engine_device(e, diags, &device);
    if (status == GpStatus_Ok) status = gp_engine_target(e, device, out);
    if (status == GpStatus_Ok && stage == GpStage_Ptx && out->kind != GpTarget_Nvptx)
        status = gp_target_parse(GP_STR("sm_90a"), out);
    return status;
}

/* ---- Sites ------------------------------------------------------------------------------ */

typedef struct AddFile {
    GpEngine *engine;
    const char *chunk;
} AddFile;

static void add_file(GpSession *s, void *ud) {
    AddFile *add = ud;
    GpEngine *e = add->engine;
    (void)s;
    GpSiteFile file = {.seen_at = add->chunk,
                       .chunk = gp_arena_copy(e->arena, add->chunk, strlen(add->chunk))};
    GP_PUSH(e->arena, &e->files, file);
}

GpSite gp_engine_site(GpEngine *e, const char *chunk, int line) {
    GpSite site = {0, line > 0 ? (uint32_t)line : 0};
    if (!chunk) return site;
    for (uint32_t i = e->files.len; i-- > 0;) {
        GpSiteFile *f = &e->files.at[i];
        if (f->seen_at == chunk && strcmp(f->chunk, chunk) == 0) {
            site.file = i + 1;
            return site;
        }
    }
    for (uint32_t i = 0; i < e->files.len; i++) {
        if (strcmp(e->files.at[i].chunk, chunk) == 0) {
            e->files.at[i].seen_at = chunk;
            site.file = i + 1;
            return site;
        }
    }
    AddFile add = {e, chunk};
    if (gp_protect(&e->session, add_file, &add) == GpStatus_Ok) site.file = e->files.len;
    return site;
}

/* As Lua names a chunk that was loaded from text: [string "its first line"]. */
static void name_text(const char *chunk, char *out, size_t size) {
    enum { MAX_SHOWN = 40 };
    size_t len = strcspn(chunk, "\n");
    bool is_whole = chunk[len] == '\0' && len <= MAX_SHOWN;
    snprintf(out, size, "[string \"%.*s%s\"]", (int)GP_MIN(len, MAX_SHOWN), chunk,
             is_whole ? "" : "...");
}

static void read_site_file(GpEngine *e, GpSiteFile *f) {
    GpText text = {.session = &e->session};
    char name[64];
    f->is_read = true;
    if (f->chunk[0] == '@') {
        if (gp_file_read(f->chunk + 1, &text) == GpStatus_Ok && !text.failed)
            f->source = gp_source_new(&e->session, f->chunk + 1, gp_text_cstr(&text), text.len, 1, 1);
    } else if (f->chunk[0] == '=') {
        const char *end = strchr(f->chunk, '\n'); /* the text follows, of lines at the prompt */
        const char *at = end ? end + 1 : "";
        gp_text_add(&text, f->chunk + 1, end ? (size_t)(end - f->chunk - 1) : strlen(f->chunk + 1));
        f->source = gp_source_new(&e->session, gp_text_cstr(&text), at, strlen(at), 1, 1);
    } else {
        name_text(f->chunk, name, sizeof(name));
        f->source = gp_source_new(&e->session, name, f->chunk, strlen(f->chunk), 1, 1);
    }
    gp_text_free(&text);
}

GpSpan gp_engine_resolve(GpEngine *e, GpSite site) {
    if (site.file == 0 || site.file > e->files.len) return GP_NO_SPAN;
    GpSiteFile *f = &e->files.at[site.file - 1];
    if (!f->is_read) read_site_file(e, f);
    if (!f->source || site.line == 0 || site.line > f->source->line_count) return GP_NO_SPAN;
    GpStr line = gp_source_line(f->source, site.line - 1);
    size_t start = 0, end = line.len;
    while (start < end && isspace((unsigned char)line.at[start])) start++;
    while (end > start && isspace((unsigned char)line.at[end - 1])) end--;
    return (GpSpan){f->source, (uint32_t)(line.at + start - f->source->text), (uint32_t)(end - start)};
}

GpSpan gp_engine_resolve_word(GpEngine *e, GpSite site, const char *word) {
    GpSpan line = gp_engine_resolve(e, site), found = gp_lua_text_find(line, word);
    return found.src ? found : line;
}

GpSpan gp_engine_resolve_arg(GpEngine *e, GpSite site, const char *callee, uint32_t arg) {
    GpSpan line = gp_engine_resolve(e, site), found = gp_lua_text_arg(line, callee, arg);
    return found.src ? found : line;
}
