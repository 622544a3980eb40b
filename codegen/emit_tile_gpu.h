/* Tile values in registers on the GPU: what emit_tile_gpu*.c share. */
#ifndef GP_EMIT_TILE_GPU_H
#define GP_EMIT_TILE_GPU_H

#include "codegen/pipe.h"

struct GpShapeLayout {
    GpShape shape;
    const GpLayout *layout;
    LLVMValueRef coord[GP_MAX_RANK]; /* i64: this thread's part of the coordinates */
    LLVMValueRef is_owner;           /* NULL: no element is held twice */
    GpShapeLayout *next;
};

/* Equal layouts are one pointer. */
const GpShapeLayout *gp_gpu_layout(GpEmit *e, const GpLayout *l);
/* The layout that e->bound[v->id] is in. */
const GpShapeLayout *gp_gpu_layout_of(GpEmit *e, const GpValue *v);
const GpLayout *gp_gpu_bare_layout_of(const GpEmit *e, const GpValue *v);
/* Coordinates (i64) of register `reg` in this thread. */
void gp_gpu_coords(GpEmit *e, const GpShapeLayout *s, uint32_t reg, LLVMValueRef *c);
LLVMValueRef gp_gpu_register(const GpEmit *e, const GpValue *v, uint32_t r);
LLVMValueRef gp_gpu_at(const GpBound *b, uint32_t r);
LLVMValueRef gp_gpu_thread(GpEmit *e); /* i32: number of this thread */
void gp_gpu_barrier(GpEmit *e);
/* The exchange buffer, which has `bytes` from then on; every use lies between two barriers. A
** refusal names a tile of `numel` elements. */
LLVMValueRef gp_gpu_shared(GpEmit *e, uint64_t bytes, int64_t numel, GpElem elem);
/* Dynamic shared memory, from its start on. */
LLVMValueRef gp_gpu_dynamic_shared(GpEmit *e);

/* Shared memory beside that buffer, for bins; whether there is room for so many bytes of it. */
LLVMValueRef gp_gpu_bin_memory(GpEmit *e, uint64_t bytes);
bool gp_gpu_has_room(const GpEmit *e, uint64_t bytes);

/* Of a kernel without products: threads of its block, elements that one of them moves at once, and 32-bit words
** that its largest tile may have. */
typedef struct GpBlockShare {
    uint32_t threads, vector;
    uint64_t most_words;
} GpBlockShare;
GpBlockShare gp_tile_gpu_share(const GpIrFn *fn);
/* tile_round.c: rounds extents up: of kernels with products, which is returned, their rows for the tensor cores, unless
** `is_shared`; else those that threads can not share. */
bool gp_tile_gpu_round(GpIrFn *fn, bool is_shared);

/* tile_layout.c: the layout of every tile value, by id. A uniform value is in all of them. */
const GpLayout **gp_tile_layouts(GpEmit *e);
bool gp_gpu_is_uniform(const GpValue *v);
/* Elements of a run, of one instruction for the narrowest and two for the widest that are moved; 0: of none. */
uint32_t gp_gpu_vector(uint32_t least_bytes, uint32_t most_bytes);
bool gp_gpu_is_addressed(GpOp op); /* an access through addresses */
/* A whole number that is known to be a multiple. */
bool gp_gpu_is_multiple(const GpValue *v, uint32_t of);
/* Rows of the tensor begin at multiples of 16 bytes: those of a window where those of its tensor do, or runs further. */
bool gp_gpu_is_aligned(const GpEmit *e, const GpValue *tensor);
/* Runs of 16 bytes of the tensor can be moved at once, where it turns out to be aligned if that is not known. */
bool gp_gpu_takes_vectors(const GpEmit *e, const GpValue *tensor);

/* emit_tile_gpu_move.c */
/* The registers of v in another layout. */
GpBound gp_gpu_convert(GpEmit *e, const GpValue *v, const GpShapeLayout *to);
/* Binds v to registers that are in the layout `held`. */
void gp_gpu_bind(GpEmit *e, const GpValue *v, GpBound from, const GpShapeLayout *held);
/* The layout of a change of shape's result when its operand has layout `l`, and the operand's when
** the result has it, so that each thread keeps its elements; NULL where there is none. */
const GpLayout *gp_gpu_view_layout(GpEmit *e, const GpInst *inst, const GpLayout *l);
const GpLayout *gp_gpu_viewed_layout(GpEmit *e, const GpInst *inst, const GpLayout *l);
void gp_gpu_view(GpEmit *e, const GpInst *inst);
LLVMValueRef gp_gpu_iota(GpEmit *e, const GpInst *inst, LLVMValueRef const *c);
typedef struct GpConversion GpConversion;
GpConversion **gp_tile_gpu_conversions(GpEmit *e); /* those made so far */

/* emit_tile_gpu_access.c */
void gp_gpu_load(GpEmit *e, const GpInst *inst);
void gp_gpu_store(GpEmit *e, const GpInst *inst);
/* Registers r.. of a value from and to `run` elements that follow each other, aligned as a whole. */
void gp_gpu_take_run(GpEmit *e, GpElem elem, LLVMValueRef ptr, GpBound *out, uint32_t r, uint32_t run);
void gp_gpu_put_run(GpEmit *e, GpElem elem, LLVMValueRef ptr, const GpBound *v, uint32_t r, uint32_t run);
/* Element offset of coordinate `at` (i64) on an axis: 32 bits wide where the launch proves it. */
LLVMValueRef gp_gpu_axis_offset(GpEmit *e, const GpTensorArg *t, LLVMValueRef at, int axis);

/* emit_tile_gpu_address.c: elements are known to be one more each than the one before, along the innermost axis. */
bool gp_gpu_follows(const GpValue *offsets);
/* Elements that one instruction can access of an access through addresses, since they are known to lie side by side and
** to begin at a multiple. */
uint32_t gp_gpu_aligned_run(const GpEmit *e, const GpInst *inst);
/* emit_tile_gpu_bins.c */
/* Adds the updates up in shared memory; false: not these. */
bool gp_gpu_update_bins(GpEmit *e, const GpInst *inst, const GpBound *operands, const GpShapeLayout *s);
typedef struct GpBins GpBins;
GpBins **gp_tile_gpu_bins(GpEmit *e); /* those of the loop around what is being emitted */

/* emit_tile_gpu_alone.c: offers the layouts that tiles need for one warp to run this loop. */
void gp_gpu_alone_layouts(GpEmit *e, const GpInst *loop,
                          void (*offer)(void *plan, const GpValue *v, const GpLayout *layout), void *plan);

/* emit_tile_gpu_ahead.c: behind a load */
void gp_gpu_fetch_ahead(GpEmit *e, const GpInst *load);

/* emit_tile_gpu_fold.c, emit_tile_gpu_scan.c, emit_tile_gpu_mma.c */
/* What the owners of elements have, in every thread that holds them. */
GpBound gp_gpu_share(GpEmit *e, const GpShapeLayout *s, GpElem elem, const GpBound *got);
/* The value that the lane `mask` away holds, or the lane without the bits of `mask`. */
LLVMValueRef gp_gpu_shuffle(GpEmit *e, GpElem elem, LLVMValueRef v, uint32_t mask);
LLVMValueRef gp_gpu_shuffle_first(GpEmit *e, GpElem elem, LLVMValueRef v, uint32_t mask);
void gp_gpu_scan(GpEmit *e, const GpInst *inst);
/* Of two equal halves, when the result of their cat has layout `l`, so that no element changes its thread; else NULL. */
const GpLayout *gp_gpu_half_layout(GpEmit *e, const GpInst *cat, const GpLayout *l);
/* A scan before it, of the same tile, binds this reduction's result. */
bool gp_gpu_has_total(GpEmit *e, const GpInst *reduce);
void gp_gpu_mma(GpEmit *e, const GpInst *inst);
enum { GP_MMA_ROWS = 16 }; /* of most instructions, and none has more */
typedef enum GpMmaOperand { GP_MMA_V2F16, GP_MMA_I32, GP_MMA_F64 } GpMmaOperand;
/* A row of mma.def. */
typedef struct GpMmaSync {
    GpElem a, b, staged;
    GpMmaOperand operand;
    int64_t rows, k;
    const char *intrinsic;
} GpMmaSync;
/* The instruction for operands of these types and a product of these extents; NULL: none. */
const GpMmaSync *gp_mma_sync_find(GpElem a, GpElem b, int64_t m, int64_t n, int64_t k);
/* The layout of a product's sums, or of its first operand, in registers. */
const GpLayout *gp_gpu_sums_layout(GpEmit *e, const GpShape *shape);
/* The layout in which a product's accumulator stays in registers; NULL: it does not. */
const GpLayout *gp_gpu_mma_layout(GpEmit *e, const GpInst *mma);

/* Whether a reduction's or scan's body may be regrouped, and the forms for those that may not
** (emit_tile_gpu_serial.c). */
bool gp_gpu_is_regroupable(const GpInst *inst);
void gp_gpu_fold_serially(GpEmit *e, const GpInst *inst);
void gp_gpu_scan_serially(GpEmit *e, const GpInst *inst);

#endif
