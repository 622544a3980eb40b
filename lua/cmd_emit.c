/* gpulua emit */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "lua/cli.h"

typedef struct StageRow {
    const char *name;
    bool is_ast;
    GpStage stage;
} StageRow;

static const StageRow stages[] = {
    {"ast", true, GpStage_Ir},
    {"ir", false, GpStage_Ir},
    {"ir-opt", false, GpStage_IrOptimized},
    {"llvm", false, GpStage_LlvmOptimized},
    {"ptx", false, GpStage_Ptx},
    {"asm", false, GpStage_Asm},
};

typedef struct Emit {
    const StageRow *stage;
    const char *kernel; /* NULL: all */
    GpTarget target;
    GpWith with;
    uint32_t printed, errors;
} Emit;

static void emit_ast(gpulua_state *g, GpSource *src, Emit *e, GpDiags *diags) {
    GpText text = {.session = gp_engine_session(g->engine)};
    gp_module_parse(gp_engine_session(g->engine), src, diags, &text);
    if (gp_diags_errors(diags) == 0) {
        fputs(gp_text_cstr(&text), stdout);
        e->printed++;
    }
    gp_text_free(&text);
}

static void emit_kernel(gpulua_state *g, GpModule *m, const GpDef *def, Emit *e, GpDiags *diags) {
    GpKernel *plain = NULL, *k = NULL;
    GpKernelOptions options = {.named = e->with.named, .named_count = e->with.count};
    GpText text = {.session = gp_engine_session(g->engine)};
    memcpy(options.block, e->with.block, sizeof(options.block));
    GpStatus status = gp_kernel_new(g->engine, m, def, &plain);
    if (status == GpStatus_Ok) status = gp_kernel_with(plain, &options, (GpSite){0, 0}, diags, &k);
    if (status == GpStatus_Ok) status = gp_kernel_emit(k, e->stage->stage, &e->target, diags, &text);
    if (status == GpStatus_Ok) {
        fputs(gp_text_cstr(&text), stdout);
        e->printed++;
    } else if (gp_diags_errors(diags) == 0) {
        gp_diag(diags, GpDiag_G0900, GP_NO_SPAN, gp_status_text(status));
    }
    gp_text_free(&text);
    gp_kernel_release(k);
    gp_kernel_release(plain);
}

static void emit_module(gpulua_state *g, GpSource *src, Emit *e, GpDiags *diags) {
    GpModule *m = NULL;
    gp_module_new(gp_engine_std(g->engine), src, diags, &m);
    if (m && gp_diags_errors(diags) == 0) {
        for (uint32_t i = 0; i < gp_module_kernel_count(m); i++) {
            const GpDef *def = gp_module_kernel_at(m, i);
            if (!e->kernel || strcmp(def->name->name, e->kernel) == 0) emit_kernel(g, m, def, e, diags);
        }
    }
    gp_module_release(m);
}

static void emit_source(gpulua_state *g, GpSource *src, void *ud) {
    Emit *e = ud;
    GpDiags *diags = gp_diags_new(gp_engine_session(g->engine));
    if (!diags) return;
    if (e->stage->is_ast) emit_ast(g, src, e, diags);
    else emit_module(g, src, e, diags);
    gp_diags_sort(diags);
    gp_cli_report(g, diags);
    e->errors += gp_diags_errors(diags);
    gp_diags_release(diags);
}

static const StageRow *find_stage(const char *name) {
    for (size_t i = 0; i < GP_COUNT(stages); i++)
        if (strcmp(stages[i].name, name) == 0) return &stages[i];
    return NULL;
}

/* PTX needs no GPU: without a target it is for the newest one with a variant of its own. */
static bool choose_target(const char *name, Emit *e) {
    if (!name) name = e->stage->stage == GpStage_Ptx ? "sm_90a" : "cpu";
    return gp_target_parse(gp_str_from(name), &e->target) == GpStatus_Ok;
}

int gp_cmd_emit(gpulua_state *g, int argc, char **argv) {
    Emit e = {0};
    const char *file = NULL, *target = NULL, *stage = NULL, *with = "";
    for (int i = 1; i < argc; i++) {
        const char **value = NULL;
        if (strcmp(argv[i], "--stage") == 0) value = &stage;
        else if (strcmp(argv[i], "--target") == 0) value = &target;
        else if (strcmp(argv[i], "--kernel") == 0) value = &e.kernel;
        else if (strcmp(argv[i], "--with") == 0) value = &with;
        if (value && i + 1 < argc) *value = argv[++i];
        else if (value || argv[i][0] == '-' || file)
            return gp_cmd_usage("emit", "unexpected '%s'", argv[i]);
        else file = argv[i];
    }
    if (!file || !stage) return gp_cmd_usage("emit", "a file and a --stage are needed");
    e.stage = find_stage(stage);
    if (!e.stage) return gp_cmd_usage("emit", "unknown stage '%s'", stage);
    if (!choose_target(target, &e)) return gp_cmd_usage("emit", "unknown target '%s'", target);
    if (!gp_cli_with(with, &e.with)) return gp_cmd_usage("emit", "--with wants NAME=VALUE,..");
    if (!gp_cli_sources(g, file, emit_source, &e)) {
        fprintf(stderr, "gpulua emit: cannot read '%s': %s\n", file, strerror(errno));
        return EXIT_FAILURE;
    }
    if (e.errors) return EXIT_FAILURE;
    if (e.printed) return EXIT_SUCCESS;
    if (e.kernel) fprintf(stderr, "gpulua emit: no kernel '%s' in '%s'\n", e.kernel, file);
    else fprintf(stderr, "gpulua emit: no kernel in '%s'\n", file);
    return EXIT_FAILURE;
}
