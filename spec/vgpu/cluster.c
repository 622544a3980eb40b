/* Blocks of a cluster: their barrier, the addresses of each other's shared memory, and what one does in
** another's, which must be over before that one ends. */
#include "spec/vgpu/vgpu.h"

/* ---- Visits ------------------------------------------------------------------------------- */

bool vg_visit(VgRun *x, VgCta *to, VgUnit unit, uint32_t lane) {
    if (to == x->warp->cta)
        return true;
    if (vg_live_warps(to) == 0) {
        (void)vg_fault(x, VG_FAILED, (int)lane, "reaches into block %u of the cluster, which has ended",
                       to->rank);
        return false;
    }
    to->visits[unit.actor] = (VgVisit){unit.time, x->inst->line};
    return true;
}

VgOutcome vg_visits_at_exit(VgRun *x, uint32_t mask) {
    VgCta *c = x->warp->cta;
    if (x->launch->cluster_ctas == 1)
        return VgOutcome_Next;
    vg_release(x, mask, &c->ended);
    if (vg_live_warps(c) > 1 || x->warp->live != mask)
        return VgOutcome_Next;
    for (uint32_t a = 0; a < x->launch->actors; a++) {
        char who[VG_ACTOR_TEXT];
        if (c->visits[a].time <= c->ended.seen->at[a])
            continue;
        vg_describe_actor(x->launch, a, who, sizeof who);
        return vg_fault(x, VG_FAILED, -1,
                        "block %u of the cluster ends, and nothing orders that behind what %s does in "
                        "its shared memory at PTX line %u",
                        c->rank, who, c->visits[a].line);
    }
    return VgOutcome_Next;
}

/* ---- The barrier -------------------------------------------------------------------------- */

uint32_t vg_live_warps(const VgCta *c) {
    uint32_t live = 0;
    for (uint32_t w = 0; w < c->warp_count; w++)
        live += c->warps[w].live != 0;
    return live;
}

uint32_t vg_cluster_warps(const VgLaunch *l) {
    uint32_t live = 0;
    for (uint32_t c = 0; c < l->cluster_ctas; c++)
        live += vg_live_warps(&l->ctas[c]);
    return live;
}

/* A relaxed arrival hands on only what a fence stands behind. */
VgOutcome vg_run_cluster_arrive(VgRun *x, const VgInst *in) {
    VgLaunch *l = x->launch;
    VgOutcome together = vg_together(x, x->warp->live);
    if (together != VgOutcome_Next)
        return together;
    if (x->warp->cluster_phase > l->cluster_phase)
        return vg_fault(x, VG_FAILED, -1, "arrives twice without a wait");
    x->warp->cluster_phase = l->cluster_phase + 1;
    l->cluster_arrived++;
    if (in->mod[VgClass_Sem] == VgMod_Relaxed)
        vg_release_inits(x, x->mask, &l->cluster_arriving);
    else
        vg_release(x, x->mask, &l->cluster_arriving);
    l->progress++;
    return VgOutcome_Next;
}

VgOutcome vg_run_cluster_wait(VgRun *x, const VgInst *in) {
    (void)in;
    VgLaunch *l = x->launch;
    if (l->cluster_arrived >= vg_cluster_warps(l)) {
        l->cluster_arrived = 0;
        l->cluster_phase++;
        l->progress++;
        vg_stamp_drop(l, &l->cluster_done);
        l->cluster_done = l->cluster_arriving;
        l->cluster_arriving = (VgStamp){0};
    }
    if (x->warp->cluster_phase > l->cluster_phase)
        return VgOutcome_Wait;
    vg_acquire(x, x->mask, &l->cluster_done);
    return VgOutcome_Next;
}

/* ---- Addresses ---------------------------------------------------------------------------- */

static void map_lanes(VgRun *x, const VgInst *in, bool is_rank) {
    uint32_t bytes = vg_types[in->types[0]].bytes;
    VgLanes buf[2], out;
    const VgLanes *a = vg_read(x, &in->ops[1], bytes, &buf[0]);
    const VgLanes *rank = is_rank ? NULL : vg_read(x, &in->ops[2], 4, &buf[1]);
    for (uint32_t lane = 0; lane < VG_LANES; lane++) {
        uint64_t at = vg_lane(a, bytes, lane), of = at >> VG_RANK_SHIFT & 255;
        uint64_t kept = at & ~(UINT64_C(255) << VG_RANK_SHIFT);
        uint64_t v = is_rank ? (of ? of - 1 : x->warp->cta->rank)
                             : kept | (uint64_t)(rank->u32[lane] + 1) << VG_RANK_SHIFT;
        vg_set_lane(&out, is_rank ? 4 : bytes, lane, v);
    }
    vg_write(x, &in->ops[0], is_rank ? VgType_U32 : in->types[0], &out);
}

VgOutcome vg_run_mapa(VgRun *x, const VgInst *in) {
    map_lanes(x, in, false);
    return VgOutcome_Next;
}

VgOutcome vg_run_getctarank(VgRun *x, const VgInst *in) {
    map_lanes(x, in, true);
    return VgOutcome_Next;
}
