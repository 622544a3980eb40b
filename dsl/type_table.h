/* Between type.c, poly.c, type_subst.c and unify.c: the table itself and structural maps over
** types. Not for other files. */
#ifndef GP_TYPE_TABLE_H
#define GP_TYPE_TABLE_H

#include "dsl/type.h"

/* A set of structurally different items. Lookups compare by hash, then by `same`. */
typedef struct GpPool {
    struct GpPoolSlot {
        const void *item; /* NULL: empty */
        uint32_t hash;
    } * slots;
    uint32_t count, cap;
} GpPool;

/* Items hold addresses of defs and never read through them, so an entry may outlive the module
** that made it: whoever meets the same address again meets an equal type. */
struct GpTypes {
    GpArena *arena;
    GpPool types, consts, shapes;
};

/* The item of the pool that is `same` as key, or `copy` of the key, added. */
const void *gp_pool_intern(GpTypes *ts, GpPool *pool, uint32_t hash, const void *key,
                           bool (*same)(const void *a, const void *b),
                           const void *(*copy)(GpTypes *ts, const void *key));

/* An inference variable inside a polynomial is an atom without a parameter: its index is the
** variable. A polynomial that is just such an atom is GpConst_Infer instead. */
static inline GpAtom gp_atom_var(uint32_t var) { return (GpAtom){NULL, (int32_t)var, NULL}; }
static inline bool gp_atom_is_var(GpAtom a) { return !a.param && !a.of; }
bool gp_const_has_infer(const GpConst *c);
bool gp_const_has_param(const GpConst *c);

/* A structural map: what the leaves become. A hook may return its argument. */
typedef struct GpTypeMap {
    GpTypes *types;
    const GpType *(*leaf)(void *ud, const GpType *t);         /* GpTy_Param and GpTy_Infer */
    const GpConst *(*atom)(void *ud, GpAtom atom);            /* variables too */
    const GpShapeTy *(*shape)(void *ud, const GpShapeTy *sh); /* GpShape_Param and _Infer */
    const GpType *(*assoc)(void *ud,
                           const GpType *t); /* GpTy_Assoc, its parts mapped; NULL: kept */
    void *ud;
} GpTypeMap;
const GpType *gp_map_type(const GpTypeMap *m, const GpType *t);
const GpConst *gp_map_const(const GpTypeMap *m, const GpConst *c);
const GpShapeTy *gp_map_shape(const GpTypeMap *m, const GpShapeTy *sh);
GpGArg gp_map_garg(const GpTypeMap *m, GpGArg a);
bool gp_garg_has_infer(GpGArg a);

#endif
