/* An accepted tree: every type that the checker left on it is known. */
#include "dsl/check.h"
#include "spec/fuzz/judge.h"

static bool is_known(const GpType *t) {
    if (t->has_infer || t->kind == GpTy_Error)
        return false;
    for (uint32_t i = 0; i < t->arg_count; i++)
        if (t->args[i].kind == GpGArg_Type && !is_known(t->args[i].type))
            return false;
    return !t->inner || is_known(t->inner);
}

static void judge_type(const Judged *j, const GpType *t, GpSpan span, const char *what) {
    if (t)
        judge_require(j, is_known(t), "the type of %s at %u is unknown", what, span.off);
}

static void judge_res(const Judged *j, const GpNode *n) {
    judge_require(j, n->res->kind != GpRes_Error, "%s at %u means nothing", gp_node_name(n->kind),
                  n->span.off);
    for (uint32_t i = 0; i < n->res->arg_count; i++)
        if (n->res->args[i].kind == GpGArg_Type)
            judge_type(j, n->res->args[i].type, n->span, "a generic argument");
        else if (n->res->args[i].kind == GpGArg_Const)
            judge_require(j,
                          n->res->args[i].value->kind != GpConst_Infer &&
                              n->res->args[i].value->kind != GpConst_Error,
                          "a generic argument at %u is unknown", n->span.off);
}

/* Items inside of a body are functions of their own. */
static void judge_node(GpNode *n, void *ud) {
    const Judged *j = ud;
    GpNodeGroup group = gp_node_group(n->kind);
    if (group == GpGroup_Item || group == GpGroup_Type)
        return;
    judge_type(j, n->type, n->span, gp_node_name(n->kind));
    for (const GpAdjust *a = n->adjust; a; a = a->next)
        judge_type(j, a->type, n->span, "an implicit step");
    if (n->res)
        judge_res(j, n);
    gp_node_children(n, judge_node, ud);
}

void judge_tree(const Judged *j) {
    const GpModule *m = j->module;
    for (uint32_t i = 0; i < m->fn_count; i++) {
        const GpDef *fn = m->fns[i];
        for (uint32_t k = 0; k < fn->local_count; k++)
            judge_type(j, fn->locals[k]->type, fn->locals[k]->span, "a variable");
        gp_node_children(fn->node, judge_node, (void *)j);
    }
}
