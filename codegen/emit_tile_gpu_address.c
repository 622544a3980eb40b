/* Accesses through addresses on the GPU.
**
** Each element once, by its owner; a scalar by the first thread. Offsets that are known to follow each other along the
** innermost axis are accessed in runs, as elements of tensors are, where they begin at multiples. */
#include "codegen/emit_tile_gpu.h"

enum { ALONG_DEPTH = 16, MOST_MODULUS = GP_GPU_VECTOR_BYTES };

/* How a tile's elements go on along its innermost axis, and what is known of those at multiples of MOST_MODULUS there:
** that they are `residue` more than a multiple of `modulus`, a power of two. */
typedef struct Along {
    bool is_same, is_next; /* each is the one before; is one more */
    uint32_t modulus, residue;
} Along;

static Along along_of(const GpValue *v, int depth);

static Along known(uint32_t modulus, uint32_t residue) { return (Along){true, false, modulus, residue % modulus}; }

static Along product(Along a, Along b) {
    Along p = known(GP_MIN(a.modulus, b.modulus), a.residue * b.residue);
    if (a.residue == 0 && a.modulus > p.modulus)
        p = known(a.modulus, 0);
    if (b.residue == 0 && b.modulus > p.modulus)
        p = known(b.modulus, 0);
    return p;
}

static Along along_both(const GpInst *inst, int depth) {
    Along a = along_of(inst->operands[0], depth), b = along_of(inst->operands[1], depth), both = known(1, 0);
    bool is_sum = inst->op == GpOp_Add, is_difference = inst->op == GpOp_Sub;
    if (inst->op == GpOp_Mul)
        both = product(a, b);
    if (is_sum || is_difference)
        both = known(GP_MIN(a.modulus, b.modulus), is_sum ? a.residue + b.residue : a.residue - b.residue);
    both.is_same = a.is_same && b.is_same;
    both.is_next = ((is_sum || is_difference) && a.is_next && b.is_same) || (is_sum && a.is_same && b.is_next);
    return both;
}

/* Of a change of shape that leaves the innermost axis as it is, or repeats along it, what its operand does. */
static Along along_viewed(const GpInst *inst, int depth) {
    const GpShape *from = &inst->operands[0]->type->shape, *to = &inst->results[0]->type->shape;
    int64_t last = from->rank ? from->dim[from->rank - 1] : 1;
    Along a = along_of(inst->operands[0], depth);
    if (last == to->dim[to->rank - 1])
        return a;
    return inst->op == GpOp_Broadcast ? (Along){true, false, last == 1 ? a.modulus : 1, last == 1 ? a.residue : 0}
                                      : (Along){false, false, 1, 0};
}

static Along along_of(const GpValue *v, int depth) {
    const GpInst *inst = v->inst;
    GpScalar k;
    Along unknown = {!gp_ir_is_tile(v), false, 1, 0};
    if (gp_elem_is_float(v->type->elem) || depth == 0)
        return unknown;
    if (gp_ir_const(v, &k))
        return known(MOST_MODULUS, (uint32_t)k.i);
    if (!inst)
        return unknown;
    if (inst->op == GpOp_Iota)
        return (Along){false, true, MOST_MODULUS, 0};
    if (inst->op == GpOp_Splat)
        return known(along_of(inst->operands[0], depth - 1).modulus, along_of(inst->operands[0], depth - 1).residue);
    if (inst->op == GpOp_Cast && !gp_elem_is_float(inst->operands[0]->type->elem))
        return along_of(inst->operands[0], depth - 1);
    if (inst->op == GpOp_Reshape || inst->op == GpOp_Broadcast)
        return along_viewed(inst, depth - 1);
    bool is_binary = inst->operand_count == 2 && gp_sig_info[gp_op_info[inst->op].sig].elementwise;
    return is_binary ? along_both(inst, depth - 1) : unknown;
}

bool gp_gpu_follows(const GpValue *offsets) { return along_of(offsets, ALONG_DEPTH).is_next; }

/* An access being emitted, in registers of one layout. */
typedef struct Access {
    const GpInst *inst;
    GpElem elem;
    GpBound operands[GP_ACCESS_OPERANDS], out;
    LLVMValueRef ok; /* NULL: in all threads */
    uint32_t run;    /* elements that one instruction may access */
    bool is_aligned; /* runs begin at multiples of their bytes; else it turns out */
} Access;

static bool is_plain(const GpInst *inst) {
    return (inst->op == GpOp_Gather || inst->op == GpOp_Scatter) && inst->ordering == GpOrdering_Weak;
}

/* Looks for gathers from the same address that begin within a run, as those of a stencil. */
typedef struct Shifted {
    const GpInst *inst;
    uint32_t run;
    bool is_found;
} Shifted;

static void note_shifted(GpInst *inst, void *ud) {
    Shifted *s = ud;
    if (inst->op != GpOp_Gather || !is_plain(inst) || inst->operands[0] != s->inst->operands[0])
        return;
    Along a = along_of(inst->operands[1], ALONG_DEPTH);
    s->is_found |= a.is_next && a.residue % GP_MIN(a.modulus, s->run) != 0;
}

/* How many of `inst` one instruction can access, if they lie side by side. Elements that shifted gathers load one by one
** serve this one too. */
static uint32_t most_run(const GpEmit *e, const GpInst *inst) {
    uint32_t bytes = gp_elem_info[inst->operands[0]->type->elem].bytes;
    bool is_update = inst->op == GpOp_AtomicRmw && inst->ordering == GpOrdering_Relaxed && !e->uses[inst->results[0]->id];
    uint32_t most = is_plain(inst) ? GP_GPU_VECTOR_BYTES : is_update ? gp_emit_update_bytes(e, inst) : 0;
    Shifted s = {.inst = inst, .run = GP_MAX(most / bytes, 1u)};
    if (inst->op == GpOp_Gather && s.run > 1)
        gp_ir_walk(e->fn, GpWalk_Before, note_shifted, &s);
    return s.is_found ? 1 : s.run;
}

static bool is_base_aligned(const GpEmit *e, const GpValue *base) {
    return base->region == e->fn->body && !base->inst && e->fn->params[base->index].aligned16;
}

/* The longest run, up to `most`, that can begin at a multiple of its bytes; whether it is known to. */
static uint32_t run_within(const GpEmit *e, const GpInst *inst, uint32_t most, bool *is_aligned) {
    Along a = along_of(inst->operands[1], ALONG_DEPTH);
    bool is_known = is_base_aligned(e, inst->operands[0]);
    uint32_t run = a.is_next ? most : 1;
    while (run > 1 && is_known && a.residue % GP_MIN(run, a.modulus) != 0)
        run /= 2;
    *is_aligned = is_known && run <= a.modulus;
    return run;
}

uint32_t gp_gpu_aligned_run(const GpEmit *e, const GpInst *inst) {
    bool is_aligned;
    uint32_t run = run_within(e, inst, most_run(e, inst), &is_aligned);
    return is_aligned ? run : 1;
}

static void access_register(GpEmit *e, Access *a, uint32_t r) {
    LLVMValueRef x[GP_ACCESS_OPERANDS] = {NULL};
    for (uint32_t i = 0; i < a->inst->operand_count; i++)
        x[i] = gp_gpu_at(&a->operands[i], r);
    a->out.at[r] = gp_emit_access(e, a->inst, x, a->ok);
}

static LLVMValueRef run_address(GpEmit *e, const Access *a, uint32_t r) {
    LLVMValueRef offset = gp_gpu_at(&a->operands[1], r);
    return LLVMBuildGEP2(e->b, gp_emit_mem_type(e, a->elem), gp_gpu_at(&a->operands[0], r), &offset, 1, "");
}

/* All elements are accessed, and all runs begin at multiples of their bytes. */
static LLVMValueRef are_runs_whole(GpEmit *e, const Access *a) {
    LLVMTypeRef i64 = LLVMInt64TypeInContext(e->ctx);
    uint32_t mask = a->inst->op == GpOp_Gather ? 2 : 3, bytes = a->run * gp_elem_info[a->elem].bytes;
    LLVMValueRef all = a->ok ? a->ok : gp_emit_bool(e, true), low = gp_emit_i64(e, 0);
    for (uint32_t r = 0; r < a->out.count; r++)
        all = LLVMBuildAnd(e->b, all, gp_gpu_at(&a->operands[mask], r), "");
    for (uint32_t r = 0; r < a->out.count && !a->is_aligned; r += a->run)
        low = LLVMBuildOr(e->b, low, LLVMBuildPtrToInt(e->b, run_address(e, a, r), i64, ""), "");
    low = LLVMBuildAnd(e->b, low, gp_emit_i64(e, bytes - 1), "");
    return LLVMBuildAnd(e->b, all, LLVMBuildICmp(e->b, LLVMIntEQ, low, gp_emit_i64(e, 0), ""), "");
}

static void access_run(GpEmit *e, const Access *a, uint32_t r, GpBound *out) {
    LLVMValueRef x[GP_GPU_VECTOR_BYTES] = {NULL}, ptr = run_address(e, a, r);
    if (a->inst->op == GpOp_Gather)
        gp_gpu_take_run(e, a->elem, ptr, out, r, a->run);
    else if (a->inst->op == GpOp_Scatter)
        gp_gpu_put_run(e, a->elem, ptr, &a->operands[2], r, a->run);
    for (uint32_t i = 0; i < a->run && a->inst->op == GpOp_AtomicRmw; i++)
        x[i] = gp_gpu_at(&a->operands[2], r + i);
    if (a->inst->op == GpOp_AtomicRmw)
        gp_emit_update_run(e, a->inst, ptr, x, a->run);
}

static void access_each(GpEmit *e, Access *a) {
    for (uint32_t r = 0; r < a->out.count; r++)
        access_register(e, a, r);
}

/* One branch for all runs, so that loads are under way together. */
static void access_runs(GpEmit *e, Access *a) {
    LLVMBasicBlockRef whole = gp_emit_block(e, "whole"), part = gp_emit_block(e, "part");
    LLVMBasicBlockRef join = gp_emit_block(e, "runs");
    GpBound fast = gp_emit_bound_make(e, a->out.count);
    LLVMBuildCondBr(e->b, are_runs_whole(e, a), whole, part);
    gp_emit_at(e, whole);
    for (uint32_t r = 0; r < a->out.count; r += a->run)
        access_run(e, a, r, &fast);
    LLVMBuildBr(e->b, join);
    gp_emit_at(e, part);
    access_each(e, a);
    part = LLVMGetInsertBlock(e->b);
    LLVMBuildBr(e->b, join);
    gp_emit_at(e, join);
    for (uint32_t r = 0; r < fast.count && a->inst->op == GpOp_Gather; r++) {
        LLVMValueRef v = LLVMBuildPhi(e->b, LLVMTypeOf(fast.at[r]), "");
        LLVMAddIncoming(v, (LLVMValueRef[]){fast.at[r], a->out.at[r]}, (LLVMBasicBlockRef[]){whole, part}, 2);
        a->out.at[r] = v;
    }
}

/* What the owners got, among the lanes of a warp that is alone. */
static GpBound share_lanes(GpEmit *e, GpElem elem, uint32_t mask, const GpBound *got) {
    GpBound out = gp_emit_bound_make(e, got->count);
    for (uint32_t r = 0; r < got->count; r++)
        out.at[r] = gp_gpu_shuffle_first(e, elem, got->at[r], mask);
    return out;
}

/* Barriers before and after give the block's accesses the order of the program; the one behind is also what owners
** share across. */
void gp_tile_gpu_access(GpEmit *e, const GpInst *inst) {
    const GpValue *like = inst->result_count ? inst->results[0] : inst->operands[1];
    bool is_tile = gp_ir_is_tile(like);
    GpShape one = {{0}, 0};
    const GpShapeLayout *s =
        is_tile ? gp_gpu_layout_of(e, like)
                : gp_gpu_layout(e, gp_layout_blocked(e->arena, &one, 1, gp_tile_gpu_threads(e), 0));
    Access a = {.inst = inst, .elem = inst->operands[0]->type->elem};
    a.run = run_within(e, inst, GP_MIN(most_run(e, inst), gp_layout_run(s->layout)), &a.is_aligned);
    a.out = gp_emit_bound_make(e, gp_layout_registers(s->layout));
    gp_assert(inst->operand_count <= GP_ACCESS_OPERANDS);
    for (uint32_t i = 0; i < inst->operand_count; i++)
        a.operands[i] = is_tile ? gp_emit_operand(e, inst->operands[i], like)
                                : e->bound[inst->operands[i]->id];
    if (gp_gpu_update_bins(e, inst, a.operands, s))
        return;
    bool is_read = inst->op == GpOp_Gather && is_plain(inst);
    uint32_t lanes = gp_layout_useless_mask(s->layout) % GP_GPU_LANES;
    a.ok = is_read || (e->is_alone && !lanes) ? NULL : s->is_owner;
    gp_gpu_barrier(e);
    if (a.run > 1)
        access_runs(e, &a);
    else
        access_each(e, &a);
    bool is_used = inst->result_count && e->uses[inst->results[0]->id];
    if (is_used && a.ok && e->is_alone)
        a.out = share_lanes(e, a.elem, lanes, &a.out);
    else if (is_used && a.ok)
        a.out = gp_gpu_share(e, s, a.elem, &a.out);
    else
        gp_gpu_barrier(e);
    if (!is_used)
        return;
    if (is_tile)
        gp_gpu_bind(e, inst->results[0], a.out, s);
    else
        e->bound[inst->results[0]->id] = a.out;
}
