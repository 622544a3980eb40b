/* A module of kernels: the whole front end behind one call, and what a launch asks of it.
** Definition checks everything once, for all values of the generics; instantiation makes IR. */
#ifndef GP_MODULE_H
#define GP_MODULE_H

#include "dsl/def.h"

typedef struct GpStd GpStd;       /* the built-in crates, parsed and resolved once per session */
typedef struct GpModule GpModule; /* heap object, reference-counted */

GP_NODISCARD GpStd *gp_std_new(GpSession *s); /* lazily filled by the first module */
void gp_std_free(GpStd *std);                 /* after every module made with it */

/* Parses and checks. Always returns a module (NULL only when out of memory, GpStatus_NoMemory);
** it is usable when `diags` got no error. */
GpStatus gp_module_new(GpStd *std, GpSource *src, GpDiags *diags, GpModule **out);
GpModule *gp_module_retain(GpModule *m);
void gp_module_release(GpModule *m);

/* Parses only; for `check --parse-only` and `emit --stage ast`. */
GpStatus gp_module_parse(GpSession *s, GpSource *src, GpDiags *diags, GpText *ast);

/* Kernels in source order. */
uint32_t gp_module_kernel_count(const GpModule *m);
const GpDef *gp_module_kernel_at(const GpModule *m, uint32_t i);
const GpDef *gp_module_find_kernel(const GpModule *m, GpStr name); /* NULL when absent */
const GpDef *gp_module_find_fn(const GpModule *m, GpStr name);     /* that is no method; the same */
/* G0341, with what makes a kernel of a function that has the name. */
void gp_module_report_no_kernel(const GpModule *m, const char *name, GpSpan at, GpDiags *diags);
/* What is meant here by a name of another language (foreign.def); NULL: it is none of that kind. */
typedef enum GpForeignKind { GpForeign_Type, GpForeign_Value, GpForeign_Word, GpForeign_Method, GpForeign_Number, GpForeign_List } GpForeignKind;
const char *gp_find_foreign(const char *name, GpForeignKind kind);
/* Obligations left for instantiation, as text lines for `check`. */
void gp_module_print_obligations(const GpModule *m, const GpDef *kernel, GpText *out);

/* ---- Binding a launch ------------------------------------------------------------------- */

typedef enum GpArgKind {
    GpArg_Tensor,
    GpArg_Partition,
    GpArg_Int,
    GpArg_Float,
    GpArg_Bool,
    GpArg_Other, /* a value of the host that no parameter takes: E0308 names it */
} GpArgKind;

/* An argument as the host has it. */
typedef struct GpArgDesc {
    GpArgKind kind;
    GpElem elem;          /* tensors */
    GpShape shape;
    int64_t stride[GP_MAX_RANK]; /* in elements */
    GpShape tile;         /* partitions */
    GpShare share;        /* partitions */
    uint64_t address;     /* of the first element; its alignment is a launch fact */
    int64_t i;            /* Int, Bool */
    double f;             /* Float */
    const char *other;    /* Other: "`nil`", "a string" */
} GpArgDesc;

/* A generic given by name: B = 128, T = "f16", S = {128, 64}. */
typedef enum GpNamedKind { GpNamed_Int, GpNamed_Text, GpNamed_Shape } GpNamedKind;
typedef struct GpNamedArg {
    GpStr name;
    GpNamedKind kind;
    int64_t value; /* of the kind, as are the next */
    GpStr text;
    GpShape shape;
} GpNamedArg;

typedef struct GpBindRequest {
    const GpDef *kernel;
    const GpArgDesc *args;
    uint32_t arg_count;
    const GpNamedArg *named;
    uint32_t named_count;
    uint32_t grid[3], block[3]; /* as given; zeros: infer */
    GpSpan site;                /* the call in the host program, for labels */
    const GpSpan *arg_sites;    /* its arguments, one per argument; NULL: unknown */
} GpBindRequest;

/* How a parameter takes its argument. */
typedef enum GpPass { GpPass_Shared, GpPass_Unique, GpPass_Moved, GpPass_Scalar } GpPass;

/* What a kernel looks after in its accesses to tiles; the launch knows the rest (dsl/ir/launch.h). */
typedef enum GpLeft {
    GpLeft_Checks,  /* that indices are in range, and what follows */
    GpLeft_Edges,   /* tiles that reach beyond their tensors */
    GpLeft_Nothing, /* no more than the launch cannot know */
    GpLeft_count
} GpLeft;

/* Which code an instance needs: generics, block, and the launch facts of the design's variant
** key (dtype and rank follow from the generics and parameters). Bytes that are equal mean equal
** code; never a scalar's value. */
typedef struct GpInstance {
    const GpDef *kernel;
    GpGArg *generics;       /* concrete, one per kernel->generics */
    uint32_t generic_count;
    uint32_t block[3];      /* SIMT: threads; tile: 1, 1, 1 */
    uint32_t grid[3];       /* not part of the code */
    struct GpArgFacts {
        GpPass pass;
        GpScalar scalar;    /* converted; not part of the code */
        GpElem elem;
        uint8_t rank;
        bool aligned16, unit_stride, small, splits_lines; /* what they imply: GpIrParam */
        int64_t tile[GP_MAX_RANK]; /* of a &mut Tensor: the extents that its type leaves open, else 0 */
    } *args;
    uint32_t arg_count;
    bool equal_lens;
    GpLeft left;            /* not in the key */
    uint64_t key[2];        /* 128-bit hash of the parts that are the code */
} GpInstance;

/* Matches arguments and names with the kernel's parameters and generics, converts scalars, infers
** grid and block, checks dtype, rank, shape, preconditions and contracts. Refusals name the
** parameter and the call: E0061, E0308, E0107, G03xx. `arena` holds the result. */
GpStatus gp_bind(GpModule *m, GpArena *arena, const GpBindRequest *request, GpDiags *diags,
                 GpInstance **out);
/* For `check --with` and `emit`: an instance from the request's generics and block and from
** assumed facts; the arguments of the request do not count. */
GpStatus gp_bind_assumed(GpModule *m, GpArena *arena, const GpBindRequest *request, GpDiags *diags,
                         GpInstance **out);
/* Whether calls have to decide nothing of the kernel's code: no generic without a preset, no extent of its own
** tiles. */
bool gp_bind_is_decided(const GpDef *kernel);
/* Asks the checks that launches make (GpIrFn.launch_checks): what is left to the kernel. The first index out
** of range is reported, where there are `diags`. */
struct GpLaunchCheck;
typedef struct GpLaunchAsk {
    GpArena *arena;
    const GpBindRequest *request;
    const GpInstance *instance;
    const struct GpLaunchCheck *checks;
    uint32_t count;
} GpLaunchAsk;
GpLeft gp_bind_ask(GpModule *m, const GpLaunchAsk *ask, GpDiags *diags);

/* Builds the IR of an instance, discharges its obligations and runs the semantic passes. The
** function lives in `arena`. */
GpStatus gp_instantiate(GpModule *m, GpArena *arena, const GpInstance *instance, GpDiags *diags,
                        GpIrFn **out);

#endif
