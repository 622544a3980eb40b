/* Patterns: types, bindings and Rust's default binding modes.
**
** What later phases read on a pattern node:
**   type    the type of the place that it is matched with, before `adjust`
**   adjust  Deref steps: the references that a non-reference pattern looks through
**   res     PatName: Local, or Def / Construct when it names a constant or unit variant;
**           PatTupleStruct, PatStruct: Construct; PatPath: Def or Construct; PatField: Field
** A binding is by reference when its local's type is a reference to the pattern's type: written
** `ref`, or because the match looked through a reference. */
#include "dsl/check_body.h"
#include "dsl/resolve.h"

typedef enum BindMode { Bind_Move, Bind_Ref, Bind_Mut } BindMode;

typedef struct PatCtx {
    GpNode *type_node, *init;
    uint32_t first;     /* locals of this pattern start here */
    uint32_t alt_end;   /* inside a later alternative of |: locals of the first end here */
    uint32_t *alt_used; /* how many of them this alternative bound; NULL: no alternative */
} PatCtx;

static void check_pat(GpBody *b, GpNode *pat, const GpType *type, BindMode mode, PatCtx *ctx);

static const GpType *place_type(GpBody *b, const GpType *t, BindMode mode) {
    return mode == Bind_Move ? t : gp_ty_ref(b->c->types, t, mode == Bind_Mut);
}

static GpReason reason_of(GpBody *b, const PatCtx *ctx) {
    if (ctx->type_node)
        return (GpReason){ctx->type_node->span, "expected due to this", NULL};
    if (!ctx->init || !ctx->init->type)
        return GP_NO_REASON;
    const char *label = gp_arena_printf(b->c->arena, "this expression has type `%s`",
                                        gp_body_name(b, gp_expr_type(ctx->init)));
    return (GpReason){ctx->init->span, label, NULL};
}

/* ---- bindings ---------------------------------------------------------------------------- */

static GpLocal *find_bound(GpBody *b, const PatCtx *ctx, GpSym name) {
    uint32_t end = ctx->alt_used ? ctx->alt_end : b->locals.len;
    for (uint32_t i = ctx->first; i < end; i++)
        if (b->locals.at[i]->name == name)
            return b->locals.at[i];
    return NULL;
}

static void bind_alternative(GpBody *b, GpNode *pat, GpAstPatName *p, const GpType *t,
                             PatCtx *ctx) {
    GpLocal *l = find_bound(b, ctx, p->name);
    if (!l) {
        gp_primary_label(gp_diag(b->c->diags, GpDiag_E0408, pat->span, p->name->name),
                         "variable not in all patterns");
        l = gp_body_add_local(b, p->name, pat->span, t, p->is_mut);
    } else {
        (*ctx->alt_used)++;
        if (!gp_body_unify(b, l->type, t, pat->span))
            gp_body_mismatch(b, pat->span, l->type, t,
                             (GpReason){l->span, "first introduced with another type here", NULL});
    }
    gp_body_set_res(b, pat, GpRes_Local)->local = l;
}

static void check_name(GpBody *b, GpNode *pat, GpAstPatName *p, const GpType *type, BindMode mode,
                       PatCtx *ctx) {
    if (p->is_ref)
        mode = p->is_mut ? Bind_Mut : Bind_Ref;
    const GpType *t = place_type(b, type, mode);
    if (ctx->alt_used) {
        bind_alternative(b, pat, p, t, ctx);
    } else {
        if (find_bound(b, ctx, p->name))
            gp_primary_label(gp_diag(b->c->diags, GpDiag_E0416, pat->span, p->name->name),
                             "used more than once in the same pattern");
        GpSpan at = pat->span;
        if (at.src && !p->sub && at.len > p->name->len) /* without `mut`, `ref` */
            at = (GpSpan){at.src, at.off + at.len - p->name->len, p->name->len};
        GpLocal *l = gp_body_add_local(b, p->name, at, t, p->is_mut && !p->is_ref);
        b->infos.at[l->id] =
            (GpLocalInfo){.type_node = ctx->type_node, .init = ctx->init, .pat = pat};
        gp_body_set_res(b, pat, GpRes_Local)->local = l;
    }
    if (p->is_ref && ctx->init && !gp_body_is(b, gp_expr_type(ctx->init), GpTy_Ref))
        gp_body_mark_addressed(b, ctx->init);
    if (p->sub)
        check_pat(b, p->sub, type, mode, ctx);
}

/* ---- values ------------------------------------------------------------------------------ */

static bool is_constant(const GpDef *def) {
    return def &&
           (def->kind == GpDef_Const || def->kind == GpDef_ConstParam ||
            ((def->kind == GpDef_Variant || def->kind == GpDef_Struct) && def->field_count == 0));
}

static void check_constant(GpBody *b, GpNode *pat, const GpRes *found, const GpType *type,
                           const PatCtx *ctx) {
    GpRes *res = gp_body_set_res(b, pat, found->kind);
    *res = *found;
    bool is_const = found->def->kind == GpDef_Const || found->def->kind == GpDef_ConstParam;
    const GpType *t = is_const ? found->def->const_type : gp_body_adt_of(b, found);
    res->kind = is_const ? GpRes_Def : GpRes_Construct;
    if (t && !gp_body_unify(b, type, t, pat->span))
        gp_body_mismatch(b, pat->span, type, t, reason_of(b, ctx));
}

static void check_value(GpBody *b, GpNode *value, const GpType *type, const PatCtx *ctx) {
    const GpType *t = gp_body_expr(b, value, type);
    if (!gp_body_unify(b, type, t, value->span))
        gp_body_mismatch(b, value->span, type, t, reason_of(b, ctx));
}

/* The value of a number as a range pattern has it. */
static bool end_value(GpNode *n, double *out) {
    bool is_negative = n->kind == GpNode_Unary && GP_AS(Unary, n)->op == GpTok_Minus;
    GpNode *lit = is_negative ? GP_AS(Unary, n)->operand : n;
    uint64_t integer;
    if (lit->kind != GpNode_Lit)
        return false;
    if (gp_lit_int(lit, &integer))
        *out = (double)integer;
    else if (GP_AS(Lit, lit)->tok == GpTok_Float)
        *out = gp_lit_float(lit);
    else
        return false;
    *out = is_negative ? -*out : *out;
    return true;
}

static void check_order(GpBody *b, const GpNode *pat, const GpAstPatRange *r) {
    double lo, hi;
    if (!r->lo || !r->hi || !end_value(r->lo, &lo) || !end_value(r->hi, &hi))
        return;
    if (r->is_closed ? lo > hi : lo >= hi)
        gp_primary_label(
            gp_diag(b->c->diags, r->is_closed ? GpDiag_E0030 : GpDiag_E0579, pat->span),
            "no value is in this range");
}

static void check_range(GpBody *b, GpNode *pat, const GpType *type, const PatCtx *ctx) {
    GpAstPatRange *r = GP_AS(PatRange, pat);
    GpNode *ends[2] = {r->lo, r->hi};
    for (uint32_t i = 0; i < 2; i++) {
        if (!ends[i])
            continue;
        const GpType *t = gp_body_head(b, gp_body_expr(b, ends[i], type));
        if (t->kind != GpTy_Error && t->kind != GpTy_Char && !gp_body_is_number(t)) {
            gp_primary_label(gp_diag(b->c->diags, GpDiag_E0029, ends[i]->span),
                             "this is of type `%s` but it should be `char` or numeric",
                             gp_body_name(b, t));
            return;
        }
        if (!gp_body_unify(b, type, t, ends[i]->span))
            gp_body_mismatch(b, ends[i]->span, type, t, reason_of(b, ctx));
    }
    check_order(b, pat, r);
}

/* "unit variant `None`" */
static const char *describe_def(GpBody *b, const GpDef *def) {
    bool is_named = def->field_names && def->field_count && def->field_names[0];
    const char *form = !def->field_count            ? "unit "
                       : !is_named                  ? "tuple "
                       : def->kind == GpDef_Variant ? "struct "
                                                    : "";
    if (def->kind == GpDef_Struct || def->kind == GpDef_Variant)
        return gp_arena_printf(b->c->arena, "%s%s `%s`", form, gp_body_owner_kind(def),
                               def->name->name);
    return gp_arena_printf(b->c->arena, "%s `%s`", gp_def_kind_name(def),
                           def->name ? def->name->name : "_");
}

/* ---- lists of patterns ------------------------------------------------------------------- */

/* The field that the i-th pattern stands for, with `..` at `rest`. */
static uint32_t field_at(uint32_t i, uint32_t rest, uint32_t len, uint32_t fields) {
    return i < rest ? i : fields - (len - i);
}

static void forget(GpBody *b, GpNodeList pats, PatCtx *ctx) {
    for (uint32_t i = 0; i < pats.len; i++)
        check_pat(b, pats.at[i], gp_body_error(b), Bind_Move, ctx);
}

static void check_tuple(GpBody *b, GpNode *pat, const GpType *type, BindMode mode, PatCtx *ctx) {
    GpNodeList pats = GP_AS(PatTuple, pat)->pats;
    uint32_t rest = gp_node_find_rest(pats);
    uint32_t given = pats.len - (rest < pats.len);
    const GpType *t = gp_body_known(b, type);
    if (t->kind == GpTy_Infer && rest == pats.len) {
        const GpType **items = GP_NEW_ARRAY(b->c->arena, const GpType *, pats.len);
        for (uint32_t i = 0; i < pats.len; i++)
            items[i] = gp_fresh_type(b->c, GpInfer_Any);
        gp_unify(b->c, t, gp_ty_tuple(b->c->types, items, pats.len));
        t = gp_body_head(b, t);
    }
    bool fits =
        t->kind == GpTy_Tuple && (rest < pats.len ? given <= t->arg_count : given == t->arg_count);
    if (!fits) {
        forget(b, pats, ctx);
        if (t->kind == GpTy_Error)
            return;
        GpDiag *d = gp_diag(b->c->diags, GpDiag_E0308, pat->span, "mismatched types");
        if (t->kind == GpTy_Tuple)
            gp_primary_label(d, "expected a tuple with %u element%s, found one with %u element%s",
                             t->arg_count, gp_plural(t->arg_count), given, gp_plural(given));
        else
            gp_primary_label(d, "expected %s, found a tuple", gp_body_describe(b, t));
        GpReason why = reason_of(b, ctx);
        if (why.label)
            gp_label(d, why.span, "%s", why.label);
        return;
    }
    for (uint32_t i = 0; i < pats.len; i++)
        if (i != rest)
            check_pat(b, pats.at[i], t->args[field_at(i, rest, pats.len, t->arg_count)].type, mode,
                      ctx);
}

static void check_slice(GpBody *b, GpNode *pat, const GpType *type, BindMode mode, PatCtx *ctx) {
    GpNodeList pats = GP_AS(PatSlice, pat)->pats;
    const GpType *t = gp_zonk(b->c, gp_body_known(b, type));
    int64_t count;
    if (t->kind != GpTy_Array || !gp_const_value(t->count, &count)) {
        forget(b, pats, ctx);
        if (t->kind == GpTy_Slice || t->kind == GpTy_Array)
            gp_body_unsupported(b, pat->span, "patterns for slices of unknown length");
        else if (t->kind != GpTy_Error)
            gp_primary_label(gp_diag(b->c->diags, GpDiag_E0529, pat->span, gp_body_name(b, t)),
                             "pattern cannot match with input type `%s`", gp_body_name(b, t));
        return;
    }
    uint32_t rest = gp_node_find_rest(pats);
    uint32_t given = pats.len - (rest < pats.len);
    if (rest < pats.len ? given > count : given != count) {
        forget(b, pats, ctx);
        gp_primary_label(
            gp_diag(b->c->diags, GpDiag_E0527, pat->span,
                    gp_arena_printf(b->c->arena, "pattern requires %u element%s but array has %lld",
                                    given, gp_plural(given), (long long)count)),
            "expected %lld element%s", (long long)count, gp_plural(count));
        return;
    }
    for (uint32_t i = 0; i < pats.len; i++)
        if (i != rest)
            check_pat(b, pats.at[i], t->inner, mode, ctx);
}

/* ---- structs and variants ---------------------------------------------------------------- */

/* The definition that a pattern's path names, unified with the type of the value. */
static GpRes *resolve_owner(GpBody *b, GpNode *pat, GpNode *path, GpNamespace ns,
                            const GpType *type, const PatCtx *ctx) {
    GpRes found = {0};
    if (!gp_resolve_path(b->c, b->fn, path, ns, &found) || !found.def)
        return NULL;
    GpRes *res = gp_body_set_res(b, pat, GpRes_Construct);
    *res = found;
    res->kind = GpRes_Construct;
    const GpType *t = gp_body_adt_of(b, res);
    if (t->kind == GpTy_Adt && res->def->kind == GpDef_TypeAlias) {
        res->def = (GpDef *)(uintptr_t)t->def;
        res->args = t->args;
        res->arg_count = t->arg_count;
    }
    if (res->def->kind != GpDef_Struct && res->def->kind != GpDef_Variant)
        return NULL;
    if (gp_body_is(b, type, GpTy_Error)) /* what it binds has no type either */
        return NULL;
    if (!gp_body_unify(b, type, t, pat->span)) {
        gp_body_mismatch(b, pat->span, type, t, reason_of(b, ctx));
        return NULL;
    }
    return res;
}

/* rustc has two numbers: a path that cannot be called, and a struct variant. */
static void report_no_tuple(GpBody *b, const GpNode *pat, const GpDef *def) {
    const char *what = describe_def(b, def);
    GpDiag *d =
        def->kind == GpDef_Variant && def->field_count
            ? gp_diag(b->c->diags, GpDiag_E0164, pat->span, what)
            : gp_diag(b->c->diags, GpDiag_E0532, pat->span, "tuple struct or tuple variant", what);
    gp_primary_label(d, "not a tuple struct or tuple variant");
}

static void check_tuple_struct(GpBody *b, GpNode *pat, const GpType *type, BindMode mode,
                               PatCtx *ctx) {
    GpAstPatTupleStruct *p = GP_AS(PatTupleStruct, pat);
    GpRes *res = resolve_owner(b, pat, p->path, GpNs_Value, type, ctx);
    if (!res) {
        forget(b, p->pats, ctx);
        return;
    }
    uint32_t fields = res->def->field_count;
    if (!fields || (res->def->field_names && res->def->field_names[0])) {
        forget(b, p->pats, ctx);
        report_no_tuple(b, pat, res->def);
        return;
    }
    uint32_t rest = gp_node_find_rest(p->pats);
    uint32_t given = p->pats.len - (rest < p->pats.len);
    if (rest < p->pats.len ? given > fields : given != fields) {
        forget(b, p->pats, ctx);
        const char *owner = res->def->kind == GpDef_Variant ? "tuple variant" : "tuple struct";
        GpSpan at = p->pats.len
                        ? gp_span_join(p->pats.at[0]->span, p->pats.at[p->pats.len - 1]->span)
                        : pat->span;
        GpDiag *d = gp_diag(
            b->c->diags, GpDiag_E0023, at,
            gp_arena_printf(b->c->arena,
                            "this pattern has %u field%s, but the corresponding %s has %u field%s",
                            given, gp_plural(given), owner, fields, gp_plural(fields)));
        gp_primary_label(d, "expected %u field%s, found %u", fields, gp_plural(fields), given);
        return;
    }
    for (uint32_t i = 0; i < p->pats.len; i++)
        if (i != rest)
            check_pat(b, p->pats.at[i],
                      gp_body_field_type(b, res->def, res->args, res->arg_count,
                                         field_at(i, rest, p->pats.len, fields)),
                      mode, ctx);
}

static void check_struct_field(GpBody *b, GpAstPatField *f, const GpRes *res, bool *seen,
                               BindMode mode, PatCtx *ctx) {
    const GpDef *def = res->def;
    uint32_t at;
    if (!gp_def_field(def, f->name, &at)) {
        GpDiag *d = gp_diag(b->c->diags, GpDiag_E0026, f->node.span, gp_body_owner_kind(def),
                            def->name->name, f->name->name);
        gp_primary_label(d, "%s `%s` does not have this field", gp_body_owner_kind(def),
                         def->name->name);
        check_pat(b, f->pat, gp_body_error(b), Bind_Move, ctx);
        return;
    }
    if (seen[at])
        gp_primary_label(gp_diag(b->c->diags, GpDiag_E0025, f->node.span, f->name->name),
                         "multiple uses of `%s` in pattern", f->name->name);
    seen[at] = true;
    gp_body_check_field_use(b, def, at, f->node.span);
    const GpType *t = gp_body_field_type(b, def, res->args, res->arg_count, at);
    f->node.type = t;
    gp_body_set_res(b, &f->node, GpRes_Field)->index = at;
    check_pat(b, f->pat, t, mode, ctx);
}

static void check_struct(GpBody *b, GpNode *pat, const GpType *type, BindMode mode, PatCtx *ctx) {
    GpAstPatStruct *p = GP_AS(PatStruct, pat);
    GpRes *res = resolve_owner(b, pat, p->path, GpNs_Type, type, ctx);
    if (!res) {
        for (uint32_t i = 0; i < p->fields.len; i++)
            check_pat(b, GP_AS(PatField, p->fields.at[i])->pat, gp_body_error(b), Bind_Move, ctx);
        return;
    }
    bool *seen = GP_NEW_ARRAY(b->c->arena, bool, res->def->field_count);
    uint32_t errors = gp_diags_errors(b->c->diags);
    for (uint32_t i = 0; i < p->fields.len; i++)
        check_struct_field(b, GP_AS(PatField, p->fields.at[i]), res, seen, mode, ctx);
    uint32_t missing;
    const char *names = gp_body_missing_fields(b, res->def, seen, &missing);
    if (missing && !p->has_rest && errors == gp_diags_errors(b->c->diags)) {
        const char *what = gp_arena_printf(b->c->arena, "field%s %s", gp_plural(missing), names);
        gp_primary_label(gp_diag(b->c->diags, GpDiag_E0027, pat->span, what), "missing %s", what);
    }
}

/* ---- one pattern ------------------------------------------------------------------------- */

static void check_or(GpBody *b, GpNode *pat, const GpType *type, BindMode mode, PatCtx *ctx) {
    GpNodeList pats = GP_AS(PatOr, pat)->pats;
    uint32_t first = b->locals.len;
    for (uint32_t i = 0; i < pats.len; i++) {
        if (i == 0 || ctx->alt_used) {
            check_pat(b, pats.at[i], type, mode, ctx);
            continue;
        }
        uint32_t used = 0, end = b->locals.len;
        PatCtx alt = *ctx;
        alt.first = first;
        alt.alt_end = end;
        alt.alt_used = &used;
        check_pat(b, pats.at[i], type, mode, &alt);
        if (used < end - first)
            gp_primary_label(gp_diag(b->c->diags, GpDiag_E0408, pats.at[i]->span,
                                     b->locals.at[first]->name->name),
                             "pattern doesn't bind `%s`", b->locals.at[first]->name->name);
    }
}

static void check_ref(GpBody *b, GpNode *pat, const GpType *type, PatCtx *ctx) {
    GpAstPatRef *p = GP_AS(PatRef, pat);
    const GpType *t = gp_body_known(b, type);
    if (t->kind == GpTy_Infer) {
        gp_unify(b->c, t, gp_ty_ref(b->c->types, gp_fresh_type(b->c, GpInfer_Any), p->is_mut));
        t = gp_body_head(b, t);
    }
    if (t->kind == GpTy_Ref && t->is_mut == p->is_mut) {
        check_pat(b, p->pat, t->inner, Bind_Move, ctx);
        return;
    }
    check_pat(b, p->pat, gp_body_error(b), Bind_Move, ctx);
    if (t->kind == GpTy_Error)
        return;
    GpDiag *d = gp_diag(b->c->diags, GpDiag_E0308, pat->span, "mismatched types");
    gp_primary_label(d, "expected %s, found `&%s_`", gp_body_describe(b, t),
                     p->is_mut ? "mut " : "");
    GpReason why = reason_of(b, ctx);
    if (why.label)
        gp_label(d, why.span, "%s", why.label);
}

/* A pattern that is no reference looks through references; what it binds is then borrowed. */
static const GpType *peel(GpBody *b, GpNode *pat, const GpType *type, BindMode *mode) {
    const GpType *t = gp_body_known(b, type);
    while (t->kind == GpTy_Ref && t->inner->kind != GpTy_Str) {
        *mode = t->is_mut && *mode != Bind_Ref ? Bind_Mut : Bind_Ref;
        t = gp_body_head(b, t->inner);
        gp_body_adjust(b, pat, GpAdjust_Deref, t);
    }
    return t;
}

/* A lone name may be a constant or a unit variant. */
static bool check_named_constant(GpBody *b, GpNode *pat, const GpType *type, BindMode mode,
                                 PatCtx *ctx) {
    GpAstPatName *p = GP_AS(PatName, pat);
    GpDef *def =
        p->sub || p->is_ref || p->is_mut ? NULL : gp_find_name(b->c, b->fn, p->name, GpNs_Value);
    if (!def)
        return false;
    if ((def->kind == GpDef_Variant || def->kind == GpDef_Struct) && def->field_count) {
        const char *kind = def->kind == GpDef_Variant ? "tuple variant" : "tuple struct";
        gp_primary_label(gp_diag(b->c->diags, GpDiag_E0530, pat->span, kind),
                         "cannot be named the same as a %s", kind);
        return true;
    }
    if (!is_constant(def))
        return false;
    GpRes found = {.kind = GpRes_Def, .def = def};
    const GpDef *generic = def->kind == GpDef_Variant ? def->parent : def;
    GpGArg *args = GP_NEW_ARRAY(b->c->arena, GpGArg, generic->generic_count);
    for (uint32_t i = 0; i < generic->generic_count; i++)
        args[i] = gp_fresh_arg(b->c, generic->generics[i]);
    found.args = args;
    found.arg_count = generic->generic_count;
    check_constant(b, pat, &found, peel(b, pat, type, &mode), ctx);
    return true;
}

static void check_path(GpBody *b, GpNode *pat, const GpType *type, const PatCtx *ctx) {
    GpRes found = {0};
    if (!gp_resolve_path(b->c, b->fn, GP_AS(PatPath, pat)->path, GpNs_Value, &found) || !found.def)
        return;
    if (is_constant(found.def)) {
        check_constant(b, pat, &found, type, ctx);
        return;
    }
    gp_primary_label(gp_diag(b->c->diags, GpDiag_E0532, pat->span,
                             "unit struct, unit variant or constant", describe_def(b, found.def)),
                     "not a unit struct, unit variant or constant");
}

static void check_pat(GpBody *b, GpNode *pat, const GpType *type, BindMode mode, PatCtx *ctx) {
    pat->type = type;
    if (pat->kind == GpNode_PatWild || pat->kind == GpNode_PatRest)
        return;
    if (pat->kind == GpNode_PatMacro)
        gp_report_macro(b->c, GP_AS(PatMacro, pat)->macro);
    else if (pat->kind == GpNode_PatParen)
        check_pat(b, GP_AS(PatParen, pat)->pat, type, mode, ctx);
    else if (pat->kind == GpNode_PatOr)
        check_or(b, pat, type, mode, ctx);
    else if (pat->kind == GpNode_PatRef)
        check_ref(b, pat, type, ctx);
    else if (pat->kind == GpNode_PatName) {
        if (!check_named_constant(b, pat, type, mode, ctx))
            check_name(b, pat, GP_AS(PatName, pat), type, mode, ctx);
    } else {
        const GpType *t = peel(b, pat, type, &mode);
        if (pat->kind == GpNode_PatLit)
            check_value(b, GP_AS(PatLit, pat)->value, t, ctx);
        else if (pat->kind == GpNode_PatRange)
            check_range(b, pat, t, ctx);
        else if (pat->kind == GpNode_PatTuple)
            check_tuple(b, pat, t, mode, ctx);
        else if (pat->kind == GpNode_PatSlice)
            check_slice(b, pat, t, mode, ctx);
        else if (pat->kind == GpNode_PatTupleStruct)
            check_tuple_struct(b, pat, t, mode, ctx);
        else if (pat->kind == GpNode_PatStruct)
            check_struct(b, pat, t, mode, ctx);
        else if (pat->kind == GpNode_PatPath)
            check_path(b, pat, t, ctx);
    }
}

bool gp_body_pat(GpBody *b, GpNode *pat, const GpType *type, GpNode *type_node, GpNode *init) {
    PatCtx ctx = {.type_node = type_node, .init = init, .first = b->locals.len};
    uint32_t errors = gp_diags_errors(b->c->diags);
    check_pat(b, pat, type, Bind_Move, &ctx);
    return gp_diags_errors(b->c->diags) == errors;
}
