/* Constant contexts: array lengths, const generic arguments and shapes, as polynomials over the
** const generics in scope. In a shape a literal -1 is an extent known at launch; nothing that is
** computed ever is. */
#include "dsl/resolve.h"

bool gp_parse_int(GpSym text, uint64_t *out) {
    const char *at = text->name;
    uint64_t base = 10, value = 0;
    if (at[0] == '0' && (at[1] == 'x' || at[1] == 'o' || at[1] == 'b')) {
        base = at[1] == 'x' ? 16 : at[1] == 'o' ? 8 : 2;
        at += 2;
    }
    for (; *at; at++) {
        uint64_t digit;
        if (*at == '_')
            continue;
        if (*at >= '0' && *at <= '9')
            digit = (uint64_t)(*at - '0');
        else if ((*at | 32) >= 'a' && (*at | 32) <= 'f')
            digit = (uint64_t)((*at | 32) - 'a') + 10;
        else
            return false;
        if (digit >= base || __builtin_mul_overflow(value, base, &value) ||
            __builtin_add_overflow(value, digit, &value))
            return false;
    }
    *out = value;
    return true;
}

static const GpConst *refuse(GpCheck *c, GpSpan span) {
    gp_primary_label(gp_diag(c->diags, GpDiag_G0103, span), "not a constant that a type can hold");
    return gp_const_error(c->types);
}

static GpNode *strip(GpNode *n) {
    for (;;) {
        if (n->kind == GpNode_Paren)
            n = GP_AS(Paren, n)->operand;
        else if (n->kind == GpNode_Block && !GP_AS(Block, n)->stmts.len && GP_AS(Block, n)->tail)
            n = GP_AS(Block, n)->tail;
        else
            return n;
    }
}

static const GpConst *literal(GpCheck *c, GpAstLit *lit) {
    uint64_t value;
    if (lit->tok == GpTok_True || lit->tok == GpTok_False)
        return gp_const_int(c->types, lit->tok == GpTok_True);
    if (lit->tok != GpTok_Int)
        return refuse(c, lit->node.span);
    if (!gp_parse_int(lit->text, &value) || value > INT64_MAX) {
        gp_primary_label(gp_diag(c->diags, GpDiag_G0104, lit->node.span), "beyond 64 bits");
        return gp_const_error(c->types);
    }
    return gp_const_int(c->types, (int64_t)value);
}

static const GpConst *divide(GpCheck *c, GpAstBinary *b, const GpConst *l, int64_t by) {
    int64_t x = 0;
    bool is_quotient = b->op == GpTok_Slash, is_known = gp_const_value(l, &x);
    if (by == 0 || (by == -1 && x == INT64_MIN)) {
        GpText text = {.session = gp_arena_session(c->arena)};
        gp_const_print(l, &text);
        gp_primary_label(gp_diag(c->diags, GpDiag_E0080, b->node.span),
                         "attempt to divide `%s` by zero", gp_text_cstr(&text));
        gp_text_free(&text);
        return gp_const_error(c->types);
    }
    if (is_known)
        return gp_const_int(c->types, is_quotient ? x / by : x % by);
    if (by < -INT32_MAX || by > INT32_MAX || l->kind == GpConst_Dynamic)
        return refuse(c, b->node.span);
    const GpConst *quotient = gp_const_div(c->types, l, (int32_t)by);
    if (is_quotient)
        return quotient;
    return gp_const_sub(c->types, l, gp_const_mul(c->types, quotient, gp_const_int(c->types, by)));
}

/* / % << >> and the bitwise ones: / and % by a known number, the others of known values only. */
static const GpConst *fold(GpCheck *c, GpAstBinary *b, const GpConst *l, const GpConst *r) {
    int64_t x, y;
    bool is_division = b->op == GpTok_Slash || b->op == GpTok_Percent;
    if (is_division && gp_const_value(r, &y))
        return divide(c, b, l, y);
    if (!gp_const_value(l, &x) || !gp_const_value(r, &y))
        return refuse(c, b->node.span);
    bool is_shift = b->op == GpTok_Shl || b->op == GpTok_Shr;
    if (is_shift && (y < 0 || y > 62))
        return refuse(c, b->node.span);
    if (b->op == GpTok_Shl)
        return gp_const_mul(c->types, l, gp_const_int(c->types, INT64_C(1) << y));
    if (b->op == GpTok_Shr)
        return gp_const_int(c->types, x >> y);
    if (b->op == GpTok_And)
        return gp_const_int(c->types, x & y);
    if (b->op == GpTok_Or)
        return gp_const_int(c->types, x | y);
    return refuse(c, b->node.span);
}

static const GpConst *binary(GpCheck *c, GpDef *scope, GpAstBinary *b) {
    const GpConst *l = gp_const_of_node(c, scope, b->lhs);
    const GpConst *r = gp_const_of_node(c, scope, b->rhs);
    if (l->kind == GpConst_Error || r->kind == GpConst_Error)
        return gp_const_error(c->types);
    const GpConst *value;
    if (b->op == GpTok_Plus)
        value = gp_const_add(c->types, l, r);
    else if (b->op == GpTok_Minus)
        value = gp_const_sub(c->types, l, r);
    else if (b->op == GpTok_Star)
        value = gp_const_mul(c->types, l, r);
    else
        return fold(c, b, l, r);
    if (value->kind == GpConst_Error)
        gp_primary_label(gp_diag(c->diags, GpDiag_G0104, b->node.span), "does not fit");
    return value;
}

static GpNode *const_value_node(GpDef *def) {
    return def->kind == GpDef_Const ? GP_AS(Const, def->node)->value : NULL;
}

/* What a path means in a constant: its def, NULL after a report. */
static GpDef *const_path(GpCheck *c, GpDef *scope, GpNode *node) {
    GpAstPath *path = GP_AS(Path, node->kind == GpNode_TypePath ? GP_AS(TypePath, node)->path
                                                                : GP_AS(PathExpr, node)->path);
    GpTarget target;
    GpSym lone = path->segments.len == 1 && !path->self_type
                     ? GP_AS(Segment, path->segments.at[0])->name
                     : NULL;
    if (lone && c->is_local && c->is_local(c->is_local_ud, lone, path->segments.at[0]->span)) {
        GpDiag *d = gp_diag(c->diags, GpDiag_E0435, node->span);
        gp_primary_label(d, "non-constant value");
        return NULL;
    }
    if (!gp_resolve_target(c, scope, path, GpNs_Value, false, &target))
        return NULL;
    if (!target.def)
        refuse(c, node->span);
    return target.def;
}

enum { CONST_RUNNING = 0x80 }; /* beside what the body checker keeps in check_state */

/* Bounds the walk through constants that are defined by each other. */
static bool enter_const(GpCheck *c, GpDef *def) {
    if (!(def->check_state & CONST_RUNNING)) {
        def->check_state |= CONST_RUNNING;
        return true;
    }
    gp_primary_label(gp_diag(c->diags, GpDiag_E0391, def->span, def->name->name),
                     "the constant needs its own value");
    return false;
}

static void leave_const(GpDef *def) { def->check_state &= (uint8_t)~CONST_RUNNING; }

/* Types of parameters are known in their order. */
const GpConst *gp_refuse_const_param(GpCheck *c, GpSpan at, const GpDef *param) {
    gp_primary_label(gp_diag(c->diags, GpDiag_E0770, at), "the type must not depend on the parameter `%s`",
                     param->name->name);
    return gp_const_error(c->types);
}

static const GpConst *path_const(GpCheck *c, GpDef *scope, GpNode *node) {
    GpDef *def = const_path(c, scope, node);
    if (!def)
        return gp_const_error(c->types);
    if (def->kind == GpDef_ConstParam && !def->const_type)
        return gp_refuse_const_param(c, node->span, def);
    if (def->kind == GpDef_ConstParam && def->const_type->kind == GpTy_Error)
        return gp_const_error(c->types);
    if (def->kind == GpDef_ConstParam && def->const_type->kind != GpTy_Array)
        return gp_const_atom(c->types, (GpAtom){.param = def, .index = -1});
    GpNode *value = const_value_node(def);
    if (!value || !enter_const(c, def))
        return value ? gp_const_error(c->types) : refuse(c, node->span);
    const GpConst *k = gp_const_of_node(c, def, value);
    leave_const(def);
    return k;
}

/* S[0] of a const array generic, or of an array constant. */
static const GpConst *index_const(GpCheck *c, GpDef *scope, GpAstIndex *ix) {
    GpNode *base = strip(ix->base);
    int64_t at;
    const GpConst *index = gp_const_of_node(c, scope, ix->index);
    if (index->kind == GpConst_Error)
        return index;
    if (base->kind != GpNode_PathExpr || !gp_const_value(index, &at))
        return refuse(c, ix->node.span);
    const GpShapeTy *sh = gp_shape_of_node(c, scope, base);
    int64_t rank = sh->rank;
    if (sh->kind == GpShape_Error)
        return gp_const_error(c->types);
    if (sh->kind == GpShape_Param && !gp_const_value(sh->param->const_type->count, &rank))
        return refuse(c, ix->node.span);
    if (at < 0 || at >= rank) {
        gp_primary_label(gp_diag(c->diags, GpDiag_E0080, ix->node.span),
                         "index out of bounds: the length is %lld but the index is %lld",
                         (long long)rank, (long long)at);
        return gp_const_error(c->types);
    }
    return sh->kind == GpShape_Param ? gp_const_atom(c->types, (GpAtom){.param = sh->param, .index = (int32_t)at})
                                     : sh->dim[at];
}

const GpConst *gp_const_of_node(GpCheck *c, GpDef *scope, GpNode *node) {
    GpNode *n = strip(node);
    if (n->kind == GpNode_Lit)
        return literal(c, GP_AS(Lit, n));
    if (n->kind == GpNode_Unary && GP_AS(Unary, n)->op == GpTok_Minus) {
        const GpConst *k = gp_const_of_node(c, scope, GP_AS(Unary, n)->operand);
        return gp_const_sub(c->types, gp_const_int(c->types, 0), k);
    }
    if (n->kind == GpNode_Binary)
        return binary(c, scope, GP_AS(Binary, n));
    if (n->kind == GpNode_PathExpr || n->kind == GpNode_TypePath)
        return path_const(c, scope, n);
    if (n->kind == GpNode_Index)
        return index_const(c, scope, GP_AS(Index, n));
    if (n->kind == GpNode_Cast)
        return gp_const_of_node(c, scope, GP_AS(Cast, n)->operand);
    if (n->kind == GpNode_Bad)
        return gp_const_error(c->types);
    if (n->kind == GpNode_TypeInfer && c->unify) {
        GpDef any = {.kind = GpDef_ConstParam, .const_type = gp_ty_elem(c->types, GpElem_I32)};
        return gp_fresh_arg(c, &any).value;
    }
    return refuse(c, n->span);
}

/* ---- shapes --------------------------------------------------------------------------------- */

static bool is_minus_one(GpNode *n) {
    uint64_t value;
    n = strip(n);
    if (n->kind != GpNode_Unary || GP_AS(Unary, n)->op != GpTok_Minus)
        return false;
    n = strip(GP_AS(Unary, n)->operand);
    return n->kind == GpNode_Lit && GP_AS(Lit, n)->tok == GpTok_Int &&
           gp_parse_int(GP_AS(Lit, n)->text, &value) && value == 1;
}

static const GpConst *extent(GpCheck *c, GpDef *scope, GpNode *n) {
    int64_t value;
    if (is_minus_one(n))
        return gp_const_dynamic(c->types);
    const GpConst *k = gp_const_of_node(c, scope, n);
    if (gp_const_value(k, &value) && value < 0) {
        GpDiag *d = gp_diag(c->diags, GpDiag_G0105, n->span,
                            gp_arena_printf(c->arena, "%lld", (long long)value));
        gp_primary_label(d,
                         "an extent is not negative; only a literal `-1` means `known at launch`");
        return gp_const_error(c->types);
    }
    return k;
}

static const GpShapeTy *report_rank(GpCheck *c, GpSpan span, uint64_t rank) {
    GpDiag *d = gp_diag(c->diags, GpDiag_G0106, span,
                        gp_arena_printf(c->arena, "%llu", (unsigned long long)rank));
    gp_primary_label(d, "at most %d", GP_MAX_RANK);
    return gp_shape_error(c->types);
}

static const GpShapeTy *list_shape(GpCheck *c, GpDef *scope, GpNodeList items, GpSpan span) {
    const GpConst *dims[GP_MAX_RANK];
    if (items.len > GP_MAX_RANK)
        return report_rank(c, span, items.len);
    for (uint32_t i = 0; i < items.len; i++) {
        dims[i] = extent(c, scope, items.at[i]);
        if (dims[i]->kind == GpConst_Error)
            return gp_shape_error(c->types);
    }
    return gp_shape_list(c->types, dims, (uint8_t)items.len);
}

static const GpShapeTy *repeat_shape(GpCheck *c, GpDef *scope, GpNode *value, GpNode *count) {
    const GpConst *dims[GP_MAX_RANK];
    const GpConst *n = gp_const_of_node(c, scope, count);
    int64_t rank;
    if (n->kind == GpConst_Error)
        return gp_shape_error(c->types);
    if (!gp_const_value(n, &rank) || rank < 0) {
        refuse(c, count->span);
        return gp_shape_error(c->types);
    }
    if (rank > GP_MAX_RANK)
        return report_rank(c, count->span, (uint64_t)rank);
    const GpConst *dim = extent(c, scope, value);
    for (int64_t i = 0; i < rank; i++)
        dims[i] = dim;
    return gp_shape_list(c->types, dims, (uint8_t)rank);
}

/* S, or a constant of type [i32; N]. */
static const GpShapeTy *path_shape(GpCheck *c, GpDef *scope, GpNode *n) {
    GpDef *def = const_path(c, scope, n);
    if (!def)
        return gp_shape_error(c->types);
    if (def->kind == GpDef_ConstParam && def->const_type->kind == GpTy_Error)
        return gp_shape_error(c->types);
    if (def->kind == GpDef_ConstParam && def->const_type->kind == GpTy_Array)
        return gp_shape_param(c->types, def);
    GpNode *value = const_value_node(def);
    if (value && enter_const(c, def)) {
        const GpShapeTy *sh = gp_shape_of_node(c, def, value);
        leave_const(def);
        return sh;
    }
    if (!value) {
        GpDiag *d =
            gp_diag(c->diags, GpDiag_G0107, n->span, gp_def_kind_name(def), def->name->name);
        gp_primary_label(d, "not a list of extents");
        gp_help(d, "write a shape in brackets: `{[%s]}`", def->name->name);
    }
    return gp_shape_error(c->types);
}

/* shape![S] alone is S when S is a whole shape. */
static bool is_whole_shape(GpCheck *c, GpDef *scope, GpNode *n) {
    n = strip(n);
    if (n->kind != GpNode_PathExpr)
        return false;
    GpDef *def = gp_find_path_quietly(c, scope, GP_AS(PathExpr, n)->path, GpNs_Value);
    return def && (def->kind == GpDef_ConstParam || def->kind == GpDef_Const) && def->const_type &&
           def->const_type->kind == GpTy_Array;
}

static const GpShapeTy *macro_shape(GpCheck *c, GpDef *scope, GpAstMacro *m) {
    if (m->repeat)
        return repeat_shape(c, scope, GP_AS(Repeat, m->repeat)->value,
                            GP_AS(Repeat, m->repeat)->count);
    if (m->has_args && m->args.len == 1 && is_whole_shape(c, scope, m->args.at[0]))
        return gp_shape_of_node(c, scope, m->args.at[0]);
    if (m->has_args)
        return list_shape(c, scope, m->args, m->node.span);
    refuse(c, m->node.span);
    return gp_shape_error(c->types);
}

const GpShapeTy *gp_shape_of_node(GpCheck *c, GpDef *scope, GpNode *node) {
    GpNode *n = strip(node);
    if (n->kind == GpNode_Array)
        return list_shape(c, scope, GP_AS(Array, n)->items, n->span);
    if (n->kind == GpNode_Repeat)
        return repeat_shape(c, scope, GP_AS(Repeat, n)->value, GP_AS(Repeat, n)->count);
    if (n->kind == GpNode_PathExpr || n->kind == GpNode_TypePath)
        return path_shape(c, scope, n);
    if (n->kind == GpNode_Macro)
        return macro_shape(c, scope, GP_AS(Macro, n));
    if (n->kind == GpNode_Bad)
        return gp_shape_error(c->types);
    GpDiag *d = gp_diag(c->diags, GpDiag_G0108, n->span);
    gp_primary_label(d, "expected a shape such as `{[128, -1]}`");
    return gp_shape_error(c->types);
}
