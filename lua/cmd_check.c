/* gpulua check */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "lua/cli.h"

typedef struct Check {
    const char *with; /* NULL: definitions only */
    bool is_json, is_parse_only;
    uint32_t errors, warnings, kernels, sources;
} Check;

typedef struct Instantiate {
    GpModule *module;
    const GpDef *kernel;
    const GpWith *with;
    GpArena *arena;
    GpDiags *diags;
    GpStatus status;
} Instantiate;

/* Only the generics that this kernel has: --with speaks to all kernels of the file. */
static uint32_t select_named(const GpDef *kernel, const GpWith *with, GpNamedArg *out) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < with->count; i++)
        for (uint32_t k = 0; k < kernel->generic_count; k++)
            if (gp_str_eq(with->named[i].name, (GpStr){kernel->generics[k]->name->name, kernel->generics[k]->name->len}))
                out[count++] = with->named[i];
    return count;
}

static void instantiate(GpSession *s, void *ud) {
    Instantiate *in = ud;
    GpInstance *instance;
    GpNamedArg named[GP_WITH_MAX];
    GpIrFn *fn;
    (void)s;
    uint32_t count = select_named(in->kernel, in->with, named);
    in->status = gp_bind_assumed(in->module, in->arena, in->kernel, named, count, in->with->block,
                                 in->diags, &instance);
    if (in->status == GpStatus_Ok)
        in->status = gp_instantiate(in->module, in->arena, instance, in->diags, &fn);
}

static void check_instances(gpulua_state *g, GpModule *m, const Check *c, GpDiags *diags) {
    GpWith with = {.count = 0};
    GpSession *session = gp_engine_session(g->engine);
    if (!gp_cli_with(c->with, &with)) return;
    for (uint32_t i = 0; i < gp_module_kernel_count(m); i++) {
        Instantiate in = {m, gp_module_kernel_at(m, i), &with, gp_arena_new(session), diags, GpStatus_Ok};
        if (in.arena) gp_protect(session, instantiate, &in);
        gp_arena_free(in.arena);
    }
}

static void print_obligations(gpulua_state *g, GpModule *m) {
    for (uint32_t i = 0; i < gp_module_kernel_count(m); i++) {
        const GpDef *kernel = gp_module_kernel_at(m, i);
        GpText text = {.session = gp_engine_session(g->engine)};
        gp_module_print_obligations(m, kernel, &text);
        if (text.len) printf("%s: left for instantiation:\n%s", kernel->name->name, gp_text_cstr(&text));
        gp_text_free(&text);
    }
}

static void check_source(gpulua_state *g, GpSource *src, void *ud) {
    Check *c = ud;
    GpSession *session = gp_engine_session(g->engine);
    GpDiags *diags = gp_diags_new(session);
    GpModule *m = NULL;
    GpStatus status = GpStatus_NoMemory;
    if (diags && c->is_parse_only) status = gp_module_parse(session, src, diags, NULL);
    else if (diags) status = gp_module_new(gp_engine_std(g->engine), src, diags, &m);
    bool is_good = m && gp_diags_errors(diags) == 0;
    if (is_good && c->with) check_instances(g, m, c, diags);
    if (is_good && !c->with && !c->is_json) print_obligations(g, m);
    if (diags) {
        c->errors += gp_diags_errors(diags);
        c->warnings += gp_diags_count(diags) - gp_diags_errors(diags);
        gp_diags_sort(diags);
    }
    if (c->is_json && diags) {
        GpText text = {.session = session};
        gp_diags_json(diags, &text);
        fputs(gp_text_cstr(&text), stdout);
        gp_text_free(&text);
    } else if (diags) {
        gp_cli_report(g, diags);
    }
    if (m) c->kernels += gp_module_kernel_count(m);
    if (status != GpStatus_Ok && status != GpStatus_Diagnostics) c->errors++;
    c->sources++;
    gp_module_release(m);
    gp_diags_release(diags);
}

static void print_summary(const Check *c) {
    if (c->is_json) return;
    if (c->errors) printf("%u error%s\n", c->errors, c->errors == 1 ? "" : "s");
    else if (c->is_parse_only) printf("parsed %u source%s\n", c->sources, c->sources == 1 ? "" : "s");
    else printf("checked %u kernel%s, no errors\n", c->kernels, c->kernels == 1 ? "" : "s");
}

int gp_cmd_check(gpulua_state *g, int argc, char **argv) {
    Check c = {0};
    GpWith with = {.count = 0};
    int files = 0, missing = 0;
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--json") == 0) {
            c.is_json = true;
        } else if (strcmp(argv[i], "--parse-only") == 0) {
            c.is_parse_only = true;
        } else if (strcmp(argv[i], "--with") == 0 && i + 1 < argc) {
            c.with = argv[++i];
            if (!gp_cli_with(c.with, &with))
                return gp_cmd_usage("check", "--with wants NAME=VALUE,.., got '%s'", c.with);
        } else if (argv[i][0] == '-') {
            return gp_cmd_usage("check", "unknown option '%s'", argv[i]);
        } else {
            files++;
        }
    }
    if (!files) return gp_cmd_usage("check", "no file given");
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--with") == 0) i++;
        else if (argv[i][0] != '-' && !gp_cli_sources(g, argv[i], check_source, &c)) {
            fprintf(stderr, "gpulua check: cannot read '%s': %s\n", argv[i], strerror(errno));
            missing++;
        }
    }
    print_summary(&c);
    return c.errors || missing ? EXIT_FAILURE : EXIT_SUCCESS;
}
