/* Copies between global and shared memory that run beside the threads: cp.async,
** cp.async.bulk and cp.async.bulk.tensor.
**
** A load ends when its mbarrier is waited for, a store when its group is; with an odd seed both
** act when they are issued. */
#include <stdlib.h>

#include "spec/vgpu/async.h"

/* ---- Tensor maps -------------------------------------------------------------------------- */

const VgMap *vg_map_at(VgRun *x, uint64_t address, uint32_t lane) {
    if (VG_WINDOW(address) == VG_WINDOW_LOCAL) {
        (void)vg_fault(x, VG_ILLEGAL_ADDRESS, (int)lane,
                       "the tensor map is in local memory: its parameter is no grid constant");
        return NULL;
    }
    const VgMap *m =
        (const VgMap *)(const void *)vg_reach(x, VgMod_None, address, 64, lane, VgAccess_Read);
    if (m && !vg_reach(x, VgMod_None, address + 64, 64, lane, VgAccess_Read))
        return NULL;
    if (m && m->magic != VG_MAP_MAGIC) {
        (void)vg_fault(x, VG_FAILED, (int)lane, "there is no tensor map at %#llx",
                       (unsigned long long)address);
        return NULL;
    }
    return m;
}

VgOutcome vg_run_prefetch_map(VgRun *x, const VgInst *in) {
    VgLanes at;
    vg_addresses(x, &in->ops[0], &at);
    bool is_param = in->id == VgInst_PrefetchParamMap;
    VG_EACH_LANE(lane, x->mask) {
        uint64_t window = is_param ? (uint64_t)VG_WINDOW_PARAM << 48 : 0;
        if (!vg_map_at(x, at.u64[lane] | window, lane))
            return VgOutcome_Fail;
    }
    return VgOutcome_Next;
}

/* ---- The copies --------------------------------------------------------------------------- */

static uint32_t box_bytes(const VgMap *m) {
    uint32_t bytes = m->bytes;
    for (uint32_t i = 0; i < m->rank; i++)
        bytes *= m->box[i];
    return bytes;
}

/* Moves one row of the box; elements outside the tensor are zeros to a load, nothing to a store. */
static bool move_row(VgRun *x, const VgBulk *b, uint64_t global, bool is_inside, uint32_t shared) {
    const VgMap *m = &b->map;
    bool is_load = b->inst->spaces[0] != VgMod_Global;
    for (uint32_t i = 0; i < m->box[0]; i++) {
        int64_t at = (int64_t)b->at[0] + i;
        uint8_t *near = b->cta->shared + vg_swizzle(shared + i * m->bytes, m->swizzle);
        if (!is_inside || at < 0 || at >= (int64_t)m->dims[0]) {
            if (is_load)
                memset(near, 0, m->bytes);
            continue;
        }
        uint64_t address = global + (uint64_t)at * m->bytes;
        uint8_t *far = vg_reach(x, VgMod_Global, address, m->bytes, 0, VgAccess_Read);
        if (!far)
            return false;
        memcpy(is_load ? near : far, is_load ? far : near, m->bytes);
    }
    return true;
}

static bool move_box(VgRun *x, const VgBulk *b) {
    const VgMap *m = &b->map;
    uint32_t rows = box_bytes(m) / (m->box[0] * m->bytes);
    for (uint32_t row = 0; row < rows; row++) {
        uint64_t global = m->base;
        uint32_t rest = row;
        bool is_inside = true;
        for (uint32_t i = 1; i < m->rank; i++) {
            int64_t at = (int64_t)b->at[i] + rest % m->box[i];
            rest /= m->box[i];
            is_inside &= at >= 0 && at < (int64_t)m->dims[i];
            global += (uint64_t)at * m->strides[i];
        }
        if (!move_row(x, b, global, is_inside, b->shared + row * m->box[0] * m->bytes))
            return false;
    }
    return true;
}

static bool move_plain(VgRun *x, const VgBulk *b) {
    bool is_load = b->inst->spaces[0] != VgMod_Global;
    uint8_t *near = b->cta->shared + b->shared;
    for (uint32_t i = 0; i < b->bytes; i++) {
        if (is_load && i >= b->filled) {
            near[i] = 0;
            continue;
        }
        uint8_t *far = vg_reach(x, VgMod_Global, b->global + i, 1, 0, VgAccess_Read);
        if (!far)
            return false;
        *(is_load ? &near[i] : far) = is_load ? *far : near[i];
    }
    return true;
}

bool vg_bulk_run(VgRun *x, const VgBulk *b) {
    const VgInst *waiting = x->inst;
    x->inst = b->inst; /* what is wrong is wrong there */
    bool is_fine = b->is_plain ? move_plain(x, b) : move_box(x, b);
    x->inst = waiting;
    x->launch->progress++;
    return is_fine;
}

/* ---- Groups ------------------------------------------------------------------------------- */

static void append(VgIssued *list, VgBulk *b) {
    if (!list->first)
        list->last = &list->first;
    *list->last = b;
    list->last = &b->next;
}

void vg_issued_drop(VgIssued *list) {
    while (list->first) {
        VgBulk *b = list->first;
        list->first = b->next;
        free(b);
    }
    *list = (VgIssued){0};
}

/* Runs what is in groups below `until`. */
static bool run_groups(VgRun *x, VgIssued *list, uint32_t until) {
    while (list->first && list->first->group < until) {
        VgBulk *b = list->first;
        list->first = b->next;
        bool is_fine = x->launch->is_early || vg_bulk_run(x, b);
        free(b);
        if (!is_fine)
            return false;
    }
    return true;
}

static VgIssued *list_of(VgRun *x, const VgInst *in, uint32_t lane, VgActorKind *kind) {
    bool is_bulk = in->id == VgInst_BulkCommit || in->id == VgInst_BulkWait;
    *kind = is_bulk ? VgActor_Stores : VgActor_Copies;
    return &(is_bulk ? x->warp->cta->stores : x->warp->cta->copies)[vg_thread(x->warp, lane)];
}

VgOutcome vg_run_commit_group(VgRun *x, const VgInst *in) {
    VgActorKind kind;
    VG_EACH_LANE(lane, x->mask)
    list_of(x, in, lane, &kind)->committed++;
    return VgOutcome_Next;
}

/* wait_group n: all but the last n groups are over; wait_all: all copies, committed or not. */
VgOutcome vg_run_wait_group(VgRun *x, const VgInst *in) {
    VgActorKind kind;
    VG_EACH_LANE(lane, x->mask) {
        VgIssued *list = list_of(x, in, lane, &kind);
        uint64_t left = in->op_count ? in->ops[0].imm : 0;
        list->committed += in->op_count == 0;
        uint32_t until = list->committed > left ? list->committed - (uint32_t)left : 0;
        if (until <= list->waited)
            continue;
        if (!run_groups(x, list, until))
            return VgOutcome_Fail;
        list->waited = until;
        vg_acquire_actor(x, 1u << lane, vg_actor(x->warp->cta, kind, vg_thread(x->warp, lane)),
                         until);
    }
    return VgOutcome_Next;
}

VgOutcome vg_stores_at_exit(VgRun *x, uint32_t mask) {
    VG_EACH_LANE(lane, mask) {
        const VgIssued *list = &x->warp->cta->stores[vg_thread(x->warp, lane)];
        if (list->first)
            return vg_fault(x, VG_FAILED, (int)lane,
                            "the thread ends while its bulk store of PTX line %u may still read "
                            "shared memory",
                            list->first->inst->line);
    }
    return VgOutcome_Next;
}

/* ---- Issue -------------------------------------------------------------------------------- */

static VgBulk *new_bulk(const VgBulk *from) {
    VgBulk *b = malloc(sizeof *b);
    *b = *from;
    return b;
}

static bool issue_load(VgRun *x, const VgBulk *b, uint64_t mbar, uint32_t lane) {
    VgCta *owner;
    VgMbar *m = vg_mbar_at(x, mbar, lane, &owner);
    if (!m)
        return false;
    VgUnit unit = {m->channel, m->phase + 1};
    VgTouch touch = {b->cta, b->shared, b->bytes, lane, VgAccess_Write | VgAccess_Async, unit};
    if (!vg_check_shared(x, &touch))
        return false;
    VgBulk *kept = new_bulk(b);
    kept->next = NULL;
    VgBulk **last = &m->loads;
    while (*last)
        last = &(*last)->next;
    *last = kept;
    x->launch->progress++;
    return !x->launch->is_early || vg_mbar_deliver(x, m) != VgOutcome_Fail;
}

/* The copy behind those that the thread has not committed. */
static bool keep(VgRun *x, VgIssued *list, const VgBulk *b) {
    VgBulk *kept = new_bulk(b);
    kept->next = NULL;
    kept->group = list->committed;
    append(list, kept);
    return !x->launch->is_early || vg_bulk_run(x, kept);
}

static bool issue_store(VgRun *x, const VgBulk *b, uint32_t lane) {
    uint32_t thread = vg_thread(x->warp, lane);
    VgIssued *list = &x->warp->cta->stores[thread];
    VgUnit unit = {vg_actor(x->warp->cta, VgActor_Stores, thread), list->committed + 1};
    VgTouch touch = {b->cta, b->shared, b->bytes, lane, VgAccess_Read | VgAccess_Async, unit};
    return vg_check_shared(x, &touch) && keep(x, list, b);
}

/* The shared side of a copy: aligned, and in the block's memory. */
static bool place(VgRun *x, VgBulk *b, uint64_t address, uint32_t align, uint32_t lane) {
    if (VG_WINDOW(address) == VG_WINDOW_SHARED)
        address &= UINT32_MAX;
    b->cta = vg_shared_cta(x, address, &b->shared);
    if (align && b->shared % align) {
        (void)vg_fault(x, VG_MISALIGNED, (int)lane, "shared address %#x is no multiple of %u",
                       b->shared, align);
        return false;
    }
    if (b->cta && b->shared >= VG_SHARED_START && b->shared + b->bytes <= b->cta->shared_end)
        return true;
    (void)vg_fault(x, VG_ILLEGAL_ADDRESS, (int)lane, "%u bytes at shared address %#llx", b->bytes,
                   (unsigned long long)address);
    return false;
}

static bool describe_box(VgRun *x, const VgInst *in, const VgOperand *map, VgBulk *b,
                         uint32_t lane) {
    static const uint8_t spans[] = {0, 32, 64, 128};
    VgLanes at, buf;
    const VgOperand *coords = &map->parts[1];
    vg_addresses(x, map, &at);
    const VgMap *m = vg_map_at(x, at.u64[lane], lane);
    if (!m)
        return false;
    b->map = *m;
    b->bytes = box_bytes(m);
    uint32_t dim = in->mod[VgClass_Dim] - VgMod_D1 + 1u, row = m->box[0] * m->bytes;
    if (map->part_count != 2 || coords->part_count != dim || m->rank != dim) {
        (void)vg_fault(x, VG_FAILED, (int)lane, "%u coordinates for a tensor map of rank %u",
                       map->part_count == 2 ? coords->part_count : 0, m->rank);
        return false;
    }
    if (m->swizzle && row != spans[m->swizzle] && b->bytes != row) {
        (void)vg_fault(x, VG_FAILED, (int)lane,
                       "rows of %u bytes under a swizzle of %u are not run", row,
                       spans[m->swizzle]);
        return false;
    }
    for (uint32_t i = 0; i < dim; i++)
        b->at[i] = vg_read(x, &coords->parts[i], 4, &buf)->s32[lane];
    return true;
}

/* [shared], [map, {..}], [mbar] {, blocks} {, hint} or [map, {..}], [shared] {, hint}.
** .multicast writes to the same place, and completes on the same mbarrier, of several blocks. */
static bool issue_tensor(VgRun *x, const VgInst *in, uint32_t lane) {
    bool is_load = in->spaces[0] != VgMod_Global;
    VgBulk b = {.inst = in};
    VgLanes near, mbar, buf;
    vg_addresses(x, &in->ops[is_load ? 0 : 1], &near);
    if (!describe_box(x, in, &in->ops[is_load ? 1 : 0], &b, lane) ||
        !place(x, &b, near.u64[lane], 128, lane))
        return false;
    if (!is_load)
        return issue_store(x, &b, lane);
    vg_addresses(x, &in->ops[2], &mbar);
    if (!in->mod[VgClass_Multicast])
        return issue_load(x, &b, mbar.u64[lane], lane);
    uint32_t blocks = vg_read(x, &in->ops[3], 2, &buf)->u16[lane];
    if (blocks >> x->launch->cluster_ctas) {
        (void)vg_fault(x, VG_FAILED, (int)lane, "the mask %#x has blocks that the cluster of %u has not",
                       blocks, x->launch->cluster_ctas);
        return false;
    }
    for (uint32_t r = 0; r < x->launch->cluster_ctas; r++) {
        uint64_t at = (mbar.u64[lane] & ((1u << VG_RANK_SHIFT) - 1)) | (uint64_t)(r + 1)
                                                                           << VG_RANK_SHIFT;
        b.cta = &x->launch->ctas[r];
        if ((blocks >> r & 1) && !issue_load(x, &b, at, lane))
            return false;
    }
    return true;
}

VgOutcome vg_run_bulk_tensor(VgRun *x, const VgInst *in) {
    if (!vg_may_touch_global(x))
        return VgOutcome_Fail;
    VG_EACH_LANE(lane, x->mask) {
        if (!issue_tensor(x, in, lane))
            return VgOutcome_Fail;
    }
    return VgOutcome_Next;
}

/* [to], [from], bytes {, [mbar]} */
VgOutcome vg_run_bulk(VgRun *x, const VgInst *in) {
    bool is_load = in->spaces[0] != VgMod_Global;
    VgLanes to, from, mbar, buf;
    if (!vg_may_touch_global(x))
        return VgOutcome_Fail;
    vg_addresses(x, &in->ops[0], &to);
    vg_addresses(x, &in->ops[1], &from);
    const VgLanes *bytes = vg_read(x, &in->ops[2], 4, &buf);
    if (is_load)
        vg_addresses(x, &in->ops[3], &mbar);
    VG_EACH_LANE(lane, x->mask) {
        VgBulk b = {
            .inst = in, .is_plain = true, .bytes = bytes->u32[lane], .filled = bytes->u32[lane]};
        b.global = (is_load ? from : to).u64[lane];
        if (b.bytes % 16 || b.global % 16)
            return vg_fault(x, VG_MISALIGNED, (int)lane, "%u bytes at %#llx: not multiples of 16",
                            b.bytes, (unsigned long long)b.global);
        bool is_fine =
            place(x, &b, (is_load ? to : from).u64[lane], 16, lane) &&
            (is_load ? issue_load(x, &b, mbar.u64[lane], lane) : issue_store(x, &b, lane));
        if (!is_fine)
            return VgOutcome_Fail;
    }
    return VgOutcome_Next;
}

/* Nothing moves that a kernel could see; but what is asked for has to be there. */
VgOutcome vg_run_prefetch_bulk(VgRun *x, const VgInst *in) {
    VgLanes from, buf;
    if (!vg_may_touch_global(x))
        return VgOutcome_Fail;
    vg_addresses(x, &in->ops[0], &from);
    const VgLanes *bytes = vg_read(x, &in->ops[1], 4, &buf);
    VG_EACH_LANE(lane, x->mask) {
        uint64_t at = from.u64[lane], start, end;
        if (bytes->u32[lane] % 16 || at % 16)
            return vg_fault(x, VG_MISALIGNED, (int)lane, "%u bytes at %#llx: not multiples of 16",
                            bytes->u32[lane], (unsigned long long)at);
        if (!vg_memory_find(at, bytes->u32[lane], &start, &end))
            return vg_fault(x, VG_ILLEGAL_ADDRESS, (int)lane, "%u bytes at global address %#llx",
                            bytes->u32[lane], (unsigned long long)at);
    }
    return VgOutcome_Next;
}

/* ---- cp.async: a thread's own copies, in the generic proxy ---------------------------------- */

static bool issue_copy(VgRun *x, VgBulk *b, uint64_t shared, uint32_t lane) {
    uint32_t thread = vg_thread(x->warp, lane);
    VgIssued *list = &x->warp->cta->copies[thread];
    VgUnit unit = {vg_actor(x->warp->cta, VgActor_Copies, thread), list->committed + 1};
    if (!place(x, b, shared, b->bytes, lane))
        return false;
    VgTouch touch = {b->cta, b->shared, b->bytes, lane, VgAccess_Write, unit};
    return vg_check_shared(x, &touch) && keep(x, list, b);
}

/* [shared], [global], bytes {, bytes that are read: the rest is zeros} */
VgOutcome vg_run_cp_async(VgRun *x, const VgInst *in) {
    VgLanes to, from, buf;
    if (!vg_may_touch_global(x))
        return VgOutcome_Fail;
    vg_addresses(x, &in->ops[0], &to);
    vg_addresses(x, &in->ops[1], &from);
    uint32_t bytes = (uint32_t)in->ops[2].imm;
    if (bytes != 4 && bytes != 8 && bytes != 16)
        return vg_fault(x, VG_FAILED, -1, "cp.async copies 4, 8 or 16 bytes");
    bool has_filled = in->op_count > 3 && !(in->mod[VgClass_Hint] && in->op_count == 4);
    const VgLanes *filled = has_filled ? vg_read(x, &in->ops[3], 4, &buf) : NULL;
    VG_EACH_LANE(lane, x->mask) {
        VgBulk b = {.inst = in,
                    .is_plain = true,
                    .bytes = bytes,
                    .global = from.u64[lane],
                    .filled = filled ? filled->u32[lane] : bytes};
        if (b.filled > bytes || (b.filled && b.global % bytes))
            return vg_fault(x, VG_MISALIGNED, (int)lane, "%u of %u bytes at %#llx", b.filled, bytes,
                            (unsigned long long)b.global);
        if (!issue_copy(x, &b, to.u64[lane], lane))
            return VgOutcome_Fail;
    }
    return VgOutcome_Next;
}

/* The thread arrives when its copies so far are there: now. */
VgOutcome vg_run_cp_async_arrive(VgRun *x, const VgInst *in) {
    VgLanes at;
    VgCta *c;
    vg_addresses(x, &in->ops[0], &at);
    VG_EACH_LANE(lane, x->mask) {
        uint32_t thread = vg_thread(x->warp, lane);
        VgIssued *list = &x->warp->cta->copies[thread];
        VgMbar *m = vg_mbar_at(x, at.u64[lane], lane, &c);
        if (!m || !run_groups(x, list, ++list->committed))
            return VgOutcome_Fail;
        list->waited = list->committed;
        vg_acquire_actor(x, 1u << lane, vg_actor(x->warp->cta, VgActor_Copies, thread),
                         list->committed);
        m->pending += in->mod[VgClass_Noinc] ? 0 : 1;
        if (vg_mbar_arrive(x, m, lane, 1) == VgOutcome_Fail)
            return VgOutcome_Fail;
    }
    return VgOutcome_Next;
}

VgOutcome vg_run_fence_proxy(VgRun *x, const VgInst *in) {
    (void)in;
    vg_fence_proxy(x, x->mask);
    return VgOutcome_Next;
}

/* ---- Blocks ------------------------------------------------------------------------------- */

void vg_async_start(VgCta *c) {
    for (uint32_t i = 0; i < c->mbar_count; i++)
        vg_mbar_drop(c->launch, &c->mbars[i]);
    c->mbar_count = 0;
    for (uint32_t i = 0; i < c->warp_count * VG_LANES; i++) {
        vg_issued_drop(&c->stores[i]);
        vg_issued_drop(&c->copies[i]);
    }
    vg_groups_start(c);
}

void vg_async_free(VgCta *c) {
    if (c->stores && c->copies)
        vg_async_start(c);
    vg_groups_free(c);
    free(c->stores);
    free(c->copies);
}
