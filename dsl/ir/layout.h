/* Layouts: which element of a tile each register of each lane of each warp holds.
**
** A layout is integer repetitions x a linear map over bits x affine padding (Zhou et al.,
** "Linear Layouts", arXiv 2505.23819). The linear part maps the bits of (register, lane, warp)
** to bits of the tile coordinates by XOR; repetitions multiply extents that are no powers of
** two (192 rows = 3 x 64). Repetitions are registers', or the turns of groups of warps where the warps
** are no power of two (three warpgroups). Blocked register layouts, tensor-core fragments and
** shared-memory swizzles are instances. */
#ifndef GP_LAYOUT_H
#define GP_LAYOUT_H

#include "core/arena.h"
#include "core/elem.h"
#include "dsl/ir/ir.h"

enum { GP_LAYOUT_BITS = 20 }; /* per input dimension at most */

typedef enum GpLayoutDim { GpLayoutDim_Register, GpLayoutDim_Lane, GpLayoutDim_Warp, GpLayoutDim_count } GpLayoutDim;

/* bases[d][i]: the coordinate reached by setting bit i of input dimension d alone. A zero basis
** means that the bit does not change the coordinate (the element is held twice). */
typedef struct GpLayout {
    uint8_t rank;
    uint8_t bits[GpLayoutDim_count];
    int32_t bases[GpLayoutDim_count][GP_LAYOUT_BITS][GP_MAX_RANK];
    int32_t atom[GP_MAX_RANK];   /* extents covered by the linear part */
    int32_t repeat[GP_MAX_RANK]; /* integer repetitions per axis, the slowest register digits */
    uint8_t groups;    /* of so many warps as there are bits for, where warps are no power of two; else 1 */
    int8_t group_axis; /* whose repetitions they take in turns; below zero: each group holds everything */
} GpLayout;

/* Elements one thread holds: 2^register bits x all repetitions of a group. */
uint32_t gp_layout_registers(const GpLayout *l);
uint32_t gp_layout_threads(const GpLayout *l);
GpShape gp_layout_shape(const GpLayout *l);
uint8_t gp_layout_group_bits(const GpLayout *l); /* of the thread's number, below its group's */
int32_t gp_layout_group_step(const GpLayout *l, int axis); /* from a group's coordinate to the next one's */
/* Bits of a thread's number that are 0 in the first group, where each holds everything. */
uint32_t gp_layout_group_mask(const GpLayout *l);
/* These, and the bits that change nothing of what a thread holds. */
uint32_t gp_layout_useless_mask(const GpLayout *l);
/* Coordinates of register `reg` of lane `lane` of warp `warp`. */
void gp_layout_at(const GpLayout *l, uint32_t reg, uint32_t lane, uint32_t warp, int32_t *coord);
bool gp_layout_equal(const GpLayout *a, const GpLayout *b);
/* Every element is held by at least one (register, lane, warp). */
bool gp_layout_covers(const GpLayout *l);

/* The blocked layout for streaming access: the innermost axis first to registers in runs of
** `vector` elements, then to as many as `inner` bits of lanes and warps; the other bits of these
** come from the other axes, or from this one when they have none; what is left goes to registers.
** `threads` is a power of two from 32 on, or groups of so many; extents that are too small for all
** threads are held more than once. */
enum {
    GP_LAYOUT_STREAM = 10,    /* inner: all bits */
    GP_LAYOUT_ROWS = 5,       /* a warp stays in its row */
    GP_LAYOUT_SCAN = 5 | 1 << 4 /* and where several share one, each has a part for itself */
};
const GpLayout *gp_layout_blocked(GpArena *arena, const GpShape *shape, uint32_t vector,
                                  uint32_t threads, int inner);
/* The accumulator of wgmma m64nNk16, or of blocks of mma.sync m16n8, for [b x] m x n (m a multiple
** of 16, n of 8): a register pair is two columns, the next bit eight rows, further ones columns from 8
** on; a quad of lanes covers eight columns, its eight quads eight rows. Warps take 16 rows each, and
** `across` (a power of two) of them 16 columns; what is left goes to registers. Warps that are left
** hold everything again. */
const GpLayout *gp_layout_mma(GpArena *arena, const GpShape *shape, uint32_t threads, uint32_t across);
/* Without `axis`: registers that differ on it alone become one; lanes and warps that do hold the
** same element. */
const GpLayout *gp_layout_slice(GpArena *arena, const GpLayout *l, int axis);
/* Axis k is axis perm[k] of `l`. */
const GpLayout *gp_layout_permute(GpArena *arena, const GpLayout *l, const GpPerm *perm);
/* Each thread holds the same elements, of a tile of the same row-major order and another shape;
** NULL where that is no layout: where an axis that is no power of two is not the slowest of those that it
** is made of, or split into. */
const GpLayout *gp_layout_reshape(GpArena *arena, const GpLayout *l, const GpShape *shape);

/* Of a tile whose extents are multiples of the layout's: each thread holds the same elements of every part of it. NULL
** where groups take turns on an axis that grows. */
const GpLayout *gp_layout_widen(GpArena *arena, const GpLayout *l, const GpShape *shape);
/* Of the first part of a tile that has `shape`; NULL where not every thread holds all parts' same elements. */
const GpLayout *gp_layout_narrow(GpArena *arena, const GpLayout *l, const GpShape *shape);

/* The register of lane 0 of warp 0 that holds the element at `coord`; false: none does. */
bool gp_layout_register(const GpLayout *l, const int32_t *coord, uint32_t *reg);
/* Every thread holds in `from` what it wants in `to`: register r of `to` is register map[r] of
** `from` in each of them. */
bool gp_layout_same_thread(const GpLayout *from, const GpLayout *to, uint32_t *map);
/* Longest run of registers (power of two) that hold consecutive elements of the innermost axis. */
uint32_t gp_layout_run(const GpLayout *l);

#endif
