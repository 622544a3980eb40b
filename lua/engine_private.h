/* Shared by engine*.c alone. */
#ifndef GP_ENGINE_PRIVATE_H
#define GP_ENGINE_PRIVATE_H

#include "dsl/ir/launch.h"
#include "lua/engine.h"

enum { GP_LIBRARY_KERNELS = 5 }; /* engine_library.c */

/* A chunk of the host program that sites point into. */
typedef struct GpSiteFile {
    const char *seen_at; /* address the chunk name was last seen at: the cheap comparison */
    const char *chunk;   /* own copy */
    GpSource *source;    /* read when a message first needs it */
    bool is_read;
} GpSiteFile;

struct GpEngine {
    GpSession session;
    GpArena *arena; /* chunk names; lives as long as the engine */
    GpStd *std;
    GpCodegen *codegen;
    GpRuntime *runtime;
    GpRuntimeHooks hooks; /* the host's; the runtime gets the engine's, which forward */
    char device_name[64]; /* wanted */
    GpDevice *device;     /* NULL until first used */
    GP_VEC(GpSiteFile) files; /* a site's `file` is an index plus 1 */
    GpCompileStats stats;
    GpKernel *library[GP_LIBRARY_KERNELS]; /* NULL until first needed */
};

/* engine_library.c */
void gp_engine_library_free(GpEngine *e);
/* GpRuntimeHooks.copy, of an engine */
GpStatus gp_engine_copy(void *engine, GpTensor *to, GpTensor *from, GpSite site, GpDiags *diags);

/* Code of one kernel for one variant key and device. */
typedef struct GpVariant {
    uint64_t key[2];
    GpSchedule schedule; /* asked for by the launch */
    GpSpan linear; /* GpIrFn */
    GpDevice *device;
    GpExec *exec[GpLeft_count]; /* by what is left to the kernel; NULL before it was needed */
    GpArena *arena; /* of the checks; NULL: there are none */
    GpLaunchCheck *checks;
    uint32_t check_count;
    struct GpVariant *next;
} GpVariant;

/* Shared by a kernel and what `with` made of it. */
typedef struct GpVariants {
    uint32_t refs;
    GpVariant *first;
} GpVariants;

struct GpKernel {
    GpEngine *engine;
    uint32_t refs;
    GpModule *module;
    const GpDef *def;
    GpArena *arena; /* the options' copies */
    GpKernelOptions options;
    GpVariants *variants;

    /* The last call */
    GpArena *bound;           /* instance and arrays; NULL before the first call */
    const GpInstance *instance;
    GpArgDesc *descs;         /* normalised: addresses modulo 16, no scalars */
    uint64_t *handles;        /* numbers of the tensors, 0 for what is none */
    GpRunArg *run_args;       /* those of the request */
    GpRunRequest request;     /* exec NULL before the first call */
    GpDevice *device;
};

/* In messages. */
#define GP_LAUNCH_OPTIONS                                                                          \
    "`grid`, `block`, `shared`, `stream`, `warps`, `stages`, `cluster`, `persistent`"

#endif
