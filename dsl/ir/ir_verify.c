/* The verifier: structure, tracks, dominance, targets. The rules of operands and results by
** signature are in ir_verify_sig.c. The first violation is the one that is reported. */
#include "dsl/ir/ir_verify.h"

#include <stdarg.h>

bool gp_ir_refuse(GpVerifier *v, const GpInst *inst, const char *fmt, ...) {
    if (v->failed) return false;
    v->failed = true;
    gp_text_printf(v->why, "`%s`", v->fn->name);
    if (inst) {
        GpPlaceInFile place = gp_span_start(inst->span);
        gp_text_printf(v->why, ", `%s`", gp_op_info[inst->op].name);
        if (inst->span.src) gp_text_printf(v->why, " at %s:%u", place.file, place.line);
    }
    gp_text_puts(v->why, ": ");
    va_list args;
    va_start(args, fmt);
    gp_text_vprintf(v->why, fmt, args);
    va_end(args);
    return false;
}

static bool check_type(GpVerifier *v, const GpInst *inst, const GpIrType *t) {
    bool is_tile = t->kind == GpIrType_Tile;
    int64_t numel;
    if (is_tile && v->fn->track != GpTrack_Tile)
        return gp_ir_refuse(v, inst, "tiles stand on the tile track only");
    if (t->kind == GpIrType_Tensor && v->fn->track != GpTrack_Tile)
        return gp_ir_refuse(v, inst, "tensors stand on the tile track only");
    if (is_tile && (!gp_shape_numel(&t->shape, &numel) || numel < 1 || numel > GP_MAX_TILE))
        return gp_ir_refuse(v, inst, "a tile's extents are positive, at most 2^20 elements in all");
    return true;
}

/* Makes a value visible until its region ends. */
static bool define(GpVerifier *v, const GpInst *inst, const GpValue *value) {
    if (value->id >= v->fn->next_id || v->is_known[value->id])
        return gp_ir_refuse(v, inst, "value %u has no unique id", value->id);
    if (value->forward) return gp_ir_refuse(v, inst, "value %u has a pending forward", value->id);
    v->is_known[value->id] = true;
    v->visible[value->id] = value;
    return check_type(v, inst, value->type);
}

static bool check_operands(GpVerifier *v, const GpInst *inst) {
    for (uint32_t i = 0; i < inst->operand_count; i++) {
        const GpValue *x = inst->operands[i];
        if (x->id >= v->fn->next_id || v->visible[x->id] != x)
            return gp_ir_refuse(v, inst, "operand %u is not defined on every way here", i);
    }
    return true;
}

static bool is_inside(const GpInst *inst, const GpInst *ancestor) {
    for (const GpRegion *r = inst->parent; r && r->owner; r = r->owner->parent)
        if (r->owner == ancestor) return true;
    return false;
}

static bool check_target(GpVerifier *v, const GpInst *inst) {
    if (inst->op != GpOp_Break && inst->op != GpOp_Continue)
        return !inst->target || gp_ir_refuse(v, inst, "only break and continue have a target");
    if (!inst->target || !is_inside(inst, inst->target))
        return gp_ir_refuse(v, inst, "the target does not enclose it");
    GpOp to = inst->target->op;
    bool is_turn = to == GpOp_Loop || to == GpOp_For;
    if (!is_turn && (inst->op == GpOp_Continue || to != GpOp_Block))
        return gp_ir_refuse(v, inst, "the target is no %s",
                            inst->op == GpOp_Break ? "loop, for or block" : "loop or for");
    return true;
}

static bool check_attributes(GpVerifier *v, const GpInst *inst) {
    const GpSigInfo *sig = &gp_sig_info[gp_op_info[inst->op].sig];
    if (inst->region_count != sig->regions)
        return gp_ir_refuse(v, inst, "it has %u regions, not %u", inst->region_count,
                            (unsigned)sig->regions);
    if (sig->attrs & GP_HAS(Site) && inst->site >= v->fn->site_count)
        return gp_ir_refuse(v, inst, "site %u does not exist", inst->site);
    for (unsigned attr = 0; attr < GpIrAttr_count; attr++) {
        const GpIrAttrInfo *info = &gp_ir_attr_info[attr];
        if (!(sig->attrs >> attr & 1)) continue;
        if (info->form == GpIrForm_Choice && gp_ir_choice(inst, (GpIrAttr)attr) >= info->word_count)
            return gp_ir_refuse(v, inst, "it has no %s or another of its kind", info->words[0]);
        if (info->form == GpIrForm_Text && !inst->text)
            return gp_ir_refuse(v, inst, "it has no text");
    }
    return check_target(v, inst);
}

static bool check_region(GpVerifier *v, const GpInst *owner, const GpRegion *r);

static bool check_inst(GpVerifier *v, const GpInst *inst, const GpRegion *r) {
    if ((unsigned)inst->op >= GpOp_count) return gp_ir_refuse(v, NULL, "unknown operation");
    if (inst->parent != r || (inst->next ? inst->next->prev != inst : r->last != inst))
        return gp_ir_refuse(v, inst, "it is not linked into its region");
    if (!(gp_op_info[inst->op].tracks >> v->fn->track & 1))
        return gp_ir_refuse(v, inst, "it does not stand on the %s track",
                            gp_ir_track_words[v->fn->track]);
    if (gp_op_is_terminator(inst->op) && inst->next)
        return gp_ir_refuse(v, inst, "it ends a region, but more follows");
    if (!check_operands(v, inst) || !check_attributes(v, inst) || !gp_ir_check_sig(v, inst))
        return false;
    for (uint32_t i = 0; i < inst->region_count; i++) {
        if (inst->regions[i]->owner != inst)
            return gp_ir_refuse(v, inst, "region %u has another owner", i);
        if (!check_region(v, inst, inst->regions[i])) return false;
    }
    for (uint32_t i = 0; i < inst->result_count; i++) {
        const GpValue *x = inst->results[i];
        if (x->inst != inst || x->index != i)
            return gp_ir_refuse(v, inst, "result %u belongs elsewhere", i);
        if (!define(v, inst, x)) return false;
    }
    return true;
}

static void hide(GpVerifier *v, const GpRegion *r) {
    for (uint32_t i = 0; i < r->param_count; i++) v->visible[r->params[i]->id] = NULL;
    for (const GpInst *inst = r->first; inst; inst = inst->next)
        for (uint32_t i = 0; i < inst->result_count; i++) v->visible[inst->results[i]->id] = NULL;
}

static bool check_region(GpVerifier *v, const GpInst *owner, const GpRegion *r) {
    for (uint32_t i = 0; i < r->param_count; i++) {
        const GpValue *x = r->params[i];
        if (x->region != r || x->index != i || x->inst)
            return gp_ir_refuse(v, owner, "region parameter %u belongs elsewhere", i);
        if (!define(v, owner, x)) return false;
    }
    for (const GpInst *inst = r->first; inst; inst = inst->next)
        if (!check_inst(v, inst, r)) return false;
    /* In a body only `return` passes the rules of terminators. */
    if (!gp_ir_terminator(r))
        return gp_ir_refuse(v, owner, "a region does not end in a terminator");
    hide(v, r);
    return true;
}

static bool check_param(GpVerifier *v, const GpIrParam *param, const GpIrType *t) {
    static const GpParamKind kinds[] = {[GpIrType_Scalar] = GpParam_Scalar,
                                        [GpIrType_Tile] = GpParam_Mailbox, /* never a parameter */
                                        [GpIrType_Ptr] = GpParam_Base,
                                        [GpIrType_Tensor] = GpParam_Base};
    bool is_len = t->kind == GpIrType_Scalar && t->elem == GpElem_U64 && param->kind == GpParam_Len;
    if (t->kind == GpIrType_Tile || (param->kind != kinds[t->kind] && !is_len))
        return gp_ir_refuse(v, NULL, "a parameter's kind does not fit its type");
    if (t->kind == GpIrType_Ptr && t->space != GpSpace_Global)
        return gp_ir_refuse(v, NULL, "a parameter points to global memory");
    return true;
}

static bool check_fn(GpVerifier *v) {
    const GpIrFn *fn = v->fn;
    if (fn->track == GpTrack_None)
        return gp_ir_refuse(v, NULL, "a kernel is of one track");
    if (fn->param_count != fn->body->param_count || fn->body->owner)
        return gp_ir_refuse(v, NULL, "its parameters do not match its body's");
    for (uint32_t i = 0; i < fn->param_count; i++)
        if (!check_param(v, &fn->params[i], fn->body->params[i]->type)) return false;
    return check_region(v, NULL, fn->body);
}

bool gp_ir_verify(const GpIrFn *fn, GpText *why) {
    GpMark mark = gp_arena_mark(fn->arena);
    GpVerifier v = {.fn = fn,
                    .why = why,
                    .visible = GP_NEW_ARRAY(fn->arena, const GpValue *, fn->next_id),
                    .is_known = GP_NEW_ARRAY(fn->arena, bool, fn->next_id)};
    bool ok = check_fn(&v);
    gp_arena_restore(fn->arena, mark);
    return ok;
}
