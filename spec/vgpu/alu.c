/* Arithmetic: the rows of alu.def as functions over 32 lanes, and the instruction that wraps
** them in rounding, flushing and saturation.
**
** Compiled with -frounding-math and -fwrapv: the directed roundings set the host's, and integers
** wrap. 16-bit floats are computed in f32 and rounded once more, which is exact for + - * / sqrt
** (24 >= 2 * 11 + 2 bits); fma goes through f64 rounded to odd. */
#include <fenv.h>
#include <math.h>

#include "core/elem.h"
#include "spec/vgpu/vgpu.h"

__extension__ typedef __int128 Int128;
__extension__ typedef unsigned __int128 Uint128;

static uint64_t funnel(uint32_t low, uint32_t high) { return (uint64_t)high << 32 | low; }

static uint64_t extract_bits(uint64_t a, uint32_t bits, bool is_signed, uint32_t at,
                             uint32_t count) {
    uint64_t width = bits == 64 ? a : a & ((UINT64_C(1) << bits) - 1);
    uint32_t last = GP_MIN(at + count - 1, bits - 1);
    bool sign = is_signed && count > 0 && (width >> last & 1);
    uint64_t field = at < bits ? width >> at : 0;
    uint32_t kept = at < bits ? GP_MIN(count, bits - at) : 0;
    uint64_t mask = kept >= 64 ? UINT64_MAX : (UINT64_C(1) << kept) - 1;
    return count == 0 ? 0 : (field & mask) | (sign ? ~mask : 0);
}

static uint64_t insert_bits(uint64_t from, uint64_t into, uint32_t bits, uint32_t at,
                            uint32_t count) {
    if (at >= bits || count == 0)
        return into;
    uint32_t kept = GP_MIN(count, bits - at);
    uint64_t mask = (kept >= 64 ? UINT64_MAX : (UINT64_C(1) << kept) - 1) << at;
    return (into & ~mask) | (from << at & mask);
}

static uint64_t reverse_bits(uint64_t a) {
    uint64_t out = 0;
    for (int i = 0; i < 64; i++)
        out |= (a >> i & 1) << (63 - i);
    return out;
}

static uint32_t permute_bytes(uint64_t bytes, uint32_t selector) {
    uint32_t out = 0;
    for (uint32_t i = 0; i < 4; i++) {
        uint32_t pick = selector >> (4 * i) & 15;
        uint32_t byte = (uint32_t)(bytes >> (8 * (pick & 7))) & 255;
        if (pick & 8)
            byte = byte & 128 ? 255 : 0;
        out |= byte << (8 * i);
    }
    return out;
}

static uint32_t look_up_bits(uint32_t a, uint32_t b, uint32_t c, uint32_t table) {
    uint32_t out = 0;
    for (uint32_t i = 0; i < 8; i++) {
        if (table >> i & 1)
            out |= (i & 4 ? a : ~a) & (i & 2 ? b : ~b) & (i & 1 ? c : ~c);
    }
    return out;
}

static int highest_bit(int64_t a) { return a ? 63 - __builtin_clzll((unsigned long long)a) : -1; }

/* As far off as PTX allows, relative to the value, but no farther than an H200 is (docs/numerics.md). */
static float short_tanh(float a) {
    float t = tanhf(a), off = fminf(fabsf(t) * 0x1p-11f, 1.113e-5f);
    return fabsf(a) < 0x1p-12f ? a : t - copysignf(off, t);
}

/* -0 is below 0; a number is preferred to a NaN. */
static float smaller_f32(float a, float b) {
    if (a != a || b != b)
        return a != a ? b : a;
    return a == b ? (signbit(a) ? a : b) : a < b ? a : b;
}
static double smaller_f64(double a, double b) {
    if (a != a || b != b)
        return a != a ? b : a;
    return a == b ? (signbit(a) ? a : b) : a < b ? a : b;
}

/* ---- The rows as functions ---------------------------------------------------------------- */

#define OUT_T           T
#define OUT_W           WT
#define OUT_U           uint32_t
#define SOURCE(type, i) ((const type *)from[i])[lane]
#define SOURCES_T       T a = SOURCE(T, 0);
#define SOURCES_TT      SOURCES_T T b = SOURCE(T, 1);
#define SOURCES_TU      SOURCES_T uint32_t b = SOURCE(uint32_t, 1);
#define SOURCES_TTT     SOURCES_TT T c = SOURCE(T, 2);
#define SOURCES_TTW     SOURCES_TT WT c = SOURCE(WT, 2);
#define SOURCES_TTU     SOURCES_TT uint32_t c = SOURCE(uint32_t, 2);
#define SOURCES_TUU     SOURCES_TU uint32_t c = SOURCE(uint32_t, 2);
#define SOURCES_TTUU    SOURCES_TTU uint32_t d = SOURCE(uint32_t, 3);
#define SOURCES_TTTU    SOURCES_TTT uint32_t d = SOURCE(uint32_t, 3);

/* One function: T, UT, WT and XT are the lane's types. */
#define FN(id, type, t, ut, wt, xt, out, sources, ...)                                             \
    static void id##_##type(void *to, const VgLanes *const *from) {                                \
        typedef t T;                                                                               \
        typedef ut UT;                                                                             \
        typedef wt WT;                                                                             \
        typedef xt XT;                                                                             \
        (void)sizeof(UT);                                                                          \
        (void)sizeof(WT);                                                                          \
        (void)sizeof(XT);                                                                          \
        for (uint32_t lane = 0; lane < VG_LANES; lane++) {                                         \
            SOURCES_##sources((OUT_##out *)to)[lane] = (OUT_##out)(__VA_ARGS__);                   \
        }                                                                                          \
    }

/* The types of a group: T, UT, WT and XT. */
#define ON_U16(id, ...)  FN(id, U16, uint16_t, uint16_t, uint32_t, Uint128, __VA_ARGS__)
#define ON_U32(id, ...)  FN(id, U32, uint32_t, uint32_t, uint64_t, Uint128, __VA_ARGS__)
#define ON_U64(id, ...)  FN(id, U64, uint64_t, uint64_t, uint64_t, Uint128, __VA_ARGS__)
#define ON_S16(id, ...)  FN(id, S16, int16_t, uint16_t, int32_t, Int128, __VA_ARGS__)
#define ON_S32(id, ...)  FN(id, S32, int32_t, uint32_t, int64_t, Int128, __VA_ARGS__)
#define ON_S64(id, ...)  FN(id, S64, int64_t, uint64_t, int64_t, Int128, __VA_ARGS__)
#define ON_B16(id, ...)  FN(id, B16, uint16_t, uint16_t, uint32_t, Uint128, __VA_ARGS__)
#define ON_B32(id, ...)  FN(id, B32, uint32_t, uint32_t, uint64_t, Uint128, __VA_ARGS__)
#define ON_B64(id, ...)  FN(id, B64, uint64_t, uint64_t, uint64_t, Uint128, __VA_ARGS__)
#define GROUP_U(id, ...) ON_U16(id, __VA_ARGS__) ON_U32(id, __VA_ARGS__) ON_U64(id, __VA_ARGS__)
#define GROUP_S(id, ...) ON_S16(id, __VA_ARGS__) ON_S32(id, __VA_ARGS__) ON_S64(id, __VA_ARGS__)
#define GROUP_B(id, ...) ON_B16(id, __VA_ARGS__) ON_B32(id, __VA_ARGS__) ON_B64(id, __VA_ARGS__)
#define GROUP_I(id, ...) GROUP_U(id, __VA_ARGS__) GROUP_S(id, __VA_ARGS__)
#define GROUP_N(id, ...)                                                                           \
    ON_U16(id, __VA_ARGS__)                                                                        \
    ON_S16(id, __VA_ARGS__) ON_U32(id, __VA_ARGS__) ON_S32(id, __VA_ARGS__)
#define GROUP_W(id, ...)   ON_B32(id, __VA_ARGS__) ON_U32(id, __VA_ARGS__)
#define GROUP_F32(id, ...) FN(id, F32, float, float, double, double, __VA_ARGS__)
#define GROUP_F64(id, ...) FN(id, F64, double, double, double, double, __VA_ARGS__)

#define VG_ALU(id, group, ...) GROUP_##group(id, __VA_ARGS__)
#include "spec/vgpu/alu.def"

#undef FN
#define SIZE_T(t, wt) sizeof(t)
#define SIZE_W(t, wt) sizeof(wt)
#define SIZE_U(t, wt) 4
#define SIZES_T(t, wt)                                                                             \
    { sizeof(t) }
#define SIZES_TT(t, wt)                                                                            \
    { sizeof(t), sizeof(t) }
#define SIZES_TU(t, wt)                                                                            \
    { sizeof(t), 4 }
#define SIZES_TTT(t, wt)                                                                           \
    { sizeof(t), sizeof(t), sizeof(t) }
#define SIZES_TTW(t, wt)                                                                           \
    { sizeof(t), sizeof(t), sizeof(wt) }
#define SIZES_TTU(t, wt)                                                                           \
    { sizeof(t), sizeof(t), 4 }
#define SIZES_TUU(t, wt)                                                                           \
    { sizeof(t), 4, 4 }
#define SIZES_TTUU(t, wt)                                                                          \
    { sizeof(t), sizeof(t), 4, 4 }
#define SIZES_TTTU(t, wt)                                                                          \
    { sizeof(t), sizeof(t), sizeof(t), 4 }
#define FN(id, type, t, ut, wt, xt, out, sources, ...)                                             \
    [VgInst_##id][VgType_##type] = {id##_##type, SIZE_##out(t, wt), SIZES_##sources(t, wt)},
static const VgAlu alus[VgInst_count][VgType_count] = {
#define VG_ALU(id, group, ...) GROUP_##group(id, __VA_ARGS__)
#include "spec/vgpu/alu.def"
};

static bool is_half(VgType t) {
    return t == VgType_F16 || t == VgType_BF16 || t == VgType_F16x2 || t == VgType_BF16x2;
}

const VgAlu *vg_alu_find(VgInstId id, VgType type) {
    static const VgAlu mask;
    if (type == VgType_Pred) {
        bool is_logic = id == VgInst_And || id == VgInst_Or || id == VgInst_Xor || id == VgInst_Not;
        return is_logic ? &mask : NULL;
    }
    const VgAlu *alu = &alus[id][is_half(type) ? VgType_F32 : type];
    return alu->fn ? alu : NULL;
}

/* ---- Rounding ----------------------------------------------------------------------------- */

static int host_rounding(uint8_t mod) {
    return mod == VgMod_Rz   ? FE_TOWARDZERO
           : mod == VgMod_Rm ? FE_DOWNWARD
           : mod == VgMod_Rp ? FE_UPWARD
                             : FE_TONEAREST;
}

static void flush(VgLanes *v) {
    for (int i = 0; i < VG_LANES; i++) {
        if ((v->u32[i] & 0x7f800000) == 0)
            v->u32[i] &= 0x80000000;
    }
}

static void finish_f32(const VgInst *in, VgLanes *v) {
    bool moves_bits = in->id == VgInst_Abs || in->id == VgInst_Neg || in->id == VgInst_Copysign;
    if (in->mod[VgClass_Ftz] == VgMod_Ftz)
        flush(v);
    if (in->mod[VgClass_Sat]) {
        for (int i = 0; i < VG_LANES; i++)
            v->f32[i] = v->f32[i] > 0.0f ? GP_MIN(v->f32[i], 1.0f) : 0.0f;
    }
    for (int i = 0; i < VG_LANES && !moves_bits; i++) {
        if (v->f32[i] != v->f32[i])
            v->u32[i] = 0x7fffffff;
    }
    if (in->mod[VgClass_Relu]) {
        for (int i = 0; i < VG_LANES; i++)
            v->f32[i] = v->f32[i] < 0.0f ? 0.0f : v->f32[i];
    }
}

/* `.NaN`: a NaN is preferred to a number. */
static void prefer_nan(const VgLanes *const *from, VgLanes *v) {
    for (int i = 0; i < VG_LANES; i++) {
        if (from[0]->f32[i] != from[0]->f32[i] || from[1]->f32[i] != from[1]->f32[i])
            v->u32[i] = 0x7fffffff;
    }
}

/* ---- 16-bit floats ------------------------------------------------------------------------ */

/* a * b + c with the bits below a double's in its last: rounding on to fewer bits is then right
** (Boldo and Melquiond, "Emulation of FMA and correctly rounded sums"). The product is exact. */
static double fma_to_odd(double a, double b, double c) {
    double product = a * b, sum = product + c;
    double back = sum - product;
    double error = (product - (sum - back)) + (c - back);
    uint64_t bits;
    memcpy(&bits, &sum, sizeof bits);
    if (error != 0 && isfinite(sum) && !(bits & 1)) {
        bool is_away = (error > 0) == (sum > 0);
        bits += is_away ? 1 : (uint64_t)-1;
        memcpy(&sum, &bits, sizeof bits);
    }
    return sum;
}

static float widen(bool is_bf16, uint16_t bits) {
    return is_bf16 ? gp_f32_from_bf16(bits) : gp_f32_from_f16(bits);
}
static uint16_t narrow(bool is_bf16, double v) {
    if (v != v)
        return 0x7fff;
    return is_bf16 ? gp_bf16_from_f64(v) : gp_f16_from_f64(v);
}

/* The halves at `shift` of each lane. */
static void run_halves(const VgInst *in, const VgLanes *const *from, uint32_t bytes, uint32_t shift,
                       VgLanes *out) {
    bool is_bf16 = in->types[0] == VgType_BF16 || in->types[0] == VgType_BF16x2;
    VgLanes wide[3] = {0}, result;
    const VgLanes *sources[3] = {&wide[0], &wide[1], &wide[2]};
    uint32_t count = in->op_count - 1u;
    for (uint32_t i = 0; i < count; i++) {
        for (uint32_t lane = 0; lane < VG_LANES; lane++)
            wide[i].f32[lane] = widen(is_bf16, (uint16_t)(vg_lane(from[i], bytes, lane) >> shift));
    }
    in->alu->fn(&result, sources);
    if (in->mod[VgClass_Nan])
        prefer_nan(sources, &result);
    finish_f32(in, &result);
    for (uint32_t lane = 0; lane < VG_LANES; lane++) {
        double v = (double)result.f32[lane];
        if (in->id == VgInst_Fma) {
            v = fma_to_odd((double)wide[0].f32[lane], (double)wide[1].f32[lane],
                           (double)wide[2].f32[lane]);
            v = in->mod[VgClass_Relu] && v < 0 ? 0 : v;
        }
        uint64_t kept = shift ? vg_lane(out, bytes, lane) : 0;
        vg_set_lane(out, bytes, lane, kept | (uint64_t)narrow(is_bf16, v) << shift);
    }
}

static void run_half(VgRun *x, const VgInst *in) {
    VgLanes buf[3], out;
    const VgLanes *from[3] = {NULL, NULL, NULL};
    uint32_t bytes = vg_types[in->types[0]].bytes;
    for (uint32_t i = 1; i < in->op_count; i++)
        from[i - 1] = vg_read(x, &in->ops[i], bytes, &buf[i - 1]);
    run_halves(in, from, bytes, 0, &out);
    if (bytes == 4)
        run_halves(in, from, bytes, 16, &out);
    vg_write(x, &in->ops[0], in->types[0], &out);
}

/* ---- The instruction ---------------------------------------------------------------------- */

static void run_mask(VgRun *x, const VgInst *in) {
    uint32_t a = vg_read_pred(x, &in->ops[1]);
    uint32_t b = in->op_count > 2 ? vg_read_pred(x, &in->ops[2]) : 0;
    uint32_t v = in->id == VgInst_And   ? a & b
                 : in->id == VgInst_Or  ? a | b
                 : in->id == VgInst_Xor ? a ^ b
                                        : ~a;
    vg_write_pred(x, &in->ops[0], v);
}

static VgType result_type(const VgInst *in) {
    if (in->alu->out == vg_types[in->types[0]].bytes)
        return in->types[0];
    return in->alu->out == 8 ? VgType_U64 : VgType_U32;
}

static const VgLanes *read_source(VgRun *x, const VgInst *in, uint32_t i, VgLanes *buf) {
    bool is_wide = in->type_count == 1 || i + 2 == in->op_count;
    const VgLanes *from = vg_read(x, &in->ops[i + 1], is_wide ? in->alu->sources[i] : 2, buf);
    VgLanes wide;
    if (is_wide)
        return from;
    for (uint32_t lane = 0; lane < VG_LANES; lane++)
        wide.f32[lane] = widen(in->types[1] == VgType_BF16, (uint16_t)vg_lane(from, 2, lane));
    *buf = wide;
    return buf;
}

VgOutcome vg_run_alu(VgRun *x, const VgInst *in) {
    if (in->types[0] == VgType_Pred) {
        run_mask(x, in);
        return VgOutcome_Next;
    }
    if (is_half(in->types[0])) {
        run_half(x, in);
        return VgOutcome_Next;
    }
    VgLanes buf[4], out;
    const VgLanes *from[4];
    uint32_t count = in->op_count - 1u;
    bool flushes = in->mod[VgClass_Ftz] == VgMod_Ftz;
    for (uint32_t i = 0; i < count; i++) {
        from[i] = read_source(x, in, i, &buf[i]);
        if (flushes) {
            buf[i] = *from[i];
            flush(&buf[i]);
            from[i] = &buf[i];
        }
    }
    int rounding = host_rounding(in->mod[VgClass_Round]);
    if (rounding != FE_TONEAREST)
        (void)fesetround(rounding);
    in->alu->fn(&out, from);
    if (rounding != FE_TONEAREST)
        (void)fesetround(FE_TONEAREST);
    if (in->types[0] == VgType_F32) {
        if (in->mod[VgClass_Nan])
            prefer_nan(from, &out);
        finish_f32(in, &out);
    }
    for (int i = 0; in->types[0] == VgType_S32 && in->mod[VgClass_Relu] && i < VG_LANES; i++)
        out.s32[i] = GP_MAX(out.s32[i], 0);
    vg_write(x, &in->ops[0], result_type(in), &out);
    return VgOutcome_Next;
}

/* ---- Carries ------------------------------------------------------------------------------ */

/* What the words of a name ask for. */
typedef struct Carry {
    bool takes, sets, is_sub, is_mad, is_hi;
} Carry;
static const Carry carries[VgInst_count] = {
    [VgInst_AddCc] = {.sets = true},
    [VgInst_Addc] = {.takes = true},
    [VgInst_AddcCc] = {.takes = true, .sets = true},
    [VgInst_SubCc] = {.sets = true, .is_sub = true},
    [VgInst_Subc] = {.takes = true, .is_sub = true},
    [VgInst_SubcCc] = {.takes = true, .sets = true, .is_sub = true},
    [VgInst_MadLoCc] = {.sets = true, .is_mad = true},
    [VgInst_MadHiCc] = {.sets = true, .is_mad = true, .is_hi = true},
    [VgInst_MadcLo] = {.takes = true, .is_mad = true},
    [VgInst_MadcHi] = {.takes = true, .is_mad = true, .is_hi = true},
    [VgInst_MadcLoCc] = {.takes = true, .sets = true, .is_mad = true},
    [VgInst_MadcHiCc] = {.takes = true, .sets = true, .is_mad = true, .is_hi = true},
};

static Uint128 product(VgType type, uint64_t a, uint64_t b) {
    if (vg_types[type].kind == VgKind_Sint)
        return vg_types[type].bytes == 4 ? (Uint128)((Int128)(int32_t)a * (int32_t)b)
                                         : (Uint128)((Int128)(int64_t)a * (int64_t)b);
    return (Uint128)a * b;
}

VgOutcome vg_run_carry(VgRun *x, const VgInst *in) {
    const Carry *how = &carries[in->id];
    uint32_t bytes = vg_types[in->types[0]].bytes, set = 0;
    uint64_t mask = UINT64_MAX >> (64 - 8 * bytes);
    VgLanes buf[3] = {0}, out;
    const VgLanes *v[3] = {&buf[0], &buf[1], &buf[2]};
    for (uint32_t i = 1; i < in->op_count; i++)
        v[i - 1] = vg_read(x, &in->ops[i], bytes, &buf[i - 1]);
    for (uint32_t lane = 0; lane < VG_LANES; lane++) {
        uint64_t a = vg_lane(v[0], bytes, lane), b = vg_lane(v[1], bytes, lane);
        uint64_t taken = how->takes ? x->warp->carry >> lane & 1 : 0;
        if (how->is_mad) {
            a = (uint64_t)(product(in->types[0], a, b) >> (how->is_hi ? 8 * bytes : 0)) & mask;
            b = vg_lane(v[2], bytes, lane);
        }
        Uint128 sum = how->is_sub ? (Uint128)a - b - taken : (Uint128)a + b + taken;
        set |= (uint32_t)(sum >> (8 * bytes) & 1) << lane;
        vg_set_lane(&out, bytes, lane, (uint64_t)sum & mask);
    }
    if (how->sets)
        x->warp->carry = (x->warp->carry & ~x->mask) | (set & x->mask);
    vg_write(x, &in->ops[0], in->types[0], &out);
    return VgOutcome_Next;
}

/* ---- Values of any type ------------------------------------------------------------------- */

static const GpElem elems[VgType_count] = {
    [VgType_U8] = GpElem_U8,     [VgType_U16] = GpElem_U16,   [VgType_U32] = GpElem_U32,
    [VgType_U64] = GpElem_U64,   [VgType_S8] = GpElem_I8,     [VgType_S16] = GpElem_I16,
    [VgType_S32] = GpElem_I32,   [VgType_S64] = GpElem_I64,   [VgType_F16] = GpElem_F16,
    [VgType_BF16] = GpElem_BF16, [VgType_TF32] = GpElem_TF32, [VgType_F32] = GpElem_F32,
    [VgType_F64] = GpElem_F64,   [VgType_E4M3] = GpElem_F8E4, [VgType_E5M2] = GpElem_F8E5,
};

double vg_to_double(VgType type, uint64_t bits) {
    GpScalar v = gp_scalar_load(elems[type], &bits);
    return vg_types[type].kind == VgKind_Float  ? v.f
           : vg_types[type].kind == VgKind_Sint ? (double)v.i
                                                : (double)v.u;
}

uint64_t vg_from_double(VgType type, double v) {
    uint64_t bits = 0;
    GpScalar s = {.elem = elems[type]};
    if (vg_types[type].kind == VgKind_Float)
        s.f = v;
    else
        s.i = (int64_t)v;
    gp_scalar_store(gp_scalar_wrap(s), &bits);
    return bits;
}
