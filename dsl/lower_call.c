/* Calls: functions, methods and closures are inlined, IR ops built, intrinsics expanded. Also the
** other things that a path can mean: constants, generics, unit structs, variants. */
#include "dsl/lower.h"

/* ---- What a def stands for under the current substitution ----------------------------------- */

typedef struct Target {
    const GpDef *def;
    GpSubst subst; /* for def->generics */
} Target;

static Target target_of(const GpDef *def, const GpGArg *args, uint32_t count) {
    count = GP_MIN(count, def->generic_count);
    return (Target){def, {(const GpDef *const *)def->generics, args, count}};
}

/* The impl's item for a trait's: the impl's generics as found, the item's own as given. */
static Target find_in_impl(GpLower *lo, Target t) {
    const GpDef *trait = t.def->parent;
    if (!trait || trait->kind != GpDef_Trait || !t.subst.count)
        return t;
    if (t.subst.args[0].kind != GpGArg_Type)
        return t;
    GpSubst owner = {0};
    const GpDef *item = gp_find_assoc(&lo->check, t.subst.args[0].type, trait, t.subst.args + 1,
                                      t.def->name, &owner);
    if (!item || item == t.def)
        return t;
    GpGArg *args = GP_NEW_ARRAY(lo->arena, GpGArg, item->generic_count);
    uint32_t n = item->parent_generic_count;
    for (uint32_t i = 0; i < n && i < owner.count; i++)
        args[i] = owner.args[i];
    for (uint32_t i = n; i < item->generic_count; i++) {
        uint32_t own = t.def->parent_generic_count + (i - n);
        if (own < t.subst.count)
            args[i] = t.subst.args[own];
    }
    return target_of(item, args, item->generic_count);
}

static Target find_target(GpLower *lo, const GpDef *def, const GpGArg *args, uint32_t count) {
    return find_in_impl(lo, target_of(def, gp_lower_args(lo, args, count), count));
}

/* ---- Recursion ------------------------------------------------------------------------------ */

static void report_cycle(GpLower *lo, const GpDef *def, GpSpan call) {
    GpText text = {.session = lo->module->session};
    const GpLowerFrame *chain[32];
    uint32_t n = 0;
    for (const GpLowerFrame *f = lo->frame; f && n < GP_COUNT(chain); f = f->outer) {
        if (!f->closure)
            chain[n++] = f;
        if (f->fn == def)
            break;
    }
    while (n--)
        gp_text_printf(&text, "`%s` calls ", chain[n]->fn->name->name);
    gp_text_printf(&text, "`%s`", def->name->name);
    GpDiag *d = gp_diag(lo->diags, GpDiag_G0250, call, gp_text_cstr(&text));
    gp_primary_label(d, "this call comes back to `%s`", def->name->name);
    gp_note(d, "kernels have no call stack: every call is expanded in place");
    gp_help(d, "write it as a loop");
    gp_text_free(&text);
    lo->has_failed = true;
}

static bool is_recursive(GpLower *lo, const GpDef *def, GpSpan call) {
    for (const GpLowerFrame *f = lo->frame; f; f = f->outer)
        if (f->fn == def && !f->closure) {
            report_cycle(lo, def, call);
            return true;
        }
    return false;
}

enum { VALUES_MAX = 1 << 18 }; /* IR values after which no more calls are expanded */

/* ---- Inlining ------------------------------------------------------------------------------- */

static void find_return(GpNode *n, void *ud) {
    if (n->kind == GpNode_Return)
        *(bool *)ud = true;
    if (n->kind != GpNode_Closure)
        gp_node_children(n, find_return, ud);
}

/* The expression whose value the body returns last, when that is a `return`. */
static GpNode *tail_return(GpNode *body) {
    if (body->kind == GpNode_Return)
        return body;
    if (body->kind != GpNode_Block)
        return NULL;
    GpAstBlock *b = GP_AS(Block, body);
    if (b->tail)
        return tail_return(gp_node_bare(b->tail));
    GpNode *last = b->stmts.len ? b->stmts.at[b->stmts.len - 1] : NULL;
    return last && last->kind == GpNode_ExprStmt ? tail_return(GP_AS(ExprStmt, last)->expr) : NULL;
}

static bool returns_early(GpNode *body) {
    bool found = false;
    GpNode *tail = tail_return(body);
    if (!tail) {
        find_return(body, &found);
        return found;
    }
    /* Only the tail: every other child chain is searched. */
    GpNode *value = GP_AS(Return, tail)->value;
    if (value)
        find_return(value, &found);
    if (found || body == tail)
        return found;
    GpAstBlock *b = GP_AS(Block, body);
    uint32_t n = b->stmts.len - (b->tail ? 0 : 1);
    for (uint32_t i = 0; i < n; i++)
        find_return(b->stmts.at[i], &found);
    GpNode *inner = b->tail ? gp_node_bare(b->tail) : GP_AS(ExprStmt, b->stmts.at[n])->expr;
    return found || returns_early(inner);
}

void gp_lower_bind_params(GpLower *lo, const GpNodeList *params, const GpVal *args,
                          uint32_t count) {
    for (uint32_t i = 0; i < params->len && i < count; i++) {
        GpNode *p = params->at[i];
        if (p->kind == GpNode_Param) {
            gp_pat_bind(lo, GP_AS(Param, p)->pat, gp_spot_value(args[i]));
        } else if (p->res && p->res->local) {
            GpVar *var = gp_lower_add_var(lo, p->res->local, args[i].type, false);
            GpSpot s = gp_spot_var(lo, var);
            gp_spot_write(lo, &s, args[i], p->span);
        }
    }
}

/* A function whose only `return` is its last expression needs no block around it. */
static GpVal inline_body(GpLower *lo, GpLowerFrame *frame, GpNode *body, const GpNodeList *params,
                         const GpLowerCall *call) {
    const GpType *ret = call->type;
    GpLowerScope scope = gp_lower_open_scope(lo);
    GpLowerTarget *targets = lo->targets;
    GpSpan span = lo->b.span;
    GpVal out;
    frame->outer = lo->frame;
    lo->frame = frame;
    lo->targets = NULL;
    gp_lower_find_escaping(lo, body);
    if (returns_early(body)) {
        frame->ret = gp_join_open(lo, ret);
        GpRegion *region = gp_ir_region(lo->fn);
        GpLowerPlace at = gp_lower_enter(lo, region);
        gp_lower_bind_params(lo, params, call->args, call->arg_count);
        GpVal v = gp_lower_expr(lo, body);
        gp_join_edge(lo, frame->ret, GpOp_Yield, v);
        gp_lower_leave(lo, at);
        lo->b.span = span;
        out = gp_join_finish_block(lo, frame->ret, region);
    } else {
        gp_lower_bind_params(lo, params, call->args, call->arg_count);
        out = gp_lower_expr(lo, body);
        if (frame->tail.type)
            out = frame->tail;
    }
    lo->frame = frame->outer;
    lo->targets = targets;
    gp_lower_close_scope(lo, scope);
    out.type = ret;
    return out.count == gp_lower_leaf_count(lo, ret) ? out : gp_lower_undef(lo, ret);
}

static GpVal inline_fn(GpLower *lo, const GpLowerCall *call) {
    const GpDef *def = call->def;
    if (is_recursive(lo, def, call->span))
        return gp_lower_undef(lo, call->type);
    if (lo->fn->next_id > VALUES_MAX)
        gp_lower_too_large(lo, call->span);
    GpAstFn *fn = def->node && def->node->kind == GpNode_Fn ? GP_AS(Fn, def->node) : NULL;
    if (!fn || !fn->body) {
        gp_lower_refuse(lo, call->span, "a call of `%s`, which has no body,", def->name->name);
        return gp_lower_undef(lo, call->type);
    }
    GpSubst subst = target_of(def, call->generics, call->generic_count).subst;
    lo->has_failed |= !gp_check_obligations(lo->module, def, &subst, lo->diags);
    GpLowerFrame frame = {.fn = def, .subst = subst, .call = call->span};
    return inline_body(lo, &frame, fn->body, &fn->params, call);
}

static GpVal inline_closure(GpLower *lo, const GpType *type, const GpLowerCall *call) {
    GpAstClosure *c =
        (GpAstClosure *)(void *)gp_node_expect((GpNode *)(uintptr_t)type->node, GpNode_Closure);
    const GpLowerFrame *made = gp_map_get(&lo->closures, type->node);
    if (!made) {
        gp_lower_refuse(lo, call->span, "a call of this closure");
        return gp_lower_undef(lo, call->type);
    }
    GpLowerFrame frame = {
        .fn = made->fn, .closure = type->node, .subst = made->subst, .call = call->span};
    return inline_body(lo, &frame, c->body, &c->params, call);
}

/* ---- Ops ------------------------------------------------------------------------------------ */

/* A function that is one elementwise op: operands as given, a scalar spread over a tile. */
static GpVal build_op(GpLower *lo, const GpLowerCall *call) {
    const GpDef *def = call->def;
    const GpType *ret = call->type;
    uint32_t count = call->arg_count;
    GpValue *x[4] = {NULL};
    GpShape shape = {.rank = 0};
    uint32_t used = 0;
    bool is_tile = false;
    if (count > GP_COUNT(x) || !gp_lower_leaf_count(lo, ret)) {
        gp_lower_refuse(lo, call->span, "a call of `%s` with these arguments", def->name->name);
        return gp_lower_undef(lo, ret);
    }
    for (uint32_t i = 0; i < count; i++) {
        GpSpot s = gp_spot_auto_deref(lo, gp_spot_value(call->args[i]), call->span);
        GpVal v = gp_spot_read(lo, &s, call->span);
        if (v.count == 0)
            continue; /* a mode: a value without bits */
        if (v.count != 1)
            return gp_lower_undef(lo, ret);
        GpValue *operand = gp_lower_get(lo, &v, 0);
        x[used++] = operand;
        if (operand->type->kind != GpIrType_Tile)
            continue;
        is_tile = true;
        shape = operand->type->shape;
    }
    for (uint32_t i = 0; is_tile && i < used; i++)
        x[i] = gp_lower_splat(lo, x[i], x[i]->type->elem, &shape);
    if ((def->op == GpOp_Shl || def->op == GpOp_Shr) && !is_tile && used == 2)
        x[1] = gp_lower_convert(lo, x[1], x[0]->type->elem);
    const GpIrType *t = gp_lower_leaf_type(lo, ret, 0);
    return gp_lower_one(lo, ret, gp_build(&lo->b, def->op, x, used, &t, 1)->results[0]);
}

/* A call of what a path means here. */
static GpVal call_target(GpLower *lo, Target t, GpLowerCall call) {
    if (lo->is_dead)
        return gp_lower_undef(lo, call.type);
    call.def = t.def;
    call.generics = t.subst.args;
    call.generic_count = t.subst.count;
    if (t.def->intrinsic != GpIntrinsic_None)
        return gp_lower_intrinsic(lo, &call);
    return t.def->has_op ? build_op(lo, &call) : inline_fn(lo, &call);
}

/* ---- Nodes ---------------------------------------------------------------------------------- */

static GpVal construct(GpLower *lo, const GpType *t, const GpDef *def, const GpVal *args,
                       uint32_t count) {
    GpVal out = gp_lower_undef(lo, t);
    if (t->kind != GpTy_Adt)
        return out;
    uint32_t off = 0;
    if (def->kind == GpDef_Variant) {
        off = gp_lower_variant_at(lo, t, def->variant_index);
        bool is_option = gp_ty_is_lang(t, GpLang_Option);
        out.at[0].value = is_option ? gp_build_int(&lo->b, GpElem_Bool, def->field_count != 0)
                                    : gp_build_int(&lo->b, GpElem_I32, def->variant_index);
    }
    for (uint32_t i = 0; i < count; i++) {
        gp_assert(off + args[i].count <= out.count);
        if (args[i].count)
            memcpy(out.at + off, args[i].at, args[i].count * sizeof(GpLeaf));
        off += args[i].count;
    }
    return out;
}

static void lower_args(GpLower *lo, GpLowerCall *call, GpNode *receiver, const GpNodeList *list) {
    uint32_t first = receiver ? 1 : 0;
    call->arg_count = list->len + first;
    call->args = GP_NEW_ARRAY(lo->arena, GpVal, call->arg_count);
    if (receiver)
        call->args[0] = gp_lower_expr(lo, receiver);
    for (uint32_t i = 0; i < list->len; i++)
        call->args[first + i] = gp_lower_expr(lo, list->at[i]);
}

static GpLowerCall call_at(GpLower *lo, GpNode *n) {
    return (GpLowerCall){.node = n, .type = gp_lower_node_type(lo, n), .span = n->span};
}

static GpVal apply(GpLower *lo, const GpType *callee, const GpLowerCall *call) {
    if (callee->kind == GpTy_Closure)
        return inline_closure(lo, callee, call);
    if (callee->kind == GpTy_FnItem && callee->def->kind != GpDef_Fn)
        return construct(lo, call->type, callee->def, call->args, call->arg_count);
    if (callee->kind == GpTy_FnItem)
        return call_target(lo, find_target(lo, callee->def, callee->args, callee->arg_count),
                           *call);
    gp_lower_refuse(lo, call->span, "a call of a value of type `%s`",
                    gp_ty_name(lo->arena, callee));
    return gp_lower_undef(lo, call->type);
}

GpVal gp_lower_apply(GpLower *lo, GpVal callee, const GpLowerCall *call) {
    GpSpot s = gp_spot_auto_deref(lo, gp_spot_value(callee), call->span);
    return apply(lo, s.type, call);
}

GpVal gp_lower_call(GpLower *lo, GpNode *n) {
    GpAstCall *c = GP_AS(Call, n);
    const GpRes *res = n->res;
    GpLowerCall call = call_at(lo, n);
    bool is_path = res && (res->kind == GpRes_Def || res->kind == GpRes_Construct);
    GpSpot callee = {0};
    if (!is_path)
        callee = gp_spot_auto_deref(lo, gp_lower_place(lo, c->callee), n->span);
    lower_args(lo, &call, NULL, &c->args);
    if (!is_path)
        return apply(lo, callee.type, &call);
    if (res->kind == GpRes_Construct)
        return construct(lo, call.type, res->def, call.args, call.arg_count);
    return call_target(lo, find_target(lo, res->def, res->args, res->arg_count), call);
}

GpVal gp_lower_method(GpLower *lo, GpNode *n) {
    GpAstMethodCall *m = GP_AS(MethodCall, n);
    const GpRes *res = n->res;
    GpLowerCall call = call_at(lo, n);
    lower_args(lo, &call, m->receiver, &m->args);
    if (!res || !res->def)
        return gp_lower_undef(lo, call.type);
    return call_target(lo, find_target(lo, res->def, res->args, res->arg_count), call);
}

GpVal gp_lower_overload(GpLower *lo, GpNode *n, GpNode *lhs, GpNode *rhs) {
    GpLowerCall call = call_at(lo, n);
    lower_args(lo, &call, lhs, &(GpNodeList){.at = &rhs, .len = rhs ? 1 : 0});
    Target t = find_target(lo, n->res->def, n->res->args, n->res->arg_count);
    return call_target(lo, t, call);
}

GpVal gp_lower_return(GpLower *lo, GpNode *n) {
    GpAstReturn *r = GP_AS(Return, n);
    GpVal v = r->value ? gp_lower_expr(lo, r->value) : gp_lower_unit(lo);
    if (lo->frame->ret) {
        if (!lo->is_dead)
            gp_join_edge(lo, lo->frame->ret, GpOp_Break, v);
        return gp_lower_undef(lo, gp_lower_node_type(lo, n));
    }
    if (lo->frame->outer) {
        if (!lo->is_dead)
            lo->frame->tail = v;
        return gp_lower_undef(lo, gp_lower_node_type(lo, n));
    }
    if (!lo->is_dead)
        gp_build(&lo->b, GpOp_Return, NULL, 0, NULL, 0);
    gp_lower_set_dead(lo);
    return gp_lower_undef(lo, gp_lower_node_type(lo, n));
}

/* ---- Paths ---------------------------------------------------------------------------------- */

static GpVal array_param(GpLower *lo, const GpShapeTy *sh, const GpType *t) {
    GpVal out = gp_lower_undef(lo, t);
    GpShape shape = gp_lower_shape(lo, sh);
    for (uint32_t i = 0; i < out.count && i < shape.rank; i++)
        out.at[i].value = gp_build_int(&lo->b, GpElem_I32, shape.dim[i]);
    return out;
}

static GpVal const_param(GpLower *lo, GpNode *n, const GpDef *def) {
    const GpType *t = gp_lower_node_type(lo, n);
    const GpSubst *s = &lo->frame->subst;
    for (uint32_t i = 0; i < s->count; i++) {
        if (s->params[i] != def)
            continue;
        if (s->args[i].kind == GpGArg_Const)
            return gp_lower_const(lo, s->args[i].value, t);
        if (s->args[i].kind == GpGArg_Shape)
            return array_param(lo, s->args[i].shape, t);
    }
    gp_lower_refuse(lo, n->span, "the generic `%s` as a value", def->name->name);
    return gp_lower_undef(lo, t);
}

static GpVal const_item(GpLower *lo, GpNode *n, Target t) {
    GpNode *node = t.def->node;
    GpNode *value = !node                          ? NULL
                    : node->kind == GpNode_Const   ? GP_AS(Const, node)->value
                    : node->kind == GpNode_Static ? GP_AS(Static, node)->value
                                                   : NULL;
    GpLowerCall call = call_at(lo, n);
    if (!value || is_recursive(lo, t.def, n->span)) {
        if (!value)
            gp_lower_refuse(lo, n->span, "the constant `%s`", t.def->name->name);
        return gp_lower_undef(lo, call.type);
    }
    GpLowerFrame frame = {.fn = t.def, .subst = t.subst, .call = n->span};
    GpNodeList none = {0};
    return inline_body(lo, &frame, value, &none, &call);
}

GpVal gp_lower_global(GpLower *lo, GpNode *n) {
    const GpType *t = gp_lower_node_type(lo, n);
    const GpRes *res = n->res;
    if (!res || !res->def)
        return gp_lower_undef(lo, t);
    if (res->kind == GpRes_Construct)
        return construct(lo, t, res->def, NULL, 0);
    if (res->def->kind == GpDef_ConstParam)
        return const_param(lo, n, res->def);
    bool is_fixed = res->def->kind == GpDef_Static && !GP_AS(Static, res->def->node)->is_mut;
    if (res->def->kind == GpDef_Const || is_fixed)
        return const_item(lo, n, find_target(lo, res->def, res->args, res->arg_count));
    if (t->kind == GpTy_FnItem) /* its type is all there is to it */
        return gp_lower_undef(lo, t);
    gp_lower_refuse(lo, n->span, "`%s` as a value", res->def->name->name);
    return gp_lower_undef(lo, t);
}
