/* Types of the kernel language, hash-consed in a module's type table: equal types are one
** pointer (inference variables excepted). GpTy_Error is compatible with everything and never
** reported. */
#ifndef GP_TYPE_H
#define GP_TYPE_H

#include "core/elem.h"
#include "dsl/ast.h"

typedef struct GpDef GpDef;     /* dsl/def.h */
typedef struct GpTypes GpTypes; /* the table */

typedef struct GpConst GpConst;

/* Compile-time integers: polynomials over const generics, normalised and hash-consed, so equal
** polynomials are one pointer. An atom is a const generic `param`, its element S[index] for a
** const array generic, or the quotient of the polynomial `of` by the number `index` above 1,
** rounded towards zero. */
typedef struct GpAtom {
    const GpDef *param;
    int32_t index; /* -1: the parameter itself */
    const GpConst *of;
} GpAtom;
typedef struct GpMonomial {
    int64_t factor;
    uint32_t atom_count;  /* with repetition: B * B has two */
    const GpAtom *atoms;  /* ordered */
} GpMonomial;
typedef enum GpConstKind {
    GpConst_Poly,    /* terms; none: 0 */
    GpConst_Dynamic, /* -1 in a shape: known at launch */
    GpConst_Infer,   /* inference variable `var` */
    GpConst_Error,
} GpConstKind;
struct GpConst {
    GpConstKind kind;
    uint32_t term_count;
    const GpMonomial *terms;
    uint32_t var;
};

typedef enum GpShapeKind { GpShape_List, GpShape_Param, GpShape_Infer, GpShape_Error } GpShapeKind;
/* The value of a const generic of type [i32; N]: a list of extents, or such a generic whole. */
typedef struct GpShapeTy {
    GpShapeKind kind;
    uint8_t rank;          /* List */
    const GpConst *dim[GP_MAX_RANK];
    const GpDef *param;    /* Param */
    uint32_t var;          /* Infer */
} GpShapeTy;

typedef enum GpGArgKind { GpGArg_Type, GpGArg_Const, GpGArg_Shape } GpGArgKind;
/* A generic argument; lifetimes are not kept. */
typedef struct GpGArg {
    GpGArgKind kind;
    union {
        const GpType *type;
        const GpConst *value;   /* i32, usize, bool (0 or 1) */
        const GpShapeTy *shape;
    };
} GpGArg;

typedef enum GpTypeKind {
    GpTy_Error,
    GpTy_Never,
    GpTy_Infer,   /* variable `var` of class `infer` */
    GpTy_Elem,    /* a number type or bool: `elem` */
    GpTy_Usize,
    GpTy_Isize,
    GpTy_Char,
    GpTy_Str,     /* str; only behind & */
    GpTy_Tuple,   /* args; none: () */
    GpTy_Array,   /* inner; count */
    GpTy_Slice,   /* inner */
    GpTy_Ref,     /* inner; is_mut */
    GpTy_RawPtr,  /* inner; is_mut */
    GpTy_Adt,     /* struct, union, enum or built-in type `def` with `args` */
    GpTy_Param,   /* a type generic `def` (Self of a trait too) */
    GpTy_FnItem,  /* the function `def` with `args` */
    GpTy_Closure, /* the closure expression `node` */
    GpTy_Assoc,   /* <inner as trait>::name, not yet known: `def` is the associated type */
} GpTypeKind;

typedef enum GpInferClass { GpInfer_Any, GpInfer_Int, GpInfer_Float } GpInferClass;

struct GpType {
    GpTypeKind kind;
    GpElem elem;
    bool is_mut;
    GpInferClass infer;
    uint32_t var;
    const GpType *inner;
    const GpConst *count;
    const GpDef *def;
    const GpNode *node;
    const GpGArg *args;
    uint32_t arg_count;
    bool has_infer; /* holds a variable somewhere */
    bool has_param; /* holds a generic somewhere */
};

GpTypes *gp_types_make(GpArena *arena);
const GpType *gp_ty_error(GpTypes *ts);
const GpType *gp_ty_never(GpTypes *ts);
const GpType *gp_ty_unit(GpTypes *ts);
const GpType *gp_ty_elem(GpTypes *ts, GpElem elem);
const GpType *gp_ty_usize(GpTypes *ts);
const GpType *gp_ty_isize(GpTypes *ts);
const GpType *gp_ty_char(GpTypes *ts);
const GpType *gp_ty_str(GpTypes *ts);
const GpType *gp_ty_tuple(GpTypes *ts, const GpType *const *items, uint32_t count);
const GpType *gp_ty_array(GpTypes *ts, const GpType *inner, const GpConst *count);
const GpType *gp_ty_slice(GpTypes *ts, const GpType *inner);
const GpType *gp_ty_ref(GpTypes *ts, const GpType *inner, bool is_mut);
const GpType *gp_ty_ptr(GpTypes *ts, const GpType *inner, bool is_mut);
const GpType *gp_ty_adt(GpTypes *ts, const GpDef *def, const GpGArg *args, uint32_t count);
const GpType *gp_ty_param(GpTypes *ts, const GpDef *def);
const GpType *gp_ty_fn(GpTypes *ts, const GpDef *def, const GpGArg *args, uint32_t count);
const GpType *gp_ty_closure(GpTypes *ts, const GpNode *node);
const GpType *gp_ty_assoc(GpTypes *ts, const GpType *self, const GpDef *assoc, const GpGArg *trait_args, uint32_t count);
const GpType *gp_ty_var(GpTypes *ts, GpInferClass cls, uint32_t var);

const GpConst *gp_const_int(GpTypes *ts, int64_t value);
const GpConst *gp_const_dynamic(GpTypes *ts);
const GpConst *gp_const_atom(GpTypes *ts, GpAtom atom);
const GpConst *gp_const_var(GpTypes *ts, uint32_t var);
const GpConst *gp_const_error(GpTypes *ts);
/* Error when an operand is no polynomial, or on overflow of int64. */
const GpConst *gp_const_add(GpTypes *ts, const GpConst *a, const GpConst *b);
const GpConst *gp_const_sub(GpTypes *ts, const GpConst *a, const GpConst *b);
const GpConst *gp_const_mul(GpTypes *ts, const GpConst *a, const GpConst *b);
/* a / by, rounded towards zero; `by` is not 0. */
const GpConst *gp_const_div(GpTypes *ts, const GpConst *a, int32_t by);
bool gp_const_value(const GpConst *c, int64_t *out); /* true when it has no atom */
const GpShapeTy *gp_shape_list(GpTypes *ts, const GpConst *const *dims, uint8_t rank);
const GpShapeTy *gp_shape_param(GpTypes *ts, const GpDef *param);
const GpShapeTy *gp_shape_var(GpTypes *ts, uint32_t var);
const GpShapeTy *gp_shape_error(GpTypes *ts);

/* Replaces generics: `params` are defs of generics, `args` what stands for them, same length. */
typedef struct GpSubst {
    const GpDef *const *params;
    const GpGArg *args;
    uint32_t count;
} GpSubst;
const GpType *gp_ty_subst(GpTypes *ts, const GpType *t, const GpSubst *s);
const GpConst *gp_const_subst(GpTypes *ts, const GpConst *c, const GpSubst *s);
const GpShapeTy *gp_shape_subst(GpTypes *ts, const GpShapeTy *sh, const GpSubst *s);
GpGArg gp_garg_subst(GpTypes *ts, GpGArg a, const GpSubst *s);

/* As rustc would print it: "&mut Tensor<f32, {[B]}>". */
void gp_ty_print(const GpType *t, GpText *out);
void gp_const_print(const GpConst *c, GpText *out);
void gp_shapety_print(const GpShapeTy *s, GpText *out);
/* The same, in the arena; for arguments of diagnostics. */
const char *gp_ty_name(GpArena *arena, const GpType *t);

#endif
