/* Moves, comparisons and choices. */
#include "spec/vgpu/vgpu.h"

/* ---- Comparisons -------------------------------------------------------------------------- */

#define UNORDERED (a != a || b != b)
#define COMPARE(T)                                                                                 \
    static uint32_t compare_##T(uint8_t cmp, const void *left, const void *right) {                \
        const T *l = left, *r = right;                                                             \
        uint32_t less = 0, greater = 0, unordered = 0;                                             \
        for (uint32_t lane = 0; lane < VG_LANES; lane++) {                                         \
            T a = l[lane], b = r[lane];                                                            \
            less |= (uint32_t)(a < b) << lane;                                                     \
            greater |= (uint32_t)(a > b) << lane;                                                  \
            unordered |= (uint32_t)UNORDERED << lane;                                              \
        }                                                                                          \
        return decide(cmp, less, greater, unordered);                                              \
    }

static uint32_t decide(uint8_t cmp, uint32_t less, uint32_t greater, uint32_t unordered) {
    uint32_t equal = ~(less | greater | unordered);
    switch (cmp) {
    case VgMod_Eq:
        return equal;
    case VgMod_Ne:
        return less | greater;
    case VgMod_Lt:
        return less;
    case VgMod_Le:
    case VgMod_Ls:
        return less | equal;
    case VgMod_Gt:
        return greater;
    case VgMod_Ge:
    case VgMod_Hs:
        return greater | equal;
    case VgMod_Equ:
        return equal | unordered;
    case VgMod_Neu:
        return ~equal;
    case VgMod_Ltu:
        return less | unordered;
    case VgMod_Leu:
        return less | equal | unordered;
    case VgMod_Gtu:
        return greater | unordered;
    case VgMod_Geu:
        return greater | equal | unordered;
    case VgMod_Num:
        return ~unordered;
    default: /* nan */
        return unordered;
    }
}

COMPARE(uint8_t)
COMPARE(uint16_t)
COMPARE(uint32_t)
COMPARE(uint64_t)
COMPARE(int8_t)
COMPARE(int16_t)
COMPARE(int32_t)
COMPARE(int64_t)
COMPARE(float)
COMPARE(double)

typedef uint32_t (*CompareFn)(uint8_t cmp, const void *left, const void *right);
static const CompareFn compares[VgType_count] = {
    [VgType_B8] = compare_uint8_t,   [VgType_U8] = compare_uint8_t,
    [VgType_S8] = compare_int8_t,    [VgType_B16] = compare_uint16_t,
    [VgType_B32] = compare_uint32_t, [VgType_B64] = compare_uint64_t,
    [VgType_U16] = compare_uint16_t, [VgType_U32] = compare_uint32_t,
    [VgType_U64] = compare_uint64_t, [VgType_S16] = compare_int16_t,
    [VgType_S32] = compare_int32_t,  [VgType_S64] = compare_int64_t,
    [VgType_F32] = compare_float,    [VgType_F64] = compare_double,
};

static void flush(VgLanes *v) {
    for (int i = 0; i < VG_LANES; i++) {
        if ((v->u32[i] & 0x7f800000) == 0)
            v->u32[i] &= 0x80000000;
    }
}

static void widen(VgType type, const VgLanes *from, VgLanes *to) {
    for (uint32_t lane = 0; lane < VG_LANES; lane++)
        to->f32[lane] = (float)vg_to_double(type, from->u16[lane]);
}

static uint32_t compare(VgRun *x, const VgInst *in, const VgOperand *left, const VgOperand *right) {
    VgType type = in->types[in->type_count - 1];
    uint32_t bytes = vg_types[type].bytes;
    VgLanes buf[2], wide[2];
    const VgLanes *a = vg_read(x, left, bytes, &buf[0]), *b = vg_read(x, right, bytes, &buf[1]);
    bool is_half = type == VgType_F16 || type == VgType_BF16;
    if (is_half) {
        widen(type, a, &wide[0]);
        widen(type, b, &wide[1]);
        a = &wide[0];
        b = &wide[1];
    } else if (in->mod[VgClass_Ftz]) {
        wide[0] = *a;
        wide[1] = *b;
        flush(&wide[0]);
        flush(&wide[1]);
        a = &wide[0];
        b = &wide[1];
    }
    gp_assert(is_half || compares[type]);
    return (is_half ? compare_float : compares[type])(in->mod[VgClass_Cmp], a, b);
}

static uint32_t combine(const VgInst *in, uint32_t a, uint32_t b) {
    uint8_t logic = in->mod[VgClass_Logic];
    return logic == VgMod_And ? a & b : logic == VgMod_Or ? a | b : logic == VgMod_Xor ? a ^ b : a;
}

VgOutcome vg_run_setp(VgRun *x, const VgInst *in) {
    uint32_t holds = compare(x, in, &in->ops[1], &in->ops[2]);
    uint32_t other = in->op_count > 3 ? vg_read_pred(x, &in->ops[3]) : 0;
    const VgOperand *to = &in->ops[0];
    if (to->kind == VgOperand_Vector) {
        vg_write_pred(x, &to->parts[0], combine(in, holds, other));
        vg_write_pred(x, &to->parts[1], combine(in, ~holds, other));
    } else {
        vg_write_pred(x, to, combine(in, holds, other));
    }
    return VgOutcome_Next;
}

VgOutcome vg_run_set(VgRun *x, const VgInst *in) {
    uint32_t holds = compare(x, in, &in->ops[1], &in->ops[2]);
    VgLanes out;
    for (uint32_t lane = 0; lane < VG_LANES; lane++) {
        uint64_t yes = in->types[0] == VgType_F32 ? 0x3f800000 : UINT64_MAX;
        vg_set_lane(&out, vg_types[in->types[0]].bytes, lane, holds >> lane & 1 ? yes : 0);
    }
    vg_write(x, &in->ops[0], in->types[0], &out);
    return VgOutcome_Next;
}

static void choose(uint32_t mask, uint32_t bytes, const VgLanes *yes, const VgLanes *no,
                   VgLanes *out) {
    if (bytes == 4) {
        for (uint32_t lane = 0; lane < VG_LANES; lane++)
            out->u32[lane] = mask >> lane & 1 ? yes->u32[lane] : no->u32[lane];
        return;
    }
    for (uint32_t lane = 0; lane < VG_LANES; lane++)
        vg_set_lane(out, bytes, lane, vg_lane(mask >> lane & 1 ? yes : no, bytes, lane));
}

VgOutcome vg_run_selp(VgRun *x, const VgInst *in) {
    uint32_t mask = vg_read_pred(x, &in->ops[3]), bytes = vg_types[in->types[0]].bytes;
    VgLanes buf[2], out;
    choose(mask, bytes, vg_read(x, &in->ops[1], bytes, &buf[0]),
           vg_read(x, &in->ops[2], bytes, &buf[1]), &out);
    vg_write(x, &in->ops[0], in->types[0], &out);
    return VgOutcome_Next;
}

VgOutcome vg_run_slct(VgRun *x, const VgInst *in) {
    uint32_t bytes = vg_types[in->types[0]].bytes, mask = 0;
    VgLanes buf[3], out;
    const VgLanes *c = vg_read(x, &in->ops[3], 4, &buf[2]);
    for (uint32_t lane = 0; lane < VG_LANES; lane++) {
        bool is_yes = in->types[1] == VgType_F32 ? c->f32[lane] >= 0.0f : c->s32[lane] >= 0;
        mask |= (uint32_t)is_yes << lane;
    }
    choose(mask, bytes, vg_read(x, &in->ops[1], bytes, &buf[0]),
           vg_read(x, &in->ops[2], bytes, &buf[1]), &out);
    vg_write(x, &in->ops[0], in->types[0], &out);
    return VgOutcome_Next;
}

static bool has_property(uint8_t test, double v, double smallest) {
    double size = v < 0 ? -v : v;
    bool is_nan = v != v, is_inf = size > 1.7976931348623157e308;
    switch (test) {
    case VgMod_Inf:
        return is_inf;
    case VgMod_Finite:
        return !is_inf && !is_nan;
    case VgMod_Number:
        return !is_nan;
    case VgMod_NotNumber:
        return is_nan;
    case VgMod_Normal:
        return !is_nan && !is_inf && size >= smallest;
    default: /* subnormal */
        return size > 0 && size < smallest;
    }
}

VgOutcome vg_run_testp(VgRun *x, const VgInst *in) {
    uint32_t bytes = vg_types[in->types[0]].bytes, holds = 0;
    VgLanes buf;
    const VgLanes *v = vg_read(x, &in->ops[1], bytes, &buf);
    double smallest = bytes == 4 ? 0x1p-126 : 0x1p-1022;
    for (uint32_t lane = 0; lane < VG_LANES; lane++) {
        double number = vg_to_double(in->types[0], vg_lane(v, bytes, lane));
        holds |= (uint32_t)has_property(in->mod[VgClass_Test], number, smallest) << lane;
    }
    vg_write_pred(x, &in->ops[0], holds);
    return VgOutcome_Next;
}

/* ---- Moves -------------------------------------------------------------------------------- */

static VgType bits_type(uint32_t bytes) {
    return bytes == 1 ? VgType_B8 : bytes == 2 ? VgType_B16 : bytes == 4 ? VgType_B32 : VgType_B64;
}

/* mov.b32 r, {a, b}: the first part is lowest. */
static void pack(VgRun *x, const VgInst *in) {
    const VgOperand *from = &in->ops[1];
    uint32_t bytes = vg_types[in->types[0]].bytes, part = bytes / from->part_count;
    VgLanes out = {.u64 = {0}}, buf;
    for (uint32_t i = 0; i < from->part_count; i++) {
        const VgLanes *v = vg_read(x, &from->parts[i], part, &buf);
        for (uint32_t lane = 0; lane < VG_LANES; lane++)
            vg_set_lane(&out, bytes, lane,
                        vg_lane(&out, bytes, lane) | vg_lane(v, part, lane) << (8 * part * i));
    }
    vg_write(x, &in->ops[0], in->types[0], &out);
}

static void unpack(VgRun *x, const VgInst *in) {
    const VgOperand *to = &in->ops[0];
    uint32_t bytes = vg_types[in->types[0]].bytes, part = bytes / to->part_count;
    VgLanes buf, out;
    const VgLanes *read = vg_read(x, &in->ops[1], bytes, &buf);
    VgLanes v = *read; /* the parts may be written over it */
    for (uint32_t i = 0; i < to->part_count; i++) {
        for (uint32_t lane = 0; lane < VG_LANES; lane++)
            vg_set_lane(&out, part, lane, vg_lane(&v, bytes, lane) >> (8 * part * i));
        vg_write(x, &to->parts[i], bits_type(part), &out);
    }
}

VgOutcome vg_run_mov(VgRun *x, const VgInst *in) {
    VgLanes buf;
    if (in->types[0] == VgType_Pred)
        vg_write_pred(x, &in->ops[0], vg_read_pred(x, &in->ops[1]));
    else if (in->ops[0].kind == VgOperand_Vector)
        unpack(x, in);
    else if (in->ops[1].kind == VgOperand_Vector)
        pack(x, in);
    else
        vg_write(x, &in->ops[0], in->types[0],
                 vg_read(x, &in->ops[1], vg_types[in->types[0]].bytes, &buf));
    return VgOutcome_Next;
}

static uint64_t window_of(uint8_t space) {
    return space == VgMod_Shared || space == VgMod_SharedCta || space == VgMod_SharedCluster
               ? (uint64_t)VG_WINDOW_SHARED << 48
           : space == VgMod_Local ? (uint64_t)VG_WINDOW_LOCAL << 48
           : space == VgMod_Param ? (uint64_t)VG_WINDOW_PARAM << 48
                                  : 0;
}

VgOutcome vg_run_cvta(VgRun *x, const VgInst *in) {
    uint64_t window = window_of(in->spaces[0]);
    VgLanes buf, out;
    const VgLanes *v = vg_read(x, &in->ops[1], 8, &buf);
    for (uint32_t lane = 0; lane < VG_LANES; lane++)
        out.u64[lane] = in->mod[VgClass_To] ? v->u64[lane] - window : v->u64[lane] + window;
    vg_write(x, &in->ops[0], VgType_U64, &out);
    return VgOutcome_Next;
}

VgOutcome vg_run_isspacep(VgRun *x, const VgInst *in) {
    uint64_t window = window_of(in->spaces[0]) >> 48;
    uint32_t holds = 0;
    VgLanes buf;
    const VgLanes *v = vg_read(x, &in->ops[1], 8, &buf);
    for (uint32_t lane = 0; lane < VG_LANES; lane++) {
        uint64_t w = VG_WINDOW(v->u64[lane]);
        bool is_global = w != VG_WINDOW_SHARED && w != VG_WINDOW_LOCAL && w != VG_WINDOW_PARAM;
        holds |= (uint32_t)(window ? w == window : is_global) << lane;
    }
    vg_write_pred(x, &in->ops[0], holds);
    return VgOutcome_Next;
}

VgOutcome vg_run_dp4a(VgRun *x, const VgInst *in) {
    VgLanes buf[3], out;
    const VgLanes *a = vg_read(x, &in->ops[1], 4, &buf[0]),
                  *b = vg_read(x, &in->ops[2], 4, &buf[1]);
    const VgLanes *c = vg_read(x, &in->ops[3], 4, &buf[2]);
    for (uint32_t lane = 0; lane < VG_LANES; lane++) {
        uint32_t sum = c->u32[lane];
        for (uint32_t i = 0; i < 32; i += 8) {
            int32_t l = (int32_t)(a->u32[lane] >> i & 255), r = (int32_t)(b->u32[lane] >> i & 255);
            l = in->types[0] == VgType_S32 ? (int8_t)l : l;
            r = in->types[1] == VgType_S32 ? (int8_t)r : r;
            sum += (uint32_t)(l * r);
        }
        out.u32[lane] = sum;
    }
    vg_write(x, &in->ops[0], VgType_U32, &out);
    return VgOutcome_Next;
}
