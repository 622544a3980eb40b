/* How many blocks of a tile kernel should run on a multiprocessor at once.
**
** Kernels that fold or scan rows of aligned tensors wait for memory, then compute, then store: blocks in
** other phases fill the gaps, so that registers are worth more as further blocks than as room for the
** scheduler. Their need is estimated from the tiles that are alive at once, and the assembler is told
** the number of blocks that it leaves room for. Other kernels keep the assembler's own choice. */
#include "codegen/emit_tile_gpu.h"

enum { OTHER_WORDS = 16, LEAST_WORDS = 56, GRANULE = 8, FEW_ELEMENTS = 4 }; /* of a thread */

typedef struct Pressure {
    GpEmit *e;
    uint32_t *uses; /* by value id */
    uint32_t *first, *last; /* positions between which a tile is alive; 0: never */
    uint32_t at;
    bool is_row_kernel, is_scan, is_other, is_alone, has_alone;
} Pressure;

/* 32-bit registers of a thread. Names for other values' registers take none, nor does the middle of
** an expression, which is computed element by element. */
static uint32_t words_of(const Pressure *p, const GpValue *v) {
    if (v->inst) {
        bool is_elementwise = gp_sig_info[gp_op_info[v->inst->op].sig].elementwise;
        if (gp_gpu_is_uniform(v) || gp_tile_moves(v->inst->op) || (is_elementwise && p->uses[v->id] == 1))
            return 0;
    }
    uint32_t bytes = gp_elem_info[v->type->elem].bytes;
    return (gp_tile_gpu_registers(p->e, v) * bytes + 3) / 4;
}

static void define(Pressure *p, const GpValue *v) {
    if (gp_ir_is_tile(v) && !p->is_alone)
        p->first[v->id] = p->last[v->id] = p->at;
}

static bool calls_library(const GpInst *inst) {
    bool is_special = gp_special_computes(inst->op) && inst->results[0]->type->elem != GpElem_F64;
    return gp_math_needs_library(inst->op) && !is_special;
}

/* Its code branches at each element, so that the elements of what comes before wait side by side. */
static bool is_branchy(const Pressure *p, const GpInst *inst) {
    bool is_float = gp_elem_is_float(inst->results[0]->type->elem);
    bool is_division = inst->op == GpOp_Div || inst->op == GpOp_Rem || inst->op == GpOp_Sqrt || inst->op == GpOp_Rsqrt;
    return is_float && is_division && gp_tile_gpu_registers(p->e, inst->results[0]) > FEW_ELEMENTS;
}

static void classify(Pressure *p, const GpInst *inst) {
    bool is_plain = gp_sig_info[gp_op_info[inst->op].sig].elementwise || inst->region_count ||
                    gp_tile_moves(inst->op) || inst->op == GpOp_LoadTile || inst->op == GpOp_Iota ||
                    inst->op == GpOp_Const || inst->op == GpOp_Splat || gp_gpu_is_addressed(inst->op);
    if (inst->op == GpOp_Reduce || inst->op == GpOp_Scan) {
        p->is_row_kernel = true;
        p->is_scan |= inst->op == GpOp_Scan;
        p->is_other |= inst->axis + 1 != inst->operands[0]->type->shape.rank;
    }
    if (inst->op == GpOp_LoadTile)
        p->is_other |= !gp_gpu_is_aligned(p->e, inst->operands[0]);
    if (inst->result_count && gp_ir_is_tile(inst->results[0]))
        p->is_other |= !is_plain || calls_library(inst) || is_branchy(p, inst);
}

static void walk(Pressure *p, const GpRegion *r);

/* What only one warp has counts as nothing: the others would give it room for nothing. */
static void walk_inside(Pressure *p, const GpInst *inst, const GpRegion *r) {
    bool was_alone = p->is_alone;
    p->is_alone |= inst->op == GpOp_Loop && gp_tile_gpu_runs_alone(p->e, inst);
    p->has_alone |= p->is_alone;
    walk(p, r);
    p->is_alone = was_alone;
}

static void walk(Pressure *p, const GpRegion *r) {
    p->at++;
    for (uint32_t i = 0; i < r->param_count; i++)
        define(p, r->params[i]);
    for (const GpInst *inst = r->first; inst; inst = inst->next) {
        uint32_t begin = ++p->at;
        classify(p, inst);
        bool is_fold = inst->op == GpOp_Reduce || inst->op == GpOp_Scan;
        for (uint32_t i = 0; i < inst->region_count && !is_fold; i++)
            walk_inside(p, inst, inst->regions[i]);
        uint32_t first = inst->op == GpOp_Reduce && gp_gpu_has_total(p->e, inst) ? 1 : 0;
        for (uint32_t i = first; i < inst->operand_count; i++)
            p->last[inst->operands[i]->id] = GP_MAX(p->last[inst->operands[i]->id], begin);
        /* What a loop reads is alive until its end; what it starts from goes on as what it carries. */
        for (uint32_t v = 0; v < p->e->fn->next_id && p->at > begin; v++)
            if (p->first[v] && p->first[v] <= begin && p->last[v] > begin)
                p->last[v] = p->at;
        for (uint32_t i = 0; i < inst->result_count; i++)
            define(p, inst->results[i]);
    }
}

typedef struct Sweep {
    const Pressure *p;
    int64_t *change; /* by position */
} Sweep;

static void add_value(Sweep *s, const GpValue *v) {
    if (!gp_ir_is_tile(v) || !s->p->first[v->id] || s->p->last[v->id] <= s->p->first[v->id])
        return;
    s->change[s->p->first[v->id]] += words_of(s->p, v);
    s->change[s->p->last[v->id]] -= words_of(s->p, v);
}

static void add_inst(GpInst *inst, void *ud) {
    for (uint32_t i = 0; i < inst->result_count; i++)
        add_value(ud, inst->results[i]);
    for (uint32_t i = 0; i < inst->region_count; i++)
        for (uint32_t k = 0; k < inst->regions[i]->param_count; k++)
            add_value(ud, inst->regions[i]->params[k]);
}

static uint32_t most_words(const Pressure *p) {
    Sweep s = {p, GP_NEW_ARRAY(p->e->arena, int64_t, p->at + 1)};
    gp_ir_walk(p->e->fn, GpWalk_Before, add_inst, &s);
    int64_t alive = 0, most = 0;
    for (uint32_t i = 0; i <= p->at; i++) {
        alive += s.change[i];
        most = GP_MAX(most, alive);
    }
    return (uint32_t)most;
}

static Pressure survey(GpEmit *e) {
    uint32_t n = e->fn->next_id;
    Pressure p = {.e = e, .uses = gp_ir_count_uses(e->fn, e->arena), .at = 1};
    p.first = GP_NEW_ARRAY(e->arena, uint32_t, n);
    p.last = GP_NEW_ARRAY(e->arena, uint32_t, n);
    walk(&p, e->fn->body);
    return p;
}

static uint32_t blocks_of(const Pressure *p) {
    if (!p->is_row_kernel || p->is_other)
        return 0;
    uint32_t need = (most_words(p) + OTHER_WORDS + GRANULE - 1) / GRANULE * GRANULE;
    if (!p->is_scan)
        need = GP_MAX(need, (uint32_t)LEAST_WORDS);
    return gp_target_blocks(p->e->target, gp_tile_gpu_threads(p->e), need);
}

uint32_t gp_tile_gpu_blocks(GpEmit *e) {
    Pressure p = survey(e);
    return blocks_of(&p);
}

/* For a scan the assembler takes few registers by itself, but not beside a loop of one warp. */
uint32_t gp_tile_gpu_min_blocks(GpEmit *e) {
    Pressure p = survey(e);
    return p.is_scan && !p.has_alone ? 0 : blocks_of(&p);
}
