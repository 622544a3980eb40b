/* The inference variables of one function. Between unify.c and generic.c, method.c, which try
** candidates and take a try back. */
#ifndef GP_UNIFY_H
#define GP_UNIFY_H

#include "dsl/check.h"

typedef struct GpTypeVar {
    const GpType *bound; /* NULL: free */
    GpInferClass cls;
} GpTypeVar;

typedef enum GpVarKind { GpVar_Type, GpVar_Class, GpVar_Const, GpVar_Shape } GpVarKind;

/* One binding, for taking it back. Class: the variable was of class Any before. */
typedef struct GpTrail {
    GpVarKind kind;
    uint32_t var;
} GpTrail;

/* <inner as Trait>::Name == var, not decided when it was met. */
typedef struct GpProjection {
    const GpType *assoc;
    const GpType *var;
    bool is_done;
} GpProjection;

typedef struct GpUnify {
    GP_VEC(GpTypeVar) types;
    GP_VEC(const GpConst *) consts;
    GP_VEC(const GpShapeTy *) shapes;
    GP_VEC(GpTrail) trail;
    GP_VEC(GpProjection) pending;
    bool is_settling;
} GpUnify;

/* A try: variables made and bound after it go away with gp_unify_undo. */
typedef struct GpTry {
    uint32_t types, consts, shapes, trail, pending;
} GpTry;
GpTry gp_unify_try(GpCheck *c);
void gp_unify_undo(GpCheck *c, GpTry mark);

/* A variable for a projection that cannot be decided yet; later bindings decide it. */
const GpType *gp_unify_defer(GpCheck *c, const GpType *assoc);

#endif
