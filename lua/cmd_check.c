/* gpulua check */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "lua/cli.h"

typedef enum Form { Form_Report, Form_Short, Form_Json } Form;

typedef struct Check {
    bool has_with; /* without: of instances those that no call decides anything of */
    GpWith with;
    Form form;
    bool is_parse_only;
    uint32_t errors, warnings, kernels, sources, unread;
} Check;

typedef struct Instantiate {
    GpModule *module;
    const GpDef *kernel;
    GpWith with;
    GpArena *arena;
    GpDiags *diags;
    GpStatus status;
} Instantiate;

static void instantiate(GpSession *s, void *ud) {
    Instantiate *in = ud;
    GpInstance *instance;
    GpIrFn *fn;
    (void)s;
    GpBindRequest request = {
        .kernel = in->kernel, .named = in->with.named, .named_count = in->with.count};
    memcpy(request.block, in->with.block, sizeof request.block);
    in->status = gp_bind_assumed(in->module, in->arena, &request, in->diags, &instance);
    if (in->status == GpStatus_Ok)
        in->status = gp_instantiate(in->module, in->arena, instance, in->diags, &fn);
}

static void check_instances(gpulua_state *g, GpModule *m, Check *c, GpDiags *diags) {
    GpSession *session = gp_engine_session(g->engine);
    for (uint32_t i = 0; i < gp_module_kernel_count(m); i++) {
        const GpDef *kernel = gp_module_kernel_at(m, i);
        if (!c->has_with && !gp_bind_is_decided(kernel))
            continue;
        Instantiate in = {.module = m,
                          .kernel = kernel,
                          .with = gp_cli_select(&c->with, kernel),
                          .arena = gp_arena_new(session),
                          .diags = diags,
                          .status = GpStatus_NoMemory};
        if (in.arena)
            gp_protect(session, instantiate, &in);
        if (in.status != GpStatus_Ok && gp_diags_errors(diags) == 0)
            gp_diag(diags, GpDiag_G0900, GP_NO_SPAN, gp_status_text(in.status));
        gp_arena_free(in.arena);
    }
}

static void print_obligations(gpulua_state *g, GpModule *m) {
    for (uint32_t i = 0; i < gp_module_kernel_count(m); i++) {
        const GpDef *kernel = gp_module_kernel_at(m, i);
        GpText text = {.session = gp_engine_session(g->engine)};
        gp_module_print_obligations(m, kernel, &text);
        if (text.len)
            printf("%s: left for instantiation:\n%s", kernel->name->name, gp_text_cstr(&text));
        gp_text_free(&text);
    }
}

/* For 'errorformat' and its like: %f:%l:%c: %t%*[^:]: %m */
static void print_short(const GpSource *src, const GpDiags *diags) {
    for (uint32_t i = 0; i < gp_diags_count(diags); i++) {
        const GpDiag *d = gp_diags_at(diags, i);
        GpSpan span = gp_diag_span(d);
        GpPlaceInFile place = {src->name, src->first_line, src->first_column};
        if (span.src)
            place = gp_span_start(span);
        printf("%s:%u:%u: %s[%s]: %s\n", place.file, place.line, place.column,
               gp_severity_name(gp_diag_severity(d)), gp_diag_row(gp_diag_code(d))->code,
               gp_diag_title(d));
    }
}

static void print_diags(gpulua_state *g, const Check *c, const GpSource *src,
                        const GpDiags *diags) {
    GpText text = {.session = gp_engine_session(g->engine)};
    switch (c->form) {
    case Form_Report:
        gp_cli_report(g, diags);
        break;
    case Form_Short:
        print_short(src, diags);
        break;
    case Form_Json:
        gp_diags_json(diags, &text);
        fputs(gp_text_cstr(&text), stdout);
        break;
    }
    gp_text_free(&text);
}

static void check_kernels(gpulua_state *g, GpModule *m, Check *c, GpDiags *diags) {
    check_instances(g, m, c, diags);
    if (!c->has_with && c->form == Form_Report)
        print_obligations(g, m);
}

static void check_source(gpulua_state *g, GpSource *src, GpDiags *diags, void *ud) {
    Check *c = ud;
    GpModule *m = NULL;
    GpStatus status = GpStatus_Diagnostics;
    bool is_kernels = gp_diags_errors(diags) == 0;
    if (is_kernels && c->is_parse_only)
        status = gp_module_parse(gp_engine_session(g->engine), src, diags, NULL);
    else if (is_kernels)
        status = gp_module_new(gp_engine_std(g->engine), src, diags, &m);
    if (m && gp_diags_errors(diags) == 0)
        check_kernels(g, m, c, diags);
    c->errors += gp_diags_errors(diags);
    c->warnings += gp_diags_count(diags) - gp_diags_errors(diags);
    gp_diags_sort(diags);
    print_diags(g, c, src, diags);
    if (m)
        c->kernels += gp_module_kernel_count(m);
    if (status != GpStatus_Ok && status != GpStatus_Diagnostics) {
        fprintf(stderr, "gpulua check: '%s': %s\n", src->name, gp_status_text(status));
        c->errors++;
    }
    c->sources++;
    gp_module_release(m);
}

static void print_summary(const Check *c) {
    if (c->form != Form_Report)
        return;
    if (c->errors)
        printf("%u error%s", c->errors, gp_plural(c->errors));
    else if (c->is_parse_only)
        printf("parsed %u source%s", c->sources, gp_plural(c->sources));
    else
        printf("checked %u kernel%s, no errors", c->kernels, gp_plural(c->kernels));
    if (c->warnings)
        printf(", %u warning%s", c->warnings, gp_plural(c->warnings));
    if (c->unread)
        printf(", %u file%s not read", c->unread, gp_plural(c->unread));
    printf("\n");
}

/* Takes the option at argv[*i]; a status other than 0 ends the command. */
static int read_option(Check *c, int argc, char **argv, int *i) {
    const char *word = argv[*i];
    if (strcmp(word, "--json") == 0)
        c->form = Form_Json;
    else if (strcmp(word, "--short") == 0)
        c->form = Form_Short;
    else if (strcmp(word, "--parse-only") == 0)
        c->is_parse_only = true;
    else if (strcmp(word, "--with") != 0)
        return gp_cmd_usage("check", "unknown option '%s'", word);
    else if (*i + 1 == argc)
        return gp_cmd_usage("check", "--with wants NAME=VALUE,..");
    else if (!gp_cli_with(argv[++*i], &c->with))
        return gp_cmd_usage("check", "--with wants NAME=VALUE,.., got '%s'", argv[*i]);
    else
        c->has_with = true;
    return 0;
}

int gp_cmd_check(gpulua_state *g, int argc, char **argv) {
    Check c = {.form = Form_Report};
    GpStr unused;
    int files = 0;
    for (int i = 1; i < argc; i++) {
        /* Files move to the front: options may stand behind them. */
        int status = 0;
        if (argv[i][0] == '-')
            status = read_option(&c, argc, argv, &i);
        else
            argv[files++] = argv[i];
        if (status)
            return status;
    }
    if (!files)
        return gp_cmd_usage("check", "no file given");
    for (int i = 0; i < files; i++) {
        if (gp_cli_sources(g, argv[i], check_source, &c))
            continue;
        fprintf(stderr, "gpulua check: cannot read '%s': %s\n", argv[i], strerror(errno));
        c.unread++;
    }
    if ((!c.errors || c.kernels) && !c.unread && !c.is_parse_only && gp_cli_find_unused(&c.with, &unused))
        return gp_cmd_usage("check", "--with: no kernel takes `%.*s`", (int)unused.len, unused.at);
    print_summary(&c);
    return c.errors || c.unread ? EXIT_FAILURE : EXIT_SUCCESS;
}
