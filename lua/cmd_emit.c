/* gpulua emit */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "lua/cli.h"

typedef struct StageRow {
    const char *name;
    bool is_ast;
    GpStage stage;
    GpTargetKind kind; /* the only kind of target that has it, unless is_free */
    bool is_free;
    const char *target; /* when none is given */
} StageRow;

static const StageRow stages[] = {
    {"ast", true, GpStage_Ir, GpTarget_Cpu, true, "cpu"},
    {"ir", false, GpStage_Ir, GpTarget_Cpu, true, "cpu"},
    {"ir-opt", false, GpStage_IrOptimized, GpTarget_Cpu, true, "cpu"},
    {"llvm", false, GpStage_LlvmOptimized, GpTarget_Cpu, true, "cpu"},
    {"ptx", false, GpStage_Ptx, GpTarget_Nvptx, false, "sm_90a"},
    {"asm", false, GpStage_Asm, GpTarget_Cpu, false, "cpu"},
};

typedef struct Emit {
    const StageRow *stage;
    const char *kernel; /* NULL: all */
    GpTarget target;
    GpWith with;
    GpText out; /* printed at the end, when the words are known to be right */
    uint32_t emitted, errors;
} Emit;

static void emit_text(Emit *e, GpText *text) {
    gp_text_puts(&e->out, gp_text_cstr(text));
    e->emitted++;
}

static void emit_ast(gpulua_state *g, GpSource *src, Emit *e, GpDiags *diags) {
    GpText text = {.session = gp_engine_session(g->engine)};
    gp_module_parse(gp_engine_session(g->engine), src, diags, &text);
    if (gp_diags_errors(diags) == 0)
        emit_text(e, &text);
    gp_text_free(&text);
}

static void emit_kernel(gpulua_state *g, GpModule *m, const GpDef *def, Emit *e, GpDiags *diags) {
    GpKernel *plain = NULL, *k = NULL;
    GpWith with = gp_cli_select(&e->with, def);
    GpKernelOptions options = {.named = with.named, .named_count = with.count};
    GpText text = {.session = gp_engine_session(g->engine)};
    memcpy(options.block, with.block, sizeof(options.block));
    memcpy(options.schedule, with.schedule, sizeof(options.schedule));
    GpStatus status = gp_kernel_new(g->engine, m, def, &plain);
    if (status == GpStatus_Ok)
        status = gp_kernel_with(plain, &options, (GpSite){0, 0}, diags, &k);
    if (status == GpStatus_Ok)
        status = gp_kernel_emit(k, e->stage->stage, &e->target, diags, &text);
    if (status == GpStatus_Ok) {
        emit_text(e, &text);
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
            if (!e->kernel || strcmp(def->name->name, e->kernel) == 0)
                emit_kernel(g, m, def, e, diags);
        }
    }
    gp_module_release(m);
}

static void emit_source(gpulua_state *g, GpSource *src, GpDiags *diags, void *ud) {
    Emit *e = ud;
    bool is_kernels = gp_diags_errors(diags) == 0;
    if (is_kernels && e->stage->is_ast)
        emit_ast(g, src, e, diags);
    else if (is_kernels)
        emit_module(g, src, e, diags);
    gp_diags_sort(diags);
    gp_cli_report(g, diags);
    e->errors += gp_diags_errors(diags);
}

static const StageRow *find_stage(const char *name) {
    for (size_t i = 0; i < GP_COUNT(stages); i++)
        if (strcmp(stages[i].name, name) == 0)
            return &stages[i];
    return NULL;
}

typedef struct Words {
    const char *file, *stage, *target, *with;
} Words;

/* A status other than 0 ends the command. */
static int read_words(Emit *e, int argc, char **argv, Words *w) {
    for (int i = 1; i < argc; i++) {
        const char **value = NULL;
        if (strcmp(argv[i], "--stage") == 0)
            value = &w->stage;
        else if (strcmp(argv[i], "--target") == 0)
            value = &w->target;
        else if (strcmp(argv[i], "--kernel") == 0)
            value = &e->kernel;
        else if (strcmp(argv[i], "--with") == 0)
            value = &w->with;
        if (value && i + 1 < argc)
            *value = argv[++i];
        else if (value)
            return gp_cmd_usage("emit", "%s wants a value", argv[i]);
        else if (argv[i][0] == '-' || w->file)
            return gp_cmd_usage("emit", "unexpected '%s'", argv[i]);
        else
            w->file = argv[i];
    }
    return 0;
}

static int choose(Emit *e, const Words *w) {
    if (!w->file || !w->stage)
        return gp_cmd_usage("emit", "a file and a --stage are needed");
    e->stage = find_stage(w->stage);
    if (!e->stage)
        return gp_cmd_usage("emit", "unknown stage '%s'", w->stage);
    const char *target = w->target ? w->target : e->stage->target;
    if (gp_target_parse(gp_str_from(target), &e->target) != GpStatus_Ok)
        return gp_cmd_usage("emit", "unknown target '%s'", target);
    if (!e->stage->is_free && e->target.kind != e->stage->kind)
        return gp_cmd_usage("emit", "the target '%s' has no stage '%s'", target, w->stage);
    if (w->with && !gp_cli_with(w->with, &e->with))
        return gp_cmd_usage("emit", "--with wants NAME=VALUE,.., got '%s'", w->with);
    return 0;
}

/* Prints what was emitted, or says why not all of it was. */
static int finish(const Emit *e, const char *file) {
    GpStr unused;
    if (!e->errors && !e->stage->is_ast && e->emitted && gp_cli_find_unused(&e->with, &unused))
        return gp_cmd_usage("emit", "--with: no kernel takes `%.*s`", (int)unused.len, unused.at);
    if (e->out.failed) {
        fprintf(stderr, "gpulua emit: %s\n", gp_status_text(GpStatus_NoMemory));
        return EXIT_FAILURE;
    }
    fputs(gp_text_cstr(&e->out), stdout);
    if (e->errors)
        return EXIT_FAILURE;
    if (!e->emitted && e->kernel)
        fprintf(stderr, "gpulua emit: no kernel '%s' in '%s'\n", e->kernel, file);
    else if (!e->emitted)
        fprintf(stderr, "gpulua emit: no kernel in '%s'\n", file);
    return e->emitted ? EXIT_SUCCESS : EXIT_FAILURE;
}

int gp_cmd_emit(gpulua_state *g, int argc, char **argv) {
    Emit e = {.out = {.session = gp_engine_session(g->engine)}};
    Words words = {NULL, NULL, NULL, NULL};
    int status = read_words(&e, argc, argv, &words);
    if (!status)
        status = choose(&e, &words);
    if (status)
        return status;
    bool is_read = gp_cli_sources(g, words.file, emit_source, &e);
    if (is_read)
        status = finish(&e, words.file);
    else
        fprintf(stderr, "gpulua emit: cannot read '%s': %s\n", words.file, strerror(errno));
    gp_text_free(&e.out);
    return is_read ? status : EXIT_FAILURE;
}
