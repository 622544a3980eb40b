/* Coercions and the mismatch report: what Rust converts without being asked (never to anything,
** &mut to &, reborrows, &&T to &T, &[T; N] to &[T]) and E0308 for everything else. */
#include "dsl/check_body.h"

static const GpAdjust *append(GpBody *b, const GpAdjust *list, const GpAdjust *step) {
    if (!list)
        return step;
    GpAdjust *copy = GP_NEW(b->c->arena, GpAdjust);
    *copy = *list;
    copy->next = append(b, list->next, step);
    return copy;
}

void gp_body_adjust(GpBody *b, GpNode *n, GpAdjustKind kind, const GpType *type) {
    GpAdjust *step = GP_NEW(b->c->arena, GpAdjust);
    step->kind = kind;
    step->type = type;
    n->adjust = append(b, n->adjust, step);
}

/* ---- reporting ------------------------------------------------------------------------------ */

const char *gp_body_describe(GpBody *b, const GpType *t) {
    t = gp_zonk(b->c, t);
    if (t->kind == GpTy_Infer && t->infer == GpInfer_Int)
        return "integer";
    if (t->kind == GpTy_Infer && t->infer == GpInfer_Float)
        return "floating-point number";
    if (t->kind == GpTy_Closure)
        return "closure";
    if (t->kind == GpTy_FnItem)
        return t->def->kind == GpDef_Fn        ? "fn item"
               : t->def->kind == GpDef_Variant ? "enum constructor"
                                               : "struct constructor";
    return gp_arena_printf(b->c->arena, "`%s`", gp_ty_name(b->c->arena, t));
}

/* Extents that differ are named: the two types often look alike. */
static void explain_shapes(GpBody *b, GpDiag *d, const GpType *want, const GpType *got) {
    while (want->kind == GpTy_Ref && got->kind == GpTy_Ref) {
        want = want->inner;
        got = got->inner;
    }
    if (want->kind != GpTy_Adt || got->kind != GpTy_Adt || want->def != got->def)
        return;
    for (uint32_t i = 0; i < want->arg_count && i < got->arg_count; i++) {
        if (want->args[i].kind != GpGArg_Shape || got->args[i].kind != GpGArg_Shape ||
            want->args[i].shape == got->args[i].shape ||
            want->args[i].shape->kind == GpShape_Infer)
            continue;
        GpText t = {.session = gp_arena_session(b->c->arena)};
        gp_text_puts(&t, "expected shape `");
        gp_shapety_print(want->args[i].shape, &t);
        gp_text_puts(&t, "`, found shape `");
        gp_shapety_print(got->args[i].shape, &t);
        gp_text_puts(&t, "`");
        gp_note(d, "%s", gp_text_cstr(&t));
        gp_text_free(&t);
    }
}

static const char *article(const char *name) { return strchr("aeif", name[0]) ? "an" : "a"; }

void gp_body_help_cast(GpBody *b, GpDiag *d, GpSpan span, const GpType *want, const GpType *got) {
    want = gp_zonk(b->c, want);
    got = gp_zonk(b->c, got);
    if (!span.src || !gp_body_is_number(want) || !gp_body_is_number(got) || want->has_infer ||
        got->has_infer || want == got)
        return;
    const char *to = gp_ty_name(b->c->arena, want), *from = gp_ty_name(b->c->arena, got);
    const char *text = gp_body_text(b, span);
    size_t len = strlen(text), suffix = strlen(from);
    if (len != span.len)
        return; /* several lines */
    if (text[0] >= '0' && text[0] <= '9' && len > suffix && !strcmp(text + len - suffix, from) &&
        strspn(text, "0123456789_") + suffix == len && gp_body_is_int(want)) {
        gp_suggest(d, (GpSpan){span.src, span.off + (uint32_t)(len - suffix), (uint32_t)suffix}, to,
                   "change the type of the numeric literal from `%s` to `%s`", from, to);
        return;
    }
    const char *how = "";
    if (gp_body_is_int(got) && gp_body_is_float(want))
        how = ", producing the floating point representation of the integer, rounded if necessary";
    else if (gp_body_is_float(got) && gp_body_is_int(want))
        how = ", rounding towards zero";
    const char *line = gp_arena_printf(b->c->arena, "you can cast %s `%s` to %s `%s`%s",
                                       article(from), from, article(to), to, how);
    if (strpbrk(text, " <>"))
        gp_suggest(d, span, gp_arena_printf(b->c->arena, "(%s) as %s", text, to), "%s", line);
    else
        gp_suggest(d, (GpSpan){span.src, span.off + span.len, 0},
                   gp_arena_printf(b->c->arena, " as %s", to), "%s", line);
}

/* An operand of the call that has a shape. */
static GpNode *find_like(GpBody *b) {
    GpDims dims;
    for (uint32_t i = 0; i <= b->alike.args.len; i++) {
        GpNode *n = i < b->alike.args.len ? b->alike.args.at[i] : b->alike.receiver;
        if (n && n->kind == GpNode_PathExpr && n->type && gp_body_dims(b, n->type, &dims))
            return n;
    }
    return NULL;
}

/* A number where a tile is wanted, a tile where one truth is. */
static bool help_tile(GpBody *b, GpDiag *d, GpSpan span, const GpType *want, const GpType *got) {
    if (gp_ty_is_lang(got, GpLang_Tile) && want == gp_body_bool(b)) {
        gp_help(d, "a tile has no one truth: `select(condition, a, b)` chooses element by element, and `&` "
                   "and `|` join conditions");
        return true;
    }
    if (!gp_ty_is_lang(want, GpLang_Tile) || !gp_body_is_number(got))
        return false;
    const char *text = gp_body_text(b, span);
    const GpNode *like = gp_diag_is_kept(d) ? find_like(b) : NULL;
    GpDims dims;
    if (gp_body_dims(b, want, &dims) && dims.rank == 0)
        gp_suggest(d, span, gp_arena_printf(b->c->arena, "scalar_to_tile(%s)", text),
                   "make the number a tile");
    else if (like)
        gp_suggest(d, span,
                   gp_arena_printf(b->c->arena, "constant(%s, %s.shape())", text,
                                   gp_body_text(b, like->span)),
                   "spread the number over a tile");
    else
        gp_help(d,
                "spread the number over a tile: `constant(%s, shape)`, where `t.shape()` is the "
                "shape of a tile `t`",
                text);
    return true;
}

/* What makes a constant pointer one to write through; NULL: that is not the mistake. */
static const char *cast_from_constant(const GpType *want, const GpType *got) {
    bool are_tiles = gp_ty_is_lang(want, GpLang_PointerTile) && gp_ty_is_lang(got, GpLang_PointerTile);
    if (are_tiles) {
        want = want->args[0].type;
        got = got->args[0].type;
    }
    if (want->kind != GpTy_RawPtr || got->kind != GpTy_RawPtr || !want->is_mut || got->is_mut)
        return NULL;
    return are_tiles ? "cast_tile_mut" : "cast_mut";
}

/* Where a shape is wanted: `[B, 4]`, or one extent that is a constant. */
static bool is_shape_text(GpBody *b, const GpType *want, const GpType *got, GpSpan span) {
    char first = gp_body_text(b, span)[0];
    if (!gp_ty_is_lang(want, GpLang_Shape))
        return false;
    return got->kind == GpTy_Array ? first == '['
                                   : gp_body_is_int(got) && !(first >= 'a' && first <= 'z');
}

static bool ends_in_get(GpBody *b, GpSpan span) {
    const char *text = gp_body_text(b, span);
    size_t len = strlen(text);
    return len == span.len && len > 6 && strcmp(text + len - 6, ".get()") == 0;
}

/* The value of a body whose function says nothing of a result. */
static bool is_result(GpBody *b, GpSpan span, const GpType *want, const GpType *got) {
    const GpAstFn *fn = b->fn->node && b->fn->node->kind == GpNode_Fn ? GP_AS(Fn, b->fn->node) : NULL;
    if (!fn || fn->ret || fn->where.len || b->fn->kernel.track != GpTrack_None ||
        want != gp_ty_unit(b->c->types) || got->has_infer || !fn->body || fn->body->kind != GpNode_Block)
        return false;
    const GpNode *tail = GP_AS(Block, fn->body)->tail;
    return tail && tail->span.src == span.src && tail->span.off == span.off;
}

/* Tiles of one shape. */
static bool is_of_shape(const GpType *want, const GpType *got) {
    return gp_ty_is_lang(want, GpLang_Tile) && gp_ty_is_lang(got, GpLang_Tile) &&
           want->args[1].shape == got->args[1].shape;
}

/* A tile of other elements, a tensor in a tile's place or a tile in a tensor's. */
static bool help_elements(GpBody *b, GpDiag *d, GpSpan span, const GpType *want, const GpType *got) {
    const GpType *tensor = got->kind == GpTy_Ref ? got->inner : got;
    const GpType *target = want->kind == GpTy_Ref ? want->inner : want;
    const GpType *elem = is_of_shape(want, got) ? got->args[0].type : NULL;
    if (elem && elem->kind == GpTy_Infer && elem->infer == GpInfer_Int && gp_body_is_float(want->args[0].type))
        gp_help(d, "its elements are integers; where it is made, `0.0` is a float");
    else if (elem && !got->has_infer && !want->has_infer)
        gp_suggest(d, span,
                   gp_arena_printf(b->c->arena, "convert_tile::<%s>(%s)",
                                   gp_ty_name(b->c->arena, want->args[0].type), gp_body_text(b, span)),
                   "convert the elements");
    else if (gp_ty_is_lang(want, GpLang_Tile) && gp_ty_is_lang(tensor, GpLang_Tensor))
        gp_help(d, "a tile of a tensor is loaded: `x.load_like(z)`, `x.load_tile(shape![..], [i])`");
    else if (gp_ty_is_lang(target, GpLang_Tensor) && gp_ty_is_lang(got, GpLang_Tile))
        gp_help(d, "a tile is stored to a tensor: `z.store(tile)`");
    else
        return false;
    return true;
}

/* What is written otherwise: a result, a shape, a list of indices, a witness. */
static bool help_written(GpBody *b, GpDiag *d, GpSpan span, const GpType *want, const GpType *got) {
    const char *text = gp_body_text(b, span);
    if (is_result(b, span, want, got))
        gp_suggest(d, (GpSpan){span.src, GP_AS(Fn, b->fn->node)->body->span.off, 0},
                   gp_arena_printf(b->c->arena, "-> %s ", gp_ty_name(b->c->arena, got)),
                   "say what the function returns");
    else if (is_shape_text(b, want, got, span))
        gp_suggest(d, span,
                   gp_arena_printf(b->c->arena, got->kind == GpTy_Array ? "shape!%s" : "shape![%s]", text),
                   "a shape is written");
    else if (gp_ty_is_lang(want, GpLang_Array) && got->kind == GpTy_Array && text[0] == '[')
        gp_suggest(d, (GpSpan){span.src, span.off, 0}, "const_array!", "a list of constants is written");
    else if (want->kind == GpTy_Array && got->kind == GpTy_Tuple && text[0] == '(' && strlen(text) == span.len)
        gp_suggest(d, span, gp_arena_printf(b->c->arena, "[%.*s]", (int)strlen(text) - 2, text + 1),
                   "a list stands in brackets");
    else if (want->kind == GpTy_Array && gp_body_is_int(got) && gp_body_is_int(want->inner))
        gp_suggest(d, span, gp_arena_printf(b->c->arena, "[%s]", text), "there is one for each axis");
    else if (gp_ty_is_lang(want, GpLang_ThreadIndex) && ends_in_get(b, span))
        gp_suggest(d, (GpSpan){span.src, span.off + span.len - 6, 6}, "",
                   "it is taken as the witness that it is");
    else
        return false;
    return true;
}

/* A reference too few or too many. */
static bool help_borrow(GpBody *b, GpDiag *d, GpSpan span, const GpType *want, const GpType *got) {
    GpSpan start = {span.src, span.off, 0};
    bool takes_any = want->kind == GpTy_Ref && want->inner->kind == GpTy_Infer && got->kind != GpTy_Ref;
    bool is_list = want->kind == GpTy_Ref && want->inner->kind == GpTy_Slice && got->kind == GpTy_Array &&
                   want->inner->inner == got->inner;
    if (want->kind == GpTy_Ref && !want->is_mut && (want->inner == got || takes_any || is_list))
        gp_suggest(d, start, "&", "consider borrowing here");
    else if (want->kind == GpTy_Ref && want->is_mut && (want->inner == got || is_list))
        gp_suggest(d, start, "&mut ", "consider mutably borrowing here");
    else if (want->kind == GpTy_Ref && got->kind == GpTy_Ref && want->inner == got->inner && want->is_mut &&
             gp_body_text(b, span)[0] == '&')
        gp_suggest(d, (GpSpan){span.src, span.off + 1, 0}, "mut ", "types differ in mutability");
    else if (got->kind == GpTy_Ref && got->inner == want && gp_body_text(b, span)[0] == '&')
        gp_suggest(d, (GpSpan){span.src, span.off, got->is_mut ? 5 : 1}, "", "remove the borrow");
    else if (got->kind == GpTy_Ref && got->inner == want && gp_ty_is_copy(want))
        gp_suggest(d, start, "*", "consider dereferencing the borrow");
    else
        return false;
    return true;
}

/* The change that makes a simple mistake right; each was tried on the program it answers. */
static void help_mismatch(GpBody *b, GpDiag *d, GpSpan span, const GpType *want,
                          const GpType *got) {
    want = gp_zonk(b->c, want);
    got = gp_zonk(b->c, got);
    explain_shapes(b, d, want, got);
    if (!span.src || help_tile(b, d, span, want, got))
        return;
    GpSpan end = {span.src, span.off + span.len, 0};
    if (gp_body_is_float(want) && got->kind == GpTy_Infer && got->infer == GpInfer_Int) {
        const char *text = gp_body_text(b, span);
        if (text[0] >= '0' && text[0] <= '9' && strspn(text, "0123456789_") == strlen(text))
            gp_suggest(d, end, ".0", "use a float literal");
        return;
    }
    const char *cast = cast_from_constant(want, got);
    if (cast)
        gp_suggest(d, span, gp_arena_printf(b->c->arena, "%s(%s)", cast, gp_body_text(b, span)),
                   "say that what it points at may be written");
    else if (!help_written(b, d, span, want, got) && !help_borrow(b, d, span, want, got) &&
             !help_elements(b, d, span, want, got))
        gp_body_help_cast(b, d, span, want, got);
}

/* `sqrt(x)` of a number: functions of that name are of tiles, and numbers have a method. */
static bool suggest_method(GpBody *b, GpDiag *d, GpSpan span, const GpType *got, GpReason why) {
    GpMethod found;
    const GpType *f32 = gp_ty_elem(b->c->types, GpElem_F32);
    bool is_float = gp_body_is_float(got) || (got->kind == GpTy_Infer && got->infer == GpInfer_Float);
    if (!why.fn || !why.fn->is_std || why.fn->sig.has_self || !span.src || !gp_body_is_number(got) ||
        !gp_ty_is_lang(why.fn->sig.params[0], GpLang_Tile) ||
        !gp_find_method(b->c, b->fn, f32, why.fn->name, &found) || found.fn->sig.param_count != 1)
        return false;
    const char *text = gp_body_text(b, span), *name = why.fn->name->name;
    bool is_behind = why.span.src == span.src && why.span.off + why.span.len + 1 == span.off;
    if (!is_behind || span.src->text[span.off + span.len] != ')' || strlen(text) != span.len)
        return false;
    bool is_sum = strpbrk(text, " +-*/") != NULL;
    const char *form = got->kind == GpTy_Infer && is_float ? "%sf32.%s()"
                       : !is_float                         ? (is_sum ? "((%s) as f32).%s()" : "(%s as f32).%s()")
                       : is_sum                            ? "(%s).%s()"
                                                           : "%s.%s()";
    gp_suggest(d, (GpSpan){why.span.src, why.span.off, span.off + span.len + 1 - why.span.off},
               gp_arena_printf(b->c->arena, form, text, name), "numbers have `%s` as a method", name);
    return true;
}

GpDiag *gp_body_mismatch(GpBody *b, GpSpan span, const GpType *want, const GpType *got,
                         GpReason why) {
    GpDiag *d = gp_diag(b->c->diags, GpDiag_E0308, span, "mismatched types");
    gp_primary_label(d, "expected %s, found %s", gp_body_describe(b, want),
                     gp_body_describe(b, got));
    if (why.label && why.span.src)
        gp_label(d, why.span, "%s", why.label);
    if (!suggest_method(b, d, span, gp_zonk(b->c, got), why))
        help_mismatch(b, d, span, want, got);
    if (why.fn && why.fn->name && why.fn->span.src && !why.fn->is_std)
        gp_note_at(d, why.fn->span, "%s defined here",
                   why.fn->sig.has_self ? "method" : "function");
    return d;
}

/* ---- equality that may depend on the instance ------------------------------------------------ */

static bool unify_arg(GpBody *b, const GpGArg *a, const GpGArg *t, GpSpan span) {
    if (a->kind != t->kind)
        return false;
    if (a->kind == GpGArg_Type)
        return gp_body_unify(b, a->type, t->type, span);
    if (a->kind == GpGArg_Const)
        return gp_unify_const(b->c, a->value, t->value) ||
               gp_body_oblige_const(b, a->value, t->value, span);
    return gp_unify_shape(b->c, a->shape, t->shape) ||
           gp_body_oblige_shape(b, a->shape, t->shape, span);
}

bool gp_body_unify(GpBody *b, const GpType *a, const GpType *t, GpSpan span) {
    if (gp_unify(b->c, a, t))
        return true;
    a = gp_body_head(b, a);
    t = gp_body_head(b, t);
    if (a->kind != t->kind || a->kind == GpTy_Infer)
        return false;
    if (a->kind == GpTy_Ref || a->kind == GpTy_RawPtr || a->kind == GpTy_Slice)
        return a->is_mut == t->is_mut && gp_body_unify(b, a->inner, t->inner, span);
    if (a->kind == GpTy_Array)
        return gp_body_unify(b, a->inner, t->inner, span) &&
               (gp_unify_const(b->c, a->count, t->count) ||
                gp_body_oblige_const(b, a->count, t->count, span));
    if (a->kind != GpTy_Adt && a->kind != GpTy_Tuple)
        return false;
    if (a->def != t->def || a->arg_count != t->arg_count)
        return false;
    for (uint32_t i = 0; i < a->arg_count; i++)
        if (!unify_arg(b, &a->args[i], &t->args[i], span))
            return false;
    return true;
}

/* ---- coercion ------------------------------------------------------------------------------- */

/* `got` is a reference and `want` too: reborrow, weaken, look through, unsize. */
static bool coerce_ref(GpBody *b, GpNode *n, const GpType *got, const GpType *want) {
    if (want->is_mut && !got->is_mut)
        return false;
    const GpAdjust *before = n->adjust;
    GpAdjustKind borrow = want->is_mut ? GpAdjust_BorrowMut : GpAdjust_Borrow;
    const GpType *target = gp_body_head(b, want->inner);
    for (const GpType *at = got; at->kind == GpTy_Ref; at = gp_body_head(b, at->inner)) {
        if (want->is_mut && !at->is_mut)
            break;
        const GpType *inner = gp_body_head(b, at->inner);
        gp_body_adjust(b, n, GpAdjust_Deref, inner);
        if (gp_body_unify(b, target, inner, n->span)) {
            if (at == got && !got->is_mut)
                n->adjust = before; /* & to &: the same reference */
            else
                gp_body_adjust(b, n, borrow, want);
            return true;
        }
        if (target->kind == GpTy_Slice && inner->kind == GpTy_Array &&
            gp_body_unify(b, target->inner, inner->inner, n->span)) {
            gp_body_adjust(b, n, borrow, gp_ty_ref(b->c->types, inner, want->is_mut));
            gp_body_adjust(b, n, GpAdjust_Unsize, want);
            return true;
        }
    }
    n->adjust = before;
    return false;
}

bool gp_body_can_coerce(GpBody *b, GpNode *n, const GpType *want) {
    const GpType *got = gp_body_head(b, gp_expr_type(n));
    want = gp_body_head(b, want);
    if (got->kind == GpTy_Error || want->kind == GpTy_Error)
        return true;
    if (got->kind == GpTy_Never && want->kind != GpTy_Never) {
        gp_body_adjust(b, n, GpAdjust_Never, want);
        if (want->kind == GpTy_Infer)
            gp_body_pend(b, (GpPending){.kind = GpPending_Diverge, .node = n, .type = want});
        return true;
    }
    if (got->kind == GpTy_Ref && want->kind == GpTy_Ref)
        return coerce_ref(b, n, got, want);
    if (got->kind == GpTy_RawPtr && want->kind == GpTy_RawPtr && got->is_mut && !want->is_mut)
        return gp_unify(b->c, want->inner, got->inner);
    if (got->kind == GpTy_Ref && want->kind == GpTy_RawPtr && (got->is_mut || !want->is_mut) &&
        gp_unify(b->c, want->inner, got->inner)) {
        gp_body_unsupported(b, n->span, "the implicit conversion of a reference to a pointer");
        return true;
    }
    if (want == gp_ty_unit(b->c->types) && gp_ty_is_lang(got, GpLang_Token))
        return true; /* the peer's older stores gave nothing */
    return gp_body_unify(b, want, got, n->span);
}

/* The expression whose type is wrong: the tail of a block, the value of parentheses. */
static GpNode *blame(GpNode *n) {
    for (;;) {
        if (n->kind == GpNode_Paren)
            n = GP_AS(Paren, n)->operand;
        else if (n->kind == GpNode_Block && GP_AS(Block, n)->tail)
            n = GP_AS(Block, n)->tail;
        else
            return n;
    }
}

bool gp_body_coerce(GpBody *b, GpNode *n, const GpType *want, GpReason why) {
    if (gp_body_can_coerce(b, n, want))
        return true;
    gp_body_mismatch(b, blame(n)->span, want, gp_expr_type(n), why);
    return false;
}

const GpType *gp_body_expect(GpBody *b, GpNode *n, const GpType *want, GpReason why) {
    if (n->kind == GpNode_Block) /* what stands last in each branch is coerced and blamed */
        return gp_body_block_expect(b, n, want, why);
    if (n->kind == GpNode_If)
        return gp_body_if_expect(b, n, want, why);
    if (n->kind == GpNode_Match)
        return gp_body_match_expect(b, n, want, why);
    gp_body_expr(b, n, want);
    gp_body_coerce(b, n, want, why);
    return want;
}
