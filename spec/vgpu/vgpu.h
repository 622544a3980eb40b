/* The virtual GPU: runs PTX on the CPU, warp by warp, and says what is wrong with it.
**
** driver.c is the CUDA driver's interface over it, memory.c its global memory. parse*.c turn PTX
** text into VgModule, decoded once: every operand is a place in the register file or a constant
** of 32 equal lanes. run*.c run it: a warp is a tree of splits (threads that took the same
** branches), of which one steps at a time until it waits. async*.c are the units that run beside
** the threads, check*.c what orders one access before another. */
#ifndef VG_VGPU_H
#define VG_VGPU_H

#include <stdio.h>

#include "core/str.h"
#include "runtime/cuda_types.h"

#define VG_LANES 32
#define VG_ALL UINT32_MAX /* mask of all lanes */
#define VG_MAX_OPERANDS 8
#define VG_SHARED_START 1024 /* of a block's shared memory; lower addresses are the system's */
#define VG_SHARED_MAX (227 * 1024)
#define VG_LOCAL_BYTES ((size_t)64 * 1024) /* a thread's */

/* Windows of the generic address space; no host address is in them. */
#define VG_WINDOW(address) ((address) >> 48)
#define VG_WINDOW_SHARED 0xfff1u
#define VG_WINDOW_LOCAL 0xfff2u
#define VG_WINDOW_PARAM 0xfff3u
/* Of a shared::cluster address above the offset: 0 is the block's own memory, r + 1 block r's. */
#define VG_RANK_SHIFT 24

typedef enum VgType {
#define VG_TYPE(id, spelling, bytes, kind) VgType_##id,
#include "spec/vgpu/type.def"
    VgType_count
} VgType;
typedef enum VgKind { VgKind_Pred, VgKind_Bits, VgKind_Uint, VgKind_Sint, VgKind_Float, VgKind_Pair } VgKind;
typedef struct VgTypeInfo {
    const char *name;
    uint8_t bytes;
    VgKind kind;
} VgTypeInfo;
extern const VgTypeInfo vg_types[VgType_count];

/* Classes of modifiers. Shape ("m16n8k16") has no row: it is read as numbers. */
typedef enum VgClass {
    VgClass_Round, VgClass_Approx, VgClass_Ftz, VgClass_Sat, VgClass_Relu, VgClass_Nan,
    VgClass_Cmp, VgClass_Part, VgClass_Logic, VgClass_Atom, VgClass_Sem, VgClass_Scope, VgClass_Space,
    VgClass_Vec, VgClass_Nc, VgClass_Cache, VgClass_Evict, VgClass_Hint, VgClass_Prefetch,
    VgClass_Shfl, VgClass_Vote, VgClass_Uni, VgClass_Sync, VgClass_Aligned, VgClass_To,
    VgClass_Side, VgClass_Clamp, VgClass_Carry, VgClass_Prmt, VgClass_Layout, VgClass_Trans,
    VgClass_Fragment, VgClass_Dim, VgClass_Tile, VgClass_Done, VgClass_Multicast, VgClass_Read,
    VgClass_Noinc, VgClass_Test, VgClass_Shape, VgClass_Mixed,
    VgClass_count
} VgClass;
typedef enum VgMod {
    VgMod_None,
#define VG_MOD(id, spelling, class) VgMod_##id,
#include "spec/vgpu/modifier.def"
} VgMod;

typedef enum VgInstId {
#define VG_INST(id, spelling, shape, types, classes, run) VgInst_##id,
#include "spec/vgpu/inst.def"
    VgInst_count
} VgInstId;

typedef enum VgSpecial {
#define VG_SPECIAL(id, spelling, bytes, value) VgSpecial_##id,
#include "spec/vgpu/special.def"
    VgSpecial_count
} VgSpecial;

/* 32 lanes of one value. */
typedef union VgLanes {
    uint8_t u8[256];
    uint16_t u16[VG_LANES];
    uint32_t u32[VG_LANES];
    uint64_t u64[VG_LANES];
    int32_t s32[VG_LANES];
    int64_t s64[VG_LANES];
    float f32[VG_LANES];
    double f64[VG_LANES];
} __attribute__((aligned(64))) VgLanes;

/* ---- Code --------------------------------------------------------------------------------- */

typedef enum VgOperandKind {
    VgOperand_None,    /* left out, or `_` */
    VgOperand_Reg,
    VgOperand_Pred,    /* a predicate register */
    VgOperand_Const,   /* an immediate, or the address of a variable */
    VgOperand_Special,
    VgOperand_Vector,  /* parts */
    VgOperand_Address, /* parts[0] + imm, brackets around it */
    VgOperand_Label,
} VgOperandKind;

typedef struct VgOperand {
    VgOperandKind kind;
    uint8_t bytes;       /* of a register's lane */
    bool is_negated;     /* !p */
    bool is_lane_space;  /* address in the thread's own stack: a variable of .local, or a
                            parameter of a function */
    bool is_param;       /* address in the kernel's parameter block */
    bool is_dynamic;     /* address in dynamic shared memory: imm is an offset in it */
    uint32_t at;         /* register: offset in the file; special: VgSpecial */
    uint32_t reg;        /* register: number in the function */
    uint64_t imm;        /* constant; displacement of an address */
    VgLanes *splat[4];   /* constant in 32 lanes of 1, 2, 4, 8 bytes; made when first read */
    struct VgOperand *parts;
    uint32_t part_count;
} VgOperand;

typedef struct VgRun VgRun;
typedef struct VgInst VgInst;

/* What a step asks of the scheduler. */
typedef enum VgOutcome {
    VgOutcome_Next,  /* go on behind the instruction */
    VgOutcome_Moved, /* the split's pc was set, or the split is gone */
    VgOutcome_Wait,  /* the split waits; the same instruction comes again */
    VgOutcome_Yield, /* go on behind it, others first */
    VgOutcome_Fail,  /* reported */
} VgOutcome;
typedef VgOutcome (*VgRunFn)(VgRun *x, const VgInst *in);

typedef struct VgInstInfo {
    const char *name;
    size_t len;
    const char *shape;
    uint8_t types;
    uint64_t classes;
    VgRunFn run;
} VgInstInfo;
extern const VgInstInfo vg_insts[VgInst_count];
#define VG_INST(id, spelling, shape, types, classes, run)                                          \
    VgOutcome vg_run_##run(VgRun *x, const VgInst *in);
#include "spec/vgpu/inst.def"

typedef struct VgAlu VgAlu;
typedef struct VgFunc VgFunc;

struct VgInst {
    VgInstId id;
    VgRunFn run;
    uint8_t mod[VgClass_count]; /* VgMod, 0 where none was given */
    VgType types[4];
    uint8_t type_count;         /* of alu: 2 where the sources but the last are of the second */
    uint8_t spaces[2];          /* VgMod of class Space, in order */
    uint16_t shape[3];          /* m, n, k */
    const VgAlu *alu;
    VgOperand guard;            /* Pred, or None */
    VgOperand ops[VG_MAX_OPERANDS];
    uint8_t op_count;
    const VgFunc *callee;
    uint32_t line, kernel_line; /* of the PTX text; of the kernel, 0 when unknown */
    GpStr text;                 /* the instruction as it was written */
    uint32_t *targets;          /* bra, brx: instructions */
    uint32_t target_count;
    bool is_near_wgmma;         /* an operand is a register that wgmma uses, and this is none */
    uint32_t reconverge;        /* where the sides meet again */
};

/* A variable in memory. */
typedef struct VgVar {
    GpSym name;
    uint8_t space; /* VgMod of class Space */
    uint64_t at;   /* Shared: address; Global, Const: host address; Param, Local: offset */
    uint64_t bytes, align;
} VgVar;

struct VgFunc {
    GpSym name;
    bool is_entry;
    GP_VEC(VgVar *) params; /* in order */
    GP_VEC(VgVar *) results;
    uint32_t param_bytes;   /* kernel: size of the parameter block */
    uint32_t lane_bytes;    /* of a thread's stack: .local variables, parameters of calls */
    uint32_t file_bytes;    /* register file of a warp */
    uint32_t reg_count;
    bool has_wgmma;
    GP_VEC(VgInst) insts;   /* the last is `exit` (kernel) or `ret` */
    uint32_t max_threads[3], required[3]; /* maxntid, reqntid; 0: not given */
    uint32_t cluster[3];
    uint32_t max_dynamic;   /* shared memory that cuFuncSetAttribute allowed */
    struct VgModule *module;
};

typedef struct VgModule {
    GpSession session;
    GpArena *arena;
    GpInterner *names;
    GP_VEC(VgFunc *) funcs;
    uint32_t shared_bytes;  /* static, from VG_SHARED_START on */
    uint32_t dynamic_align; /* of the external array */
    uint32_t dynamic_at;    /* its address */
    char *text;
    GP_VEC(void *) globals; /* memory of .global and .const variables */
} VgModule;

/* Parses PTX. NULL with a text in `error` when it is not understood. */
VgModule *vg_module_new(const char *text, char *error, size_t error_bytes);
void vg_module_free(VgModule *m);
VgFunc *vg_module_entry(const VgModule *m, const char *name); /* NULL when absent */
/* Fills `reconverge` of the function's branches. */
void vg_flow(GpArena *arena, VgFunc *f);

/* ---- Running ------------------------------------------------------------------------------ */

/* A register that wgmma uses: the groups that write and read it, and who wrote it last. */
typedef struct VgFlight {
    uint32_t result, operand; /* number of the last group + 1 */
    uint64_t written;         /* step */
    uint32_t line;
} VgFlight;

typedef struct VgFrame {
    const VgFunc *func;
    VgFlight *flight;     /* of each register; NULL in functions without wgmma */
    uint8_t *regs;
    struct VgFrame *caller;
    const VgInst *call;   /* in the caller */
    uint32_t lane_base;   /* of this frame in a thread's stack */
} VgFrame;

/* Threads of a warp that are at one place. The leaves run; an inner one waits at `pc` for the
** threads of its children. */
typedef struct VgSplit {
    struct VgSplit *parent;
    VgFrame *frame;
    VgFrame *home;      /* where `meet` is */
    uint32_t pc, meet;  /* UINT32_MAX: no meeting point */
    uint32_t mask;      /* threads; of an inner one: those that came back */
    uint32_t children;
    struct VgWarp *warp;
    bool is_used;
    bool is_waiting;    /* at the instruction at pc */
    bool is_forced;     /* a wait that may give up must do so */
    const struct VgInst *gave_up; /* the try_wait that said no last */
    uint64_t asked;     /* VgLaunch.progress when it last looked whether the wait is over */
    uint64_t ticket;    /* what it waits for, plus 1; 0: it did not arrive yet */
} VgSplit;
#define VG_MAX_SPLITS 160

typedef struct VgCta VgCta;
typedef struct VgWarp {
    VgCta *cta;
    uint32_t index;
    uint32_t live;      /* threads that did not end */
    uint64_t cluster_phase; /* of the cluster's barrier that it arrived for */
    bool has_waited;    /* for the kernel ahead */
    uint32_t registers; /* of a thread */
    VgSplit splits[VG_MAX_SPLITS];
    uint32_t split_end; /* those from here on are unused */
    uint32_t turn;      /* the split that ran last */
    uint8_t *stack;     /* the threads' own memory, VG_LOCAL_BYTES each; NULL until needed */
    uint32_t wgmma_issued, wgmma_groups, wgmma_waited; /* operations; groups committed, waited for */
    uint32_t group_ends[64]; /* operations before the end of a group, by its number */
    uint64_t fenced;    /* step of the last wgmma.fence */
    uint32_t carry;     /* of each thread: the flag that .cc sets */
    VgFrame *root;
    VgFrame *unused;
} VgWarp;

/* ---- Order -------------------------------------------------------------------------------- */

#define VG_MAX_MBARS 256
#define VG_MAX_GROUPS 8 /* warpgroups of a block */

/* Times of all actors; clock.c. */
typedef struct VgClock {
    uint32_t refs;
    struct VgClock *spare;
    uint32_t at[];
} VgClock;

/* What a thread hands on when it arrives somewhere. */
typedef struct VgStamp {
    VgClock *seen, *fenced;
} VgStamp;

typedef struct VgThread {
    VgClock *seen;      /* of others; its own time is `now` */
    VgClock *fenced;    /* the part of it that a proxy fence of somebody stands behind */
    uint32_t now, fenced_at;
    uint32_t inits;     /* its time at its last fence.mbarrier_init */
} VgThread;

/* What an actor of another block of the cluster did last in a block's shared memory. */
typedef struct VgVisit {
    uint32_t time, line;
} VgVisit;

typedef enum VgActorKind {
    VgActor_Thread,
    VgActor_Copies, /* cp.async of a thread */
    VgActor_Stores, /* bulk stores of a thread */
    VgActor_Mbar,   /* bulk loads that complete on an mbarrier */
    VgActor_Group,  /* wgmma of a warpgroup */
} VgActorKind;

/* An asynchronous action: its actor, and the time at which it is over. */
typedef struct VgUnit {
    uint32_t actor, time;
} VgUnit;

/* An access to bytes of shared memory, by a thread or by a unit that the thread issued. */
typedef struct VgTouch {
    struct VgCta *cta;
    uint32_t offset, bytes;
    uint32_t lane;
    int how; /* VgAccess */
    VgUnit unit;
} VgTouch;

typedef struct VgReader {
    uint32_t time;
    uint16_t actor, line;
} VgReader;

/* A byte of shared memory; shadow.c. Its fields leave no gaps, so that bytes can be compared. */
enum { VgByte_Written = 1, VgByte_Atomic = 2, VgByte_Async = 4 };
typedef struct VgByte {
    uint32_t write_time;
    uint16_t write_actor, write_line;
    uint8_t state, reader_count;
    uint8_t async_readers; /* as bits */
    uint8_t unused;
    VgReader readers[3];
} VgByte;

/* ---- Units -------------------------------------------------------------------------------- */

/* A tensor map: what stands in the 128 bytes of a CUtensorMap. */
#define VG_MAP_MAGIC 0x70616d47u
typedef struct VgMap {
    uint32_t magic;
    uint8_t rank, bytes; /* of an element */
    uint8_t swizzle;     /* GpCu_MapSwizzle.. */
    uint16_t box[5];
    uint64_t base;
    uint64_t dims[5];    /* innermost first */
    uint64_t strides[5]; /* bytes */
} VgMap;
_Static_assert(sizeof(VgMap) <= 128, "a tensor map has 128 bytes");

typedef struct VgBulk VgBulk;

typedef struct VgMbar {
    uint32_t offset;    /* in shared memory; 0: unused */
    uint32_t count;     /* arrivals of a phase */
    uint32_t pending;   /* of this one */
    int64_t tx;         /* bytes that are still to come */
    uint32_t phase;     /* phases that are over */
    uint32_t channel;   /* its number among the block's */
    VgBulk *loads;      /* issued, not yet there */
    VgStamp arriving, done; /* of this phase, of the last one */
    VgUnit init;        /* the thread that initialized it, and when */
    uint32_t init_line;
} VgMbar;

/* A copy between global and shared memory that was issued. */
struct VgBulk {
    VgBulk *next;
    const VgInst *inst;
    VgMap map;
    bool is_plain;      /* cp.async.bulk: `bytes` at `global` */
    int32_t at[5];
    uint64_t global;
    uint32_t shared, bytes;
    uint32_t filled;    /* plain load: bytes behind these are zeros */
    VgCta *cta;         /* of the shared memory */
    uint32_t group;     /* store: the bulk group it belongs to */
};

/* Bulk stores and cp.async of a thread, by group. */
typedef struct VgIssued {
    VgBulk *first, **last;
    uint32_t committed, waited; /* groups; waited for */
} VgIssued;

typedef struct VgWgmma VgWgmma;
typedef struct VgGroup {
    VgWgmma *ops;       /* a ring */
    uint32_t first, count; /* number of the oldest that is kept; issued by any warp */
    uint32_t run;       /* those below were run */
} VgGroup;

typedef struct VgBarrier {
    uint32_t arrived, expected; /* threads; expected 0: nobody came yet */
    uint64_t phase;
    uint32_t votes_or, votes_nand, votes;
    uint32_t result_or, result_and, result_count;
    VgStamp arriving, done;
} VgBarrier;

typedef struct VgLaunch VgLaunch;
struct VgCta {
    VgLaunch *launch;
    uint32_t block[3];
    uint32_t rank;       /* in its cluster */
    uint32_t thread_count, warp_count;
    VgWarp *warps;
    uint32_t spare_registers; /* of a thread in as many warps; setmaxnreg */
    uint8_t *shared;     /* from address 0 on */
    uint32_t shared_end;
    VgBarrier barriers[16];
    VgThread *threads;
    VgByte *bytes;       /* as `shared` */
    VgMbar mbars[VG_MAX_MBARS];
    uint32_t mbar_count;
    VgIssued *stores, *copies; /* of each thread */
    VgGroup groups[VG_MAX_GROUPS];
    VgVisit *visits;     /* by actor */
    VgStamp ended;       /* what the threads that ended knew */
};

struct VgLaunch {
    const VgFunc *func;
    uint32_t grid[3], block[3], cluster[3];
    uint32_t cluster_ctas;
    uint32_t dynamic_bytes;
    uint8_t *params;
    uint64_t steps;      /* instructions so far */
    uint64_t progress;   /* counts what may end a wait: barrier phases, memory written */
    uint64_t seed, random;
    bool is_dependent;   /* the kernel ahead may still run: griddepcontrol.wait comes first */
    bool is_early;       /* asynchronous units act when they are issued, not when waited for */
    uint32_t actors;
    VgClock *spare_clocks;
    VgStamp cluster_arriving, cluster_done;
    VgCta *ctas;         /* of the cluster that runs */
    uint32_t cluster_arrived; /* warps at the cluster's barrier */
    uint64_t cluster_phase;
    GpCuResult result;
};

struct VgRun {
    VgLaunch *launch;
    VgWarp *warp;
    VgSplit *split;
    VgFrame *frame;
    uint32_t mask;       /* threads that execute the instruction: the split's under the guard */
    const VgInst *inst;
    const uint8_t *stored; /* while the address of a store is looked up: its bytes */
    uint64_t near_start, near_end; /* the block of global memory that was last reached */
};

/* Runs the grid; 0 or a CUDA error. */
GpCuResult vg_launch(VgLaunch *l);
uint64_t vg_random(VgLaunch *l);

static inline uint32_t vg_thread(const VgWarp *w, uint32_t lane) {
    return w->index * VG_LANES + lane;
}
uint32_t vg_thread_axis(const VgWarp *w, uint32_t lane, uint32_t axis);
uint32_t vg_cluster_axis(const VgCta *cta, uint32_t axis);

/* Next when `wanted` threads execute the instruction. Others of the warp may still come, or end: Wait;
** when nobody runs any more, they never will: Fail. */
VgOutcome vg_together(VgRun *x, uint32_t wanted);

/* Threads that go to an instruction. */
typedef struct VgSide {
    uint32_t mask, pc;
} VgSide;
/* Spreads the split's threads over the sides, whose masks are theirs together. */
VgOutcome vg_spread(VgRun *x, const VgSide *sides, uint32_t count, uint32_t meet);
VgOutcome vg_end_threads(VgRun *x, uint32_t mask);

/* Reports a mistake of the program at the instruction that runs, for one of its threads (its
** first when lane is negative), and gives VgOutcome_Fail. */
GP_PRINTF(4, 5) VgOutcome vg_fault(VgRun *x, GpCuResult result, int lane, const char *fmt, ...);

/* The place of an instruction and its text, for reports. */
#define VG_INST_TEXT 160
void vg_print_inst(char *to, size_t bytes, const VgInst *in);

/* Results that a launch ends with. */
#define VG_ILLEGAL_ADDRESS 700
#define VG_TIMEOUT 702
#define VG_MISALIGNED 716
#define VG_FAILED 719

VgFrame *vg_frame_new(const VgFunc *f);
void vg_frame_free(VgFrame *f);

/* ---- Registers ---------------------------------------------------------------------------- */

/* The 32 lanes of a source, `bytes` each; in `buf` when they stand nowhere in that width. Wider
** registers are cut, narrower ones get zeros. */
const VgLanes *vg_read(VgRun *x, const VgOperand *o, uint32_t bytes, VgLanes *buf);
uint32_t vg_read_pred(VgRun *x, const VgOperand *o);
/* Writes the lanes that execute; a wider register gets the type's sign or zeros. */
void vg_write(VgRun *x, const VgOperand *o, VgType type, const VgLanes *v);
void vg_write_pred(VgRun *x, const VgOperand *o, uint32_t value);
/* One lane, as a number. */
uint64_t vg_lane(const VgLanes *v, uint32_t bytes, uint32_t lane);
void vg_set_lane(VgLanes *v, uint32_t bytes, uint32_t lane, uint64_t value);
/* The value that all executing threads must share; false (reported) when they do not. */
bool vg_uniform(VgRun *x, const VgOperand *o, uint32_t bytes, uint64_t *value);
static inline int vg_first_lane(uint32_t mask) { return __builtin_ctz(mask); }
#define VG_EACH_LANE(lane, mask)                                                                   \
    for (uint32_t left_##lane = (mask), lane;                                                      \
         left_##lane && (lane = (uint32_t)__builtin_ctz(left_##lane), true);                       \
         left_##lane &= left_##lane - 1)

/* ---- Numbers ------------------------------------------------------------------------------ */

typedef void (*VgAluFn)(void *to, const VgLanes *const *from);
struct VgAlu {
    VgAluFn fn;
    uint8_t out;      /* bytes of the result */
    uint8_t sources[4]; /* bytes */
};
/* NULL when the instruction is not defined on the type. */
const VgAlu *vg_alu_find(VgInstId id, VgType type);
double vg_to_double(VgType type, uint64_t bits);
/* Rounded to nearest even. */
uint64_t vg_from_double(VgType type, double v);

/* ---- Memory ------------------------------------------------------------------------------- */

typedef enum VgAccess { VgAccess_Read = 1, VgAccess_Write = 2, VgAccess_Atomic = 4, VgAccess_Async = 8 } VgAccess;

/* Where an address leads, checked: `bytes` from it on are there for the thread. NULL: reported. */
uint8_t *vg_reach(VgRun *x, uint8_t space, uint64_t address, uint32_t bytes, uint32_t lane,
                  VgAccess access);
/* The addresses of a bracketed operand. */
void vg_addresses(VgRun *x, const VgOperand *o, VgLanes *to);
/* False, and reported: the kernel ahead in the stream may still run, and the warp did not wait for it. */
bool vg_may_touch_global(VgRun *x);
/* A shared address of the executing block or of one in its cluster. */
VgCta *vg_shared_cta(VgRun *x, uint64_t address, uint32_t *offset);

/* Checks an access of a thread, or of a unit that the thread issued, against what is known of
** the bytes, and notes it. False: reported. */
bool vg_check_shared(VgRun *x, const VgTouch *t);

VgClock *vg_clock_new(VgLaunch *l);
void vg_clock_release(VgLaunch *l, VgClock *c);
void vg_clocks_free(VgLaunch *l);
void vg_threads_start(VgCta *c);
uint32_t vg_actor(const VgCta *c, VgActorKind kind, uint32_t index);
uint32_t vg_actor_count(const VgCta *c); /* of its whole launch */
#define VG_ACTOR_TEXT 96
void vg_describe_actor(const VgLaunch *l, uint32_t actor, char *text, size_t bytes);
/* The thread itself, now. */
VgUnit vg_thread_unit(const VgRun *x, uint32_t lane);
/* The threads hand on what they know; a later acquire of it makes that known to others. */
void vg_release(VgRun *x, uint32_t mask, VgStamp *to);
void vg_release_inits(VgRun *x, uint32_t mask, VgStamp *to);
void vg_acquire(VgRun *x, uint32_t mask, const VgStamp *from);
void vg_acquire_actor(VgRun *x, uint32_t mask, uint32_t actor, uint32_t time);
void vg_stamp_drop(VgLaunch *l, VgStamp *s);
void vg_fence_proxy(VgRun *x, uint32_t mask);
void vg_meet(VgRun *x, uint32_t mask);

uint32_t vg_live_warps(const VgCta *c);
uint32_t vg_cluster_warps(const VgLaunch *l); /* live ones of all blocks */
/* Notes an action in a block's shared memory; false, reported, when it is another and has ended. */
bool vg_visit(VgRun *x, VgCta *to, VgUnit unit, uint32_t lane);
/* The last threads of a block may end only behind what others do in its memory. */
VgOutcome vg_visits_at_exit(VgRun *x, uint32_t mask);

/* Asynchronous units: what a block has at its start, and what it must not leave at its end. */
void vg_async_start(VgCta *c);
void vg_async_free(VgCta *c);
/* For reports of deadlocks: what the instruction of the split waits for. */
void vg_describe_wait(const VgCta *c, const VgSplit *s, char *text, size_t bytes);
VgOutcome vg_stores_at_exit(VgRun *x, uint32_t mask);
VgOutcome vg_vprintf(VgRun *x, const VgInst *call);
/* Registers that a wgmma has in flight must not be touched. */
VgOutcome vg_check_flight(VgRun *x, const VgInst *in);
/* The tensor map at an address; NULL: reported. */
const VgMap *vg_map_at(VgRun *x, uint64_t address, uint32_t lane);

GpCuResult vg_encode_tiled(GpCuTensorMap *map, GpCuMapType type, uint32_t rank, void *base,
                           const uint64_t *dims, const uint64_t *strides, const uint32_t *box,
                           const uint32_t *steps, GpCuMapInterleave interleave,
                           GpCuMapSwizzle swizzle, GpCuMapFill fill);

/* Global memory: the driver's allocations. */
bool vg_memory_add(void *at, size_t bytes);
bool vg_memory_remove(void *at);
/* The block of `at`, or of what is next to it; false when `bytes` from `at` are not in one. */
bool vg_memory_find(uint64_t at, uint64_t bytes, uint64_t *start, uint64_t *end);
/* For reports: the nearest block. */
void vg_memory_describe(uint64_t at, char *text, size_t bytes);

#endif
