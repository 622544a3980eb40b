/* The runtime object: configuration, life time, and the places and names of messages. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "runtime/internal.h"

#define PAGE 4096

static char *copy_text(GpSession *s, const char *text) {
    if (!text)
        return NULL;
    char *copy = gp_try_calloc(s, strlen(text) + 1);
    if (copy)
        memcpy(copy, text, strlen(text));
    return copy;
}

static void free_text(GpSession *s, char *text) {
    if (text)
        gp_free(s, text, strlen(text) + 1);
}

const char *gp_runtime_env(const GpRuntime *rt, const char *name) {
    const char *value = rt->ignore_env ? NULL : getenv(name);
    return value && value[0] ? value : NULL;
}

/* A page that reads 1 here and 0 in a child of fork(): the child has neither our threads nor a
** usable CUDA context, and a load is cheap enough to ask on every call. */
static const volatile uint32_t *map_parent_mark(void) {
    uint32_t *page =
        mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (page == MAP_FAILED)
        return NULL;
    (void)madvise(page, PAGE, MADV_WIPEONFORK); /* kernels before 4.14: forks go unnoticed */
    *page = 1;
    return page;
}

/* 0: GPULUA_THREADS says something else than a number of threads, which is told when the CPU is opened. */
static uint32_t choose_threads(const GpRuntime *rt, uint32_t wanted) {
    if (wanted)
        return GP_MIN(wanted, (uint32_t)GP_MAX_CPU_THREADS);
    const char *text = gp_runtime_env(rt, "GPULUA_THREADS");
    char *end;
    if (!text)
        return gp_threadpool_cores();
    long from_env = strtol(text, &end, 10);
    bool is_count = *end == '\0' && from_env >= 1 && from_env <= GP_MAX_CPU_THREADS;
    return is_count ? (uint32_t)from_env : 0;
}

/* What GPULUA_CACHE may say instead of a folder (`./off` is one). */
static bool is_no_cache(const char *text) {
    static const char *const words[] = {"", "off", "none", "0"};
    for (size_t i = 0; i < GP_COUNT(words); i++)
        if (strcmp(text, words[i]) == 0)
            return true;
    return false;
}

/* NULL when there is no place for a cache, or none is wanted. */
static char *choose_cache_dir(const GpRuntime *rt, const char *wanted) {
    if (!wanted && !rt->ignore_env) {
        wanted = getenv("GPULUA_CACHE");
        if (wanted && is_no_cache(wanted))
            return NULL;
    }
    if (wanted)
        return wanted[0] ? copy_text(rt->session, wanted) : NULL;
    GpText path = {.session = rt->session};
    const char *base = getenv("XDG_CACHE_HOME");
    const char *home = getenv("HOME");
    if (base && base[0] == '/') {
        gp_text_printf(&path, "%s/gpulua", base);
    } else if (home && home[0] == '/') {
        gp_text_printf(&path, "%s/.cache/gpulua", home);
    }
    char *dir = path.len ? copy_text(rt->session, path.at) : NULL;
    gp_text_free(&path);
    return dir;
}

GpStatus gp_runtime_new(GpSession *s, const GpRuntimeConfig *config, GpRuntime **out) {
    static const GpRuntimeConfig none = {0};
    config = config ? config : &none;
    *out = NULL;
    GpRuntime *rt = GP_TRY_NEW(s, GpRuntime);
    if (!rt)
        return GpStatus_NoMemory;
    *rt = (GpRuntime){.session = s,
                      .hooks = config->hooks,
                      .refs = 1,
                      .ignore_env = config->ignore_env,
                      .cuda_context = config->cuda_context,
                      .is_parent = map_parent_mark()};
    if (!rt->is_parent) {
        gp_free(s, rt, sizeof *rt);
        return GpStatus_NoMemory;
    }
    const char *libcuda =
        config->libcuda ? config->libcuda : gp_runtime_env(rt, "GPULUA_LIBCUDA");
    rt->libcuda = copy_text(s, libcuda);
    rt->cache_dir = choose_cache_dir(rt, config->cache_dir);
    rt->cpu_threads = choose_threads(rt, config->cpu_threads);
    if (libcuda && !rt->libcuda) {
        gp_runtime_free(rt);
        return GpStatus_NoMemory;
    }
    *out = rt;
    return GpStatus_Ok;
}

/* The device by number: the CPU, the oracle, then the GPUs; NULL where none was opened. */
static GpDevice **device_at(GpRuntime *rt, uint32_t i) {
    return i == 0 ? &rt->cpu : i == 1 ? &rt->interp : &rt->gpus[i - 2];
}

/* Lets go of what streams remember of their launches; those point back at the runtime. */
static void close_streams(GpDevice *d) {
    for (GpStream *s = d->streams; s; s = s->next)
        gp_stream_close(s);
}

/* Whoever lent memory may free handles, of this storage too, when it is given back. */
static void free_storages(GpDevice *d) {
    for (GpStorage *st = d->storages, *next; st; st = next) {
        gp_storage_pin(st);
        st->state = GpOwn_Freed;
        st->state_at = (GpSite){0};
        gp_storage_free_memory(st);
        next = st->next;
        gp_storage_unpin(st);
    }
}

void gp_runtime_close(GpRuntime *rt) {
    if (rt->is_closed)
        return;
    rt->is_closed = true;
    for (uint32_t i = 0; i < GP_MAX_DEVICES + 2; i++) {
        GpDevice *d = *device_at(rt, i);
        if (!d)
            continue;
        (void)gp_device_drain(d);
        free_storages(d);
        (void)gp_device_drain(d); /* the frees themselves */
        close_streams(d);
        gp_ring_clear(d);
        if (d->lost == GpStatus_Ok)
            d->lost = GpStatus_Argument; /* whoever still holds an object is refused */
    }
    gp_threadpool_free(rt->pool, gp_runtime_is_forked(rt));
    rt->pool = NULL;
}

void gp_runtime_free(GpRuntime *rt) {
    if (!rt)
        return;
    gp_runtime_close(rt);
    gp_runtime_release(rt);
}

void gp_runtime_release(GpRuntime *rt) {
    if (--rt->refs != 0)
        return;
    for (uint32_t i = 0; i < GP_MAX_DEVICES + 2; i++) {
        if (*device_at(rt, i))
            gp_device_free(*device_at(rt, i));
    }
    munmap((void *)(uintptr_t)rt->is_parent, PAGE);
    free_text(rt->session, rt->libcuda);
    free_text(rt->session, rt->cache_dir);
    gp_free(rt->session, rt, sizeof *rt);
}

GpCuda *gp_runtime_cuda(GpRuntime *rt) {
    if (!rt->is_cuda_opened)
        gp_cuda_open(&rt->cuda, rt->libcuda);
    rt->is_cuda_opened = true;
    return &rt->cuda;
}

const char *gp_driver_path(GpRuntime *rt) { return rt->cuda.is_found ? rt->cuda.path : NULL; }

int gp_driver_version(GpRuntime *rt) { return rt->cuda.version; }

uint32_t gp_device_count(GpRuntime *rt, GpDiags *diags) {
    GpCuda *cu = gp_runtime_cuda(rt);
    if (gp_cuda_start(cu, diags) != GpStatus_Ok)
        return 0;
    return (uint32_t)GP_MIN(cu->count, GP_MAX_DEVICES);
}

GpSpan gp_site_span_of(const GpRuntime *rt, GpSite site, const GpSiteHint *hint) {
    if (!rt->hooks.resolve || site.file == 0)
        return GP_NO_SPAN;
    return rt->hooks.resolve(rt->hooks.ud, site, hint);
}

GpSpan gp_site_span(const GpRuntime *rt, GpSite site) { return gp_site_span_of(rt, site, NULL); }

void gp_site_print(const GpRuntime *rt, GpSite site, GpText *out) {
    GpSpan span = gp_site_span(rt, site);
    if (!span.src)
        return;
    GpPlaceInFile place = gp_span_start(span);
    gp_text_printf(out, "%s:%u", place.file, place.line);
}

bool gp_value_find_name(const GpRuntime *rt, const void *value, GpText *out, GpSpan *at) {
    GpText name = {.session = rt->session};
    if (at)
        *at = GP_NO_SPAN;
    bool is_found =
        value && rt->hooks.name && rt->hooks.name(rt->hooks.ud, value, &name, at) && name.len;
    if (is_found)
        gp_text_printf(out, "`%s`", name.at);
    gp_text_free(&name);
    return is_found;
}

void gp_value_name(const GpRuntime *rt, const void *value, const char *otherwise, GpText *out) {
    if (!gp_value_find_name(rt, value, out, NULL))
        gp_text_puts(out, otherwise);
}

GpStatus gp_report_no_memory(GpDiags *diags) {
    if (diags)
        gp_diag(diags, GpDiag_G0915, GP_NO_SPAN);
    return GpStatus_NoMemory;
}
