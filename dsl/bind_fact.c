/* Preconditions of a kernel, asked of every launch. */
#include "dsl/bind.h"
#include "dsl/ir/launch.h"

static int64_t extent_of(const GpBinder *b, const GpExtentName *e) {
    const GpArgDesc *a = &b->request->args[e->param];
    return e->axis < a->shape.rank ? a->shape.dim[e->axis] : 0;
}

static GpDiag *refuse(GpBinder *b, const GpPrecondition *p) {
    const GpSpan at = p->span;
    const char *text = gp_bind_text(b, "%.*s", (int)at.len, at.src ? at.src->text + at.off : "");
    GpDiag *d = gp_bind_refuse(b, GpDiag_G0329, gp_bind_kernel_name(b), text);
    gp_note_at(d, at, "the precondition is declared here");
    return d;
}

static void check(GpBinder *b, const GpPrecondition *p) {
    int64_t left = extent_of(b, &p->left), right = p->is_equal ? extent_of(b, &p->right) : 0;
    if (p->is_equal ? left == right : left % p->divisor == 0)
        return;
    GpDiag *d = refuse(b, p);
    if (p->is_equal)
        gp_primary_label(d, "axis %u of argument %u, `%s`, has %lld elements, axis %u of argument %u, `%s`, %lld",
                         p->left.axis, p->left.param + 1, gp_bind_param_name(b, p->left.param),
                         (long long)left, p->right.axis, p->right.param + 1,
                         gp_bind_param_name(b, p->right.param), (long long)right);
    else
        gp_primary_label(d, "axis %u of argument %u, `%s`, has %lld elements", p->left.axis,
                         p->left.param + 1, gp_bind_param_name(b, p->left.param), (long long)left);
}

void gp_bind_preconditions(GpBinder *b) {
    const GpKernelAttrs *k = &b->kernel->kernel;
    for (uint32_t i = 0; i < k->precondition_count && !b->has_failed; i++)
        check(b, &k->preconditions[i]);
}

/* ---- Checks of the launch -------------------------------------------------------------------- */

static int64_t extent(const void *ud, uint32_t arg, uint32_t axis) {
    const GpArgDesc *args = ud;
    return axis < args[arg].shape.rank ? args[arg].shape.dim[axis] : 0;
}

GpLeft gp_bind_ask(GpModule *m, const GpLaunchAsk *ask, GpDiags *diags) {
    GpLaunchFacts facts = {extent, ask->request->args, ask->instance->grid};
    GpBinder b = {.module = m, .arena = ask->arena, .diags = diags, .request = ask->request,
                  .kernel = ask->instance->kernel};
    GpLeft left = GpLeft_Nothing;
    for (uint32_t i = 0; i < ask->count; i++) {
        const GpLaunchCheck *check = &ask->checks[i];
        if (gp_launch_holds(check, &facts))
            continue;
        left = GP_MIN(left, check->is_whole ? GpLeft_Edges : GpLeft_Checks);
        if (check->is_whole)
            continue;
        if (!diags)
            break;
        GpDiag *d = gp_bind_refuse(&b, GpDiag_G0330, gp_bind_kernel_name(&b), check->what);
        GpLaunchRange value = gp_launch_range(&check->value, &facts);
        if (value.least == INT64_MIN)
            gp_note_at(d, check->span, "the tile index on axis %u is not known to be in range", check->axis);
        else if (check->length.count)
            gp_note_at(d, check->span, "tiles %lld to %lld on axis %u, and there are %lld", (long long)value.least,
                       (long long)value.most, check->axis, (long long)gp_launch_range(&check->length, &facts).least);
        else
            gp_note_at(d, check->span, "it is needed here");
        break;
    }
    return left;
}
