/* LLVM objects and version differences. Written against LLVM 22. */
#include "codegen/llvm_shim.h"

#include <llvm-c/Analysis.h>
#include <llvm-c/Target.h>
#include <llvm-c/Transforms/PassBuilder.h>
#include <pthread.h>
#include <stdio.h>

static pthread_once_t targets_once = PTHREAD_ONCE_INIT;

static void init_targets(void) {
    LLVMInitializeX86TargetInfo();
    LLVMInitializeX86Target();
    LLVMInitializeX86TargetMC();
    LLVMInitializeX86AsmPrinter();
    LLVMInitializeNVPTXTargetInfo();
    LLVMInitializeNVPTXTarget();
    LLVMInitializeNVPTXTargetMC();
    LLVMInitializeNVPTXAsmPrinter();
}

void gp_llvm_fail(GpLlvm *l, const char *what) {
    l->failed = true;
    if (!l->message[0])
        snprintf(l->message, sizeof l->message, "%s", what);
}

/* LLVM reports remarks and warnings here too. */
static void on_diagnostic(LLVMDiagnosticInfoRef info, void *ud) {
    if (LLVMGetDiagInfoSeverity(info) != LLVMDSError)
        return;
    char *text = LLVMGetDiagInfoDescription(info);
    gp_llvm_fail(ud, text);
    LLVMDisposeMessage(text);
}

static bool create_target_machine(GpLlvm *l, const char *triple, const char *cpu,
                                  const char *features) {
    LLVMTargetRef target;
    char *error = NULL;
    if (LLVMGetTargetFromTriple(triple, &target, &error)) {
        gp_llvm_fail(l, error);
        LLVMDisposeMessage(error);
        return false;
    }
    char *host_cpu = cpu ? NULL : LLVMGetHostCPUName();
    char *host_features = cpu ? NULL : LLVMGetHostCPUFeatures();
    l->tm = LLVMCreateTargetMachine(target, triple, cpu ? cpu : host_cpu,
                                    cpu ? features : host_features, LLVMCodeGenLevelDefault,
                                    LLVMRelocPIC, LLVMCodeModelDefault);
    LLVMDisposeMessage(host_cpu);
    LLVMDisposeMessage(host_features);
    if (!l->tm)
        gp_llvm_fail(l, "no target machine");
    return l->tm != NULL;
}

bool gp_llvm_init(GpLlvm *l, const char *name, const char *triple, const char *cpu,
                  const char *features) {
    memset(l, 0, sizeof *l);
    pthread_once(&targets_once, init_targets);
    l->ctx = LLVMContextCreate();
    LLVMContextSetDiagnosticHandler(l->ctx, on_diagnostic, l);
    l->module = LLVMModuleCreateWithNameInContext(name, l->ctx);
    l->builder = LLVMCreateBuilderInContext(l->ctx);
    LLVMSetTarget(l->module, triple);
    if (!create_target_machine(l, triple, cpu, features))
        return false;
    LLVMTargetDataRef layout = LLVMCreateTargetDataLayout(l->tm);
    LLVMSetModuleDataLayout(l->module, layout);
    LLVMDisposeTargetData(layout);
    return true;
}

void gp_llvm_done(GpLlvm *l) {
    if (l->output)
        LLVMDisposeMemoryBuffer(l->output);
    if (l->di)
        LLVMDisposeDIBuilder(l->di);
    if (l->builder)
        LLVMDisposeBuilder(l->builder);
    if (l->module)
        LLVMDisposeModule(l->module);
    if (l->tm)
        LLVMDisposeTargetMachine(l->tm);
    if (l->ctx)
        LLVMContextDispose(l->ctx);
    memset(l, 0, sizeof *l);
}

bool gp_llvm_verify(GpLlvm *l) {
    char *text = NULL;
    if (LLVMVerifyModule(l->module, LLVMReturnStatusAction, &text))
        gp_llvm_fail(l, text);
    LLVMDisposeMessage(text);
    return !l->failed;
}

bool gp_llvm_run(GpLlvm *l, const char *passes) {
    LLVMPassBuilderOptionsRef options = LLVMCreatePassBuilderOptions();
    LLVMErrorRef error = LLVMRunPasses(l->module, passes, l->tm, options);
    LLVMDisposePassBuilderOptions(options);
    if (error) {
        char *text = LLVMGetErrorMessage(error);
        gp_llvm_fail(l, text);
        LLVMDisposeErrorMessage(text);
    }
    return !l->failed;
}

LLVMMemoryBufferRef gp_llvm_emit(GpLlvm *l, LLVMCodeGenFileType type) {
    char *error = NULL;
    gp_assert(!l->output);
    if (LLVMTargetMachineEmitToMemoryBuffer(l->tm, l->module, type, &error, &l->output)) {
        gp_llvm_fail(l, error);
        LLVMDisposeMessage(error);
    }
    return l->failed ? NULL : l->output;
}

LLVMAttributeRef gp_llvm_attr(GpLlvm *l, const char *name, uint64_t value) {
    unsigned kind = LLVMGetEnumAttributeKindForName(name, strlen(name));
    gp_assert(kind != 0);
    return LLVMCreateEnumAttribute(l->ctx, kind, value);
}

#define TEXT_OF(x)            #x
#define VERSION_TEXT(a, b, c) TEXT_OF(a) "." TEXT_OF(b) "." TEXT_OF(c)

const char *gp_llvm_version(void) {
    return VERSION_TEXT(LLVM_VERSION_MAJOR, LLVM_VERSION_MINOR, LLVM_VERSION_PATCH);
}
