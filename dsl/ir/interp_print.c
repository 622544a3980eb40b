/* What a kernel prints goes to the host's `write` hook, one call for each print. */
#include "dsl/ir/interp.h"

/* The brackets of every axis that begins at element e, or ends before it. */
static int64_t count_axes(const GpShape *shape, int64_t e) {
    int64_t block = 1, count = 0;
    for (int a = shape->rank - 1; a >= 0; a--) {
        block *= shape->dim[a];
        if (e % block == 0) count++;
    }
    return count;
}

static void print_brackets(GpText *out, const char *bracket, int64_t count) {
    for (int64_t i = 0; i < count; i++) gp_text_puts(out, bracket);
}

static void print_operand(const GpInterp *in, const GpValue *v, GpText *out) {
    const GpScalar *x = gp_interp_at(in, v);
    if (v->type->kind == GpIrType_Ptr) {
        gp_text_printf(out, "0x%llx", (unsigned long long)x->u);
        return;
    }
    const GpShape *shape = &v->type->shape; /* of a scalar: rank 0 */
    int64_t n = gp_interp_numel(v->type);
    for (int64_t e = 0; e < n; e++) {
        if (e) print_brackets(out, "]", count_axes(shape, e));
        if (e) gp_text_puts(out, ", ");
        print_brackets(out, "[", count_axes(shape, e));
        gp_scalar_print(x[e], out);
    }
    print_brackets(out, "]", count_axes(shape, n));
}

GpFlow gp_interp_Print(GpInterp *in, const GpInst *inst) {
    const GpHooks *hooks = &in->session.hooks;
    if (!hooks->write) return GpFlow_Next;
    uint32_t operand = 0;
    in->printed.len = 0;
    for (const char *c = inst->text; *c; c++) {
        if (c[0] == '{' && c[1] == '}') print_operand(in, inst->operands[operand++], &in->printed);
        else gp_text_add(&in->printed, c, 1);
        if (*c == '{' || *c == '}') c++;
    }
    hooks->write(hooks->ud, gp_text_cstr(&in->printed), in->printed.len);
    return GpFlow_Next;
}
