/* Expressions that are neither operators, calls nor control flow: dispatch, paths, fields,
** indexing, aggregates, borrows. */
#include "dsl/check_body.h"
#include "dsl/resolve.h"

/* ---- paths ----------------------------------------------------------------------------------- */

static GpAstSegment *only_segment(GpNode *path_expr) {
    GpAstPath *p = GP_AS(Path, GP_AS(PathExpr, path_expr)->path);
    if (p->segments.len != 1 || p->self_type || p->is_global)
        return NULL;
    return GP_AS(Segment, p->segments.at[0]);
}

static GpSym similar_local(GpBody *b, GpSym name) {
    GpSym best = NULL;
    uint32_t limit = GP_MAX(name->len, 3u) / 3;
    for (uint32_t i = b->visible.len; i-- > 0;) {
        GpSym at = b->visible.at[i]->name;
        uint32_t d = at && at != name ? gp_name_distance(name, at) : UINT32_MAX;
        if (d <= limit && (!best || d < limit) && gp_names_share(name, at, d)) {
            limit = d;
            best = at;
        }
    }
    return best;
}

typedef struct Search {
    GpSym name;
    bool is_found;
} Search;

static void find_binding(GpNode *n, void *ud) {
    Search *s = ud;
    s->is_found |= n->kind == GpNode_PatName && GP_AS(PatName, n)->name == s->name;
    if (!s->is_found && n->kind != GpNode_ItemStmt)
        gp_node_children(n, find_binding, ud);
}

/* Whether a function around fn has a variable of that name. */
static bool is_local_around(const GpDef *fn, GpSym name) {
    Search s = {name, false};
    for (const GpDef *at = fn->parent; at && at->kind != GpDef_Module; at = at->parent)
        if (at->kind == GpDef_Fn)
            gp_node_children(at->node, find_binding, &s);
    return s.is_found;
}

static void report_unresolved(GpBody *b, GpNode *n, GpSym name, const char *what) {
    if (gp_report_unknown_import(b->c, b->fn, name, n->span))
        return;
    if (is_local_around(b->fn, name)) {
        gp_primary_label(
            gp_diag(b->c->diags, GpDiag_E0434, n->span),
            "a function does not see the variables around it; a closure does: `|..| ..`");
        return;
    }
    GpDiag *d = gp_diag(b->c->diags, GpDiag_E0425, n->span, what,
                        gp_arena_printf(b->c->arena, "`%s`", name->name), "this scope");
    gp_primary_label(d, "not found in this scope");
    if (!gp_diag_is_kept(d))
        return;
    const char *path = gp_find_elsewhere(b->c, b->fn, name);
    if (path) {
        gp_suggest(d, n->span, path, "a function of that name is in a module here");
        return;
    }
    GpMacroKind macro;
    if (gp_macro_kind(name->name, &macro)) {
        gp_suggest(d, (GpSpan){n->span.src, n->span.off + n->span.len, 0}, "!", "it is a macro");
        return;
    }
    if (gp_help_foreign(d, n->span, name))
        return;
    GpSym near = similar_local(b, name);
    if (near) {
        gp_suggest(d, n->span, near->name, "a local variable with a similar name exists");
        return;
    }
    near = gp_find_similar(b->c, b->fn, name, GpWanted_Value);
    if (near)
        gp_suggest(d, n->span, near->name, "a similar name exists");
    else
        gp_body_help_reduction(b, d, name);
}

/* `sin(x)` of one argument where numbers have it as a method. */
static void help_method(GpBody *b, const GpNode *n, GpSym name, GpDiag *d) {
    GpMethod found;
    const GpType *f32 = gp_ty_elem(b->c->types, GpElem_F32);
    if (!gp_find_method(b->c, b->fn, f32, name, &found))
        return;
    if (found.fn->sig.param_count != 1) {
        gp_help(d, "numbers have `%s` as a method: `x.%s(y)`", name->name, name->name);
        return;
    }
    const char *text = n->span.src->text + n->span.off + n->span.len;
    int depth = 0, len = 0;
    do {
        depth += (text[len] == '(') - (text[len] == ')');
        len++;
    } while (depth > 0 && text[len] && text[len] != '\n');
    if (depth == 0 && len > 2 && strcspn(text + 1, " ,") >= (size_t)len - 2)
        gp_suggest(d, (GpSpan){n->span.src, n->span.off, n->span.len + (uint32_t)len},
                   gp_arena_printf(b->c->arena, "%.*s.%s()", len - 2, text + 1, name->name),
                   "numbers have `%s` as a method", name->name);
    else
        gp_help(d, "numbers have `%s` as a method: `x.%s()`", name->name, name->name);
}

void gp_body_help_reduction(GpBody *b, GpDiag *d, GpSym name) {
    const char *reduction = gp_arena_printf(b->c->arena, "reduce_%s", name->name);
    if (gp_find_name(b->c, b->fn, gp_intern_cstr(b->c->names, reduction), GpNs_Value))
        gp_help(d, "along an axis of a tile it is `%s(tile, axis)`", reduction);
}

/* `program_id(0)` in a SIMT kernel: kernels of the other track know the name. */
static bool is_of_other_track(GpBody *b, GpNode *n) {
    GpAstPath *p = GP_AS(Path, GP_AS(PathExpr, n)->path);
    GpSym first = GP_AS(Segment, p->segments.at[0])->name;
    bool is_lone = p->segments.len == 1;
    if (p->self_type || p->is_global ||
        !gp_find_on_other_track(b->c, b->fn, first, is_lone ? GpNs_Value : GpNs_Type))
        return false;
    GpTrack other = gp_scope_track(b->fn) == GpTrack_Tile ? GpTrack_Simt : GpTrack_Tile;
    GpDiag *d = gp_report_track(b->c, b->fn, n->span, gp_body_text(b, n->span), other);
    gp_primary_label(d, "%s operation", other == GpTrack_Tile ? "tile" : "SIMT");
    help_method(b, n, first, d);
    return true;
}

/* A type where a value is wanted. */
static bool is_type_name(GpBody *b, GpNode *n, GpSym name) {
    if (gp_find_name(b->c, b->fn, name, GpNs_Value))
        return false;
    GpElem elem;
    const GpDef *def = gp_find_name(b->c, b->fn, name, GpNs_Type);
    const char *kind = def ? gp_def_kind_name(def) : "builtin type";
    if (!def && !gp_elem_find((GpStr){name->name, name->len}, &elem) &&
        strcmp(name->name, "usize") != 0 && strcmp(name->name, "isize") != 0)
        return false;
    GpDiag *d = gp_diag(b->c->diags, GpDiag_E0423, n->span,
                        gp_arena_printf(b->c->arena, "%s `%s`", kind, name->name));
    gp_primary_label(d, "not a value");
    bool is_call = gp_body_text(b, (GpSpan){n->span.src, n->span.off + n->span.len, 1})[0] == '(';
    if (def && is_call && def->kind == GpDef_Struct && def->field_count && def->field_names[0])
        gp_help(d, "a struct with named fields is made by `%s { %s: .. }`", name->name, def->field_names[0]->name);
    if (!def && is_call)
        gp_help(d, "numbers are converted by `as`: `x as %s`; tiles by `convert_tile::<%s>(t)`", name->name, name->name);
    return true;
}

bool gp_body_resolve(GpBody *b, GpNode *n, const char *what, GpRes *out) {
    GpAstSegment *seg = only_segment(n);
    if (is_of_other_track(b, n) || (seg && is_type_name(b, n, seg->name)))
        return false;
    if (seg && strcmp(seg->name->name, "self") != 0 &&
        strcmp(seg->name->name, "Self") != 0 &&
        !gp_find_name(b->c, b->fn, seg->name, GpNs_Value) &&
        !gp_find_name(b->c, b->fn, seg->name, GpNs_Type)) {
        report_unresolved(b, n, seg->name, what);
        return false;
    }
    memset(out, 0, sizeof *out);
    return gp_resolve_path(b->c, b->fn, GP_AS(PathExpr, n)->path, GpNs_Value, out);
}

const GpType *gp_body_adt_of(GpBody *b, const GpRes *res) {
    const GpDef *adt = res->def->kind == GpDef_Variant ? res->def->parent : res->def;
    if (adt->kind == GpDef_TypeAlias && adt->alias)
        return adt->alias;
    return gp_ty_adt(b->c->types, adt, res->args, res->arg_count);
}

const GpType *gp_body_field_type(GpBody *b, const GpDef *owner, const GpGArg *args, uint32_t count,
                                 uint32_t i) {
    const GpDef *adt = owner->kind == GpDef_Variant ? owner->parent : owner;
    GpSubst s = {(const GpDef *const *)adt->generics, args, GP_MIN(count, adt->generic_count)};
    return gp_ty_subst(b->c->types, owner->field_types[i], &s);
}

void gp_body_need_unsafe(GpBody *b, GpSpan span, const char *what, const char *label) {
    if (b->unsafe_block) {
        for (GpUnsafe *u = b->unsafe_block; u; u = u->outer)
            if (!u->outer)
                u->is_used = true;
        return;
    }
    if (b->fn->is_unsafe)
        return;
    GpDiag *d = gp_diag(b->c->diags, GpDiag_E0133, span, what);
    gp_primary_label(d, "%s", label);
    gp_help(d, "what the compiler cannot check stands in `unsafe { .. }`");
}

static const GpType *type_of_def(GpBody *b, GpNode *n, const GpRes *res) {
    GpDef *def = res->def;
    GpSubst s = {(const GpDef *const *)def->generics, res->args,
                 GP_MIN(res->arg_count, def->generic_count)};
    if (def->kind == GpDef_Fn)
        return gp_ty_fn(b->c->types, def, res->args, res->arg_count);
    if (def->kind == GpDef_ConstParam)
        return def->const_type ? def->const_type : gp_body_error(b);
    if (def->kind == GpDef_Const || def->kind == GpDef_Static) {
        GpAstStatic *st =
            def->node && def->node->kind == GpNode_Static ? GP_AS(Static, def->node) : NULL;
        if (st && st->is_mut)
            gp_body_need_unsafe(b, n->span, "use of mutable static", "use of mutable static");
        return def->const_type ? gp_ty_subst(b->c->types, def->const_type, &s) : gp_body_error(b);
    }
    if (def->kind == GpDef_Struct || def->kind == GpDef_Variant) {
        if (def->field_count == 0)
            return gp_body_adt_of(b, res);
        if (!def->field_names[0]) {
            gp_body_check_constructor(b, def, n->span);
            return gp_ty_fn(b->c->types, def, res->args, res->arg_count);
        }
        if (def->kind == GpDef_Variant)
            return gp_body_report_fields(b, def, n->span);
    }
    GpDiag *d = gp_diag(b->c->diags, GpDiag_E0423, n->span,
                        gp_arena_printf(b->c->arena, "`%s`", def->name ? def->name->name : "_"));
    gp_primary_label(d, "not a value");
    return gp_body_error(b);
}

static const GpType *check_path(GpBody *b, GpNode *n, const GpType *hint) {
    (void)hint;
    GpAstSegment *seg = only_segment(n);
    GpLocal *local =
        seg && !seg->has_args ? gp_body_find_local(b, seg->name, seg->node.span) : NULL;
    if (local) {
        gp_body_set_res(b, n, GpRes_Local)->local = local;
        return local->type;
    }
    GpRes found;
    if (!gp_body_resolve(b, n, "cannot find value", &found))
        return gp_body_error(b);
    GpRes *res = gp_body_set_res(b, n, found.kind);
    *res = found;
    if (!found.def)
        return gp_body_error(b);
    if ((found.def->kind == GpDef_Struct || found.def->kind == GpDef_Variant) &&
        found.def->field_count == 0)
        res->kind = GpRes_Construct;
    return type_of_def(b, n, res);
}

/* ---- fields and indexing ----------------------------------------------------------------- */

static GpSpan name_of_field(const GpNode *n, GpSym name) {
    return (GpSpan){n->span.src, n->span.off + n->span.len - name->len, name->len};
}

static void report_no_field(GpBody *b, GpNode *n, const GpType *base, GpSym name) {
    const GpType *t = gp_zonk(b->c, base);
    while (t->kind == GpTy_Ref)
        t = gp_body_head(b, t->inner);
    if (t->kind == GpTy_Error)
        return;
    const char *type = gp_ty_name(b->c->arena, t);
    GpSpan end = name_of_field(n, name);
    GpMethod m;
    if (t->kind == GpTy_Infer && t->infer == GpInfer_Any) {
        gp_primary_label(gp_diag(b->c->diags, GpDiag_E0282, n->span, ""), "cannot infer type");
        return;
    }
    if (t->kind != GpTy_Infer && gp_find_method(b->c, b->fn, base, name, &m)) {
        GpDiag *d = gp_diag(b->c->diags, GpDiag_E0615, end, name->name, gp_body_name(b, base));
        gp_primary_label(d, "method, not a field");
        gp_suggest(d, (GpSpan){end.src, end.off + end.len, 0}, "()",
                   "use parentheses to call the method");
        return;
    }
    if (t->kind == GpTy_Elem || t->kind == GpTy_Usize || t->kind == GpTy_Isize ||
        t->kind == GpTy_Char || t->kind == GpTy_Infer) {
        GpDiag *d = gp_diag(b->c->diags, GpDiag_E0610, end, gp_body_name(b, t));
        gp_primary_label(d, "%s", "");
        return;
    }
    GpDiag *d = gp_diag(b->c->diags, GpDiag_E0609, end, name->name, type);
    gp_primary_label(d, "unknown field");
    GpText fields = {.session = gp_arena_session(b->c->arena)};
    if (t->kind == GpTy_Adt)
        for (uint32_t i = 0; i < t->def->field_count; i++)
            if (t->def->field_names && t->def->field_names[i])
                gp_text_printf(&fields, "%s`%s`", i ? ", " : "", t->def->field_names[i]->name);
    if (gp_ty_is_lang(t, GpLang_Shape) && name->name[0] >= '0' && name->name[0] <= '9')
        gp_help(d, "an extent is `x.shape()[%s]`", name->name);
    else if (fields.len)
        gp_note(d, "available field%s: %s", t->def->field_count == 1 ? " is" : "s are",
                gp_text_cstr(&fields));
    gp_text_free(&fields);
}

static const GpType *check_field(GpBody *b, GpNode *n, const GpType *hint) {
    (void)hint;
    GpAstField *f = GP_AS(Field, n);
    const GpType *base = gp_body_known(b, gp_body_expr(b, f->base, NULL));
    if (base->kind == GpTy_Error)
        return base;
    uint32_t index = 0, derefs = 0;
    const GpType *type = NULL;
    if (!gp_find_field(b->c, base, f->name, &index, &derefs, &type)) {
        report_no_field(b, n, base, f->name);
        return gp_body_error(b);
    }
    const GpType *owner = base;
    while (owner->kind == GpTy_Ref)
        owner = gp_body_head(b, owner->inner);
    if (owner->kind == GpTy_Adt && !gp_is_field_visible(owner->def, index, b->fn))
        gp_primary_label(gp_diag(b->c->diags, GpDiag_E0616, name_of_field(n, f->name),
                                 f->name->name, owner->def->name->name),
                         "private field");
    GpRes *res = gp_body_set_res(b, n, GpRes_Field);
    res->index = index;
    res->derefs = derefs;
    return type;
}

static const GpType *report_index(GpBody *b, GpNode *n, const GpType *base) {
    const char *name = gp_body_name(b, base);
    const GpSpan inner = GP_AS(Index, n)->base->span;
    uint32_t from = inner.off + inner.len;
    GpSpan at = {n->span.src, from, n->span.off + n->span.len - from};
    if (gp_ty_is_lang(base, GpLang_DisjointSlice)) {
        GpDiag *d = gp_diag(b->c->diags, GpDiag_E0608, at, name);
        gp_help(d, "write through the index witness: `if let Some(x) = c.get_mut(idx) { .. }`");
        return gp_body_error(b);
    }
    GpDiag *d = gp_diag(b->c->diags, GpDiag_E0608, at, name);
    if (gp_ty_is_lang(base, GpLang_Tensor))
        gp_help(d, "a tensor is loaded and stored to in tiles: `x.load_tile(shape![..], [i])`, `z.store(tile)`");
    else if (base->kind == GpTy_Tuple)
        gp_help(d, "a part of a tuple is `a.0`, `a.1`, ..");
    else if (gp_ty_is_lang(base, GpLang_Tile))
        gp_help(d, "a tile is worked on as a whole; `extract` and reductions take parts of it");
    return gp_body_error(b);
}

/* The index is usize; an integer literal becomes one. */
static bool check_index_type(GpBody *b, GpNode *index, const GpType *base, const GpType *elem) {
    const GpType *usize = gp_ty_usize(b->c->types);
    if (gp_node_bare(index)->kind == GpNode_Range) {
        gp_body_unsupported(b, index->span, "slicing with a range");
        return false;
    }
    const GpType *t = gp_body_head(b, gp_body_expr(b, index, usize));
    if (t->kind == GpTy_Never || gp_unify(b->c, usize, t))
        return true;
    const GpType *slice = base->kind == GpTy_Array ? gp_ty_slice(b->c->types, elem) : base;
    const char *name = gp_body_name(b, t);
    GpDiag *d = gp_diag(b->c->diags, GpDiag_E0277, index->span,
                        gp_arena_printf(b->c->arena, "the type `%s` cannot be indexed by `%s`",
                                        gp_body_name(b, slice), name));
    gp_primary_label(d, "slice indices are of type `usize` or ranges of `usize`");
    GpSpan end = {index->span.src, index->span.off + index->span.len, 0};
    if (gp_ty_is_lang(t, GpLang_ThreadIndex) && index->kind == GpNode_PathExpr)
        gp_suggest(d, end, ".get()", "it is a witness; its number is");
    if (gp_body_is_int(t) && (index->kind == GpNode_PathExpr || index->kind == GpNode_Field ||
                              index->kind == GpNode_MethodCall || index->kind == GpNode_Call))
        gp_suggest(d, end, " as usize", "convert the index");
    return true;
}

static const GpType *check_index(GpBody *b, GpNode *n, const GpType *hint) {
    (void)hint;
    GpAstIndex *ix = GP_AS(Index, n);
    const GpType *base = gp_body_known(b, gp_body_expr(b, ix->base, NULL));
    while (base->kind == GpTy_Ref) {
        base = gp_body_head(b, base->inner);
        gp_body_adjust(b, ix->base, GpAdjust_Deref, base);
    }
    GpDims extents;
    if (gp_ty_is_lang(base, GpLang_Shape) && gp_body_dims(b, base, &extents))
        base = gp_ty_array(b->c->types, gp_ty_elem(b->c->types, GpElem_I32),
                           gp_const_int(b->c->types, extents.rank));
    if (base->kind != GpTy_Slice && base->kind != GpTy_Array) {
        gp_body_expr(b, ix->index, NULL);
        if (base->kind == GpTy_Error)
            return base;
        return report_index(b, n, base);
    }
    const GpType *elem = base->inner;
    gp_body_set_res(b, n, GpRes_Operator);
    return check_index_type(b, ix->index, base, elem) ? elem : gp_body_error(b);
}

/* ---- borrows ----------------------------------------------------------------------------- */

static const GpType *check_borrow(GpBody *b, GpNode *n, const GpType *hint) {
    GpAstBorrow *r = GP_AS(Borrow, n);
    const GpType *inner = NULL;
    if (hint) {
        hint = gp_body_head(b, hint);
        if (hint->kind == GpTy_Ref || hint->kind == GpTy_RawPtr)
            inner = gp_body_head(b, hint->inner);
    }
    const GpType *t = gp_body_expr(b, r->operand, inner);
    if (gp_body_is(b, t, GpTy_Error))
        return gp_body_error(b);
    if (r->is_mut)
        gp_body_check_borrow_mut(b, r->operand, n->span);
    gp_body_mark_addressed(b, r->operand);
    if (r->is_raw)
        return gp_ty_ptr(b->c->types, t, r->is_mut);
    return gp_ty_ref(b->c->types, t, r->is_mut);
}

static const GpType *check_paren(GpBody *b, GpNode *n, const GpType *hint) {
    GpAstParen *p = GP_AS(Paren, n);
    return gp_body_expr(b, p->operand, hint);
}

static const GpType *check_try(GpBody *b, GpNode *n, const GpType *hint) {
    (void)hint;
    gp_body_expr(b, GP_AS(Try, n)->operand, NULL);
    gp_body_unsupported(b, n->span, "the `?` operator");
    return gp_body_error(b);
}

static const GpType *check_wild(GpBody *b, GpNode *n, const GpType *hint) {
    (void)hint;
    gp_primary_label(gp_diag(b->c->diags, GpDiag_G0226, n->span), "`_` not allowed here");
    return gp_body_error(b);
}

static const GpType *check_let_cond(GpBody *b, GpNode *n, const GpType *hint) {
    (void)hint;
    gp_body_cond(b, n);
    return gp_body_bool(b);
}

static const GpType *check_bad(GpBody *b, GpNode *n, const GpType *hint) {
    (void)n;
    (void)hint;
    return gp_body_error(b);
}

/* ---- dispatch ---------------------------------------------------------------------------- */

typedef const GpType *(*CheckFn)(GpBody *b, GpNode *n, const GpType *hint);
static const CheckFn check_fns[GpNode_count] = {
    [GpNode_Lit] = gp_check_lit,
    [GpNode_PathExpr] = check_path,
    [GpNode_Unary] = gp_check_unary,
    [GpNode_Binary] = gp_check_binary,
    [GpNode_Assign] = gp_check_assign,
    [GpNode_Call] = gp_check_call,
    [GpNode_MethodCall] = gp_check_method,
    [GpNode_Field] = check_field,
    [GpNode_Index] = check_index,
    [GpNode_Range] = gp_check_range,
    [GpNode_Borrow] = check_borrow,
    [GpNode_Cast] = gp_check_cast,
    [GpNode_Tuple] = gp_check_tuple,
    [GpNode_Array] = gp_check_array,
    [GpNode_Repeat] = gp_check_repeat,
    [GpNode_StructLit] = gp_check_struct_lit,
    [GpNode_If] = gp_check_if,
    [GpNode_LetCond] = check_let_cond,
    [GpNode_Match] = gp_check_match,
    [GpNode_While] = gp_check_while,
    [GpNode_Loop] = gp_check_loop,
    [GpNode_For] = gp_check_for,
    [GpNode_Block] = gp_check_block,
    [GpNode_Break] = gp_check_break,
    [GpNode_Continue] = gp_check_continue,
    [GpNode_Return] = gp_check_return,
    [GpNode_Closure] = gp_check_closure,
    [GpNode_Try] = check_try,
    [GpNode_Paren] = check_paren,
    [GpNode_Macro] = gp_check_macro,
    [GpNode_Wild] = check_wild,
    [GpNode_Bad] = check_bad,
};

const GpType *gp_body_expr(GpBody *b, GpNode *n, const GpType *hint) {
    gp_assert(check_fns[n->kind]);
    n->type = check_fns[n->kind](b, n, hint);
    if (gp_body_is(b, n->type, GpTy_Never) && !b->diverges)
        gp_body_diverge(b, n);
    return gp_expr_type(n);
}
