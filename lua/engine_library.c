/* Kernels of the library itself that the engine launches: conversions, and copies within a GPU. */
#include "dsl/std.h"
#include "lua/engine_private.h"

static const struct {
    const char *module;
    uint32_t at; /* in the module */
} library[GpLibrary_count] = {[GpLibrary_Convert] = {"convert", 0}, [GpLibrary_Copy] = {"copy", 0}, [GpLibrary_Turn] = {"copy", 1}};

const GpStdSource *gp_library_source(const char *name) {
    for (size_t i = 0; i < gp_library_source_count; i++)
        if (strcmp(gp_library_sources[i].crate, name) == 0) return &gp_library_sources[i];
    gp_unreachable();
}

static GpStatus make_kernel(GpEngine *e, GpLibraryKernel which, GpDiags *diags) {
    const GpStdSource *text = gp_library_source(library[which].module);
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

GpStatus gp_engine_library_run(GpEngine *e, const GpLibraryRun *r, GpDiags *diags) {
    GpPartition *p = NULL;
    GpRunRequest request;
    GpStatus status = e->library[r->kernel] ? GpStatus_Ok : make_kernel(e, r->kernel, diags);
    if (status == GpStatus_Ok) status = gp_partition_new(r->to, &r->tile, GpAccess_Write, r->site, diags, &p);
    GpCallArg args[] = {{.kind = GpArg_Partition, .partition = p}, {.kind = GpArg_Tensor, .tensor = r->from}};
    if (status == GpStatus_Ok)
        status = gp_kernel_prepare(e->library[r->kernel], args, GP_COUNT(args), r->site, diags, &request);
    if (status == GpStatus_Ok) status = gp_launch_now(e->runtime, &request, NULL, diags);
    gp_partition_release(p);
    return status;
}

void gp_engine_library_free(GpEngine *e) {
    for (int i = 0; i < GpLibrary_count; i++) {
        gp_kernel_release(e->library[i]);
        e->library[i] = NULL;
    }
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

GpStatus gp_engine_copy(GpEngine *e, GpTensor *to, GpTensor *from, GpSite site, GpDiags *diags) {
    static const uint8_t turned[] = {0, 2, 1};
    const GpShape *shape = gp_tensor_shape(to);
    const int64_t *strides = gp_tensor_strides(from);
    bool is_turned = strides[1] < strides[2] && shape->dim[1] > 1;
    int64_t side = GP_MIN(TURN_SIDE, TURN_BYTES / gp_elem_info[gp_tensor_elem(to)].bytes);
    int64_t columns = tile_extent(shape->dim[2], is_turned ? side : COPY_COLUMNS);
    int64_t rows = tile_extent(shape->dim[1], is_turned ? GP_MAX(side, side * side / columns / 2) : COPY_ELEMENTS / columns);
    GpLibraryRun run = {.kernel = is_turned ? GpLibrary_Turn : GpLibrary_Copy, .to = to, .from = from,
                        .tile = {.rank = 3, .dim = {1, rows, columns}}, .site = site};
    GpStatus status = GpStatus_Ok;
    if (is_turned) status = gp_tensor_permute(from, turned, site, diags, &run.from);
    if (status == GpStatus_Ok) status = gp_engine_library_run(e, &run, diags);
    if (is_turned) gp_tensor_release(run.from);
    return status;
}
