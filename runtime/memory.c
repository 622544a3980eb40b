/* Device memory: allocation with everything that is tried before giving up. */
#include <stdio.h>

#include "runtime/internal.h"

typedef enum Rung { Rung_Drain, Rung_Collect, Rung_CollectAgain, Rung_Trim, Rung_count } Rung;

/* One step of the ladder. Collecting twice is deliberate: the first pass runs finalisers, the
** second frees what they let go. */
static void climb(GpDevice *d, Rung rung) {
    GpRuntime *rt = d->rt;
    switch (rung) {
    case Rung_Drain:
        gp_device_drain(d);
        for (GpStream *s = d->streams; s; s = s->next)
            gp_stream_reap(s);
        return;
    case Rung_Collect:
    case Rung_CollectAgain:
        if (rt->hooks.collect)
            rt->hooks.collect(rt->hooks.ud);
        gp_device_drain(d); /* frees are enqueued; let them land */
        return;
    case Rung_Trim:
        d->ops->trim(d);
        return;
    case Rung_count:
        break;
    }
    gp_unreachable();
}

static double in_mib(uint64_t bytes) { return (double)bytes / (1024.0 * 1024.0); }

static void report_full(GpDevice *d, uint64_t bytes, GpSite site, GpDiags *diags) {
    GpMemoryInfo info = {0};
    (void)gp_device_memory(d, &info);
    char detail[160];
    snprintf(detail, sizeof detail, "%.1f MiB asked for on `%s`", in_mib(bytes), d->info.name);
    GpDiag *diag = gp_diag(diags, GpDiag_G0910, gp_site_span(d->rt, site), detail);
    gp_note(diag, "tensors use %.1f MiB, pools hold %.1f MiB, %.1f of %.1f MiB are free",
            in_mib(info.used), in_mib(info.reserved), in_mib(info.free), in_mib(info.total));
    const GpStorage *largest = NULL;
    for (const GpStorage *st = d->storages; st; st = st->next) {
        if (!st->is_borrowed && (!largest || st->bytes > largest->bytes))
            largest = st;
    }
    if (largest && gp_site_span(d->rt, largest->made_at).src)
        gp_note_at(diag, gp_site_span(d->rt, largest->made_at),
                   "the largest live tensor, %.1f MiB, was made here", in_mib(largest->bytes));
    gp_help(diag, "free tensors that are no longer needed, or use smaller ones");
}

GpStatus gp_device_alloc(GpDevice *d, uint64_t bytes, GpSite site, GpDiags *diags,
                         uint64_t *address) {
    GpStatus status = d->ops->alloc(d, bytes, address);
    for (int rung = 0; rung < Rung_count && status == GpStatus_DeviceMemory; rung++) {
        climb(d, (Rung)rung);
        status = d->ops->alloc(d, bytes, address);
    }
    if (status == GpStatus_DeviceMemory && diags)
        report_full(d, bytes, site, diags);
    if (status == GpStatus_Poisoned)
        return gp_device_report_lost(d, diags);
    if (status == GpStatus_Driver && diags)
        gp_diag(diags, GpDiag_G0909, GP_NO_SPAN, "allocating device memory");
    return status;
}
