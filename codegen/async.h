/* Tile kernels with products whose operands come by cp.async, for targets from sm_80 on.
**
** A loop whose body loads tiles for products keeps the next of them on their way: a ring of stages in
** shared memory, filled by all threads. Turn k waits for the copies of its own stage, passes the one
** barrier of a turn, behind which nobody reads the stage of turn k - 1 any more, and starts the copies
** of turn k + stages - 1 into that one, where they can behind the first step of its products, so that the
** matrix unit has work meanwhile:
**     copies(0); commit; ..; copies(stages - 2); commit
**     for k { wait_group(stages - 2); bar.sync; copies(k + stages - 1); commit; products(k) }
** The places of later tiles are computed by emitting, for a later index of the loop, the slice of its
** body that the loads need. A load outside of such a loop is waited for where it stands.
**
** Products read their operands with ldmatrix and keep their sums in registers (emit_mma_sync.c); an operand
** that no copy brings is put into the exchange buffer in the same form. A
** loop inside of another has a ring of its own; loops that follow each other share one.
**
** Source: CUTLASS' multistage mainloop. */
#ifndef GP_ASYNC_H
#define GP_ASYNC_H

#include "codegen/feed.h"

typedef struct GpAsyncLoop {
    const GpInst *loop;
    GpMap slice;                  /* of the body: the loads, and what places them */
    uint64_t stage_bytes, offset; /* in dynamic shared memory */
    LLVMValueRef fill, read; /* addresses of the offsets of the stages that are filled and read next */
    LLVMValueRef now;        /* offset of the stage that this turn reads */
    const GpInst *product;   /* behind whose first step a turn copies ahead; NULL: at its start */
    LLVMValueRef k, i, turns; /* of the turn */
} GpAsyncLoop;

/* Of the exchange buffer: inside of a loop it lies behind the rings, elsewhere over them. */
typedef enum GpAsyncRoom { GpAsyncRoom_Outside, GpAsyncRoom_Inside, GpAsyncRoom_count } GpAsyncRoom;

struct GpAsync {
    GpFeeds feeds;
    GpAsyncLoop *loops; /* outer before inner */
    uint32_t loop_count;
    uint32_t stages, threads;
    uint32_t across; /* warps beside each other along the columns of a product */
    uint64_t room_at[GpAsyncRoom_count], room_bytes[GpAsyncRoom_count];
    uint64_t exchange_room; /* put by for the one inside */
    LLVMValueRef shared;    /* dynamic shared memory */
    LLVMValueRef zeros;     /* global memory: 16 bytes */
    const GpAsyncLoop *ahead; /* whose slice is being emitted for a later turn */
};

/* async_plan.c: plans the function, or leaves e->async NULL when it has nothing to gain. */
void gp_async_plan(GpEmit *e);
/* The loop that the instructions of a region are inside of; NULL: none of these. */
GpAsyncLoop *gp_async_loop(const GpEmit *e, const GpRegion *r);
uint64_t gp_async_shared(const GpEmit *e); /* bytes of dynamic shared memory */

/* emit_async.c */
void gp_async_open(GpEmit *e); /* at the function's entry */
/* Behind the first step of a product. */
void gp_async_step(GpEmit *e, const GpInst *product);
bool gp_async_has(const GpEmit *e, const GpInst *inst); /* false: not in the slice that is emitted */
bool gp_async_reports(const GpEmit *e);                 /* of a check's failure */
/* Before a loop, and at the start of its turn k of `turns`, index `i`. */
void gp_async_fill(GpEmit *e, const GpInst *loop, LLVMValueRef turns);
void gp_async_turn(GpEmit *e, const GpInst *loop, LLVMValueRef k, LLVMValueRef i, LLVMValueRef turns);
/* Before a jump, which may leave loops whose later turns' copies are under way. */
void gp_async_leave(GpEmit *e);
bool gp_async_load(GpEmit *e, const GpInst *inst); /* false: not a feed */
/* A place in dynamic shared memory. */
LLVMValueRef gp_async_at(GpEmit *e, LLVMValueRef offset);
/* The offset of a feed's tile: i32. */
LLVMValueRef gp_async_tile(GpEmit *e, const GpFeed *f);
/* Where the exchange buffer is. */
LLVMValueRef gp_async_exchange(GpEmit *e, GpAsyncRoom room, uint64_t bytes);
/* The buffer does not fit beside the rings: compile again with this much put by. */
bool gp_async_wants_more(const GpEmit *e, uint64_t *exchange);

/* emit_mma_sync.c */
/* *has_words: the first operand comes from registers. */
bool gp_mma_sync_fits(const GpAsync *a, const GpInst *mma, bool *has_words);
void gp_mma_sync(GpEmit *e, const GpInst *inst);

#endif
