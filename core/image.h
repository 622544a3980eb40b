/* GpImage: a compiled kernel, the only thing that codegen and runtime share.
**
** It carries the launch ABI (ARCHITECTURE.md, "Launch ABI"): how the parameter block is laid
** out, what the launcher must put where, how many threads a block has, and where in the source
** each in-kernel check stands. A foreign launcher needs nothing else. */
#ifndef GP_IMAGE_H
#define GP_IMAGE_H

#include "core/elem.h"
#include "core/schedule.h"
#include "core/source.h"

/* What one parameter of the compiled kernel holds. `arg` is the index of the source-level
** parameter, `axis` the tensor axis where the kind has one. */
typedef enum GpParamKind {
    GpParam_Base,    /* address of the argument's first element */
    GpParam_Dim,     /* extent of an axis of a tensor, i32 (tile track) */
    GpParam_Stride,  /* stride of an axis in elements, i64 */
    GpParam_Len,     /* element count of a slice, u64 (SIMT track) */
    GpParam_Scalar,  /* the argument's value in its storage form */
    GpParam_Grid,    /* extent of the virtual grid on axis 0, 1 or 2, u32 */
    GpParam_TensorMap, /* the tensor's CUtensorMap; `axis` is the index into GpImage.maps */
    GpParam_Mailbox, /* address of a GpMailbox */
} GpParamKind;

#define GP_TENSOR_MAP_BYTES 128
#define GP_TENSOR_MAP_ALIGN 64

typedef struct GpImageParam {
    GpParamKind kind;
    uint8_t arg;
    uint8_t axis;
    uint8_t bytes;   /* 1, 2, 4 or 8, naturally aligned; GP_TENSOR_MAP_BYTES at GP_TENSOR_MAP_ALIGN */
    uint16_t offset; /* in the parameter block */
} GpImageParam;

/* How asynchronous copies see a tensor argument: boxes of elements that land in shared memory.
** Its variant has the facts `aligned16` and `unit_stride` (GpIrParam). */
typedef struct GpImageMap {
    uint8_t arg;
    GpElem elem; /* what the copy takes the elements for; their size is the tensor's */
    uint8_t rank;
    uint32_t box[GP_MAX_RANK]; /* elements, in the tensor's axis order, outermost first */
    uint8_t swizzle;           /* bytes: 0, 32, 64 or 128 */
    uint8_t slices;            /* what is seen are slices on this axis, counted from 1; 0: the whole */
} GpImageMap;

/* Of slices a map has two axes more, behind the tensor's. The sliced one ends at END elements, whatever it has: a slice of
** n rows from row s on has its row r at r + END - n, so that what is beyond it is beyond the axis. The first one more, of
** the same stride, is at s + n. The last, of 2^34 elements less that stride, is at END, which is 2^64 bytes or a multiple
** less END rows: addresses wrap, and both cancel. As Triton's ragged descriptors (triton/tools/ragged_tma.py). */
#define GP_MAP_SLICE_END 0x40000000
#define GP_MAP_SLICE_MORE 2 /* axes */

/* First failed check of a launch. In memory that host and device both see; zero before the
** launch. A failing thread moves `state` 0 -> 1 by compare-and-swap, fills the rest, stores 2.
** Later failures find it non-zero and only go on. */
typedef struct GpMailbox {
    uint32_t state;
    uint32_t site; /* index into GpImage.sites */
    uint32_t block[3];
    uint32_t thread[3]; /* zero on the tile track */
    int64_t value;      /* the index; what the kernel gave */
    int64_t limit;      /* the length it had to stay below; what there is */
} GpMailbox;

typedef enum GpCheckKind {
    GpCheck_Index,    /* value is not in 0..limit */
    GpCheck_Tile,     /* tile coordinate `value` is not in 0..limit on `axis` */
    GpCheck_Divide,   /* division or remainder by zero; ends the thread */
    GpCheck_Assert,   /* assert!, panic!, unwrap; ends the thread */
    GpCheck_Require,  /* what an access relies on, in words, of `value` and `limit`; ends the block */
} GpCheckKind;

/* A check that is left in the kernel. */
typedef struct GpCheckSite {
    GpCheckKind kind;
    uint8_t axis;
    GpPlaceInFile place;
    const char *what; /* source text of what is checked: "a[i]"; the message of an assert */
} GpCheckSite;

typedef struct GpGrid {
    uint32_t grid[3];  /* blocks */
    uint32_t block[3]; /* threads a block; 1, 1, 1 on the tile track (see `threads`) */
} GpGrid;

/* How the blocks of a launch share out the tiles of a partition. */
typedef struct GpShare {
    GpShape map;      /* rank 0: one tile for each block; else MappedPartitionMut's */
    uint32_t blocks;  /* of a map */
    bool is_prefix;   /* the grid is given and may leave tiles out at the end of an axis */
} GpShare;

/* Runs blocks [first, first + count) of the grid, in linear order x fastest. `params` is the
** parameter block. Re-entrant: the thread pool calls it from several threads at once. Ends early when `stop` is. */
typedef void (*GpCpuEntry)(void *self, const uint8_t *params, const GpGrid *grid, uint64_t first,
                           uint64_t count, GpStop *stop);

typedef enum GpImageKind { GpImage_Ptx, GpImage_Cpu } GpImageKind;

/* Heap object, reference-counted (not atomic). */
typedef struct GpImage {
    GpSession *session;
    uint32_t refs;
    GpImageKind kind;
    const char *name;        /* the kernel's name as users know it */

    GpImageParam *params;    /* in the order of the compiled function's parameters */
    uint32_t param_count;
    uint32_t param_bytes;    /* size of the parameter block */
    uint64_t written;        /* arguments that the kernel stores to */
    uint64_t overwrites;     /* arguments stored whole by a covering launch: gp_ir_overwrites */
    GpCheckSite *sites;
    uint32_t site_count;
    GpImageMap *maps;        /* GpImage_Ptx */
    uint32_t map_count;

    /* GpImage_Ptx */
    const char *ptx;         /* NUL-terminated */
    size_t ptx_len;
    const char *entry;       /* symbol of the kernel */
    uint32_t threads;        /* tile track: threads a block; 0: the launch's block decides */
    uint32_t shared_bytes;   /* dynamic shared memory */
    uint32_t cluster[3];     /* 1, 1, 1: none */
    GpSchedule schedule;     /* tile track: what the compiler chose; nothing of it is 0 */
    GpUnpiped unpiped;       /* tile track */
    bool is_persistent;      /* tile track: launched with as many blocks as run at once, along x; they
                             ** walk the virtual grid (GpParam_Grid) themselves */
    bool is_dependent;       /* it waits for the kernel ahead in its stream by itself, and so may be
                             ** placed before that one has ended */
    uint16_t ptx_version;    /* 80 is PTX 8.0 */
    uint16_t min_sm;         /* 90 is sm_90 */

    /* GpImage_Cpu */
    GpCpuEntry cpu_entry;
    void *cpu_self;          /* first argument of cpu_entry */
    void (*release)(void *cpu_self); /* called by the last gp_image_release; may be NULL */
} GpImage;

GpImage *gp_image_retain(GpImage *image);
void gp_image_release(GpImage *image); /* NULL is ignored */
/* Heap image whose arrays are copies; strings too. NULL when out of memory. */
GP_NODISCARD GpImage *gp_image_copy(GpSession *s, const GpImage *from);

#endif
