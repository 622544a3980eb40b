/* Code generation: kernel IR to PTX or machine code through LLVM's C API, and the oracle.
**
** The only folder that includes llvm-c. It never ends the process: targets, PTX versions and
** per-op minima are checked against our own tables before LLVM sees them, and every LLVM context
** has a diagnostic handler. No global state but LLVM's own target registry, which is filled once. */
#ifndef GP_CODEGEN_H
#define GP_CODEGEN_H

#include "core/diag.h"
#include "core/image.h"
#include "dsl/ir/ir.h"

typedef enum GpTargetKind {
    GpTarget_Nvptx,
    GpTarget_Cpu,    /* this machine, through ORC */
    GpTarget_Interp, /* the oracle: dsl/ir's interpreter behind a CPU image */
} GpTargetKind;

/* Nvptx: `sm` is 80, 90, 100, ...; `is_arch` selects the a-variant (sm_90a); `ptx` is the PTX
** version to emit, 80 for 8.0. Others leave them 0. */
typedef struct GpTarget {
    GpTargetKind kind;
    uint16_t sm;
    bool is_arch;
    uint16_t ptx;
} GpTarget;

/* Fills a target for a device of compute capability `sm` and a driver that reads PTX up to
** `max_ptx`: the a-variant where we know one, else the newest known one not above `sm`.
** GpStatus_Unsupported when the device is older than sm_80 or the driver reads no PTX of ours. */
GpStatus gp_target_for_device(uint16_t sm, uint16_t max_ptx, GpTarget *out);
/* "sm_90a", "sm_80", "cpu", "interp". GpStatus_Unsupported for an unknown name. PTX version:
** the lowest that the target needs. */
GpStatus gp_target_parse(GpStr name, GpTarget *out);
void gp_target_print(const GpTarget *t, GpText *out);
/* The names that gp_target_parse knows, "cpu, interp, sm_80, ..". */
void gp_target_print_all(GpText *out);

typedef struct GpCodegen GpCodegen;
/* One per session. NULL when out of memory. Costs nothing until the first compile. */
GP_NODISCARD GpCodegen *gp_codegen_new(GpSession *s);
void gp_codegen_free(GpCodegen *cg); /* images made by it stay valid */

/* Where device math comes from: a path to libdevice or libclc bitcode, or NULL when none was
** found; used by `doctor`. Searches once: GPULUA_LIBDEVICE, CUDA_HOME, /usr/local/cuda, the
** bundle's share/gpulua, libclc of the LLVM in use. */
const char *gp_codegen_device_math(GpCodegen *cg);
/* "22.1.8" */
const char *gp_codegen_llvm_version(void);

/* Compiles an instantiated function. Runs the optimizing passes on a copy of its own: `fn` is
** not changed. Refusals that a user can meet (an op the target lacks, a tile too large, device
** math missing) go to `diags` with the user's span and give GpStatus_Diagnostics; a failure
** inside LLVM is GpStatus_Compiler with a diagnostic G0500 too. *image has one reference. */
GpStatus gp_codegen_compile(GpCodegen *cg, const GpIrFn *fn, const GpTarget *target,
                            GpDiags *diags, GpImage **image);

typedef enum GpStage { GpStage_Ir, GpStage_IrOptimized, GpStage_Llvm, GpStage_LlvmOptimized, GpStage_Ptx, GpStage_Asm } GpStage;
/* The text of a stage, for `emit` and `inspect`. Same outcomes as gp_codegen_compile. */
GpStatus gp_codegen_emit(GpCodegen *cg, const GpIrFn *fn, const GpTarget *target, GpStage stage,
                         GpDiags *diags, GpText *out);

/* 32-byte key of what gp_codegen_compile would produce: IR text, target, LLVM and device-math
** identity, and a build id of gpulua. Equal keys, equal image. For the disk cache. Fails for want of memory only. */
GpStatus gp_codegen_key(GpCodegen *cg, const GpIrFn *fn, const GpTarget *target, uint8_t key[32]);
/* A key of the same kind for a text, of this build of gpulua. */
void gp_codegen_hash(GpStr text, uint8_t key[32]);

#endif
