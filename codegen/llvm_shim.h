/* LLVM objects of one compile, and everything that depends on LLVM's version.
**
** Each object is owned by a GpLlvm; gp_llvm_done releases them in the right order. A diagnostic
** of error severity sets `failed` and keeps its text: without the handler LLVM would exit. */
#ifndef GP_LLVM_SHIM_H
#define GP_LLVM_SHIM_H

#include <llvm-c/Core.h>
#include <llvm-c/DebugInfo.h>
#include <llvm-c/TargetMachine.h>

#include "core/base.h"

typedef struct GpLlvm {
    LLVMContextRef ctx;
    LLVMModuleRef module;
    LLVMBuilderRef builder;
    LLVMTargetMachineRef tm;
    LLVMDIBuilderRef di;        /* NULL until line directives are wanted */
    LLVMMemoryBufferRef output; /* of the last gp_llvm_emit */
    bool failed;
    char message[512]; /* the first error, "" when none */
} GpLlvm;

/* Fills *l for a triple, a CPU name and a feature string. False, with `message`, on failure;
** gp_llvm_done is due either way. NULL cpu means this machine. */
bool gp_llvm_init(GpLlvm *l, const char *name, const char *triple, const char *cpu,
                  const char *features);
void gp_llvm_done(GpLlvm *l);
void gp_llvm_fail(GpLlvm *l, const char *what);
/* Verifies, then runs a pipeline in opt's syntax. */
bool gp_llvm_run(GpLlvm *l, const char *passes);
bool gp_llvm_verify(GpLlvm *l);
/* Object code or assembly; NULL on failure. Stays owned by *l; whoever takes it over sets
** l->output to NULL. */
LLVMMemoryBufferRef gp_llvm_emit(GpLlvm *l, LLVMCodeGenFileType type);
const char *gp_llvm_version(void);
/* "nobuiltin" and the like: an attribute of this context. */
LLVMAttributeRef gp_llvm_attr(GpLlvm *l, const char *name, uint64_t value);
/* The function itself among the places of an attribute; LLVM's enumerator is negative. */
#define GP_LLVM_FUNCTION ((LLVMAttributeIndex)LLVMAttributeFunctionIndex)
/* DebugDirectivesOnly: .loc lines and no DWARF. LLVM's C enum has no name for it. */
#define GP_DWARF_DIRECTIVES_ONLY ((LLVMDWARFEmissionKind)3)

#endif
