/* The passes' functions, for pass.c and tests. Each works in place and is true when it changed
** something. */
#ifndef GP_IR_PASS_H
#define GP_IR_PASS_H

#include "dsl/ir/ir.h"

#define GP_PASS(id, stage, function, tracks, doc) bool function(GpIrFn *fn);
#include "dsl/ir/pass.def"

typedef struct GpPassInfo {
    const char *name;
    GpPassStage stage;
    bool (*run)(GpIrFn *fn);
    uint8_t tracks;
    const char *doc;
} GpPassInfo;
extern const GpPassInfo gp_pass_info[];
extern const uint32_t gp_pass_count;

/* Replaces every use of `old` by `by` at the next gp_ir_apply_forwards. */
void gp_pass_replace(GpValue *old, GpValue *by);
/* What stands for a value after the replacements so far. */
static inline GpValue *gp_pass_settled(GpValue *v) {
    while (v->forward) v = v->forward;
    return v;
}

#endif
