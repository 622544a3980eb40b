/* Checks left in the kernel: a branch to a cold block that fills the mailbox (core/image.h).
**
** The first failure of a launch wins by compare-and-swap; every later one only goes on. The
** filling is one function that is never inlined, so that a check costs a compare and a branch. */
#include "codegen/async.h"
#include "codegen/pipe.h"

#include <stddef.h>

static LLVMValueRef field(GpEmit *e, LLVMValueRef mailbox, size_t offset) {
    return gp_emit_behind(e, mailbox, (int64_t)offset);
}

/* Parameters of the reporting function; Block and Thread are three each. */
enum {
    Report_Mailbox,
    Report_Site,
    Report_Value,
    Report_Limit,
    Report_Block,
    Report_Thread = Report_Block + 3,
    Report_count = Report_Thread + 3
};

static void fill_mailbox(GpEmit *e, LLVMValueRef fn) {
    LLVMValueRef box = LLVMGetParam(fn, Report_Mailbox);
    LLVMBuildStore(e->b, LLVMGetParam(fn, Report_Site), field(e, box, offsetof(GpMailbox, site)));
    for (unsigned a = 0; a < 3; a++) {
        LLVMBuildStore(e->b, LLVMGetParam(fn, Report_Block + a),
                       field(e, box, offsetof(GpMailbox, block) + a * sizeof(uint32_t)));
        LLVMBuildStore(e->b, LLVMGetParam(fn, Report_Thread + a),
                       field(e, box, offsetof(GpMailbox, thread) + a * sizeof(uint32_t)));
    }
    LLVMBuildStore(e->b, LLVMGetParam(fn, Report_Value), field(e, box, offsetof(GpMailbox, value)));
    LLVMBuildStore(e->b, LLVMGetParam(fn, Report_Limit), field(e, box, offsetof(GpMailbox, limit)));
    LLVMValueRef done = LLVMBuildStore(e->b, gp_emit_i32(e, 2), box);
    LLVMSetAlignment(done, 4);
    LLVMSetOrdering(done, LLVMAtomicOrderingRelease);
}

/* report(mailbox, site, value, limit, block x3, thread x3) */
static LLVMValueRef make_report(GpEmit *e, LLVMTypeRef type) {
    LLVMValueRef fn = LLVMAddFunction(e->module, "gp_report", type), outer = e->func;
    LLVMBasicBlockRef here = LLVMGetInsertBlock(e->b);
    LLVMMetadataRef location = LLVMGetCurrentDebugLocation2(e->b);
    LLVMSetCurrentDebugLocation2(e->b, NULL);
    LLVMSetLinkage(fn, LLVMInternalLinkage);
    static const char *const names[] = {"noinline", "cold", "nounwind"};
    for (size_t i = 0; i < GP_COUNT(names); i++)
        LLVMAddAttributeAtIndex(fn, GP_LLVM_FUNCTION, gp_llvm_attr(e->llvm, names[i], 0));
    e->func = fn;
    LLVMBasicBlockRef start = gp_emit_block(e, "start"), fill = gp_emit_block(e, "fill");
    LLVMBasicBlockRef end = gp_emit_block(e, "end");
    gp_emit_at(e, start);
    LLVMValueRef pair = LLVMBuildAtomicCmpXchg(
        e->b, LLVMGetParam(fn, Report_Mailbox), gp_emit_i32(e, 0), gp_emit_i32(e, 1),
        LLVMAtomicOrderingAcquire, LLVMAtomicOrderingMonotonic, false);
    LLVMBuildCondBr(e->b, LLVMBuildExtractValue(e->b, pair, 1, ""), fill, end);
    gp_emit_at(e, fill);
    fill_mailbox(e, fn);
    LLVMBuildBr(e->b, end);
    gp_emit_at(e, end);
    LLVMBuildRetVoid(e->b);
    e->func = outer;
    gp_emit_at(e, here);
    LLVMSetCurrentDebugLocation2(e->b, location);
    return fn;
}

static LLVMValueRef to_i64(GpEmit *e, LLVMValueRef v) {
    return LLVMBuildIntCast2(e->b, v, LLVMInt64TypeInContext(e->ctx), true, "");
}

static void call_report(GpEmit *e, uint32_t site, LLVMValueRef value, LLVMValueRef limit) {
    LLVMTypeRef i32 = LLVMInt32TypeInContext(e->ctx), i64 = LLVMInt64TypeInContext(e->ctx);
    LLVMTypeRef types[Report_count] = {
        gp_emit_ptr_type(e, GpSpace_Global), i32, i64, i64, i32, i32, i32, i32, i32, i32};
    LLVMTypeRef type = LLVMFunctionType(LLVMVoidTypeInContext(e->ctx), types, Report_count, false);
    if (!e->report)
        e->report = make_report(e, type);
    LLVMValueRef zero = gp_emit_i32(e, 0);
    LLVMValueRef args[Report_count] = {e->mailbox, gp_emit_i32(e, site), to_i64(e, value),
                                       to_i64(e, limit)};
    for (int a = 0; a < 3; a++) {
        args[Report_Block + a] = e->block_id[a];
        args[Report_Thread + a] = e->is_tile ? zero : e->thread_id[a];
    }
    LLVMBuildCall2(e->b, type, e->report, args, Report_count, "");
}

void gp_emit_likely(GpEmit *e, LLVMValueRef branch) {
    LLVMMetadataRef parts[] = {LLVMMDStringInContext2(e->ctx, "branch_weights", 14),
                               LLVMValueAsMetadata(gp_emit_i32(e, 1048575)),
                               LLVMValueAsMetadata(gp_emit_i32(e, 1))};
    LLVMMetadataRef node = LLVMMDNodeInContext2(e->ctx, parts, 3);
    LLVMSetMetadata(branch, LLVMGetMDKindIDInContext(e->ctx, "prof", 4),
                    LLVMMetadataAsValue(e->ctx, node));
}

/* In a cold block, when `ok` is false, reports to the mailbox and, but for an index, ends the block. */
static void emit_check(GpEmit *e, const GpInst *inst, LLVMValueRef ok, LLVMValueRef value,
                       LLVMValueRef limit) {
    LLVMBasicBlockRef bad = gp_emit_block(e, "bad"), good = gp_emit_block(e, "good");
    gp_emit_likely(e, LLVMBuildCondBr(e->b, ok, good, bad));
    gp_emit_at(e, bad);
    if (gp_pipe_reports(e, inst))
        call_report(e, inst->site, value, limit);
    if (inst->op == GpOp_CheckIndex)
        LLVMBuildBr(e->b, good);
    else if (e->pipe)
        gp_pipe_return(e);
    else
        LLVMBuildRetVoid(e->b);
    gp_emit_at(e, good);
}

/* Unsigned comparison does for signed indices too: a length is never negative. */
static void lower_check_index(GpEmit *e, const GpInst *inst) {
    LLVMValueRef index = gp_emit_get(e, inst->operands[0]);
    LLVMValueRef length = gp_emit_get(e, inst->operands[1]);
    if (e->is_interior && gp_simt_is_in_range(e, inst->operands[0], inst->operands[1])) {
        gp_emit_set(e, inst->results[0], gp_emit_bool(e, true));
        return;
    }
    LLVMValueRef ok = LLVMBuildICmp(e->b, LLVMIntULT, index, length, "");
    if (gp_pipe_reports(e, inst) && gp_async_reports(e))
        emit_check(e, inst, ok, index, length);
    gp_emit_set(e, inst->results[0], ok);
}

static void lower_check_div(GpEmit *e, const GpInst *inst) {
    const GpValue *v = inst->operands[0];
    LLVMValueRef zero = gp_emit_i64(e, 0), ok;
    if (gp_ir_is_tile(v)) {
        LLVMValueRef any = e->is_gpu ? gp_tile_gpu_any_zero(e, v) : gp_tile_cpu_any_zero(e, v);
        ok = LLVMBuildNot(e->b, any, "");
    } else {
        LLVMValueRef x = gp_emit_get(e, v);
        ok = LLVMBuildICmp(e->b, LLVMIntNE, x, LLVMConstNull(LLVMTypeOf(x)), "");
    }
    emit_check(e, inst, ok, zero, zero);
}

void gp_op_lower_check(GpEmit *e, const GpInst *inst) {
    if (inst->op == GpOp_CheckIndex) {
        lower_check_index(e, inst);
    } else if (inst->op == GpOp_CheckDiv) {
        lower_check_div(e, inst);
    } else {
        bool has_numbers = inst->operand_count > 1 && gp_pipe_reports(e, inst);
        LLVMValueRef zero = gp_emit_i64(e, 0);
        LLVMValueRef found = has_numbers ? gp_emit_get(e, inst->operands[1]) : zero;
        LLVMValueRef limit = has_numbers ? gp_emit_get(e, inst->operands[2]) : zero;
        emit_check(e, inst, gp_emit_get(e, inst->operands[0]), found, limit);
    }
}
