/* mma.sync on fragments in registers, and ldmatrix and stmatrix, which bring them from and to
** shared memory (PTX ISA, "Warp-level matrix instructions").
**
** Products are summed in double and rounded once: a GPU's own order is not documented. */
#include <math.h>

#include "spec/vgpu/vgpu.h"

#define MAX_K 64

typedef struct Tile {
    double a[16][MAX_K], b[MAX_K][8], c[16][8];
} Tile;

static uint64_t part_bits(VgRun *x, const VgOperand *o, uint32_t i, uint32_t bytes, uint32_t lane) {
    VgLanes buf;
    const VgOperand *part = o->kind == VgOperand_Vector ? &o->parts[i] : o;
    return vg_lane(vg_read(x, part, bytes, &buf), bytes, lane);
}

/* A row has `count` elements a thread in each register; A's registers go down by 8 rows first. */
static void load_reg(VgRun *x, const VgInst *in, bool is_a, uint32_t r, Tile *t) {
    VgType type = in->types[is_a ? 1 : 2];
    uint32_t bytes = vg_types[type].bytes, reg = bytes == 8 ? 8 : 4, count = reg / bytes;
    bool is_tall = is_a && in->shape[0] == 16;
    uint32_t down = is_tall ? 8 * (r & 1) : 0, step = is_tall ? r >> 1 : r;
    for (uint32_t lane = 0; lane < VG_LANES; lane++) {
        uint32_t group = lane >> 2, thread = lane & 3;
        uint64_t bits = part_bits(x, &in->ops[is_a ? 1 : 2], r, reg, lane);
        for (uint32_t i = 0; i < count; i++) {
            uint32_t k = thread * count + i + step * 4 * count;
            double v = vg_to_double(type, count == 1 ? bits : bits >> (8 * bytes * i));
            if (is_a)
                t->a[group + down][k] = v;
            else
                t->b[k][group] = v;
        }
    }
}

static void load_operand(VgRun *x, const VgInst *in, bool is_a, Tile *t) {
    const VgOperand *o = &in->ops[is_a ? 1 : 2];
    uint32_t regs = o->kind == VgOperand_Vector ? o->part_count : 1;
    for (uint32_t r = 0; r < regs; r++)
        load_reg(x, in, is_a, r, t);
}

/* Element i of a thread in C and D: pairs of a row, then the row 8 further down. */
static void move_result(VgRun *x, const VgOperand *o, VgType type, Tile *t, bool is_load) {
    uint32_t bytes = vg_types[type].bytes, reg = bytes == 8 ? 8 : 4, count = reg / bytes;
    VgType whole = reg == 8 ? VgType_B64 : VgType_B32;
    for (uint32_t r = 0; r < o->part_count; r++) {
        VgLanes out = {.u64 = {0}};
        for (uint32_t lane = 0; lane < VG_LANES; lane++) {
            uint64_t bits = is_load ? part_bits(x, o, r, reg, lane) : 0;
            for (uint32_t i = 0; i < count; i++) {
                uint32_t e = r * count + i;
                double *at = &t->c[(lane >> 2) + 8 * (e >> 1)][2 * (lane & 3) + (e & 1)];
                if (is_load)
                    *at = vg_to_double(type, count == 1 ? bits : bits >> (8 * bytes * i));
                else
                    bits |= vg_from_double(type, *at) << (8 * bytes * i);
            }
            vg_set_lane(&out, reg, lane, bits);
        }
        if (!is_load)
            vg_write(x, &o->parts[r], whole, &out);
    }
}

static double finish(const VgInst *in, double v) {
    if (in->types[0] != VgType_S32)
        return v;
    if (in->mod[VgClass_Sat])
        return fmin(fmax(v, -2147483648.0), 2147483647.0);
    return (double)(int32_t)(uint32_t)(int64_t)v;
}

VgOutcome vg_run_mma(VgRun *x, const VgInst *in) {
    Tile t = {0};
    uint32_t m = in->shape[0], n = in->shape[1], depth = in->shape[2];
    if ((m != 16 && m != 8) || n != 8 || depth > MAX_K || (m == 16 && in->types[0] == VgType_F64) ||
        (m == 8 && vg_types[in->types[1]].bytes == 2))
        return vg_fault(x, VG_FAILED, -1, "this shape of mma.sync is not run");
    VgOutcome together = vg_together(x, VG_ALL);
    if (together != VgOutcome_Next)
        return together;
    load_operand(x, in, true, &t);
    load_operand(x, in, false, &t);
    move_result(x, &in->ops[3], in->types[3], &t, true);
    for (uint32_t i = 0; i < m; i++) {
        for (uint32_t j = 0; j < n; j++) {
            double sum = 0;
            for (uint32_t k = 0; k < depth; k++)
                sum += t.a[i][k] * t.b[k][j];
            t.c[i][j] = finish(in, t.c[i][j] + sum);
        }
    }
    move_result(x, &in->ops[0], in->types[0], &t, false);
    return VgOutcome_Next;
}

/* ---- Matrices of 8 x 8 16-bit elements ---------------------------------------------------- */

typedef struct Matrices {
    uint32_t count;
    bool is_load, is_transposed;
    uint8_t space;
    VgLanes at; /* lane 8 i + r has the address of row r of matrix i */
} Matrices;

static bool reach_rows(VgRun *x, const Matrices *m, uint32_t matrix, uint8_t **rows) {
    for (uint32_t i = 0; i < 8; i++) {
        uint32_t lane = 8 * matrix + i;
        rows[i] = vg_reach(x, m->space, m->at.u64[lane], 16, lane,
                           m->is_load ? VgAccess_Read : VgAccess_Write);
        if (!rows[i])
            return false;
    }
    return true;
}

/* A thread has two neighbours of a row (of a column, transposed): element e of thread e / 2. */
static void move_matrix(const Matrices *m, uint8_t **rows, uint32_t *lanes) {
    for (uint32_t e = 0; e < 2 * VG_LANES; e++) {
        uint32_t line = e >> 3, column = e & 7;
        uint8_t *memory =
            m->is_transposed ? rows[column] + 2 * (size_t)line : rows[line] + 2 * (size_t)column;
        uint8_t *reg = (uint8_t *)lanes + 2 * (size_t)e;
        memcpy(m->is_load ? reg : memory, m->is_load ? memory : reg, 2);
    }
}

static VgOutcome move_matrices(VgRun *x, const VgInst *in, const VgOperand *regs,
                               const VgOperand *address, bool is_load) {
    uint8_t vec = in->mod[VgClass_Vec];
    Matrices m = {.count = vec == VgMod_X4   ? 4
                           : vec == VgMod_X2 ? 2
                                             : 1,
                  .is_load = is_load,
                  .is_transposed = in->mod[VgClass_Trans] != 0,
                  .space = in->spaces[0]};
    VgOutcome together = vg_together(x, VG_ALL);
    if (together != VgOutcome_Next)
        return together;
    vg_addresses(x, address, &m.at);
    for (uint32_t i = 0; i < m.count; i++) {
        const VgOperand *reg = regs->kind == VgOperand_Vector ? &regs->parts[i] : regs;
        uint8_t *rows[8];
        VgLanes buf, v;
        if (!reach_rows(x, &m, i, rows))
            return VgOutcome_Fail;
        if (!is_load)
            v = *vg_read(x, reg, 4, &buf);
        move_matrix(&m, rows, v.u32);
        if (is_load)
            vg_write(x, reg, VgType_B32, &v);
    }
    return VgOutcome_Next;
}

VgOutcome vg_run_ldmatrix(VgRun *x, const VgInst *in) {
    return move_matrices(x, in, &in->ops[0], &in->ops[1], true);
}

VgOutcome vg_run_stmatrix(VgRun *x, const VgInst *in) {
    return move_matrices(x, in, &in->ops[1], &in->ops[0], false);
}
