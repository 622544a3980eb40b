/* `as`: number types, bool, char, enums without fields, and pointers, as rustc allows them. */
#include "dsl/check_body.h"

static bool is_literal(const GpNode *n) {
    if (n->kind == GpNode_Paren)
        return is_literal(GP_AS(Paren, (GpNode *)n)->operand);
    if (n->kind == GpNode_Unary)
        return is_literal(GP_AS(Unary, (GpNode *)n)->operand);
    return n->kind == GpNode_Lit;
}

const GpType *gp_check_cast(GpBody *b, GpNode *n, const GpType *hint) {
    (void)hint;
    GpAstCast *c = GP_AS(Cast, n);
    const GpType *to = gp_type_of_node(b->c, b->fn, c->type);
    c->type->type = to;
    /* As in rustc, the target is a hint for a literal alone: `255 as u8`, not `(255 - n) as u8`. */
    bool is_hint = is_literal(c->operand) && gp_body_is_number(gp_body_head(b, to));
    const GpType *from = gp_body_expr(b, c->operand, is_hint ? to : NULL);
    gp_body_set_res(b, n, GpRes_Operator);
    if (gp_body_is(b, to, GpTy_Infer))
        gp_unify(b->c, to, from);
    gp_body_pend(b, (GpPending){.kind = GpPending_Cast, .node = n});
    return to;
}

static bool is_bool(const GpType *t) { return t->kind == GpTy_Elem && t->elem == GpElem_Bool; }
static bool is_primitive(const GpType *t) {
    return gp_body_is_number(t) || is_bool(t) || t->kind == GpTy_Char || t->kind == GpTy_RawPtr;
}

static bool is_plain_enum(const GpType *t) {
    if (t->kind != GpTy_Adt || t->def->kind != GpDef_Enum)
        return false;
    for (uint32_t i = 0; i < t->def->item_count; i++)
        if (t->def->items[i]->field_count)
            return false;
    return t->def->item_count > 0;
}

static bool is_allowed(const GpType *from, const GpType *to) {
    if (from == to)
        return true;
    if (from->kind == GpTy_Ref && to->kind == GpTy_RawPtr)
        return from->inner == to->inner && (from->is_mut || !to->is_mut);
    if (gp_body_is_int(to) && (is_bool(from) || from->kind == GpTy_Char || is_plain_enum(from)))
        return true;
    if (from->kind == GpTy_RawPtr)
        return to->kind == GpTy_RawPtr || gp_body_is_int(to);
    if (to->kind == GpTy_RawPtr)
        return from->kind == GpTy_Usize;
    if (to->kind == GpTy_Char)
        return from->kind == GpTy_Elem && from->elem == GpElem_U8;
    return gp_body_is_number(from) && gp_body_is_number(to);
}

static void report_bool(GpBody *b, GpNode *n, GpNode *operand, const GpType *from) {
    GpDiag *d = gp_diag(b->c->diags, GpDiag_E0054, n->span, gp_ty_name(b->c->arena, from));
    gp_primary_label(d, "unsupported cast");
    if (gp_body_is_int(from))
        gp_suggest(d,
                   (GpSpan){n->span.src, operand->span.off + operand->span.len,
                            n->span.off + n->span.len - operand->span.off - operand->span.len},
                   " != 0", "compare with zero instead");
}

void gp_body_finish_cast(GpBody *b, GpNode *n) {
    GpNode *operand = GP_AS(Cast, n)->operand;
    const GpType *to = gp_zonk(b->c, n->type);
    const GpType *from = gp_zonk(b->c, gp_expr_type(operand));
    if (to->kind == GpTy_Error || from->kind == GpTy_Error || from->kind == GpTy_Never ||
        from->has_infer || to->has_infer || is_allowed(from, to))
        return;
    const char *fn = gp_ty_name(b->c->arena, from), *tn = gp_ty_name(b->c->arena, to);
    if (is_bool(to) && gp_body_is_number(from)) {
        report_bool(b, n, operand, from);
    } else if (to->kind == GpTy_Char && gp_body_is_number(from)) {
        gp_primary_label(gp_diag(b->c->diags, GpDiag_E0604, n->span, fn), "invalid cast");
    } else if ((is_primitive(from) || from->kind == GpTy_Ref || is_plain_enum(from)) &&
               is_primitive(to)) {
        GpDiag *d = gp_diag(b->c->diags, GpDiag_E0606, n->span, fn, tn);
        if (from->kind == GpTy_Ref && is_allowed(from->inner, to))
            gp_suggest(d, (GpSpan){operand->span.src, operand->span.off, 0}, "*",
                       "dereference the expression");
    } else {
        GpDiag *d = gp_diag(b->c->diags, GpDiag_E0605, n->span, fn, tn);
        gp_primary_label(
            d, "an `as` expression can only be used to convert between primitive types or to "
               "coerce to a specific trait object");
        if (gp_ty_is_lang(from, GpLang_Tile))
            gp_suggest(d, n->span,
                       gp_arena_printf(b->c->arena, "convert_tile::<%s>(%s)", tn,
                                       gp_body_text(b, operand->span)),
                       "the elements of a tile are converted by a function");
    }
}
