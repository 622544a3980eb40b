/* Prints. On the CPU the values are put into memory and a function of gpulua's writes them to the
** host's hook. On the GPU the driver's vprintf prints: scalars as arguments of one call; a tile goes
** through shared memory, from which the block's first thread prints element after element. */
#include "codegen/emit_tile_gpu.h"
#include "dsl/ir/printed.h"

static LLVMValueRef text_constant(GpEmit *e, const char *text, unsigned space) {
    LLVMValueRef data = LLVMConstStringInContext2(e->ctx, text, strlen(text), false);
    LLVMValueRef global =
        LLVMAddGlobalInAddressSpace(e->module, LLVMTypeOf(data), "gp_text", space);
    LLVMSetInitializer(global, data);
    LLVMSetGlobalConstant(global, true);
    LLVMSetLinkage(global, LLVMPrivateLinkage);
    return global;
}

static LLVMTypeRef generic_ptr(GpEmit *e) { return LLVMPointerTypeInContext(e->ctx, 0); }

/* ---- CPU ------------------------------------------------------------------------------------- */

static LLVMValueRef type_constants(GpEmit *e, const GpInst *inst) {
    LLVMTypeRef i64 = LLVMInt64TypeInContext(e->ctx);
    uint32_t count = inst->operand_count * GP_PRINTED_WORDS;
    LLVMValueRef *words = GP_NEW_ARRAY(e->arena, LLVMValueRef, count);
    for (uint32_t i = 0; i < inst->operand_count; i++) {
        int64_t type[GP_PRINTED_WORDS];
        gp_printed_type(inst->operands[i]->type, type);
        for (uint32_t w = 0; w < GP_PRINTED_WORDS; w++)
            words[i * GP_PRINTED_WORDS + w] = gp_emit_i64(e, type[w]);
    }
    LLVMValueRef data = LLVMConstArray2(i64, words, count);
    LLVMValueRef global = LLVMAddGlobal(e->module, LLVMTypeOf(data), "gp_types");
    LLVMSetInitializer(global, data);
    LLVMSetGlobalConstant(global, true);
    LLVMSetLinkage(global, LLVMPrivateLinkage);
    return global;
}

/* Where the value is in memory. */
static LLVMValueRef value_in_memory(GpEmit *e, const GpValue *v) {
    if (gp_ir_is_tile(v)) {
        LLVMValueRef buffer = gp_tile_cpu_buffer(e, v->type);
        gp_tile_cpu_write(e, v, buffer);
        return e->bound[v->id].count ? e->bound[v->id].at[0] : buffer;
    }
    if (v->type->kind == GpIrType_Ptr) {
        LLVMValueRef at = gp_emit_alloca(e, generic_ptr(e), 1, 8);
        LLVMBuildStore(e->b, gp_emit_get(e, v), at);
        return at;
    }
    LLVMValueRef at = gp_emit_alloca(e, gp_emit_mem_type(e, v->type->elem), 1, 8);
    gp_emit_mem_store(e, v->type->elem, gp_emit_get(e, v), at);
    return at;
}

static void print_cpu(GpEmit *e, const GpInst *inst) {
    LLVMTypeRef ptr = generic_ptr(e), types[] = {ptr, ptr, ptr, ptr};
    LLVMTypeRef type = LLVMFunctionType(LLVMVoidTypeInContext(e->ctx), types, 4, false);
    LLVMValueRef fn = LLVMGetNamedFunction(e->module, "gp_printed_write");
    if (!fn)
        fn = LLVMAddFunction(e->module, "gp_printed_write", type);
    LLVMValueRef values = gp_emit_alloca(e, ptr, GP_MAX(inst->operand_count, 1u), 8);
    for (uint32_t i = 0; i < inst->operand_count; i++) {
        LLVMValueRef at = gp_emit_i64(e, i);
        LLVMBuildStore(e->b, value_in_memory(e, inst->operands[i]),
                       LLVMBuildInBoundsGEP2(e->b, ptr, values, &at, 1, ""));
    }
    LLVMValueRef hooks = gp_emit_i64(e, (int64_t)(uintptr_t)&e->cg->session->hooks);
    LLVMValueRef args[] = {LLVMConstIntToPtr(hooks, ptr), text_constant(e, inst->text, 0),
                           type_constants(e, inst), values};
    LLVMBuildCall2(e->b, type, fn, args, 4, "");
}

/* ---- GPU ------------------------------------------------------------------------------------- */

enum { ARGS_MAX = 32 };

/* A call of vprintf under construction. */
typedef struct Format {
    GpText text;
    LLVMValueRef args[ARGS_MAX];
    uint32_t count;
} Format;

static LLVMValueRef to_generic(GpEmit *e, LLVMValueRef global) {
    return LLVMBuildAddrSpaceCast(e->b, global, generic_ptr(e), "");
}

/* Arguments stand in memory one after another, each at a multiple of its size. */
static LLVMValueRef pack_args(GpEmit *e, const Format *f) {
    LLVMTypeRef types[ARGS_MAX];
    for (uint32_t i = 0; i < f->count; i++)
        types[i] = LLVMTypeOf(f->args[i]);
    LLVMTypeRef type = LLVMStructTypeInContext(e->ctx, types, f->count, false);
    LLVMValueRef at = gp_emit_alloca(e, type, 1, 8);
    for (uint32_t i = 0; i < f->count; i++)
        LLVMBuildStore(e->b, f->args[i], LLVMBuildStructGEP2(e->b, type, at, i, ""));
    return at;
}

static void call_vprintf(GpEmit *e, Format *f) {
    LLVMTypeRef ptr = generic_ptr(e), types[] = {ptr, ptr};
    LLVMTypeRef type = LLVMFunctionType(LLVMInt32TypeInContext(e->ctx), types, 2, false);
    LLVMValueRef fn = LLVMGetNamedFunction(e->module, "vprintf");
    if (!fn)
        fn = LLVMAddFunction(e->module, "vprintf", type);
    LLVMValueRef none = LLVMConstNull(ptr);
    LLVMValueRef args[] = {to_generic(e, text_constant(e, gp_text_cstr(&f->text), 1)),
                           f->count ? pack_args(e, f) : none};
    LLVMBuildCall2(e->b, type, fn, args, 2, "");
    f->text.len = 0;
    f->count = 0;
}

static LLVMValueRef bool_text(GpEmit *e, LLVMValueRef v) {
    return LLVMBuildSelect(e->b, v, to_generic(e, text_constant(e, "true", 1)),
                           to_generic(e, text_constant(e, "false", 1)), "");
}

static void add_scalar(GpEmit *e, Format *f, GpElem elem, LLVMValueRef v) {
    LLVMTypeRef i32 = LLVMInt32TypeInContext(e->ctx);
    bool is_wide = gp_elem_info[elem].bits == 64, is_signed = gp_elem_is_signed(elem);
    if (elem == GpElem_Bool) {
        gp_text_puts(&f->text, "%s");
        v = bool_text(e, v);
    } else if (gp_elem_is_integer(elem)) {
        gp_text_printf(&f->text, "%%%s%c", is_wide ? "ll" : "", is_signed ? 'd' : 'u');
        v = is_wide ? v : LLVMBuildIntCast2(e->b, v, i32, is_signed, "");
    } else {
        gp_text_puts(&f->text, elem == GpElem_F64 ? "%.17g" : "%.9g");
        v = gp_emit_to_float(e, elem, v);
        v = LLVMBuildFPCast(e->b, v, LLVMDoubleTypeInContext(e->ctx), "");
    }
    f->args[f->count++] = v;
}

static void add_address(GpEmit *e, Format *f, LLVMValueRef v) {
    gp_text_puts(&f->text, "0x%llx");
    f->args[f->count++] = LLVMBuildPtrToInt(e->b, v, LLVMInt64TypeInContext(e->ctx), "");
}

/* Every owner writes its elements, row-major; all threads are there. */
static LLVMValueRef stage(GpEmit *e, const GpValue *v) {
    const GpShapeLayout *layout = gp_gpu_layout_of(e, v);
    GpElem elem = v->type->elem;
    int64_t numel = gp_ir_numel(v->type);
    LLVMValueRef shared = gp_gpu_shared(e, (uint64_t)numel * gp_elem_info[elem].bytes, numel, elem);
    gp_gpu_barrier(e);
    for (uint32_t r = 0; r < gp_layout_registers(layout->layout); r++) {
        LLVMValueRef c[GP_MAX_RANK];
        gp_gpu_coords(e, layout, r, c);
        LLVMValueRef to = gp_emit_gep(e, elem, shared, gp_tile_linear(e, &layout->shape, c));
        GpPlace p = {elem, to, layout->is_owner, gp_gpu_register(e, v, r), NULL};
        gp_tile_store(e, &p);
    }
    gp_gpu_barrier(e);
    return shared;
}

typedef struct Elements {
    const GpIrType *type;
    LLVMValueRef shared;
    Format *format; /* empty between calls */
} Elements;

static void print_text(GpEmit *e, Format *f, const char *text) {
    gp_text_puts(&f->text, text);
    call_vprintf(e, f);
}

/* Axes from `axis` on, of the elements from `first` on. */
static void print_axis(GpEmit *e, const Elements *x, int axis, LLVMValueRef first) {
    const GpShape *shape = &x->type->shape;
    if (axis == shape->rank) {
        LLVMValueRef at = gp_emit_gep(e, x->type->elem, x->shared, first);
        add_scalar(e, x->format, x->type->elem, gp_emit_mem_load(e, x->type->elem, at));
        call_vprintf(e, x->format);
        return;
    }
    print_text(e, x->format, "[");
    LLVMBasicBlockRef before = LLVMGetInsertBlock(e->b), head = gp_emit_block(e, "printed");
    LLVMBasicBlockRef comma = gp_emit_block(e, "comma"), item = gp_emit_block(e, "item");
    LLVMBasicBlockRef exit = gp_emit_block(e, "end");
    LLVMBuildBr(e->b, head);
    gp_emit_at(e, head);
    LLVMValueRef i = LLVMBuildPhi(e->b, LLVMInt64TypeInContext(e->ctx), "");
    LLVMValueRef zero = gp_emit_i64(e, 0);
    LLVMBuildCondBr(e->b, LLVMBuildICmp(e->b, LLVMIntEQ, i, zero, ""), item, comma);
    gp_emit_at(e, comma);
    print_text(e, x->format, ", ");
    LLVMBuildBr(e->b, item);
    gp_emit_at(e, item);
    LLVMValueRef base = LLVMBuildNSWMul(e->b, first, gp_emit_i64(e, shape->dim[axis]), "");
    print_axis(e, x, axis + 1, LLVMBuildNSWAdd(e->b, base, i, ""));
    LLVMBasicBlockRef latch = LLVMGetInsertBlock(e->b);
    LLVMValueRef next = LLVMBuildNSWAdd(e->b, i, gp_emit_i64(e, 1), "");
    LLVMValueRef more =
        LLVMBuildICmp(e->b, LLVMIntSLT, next, gp_emit_i64(e, shape->dim[axis]), "");
    LLVMBuildCondBr(e->b, more, head, exit);
    LLVMAddIncoming(i, (LLVMValueRef[]){zero, next}, (LLVMBasicBlockRef[]){before, latch}, 2);
    gp_emit_at(e, exit);
    print_text(e, x->format, "]");
}

/* Opens what only the block's first thread does; NULL on the SIMT track, where each thread does. */
static LLVMBasicBlockRef open_first(GpEmit *e) {
    if (!e->is_tile)
        return NULL;
    LLVMBasicBlockRef first = gp_emit_block(e, "first"), rest = gp_emit_block(e, "rest");
    LLVMValueRef is_first =
        LLVMBuildICmp(e->b, LLVMIntEQ, gp_gpu_thread(e), gp_emit_i32(e, 0), "");
    LLVMBuildCondBr(e->b, is_first, first, rest);
    gp_emit_at(e, first);
    return rest;
}

static void close_first(GpEmit *e, LLVMBasicBlockRef rest) {
    if (!rest)
        return;
    LLVMBuildBr(e->b, rest);
    gp_emit_at(e, rest);
}

static void flush(GpEmit *e, Format *f) {
    if (!f->text.len)
        return;
    LLVMBasicBlockRef rest = open_first(e);
    call_vprintf(e, f);
    close_first(e, rest);
}

static void print_tile(GpEmit *e, Format *f, const GpValue *v) {
    flush(e, f);
    Elements x = {v->type, stage(e, v), f};
    LLVMBasicBlockRef rest = open_first(e);
    print_axis(e, &x, 0, gp_emit_i64(e, 0));
    close_first(e, rest);
}

static void print_operand(GpEmit *e, Format *f, const GpValue *v) {
    if (f->count == ARGS_MAX)
        flush(e, f);
    if (gp_ir_is_tile(v))
        print_tile(e, f, v);
    else if (v->type->kind == GpIrType_Ptr)
        add_address(e, f, gp_emit_get(e, v));
    else
        add_scalar(e, f, v->type->elem, gp_emit_get(e, v));
}

static void print_gpu(GpEmit *e, const GpInst *inst) {
    Format f = {.text = {.session = e->cg->session}};
    uint32_t operand = 0;
    for (const char *c = inst->text; *c; c++) {
        if (c[0] == '{' && c[1] == '}')
            print_operand(e, &f, inst->operands[operand++]);
        else if (*c == '%')
            gp_text_puts(&f.text, "%%");
        else
            gp_text_add(&f.text, c, 1);
        if (*c == '{' || *c == '}')
            c++;
    }
    flush(e, &f);
    gp_text_free(&f.text);
}

void gp_op_lower_print(GpEmit *e, const GpInst *inst) {
    if (e->is_gpu)
        print_gpu(e, inst);
    else
        print_cpu(e, inst);
}
