/* Loads whose tiles come through shared memory.
**
** Most are read by products alone, or by changes of shape that only products read: they have no stop in
** registers. Some may be read by threads beside products. A feed's tile is a matrix of lines; in shared memory it lies as panels: columns of `panel_bytes` bytes with all the
** lines, whose 16-byte chunks are swizzled as wide as the panel is. */
#ifndef GP_FEED_H
#define GP_FEED_H

#include "codegen/emit.h"

enum {
    GP_FEED_LINE_BYTES = GP_GPU_LINE_BYTES,    /* what the widest swizzle spans */
    GP_FEED_CHUNK_BYTES = GP_GPU_VECTOR_BYTES, /* what swizzles exchange */
    GP_SWIZZLE_LINES = 8,                      /* whose swizzles differ */
    GP_FEED_ALIGN = GP_SWIZZLE_LINES * GP_FEED_LINE_BYTES
};

/* By how many bits of a line's number its chunks are exchanged, in panels of so many bytes: 0 of 128, 1 of 64, 2 of 32. */
static inline uint32_t gp_panel_shift(uint32_t panel_bytes) {
    uint32_t shift = 0;
    while (panel_bytes << shift < GP_FEED_LINE_BYTES)
        shift++;
    return shift;
}

typedef struct GpFeed {
    const GpInst *load;
    uint32_t lines, width, panel_bytes, panels; /* width: elements of a line, innermost in memory */
    uint64_t offset; /* in a stage */
    struct GpGroup *group; /* pipe.h */
    struct GpFeed *beside; /* the next of the group */
    uint32_t map;          /* index into GpImage.maps */
    bool is_read;          /* by threads, into registers: no product's operand */
    bool is_shared;        /* each block of a cluster loads its part of the lines, for all */
    bool is_swapped; /* of a channel that is held: as GpFeedView has it */
    GpBound words;   /* then: its registers in the order of the products */
    struct GpAsyncLoop *loop; /* async.h; NULL: copied where it stands */
} GpFeed;

typedef struct GpFeeds {
    GpFeed *at;
    uint32_t count;
    GpMap of; /* load -> GpFeed */
} GpFeeds;

/* The operand of a product as it lies in shared memory. Swapped: its second axis (of the two that
** are not 1) is the one with the lines. */
typedef struct GpFeedView {
    GpFeed *feed;
    bool is_swapped;
} GpFeedView;

/* Finds the loads that `fits` takes, which fills in the rest of *out, and nothing but products reads. What no product
** reads is a feed where `reads` says so; NULL: nowhere. */
void gp_feeds_find(GpEmit *e, GpFeeds *f, bool (*fits)(const GpEmit *e, const GpInst *load, GpFeed *out),
                   bool (*reads)(const GpFeed *f, const void *ud), const void *ud);
/* What makes a value, below changes of shape; NULL: a parameter. */
const GpInst *gp_feed_origin(const GpValue *v, bool *is_swapped);
/* False of what is no product's operand. */
bool gp_feed_view(const GpFeeds *f, const GpValue *v, GpFeedView *out);
/* Lines, width and panels of a tile of the type; false: it is no matrix of whole panels. */
bool gp_feed_set_panels(GpFeed *f, const GpIrType *type);
/* What is known of the tensor that the load reads; NULL when the kernel made it. */
const GpIrParam *gp_feed_tensor(const GpEmit *e, const GpInst *load);
uint64_t gp_feed_copied(const GpFeed *f); /* bytes that its copies bring */
uint64_t gp_feed_bytes(const GpFeed *f);  /* of a stage, to where the next tile may begin */
/* The two axes of a tile that are not 1; false when there are more or fewer. */
bool gp_feed_axes(const GpShape *shape, int axis[2]);
/* Only axes of extent 1 come or go. */
bool gp_feed_drops_units(const GpInst *reshape);

#endif
