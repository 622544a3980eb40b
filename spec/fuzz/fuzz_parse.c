/* libFuzzer target: any bytes either parse and print to an equal tree, or are refused with at
** least one error; nothing leaks, nothing throws. */
#include "spec/unit/parse_support.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    ParseCase c;
    parse_case_init(&c, "fuzz", (const char *)data, size);
    if (c.has_thrown || (c.is_parsed && !c.is_stable)) {
        fprintf(stderr, "printed:\n%s\n", gp_text_cstr(&c.text));
        abort();
    }
    GpText report = {.session = &c.s};
    gp_diags_sort(c.diags);
    gp_diags_render(c.diags, (GpRenderStyle){false, false}, &report);
    gp_text_free(&report);
    parse_case_done(&c);
    if (c.s.bytes != 0)
        abort();
    return 0;
}
