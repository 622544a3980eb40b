/* Control flow: conditions, if, loops, break, continue, return, ranges. */
#include "dsl/check_body.h"

/* ---- conditions -------------------------------------------------------------------------- */

/* `if a = b`: the comparison is meant. */
static void report_assign(GpBody *b, GpNode *n) {
    GpAstAssign *a = GP_AS(Assign, n);
    uint32_t errors = gp_diags_errors(b->c->diags);
    gp_body_expr(b, a->rhs, gp_body_expr(b, a->lhs, NULL));
    if (errors != gp_diags_errors(b->c->diags))
        return;
    GpDiag *d = gp_diag(b->c->diags, GpDiag_E0308, n->span, "mismatched types");
    gp_primary_label(d, "expected `bool`, found `()`");
    const char *text = n->span.src ? n->span.src->text : "";
    for (uint32_t at = a->lhs->span.off + a->lhs->span.len; n->span.src && at < a->rhs->span.off;
         at++) {
        if (text[at] != '=')
            continue;
        gp_suggest(d, (GpSpan){n->span.src, at + 1, 0}, "=",
                   "you might have meant to compare for equality");
        return;
    }
}

void gp_body_cond(GpBody *b, GpNode *n) {
    n->type = gp_body_bool(b);
    if (n->kind == GpNode_Binary && GP_AS(Binary, n)->op == GpTok_AndAnd) {
        gp_body_set_res(b, n, GpRes_Operator);
        gp_body_cond(b, GP_AS(Binary, n)->lhs);
        bool diverged = b->diverges;
        gp_body_cond(b, GP_AS(Binary, n)->rhs);
        b->diverges = diverged;
        return;
    }
    if (n->kind == GpNode_LetCond) {
        GpAstLetCond *let = GP_AS(LetCond, n);
        const GpType *t = gp_body_expr(b, let->init, NULL);
        gp_body_pat(b, let->pat, t, NULL, let->init);
        return;
    }
    GpNode *bare = gp_node_bare(n);
    if (bare->kind == GpNode_Assign && GP_AS(Assign, bare)->op == GpTok_Eq) {
        bare->type = gp_body_error(b);
        report_assign(b, bare);
        return;
    }
    gp_body_expect(b, n, gp_body_bool(b), GP_NO_REASON);
}

/* ---- if ---------------------------------------------------------------------------------- */

static GpSpan tail_span(GpNode *n) {
    while (n->kind == GpNode_Block && GP_AS(Block, n)->tail)
        n = GP_AS(Block, n)->tail;
    return n->span;
}

static const GpType *check_lone_if(GpBody *b, GpNode *n, GpAstIf *f, const GpType *want) {
    const GpType *unit = gp_body_unit(b);
    bool is_statement = want && gp_body_head(b, want) == unit;
    if (is_statement) {
        gp_body_block_expect(b, f->then, unit, GP_NO_REASON);
        return unit;
    }
    const GpType *t = gp_body_head(b, gp_body_expr(b, f->then, want));
    if (t->kind == GpTy_Never || t->kind == GpTy_Error || t == unit || gp_unify(b->c, t, unit))
        return unit;
    GpDiag *d = gp_diag(b->c->diags, GpDiag_E0317, n->span);
    gp_primary_label(d, "expected %s, found `()`", gp_body_describe(b, t));
    gp_label(d, tail_span(f->then), "found here");
    gp_note(d, "`if` expressions without `else` evaluate to `()`");
    gp_help(d, "consider adding an `else` block that evaluates to the expected type");
    return gp_body_error(b);
}

/* The second branch takes the first one's type where nothing else asks for one. */
static const GpType *join_else(GpBody *b, GpAstIf *f, const GpType *then, const GpType *hint) {
    const GpType *other = gp_body_expr(b, f->otherwise, hint ? hint : then);
    if (gp_body_is(b, then, GpTy_Never)) {
        if (!gp_body_is(b, other, GpTy_Never))
            gp_body_adjust(b, f->then, GpAdjust_Never, other);
        return other;
    }
    if (gp_body_can_coerce(b, f->otherwise, then) || gp_body_can_coerce(b, f->then, other))
        return gp_expr_type(f->then);
    GpDiag *d = gp_diag(b->c->diags, GpDiag_E0308, tail_span(f->otherwise),
                        "`if` and `else` have incompatible types");
    gp_primary_label(d, "expected %s, found %s", gp_body_describe(b, then),
                     gp_body_describe(b, other));
    gp_label(d, tail_span(f->then), "expected because of this");
    return gp_body_error(b);
}

static const GpType *check_if(GpBody *b, GpNode *n, const GpType *want, const GpType *hint,
                              GpReason why) {
    GpAstIf *f = GP_AS(If, n);
    uint32_t visible = b->visible.len;
    gp_body_cond(b, f->cond);
    bool before = b->diverges;
    const GpType *t;
    if (!f->otherwise) {
        t = check_lone_if(b, n, f, want);
        b->visible.len = visible;
        b->diverges = before;
        return t;
    }
    if (want)
        gp_body_expect(b, f->then, want, why);
    else
        gp_body_expr(b, f->then, hint);
    t = gp_expr_type(f->then);
    b->visible.len = visible;
    bool then_diverges = b->diverges;
    b->diverges = before;
    if (want) {
        gp_body_expect(b, f->otherwise, want, why);
        t = want;
    } else {
        t = join_else(b, f, t, hint);
    }
    b->diverges = before || (then_diverges && b->diverges);
    bool is_never =
        gp_body_is(b, f->then->type, GpTy_Never) && gp_body_is(b, f->otherwise->type, GpTy_Never);
    return is_never ? gp_ty_never(b->c->types) : t;
}

const GpType *gp_check_if(GpBody *b, GpNode *n, const GpType *hint) {
    return check_if(b, n, NULL, hint, GP_NO_REASON);
}

const GpType *gp_body_if_expect(GpBody *b, GpNode *n, const GpType *want, GpReason why) {
    n->type = check_if(b, n, want, want, why);
    if (gp_body_is(b, n->type, GpTy_Never))
        gp_body_diverge(b, n);
    gp_body_coerce(b, n, want, why);
    return want;
}

/* ---- loops ------------------------------------------------------------------------------- */

static void check_loop_body(GpBody *b, GpFrame *frame, GpNode *body) {
    bool before = b->diverges;
    frame->outer = b->frame;
    b->frame = frame;
    gp_body_block_expect(b, body, gp_body_unit(b), GP_NO_REASON);
    b->frame = frame->outer;
    b->diverges = before;
}

const GpType *gp_check_while(GpBody *b, GpNode *n, const GpType *hint) {
    (void)hint;
    GpAstWhile *w = GP_AS(While, n);
    uint32_t visible = b->visible.len;
    GpFrame frame = {.kind = GpFrame_While, .node = n, .label = w->label, .outer = b->frame};
    b->frame = &frame;
    gp_body_cond(b, w->cond);
    b->frame = frame.outer;
    check_loop_body(b, &frame, w->body);
    b->visible.len = visible;
    return gp_body_unit(b);
}

const GpType *gp_check_loop(GpBody *b, GpNode *n, const GpType *hint) {
    GpAstLoop *l = GP_AS(Loop, n);
    GpFrame frame = {.kind = GpFrame_Loop, .node = n, .label = l->label};
    if (hint && gp_body_is(b, hint, GpTy_Never))
        hint = NULL;
    frame.result = hint ? hint : gp_fresh_type(b->c, GpInfer_Any);
    check_loop_body(b, &frame, l->body);
    return frame.has_break ? frame.result : gp_ty_never(b->c->types);
}

/* ---- for --------------------------------------------------------------------------------- */

static const GpType *range_type(GpBody *b, const GpType *item) {
    const GpDef *def = b->c->std->lang[GpLang_Range];
    if (!def)
        return gp_body_error(b);
    GpGArg *arg = GP_NEW(b->c->arena, GpGArg);
    arg->kind = GpGArg_Type;
    arg->type = item;
    return gp_ty_adt(b->c->types, def, arg, def->generic_count ? 1 : 0);
}

static const GpType *check_bounds(GpBody *b, GpNode *n) {
    GpAstRange *r = GP_AS(Range, n);
    if (!r->lo || !r->hi) {
        if (r->lo)
            gp_body_expr(b, r->lo, NULL);
        if (r->hi)
            gp_body_expr(b, r->hi, NULL);
        gp_body_unsupported(b, n->span, "ranges without %s", r->lo ? "an end" : "a start");
        n->type = gp_body_error(b);
        return n->type;
    }
    const GpType *lo = gp_body_expr(b, r->lo, NULL);
    gp_body_expect(b, r->hi, lo, GP_NO_REASON);
    gp_body_pend(b, (GpPending){.kind = GpPending_Range, .node = n, .type = lo});
    gp_body_set_res(b, n, GpRes_Operator);
    n->type = range_type(b, lo);
    return lo;
}

/* The index of a tile for a schedule, a number for a Dim; NULL for anything else. */
static const GpType *item_of(GpBody *b, const GpType *t) {
    if (gp_ty_is_lang(t, GpLang_Dim))
        return gp_ty_elem(b->c->types, GpElem_I32);
    const GpDef *index = b->c->std->lang[GpLang_PartitionIndex];
    return gp_ty_is_lang(t, GpLang_PartitionIndices) ? gp_ty_adt(b->c->types, index, t->args, 1)
                                                     : NULL;
}

static const GpType *report_iter(GpBody *b, GpNode *iter, const GpType *t) {
    const GpType *inner = t->kind == GpTy_Ref ? gp_body_head(b, t->inner) : t;
    if (t->kind == GpTy_Error)
        return t;
    if (inner->kind == GpTy_Array || inner->kind == GpTy_Slice) {
        GpDiag *d = gp_body_unsupported(b, iter->span, "`for` over an array or slice");
        gp_help(d, "go over the indices: `for i in 0..x.len() { .. x[i] .. }`");
        return gp_body_error(b);
    }
    const char *name = gp_body_name(b, t);
    GpDiag *d = gp_diag(b->c->diags, GpDiag_E0277, iter->span,
                        gp_arena_printf(b->c->arena, "`%s` is not an iterator", name));
    gp_primary_label(d, "`%s` is not an iterator", name);
    if (!gp_body_is_int(t))
        return gp_body_error(b);
    gp_note(d, "if you want to iterate between `start` until a value `end`, use the exclusive range "
               "syntax `start..end` or the inclusive range syntax `start..=end`");
    gp_suggest(d, (GpSpan){iter->span.src, iter->span.off, 0}, "0..", "count up to it");
    return gp_body_error(b);
}

static bool ends_in_range(GpNode *n) {
    n = gp_node_bare(n);
    while (n->kind == GpNode_MethodCall)
        n = gp_node_bare(GP_AS(MethodCall, n)->receiver);
    return n->kind == GpNode_Range;
}

/* a..b, a..=b and any row of .rev() and .step_by(k) on them. The item's type. */
static const GpType *check_iter(GpBody *b, GpNode *iter) {
    GpNode *n = gp_node_bare(iter);
    const GpType *item;
    if (n->kind == GpNode_Range) {
        item = check_bounds(b, n);
    } else if (n->kind == GpNode_MethodCall && ends_in_range(n)) {
        GpAstMethodCall *m = GP_AS(MethodCall, n);
        bool is_rev = strcmp(m->name->name, "rev") == 0 && m->args.len == 0;
        bool is_step = strcmp(m->name->name, "step_by") == 0 && m->args.len == 1;
        item = check_iter(b, m->receiver);
        for (uint32_t i = 0; i < m->args.len; i++)
            gp_body_expect(b, m->args.at[i], gp_ty_usize(b->c->types), GP_NO_REASON);
        if (!is_rev && !is_step)
            gp_body_unsupported(b, n->span, "the iterator method `%s`", m->name->name);
        gp_body_set_res(b, n, GpRes_Operator);
        n->type = m->receiver->type;
    } else {
        const GpType *t = gp_body_known(b, gp_body_expr(b, iter, NULL));
        item = item_of(b, t);
        return item ? item : report_iter(b, n, t);
    }
    for (GpNode *p = iter; p != n; p = GP_AS(Paren, p)->operand)
        p->type = n->type;
    return item;
}

const GpType *gp_check_for(GpBody *b, GpNode *n, const GpType *hint) {
    (void)hint;
    GpAstFor *f = GP_AS(For, n);
    uint32_t visible = b->visible.len;
    const GpType *item = check_iter(b, f->iter);
    if (gp_body_pat(b, f->pat, item, NULL, NULL))
        gp_body_irrefutable(b, f->pat, item, "`for` loop binding");
    GpFrame frame = {.kind = GpFrame_For, .node = n, .label = f->label};
    check_loop_body(b, &frame, f->body);
    b->visible.len = visible;
    return gp_body_unit(b);
}

const GpType *gp_check_range(GpBody *b, GpNode *n, const GpType *hint) {
    (void)hint;
    GpAstRange *r = GP_AS(Range, n);
    if (r->lo)
        gp_body_expr(b, r->lo, NULL);
    if (r->hi)
        gp_body_expr(b, r->hi, NULL);
    gp_body_unsupported(b, n->span, "ranges outside of `for`");
    return gp_body_error(b);
}

/* ---- leaving ----------------------------------------------------------------------------- */

static GpFrame *find_frame(GpBody *b, GpNode *n, GpSym label, const char *word) {
    GpFrame *through = NULL;
    for (GpFrame *f = b->frame; f; f = f->outer) {
        if (f->kind == GpFrame_Closure) {
            through = f;
            break;
        }
        if (label ? f->label == label : f->kind != GpFrame_Block)
            return f;
        if (!label && f->label) {
            gp_primary_label(gp_diag(b->c->diags, GpDiag_E0695, n->span, word),
                             "say which: `%s %s` leaves the block", word, f->label->name);
            return NULL;
        }
    }
    if (through && !label) {
        GpDiag *d = gp_diag(b->c->diags, GpDiag_E0267, n->span, word);
        gp_primary_label(d, "cannot `%s` inside of a closure", word);
        gp_label(d, through->node->span, "enclosing closure");
    } else if (label) {
        GpSpan at = {n->span.src, n->span.off + (uint32_t)strlen(word) + 1,
                     (uint32_t)strlen(label->name)};
        gp_primary_label(gp_diag(b->c->diags, GpDiag_E0426, at, label->name),
                         "undeclared label `%s`", label->name);
    } else {
        bool is_break = strcmp(word, "break") == 0;
        GpDiag *d =
            gp_diag(b->c->diags, GpDiag_E0268, n->span, word, is_break ? " or labeled block" : "");
        gp_primary_label(d, "cannot `%s` outside of a loop%s", word,
                         is_break ? " or labeled block" : "");
    }
    return NULL;
}

static void check_break_value(GpBody *b, GpNode *n, GpAstBreak *br, GpFrame *frame) {
    frame->has_break = true;
    if (!br->value) {
        if (frame->result && !gp_unify(b->c, frame->result, gp_body_unit(b)))
            gp_body_mismatch(b, n->span, frame->result, gp_body_unit(b), GP_NO_REASON);
        return;
    }
    if (frame->result) {
        gp_body_expect(b, br->value, frame->result, GP_NO_REASON);
        return;
    }
    gp_body_expr(b, br->value, NULL);
    const char *loop = frame->kind == GpFrame_For ? "for" : "while";
    GpDiag *d = gp_diag(b->c->diags, GpDiag_E0571, n->span, loop);
    gp_primary_label(d, "can only break with a value inside `loop` or breakable block");
    gp_label(d, (GpSpan){frame->node->span.src, frame->node->span.off, (uint32_t)strlen(loop)},
             "you can't `break` with a value in a `%s` loop", loop);
}

const GpType *gp_check_break(GpBody *b, GpNode *n, const GpType *hint) {
    (void)hint;
    GpAstBreak *br = GP_AS(Break, n);
    GpFrame *frame = find_frame(b, n, br->label, "break");
    if (!frame) {
        if (br->value)
            gp_body_expr(b, br->value, NULL);
        return gp_ty_never(b->c->types);
    }
    gp_body_set_res(b, n, GpRes_Target)->node = frame->node;
    check_break_value(b, n, br, frame);
    return gp_ty_never(b->c->types);
}

const GpType *gp_check_continue(GpBody *b, GpNode *n, const GpType *hint) {
    (void)hint;
    GpFrame *frame = find_frame(b, n, GP_AS(Continue, n)->label, "continue");
    if (!frame)
        return gp_ty_never(b->c->types);
    if (frame->kind == GpFrame_Block) {
        GpDiag *d = gp_diag(b->c->diags, GpDiag_E0696, n->span);
        gp_primary_label(d, "labeled blocks cannot be `continue`'d");
        return gp_ty_never(b->c->types);
    }
    gp_body_set_res(b, n, GpRes_Target)->node = frame->node;
    return gp_ty_never(b->c->types);
}

const GpType *gp_check_return(GpBody *b, GpNode *n, const GpType *hint) {
    (void)hint;
    GpAstReturn *r = GP_AS(Return, n);
    const GpType *want = b->ret;
    GpSpan at = b->ret_span;
    for (GpFrame *f = b->frame; f; f = f->outer)
        if (f->kind == GpFrame_Closure) {
            want = f->result;
            at = f->ret_span;
            break;
        }
    const char *label =
        gp_arena_printf(b->c->arena, "expected `%s` because of return type", gp_body_name(b, want));
    GpReason why = {at, label, NULL};
    if (want == b->ret && !at.src && b->fn->kernel.track != GpTrack_None)
        why = (GpReason){b->fn->span, "a kernel returns nothing: it writes through a parameter", NULL};
    if (r->value) {
        gp_body_expect(b, r->value, want, why);
    } else if (!gp_unify(b->c, want, gp_body_unit(b))) {
        GpDiag *d = gp_diag(b->c->diags, GpDiag_E0069, n->span);
        gp_primary_label(d, "return type is not `()`");
        if (at.src)
            gp_label(d, at, "%s", label);
    }
    return gp_ty_never(b->c->types);
}
