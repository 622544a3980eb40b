/* Warps as trees of splits, blocks one after another, and who runs next.
**
** Every access is checked, and an instruction runs for all threads of a split at once. Splits of
** one warp are scheduled like warps: a thread may wait for another of its warp. */
#include <stdarg.h>
#include <stdlib.h>

#include "spec/vgpu/vgpu.h"

#define MOST_STEPS UINT64_C(2000000000) /* instructions of a launch */
#define TURN       2000                 /* instructions in a row */
#define NOWHERE    UINT32_MAX

uint64_t vg_random(VgLaunch *l) {
    l->random ^= l->random << 13;
    l->random ^= l->random >> 7;
    l->random ^= l->random << 17;
    return l->random;
}

/* The place of number `at` among boxes of `size` side by side, x fastest. */
static uint32_t axis_of(uint64_t at, const uint32_t *size, uint32_t axis) {
    uint64_t row = at / GP_MAX(size[0], 1u);
    return (uint32_t)(axis == 0   ? at % GP_MAX(size[0], 1u)
                      : axis == 1 ? row % GP_MAX(size[1], 1u)
                                  : row / GP_MAX(size[1], 1u));
}

uint32_t vg_thread_axis(const VgWarp *w, uint32_t lane, uint32_t axis) {
    return axis_of(vg_thread(w, lane), w->cta->launch->block, axis);
}

uint32_t vg_cluster_axis(const VgCta *cta, uint32_t axis) {
    return cta->block[axis] % cta->launch->cluster[axis];
}

/* ---- Reports ------------------------------------------------------------------------------ */

void vg_print_inst(char *to, size_t bytes, const VgInst *in) {
    size_t used = (size_t)snprintf(to, bytes, "PTX line %u", in->line),
           end = GP_MIN(bytes - 3, 110u);
    bool was_space = true;
    if (in->kernel_line)
        used += (size_t)snprintf(to + used, bytes - used, " (kernel line %u)", in->kernel_line);
    used += (size_t)snprintf(to + used, bytes - used, ": ");
    for (size_t i = 0; i < in->text.len && in->text.at[i] != ';'; i++) {
        char c = in->text.at[i];
        bool is_space = c == ' ' || c == '\t' || c == '\n';
        if (used == end) {
            memcpy(to + used, "..", 3);
            return;
        }
        if (!is_space || !was_space)
            to[used++] = (char)(is_space ? ' ' : c);
        was_space = is_space;
    }
    to[used] = '\0';
}

VgOutcome vg_fault(VgRun *x, GpCuResult result, int lane, const char *fmt, ...) {
    VgLaunch *l = x->launch;
    if (l->result)
        return VgOutcome_Fail; /* the first is enough */
    l->result = result;
    va_list args;
    va_start(args, fmt);
    fprintf(stderr, "vgpu: kernel `%s`: ", l->func->name->name);
    vfprintf(stderr, fmt, args);
    va_end(args);
    char where[VG_INST_TEXT];
    vg_print_inst(where, sizeof where, x->inst);
    fprintf(stderr, "\n  at %s", where);
    uint32_t at = lane < 0 ? (uint32_t)vg_first_lane(x->mask ? x->mask : 1) : (uint32_t)lane;
    const VgCta *c = x->warp->cta;
    fprintf(stderr, "\n  in block (%u, %u, %u), thread (%u, %u, %u), warp %u lane %u\n",
            c->block[0], c->block[1], c->block[2], vg_thread_axis(x->warp, at, 0),
            vg_thread_axis(x->warp, at, 1), vg_thread_axis(x->warp, at, 2), x->warp->index, at);
    return VgOutcome_Fail;
}

VgOutcome vg_together(VgRun *x, uint32_t wanted) {
    if (x->mask == wanted)
        return VgOutcome_Next;
    if (!x->split->is_forced)
        return VgOutcome_Wait;
    return vg_fault(x, VG_FAILED, -1, "lanes %08x of the warp are here, not %08x: it diverged",
                    x->mask, wanted);
}

/* ---- Splits ------------------------------------------------------------------------------- */

static VgSplit *new_split(VgRun *x, const VgSplit *from) {
    VgWarp *w = x->warp;
    for (uint32_t i = 0; i < VG_MAX_SPLITS; i++) {
        if (!w->splits[i].is_used) {
            w->splits[i] = *from;
            w->splits[i].is_used = true;
            w->splits[i].is_waiting = w->splits[i].is_forced = false;
            w->splits[i].ticket = 0;
            w->split_end = GP_MAX(w->split_end, i + 1);
            return &w->splits[i];
        }
    }
    (void)vg_fault(x, VG_FAILED, -1, "the warp's threads took more than %d different ways",
                   VG_MAX_SPLITS);
    return NULL;
}

/* Takes a split without threads of its own out of the tree; a parent that has all its children
** back goes on, or goes too when none of its threads came. */
static void drop_split(VgSplit *s) {
    while (s) {
        VgSplit *parent = s->parent;
        s->is_used = false;
        if (!parent || --parent->children > 0 || parent->mask)
            return;
        s = parent;
    }
}

/* A split at its meeting point joins its parent. */
static bool joined(VgRun *x) {
    VgSplit *s = x->split;
    bool is_there = s->pc == s->meet && s->frame == s->home && s->parent;
    if (is_there) {
        s->parent->mask |= s->mask;
        drop_split(s);
    }
    return is_there;
}

static bool add_side(VgRun *x, VgSplit *parent, uint32_t mask, uint32_t pc, uint32_t meet) {
    if (!mask)
        return true;
    if (pc == meet) {
        parent->mask |= mask;
        return true;
    }
    VgSplit side = {.parent = parent,
                    .warp = x->warp,
                    .frame = x->frame,
                    .home = x->frame,
                    .pc = pc,
                    .meet = meet,
                    .mask = mask};
    parent->children++;
    return new_split(x, &side) != NULL;
}

VgOutcome vg_spread(VgRun *x, const VgSide *sides, uint32_t count, uint32_t meet) {
    VgSplit *s = x->split;
    gp_assert(count > 0);
    for (uint32_t i = 0; i < count; i++) {
        if (sides[i].mask == s->mask) {
            s->pc = sides[i].pc;
            return VgOutcome_Moved;
        }
    }
    VgSplit *parent = s;
    if (s->parent && s->meet == meet && s->home == s->frame) {
        parent = s->parent; /* the sides are the parent's children in its place */
        s->is_used = false;
        parent->children--;
    } else {
        s->pc = meet;
        s->mask = 0;
    }
    uint32_t first = (uint32_t)vg_random(x->launch) % count;
    for (uint32_t i = 0; i < count; i++) {
        const VgSide *side = &sides[(first + i) % count];
        if (!add_side(x, parent, side->mask, side->pc, meet))
            return VgOutcome_Fail;
    }
    return VgOutcome_Moved;
}

VgOutcome vg_end_threads(VgRun *x, uint32_t mask) {
    VgSplit *s = x->split;
    if (vg_stores_at_exit(x, mask) == VgOutcome_Fail || vg_visits_at_exit(x, mask) == VgOutcome_Fail)
        return VgOutcome_Fail;
    x->warp->live &= ~mask;
    x->launch->progress++; /* barriers count those that are left */
    s->mask &= ~mask;
    if (s->mask) {
        s->pc++;
        return VgOutcome_Moved;
    }
    drop_split(s);
    return VgOutcome_Moved;
}

/* ---- Steps -------------------------------------------------------------------------------- */

static bool is_leaf(const VgSplit *s) { return s->is_used && s->children == 0; }

/* May it run: it does not wait, or something happened since it last looked. */
static bool is_ready(const VgLaunch *l, const VgSplit *s) {
    return is_leaf(s) && (!s->is_waiting || s->is_forced || s->asked != l->progress);
}

static VgSplit *next_split(VgWarp *w) {
    uint32_t count = w->split_end;
    for (uint32_t i = 1; count && i <= count; i++) {
        uint32_t at = (w->turn + i) % count;
        if (is_ready(w->cta->launch, &w->splits[at])) {
            w->turn = at;
            return &w->splits[at];
        }
    }
    return NULL;
}

static VgOutcome step(VgRun *x) {
    VgSplit *s = x->split;
    if (joined(x))
        return VgOutcome_Moved;
    x->frame = s->frame;
    const VgInst *in = &s->frame->func->insts.at[s->pc];
    x->inst = in;
    x->mask = s->mask;
    if (in->guard.kind != VgOperand_None) {
        x->mask &= vg_read_pred(x, &in->guard);
        if (!x->mask) {
            s->pc++;
            return VgOutcome_Next;
        }
    }
    x->launch->steps++;
    if (in->is_near_wgmma && vg_check_flight(x, in) == VgOutcome_Fail)
        return VgOutcome_Fail;
    VgOutcome outcome = in->run(x, in);
    bool is_over = outcome == VgOutcome_Next || outcome == VgOutcome_Yield;
    if (is_over) {
        s->pc++;
        s->is_waiting = s->is_forced = false;
        s->ticket = 0;
    } else if (outcome == VgOutcome_Wait) {
        s->is_waiting = true;
        s->is_forced = false;
        s->asked = x->launch->progress;
    }
    return outcome;
}

/* Runs the split until it waits, moves into others, ends or has had its turn. */
static bool run_split(VgRun *x, uint32_t turn) {
    for (uint32_t i = 0; i < turn; i++) {
        VgSplit *s = x->split;
        VgOutcome outcome = step(x);
        if (outcome == VgOutcome_Fail)
            return false;
        if (outcome == VgOutcome_Wait || outcome == VgOutcome_Yield || !is_leaf(s))
            return true;
    }
    return true;
}

static VgOutcome too_long(VgRun *x) {
    return vg_fault(x, VG_TIMEOUT, -1, "does not end: %llu instructions were run",
                    (unsigned long long)x->launch->steps);
}

/* ---- Deadlocks ---------------------------------------------------------------------------- */

/* Warps that wait alike are named together. */
typedef struct Waiting {
    uint32_t block, first, last;
    char text[2 * VG_INST_TEXT + 32];
} Waiting;

static void print_range(const VgLaunch *l, const Waiting *w) {
    if (!w->text[0])
        return;
    fputs("  ", stderr);
    if (l->cluster_ctas > 1)
        fprintf(stderr, "block %u of the cluster, ", w->block);
    if (w->first == w->last)
        fprintf(stderr, "warp %u%s\n", w->first, w->text);
    else
        fprintf(stderr, "warps %u to %u%s\n", w->first, w->last, w->text);
}

static void add_waiting(const VgLaunch *l, Waiting *w, uint32_t block, uint32_t warp,
                        const VgSplit *s) {
    char where[VG_INST_TEXT], what[VG_INST_TEXT], text[sizeof w->text];
    vg_print_inst(where, sizeof where, &s->frame->func->insts.at[s->pc]);
    vg_describe_wait(&l->ctas[block], s, what, sizeof what);
    snprintf(text, sizeof text, ", lanes %08x, at %s%s", s->mask, where, what);
    if (w->block == block && w->last + 1 == warp && strcmp(w->text, text) == 0) {
        w->last = warp;
        return;
    }
    print_range(l, w);
    w->block = block;
    w->first = w->last = warp;
    memcpy(w->text, text, sizeof text);
}

static void print_waiting(const VgLaunch *l) {
    Waiting waiting = {0};
    for (uint32_t c = 0; c < l->cluster_ctas; c++) {
        for (uint32_t w = 0; w < l->ctas[c].warp_count; w++) {
            const VgWarp *warp = &l->ctas[c].warps[w];
            for (uint32_t i = 0; i < warp->split_end; i++) {
                if (is_leaf(&warp->splits[i]))
                    add_waiting(l, &waiting, c, w, &warp->splits[i]);
            }
        }
    }
    print_range(l, &waiting);
}

static void deadlock(VgLaunch *l) {
    l->result = VG_TIMEOUT;
    const uint32_t *b = l->ctas[0].block;
    fprintf(stderr, "vgpu: kernel `%s`: deadlock in block (%u, %u, %u): every thread waits\n",
            l->func->name->name, b[0], b[1], b[2]);
    print_waiting(l);
}

/* Nobody can run. Waits that may give up (mbarrier.try_wait) do so once; when everybody waits
** again and nothing happened in between, the program hangs. */
static bool force_waits(VgLaunch *l, uint64_t *stalled_at) {
    bool is_any = false;
    if (*stalled_at == l->progress + 1)
        return false;
    *stalled_at = l->progress + 1;
    for (uint32_t c = 0; c < l->cluster_ctas; c++) {
        for (uint32_t w = 0; w < l->ctas[c].warp_count; w++) {
            VgWarp *warp = &l->ctas[c].warps[w];
            for (uint32_t i = 0; i < warp->split_end; i++) {
                VgSplit *s = &warp->splits[i];
                if (is_leaf(s))
                    is_any = s->is_forced = true;
            }
        }
    }
    return is_any;
}

/* ---- Blocks ------------------------------------------------------------------------------- */

static bool run_turn(VgLaunch *l, uint32_t warp_at) {
    uint32_t warps = GP_MAX(l->ctas[0].warp_count, 1u);
    VgCta *cta = &l->ctas[warp_at / warps];
    VgWarp *w = &cta->warps[warp_at % warps];
    VgRun x = {.launch = l, .warp = w, .split = w->live ? next_split(w) : NULL};
    if (!x.split)
        return false;
    uint32_t turn = l->seed ? 1 + (uint32_t)(vg_random(l) % 400) : TURN;
    if (run_split(&x, turn) && l->steps > MOST_STEPS)
        (void)too_long(&x);
    return true;
}

/* Runs the blocks of one cluster to their end. */
static void run_cluster(VgLaunch *l) {
    uint32_t count = l->cluster_ctas * l->ctas[0].warp_count, at = 0, idle = 0;
    uint64_t stalled_at = 0;
    gp_assert(count > 0);
    while (!l->result) {
        bool ran = run_turn(l, at);
        idle = ran ? 0 : idle + 1;
        at = l->seed && ran ? (uint32_t)(vg_random(l) % count) : (at + 1) % count;
        if (idle < count)
            continue;
        if (vg_cluster_warps(l) == 0)
            return;
        idle = 0;
        if (!force_waits(l, &stalled_at)) {
            deadlock(l);
            return;
        }
    }
}

/* What a thread has when its block is alone on a multiprocessor: each of the four parts of that has
** 16384 registers for its warps, handed out by eight. */
static uint32_t launch_registers(const VgCta *c) {
    uint32_t warps = (c->warp_count + 3) / 4, most = 16384 / VG_LANES / warps;
    return GP_MIN(most, 255u) / 8 * 8;
}

static void start_warp(VgCta *c, VgWarp *w) {
    uint32_t threads = GP_MIN(c->thread_count - w->index * VG_LANES, (uint32_t)VG_LANES);
    w->cta = c;
    w->registers = launch_registers(c);
    w->cluster_phase = c->launch->cluster_phase;
    w->live = threads == VG_LANES ? VG_ALL : (1u << threads) - 1;
    for (uint32_t i = 0; i < w->split_end; i++)
        w->splits[i].is_used = false;
    w->split_end = 1;
    w->splits[0] = (VgSplit){.is_used = true,
                             .warp = w,
                             .frame = w->root,
                             .home = w->root,
                             .meet = NOWHERE,
                             .mask = w->live};
}

static void start_cta(VgCta *c, const uint32_t *block, uint32_t rank) {
    memcpy(c->block, block, sizeof c->block);
    c->rank = rank;
    c->spare_registers = 0;
    for (size_t i = 0; i < GP_COUNT(c->barriers); i++) {
        vg_stamp_drop(c->launch, &c->barriers[i].arriving);
        vg_stamp_drop(c->launch, &c->barriers[i].done);
        c->barriers[i] = (VgBarrier){0};
    }
    vg_stamp_drop(c->launch, &c->ended);
    memset(c->visits, 0, c->launch->actors * sizeof *c->visits);
    memset(c->bytes, 0, c->shared_end * sizeof *c->bytes);
    vg_threads_start(c);
    vg_async_start(c);
    memset(c->shared + VG_SHARED_START, 0xa5, c->shared_end - VG_SHARED_START);
    for (uint32_t i = 0; i < c->warp_count; i++)
        start_warp(c, &c->warps[i]);
}

static bool make_cta(VgLaunch *l, VgCta *c) {
    c->launch = l;
    c->thread_count = l->block[0] * l->block[1] * l->block[2];
    c->warp_count = (c->thread_count + VG_LANES - 1) / VG_LANES;
    c->shared_end = l->func->module->dynamic_at + l->dynamic_bytes;
    c->shared = calloc(1, c->shared_end + 16);
    c->bytes = calloc(c->shared_end + 16, sizeof *c->bytes);
    c->warps = calloc(c->warp_count, sizeof *c->warps);
    c->threads = calloc((size_t)c->warp_count * VG_LANES, sizeof *c->threads);
    c->stores = calloc((size_t)c->warp_count * VG_LANES, sizeof *c->stores);
    c->copies = calloc((size_t)c->warp_count * VG_LANES, sizeof *c->copies);
    c->visits = calloc(vg_actor_count(c), sizeof *c->visits);
    for (uint32_t i = 0; c->warps && i < c->warp_count; i++) {
        c->warps[i].index = i;
        c->warps[i].root = vg_frame_new(l->func);
    }
    return c->shared && c->bytes && c->warps && c->threads && c->stores && c->copies && c->visits;
}

static void free_cta(VgCta *c) {
    vg_async_free(c);
    for (size_t i = 0; i < GP_COUNT(c->barriers); i++) {
        vg_stamp_drop(c->launch, &c->barriers[i].arriving);
        vg_stamp_drop(c->launch, &c->barriers[i].done);
    }
    for (uint32_t i = 0; c->threads && i < c->warp_count * VG_LANES; i++) {
        vg_clock_release(c->launch, c->threads[i].seen);
        vg_clock_release(c->launch, c->threads[i].fenced);
    }
    vg_stamp_drop(c->launch, &c->ended);
    free(c->visits);
    free(c->threads);
    free(c->bytes);
    for (uint32_t i = 0; c->warps && i < c->warp_count; i++) {
        vg_frame_free(c->warps[i].root);
        while (c->warps[i].unused) {
            VgFrame *f = c->warps[i].unused;
            c->warps[i].unused = f->caller;
            vg_frame_free(f);
        }
        free(c->warps[i].stack);
    }
    free(c->warps);
    free(c->shared);
}

static void run_grid(VgLaunch *l) {
    uint32_t clusters[3];
    for (uint32_t i = 0; i < 3; i++)
        clusters[i] = l->grid[i] / l->cluster[i];
    uint64_t count = (uint64_t)clusters[0] * clusters[1] * clusters[2];
    for (uint64_t c = 0; c < count && !l->result; c++) {
        for (uint32_t r = 0; r < l->cluster_ctas; r++) {
            uint32_t block[3];
            for (uint32_t i = 0; i < 3; i++)
                block[i] = axis_of(c, clusters, i) * l->cluster[i] + axis_of(r, l->cluster, i);
            start_cta(&l->ctas[r], block, r);
        }
        run_cluster(l);
    }
}

GpCuResult vg_launch(VgLaunch *l) {
    const char *seed = getenv("GPULUA_VGPU_SEED");
    l->seed = seed ? strtoull(seed, NULL, 10) : 0;
    l->is_early = l->seed & 1;
    l->random = l->seed * UINT64_C(0x9e3779b97f4a7c15) + UINT64_C(0x2545f4914f6cdd1d);
    l->cluster_ctas = l->cluster[0] * l->cluster[1] * l->cluster[2];
    l->ctas = calloc(l->cluster_ctas, sizeof *l->ctas);
    bool is_made = l->ctas != NULL;
    for (uint32_t i = 0; is_made && i < l->cluster_ctas; i++)
        is_made = make_cta(l, &l->ctas[i]);
    if (is_made) {
        l->actors = vg_actor_count(&l->ctas[0]);
        run_grid(l);
    }
    for (uint32_t i = 0; l->ctas && i < l->cluster_ctas; i++)
        free_cta(&l->ctas[i]);
    vg_stamp_drop(l, &l->cluster_arriving);
    vg_stamp_drop(l, &l->cluster_done);
    vg_clocks_free(l);
    free(l->ctas);
    return is_made ? l->result : 2;
}
