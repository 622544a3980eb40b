/* Ops: launches that were made and are run later, once. Until then they hold loans. */
#include "runtime/internal.h"

struct GpRunOp {
    GpRuntime *rt;
    bool is_run;
    GpRunRequest request; /* its args are `args` */
    GpSite run_at;
    GpUse use;
    GpSlot *slot;
    size_t bytes; /* of this, its arguments and the kernel's name */
    uint32_t count;
    GpRunArg *args; /* each holds a reference to its tensor and partition until the op is run */
    GpLoan loans[]; /* of the arguments; tensor NULL: none */
};

static void lend(GpRunOp *op, uint32_t i) {
    const GpRunArg *arg = &op->args[i];
    GpStorage *st = arg->tensor->storage;
    op->loans[i] = (GpLoan){.next = st->loans,
                            .access = arg->access,
                            .arg = i,
                            .site = op->request.site,
                            .tensor = arg->tensor,
                            .kernel = op->request.kernel};
    st->loans = &op->loans[i];
}

static void return_loan(GpLoan *loan) {
    if (!loan->tensor)
        return;
    GpLoan **at = &loan->tensor->storage->loans;
    while (*at != loan)
        at = &(*at)->next;
    *at = loan->next;
    loan->tensor = NULL;
}

/* The loans first: a tensor that goes may be the last that the next one's loan is of. */
static void let_args_go(GpRunOp *op) {
    for (uint32_t i = 0; i < op->count; i++)
        return_loan(&op->loans[i]);
    for (uint32_t i = 0; i < op->count; i++) {
        GpPartition *partition = op->args[i].partition;
        GpTensor *tensor = op->args[i].tensor;
        op->args[i] = (GpRunArg){0};
        gp_partition_release(partition);
        gp_tensor_release(tensor);
    }
    op->count = 0;
}

/* Holds the request's arguments, and lends none yet. */
static GpRunOp *hold_request(GpRuntime *rt, const GpRunRequest *request) {
    uint32_t count = request->arg_count;
    const char *kernel = request->kernel ? request->kernel : request->exec->image->name;
    size_t args_bytes = count * (sizeof(GpLoan) + sizeof(GpRunArg)), name_bytes = strlen(kernel) + 1;
    size_t bytes = sizeof(GpRunOp) + args_bytes + name_bytes;
    GpRunOp *op = gp_try_calloc(rt->session, bytes);
    if (!op)
        return NULL;
    op->bytes = bytes;
    op->rt = gp_runtime_retain(rt);
    op->count = count;
    op->request = *request;
    op->args = (GpRunArg *)(void *)(op->loans + count);
    op->request.args = op->args;
    op->request.kernel = memcpy(op->args + count, kernel, name_bytes);
    gp_exec_retain(request->exec);
    if (request->stream)
        gp_stream_retain(request->stream);
    for (uint32_t i = 0; i < count; i++) {
        GpRunArg *arg = &op->args[i];
        *arg = request->args[i];
        if (arg->partition)
            gp_partition_retain(arg->partition);
        if (arg->tensor)
            gp_tensor_retain(arg->tensor);
    }
    return op;
}

static void free_op(GpRunOp *op) {
    GpRuntime *rt = op->rt;
    let_args_go(op);
    gp_slot_release(op->slot);
    gp_stream_release(op->request.stream);
    gp_exec_release(op->request.exec);
    gp_free(rt->session, op, op->bytes);
    gp_runtime_release(rt);
}

GpRunOp *gp_op_hold(GpRuntime *rt, const GpRunRequest *request) {
    GpRunOp *op = hold_request(rt, request);
    if (op)
        op->is_run = true;
    return op;
}

const GpRunRequest *gp_op_request(const GpRunOp *op) { return &op->request; }

/* The arguments are held before they are checked: a check may collect the host's garbage, and
** what runs then may let go of them. */
GpStatus gp_op_make(GpRuntime *rt, const GpRunRequest *request, GpDiags *diags, GpRunOp **out) {
    *out = NULL;
    GpRunOp *op = hold_request(rt, request);
    if (!op)
        return gp_report_no_memory(diags);
    GpStatus status = gp_launch_check(rt, &op->request, diags);
    if (status != GpStatus_Ok) {
        free_op(op);
        return status;
    }
    for (uint32_t i = 0; i < op->count; i++) {
        if (op->args[i].tensor)
            lend(op, i);
    }
    *out = op;
    return GpStatus_Ok;
}

/* One line for whoever forgot to run it. */
static void complain(GpRunOp *op) {
    GpSession *s = op->rt->session;
    if (!s->hooks.write)
        return;
    GpText line = {.session = s}, place = {.session = s};
    gp_site_print(op->rt, op->request.site, &place);
    if (place.len) {
        gp_text_printf(&line, "gpulua: op made at %s was dropped without being run\n", place.at);
    } else {
        gp_text_printf(&line, "gpulua: an op of kernel `%s` was dropped without being run\n",
                       op->request.exec->image->name);
    }
    if (line.at)
        s->hooks.write(s->hooks.ud, line.at, line.len);
    gp_text_free(&line);
    gp_text_free(&place);
}

void gp_op_release(GpRunOp *op) {
    if (!op)
        return;
    if (!op->is_run)
        complain(op);
    free_op(op);
}

GpStatus gp_op_run(GpRunOp *op, GpStream *stream, GpSite site, GpDiags *diags) {
    if (op->is_run)
        return gp_own_report_second_run(op->rt, op, op->run_at, site, diags);
    GpDevice *d = op->request.exec->device;
    GpStatus status = gp_device_check(d, diags);
    if (status != GpStatus_Ok)
        return status;
    GpStream *s = stream ? stream : op->request.stream ? op->request.stream : d->main;
    if (s->device != d) {
        gp_diag(diags, GpDiag_G0303, gp_site_span(op->rt, site), "the stream",
                s->device->info.name, "the op", d->info.name);
        return GpStatus_Diagnostics;
    }
    if (op->rt->recording)
        status = gp_graph_add(op->rt->recording, &op->request, diags);
    else
        status = gp_launch_enqueue(&op->request, s, diags, &op->use, &op->slot);
    if (status != GpStatus_Ok && status != GpStatus_Interrupted)
        return status;
    op->is_run = true;
    op->run_at = site;
    let_args_go(op); /* enqueued work needs no handle: memory is freed behind it */
    return status;
}

GpStatus gp_op_sync(GpRunOp *op, GpStream *stream, GpSite site, GpDiags *diags) {
    GpStatus status = op->is_run ? GpStatus_Ok : gp_op_run(op, stream, site, diags);
    if (status == GpStatus_Ok && op->use.stream)
        status = gp_stream_wait(op->use.stream, diags);
    GpFailure *failure = op->slot ? gp_slot_failure(op->slot) : NULL;
    if (status == GpStatus_Ok && failure)
        status = gp_failure_raise(failure, diags);
    return status;
}

bool gp_op_is_run(const GpRunOp *op) { return op->is_run; }
bool gp_op_is_done(GpRunOp *op) { return op->is_run && gp_use_poll(op->use); }
