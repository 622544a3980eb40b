/* A CUDA driver without a GPU, for tests: "device" memory is host memory, launches run the
** kernels of test_kernels.h, and streams are queues whose work runs only when something waits
** for it or asks, so that missing order shows as wrong numbers.
**
** Environment, read by cuInit:
**   GPULUA_FAKE_INIT     result of cuInit (34, 100, 803, ...)
**   GPULUA_FAKE_VERSION  driver version; default 13000
**   GPULUA_FAKE_COUNT    devices; default 1
**   GPULUA_FAKE_MISSING  comma-separated symbols that do not exist
**   GPULUA_FAKE_MEMORY   bytes of device memory; default 1 GiB
**   GPULUA_FAKE_POOLS    0: no memory pools
**   GPULUA_FAKE_SM       compute capability; default 90
**   GPULUA_FAKE_OWNER    number of the device that all memory is said to be of; default 0
**   GPULUA_FAKE_STICKY   "N:CODE": launch number N (from 1) makes every later call return CODE
** Built with FAKE_PLAIN it has no cuGetProcAddress, only plain names. */
#include <stdio.h>
#include <stdlib.h>

#include "core/base.h"
#include "runtime/cuda_types.h"
#include "spec/support/fakecuda.h"
#include "spec/support/test_kernels.h"

#define OUT_OF_MEMORY 2
#define INVALID_VALUE 1
#define NOT_READY 600
#define CAPTURE_UNSUPPORTED 900
#define ILLEGAL_ADDRESS 700
#define MAX_SHARED 232448
#define SCALE (GpCuFunction)(uintptr_t)0x2000     /* the kernels: out, in, box, by, */
#define SCALE_MAP (GpCuFunction)(uintptr_t)0x3000 /* and a tensor map and the virtual grid */

/* ---- State ------------------------------------------------------------------------------ */

typedef enum WorkKind {
    Work_Copy,
    Work_Fill,
    Work_Launch,
    Work_Wait,
    Work_Record,
    Work_Free,
} WorkKind;

typedef struct Work {
    struct Work *next;
    WorkKind kind;
    uint64_t to, from;
    size_t to_pitch, from_pitch, width, height; /* bytes, rows */
    uint8_t unit;                               /* of a fill */
    uint32_t value;
    bool is_to_host, is_from_host;
    TestParams params;
    uint64_t blocks;
    struct GpCuEventTag *event;
    uint64_t stamp; /* of the event when it was recorded */
    struct GpCuStreamTag *source;
} Work;

struct GpCuStreamTag {
    Work *first, **last;
    struct GpCuGraphTag *graph; /* takes the work; NULL: it is not captured */
};
/* Captured work; an executable graph is the same once more. */
struct GpCuGraphTag {
    Work *first, **last;
};
struct GpCuGraphExecTag {
    struct GpCuGraphTag graph;
};
struct GpCuEventTag {
    uint64_t recorded, done; /* stamps */
    struct GpCuStreamTag *stream;
};
struct GpCuModuleTag {
    int unused;
};
struct GpCuPoolTag {
    size_t reserved;
};

typedef struct Block {
    struct Block *next;
    char *at;
    size_t bytes;
} Block;

static struct {
    int init, version, count, sticky_at, sticky_code, launches, encodes, graph_launches;
    FakeLaunch last;
    int dynamic_limit; /* of the function that was set last */
    GpCuResult sticky;
    const char *missing;
    size_t memory, used;
    bool has_pools;
    Block *blocks;
    int live; /* streams, events, modules, pools, retained contexts, host and device blocks */
    GpCuContext current;
} fake;

/* Live handles: 0 when everything was given back. */
GP_API int gp_fake_live(void);
GP_API int gp_fake_launches(void);
GP_API int gp_fake_encodes(void);
GP_API int gp_fake_graph_launches(void);
GP_API const FakeLaunch *gp_fake_last(void);
int gp_fake_live(void) { return fake.live; }
int gp_fake_encodes(void) { return fake.encodes; }
int gp_fake_graph_launches(void) { return fake.graph_launches; }
const FakeLaunch *gp_fake_last(void) { return &fake.last; }
int gp_fake_launches(void) { return fake.launches; }

static GpCuResult give_memory(GpCuPtr address);

static int env_number(const char *name, int otherwise) {
    const char *text = getenv(name);
    return text && text[0] ? atoi(text) : otherwise;
}

/* A lost context takes its memory along. */
static void end_lost_context(void) {
    while (fake.blocks)
        (void)give_memory((uint64_t)(uintptr_t)fake.blocks->at);
}

static void read_environment(void) {
    if (fake.sticky)
        end_lost_context();
    const char *memory = getenv("GPULUA_FAKE_MEMORY"), *sticky = getenv("GPULUA_FAKE_STICKY");
    fake.init = env_number("GPULUA_FAKE_INIT", 0);
    fake.version = env_number("GPULUA_FAKE_VERSION", 13000);
    fake.count = env_number("GPULUA_FAKE_COUNT", 1);
    fake.has_pools = env_number("GPULUA_FAKE_POOLS", 1) != 0;
    fake.missing = getenv("GPULUA_FAKE_MISSING");
    fake.memory = memory ? strtoull(memory, NULL, 10) : (size_t)1 << 30;
    fake.sticky_at = fake.sticky_code = 0;
    fake.launches = fake.encodes = fake.graph_launches = 0;
    fake.dynamic_limit = 48 * 1024;
    fake.sticky = 0;
    if (sticky)
        sscanf(sticky, "%d:%d", &fake.sticky_at, &fake.sticky_code);
}

/* ---- Memory ----------------------------------------------------------------------------- */

static GpCuResult take_memory(GpCuPtr *address, size_t bytes) {
    if (bytes == 0)
        return INVALID_VALUE;
    if (fake.used + bytes > fake.memory)
        return OUT_OF_MEMORY;
    Block *b = malloc(sizeof *b);
    *b = (Block){fake.blocks, malloc(bytes), bytes};
    memset(b->at, 0xa5, bytes);
    fake.blocks = b;
    fake.used += bytes;
    fake.live++;
    *address = (uint64_t)(uintptr_t)b->at;
    return 0;
}

static GpCuResult give_memory(GpCuPtr address) {
    for (Block **at = &fake.blocks; *at; at = &(*at)->next) {
        Block *b = *at;
        if ((uint64_t)(uintptr_t)b->at != address)
            continue;
        *at = b->next;
        fake.used -= b->bytes;
        fake.live--;
        free(b->at);
        free(b);
        return 0;
    }
    return INVALID_VALUE;
}

static bool is_device_range(uint64_t at, size_t bytes) {
    for (const Block *b = fake.blocks; b; b = b->next) {
        uint64_t start = (uint64_t)(uintptr_t)b->at;
        if (at >= start && at + bytes <= start + b->bytes)
            return true;
    }
    return false;
}

/* ---- Queues ----------------------------------------------------------------------------- */

static void run_one(GpCuStream s);

static bool touches_device_only(const Work *w) {
    size_t span = (w->height - 1) * w->to_pitch + w->width;
    size_t from_span = (w->height - 1) * w->from_pitch + w->width;
    bool is_fine = w->is_to_host || is_device_range(w->to, span);
    if (w->kind == Work_Copy)
        is_fine = is_fine && (w->is_from_host || is_device_range(w->from, from_span));
    return is_fine;
}

static void run_rows(const Work *w) {
    if (!touches_device_only(w)) {
        fake.sticky = ILLEGAL_ADDRESS;
        return;
    }
    for (size_t row = 0; row < w->height; row++) {
        char *to = (char *)(uintptr_t)w->to + row * w->to_pitch;
        if (w->kind == Work_Copy) {
            memcpy(to, (const char *)(uintptr_t)w->from + row * w->from_pitch, w->width);
            continue;
        }
        for (size_t i = 0; i < w->width; i += w->unit)
            memcpy(to + i, &w->value, w->unit);
    }
}

static void run_launch(const Work *w) {
    TestParams p = w->params;
    if (!is_device_range(p.out, p.out_len * 4) || !is_device_range(p.in, p.in_len * 4)) {
        fake.sticky = ILLEGAL_ADDRESS;
        return;
    }
    GpGrid grid = {{(uint32_t)w->blocks, 1, 1}, {1, 1, 1}};
    test_scale(NULL, (const uint8_t *)&p, &grid, 0, w->blocks, NULL);
}

static void run_until_stamp(GpCuEvent e, GpCuStream source, uint64_t stamp) {
    while (e->done < stamp && source && source->first)
        run_one(source);
}

static void run_one(GpCuStream s) {
    Work *w = s->first;
    if (!w)
        return;
    if (w->kind == Work_Wait)
        run_until_stamp(w->event, w->source, w->stamp);
    s->first = w->next;
    if (!s->first)
        s->last = &s->first;
    switch (w->kind) {
    case Work_Copy:
    case Work_Fill:
        run_rows(w);
        break;
    case Work_Launch:
        run_launch(w);
        break;
    case Work_Record:
        w->event->done = GP_MAX(w->event->done, w->stamp);
        break;
    case Work_Free:
        (void)give_memory(w->to);
        break;
    case Work_Wait:
        break;
    }
    free(w);
}

static void run_all(GpCuStream s) {
    while (s->first)
        run_one(s);
}

static GpCuResult enqueue(GpCuStream s, Work work) {
    if (fake.sticky)
        return fake.sticky;
    if (!s)
        return INVALID_VALUE;
    if (s->graph && work.kind != Work_Launch)
        return CAPTURE_UNSUPPORTED;
    Work ***last = s->graph ? &s->graph->last : &s->last;
    Work *w = malloc(sizeof *w);
    *w = work;
    w->next = NULL;
    **last = w;
    *last = &w->next;
    return 0;
}

/* ---- Entry points: fake_<field of cuda_api.def> ------------------------------------------- */

#define GP_CUDA_FN(field, symbol, version, plain, need, params) GpCuResult fake_##field params;
#include "runtime/cuda_api.def"

GpCuResult fake_init(unsigned flags) {
    read_environment();
    return flags ? INVALID_VALUE : fake.init;
}
GpCuResult fake_driver_version(int *version) {
    *version = env_number("GPULUA_FAKE_VERSION", 13000);
    return 0;
}
GpCuResult fake_device_count(int *count) {
    *count = fake.count;
    return 0;
}
GpCuResult fake_device_get(GpCuDevice *device, int ordinal) {
    *device = ordinal;
    return ordinal < fake.count ? 0 : 101;
}
GpCuResult fake_device_name(char *name, int len, GpCuDevice device) {
    snprintf(name, (size_t)len, "Fake GPU %d", device);
    return 0;
}
GpCuResult fake_device_attribute(int *value, GpCuDeviceAttribute attribute, GpCuDevice device) {
    static const struct {
        int attribute, value;
    } known[] = {{GpCu_MaxThreadsPerBlock, 1024}, {GpCu_MaxBlockX, 1024}, {GpCu_MaxBlockY, 1024},
                 {GpCu_MaxBlockZ, 64}, {GpCu_MaxGridX, INT32_MAX}, {GpCu_MaxGridY, 65535},
                 {GpCu_MaxGridZ, 65535}, {GpCu_Multiprocessors, 4}, {GpCu_MaxThreadsPerProcessor, 2048},
                 {GpCu_MaxSharedOptin, MAX_SHARED}};
    int sm = env_number("GPULUA_FAKE_SM", 90);
    *value = attribute == GpCu_PoolsSupported && fake.has_pools;
    for (size_t i = 0; i < GP_COUNT(known); i++) {
        if (known[i].attribute == attribute)
            *value = known[i].value;
    }
    if (attribute == GpCu_CapabilityMajor)
        *value = sm / 10;
    if (attribute == GpCu_CapabilityMinor)
        *value = sm % 10;
    return device < fake.count ? 0 : 101;
}
GpCuResult fake_device_memory(size_t *bytes, GpCuDevice device) {
    (void)device;
    *bytes = fake.memory;
    return 0;
}
GpCuResult fake_primary_retain(GpCuContext *context, GpCuDevice device) {
    *context = (GpCuContext)(uintptr_t)(0x1000 + device);
    fake.live++;
    return 0;
}
GpCuResult fake_primary_release(GpCuDevice device) {
    (void)device;
    fake.live--;
    return 0;
}
GpCuResult fake_context_get(GpCuContext *context) {
    *context = fake.current;
    return 0;
}
GpCuResult fake_context_set(GpCuContext context) {
    fake.current = context;
    return 0;
}
GpCuResult fake_context_device(GpCuDevice *device) {
    *device = (int)((uintptr_t)fake.current - 0x1000);
    return fake.current ? 0 : 201;
}
GpCuResult fake_module_load(GpCuModule *module, const void *image, unsigned count,
                            GpCuJitOption *options, void **values) {
    if (!fake.current)
        return 201;
    if (strstr(image, "BAD")) {
        for (unsigned i = 0; i < count; i++) {
            if (options[i] == GpCu_JitErrorLog)
                memcpy(values[i], "ptxas fatal: BAD", sizeof "ptxas fatal: BAD");
        }
        return 218;
    }
    *module = malloc(sizeof **module);
    fake.live++;
    return 0;
}
GpCuResult fake_module_unload(GpCuModule module) {
    free(module);
    fake.live--;
    return 0;
}
GpCuResult fake_module_function(GpCuFunction *function, GpCuModule module, const char *name) {
    (void)module;
    bool has_map = strcmp(name, "scale_map") == 0;
    *function = has_map ? SCALE_MAP : SCALE;
    return strncmp(name, "scale", 5) == 0 ? 0 : 500; /* a symbol says its generics behind */
}
GpCuResult fake_function_get(int *value, GpCuFunctionAttribute attribute, GpCuFunction function) {
    (void)function;
    *value = attribute == GpCu_FuncMaxThreads ? 1024 : attribute == GpCu_FuncRegisters ? 32 : 0;
    return 0;
}
GpCuResult fake_function_set(GpCuFunction function, GpCuFunctionAttribute attribute, int value) {
    (void)function;
    if (attribute != GpCu_FuncMaxDynamicShared || value > MAX_SHARED)
        return INVALID_VALUE;
    fake.dynamic_limit = value;
    return 0;
}
/* Blocks share the registers of 2048 threads and 1 KiB more shared memory than one may have. */
GpCuResult fake_occupancy(int *blocks, GpCuFunction function, int threads, size_t shared_bytes) {
    if (!function || threads < 1 || shared_bytes > (size_t)fake.dynamic_limit)
        return INVALID_VALUE;
    int by_shared = (int)((MAX_SHARED + 1024) / (shared_bytes + 1024));
    *blocks = GP_MIN(2048 / threads, by_shared);
    return 0;
}
/* One of its four multiprocessors has no neighbour for a cluster. */
GpCuResult fake_active_clusters(int *clusters, GpCuFunction function, const GpCuLaunchConfig *c) {
    int blocks = 0;
    if (c->attr_count != 1 || c->attrs[0].id != GpCu_AttributeCluster)
        return INVALID_VALUE;
    GpCuResult result = fake_occupancy(&blocks, function, (int)c->block_x, c->shared_bytes);
    *clusters = 3 * blocks / (int)c->attrs[0].value.cluster[0];
    return result;
}
/* Refuses what the documentation of cuTensorMapEncodeTiled refuses. */
/* NOLINTNEXTLINE(readability-function-size): the driver's prototype */
GpCuResult fake_encode_tiled(GpCuTensorMap *map, GpCuMapType type, uint32_t rank, void *base,
                             const uint64_t *dims, const uint64_t *strides, const uint32_t *box,
                             const uint32_t *steps, GpCuMapInterleave interleave,
                             GpCuMapSwizzle swizzle, GpCuMapPromotion promotion,
                             GpCuMapFill fill) {
    static const uint8_t bytes[] = {1, 2, 4, 4, 8, 8, 2, 4, 8, 2, 4, 4};
    uint64_t address = (uint64_t)(uintptr_t)base;
    FakeMap m = {.base = address, .type = (uint8_t)type, .rank = (uint8_t)rank,
                 .swizzle = (uint8_t)swizzle, .promotion = (uint8_t)promotion};
    fake.encodes++;
    if ((uintptr_t)map % 64 || address % 16 || rank < 1 || rank > 5 || interleave || fill ||
        (unsigned)type >= sizeof bytes ||
        (swizzle && box[0] * bytes[type] > 16u << swizzle) || box[0] * bytes[type] % 16)
        return INVALID_VALUE;
    for (uint32_t i = 0; i < rank; i++) {
        m.dims[i] = dims[i];
        m.box[i] = box[i];
        if (dims[i] == 0 || dims[i] > UINT64_C(1) << 32 || box[i] == 0 || box[i] > 256 ||
            steps[i] != 1)
            return INVALID_VALUE;
        if (i == 0)
            continue;
        m.strides[i - 1] = strides[i - 1];
        if (strides[i - 1] % 16 || strides[i - 1] >= UINT64_C(1) << 40)
            return INVALID_VALUE;
    }
    memset(map, 0, sizeof *map);
    memcpy(map, &m, sizeof m);
    return 0;
}
/* NOLINTNEXTLINE(readability-function-size): the driver's prototype */
GpCuResult fake_launch(GpCuFunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                       unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared_bytes,
                       GpCuStream stream, void **params, void **extra) {
    bool is_fine = function && params && !extra && block_x * block_y * block_z > 0 &&
                   grid_x * grid_y * grid_z > 0 && shared_bytes <= (unsigned)fake.dynamic_limit;
    if (!is_fine || !fake.current)
        return INVALID_VALUE;
    Work w = {.kind = Work_Launch, .blocks = (uint64_t)grid_x * grid_y * grid_z};
    memcpy(&w.params.out, params[0], 8);
    memcpy(&w.params.out_len, params[1], 8);
    memcpy(&w.params.in, params[2], 8);
    memcpy(&w.params.in_len, params[3], 8);
    memcpy(&w.params.box, params[4], 8);
    memcpy(&w.params.by, params[5], 4);
    fake.last = (FakeLaunch){.grid = {grid_x, grid_y, grid_z}, .shared_bytes = shared_bytes, .cluster = 1};
    if (function == SCALE_MAP) {
        if ((uintptr_t)params[6] % 64)
            return INVALID_VALUE;
        memcpy(&fake.last.map, params[6], sizeof fake.last.map);
        for (int i = 0; i < 3; i++)
            memcpy(&fake.last.virtual_grid[i], params[7 + i], 4);
    }
    GpCuResult result = enqueue(stream, w);
    if (++fake.launches == fake.sticky_at)
        fake.sticky = fake.sticky_code;
    return result;
}
GpCuResult fake_launch_ex(const GpCuLaunchConfig *c, GpCuFunction function, void **params,
                          void **extra) {
    uint32_t cluster = 1;
    bool is_dependent = false;
    for (unsigned i = 0; i < c->attr_count; i++) {
        const GpCuLaunchAttribute *a = &c->attrs[i];
        if (a->id != GpCu_AttributeCluster && a->id != GpCu_AttributeDependent)
            return INVALID_VALUE;
        if (a->id == GpCu_AttributeCluster)
            cluster = a->value.cluster[0];
        else
            is_dependent = a->value.flag;
    }
    if (c->grid_x % cluster || (is_dependent && c->stream->graph))
        return INVALID_VALUE;
    GpCuResult result = fake_launch(function, c->grid_x, c->grid_y, c->grid_z, c->block_x,
                                    c->block_y, c->block_z, c->shared_bytes, c->stream, params,
                                    extra);
    fake.last.cluster = cluster;
    fake.last.is_dependent = is_dependent;
    return result;
}
GpCuResult fake_capture_begin(GpCuStream stream, GpCuCaptureMode mode) {
    if (stream->graph || mode != GpCu_CaptureRelaxed)
        return INVALID_VALUE;
    stream->graph = calloc(1, sizeof *stream->graph);
    stream->graph->last = &stream->graph->first;
    fake.live++;
    return 0;
}
GpCuResult fake_capture_end(GpCuStream stream, GpCuGraph *graph) {
    *graph = stream->graph;
    stream->graph = NULL;
    return *graph ? 0 : INVALID_VALUE;
}
static void copy_work(const Work *from, struct GpCuGraphTag *to) {
    to->last = &to->first;
    for (const Work *w = from; w; w = w->next) {
        Work *copy = malloc(sizeof *copy);
        *copy = *w;
        copy->next = NULL;
        *to->last = copy;
        to->last = &copy->next;
    }
}
static void free_work(Work *first) {
    for (Work *w = first; w;) {
        Work *next = w->next;
        free(w);
        w = next;
    }
}
GpCuResult fake_graph_instantiate(GpCuGraphExec *exec, GpCuGraph graph, unsigned long long flags) {
    if (flags || !graph->first)
        return INVALID_VALUE;
    *exec = calloc(1, sizeof **exec);
    copy_work(graph->first, &(*exec)->graph);
    fake.live++;
    return 0;
}
GpCuResult fake_graph_launch(GpCuGraphExec exec, GpCuStream stream) {
    GpCuResult result = 0;
    fake.graph_launches++;
    for (const Work *w = exec->graph.first; w && result == 0; w = w->next)
        result = enqueue(stream, *w);
    return result;
}
GpCuResult fake_graph_exec_destroy(GpCuGraphExec exec) {
    free_work(exec->graph.first);
    free(exec);
    fake.live--;
    return 0;
}
GpCuResult fake_graph_destroy(GpCuGraph graph) {
    free_work(graph->first);
    free(graph);
    fake.live--;
    return 0;
}
GpCuResult fake_mem_alloc(GpCuPtr *address, size_t bytes) {
    return fake.sticky ? fake.sticky : take_memory(address, bytes);
}
GpCuResult fake_mem_free(GpCuPtr address) { return give_memory(address); }
GpCuResult fake_mem_info(size_t *free_bytes, size_t *total) {
    *free_bytes = fake.memory - fake.used;
    *total = fake.memory;
    return 0;
}
GpCuResult fake_pointer_get(void *value, GpCuPointerAttribute attribute, GpCuPtr at) {
    int owner = env_number("GPULUA_FAKE_OWNER", 0);
    if (attribute != GpCu_PointerDevice || !is_device_range(at, 1))
        return INVALID_VALUE;
    memcpy(value, &owner, sizeof owner);
    return 0;
}
GpCuResult fake_host_alloc(void **at, size_t bytes, unsigned flags) {
    (void)flags;
    *at = malloc(bytes);
    fake.live++;
    return 0;
}
GpCuResult fake_host_free(void *at) {
    free(at);
    fake.live--;
    return 0;
}
GpCuResult fake_host_address(GpCuPtr *address, void *at, unsigned flags) {
    *address = (uint64_t)(uintptr_t)at;
    return flags ? INVALID_VALUE : 0;
}
GpCuResult fake_pool_alloc(GpCuPtr *address, size_t bytes, GpCuPool pool, GpCuStream stream) {
    if (!pool || !stream)
        return INVALID_VALUE;
    return fake.sticky ? fake.sticky : take_memory(address, bytes);
}
GpCuResult fake_pool_free(GpCuPtr address, GpCuStream stream) {
    return enqueue(stream, (Work){.kind = Work_Free, .to = address});
}
GpCuResult fake_pool_create(GpCuPool *pool, const GpCuPoolProps *props) {
    if (props->alloc_type != GpCu_AllocPinned || props->location_type != GpCu_LocationDevice)
        return INVALID_VALUE;
    *pool = calloc(1, sizeof **pool);
    fake.live++;
    return 0;
}
GpCuResult fake_pool_destroy(GpCuPool pool) {
    free(pool);
    fake.live--;
    return 0;
}
GpCuResult fake_pool_trim(GpCuPool pool, size_t keep) {
    (void)keep;
    return pool ? 0 : INVALID_VALUE;
}
GpCuResult fake_pool_set(GpCuPool pool, GpCuPoolAttribute attribute, void *value) {
    (void)value;
    return pool && attribute == GpCu_PoolReleaseThreshold ? 0 : INVALID_VALUE;
}
GpCuResult fake_pool_get(GpCuPool pool, GpCuPoolAttribute attribute, void *value) {
    if (!pool || attribute != GpCu_PoolReserved)
        return INVALID_VALUE;
    *(uint64_t *)value = fake.used;
    return 0;
}
GpCuResult fake_copy_to_device(GpCuPtr to, const void *from, size_t bytes, GpCuStream stream) {
    return enqueue(stream, (Work){.kind = Work_Copy, .to = to, .from = (uint64_t)(uintptr_t)from,
                                  .is_from_host = true, .width = bytes, .height = 1});
}
GpCuResult fake_copy_to_host(void *to, GpCuPtr from, size_t bytes, GpCuStream stream) {
    return enqueue(stream, (Work){.kind = Work_Copy, .to = (uint64_t)(uintptr_t)to, .from = from,
                                  .is_to_host = true, .width = bytes, .height = 1});
}
GpCuResult fake_copy_on_device(GpCuPtr to, GpCuPtr from, size_t bytes, GpCuStream stream) {
    return enqueue(stream,
                   (Work){.kind = Work_Copy, .to = to, .from = from, .width = bytes, .height = 1});
}
GpCuResult fake_copy_2d(const GpCuMemcpy2D *c, GpCuStream stream) {
    bool is_to_host = c->dst_type == GpCu_TypeHost, is_from_host = c->src_type == GpCu_TypeHost;
    if (c->src_pitch < c->width || c->dst_pitch < c->width)
        return INVALID_VALUE;
    return enqueue(stream,
                   (Work){.kind = Work_Copy,
                          .to = is_to_host ? (uint64_t)(uintptr_t)c->dst_host : c->dst_device,
                          .from = is_from_host ? (uint64_t)(uintptr_t)c->src_host : c->src_device,
                          .to_pitch = c->dst_pitch,
                          .from_pitch = c->src_pitch,
                          .is_to_host = is_to_host,
                          .is_from_host = is_from_host,
                          .width = c->width,
                          .height = c->height});
}
/* `width` counts units. */
static GpCuResult enqueue_fill(GpCuStream stream, Work w) {
    if (w.to % w.unit != 0 || (w.height > 1 && w.to_pitch % w.unit != 0))
        return INVALID_VALUE;
    w.kind = Work_Fill;
    w.width *= w.unit;
    return enqueue(stream, w);
}
static GpCuResult enqueue_line(GpCuPtr to, uint32_t value, uint8_t unit, size_t count,
                               GpCuStream stream) {
    return enqueue_fill(
        stream, (Work){.to = to, .value = value, .unit = unit, .width = count, .height = 1});
}
GpCuResult fake_set_8(GpCuPtr to, unsigned char value, size_t count, GpCuStream stream) {
    return enqueue_line(to, value, 1, count, stream);
}
GpCuResult fake_set_16(GpCuPtr to, unsigned short value, size_t count, GpCuStream stream) {
    return enqueue_line(to, value, 2, count, stream);
}
GpCuResult fake_set_32(GpCuPtr to, unsigned value, size_t count, GpCuStream stream) {
    return enqueue_line(to, value, 4, count, stream);
}
#define FAKE_SET_2D(bits, type)                                                                    \
    GpCuResult fake_set_2d_##bits(GpCuPtr to, size_t pitch, type value, size_t width,              \
                                  size_t height, GpCuStream stream) {                              \
        return enqueue_fill(stream, (Work){.to = to,                                               \
                                           .to_pitch = pitch,                                      \
                                           .value = value,                                         \
                                           .unit = (bits) / 8,                                     \
                                           .width = width,                                         \
                                           .height = height});                                     \
    }
FAKE_SET_2D(8, unsigned char)
FAKE_SET_2D(16, unsigned short)
FAKE_SET_2D(32, unsigned)
GpCuResult fake_stream_create(GpCuStream *stream, unsigned flags) {
    if (flags != GpCu_StreamNonBlocking || !fake.current)
        return INVALID_VALUE;
    *stream = calloc(1, sizeof **stream);
    (*stream)->last = &(*stream)->first;
    fake.live++;
    return 0;
}
GpCuResult fake_stream_destroy(GpCuStream stream) {
    if (!fake.sticky)
        run_all(stream);
    free_work(stream->first);
    free(stream);
    fake.live--;
    return 0;
}
GpCuResult fake_stream_query(GpCuStream stream) {
    if (fake.sticky)
        return fake.sticky;
    run_one(stream);
    return fake.sticky ? fake.sticky : stream->first ? NOT_READY : 0;
}
GpCuResult fake_stream_sync(GpCuStream stream) {
    if (!fake.sticky)
        run_all(stream);
    return fake.sticky;
}
GpCuResult fake_stream_wait(GpCuStream stream, GpCuEvent event, unsigned flags) {
    (void)flags;
    return enqueue(stream, (Work){.kind = Work_Wait, .event = event, .stamp = event->recorded,
                                  .source = event->stream});
}
GpCuResult fake_event_create(GpCuEvent *event, unsigned flags) {
    (void)flags;
    *event = calloc(1, sizeof **event);
    fake.live++;
    return 0;
}
GpCuResult fake_event_destroy(GpCuEvent event) {
    free(event);
    fake.live--;
    return 0;
}
GpCuResult fake_event_record(GpCuEvent event, GpCuStream stream) {
    event->stream = stream;
    return enqueue(stream,
                   (Work){.kind = Work_Record, .event = event, .stamp = ++event->recorded});
}
GpCuResult fake_event_query(GpCuEvent event) {
    if (fake.sticky)
        return fake.sticky;
    if (event->done < event->recorded && event->stream)
        run_one(event->stream);
    return event->done >= event->recorded ? 0 : NOT_READY;
}

/* ---- Names ------------------------------------------------------------------------------ */

#ifdef FAKE_PLAIN
#define CUDA_FN(field) fake_##field
#define CUDA_NAME(field) "fake_" field
#include "spec/support/cuda_plain.h"
#else
typedef void (*AnyFn)(void);

static bool is_missing(const char *symbol) {
    const char *list = getenv("GPULUA_FAKE_MISSING");
    size_t len = strlen(symbol);
    for (const char *at = list; at && (at = strstr(at, symbol)); at += len) {
        if ((at == list || at[-1] == ',') && (at[len] == ',' || at[len] == '\0'))
            return true;
    }
    return false;
}

GP_API GpCuResult cuGetProcAddress_v2(const char *symbol, void **at, int version, uint64_t flags,
                                      int *found);
GpCuResult cuGetProcAddress_v2(const char *symbol, void **at, int version, uint64_t flags,
                               int *found) {
    static const struct {
        const char *symbol;
        int version;
        AnyFn fn;
    } table[] = {
#define GP_CUDA_FN(field, symbol, version, plain, need, params)                                    \
    {#symbol, version, (AnyFn)fake_##field},
#include "runtime/cuda_api.def"
    };
    *at = NULL;
    *found = 1;
    for (size_t i = 0; i < GP_COUNT(table); i++) {
        bool is_it = strcmp(table[i].symbol, symbol) == 0 && table[i].version == version;
        if (!is_it || is_missing(symbol) || flags != 0)
            continue;
        memcpy(at, &table[i].fn, sizeof *at);
        *found = 0;
        return 0;
    }
    return 500;
}
#endif
