/* Exchanges between the lanes of a warp. All of them take a mask of the threads that come; they
** must be the ones that do. */
#include "spec/vgpu/vgpu.h"

/* The threads of the member mask, which the executing ones must share and be. */
static VgOutcome members(VgRun *x, const VgOperand *o) {
    uint64_t mask;
    if (!vg_uniform(x, o, 4, &mask))
        return VgOutcome_Fail;
    return vg_together(x, (uint32_t)mask & x->warp->live);
}

VgOutcome vg_run_shfl(VgRun *x, const VgInst *in) {
    VgLanes buf[3], out;
    const VgLanes *a = vg_read(x, &in->ops[1], 4, &buf[0]);
    const VgLanes *b = vg_read(x, &in->ops[2], 4, &buf[1]),
                  *c = vg_read(x, &in->ops[3], 4, &buf[2]);
    uint32_t found = 0;
    VgOutcome together = members(x, &in->ops[4]);
    if (together != VgOutcome_Next)
        return together;
    VG_EACH_LANE(lane, x->mask) {
        uint32_t clamp = c->u32[lane] & 31, segment = c->u32[lane] >> 8 & 31,
                 by = b->u32[lane] & 31;
        uint32_t last = (lane & segment) | (clamp & ~segment), first = lane & segment;
        uint8_t mode = in->mod[VgClass_Shfl];
        int32_t from = mode == VgMod_Up     ? (int32_t)lane - (int32_t)by
                       : mode == VgMod_Down ? (int32_t)(lane + by)
                       : mode == VgMod_Bfly ? (int32_t)(lane ^ by)
                                            : (int32_t)(first | (by & ~segment));
        bool is_inside = mode == VgMod_Up ? from >= (int32_t)last : from <= (int32_t)last;
        from = is_inside ? from : (int32_t)lane;
        found |= (uint32_t)is_inside << lane;
        if (!(x->mask >> from & 1))
            return vg_fault(x, VG_FAILED, (int)lane, "reads lane %d, which is not here", from);
        out.u32[lane] = a->u32[from];
    }
    const VgOperand *to = &in->ops[0];
    vg_write(x, to->kind == VgOperand_Vector ? &to->parts[0] : to, VgType_B32, &out);
    if (to->kind == VgOperand_Vector)
        vg_write_pred(x, &to->parts[1], found);
    return VgOutcome_Next;
}

VgOutcome vg_run_vote(VgRun *x, const VgInst *in) {
    VgLanes out;
    VgOutcome together = members(x, &in->ops[2]);
    if (together != VgOutcome_Next)
        return together;
    uint32_t votes = vg_read_pred(x, &in->ops[1]) & x->mask;
    if (in->mod[VgClass_Vote] == VgMod_Ballot) {
        for (uint32_t lane = 0; lane < VG_LANES; lane++)
            out.u32[lane] = votes;
        vg_write(x, &in->ops[0], VgType_B32, &out);
        return VgOutcome_Next;
    }
    bool is_all = votes == x->mask, holds = is_all;
    if (in->mod[VgClass_Vote] == VgMod_Any)
        holds = votes != 0;
    if (in->mod[VgClass_Uni])
        holds = is_all || votes == 0;
    vg_write_pred(x, &in->ops[0], holds ? VG_ALL : 0);
    return VgOutcome_Next;
}

VgOutcome vg_run_redux(VgRun *x, const VgInst *in) {
    VgLanes buf, out;
    VgOutcome together = members(x, &in->ops[2]);
    if (together != VgOutcome_Next)
        return together;
    const VgLanes *v = vg_read(x, &in->ops[1], 4, &buf);
    uint32_t total = v->u32[vg_first_lane(x->mask)];
    uint8_t op = in->mod[VgClass_Atom] ? in->mod[VgClass_Atom] : in->mod[VgClass_Logic];
    VG_EACH_LANE(lane, x->mask & (x->mask - 1)) {
        uint32_t a = v->u32[lane];
        bool is_less = in->types[0] == VgType_S32 ? (int32_t)a < (int32_t)total : a < total;
        switch (op) {
        case VgMod_Add:
            total += a;
            break;
        case VgMod_And:
            total &= a;
            break;
        case VgMod_Or:
            total |= a;
            break;
        case VgMod_Xor:
            total ^= a;
            break;
        case VgMod_Min:
            total = is_less ? a : total;
            break;
        default: /* max */
            total = is_less ? total : a;
            break;
        }
    }
    for (uint32_t lane = 0; lane < VG_LANES; lane++)
        out.u32[lane] = total;
    vg_write(x, &in->ops[0], VgType_B32, &out);
    return VgOutcome_Next;
}

VgOutcome vg_run_match(VgRun *x, const VgInst *in) {
    uint32_t bytes = vg_types[in->types[0]].bytes, same = VG_ALL;
    VgLanes buf, out;
    VgOutcome together = members(x, &in->ops[2]);
    if (together != VgOutcome_Next)
        return together;
    const VgLanes *v = vg_read(x, &in->ops[1], bytes, &buf);
    VG_EACH_LANE(lane, x->mask) {
        uint32_t equal = 0;
        VG_EACH_LANE(other, x->mask)
        equal |= (uint32_t)(vg_lane(v, bytes, other) == vg_lane(v, bytes, lane)) << other;
        out.u32[lane] = equal;
        same &= equal;
    }
    bool is_all = in->id == VgInst_MatchAll;
    const VgOperand *to = &in->ops[0];
    for (uint32_t lane = 0; is_all && lane < VG_LANES; lane++)
        out.u32[lane] = same == x->mask ? x->mask : 0;
    vg_write(x, to->kind == VgOperand_Vector ? &to->parts[0] : to, VgType_B32, &out);
    if (to->kind == VgOperand_Vector)
        vg_write_pred(x, &to->parts[1], same == x->mask ? VG_ALL : 0);
    return VgOutcome_Next;
}

VgOutcome vg_run_activemask(VgRun *x, const VgInst *in) {
    VgLanes out;
    for (uint32_t lane = 0; lane < VG_LANES; lane++)
        out.u32[lane] = x->mask;
    vg_write(x, &in->ops[0], VgType_B32, &out);
    return VgOutcome_Next;
}

/* elect.sync d|p, mask: the lowest thread. */
VgOutcome vg_run_elect(VgRun *x, const VgInst *in) {
    VgLanes out;
    VgOutcome together = members(x, &in->ops[1]);
    if (together != VgOutcome_Next)
        return together;
    uint32_t lowest = x->mask & -x->mask;
    for (uint32_t lane = 0; lane < VG_LANES; lane++)
        out.u32[lane] = (uint32_t)vg_first_lane(x->mask);
    const VgOperand *to = &in->ops[0];
    if (to->kind == VgOperand_Vector)
        vg_write(x, &to->parts[0], VgType_B32, &out);
    vg_write_pred(x, to->kind == VgOperand_Vector ? &to->parts[1] : to, lowest);
    return VgOutcome_Next;
}

VgOutcome vg_run_warp_sync(VgRun *x, const VgInst *in) {
    VgOutcome together = members(x, &in->ops[0]);
    if (together != VgOutcome_Next)
        return together;
    vg_meet(x, x->mask);
    return VgOutcome_Next;
}
