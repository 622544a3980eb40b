/* Structural maps over types, and the substitution of generics as one of them. */
#include "dsl/type_table.h"

#include "dsl/def.h"

static const GpConst *map_atom(const GpTypeMap *m, GpAtom atom) {
    return atom.of ? gp_const_div(m->types, gp_map_const(m, atom.of), atom.index)
                   : m->atom(m->ud, atom);
}

static const GpConst *map_term(const GpTypeMap *m, const GpMonomial *term) {
    const GpConst *product = gp_const_int(m->types, term->factor);
    for (uint32_t i = 0; i < term->atom_count; i++)
        product = gp_const_mul(m->types, product, map_atom(m, term->atoms[i]));
    return product;
}

const GpConst *gp_map_const(const GpTypeMap *m, const GpConst *c) {
    if (c->kind == GpConst_Infer)
        return m->atom(m->ud, gp_atom_var(c->var));
    if (c->kind != GpConst_Poly)
        return c;
    /* A lone atom may become what has no polynomial: an extent known at launch. */
    if (c->term_count == 1 && c->terms[0].factor == 1 && c->terms[0].atom_count == 1)
        return map_atom(m, c->terms[0].atoms[0]);
    const GpConst *sum = gp_const_int(m->types, 0);
    for (uint32_t i = 0; i < c->term_count; i++)
        sum = gp_const_add(m->types, sum, map_term(m, &c->terms[i]));
    return sum;
}

const GpShapeTy *gp_map_shape(const GpTypeMap *m, const GpShapeTy *sh) {
    switch (sh->kind) {
    case GpShape_Error:
        return sh;
    case GpShape_Param:
    case GpShape_Infer:
        return m->shape(m->ud, sh);
    case GpShape_List:
        break;
    }
    const GpConst *dims[GP_MAX_RANK];
    for (uint8_t i = 0; i < sh->rank; i++)
        dims[i] = gp_map_const(m, sh->dim[i]);
    return gp_shape_list(m->types, dims, sh->rank);
}

GpGArg gp_map_garg(const GpTypeMap *m, GpGArg a) {
    switch (a.kind) {
    case GpGArg_Type:
        return (GpGArg){GpGArg_Type, {.type = gp_map_type(m, a.type)}};
    case GpGArg_Const:
        return (GpGArg){GpGArg_Const, {.value = gp_map_const(m, a.value)}};
    case GpGArg_Shape:
        return (GpGArg){GpGArg_Shape, {.shape = gp_map_shape(m, a.shape)}};
    }
    gp_unreachable();
}

/* The arguments of t, mapped; in the table's arena when there are many. */
static const GpGArg *map_args(const GpTypeMap *m, const GpType *t, GpGArg *few, uint32_t room) {
    GpGArg *args = t->arg_count <= room ? few : GP_NEW_ARRAY(m->types->arena, GpGArg, t->arg_count);
    for (uint32_t i = 0; i < t->arg_count; i++)
        args[i] = gp_map_garg(m, t->args[i]);
    return args;
}

static const GpType *map_tuple(const GpTypeMap *m, const GpType *t) {
    const GpType *few[8];
    const GpType **items = t->arg_count <= GP_COUNT(few)
                               ? few
                               : GP_NEW_ARRAY(m->types->arena, const GpType *, t->arg_count);
    for (uint32_t i = 0; i < t->arg_count; i++)
        items[i] = gp_map_type(m, t->args[i].type);
    return gp_ty_tuple(m->types, items, t->arg_count);
}

const GpType *gp_map_type(const GpTypeMap *m, const GpType *t) {
    GpGArg few[8];
    if (!t->has_infer && !t->has_param)
        return t;
    switch (t->kind) {
    case GpTy_Error:
    case GpTy_Never:
    case GpTy_Elem:
    case GpTy_Usize:
    case GpTy_Isize:
    case GpTy_Char:
    case GpTy_Str:
    case GpTy_Closure:
        return t;
    case GpTy_Infer:
    case GpTy_Param:
        return m->leaf(m->ud, t);
    case GpTy_Tuple:
        return map_tuple(m, t);
    case GpTy_Array:
        return gp_ty_array(m->types, gp_map_type(m, t->inner), gp_map_const(m, t->count));
    case GpTy_Slice:
        return gp_ty_slice(m->types, gp_map_type(m, t->inner));
    case GpTy_Ref:
        return gp_ty_ref(m->types, gp_map_type(m, t->inner), t->is_mut);
    case GpTy_RawPtr:
        return gp_ty_ptr(m->types, gp_map_type(m, t->inner), t->is_mut);
    case GpTy_Adt:
        return gp_ty_adt(m->types, t->def, map_args(m, t, few, GP_COUNT(few)), t->arg_count);
    case GpTy_FnItem:
        return gp_ty_fn(m->types, t->def, map_args(m, t, few, GP_COUNT(few)), t->arg_count);
    case GpTy_Assoc:
        t = gp_ty_assoc(m->types, gp_map_type(m, t->inner), t->def,
                        map_args(m, t, few, GP_COUNT(few)), t->arg_count);
        return m->assoc ? m->assoc(m->ud, t) : t;
    }
    gp_unreachable();
}

/* ---- substitution --------------------------------------------------------------------------- */

typedef struct Subst {
    GpTypes *types;
    const GpSubst *s;
} Subst;

static const GpGArg *find_arg(const GpSubst *s, const GpDef *param) {
    uint32_t at = param->generic_index;
    if (at < s->count && s->params[at] == param)
        return &s->args[at];
    for (uint32_t i = 0; i < s->count; i++) {
        if (s->params[i] == param)
            return &s->args[i];
    }
    return NULL;
}

static const GpType *subst_leaf(void *ud, const GpType *t) {
    const GpGArg *arg = t->kind == GpTy_Param ? find_arg(((Subst *)ud)->s, t->def) : NULL;
    return !arg ? t : arg->kind == GpGArg_Type ? arg->type : gp_ty_error(((Subst *)ud)->types);
}

static const GpConst *subst_atom(void *ud, GpAtom atom) {
    Subst *x = ud;
    const GpGArg *arg = atom.param ? find_arg(x->s, atom.param) : NULL;
    if (!arg)
        return gp_const_atom(x->types, atom);
    if (arg->kind == GpGArg_Const && atom.index < 0)
        return arg->value;
    if (arg->kind != GpGArg_Shape || atom.index < 0)
        return gp_const_error(x->types);
    if (arg->shape->kind == GpShape_Param)
        return gp_const_atom(x->types, (GpAtom){.param = arg->shape->param, .index = atom.index});
    if (arg->shape->kind == GpShape_List && atom.index < arg->shape->rank)
        return arg->shape->dim[atom.index];
    return gp_const_error(x->types);
}

static const GpShapeTy *subst_shape(void *ud, const GpShapeTy *sh) {
    const GpGArg *arg = sh->kind == GpShape_Param ? find_arg(((Subst *)ud)->s, sh->param) : NULL;
    return !arg                        ? sh
           : arg->kind == GpGArg_Shape ? arg->shape
                                       : gp_shape_error(((Subst *)ud)->types);
}

const GpType *gp_ty_subst(GpTypes *ts, const GpType *t, const GpSubst *s) {
    Subst x = {ts, s};
    GpTypeMap m = {ts, subst_leaf, subst_atom, subst_shape, NULL, &x};
    return t->has_param ? gp_map_type(&m, t) : t;
}

const GpConst *gp_const_subst(GpTypes *ts, const GpConst *c, const GpSubst *s) {
    Subst x = {ts, s};
    GpTypeMap m = {ts, subst_leaf, subst_atom, subst_shape, NULL, &x};
    return gp_const_has_param(c) ? gp_map_const(&m, c) : c;
}

const GpShapeTy *gp_shape_subst(GpTypes *ts, const GpShapeTy *sh, const GpSubst *s) {
    Subst x = {ts, s};
    GpTypeMap m = {ts, subst_leaf, subst_atom, subst_shape, NULL, &x};
    return gp_map_shape(&m, sh);
}

GpGArg gp_garg_subst(GpTypes *ts, GpGArg a, const GpSubst *s) {
    Subst x = {ts, s};
    GpTypeMap m = {ts, subst_leaf, subst_atom, subst_shape, NULL, &x};
    return gp_map_garg(&m, a);
}
