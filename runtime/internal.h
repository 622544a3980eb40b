/* The structures behind runtime.h, shared by the files of this folder only.
**
** Life times: a runtime lives until gp_runtime_free was called and the last object that points
** at it is gone. A storage's memory goes with its last tensor; the struct itself also stays
** while a mailbox slot of a launch that wrote it is outstanding. Streams are never destroyed
** before the runtime: a released one is kept for reuse, so a (stream, sequence) pair that a
** storage remembers stays meaningful for ever. */
#ifndef GP_RUNTIME_INTERNAL_H
#define GP_RUNTIME_INTERNAL_H

#include "runtime/cuda_api.h"
#include "runtime/runtime.h"
#include "runtime/threadpool.h"

/* ---- Uses of a storage ------------------------------------------------------------------ */

/* A point in a stream: done when stream->completed >= seq. stream NULL: nothing to wait for. */
typedef struct GpUse {
    GpStream *stream;
    uint64_t seq;
} GpUse;

#define GP_MAX_READERS 4 /* streams that read a storage at once; a fifth waits for one */

typedef enum GpOwnState {
    GpOwn_Owned,
    GpOwn_Partitioned, /* `owner` has it; every other way in is E0382 */
    GpOwn_Moved,       /* into a launch that took it by value */
    GpOwn_Freed,
} GpOwnState;

/* What one argument of a made but not enqueued op holds. Linked into its storage. */
typedef struct GpLoan {
    struct GpLoan *next;
    GpAccess access;
    uint32_t arg;
    GpSite site;
    const GpTensor *tensor; /* its elements are what is held */
    const char *kernel;
} GpLoan;

/* The first failed check of one launch, copied out of its mailbox. Reference-counted. */
typedef struct GpFailure {
    uint32_t refs;
    bool is_raised;
    GpExec *exec;
    GpSite site; /* of the launch */
    GpMailbox box;
} GpFailure;

struct GpStorage {
    GpDevice *device;
    uint64_t address; /* 0 when it has no bytes or is freed */
    uint64_t bytes;   /* of a borrowed one: to the end of the last element */
    int64_t numel;
    GpElem elem;
    bool is_borrowed; /* the memory is not ours: to be given back by `release`, which may be NULL */
    void (*release)(void *ud);
    void *release_ud;
    uint32_t handles; /* tensors */
    uint32_t refs;    /* of the struct: one for all handles together, one per mailbox slot */

    GpOwnState state;
    bool is_frozen;
    GpSite made_at, state_at, frozen_at;
    const char *state_by; /* the method that led to the state; NULL: a launch, or nothing yet */
    const GpPartition *owner; /* Partitioned only */
    const GpTensor *maker;    /* the handle that made it, while that lives */
    GpLoan *loans;

    GpUse writer;
    GpUse readers[GP_MAX_READERS];
    uint8_t reader_count;
    GpFailure *failure;    /* NULL: none known */
    uint64_t clean_launch; /* launches up to this one no longer matter: overwritten whole */
    uint64_t checked_by;   /* the last check of a launch that it is an argument of */

    GpStorage *next, *prev; /* all storages of the device */
    GpStorage *lower, *higher; /* address.c */
};

struct GpTensor {
    uint32_t refs;
    uint64_t number;
    GpStorage *storage;
    GpElem elem;
    bool is_contiguous;
    bool is_whole; /* covers every element of its storage */
    GpShape shape;
    int64_t stride[GP_MAX_RANK];
    int64_t offset;
    int64_t numel;
};

struct GpPartition {
    uint32_t refs;
    GpTensor *tensor;
    GpShape tile;
    GpShare share;
    GpAccess access;
    bool is_ended; /* unwrapped */
    GpSite made_at, ended_at;
};

/* ---- Devices ---------------------------------------------------------------------------- */

typedef struct GpSlot GpSlot; /* mailbox.c */

typedef struct GpSlotList {
    GpSlot *first, *last;
} GpSlotList;

#define GP_STREAM_MARKS 16
#define GP_FOLLOWED 4

struct GpStream {
    GpDevice *device;
    uint32_t refs; /* 0: kept for reuse */
    uint64_t issued, completed;
    GpSlotList outstanding; /* launches with a mailbox, oldest first */
    GpFailure *failure;     /* the first one found and not yet raised by a sync */
    GpStream *next;         /* all streams of the device */
    GpUse followed[GP_FOLLOWED]; /* what it was already told to come behind */
    uint32_t followed_next;

    GpCuStream handle;
    bool is_recording; /* launches become a graph's */
    GpCuEvent order; /* recorded and waited for at once, so one is enough */
    struct GpStreamMark {
        uint64_t seq;
        GpCuEvent event;
    } marks[GP_STREAM_MARKS]; /* a ring, oldest at mark_first */
    uint32_t mark_first, mark_count;
};

/* One rectangular copy. Addresses are of the device that runs it, or of the host. */
typedef struct GpCopy {
    uint64_t to, from;
    bool is_to_host, is_from_host;
    uint64_t to_pitch, from_pitch; /* bytes; unused when height is 1 */
    uint64_t width, height;        /* bytes, rows */
} GpCopy;

/* One rectangular fill with `value`, the storage form of an element of `bytes` bytes. */
typedef struct GpFill {
    uint64_t to, pitch;
    uint64_t width, height; /* elements, rows */
    uint64_t value;
    uint8_t bytes;
} GpFill;

#define GP_MAX_PARAMS 256 /* of a compiled kernel */
#define GP_MAX_PARAM_BYTES 4096 /* what every driver takes */

/* A launch whose checks are done. */
typedef struct GpLaunch {
    GpExec *exec;
    GpGrid grid;
    uint32_t shared_bytes;
    uint8_t *params; /* image->param_bytes of them */
} GpLaunch;

/* A launch of a graph. */
typedef struct GpGraphNode {
    GpRunOp *op;     /* holds the arguments */
    GpSlot *slot;    /* the kernel's mailbox; NULL: no check sites */
    GpLaunch launch; /* its params lie in */
    void *memory;    /* aligned for tensor maps; */
    uint32_t bytes;  /* so many */
} GpGraphNode;

struct GpGraph {
    GpRuntime *rt;
    GpDevice *device; /* NULL before the first launch */
    uint32_t refs;
    bool is_made, is_broken;
    GpGraphNode *nodes;
    uint32_t node_count, node_cap;
    GpRunArg *uses; /* each tensor or partition once, with all that the graph does to it */
    uint32_t use_count, use_cap;
    GpUse last; /* replay */
    GpCuGraphExec exec;
};

/* What differs between kinds of devices. All enqueue on a stream unless they say otherwise;
** diags may be NULL. */
typedef struct GpDeviceOps {
    GpStatus (*alloc)(GpDevice *d, uint64_t bytes, uint64_t *address); /* quiet when full */
    void (*free)(GpDevice *d, uint64_t address, uint64_t bytes, GpStream *behind);
    int (*owner)(GpDevice *d, uint64_t address); /* number of the device that has it; -1: none */
    void (*trim)(GpDevice *d);
    void (*memory)(GpDevice *d, GpMemoryInfo *out);
    GpStatus (*copy)(GpStream *s, const GpCopy *c, GpDiags *diags);
    GpStatus (*fill)(GpStream *s, const GpFill *f, GpDiags *diags);
    GpStatus (*launch)(GpStream *s, const GpLaunch *l, GpDiags *diags);
    GpStatus (*load)(GpExec *e, GpDiags *diags);
    void (*unload)(GpExec *e);
    GpStatus (*graph_make)(GpGraph *g, GpDiags *diags);
    GpStatus (*graph_launch)(GpStream *s, GpGraph *g, GpDiags *diags);
    void (*graph_free)(GpGraph *g);
    GpStatus (*stream_open)(GpStream *s, GpDiags *diags);
    void (*stream_close)(GpStream *s);
    GpStatus (*wait)(GpStream *s, GpDiags *diags);           /* for all of it, interruptible */
    GpStatus (*order)(GpStream *s, GpStream *after, GpDiags *diags); /* behind all of `after` */
    bool (*poll)(GpStream *s, uint64_t seq);                 /* updates completed; no wait */
    void *(*shared_alloc)(GpDevice *d, size_t bytes, uint64_t *address); /* both sides see it */
    void (*shared_free)(GpDevice *d, void *at, size_t bytes);
    void (*close)(GpDevice *d);
} GpDeviceOps;

#define GP_LAUNCH_RING 64

typedef struct GpLaunchRecord {
    GpExec *exec; /* a reference; NULL: empty */
    GpSite site;
    GpUse use;
    uint32_t grid[3];
} GpLaunchRecord;

struct GpDevice {
    GpRuntime *rt;
    const GpDeviceOps *ops;
    GpDeviceInfo info;
    GpStream *streams; /* all, also those kept for reuse */
    GpStream *main;    /* the default stream */
    GpStorage *storages;
    GpStorage *placed; /* those with memory, by address */
    uint64_t used, peak;

    GpSlot *free_slots;
    struct GpSlotChunk *slot_chunks;
    uint32_t slot_count;

    GpLaunchRecord ring[GP_LAUNCH_RING];
    uint32_t ring_next;
    GpStatus lost;     /* not Ok: every call says so */
    GpCuResult lost_result;
    char lost_what[96];

    GpCuDevice handle;
    GpCuContext context;
    bool is_retained; /* context is the primary one, to be released */
    GpCuPool pool;    /* NULL: plain cuMemAlloc */
};

/* A tensor map, and the tensor that it was made of. */
typedef struct GpExecMap {
    bool is_made;
    uint64_t base;
    int64_t dim[GP_MAX_RANK], stride[GP_MAX_RANK];
    uint8_t bytes[GP_TENSOR_MAP_BYTES];
} GpExecMap;

struct GpExec {
    GpDevice *device;
    GpImage *image;
    uint32_t refs;
    uint64_t launches;
    uint32_t dynamic_limit; /* dynamic shared bytes that the function is set up for */
    bool is_clustered;
    bool has_attributes; /* of the launch */
    bool has_mailbox;    /* some check is left in the kernel */
    bool is_allowed;     /* once a launch was within the device's limits; the last such is */
    GpGrid allowed;      /* of this grid and */
    uint32_t allowed_shared; /* so many bytes more */
    GpExecInfo info;
    uint32_t resident; /* persistent kernels: blocks that the device runs at once; 0 on the CPU */
    GpExecMap *maps;   /* of the last launch; image->map_count of them */
    GpCuModule module;
    GpCuFunction function;
};

/* ---- Runtime ---------------------------------------------------------------------------- */

#define GP_MAX_DEVICES 64
#define GP_MAX_CPU_THREADS 1024

struct GpRuntime {
    GpSession *session;
    GpRuntimeHooks hooks;
    uint32_t refs; /* one for gp_runtime_new, one per storage, op, exec and stream in use */
    bool is_closed;
    bool ignore_env;
    const volatile uint32_t *is_parent; /* a page that a fork() clears */
    uint64_t launches;
    uint64_t checks; /* of launches */
    uint64_t handles; /* tensors made, ever */
    GpGraph *recording; /* takes the launches; NULL: they run */
    uint32_t cpu_threads; /* 0: GPULUA_THREADS says no number */
    void *cuda_context;
    char *libcuda;   /* NULL: search */
    char *cache_dir; /* NULL: disabled */
    uint32_t cache_puts;
    GpCuda cuda;
    bool is_cuda_opened;
    GpThreadPool *pool; /* NULL until the first launch that uses it */
    GpDevice *cpu, *interp;
    GpDevice *gpus[GP_MAX_DEVICES];
};

static inline GpRuntime *gp_runtime_retain(GpRuntime *rt) {
    rt->refs++;
    return rt;
}
void gp_runtime_release(GpRuntime *rt);
/* A variable of the environment, or NULL when unset, empty or not to be read. */
const char *gp_runtime_env(const GpRuntime *rt, const char *name);
static inline bool gp_runtime_is_forked(const GpRuntime *rt) { return *rt->is_parent == 0; }
/* The span of a site, for labels. */
GpSpan gp_site_span(const GpRuntime *rt, GpSite site);
GpSpan gp_site_span_of(const GpRuntime *rt, GpSite site, const GpSiteHint *hint);
/* "add.lua:12", or "" for an unknown place. */
void gp_site_print(const GpRuntime *rt, GpSite site, GpText *out);
/* "`z`", or `otherwise` when the value has no name; always NUL-terminated. */
void gp_value_name(const GpRuntime *rt, const void *value, const char *otherwise, GpText *out);
/* The same with the place of the name on the line that runs; false when it has no name. */
bool gp_value_find_name(const GpRuntime *rt, const void *value, GpText *out, GpSpan *at);
GpStatus gp_report_no_memory(GpDiags *diags);

/* device.c */
GpDevice *gp_device_make(GpRuntime *rt, const GpDeviceOps *ops);
GpStatus gp_device_start(GpDevice *d, GpDiags *diags); /* its default stream */
void gp_device_free(GpDevice *d);
/* Ok unless the device was lost or the process forked. */
GpStatus gp_device_check(GpDevice *d, GpDiags *diags);
bool gp_device_drain(GpDevice *d); /* waits for all streams, quietly */
extern const GpDeviceOps gp_cpu_ops;
GpStatus gp_cpu_open(GpRuntime *rt, GpDeviceKind kind, GpDiags *diags, GpDevice **out);
GpStatus gp_cuda_device_open(GpRuntime *rt, int index, GpDiags *diags, GpDevice **out);
GpCuda *gp_runtime_cuda(GpRuntime *rt); /* opens the library on the first call */

/* device_cuda.c: makes the device's context current; returns the one that was, for leave. */
GpCuContext gp_cuda_enter(GpDevice *d);
void gp_cuda_leave(GpDevice *d, GpCuContext before);

/* device_cuda_launch.c */
GpStatus gp_cuda_load(GpExec *e, GpDiags *diags);
void gp_cuda_unload(GpExec *e);
GpStatus gp_cuda_launch(GpStream *s, const GpLaunch *l, GpDiags *diags);
/* Blocks of `threads` that a multiprocessor holds at once. */
GpCuResult gp_cuda_occupancy(GpExec *e, uint32_t threads, uint32_t *out);
/* Makes the tensor maps of a launch; those of the last launch stay when its tensors are the same. */
GpStatus gp_cuda_encode_maps(const GpRunRequest *r, GpDiags *diags);

/* device_cuda_graph.c */
GpStatus gp_cuda_graph_make(GpGraph *g, GpDiags *diags);
GpStatus gp_cuda_graph_launch(GpStream *s, GpGraph *g, GpDiags *diags);
void gp_cuda_graph_free(GpGraph *g);

/* graph.c */
/* Keeps a launch whose checks are done. */
GpStatus gp_graph_add(GpGraph *g, const GpRunRequest *r, GpDiags *diags);
/* Says that the host cannot wait for what is only recorded. */
GpStatus gp_graph_refuse_host(GpDiags *diags);

/* op.c: an op that counts as run and holds its arguments all the same; NULL: out of memory. */
GpRunOp *gp_op_hold(GpRuntime *rt, const GpRunRequest *request);
const GpRunRequest *gp_op_request(const GpRunOp *op);

/* poison.c */
void gp_ring_add(GpDevice *d, GpExec *exec, const GpGrid *grid, GpSite site, GpUse use);
void gp_ring_clear(GpDevice *d);
/* Reports a result of the driver; a sticky one loses the device, with the candidates named. */
GpStatus gp_device_fail(GpDevice *d, GpCuResult result, const char *what, GpDiags *diags);
GpStatus gp_device_report_lost(GpDevice *d, GpDiags *diags);

/* memory.c */
GpStatus gp_device_alloc(GpDevice *d, uint64_t bytes, GpSite site, GpDiags *diags,
                         uint64_t *address);

/* storage.c */
/* Without memory. */
GpStatus gp_storage_make(GpDevice *d, GpElem elem, int64_t numel, GpSite site, GpDiags *diags,
                         GpStorage **out);
GpStatus gp_storage_new(GpDevice *d, GpElem elem, int64_t numel, GpSite site, GpDiags *diags,
                        GpStorage **out);
void gp_storage_pin(GpStorage *st);
void gp_storage_unpin(GpStorage *st);
/* Behind its users; borrowed memory is given back when they are done, which is waited for. */
void gp_storage_free_memory(GpStorage *st);
/* Whether no stream but `s`, which keeps its own order, uses the storage. */
static inline bool gp_storage_is_on(const GpStorage *st, const GpStream *s) {
    bool is_written = st->writer.stream && st->writer.stream != s;
    bool is_read = st->reader_count && (st->reader_count > 1 || st->readers[0].stream != s);
    return !is_written && !is_read;
}
/* Makes `s` wait for what a use of the storage must come after. */
GpStatus gp_storage_order(GpStorage *st, GpStream *s, bool is_write, GpDiags *diags);
void gp_storage_used(GpStorage *st, GpUse use, bool is_write);
/* Waits on the host for all users, then looks at the mailboxes. */
GpStatus gp_storage_wait(GpStorage *st, bool is_write, GpDiags *diags);
void gp_storage_clean(GpStorage *st); /* it was overwritten whole */

/* address.c */
/* Memory for a storage without: the address is 0 when there are no bytes. */
void gp_storage_place(GpStorage *st, uint64_t address, uint64_t bytes);
void gp_storage_unplace(GpStorage *st);
/* The storage that has some of the bytes, which end before the last address; NULL: none. */
const GpStorage *gp_storage_at(const GpDevice *d, uint64_t first, uint64_t bytes);

/* tensor.c */
GpStatus gp_tensor_make(GpStorage *st, const GpTensor *like, GpDiags *diags, GpTensor **out);

/* strided.c: a nest of loops over two sets of strides, in elements, made as shallow as it goes */
typedef struct GpStrided {
    uint8_t rank;
    int64_t dim[GP_MAX_RANK], to[GP_MAX_RANK], from[GP_MAX_RANK];
} GpStrided;
void gp_strided_join(GpStrided *l, const GpShape *shape, const int64_t *to, const int64_t *from);
void gp_row_major(const GpShape *shape, int64_t *stride);
/* Moves loop `at` inwards to be number `place`. */
void gp_strided_bring(GpStrided *l, int at, int place);
/* Of the loops first..last the one over what lies nearest in the source. */
int gp_strided_nearest(const GpStrided *l, int first, int last);
/* The rectangles that a layout falls into. */
typedef struct GpPieces {
    int64_t width, height, to_pitch, from_pitch; /* elements */
    uint8_t outer;                               /* loops around the rectangle */
    uint64_t count;                              /* rectangles */
} GpPieces;
GpPieces gp_strided_pieces(const GpStrided *l);
/* Offsets of rectangle number i. */
void gp_strided_at(const GpStrided *l, const GpPieces *p, uint64_t i, int64_t *to, int64_t *from);
/* transfer_kernel.c: the copy that `l` is of, by hooks.copy. */
GpStatus gp_copy_by_kernel(GpTensor *dst, GpTensor *src, const GpStrided *l, GpSite site, GpDiags *diags);
/* Copies elements between two places in host memory. */
void gp_strided_copy(const GpStrided *l, void *to, const void *from, size_t elem_bytes);

/* overlap.c */
/* Whether some element belongs to both; exact, on (start, extent, stride). */
bool gp_tensor_overlaps(const GpTensor *a, const GpTensor *b);

/* ownership.c */
typedef enum GpVerb { GpVerb_Read, GpVerb_Write, GpVerb_Assign, GpVerb_Move, GpVerb_Drop } GpVerb;
typedef struct GpRequest {
    GpTensor *tensor;
    GpPartition *via; /* NULL: not through a partition */
    GpVerb verb;
    GpSite site;
    const char *param; /* NULL outside of a launch */
    GpSiteHint hint;   /* the argument of the launch; zeros outside of one */
} GpRequest;
static inline GpVerb gp_verb_of(GpAccess a) {
    return a == GpAccess_Read ? GpVerb_Read : a == GpAccess_Write ? GpVerb_Write : GpVerb_Move;
}
/* The common case, in a few loads: owned, nothing lent, not frozen, not ended, no move. */
static inline bool gp_own_is_plain(const GpTensor *t, const GpPartition *via, bool is_move) {
    const GpStorage *st = t->storage;
    return st->state == GpOwn_Owned && !st->loans && !st->is_frozen && !is_move &&
           (!via || !via->is_ended);
}
/* Ok at once for the common case: owned, not frozen, nothing lent. */
GpStatus gp_own_check(const GpRequest *q, GpDiags *diags);
/* Whether it would be Ok, without a look at what is garbage. */
bool gp_own_is_clear(const GpRequest *q);
/* For what looks at a handle and not at elements: refused when moved or freed; loans are fine. */
GpStatus gp_own_check_alive(GpTensor *t, GpSite site, GpDiags *diags);
/* What a launch there took by value is gone with it. */
void gp_own_take(GpStorage *st, GpSite site);
typedef enum GpConflict {
    GpConflict_None,
    GpConflict_Freed,
    GpConflict_Moved,
    GpConflict_Partitioned,
    GpConflict_Ended, /* a partition that was unwrapped */
    GpConflict_Frozen,
    GpConflict_Part, /* a move of a view that is only a part */
    GpConflict_Loan,
} GpConflict;
static inline bool gp_verb_is_move(GpVerb verb) {
    return verb == GpVerb_Move || verb == GpVerb_Drop;
}

/* ownership_report.c */
/* Says why `q` is refused; `loan` is the one in the way of GpConflict_Loan. */
GpStatus gp_own_report(const GpRequest *q, GpConflict conflict, const GpLoan *loan, GpDiags *diags);
/* Two arguments of one launch that overlap with a writer among them. */
GpStatus gp_own_report_pair(const GpRequest *a, const GpRequest *b, const char *kernel,
                            GpDiags *diags);
GpStatus gp_own_report_second_run(const GpRuntime *rt, const void *op, GpSite first, GpSite second,
                                  GpDiags *diags);

/* stream.c */
static inline bool gp_use_is_done(GpUse u) { return !u.stream || u.seq <= u.stream->completed; }
static inline GpUse gp_stream_issue(GpStream *s) { return (GpUse){s, ++s->issued}; }
GpStatus gp_stream_make(GpDevice *d, GpDiags *diags, GpStream **out);
void gp_stream_destroy(GpStream *s);
/* After a drain: looks at the last launches, and reports a failed check that was never raised
** through the session's write hook. Not in a child of fork. */
void gp_stream_close(GpStream *s);
GpStatus gp_stream_follow(GpStream *s, GpUse use, GpDiags *diags);
GpStatus gp_stream_wait(GpStream *s, GpDiags *diags); /* and looks at the mailboxes */
bool gp_use_poll(GpUse u);
/* Waits on the host whatever interrupts it; returns at once where the device was lost. */
void gp_use_await(GpUse u);

/* mailbox.c */
/* A slot whose mailbox is zero; NULL when out of memory. `written` are pinned until it is
** looked at. refs is 1, the caller's. */
GpSlot *gp_slot_take(GpStream *s, GpDiags *diags);
uint64_t gp_slot_address(const GpSlot *slot);
void gp_slot_cancel(GpSlot *slot); /* the launch did not happen */
bool gp_slot_add_written(GpSlot *slot, GpStorage *st);
void gp_slot_enqueued(GpSlot *slot, GpExec *exec, GpSite site, GpUse use);
/* Before a slot is enqueued once more, a graph's: it keeps its mailbox, and is looked at when the
** last replay is done. False when out of memory. */
bool gp_slot_arm(GpSlot *slot, const GpRunRequest *r);
void gp_slot_disarm(GpSlot *slot); /* gives such a slot back */
void gp_slot_release(GpSlot *slot);
GpFailure *gp_slot_failure(const GpSlot *slot); /* once it was looked at; borrowed */
void gp_stream_reap(GpStream *s);               /* looks at the slots of what is completed */
GpStatus gp_failure_raise(GpFailure *f, GpDiags *diags);
void gp_failure_release(GpFailure *f, GpSession *s);
void gp_slots_free(GpDevice *d);

/* launch.c */
/* The parameter block, of image->param_bytes bytes, and what the device is told. */
GpStatus gp_launch_pack(const GpRunRequest *r, const GpSlot *slot, uint8_t *block, GpLaunch *out,
                        GpDiags *diags);
/* Every check of a launch, and nothing else. */
GpStatus gp_launch_check(GpRuntime *rt, const GpRunRequest *r, GpDiags *diags);
/* Enqueues; the checks were done. `*slot` (may be NULL) gets a reference to the mailbox slot,
** NULL for a kernel without sites. */
GpStatus gp_launch_enqueue(const GpRunRequest *r, GpStream *s, GpDiags *diags, GpUse *use,
                           GpSlot **slot);

#endif
