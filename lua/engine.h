/* The engine behind both faces of gpulua, the Lua module and the C API: one session with its
** compiler, its runtime and the kernels made with them. It knows no Lua values, and is the only
** place where the compiler and the runtime meet.
**
** Status and diagnostics as in runtime.h: GpStatus_Diagnostics is a mistake of the caller. */
#ifndef GP_ENGINE_H
#define GP_ENGINE_H

#include "codegen/codegen.h"
#include "dsl/module.h"
#include "lua/random.h"
#include "runtime/runtime.h"

typedef struct GpEngineConfig {
    GpAllocFn alloc; /* NULL: realloc and free */
    void *alloc_ud;
    GpHooks hooks;
    GpRuntimeConfig runtime; /* its hooks.resolve is the engine's and not read */
    const char *device;      /* NULL: "auto" */
} GpEngineConfig;

typedef struct GpEngine GpEngine;

/* Touches no device and compiles nothing. */
GpStatus gp_engine_new(const GpEngineConfig *config, GpEngine **out);
/* Waits for what is enqueued and frees all device memory; tensors and kernels that are left are
** refused by every call. NULL is ignored. */
void gp_engine_close(GpEngine *e);
/* After every kernel, tensor and op made with it was released. */
void gp_engine_free(GpEngine *e);
GpSession *gp_engine_session(GpEngine *e);
GpRuntime *gp_engine_runtime(GpEngine *e);
GpCodegen *gp_engine_codegen(GpEngine *e);
GpStd *gp_engine_std(GpEngine *e);

/* The device of new tensors; opened on the first call. When "auto" fell back to the CPU, the
** reason goes once through the session's write hook. */
GpStatus gp_engine_device(GpEngine *e, GpDiags *diags, GpDevice **out);
/* Chooses it. The old one stays open for the tensors that are on it. */
GpStatus gp_engine_use(GpEngine *e, GpStr name, GpDiags *diags);
/* What the device's kernels are compiled for. */
GpStatus gp_engine_target(GpEngine *e, GpDevice *d, GpTarget *out);
/* "ir", "llvm", "ptx" or "asm"; false for another name. */
bool gp_engine_stage(const char *name, GpStage *out);
/* What a stage's text is for when nothing says so: the device, and a GPU's for PTX. */
GpStatus gp_engine_stage_target(GpEngine *e, GpStage stage, GpDiags *diags, GpTarget *out);

/* A site for line `line` of the chunk whose Lua `source` is `chunk` ("@path", "=name" or the
** text itself). Cheap on a chunk seen before. */
GpSite gp_engine_site(GpEngine *e, const char *chunk, int line);
/* The span of a site: its line without surrounding blanks. GP_NO_SPAN without a text. */
GpSpan gp_engine_resolve(GpEngine *e, GpSite site);
/* The same, narrowed to the one place where the name `word` stands on that line; the whole line
** when it stands there never or more than once. */
GpSpan gp_engine_resolve_word(GpEngine *e, GpSite site, const char *word);
/* The text of argument `arg` of the call of `callee` on that line; the whole line when the call is
** not found or there is more than one. */
GpSpan gp_engine_resolve_arg(GpEngine *e, GpSite site, const char *callee, uint32_t arg);

/* ---- Kernels ---------------------------------------------------------------------------- */

typedef struct GpKernel GpKernel; /* reference-counted: a kernel with launch options, perhaps none */

typedef struct GpKernelOptions {
    const GpNamedArg *named;
    uint32_t named_count;
    uint32_t grid[3], block[3]; /* zeros: infer */
    uint32_t shared_bytes;
    int64_t schedule[GpScheduleKey_count]; /* zeros: as the kernel says, else the compiler chooses */
    GpStream *stream;           /* NULL: the default stream */
} GpKernelOptions;

GpStatus gp_kernel_new(GpEngine *e, GpModule *m, const GpDef *def, GpKernel **out);
bool gp_def_has_generic(const GpDef *def, GpStr name);
/* The same kernel with more options; those given here win over those it has. Unknown generic
** names are refused now (G0340), with the known ones in a help, and so are schedules that no GPU
** can do (G0342). Variants are shared. */
GpStatus gp_kernel_with(GpKernel *k, const GpKernelOptions *options, GpSite site, GpDiags *diags,
                        GpKernel **out);
GpKernel *gp_kernel_retain(GpKernel *k);
void gp_kernel_release(GpKernel *k);
const char *gp_kernel_name(const GpKernel *k);

typedef struct GpCallArg {
    GpArgKind kind;
    GpTensor *tensor;       /* Tensor */
    GpPartition *partition; /* Partition */
    int64_t i;              /* Int, Bool */
    double f;               /* Float */
    const char *other;      /* Other: what binding calls it, until the call returns */
} GpCallArg;

/* Everything a call needs before ownership is asked: binds, instantiates, compiles (memory, disk
** cache, code generator) and loads. The request's arrays belong to the kernel and live until its
** next call. A call like the last one of this kernel (same descriptors, other addresses and
** scalars) does none of that again. */
GpStatus gp_kernel_prepare(GpKernel *k, const GpCallArg *args, uint32_t count, GpSite site,
                           GpDiags *diags, GpRunRequest *out);

/* What the speed of such a call depends on, as text: the code's IR, the arguments' extents and
** strides, the grid, the device. Compiles nothing; what `k` launched last stays. */
GpStatus gp_kernel_describe(GpKernel *k, const GpCallArg *args, uint32_t count, GpSite site,
                            GpDiags *diags, GpText *out);

/* The text of a stage for what `k` last launched, else for what its options and assumed facts
** give; for inspect(). */
GpStatus gp_kernel_emit(GpKernel *k, GpStage stage, const GpTarget *target, GpDiags *diags,
                        GpText *out);
/* The device of the last call; NULL before one. */
GpDevice *gp_kernel_device(const GpKernel *k);

/* ---- The library's own kernels ------------------------------------------------------------ */

/* Each element as Rust's `as` has it; both are contiguous, on one device, of one shape. Enqueues, does not wait. */
GpStatus gp_engine_convert(GpEngine *e, GpTensor *to, GpTensor *from, GpSite site, GpDiags *diags);
/* The numbers of gp_random_fill, by a kernel; t is contiguous. Enqueues, does not wait. */
GpStatus gp_engine_draw(GpEngine *e, GpTensor *t, const GpRandom *random, GpSite site, GpDiags *diags);

typedef struct GpCompileStats {
    uint32_t instantiated, compiled, from_disk; /* variants since the engine was made */
    uint64_t compile_ns;
} GpCompileStats;
GpCompileStats gp_engine_compile_stats(const GpEngine *e);

#endif
