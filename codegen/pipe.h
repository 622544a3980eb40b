/* Warp-specialised tile kernels for sm_90a.
**
** A kernel whose products (mma) take tiles that the tensor memory accelerator can bring runs with
** two roles. One thread, the producer, walks the kernel's control flow and starts the copies; one to
** four warpgroups, the consumers, do all the rest, with the sums of the products in their
** registers. Both roles are emitted from the same region: the producer emits the slice of it that
** the copies need, the consumers everything but the copies.
**
** Tiles go through rings of stages in shared memory. A stage has two mbarriers: `full`, completed by
** the copies' bytes, and `empty`, on which each consumer warpgroup arrives once its products have
** read the stage. Loads that one product reads together share a ring (a channel).
**
** Blocks may run in clusters of two, on tiles side by side. What both load alike each loads half of,
** into the memory of both; the stages of such a ring are free when the consumers of both have read
** them, and are full when both halves are there. All else is each block's own.
**
** Sources: CUTLASS' warp-specialised mainloop; Shah et al., FlashAttention-3, arXiv 2407.08608. */
#ifndef GP_PIPE_H
#define GP_PIPE_H

#include "codegen/feed.h"

enum {
    GP_PIPE_BLOCK_ROWS = 64,   /* of an instruction of a warpgroup */
    GP_PIPE_BARRIERS = 16,     /* bytes of a stage's two */
    GP_PIPE_FETCH_BARRIER = 8,
    GP_PIPE_MOST_RANK = 5,     /* of a tensor that is copied */
    GP_PIPE_MOST_STAGES = 8,
    GP_PIPE_MOST_WARPGROUPS = 4,
    GP_PIPE_CLUSTER = 2,     /* blocks */
    GP_PIPE_MOST_LINES = 256 /* of a box */
};

typedef struct GpGroup GpGroup;
typedef struct GpChannel GpChannel;

/* Loads of one region that the same products read: they arrive together. What threads read arrives by itself: its
** products are its load and the last work on it. */
struct GpGroup {
    const GpRegion *region;
    const GpInst *first, *last;    /* the products */
    bool is_read;
    const GpInst *opener, *closer; /* its first load and its last */
    uint64_t bytes, copied; /* of a stage; that arrive in it, which a tile of 16 x 16 is less of */
    GpChannel *channel;
};

/* Stages in shared memory that groups of the same tiles go through. */
struct GpChannel {
    bool is_ring; /* false: one stage, given back where the region of its loads ends */
    bool is_shared; /* has a feed that is */
    bool is_held;   /* no ring: first operand of products that is kept in registers, read at its load */
    bool is_read;   /* ring of one feed that is */
    uint32_t stages;
    uint64_t stage_bytes, offset; /* in dynamic shared memory */
    uint64_t barriers;            /* offset of full and empty of stage 0 */
    LLVMValueRef stage, phase;    /* of the role being emitted: addresses of its counters */
    LLVMValueRef now;             /* the stage that is being filled or read; NULL: none */
    GpMap ends; /* not the products' ring: instructions before which it is given back; none: the body's end */
};

/* A store that leaves through shared memory. `value` is what it stores, as a matrix. */
typedef struct GpPipeStore {
    const GpInst *inst;
    const GpValue *value;
    GpShape matrix; /* the value's shape, without leading axes of extent 1 */
    uint32_t map, panel_bytes; /* of a line of what one copy takes: as wide as its swizzle */
    int row_axis; /* of the tensor's axes, counted from the innermost */
    bool is_repeated; /* in a loop or a branch: copies of the same elements may follow each other */
    bool is_loaded;   /* loads of the tensor come before it */
} GpPipeStore;

/* A load whose tile is copied ahead to where the kernel's stores leave from. */
typedef struct GpPipeFetch {
    const GpInst *load;  /* NULL: none */
    const GpInst *ahead; /* the loop in which the copies start */
    uint32_t map, panel_bytes; /* as the stores' */
    uint64_t barriers;  /* offset of the first warpgroup's */
    LLVMValueRef phase; /* address of its counter */
} GpPipeFetch;

/* How a block's number becomes its place in the grid: `slow` is the slowest axis; of the others,
** groups of `group` along `grouped`, inside a group `across` slower than `grouped`. */
typedef struct GpWalkOrder {
    uint8_t slow, grouped, across;
    uint32_t group;
    bool is_snake;      /* every other group goes along `across` backwards */
    bool is_descending; /* all do */
} GpWalkOrder;

typedef enum GpPipeRole { GpPipe_Producer, GpPipe_Consumer } GpPipeRole;

typedef struct GpPending GpPending; /* products under way: emit_wgmma.c */

struct GpPipe {
    GpFeeds feeds;
    bool has_reads; /* a feed that is_read */
    GpGroup *groups;
    uint32_t group_count;
    GpChannel *channels;
    uint32_t channel_count;
    uint32_t warpgroups; /* of consumers */
    GpMap slice;         /* instructions that the producer emits */
    bool *in_slice;      /* values it computes, by id */
    bool has_jump;       /* in the slice, or a check that ends the block */
    uint32_t *uses;      /* by value id */
    const struct GpPipeLife *life; /* likewise */
    GpPipeStore *stores;
    uint32_t store_count;
    uint64_t staging, staging_bytes; /* what the stores write: offset, room */
    GpPipeFetch fetch;
    GpWalkOrder order;
    bool is_persistent;
    uint32_t cluster;  /* blocks; 1: each for itself */
    uint8_t pair_axis; /* of the grid, on which those of a cluster are side by side */
    LLVMValueRef rank; /* i32, of this block in its cluster */
    LLVMValueRef peer; /* consumers; i32: shared memory of the block that this thread arrives in */
    LLVMValueRef grid[3];    /* persistent: extents of the grid that the blocks walk */
    LLVMBasicBlockRef latch; /* persistent: where the function's return goes */
    GpImageMap *maps;
    uint32_t map_count, first_map; /* where they begin among the parameters */
    LLVMValueRef *map_params;
    uint64_t shared_bytes;
    uint64_t exchange_at, exchange_room, exchange_bytes; /* planned; used */
    bool keeps_layouts; /* stores go without the exchange buffer, which has no room */
    LLVMValueRef shared;   /* dynamic shared memory */
    GpMap turn_opens, turn_closes; /* a turn's first product; the last, or what it is given before */
    bool has_turn; /* consumers, at the place that is being emitted */
    GpPipeRole role;
    LLVMValueRef warpgroup; /* i32, of this thread */
    LLVMValueRef number, count; /* i32: of this block or cluster; persistent: of those that run */
    GpPending *pending;     /* oldest first */
    uint32_t pending_count;
};

/* Registers of a thread. */
typedef struct GpPipeRegisters {
    uint8_t producer, consumer; /* that each role goes on with; 0: as launched */
    uint8_t sums;               /* of consumers' that may hold sums */
    uint8_t operands;           /* and first operands of products beside them */
} GpPipeRegisters;

/* pipe_plan.c */
/* Plans the function, or leaves e->pipe NULL when it has nothing to gain or needs what the roles
** cannot do. Adds the hidden parameters. */
void gp_pipe_plan(GpEmit *e);
uint32_t gp_pipe_block_threads(const GpPipe *p);
uint32_t gp_pipe_tile_threads(const GpPipe *p); /* those that hold tiles */
uint32_t gp_pipe_rows(const GpPipe *p); /* of a block of each warpgroup: they have those of a product in turns */

/* pipe_tensor.c */
typedef struct GpPipeTensor {
    const GpIrParam *param; /* whose map it has */
    const GpInst *slice;    /* what the access is to, a part of that on one axis; NULL: all of it */
    int axis, rank;         /* of the slice; of the map */
} GpPipeTensor;
/* False: the accelerator does not reach the tensor of the load or the store. */
bool gp_pipe_tensor(const GpEmit *e, const GpInst *access, GpPipeTensor *out);
/* Coordinates (i32) of a tile's first element, innermost axis first; beyond the tensor when a mask
** is false. How many there are. */
int gp_pipe_coords(GpEmit *e, const GpInst *inst, LLVMValueRef *out);

/* pipe_live.c */
/* Positions between which a value is alive, and its words. A loop's results are made where it ends. */
typedef struct GpPipeLife {
    const GpValue *value;
    uint32_t first, last;
    int64_t words;
    bool is_index; /* takes no registers to speak of */
} GpPipeLife;
GpPipeLife *gp_pipe_live(GpEmit *e, GpPipe *p); /* by value id */
/* Words that are alive where the product is issued or the tile read, with its sums or elements. */
int64_t gp_pipe_alive(const GpEmit *e, const GpPipeLife *life, const GpInst *inst);

/* What of a product is issued at a time: blocks of 64 rows of each warpgroup, or columns of one. */
typedef struct GpPipePart {
    uint32_t blocks, columns;
    bool is_alone; /* the sums of all others are added before it is issued */
} GpPipePart;

/* pipe_registers.c */
const GpPipeRegisters *gp_pipe_registers(const GpPipe *p);
GpPipePart gp_pipe_part(const GpPipe *p, const GpInst *mma);
int64_t gp_pipe_words(const GpPipe *p, const GpIrType *t); /* 32-bit, of a tile, in each thread */
bool gp_pipe_fits_sums(const GpEmit *e, const GpPipe *p);
/* Marks the first operands that are kept in registers from their load on. */
void gp_pipe_find_held(GpEmit *e, GpPipe *p);

/* pipe_read.c */
bool gp_pipe_can_read(const GpFeed *f, const void *pipe); /* whether it may be a feed that threads read */
/* Moves such loads to the first work on them, in place; true when one was elsewhere. The plan is void then. */
bool gp_pipe_sink(GpEmit *e);
const GpInst *gp_pipe_last_work(GpEmit *e, const GpInst *load);

/* pipe_spread.c: keeps sums of rows in the threads that have the elements, in place; true when there were some.
** The plan is void then. */
bool gp_pipe_spread(GpEmit *e);

/* pipe_channel.c */
GpUnpiped gp_pipe_place_channels(GpEmit *e, GpPipe *p);

/* pipe_fetch.c: finds a load that is copied ahead, when the stores are known. */
void gp_pipe_find_fetch(const GpEmit *e, GpPipe *p);

/* pipe_abi.c */
void gp_pipe_add_maps(GpEmit *e, GpPipe *p);
void gp_pipe_extend_abi(GpEmit *e, GpPipe *p);
/* Takes the hidden parameters; how many there are. */
uint32_t gp_pipe_params(GpEmit *e, LLVMValueRef *args);
void gp_pipe_attributes(GpEmit *e); /* of the hidden parameters */
/* Where the exchange buffer of `bytes` is. With more than was put by for it the kernel has to be
** compiled again: gp_pipe_wants_more. */
LLVMValueRef gp_pipe_exchange(GpEmit *e, uint64_t bytes);
bool gp_pipe_wants_more(const GpEmit *e, uint64_t *exchange);
/* What the image says of it: parameters, maps, shared memory, the schedule. */
void gp_pipe_describe(const GpEmit *e, GpImage *image);

/* pipe_skew.c: rotates a loop of two products, in place; true when there was one. The plan is void
** then. */
bool gp_pipe_skew(GpEmit *e);
/* Finds the loops whose products two warpgroups issue by turns, and when a turn goes to the other. */
void gp_pipe_find_turns(GpEmit *e, GpPipe *p);

/* pipe_ahead.c: loads a product's first operand a turn ahead, in place; true when there was one that threads load. The plan is
** void then. */
bool gp_pipe_ahead(GpEmit *e);

/* pipe_transpose.c: in place; false: there was nothing to transpose. */
bool gp_pipe_transpose(GpIrFn *fn);
/* pipe_split.c: makes two loops of each with products in which a comparison is known in early or in late
** turns, in place; true when there was one. The plan is void then. */
bool gp_pipe_split(GpEmit *e);
bool gp_pipe_can_split(const GpInst *loop);
/* pipe_sign.c: asks in such loops whether factors of what the greatest is taken of are positive; true when it did. */
bool gp_pipe_ask_sign(GpIrFn *fn);
/* A loop that is split; `map` as gp_ir_copy has it. */
typedef struct GpPipeLoop {
    GpIrFn *fn;
    GpInst *inst;
    GpValue **map;
} GpPipeLoop;
/* The same in every turn, and made of scalars alone. */
bool gp_pipe_is_invariant(const GpPipeLoop *l, const GpValue *v);
GpValue *gp_pipe_hoist(GpPipeLoop *l, GpBuilder *b, GpValue *v); /* such a value, in front of the loop */

/* pipe_bound.c */
typedef struct GpPipeBound {
    GpValue *middle; /* a turn from the loop's first to behind its last */
    bool is_early;   /* known in the turns before it; else in those from it on */
} GpPipeBound;
/* The turns in which the comparison is `value` in every element; false: it cannot be told. */
bool gp_pipe_find_bound(GpPipeLoop *l, GpBuilder *b, const GpInst *cmp, bool value, GpPipeBound *out);

/* pipe_jump.c */
/* A return in a branch or a loop, or a check that ends the block when it fails. */
bool gp_pipe_ends_block(const GpInst *inst);
/* Whether something in the region goes elsewhere than on, or ends the block. */
bool gp_pipe_has_jump(const GpRegion *r);
/* Whether something from `first` to before `end` leaves their region. */
bool gp_pipe_leaves(const GpInst *first, const GpInst *end);
/* Whether stages are in use at none of the jumps, but those that are given back where a block ends. */
bool gp_pipe_jumps_fit(const GpPipe *p);
/* Whether a loop has a turn that jumps or may end the block: then turns are as they are written. */
bool gp_pipe_loops_jump(const GpEmit *e);
/* A jump that the producer has to take too and has not in its slice; NULL: none. */
const GpInst *gp_pipe_next_jump(GpPipe *p, const GpRegion *body);

/* pipe_end.c */
/* Finds where the stages of tiles that are loaded once are given back early. */
void gp_pipe_find_ends(GpEmit *e, GpPipe *p);
bool gp_pipe_is_end(const GpPipe *p, const GpInst *inst);
/* Consumers, before an instruction: gives them back. */
void gp_pipe_at_end(GpEmit *e, const GpInst *inst);

/* pipe_slice.c: marks what the producer emits; false when it would need more than scalars. */
bool gp_pipe_slice(GpEmit *e, GpPipe *p);
/* How many of the first operands decide how often the regions of an if or a loop run. */
uint32_t gp_pipe_controls(const GpInst *inst);

/* pipe_carry.c */
bool gp_pipe_moves_sums(GpEmit *e, const GpInst *product); /* to other registers, when they are there */

/* emit_pipe.c */
void gp_pipe_emit(GpEmit *e); /* both roles, in place of gp_emit_body */
/* Whether the role that is being emitted has the instruction or the carried value at all. */
bool gp_pipe_has(const GpEmit *e, const GpInst *inst);
bool gp_pipe_carries(const GpEmit *e, const GpValue *v);
/* Whether the role reports a check's failure. The producer does where it has the check: a call would
** make consumers wait for their products. */
bool gp_pipe_reports(const GpEmit *e, const GpInst *check);
/* Consumers, before an instruction: waits for the products it reads. */
void gp_pipe_before(GpEmit *e, const GpInst *inst);
void gp_pipe_return(GpEmit *e); /* the end of the kernel's body */
bool gp_pipe_load(GpEmit *e, const GpInst *inst); /* false: not a feed */
void gp_pipe_release(GpEmit *e, GpChannel *c);
void gp_pipe_wait(GpEmit *e, LLVMValueRef barrier, LLVMValueRef parity); /* until that phase is complete */
LLVMValueRef gp_pipe_in_cluster(GpEmit *e, LLVMValueRef at); /* the address as copies to shared memory take it */
/* A copy of a box of a tensor to `at`, counted by the barrier; of its part to each of `blocks` (bits), if not 0. */
typedef struct GpPipeCopy {
    LLVMValueRef at, barrier;
    uint32_t map, blocks;
    LLVMValueRef coord[GP_PIPE_MOST_RANK];
    int rank;
} GpPipeCopy;
void gp_pipe_copy(GpEmit *e, const GpPipeCopy *c);
void gp_pipe_barrier(GpEmit *e); /* of all consumers */
LLVMValueRef gp_pipe_any(GpEmit *e, LLVMValueRef cond); /* a barrier too: whether it holds for one */
void gp_pipe_warpgroup_barrier(GpEmit *e); /* of each warpgroup of consumers */
/* Around the products of a turn: waits for this warpgroup's; gives it to the other, if it is this one's. Who has the
** turn waits for the other at no barrier, so that it is given before barriers, branches and loops. */
void gp_pipe_take_turn(GpEmit *e);
void gp_pipe_give_turn(GpEmit *e);
void gp_pipe_give_turn_after(GpEmit *e, LLVMValueRef v); /* f32; not before it is there */
LLVMValueRef gp_pipe_at(GpEmit *e, LLVMValueRef offset); /* in dynamic shared memory; i32 */

LLVMValueRef gp_pipe_tile(GpEmit *e, const GpFeed *f); /* i32: offset of its tile in the stage that is full */

/* emit_pipe_fetch.c: consumers */
void gp_pipe_open_fetch(GpEmit *e);
/* Start it, once this warpgroup's stores have left: in front of the loop, whose turns are known or not (NULL); in turn k. */
void gp_pipe_before_loop(GpEmit *e, const GpInst *loop, LLVMValueRef turns);
void gp_pipe_turn(GpEmit *e, const GpInst *loop, LLVMValueRef k);
void gp_pipe_fetch(GpEmit *e); /* at the load: binds its value */

/* emit_pipe_read.c */
void gp_pipe_hold(GpEmit *e, GpFeed *f); /* an operand that is held; gives its stage back */
void gp_pipe_read(GpEmit *e, GpFeed *f); /* binds what threads read */

/* emit_pipe_store.c */
/* This warpgroup's part of where stores leave from: blocks of 64 rows, of panels as wide as a swizzle, of strips of 16 columns.
** Panels take slots in turns where not all have room. */
typedef struct GpPipeStaging {
    uint32_t blocks, panels, strips, panel_bytes, slots;
    LLVMValueRef base; /* i32, offset */
} GpPipeStaging;
GpPipeStaging gp_pipe_staging(GpEmit *e, const GpShape *matrix, uint32_t panel_bytes);
/* Sixteen columns of 16 rows of each warp: four matrices of 8 x 8, whose rows' addresses the lanes give. */
LLVMValueRef gp_pipe_strip(GpEmit *e, const GpPipeStaging *s, uint32_t block, uint32_t strip);
/* Where a panel is; moves the coordinates of the tile there. */
LLVMValueRef gp_pipe_panel(GpEmit *e, const GpPipeStaging *s, uint32_t block, uint32_t panel, int row_axis, LLVMValueRef *coord);
void gp_pipe_in_first(GpEmit *e, void (*emit)(GpEmit *e, void *ud), void *ud); /* in the first thread of each warpgroup */
void gp_pipe_wait_left(GpEmit *e, void *ud); /* that thread: until the copies of its stores have read */

bool gp_pipe_store(GpEmit *e, const GpInst *inst); /* false: stored by its threads */
void gp_pipe_drain_stores(GpEmit *e);

/* pipe_schedule.c */
void gp_pipe_schedule(GpEmit *e, GpPipe *p);
/* Extents of the grid that is walked: of `grid`, in clusters. */
void gp_pipe_extent(GpEmit *e, LLVMValueRef const *grid, LLVMValueRef *extent);
void gp_pipe_place(GpEmit *e, LLVMValueRef n, LLVMValueRef const *extent, LLVMValueRef *id);

/* emit_wgmma.c */
typedef struct GpWgmmaRow {
    GpElem elem;
    const char *type;
    uint32_t k;
    bool has_transpose;
} GpWgmmaRow;
/* The rows of the operands' types; false when wgmma does not take the product. */
bool gp_wgmma_find(const GpInst *mma, const GpWgmmaRow **a, const GpWgmmaRow **b);
/* The product's sums are added to the accumulator, and take registers beside it. */
bool gp_wgmma_promotes(const GpInst *mma);
void gp_wgmma(GpEmit *e, const GpInst *inst);
/* Which register of the value's layout holds (block of 64 rows, column / 8, row / 8 % 2, column % 2)
** of a thread's part, in this order. */
uint32_t *gp_wgmma_places(GpEmit *e, const GpShapeLayout *s);
/* The layout of a product's sums, or of its first operand in registers. */
const GpShapeLayout *gp_wgmma_layout(GpEmit *e, const GpShape *shape);

#endif
