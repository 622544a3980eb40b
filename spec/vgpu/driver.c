/* The CUDA driver's interface over the virtual GPU: one device of compute capability 9.0.
** Everything is done when its call returns; streams and events only exist.
**
** An error of a launch is sticky, as on a GPU: every later call returns it. */
#include <stdlib.h>

#include "spec/vgpu/vgpu.h"

#define INVALID_VALUE   1
#define OUT_OF_MEMORY   2
#define INVALID_CONTEXT 201
#define INVALID_PTX     218
#define NOT_FOUND       500
#define NOT_SUPPORTED   801
#define MEMORY_BYTES    ((size_t)8 << 30)
#define MULTIPROCESSORS 4
#define GUARD           256 /* bytes around a block */

struct GpCuStreamTag {
    int unused;
};
struct GpCuEventTag {
    int unused;
};
struct GpCuModuleTag {
    VgModule *m;
};
struct GpCuPoolTag {
    int unused;
};

static struct {
    GpCuContext current;
    GpCuResult sticky;
    size_t used;
} gpu;

#define GP_CUDA_FN(field, symbol, version, plain, need, params) GpCuResult vgpu_##field params;
#include "runtime/cuda_api.def"

/* ---- Devices ------------------------------------------------------------------------------ */

GpCuResult vgpu_init(unsigned flags) { return flags ? INVALID_VALUE : 0; }
GpCuResult vgpu_driver_version(int *version) {
    *version = 13000;
    return 0;
}
GpCuResult vgpu_device_count(int *count) {
    *count = 1;
    return 0;
}
GpCuResult vgpu_device_get(GpCuDevice *device, int ordinal) {
    *device = ordinal;
    return ordinal == 0 ? 0 : 101;
}
GpCuResult vgpu_device_name(char *name, int len, GpCuDevice device) {
    snprintf(name, (size_t)len, "virtual");
    return device == 0 ? 0 : 101;
}
/* GPULUA_VGPU_SM: the compute capability, 90 unless given, and what a block of it may have of shared
** memory. */
static int capability(void) {
    const char *asked = getenv("GPULUA_VGPU_SM");
    return asked ? atoi(asked) : 90;
}

static int shared_optin(void) {
    int sm = capability();
    return sm >= 90 ? VG_SHARED_MAX : sm == 80 || sm == 87 ? 163 * 1024 : 99 * 1024;
}

GpCuResult vgpu_device_attribute(int *value, GpCuDeviceAttribute attribute, GpCuDevice device) {
    const struct {
        int attribute, value;
    } known[] = {{GpCu_MaxThreadsPerBlock, 1024},
                 {GpCu_MaxBlockX, 1024},
                 {GpCu_MaxThreadsPerProcessor, 2048},
                 {GpCu_MaxBlockY, 1024},
                 {GpCu_MaxBlockZ, 64},
                 {GpCu_MaxGridX, INT32_MAX},
                 {GpCu_MaxGridY, 65535},
                 {GpCu_MaxGridZ, 65535},
                 {GpCu_Multiprocessors, MULTIPROCESSORS},
                 {GpCu_MaxThreadsPerProcessor, 2048},
                 {GpCu_MaxSharedOptin, shared_optin()},
                 {GpCu_CapabilityMajor, capability() / 10},
                 {GpCu_CapabilityMinor, capability() % 10},
                 {GpCu_PoolsSupported, 1}};
    for (size_t i = 0; i < GP_COUNT(known); i++) {
        if (known[i].attribute == attribute) {
            *value = known[i].value;
            return device == 0 ? 0 : 101;
        }
    }
    fprintf(stderr, "vgpu: device attribute %d is not known\n", attribute);
    return INVALID_VALUE;
}
GpCuResult vgpu_device_memory(size_t *bytes, GpCuDevice device) {
    *bytes = MEMORY_BYTES;
    return device == 0 ? 0 : 101;
}
GpCuResult vgpu_primary_retain(GpCuContext *context, GpCuDevice device) {
    *context = (GpCuContext)(uintptr_t)0x1000;
    return device == 0 ? 0 : 101;
}
GpCuResult vgpu_primary_release(GpCuDevice device) { return device == 0 ? 0 : 101; }
GpCuResult vgpu_context_get(GpCuContext *context) {
    *context = gpu.current;
    return 0;
}
GpCuResult vgpu_context_set(GpCuContext context) {
    gpu.current = context;
    return 0;
}
GpCuResult vgpu_context_device(GpCuDevice *device) {
    *device = 0;
    return gpu.current ? 0 : INVALID_CONTEXT;
}

/* ---- Modules ------------------------------------------------------------------------------ */

GpCuResult vgpu_module_load(GpCuModule *module, const void *image, unsigned count,
                            GpCuJitOption *options, void **values) {
    char error[512] = "";
    if (!gpu.current)
        return INVALID_CONTEXT;
    VgModule *m = vg_module_new(image, error, sizeof error);
    if (!m) {
        fprintf(stderr, "%s\n", error);
        for (unsigned i = 0; i < count; i++) {
            if (options[i] == GpCu_JitErrorLog)
                snprintf(values[i], sizeof error, "%s", error);
        }
        return INVALID_PTX;
    }
    *module = calloc(1, sizeof **module);
    (*module)->m = m;
    return 0;
}
GpCuResult vgpu_module_unload(GpCuModule module) {
    vg_module_free(module->m);
    free(module);
    return 0;
}
GpCuResult vgpu_module_function(GpCuFunction *function, GpCuModule module, const char *name) {
    VgFunc *f = vg_module_entry(module->m, name);
    *function = (GpCuFunction)f;
    return f ? 0 : NOT_FOUND;
}

static uint32_t threads_of(const uint32_t *three) { return three[0] * three[1] * three[2]; }

GpCuResult vgpu_function_get(int *value, GpCuFunctionAttribute attribute, GpCuFunction function) {
    const VgFunc *f = (const VgFunc *)function;
    uint32_t limit = threads_of(f->required) ? threads_of(f->required) : threads_of(f->max_threads);
    switch (attribute) {
    case GpCu_FuncMaxThreads:
        *value = limit ? (int)limit : 1024;
        return 0;
    case GpCu_FuncSharedBytes:
        *value = (int)f->module->shared_bytes;
        return 0;
    case GpCu_FuncLocalBytes:
        *value = (int)f->lane_bytes;
        return 0;
    case GpCu_FuncRegisters: /* virtual registers are not allocated */
        *value = 0;
        return 0;
    }
    return INVALID_VALUE;
}
GpCuResult vgpu_function_set(GpCuFunction function, GpCuFunctionAttribute attribute, int value) {
    VgFunc *f = (VgFunc *)function;
    if (attribute != GpCu_FuncMaxDynamicShared || value < 0 ||
        (uint32_t)value + f->module->shared_bytes > (uint32_t)shared_optin())
        return INVALID_VALUE;
    f->max_dynamic = (uint32_t)value;
    return 0;
}

/* ---- Launches ----------------------------------------------------------------------------- */

static GpCuResult refuse(const VgFunc *f, const char *what) {
    fprintf(stderr, "vgpu: kernel `%s` is not launched: %s\n", f->name->name, what);
    return INVALID_VALUE;
}

static GpCuResult check_launch(const VgFunc *f, const VgLaunch *l) {
    uint32_t threads = threads_of(l->block), most = threads_of(f->max_threads);
    uint32_t dynamic =
        GP_MAX(f->max_dynamic, 48u * 1024 - GP_MIN(f->module->shared_bytes, 48u * 1024));
    if (!threads || threads > 1024 || !threads_of(l->grid))
        return refuse(f, "an empty grid, or a block of more than 1024 threads");
    if (most && threads > most)
        return refuse(f, "the block has more threads than .maxntid");
    if (threads_of(f->required) && memcmp(f->required, l->block, sizeof l->block) != 0)
        return refuse(f, "the block is not .reqntid");
    if (l->dynamic_bytes > dynamic)
        return refuse(f, "more dynamic shared memory than was allowed");
    for (int i = 0; i < 3; i++) {
        if (f->cluster[i] && f->cluster[i] != l->cluster[i])
            return refuse(f, "the cluster is not .reqnctapercluster");
        if (l->grid[i] % l->cluster[i])
            return refuse(f, "the grid is no whole number of clusters");
    }
    return 0;
}

static GpCuResult start(const VgFunc *f, VgLaunch *l, void **params) {
    if (gpu.sticky)
        return gpu.sticky;
    GpCuResult result = check_launch(f, l);
    if (result)
        return result;
    l->func = f;
    l->params = calloc(1, f->param_bytes + 64);
    for (uint32_t i = 0; i < f->params.len; i++)
        memcpy(l->params + f->params.at[i]->at, params[i], f->params.at[i]->bytes);
    gpu.sticky = vg_launch(l);
    free(l->params);
    return gpu.sticky;
}

static void read_cluster(const VgFunc *f, const GpCuLaunchConfig *c, uint32_t *cluster) {
    for (int i = 0; i < 3; i++)
        cluster[i] = f->cluster[i] ? f->cluster[i] : 1;
    for (unsigned i = 0; c && i < c->attr_count; i++) {
        if (c->attrs[i].id == GpCu_AttributeCluster)
            memcpy(cluster, c->attrs[i].value.cluster, 3 * sizeof *cluster);
    }
}

/* NOLINTNEXTLINE(readability-function-size): the driver's prototype */
GpCuResult vgpu_launch(GpCuFunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                       unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared_bytes,
                       GpCuStream stream, void **params, void **extra) {
    (void)stream;
    VgLaunch l = {.grid = {grid_x, grid_y, grid_z},
                  .block = {block_x, block_y, block_z},
                  .dynamic_bytes = shared_bytes};
    read_cluster((const VgFunc *)function, NULL, l.cluster);
    return extra ? INVALID_VALUE : start((const VgFunc *)function, &l, params);
}
GpCuResult vgpu_launch_ex(const GpCuLaunchConfig *c, GpCuFunction function, void **params,
                          void **extra) {
    VgLaunch l = {.grid = {c->grid_x, c->grid_y, c->grid_z},
                  .block = {c->block_x, c->block_y, c->block_z},
                  .dynamic_bytes = c->shared_bytes};
    read_cluster((const VgFunc *)function, c, l.cluster);
    for (unsigned i = 0; i < c->attr_count; i++)
        l.is_dependent |= c->attrs[i].id == GpCu_AttributeDependent && c->attrs[i].value.flag;
    return extra ? INVALID_VALUE : start((const VgFunc *)function, &l, params);
}

/* As if registers were never short. */
GpCuResult vgpu_occupancy(int *blocks, GpCuFunction function, int threads, size_t shared_bytes) {
    const VgFunc *f = (const VgFunc *)function;
    size_t shared = f->module->shared_bytes + shared_bytes + 1024;
    *blocks =
        threads > 0 ? (int)GP_MIN(2048u / (unsigned)threads, ((uint32_t)shared_optin() + 1024) / shared) : 0;
    return threads > 0 ? 0 : INVALID_VALUE;
}
GpCuResult vgpu_active_clusters(int *clusters, GpCuFunction function, const GpCuLaunchConfig *c) {
    uint32_t cluster[3];
    int blocks = 0;
    read_cluster((const VgFunc *)function, c, cluster);
    GpCuResult result = vgpu_occupancy(
        &blocks, function, (int)(c->block_x * c->block_y * c->block_z), c->shared_bytes);
    *clusters = MULTIPROCESSORS * blocks / (int)threads_of(cluster);
    return result;
}
/* NOLINTNEXTLINE(readability-function-size): the driver's prototype */
GpCuResult vgpu_encode_tiled(GpCuTensorMap *map, GpCuMapType type, uint32_t rank, void *base,
                             const uint64_t *dims, const uint64_t *strides, const uint32_t *box,
                             const uint32_t *steps, GpCuMapInterleave interleave,
                             GpCuMapSwizzle swizzle, GpCuMapPromotion promotion, GpCuMapFill fill) {
    (void)promotion;
    return vg_encode_tiled(map, type, rank, base, dims, strides, box, steps, interleave, swizzle,
                           fill);
}

/* ---- Graphs: none; what a replay does, its launches do one by one ------------------------- */

GpCuResult vgpu_capture_begin(GpCuStream stream, GpCuCaptureMode mode) {
    (void)stream;
    (void)mode;
    return NOT_SUPPORTED;
}
GpCuResult vgpu_capture_end(GpCuStream stream, GpCuGraph *graph) {
    (void)stream;
    *graph = NULL;
    return NOT_SUPPORTED;
}
GpCuResult vgpu_graph_instantiate(GpCuGraphExec *exec, GpCuGraph graph, unsigned long long flags) {
    (void)graph;
    (void)flags;
    *exec = NULL;
    return NOT_SUPPORTED;
}
GpCuResult vgpu_graph_launch(GpCuGraphExec exec, GpCuStream stream) {
    (void)exec;
    (void)stream;
    return NOT_SUPPORTED;
}
GpCuResult vgpu_graph_exec_destroy(GpCuGraphExec exec) {
    (void)exec;
    return NOT_SUPPORTED;
}
GpCuResult vgpu_graph_destroy(GpCuGraph graph) {
    (void)graph;
    return NOT_SUPPORTED;
}

/* ---- Memory ------------------------------------------------------------------------------- */

/* The bytes of a block stand between guards, so that no two blocks touch. */
typedef struct Header {
    size_t bytes;
} Header;

static GpCuResult take(GpCuPtr *address, size_t bytes) {
    if (bytes == 0)
        return INVALID_VALUE;
    if (gpu.sticky)
        return gpu.sticky;
    uint8_t *at = gpu.used + bytes <= MEMORY_BYTES
                      ? aligned_alloc(GUARD, gp_align_up(bytes, GUARD) + 2 * (size_t)GUARD)
                      : NULL;
    /* The word of an atomic on 8 or 16 bits may reach past the last element. */
    if (!at || !vg_memory_add(at + GUARD, gp_align_up(bytes, 4))) {
        free(at);
        return OUT_OF_MEMORY;
    }
    memset(at, 0xa5, bytes + GUARD);
    ((Header *)(void *)at)->bytes = bytes;
    gpu.used += bytes;
    *address = (uint64_t)(uintptr_t)(at + GUARD);
    return 0;
}

static GpCuResult give(GpCuPtr address) {
    uint8_t *at = (uint8_t *)(uintptr_t)address;
    if (!vg_memory_remove(at))
        return INVALID_VALUE;
    gpu.used -= ((Header *)(void *)(at - GUARD))->bytes;
    free(at - GUARD);
    return 0;
}

GpCuResult vgpu_mem_alloc(GpCuPtr *address, size_t bytes) { return take(address, bytes); }
GpCuResult vgpu_mem_free(GpCuPtr address) { return give(address); }
GpCuResult vgpu_mem_info(size_t *free_bytes, size_t *total) {
    *free_bytes = MEMORY_BYTES - gpu.used;
    *total = MEMORY_BYTES;
    return 0;
}
GpCuResult vgpu_pointer_get(void *value, GpCuPointerAttribute attribute, GpCuPtr at) {
    uint64_t start, end;
    if (attribute != GpCu_PointerDevice || !vg_memory_find(at, 1, &start, &end))
        return INVALID_VALUE;
    *(int *)value = 0;
    return 0;
}
GpCuResult vgpu_host_alloc(void **at, size_t bytes, unsigned flags) {
    (void)flags;
    *at = calloc(1, bytes);
    return *at && vg_memory_add(*at, bytes) ? 0 : OUT_OF_MEMORY;
}
GpCuResult vgpu_host_free(void *at) {
    if (!vg_memory_remove(at))
        return INVALID_VALUE;
    free(at);
    return 0;
}
GpCuResult vgpu_host_address(GpCuPtr *address, void *at, unsigned flags) {
    *address = (uint64_t)(uintptr_t)at;
    return flags ? INVALID_VALUE : 0;
}
GpCuResult vgpu_pool_alloc(GpCuPtr *address, size_t bytes, GpCuPool pool, GpCuStream stream) {
    return pool && stream ? take(address, bytes) : INVALID_VALUE;
}
GpCuResult vgpu_pool_free(GpCuPtr address, GpCuStream stream) {
    return stream ? give(address) : INVALID_VALUE;
}
GpCuResult vgpu_pool_create(GpCuPool *pool, const GpCuPoolProps *props) {
    *pool = calloc(1, sizeof **pool);
    return props->alloc_type == GpCu_AllocPinned && *pool ? 0 : INVALID_VALUE;
}
GpCuResult vgpu_pool_destroy(GpCuPool pool) {
    free(pool);
    return 0;
}
GpCuResult vgpu_pool_trim(GpCuPool pool, size_t keep) {
    (void)keep;
    return pool ? 0 : INVALID_VALUE;
}
GpCuResult vgpu_pool_set(GpCuPool pool, GpCuPoolAttribute attribute, void *value) {
    (void)value;
    return pool && attribute == GpCu_PoolReleaseThreshold ? 0 : INVALID_VALUE;
}
GpCuResult vgpu_pool_get(GpCuPool pool, GpCuPoolAttribute attribute, void *value) {
    if (!pool || attribute != GpCu_PoolReserved)
        return INVALID_VALUE;
    *(uint64_t *)value = gpu.used;
    return 0;
}

/* ---- Transfers ---------------------------------------------------------------------------- */

/* NULL when the bytes are not in a block. */
static uint8_t *device(GpCuPtr at, size_t bytes) {
    uint64_t start, end;
    if (vg_memory_find(at, bytes, &start, &end))
        return (uint8_t *)(uintptr_t)at;
    char where[160];
    vg_memory_describe(at, where, sizeof where);
    fprintf(stderr, "vgpu: a transfer of %zu bytes at %#llx: %s\n", bytes, (unsigned long long)at,
            where);
    return NULL;
}

static GpCuResult move(uint8_t *to, const uint8_t *from, size_t bytes) {
    if (gpu.sticky)
        return gpu.sticky;
    if (!to || !from)
        return INVALID_VALUE;
    memmove(to, from, bytes);
    return 0;
}

GpCuResult vgpu_copy_to_device(GpCuPtr to, const void *from, size_t bytes, GpCuStream stream) {
    (void)stream;
    return move(device(to, bytes), from, bytes);
}
GpCuResult vgpu_copy_to_host(void *to, GpCuPtr from, size_t bytes, GpCuStream stream) {
    (void)stream;
    return move(to, device(from, bytes), bytes);
}
GpCuResult vgpu_copy_on_device(GpCuPtr to, GpCuPtr from, size_t bytes, GpCuStream stream) {
    (void)stream;
    return move(device(to, bytes), device(from, bytes), bytes);
}
GpCuResult vgpu_copy_2d(const GpCuMemcpy2D *c, GpCuStream stream) {
    (void)stream;
    if (c->src_pitch < c->width || c->dst_pitch < c->width)
        return INVALID_VALUE;
    for (size_t row = 0; row < c->height; row++) {
        size_t from_at = row * c->src_pitch, to_at = row * c->dst_pitch;
        const uint8_t *from = c->src_type == GpCu_TypeHost
                                  ? (const uint8_t *)c->src_host + from_at
                                  : device(c->src_device + from_at, c->width);
        uint8_t *to = c->dst_type == GpCu_TypeHost ? (uint8_t *)c->dst_host + to_at
                                                   : device(c->dst_device + to_at, c->width);
        GpCuResult result = move(to, from, c->width);
        if (result)
            return result;
    }
    return 0;
}

static GpCuResult fill(GpCuPtr to, size_t pitch, uint32_t value, size_t unit, size_t width,
                       size_t height) {
    if (gpu.sticky)
        return gpu.sticky;
    if (to % unit != 0 || (height > 1 && pitch % unit != 0))
        return INVALID_VALUE;
    for (size_t row = 0; row < height; row++) {
        uint8_t *at = device(to + row * pitch, width * unit);
        if (!at)
            return INVALID_VALUE;
        for (size_t i = 0; i < width; i++)
            memcpy(at + i * unit, &value, unit); /* little-endian */
    }
    return 0;
}
GpCuResult vgpu_set_8(GpCuPtr to, unsigned char value, size_t count, GpCuStream stream) {
    (void)stream;
    return fill(to, 0, value, 1, count, 1);
}
GpCuResult vgpu_set_16(GpCuPtr to, unsigned short value, size_t count, GpCuStream stream) {
    (void)stream;
    return fill(to, 0, value, 2, count, 1);
}
GpCuResult vgpu_set_32(GpCuPtr to, unsigned value, size_t count, GpCuStream stream) {
    (void)stream;
    return fill(to, 0, value, 4, count, 1);
}
GpCuResult vgpu_set_2d_8(GpCuPtr to, size_t pitch, unsigned char value, size_t width, size_t height,
                         GpCuStream stream) {
    (void)stream;
    return fill(to, pitch, value, 1, width, height);
}
GpCuResult vgpu_set_2d_16(GpCuPtr to, size_t pitch, unsigned short value, size_t width,
                          size_t height, GpCuStream stream) {
    (void)stream;
    return fill(to, pitch, value, 2, width, height);
}
GpCuResult vgpu_set_2d_32(GpCuPtr to, size_t pitch, unsigned value, size_t width, size_t height,
                          GpCuStream stream) {
    (void)stream;
    return fill(to, pitch, value, 4, width, height);
}

/* ---- Streams and events ------------------------------------------------------------------- */

GpCuResult vgpu_stream_create(GpCuStream *stream, unsigned flags) {
    (void)flags;
    *stream = calloc(1, sizeof **stream);
    return gpu.current ? 0 : INVALID_CONTEXT;
}
GpCuResult vgpu_stream_destroy(GpCuStream stream) {
    free(stream);
    return 0;
}
GpCuResult vgpu_stream_query(GpCuStream stream) {
    (void)stream;
    return gpu.sticky;
}
GpCuResult vgpu_stream_sync(GpCuStream stream) {
    (void)stream;
    return gpu.sticky;
}
GpCuResult vgpu_stream_wait(GpCuStream stream, GpCuEvent event, unsigned flags) {
    (void)flags;
    return stream && event ? gpu.sticky : INVALID_VALUE;
}
GpCuResult vgpu_event_create(GpCuEvent *event, unsigned flags) {
    (void)flags;
    *event = calloc(1, sizeof **event);
    return 0;
}
GpCuResult vgpu_event_destroy(GpCuEvent event) {
    free(event);
    return 0;
}
GpCuResult vgpu_event_record(GpCuEvent event, GpCuStream stream) {
    return stream && event ? gpu.sticky : INVALID_VALUE;
}
GpCuResult vgpu_event_query(GpCuEvent event) { return event ? gpu.sticky : INVALID_VALUE; }

#define CUDA_FN(field)   vgpu_##field
#define CUDA_NAME(field) "vgpu_" field
#include "spec/support/cuda_plain.h"
