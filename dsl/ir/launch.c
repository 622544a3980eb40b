/* Checks of launches: taken from IR, and evaluated. */
#include "dsl/ir/launch.h"

#include "dsl/ir/eval.h"
#include "dsl/ir/pass.h"

enum { TERMS_MAX = 256, OPERANDS_MAX = 3 };

typedef GP_VEC(GpLaunchTerm) Terms;

static bool add(const GpIrFn *fn, const GpValue *v, bool has_grid, Terms *out);

static bool add_operands(const GpIrFn *fn, const GpInst *inst, uint32_t count, bool has_grid, GpLaunchTerm *t,
                         Terms *out) {
    for (uint32_t i = 0; i < count; i++) {
        if (!add(fn, inst->operands[i], has_grid, out))
            return false;
        t->varies |= out->at[out->len - 1].varies;
    }
    t->operands = (uint8_t)count;
    return true;
}

/* The index of a loop, from its bounds. */
static bool add_index(const GpIrFn *fn, const GpValue *v, bool has_grid, Terms *out) {
    const GpInst *loop = v->region ? v->region->owner : NULL;
    GpLaunchTerm t = {.op = GpOp_For, .elem = v->type->elem, .varies = true};
    if (!has_grid || !loop || loop->op != GpOp_For || v->index != 0 || !add_operands(fn, loop, 2, has_grid, &t, out))
        return false;
    GP_PUSH(fn->arena, out, t);
    return true;
}

/* The bound first: it is known where the value is not. */
static bool add_below(const GpIrFn *fn, const GpInst *inst, bool has_grid, GpLaunchTerm *t, Terms *out) {
    if (!add(fn, inst->operands[1], has_grid, out))
        return false;
    uint32_t len = out->len;
    bool has_value = add(fn, inst->operands[0], has_grid, out);
    t->varies = !has_value || out->at[out->len - 1].varies;
    t->operands = has_value ? 2 : 1;
    if (!has_value)
        out->len = len;
    return true;
}

/* Whether a range of operands tells one of the result: not for what is cut into bits. */
static bool has_ranges(GpOp op) {
    return op == GpOp_Add || op == GpOp_Sub || op == GpOp_Mul || op == GpOp_Div || op == GpOp_Rem ||
           op == GpOp_Cast;
}

static bool is_clamp(GpOp op) { return op == GpOp_Min || op == GpOp_Max; }

/* One bound is known where the other is not. */
static bool add_clamp(const GpIrFn *fn, const GpInst *inst, bool has_grid, GpLaunchTerm *t, Terms *out) {
    for (uint32_t i = 0; i < 2; i++) {
        uint32_t len = out->len;
        bool is_known = add(fn, inst->operands[i], has_grid, out);
        t->varies |= !is_known || out->at[out->len - 1].varies;
        t->operands += is_known;
        if (!is_known)
            out->len = len;
    }
    return t->operands > 0;
}

static bool add_elementwise(const GpIrFn *fn, const GpInst *inst, bool has_grid, GpLaunchTerm *t, Terms *out) {
    return gp_sig_info[gp_op_info[inst->op].sig].elementwise && inst->operand_count <= OPERANDS_MAX &&
           add_operands(fn, inst, inst->operand_count, has_grid, t, out) && (!t->varies || has_ranges(inst->op));
}

static bool add(const GpIrFn *fn, const GpValue *v, bool has_grid, Terms *out) {
    v = gp_pass_settled((GpValue *)(uintptr_t)v);
    const GpInst *inst = v->inst;
    if (v->type->kind != GpIrType_Scalar || gp_elem_is_float(v->type->elem) || out->len >= TERMS_MAX)
        return false;
    if (!inst)
        return add_index(fn, v, has_grid, out);
    GpLaunchTerm t = {.op = inst->op, .pred = inst->pred, .elem = v->type->elem, .axis = inst->axis};
    bool is_known = true;
    if (inst->op == GpOp_Const) {
        t.value = inst->imm;
    } else if (inst->op == GpOp_NumPrograms || inst->op == GpOp_ProgramId) {
        is_known = has_grid;
        t.varies = inst->op == GpOp_ProgramId;
    } else if (inst->op == GpOp_Dim) {
        const GpValue *tensor = inst->operands[0];
        is_known = !tensor->inst && tensor->region == fn->body;
        t.arg = is_known ? fn->params[tensor->index].arg : 0;
    } else if (inst->op == GpOp_Below) {
        is_known = add_below(fn, inst, has_grid, &t, out);
    } else if (is_clamp(inst->op)) {
        is_known = add_clamp(fn, inst, has_grid, &t, out);
    } else {
        is_known = add_elementwise(fn, inst, has_grid, &t, out);
    }
    if (is_known)
        GP_PUSH(fn->arena, out, t);
    return is_known;
}

bool gp_launch_side(const GpIrFn *fn, const GpValue *v, bool has_grid, GpLaunchSide *out) {
    Terms terms = {0};
    if (!add(fn, v, has_grid, &terms))
        return false;
    *out = (GpLaunchSide){terms.at, terms.len};
    return true;
}

bool gp_launch_whole_tiles(const GpIrFn *fn, const GpValue *v, uint8_t axis, int64_t extent, GpLaunchSide *out) {
    int64_t dim = v->type->shape.dim[axis];
    if (v->inst || v->region != fn->body)
        return false;
    GpLaunchTerm size = {.op = GpOp_Dim, .elem = GpElem_I64, .arg = fn->params[v->index].arg, .axis = axis};
    if (dim != GP_DYNAMIC)
        size = (GpLaunchTerm){.op = GpOp_Const, .elem = GpElem_I64, .value = {.elem = GpElem_I64, .i = dim}};
    GpLaunchTerm tile = {.op = GpOp_Const, .elem = GpElem_I64, .value = {.elem = GpElem_I64, .i = extent}};
    GpLaunchTerm count = {.op = GpOp_Div, .elem = GpElem_I64, .operands = 2};
    *out = (GpLaunchSide){GP_NEW_ARRAY(fn->arena, GpLaunchTerm, 3), 3};
    memcpy(out->terms, (GpLaunchTerm[]){size, tile, count}, 3 * sizeof size);
    return true;
}

/* ---- Ranges ------------------------------------------------------------------------------- */

static const GpLaunchRange unknown = {INT64_MIN, INT64_MAX};

/* Whether sums and products of 64 bits hold those of its values. */
static bool is_small(const GpLaunchRange *r) { return r->least >= INT32_MIN && r->most <= INT32_MAX; }

/* What the type holds; of 64 bits nothing is known. */
static GpLaunchRange of_type(GpElem elem) {
    uint32_t bits = gp_elem_info[elem].bits - (gp_elem_is_signed(elem) ? 1U : 0U);
    int64_t most = (int64_t)((UINT64_C(1) << bits % 64) - 1);
    return bits >= 63 ? unknown : (GpLaunchRange){gp_elem_is_signed(elem) ? -most - 1 : 0, most};
}

static GpLaunchRange of_clamp(const GpLaunchTerm *t, const GpLaunchRange *r) {
    GpLaunchRange any = of_type(t->elem), bound[2] = {any, any};
    for (uint32_t i = 0; i < t->operands; i++)
        bound[i] = (GpLaunchRange){GP_MAX(r[i].least, any.least), GP_MIN(r[i].most, any.most)};
    if (t->op == GpOp_Min)
        return (GpLaunchRange){GP_MIN(bound[0].least, bound[1].least), GP_MIN(bound[0].most, bound[1].most)};
    return (GpLaunchRange){GP_MAX(bound[0].least, bound[1].least), GP_MAX(bound[0].most, bound[1].most)};
}

/* One value, by the operation's own arithmetic, which wraps. */
static GpLaunchRange of_points(const GpLaunchTerm *t, const GpElem *elems, const GpLaunchRange *r) {
    GpScalar args[OPERANDS_MAX], v;
    for (uint32_t i = 0; i < t->operands; i++)
        args[i] = (GpScalar){.elem = elems[i], .i = r[i].least};
    bool is_known = gp_eval(t->op, t->pred, t->elem, args, &v) && (t->elem != GpElem_U64 || v.i >= 0);
    return is_known ? (GpLaunchRange){v.i, v.i} : unknown;
}

/* Where each operand only raises or only lowers the value, its ends come from theirs. */
static GpLaunchRange of_ends(const GpLaunchTerm *t, const GpLaunchRange *r) {
    GpLaunchRange out = {INT64_MAX, INT64_MIN};
    for (uint32_t ends = 0; ends < 1u << t->operands; ends++) {
        GpScalar args[OPERANDS_MAX], v;
        for (uint32_t i = 0; i < t->operands; i++)
            args[i] = (GpScalar){.elem = GpElem_I64, .i = ends >> i & 1 ? r[i].most : r[i].least};
        (void)gp_eval(t->op, t->pred, GpElem_I64, args, &v);
        out = (GpLaunchRange){GP_MIN(out.least, v.i), GP_MAX(out.most, v.i)};
    }
    return out;
}

static GpLaunchRange of_elementwise(const GpLaunchTerm *t, const GpElem *elems, const GpLaunchRange *r) {
    bool are_points = true, are_small = true;
    for (uint32_t i = 0; i < t->operands; i++) {
        are_points &= r[i].least == r[i].most;
        are_small &= is_small(&r[i]);
    }
    if (are_points)
        return of_points(t, elems, r);
    if (!are_small)
        return unknown;
    if (t->op == GpOp_Rem && r[0].least >= 0 && r[1].least > 0)
        return (GpLaunchRange){0, GP_MIN(r[0].most, r[1].most - 1)};
    return t->op == GpOp_Rem || (t->op == GpOp_Div && r[1].least <= 0) ? unknown : of_ends(t, r);
}

static GpLaunchRange of_term(const GpLaunchTerm *t, const GpElem *elems, const GpLaunchRange *r,
                             const GpLaunchFacts *facts) {
    GpLaunchRange out = {t->value.i, t->value.i};
    if (t->op == GpOp_Dim)
        out.least = out.most = facts->extent(facts->ud, t->arg, t->axis);
    else if (t->op == GpOp_NumPrograms)
        out.least = out.most = facts->grid[t->axis];
    else if (t->op == GpOp_ProgramId)
        out = (GpLaunchRange){0, (int64_t)facts->grid[t->axis] - 1};
    else if (t->op == GpOp_For)
        out = (GpLaunchRange){r[0].least, is_small(&r[1]) ? r[1].most - 1 : INT64_MAX};
    else if (t->op == GpOp_Below)
        out = (GpLaunchRange){t->operands == 2 ? GP_MAX(r[1].least, 0) : 0,
                              GP_MIN(r[0].most - 1, t->operands == 2 ? r[1].most : INT64_MAX)};
    else if (is_clamp(t->op))
        out = of_clamp(t, r);
    else if (t->operands)
        out = of_elementwise(t, elems, r);
    GpScalar fits;
    bool is_held = gp_scalar_from_int(out.least, t->elem, &fits) && gp_scalar_from_int(out.most, t->elem, &fits);
    return is_held ? out : unknown; /* or it wraps */
}

GpLaunchRange gp_launch_range(const GpLaunchSide *side, const GpLaunchFacts *facts) {
    GpLaunchRange stack[TERMS_MAX + 1] = {unknown};
    GpElem elems[TERMS_MAX + 1] = {GpElem_I32};
    uint32_t depth = 0;
    for (uint32_t i = 0; i < side->count; i++) {
        const GpLaunchTerm *t = &side->terms[i];
        depth -= t->operands;
        stack[depth] = of_term(t, elems + depth, stack + depth, facts);
        elems[depth++] = t->elem;
    }
    return stack[0];
}

bool gp_launch_holds(const GpLaunchCheck *check, const GpLaunchFacts *facts) {
    GpLaunchRange value = gp_launch_range(&check->value, facts);
    if (!check->length.count)
        return value.least == 1;
    return value.least >= 0 && value.most < gp_launch_range(&check->length, facts).least;
}

static bool has_open(const GpLaunchSide *side) {
    for (uint32_t i = 0; i < side->count; i++)
        if (is_clamp(side->terms[i].op) && side->terms[i].operands == 1)
            return true;
    return false;
}

static int64_t many(const void *ud, uint32_t arg, uint32_t axis) {
    (void)ud, (void)arg, (void)axis;
    return 1 << 20;
}

bool gp_launch_is_open(const GpLaunchCheck *check) {
    GpLaunchFacts large = {many, NULL, (uint32_t[]){1, 1, 1}};
    return has_open(&check->value) && !gp_launch_holds(check, &large);
}

void gp_launch_mark_whole(GpIrFn *fn) {
    for (uint32_t i = 0; i < fn->whole_count; i++)
        fn->whole[i]->is_whole = true;
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
        out[i].value = copy_side(arena, &checks[i].value);
        out[i].length = copy_side(arena, &checks[i].length);
        out[i].what = gp_arena_copy(arena, checks[i].what, strlen(checks[i].what));
    }
    return out;
}
