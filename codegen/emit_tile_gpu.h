/* Tile values in registers on the GPU: what emit_tile_gpu*.c share. */
#ifndef GP_EMIT_TILE_GPU_H
#define GP_EMIT_TILE_GPU_H

#include "codegen/emit.h"

typedef struct GpShapeLayout {
    GpShape shape;
    const GpLayout *layout;
    LLVMValueRef coord[GP_MAX_RANK]; /* i64: this thread's part of the coordinates */
    LLVMValueRef is_owner;           /* NULL: no element is held twice */
    struct GpShapeLayout *next;
} GpShapeLayout;

const GpShapeLayout *gp_gpu_layout(GpEmit *e, const GpShape *shape);
/* Coordinates (i64) of register `reg` in this thread. */
void gp_gpu_coords(GpEmit *e, const GpShapeLayout *s, uint32_t reg, LLVMValueRef *c);
LLVMValueRef gp_gpu_register(const GpEmit *e, const GpValue *v, uint32_t r);
LLVMValueRef gp_gpu_thread(GpEmit *e); /* i32: number of this thread */
void gp_gpu_barrier(GpEmit *e);
/* The exchange buffer, which has `bytes` from then on; every use lies between two barriers. A
** refusal names a tile of `numel` elements. */
LLVMValueRef gp_gpu_shared(GpEmit *e, uint64_t bytes, int64_t numel, GpElem elem);
enum { GP_GPU_SHARED = 48 * 1024 };

/* emit_tile_gpu_fold.c, emit_tile_gpu_mma.c */
void gp_gpu_fold(GpEmit *e, const GpInst *inst);
void gp_gpu_scan(GpEmit *e, const GpInst *inst);
void gp_gpu_cat(GpEmit *e, const GpInst *inst);
void gp_gpu_mma(GpEmit *e, const GpInst *inst);

/* Whether a reduction's or scan's body may be regrouped, and the forms for those that may not
** (emit_tile_gpu_serial.c). */
bool gp_gpu_is_regroupable(const GpInst *inst);
void gp_gpu_fold_serially(GpEmit *e, const GpInst *inst);
void gp_gpu_scan_serially(GpEmit *e, const GpInst *inst);

#endif
