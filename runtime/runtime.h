/* The runtime: devices, storage and its ownership, tensors, streams, launches, the disk cache.
**
** The only folder that knows CUDA, which it dlopens and never links. It knows no Lua and no
** compiler: kernels arrive as GpImage. Both Lua and the C API go through these functions, so
** both get the same verdicts.
**
** Conventions: functions that can fail return GpStatus and report to `diags` whatever a user can
** act on (ownership verdicts with rustc's codes, G03xx for other misuse, G09xx for the
** environment). GpStatus_Diagnostics means a mistake of the caller, anything else an environment
** failure; both leave every argument as it was. Objects are reference-counted; a runtime and
** all that belongs to it are used by one thread at a time. */
#ifndef GP_RUNTIME_H
#define GP_RUNTIME_H

#include "core/diag.h"
#include "core/image.h"

typedef struct GpRuntime GpRuntime;
typedef struct GpDevice GpDevice;
typedef struct GpStream GpStream;
typedef struct GpStorage GpStorage;
typedef struct GpTensor GpTensor;
typedef struct GpPartition GpPartition;
typedef struct GpExec GpExec;
typedef struct GpRunOp GpRunOp;
typedef struct GpGraph GpGraph;

/* A place in the host program: cheap to record on every call, resolved only for a message. */
typedef struct GpSite {
    uint32_t file; /* the host's number for a chunk; 0: unknown (a C caller) */
    uint32_t line;
} GpSite;

/* What a label wants to point at on the line of a site: an argument of a call, or what a method
** was called on. */
typedef struct GpSiteHint {
    const char *callee; /* name of the called kernel, or NULL */
    uint32_t arg;       /* index of its argument */
    const char *method; /* the receiver of the call of that method, or NULL */
    bool is_name;       /* only the name in it (`z` of `z:tiles{8}`); no span where it has none */
} GpSiteHint;

typedef struct GpRuntimeHooks {
    /* The span of a site, for a label: what the hint names when it can be found, else the line
    ** (hint may be NULL). The source's reference belongs to the hook's owner and lives as long
    ** as the runtime. NULL: sites have no place. */
    GpSpan (*resolve)(void *ud, GpSite site, const GpSiteHint *hint);
    /* Runs a full collection of the host's garbage, so that dropped ops, partitions and views
    ** release what they hold. NULL: none. */
    void (*collect)(void *ud);
    /* The name that the code running now has for a value (a GpTensor, GpPartition or GpRunOp),
    ** written to `out`; false when it has none. `at` (may be NULL) gets the place of the name on
    ** the line that runs, no span when it does not stand there once. Called only to build a
    ** message. NULL: no names. */
    bool (*name)(void *ud, const void *value, GpText *out, GpSpan *at);
    void *ud;
    /* The span of a check in a kernel's source, for the message when it failed; its source lives
    ** as resolve's does. NULL: the message points at the launch and names the place in a note. */
    GpSpan (*locate)(void *ud, const GpCheckSite *site);
    /* Enqueues a copy between two views of one GPU, of three axes and the same unsigned type, by a kernel.
    ** The elements of `to`'s last axis lie nearest, of `from` those of its last one or of the one before.
    ** NULL: copies in many pieces go through host memory. */
    GpStatus (*copy)(void *ud, GpTensor *to, GpTensor *from, GpSite site, GpDiags *diags);
} GpRuntimeHooks;

typedef struct GpRuntimeConfig {
    GpRuntimeHooks hooks;
    const char *libcuda;   /* library to load; NULL: GPULUA_LIBCUDA, then the usual names */
    const char *cache_dir; /* NULL: GPULUA_CACHE, else $XDG_CACHE_HOME/gpulua; "" disables */
    uint32_t cpu_threads;  /* 0: GPULUA_THREADS, else the cores this process may use */
    void *cuda_context;    /* a CUcontext of the host to use instead of the primary one; NULL */
    bool ignore_env;       /* do not read GPULUA_* variables */
} GpRuntimeConfig;

/* Touches no device and starts no thread. */
GpStatus gp_runtime_new(GpSession *s, const GpRuntimeConfig *config, GpRuntime **out);
/* Waits for what is enqueued and frees all memory of its devices; what is left of its objects is
** refused by every call, and only released. Idempotent. */
void gp_runtime_close(GpRuntime *rt);
/* Closes it, and goes with the last of its objects. NULL is ignored. */
void gp_runtime_free(GpRuntime *rt);

/* ---- Devices --------------------------------------------------------------------------- */

typedef enum GpDeviceKind { GpDevice_Cpu, GpDevice_Interp, GpDevice_Cuda } GpDeviceKind;

typedef struct GpDeviceInfo {
    GpDeviceKind kind;
    int index;
    char name[16];         /* "cpu", "interp", "cuda:0" */
    char product[256];     /* "NVIDIA H200"; the processor's model name */
    uint16_t sm;           /* 90; 0 on the CPU */
    uint16_t max_ptx;      /* newest PTX version the driver reads, 90 for 9.0 */
    int driver_version;    /* 13000; 0 on the CPU */
    uint32_t processors;   /* multiprocessors; worker threads on the CPU */
    uint32_t max_threads;  /* per block */
    uint32_t max_resident; /* threads that a multiprocessor holds at once; 0 on the CPU */
    uint32_t max_block[3], max_grid[3];
    uint32_t max_shared;   /* opt-in bytes per block */
    uint64_t memory;       /* bytes in all */
} GpDeviceInfo;

/* Opens "cpu", "interp" (the oracle, for tests), "cuda", "cuda:N" or "auto": GPULUA_DEVICE if
** set, else cuda:0 when there is one, else the CPU. `*fell_back` (may be NULL) tells that auto
** chose the CPU because no GPU is usable; `diags` then holds the reason as a note and the status
** is Ok. Devices live as long as the runtime; opening twice gives the same one. */
GpStatus gp_device_open(GpRuntime *rt, GpStr name, GpDiags *diags, GpDevice **out, bool *fell_back);
const GpDeviceInfo *gp_device_info(const GpDevice *d);
/* GPUs present; 0 with a diagnostic that says why when there is no usable driver. */
uint32_t gp_device_count(GpRuntime *rt, GpDiags *diags);
/* Path and version (13000; 0 unknown) of the loaded libcuda for `doctor`; NULL and 0 before
** one was loaded, which gp_device_count does. */
const char *gp_driver_path(GpRuntime *rt);
int gp_driver_version(GpRuntime *rt);
GpStream *gp_device_default_stream(GpDevice *d);
GpStatus gp_device_sync(GpDevice *d, GpDiags *diags);

typedef struct GpMemoryInfo {
    uint64_t used;     /* bytes of live storages */
    uint64_t peak;
    uint64_t reserved; /* held by pools, used or not */
    uint64_t free, total;
} GpMemoryInfo;
GpStatus gp_device_memory(GpDevice *d, GpMemoryInfo *out);

/* ---- Storage and tensors --------------------------------------------------------------- */

/* Row-major, contents undefined. Out of device memory: purge, collect, trim, then
** GpStatus_DeviceMemory with sizes in the diagnostic (G0910). Extents may be 0. */
GpStatus gp_tensor_new(GpDevice *d, GpElem elem, const GpShape *shape, GpSite site, GpDiags *diags,
                       GpTensor **out);

/* Memory of somebody else's, to be borrowed: of the host's for the CPU, of the device's for a GPU.
** The lender promises that it stays until `release` is called, and that nobody else writes to it
** while work on the tensor is enqueued, nor reads it while such work writes. */
typedef struct GpBorrow {
    uint64_t address;      /* of the first element; a multiple of its size */
    uint64_t bytes;        /* from there on, in which all elements lie; UINT64_MAX: not known */
    GpElem elem;
    GpShape shape;
    const int64_t *stride; /* elements; NULL: row-major */
    bool is_readonly;      /* frozen from the start */
    /* Called once, when no work uses the memory any more: by the release of the last handle, by
    ** gp_tensor_drop or gp_runtime_close, which wait for that. It calls no function of the runtime
    ** but such as release. Not called in a child of fork. NULL: none. */
    void (*release)(void *ud);
    void *ud;
} GpBorrow;
/* A tensor over it; nothing is copied. G0317 for what cannot be a tensor there, G0318 for memory of
** a live tensor, of which there are views. A failure takes nothing: `release` is not called. */
GpStatus gp_tensor_borrow(GpDevice *d, const GpBorrow *b, GpSite site, GpDiags *diags, GpTensor **out);
GpTensor *gp_tensor_retain(GpTensor *t);
/* The last handle of a storage frees it, ordered behind what is enqueued; borrowed memory is given
** back, which waits for it. */
void gp_tensor_release(GpTensor *t);

/* No other handle of the runtime ever has it. What is told below never changes, but that what was freed is at 0. */
uint64_t gp_tensor_number(const GpTensor *t);
GpElem gp_tensor_elem(const GpTensor *t);
const GpShape *gp_tensor_shape(const GpTensor *t);
const int64_t *gp_tensor_strides(const GpTensor *t); /* in elements */
GpDevice *gp_tensor_device(const GpTensor *t);
uint64_t gp_tensor_bytes(const GpTensor *t);         /* of its elements */
bool gp_tensor_is_contiguous(const GpTensor *t);
bool gp_tensor_is_view(const GpTensor *t);           /* not the handle that made the storage */
/* Address of the first element on its device; valid while the handle lives. */
uint64_t gp_tensor_address(const GpTensor *t);

/* Views share the storage. `view` and `reshape` want contiguous elements and an equal count
** (G0310); `slice` takes half-open ranges from 0 (G0311 when outside); `permute` a permutation. */
GpStatus gp_tensor_reshape(GpTensor *t, const GpShape *shape, GpSite site, GpDiags *diags, GpTensor **out);
/* The same bytes as elements of another type; of a contiguous tensor only. */
GpStatus gp_tensor_reinterpret(GpTensor *t, GpElem elem, const GpShape *shape, GpSite site,
                               GpDiags *diags, GpTensor **out);
GpStatus gp_tensor_slice(GpTensor *t, const int64_t *start, const int64_t *stop, GpSite site,
                         GpDiags *diags, GpTensor **out);
GpStatus gp_tensor_permute(GpTensor *t, const uint8_t *axes, GpSite site, GpDiags *diags, GpTensor **out);

/* Data. Each waits for what was enqueued on the tensor, counts as a use (E0382, E0502 ...) and
** raises a failed check of a launch that wrote it. `host` is row-major in storage form. */
GpStatus gp_tensor_read(GpTensor *t, void *host, size_t bytes, GpSite site, GpDiags *diags);
GpStatus gp_tensor_write(GpTensor *t, const void *host, size_t bytes, GpSite site, GpDiags *diags);
/* The element at `index` elements of row-major order; for printing corners and t[i]. */
GpStatus gp_tensor_peek(GpTensor *t, int64_t index, GpScalar *out, GpSite site, GpDiags *diags);
/* Enqueued, not waited for. */
GpStatus gp_tensor_fill(GpTensor *t, GpScalar value, GpSite site, GpDiags *diags);
/* dst[i] = src[i]: same element type and shape; devices may differ; strides may differ. */
GpStatus gp_tensor_copy(GpTensor *dst, GpTensor *src, GpSite site, GpDiags *diags);
/* Waits until everything enqueued on the tensor is done and raises its failed check, if any. A
** use of the handle (E0382, G0302) that conflicts with no loan. */
GpStatus gp_tensor_sync(GpTensor *t, GpSite site, GpDiags *diags);

/* ---- Ownership (ownership.c) -----------------------------------------------------------
** The state and the loans live with the storage. A use is checked in this order: freed, moved
** or partitioned, frozen (for writes), loans. Before a verdict whose other side is an op, a
** partition or a view, the collect hook runs and the question is asked again. */

typedef enum GpAccess { GpAccess_Read, GpAccess_Write, GpAccess_Move } GpAccess;
/* Ok when `t` may be used so now; else the diagnostic. */
GpStatus gp_tensor_check(GpTensor *t, GpAccess access, GpSite site, GpDiags *diags);
/* Frees the storage now, whoever holds handles, frozen or not; later uses are G0302 with this
** place. Idempotent. A moved handle is E0382, a view of a part E0507. */
GpStatus gp_tensor_drop(GpTensor *t, GpSite site, GpDiags *diags);
/* Read-only from here on, for many holders. */
GpStatus gp_tensor_freeze(GpTensor *t, GpSite site, GpDiags *diags);
bool gp_tensor_is_frozen(const GpTensor *t);

/* A tensor cut in tiles. With GpAccess_Move the partition owns the storage and `t` counts as
** moved until gp_partition_unwrap or until the partition dies; with GpAccess_Write it borrows
** when it is used (t:tiles{}). rank and tile rank must agree (G0312), extents be positive. */
GpStatus gp_partition_new(GpTensor *t, const GpShape *tile, GpAccess access, GpSite site,
                          GpDiags *diags, GpPartition **out);
GpPartition *gp_partition_retain(GpPartition *p);
void gp_partition_release(GpPartition *p);
GpTensor *gp_partition_tensor(GpPartition *p);
const GpShape *gp_partition_tile(const GpPartition *p);
const GpShare *gp_partition_share(const GpPartition *p);
/* From now on the blocks of a launch share the tiles out as the map says. */
GpStatus gp_partition_map(GpPartition *p, const GpShape *map, int64_t blocks, GpSite site,
                          GpDiags *diags);
/* From now on a launch gives its grid, which may leave tiles out. */
void gp_partition_prefix(GpPartition *p);
/* Blocks per axis: ceil(extent / tile), missing axes 1. Axis 0 of the grid is axis 0 of the
** tensor. False when it does not fit 32 bits. */
bool gp_partition_grid(const GpPartition *p, uint32_t grid[3]);
/* Ends the partition: the tensor it was made of, owned again (a new reference). */
GpStatus gp_partition_unwrap(GpPartition *p, GpSite site, GpDiags *diags, GpTensor **out);

/* ---- Streams and events ----------------------------------------------------------------
** Work on one stream runs in order. Across streams the runtime orders by storage: an op waits,
** by events, for the last writer of what it reads and for all users of what it writes. */
GpStatus gp_stream_new(GpDevice *d, GpDiags *diags, GpStream **out);
GpStream *gp_stream_retain(GpStream *s);
void gp_stream_release(GpStream *s);
GpStatus gp_stream_sync(GpStream *s, GpDiags *diags); /* interruptible */
bool gp_stream_is_idle(GpStream *s);
void *gp_stream_handle(GpStream *s); /* CUstream; NULL on the CPU */

/* ---- Kernels and ops ------------------------------------------------------------------- */

/* A compiled kernel loaded on a device (cuModuleLoadDataEx for PTX). Keeps the image. */
GpStatus gp_exec_new(GpDevice *d, GpImage *image, GpDiags *diags, GpExec **out);
GpExec *gp_exec_retain(GpExec *e);
void gp_exec_release(GpExec *e);
const GpImage *gp_exec_image(const GpExec *e);

typedef struct GpExecInfo {
    uint32_t registers, local_bytes, shared_bytes, max_threads;
    uint32_t blocks; /* that a multiprocessor holds at once */
} GpExecInfo;
/* Of a launch with blocks of `threads`; zeros on the CPU. */
GpStatus gp_exec_info(GpExec *e, uint32_t threads, GpExecInfo *out);

/* One argument of a launch, as the kernel's parameter takes it. */
typedef struct GpRunArg {
    GpAccess access;        /* Read: & or a slice; Write: &mut, DisjointSlice; Move: by value */
    GpTensor *tensor;       /* NULL for a scalar */
    GpPartition *partition; /* when the argument was a partition; `tensor` is then its tensor */
    GpScalar scalar;        /* in the parameter's own element type */
    const char *param;      /* the parameter's name, for messages; lives with the kernel */
    bool is_overwritten;    /* the launch stores every element: an older failure of it ends */
} GpRunArg;

typedef struct GpRunRequest {
    GpExec *exec;
    GpGrid grid;
    const GpRunArg *args;
    uint32_t arg_count;
    uint32_t shared_bytes; /* extra dynamic shared memory */
    bool is_bound;         /* the arguments were matched with the image's parameters already */
    const char *kernel;    /* "add", for messages; an op copies it */
    GpStream *stream;      /* where it runs unless the run says otherwise; NULL: the default */
    GpSite site;
} GpRunRequest;

/* Checks devices, grid limits and ownership of every argument and takes the loans; nothing is
** enqueued. A failed check takes nothing. Two arguments that overlap with a writer among them
** are E0499 or E0502. */
GpStatus gp_op_make(GpRuntime *rt, const GpRunRequest *request, GpDiags *diags, GpRunOp **out);
/* The release of an op that was never run returns its loans and logs one line through
** hooks.write of the session: "op made at FILE:LINE was dropped without being run". */
void gp_op_release(GpRunOp *op);
/* Enqueues on `stream` (NULL: the request's, else the device's default). A second run is E0382. */
GpStatus gp_op_run(GpRunOp *op, GpStream *stream, GpSite site, GpDiags *diags);
/* Runs it if needed, waits, raises the failed check of this launch if there was one: a
** diagnostic G0401.. at the kernel's source line with block, thread, index and limit. */
GpStatus gp_op_sync(GpRunOp *op, GpStream *stream, GpSite site, GpDiags *diags);
bool gp_op_is_run(const GpRunOp *op);
bool gp_op_is_done(GpRunOp *op); /* does not wait */
/* make + run without an op object where nothing can observe it: the fast path of
** `k.f(...):sync()` and of benchmarks. */
GpStatus gp_launch_now(GpRuntime *rt, const GpRunRequest *request, GpStream *stream, GpDiags *diags);

/* ---- Graphs ----------------------------------------------------------------------------
** From begin to end the runtime records: launches and ops that are run are checked, kept in order
** and not run; what waits for a tensor is refused (G0343). A replay runs all of them as one piece of
** work, on a GPU with one call of the driver. A graph keeps its arguments alive and borrows them
** while a replay is enqueued only; ownership is asked again by each replay. */
GpStatus gp_graph_begin(GpRuntime *rt, GpSite site, GpDiags *diags, GpGraph **out);
/* Ends the recording, also of a graph that is to be released because something went wrong. */
GpStatus gp_graph_end(GpGraph *g, GpSite site, GpDiags *diags);
/* Enqueues one replay; stream NULL: the device's default. */
GpStatus gp_graph_launch(GpGraph *g, GpStream *stream, GpSite site, GpDiags *diags);
/* Waits for the last replay and raises its failed check. */
GpStatus gp_graph_sync(GpGraph *g, GpDiags *diags);
uint32_t gp_graph_count(const GpGraph *g); /* launches */
const GpRunRequest *gp_graph_request(const GpGraph *g, uint32_t i);
void gp_graph_release(GpGraph *g); /* while it records too, which ends that; NULL is ignored */

/* ---- Disk cache ------------------------------------------------------------------------
** One self-contained file per entry, written to a temporary name and renamed; any doubt on
** reading is a miss. PTX images, and short texts under keys of their own. Errors are logged, never
** reported. */
GpImage *gp_cache_get(GpRuntime *rt, const uint8_t key[32]); /* a reference, or NULL */
void gp_cache_put(GpRuntime *rt, const uint8_t key[32], const GpImage *image);
bool gp_cache_get_text(GpRuntime *rt, const uint8_t key[32], GpText *out); /* appends */
void gp_cache_put_text(GpRuntime *rt, const uint8_t key[32], GpStr text);
const char *gp_cache_dir(GpRuntime *rt); /* NULL when disabled */
typedef struct GpCacheInfo {
    uint64_t entries, bytes;
    bool writable;
} GpCacheInfo;
void gp_cache_info(GpRuntime *rt, GpCacheInfo *out);
void gp_cache_clear(GpRuntime *rt);

#endif
