/* Pointer tiles of cutile::core: an address and the offsets of elements from it, so that a tile of
** pointers is one base and an i64 tile. Gathers, scatters and atomic updates through them. Tokens
** and latencies have no content. */
#include "dsl/lower_tile.h"

typedef struct Pointers {
    GpValue *base, *offsets;
} Pointers;

static Pointers read_pointers(GpLower *lo, const GpLowerCall *call, uint32_t arg) {
    GpVal v = gp_call_arg(lo, call, arg);
    gp_assert(v.count == 2);
    return (Pointers){gp_lower_get(lo, &v, 0), gp_lower_get(lo, &v, 1)};
}

static GpVal pack(GpLower *lo, const GpLowerCall *call, Pointers p) {
    GpVal out = gp_lower_undef(lo, call->type);
    out.at[0].value = p.base;
    out.at[1].value = p.offsets;
    return out;
}

static const GpIrType *offsets_type(GpLower *lo, const GpShape *shape) {
    return gp_ir_tile(lo->fn, GpElem_I64, shape);
}

static GpValue *offset_const(GpLower *lo, const GpIrType *t, int64_t v) {
    return gp_build_const(&lo->b, t, (GpScalar){.elem = GpElem_I64, .i = v});
}

static GpValue *address_of_int(GpLower *lo, GpValue *number, GpElem elem) {
    const GpIrType *t = gp_ir_ptr(lo->fn, elem, GpSpace_Global);
    return gp_build(&lo->b, GpOp_IntToPtr, &number, 1, &t, 1)->results[0];
}

static GpValue *int_of_address(GpLower *lo, GpValue *ptr) {
    const GpIrType *t = gp_ir_scalar(lo->fn, GpElem_I64);
    return gp_build(&lo->b, GpOp_PtrToInt, &ptr, 1, &t, 1)->results[0];
}

/* The same address of elements of another type. */
static GpValue *retype(GpLower *lo, GpValue *ptr, GpElem elem) {
    return ptr->type->elem == elem ? ptr : address_of_int(lo, int_of_address(lo, ptr), elem);
}

/* ---- Making and moving them ----------------------------------------------------------------- */

GpVal gp_lower_PointerToTile(GpLower *lo, const GpLowerCall *call) {
    GpShape none = {.rank = 0};
    Pointers p = {gp_lower_get(lo, &call->args[0], 0),
                  offset_const(lo, offsets_type(lo, &none), 0)};
    return pack(lo, call, p);
}

static GpValue *one_address(GpLower *lo, Pointers p) {
    GpScalar k;
    if (gp_ir_const(p.offsets, &k) && k.i == 0)
        return p.base;
    GpElem elem = p.base->type->elem;
    const GpIrType *t = gp_ir_scalar(lo->fn, GpElem_I64);
    GpValue *off = gp_build(&lo->b, GpOp_Extract, &p.offsets, 1, &t, 1)->results[0];
    off = gp_build2(&lo->b, GpOp_Mul, off, offset_const(lo, t, gp_elem_info[elem].bytes));
    GpValue *sum = gp_build2(&lo->b, GpOp_Add, int_of_address(lo, p.base), off);
    return address_of_int(lo, sum, elem);
}

GpValue *gp_tile_address(GpLower *lo, const GpLowerCall *call, uint32_t arg) {
    return one_address(lo, read_pointers(lo, call, arg));
}

GpVal gp_lower_TileToPointer(GpLower *lo, const GpLowerCall *call) {
    return gp_call_result(lo, call, gp_tile_address(lo, call, 0));
}

/* The first element of a tensor; of one that a block may write, that of the block's own tile. */
static Pointers tensor_base(GpLower *lo, const GpLowerCall *call) {
    GpValue *tensor = gp_lower_resolve(gp_call_scalar(lo, call, 0));
    const GpIrType *ptr = gp_ir_ptr(lo->fn, tensor->type->elem, GpSpace_Global);
    const GpIrType *number = gp_ir_scalar(lo->fn, GpElem_I64);
    GpShape own, none = {.rank = 0};
    GpValue *first = offset_const(lo, number, 0);
    bool is_own = gp_tile_own(lo, call, tensor, &own) && lo->fn->params[tensor->index].is_written;
    for (int i = 0; is_own && i < own.rank; i++) {
        GpValue *at = gp_lower_convert(lo, gp_tile_axis_op(lo, GpOp_ProgramId, (uint32_t)i), GpElem_I64);
        GpInst *stride = gp_build(&lo->b, GpOp_Stride, &tensor, 1, &number, 1);
        stride->axis = (uint8_t)i;
        at = gp_build2(&lo->b, GpOp_Mul, at, offset_const(lo, number, own.dim[i]));
        at = gp_build2(&lo->b, GpOp_Mul, at, stride->results[0]);
        first = gp_build2(&lo->b, GpOp_Add, first, at);
    }
    GpValue *base = gp_build(&lo->b, GpOp_TensorBase, &tensor, 1, &ptr, 1)->results[0];
    return (Pointers){base, gp_lower_splat(lo, first, GpElem_I64, &none)};
}

GpVal gp_lower_TensorBase(GpLower *lo, const GpLowerCall *call) {
    return pack(lo, call, tensor_base(lo, call));
}

GpVal gp_lower_TensorAddress(GpLower *lo, const GpLowerCall *call) {
    return gp_call_result(lo, call, one_address(lo, tensor_base(lo, call)));
}

GpVal gp_lower_PointerOffset(GpLower *lo, const GpLowerCall *call) {
    Pointers p = read_pointers(lo, call, 0);
    GpValue *off = gp_lower_convert(lo, gp_call_scalar(lo, call, 1), GpElem_I64);
    off = gp_lower_splat(lo, off, GpElem_I64, &p.offsets->type->shape);
    if (off->type != p.offsets->type)
        return gp_lower_undef(lo, call->type);
    p.offsets = gp_build2(&lo->b, GpOp_Add, p.offsets, off);
    return pack(lo, call, p);
}

GpVal gp_lower_PointerReshape(GpLower *lo, const GpLowerCall *call) {
    Pointers p = read_pointers(lo, call, 0);
    GpShape to = gp_lower_adt_shape(lo, call->type);
    int64_t have, want;
    if (!gp_shape_numel(&p.offsets->type->shape, &have) || !gp_shape_numel(&to, &want) ||
        have != want) {
        gp_lower_refuse(lo, call->span, "pointers reshaped to another number of them");
        return gp_lower_undef(lo, call->type);
    }
    p.offsets = gp_tile_reshape(lo, p.offsets, &to);
    return pack(lo, call, p);
}

GpVal gp_lower_PointerBroadcast(GpLower *lo, const GpLowerCall *call) {
    Pointers p = read_pointers(lo, call, 0);
    GpShape to = gp_lower_adt_shape(lo, call->type), from = p.offsets->type->shape;
    bool fits = from.rank <= to.rank;
    for (int i = 0; fits && i < from.rank; i++)
        fits = from.dim[i] == 1 || from.dim[i] == to.dim[to.rank - from.rank + i];
    if (!fits) {
        gp_lower_refuse(lo, call->span, "pointers repeated along an axis of more than one");
        return gp_lower_undef(lo, call->type);
    }
    p.offsets = gp_tile_broadcast(lo, p.offsets, &to);
    return pack(lo, call, p);
}

/* ---- Numbers and other element types -------------------------------------------------------- */

static GpElem pointee(const GpType *pointers) {
    GpElem elem = GpElem_U8;
    const GpType *t = pointers->args[0].type;
    gp_lower_elem(t->kind == GpTy_RawPtr ? t->inner : t, &elem);
    return elem;
}

/* Addresses are multiples of the element's size, so the offset from 0 is the number over it. */
static Pointers from_zero(GpLower *lo, GpValue *bytes, GpElem elem) {
    GpValue *size = offset_const(lo, bytes->type, gp_elem_info[elem].bytes);
    return (Pointers){address_of_int(lo, gp_build_int(&lo->b, GpElem_I64, 0), elem),
                      gp_build2(&lo->b, GpOp_Div, bytes, size)};
}

static GpValue *to_bytes(GpLower *lo, Pointers p) {
    int64_t size = gp_elem_info[p.base->type->elem].bytes;
    GpValue *off = gp_build2(&lo->b, GpOp_Mul, p.offsets, offset_const(lo, p.offsets->type, size));
    GpValue *base = gp_lower_splat(lo, int_of_address(lo, p.base), GpElem_I64, &off->type->shape);
    return gp_build2(&lo->b, GpOp_Add, base, off);
}

GpVal gp_lower_IntToPointers(GpLower *lo, const GpLowerCall *call) {
    GpValue *x = gp_lower_convert(lo, gp_call_scalar(lo, call, 0), GpElem_I64);
    GpElem elem = pointee(call->type);
    if (x->type->kind != GpIrType_Tile || x->type->shape.rank != 0)
        return pack(lo, call, from_zero(lo, x, elem));
    const GpIrType *t = gp_ir_scalar(lo->fn, GpElem_I64);
    GpValue *number = gp_build(&lo->b, GpOp_Extract, &x, 1, &t, 1)->results[0];
    return pack(lo, call, (Pointers){address_of_int(lo, number, elem), offset_const(lo, x->type, 0)});
}

GpVal gp_lower_PointersToInt(GpLower *lo, const GpLowerCall *call) {
    GpValue *bytes = to_bytes(lo, read_pointers(lo, call, 0));
    return gp_call_result(lo, call, gp_lower_convert(lo, bytes, gp_lower_adt_elem(call->type)));
}

GpVal gp_lower_PointersToPointers(GpLower *lo, const GpLowerCall *call) {
    Pointers p = read_pointers(lo, call, 0);
    GpElem to = pointee(call->type);
    GpScalar k;
    bool is_base = gp_ir_const(p.offsets, &k) && k.i == 0;
    if (!is_base && gp_elem_info[p.base->type->elem].bytes != gp_elem_info[to].bytes)
        return pack(lo, call, from_zero(lo, to_bytes(lo, p), to));
    p.base = retype(lo, p.base, to);
    return pack(lo, call, p);
}

/* ---- Accesses ------------------------------------------------------------------------------- */

/* The payload of an Option argument that is known to be Some or None; *out NULL for None. Where
** only the launch decides, `has` is the flag. */
static GpValue *option(GpLower *lo, const GpLowerCall *call, uint32_t arg, GpValue **has) {
    GpVal v = gp_call_arg(lo, call, arg);
    GpScalar k;
    *has = NULL;
    if (v.count < 2)
        return NULL;
    GpValue *flag = gp_lower_get(lo, &v, 0);
    if (!gp_ir_const(flag, &k))
        *has = flag;
    else if (!k.u)
        return NULL;
    return gp_lower_get(lo, &v, 1);
}

static GpValue *mask_of(GpLower *lo, const GpLowerCall *call, uint32_t arg, const GpShape *shape) {
    GpValue *has, *mask = option(lo, call, arg, &has);
    const GpIrType *t = gp_ir_tile(lo->fn, GpElem_Bool, shape);
    GpValue *all = gp_build_const(&lo->b, t, (GpScalar){.elem = GpElem_Bool, .u = 1});
    if (!mask)
        return all;
    if (has)
        mask = gp_build_select(&lo->b, gp_lower_splat(lo, has, GpElem_Bool, shape), mask, all);
    return mask;
}

static GpValue *padding_of(GpLower *lo, const GpLowerCall *call, uint32_t arg, GpElem elem) {
    const GpIrType *t = gp_ir_scalar(lo->fn, elem);
    GpValue *has, *pad = option(lo, call, arg, &has);
    GpValue *zero = gp_build_const(&lo->b, t, (GpScalar){.elem = elem});
    return !pad ? zero : has ? gp_build_select(&lo->b, has, pad, zero) : pad;
}

typedef enum Use { Use_Load, Use_Store, Use_Update } Use;

static const struct {
    const char *name;
    bool allowed[3];
} orderings[GpOrdering_count] = {
#define GP_ORDERING(id, word, loads, stores, updates)                                              \
    [GpOrdering_##id] = {#id, {loads, stores, updates}},
#include "dsl/ir/access.def"
};

static bool set_ordering(GpLower *lo, const GpLowerCall *call, uint32_t arg, Use use,
                         GpInst *inst) {
    const char *name = gp_tile_marker(call, arg);
    for (int o = 0; o < GpOrdering_count; o++)
        if (!strcmp(orderings[o].name, name) && orderings[o].allowed[use]) {
            inst->ordering = (GpOrdering)o;
            return true;
        }
    static const char *const what[] = {"a load", "a store", "an update"};
    gp_lower_refuse(lo, call->span, "%s with ordering::%s", what[use], name);
    return false;
}

static void set_scope(const char *name, GpInst *inst) {
    inst->scope = !strcmp(name, "Device")   ? GpMemScope_Device
                  : !strcmp(name, "System") ? GpMemScope_System
                                            : GpMemScope_Block;
}

/* The scope of an Option<scope::X>: its type says it. */
static const char *option_scope(const GpLowerCall *call, uint32_t arg) {
    const GpType *t = call->args[arg].type;
    bool has_arg = t->kind == GpTy_Adt && t->arg_count && t->args[0].kind == GpGArg_Type;
    const GpType *scope = has_arg ? t->args[0].type : NULL;
    return scope && scope->kind == GpTy_Adt ? scope->def->name->name : "";
}

GpVal gp_lower_LoadPointers(GpLower *lo, const GpLowerCall *call) {
    Pointers p = read_pointers(lo, call, 0);
    GpElem elem = p.base->type->elem;
    const GpShape *shape = &p.offsets->type->shape;
    GpValue *operands[] = {p.base, p.offsets, mask_of(lo, call, 3, shape),
                           padding_of(lo, call, 4, elem)};
    const GpIrType *t = gp_ir_tile(lo->fn, elem, shape);
    GpInst *inst = gp_build(&lo->b, GpOp_Gather, operands, 4, &t, 1);
    set_ordering(lo, call, 1, Use_Load, inst);
    set_scope(option_scope(call, 2), inst);
    return gp_call_result(lo, call, inst->results[0]); /* and a token without leaves */
}

GpVal gp_lower_StorePointers(GpLower *lo, const GpLowerCall *call) {
    Pointers p = read_pointers(lo, call, 0);
    GpValue *operands[] = {p.base, p.offsets, gp_call_scalar(lo, call, 1),
                           mask_of(lo, call, 4, &p.offsets->type->shape)};
    GpInst *inst = gp_build(&lo->b, GpOp_Scatter, operands, 4, NULL, 0);
    set_ordering(lo, call, 2, Use_Store, inst);
    set_scope(option_scope(call, 3), inst);
    return gp_lower_undef(lo, call->type);
}

/* ---- Atomic updates ------------------------------------------------------------------------- */

typedef struct Mode {
    const char *name;
    GpAtomic atomic;
    bool of_floats, of_ints;
    bool is_unsigned; /* the elements are compared as unsigned numbers */
} Mode;

static const Mode modes[] = {
    {"Add", GpAtomic_Add, false, true, false},   {"AddF", GpAtomic_Add, true, false, false},
    {"And", GpAtomic_And, false, true, false},   {"Or", GpAtomic_Or, false, true, false},
    {"Xor", GpAtomic_Xor, false, true, false},   {"Max", GpAtomic_Max, false, true, false},
    {"Min", GpAtomic_Min, false, true, false},   {"Umax", GpAtomic_Max, false, true, true},
    {"Umin", GpAtomic_Min, false, true, true},   {"Xchg", GpAtomic_Xchg, true, true, false},
};

static const Mode *find_mode(GpLower *lo, const GpLowerCall *call, uint32_t arg, GpElem elem) {
    const char *name = gp_tile_marker(call, arg);
    bool is_float = gp_elem_is_float(elem);
    for (size_t i = 0; i < GP_COUNT(modes); i++)
        if (!strcmp(modes[i].name, name) && (is_float ? modes[i].of_floats : modes[i].of_ints))
            return &modes[i];
    gp_lower_refuse(lo, call->span, "atomic::%s of `%s`%s", name, gp_elem_info[elem].name,
                    is_float ? ", where floats have only `AddF` and `Xchg`," : "");
    return NULL;
}

static GpElem unsigned_of(GpElem elem) {
    for (int e = 0; e < GpElem_count; e++)
        if (gp_elem_info[e].cls == GpClass_Uint && gp_elem_info[e].bits == gp_elem_info[elem].bits)
            return (GpElem)e;
    return elem;
}

static bool is_atomic(GpLower *lo, const GpLowerCall *call, GpElem elem) {
    uint32_t bits = gp_elem_info[elem].bits;
    if (elem != GpElem_Bool && (bits >= 32 || (bits == 16 && gp_elem_is_float(elem))))
        return true;
    gp_lower_refuse(lo, call->span, "an atomic update of `%s`", gp_elem_info[elem].name);
    return false;
}

GpVal gp_lower_AtomicUpdate(GpLower *lo, const GpLowerCall *call) {
    Pointers p = read_pointers(lo, call, 0);
    GpElem elem = p.base->type->elem;
    const Mode *mode = is_atomic(lo, call, elem) ? find_mode(lo, call, 2, elem) : NULL;
    if (!mode)
        return gp_lower_undef(lo, call->type);
    GpElem as = mode->is_unsigned ? unsigned_of(elem) : elem;
    GpValue *operands[] = {retype(lo, p.base, as), p.offsets,
                           gp_build_bitcast(&lo->b, gp_call_scalar(lo, call, 1), as),
                           mask_of(lo, call, 5, &p.offsets->type->shape)};
    const GpIrType *t = operands[2]->type;
    GpInst *inst = gp_build(&lo->b, GpOp_AtomicRmw, operands, 4, &t, 1);
    inst->atomic = mode->atomic;
    set_ordering(lo, call, 3, Use_Update, inst);
    set_scope(gp_tile_marker(call, 4), inst);
    return gp_call_result(lo, call, gp_build_bitcast(&lo->b, inst->results[0], elem));
}

/* The tile of a view, element by element; those beyond the tensor are dropped. */
GpVal gp_lower_AtomicView(GpLower *lo, const GpLowerCall *call) {
    GpGathered g;
    if (!gp_tile_gather_view(lo, call, 2, &g))
        return gp_lower_undef(lo, call->type);
    GpElem elem = g.base->type->elem;
    const Mode *mode = is_atomic(lo, call, elem) ? find_mode(lo, call, 3, elem) : NULL;
    if (!mode)
        return gp_lower_undef(lo, call->type);
    GpElem as = mode->is_unsigned ? unsigned_of(elem) : elem;
    GpValue *tile = gp_tile_unmapped(lo, gp_call_scalar(lo, call, 1), &g.map);
    GpValue *operands[] = {retype(lo, g.base, as), g.offsets, gp_build_bitcast(&lo->b, tile, as), g.mask};
    const GpIrType *t = operands[2]->type;
    GpInst *inst = gp_build(&lo->b, GpOp_AtomicRmw, operands, 4, &t, 1);
    inst->atomic = mode->atomic;
    set_ordering(lo, call, 4, Use_Update, inst);
    set_scope(gp_tile_marker(call, 5), inst);
    return gp_lower_undef(lo, call->type);
}

GpVal gp_lower_AtomicSwap(GpLower *lo, const GpLowerCall *call) {
    Pointers p = read_pointers(lo, call, 0);
    if (!is_atomic(lo, call, p.base->type->elem))
        return gp_lower_undef(lo, call->type);
    GpValue *operands[] = {p.base, p.offsets, gp_call_scalar(lo, call, 1),
                           gp_call_scalar(lo, call, 2),
                           mask_of(lo, call, 5, &p.offsets->type->shape)};
    const GpIrType *t = operands[2]->type;
    GpInst *inst = gp_build(&lo->b, GpOp_AtomicCas, operands, 5, &t, 1);
    set_ordering(lo, call, 3, Use_Update, inst);
    set_scope(gp_tile_marker(call, 4), inst);
    return gp_call_result(lo, call, inst->results[0]);
}

/* ---- Globals --------------------------------------------------------------------------------- */

/* The static's name, with those of the modules around it. */
static const char *global_name(GpLower *lo, const GpDef *def) {
    const char *name = def->name->name;
    for (const GpDef *m = def->parent; m && m->name && m->parent; m = m->parent)
        name = gp_arena_printf(lo->fn->arena, "%s_%s", m->name->name, name);
    return gp_arena_copy(lo->fn->arena, name, strlen(name));
}

GpVal gp_lower_GlobalNew(GpLower *lo, const GpLowerCall *call) {
    GpValue *first = gp_call_scalar(lo, call, 0);
    const GpDef *def = lo->frame->fn;
    GpScalar value;
    if (def->kind != GpDef_Static || !gp_tile_known(first, &value)) {
        gp_lower_refuse(lo, call->span,
                        def->kind == GpDef_Static ? "a `Global` that starts with no constant"
                                                  : "a `Global` that is no static");
        return gp_lower_undef(lo, call->type);
    }
    const GpIrType *t = gp_ir_ptr(lo->fn, first->type->elem, GpSpace_Global);
    GpInst *inst = gp_build(&lo->b, GpOp_Global, NULL, 0, &t, 1);
    inst->imm = value;
    inst->text = global_name(lo, def);
    return gp_call_result(lo, call, inst->results[0]);
}

/* Every block of the launch reaches it, so only orderings and scopes that count for all do. */
static bool set_global(GpLower *lo, const GpLowerCall *call, uint32_t arg, Use use, GpInst *inst) {
    const char *ordering = gp_tile_marker(call, arg), *scope = gp_tile_marker(call, arg + 1);
    if (!strcmp(ordering, "Weak") || !strcmp(scope, "TileBlock")) {
        gp_lower_refuse(lo, call->span, "%s%s of a `Global`",
                        !strcmp(ordering, "Weak") ? "ordering::" : "scope::",
                        !strcmp(ordering, "Weak") ? ordering : scope);
        return false;
    }
    set_scope(scope, inst);
    return set_ordering(lo, call, arg, use, inst);
}

/* Offset and mask of the one element, as tiles of rank 0. */
static void one_element(GpLower *lo, GpValue **offset, GpValue **mask) {
    GpShape none = {.rank = 0};
    *offset = offset_const(lo, offsets_type(lo, &none), 0);
    *mask = gp_build_const(&lo->b, gp_ir_tile(lo->fn, GpElem_Bool, &none),
                           (GpScalar){.elem = GpElem_Bool, .u = 1});
}

GpVal gp_lower_GlobalLoad(GpLower *lo, const GpLowerCall *call) {
    GpValue *operands[4] = {gp_call_scalar(lo, call, 0)};
    GpElem elem = operands[0]->type->elem;
    GpShape none = {.rank = 0};
    const GpIrType *t = gp_ir_tile(lo->fn, elem, &none);
    one_element(lo, &operands[1], &operands[2]);
    operands[3] = gp_build_const(&lo->b, gp_ir_scalar(lo->fn, elem), (GpScalar){.elem = elem});
    GpInst *inst = gp_build(&lo->b, GpOp_Gather, operands, 4, &t, 1);
    set_global(lo, call, 1, Use_Load, inst);
    return gp_call_result(lo, call, inst->results[0]);
}

GpVal gp_lower_GlobalStore(GpLower *lo, const GpLowerCall *call) {
    GpValue *operands[4] = {gp_call_scalar(lo, call, 0), NULL, gp_call_scalar(lo, call, 1)};
    one_element(lo, &operands[1], &operands[3]);
    GpInst *inst = gp_build(&lo->b, GpOp_Scatter, operands, 4, NULL, 0);
    set_global(lo, call, 2, Use_Store, inst);
    return gp_lower_undef(lo, call->type);
}

GpVal gp_lower_GlobalAdd(GpLower *lo, const GpLowerCall *call) {
    GpValue *operands[4] = {gp_call_scalar(lo, call, 0), NULL, gp_call_scalar(lo, call, 1)};
    one_element(lo, &operands[1], &operands[3]);
    const GpIrType *t = operands[2]->type;
    GpInst *inst = gp_build(&lo->b, GpOp_AtomicRmw, operands, 4, &t, 1);
    inst->atomic = GpAtomic_Add;
    set_global(lo, call, 2, Use_Update, inst);
    return gp_call_result(lo, call, inst->results[0]);
}
