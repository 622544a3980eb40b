/* A GPU through the CUDA driver.
**
** The primary context is used, shared with every other CUDA library in the process (or a
** context that the host gives), and never reset. Each entry makes it current on this thread and
** puts the host's back. */
#include <sched.h>
#include <stdio.h>
#include <time.h>

#include "runtime/internal.h"

#define SPIN_NS 2000000   /* waits poll this long, */
#define SLEEP_NS 50000    /* then sleep between questions */

static GpCuda *api(GpDevice *d) { return &d->rt->cuda; }

GpCuContext gp_cuda_enter(GpDevice *d) {
    GpCuContext before = NULL;
    (void)api(d)->context_get(&before);
    if (before != d->context)
        (void)api(d)->context_set(d->context);
    return before;
}

/* A thread that had none keeps ours: the next call is then cheaper, and nobody minds. */
void gp_cuda_leave(GpDevice *d, GpCuContext before) {
    if (before && before != d->context)
        (void)api(d)->context_set(before);
}

static GpStatus check(GpDevice *d, GpCuResult result, const char *what, GpDiags *diags) {
    return GP_LIKELY(result == 0) ? GpStatus_Ok : gp_device_fail(d, result, what, diags);
}

/* ---- Memory ----------------------------------------------------------------------------- */

static GpStatus alloc(GpDevice *d, uint64_t bytes, uint64_t *address) {
    GpCuContext before = gp_cuda_enter(d);
    GpCuPtr at = 0;
    GpCuResult result;
    if (d->pool) {
        result = api(d)->pool_alloc(&at, bytes, d->pool, d->main->handle);
        gp_stream_issue(d->main); /* others come behind the allocation */
    } else {
        result = api(d)->mem_alloc(&at, bytes);
    }
    gp_cuda_leave(d, before);
    *address = at;
    return check(d, result, "allocating device memory", NULL);
}

static void free_memory(GpDevice *d, uint64_t address, uint64_t bytes, GpStream *behind) {
    (void)bytes;
    GpCuContext before = gp_cuda_enter(d);
    if (d->pool) {
        (void)check(d, api(d)->pool_free(address, behind->handle), "freeing device memory", NULL);
        gp_stream_issue(behind);
    } else {
        (void)check(d, api(d)->mem_free(address), "freeing device memory", NULL); /* waits */
    }
    gp_cuda_leave(d, before);
}

static int owner(GpDevice *d, uint64_t address) {
    GpCuContext before = gp_cuda_enter(d);
    int number = -1;
    if (api(d)->pointer_get(&number, GpCu_PointerDevice, address) != 0)
        number = -1; /* host memory that the driver was not told of, or none */
    gp_cuda_leave(d, before);
    return number;
}

static void trim(GpDevice *d) {
    GpCuContext before = gp_cuda_enter(d);
    if (d->pool)
        (void)api(d)->pool_trim(d->pool, 0);
    gp_cuda_leave(d, before);
}

static void memory(GpDevice *d, GpMemoryInfo *out) {
    GpCuContext before = gp_cuda_enter(d);
    size_t free_bytes = 0, total = 0;
    (void)api(d)->mem_info(&free_bytes, &total);
    out->free = free_bytes;
    out->total = total;
    out->reserved = d->used;
    uint64_t reserved = 0;
    if (d->pool && api(d)->pool_get(d->pool, GpCu_PoolReserved, &reserved) == 0)
        out->reserved = reserved;
    gp_cuda_leave(d, before);
}

/* ---- Transfers -------------------------------------------------------------------------- */

static GpCuResult copy_rows(GpDevice *d, const GpCopy *c, GpCuStream stream) {
    GpCuMemcpy2D m = {.width = c->width,
                      .height = c->height,
                      .src_pitch = c->from_pitch,
                      .dst_pitch = c->to_pitch,
                      .src_type = c->is_from_host ? GpCu_TypeHost : GpCu_TypeDevice,
                      .dst_type = c->is_to_host ? GpCu_TypeHost : GpCu_TypeDevice};
    if (c->is_from_host) {
        m.src_host = (const void *)(uintptr_t)c->from;
    } else {
        m.src_device = c->from;
    }
    if (c->is_to_host) {
        m.dst_host = (void *)(uintptr_t)c->to;
    } else {
        m.dst_device = c->to;
    }
    return api(d)->copy_2d(&m, stream);
}

static GpStatus copy(GpStream *s, const GpCopy *c, GpDiags *diags) {
    GpDevice *d = s->device;
    GpCuContext before = gp_cuda_enter(d);
    GpCuResult result;
    if (c->height > 1) {
        result = copy_rows(d, c, s->handle);
    } else if (c->is_from_host) {
        result = api(d)->copy_to_device(c->to, (const void *)(uintptr_t)c->from, c->width,
                                        s->handle);
    } else if (c->is_to_host) {
        result = api(d)->copy_to_host((void *)(uintptr_t)c->to, c->from, c->width, s->handle);
    } else {
        result = api(d)->copy_on_device(c->to, c->from, c->width, s->handle);
    }
    gp_cuda_leave(d, before);
    return check(d, result, "copying data", diags);
}

/* There is no memset of 8 bytes: equal halves are one of 4, others two with a gap of 4. */
static GpCuResult fill_wide(GpDevice *d, const GpFill *f, GpCuStream stream) {
    GpCuda *cu = api(d);
    uint32_t low = (uint32_t)f->value, high = (uint32_t)(f->value >> 32);
    GpCuResult result = 0;
    for (uint64_t row = 0; row < f->height && result == 0; row++) {
        uint64_t at = f->to + row * f->pitch;
        if (low == high) {
            result = cu->set_32(at, low, 2 * f->width, stream);
            continue;
        }
        result = cu->set_2d_32(at, 8, low, 1, f->width, stream);
        if (result == 0)
            result = cu->set_2d_32(at + 4, 8, high, 1, f->width, stream);
    }
    return result;
}

static GpCuResult fill_rows(GpDevice *d, const GpFill *f, GpCuStream stream) {
    GpCuda *cu = api(d);
    bool is_flat = f->height == 1;
    switch (f->bytes) {
    case 1:
        return is_flat ? cu->set_8(f->to, (uint8_t)f->value, f->width, stream)
                       : cu->set_2d_8(f->to, f->pitch, (uint8_t)f->value, f->width, f->height,
                                      stream);
    case 2:
        return is_flat ? cu->set_16(f->to, (uint16_t)f->value, f->width, stream)
                       : cu->set_2d_16(f->to, f->pitch, (uint16_t)f->value, f->width, f->height,
                                       stream);
    case 4:
        return is_flat ? cu->set_32(f->to, (uint32_t)f->value, f->width, stream)
                       : cu->set_2d_32(f->to, f->pitch, (uint32_t)f->value, f->width, f->height,
                                       stream);
    }
    return fill_wide(d, f, stream);
}

static GpStatus fill(GpStream *s, const GpFill *f, GpDiags *diags) {
    GpCuContext before = gp_cuda_enter(s->device);
    GpCuResult result = fill_rows(s->device, f, s->handle);
    gp_cuda_leave(s->device, before);
    return check(s->device, result, "filling a tensor", diags);
}

/* ---- Streams ---------------------------------------------------------------------------- */

static void close_events(GpStream *s) {
    GpCuda *cu = api(s->device);
    if (s->order)
        (void)cu->event_destroy(s->order);
    for (uint32_t i = 0; i < GP_STREAM_MARKS; i++) {
        if (s->marks[i].event)
            (void)cu->event_destroy(s->marks[i].event);
    }
}

static void stream_close(GpStream *s) {
    if (gp_runtime_is_forked(s->device->rt))
        return;
    GpCuContext before = gp_cuda_enter(s->device);
    close_events(s);
    if (s->handle)
        (void)api(s->device)->stream_destroy(s->handle);
    gp_cuda_leave(s->device, before);
}

static GpStatus stream_open(GpStream *s, GpDiags *diags) {
    GpCuda *cu = api(s->device);
    GpCuContext before = gp_cuda_enter(s->device);
    GpCuResult result = cu->stream_create(&s->handle, GpCu_StreamNonBlocking);
    if (result == 0)
        result = cu->event_create(&s->order, GpCu_EventNoTiming);
    gp_cuda_leave(s->device, before);
    if (result != 0)
        stream_close(s);
    return check(s->device, result, "making a stream", diags);
}

static void nap(void) {
    struct timespec t = {.tv_nsec = SLEEP_NS};
    nanosleep(&t, NULL);
}

static uint64_t now_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
}

/* Asks until the stream is done, so that an interrupt ends the wait (not the work). */
static GpCuResult poll_until_done(GpStream *s, bool *is_interrupted) {
    GpCuda *cu = api(s->device);
    GpSession *session = s->device->rt->session;
    uint64_t start = 0;
    for (uint32_t turn = 0;; turn++) {
        GpCuResult result = cu->stream_query(s->handle);
        if (result != 600) /* CUDA_ERROR_NOT_READY */
            return result;
        if (turn % 64 != 63)
            continue;
        *is_interrupted = gp_interrupted(session);
        if (*is_interrupted)
            return 0;
        uint64_t now = now_ns();
        start = start ? start : now;
        if (now - start > SPIN_NS)
            nap();
    }
}

static GpStatus wait_stream(GpStream *s, GpDiags *diags) {
    GpDevice *d = s->device;
    uint64_t until = s->issued;
    bool is_interrupted = false;
    GpCuContext before = gp_cuda_enter(d);
    GpCuResult result = d->rt->session->hooks.interrupted
                            ? poll_until_done(s, &is_interrupted)
                            : api(d)->stream_sync(s->handle);
    gp_cuda_leave(d, before);
    if (is_interrupted)
        return GpStatus_Interrupted;
    if (result == 0)
        s->completed = until;
    return check(d, result, "waiting for a stream", diags);
}

static GpStatus order(GpStream *s, GpStream *after, GpDiags *diags) {
    GpCuda *cu = api(s->device);
    GpCuContext before = gp_cuda_enter(after->device);
    GpCuResult result = cu->event_record(after->order, after->handle);
    if (result == 0)
        result = cu->stream_wait(s->handle, after->order, 0);
    gp_cuda_leave(after->device, before);
    return check(s->device, result, "ordering streams", diags);
}

/* Forgets the marks that are passed. */
static void pass_marks(GpStream *s) {
    while (s->mark_count) {
        struct GpStreamMark *mark = &s->marks[s->mark_first % GP_STREAM_MARKS];
        bool is_passed = mark->seq <= s->completed;
        if (!is_passed && api(s->device)->event_query(mark->event) != 0)
            return;
        s->completed = GP_MAX(s->completed, mark->seq);
        s->mark_first++;
        s->mark_count--;
    }
}

static void add_mark(GpStream *s) {
    struct GpStreamMark *mark = &s->marks[(s->mark_first + s->mark_count) % GP_STREAM_MARKS];
    GpCuda *cu = api(s->device);
    if (!mark->event && cu->event_create(&mark->event, GpCu_EventNoTiming) != 0) {
        mark->event = NULL;
        return;
    }
    if (cu->event_record(mark->event, s->handle) != 0)
        return;
    mark->seq = s->issued;
    s->mark_count++;
}

/* Later work on the stream must not hide that `seq` is done, so a question that finds the
** stream busy leaves a mark behind what was there. */
static bool poll_stream(GpStream *s, uint64_t seq) {
    GpDevice *d = s->device;
    GpCuContext before = gp_cuda_enter(d);
    GpCuResult result = api(d)->stream_query(s->handle);
    if (result == 0) {
        s->completed = s->issued;
        s->mark_count = 0;
    } else if (result == 600) {
        pass_marks(s);
        uint64_t last = s->mark_count
                            ? s->marks[(s->mark_first + s->mark_count - 1) % GP_STREAM_MARKS].seq
                            : s->completed;
        if (last < seq && s->mark_count < GP_STREAM_MARKS)
            add_mark(s);
    } else {
        (void)gp_device_fail(d, result, "asking a stream", NULL);
    }
    gp_cuda_leave(d, before);
    return seq <= s->completed;
}

/* ---- Mailboxes' memory ------------------------------------------------------------------ */

static void *shared_alloc(GpDevice *d, size_t bytes, uint64_t *address) {
    GpCuContext before = gp_cuda_enter(d);
    void *at = NULL;
    GpCuPtr mapped = 0;
    GpCuResult result = api(d)->host_alloc(&at, bytes, GpCu_HostPortable | GpCu_HostMapped);
    if (result == 0 && api(d)->host_address(&mapped, at, 0) != 0) {
        (void)api(d)->host_free(at);
        at = NULL;
    }
    gp_cuda_leave(d, before);
    *address = mapped;
    return result == 0 ? at : NULL;
}

static void shared_free(GpDevice *d, void *at, size_t bytes) {
    (void)bytes;
    if (gp_runtime_is_forked(d->rt))
        return;
    GpCuContext before = gp_cuda_enter(d);
    (void)api(d)->host_free(at);
    gp_cuda_leave(d, before);
}

/* ---- Opening and closing ---------------------------------------------------------------- */

static void close_device(GpDevice *d) {
    if (gp_runtime_is_forked(d->rt) || !d->context)
        return;
    GpCuContext before = gp_cuda_enter(d);
    if (d->pool)
        (void)api(d)->pool_destroy(d->pool);
    if (before == d->context || !before)
        (void)api(d)->context_set(d->is_retained ? NULL : before);
    gp_cuda_leave(d, before);
    if (d->is_retained)
        (void)api(d)->primary_release(d->handle);
}

static const GpDeviceOps cuda_ops = {
    .alloc = alloc,
    .free = free_memory,
    .owner = owner,
    .trim = trim,
    .memory = memory,
    .copy = copy,
    .fill = fill,
    .launch = gp_cuda_launch,
    .load = gp_cuda_load,
    .unload = gp_cuda_unload,
    .graph_make = gp_cuda_graph_make,
    .graph_launch = gp_cuda_graph_launch,
    .graph_free = gp_cuda_graph_free,
    .stream_open = stream_open,
    .stream_close = stream_close,
    .wait = wait_stream,
    .order = order,
    .poll = poll_stream,
    .shared_alloc = shared_alloc,
    .shared_free = shared_free,
    .close = close_device,
};

static uint32_t attribute(GpDevice *d, GpCuDeviceAttribute which) {
    int value = 0;
    if (api(d)->device_attribute(&value, which, d->handle) != 0)
        return 0;
    return (uint32_t)GP_MAX(value, 0);
}

static void read_limits(GpDevice *d, int index) {
    GpDeviceInfo *info = &d->info;
    size_t total = 0;
    info->kind = GpDevice_Cuda;
    info->index = index;
    snprintf(info->name, sizeof info->name, "cuda:%u", (unsigned)index % 1000);
    if (api(d)->device_name(info->product, (int)sizeof info->product, d->handle) != 0)
        info->product[0] = '\0';
    info->product[sizeof info->product - 1] = '\0';
    info->sm = (uint16_t)(attribute(d, GpCu_CapabilityMajor) * 10 +
                          attribute(d, GpCu_CapabilityMinor));
    info->driver_version = api(d)->version;
    info->max_ptx = gp_cuda_max_ptx(api(d)->version);
    info->processors = attribute(d, GpCu_Multiprocessors);
    info->max_threads = attribute(d, GpCu_MaxThreadsPerBlock);
    info->max_resident = attribute(d, GpCu_MaxThreadsPerProcessor);
    for (int i = 0; i < 3; i++) {
        info->max_block[i] = attribute(d, GpCu_MaxBlockX + i);
        info->max_grid[i] = attribute(d, GpCu_MaxGridX + i);
    }
    info->max_shared = attribute(d, GpCu_MaxSharedOptin);
    if (api(d)->device_memory(&total, d->handle) == 0)
        info->memory = total;
}

/* A pool of our own: the default one belongs to the host program as much as to us. Memory stays
** in it until a trim. Without pools plain allocations do. */
static void make_pool(GpDevice *d) {
    if (!gp_cuda_has(api(d), GpCudaNeed_Pools) || !attribute(d, GpCu_PoolsSupported))
        return;
    GpCuPoolProps props = {.alloc_type = GpCu_AllocPinned,
                           .location_type = GpCu_LocationDevice,
                           .location_id = d->handle};
    if (api(d)->pool_create(&d->pool, &props) != 0) {
        d->pool = NULL;
        return;
    }
    uint64_t keep = UINT64_MAX;
    (void)api(d)->pool_set(d->pool, GpCu_PoolReleaseThreshold, &keep);
}

/* The host's context when it gave one for this device, else the primary one. */
static GpCuResult get_context(GpDevice *d) {
    GpCuda *cu = api(d);
    GpCuContext given = d->rt->cuda_context, before = NULL;
    GpCuDevice of_given = -1;
    if (given) {
        (void)cu->context_get(&before);
        if (cu->context_set(given) == 0)
            (void)cu->context_device(&of_given);
        (void)cu->context_set(before);
    }
    if (given && of_given == d->handle) {
        d->context = given;
        return 0;
    }
    GpCuResult result = cu->primary_retain(&d->context, d->handle);
    d->is_retained = result == 0;
    return result;
}

static GpStatus start_device(GpDevice *d, int index, GpDiags *diags) {
    GpCuResult result = api(d)->device_get(&d->handle, index);
    if (result == 0)
        result = get_context(d);
    if (result != 0) {
        d->context = NULL;
        return check(d, result, "opening the device", diags);
    }
    read_limits(d, index);
    GpCuContext before = gp_cuda_enter(d);
    make_pool(d);
    gp_cuda_leave(d, before);
    return gp_device_start(d, diags);
}

GpStatus gp_cuda_device_open(GpRuntime *rt, int index, GpDiags *diags, GpDevice **out) {
    GpCuda *cu = gp_runtime_cuda(rt);
    GpStatus status = gp_cuda_start(cu, diags);
    if (status != GpStatus_Ok)
        return status;
    if (index >= cu->count || index >= GP_MAX_DEVICES) {
        char text[96];
        snprintf(text, sizeof text, "there is no device `cuda:%d`: the driver has %d", index,
                 cu->count);
        gp_diag(diags, GpDiag_G0903, GP_NO_SPAN, text);
        return GpStatus_NoDevice;
    }
    if (!rt->gpus[index]) {
        GpDevice *d = gp_device_make(rt, &cuda_ops);
        if (!d)
            return gp_report_no_memory(diags);
        status = start_device(d, index, diags);
        if (status != GpStatus_Ok) {
            gp_device_free(d);
            return status;
        }
        rt->gpus[index] = d;
    }
    *out = rt->gpus[index];
    return GpStatus_Ok;
}
