/* The order in which blocks walk the grid, and whether they stay for all of it.
**
** Blocks that run at once should share what they load: consecutive ones are neighbours along the
** axes that the loads in loops depend on. With two such axes they go through groups of GROUP rows
** of the first, the second axis forth and back (the next group starts at what is still in the
** cache); with one, they go along another axis first. Where the loops' lengths depend on the block
** the longest come first, as far as the last block of an axis has the longest, and the hardware
** hands out blocks; otherwise each block stays and takes one tile after another. */
#include "codegen/pipe.h"

enum { GROUP = 16, UNEVEN_GROUP = 4, AXES = 3, SEEN = 0x80 };

typedef struct Dependence {
    const GpEmit *e;
    uint8_t *of; /* by value id: bit a, program_id[a] goes into it */
} Dependence;

static uint8_t axes_of(Dependence *d, const GpValue *v) {
    if (d->of[v->id] & SEEN || v->type->kind == GpIrType_Tensor)
        return d->of[v->id] % SEEN;
    d->of[v->id] = SEEN;
    uint8_t axes = 0;
    const GpInst *inst = v->inst ? v->inst : v->region->owner;
    if (inst && inst->op == GpOp_ProgramId) {
        axes = (uint8_t)(1u << inst->axis);
    } else if (inst && (inst->region_count == 0 || v->inst || v->index > 0)) {
        for (uint32_t i = 0; i < inst->operand_count; i++)
            axes |= axes_of(d, inst->operands[i]);
        for (uint32_t i = 0; i < inst->region_count && inst->op != GpOp_Reduce; i++) {
            const GpInst *end = gp_ir_terminator(inst->regions[i]);
            for (uint32_t k = 0; k < end->operand_count; k++)
                if (end->operands[k]->type->kind != GpIrType_Tile)
                    axes |= axes_of(d, end->operands[k]);
        }
    }
    d->of[v->id] = axes | SEEN;
    return axes;
}

/* Axes that the loads of rings depend on, and that the loops around them do. */
static void find_axes(GpEmit *e, const GpPipe *p, uint8_t *loads, uint8_t *lengths) {
    Dependence d = {e, GP_NEW_ARRAY(e->arena, uint8_t, e->fn->next_id)};
    *loads = *lengths = 0;
    for (uint32_t i = 0; i < p->feeds.count; i++) {
        const GpInst *load = p->feeds.at[i].load;
        if (!p->feeds.at[i].group->channel->is_ring)
            continue;
        for (uint32_t k = 1; k < load->operand_count; k++)
            *loads |= axes_of(&d, load->operands[k]);
        for (const GpInst *o = load->parent->owner; o; o = o->parent->owner)
            for (uint32_t k = 0; k < o->operand_count; k++)
                if (o->operands[k]->type->kind == GpIrType_Scalar)
                    *lengths |= axes_of(&d, o->operands[k]);
    }
}

void gp_pipe_schedule(GpEmit *e, GpPipe *p) {
    uint8_t loads, lengths, persistent = e->fn->schedule.persistent;
    find_axes(e, p, &loads, &lengths);
    GpWalkOrder *w = &p->order;
    uint8_t rest[AXES], deep[AXES];
    int rest_count = 0, deep_count = 0;
    for (uint8_t a = 0; a < (uint8_t)AXES; a++) {
        if (loads >> a & 1)
            deep[deep_count++] = a;
        else
            rest[rest_count++] = a;
    }
    bool is_two = deep_count >= 2;
    w->slow = deep_count == 3 ? deep[0] : rest[rest_count - 1];
    w->grouped = deep_count == 0 ? rest[0] : is_two ? deep[deep_count - 2] : deep[0];
    w->across = is_two ? deep[deep_count - 1] : deep_count == 1 ? rest[0] : rest[1];
    w->is_descending = lengths >> w->across & 1;
    w->group = lengths ? UNEVEN_GROUP : is_two ? GROUP : 1;
    w->is_snake = is_two && !lengths;
    p->is_persistent = persistent ? persistent == 2 : lengths == 0;
}

/* The block's place in the grid from its number in this order. */
void gp_pipe_place(GpEmit *e, LLVMValueRef n, LLVMValueRef const *extent, LLVMValueRef *id) {
    const GpWalkOrder *w = &e->pipe->order;
    LLVMBuilderRef b = e->b;
    LLVMValueRef rows = extent[w->grouped], columns = extent[w->across];
    LLVMValueRef group = gp_emit_i32(e, w->group), plane = LLVMBuildMul(b, rows, columns, "");
    id[w->slow] = LLVMBuildUDiv(b, n, plane, "");
    n = LLVMBuildSub(b, n, LLVMBuildMul(b, id[w->slow], plane, ""), "");
    LLVMValueRef per_group = LLVMBuildMul(b, group, columns, "");
    LLVMValueRef g = LLVMBuildUDiv(b, n, per_group, "");
    n = LLVMBuildSub(b, n, LLVMBuildMul(b, g, per_group, ""), "");
    LLVMValueRef first = LLVMBuildMul(b, g, group, ""), left = LLVMBuildSub(b, rows, first, "");
    LLVMValueRef is_short = LLVMBuildICmp(b, LLVMIntULT, left, group, "");
    LLVMValueRef size = LLVMBuildSelect(b, is_short, left, group, "");
    LLVMValueRef column = LLVMBuildUDiv(b, n, size, "");
    LLVMValueRef row = LLVMBuildSub(b, n, LLVMBuildMul(b, column, size, ""), "");
    id[w->grouped] = LLVMBuildAdd(b, first, row, "");
    LLVMValueRef last = LLVMBuildSub(b, columns, gp_emit_i32(e, 1), "");
    LLVMValueRef mirrored = LLVMBuildSub(b, last, column, "");
    if (w->is_snake) {
        LLVMValueRef is_odd = LLVMBuildTrunc(b, g, LLVMInt1TypeInContext(e->ctx), "");
        mirrored = LLVMBuildSelect(b, is_odd, mirrored, column, "");
    }
    id[w->across] = w->is_snake || w->is_descending ? mirrored : column;
}
