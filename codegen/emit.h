/* What the files of codegen share while one function is emitted. Not an interface of codegen/.
**
** The same walk of the structured IR serves four lowerings (tile or SIMT, GPU or CPU); they
** differ in how a tile value is held:
**   GPU   one LLVM scalar per register of the value's layout; `GpBound.count` registers
**   CPU   not at all (an expression evaluated where it is consumed), or a buffer
** Scalars are one LLVM value everywhere. Value forms: f64 and f32 (tf32 too) are themselves,
** f16, bf16 and f8 are their bits, bool is i1; in memory bool is a byte. */
#ifndef GP_EMIT_H
#define GP_EMIT_H

#include "codegen/codegen.h"
#include "codegen/llvm_shim.h"
#include "core/gpu.h"
#include "dsl/ir/layout.h"

struct GpCodegen {
    GpSession *session;
    bool math_searched;
    char *math_path;   /* heap of the session; NULL: none found */
    size_t math_bytes; /* of math_path's block */
};

/* count 0: an expression of the CPU tile lowering, not emitted yet. */
typedef struct GpBound {
    LLVMValueRef *at;
    uint32_t count;
} GpBound;

/* What keeps the accesses to a tensor in order from thread to thread. */
typedef enum GpOrder { GpOrder_Unknown, GpOrder_None, GpOrder_Barrier } GpOrder;

/* A tensor, unpacked. Offsets count elements. `param` says what is known of it; of one that the
** kernel made, no more than a constant stride does. */
typedef struct GpTensorArg {
    const GpIrParam *param;
    LLVMValueRef base;
    LLVMValueRef dim[GP_MAX_RANK];    /* i32 */
    LLVMValueRef stride[GP_MAX_RANK]; /* i64 */
    LLVMValueRef aligned; /* GPU tile: whether rows begin at multiples of 16 bytes, of what a kernel makes; else NULL */
    GpOrder order;                    /* GPU tile */
} GpTensorArg;

typedef struct GpJoin GpJoin;         /* emit_control.c */
typedef struct GpTilePlan GpTilePlan; /* tile_plan.c */
typedef struct GpTileGpu GpTileGpu;   /* emit_tile_gpu.c */
typedef struct GpShapeLayout GpShapeLayout; /* emit_tile_gpu.h */
typedef struct GpPipe GpPipe;         /* pipe.h */
typedef struct GpAsync GpAsync;       /* async.h */

typedef struct GpEmit {
    GpCodegen *cg;
    GpArena *arena;
    GpIrFn *fn; /* a copy of its own, which plans may rewrite */
    const GpTarget *target;
    GpDiags *diags;
    bool is_gpu, is_tile;
    bool is_interior; /* SIMT on the CPU: the copy in which every thread's index is in range */
    bool refused;     /* a diagnostic was given */
    bool has_device_math;
    GpLlvm *llvm;
    LLVMContextRef ctx;
    LLVMModuleRef module;
    LLVMBuilderRef b;
    LLVMValueRef func;
    LLVMBasicBlockRef entry; /* of func: holds allocas only */
    const GpRegion *region;  /* being emitted */
    GpImageParam *abi;
    uint32_t abi_count;
    GpBound *bound;       /* by value id */
    GpTensorArg *tensors; /* by value id */
    LLVMValueRef mailbox; /* NULL without sites */
    LLVMValueRef block_id[3], grid_dim[3], thread_id[3], block_dim[3]; /* i32 */
    LLVMValueRef stop;   /* CPU: its GpStop */
    bool asks_stop;      /* CPU: a loop does */
    LLVMValueRef report; /* the function that fills the mailbox */
    GpMap joins;         /* GpInst of a loop, for or block -> GpJoin pair */
    GpTilePlan *plan;    /* CPU tile */
    uint32_t *uses;      /* tile: by value id */
    GpTileGpu *gpu;      /* GPU tile */
    uint64_t exchange_room; /* GPU tile: what an earlier try found the exchange buffer to need */
    GpUnpiped unpiped;   /* GPU tile: why there is no pipe */
    GpPipe *pipe;        /* GPU tile: NULL when all threads do the same */
    GpAsync *async;      /* GPU tile: NULL when no products' operands come by cp.async */
    bool fetches_ahead;  /* GPU tile: rows of blocks that come later */
    bool is_alone;       /* GPU tile: only the first warp runs this */
    uint64_t scratch;    /* CPU: bytes of buffers so far */
    LLVMMetadataRef di_builder_scope, di_file;
    LLVMDIBuilderRef di;
    GpSource *di_source;
} GpEmit;

/* emit.c */
void gp_emit_params(GpEmit *e, LLVMValueRef *args);
void gp_emit_attributes(GpEmit *e, LLVMValueRef func, uint32_t first);
LLVMTypeRef *gp_emit_param_types(GpEmit *e);
bool gp_emit_region(GpEmit *e, const GpRegion *r); /* false: the end is not reached */
void gp_emit_body(GpEmit *e);                      /* the function's region and its return */
void gp_emit_location(GpEmit *e, GpSpan span);
LLVMValueRef gp_emit_stopped(GpEmit *e); /* CPU: i1 */
LLVMBasicBlockRef gp_emit_block(GpEmit *e, const char *name);
void gp_emit_at(GpEmit *e, LLVMBasicBlockRef block);
LLVMValueRef gp_emit_alloca(GpEmit *e, LLVMTypeRef type, uint64_t count, unsigned align);
LLVMTypeRef gp_emit_type(GpEmit *e, GpElem elem);     /* value form */
LLVMTypeRef gp_emit_mem_type(GpEmit *e, GpElem elem); /* storage form */
LLVMTypeRef gp_emit_ptr_type(GpEmit *e, GpSpace space);
LLVMValueRef gp_emit_i32(GpEmit *e, int64_t v);
LLVMValueRef gp_emit_i64(GpEmit *e, int64_t v);
LLVMValueRef gp_emit_bool(GpEmit *e, bool v);
/* x as a sum whose second part is a constant, zero maybe, and such a sum. */
LLVMValueRef gp_emit_split(LLVMValueRef x, LLVMValueRef *constant);
LLVMValueRef gp_emit_offset(GpEmit *e, LLVMValueRef x, LLVMValueRef constant);
/* The one LLVM value of a scalar. */
LLVMValueRef gp_emit_get(GpEmit *e, const GpValue *v);
void gp_emit_set(GpEmit *e, const GpValue *v, LLVMValueRef x);
GpBound gp_emit_bound_make(GpEmit *e, uint32_t count);
/* LLVM values that v takes when it goes over a join. */
uint32_t gp_emit_flat_count(GpEmit *e, const GpValue *v);
/* Those of v in the form in which `as` holds its own. */
GpBound gp_emit_operand(GpEmit *e, const GpValue *v, const GpValue *as);
LLVMValueRef gp_emit_mem_load(GpEmit *e, GpElem elem, LLVMValueRef ptr);
void gp_emit_mem_store(GpEmit *e, GpElem elem, LLVMValueRef v, LLVMValueRef ptr);
LLVMValueRef gp_emit_to_mem(GpEmit *e, GpElem elem, LLVMValueRef v);
LLVMValueRef gp_emit_from_mem(GpEmit *e, GpElem elem, LLVMValueRef v);
LLVMValueRef gp_emit_gep(GpEmit *e, GpElem elem, LLVMValueRef ptr, LLVMValueRef index);
LLVMValueRef gp_emit_behind(GpEmit *e, LLVMValueRef ptr, int64_t bytes);
/* A call of intrinsic `name`, overloaded on `type` unless NULL. */
LLVMValueRef gp_emit_intrinsic(GpEmit *e, const char *name, LLVMTypeRef type, LLVMValueRef const *args,
                               uint32_t count);
/* `then` where `cond`, else zero of the type; `emit(ud)` makes `then` in its own block. */
LLVMValueRef gp_emit_guarded(GpEmit *e, LLVMValueRef cond, LLVMTypeRef type,
                             LLVMValueRef (*emit)(GpEmit *e, void *ud), void *ud);

/* emit_arith.c, emit_convert.c, emit_math.c: one element of an elementwise instruction */
LLVMValueRef gp_emit_element(GpEmit *e, const GpInst *inst, LLVMValueRef *x);
LLVMValueRef gp_emit_scalar(GpEmit *e, GpElem elem, GpScalar value);
LLVMValueRef gp_emit_to_float(GpEmit *e, GpElem elem, LLVMValueRef v);   /* to float or double */
LLVMValueRef gp_emit_from_float(GpEmit *e, GpElem elem, LLVMValueRef v); /* rounds */
LLVMValueRef gp_emit_cast(GpEmit *e, LLVMValueRef v, GpElem from, GpElem to);
LLVMValueRef gp_emit_bitcast(GpEmit *e, LLVMValueRef v, GpElem from, GpElem to);
/* GPU: two 16-bit elements in one word, and back. */
LLVMValueRef gp_emit_pair(GpEmit *e, LLVMValueRef low, LLVMValueRef high);
void gp_emit_unpair(GpEmit *e, LLVMValueRef word, LLVMValueRef *low, LLVMValueRef *high);
LLVMValueRef gp_emit_math(GpEmit *e, GpOp op, GpElem elem, LLVMValueRef const *x, uint32_t count);
bool gp_math_needs_library(GpOp op);
/* emit_poly.c */
LLVMValueRef gp_emit_poly(GpEmit *e, GpOp op, LLVMValueRef x); /* NULL: not computed inline */
/* emit_divide.c: quotients of f32 on a GPU, with one branch for all of them. */
void gp_emit_divisions(GpEmit *e, LLVMValueRef const *a, LLVMValueRef const *b, LLVMValueRef *out, uint32_t count);
/* emit_check.c: the branch goes to its first target. */
void gp_emit_likely(GpEmit *e, LLVMValueRef branch);
/* emit_special.c */
LLVMValueRef gp_emit_special(GpEmit *e, GpOp op, LLVMValueRef x); /* NULL: not computed inline */
bool gp_special_computes(GpOp op); /* in f32 */
GpOp gp_special_exact(GpOp op); /* what stands for it elsewhere; op itself: nothing has to */

/* One row per value of lower.def */
void gp_op_lower_const(GpEmit *e, const GpInst *inst);
void gp_op_lower_arith(GpEmit *e, const GpInst *inst);
void gp_op_lower_math(GpEmit *e, const GpInst *inst);
void gp_op_lower_control(GpEmit *e, const GpInst *inst);
void gp_op_lower_check(GpEmit *e, const GpInst *inst);
void gp_op_lower_tile(GpEmit *e, const GpInst *inst);
void gp_op_lower_simt(GpEmit *e, const GpInst *inst);
void gp_op_lower_whole(GpEmit *e, const GpInst *inst);
void gp_op_lower_access(GpEmit *e, const GpInst *inst);
void gp_op_lower_print(GpEmit *e, const GpInst *inst);
void gp_op_lower_refused(GpEmit *e, const GpInst *inst);
bool gp_op_is_refused(GpOp op);
/* Computed where it stands, never inside the loop of what consumes it. */
bool gp_op_is_whole(GpOp op);
/* The region of a reduction on two scalars. */
LLVMValueRef gp_emit_combination(GpEmit *e, const GpInst *inst, LLVMValueRef acc, LLVMValueRef x);

/* emit_simt.c: in the interior copy, `index` is this thread's global index and `limit` a length
** that the caller compared the whole block with. */
bool gp_simt_is_in_range(const GpEmit *e, const GpValue *index, const GpValue *limit);
bool gp_simt_has_range_check(const GpIrFn *fn);
void gp_simt_note_no_wrap(GpEmit *e, const GpInst *inst); /* after an add or mul in that copy */

/* emit_access.c: one element of a gather, scatter or atomic update; x: its operands' elements,
** x[0] the address. Lanes where `extra` (NULL: none) is false do nothing. NULL for a scatter. */
enum { GP_ACCESS_OPERANDS = 5 }; /* of atomic_cas, which has most */
LLVMValueRef gp_emit_access(GpEmit *e, const GpInst *inst, LLVMValueRef const *x,
                            LLVMValueRef extra);
/* GPU: sums that nobody reads. Bytes of elements side by side that one instruction updates at most, 0 of one element
** alone; the update of a run of them. */
uint32_t gp_emit_update_bytes(const GpEmit *e, const GpInst *inst);
void gp_emit_update_run(GpEmit *e, const GpInst *inst, LLVMValueRef ptr, LLVMValueRef const *v, uint32_t run);
/* Of an update of a word that is associative and commutative: the word that changes nothing. Else false. */
bool gp_emit_update_identity(const GpInst *inst, uint32_t *word);
void gp_emit_shared_update(GpEmit *e, const GpInst *inst, LLVMValueRef ptr, LLVMValueRef v); /* of shared memory, by a block */

/* emit_tile.c: load_tile and store_tile on either backend */
const GpShape *gp_tile_shape(const GpInst *inst);
/* The part of it that is in the tensor, and by which tile coordinates count: all but for tiles that were rounded up. */
const GpShape *gp_tile_extents(const GpInst *inst);
const GpValue *gp_tile_mask(const GpInst *inst);                     /* NULL without one */
LLVMValueRef gp_tile_start(GpEmit *e, const GpInst *inst, int axis); /* i64, in elements */
LLVMValueRef gp_tile_is_inside(GpEmit *e, const GpInst *inst);
/* Operations whose result's elements are elements of their first operand; coordinates there of
** the result's element at `c`. */
bool gp_tile_moves(GpOp op);
void gp_tile_moved_coords(GpEmit *e, const GpInst *inst, LLVMValueRef const *c, LLVMValueRef *at);
LLVMValueRef gp_tile_linear(GpEmit *e, const GpShape *shape, LLVMValueRef const *c);
typedef struct GpPlace {
    GpElem elem;
    LLVMValueRef ptr, in_bounds, value; /* in_bounds NULL: yes */
    LLVMValueRef pad;                   /* of a load where not in bounds; NULL: zero */
} GpPlace;
LLVMValueRef gp_tile_pad(GpEmit *e, const GpInst *inst); /* NULL: zero, or a store */
LLVMValueRef gp_tile_load(GpEmit *e, GpPlace *p);
void gp_tile_store(GpEmit *e, GpPlace *p);

/* emit_tile_cpu.c */
void gp_tile_cpu_prepare(GpEmit *e);
void gp_tile_cpu_inst(GpEmit *e, const GpInst *inst);
void gp_tile_cpu_whole(GpEmit *e, const GpInst *inst);
void gp_tile_cpu_access(GpEmit *e, const GpInst *inst);
LLVMValueRef gp_tile_cpu_buffer(GpEmit *e, const GpIrType *type);
void gp_tile_cpu_write(GpEmit *e, const GpValue *v, LLVMValueRef buffer);
bool gp_tile_cpu_is_pointwise(GpEmit *e, const GpValue *v);
void gp_tile_cpu_copy(GpEmit *e, const GpIrType *type, LLVMValueRef from, LLVMValueRef to);
LLVMValueRef gp_tile_cpu_any_zero(GpEmit *e, const GpValue *v);

/* tile_plan.c: which tile values of a CPU function get a buffer */
GpTilePlan *gp_tile_plan_make(GpArena *arena, const GpIrFn *fn);
bool gp_tile_plan_is_materialized(const GpTilePlan *plan, const GpValue *v);

/* emit_tile_gpu.c */
bool gp_tile_gpu_prepare(GpEmit *e); /* false: refused */
uint32_t gp_tile_gpu_threads(const GpEmit *e);
/* tile_pressure.c: blocks that run at once, of a kernel that folds or scans rows; those that the assembler is to
** leave room for, 0 of as many as it happens. */
uint32_t gp_tile_gpu_blocks(GpEmit *e);
uint32_t gp_tile_gpu_min_blocks(GpEmit *e);
uint32_t gp_tile_gpu_registers(GpEmit *e, const GpValue *v);
/* The registers of v in the layout of `as`. */
GpBound gp_tile_gpu_operand(GpEmit *e, const GpValue *v, const GpValue *as);
void gp_tile_gpu_inst(GpEmit *e, const GpInst *inst);
void gp_tile_gpu_whole(GpEmit *e, const GpInst *inst);
/* emit_tile_gpu_address.c */
void gp_tile_gpu_access(GpEmit *e, const GpInst *inst);
/* emit_tile_gpu_bins.c: before a loop whose updates are added up in shared memory; false: there are none, else they are
** made at its end. */
bool gp_tile_gpu_open_bins(GpEmit *e, const GpInst *loop);
void gp_tile_gpu_close_bins(GpEmit *e);
LLVMValueRef gp_tile_gpu_any_zero(GpEmit *e, const GpValue *v);
/* emit_tile_gpu_alone.c: a loop that one warp runs for the block; `emit` emits it. */
bool gp_tile_gpu_runs_alone(GpEmit *e, const GpInst *loop);
void gp_tile_gpu_alone(GpEmit *e, const GpInst *loop, void (*emit)(GpEmit *e, const GpInst *loop));
void gp_tile_gpu_finish(GpEmit *e);
uint64_t gp_tile_gpu_dynamic(const GpEmit *e); /* bytes of an exchange buffer that is too large to be static; or 0 */

/* debug_lines.c: line directives only */
void gp_debug_init(GpEmit *e);
void gp_debug_done(GpEmit *e);

/* device_math.c */
/* Links what the module calls. False with a diagnostic when no library is there. */
bool gp_device_math_link(GpEmit *e);

/* target.c */
const char *gp_target_cpu(const GpTarget *t); /* "sm_90a" */
uint64_t gp_target_shared(const GpTarget *t); /* bytes of shared memory that a block can have */
/* Blocks of so many threads, with so many registers each, that a multiprocessor runs at once. */
uint32_t gp_target_blocks(const GpTarget *t, uint32_t threads, uint32_t registers);
/* Every operation of the function has code for the target; else false with diagnostics. */
bool gp_target_check_ops(const GpIrFn *fn, const GpTarget *t, GpDiags *diags);

/* cpu.c, nvptx.c, oracle.c: the back half of a compile. `e->fn` is optimized and numbered.
** With `text` the stage is printed there and no image is made. */
GpStatus gp_nvptx_compile(GpEmit *e, GpStage stage, GpText *text, GpImage *image);
GpStatus gp_cpu_compile(GpEmit *e, GpStage stage, GpText *text, GpImage *image);
GpStatus gp_oracle_compile(GpSession *s, const GpIrFn *fn, GpImage *image);

#endif
