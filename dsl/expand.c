/* Expansion of the macros that a file defines: one walk over its tree, in source order, since a
** definition is known from its place on, to the end of the block or module that it stands in.
** What a call expands to is parsed, takes the call's place, and is walked in turn.
**
** Hygiene and places come with the tokens (macro.h); this file only chooses what is expanded. */
#include "dsl/macro_parse.h"

#define RECURSION_LIMIT 128
#define MAX_TOKENS      200000u /* of all expansions of a file together */
#define MAX_NODES       2048    /* from the root to a leaf, where expansions are nested */

typedef struct Expander {
    GpParse *in;
    GP_VEC(GpRules *) scope; /* known here, newest last */
    GpMap by_name;           /* GpSym -> GpRules *: for paths and imports */
    GpMap imported;          /* names that a `use` mentions */
    uint32_t budget;
    uint32_t depth;  /* of nodes */
    bool is_stopped; /* a limit was reached, and reported */
} Expander;

static void visit(GpNode **slot, void *ud); /* an Expander */

/* ---- definitions --------------------------------------------------------------------------- */

static GpRules *define(Expander *e, GpNode *node) {
    GpAstMacroRules *ast = GP_AS(MacroRules, node);
    const GpTokenRun *run = gp_map_get(e->in->macros, node);
    if (!ast->name || !run)
        return NULL;
    GpRules *rules = gp_macro_define(e->in, ast, run);
    rules->node = node;
    return rules;
}

/* Entered by name before the walk, so that paths and imports find what stands further down. */
static void define_ahead(GpNode *n, void *ud) {
    Expander *e = ud;
    if (n->kind == GpNode_MacroRules && GP_AS(MacroRules, n)->name) {
        gp_map_set(e->in->arena, &e->by_name, GP_AS(MacroRules, n)->name, n);
    } else if (n->kind == GpNode_UseTree) {
        GpAstUseTree *tree = GP_AS(UseTree, n);
        if (tree->name && !tree->children.len)
            gp_map_set(e->in->arena, &e->imported, tree->alias ? tree->alias : tree->name,
                       (void *)(uintptr_t)tree->name);
        gp_node_children(n, define_ahead, ud);
    } else if (n->kind == GpNode_File || n->kind == GpNode_Module || n->kind == GpNode_Use) {
        gp_node_children(n, define_ahead, ud);
    }
}

static void enter_rules(Expander *e, GpNode *node) {
    GpRules *rules = define(e, node);
    if (rules)
        GP_PUSH(e->in->arena, &e->scope, rules);
}

static GpRules *find_defined(Expander *e, GpSym name) {
    for (uint32_t i = e->scope.len; i-- > 0;) {
        if (e->scope.at[i]->name == name)
            return e->scope.at[i];
    }
    return NULL;
}

/* What a path of a call names; NULL when it is no macro of this file. */
static GpRules *find_rules(Expander *e, GpAstMacro *call) {
    GpAstPath *path = GP_AS(Path, call->path);
    GpSym name =
        path->segments.len ? GP_AS(Segment, path->segments.at[path->segments.len - 1])->name : NULL;
    if (!name)
        return NULL;
    GpRules *rules = path->segments.len == 1 ? find_defined(e, name) : NULL;
    GpSym imported = path->segments.len == 1 ? gp_map_get(&e->imported, name) : name;
    GpNode *node = !rules && imported ? gp_map_get(&e->by_name, imported) : NULL;
    return node ? define(e, node) : rules;
}

/* ---- one call ------------------------------------------------------------------------------ */

static void release_source(void *source) { gp_source_release(source); }

static GpSource *make_expansion(Expander *e, const GpRules *rules, GpSpan call) {
    GpDeferred *deferred = gp_arena_defer(e->in->arena);
    GpSource *src = gp_source_new_expansion(rules->written, call, rules->name->name, rules->node);
    if (!src)
        gp_throw(gp_arena_session(e->in->arena), GpStatus_NoMemory);
    deferred->object = src;
    deferred->fn = release_source;
    return src;
}

/* A parser over what the call expands to. False after a report. */
static bool expand(Expander *e, const GpRules *rules, GpAstMacro *call, GpParser *out,
                   GpMatch *match) {
    GpSpan span = call->node.span;
    const GpTokenRun *args = gp_map_get(e->in->macros, call);
    if (rules->is_broken || !args || e->is_stopped)
        return false;
    if (span.src->depth >= RECURSION_LIMIT) {
        GpDiag *d = gp_diag(e->in->diags, GpDiag_G0032, span, rules->name->name);
        gp_help(d, "the limit is %d expansions within each other", RECURSION_LIMIT);
        e->is_stopped = true;
        return false;
    }
    if (!gp_macro_match(e->in, rules, span, args, match))
        return false;
    GpSource *src = make_expansion(e, rules, span);
    GpSpan arm = match->rule->rhs_span, end = {src, arm.off + arm.len - 1, 1};
    uint32_t count;
    const GpToken *toks = gp_macro_write(e->in, match, src, end, &e->budget, &count);
    e->is_stopped = e->budget == 0;
    if (!toks)
        return false;
    gp_parser_init_tokens(out, e->in, toks, count);
    out->prev = gp_parser_span(out);
    return true;
}

static void report_rest(Expander *e, GpParser *p, const GpRules *rules, GpSpan call,
                        const char *context) {
    if (p->parked || p->tok.tok == GpTok_End)
        return;
    GpDiag *d = gp_diag(e->in->diags, GpDiag_G0036, gp_span_root(gp_parser_span(p)),
                        gp_parser_describe(p, 0));
    gp_label(d, gp_span_root(call), "caused by the macro expansion here");
    gp_note(d, "the usage of `%s!` is likely invalid in %s context", rules->name->name, context);
}

/* rustc's lint semicolon_in_expressions_from_macros, which denies. */
static void report_semi(Expander *e, const GpParser *p, const GpRules *rules, GpSpan call) {
    GpDiag *d = gp_diag(e->in->diags, GpDiag_G0039, gp_span_root(gp_parser_span(p)));
    gp_label(d, gp_span_root(call), "in this macro invocation");
    gp_help(d,
            "to ignore the value produced by the macro, add a semicolon after the invocation of "
            "`%s`",
            rules->name->name);
}

static GpNode *bad_at(Expander *e, GpSpan span) {
    GpAstBad *bad = GP_AST_NEW(e->in->arena, Bad, span);
    bad->is_bad = true;
    return &bad->node;
}

static void report_nothing(Expander *e, const GpRule *rule, GpSpan call, const char *what) {
    GpDiag *d = gp_diag(e->in->diags, GpDiag_G0038, gp_span_root(call), what);
    gp_primary_label(d, "expected %s", what);
    gp_label(d, gp_span_root(rule->rhs_span), "in this macro arm");
}

/* The call as an expression, type or pattern. */
static GpNode *expand_one(Expander *e, const GpRules *rules, GpAstMacro *call,
                          GpFragmentKind kind) {
    const char *what = kind == GpFragment_Ty    ? "type"
                       : kind == GpFragment_Pat ? "pattern"
                                                : "expression";
    GpParser p;
    GpMatch match;
    GpSpan span = call->node.span;
    if (!expand(e, rules, call, &p, &match))
        return bad_at(e, span);
    if (p.tok.tok == GpTok_End) {
        report_nothing(e, match.rule, span, what);
        return bad_at(e, span);
    }
    GpNode *n = gp_parse_as(&p, kind);
    if (kind == GpFragment_Expr && p.tok.tok == GpTok_Semi && gp_parser_peek(&p, 1) == GpTok_End) {
        report_semi(e, &p, rules, span);
        gp_parser_bump(&p);
    }
    report_rest(e, &p, rules, span, what);
    return n;
}

static GpRules *find_call(Expander *e, GpNode *n) {
    return n->kind == GpNode_Macro ? find_rules(e, GP_AS(Macro, n)) : NULL;
}

static void replace(Expander *e, GpNode **slot, GpNode *call, GpFragmentKind kind) {
    GpRules *rules = find_call(e, call);
    if (!rules) {
        gp_node_slots(call, visit, e);
        return;
    }
    *slot = expand_one(e, rules, GP_AS(Macro, call), kind);
    visit(slot, e);
}

/* ---- lists: a call becomes any number of items or statements --------------------------------- */

static void walk_items(Expander *e, GpNodeList items, GpNodeVec *out) {
    for (uint32_t i = 0; i < items.len; i++) {
        GpNode *item = items.at[i];
        GpRules *rules =
            item->kind == GpNode_MacroItem ? find_call(e, GP_AS(MacroItem, item)->macro) : NULL;
        if (!rules) {
            visit(&item, e);
            GP_PUSH(e->in->arena, out, item);
            continue;
        }
        GpParser p;
        GpMatch match;
        GpNodeVec made = {0};
        GpAstMacro *call = GP_AS(Macro, GP_AS(MacroItem, item)->macro);
        if (!expand(e, rules, call, &p, &match))
            continue;
        gp_parse_items(&p, p.count - 1, &made);
        walk_items(e, gp_parser_list(&made), out);
    }
}

static GpNodeList expand_items(Expander *e, GpNodeList items) {
    GpNodeVec out = {0};
    walk_items(e, items, &out);
    return gp_parser_list(&out);
}

typedef struct Stmts {
    GpNodeVec list;
    GpNode *tail;
} Stmts;

static void walk_stmts(Expander *e, GpNodeList stmts, Stmts *out);

static void push_tail(Expander *e, Stmts *out, GpNode *tail, bool has_semi) {
    GpAstExprStmt *stmt = GP_AST_NEW(e->in->arena, ExprStmt, tail->span);
    stmt->expr = tail;
    stmt->has_semi = has_semi;
    GP_PUSH(e->in->arena, &out->list, &stmt->node);
}

static void expand_stmts(Expander *e, const GpRules *rules, GpAstMacro *call, bool has_semi,
                         Stmts *out) {
    GpParser p;
    GpMatch match;
    if (!expand(e, rules, call, &p, &match))
        return;
    GpNodeVec made = {0};
    GpNode *tail = NULL;
    while (p.at < p.count - 1 && !p.parked && !tail) {
        uint32_t start = p.at;
        GpNode *stmt = gp_parse_stmt(&p, &tail);
        if (stmt)
            GP_PUSH(e->in->arena, &made, stmt);
        gp_parser_recover(&p, start, p.count - 1, GpTok_Semi);
    }
    report_rest(e, &p, rules, call->node.span, "statement");
    walk_stmts(e, gp_parser_list(&made), out);
    if (!tail)
        return;
    /* The value may be a call of a macro again, which then stands where this one stood. */
    GpRules *inner = find_call(e, tail);
    if (inner && (has_semi || GP_AS(Macro, tail)->open == GpTok_LBrace)) {
        expand_stmts(e, inner, GP_AS(Macro, tail), has_semi, out);
        return;
    }
    visit(&tail, e);
    if (has_semi)
        push_tail(e, out, tail, true);
    else
        out->tail = tail;
}

/* A value without a semicolon that is not the last statement. */
static void settle_tail(Expander *e, Stmts *out) {
    if (out->tail)
        push_tail(e, out, out->tail, false);
    out->tail = NULL;
}

static void walk_stmts(Expander *e, GpNodeList stmts, Stmts *out) {
    for (uint32_t i = 0; i < stmts.len; i++) {
        GpNode *stmt = stmts.at[i];
        GpAstExprStmt *expr = stmt->kind == GpNode_ExprStmt ? GP_AS(ExprStmt, stmt) : NULL;
        GpRules *rules = expr ? find_call(e, expr->expr) : NULL;
        settle_tail(e, out);
        if (rules) {
            expand_stmts(e, rules, GP_AS(Macro, expr->expr), expr->has_semi, out);
        } else {
            visit(&stmt, e);
            GP_PUSH(e->in->arena, &out->list, stmt);
        }
    }
}

static void visit_block(Expander *e, GpAstBlock *block) {
    uint32_t known = e->scope.len;
    Stmts out = {0};
    walk_stmts(e, block->stmts, &out);
    GpRules *rules = block->tail ? find_call(e, block->tail) : NULL;
    if (rules && GP_AS(Macro, block->tail)->open == GpTok_LBrace) {
        settle_tail(e, &out);
        expand_stmts(e, rules, GP_AS(Macro, block->tail), false, &out);
    } else if (block->tail) {
        settle_tail(e, &out);
        out.tail = block->tail;
        visit(&out.tail, e);
    }
    block->stmts = gp_parser_list(&out.list);
    block->tail = out.tail;
    e->scope.len = known;
}

/* ---- the walk ------------------------------------------------------------------------------ */

static bool has_macro_use(const GpAstModule *m) {
    for (uint32_t i = 0; i < m->attrs.len; i++) {
        GpAstPath *path = GP_AS(Path, GP_AS(Attr, m->attrs.at[i])->path);
        GpNode *seg = path->segments.len ? path->segments.at[0] : NULL;
        if (seg && strcmp(GP_AS(Segment, seg)->name->name, "macro_use") == 0)
            return true;
    }
    return false;
}

static void visit_module(Expander *e, GpAstModule *m) {
    uint32_t known = e->scope.len;
    m->items = expand_items(e, m->items);
    if (!has_macro_use(m))
        e->scope.len = known;
}

static void visit_kind(Expander *e, GpNode **slot) {
    GpNode *n = *slot;
    if (n->kind == GpNode_Macro) {
        replace(e, slot, n, GpFragment_Expr);
    } else if (n->kind == GpNode_TypeMacro) {
        replace(e, slot, GP_AS(TypeMacro, n)->macro, GpFragment_Ty);
    } else if (n->kind == GpNode_PatMacro) {
        replace(e, slot, GP_AS(PatMacro, n)->macro, GpFragment_Pat);
    } else if (n->kind == GpNode_MacroRules) {
        enter_rules(e, n);
    } else if (n->kind == GpNode_Block) {
        visit_block(e, GP_AS(Block, n));
    } else if (n->kind == GpNode_Module) {
        visit_module(e, GP_AS(Module, n));
    } else if (n->kind == GpNode_Impl) {
        GP_AS(Impl, n)->items = expand_items(e, GP_AS(Impl, n)->items);
        visit(&GP_AS(Impl, n)->self_type, e);
    } else if (n->kind == GpNode_Trait) {
        GP_AS(Trait, n)->items = expand_items(e, GP_AS(Trait, n)->items);
    } else {
        gp_node_slots(n, visit, e);
    }
}

static void visit(GpNode **slot, void *ud) {
    Expander *e = ud;
    if (e->depth++ < MAX_NODES || !(*slot)->span.src || !(*slot)->span.src->root) {
        visit_kind(e, slot);
    } else {
        gp_diag(e->in->diags, GpDiag_G0010, gp_span_call((*slot)->span));
        *slot = bad_at(e, (*slot)->span);
    }
    e->depth--;
}

void gp_expand_file(GpParse *in, GpAstFile *file) {
    Expander e = {.in = in, .budget = MAX_TOKENS};
    if (in->macros->count == 0)
        return;
    define_ahead(&file->node, &e);
    file->items = expand_items(&e, file->items);
}
