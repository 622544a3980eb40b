/* Blocks and statements: scopes, `let`, the value of a block, unreachable code. */
#include "dsl/check_body.h"

/* ---- let ------------------------------------------------------------------------------------- */

static void check_otherwise(GpBody *b, GpAstLet *let) {
    bool diverged = b->diverges;
    b->diverges = false;
    const GpType *t = gp_body_expr(b, let->otherwise, gp_ty_never(b->c->types));
    if (!gp_body_is(b, t, GpTy_Never) && !gp_body_is(b, t, GpTy_Error)) {
        GpDiag *d = gp_diag(b->c->diags, GpDiag_E0308, let->otherwise->span,
                            "`else` clause of `let...else` does not diverge");
        gp_primary_label(d, "expected `!`, found %s", gp_body_describe(b, t));
        gp_help(d, "try adding a diverging expression, such as `return` or `panic!(..)`");
    }
    b->diverges = diverged;
}

static const GpType *check_init(GpBody *b, GpAstLet *let, const GpType *type) {
    if (let->type) {
        GpReason why = {let->type->span, "expected due to this", NULL};
        gp_body_expect(b, let->init, type, why);
        return type;
    }
    const GpType *t = gp_body_expr(b, let->init, NULL);
    if (!gp_body_is(b, t, GpTy_Never))
        return t;
    gp_body_can_coerce(b, let->init, type);
    return type;
}

static void check_let(GpBody *b, GpAstLet *let) {
    const GpType *type =
        let->type ? gp_type_of_node(b->c, b->fn, let->type) : gp_fresh_type(b->c, GpInfer_Any);
    if (let->type)
        let->type->type = type;
    if (let->init)
        type = check_init(b, let, type);
    if (let->otherwise)
        check_otherwise(b, let);
    uint32_t first = b->locals.len;
    if (gp_body_pat(b, let->pat, type, let->type, let->init) && !let->otherwise)
        gp_body_irrefutable(b, let->pat, type, "local binding");
    for (uint32_t i = first; i < b->locals.len && !let->init; i++)
        b->infos.at[i].is_deferred = true;
}

/* ---- statements -------------------------------------------------------------------------- */

static void warn_unreachable(GpBody *b, GpNode *n, bool is_stmt) {
    if (!b->diverged_at.src)
        return;
    GpDiag *d = gp_diag(b->c->diags, GpDiag_G0227, n->span, is_stmt ? "statement" : "expression");
    gp_primary_label(d, "unreachable %s", is_stmt ? "statement" : "expression");
    gp_label(d, b->diverged_at, "any code following this expression is unreachable");
    b->diverged_at = GP_NO_SPAN; /* one warning for all that follows */
}

static void check_stmt(GpBody *b, GpNode *stmt) {
    if (stmt->kind == GpNode_ItemStmt) {
        if (GP_AS(ItemStmt, stmt)->item->kind == GpNode_MacroRules)
            gp_body_mark_macro(b, GP_AS(ItemStmt, stmt)->item);
        return;
    }
    if (b->diverges)
        warn_unreachable(b, stmt, true);
    if (stmt->kind == GpNode_Let) {
        check_let(b, GP_AS(Let, stmt));
        return;
    }
    GpAstExprStmt *s = GP_AS(ExprStmt, stmt);
    if (s->has_semi) {
        gp_body_expr(b, s->expr, NULL);
        return;
    }
    gp_body_expect(b, s->expr, gp_body_unit(b), GP_NO_REASON);
}

void gp_body_diverge(GpBody *b, GpNode *n) {
    if (!b->diverges)
        b->diverged_at = n->span;
    b->diverges = true;
}

/* ---- blocks ------------------------------------------------------------------------------ */

/* Where a missing tail hurts: a statement whose semicolon throws the value away. */
static void help_semicolon(GpBody *b, GpDiag *d, GpAstBlock *blk, const GpType *want) {
    if (!blk->stmts.len)
        return;
    GpNode *last = blk->stmts.at[blk->stmts.len - 1];
    if (last->kind != GpNode_ExprStmt || !GP_AS(ExprStmt, last)->has_semi || !last->span.src)
        return;
    const GpType *t = GP_AS(ExprStmt, last)->expr->type;
    if (!t || gp_body_is(b, t, GpTy_Error) || !gp_unify(b->c, want, t))
        return;
    gp_suggest(d, (GpSpan){last->span.src, last->span.off + last->span.len - 1, 1}, "",
               "remove this semicolon to return this value");
}

static void report_no_value(GpBody *b, GpNode *n, const GpType *want, GpReason why) {
    GpAstBlock *blk = GP_AS(Block, n);
    bool is_body =
        b->fn->node && b->fn->node->kind == GpNode_Fn && GP_AS(Fn, b->fn->node)->body == n;
    GpSpan at = is_body && b->ret_span.src ? b->ret_span : n->span;
    GpDiag *d = gp_diag(b->c->diags, GpDiag_E0308, at, "mismatched types");
    gp_primary_label(d, "expected %s, found `()`", gp_body_describe(b, want));
    if (is_body)
        gp_label(d, b->fn->span,
                 "implicitly returns `()` as its body has no tail or `return` expression");
    else if (why.label && why.span.src)
        gp_label(d, why.span, "%s", why.label);
    help_semicolon(b, d, blk, want);
}

/* The tail, or (): `want` NULL asks for nothing. */
static const GpType *check_tail(GpBody *b, GpNode *n, const GpType *want, const GpType *hint,
                                GpReason why) {
    GpAstBlock *blk = GP_AS(Block, n);
    if (blk->tail) {
        if (b->diverges)
            warn_unreachable(b, blk->tail, false);
        if (!want)
            return gp_body_expr(b, blk->tail, hint);
        gp_body_expect(b, blk->tail, want, why);
        return want;
    }
    if (b->diverges) {
        if (want && gp_body_is(b, want, GpTy_Infer))
            gp_body_pend(b, (GpPending){.kind = GpPending_Diverge, .node = n, .type = want});
        return gp_ty_never(b->c->types);
    }
    if (want && !gp_unify(b->c, want, gp_body_unit(b))) {
        report_no_value(b, n, want, why);
        return want;
    }
    return gp_body_unit(b);
}

static const GpType *check_inside(GpBody *b, GpNode *n, const GpType *want, const GpType *hint,
                                  GpReason why) {
    GpAstBlock *blk = GP_AS(Block, n);
    GpFrame frame = {.kind = GpFrame_Block, .node = n, .label = blk->label, .outer = b->frame};
    uint32_t visible = b->visible.len;
    if (blk->label) {
        frame.result = want ? want : gp_fresh_type(b->c, GpInfer_Any);
        want = frame.result;
        b->frame = &frame;
    }
    for (uint32_t i = 0; i < blk->stmts.len; i++)
        check_stmt(b, blk->stmts.at[i]);
    const GpType *t = check_tail(b, n, want, hint, why);
    b->visible.len = visible;
    if (!blk->label)
        return t;
    b->frame = frame.outer;
    if (!frame.has_break)
        return t;
    b->diverges = false;
    return want;
}

static const GpType *check_block(GpBody *b, GpNode *n, const GpType *want, const GpType *hint,
                                 GpReason why) {
    GpAstBlock *blk = GP_AS(Block, n);
    GpUnsafe frame = {.node = n, .outer = b->unsafe_block};
    if (blk->is_unsafe)
        b->unsafe_block = &frame;
    const GpType *t = check_inside(b, n, want, hint, why);
    if (!blk->is_unsafe)
        return t;
    b->unsafe_block = frame.outer;
    if (!frame.is_used && !b->fn->is_unsafe) {
        GpSpan word = {n->span.src, n->span.off, 6};
        GpDiag *d = gp_diag(b->c->diags, GpDiag_G0228, word);
        gp_primary_label(d, "unnecessary `unsafe` block");
        if (frame.outer)
            gp_label(d, (GpSpan){n->span.src, frame.outer->node->span.off, 6},
                     "because it's nested under this `unsafe` block");
    }
    return t;
}

const GpType *gp_check_block(GpBody *b, GpNode *n, const GpType *hint) {
    return check_block(b, n, NULL, hint, GP_NO_REASON);
}

const GpType *gp_body_block_expect(GpBody *b, GpNode *n, const GpType *want, GpReason why) {
    n->type = check_block(b, n, want, want, why);
    if (gp_body_is(b, n->type, GpTy_Never) && !gp_body_is(b, want, GpTy_Never)) {
        gp_body_diverge(b, n);
        gp_body_adjust(b, n, GpAdjust_Never, want);
    }
    return want;
}
