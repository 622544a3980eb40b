/* Tuples, arrays and struct literals. */
#include "dsl/check_body.h"
#include "dsl/resolve.h"

/* ---- aggregates -------------------------------------------------------------------------- */

const GpType *gp_check_tuple(GpBody *b, GpNode *n, const GpType *hint) {
    GpAstTuple *t = GP_AS(Tuple, n);
    if (hint)
        hint = gp_body_head(b, hint);
    bool fits = hint && hint->kind == GpTy_Tuple && hint->arg_count == t->items.len;
    const GpType **items = GP_NEW_ARRAY(b->c->arena, const GpType *, t->items.len);
    for (uint32_t i = 0; i < t->items.len; i++) {
        const GpType *want = fits ? hint->args[i].type : NULL;
        items[i] = gp_body_expr(b, t->items.at[i], want);
        if (want && !gp_body_is(b, want, GpTy_Infer)) {
            gp_body_coerce(b, t->items.at[i], want, GP_NO_REASON);
            items[i] = want;
        }
    }
    return gp_ty_tuple(b->c->types, items, t->items.len);
}

const GpType *gp_check_array(GpBody *b, GpNode *n, const GpType *hint) {
    GpAstArray *a = GP_AS(Array, n);
    if (hint)
        hint = gp_body_head(b, hint);
    const GpType *elem = hint && (hint->kind == GpTy_Array || hint->kind == GpTy_Slice)
                             ? hint->inner
                             : gp_fresh_type(b->c, GpInfer_Any);
    for (uint32_t i = 0; i < a->items.len; i++)
        gp_body_expect(b, a->items.at[i], elem, GP_NO_REASON);
    return gp_ty_array(b->c->types, elem, gp_const_int(b->c->types, a->items.len));
}

const GpType *gp_check_repeat(GpBody *b, GpNode *n, const GpType *hint) {
    GpAstRepeat *r = GP_AS(Repeat, n);
    if (hint)
        hint = gp_body_head(b, hint);
    const GpType *want = hint && hint->kind == GpTy_Array ? hint->inner : NULL;
    const GpType *elem = gp_body_expr(b, r->value, want);
    if (want && !gp_body_is(b, want, GpTy_Infer)) {
        gp_body_coerce(b, r->value, want, GP_NO_REASON);
        elem = want;
    }
    const GpConst *count = gp_const_of_node(b->c, b->fn, r->count);
    r->count->type = gp_ty_usize(b->c->types);
    return gp_ty_array(b->c->types, elem, count);
}

/* ---- struct literals --------------------------------------------------------------------- */

const char *gp_body_owner_kind(const GpDef *def) {
    return def->kind == GpDef_Variant ? "variant" : def->kind == GpDef_Union ? "union" : "struct";
}

/* "`x`", "`x` and `y`", "`x`, `y` and `z`" of the fields that are not in `seen`. */
const char *gp_body_missing_fields(GpBody *b, const GpDef *def, const bool *seen, uint32_t *count) {
    GpText t = {.session = gp_arena_session(b->c->arena)};
    uint32_t total = 0, at = 0;
    for (uint32_t i = 0; i < def->field_count; i++)
        total += !seen[i];
    for (uint32_t i = 0; i < def->field_count; i++) {
        if (seen[i])
            continue;
        if (at)
            gp_text_puts(&t, at + 1 == total ? " and " : ", ");
        at++;
        if (def->field_names && def->field_names[i])
            gp_text_printf(&t, "`%s`", def->field_names[i]->name);
        else
            gp_text_printf(&t, "`%u`", i);
    }
    *count = total;
    const char *copy = gp_arena_copy(b->c->arena, gp_text_cstr(&t), t.len);
    gp_text_free(&t);
    return copy;
}

void gp_body_check_field_use(GpBody *b, const GpDef *def, uint32_t field, GpSpan at) {
    if (!gp_is_field_visible(def, field, b->fn))
        gp_primary_label(
            gp_diag(b->c->diags, GpDiag_E0451, at, def->field_names[field]->name, def->name->name),
            "private field");
}

static void report_unknown_field(GpBody *b, const GpDef *def, const GpAstFieldInit *f,
                                 const char *name) {
    GpSpan at = {f->node.span.src, f->node.span.off, f->name->len};
    GpDiag *d;
    if (def->kind == GpDef_Variant)
        d = gp_diag(b->c->diags, GpDiag_E0559, at, name, f->name->name);
    else
        d = gp_diag(b->c->diags, GpDiag_E0560, at, gp_body_owner_kind(def), name, f->name->name);
    gp_primary_label(d, "`%s` does not have this field", name);
}

/* `x` alone stands for `x: x`. */
static void check_field_init(GpBody *b, GpAstFieldInit *f, const GpType *want) {
    if (f->value) {
        gp_body_expect(b, f->value, want, GP_NO_REASON);
        return;
    }
    GpLocal *local = gp_body_find_local(b, f->name, f->node.span);
    if (!local) {
        gp_primary_label(gp_diag(b->c->diags, GpDiag_E0425, f->node.span, "cannot find value",
                                 gp_arena_printf(b->c->arena, "`%s`", f->name->name), "this scope"),
                         "not found in this scope");
        return;
    }
    if (!gp_body_unify(b, want, local->type, f->node.span))
        gp_body_mismatch(b, f->node.span, want, local->type, GP_NO_REASON);
}

/* False when one has no place in the struct. */
static bool check_fields(GpBody *b, GpAstStructLit *s, const GpRes *res, bool *seen,
                         const char *name) {
    const GpDef *def = res->def;
    bool are_known = true;
    for (uint32_t i = 0; i < s->fields.len; i++) {
        GpAstFieldInit *f = GP_AS(FieldInit, s->fields.at[i]);
        uint32_t at;
        if (!gp_def_field(def, f->name, &at)) {
            report_unknown_field(b, def, f, name);
            are_known = false;
            if (f->value)
                gp_body_expr(b, f->value, NULL);
            continue;
        }
        if (seen[at])
            gp_primary_label(gp_diag(b->c->diags, GpDiag_E0062, f->node.span, f->name->name),
                             "used more than once");
        seen[at] = true;
        gp_body_check_field_use(b, def, at,
                                (GpSpan){f->node.span.src, f->node.span.off, f->name->len});
        const GpType *want = gp_body_field_type(b, def, res->args, res->arg_count, at);
        f->node.type = want;
        GpRes *fr = gp_body_set_res(b, &f->node, f->value ? GpRes_Field : GpRes_Local);
        fr->index = at;
        fr->local = f->value ? NULL : gp_body_find_local(b, f->name, f->node.span);
        check_field_init(b, f, want);
    }
    return are_known;
}

/* `dims` of a Shape or Array: an entry for each axis, or for each `-1`. Other slices than a
** borrowed array are counted when the kernel is instantiated. */
static void check_dims(GpBody *b, const GpAstStructLit *s, const GpType *type) {
    GpDims dims;
    bool is_dims = gp_ty_is_lang(type, GpLang_Shape) || gp_ty_is_lang(type, GpLang_Array);
    GpNode *value = is_dims && s->fields.len ? GP_AS(FieldInit, s->fields.at[0])->value : NULL;
    const GpType *given = value && value->type ? gp_zonk(b->c, value->type) : NULL;
    int64_t count;
    if (!given || given->kind != GpTy_Ref || given->inner->kind != GpTy_Array ||
        !gp_const_value(given->inner->count, &count) || !gp_body_dims(b, type, &dims))
        return;
    int64_t dynamic = 0;
    for (uint8_t i = 0; i < dims.rank; i++)
        dynamic += dims.dim[i]->kind == GpConst_Dynamic;
    if (count == dynamic || count == dims.rank)
        return;
    GpDiag *d = gp_diag(b->c->diags, GpDiag_G0157, value->span, gp_body_text(b, s->path->span),
                        "`dims` has an entry for each axis, or for each `-1`");
    gp_primary_label(d, "%lld here, for %u ax%s of which %lld %s `-1`", (long long)count, dims.rank,
                     dims.rank == 1 ? "is" : "es", (long long)dynamic, dynamic == 1 ? "is" : "are");
}

const GpType *gp_check_struct_lit(GpBody *b, GpNode *n, const GpType *hint) {
    GpAstStructLit *s = GP_AS(StructLit, n);
    GpRes found = {0};
    if (!gp_resolve_path(b->c, b->fn, s->path, GpNs_Type, &found))
        return gp_body_error(b);
    if (!found.def) {
        gp_primary_label(gp_diag(b->c->diags, GpDiag_E0574, s->path->span,
                                 gp_arena_printf(b->c->arena, "builtin type `%s`",
                                                 gp_body_text(b, s->path->span))),
                         "not a struct, variant or union type");
        return gp_body_error(b);
    }
    GpRes *res = gp_body_set_res(b, n, GpRes_Construct);
    *res = found;
    res->kind = GpRes_Construct;
    const GpType *type = gp_body_adt_of(b, res);
    if (type->kind == GpTy_Adt && res->def->kind != GpDef_Variant) {
        res->def = (GpDef *)(uintptr_t)type->def; /* through an alias */
        res->args = type->args;
        res->arg_count = type->arg_count;
    }
    if (res->def->kind != GpDef_Struct && res->def->kind != GpDef_Variant) {
        gp_primary_label(gp_diag(b->c->diags, GpDiag_E0574, s->path->span,
                                 gp_arena_printf(b->c->arena, "%s `%s`", gp_def_kind_name(res->def),
                                                 res->def->name->name)),
                         "not a struct, variant or union type");
        return gp_body_error(b);
    }
    if (hint)
        gp_unify(b->c, hint, type);
    bool *seen = GP_NEW_ARRAY(b->c->arena, bool, res->def->field_count);
    const char *name = gp_body_text(b, s->path->span);
    gp_body_pend_bounds(b, res, s->path);
    bool are_known = check_fields(b, s, res, seen, name);
    check_dims(b, s, type);
    uint32_t missing;
    const char *names = gp_body_missing_fields(b, res->def, seen, &missing);
    if (s->base)
        gp_body_expect(b, s->base, type, GP_NO_REASON);
    else if (missing && are_known)
        gp_primary_label(
            gp_diag(b->c->diags, GpDiag_E0063, s->path->span,
                    gp_arena_printf(b->c->arena, "missing field%s %s in initializer of `%s`",
                                    gp_plural(missing), names, gp_body_name(b, type))),
            "missing %s", names);
    return type;
}
