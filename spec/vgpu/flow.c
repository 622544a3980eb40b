/* Where the sides of a branch meet again: the immediate post-dominator of its block (Cooper,
** Harvey and Kennedy, "A Simple, Fast Dominance Algorithm", on the reversed graph). Every `ret` of
** a function that is called leads to its last instruction, so that its threads return together. */
#include "spec/vgpu/vgpu.h"

/* Blocks that follow. */
typedef struct Edges {
    uint32_t *at, count;
} Edges;

typedef struct Flow {
    VgFunc *f;
    uint32_t *block_of; /* instruction -> block */
    uint32_t *first;    /* block -> its first instruction; one more block stands for the exit */
    Edges *next;
    uint32_t *order;  /* blocks in postorder of the reversed graph's search, as ranks */
    uint32_t *ranked; /* rank -> block */
    uint32_t *meet;   /* block -> immediate post-dominator */
    uint32_t blocks, seen;
} Flow;
#define NONE UINT32_MAX

static bool leaves(const VgInst *in) {
    return (in->id == VgInst_Ret || in->id == VgInst_Exit || in->id == VgInst_Trap) &&
           in->guard.kind == VgOperand_None;
}

static void find_blocks(GpArena *arena, Flow *w) {
    uint32_t count = w->f->insts.len;
    bool *is_first = GP_NEW_ARRAY(arena, bool, count + 1);
    is_first[0] = is_first[count - 1] = true;
    for (uint32_t i = 0; i < count; i++) {
        const VgInst *in = &w->f->insts.at[i];
        for (uint32_t t = 0; t < in->target_count; t++)
            is_first[in->targets[t]] = true;
        if (in->target_count || in->id == VgInst_Ret || in->id == VgInst_Exit ||
            in->id == VgInst_Trap)
            is_first[i + 1] = true;
    }
    w->block_of = GP_NEW_ARRAY(arena, uint32_t, count + 1);
    w->first = GP_NEW_ARRAY(arena, uint32_t, count + 2);
    for (uint32_t i = 0; i < count; i++) {
        if (is_first[i])
            w->first[w->blocks++] = i;
        w->block_of[i] = w->blocks - 1;
    }
    w->first[w->blocks] = count;
}

static void link_blocks(GpArena *arena, Flow *w) {
    uint32_t exit = w->blocks;
    w->next = GP_NEW_ARRAY(arena, Edges, w->blocks + 1);
    for (uint32_t b = 0; b < w->blocks; b++) {
        const VgInst *last = &w->f->insts.at[w->first[b + 1] - 1];
        bool is_guarded = last->guard.kind != VgOperand_None;
        bool is_exit = last->id == VgInst_Ret || last->id == VgInst_Exit || last->id == VgInst_Trap;
        bool is_return = last->id == VgInst_Ret && !w->f->is_entry && b + 1 < w->blocks;
        Edges *e = &w->next[b];
        e->at = GP_NEW_ARRAY(arena, uint32_t, last->target_count + 2);
        for (uint32_t t = 0; t < last->target_count; t++)
            e->at[e->count++] = w->block_of[last->targets[t]];
        if (is_exit)
            e->at[e->count++] = is_return ? w->blocks - 1 : exit;
        if ((!last->target_count || is_guarded) && !leaves(last))
            e->at[e->count++] = b + 1 < w->blocks ? b + 1 : exit;
    }
}

/* Depth-first from the exit against the edges; predecessors in lists. */
static void rank(GpArena *arena, Flow *w) {
    uint32_t n = w->blocks + 1, edges = 0;
    uint32_t *start = GP_NEW_ARRAY(arena, uint32_t, n + 1),
             *fill = GP_NEW_ARRAY(arena, uint32_t, n);
    for (uint32_t b = 0; b < w->blocks; b++) {
        for (uint32_t i = 0; i < w->next[b].count; i++, edges++)
            start[w->next[b].at[i] + 1]++;
    }
    for (uint32_t b = 0; b < n; b++)
        start[b + 1] += start[b];
    uint32_t *before = GP_NEW_ARRAY(arena, uint32_t, edges + 1);
    for (uint32_t b = 0; b < w->blocks; b++) {
        for (uint32_t i = 0; i < w->next[b].count; i++) {
            uint32_t to = w->next[b].at[i];
            before[start[to] + fill[to]++] = b;
        }
    }
    uint32_t *stack = GP_NEW_ARRAY(arena, uint32_t, n + 1), depth = 0;
    uint32_t *at = GP_NEW_ARRAY(arena, uint32_t, n);
    bool *is_seen = GP_NEW_ARRAY(arena, bool, n);
    stack[depth++] = w->blocks;
    is_seen[w->blocks] = true;
    while (depth) {
        uint32_t b = stack[depth - 1];
        if (at[b] < start[b + 1] - start[b]) {
            uint32_t to = before[start[b] + at[b]++];
            if (!is_seen[to]) {
                is_seen[to] = true;
                stack[depth++] = to;
            }
        } else {
            w->order[b] = w->seen;
            w->ranked[w->seen++] = b;
            depth--;
        }
    }
}

static uint32_t common(const Flow *w, uint32_t a, uint32_t b) {
    while (a != b) {
        while (w->order[a] < w->order[b])
            a = w->meet[a];
        while (w->order[b] < w->order[a])
            b = w->meet[b];
    }
    return a;
}

static void dominate(Flow *w) {
    w->meet[w->blocks] = w->blocks;
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t r = w->seen - 1; r-- > 0;) {
            uint32_t b = w->ranked[r], meet = NONE;
            for (uint32_t i = 0; i < w->next[b].count; i++) {
                uint32_t to = w->next[b].at[i];
                if (w->meet[to] != NONE)
                    meet = meet == NONE ? to : common(w, meet, to);
            }
            changed |= meet != w->meet[b];
            w->meet[b] = meet;
        }
    }
}

void vg_flow(GpArena *arena, VgFunc *f) {
    Flow w = {.f = f};
    find_blocks(arena, &w);
    link_blocks(arena, &w);
    w.order = GP_NEW_ARRAY(arena, uint32_t, w.blocks + 1);
    w.ranked = GP_NEW_ARRAY(arena, uint32_t, w.blocks + 1);
    w.meet = GP_NEW_ARRAY(arena, uint32_t, w.blocks + 1);
    for (uint32_t b = 0; b <= w.blocks; b++)
        w.meet[b] = NONE;
    rank(arena, &w);
    dominate(&w);
    for (uint32_t i = 0; i < f->insts.len; i++) {
        VgInst *in = &f->insts.at[i];
        uint32_t meet = w.meet[w.block_of[i]];
        /* The exit has no instruction; a loop that never ends meets nowhere. Threads that would
        ** meet only to end do so one by one: the others' barriers do not count them. */
        bool is_nowhere = meet == NONE || meet == w.blocks ||
                          (f->is_entry && leaves(&f->insts.at[w.first[meet]]));
        in->reconverge = is_nowhere ? NONE : w.first[meet];
    }
}
