/* Inside the body checker (check*.c): the state of one function's check and the parts' entry
** points. Not for other files.
**
** Reading order: check.c (driver, locals, final pass), check_coerce.c (coercion, E0308),
** check_expr.c, check_lit.c, check_op.c, check_call.c, check_args.c, check_method.c,
** check_assign.c, check_impl.c, check_closure.c, check_stmt.c, check_flow.c, check_pat.c,
** check_match.c, check_exhaust.c, check_cast.c, check_macro.c, check_mut.c, check_const.c,
** check_lint.c.
**
** Types in flight may hold inference variables; gp_body_head gives the known head. Everything
** that can only be decided once inference is over is kept in `pending` and decided at the end.
** A node whose check failed has GpTy_Error, which agrees with everything. */
#ifndef GP_CHECK_BODY_H
#define GP_CHECK_BODY_H

#include "dsl/check.h"

typedef enum GpFrameKind {
    GpFrame_Loop,
    GpFrame_While,
    GpFrame_For,
    GpFrame_Block,
    GpFrame_Closure
} GpFrameKind;

/* What break, continue and return can leave. */
typedef struct GpFrame {
    GpFrameKind kind;
    GpNode *node;
    GpSym label;          /* NULL: none */
    const GpType *result; /* Loop, Block: the value that break gives; Closure: its return type */
    bool has_break;
    GpSpan ret_span; /* Closure: its written return type, GP_NO_SPAN without one */
    struct GpFrame *outer;
} GpFrame;

/* What is known of a local beyond what later phases need; index is GpLocal.id. */
typedef struct GpLocalInfo {
    GpNode *type_node; /* written type, NULL */
    GpNode *init;      /* the initialiser it came from, NULL */
    GpNode *pat;       /* the PatName that binds it, NULL for self */
    bool is_deferred;  /* `let x;`: its first assignment initialises it */
} GpLocalInfo;

/* Why a type is expected, for the second label of E0308. */
typedef struct GpReason {
    GpSpan span; /* GP_NO_SPAN: no label */
    const char *label;
    const GpDef *fn; /* arguments: the function, noted as `defined here` */
} GpReason;

typedef enum GpPendingKind {
    GpPending_Binary, /* operands not known yet */
    GpPending_Cast,
    GpPending_Bound,   /* the arguments of `res` must meet its def's bounds */
    GpPending_Impl,    /* several impls fit the call `res` so far */
    GpPending_Range,   /* `type` must be an integer */
    GpPending_Diverge, /* a variable that only `!` flowed into */
} GpPendingKind;

typedef struct GpPending {
    GpPendingKind kind;
    bool is_done;
    GpNode *node;
    const GpType *type;
    const GpRes *res;
} GpPending;

typedef struct GpUnsafe {
    GpNode *node;
    bool is_used;
    struct GpUnsafe *outer;
} GpUnsafe;

typedef struct GpClosureSig {
    const GpType **params;
    uint32_t count;
    const GpType *ret;
} GpClosureSig;

/* The operands of the call being checked. */
typedef struct GpArgs {
    GpNodeList args;
    GpNode *receiver; /* NULL: none */
} GpArgs;

typedef struct GpBody {
    GpCheck *c;
    GpDef *fn; /* the function or constant being checked */
    GP_VEC(GpLocal *) locals;
    GP_VEC(GpLocalInfo) infos;
    GP_VEC(GpLocal *) visible; /* innermost last */
    GpMap places;              /* GpSym -> where in `visible`; private to check.c */
    GP_VEC(GpPending) pending;
    GP_VEC(GpCallEdge) calls;
    GpMap closures; /* closure node -> GpClosureSig */
    const GpType *ret;
    GpSpan ret_span; /* of the written return type, GP_NO_SPAN without one */
    GpFrame *frame;
    GpUnsafe *unsafe_block;
    GpNode *closure; /* innermost closure being checked */
    GpArgs alike; /* for helps that name an operand with a shape */
    GpSpan diverged_at;
    bool diverges; /* what follows cannot be reached */
    bool is_const; /* a constant's value: no locals, no calls of non-const things */
    bool has_reported_infer;
    uint32_t errors_before; /* of the module */
} GpBody;

/* ---- check.c */
GpLocal *gp_body_add_local(GpBody *b, GpSym name, GpSpan span, const GpType *type, bool is_mut);
/* The local that a name at `span` means: the innermost one of that name that was written by the
** same expansion of a macro, or in the text like it. */
GpLocal *gp_body_find_local(const GpBody *b, GpSym name, GpSpan span);
/* A macro is defined here: what it writes may name the locals that are visible now. */
void gp_body_mark_macro(GpBody *b, GpNode *rules);
GpRes *gp_body_set_res(GpBody *b, GpNode *n, GpResKind kind);
void gp_body_pend(GpBody *b, GpPending p);
const GpType *gp_body_head(GpBody *b, const GpType *t);  /* shallow */
const GpType *gp_body_known(GpBody *b, const GpType *t); /* the same, after trying what waits */
const char *gp_body_name(GpBody *b, const GpType *t);    /* zonked, for messages */
const GpType *gp_body_error(GpBody *b);
const GpType *gp_body_unit(GpBody *b);
const GpType *gp_body_bool(GpBody *b);
bool gp_body_is(GpBody *b, const GpType *t, GpTypeKind kind);
GpDiag *gp_body_unsupported(GpBody *b, GpSpan span, const char *fmt, ...) GP_PRINTF(3, 4);
const char *gp_body_text(GpBody *b, GpSpan span); /* the source text of a span, one line */

/* ---- check_coerce.c */
#define GP_NO_REASON ((GpReason){GP_NO_SPAN, NULL, NULL})
void gp_body_adjust(GpBody *b, GpNode *n, GpAdjustKind kind, const GpType *type);
/* Checks n against the expected type with Rust's coercions; E0308 when it does not fit. */
const GpType *gp_body_expect(GpBody *b, GpNode *n, const GpType *want, GpReason why);
bool gp_body_coerce(GpBody *b, GpNode *n, const GpType *want, GpReason why);
bool gp_body_can_coerce(GpBody *b, GpNode *n, const GpType *want);
/* Equal types, where an equality of shapes that only an instance can decide is an obligation. */
bool gp_body_unify(GpBody *b, const GpType *a, const GpType *t, GpSpan span);
GpDiag *gp_body_mismatch(GpBody *b, GpSpan span, const GpType *want, const GpType *got,
                         GpReason why);
/* `as` for two number types that are known. */
void gp_body_help_cast(GpBody *b, GpDiag *d, GpSpan span, const GpType *want, const GpType *got);
/* `sum(t)`, where there is a reduction of that name. */
void gp_body_help_reduction(GpBody *b, GpDiag *d, GpSym name);
/* A call of that function on tiles with these arguments, numbers spread; NULL where `tile` is no variable. */
const char *gp_body_tile_call(GpBody *b, const char *name, const GpNode *tile, GpNodeList args);
/* `i32` in backticks, or integer, floating-point number, closure .. */
const char *gp_body_describe(GpBody *b, const GpType *t);

/* ---- check_expr.c */
/* Types an expression; `hint` (may be NULL) only guides inference. */
const GpType *gp_body_expr(GpBody *b, GpNode *n, const GpType *hint);
/* Resolves a path expression that is no local; false after an error. */
bool gp_body_resolve(GpBody *b, GpNode *n, const char *what, GpRes *out);
const GpType *gp_body_field_type(GpBody *b, const GpDef *owner, const GpGArg *args, uint32_t count,
                                 uint32_t i);
const GpType *gp_body_adt_of(GpBody *b, const GpRes *res); /* of a struct or variant with args */
void gp_body_need_unsafe(GpBody *b, GpSpan span, const char *what, const char *label);

/* ---- check_adt.c */
const GpType *gp_check_tuple(GpBody *b, GpNode *n, const GpType *hint);
const GpType *gp_check_array(GpBody *b, GpNode *n, const GpType *hint);
const GpType *gp_check_repeat(GpBody *b, GpNode *n, const GpType *hint);
const GpType *gp_check_struct_lit(GpBody *b, GpNode *n, const GpType *hint);
/* E0451 when the field is private where the body stands. */
void gp_body_check_field_use(GpBody *b, const GpDef *def, uint32_t field, GpSpan at);
const char *gp_body_owner_kind(const GpDef *def); /* "struct", "variant", "union" */
/* The fields that are not in `seen`, as a list for messages; *count is how many. */
const char *gp_body_missing_fields(GpBody *b, const GpDef *def, const bool *seen, uint32_t *count);

/* ---- check_lit.c */
const GpType *gp_check_lit(GpBody *b, GpNode *n, const GpType *hint);
void gp_check_lit_range(GpBody *b, GpNode *n, bool is_negative);

/* ---- check_op.c */
const GpType *gp_check_unary(GpBody *b, GpNode *n, const GpType *hint);
const GpType *gp_check_binary(GpBody *b, GpNode *n, const GpType *hint);
void gp_check_op_assign(GpBody *b, GpNode *n); /* += and the like */
/* Of the operator between two operands; `whole` where no text has it. */
GpSpan gp_operator_span(const GpNode *lhs, const GpNode *rhs, GpTok tok, GpSpan whole);
bool gp_body_retry_binary(GpBody *b, GpPending *p, bool is_last);
bool gp_body_is_number(const GpType *t); /* integer or float, variables of those classes too */
bool gp_body_is_int(const GpType *t);
bool gp_body_is_float(const GpType *t);

/* ---- check_assign.c */
const GpType *gp_check_assign(GpBody *b, GpNode *n, const GpType *hint);

/* ---- check_call.c */
const GpType *gp_check_call(GpBody *b, GpNode *n, const GpType *hint);
/* At the end of the body the arguments in res must meet the bounds of its def. */
void gp_body_pend_bounds(GpBody *b, const GpRes *res, GpNode *n);
void gp_body_use_fn(GpBody *b, const GpDef *def, GpSpan span);
/* A variant of named fields that stands for a value (E0533). */
const GpType *gp_body_report_fields(GpBody *b, const GpDef *variant, GpSpan span);
/* E0603 when a field is private here. */
void gp_body_check_constructor(GpBody *b, const GpDef *def, GpSpan span);

/* ---- check_args.c */
/* A callable of another number of parameters than its bound has (E0593). */
GpDiag *gp_body_wrong_count(GpBody *b, GpSpan span, const char *what, uint32_t want, uint32_t has);

/* ---- check_method.c */
const GpType *gp_check_method(GpBody *b, GpNode *n, const GpType *hint);

/* ---- check_impl.c */
typedef enum GpSelection { GpSelection_None, GpSelection_One, GpSelection_Several } GpSelection;
/* Binds the trait's generics in res->args when one impl fits; One too where nothing is to select.
 */
GpSelection gp_body_select_impl(GpBody *b, const GpRes *res);
/* The same; waits when several fit, reports when none does. */
void gp_body_need_impl(GpBody *b, const GpRes *res, GpNode *n);
/* At the end of a body: E0277, E0283. */
void gp_body_finish_impl(GpBody *b, const GpRes *res, GpNode *n);
/* The bounds of the generics of what `res` names: E0277, E0271. */
void gp_body_finish_bound(GpBody *b, const GpRes *res, GpNode *n);

/* ---- check_closure.c */
const GpType *gp_check_closure(GpBody *b, GpNode *n, const GpType *hint);
/* want: parameter types, then the return type; NULL entries are unknown */
const GpType *gp_body_closure(GpBody *b, GpNode *n, const GpType *const *want, uint32_t count,
                              const GpType *ret);

/* ---- check_stmt.c */
const GpType *gp_check_block(GpBody *b, GpNode *n, const GpType *hint);
const GpType *gp_body_block_expect(GpBody *b, GpNode *n, const GpType *want, GpReason why);

/* ---- check_flow.c */
const GpType *gp_check_if(GpBody *b, GpNode *n, const GpType *hint);
const GpType *gp_check_while(GpBody *b, GpNode *n, const GpType *hint);
const GpType *gp_check_loop(GpBody *b, GpNode *n, const GpType *hint);
const GpType *gp_check_for(GpBody *b, GpNode *n, const GpType *hint);
const GpType *gp_check_break(GpBody *b, GpNode *n, const GpType *hint);
const GpType *gp_check_continue(GpBody *b, GpNode *n, const GpType *hint);
const GpType *gp_check_return(GpBody *b, GpNode *n, const GpType *hint);
const GpType *gp_check_range(GpBody *b, GpNode *n, const GpType *hint);
const GpType *gp_body_if_expect(GpBody *b, GpNode *n, const GpType *want, GpReason why);
/* A condition: && chains of bools and `let p = e`; its bindings stay visible. */
void gp_body_cond(GpBody *b, GpNode *n);
void gp_body_diverge(GpBody *b, GpNode *n);

/* ---- check_pat.c */
/* Checks a pattern against the type of the value and makes its bindings visible; false after a
** report. */
bool gp_body_pat(GpBody *b, GpNode *pat, const GpType *type, GpNode *type_node, GpNode *init);

/* ---- check_match.c */
const GpType *gp_check_match(GpBody *b, GpNode *n, const GpType *hint);
const GpType *gp_body_match_expect(GpBody *b, GpNode *n, const GpType *want, GpReason why);

/* ---- check_exhaust.c */
void gp_body_exhaustive(GpBody *b, GpAstMatch *m, const GpType *type); /* E0004 */
/* E0005 when a pattern of `let`, `for` or a parameter may fail. */
void gp_body_irrefutable(GpBody *b, GpNode *pat, const GpType *type, const char *where);

/* ---- check_cast.c */
const GpType *gp_check_cast(GpBody *b, GpNode *n, const GpType *hint);
void gp_body_finish_cast(GpBody *b, GpNode *n);

/* ---- check_macro.c */
const GpType *gp_check_macro(GpBody *b, GpNode *n, const GpType *hint);

/* ---- check_mut.c */
bool gp_body_is_place(GpBody *b, GpNode *n);
/* `span` is the assignment, `op` its operator. */
void gp_body_check_assignable(GpBody *b, GpNode *place, GpSpan span, GpSpan op, bool is_compound);
void gp_body_check_borrow_mut(GpBody *b, GpNode *place, GpSpan span);
/* The same for a borrow of what `receiver`, of type `from`, refers to after `derefs` steps. */
void gp_body_check_reborrow_mut(GpBody *b, GpNode *receiver, const GpType *from, uint32_t derefs);
void gp_body_mark_addressed(GpBody *b, GpNode *place);

/* ---- check_const.c */
/* `s` with axes of extent 1 put in where it lacks those of `to`, both lists; NULL where that is not one certain
** shape. */
const GpShapeTy *gp_body_spread_axes(GpBody *b, const GpShapeTy *s, const GpShapeTy *to);
const char *gp_body_shape_macro(GpBody *b, const GpShapeTy *s); /* "shape![1, N]" */
/* Whether the shapes are equal for some instances only; then keeps the obligations. */
bool gp_body_oblige_const(GpBody *b, const GpConst *lhs, const GpConst *rhs, GpSpan span);
bool gp_body_oblige_shape(GpBody *b, const GpShapeTy *lhs, const GpShapeTy *rhs, GpSpan span);
/* Extents one by one. A GpShapeTy cannot hold them: the list of all elements of a shape generic is
** that generic again. */
typedef struct GpDims {
    uint8_t rank;
    const GpConst *dim[GP_MAX_RANK];
} GpDims;
/* False for a generic whose rank is not known, and for no shape. */
bool gp_body_expand_shape(GpBody *b, const GpShapeTy *s, GpDims *out);
/* Of a tile or other type with a shape, as far as it is known. */
bool gp_body_dims(GpBody *b, const GpType *t, GpDims *out);
/* Numbers of elements of reshape, axes of broadcast. */
void gp_body_check_shapes(GpBody *b, const GpDef *fn, const GpType *from, const GpType *to,
                          GpSpan span);

/* ---- check_lint.c */
/* G0230, G0231, in constants E0080: the operation fails whatever the run is. Types are settled. */
void gp_check_failing(GpBody *b, GpNode *n);

/* ---- check_tile.c */
/* What the shape of the result follows from: literal axes, permutations, joined tiles. `receiver`
** is NULL for functions. */
void gp_body_check_tile_call(GpBody *b, const GpDef *fn, GpNode *receiver, const GpNodeList *args,
                             const GpType *ret, GpSpan span);

#endif
