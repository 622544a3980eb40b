/* wgmma.mma_async: the four warps of a warpgroup issue an operation each for its registers, and
** it runs for all of them at once: when the first waits for it (with an odd seed: when the last has
** issued it). Until a warp has waited, its registers are in flight.
**
** Addresses of operands in shared memory follow the canonical layouts of the PTX ISA,
** "Asynchronous warpgroup-level matrix shared memory layout". */
#include <stdlib.h>

#include "spec/vgpu/async.h"

#define RING   256 /* operations that may be kept */
#define ROWS   64
#define MOST_N 256
#define MOST_K 32
#define WARPS  4

/* A matrix in shared memory, or the fragments of one in registers. */
typedef struct Descriptor {
    uint32_t start, leading, stride; /* bytes */
    uint32_t swizzle;                /* GpCu_MapSwizzle.. */
} Descriptor;

struct VgWgmma {
    const VgInst *inst;
    uint32_t issued; /* warps, as bits */
    VgFrame *frames[WARPS];
    uint64_t a, b; /* descriptors */
    bool adds;     /* scale-d */
    VgRun issuer;  /* the first warp, for reports */
};

/* ---- Operands in shared memory ------------------------------------------------------------ */

static bool decode(VgRun *x, uint64_t bits, Descriptor *d) {
    static const uint8_t swizzles[] = {GpCu_MapSwizzle0, GpCu_MapSwizzle128, GpCu_MapSwizzle64,
                                       GpCu_MapSwizzle32};
    d->start = (uint32_t)(bits & 0x3fff) << 4;
    d->leading = (uint32_t)(bits >> 16 & 0x3fff) << 4;
    d->stride = (uint32_t)(bits >> 32 & 0x3fff) << 4;
    d->swizzle = swizzles[bits >> 62];
    if (bits >> 49 & 7) {
        (void)vg_fault(x, VG_FAILED, -1, "a matrix descriptor with a base offset is not run");
        return false;
    }
    return true;
}

/* Byte `k` of row `row`, rows being contiguous along k. */
static uint32_t k_major(const Descriptor *d, uint32_t row, uint32_t k) {
    if (d->swizzle == GpCu_MapSwizzle0)
        return d->start + row / 8 * d->stride + row % 8 * 16 + k / 16 * d->leading + k % 16;
    uint32_t span = 16u << d->swizzle;
    return vg_swizzle(d->start + row / 8 * d->stride + row % 8 * span + k, d->swizzle);
}

/* 16-bit element (row, k), columns being contiguous along the rows. */
static uint32_t row_major(const Descriptor *d, uint32_t row, uint32_t k) {
    if (d->swizzle == GpCu_MapSwizzle0)
        return d->start + row / 8 * d->stride + row % 8 * 2 + k / 8 * d->leading + k % 8 * 16;
    uint32_t span = 16u << d->swizzle, block = span / 2;
    return vg_swizzle(d->start + row / block * d->leading + row % block * 2 + k % 8 * span +
                          k / 8 * d->stride,
                      d->swizzle);
}

typedef struct Operand {
    Descriptor at;
    VgType type;
    uint32_t rows, depth;
    bool is_transposed;
} Operand;

static uint32_t address_of(const Operand *o, uint32_t row, uint32_t k) {
    uint32_t bytes = vg_types[o->type].bytes;
    return o->is_transposed ? row_major(&o->at, row, k) : k_major(&o->at, row, k * bytes);
}

/* Is all of it in the block's memory, and over what wrote it? 16 bytes are always together. */
static bool check_operand(VgRun *x, const Operand *o, VgUnit unit) {
    VgCta *c = x->warp->cta;
    uint32_t together = 16 / vg_types[o->type].bytes;
    uint32_t row_step = o->is_transposed ? together : 1, k_step = o->is_transposed ? 1 : together;
    for (uint32_t row = 0; row < o->rows; row += row_step) {
        for (uint32_t k = 0; k < o->depth; k += k_step) {
            uint32_t at = address_of(o, row, k);
            if (at < VG_SHARED_START || at + 16 > c->shared_end) {
                (void)vg_fault(x, VG_ILLEGAL_ADDRESS, -1,
                               "the matrix reaches shared address %#x (row %u, k %u)", at, row, k);
                return false;
            }
            VgTouch touch = {
                c, at, 16, (uint32_t)vg_first_lane(x->mask), VgAccess_Read | VgAccess_Async, unit};
            if (!vg_check_shared(x, &touch))
                return false;
        }
    }
    return true;
}

static float number(VgType type, const uint8_t *at) {
    uint32_t wide = 0;
    uint64_t bits = 0;
    float f;
    if (type == VgType_F32 || type == VgType_TF32)
        memcpy(&wide, at, sizeof wide);
    else if (type == VgType_BF16)
        memcpy((uint8_t *)&wide + 2, at, 2);
    else {
        memcpy(&bits, at, vg_types[type].bytes);
        return (float)vg_to_double(type, bits);
    }
    wide &= type == VgType_TF32 ? ~UINT32_C(0x1fff) : UINT32_MAX;
    memcpy(&f, &wide, sizeof f);
    return f;
}

static void put_number(VgType type, uint8_t *to, float v) {
    if (type == VgType_F32) {
        memcpy(to, &v, sizeof v);
        return;
    }
    uint64_t bits = vg_from_double(type, (double)v);
    memcpy(to, &bits, vg_types[type].bytes);
}

/* to[k * rows + row] */
static void load_shared(const VgCta *c, const Operand *o, float *to) {
    for (uint32_t row = 0; row < o->rows; row++) {
        for (uint32_t k = 0; k < o->depth; k++)
            to[k * o->rows + row] = number(o->type, c->shared + address_of(o, row, k));
    }
}

/* ---- Operands in registers ---------------------------------------------------------------- */

static VgLanes *reg_of(const VgFrame *f, const VgOperand *o) {
    return (VgLanes *)(f->regs + o->at);
}

/* A from registers: as a fragment of mma.sync, 16 rows a warp. */
static void load_fragments(const VgWgmma *op, float *to) {
    const VgOperand *regs = &op->inst->ops[1];
    VgType type = op->inst->types[1];
    uint32_t bytes = vg_types[type].bytes, count = 4 / bytes;
    for (uint32_t w = 0; w < WARPS; w++) {
        for (uint32_t r = 0; r < 4; r++) {
            const uint8_t *v = reg_of(op->frames[w], &regs->parts[r])->u8;
            for (uint32_t e = 0; e < VG_LANES * count; e++) {
                uint32_t lane = e / count, i = e % count;
                uint32_t row = 16 * w + (lane >> 2) + 8 * (r & 1);
                uint32_t k = (lane & 3) * count + i + (r >> 1) * 4 * count;
                to[k * ROWS + row] = number(type, v + (size_t)e * bytes);
            }
        }
    }
}

typedef struct Result {
    float at[ROWS][MOST_N];
} Result;

/* Element i of a thread: pairs along a row, then the row 8 further down, then 8 columns on. */
static float *place_of(Result *d, uint32_t warp, uint32_t lane, uint32_t i) {
    uint32_t row = 16 * warp + (lane >> 2) + 8 * (i >> 1 & 1);
    return &d->at[row][8 * (i >> 2) + 2 * (lane & 3) + (i & 1)];
}

static void move_result(const VgWgmma *op, Result *d, bool is_load) {
    const VgOperand *regs = &op->inst->ops[0];
    VgType type = op->inst->types[0];
    uint32_t bytes = vg_types[type].bytes, count = 4u / bytes, regs_count = regs->part_count;
    for (uint32_t w = 0; w < WARPS * regs_count; w++) {
        uint32_t warp = w / regs_count, r = w % regs_count;
        uint8_t *v = reg_of(op->frames[warp], &regs->parts[r])->u8;
        for (uint32_t e = 0; e < VG_LANES * count; e++) {
            float *at = place_of(d, warp, e / count, r * count + e % count);
            if (is_load)
                *at = number(type, v + (size_t)e * bytes);
            else
                put_number(type, v + (size_t)e * bytes, *at);
        }
    }
}

/* ---- Running ------------------------------------------------------------------------------ */

static bool is_immediate(const VgInst *in, uint32_t i, uint64_t value) {
    return in->op_count > i && in->ops[i].imm == value;
}
static bool has_registers(const VgInst *in) { return in->ops[1].kind == VgOperand_Vector; }

/* Behind scale-d: imm-scale-a, imm-scale-b, then imm-trans-a (not with registers), imm-trans-b. */
static Operand operand(const VgInst *in, bool is_a) {
    uint32_t trans = is_a ? 6 : has_registers(in) ? 6 : 7;
    return (Operand){.type = in->types[is_a ? 1 : 2],
                     .rows = is_a ? ROWS : in->shape[1],
                     .depth = in->shape[2],
                     .is_transposed = !(is_a && has_registers(in)) && is_immediate(in, trans, 1)};
}

static void multiply(const VgInst *in, const float *a, const float *b, Result *d) {
    uint32_t n = in->shape[1], depth = in->shape[2];
    float sign =
        is_immediate(in, 4, (uint64_t)-1) != is_immediate(in, 5, (uint64_t)-1) ? -1.0f : 1.0f;
    for (uint32_t row = 0; row < ROWS; row++) {
        float *to = d->at[row];
        for (uint32_t k = 0; k < depth; k++) {
            float left = sign * a[k * ROWS + row];
            const float *right = b + (size_t)k * n;
            for (uint32_t j = 0; j < n; j++)
                to[j] += left * right[j];
        }
    }
}

static bool run(const VgCta *c, VgWgmma *op) {
    static _Thread_local float a[ROWS * MOST_K], b[MOST_N * MOST_K];
    static _Thread_local Result d;
    Operand left = operand(op->inst, true), right = operand(op->inst, false);
    if (has_registers(op->inst))
        load_fragments(op, a);
    else if (decode(&op->issuer, op->a, &left.at))
        load_shared(c, &left, a);
    if (!decode(&op->issuer, op->b, &right.at))
        return false;
    load_shared(c, &right, b);
    if (op->adds)
        move_result(op, &d, true);
    else
        memset(&d, 0, sizeof d);
    multiply(op->inst, a, b, &d);
    move_result(op, &d, false);
    return true;
}

/* Runs the operations below number `until`; false when a warp has not issued one of them yet. */
static bool run_until(VgCta *c, VgGroup *g, uint32_t until) {
    while (g->run < until) {
        VgWgmma *op = &g->ops[g->run % RING];
        if (g->run >= g->count || op->issued != (1u << WARPS) - 1)
            return false;
        if (!run(c, op))
            return false;
        g->run++;
    }
    return true;
}

/* ---- Issue -------------------------------------------------------------------------------- */

static VgGroup *group_of(const VgRun *x) { return &x->warp->cta->groups[x->warp->index / WARPS]; }

static VgOutcome check_aligned(VgRun *x) {
    if (x->warp->index / WARPS >= VG_MAX_GROUPS)
        return vg_fault(x, VG_FAILED, -1, "more than %d warpgroups", VG_MAX_GROUPS);
    return vg_together(x, VG_ALL);
}

static VgOutcome check_form(VgRun *x, const VgInst *in) {
    VgType type = in->types[1];
    uint32_t bytes = vg_types[type].bytes, words = 4u / vg_types[in->types[0]].bytes;
    bool is_form = in->shape[0] == ROWS && in->shape[1] % 8 == 0 && in->shape[1] <= MOST_N &&
                   in->shape[1] > 0 && in->shape[2] * bytes == 32;
    bool is_result = in->types[0] == VgType_F32 || in->types[0] == VgType_F16;
    bool is_type = type == VgType_BF16 || type == VgType_F16 || type == VgType_TF32 ||
                   type == VgType_E4M3 || type == VgType_E5M2;
    uint32_t most = bytes == 2 ? has_registers(in) ? 7 : 8 : 6;
    if (!is_form || !is_result || !is_type || in->op_count != most)
        return vg_fault(x, VG_FAILED, -1, "this form of wgmma is not run");
    if (in->ops[0].part_count * words != in->shape[1] / 2 ||
        (has_registers(in) && in->ops[1].part_count != 4))
        return vg_fault(x, VG_FAILED, -1, "a wgmma of this shape has other registers");
    return VgOutcome_Next;
}

/* Registers must not have been written since the last wgmma.fence, but by a wgmma. */
static VgOutcome check_fenced(VgRun *x, const VgOperand *regs) {
    VgFlight *flight = x->frame->flight;
    for (uint32_t i = 0; i < regs->part_count; i++) {
        const VgFlight *f = &flight[regs->parts[i].reg];
        if (f->written > x->warp->fenced)
            return vg_fault(
                x, VG_FAILED, -1,
                "register %u of the operand was written at PTX line %u, behind the last "
                "wgmma.fence",
                i, f->line);
    }
    return VgOutcome_Next;
}

static void set_flight(VgRun *x, const VgOperand *regs, bool is_result) {
    for (uint32_t i = 0; i < regs->part_count; i++) {
        VgFlight *f = &x->frame->flight[regs->parts[i].reg];
        *(is_result ? &f->result : &f->operand) = x->warp->wgmma_groups + 1;
    }
}

static VgOutcome check_issue(VgRun *x, const VgInst *in) {
    VgOutcome aligned = check_aligned(x);
    if (aligned != VgOutcome_Next)
        return aligned;
    if (check_form(x, in) == VgOutcome_Fail)
        return VgOutcome_Fail;
    if (!x->warp->fenced)
        return vg_fault(x, VG_FAILED, -1, "no wgmma.fence before the first wgmma");
    if (check_fenced(x, &in->ops[0]) == VgOutcome_Fail)
        return VgOutcome_Fail;
    return has_registers(in) ? check_fenced(x, &in->ops[1]) : VgOutcome_Next;
}

/* The operands in shared memory, once for the warpgroup. */
static bool check_memory(VgRun *x, const VgInst *in, const VgWgmma *op) {
    uint32_t number = x->warp->index / WARPS;
    VgUnit unit = {vg_actor(x->warp->cta, VgActor_Group, number), x->warp->wgmma_groups + 1};
    Operand left = operand(in, true), right = operand(in, false);
    if (!has_registers(in) && (!decode(x, op->a, &left.at) || !check_operand(x, &left, unit)))
        return false;
    return decode(x, op->b, &right.at) && check_operand(x, &right, unit);
}

VgOutcome vg_run_wgmma(VgRun *x, const VgInst *in) {
    VgGroup *g = group_of(x);
    VgWarp *w = x->warp;
    uint64_t a = 0, b;
    VgOutcome outcome = check_issue(x, in);
    if (outcome != VgOutcome_Next)
        return outcome;
    if (!vg_uniform(x, &in->ops[2], 8, &b) ||
        (!has_registers(in) && !vg_uniform(x, &in->ops[1], 8, &a)))
        return VgOutcome_Fail;
    if (w->wgmma_issued == g->count) {
        if (g->count - g->run >= RING)
            return vg_fault(x, VG_FAILED, -1, "more than %d wgmma in flight", RING);
        g->ops[g->count++ % RING] = (VgWgmma){
            .inst = in, .a = a, .b = b, .issuer = *x, .adds = vg_read_pred(x, &in->ops[3]) != 0};
    }
    VgWgmma *op = &g->ops[w->wgmma_issued++ % RING];
    if (op->inst != in || op->a != a || op->b != b)
        return vg_fault(x, VG_FAILED, -1,
                        "the warps of the warpgroup issue different wgmma: another "
                        "issued that of PTX line %u",
                        op->inst->line);
    op->frames[w->index % WARPS] = x->frame;
    op->issued |= 1u << w->index % WARPS;
    set_flight(x, &in->ops[0], true);
    if (has_registers(in))
        set_flight(x, &in->ops[1], false);
    x->launch->progress++;
    if (!check_memory(x, in, op))
        return VgOutcome_Fail;
    bool is_last = op->issued == (1u << WARPS) - 1;
    if (is_last && x->launch->is_early)
        (void)run_until(w->cta, g, w->wgmma_issued);
    return x->launch->result ? VgOutcome_Fail : VgOutcome_Next;
}

VgOutcome vg_run_wgmma_fence(VgRun *x, const VgInst *in) {
    (void)in;
    VgOutcome aligned = check_aligned(x);
    if (aligned == VgOutcome_Next)
        x->warp->fenced = x->launch->steps;
    return aligned;
}

VgOutcome vg_run_wgmma_commit(VgRun *x, const VgInst *in) {
    (void)in;
    VgWarp *w = x->warp;
    VgOutcome aligned = check_aligned(x);
    if (aligned == VgOutcome_Next)
        w->group_ends[w->wgmma_groups++ % GP_COUNT(w->group_ends)] = w->wgmma_issued;
    return aligned;
}

/* All but the last n groups are over. */
VgOutcome vg_run_wgmma_wait(VgRun *x, const VgInst *in) {
    VgWarp *w = x->warp;
    uint64_t left = in->ops[0].imm;
    VgOutcome aligned = check_aligned(x);
    if (aligned != VgOutcome_Next)
        return aligned;
    uint32_t until = w->wgmma_groups > left ? w->wgmma_groups - (uint32_t)left : 0;
    if (until <= w->wgmma_waited)
        return VgOutcome_Next;
    if (w->wgmma_groups - until >= GP_COUNT(w->group_ends))
        return vg_fault(x, VG_FAILED, -1, "too many groups in flight");
    if (!run_until(w->cta, group_of(x), w->group_ends[(until - 1) % GP_COUNT(w->group_ends)]))
        return x->launch->result ? VgOutcome_Fail : VgOutcome_Wait;
    w->wgmma_waited = until;
    x->launch->progress++;
    vg_acquire_actor(x, x->mask, vg_actor(w->cta, VgActor_Group, w->index / WARPS), until);
    return VgOutcome_Next;
}

/* ---- Registers in flight ------------------------------------------------------------------ */

static VgOutcome touch(VgRun *x, const VgInst *in, const VgOperand *o, bool is_write) {
    if (o->kind == VgOperand_Vector || o->kind == VgOperand_Address) {
        for (uint32_t i = 0; i < o->part_count; i++) {
            VgOutcome outcome = touch(x, in, &o->parts[i], is_write && o->kind == VgOperand_Vector);
            if (outcome == VgOutcome_Fail)
                return outcome;
        }
        return VgOutcome_Next;
    }
    if (o->kind != VgOperand_Reg)
        return VgOutcome_Next;
    VgFlight *f = &x->frame->flight[o->reg];
    bool is_busy =
        f->result > x->warp->wgmma_waited || (is_write && f->operand > x->warp->wgmma_waited);
    if (is_busy)
        return vg_fault(x, VG_FAILED, -1,
                        "%s a register that a wgmma has in flight: no wgmma.wait_group "
                        "in between",
                        is_write ? "writes" : "reads");
    if (is_write) {
        f->written = x->launch->steps;
        f->line = in->line;
    }
    return VgOutcome_Next;
}

VgOutcome vg_check_flight(VgRun *x, const VgInst *in) {
    const char *shape = vg_insts[in->id].shape;
    for (uint32_t i = 0; i < in->op_count; i++) {
        bool is_write = i == 0 && shape[0] != 's' && shape[0] != 'm';
        if (touch(x, in, &in->ops[i], is_write) == VgOutcome_Fail)
            return VgOutcome_Fail;
    }
    return VgOutcome_Next;
}

/* ---- Blocks ------------------------------------------------------------------------------- */

void vg_groups_start(VgCta *c) {
    for (uint32_t i = 0; i < VG_MAX_GROUPS; i++) {
        c->groups[i].first = c->groups[i].count = c->groups[i].run = 0;
        if (!c->groups[i].ops && c->launch->func->has_wgmma)
            c->groups[i].ops = calloc(RING, sizeof *c->groups[i].ops);
    }
    for (uint32_t i = 0; i < c->warp_count; i++) {
        VgWarp *w = &c->warps[i];
        w->wgmma_issued = w->wgmma_groups = w->wgmma_waited = 0;
        w->fenced = 0;
        if (w->root && w->root->flight)
            memset(w->root->flight, 0, w->root->func->reg_count * sizeof *w->root->flight);
    }
}

void vg_groups_free(VgCta *c) {
    for (uint32_t i = 0; i < VG_MAX_GROUPS; i++)
        free(c->groups[i].ops);
}
