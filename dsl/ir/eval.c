/* Evaluates elementwise operations on one element; the rows are in eval.def. */
#include "dsl/ir/eval.h"

#include <math.h>

/* Two's complement wrap-around, without C's undefined overflow. */
#define WRAP(a, op, b) ((int64_t)((uint64_t)(a) op (uint64_t)(b)))
#define NONE (gp_unreachable(), 0)
#define ROUND(v) ((float)(v))
#define X ((double)x)
#define Y ((double)y)

static int64_t sint_div(int64_t x, int64_t y) {
    if (y == 0) return 0;
    return y == -1 ? WRAP(0, -, x) : x / y;
}

static int64_t sint_rem(int64_t x, int64_t y) { return y == 0 || y == -1 ? 0 : x % y; }

static float f32_flush(float x) { return x < 0x1p-126f ? 0.0f : x; }
static double f64_flush(double x) { return x < 0x1p-126 ? 0.0 : x; }
static double zero_small(double x) { return fabs(x) < 0x1p-126 ? copysign(0.0, x) : x; }
static float f32_rcp_flush(float x) { return (float)zero_small((double)(1.0f / (float)zero_small((double)x))); }
static double f64_rcp_flush(double x) { return zero_small(1.0 / zero_small(x)); }

static float f32_min(float x, float y) {
    if (isnan(x) || isnan(y)) return isnan(x) ? y : x;
    return x < y || (x == y && signbit(x)) ? x : y;
}

static float f32_max(float x, float y) {
    if (isnan(x) || isnan(y)) return isnan(x) ? y : x;
    return x > y || (x == y && !signbit(x)) ? x : y;
}

static double f64_min(double x, double y) {
    if (isnan(x) || isnan(y)) return isnan(x) ? y : x;
    return x < y || (x == y && signbit(x)) ? x : y;
}

static double f64_max(double x, double y) {
    if (isnan(x) || isnan(y)) return isnan(x) ? y : x;
    return x > y || (x == y && !signbit(x)) ? x : y;
}

#define GP_EVAL(id, f32, f64, sint, uint, boolean)                                                 \
    static float f32_##id(float x, float y, float z) {                                             \
        (void)x, (void)y, (void)z;                                                                 \
        return f32;                                                                                \
    }                                                                                              \
    static double f64_##id(double x, double y, double z) {                                         \
        (void)x, (void)y, (void)z;                                                                 \
        return f64;                                                                                \
    }                                                                                              \
    static int64_t sint_##id(int64_t x, int64_t y, int64_t bits) {                                 \
        (void)x, (void)y, (void)bits;                                                              \
        return sint;                                                                               \
    }                                                                                              \
    static uint64_t uint_##id(uint64_t x, uint64_t y, int64_t bits) {                              \
        (void)x, (void)y, (void)bits;                                                              \
        return uint;                                                                               \
    }                                                                                              \
    static bool bool_##id(bool x, bool y) {                                                        \
        (void)x, (void)y;                                                                          \
        return boolean;                                                                            \
    }
#include "dsl/ir/eval.def"

typedef struct EvalRow {
    float (*f32)(float, float, float);
    double (*f64)(double, double, double);
    int64_t (*sint)(int64_t, int64_t, int64_t);
    uint64_t (*uint)(uint64_t, uint64_t, int64_t);
    bool (*boolean)(bool, bool);
} EvalRow;

static const EvalRow eval_rows[GpOp_count] = {
#define GP_EVAL(id, f32, f64, sint, uint, boolean)                                                 \
    [GpOp_##id] = {f32_##id, f64_##id, sint_##id, uint_##id, bool_##id},
#include "dsl/ir/eval.def"
};

enum { MAX_ARGS = 3 };

uint32_t gp_eval_arity(GpSig sig) {
    if (sig == GpSig_Num1 || sig == GpSig_Bits1 || sig == GpSig_Float1) return 1;
    if (sig == GpSig_Cast || sig == GpSig_Bitcast) return 1;
    return sig == GpSig_Float3 || sig == GpSig_Select ? 3 : 2;
}

static GpScalar eval_float(const EvalRow *row, GpElem elem, const double *f) {
    GpScalar out = {.elem = elem};
    if (elem == GpElem_F64) out.f = row->f64(f[0], f[1], f[2]);
    else out.f = (double)row->f32((float)f[0], (float)f[1], (float)f[2]);
    return gp_scalar_wrap(out);
}

static GpScalar eval_row(GpOp op, GpElem elem, const GpScalar *args) {
    const EvalRow *row = &eval_rows[op];
    gp_assert(row->f32 != NULL);
    uint32_t n = gp_eval_arity(gp_op_info[op].sig);
    GpScalar a[MAX_ARGS] = {0}, out = {.elem = elem};
    memcpy(a, args, n * sizeof *args);
    int64_t bits = gp_elem_info[elem].bits;
    switch (gp_elem_info[elem].cls) {
    case GpClass_Code: gp_unreachable();
    case GpClass_Float: return eval_float(row, elem, (double[]){a[0].f, a[1].f, a[2].f});
    case GpClass_Int: out.i = row->sint(a[0].i, a[1].i, bits); break;
    case GpClass_Uint: out.u = row->uint(a[0].u, a[1].u, bits); break;
    case GpClass_Bool: out.u = row->boolean(a[0].u != 0, a[1].u != 0); break;
    }
    return gp_scalar_wrap(out);
}

/* By predicate: the answer for less, equal, greater and unordered. */
typedef enum Order { Order_Less, Order_Equal, Order_Greater, Order_Unordered } Order;
static const bool pred_holds[GP_PRED_COUNT][4] = {
    [GpPred_Eq] = {0, 1, 0, 0}, [GpPred_Ne] = {1, 0, 1, 1}, [GpPred_Lt] = {1, 0, 0, 0},
    [GpPred_Le] = {1, 1, 0, 0}, [GpPred_Gt] = {0, 0, 1, 0}, [GpPred_Ge] = {0, 1, 1, 0},
};

#define ORDER(a, b) ((a) < (b) ? Order_Less : (a) > (b) ? Order_Greater : Order_Equal)

static Order order_of(GpScalar a, GpScalar b) {
    switch (gp_elem_info[a.elem].cls) {
    case GpClass_Float:
    case GpClass_Code:
        return isnan(a.f) || isnan(b.f) ? Order_Unordered : ORDER(a.f, b.f);
    case GpClass_Int: return ORDER(a.i, b.i);
    case GpClass_Uint:
    case GpClass_Bool: return ORDER(a.u, b.u);
    }
    gp_unreachable();
}

static GpScalar eval_bitcast(GpScalar v, GpElem to) {
    uint8_t bytes[8] = {0};
    gp_scalar_store(v, bytes);
    return gp_scalar_load(to, bytes);
}

bool gp_eval(GpOp op, GpPred pred, GpElem elem, const GpScalar *args, GpScalar *out) {
    GpSig sig = gp_op_info[op].sig;
    gp_assert(gp_sig_info[sig].elementwise);
    *out = (GpScalar){.elem = elem};
    if ((op == GpOp_Div || op == GpOp_Rem) && gp_elem_is_integer(elem) && args[1].u == 0)
        return false;
    if (sig == GpSig_Cmp) out->u = pred_holds[pred][order_of(args[0], args[1])];
    else if (sig == GpSig_Select) *out = args[0].u ? args[1] : args[2];
    else if (sig == GpSig_Cast) *out = gp_scalar_cast(args[0], elem);
    else if (sig == GpSig_Bitcast) *out = eval_bitcast(args[0], elem);
    else *out = eval_row(op, elem, args);
    return true;
}
