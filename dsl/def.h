/* Definitions (what a name can stand for) and the annotations that the checker leaves on the
** tree: GpRes on names, calls, fields and bindings, GpAdjust on expressions. The borrow checker
** and the IR builder read these and resolve nothing themselves. */
#ifndef GP_DEF_H
#define GP_DEF_H

#include "dsl/ir/ir.h"
#include "dsl/type.h"

typedef enum GpLang {
    GpLang_None,
#define GP_LANG(id, kind) GpLang_##id,
#include "dsl/lang.def"
} GpLang;

typedef enum GpIntrinsic {
    GpIntrinsic_None,
#define GP_INTRINSIC(id, track, doc) GpIntrinsic_##id,
#include "dsl/intrinsic.def"
} GpIntrinsic;

typedef enum GpDefKind {
    GpDef_Module, GpDef_Fn, GpDef_Struct, GpDef_Union, GpDef_Enum, GpDef_Variant, GpDef_Trait,
    GpDef_Impl, GpDef_TypeAlias, GpDef_Const, GpDef_Static, GpDef_AssocType, GpDef_TypeParam,
    GpDef_ConstParam, GpDef_Macro,
} GpDefKind;

/* dim(param, axis) of a precondition. */
typedef struct GpExtentName {
    uint32_t param, axis;
    GpSpan span;
} GpExtentName;

/* What holds of every launch: left == right, or left is a multiple of divisor. */
typedef struct GpPrecondition {
    GpExtentName left, right;
    bool is_equal;
    uint32_t divisor; /* 0: is_equal */
    GpSpan span;
} GpPrecondition;

/* Attributes of a kernel, from #[kernel], #[launch_bounds], #[launch_contract], #[tile], #[cutile::entry]. */
/* optimization_hints of one GPU, `sm_90`. */
typedef struct GpArchHint {
    uint16_t sm;
    GpSchedule schedule;
} GpArchHint;

typedef struct GpKernelAttrs {
    GpTrack track;          /* None: not a kernel */
    GpSpan span;
    uint32_t max_threads;   /* launch_bounds or the product of block; 0 none */
    uint32_t min_blocks;
    uint32_t domain;        /* launch_contract; 0 none */
    uint32_t block[3];      /* launch_contract's exact block; 0 none */
    bool unchecked;         /* unchecked_accesses, unchecked_indexing */
    GpSchedule schedule;    /* #[tile(warps = 8, ..)] */
    GpArchHint *hints;
    uint32_t hint_count;
    bool denies_checks;     /* deny_in_kernel_checks */
    GpPrecondition *preconditions;
    uint32_t precondition_count;
} GpKernelAttrs;
/* What the attributes ask for on sm_<sm>. */
GpSchedule gp_kernel_schedule(const GpKernelAttrs *kernel, uint16_t sm);

/* A variable: parameter, let binding, pattern binding. */
typedef struct GpLocal {
    GpSym name;
    GpSpan span;
    const GpType *type;
    uint32_t id;            /* dense within its function */
    bool is_mut;
    bool is_param;
    bool is_addressed;      /* a reference to it (or into it) is taken: it needs memory */
    GpNode *closure;        /* the closure that owns it, NULL: the function itself */
} GpLocal;

typedef struct GpFnSig {
    const GpType **params;  /* self included */
    uint32_t param_count;
    const GpType *ret;
    bool has_self;
    bool is_wrong; /* an error in it is told: types that its body cannot infer follow from that */
    uint32_t optional_count; /* of std: so many last parameters may be left out of a call */
} GpFnSig;

/* A call in a body; the edges of the call graph (tracks, recursion). */
typedef struct GpCallEdge {
    const GpDef *callee;
    GpSpan span;
} GpCallEdge;

/* What a bound says beyond its trait: Mul<f32, Output = T>. */
typedef struct GpBoundArgs {
    const GpGArg *args;        /* for the trait's generics after Self */
    uint32_t arg_count;
    const GpSym *assoc_names;  /* associated types that are fixed .. */
    const GpType *const *assoc_types; /* .. to these */
    uint32_t assoc_count;
} GpBoundArgs;

struct GpDef {
    GpDefKind kind;
    GpSym name;
    GpSpan span;            /* of the name */
    GpNode *node;           /* the item; NULL for synthesised ones */
    GpDef *parent;          /* module, impl, trait or enum that holds it; NULL: a crate root */
    bool is_pub, is_std;    /* is_std: declared in dsl/std */
    uint32_t id;            /* unique per module or std */

    /* Generics in scope order: the parent impl's or trait's first, then its own. */
    GpDef **generics;
    uint32_t generic_count, parent_generic_count;
    GpMap generic_names;    /* GpSym -> GpDef *, of its own */
    const GpType *const_type; /* ConstParam: i32, usize, bool or [i32; N]; Const, Static: their type */
    GpDef **bounds;         /* TypeParam: traits it implements (with bound_args) */
    const GpType **bound_types; /* per bound: NULL, or for Fn(A, B) -> C a tuple type (A, B, C) */
    const GpBoundArgs *bound_args; /* per bound */
    uint32_t bound_count;
    GpGArg preset;            /* TypeParam, ConstParam: the default */
    bool has_preset;
    uint32_t generic_index;   /* TypeParam, ConstParam: its place in `generics` */
    bool is_impl_trait;       /* TypeParam: stands for `impl Trait` in a parameter's type */
    bool has_bad_bound;       /* TypeParam: a trait of its bounds was not found */
    bool is_copy;             /* Struct, Union, Enum: derives or implements Copy */
    bool is_any_rank;         /* Trait, Impl: its [i32; N] are of every length */

    /* Module, Enum, Trait, Impl, Struct: what it holds */
    GpMap types, values, macros; /* GpSym -> GpDef * */
    GpDef **items;
    uint32_t item_count;

    /* Struct, Variant, Union: fields in order */
    GpSym *field_names;     /* NULL entries in tuple structs */
    const GpType **field_types;
    GpSpan *field_spans;
    uint32_t field_count;
    GpMap fields;           /* of named ones: GpSym -> its GpSym in field_names */
    uint32_t variant_index; /* Variant */
    int64_t discriminant;   /* Variant */

    /* Impl */
    const GpType *self_type;
    GpDef *trait;           /* NULL: inherent */
    const GpGArg *trait_args;
    uint32_t trait_arg_count;

    /* TypeAlias, AssocType in an impl */
    const GpType *alias;

    /* Fn */
    GpFnSig sig;
    bool is_unsafe, has_body;
    GpLocal **locals;       /* all variables of its body, closures included, after checking */
    uint32_t local_count;
    const GpCallEdge *calls; /* of its body, after checking: functions, then constants; of a Const too */
    uint32_t call_count;
    GpTrack track;          /* of the ops it uses; kernels: their track */
    GpKernelAttrs kernel;
    GpOp op;                /* #[op]: the IR op it is; meaningful when has_op */
    bool has_op;
    GpIntrinsic intrinsic;
    GpSym intrinsic_arg;    /* #[intrinsic(CompareTile, "lt")]: which sister; its own name when not said */

    GpLang lang;
    struct GpImports *imports; /* Module, Fn: private to resolve_use.c */
    uint8_t check_state;    /* private to the checker */
};

typedef enum GpResKind {
    GpRes_Error,
    GpRes_Local,      /* local */
    GpRes_Def,        /* def with args: fn, const, static, const generic, variant, unit struct, type */
    GpRes_Field,      /* index-th field (struct or tuple) of the base, after `derefs` dereferences */
    GpRes_Method,     /* call of def with args; the receiver carries its adjustments */
    GpRes_Call,       /* call of a closure or of a value of a Fn-bounded type */
    GpRes_Construct,  /* struct literal, tuple struct or variant call or pattern: def with args */
    GpRes_Target,     /* break, continue: the loop or block `node` */
    GpRes_Const,      /* the expression is the constant `value` (shape![..] and friends: type tells) */
    GpRes_Operator,   /* operator on built-in types: lowered by kind */
} GpResKind;

struct GpRes {
    GpResKind kind;
    GpLocal *local;
    GpDef *def;
    const GpGArg *args; /* for def->generics, all of them; may hold the enclosing fn's generics */
    uint32_t arg_count;
    uint32_t index;
    uint32_t derefs;
    GpNode *node;
    const GpConst *value;
};

typedef enum GpAdjustKind {
    GpAdjust_Deref,     /* *x of a reference */
    GpAdjust_Borrow,    /* &x */
    GpAdjust_BorrowMut, /* &mut x (two-phase when a method's receiver) */
    GpAdjust_Unsize,    /* &[T; N] to &[T] */
    GpAdjust_Splat,     /* scalar to a tile of the other operand's shape */
    GpAdjust_Never,     /* ! to any type */
} GpAdjustKind;

/* Steps in order, each with the type after it. */
struct GpAdjust {
    GpAdjustKind kind;
    const GpType *type;
    const GpAdjust *next;
};

/* The field of that name, or of that number in tuple structs and variants. */
bool gp_def_field(const GpDef *def, GpSym name, uint32_t *index);

/* The final type of an expression: after its adjustments. */
const GpType *gp_expr_type(const GpNode *expr);

/* Traits of types that later phases ask for. */
bool gp_ty_is_copy(const GpType *t);
bool gp_ty_is_lang(const GpType *t, GpLang lang); /* an Adt whose def has that lang */

#endif
