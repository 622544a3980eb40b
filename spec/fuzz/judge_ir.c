/* Instances: a kernel that was accepted is bound with values for its generics and lowered; the
** verifier reads the IR there and after every pass. What cannot be lowered is refused with a
** well-formed report. */
#include "dsl/check.h"
#include "spec/fuzz/judge.h"

enum { EXTENT = 8 };

typedef struct Instance {
    const Judged *j;
    const GpDef *kernel;
    GpArena *arena;
    GpDiags *diags;
} Instance;

static GpNamedArg name_generic(const GpDef *generic, const char *elem) {
    GpNamedArg named = {.name = {generic->name->name, generic->name->len}, .kind = GpNamed_Int};
    int64_t count = 0;
    if (generic->kind == GpDef_TypeParam) {
        named.kind = GpNamed_Text;
        named.text = gp_str_from(elem);
    } else if (generic->const_type && generic->const_type->kind == GpTy_Array &&
               gp_const_value(generic->const_type->count, &count) && count <= GP_MAX_RANK) {
        named.kind = GpNamed_Shape;
        named.shape.rank = (uint8_t)count;
        for (int64_t i = 0; i < count; i++)
            named.shape.dim[i] = EXTENT;
    } else {
        bool is_bool = generic->const_type && generic->const_type->kind == GpTy_Elem &&
                       generic->const_type->elem == GpElem_Bool;
        named.value = is_bool ? 1 : EXTENT;
    }
    return named;
}

static void instantiate(GpSession *s, void *ud) {
    Instance *in = ud;
    (void)s;
    static const char *const elems[] = {"f32", "i32"};
    uint32_t count = in->kernel->generic_count;
    for (size_t k = 0; k < (count ? GP_COUNT(elems) : 1); k++) {
        GpNamedArg *named = GP_NEW_ARRAY(in->arena, GpNamedArg, count);
        for (uint32_t i = 0; i < count; i++)
            named[i] = name_generic(in->kernel->generics[i], elems[k]);
        GpBindRequest request = {.kernel = in->kernel, .named = named, .named_count = count};
        GpInstance *inst;
        GpIrFn *fn;
        if (gp_bind_assumed(in->j->module, in->arena, &request, in->diags, &inst) != GpStatus_Ok)
            continue;
        if (gp_instantiate(in->j->module, in->arena, inst, in->diags, &fn) == GpStatus_Ok)
            gp_ir_run_passes(fn, GpPassStage_Optimize);
    }
}

void judge_ir(const Judged *j) {
    GpSession *s = j->std->session;
    for (uint32_t i = 0; i < gp_module_kernel_count(j->module); i++) {
        Instance in = {j, gp_module_kernel_at(j->module, i), gp_arena_new(s), gp_diags_new(s)};
        judge_require(j, in.arena && in.diags, "out of memory");
        judge_protect(j, instantiate, &in);
        gp_diags_sort(in.diags);
        for (uint32_t k = 0; k < gp_diags_count(in.diags); k++)
            judge_require(j, gp_diag_code(gp_diags_at(in.diags, k)) != GpDiag_G0500,
                          "IR that the verifier refuses");
        gp_diags_release(in.diags);
        gp_arena_free(in.arena);
    }
}
