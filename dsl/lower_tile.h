/* Between the expansions of cutile::core (lower_intrinsic_tile.c, _view.c, _raw.c, _shape.c,
** _reduce.c, _named.c, _ptr.c). Not for other files. */
#ifndef GP_LOWER_TILE_H
#define GP_LOWER_TILE_H

#include "dsl/lower.h"

/* ---- lower_intrinsic_tile.c */
GpValue *gp_tile_axis_op(GpLower *lo, GpOp op, uint32_t axis);
GpValue *gp_tile_dim(GpLower *lo, GpValue *tensor, uint32_t axis);
/* Of itself, though a precondition says that it is another's too. */
GpValue *gp_tile_own_dim(GpLower *lo, GpValue *tensor, uint32_t axis);
/* A precondition says that the extent is a multiple of `of`. */
bool gp_tile_is_multiple(GpLower *lo, GpValue *tensor, uint32_t axis, int64_t of);
GpValue *gp_tile_reshape(GpLower *lo, GpValue *x, const GpShape *shape);
/* Missing leading axes have extent 1. */
GpValue *gp_tile_broadcast(GpLower *lo, GpValue *x, const GpShape *shape);
/* An argument that must be an axis known at compile time, below `limit`; false after a report. */
bool gp_tile_const_axis(GpLower *lo, const GpLowerCall *call, uint32_t arg, uint32_t limit,
                        uint32_t *out);
/* Scalars among the arguments spread over the tile among them. */
void gp_tile_read(GpLower *lo, const GpLowerCall *call, GpValue **x, uint32_t count);
/* Coordinates from an array (or tuple) argument, as i32; false after a report. */
bool gp_tile_read_coords(GpLower *lo, const GpLowerCall *call, uint32_t arg, uint32_t rank,
                         GpValue **coords);

/* ---- lower_intrinsic_view.c */
typedef struct GpTileView {
    GpValue *tensor, *pad;
    uint32_t rank;
    GpValue *first[GP_MAX_RANK], *count[GP_MAX_RANK]; /* of the view's axes */
    GpPerm map;                                       /* axis of the tensor */
    GpShape tile;                                     /* of the view's axes */
} GpTileView;
GpVal gp_tile_pack_view(GpLower *lo, const GpType *t, const GpTileView *v);
bool gp_tile_read_view(GpLower *lo, const GpLowerCall *call, uint32_t arg, GpTileView *v);
/* The value of a padding marker; NULL after a report, where the element type has none. */
GpValue *gp_tile_padding(GpLower *lo, const GpLowerCall *call, uint32_t arg, GpElem elem);
/* The extents of a block's own tile of the first argument: those of the type, or what the launch
** said. False for a tensor that is no parameter: it is the kernel's own whole. */
bool gp_tile_own(GpLower *lo, const GpLowerCall *call, const GpValue *tensor, GpShape *own);
/* mask NULL: true. The tile to store is argument 1. */
GpVal gp_tile_load_view(GpLower *lo, const GpLowerCall *call, const GpTileView *v,
                        GpValue *const *coords, GpValue *mask);
GpVal gp_tile_store_view(GpLower *lo, const GpLowerCall *call, const GpTileView *v,
                         GpValue *const *coords, GpValue *mask);

/* ---- lower_intrinsic_bound.c */
/* One value: the same, equal constants, or equal pure expressions of such. */
bool gp_tile_is_same(GpValue *a, GpValue *b);
/* The value of an expression of constants. */
bool gp_tile_known(GpValue *v, GpScalar *out);
/* The index is known to be in 0..count. */
bool gp_tile_is_below(GpLower *lo, GpValue *index, GpValue *count);
/* A condition on two numbers, which a failure tells. */
typedef struct GpTileNeed {
    GpValue *holds, *found, *limit;
    const char *what; /* "that ..", does not hold */
} GpTileNeed;
/* Reports at run time what is needed unless it holds; the block ends there. */
void gp_tile_require(GpLower *lo, const GpLowerCall *call, const GpTileNeed *need);
/* 0 <= value <= limit */
void gp_tile_require_within(GpLower *lo, const GpLowerCall *call, GpValue *value, GpValue *limit, const char *what);

/* ---- lower_intrinsic_ptr.c */
/* The one address of a pointer tile of rank 0. */
GpValue *gp_tile_address(GpLower *lo, const GpLowerCall *call, uint32_t arg);

/* ---- lower_join_tensor.c */
/* The parts that a region carries of a tensor: its address, its extents, its strides. */
uint32_t gp_tensor_parts(const GpIrType *tensor);
const GpIrType *gp_tensor_part_type(GpLower *lo, const GpIrType *tensor, uint32_t part);
GpValue *gp_tensor_part(GpLower *lo, GpValue *tensor, uint32_t part);
/* Of a tensor that is not there: it has no elements. */
GpValue *gp_tensor_no_part(GpLower *lo, const GpIrType *part);
GpValue *gp_tensor_of_parts(GpLower *lo, const GpIrType *tensor, GpValue *const *parts);
/* The type of a tensor of any extents. */
const GpIrType *gp_tensor_any(GpLower *lo, const GpIrType *tensor);

/* ---- lower_intrinsic_raw.c */
/* Extents are i32 and constant where the shape says so. */
GpValue *gp_tile_make_tensor(GpLower *lo, GpValue *address, const GpShape *shape,
                             GpValue *const *extents, GpValue *const *strides);

/* Elements of a tensor, with the mask false for those beyond it. Their tile has the axes of the
** tensor: axis k of the view's tile is its axis map.axis[k]. */
typedef struct GpGathered {
    GpValue *base, *offsets, *mask;
    GpPerm map;
    GpValue *pad; /* of the view */
} GpGathered;
/* The tile of a view (argument 0) of any kind at the indices of argument `index`; false after a
** report. */
bool gp_tile_gather_view(GpLower *lo, const GpLowerCall *call, uint32_t index, GpGathered *out);
/* A tile of the view as one of the gathered elements. */
GpValue *gp_tile_unmapped(GpLower *lo, GpValue *tile, const GpPerm *map);

/* ---- lower_intrinsic_shape.c */
/* The axes that an Array type names; false when they are no order of `rank` axes. */
bool gp_tile_perm(GpLower *lo, const GpType *array, uint32_t rank, GpPerm *out);
bool gp_tile_is_perm(const GpShape *axes, uint32_t rank, GpPerm *out);
GpValue *gp_tile_permute(GpLower *lo, GpValue *x, GpPerm perm);

/* ---- lower_round.c */
typedef enum GpRounding {
    GpRounding_Near, /* halves to the even one */
    GpRounding_Away, /* to nearest, halves away from zero */
    GpRounding_Up,
    GpRounding_Down,
    GpRounding_Zero
} GpRounding;
/* Add, Sub, Mul, Div, Fma or Sqrt of floats, rounded in a direction; NULL where that is not known
** how: fma of f64, and halves away from zero. */
GpValue *gp_round_op(GpLower *lo, GpOp op, GpValue **x, uint32_t count, GpRounding mode);
/* A number as a float, rounded in a direction or with halves away from zero. */
GpValue *gp_round_convert(GpLower *lo, GpValue *x, GpElem to, GpRounding mode);
/* Floats to whole numbers, halves to the even one. */
GpValue *gp_round_even(GpLower *lo, GpValue *x);

/* Whether the first two are matrices, or batches of them, whose product goes into the third. */
bool gp_tile_are_matrices(GpValue *const *x);

/* The name of the unit struct that a marker argument is; "" for one that was left out. */
const char *gp_tile_marker(const GpLowerCall *call, uint32_t arg);

#endif
