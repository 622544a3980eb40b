/* The oracle: runs IR element by element, as slowly and plainly as possible. What an element's
** value is stands in eval.c; here are control flow, checks and the entry.
**
** Blocks run in order, and so do the threads of a block (interp_simt.c): a kernel that needs
** threads to meet is not for this interpreter. */
#include "dsl/ir/interp.h"

#include "dsl/ir/eval.h"

enum { TURNS_BETWEEN_QUESTIONS = 4096 };

/* Reports a failed check at the instruction's site unless another was first. */
static void fail(GpInterp *in, const GpInst *inst, int64_t value, int64_t limit) {
    GpMailbox *box = in->mailbox;
    uint32_t empty = 0;
    if (!box || !__atomic_compare_exchange_n(&box->state, &empty, 1, false, __ATOMIC_ACQ_REL,
                                             __ATOMIC_RELAXED))
        return;
    box->site = inst->site;
    memcpy(box->block, in->block, sizeof box->block);
    memcpy(box->thread, in->thread, sizeof box->thread);
    box->value = value;
    box->limit = limit;
    __atomic_store_n(&box->state, 2, __ATOMIC_RELEASE);
}

static void run_elementwise(GpInterp *in, const GpInst *inst) {
    const GpIrType *type = inst->results[0]->type;
    int64_t n = gp_ir_numel(type);
    GpScalar args[3], *to = gp_interp_result(in, inst);
    for (int64_t e = 0; e < n; e++) {
        for (uint32_t i = 0; i < inst->operand_count; i++)
            args[i] = gp_interp_at(in, inst->operands[i])[e];
        /* Division by zero is checked before; where it is not, its value is zero. */
        (void)gp_eval(inst->op, inst->pred, type->elem, args, &to[e]);
    }
}

static GpFlow run_inst(GpInterp *in, const GpInst *inst) {
    static GpFlow (*const runs[GpSig_count])(GpInterp *, const GpInst *) = {
#define GP_INTERP_ROW_0(id) [GpSig_##id] = gp_interp_##id,
#define GP_INTERP_ROW_1(id)
#define GP_SIG(id, attrs, regions, elementwise, elems, doc) GP_INTERP_ROW_##elementwise(id)
#include "dsl/ir/sig.def"
    };
    GpSig sig = gp_op_info[inst->op].sig;
    if (!gp_sig_info[sig].elementwise) return runs[sig](in, inst);
    run_elementwise(in, inst);
    return GpFlow_Next;
}

GpFlow gp_interp_region(GpInterp *in, const GpRegion *r) {
    for (const GpInst *inst = r->first; inst; inst = inst->next) {
        GpFlow flow = run_inst(in, inst);
        if (flow != GpFlow_Next) return flow;
    }
    return GpFlow_Next;
}

/* All values are read before one is written: carried values may swap places. */
static void carry(GpInterp *in, GpValue *const *from, GpValue *const *to, uint32_t count) {
    GpScalar *at = in->scratch;
    for (uint32_t i = 0; i < count; i++) {
        size_t n = (size_t)gp_ir_numel(from[i]->type);
        memcpy(at, gp_interp_at(in, from[i]), n * sizeof *at);
        at += n;
    }
    at = in->scratch;
    for (uint32_t i = 0; i < count; i++) {
        size_t n = (size_t)gp_ir_numel(to[i]->type);
        memcpy(gp_interp_at(in, to[i]), at, n * sizeof *at);
        at += n;
    }
}

static void carry_from(GpInterp *in, const GpInst *from, GpValue *const *to) {
    carry(in, from->operands, to, from->operand_count);
}

/* A flow that left `inst`'s region for `inst` itself, or for something around it. */
static bool is_for(const GpInterp *in, GpFlow flow, const GpInst *inst) {
    return (flow == GpFlow_Break || flow == GpFlow_Continue) && in->left->target == inst;
}

GpFlow gp_interp_Const(GpInterp *in, const GpInst *inst) {
    (void)in, (void)inst; /* its elements were filled when the run began */
    return GpFlow_Next;
}

GpFlow gp_interp_Global(GpInterp *in, const GpInst *inst) {
    (void)in, (void)inst; /* likewise */
    return GpFlow_Next;
}

GpFlow gp_interp_If(GpInterp *in, const GpInst *inst) {
    const GpRegion *r = inst->regions[gp_interp_get(in, inst, 0).u ? 0 : 1];
    GpFlow flow = gp_interp_region(in, r);
    if (flow == GpFlow_Next) carry_from(in, r->last, inst->results);
    return flow;
}

static void count_turn(GpInterp *in) {
    if (++in->turns % TURNS_BETWEEN_QUESTIONS == 0 && gp_stopped(in->stop))
        gp_throw(&in->session, GpStatus_Interrupted);
}

/* What the end of a turn means: true when the loop goes on, its carried values set. */
static bool end_turn(GpInterp *in, const GpInst *loop, GpValue *const *carried, GpFlow *flow) {
    if (*flow == GpFlow_Next) {
        carry_from(in, loop->regions[0]->last, carried);
        return true;
    }
    if (!is_for(in, *flow, loop)) return false;
    bool goes_on = *flow == GpFlow_Continue;
    *flow = GpFlow_Next;
    carry_from(in, in->left, goes_on ? carried : loop->results);
    return goes_on;
}

/* Ends before the index would wrap: the distance to `upper` decides, not index + step. */
GpFlow gp_interp_For(GpInterp *in, const GpInst *inst) {
    const GpRegion *r = inst->regions[0];
    GpScalar index = gp_interp_get(in, inst, 0), upper = gp_interp_get(in, inst, 1);
    GpScalar step = gp_interp_get(in, inst, 2), args[2] = {index, upper}, runs;
    GpValue *const *carried = gp_loop_params(inst);
    carry(in, gp_loop_starts(inst), carried, inst->result_count);
    gp_eval(GpOp_Cmp, GpPred_Lt, GpElem_Bool, args, &runs);
    if (gp_elem_is_signed(step.elem) ? step.i < 1 : step.u < 1) step.u = 1;
    for (bool goes_on = runs.u; goes_on;) {
        count_turn(in);
        *gp_interp_at(in, r->params[0]) = index;
        GpFlow flow = gp_interp_region(in, r);
        if (!end_turn(in, inst, carried, &flow)) return flow;
        goes_on = upper.u - index.u > step.u;
        index.u += step.u;
    }
    carry(in, carried, inst->results, inst->result_count);
    return GpFlow_Next;
}

GpFlow gp_interp_Loop(GpInterp *in, const GpInst *inst) {
    const GpRegion *r = inst->regions[0];
    carry(in, inst->operands, r->params, r->param_count);
    GpFlow flow;
    do {
        count_turn(in);
        flow = gp_interp_region(in, r);
    } while (end_turn(in, inst, r->params, &flow));
    return flow;
}

GpFlow gp_interp_Block(GpInterp *in, const GpInst *inst) {
    GpFlow flow = gp_interp_region(in, inst->regions[0]);
    if (flow == GpFlow_Next) {
        carry_from(in, inst->regions[0]->last, inst->results);
    } else if (is_for(in, flow, inst)) {
        carry_from(in, in->left, inst->results);
        flow = GpFlow_Next;
    }
    return flow;
}

GpFlow gp_interp_Carry(GpInterp *in, const GpInst *inst) {
    if (inst->op == GpOp_Yield) return GpFlow_Next;
    in->left = inst;
    return inst->op == GpOp_Break ? GpFlow_Break : GpFlow_Continue;
}

GpFlow gp_interp_Nothing(GpInterp *in, const GpInst *inst) {
    (void)in;
    gp_assert(inst->op == GpOp_Return);
    return GpFlow_Return;
}

GpFlow gp_interp_CheckIndex(GpInterp *in, const GpInst *inst) {
    GpScalar index = gp_interp_get(in, inst, 0), length = gp_interp_get(in, inst, 1);
    bool is_negative = (gp_elem_is_signed(index.elem) && index.i < 0) ||
                       (gp_elem_is_signed(length.elem) && length.i < 0);
    bool ok = !is_negative && index.u < length.u;
    *gp_interp_result(in, inst) = (GpScalar){.elem = GpElem_Bool, .u = ok};
    if (!ok) fail(in, inst, index.i, length.i);
    return GpFlow_Next;
}

GpFlow gp_interp_CheckDiv(GpInterp *in, const GpInst *inst) {
    const GpScalar *divisor = gp_interp_at(in, inst->operands[0]);
    int64_t n = gp_ir_numel(inst->operands[0]->type);
    for (int64_t e = 0; e < n; e++) {
        if (divisor[e].u != 0) continue;
        fail(in, inst, 0, 0);
        return GpFlow_Return;
    }
    return GpFlow_Next;
}

GpFlow gp_interp_Assert(GpInterp *in, const GpInst *inst) {
    if (gp_interp_get(in, inst, 0).u) return GpFlow_Next;
    bool has_numbers = inst->operand_count > 1;
    fail(in, inst, has_numbers ? gp_interp_get(in, inst, 1).i : 0, has_numbers ? gp_interp_get(in, inst, 2).i : 0);
    return GpFlow_Return;
}

static void place_value(GpInterp *in, const GpValue *v) {
    int64_t n = gp_ir_numel(v->type);
    GpScalar *cells = GP_NEW_ARRAY(in->arena, GpScalar, (size_t)n);
    for (int64_t e = 0; e < n; e++) cells[e].elem = v->type->elem;
    in->cells[v->id] = cells;
}

/* Memory of the function, not of the run: another run finds it as this one leaves it. */
static void place_global(GpInterp *in, const GpInst *inst) {
    for (GpIrGlobal *g = in->fn->globals; g; g = g->next)
        if (!strcmp(g->name, inst->text))
            gp_interp_result(in, inst)->u = (uint64_t)(uintptr_t)&g->memory;
}

/* Gives every value its place; the widest set of values that is carried at once is `*most`. */
static void place_region(GpInterp *in, const GpRegion *r, size_t *most) {
    for (uint32_t i = 0; i < r->param_count; i++) place_value(in, r->params[i]);
    for (const GpInst *inst = r->first; inst; inst = inst->next) {
        size_t width = 0;
        for (uint32_t i = 0; i < inst->operand_count; i++)
            width += (size_t)gp_ir_numel(inst->operands[i]->type);
        *most = GP_MAX(*most, width);
        width = 0;
        for (uint32_t i = 0; i < inst->result_count; i++) {
            place_value(in, inst->results[i]);
            width += (size_t)gp_ir_numel(inst->results[i]->type);
        }
        *most = GP_MAX(*most, width);
        if (inst->op == GpOp_MakeTensor || inst->op == GpOp_Window)
            gp_interp_result(in, inst)->u = (uint64_t)(uintptr_t)GP_NEW(in->arena, GpInterpTensor);
        if (inst->op == GpOp_Global) place_global(in, inst);
        if (inst->op == GpOp_Const)
            for (size_t e = 0; e < width; e++) gp_interp_result(in, inst)[e] = inst->imm;
        for (uint32_t i = 0; i < inst->region_count; i++) place_region(in, inst->regions[i], most);
    }
}

static int64_t read_param(const GpImageParam *param, const uint8_t *params) {
    GpElem elem = param->bytes == 4 ? GpElem_I32 : GpElem_I64;
    return gp_scalar_load(elem, params + param->offset).i;
}

/* Tensors take several parameters of the ABI, everything else one. */
static const GpImageParam *unpack_tensor(GpInterp *in, const GpValue *v, const GpImageParam *at,
                                         const GpImageParam *end, const uint8_t *params) {
    GpInterpTensor *t = GP_NEW(in->arena, GpInterpTensor);
    uint8_t rank = v->type->shape.rank;
    t->base = (uint8_t *)(uintptr_t)(uint64_t)read_param(at++, params);
    for (int a = 0; a < rank; a++) t->dim[a] = v->type->shape.dim[a];
    if (rank) t->stride[rank - 1] = 1;
    for (; at < end && at->kind == GpParam_Dim; at++) t->dim[at->axis] = read_param(at, params);
    for (; at < end && at->kind == GpParam_Stride; at++)
        t->stride[at->axis] = read_param(at, params);
    gp_interp_at(in, v)->u = (uint64_t)(uintptr_t)t;
    return at;
}

static void unpack_params(GpInterp *in, const uint8_t *params) {
    uint32_t count, bytes;
    const GpImageParam *at = gp_ir_abi(in->fn, in->arena, &count, &bytes), *end = at + count;
    for (uint32_t i = 0; i < in->fn->param_count; i++) {
        const GpValue *v = in->fn->body->params[i];
        if (v->type->kind == GpIrType_Tensor) {
            at = unpack_tensor(in, v, at, end, params);
        } else {
            GpElem elem = v->type->kind == GpIrType_Ptr ? GpElem_U64 : v->type->elem;
            *gp_interp_at(in, v) = gp_scalar_load(elem, params + at->offset);
            at++;
        }
    }
    if (at < end) in->mailbox = (GpMailbox *)(uintptr_t)(uint64_t)read_param(at, params);
}

typedef struct Run {
    GpInterp in;
    const uint8_t *params;
    uint64_t first, count;
} Run;

static void run_threads(GpInterp *in) {
    const uint32_t *size = in->grid->block;
    bool is_simt = in->fn->track == GpTrack_Simt;
    uint32_t *t = in->thread;
    for (t[2] = 0; t[2] < (is_simt ? size[2] : 1); t[2]++)
        for (t[1] = 0; t[1] < (is_simt ? size[1] : 1); t[1]++)
            for (t[0] = 0; t[0] < (is_simt ? size[0] : 1); t[0]++) {
                for (uint32_t i = 0; i < in->slots.len; i++)
                    memset(in->slots.at[i].memory, 0, in->slots.at[i].bytes);
                (void)gp_interp_region(in, in->fn->body);
            }
}

static void run_blocks(GpSession *s, void *ud) {
    Run *run = ud;
    GpInterp *in = &run->in;
    size_t most = 0;
    in->arena = gp_arena_new(s);
    if (!in->arena) gp_throw(s, GpStatus_NoMemory);
    in->cells = GP_NEW_ARRAY(in->arena, GpScalar *, in->fn->next_id);
    place_region(in, in->fn->body, &most);
    in->scratch = GP_NEW_ARRAY(in->arena, GpScalar, most);
    unpack_params(in, run->params);
    const uint32_t *grid = in->grid->grid;
    for (uint64_t b = run->first; b < run->first + run->count; b++) {
        in->block[0] = (uint32_t)(b % grid[0]);
        in->block[1] = (uint32_t)(b / grid[0] % grid[1]);
        in->block[2] = (uint32_t)(b / grid[0] / grid[1]);
        run_threads(in);
    }
}

/* An entry of a CPU kernel has no way to report that memory ran out, and a run that was cut short
** would give wrong numbers, so running out is a bug here. An interrupt is the host's own wish. */
void gp_interp_run(const GpIrFn *fn, const uint8_t *params, const GpGrid *grid, uint64_t first,
                   uint64_t count, GpStop *stop) {
    Run run = {.in = {.fn = fn, .grid = grid, .stop = stop}, .params = params, .first = first, .count = count};
    const GpSession *host = gp_arena_session(fn->arena);
    gp_session_init(&run.in.session, NULL, NULL, &host->hooks);
    run.in.printed.session = &run.in.session;
    GpStatus status = gp_protect(&run.in.session, run_blocks, &run);
    gp_text_free(&run.in.printed);
    gp_arena_free(run.in.arena);
    gp_assert(status == GpStatus_Ok || status == GpStatus_Interrupted);
}
