/* Tiles that threads read beside products, as a bias of attention's scores: through a ring of their own, in each thread
** where its sums are. Loaded by the threads themselves the products would wait for them meanwhile.
**
** Such a tile is read where it is first worked on, and its stage given back behind the last work on it, so that the
** assembler may read what it needs when it needs it. */
#include "codegen/pipe.h"

bool gp_pipe_can_read(const GpFeed *f, const void *pipe) {
    const GpPipe *p = pipe;
    const GpIrType *type = f->load->results[0]->type;
    const GpElemInfo *elem = &gp_elem_info[type->elem];
    int a[2];
    bool has_product = false, is_last = gp_feed_axes(&type->shape, a) && a[0] == type->shape.rank - 2;
    for (const GpInst *x = f->load->parent->first; x; x = x->next)
        has_product |= x->op == GpOp_Mma;
    return has_product && f->load->parent->owner && is_last && elem->bits % 8 == 0 && elem->bytes <= 4 &&
           f->lines % gp_pipe_rows(p) == 0;
}

/* Whether the instruction, or one inside, reads the tile or what is but another form of it. */
static bool reads(const GpInst *inst, const GpMap *forms) {
    for (uint32_t i = 0; i < inst->operand_count; i++)
        if (gp_map_has(forms, inst->operands[i]))
            return true;
    for (uint32_t r = 0; r < inst->region_count; r++)
        for (const GpInst *x = inst->regions[r]->first; x; x = x->next)
            if (reads(x, forms))
                return true;
    return false;
}

static bool is_form(const GpInst *inst) { return inst->op == GpOp_Reshape || inst->op == GpOp_Cast; }

typedef struct Work {
    GpInst *first, *last; /* NULL: none */
} Work;

static Work find_work(GpEmit *e, const GpInst *load) {
    Work work = {NULL, NULL};
    GpMap forms = {0};
    gp_map_set(e->arena, &forms, load->results[0], NULL);
    for (GpInst *x = load->next; x; x = x->next) {
        if (!reads(x, &forms))
            continue;
        if (is_form(x))
            gp_map_set(e->arena, &forms, x->results[0], NULL);
        else
            work.first = work.first ? work.first : x;
        work.last = x;
    }
    return work;
}

/* With the forms between them. */
static void sink(GpEmit *e, GpInst *load, GpInst *to) {
    GpMap forms = {0};
    GpInst *inst = load, *next;
    do {
        next = inst->next;
        if (inst == load || (is_form(inst) && reads(inst, &forms))) {
            gp_map_set(e->arena, &forms, inst->results[0], NULL);
            gp_ir_remove(inst);
            gp_ir_insert(inst, to->parent, to);
        }
        inst = next;
    } while (inst != load && inst != to); /* the first of them is moved to in front of it */
}

bool gp_pipe_sink(GpEmit *e) {
    const GpFeeds *feeds = &e->pipe->feeds;
    bool is_sunk = false;
    for (uint32_t i = 0; i < feeds->count; i++) {
        GpInst *load = (GpInst *)(uintptr_t)feeds->at[i].load;
        if (!feeds->at[i].is_read)
            continue;
        Work work = find_work(e, load);
        if (!work.first || load->next == work.first || gp_pipe_leaves(load, work.first))
            continue;
        sink(e, load, work.first);
        is_sunk = true;
    }
    if (is_sunk)
        gp_ir_number(e->fn);
    return is_sunk;
}

const GpInst *gp_pipe_last_work(GpEmit *e, const GpInst *load) {
    const GpInst *last = find_work(e, load).last;
    return last && !gp_pipe_leaves(load, last->next) ? last : load;
}
