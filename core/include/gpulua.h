/* gpulua: GPU kernels from a small, embeddable language. The public C API, C99 and C++.
**
** Ownership: what a `_new`, `_open` or `_compile` function returns belongs to the caller until the
** matching `_free` or `_close`; `const` pointers are borrowed and live as long as said. Objects
** belong to the state they were made with and are used by one thread at a time;
** gpulua_interrupt() alone may be called from any thread, and from a signal handler.
** Errors: every fallible call returns a gpulua_status, 0 for success. What went wrong is then in
** the state's diagnostics until the next call on that state (gpulua_diag_count and friends). A NULL
** for an object or for the place of a result is GPULUA_E_ARGUMENT; what tells something of an object
** tells 0 or NULL of none.
** The library has no globals, and never writes to stderr, exits or installs signal handlers.
** The same ownership rules hold as in Lua: a tensor that was moved or freed is refused with the
** same codes. */
#ifndef GPULUA_H
#define GPULUA_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(GPULUA_BUILD) && defined(__GNUC__)
#define GPULUA_API __attribute__((visibility("default")))
#else
#define GPULUA_API
#endif

#define GPULUA_VERSION "0.1.0"
#define GPULUA_VERSION_NUM 100

/* The version of the library in use, "0.1.0". */
GPULUA_API const char *gpulua_version(void);

typedef enum gpulua_status {
    GPULUA_OK = 0,
    GPULUA_E_DIAGNOSTICS = -1,   /* source or call refused; see the diagnostics */
    GPULUA_E_NO_MEMORY = -2,
    GPULUA_E_DEVICE_MEMORY = -3,
    GPULUA_E_ARGUMENT = -4,      /* NULL, bad size, bad enumerator */
    GPULUA_E_NO_DRIVER = -5,
    GPULUA_E_STUB_DRIVER = -6,
    GPULUA_E_NO_DEVICE = -7,
    GPULUA_E_DRIVER_TOO_OLD = -8,
    GPULUA_E_DRIVER = -9,
    GPULUA_E_POISONED = -10,     /* device lost to an earlier error; restart the process */
    GPULUA_E_UNSUPPORTED = -11,
    GPULUA_E_COMPILER = -12,
    GPULUA_E_INTERRUPTED = -13,
    GPULUA_E_IO = -14,
    GPULUA_E_LIMIT = -15,
    GPULUA_E_WRONG_STATE = -16,  /* the object belongs to another state */
    GPULUA_E_FORKED = -17,
    GPULUA_E_LUA = -18           /* a Lua error; its text is the diagnostic */
} gpulua_status;
GPULUA_API const char *gpulua_status_name(gpulua_status status); /* "no_driver"; never NULL */

/* ---- State ------------------------------------------------------------------------------ */

typedef struct gpulua_state gpulua_state;
struct lua_State;

/* Everything may be zero or NULL. `size` is sizeof(gpulua_config). */
typedef struct gpulua_config {
    size_t size;
    /* lua_Alloc's contract; NULL: realloc and free. */
    void *(*alloc)(void *ud, void *ptr, size_t old_size, size_t new_size);
    void *alloc_ud;
    /* A line of log text; any thread. NULL: none. */
    void (*log)(void *ud, const char *text, size_t len);
    /* Text that scripts and kernels print through gpulua, and notices. NULL: dropped. */
    void (*write)(void *ud, const char *text, size_t len);
    /* Polled in long waits, compiles and kernels on the CPU, on any thread; non-zero stops them with
    ** GPULUA_E_INTERRUPTED. */
    int (*interrupted)(void *ud);
    void *hook_ud;
    const char *device;      /* "auto" (NULL), "cpu", "cuda", "cuda:1" */
    const char *libcuda;     /* the driver library; NULL: the usual places */
    const char *cache_dir;   /* NULL: the user's cache; "": no disk cache */
    void *cuda_context;      /* a CUcontext of the host to work in; NULL: the primary context */
    uint32_t cpu_threads;    /* 0: the cores this process may use */
    int ignore_environment;  /* do not read GPULUA_* variables */
} gpulua_config;

/* A state with a Lua of its own (standard libraries open, `require "gpulua"` works). On failure
** *out is NULL. config NULL: all defaults. Touches no device. */
GPULUA_API gpulua_status gpulua_open(const gpulua_config *config, gpulua_state **out);
/* The same on the host's lua_State, which must outlive it. `require "gpulua"` in L then gives a
** module over this state. */
GPULUA_API gpulua_status gpulua_open_on(struct lua_State *L, const gpulua_config *config,
                                        gpulua_state **out);
/* Waits for what is enqueued and frees all memory of the devices. Handles that are left are
** refused by every call, and are still to be freed. NULL is ignored. A Lua of the host is left
** open; what it has of gpulua raises errors from then on. */
GPULUA_API void gpulua_close(gpulua_state *g);
/* The Lua state; lives as long as g. */
GPULUA_API struct lua_State *gpulua_lua(gpulua_state *g);
/* Runs a script or a chunk of Lua text. GPULUA_E_LUA with the message and traceback as the
** diagnostic. Blocks until it ends. */
GPULUA_API gpulua_status gpulua_run_file(gpulua_state *g, const char *path);
GPULUA_API gpulua_status gpulua_run_string(gpulua_state *g, const char *text, size_t len,
                                           const char *chunk_name);
/* Makes long waits and kernels on the CPU end with GPULUA_E_INTERRUPTED. Any thread; async-signal-safe. */
GPULUA_API void gpulua_interrupt(gpulua_state *g);

/* ---- Diagnostics of the last call ------------------------------------------------------- */

typedef enum gpulua_severity { GPULUA_ERROR, GPULUA_WARNING, GPULUA_NOTE } gpulua_severity;
typedef struct gpulua_diag {
    const char *code;    /* "E0382", "G0302" */
    gpulua_severity severity;
    const char *title;
    const char *file;    /* of the primary place; NULL without one */
    uint32_t line, column;
} gpulua_diag;
GPULUA_API size_t gpulua_diag_count(const gpulua_state *g);
/* Strings live until the next call on g. False (0) when i is out of range. */
GPULUA_API int gpulua_diag_at(const gpulua_state *g, size_t i, gpulua_diag *out);
/* All of them as a person reads them (rustc's look), or one JSON object a line. color: ANSI. */
GPULUA_API void gpulua_diag_render(const gpulua_state *g, int color,
                                   void (*write)(void *ud, const char *text, size_t len), void *ud);
GPULUA_API void gpulua_diag_json(const gpulua_state *g,
                                 void (*write)(void *ud, const char *text, size_t len), void *ud);

/* ---- Devices ---------------------------------------------------------------------------- */

/* GPUs that can be used; 0 with the reason as a diagnostic (the status stays GPULUA_OK). */
GPULUA_API gpulua_status gpulua_gpu_count(gpulua_state *g, uint32_t *count);
/* Chooses the device of new tensors: "auto", "cpu", "cuda", "cuda:1". */
GPULUA_API gpulua_status gpulua_use_device(gpulua_state *g, const char *name);
/* "cpu" or "cuda:0". Opens the device on first use. Lives as long as g. */
GPULUA_API gpulua_status gpulua_device_name(gpulua_state *g, const char **name);
/* Blocks until all that was enqueued is done; reports a failed check of a kernel. */
GPULUA_API gpulua_status gpulua_sync(gpulua_state *g);
/* Bytes of the device's memory. */
typedef struct gpulua_memory_info {
    size_t size;       /* sizeof(gpulua_memory_info) */
    uint64_t used;     /* of live tensors */
    uint64_t peak;
    uint64_t reserved; /* held for tensors to come, used or not */
    uint64_t free, total;
} gpulua_memory_info;
GPULUA_API gpulua_status gpulua_memory(gpulua_state *g, gpulua_memory_info *out);

/* A queue of the device: work on one stream runs in order, across streams tensors order it. Where a
** stream is NULL, the device's default one is meant. */
typedef struct gpulua_stream gpulua_stream;
GPULUA_API gpulua_status gpulua_stream_new(gpulua_state *g, gpulua_stream **out);
GPULUA_API void gpulua_stream_free(gpulua_stream *s);
/* Blocks until its work is done. */
GPULUA_API gpulua_status gpulua_stream_sync(gpulua_stream *s);
GPULUA_API int gpulua_stream_is_idle(gpulua_stream *s); /* does not wait */
/* The driver's CUstream, for libraries that take one; NULL on the CPU. Lives as long as s. */
GPULUA_API void *gpulua_stream_handle(gpulua_stream *s);

/* ---- Tensors ---------------------------------------------------------------------------- */

typedef struct gpulua_tensor gpulua_tensor;

/* Row-major, zeroed. dtype: "f32", "i64", ...; rank at most 6; extents may be 0. */
GPULUA_API gpulua_status gpulua_tensor_new(gpulua_state *g, const char *dtype, const int64_t *shape,
                                           size_t rank, gpulua_tensor **out);
/* Memory of the application's or of another library's, lent to be a tensor. Nothing is copied. */
typedef struct gpulua_borrow {
    size_t size;            /* sizeof(gpulua_borrow) */
    const char *device;     /* whose memory it is, "cpu" or "cuda:0"; NULL: the device of new tensors */
    uint64_t address;       /* of the first element: a pointer on the CPU, a CUdeviceptr on a GPU */
    size_t bytes;           /* there are from the address on; every element must lie in them */
    const char *dtype;      /* "f32", ..; the address is a multiple of its size */
    const int64_t *shape;
    size_t rank;
    const int64_t *strides; /* in elements, one for each axis; NULL: row-major */
    int readonly;           /* frozen from the start, as gpulua_tensor_freeze does */
    void (*release)(void *ud); /* NULL: none */
    void *ud;
} gpulua_borrow;
/* A tensor over lent memory, like every other: kernels, views and ownership are the same.
** What the caller promises: the memory stays until `release` is called; what others enqueued on it is
** done before the call; and from then on they write to no byte from its first to its last element,
** nor read what kernels write, but after a gpulua_tensor_sync. Elements of a bool are 0 or 1.
** `release` is called once, on the thread that uses the state, when no work uses the memory any
** more: in the gpulua_tensor_free of the last handle (of views too), in gpulua_tensor_drop, or in
** gpulua_close; each then blocks until that work is done. It may free handles and makes no other call
** of this state. After a device was lost it is called without waiting; in a child of fork, never.
** A refusal takes nothing and does not call it: GPULUA_E_DIAGNOSTICS with G0317 for an address, a
** layout or a device that does not fit, with G0318 for memory of a live tensor (take a view of that);
** GPULUA_E_ARGUMENT for a wrong size, dtype or shape. The call itself does not block. */
GPULUA_API gpulua_status gpulua_tensor_borrow(gpulua_state *g, const gpulua_borrow *memory,
                                              gpulua_tensor **out);
/* Drops the handle; the memory goes with the last one, behind what is enqueued. */
GPULUA_API void gpulua_tensor_free(gpulua_tensor *t);
GPULUA_API const char *gpulua_tensor_dtype(const gpulua_tensor *t);
GPULUA_API size_t gpulua_tensor_rank(const gpulua_tensor *t);
GPULUA_API int64_t gpulua_tensor_extent(const gpulua_tensor *t, size_t axis); /* 0 out of range */
GPULUA_API size_t gpulua_tensor_bytes(const gpulua_tensor *t);
/* Elements from one to the next along an axis; 0 out of range. */
GPULUA_API int64_t gpulua_tensor_stride(const gpulua_tensor *t, size_t axis);
GPULUA_API const char *gpulua_tensor_device(const gpulua_tensor *t); /* "cpu", "cuda:0" */
/* Sets every element to a value that the dtype holds, floats rounded to nearest. Does not wait. */
GPULUA_API gpulua_status gpulua_tensor_fill(gpulua_tensor *t, double value);
GPULUA_API gpulua_status gpulua_tensor_fill_int(gpulua_tensor *t, int64_t value);
/* Random floats: uniform in [0, 1), or normal with mean 0 and deviation 1. They go on where gpu.rand and
** gpu.randn left off, and are the same on every device. Drawn on the host; blocks. */
GPULUA_API gpulua_status gpulua_tensor_fill_uniform(gpulua_tensor *t);
GPULUA_API gpulua_status gpulua_tensor_fill_normal(gpulua_tensor *t);
/* Starts the state's random numbers over; those of a fresh state have seed 0. */
GPULUA_API void gpulua_seed(gpulua_state *g, uint64_t seed);
/* Blocks until what is enqueued on it is done; reports a failed check of a kernel that wrote it. */
GPULUA_API gpulua_status gpulua_tensor_sync(gpulua_tensor *t);
/* Copies between host memory (row-major, storage form, exactly gpulua_tensor_bytes) and the
** tensor. Both block, and order behind enqueued kernels. */
GPULUA_API gpulua_status gpulua_tensor_write(gpulua_tensor *t, const void *from, size_t bytes);
GPULUA_API gpulua_status gpulua_tensor_read(gpulua_tensor *t, void *to, size_t bytes);
/* A view of the same memory. Where elements do not lie one after another, axes of extent 1 may come
** and go. */
GPULUA_API gpulua_status gpulua_tensor_reshape(gpulua_tensor *t, const int64_t *shape, size_t rank,
                                               gpulua_tensor **out);
/* A part of the same memory: start[i] <= index < stop[i] on every axis. */
GPULUA_API gpulua_status gpulua_tensor_slice(gpulua_tensor *t, const int64_t *start,
                                             const int64_t *stop, gpulua_tensor **out);
/* The same memory with axis axes[i] (from 0) as axis i. */
GPULUA_API gpulua_status gpulua_tensor_permute(gpulua_tensor *t, const size_t *axes,
                                               gpulua_tensor **out);
/* The same bytes as elements of another dtype; of neighbouring elements only. */
GPULUA_API gpulua_status gpulua_tensor_reinterpret(gpulua_tensor *t, const char *dtype,
                                                   const int64_t *shape, size_t rank,
                                                   gpulua_tensor **out);
/* A new tensor with the same elements on a device; NULL: on t's own. Does not wait. */
GPULUA_API gpulua_status gpulua_tensor_to(gpulua_tensor *t, const char *device, gpulua_tensor **out);
/* A new tensor of another dtype on t's device, each element as Rust's `as` has it. Does not wait. */
GPULUA_API gpulua_status gpulua_tensor_convert(gpulua_tensor *t, const char *dtype, gpulua_tensor **out);
/* to[i] = from[i], the same dtype and shape; devices may differ. Does not wait. */
GPULUA_API gpulua_status gpulua_tensor_copy(gpulua_tensor *to, gpulua_tensor *from);
/* Read-only from here on, for all handles of the memory. */
GPULUA_API gpulua_status gpulua_tensor_freeze(gpulua_tensor *t);
/* Frees the memory now, behind what is enqueued, whoever has handles; their later uses are
** refused (G0302). The handle is still to be freed. */
GPULUA_API gpulua_status gpulua_tensor_drop(gpulua_tensor *t);
/* Address of the first element on its device; valid while the handle lives. */
GPULUA_API uint64_t gpulua_tensor_address(const gpulua_tensor *t);

/* A tensor in tiles, as kernels take for a &mut Tensor parameter. `tiles` borrows: t stays
** usable. `partition` moves: t is refused (E0382) until the partition is freed. */
typedef struct gpulua_partition gpulua_partition;
GPULUA_API gpulua_status gpulua_tiles(gpulua_tensor *t, const int64_t *tile, size_t rank,
                                      gpulua_partition **out);
GPULUA_API gpulua_status gpulua_partition_new(gpulua_tensor *t, const int64_t *tile, size_t rank,
                                              gpulua_partition **out);
/* Ends the partition; *out is the tensor it was made of, usable again under all its handles. */
GPULUA_API gpulua_status gpulua_unpartition(gpulua_partition *p, gpulua_tensor **out);
/* From now on the blocks of a launch share its tiles out, as kernels take for MappedPartitionMut. */
GPULUA_API gpulua_status gpulua_partition_map(gpulua_partition *p, const int64_t *map, size_t rank,
                                              int64_t blocks);
/* From now on a launch gives its grid, which may leave out tiles at the end of an axis. */
GPULUA_API void gpulua_partition_prefix(gpulua_partition *p);
GPULUA_API void gpulua_partition_free(gpulua_partition *p);

/* ---- Kernels ---------------------------------------------------------------------------- */

typedef struct gpulua_module gpulua_module;
/* Checks and keeps the kernels of a source. name is shown in diagnostics. Blocks. */
GPULUA_API gpulua_status gpulua_compile(gpulua_state *g, const char *name, const char *source,
                                        size_t len, gpulua_module **out);
GPULUA_API void gpulua_module_free(gpulua_module *m);
GPULUA_API size_t gpulua_module_kernel_count(const gpulua_module *m);
GPULUA_API const char *gpulua_module_kernel_name(const gpulua_module *m, size_t i); /* NULL past the end */

typedef enum gpulua_arg_kind {
    GPULUA_ARG_TENSOR, GPULUA_ARG_PARTITION, GPULUA_ARG_INT, GPULUA_ARG_FLOAT, GPULUA_ARG_BOOL
} gpulua_arg_kind;
typedef struct gpulua_arg {
    gpulua_arg_kind kind;
    union {
        gpulua_tensor *tensor;
        gpulua_partition *partition;
        int64_t i; /* INT, BOOL */
        double f;
    } as;
} gpulua_arg;
static inline gpulua_arg gpulua_arg_tensor(gpulua_tensor *t) {
    gpulua_arg a;
    a.kind = GPULUA_ARG_TENSOR;
    a.as.tensor = t;
    return a;
}
static inline gpulua_arg gpulua_arg_partition(gpulua_partition *p) {
    gpulua_arg a;
    a.kind = GPULUA_ARG_PARTITION;
    a.as.partition = p;
    return a;
}
static inline gpulua_arg gpulua_arg_int(int64_t i) {
    gpulua_arg a;
    a.kind = GPULUA_ARG_INT;
    a.as.i = i;
    return a;
}
static inline gpulua_arg gpulua_arg_float(double f) {
    gpulua_arg a;
    a.kind = GPULUA_ARG_FLOAT;
    a.as.f = f;
    return a;
}

/* What cannot be inferred from the arguments; zeros and NULL infer. */
typedef struct gpulua_launch_options {
    size_t size;              /* sizeof(gpulua_launch_options) */
    uint32_t grid[3];         /* blocks */
    uint32_t block[3];        /* threads (SIMT) */
    uint32_t shared_bytes;    /* dynamic shared memory on top of the kernel's own */
    const char *const *names; /* generics by name: names[i] is texts[i], or values[i] when that is NULL */
    const char *const *texts;
    const int64_t *values;
    size_t name_count;
    /* Tile kernels on a GPU; 0: as the kernel's attribute says, else the compiler's choice. */
    uint8_t warps;            /* that compute, 1 to 32 a block */
    uint8_t stages;           /* of a loop's pipeline, 1 to 16 */
    uint8_t cluster;          /* blocks that load together: 1, 2, 4 or 8; a wish */
    uint8_t persistent;       /* 1: no; 2: as many blocks as run at once take tile after tile */
    gpulua_stream *stream;    /* where it runs */
} gpulua_launch_options;
/* Checks every argument and enqueues the kernel; does not wait for it. options NULL: infer all.
** A failed check takes nothing. */
GPULUA_API gpulua_status gpulua_launch(gpulua_module *m, const char *kernel, const gpulua_arg *args,
                                       size_t arg_count, const gpulua_launch_options *options);

/* The same in two steps. An op holds its arguments from when it is made until it is run or freed:
** conflicting uses are refused meanwhile (E0499, E0502, E0505, E0506). */
typedef struct gpulua_op gpulua_op;
GPULUA_API gpulua_status gpulua_op_make(gpulua_module *m, const char *kernel,
                                        const gpulua_arg *args, size_t arg_count,
                                        const gpulua_launch_options *options, gpulua_op **out);
/* Enqueues it; does not wait. A second run is refused (E0382). */
GPULUA_API gpulua_status gpulua_op_run(gpulua_op *op);
/* The same on a stream. */
GPULUA_API gpulua_status gpulua_op_run_on(gpulua_op *op, gpulua_stream *stream);
GPULUA_API int gpulua_op_is_done(gpulua_op *op); /* whether it was run and has ended; does not wait */
/* Runs it if it was not run, waits for it, and reports its failed check if there was one. */
GPULUA_API gpulua_status gpulua_op_sync(gpulua_op *op);
GPULUA_API void gpulua_op_free(gpulua_op *op); /* one that was not run says so to `write` */

/* The text of a stage of the compiler, "ir", "llvm", "ptx" or "asm", for what the kernel last
** launched with these options, else for what they alone give. target: "cpu", "sm_90a", ..; NULL: the
** device's. It lives until the next call on the state. */
GPULUA_API gpulua_status gpulua_kernel_text(gpulua_module *m, const char *kernel, const char *stage,
                                            const char *target, const gpulua_launch_options *options,
                                            const char **text);

/* What a launch takes of a GPU; on the CPU only the device is told. */
typedef struct gpulua_launch_info {
    size_t size;            /* sizeof(gpulua_launch_info) */
    const char *device;     /* "cuda:0"; lives as long as the state */
    uint32_t threads;       /* of a block, those included that only fetch */
    uint32_t registers;     /* of a thread */
    uint32_t local_bytes;   /* of a thread: what registers do not hold */
    uint32_t shared_bytes;  /* of a block */
    uint32_t blocks;        /* that a multiprocessor runs at once */
    double occupancy;       /* their threads, of those that it could run */
    uint8_t warps, stages, cluster, persistent; /* of a tile kernel, as in the options; else 0 */
    const char *unpiped;    /* why a kernel with products is not warp-specialised; else NULL */
} gpulua_launch_info;
/* The same checks as a launch of it, which compile it; runs nothing and takes no loans. */
GPULUA_API gpulua_status gpulua_kernel_info(gpulua_module *m, const char *kernel,
                                            const gpulua_arg *args, size_t arg_count,
                                            const gpulua_launch_options *options,
                                            gpulua_launch_info *out);

/* ---- Graphs ----------------------------------------------------------------------------- */

/* Launches that are recorded once and replayed as one piece of work, on a GPU with one call of the
** driver. From `begin` to `end` launches and ops that are run are checked, kept and not run; what
** waits for a tensor is refused (G0343). A graph keeps its tensors alive: what is in them when it is
** replayed counts. Each replay asks for their ownership anew. */
typedef struct gpulua_graph gpulua_graph;
GPULUA_API gpulua_status gpulua_graph_begin(gpulua_state *g, gpulua_graph **out);
GPULUA_API gpulua_status gpulua_graph_end(gpulua_graph *graph);
/* Enqueues one replay; does not wait. */
GPULUA_API gpulua_status gpulua_graph_launch(gpulua_graph *graph, gpulua_stream *stream);
/* Waits for the last replay and reports its failed check if there was one. */
GPULUA_API gpulua_status gpulua_graph_sync(gpulua_graph *graph);
GPULUA_API size_t gpulua_graph_launch_count(const gpulua_graph *graph);
/* A handle of the tensor that the first launch with a parameter of that name takes for it: to be
** filled anew before a replay. */
GPULUA_API gpulua_status gpulua_graph_arg(gpulua_graph *graph, const char *param, gpulua_tensor **out);
/* While it records too, which ends that. */
GPULUA_API void gpulua_graph_free(gpulua_graph *graph);

#ifdef __cplusplus
}
#endif
#endif
