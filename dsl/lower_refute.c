/* Tile indices that cannot be right, whatever the launch: a constant that no tile has, and a loop's
** index that starts below zero. Only those are refused that every run comes to, so that a branch
** that the generics rule out says nothing. Everything else is checked in the kernel. */
#include "dsl/lower_tile.h"

/* The first value of the loop's index, when it is one. */
static bool first_turn(const GpInst *check, const GpValue *index, GpScalar *out) {
    const GpInst *loop = index->region ? index->region->owner : NULL;
    return loop && loop->op == GpOp_For && index->index == 0 && check->parent == index->region &&
           gp_tile_known(loop->operands[0], out);
}

/* Whether nothing but loops is around it. */
static bool is_always_reached(const GpInst *inst) {
    for (const GpInst *owner = inst->parent->owner; owner; owner = owner->parent->owner)
        if (owner->op != GpOp_For)
            return false;
    return true;
}

static void refuse(GpLower *lo, const GpInst *check, int64_t index, const char *why) {
    const GpCheckSite *site = &lo->fn->sites[check->site];
    GpDiag *d = gp_diag(lo->diags, GpDiag_G0261, check->span,
                        gp_arena_printf(lo->arena, "%lld", (long long)index),
                        gp_arena_printf(lo->arena, "%u", site->axis));
    gp_primary_label(d, "%s", why);
    lo->has_failed = true;
}

static void visit(GpInst *inst, void *ud) {
    GpLower *lo = ud;
    GpScalar at, count;
    if (inst->op != GpOp_CheckIndex || lo->fn->sites[inst->site].kind != GpCheck_Tile)
        return;
    GpValue *index = gp_lower_resolve(inst->operands[0]);
    bool has_index = gp_tile_known(index, &at) || first_turn(inst, index, &at);
    if (!has_index || !is_always_reached(inst))
        return;
    if (at.i < 0)
        refuse(lo, inst, at.i,
               index->inst ? "tile indices are not negative" : "the loop's index starts below zero");
    else if (gp_tile_known(inst->operands[1], &count) && at.i >= count.i)
        refuse(lo, inst, at.i,
               gp_arena_printf(lo->arena, "there %s %lld tile%s on this axis",
                               count.i == 1 ? "is" : "are", (long long)count.i,
                               gp_plural(count.i)));
}

void gp_lower_refute_checks(GpLower *lo) { gp_ir_walk(lo->fn, GpWalk_Before, visit, lo); }
