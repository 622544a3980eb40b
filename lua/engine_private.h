/* Shared by engine*.c alone. */
#ifndef GP_ENGINE_PRIVATE_H
#define GP_ENGINE_PRIVATE_H

#include "lua/engine.h"

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
};

/* In messages. */
#define GP_LAUNCH_OPTIONS                                                                          \
    "`grid`, `block`, `shared`, `stream`, `warps`, `stages`, `cluster`, `persistent`"

#endif
