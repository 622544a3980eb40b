/* Structured control flow to basic blocks.
**
** A join is a block with one phi per LLVM value that is carried to it. Tiles on the CPU are
** carried in buffers instead: each tile position of a join owns one, and a jump writes it. */
#include "codegen/async.h"
#include "codegen/pipe.h"

/* Of arguments and of what the code cannot reach, read and written: LLVM's MemoryEffects as a number. */
#define ASKED_MEMORY 15

struct GpJoin {
    LLVMBasicBlockRef block;
    GpValue *const *values; /* results of an instruction or parameters of a region */
    uint32_t count;
    GpBound *bound; /* phis, or the buffer of a CPU tile */
    bool *is_paired; /* by value: a phi holds two registers of 16 bits */
    uint32_t jumps;
    bool is_loop; /* operands of a jump may read the buffers it writes */
};

typedef struct LoopJoins {
    GpJoin *next; /* continue and yield; NULL for a block */
    GpJoin *exit;
} LoopJoins;

static bool is_cpu_tile(const GpEmit *e, const GpValue *v) {
    return !e->is_gpu && gp_ir_is_tile(v);
}

static LLVMTypeRef llvm_type(GpEmit *e, const GpIrType *type) {
    return type->kind == GpIrType_Ptr ? gp_emit_ptr_type(e, type->space)
                                      : gp_emit_type(e, type->elem);
}

/* Registers of 16 bits would each take one of 32. */
static bool can_pair(const GpIrType *type, uint32_t registers) {
    return type->kind == GpIrType_Tile && gp_elem_info[type->elem].bits == 16 &&
           registers % 2 == 0;
}

/* Buffers are those of `share` when it is not NULL. */
static GpJoin *make_join(GpEmit *e, const char *name, GpValue *const *values, uint32_t count,
                         const GpJoin *share) {
    GpJoin *j = GP_NEW(e->arena, GpJoin);
    *j = (GpJoin){.block = gp_emit_block(e, name), .values = values, .count = count};
    j->bound = GP_NEW_ARRAY(e->arena, GpBound, count);
    j->is_paired = GP_NEW_ARRAY(e->arena, bool, count);
    LLVMBasicBlockRef here = LLVMGetInsertBlock(e->b);
    gp_emit_at(e, j->block);
    for (uint32_t i = 0; i < count; i++) {
        if (is_cpu_tile(e, values[i]) && share) {
            j->bound[i] = share->bound[i];
            continue;
        }
        if (is_cpu_tile(e, values[i])) {
            j->bound[i] = gp_emit_bound_make(e, 1);
            j->bound[i].at[0] = gp_tile_cpu_buffer(e, values[i]->type);
            continue;
        }
        uint32_t registers = gp_pipe_carries(e, values[i]) ? gp_emit_flat_count(e, values[i]) : 0;
        j->is_paired[i] = can_pair(values[i]->type, registers);
        LLVMTypeRef type = j->is_paired[i] ? LLVMInt32TypeInContext(e->ctx)
                                           : llvm_type(e, values[i]->type);
        j->bound[i] = gp_emit_bound_make(e, j->is_paired[i] ? registers / 2 : registers);
        for (uint32_t r = 0; r < j->bound[i].count; r++)
            j->bound[i].at[r] = LLVMBuildPhi(e->b, type, "");
    }
    gp_emit_at(e, here);
    return j;
}

/* A buffer that the join owns may be read by another operand of the same jump (two carried tiles
** that change places), or at other coordinates by the same one: then a temporary is needed. */
static void carry_tiles(GpEmit *e, GpJoin *j, GpValue *const *operands) {
    LLVMValueRef *temporary = GP_NEW_ARRAY(e->arena, LLVMValueRef, j->count);
    uint32_t tiles = 0;
    for (uint32_t i = 0; i < j->count; i++)
        tiles += is_cpu_tile(e, j->values[i]);
    for (uint32_t i = 0; i < j->count; i++) {
        if (!is_cpu_tile(e, j->values[i]))
            continue;
        const GpBound *from = &e->bound[operands[i]->id];
        if (from->count && from->at[0] == j->bound[i].at[0])
            continue; /* an accumulator that was updated in place */
        bool is_direct = !j->is_loop || (tiles == 1 && gp_tile_cpu_is_pointwise(e, operands[i]));
        temporary[i] = is_direct ? NULL : gp_tile_cpu_buffer(e, j->values[i]->type);
        gp_tile_cpu_write(e, operands[i], temporary[i] ? temporary[i] : j->bound[i].at[0]);
    }
    for (uint32_t i = 0; i < j->count; i++)
        if (temporary[i])
            gp_tile_cpu_copy(e, j->values[i]->type, temporary[i], j->bound[i].at[0]);
}

static GpBound pair_up(GpEmit *e, const GpBound *from, uint32_t words) {
    GpBound out = gp_emit_bound_make(e, words);
    bool is_uniform = from->count == 1;
    for (uint32_t r = 0; r < words; r++)
        out.at[r] = gp_emit_pair(e, from->at[is_uniform ? 0 : 2UL * r],
                                 from->at[is_uniform ? 0 : 2UL * r + 1]);
    return out;
}

static void jump(GpEmit *e, GpJoin *j, GpValue *const *operands) {
    GpBound *from = GP_NEW_ARRAY(e->arena, GpBound, j->count);
    carry_tiles(e, j, operands);
    for (uint32_t i = 0; i < j->count; i++) {
        if (gp_pipe_carries(e, j->values[i]))
            from[i] = gp_emit_operand(e, operands[i], j->values[i]);
        if (j->is_paired[i] && j->bound[i].count)
            from[i] = pair_up(e, &from[i], j->bound[i].count);
    }
    LLVMBasicBlockRef here = LLVMGetInsertBlock(e->b);
    for (uint32_t i = 0; i < j->count; i++) {
        if (is_cpu_tile(e, j->values[i]))
            continue;
        for (uint32_t r = 0; r < j->bound[i].count; r++) {
            LLVMValueRef v = from[i].at[from[i].count == 1 ? 0 : r];
            LLVMAddIncoming(j->bound[i].at[r], &v, &here, 1);
        }
    }
    LLVMBuildBr(e->b, j->block);
    j->jumps++;
}

static void bind_join(GpEmit *e, const GpJoin *j) {
    for (uint32_t i = 0; i < j->count; i++) {
        GpBound bound = j->bound[i];
        if (j->is_paired[i]) {
            bound = gp_emit_bound_make(e, 2 * j->bound[i].count);
            for (uint32_t r = 0; r < j->bound[i].count; r++)
                gp_emit_unpair(e, j->bound[i].at[r], &bound.at[2UL * r], &bound.at[2UL * r + 1]);
        }
        e->bound[j->values[i]->id] = bound;
    }
}

/* Goes on at the join. Without a jump to it the code after is dead: its values are poison. */
static void enter_exit(GpEmit *e, GpJoin *j) {
    gp_emit_at(e, j->block);
    for (uint32_t i = 0; i < j->count && j->jumps == 0; i++) {
        for (uint32_t r = 0; r < j->bound[i].count && !is_cpu_tile(e, j->values[i]); r++) {
            LLVMValueRef phi = j->bound[i].at[r];
            j->bound[i].at[r] = LLVMGetPoison(LLVMTypeOf(phi));
            LLVMInstructionEraseFromParent(phi);
        }
    }
    bind_join(e, j);
}

static void push_joins(GpEmit *e, const GpInst *inst, GpJoin *next, GpJoin *exit) {
    LoopJoins *joins = GP_NEW(e->arena, LoopJoins);
    *joins = (LoopJoins){next, exit};
    gp_map_set(e->arena, &e->joins, inst, joins);
}

static void emit_if(GpEmit *e, const GpInst *inst) {
    GpJoin *exit = make_join(e, "endif", inst->results, inst->result_count, NULL);
    LLVMBasicBlockRef then = gp_emit_block(e, "then"), other = gp_emit_block(e, "else");
    LLVMBuildCondBr(e->b, gp_emit_get(e, inst->operands[0]), then, other);
    push_joins(e, inst, NULL, exit);
    gp_emit_at(e, then);
    gp_emit_region(e, inst->regions[0]);
    gp_emit_at(e, other);
    gp_emit_region(e, inst->regions[1]);
    enter_exit(e, exit);
}

static void emit_block(GpEmit *e, const GpInst *inst) {
    GpJoin *exit = make_join(e, "endblock", inst->results, inst->result_count, NULL);
    push_joins(e, inst, NULL, exit);
    gp_emit_region(e, inst->regions[0]);
    enter_exit(e, exit);
}

/* ---- CPU: whether the launch is stopped ---------------------------------------------------- */

LLVMValueRef gp_emit_stopped(GpEmit *e) {
    LLVMTypeRef ptr = LLVMPointerTypeInContext(e->ctx, 0), bit = LLVMInt1TypeInContext(e->ctx);
    LLVMTypeRef type = LLVMFunctionType(bit, &ptr, 1, false);
    LLVMValueRef fn = LLVMGetNamedFunction(e->module, "gp_stopped");
    if (!fn) {
        fn = LLVMAddFunction(e->module, "gp_stopped", type);
        LLVMAddAttributeAtIndex(fn, GP_LLVM_FUNCTION, gp_llvm_attr(e->llvm, "nounwind", 0));
        LLVMAddAttributeAtIndex(fn, GP_LLVM_FUNCTION, gp_llvm_attr(e->llvm, "memory", ASKED_MEMORY));
        LLVMAddAttributeAtIndex(fn, LLVMAttributeReturnIndex, gp_llvm_attr(e->llvm, "zeroext", 0));
    }
    return LLVMBuildCall2(e->b, type, fn, &e->stop, 1, "");
}

static bool has_loop(const GpRegion *r) {
    for (const GpInst *i = r->first; i; i = i->next) {
        if (i->op == GpOp_Loop || i->op == GpOp_For)
            return true;
        for (uint32_t k = 0; k < i->region_count; k++)
            if (has_loop(i->regions[k]))
                return true;
    }
    return false;
}

/* An innermost loop of a thread's code asks seldom, so that its turns cost little more; other turns take
** longer. An innermost `for` of a thread's code, which may be vectorised, asks between strips instead: 0. */
static uint32_t turns_between(const GpEmit *e, const GpInst *loop) {
    bool is_long = e->is_tile || has_loop(loop->regions[0]);
    return is_long ? 64 : loop->op == GpOp_Loop ? 4096 : 0;
}

/* Where a loop counts its turns; NULL: it does not ask. */
static LLVMValueRef start_asking(GpEmit *e, const GpInst *loop) {
    if (!e->stop || !turns_between(e, loop))
        return NULL;
    LLVMValueRef turns = gp_emit_alloca(e, LLVMInt32TypeInContext(e->ctx), 1, 4);
    LLVMBuildStore(e->b, gp_emit_i32(e, 0), turns);
    e->asks_stop = true;
    return turns;
}

/* What is stopped ends the thread or block here. */
static void leave_if_stopped(GpEmit *e) {
    LLVMBasicBlockRef end = gp_emit_block(e, "stopped"), on = gp_emit_block(e, "go");
    LLVMBuildCondBr(e->b, gp_emit_stopped(e), end, on);
    gp_emit_at(e, end);
    LLVMBuildRetVoid(e->b);
    gp_emit_at(e, on);
}

static void ask(GpEmit *e, const GpInst *loop, LLVMValueRef turns) {
    if (!turns)
        return;
    LLVMBasicBlockRef asked = gp_emit_block(e, "ask"), turn = gp_emit_block(e, "turn");
    LLVMValueRef count = LLVMBuildLoad2(e->b, LLVMInt32TypeInContext(e->ctx), turns, "");
    count = LLVMBuildAdd(e->b, count, gp_emit_i32(e, 1), "");
    LLVMBuildStore(e->b, count, turns);
    LLVMValueRef rest = LLVMBuildAnd(e->b, count, gp_emit_i32(e, turns_between(e, loop) - 1), "");
    LLVMValueRef goes_on = LLVMBuildICmp(e->b, LLVMIntNE, rest, gp_emit_i32(e, 0), "");
    gp_emit_likely(e, LLVMBuildCondBr(e->b, goes_on, turn, asked));
    gp_emit_at(e, asked);
    leave_if_stopped(e);
    LLVMBuildBr(e->b, turn);
    gp_emit_at(e, turn);
}

/* ---- loops --------------------------------------------------------------------------------- */

static void emit_loop(GpEmit *e, const GpInst *inst) {
    const GpRegion *body = inst->regions[0];
    GpJoin *head = make_join(e, "loop", body->params, body->param_count, NULL);
    GpJoin *exit = make_join(e, "endloop", inst->results, inst->result_count, NULL);
    push_joins(e, inst, head, exit);
    gp_pipe_before_loop(e, inst, NULL);
    LLVMValueRef turns = start_asking(e, inst);
    jump(e, head, inst->operands);
    head->is_loop = true;
    gp_emit_at(e, head->block);
    bind_join(e, head);
    ask(e, inst, turns);
    gp_emit_region(e, body);
    enter_exit(e, exit);
}

/* Turns of lower..upper by step. A step below one counts as one: the loop always ends. */
static LLVMValueRef emit_turns(GpEmit *e, const GpInst *inst) {
    LLVMValueRef lower = gp_emit_get(e, inst->operands[0]);
    LLVMValueRef upper = gp_emit_get(e, inst->operands[1]);
    LLVMValueRef step = gp_emit_get(e, inst->operands[2]);
    LLVMTypeRef type = LLVMTypeOf(lower);
    LLVMValueRef zero = LLVMConstNull(type), one = LLVMConstInt(type, 1, false);
    bool is_signed = gp_elem_is_signed(inst->operands[0]->type->elem);
    LLVMValueRef some = LLVMBuildICmp(e->b, is_signed ? LLVMIntSLT : LLVMIntULT, lower, upper, "");
    LLVMValueRef is_step = LLVMBuildICmp(e->b, is_signed ? LLVMIntSGT : LLVMIntUGT, step, zero, "");
    step = LLVMBuildSelect(e->b, is_step, step, one, "");
    LLVMValueRef last = LLVMBuildSub(e->b, LLVMBuildSub(e->b, upper, lower, ""), one, "");
    LLVMValueRef turns = LLVMBuildAdd(e->b, LLVMBuildUDiv(e->b, last, step, ""), one, "");
    return LLVMBuildSelect(e->b, some, turns, zero, "");
}

/* The counters of a `for`: turns done, and the index that the body sees. */
typedef struct Counters {
    LLVMValueRef k, i;
} Counters;

static void set_counters(Counters c, Counters to, LLVMBasicBlockRef from) {
    LLVMAddIncoming(c.k, &to.k, &from, 1);
    LLVMAddIncoming(c.i, &to.i, &from, 1);
}

static Counters make_counters(GpEmit *e, Counters first, LLVMBasicBlockRef before) {
    Counters c = {LLVMBuildPhi(e->b, LLVMTypeOf(first.k), ""), LLVMBuildPhi(e->b, LLVMTypeOf(first.i), "i")};
    set_counters(c, first, before);
    return c;
}

static void step_counters(GpEmit *e, const GpInst *inst, Counters c) {
    LLVMValueRef k = LLVMBuildNUWAdd(e->b, c.k, LLVMConstInt(LLVMTypeOf(c.k), 1, false), "");
    LLVMValueRef i = LLVMBuildAdd(e->b, c.i, gp_emit_get(e, inst->operands[2]), "");
    set_counters(c, (Counters){k, i}, LLVMGetInsertBlock(e->b));
}

/* ---- a `for` in strips ----------------------------------------------------------------------- */

#define STRIP ((uint64_t)1 << 16) /* turns */

/* A loop around a `for` whose turns are a strip's. */
typedef struct Strips {
    GpJoin *join; /* NULL: there is only one */
    Counters first;
    LLVMValueRef end; /* of the strip's turns */
} Strips;

static Strips open_strips(GpEmit *e, const GpInst *inst, LLVMValueRef turns) {
    LLVMTypeRef type = LLVMTypeOf(turns);
    Strips s = {NULL, {LLVMConstNull(type), gp_emit_get(e, inst->operands[0])}, turns};
    if (!e->stop || turns_between(e, inst) || LLVMIsConstant(turns) || LLVMGetIntTypeWidth(type) < 32)
        return s;
    s.join = make_join(e, "strip", gp_loop_params(inst), inst->result_count, NULL);
    LLVMBasicBlockRef before = LLVMGetInsertBlock(e->b);
    jump(e, s.join, gp_loop_starts(inst));
    gp_emit_at(e, s.join->block);
    s.first = make_counters(e, s.first, before);
    bind_join(e, s.join);
    LLVMValueRef left = LLVMBuildSub(e->b, turns, s.first.k, ""), most = LLVMConstInt(type, STRIP, false);
    LLVMValueRef is_last = LLVMBuildICmp(e->b, LLVMIntULE, left, most, "");
    s.end = LLVMBuildNUWAdd(e->b, s.first.k, LLVMBuildSelect(e->b, is_last, left, most, ""), "");
    e->asks_stop = true;
    return s;
}

/* Behind a strip: on to the next unless it was the last. */
static void next_strip(GpEmit *e, const Strips *s, Counters c, LLVMValueRef turns) {
    if (!s->join)
        return;
    LLVMBasicBlockRef more = gp_emit_block(e, "more"), last = gp_emit_block(e, "last");
    LLVMValueRef is_last = LLVMBuildICmp(e->b, LLVMIntUGE, c.k, turns, "");
    gp_emit_likely(e, LLVMBuildCondBr(e->b, is_last, last, more));
    gp_emit_at(e, more);
    leave_if_stopped(e);
    set_counters(s->first, c, LLVMGetInsertBlock(e->b));
    jump(e, s->join, s->join->values);
    gp_emit_at(e, last);
}

/* head: any turn left? -> turn: the body -> next: step, back to head. A tile on the CPU has one
** buffer for all turns. */
static void emit_for(GpEmit *e, const GpInst *inst) {
    const GpRegion *body = inst->regions[0];
    GpValue *const *carried = gp_loop_params(inst);
    uint32_t count = inst->result_count;
    LLVMValueRef turns = emit_turns(e, inst);
    GpJoin *head = make_join(e, "for", carried, count, NULL);
    GpJoin *next = make_join(e, "next", carried, count, head);
    GpJoin *exit = make_join(e, "endfor", inst->results, inst->result_count, NULL);
    LLVMBasicBlockRef turn = gp_emit_block(e, "turn"), done = gp_emit_block(e, "done");
    next->is_loop = true;
    push_joins(e, inst, next, exit);
    gp_async_fill(e, inst, turns);
    gp_pipe_before_loop(e, inst, turns);
    LLVMValueRef asked = start_asking(e, inst);
    Strips strips = open_strips(e, inst, turns);
    jump(e, head, strips.join ? carried : gp_loop_starts(inst));
    LLVMBasicBlockRef before = LLVMGetInsertBlock(e->b);

    gp_emit_at(e, head->block);
    Counters c = make_counters(e, strips.first, before);
    LLVMBuildCondBr(e->b, LLVMBuildICmp(e->b, LLVMIntULT, c.k, strips.end, ""), turn, done);
    gp_emit_at(e, turn);
    bind_join(e, head);
    gp_emit_set(e, body->params[0], c.i);
    ask(e, inst, asked);
    gp_async_turn(e, inst, c.k, c.i, turns);
    gp_pipe_turn(e, inst, c.k);
    gp_emit_region(e, body);
    enter_exit(e, next);
    step_counters(e, inst, c);
    jump(e, head, carried);
    gp_emit_at(e, done);
    bind_join(e, head);
    next_strip(e, &strips, c, turns);
    jump(e, exit, carried);
    enter_exit(e, exit);
}

static void emit_carry(GpEmit *e, const GpInst *inst) {
    const GpInst *to = gp_ir_goes_to(inst);
    LoopJoins *joins = gp_map_get(&e->joins, to);
    GpJoin *join = inst->op == GpOp_Break || !joins->next ? joins->exit : joins->next;
    if (inst->op != GpOp_Yield)
        gp_async_leave(e);
    jump(e, join, inst->operands);
}

static void emit_repeated(GpEmit *e, const GpInst *inst) {
    bool has_bins = gp_tile_gpu_open_bins(e, inst);
    if (inst->op == GpOp_For)
        emit_for(e, inst);
    else if (gp_tile_gpu_runs_alone(e, inst))
        gp_tile_gpu_alone(e, inst, emit_loop);
    else
        emit_loop(e, inst);
    if (has_bins)
        gp_tile_gpu_close_bins(e);
}

void gp_op_lower_control(GpEmit *e, const GpInst *inst) {
    if (inst->op == GpOp_If)
        emit_if(e, inst);
    else if (inst->op == GpOp_Block)
        emit_block(e, inst);
    else if (gp_is_loop(inst))
        emit_repeated(e, inst);
    else if (inst->op == GpOp_Return && e->pipe)
        gp_pipe_return(e);
    else if (inst->op != GpOp_Return && inst->parent->owner)
        emit_carry(e, inst); /* yield, break, continue */
    else
        LLVMBuildRetVoid(e->b); /* a return, or the end of the body */
}
