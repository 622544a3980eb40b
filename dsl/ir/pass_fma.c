/* Contraction: a product that only a sum or difference uses becomes one fma. It is part of a
** kernel's meaning (both backends and the interpreter see its result), so it depends on the
** program alone and never on the target.
**
**   a*b + c -> fma(a, b, c)   c + a*b -> fma(a, b, c)
**   a*b - c -> fma(a, b, -c)  c - a*b -> fma(-a, b, c)
** When both sides are products the left one is contracted. Negation is exact.
**
** A product of matrices that starts at zero goes first: mma(a, b, 0) + c -> mma(a, b, c). */
#include "dsl/ir/pass.h"

typedef struct Fma {
    GpIrFn *fn;
    uint32_t *uses;
    uint32_t known; /* ids below it are counted in uses */
    bool changed;
} Fma;

static GpInst *find_product(const Fma *f, const GpValue *v) {
    bool is_product = v->inst && v->inst->op == GpOp_Mul && gp_elem_is_float(v->type->elem);
    return is_product && v->id < f->known && f->uses[v->id] == 1 ? v->inst : NULL;
}

/* The operand of a sum that is a product of matrices; 2: none. In a branch it is made only there. */
static uint32_t find_mma(const Fma *f, const GpInst *sum) {
    for (uint32_t side = 0; side < 2; side++) {
        const GpValue *v = sum->operands[side];
        bool is_mma = v->inst && v->inst->op == GpOp_Mma && v->inst->parent == sum->parent;
        if (is_mma && v->id < f->known && f->uses[v->id] == 1 && gp_ir_is_zero(v->inst->operands[2]))
            return side;
    }
    return 2;
}

static void accumulate(Fma *f, GpInst *sum, uint32_t side) {
    GpInst *mma = sum->operands[side]->inst;
    GpBuilder b = {.fn = f->fn, .region = sum->parent, .before = sum, .span = sum->span};
    GpValue *operands[] = {mma->operands[0], mma->operands[1], sum->operands[1 - side]}, *result = sum->results[0];
    GpInst *by = gp_build(&b, GpOp_Mma, operands, 3, &result->type, 1);
    by->results[0]->name = result->name;
    gp_pass_replace(result, by->results[0]);
    gp_ir_remove(sum);
    gp_ir_remove(mma);
    f->changed = true;
}

static void contract(GpInst *inst, void *ud) {
    Fma *f = ud;
    if (inst->op != GpOp_Add && inst->op != GpOp_Sub) return;
    uint32_t mma = inst->op == GpOp_Add ? find_mma(f, inst) : 2;
    if (mma < 2) {
        accumulate(f, inst, mma);
        return;
    }
    uint32_t side = 0;
    GpInst *product = find_product(f, inst->operands[0]);
    if (!product) {
        side = 1;
        product = find_product(f, inst->operands[1]);
    }
    if (!product) return;
    GpBuilder b = {.fn = f->fn, .region = inst->parent, .before = inst, .span = inst->span};
    GpValue *x = product->operands[0], *y = product->operands[1], *z = inst->operands[1 - side];
    if (inst->op == GpOp_Sub && side == 0) z = gp_build1(&b, GpOp_Neg, z);
    if (inst->op == GpOp_Sub && side == 1) x = gp_build1(&b, GpOp_Neg, x);
    GpValue *result = inst->results[0];
    GpInst *fma = gp_build(&b, GpOp_Fma, (GpValue *[]){x, y, z}, 3, &result->type, 1);
    fma->results[0]->name = result->name;
    gp_pass_replace(result, fma->results[0]);
    gp_ir_remove(inst);
    gp_ir_remove(product);
    f->changed = true;
}

bool gp_pass_fma(GpIrFn *fn) {
    Fma f = {.fn = fn, .uses = gp_ir_count_uses(fn, fn->arena), .known = fn->next_id};
    gp_ir_walk(fn, GpWalk_Before, contract, &f);
    if (f.changed) gp_ir_apply_forwards(fn);
    return f.changed;
}
