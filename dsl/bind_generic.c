/* Generics of a launch: given by name, inferred from arguments, left to their default. */
#include "dsl/bind.h"

static uint32_t index_of(const GpBinder *b, const GpDef *generic) {
    for (uint32_t i = 0; i < b->kernel->generic_count; i++)
        if (b->kernel->generics[i] == generic)
            return i;
    return UINT32_MAX;
}

static bool is_named(const GpDef *generic, GpStr name) {
    return generic->name->len == name.len && !memcmp(generic->name->name, name.at, name.len);
}

static const char *cstr(GpBinder *b, GpStr s) { return gp_arena_copy(b->arena, s.at, s.len); }

/* ---- By name ----------------------------------------------------------------------------------
 */

static void report_unknown(GpBinder *b, GpStr name) {
    GpText known = {.session = b->module->session};
    for (uint32_t i = 0; i < b->kernel->generic_count; i++)
        gp_text_printf(&known, "%s`%s`", i ? ", " : "", b->kernel->generics[i]->name->name);
    GpDiag *d = gp_bind_refuse(b, GpDiag_G0340, gp_bind_kernel_name(b), cstr(b, name));
    if (known.len)
        gp_help(d, "its generics are %s", gp_text_cstr(&known));
    else
        gp_help(d, "it has no generics");
    gp_text_free(&known);
}

static void report_unfit(GpBinder *b, const GpDef *generic, const char *value, const char *why) {
    b->has_failed = true;
    GpDiag *d = gp_diag(b->diags, GpDiag_G0328, b->request->site, value,
                        generic->name->name, gp_bind_kernel_name(b));
    gp_primary_label(d, "%s", why);
    gp_note_at(d, generic->span, "generic `%s` declared here", generic->name->name);
}

static bool is_flag(const GpDef *generic) {
    GpElem elem;
    return generic->const_type && gp_bind_elem(generic->const_type, &elem) && elem == GpElem_Bool;
}

static bool fits_const(const GpDef *generic, int64_t v) {
    const GpType *t = generic->const_type;
    GpElem elem;
    GpScalar out;
    if (!t || !gp_bind_elem(t, &elem))
        return false;
    if (is_flag(generic))
        return v == 0 || v == 1;
    return gp_scalar_from_int(v, elem, &out);
}

/* The value as it was given. */
static const char *name_given(GpBinder *b, const GpNamedArg *arg) {
    if (arg->kind == GpNamed_Int)
        return gp_bind_text(b, "%lld", (long long)arg->value);
    if (arg->kind == GpNamed_Text)
        return cstr(b, arg->text);
    GpText t = {.session = b->module->session};
    gp_shape_print(&arg->shape, &t);
    const char *copy = gp_arena_copy(b->arena, gp_text_cstr(&t), t.len);
    gp_text_free(&t);
    return copy;
}

static GpGArg shape_arg(GpBinder *b, const GpShape *shape) {
    const GpConst *dims[GP_MAX_RANK];
    for (int i = 0; i < shape->rank; i++)
        dims[i] = gp_const_int(b->types, shape->dim[i]);
    return (GpGArg){.kind = GpGArg_Shape, .shape = gp_shape_list(b->types, dims, shape->rank)};
}

/* Whether the generic is an array of numbers, and of how many. */
static bool is_list(const GpDef *generic, int64_t *count) {
    return generic->const_type && generic->const_type->kind == GpTy_Array &&
           gp_const_value(generic->const_type->count, count);
}

static void set_type(GpBinder *b, uint32_t i, const GpNamedArg *arg) {
    const GpDef *g = b->kernel->generics[i];
    GpElem elem;
    if (arg->kind != GpNamed_Text)
        report_unfit(b, g, name_given(b, arg),
                     "expected the name of an element type, such as \"f32\"");
    else if (!gp_elem_find(arg->text, &elem))
        report_unfit(b, g, name_given(b, arg), "no element type has this name");
    else
        b->inst->generics[i] = (GpGArg){.kind = GpGArg_Type, .type = gp_ty_elem(b->types, elem)};
}

static void set_named(GpBinder *b, uint32_t i, const GpNamedArg *arg) {
    const GpDef *g = b->kernel->generics[i];
    int64_t count;
    b->origin[i] = GP_BOUND_BY_NAME;
    if (g->kind == GpDef_TypeParam) {
        set_type(b, i, arg);
    } else if (is_list(g, &count)) {
        if (arg->kind == GpNamed_Shape && arg->shape.rank == count)
            b->inst->generics[i] = shape_arg(b, &arg->shape);
        else
            report_unfit(b, g, name_given(b, arg),
                         gp_bind_text(b, "expected a list of %lld number%s", (long long)count,
                                      gp_plural(count)));
    } else if (arg->kind == GpNamed_Int && fits_const(g, arg->value)) {
        b->inst->generics[i] =
            (GpGArg){.kind = GpGArg_Const, .value = gp_const_int(b->types, arg->value)};
    } else {
        const char *want = g->const_type ? gp_ty_name(b->arena, g->const_type) : "i32";
        report_unfit(b, g, name_given(b, arg),
                     is_flag(g) ? "expected `true` or `false`" : gp_bind_text(b, "expected a number of type `%s`", want));
    }
}

void gp_bind_named(GpBinder *b, const GpNamedArg *named, uint32_t count) {
    for (uint32_t k = 0; k < count; k++) {
        uint32_t i = 0;
        while (i < b->kernel->generic_count && !is_named(b->kernel->generics[i], named[k].name))
            i++;
        if (i < b->kernel->generic_count)
            set_named(b, i, &named[k]);
        else
            report_unknown(b, named[k].name);
    }
}

/* ---- By inference -----------------------------------------------------------------------------
 */

static const char *name_value(GpBinder *b, const GpGArg *a) {
    GpText t = {.session = b->module->session};
    if (a->kind == GpGArg_Type)
        gp_ty_print(a->type, &t);
    else if (a->kind == GpGArg_Const)
        gp_const_print(a->value, &t);
    else
        gp_shapety_print(a->shape, &t);
    const char *copy = gp_arena_copy(b->arena, gp_text_cstr(&t), t.len);
    gp_text_free(&t);
    return copy;
}

/* Values are hash-consed: equal ones are one pointer. */
static bool is_same(const GpGArg *a, const GpGArg *z) {
    if (a->kind != z->kind)
        return false;
    if (a->kind == GpGArg_Type)
        return a->type == z->type;
    if (a->kind == GpGArg_Const)
        return a->value == z->value;
    return a->shape == z->shape;
}

static bool set(GpBinder *b, const GpDef *generic, GpGArg value) {
    uint32_t i = index_of(b, generic);
    gp_assert(i != UINT32_MAX);
    if (b->origin[i] == GP_BOUND_NOT) {
        b->inst->generics[i] = value;
        b->origin[i] = (int32_t)b->arg;
        return true;
    }
    if (is_same(&b->inst->generics[i], &value))
        return true;
    const char *was = name_value(b, &b->inst->generics[i]), *is = name_value(b, &value);
    if (b->origin[i] == GP_BOUND_BY_NAME) {
        GpDiag *d = gp_bind_refuse(b, GpDiag_G0326, generic->name->name, gp_bind_kernel_name(b));
        gp_primary_label(d, "`%s = %s` is given, but argument %u, `%s`, makes it %s",
                         generic->name->name, was, b->arg + 1, gp_bind_param_name(b, b->arg), is);
        return false;
    }
    GpDiag *d = gp_bind_mismatch(b, "generic `%s` is %s here, but %s in argument %d, `%s`",
                                 generic->name->name, is, was, b->origin[i] + 1,
                                 gp_bind_param_name(b, (uint32_t)b->origin[i]));
    gp_note_at(d, gp_bind_param_span(b, (uint32_t)b->origin[i]), "`%s` follows from this parameter",
               generic->name->name);
    return false;
}

bool gp_bind_is_open(const GpBinder *b, const GpDef *generic) {
    return b->origin[index_of(b, generic)] == GP_BOUND_NOT;
}

bool gp_bind_set_elem(GpBinder *b, const GpDef *generic, GpElem elem) {
    return set(b, generic, (GpGArg){.kind = GpGArg_Type, .type = gp_ty_elem(b->types, elem)});
}

bool gp_bind_set_int(GpBinder *b, const GpDef *generic, int64_t value) {
    if (!fits_const(generic, value)) {
        gp_bind_mismatch(b, "%lld does not fit generic `%s`", (long long)value,
                         generic->name->name);
        return false;
    }
    return set(b, generic, (GpGArg){.kind = GpGArg_Const, .value = gp_const_int(b->types, value)});
}

bool gp_bind_set_shape(GpBinder *b, const GpDef *generic, const GpShape *shape) {
    int64_t rank;
    if (is_list(generic, &rank) && rank != shape->rank) {
        gp_bind_mismatch(b, "expected rank %lld, found rank %d", (long long)rank, shape->rank);
        return false;
    }
    return set(b, generic, shape_arg(b, shape));
}

void gp_bind_presets(GpBinder *b) {
    for (uint32_t i = 0; i < b->kernel->generic_count; i++) {
        if (b->origin[i] != GP_BOUND_NOT || !b->kernel->generics[i]->has_preset)
            continue;
        b->inst->generics[i] = b->kernel->generics[i]->preset;
        b->origin[i] = GP_BOUND_PRESET;
    }
}

/* A value that the generic could have, as Lua or the command line writes it. */
static const char *example_of(GpBinder *b, const GpDef *g) {
    bool is_lua = !b->is_assumed;
    int64_t count;
    if (g->kind == GpDef_TypeParam)
        return is_lua ? "\"f32\"" : "f32";
    if (!is_list(g, &count))
        return is_flag(g) ? "true" : "128";
    GpText t = {.session = b->module->session};
    gp_text_puts(&t, is_lua ? "{" : "[");
    for (int64_t i = 0; i < count; i++)
        gp_text_puts(&t, i == 0 ? "128" : is_lua ? ", 128" : ",128");
    gp_text_puts(&t, is_lua ? "}" : "]");
    const char *copy = gp_arena_copy(b->arena, gp_text_cstr(&t), t.len);
    gp_text_free(&t);
    return copy;
}

static void report_missing(GpBinder *b, const GpDef *g) {
    GpDiag *d = gp_bind_refuse(b, GpDiag_G0325, g->name->name, gp_bind_kernel_name(b));
    if (!b->is_assumed)
        gp_help(d, "give it by name: `k.%s:with{%s = %s}`", gp_bind_kernel_name(b), g->name->name,
                example_of(b, g));
    else
        gp_help(d, "give it by name: `--with %s=%s`", g->name->name, example_of(b, g));
    gp_note_at(d, g->span, "generic `%s` declared here", g->name->name);
}

void gp_bind_missing(GpBinder *b) {
    for (uint32_t i = 0; i < b->kernel->generic_count; i++)
        if (b->origin[i] == GP_BOUND_NOT)
            report_missing(b, b->kernel->generics[i]);
    if (b->has_failed)
        return;
    GpStd *std = b->module->std;
    GpCheck c = {.module = b->module,
                 .std = std,
                 .arena = b->arena,
                 .types = std->types,
                 .names = std->names,
                 .diags = b->diags};
    uint32_t generic, bound;
    if (!gp_find_unmet_bound(&c, b->kernel, b->inst->generics, b->inst->generic_count, &generic,
                             &bound))
        return;
    const GpDef *trait = b->kernel->generics[generic]->bounds[bound];
    report_unfit(b, b->kernel->generics[generic], name_value(b, &b->inst->generics[generic]),
                 gp_bind_text(b, "the trait `%s` is not implemented for it", trait->name->name));
}
