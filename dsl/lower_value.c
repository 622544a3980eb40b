/* Values as rows of leaves, the variables that own rows, and how many leaves of which IR type
** each type has. Invariant: a value of type t has exactly gp_lower_leaf_count(t) leaves. */
#include "dsl/lower.h"

enum { LEAVES_MAX = 1 << 10 }; /* elements that are IR values of their own */

bool gp_lower_elem(const GpType *t, GpElem *out) {
    if (t->kind == GpTy_Elem)
        *out = t->elem;
    else if (t->kind == GpTy_Usize)
        *out = GpElem_U64;
    else if (t->kind == GpTy_Isize)
        *out = GpElem_I64;
    else if (t->kind == GpTy_Char)
        *out = GpElem_U32;
    else
        return false;
    return true;
}

/* Views that are their tensor and the padding beyond it; the type says the rest. */
static bool is_raw_view(const GpType *t) {
    return gp_ty_is_lang(t, GpLang_GatherScatterView) || gp_ty_is_lang(t, GpLang_StridedView);
}

bool gp_lower_is_view(const GpType *t) {
    return gp_ty_is_lang(t, GpLang_Tensor) || gp_ty_is_lang(t, GpLang_Global) ||
           is_raw_view(t) || gp_lower_is_partition(t);
}

static bool is_handle(const GpType *t) {
    return gp_ty_is_lang(t, GpLang_Tile) || gp_ty_is_lang(t, GpLang_Tensor);
}

bool gp_lower_is_partition(const GpType *t) {
    return gp_ty_is_lang(t, GpLang_Partition) || gp_ty_is_lang(t, GpLang_PartitionMut) ||
           gp_ty_is_lang(t, GpLang_BoundedPartition) ||
           gp_ty_is_lang(t, GpLang_BoundedPartitionMut) ||
           gp_ty_is_lang(t, GpLang_MappedPartitionMut);
}

/* Numbers of tiles: a count, an index, what a schedule iterates over. */
static bool is_numbers(const GpType *t) {
    return gp_ty_is_lang(t, GpLang_Dim) || gp_ty_is_lang(t, GpLang_PartitionIndex) ||
           gp_ty_is_lang(t, GpLang_PartitionIndices) || gp_ty_is_lang(t, GpLang_Shape);
}

static uint32_t count_numbers(GpLower *lo, const GpType *t) {
    if (gp_ty_is_lang(t, GpLang_Dim))
        return 1;
    uint32_t rank = gp_lower_adt_shape(lo, t).rank;
    bool is_schedule = gp_ty_is_lang(t, GpLang_PartitionIndices);
    return is_schedule ? GP_SCHEDULE_LEAD + GP_SCHEDULE_PER_AXIS * rank : rank;
}

static bool is_pair(const GpType *t) { return gp_ty_is_lang(t, GpLang_DisjointSlice); }

static bool is_enum(const GpType *t) { return t->kind == GpTy_Adt && t->def->kind == GpDef_Enum; }

/* Tuples and the user's structs; what core declares has leaves of its own. */
static bool has_fields(const GpType *t) {
    return t->kind == GpTy_Tuple ||
           (t->kind == GpTy_Adt && t->def->kind == GpDef_Struct && t->def->lang == GpLang_None);
}

uint32_t gp_lower_field_count(const GpType *t) {
    return t->kind == GpTy_Tuple ? t->arg_count : t->kind == GpTy_Adt ? t->def->field_count : 0;
}

/* A field's declared type under the arguments of the type that holds it. */
static const GpType *subst_field(GpLower *lo, const GpType *owner, const GpType *field) {
    GpSubst s = {(const GpDef *const *)owner->def->generics, owner->args, owner->arg_count};
    return gp_lower_type(lo, gp_ty_subst(lo->types, field, &s));
}

const GpType *gp_lower_field_type(GpLower *lo, const GpType *t, uint32_t i) {
    if (t->kind == GpTy_Tuple)
        return t->args[i].type;
    gp_assert(t->kind == GpTy_Adt && i < t->def->field_count);
    return subst_field(lo, t, t->def->field_types[i]);
}

const GpType *gp_lower_variant_field(GpLower *lo, const GpType *t, const GpDef *variant,
                                     uint32_t i) {
    return subst_field(lo, t, variant->field_types[i]);
}

uint32_t gp_lower_field_at(GpLower *lo, const GpType *t, uint32_t i) {
    uint32_t off = 0;
    for (uint32_t k = 0; k < i; k++)
        off += gp_lower_leaf_count(lo, gp_lower_field_type(lo, t, k));
    return off;
}

static uint32_t count_variant(GpLower *lo, const GpType *t, const GpDef *variant) {
    uint32_t n = 0;
    for (uint32_t i = 0; i < variant->field_count; i++)
        n += gp_lower_leaf_count(lo, gp_lower_variant_field(lo, t, variant, i));
    return n;
}

uint32_t gp_lower_variant_at(GpLower *lo, const GpType *t, uint32_t variant) {
    uint32_t off = 1;
    for (uint32_t i = 0; i < variant; i++)
        off += count_variant(lo, t, t->def->items[i]);
    return off;
}

static uint32_t count_ref(GpLower *lo, const GpType *t) {
    return gp_lower_is_view(t->inner) ? gp_lower_leaf_count(lo, t->inner) : 2;
}

static uint32_t count_adt(GpLower *lo, const GpType *t) {
    if (is_handle(t) || gp_ty_is_lang(t, GpLang_ThreadIndex) || gp_ty_is_lang(t, GpLang_Global))
        return 1;
    if (is_pair(t) || is_raw_view(t))
        return 2;
    if (gp_lower_is_partition(t))
        return GP_VIEW_LEAD + GP_VIEW_PER_AXIS * (uint32_t)gp_lower_adt_shape(lo, t).rank;
    if (gp_ty_is_lang(t, GpLang_PointerTile))
        return 2;
    if (is_numbers(t))
        return count_numbers(lo, t);
    if (is_enum(t))
        return gp_lower_variant_at(lo, t, t->def->item_count);
    return gp_lower_field_at(lo, t, t->def->field_count);
}

uint32_t gp_lower_leaf_count(GpLower *lo, const GpType *t) {
    uint64_t n = 0;
    switch (t->kind) {
    case GpTy_Elem:
    case GpTy_Usize:
    case GpTy_Isize:
    case GpTy_Char:
    case GpTy_RawPtr:
        n = 1;
        break;
    case GpTy_Ref:
        n = count_ref(lo, t);
        break;
    case GpTy_Tuple:
        n = gp_lower_field_at(lo, t, t->arg_count);
        break;
    case GpTy_Array: {
        int64_t count = 0;
        if (!gp_const_value(t->count, &count) || count < 0)
            count = 0;
        n = (uint64_t)count * gp_lower_leaf_count(lo, t->inner);
        break;
    }
    case GpTy_Adt:
        n = count_adt(lo, t);
        break;
    case GpTy_Never:
    case GpTy_Error:
    case GpTy_FnItem:
    case GpTy_Closure:
    case GpTy_Str:
    case GpTy_Slice:
    case GpTy_Infer:
    case GpTy_Param:
    case GpTy_Assoc:
        break;
    }
    if (n <= LEAVES_MAX)
        return (uint32_t)n;
    gp_lower_refuse(lo, lo->b.span, "a value of more than %d elements", LEAVES_MAX);
    gp_throw(lo->module->session, GpStatus_Diagnostics); /* a limit: there is no row to go on with */
}

bool gp_lower_memory(GpLower *lo, const GpType *t, GpElem *elem, uint32_t *count) {
    uint64_t n = 1;
    while (t->kind == GpTy_Array) {
        int64_t k = 0;
        if (!gp_const_value(t->count, &k) || k < 0)
            return false;
        n *= (uint64_t)k;
        if (n > LEAVES_MAX)
            return false;
        t = t->inner;
    }
    (void)lo;
    *count = (uint32_t)n;
    return gp_lower_elem(t, elem);
}

GpShape gp_lower_shape(GpLower *lo, const GpShapeTy *sh) {
    GpShape out = {.rank = 0};
    sh = gp_shape_subst(lo->types, sh, &lo->frame->subst);
    if (sh->kind != GpShape_List)
        return out;
    out.rank = sh->rank;
    for (int i = 0; i < sh->rank; i++)
        if (!gp_const_value(sh->dim[i], &out.dim[i]))
            out.dim[i] = GP_DYNAMIC;
    return out;
}

GpShape gp_lower_adt_shape(GpLower *lo, const GpType *t) {
    for (uint32_t i = 0; i < t->arg_count; i++)
        if (t->args[i].kind == GpGArg_Shape)
            return gp_lower_shape(lo, t->args[i].shape);
    return (GpShape){.rank = 0};
}

GpElem gp_lower_adt_elem(const GpType *t) {
    GpElem elem = GpElem_F32;
    for (uint32_t i = 0; i < t->arg_count; i++)
        if (t->args[i].kind == GpGArg_Type && gp_lower_elem(t->args[i].type, &elem))
            break;
    return elem;
}

/* ---- IR types of leaves ------------------------------------------------------------------ */

static const GpIrType *bool_type(GpLower *lo) { return gp_ir_scalar(lo->fn, GpElem_Bool); }

enum { TILE_MAX = 1 << 20 };

static void check_extents(GpLower *lo, const GpType *t, GpShape *shape) {
    int64_t count;
    bool is_positive = true;
    for (int i = 0; i < shape->rank; i++)
        is_positive &= shape->dim[i] > 0;
    if (is_positive && gp_shape_numel(shape, &count) && count <= TILE_MAX)
        return;
    lo->has_failed = true;
    if (!lo->has_refused_tile) { /* others are computed from such a tile */
        lo->has_refused_tile = true;
        GpDiag *d = gp_diag(lo->diags, GpDiag_G0254, lo->b.span, gp_ty_name(lo->arena, t));
        if (is_positive)
            gp_primary_label(d, "a tile holds at most %d elements", TILE_MAX);
        else
            gp_primary_label(d, "every extent of a tile is a positive constant");
    }
    for (int i = 0; i < shape->rank; i++)
        shape->dim[i] = 1;
}

static const GpIrType *handle_type(GpLower *lo, const GpType *t) {
    GpShape shape = gp_lower_adt_shape(lo, t);
    if (gp_ty_is_lang(t, GpLang_Tile))
        check_extents(lo, t, &shape);
    if (gp_ty_is_lang(t, GpLang_Tile))
        return gp_ir_tile(lo->fn, gp_lower_adt_elem(t), &shape);
    return gp_ir_tensor(lo->fn, gp_lower_adt_elem(t), &shape);
}

static const GpIrType *ptr_type(GpLower *lo, const GpType *inner) {
    GpElem elem;
    while (inner->kind == GpTy_Array || inner->kind == GpTy_Slice)
        inner = inner->inner;
    if (!gp_lower_elem(inner, &elem))
        elem = GpElem_U8;
    return gp_ir_ptr(lo->fn, elem, GpSpace_Global);
}

static const GpIrType *ref_leaf(GpLower *lo, const GpType *t, uint32_t k) {
    if (gp_lower_is_view(t->inner))
        return gp_lower_leaf_type(lo, t->inner, k);
    if (k == 0)
        return ptr_type(lo, t->inner);
    bool is_slice = t->inner->kind == GpTy_Slice || t->inner->kind == GpTy_Str;
    return gp_ir_scalar(lo->fn, is_slice ? GpElem_U64 : GpElem_Bool);
}

/* The field that leaf k is in, which becomes the leaf of it; of an enum, k is not the tag. */
static const GpType *field_with(GpLower *lo, const GpType *t, uint32_t *k) {
    uint32_t variants = is_enum(t) ? t->def->item_count : 1;
    *k -= is_enum(t);
    for (uint32_t v = 0; v < variants; v++) {
        const GpDef *variant = is_enum(t) ? t->def->items[v] : NULL;
        uint32_t count = variant ? variant->field_count : gp_lower_field_count(t);
        for (uint32_t i = 0; i < count; i++) {
            const GpType *f = variant ? gp_lower_variant_field(lo, t, variant, i)
                                      : gp_lower_field_type(lo, t, i);
            uint32_t n = gp_lower_leaf_count(lo, f);
            if (*k < n)
                return f;
            *k -= n;
        }
    }
    gp_unreachable();
}

static const GpIrType *field_leaf(GpLower *lo, const GpType *t, uint32_t k) {
    if (is_enum(t) && k == 0)
        return gp_ty_is_lang(t, GpLang_Option) ? bool_type(lo) : gp_ir_scalar(lo->fn, GpElem_I32);
    const GpType *f = field_with(lo, t, &k);
    return gp_lower_leaf_type(lo, f, k);
}

uint32_t gp_lower_view_form(GpLower *lo, const GpType *t, uint32_t k) {
    for (;;) {
        if (t->kind == GpTy_Ref && gp_lower_is_view(t->inner)) {
            t = t->inner;
        } else if (gp_lower_is_partition(t)) {
            bool is_order = k >= GP_VIEW_LEAD && (k - GP_VIEW_LEAD) % GP_VIEW_PER_AXIS == 2;
            return is_order ? GP_VIEW_LEAD + (k - GP_VIEW_LEAD) / GP_VIEW_PER_AXIS : k == 1;
        } else if (t->kind == GpTy_Array) {
            t = t->inner;
            k %= gp_lower_leaf_count(lo, t);
        } else if (is_enum(t) ? k > 0 : has_fields(t)) {
            t = field_with(lo, t, &k);
        } else {
            return 0;
        }
    }
}

/* The tensor; the padding value; then numbers of each axis. */
static const GpIrType *partition_leaf(GpLower *lo, const GpType *t, uint32_t k) {
    if (k == 0)
        return handle_type(lo, t);
    return gp_ir_scalar(lo->fn, k == 1 ? gp_lower_adt_elem(t) : GpElem_I32);
}

/* The address that offsets count from; the offsets. */
static const GpIrType *pointers_leaf(GpLower *lo, const GpType *t, uint32_t k) {
    GpShape shape = gp_lower_adt_shape(lo, t);
    const GpType *ptr = t->args[0].type;
    if (k == 0)
        return ptr_type(lo, ptr->kind == GpTy_RawPtr ? ptr->inner : ptr);
    check_extents(lo, t, &shape);
    return gp_ir_tile(lo->fn, GpElem_I64, &shape);
}

static const GpIrType *adt_leaf(GpLower *lo, const GpType *t, uint32_t k) {
    if (gp_lower_is_partition(t) || is_raw_view(t))
        return partition_leaf(lo, t, k);
    if (gp_ty_is_lang(t, GpLang_PointerTile))
        return pointers_leaf(lo, t, k);
    if (is_handle(t))
        return handle_type(lo, t);
    if (gp_ty_is_lang(t, GpLang_Global))
        return gp_ir_ptr(lo->fn, GpElem_U8, GpSpace_Global); /* the value says which element */
    if (gp_ty_is_lang(t, GpLang_ThreadIndex))
        return gp_ir_scalar(lo->fn, GpElem_U64);
    if (is_numbers(t))
        return gp_ir_scalar(lo->fn, GpElem_I32);
    if (is_pair(t))
        return k ? gp_ir_scalar(lo->fn, GpElem_U64) : ptr_type(lo, t->args[0].type);
    return field_leaf(lo, t, k);
}

const GpIrType *gp_lower_leaf_type(GpLower *lo, const GpType *t, uint32_t k) {
    GpElem elem;
    switch (t->kind) {
    case GpTy_Elem:
    case GpTy_Usize:
    case GpTy_Isize:
    case GpTy_Char:
        gp_lower_elem(t, &elem);
        return gp_ir_scalar(lo->fn, elem);
    case GpTy_RawPtr:
        return ptr_type(lo, t->inner);
    case GpTy_Ref:
        return ref_leaf(lo, t, k);
    case GpTy_Tuple:
        return field_leaf(lo, t, k);
    case GpTy_Array:
        return gp_lower_leaf_type(lo, t->inner, k % gp_lower_leaf_count(lo, t->inner));
    case GpTy_Adt:
        return adt_leaf(lo, t, k);
    case GpTy_Never:
    case GpTy_Error:
    case GpTy_FnItem:
    case GpTy_Closure:
    case GpTy_Str:
    case GpTy_Slice:
    case GpTy_Infer:
    case GpTy_Param:
    case GpTy_Assoc:
        break;
    }
    gp_unreachable();
}

/* ---- Values ------------------------------------------------------------------------------ */

GpVal gp_lower_undef(GpLower *lo, const GpType *t) {
    uint32_t n = gp_lower_leaf_count(lo, t);
    return (GpVal){t, GP_NEW_ARRAY(lo->arena, GpLeaf, n), n};
}

GpVal gp_lower_unit(GpLower *lo) { return gp_lower_undef(lo, gp_ty_unit(lo->types)); }

GpVal gp_lower_one(GpLower *lo, const GpType *t, GpValue *v) {
    GpVal out = {t, GP_NEW(lo->arena, GpLeaf), 1};
    out.at[0].value = v;
    return out;
}

GpVal gp_lower_part(const GpVal *v, const GpType *t, uint32_t off, uint32_t count) {
    gp_assert(off + count <= v->count);
    return (GpVal){t, v->at + off, count};
}

/* An address of the type must come from somewhere: the parameter it would be derived from. */
static GpValue *any_address(GpLower *lo, const GpIrType *t) {
    for (uint32_t i = 0; i < lo->fn->body->param_count; i++)
        if (lo->fn->body->params[i]->type == t)
            return lo->fn->body->params[i];
    if (lo->fn->track == GpTrack_Simt && t->kind == GpIrType_Ptr && t->space == GpSpace_Local) {
        GpInst *slot = gp_build(&lo->b, GpOp_Slot, NULL, 0, &t, 1);
        slot->imm = (GpScalar){.elem = GpElem_I64, .i = 1};
        return slot->results[0];
    }
    if (!lo->is_dead)
        gp_lower_refuse(lo, lo->b.span, "a reference that may be unset");
    return NULL;
}

GpValue *gp_lower_any(GpLower *lo, const GpIrType *t) {
    if (t->kind == GpIrType_Ptr || t->kind == GpIrType_Tensor)
        return any_address(lo, t);
    GpScalar zero = {.elem = t->elem};
    if (gp_elem_is_float(t->elem))
        zero.f = 0.0;
    else
        zero.u = t->elem == GpElem_Bool; /* true: the second leaf of an unset reference */
    return gp_build_const(&lo->b, t, zero);
}

GpValue *gp_lower_get(GpLower *lo, const GpVal *v, uint32_t k) {
    gp_assert(k < v->count);
    if (v->at[k].value)
        return v->at[k].value;
    if (v->at[k].alias)
        gp_lower_refuse(lo, lo->b.span, "the address of a variable here");
    GpValue *any = gp_lower_any(lo, gp_lower_leaf_type(lo, v->type, k));
    return any ? any : gp_build_int(&lo->b, GpElem_U64, 0);
}

GpValue *gp_lower_resolve(GpValue *v) {
    while (v && v->forward)
        v = v->forward;
    return v;
}

bool gp_lower_same_leaf(const GpLeaf *a, const GpLeaf *b) {
    return gp_lower_resolve(a->value) == gp_lower_resolve(b->value) && a->alias == b->alias &&
           a->off == b->off;
}

/* ---- Variables --------------------------------------------------------------------------- */

/* Slots stand at the start of the function, so that a loop does not make one per turn. */
static GpValue *build_slot(GpLower *lo, GpElem elem, uint32_t count) {
    GpBuilder b = {lo->fn, lo->fn->body, lo->fn->body->first, lo->b.span};
    const GpIrType *t = gp_ir_ptr(lo->fn, elem, GpSpace_Local);
    GpInst *slot = gp_build(&b, GpOp_Slot, NULL, 0, &t, 1);
    slot->imm = (GpScalar){.elem = GpElem_I64, .i = count ? count : 1};
    return slot->results[0];
}

GpVar *gp_lower_add_var(GpLower *lo, const GpLocal *local, const GpType *type, bool has_memory) {
    GpVar *var = GP_NEW(lo->arena, GpVar);
    *var = (GpVar){.local = local, .type = type, .base = lo->leaves.len, .has_memory = has_memory};
    var->depth = lo->region_depth;
    var->count = has_memory ? 1 : gp_lower_leaf_count(lo, type);
    for (uint32_t i = 0; i < var->count; i++)
        GP_PUSH(lo->arena, &lo->leaves, (GpLeaf){0});
    GP_PUSH(lo->arena, &lo->live, var);
    if (local)
        gp_map_set(lo->arena, &lo->by_local, local, var);
    if (has_memory) {
        GpElem elem = GpElem_U8;
        uint32_t count = 0;
        gp_lower_memory(lo, type, &elem, &count);
        lo->leaves.at[var->base].value = build_slot(lo, elem, count);
    }
    return var;
}

GpVar *gp_lower_find_var(GpLower *lo, const GpLocal *local) {
    return gp_map_get(&lo->by_local, local);
}

GpLeaf *gp_lower_row(GpLower *lo, const GpVar *var) {
    GpLeaf *first = var->last ? var->last : lo->leaves.at;
    return var->last || !first ? first : first + var->base;
}

GpLowerScope gp_lower_open_scope(GpLower *lo) {
    return (GpLowerScope){lo->live.len, lo->leaves.len};
}

void gp_lower_close_scope(GpLower *lo, GpLowerScope scope) {
    for (uint32_t i = scope.live; i < lo->live.len; i++) {
        GpVar *var = lo->live.at[i];
        GpLeaf *row = GP_NEW_ARRAY(lo->arena, GpLeaf, var->count);
        if (var->count)
            memcpy(row, gp_lower_row(lo, var), var->count * sizeof *row);
        var->last = row;
    }
    lo->live.len = scope.live;
    lo->leaves.len = scope.leaves;
}
