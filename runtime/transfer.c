/* Data in and out of tensors: read, write, peek, fill, copy.
**
** Every transfer is a list of rectangles that the device moves. Where host and device meet with very many
** of them, or with rows too short to be worth a transfer, the whole span of the view goes through host
** memory instead. Within a GPU a kernel copies those (transfer_kernel.c). */
#include <stdio.h>

#include "runtime/internal.h"

#define MAX_PIECES 64          /* rectangles of a transfer between host and device */
#define MAX_DEVICE_PIECES 16   /* and of one within a device that a kernel could do */
#define MIN_ROW_BYTES 64
#define MIN_KERNEL_BYTES 65536 /* less is copied before a kernel is compiled */
#define MAX_PITCH INT32_MAX    /* the driver's limit for rectangles */

static bool is_host(const GpDevice *d) { return d->info.kind != GpDevice_Cuda; }

static GpStatus check_request(const GpRequest *q, GpDiags *diags) {
    GpStatus status = gp_device_check(q->tensor->storage->device, diags);
    return status == GpStatus_Ok ? gp_own_check(q, diags) : status;
}

static GpStatus check_use(GpTensor *t, GpVerb verb, GpSite site, GpDiags *diags) {
    return check_request(&(GpRequest){.tensor = t, .verb = verb, .site = site}, diags);
}

static GpStatus raise_known(GpTensor *t, GpDiags *diags) {
    GpFailure *failure = t->storage->failure;
    return failure ? gp_failure_raise(failure, diags) : GpStatus_Ok;
}

/* What a host access comes behind, and the failed check of a launch that wrote the tensor. */
static GpStatus await(GpTensor *t, bool is_write, GpDiags *diags) {
    GpStatus status = gp_storage_wait(t->storage, is_write, diags);
    return status == GpStatus_Ok && !is_write ? raise_known(t, diags) : status;
}

GpStatus gp_tensor_sync(GpTensor *t, GpSite site, GpDiags *diags) {
    GpStatus status = gp_own_check_alive(t, site, diags);
    if (status == GpStatus_Ok)
        status = gp_storage_wait(t->storage, true, diags);
    return status == GpStatus_Ok ? raise_known(t, diags) : status;
}

/* Bytes from the first element to the end of the last one. */
static size_t span_bytes(const GpTensor *t) {
    int64_t last = 0;
    for (int i = 0; i < t->shape.rank; i++)
        last += (t->shape.dim[i] - 1) * t->stride[i];
    return (size_t)(last + 1) * gp_elem_info[t->elem].bytes;
}

typedef struct Move {
    GpStrided layout;
    GpPieces pieces;
    uint64_t to, from; /* addresses of the first elements */
    bool is_to_host, is_from_host;
    int64_t elem_bytes;
} Move;

static Move make_move(const GpTensor *like, const int64_t *to, const int64_t *from) {
    Move m = {.elem_bytes = gp_elem_info[like->elem].bytes};
    gp_strided_join(&m.layout, &like->shape, to, from);
    m.pieces = gp_strided_pieces(&m.layout);
    return m;
}

static bool is_short(const Move *m, uint64_t max_pieces, int64_t min_row) {
    const GpPieces *p = &m->pieces;
    int64_t pitch = GP_MAX(p->to_pitch, p->from_pitch) * m->elem_bytes;
    bool is_row_fine =
        p->height <= 1 || (p->width * m->elem_bytes >= min_row && pitch <= MAX_PITCH);
    return p->count <= max_pieces && is_row_fine;
}

static GpStatus enqueue_move(GpStream *s, const Move *m, GpDiags *diags) {
    const GpPieces *p = &m->pieces;
    for (uint64_t i = 0; i < p->count; i++) {
        int64_t to, from;
        gp_strided_at(&m->layout, p, i, &to, &from);
        GpCopy c = {.to = m->to + (uint64_t)(to * m->elem_bytes),
                    .from = m->from + (uint64_t)(from * m->elem_bytes),
                    .is_to_host = m->is_to_host,
                    .is_from_host = m->is_from_host,
                    .to_pitch = (uint64_t)(p->to_pitch * m->elem_bytes),
                    .from_pitch = (uint64_t)(p->from_pitch * m->elem_bytes),
                    .width = (uint64_t)(p->width * m->elem_bytes),
                    .height = (uint64_t)p->height};
        GpStatus status = s->device->ops->copy(s, &c, diags);
        if (status != GpStatus_Ok)
            return status;
    }
    return GpStatus_Ok;
}

/* Contiguous bytes between host and device, waited for. */
static GpStatus move_bytes(GpDevice *d, uint64_t to, uint64_t from, size_t bytes, bool is_to_host,
                           GpDiags *diags) {
    GpCopy c = {.to = to, .from = from, .width = bytes, .height = 1,
                .is_to_host = is_to_host, .is_from_host = !is_to_host};
    GpStatus status = d->ops->copy(d->main, &c, diags);
    gp_stream_issue(d->main);
    return status == GpStatus_Ok ? gp_stream_wait(d->main, diags) : status;
}

static void *new_span(const GpTensor *t, GpDiags *diags) {
    void *span = gp_try_realloc(t->storage->device->rt->session, NULL, 0, span_bytes(t));
    if (!span)
        (void)gp_report_no_memory(diags);
    return span;
}

static void free_span(const GpTensor *t, void *span) {
    gp_free(t->storage->device->rt->session, span, span_bytes(t));
}

/* Elements of `t` into row-major host memory; what the tensor waits for is done. */
static GpStatus gather(GpTensor *t, void *host, GpDiags *diags) {
    GpDevice *d = t->storage->device;
    int64_t packed[GP_MAX_RANK];
    gp_row_major(&t->shape, packed);
    Move m = make_move(t, packed, t->stride);
    uint64_t at = gp_tensor_address(t);
    if (is_host(d)) {
        gp_strided_copy(&m.layout, host, (const void *)(uintptr_t)at, (size_t)m.elem_bytes);
        return GpStatus_Ok;
    }
    if (is_short(&m, MAX_PIECES, MIN_ROW_BYTES)) {
        m.to = (uint64_t)(uintptr_t)host;
        m.from = at;
        m.is_to_host = true;
        GpStatus status = enqueue_move(d->main, &m, diags);
        gp_stream_issue(d->main);
        GpStatus waited = gp_stream_wait(d->main, diags); /* the buffer is the caller's */
        return status == GpStatus_Ok ? waited : status;
    }
    void *span = new_span(t, diags);
    if (!span)
        return GpStatus_NoMemory;
    GpStatus status =
        move_bytes(d, (uint64_t)(uintptr_t)span, at, span_bytes(t), true, diags);
    if (status == GpStatus_Ok)
        gp_strided_copy(&m.layout, host, span, (size_t)m.elem_bytes);
    free_span(t, span);
    return status;
}

/* Row-major host memory into the elements of `t`; all users are done. */
static GpStatus scatter(GpTensor *t, const void *host, GpDiags *diags) {
    GpDevice *d = t->storage->device;
    int64_t packed[GP_MAX_RANK];
    gp_row_major(&t->shape, packed);
    Move m = make_move(t, t->stride, packed);
    uint64_t at = gp_tensor_address(t);
    if (is_host(d)) {
        gp_strided_copy(&m.layout, (void *)(uintptr_t)at, host, (size_t)m.elem_bytes);
        return GpStatus_Ok;
    }
    if (is_short(&m, MAX_PIECES, MIN_ROW_BYTES)) {
        m.to = at;
        m.from = (uint64_t)(uintptr_t)host;
        m.is_from_host = true;
        GpStatus status = enqueue_move(d->main, &m, diags);
        gp_stream_issue(d->main);
        GpStatus waited = gp_stream_wait(d->main, diags);
        return status == GpStatus_Ok ? waited : status;
    }
    /* The elements between those of the view come back as they were. */
    void *span = new_span(t, diags);
    if (!span)
        return GpStatus_NoMemory;
    uint64_t span_at = (uint64_t)(uintptr_t)span;
    GpStatus status = move_bytes(d, span_at, at, span_bytes(t), true, diags);
    if (status == GpStatus_Ok) {
        gp_strided_copy(&m.layout, span, host, (size_t)m.elem_bytes);
        status = move_bytes(d, at, span_at, span_bytes(t), false, diags);
    }
    free_span(t, span);
    return status;
}

static GpStatus check_bytes(GpTensor *t, size_t bytes, GpSite site, GpDiags *diags) {
    if (bytes == gp_tensor_bytes(t))
        return GpStatus_Ok;
    char have[32], want[32];
    snprintf(have, sizeof have, "%zu", bytes);
    snprintf(want, sizeof want, "%llu", (unsigned long long)gp_tensor_bytes(t));
    gp_diag(diags, GpDiag_G0305, gp_site_span(t->storage->device->rt, site), have, want);
    return GpStatus_Diagnostics;
}

GpStatus gp_tensor_read(GpTensor *t, void *host, size_t bytes, GpSite site, GpDiags *diags) {
    GpStatus status = check_use(t, GpVerb_Read, site, diags);
    if (status == GpStatus_Ok)
        status = check_bytes(t, bytes, site, diags);
    if (status == GpStatus_Ok)
        status = await(t, false, diags);
    if (status != GpStatus_Ok || bytes == 0)
        return status;
    return gather(t, host, diags);
}

GpStatus gp_tensor_write(GpTensor *t, const void *host, size_t bytes, GpSite site,
                         GpDiags *diags) {
    GpStatus status = check_use(t, GpVerb_Assign, site, diags);
    if (status == GpStatus_Ok)
        status = check_bytes(t, bytes, site, diags);
    if (status == GpStatus_Ok)
        status = await(t, true, diags);
    if (status == GpStatus_Ok && bytes)
        status = scatter(t, host, diags);
    if (status == GpStatus_Ok && t->is_whole)
        gp_storage_clean(t->storage);
    return status;
}

GpStatus gp_tensor_peek(GpTensor *t, int64_t index, GpScalar *out, GpSite site, GpDiags *diags) {
    GpRuntime *rt = t->storage->device->rt;
    GpStatus status = check_use(t, GpVerb_Read, site, diags);
    if (status == GpStatus_Ok && (index < 0 || index >= t->numel)) {
        char number[32], count[32];
        GpText name = {.session = rt->session};
        gp_value_name(rt, t, "the tensor", &name);
        snprintf(number, sizeof number, "%lld", (long long)index);
        snprintf(count, sizeof count, "%lld", (long long)t->numel);
        gp_diag(diags, GpDiag_G0315, gp_site_span(rt, site), number, gp_text_cstr(&name), count);
        gp_text_free(&name);
        return GpStatus_Diagnostics;
    }
    if (status == GpStatus_Ok)
        status = await(t, false, diags);
    if (status != GpStatus_Ok)
        return status;
    int64_t at = 0;
    for (int i = t->shape.rank - 1; i >= 0; i--) {
        at += index % t->shape.dim[i] * t->stride[i];
        index /= t->shape.dim[i];
    }
    uint8_t bytes = gp_elem_info[t->elem].bytes;
    uint64_t value = 0, from = gp_tensor_address(t) + (uint64_t)at * bytes;
    if (is_host(t->storage->device)) {
        memcpy(&value, (const void *)(uintptr_t)from, bytes);
    } else {
        status = move_bytes(t->storage->device, (uint64_t)(uintptr_t)&value, from, bytes, true,
                            diags);
    }
    if (status == GpStatus_Ok)
        *out = gp_scalar_load(t->elem, &value);
    return status;
}

/* After work on `t` was enqueued. The CPU is done with it already. */
static void note_use(GpStream *s, GpTensor *t, bool is_write) {
    GpUse use = gp_stream_issue(s);
    if (is_host(s->device))
        s->completed = s->issued;
    gp_storage_used(t->storage, use, is_write);
    if (is_write && t->is_whole)
        gp_storage_clean(t->storage);
}

GpStatus gp_tensor_fill(GpTensor *t, GpScalar value, GpSite site, GpDiags *diags) {
    gp_assert(value.elem == t->elem);
    GpStatus status = check_use(t, GpVerb_Assign, site, diags);
    GpStream *s = t->storage->device->main;
    if (status == GpStatus_Ok)
        status = gp_storage_order(t->storage, s, true, diags);
    if (status != GpStatus_Ok || t->numel == 0)
        return status;
    Move m = make_move(t, t->stride, t->stride);
    GpFill f = {.bytes = (uint8_t)m.elem_bytes,
                .pitch = (uint64_t)(m.pieces.to_pitch * m.elem_bytes),
                .width = (uint64_t)m.pieces.width,
                .height = (uint64_t)m.pieces.height};
    gp_scalar_store(value, &f.value);
    for (uint64_t i = 0; i < m.pieces.count && status == GpStatus_Ok; i++) {
        int64_t to, from;
        gp_strided_at(&m.layout, &m.pieces, i, &to, &from);
        f.to = gp_tensor_address(t) + (uint64_t)(to * m.elem_bytes);
        status = s->device->ops->fill(s, &f, diags);
    }
    note_use(s, t, true);
    return status;
}

/* Through host memory: for devices that share none, and for layouts in very small pieces. */
static GpStatus copy_by_host(GpTensor *dst, GpTensor *src, GpDiags *diags) {
    GpSession *session = src->storage->device->rt->session;
    size_t bytes = gp_tensor_bytes(src);
    GpStatus status = gp_storage_wait(src->storage, false, diags);
    if (status == GpStatus_Ok)
        status = gp_storage_wait(dst->storage, true, diags);
    if (status != GpStatus_Ok)
        return status;
    if (is_host(src->storage->device) && src->is_contiguous)
        return scatter(dst, (const void *)(uintptr_t)gp_tensor_address(src), diags);
    if (is_host(dst->storage->device) && dst->is_contiguous)
        return gather(src, (void *)(uintptr_t)gp_tensor_address(dst), diags);
    void *host = gp_try_realloc(session, NULL, 0, bytes);
    if (!host)
        return gp_report_no_memory(diags);
    status = gather(src, host, diags);
    if (status == GpStatus_Ok)
        status = scatter(dst, host, diags);
    gp_free(session, host, bytes);
    return status;
}

static GpStatus copy_on_device(GpTensor *dst, GpTensor *src, const Move *m, GpDiags *diags) {
    GpStream *s = dst->storage->device->main;
    GpStatus status = gp_storage_order(src->storage, s, false, diags);
    if (status == GpStatus_Ok)
        status = gp_storage_order(dst->storage, s, true, diags);
    if (status != GpStatus_Ok)
        return status;
    if (is_host(s->device)) {
        gp_strided_copy(&m->layout, (void *)(uintptr_t)m->to, (const void *)(uintptr_t)m->from,
                       (size_t)m->elem_bytes);
    } else {
        status = enqueue_move(s, m, diags);
    }
    note_use(s, src, false);
    note_use(s, dst, true);
    return status;
}

static GpStatus report_copy(GpTensor *dst, GpTensor *src, GpSite site, GpDiags *diags) {
    GpRuntime *rt = dst->storage->device->rt;
    GpText from = {.session = rt->session}, to = from;
    gp_text_printf(&from, "%s", gp_elem_info[src->elem].name);
    gp_shape_print(&src->shape, &from);
    gp_text_printf(&to, "%s", gp_elem_info[dst->elem].name);
    gp_shape_print(&dst->shape, &to);
    gp_diag(diags, GpDiag_G0314, gp_site_span(rt, site), gp_text_cstr(&from), gp_text_cstr(&to));
    gp_text_free(&from);
    gp_text_free(&to);
    return GpStatus_Diagnostics;
}

/* A copy of wrong data would lose its mark, so launches with checks are waited for. */
static GpStatus await_checked(GpTensor *src, GpDiags *diags) {
    GpStream *s = src->storage->writer.stream;
    if (s && s->outstanding.first)
        return await(src, false, diags);
    return raise_known(src, diags);
}

GpStatus gp_tensor_copy(GpTensor *dst, GpTensor *src, GpSite site, GpDiags *diags) {
    if (dst->elem != src->elem || !gp_shape_eq(&dst->shape, &src->shape))
        return report_copy(dst, src, site, diags);
    GpRequest from = {.tensor = src, .verb = GpVerb_Read, .site = site, .param = "source",
                      .hint = {.callee = "copy_from"}};
    GpRequest to = {.tensor = dst, .verb = GpVerb_Write, .site = site, .param = "target"};
    GpStatus status = check_request(&from, diags);
    if (status == GpStatus_Ok)
        status = check_use(dst, GpVerb_Assign, site, diags);
    if (status == GpStatus_Ok)
        status = await_checked(src, diags);
    if (status != GpStatus_Ok || dst->numel == 0)
        return status;
    if (gp_tensor_overlaps(dst, src))
        return gp_own_report_pair(&from, &to, "copy", diags);
    Move m = make_move(dst, dst->stride, src->stride);
    m.to = gp_tensor_address(dst);
    m.from = gp_tensor_address(src);
    GpDevice *d = dst->storage->device;
    bool is_both_host = is_host(d) && is_host(src->storage->device), is_one_gpu = !is_host(d) && d == src->storage->device;
    if (is_both_host || (is_one_gpu && is_short(&m, MAX_DEVICE_PIECES, MIN_ROW_BYTES)))
        return copy_on_device(dst, src, &m, diags);
    bool is_by_kernel = is_one_gpu && d->rt->hooks.copy && gp_tensor_bytes(src) >= MIN_KERNEL_BYTES;
    status = is_by_kernel ? gp_copy_by_kernel(dst, src, &m.layout, site, diags) : copy_by_host(dst, src, diags);
    if (status == GpStatus_Ok && dst->is_whole)
        gp_storage_clean(dst->storage);
    return status;
}
