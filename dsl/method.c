/* Method and field lookup. At every step of dereferencing the receiver, by value first, then
** borrowed, then borrowed mutably; inherent methods before those of traits (the Rust reference,
** "Method-call expressions"). An array is a slice at last. */
#include "dsl/generic.h"

#include "dsl/unify.h"

enum { MAX_DEREFS = 8 };

/* A receiver after some steps. */
typedef struct Step {
    GpAdjustKind kinds[MAX_DEREFS + 2];
    const GpType *types[MAX_DEREFS + 2];
    uint32_t count;
    const GpType *type;
} Step;

typedef enum Mode { Mode_Value, Mode_Ref, Mode_RefMut, Mode_count } Mode;

static const GpAdjust *make_adjust(GpCheck *c, const Step *s) {
    const GpAdjust *next = NULL;
    for (uint32_t i = s->count; i > 0; i--) {
        GpAdjust *a = GP_NEW(c->arena, GpAdjust);
        *a = (GpAdjust){s->kinds[i - 1], s->types[i - 1], next};
        next = a;
    }
    return next;
}

static void add_step(Step *s, GpAdjustKind kind, const GpType *type) {
    gp_assert(s->count < GP_COUNT(s->kinds));
    s->kinds[s->count] = kind;
    s->types[s->count++] = type;
    s->type = type;
}

static bool is_method(const GpDef *item, bool of_trait) {
    bool is_trait = item->parent->kind == GpDef_Trait;
    return item->kind == GpDef_Fn && item->sig.has_self &&
           (of_trait ? is_trait : !is_trait && !item->parent->trait);
}

/* Whether fn takes a receiver of the type as its self; keeps the bindings when it does. */
static bool try_method(GpCheck *c, GpDef *fn, const GpType *type, GpMethod *out) {
    GpTry mark = gp_unify_try(c);
    GpGArg *args = gp_fresh_args(c, fn, NULL, 0);
    GpSubst s = gp_subst_of(fn, args);
    const GpType *self = gp_ty_subst(c->types, fn->sig.params[0], &s);
    uint32_t generic, bound;
    bool fits = gp_unify(c, self, type);
    if (fits && fn->parent->kind == GpDef_Trait)
        fits = gp_implements(c, gp_zonk(c, args[0].type), fn->parent);
    else if (fits)
        fits = !gp_find_unmet_bound(c, fn, args, fn->parent_generic_count, &generic, &bound);
    if (!fits) {
        gp_unify_undo(c, mark);
        return false;
    }
    out->fn = fn;
    out->args = args;
    out->arg_count = fn->generic_count;
    return true;
}

static bool is_trait_in_scope(GpCheck *c, GpDef *scope, const GpDef *item) {
    const GpDef *trait = item->parent;
    return gp_find_name(c, scope, trait->name, GpNs_Type) == trait;
}

/* A method of another trait that fits as well, of the traits that can be named here. */
static GpDef *find_other(GpCheck *c, GpDef *scope, const GpType *type, GpSym name, uint32_t n,
                         const GpDef *found) {
    GpMethod other;
    for (GpDef *item; (item = gp_index_assoc(c, name, type, n)); n++) {
        if (!is_method(item, true) || item->parent == found->parent ||
            !is_trait_in_scope(c, scope, item) || !is_trait_in_scope(c, scope, found))
            continue;
        GpTry mark = gp_unify_try(c);
        bool fits = try_method(c, item, type, &other);
        gp_unify_undo(c, mark);
        if (fits)
            return item;
    }
    return NULL;
}

static bool try_all(GpCheck *c, GpDef *scope, const GpType *type, GpSym name, GpMethod *out) {
    for (int of_trait = 0; of_trait < 2; of_trait++) {
        for (uint32_t n = 0;; n++) {
            GpDef *item = gp_index_assoc(c, name, type, n);
            if (!item)
                break;
            if (!is_method(item, of_trait) || !try_method(c, item, type, out))
                continue;
            out->other = of_trait ? find_other(c, scope, type, name, n + 1, item) : NULL;
            return true;
        }
    }
    return false;
}

/* By value, borrowed, borrowed mutably. */
static bool try_step(GpCheck *c, GpDef *scope, const Step *step, GpSym name, GpMethod *out) {
    for (Mode mode = Mode_Value; mode < Mode_count; mode++) {
        Step s = *step;
        if (mode == Mode_Ref)
            add_step(&s, GpAdjust_Borrow, gp_ty_ref(c->types, step->type, false));
        else if (mode == Mode_RefMut)
            add_step(&s, GpAdjust_BorrowMut, gp_ty_ref(c->types, step->type, true));
        if (try_all(c, scope, s.type, name, out)) {
            out->adjust = make_adjust(c, &s);
            return true;
        }
    }
    return false;
}

/* The array as a slice: a borrow, then unsized. */
static bool try_unsized(GpCheck *c, GpDef *scope, const Step *step, GpSym name, GpMethod *out) {
    const GpType *slice = gp_ty_slice(c->types, step->type->inner);
    for (int is_mut = 0; is_mut < 2; is_mut++) {
        Step s = *step;
        add_step(&s, is_mut ? GpAdjust_BorrowMut : GpAdjust_Borrow,
                 gp_ty_ref(c->types, step->type, is_mut));
        add_step(&s, GpAdjust_Unsize, gp_ty_ref(c->types, slice, is_mut));
        if (try_all(c, scope, s.type, name, out)) {
            out->adjust = make_adjust(c, &s);
            return true;
        }
    }
    return false;
}

bool gp_find_method(GpCheck *c, GpDef *scope, const GpType *receiver, GpSym name, GpMethod *out) {
    Step step = {.type = gp_shallow(c, receiver)};
    /* Traits count as imported wherever they are declared. */
    for (uint32_t derefs = 0; derefs < MAX_DEREFS; derefs++) {
        if (step.type->kind == GpTy_Error ||
            (step.type->kind == GpTy_Infer && step.type->infer == GpInfer_Any))
            return false;
        if (try_step(c, scope, &step, name, out))
            return true;
        if (step.type->kind != GpTy_Ref)
            break;
        add_step(&step, GpAdjust_Deref, gp_shallow(c, step.type->inner));
    }
    return step.type->kind == GpTy_Array && try_unsized(c, scope, &step, name, out);
}

/* ---- fields -----------------------------------------------------------------------------------
 */

static bool tuple_index(GpSym name, uint32_t count, uint32_t *out) {
    uint32_t value = 0;
    for (uint32_t i = 0; i < name->len; i++) {
        if (name->name[i] < '0' || name->name[i] > '9' || value > 1000)
            return false;
        value = value * 10 + (uint32_t)(name->name[i] - '0');
    }
    *out = value;
    return value < count;
}

bool gp_def_field(const GpDef *def, GpSym name, uint32_t *index) {
    if (!def->field_count || !def->field_names)
        return false;
    if (!def->field_names[0])
        return tuple_index(name, def->field_count, index);
    const GpSym *at = gp_map_get(&def->fields, name);
    if (at)
        *index = (uint32_t)(at - def->field_names);
    return at != NULL;
}

static bool field_of(GpCheck *c, const GpType *t, GpSym name, uint32_t *index,
                     const GpType **type) {
    if (t->kind == GpTy_Tuple && tuple_index(name, t->arg_count, index)) {
        *type = t->args[*index].type;
        return true;
    }
    if (t->kind != GpTy_Adt || (t->def->kind != GpDef_Struct && t->def->kind != GpDef_Union))
        return false;
    if (!gp_def_field(t->def, name, index))
        return false;
    GpSubst s = {(const GpDef *const *)t->def->generics, t->args, t->arg_count};
    *type = gp_normalize(c, gp_ty_subst(c->types, t->def->field_types[*index], &s));
    return true;
}

bool gp_find_field(GpCheck *c, const GpType *base, GpSym name, uint32_t *index, uint32_t *derefs,
                   const GpType **type) {
    const GpType *t = gp_shallow(c, base);
    for (*derefs = 0; *derefs < MAX_DEREFS; ++*derefs) {
        if (field_of(c, t, name, index, type))
            return true;
        if (t->kind != GpTy_Ref)
            return false;
        t = gp_shallow(c, t->inner);
    }
    return false;
}
