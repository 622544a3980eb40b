/* gp_parse_dump [-q] FILE..: parses each file and prints its tree as source, or its diagnostics
** on stderr. Exit status 1 when any file has an error or does not print to an equal tree.
** -q prints no trees. */
#include <stdio.h>

#include "core/os_posix.h"
#include "spec/unit/parse_support.h"

static bool dump(const char *path, bool is_quiet) {
    GpSession s;
    gp_session_init(&s, NULL, NULL, NULL);
    GpText text = {.session = &s};
    if (gp_file_read(path, &text) != GpStatus_Ok) {
        fprintf(stderr, "%s: cannot read\n", path);
        return false;
    }
    ParseCase c;
    parse_case_init(&c, path, gp_text_cstr(&text), text.len);
    gp_text_free(&text);
    bool is_good = c.is_parsed && c.is_stable;
    if (c.is_parsed && !is_quiet)
        fputs(gp_text_cstr(&c.text), stdout);
    if (c.is_parsed && !c.is_stable)
        fprintf(stderr, "%s: the printed tree differs\n", path);
    GpText report = {.session = &c.s};
    gp_diags_sort(c.diags);
    gp_diags_render(c.diags, (GpRenderStyle){false, false}, &report);
    fputs(gp_text_cstr(&report), stderr);
    gp_text_free(&report);
    parse_case_done(&c);
    return is_good;
}

int main(int argc, char **argv) {
    bool is_good = true, is_quiet = false;
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "-q") == 0)
            is_quiet = true;
        else if (!dump(argv[i], is_quiet))
            is_good = false;
    }
    return is_good ? 0 : 1;
}
