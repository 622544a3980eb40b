/* Streams: order between them, waiting, and what is known to be done.
**
** A stream numbers its work. Events are recorded only when somebody asks (another stream that
** must wait, or a question whether a number is reached), never per launch. */
#include <time.h>

#include "runtime/internal.h"

#define AWAIT_NS 20000 /* between questions */

GpStatus gp_stream_make(GpDevice *d, GpDiags *diags, GpStream **out) {
    *out = NULL;
    GpStream *s = GP_TRY_NEW(d->rt->session, GpStream);
    if (!s)
        return gp_report_no_memory(diags);
    s->device = d;
    GpStatus status = d->ops->stream_open(s, diags);
    if (status != GpStatus_Ok) {
        gp_free(d->rt->session, s, sizeof *s);
        return status;
    }
    s->next = d->streams;
    d->streams = s;
    *out = s;
    return GpStatus_Ok;
}

/* The report of a failed check that nobody waited for, as the last word about it. */
static void tell_failure(GpStream *s) {
    GpSession *session = s->device->rt->session;
    GpText text = {.session = session};
    GpDiags *diags = gp_diags_new(session);
    if (!diags)
        return;
    (void)gp_failure_raise(s->failure, diags);
    gp_diags_render(diags, (GpRenderStyle){.color = false}, &text);
    if (text.at)
        session->hooks.write(session->hooks.ud, text.at, text.len);
    gp_text_free(&text);
    gp_diags_release(diags);
}

void gp_stream_close(GpStream *s) {
    GpRuntime *rt = s->device->rt;
    s->completed = s->issued;
    gp_stream_reap(s);
    if (!s->failure)
        return;
    if (!s->failure->is_raised && rt->session->hooks.write && !gp_runtime_is_forked(rt))
        tell_failure(s);
    gp_failure_release(s->failure, rt->session);
    s->failure = NULL;
}

void gp_stream_destroy(GpStream *s) {
    GpDevice *d = s->device;
    s->completed = s->issued; /* the device was drained, or is lost: nothing will be reported */
    gp_stream_reap(s);
    if (s->failure)
        gp_failure_release(s->failure, d->rt->session);
    d->ops->stream_close(s);
    gp_free(d->rt->session, s, sizeof *s);
}

/* A stream that was released and has nothing left to do. */
static GpStream *find_spare(GpDevice *d) {
    for (GpStream *s = d->streams; s; s = s->next) {
        if (s->refs == 0 && s != d->main && gp_stream_is_idle(s))
            return s;
    }
    return NULL;
}

GpStatus gp_stream_new(GpDevice *d, GpDiags *diags, GpStream **out) {
    *out = NULL;
    GpStatus status = gp_device_check(d, diags);
    if (status != GpStatus_Ok)
        return status;
    GpStream *s = find_spare(d);
    if (!s)
        status = gp_stream_make(d, diags, &s);
    if (!s)
        return status;
    gp_runtime_retain(d->rt);
    s->refs = 1;
    *out = s;
    return GpStatus_Ok;
}

/* The default stream belongs to its device; holding it keeps the runtime. */
GpStream *gp_stream_retain(GpStream *s) {
    if (s->refs++ == 0)
        gp_runtime_retain(s->device->rt);
    return s;
}

void gp_stream_release(GpStream *s) {
    if (s && --s->refs == 0)
        gp_runtime_release(s->device->rt);
}

void *gp_stream_handle(GpStream *s) { return s->handle; }

bool gp_use_poll(GpUse u) {
    if (gp_use_is_done(u))
        return true;
    return u.stream->device->lost == GpStatus_Ok && u.stream->device->ops->poll(u.stream, u.seq);
}

void gp_use_await(GpUse u) {
    struct timespec pause = {.tv_nsec = AWAIT_NS};
    while (!gp_use_is_done(u) && gp_device_check(u.stream->device, NULL) == GpStatus_Ok &&
           !gp_use_poll(u))
        nanosleep(&pause, NULL);
}

bool gp_stream_is_idle(GpStream *s) { return gp_use_poll((GpUse){s, s->issued}); }

/* The entry for that stream, or the one to be replaced. */
static GpUse *find_followed(GpStream *s, const GpStream *other) {
    for (uint32_t i = 0; i < GP_FOLLOWED; i++) {
        if (s->followed[i].stream == other)
            return &s->followed[i];
    }
    return &s->followed[s->followed_next++ % GP_FOLLOWED];
}

/* Waiting once puts all later work of the stream behind; a loop of launches asks only once. */
GpStatus gp_stream_follow(GpStream *s, GpUse use, GpDiags *diags) {
    if (gp_use_is_done(use) || use.stream == s)
        return GpStatus_Ok;
    if (use.stream->device->info.kind != s->device->info.kind)
        return gp_stream_wait(use.stream, diags); /* no event spans both */
    GpUse *followed = find_followed(s, use.stream);
    if (followed->stream == use.stream && followed->seq >= use.seq)
        return GpStatus_Ok;
    GpStatus status = s->device->ops->order(s, use.stream, diags);
    if (status == GpStatus_Ok)
        *followed = (GpUse){use.stream, use.stream->issued};
    return status;
}

GpStatus gp_stream_wait(GpStream *s, GpDiags *diags) {
    GpStatus status = gp_device_check(s->device, diags);
    if (status == GpStatus_Ok && s->completed != s->issued)
        status = s->device->ops->wait(s, diags);
    gp_stream_reap(s);
    return status;
}

GpStatus gp_stream_sync(GpStream *s, GpDiags *diags) {
    GpStatus status = gp_stream_wait(s, diags);
    GpFailure *failure = s->failure;
    if (status != GpStatus_Ok || !failure)
        return status;
    s->failure = NULL;
    if (!failure->is_raised)
        status = gp_failure_raise(failure, diags);
    gp_failure_release(failure, s->device->rt->session);
    return status;
}
