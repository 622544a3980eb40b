/* Matrix products on the CPU: a register-blocked loop nest over buffers of the type of the sums.
**
** a and b are converted once into buffers; the sums live in registers, ROWS rows of one vector
** of columns, while k runs. k ascends from the accumulator, as the interpreter's does; products
** and sums are fused. The accumulator's own buffer is updated in place where nobody else reads
** it, so that a carried accumulator is never copied. */
#include "codegen/emit_tile_cpu.h"

enum { ROWS_WIDE = 8, ROWS_NARROW = 4, BYTES_WIDE = 128, BYTES_NARROW = 64 };

typedef struct Convert {
    const GpValue *value;
    GpElem to;
    LLVMValueRef buffer;
} Convert;

static GpIrType type_with(const GpIrType *type, GpElem elem) {
    GpIrType t = *type;
    t.elem = elem;
    return t;
}

static void convert_body(GpFusion *f, const GpCoords *c, void *ud) {
    const Convert *x = ud;
    GpEmit *e = f->e;
    GpIrType to = type_with(x->value->type, x->to);
    LLVMValueRef v = gp_cpu_eval(f, x->value, c);
    if (x->value->type->elem != x->to)
        v = gp_emit_cast(e, v, x->value->type->elem, x->to);
    gp_emit_mem_store(e, x->to, v, gp_cpu_at(e, &to, x->buffer, c));
}

/* A buffer of the tile's elements as `to`. */
static LLVMValueRef convert(GpEmit *e, const GpValue *v, GpElem to) {
    if (v->type->elem == to && e->bound[v->id].count)
        return e->bound[v->id].at[0];
    GpIrType type = type_with(v->type, to);
    Convert x = {v, to, gp_tile_cpu_buffer(e, &type)};
    GpValue *value = (GpValue *)(uintptr_t)v;
    GpNest nest = {&v->type->shape, &value, 1, NULL, convert_body, &x};
    gp_cpu_nest(e, &nest);
    return x.buffer;
}

/* Its buffer may be written: this is the only use, in the region where the value was made. */
static bool is_ours(const GpEmit *e, const GpInst *inst, const GpValue *acc) {
    const GpRegion *home = acc->inst ? acc->inst->parent : acc->region;
    return e->bound[acc->id].count && e->uses[acc->id] == 1 && home == inst->parent;
}

typedef struct Product {
    GpElem elem;
    LLVMTypeRef scalar, vector;
    LLVMValueRef a, b, c;
    int64_t batches, m, n, k;
    int64_t rows, columns; /* of one block of sums */
} Product;

/* A counting loop: from 0 by `step` to `end`, at least one turn. */
typedef struct Turns {
    LLVMValueRef i;
    LLVMBasicBlockRef head;
    int64_t step, end;
} Turns;

static Turns open_turns(GpEmit *e, int64_t step, int64_t end) {
    Turns t = {.step = step, .end = end, .head = gp_emit_block(e, "product")};
    LLVMBasicBlockRef before = LLVMGetInsertBlock(e->b);
    LLVMValueRef zero = gp_emit_i64(e, 0);
    LLVMBuildBr(e->b, t.head);
    gp_emit_at(e, t.head);
    t.i = LLVMBuildPhi(e->b, LLVMTypeOf(zero), "");
    LLVMAddIncoming(t.i, &zero, &before, 1);
    return t;
}

static void close_turns(GpEmit *e, const Turns *t) {
    LLVMValueRef next = LLVMBuildNUWAdd(e->b, t->i, gp_emit_i64(e, t->step), "");
    LLVMBasicBlockRef latch = LLVMGetInsertBlock(e->b), exit = gp_emit_block(e, "summed");
    LLVMValueRef more = LLVMBuildICmp(e->b, LLVMIntULT, next, gp_emit_i64(e, t->end), "");
    LLVMBuildCondBr(e->b, more, t->head, exit);
    LLVMAddIncoming(t->i, &next, &latch, 1);
    gp_emit_at(e, exit);
}

static LLVMValueRef element_at(GpEmit *e, const Product *p, LLVMValueRef base, LLVMValueRef row,
                               int64_t width, LLVMValueRef column) {
    LLVMValueRef at = LLVMBuildNSWMul(e->b, row, gp_emit_i64(e, width), "");
    return gp_emit_gep(e, p->elem, base, LLVMBuildNSWAdd(e->b, at, column, ""));
}

static LLVMValueRef load_vector(GpEmit *e, const Product *p, LLVMValueRef ptr) {
    LLVMValueRef v = LLVMBuildLoad2(e->b, p->vector, ptr, "");
    LLVMSetAlignment(v, gp_elem_info[p->elem].bytes);
    return v;
}

static LLVMValueRef splat(GpEmit *e, const Product *p, LLVMValueRef x) {
    LLVMValueRef v = LLVMGetPoison(p->vector);
    v = LLVMBuildInsertElement(e->b, v, x, gp_emit_i32(e, 0), "");
    LLVMTypeRef mask = LLVMVectorType(LLVMInt32TypeInContext(e->ctx), (unsigned)p->columns);
    return LLVMBuildShuffleVector(e->b, v, LLVMGetPoison(p->vector), LLVMConstNull(mask), "");
}

static LLVMValueRef multiply_add(GpEmit *e, const Product *p, LLVMValueRef x, LLVMValueRef y,
                                 LLVMValueRef sum) {
    if (!gp_elem_is_float(p->elem))
        return LLVMBuildAdd(e->b, LLVMBuildMul(e->b, x, y, ""), sum, "");
    LLVMValueRef args[] = {x, y, sum};
    return gp_emit_intrinsic(e, "llvm.fma", p->vector, args, 3);
}

/* One block of sums, at row i and column j of the batch whose first rows are given. */
static void emit_block(GpEmit *e, const Product *p, LLVMValueRef a_row, LLVMValueRef b_row,
                       LLVMValueRef c_row, LLVMValueRef j) {
    LLVMValueRef place[ROWS_WIDE], sum[ROWS_WIDE], next[ROWS_WIDE];
    for (int64_t r = 0; r < p->rows; r++) {
        LLVMValueRef row = LLVMBuildNSWAdd(e->b, c_row, gp_emit_i64(e, r), "");
        place[r] = element_at(e, p, p->c, row, p->n, j);
        next[r] = load_vector(e, p, place[r]);
    }
    LLVMBasicBlockRef before = LLVMGetInsertBlock(e->b);
    Turns k = open_turns(e, 1, p->k);
    for (int64_t r = 0; r < p->rows; r++) {
        sum[r] = LLVMBuildPhi(e->b, p->vector, "");
        LLVMAddIncoming(sum[r], &next[r], &before, 1);
    }
    LLVMValueRef row = LLVMBuildNSWAdd(e->b, b_row, k.i, "");
    LLVMValueRef y = load_vector(e, p, element_at(e, p, p->b, row, p->n, j));
    for (int64_t r = 0; r < p->rows; r++) {
        row = LLVMBuildNSWAdd(e->b, a_row, gp_emit_i64(e, r), "");
        LLVMValueRef x = gp_emit_mem_load(e, p->elem, element_at(e, p, p->a, row, p->k, k.i));
        next[r] = multiply_add(e, p, splat(e, p, x), y, sum[r]);
        LLVMAddIncoming(sum[r], &next[r], &k.head, 1);
    }
    close_turns(e, &k);
    for (int64_t r = 0; r < p->rows; r++)
        LLVMSetAlignment(LLVMBuildStore(e->b, next[r], place[r]), gp_elem_info[p->elem].bytes);
}

static int64_t divisor_below(int64_t n, int64_t limit) {
    int64_t d = 1;
    while (d * 2 <= limit && n % (d * 2) == 0)
        d *= 2;
    return d;
}

static void emit_product(GpEmit *e, Product *p) {
    char *features = LLVMGetTargetMachineFeatureString(e->llvm->tm);
    bool is_wide = strstr(features, "+avx512f") != NULL;
    LLVMDisposeMessage(features);
    int64_t bytes = is_wide ? BYTES_WIDE : BYTES_NARROW;
    p->rows = divisor_below(p->m, is_wide ? ROWS_WIDE : ROWS_NARROW);
    p->columns = divisor_below(p->n, bytes / gp_elem_info[p->elem].bytes);
    p->scalar = gp_emit_mem_type(e, p->elem);
    p->vector = LLVMVectorType(p->scalar, (unsigned)p->columns);
    Turns batch = open_turns(e, 1, p->batches);
    Turns j = open_turns(e, p->columns, p->n), i = open_turns(e, p->rows, p->m);
    LLVMValueRef row = LLVMBuildNSWMul(e->b, batch.i, gp_emit_i64(e, p->m), "");
    row = LLVMBuildNSWAdd(e->b, row, i.i, "");
    emit_block(e, p, row, LLVMBuildNSWMul(e->b, batch.i, gp_emit_i64(e, p->k), ""), row, j.i);
    close_turns(e, &i);
    close_turns(e, &j);
    close_turns(e, &batch);
}

typedef struct Narrow {
    const GpInst *inst;
    GpElem sum;
    LLVMValueRef from, to;
} Narrow;

static void narrow_body(GpFusion *f, const GpCoords *c, void *ud) {
    const Narrow *x = ud;
    GpEmit *e = f->e;
    const GpIrType *type = x->inst->results[0]->type;
    GpIrType wide = type_with(type, x->sum);
    LLVMValueRef v = gp_emit_mem_load(e, x->sum, gp_cpu_at(e, &wide, x->from, c));
    gp_emit_mem_store(e, type->elem, gp_emit_cast(e, v, x->sum, type->elem),
                      gp_cpu_at(e, type, x->to, c));
}

/* A buffer with the accumulator, as the type of the sums, that may be written. */
static LLVMValueRef start_sums(GpEmit *e, const GpInst *inst, GpElem sum) {
    const GpValue *acc = inst->operands[2];
    if (acc->type->elem == sum && is_ours(e, inst, acc))
        return e->bound[acc->id].at[0];
    GpIrType type = type_with(acc->type, sum);
    Convert x = {acc, sum, gp_tile_cpu_buffer(e, &type)};
    GpNest nest = {&acc->type->shape, &inst->operands[2], 1, NULL, convert_body, &x};
    gp_cpu_nest(e, &nest);
    return x.buffer;
}

void gp_cpu_mma(GpEmit *e, const GpInst *inst) {
    const GpIrType *a = inst->operands[0]->type, *b = inst->operands[1]->type;
    const GpIrType *acc = inst->operands[2]->type;
    GpElem sum = acc->elem;
    gp_assert(gp_mma_find(a->elem, b->elem, acc->elem, &sum));
    int last = a->shape.rank - 1;
    Product p = {.elem = sum, .m = a->shape.dim[last - 1], .k = a->shape.dim[last]};
    p.n = b->shape.dim[last];
    p.batches = last == 2 ? a->shape.dim[0] : 1;
    p.a = convert(e, inst->operands[0], sum);
    p.b = convert(e, inst->operands[1], sum);
    p.c = start_sums(e, inst, sum);
    emit_product(e, &p);
    if (acc->elem != sum) {
        Narrow x = {inst, sum, p.c, gp_tile_cpu_buffer(e, acc)};
        GpNest nest = {.shape = &acc->shape, .body = narrow_body, .ud = &x};
        gp_cpu_nest(e, &nest);
        p.c = x.to;
    }
    gp_emit_set(e, inst->results[0], p.c);
}
