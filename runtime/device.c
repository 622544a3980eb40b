/* Devices: opening by name, what all kinds share, and waiting for everything on one. */
#include <stdio.h>
#include <stdlib.h>

#include "runtime/internal.h"

GpDevice *gp_device_make(GpRuntime *rt, const GpDeviceOps *ops) {
    GpDevice *d = GP_TRY_NEW(rt->session, GpDevice);
    if (d)
        *d = (GpDevice){.rt = rt, .ops = ops};
    return d;
}

GpStatus gp_device_start(GpDevice *d, GpDiags *diags) {
    return gp_stream_make(d, diags, &d->main);
}

void gp_device_free(GpDevice *d) {
    gp_ring_clear(d);
    while (d->streams) {
        GpStream *s = d->streams;
        d->streams = s->next;
        gp_stream_destroy(s);
    }
    gp_slots_free(d);
    d->ops->close(d);
    gp_free(d->rt->session, d, sizeof *d);
}

GpStatus gp_device_check(GpDevice *d, GpDiags *diags) {
    if (GP_LIKELY(d->lost == GpStatus_Ok && !gp_runtime_is_forked(d->rt)))
        return GpStatus_Ok;
    if (d->lost == GpStatus_Poisoned)
        return gp_device_report_lost(d, diags);
    return d->lost == GpStatus_Ok ? GpStatus_Forked : d->lost;
}

/* The number after "cuda:"; -1 when the name is something else. "cuda" is number 0. */
static int parse_cuda_index(GpStr name) {
    if (gp_str_eq(name, GP_STR("cuda")))
        return 0;
    if (name.len < 6 || name.len > 8 || memcmp(name.at, "cuda:", 5) != 0)
        return -1;
    int index = 0;
    for (size_t i = 5; i < name.len; i++) {
        if (name.at[i] < '0' || name.at[i] > '9')
            return -1;
        index = index * 10 + (name.at[i] - '0');
    }
    return index;
}

static GpStatus report_unknown(GpStr name, bool is_from_env, GpDiags *diags) {
    char text[64];
    snprintf(text, sizeof text, "`%.*s`", (int)GP_MIN(name.len, (size_t)40), name.at);
    GpDiag *d = gp_diag(diags, GpDiag_G0912, GP_NO_SPAN, text);
    if (is_from_env)
        gp_note(d, "the environment variable GPULUA_DEVICE names it");
    gp_help(d, "devices are `cpu`, `cuda`, `cuda:N` and `auto`");
    return GpStatus_NoDevice;
}

/* The reason why no GPU is usable, as a note of the host's log of choices. */
static void note_fallback(GpDiags *diags, const GpDiags *why) {
    for (uint32_t i = 0; i < gp_diags_count(why); i++) {
        const GpDiag *reason = gp_diags_at(why, i);
        GpDiag *d = gp_diag(diags, GpDiag_G0916, GP_NO_SPAN, gp_diag_title(reason));
        for (uint32_t c = 0; c < gp_diag_child_count(reason); c++) {
            if (gp_diag_child_at(reason, c).kind == GpChild_Help)
                gp_help(d, "%s", gp_diag_child_at(reason, c).text);
        }
    }
}

static GpStatus open_auto(GpRuntime *rt, GpDiags *diags, GpDevice **out, bool *fell_back) {
    GpDiags *why = gp_diags_new(rt->session);
    if (!why)
        return gp_report_no_memory(diags);
    GpStatus status = gp_cuda_device_open(rt, 0, why, out);
    if (status != GpStatus_Ok) {
        note_fallback(diags, why);
        if (fell_back)
            *fell_back = true;
        status = gp_cpu_open(rt, GpDevice_Cpu, diags, out);
    }
    gp_diags_release(why);
    return status;
}

static GpStatus open_named(GpRuntime *rt, GpStr name, bool is_from_env, GpDiags *diags,
                           GpDevice **out) {
    if (gp_str_eq(name, GP_STR("cpu")))
        return gp_cpu_open(rt, GpDevice_Cpu, diags, out);
    if (gp_str_eq(name, GP_STR("interp")))
        return gp_cpu_open(rt, GpDevice_Interp, diags, out);
    int index = parse_cuda_index(name);
    if (index < 0)
        return report_unknown(name, is_from_env, diags);
    return gp_cuda_device_open(rt, index, diags, out);
}

GpStatus gp_device_open(GpRuntime *rt, GpStr name, GpDiags *diags, GpDevice **out,
                        bool *fell_back) {
    *out = NULL;
    if (fell_back)
        *fell_back = false;
    if (gp_runtime_is_forked(rt))
        return GpStatus_Forked;
    bool is_auto = gp_str_eq(name, GP_STR("auto"));
    const char *from_env = is_auto ? gp_runtime_env(rt, "GPULUA_DEVICE") : NULL;
    if (from_env && strcmp(from_env, "auto") != 0)
        return open_named(rt, gp_str_from(from_env), true, diags, out);
    return is_auto ? open_auto(rt, diags, out, fell_back) : open_named(rt, name, false, diags, out);
}

const GpDeviceInfo *gp_device_info(const GpDevice *d) { return &d->info; }
GpStream *gp_device_default_stream(GpDevice *d) { return d->main; }

bool gp_device_drain(GpDevice *d) {
    if (gp_runtime_is_forked(d->rt) || d->lost != GpStatus_Ok)
        return false;
    bool is_drained = true;
    for (GpStream *s = d->streams; s; s = s->next) {
        if (s->completed != s->issued && d->ops->wait(s, NULL) != GpStatus_Ok)
            is_drained = false;
    }
    return is_drained;
}

GpStatus gp_device_sync(GpDevice *d, GpDiags *diags) {
    GpStatus status = gp_device_check(d, diags);
    for (GpStream *s = d->streams; s && status == GpStatus_Ok; s = s->next)
        status = gp_stream_sync(s, diags);
    return status;
}

GpStatus gp_device_memory(GpDevice *d, GpMemoryInfo *out) {
    GpStatus status = gp_device_check(d, NULL);
    *out = (GpMemoryInfo){.used = d->used, .peak = d->peak};
    if (status == GpStatus_Ok)
        d->ops->memory(d, out);
    return status;
}
