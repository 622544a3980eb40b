/* Between generic.c, method.c, unify.c and the resolver: impls and associated items. */
#ifndef GP_GENERIC_H
#define GP_GENERIC_H

#include "dsl/check.h"

typedef struct GpDefList {
    GpDef **at;
    uint32_t len, cap;
} GpDefList;

/* Enters an impl or trait and its items into the indices of lookups. */
void gp_index_items(GpCheck *c, GpDef *owner);
/* The n-th item of that name that a value of type self can have, as far as its struct or enum
*tells;
** std's first; NULL after the last. */
GpDef *gp_index_assoc(GpCheck *c, GpSym name, const GpType *self, uint32_t n);
/* Different structs or enums, or references to them: they never unify. */
bool gp_is_apart(const GpType *a, const GpType *b);
/* The n-th impl of the trait that a value of type self can have, as far as its struct or enum and
** that of the first of `wanted` (the trait's arguments; NULL: any) tell; std's first; NULL after the
** last. */
GpDef *gp_index_impl(GpCheck *c, const GpDef *trait, const GpType *self, const GpGArg *wanted,
                     uint32_t n);

/* Fresh variables for def's generics [first, count); those before are copied from `given`. */
GpGArg *gp_fresh_args(GpCheck *c, const GpDef *def, const GpGArg *given, uint32_t first);
static inline GpSubst gp_subst_of(const GpDef *def, const GpGArg *args) {
    return (GpSubst){(const GpDef *const *)def->generics, args, def->generic_count};
}

/* Whether impl is for `self`: fills args for its generics. Bindings stay; undo when unwanted.
** Needs c->unify. */
bool gp_match_impl(GpCheck *c, const GpDef *impl, const GpType *self, GpGArg **args);
/* The same for an impl of a trait with these arguments for its generics after Self; NULL: any. */
bool gp_match_trait_impl(GpCheck *c, const GpDef *impl, const GpType *self, const GpGArg *wanted,
                         GpGArg **args);

/* Type::name for a type: inherent items, then items of traits it implements. `args` are for
** out->generics of the item's owner; the item's own are left to the caller. */
typedef struct GpAssocFound {
    GpDef *item;
    GpGArg *owner_args; /* for the first item->parent_generic_count generics */
} GpAssocFound;
bool gp_find_assoc_item(GpCheck *c, const GpType *self, GpSym name, bool want_type,
                        GpAssocFound *out);

/* Runs with a set of variables even outside of bodies: begin gives true when it made one. */
bool gp_unify_enter(GpCheck *c);
void gp_unify_leave(GpCheck *c, bool entered);

#endif
