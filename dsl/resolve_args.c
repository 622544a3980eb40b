/* Generic arguments of a path segment: matched with the generics of a definition by position,
** completed by defaults, or by inference variables where a body lets them out. */
#include "dsl/resolve.h"

static bool is_shape(const GpDef *generic) {
    return generic->const_type && generic->const_type->kind == GpTy_Array;
}

GpGArg gp_garg_error(GpCheck *c, const GpDef *generic) {
    if (generic->kind == GpDef_TypeParam)
        return (GpGArg){GpGArg_Type, {.type = gp_ty_error(c->types)}};
    if (is_shape(generic))
        return (GpGArg){GpGArg_Shape, {.shape = gp_shape_error(c->types)}};
    return (GpGArg){GpGArg_Const, {.value = gp_const_error(c->types)}};
}

static bool is_positional(const GpNode *arg) {
    return arg->kind != GpNode_Lifetime && arg->kind != GpNode_Assoc;
}

static uint32_t count_given(const GpAstSegment *seg) {
    uint32_t count = 0;
    for (uint32_t i = 0; seg && i < seg->args.len; i++)
        count += is_positional(seg->args.at[i]);
    return count;
}

static bool is_type_node(const GpNode *n) { return gp_node_group(n->kind) == GpGroup_Type; }

static void report_count(GpCheck *c, GpDef *def, GpAstSegment *seg, uint32_t want, uint32_t least,
                         uint32_t given) {
    GpSpan span = {seg->node.span.src, seg->node.span.off, seg->name->len};
    const char *kind = gp_def_kind_name(def);
    uint32_t shown = given > want || least == want ? want : least;
    const char *bound = least == want ? "" : given > want ? "at most " : "at least ";
    GpDiag *d;
    if (given == 0)
        d = gp_diag(
            c->diags, GpDiag_E0107, span,
            gp_arena_printf(c->arena, "missing generics for %s `%s`", kind, def->name->name));
    else
        d = gp_diag(c->diags, GpDiag_E0107, span,
                    gp_arena_printf(
                        c->arena,
                        "%s takes %s%u generic argument%s but %u generic argument%s %s supplied",
                        kind, bound, shown, gp_plural(shown), given, gp_plural(given),
                        given == 1 ? "was" : "were"));
    gp_primary_label(d, "expected %s%u generic argument%s", bound, shown, gp_plural(shown));
    if (given < def->generic_count && is_shape(def->generics[given]))
        gp_help(d, "its shape is missing: `%s<.., {[%s, N]}>`", def->name->name,
                def->lang == GpLang_Tensor ? "-1" : "64");
    if (def->is_std)
        return;
    const char *names = "";
    for (uint32_t i = 0, n = 0; i < def->generic_count; i++) {
        if (!def->generics[i]->is_impl_trait && i >= def->generic_count - want)
            names = gp_arena_printf(c->arena, "%s%s`%s`", names, n++ ? ", " : "",
                                    def->generics[i]->name->name);
    }
    gp_note_at(d, def->span, "%s defined here, with %u generic parameter%s%s%s", kind, want,
               gp_plural(want), *names ? ": " : "", names);
}

/* `N` alone parses as a type, and so does a macro: both may be constants. */
static bool may_be_const(GpCheck *c, GpDef *scope, GpNode *node) {
    if (node->kind != GpNode_TypePath)
        return node->kind == GpNode_TypeMacro || node->kind == GpNode_TypeInfer;
    GpAstPath *path = GP_AS(Path, GP_AS(TypePath, node)->path);
    if (path->self_type || path->segments.len != 1)
        return true;
    GpSym name = GP_AS(Segment, path->segments.at[0])->name;
    return gp_find_name(c, scope, name, GpNs_Value) ||
           (!gp_find_name(c, scope, name, GpNs_Type) && !gp_find_primitive(c, name));
}

static GpGArg const_arg(GpCheck *c, const GpDef *generic, const GpConst *value, GpNode *node) {
    const GpType *t = generic->const_type;
    int64_t number;
    bool is_unsigned =
        t->kind == GpTy_Usize || (t->kind == GpTy_Elem && !gp_elem_is_signed(t->elem));
    if (is_unsigned && gp_const_value(value, &number) && number < 0) {
        GpDiag *d = gp_diag(c->diags, GpDiag_E0600, node->span, "-", gp_ty_name(c->arena, t));
        gp_primary_label(d, "`%s` is not negative", generic->name->name);
        value = gp_const_error(c->types);
    }
    return (GpGArg){GpGArg_Const, {.value = value}};
}

static GpGArg arg_of_node(GpCheck *c, GpDef *scope, const GpDef *generic, GpNode *node, bool fill) {
    bool is_hole = node->kind == GpNode_TypeInfer;
    if (is_hole && fill && c->unify)
        return gp_fresh_arg(c, generic);
    if (generic->kind == GpDef_TypeParam) {
        if (!is_type_node(node)) {
            gp_primary_label(gp_diag(c->diags, GpDiag_E0747, node->span, "constant", "type"),
                             "expected a type");
            return gp_garg_error(c, generic);
        }
        return (GpGArg){GpGArg_Type, {.type = gp_type_of_node(c, scope, node)}};
    }
    if (is_hole && c->unify)
        return gp_fresh_arg(c, generic);
    if (is_type_node(node) && !may_be_const(c, scope, node)) {
        GpDiag *d = gp_diag(c->diags, GpDiag_E0747, node->span, "type", "constant");
        gp_primary_label(d, "expected a constant");
        if (generic->const_type->kind == GpTy_Array &&
            (node->kind == GpNode_TypeSlice || node->kind == GpNode_TypeArray)) {
            const char *text = gp_arena_printf(c->arena, "{%.*s}", (int)node->span.len,
                                               node->span.src->text + node->span.off);
            gp_suggest(d, node->span, text, "a shape stands in braces: write `%s`", text);
        }
        return gp_garg_error(c, generic);
    }
    if (generic->const_type->kind == GpTy_Array)
        return (GpGArg){GpGArg_Shape, {.shape = gp_shape_of_node(c, scope, node)}};
    return const_arg(c, generic, gp_const_of_node(c, scope, node), node);
}

/* A shape of a written rank against a generic of a fixed one. */
static void check_rank(GpCheck *c, const GpDef *generic, GpGArg arg, GpSpan span) {
    int64_t rank;
    if (arg.kind != GpGArg_Shape || arg.shape->kind != GpShape_List ||
        !gp_const_value(generic->const_type->count, &rank) || rank == arg.shape->rank)
        return;
    GpDiag *d = gp_diag(c->diags, GpDiag_E0308, span, "mismatched types");
    gp_primary_label(d, "expected an array with a size of %lld, found one with a size of %u",
                     (long long)rank, arg.shape->rank);
}

static GpGArg arg_left_out(GpCheck *c, GpDef *def, const GpGArg *args, uint32_t at, bool fill) {
    GpDef *generic = def->generics[at];
    if (generic->has_preset && !(fill && def->kind == GpDef_Fn)) {
        GpSubst s = {(const GpDef *const *)def->generics, args, at};
        return gp_garg_subst(c->types, generic->preset, &s);
    }
    return fill && c->unify ? gp_fresh_arg(c, generic) : gp_garg_error(c, generic);
}

const GpGArg *gp_resolve_args(GpCheck *c, GpDef *scope, GpDef *def, GpOwnerArgs owner,
                              GpAstSegment *seg, bool fill) {
    GpGArg *args = GP_NEW_ARRAY(c->arena, GpGArg, def->generic_count + 1);
    uint32_t given = count_given(seg), want = 0, least = 0;
    for (uint32_t i = 0; i < owner.count; i++)
        args[i] = owner.at ? owner.at[i] : gp_garg_error(c, def->generics[i]);
    for (uint32_t i = owner.count; i < def->generic_count; i++) {
        want += !def->generics[i]->is_impl_trait;
        least += !def->generics[i]->is_impl_trait && !def->generics[i]->has_preset;
    }
    /* Of a built-in function the first few may be given: convert_tile::<f32>(t). */
    bool may_infer = fill && (given == 0 || (def->is_std && def->kind == GpDef_Fn));
    bool wrong = given > want || (given < least && !may_infer);
    if (wrong && seg)
        report_count(c, def, seg, want, least, given);
    uint32_t node = 0;
    for (uint32_t i = owner.count; i < def->generic_count; i++) {
        while (seg && node < seg->args.len && !is_positional(seg->args.at[node]))
            node++;
        bool has_node = !def->generics[i]->is_impl_trait && seg && node < seg->args.len;
        if (has_node && !wrong) {
            uint32_t errors = gp_diags_errors(c->diags);
            args[i] = arg_of_node(c, scope, def->generics[i], seg->args.at[node], fill);
            wrong |= gp_diags_errors(c->diags) != errors; /* a swap is one mistake, not two */
            check_rank(c, def->generics[i], args[i], seg->args.at[node]->span);
            node++;
        } else if (wrong) {
            node += has_node;
            args[i] = gp_garg_error(c, def->generics[i]);
        } else {
            args[i] = arg_left_out(c, def, args, i, fill);
        }
    }
    return args;
}
