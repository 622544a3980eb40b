/* gpulua doctor, explain and cache: what is on this machine, what a code means. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>

#include "lua/cli.h"

/* ---- doctor --------------------------------------------------------------------------------- */

static void say(const char *mark, const char *what, const char *detail) {
    printf("%-4s %-12s %s\n", mark, what, detail);
}

static void say_reasons(const GpDiags *diags) {
    for (uint32_t i = 0; i < gp_diags_count(diags); i++) {
        const GpDiag *d = gp_diags_at(diags, i);
        printf("     %s [%s]\n", gp_diag_title(d), gp_diag_row(gp_diag_code(d))->code);
        for (uint32_t k = 0; k < gp_diag_child_count(d); k++)
            printf("       %s: %s\n", gp_diag_child_at(d, k).kind == GpChild_Note ? "note" : "help",
                   gp_diag_child_at(d, k).text);
    }
}

static bool examine_gpu(gpulua_state *g, uint32_t index) {
    char name[32], detail[512];
    GpDevice *device;
    GpTarget target;
    GpText text = {.session = gp_engine_session(g->engine)};
    GpDiags *diags = gp_diags_new(gp_engine_session(g->engine));
    if (!diags)
        return false;
    snprintf(name, sizeof(name), "cuda:%u", index);
    GpStatus status =
        gp_device_open(gp_engine_runtime(g->engine), gp_str_from(name), diags, &device, NULL);
    if (status == GpStatus_Ok)
        status = gp_engine_target(g->engine, device, &target);
    if (status == GpStatus_Ok) {
        const GpDeviceInfo *info = gp_device_info(device);
        gp_target_print(&target, &text);
        snprintf(detail, sizeof(detail), "%s, sm_%u, %.1f GiB, kernels for %s", info->product,
                 info->sm, (double)info->memory / 0x1p30, gp_text_cstr(&text));
        say("ok", name, detail);
    } else {
        say("bad", name, gp_status_text(status));
        say_reasons(diags);
    }
    gp_text_free(&text);
    gp_diags_release(diags);
    return status == GpStatus_Ok;
}

/* A machine without a GPU is fine; one whose driver does not work is not. */
static bool is_without_gpu(const GpDiags *diags) {
    for (uint32_t i = 0; i < gp_diags_count(diags); i++) {
        GpDiagCode code = gp_diag_code(gp_diags_at(diags, i));
        if (code != GpDiag_G0901 && code != GpDiag_G0902 && code != GpDiag_G0903)
            return false;
    }
    return true;
}

static bool examine_driver(gpulua_state *g) {
    GpRuntime *rt = gp_engine_runtime(g->engine);
    GpDiags *diags = gp_diags_new(gp_engine_session(g->engine));
    if (!diags)
        return false;
    uint32_t count = gp_device_count(rt, diags);
    const char *path = gp_driver_path(rt);
    bool is_fine = count > 0 || is_without_gpu(diags);
    say(count ? "ok" : is_fine ? "-" : "bad", "driver", path ? path : "none");
    if (!count) {
        say_reasons(diags);
        printf("     kernels run on the CPU\n");
    }
    for (uint32_t i = 0; i < count; i++)
        is_fine = examine_gpu(g, i) && is_fine;
    gp_diags_release(diags);
    return is_fine;
}

/* The CPU must always work. */
static bool examine_cpu(gpulua_state *g) {
    char detail[400];
    GpDevice *device;
    GpDiags *diags = gp_diags_new(gp_engine_session(g->engine));
    if (!diags)
        return false;
    GpStatus status =
        gp_device_open(gp_engine_runtime(g->engine), GP_STR("cpu"), diags, &device, NULL);
    if (status == GpStatus_Ok) {
        const GpDeviceInfo *info = gp_device_info(device);
        snprintf(detail, sizeof(detail), "%s, %u thread%s", info->product, info->processors,
                 gp_plural(info->processors));
        say("ok", "cpu", detail);
    } else {
        say("bad", "cpu", gp_status_text(status));
        say_reasons(diags);
    }
    gp_diags_release(diags);
    return status == GpStatus_Ok;
}

static void examine_cache(gpulua_state *g) {
    char detail[4200];
    GpCacheInfo info;
    GpRuntime *rt = gp_engine_runtime(g->engine);
    if (!gp_cache_dir(rt)) {
        say("-", "cache", "disabled");
        return;
    }
    gp_cache_info(rt, &info);
    snprintf(detail, sizeof(detail), "%s, %llu entries, %.1f MiB%s", gp_cache_dir(rt),
             (unsigned long long)info.entries, (double)info.bytes / 0x1p20,
             info.writable ? "" : ", not writable: kernels are compiled anew in every process");
    say(info.writable ? "ok" : "-", "cache", detail);
}

int gp_cmd_doctor(gpulua_state *g, int argc, char **argv) {
    if (argc > 1)
        return gp_cmd_usage("doctor", "unexpected '%s'", argv[1]);
    say("ok", "gpulua", GPULUA_VERSION);
    say("ok", "lua", LUA_RELEASE);
    say("ok", "llvm", gp_codegen_llvm_version());
    bool is_fine = examine_cpu(g);
    is_fine = examine_driver(g) && is_fine;
    const char *math = gp_codegen_device_math(gp_engine_codegen(g->engine));
    if (math)
        say("ok", "device math", math);
    else
        say("-", "device math", "none: kernels for a GPU cannot use exp, sin and their like");
    examine_cache(g);
    return is_fine ? EXIT_SUCCESS : EXIT_FAILURE;
}

/* ---- explain -------------------------------------------------------------------------------- */

/* What a report fills in is not known here. */
static void print_title(const char *title) {
    for (const char *c = title; *c; c++) {
        if (c[0] == '%' && c[1] == 's')
            fputs("..", stdout), c++;
        else
            putchar(*c);
    }
}

int gp_cmd_explain(gpulua_state *g, int argc, char **argv) {
    char code[8];
    GpDiagCode found;
    size_t len = 0;
    (void)g;
    if (argc != 2)
        return gp_cmd_usage("explain", "one code is wanted, such as E0382");
    for (; argv[1][len] && len + 1 < sizeof(code); len++)
        code[len] = (char)toupper((unsigned char)argv[1][len]);
    code[len] = '\0';
    if (!gp_diag_find(code, &found)) {
        fprintf(stderr, "gpulua explain: no diagnostic has the code '%s'\n", argv[1]);
        return EXIT_FAILURE;
    }
    const GpDiagRow *row = gp_diag_row(found);
    fputs(row->code, stdout);
    if (strcmp(row->title, "%s") != 0)
        fputs(": ", stdout), print_title(row->title);
    printf("\n\n%s\n", row->explain);
    return EXIT_SUCCESS;
}

/* ---- cache ---------------------------------------------------------------------------------- */

int gp_cmd_cache(gpulua_state *g, int argc, char **argv) {
    if (argc > 2 || (argc == 2 && strcmp(argv[1], "clear") != 0))
        return gp_cmd_usage("cache", "unexpected '%s'", argv[argc - 1]);
    if (argc == 2)
        gp_cache_clear(gp_engine_runtime(g->engine));
    examine_cache(g);
    return EXIT_SUCCESS;
}
