/* The device math library: found once, and linked function by function.
**
** LLVM's C API cannot link only what is needed. So the bitcode is read lazily, every function of
** it is marked available_externally (the linker then takes only bodies that are called), and the
** bodies that came over become internal. */
#include <dlfcn.h>
#include <llvm-c/BitReader.h>
#include <llvm-c/Linker.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "codegen/emit.h"

/* Where a path starts. */
typedef enum Root {
    Root_System,
    Root_Variable, /* the value of an environment variable */
    Root_Self,     /* the folder above the one that holds this code: a bundle */
} Root;

#define OWN_VARIABLE "GPULUA_LIBDEVICE"

/* In the order they are tried; what the first one names, where it is set, is the only one. */
typedef struct Candidate {
    Root root;
    const char *variable, *path;
} Candidate;
static const Candidate candidates[] = {
    {Root_Variable, OWN_VARIABLE, ""},
    {Root_Variable, "CUDA_HOME", "/nvvm/libdevice/libdevice.10.bc"},
    {Root_System, NULL, "/usr/local/cuda/nvvm/libdevice/libdevice.10.bc"},
    {Root_Self, NULL, "/share/gpulua/libdevice.10.bc"},
    {Root_Self, NULL, "/share/gpulua/nvptx64--.bc"},
    {Root_System, NULL, "/usr/lib/clc/nvptx64--.bc"},
};

/* The path of the program or library that holds this function, without its last two names; links
** are followed, since `require` finds the library through one in lua/5.4. */
static const char *self_root(char *buffer, size_t size) {
    static const char anchor;
    Dl_info info;
    if (!dladdr(&anchor, &info) || !info.dli_fname)
        return NULL;
    char *path = realpath(info.dli_fname, NULL);
    char *slash = path ? strrchr(path, '/') : NULL;
    int len = slash ? snprintf(buffer, size, "%.*s/..", (int)(slash - path), path) : 0;
    free(path);
    return len > 0 && (size_t)len < size ? buffer : NULL;
}

static char *path_of(const Candidate *c, char *buffer, size_t size) {
    char self[4096];
    const char *prefix = NULL;
    switch (c->root) {
    case Root_System:
        prefix = "";
        break;
    case Root_Variable:
        prefix = getenv(c->variable);
        break;
    case Root_Self:
        prefix = self_root(self, sizeof self);
        break;
    }
    if (!prefix)
        return NULL;
    int len = snprintf(buffer, size, "%s%s", prefix, c->path);
    return len > 0 && (size_t)len < size && access(buffer, R_OK) == 0 ? buffer : NULL;
}

static const char *named_by_user(void) {
    const char *path = getenv(OWN_VARIABLE);
    return path && path[0] ? path : NULL;
}

const char *gp_codegen_device_math(GpCodegen *cg) {
    char buffer[4096];
    for (size_t i = 0; i < GP_COUNT(candidates) && !cg->math_searched; i++) {
        const char *found = path_of(&candidates[i], buffer, sizeof buffer);
        if (!found && i == 0 && named_by_user())
            break;
        if (!found)
            continue;
        cg->math_bytes = strlen(found) + 1;
        cg->math_path = gp_try_realloc(cg->session, NULL, 0, cg->math_bytes);
        if (cg->math_path)
            memcpy(cg->math_path, found, cg->math_bytes);
        break;
    }
    cg->math_searched = true;
    return cg->math_path;
}

static LLVMModuleRef open_library(GpEmit *e, const char *path) {
    LLVMMemoryBufferRef buffer = NULL;
    LLVMModuleRef library = NULL;
    char *error = NULL;
    if (LLVMCreateMemoryBufferWithContentsOfFile(path, &buffer, &error)) {
        gp_llvm_fail(e->llvm, error);
        LLVMDisposeMessage(error);
        return NULL;
    }
    if (LLVMGetBitcodeModuleInContext2(e->ctx, buffer, &library)) {
        gp_llvm_fail(e->llvm, "the device math library is not LLVM bitcode");
        return NULL; /* the reader owns the buffer */
    }
    return library;
}

/* Our calls say nobuiltin; what they call may be inlined all the same. */
static void prepare(GpEmit *e, LLVMModuleRef library) {
    LLVMSetTarget(library, LLVMGetTarget(e->module));
    LLVMSetDataLayout(library, LLVMGetDataLayoutStr(e->module));
    for (LLVMValueRef f = LLVMGetFirstFunction(library); f; f = LLVMGetNextFunction(f))
        if (!LLVMIsDeclaration(f) && LLVMGetLinkage(f) == LLVMExternalLinkage)
            LLVMSetLinkage(f, LLVMAvailableExternallyLinkage);
}

static void adopt(GpEmit *e) {
    static const char *const off[] = {"target-cpu", "target-features"};
    for (LLVMValueRef f = LLVMGetFirstFunction(e->module); f; f = LLVMGetNextFunction(f)) {
        if (LLVMGetLinkage(f) != LLVMAvailableExternallyLinkage)
            continue;
        LLVMSetLinkage(f, LLVMInternalLinkage);
        for (size_t i = 0; i < GP_COUNT(off); i++)
            LLVMRemoveStringAttributeAtIndex(f, GP_LLVM_FUNCTION, off[i], (unsigned)strlen(off[i]));
    }
    /* Denormals are kept: ftz off. */
    LLVMAddModuleFlag(e->module, LLVMModuleFlagBehaviorOverride, "nvvm-reflect-ftz", 16,
                      LLVMValueAsMetadata(gp_emit_i32(e, 0)));
}

bool gp_device_math_link(GpEmit *e) {
    const char *path = gp_codegen_device_math(e->cg);
    if (!path) {
        GpDiag *d = gp_diag(e->diags, GpDiag_G0505, e->fn->span, e->fn->name);
        if (named_by_user())
            gp_note(d, "%s is `%s`, which cannot be read", OWN_VARIABLE, named_by_user());
        gp_help(d, "set %s to the path of libdevice.10.bc, or install libclc", OWN_VARIABLE);
        e->refused = true;
        return false;
    }
    LLVMModuleRef library = open_library(e, path);
    if (!library)
        return false;
    prepare(e, library);
    if (LLVMLinkModules2(e->module, library))
        gp_llvm_fail(e->llvm, "the device math library does not link");
    adopt(e);
    return !e->llvm->failed;
}
