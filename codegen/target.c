/* Targets: what exists, what a device gets, and what an operation needs. Everything that LLVM
** would answer with an abort is refused here first. */
#include <stdio.h>

#include "codegen/emit.h"

typedef struct TargetRow {
    uint16_t sm;
    bool is_arch;
    uint16_t ptx, shared, threads, blocks;
    const char *name;
} TargetRow;
static const TargetRow rows[] = {
#define GP_TARGET(sm, is_arch, ptx, shared, threads, blocks, name) {sm, is_arch, ptx, shared, threads, blocks, name},
#include "codegen/target.def"
};

/* PTX 7.8 is the least we emit: every older driver that knows sm_80 lacks cvt forms we use. */
enum { LEAST_PTX = 78, LEAST_SM = 80 };

static GpTarget target_of(const TargetRow *row) {
    return (GpTarget){GpTarget_Nvptx, row->sm, row->is_arch, GP_MAX(row->ptx, (uint16_t)LEAST_PTX)};
}

static const TargetRow *find_row(const GpTarget *t) {
    for (size_t i = 0; i < GP_COUNT(rows); i++)
        if (rows[i].sm == t->sm && rows[i].is_arch == t->is_arch)
            return &rows[i];
    return NULL;
}

GpStatus gp_target_for_device(uint16_t sm, uint16_t max_ptx, GpTarget *out) {
    const TargetRow *best = NULL;
    for (size_t i = 0; i < GP_COUNT(rows); i++) {
        GpTarget t = target_of(&rows[i]);
        bool fits = rows[i].is_arch ? rows[i].sm == sm : rows[i].sm <= sm;
        if (fits && t.ptx <= max_ptx)
            best = &rows[i];
    }
    if (!best || sm < LEAST_SM)
        return GpStatus_Unsupported;
    *out = target_of(best);
    return GpStatus_Ok;
}

GpStatus gp_target_parse(GpStr name, GpTarget *out) {
    *out = (GpTarget){.kind = GpTarget_Cpu};
    if (gp_str_eq(name, GP_STR("cpu")))
        return GpStatus_Ok;
    out->kind = GpTarget_Interp;
    if (gp_str_eq(name, GP_STR("interp")))
        return GpStatus_Ok;
    for (size_t i = 0; i < GP_COUNT(rows); i++) {
        if (!gp_str_eq(name, gp_str_from(rows[i].name)))
            continue;
        *out = target_of(&rows[i]);
        return GpStatus_Ok;
    }
    return GpStatus_Unsupported;
}

void gp_target_print_all(GpText *out) {
    gp_text_puts(out, "cpu, interp");
    for (size_t i = 0; i < GP_COUNT(rows); i++)
        gp_text_printf(out, ", %s", rows[i].name);
}

void gp_target_print(const GpTarget *t, GpText *out) {
    switch (t->kind) {
    case GpTarget_Nvptx:
        gp_text_puts(out, gp_target_cpu(t));
        return;
    case GpTarget_Cpu:
        gp_text_puts(out, "cpu");
        return;
    case GpTarget_Interp:
        gp_text_puts(out, "interp");
        return;
    }
    gp_unreachable();
}

const char *gp_target_cpu(const GpTarget *t) {
    const TargetRow *row = find_row(t);
    return row ? row->name : NULL;
}

static const TargetRow *get_row(const GpTarget *t) {
    const TargetRow *row = find_row(t);
    gp_assert(row);
    return row;
}

uint64_t gp_target_shared(const GpTarget *t) { return get_row(t)->shared * UINT64_C(1024); }

uint32_t gp_target_blocks(const GpTarget *t, uint32_t threads, uint32_t registers) {
    const TargetRow *row = get_row(t);
    uint32_t by_registers = GP_GPU_REGISTERS / (registers * threads);
    return GP_MIN(GP_MIN(by_registers, row->threads / threads), row->blocks);
}

typedef struct OpCheck {
    const GpTarget *target;
    GpDiags *diags;
    bool ok;
} OpCheck;

static void refuse(OpCheck *c, const GpInst *inst, const char *what, uint16_t sm, uint16_t ptx) {
    char text[64];
    snprintf(text, sizeof text, "sm_%u and PTX %u.%u", sm, ptx / 10u, ptx % 10u);
    GpDiag *d = gp_diag(c->diags, GpDiag_G0502, inst->span, what, text, gp_target_cpu(c->target));
    gp_primary_label(d, "not available on this target");
    c->ok = false;
}

/* No backend has code for it; the interpreter does. */
static void refuse_all(OpCheck *c, const GpInst *inst) {
    const char *cpu = gp_target_cpu(c->target);
    GpDiag *d = gp_diag(c->diags, GpDiag_G0502, inst->span, gp_op_info[inst->op].name,
                        "the interpreter", cpu ? cpu : "cpu");
    gp_primary_label(d, "not supported on this target yet");
    c->ok = false;
}

static bool has_code(const GpInst *inst) { return !gp_op_is_refused(inst->op); }

/* f8e4m3fn is computed in f32: an elementwise operation or a sum on it converts. f8e5m2 needs only f16. */
static bool converts_f8(const GpInst *inst) {
    bool is_sum = inst->op == GpOp_Mma ||
                  (inst->op == GpOp_AtomicRmw && inst->atomic == GpAtomic_Add);
    if (!is_sum && !gp_sig_info[gp_op_info[inst->op].sig].elementwise)
        return false;
    bool any = inst->result_count && inst->results[0]->type->elem == GpElem_F8E4;
    for (uint32_t i = 0; i < inst->operand_count; i++)
        any |= inst->operands[i]->type->elem == GpElem_F8E4;
    return any && inst->op != GpOp_Select && inst->op != GpOp_Bitcast;
}

static void check_op(GpInst *inst, void *ud) {
    OpCheck *c = ud;
    const GpOpInfo *info = &gp_op_info[inst->op];
    if (!has_code(inst))
        refuse_all(c, inst);
    if (c->target->kind != GpTarget_Nvptx)
        return;
    if (info->min_sm > c->target->sm || info->min_ptx > c->target->ptx)
        refuse(c, inst, info->name, GP_MAX(info->min_sm, (uint16_t)LEAST_SM),
               GP_MAX(info->min_ptx, (uint16_t)LEAST_PTX));
    if (converts_f8(inst) && (c->target->sm < 89 || c->target->ptx < 78))
        refuse(c, inst, "arithmetic on f8e4m3fn", 89, 78);
}

bool gp_target_check_ops(const GpIrFn *fn, const GpTarget *t, GpDiags *diags) {
    OpCheck c = {t, diags, true};
    gp_ir_walk(fn, GpWalk_Before, check_op, &c);
    return c.ok;
}
