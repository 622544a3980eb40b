/* Accepted matches: each variant of the value is named by an arm without a guard, or by one that takes all.
** What stands in the fields is not looked at: that much every match has whose arms take all values. */
#include "dsl/check.h"
#include "spec/fuzz/judge.h"

static bool takes(GpNode *pat, const GpDef *variant) {
    if (pat->kind == GpNode_PatParen)
        return takes(GP_AS(PatParen, pat)->pat, variant);
    if (pat->kind == GpNode_PatRef)
        return takes(GP_AS(PatRef, pat)->pat, variant);
    if (pat->kind == GpNode_PatName && pat->res && pat->res->kind == GpRes_Local)
        return !GP_AS(PatName, pat)->sub || takes(GP_AS(PatName, pat)->sub, variant);
    bool is_any = false;
    for (uint32_t i = 0; pat->kind == GpNode_PatOr && i < GP_AS(PatOr, pat)->pats.len; i++)
        is_any |= takes(GP_AS(PatOr, pat)->pats.at[i], variant);
    bool is_other = pat->res && pat->res->kind == GpRes_Construct && pat->res->def != variant;
    return pat->kind == GpNode_PatOr ? is_any : !is_other;
}

static void judge_arms(const Judged *j, const GpAstMatch *m) {
    const GpType *t = m->scrutinee->type;
    while (t && t->kind == GpTy_Ref)
        t = t->inner;
    bool is_enum = t && t->kind == GpTy_Adt && t->def->kind == GpDef_Enum;
    for (uint32_t i = 0; is_enum && i < t->def->item_count; i++) {
        bool is_taken = false;
        for (uint32_t k = 0; k < m->arms.len; k++) {
            const GpAstArm *arm = GP_AS(Arm, m->arms.at[k]);
            is_taken |= !arm->guard && takes(arm->pat, t->def->items[i]);
        }
        judge_require(j, is_taken, "no arm takes %s in the match at %u", t->def->items[i]->name->name, m->node.span.off);
    }
}

static void judge_node(GpNode *n, void *ud) {
    if (gp_node_group(n->kind) == GpGroup_Item)
        return;
    if (n->kind == GpNode_Match)
        judge_arms(ud, GP_AS(Match, n));
    gp_node_children(n, judge_node, ud);
}

void judge_matches(const Judged *j) {
    for (uint32_t i = 0; i < j->module->fn_count; i++)
        gp_node_children(j->module->fns[i]->node, judge_node, (void *)j);
}
