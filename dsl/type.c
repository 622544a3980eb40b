/* The type table: hash-consing of types and shapes. Equal types are one pointer, so that
** equality anywhere else is `==`. Constants are in poly.c. */
#include "dsl/type_table.h"

#include "dsl/def.h"

static struct GpPoolSlot *find_slot(const GpPool *pool, uint32_t hash, const void *key,
                                    bool (*same)(const void *a, const void *b)) {
    uint32_t i = hash & (pool->cap - 1);
    for (; pool->slots[i].item; i = (i + 1) & (pool->cap - 1)) {
        if (pool->slots[i].hash == hash && same && same(pool->slots[i].item, key))
            break;
    }
    return &pool->slots[i];
}

static void grow_pool(GpArena *arena, GpPool *pool) {
    GpPool wider = {.count = pool->count, .cap = pool->cap ? pool->cap * 2 : 64};
    wider.slots = GP_NEW_ARRAY(arena, struct GpPoolSlot, wider.cap);
    for (uint32_t i = 0; i < pool->cap; i++) {
        if (pool->slots[i].item)
            *find_slot(&wider, pool->slots[i].hash, NULL, NULL) = pool->slots[i];
    }
    *pool = wider;
}

const void *gp_pool_intern(GpTypes *ts, GpPool *pool, uint32_t hash, const void *key,
                           bool (*same)(const void *a, const void *b),
                           const void *(*copy)(GpTypes *ts, const void *key)) {
    if (pool->count >= pool->cap / 2)
        grow_pool(ts->arena, pool);
    struct GpPoolSlot *slot = find_slot(pool, hash, key, same);
    if (!slot->item) {
        *slot = (struct GpPoolSlot){copy(ts, key), hash};
        pool->count++;
    }
    return slot->item;
}

GpTypes *gp_types_make(GpArena *arena) {
    GpTypes *ts = GP_NEW(arena, GpTypes);
    ts->arena = arena;
    return ts;
}

/* ---- generic arguments -------------------------------------------------------------------- */

static const void *garg_key(GpGArg a) {
    switch (a.kind) {
    case GpGArg_Type:
        return a.type;
    case GpGArg_Const:
        return a.value;
    case GpGArg_Shape:
        return a.shape;
    }
    gp_unreachable();
}

static bool garg_eq(GpGArg a, GpGArg b) { return a.kind == b.kind && garg_key(a) == garg_key(b); }

static bool shape_has_infer(const GpShapeTy *sh) {
    if (sh->kind == GpShape_Infer)
        return true;
    for (uint8_t i = 0; i < sh->rank; i++) {
        if (gp_const_has_infer(sh->dim[i]))
            return true;
    }
    return false;
}

static bool shape_has_param(const GpShapeTy *sh) {
    if (sh->kind == GpShape_Param)
        return true;
    for (uint8_t i = 0; i < sh->rank; i++) {
        if (gp_const_has_param(sh->dim[i]))
            return true;
    }
    return false;
}

bool gp_garg_has_infer(GpGArg a) {
    switch (a.kind) {
    case GpGArg_Type:
        return a.type->has_infer;
    case GpGArg_Const:
        return gp_const_has_infer(a.value);
    case GpGArg_Shape:
        return shape_has_infer(a.shape);
    }
    gp_unreachable();
}

static bool garg_has_param(GpGArg a) {
    switch (a.kind) {
    case GpGArg_Type:
        return a.type->has_param;
    case GpGArg_Const:
        return gp_const_has_param(a.value);
    case GpGArg_Shape:
        return shape_has_param(a.shape);
    }
    gp_unreachable();
}

/* ---- types ---------------------------------------------------------------------------------- */

static uint32_t hash_ptr(const void *p, uint32_t seed) { return gp_hash_u64((uintptr_t)p, seed); }

static uint32_t hash_type(const GpType *t) {
    uint32_t h =
        gp_hash_u64((uint64_t)t->kind | (uint64_t)t->elem << 8 | (uint64_t)t->is_mut << 16 |
                        (uint64_t)t->infer << 20 | (uint64_t)t->var << 32,
                    1);
    h = hash_ptr(t->inner, h);
    h = hash_ptr(t->count, h);
    h = hash_ptr(t->def, h);
    h = hash_ptr(t->node, h);
    for (uint32_t i = 0; i < t->arg_count; i++)
        h = hash_ptr(garg_key(t->args[i]), h);
    return h;
}

static bool same_type(const void *x, const void *y) {
    const GpType *a = x, *b = y;
    if (a->kind != b->kind || a->elem != b->elem || a->is_mut != b->is_mut ||
        a->infer != b->infer || a->var != b->var || a->inner != b->inner || a->count != b->count ||
        a->def != b->def || a->node != b->node || a->arg_count != b->arg_count)
        return false;
    for (uint32_t i = 0; i < a->arg_count; i++) {
        if (!garg_eq(a->args[i], b->args[i]))
            return false;
    }
    return true;
}

static const void *copy_type(GpTypes *ts, const void *key) {
    GpType *t = GP_NEW(ts->arena, GpType);
    *t = *(const GpType *)key;
    GpGArg *args = GP_NEW_ARRAY(ts->arena, GpGArg, t->arg_count);
    if (t->inner) {
        t->has_infer = t->inner->has_infer;
        t->has_param = t->inner->has_param;
    }
    if (t->count) {
        t->has_infer |= gp_const_has_infer(t->count);
        t->has_param |= gp_const_has_param(t->count);
    }
    for (uint32_t i = 0; i < t->arg_count; i++) {
        args[i] = t->args[i];
        t->has_infer |= gp_garg_has_infer(args[i]);
        t->has_param |= garg_has_param(args[i]);
    }
    t->args = args;
    t->has_infer |= t->kind == GpTy_Infer;
    /* A projection is replaced by what it is wherever generics are. */
    t->has_param |= t->kind == GpTy_Param || t->kind == GpTy_Assoc;
    return t;
}

static const GpType *intern_type(GpTypes *ts, GpType key) {
    return gp_pool_intern(ts, &ts->types, hash_type(&key), &key, same_type, copy_type);
}

const GpType *gp_ty_error(GpTypes *ts) { return intern_type(ts, (GpType){.kind = GpTy_Error}); }
const GpType *gp_ty_never(GpTypes *ts) { return intern_type(ts, (GpType){.kind = GpTy_Never}); }
const GpType *gp_ty_unit(GpTypes *ts) { return intern_type(ts, (GpType){.kind = GpTy_Tuple}); }
const GpType *gp_ty_usize(GpTypes *ts) { return intern_type(ts, (GpType){.kind = GpTy_Usize}); }
const GpType *gp_ty_isize(GpTypes *ts) { return intern_type(ts, (GpType){.kind = GpTy_Isize}); }
const GpType *gp_ty_char(GpTypes *ts) { return intern_type(ts, (GpType){.kind = GpTy_Char}); }
const GpType *gp_ty_str(GpTypes *ts) { return intern_type(ts, (GpType){.kind = GpTy_Str}); }

const GpType *gp_ty_elem(GpTypes *ts, GpElem elem) {
    return intern_type(ts, (GpType){.kind = GpTy_Elem, .elem = elem});
}

const GpType *gp_ty_tuple(GpTypes *ts, const GpType *const *items, uint32_t count) {
    GpGArg few[8];
    GpGArg *args = count <= GP_COUNT(few) ? few : GP_NEW_ARRAY(ts->arena, GpGArg, count);
    for (uint32_t i = 0; i < count; i++)
        args[i] = (GpGArg){GpGArg_Type, {.type = items[i]}};
    return intern_type(ts, (GpType){.kind = GpTy_Tuple, .args = args, .arg_count = count});
}

const GpType *gp_ty_array(GpTypes *ts, const GpType *inner, const GpConst *count) {
    return intern_type(ts, (GpType){.kind = GpTy_Array, .inner = inner, .count = count});
}

const GpType *gp_ty_slice(GpTypes *ts, const GpType *inner) {
    return intern_type(ts, (GpType){.kind = GpTy_Slice, .inner = inner});
}

const GpType *gp_ty_ref(GpTypes *ts, const GpType *inner, bool is_mut) {
    return intern_type(ts, (GpType){.kind = GpTy_Ref, .inner = inner, .is_mut = is_mut});
}

const GpType *gp_ty_ptr(GpTypes *ts, const GpType *inner, bool is_mut) {
    return intern_type(ts, (GpType){.kind = GpTy_RawPtr, .inner = inner, .is_mut = is_mut});
}

const GpType *gp_ty_adt(GpTypes *ts, const GpDef *def, const GpGArg *args, uint32_t count) {
    return intern_type(ts,
                       (GpType){.kind = GpTy_Adt, .def = def, .args = args, .arg_count = count});
}

const GpType *gp_ty_param(GpTypes *ts, const GpDef *def) {
    return intern_type(ts, (GpType){.kind = GpTy_Param, .def = def});
}

const GpType *gp_ty_fn(GpTypes *ts, const GpDef *def, const GpGArg *args, uint32_t count) {
    return intern_type(ts,
                       (GpType){.kind = GpTy_FnItem, .def = def, .args = args, .arg_count = count});
}

const GpType *gp_ty_closure(GpTypes *ts, const GpNode *node) {
    return intern_type(ts, (GpType){.kind = GpTy_Closure, .node = node});
}

const GpType *gp_ty_assoc(GpTypes *ts, const GpType *self, const GpDef *assoc,
                          const GpGArg *trait_args, uint32_t count) {
    return intern_type(ts, (GpType){.kind = GpTy_Assoc,
                                    .inner = self,
                                    .def = assoc,
                                    .args = trait_args,
                                    .arg_count = count});
}

const GpType *gp_ty_var(GpTypes *ts, GpInferClass cls, uint32_t var) {
    return intern_type(ts, (GpType){.kind = GpTy_Infer, .infer = cls, .var = var});
}

/* ---- shapes --------------------------------------------------------------------------------- */

static uint32_t hash_shape(const GpShapeTy *sh) {
    uint32_t h =
        gp_hash_u64((uint64_t)sh->kind | (uint64_t)sh->rank << 8 | (uint64_t)sh->var << 32, 2);
    h = hash_ptr(sh->param, h);
    for (uint8_t i = 0; i < sh->rank; i++)
        h = hash_ptr(sh->dim[i], h);
    return h;
}

static bool same_shape(const void *x, const void *y) {
    const GpShapeTy *a = x, *b = y;
    if (a->kind != b->kind || a->rank != b->rank || a->param != b->param || a->var != b->var)
        return false;
    for (uint8_t i = 0; i < a->rank; i++) {
        if (a->dim[i] != b->dim[i])
            return false;
    }
    return true;
}

static const void *copy_shape(GpTypes *ts, const void *key) {
    GpShapeTy *sh = GP_NEW(ts->arena, GpShapeTy);
    *sh = *(const GpShapeTy *)key;
    return sh;
}

static const GpShapeTy *intern_shape(GpTypes *ts, GpShapeTy key) {
    return gp_pool_intern(ts, &ts->shapes, hash_shape(&key), &key, same_shape, copy_shape);
}

/* The atom that a constant is, alone and once. */
static bool find_bare_atom(const GpConst *c, GpAtom *out) {
    if (c->kind != GpConst_Poly || c->term_count != 1 || c->terms[0].factor != 1 ||
        c->terms[0].atom_count != 1)
        return false;
    *out = c->terms[0].atoms[0];
    return out->param != NULL;
}

/* [S[0], S[1]] is S when S has two extents: the whole generic is its normal form. */
static const GpDef *find_whole_param(const GpConst *const *dims, uint8_t rank) {
    GpAtom first;
    int64_t len;
    if (rank == 0 || !find_bare_atom(dims[0], &first) || first.index != 0)
        return NULL;
    const GpType *type = first.param->const_type;
    if (!type || type->kind != GpTy_Array || !gp_const_value(type->count, &len) || len != rank)
        return NULL;
    for (uint8_t i = 1; i < rank; i++) {
        GpAtom atom;
        if (!find_bare_atom(dims[i], &atom) || atom.param != first.param || atom.index != i)
            return NULL;
    }
    return first.param;
}

const GpShapeTy *gp_shape_list(GpTypes *ts, const GpConst *const *dims, uint8_t rank) {
    gp_assert(rank <= GP_MAX_RANK);
    const GpDef *whole = find_whole_param(dims, rank);
    if (whole)
        return gp_shape_param(ts, whole);
    GpShapeTy key = {.kind = GpShape_List, .rank = rank};
    for (uint8_t i = 0; i < rank; i++)
        key.dim[i] = dims[i];
    return intern_shape(ts, key);
}

const GpShapeTy *gp_shape_param(GpTypes *ts, const GpDef *param) {
    return intern_shape(ts, (GpShapeTy){.kind = GpShape_Param, .param = param});
}

const GpShapeTy *gp_shape_var(GpTypes *ts, uint32_t var) {
    return intern_shape(ts, (GpShapeTy){.kind = GpShape_Infer, .var = var});
}

const GpShapeTy *gp_shape_error(GpTypes *ts) {
    return intern_shape(ts, (GpShapeTy){.kind = GpShape_Error});
}
