/* Reductions, scans, concatenations and accesses through addresses on the CPU, each into a buffer
** of its own.
**
** A reduction is one row-major nest over its operand that updates the totals in memory. Along the
** innermost axis the total's place does not move, so LLVM keeps it in a register and vectorises;
** along another axis the innermost loop runs over many totals and vectorises too. */
#include "codegen/emit_tile_cpu.h"

typedef struct Fold {
    const GpInst *inst;
    const GpIrType *type; /* of the totals: the operand without the axis */
    LLVMValueRef totals, prefixes; /* prefixes: of a scan */
} Fold;

static GpIrType totals_type(const GpInst *inst) {
    GpIrType t = {.kind = GpIrType_Tile, .elem = inst->operands[0]->type->elem};
    const GpShape *from = &inst->operands[0]->type->shape;
    for (int a = 0; a < from->rank; a++)
        if (a != inst->axis)
            t.shape.dim[t.shape.rank++] = from->dim[a];
    return t;
}

static void start_body(GpFusion *f, const GpCoords *c, void *ud) {
    const Fold *d = ud;
    gp_emit_mem_store(f->e, d->type->elem, gp_emit_get(f->e, d->inst->operands[1]),
                      gp_cpu_at(f->e, d->type, d->totals, c));
}

/* Sums and products may associate: the definition of reduce says so. */
static void allow_reassociation(LLVMValueRef v) {
    if (!LLVMIsAInstruction(v))
        return;
    LLVMOpcode opcode = LLVMGetInstructionOpcode(v);
    if (opcode == LLVMFAdd || opcode == LLVMFMul)
        LLVMSetFastMathFlags(v, LLVMFastMathAllowReassoc);
}

static void fold_body(GpFusion *f, const GpCoords *c, void *ud) {
    const Fold *d = ud;
    GpEmit *e = f->e;
    const GpInst *inst = d->inst;
    const GpIrType *from = inst->operands[0]->type;
    GpCoords *at = GP_NEW(e->arena, GpCoords), rest = {{NULL}};
    *at = *c;
    int rank = 0;
    for (int a = 0; a < from->shape.rank; a++)
        if (a != inst->axis)
            rest.at[rank++] = c->at[a];
    if (inst->is_reverse)
        at->at[inst->axis] = LLVMBuildNSWSub(
            e->b, gp_emit_i64(e, from->shape.dim[inst->axis] - 1), c->at[inst->axis], "");
    LLVMValueRef place = gp_cpu_at(e, d->type, d->totals, &rest);
    LLVMValueRef x = gp_cpu_eval(f, inst->operands[0], at);
    LLVMValueRef total = gp_emit_mem_load(e, from->elem, place);
    total = gp_emit_combination(e, inst, total, x);
    bool is_one_op = gp_ir_fold_op(inst) != GpOp_count;
    if (!d->prefixes && is_one_op)
        allow_reassociation(total);
    gp_emit_mem_store(e, from->elem, total, place);
    if (d->prefixes)
        gp_emit_mem_store(e, from->elem, total, gp_cpu_at(e, from, d->prefixes, at));
}

static void emit_fold(GpEmit *e, const GpInst *inst) {
    GpIrType type = totals_type(inst);
    Fold d = {.inst = inst, .type = &type, .totals = gp_tile_cpu_buffer(e, &type)};
    if (inst->op == GpOp_Scan)
        d.prefixes = gp_tile_cpu_buffer(e, inst->results[0]->type);
    GpNest start = {.shape = &type.shape, .body = start_body, .ud = &d};
    gp_cpu_nest(e, &start);
    GpNest nest = {&inst->operands[0]->type->shape, inst->operands, 1, NULL, fold_body, &d};
    gp_cpu_nest(e, &nest);
    gp_emit_set(e, inst->results[0], d.prefixes ? d.prefixes : d.totals);
}

typedef struct Part {
    const GpInst *inst;
    const GpValue *value;
    int64_t first; /* along the axis */
    LLVMValueRef buffer;
} Part;

static void part_body(GpFusion *f, const GpCoords *c, void *ud) {
    const Part *p = ud;
    GpEmit *e = f->e;
    const GpIrType *type = p->inst->results[0]->type;
    GpCoords to = *c;
    to.at[p->inst->axis] =
        LLVMBuildNSWAdd(e->b, c->at[p->inst->axis], gp_emit_i64(e, p->first), "");
    LLVMValueRef v = gp_cpu_eval(f, p->value, c);
    gp_emit_mem_store(e, type->elem, v, gp_cpu_at(e, type, p->buffer, &to));
}

static void emit_cat(GpEmit *e, const GpInst *inst) {
    Part p = {.inst = inst, .buffer = gp_tile_cpu_buffer(e, inst->results[0]->type)};
    for (uint32_t i = 0; i < 2; i++) {
        p.value = inst->operands[i];
        GpNest nest = {&p.value->type->shape, &inst->operands[i], 1, NULL, part_body, &p};
        gp_cpu_nest(e, &nest);
        p.first += p.value->type->shape.dim[inst->axis];
    }
    gp_emit_set(e, inst->results[0], p.buffer);
}

void gp_tile_cpu_whole(GpEmit *e, const GpInst *inst) {
    if (inst->op == GpOp_Cat)
        emit_cat(e, inst);
    else if (inst->op == GpOp_Mma)
        gp_cpu_mma(e, inst);
    else
        emit_fold(e, inst);
}

typedef struct Accessed {
    const GpInst *inst;
    LLVMValueRef buffer; /* of the result; NULL without one */
} Accessed;

static void access_body(GpFusion *f, const GpCoords *c, void *ud) {
    const Accessed *a = ud;
    LLVMValueRef x[GP_ACCESS_OPERANDS] = {NULL};
    for (uint32_t i = 0; i < a->inst->operand_count; i++)
        x[i] = gp_cpu_eval(f, a->inst->operands[i], c);
    LLVMValueRef v = gp_emit_access(f->e, a->inst, x, NULL);
    if (!a->buffer)
        return;
    const GpIrType *type = a->inst->results[0]->type;
    gp_emit_mem_store(f->e, type->elem, v, gp_cpu_at(f->e, type, a->buffer, c));
}

/* Operands that are read from tensors are evaluated first: the access may change what they read. */
void gp_tile_cpu_access(GpEmit *e, const GpInst *inst) {
    Accessed a = {inst, NULL};
    if (inst->result_count)
        a.buffer = gp_tile_cpu_buffer(e, inst->results[0]->type);
    GpNest nest = {&inst->operands[1]->type->shape, inst->operands, inst->operand_count, NULL,
                   access_body, &a};
    gp_cpu_nest(e, &nest);
    if (a.buffer)
        gp_emit_set(e, inst->results[0], a.buffer);
}
