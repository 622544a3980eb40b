/* libFuzzer target: any bytes become a checked module or are refused with at least one error;
** nothing leaks, nothing throws, and no second opinion (judge.h) differs. The built-in crates are
** read again now and then, since the session keeps the names and types of every module for as long
** as they live. */
#include <stdio.h>
#include <stdlib.h>

#include "spec/fuzz/judge.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define RUNS_PER_STD 100

static GpSession session;
static GpStd *std;
static unsigned runs;

void judge_require(const Judged *j, bool holds, const char *fmt, ...) {
    if (holds)
        return;
    va_list args;
    va_start(args, fmt);
    fprintf(stderr, "judged otherwise: ");
    vfprintf(stderr, fmt, args);
    va_end(args);
    if (j)
        fprintf(stderr, "\n---- of the program\n%s\n", j->src->text);
    abort();
}

void judge_protect(const Judged *j, void (*fn)(GpSession *s, void *ud), void *ud) {
    GpStatus status = gp_protect(&session, fn, ud);
    judge_require(j, status == GpStatus_Ok, "thrown: %s", gp_status_text(status));
}

static void renew_std(void) {
    if (std)
        gp_std_free(std);
    else
        gp_session_init(&session, NULL, NULL, NULL);
    judge_require(NULL, session.bytes == 0, "memory is left");
    std = gp_std_new(&session);
    judge_require(NULL, std != NULL, "out of memory");
}

static void judge_accepted(const Judged *j) {
    GpText text = {.session = &session};
    for (uint32_t i = 0; i < gp_module_kernel_count(j->module); i++)
        gp_module_print_obligations(j->module, gp_module_kernel_at(j->module, i), &text);
    gp_text_free(&text);
    judge_tree(j);
    judge_matches(j);
    judge_ir(j);
}

static void judge(const Judged *j) {
    GpText text = {.session = &session};
    gp_diags_render(j->diags, (GpRenderStyle){false, false}, &text);
    gp_text_free(&text);
    judge_diags(j, j->diags);
    judge_bodies(j);
    if (gp_diags_errors(j->diags) == 0)
        judge_accepted(j);
    judge_twins(j);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (runs++ % RUNS_PER_STD == 0)
        renew_std();
    Judged j = {.std = std,
                .diags = gp_diags_new(&session),
                .src = gp_source_new(&session, "fuzz", (const char *)data, size, 1, 1)};
    judge_require(NULL, j.diags && j.src, "out of memory");
    GpStatus status = gp_module_new(std, j.src, j.diags, &j.module);
    judge_require(&j, status == GpStatus_Ok && j.module, "no module");
    gp_diags_sort(j.diags);
    judge(&j);
    gp_module_release(j.module);
    gp_diags_release(j.diags);
    gp_source_release(j.src);
    return 0;
}
