/* The C API's random numbers and conversions, and what a launch takes of its device. */
#include <stdlib.h>

#include "lua/api.h"
#include "lua/random.h"

/* ---- Random numbers ------------------------------------------------------------------------- */

static gpulua_status fill_random(gpulua_tensor *t, bool is_normal) {
    if (!t) return GPULUA_E_ARGUMENT;
    gpulua_state *g = t->state;
    GpElem elem = gp_tensor_elem(t->tensor);
    size_t bytes = gp_tensor_bytes(t->tensor);
    GpDiags *diags = gp_api_begin(g);
    if (!diags) return GPULUA_E_NO_MEMORY;
    if (gp_elem_info[elem].cls != GpClass_Float) {
        gp_api_refuse(diags, "random numbers are floats, no %s", gp_elem_info[elem].name);
        return gp_api_end(g, GpStatus_Argument);
    }
    GpRandom r = {g->random_seed, g->random_stream++, is_normal};
    bool is_gpu = gp_device_info(gp_tensor_device(t->tensor))->kind == GpDevice_Cuda;
    if (is_gpu && gp_tensor_is_contiguous(t->tensor))
        return gp_api_end(g, gp_engine_draw(g->engine, t->tensor, &r, gp_api_site(), diags));
    uint8_t *host = malloc(bytes + 1);
    if (!host) return gp_api_end(g, GpStatus_NoMemory);
    gp_random_fill(&r, elem, (int64_t)(bytes / gp_elem_info[elem].bytes), host);
    GpStatus status = gp_tensor_write(t->tensor, host, bytes, gp_api_site(), diags);
    free(host);
    return gp_api_end(g, status);
}

GP_API gpulua_status gpulua_tensor_fill_uniform(gpulua_tensor *t) { return fill_random(t, false); }
GP_API gpulua_status gpulua_tensor_fill_normal(gpulua_tensor *t) { return fill_random(t, true); }

GP_API void gpulua_seed(gpulua_state *g, uint64_t seed) {
    if (!g) return;
    g->random_seed = seed;
    g->random_stream = 0;
}

/* ---- Conversions ---------------------------------------------------------------------------- */

GP_API gpulua_status gpulua_tensor_convert(gpulua_tensor *t, const char *dtype, gpulua_tensor **out) {
    GP_API_NEEDS(t, out);
    gpulua_state *g = t->state;
    GpElem elem;
    GpTensor *made = NULL, *from = gp_tensor_retain(t->tensor);
    GpDevice *device = gp_tensor_device(from);
    GpDiags *diags = gp_api_begin(g);
    GpStatus status = !diags ? GpStatus_NoMemory : !gp_api_elem(g, dtype, &elem) ? GpStatus_Argument : GpStatus_Ok;
    if (status == GpStatus_Ok) status = gp_tensor_check(from, GpAccess_Read, gp_api_site(), diags);
    if (status == GpStatus_Ok && !gp_tensor_is_contiguous(from)) {
        gp_tensor_release(from);
        from = NULL;
        status = gp_api_copied(t, device, diags, &from);
    }
    if (status == GpStatus_Ok)
        status = gp_tensor_new(device, elem, gp_tensor_shape(from), gp_api_site(), diags, &made);
    if (status == GpStatus_Ok) status = gp_engine_convert(g->engine, made, from, gp_api_site(), diags);
    gp_tensor_release(from);
    if (status == GpStatus_Ok) status = gp_api_wrap_tensor(g, made, out);
    else gp_tensor_release(made);
    return diags ? gp_api_end(g, status) : GPULUA_E_NO_MEMORY;
}

/* ---- Launches ------------------------------------------------------------------------------- */

GpStatus gp_kernel_info(GpKernel *kernel, const GpRunRequest *request, gpulua_launch_info *out) {
    const GpImage *image = gp_exec_image(request->exec);
    const GpDeviceInfo *device = gp_device_info(gp_kernel_device(kernel));
    const uint32_t *block = request->grid.block;
    uint32_t threads = image->threads ? image->threads : block[0] * block[1] * block[2];
    GpExecInfo info;
    *out = (gpulua_launch_info){.size = sizeof(*out), .device = device->name};
    GpStatus status = gp_exec_info(request->exec, threads, &info);
    if (status != GpStatus_Ok || image->kind != GpImage_Ptx) return status;
    out->threads = threads;
    out->registers = info.registers;
    out->local_bytes = info.local_bytes;
    out->shared_bytes = info.shared_bytes + image->shared_bytes;
    out->blocks = info.blocks;
    if (device->max_resident) out->occupancy = (double)info.blocks * threads / device->max_resident;
    if (image->threads) {
        out->warps = image->schedule.warps;
        out->stages = image->schedule.stages;
        out->cluster = image->schedule.cluster;
        out->persistent = image->schedule.persistent;
    }
    if (image->unpiped != GpUnpiped_None) out->unpiped = gp_unpiped_text[image->unpiped];
    return GpStatus_Ok;
}

GP_API gpulua_status gpulua_kernel_info(gpulua_module *m, const char *kernel, const gpulua_arg *args,
                                        size_t arg_count, const gpulua_launch_options *options,
                                        gpulua_launch_info *out) {
    if (!m || !out) return gp_api_missing(GP_API_STATE(m));
    GpRunRequest request;
    GpKernel *used = NULL;
    GpDiags *diags = gp_api_begin(m->state);
    if (!diags) return GPULUA_E_NO_MEMORY;
    if (out->size != sizeof(*out)) return gp_api_end(m->state, GpStatus_Argument);
    GpStatus status = gp_api_prepare(&(GpApiCall){m, kernel, args, arg_count, options}, &used, &request);
    if (status == GpStatus_Ok) status = gp_kernel_info(used, &request, out);
    gp_kernel_release(used);
    return gp_api_end(m->state, status);
}
