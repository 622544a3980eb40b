/* Loops over the elements of a tile on the CPU: what emit_tile_cpu*.c share. */
#ifndef GP_EMIT_TILE_CPU_H
#define GP_EMIT_TILE_CPU_H

#include "codegen/emit.h"

typedef struct GpCoords {
    LLVMValueRef at[GP_MAX_RANK]; /* i64 */
} GpCoords;

typedef struct GpMemo {
    const GpCoords *coords;
    LLVMValueRef value;
} GpMemo;

/* One emission of a loop body. */
typedef struct GpFusion {
    GpEmit *e;
    GpMemo *memo;     /* by value id */
    bool is_interior; /* every access is known to be in bounds */
} GpFusion;

typedef void (*GpBodyFn)(GpFusion *f, const GpCoords *c, void *ud);

/* A nest over `shape`, row-major, whose body evaluates `values` at coordinates inside them and
** makes the access `store` when that is not NULL. */
typedef struct GpNest {
    const GpShape *shape;
    GpValue *const *values;
    uint32_t count;
    const GpInst *store;
    GpBodyFn body;
    void *ud;
} GpNest;

void gp_cpu_nest(GpEmit *e, const GpNest *nest);
/* The element at c of a tile, or a scalar. */
LLVMValueRef gp_cpu_eval(GpFusion *f, const GpValue *v, const GpCoords *c);
LLVMValueRef gp_cpu_at(GpEmit *e, const GpIrType *type, LLVMValueRef buffer, const GpCoords *c);

/* emit_tile_cpu_mma.c */
void gp_cpu_mma(GpEmit *e, const GpInst *inst);

#endif
