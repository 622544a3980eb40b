/* Runs the passes of a stage. The optimizing stage repeats, because a check that is proved makes
** a condition constant, and a constant condition makes code that folds. */
#include "dsl/ir/pass.h"

const GpPassInfo gp_pass_info[] = {
#define GP_PASS(id, stage, function, tracks, doc)                                                  \
    {#id, GpPassStage_##stage, function, (tracks), doc},
#include "dsl/ir/pass.def"
};
const uint32_t gp_pass_count = GP_COUNT(gp_pass_info);

enum { MAX_ROUNDS = 4 };

void gp_pass_replace(GpValue *old, GpValue *by) {
    gp_assert(old != by && old->type == by->type);
    old->forward = by;
}

#ifndef NDEBUG
static void verify_after(const GpIrFn *fn, const char *pass) {
    GpText why = {.session = gp_arena_session(fn->arena)};
    if (gp_ir_verify(fn, &why)) {
        gp_text_free(&why);
        return;
    }
    const char *what = gp_arena_printf(fn->arena, "IR after pass %s: %s", pass, gp_text_cstr(&why));
    gp_bug(__FILE__, __LINE__, what);
}
#endif

void gp_ir_run_passes(GpIrFn *fn, GpPassStage stage) {
    int rounds = stage == GpPassStage_Optimize ? MAX_ROUNDS : 1;
    for (bool changed = true; changed && rounds > 0; rounds--) {
        changed = false;
        for (uint32_t i = 0; i < gp_pass_count; i++) {
            const GpPassInfo *pass = &gp_pass_info[i];
            if (pass->stage != stage || !(pass->tracks >> fn->track & 1)) continue;
            changed |= pass->run(fn);
#ifndef NDEBUG
            verify_after(fn, pass->name);
#endif
        }
    }
}
