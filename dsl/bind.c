/* gp_bind: a call's arguments against a kernel's parameters, to an instance. Nothing here looks
** into a body. A refusal names the parameter, the call and the kernel, and changes nothing. */
#include "dsl/bind.h"
#include "dsl/check.h"

/* ---- Reporting ------------------------------------------------------------------------------ */

const char *gp_bind_text(GpBinder *b, const char *fmt, ...) {
    GpText text = {.session = b->module->session};
    va_list args;
    va_start(args, fmt);
    gp_text_vprintf(&text, fmt, args);
    va_end(args);
    const char *copy = gp_arena_copy(b->arena, gp_text_cstr(&text), text.len);
    gp_text_free(&text);
    return copy;
}

const char *gp_bind_shape(GpBinder *b, const GpShape *s) {
    GpText text = {.session = b->module->session};
    gp_shape_print(s, &text);
    const char *copy = gp_arena_copy(b->arena, gp_text_cstr(&text), text.len);
    gp_text_free(&text);
    return copy;
}

const char *gp_bind_kernel_name(const GpBinder *b) { return b->kernel->name->name; }

static GpNode *param_node(const GpBinder *b, uint32_t arg) {
    return GP_AS(Fn, b->kernel->node)->params.at[arg];
}

GpSpan gp_bind_param_span(const GpBinder *b, uint32_t arg) { return param_node(b, arg)->span; }

const char *gp_bind_param_name(const GpBinder *b, uint32_t arg) {
    GpNode *p = param_node(b, arg);
    if (p->kind != GpNode_Param || GP_AS(Param, p)->pat->kind != GpNode_PatName)
        return "_";
    return GP_AS(PatName, GP_AS(Param, p)->pat)->name->name;
}

GpSpan gp_bind_attr_span(const GpBinder *b, const char *name) {
    GpNodeList attrs = GP_AS(Fn, b->kernel->node)->attrs;
    for (uint32_t i = 0; i < attrs.len; i++) {
        GpAstPath *path = GP_AS(Path, GP_AS(Attr, attrs.at[i])->path);
        GpAstSegment *last = GP_AS(Segment, path->segments.at[path->segments.len - 1]);
        if (!strcmp(last->name->name, name))
            return attrs.at[i]->span;
    }
    return b->kernel->kernel.span;
}

GpDiag *gp_bind_refuse(GpBinder *b, GpDiagCode code, const char *first, const char *second) {
    b->has_failed = true;
    GpDiag *d = gp_diag(b->diags, code, b->request->site, first, second);
    gp_note_at(d, b->kernel->span, "kernel `%s` declared here", gp_bind_kernel_name(b));
    return d;
}

GpDiag *gp_bind_mismatch(GpBinder *b, const char *fmt, ...) {
    GpText text = {.session = b->module->session};
    va_list args;
    va_start(args, fmt);
    gp_text_vprintf(&text, fmt, args);
    va_end(args);
    b->has_failed = true;
    const GpBindRequest *r = b->request;
    GpDiag *d = gp_diag(b->diags, GpDiag_E0308, r->arg_sites ? r->arg_sites[b->arg] : r->site,
                        "mismatched types");
    gp_primary_label(d, "argument %u, `%s`: %s", b->arg + 1, gp_bind_param_name(b, b->arg),
                     gp_text_cstr(&text));
    gp_note_at(d, gp_bind_param_span(b, b->arg), "parameter `%s` of kernel `%s` declared here",
               gp_bind_param_name(b, b->arg), gp_bind_kernel_name(b));
    gp_text_free(&text);
    return d;
}

const GpType *gp_bind_type(GpBinder *b, uint32_t arg) {
    const GpDef **params = GP_NEW_ARRAY(b->arena, const GpDef *, b->kernel->generic_count);
    GpGArg *args = GP_NEW_ARRAY(b->arena, GpGArg, b->kernel->generic_count);
    uint32_t n = 0;
    for (uint32_t i = 0; i < b->kernel->generic_count; i++) {
        if (b->origin[i] == GP_BOUND_NOT)
            continue;
        params[n] = b->kernel->generics[i];
        args[n++] = b->inst->generics[i];
    }
    GpSubst s = {params, args, n};
    return gp_ty_subst(b->types, b->kernel->sig.params[arg], &s);
}

/* ---- Key ------------------------------------------------------------------------------------ */

/* Two independent 64-bit streams over one text, each finished by an avalanche step (the finalizer
** of MurmurHash3). */
static uint64_t avalanche(uint64_t h) {
    h ^= h >> 33;
    h *= UINT64_C(0xff51afd7ed558ccd);
    h ^= h >> 33;
    h *= UINT64_C(0xc4ceb9fe1a85ec53);
    return h ^ h >> 33;
}

static void hash_text(const GpText *t, uint64_t out[2]) {
    uint64_t a = UINT64_C(0xcbf29ce484222325), z = UINT64_C(0x9e3779b97f4a7c15);
    for (size_t i = 0; i < t->len; i++) {
        uint8_t byte = (uint8_t)t->at[i];
        a = (a ^ byte) * UINT64_C(0x100000001b3);
        z = ((z << 7 | z >> 57) + byte) * UINT64_C(0xd6e8feb86659fd93);
    }
    out[0] = avalanche(a ^ t->len);
    out[1] = avalanche(z + t->len);
}

static void print_generic(const GpGArg *a, GpText *out) {
    if (a->kind == GpGArg_Type)
        gp_ty_print(a->type, out);
    else if (a->kind == GpGArg_Const)
        gp_const_print(a->value, out);
    else
        gp_shapety_print(a->shape, out);
}

static void make_key(GpBinder *b) {
    GpInstance *inst = b->inst;
    GpText t = {.session = b->module->session};
    gp_text_printf(&t, "%u %s", b->kernel->id, gp_bind_kernel_name(b));
    for (uint32_t i = 0; i < inst->generic_count; i++) {
        gp_text_puts(&t, ";");
        print_generic(&inst->generics[i], &t);
    }
    gp_text_printf(&t, "|%u,%u,%u,%d", inst->block[0], inst->block[1], inst->block[2],
                   inst->equal_lens);
    for (uint32_t i = 0; i < inst->arg_count; i++) {
        const struct GpArgFacts *f = &inst->args[i];
        gp_text_printf(&t, "|%d,%d,%u,%d%d%d%s", (int)f->pass, (int)f->elem, f->rank, f->aligned16,
                       f->unit_stride, f->small, f->splits_lines ? "s" : "");
        for (uint32_t k = 0; k < f->rank; k++)
            if (f->tile[k])
                gp_text_printf(&t, "t%u=%lld", k, (long long)f->tile[k]);
    }
    bool failed = t.failed;
    hash_text(&t, inst->key);
    gp_text_free(&t);
    if (failed)
        gp_throw(b->module->session, GpStatus_NoMemory);
}

/* ---- Binding -------------------------------------------------------------------------------- */

static void begin(GpBinder *b) {
    uint32_t n = b->kernel->generic_count, params = b->kernel->sig.param_count;
    b->inst = GP_NEW(b->arena, GpInstance);
    b->inst->kernel = b->kernel;
    b->inst->generics = GP_NEW_ARRAY(b->arena, GpGArg, n);
    b->inst->generic_count = n;
    b->inst->args =
        (struct GpArgFacts *)gp_arena_alloc_array(b->arena, params, sizeof *b->inst->args);
    b->inst->arg_count = params;
    b->origin = GP_NEW_ARRAY(b->arena, int32_t, n);
    for (uint32_t i = 0; i < n; i++)
        b->origin[i] = GP_BOUND_NOT;
}

static bool check_count(GpBinder *b) {
    uint32_t want = b->kernel->sig.param_count, got = b->request->arg_count;
    if (want == got)
        return true;
    const char *title =
        gp_bind_text(b, "kernel `%s` takes %u argument%s but %u %s supplied",
                     gp_bind_kernel_name(b), want, gp_plural(want), got, got == 1 ? "was" : "were");
    GpDiag *d = gp_bind_refuse(b, GpDiag_E0061, title, "");
    if (got < want)
        gp_primary_label(d, "argument %u, `%s` of type `%s`, is missing", got + 1,
                         gp_bind_param_name(b, got),
                         gp_ty_name(b->arena, b->kernel->sig.params[got]));
    else
        gp_primary_label(d, "unexpected argument %u", want + 1);
    return false;
}

static bool is_slice(GpParamForm form) {
    return form == GpParamForm_Slice || form == GpParamForm_SliceMut ||
           form == GpParamForm_Disjoint;
}

static void find_equal_lens(GpBinder *b) {
    int64_t first = -1, n;
    uint32_t count = 0;
    for (uint32_t i = 0; i < b->inst->arg_count; i++) {
        if (!is_slice(gp_bind_form(b->kernel->sig.params[i])))
            continue;
        if (!gp_shape_numel(&b->request->args[i].shape, &n))
            return;
        if (count++ && n != first)
            return;
        first = n;
    }
    b->inst->equal_lens = count > 1;
}

static void bind_call(GpBinder *b) {
    const GpBindRequest *r = b->request;
    begin(b);
    gp_bind_named(b, r->named, r->named_count);
    if (b->has_failed || !check_count(b))
        return;
    for (uint32_t i = 0; i < r->arg_count; i++)
        gp_bind_arg(b, i, false);
    if (b->has_failed)
        return;
    gp_bind_presets(b);
    gp_bind_missing(b);
    for (uint32_t i = 0; i < r->arg_count && !b->has_failed; i++)
        gp_bind_arg(b, i, true);
    if (b->has_failed)
        return;
    if (b->kernel->kernel.track == GpTrack_Simt)
        find_equal_lens(b);
    gp_bind_block(b, r->block);
    if (!b->has_failed)
        gp_bind_grid(b);
    if (!b->has_failed)
        gp_bind_preconditions(b);
    if (!b->has_failed)
        make_key(b);
}

static GpPass assumed_pass(GpParamForm form) {
    switch (form) {
    case GpParamForm_Tensor:
    case GpParamForm_Slice:
        return GpPass_Shared;
    case GpParamForm_TensorMut:
    case GpParamForm_Mapped:
    case GpParamForm_SliceMut:
    case GpParamForm_Disjoint:
    case GpParamForm_Pointer:
        return GpPass_Unique;
    case GpParamForm_Scalar:
    case GpParamForm_Other:
        break;
    }
    return GpPass_Scalar;
}

static uint8_t tensor_rank(const GpType *t) {
    if (t->kind == GpTy_Ref)
        t = t->inner;
    for (uint32_t i = 0; i < t->arg_count; i++)
        if (t->args[i].kind == GpGArg_Shape)
            return t->args[i].shape->rank;
    return 1;
}

enum { ASSUMED_TILE = 16 };

static void assume_arg(GpBinder *b, uint32_t i) {
    const GpType *t = gp_bind_type(b, i);
    GpParamForm form = gp_bind_form(t);
    struct GpArgFacts *f = &b->inst->args[i];
    f->pass = assumed_pass(form);
    gp_bind_elem(gp_bind_elem_type(t, form), &f->elem);
    f->scalar = (GpScalar){.elem = f->elem};
    if (form == GpParamForm_Scalar)
        return;
    f->rank = tensor_rank(t);
    f->aligned16 = f->unit_stride = f->small = true;
    for (uint32_t k = 0; form == GpParamForm_TensorMut && k < f->rank; k++)
        f->tile[k] = ASSUMED_TILE; /* where the type leaves it open */
}

static void bind_assumed(GpBinder *b) {
    begin(b);
    gp_bind_named(b, b->request->named, b->request->named_count);
    if (b->has_failed)
        return;
    gp_bind_presets(b);
    gp_bind_missing(b);
    if (b->has_failed)
        return;
    for (uint32_t i = 0; i < b->inst->arg_count; i++)
        assume_arg(b, i);
    gp_bind_block(b, b->request->block);
    for (int i = 0; i < 3; i++)
        b->inst->grid[i] = 1;
    if (!b->has_failed)
        make_key(b);
}

static bool has_open_tile(const GpType *t) {
    if (gp_bind_form(t) != GpParamForm_TensorMut)
        return false;
    const GpShapeTy *shape = t->inner->args[1].shape;
    bool is_open = shape->kind != GpShape_List;
    for (uint32_t k = 0; !is_open && k < shape->rank; k++)
        is_open = shape->dim[k]->kind == GpConst_Dynamic;
    return is_open;
}

bool gp_bind_is_decided(const GpDef *kernel) {
    bool is_decided = true;
    for (uint32_t i = 0; i < kernel->generic_count; i++)
        is_decided &= kernel->generics[i]->has_preset;
    for (uint32_t i = 0; i < kernel->sig.param_count; i++)
        is_decided &= !has_open_tile(kernel->sig.params[i]);
    return is_decided;
}

static void run(GpSession *s, void *ud) {
    GpBinder *b = ud;
    (void)s;
    if (b->is_assumed)
        bind_assumed(b);
    else
        bind_call(b);
}

static GpStatus finish(GpBinder *b, GpInstance **out) {
    *out = NULL;
    GpStatus status = gp_protect(b->module->session, run, b);
    if (status != GpStatus_Ok)
        return status;
    if (b->has_failed)
        return GpStatus_Diagnostics;
    *out = b->inst;
    return GpStatus_Ok;
}

static GpBinder binder_of(GpModule *m, GpArena *arena, const GpBindRequest *request,
                          GpDiags *diags) {
    return (GpBinder){.module = m,
                      .types = m->std->types,
                      .arena = arena,
                      .diags = diags,
                      .request = request,
                      .kernel = request->kernel};
}

GpStatus gp_bind(GpModule *m, GpArena *arena, const GpBindRequest *request, GpDiags *diags,
                 GpInstance **out) {
    GpBinder b = binder_of(m, arena, request, diags);
    return finish(&b, out);
}

GpStatus gp_bind_assumed(GpModule *m, GpArena *arena, const GpBindRequest *request, GpDiags *diags,
                         GpInstance **out) {
    GpBinder b = binder_of(m, arena, request, diags);
    b.is_assumed = true;
    if (request->block[0] && !gp_check_threads(diags, request->block, request->kernel->span))
        return GpStatus_Diagnostics;
    return finish(&b, out);
}
