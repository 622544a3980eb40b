/* Equalities of shapes that a body needs and that only an instance can decide: kept here with
** their places, printed by `check`, discharged at instantiation.
**
** Two polynomials are equal when they are one pointer, different for every instance when their
** difference is a constant that is not zero, and an obligation otherwise. */
#include "dsl/check_body.h"

typedef enum GpObligationKind {
    GpObligation_Equal,     /* lhs == rhs */
    GpObligation_Broadcast, /* lhs == rhs or lhs == 1 */
} GpObligationKind;

typedef struct GpObligation {
    GpObligationKind kind;
    const GpDef *fn;
    GpSpan span;
    const GpConst *lhs, *rhs;
    const GpShapeTy *from, *to; /* what lhs and rhs are extents of; NULL: of no shape */
    struct GpObligation *next;  /* in the order of the source within a function */
} GpObligation;

typedef enum Verdict { Verdict_Equal, Verdict_Open, Verdict_Different } Verdict;

static const GpConst *zonk(GpBody *b, const GpConst *c) {
    return gp_zonk_arg(b->c, (GpGArg){.kind = GpGArg_Const, .value = c}).value;
}

static Verdict compare(GpBody *b, const GpConst *lhs, const GpConst *rhs) {
    if (lhs == rhs || lhs->kind == GpConst_Error || rhs->kind == GpConst_Error)
        return Verdict_Equal;
    if (lhs->kind != GpConst_Poly || rhs->kind != GpConst_Poly)
        return Verdict_Different;
    const GpConst *diff = gp_const_sub(b->c->types, lhs, rhs);
    int64_t value;
    if (diff->kind != GpConst_Poly)
        return Verdict_Open; /* overflow: the instance knows */
    if (!gp_const_value(diff, &value))
        return Verdict_Open;
    return value == 0 ? Verdict_Equal : Verdict_Different;
}

static void keep(GpBody *b, const GpObligation *o) {
    GpModule *m = b->c->module;
    GpObligation **at = &m->obligations;
    for (; *at; at = &(*at)->next)
        if ((*at)->fn == b->fn && (*at)->kind == o->kind && (*at)->lhs == o->lhs && (*at)->rhs == o->rhs)
            return;
    *at = GP_NEW(b->c->arena, GpObligation);
    **at = *o;
    (*at)->fn = b->fn;
}

/* False when the two are different in every instance. */
static bool oblige(GpBody *b, GpObligation o) {
    o.lhs = zonk(b, o.lhs);
    o.rhs = zonk(b, o.rhs);
    Verdict v = compare(b, o.lhs, o.rhs);
    if (v != Verdict_Open)
        return v == Verdict_Equal;
    if (!b->c->module)
        return false;
    keep(b, &o);
    return true;
}

bool gp_body_oblige_const(GpBody *b, const GpConst *lhs, const GpConst *rhs, GpSpan span) {
    return oblige(b, (GpObligation){GpObligation_Equal, .span = span, .lhs = lhs, .rhs = rhs});
}

bool gp_body_expand_shape(GpBody *b, const GpShapeTy *s, GpDims *out) {
    if (s->kind == GpShape_List) {
        out->rank = s->rank;
        memcpy(out->dim, s->dim, sizeof out->dim);
        return true;
    }
    int64_t rank;
    const GpType *t = s->kind == GpShape_Param ? s->param->const_type : NULL;
    if (!t || t->kind != GpTy_Array || !gp_const_value(t->count, &rank) || rank < 0 ||
        rank > GP_MAX_RANK)
        return false;
    out->rank = (uint8_t)rank;
    for (int32_t i = 0; i < rank; i++)
        out->dim[i] = gp_const_atom(b->c->types, (GpAtom){.param = s->param, .index = i});
    return true;
}

bool gp_body_oblige_shape(GpBody *b, const GpShapeTy *lhs, const GpShapeTy *rhs, GpSpan span) {
    lhs = gp_zonk_arg(b->c, (GpGArg){.kind = GpGArg_Shape, .shape = lhs}).shape;
    rhs = gp_zonk_arg(b->c, (GpGArg){.kind = GpGArg_Shape, .shape = rhs}).shape;
    if (lhs->kind == GpShape_Error || rhs->kind == GpShape_Error)
        return true;
    GpDims l, r;
    if (!gp_body_expand_shape(b, lhs, &l) || !gp_body_expand_shape(b, rhs, &r) || l.rank != r.rank)
        return false;
    for (uint8_t i = 0; i < l.rank; i++)
        if (l.dim[i]->kind == GpConst_Poly && r.dim[i]->kind == GpConst_Poly &&
            compare(b, l.dim[i], r.dim[i]) == Verdict_Different)
            return false;
    for (uint8_t i = 0; i < l.rank; i++)
        if (!gp_unify_const(b->c, l.dim[i], r.dim[i]) &&
            !oblige(b, (GpObligation){GpObligation_Equal, .span = span, .lhs = l.dim[i],
                                      .rhs = r.dim[i], .from = lhs, .to = rhs}))
            return false;
    return true;
}

/* ---- reshape and broadcast --------------------------------------------------------------- */

bool gp_body_dims(GpBody *b, const GpType *t, GpDims *out) {
    t = gp_zonk(b->c, t);
    while (t->kind == GpTy_Ref)
        t = t->inner;
    for (uint32_t i = 0; i < t->arg_count; i++)
        if (t->args[i].kind == GpGArg_Shape)
            return gp_body_expand_shape(b, t->args[i].shape, out);
    return false;
}

/* False when the type is no tile or an extent is no polynomial. */
static bool tile_dims(GpBody *b, const GpType *t, GpDims *out) {
    if (!gp_ty_is_lang(t, GpLang_Tile) || t->arg_count != 2 || t->args[1].kind != GpGArg_Shape ||
        !gp_body_expand_shape(b, t->args[1].shape, out))
        return false;
    for (uint8_t i = 0; i < out->rank; i++)
        if (out->dim[i]->kind != GpConst_Poly)
            return false;
    return true;
}

static const char *shape_text(GpBody *b, const GpType *tile) {
    GpText t = {.session = gp_arena_session(b->c->arena)};
    gp_shapety_print(tile->args[1].shape, &t);
    const char *copy = gp_arena_copy(b->c->arena, gp_text_cstr(&t), t.len);
    gp_text_free(&t);
    return copy;
}

static const GpConst *numel(GpBody *b, const GpDims *s) {
    const GpConst *n = gp_const_int(b->c->types, 1);
    for (uint8_t i = 0; i < s->rank; i++)
        n = gp_const_mul(b->c->types, n, s->dim[i]);
    return n;
}

static void check_reshape(GpBody *b, const GpType *from, const GpType *to, GpSpan span) {
    GpDims f, t;
    if (!tile_dims(b, from, &f) || !tile_dims(b, to, &t))
        return;
    const GpConst *have = numel(b, &f), *want = numel(b, &t);
    if (oblige(b, (GpObligation){GpObligation_Equal, .span = span, .lhs = have, .rhs = want,
                                 .from = from->args[1].shape, .to = to->args[1].shape}))
        return;
    GpText ht = {.session = gp_arena_session(b->c->arena)}, wt = {.session = ht.session};
    gp_const_print(have, &ht);
    gp_const_print(want, &wt);
    GpDiag *d = gp_diag(b->c->diags, GpDiag_G0151, span, shape_text(b, from), shape_text(b, to));
    gp_primary_label(d, "%s elements into %s", gp_text_cstr(&ht), gp_text_cstr(&wt));
    gp_text_free(&ht);
    gp_text_free(&wt);
}

const char *gp_body_shape_macro(GpBody *b, const GpShapeTy *s) {
    GpText t = {.session = gp_arena_session(b->c->arena)};
    gp_shapety_print(s, &t); /* {[..]} */
    const char *text = gp_arena_printf(b->c->arena, "shape!%.*s", (int)t.len - 2, gp_text_cstr(&t) + 1);
    gp_text_free(&t);
    return text;
}

const GpShapeTy *gp_body_spread_axes(GpBody *b, const GpShapeTy *s, const GpShapeTy *to) {
    const GpConst *one = gp_const_int(b->c->types, 1), *dims[GP_MAX_RANK];
    uint8_t at = 0;
    for (uint8_t i = 0; i < to->rank; i++) {
        bool is_ahead = at < s->rank && (s->dim[at] == to->dim[i] || (s->dim[at] == one && s->rank == to->rank));
        bool may_skip = s->rank - at < to->rank - i;
        if (is_ahead && may_skip && i + 1 < to->rank && s->dim[at] == to->dim[i + 1])
            return NULL;
        dims[i] = is_ahead ? s->dim[at] : one;
        at += is_ahead;
        if (!is_ahead && !may_skip)
            return NULL;
    }
    return at == s->rank ? gp_shape_list(b->c->types, dims, to->rank) : NULL;
}

/* The ranks agree, but for a tile of one element: which axis a missing one is would be a guess. */
static void check_broadcast(GpBody *b, const GpType *from, const GpType *to, GpSpan span) {
    GpDims f, t;
    if (!tile_dims(b, from, &f) || !tile_dims(b, to, &t))
        return;
    const GpConst *one = gp_const_int(b->c->types, 1);
    bool fits = f.rank == t.rank || f.rank == 0;
    for (uint8_t i = 0; fits && i < f.rank; i++) {
        const GpConst *have = f.dim[i], *want = t.dim[i];
        Verdict is_one = compare(b, have, one), is_equal = compare(b, have, want);
        if (is_one == Verdict_Equal || is_equal == Verdict_Equal)
            continue;
        fits = is_one == Verdict_Open || is_equal == Verdict_Open;
        if (fits && b->c->module)
            keep(b, &(GpObligation){GpObligation_Broadcast, .span = span, .lhs = have, .rhs = want,
                                    .from = from->args[1].shape, .to = to->args[1].shape});
    }
    if (fits)
        return;
    GpDiag *d = gp_diag(b->c->diags, GpDiag_G0152, span, shape_text(b, from), shape_text(b, to));
    gp_primary_label(d, f.rank == t.rank ? "only axes of extent 1 are repeated"
                                         : "the ranks differ: %u and %u",
                     f.rank, t.rank);
    const GpShapeTy *less = from->args[1].shape, *more = to->args[1].shape, *spread = NULL;
    if (f.rank && f.rank < t.rank && less->kind == GpShape_List && more->kind == GpShape_List)
        spread = gp_body_spread_axes(b, less, more);
    gp_help(d, "insert the axis of extent 1 first: `.reshape(%s).broadcast(..)`",
            spread ? gp_body_shape_macro(b, spread) : "..");
}

void gp_body_check_shapes(GpBody *b, const GpDef *fn, const GpType *from, const GpType *to,
                          GpSpan span) {
    if (fn->intrinsic == GpIntrinsic_ReshapeTile)
        check_reshape(b, gp_zonk(b->c, from), gp_zonk(b->c, to), span);
    else if (fn->intrinsic == GpIntrinsic_BroadcastTile)
        check_broadcast(b, gp_zonk(b->c, from), gp_zonk(b->c, to), span);
}

/* ---- what is left for instances ---------------------------------------------------------- */

static void print_one(const GpObligation *o, GpText *out) {
    GpPlaceInFile at = gp_span_start(o->span);
    gp_text_printf(out, "%s:%u:%u: ", at.file, at.line, at.column);
    gp_const_print(o->lhs, out);
    gp_text_puts(out, " == ");
    gp_const_print(o->rhs, out);
    if (o->kind == GpObligation_Broadcast) {
        gp_text_puts(out, " or ");
        gp_const_print(o->lhs, out);
        gp_text_puts(out, " == 1");
    }
    gp_text_puts(out, "\n");
}

void gp_module_print_obligations(const GpModule *m, const GpDef *kernel, GpText *out) {
    for (const GpObligation *o = m->obligations; o; o = o->next)
        if (o->fn == kernel)
            print_one(o, out);
}

static void label_shapes(GpModule *m, const GpObligation *o, const GpSubst *subst, GpDiag *d) {
    if (!o->from) {
        gp_primary_label(d, "needs equal extents here");
        return;
    }
    GpText from = {.session = m->session}, to = {.session = m->session};
    gp_shapety_print(gp_shape_subst(m->std->types, o->from, subst), &from);
    gp_shapety_print(gp_shape_subst(m->std->types, o->to, subst), &to);
    gp_primary_label(d, "the shapes are `%s` and `%s`", gp_text_cstr(&from), gp_text_cstr(&to));
    gp_text_free(&from);
    gp_text_free(&to);
}

static bool discharge(GpModule *m, const GpObligation *o, const GpSubst *subst, GpDiags *diags) {
    const GpConst *lhs = gp_const_subst(m->std->types, o->lhs, subst);
    const GpConst *rhs = gp_const_subst(m->std->types, o->rhs, subst);
    int64_t l, r;
    if (lhs == rhs || !gp_const_value(lhs, &l) || !gp_const_value(rhs, &r) || l == r ||
        (o->kind == GpObligation_Broadcast && l == 1))
        return true;
    GpText lt = {.session = m->session}, rt = {.session = m->session},
           values = {.session = m->session};
    gp_const_print(o->lhs, &lt);
    gp_const_print(o->rhs, &rt);
    gp_text_printf(&values, "%lld and %lld", (long long)l, (long long)r);
    GpDiag *d = gp_diag(diags, GpDiag_G0153, o->span, gp_text_cstr(&lt), gp_text_cstr(&rt),
                        gp_text_cstr(&values));
    label_shapes(m, o, subst, d);
    if (o->fn->name && o->fn->span.src)
        gp_label(d, o->fn->span, "in this instance of `%s`", o->fn->name->name);
    if (o->kind != GpObligation_Broadcast && (l == 1 || r == 1))
        gp_help(d, "a tile is repeated along an axis of extent 1 by `.broadcast(shape![..])`");
    gp_text_free(&lt);
    gp_text_free(&rt);
    gp_text_free(&values);
    return false;
}

bool gp_check_obligations(GpModule *m, const GpDef *fn, const GpSubst *subst, GpDiags *diags) {
    bool all = true;
    for (const GpObligation *o = m->obligations; o; o = o->next)
        if (o->fn == fn)
            all &= discharge(m, o, subst, diags);
    return all;
}
