/* Kernels of the library itself (lua/library): conversions, random numbers, and copies within a GPU.
** Each is compiled when it is first needed, and kept. */
#include "dsl/std.h"
#include "lua/engine_private.h"

typedef enum Kernel { Convert, Uniform, Normal, Copy, Turn } Kernel;

static const struct {
    const char *module;
    uint32_t at; /* in the module */
} library[GP_LIBRARY_KERNELS] = {
    [Convert] = {"convert", 0}, [Uniform] = {"random", 0}, [Normal] = {"random", 1}, [Copy] = {"copy", 0}, [Turn] = {"copy", 1},
};

typedef struct Run {
    Kernel kernel;
    GpTensor *to;
    GpShape tile; /* a block's part of it */
    GpCallArg args[4]; /* the first is `to` in tiles */
    uint32_t count;
    GpSite site;
} Run;

static const GpStdSource *find_source(const char *name) {
    for (size_t i = 0; i < gp_library_source_count; i++)
        if (strcmp(gp_library_sources[i].crate, name) == 0) return &gp_library_sources[i];
    gp_unreachable();
}

static GpStatus make_kernel(GpEngine *e, Kernel which, GpDiags *diags) {
    const GpStdSource *text = find_source(library[which].module);
    GpText name = {.session = &e->session};
    GpModule *module = NULL;
    gp_text_printf(&name, "library/%s.rs", text->crate);
    GpSource *src = gp_source_new(&e->session, gp_text_cstr(&name), text->text, text->len, 1, 1);
    gp_text_free(&name);
    if (!src) return GpStatus_NoMemory;
    GpStatus status = gp_module_new(e->std, src, diags, &module);
    gp_source_release(src);
    if (status == GpStatus_Ok)
        status = gp_kernel_new(e, module, gp_module_kernel_at(module, library[which].at), &e->library[which]);
    gp_module_release(module);
    return status;
}

/* Enqueues, does not wait. */
static GpStatus run(GpEngine *e, Run *r, GpDiags *diags) {
    GpPartition *p = NULL;
    GpRunRequest request;
    GpKernel **kernel = &e->library[r->kernel];
    GpStatus status = *kernel ? GpStatus_Ok : make_kernel(e, r->kernel, diags);
    if (status == GpStatus_Ok) status = gp_partition_new(r->to, &r->tile, GpAccess_Write, r->site, diags, &p);
    r->args[0] = (GpCallArg){.kind = GpArg_Partition, .partition = p};
    if (status == GpStatus_Ok) status = gp_kernel_prepare(*kernel, r->args, r->count, r->site, diags, &request);
    if (status == GpStatus_Ok) status = gp_launch_now(e->runtime, &request, NULL, diags);
    gp_partition_release(p);
    return status;
}

void gp_engine_library_free(GpEngine *e) {
    for (int i = 0; i < GP_LIBRARY_KERNELS; i++) {
        gp_kernel_release(e->library[i]);
        e->library[i] = NULL;
    }
}

/* ---- Lines of elements ------------------------------------------------------------------------ */

enum {
    LINE_TILE = 1024,
    LINE_MOST = 1 << 30, /* of a launch: an axis is counted in i32 */
};

/* Elements first.. of a contiguous tensor, LINE_MOST at most. */
static GpStatus cut_line(GpTensor *t, int64_t first, GpSite site, GpDiags *diags, GpTensor **out) {
    GpShape line = {.rank = 1};
    GpTensor *all = NULL;
    gp_shape_numel(gp_tensor_shape(t), &line.dim[0]);
    int64_t end = GP_MIN(line.dim[0], first + LINE_MOST);
    GpStatus status = gp_tensor_reshape(t, &line, site, diags, &all);
    if (status == GpStatus_Ok) status = gp_tensor_slice(all, &first, &end, site, diags, out);
    gp_tensor_release(all);
    return status;
}

/* Runs r on the lines of `to`, and of `from` unless that is NULL; with the number of the first element last. */
static GpStatus run_lines(GpEngine *e, Run *r, GpTensor *to, GpTensor *from, GpDiags *diags) {
    int64_t numel = 0;
    GpStatus status = GpStatus_Ok;
    gp_shape_numel(gp_tensor_shape(to), &numel);
    r->tile = (GpShape){.rank = 1, .dim = {LINE_TILE}};
    for (int64_t first = 0; first < numel && status == GpStatus_Ok; first += LINE_MOST) {
        GpTensor *x = NULL;
        r->to = NULL;
        status = cut_line(to, first, r->site, diags, &r->to);
        if (status == GpStatus_Ok && from) status = cut_line(from, first, r->site, diags, &x);
        r->args[r->count - 1] = from ? (GpCallArg){.kind = GpArg_Tensor, .tensor = x} : (GpCallArg){.kind = GpArg_Int, .i = first};
        if (status == GpStatus_Ok) status = run(e, r, diags);
        gp_tensor_release(x);
        gp_tensor_release(r->to);
    }
    return status;
}

GpStatus gp_engine_convert(GpEngine *e, GpTensor *to, GpTensor *from, GpSite site, GpDiags *diags) {
    return run_lines(e, &(Run){.kernel = Convert, .count = 2, .site = site}, to, from, diags);
}

GpStatus gp_engine_draw(GpEngine *e, GpTensor *t, const GpRandom *random, GpSite site, GpDiags *diags) {
    Run r = {.kernel = random->is_normal ? Normal : Uniform, .count = 4, .site = site};
    r.args[1] = (GpCallArg){.kind = GpArg_Int, .i = (int64_t)random->seed};
    r.args[2] = (GpCallArg){.kind = GpArg_Int, .i = (int64_t)random->stream};
    return run_lines(e, &r, t, NULL, diags);
}

/* ---- Copies ----------------------------------------------------------------------------------- */

enum {
    COPY_ELEMENTS = 4096, /* of a block */
    COPY_COLUMNS = 1024,
    TURN_SIDE = 128,       /* at most, and in bytes: */
    TURN_BYTES = 256,
};

static int64_t tile_extent(int64_t extent, int64_t most) {
    int64_t n = 1;
    while (n < extent && n < most) n *= 2;
    return n;
}

GpStatus gp_engine_copy(void *engine, GpTensor *to, GpTensor *from, GpSite site, GpDiags *diags) {
    static const uint8_t turned[] = {0, 2, 1};
    const GpShape *shape = gp_tensor_shape(to);
    const int64_t *strides = gp_tensor_strides(from);
    bool is_turned = strides[1] < strides[2] && shape->dim[1] > 1;
    int64_t side = GP_MIN(TURN_SIDE, TURN_BYTES / gp_elem_info[gp_tensor_elem(to)].bytes);
    int64_t columns = tile_extent(shape->dim[2], is_turned ? side : COPY_COLUMNS);
    int64_t rows = tile_extent(shape->dim[1], is_turned ? GP_MAX(side, side * side / columns / 2) : COPY_ELEMENTS / columns);
    GpTensor *x = is_turned ? NULL : gp_tensor_retain(from);
    GpStatus status = is_turned ? gp_tensor_permute(from, turned, site, diags, &x) : GpStatus_Ok;
    Run r = {.kernel = is_turned ? Turn : Copy, .to = to, .tile = {.rank = 3, .dim = {1, rows, columns}}, .count = 2, .site = site};
    r.args[1] = (GpCallArg){.kind = GpArg_Tensor, .tensor = x};
    if (status == GpStatus_Ok) status = run(engine, &r, diags);
    gp_tensor_release(x);
    return status;
}
