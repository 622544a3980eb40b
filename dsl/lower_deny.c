/* deny_in_kernel_checks: no check is left in the kernel. What the optimizing passes prove is none;
** what only extents and the grid decide, every launch asks; the rest is refused.
**
** The passes run on a copy, since the function itself is what the interpreter runs. */
#include "dsl/ir/launch.h"
#include "dsl/ir/pass.h"
#include "dsl/lower.h"

typedef struct Deny {
    GpLower *lo;
    GpIrFn *copy;
    bool *at_launch; /* by site */
    GP_VEC(GpLaunchCheck) checks;
} Deny;

static bool is_not_negative(const GpValue *v) {
    GpScalar k;
    v = gp_pass_settled((GpValue *)(uintptr_t)v);
    if (gp_ir_const(v, &k))
        return k.i >= 0;
    const GpInst *loop = v->region ? v->region->owner : NULL;
    if (loop && loop->op == GpOp_For && v->index == 0)
        return is_not_negative(loop->operands[0]);
    return v->inst && (v->inst->op == GpOp_ProgramId || v->inst->op == GpOp_Below);
}

/* The least number that the index is known to be below, as terms. */
static bool find_limit(const Deny *d, GpValue *index, GpLaunchSide *out) {
    index = gp_pass_settled(index);
    const GpInst *loop = index->region ? index->region->owner : NULL;
    if (loop && loop->op == GpOp_For && index->index == 0)
        return gp_launch_side(d->copy, loop->operands[1], true, out);
    if (!index->inst)
        return false;
    if (index->inst->op == GpOp_Below)
        return gp_launch_side(d->copy, index->inst->operands[1], true, out);
    GpBuilder b = {.fn = d->copy, .region = index->inst->parent, .before = index->inst};
    GpScalar k;
    if (gp_ir_const(index, &k)) {
        b.before = b.region->first;
        return gp_launch_side(d->copy, gp_build_int(&b, index->type->elem, k.i + 1), true, out);
    }
    if (index->inst->op != GpOp_ProgramId)
        return false;
    GpInst *count = gp_build(&b, GpOp_NumPrograms, NULL, 0, &index->type, 1);
    count->axis = index->inst->axis;
    return gp_launch_side(d->copy, count->results[0], true, out);
}

static void refuse(const Deny *d, const GpInst *inst, const char *why) {
    const GpCheckSite *site = &d->copy->sites[inst->site];
    GpDiag *diag = gp_diag(d->lo->diags, GpDiag_G0260, inst->span, d->lo->kernel->name->name);
    gp_primary_label(diag, "%s", why);
    if (site->kind == GpCheck_Tile)
        gp_note(diag, "the tile index on axis %u is not known to be in range", site->axis);
    d->lo->has_failed = true;
}

static void add_check(Deny *d, const GpInst *inst, GpLaunchSide left, GpLaunchSide right) {
    const GpCheckSite *site = &d->copy->sites[inst->site];
    GpLaunchCheck check = {left, right, inst->span, site->what ? site->what : "", site->axis};
    GP_PUSH(d->lo->arena, &d->checks, check);
    d->at_launch[inst->site] = true;
}

static void visit(GpInst *inst, void *ud) {
    Deny *d = ud;
    GpLaunchSide left, right = {0};
    if (inst->op == GpOp_CheckIndex) {
        bool is_known = is_not_negative(inst->operands[0]) &&
                        find_limit(d, inst->operands[0], &left) &&
                        gp_launch_side(d->copy, inst->operands[1], true, &right);
        if (is_known)
            add_check(d, inst, left, right);
        else
            refuse(d, inst, "this index is checked in the kernel");
    } else if (inst->op == GpOp_Assert && d->copy->sites[inst->site].kind == GpCheck_Require) {
        if (gp_launch_side(d->copy, inst->operands[0], false, &left))
            add_check(d, inst, left, right);
        else
            refuse(d, inst, "what this relies on is checked in the kernel");
    } else if (inst->op == GpOp_CheckDiv) {
        refuse(d, inst, "this divisor is checked in the kernel");
    }
}

/* Takes the checks that launches make out of the function. */
static void take_out(GpInst *inst, void *ud) {
    const Deny *d = ud;
    bool is_check = inst->op == GpOp_CheckIndex || inst->op == GpOp_Assert;
    if (!is_check || !d->at_launch[inst->site])
        return;
    GpBuilder b = {.fn = d->lo->fn, .region = inst->parent, .before = inst, .span = inst->span};
    if (inst->op == GpOp_CheckIndex)
        gp_pass_replace(inst->results[0], gp_build_int(&b, GpElem_Bool, 1));
    gp_ir_remove(inst);
}

void gp_lower_deny_checks(GpLower *lo) {
    Deny d = {.lo = lo, .copy = gp_ir_clone(lo->arena, lo->fn)};
    d.at_launch = GP_NEW_ARRAY(lo->arena, bool, lo->fn->site_count);
    gp_ir_run_passes(d.copy, GpPassStage_Optimize);
    gp_ir_walk(d.copy, GpWalk_Before, visit, &d);
    if (lo->has_failed)
        return;
    gp_ir_walk(lo->fn, GpWalk_Before, take_out, &d);
    gp_ir_apply_forwards(lo->fn);
    gp_ir_number(lo->fn);
    lo->fn->launch_checks = d.checks.at;
    lo->fn->launch_check_count = d.checks.len;
}
