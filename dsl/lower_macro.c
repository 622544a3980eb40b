/* Macros that stand for statements: assertions and panics. Shapes are constants to the checker. */
#include "dsl/lower.h"

void gp_lower_assert(GpLower *lo, GpValue *cond, GpSpan span, const char *message) {
    GpScalar known;
    if (gp_ir_const(cond, &known) && known.u)
        return;
    GpInst *inst = gp_build(&lo->b, GpOp_Assert, &cond, 1, NULL, 0);
    inst->site = gp_ir_add_site(lo->fn, GpCheck_Assert, 0, span, message);
}

void gp_lower_panic(GpLower *lo, GpSpan span, const char *message) {
    if (lo->is_dead)
        return;
    gp_lower_assert(lo, gp_build_int(&lo->b, GpElem_Bool, 0), span, message);
    gp_build(&lo->b, GpOp_Return, NULL, 0, NULL, 0);
    gp_lower_set_dead(lo);
}

static const char *macro_name(GpAstMacro *m) {
    GpAstPath *p = m->path->kind == GpNode_Path ? GP_AS(Path, m->path) : NULL;
    if (!p || !p->segments.len)
        return "";
    return GP_AS(Segment, p->segments.at[p->segments.len - 1])->name->name;
}

/* The text of a string literal without its quotes; NULL when the node is none. */
static const char *message_of(GpLower *lo, GpNode *n) {
    n = gp_lower_unparen(n);
    if (n->kind != GpNode_Lit || GP_AS(Lit, n)->tok != GpTok_Str)
        return NULL;
    const char *text = GP_AS(Lit, n)->text->name;
    const char *open = strchr(text, '"'), *close = strrchr(text, '"');
    if (!open || close <= open)
        return text;
    return gp_arena_copy(lo->arena, open + 1, (size_t)(close - open - 1));
}

/* The message argument at `at`, else what the macro says without one. */
static const char *message(GpLower *lo, GpAstMacro *m, uint32_t at, const char *otherwise) {
    const char *text = m->args.len > at ? message_of(lo, m->args.at[at]) : NULL;
    return text ? text : otherwise;
}

typedef enum MacroKind {
    Macro_Other,
    Macro_Assert,
    Macro_AssertEq,
    Macro_AssertNe,
    Macro_Panic,
    Macro_Nothing, /* debug assertions: as rustc -O */
} MacroKind;

static MacroKind macro_kind(const char *name) {
    static const struct {
        const char *name;
        MacroKind kind;
    } rows[] = {
        {"assert", Macro_Assert},      {"debug_assert", Macro_Nothing},
        {"cuda_tile_assert", Macro_Assert}, {"gpu_assert", Macro_Assert},
        {"assert_eq", Macro_AssertEq}, {"debug_assert_eq", Macro_Nothing},
        {"assert_ne", Macro_AssertNe}, {"debug_assert_ne", Macro_Nothing},
        {"panic", Macro_Panic},        {"unreachable", Macro_Panic},
        {"todo", Macro_Panic},         {"unimplemented", Macro_Panic},
    };
    for (size_t i = 0; i < GP_COUNT(rows); i++)
        if (!strcmp(rows[i].name, name))
            return rows[i].kind;
    return Macro_Other;
}

static GpValue *compare_args(GpLower *lo, GpAstMacro *m, GpPred pred) {
    GpValue *x = gp_lower_scalar(lo, m->args.at[0]);
    GpValue *y = gp_lower_scalar(lo, m->args.at[1]);
    if (x->type == y->type && x->type->kind == GpIrType_Scalar)
        return gp_build_cmp(&lo->b, pred, x, y);
    gp_lower_refuse(lo, m->node.span, "comparing these values");
    return gp_build_int(&lo->b, GpElem_Bool, 1);
}

GpVal gp_lower_macro(GpLower *lo, GpNode *n) {
    GpAstMacro *m = GP_AS(Macro, n);
    const GpType *t = gp_lower_node_type(lo, n);
    const char *text = gp_lower_text(lo, n->span);
    MacroKind kind = macro_kind(macro_name(m));
    if (lo->is_dead)
        return gp_lower_undef(lo, t);
    switch (kind) {
    case Macro_Assert:
        if (m->args.len)
            gp_lower_assert(lo, gp_lower_scalar(lo, m->args.at[0]), n->span,
                            message(lo, m, 1, text));
        break;
    case Macro_AssertEq:
    case Macro_AssertNe:
        if (m->args.len >= 2) {
            GpValue *same = compare_args(lo, m, kind == Macro_AssertEq ? GpPred_Eq : GpPred_Ne);
            gp_lower_assert(lo, same, n->span, message(lo, m, 2, text));
        }
        break;
    case Macro_Nothing:
        break;
    case Macro_Panic:
        gp_lower_panic(lo, n->span, message(lo, m, 0, text));
        break;
    case Macro_Other:
        gp_lower_refuse(lo, n->span, "the macro `%s!`", macro_name(m));
        break;
    }
    return gp_lower_undef(lo, t);
}
