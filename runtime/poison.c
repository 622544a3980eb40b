/* Errors that cost the device its context.
**
** The driver reports them at a later call, so the culprit is one of the launches that were not
** known to be done. A ring remembers the last ones; they are named once, and every later call
** repeats the first error with the only cure there is. */
#include <stdio.h>

#include "runtime/internal.h"

#define MAX_CANDIDATES 8

void gp_ring_add(GpDevice *d, GpExec *exec, const GpGrid *grid, GpSite site, GpUse use) {
    GpLaunchRecord *record = &d->ring[d->ring_next++ % GP_LAUNCH_RING];
    if (record->exec != exec) {
        GpExec *old = record->exec;
        record->exec = gp_exec_retain(exec);
        gp_exec_release(old);
    }
    record->site = site;
    record->use = use;
    memcpy(record->grid, grid->grid, sizeof record->grid);
}

void gp_ring_clear(GpDevice *d) {
    for (uint32_t i = 0; i < GP_LAUNCH_RING; i++) {
        GpExec *exec = d->ring[i].exec;
        d->ring[i].exec = NULL;
        gp_exec_release(exec);
    }
}

static void name_candidates(const GpDevice *d, GpDiag *diag) {
    uint32_t shown = 0;
    for (uint32_t i = 1; i <= GP_LAUNCH_RING && shown < MAX_CANDIDATES; i++) {
        const GpLaunchRecord *r = &d->ring[(d->ring_next - i) % GP_LAUNCH_RING];
        if (!r->exec || gp_use_is_done(r->use))
            continue;
        shown++;
        const char *name = r->exec->image->name;
        GpSpan span = gp_site_span(d->rt, r->site);
        if (span.src) {
            gp_note_at(diag, span, "it may be this launch of `%s` with grid (%u, %u, %u)", name,
                       r->grid[0], r->grid[1], r->grid[2]);
        } else {
            gp_note(diag, "it may be a launch of `%s` with grid (%u, %u, %u)", name, r->grid[0],
                    r->grid[1], r->grid[2]);
        }
    }
    if (shown == 0)
        gp_note(diag, "no launch of this process was outstanding");
}

GpStatus gp_device_report_lost(GpDevice *d, GpDiags *diags) {
    if (!diags)
        return d->lost;
    const GpCudaError *row = gp_cuda_error(d->lost_result);
    char detail[256];
    snprintf(detail, sizeof detail, "%s (%d), seen at %s", row->name, (int)row->value,
             d->lost_what);
    GpDiag *diag = gp_diag(diags, GpDiag_G0911, GP_NO_SPAN, detail);
    name_candidates(d, diag);
    if (row->help[0])
        gp_note(diag, "%s", row->help);
    gp_help(diag, "restart the process: after this error the GPU cannot be used from it again");
    return d->lost;
}

GpStatus gp_device_fail(GpDevice *d, GpCuResult result, const char *what, GpDiags *diags) {
    const GpCudaError *row = gp_cuda_error(result);
    if (!row->is_sticky)
        return gp_cuda_report(result, what, diags);
    if (d->lost == GpStatus_Ok) {
        d->lost = GpStatus_Poisoned;
        d->lost_result = result;
        snprintf(d->lost_what, sizeof d->lost_what, "%s", what);
    }
    return gp_device_report_lost(d, diags);
}
