/* Type nodes to types. */
#include "dsl/resolve.h"

enum { ALIAS_RUNNING = 1, ALIAS_DONE = 2 };

GpGArg gp_garg_of_param(GpCheck *c, const GpDef *g) {
    if (g->kind == GpDef_TypeParam)
        return (GpGArg){GpGArg_Type, {.type = gp_ty_param(c->types, g)}};
    if (g->const_type->kind == GpTy_Array)
        return (GpGArg){GpGArg_Shape, {.shape = gp_shape_param(c->types, g)}};
    return (GpGArg){GpGArg_Const, {.value = gp_const_atom(c->types, (GpAtom){.param = g, .index = -1})}};
}

const GpType *gp_self_type(GpCheck *c, GpDef *scope) {
    for (GpDef *at = scope; at && at->kind != GpDef_Module; at = at->parent) {
        if (at->kind == GpDef_Impl)
            return at->self_type ? at->self_type : gp_ty_error(c->types);
        if (at->kind == GpDef_Trait)
            return gp_ty_param(c->types, at->generics[0]);
        if (at->kind == GpDef_Struct || at->kind == GpDef_Enum || at->kind == GpDef_Union) {
            GpGArg *args = GP_NEW_ARRAY(c->arena, GpGArg, at->generic_count);
            for (uint32_t i = 0; i < at->generic_count; i++)
                args[i] = gp_garg_of_param(c, at->generics[i]);
            return gp_ty_adt(c->types, at, args, at->generic_count);
        }
        if (at->kind == GpDef_Fn && at->parent && at->parent->kind == GpDef_Fn)
            return NULL; /* an inner fn does not see the outer Self */
    }
    return NULL;
}

const GpType *gp_alias_type(GpCheck *c, GpDef *alias) {
    if (alias->alias)
        return alias->alias;
    if (alias->check_state == ALIAS_RUNNING) {
        gp_primary_label(gp_diag(c->diags, GpDiag_E0391, alias->span, alias->name->name),
                         "the alias stands for itself");
        return alias->alias = gp_ty_error(c->types);
    }
    alias->check_state = ALIAS_RUNNING;
    GpNode *type = GP_AS(TypeAlias, alias->node)->type;
    const GpType *t = type ? gp_type_of_node(c, alias, type) : gp_ty_error(c->types);
    alias->check_state = ALIAS_DONE;
    return alias->alias = alias->alias ? alias->alias : t;
}

static const GpType *unsupported(GpCheck *c, GpSpan span, const char *what) {
    gp_primary_label(gp_diag(c->diags, GpDiag_G0008, span, what), "not supported");
    return gp_ty_error(c->types);
}

static const GpType *path_type(GpCheck *c, GpDef *scope, GpNode *node) {
    GpTarget target;
    GpAstPath *path = GP_AS(Path, GP_AS(TypePath, node)->path);
    if (!gp_resolve_target(c, scope, path, GpNs_Type, false, &target))
        return gp_ty_error(c->types);
    if (target.type)
        return target.type;
    GpDiag *d =
        gp_diag(c->diags, target.def->kind == GpDef_Trait ? GpDiag_E0782 : GpDiag_E0573, node->span,
                gp_def_kind_name(target.def), target.def->name ? target.def->name->name : "crate");
    gp_primary_label(d, "not a type");
    return gp_ty_error(c->types);
}

static const GpType *tuple_type(GpCheck *c, GpDef *scope, GpAstTypeTuple *t) {
    const GpType **items = GP_NEW_ARRAY(c->arena, const GpType *, t->types.len);
    for (uint32_t i = 0; i < t->types.len; i++)
        items[i] = gp_type_of_node(c, scope, t->types.at[i]);
    return gp_ty_tuple(c->types, items, t->types.len);
}

static const GpType *array_type(GpCheck *c, GpDef *scope, GpAstTypeArray *t) {
    const GpType *inner = gp_type_of_node(c, scope, t->type);
    const GpConst *count = gp_const_of_node(c, scope, t->count);
    int64_t value;
    if (gp_const_value(count, &value) && value < 0) {
        GpDiag *d = gp_diag(c->diags, GpDiag_E0308, t->count->span, "mismatched types");
        gp_primary_label(d, "a length is not negative");
        count = gp_const_error(c->types);
    }
    return gp_ty_array(c->types, inner, count);
}

static const GpType *infer_type(GpCheck *c, GpNode *node) {
    if (c->unify)
        return gp_fresh_type(c, GpInfer_Any);
    gp_primary_label(gp_diag(c->diags, GpDiag_E0121, node->span), "not allowed in type signatures");
    return gp_ty_error(c->types);
}

static const GpType *read_type(GpCheck *c, GpDef *scope, GpNode *node) {
    if (node->kind == GpNode_TypePath)
        return path_type(c, scope, node);
    if (node->kind == GpNode_TypeRef) {
        GpAstTypeRef *t = GP_AS(TypeRef, node);
        return gp_ty_ref(c->types, gp_type_of_node(c, scope, t->type), t->is_mut);
    }
    if (node->kind == GpNode_TypePtr) {
        GpAstTypePtr *t = GP_AS(TypePtr, node);
        return gp_ty_ptr(c->types, gp_type_of_node(c, scope, t->type), t->is_mut);
    }
    if (node->kind == GpNode_TypeSlice)
        return gp_ty_slice(c->types, gp_type_of_node(c, scope, GP_AS(TypeSlice, node)->type));
    if (node->kind == GpNode_TypeArray)
        return array_type(c, scope, GP_AS(TypeArray, node));
    if (node->kind == GpNode_TypeTuple)
        return tuple_type(c, scope, GP_AS(TypeTuple, node));
    if (node->kind == GpNode_TypeNever)
        return gp_ty_never(c->types);
    if (node->kind == GpNode_TypeInfer)
        return infer_type(c, node);
    if (node->kind == GpNode_TypeFn)
        return unsupported(c, node->span, "function pointers");
    if (node->kind == GpNode_TypeBounds)
        return unsupported(c, node->span,
                           GP_AS(TypeBounds, node)->is_dyn ? "trait objects"
                                                           : "`impl Trait` types in this place");
    if (node->kind == GpNode_TypeMacro) {
        gp_report_macro(c, GP_AS(TypeMacro, node)->macro);
        return gp_ty_error(c->types);
    }
    gp_assert(node->kind == GpNode_Bad || gp_node_group(node->kind) == GpGroup_Expr);
    return gp_ty_error(c->types);
}

const GpType *gp_type_of_node(GpCheck *c, GpDef *scope, GpNode *node) {
    return node->type = read_type(c, scope, node);
}
