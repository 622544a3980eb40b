/* Inside the IR builder (lower*.c): checked tree -> kernel IR. Not for other files.
**
** Reading order: lower.c (gp_instantiate, parameters), lower_value.c (values as leaves, variables),
** lower_join.c (regions and what leaves them), lower_place.c, lower_expr.c, lower_op.c,
** lower_call.c (everything is inlined), lower_pat.c, lower_flow.c, lower_loop.c,
** lower_intrinsic*.c.
**
** A value is a row of leaves, one IR value each: a tuple is its items' leaves in order, an Option
** its flag and its payload, a slice its address and length. A variable owns a row of leaves that
** assignments replace (SSA); arrays that are indexed own memory. A reference to a variable without
** memory is an alias, known while lowering; where it is not, the variable has memory. Control flow
*merges every leaf that differs between
** the edges, so no analysis of what a body assigns is needed: loops carry all variables that may
** change and drop those that did not. */
#ifndef GP_LOWER_H
#define GP_LOWER_H

#include "dsl/check.h"

typedef struct GpVar GpVar;

/* One IR value; or the place that a reference without address means. All NULL: unspecified (the
** payload of None, a variable before its first assignment). */
typedef struct GpLeaf {
    GpValue *value;
    GpVar *alias;
    uint32_t off; /* first leaf of `alias` that is meant */
} GpLeaf;

typedef struct GpVal {
    const GpType *type; /* concrete */
    GpLeaf *at;
    uint32_t count;
} GpVal;

struct GpVar {
    const GpLocal *local; /* NULL: a temporary */
    const GpType *type;
    uint32_t base, count; /* in GpLower.leaves */
    bool is_temporary;    /* a value that is only indexed: nothing reads what is written to it */
    bool has_memory;      /* its one leaf is the address of a slot */
    uint32_t depth;       /* of the region that holds its values */
    GpLeaf *last;         /* its row when its scope ended: a reference may outlive a block */
};

/* A place or an unnamed value. */
typedef enum GpSpotKind {
    GpSpot_Value,  /* val */
    GpSpot_Var,    /* leaves of var from off */
    GpSpot_Memory, /* at address; mask false: reads give zero, writes are dropped */
    GpSpot_Slice,  /* unsized: val holds address (or alias) and length */
    GpSpot_Elem,   /* element `index` of the array at (var, off), then `sub` leaves further */
} GpSpotKind;

typedef struct GpSpot {
    GpSpotKind kind;
    const GpType *type;
    GpVal val;
    GpVar *var;
    uint32_t off;
    GpValue *address, *mask; /* mask NULL: true */
    GpValue *index;          /* u64, clamped by mask */
    uint32_t stride, extent, sub;
} GpSpot;

/* What leaves a structured instruction towards the code after it (or, in loops, back to its top).
 */
typedef struct GpEdge {
    GpInst *inst; /* yield, break or continue; operands are set when the join is finished */
    GpLeaf *state;
    GpVal val;
} GpEdge;

typedef struct GpJoin {
    const GpType *type; /* of the value that edges carry; unit for none */
    uint32_t depth;     /* of the region that goes on after it */
    uint32_t leaf_count;
    GpLeaf *entry; /* the leaves of all live variables before */
    bool was_dead;
    GP_VEC(GpEdge) edges;
} GpJoin;

/* A function (or closure) being inlined. */
typedef struct GpLowerFrame {
    struct GpLowerFrame *outer;
    const GpDef *fn;
    const GpNode *closure; /* NULL: the function itself */
    GpSubst subst;
    GpJoin *ret; /* NULL: the kernel, or a body whose only return is its tail */
    GpVal tail;  /* what that return gives; type NULL: there was none */
    GpSpan call;
} GpLowerFrame;

/* A loop or labelled block that break and continue can name. */
typedef struct GpLowerTarget {
    struct GpLowerTarget *outer;
    const GpNode *node;
    GpJoin *exit, *again; /* again NULL: a block */
} GpLowerTarget;

typedef struct GpLower {
    GpModule *module;
    GpCheck check;
    GpTypes *types;
    GpArena *arena;
    GpDiags *diags;
    GpIrFn *fn;
    GpBuilder b;
    bool is_dead; /* nothing can get here; what is built goes nowhere */
    bool has_failed;
    bool is_too_large;
    bool has_refused_tile; /* for its extents */
    const GpDef *kernel;
    const GpInstance *instance;
    GpLowerFrame *frame;
    GpLowerTarget *targets;
    uint32_t depth; /* of expressions */
    uint32_t region_depth;
    GpMap by_local; /* GpLocal -> GpVar; unique because recursion is refused */
    GpMap escaping; /* locals whose address is a value: lower_escape.c */
    GpMap joined;   /* tensors (GpValue) that are one or another: lower_join_tensor.c */
    GpMap assigned; /* locals that are assigned */
    GpMap scanned;  /* bodies that were searched for both */
    GpMap closures; /* closure node -> GpLowerFrame that made it */
    GpMap below;    /* index value -> GpValue that it is below; it is not negative */
    GpMap minted;   /* index value -> GpMint: the schedule that it is a coordinate of */
    GP_VEC(GpVar *) live;
    GP_VEC(GpLeaf) leaves;
} GpLower;

/* ---- lower.c */
/* A form that this version does not lower: G0251 naming it; one per instance. */
/* G0251, once; NULL after another. */
GP_PRINTF(3, 4) GpDiag *gp_lower_refuse(GpLower *lo, GpSpan span, const char *fmt, ...);
/* The kernel grows or nests beyond what is compiled: G0252, once. */
void gp_lower_too_large(GpLower *lo, GpSpan span);
/* The type under the current substitution, with associated types found. */
const GpType *gp_lower_type(GpLower *lo, const GpType *t);
const GpType *gp_lower_node_type(GpLower *lo, const GpNode *n); /* before its adjustments */
GpGArg *gp_lower_args(GpLower *lo, const GpGArg *args, uint32_t count);
/* The text of a span as one line, for the `what` of sites. */
const char *gp_lower_text(GpLower *lo, GpSpan span);

/* ---- lower_value.c */
/* The leaves of a partition: its tensor, the padding value, then for each axis the tile
** coordinate of its first tile, how many tiles it has, and the tensor's axis that it is. */
enum { GP_VIEW_LEAD = 2, GP_VIEW_PER_AXIS = 3 };
/* The leaves of a schedule: the ids of the tensors whose partitions it is of (twice the one, or
** two that share it), then for each axis how many tiles there are, the first, and how many. */
enum { GP_SCHEDULE_LEAD = 2, GP_SCHEDULE_PER_AXIS = 3 };
uint32_t gp_lower_leaf_count(GpLower *lo, const GpType *t);
/* Leaves before field i of a tuple or struct. */
uint32_t gp_lower_field_at(GpLower *lo, const GpType *t, uint32_t i);
const GpType *gp_lower_field_type(GpLower *lo, const GpType *t, uint32_t i);
uint32_t gp_lower_field_count(const GpType *t);
/* Leaves before the fields of an enum's variant; 1 for the first. */
uint32_t gp_lower_variant_at(GpLower *lo, const GpType *t, uint32_t variant);
const GpType *gp_lower_variant_field(GpLower *lo, const GpType *t, const GpDef *variant,
                                     uint32_t i);
/* The IR type of leaf k of a type. */
const GpIrType *gp_lower_leaf_type(GpLower *lo, const GpType *t, uint32_t k);
bool gp_lower_elem(const GpType *t, GpElem *out); /* of a scalar type */
bool gp_lower_is_view(const GpType *t); /* Tensor and partitions: a reference is the value itself */
bool gp_lower_is_partition(const GpType *t);
/* Leaves of a partition, also inside of a value, that its code is made of: 1 is the padding, 2 + i says
** which axis comes at place i. Of other leaves 0. */
uint32_t gp_lower_view_form(GpLower *lo, const GpType *t, uint32_t leaf);
/* Element and count of a scalar or an array (of arrays) of scalars: what fits in memory. */
bool gp_lower_memory(GpLower *lo, const GpType *t, GpElem *elem, uint32_t *count);
GpShape gp_lower_shape(GpLower *lo, const GpShapeTy *sh);
/* Extents of a Tile, Tensor, Partition or Shape type. */
GpShape gp_lower_adt_shape(GpLower *lo, const GpType *t);
GpElem gp_lower_adt_elem(const GpType *t);

GpVal gp_lower_undef(GpLower *lo, const GpType *t);
GpVal gp_lower_unit(GpLower *lo);
GpVal gp_lower_one(GpLower *lo, const GpType *t, GpValue *v);
/* Whether both hold; NULL stands for what always does. */
static inline GpValue *gp_lower_both(GpLower *lo, GpValue *a, GpValue *b) {
    return !a ? b : !b ? a : gp_build2(&lo->b, GpOp_And, a, b);
}
GpVal gp_lower_part(const GpVal *v, const GpType *t, uint32_t off, uint32_t count);
/* Leaf k as an IR value: a constant stands for an unspecified one. */
GpValue *gp_lower_get(GpLower *lo, const GpVal *v, uint32_t k);
GpValue *gp_lower_any(GpLower *lo, const GpIrType *t);
GpValue *gp_lower_resolve(GpValue *v); /* through forwards */
bool gp_lower_same_leaf(const GpLeaf *a, const GpLeaf *b);

GpVar *gp_lower_add_var(GpLower *lo, const GpLocal *local, const GpType *type, bool has_memory);
GpVar *gp_lower_find_var(GpLower *lo, const GpLocal *local);
/* The variable's row; valid until the next variable is added. */
GpLeaf *gp_lower_row(GpLower *lo, const GpVar *var);
typedef struct GpLowerScope {
    uint32_t live, leaves;
} GpLowerScope;
GpLowerScope gp_lower_open_scope(GpLower *lo);
void gp_lower_close_scope(GpLower *lo, GpLowerScope scope);

/* ---- lower_refute.c */
void gp_lower_refute_checks(GpLower *lo);

/* ---- lower_ask.c */
void gp_lower_ask_launch(GpLower *lo);

/* ---- lower_escape.c */
void gp_lower_find_escaping(GpLower *lo, GpNode *body);

/* ---- lower_join.c */
/* Where building goes on after a region; variables made inside end with it. */
typedef struct GpLowerPlace {
    GpRegion *region;
    GpInst *before;
    GpLowerScope scope;
} GpLowerPlace;
GpJoin *gp_join_open(GpLower *lo, const GpType *type);
/* Builds the terminator at the insertion point and keeps the state; the point is dead after. */
void gp_join_edge(GpLower *lo, GpJoin *j, GpOp op, GpVal val);
GpLowerPlace gp_lower_enter(GpLower *lo, GpRegion *region);
void gp_lower_leave(GpLower *lo, GpLowerPlace at);
void gp_lower_set_dead(GpLower *lo);
/* Builds the block of that region with one result per leaf that needs one, and goes on after it. */
GpVal gp_join_finish_block(GpLower *lo, GpJoin *j, GpRegion *region);
/* A loop under construction: carries every variable that may change. */
typedef struct GpCarriedTensor {
    uint32_t leaf;
    const GpIrType *type;
    GpValue *params[1 + 2 * GP_MAX_RANK]; /* its parts */
    GpValue *made;                        /* the tensor of them; NULL: it never changes */
} GpCarriedTensor;
typedef struct GpCarry {
    GpJoin *exit, *again;
    GpRegion *region;
    uint32_t fixed;   /* region parameters before the carried ones */
    GpValue **params; /* per leaf; NULL: not carried */
    GP_VEC(GpCarriedTensor) tensors;
    GP_VEC(uint32_t) forms; /* leaves that say how a partition is read: the same in every turn */
} GpCarry;
GpCarry *gp_carry_open(GpLower *lo, const GpType *type, const GpIrType *index);
GpVal gp_carry_finish_loop(GpLower *lo, GpCarry *c);
void gp_carry_finish_for(GpLower *lo, GpCarry *c, GpValue *lower, GpValue *upper, GpValue *step);
/* One of two values by a condition, each side lowered only where it runs. */
typedef GpVal (*GpLowerBranch)(GpLower *lo, void *ud);
GpVal gp_lower_if(GpLower *lo, GpValue *cond, const GpType *type, GpLowerBranch then,
                  GpLowerBranch otherwise, void *ud);

/* ---- lower_place.c */
GpSpot gp_spot_value(GpVal v);
GpSpot gp_spot_var(GpLower *lo, GpVar *var);
GpVal gp_spot_read(GpLower *lo, const GpSpot *s, GpSpan span);
void gp_spot_write(GpLower *lo, const GpSpot *s, GpVal v, GpSpan span);
GpVal gp_spot_borrow(GpLower *lo, const GpSpot *s, const GpType *ref, GpSpan span);
GpSpot gp_spot_deref(GpLower *lo, GpVal ref, GpSpan span);
GpSpot gp_spot_auto_deref(GpLower *lo, GpSpot s, GpSpan span); /* through every reference */
GpSpot gp_spot_part(GpLower *lo, const GpSpot *s, const GpType *type, uint32_t off, GpSpan span);
/* base[index], checked at a site unless index and length are constants that agree. */
GpSpot gp_spot_index(GpLower *lo, GpSpot base, GpValue *index, GpSpan span);
/* The element without check; mask NULL: true. */
GpSpot gp_spot_element(GpLower *lo, GpSpot base, GpValue *index, GpValue *mask, GpSpan span);
GpValue *gp_spot_len(GpLower *lo, const GpSpot *s); /* of an array or slice, u64 */
GpVal gp_spot_unsize(GpLower *lo, GpVal ref, const GpType *to, GpSpan span);
GpSpot gp_lower_place(GpLower *lo, GpNode *n); /* with its adjustments */

/* ---- lower_expr.c */
GpVal gp_lower_expr(GpLower *lo, GpNode *n);      /* with its adjustments */
GpSpot gp_lower_bare(GpLower *lo, GpNode *n);     /* without them */
GpValue *gp_lower_scalar(GpLower *lo, GpNode *n); /* the only leaf */
GpVal gp_lower_const(GpLower *lo, const GpConst *c, const GpType *t);
/* The extents that a slice `dims` gives a shape (or an array): an entry for each axis, or for each
** dynamic one; i32. False after a report. */
bool gp_lower_dims(GpLower *lo, const GpVal *dims, const GpShape *shape, GpValue **out,
                   GpSpan span);
GpVal gp_lower_shape_value(GpLower *lo, const GpType *shape);

/* ---- lower_op.c */
GpVal gp_lower_literal(GpLower *lo, GpNode *n);
GpVal gp_lower_unary(GpLower *lo, GpNode *n);
GpVal gp_lower_binary(GpLower *lo, GpNode *n);
GpVal gp_lower_assign(GpLower *lo, GpNode *n);
GpVal gp_lower_cast(GpLower *lo, GpNode *n);
GpValue *gp_lower_convert(GpLower *lo, GpValue *v, GpElem to);
GpValue *gp_lower_splat(GpLower *lo, GpValue *v, GpElem elem, const GpShape *shape);
/* The divisor, checked: zero is reported, and lanes beyond a tensor are one (lower_divide.c). */
GpValue *gp_lower_divisor(GpLower *lo, GpValue *y, GpSpan span);
GpValue *gp_lower_divide(GpLower *lo, GpOp op, GpValue *x, GpValue *y, GpSpan span);
GpValue *gp_lower_ceil_div(GpLower *lo, GpValue *x, GpValue *y);

/* ---- lower_call.c */
GpVal gp_lower_call(GpLower *lo, GpNode *n);
GpVal gp_lower_method(GpLower *lo, GpNode *n);
/* An operator that is a trait's method; rhs NULL: a unary one. */
GpVal gp_lower_overload(GpLower *lo, GpNode *n, GpNode *lhs, GpNode *rhs);
GpVal gp_lower_global(GpLower *lo, GpNode *n); /* a path that is no local */
GpVal gp_lower_return(GpLower *lo, GpNode *n);
/* Calls a closure or function value; what is called need not be set in `call`. */
typedef struct GpLowerCall GpLowerCall;
GpVal gp_lower_apply(GpLower *lo, GpVal callee, const GpLowerCall *call);
void gp_lower_bind_params(GpLower *lo, const GpNodeList *params, const GpVal *args, uint32_t count);

/* ---- lower_macro.c */
GpVal gp_lower_macro(GpLower *lo, GpNode *n);
void gp_lower_assert(GpLower *lo, GpValue *cond, GpSpan span, const char *message);

/* ---- lower_pat.c */
GpValue *gp_pat_test(GpLower *lo, GpNode *pat, GpSpot s); /* NULL: always matches */
void gp_pat_bind(GpLower *lo, GpNode *pat, GpSpot s);
/* Whether a local lives in a slot rather than in IR values. */
bool gp_lower_needs_memory(GpLower *lo, const GpLocal *local, const GpType *t);

/* ---- lower_flow.c */
GpVal gp_lower_block(GpLower *lo, GpNode *n);
GpVal gp_lower_if_expr(GpLower *lo, GpNode *n);
GpVal gp_lower_match(GpLower *lo, GpNode *n);
/* Runs `then` where the condition (a chain of bools and `let`) holds, else `otherwise`. */
GpVal gp_lower_cond(GpLower *lo, GpNode *cond, const GpType *type, GpLowerBranch then,
                    GpLowerBranch otherwise, void *ud);
GpVal gp_lower_break(GpLower *lo, GpNode *n);
GpVal gp_lower_continue(GpLower *lo, GpNode *n);

/* ---- lower_loop.c */
GpVal gp_lower_loop(GpLower *lo, GpNode *n);
GpVal gp_lower_while(GpLower *lo, GpNode *n);
GpVal gp_lower_for(GpLower *lo, GpNode *n);
/* `for index in z.iter_indices()` (lower_intrinsic_mapped.c): first, end and step of the loop over
** the schedule's tiles; and the coordinates of tile t. False after a report. */
bool gp_lower_schedule_range(GpLower *lo, const GpVal *schedule, GpSpan span, GpValue *out[3]);
GpVal gp_lower_schedule_index(GpLower *lo, const GpVal *schedule, GpValue *t, const GpType *index);

/* ---- lower_intrinsic*.c */
/* A partition of type t: all of the tensor in tiles. */
GpVal gp_lower_whole_view(GpLower *lo, const GpType *t, GpValue *tensor);
struct GpLowerCall {
    GpNode *node;
    const GpDef *def;
    const GpGArg *generics; /* concrete, one per def->generics */
    uint32_t generic_count;
    GpVal *args; /* the receiver first */
    uint32_t arg_count;
    const GpType *type; /* of the result, concrete */
    GpSpan span;
};
GpVal gp_lower_intrinsic(GpLower *lo, const GpLowerCall *call);
const char *gp_call_sister(const GpLowerCall *call); /* intrinsic_arg, else the name */
bool gp_call_is(const GpLowerCall *call, const char *sister);
bool gp_call_ends(const GpLowerCall *call, const char *tail);
/* Argument i as a place, references followed. */
GpSpot gp_call_spot(GpLower *lo, const GpLowerCall *call, uint32_t i);
GpVal gp_call_result(GpLower *lo, const GpLowerCall *call, GpValue *v);
/* Argument i, references followed. */
GpVal gp_call_arg(GpLower *lo, const GpLowerCall *call, uint32_t i);
GpValue *gp_call_scalar(GpLower *lo, const GpLowerCall *call, uint32_t i);
#define GP_INTRINSIC(id, track, doc) GpVal gp_lower_##id(GpLower *lo, const GpLowerCall *call);
#include "dsl/intrinsic.def"

#endif
