/* Which tiles are in registers where a product is issued: values from where they are made to where they are
** read last. What a loop reads of what is made before it is alive until the loop's end. */
#include "codegen/emit_tile_gpu.h"
#include "codegen/pipe.h"

enum { ROW_THREADS = 4 }; /* that share a row of sums */

typedef struct Live {
    GpEmit *e;
    GpPipe *pipe;
    GpPipeLife *life;
    uint32_t at;
} Live;

/* Other names for a value's registers. */
static bool is_alias(const GpValue *v) { return v->inst && gp_tile_moves(v->inst->op); }

/* Integers that only places and scalars decide are a register and constants, or computed again. */
static bool is_index(const Live *l, const GpValue *v) {
    const GpInst *inst = v->inst;
    bool is_made = is_alias(v) || (inst && gp_sig_info[gp_op_info[inst->op].sig].elementwise && !gp_elem_is_float(v->type->elem));
    for (uint32_t i = 0; is_made && i < inst->operand_count; i++)
        is_made = l->life[inst->operands[i]->id].is_index;
    return is_made || gp_gpu_is_uniform(v) || (inst && inst->op == GpOp_Iota);
}

static int64_t words_of(const Live *l, const GpValue *v) {
    GpFeedView view;
    bool is_free = is_alias(v) || l->life[v->id].is_index;
    bool is_tile = gp_ir_is_tile(v) && !is_free && !gp_feed_view(&l->pipe->feeds, v, &view);
    return is_tile ? gp_pipe_words(l->pipe, v->type) : 0;
}

/* A line that all rows have: each thread holds the columns it has of a product's sums. */
static void widen(Live *l, const GpValue *v) {
    const GpValue *line = v;
    while (is_alias(line))
        line = line->inst->operands[0];
    const GpShape *from = &v->inst->operands[0]->type->shape, *to = &v->type->shape;
    bool is_line = to->rank == 2 && from->dim[0] == 1 && from->dim[1] > 1 && !l->life[line->id].is_index;
    int64_t words = is_line ? to->dim[1] / ROW_THREADS : 0;
    l->life[line->id].words = GP_MAX(l->life[line->id].words, words);
}

static void define(Live *l, const GpValue *v) {
    l->life[v->id] = (GpPipeLife){.value = v, .first = l->at, .last = l->at, .is_index = is_index(l, v)};
    l->life[v->id].words = words_of(l, v);
    if (v->inst && v->inst->op == GpOp_Broadcast)
        widen(l, v);
}

static void read(Live *l, const GpValue *v, uint32_t at) {
    for (; v; v = is_alias(v) ? v->inst->operands[0] : NULL)
        l->life[v->id].last = GP_MAX(l->life[v->id].last, at);
}

static void walk(Live *l, const GpRegion *r) {
    for (uint32_t i = 0; i < r->param_count; i++)
        define(l, r->params[i]);
    for (const GpInst *inst = r->first; inst; inst = inst->next) {
        uint32_t begin = ++l->at;
        for (uint32_t i = 0; i < inst->region_count && !gp_op_is_whole(inst->op); i++)
            walk(l, inst->regions[i]);
        bool is_loop = gp_is_loop(inst);
        for (uint32_t v = 0; v < l->e->fn->next_id && is_loop; v++)
            if (l->life[v].first < begin && l->life[v].last > begin)
                l->life[v].last = l->at;
        for (uint32_t i = 0; i < inst->operand_count; i++)
            read(l, inst->operands[i], begin);
        for (uint32_t i = 0; i < inst->result_count; i++)
            define(l, inst->results[i]);
    }
}

GpPipeLife *gp_pipe_live(GpEmit *e, GpPipe *p) {
    Live l = {e, p, GP_NEW_ARRAY(e->arena, GpPipeLife, e->fn->next_id + 1), 0};
    walk(&l, e->fn->body);
    return l.life;
}

int64_t gp_pipe_alive(const GpEmit *e, const GpPipeLife *life, const GpInst *inst) {
    const GpPipeLife *to = &life[inst->results[0]->id];
    int64_t words = to->words;
    if (inst->op == GpOp_Mma && life[inst->operands[2]->id].last == to->first) /* whose registers it takes over */
        words -= life[inst->operands[2]->id].words;
    for (uint32_t v = 0; v < e->fn->next_id; v++)
        if (life[v].first < to->first && life[v].last >= to->first)
            words += life[v].words;
    return words;
}
