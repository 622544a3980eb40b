/* Unification: first-order, over types, constants and shapes, with a trail so that a failed or
** tried unification leaves nothing behind. Integer and float variables only take number types of
** their class. Constants are polynomials; an equation with one unknown of degree one is solved. */
#include "dsl/unify.h"

#include "dsl/generic.h"
#include "dsl/type_table.h"

void gp_unify_begin(GpCheck *c) { c->unify = GP_NEW(c->arena, GpUnify); }

const GpType *gp_fresh_type(GpCheck *c, GpInferClass cls) {
    GP_PUSH(c->arena, &c->unify->types, ((GpTypeVar){NULL, cls}));
    return gp_ty_var(c->types, cls, c->unify->types.len - 1);
}

static const GpConst *fresh_const(GpCheck *c) {
    GP_PUSH(c->arena, &c->unify->consts, NULL);
    return gp_const_var(c->types, c->unify->consts.len - 1);
}

/* A shape of known rank is a list of unknown extents, so that S[0] of it has a meaning. */
static const GpShapeTy *fresh_shape(GpCheck *c, const GpType *const_type) {
    const GpConst *dims[GP_MAX_RANK];
    int64_t rank;
    if (gp_const_value(const_type->count, &rank) && rank >= 0 && rank <= GP_MAX_RANK) {
        for (int64_t i = 0; i < rank; i++)
            dims[i] = fresh_const(c);
        return gp_shape_list(c->types, dims, (uint8_t)rank);
    }
    GP_PUSH(c->arena, &c->unify->shapes, NULL);
    return gp_shape_var(c->types, c->unify->shapes.len - 1);
}

GpGArg gp_fresh_arg(GpCheck *c, const GpDef *generic) {
    if (generic->kind == GpDef_TypeParam)
        return (GpGArg){GpGArg_Type, {.type = gp_fresh_type(c, GpInfer_Any)}};
    if (generic->const_type->kind == GpTy_Array)
        return (GpGArg){GpGArg_Shape, {.shape = fresh_shape(c, generic->const_type)}};
    return (GpGArg){GpGArg_Const, {.value = fresh_const(c)}};
}

/* ---- tries ---------------------------------------------------------------------------------- */

GpTry gp_unify_try(GpCheck *c) {
    GpUnify *u = c->unify;
    return (GpTry){u->types.len, u->consts.len, u->shapes.len, u->trail.len, u->pending.len};
}

static void undo_one(GpUnify *u, GpTrail t) {
    switch (t.kind) {
    case GpVar_Type:
        u->types.at[t.var].bound = NULL;
        return;
    case GpVar_Class:
        u->types.at[t.var].cls = GpInfer_Any;
        return;
    case GpVar_Const:
        u->consts.at[t.var] = NULL;
        return;
    case GpVar_Shape:
        u->shapes.at[t.var] = NULL;
        return;
    }
}

static void undo_bindings(GpUnify *u, uint32_t trail) {
    while (u->trail.len > trail)
        undo_one(u, u->trail.at[--u->trail.len]);
}

void gp_unify_undo(GpCheck *c, GpTry mark) {
    GpUnify *u = c->unify;
    undo_bindings(u, mark.trail);
    u->types.len = mark.types;
    u->consts.len = mark.consts;
    u->shapes.len = mark.shapes;
    u->pending.len = mark.pending;
}

const GpType *gp_unify_defer(GpCheck *c, const GpType *assoc) {
    const GpType *var = gp_fresh_type(c, GpInfer_Any);
    GP_PUSH(c->arena, &c->unify->pending, ((GpProjection){assoc, var, false}));
    return var;
}

/* ---- replacing bound variables ------------------------------------------------------------ */

const GpType *gp_shallow(GpCheck *c, const GpType *t) {
    while (t->kind == GpTy_Infer && c->unify) {
        GpTypeVar v = c->unify->types.at[t->var];
        if (!v.bound)
            return v.cls == t->infer ? t : gp_ty_var(c->types, v.cls, t->var);
        t = v.bound;
    }
    return t;
}

static const GpConst *zonk_const(GpCheck *c, const GpConst *k);
static const GpShapeTy *zonk_shape(GpCheck *c, const GpShapeTy *sh);

static const GpType *zonk_leaf(void *ud, const GpType *t) {
    const GpType *head = gp_shallow(ud, t);
    return head->kind == GpTy_Infer || !head->has_infer ? head : gp_zonk(ud, head);
}

static const GpConst *zonk_atom(void *ud, GpAtom atom) {
    GpCheck *c = ud;
    if (atom.param || !c->unify->consts.at[atom.index])
        return gp_const_atom(c->types, atom);
    return zonk_const(c, c->unify->consts.at[atom.index]);
}

static const GpShapeTy *zonk_shape_leaf(void *ud, const GpShapeTy *sh) {
    GpCheck *c = ud;
    if (sh->kind == GpShape_Param || !c->unify->shapes.at[sh->var])
        return sh;
    return zonk_shape(c, c->unify->shapes.at[sh->var]);
}

static GpTypeMap zonk_map(GpCheck *c) {
    return (GpTypeMap){c->types, zonk_leaf, zonk_atom, zonk_shape_leaf, NULL, c};
}

static const GpConst *zonk_const(GpCheck *c, const GpConst *k) {
    GpTypeMap m = zonk_map(c);
    return gp_const_has_infer(k) ? gp_map_const(&m, k) : k;
}

static const GpShapeTy *zonk_shape(GpCheck *c, const GpShapeTy *sh) {
    GpTypeMap m = zonk_map(c);
    return gp_map_shape(&m, sh);
}

static void settle(GpCheck *c);

const GpType *gp_zonk(GpCheck *c, const GpType *t) {
    if (!t->has_infer || !c->unify)
        return t;
    settle(c);
    GpTypeMap m = zonk_map(c);
    return gp_map_type(&m, t);
}

GpGArg gp_zonk_arg(GpCheck *c, GpGArg a) {
    if (!gp_garg_has_infer(a) || !c->unify)
        return a;
    settle(c);
    GpTypeMap m = zonk_map(c);
    return gp_map_garg(&m, a);
}

/* ---- constants and shapes ------------------------------------------------------------------- */

static void bind_const(GpCheck *c, uint32_t var, const GpConst *k) {
    c->unify->consts.at[var] = k;
    GP_PUSH(c->arena, &c->unify->trail, ((GpTrail){GpVar_Const, var}));
}

static bool mentions_var(const GpConst *k, uint32_t var) {
    for (uint32_t i = 0; i < k->term_count; i++) {
        for (uint32_t n = 0; n < k->terms[i].atom_count; n++) {
            GpAtom atom = k->terms[i].atoms[n];
            if (atom.of ? mentions_var(atom.of, var) : !atom.param && (uint32_t)atom.index == var)
                return true;
        }
    }
    return k->kind == GpConst_Infer && k->var == var;
}

/* difference == 0, where exactly one variable occurs, alone in one monomial whose factor divides
** every other one. */
static bool solve_linear(GpCheck *c, const GpConst *difference) {
    const GpMonomial *unknown = NULL;
    for (uint32_t i = 0; i < difference->term_count; i++) {
        const GpMonomial *t = &difference->terms[i];
        if (t->atom_count == 1 && gp_atom_is_var(t->atoms[0]) && !unknown)
            unknown = t;
    }
    if (!unknown)
        return false;
    uint32_t var = (uint32_t)unknown->atoms[0].index;
    const GpConst *solution = gp_const_int(c->types, 0);
    for (uint32_t i = 0; i < difference->term_count; i++) {
        const GpMonomial *t = &difference->terms[i];
        if (t == unknown)
            continue;
        if (t->factor % unknown->factor != 0)
            return false;
        const GpConst *term = gp_const_int(c->types, -(t->factor / unknown->factor));
        for (uint32_t k = 0; k < t->atom_count; k++)
            term = gp_const_mul(c->types, term, gp_const_atom(c->types, t->atoms[k]));
        solution = gp_const_add(c->types, solution, term);
    }
    if (gp_const_has_infer(solution) || solution->kind == GpConst_Error)
        return false;
    bind_const(c, var, solution);
    return true;
}

static bool unify_const(GpCheck *c, const GpConst *a, const GpConst *b) {
    a = zonk_const(c, a);
    b = zonk_const(c, b);
    if (a == b || a->kind == GpConst_Error || b->kind == GpConst_Error)
        return true;
    if (a->kind == GpConst_Infer && !mentions_var(b, a->var))
        return bind_const(c, a->var, b), true;
    if (b->kind == GpConst_Infer && !mentions_var(a, b->var))
        return bind_const(c, b->var, a), true;
    if (!gp_const_has_infer(a) && !gp_const_has_infer(b))
        return false;
    const GpConst *difference = gp_const_sub(c->types, a, b);
    return difference->kind == GpConst_Poly && solve_linear(c, difference);
}

static bool shape_mentions(const GpShapeTy *sh, uint32_t var) {
    return sh->kind == GpShape_Infer && sh->var == var;
}

static void bind_shape(GpCheck *c, uint32_t var, const GpShapeTy *sh) {
    c->unify->shapes.at[var] = sh;
    GP_PUSH(c->arena, &c->unify->trail, ((GpTrail){GpVar_Shape, var}));
}

/* S of known rank against a list that still holds variables: extent by extent. */
static bool unify_param_list(GpCheck *c, const GpShapeTy *param, const GpShapeTy *list) {
    int64_t rank;
    if (!gp_const_value(param->param->const_type->count, &rank) || rank != list->rank)
        return false;
    for (uint8_t i = 0; i < list->rank; i++) {
        const GpConst *atom = gp_const_atom(c->types, (GpAtom){.param = param->param, .index = i});
        if (!unify_const(c, atom, list->dim[i]))
            return false;
    }
    return true;
}

static bool unify_shape(GpCheck *c, const GpShapeTy *a, const GpShapeTy *b) {
    a = zonk_shape(c, a);
    b = zonk_shape(c, b);
    if (a == b || a->kind == GpShape_Error || b->kind == GpShape_Error)
        return true;
    if (a->kind == GpShape_Infer && !shape_mentions(b, a->var))
        return bind_shape(c, a->var, b), true;
    if (b->kind == GpShape_Infer && !shape_mentions(a, b->var))
        return bind_shape(c, b->var, a), true;
    if (a->kind == GpShape_Param && b->kind == GpShape_List)
        return unify_param_list(c, a, b);
    if (b->kind == GpShape_Param && a->kind == GpShape_List)
        return unify_param_list(c, b, a);
    if (a->kind != GpShape_List || b->kind != GpShape_List || a->rank != b->rank)
        return false;
    for (uint8_t i = 0; i < a->rank; i++) {
        if (!unify_const(c, a->dim[i], b->dim[i]))
            return false;
    }
    return true;
}

/* ---- types ---------------------------------------------------------------------------------- */

static bool unify_type(GpCheck *c, const GpType *a, const GpType *b);

static bool class_takes(GpInferClass cls, const GpType *t) {
    switch (cls) {
    case GpInfer_Any:
        return true;
    case GpInfer_Int:
        return t->kind == GpTy_Usize || t->kind == GpTy_Isize ||
               (t->kind == GpTy_Elem && gp_elem_is_integer(t->elem));
    case GpInfer_Float:
        return t->kind == GpTy_Elem && gp_elem_is_float(t->elem);
    }
    gp_unreachable();
}

static bool occurs_in(GpCheck *c, uint32_t var, const GpType *t) {
    t = gp_shallow(c, t);
    if (t->kind == GpTy_Infer)
        return t->var == var;
    if (!t->has_infer)
        return false;
    if (t->inner && occurs_in(c, var, t->inner))
        return true;
    for (uint32_t i = 0; i < t->arg_count; i++) {
        if (t->args[i].kind == GpGArg_Type && occurs_in(c, var, t->args[i].type))
            return true;
    }
    return false;
}

static void bind_type(GpCheck *c, uint32_t var, const GpType *t) {
    c->unify->types.at[var].bound = t;
    GP_PUSH(c->arena, &c->unify->trail, ((GpTrail){GpVar_Type, var}));
}

/* Two free variables: the less determined one points to the other. */
static bool unify_vars(GpCheck *c, const GpType *a, const GpType *b) {
    if (a->infer != GpInfer_Any && b->infer != GpInfer_Any && a->infer != b->infer)
        return false;
    if (a->infer == GpInfer_Any)
        bind_type(c, a->var, b);
    else
        bind_type(c, b->var, a);
    return true;
}

static bool unify_var(GpCheck *c, const GpType *var, const GpType *t) {
    if (t->kind == GpTy_Infer)
        return unify_vars(c, var, t);
    if (!class_takes(var->infer, t) || occurs_in(c, var->var, t))
        return false;
    bind_type(c, var->var, t);
    return true;
}

static bool unify_garg(GpCheck *c, GpGArg a, GpGArg b) {
    if (a.kind != b.kind)
        return false;
    switch (a.kind) {
    case GpGArg_Type:
        return unify_type(c, a.type, b.type);
    case GpGArg_Const:
        return unify_const(c, a.value, b.value);
    case GpGArg_Shape:
        return unify_shape(c, a.shape, b.shape);
    }
    gp_unreachable();
}

static bool unify_args(GpCheck *c, const GpType *a, const GpType *b) {
    if (a->arg_count != b->arg_count)
        return false;
    for (uint32_t i = 0; i < a->arg_count; i++) {
        if (!unify_garg(c, a->args[i], b->args[i]))
            return false;
    }
    return true;
}

/* A projection that is known is compared by what it is; else by its parts. */
static bool unify_assoc(GpCheck *c, const GpType *a, const GpType *b) {
    const GpType *x = gp_normalize(c, gp_zonk(c, a));
    const GpType *y = gp_normalize(c, gp_zonk(c, b));
    if (x == y)
        return true;
    if (x->kind != GpTy_Assoc && y->kind != GpTy_Assoc)
        return unify_type(c, x, y);
    if (x->kind == GpTy_Assoc && y->kind == GpTy_Assoc)
        return x->def == y->def && unify_type(c, x->inner, y->inner) && unify_args(c, x, y);
    return false;
}

static bool unify_type(GpCheck *c, const GpType *a, const GpType *b) {
    a = gp_shallow(c, a);
    b = gp_shallow(c, b);
    if (a == b || a->kind == GpTy_Error || b->kind == GpTy_Error)
        return true;
    if (a->kind == GpTy_Infer)
        return unify_var(c, a, b);
    if (b->kind == GpTy_Infer)
        return unify_var(c, b, a);
    if (a->kind == GpTy_Assoc || b->kind == GpTy_Assoc)
        return unify_assoc(c, a, b);
    if (a->kind != b->kind)
        return false;
    switch (a->kind) {
    case GpTy_Error:
    case GpTy_Infer:
    case GpTy_Assoc:
        return true;
    case GpTy_Never:
    case GpTy_Elem:
    case GpTy_Usize:
    case GpTy_Isize:
    case GpTy_Char:
    case GpTy_Str:
    case GpTy_Param:
    case GpTy_Closure:
        return false; /* equal ones are one pointer */
    case GpTy_Tuple:
        return unify_args(c, a, b);
    case GpTy_Array:
        return unify_type(c, a->inner, b->inner) && unify_const(c, a->count, b->count);
    case GpTy_Slice:
        return unify_type(c, a->inner, b->inner);
    case GpTy_Ref:
    case GpTy_RawPtr:
        return a->is_mut == b->is_mut && unify_type(c, a->inner, b->inner);
    case GpTy_Adt:
    case GpTy_FnItem:
        return a->def == b->def && unify_args(c, a, b);
    }
    gp_unreachable();
}

/* Decides pending projections whose self type became known. */
static void settle(GpCheck *c) {
    GpUnify *u = c->unify;
    if (u->is_settling)
        return;
    u->is_settling = true;
    for (uint32_t i = 0; i < u->pending.len; i++) {
        if (u->pending.at[i].is_done)
            continue;
        const GpType *known = gp_normalize(c, gp_zonk(c, u->pending.at[i].assoc));
        if (known->kind == GpTy_Assoc && known->has_infer)
            continue;
        u->pending.at[i].is_done = true;
        (void)unify_type(c, u->pending.at[i].var, known);
    }
    u->is_settling = false;
}

bool gp_unify(GpCheck *c, const GpType *a, const GpType *b) {
    if (c->unify->pending.len)
        settle(c);
    uint32_t trail = c->unify->trail.len;
    bool ok = unify_type(c, a, b);
    if (!ok)
        undo_bindings(c->unify, trail);
    return ok;
}

bool gp_unify_arg(GpCheck *c, GpGArg a, GpGArg b) {
    uint32_t trail = c->unify->trail.len;
    bool ok = unify_garg(c, a, b);
    if (!ok)
        undo_bindings(c->unify, trail);
    return ok;
}

bool gp_unify_shape(GpCheck *c, const GpShapeTy *a, const GpShapeTy *b) {
    uint32_t trail = c->unify->trail.len;
    bool ok = unify_shape(c, a, b);
    if (!ok)
        undo_bindings(c->unify, trail);
    return ok;
}

bool gp_unify_const(GpCheck *c, const GpConst *a, const GpConst *b) {
    uint32_t trail = c->unify->trail.len;
    bool ok = unify_const(c, a, b);
    if (!ok)
        undo_bindings(c->unify, trail);
    return ok;
}

void gp_unify_defaults(GpCheck *c) {
    for (uint32_t i = 0; i < c->unify->types.len; i++) {
        GpTypeVar *v = &c->unify->types.at[i];
        if (v->bound)
            continue;
        switch (v->cls) {
        case GpInfer_Any:
            break;
        case GpInfer_Int:
            bind_type(c, i, gp_ty_elem(c->types, GpElem_I32));
            break;
        case GpInfer_Float:
            bind_type(c, i, gp_ty_elem(c->types, GpElem_F64));
            break;
        }
    }
    settle(c);
}
