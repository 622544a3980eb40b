/* Checks of launches: taken from IR, and evaluated. */
#include "dsl/ir/launch.h"

#include "dsl/ir/eval.h"
#include "dsl/ir/pass.h"

enum { TERMS_MAX = 64, OPERANDS_MAX = 3 };

typedef GP_VEC(GpLaunchTerm) Terms;

static bool add(const GpIrFn *fn, const GpValue *v, bool has_grid, Terms *out) {
    v = gp_pass_settled((GpValue *)(uintptr_t)v);
    const GpInst *inst = v->inst;
    if (!inst || v->type->kind != GpIrType_Scalar || out->len >= TERMS_MAX)
        return false;
    GpLaunchTerm t = {.op = inst->op, .pred = inst->pred, .elem = v->type->elem};
    if (inst->op == GpOp_Below)
        return add(fn, inst->operands[0], has_grid, out);
    if (inst->op == GpOp_Const) {
        t.value = inst->imm;
    } else if (inst->op == GpOp_NumPrograms) {
        if (!has_grid)
            return false;
        t.axis = inst->axis;
    } else if (inst->op == GpOp_Dim) {
        const GpValue *tensor = inst->operands[0];
        if (tensor->inst || tensor->region != fn->body)
            return false;
        t.arg = fn->params[tensor->index].arg;
        t.axis = inst->axis;
    } else {
        if (!gp_sig_info[gp_op_info[inst->op].sig].elementwise ||
            inst->operand_count > OPERANDS_MAX)
            return false;
        for (uint32_t i = 0; i < inst->operand_count; i++)
            if (!add(fn, inst->operands[i], has_grid, out))
                return false;
        t.operands = (uint8_t)inst->operand_count;
    }
    GP_PUSH(fn->arena, out, t);
    return true;
}

bool gp_launch_side(const GpIrFn *fn, const GpValue *v, bool has_grid, GpLaunchSide *out) {
    Terms terms = {0};
    if (!add(fn, v, has_grid, &terms))
        return false;
    *out = (GpLaunchSide){terms.at, terms.len};
    return true;
}

GpScalar gp_launch_value(const GpLaunchSide *side, const GpLaunchFacts *facts) {
    GpScalar stack[TERMS_MAX + 1] = {{.elem = GpElem_I32}};
    uint32_t depth = 0;
    for (uint32_t i = 0; i < side->count; i++) {
        const GpLaunchTerm *t = &side->terms[i];
        GpScalar v = t->value;
        if (t->op == GpOp_Dim)
            v = (GpScalar){.elem = t->elem, .i = facts->extent(facts->ud, t->arg, t->axis)};
        else if (t->op == GpOp_NumPrograms)
            v = (GpScalar){.elem = t->elem, .i = facts->grid[t->axis]};
        else if (t->operands)
            (void)gp_eval(t->op, t->pred, t->elem, &stack[depth -= t->operands], &v);
        stack[depth++] = v;
    }
    return stack[0];
}

bool gp_launch_holds(const GpLaunchCheck *check, const GpLaunchFacts *facts) {
    GpScalar left = gp_launch_value(&check->left, facts);
    return check->right.count ? left.i <= gp_launch_value(&check->right, facts).i : left.u != 0;
}

static GpLaunchSide copy_side(GpArena *arena, const GpLaunchSide *side) {
    GpLaunchSide out = {GP_NEW_ARRAY(arena, GpLaunchTerm, side->count), side->count};
    if (side->count)
        memcpy(out.terms, side->terms, side->count * sizeof *out.terms);
    return out;
}

GpLaunchCheck *gp_launch_copy(GpArena *arena, const GpLaunchCheck *checks, uint32_t count) {
    GpLaunchCheck *out = GP_NEW_ARRAY(arena, GpLaunchCheck, count);
    for (uint32_t i = 0; i < count; i++) {
        out[i] = checks[i];
        out[i].left = copy_side(arena, &checks[i].left);
        out[i].right = copy_side(arena, &checks[i].right);
        out[i].what = gp_arena_copy(arena, checks[i].what, strlen(checks[i].what));
    }
    return out;
}
