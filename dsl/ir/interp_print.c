/* The interpreter's print: values are in its cells. */
#include "dsl/ir/interp.h"
#include "dsl/ir/printed.h"

typedef struct Cells {
    const GpInterp *in;
    const GpInst *inst;
} Cells;

static GpScalar get_cell(const void *ud, uint32_t operand, int64_t element) {
    const Cells *c = ud;
    return gp_interp_at(c->in, c->inst->operands[operand])[element];
}

GpFlow gp_interp_Print(GpInterp *in, const GpInst *inst) {
    const GpHooks *hooks = &in->session.hooks;
    if (!hooks->write) return GpFlow_Next;
    GpMark mark = gp_arena_mark(in->arena);
    int64_t *types = GP_NEW_ARRAY(in->arena, int64_t, (size_t)inst->operand_count * GP_PRINTED_WORDS);
    for (uint32_t i = 0; i < inst->operand_count; i++)
        gp_printed_type(inst->operands[i]->type, types + (size_t)i * GP_PRINTED_WORDS);
    Cells cells = {in, inst};
    in->printed.len = 0;
    gp_printed_text(inst->text, types, get_cell, &cells, &in->printed);
    hooks->write(hooks->ud, gp_text_cstr(&in->printed), in->printed.len);
    gp_arena_restore(in->arena, mark);
    return GpFlow_Next;
}
