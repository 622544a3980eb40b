/* gp_instantiate: the IR of one instance of a kernel. Here are the function's parameters, its
** symbol and what all lower*.c share; lower.h has the plan of the rest.
**
** A verifier failure is a bug of gpulua: debug builds stop, others report G0500. */
#include <ctype.h>

#include "dsl/lower.h"

/* ---- Reporting and types -------------------------------------------------------------------- */

/* What follows the first refusal may only follow from it: the value is missing. */
GpDiag *gp_lower_refuse(GpLower *lo, GpSpan span, const char *fmt, ...) {
    if (lo->has_failed)
        return NULL;
    GpText text = {.session = lo->module->session};
    va_list args;
    va_start(args, fmt);
    gp_text_vprintf(&text, fmt, args);
    va_end(args);
    lo->has_failed = true;
    GpDiag *d = gp_diag(lo->diags, GpDiag_G0251, span, gp_text_cstr(&text));
    gp_text_free(&text);
    return d;
}

void gp_lower_too_large(GpLower *lo, GpSpan span) {
    lo->has_failed = true;
    if (lo->is_too_large)
        return;
    lo->is_too_large = true;
    GpDiag *d = gp_diag(lo->diags, GpDiag_G0252, span, lo->kernel->name->name);
    gp_primary_label(d, "expansion stops here");
    gp_note(d, "every call is expanded in place");
}

const GpType *gp_lower_type(GpLower *lo, const GpType *t) {
    if (!t)
        return gp_ty_error(lo->types);
    if (!t->has_param)
        return t;
    return gp_normalize(&lo->check, gp_ty_subst(lo->types, t, &lo->frame->subst));
}

const GpType *gp_lower_node_type(GpLower *lo, const GpNode *n) {
    return gp_lower_type(lo, n->type);
}

GpGArg *gp_lower_args(GpLower *lo, const GpGArg *args, uint32_t count) {
    GpGArg *out = GP_NEW_ARRAY(lo->arena, GpGArg, count);
    for (uint32_t i = 0; i < count; i++) {
        out[i] = gp_garg_subst(lo->types, args[i], &lo->frame->subst);
        if (out[i].kind == GpGArg_Type)
            out[i].type = gp_normalize(&lo->check, out[i].type);
    }
    return out;
}

const char *gp_lower_text(GpLower *lo, GpSpan span) {
    if (!span.src)
        return "";
    char *text = gp_arena_copy(lo->arena, span.src->text + span.off, span.len);
    char *to = text;
    for (const char *from = text; *from; from++) {
        bool is_space = isspace((unsigned char)*from) != 0;
        if (is_space && to > text && to[-1] == ' ')
            continue;
        *to = *from;
        if (is_space)
            *to = ' ';
        to++;
    }
    *to = 0;
    return text;
}

/* ---- Parameters ----------------------------------------------------------------------------- */

static const char *param_name(GpLower *lo, uint32_t arg) {
    GpNode *p = GP_AS(Fn, lo->kernel->node)->params.at[arg];
    if (p->kind != GpNode_Param || GP_AS(Param, p)->pat->kind != GpNode_PatName)
        return NULL;
    return GP_AS(PatName, GP_AS(Param, p)->pat)->name->name;
}

static GpIrParam param_facts(const GpInstance *inst, GpParamKind kind, uint32_t arg,
                             bool is_written) {
    const struct GpArgFacts *f = &inst->args[arg];
    if (kind != GpParam_Base)
        return (GpIrParam){.kind = kind, .arg = (uint8_t)arg};
    return (GpIrParam){.kind = kind,
                       .arg = (uint8_t)arg,
                       .is_written = is_written,
                       .is_unique = true, /* ownership lets no writer share elements with others */
                       .aligned16 = f->aligned16,
                       .unit_stride = f->unit_stride,
                       .small = f->small,
                       .splits_lines = f->splits_lines};
}

typedef struct Params {
    const GpInstance *inst;
    GpValue *len; /* the one of all slices when all are equally long and one was seen */
} Params;

static GpVal add_tensor(GpLower *lo, const Params *p, uint32_t arg, const GpType *t) {
    const GpType *tensor = t->kind == GpTy_Ref ? t->inner : t;
    GpShape shape = gp_lower_adt_shape(lo, tensor);
    bool is_written = t->kind == GpTy_Ref && t->is_mut;
    /* The extents of a &mut Tensor are those of its tile; the tensor itself has any. */
    for (int i = 0; is_written && i < shape.rank; i++)
        shape.dim[i] = GP_DYNAMIC;
    const GpIrType *type = gp_ir_tensor(lo->fn, gp_lower_adt_elem(tensor), &shape);
    GpValue *v = gp_ir_add_param(lo->fn, type, param_facts(p->inst, GpParam_Base, arg, is_written),
                                 param_name(lo, arg));
    return gp_lower_one(lo, t, v);
}

static GpVal add_slice(GpLower *lo, Params *p, uint32_t arg, const GpType *t, GpElem elem) {
    bool is_written = t->kind != GpTy_Ref || t->is_mut;
    GpVal out = gp_lower_undef(lo, t);
    const char *name = param_name(lo, arg);
    out.at[0].value = gp_ir_add_param(lo->fn, gp_ir_ptr(lo->fn, elem, GpSpace_Global),
                                      param_facts(p->inst, GpParam_Base, arg, is_written), name);
    if (p->len) {
        out.at[1].value = p->len;
        return out;
    }
    const char *len = name ? gp_arena_printf(lo->arena, "%s_len", name) : NULL;
    out.at[1].value = gp_ir_add_param(lo->fn, gp_ir_scalar(lo->fn, GpElem_U64),
                                      param_facts(p->inst, GpParam_Len, arg, false), len);
    if (p->inst->equal_lens)
        p->len = out.at[1].value;
    return out;
}

/* Anything may be behind a pointer, another argument's elements too. */
static GpVal add_pointer(GpLower *lo, const Params *p, uint32_t arg, const GpType *t,
                         GpElem elem) {
    GpIrParam facts = param_facts(p->inst, GpParam_Base, arg, t->is_mut);
    facts.is_unique = false;
    return gp_lower_one(lo, t,
                        gp_ir_add_param(lo->fn, gp_ir_ptr(lo->fn, elem, GpSpace_Global), facts,
                                        param_name(lo, arg)));
}

static GpVal add_mapped(GpLower *lo, const Params *p, uint32_t arg, const GpType *t) {
    GpShape shape = gp_lower_adt_shape(lo, t);
    for (int i = 0; i < shape.rank; i++)
        shape.dim[i] = GP_DYNAMIC;
    const GpIrType *type = gp_ir_tensor(lo->fn, gp_lower_adt_elem(t), &shape);
    GpIrParam facts = param_facts(p->inst, GpParam_Base, arg, true);
    return gp_lower_whole_view(lo, t, gp_ir_add_param(lo->fn, type, facts, param_name(lo, arg)));
}

static GpVal add_param(GpLower *lo, Params *p, uint32_t arg, const GpType *t) {
    GpElem elem;
    if (gp_ty_is_lang(t, GpLang_MappedPartitionMut))
        return add_mapped(lo, p, arg, t);
    if (t->kind == GpTy_Ref && gp_ty_is_lang(t->inner, GpLang_Tensor))
        return add_tensor(lo, p, arg, t);
    if (t->kind == GpTy_Ref && t->inner->kind == GpTy_Slice &&
        gp_lower_elem(t->inner->inner, &elem))
        return add_slice(lo, p, arg, t, elem);
    if (gp_ty_is_lang(t, GpLang_DisjointSlice) && gp_lower_elem(t->args[0].type, &elem))
        return add_slice(lo, p, arg, t, elem);
    if (t->kind == GpTy_RawPtr && gp_lower_elem(t->inner, &elem))
        return add_pointer(lo, p, arg, t, elem);
    if (gp_lower_elem(t, &elem))
        return gp_lower_one(lo, t,
                            gp_ir_add_param(lo->fn, gp_ir_scalar(lo->fn, elem),
                                            param_facts(p->inst, GpParam_Scalar, arg, false),
                                            param_name(lo, arg)));
    gp_lower_refuse(lo, GP_AS(Fn, lo->kernel->node)->params.at[arg]->span,
                    "a kernel parameter of type `%s`", gp_ty_name(lo->arena, t));
    return gp_lower_undef(lo, t);
}

/* ---- The function --------------------------------------------------------------------------- */

/* The kernel's name with its generics and its key, in the characters that PTX allows. */
static const char *make_symbol(GpLower *lo, const GpInstance *inst) {
    GpText text = {.session = lo->module->session};
    gp_text_printf(&text, "%s", lo->kernel->name->name);
    for (uint32_t i = 0; i < inst->generic_count; i++) {
        const GpGArg *a = &inst->generics[i];
        gp_text_puts(&text, "_");
        if (a->kind == GpGArg_Type)
            gp_ty_print(a->type, &text);
        else if (a->kind == GpGArg_Const)
            gp_const_print(a->value, &text);
        else
            gp_shapety_print(a->shape, &text);
    }
    gp_text_printf(&text, "_%08x", (unsigned)(inst->key[0] ^ inst->key[0] >> 32));
    if (text.failed) { /* a shorter symbol could be another instance's */
        gp_text_free(&text);
        gp_throw(lo->module->session, GpStatus_NoMemory);
    }
    char *symbol = gp_arena_copy(lo->arena, gp_text_cstr(&text), text.len);
    gp_text_free(&text);
    for (char *c = symbol; *c; c++)
        if (!isalnum((unsigned char)*c))
            *c = '_';
    return symbol;
}

static void make_fn(GpLower *lo, const GpInstance *inst) {
    const GpKernelAttrs *k = &lo->kernel->kernel;
    lo->fn = gp_ir_fn_make(lo->arena, lo->kernel->name->name, k->track, lo->kernel->span);
    lo->fn->symbol = make_symbol(lo, inst);
    memcpy(lo->fn->block, inst->block, sizeof lo->fn->block);
    lo->fn->max_threads = k->max_threads;
    lo->fn->min_blocks = k->min_blocks;
    lo->fn->schedule = k->schedule;
    lo->fn->equal_lens = inst->equal_lens;
    lo->b = (GpBuilder){.fn = lo->fn, .region = lo->fn->body, .span = lo->kernel->span};
}

static void lower_kernel(GpLower *lo, const GpInstance *inst) {
    GpAstFn *ast = GP_AS(Fn, lo->kernel->node);
    lo->frame = GP_NEW(lo->arena, GpLowerFrame);
    lo->frame->fn = lo->kernel;
    lo->frame->subst = (GpSubst){(const GpDef *const *)lo->kernel->generics, inst->generics,
                                 inst->generic_count};
    make_fn(lo, inst);
    uint32_t count = lo->kernel->sig.param_count;
    gp_assert(inst->arg_count == count);
    lo->has_failed |= !gp_check_obligations(lo->module, lo->kernel, &lo->frame->subst, lo->diags);
    GpVal *params = GP_NEW_ARRAY(lo->arena, GpVal, count);
    Params p = {inst, NULL};
    for (uint32_t i = 0; i < count; i++) {
        const GpType *t = gp_lower_type(lo, lo->kernel->sig.params[i]);
        params[i] = add_param(lo, &p, i, t);
    }
    if (lo->has_failed)
        return;
    gp_lower_find_escaping(lo, ast->body);
    gp_lower_bind_params(lo, &ast->params, params, count);
    gp_lower_expr(lo, ast->body);
    if (!lo->is_dead)
        gp_build(&lo->b, GpOp_Return, NULL, 0, NULL, 0);
    gp_ir_apply_forwards(lo->fn);
    gp_ir_number(lo->fn);
    gp_ir_place_globals(lo->fn);
    gp_ir_mark_written(lo->fn);
}

/* ---- Instantiation -------------------------------------------------------------------------- */

typedef struct Job {
    GpModule *module;
    GpArena *arena;
    const GpInstance *instance;
    GpDiags *diags;
    GpIrFn *fn;
} Job;

static void verify(GpLower *lo) {
    GpText why = {.session = lo->module->session};
    if (gp_ir_verify(lo->fn, &why)) {
        gp_text_free(&why);
        return;
    }
#ifndef NDEBUG
    gp_bug(__FILE__, __LINE__, gp_arena_copy(lo->arena, gp_text_cstr(&why), why.len));
#endif
    gp_diag(lo->diags, GpDiag_G0500, lo->kernel->span, lo->kernel->name->name, gp_text_cstr(&why));
    gp_text_free(&why);
    lo->has_failed = true;
}

static void run(GpSession *s, void *ud) {
    (void)s;
    Job *job = ud;
    GpModule *m = job->module;
    GpLower lo = {.module = m,
                  .types = m->std->types,
                  .arena = job->arena,
                  .diags = job->diags,
                  .kernel = job->instance->kernel,
                  .instance = job->instance};
    lo.check = (GpCheck){.module = m,
                         .std = m->std,
                         .arena = job->arena,
                         .types = m->std->types,
                         .names = m->std->names,
                         .diags = job->diags};
    lower_kernel(&lo, job->instance);
    if (!lo.has_failed)
        verify(&lo);
    if (!lo.has_failed)
        gp_lower_refute_checks(&lo);
    if (!lo.has_failed && (lo.kernel->kernel.denies_checks || job->instance->left != GpLeft_Checks))
        gp_lower_ask_launch(&lo);
    if (lo.has_failed)
        return;
    gp_ir_run_passes(lo.fn, GpPassStage_Semantic);
    job->fn = lo.fn;
}

GpStatus gp_instantiate(GpModule *m, GpArena *arena, const GpInstance *instance, GpDiags *diags,
                        GpIrFn **out) {
    Job job = {m, arena, instance, diags, NULL};
    GpStatus status = gp_protect(m->session, run, &job);
    *out = job.fn;
    if (status != GpStatus_Ok)
        return status;
    return job.fn ? GpStatus_Ok : GpStatus_Diagnostics;
}
