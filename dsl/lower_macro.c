/* Macros that stand for statements: assertions and panics. Shapes are constants to the checker. */
#include "dsl/lower.h"

void gp_lower_assert(GpLower *lo, GpValue *cond, GpSpan span, const char *message) {
    GpScalar known;
    if (gp_ir_const(cond, &known) && known.u)
        return;
    GpInst *inst = gp_build(&lo->b, GpOp_Assert, &cond, 1, NULL, 0);
    inst->site = gp_ir_add_site(lo->fn, GpCheck_Assert, 0, span, message);
}

static void lower_panic(GpLower *lo, GpSpan span, const char *message) {
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
    n = gp_node_bare(n);
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

static GpValue *compare_args(GpLower *lo, GpAstMacro *m, GpPred pred) {
    GpValue *x = gp_lower_scalar(lo, m->args.at[0]);
    GpValue *y = gp_lower_scalar(lo, m->args.at[1]);
    if (x->type == y->type && x->type->kind == GpIrType_Scalar)
        return gp_build_cmp(&lo->b, pred, x, y);
    gp_lower_refuse(lo, m->node.span, "comparing these values");
    return gp_build_int(&lo->b, GpElem_Bool, 1);
}

static void build_print(GpLower *lo, const char *text, GpValue *const *values, uint32_t count) {
    GpInst *inst = gp_build(&lo->b, GpOp_Print, values, count, NULL, 0);
    inst->text = gp_arena_copy(lo->fn->arena, text, strlen(text));
}

/* A string literal with its escapes. */
static const char *unescape(GpLower *lo, const char *text) {
    char *out = gp_arena_copy(lo->arena, text, strlen(text)), *to = out;
    for (const char *from = text; *from; from++) {
        static const char names[] = "ntr0", values[] = "\n\t\r";
        bool is_escape = from[0] == '\\' && from[1];
        if (is_escape)
            from++;
        const char *name = is_escape ? strchr(names, *from) : NULL;
        *to++ = *(name ? values + (name - names) : from);
    }
    *to = 0;
    return out;
}

static void lower_print(GpLower *lo, GpAstMacro *m, bool is_line) {
    const char *text = m->args.len ? message_of(lo, m->args.at[0]) : NULL;
    uint32_t count = m->args.len ? m->args.len - 1 : 0;
    GpValue **values = GP_NEW_ARRAY(lo->arena, GpValue *, count);
    for (uint32_t i = 0; i < count; i++) {
        GpSpot s = gp_spot_auto_deref(lo, gp_lower_place(lo, m->args.at[i + 1]), m->node.span);
        GpVal v = gp_spot_read(lo, &s, m->node.span);
        if (v.count != 1) {
            gp_lower_refuse(lo, m->args.at[i + 1]->span, "a print of this value");
            return;
        }
        values[i] = gp_lower_get(lo, &v, 0);
    }
    text = unescape(lo, text ? text : "");
    build_print(lo, is_line ? gp_arena_printf(lo->arena, "%s\n", text) : text, values, count);
}

/* A text with one form of C's printf, as a text with {}; NULL when it has another number of them. */
static const char *from_percent(GpLower *lo, const char *text) {
    char *out = GP_NEW_ARRAY(lo->arena, char, 2 * strlen(text) + 1), *to = out;
    uint32_t places = 0;
    for (const char *c = text; *c; c++) {
        if (*c == '{' || *c == '}') {
            *to++ = *c;
            *to++ = *c;
        } else if (*c != '%') {
            *to++ = *c;
        } else if (c[1] == '%') {
            *to++ = *++c;
        } else {
            c += 1 + strspn(c + 1, "-+ #0123456789.lhzjt");
            places += *c && strchr("diuoxXfFeEgGcsp", *c);
            memcpy(to, "{}", 2);
            to += 2;
            if (!*c)
                break;
        }
    }
    return places == 1 ? out : NULL;
}

GpVal gp_lower_PrintTile(GpLower *lo, const GpLowerCall *call) {
    GpNode *lit = call->node->kind == GpNode_Call ? GP_AS(Call, call->node)->args.at[0] : NULL;
    const char *text = lit ? message_of(lo, lit) : NULL;
    text = text ? from_percent(lo, unescape(lo, text)) : NULL;
    GpValue *tile = gp_call_scalar(lo, call, 1);
    if (text)
        build_print(lo, text, &tile, 1);
    else
        gp_lower_refuse(lo, call->span, "`print_tko` without a literal that has one place, `%%f`");
    return gp_lower_undef(lo, call->type);
}

GpVal gp_lower_macro(GpLower *lo, GpNode *n) {
    GpAstMacro *m = GP_AS(Macro, n);
    const GpType *t = gp_lower_node_type(lo, n);
    const char *text = gp_lower_text(lo, n->span);
    GpMacroKind kind;
    bool is_known = gp_macro_kind(macro_name(m), &kind);
    gp_assert(is_known);
    if (lo->is_dead)
        return gp_lower_undef(lo, t);
    switch (kind) {
    case GpMacro_Assert:
        gp_lower_assert(lo, gp_lower_scalar(lo, m->args.at[0]), n->span, message(lo, m, 1, text));
        break;
    case GpMacro_AssertEq:
    case GpMacro_AssertNe: {
        GpPred pred = kind == GpMacro_AssertEq ? GpPred_Eq : GpPred_Ne;
        gp_lower_assert(lo, compare_args(lo, m, pred), n->span, message(lo, m, 2, text));
        break;
    }
    case GpMacro_Print:
    case GpMacro_PrintLine:
        lower_print(lo, m, kind == GpMacro_PrintLine);
        break;
    case GpMacro_Panic:
        lower_panic(lo, n->span, message(lo, m, 0, text));
        break;
    case GpMacro_Shape: /* constants */
    case GpMacro_Array:
    case GpMacro_DebugAssert:
    case GpMacro_DebugCompare:
        break;
    }
    return gp_lower_undef(lo, t);
}
