/* Loops that one warp runs for its block.
**
** An access through addresses happens once for the block: its owner makes it and tells the others through shared
** memory, between barriers. A loop of such accesses and of little else, as one that waits for what other blocks
** say, would spend its turns there. The first warp runs it by itself instead, with all of each tile in its
** registers, while the others wait behind it for the results. */
#include "codegen/emit_tile_gpu.h"

enum { MOST_ELEMENTS = 8 * GP_GPU_LANES, SLOT_BYTES = 8 };

/* What is looked for in a loop. */
typedef struct Look {
    const GpRegion *body;
    void (*visit)(const GpValue *v, void *ud); /* each tile that has a layout */
    void *ud;
    bool has_access, is_able;
} Look;

static void look_at_value(Look *k, const GpValue *v) {
    if (!gp_ir_is_tile(v) || gp_gpu_is_uniform(v))
        return;
    k->is_able &= gp_ir_numel(v->type) <= MOST_ELEMENTS;
    k->visit(v, k->ud);
}

/* Neither a tensor's tiles, which all threads hold, nor a way out of the block. */
static bool can_stand(const Look *k, const GpInst *inst) {
    if (inst->op == GpOp_Break || inst->op == GpOp_Continue)
        return gp_ir_is_inside(inst->target->regions[0], k->body);
    if (gp_gpu_is_addressed(inst->op))
        return true;
    if (gp_op_is_whole(inst->op))
        return inst->op == GpOp_Reduce && gp_gpu_is_regroupable(inst);
    return inst->region_count || inst->op == GpOp_Yield || gp_op_info[inst->op].effect == GpEffect_Pure;
}

static void look_at(Look *k, const GpRegion *r) {
    for (const GpInst *inst = r->first; inst; inst = inst->next) {
        k->is_able &= can_stand(k, inst);
        k->has_access |= gp_gpu_is_addressed(inst->op);
        for (uint32_t i = 0; i < inst->operand_count; i++)
            look_at_value(k, inst->operands[i]);
        for (uint32_t i = 0; i < inst->result_count; i++)
            look_at_value(k, inst->results[i]);
        for (uint32_t i = 0; i < inst->region_count; i++)
            look_at(k, inst->regions[i]);
    }
}

static bool can_be_alone(const GpEmit *e, const GpInst *loop, void (*visit)(const GpValue *v, void *ud), void *ud) {
    Look k = {loop->regions[0], visit, ud, false, true};
    if (loop->op != GpOp_Loop || e->pipe || e->async || gp_tile_gpu_threads(e) == GP_GPU_LANES)
        return false;
    for (uint32_t i = 0; i < loop->result_count; i++)
        k.is_able &= loop->results[i]->type->kind == GpIrType_Scalar;
    look_at(&k, k.body);
    return k.has_access && k.is_able;
}

typedef struct Offer {
    GpEmit *e;
    void (*offer)(void *plan, const GpValue *v, const GpLayout *layout);
    void *plan;
} Offer;

static void no_visit(const GpValue *v, void *ud) {
    (void)v;
    (void)ud;
}

/* The same in each warp. */
static void offer_layout(const GpValue *v, void *ud) {
    const Offer *o = ud;
    GpLayout *l = GP_NEW(o->e->arena, GpLayout);
    *l = *gp_layout_blocked(o->e->arena, &v->type->shape, 1, GP_GPU_LANES, GP_LAYOUT_STREAM);
    while ((uint32_t)GP_GPU_LANES << l->bits[GpLayoutDim_Warp] < gp_tile_gpu_threads(o->e))
        l->bits[GpLayoutDim_Warp]++;
    o->offer(o->plan, v, l);
}

void gp_gpu_alone_layouts(GpEmit *e, const GpInst *loop, void (*offer)(void *plan, const GpValue *v, const GpLayout *layout),
                          void *plan) {
    Offer o = {e, offer, plan};
    if (can_be_alone(e, loop, no_visit, NULL))
        (void)can_be_alone(e, loop, offer_layout, &o);
}

typedef struct Whole {
    GpEmit *e;
    bool is_whole; /* in each warp */
} Whole;

static void check_layout(const GpValue *v, void *ud) {
    Whole *w = ud;
    const GpLayout *l = gp_gpu_bare_layout_of(w->e, v);
    for (int i = 0; i < l->bits[GpLayoutDim_Warp]; i++)
        for (int a = 0; a < l->rank; a++)
            w->is_whole &= l->bases[GpLayoutDim_Warp][i][a] == 0;
}

bool gp_tile_gpu_runs_alone(GpEmit *e, const GpInst *loop) {
    Whole w = {e, true};
    return e->is_gpu && e->is_tile && !e->is_alone && can_be_alone(e, loop, check_layout, &w) && w.is_whole;
}

static LLVMValueRef slot(GpEmit *e, LLVMValueRef shared, uint32_t i) {
    return gp_emit_gep(e, GpElem_U8, shared, gp_emit_i64(e, (int64_t)i * SLOT_BYTES));
}

void gp_tile_gpu_alone(GpEmit *e, const GpInst *loop, void (*emit)(GpEmit *e, const GpInst *loop)) {
    LLVMBasicBlockRef alone = gp_emit_block(e, "alone"), join = gp_emit_block(e, "together");
    uint32_t count = loop->result_count;
    LLVMValueRef shared = count ? gp_gpu_shared(e, (uint64_t)count * SLOT_BYTES, count, GpElem_U64) : NULL;
    gp_gpu_barrier(e);
    LLVMValueRef is_first = LLVMBuildICmp(e->b, LLVMIntULT, gp_gpu_thread(e), gp_emit_i32(e, GP_GPU_LANES), "");
    LLVMBuildCondBr(e->b, is_first, alone, join);
    gp_emit_at(e, alone);
    e->is_alone = true;
    emit(e, loop);
    gp_gpu_barrier(e);
    LLVMValueRef is_writer = LLVMBuildICmp(e->b, LLVMIntEQ, gp_gpu_thread(e), gp_emit_i32(e, 0), "");
    for (uint32_t i = 0; i < count; i++) {
        const GpValue *v = loop->results[i];
        GpPlace p = {v->type->elem, slot(e, shared, i), is_writer, gp_emit_get(e, v), NULL};
        gp_tile_store(e, &p);
    }
    e->is_alone = false;
    LLVMBuildBr(e->b, join);
    gp_emit_at(e, join);
    gp_gpu_barrier(e);
    for (uint32_t i = 0; i < count; i++)
        gp_emit_set(e, loop->results[i], gp_emit_mem_load(e, loop->results[i]->type->elem, slot(e, shared, i)));
}
