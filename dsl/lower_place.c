/* Places: what can be read, written, borrowed, indexed and taken apart. */
#include "dsl/lower.h"

GpSpot gp_spot_value(GpVal v) { return (GpSpot){.kind = GpSpot_Value, .type = v.type, .val = v}; }

GpSpot gp_spot_var(GpLower *lo, GpVar *var) {
    if (var->has_memory)
        return (GpSpot){
            .kind = GpSpot_Memory, .type = var->type, .address = gp_lower_row(lo, var)->value};
    return (GpSpot){.kind = GpSpot_Var, .type = var->type, .var = var};
}

static GpValue *offset_address(GpLower *lo, GpValue *address, uint64_t count) {
    if (!count)
        return address;
    GpValue *n = gp_build_int(&lo->b, GpElem_U64, (int64_t)count);
    return gp_build2(&lo->b, GpOp_PtrAdd, address, n);
}

static GpValue *load(GpLower *lo, GpValue *address, GpValue *mask) {
    const GpIrType *t = gp_ir_scalar(lo->fn, address->type->elem);
    GpValue *operands[2] = {address, mask};
    return gp_build(&lo->b, GpOp_Load, operands, mask ? 2 : 1, &t, 1)->results[0];
}

static void store(GpLower *lo, GpValue *address, GpValue *v, GpValue *mask) {
    GpValue *operands[3] = {address, v, mask};
    gp_build(&lo->b, GpOp_Store, operands, mask ? 3 : 2, NULL, 0);
}

/* ---- Elements of arrays without memory, chosen by comparison -------------------------------- */

static GpValue *choose(GpLower *lo, GpValue *cond, GpValue *x, GpValue *y) {
    if (x == y)
        return x;
    if (x->type->kind == GpIrType_Tile) {
        GpShape shape = x->type->shape;
        cond = gp_lower_splat(lo, cond, GpElem_Bool, &shape);
    } else if (x->type->kind != GpIrType_Scalar) {
        gp_lower_refuse(lo, lo->b.span, "an index that chooses between tensors or references");
        return x;
    }
    return gp_build_select(&lo->b, cond, x, y);
}

static GpValue *is_element(GpLower *lo, const GpSpot *s, uint32_t i) {
    GpValue *k = gp_build_int(&lo->b, GpElem_U64, i);
    return gp_build_cmp(&lo->b, GpPred_Eq, s->index, k);
}

static GpVal var_row(GpLower *lo, const GpSpot *s) {
    GpVal row = gp_lower_undef(lo, s->var->type);
    if (row.count)
        memcpy(row.at, gp_lower_row(lo, s->var), row.count * sizeof(GpLeaf));
    return row;
}

static GpVal read_element(GpLower *lo, const GpSpot *s) {
    GpVal out = gp_lower_undef(lo, s->type), row = var_row(lo, s);
    for (uint32_t k = 0; k < out.count && s->extent; k++) {
        GpValue *v = gp_lower_get(lo, &row, s->off + s->sub + k);
        for (uint32_t i = 1; i < s->extent; i++) {
            GpValue *other = gp_lower_get(lo, &row, s->off + i * s->stride + s->sub + k);
            v = choose(lo, is_element(lo, s, i), other, v);
        }
        if (s->mask && v->type->kind != GpIrType_Ptr) {
            GpScalar zero = {.elem = v->type->elem};
            v = choose(lo, s->mask, v, gp_build_const(&lo->b, v->type, zero));
        }
        out.at[k].value = v;
    }
    return out;
}

static void write_element(GpLower *lo, const GpSpot *s, GpVal v) {
    GpVal row = var_row(lo, s);
    for (uint32_t i = 0; i < s->extent; i++) {
        GpValue *here = gp_lower_both(lo, is_element(lo, s, i), s->mask);
        for (uint32_t k = 0; k < v.count; k++) {
            uint32_t at = s->off + i * s->stride + s->sub + k;
            GpValue *old = gp_lower_get(lo, &row, at);
            GpValue *now = choose(lo, here, gp_lower_get(lo, &v, k), old);
            gp_lower_row(lo, s->var)[at] = (GpLeaf){.value = now};
        }
    }
}

/* ---- Reading and writing --------------------------------------------------------------------- */

static GpVal read_memory(GpLower *lo, const GpSpot *s) {
    GpVal out = gp_lower_undef(lo, s->type);
    for (uint32_t i = 0; i < out.count; i++)
        out.at[i].value = load(lo, offset_address(lo, s->address, i), s->mask);
    return out;
}

GpVal gp_spot_read(GpLower *lo, const GpSpot *s, GpSpan span) {
    switch (s->kind) {
    case GpSpot_Value:
        return s->val;
    case GpSpot_Var: {
        GpVal row = var_row(lo, s);
        return gp_lower_part(&row, s->type, s->off, gp_lower_leaf_count(lo, s->type));
    }
    case GpSpot_Memory:
        return read_memory(lo, s);
    case GpSpot_Elem:
        return read_element(lo, s);
    case GpSpot_Slice:
        break;
    }
    gp_lower_refuse(lo, span, "a slice as a value");
    return gp_lower_undef(lo, gp_ty_error(lo->types));
}

void gp_spot_write(GpLower *lo, const GpSpot *s, GpVal v, GpSpan span) {
    switch (s->kind) {
    case GpSpot_Var: {
        gp_assert(s->off + v.count <= s->var->count);
        if (v.count)
            memmove(gp_lower_row(lo, s->var) + s->off, v.at, v.count * sizeof *v.at);
        return;
    }
    case GpSpot_Memory:
        for (uint32_t i = 0; i < v.count; i++) {
            GpValue *address = offset_address(lo, s->address, i);
            store(lo, address, gp_lower_get(lo, &v, i), s->mask);
        }
        return;
    case GpSpot_Elem:
        write_element(lo, s, v);
        return;
    case GpSpot_Value:
        return; /* to a temporary that nothing reads */
    case GpSpot_Slice:
        break;
    }
    gp_lower_refuse(lo, span, "assigning a whole slice");
}

/* ---- Borrowing and following ----------------------------------------------------------------- */

static GpVar *spill(GpLower *lo, GpVal v) {
    GpVar *var = gp_lower_add_var(lo, NULL, v.type, false);
    if (v.count)
        memcpy(gp_lower_row(lo, var), v.at, v.count * sizeof(GpLeaf));
    return var;
}

GpVal gp_spot_borrow(GpLower *lo, const GpSpot *s, const GpType *ref, GpSpan span) {
    if (s->kind == GpSpot_Slice) {
        GpVal v = s->val;
        v.type = ref;
        return v;
    }
    if (gp_lower_is_view(s->type)) {
        GpVal v = gp_spot_read(lo, s, span);
        v.type = ref;
        return v;
    }
    GpVal out = gp_lower_undef(lo, ref);
    if (out.count != 2)
        return out; /* an error, reported before */
    switch (s->kind) {
    case GpSpot_Var:
        out.at[0] = (GpLeaf){.alias = s->var, .off = s->off};
        break;
    case GpSpot_Value:
        out.at[0].alias = spill(lo, s->val);
        break;
    case GpSpot_Memory:
        out.at[0].value = s->address;
        out.at[1].value = s->mask;
        break;
    case GpSpot_Elem:
        if (ref->is_mut)
            gp_lower_refuse(lo, span, "a mutable reference to an element chosen at run time");
        out.at[0].alias = spill(lo, read_element(lo, s));
        break;
    case GpSpot_Slice:
        gp_unreachable();
    }
    return out;
}

static GpValue *known_mask(const GpLeaf *leaf) {
    GpScalar v;
    GpValue *mask = gp_lower_resolve(leaf->value);
    return mask && gp_ir_const(mask, &v) && v.u ? NULL : mask;
}

GpSpot gp_spot_deref(GpLower *lo, GpVal ref, GpSpan span) {
    const GpType *inner = ref.type->inner;
    if (ref.type->kind != GpTy_Ref && ref.type->kind != GpTy_RawPtr)
        return gp_spot_value(gp_lower_undef(lo, gp_ty_error(lo->types)));
    if (gp_lower_is_view(inner))
        return gp_spot_value(gp_lower_part(&ref, inner, 0, ref.count));
    if (inner->kind == GpTy_Slice || inner->kind == GpTy_Str)
        return (GpSpot){.kind = GpSpot_Slice, .type = inner, .val = ref};
    if (ref.at[0].alias)
        return (GpSpot){
            .kind = GpSpot_Var, .type = inner, .var = ref.at[0].alias, .off = ref.at[0].off};
    GpElem elem;
    uint32_t count;
    GpSpot s = {.kind = GpSpot_Memory, .type = inner};
    if (!gp_lower_memory(lo, inner, &elem, &count)) {
        if (!lo->is_dead)
            gp_lower_refuse(lo, span, "a reference to `%s` in memory",
                            gp_ty_name(lo->arena, inner));
        return gp_spot_value(gp_lower_undef(lo, inner));
    }
    s.address = gp_lower_get(lo, &ref, 0);
    s.mask = ref.count > 1 ? known_mask(&ref.at[1]) : NULL;
    return s;
}

GpSpot gp_spot_auto_deref(GpLower *lo, GpSpot s, GpSpan span) {
    while (s.type->kind == GpTy_Ref)
        s = gp_spot_deref(lo, gp_spot_read(lo, &s, span), span);
    return s;
}

GpSpot gp_spot_part(GpLower *lo, const GpSpot *s, const GpType *type, uint32_t off, GpSpan span) {
    GpSpot out = *s;
    out.type = type;
    switch (s->kind) {
    case GpSpot_Value:
        out.val = gp_lower_part(&s->val, type, off, gp_lower_leaf_count(lo, type));
        return out;
    case GpSpot_Var:
        out.off += off;
        return out;
    case GpSpot_Memory:
        out.address = offset_address(lo, s->address, off);
        return out;
    case GpSpot_Elem:
        out.sub += off;
        return out;
    case GpSpot_Slice:
        break;
    }
    gp_lower_refuse(lo, span, "a part of a slice");
    return gp_spot_value(gp_lower_undef(lo, type));
}

/* ---- Indexing -------------------------------------------------------------------------------- */

/* The element type and count of what can be indexed; count UINT32_MAX: known only at run time. */
static const GpType *element_type(GpLower *lo, const GpType *t, uint32_t *count) {
    *count = UINT32_MAX;
    if (gp_ty_is_lang(t, GpLang_Shape)) {
        *count = gp_lower_leaf_count(lo, t);
        return gp_ty_elem(lo->types, GpElem_I32);
    }
    if (t->kind == GpTy_Array) {
        int64_t n = 0;
        if (gp_const_value(t->count, &n) && n >= 0 && n < UINT32_MAX)
            *count = (uint32_t)n;
        return t->inner;
    }
    return t->kind == GpTy_Slice ? t->inner : NULL;
}

GpValue *gp_spot_len(GpLower *lo, const GpSpot *s) {
    uint32_t count;
    element_type(lo, s->type, &count);
    if (s->kind == GpSpot_Slice)
        return gp_lower_get(lo, &s->val, 1);
    return gp_build_int(&lo->b, GpElem_U64, count);
}

/* `extent` elements from a variable's leaf `off` on. */
typedef struct Array {
    GpVar *var;
    uint32_t off, extent;
} Array;

static GpSpot array_element(GpLower *lo, Array a, const GpType *elem, GpValue *index,
                            GpValue *mask) {
    GpScalar k;
    GpSpot s = {.kind = GpSpot_Elem,
                .type = elem,
                .var = a.var,
                .off = a.off,
                .extent = a.extent,
                .stride = gp_lower_leaf_count(lo, elem),
                .index = index,
                .mask = mask};
    if (!gp_ir_const(index, &k) || mask || k.u >= a.extent)
        return s;
    return (GpSpot){.kind = GpSpot_Var,
                    .type = elem,
                    .var = a.var,
                    .off = a.off + (uint32_t)k.u * s.stride};
}

static uint32_t alias_extent(const GpVal *slice) {
    GpScalar n;
    return slice->at[1].value && gp_ir_const(slice->at[1].value, &n) ? (uint32_t)n.u : 0;
}

static GpSpot memory_element(GpLower *lo, GpValue *address, const GpType *elem, GpValue *index,
                             GpValue *mask) {
    uint32_t stride = gp_lower_leaf_count(lo, elem);
    if (stride != 1)
        index = gp_build2(&lo->b, GpOp_Mul, index, gp_build_int(&lo->b, GpElem_U64, stride));
    return (GpSpot){.kind = GpSpot_Memory,
                    .type = elem,
                    .address = gp_build2(&lo->b, GpOp_PtrAdd, address, index),
                    .mask = mask};
}

GpSpot gp_spot_element(GpLower *lo, GpSpot base, GpValue *index, GpValue *mask, GpSpan span) {
    uint32_t extent;
    const GpType *elem = element_type(lo, base.type, &extent);
    if (!elem) {
        gp_lower_refuse(lo, span, "indexing `%s`", gp_ty_name(lo->arena, base.type));
        return gp_spot_value(gp_lower_undef(lo, gp_ty_error(lo->types)));
    }
    switch (base.kind) {
    case GpSpot_Slice:
        if (base.val.at[0].alias)
            return array_element(
                lo, (Array){base.val.at[0].alias, base.val.at[0].off, alias_extent(&base.val)}, elem,
                index, mask);
        return memory_element(lo, gp_lower_get(lo, &base.val, 0), elem, index, mask);
    case GpSpot_Memory:
        return memory_element(lo, base.address, elem, index, gp_lower_both(lo, base.mask, mask));
    case GpSpot_Value: {
        GpVar *var = spill(lo, base.val);
        var->is_temporary = true;
        return array_element(lo, (Array){var, 0, extent}, elem, index, mask);
    }
    case GpSpot_Var:
        return array_element(lo, (Array){base.var, base.off, extent}, elem, index, mask);
    case GpSpot_Elem:
        break;
    }
    bool is_fixed = base.var->local ? !base.var->local->is_mut : base.var->is_temporary;
    if (!is_fixed) {
        gp_lower_refuse(
            lo, span,
            "an index chosen at run time into an array that is an element chosen at run time");
        return gp_spot_value(gp_lower_undef(lo, elem));
    }
    GpVar *copy = spill(lo, gp_spot_read(lo, &base, span));
    GpSpot inner = array_element(lo, (Array){copy, 0, extent}, elem, index, mask);
    return gp_spot_value(gp_spot_read(lo, &inner, span));
}

/* True when index and length are constants that agree. */
static bool is_in_bounds(GpValue *index, GpValue *len) {
    GpScalar i, n;
    return gp_ir_const(index, &i) && gp_ir_const(len, &n) && i.u < n.u;
}

GpSpot gp_spot_index(GpLower *lo, GpSpot base, GpValue *index, GpSpan span) {
    base = gp_spot_auto_deref(lo, base, span);
    GpValue *len = gp_spot_len(lo, &base), *mask = NULL;
    if (!lo->kernel->kernel.unchecked && !is_in_bounds(index, len)) {
        const GpIrType *t = gp_ir_scalar(lo->fn, GpElem_Bool);
        GpInst *check = gp_build(&lo->b, GpOp_CheckIndex, (GpValue *[]){index, len}, 2, &t, 1);
        check->site = gp_ir_add_site(lo->fn, GpCheck_Index, 0, span, gp_lower_text(lo, span));
        mask = check->results[0];
    }
    return gp_spot_element(lo, base, index, mask, span);
}

GpVal gp_spot_unsize(GpLower *lo, GpVal ref, const GpType *to, GpSpan span) {
    GpVal out = gp_lower_undef(lo, to);
    uint32_t count = 0;
    if (out.count != 2 || ref.count != 2 || !element_type(lo, ref.type->inner, &count)) {
        gp_lower_refuse(lo, span, "this conversion to a slice");
        return out;
    }
    out.at[0] = ref.at[0];
    out.at[1].value = gp_build_int(&lo->b, GpElem_U64, count);
    return out;
}

/* ---- Expressions as places ------------------------------------------------------------------- */

static GpSpot adjust(GpLower *lo, GpSpot s, const GpAdjust *a, GpSpan span) {
    const GpType *type = gp_lower_type(lo, a->type);
    switch (a->kind) {
    case GpAdjust_Deref:
        return gp_spot_deref(lo, gp_spot_read(lo, &s, span), span);
    case GpAdjust_Borrow:
    case GpAdjust_BorrowMut:
        return gp_spot_value(gp_spot_borrow(lo, &s, type, span));
    case GpAdjust_Unsize:
        return gp_spot_value(gp_spot_unsize(lo, gp_spot_read(lo, &s, span), type, span));
    case GpAdjust_Splat: {
        GpVal v = gp_spot_read(lo, &s, span);
        GpShape shape = gp_lower_adt_shape(lo, type);
        GpValue *x = gp_lower_get(lo, &v, 0);
        return gp_spot_value(gp_lower_one(lo, type, gp_lower_splat(lo, x, x->type->elem, &shape)));
    }
    case GpAdjust_Never:
        return gp_spot_value(gp_lower_undef(lo, type));
    }
    gp_unreachable();
}

GpSpot gp_lower_place(GpLower *lo, GpNode *n) {
    GpSpot s = gp_lower_bare(lo, n);
    GpSpan outer = lo->b.span;
    lo->b.span = n->span;
    for (const GpAdjust *a = n->adjust; a; a = a->next)
        s = adjust(lo, s, a, n->span);
    lo->b.span = outer;
    return s;
}
