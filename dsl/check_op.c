/* Operators: on scalars by Rust's rules, on tiles elementwise (same shape and element type, or a
** scalar spread over the tile), on structs through their operator traits.
**
** An operator whose operands are not known yet waits in `pending` with a variable as its type. */
#include "dsl/check_body.h"
#include "dsl/resolve.h"
#include "dsl/unify.h"

typedef enum OpClass { Op_Arith, Op_Bits, Op_Shift, Op_Compare, Op_Logic } OpClass;

/* `phrase` .. `joint`: "cannot add `R` to `L`"; is_swapped: R stands first. Without a phrase:
** "no implementation for `L op R`". */
typedef struct OpRow {
    GpTok tok, assign;
    OpClass cls;
    const char *trait, *method, *phrase, *assign_phrase, *joint;
    bool is_swapped;
} OpRow;

static const OpRow op_rows[] = {
    {GpTok_Plus, GpTok_PlusEq, Op_Arith, "Add", "add", "cannot add", "cannot add-assign", "to",
     true},
    {GpTok_Minus, GpTok_MinusEq, Op_Arith, "Sub", "sub", "cannot subtract",
     "cannot subtract-assign", "from", true},
    {GpTok_Star, GpTok_StarEq, Op_Arith, "Mul", "mul", "cannot multiply", "cannot multiply-assign",
     "by", false},
    {GpTok_Slash, GpTok_SlashEq, Op_Arith, "Div", "div", "cannot divide", "cannot divide-assign",
     "by", false},
    {GpTok_Percent, GpTok_PercentEq, Op_Arith, "Rem", "rem", "cannot calculate the remainder of",
     "cannot calculate and assign the remainder of", "divided by", false},
    {GpTok_And, GpTok_AndEq, Op_Bits, "BitAnd", "bitand", NULL, NULL, NULL, false},
    {GpTok_Or, GpTok_OrEq, Op_Bits, "BitOr", "bitor", NULL, NULL, NULL, false},
    {GpTok_Caret, GpTok_CaretEq, Op_Bits, "BitXor", "bitxor", NULL, NULL, NULL, false},
    {GpTok_Shl, GpTok_ShlEq, Op_Shift, "Shl", "shl", NULL, NULL, NULL, false},
    {GpTok_Shr, GpTok_ShrEq, Op_Shift, "Shr", "shr", NULL, NULL, NULL, false},
    {GpTok_EqEq, GpTok_End, Op_Compare, "PartialEq", "eq", NULL, NULL, NULL, false},
    {GpTok_NotEq, GpTok_End, Op_Compare, "PartialEq", "ne", NULL, NULL, NULL, false},
    {GpTok_Less, GpTok_End, Op_Compare, "PartialOrd", "lt", NULL, NULL, NULL, false},
    {GpTok_LessEq, GpTok_End, Op_Compare, "PartialOrd", "le", NULL, NULL, NULL, false},
    {GpTok_Greater, GpTok_End, Op_Compare, "PartialOrd", "gt", NULL, NULL, NULL, false},
    {GpTok_GreaterEq, GpTok_End, Op_Compare, "PartialOrd", "ge", NULL, NULL, NULL, false},
    {GpTok_AndAnd, GpTok_End, Op_Logic, NULL, NULL, NULL, NULL, NULL, false},
    {GpTok_OrOr, GpTok_End, Op_Logic, NULL, NULL, NULL, NULL, NULL, false},
};

static const OpRow *find_row(GpTok tok) {
    for (size_t i = 0; i < GP_COUNT(op_rows); i++)
        if (op_rows[i].tok == tok || (op_rows[i].assign == tok && tok != GpTok_End))
            return &op_rows[i];
    return NULL;
}

/* ---- classes of types -------------------------------------------------------------------- */

bool gp_body_is_int(const GpType *t) {
    return (t->kind == GpTy_Elem && gp_elem_is_integer(t->elem)) || t->kind == GpTy_Usize ||
           t->kind == GpTy_Isize || (t->kind == GpTy_Infer && t->infer == GpInfer_Int);
}

bool gp_body_is_float(const GpType *t) {
    return (t->kind == GpTy_Elem && gp_elem_is_float(t->elem)) ||
           (t->kind == GpTy_Infer && t->infer == GpInfer_Float);
}

bool gp_body_is_number(const GpType *t) { return gp_body_is_int(t) || gp_body_is_float(t); }

static bool is_bool(const GpType *t) { return t->kind == GpTy_Elem && t->elem == GpElem_Bool; }
/* Numbers but for those that are only moved and converted. */
static bool has_arithmetic(const GpType *t) {
    bool is_code = t->kind == GpTy_Elem && gp_elem_info[t->elem].cls == GpClass_Code;
    return gp_body_is_number(t) && !is_code;
}
static bool is_scalar(const GpType *t) {
    return gp_body_is_number(t) || is_bool(t) || t->kind == GpTy_Char;
}
static bool is_unknown(const GpType *t) { return t->kind == GpTy_Infer && t->infer == GpInfer_Any; }
static bool is_tile(const GpType *t) { return gp_ty_is_lang(t, GpLang_Tile); }

static bool is_element(GpBody *b, const GpType *t) {
    static const GpLang elements[] = {GpLang_ElementType, GpLang_FloatElement, GpLang_IntElement,
                                      GpLang_BitsElement};
    for (size_t i = 0; i < GP_COUNT(elements); i++) {
        const GpDef *lang = b->c->std->lang[elements[i]];
        if (lang && gp_implements(b->c, t, lang))
            return true;
    }
    return false;
}

/* A generic counts as a number when a bound says so: an element type, or the operator's trait. */
static bool param_allows(GpBody *b, const GpType *t, const char *trait) {
    if (t->kind != GpTy_Param)
        return false;
    if (is_element(b, t))
        return true;
    for (uint32_t i = 0; i < t->def->bound_count; i++) {
        const GpDef *bound = t->def->bounds[i];
        if (bound->name &&
            (strcmp(bound->name->name, trait) == 0 || strcmp(bound->name->name, "Num") == 0))
            return true;
    }
    return false;
}

/* Whether the class of operator exists on this scalar at all. */
static bool scalar_allows(GpBody *b, const GpType *t, const OpRow *row) {
    if (t->kind == GpTy_Param)
        return param_allows(b, t, row->trait);
    if (row->cls == Op_Arith)
        return has_arithmetic(t);
    if (row->cls == Op_Bits)
        return gp_body_is_int(t) || is_bool(t);
    if (row->cls == Op_Shift)
        return gp_body_is_int(t);
    return is_scalar(t);
}

/* ---- reports ----------------------------------------------------------------------------- */

GpSpan gp_operator_span(const GpNode *lhs, const GpNode *rhs, GpTok tok, GpSpan whole) {
    if (!lhs->span.src || lhs->span.src != rhs->span.src)
        return whole;
    const char *spelling = gp_tok_info[tok].spelling;
    uint32_t len = (uint32_t)strlen(spelling);
    for (uint32_t at = lhs->span.off + lhs->span.len; at + len <= rhs->span.off; at++)
        if (memcmp(lhs->span.src->text + at, spelling, len) == 0)
            return (GpSpan){lhs->span.src, at, len};
    return whole;
}

typedef struct Operation {
    const OpRow *row;
    GpNode *n, *lhs, *rhs;
    GpTok tok;
    bool is_assign;
} Operation;

static Operation operation_of(GpNode *n) {
    Operation o = {.n = n};
    if (n->kind == GpNode_Assign) {
        GpAstAssign *a = GP_AS(Assign, n);
        o.lhs = a->lhs;
        o.rhs = a->rhs;
        o.tok = a->op;
        o.is_assign = true;
    } else {
        GpAstBinary *a = GP_AS(Binary, n);
        o.lhs = a->lhs;
        o.rhs = a->rhs;
        o.tok = a->op;
    }
    o.row = find_row(o.tok);
    return o;
}

#define POWER "a power of tiles is `pow(a, b)`, of numbers `x.powf(y)` or `x.powi(n)`"

#define FLOAT_LITERAL "consider using a floating-point literal by writing it with `.0`"

static bool is_int_literal(GpNode *n) {
    return n->kind == GpNode_Lit && GP_AS(Lit, n)->tok == GpTok_Int && !GP_AS(Lit, n)->suffix;
}

static const char *refusal(GpBody *b, const Operation *o, const char *l, const char *r) {
    if (o->row->cls == Op_Compare)
        return gp_arena_printf(b->c->arena, "can't compare `%s` with `%s`", l, r);
    const char *phrase = o->is_assign ? o->row->assign_phrase : o->row->phrase;
    if (!phrase)
        return gp_arena_printf(b->c->arena, "no implementation for `%s %s %s`", l,
                               gp_tok_info[o->tok].spelling, r);
    return gp_arena_printf(b->c->arena, "%s `%s` %s `%s`", phrase, o->row->is_swapped ? r : l,
                           o->row->joint, o->row->is_swapped ? l : r);
}

/* The operator exists on L, but not with R. */
static const GpType *report_pair(GpBody *b, const Operation *o, const GpType *l, const GpType *r) {
    const char *ln = gp_body_name(b, l), *rn = gp_body_name(b, r);
    const char *spelling = gp_tok_info[o->tok].spelling;
    GpSpan at = gp_operator_span(o->lhs, o->rhs, o->tok, o->n->span);
    GpDiag *d = gp_diag(b->c->diags, GpDiag_E0277, at, refusal(b, o, ln, rn));
    gp_primary_label(d, "no implementation for `%s %s %s`", ln, spelling, rn);
    const GpType *want = is_tile(l) && l->arg_count ? gp_body_head(b, l->args[0].type) : l;
    bool is_right = is_tile(r) && !is_tile(l);
    GpNode *lit = gp_node_bare(is_right ? o->lhs : o->rhs);
    if (is_right && r->arg_count)
        want = gp_body_head(b, r->args[0].type);
    if (o->tok == GpTok_Caret && gp_body_is_float(want))
        gp_help(d, "%s", POWER);
    else if (gp_body_is_float(want) && is_int_literal(lit))
        gp_suggest(d, (GpSpan){lit->span.src, lit->span.off + lit->span.len, 0}, ".0", FLOAT_LITERAL);
    else if (is_int_literal(o->lhs) && gp_body_is_float(r) && !o->is_assign)
        gp_suggest(d, (GpSpan){o->lhs->span.src, o->lhs->span.off + o->lhs->span.len, 0}, ".0", FLOAT_LITERAL);
    else if (gp_body_is_int(l) && gp_body_is_float(r))
        gp_body_help_cast(b, d, o->is_assign ? GP_NO_SPAN : o->lhs->span, r, l);
    else
        gp_body_help_cast(b, d, o->rhs->span, want, r);
    return gp_body_error(b);
}

/* The operator does not exist on L. */
static const GpType *report_none(GpBody *b, const Operation *o, const GpType *l, const GpType *r) {
    if (l->kind == GpTy_Param && l->def->has_bad_bound)
        return gp_body_error(b);
    const char *ln = gp_body_name(b, l), *rn = gp_body_name(b, r);
    const char *spelling = gp_tok_info[o->tok].spelling;
    GpDiag *d;
    if (o->is_assign) {
        d = gp_diag(b->c->diags, GpDiag_E0368, o->n->span, spelling, ln);
        gp_label(d, o->lhs->span, "cannot use `%s` on type `%s`", spelling, ln);
        if (l->kind == GpTy_Adt && o->row->trait && !l->def->is_std)
            gp_help(d, "`a = a %s b` is by the trait `%s`", gp_tok_info[o->row->tok].spelling, o->row->trait);
        return gp_body_error(b);
    }
    const char *title =
        o->row->cls == Op_Compare
            ? gp_arena_printf(b->c->arena, "binary operation `%s` cannot be applied to type `%s`",
                              spelling, ln)
            : refusal(b, o, ln, rn);
    d = gp_diag(b->c->diags, GpDiag_E0369, gp_operator_span(o->lhs, o->rhs, o->tok, o->n->span),
                title);
    gp_label(d, o->lhs->span, "%s", ln);
    gp_label(d, o->rhs->span, "%s", rn);
    if (o->tok == GpTok_Caret)
        gp_help(d, "%s", POWER);
    else if (l == r && o->row->cls == Op_Compare)
        gp_suggest_bound(b->c, d, l, o->row->trait);
    else if (l == r && o->row->trait)
        gp_suggest_bound(b->c, d, l, gp_arena_printf(b->c->arena, "core::ops::%s<Output = %s>", o->row->trait, ln));
    return gp_body_error(b);
}

/* Tiles {[M, K]} and {[K, N]}. */
static bool is_product(GpBody *b, const GpType *l, const GpType *r) {
    const GpShapeTy *x = gp_zonk_arg(b->c, l->args[1]).shape, *y = gp_zonk_arg(b->c, r->args[1]).shape;
    return x->kind == GpShape_List && y->kind == GpShape_List && x->rank == 2 && y->rank == 2 &&
           x->dim[1] == y->dim[0];
}

/* Makes the tile `n`, of shape `s`, one of shape `to`. */
static bool suggest_broadcast(GpBody *b, GpDiag *d, const GpNode *n, const GpShapeTy *s, const GpShapeTy *to) {
    bool takes_method = n->kind == GpNode_PathExpr || n->kind == GpNode_Call || n->kind == GpNode_MethodCall ||
                        n->kind == GpNode_Paren;
    if (!takes_method || s->kind != GpShape_List || to->kind != GpShape_List || s->rank > to->rank || !gp_diag_is_kept(d))
        return false;
    const GpShapeTy *spread = s->rank ? gp_body_spread_axes(b, s, to) : s;
    if (!spread)
        return false;
    const char *first = spread == s ? "" : gp_arena_printf(b->c->arena, ".reshape(%s)", gp_body_shape_macro(b, spread));
    gp_suggest(d, (GpSpan){n->span.src, n->span.off + n->span.len, 0},
               gp_arena_printf(b->c->arena, "%s.broadcast(%s)", first, gp_body_shape_macro(b, to)),
               "operators on tiles work element by element: repeat it along the other's axes");
    return true;
}

static const GpType *report_shapes(GpBody *b, const Operation *o, const GpType *l,
                                   const GpType *r) {
    GpText lt = {.session = gp_arena_session(b->c->arena)}, rt = {.session = lt.session};
    gp_shapety_print(gp_zonk_arg(b->c, l->args[1]).shape, &lt);
    gp_shapety_print(gp_zonk_arg(b->c, r->args[1]).shape, &rt);
    GpSpan at = gp_operator_span(o->lhs, o->rhs, o->tok, o->n->span);
    GpDiag *d = gp_diag(b->c->diags, GpDiag_G0150, at, gp_text_cstr(&lt), gp_text_cstr(&rt));
    gp_label(d, o->lhs->span, "a tile of shape `%s`", gp_text_cstr(&lt));
    gp_label(d, o->rhs->span, "a tile of shape `%s`", gp_text_cstr(&rt));
    const GpShapeTy *x = gp_zonk_arg(b->c, l->args[1]).shape, *y = gp_zonk_arg(b->c, r->args[1]).shape;
    if (o->tok == GpTok_Star && is_product(b, l, r))
        gp_help(d, "operators on tiles work element by element; a product of matrices is `mma(a, b, acc)`");
    else if (!suggest_broadcast(b, d, o->lhs, x, y) && !suggest_broadcast(b, d, o->rhs, y, x))
        gp_help(d,
                "operators on tiles work element by element: bring one side to the other's shape with "
                "`.reshape(..)` or `.broadcast(..)`");
    gp_text_free(&lt);
    gp_text_free(&rt);
    return gp_body_error(b);
}

/* ---- tiles ------------------------------------------------------------------------------- */

static const GpType *tile_of_bool(GpBody *b, const GpType *tile) {
    GpGArg *args = GP_NEW_ARRAY(b->c->arena, GpGArg, tile->arg_count);
    memcpy(args, tile->args, tile->arg_count * sizeof *args);
    args[0].type = gp_body_bool(b);
    return gp_ty_adt(b->c->types, tile->def, args, tile->arg_count);
}

static const GpType *tile_result(GpBody *b, const Operation *o, const GpType *tile, const GpType *l,
                                 const GpType *r) {
    const GpType *elem = gp_body_head(b, tile->args[0].type);
    if (elem->kind != GpTy_Error && !is_unknown(elem) && !scalar_allows(b, elem, o->row))
        return report_none(b, o, l, r);
    gp_body_set_res(b, o->n, GpRes_Operator);
    return o->row->cls == Op_Compare ? tile_of_bool(b, tile) : tile;
}

static const GpType *check_tiles(GpBody *b, const Operation *o, const GpType *l, const GpType *r) {
    if (is_tile(l) && is_tile(r)) {
        if (!gp_body_unify(b, l->args[0].type, r->args[0].type, o->n->span))
            return report_pair(b, o, l, r);
        if (!gp_unify_shape(b->c, l->args[1].shape, r->args[1].shape) &&
            !gp_body_oblige_shape(b, l->args[1].shape, r->args[1].shape, o->n->span))
            return report_shapes(b, o, l, r);
        return tile_result(b, o, l, l, r);
    }
    const GpType *tile = is_tile(l) ? l : r, *scalar = is_tile(l) ? r : l;
    GpNode *side = is_tile(l) ? o->rhs : o->lhs;
    if (!(is_scalar(scalar) || scalar->kind == GpTy_Param) ||
        !gp_unify(b->c, tile->args[0].type, scalar))
        return report_pair(b, o, l, r);
    if (o->is_assign && side == o->lhs)
        return report_pair(b, o, l, r);
    gp_body_adjust(b, side, GpAdjust_Splat, tile);
    return tile_result(b, o, tile, l, r);
}

/* ---- operators that are methods of a struct ---------------------------------------------- */

/* The trait's method as the meaning of the operator at n; NULL: t does not implement the trait. */
static GpRes *find_overload(GpBody *b, GpNode *n, const GpType *t, const char *trait,
                            const char *method) {
    GpDef *def =
        gp_find_in_module(b->c, b->c->std->core, gp_intern_cstr(b->c->names, "ops"), GpNs_Type);
    def = gp_find_in_module(b->c, def, gp_intern_cstr(b->c->names, trait), GpNs_Type);
    GpSym name = gp_intern_cstr(b->c->names, method);
    GpDef *fn = def ? gp_map_get(&def->values, name) : NULL;
    if ((t->kind != GpTy_Adt && t->kind != GpTy_Param) || !fn || !gp_implements(b->c, t, def))
        return NULL;
    GpGArg self = {GpGArg_Type, {.type = t}};
    GpRes *res = gp_body_set_res(b, n, GpRes_Method);
    res->def = fn;
    res->args = gp_fresh_args(b->c, fn, &self, 1);
    res->arg_count = fn->generic_count;
    return res;
}

static const GpType *check_overload(GpBody *b, const Operation *o, const GpType *l,
                                    const GpType *r) {
    bool has_trait = !o->is_assign && o->row->cls != Op_Compare;
    GpRes *res = has_trait ? find_overload(b, o->n, l, o->row->trait, o->row->method) : NULL;
    if (!res)
        return report_none(b, o, l, r);
    GpTry mark = gp_unify_try(b->c);
    if (r->kind == GpTy_Adt) /* most often the one that is meant, among many */
        gp_unify(b->c, res->args[1].type, r);
    GpSelection fit = gp_body_select_impl(b, res);
    if (fit == GpSelection_None && r->kind == GpTy_Adt) {
        gp_unify_undo(b->c, mark);
        fit = gp_body_select_impl(b, res);
    }
    GpFnSig sig = gp_sig_subst(b->c, res->def, res->args, res->arg_count);
    if (fit == GpSelection_One && !gp_body_can_coerce(b, o->rhs, sig.params[1])) {
        gp_body_mismatch(b, o->rhs->span, sig.params[1], r, GP_NO_REASON);
        return gp_body_error(b);
    }
    if (fit == GpSelection_None ||
        (fit == GpSelection_Several && !gp_unify(b->c, sig.params[1], r)))
        return report_pair(b, o, l, r);
    if (fit == GpSelection_Several && (fit = gp_body_select_impl(b, res)) == GpSelection_None)
        return report_pair(b, o, l, r);
    if (fit == GpSelection_Several)
        gp_body_pend(b, (GpPending){.kind = GpPending_Impl, .node = o->n, .res = res});
    sig = gp_sig_subst(b->c, res->def, res->args, res->arg_count);
    if (l->kind == GpTy_Param)
        res->kind = GpRes_Operator; /* of an instance with a number it is that */
    gp_body_use_fn(b, res->def, gp_operator_span(o->lhs, o->rhs, o->tok, o->n->span));
    return sig.ret;
}

/* ---- scalars ----------------------------------------------------------------------------- */

static const GpType *check_scalars(GpBody *b, const Operation *o, const GpType *l,
                                   const GpType *r) {
    if (!scalar_allows(b, l, o->row))
        return report_none(b, o, l, r);
    gp_body_set_res(b, o->n, GpRes_Operator);
    if (o->row->cls == Op_Shift)
        return gp_body_is_int(r) ? l : report_pair(b, o, l, r);
    if (!gp_unify(b->c, l, r)) {
        if (o->row->cls != Op_Compare)
            return report_pair(b, o, l, r);
        GpReason why = {
            o->lhs->span,
            gp_arena_printf(b->c->arena, "expected because this is %s", gp_body_describe(b, l)),
            NULL};
        gp_body_mismatch(b, o->rhs->span, l, r, why);
        return gp_body_bool(b);
    }
    return o->row->cls == Op_Compare ? gp_body_bool(b) : l;
}

/* Arithmetic looks through one reference to a scalar; comparisons through equally many. */
static const GpType *look_through(GpBody *b, GpNode *n, const GpType *t) {
    if (t->kind != GpTy_Ref)
        return t;
    const GpType *inner = gp_body_head(b, t->inner);
    if (!is_scalar(inner) && !is_tile(inner) && inner->kind != GpTy_Param &&
        inner->kind != GpTy_Ref)
        return t;
    gp_body_adjust(b, n, GpAdjust_Deref, inner);
    return inner;
}

static const GpType *base_of(GpBody *b, const GpType *t) {
    while (t->kind == GpTy_Ref)
        t = gp_body_head(b, t->inner);
    return t;
}

static const GpType *report_operand(GpBody *b, const GpNode *n) {
    if (!b->has_reported_infer)
        gp_primary_label(gp_diag(b->c->diags, GpDiag_E0282, n->span, ""), "cannot infer type");
    b->has_reported_infer = true;
    return gp_body_error(b);
}

/* Takes from both sides the references that the operator looks through. */
static void look_through_both(GpBody *b, const Operation *o, const GpType **l, const GpType **r) {
    if (o->row->cls != Op_Compare) {
        if (!o->is_assign && !(*l)->is_mut)
            *l = look_through(b, o->lhs, *l);
        if (!(*r)->is_mut)
            *r = look_through(b, o->rhs, *r);
        return;
    }
    while ((*l)->kind == GpTy_Ref && (*r)->kind == GpTy_Ref && (*l)->is_mut == (*r)->is_mut) {
        const GpType *before = *l;
        *l = look_through(b, o->lhs, *l);
        *r = look_through(b, o->rhs, *r);
        if (*l == before)
            return;
    }
}

/* The operator on known operands, by what they are. */
static const GpType *check_operands(GpBody *b, const Operation *o, const GpType *l,
                                    const GpType *r) {
    bool is_compare = o->row->cls == Op_Compare;
    if (is_tile(l) || is_tile(r))
        return check_tiles(b, o, l, r);
    if (is_compare && (l->kind == GpTy_Ref) != (r->kind == GpTy_Ref) && is_scalar(base_of(b, l)) &&
        is_scalar(base_of(b, r)))
        return report_pair(b, o, l, r);
    if (l->kind == GpTy_Param && !is_compare && !o->is_assign && !is_element(b, l))
        return check_overload(b, o, l, r);
    if (!is_scalar(l) && l->kind != GpTy_Param)
        return check_overload(b, o, l, r);
    if (is_scalar(r) || r->kind == GpTy_Param)
        return check_scalars(b, o, l, r);
    return scalar_allows(b, l, o->row) ? report_pair(b, o, l, r) : report_none(b, o, l, r);
}

/* The type of the operation; NULL: not known yet. */
static const GpType *decide(GpBody *b, const Operation *o, bool is_last) {
    const GpType *l = gp_body_head(b, gp_expr_type(o->lhs));
    const GpType *r = gp_body_head(b, gp_expr_type(o->rhs));
    if (l->kind == GpTy_Error || r->kind == GpTy_Error)
        return gp_body_error(b);
    if (l->kind == GpTy_Never || r->kind == GpTy_Never)
        return o->row->cls == Op_Compare ? gp_body_bool(b) : l->kind == GpTy_Never ? r : l;
    if (!is_last && (is_unknown(l) || is_unknown(r)))
        return NULL;
    if (is_unknown(l))
        return report_operand(b, o->lhs);
    if (is_unknown(r) && !gp_unify(b->c, l, r))
        return report_operand(b, o->rhs);
    r = gp_body_head(b, r);
    look_through_both(b, o, &l, &r);
    return check_operands(b, o, l, r);
}

static void settle_assign(GpBody *b, const Operation *o, const GpType *result) {
    const GpType *l = gp_expr_type(o->lhs);
    if (!gp_body_is(b, result, GpTy_Error) && !gp_body_unify(b, l, result, o->n->span))
        gp_body_mismatch(b, o->rhs->span, l, result, GP_NO_REASON);
}

bool gp_body_retry_binary(GpBody *b, GpPending *p, bool is_last) {
    Operation o = operation_of(p->node);
    const GpType *waiting = p->type;
    const GpType *t = decide(b, &o, is_last);
    if (!t)
        return false;
    if (o.is_assign)
        settle_assign(b, &o, t);
    else if (gp_body_is(b, t, GpTy_Error))
        gp_unify(b->c, waiting, t);
    else if (!gp_body_unify(b, waiting, t, o.n->span))
        gp_body_mismatch(b, o.n->span, waiting, t, GP_NO_REASON);
    return true;
}

/* ---- entry points ------------------------------------------------------------------------ */

static const GpType *check_logic(GpBody *b, const Operation *o) {
    const GpType *want = gp_body_bool(b);
    gp_body_expect(b, o->lhs, want, GP_NO_REASON);
    bool diverged = b->diverges;
    gp_body_expect(b, o->rhs, want, GP_NO_REASON);
    b->diverges = diverged; /* the right side may not run */
    gp_body_set_res(b, o->n, GpRes_Operator);
    return want;
}

/* What the left side says about the right: its own type, or a tile's element type. */
static const GpType *guide(GpBody *b, const OpRow *row, const GpType *l) {
    l = gp_body_head(b, l);
    if (row->cls == Op_Shift)
        return NULL;
    if (l->kind == GpTy_Ref)
        l = gp_body_head(b, l->inner);
    if (is_tile(l))
        return l->args[0].type;
    return gp_body_is_number(l) && l->kind != GpTy_Infer ? l : NULL;
}

/* What a call gives need not be the type of the result: `scale(v) * w` of structs is a number. */
static bool is_call(GpNode *n) {
    n = gp_node_bare(n);
    while (n->kind == GpNode_Unary)
        n = gp_node_bare(GP_AS(Unary, n)->operand);
    return n->kind == GpNode_Call || n->kind == GpNode_MethodCall;
}

const GpType *gp_check_binary(GpBody *b, GpNode *n, const GpType *hint) {
    Operation o = operation_of(n);
    gp_assert(o.row);
    if (o.row->cls == Op_Logic)
        return check_logic(b, &o);
    if (hint && (o.row->cls == Op_Compare || !gp_body_is_number(gp_body_head(b, hint))))
        hint = NULL;
    gp_body_expr(b, o.lhs, is_call(o.lhs) ? NULL : hint);
    gp_body_expr(b, o.rhs, guide(b, o.row, gp_expr_type(o.lhs)));
    const GpType *t = decide(b, &o, false);
    if (t)
        return t;
    t = gp_fresh_type(b->c, GpInfer_Any);
    gp_body_pend(b, (GpPending){.kind = GpPending_Binary, .node = n, .type = t});
    return t;
}

void gp_check_op_assign(GpBody *b, GpNode *n) {
    Operation o = operation_of(n);
    gp_assert(o.row);
    gp_body_expr(b, o.lhs, NULL);
    gp_body_expr(b, o.rhs, guide(b, o.row, gp_expr_type(o.lhs)));
    gp_body_check_assignable(b, o.lhs, n->span, gp_operator_span(o.lhs, o.rhs, o.tok, n->span),
                             true);
    const GpType *t = decide(b, &o, false);
    if (t)
        settle_assign(b, &o, t);
    else
        gp_body_pend(b, (GpPending){.kind = GpPending_Binary, .node = n, .type = gp_body_unit(b)});
}

/* ---- unary ------------------------------------------------------------------------------- */

static const GpType *check_deref(GpBody *b, GpNode *n, GpNode *operand) {
    const GpType *t = gp_body_known(b, gp_body_expr(b, operand, NULL));
    gp_body_set_res(b, n, GpRes_Operator);
    if (t->kind == GpTy_Ref)
        return t->inner;
    if (t->kind == GpTy_RawPtr) {
        gp_body_need_unsafe(b, n->span, "dereference of raw pointer", "dereference of raw pointer");
        return t->inner;
    }
    if (is_unknown(t))
        return report_operand(b, operand);
    if (t->kind == GpTy_Error)
        return t;
    GpDiag *d = gp_diag(b->c->diags, GpDiag_E0614, n->span, gp_body_name(b, t));
    gp_primary_label(d, "can't be dereferenced");
    if (n->span.src && n->span.off > 0 && n->span.src->text[n->span.off - 1] == '*')
        gp_help(d, "%s", POWER);
    GpNode *bare = gp_node_bare(operand);
    if (!gp_ty_is_lang(t, GpLang_Option))
        return gp_body_error(b);
    GpNode *init =
        bare->res && bare->res->kind == GpRes_Local ? b->infos.at[bare->res->local->id].init : NULL;
    const char *name = init ? gp_body_text(b, bare->span) : "o";
    gp_help(d, "there may be no value: use it inside `if let Some(%s) = %s { .. }`", name,
            gp_body_text(b, init ? init->span : bare->span));
    return gp_body_error(b);
}

static bool unary_allows(GpBody *b, GpTok op, const GpType *t) {
    if (is_tile(t))
        t = gp_body_head(b, t->args[0].type);
    if (t->kind == GpTy_Param)
        return param_allows(b, t, op == GpTok_Minus ? "Neg" : "Not");
    if (op == GpTok_Not)
        return gp_body_is_int(t) || is_bool(t);
    return (gp_body_is_float(t) && has_arithmetic(t)) || t->kind == GpTy_Isize ||
           (t->kind == GpTy_Infer && t->infer == GpInfer_Int) ||
           (t->kind == GpTy_Elem && gp_elem_is_signed(t->elem));
}

const GpType *gp_check_unary(GpBody *b, GpNode *n, const GpType *hint) {
    GpAstUnary *u = GP_AS(Unary, n);
    if (u->op == GpTok_Star)
        return check_deref(b, n, u->operand);
    const GpType *t = gp_body_known(b, gp_body_expr(b, u->operand, hint));
    if (t->kind == GpTy_Error || t->kind == GpTy_Never)
        return t;
    t = look_through(b, u->operand, t);
    if (is_unknown(t))
        return report_operand(b, u->operand);
    GpNode *lit = gp_node_bare(u->operand);
    if (lit->kind == GpNode_Lit && u->op == GpTok_Minus)
        gp_body_set_res(b, lit, GpRes_Operator); /* judged together with its sign */
    bool is_minus = u->op == GpTok_Minus;
    GpRes *res = find_overload(b, n, t, is_minus ? "Neg" : "Not", is_minus ? "neg" : "not");
    if (res) {
        if (t->kind == GpTy_Param)
            res->kind = GpRes_Operator; /* of an instance with a number it is that */
        gp_body_use_fn(b, res->def, n->span);
        return gp_sig_subst(b->c, res->def, res->args, res->arg_count).ret;
    }
    if (unary_allows(b, u->op, t)) {
        gp_body_set_res(b, n, GpRes_Operator);
        return t;
    }
    const char *name = gp_body_name(b, t);
    GpDiag *d = gp_diag(b->c->diags, GpDiag_E0600, n->span, gp_tok_info[u->op].spelling, name);
    gp_primary_label(d, "cannot apply unary operator `%s`", gp_tok_info[u->op].spelling);
    if (u->op == GpTok_Minus && gp_body_is_int(t))
        gp_note(d, "unsigned values cannot be negated");
    return gp_body_error(b);
}
