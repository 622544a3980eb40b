/* Constant folding and identities, all of which keep every bit of the result. Constants are
** computed by eval.c, as the interpreter computes them. x + 0.0 is no identity (it makes -0
** into 0); x + -0.0, x - 0.0, x * 1 and x / 1 are: only a NaN's payload could tell. */
#include "dsl/ir/eval.h"
#include "dsl/ir/pass.h"

typedef struct Fold {
    GpIrFn *fn;
    GpBuilder at; /* before the instruction that is looked at */
    bool changed;
} Fold;

enum { INTS = 1, BOOLS = 2, FLOATS = 4 };

static int class_of(GpElem elem) {
    if (gp_elem_is_float(elem)) return FLOATS;
    return elem == GpElem_Bool ? BOOLS : INTS;
}

typedef enum Neutral { Neutral_Zero, Neutral_NegZero, Neutral_One, Neutral_Ones } Neutral;

/* `op` with the constant on the right (on either side when it commutes) is the other operand or,
** when absorbs, the constant itself. */
static const struct Identity {
    GpOp op;
    int classes;
    Neutral constant;
    bool absorbs;
} identities[] = {
    {GpOp_Add, INTS, Neutral_Zero, false},          {GpOp_Add, FLOATS, Neutral_NegZero, false},
    {GpOp_Sub, INTS | FLOATS, Neutral_Zero, false}, {GpOp_Mul, INTS | FLOATS, Neutral_One, false},
    {GpOp_Mul, INTS, Neutral_Zero, true},           {GpOp_Div, INTS | FLOATS, Neutral_One, false},
    {GpOp_And, INTS | BOOLS, Neutral_Ones, false},  {GpOp_And, INTS | BOOLS, Neutral_Zero, true},
    {GpOp_Or, INTS | BOOLS, Neutral_Zero, false},   {GpOp_Or, INTS | BOOLS, Neutral_Ones, true},
    {GpOp_Xor, INTS | BOOLS, Neutral_Zero, false},  {GpOp_Shl, INTS, Neutral_Zero, false},
    {GpOp_Shr, INTS, Neutral_Zero, false},
};

static bool is_neutral(GpScalar v, Neutral want) {
    GpScalar same = {.elem = v.elem};
    switch (want) {
    case Neutral_Zero: break;
    case Neutral_NegZero: same.f = -0.0; break;
    case Neutral_One:
        if (gp_elem_is_float(v.elem)) same.f = 1.0;
        else same.u = 1;
        break;
    case Neutral_Ones:
        same.u = v.elem == GpElem_Bool ? 1 : UINT64_MAX;
        same = gp_scalar_wrap(same);
        break;
    }
    return same.u == v.u;
}

static GpValue *fold_identity(const GpInst *inst) {
    GpOp op = inst->op;
    int sides = gp_op_info[op].algebra & GP_COMM ? 2 : 1;
    for (int s = 0; s < sides; s++) {
        GpValue *constant = inst->operands[1 - s], *other = inst->operands[s];
        GpScalar v;
        if (!gp_ir_const(constant, &v)) continue;
        for (size_t i = 0; i < GP_COUNT(identities); i++) {
            const struct Identity *row = &identities[i];
            if (row->op == op && row->classes & class_of(v.elem) && is_neutral(v, row->constant))
                return row->absorbs ? constant : other;
        }
    }
    return NULL;
}

static GpValue *make_const(Fold *f, const GpIrType *type, uint64_t u) {
    return gp_build_const(&f->at, type, (GpScalar){.elem = type->elem, .u = u});
}

/* Both operands are one value, and no float. */
static GpValue *fold_same(Fold *f, const GpInst *inst) {
    GpValue *x = inst->operands[0];
    const GpIrType *type = inst->results[0]->type;
    if (x != inst->operands[1] || class_of(x->type->elem) == FLOATS) return NULL;
    if (gp_op_info[inst->op].algebra & GP_IDEM) return x;
    if (inst->op == GpOp_Sub || inst->op == GpOp_Xor) return make_const(f, type, 0);
    if (inst->op != GpOp_Cmp) return NULL;
    GpScalar args[2] = {{.elem = x->type->elem}, {.elem = x->type->elem}}, out;
    gp_eval(GpOp_Cmp, inst->pred, GpElem_Bool, args, &out);
    return make_const(f, type, out.u);
}

static GpValue *fold_constants(Fold *f, const GpInst *inst) {
    GpScalar args[3], out;
    if (inst->operand_count > GP_COUNT(args)) return NULL;
    for (uint32_t i = 0; i < inst->operand_count; i++)
        if (!gp_ir_const(inst->operands[i], &args[i])) return NULL;
    const GpIrType *type = inst->results[0]->type;
    if (!gp_eval(inst->op, inst->pred, type->elem, args, &out)) return NULL;
    return gp_build_const(&f->at, type, out);
}

static GpValue *fold_unary(const GpInst *inst) {
    GpValue *x = inst->operands[0];
    GpOp op = inst->op;
    if ((op == GpOp_Cast || op == GpOp_Bitcast) && x->type == inst->results[0]->type) return x;
    if (!x->inst || x->inst->op != op) return NULL;
    if (op == GpOp_Neg || op == GpOp_Not) return x->inst->operands[0];
    return gp_op_info[op].algebra & GP_IDEM ? x : NULL;
}

static GpValue *fold_select(const GpInst *inst) {
    GpScalar c;
    if (inst->operands[1] == inst->operands[2]) return inst->operands[1];
    if (!gp_ir_const(inst->operands[0], &c)) return NULL;
    return inst->operands[c.u ? 1 : 2];
}

/* v as a value and a constant that is added to it; false when it is no such sum. */
static bool split_sum(const GpValue *v, GpValue **base, GpScalar *offset) {
    const GpInst *inst = v->inst;
    GpElem elem = v->type->elem;
    if (!inst || (inst->op != GpOp_Add && inst->op != GpOp_Sub) || gp_elem_is_float(elem)) return false;
    uint32_t side = inst->op == GpOp_Add && gp_ir_const(inst->operands[0], offset) ? 0 : 1;
    if (!gp_ir_const(inst->operands[side], offset)) return false;
    *base = inst->operands[1 - side];
    GpScalar given = *offset;
    return inst->op == GpOp_Add || gp_eval(GpOp_Neg, GpPred_Eq, elem, &given, offset);
}

/* (x + a) + b is x + (a + b): integers wrap, so that nothing is lost. */
static GpValue *fold_sum(Fold *f, const GpInst *inst) {
    GpValue *inner, *base;
    GpScalar terms[2], sum;
    GpElem elem = inst->results[0]->type->elem;
    if (!split_sum(inst->results[0], &inner, &terms[0]) || !split_sum(inner, &base, &terms[1]) ||
        !gp_eval(GpOp_Add, GpPred_Eq, elem, terms, &sum)) return NULL;
    if (sum.u == 0) return base;
    return gp_build2(&f->at, GpOp_Add, base, gp_build_const(&f->at, base->type, sum));
}

static GpValue *fold_elementwise(Fold *f, const GpInst *inst) {
    GpValue *v = fold_constants(f, inst);
    if (v) return v;
    if (inst->op == GpOp_Select) return fold_select(inst);
    if (inst->operand_count == 1) return fold_unary(inst);
    if (inst->operand_count != 2) return NULL;
    v = fold_same(f, inst);
    if (!v) v = fold_identity(inst);
    return v ? v : fold_sum(f, inst);
}

static GpValue *make_splat(Fold *f, const GpIrType *type, GpValue *scalar) {
    if (type->kind != GpIrType_Tile) return scalar;
    return gp_build(&f->at, GpOp_Splat, &scalar, 1, &type, 1)->results[0];
}

/* The scalar that every element of a tile is; NULL when that is not known. */
static GpValue *find_element(Fold *f, const GpValue *tile) {
    GpScalar v;
    if (gp_ir_const(tile, &v))
        return gp_build_const(&f->at, gp_ir_scalar(f->at.fn, v.elem), v);
    return tile->inst && tile->inst->op == GpOp_Splat ? tile->inst->operands[0] : NULL;
}

/* Operations that move elements which are all one: that element in the result's shape. */
static GpValue *fold_movement(Fold *f, const GpInst *inst) {
    GpValue *x = inst->operands[0];
    const GpIrType *type = inst->results[0]->type;
    GpScalar v;
    if (x->type == type && inst->op != GpOp_Permute) return x;
    if (gp_ir_const(x, &v)) return gp_build_const(&f->at, type, v);
    if (!x->inst || x->inst->op != GpOp_Splat) return NULL;
    return make_splat(f, type, x->inst->operands[0]);
}

/* A permutation of a permutation is one, and the one that keeps every axis is nothing. */
static GpValue *fold_permute(Fold *f, GpInst *inst) {
    GpValue *v = fold_movement(f, inst), *x = inst->operands[0];
    if (v) return v;
    if (x->inst && x->inst->op == GpOp_Permute) {
        for (int k = 0; k < inst->perm.rank; k++)
            inst->perm.axis[k] = x->inst->perm.axis[inst->perm.axis[k]];
        inst->operands[0] = x->inst->operands[0];
        f->changed = true;
    }
    bool keeps_all = inst->operands[0]->type == inst->results[0]->type;
    for (int k = 0; keeps_all && k < inst->perm.rank; k++) keeps_all = inst->perm.axis[k] == k;
    return keeps_all ? inst->operands[0] : NULL;
}

static GpValue *fold_cat(Fold *f, const GpInst *inst) {
    GpScalar a, b;
    const GpIrType *type = inst->results[0]->type;
    GpValue *const *x = inst->operands;
    if (gp_ir_const(x[0], &a) && gp_ir_const(x[1], &b))
        return a.u == b.u ? gp_build_const(&f->at, type, a) : NULL;
    bool is_one = x[0]->inst && x[0]->inst->op == GpOp_Splat && x[1]->inst &&
                  x[1]->inst->op == GpOp_Splat &&
                  x[0]->inst->operands[0] == x[1]->inst->operands[0];
    return is_one ? make_splat(f, type, x[0]->inst->operands[0]) : NULL;
}

/* A reduction or scan of one element over and over, by an operation for which once is enough. */
static GpValue *fold_reduction(Fold *f, const GpInst *inst) {
    const GpRegion *r = inst->regions[0];
    const GpInst *only = r->first;
    if (only->next != r->last || r->last->operands[0]->inst != only) return NULL;
    bool repeats = only->operand_count == 2 && gp_sig_info[gp_op_info[only->op].sig].elementwise &&
                   (gp_op_info[only->op].algebra & (GP_ASSOC | GP_IDEM)) == (GP_ASSOC | GP_IDEM);
    if (!repeats || only->operands[0] != r->params[0] || only->operands[1] != r->params[1])
        return NULL;
    GpValue *element = find_element(f, inst->operands[0]);
    if (!element) return NULL;
    GpValue *once = gp_build2(&f->at, only->op, inst->operands[1], element);
    return make_splat(f, inst->results[0]->type, once);
}

/* An address of the number of an address of one type, and the other way round. */
static GpValue *fold_address(const GpInst *inst) {
    const GpInst *from = inst->operands[0]->inst;
    GpOp other = inst->op == GpOp_IntToPtr ? GpOp_PtrToInt : GpOp_IntToPtr;
    bool is_back = from && from->op == other && from->operands[0]->type == inst->results[0]->type;
    return is_back ? from->operands[0] : NULL;
}

static GpValue *fold_dim(Fold *f, const GpInst *inst) {
    int64_t extent = inst->operands[0]->type->shape.dim[inst->axis];
    if (extent == GP_DYNAMIC || extent > INT32_MAX) return NULL;
    return make_const(f, inst->results[0]->type, (uint64_t)extent);
}

/* Of an argument whose elements lie side by side, or a part of it. */
static GpValue *fold_stride(Fold *f, const GpInst *inst) {
    const GpIrParam *p = gp_ir_root_param(f->fn, inst->operands[0]);
    bool is_last = inst->axis + 1 == inst->operands[0]->type->shape.rank;
    return is_last && p && p->unit_stride ? make_const(f, inst->results[0]->type, 1) : NULL;
}

static void replace_results(Fold *f, GpInst *inst, GpValue *const *by) {
    for (uint32_t i = 0; i < inst->result_count; i++) gp_pass_replace(inst->results[i], by[i]);
    gp_ir_remove(inst);
    f->changed = true;
}

/* An `if` on a constant becomes the region that runs, when that region comes to its end. */
static void fold_if(Fold *f, GpInst *inst) {
    GpScalar c;
    if (!gp_ir_const(inst->operands[0], &c)) return;
    GpRegion *r = inst->regions[c.u ? 0 : 1];
    GpInst *end = gp_ir_terminator(r);
    if (end->op != GpOp_Yield) return;
    gp_ir_remove(end);
    while (r->first) {
        GpInst *moved = r->first;
        gp_ir_remove(moved);
        gp_ir_insert(moved, inst->parent, inst);
    }
    replace_results(f, inst, end->operands);
}

/* A `for` whose bounds leave no turn, as equal ones and some constants do, gives what it was started with. */
static void fold_for(Fold *f, GpInst *inst) {
    GpScalar args[2], runs = {.u = inst->operands[0] != inst->operands[1]};
    if (gp_ir_const(inst->operands[0], &args[0]) && gp_ir_const(inst->operands[1], &args[1]))
        gp_eval(GpOp_Cmp, GpPred_Lt, GpElem_Bool, args, &runs);
    if (!runs.u) replace_results(f, inst, gp_loop_starts(inst));
}

/* Operands of a memory access without its mask; 0 for every other instruction. */
static uint32_t count_unmasked(const GpInst *inst) {
    GpSig sig = gp_op_info[inst->op].sig;
    if (sig == GpSig_Load) return 1;
    if (sig == GpSig_Store) return 2;
    if (sig == GpSig_LoadTile) return 1u + inst->operands[0]->type->shape.rank;
    return sig == GpSig_StoreTile ? 2u + inst->operands[0]->type->shape.rank : 0;
}

/* A mask that is true goes; one that is false leaves zero or the padding value, and nothing of a
** store. */
static GpValue *fold_mask(Fold *f, GpInst *inst, uint32_t unmasked) {
    GpScalar on;
    if (inst->operand_count == unmasked || !gp_ir_const(inst->operands[unmasked], &on)) return NULL;
    if (on.u) {
        inst->operand_count = unmasked;
        f->changed = true;
    } else if (inst->result_count) {
        GpScalar pad = inst->op == GpOp_LoadTile ? gp_ir_pad(inst) : (GpScalar){0};
        return make_const(f, inst->results[0]->type, pad.u);
    } else {
        replace_results(f, inst, NULL);
    }
    return NULL;
}

/* A gather whose mask is false reads nothing; a scatter does nothing; an atomic gives zero. */
static GpValue *fold_elements(Fold *f, GpInst *inst, uint32_t mask) {
    GpScalar on;
    if (!gp_ir_const(inst->operands[mask], &on) || on.u) return NULL;
    if (inst->op == GpOp_Gather)
        return make_splat(f, inst->results[0]->type, inst->operands[3]);
    if (inst->result_count) return make_const(f, inst->results[0]->type, 0);
    replace_results(f, inst, NULL);
    return NULL;
}

static GpValue *reshape(Fold *f, GpValue *v, const GpShape *shape) {
    const GpIrType *type = gp_ir_tile(f->at.fn, v->type->elem, shape);
    return gp_build(&f->at, GpOp_Reshape, &v, 1, &type, 1)->results[0];
}

/* A batch of one product is a product. */
static GpValue *fold_mma(Fold *f, const GpInst *inst) {
    const GpShape *batched = &inst->results[0]->type->shape;
    if (batched->rank != 3 || batched->dim[0] != 1) return NULL;
    GpValue *operands[3];
    for (uint32_t i = 0; i < GP_COUNT(operands); i++) {
        const GpShape *s = &inst->operands[i]->type->shape;
        operands[i] = reshape(f, inst->operands[i], &(GpShape){.rank = 2, .dim = {s->dim[1], s->dim[2]}});
    }
    GpInst *one = gp_build(&f->at, GpOp_Mma, operands, 3, &operands[2]->type, 1);
    return reshape(f, one->results[0], batched);
}

static GpValue *fold_structured(Fold *f, GpInst *inst, GpSig sig) {
    if (sig == GpSig_Permute) return fold_permute(f, inst);
    if (sig == GpSig_Cat) return fold_cat(f, inst);
    if (sig == GpSig_Mma) return fold_mma(f, inst);
    if (sig == GpSig_Reduce || sig == GpSig_Scan) return fold_reduction(f, inst);
    if (sig == GpSig_IntToPtr || sig == GpSig_PtrToInt) return fold_address(inst);
    if (sig == GpSig_Gather) return fold_elements(f, inst, 2);
    if (sig == GpSig_Scatter || sig == GpSig_AtomicRmw) return fold_elements(f, inst, 3);
    return sig == GpSig_AtomicCas ? fold_elements(f, inst, 4) : NULL;
}

static void fold_inst(GpInst *inst, void *ud) {
    Fold *f = ud;
    for (uint32_t i = 0; i < inst->operand_count; i++)
        inst->operands[i] = gp_pass_settled(inst->operands[i]);
    f->at.region = inst->parent;
    f->at.before = inst;
    f->at.span = inst->span;
    GpSig sig = gp_op_info[inst->op].sig;
    GpValue *v = NULL;
    uint32_t unmasked = count_unmasked(inst);
    if (unmasked) v = fold_mask(f, inst, unmasked);
    else if (gp_sig_info[sig].elementwise) v = fold_elementwise(f, inst);
    else if (sig == GpSig_Splat || sig == GpSig_Broadcast || sig == GpSig_Reshape ||
             sig == GpSig_ToScalar || sig == GpSig_ExtractTile)
        v = fold_movement(f, inst);
    else if (sig == GpSig_Dim) v = fold_dim(f, inst);
    else if (sig == GpSig_Stride) v = fold_stride(f, inst);
    else if (sig == GpSig_If) fold_if(f, inst);
    else if (sig == GpSig_For) fold_for(f, inst);
    else v = fold_structured(f, inst, sig);
    if (v) replace_results(f, inst, &v);
}

bool gp_pass_fold(GpIrFn *fn) {
    Fold f = {.fn = fn, .at = {.fn = fn}};
    gp_ir_walk(fn, GpWalk_Before, fold_inst, &f);
    if (f.changed) gp_ir_apply_forwards(fn);
    return f.changed;
}
