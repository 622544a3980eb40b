/* Kernels on a GPU: loading, what they may use, tensor maps, and the launch. */
#include <stdio.h>

#include "core/gpu.h"
#include "runtime/internal.h"

#define DEFAULT_SHARED (48 * 1024)
#define JIT_LOG_BYTES 8192

static GpCuda *api(GpDevice *d) { return &d->rt->cuda; }

/* ---- Launching -------------------------------------------------------------------------- */

enum { MOST_ATTRIBUTES = 2 };

/* A graph's launches keep whole edges between them: older drivers capture no others. */
static bool may_overlap(const GpExec *e, const GpStream *s) {
    return e->image->is_dependent && s && !s->is_recording;
}

static GpCuLaunchConfig config_of(const GpExec *e, const GpGrid *grid, uint32_t shared_bytes,
                                  const GpStream *s, GpCuLaunchAttribute *attrs) {
    unsigned count = 0;
    if (e->is_clustered) {
        attrs[count] = (GpCuLaunchAttribute){.id = GpCu_AttributeCluster};
        memcpy(attrs[count++].value.cluster, e->image->cluster, sizeof e->image->cluster);
    }
    if (may_overlap(e, s))
        attrs[count++] = (GpCuLaunchAttribute){.id = GpCu_AttributeDependent, .value.flag = 1};
    return (GpCuLaunchConfig){grid->grid[0],  grid->grid[1],  grid->grid[2], grid->block[0],
                              grid->block[1], grid->block[2], shared_bytes,  s ? s->handle : NULL,
                              attrs,          count};
}

static GpCuResult launch_with_attributes(GpStream *s, const GpLaunch *l, void **params) {
    GpCuLaunchAttribute attrs[MOST_ATTRIBUTES];
    GpCuLaunchConfig config = config_of(l->exec, &l->grid, l->shared_bytes, s, attrs);
    return api(s->device)->launch_ex(&config, l->exec->function, params, NULL);
}

/* Past 48 KiB a function must be told, once for each larger size. */
static GpCuResult allow_shared(GpDevice *d, GpExec *e, uint32_t bytes) {
    if (bytes <= e->dynamic_limit)
        return 0;
    GpCuResult result =
        api(d)->function_set(e->function, GpCu_FuncMaxDynamicShared, (int)bytes);
    if (result == 0)
        e->dynamic_limit = bytes;
    return result;
}

GpStatus gp_cuda_launch(GpStream *s, const GpLaunch *l, GpDiags *diags) {
    GpDevice *d = s->device;
    GpExec *e = l->exec;
    void *params[GP_MAX_PARAMS]; /* the driver knows the sizes and copies from these */
    const GpImageParam *layout = e->image->params;
    for (uint32_t i = 0, count = e->image->param_count; i < count; i++)
        params[i] = l->params + layout[i].offset;
    GpCuContext before = gp_cuda_enter(d);
    GpCuResult result = allow_shared(d, e, l->shared_bytes);
    if (result == 0 && e->has_attributes) {
        result = launch_with_attributes(s, l, params);
    } else if (result == 0) {
        result = api(d)->launch(e->function, l->grid.grid[0], l->grid.grid[1], l->grid.grid[2],
                                l->grid.block[0], l->grid.block[1], l->grid.block[2],
                                l->shared_bytes, s->handle, params, NULL);
    }
    gp_cuda_leave(d, before);
    if (GP_LIKELY(result == 0))
        return GpStatus_Ok;
    char what[160];
    snprintf(what, sizeof what, "launching kernel `%s`", e->image->name);
    return gp_device_fail(d, result, what, diags);
}

/* ---- Tensor maps ------------------------------------------------------------------------ */

static const uint8_t map_types[GpElem_count] = {
    [GpElem_F64] = GpCu_MapF64,   [GpElem_F32] = GpCu_MapF32, [GpElem_F16] = GpCu_MapF16,
    [GpElem_BF16] = GpCu_MapBf16, [GpElem_TF32] = GpCu_MapTf32, [GpElem_F8E4] = GpCu_MapU8,
    [GpElem_F8E5] = GpCu_MapU8,   [GpElem_I64] = GpCu_MapI64, [GpElem_I32] = GpCu_MapI32,
    [GpElem_I16] = GpCu_MapU16,   [GpElem_I8] = GpCu_MapU8,   [GpElem_U64] = GpCu_MapU64,
    [GpElem_U32] = GpCu_MapU32,   [GpElem_U16] = GpCu_MapU16, [GpElem_U8] = GpCu_MapU8,
    [GpElem_F8E8] = GpCu_MapU8,   [GpElem_F4E2] = GpCu_MapU8, [GpElem_Bool] = GpCu_MapU8,
    [GpElem_F8E5M3] = GpCu_MapU8, [GpElem_I4] = GpCu_MapU8};

static GpCuMapSwizzle swizzle_of(const GpImageMap *map) {
    return map->swizzle == 128  ? GpCu_MapSwizzle128
           : map->swizzle == 64 ? GpCu_MapSwizzle64
           : map->swizzle == 32 ? GpCu_MapSwizzle32
                                : GpCu_MapSwizzle0;
}

enum { MOST_AXES = GP_MAX_RANK + GP_MAP_SLICE_MORE, INVALID_VALUE = 1 };

/* See GP_MAP_SLICE_END. False: the axis is too long, or its stride is. */
static bool add_slice_axes(const GpImageMap *map, uint64_t *dims, uint64_t *strides, uint32_t *rank) {
    uint32_t at = map->rank - (uint32_t)map->slices;
    uint64_t stride = strides[at - 1], whole = (uint64_t)gp_elem_info[map->elem].bytes << 34;
    if (dims[at] > GP_MAP_SLICE_END || stride > whole)
        return false;
    dims[at] = GP_MAP_SLICE_END;
    strides[*rank - 1] = stride;
    strides[*rank] = whole - stride;
    for (int i = 0; i < GP_MAP_SLICE_MORE; i++)
        dims[(*rank)++] = INT32_MAX;
    return true;
}

/* A miss fetches so much more than was asked for. Where rows begin within lines of the cache, that is much that other rows'
** copies fetch again (5000 x 3000 x 7000 of bf16 on one H200: 0.82 of cuBLAS with 256 bytes, 0.94 with 64). */
static GpCuMapPromotion promotion_of(uint64_t base, const uint64_t *strides, uint32_t count) {
    for (uint32_t i = 0; i < count; i++)
        base |= strides[i];
    return base % GP_GPU_LINE_BYTES ? GpCu_MapPromote64 : GpCu_MapPromote256;
}

/* The driver counts axes from the innermost and leaves out its stride. */
static GpCuResult encode(GpCuda *cu, const GpImageMap *map, const GpTensor *t,
                         GpCuTensorMap *out) {
    uint64_t dims[MOST_AXES], strides[MOST_AXES];
    uint32_t box[MOST_AXES], steps[MOST_AXES];
    uint32_t rank = map->rank;
    for (uint32_t i = 0; i < MOST_AXES; i++)
        box[i] = steps[i] = 1;
    for (uint32_t i = 0; i < rank; i++) {
        uint32_t axis = rank - 1 - i;
        dims[i] = (uint64_t)t->shape.dim[axis];
        box[i] = map->box[axis];
        if (i > 0)
            strides[i - 1] = (uint64_t)(t->stride[axis] * gp_elem_info[t->elem].bytes);
    }
    if (map->slices && !add_slice_axes(map, dims, strides, &rank))
        return INVALID_VALUE;
    uint64_t base = gp_tensor_address(t);
    return cu->encode_tiled(out, map_types[map->elem], rank, (void *)(uintptr_t)base, dims, strides, box, steps, GpCu_MapPlain,
                            swizzle_of(map), promotion_of(base, strides, rank - 1), GpCu_MapFillZero);
}

static GpStatus refuse_map(const GpRunRequest *r, const GpImageMap *map, GpCuResult result,
                           GpDiags *diags) {
    GpDevice *d = r->exec->device;
    const GpRunArg *arg = &r->args[map->arg];
    const GpCudaError *row = gp_cuda_error(result);
    char kernel[96], why[160];
    if (row->is_sticky)
        return gp_device_fail(d, result, "making a tensor map", diags);
    snprintf(kernel, sizeof kernel, "`%s`", r->kernel ? r->kernel : r->exec->image->name);
    snprintf(why, sizeof why, "the driver makes no tensor map of argument `%s`: %s (%d)",
             arg->param ? arg->param : "?", row->name, row->value);
    GpDiag *diag = gp_diag(diags, GpDiag_G0307, gp_site_span(d->rt, r->site), kernel, why);
    GpShape box = {.rank = map->rank}, stride = {.rank = map->rank};
    for (int a = 0; a < map->rank; a++) {
        box.dim[a] = map->box[a];
        stride.dim[a] = arg->tensor->stride[a];
    }
    GpText text = {.session = d->rt->session};
    gp_text_puts(&text, "the shape is ");
    gp_shape_print(&arg->tensor->shape, &text);
    gp_text_puts(&text, ", the strides are ");
    gp_shape_print(&stride, &text);
    gp_text_puts(&text, ", the box is ");
    gp_shape_print(&box, &text);
    gp_note(diag, "%s, the swizzle is %u bytes", gp_text_cstr(&text), map->swizzle);
    gp_text_free(&text);
    return GpStatus_Diagnostics;
}

static bool is_map_of(const GpExecMap *made, const GpTensor *t) {
    size_t bytes = t->shape.rank * sizeof *t->stride;
    return made->is_made && made->base == gp_tensor_address(t) &&
           memcmp(made->dim, t->shape.dim, bytes) == 0 &&
           memcmp(made->stride, t->stride, bytes) == 0;
}

GpStatus gp_cuda_encode_maps(const GpRunRequest *r, GpDiags *diags) {
    GpExec *e = r->exec;
    for (uint32_t i = 0; i < e->image->map_count; i++) {
        const GpImageMap *map = &e->image->maps[i];
        const GpTensor *t = r->args[map->arg].tensor;
        GpExecMap *made = &e->maps[i];
        if (GP_LIKELY(is_map_of(made, t)))
            continue;
        GpCuTensorMap encoded;
        GpCuContext before = gp_cuda_enter(e->device);
        GpCuResult result = encode(api(e->device), map, t, &encoded);
        gp_cuda_leave(e->device, before);
        if (result != 0)
            return refuse_map(r, map, result, diags);
        *made = (GpExecMap){.is_made = true, .base = gp_tensor_address(t)};
        memcpy(made->dim, t->shape.dim, sizeof made->dim);
        memcpy(made->stride, t->stride, sizeof made->stride);
        memcpy(made->bytes, &encoded, sizeof made->bytes);
    }
    return GpStatus_Ok;
}

/* ---- Loading ---------------------------------------------------------------------------- */

static void read_info(GpExec *e) {
    GpCuda *cu = api(e->device);
    int value = 0;
    if (cu->function_get(&value, GpCu_FuncRegisters, e->function) == 0)
        e->info.registers = (uint32_t)value;
    if (cu->function_get(&value, GpCu_FuncLocalBytes, e->function) == 0)
        e->info.local_bytes = (uint32_t)value;
    if (cu->function_get(&value, GpCu_FuncSharedBytes, e->function) == 0)
        e->info.shared_bytes = (uint32_t)value;
    if (cu->function_get(&value, GpCu_FuncMaxThreads, e->function) == 0)
        e->info.max_threads = (uint32_t)value;
    e->dynamic_limit =
        DEFAULT_SHARED - GP_MIN(e->info.shared_bytes, (uint32_t)DEFAULT_SHARED);
}

GpCuResult gp_cuda_occupancy(GpExec *e, uint32_t threads, uint32_t *out) {
    int blocks = 0;
    GpCuContext before = gp_cuda_enter(e->device);
    GpCuResult result = api(e->device)->occupancy(&blocks, e->function, (int)threads,
                                                  e->image->shared_bytes);
    gp_cuda_leave(e->device, before);
    *out = (uint32_t)GP_MAX(blocks, 0);
    return result;
}

/* Blocks that the device runs at once. Clusters stay within a group of multiprocessors, so fewer
** of them fit than their blocks alone would. */
static GpCuResult read_resident(GpExec *e) {
    GpDevice *d = e->device;
    const uint32_t *cluster = e->image->cluster;
    e->resident = e->info.blocks * d->info.processors;
    if (!e->is_clustered)
        return 0;
    int clusters = 0;
    GpCuLaunchAttribute attrs[MOST_ATTRIBUTES];
    GpGrid grid = {{cluster[0], cluster[1], cluster[2]}, {e->image->threads, 1, 1}};
    GpCuLaunchConfig config = config_of(e, &grid, e->image->shared_bytes, NULL, attrs);
    GpCuResult result = api(d)->active_clusters(&clusters, e->function, &config);
    e->resident = (uint32_t)GP_MAX(clusters, 0) * cluster[0] * cluster[1] * cluster[2];
    return result;
}

static GpStatus prepare(GpExec *e, GpDiags *diags) {
    const GpImage *image = e->image;
    read_info(e);
    GpCuResult result = allow_shared(e->device, e, image->shared_bytes);
    if (result == 0 && image->threads)
        result = gp_cuda_occupancy(e, image->threads, &e->info.blocks);
    if (result == 0 && image->is_persistent)
        result = read_resident(e);
    char what[160];
    snprintf(what, sizeof what, "preparing kernel `%s`", image->name);
    if (result != 0)
        return gp_device_fail(e->device, result, what, diags);
    if (!image->is_persistent || e->resident)
        return GpStatus_Ok;
    snprintf(what, sizeof what, "`%s`", image->name);
    gp_diag(diags, GpDiag_G0914, GP_NO_SPAN, what, "no block of it fits a multiprocessor");
    return GpStatus_Unsupported;
}

static GpStatus refuse_ptx(GpExec *e, GpCuResult result, const char *step, const char *log,
                           GpDiags *diags) {
    const GpCudaError *row = gp_cuda_error(result);
    char what[160];
    snprintf(what, sizeof what, "%s kernel `%s`", step, e->image->name);
    if (row->is_sticky || row->code != GpDiag_G0913)
        return gp_device_fail(e->device, result, what, diags);
    char detail[320];
    snprintf(detail, sizeof detail, "%s: %s (%d)", what, row->name, row->value);
    GpDiag *diag = gp_diag(diags, GpDiag_G0913, GP_NO_SPAN, detail);
    if (log[0])
        gp_note(diag, "the driver says: %s", log);
    if (row->help[0])
        gp_help(diag, "%s", row->help);
    return row->status;
}

/* The driver compiles the PTX here. cuLink would do so relocatably, and drop setmaxnreg. */
static GpStatus load_ptx(GpExec *e, GpDiags *diags) {
    GpDevice *d = e->device;
    char log[JIT_LOG_BYTES];
    log[0] = '\0';
    GpCuJitOption options[] = {GpCu_JitErrorLog, GpCu_JitErrorLogBytes};
    void *values[] = {log, (void *)(uintptr_t)sizeof log};
    GpCuResult result = api(d)->module_load(&e->module, e->image->ptx, 2, options, values);
    const char *step = "loading";
    if (result == 0) {
        result = api(d)->module_function(&e->function, e->module, e->image->entry);
        step = "finding";
    }
    log[sizeof log - 1] = '\0';
    GpStatus status = result == 0 ? prepare(e, diags) : refuse_ptx(e, result, step, log, diags);
    if (status != GpStatus_Ok && e->module) {
        (void)api(d)->module_unload(e->module);
        e->module = NULL;
    }
    return status;
}

GpStatus gp_cuda_load(GpExec *e, GpDiags *diags) {
    const char *missing = NULL;
    e->has_attributes = e->is_clustered || (e->image->is_dependent && gp_cuda_has(api(e->device), GpCudaNeed_Clusters));
    if (e->is_clustered && !gp_cuda_has(api(e->device), GpCudaNeed_Clusters))
        missing = "clusters need cuLaunchKernelEx";
    if (e->image->map_count && !gp_cuda_has(api(e->device), GpCudaNeed_TensorMaps))
        missing = "tensor maps need cuTensorMapEncodeTiled";
    if (missing) {
        gp_diag(diags, GpDiag_G0904, GP_NO_SPAN, missing);
        return GpStatus_DriverTooOld;
    }
    GpCuContext before = gp_cuda_enter(e->device);
    GpStatus status = load_ptx(e, diags);
    gp_cuda_leave(e->device, before);
    return status;
}

void gp_cuda_unload(GpExec *e) {
    if (!e->module || gp_runtime_is_forked(e->device->rt))
        return;
    GpCuContext before = gp_cuda_enter(e->device);
    (void)api(e->device)->module_unload(e->module);
    gp_cuda_leave(e->device, before);
}
