/* Between the parts of the front end: collecting and resolving names (resolve*.c), types of nodes
** and generics (generic*.c, unify.c), bodies (check*.c), moves and borrows (place.c, move.c,
** borrow*.c), IR (lower*.c). Not for other folders. */
#ifndef GP_CHECK_H
#define GP_CHECK_H

#include "dsl/module.h"

struct GpStd {
    GpSession *session;
    GpArena *arena;
    GpInterner *names;   /* shared by every module of the session: symbols compare by pointer */
    GpTypes *types;      /* shared too, so that std types are one pointer */
    GpDiags *diags;      /* errors in dsl/std are bugs */
    GpDef *cutile_core;  /* crate modules */
    GpDef *cuda_device;
    GpDef *core;         /* core and std: the listed part */
    GpDef *prelude[3];   /* by GpTrack: names in scope without `use` */
    GpDef *lang[64];     /* by GpLang */
    GpDef **impls;       /* every impl of std */
    uint32_t impl_count;
    GpMap crates;        /* GpSym -> root module: cutile, cuda_device, core, std */
    GpMap assoc_items;   /* name and type -> GpDefList *: of impls and traits; private to generic.c */
    GpMap trait_impls;   /* trait and type -> GpDefList *; private to generic.c */
    uint32_t next_def_id;
    bool is_filled;
};

struct GpModule {
    GpSession *session;
    uint32_t refs;
    GpStd *std;
    GpArena *arena;
    GpSource *source;
    GpAstFile *file;
    GpDef *root;
    GpDef **fns;         /* every function with a body, in source order */
    uint32_t fn_count;
    GpDef **kernels;
    uint32_t kernel_count;
    GpDef **consts;      /* constants and statics with a value, associated ones too */
    uint32_t const_count;
    GpDef **impls;
    uint32_t impl_count;
    GpMap assoc_items, trait_impls; /* as std's */
    uint32_t next_def_id;
    struct GpObligation *obligations; /* private to check_const.c */
};

/* The state of one definition pass. */
typedef struct GpCheck {
    GpModule *module;
    GpStd *std;
    GpArena *arena;      /* the module's (std's while std itself is read) */
    GpTypes *types;
    GpInterner *names;
    GpDiags *diags;
    struct GpUnify *unify; /* inference variables of the function being checked; NULL outside bodies */
    /* Set while a body is checked: whether a name is a local there, for E0435 in constants. */
    bool (*is_local)(void *ud, GpSym name, GpSpan span);
    void *is_local_ud;
} GpCheck;

/* ---- resolve.c: names -------------------------------------------------------------------- */

typedef enum GpNamespace { GpNs_Type, GpNs_Value, GpNs_Macro } GpNamespace;

/* Reads std once: dsl/std (embedded as gp_std_sources) plus the declarations that follow from
** op.def's surface column (surface.c). */
void gp_std_fill(GpStd *std);
/* Makes defs of every item, resolves `use`, generics, bounds, signatures, fields, impls, kernel
** attributes, tracks. Reports E0425, E0412, E0433, E0432, E0428, E0107 ... */
void gp_collect(GpCheck *c, GpAstFile *file);
/* Whether a launch on that track could pass the function's parameters, and it returns nothing. */
bool gp_sig_is_kernels(GpTypes *types, const GpDef *def, GpTrack track);
/* Looks a name up from `scope` (a module, impl or fn def) outwards: items, generics, uses, the
** track's prelude. NULL when absent. Locals are the body checker's business and come first. */
GpDef *gp_find_name(GpCheck *c, GpDef *scope, GpSym name, GpNamespace ns);
/* Resolves a path node to a def and generic arguments (fresh inference variables where they are
** left out inside bodies). Reports and returns false when it cannot. Associated paths such as
** f32::MAX, Self::X, T::ZERO, Type::method are covered. */
bool gp_resolve_path(GpCheck *c, GpDef *scope, GpNode *path, GpNamespace ns, GpRes *out);
/* The type a type node means; reports and gives GpTy_Error when it means none. */
const GpType *gp_type_of_node(GpCheck *c, GpDef *scope, GpNode *node);
/* The constant an expression node means in a const context (array length, generic argument,
** shape extent): literals, const generics, consts, + - *, S[0]. */
const GpConst *gp_const_of_node(GpCheck *c, GpDef *scope, GpNode *node);
/* Reports a const parameter in another one's type (E0770). */
const GpConst *gp_refuse_const_param(GpCheck *c, GpSpan at, const GpDef *param);
/* {[BM, -1]}, S, {[1; N]}, shape![..]'s arguments */
const GpShapeTy *gp_shape_of_node(GpCheck *c, GpDef *scope, GpNode *node);
/* What a macro that kernels may call stands for. */
typedef enum GpMacroKind {
    GpMacro_Shape,
    GpMacro_Array,
    GpMacro_Assert,
    GpMacro_AssertEq,
    GpMacro_AssertNe,
    GpMacro_DebugAssert,  /* checked, and left out as rustc -O does */
    GpMacro_DebugCompare, /* the same */
    GpMacro_Panic,
    GpMacro_Print,
    GpMacro_PrintLine
} GpMacroKind;
bool gp_macro_kind(const char *name, GpMacroKind *out);
/* G0223: the call names no macro, or one that cannot stand there. */
void gp_report_macro(GpCheck *c, GpNode *call);
/* Adds it to a report of a value, module or function that is not there; false: it is none. */
bool gp_help_foreign(GpDiag *d, GpSpan span, GpSym name);
/* The bound that makes a generic a type that implements the trait. */
void gp_suggest_bound(GpCheck *c, GpDiag *d, const GpType *self, const char *trait);
/* What may stand in a name's place. */
typedef enum GpWanted {
    GpWanted_Value,
    GpWanted_Constant, /* a value that types can name */
    GpWanted_Type,
    GpWanted_Trait,
    GpWanted_Head /* of a path: a module or type */
} GpWanted;
/* The nearest visible name by edit distance, for "did you mean"; NULL when none is near. */
GpSym gp_find_similar(GpCheck *c, GpDef *scope, GpSym name, GpWanted wanted);
/* G0207 for more threads than a block has. */
bool gp_check_threads(GpDiags *diags, const uint32_t *block, GpSpan span);
/* The track whose names a scope sees; None: those of both. */
GpTrack gp_scope_track(const GpDef *scope);
/* A name that the scope lacks and kernels of the other track see. */
GpDef *gp_find_on_other_track(GpCheck *c, GpDef *scope, GpSym name, GpNamespace ns);
/* The path of a function of that name in the modules below the scope's; NULL: there is none. */
const char *gp_find_elsewhere(GpCheck *c, GpDef *scope, GpSym name);

/* ---- unify.c: inference ------------------------------------------------------------------ */

void gp_unify_begin(GpCheck *c); /* fresh set of variables for one function */
const GpType *gp_fresh_type(GpCheck *c, GpInferClass cls);
GpGArg gp_fresh_arg(GpCheck *c, const GpDef *generic);
/* Makes a and b equal by binding variables; false (and nothing bound) when they cannot be. */
bool gp_unify(GpCheck *c, const GpType *a, const GpType *b);
bool gp_unify_arg(GpCheck *c, GpGArg a, GpGArg b);
bool gp_unify_shape(GpCheck *c, const GpShapeTy *a, const GpShapeTy *b);
bool gp_unify_const(GpCheck *c, const GpConst *a, const GpConst *b);
/* The type with every bound variable replaced (shallow: only the head). */
const GpType *gp_shallow(GpCheck *c, const GpType *t);
const GpType *gp_zonk(GpCheck *c, const GpType *t);
GpGArg gp_zonk_arg(GpCheck *c, GpGArg a);
/* Integer variables still free become i32, float ones f64. */
void gp_unify_defaults(GpCheck *c);

/* ---- generic.c: traits, impls, methods ---------------------------------------------------- */

/* Whether a type (which may be a generic with bounds) implements a trait. */
bool gp_implements(GpCheck *c, const GpType *t, const GpDef *trait);
/* The same of the trait with arguments for its generics after Self; NULL: with any. */
bool gp_implements_with(GpCheck *c, const GpType *t, const GpDef *trait, const GpGArg *wanted);
typedef struct GpMethod {
    GpDef *fn;
    GpGArg *args;           /* for fn->generics; fresh variables for its own */
    uint32_t arg_count;
    const GpAdjust *adjust; /* steps that turn the receiver into the self argument */
    GpDef *other;           /* of another trait, as good as fn; NULL: none */
} GpMethod;
/* Method lookup as rustc: by value, then autoref, then autoref mut, at each deref step. False when
** there is none: the caller reports E0599. */
bool gp_find_method(GpCheck *c, GpDef *scope, const GpType *receiver, GpSym name, GpMethod *out);
/* Field lookup through references. */
bool gp_find_field(GpCheck *c, const GpType *base, GpSym name, uint32_t *index, uint32_t *derefs,
                   const GpType **type);
/* <T as Trait<wanted>>::Assoc and T::CONST on a concrete type: the impl's item. NULL when unknown,
** or when variables in `wanted` (NULL: any) let several impls fit. */
GpDef *gp_find_assoc(GpCheck *c, const GpType *self, const GpDef *trait, const GpGArg *wanted,
                     GpSym name, GpSubst *subst);
/* The type with associated types replaced that are known: by impls, or by bounds such as
** T: Mul<Output = T>. */
const GpType *gp_normalize(GpCheck *c, const GpType *t);
/* The first generic of def whose argument does not implement one of its bounds, and which bound.
** Arguments that are still variables are taken to fit. */
bool gp_find_unmet_bound(GpCheck *c, const GpDef *def, const GpGArg *args, uint32_t count,
                         uint32_t *generic, uint32_t *bound);
/* What that bound asks of the trait's generics after Self, under args; NULL: it has none. */
const GpGArg *gp_bound_args(GpCheck *c, const GpDef *def, const GpGArg *args, uint32_t count,
                            const GpDef *generic, uint32_t bound);
/* The signature of fn with its generics replaced. */
GpFnSig gp_sig_subst(GpCheck *c, const GpDef *fn, const GpGArg *args, uint32_t count);

/* ---- check.c: bodies ---------------------------------------------------------------------- */

/* Checks one function's body: types, mutability of what is assigned (E0384, E0594, E0596),
** unsafety (E0133), tracks, exhaustiveness (E0004, E0005); annotates the tree; fills locals. */
void gp_check_fn(GpCheck *c, GpDef *fn);
void gp_check_const(GpCheck *c, GpDef *def);
/* Once all constants are checked, which it may be made of: whether its value is one. */
void gp_check_const_value(GpCheck *c, GpDef *def);
/* After every body is checked: tracks through calls (G0221) and recursion (G0250). Sets the track
** of helpers. */
void gp_check_calls(GpCheck *c);
/* G0221: what a function that belongs to the other track calls. */
GpDiag *gp_report_track(GpCheck *c, const GpDef *fn, GpSpan span, const char *callee, GpTrack track);
/* Instantiation: whether every equality of shapes that fn's body left open holds under subst (for
** fn->generics). Reports those that do not (G0153). */
bool gp_check_obligations(GpModule *m, const GpDef *fn, const GpSubst *subst, GpDiags *diags);
/* The value of an integer, char, byte or bool literal, without its sign; false when it does not
** fit 64 bits or the literal is of another kind. */
bool gp_lit_int(const GpNode *lit, uint64_t *out);
/* The value of a float or integer literal, rounded to double. */
double gp_lit_float(const GpNode *lit);

/* ---- borrow.c: moves and borrows ---------------------------------------------------------- */

/* After gp_check_fn without errors. Reports E0381, E0382, E0499, E0502, E0505, E0506, E0507, ... */
void gp_check_moves(GpCheck *c, GpDef *fn);

#endif
