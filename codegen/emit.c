/* Emission of one function: parameters, attributes, memory forms, and the walk over a region.
**
** The caller has made the LLVM function; this file binds its arguments to the IR's parameters
** and emits instruction after instruction through the lowering column of op.def. */
#include "codegen/async.h"
#include "codegen/emit_tile_gpu.h"
#include "codegen/inline_ptx.h"

typedef void (*LowerFn)(GpEmit *e, const GpInst *inst);

/* Each lowering name becomes a constant that op.def's column refers to. */
enum {
#define GP_LOWER(name, function) Lower_##name,
#include "codegen/lower.def"
    Lower_count
};
static const LowerFn lower_fns[Lower_count] = {
#define GP_LOWER(name, function) [Lower_##name] = function,
#include "codegen/lower.def"
};
static const uint8_t lower_of_op[GpOp_count] = {
#define GP_OP(id, spelling, tracks, sig, effects, algebra, lowering, surface, sm, ptx, doc)        \
    [GpOp_##id] = Lower_##lowering,
#include "dsl/ir/op.def"
};

bool gp_op_is_refused(GpOp op) { return lower_of_op[op] == Lower_Refused; }
bool gp_op_is_whole(GpOp op) {
    return lower_of_op[op] == Lower_Whole || lower_of_op[op] == Lower_Access;
}

void gp_op_lower_refused(GpEmit *e, const GpInst *inst) {
    (void)e, (void)inst;
    gp_unreachable();
}

LLVMValueRef gp_emit_i32(GpEmit *e, int64_t v) {
    return LLVMConstInt(LLVMInt32TypeInContext(e->ctx), (uint64_t)v, true);
}

LLVMValueRef gp_emit_i64(GpEmit *e, int64_t v) {
    return LLVMConstInt(LLVMInt64TypeInContext(e->ctx), (uint64_t)v, true);
}

LLVMValueRef gp_emit_bool(GpEmit *e, bool v) {
    return LLVMConstInt(LLVMInt1TypeInContext(e->ctx), v, false);
}

LLVMValueRef gp_emit_split(LLVMValueRef x, LLVMValueRef *constant) {
    LLVMValueRef zero = LLVMConstNull(LLVMTypeOf(x));
    if (LLVMIsAConstantInt(x)) {
        *constant = x;
        return zero;
    }
    bool is_sum = LLVMIsABinaryOperator(x) && LLVMGetInstructionOpcode(x) == LLVMAdd &&
                  LLVMIsAConstantInt(LLVMGetOperand(x, 1));
    *constant = is_sum ? LLVMGetOperand(x, 1) : zero;
    return is_sum ? LLVMGetOperand(x, 0) : x;
}

LLVMValueRef gp_emit_offset(GpEmit *e, LLVMValueRef x, LLVMValueRef constant) {
    return LLVMIsNull(constant) ? x : LLVMBuildAdd(e->b, x, constant, "");
}

LLVMTypeRef gp_emit_mem_type(GpEmit *e, GpElem elem) {
    if (elem == GpElem_F64)
        return LLVMDoubleTypeInContext(e->ctx);
    if (elem == GpElem_F32 || elem == GpElem_TF32)
        return LLVMFloatTypeInContext(e->ctx);
    return LLVMIntTypeInContext(e->ctx, 8u * gp_elem_info[elem].bytes);
}

LLVMTypeRef gp_emit_type(GpEmit *e, GpElem elem) {
    if (elem == GpElem_Bool)
        return LLVMInt1TypeInContext(e->ctx);
    return elem == GpElem_I4 ? LLVMIntTypeInContext(e->ctx, 4) : gp_emit_mem_type(e, elem);
}

LLVMTypeRef gp_emit_ptr_type(GpEmit *e, GpSpace space) {
    static const unsigned number[] = {
        [GpSpace_Global] = 1, [GpSpace_Shared] = 3, [GpSpace_Local] = 0};
    return LLVMPointerTypeInContext(e->ctx, e->is_gpu ? number[space] : 0);
}

LLVMBasicBlockRef gp_emit_block(GpEmit *e, const char *name) {
    return LLVMAppendBasicBlockInContext(e->ctx, e->func, name);
}

void gp_emit_at(GpEmit *e, LLVMBasicBlockRef block) { LLVMPositionBuilderAtEnd(e->b, block); }

LLVMValueRef gp_emit_alloca(GpEmit *e, LLVMTypeRef type, uint64_t count, unsigned align) {
    LLVMBasicBlockRef here = LLVMGetInsertBlock(e->b);
    gp_emit_at(e, e->entry);
    LLVMValueRef at = LLVMBuildAlloca(e->b, LLVMArrayType2(type, count), "");
    if (align)
        LLVMSetAlignment(at, align);
    gp_emit_at(e, here);
    return at;
}

GpBound gp_emit_bound_make(GpEmit *e, uint32_t count) {
    return (GpBound){GP_NEW_ARRAY(e->arena, LLVMValueRef, count), count};
}

LLVMValueRef gp_emit_get(GpEmit *e, const GpValue *v) {
    gp_assert(e->bound[v->id].count == 1);
    return e->bound[v->id].at[0];
}

void gp_emit_set(GpEmit *e, const GpValue *v, LLVMValueRef x) {
    GpBound bound = gp_emit_bound_make(e, 1);
    bound.at[0] = x;
    e->bound[v->id] = bound;
}

uint32_t gp_emit_flat_count(GpEmit *e, const GpValue *v) {
    if (!gp_ir_is_tile(v))
        return 1;
    return e->is_gpu ? gp_tile_gpu_registers(e, v) : 0;
}

LLVMValueRef gp_emit_to_mem(GpEmit *e, GpElem elem, LLVMValueRef v) {
    if (elem != GpElem_Bool && elem != GpElem_I4)
        return v;
    return LLVMBuildZExt(e->b, v, gp_emit_mem_type(e, elem), "");
}

LLVMValueRef gp_emit_from_mem(GpEmit *e, GpElem elem, LLVMValueRef v) {
    if (elem == GpElem_F4E2)
        return LLVMBuildAnd(e->b, v, LLVMConstInt(LLVMTypeOf(v), 0xf, false), "");
    if (elem == GpElem_I4)
        return LLVMBuildTrunc(e->b, v, gp_emit_type(e, elem), "");
    if (elem != GpElem_Bool)
        return v;
    return LLVMBuildICmp(e->b, LLVMIntNE, v, LLVMConstNull(LLVMTypeOf(v)), "");
}

LLVMValueRef gp_emit_mem_load(GpEmit *e, GpElem elem, LLVMValueRef ptr) {
    LLVMValueRef v = LLVMBuildLoad2(e->b, gp_emit_mem_type(e, elem), ptr, "");
    LLVMSetAlignment(v, gp_elem_info[elem].bytes);
    return gp_emit_from_mem(e, elem, v);
}

void gp_emit_mem_store(GpEmit *e, GpElem elem, LLVMValueRef v, LLVMValueRef ptr) {
    LLVMValueRef store = LLVMBuildStore(e->b, gp_emit_to_mem(e, elem, v), ptr);
    LLVMSetAlignment(store, gp_elem_info[elem].bytes);
}

LLVMValueRef gp_emit_gep(GpEmit *e, GpElem elem, LLVMValueRef ptr, LLVMValueRef index) {
    return LLVMBuildInBoundsGEP2(e->b, gp_emit_mem_type(e, elem), ptr, &index, 1, "");
}

LLVMValueRef gp_emit_behind(GpEmit *e, LLVMValueRef ptr, int64_t bytes) {
    return gp_emit_gep(e, GpElem_U8, ptr, gp_emit_i64(e, bytes));
}

LLVMValueRef gp_emit_intrinsic(GpEmit *e, const char *name, LLVMTypeRef type, LLVMValueRef const *args,
                               uint32_t count) {
    unsigned id = LLVMLookupIntrinsicID(name, strlen(name));
    gp_assert(id != 0);
    size_t types = type ? 1 : 0;
    LLVMValueRef fn = LLVMGetIntrinsicDeclaration(e->module, id, &type, types);
    LLVMTypeRef fn_type = LLVMIntrinsicGetType(e->ctx, id, &type, types);
    return LLVMBuildCall2(e->b, fn_type, fn, (LLVMValueRef *)(uintptr_t)args, count, "");
}

LLVMValueRef gp_emit_guarded(GpEmit *e, LLVMValueRef cond, LLVMTypeRef type,
                             LLVMValueRef (*emit)(GpEmit *e, void *ud), void *ud) {
    LLVMBasicBlockRef from = LLVMGetInsertBlock(e->b);
    LLVMBasicBlockRef then = gp_emit_block(e, "in"), join = gp_emit_block(e, "out");
    LLVMBuildCondBr(e->b, cond, then, join);
    gp_emit_at(e, then);
    LLVMValueRef v = emit(e, ud);
    then = LLVMGetInsertBlock(e->b);
    LLVMBuildBr(e->b, join);
    gp_emit_at(e, join);
    if (!v)
        return NULL;
    LLVMValueRef phi = LLVMBuildPhi(e->b, type, "");
    LLVMAddIncoming(phi, (LLVMValueRef[]){v, LLVMConstNull(type)},
                    (LLVMBasicBlockRef[]){then, from}, 2);
    return phi;
}

static LLVMTypeRef param_type(GpEmit *e, const GpImageParam *p) {
    if (p->kind == GpParam_Base || p->kind == GpParam_Mailbox)
        return gp_emit_ptr_type(e, GpSpace_Global);
    if (p->kind == GpParam_TensorMap)
        return LLVMPointerTypeInContext(e->ctx, 0);
    if (p->kind != GpParam_Scalar)
        return LLVMIntTypeInContext(e->ctx, 8u * p->bytes);
    for (uint32_t i = 0; i < e->fn->param_count; i++)
        if (e->fn->params[i].arg == p->arg && e->fn->params[i].kind == GpParam_Scalar)
            return gp_emit_mem_type(e, e->fn->body->params[i]->type->elem);
    gp_unreachable();
}

LLVMTypeRef *gp_emit_param_types(GpEmit *e) {
    LLVMTypeRef *types = GP_NEW_ARRAY(e->arena, LLVMTypeRef, e->abi_count + 1);
    for (uint32_t i = 0; i < e->abi_count; i++)
        types[i] = param_type(e, &e->abi[i]);
    return types;
}

/* Memory that is only read is not changed by anyone when every written parameter is unique, so
** LLVM's noalias holds for it even where two read-only parameters are the same tensor. */
static bool is_noalias(const GpIrFn *fn, const GpIrParam *p) {
    if (p->is_unique)
        return true;
    if (p->is_written)
        return false;
    for (uint32_t i = 0; i < fn->param_count; i++)
        if (fn->params[i].is_written && !fn->params[i].is_unique)
            return false;
    return true;
}

static const GpIrParam *param_of_base(const GpIrFn *fn, const GpImageParam *p) {
    for (uint32_t i = 0; i < fn->param_count; i++)
        if (fn->params[i].kind == GpParam_Base && fn->params[i].arg == p->arg)
            return &fn->params[i];
    gp_unreachable();
}

void gp_emit_attributes(GpEmit *e, LLVMValueRef func, uint32_t first) {
    for (uint32_t i = 0; i < e->abi_count; i++) {
        if (e->abi[i].kind != GpParam_Base)
            continue;
        const GpIrParam *p = param_of_base(e->fn, &e->abi[i]);
        LLVMAttributeIndex at = first + i + 1;
        if (is_noalias(e->fn, p))
            LLVMAddAttributeAtIndex(func, at, gp_llvm_attr(e->llvm, "noalias", 0));
        if (!p->is_written)
            LLVMAddAttributeAtIndex(func, at, gp_llvm_attr(e->llvm, "readonly", 0));
        if (p->aligned16)
            LLVMAddAttributeAtIndex(func, at, gp_llvm_attr(e->llvm, "align", 16));
    }
}

/* Arguments in the order of gp_ir_abi: `*next` is the first of this parameter. */
static void bind_tensor(GpEmit *e, uint32_t index, LLVMValueRef *args, uint32_t *next) {
    const GpIrType *type = e->fn->body->params[index]->type;
    GpTensorArg *t = &e->tensors[e->fn->body->params[index]->id];
    t->param = &e->fn->params[index];
    t->base = args[(*next)++];
    for (int a = 0; a < type->shape.rank; a++)
        t->dim[a] =
            type->shape.dim[a] == GP_DYNAMIC ? args[(*next)++] : gp_emit_i32(e, type->shape.dim[a]);
    for (int a = 0; a < type->shape.rank; a++) {
        bool is_unit = t->param->unit_stride && a == type->shape.rank - 1;
        t->stride[a] = is_unit ? gp_emit_i64(e, 1) : args[(*next)++];
    }
}

void gp_emit_params(GpEmit *e, LLVMValueRef *args) {
    LLVMValueRef len = NULL;
    uint32_t next = 0;
    for (uint32_t i = 0; i < e->fn->param_count; i++) {
        const GpValue *v = e->fn->body->params[i];
        if (v->type->kind == GpIrType_Tensor) {
            bind_tensor(e, i, args, &next);
            continue;
        }
        LLVMValueRef arg = args[next++];
        if (e->fn->params[i].kind == GpParam_Len) {
            if (!len || !e->fn->equal_lens)
                len = arg;
            arg = len;
        }
        if (v->type->kind == GpIrType_Scalar)
            arg = gp_emit_from_mem(e, v->type->elem, arg);
        gp_emit_set(e, v, arg);
    }
    if (e->pipe)
        next += gp_pipe_params(e, args + next);
    e->mailbox = e->fn->site_count ? args[next++] : NULL;
    gp_assert(next == e->abi_count);
}

void gp_emit_location(GpEmit *e, GpSpan span) {
    if (!e->di || span.src == NULL || span.src != e->di_source)
        return;
    GpPlaceInFile at = gp_span_start(span);
    LLVMMetadataRef loc =
        LLVMDIBuilderCreateDebugLocation(e->ctx, at.line, at.column, e->di_builder_scope, NULL);
    LLVMSetCurrentDebugLocation2(e->b, loc);
}

static bool makes_tile(const GpInst *inst) {
    return inst->result_count && gp_ir_is_tile(inst->results[0]);
}

static bool takes_tile(const GpInst *inst) {
    for (uint32_t i = 0; i < inst->operand_count; i++)
        if (gp_ir_is_tile(inst->operands[i]))
            return true;
    return false;
}

/* Tile values on the CPU are expressions: nothing is emitted where they stand. */
static bool is_cpu_expression(const GpEmit *e, const GpInst *inst) {
    if (!e->is_tile || e->is_gpu || inst->region_count || gp_op_is_whole(inst->op))
        return false;
    return makes_tile(inst) || (takes_tile(inst) && lower_of_op[inst->op] == Lower_Tile);
}

static void emit_inst(GpEmit *e, const GpInst *inst) {
    if (!gp_pipe_has(e, inst) || !gp_async_has(e, inst))
        return;
    gp_emit_location(e, inst->span);
    gp_pipe_before(e, inst);
    if (is_cpu_expression(e, inst))
        gp_tile_cpu_inst(e, inst);
    else
        lower_fns[lower_of_op[inst->op]](e, inst);
}

/* ---- Elementwise instructions ------------------------------------------------------------ */

GpBound gp_emit_operand(GpEmit *e, const GpValue *v, const GpValue *as) {
    bool is_tile = gp_ir_is_tile(v);
    return e->is_gpu && is_tile ? gp_tile_gpu_operand(e, v, as) : e->bound[v->id];
}

/* On scalars, and on the registers of a tile. */
typedef struct Elementwise {
    const GpInst *inst;
    GpBound from[3], out; /* of one: the same for all registers */
} Elementwise;

static Elementwise open_elementwise(GpEmit *e, const GpInst *inst) {
    const GpValue *result = inst->results[0];
    Elementwise x = {.inst = inst};
    bool is_uniform = inst->operand_count == 0; /* a constant */
    gp_assert(inst->operand_count <= GP_COUNT(x.from));
    for (uint32_t i = 0; i < inst->operand_count; i++)
        x.from[i] = gp_emit_operand(e, inst->operands[i], result);
    x.out = gp_emit_bound_make(e, is_uniform ? 1 : gp_emit_flat_count(e, result));
    e->bound[result->id] = x.out;
    return x;
}

static void emit_register(GpEmit *e, const Elementwise *x, uint32_t r) {
    LLVMValueRef v[GP_COUNT(x->from)] = {NULL};
    for (uint32_t i = 0; i < x->inst->operand_count; i++)
        v[i] = x->from[i].at[x->from[i].count == 1 ? 0 : r];
    x->out.at[r] = gp_emit_element(e, x->inst, v);
}

enum { REGISTERS = 8 }; /* whose code may be mixed */

/* Whether all registers of the divisor are one value, which division by it makes use of. */
static bool is_one_divisor(const Elementwise *x, uint32_t from, uint32_t to) {
    const GpBound *b = &x->from[1];
    for (uint32_t r = from; r < to && b->count > 1; r++)
        if (b->at[r] != b->at[from])
            return false;
    return true;
}

/* Divisions side by side: each by itself has a branch, across which nothing is mixed. */
static void emit_registers(GpEmit *e, const Elementwise *x, uint32_t from, uint32_t to, bool is_mixed) {
    LLVMValueRef v[2][REGISTERS];
    const GpIrType *type = x->inst->results[0]->type;
    bool is_division = x->inst->op == GpOp_Div && type->elem == GpElem_F32 && e->is_gpu;
    if (!is_division || (!is_mixed && (to - from < REGISTERS / 2 || !is_one_divisor(x, from, to)))) {
        for (uint32_t r = from; r < to; r++)
            emit_register(e, x, r);
        return;
    }
    for (uint32_t i = 0; i < 2; i++)
        for (uint32_t r = from; r < to; r++)
            v[i][r - from] = x->from[i].at[x->from[i].count == 1 ? 0 : r];
    gp_emit_divisions(e, v[0], v[1], x->out.at + from, to - from);
}

static void lower_elementwise(GpEmit *e, const GpInst *inst) {
    Elementwise x = open_elementwise(e, inst);
    for (uint32_t r = 0; r < x.out.count; r += REGISTERS)
        emit_registers(e, &x, r, GP_MIN(r + REGISTERS, x.out.count), false);
}

/* ---- Runs -------------------------------------------------------------------------------- */

/* Elementwise instructions in a row on tiles of one layout, with constants and scalars between them. */
typedef struct Run {
    const GpInst *end; /* behind its last, and behind its first where that is none */
    uint32_t tiles;
    bool has_branch; /* code of an element that branches */
} Run;

static bool is_registers(const GpInst *inst) {
    return (lower_of_op[inst->op] == Lower_Arith || lower_of_op[inst->op] == Lower_Math) && makes_tile(inst);
}

static bool is_branching(const GpInst *inst) {
    if (!gp_elem_is_float(inst->results[0]->type->elem))
        return false;
    return inst->op == GpOp_Div || inst->op == GpOp_Sqrt || inst->op == GpOp_Rsqrt ||
           (gp_math_needs_library(inst->op) && !gp_special_computes(inst->op));
}

/* The same values, of which nothing is known: LLVM would make them where they are used, and keep what they
** are made of until then. */
static void keep_here(GpEmit *e, const Elementwise *x, uint32_t from, uint32_t to) {
    GpBound part = {x->out.at + from, to - from};
    if (x->inst->results[0]->type->elem != GpElem_F32)
        return;
    GpInlinePtx ptx = gp_inline_begin(e, part.count);
    gp_inline_outputs(&ptx, &part);
    gp_inline_tied(&ptx, &part, 0);
    gp_inline_call(&ptx, part.at);
}

/* Where a division branches, what comes before and behind it is not mixed by the assembler: instruction
** after instruction, two tiles of a kernel whose registers are full of sums would be alive. */
static Run find_run(GpEmit *e, const GpInst *first) {
    Run run = {.end = first->next};
    if (!e->pipe || e->pipe->role != GpPipe_Consumer || e->pipe->pending_count || !is_registers(first) ||
        gp_emit_flat_count(e, first->results[0]) < 2 * REGISTERS)
        return run;
    const GpShapeLayout *layout = gp_gpu_layout_of(e, first->results[0]);
    for (const GpInst *x = first; x; x = x->next) {
        bool is_tile = is_registers(x) && gp_gpu_layout_of(e, x->results[0]) == layout;
        bool is_other = gp_ir_effect(x) == GpEffect_Pure && !x->region_count && !takes_tile(x) &&
                        (!makes_tile(x) || gp_gpu_is_uniform(x->results[0]));
        if ((!is_tile && !is_other) || gp_map_has(&e->pipe->turn_closes, x) || (x != first && gp_pipe_is_end(e->pipe, x)))
            break;
        run.tiles += is_tile;
        run.has_branch |= is_tile && is_branching(x);
        run.end = x->next;
    }
    return run;
}

/* A few registers after the others. Scalars and constants come first: they do not depend on tiles. */
static void emit_run(GpEmit *e, const GpInst *first, const Run *run) {
    Elementwise *tiles = GP_NEW_ARRAY(e->arena, Elementwise, run->tiles);
    uint32_t count = 0;
    for (const GpInst *x = first; x != run->end; x = x->next)
        if (!is_registers(x))
            emit_inst(e, x);
    for (const GpInst *x = first; x != run->end; x = x->next) {
        if (!is_registers(x))
            continue;
        gp_emit_location(e, x->span);
        gp_pipe_before(e, x);
        tiles[count++] = open_elementwise(e, x);
    }
    uint32_t all = tiles[0].out.count, last = count - 1;
    while (last > 0 && tiles[last].inst->op == GpOp_Cast)
        last--; /* stores join it with its neighbour's */
    for (uint32_t r = 0; r < all; r += REGISTERS)
        for (uint32_t i = 0; i < count; i++) {
            emit_registers(e, &tiles[i], r, GP_MIN(r + REGISTERS, all), true);
            if (i == last)
                keep_here(e, &tiles[i], r, GP_MIN(r + REGISTERS, all));
        }
}

bool gp_emit_region(GpEmit *e, const GpRegion *r) {
    const GpRegion *outer = e->region;
    e->region = r;
    Run run = {.end = r->first};
    for (const GpInst *inst = r->first, *next; inst && !e->refused; inst = next) {
        if (inst == run.end)
            run = find_run(e, inst);
        next = run.has_branch ? run.end : inst->next;
        if (run.has_branch)
            emit_run(e, inst, &run);
        else
            emit_inst(e, inst);
    }
    e->region = outer;
    return !e->refused && LLVMGetBasicBlockTerminator(LLVMGetInsertBlock(e->b)) == NULL;
}

LLVMValueRef gp_emit_combination(GpEmit *e, const GpInst *inst, LLVMValueRef acc, LLVMValueRef x) {
    const GpRegion *r = inst->regions[0];
    gp_emit_set(e, r->params[0], acc);
    gp_emit_set(e, r->params[1], x);
    for (const GpInst *i = r->first; i != r->last; i = i->next)
        lower_fns[lower_of_op[i->op]](e, i);
    return gp_emit_get(e, r->last->operands[0]);
}

void gp_emit_body(GpEmit *e) {
    if (gp_emit_region(e, e->fn->body))
        LLVMBuildRetVoid(e->b);
}

void gp_op_lower_const(GpEmit *e, const GpInst *inst) { lower_elementwise(e, inst); }
void gp_op_lower_arith(GpEmit *e, const GpInst *inst) {
    bool is_range_check = e->is_interior && inst->op == GpOp_Cmp && inst->pred == GpPred_Lt &&
                          gp_simt_is_in_range(e, inst->operands[0], inst->operands[1]);
    if (is_range_check) {
        gp_emit_set(e, inst->results[0], gp_emit_bool(e, true));
        return;
    }
    lower_elementwise(e, inst);
    if (e->is_interior && (inst->op == GpOp_Add || inst->op == GpOp_Mul))
        gp_simt_note_no_wrap(e, inst);
}

void gp_op_lower_math(GpEmit *e, const GpInst *inst) { lower_elementwise(e, inst); }

/* The base and all rows begin at multiples of 16 bytes. */
static LLVMValueRef is_aligned(GpEmit *e, const GpTensorArg *t, uint32_t rank, uint32_t bytes) {
    LLVMValueRef all = LLVMBuildPtrToInt(e->b, t->base, LLVMInt64TypeInContext(e->ctx), "");
    for (uint32_t a = 0; a + 1 < rank; a++)
        all = LLVMBuildOr(e->b, all, LLVMBuildMul(e->b, t->stride[a], gp_emit_i64(e, bytes), ""), "");
    all = LLVMBuildAnd(e->b, all, gp_emit_i64(e, 15), "");
    return LLVMBuildICmp(e->b, LLVMIntEQ, all, gp_emit_i64(e, 0), "");
}

static void lower_make_tensor(GpEmit *e, const GpInst *inst) {
    GpTensorArg *t = &e->tensors[inst->results[0]->id];
    size_t rank = inst->results[0]->type->shape.rank;
    GpIrParam *param = GP_NEW(e->arena, GpIrParam);
    GpScalar last;
    *param = (GpIrParam){.kind = GpParam_Base, .is_written = true};
    param->unit_stride = rank && gp_ir_const(inst->operands[2 * rank], &last) && last.i == 1;
    t->param = param;
    t->base = gp_emit_get(e, inst->operands[0]);
    for (uint32_t a = 0; a < rank; a++) {
        t->dim[a] = gp_emit_get(e, inst->operands[1 + a]);
        t->stride[a] = gp_emit_get(e, inst->operands[1 + rank + a]);
    }
    if (e->is_gpu && param->unit_stride)
        t->aligned = is_aligned(e, t, (uint32_t)rank, gp_elem_info[inst->results[0]->type->elem].bytes);
}

static void lower_window(GpEmit *e, const GpInst *inst) {
    const GpTensorArg *from = &e->tensors[inst->operands[0]->id];
    GpTensorArg *t = &e->tensors[inst->results[0]->id];
    uint32_t rank = inst->results[0]->type->shape.rank;
    LLVMTypeRef i64 = LLVMInt64TypeInContext(e->ctx);
    GpIrParam *param = GP_NEW(e->arena, GpIrParam);
    *param = *from->param;
    param->aligned16 = e->is_gpu && gp_gpu_is_aligned(e, inst->results[0]);
    *t = *from;
    t->param = param;
    LLVMValueRef offset = gp_emit_i64(e, 0);
    for (uint32_t a = 0; a < rank; a++) {
        LLVMValueRef start = LLVMBuildSExt(e->b, gp_emit_get(e, inst->operands[1 + a]), i64, "");
        offset = LLVMBuildNSWAdd(e->b, offset, LLVMBuildNSWMul(e->b, start, t->stride[a], ""), "");
        t->dim[a] = gp_emit_get(e, inst->operands[1 + rank + a]);
    }
    t->base = gp_emit_gep(e, inst->results[0]->type->elem, from->base, offset);
}

void gp_op_lower_tile(GpEmit *e, const GpInst *inst) {
    if (inst->op == GpOp_ProgramId || inst->op == GpOp_NumPrograms) {
        LLVMValueRef *from = inst->op == GpOp_ProgramId ? e->block_id : e->grid_dim;
        gp_emit_set(e, inst->results[0], from[inst->axis]);
    } else if (inst->op == GpOp_Dim) {
        gp_emit_set(e, inst->results[0], e->tensors[inst->operands[0]->id].dim[inst->axis]);
    } else if (inst->op == GpOp_Below) {
        gp_emit_set(e, inst->results[0], gp_emit_get(e, inst->operands[0]));
    } else if (inst->op == GpOp_MakeTensor) {
        lower_make_tensor(e, inst);
    } else if (inst->op == GpOp_TensorBase) {
        gp_emit_set(e, inst->results[0], e->tensors[inst->operands[0]->id].base);
    } else if (inst->op == GpOp_Stride) {
        gp_emit_set(e, inst->results[0], e->tensors[inst->operands[0]->id].stride[inst->axis]);
    } else if (inst->op == GpOp_Window) {
        lower_window(e, inst);
    } else if (e->is_gpu) {
        gp_tile_gpu_inst(e, inst);
    } else {
        gp_tile_cpu_inst(e, inst);
    }
}

void gp_op_lower_whole(GpEmit *e, const GpInst *inst) {
    if (e->is_gpu)
        gp_tile_gpu_whole(e, inst);
    else
        gp_tile_cpu_whole(e, inst);
}
