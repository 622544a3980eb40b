/* Operands, results, attributes and the parameters of regions of values and control flow. What regions
** yield is checked at the yield, break or continue, which knows where it goes. */
#include "dsl/ir/ir_verify_sig.h"

/* (x, ..) -> x */
static bool check_uniform(V *v, I *inst, uint32_t operands, const char *what) {
    if (!need_counts(v, inst, operands, 1)) return false;
    for (uint32_t i = 0; i < operands; i++)
        if (in(inst, i) != out(inst))
            return gp_ir_refuse(v, inst, "operand %u is not of the result's type", i);
    return need(v, inst, has_numbers(out(inst)) && gp_sig_takes(gp_op_info[inst->op].sig, out(inst)->elem),
                what);
}

#define UNIFORM(sig, operands, what) \
    bool gp_sig_##sig(V *v, I *inst) { return check_uniform(v, inst, operands, what); }
UNIFORM(Num1, 1, "it takes integers or floats")
UNIFORM(Num2, 2, "it takes integers or floats")
UNIFORM(Int2, 2, "it takes integers")
UNIFORM(Bits1, 1, "it takes integers or bools")
UNIFORM(Bits2, 2, "it takes integers or bools")
UNIFORM(Float1, 1, "it takes floats")
UNIFORM(Float2, 2, "it takes floats")
UNIFORM(Float3, 3, "it takes floats")
#undef UNIFORM

bool gp_sig_Const(V *v, I *inst) {
    if (!need_counts(v, inst, 0, 1)) return false;
    if (!need(v, inst, has_numbers(out(inst)), "a constant is a scalar or a tile")) return false;
    return need(v, inst, inst->imm.elem == out(inst)->elem,
                "the value is not of the result's element type");
}

bool gp_sig_Cmp(V *v, I *inst) {
    if (!need_counts(v, inst, 2, 1)) return false;
    if (!need(v, inst, in(inst, 0) == in(inst, 1), "the operands differ in type")) return false;
    return need(v, inst, is_alike(in(inst, 0), out(inst)) && out(inst)->elem == GpElem_Bool,
                "the result is bool in the operands' shape");
}

bool gp_sig_Select(V *v, I *inst) {
    if (!need_counts(v, inst, 3, 1)) return false;
    if (!need(v, inst, in(inst, 1) == out(inst) && in(inst, 2) == out(inst),
              "the choices are not of the result's type"))
        return false;
    return need(v, inst, is_alike(in(inst, 0), out(inst)) && in(inst, 0)->elem == GpElem_Bool,
                "the condition is bool in the result's shape");
}

bool gp_sig_Cast(V *v, I *inst) {
    return need_counts(v, inst, 1, 1) &&
           need(v, inst, is_alike(in(inst, 0), out(inst)), "it keeps the shape");
}

bool gp_sig_Bitcast(V *v, I *inst) {
    if (!gp_sig_Cast(v, inst)) return false;
    GpElem a = in(inst, 0)->elem, b = out(inst)->elem;
    return need(v, inst,
                gp_elem_info[a].bits == gp_elem_info[b].bits && a != GpElem_Bool && b != GpElem_Bool,
                "both element types are numbers of one width");
}

typedef struct Values {
    GpValue *const *at;
    uint32_t count;
} Values;

static Values operands_of(I *inst) { return (Values){inst->operands, inst->operand_count}; }
static Values results_of(I *inst) { return (Values){inst->results, inst->result_count}; }
static Values params_of(const GpRegion *r) { return (Values){r->params, r->param_count}; }

static Values without_first(Values v, uint32_t n) {
    return n ? (Values){v.at + n, v.count - n} : v;
}

static bool check_alike(V *v, I *inst, Values have, Values want, const char *what) {
    if (have.count != want.count)
        return gp_ir_refuse(v, inst, "%u values for %u %s", have.count, want.count, what);
    for (uint32_t i = 0; i < have.count; i++)
        if (have.at[i]->type != want.at[i]->type)
            return gp_ir_refuse(v, inst, "value %u is not of the type of the %s", i, what);
    return true;
}

bool gp_sig_If(V *v, I *inst) {
    if (!need_counts(v, inst, 1, inst->result_count)) return false;
    for (uint32_t i = 0; i < inst->region_count; i++)
        if (inst->regions[i]->param_count)
            return gp_ir_refuse(v, inst, "its regions take no parameters");
    return need(v, inst, is_scalar(in(inst, 0), GpElem_Bool), "the condition is a bool");
}

static bool check_step(V *v, I *inst) {
    GpScalar step;
    if (!gp_ir_const(inst->operands[2], &step)) return true;
    bool is_positive = gp_elem_is_signed(step.elem) ? step.i > 0 : step.u > 0;
    return need(v, inst, is_positive, "the step is positive");
}

bool gp_sig_For(V *v, I *inst) {
    if (!need(v, inst, inst->operand_count >= GP_FOR_BOUNDS, "it takes bounds and a step")) return false;
    const GpRegion *r = inst->regions[0];
    const GpIrType *index = in(inst, 0);
    if (!need(v, inst,
              index->kind == GpIrType_Scalar && is_integer(index->elem) && in(inst, 1) == index &&
                  in(inst, 2) == index && r->param_count >= GP_FOR_INDICES && r->params[0]->type == index,
              "bounds, step and index are of one integer type"))
        return false;
    return check_step(v, inst) &&
           check_alike(v, inst, without_first(operands_of(inst), GP_FOR_BOUNDS), results_of(inst), "results") &&
           check_alike(v, inst, without_first(params_of(r), GP_FOR_INDICES), results_of(inst), "results");
}

bool gp_sig_Loop(V *v, I *inst) {
    return check_alike(v, inst, operands_of(inst), params_of(inst->regions[0]),
                       "region parameters");
}

bool gp_sig_Block(V *v, I *inst) {
    return need_counts(v, inst, 0, inst->result_count) &&
           need(v, inst, inst->regions[0]->param_count == 0, "its region takes no parameters");
}

/* The next turn of a loop: what its region takes. */
static bool check_turn(V *v, I *inst, I *loop) {
    Values carried = without_first(params_of(loop->regions[0]), gp_loop_indices(loop));
    return check_alike(v, inst, operands_of(inst), carried, "carried values");
}

bool gp_sig_Carry(V *v, I *inst) {
    if (!need_counts(v, inst, inst->operand_count, 0)) return false;
    I *to = inst->op == GpOp_Yield ? inst->parent->owner : inst->target;
    if (!to) return gp_ir_refuse(v, inst, "it stands in a region of an instruction");
    bool is_turn = gp_is_loop(to);
    if (is_turn && inst->op != GpOp_Break) return check_turn(v, inst, to);
    bool combines = to->op == GpOp_Reduce || to->op == GpOp_Scan;
    if (combines)
        return check_alike(v, inst, operands_of(inst), (Values){inst->parent->params, 1},
                           "accumulator");
    return check_alike(v, inst, operands_of(inst), results_of(to), "results");
}

bool gp_sig_Nothing(V *v, I *inst) { return need_counts(v, inst, 0, 0); }

bool gp_sig_CheckIndex(V *v, I *inst) {
    if (!need_counts(v, inst, 2, 1)) return false;
    bool is_wide = is_index(in(inst, 0)) && is_scalar(in(inst, 1), GpElem_U64);
    bool is_narrow = is_scalar(in(inst, 0), GpElem_I32) && is_scalar(in(inst, 1), GpElem_I32);
    return need(v, inst, is_wide || is_narrow,
                "it takes an i64 or u64 and a u64 length, or two i32") &&
           need(v, inst, is_scalar(out(inst), GpElem_Bool), "the result is a bool");
}

bool gp_sig_CheckDiv(V *v, I *inst) {
    return need_counts(v, inst, 1, 0) &&
           need(v, inst, has_numbers(in(inst, 0)) && is_integer(in(inst, 0)->elem),
                "it takes integers");
}

bool gp_sig_Assert(V *v, I *inst) {
    uint32_t told = inst->operand_count > 1 ? 2 : 0;
    return need_counts(v, inst, 1 + told, 0) &&
           need(v, inst, is_scalar(in(inst, 0), GpElem_Bool), "the condition is a bool") &&
           need(v, inst, !told || (is_scalar(in(inst, 1), GpElem_I32) && is_scalar(in(inst, 2), GpElem_I32)),
                "the numbers that it tells are i32");
}

bool gp_sig_Below(V *v, I *inst) {
    return need_counts(v, inst, 2, 1) &&
           need(v, inst,
                is_scalar(in(inst, 0), GpElem_I32) && is_scalar(in(inst, 1), GpElem_I32) &&
                    out(inst) == in(inst, 0),
                "it takes two i32 and gives one");
}

bool gp_sig_Axis(V *v, I *inst) {
    return need_counts(v, inst, 0, 1) && need(v, inst, inst->axis < 3, "the axis is 0, 1 or 2") &&
           need(v, inst,
                is_scalar(out(inst), v->fn->track == GpTrack_Simt ? GpElem_U32 : GpElem_I32),
                "the result is i32 on the tile track, u32 on SIMT");
}

/* How many {} a text has; -1 when a brace stands alone. */
static int count_places(const char *text) {
    int count = 0;
    for (const char *c = text; *c; c++) {
        if (*c != '{' && *c != '}') continue;
        if (c[0] == c[1]) c++;
        else if (c[0] == '{' && c[1] == '}') c++, count++;
        else return -1;
    }
    return count;
}

bool gp_sig_Print(V *v, I *inst) {
    if (!need_counts(v, inst, inst->operand_count, 0)) return false;
    for (uint32_t i = 0; i < inst->operand_count; i++)
        if (!has_numbers(in(inst, i)) && in(inst, i)->kind != GpIrType_Ptr)
            return gp_ir_refuse(v, inst, "operand %u is a tensor", i);
    return need(v, inst, count_places(inst->text) == (int)inst->operand_count,
                "its text has one {} for each operand");
}

bool gp_ir_check_sig(GpVerifier *v, const GpInst *inst) {
    static bool (*const checks[GpSig_count])(V *, I *) = {
#define GP_SIG(id, attrs, regions, elementwise, elems, doc) [GpSig_##id] = gp_sig_##id,
#include "dsl/ir/sig.def"
    };
    return checks[gp_op_info[inst->op].sig](v, inst);
}
