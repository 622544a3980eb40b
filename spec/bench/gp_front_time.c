/* gp_front_time FILE RUNS: milliseconds of processor time to parse the file, and to define it as a
** module (parsing included); then its number of errors. The least of RUNS; the built-in crates are
** read before. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "core/os_posix.h"
#include "dsl/module.h"

static double now_ms(void) {
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static double time_parse(GpSession *s, GpSource *src) {
    GpDiags *ds = gp_diags_new(s);
    double start = now_ms();
    bool ok = ds && gp_module_parse(s, src, ds, NULL) == GpStatus_Ok;
    double spent = now_ms() - start;
    gp_diags_release(ds);
    return ok ? spent : -1;
}

static double time_define(GpSession *s, GpStd *std, GpSource *src, unsigned *errors) {
    GpDiags *ds = gp_diags_new(s);
    GpModule *m = NULL;
    double start = now_ms();
    bool ok = ds && gp_module_new(std, src, ds, &m) == GpStatus_Ok;
    double spent = now_ms() - start;
    *errors = ds ? gp_diags_errors(ds) : 0;
    gp_module_release(m);
    gp_diags_release(ds);
    return ok ? spent : -1;
}

int main(int argc, char **argv) {
    if (argc != 3)
        return 2;
    GpSession s;
    gp_session_init(&s, NULL, NULL, NULL);
    GpText text = {.session = &s};
    GpStd *std = gp_std_new(&s);
    if (!std || gp_file_read(argv[1], &text) != GpStatus_Ok)
        return 1;
    GpSource *src = gp_source_new(&s, argv[1], gp_text_cstr(&text), text.len, 1, 1);
    GpSource *empty = gp_source_new(&s, "empty", "", 0, 1, 1);
    if (!src || !empty)
        return 1;
    double parse = 1e9, define = 1e9;
    unsigned errors;
    time_define(&s, std, empty, &errors); /* reads the built-in crates */
    for (long i = 0, runs = strtol(argv[2], NULL, 10); i < runs; i++) {
        double p = time_parse(&s, src), d = time_define(&s, std, src, &errors);
        parse = p < parse ? p : parse;
        define = d < define ? d : define;
    }
    printf("%.3f %.3f %u\n", parse, define, errors);
    gp_source_release(src);
    gp_source_release(empty);
    gp_text_free(&text);
    gp_std_free(std);
    return 0;
}
