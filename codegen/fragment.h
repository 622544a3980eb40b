/* Operands of products in shared memory, read as the threads of a warp hold them (PTX ISA, "Matrix
** fragments for mma.m16n8k16", which wgmma's first operand has too): 16 lines of 32 bytes at a time by
** ldmatrix, transposed where the lines go along k. Eight lines of a chunk's column lie in different banks,
** which the swizzle sees to. */
#ifndef GP_FRAGMENT_H
#define GP_FRAGMENT_H

#include "codegen/feed.h"

enum {
    GP_FRAGMENT_WORDS = 4,       /* of a thread, of a step */
    GP_FRAGMENT_STEP_BYTES = 32, /* of k; wgmma goes along it likewise */
    GP_FRAGMENT_ROWS = 16
};

/* As this thread reads it: its own line and byte on it, and what the swizzle makes of them. */
typedef struct GpFragment {
    const GpFeed *feed;
    LLVMValueRef base;     /* address of the tile */
    uint32_t bytes;        /* of an element */
    bool is_along_k, is_b; /* its lines go along k; it is the second operand */
    LLVMValueRef lines, across; /* i32: byte offsets of the thread's line and, swizzled, on a line */
    LLVMValueRef at[GP_FEED_LINE_BYTES / GP_FEED_CHUNK_BYTES]; /* addresses, by bits of the chunk */
} GpFragment;

/* `base`: the address of the tile; `warp`: i32, the first row, or column, of this warp. */
GpFragment gp_fragment_open(GpEmit *e, const GpFeedView *v, GpElem elem, bool is_b, LLVMValueRef base, LLVMValueRef warp);
/* GP_FRAGMENT_WORDS words: 16 rows (or columns) from the warp's `first` on, of step `step` of k. */
void gp_fragment_read(GpEmit *e, GpFragment *f, uint32_t first, uint32_t step, LLVMValueRef *words);
/* Two elements of a line for each thread of a warp, of 16 lines from `warp` (i32) on: of lanes' quads line by line. */
GpFragment gp_fragment_open_pairs(GpEmit *e, const GpFeed *f, GpElem elem, LLVMValueRef base, LLVMValueRef warp);
/* The address of the pair that lies `line` lines and `column` columns, multiples of 8, behind the first. */
LLVMValueRef gp_fragment_pair(GpEmit *e, GpFragment *f, uint32_t line, uint32_t column);
#endif
