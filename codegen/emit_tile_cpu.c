/* Tile operations on the CPU: expressions fused into the loop of what consumes them.
**
** A loop nest runs over the elements of one tile, innermost axis last. It is emitted twice when
** it touches tensors: without any bounds test for tiles that lie inside every tensor (this copy
** vectorises), and with a test per access for the ragged rest. A value is evaluated once per
** element and loop: `GpMemo` remembers it for the coordinates it was asked at. */
#include "codegen/emit_tile_cpu.h"

enum { SCRATCH_LIMIT = 1 << 21, MAX_ACCESSES = 64 };

static LLVMTypeRef i64(GpEmit *e) { return LLVMInt64TypeInContext(e->ctx); }

LLVMValueRef gp_cpu_at(GpEmit *e, const GpIrType *type, LLVMValueRef buffer,
                              const GpCoords *c) {
    return gp_emit_gep(e, type->elem, buffer, gp_tile_linear(e, &type->shape, c->at));
}

static LLVMValueRef and_with(GpEmit *e, LLVMValueRef a, LLVMValueRef b) {
    return a ? LLVMBuildAnd(e->b, a, b, "") : b;
}

/* Address of element c of the tile, and whether the tensor has it. */
static GpPlace place_of(GpFusion *f, const GpInst *inst, const GpCoords *c) {
    GpEmit *e = f->e;
    const GpTensorArg *t = &e->tensors[inst->operands[0]->id];
    const GpShape *shape = gp_tile_shape(inst);
    const GpValue *mask = gp_tile_mask(inst);
    LLVMValueRef offset = gp_emit_i64(e, 0), ok = NULL;
    if (mask && !f->is_interior)
        ok = gp_emit_get(e, mask);
    for (int a = 0; a < shape->rank; a++) {
        LLVMValueRef start = gp_tile_start(e, inst, a);
        LLVMValueRef at = LLVMBuildNSWAdd(e->b, start, c->at[a], "");
        LLVMValueRef step = LLVMBuildNSWMul(e->b, at, t->stride[a], "");
        offset = LLVMBuildNSWAdd(e->b, offset, step, "");
        if (f->is_interior)
            continue;
        LLVMValueRef dim = LLVMBuildSExt(e->b, t->dim[a], i64(e), "");
        ok = and_with(e, ok, LLVMBuildICmp(e->b, LLVMIntULT, at, dim, ""));
    }
    GpElem elem = inst->operands[0]->type->elem;
    LLVMValueRef ptr = gp_emit_gep(e, elem, t->base, offset);
    return (GpPlace){elem, ptr, ok, NULL, gp_tile_pad(e, inst)};
}

static LLVMValueRef eval_load(GpFusion *f, const GpInst *inst, const GpCoords *c) {
    GpPlace p = place_of(f, inst, c);
    return gp_tile_load(f->e, &p);
}

static LLVMValueRef eval_moved(GpFusion *f, const GpInst *inst, const GpCoords *c) {
    GpCoords *at = GP_NEW(f->e->arena, GpCoords);
    gp_tile_moved_coords(f->e, inst, c->at, at->at);
    return gp_cpu_eval(f, inst->operands[0], at);
}

static LLVMValueRef eval_iota(GpFusion *f, const GpInst *inst, const GpCoords *c) {
    LLVMTypeRef type = gp_emit_type(f->e, inst->results[0]->type->elem);
    return LLVMBuildIntCast2(f->e->b, c->at[0], type, false, "");
}

static LLVMValueRef eval_inst(GpFusion *f, const GpInst *inst, const GpCoords *c) {
    if (inst->op == GpOp_LoadTile)
        return eval_load(f, inst, c);
    if (inst->op == GpOp_Splat)
        return gp_emit_get(f->e, inst->operands[0]);
    if (gp_tile_moves(inst->op))
        return eval_moved(f, inst, c);
    if (inst->op == GpOp_Iota)
        return eval_iota(f, inst, c);
    LLVMValueRef x[3];
    gp_assert(inst->operand_count <= GP_COUNT(x));
    for (uint32_t i = 0; i < inst->operand_count; i++)
        x[i] = gp_cpu_eval(f, inst->operands[i], c);
    return gp_emit_element(f->e, inst, x);
}

LLVMValueRef gp_cpu_eval(GpFusion *f, const GpValue *v, const GpCoords *c) {
    GpEmit *e = f->e;
    if (!gp_ir_is_tile(v))
        return gp_emit_get(e, v);
    GpMemo *memo = &f->memo[v->id];
    if (memo->coords == c)
        return memo->value;
    LLVMValueRef x =
        e->bound[v->id].count
            ? gp_emit_mem_load(e, v->type->elem, gp_cpu_at(e, v->type, e->bound[v->id].at[0], c))
            : eval_inst(f, v->inst, c);
    *memo = (GpMemo){c, x};
    return x;
}

/* Scalar loops for ragged tiles: vectorising them costs compile time and gains nothing. */
static void mark_scalar(GpEmit *e, LLVMValueRef branch) {
    static const char *const names[] = {"llvm.loop.vectorize.enable", "llvm.loop.unroll.disable"};
    LLVMMetadataRef self = LLVMTemporaryMDNode(e->ctx, NULL, 0), parts[3] = {self};
    for (int i = 0; i < 2; i++) {
        LLVMMetadataRef pair[] = {LLVMMDStringInContext2(e->ctx, names[i], strlen(names[i])),
                                  LLVMValueAsMetadata(gp_emit_bool(e, false))};
        parts[1 + i] = LLVMMDNodeInContext2(e->ctx, pair, i == 0 ? 2 : 1);
    }
    LLVMMetadataRef node = LLVMMDNodeInContext2(e->ctx, parts, 3);
    LLVMMetadataReplaceAllUsesWith(self, node);
    LLVMSetMetadata(branch, LLVMGetMDKindIDInContext(e->ctx, "llvm.loop", 9),
                    LLVMMetadataAsValue(e->ctx, node));
}

/* Loops over axes `axis`.. of the shape around the body. */
static void emit_nest(GpFusion *f, const GpShape *shape, int axis, GpCoords *c, GpBodyFn body,
                      void *ud) {
    GpEmit *e = f->e;
    if (axis == shape->rank) {
        body(f, c, ud);
        return;
    }
    c->at[axis] = gp_emit_i64(e, 0);
    if (shape->dim[axis] == 1) {
        emit_nest(f, shape, axis + 1, c, body, ud);
        return;
    }
    LLVMBasicBlockRef before = LLVMGetInsertBlock(e->b), head = gp_emit_block(e, "elements");
    LLVMBasicBlockRef exit = gp_emit_block(e, "end");
    LLVMBuildBr(e->b, head);
    gp_emit_at(e, head);
    c->at[axis] = LLVMBuildPhi(e->b, i64(e), "");
    LLVMValueRef phi = c->at[axis];
    emit_nest(f, shape, axis + 1, c, body, ud);
    LLVMBasicBlockRef latch = LLVMGetInsertBlock(e->b);
    LLVMValueRef next = LLVMBuildNUWAdd(e->b, phi, gp_emit_i64(e, 1), "");
    LLVMValueRef more = LLVMBuildICmp(e->b, LLVMIntULT, next, gp_emit_i64(e, shape->dim[axis]), "");
    LLVMValueRef branch = LLVMBuildCondBr(e->b, more, head, exit);
    if (!f->is_interior)
        mark_scalar(e, branch);
    LLVMAddIncoming(phi, (LLVMValueRef[]){gp_emit_i64(e, 0), next},
                    (LLVMBasicBlockRef[]){before, latch}, 2);
    gp_emit_at(e, exit);
}

/* The accesses that evaluating a value makes. */
typedef struct Accesses {
    const GpInst *at[MAX_ACCESSES];
    uint32_t count;
    bool *seen; /* by value id */
} Accesses;

static void collect_accesses(GpEmit *e, const GpValue *v, Accesses *out) {
    if (!gp_ir_is_tile(v) || e->bound[v->id].count || out->seen[v->id])
        return;
    out->seen[v->id] = true;
    if (v->inst->op == GpOp_LoadTile && out->count < MAX_ACCESSES)
        out->at[out->count] = v->inst;
    out->count += v->inst->op == GpOp_LoadTile;
    for (uint32_t i = 0; i < v->inst->operand_count; i++)
        collect_accesses(e, v->inst->operands[i], out);
}

static void emit_copy(GpEmit *e, bool is_interior, const GpNest *n) {
    GpFusion f = {e, GP_NEW_ARRAY(e->arena, GpMemo, e->fn->next_id), is_interior};
    emit_nest(&f, n->shape, 0, GP_NEW(e->arena, GpCoords), n->body, n->ud);
}

void gp_cpu_nest(GpEmit *e, const GpNest *n) {
    Accesses accesses = {.seen = GP_NEW_ARRAY(e->arena, bool, e->fn->next_id)};
    if (n->store)
        accesses.at[accesses.count++] = n->store;
    for (uint32_t i = 0; i < n->count; i++)
        collect_accesses(e, n->values[i], &accesses);
    if (accesses.count == 0) {
        emit_copy(e, true, n);
        return;
    }
    LLVMValueRef inside = NULL;
    for (uint32_t i = 0; i < accesses.count && i < MAX_ACCESSES; i++)
        inside = and_with(e, inside, gp_tile_is_inside(e, accesses.at[i]));
    if (accesses.count > MAX_ACCESSES)
        inside = gp_emit_bool(e, false);
    LLVMBasicBlockRef interior = gp_emit_block(e, "interior"), ragged = gp_emit_block(e, "ragged");
    LLVMBasicBlockRef join = gp_emit_block(e, "stored");
    LLVMBuildCondBr(e->b, inside, interior, ragged);
    gp_emit_at(e, interior);
    emit_copy(e, true, n);
    LLVMBuildBr(e->b, join);
    gp_emit_at(e, ragged);
    emit_copy(e, false, n);
    LLVMBuildBr(e->b, join);
    gp_emit_at(e, join);
}

/* Loops that evaluate `v` at every element. */
static void emit_elements(GpEmit *e, const GpValue *v, const GpInst *store, GpBodyFn body,
                          void *ud) {
    GpValue *value = (GpValue *)(uintptr_t)v;
    GpNest nest = {&v->type->shape, &value, 1, store, body, ud};
    gp_cpu_nest(e, &nest);
}

static void store_body(GpFusion *f, const GpCoords *c, void *ud) {
    const GpInst *inst = ud;
    LLVMValueRef value = gp_cpu_eval(f, inst->operands[1], c);
    GpPlace p = place_of(f, inst, c);
    p.value = value;
    gp_tile_store(f->e, &p);
}

LLVMValueRef gp_tile_cpu_buffer(GpEmit *e, const GpIrType *type) {
    int64_t count = gp_ir_numel(type);
    bool fits = count <= SCRATCH_LIMIT;
    if (fits)
        e->scratch += (uint64_t)count * gp_elem_info[type->elem].bytes;
    if (!fits || e->scratch > SCRATCH_LIMIT) {
        GpDiag *d = gp_diag(e->diags, GpDiag_G0504, e->fn->span, e->fn->name);
        gp_note(d, "a block keeps at most %d KiB of tiles between loops on the CPU",
                SCRATCH_LIMIT / 1024);
        gp_help(d, "use smaller tiles");
        e->refused = true;
        count = 1;
    }
    return gp_emit_alloca(e, gp_emit_mem_type(e, type->elem), (uint64_t)count, 64);
}

typedef struct Write {
    const GpValue *value;
    LLVMValueRef buffer;
} Write;

static void write_body(GpFusion *f, const GpCoords *c, void *ud) {
    const Write *w = ud;
    LLVMValueRef value = gp_cpu_eval(f, w->value, c);
    gp_emit_mem_store(f->e, w->value->type->elem, value,
                      gp_cpu_at(f->e, w->value->type, w->buffer, c));
}

void gp_tile_cpu_write(GpEmit *e, const GpValue *v, LLVMValueRef buffer) {
    if (e->bound[v->id].count && e->bound[v->id].at[0] == buffer)
        return;
    Write w = {v, buffer};
    emit_elements(e, v, NULL, write_body, &w);
}

void gp_tile_cpu_copy(GpEmit *e, const GpIrType *type, LLVMValueRef from, LLVMValueRef to) {
    LLVMBuildMemCpy(e->b, to, 64, from, 64, gp_emit_i64(e, gp_ir_numel(type) * gp_elem_info[type->elem].bytes));
}

bool gp_tile_cpu_is_pointwise(GpEmit *e, const GpValue *v) {
    if (!gp_ir_is_tile(v) || e->bound[v->id].count)
        return true;
    if (gp_tile_moves(v->inst->op))
        return false;
    for (uint32_t i = 0; i < v->inst->operand_count; i++)
        if (!gp_tile_cpu_is_pointwise(e, v->inst->operands[i]))
            return false;
    return true;
}

typedef struct AnyZero {
    const GpValue *value;
    LLVMValueRef found; /* alloca of i1 */
} AnyZero;

static void any_zero_body(GpFusion *f, const GpCoords *c, void *ud) {
    const AnyZero *z = ud;
    GpEmit *e = f->e;
    LLVMTypeRef i1 = LLVMInt1TypeInContext(e->ctx);
    LLVMValueRef x = gp_cpu_eval(f, z->value, c);
    LLVMValueRef is_zero = LLVMBuildICmp(e->b, LLVMIntEQ, x, LLVMConstNull(LLVMTypeOf(x)), "");
    LLVMValueRef before = LLVMBuildLoad2(e->b, i1, z->found, "");
    LLVMBuildStore(e->b, LLVMBuildOr(e->b, before, is_zero, ""), z->found);
}

LLVMValueRef gp_tile_cpu_any_zero(GpEmit *e, const GpValue *v) {
    LLVMTypeRef i1 = LLVMInt1TypeInContext(e->ctx);
    AnyZero z = {v, gp_emit_alloca(e, i1, 1, 0)};
    LLVMBuildStore(e->b, gp_emit_bool(e, false), z.found);
    emit_elements(e, v, NULL, any_zero_body, &z);
    return LLVMBuildLoad2(e->b, i1, z.found, "");
}

static void lower_extract(GpEmit *e, const GpInst *inst) {
    GpFusion f = {e, GP_NEW_ARRAY(e->arena, GpMemo, e->fn->next_id), false};
    GpCoords *c = GP_NEW(e->arena, GpCoords);
    for (int a = 0; a < GP_MAX_RANK; a++)
        c->at[a] = gp_emit_i64(e, 0);
    gp_emit_set(e, inst->results[0], gp_cpu_eval(&f, inst->operands[0], c));
}

void gp_tile_cpu_prepare(GpEmit *e) {
    e->plan = gp_tile_plan_make(e->arena, e->fn);
    e->uses = gp_ir_count_uses(e->fn, e->arena);
}

void gp_tile_cpu_inst(GpEmit *e, const GpInst *inst) {
    if (inst->op == GpOp_StoreTile) {
        emit_elements(e, inst->operands[1], inst, store_body, (void *)(uintptr_t)inst);
    } else if (inst->op == GpOp_Extract) {
        lower_extract(e, inst);
    } else if (gp_tile_plan_is_materialized(e->plan, inst->results[0])) {
        LLVMValueRef buffer = gp_tile_cpu_buffer(e, inst->results[0]->type);
        gp_tile_cpu_write(e, inst->results[0], buffer);
        gp_emit_set(e, inst->results[0], buffer);
    }
}
