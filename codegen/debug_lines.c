/* Line directives for PTX: one compile unit and one subprogram, no types and no variables, so
** that profilers and the driver's messages name the kernel's source lines. */
#include "codegen/emit.h"

/* LLVM refuses a file without a name. */
static LLVMMetadataRef make_file(GpEmit *e, const char *name) {
    const char *shown = *name ? name : "?";
    return LLVMDIBuilderCreateFile(e->di, shown, strlen(shown), "", 0);
}

void gp_debug_init(GpEmit *e) {
    e->di_source = e->fn->span.src;
    if (!e->di_source)
        return;
    GpPlaceInFile at = gp_span_start(e->fn->span);
    LLVMAddModuleFlag(e->module, LLVMModuleFlagBehaviorWarning, "Debug Info Version", 18,
                      LLVMValueAsMetadata(gp_emit_i32(e, LLVMDebugMetadataVersion())));
    e->di = e->llvm->di = LLVMCreateDIBuilder(e->module);
    e->di_file = make_file(e, at.file);
    LLVMDIBuilderCreateCompileUnit(e->di, LLVMDWARFSourceLanguageRust, e->di_file, "gpulua", 6,
                                   true, "", 0, 0, "", 0, GP_DWARF_DIRECTIVES_ONLY, 0, false, false,
                                   "", 0, "", 0);
    LLVMMetadataRef type =
        LLVMDIBuilderCreateSubroutineType(e->di, e->di_file, NULL, 0, LLVMDIFlagZero);
    e->di_builder_scope = LLVMDIBuilderCreateFunction(
        e->di, e->di_file, e->fn->name, strlen(e->fn->name), "", 0, e->di_file, at.line, type,
        false, true, at.line, LLVMDIFlagZero, true);
    LLVMSetSubprogram(e->func, e->di_builder_scope);
    gp_emit_location(e, e->fn->span);
}

void gp_debug_done(GpEmit *e) {
    if (e->di)
        LLVMDIBuilderFinalize(e->di);
    e->di = NULL;
}
