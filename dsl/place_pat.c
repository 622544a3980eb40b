/* Patterns in place form: which parts of a value are looked at, and what the bindings take. */
#include "dsl/place_build.h"

typedef void (*PartFn)(GpBuild *b, GpNode *pat, GpPlace *p, void *ud);

/* ---- walking --------------------------------------------------------------------------------- */

static void each_item(GpBuild *b, GpNodeList pats, GpPlace *p, uint32_t fields, PartFn fn,
                      void *ud) {
    uint32_t rest = gp_node_find_rest(pats);
    for (uint32_t i = 0; i < pats.len; i++) {
        if (i == rest)
            continue;
        uint32_t at = i < rest ? i : fields - (pats.len - i);
        fn(b, pats.at[i], gp_place_field(b->f, p, at, pats.at[i]->type), ud);
    }
}

static GpPlace *owner_place(GpBuild *b, const GpNode *pat, GpPlace *p) {
    const GpDef *def = pat->res ? pat->res->def : NULL;
    return def && def->kind == GpDef_Variant ? gp_place_variant(b->f, p, def) : p;
}

/* Calls fn for the direct parts of a pattern; p is the place after the pattern's dereferences. */
static void each_part(GpBuild *b, GpNode *pat, GpPlace *p, PartFn fn, void *ud) {
    if (pat->kind == GpNode_PatParen) {
        fn(b, GP_AS(PatParen, pat)->pat, p, ud);
    } else if (pat->kind == GpNode_PatRef) {
        fn(b, GP_AS(PatRef, pat)->pat, gp_place_deref(b->f, p), ud);
    } else if (pat->kind == GpNode_PatName && GP_AS(PatName, pat)->sub) {
        fn(b, GP_AS(PatName, pat)->sub, p, ud);
    } else if (pat->kind == GpNode_PatTuple) {
        each_item(b, GP_AS(PatTuple, pat)->pats, p, p->type->arg_count, fn, ud);
    } else if (pat->kind == GpNode_PatSlice) {
        int64_t count = 0; /* elements at known places are apart: fields rather than indices */
        if (p->type->count)
            gp_const_value(p->type->count, &count);
        each_item(b, GP_AS(PatSlice, pat)->pats, p, (uint32_t)count, fn, ud);
    } else if (pat->kind == GpNode_PatTupleStruct && pat->res) {
        each_item(b, GP_AS(PatTupleStruct, pat)->pats, owner_place(b, pat, p),
                  pat->res->def->field_count, fn, ud);
    } else if (pat->kind == GpNode_PatStruct) {
        GpNodeList fields = GP_AS(PatStruct, pat)->fields;
        for (uint32_t i = 0; i < fields.len; i++) {
            GpAstPatField *f = GP_AS(PatField, fields.at[i]);
            if (f->node.res)
                fn(b, f->pat,
                   gp_place_field(b->f, owner_place(b, pat, p), f->node.res->index, f->node.type),
                   ud);
        }
    }
}

static GpPlace *peel(GpBuild *b, const GpNode *pat, GpPlace *p) {
    for (const GpAdjust *a = pat->adjust; a; a = a->next)
        if (a->kind == GpAdjust_Deref)
            p = gp_place_deref(b->f, p);
    return p;
}

static bool is_binding(const GpNode *pat) {
    return pat->kind == GpNode_PatName && pat->res && pat->res->kind == GpRes_Local;
}

bool gp_pat_is_wild(const GpNode *pat) {
    while (pat->kind == GpNode_PatParen)
        pat = ((const GpAstPatParen *)pat)->pat;
    return pat->kind == GpNode_PatWild;
}

/* ---- declaring ------------------------------------------------------------------------------- */

static void declare(GpNode *n, void *ud) {
    GpBuild *b = ud;
    if (gp_node_group(n->kind) != GpGroup_Pat && n->kind != GpNode_PatField)
        return;
    if (is_binding(n) && !gp_map_has(&b->f->slot_of, n->res->local)) {
        uint32_t slot = gp_build_local_slot(b, n->res->local);
        GpPlaceScope *s = &b->scopes.at[b->scopes.len - 1];
        GP_PUSH(b->arena, &s->slots, slot);
    }
    gp_node_children(n, declare, b);
}

static void start(GpNode *n, void *ud) {
    GpBuild *b = ud;
    if (gp_node_group(n->kind) != GpGroup_Pat && n->kind != GpNode_PatField)
        return;
    if (is_binding(n)) {
        GpPlace *p = gp_build_local(b, n->res->local);
        gp_build_step(b, GpStep_Live, n->span)->dst = p;
    }
    gp_node_children(n, start, b);
}

void gp_pat_declare(GpBuild *b, GpNode *pat, GpSpan let_span, bool has_init) {
    uint32_t first = b->f->slots.len;
    declare(pat, b);
    for (uint32_t i = first; i < b->f->slots.len; i++) {
        b->f->slots.at[i].let_span = let_span;
        b->f->slots.at[i].has_init = has_init;
    }
    start(pat, b);
}

/* ---- testing --------------------------------------------------------------------------------- */

static void look(GpBuild *b, GpPlace *p, GpUseKind kind, GpSpan span) {
    GpOperand use = {kind, p, span};
    gp_step_uses(b, gp_build_step(b, GpStep_Assign, span), &use, 1);
}

static bool has_choice(const GpType *t) {
    return t->kind == GpTy_Adt && t->def->kind == GpDef_Enum && t->def->item_count != 1;
}

typedef struct Test {
    GpSpan span;
} Test;

static void test_part(GpBuild *b, GpNode *pat, GpPlace *p, void *ud) {
    const Test *t = ud;
    p = peel(b, pat, p);
    if (pat->kind == GpNode_PatOr) {
        GpNodeList pats = GP_AS(PatOr, pat)->pats;
        for (uint32_t i = 0; i < pats.len; i++)
            test_part(b, pats.at[i], p, ud);
        return;
    }
    bool is_value = pat->kind == GpNode_PatLit || pat->kind == GpNode_PatRange;
    bool is_path = pat->kind == GpNode_PatPath || (pat->kind == GpNode_PatName && !is_binding(pat));
    bool is_owner = pat->kind == GpNode_PatTupleStruct || pat->kind == GpNode_PatStruct;
    if ((is_path || is_owner) && has_choice(p->type))
        look(b, p, GpUse_Look, t->span);
    else if (is_value || (is_path && gp_ty_is_copy(p->type)))
        look(b, p, GpUse_Copy, t->span);
    each_part(b, pat, p, test_part, ud);
}

void gp_place_test(GpBuild *b, GpNode *pat, GpPlace *p, GpSpan span) {
    Test t = {span};
    test_part(b, pat, p, &t);
}

/* ---- binding --------------------------------------------------------------------------------- */

typedef struct Bind {
    GpNode *init;
    bool is_shown; /* before a guard: nothing moves */
} Bind;

static void bind_name(GpBuild *b, GpNode *pat, GpPlace *p, const Bind *how) {
    const GpLocal *l = pat->res->local;
    GpPlace *dst = gp_build_local(b, l);
    if (l->type->kind == GpTy_Ref && l->type->inner == pat->type && l->type != pat->type) {
        gp_build_loan(b, dst, p, l->type->is_mut && !how->is_shown ? GpLoan_Mut : GpLoan_Shared,
                      pat->span);
    } else {
        GpOperand use = gp_operand_of(b, p, pat->span);
        if (how->is_shown && use.kind == GpUse_Move)
            use.kind = GpUse_Inspect;
        gp_build_copy(b, dst, use, pat->span);
    }
    GpBlock *blk = &b->f->blocks.at[b->block];
    GpStep *s = &blk->steps.at[blk->steps.len - 1];
    s->is_init = true;
    s->why = GpMove_Pattern;
    s->node = how->init;
}

static void bind_part(GpBuild *b, GpNode *pat, GpPlace *p, void *ud) {
    p = peel(b, pat, p);
    if (is_binding(pat))
        bind_name(b, pat, p, ud);
    if (pat->kind != GpNode_PatOr) {
        each_part(b, pat, p, bind_part, ud);
        return;
    }
    GpNodeList pats = GP_AS(PatOr, pat)->pats;
    uint32_t from = b->block, end = gp_build_block(b);
    for (uint32_t i = 0; i < pats.len; i++) {
        b->block = gp_build_block(b);
        gp_build_edge(b, from, b->block);
        bind_part(b, pats.at[i], p, ud);
        gp_build_edge(b, b->block, end);
    }
    b->block = end;
}

void gp_place_bind(GpBuild *b, GpNode *pat, GpPlace *p, GpNode *init) {
    Bind how = {init, false};
    bind_part(b, pat, p, &how);
}

void gp_pat_show(GpBuild *b, GpNode *pat, GpPlace *p) {
    Bind how = {NULL, true};
    bind_part(b, pat, p, &how);
}
