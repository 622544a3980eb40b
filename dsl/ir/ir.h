/* The kernel IR: SSA with structured control flow.
**
** A function is a region; a region is a list of instructions that ends in a terminator (yield,
** break, continue, return). Loops and conditionals hold regions and stay structured until the
** backend, because pipelining, warp specialisation and splitting at barriers are transforms of
** regions. Values are scalars, tiles, tensors and addresses. Everything is concrete: generics
** are replaced while the IR is built from the checked tree (dsl/lower*.c).
**
** A function is of one track, tile or SIMT, and holds operations of that track alone: the verifier
** enforces it. There is no lower level: what layouts, rings and roles a tile function gets on a
** GPU is decided beside it (codegen/).
** All of it lives in one arena per function (GpIrFn.arena). */
#ifndef GP_IR_H
#define GP_IR_H

#include "core/arena.h"
#include "core/diag.h"
#include "core/elem.h"
#include "core/image.h"
#include "core/schedule.h"

typedef enum GpTrack { GpTrack_None, GpTrack_Tile, GpTrack_Simt } GpTrack; /* None: helpers' */

/* Sets of tracks. */
enum { GP_T = 1 << GpTrack_Tile, GP_S = 1 << GpTrack_Simt, GP_ANY = GP_T | GP_S };
enum { GP_COMM = 1, GP_ASSOC = 2, GP_IDEM = 4 };

typedef enum GpOp {
#define GP_OP(id, spelling, tracks, sig, effects, algebra, lowering, surface, sm, ptx, doc) GpOp_##id,
#include "dsl/ir/op.def"
    GpOp_count
} GpOp;

/* Operand and result rules; dsl/ir/sig.def says what each means. */
typedef enum GpSig {
#define GP_SIG(id, attrs, regions, elementwise, elems, doc) GpSig_##id,
#include "dsl/ir/sig.def"
    GpSig_count
} GpSig;

/* What an instruction carries beside operands and regions; dsl/ir/attr.def says how. */
typedef enum GpIrAttr {
#define GP_IR_ATTR(id, form, field, word, words, count, doc) GpIrAttr_##id,
#include "dsl/ir/attr.def"
    GpIrAttr_count
} GpIrAttr;
#define GP_HAS(attr) (1u << GpIrAttr_##attr)

/* Which element types a signature takes. */
typedef enum GpSigElems {
    GpSigElems_None, GpSigElems_Float, GpSigElems_Int, GpSigElems_Number, GpSigElems_Codes, GpSigElems_Bits,
    GpSigElems_Any
} GpSigElems;

typedef struct GpSigInfo {
    uint32_t attrs; /* sum of GP_HAS */
    GpSigElems elems;
    uint8_t regions;
    bool elementwise;
    const char *doc;
} GpSigInfo;
extern const GpSigInfo gp_sig_info[GpSig_count];
bool gp_sig_takes(GpSig sig, GpElem elem);
bool gp_elems_hold(GpSigElems elems, GpElem elem);

typedef enum GpEffect {
    GpEffect_Pure, GpEffect_Read, GpEffect_Write, GpEffect_Check, GpEffect_Control, GpEffect_Convergent
} GpEffect;

typedef enum GpSurface { GpSurface_None, GpSurface_Math, GpSurface_Tile, GpSurface_Method } GpSurface;

typedef struct GpOpInfo {
    const char *name;
    uint8_t tracks, algebra;
    GpSig sig;
    GpEffect effect;
    GpSurface surface;
    uint16_t min_sm, min_ptx;
    const char *doc;
} GpOpInfo;
extern const GpOpInfo gp_op_info[GpOp_count];
bool gp_op_find(GpStr spelling, GpOp *out);
bool gp_op_is_terminator(GpOp op);

typedef enum GpPred { GpPred_Eq, GpPred_Ne, GpPred_Lt, GpPred_Le, GpPred_Gt, GpPred_Ge } GpPred;
enum { GP_PRED_COUNT = GpPred_Ge + 1 };

/* What an atomic update does; dsl/ir/access.def. */
typedef enum GpAtomic {
#define GP_ATOMIC(id, word, elems, op) GpAtomic_##id,
#include "dsl/ir/access.def"
    GpAtomic_count
} GpAtomic;

typedef enum GpOrdering {
#define GP_ORDERING(id, word, loads, stores, updates) GpOrdering_##id,
#include "dsl/ir/access.def"
    GpOrdering_count
} GpOrdering;

typedef enum GpMemScope {
#define GP_SCOPE(id, word) GpMemScope_##id,
#include "dsl/ir/access.def"
    GpMemScope_count
} GpMemScope;

typedef struct GpAtomicInfo {
    GpSigElems elems;
    GpOp op; /* Const: the operand is the new value */
} GpAtomicInfo;
extern const GpAtomicInfo gp_atomic_info[GpAtomic_count];

/* The element type in which mma of these computes products and sums; false: it does not take
** them together. */
bool gp_mma_find(GpElem a, GpElem b, GpElem acc, GpElem *sum);

typedef struct GpPerm {
    uint8_t axis[GP_MAX_RANK];
    uint8_t rank;
} GpPerm;

typedef enum GpSpace { GpSpace_Global, GpSpace_Shared, GpSpace_Local } GpSpace;

typedef enum GpIrTypeKind { GpIrType_Scalar, GpIrType_Tile, GpIrType_Ptr, GpIrType_Tensor } GpIrTypeKind;

/* Hash-consed per function: equal types are one pointer. */
typedef struct GpIrType {
    GpIrTypeKind kind;
    GpElem elem;            /* of the value, the tile, the pointee or the tensor */
    GpShape shape;          /* tile extents; tensor extents with GP_DYNAMIC */
    GpSpace space;          /* pointers */
} GpIrType;

typedef struct GpInst GpInst;
typedef struct GpRegion GpRegion;
typedef struct GpIrFn GpIrFn;

typedef struct GpValue {
    const GpIrType *type;
    GpInst *inst;       /* the instruction it is a result of, or NULL: */
    GpRegion *region;   /* the region it is a parameter of (function parameters too) */
    uint32_t index;     /* which result or parameter */
    uint32_t id;        /* unique in the function; dense after gp_ir_number */
    const char *name;   /* the source's name for it, or NULL; printing only */
    struct GpValue *forward; /* set by a pass that replaced it; gp_ir_apply_forwards resolves */
} GpValue;

struct GpRegion {
    GpInst *owner;     /* NULL: the function's body */
    GpValue **params;
    uint32_t param_count;
    GpInst *first, *last;
};

struct GpInst {
    GpOp op;
    GpSpan span;
    GpInst *prev, *next;
    GpRegion *parent;
    GpValue **operands;
    uint32_t operand_count;
    GpValue **results;
    uint32_t result_count;
    GpRegion **regions;
    uint32_t region_count;
    /* Attributes (attr.def); those that the operation does not carry are zero. */
    GpScalar imm;     /* const: the value (of a tile: in every element); slot: count in i;
                      ** load_tile: the padding value, see gp_ir_pad */
    GpPred pred;      /* cmp */
    uint8_t axis;     /* program_id, dim, thread_id, reduce, scan, cat, ... */
    uint32_t site;    /* checks: index into fn->sites */
    GpInst *target;   /* break, continue: the enclosing loop, for or block */
    GpPerm perm;      /* permute */
    GpAtomic atomic;  /* atomic_rmw */
    GpOrdering ordering; /* gather, scatter, atomics */
    GpMemScope scope;
    bool is_reverse;  /* scan */
    bool by_element;  /* load_tile, store_tile */
    bool is_whole;    /* load_tile, store_tile */
    const GpShape *part; /* load_tile, store_tile, for a backend alone: NULL, or the extents that tile_round.c rounded
                         ** up: tile coordinates count these, and beyond them is nothing */
    const char *text; /* print; in the function's arena */
};

/* What a parameter of the function is at the ABI. A tensor parameter stands for its base, its
** dynamic extents and its strides; the backends expand it (gp_ir_abi). */
typedef struct GpIrParam {
    GpParamKind kind;   /* GpParam_Base for a tensor or a slice's address, Len, Scalar */
    uint8_t arg;        /* index of the source-level parameter */
    bool is_written;    /* reached through &mut or DisjointSlice */
    bool is_unique;     /* nothing else aliases it during the launch: noalias */
    /* Launch facts of the variant (GpArgFacts) */
    bool aligned16;     /* with unit_stride what a tensor map needs: base and outer strides are
                        ** multiples of 16 bytes, strides from 0 to 2^40 bytes, no extent is 0 */
    bool unit_stride;   /* innermost stride is 1 */
    bool small;         /* every offset fits in 31 bits */
    bool splits_lines;  /* outer strides are no multiples of 128 bytes: rows begin within lines of the cache */
} GpIrParam;

struct GpIrFn {
    GpArena *arena;
    const char *name;       /* as users know it */
    const char *symbol;     /* unique spelling with its generics: entry name */
    GpTrack track;
    GpSpan span;
    GpRegion *body;         /* its params are the function's */
    GpIrParam *params;      /* one per body->params */
    uint32_t param_count;
    GpCheckSite *sites;
    uint32_t site_count, site_cap;
    uint32_t block[3];      /* SIMT: threads known at compile time, 0 unknown */
    uint32_t max_threads;   /* SIMT: launch bound; 0 none */
    uint32_t min_blocks;    /* SIMT: launch_bounds' second argument; 0 none */
    GpSchedule schedule;    /* tile: what the kernel or the launch asks for */
    GpSpan linear;          /* SIMT: of a linear index, which a launch of one axis only has */
    bool equal_lens;        /* SIMT: every slice of this launch has the same length, one value */
    struct GpIrGlobal *globals; /* the interpreter's memory of `global` operations, by name */
    struct GpLaunchCheck *launch_checks; /* dsl/ir/launch.h: asked by every launch */
    uint32_t launch_check_count;
    GpInst **whole;         /* accesses to tiles that are whole where the launch's checks say so */
    uint32_t whole_count;
    uint32_t next_id;
    GpMap types;            /* hash-consing; private to ir.c */
};

/* Building */
GpIrFn *gp_ir_fn_make(GpArena *arena, const char *name, GpTrack track, GpSpan span);
const GpIrType *gp_ir_scalar(GpIrFn *fn, GpElem elem);
const GpIrType *gp_ir_tile(GpIrFn *fn, GpElem elem, const GpShape *shape);
const GpIrType *gp_ir_ptr(GpIrFn *fn, GpElem elem, GpSpace space);
const GpIrType *gp_ir_tensor(GpIrFn *fn, GpElem elem, const GpShape *shape);
/* Elements of a tile, or of one of the shape: the verifier bounds them. Of anything else 1. */
int64_t gp_ir_numel(const GpIrType *type);
int64_t gp_ir_tile_numel(const GpShape *shape);
static inline bool gp_ir_is_tile(const GpValue *v) { return v->type->kind == GpIrType_Tile; }
/* Adds a parameter to the function's body. */
GpValue *gp_ir_add_param(GpIrFn *fn, const GpIrType *type, GpIrParam param, const char *name);
uint32_t gp_ir_add_site(GpIrFn *fn, GpCheckKind kind, uint8_t axis, GpSpan span, const char *what);

/* An insertion point: new instructions go before `before`, at the region's end when NULL. */
typedef struct GpBuilder {
    GpIrFn *fn;
    GpRegion *region;
    GpInst *before;
    GpSpan span; /* given to new instructions */
} GpBuilder;

GpRegion *gp_ir_region(GpIrFn *fn);
GpValue *gp_ir_region_param(GpIrFn *fn, GpRegion *r, const GpIrType *type, const char *name);
/* A new instruction at the insertion point. Operands are copied; one result per entry of
** `results`. Regions and attributes are set by the caller afterwards. */
GpInst *gp_build(GpBuilder *b, GpOp op, GpValue *const *operands, uint32_t operand_count,
                 const GpIrType *const *results, uint32_t result_count);
/* Conveniences for the common shapes; each returns result 0. */
GpValue *gp_build_const(GpBuilder *b, const GpIrType *type, GpScalar value);
GpValue *gp_build_int(GpBuilder *b, GpElem elem, int64_t value);
GpValue *gp_build1(GpBuilder *b, GpOp op, GpValue *x);               /* result type of x */
GpValue *gp_build2(GpBuilder *b, GpOp op, GpValue *x, GpValue *y);   /* result type of x */
GpValue *gp_build_cmp(GpBuilder *b, GpPred pred, GpValue *x, GpValue *y);
GpValue *gp_build_cast(GpBuilder *b, GpValue *x, GpElem to);
GpValue *gp_build_bitcast(GpBuilder *b, GpValue *x, GpElem to); /* x where it is of that type */
GpValue *gp_build_select(GpBuilder *b, GpValue *c, GpValue *x, GpValue *y);
/* log2 e as an f32: the factor of powers of e that are computed as powers of 2. */
#define GP_LOG2_E 0x1.715476p+0
/* e to the power x of f32 within 2^-17, and zero below 2^-126: 2 to the power of a product. */
GpValue *gp_build_exp_approx(GpBuilder *b, GpValue *x);
void gp_ir_set_regions(GpIrFn *fn, GpInst *inst, GpRegion *const *regions, uint32_t count);
/* Links an instruction that is in no region before `before`, at the end of `r` when NULL. */
void gp_ir_insert(GpInst *inst, GpRegion *r, GpInst *before);
void gp_ir_remove(GpInst *inst); /* unlinks; its results must be unused */
GpInst *gp_ir_terminator(const GpRegion *r); /* the last instruction; NULL while unfinished */

/* Loops. In front of what it carries a `for` has its lower and upper bound and its step, and its region the index. */
enum { GP_FOR_BOUNDS = 3, GP_FOR_INDICES = 1 };
static inline bool gp_is_loop(const GpInst *inst) {
    return inst && (inst->op == GpOp_For || inst->op == GpOp_Loop);
}
/* Where carried values begin among the operands and among the region's parameters. */
static inline uint32_t gp_loop_bounds(const GpInst *loop) { return loop->op == GpOp_For ? GP_FOR_BOUNDS : 0; }
static inline uint32_t gp_loop_indices(const GpInst *loop) { return loop->op == GpOp_For ? GP_FOR_INDICES : 0; }
/* The carried values: as they are at first, and in a turn. */
static inline GpValue **gp_loop_starts(const GpInst *loop) { return loop->operands + gp_loop_bounds(loop); }
static inline GpValue **gp_loop_params(const GpInst *loop) { return loop->regions[0]->params + gp_loop_indices(loop); }
bool gp_ir_counts_by_one(const GpInst *loop); /* a `for` */
/* Where a terminator goes, NULL: out of the function; and what it hands its operands on to: a turn's values, or results. */
static inline GpInst *gp_ir_goes_to(const GpInst *end) { return end->target ? end->target : end->parent->owner; }
static inline GpValue **gp_ir_hands_to(const GpInst *end) {
    const GpInst *to = gp_ir_goes_to(end);
    return end->op != GpOp_Break && gp_is_loop(to) ? gp_loop_params(to) : to->results;
}
/* A `for` whose region has its parameters and nothing else. */
GpInst *gp_ir_build_for(GpBuilder *b, GpValue *const bounds[GP_FOR_BOUNDS], GpValue *const *start, uint32_t count);

/* Walking and rewriting */
typedef enum GpWalk { GpWalk_Before, GpWalk_After } GpWalk; /* an instruction before or after its regions */
void gp_ir_drop_sites(GpIrFn *fn); /* those that no instruction has any more; the others are numbered anew */
void gp_ir_walk(const GpIrFn *fn, GpWalk order, void (*visit)(GpInst *inst, void *ud), void *ud);
/* The region is `outer`, or stands in it. */
bool gp_ir_is_inside(const GpRegion *r, const GpRegion *outer);
void gp_ir_apply_forwards(GpIrFn *fn);
void gp_ir_number(GpIrFn *fn); /* dense ids in program order */
GpIrFn *gp_ir_clone(GpArena *arena, const GpIrFn *fn);
/* A copy of an instruction, regions included, at the insertion point. `map`, by id of the values that
** were there before the first copy: what stands for an operand in the copy, NULL for itself; gets
** the copy's results and parameters. Not of jumps out of the copy. */
GpInst *gp_ir_copy(GpBuilder *b, const GpInst *inst, GpValue **map);
/* How often each value is an operand, indexed by id; fn->next_id entries in `arena`. */
uint32_t *gp_ir_count_uses(const GpIrFn *fn, GpArena *arena);
/* The effect of an instruction: that of its operation, but a gather that is ordered against other
** accesses counts as a write, so that it is neither shared nor removed. */
GpEffect gp_ir_effect(const GpInst *inst);
/* Both are of one operation: their attributes are equal. */
bool gp_ir_same_attrs(const GpInst *a, const GpInst *b);
bool gp_ir_is_window(const GpValue *v);
/* The parameter that the tensor is, or a window of; NULL: the kernel made it. */
const GpIrParam *gp_ir_root_param(const GpIrFn *fn, const GpValue *tensor);
/* Two tensors may have an element in common: windows of one, or neither is a parameter that says
** that nothing else reaches its elements. */
bool gp_ir_may_alias(const GpIrFn *fn, const GpValue *a, const GpValue *b);
/* An element that stays from launch to launch. */
typedef struct GpIrGlobal {
    struct GpIrGlobal *next;
    const char *name;
    uint64_t memory;
} GpIrGlobal;
/* Gives each name of the function's `global` operations its memory, in the function's arena. */
void gp_ir_place_globals(GpIrFn *fn);
/* The padding value of a load_tile. */
GpScalar gp_ir_pad(const GpInst *inst);
/* True when an instruction of `r`, nested ones included, may write memory or synchronise. */
bool gp_ir_region_writes(const GpRegion *r);
/* A scalar constant or a tile constant: its value. False for everything else. */
bool gp_ir_const(const GpValue *v, GpScalar *out);
/* A number that is zero, of either sign, or a tile of it. */
bool gp_ir_is_zero(const GpValue *v);
/* The one operation by which a reduction or scan combines its elements; GpOp_count: there is more to it. */
GpOp gp_ir_fold_op(const GpInst *fold);

/* Text (dsl/ir/ir_text.h has the grammar). The parser reads what the printer writes, and is for
** tests; NULL after a diagnostic. Printing may throw NoMemory: `out` stays its owner's. */
void gp_ir_print(const GpIrFn *fn, GpText *out);
GpIrFn *gp_ir_parse(GpArena *arena, GpSource *src, GpDiags *diags);

/* Checks every rule of this header and of op.def. On the first violation writes what is wrong
** (op, value, rule) to `why` and returns false. */
bool gp_ir_verify(const GpIrFn *fn, GpText *why);

/* ABI: the parameters the compiled function takes, in order. For a tensor of rank r: Base, then
** Dim of each dynamic axis, then Stride of each axis (the innermost is left out when
** unit_stride). A Mailbox comes last when the function has sites. Offsets are naturally aligned. */
GpImageParam *gp_ir_abi(const GpIrFn *fn, GpArena *arena, uint32_t *count, uint32_t *bytes);

/* The source-level arguments (bit i: argument i) that a launch overwrites whole, given that its
** blocks or threads cover the argument and, on SIMT, that it is one-dimensional. Wants the
** function before optimizing passes. */
uint64_t gp_ir_overwrites(const GpIrFn *fn);
/* Parameters that unsafe code stores to, though the signature says that they are only read, are
** written too. */
void gp_ir_mark_written(GpIrFn *fn);
/* The source-level arguments that are written. */
uint64_t gp_ir_written(const GpIrFn *fn);

/* Passes (dsl/ir/pass.def): runs those of a stage for the function's track, in place. Debug
** builds verify after every pass; a violation is a bug that names the pass. The semantic stage
** belongs to instantiation; the optimizing one to the backends. */
typedef enum GpPassStage { GpPassStage_Semantic, GpPassStage_Optimize } GpPassStage;
void gp_ir_run_passes(GpIrFn *fn, GpPassStage stage);

/* The oracle: runs IR as it was instantiated, no optimizing pass applied. Same signature and
** parameter block as a compiled CPU kernel, so it can stand behind a GpImage. Threads of a block run one after
** another. Uses the host's malloc, not the session, so several threads may call it at once. */
void gp_interp_run(const GpIrFn *fn, const uint8_t *params, const GpGrid *grid, uint64_t first,
                   uint64_t count, GpStop *stop);

#endif
