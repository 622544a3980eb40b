/* Loads, stores and atomics, in every space. */
#include <math.h>
#include <stdlib.h>

#include "spec/vgpu/vgpu.h"

/* ---- Where addresses lead ----------------------------------------------------------------- */

static bool is_shared(uint8_t space) {
    return space == VgMod_Shared || space == VgMod_SharedCta || space == VgMod_SharedCluster;
}

VgCta *vg_shared_cta(VgRun *x, uint64_t address, uint32_t *offset) {
    uint64_t rank = (address & UINT32_MAX) >> VG_RANK_SHIFT;
    *offset = (uint32_t)(address & ((1u << VG_RANK_SHIFT) - 1));
    if (rank == 0)
        return x->warp->cta;
    return rank <= x->launch->cluster_ctas ? &x->launch->ctas[rank - 1] : NULL;
}

static uint8_t *reach_shared(VgRun *x, uint64_t address, uint32_t bytes, uint32_t lane,
                             VgAccess access) {
    uint32_t offset;
    VgCta *cta = vg_shared_cta(x, address, &offset);
    gp_assert(x->warp->cta);
    if (cta && offset >= VG_SHARED_START && offset + bytes <= cta->shared_end) {
        VgTouch t = {cta, offset, bytes, lane, (int)access, vg_thread_unit(x, lane)};
        return vg_check_shared(x, &t) ? cta->shared + offset : NULL;
    }
    (void)vg_fault(x, VG_ILLEGAL_ADDRESS, (int)lane,
                   "%u bytes at shared address %#llx; the block has %u bytes from %#x on", bytes,
                   (unsigned long long)address, x->warp->cta->shared_end - VG_SHARED_START,
                   VG_SHARED_START);
    return NULL;
}

static uint8_t *reach_local(VgRun *x, uint64_t address, uint32_t bytes, uint32_t lane) {
    if (address + bytes > VG_LOCAL_BYTES) {
        (void)vg_fault(x, VG_ILLEGAL_ADDRESS, (int)lane, "%u bytes at local address %#llx", bytes,
                       (unsigned long long)address);
        return NULL;
    }
    if (!x->warp->stack)
        x->warp->stack = calloc(VG_LANES, VG_LOCAL_BYTES);
    return x->warp->stack + (size_t)lane * VG_LOCAL_BYTES + address;
}

static uint8_t *reach_param(VgRun *x, uint64_t address, uint32_t bytes, uint32_t lane) {
    uint32_t limit = x->launch->func->param_bytes;
    if (address + bytes > limit) {
        (void)vg_fault(x, VG_ILLEGAL_ADDRESS, (int)lane,
                       "%u bytes at %llu of %u bytes of parameters", bytes,
                       (unsigned long long)address, limit);
        return NULL;
    }
    return x->launch->params + address;
}

bool vg_may_touch_global(VgRun *x) {
    if (!x->launch->is_dependent || x->warp->has_waited)
        return true;
    (void)vg_fault(x, VG_FAILED, -1, "global memory, while the kernel ahead may still run: nothing waits for it");
    return false;
}

static uint8_t *reach_global(VgRun *x, uint64_t address, uint32_t bytes, uint32_t lane) {
    if (!vg_may_touch_global(x))
        return NULL;
    if (address >= x->near_start && address + bytes <= x->near_end)
        return (uint8_t *)(uintptr_t)address;
    if (!vg_memory_find(address, bytes, &x->near_start, &x->near_end)) {
        char where[160];
        vg_memory_describe(address, where, sizeof where);
        x->near_start = x->near_end = 0;
        (void)vg_fault(x, VG_ILLEGAL_ADDRESS, (int)lane, "%u bytes at global address %#llx: %s",
                       bytes, (unsigned long long)address, where);
        return NULL;
    }
    return (uint8_t *)(uintptr_t)address;
}

/* A generic address's space. */
static uint8_t resolve(uint64_t *address) {
    uint64_t window = VG_WINDOW(*address);
    uint8_t space = window == VG_WINDOW_SHARED  ? VgMod_SharedCluster
                    : window == VG_WINDOW_LOCAL ? VgMod_Local
                    : window == VG_WINDOW_PARAM ? VgMod_Param
                                                : VgMod_Global;
    if (space != VgMod_Global)
        *address &= (UINT64_C(1) << 48) - 1;
    return space;
}

uint8_t *vg_reach(VgRun *x, uint8_t space, uint64_t address, uint32_t bytes, uint32_t lane,
                  VgAccess access) {
    if (address & (bytes - 1)) {
        (void)vg_fault(x, VG_MISALIGNED, (int)lane,
                       "%u bytes at address %#llx, which is not a multiple", bytes,
                       (unsigned long long)address);
        return NULL;
    }
    if (space == VgMod_None)
        space = resolve(&address);
    if (is_shared(space))
        return reach_shared(x, address, bytes, lane, access);
    if (space == VgMod_Local)
        return reach_local(x, address, bytes, lane);
    if (space == VgMod_Param && x->launch->func == x->frame->func && access == VgAccess_Read)
        return reach_param(x, address, bytes, lane);
    return reach_global(x, address, bytes, lane);
}

void vg_addresses(VgRun *x, const VgOperand *o, VgLanes *to) {
    VgLanes buf;
    const VgOperand *base = &o->parts[0];
    const VgLanes *v = vg_read(x, base, 8, &buf);
    bool is_narrow = base->kind == VgOperand_Reg && base->bytes == 4;
    for (uint32_t lane = 0; lane < VG_LANES; lane++)
        to->u64[lane] = is_narrow ? (uint32_t)(v->u64[lane] + o->imm) : v->u64[lane] + o->imm;
}

/* .param of a function that is called is in the threads' stacks. */
static uint8_t space_of(const VgInst *in, const VgOperand *address) {
    return address->parts[0].is_lane_space ? VgMod_Local : in->spaces[0];
}

/* ---- Loads and stores --------------------------------------------------------------------- */

static uint32_t parts_of(const VgOperand *o) {
    return o->kind == VgOperand_Vector ? o->part_count : 1;
}
static const VgOperand *part_of(const VgOperand *o, uint32_t i) {
    return o->kind == VgOperand_Vector ? &o->parts[i] : o;
}

static VgAccess ordered(const VgInst *in, VgAccess access) {
    uint8_t sem = in->mod[VgClass_Sem];
    return sem && sem != VgMod_Weak ? access | VgAccess_Atomic : access;
}

VgOutcome vg_run_ld(VgRun *x, const VgInst *in) {
    const VgOperand *to = &in->ops[0];
    uint32_t bytes = vg_types[in->types[0]].bytes, count = parts_of(to);
    VgLanes at, out[8];
    vg_addresses(x, &in->ops[1], &at);
    uint8_t space = space_of(in, &in->ops[1]);
    VG_EACH_LANE(lane, x->mask) {
        const uint8_t *from =
            vg_reach(x, space, at.u64[lane], bytes * count, lane, ordered(in, VgAccess_Read));
        if (!from)
            return VgOutcome_Fail;
        for (uint32_t i = 0; i < count; i++)
            memcpy(&out[i].u8[(size_t)lane * bytes], from + (size_t)i * bytes, bytes);
    }
    for (uint32_t i = 0; i < count; i++)
        vg_write(x, part_of(to, i), in->types[0], &out[i]);
    return VgOutcome_Next;
}

VgOutcome vg_run_st(VgRun *x, const VgInst *in) {
    const VgOperand *from = &in->ops[1];
    uint32_t bytes = vg_types[in->types[0]].bytes, count = parts_of(from);
    VgLanes at, buf[8];
    const VgLanes *v[8];
    vg_addresses(x, &in->ops[0], &at);
    for (uint32_t i = 0; i < count; i++)
        v[i] = vg_read(x, part_of(from, i), bytes, &buf[i]);
    uint8_t space = space_of(in, &in->ops[0]);
    uint8_t stored[64];
    VgOutcome outcome = VgOutcome_Next;
    x->stored = stored;
    VG_EACH_LANE(lane, x->mask) {
        for (uint32_t i = 0; i < count; i++)
            memcpy(stored + (size_t)i * bytes, &v[i]->u8[(size_t)lane * bytes], bytes);
        uint8_t *to =
            vg_reach(x, space, at.u64[lane], bytes * count, lane, ordered(in, VgAccess_Write));
        if (!to) {
            outcome = VgOutcome_Fail;
            break;
        }
        memcpy(to, stored, (size_t)bytes * count);
    }
    x->stored = NULL;
    return outcome;
}

/* ---- Atomics ------------------------------------------------------------------------------ */

static uint64_t add_numbers(VgType type, uint64_t a, uint64_t b) {
    if (vg_types[type].kind != VgKind_Float)
        return a + b;
    double sum = vg_to_double(type, a) + vg_to_double(type, b);
    return vg_from_double(type, sum);
}

static uint64_t add_values(VgType type, uint64_t a, uint64_t b) {
    if (vg_types[type].kind != VgKind_Pair)
        return add_numbers(type, a, b);
    VgType half = type == VgType_F16x2 ? VgType_F16 : VgType_BF16;
    return add_numbers(half, a & 0xffff, b & 0xffff) | add_numbers(half, a >> 16, b >> 16) << 16;
}

static bool is_less(VgType type, uint64_t a, uint64_t b) {
    if (vg_types[type].kind == VgKind_Float)
        return vg_to_double(type, a) < vg_to_double(type, b);
    uint32_t unused = 64 - 8u * vg_types[type].bytes;
    return vg_types[type].kind == VgKind_Sint ? (int64_t)(a << unused) < (int64_t)(b << unused)
                                              : a < b;
}

static uint64_t logic(uint8_t mod, uint64_t a, uint64_t b) {
    return mod == VgMod_And ? a & b : mod == VgMod_Or ? a | b : a ^ b;
}

static uint64_t updated(const VgInst *in, uint64_t old, uint64_t b, uint64_t c) {
    VgType type = in->types[0];
    if (in->mod[VgClass_Logic])
        return logic(in->mod[VgClass_Logic], old, b);
    switch (in->mod[VgClass_Atom]) {
    case VgMod_Add:
        return add_values(type, old, b);
    case VgMod_Min:
        return is_less(type, b, old) ? b : old;
    case VgMod_Max:
        return is_less(type, old, b) ? b : old;
    case VgMod_Inc:
        return old >= b ? 0 : old + 1;
    case VgMod_Dec:
        return old == 0 || old > b ? b : old - 1;
    case VgMod_Cas:
        return old == b ? c : old;
    default: /* exch */
        return b;
    }
}

/* One thread after another, in lane order. */
static VgOutcome run_atomic(VgRun *x, const VgInst *in, const VgOperand *to,
                            const VgOperand *from) {
    uint32_t bytes = vg_types[in->types[0]].bytes, count = parts_of(&from[1]);
    VgLanes at, buf[9], out;
    const VgLanes *b[8] = {vg_read(x, part_of(&from[1], 0), bytes, &buf[0])};
    vg_addresses(x, &from[0], &at);
    for (uint32_t i = 1; i < count; i++)
        b[i] = vg_read(x, part_of(&from[1], i), bytes, &buf[i]);
    bool is_cas = in->mod[VgClass_Atom] == VgMod_Cas;
    const VgLanes *c = is_cas ? vg_read(x, &from[2], bytes, &buf[8]) : b[0];
    VG_EACH_LANE(lane, x->mask) {
        uint8_t *memory = vg_reach(x, in->spaces[0], at.u64[lane], bytes * count, lane,
                                   VgAccess_Read | VgAccess_Write | VgAccess_Atomic);
        uint64_t old = 0;
        if (!memory)
            return VgOutcome_Fail;
        for (uint32_t i = 0; i < count; i++, memory += bytes) {
            memcpy(&old, memory, bytes); /* little-endian */
            uint64_t v = updated(in, old, vg_lane(b[i], bytes, lane), vg_lane(c, bytes, lane));
            memcpy(memory, &v, bytes);
        }
        vg_set_lane(&out, bytes, lane, old);
    }
    if (to)
        vg_write(x, to, in->types[0], &out);
    return VgOutcome_Next;
}

VgOutcome vg_run_atom(VgRun *x, const VgInst *in) {
    return run_atomic(x, in, &in->ops[0], &in->ops[1]);
}

VgOutcome vg_run_red(VgRun *x, const VgInst *in) { return run_atomic(x, in, NULL, &in->ops[0]); }

VgOutcome vg_run_fence(VgRun *x, const VgInst *in) {
    (void)x;
    (void)in;
    return VgOutcome_Next;
}
