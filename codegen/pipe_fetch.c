/* A tile that is loaded behind the products, as a residual is, and has the shape of what is stored: each warpgroup copies its
** rows ahead, during the last loop of products, to where its stores will leave from. Threads that loaded them there would
** wait for memory while no products run.
**
** Invariant: a stage of stores is read by the copies to the tensor, overwritten by this copy once they have read it, read
** by its own warpgroup at the load, and overwritten by the stores, whose barrier comes behind the load. No block leaves
** in front of that barrier: the copy for its next tile would not come behind all reads. */
#include "codegen/pipe.h"

static bool has_product(const GpInst *inst) {
    bool is_there = inst->op == GpOp_Mma;
    for (uint32_t i = 0; i < inst->region_count; i++)
        for (const GpInst *x = inst->regions[i]->first; x; x = x->next)
            is_there |= has_product(x);
    return is_there;
}

static const GpInst *loop_before(const GpInst *load) {
    const GpInst *x = load->prev;
    while (x && (x->op == GpOp_If || x->op == GpOp_Mma || !has_product(x)))
        x = x->prev;
    return x;
}

/* Neither a write, of which copies would know nothing, nor a wait for other blocks. */
static bool is_quiet(const GpInst *first, const GpInst *end) {
    for (const GpInst *x = first; x != end; x = x->next) {
        GpEffect effect = gp_ir_effect(x);
        if (effect != GpEffect_Pure && effect != GpEffect_Control && effect != GpEffect_Check && x->op != GpOp_LoadTile && !x->region_count)
            return false;
        for (uint32_t i = 0; i < x->region_count; i++)
            if (!is_quiet(x->regions[i]->first, NULL))
                return false;
    }
    return true;
}

static bool is_known_at(const GpInst *load, const GpInst *loop) {
    for (const GpInst *x = loop; x != load; x = x->next)
        for (uint32_t i = 0; i < load->operand_count; i++)
            if (load->operands[i]->inst == x)
                return false;
    return true;
}

/* All stores come behind the load, and each warpgroup has the same rows of them. */
static bool suits_stores(const GpPipe *p, const GpInst *load, const GpShape *matrix) {
    uint32_t behind = 0;
    for (const GpInst *x = load; x; x = x->next)
        for (uint32_t i = 0; i < p->store_count; i++)
            behind += x == p->stores[i].inst && gp_shape_eq(&p->stores[i].matrix, matrix);
    return p->store_count && behind == p->store_count;
}

/* Beside the sums of the loop. */
static bool has_registers(const GpPipe *p, const GpInst *load, const GpInst *loop) {
    int64_t words = gp_pipe_words(p, load->results[0]->type);
    for (uint32_t i = 0; i < loop->result_count; i++)
        words += loop->results[i]->type->kind == GpIrType_Tile ? gp_pipe_words(p, loop->results[i]->type) : 0;
    return words <= gp_pipe_registers(p)->operands;
}

static bool is_box(const GpEmit *e, const GpInst *load, GpShape *matrix) {
    const GpIrType *type = load->results[0]->type;
    const GpShape *shape = &type->shape;
    GpPipeTensor t;
    int a[2];
    if (load->part || load->imm.u || gp_elem_info[type->elem].bits != 16 || !gp_pipe_tensor(e, load, &t) ||
        !gp_feed_axes(shape, a) || a[0] != shape->rank - 2)
        return false;
    *matrix = (GpShape){.rank = 2, .dim = {shape->dim[a[0]], shape->dim[a[1]]}};
    return true;
}

void gp_pipe_find_fetch(const GpEmit *e, GpPipe *p) {
    GpShape matrix;
    for (const GpInst *x = e->fn->body->first; x && !p->fetch.load; x = x->next) {
        if (x->op != GpOp_LoadTile || gp_map_get(&p->feeds.of, x) || !is_box(e, x, &matrix) || !suits_stores(p, x, &matrix))
            continue;
        const GpInst *loop = loop_before(x);
        if (loop && is_quiet(e->fn->body->first, x) && !gp_pipe_leaves(loop, p->stores[0].inst) && is_known_at(x, loop) && has_registers(p, x, loop))
            p->fetch = (GpPipeFetch){.load = x, .ahead = loop, .panel_bytes = p->stores[0].panel_bytes};
    }
}
