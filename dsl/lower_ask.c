/* Checks that every launch makes instead of the kernel: those that extents and the grid decide.
**
** The optimizing passes tell more of them, and run on a copy, since the function itself is what the
** interpreter runs. With deny_in_kernel_checks, what is left after the passes is refused. */
#include "dsl/ir/launch.h"
#include "dsl/ir/pass.h"
#include "dsl/lower.h"

typedef struct Ask {
    GpLower *lo;
    GpIrFn *copy;
    GpInst **check;  /* of the copy, by site; removed when the passes proved it */
    bool *at_launch; /* by site */
    GP_VEC(GpLaunchCheck) checks;
    GP_VEC(GpInst *) whole;
} Ask;

static void find_check(GpInst *inst, void *ud) {
    Ask *a = ud;
    bool is_check = inst->op == GpOp_CheckIndex ||
                    (inst->op == GpOp_Assert && a->copy->sites[inst->site].kind == GpCheck_Require);
    if (!is_check)
        return;
    gp_assert(!a->check[inst->site]); /* each has a site of its own */
    a->check[inst->site] = inst;
}

static void refuse(const Ask *a, const GpInst *inst, const char *why) {
    if (!a->lo->kernel->kernel.denies_checks)
        return;
    const GpCheckSite *site = &a->copy->sites[inst->site];
    GpDiag *diag = gp_diag(a->lo->diags, GpDiag_G0260, inst->span, a->lo->kernel->name->name);
    gp_primary_label(diag, "%s", why);
    if (site->kind == GpCheck_Tile)
        gp_note(diag, "the tile index on axis %u is not known to be in range", site->axis);
    a->lo->has_failed = true;
}

/* A check that the passes left. */
static void visit(GpInst *inst, void *ud) {
    Ask *a = ud;
    if (inst->op == GpOp_CheckDiv)
        refuse(a, inst, "this divisor is checked in the kernel");
    if (inst->op == GpOp_CheckDiv || a->check[inst->site] != inst)
        return;
    const GpCheckSite *site = &a->copy->sites[inst->site];
    GpLaunchCheck check = {.span = inst->span, .what = site->what ? site->what : "", .axis = site->axis};
    bool is_index = inst->op == GpOp_CheckIndex;
    if (gp_launch_side(a->copy, inst->operands[0], is_index, &check.value) &&
        (!is_index || gp_launch_side(a->copy, inst->operands[1], true, &check.length)) && !gp_launch_is_open(&check)) {
        GP_PUSH(a->lo->arena, &a->checks, check);
        a->at_launch[inst->site] = true;
        return;
    }
    refuse(a, inst, is_index ? "this index is checked in the kernel"
                             : "what this relies on is checked in the kernel");
}

/* A check that the passes merged into one that is made at the launch goes with it. */
static void follow_merged(const Ask *a) {
    for (uint32_t i = 0; i < a->copy->site_count; i++) {
        const GpInst *check = a->check[i];
        if (!check || !check->result_count)
            continue;
        const GpInst *kept = gp_pass_settled(check->results[0])->inst;
        if (kept->op == GpOp_CheckIndex && a->at_launch[kept->site])
            a->at_launch[i] = true;
    }
}

static void take_out(GpInst *inst, void *ud) {
    const Ask *a = ud;
    bool is_check = inst->op == GpOp_CheckIndex || inst->op == GpOp_Assert;
    if (!is_check || !a->at_launch[inst->site])
        return;
    GpBuilder b = {.fn = a->lo->fn, .region = inst->parent, .before = inst, .span = inst->span};
    if (inst->op == GpOp_CheckIndex)
        gp_pass_replace(inst->results[0], gp_build_int(&b, GpElem_Bool, 1));
    gp_ir_remove(inst);
}

static void find_product(GpInst *inst, void *ud) { *(bool *)ud |= inst->op == GpOp_Mma; }

/* The access and what has to hold for its tile to be whole, where only extents and the grid decide that. */
static void find_whole(GpInst *inst, void *ud) {
    Ask *a = ud;
    GpLaunchCheck axes[GP_MAX_RANK];
    bool is_store = inst->op == GpOp_StoreTile;
    if ((inst->op != GpOp_LoadTile && !is_store) || inst->by_element)
        return;
    const GpShape *tile = is_store ? &inst->operands[1]->type->shape : &inst->results[0]->type->shape;
    for (uint8_t x = 0; x < tile->rank; x++) {
        axes[x] = (GpLaunchCheck){.is_whole = true, .span = inst->span, .what = "", .axis = x};
        if (!gp_launch_side(a->lo->fn, inst->operands[(is_store ? 2 : 1) + x], true, &axes[x].value) ||
            !gp_launch_whole_tiles(a->lo->fn, inst->operands[0], x, tile->dim[x], &axes[x].length) ||
            gp_launch_is_open(&axes[x]))
            return;
    }
    for (uint8_t x = 0; x < tile->rank; x++)
        GP_PUSH(a->lo->arena, &a->checks, axes[x]);
    GP_PUSH(a->lo->arena, &a->whole, inst);
}

static void ask_checks(Ask *a) {
    GpLower *lo = a->lo;
    a->copy = gp_ir_clone(lo->arena, lo->fn);
    a->check = GP_NEW_ARRAY(lo->arena, GpInst *, lo->fn->site_count);
    a->at_launch = GP_NEW_ARRAY(lo->arena, bool, lo->fn->site_count);
    gp_ir_walk(a->copy, GpWalk_Before, find_check, a);
    gp_ir_run_passes(a->copy, GpPassStage_Optimize);
    gp_ir_walk(a->copy, GpWalk_Before, visit, a);
    if (lo->has_failed || !a->checks.len)
        return;
    follow_merged(a);
    gp_ir_walk(lo->fn, GpWalk_Before, take_out, a);
    gp_ir_apply_forwards(lo->fn);
    gp_ir_number(lo->fn);
}

void gp_lower_ask_launch(GpLower *lo) {
    Ask a = {.lo = lo};
    if (lo->fn->site_count)
        ask_checks(&a);
    /* Kernels with products copy tiles for later turns, also for those that a loop does not come to. */
    bool has_product = false;
    gp_ir_walk(lo->fn, GpWalk_Before, find_product, &has_product);
    if (!has_product)
        gp_ir_walk(lo->fn, GpWalk_Before, find_whole, &a);
    lo->fn->launch_checks = a.checks.at;
    lo->fn->launch_check_count = a.checks.len;
    lo->fn->whole = a.whole.at;
    lo->fn->whole_count = a.whole.len;
}
