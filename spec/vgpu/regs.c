/* The register file: 32 lanes of each register side by side, predicates as masks. */
#include <stdlib.h>

#include "spec/vgpu/vgpu.h"

VgFrame *vg_frame_new(const VgFunc *f) {
    VgFrame *frame = calloc(1, sizeof *frame);
    frame->func = f;
    frame->regs = aligned_alloc(64, gp_align_up(f->file_bytes + 64, 64));
    memset(frame->regs, 0, f->file_bytes + 64);
    if (f->has_wgmma)
        frame->flight = calloc(f->reg_count + 1, sizeof *frame->flight);
    return frame;
}

void vg_frame_free(VgFrame *f) {
    if (f) {
        free(f->regs);
        free(f->flight);
    }
    free(f);
}

uint64_t vg_lane(const VgLanes *v, uint32_t bytes, uint32_t lane) {
    return bytes == 4   ? v->u32[lane]
           : bytes == 8 ? v->u64[lane]
           : bytes == 2 ? v->u16[lane]
                        : v->u8[lane];
}

void vg_set_lane(VgLanes *v, uint32_t bytes, uint32_t lane, uint64_t value) {
    if (bytes == 4)
        v->u32[lane] = (uint32_t)value;
    else if (bytes == 8)
        v->u64[lane] = value;
    else if (bytes == 2)
        v->u16[lane] = (uint16_t)value;
    else
        v->u8[lane] = (uint8_t)value;
}

static void splat(VgLanes *v, uint32_t bytes, uint64_t value) {
    for (uint32_t lane = 0; lane < VG_LANES; lane++)
        vg_set_lane(v, bytes, lane, value);
}

static uint64_t special(const VgWarp *w, VgSpecial which, uint32_t lane) {
    switch (which) {
#define VG_SPECIAL(id, spelling, bytes, value)                                                     \
    case VgSpecial_##id:                                                                           \
        return (uint64_t)(value);
#include "spec/vgpu/special.def"
    case VgSpecial_count:
        break;
    }
    gp_unreachable();
}

static const VgLanes *constant(VgRun *x, const VgOperand *o, uint32_t bytes, VgLanes *buf) {
    if (o->is_lane_space) {
        splat(buf, bytes, x->frame->lane_base + o->imm);
        return buf;
    }
    VgLanes **kept = (VgLanes **)&o->splat[__builtin_ctz(bytes)];
    if (!*kept) {
        const VgModule *m = x->frame->func->module;
        *kept = gp_arena_alloc(m->arena, sizeof(VgLanes) + 64);
        *kept = (VgLanes *)gp_align_up((uint64_t)(uintptr_t)*kept, 64);
        splat(*kept, bytes, o->imm + (o->is_dynamic ? m->dynamic_at : 0));
    }
    return *kept;
}

const VgLanes *vg_read(VgRun *x, const VgOperand *o, uint32_t bytes, VgLanes *buf) {
    if (o->kind == VgOperand_Reg && o->bytes == bytes)
        return (const VgLanes *)(x->frame->regs + o->at);
    if (o->kind == VgOperand_Const)
        return constant(x, o, bytes, buf);
    if (o->kind == VgOperand_Special) {
        for (uint32_t lane = 0; lane < VG_LANES; lane++)
            vg_set_lane(buf, bytes, lane, special(x->warp, o->at, lane));
        return buf;
    }
    gp_assert(o->kind == VgOperand_Reg);
    const VgLanes *reg = (const VgLanes *)(x->frame->regs + o->at);
    for (uint32_t lane = 0; lane < VG_LANES; lane++)
        vg_set_lane(buf, bytes, lane, vg_lane(reg, o->bytes, lane));
    return buf;
}

uint32_t vg_read_pred(VgRun *x, const VgOperand *o) {
    uint32_t mask;
    if (o->kind == VgOperand_Const)
        return o->imm ? VG_ALL : 0;
    gp_assert(o->kind == VgOperand_Pred);
    memcpy(&mask, x->frame->regs + o->at, sizeof mask);
    return o->is_negated ? ~mask : mask;
}

/* Writes some lanes of a register as wide as the value. */
static void blend(VgLanes *to, const VgLanes *v, uint32_t bytes, uint32_t mask) {
    if (bytes == 4) {
        for (uint32_t lane = 0; lane < VG_LANES; lane++)
            to->u32[lane] = mask >> lane & 1 ? v->u32[lane] : to->u32[lane];
        return;
    }
    VG_EACH_LANE(lane, mask)
    vg_set_lane(to, bytes, lane, vg_lane(v, bytes, lane));
}

static void extend(VgLanes *to, const VgOperand *o, VgType type, const VgLanes *v, uint32_t mask) {
    bool is_signed = vg_types[type].kind == VgKind_Sint;
    uint32_t bytes = vg_types[type].bytes, unused = 64 - 8 * bytes;
    VG_EACH_LANE(lane, mask) {
        uint64_t value = vg_lane(v, bytes, lane);
        if (is_signed)
            value = (uint64_t)((int64_t)(value << unused) >> unused);
        vg_set_lane(to, o->bytes, lane, value);
    }
}

void vg_write(VgRun *x, const VgOperand *o, VgType type, const VgLanes *v) {
    size_t bytes = vg_types[type].bytes;
    if (o->kind != VgOperand_Reg)
        return; /* `_` */
    VgLanes *to = (VgLanes *)(x->frame->regs + o->at);
    if (o->bytes != bytes)
        extend(to, o, type, v, x->mask);
    else if (x->mask == VG_ALL)
        memcpy(to, v, bytes * VG_LANES);
    else
        blend(to, v, (uint32_t)bytes, x->mask);
}

void vg_write_pred(VgRun *x, const VgOperand *o, uint32_t value) {
    uint32_t old;
    if (o->kind != VgOperand_Pred)
        return;
    uint8_t *to = x->frame->regs + o->at;
    memcpy(&old, to, sizeof old);
    value = (old & ~x->mask) | (value & x->mask);
    memcpy(to, &value, sizeof value);
}

bool vg_uniform(VgRun *x, const VgOperand *o, uint32_t bytes, uint64_t *value) {
    VgLanes buf;
    const VgLanes *v = vg_read(x, o, bytes, &buf);
    *value = vg_lane(v, bytes, (uint32_t)vg_first_lane(x->mask));
    VG_EACH_LANE(lane, x->mask) {
        if (vg_lane(v, bytes, lane) != *value) {
            (void)vg_fault(x, VG_FAILED, (int)lane, "the operand must be the same in all threads");
            return false;
        }
    }
    return true;
}
