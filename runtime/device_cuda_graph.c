/* Graphs on a GPU: the launches are captured on a stream of their own, and instantiated. */
#include "runtime/internal.h"

static GpCuda *api(GpDevice *d) { return &d->rt->cuda; }

/* Ends the capture whatever became of the launches; a failed one gives no graph. */
static GpStatus capture(GpGraph *g, GpStream *s, GpCuGraph *out, GpDiags *diags) {
    GpCuda *cu = api(g->device);
    GpCuResult result = cu->capture_begin(s->handle, GpCu_CaptureRelaxed);
    if (result != 0)
        return gp_device_fail(g->device, result, "recording a graph", diags);
    GpStatus status = GpStatus_Ok;
    s->is_recording = true;
    for (uint32_t i = 0; i < g->node_count && status == GpStatus_Ok; i++)
        status = gp_cuda_launch(s, &g->nodes[i].launch, diags);
    s->is_recording = false;
    result = cu->capture_end(s->handle, out);
    if (status == GpStatus_Ok && result != 0)
        status = gp_device_fail(g->device, result, "recording a graph", diags);
    return status;
}

GpStatus gp_cuda_graph_make(GpGraph *g, GpDiags *diags) {
    GpDevice *d = g->device;
    GpStream *s;
    GpCuGraph graph = NULL;
    if (!gp_cuda_has(api(d), GpCudaNeed_Graphs)) {
        gp_diag(diags, GpDiag_G0904, GP_NO_SPAN, "graphs need cuGraphInstantiateWithFlags");
        return GpStatus_DriverTooOld;
    }
    GpStatus status = gp_stream_new(d, diags, &s);
    if (status != GpStatus_Ok)
        return status;
    GpCuContext before = gp_cuda_enter(d);
    status = capture(g, s, &graph, diags);
    if (status == GpStatus_Ok) {
        GpCuResult result = api(d)->graph_instantiate(&g->exec, graph, 0);
        if (result != 0)
            status = gp_device_fail(d, result, "making a graph", diags);
    }
    if (graph)
        (void)api(d)->graph_destroy(graph);
    gp_cuda_leave(d, before);
    gp_stream_release(s);
    return status;
}

GpStatus gp_cuda_graph_launch(GpStream *s, GpGraph *g, GpDiags *diags) {
    GpCuContext before = gp_cuda_enter(s->device);
    GpCuResult result = api(s->device)->graph_launch(g->exec, s->handle);
    gp_cuda_leave(s->device, before);
    return GP_LIKELY(result == 0) ? GpStatus_Ok
                                  : gp_device_fail(s->device, result, "replaying a graph", diags);
}

/* One that is in flight goes when it is done. */
void gp_cuda_graph_free(GpGraph *g) {
    if (!g->exec || gp_runtime_is_forked(g->rt) || !g->device->context)
        return;
    GpCuContext before = gp_cuda_enter(g->device);
    (void)api(g->device)->graph_exec_destroy(g->exec);
    gp_cuda_leave(g->device, before);
}
