/* One element of an elementwise instruction, for every backend.
**
** No fast-math flag is ever set and no instruction may be contracted: rounding was decided by
** the fma pass on our IR. Integer division is total here (by zero it is zero), so that
** evaluating a lane whose check failed cannot trap. */
#include "codegen/emit.h"

typedef struct Operands {
    GpElem elem;
    LLVMTypeRef type; /* of x[..]: compute form for floats */
    LLVMValueRef x[3];
} Operands;
typedef LLVMValueRef (*ArithFn)(GpEmit *e, const Operands *o);

#define BINARY(name, builder)                                                                      \
    static LLVMValueRef name(GpEmit *e, const Operands *o) {                                       \
        return builder(e->b, o->x[0], o->x[1], "");                                                \
    }
#define UNARY(name, builder)                                                                       \
    static LLVMValueRef name(GpEmit *e, const Operands *o) { return builder(e->b, o->x[0], ""); }
#define INTRINSIC(name, intrinsic, count)                                                          \
    static LLVMValueRef name(GpEmit *e, const Operands *o) {                                       \
        return gp_emit_intrinsic(e, intrinsic, o->type, o->x, count);   \
    }
BINARY(float_add, LLVMBuildFAdd)
BINARY(float_sub, LLVMBuildFSub)
BINARY(float_mul, LLVMBuildFMul)
BINARY(float_div, LLVMBuildFDiv)
UNARY(float_neg, LLVMBuildFNeg)
INTRINSIC(float_min, "llvm.minimumnum", 2)
INTRINSIC(float_max, "llvm.maximumnum", 2)
INTRINSIC(float_fma, "llvm.fma", 3)
INTRINSIC(float_abs, "llvm.fabs", 1)
UNARY(int_neg, LLVMBuildNeg)
BINARY(int_and, LLVMBuildAnd)
BINARY(int_or, LLVMBuildOr)
BINARY(int_xor, LLVMBuildXor)
UNARY(int_not, LLVMBuildNot)

/* Whole numbers of tiles on a GPU keep the constants of their registers last: (x + 1) - (y + 8) is (x - y) + -7. What
** is left of indices is one value of the thread then, and registers with the same constant have one sum. */
static bool is_regrouped(const GpEmit *e, LLVMValueRef k) { return e->is_gpu && e->is_tile && !LLVMIsNull(k); }

static LLVMValueRef int_add(GpEmit *e, const Operands *o) {
    LLVMValueRef j, k, x = gp_emit_split(o->x[0], &j), y = gp_emit_split(o->x[1], &k);
    if (!is_regrouped(e, j) && !is_regrouped(e, k))
        return LLVMBuildAdd(e->b, o->x[0], o->x[1], "");
    return gp_emit_offset(e, LLVMBuildAdd(e->b, x, y, ""), LLVMBuildAdd(e->b, j, k, ""));
}

static LLVMValueRef int_sub(GpEmit *e, const Operands *o) {
    LLVMValueRef j, k, x = gp_emit_split(o->x[0], &j), y = gp_emit_split(o->x[1], &k);
    if (!is_regrouped(e, j) && !is_regrouped(e, k))
        return LLVMBuildSub(e->b, o->x[0], o->x[1], "");
    return gp_emit_offset(e, LLVMBuildSub(e->b, x, y, ""), LLVMBuildSub(e->b, j, k, ""));
}

static LLVMValueRef int_mul(GpEmit *e, const Operands *o) {
    uint32_t by = LLVMIsAConstantInt(o->x[0]) ? 0 : 1;
    LLVMValueRef k, x = gp_emit_split(o->x[1 - by], &k), factor = o->x[by];
    if (!LLVMIsAConstantInt(factor) || !is_regrouped(e, k))
        return LLVMBuildMul(e->b, o->x[0], o->x[1], "");
    return gp_emit_offset(e, LLVMBuildMul(e->b, x, factor, ""), LLVMBuildMul(e->b, k, factor, ""));
}

/* frem is not exact on every target; the library's fmod is. */
static LLVMValueRef float_rem(GpEmit *e, const Operands *o) {
    GpElem elem = o->elem == GpElem_F64 ? GpElem_F64 : GpElem_F32;
    return gp_emit_math(e, GpOp_Rem, elem, o->x, 2);
}

/* The divisor without 0 and, signed, without -1: MIN / -1 traps on x86. */
static LLVMValueRef safe_divisor(GpEmit *e, const Operands *o, LLVMValueRef *is_minus_one) {
    LLVMValueRef y = o->x[1], one = LLVMConstInt(o->type, 1, false);
    LLVMValueRef bad = LLVMBuildICmp(e->b, LLVMIntEQ, y, LLVMConstNull(o->type), "");
    *is_minus_one = NULL;
    if (gp_elem_is_signed(o->elem)) {
        *is_minus_one = LLVMBuildICmp(e->b, LLVMIntEQ, y, LLVMConstAllOnes(o->type), "");
        bad = LLVMBuildOr(e->b, bad, *is_minus_one, "");
    }
    return LLVMBuildSelect(e->b, bad, one, y, "");
}

static LLVMValueRef int_div(GpEmit *e, const Operands *o) {
    LLVMValueRef is_minus_one, y = safe_divisor(e, o, &is_minus_one), q;
    LLVMValueRef zero = LLVMConstNull(o->type);
    if (is_minus_one) {
        q = LLVMBuildSDiv(e->b, o->x[0], y, "");
        q = LLVMBuildSelect(e->b, is_minus_one, LLVMBuildNeg(e->b, o->x[0], ""), q, "");
    } else {
        q = LLVMBuildUDiv(e->b, o->x[0], y, "");
    }
    LLVMValueRef is_zero = LLVMBuildICmp(e->b, LLVMIntEQ, o->x[1], zero, "");
    return LLVMBuildSelect(e->b, is_zero, zero, q, "");
}

static LLVMValueRef int_rem(GpEmit *e, const Operands *o) {
    LLVMValueRef is_minus_one, y = safe_divisor(e, o, &is_minus_one);
    return is_minus_one ? LLVMBuildSRem(e->b, o->x[0], y, "") : LLVMBuildURem(e->b, o->x[0], y, "");
}

static LLVMValueRef masked_count(GpEmit *e, const Operands *o) {
    uint64_t mask = gp_elem_info[o->elem].bits - 1u;
    return LLVMBuildAnd(e->b, o->x[1], LLVMConstInt(o->type, mask, false), "");
}

static LLVMValueRef int_shl(GpEmit *e, const Operands *o) {
    return LLVMBuildShl(e->b, o->x[0], masked_count(e, o), "");
}

static LLVMValueRef int_shr(GpEmit *e, const Operands *o) {
    LLVMValueRef n = masked_count(e, o);
    return gp_elem_is_signed(o->elem) ? LLVMBuildAShr(e->b, o->x[0], n, "")
                                      : LLVMBuildLShr(e->b, o->x[0], n, "");
}

static LLVMValueRef int_min(GpEmit *e, const Operands *o) {
    const char *name = gp_elem_is_signed(o->elem) ? "llvm.smin" : "llvm.umin";
    return gp_emit_intrinsic(e, name, o->type, o->x, 2);
}

static LLVMValueRef int_max(GpEmit *e, const Operands *o) {
    const char *name = gp_elem_is_signed(o->elem) ? "llvm.smax" : "llvm.umax";
    return gp_emit_intrinsic(e, name, o->type, o->x, 2);
}

static LLVMValueRef int_abs(GpEmit *e, const Operands *o) {
    if (!gp_elem_is_signed(o->elem))
        return o->x[0];
    LLVMValueRef args[] = {o->x[0], gp_emit_bool(e, false)};
    return gp_emit_intrinsic(e, "llvm.abs", o->type, args, 2);
}

typedef struct ArithRow {
    ArithFn float_fn, int_fn;
} ArithRow;
static const ArithRow arith_rows[GpOp_count] = {
#define GP_ARITH(id, float_fn, int_fn) [GpOp_##id] = {float_fn, int_fn},
#include "codegen/arith.def"
};

static const LLVMRealPredicate real_preds[] = {
    [GpPred_Eq] = LLVMRealOEQ, [GpPred_Ne] = LLVMRealUNE, [GpPred_Lt] = LLVMRealOLT,
    [GpPred_Le] = LLVMRealOLE, [GpPred_Gt] = LLVMRealOGT, [GpPred_Ge] = LLVMRealOGE,
};
static const LLVMIntPredicate int_preds[][2] = {
    [GpPred_Eq] = {LLVMIntEQ, LLVMIntEQ},   [GpPred_Ne] = {LLVMIntNE, LLVMIntNE},
    [GpPred_Lt] = {LLVMIntULT, LLVMIntSLT}, [GpPred_Le] = {LLVMIntULE, LLVMIntSLE},
    [GpPred_Gt] = {LLVMIntUGT, LLVMIntSGT}, [GpPred_Ge] = {LLVMIntUGE, LLVMIntSGE},
};

static LLVMValueRef emit_cmp(GpEmit *e, const GpInst *inst, LLVMValueRef *x) {
    GpElem elem = inst->operands[0]->type->elem;
    if (!gp_elem_is_float(elem))
        return LLVMBuildICmp(e->b, int_preds[inst->pred][gp_elem_is_signed(elem)], x[0], x[1], "");
    return LLVMBuildFCmp(e->b, real_preds[inst->pred], gp_emit_to_float(e, elem, x[0]),
                         gp_emit_to_float(e, elem, x[1]), "");
}

static LLVMValueRef emit_float_row(GpEmit *e, ArithFn fn, GpElem elem, LLVMValueRef *x,
                                   uint32_t count) {
    Operands o = {.elem = elem};
    for (uint32_t i = 0; i < count; i++)
        o.x[i] = gp_emit_to_float(e, elem, x[i]);
    o.type = LLVMTypeOf(o.x[0]);
    return gp_emit_from_float(e, elem, fn(e, &o));
}

static LLVMValueRef emit_row(GpEmit *e, const GpInst *inst, LLVMValueRef *x) {
    const ArithRow *row = &arith_rows[inst->op];
    GpElem elem = inst->results[0]->type->elem;
    if (gp_elem_is_float(elem)) {
        gp_assert(row->float_fn);
        return emit_float_row(e, row->float_fn, elem, x, inst->operand_count);
    }
    gp_assert(row->int_fn);
    Operands o = {.elem = elem, .type = gp_emit_type(e, elem)};
    for (uint32_t i = 0; i < inst->operand_count; i++)
        o.x[i] = x[i];
    return row->int_fn(e, &o);
}

static LLVMValueRef emit_math_op(GpEmit *e, const GpInst *inst, LLVMValueRef *x) {
    GpElem elem = inst->results[0]->type->elem;
    LLVMValueRef wide[2] = {NULL, NULL};
    for (uint32_t i = 0; i < inst->operand_count; i++)
        wide[i] = gp_emit_to_float(e, elem, x[i]);
    GpElem compute = elem == GpElem_F64 ? GpElem_F64 : GpElem_F32;
    LLVMValueRef v = gp_emit_math(e, inst->op, compute, wide, inst->operand_count);
    return v ? gp_emit_from_float(e, elem, v) : LLVMGetUndef(gp_emit_type(e, elem));
}

LLVMValueRef gp_emit_element(GpEmit *e, const GpInst *inst, LLVMValueRef *x) {
    GpElem to = inst->results[0]->type->elem;
    if (inst->op == GpOp_Const)
        return gp_emit_scalar(e, to, inst->imm);
    if (inst->op == GpOp_Cmp)
        return emit_cmp(e, inst, x);
    if (inst->op == GpOp_Select)
        return LLVMBuildSelect(e->b, x[0], x[1], x[2], "");
    if (inst->op == GpOp_Cast)
        return gp_emit_cast(e, x[0], inst->operands[0]->type->elem, to);
    if (inst->op == GpOp_Bitcast)
        return gp_emit_bitcast(e, x[0], inst->operands[0]->type->elem, to);
    if (arith_rows[inst->op].float_fn || arith_rows[inst->op].int_fn)
        return emit_row(e, inst, x);
    return emit_math_op(e, inst, x);
}
