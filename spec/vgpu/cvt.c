/* cvt: every pair of types through a double, which holds all but 64-bit integers exactly. */
#include <fenv.h>
#include <math.h>

#include "core/elem.h"
#include "spec/vgpu/vgpu.h"

static bool is_number(VgType t) { return vg_types[t].kind == VgKind_Float; }
static bool is_signed(VgType t) { return vg_types[t].kind == VgKind_Sint; }

static double round_whole(double v, uint8_t mod) {
    switch (mod) {
    case VgMod_Rzi:
        return trunc(v);
    case VgMod_Rmi:
        return floor(v);
    case VgMod_Rpi:
        return ceil(v);
    case VgMod_Rni:
        return nearbyint(v);
    default:
        return v;
    }
}

static uint64_t clamp_to_int(double v, VgType to) {
    uint32_t bits = 8u * vg_types[to].bytes;
    double end = ldexp(1.0, (int)bits - is_signed(to)), low = is_signed(to) ? -end : 0.0;
    if (v != v)
        return 0;
    if (v <= low)
        return is_signed(to) ? UINT64_C(1) << (bits - 1) : 0;
    if (v >= end)
        return (is_signed(to) ? UINT64_MAX >> 1 : UINT64_MAX) >> (64 - bits);
    return is_signed(to) ? (uint64_t)(int64_t)v : (uint64_t)v;
}

static uint64_t saturate_int(uint64_t v, VgType from, VgType to) {
    uint32_t bits = 8u * vg_types[to].bytes;
    bool is_negative = is_signed(from) && (int64_t)v < 0;
    if (!is_signed(to)) {
        uint64_t most = UINT64_MAX >> (64 - bits);
        return is_negative ? 0 : GP_MIN(v, most);
    }
    uint64_t most = (UINT64_C(1) << (bits - 1)) - 1;
    if (is_negative)
        return (int64_t)v < -(int64_t)most - 1 ? most + 1 : v;
    return GP_MIN(v, most);
}

static uint64_t extend(uint64_t bits, VgType from) {
    uint32_t unused = 64 - 8u * vg_types[from].bytes;
    return is_signed(from) ? (uint64_t)((int64_t)(bits << unused) >> unused)
                           : bits << unused >> unused;
}

/* The neighbour on the side that the rounding asks for, where nearest took the other. */
static uint64_t round_directed(VgType to, uint64_t nearest, double v, uint8_t mod) {
    double r = vg_to_double(to, nearest);
    bool is_too_high = r > v && (mod == VgMod_Rm || (mod == VgMod_Rz && v > 0));
    bool is_too_low = r < v && (mod == VgMod_Rp || (mod == VgMod_Rz && v < 0));
    if (is_too_high)
        return r > 0 ? nearest - 1 : nearest + 1;
    if (is_too_low)
        return r < 0 ? nearest - 1 : nearest + 1;
    return nearest;
}

static double most_finite(VgType t) {
    return t == VgType_E5M2   ? 57344.0
           : t == VgType_E4M3 ? 448.0
           : t == VgType_F16  ? 65504.0
                              : 0x1.fep127;
}

/* .rna: halves away from zero, on tf32's 10 bits of mantissa. */
static uint64_t round_tf32(double v, uint8_t mod) {
    float f = (float)v;
    uint32_t bits;
    memcpy(&bits, &f, sizeof bits);
    if (mod != VgMod_Rna || v != v)
        return vg_from_double(VgType_TF32, v);
    return isinf(f) ? bits : (bits + 0x1000) & ~UINT32_C(0x1fff);
}

static uint64_t number_to(const VgInst *in, VgType to, double v) {
    uint8_t mod = in->mod[VgClass_Round];
    if (in->mod[VgClass_Sat] == VgMod_Satfinite && fabs(v) > most_finite(to))
        v = copysign(most_finite(to), v);
    if (in->mod[VgClass_Sat] == VgMod_Sat)
        v = v > 0 ? fmin(v, 1.0) : 0.0;
    if (in->mod[VgClass_Relu] && (v < 0 || v == 0))
        v = 0;
    if (to == VgType_F64) {
        uint64_t bits;
        memcpy(&bits, &v, sizeof bits);
        return bits;
    }
    if (to == VgType_TF32)
        return round_tf32(v, mod);
    if (v != v)
        return to == VgType_F32 ? 0x7fffffff : vg_types[to].bytes == 2 ? 0x7fff : 0x7f;
    uint64_t nearest = vg_from_double(to, v);
    return mod == VgMod_Rn || !mod ? nearest : round_directed(to, nearest, v, mod);
}

/* A 64-bit integer to a float type, rounded once. */
static uint64_t integer_to(const VgInst *in, VgType from, VgType to, uint64_t bits) {
    GpElem elem = to == VgType_F16    ? GpElem_F16
                  : to == VgType_BF16 ? GpElem_BF16
                  : to == VgType_F64  ? GpElem_F64
                                      : GpElem_F32;
    GpScalar v = {.elem = is_signed(from) ? GpElem_I64 : GpElem_U64, .u = bits};
    uint8_t mod = in->mod[VgClass_Round];
    uint64_t out = 0;
    if (mod == VgMod_Rz || mod == VgMod_Rm || mod == VgMod_Rp) {
        int host = mod == VgMod_Rz ? FE_TOWARDZERO : mod == VgMod_Rm ? FE_DOWNWARD : FE_UPWARD;
        (void)fesetround(host);
        double d = is_signed(from) ? (double)(int64_t)bits : (double)bits;
        float f = is_signed(from) ? (float)(int64_t)bits : (float)bits;
        (void)fesetround(FE_TONEAREST);
        memcpy(&out, to == VgType_F64 ? (void *)&d : (void *)&f, vg_types[to].bytes);
        return out;
    }
    gp_scalar_store(gp_scalar_cast(v, elem), &out);
    return out;
}

static bool is_subnormal_f32(double v) { return v != 0 && fabs(v) < 0x1p-126; }

static uint64_t convert(const VgInst *in, VgType to, VgType from, uint64_t bits) {
    if (is_number(from)) {
        double v = vg_to_double(from, bits);
        bool flushes = in->mod[VgClass_Ftz] == VgMod_Ftz;
        if (flushes && from == VgType_F32 && is_subnormal_f32(v))
            v = copysign(0.0, v);
        v = round_whole(v, in->mod[VgClass_Round]);
        if (!is_number(to))
            return clamp_to_int(v, to);
        uint64_t out = number_to(in, to, v);
        bool is_small = flushes && to == VgType_F32 && (out & 0x7f800000) == 0;
        return is_small ? out & 0x80000000 : out;
    }
    uint64_t v = extend(bits, from);
    if (is_number(to))
        return integer_to(in, from, to, v);
    return in->mod[VgClass_Sat] ? saturate_int(v, from, to) : v;
}

static VgType half_of(VgType t) {
    return t == VgType_F16x2    ? VgType_F16
           : t == VgType_BF16x2 ? VgType_BF16
           : t == VgType_E4M3x2 ? VgType_E4M3
           : t == VgType_E5M2x2 ? VgType_E5M2
                                : t;
}

/* Two numbers a lane: from two sources, the first on top, or from a pair. */
static VgOutcome run_pair(VgRun *x, const VgInst *in) {
    VgType to = half_of(in->types[0]), from = half_of(in->types[1]);
    uint32_t bytes = vg_types[in->types[1]].bytes, part = 8u * vg_types[from].bytes;
    bool is_from_pair = from != in->types[1];
    VgLanes buf[2], out;
    const VgLanes *high = vg_read(x, &in->ops[1], bytes, &buf[0]);
    const VgLanes *low = is_from_pair ? high : vg_read(x, &in->ops[2], bytes, &buf[1]);
    for (uint32_t lane = 0; lane < VG_LANES; lane++) {
        uint64_t a = vg_lane(high, bytes, lane), b = vg_lane(low, bytes, lane);
        if (is_from_pair) {
            b &= (UINT64_C(1) << part) - 1;
            a >>= part;
        }
        uint64_t top = convert(in, to, from, a), rest = convert(in, to, from, b);
        vg_set_lane(&out, 2u * vg_types[to].bytes, lane, top << (8 * vg_types[to].bytes) | rest);
    }
    vg_write(x, &in->ops[0], in->types[0], &out);
    return VgOutcome_Next;
}

VgOutcome vg_run_cvt(VgRun *x, const VgInst *in) {
    VgType to = in->types[0], from = in->types[1];
    if (half_of(to) != to)
        return run_pair(x, in);
    VgLanes buf, out;
    const VgLanes *v = vg_read(x, &in->ops[1], vg_types[from].bytes, &buf);
    bool is_plain = !is_number(from) && !is_number(to) && !in->mod[VgClass_Sat];
    if (is_plain) {
        for (uint32_t lane = 0; lane < VG_LANES; lane++)
            vg_set_lane(&out, vg_types[to].bytes, lane,
                        extend(vg_lane(v, vg_types[from].bytes, lane), from));
    } else {
        VG_EACH_LANE(lane, x->mask) {
            uint64_t bits = vg_lane(v, vg_types[from].bytes, lane);
            vg_set_lane(&out, vg_types[to].bytes, lane, convert(in, to, from, bits));
        }
    }
    vg_write(x, &in->ops[0], to, &out);
    return VgOutcome_Next;
}
