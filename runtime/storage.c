/* Storages: memory with its users, and the order between them. */
#include "runtime/internal.h"

static void link_storage(GpStorage *st) {
    GpDevice *d = st->device;
    st->next = d->storages;
    if (st->next)
        st->next->prev = st;
    d->storages = st;
}

static void unlink_storage(GpStorage *st) {
    if (st->prev) {
        st->prev->next = st->next;
    } else {
        st->device->storages = st->next;
    }
    if (st->next)
        st->next->prev = st->prev;
}

GpStatus gp_storage_make(GpDevice *d, GpElem elem, int64_t numel, GpSite site, GpDiags *diags,
                         GpStorage **out) {
    GpStorage *st = GP_TRY_NEW(d->rt->session, GpStorage);
    *out = st;
    if (!st)
        return gp_report_no_memory(diags);
    *st = (GpStorage){.device = d,
                      .numel = numel,
                      .elem = elem,
                      .refs = 1,
                      .made_at = site,
                      .state = GpOwn_Owned};
    gp_runtime_retain(d->rt);
    link_storage(st);
    return GpStatus_Ok;
}

GpStatus gp_storage_new(GpDevice *d, GpElem elem, int64_t numel, GpSite site, GpDiags *diags,
                        GpStorage **out) {
    uint64_t bytes = (uint64_t)numel * gp_elem_info[elem].bytes, address = 0;
    GpStatus status = gp_device_check(d, diags);
    if (status == GpStatus_Ok)
        status = gp_storage_make(d, elem, numel, site, diags, out);
    if (status != GpStatus_Ok)
        return status;
    GpStorage *st = *out;
    if (bytes)
        status = gp_device_alloc(d, bytes, site, diags, &address);
    if (status != GpStatus_Ok) {
        gp_storage_unpin(st);
        return status;
    }
    /* Memory from a stream-ordered pool is there once the default stream got so far. */
    st->writer = (GpUse){d->main, d->main->issued};
    gp_storage_place(st, address, bytes);
    d->used += bytes;
    d->peak = GP_MAX(d->peak, d->used);
    return GpStatus_Ok;
}

void gp_storage_pin(GpStorage *st) { st->refs++; }

void gp_storage_unpin(GpStorage *st) {
    if (--st->refs != 0)
        return;
    GpRuntime *rt = st->device->rt;
    gp_assert(st->address == 0);
    if (st->failure)
        gp_failure_release(st->failure, rt->session);
    unlink_storage(st);
    gp_free(rt->session, st, sizeof *st);
    gp_runtime_release(rt);
}

/* The stream to free on: the writer's, behind all readers. */
static GpStream *gather_users(GpStorage *st) {
    GpStream *last = gp_use_is_done(st->writer) ? st->device->main : st->writer.stream;
    for (uint32_t i = 0; i < st->reader_count; i++)
        (void)gp_stream_follow(last, st->readers[i], NULL);
    return last;
}

/* The lender's code runs last: it may free other tensors, and this one's handles. */
static void give_back(GpStorage *st) {
    bool is_forked = gp_runtime_is_forked(st->device->rt); /* then the parent gives it back */
    st->is_borrowed = false;
    gp_use_await(st->writer);
    for (uint32_t i = 0; i < st->reader_count; i++)
        gp_use_await(st->readers[i]);
    gp_storage_unplace(st);
    if (st->release && !is_forked)
        st->release(st->release_ud);
}

void gp_storage_free_memory(GpStorage *st) {
    GpDevice *d = st->device;
    if (st->is_borrowed) {
        give_back(st);
        return;
    }
    if (!st->address && !st->bytes)
        return;
    if (st->address && gp_device_check(d, NULL) == GpStatus_Ok)
        d->ops->free(d, st->address, st->bytes, gather_users(st));
    d->used -= st->bytes;
    gp_storage_unplace(st);
}

GpStatus gp_storage_order(GpStorage *st, GpStream *s, bool is_write, GpDiags *diags) {
    if (GP_UNLIKELY(st->device->rt->recording != NULL))
        return gp_graph_refuse_host(diags);
    GpStatus status = gp_stream_follow(s, st->writer, diags);
    if (!is_write)
        return status;
    for (uint32_t i = 0; i < st->reader_count && status == GpStatus_Ok; i++)
        status = gp_stream_follow(s, st->readers[i], diags);
    return status;
}

static void add_reader(GpStorage *st, GpUse use) {
    uint32_t free_at = st->reader_count;
    for (uint32_t i = 0; i < st->reader_count; i++) {
        if (st->readers[i].stream == use.stream || gp_use_is_done(st->readers[i]))
            free_at = i;
        if (st->readers[i].stream == use.stream)
            break;
    }
    if (free_at == GP_MAX_READERS) {
        /* The new reader comes behind one of the old, and so stands for both. */
        free_at = 0;
        if (gp_stream_follow(use.stream, st->readers[0], NULL) != GpStatus_Ok)
            (void)gp_stream_wait(st->readers[0].stream, NULL);
        use = gp_stream_issue(use.stream);
        if (use.stream->device->info.kind != GpDevice_Cuda)
            use.stream->completed = use.stream->issued;
    }
    st->readers[free_at] = use;
    if (free_at == st->reader_count)
        st->reader_count++;
}

void gp_storage_used(GpStorage *st, GpUse use, bool is_write) {
    if (gp_use_is_done(use))
        return;
    if (is_write) {
        st->writer = use;
        st->reader_count = 0; /* the writer came behind them */
    } else {
        add_reader(st, use);
    }
}

GpStatus gp_storage_wait(GpStorage *st, bool is_write, GpDiags *diags) {
    if (st->device->rt->recording)
        return gp_graph_refuse_host(diags);
    GpStatus status = gp_device_check(st->device, diags);
    if (status == GpStatus_Ok && !gp_use_is_done(st->writer))
        status = gp_stream_wait(st->writer.stream, diags);
    for (uint32_t i = 0; is_write && i < st->reader_count && status == GpStatus_Ok; i++) {
        if (!gp_use_is_done(st->readers[i]))
            status = gp_stream_wait(st->readers[i].stream, diags);
    }
    if (status == GpStatus_Ok && st->writer.stream)
        gp_stream_reap(st->writer.stream);
    return status;
}

void gp_storage_clean(GpStorage *st) {
    st->clean_launch = st->device->rt->launches;
    if (st->failure)
        gp_failure_release(st->failure, st->device->rt->session);
    st->failure = NULL;
}
