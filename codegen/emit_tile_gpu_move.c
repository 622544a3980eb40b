/* Tile values in other layouts on the GPU: conversions and changes of shape.
**
** Where every thread has what it wants, registers get other names. Otherwise an expression of
** constants and indices is evaluated again at the wanted coordinates, and everything else goes
** through shared memory: owners write, and after a barrier each thread reads. */
#include "codegen/async.h"
#include "codegen/emit_tile_gpu.h"

enum { RECOMPUTE_DEPTH = 4 };

static bool fits_shared(const GpValue *v) {
    return gp_ir_numel(v->type) <= GP_GPU_STATIC_SHARED / gp_elem_info[v->type->elem].bytes;
}

/* Evaluating v again is better than an exchange: no memory, unless the exchange buffer has no place
** for the tile, and no library call. */
static bool is_cheap(const GpEmit *e, const GpValue *v, int depth) {
    if (v->type->kind != GpIrType_Tile)
        return true;
    if (!v->inst || v->inst->region_count || gp_op_is_whole(v->inst->op) || depth == 0)
        return false;
    if (v->inst->op == GpOp_LoadTile)
        return !fits_shared(v) && !e->tensors[v->inst->operands[0]->id].param->is_written;
    if (gp_math_needs_library(v->inst->op))
        return false;
    for (uint32_t i = 0; i < v->inst->operand_count; i++)
        if (!is_cheap(e, v->inst->operands[i], depth - 1))
            return false;
    return true;
}

static LLVMValueRef load_at(GpEmit *e, const GpInst *inst, LLVMValueRef const *c) {
    const GpTensorArg *t = &e->tensors[inst->operands[0]->id];
    const GpValue *mask = gp_tile_mask(inst);
    LLVMValueRef offset = gp_emit_i64(e, 0);
    LLVMValueRef ok = mask ? gp_emit_get(e, mask) : gp_emit_bool(e, true);
    for (int a = 0; a < gp_tile_shape(inst)->rank; a++) {
        LLVMValueRef at = LLVMBuildNSWAdd(e->b, gp_tile_start(e, inst, a), c[a], "");
        LLVMValueRef dim = LLVMBuildSExt(e->b, t->dim[a], LLVMInt64TypeInContext(e->ctx), "");
        ok = LLVMBuildAnd(e->b, ok, LLVMBuildICmp(e->b, LLVMIntULT, at, dim, ""), "");
        offset = LLVMBuildNSWAdd(e->b, offset, gp_gpu_axis_offset(e, t, at, a), "");
    }
    GpElem elem = inst->operands[0]->type->elem;
    GpPlace p = {elem, gp_emit_gep(e, elem, t->base, offset), ok, NULL, gp_tile_pad(e, inst)};
    return gp_tile_load(e, &p);
}

LLVMValueRef gp_gpu_iota(GpEmit *e, const GpInst *inst, LLVMValueRef const *c) {
    LLVMTypeRef type = gp_emit_type(e, inst->results[0]->type->elem);
    LLVMValueRef constant, thread = gp_emit_split(c[0], &constant);
    thread = LLVMBuildIntCast2(e->b, thread, type, false, "");
    return gp_emit_offset(e, thread, LLVMBuildIntCast2(e->b, constant, type, false, ""));
}

static LLVMValueRef eval_at(GpEmit *e, const GpValue *v, LLVMValueRef const *c) {
    if (v->type->kind != GpIrType_Tile)
        return gp_emit_get(e, v);
    const GpInst *inst = v->inst;
    if (inst->op == GpOp_Splat)
        return gp_emit_get(e, inst->operands[0]);
    if (inst->op == GpOp_LoadTile)
        return load_at(e, inst, c);
    if (inst->op == GpOp_Iota)
        return gp_gpu_iota(e, inst, c);
    if (gp_tile_moves(inst->op)) {
        LLVMValueRef at[GP_MAX_RANK];
        gp_tile_moved_coords(e, inst, c, at);
        return eval_at(e, inst->operands[0], at);
    }
    LLVMValueRef x[3];
    for (uint32_t i = 0; i < inst->operand_count; i++)
        x[i] = eval_at(e, inst->operands[i], c);
    return gp_emit_element(e, inst, x);
}

/* Registers of a tile on the way to another layout. */
typedef struct Move {
    GpElem elem;
    GpBound from;
    const GpShapeLayout *held, *wanted;
} Move;

LLVMValueRef gp_gpu_at(const GpBound *b, uint32_t r) { return b->at[b->count == 1 ? 0 : r]; }

static bool rename_registers(GpEmit *e, const Move *m, GpBound *out) {
    uint32_t count = gp_layout_registers(m->wanted->layout);
    uint32_t *map = GP_NEW_ARRAY(e->arena, uint32_t, count);
    if (!gp_layout_same_thread(m->held->layout, m->wanted->layout, map))
        return false;
    *out = gp_emit_bound_make(e, count);
    for (uint32_t r = 0; r < count; r++)
        out->at[r] = gp_gpu_at(&m->from, map[r]);
    return true;
}

/* A tile in shared memory: row-major, each row with a gap behind it. Runs on both sides move as
** vectors, and the gap keeps them aligned; else it makes rows start in different banks. */
typedef struct Staged {
    LLVMValueRef at;
    int64_t stride[GP_MAX_RANK];
    uint32_t run;
} Staged;

static Staged stage_tile(GpEmit *e, const Move *m, bool has_view) {
    const GpShape *shape = &m->held->shape;
    uint32_t bytes = gp_elem_info[m->elem].bytes;
    Staged s = {.run = GP_MIN(gp_layout_run(m->held->layout), gp_layout_run(m->wanted->layout))};
    s.run = has_view ? 1 : GP_MIN(s.run, GP_GPU_VECTOR_BYTES / bytes);
    int64_t numel = 1, gap = s.run > 1 ? GP_GPU_VECTOR_BYTES / bytes : GP_MAX(GP_GPU_WORD_BYTES / bytes, 1u);
    int64_t all = gp_ir_tile_numel(shape);
    bool has_gap = shape->rank > 1 && shape->dim[shape->rank - 1] > 1 &&
                   (all + all / shape->dim[shape->rank - 1] * gap) * bytes <= GP_GPU_STATIC_SHARED;
    for (int a = shape->rank - 1; a >= 0; a--) {
        s.stride[a] = numel;
        numel = numel * shape->dim[a] + (a == shape->rank - 1 && has_gap ? gap : 0);
    }
    s.at = gp_gpu_shared(e, (uint64_t)numel * bytes, all, m->elem);
    return s;
}

static LLVMValueRef thread_place(GpEmit *e, const Move *m, const Staged *s, const GpShapeLayout *of) {
    LLVMValueRef offset = gp_emit_i64(e, 0);
    for (int a = 0; a < of->shape.rank; a++) {
        LLVMValueRef part = LLVMBuildNUWMul(e->b, of->coord[a], gp_emit_i64(e, s->stride[a]), "");
        offset = LLVMBuildNUWAdd(e->b, offset, part, "");
    }
    return gp_emit_gep(e, m->elem, s->at, offset);
}

static LLVMValueRef register_place(GpEmit *e, const Move *m, const Staged *s, const GpShapeLayout *of,
                                   LLVMValueRef thread, uint32_t reg) {
    int32_t at[GP_MAX_RANK];
    int64_t offset = 0;
    gp_layout_at(of->layout, reg, 0, 0, at);
    for (int a = 0; a < of->shape.rank; a++)
        offset += at[a] * s->stride[a];
    return gp_emit_gep(e, m->elem, thread, gp_emit_i64(e, offset));
}

/* Every owner writes its elements. */
static void put_shared(GpEmit *e, const Move *m, const Staged *s) {
    LLVMBasicBlockRef done = m->held->is_owner ? gp_emit_block(e, "put") : NULL;
    gp_gpu_barrier(e);
    LLVMValueRef thread = thread_place(e, m, s, m->held);
    if (done) {
        LLVMBasicBlockRef owner = gp_emit_block(e, "owner");
        LLVMBuildCondBr(e->b, m->held->is_owner, owner, done);
        gp_emit_at(e, owner);
    }
    for (uint32_t r = 0; r < gp_layout_registers(m->held->layout); r += s->run)
        gp_gpu_put_run(e, m->elem, register_place(e, m, s, m->held, thread, r), &m->from, r, s->run);
    if (done) {
        LLVMBuildBr(e->b, done);
        gp_emit_at(e, done);
    }
    gp_gpu_barrier(e);
}

static GpBound take_shared(GpEmit *e, const Move *m, const Staged *s) {
    GpBound out = gp_emit_bound_make(e, gp_layout_registers(m->wanted->layout));
    LLVMValueRef thread = thread_place(e, m, s, m->wanted);
    for (uint32_t r = 0; r < out.count; r += s->run)
        gp_gpu_take_run(e, m->elem, register_place(e, m, s, m->wanted, thread, r), &out, r, s->run);
    return out;
}

/* The same at the coordinates that the elements of `view` have in its operand. */
static GpBound take_viewed(GpEmit *e, const Move *m, const Staged *s, const GpInst *view) {
    GpBound out = gp_emit_bound_make(e, gp_layout_registers(m->wanted->layout));
    for (uint32_t r = 0; r < out.count; r++) {
        LLVMValueRef c[GP_MAX_RANK], at[GP_MAX_RANK], index = gp_emit_i64(e, 0);
        gp_gpu_coords(e, m->wanted, r, c);
        gp_tile_moved_coords(e, view, c, at);
        for (int a = 0; a < m->held->shape.rank; a++) {
            LLVMValueRef part = LLVMBuildNSWMul(e->b, at[a], gp_emit_i64(e, s->stride[a]), "");
            index = LLVMBuildNSWAdd(e->b, index, part, "");
        }
        out.at[r] = gp_emit_mem_load(e, m->elem, gp_emit_gep(e, m->elem, s->at, index));
    }
    return out;
}

static GpBound move(GpEmit *e, const Move *m) {
    GpBound out;
    if (m->held == m->wanted)
        return m->from;
    if (rename_registers(e, m, &out))
        return out;
    Staged s = stage_tile(e, m, false);
    put_shared(e, m, &s);
    return take_shared(e, m, &s);
}

void gp_gpu_bind(GpEmit *e, const GpValue *v, GpBound from, const GpShapeLayout *held) {
    Move m = {v->type->elem, from, held, gp_gpu_layout_of(e, v)};
    e->bound[v->id] = move(e, &m);
}

static GpBound evaluate(GpEmit *e, const GpValue *v, const GpShapeLayout *s, const GpInst *view) {
    GpBound out = gp_emit_bound_make(e, gp_layout_registers(s->layout));
    for (uint32_t r = 0; r < out.count; r++) {
        LLVMValueRef c[GP_MAX_RANK], at[GP_MAX_RANK];
        gp_gpu_coords(e, s, r, c);
        if (view)
            gp_tile_moved_coords(e, view, c, at);
        out.at[r] = eval_at(e, v, view ? at : c);
    }
    return out;
}

/* Conversions made so far: one serves the region it stands in and those inside. */
struct GpConversion {
    const GpValue *value;
    const GpShapeLayout *layout;
    const GpRegion *region;
    GpBound bound;
    GpConversion *next;
};

GpBound gp_gpu_convert(GpEmit *e, const GpValue *v, const GpShapeLayout *to) {
    Move m = {v->type->elem, e->bound[v->id], gp_gpu_layout_of(e, v), to};
    GpConversion **made = gp_tile_gpu_conversions(e);
    if (m.held == to || gp_gpu_is_uniform(v))
        return m.from;
    for (GpConversion *c = *made; c; c = c->next)
        if (c->value == v && c->layout == to && gp_ir_is_inside(e->region, c->region))
            return c->bound;
    GpBound out;
    if (!rename_registers(e, &m, &out))
        out = is_cheap(e, v, RECOMPUTE_DEPTH) ? evaluate(e, v, to, NULL) : move(e, &m);
    GpConversion *c = GP_NEW(e->arena, GpConversion);
    *c = (GpConversion){v, to, e->region, out, *made};
    *made = c;
    return out;
}

GpBound gp_tile_gpu_operand(GpEmit *e, const GpValue *v, const GpValue *as) {
    return gp_gpu_convert(e, v, gp_gpu_layout_of(e, as));
}

/* Changes of shape */

/* Which part an extract_tile takes along an axis; false: only its thread knows. */
static bool part_along(const GpInst *extract, int axis, int64_t *part) {
    int64_t parts = extract->operands[0]->type->shape.dim[axis] / extract->results[0]->type->shape.dim[axis];
    GpScalar k;
    *part = 0;
    if (parts > 1 && !gp_ir_const(extract->operands[1 + axis], &k))
        return false;
    if (parts > 1)
        *part = (int64_t)(uint32_t)k.i % parts;
    return true;
}

static bool is_known_part(const GpInst *extract) {
    int64_t part;
    for (int a = 0; a < extract->results[0]->type->shape.rank; a++)
        if (!part_along(extract, a, &part))
            return false;
    return true;
}

const GpLayout *gp_gpu_view_layout(GpEmit *e, const GpInst *inst, const GpLayout *l) {
    if (inst->op == GpOp_Reshape)
        return gp_layout_reshape(e->arena, l, &inst->results[0]->type->shape);
    if (inst->op == GpOp_ExtractTile)
        return is_known_part(inst) ? gp_layout_narrow(e->arena, l, &inst->results[0]->type->shape) : NULL;
    return inst->op == GpOp_Permute ? gp_layout_permute(e->arena, l, &inst->perm) : NULL;
}

const GpLayout *gp_gpu_viewed_layout(GpEmit *e, const GpInst *inst, const GpLayout *l) {
    const GpShape *from = &inst->operands[0]->type->shape, *to = &inst->results[0]->type->shape;
    if (inst->op == GpOp_Reshape)
        return gp_layout_reshape(e->arena, l, from);
    if (inst->op == GpOp_Permute) {
        GpPerm back = {.rank = inst->perm.rank};
        for (uint8_t k = 0; k < back.rank; k++)
            back.axis[inst->perm.axis[k]] = k;
        return gp_layout_permute(e->arena, l, &back);
    }
    if (inst->op == GpOp_ExtractTile)
        return is_known_part(inst) ? gp_layout_widen(e->arena, l, from) : NULL;
    if (inst->op != GpOp_Broadcast)
        return NULL;
    for (int a = to->rank - 1; a >= 0; a--)
        if (from->dim[a] == 1)
            l = gp_layout_slice(e->arena, l, a);
    return gp_layout_reshape(e->arena, l, from);
}

/* Coordinates in the operand of the result's element at `c`. */
static void view_coord(const GpInst *inst, const int32_t *c, int32_t *at) {
    const GpShape *from = &inst->operands[0]->type->shape, *to = &inst->results[0]->type->shape;
    int64_t offset = 0, part = 0;
    for (int k = 0; k < to->rank; k++) {
        offset = offset * to->dim[k] + c[k];
        if (inst->op == GpOp_Permute)
            at[inst->perm.axis[k]] = c[k];
        else if (inst->op == GpOp_Broadcast)
            at[k] = from->dim[k] == 1 ? 0 : c[k];
        else if (inst->op == GpOp_ExtractTile && part_along(inst, k, &part))
            at[k] = (int32_t)(part * to->dim[k]) + c[k];
    }
    for (int a = from->rank - 1; a >= 0 && inst->op == GpOp_Reshape; a--) {
        at[a] = (int32_t)(offset % from->dim[a]);
        offset /= from->dim[a];
    }
}

/* The operand in the layout in which each thread has what it wants of it. */
static GpBound view_registers(GpEmit *e, const GpInst *inst, const GpLayout *l) {
    const GpShapeLayout *to = gp_gpu_layout_of(e, inst->results[0]);
    GpBound from = gp_gpu_convert(e, inst->operands[0], gp_gpu_layout(e, l));
    GpBound out = gp_emit_bound_make(e, gp_layout_registers(to->layout));
    for (uint32_t r = 0; r < out.count; r++) {
        int32_t c[GP_MAX_RANK], at[GP_MAX_RANK];
        uint32_t held = 0;
        gp_layout_at(to->layout, r, 0, 0, c);
        view_coord(inst, c, at);
        gp_assert(gp_layout_register(l, at, &held));
        out.at[r] = gp_gpu_at(&from, held);
    }
    return out;
}

void gp_gpu_view(GpEmit *e, const GpInst *inst) {
    const GpValue *v = inst->operands[0], *result = inst->results[0];
    GpFeedView in_shared;
    const GpFeeds *feeds = e->pipe ? &e->pipe->feeds : e->async ? &e->async->feeds : NULL;
    if (feeds && gp_feed_view(feeds, result, &in_shared))
        return;
    const GpShapeLayout *to = gp_gpu_layout_of(e, result);
    const GpLayout *l = gp_gpu_viewed_layout(e, inst, to->layout);
    Move m = {v->type->elem, e->bound[v->id], gp_gpu_layout_of(e, v), to};
    if (l) {
        e->bound[result->id] = view_registers(e, inst, l);
    } else if (is_cheap(e, v, RECOMPUTE_DEPTH)) {
        e->bound[result->id] = evaluate(e, v, to, inst);
    } else {
        Staged s = stage_tile(e, &m, true);
        put_shared(e, &m, &s);
        e->bound[result->id] = take_viewed(e, &m, &s, inst);
    }
}
