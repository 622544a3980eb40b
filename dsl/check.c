/* The body checker's driver: one function at a time, from its parameters to the final pass that
** replaces inference variables in every annotation. Expressions, patterns and statements are in
** the other check*.c files; names, types and generics come from resolve*.c, unify.c, generic.c.
**
** Invariant: after gp_check_fn no annotation of the body and no local holds a variable. */
#include "dsl/check_body.h"

/* The places in `visible` of one name, innermost last; those that went out of scope go when the
** next one is entered or looked for. */
typedef GP_VEC(uint32_t) Places;

static Places *places_of(const GpBody *b, const void *key) { return gp_map_get(&b->places, key); }

static bool is_at(const GpBody *b, uint32_t at, const void *key) {
    return at < b->visible.len &&
           (b->visible.at[at]->name ? b->visible.at[at]->name == key : key == b);
}

/* Marks of macros stand under the body itself. */
static void note_visible(GpBody *b, const void *key, GpLocal *l) {
    Places *p = places_of(b, key);
    if (!p) {
        p = GP_NEW(b->c->arena, Places);
        gp_map_set(b->c->arena, &b->places, key, p);
    }
    while (p->len && (p->at[p->len - 1] >= b->visible.len || !is_at(b, p->at[p->len - 1], key)))
        p->len--;
    GP_PUSH(b->c->arena, p, b->visible.len);
    GP_PUSH(b->c->arena, &b->visible, l);
}

GpLocal *gp_body_add_local(GpBody *b, GpSym name, GpSpan span, const GpType *type, bool is_mut) {
    GpLocal *l = GP_NEW(b->c->arena, GpLocal);
    l->name = name;
    l->span = span;
    l->type = type;
    l->id = b->locals.len;
    l->is_mut = is_mut;
    l->closure = b->closure;
    GP_PUSH(b->c->arena, &b->locals, l);
    GP_PUSH(b->c->arena, &b->infos, (GpLocalInfo){0});
    note_visible(b, name, l);
    return l;
}

/* The innermost local or mark below `limit` that still stands under the key. */
static uint32_t innermost(const GpBody *b, const void *key, uint32_t limit) {
    Places *p = places_of(b, key);
    while (p && p->len && !is_at(b, p->at[p->len - 1], key))
        p->len--;
    for (uint32_t i = p ? p->len : 0; i-- > 0;)
        if (p->at[i] < limit && is_at(b, p->at[i], key))
            return p->at[i];
    return UINT32_MAX;
}

static GpLocal *find_below(const GpBody *b, GpSym name, GpSpan span, uint32_t limit) {
    const GpSource *from = span.src;
    for (;;) {
        uint32_t at = innermost(b, name, limit);
        uint32_t mark = from && from->rules ? innermost(b, b, limit) : UINT32_MAX;
        if (mark != UINT32_MAX && (at == UINT32_MAX || mark > at)) {
            /* Behind the definition of the macro that wrote the name, it is as written there. */
            const GpLocal *l = b->visible.at[mark];
            from = from->rules == l->closure ? l->span.src : from;
            limit = mark;
        } else if (at == UINT32_MAX || b->visible.at[at]->span.src == from) {
            return at == UINT32_MAX ? NULL : b->visible.at[at];
        } else {
            limit = at;
        }
    }
}

GpLocal *gp_body_find_local(const GpBody *b, GpSym name, GpSpan span) {
    return find_below(b, name, span, b->visible.len);
}

void gp_body_mark_macro(GpBody *b, GpNode *rules) {
    GpLocal *mark = GP_NEW(b->c->arena, GpLocal);
    mark->span = rules->span;
    mark->closure = rules; /* compared only: the mark is no local */
    note_visible(b, b, mark);
}

GpRes *gp_body_set_res(GpBody *b, GpNode *n, GpResKind kind) {
    GpRes *res = GP_NEW(b->c->arena, GpRes);
    res->kind = kind;
    n->res = res;
    return res;
}

void gp_body_pend(GpBody *b, GpPending p) { GP_PUSH(b->c->arena, &b->pending, p); }

const GpType *gp_body_head(GpBody *b, const GpType *t) { return gp_shallow(b->c, t); }

static void settle(GpBody *b);

const GpType *gp_body_known(GpBody *b, const GpType *t) {
    t = gp_body_head(b, t);
    if (t->kind != GpTy_Infer || t->infer != GpInfer_Any)
        return t;
    settle(b);
    return gp_body_head(b, t);
}

const char *gp_body_name(GpBody *b, const GpType *t) {
    return gp_ty_name(b->c->arena, gp_zonk(b->c, t));
}

const GpType *gp_body_error(GpBody *b) { return gp_ty_error(b->c->types); }
const GpType *gp_body_unit(GpBody *b) { return gp_ty_unit(b->c->types); }
const GpType *gp_body_bool(GpBody *b) { return gp_ty_elem(b->c->types, GpElem_Bool); }

bool gp_body_is(GpBody *b, const GpType *t, GpTypeKind kind) {
    return gp_body_head(b, t)->kind == kind;
}

GpDiag *gp_body_unsupported(GpBody *b, GpSpan span, const char *fmt, ...) {
    GpText text = {.session = b->c->module ? b->c->module->session : b->c->std->session};
    va_list args;
    va_start(args, fmt);
    gp_text_vprintf(&text, fmt, args);
    va_end(args);
    const char *what = gp_arena_copy(b->c->arena, gp_text_cstr(&text), text.len);
    gp_text_free(&text);
    GpDiag *d = gp_diag(b->c->diags, GpDiag_G0220, span, what);
    gp_primary_label(d, "not supported in kernels yet");
    return d;
}

const char *gp_body_text(GpBody *b, GpSpan span) {
    if (!span.src)
        return "_";
    const char *at = span.src->text + span.off;
    size_t len = 0;
    while (len < span.len && at[len] != '\n')
        len++;
    return gp_arena_copy(b->c->arena, at, len);
}

/* ---- what waits for types ---------------------------------------------------------------- */

static void report_unknown(GpBody *b, GpSpan span, const GpType *t, const char *of) {
    if (b->has_reported_infer)
        return;
    b->has_reported_infer = true;
    t = gp_zonk(b->c, t);
    const char *title = "";
    if (t->kind != GpTy_Infer)
        title = gp_arena_printf(b->c->arena, " for `%s`", gp_ty_name(b->c->arena, t));
    GpDiag *d = gp_diag(b->c->diags, GpDiag_E0282, span, title);
    if (of)
        gp_help(d, "consider giving `%s` an explicit type", of);
    else
        gp_primary_label(d, "cannot infer type");
}

static void report_unknown_const(GpBody *b, GpSpan span, const GpDef *generic) {
    if (b->has_reported_infer)
        return;
    b->has_reported_infer = true;
    gp_primary_label(gp_diag(b->c->diags, GpDiag_E0284, span),
                     "cannot infer the value of the const parameter `%s`", generic->name->name);
}

/* The function's generic number `at`. */
static void report_unknown_generic(GpBody *b, GpSpan span, const GpDef *fn, uint32_t at) {
    if (b->has_reported_infer)
        return;
    b->has_reported_infer = true;
    const GpDef *generic = fn->generics[at];
    bool is_float = generic->bound_count && !strcmp(generic->bounds[0]->name->name, "FloatElement");
    GpText text = {.session = b->c->module ? b->c->module->session : b->c->std->session};
    gp_text_printf(&text, "%s::<", fn->name->name);
    for (uint32_t i = 0; i < at; i++)
        gp_text_puts(&text, "_, ");
    gp_text_printf(&text, "%s>(..)", is_float ? "f32" : "i32");
    GpDiag *d = gp_diag(b->c->diags, GpDiag_E0282, span, "");
    gp_primary_label(d, "cannot infer type of the type parameter `%s` declared on the function `%s`", generic->name->name, fn->name->name);
    gp_help(d, "write it, as in `%s`", gp_text_cstr(&text));
    gp_text_free(&text);
}

static void finish_range(GpBody *b, const GpPending *p) {
    const GpType *t = gp_zonk(b->c, p->type);
    if (t->kind == GpTy_Error || t->kind == GpTy_Infer || gp_body_is_int(t))
        return;
    const char *type = gp_ty_name(b->c->arena, t);
    GpDiag *d =
        gp_diag(b->c->diags, GpDiag_E0277, p->node->span,
                gp_arena_printf(b->c->arena, "the trait bound `%s: Step` is not satisfied", type));
    gp_primary_label(d, "the trait `Step` is not implemented for `%s`", type);
}

/* Tries what waits for types again; at the end nothing may wait. */
static void settle(GpBody *b) {
    bool progress = true;
    while (progress) {
        progress = false;
        for (uint32_t i = 0; i < b->pending.len; i++) {
            GpPending *p = &b->pending.at[i];
            if (p->is_done)
                continue;
            if (p->kind == GpPending_Binary && gp_body_retry_binary(b, p, false))
                progress = b->pending.at[i].is_done = true;
            else if (p->kind == GpPending_Impl && gp_body_select_impl(b, p->res) == GpSelection_One)
                progress = p->is_done = true;
        }
    }
}

static void finish_pending(GpBody *b) {
    settle(b);
    for (uint32_t i = 0; i < b->pending.len; i++) {
        const GpPending p = b->pending.at[i];
        if (p.kind == GpPending_Diverge && gp_body_is(b, p.type, GpTy_Infer))
            gp_unify(b->c, p.type, gp_ty_never(b->c->types));
    }
    gp_unify_defaults(b->c);
    settle(b);
    for (uint32_t i = 0; i < b->pending.len; i++) {
        GpPending p = b->pending.at[i];
        if (p.is_done)
            continue;
        if (p.kind == GpPending_Binary)
            gp_body_retry_binary(b, &p, true);
        else if (p.kind == GpPending_Cast)
            gp_body_finish_cast(b, p.node);
        else if (p.kind == GpPending_Impl)
            gp_body_finish_impl(b, p.res, p.node);
        else if (p.kind == GpPending_Bound)
            gp_body_finish_bound(b, p.res, p.node);
        else if (p.kind == GpPending_Range)
            finish_range(b, &p);
    }
}

/* ---- the final pass ------------------------------------------------------------------------ */

/* gp_unify_defaults has run: what is still free is an error, once per function. */
static const GpType *settle_type(GpBody *b, const GpType *t, GpSpan span, const char *of) {
    if (!t)
        return NULL;
    t = gp_zonk(b->c, t);
    if (!t->has_infer)
        return t;
    if (gp_diags_errors(b->c->diags) == b->errors_before)
        report_unknown(b, span, t, of);
    return gp_body_error(b);
}

static const GpAdjust *settle_adjust(GpBody *b, const GpAdjust *a, GpSpan span) {
    GpAdjust *first = NULL, *last = NULL;
    for (; a; a = a->next) {
        GpAdjust *copy = GP_NEW(b->c->arena, GpAdjust);
        copy->kind = a->kind;
        copy->type = settle_type(b, a->type, span, NULL);
        if (last)
            last->next = copy;
        else
            first = copy;
        last = copy;
    }
    return first;
}

static const GpRes *settle_res(GpBody *b, const GpRes *res, GpSpan span) {
    if (!res || !res->arg_count)
        return res;
    GpRes *copy = GP_NEW(b->c->arena, GpRes);
    *copy = *res;
    GpGArg *args = GP_NEW_ARRAY(b->c->arena, GpGArg, res->arg_count);
    for (uint32_t i = 0; i < res->arg_count; i++) {
        args[i] = gp_zonk_arg(b->c, res->args[i]);
        if (args[i].kind == GpGArg_Type) {
            bool is_open = args[i].type->kind == GpTy_Infer && res->def->kind == GpDef_Fn && i < res->def->generic_count;
            if (is_open && gp_diags_errors(b->c->diags) == b->errors_before)
                report_unknown_generic(b, span, res->def, i);
            args[i].type = settle_type(b, args[i].type, span, NULL);
        } else if ((args[i].kind == GpGArg_Const && args[i].value->kind == GpConst_Infer) ||
                   (args[i].kind == GpGArg_Shape && args[i].shape->kind == GpShape_Infer)) {
            if (gp_diags_errors(b->c->diags) == b->errors_before)
                report_unknown_const(b, span, res->def->generics[i]);
        }
    }
    copy->args = args;
    return copy;
}

/* Extents that no instance could have are refused here already; gp_instantiate sees the rest. */
static void check_extents(GpBody *b, const GpNode *n) {
    bool is_call = n->kind == GpNode_Call || n->kind == GpNode_MethodCall;
    if (!is_call || !n->type || !gp_ty_is_lang(n->type, GpLang_Tile))
        return;
    const GpShapeTy *shape = n->type->args[1].shape;
    int64_t extent;
    for (int i = 0; shape->kind == GpShape_List && i < shape->rank; i++) {
        bool is_known = gp_const_value(shape->dim[i], &extent);
        if (is_known ? extent > 0 : shape->dim[i]->kind != GpConst_Dynamic)
            continue;
        GpDiag *d = gp_diag(b->c->diags, GpDiag_G0254, n->span, gp_ty_name(b->c->arena, n->type));
        gp_primary_label(d, "every extent of a tile is a positive constant");
        if (!is_known)
            gp_help(d, "`x.load_like(z)` and `x.load_tile(shape![..], [i])` load a part of a tensor");
        return;
    }
}

static void settle_node(GpNode *n, void *ud) {
    GpBody *b = ud;
    gp_node_children(n, settle_node, ud);
    n->res = settle_res(b, n->res, n->span);
    n->type = settle_type(b, n->type, n->span, NULL);
    n->adjust = settle_adjust(b, n->adjust, n->span);
    if (n->res && n->res->kind == GpRes_Def && n->res->def->kind == GpDef_Const)
        GP_PUSH(b->c->arena, &b->calls, ((GpCallEdge){n->res->def, n->span}));
    check_extents(b, n);
    if (!b->is_const)
        gp_check_failing(b, n);
    if (n->kind == GpNode_Lit)
        gp_check_lit_range(b, n, false);
    else if (n->kind == GpNode_Unary && GP_AS(Unary, n)->op == GpTok_Minus)
        gp_check_lit_range(b, n, true);
}

static void settle_locals(GpBody *b) {
    for (uint32_t i = 0; i < b->locals.len; i++) {
        GpLocal *l = b->locals.at[i];
        l->type = settle_type(b, l->type, l->span, l->name ? l->name->name : NULL);
    }
}

static void settle_params(GpBody *b, GpAstFn *fn) {
    for (uint32_t i = 0; i < fn->params.len; i++)
        if (fn->params.at[i]->kind == GpNode_Param)
            settle_node(GP_AS(Param, fn->params.at[i])->pat, b);
}

static void finish(GpBody *b, GpNode *root, GpAstFn *fn) {
    finish_pending(b);
    settle_locals(b);
    settle_node(root, b);
    if (fn)
        settle_params(b, fn);
    b->c->is_local = NULL;
    b->c->is_local_ud = NULL;
    b->c->unify = NULL;
}

/* ---- functions ------------------------------------------------------------------------------ */

/* E0415 for the names of a parameter, from local `first`, that the ones before it have. */
static void check_names(GpBody *b, uint32_t first, uint32_t visible) {
    for (uint32_t i = first; i < b->locals.len; i++) {
        const GpLocal *l = b->locals.at[i];
        if (find_below(b, l->name, l->span, visible))
            gp_primary_label(gp_diag(b->c->diags, GpDiag_E0415, l->span, l->name->name),
                             "used as parameter more than once");
    }
}

static void add_param(GpBody *b, GpNode *n, const GpType *type) {
    if (n->kind == GpNode_SelfParam) {
        GpAstSelfParam *self = GP_AS(SelfParam, n);
        GpSym name = gp_intern_cstr(b->c->names, "self");
        GpLocal *l = gp_body_add_local(b, name, n->span, type, self->is_mut && !self->is_ref);
        l->is_param = true;
        n->type = type;
        gp_body_set_res(b, n, GpRes_Local)->local = l;
        return;
    }
    GpAstParam *p = GP_AS(Param, n);
    uint32_t first = b->locals.len, visible = b->visible.len;
    if (gp_body_pat(b, p->pat, type, p->type, NULL))
        gp_body_irrefutable(b, p->pat, type, "function argument");
    check_names(b, first, visible);
    for (uint32_t i = first; i < b->locals.len; i++)
        b->locals.at[i]->is_param = true;
    n->type = type;
}

static bool is_local(void *ud, GpSym name, GpSpan span) {
    return gp_body_find_local(ud, name, span) != NULL;
}

static void begin(GpBody *b, GpCheck *c, GpDef *fn) {
    *b = (GpBody){.c = c, .fn = fn, .errors_before = gp_diags_errors(c->diags)};
    b->has_reported_infer = fn->sig.is_wrong;
    for (uint32_t i = 0; i < fn->generic_count; i++)
        b->has_reported_infer |= fn->generics[i]->has_bad_bound;
    b->ret_span = b->diverged_at = GP_NO_SPAN;
    c->is_local = is_local;
    c->is_local_ud = b;
    gp_unify_begin(c);
}

static void check_value(GpBody *b, GpAstFn *fn) {
    GpReason why = {b->ret_span, "expected because of return type", NULL};
    if (fn->ret)
        why.label = gp_arena_printf(b->c->arena, "expected `%s` because of return type",
                                    gp_ty_name(b->c->arena, b->ret));
    gp_body_block_expect(b, fn->body, b->ret, why);
}

void gp_check_fn(GpCheck *c, GpDef *fn) {
    if (fn->check_state != 0 || !fn->node || fn->node->kind != GpNode_Fn)
        return;
    GpAstFn *ast = GP_AS(Fn, fn->node);
    fn->check_state = 1;
    if (!ast->body)
        return;
    GpBody b;
    begin(&b, c, fn);
    b.ret = fn->sig.ret ? fn->sig.ret : gp_ty_unit(c->types);
    if (ast->ret)
        b.ret_span = ast->ret->span;
    for (uint32_t i = 0; i < ast->params.len && i < fn->sig.param_count; i++)
        add_param(&b, ast->params.at[i], fn->sig.params[i]);
    check_value(&b, ast);
    finish(&b, ast->body, ast);
    fn->locals = b.locals.at;
    fn->local_count = b.locals.len;
    fn->calls = b.calls.at;
    fn->call_count = b.calls.len;
    fn->check_state = 2;
}

/* Of a constant or static; NULL: it is something else, or has none. */
static GpNode *find_value(GpNode *n, GpNode **type) {
    if (n->kind == GpNode_Const) {
        *type = GP_AS(Const, n)->type;
        return GP_AS(Const, n)->value;
    }
    if (n->kind != GpNode_Static)
        return NULL;
    *type = GP_AS(Static, n)->type;
    return GP_AS(Static, n)->value;
}

void gp_check_const(GpCheck *c, GpDef *def) {
    if (def->check_state != 0 || !def->node)
        return;
    def->check_state = 1;
    GpNode *type_node = NULL, *value = find_value(def->node, &type_node);
    if (!value || !def->const_type)
        return;
    GpBody b;
    begin(&b, c, def);
    b.is_const = true;
    b.ret = def->const_type;
    GpReason why = {type_node ? type_node->span : GP_NO_SPAN,
                    "expected because of the type of the constant", NULL};
    gp_body_expect(&b, value, def->const_type, why);
    finish(&b, value, NULL);
    def->locals = b.locals.at;
    def->local_count = b.locals.len;
    def->calls = b.calls.at;
    def->call_count = b.calls.len;
    def->check_state = 2;
}

static void check_failing(GpNode *n, void *ud) {
    gp_node_children(n, check_failing, ud);
    gp_check_failing(ud, n);
}

void gp_check_const_value(GpCheck *c, GpDef *def) {
    GpBody b = {.c = c, .fn = def, .is_const = true};
    GpNode *type;
    if (def->check_state == 2)
        check_failing(find_value(def->node, &type), &b);
}
