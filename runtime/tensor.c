/* Tensors: handles on a storage, and the views that share it. Strides are positive, and the
** elements of one view are distinct. */
#include <stdio.h>

#include "runtime/internal.h"

/* The offset of the first element stays within the storage even where there is none. */
static void finish(GpTensor *t) {
    int64_t want[GP_MAX_RANK];
    (void)gp_shape_numel(&t->shape, &t->numel);
    gp_row_major(&t->shape, want);
    t->is_contiguous = true;
    for (int i = 0; i < t->shape.rank; i++) {
        if (t->shape.dim[i] > 1 && t->stride[i] != want[i])
            t->is_contiguous = false;
    }
    t->is_contiguous = t->is_contiguous || t->numel == 0;
    t->is_whole = t->numel == t->storage->numel;
}

GpStatus gp_tensor_make(GpStorage *st, const GpTensor *like, GpDiags *diags, GpTensor **out) {
    GpTensor *t = GP_TRY_NEW(st->device->rt->session, GpTensor);
    if (!t)
        return gp_report_no_memory(diags);
    *t = *like;
    t->refs = 1;
    t->number = ++st->device->rt->handles;
    t->storage = st;
    finish(t);
    st->handles++;
    *out = t;
    return GpStatus_Ok;
}

static GpStatus report_shape(GpRuntime *rt, const GpShape *shape, GpSite site, GpDiags *diags) {
    GpText text = {.session = rt->session};
    gp_shape_print(shape, &text);
    gp_diag(diags, GpDiag_G0306, gp_site_span(rt, site), gp_text_cstr(&text));
    gp_text_free(&text);
    return GpStatus_Diagnostics;
}

GpStatus gp_tensor_new(GpDevice *d, GpElem elem, const GpShape *shape, GpSite site, GpDiags *diags,
                       GpTensor **out) {
    *out = NULL;
    int64_t numel;
    if (shape->rank > GP_MAX_RANK || !gp_shape_numel(shape, &numel) ||
        numel > INT64_MAX / gp_elem_info[elem].bytes)
        return report_shape(d->rt, shape, site, diags);
    GpStorage *st;
    GpStatus status = gp_storage_new(d, elem, numel, site, diags, &st);
    if (status != GpStatus_Ok)
        return status;
    GpTensor like = {.elem = elem, .shape = *shape};
    gp_row_major(shape, like.stride);
    status = gp_tensor_make(st, &like, diags, out);
    if (status != GpStatus_Ok) {
        gp_storage_free_memory(st);
        gp_storage_unpin(st);
        return status;
    }
    st->maker = *out;
    return GpStatus_Ok;
}

GpTensor *gp_tensor_retain(GpTensor *t) {
    t->refs++;
    return t;
}

void gp_tensor_release(GpTensor *t) {
    if (!t || --t->refs != 0)
        return;
    GpStorage *st = t->storage;
    GpSession *s = st->device->rt->session;
    if (st->maker == t)
        st->maker = NULL;
    if (--st->handles == 0) {
        gp_storage_free_memory(st);
        gp_storage_unpin(st);
    }
    gp_free(s, t, sizeof *t);
}

uint64_t gp_tensor_number(const GpTensor *t) { return t->number; }
GpElem gp_tensor_elem(const GpTensor *t) { return t->elem; }
const GpShape *gp_tensor_shape(const GpTensor *t) { return &t->shape; }
const int64_t *gp_tensor_strides(const GpTensor *t) { return t->stride; }
GpDevice *gp_tensor_device(const GpTensor *t) { return t->storage->device; }
uint64_t gp_tensor_bytes(const GpTensor *t) {
    return (uint64_t)t->numel * gp_elem_info[t->elem].bytes;
}
bool gp_tensor_is_contiguous(const GpTensor *t) { return t->is_contiguous; }
bool gp_tensor_is_view(const GpTensor *t) { return t->storage->maker != t; }
uint64_t gp_tensor_address(const GpTensor *t) {
    if (!t->storage->address)
        return 0;
    return t->storage->address + (uint64_t)t->offset * gp_elem_info[t->elem].bytes;
}

/* "`x` of shape [4] cannot be viewed as [2, 3]" */
static GpDiag *refuse_view(GpTensor *t, const char *as, GpSite site, GpDiags *diags) {
    GpRuntime *rt = t->storage->device->rt;
    GpText name = {.session = rt->session}, from = name;
    gp_value_name(rt, t, "the tensor", &name);
    gp_shape_print(&t->shape, &from);
    GpDiag *d = gp_diag(diags, GpDiag_G0310, gp_site_span(rt, site), gp_text_cstr(&name),
                        gp_text_cstr(&from), as);
    gp_text_free(&name);
    gp_text_free(&from);
    return d;
}

static void explain_stride(GpDiag *d) {
    gp_primary_label(d, "its elements do not lie one after another");
    gp_help(d, "copy it to a new tensor first");
}

/* Strides that give the elements the shape where they are; false when there are none. Axes of extent 1
** come and go; where the others stay, so may gaps between the elements. */
static bool fit_strides(const GpTensor *t, const GpShape *shape, int64_t *stride) {
    int from = t->shape.rank;
    int64_t next = 1;
    if (t->is_contiguous) {
        gp_row_major(shape, stride);
        return true;
    }
    for (int i = shape->rank - 1; i >= 0; i--) {
        stride[i] = next;
        if (shape->dim[i] == 1)
            continue;
        while (from > 0 && t->shape.dim[from - 1] == 1)
            from--;
        if (from == 0 || t->shape.dim[from - 1] != shape->dim[i])
            return false;
        stride[i] = t->stride[--from];
        next = stride[i] * shape->dim[i];
    }
    return true;
}

GpStatus gp_tensor_reshape(GpTensor *t, const GpShape *shape, GpSite site, GpDiags *diags,
                           GpTensor **out) {
    *out = NULL;
    GpRuntime *rt = t->storage->device->rt;
    GpStatus status = gp_own_check_alive(t, site, diags);
    if (status != GpStatus_Ok)
        return status;
    int64_t numel;
    if (shape->rank > GP_MAX_RANK || !gp_shape_numel(shape, &numel))
        return report_shape(rt, shape, site, diags);
    GpTensor like = {.elem = t->elem, .shape = *shape, .offset = t->offset};
    if (numel == t->numel && fit_strides(t, shape, like.stride))
        return gp_tensor_make(t->storage, &like, diags, out);
    GpText to = {.session = rt->session};
    gp_shape_print(shape, &to);
    GpDiag *d = refuse_view(t, gp_text_cstr(&to), site, diags);
    gp_text_free(&to);
    if (numel == t->numel)
        explain_stride(d);
    else
        gp_primary_label(d, "%lld elements do not make %lld", (long long)t->numel,
                         (long long)numel);
    return GpStatus_Diagnostics;
}

/* What stands against it; NULL when nothing does. */
static const char *no_reinterpretation(const GpTensor *t, GpElem elem, int64_t bytes) {
    if (elem == GpElem_Bool && t->elem != GpElem_Bool)
        return "a bool is 0 or 1, other bytes are none";
    if (t->numel * gp_elem_info[t->elem].bytes != bytes)
        return "the bytes are not as many";
    if (t->offset * gp_elem_info[t->elem].bytes % gp_elem_info[elem].bytes != 0)
        return "its first element is not aligned for that type";
    return NULL;
}

GpStatus gp_tensor_reinterpret(GpTensor *t, GpElem elem, const GpShape *shape, GpSite site,
                               GpDiags *diags, GpTensor **out) {
    *out = NULL;
    GpRuntime *rt = t->storage->device->rt;
    GpStatus status = gp_own_check_alive(t, site, diags);
    if (status != GpStatus_Ok)
        return status;
    int64_t numel, size = gp_elem_info[elem].bytes;
    if (shape->rank > GP_MAX_RANK || !gp_shape_numel(shape, &numel) || numel > INT64_MAX / size)
        return report_shape(rt, shape, site, diags);
    const char *against = no_reinterpretation(t, elem, numel * size);
    if (!against && t->is_contiguous) {
        int64_t offset = t->offset * gp_elem_info[t->elem].bytes / size;
        GpTensor like = {.elem = elem, .shape = *shape, .offset = offset};
        gp_row_major(shape, like.stride);
        return gp_tensor_make(t->storage, &like, diags, out);
    }
    GpText to = {.session = rt->session};
    gp_shape_print(shape, &to);
    gp_text_printf(&to, " of %s", gp_elem_info[elem].name);
    GpDiag *d = refuse_view(t, gp_text_cstr(&to), site, diags);
    gp_text_free(&to);
    if (against)
        gp_primary_label(d, "%s", against);
    else
        explain_stride(d);
    return GpStatus_Diagnostics;
}

static GpStatus report_range(GpTensor *t, int axis, int64_t start, int64_t stop, GpSite site,
                             GpDiags *diags) {
    GpRuntime *rt = t->storage->device->rt;
    char range[64], number[8], extent[32];
    snprintf(range, sizeof range, "%lld..%lld", (long long)start, (long long)stop);
    snprintf(number, sizeof number, "%d", axis);
    snprintf(extent, sizeof extent, "%lld", (long long)t->shape.dim[axis]);
    GpText name = {.session = rt->session};
    gp_value_name(rt, t, "the tensor", &name);
    GpDiag *d = gp_diag(diags, GpDiag_G0311, gp_site_span(rt, site), range, number,
                        gp_text_cstr(&name), extent);
    gp_note(d, "ranges count from 0 and exclude their end");
    gp_text_free(&name);
    return GpStatus_Diagnostics;
}

GpStatus gp_tensor_slice(GpTensor *t, const int64_t *start, const int64_t *stop, GpSite site,
                         GpDiags *diags, GpTensor **out) {
    *out = NULL;
    GpStatus status = gp_own_check_alive(t, site, diags);
    if (status != GpStatus_Ok)
        return status;
    GpTensor like = *t;
    for (int i = 0; i < t->shape.rank; i++) {
        if (start[i] < 0 || stop[i] < start[i] || stop[i] > t->shape.dim[i])
            return report_range(t, i, start[i], stop[i], site, diags);
        like.shape.dim[i] = stop[i] - start[i];
    }
    (void)gp_shape_numel(&like.shape, &like.numel); /* a part has no more than the whole */
    for (int i = 0; i < t->shape.rank && like.numel; i++)
        like.offset += start[i] * t->stride[i];
    return gp_tensor_make(t->storage, &like, diags, out);
}

GpStatus gp_tensor_permute(GpTensor *t, const uint8_t *axes, GpSite site, GpDiags *diags,
                           GpTensor **out) {
    *out = NULL;
    GpRuntime *rt = t->storage->device->rt;
    GpStatus status = gp_own_check_alive(t, site, diags);
    if (status != GpStatus_Ok)
        return status;
    GpTensor like = *t;
    uint32_t seen = 0;
    GpText list = {.session = rt->session};
    for (int i = 0; i < t->shape.rank; i++) {
        gp_text_printf(&list, "%s%d", i ? ", " : "(", axes[i]);
        if (axes[i] >= t->shape.rank)
            continue;
        seen |= UINT32_C(1) << axes[i];
        like.shape.dim[i] = t->shape.dim[axes[i]];
        like.stride[i] = t->stride[axes[i]];
    }
    if (seen == (UINT32_C(1) << t->shape.rank) - 1) {
        status = gp_tensor_make(t->storage, &like, diags, out);
    } else {
        GpText name = {.session = rt->session};
        gp_text_puts(&list, ")");
        gp_value_name(rt, t, "the tensor", &name);
        gp_diag(diags, GpDiag_G0313, gp_site_span(rt, site), gp_text_cstr(&list),
                gp_text_cstr(&name));
        gp_text_free(&name);
        status = GpStatus_Diagnostics;
    }
    gp_text_free(&list);
    return status;
}
