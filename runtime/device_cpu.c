/* The CPU as a device, and the oracle, which is the same on one thread.
**
** Launches run at once, on the pool, so every use of a storage is over when the call returns:
** streams exist but never have anything outstanding. Limits of blocks and grids are a GPU's, so
** that a script that runs here also runs there. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "runtime/internal.h"

#define LARGE ((uint64_t)1 << 20) /* from here on straight from the kernel, untouched */
#define ALIGNMENT 64
#define HUGE_PAGE ((uint64_t)2 << 20)
#define ORACLE_BLOCKS 64 /* between two questions whether to stop */

static GpStatus alloc(GpDevice *d, uint64_t bytes, uint64_t *address) {
    if (bytes > d->info.memory || d->used > d->info.memory - bytes)
        return GpStatus_DeviceMemory; /* Linux would promise it and kill the process later */
    void *at;
    if (bytes >= LARGE) {
        at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (at == MAP_FAILED)
            return GpStatus_DeviceMemory;
        if (bytes >= HUGE_PAGE)
            (void)madvise(at, bytes, MADV_HUGEPAGE);
    } else {
        at = aligned_alloc(ALIGNMENT, gp_align_up(bytes, ALIGNMENT));
        if (!at)
            return GpStatus_DeviceMemory;
    }
    *address = (uint64_t)(uintptr_t)at;
    return GpStatus_Ok;
}

static void free_memory(GpDevice *d, uint64_t address, uint64_t bytes, GpStream *behind) {
    (void)d;
    (void)behind;
    void *at = (void *)(uintptr_t)address;
    if (bytes >= LARGE) {
        munmap(at, bytes);
    } else {
        free(at);
    }
}

/* All of the host's memory is; nobody can be asked what is memory. */
static int owner(GpDevice *d, uint64_t address) {
    (void)address;
    return d->info.index;
}

static void trim(GpDevice *d) { (void)d; }

static void memory(GpDevice *d, GpMemoryInfo *out) {
    out->total = d->info.memory;
    out->reserved = d->used;
    out->free = (uint64_t)sysconf(_SC_AVPHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);
}

static GpStatus copy(GpStream *s, const GpCopy *c, GpDiags *diags) {
    (void)s;
    (void)diags;
    for (uint64_t row = 0; row < c->height; row++)
        memcpy((char *)(uintptr_t)c->to + row * c->to_pitch,
               (const char *)(uintptr_t)c->from + row * c->from_pitch, c->width);
    return GpStatus_Ok;
}

typedef struct FillJob {
    const GpFill *fill;
    uint64_t part; /* elements of a row that one block does */
} FillJob;

static void fill_row(char *at, uint64_t count, uint64_t value, uint8_t bytes) {
    if (bytes == 1) {
        memset(at, (int)value, count);
    } else if (bytes == 2) {
        uint16_t v = (uint16_t)value;
        for (uint64_t i = 0; i < count; i++)
            memcpy(at + 2 * i, &v, 2);
    } else if (bytes == 4) {
        uint32_t v = (uint32_t)value;
        for (uint64_t i = 0; i < count; i++)
            memcpy(at + 4 * i, &v, 4);
    } else {
        for (uint64_t i = 0; i < count; i++)
            memcpy(at + 8 * i, &value, 8);
    }
}

static void fill_parts(void *ud, uint64_t first, uint64_t count, GpStop *stop) {
    (void)stop;
    const FillJob *job = ud;
    const GpFill *f = job->fill;
    uint64_t start = first * job->part;
    uint64_t end = GP_MIN((first + count) * job->part, f->width);
    fill_row((char *)(uintptr_t)f->to + start * f->bytes, end - start, f->value, f->bytes);
}

/* NULL for the oracle, which has no pool, and when memory ran out. */
static GpThreadPool *get_pool(GpDevice *d) {
    GpRuntime *rt = d->rt;
    if (d->info.kind == GpDevice_Interp)
        return NULL;
    if (!rt->pool)
        rt->pool = gp_threadpool_new(rt->session, rt->cpu_threads);
    return rt->pool;
}

/* A long row is filled by the threads that will work on it: who touches memory first, owns it. */
static GpStatus fill(GpStream *s, const GpFill *f, GpDiags *diags) {
    (void)diags;
    FillJob job = {f, (uint64_t)1 << 18};
    GpThreadPool *pool = f->width * f->bytes >= 4 * LARGE ? get_pool(s->device) : NULL;
    if (pool && f->height == 1) {
        uint64_t parts = (f->width + job.part - 1) / job.part;
        return gp_threadpool_run(pool, parts, fill_parts, &job);
    }
    for (uint64_t row = 0; row < f->height; row++)
        fill_row((char *)(uintptr_t)f->to + row * f->pitch, f->width, f->value, f->bytes);
    return GpStatus_Ok;
}

static void run_blocks(void *ud, uint64_t first, uint64_t count, GpStop *stop) {
    const GpLaunch *l = ud;
    const GpImage *image = l->exec->image;
    image->cpu_entry(image->cpu_self, l->params, &l->grid, first, count, stop);
}

static GpStatus launch(GpStream *s, const GpLaunch *l, GpDiags *diags) {
    GpDevice *d = s->device;
    uint64_t blocks = (uint64_t)l->grid.grid[0] * l->grid.grid[1] * l->grid.grid[2];
    GpLaunch job = *l;
    if (d->info.kind == GpDevice_Cpu) {
        GpThreadPool *pool = get_pool(d);
        return pool ? gp_threadpool_run(pool, blocks, run_blocks, &job)
                    : gp_report_no_memory(diags);
    }
    GpStop stop = {.session = d->rt->session};
    for (uint64_t first = 0; first < blocks && !gp_stopped(&stop); first += ORACLE_BLOCKS)
        run_blocks(&job, first, GP_MIN((uint64_t)ORACLE_BLOCKS, blocks - first), &stop);
    return stop.is_stopped ? GpStatus_Interrupted : GpStatus_Ok;
}

static GpStatus graph_make(GpGraph *g, GpDiags *diags) {
    (void)g;
    (void)diags;
    return GpStatus_Ok;
}

static GpStatus graph_launch(GpStream *s, GpGraph *g, GpDiags *diags) {
    GpStatus status = GpStatus_Ok;
    for (uint32_t i = 0; i < g->node_count && status == GpStatus_Ok; i++)
        status = launch(s, &g->nodes[i].launch, diags);
    return status;
}

static void graph_free(GpGraph *g) { (void)g; }

static GpStatus load(GpExec *e, GpDiags *diags) {
    (void)e;
    (void)diags;
    return GpStatus_Ok;
}
static void unload(GpExec *e) { (void)e; }
static GpStatus stream_open(GpStream *s, GpDiags *diags) {
    (void)s;
    (void)diags;
    return GpStatus_Ok;
}
static void stream_close(GpStream *s) { (void)s; }

static GpStatus wait_stream(GpStream *s, GpDiags *diags) {
    (void)diags;
    s->completed = s->issued;
    return GpStatus_Ok;
}

static GpStatus order(GpStream *s, GpStream *after, GpDiags *diags) {
    (void)s;
    return wait_stream(after, diags);
}

static bool poll_stream(GpStream *s, uint64_t seq) {
    (void)seq;
    s->completed = s->issued;
    return true;
}

static void *shared_alloc(GpDevice *d, size_t bytes, uint64_t *address) {
    void *at = gp_try_calloc(d->rt->session, bytes);
    *address = (uint64_t)(uintptr_t)at;
    return at;
}

static void shared_free(GpDevice *d, void *at, size_t bytes) { gp_free(d->rt->session, at, bytes); }
static void close_device(GpDevice *d) { (void)d; }

const GpDeviceOps gp_cpu_ops = {
    .alloc = alloc,
    .free = free_memory,
    .owner = owner,
    .trim = trim,
    .memory = memory,
    .copy = copy,
    .fill = fill,
    .launch = launch,
    .load = load,
    .unload = unload,
    .graph_make = graph_make,
    .graph_launch = graph_launch,
    .graph_free = graph_free,
    .stream_open = stream_open,
    .stream_close = stream_close,
    .wait = wait_stream,
    .order = order,
    .poll = poll_stream,
    .shared_alloc = shared_alloc,
    .shared_free = shared_free,
    .close = close_device,
};

static void read_model_name(char *out, size_t size) {
    snprintf(out, size, "CPU");
    FILE *f = fopen("/proc/cpuinfo", "re");
    char line[256];
    while (f && fgets(line, sizeof line, f)) {
        const char *value = strchr(line, ':');
        if (strncmp(line, "model name", 10) != 0 || !value)
            continue;
        value += 1 + (value[1] == ' ');
        snprintf(out, size, "%.*s", (int)strcspn(value, "\n"), value);
        break;
    }
    if (f)
        fclose(f);
}

static GpStatus report_threads(const GpRuntime *rt, GpDiags *diags) {
    char limit[16];
    const char *text = gp_runtime_env(rt, "GPULUA_THREADS");
    snprintf(limit, sizeof limit, "%d", GP_MAX_CPU_THREADS);
    GpDiag *d = gp_diag(diags, GpDiag_G0917, GP_NO_SPAN, text ? text : "", limit);
    gp_help(d, "leave it unset for the cores that this process may use");
    return GpStatus_NoDevice;
}

GpStatus gp_cpu_open(GpRuntime *rt, GpDeviceKind kind, GpDiags *diags, GpDevice **out) {
    GpDevice **slot = kind == GpDevice_Cpu ? &rt->cpu : &rt->interp;
    if (kind == GpDevice_Cpu && !rt->cpu_threads)
        return report_threads(rt, diags);
    if (!*slot) {
        GpDevice *d = gp_device_make(rt, &gp_cpu_ops);
        if (!d)
            return gp_report_no_memory(diags);
        d->info = (GpDeviceInfo){
            .kind = kind,
            .processors = kind == GpDevice_Cpu ? rt->cpu_threads : 1,
            .max_threads = 1024,
            .max_block = {1024, 1024, 64},
            .max_grid = {INT32_MAX, 65535, 65535},
            .max_shared = 227 * 1024,
            .memory = (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE)};
        snprintf(d->info.name, sizeof d->info.name, "%s",
                 kind == GpDevice_Cpu ? "cpu" : "interp");
        read_model_name(d->info.product, sizeof d->info.product);
        GpStatus status = gp_device_start(d, diags);
        if (status != GpStatus_Ok) {
            gp_device_free(d);
            return status;
        }
        *slot = d;
    }
    *out = *slot;
    return GpStatus_Ok;
}
