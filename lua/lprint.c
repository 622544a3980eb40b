/* Printing of tensors: a header and the corners of the values. */
#include "lua/lprint.h"

/* An axis longer than Shown shows its first Head and last Tail elements. */
enum { GP_SHOWN = 8, GP_HEAD = 3, GP_TAIL = 2 };

typedef struct Printer {
    GpTensor *tensor;
    const GpShape *shape;
    int64_t numel; /* 0: extents may be of any size */
    GpSite site;
    GpDiags *diags;
    GpText *out;
} Printer;

static GpStatus print_axis(Printer *p, int axis, int64_t at);

static GpStatus print_part(Printer *p, int axis, int64_t at, int64_t first, int64_t last) {
    int depth = p->shape->rank - axis;
    for (int64_t i = first; i < last; i++) {
        if (i > 0) gp_text_puts(p->out, depth > 1 ? ",\n" : ", ");
        if (i > 0 && depth > 1) gp_text_pad(p->out, ' ', axis + 1);
        GpStatus status = print_axis(p, axis + 1, p->numel ? at * p->shape->dim[axis] + i : 0);
        if (status != GpStatus_Ok) return status;
    }
    return GpStatus_Ok;
}

/* Prints the part of the tensor whose leading indices make row-major position `at`. */
static GpStatus print_axis(Printer *p, int axis, int64_t at) {
    GpScalar v;
    if (axis == p->shape->rank) {
        GpStatus status = gp_tensor_peek(p->tensor, at, &v, p->site, p->diags);
        if (status == GpStatus_Ok) gp_scalar_print(v, p->out);
        return status;
    }
    int64_t extent = p->shape->dim[axis];
    bool is_long = extent > GP_SHOWN;
    gp_text_puts(p->out, "[");
    GpStatus status = print_part(p, axis, at, 0, is_long ? GP_HEAD : extent);
    if (status == GpStatus_Ok && is_long) {
        gp_text_puts(p->out, p->shape->rank - axis > 1 ? ",\n" : ", ");
        if (p->shape->rank - axis > 1) gp_text_pad(p->out, ' ', axis + 1);
        gp_text_puts(p->out, "...");
        status = print_part(p, axis, at, extent - GP_TAIL, extent);
    }
    gp_text_puts(p->out, "]");
    return status;
}

GpStatus gp_tensor_print(GpTensor *t, GpSite site, GpDiags *diags, GpText *out) {
    Printer p = {.tensor = t, .shape = gp_tensor_shape(t), .site = site, .diags = diags, .out = out};
    (void)gp_shape_numel(p.shape, &p.numel);
    GpStatus status = gp_tensor_check(t, GpAccess_Read, site, diags);
    if (status == GpStatus_Ok) status = gp_tensor_sync(t, site, diags);
    if (status != GpStatus_Ok) return status;
    gp_text_puts(out, "tensor{");
    for (int axis = 0; axis < p.shape->rank; axis++)
        gp_text_printf(out, "%s%lld", axis ? ", " : "", (long long)p.shape->dim[axis]);
    gp_text_printf(out, "} %s %s%s", gp_elem_info[gp_tensor_elem(t)].name,
                   gp_device_info(gp_tensor_device(t))->name, p.shape->rank > 1 ? "\n" : "  ");
    return print_axis(&p, 0, 0);
}
