/* Tile loads and stores on the GPU.
**
** They take 16 bytes at a time where the launch facts allow, and branch once per tile (uniformly)
** between the interior and the ragged form. */
#include "codegen/async.h"
#include "codegen/emit_tile_gpu.h"

enum { MOST_RUN = GP_GPU_VECTOR_BYTES }; /* bytes */

LLVMValueRef gp_gpu_axis_offset(GpEmit *e, const GpTensorArg *t, LLVMValueRef at, int axis) {
    if (!t->param->small)
        return LLVMBuildNSWMul(e->b, at, t->stride[axis], "");
    LLVMTypeRef i32 = LLVMInt32TypeInContext(e->ctx);
    LLVMValueRef narrow = LLVMBuildNSWMul(e->b, LLVMBuildTrunc(e->b, at, i32, ""),
                                          LLVMBuildTrunc(e->b, t->stride[axis], i32, ""), "");
    return LLVMBuildSExt(e->b, narrow, LLVMInt64TypeInContext(e->ctx), "");
}

/* An access being emitted: the address of register 0's element and what is common. */
typedef struct Access {
    const GpInst *inst;
    const GpTensorArg *tensor;
    const GpShapeLayout *layout;
    GpElem elem;
    uint32_t registers, run; /* elements that one instruction moves */
    LLVMValueRef first;
} Access;

/* Neighbouring lanes hold neighbouring runs, 32 bytes together: whole sectors of memory. */
static bool fills_sectors(const GpLayout *l, GpElem elem) {
    int32_t run = (int32_t)gp_layout_run(l);
    for (int i = 0; i < l->bits[GpLayoutDim_Lane] && l->rank; i++)
        if (l->bases[GpLayoutDim_Lane][i][l->rank - 1] == run)
            run *= 2;
    return (uint32_t)run * gp_elem_info[elem].bytes >= GP_GPU_SECTOR_BYTES;
}

/* A store of runs that are shorter than one instruction could move gets the tile in other runs,
** unless it would have to give room that a pipeline needs. */
static const GpShapeLayout *access_layout(GpEmit *e, const GpInst *inst) {
    const GpValue *v = inst->op == GpOp_StoreTile ? inst->operands[1] : inst->results[0];
    const GpShapeLayout *s = gp_gpu_layout_of(e, v);
    uint32_t vector = (uint32_t)GP_GPU_VECTOR_BYTES / gp_elem_info[v->type->elem].bytes;
    if (e->pipe && e->pipe->keeps_layouts)
        return s;
    bool is_small = gp_ir_tile_numel(&s->shape) < (int64_t)vector * gp_tile_gpu_threads(e);
    if (inst->op != GpOp_StoreTile || is_small || !gp_gpu_takes_vectors(e, inst->operands[0]) ||
        gp_layout_run(s->layout) >= vector || ((e->pipe || e->async) && fills_sectors(s->layout, v->type->elem)))
        return s;
    const GpLayout *l = 
        gp_layout_blocked(e->arena, &s->shape, vector, gp_tile_gpu_threads(e), GP_LAYOUT_STREAM);
    return gp_layout_run(l) > gp_layout_run(s->layout) ? gp_gpu_layout(e, l) : s;
}

/* Tiles start at multiples of their extents, those at element coordinates anywhere. */
static bool starts_on_run(const GpInst *inst, uint32_t run) {
    uint32_t rank = gp_tile_shape(inst)->rank;
    if (rank && gp_tile_extents(inst)->dim[rank - 1] % run != 0)
        return false;
    return !inst->by_element || !rank ||
           gp_gpu_is_multiple(inst->operands[(inst->op == GpOp_StoreTile ? 1 : 0) + rank], run);
}

static Access access_of(GpEmit *e, const GpInst *inst) {
    Access a = {.inst = inst, .tensor = &e->tensors[inst->operands[0]->id]};
    a.layout = access_layout(e, inst);
    a.elem = inst->operands[0]->type->elem;
    a.registers = gp_layout_registers(a.layout->layout);
    a.run = 1;
    if (gp_gpu_takes_vectors(e, inst->operands[0]))
        a.run = GP_MIN(gp_layout_run(a.layout->layout), (uint32_t)GP_GPU_VECTOR_BYTES / gp_elem_info[a.elem].bytes);
    while (a.run > 1 && !starts_on_run(inst, a.run))
        a.run /= 2;
    LLVMValueRef offset = gp_emit_i64(e, 0);
    for (int x = 0; x < a.layout->shape.rank; x++) {
        LLVMValueRef at = LLVMBuildNSWAdd(e->b, gp_tile_start(e, inst, x), a.layout->coord[x], "");
        offset = LLVMBuildNSWAdd(e->b, offset, gp_gpu_axis_offset(e, a.tensor, at, x), "");
    }
    a.first = gp_emit_gep(e, a.elem, a.tensor->base, offset);
    return a;
}

static LLVMValueRef register_address(GpEmit *e, const Access *a, uint32_t reg) {
    int32_t at[GP_MAX_RANK];
    gp_layout_at(a->layout->layout, reg, 0, 0, at);
    LLVMValueRef ptr = a->first;
    for (int x = 0; x < a->layout->shape.rank; x++)
        if (at[x])
            ptr = gp_emit_gep(e, a->elem, ptr, gp_gpu_axis_offset(e, a->tensor, gp_emit_i64(e, at[x]), x));
    return ptr;
}

/* The register's element is of the part of the tile that the tensor has; NULL: all are. */
static LLVMValueRef in_part(GpEmit *e, const Access *a, uint32_t reg) {
    LLVMValueRef c[GP_MAX_RANK], all = NULL;
    if (!a->inst->part)
        return NULL;
    gp_gpu_coords(e, a->layout, reg, c);
    for (int x = 0; x < a->layout->shape.rank; x++)
        if (a->inst->part->dim[x] != a->layout->shape.dim[x]) {
            LLVMValueRef ok = LLVMBuildICmp(e->b, LLVMIntULT, c[x], gp_emit_i64(e, a->inst->part->dim[x]), "");
            all = all ? LLVMBuildAnd(e->b, all, ok, "") : ok;
        }
    return all;
}

static LLVMValueRef in_bounds(GpEmit *e, const Access *a, uint32_t reg) {
    const GpValue *mask = gp_tile_mask(a->inst);
    LLVMValueRef c[GP_MAX_RANK], ok = mask ? gp_emit_get(e, mask) : gp_emit_bool(e, true);
    LLVMValueRef part = in_part(e, a, reg);
    if (part)
        ok = LLVMBuildAnd(e->b, ok, part, "");
    gp_gpu_coords(e, a->layout, reg, c);
    for (int x = 0; x < a->layout->shape.rank; x++) {
        LLVMValueRef at = LLVMBuildNSWAdd(e->b, gp_tile_start(e, a->inst, x), c[x], "");
        LLVMValueRef dim =
            LLVMBuildSExt(e->b, a->tensor->dim[x], LLVMInt64TypeInContext(e->ctx), "");
        ok = LLVMBuildAnd(e->b, ok, LLVMBuildICmp(e->b, LLVMIntULT, at, dim, ""), "");
    }
    return ok;
}

/* 32-bit words that a run of narrower elements fills; 0: it fills none, or elements are wider. */
static uint32_t words_of(GpElem elem, uint32_t run) {
    uint32_t bytes = gp_elem_info[elem].bytes;
    return bytes < GP_GPU_WORD_BYTES ? run * bytes / GP_GPU_WORD_BYTES : 0;
}

/* One element, or a vector of `run`, or the words that these fill. */
static LLVMTypeRef run_type(GpEmit *e, GpElem elem, uint32_t run) {
    uint32_t words = words_of(elem, run), count = words ? words : run;
    LLVMTypeRef type = words ? LLVMInt32TypeInContext(e->ctx) : gp_emit_mem_type(e, elem);
    return count == 1 ? type : LLVMVectorType(type, count);
}

static LLVMValueRef part_of(GpEmit *e, LLVMValueRef v, uint32_t i) {
    bool is_vector = LLVMGetTypeKind(LLVMTypeOf(v)) == LLVMVectorTypeKind;
    return is_vector ? LLVMBuildExtractElement(e->b, v, gp_emit_i32(e, i), "") : v;
}

static LLVMValueRef load_run(GpEmit *e, GpElem elem, LLVMValueRef ptr, uint32_t run) {
    LLVMValueRef v = LLVMBuildLoad2(e->b, run_type(e, elem, run), ptr, "");
    LLVMSetAlignment(v, run * gp_elem_info[elem].bytes);
    return v;
}

static void unpack_run(GpEmit *e, GpElem elem, LLVMValueRef v, LLVMValueRef *out, uint32_t run) {
    uint32_t bytes = gp_elem_info[elem].bytes, words = words_of(elem, run);
    for (uint32_t i = 0; i < run; i++) {
        LLVMValueRef x = part_of(e, v, words ? i * bytes / GP_GPU_WORD_BYTES : i);
        if (words) {
            LLVMValueRef shift = gp_emit_i32(e, INT64_C(8) * (i * bytes % GP_GPU_WORD_BYTES));
            x = LLVMBuildTrunc(e->b, LLVMBuildLShr(e->b, x, shift, ""), gp_emit_mem_type(e, elem), "");
        }
        out[i] = gp_emit_from_mem(e, elem, x);
    }
}

/* The float that was rounded to these 16 bits; NULL: they have another origin. */
static LLVMValueRef rounded_float(LLVMValueRef bits) {
    LLVMValueRef narrow = LLVMIsABitCastInst(bits) ? LLVMGetOperand(bits, 0) : NULL;
    LLVMValueRef wide = narrow && LLVMIsAFPTruncInst(narrow) ? LLVMGetOperand(narrow, 0) : NULL;
    return wide && LLVMGetTypeKind(LLVMTypeOf(wide)) == LLVMFloatTypeKind ? wide : NULL;
}

/* Two floats are rounded to a word by one instruction. */
static LLVMValueRef round_pair(GpEmit *e, LLVMValueRef const *x) {
    LLVMValueRef pair = LLVMGetPoison(LLVMVectorType(LLVMFloatTypeInContext(e->ctx), 2));
    for (uint32_t i = 0; i < 2; i++)
        pair = LLVMBuildInsertElement(e->b, pair, rounded_float(x[i]), gp_emit_i32(e, i), "");
    LLVMTypeRef narrow = LLVMTypeOf(LLVMGetOperand(x[0], 0));
    pair = LLVMBuildFPTrunc(e->b, pair, LLVMVectorType(narrow, 2), "");
    return LLVMBuildBitCast(e->b, pair, LLVMInt32TypeInContext(e->ctx), "");
}

static LLVMValueRef pack_run(GpEmit *e, GpElem elem, LLVMValueRef const *x, uint32_t run) {
    LLVMTypeRef type = run_type(e, elem, run), each = gp_emit_mem_type(e, elem);
    bool is_rounded = words_of(elem, run) && gp_elem_info[elem].bytes == 2;
    for (uint32_t i = 0; i < run && is_rounded; i++)
        is_rounded = rounded_float(x[i]) != NULL;
    LLVMValueRef v = LLVMGetPoison(is_rounded || run == 1 ? type : LLVMVectorType(each, run));
    if (is_rounded && run == 2)
        return round_pair(e, x);
    for (uint32_t i = 0; i < run; i += is_rounded ? 2 : 1) {
        LLVMValueRef part = is_rounded ? round_pair(e, x + i) : gp_emit_to_mem(e, elem, x[i]);
        LLVMValueRef at = gp_emit_i32(e, is_rounded ? i / 2 : i);
        v = run == 1 ? part : LLVMBuildInsertElement(e->b, v, part, at, "");
    }
    return LLVMBuildBitCast(e->b, v, type, "");
}

void gp_gpu_take_run(GpEmit *e, GpElem elem, LLVMValueRef ptr, GpBound *out, uint32_t r,
                     uint32_t run) {
    unpack_run(e, elem, load_run(e, elem, ptr, run), out->at + r, run);
}

void gp_gpu_put_run(GpEmit *e, GpElem elem, LLVMValueRef ptr, const GpBound *v, uint32_t r,
                    uint32_t run) {
    LLVMValueRef x[MOST_RUN] = {NULL};
    gp_assert(run <= GP_COUNT(x));
    for (uint32_t i = 0; i < run; i++)
        x[i] = gp_gpu_at(v, r + i);
    LLVMSetAlignment(LLVMBuildStore(e->b, pack_run(e, elem, x, run), ptr),
                     run * gp_elem_info[elem].bytes);
}

/* The tensor has an element: its first one can be read in place of one beyond its end. */
static LLVMValueRef is_nonempty(GpEmit *e, const Access *a) {
    LLVMValueRef all = gp_emit_bool(e, true);
    for (int x = 0; x < a->layout->shape.rank; x++) {
        LLVMValueRef some =
            LLVMBuildICmp(e->b, LLVMIntSGT, a->tensor->dim[x], gp_emit_i32(e, 0), "");
        all = LLVMBuildAnd(e->b, all, some, "");
    }
    return all;
}

static LLVMValueRef pad_of(GpEmit *e, const Access *a) {
    LLVMValueRef pad = gp_tile_pad(e, a->inst);
    return pad ? pad : LLVMConstNull(gp_emit_type(e, a->elem));
}

static LLVMValueRef pad_run(GpEmit *e, const Access *a) {
    LLVMValueRef x[MOST_RUN] = {NULL};
    for (uint32_t i = 0; i < a->run; i++)
        x[i] = pad_of(e, a);
    return pack_run(e, a->elem, x, a->run);
}

/* Without a branch per element: half the blocks, and the loads can all be in flight. */
static LLVMValueRef load_elements(GpEmit *e, const Access *a, uint32_t r) {
    LLVMValueRef x[MOST_RUN] = {NULL};
    for (uint32_t i = 0; i < a->run; i++) {
        LLVMValueRef ok = in_bounds(e, a, r + i);
        LLVMValueRef ptr =
            LLVMBuildSelect(e->b, ok, register_address(e, a, r + i), a->tensor->base, "");
        x[i] = LLVMBuildSelect(e->b, ok, gp_emit_mem_load(e, a->elem, ptr), pad_of(e, a), "");
    }
    return pack_run(e, a->elem, x, a->run);
}

/* Runs can be moved, if the tensor says so only now. */
static LLVMValueRef and_aligned(GpEmit *e, const Access *a, LLVMValueRef ok) {
    return a->run > 1 && a->tensor->aligned ? LLVMBuildAnd(e->b, ok, a->tensor->aligned, "") : ok;
}

static LLVMValueRef is_run_inside(GpEmit *e, const Access *a, uint32_t r) {
    return and_aligned(e, a, LLVMBuildAnd(e->b, in_bounds(e, a, r), in_bounds(e, a, r + a->run - 1), ""));
}

/* A run that lies inside whole is loaded as in the interior. */
static LLVMValueRef load_ragged(GpEmit *e, const Access *a, uint32_t r) {
    if (a->run == 1)
        return load_elements(e, a, r);
    LLVMBasicBlockRef whole = gp_emit_block(e, "whole"), part = gp_emit_block(e, "part");
    LLVMBasicBlockRef join = gp_emit_block(e, "run");
    LLVMBuildCondBr(e->b, is_run_inside(e, a, r), whole, part);
    gp_emit_at(e, whole);
    LLVMValueRef fast = load_run(e, a->elem, register_address(e, a, r), a->run);
    LLVMBuildBr(e->b, join);
    gp_emit_at(e, part);
    LLVMValueRef slow = load_elements(e, a, r);
    LLVMBuildBr(e->b, join);
    gp_emit_at(e, join);
    LLVMValueRef v = LLVMBuildPhi(e->b, LLVMTypeOf(fast), "");
    LLVMAddIncoming(v, (LLVMValueRef[]){fast, slow}, (LLVMBasicBlockRef[]){whole, part}, 2);
    return v;
}

/* Whether the accesses to a tensor may touch one element from several threads: some store, and
** not all are of one tile at one place in one layout, whose elements each stay with one thread. Tiles at element
** coordinates may overlap from one turn of a loop to the next. */
typedef struct Sharing {
    GpEmit *e;
    const GpIrFn *fn;
    const GpValue *tensor;
    const GpInst *first;
    bool has_store, has_places;
} Sharing;

static bool is_same_place(GpEmit *e, const GpInst *a, const GpInst *b) {
    const GpShape *shape = gp_tile_shape(a);
    uint32_t first_a = a->op == GpOp_StoreTile ? 2 : 1, first_b = b->op == GpOp_StoreTile ? 2 : 1;
    if (a->operands[0] != b->operands[0] || a->by_element != b->by_element ||
        !gp_shape_eq(shape, gp_tile_shape(b)) || !gp_shape_eq(gp_tile_extents(a), gp_tile_extents(b)) ||
        access_layout(e, a) != access_layout(e, b))
        return false;
    for (uint32_t x = 0; x < shape->rank; x++)
        if (a->operands[first_a + x] != b->operands[first_b + x])
            return false;
    return true;
}

static void note_access(GpInst *inst, void *ud) {
    Sharing *s = ud;
    if ((inst->op != GpOp_LoadTile && inst->op != GpOp_StoreTile) ||
        !gp_ir_may_alias(s->fn, inst->operands[0], s->tensor))
        return;
    s->has_store |= inst->op == GpOp_StoreTile;
    if (!s->first)
        s->first = inst;
    s->has_places |= inst->by_element || !is_same_place(s->e, s->first, inst) ||
                     (inst != s->first && access_layout(s->e, inst)->is_owner);
}

/* Earlier accesses to such a tensor come before this one in every thread. */
static void order_access(GpEmit *e, const GpInst *inst) {
    GpTensorArg *tensor = &e->tensors[inst->operands[0]->id];
    if (tensor->order == GpOrder_Unknown) {
        Sharing s = {.e = e, .fn = e->fn, .tensor = inst->operands[0]};
        gp_ir_walk(e->fn, GpWalk_Before, note_access, &s);
        tensor->order = s.has_store && s.has_places ? GpOrder_Barrier : GpOrder_None;
    }
    if (tensor->order == GpOrder_Barrier)
        gp_gpu_barrier(e);
}

/* Of a tile inside, what lies beyond its part may be anything: the tensor's first elements are there. */
static LLVMValueRef load_interior(GpEmit *e, const Access *a, uint32_t r) {
    LLVMValueRef ptr = register_address(e, a, r), ok = in_part(e, a, r);
    return load_run(e, a->elem, ok ? LLVMBuildSelect(e->b, ok, ptr, a->tensor->base, "") : ptr, a->run);
}

/* Runs are joined as they lie in memory: two narrow elements stay in one register. */
static GpBound load_branches(GpEmit *e, const Access *a) {
    uint32_t runs = a->registers / a->run;
    LLVMValueRef *fast = GP_NEW_ARRAY(e->arena, LLVMValueRef, runs);
    LLVMValueRef *slow = GP_NEW_ARRAY(e->arena, LLVMValueRef, runs), pad = pad_run(e, a);
    LLVMBasicBlockRef interior = gp_emit_block(e, "interior"), edge = gp_emit_block(e, "edge");
    LLVMBasicBlockRef ragged = gp_emit_block(e, "ragged"), join = gp_emit_block(e, "loaded");
    LLVMBuildCondBr(e->b, and_aligned(e, a, gp_tile_is_inside(e, a->inst)), interior, edge);
    gp_emit_at(e, interior);
    for (uint32_t k = 0; k < runs; k++)
        fast[k] = load_interior(e, a, k * a->run);
    LLVMBuildBr(e->b, join);
    gp_emit_at(e, edge);
    LLVMBuildCondBr(e->b, is_nonempty(e, a), ragged, join);
    gp_emit_at(e, ragged);
    for (uint32_t k = 0; k < runs; k++)
        slow[k] = load_ragged(e, a, k * a->run);
    ragged = LLVMGetInsertBlock(e->b);
    LLVMBuildBr(e->b, join);
    gp_emit_at(e, join);
    for (uint32_t k = 0; k < runs; k++) {
        LLVMValueRef v = LLVMBuildPhi(e->b, LLVMTypeOf(pad), "");
        LLVMAddIncoming(v, (LLVMValueRef[]){fast[k], slow[k], pad},
                        (LLVMBasicBlockRef[]){interior, ragged, edge}, 3);
        fast[k] = v;
    }
    GpBound out = gp_emit_bound_make(e, a->registers);
    for (uint32_t k = 0; k < runs; k++)
        unpack_run(e, a->elem, fast[k], out.at + (size_t)k * a->run, a->run);
    return out;
}

void gp_gpu_load(GpEmit *e, const GpInst *inst) {
    if (gp_pipe_load(e, inst) || gp_async_load(e, inst))
        return;
    order_access(e, inst);
    Access a = access_of(e, inst);
    e->bound[inst->results[0]->id] = load_branches(e, &a);
    gp_gpu_fetch_ahead(e, inst);
}

static void store_interior(GpEmit *e, const Access *a, const GpBound *v) {
    for (uint32_t r = 0; r < a->registers; r += a->run) {
        LLVMValueRef ok = in_part(e, a, r);
        LLVMBasicBlockRef inside = ok ? gp_emit_block(e, "inside") : NULL, join = ok ? gp_emit_block(e, "run") : NULL;
        if (ok) {
            LLVMBuildCondBr(e->b, ok, inside, join);
            gp_emit_at(e, inside);
        }
        gp_gpu_put_run(e, a->elem, register_address(e, a, r), v, r, a->run);
        if (ok) {
            LLVMBuildBr(e->b, join);
            gp_emit_at(e, join);
        }
    }
}

static void store_elements(GpEmit *e, const Access *a, const GpBound *v, uint32_t r) {
    for (uint32_t i = r; i < r + a->run; i++) {
        GpPlace p = {a->elem, register_address(e, a, i), in_bounds(e, a, i), gp_gpu_at(v, i), NULL};
        gp_tile_store(e, &p);
    }
}

static void store_ragged(GpEmit *e, const Access *a, const GpBound *v, uint32_t r) {
    if (a->run == 1) {
        store_elements(e, a, v, r);
        return;
    }
    LLVMBasicBlockRef whole = gp_emit_block(e, "whole"), part = gp_emit_block(e, "part");
    LLVMBasicBlockRef join = gp_emit_block(e, "run");
    LLVMBuildCondBr(e->b, is_run_inside(e, a, r), whole, part);
    gp_emit_at(e, whole);
    gp_gpu_put_run(e, a->elem, register_address(e, a, r), v, r, a->run);
    LLVMBuildBr(e->b, join);
    gp_emit_at(e, part);
    store_elements(e, a, v, r);
    LLVMBuildBr(e->b, join);
    gp_emit_at(e, join);
}

void gp_gpu_store(GpEmit *e, const GpInst *inst) {
    if (gp_pipe_store(e, inst))
        return;
    order_access(e, inst);
    Access a = access_of(e, inst);
    GpBound v = gp_gpu_convert(e, inst->operands[1], a.layout);
    LLVMBasicBlockRef interior = gp_emit_block(e, "interior"), ragged = gp_emit_block(e, "ragged");
    LLVMBasicBlockRef join = gp_emit_block(e, "stored");
    if (a.layout->is_owner) {
        LLVMBasicBlockRef owner = gp_emit_block(e, "owner");
        LLVMBuildCondBr(e->b, a.layout->is_owner, owner, join);
        gp_emit_at(e, owner);
    }
    LLVMBuildCondBr(e->b, and_aligned(e, &a, gp_tile_is_inside(e, inst)), interior, ragged);
    gp_emit_at(e, interior);
    store_interior(e, &a, &v);
    LLVMBuildBr(e->b, join);
    gp_emit_at(e, ragged);
    for (uint32_t r = 0; r < a.registers; r += a.run)
        store_ragged(e, &a, &v, r);
    LLVMBuildBr(e->b, join);
    gp_emit_at(e, join);
}
