/* Expressions that are neither operators, calls nor control flow, and the dispatch over all. */
#include "dsl/lower.h"

/* ---- Constants ----------------------------------------------------------------------------- */

GpVal gp_lower_const(GpLower *lo, const GpConst *c, const GpType *t) {
    int64_t v = 0;
    GpElem elem;
    c = gp_const_subst(lo->types, c, &lo->frame->subst);
    if (!gp_const_value(c, &v) || !gp_lower_elem(t, &elem)) {
        gp_lower_refuse(lo, lo->b.span, "this constant of type `%s`", gp_ty_name(lo->arena, t));
        return gp_lower_undef(lo, t);
    }
    const GpIrType *type = gp_ir_scalar(lo->fn, elem);
    GpScalar s = {.elem = elem, .i = v};
    if (gp_elem_is_float(elem))
        s.f = (double)v;
    return gp_lower_one(lo, t, gp_build_const(&lo->b, type, gp_scalar_wrap(s)));
}

GpVal gp_lower_shape_value(GpLower *lo, const GpType *shape) {
    GpVal out = gp_lower_undef(lo, shape);
    GpShape sh = gp_lower_adt_shape(lo, shape);
    if (!gp_ty_is_lang(shape, GpLang_Shape))
        return out; /* an Array says all in its type */
    for (uint32_t i = 0; i < out.count; i++)
        out.at[i].value = gp_build_int(&lo->b, GpElem_I32, sh.dim[i]);
    return out;
}

/* ---- Aggregates ---------------------------------------------------------------------------- */

static void put(GpVal *out, uint32_t off, const GpVal *v) {
    if (off + v->count > out->count)
        return; /* an error, reported before */
    if (v->count)
        memcpy(out->at + off, v->at, v->count * sizeof *v->at);
}

static GpVal lower_items(GpLower *lo, GpNode *n, const GpNodeList *items) {
    GpVal out = gp_lower_undef(lo, gp_lower_node_type(lo, n));
    uint32_t off = 0;
    for (uint32_t i = 0; i < items->len; i++) {
        GpVal v = gp_lower_expr(lo, items->at[i]);
        put(&out, off, &v);
        off += v.count;
    }
    return out;
}

static GpVal lower_tuple(GpLower *lo, GpNode *n) {
    return lower_items(lo, n, &GP_AS(Tuple, n)->items);
}

static GpVal lower_array(GpLower *lo, GpNode *n) {
    return lower_items(lo, n, &GP_AS(Array, n)->items);
}

static GpVal lower_repeat(GpLower *lo, GpNode *n) {
    GpVal out = gp_lower_undef(lo, gp_lower_node_type(lo, n));
    GpVal v = gp_lower_expr(lo, GP_AS(Repeat, n)->value);
    for (uint32_t off = 0; v.count && off < out.count; off += v.count)
        put(&out, off, &v);
    return out;
}

static uint32_t init_offset(GpLower *lo, const GpType *t, const GpDef *def, uint32_t field) {
    if (def->kind != GpDef_Variant)
        return gp_lower_field_at(lo, t, field);
    uint32_t off = gp_lower_variant_at(lo, t, def->variant_index);
    for (uint32_t i = 0; i < field; i++)
        off += gp_lower_leaf_count(lo, gp_lower_variant_field(lo, t, def, i));
    return off;
}

static GpVal init_value(GpLower *lo, GpAstFieldInit *f) {
    if (f->value)
        return gp_lower_expr(lo, f->value);
    GpVar *var =
        f->node.res && f->node.res->local ? gp_lower_find_var(lo, f->node.res->local) : NULL;
    gp_assert(var);
    GpSpot s = gp_spot_var(lo, var);
    return gp_spot_read(lo, &s, f->node.span);
}

/* Shape { dims }: a leaf for each extent instead of the slice. */
static GpVal lower_extents(GpLower *lo, GpNode *n, const GpType *t, GpNode *field) {
    GpVal out = gp_lower_shape_value(lo, t), dims = init_value(lo, GP_AS(FieldInit, field));
    GpShape shape = gp_lower_adt_shape(lo, t);
    GpValue *at[GP_MAX_RANK] = {NULL};
    if (gp_lower_dims(lo, &dims, &shape, at, n->span))
        for (uint32_t i = 0; i < out.count; i++)
            out.at[i].value = at[i];
    return out;
}

static GpVal lower_struct(GpLower *lo, GpNode *n) {
    GpAstStructLit *s = GP_AS(StructLit, n);
    const GpType *t = gp_lower_node_type(lo, n);
    GpVal out = gp_lower_undef(lo, t);
    if (!n->res || t->kind != GpTy_Adt)
        return out;
    if (gp_ty_is_lang(t, GpLang_Shape) && s->fields.len)
        return lower_extents(lo, n, t, s->fields.at[0]);
    if (s->base) {
        GpVal base = gp_lower_expr(lo, s->base);
        put(&out, 0, &base);
        out.at = base.count == out.count ? memcpy(GP_NEW_ARRAY(lo->arena, GpLeaf, out.count),
                                                  base.at, out.count * sizeof *out.at)
                                         : out.at;
    }
    for (uint32_t i = 0; i < s->fields.len; i++) {
        GpAstFieldInit *f = GP_AS(FieldInit, s->fields.at[i]);
        GpVal v = init_value(lo, f);
        if (f->node.res)
            put(&out, init_offset(lo, t, n->res->def, f->node.res->index), &v);
    }
    if (n->res->def->kind == GpDef_Variant)
        out.at[0].value = gp_build_int(&lo->b, GpElem_I32, n->res->def->variant_index);
    return out;
}

bool gp_lower_dims(GpLower *lo, const GpVal *dims, const GpShape *shape, GpValue **out,
                   GpSpan span) {
    GpSpot slice = gp_spot_deref(lo, *dims, span);
    GpScalar count = {.u = UINT64_MAX};
    uint32_t dynamic = 0, next = 0;
    for (int i = 0; i < shape->rank; i++)
        dynamic += shape->dim[i] == GP_DYNAMIC;
    if (slice.kind == GpSpot_Slice)
        (void)gp_ir_const(gp_spot_len(lo, &slice), &count);
    bool is_whole = count.u == shape->rank;
    if (!is_whole && count.u != dynamic) {
        gp_lower_refuse(lo, span, "`dims` with neither an entry for each axis nor for each `-1`");
        return false;
    }
    for (int i = 0; i < shape->rank; i++) {
        next = is_whole ? (uint32_t)i : next;
        if (shape->dim[i] != GP_DYNAMIC) {
            out[i] = gp_build_int(&lo->b, GpElem_I32, shape->dim[i]);
            continue;
        }
        GpValue *k = gp_build_int(&lo->b, GpElem_U64, next++);
        GpSpot at = gp_spot_element(lo, slice, k, NULL, span);
        GpVal v = gp_spot_read(lo, &at, span);
        out[i] = gp_lower_get(lo, &v, 0);
    }
    return true;
}

static GpVal lower_range(GpLower *lo, GpNode *n) {
    GpAstRange *r = GP_AS(Range, n);
    GpVal out = gp_lower_undef(lo, gp_lower_node_type(lo, n));
    if (r->is_closed || !r->lo || !r->hi) {
        gp_lower_refuse(lo, n->span, "this range outside a `for` loop");
        return out;
    }
    GpVal low = gp_lower_expr(lo, r->lo), high = gp_lower_expr(lo, r->hi);
    put(&out, 0, &low);
    put(&out, low.count, &high);
    return out;
}

/* ---- Places -------------------------------------------------------------------------------- */

static GpSpot bare_path(GpLower *lo, GpNode *n) {
    if (!n->res || n->res->kind != GpRes_Local)
        return gp_spot_value(gp_lower_global(lo, n));
    GpVar *var = gp_lower_find_var(lo, n->res->local);
    if (!var) { /* never bound: only in code that nothing reaches */
        gp_assert(lo->is_dead || lo->has_failed);
        return gp_spot_value(gp_lower_undef(lo, gp_lower_node_type(lo, n)));
    }
    return gp_spot_var(lo, var);
}

/* shape.dims: its extents as a slice. */
static GpSpot field_of_shape(GpLower *lo, const GpSpot *shape, GpNode *n) {
    GpVal v = gp_spot_read(lo, shape, n->span);
    const GpType *slice = gp_lower_node_type(lo, n);
    const GpType *array = gp_ty_array(lo->types, gp_ty_elem(lo->types, GpElem_I32),
                                      gp_const_int(lo->types, v.count));
    v.type = array;
    GpSpot extents = gp_spot_value(v);
    GpVal ref = gp_spot_borrow(lo, &extents, gp_ty_ref(lo->types, array, false), n->span);
    return gp_spot_value(gp_spot_unsize(lo, ref, slice, n->span));
}

static GpSpot bare_field(GpLower *lo, GpNode *n) {
    GpAstField *f = GP_AS(Field, n);
    GpSpot base = gp_lower_place(lo, f->base);
    const GpRes *res = n->res;
    for (uint32_t i = 0; res && i < res->derefs; i++)
        base = gp_spot_deref(lo, gp_spot_read(lo, &base, n->span), n->span);
    if (!res || res->kind != GpRes_Field || res->index >= gp_lower_field_count(base.type))
        return gp_spot_value(gp_lower_undef(lo, gp_lower_node_type(lo, n)));
    if (gp_ty_is_lang(base.type, GpLang_Shape))
        return field_of_shape(lo, &base, n);
    return gp_spot_part(lo, &base, gp_lower_field_type(lo, base.type, res->index),
                        gp_lower_field_at(lo, base.type, res->index), n->span);
}

static GpSpot bare_index(GpLower *lo, GpNode *n) {
    GpAstIndex *x = GP_AS(Index, n);
    GpNode *bare = gp_node_bare(x->base);
    const GpRes *res = bare->res;
    if (res && res->kind == GpRes_Def && res->def->kind == GpDef_ConstParam) {
        /* S[0] of a const array generic */
        GpVal whole = gp_lower_global(lo, bare);
        return gp_spot_index(lo, gp_spot_value(whole), gp_lower_scalar(lo, x->index), n->span);
    }
    GpSpot base = gp_lower_place(lo, x->base);
    GpValue *index = gp_lower_scalar(lo, x->index);
    if (gp_ty_is_lang(base.type, GpLang_Shape)) { /* its extents, as an array */
        GpVal v = gp_spot_read(lo, &base, n->span);
        v.type = gp_ty_array(lo->types, gp_ty_elem(lo->types, GpElem_I32),
                             gp_const_int(lo->types, v.count));
        base = gp_spot_value(v);
    }
    return gp_spot_index(lo, base, gp_lower_convert(lo, index, GpElem_U64), n->span);
}

static GpSpot bare_deref(GpLower *lo, GpNode *n) {
    GpSpot s = gp_lower_place(lo, GP_AS(Unary, n)->operand);
    return gp_spot_deref(lo, gp_spot_read(lo, &s, n->span), n->span);
}

static GpVal lower_borrow(GpLower *lo, GpNode *n) {
    GpSpot s = gp_lower_place(lo, GP_AS(Borrow, n)->operand);
    if (GP_AS(Borrow, n)->is_raw)
        gp_lower_refuse(lo, n->span, "a raw borrow");
    return gp_spot_borrow(lo, &s, gp_lower_node_type(lo, n), n->span);
}

typedef struct Captures {
    GpLower *lo;
    const GpNode *closure;
} Captures;

/* Captured variables are read where the closure runs; a `move` closure would keep old values. */
static void check_capture(GpNode *n, void *ud) {
    Captures *c = ud;
    const GpLocal *local = n->res && n->res->kind == GpRes_Local ? n->res->local : NULL;
    if (n->kind == GpNode_PathExpr && local && local->is_mut && local->closure != c->closure)
        gp_lower_refuse(c->lo, n->span, "a `move` closure over the `mut` variable `%s`",
                        local->name->name);
    gp_node_children(n, check_capture, ud);
}

static GpVal lower_closure(GpLower *lo, GpNode *n) {
    GpAstClosure *closure = GP_AS(Closure, n);
    GpLowerFrame *made = GP_NEW(lo->arena, GpLowerFrame);
    *made = *lo->frame;
    gp_map_set(lo->arena, &lo->closures, n, made);
    Captures captures = {lo, n};
    if (closure->is_move)
        check_capture(closure->body, &captures);
    return gp_lower_undef(lo, gp_lower_node_type(lo, n));
}

static GpVal lower_let_cond(GpLower *lo, GpNode *n) {
    gp_lower_refuse(lo, n->span, "`let` in this place");
    return gp_lower_undef(lo, gp_lower_node_type(lo, n));
}

/* ---- Dispatch ------------------------------------------------------------------------------ */

static GpVal (*const by_kind[GpNode_count])(GpLower *lo, GpNode *n) = {
    [GpNode_Lit] = gp_lower_literal,   [GpNode_Unary] = gp_lower_unary,
    [GpNode_Binary] = gp_lower_binary, [GpNode_Assign] = gp_lower_assign,
    [GpNode_Call] = gp_lower_call,     [GpNode_MethodCall] = gp_lower_method,
    [GpNode_Range] = lower_range,      [GpNode_Borrow] = lower_borrow,
    [GpNode_Cast] = gp_lower_cast,     [GpNode_Tuple] = lower_tuple,
    [GpNode_Array] = lower_array,      [GpNode_Repeat] = lower_repeat,
    [GpNode_StructLit] = lower_struct, [GpNode_If] = gp_lower_if_expr,
    [GpNode_LetCond] = lower_let_cond, [GpNode_Match] = gp_lower_match,
    [GpNode_While] = gp_lower_while,   [GpNode_Loop] = gp_lower_loop,
    [GpNode_For] = gp_lower_for,       [GpNode_Block] = gp_lower_block,
    [GpNode_Break] = gp_lower_break,   [GpNode_Continue] = gp_lower_continue,
    [GpNode_Return] = gp_lower_return, [GpNode_Closure] = lower_closure,
    [GpNode_Macro] = gp_lower_macro,
};

static GpVal lower_by_kind(GpLower *lo, GpNode *n) {
    const GpRes *res = n->res;
    if (res && res->kind == GpRes_Const) {
        const GpType *t = gp_lower_node_type(lo, n);
        return res->value ? gp_lower_const(lo, res->value, t) : gp_lower_shape_value(lo, t);
    }
    if (by_kind[n->kind])
        return by_kind[n->kind](lo, n);
    gp_lower_refuse(lo, n->span, "the form `%s`", gp_node_name(n->kind));
    return gp_lower_undef(lo, gp_lower_node_type(lo, n));
}

enum { DEPTH_MAX = 1500 }; /* nesting after inlining; about 1 KiB of stack each */

static GpSpot bare_inner(GpLower *lo, GpNode *n) {
    if (n->kind == GpNode_Paren)
        return gp_lower_place(lo, GP_AS(Paren, n)->operand);
    if (n->kind == GpNode_PathExpr && !(n->res && n->res->kind == GpRes_Const))
        return bare_path(lo, n);
    if (n->kind == GpNode_Field)
        return bare_field(lo, n);
    if (n->kind == GpNode_Index)
        return bare_index(lo, n);
    if (n->kind == GpNode_Unary && GP_AS(Unary, n)->op == GpTok_Star)
        return bare_deref(lo, n);
    return gp_spot_value(lower_by_kind(lo, n));
}

GpSpot gp_lower_bare(GpLower *lo, GpNode *n) {
    GpSpan outer = lo->b.span;
    lo->b.span = n->span;
    GpSpot s;
    if (lo->depth >= DEPTH_MAX || lo->is_too_large) {
        gp_lower_too_large(lo, n->span);
        s = gp_spot_value(gp_lower_undef(lo, gp_lower_node_type(lo, n)));
    } else {
        lo->depth++;
        s = bare_inner(lo, n);
        lo->depth--;
    }
    lo->b.span = outer;
    return s;
}

GpVal gp_lower_expr(GpLower *lo, GpNode *n) {
    GpSpot s = gp_lower_place(lo, n);
    GpSpan outer = lo->b.span;
    lo->b.span = n->span;
    GpVal v = gp_spot_read(lo, &s, n->span);
    lo->b.span = outer;
    return v;
}

GpValue *gp_lower_scalar(GpLower *lo, GpNode *n) {
    GpVal v = gp_lower_expr(lo, n);
    if (v.count)
        return gp_lower_get(lo, &v, 0);
    if (!lo->is_dead)
        gp_lower_refuse(lo, n->span, "this value");
    return gp_build_int(&lo->b, GpElem_U64, 0);
}
