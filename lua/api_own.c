/* The C API's ownership: views, freezing, freeing, copies, and ops that are made now and run later.
** The same runtime functions as the Lua module's, so the verdicts are the same. */
#include <stdlib.h>

#include "lua/api.h"

/* ---- Views ---------------------------------------------------------------------------------- */

static gpulua_status end_view(gpulua_tensor *t, GpStatus status, GpTensor *view, gpulua_tensor **out) {
    if (status == GpStatus_Ok) status = gp_api_wrap_tensor(t->state, view, out);
    return gp_api_end(t->state, status);
}

GP_API gpulua_status gpulua_tensor_slice(gpulua_tensor *t, const int64_t *start, const int64_t *stop,
                                         gpulua_tensor **out) {
    GP_API_NEEDS(t, out);
    GpTensor *view = NULL;
    GpDiags *diags = gp_api_begin(t->state);
    if (!diags) return GPULUA_E_NO_MEMORY;
    if (gp_tensor_shape(t->tensor)->rank && (!start || !stop))
        return gp_api_end(t->state, GpStatus_Argument);
    GpStatus status = gp_tensor_slice(t->tensor, start, stop, gp_api_site(), diags, &view);
    return end_view(t, status, view, out);
}

GP_API gpulua_status gpulua_tensor_permute(gpulua_tensor *t, const size_t *axes, gpulua_tensor **out) {
    GP_API_NEEDS(t, out);
    uint8_t order[GP_MAX_RANK] = {0};
    GpTensor *view = NULL;
    GpDiags *diags = gp_api_begin(t->state);
    if (!diags) return GPULUA_E_NO_MEMORY;
    for (size_t i = 0; i < gp_tensor_shape(t->tensor)->rank; i++) {
        if (!axes) return gp_api_end(t->state, GpStatus_Argument);
        order[i] = (uint8_t)GP_MIN(axes[i], UINT8_MAX);
    }
    GpStatus status = gp_tensor_permute(t->tensor, order, gp_api_site(), diags, &view);
    return end_view(t, status, view, out);
}

/* ---- Borrowed memory ------------------------------------------------------------------------ */

static GpStatus read_borrow(gpulua_state *g, const gpulua_borrow *from, GpDevice **device, GpBorrow *to) {
    *to = (GpBorrow){.address = from->address,
                     .bytes = from->bytes,
                     .stride = from->strides,
                     .is_readonly = from->readonly != 0,
                     .release = from->release,
                     .ud = from->ud};
    if (!gp_api_elem(g, from->dtype, &to->elem) || !gp_api_shape(from->shape, from->rank, g->last, &to->shape))
        return GpStatus_Argument;
    if (!from->device) return gp_engine_device(g->engine, g->last, device);
    return gp_device_open(gp_engine_runtime(g->engine), gp_str_from(from->device), g->last, device, NULL);
}

GP_API gpulua_status gpulua_tensor_borrow(gpulua_state *g, const gpulua_borrow *memory, gpulua_tensor **out) {
    GP_API_NEEDS(g, out);
    GpBorrow b;
    GpDevice *device = NULL;
    GpTensor *t = NULL;
    GpDiags *diags = gp_api_begin(g);
    if (!diags) return GPULUA_E_NO_MEMORY;
    if (!memory || memory->size != sizeof(*memory)) return gp_api_end(g, GpStatus_Argument);
    gpulua_tensor *handle = malloc(sizeof(*handle)); /* first: a tensor that dies here would be given back */
    GpStatus status = handle ? read_borrow(g, memory, &device, &b) : GpStatus_NoMemory;
    if (status == GpStatus_Ok) status = gp_tensor_borrow(device, &b, gp_api_site(), diags, &t);
    if (status != GpStatus_Ok) {
        free(handle);
        return gp_api_end(g, status);
    }
    *handle = (gpulua_tensor){gp_state_retain(g), t};
    *out = handle;
    return gp_api_end(g, GpStatus_Ok);
}

/* ---- Tensors -------------------------------------------------------------------------------- */

GP_API gpulua_status gpulua_tensor_copy(gpulua_tensor *to, gpulua_tensor *from) {
    if (!to || !from) return gp_api_missing(GP_API_STATE(to));
    GpDiags *diags = gp_api_begin(to->state);
    if (!diags) return GPULUA_E_NO_MEMORY;
    if (from->state != to->state) return gp_api_end(to->state, GpStatus_WrongRuntime);
    return gp_api_end(to->state, gp_tensor_copy(to->tensor, from->tensor, gp_api_site(), diags));
}

GP_API gpulua_status gpulua_tensor_freeze(gpulua_tensor *t) {
    if (!t) return GPULUA_E_ARGUMENT;
    GpDiags *diags = gp_api_begin(t->state);
    if (!diags) return GPULUA_E_NO_MEMORY;
    return gp_api_end(t->state, gp_tensor_freeze(t->tensor, gp_api_site(), diags));
}

/* Whoever lent the memory may free handles when it goes back, this one too. */
GP_API gpulua_status gpulua_tensor_drop(gpulua_tensor *t) {
    if (!t) return GPULUA_E_ARGUMENT;
    gpulua_state *g = gp_state_retain(t->state);
    GpTensor *tensor = gp_tensor_retain(t->tensor);
    GpDiags *diags = gp_api_begin(g);
    gpulua_status status = GPULUA_E_NO_MEMORY;
    if (diags) status = gp_api_end(g, gp_tensor_drop(tensor, gp_api_site(), diags));
    gp_tensor_release(tensor);
    gp_state_release(g);
    return status;
}

GP_API gpulua_status gpulua_unpartition(gpulua_partition *p, gpulua_tensor **out) {
    GP_API_NEEDS(p, out);
    GpTensor *t = NULL;
    GpDiags *diags = gp_api_begin(p->state);
    if (!diags) return GPULUA_E_NO_MEMORY;
    GpStatus status = gp_partition_unwrap(p->partition, gp_api_site(), diags, &t);
    if (status == GpStatus_Ok) status = gp_api_wrap_tensor(p->state, t, out);
    return gp_api_end(p->state, status);
}

/* ---- Ops ------------------------------------------------------------------------------------ */

GP_API gpulua_status gpulua_op_make(gpulua_module *m, const char *kernel, const gpulua_arg *args,
                                    size_t arg_count, const gpulua_launch_options *options,
                                    gpulua_op **out) {
    GP_API_NEEDS(m, out);
    gpulua_state *g = m->state;
    GpRunRequest request;
    GpKernel *used;
    GpRunOp *op = NULL;
    GpDiags *diags = gp_api_begin(g);
    if (!diags) return GPULUA_E_NO_MEMORY;
    gpulua_op *handle = malloc(sizeof(*handle));
    if (!handle) return gp_api_end(g, GpStatus_NoMemory);
    GpStatus status = gp_api_prepare(&(GpApiCall){m, kernel, args, arg_count, options}, &used, &request);
    if (status == GpStatus_Ok)
        status = gp_op_make(gp_engine_runtime(g->engine), &request, diags, &op);
    gp_kernel_release(used);
    if (status == GpStatus_Ok) {
        *handle = (gpulua_op){gp_state_retain(g), op};
        *out = handle;
    } else {
        free(handle);
    }
    return gp_api_end(g, status);
}

GP_API gpulua_status gpulua_op_run(gpulua_op *op) {
    if (!op) return GPULUA_E_ARGUMENT;
    GpDiags *diags = gp_api_begin(op->state);
    if (!diags) return GPULUA_E_NO_MEMORY;
    return gp_api_end(op->state, gp_op_run(op->op, NULL, gp_api_site(), diags));
}

GP_API gpulua_status gpulua_op_sync(gpulua_op *op) {
    if (!op) return GPULUA_E_ARGUMENT;
    GpDiags *diags = gp_api_begin(op->state);
    if (!diags) return GPULUA_E_NO_MEMORY;
    return gp_api_end(op->state, gp_op_sync(op->op, NULL, gp_api_site(), diags));
}

GP_API void gpulua_op_free(gpulua_op *op) {
    if (!op) return;
    gp_op_release(op->op);
    gp_state_release(op->state);
    free(op);
}
