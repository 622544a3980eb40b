/* The C API's streams, graphs and what is asked of tensors, partitions and kernels beside ownership
** (api_own.c): fills, copies to a device, other element types, maps, texts of compiled code. */
#include <stdlib.h>

#include "lua/api.h"

/* ---- Streams -------------------------------------------------------------------------------- */

GP_API gpulua_status gpulua_stream_new(gpulua_state *g, gpulua_stream **out) {
    GP_API_NEEDS(g, out);
    GpDevice *device = NULL;
    GpDiags *diags = gp_api_begin(g);
    if (!diags) return GPULUA_E_NO_MEMORY;
    gpulua_stream *handle = calloc(1, sizeof(*handle));
    if (!handle) return gp_api_end(g, GpStatus_NoMemory);
    GpStatus status = gp_engine_device(g->engine, diags, &device);
    if (status == GpStatus_Ok) status = gp_stream_new(device, diags, &handle->stream);
    if (status != GpStatus_Ok) {
        free(handle);
        return gp_api_end(g, status);
    }
    handle->state = gp_state_retain(g);
    *out = handle;
    return gp_api_end(g, GpStatus_Ok);
}

GP_API void gpulua_stream_free(gpulua_stream *s) {
    if (!s) return;
    gp_stream_release(s->stream);
    gp_state_release(s->state);
    free(s);
}

GP_API gpulua_status gpulua_stream_sync(gpulua_stream *s) {
    if (!s) return GPULUA_E_ARGUMENT;
    GpDiags *diags = gp_api_begin(s->state);
    if (!diags) return GPULUA_E_NO_MEMORY;
    return gp_api_end(s->state, gp_stream_sync(s->stream, diags));
}

GP_API int gpulua_stream_is_idle(gpulua_stream *s) { return s ? gp_stream_is_idle(s->stream) : 0; }

GP_API void *gpulua_stream_handle(gpulua_stream *s) { return s ? gp_stream_handle(s->stream) : NULL; }

static GpStream *stream_of(const gpulua_stream *s) { return s ? s->stream : NULL; }

GP_API gpulua_status gpulua_op_run_on(gpulua_op *op, gpulua_stream *stream) {
    if (!op) return GPULUA_E_ARGUMENT;
    GpDiags *diags = gp_api_begin(op->state);
    if (!diags) return GPULUA_E_NO_MEMORY;
    if (stream && stream->state != op->state) return gp_api_end(op->state, GpStatus_WrongRuntime);
    return gp_api_end(op->state, gp_op_run(op->op, stream_of(stream), gp_api_site(), diags));
}

GP_API int gpulua_op_is_done(gpulua_op *op) { return op ? gp_op_is_done(op->op) : 0; }

/* ---- Graphs --------------------------------------------------------------------------------- */

GP_API gpulua_status gpulua_graph_begin(gpulua_state *g, gpulua_graph **out) {
    GP_API_NEEDS(g, out);
    GpDiags *diags = gp_api_begin(g);
    if (!diags) return GPULUA_E_NO_MEMORY;
    gpulua_graph *handle = calloc(1, sizeof(*handle));
    if (!handle) return gp_api_end(g, GpStatus_NoMemory);
    GpStatus status = gp_graph_begin(gp_engine_runtime(g->engine), gp_api_site(), diags, &handle->graph);
    if (status != GpStatus_Ok) {
        free(handle);
        return gp_api_end(g, status);
    }
    handle->state = gp_state_retain(g);
    *out = handle;
    return gp_api_end(g, GpStatus_Ok);
}

GP_API gpulua_status gpulua_graph_end(gpulua_graph *graph) {
    if (!graph) return GPULUA_E_ARGUMENT;
    GpDiags *diags = gp_api_begin(graph->state);
    if (!diags) return GPULUA_E_NO_MEMORY;
    return gp_api_end(graph->state, gp_graph_end(graph->graph, gp_api_site(), diags));
}

GP_API gpulua_status gpulua_graph_launch(gpulua_graph *graph, gpulua_stream *stream) {
    if (!graph) return GPULUA_E_ARGUMENT;
    GpDiags *diags = gp_api_begin(graph->state);
    if (!diags) return GPULUA_E_NO_MEMORY;
    if (stream && stream->state != graph->state) return gp_api_end(graph->state, GpStatus_WrongRuntime);
    return gp_api_end(graph->state, gp_graph_launch(graph->graph, stream_of(stream), gp_api_site(), diags));
}

GP_API gpulua_status gpulua_graph_sync(gpulua_graph *graph) {
    if (!graph) return GPULUA_E_ARGUMENT;
    GpDiags *diags = gp_api_begin(graph->state);
    if (!diags) return GPULUA_E_NO_MEMORY;
    return gp_api_end(graph->state, gp_graph_sync(graph->graph, diags));
}

GP_API size_t gpulua_graph_launch_count(const gpulua_graph *graph) {
    return graph ? gp_graph_count(graph->graph) : 0;
}

GP_API gpulua_status gpulua_graph_arg(gpulua_graph *graph, const char *param, gpulua_tensor **out) {
    GP_API_NEEDS(graph, out);
    GpDiags *diags = gp_api_begin(graph->state);
    if (!diags) return GPULUA_E_NO_MEMORY;
    for (uint32_t i = 0; param && i < gp_graph_count(graph->graph); i++) {
        const GpRunRequest *r = gp_graph_request(graph->graph, i);
        for (uint32_t k = 0; k < r->arg_count; k++) {
            const GpRunArg *arg = &r->args[k];
            if (arg->tensor && arg->param && strcmp(arg->param, param) == 0)
                return gp_api_end(graph->state, gp_api_wrap_tensor(graph->state, gp_tensor_retain(arg->tensor), out));
        }
    }
    return gp_api_end(graph->state, GpStatus_Argument);
}

GP_API void gpulua_graph_free(gpulua_graph *graph) {
    if (!graph) return;
    gp_graph_release(graph->graph);
    gp_state_release(graph->state);
    free(graph);
}

/* ---- Tensors -------------------------------------------------------------------------------- */

static gpulua_status fill(gpulua_tensor *t, bool fits, GpScalar value, double shown) {
    GpDiags *diags = gp_api_begin(t->state);
    if (!diags) return GPULUA_E_NO_MEMORY;
    if (!fits) {
        gp_api_refuse(diags, "%.17g is no value of %s", shown, gp_elem_info[gp_tensor_elem(t->tensor)].name);
        return gp_api_end(t->state, GpStatus_Argument);
    }
    return gp_api_end(t->state, gp_tensor_fill(t->tensor, value, gp_api_site(), diags));
}

GP_API gpulua_status gpulua_tensor_fill(gpulua_tensor *t, double value) {
    if (!t) return GPULUA_E_ARGUMENT;
    GpScalar v = {.elem = GpElem_F64};
    bool fits = gp_scalar_from_double(value, gp_tensor_elem(t->tensor), &v);
    return fill(t, fits, v, value);
}

GP_API gpulua_status gpulua_tensor_fill_int(gpulua_tensor *t, int64_t value) {
    if (!t) return GPULUA_E_ARGUMENT;
    GpScalar v = {.elem = GpElem_I64};
    bool fits = gp_scalar_from_int(value, gp_tensor_elem(t->tensor), &v);
    return fill(t, fits, v, (double)value);
}

GP_API gpulua_status gpulua_tensor_sync(gpulua_tensor *t) {
    if (!t) return GPULUA_E_ARGUMENT;
    GpDiags *diags = gp_api_begin(t->state);
    if (!diags) return GPULUA_E_NO_MEMORY;
    return gp_api_end(t->state, gp_tensor_sync(t->tensor, gp_api_site(), diags));
}

GP_API int64_t gpulua_tensor_stride(const gpulua_tensor *t, size_t axis) {
    if (!t) return 0;
    return axis < gp_tensor_shape(t->tensor)->rank ? gp_tensor_strides(t->tensor)[axis] : 0;
}

GP_API const char *gpulua_tensor_device(const gpulua_tensor *t) {
    return t ? gp_device_info(gp_tensor_device(t->tensor))->name : NULL;
}

GpStatus gp_api_copied(gpulua_tensor *t, GpDevice *d, GpDiags *diags, GpTensor **out) {
    GpStatus status = gp_tensor_new(d, gp_tensor_elem(t->tensor), gp_tensor_shape(t->tensor),
                                    gp_api_site(), diags, out);
    if (status != GpStatus_Ok) return status;
    status = gp_tensor_copy(*out, t->tensor, gp_api_site(), diags);
    if (status != GpStatus_Ok) {
        gp_tensor_release(*out);
        *out = NULL;
    }
    return status;
}

GP_API gpulua_status gpulua_tensor_to(gpulua_tensor *t, const char *device, gpulua_tensor **out) {
    GP_API_NEEDS(t, out);
    GpTensor *made = NULL;
    GpDevice *d = gp_tensor_device(t->tensor);
    GpDiags *diags = gp_api_begin(t->state);
    if (!diags) return GPULUA_E_NO_MEMORY;
    GpStatus status = GpStatus_Ok;
    if (device)
        status = gp_device_open(gp_engine_runtime(t->state->engine), gp_str_from(device), diags, &d, NULL);
    if (status == GpStatus_Ok) status = gp_api_copied(t, d, diags, &made);
    if (status == GpStatus_Ok) status = gp_api_wrap_tensor(t->state, made, out);
    return gp_api_end(t->state, status);
}

GP_API gpulua_status gpulua_tensor_reinterpret(gpulua_tensor *t, const char *dtype, const int64_t *shape,
                                               size_t rank, gpulua_tensor **out) {
    GP_API_NEEDS(t, out);
    GpElem elem;
    GpShape dims;
    GpTensor *view = NULL;
    GpDiags *diags = gp_api_begin(t->state);
    if (!diags) return GPULUA_E_NO_MEMORY;
    if (!gp_api_elem(t->state, dtype, &elem) || !gp_api_shape(shape, rank, diags, &dims))
        return gp_api_end(t->state, GpStatus_Argument);
    GpStatus status = gp_tensor_reinterpret(t->tensor, elem, &dims, gp_api_site(), diags, &view);
    if (status == GpStatus_Ok) status = gp_api_wrap_tensor(t->state, view, out);
    return gp_api_end(t->state, status);
}

/* ---- Partitions ----------------------------------------------------------------------------- */

GP_API gpulua_status gpulua_partition_map(gpulua_partition *p, const int64_t *map, size_t rank,
                                          int64_t blocks) {
    if (!p) return GPULUA_E_ARGUMENT;
    GpShape dims;
    GpDiags *diags = gp_api_begin(p->state);
    if (!diags) return GPULUA_E_NO_MEMORY;
    if (!gp_api_shape(map, rank, diags, &dims)) return gp_api_end(p->state, GpStatus_Argument);
    return gp_api_end(p->state, gp_partition_map(p->partition, &dims, blocks, gp_api_site(), diags));
}

GP_API void gpulua_partition_prefix(gpulua_partition *p) {
    if (!p) return;
    gp_partition_prefix(p->partition);
}

/* ---- Devices and code ----------------------------------------------------------------------- */

GP_API gpulua_status gpulua_memory(gpulua_state *g, gpulua_memory_info *out) {
    if (!g || !out) return gp_api_missing(g);
    GpDevice *device = NULL;
    GpMemoryInfo info = {0};
    GpDiags *diags = gp_api_begin(g);
    if (!diags) return GPULUA_E_NO_MEMORY;
    if (out->size != sizeof(*out)) return gp_api_end(g, GpStatus_Argument);
    GpStatus status = gp_engine_device(g->engine, diags, &device);
    if (status == GpStatus_Ok) status = gp_device_memory(device, &info);
    *out = (gpulua_memory_info){sizeof(*out), info.used, info.peak, info.reserved, info.free, info.total};
    return gp_api_end(g, status);
}

GP_API gpulua_status gpulua_kernel_text(gpulua_module *m, const char *kernel, const char *stage,
                                        const char *target, const gpulua_launch_options *options,
                                        const char **text) {
    GP_API_NEEDS(m, text);
    gpulua_state *g = m->state;
    GpKernel *used = NULL;
    GpStage which;
    GpTarget made = {.kind = GpTarget_Cpu};
    GpDiags *diags = gp_api_begin(g);
    if (!diags) return GPULUA_E_NO_MEMORY;
    if (!kernel || !gp_engine_stage(stage ? stage : "ir", &which)) return gp_api_end(g, GpStatus_Argument);
    GpStatus status = gp_api_kernel(m, kernel, options, &used);
    if (status == GpStatus_Ok)
        status = target ? gp_target_parse(gp_str_from(target), &made)
                        : gp_engine_stage_target(g->engine, which, diags, &made);
    if (status == GpStatus_Ok) status = gp_kernel_emit(used, which, &made, diags, &g->text);
    if (status == GpStatus_Ok) *text = gp_text_cstr(&g->text);
    gp_kernel_release(used);
    return gp_api_end(g, status);
}
