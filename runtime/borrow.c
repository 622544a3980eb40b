/* Borrowed memory: a tensor over memory that somebody else has, an application's array or another
** library's buffer. Its storage is one like all others, so that ownership, order and views hold for
** it; only that its bytes are not counted as the device's, and go back to the lender (storage.c).
**
** What can be asked is asked: that the elements lie in the memory, that the driver knows it on this
** device, that no live tensor has it. The rest is the lender's word. */
#include <stdarg.h>
#include <stdio.h>

#include "runtime/internal.h"

/* Why not, and what to do about it. */
typedef struct Refusal {
    char why[160];
    const char *help;
} Refusal;

GP_PRINTF(3, 4)
static bool refuse(Refusal *r, const char *help, const char *fmt, ...) {
    va_list args;
    va_start(args, fmt);
    vsnprintf(r->why, sizeof r->why, fmt, args);
    va_end(args);
    r->help = help;
    return false;
}

/* Axes from the smallest stride on: each steps over all that the ones before it reach. */
static bool is_distinct(const GpShape *shape, const int64_t *stride) {
    int order[GP_MAX_RANK] = {0};
    for (int i = 0; i < shape->rank; i++) {
        int at = i;
        for (; at > 0 && stride[order[at - 1]] > stride[i]; at--)
            order[at] = order[at - 1];
        order[at] = i;
    }
    int64_t reach = 0;
    for (int i = 0; i < shape->rank; i++) {
        int axis = order[i];
        if (shape->dim[axis] > 1 && stride[axis] <= reach)
            return false;
        reach += (shape->dim[axis] - 1) * stride[axis];
    }
    return true;
}

/* Bytes from the first element to the end of the last; false when 63 bits do not count them. */
static bool measure(const GpTensor *t, uint64_t *span) {
    int64_t last = 0, bytes = gp_elem_info[t->elem].bytes;
    *span = 0;
    if (t->numel == 0)
        return true;
    for (int i = 0; i < t->shape.rank; i++) {
        int64_t step;
        if (__builtin_mul_overflow(t->shape.dim[i] - 1, t->stride[i], &step) ||
            __builtin_add_overflow(last, step, &last))
            return false;
    }
    if (last == INT64_MAX || __builtin_mul_overflow(last + 1, bytes, &last))
        return false;
    *span = (uint64_t)last;
    return true;
}

static bool check_layout(const GpBorrow *b, GpTensor *t, uint64_t *span, Refusal *r) {
    static const char *const fewer = "take fewer elements, or smaller strides";
    static const char *const strides = "strides are 1 or more, and give each element a place of its own; "
                                       "without strides, rows follow each other";
    bool is_counted = gp_shape_numel(&t->shape, &t->numel);
    if (b->stride)
        memcpy(t->stride, b->stride, t->shape.rank * sizeof *t->stride);
    else if (is_counted)
        gp_row_major(&t->shape, t->stride);
    for (int i = 0; i < t->shape.rank; i++) {
        if (t->stride[i] < 0)
            return refuse(r, strides, "a stride of %lld", (long long)t->stride[i]);
    }
    if (!is_counted || !measure(t, span) || b->address > UINT64_MAX - *span)
        return refuse(r, fewer, "its elements end behind the last address");
    if (*span && !is_distinct(&t->shape, t->stride))
        return refuse(r, strides, "two elements would be in one place");
    if (*span > b->bytes)
        return refuse(r, fewer, "its elements span %llu bytes, and there are %llu", (unsigned long long)*span,
                      (unsigned long long)b->bytes);
    return true;
}

static bool check_address(uint64_t address, GpElem elem, Refusal *r) {
    uint8_t bytes = gp_elem_info[elem].bytes;
    if (address == 0)
        return refuse(r, "pass the address of memory that is there", "its address is null");
    if (address % bytes)
        return refuse(r, "borrow it as `u8`, and copy what has to be aligned",
                      "address 0x%llx is no multiple of %d, which `%s` needs", (unsigned long long)address,
                      bytes, gp_elem_info[elem].name);
    return true;
}

static bool check_place(GpDevice *d, uint64_t address, const char *which, Refusal *r) {
    int owner = d->ops->owner(d, address);
    if (owner < 0)
        return refuse(r, "memory of the host is borrowed on `cpu`; on a GPU it must be the device's",
                      "the driver knows no memory of `%s` at its %s element", d->info.name, which);
    if (owner != d->info.index)
        return refuse(r, "name that device, or copy the memory to this one",
                      "its %s element is on `cuda:%d`, not on `%s`", which, owner, d->info.name);
    return true;
}

static GpStatus report(GpDevice *d, const Refusal *r, GpSite site, GpDiags *diags) {
    GpDiag *diag = gp_diag(diags, GpDiag_G0317, gp_site_span(d->rt, site), r->why);
    gp_help(diag, "%s", r->help);
    return GpStatus_Diagnostics;
}

/* ---- Memory of live tensors ------------------------------------------------------------- */

/* The storage that has some of the bytes; NULL: none. The CPU and the oracle share the host's. */
static const GpStorage *find_owner(const GpDevice *d, uint64_t first, uint64_t span) {
    const GpRuntime *rt = d->rt;
    const GpDevice *other = d == rt->cpu ? rt->interp : d == rt->interp ? rt->cpu : NULL;
    const GpStorage *st = gp_storage_at(d, first, span);
    return st || !other ? st : gp_storage_at(other, first, span);
}

static GpStatus report_owner(GpRuntime *rt, const GpStorage *st, GpSite site, GpDiags *diags) {
    GpText name = {.session = rt->session};
    gp_value_name(rt, st->maker, "a tensor that is in use", &name);
    GpDiag *d = gp_diag(diags, GpDiag_G0318, gp_site_span(rt, site), gp_text_cstr(&name));
    gp_text_free(&name);
    gp_primary_label(d, "second owner of the memory");
    gp_label(d, gp_site_span(rt, st->made_at), "the first owner is made here");
    gp_help(d, "take a view of it, by `slice`, `reshape` or `reinterpret`");
    return GpStatus_Diagnostics;
}

/* No verdict depends on the collector: the other tensor may be garbage. */
static GpStatus check_owner(GpDevice *d, uint64_t first, uint64_t span, GpSite site, GpDiags *diags) {
    GpRuntime *rt = d->rt;
    const GpStorage *st = find_owner(d, first, span);
    if (st && rt->hooks.collect) {
        rt->hooks.collect(rt->hooks.ud);
        st = find_owner(d, first, span);
    }
    return st ? report_owner(rt, st, site, diags) : GpStatus_Ok;
}

/* ---- Borrowing -------------------------------------------------------------------------- */

static GpStatus check(GpDevice *d, const GpBorrow *b, GpTensor *like, uint64_t *span,
                      GpSite site, GpDiags *diags) {
    Refusal r;
    bool is_fine = check_layout(b, like, span, &r);
    if (is_fine && *span)
        is_fine = check_address(b->address, b->elem, &r) && check_place(d, b->address, "first", &r) &&
                  check_place(d, b->address + *span - 1, "last", &r);
    if (!is_fine)
        return report(d, &r, site, diags);
    return *span ? check_owner(d, b->address, *span, site, diags) : GpStatus_Ok;
}

GpStatus gp_tensor_borrow(GpDevice *d, const GpBorrow *b, GpSite site, GpDiags *diags,
                          GpTensor **out) {
    GpTensor like = {.elem = b->elem, .shape = b->shape};
    GpStorage *st = NULL;
    uint64_t span = 0;
    *out = NULL;
    GpStatus status = gp_device_check(d, diags);
    if (status == GpStatus_Ok)
        status = check(d, b, &like, &span, site, diags);
    if (status == GpStatus_Ok)
        status = gp_storage_make(d, b->elem, like.numel, site, diags, &st);
    if (status == GpStatus_Ok)
        status = gp_tensor_make(st, &like, diags, out);
    if (status != GpStatus_Ok) {
        if (st)
            gp_storage_unpin(st);
        return status;
    }
    st->maker = *out;
    gp_storage_place(st, span ? b->address : 0, span);
    st->is_borrowed = true;
    st->is_frozen = b->is_readonly;
    st->frozen_at = site;
    st->release = b->release;
    st->release_ud = b->ud;
    return GpStatus_Ok;
}
