/* Checks that every launch makes instead of the kernel: comparisons of what is known of its arguments
** and its grid, as rows of terms, operands before operations.
**
** A value that differs from block to block or from turn to turn is known as a range. */
#ifndef GP_IR_LAUNCH_H
#define GP_IR_LAUNCH_H

#include "dsl/ir/ir.h"

typedef struct GpLaunchTerm {
    GpOp op;          /* const; dim; num_programs; program_id; for (its index), below; else elementwise */
    GpPred pred;
    GpElem elem;      /* of the result */
    uint8_t arg, axis;
    uint8_t operands; /* taken from the terms before */
    bool varies;      /* from block to block or turn to turn */
    GpScalar value;   /* const */
} GpLaunchTerm;

typedef struct GpLaunchSide {
    GpLaunchTerm *terms;
    uint32_t count;
} GpLaunchSide;

typedef struct GpLaunchCheck {
    GpLaunchSide value, length; /* 0 <= value < length; length empty: value is true */
    bool is_whole; /* not of the kernel: for the accesses of GpIrFn.whole */
    GpSpan span;
    const char *what;
    uint8_t axis;
} GpLaunchCheck;

/* What a launch has. Extents of tensors by argument and axis. */
typedef struct GpLaunchFacts {
    int64_t (*extent)(const void *ud, uint32_t arg, uint32_t axis);
    const void *ud;
    const uint32_t *grid;
} GpLaunchFacts;

/* The least and the greatest value that an integer or bool may have; nothing known: all of int64_t. */
typedef struct GpLaunchRange {
    int64_t least, most;
} GpLaunchRange;

/* The value as terms in `out`; false when it depends on more than extents, the grid and the place in
** it (with `has_grid`) and constants. */
bool gp_launch_side(const GpIrFn *fn, const GpValue *v, bool has_grid, GpLaunchSide *out);
/* How many tiles of `extent` elements lie in the tensor `v` on an axis with all of their elements. */
bool gp_launch_whole_tiles(const GpIrFn *fn, const GpValue *v, uint8_t axis, int64_t extent, GpLaunchSide *out);
GpLaunchRange gp_launch_range(const GpLaunchSide *side, const GpLaunchFacts *facts);
bool gp_launch_holds(const GpLaunchCheck *check, const GpLaunchFacts *facts);
/* What the value is made of is not known well enough in any launch: it fails for one block and large tensors. */
bool gp_launch_is_open(const GpLaunchCheck *check);
/* The accesses of fn->whole are to tiles that lie inside of their tensors. */
void gp_launch_mark_whole(GpIrFn *fn);
GpLaunchCheck *gp_launch_copy(GpArena *arena, const GpLaunchCheck *checks, uint32_t count);

#endif
