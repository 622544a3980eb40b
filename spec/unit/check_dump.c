/* Checks files one after another and prints `file line code` for each error, or the reports with
** --text: what spec/support/oracle.lua compares with rustc. Not a test of its own. */
#include <stdio.h>

#include "core/os_posix.h"
#include "dsl/module.h"

static void print_lines(const GpDiags *ds, const char *path) {
    for (uint32_t i = 0; i < gp_diags_count(ds); i++) {
        const GpDiag *d = gp_diags_at(ds, i);
        if (gp_diag_severity(d) != GpSeverity_Error)
            continue;
        GpPlaceInFile at = gp_span_start(gp_diag_label_at(d, 0).span);
        printf("%s %u %s\n", path, at.line, gp_diag_row(gp_diag_code(d))->code);
    }
}

static bool check_file(GpSession *s, GpStd *std, const char *path, bool is_text) {
    GpText text = {.session = s};
    if (gp_file_read(path, &text) != GpStatus_Ok)
        return false;
    GpSource *src = gp_source_new(s, path, gp_text_cstr(&text), text.len, 1, 1);
    GpDiags *ds = gp_diags_new(s);
    gp_text_free(&text);
    if (!src || !ds)
        return false;
    GpModule *m = NULL;
    bool ok = gp_module_new(std, src, ds, &m) == GpStatus_Ok;
    gp_diags_sort(ds);
    if (is_text) {
        GpText out = {.session = s};
        gp_diags_render(ds, (GpRenderStyle){false, false}, &out);
        fputs(gp_text_cstr(&out), stdout);
        gp_text_free(&out);
    } else {
        print_lines(ds, path);
    }
    gp_module_release(m);
    gp_diags_release(ds);
    gp_source_release(src);
    return ok;
}

int main(int argc, char **argv) {
    GpSession s;
    gp_session_init(&s, NULL, NULL, NULL);
    GpStd *std = gp_std_new(&s);
    bool is_text = argc > 1 && strcmp(argv[1], "--text") == 0, ok = std != NULL;
    for (int i = is_text ? 2 : 1; ok && i < argc; i++)
        ok = check_file(&s, std, argv[i], is_text);
    if (std)
        gp_std_free(std);
    return ok ? 0 : 1;
}
