/* libFuzzer target: any bytes become a checked module or are refused with at least one error;
** nothing leaks, nothing throws. The built-in crates are read again now and then, since the session
** keeps the names and types of every module for as long as they live. */
#include <stdio.h>
#include <stdlib.h>

#include "dsl/module.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define RUNS_PER_STD 500

static GpSession session;
static GpStd *std;
static unsigned runs;

static void expect(bool is_so, const char *what) {
    if (is_so)
        return;
    fprintf(stderr, "%s\n", what);
    abort();
}

static void renew_std(void) {
    if (std)
        gp_std_free(std);
    else
        gp_session_init(&session, NULL, NULL, NULL);
    expect(session.bytes == 0, "memory is left");
    std = gp_std_new(&session);
    expect(std != NULL, "out of memory");
}

static void use_module(const GpModule *m, GpText *out) {
    for (uint32_t i = 0; i < gp_module_kernel_count(m); i++)
        gp_module_print_obligations(m, gp_module_kernel_at(m, i), out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (runs++ % RUNS_PER_STD == 0)
        renew_std();
    GpDiags *diags = gp_diags_new(&session);
    GpSource *src = gp_source_new(&session, "fuzz", (const char *)data, size, 1, 1);
    expect(diags && src, "out of memory");
    GpModule *m;
    expect(gp_module_new(std, src, diags, &m) == GpStatus_Ok && m, "no module");
    GpText text = {.session = &session};
    if (gp_diags_errors(diags) == 0)
        use_module(m, &text);
    gp_diags_sort(diags);
    gp_diags_render(diags, (GpRenderStyle){false, false}, &text);
    gp_diags_json(diags, &text);
    gp_text_free(&text);
    gp_module_release(m);
    gp_diags_release(diags);
    gp_source_release(src);
    return 0;
}
