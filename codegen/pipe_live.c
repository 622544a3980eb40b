/* Which tiles are in registers where a product is issued: values from where they are made to where they are
** read last. What a loop reads of what is made before it is alive until the loop's end. */
#include "codegen/emit_tile_gpu.h"
#include "codegen/pipe.h"

typedef struct Live {
    GpEmit *e;
    GpPipe *pipe;
    GpPipeLife *life;
    uint32_t at;
} Live;

/* Other names for a value's registers. */
static bool is_alias(const GpValue *v) { return v->inst && gp_tile_moves(v->inst->op); }

static int64_t words_of(const Live *l, const GpValue *v) {
    GpFeedView view;
    bool is_free = gp_gpu_is_uniform(v) || is_alias(v) || (v->inst && v->inst->op == GpOp_Iota);
    bool is_tile = v->type->kind == GpIrType_Tile && !is_free && !gp_feed_view(&l->pipe->feeds, v, &view);
    return is_tile ? gp_pipe_words(l->pipe, v->type) : 0;
}

static void define(Live *l, const GpValue *v) {
    l->life[v->id] = (GpPipeLife){.value = v, .first = l->at, .last = l->at, .words = words_of(l, v)};
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
        bool is_loop = inst->op == GpOp_For || inst->op == GpOp_Loop;
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

int64_t gp_pipe_alive(const GpEmit *e, const GpPipeLife *life, const GpInst *product) {
    const GpPipeLife *to = &life[product->results[0]->id], *from = &life[product->operands[2]->id];
    bool is_taken_over = from->last == to->first;
    int64_t words = to->words - (is_taken_over ? from->words : 0);
    for (uint32_t v = 0; v < e->fn->next_id; v++)
        if (life[v].first < to->first && life[v].last >= to->first)
            words += life[v].words;
    return words;
}
