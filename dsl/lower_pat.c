/* Patterns: first a test without effects, then the bindings. Testing may look at the payload of a
** variant that is not there: it is unspecified, and the variant's own test decides. */
#include <stdlib.h>

#include "dsl/lower.h"

/* Patterns other than names see through references (Rust's default binding modes). */
static GpSpot look_through(GpLower *lo, GpNode *pat, GpSpot s) {
    while (s.type->kind == GpTy_Ref && pat->kind != GpNode_PatRef)
        s = gp_spot_deref(lo, gp_spot_read(lo, &s, pat->span), pat->span);
    return s;
}

typedef struct SubPat {
    GpNode *pat;
    GpSpot spot;
} SubPat;

/* Calls fn for each pattern inside with the part it stands for. `variant` NULL: tuple or struct. */
typedef void (*SubFn)(GpLower *lo, SubPat sub, void *ud);
typedef struct Subs {
    GpLower *lo;
    SubFn fn;
    void *ud;
} Subs;

static void visit_field(const Subs *v, GpSpot s, const GpDef *variant, uint32_t i, GpNode *pat) {
    GpLower *lo = v->lo;
    const GpType *t;
    uint32_t off;
    if (variant) {
        t = gp_lower_variant_field(lo, s.type, variant, i);
        off = gp_lower_variant_at(lo, s.type, variant->variant_index);
        for (uint32_t k = 0; k < i; k++)
            off += gp_lower_leaf_count(lo, gp_lower_variant_field(lo, s.type, variant, k));
    } else {
        t = gp_lower_field_type(lo, s.type, i);
        off = gp_lower_field_at(lo, s.type, i);
    }
    v->fn(lo, (SubPat){pat, gp_spot_part(lo, &s, t, off, pat->span)}, v->ud);
}

static void visit_list(const Subs *v, GpSpot s, const GpDef *variant, const GpNodeList *pats) {
    uint32_t fields = variant ? variant->field_count : gp_lower_field_count(s.type);
    for (uint32_t i = 0, at = 0; i < pats->len; i++) {
        if (pats->at[i]->kind == GpNode_PatRest) {
            at = fields - (pats->len - i - 1);
            continue;
        }
        if (at < fields)
            visit_field(v, s, variant, at, pats->at[i]);
        at++;
    }
}

static const GpDef *variant_of(const GpNode *pat) {
    return pat->res && pat->res->def && pat->res->def->kind == GpDef_Variant ? pat->res->def : NULL;
}

static void visit_struct(const Subs *v, GpNode *pat, GpSpot s) {
    GpAstPatStruct *p = GP_AS(PatStruct, pat);
    const GpDef *def = pat->res ? pat->res->def : NULL;
    uint32_t i;
    for (uint32_t k = 0; def && k < p->fields.len; k++) {
        if (p->fields.at[k]->kind != GpNode_PatField)
            continue;
        GpAstPatField *f = GP_AS(PatField, p->fields.at[k]);
        if (gp_def_field(def, f->name, &i))
            visit_field(v, s, variant_of(pat), i, f->pat);
    }
}

/* Elements of an array: the checker takes no slices of other lengths. */
static void visit_elements(const Subs *v, GpNode *pat, GpSpot s) {
    const GpNodeList *pats = &GP_AS(PatSlice, pat)->pats;
    int64_t count = 0;
    if (s.type->kind != GpTy_Array || !gp_const_value(s.type->count, &count))
        return;
    for (uint32_t i = 0, at = 0; i < pats->len; i++) {
        GpNode *sub = pats->at[i];
        if (sub->kind == GpNode_PatRest) {
            at = (uint32_t)count - (pats->len - i - 1);
            continue;
        }
        GpValue *index = gp_build_int(&v->lo->b, GpElem_U64, at++);
        v->fn(v->lo, (SubPat){sub, gp_spot_element(v->lo, s, index, NULL, sub->span)}, v->ud);
    }
}

static void visit_subs(GpLower *lo, GpNode *pat, GpSpot s, SubFn fn, void *ud) {
    const Subs v = {lo, fn, ud};
    if (pat->kind == GpNode_PatSlice)
        visit_elements(&v, pat, s);
    if (pat->kind == GpNode_PatTuple)
        visit_list(&v, s, NULL, &GP_AS(PatTuple, pat)->pats);
    if (pat->kind == GpNode_PatTupleStruct)
        visit_list(&v, s, variant_of(pat), &GP_AS(PatTupleStruct, pat)->pats);
    if (pat->kind == GpNode_PatStruct)
        visit_struct(&v, pat, s);
    if (pat->kind == GpNode_PatParen)
        fn(lo, (SubPat){GP_AS(PatParen, pat)->pat, s}, ud);
    if (pat->kind == GpNode_PatRef)
        fn(lo,
           (SubPat){GP_AS(PatRef, pat)->pat,
                    gp_spot_deref(lo, gp_spot_read(lo, &s, pat->span), pat->span)},
           ud);
}

/* ---- Tests --------------------------------------------------------------------------------- */

static GpValue *test_variant(GpLower *lo, const GpDef *variant, GpSpot s, GpSpan span) {
    GpVal v = gp_spot_read(lo, &s, span);
    if (!v.count)
        return NULL;
    GpValue *tag = gp_lower_get(lo, &v, 0);
    if (tag->type->elem == GpElem_Bool)
        return variant->field_count ? tag : gp_build1(&lo->b, GpOp_Not, tag);
    if (variant->parent->item_count == 1)
        return NULL;
    GpValue *k = gp_build_int(&lo->b, GpElem_I32, variant->variant_index);
    return gp_build_cmp(&lo->b, GpPred_Eq, tag, k);
}

static GpValue *scalar_of(GpLower *lo, GpSpot s, GpSpan span) {
    GpVal v = gp_spot_read(lo, &s, span);
    if (v.count == 1 && v.type->kind != GpTy_Adt)
        return gp_lower_get(lo, &v, 0);
    gp_lower_refuse(lo, span, "matching `%s` with a value", gp_ty_name(lo->arena, s.type));
    return NULL;
}

static GpValue *test_value(GpLower *lo, GpNode *value, GpSpot s, GpPred pred) {
    GpValue *x = scalar_of(lo, s, value->span);
    return x ? gp_build_cmp(&lo->b, pred, x, gp_lower_scalar(lo, value)) : NULL;
}

static GpValue *test_range(GpLower *lo, GpAstPatRange *r, GpSpot s) {
    GpValue *t = r->lo ? test_value(lo, r->lo, s, GpPred_Ge) : NULL;
    if (!r->hi)
        return t;
    return gp_lower_both(lo, t, test_value(lo, r->hi, s, r->is_closed ? GpPred_Le : GpPred_Lt));
}

static GpValue *test_or(GpLower *lo, GpAstPatOr *p, GpSpot s) {
    GpValue *any = NULL;
    for (uint32_t i = 0; i < p->pats.len; i++) {
        GpValue *t = gp_pat_test(lo, p->pats.at[i], s);
        if (!t)
            return NULL;
        any = any ? gp_build2(&lo->b, GpOp_Or, any, t) : t;
    }
    return any;
}

static void test_sub(GpLower *lo, SubPat sub, void *ud) {
    GpValue **all = ud;
    *all = gp_lower_both(lo, *all, gp_pat_test(lo, sub.pat, sub.spot));
}

static GpValue *test_constant(GpLower *lo, GpNode *pat, GpSpot s) {
    if (variant_of(pat))
        return test_variant(lo, variant_of(pat), s, pat->span);
    if (!pat->res || !pat->res->def || pat->res->def->kind != GpDef_Const)
        return NULL;
    GpValue *x = scalar_of(lo, s, pat->span);
    GpVal k = gp_lower_global(lo, pat);
    return x && k.count == 1 ? gp_build_cmp(&lo->b, GpPred_Eq, x, gp_lower_get(lo, &k, 0)) : NULL;
}

/* A payload is looked at only where its variant is there: it may hold an address. */
typedef struct SubTests {
    GpNode *pat;
    GpSpot spot;
    bool is_refutable;
} SubTests;

static void find_refutable(GpNode *n, void *ud) {
    bool is_name = n->kind == GpNode_PatName && (!n->res || n->res->kind == GpRes_Local);
    if (n->kind == GpNode_PatLit || n->kind == GpNode_PatRange || n->kind == GpNode_PatPath ||
        n->kind == GpNode_PatOr || (n->kind == GpNode_PatName && !is_name) ||
        (n->res && n->res->def && n->res->def->kind == GpDef_Variant))
        *(bool *)ud = true;
    gp_node_children(n, find_refutable, ud);
}

static void find_test(GpLower *lo, SubPat sub, void *ud) {
    (void)lo;
    find_refutable(sub.pat, ud);
}

static GpVal bool_value(GpLower *lo, GpValue *v) {
    if (!v)
        v = gp_build_int(&lo->b, GpElem_Bool, 1);
    return gp_lower_one(lo, gp_ty_elem(lo->types, GpElem_Bool), v);
}

static GpVal run_sub_tests(GpLower *lo, void *ud) {
    SubTests *t = ud;
    GpValue *all = NULL;
    visit_subs(lo, t->pat, t->spot, test_sub, &all);
    return bool_value(lo, all);
}

static GpVal fail_test(GpLower *lo, void *ud) {
    (void)ud;
    return bool_value(lo, gp_build_int(&lo->b, GpElem_Bool, 0));
}

GpValue *gp_pat_test(GpLower *lo, GpNode *pat, GpSpot s) {
    if (pat->kind == GpNode_PatWild || pat->kind == GpNode_PatRest)
        return NULL;
    if (pat->kind == GpNode_PatName && pat->res && pat->res->kind == GpRes_Local) {
        GpNode *sub = GP_AS(PatName, pat)->sub;
        return sub ? gp_pat_test(lo, sub, s) : NULL;
    }
    s = look_through(lo, pat, s);
    if (pat->kind == GpNode_PatName || pat->kind == GpNode_PatPath)
        return test_constant(lo, pat, s);
    if (pat->kind == GpNode_PatLit)
        return test_value(lo, GP_AS(PatLit, pat)->value, s, GpPred_Eq);
    if (pat->kind == GpNode_PatRange)
        return test_range(lo, GP_AS(PatRange, pat), s);
    if (pat->kind == GpNode_PatOr)
        return test_or(lo, GP_AS(PatOr, pat), s);
    GpValue *all = variant_of(pat) ? test_variant(lo, variant_of(pat), s, pat->span) : NULL;
    SubTests sub = {pat, s, false};
    visit_subs(lo, pat, s, find_test, &sub.is_refutable);
    if (all && sub.is_refutable) {
        const GpType *t = gp_ty_elem(lo->types, GpElem_Bool);
        GpVal v = gp_lower_if(lo, all, t, run_sub_tests, fail_test, &sub);
        return gp_lower_get(lo, &v, 0);
    }
    if (sub.is_refutable)
        visit_subs(lo, pat, s, test_sub, &all);
    return all;
}

/* ---- Bindings ------------------------------------------------------------------------------ */

enum { SSA_ARRAY_MAX = 16 }; /* longer arrays are not worth chains of selects */

/* SIMT arrays live in memory unless they are short and never change. */
bool gp_lower_needs_memory(GpLower *lo, const GpLocal *local, const GpType *t) {
    GpElem elem;
    uint32_t count;
    if (lo->fn->track != GpTrack_Simt || !gp_lower_memory(lo, t, &elem, &count))
        return false;
    if (t->kind != GpTy_Array)
        return gp_map_has(&lo->escaping, local);
    return local->is_mut || local->is_addressed || count > SSA_ARRAY_MAX;
}

static void bind_name(GpLower *lo, GpNode *pat, GpSpot s) {
    const GpLocal *local = pat->res->local;
    const GpType *t = gp_lower_type(lo, local->type);
    GpVal v;
    if (t != s.type && t->kind == GpTy_Ref && s.type->kind != GpTy_Never)
        v = gp_spot_borrow(lo, &s, t, pat->span);
    else
        v = gp_spot_read(lo, &s, pat->span);
    GpVar *var = gp_lower_add_var(lo, local, t, gp_lower_needs_memory(lo, local, t));
    if (v.count == 1 && v.at[0].value && !v.at[0].value->name && v.at[0].value->inst)
        v.at[0].value->name = gp_arena_copy(lo->arena, local->name->name, local->name->len);
    GpSpot place = gp_spot_var(lo, var);
    if (v.count == gp_lower_leaf_count(lo, t))
        gp_spot_write(lo, &place, v, pat->span);
    if (GP_AS(PatName, pat)->sub)
        gp_pat_bind(lo, GP_AS(PatName, pat)->sub, s);
}

static void bind_sub(GpLower *lo, SubPat sub, void *ud) {
    (void)ud;
    gp_pat_bind(lo, sub.pat, sub.spot);
}

static void find_binding(GpNode *n, void *ud) {
    if (n->kind == GpNode_PatName && n->res && n->res->kind == GpRes_Local)
        *(bool *)ud = true;
    gp_node_children(n, find_binding, ud);
}

void gp_pat_bind(GpLower *lo, GpNode *pat, GpSpot s) {
    bool has_binding = false;
    find_binding(pat, &has_binding);
    if (!has_binding)
        return;
    if (pat->kind == GpNode_PatName) {
        bind_name(lo, pat, s);
        return;
    }
    if (pat->kind == GpNode_PatOr) {
        gp_lower_refuse(lo, pat->span, "a binding inside alternatives of a pattern");
        return;
    }
    visit_subs(lo, pat, look_through(lo, pat, s), bind_sub, NULL);
}
