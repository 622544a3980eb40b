/* #[cutile::entry(..)]: hints, checks and preconditions of a tile kernel. */
#include "dsl/attr.h"

static GpArena *arena_of(const GpAttr *a) { return a->k->c->arena; }

static GpNode *bare(GpNode *n) {
    while (n->kind == GpNode_Paren)
        n = GP_AS(Paren, n)->operand;
    return n;
}

/* The members of a tuple; n itself when it is none. */
static GpNodeList members(GpNode **n) {
    *n = bare(*n);
    if ((*n)->kind == GpNode_Tuple)
        return GP_AS(Tuple, *n)->items;
    return (GpNodeList){.at = n, .len = 1};
}

/* ---- Schedules and hints ----------------------------------------------------------------------- */

static void malformed_schedule(const GpAttr *a, GpSpan span, GpScheduleKey key) {
    GpText values = {.session = gp_arena_session(a->k->c->arena)};
    gp_schedule_print_values(key, &values);
    gp_attr_malformed(a, span, gp_text_cstr(&values));
    gp_text_free(&values);
}

void gp_attr_read_schedule(const GpAttr *a, GpScheduleKey key, GpNode *arg, GpNode *value,
                           GpSchedule *out) {
    uint8_t *to = gp_schedule_at(out, key);
    uint32_t number = 0;
    if (*to)
        gp_attr_malformed(a, arg->span, "each key once");
    else if (key == GpScheduleKey_persistent)
        *to = gp_attr_bool(a, value) ? 2 : 1;
    else if (gp_attr_int(a, value, 1, &number) && gp_schedule_allows(key, number))
        *to = (uint8_t)number;
    else if (number)
        malformed_schedule(a, value->span, key);
}

/* Of a list `(key = value, ..)`; with one entry and no comma it is an expression in parentheses. */
static GpNodeList hint_list(const GpAttr *a, GpNode **n) {
    if ((*n)->kind == GpNode_Tuple)
        return GP_AS(Tuple, *n)->items;
    if ((*n)->kind == GpNode_Paren) {
        *n = GP_AS(Paren, *n)->operand;
        return (GpNodeList){.at = n, .len = 1};
    }
    gp_attr_malformed(a, (*n)->span, "`(sm_90 = (num_cta_in_cga = 2))`");
    return (GpNodeList){0};
}

/* The peer's names. How many blocks share a multiprocessor, and what addresses are multiples of,
** the compiler knows better. */
static const struct Hint {
    const char *name;
    GpScheduleKey key; /* GpScheduleKey_count: a hint that changes nothing */
} hint_rows[] = {
    {"num_worker_warps_per_cta", GpScheduleKey_warps},
    {"num_cta_in_cga", GpScheduleKey_cluster},
    {"occupancy", GpScheduleKey_count},
    {"max_divisibility", GpScheduleKey_count},
};

static void read_hint(const GpAttr *a, GpNode *arg, GpSchedule *out) {
    GpNode *value;
    uint32_t unused;
    GpSym name = gp_attr_key(arg, &value);
    for (size_t i = 0; name && i < GP_COUNT(hint_rows); i++) {
        const struct Hint *row = &hint_rows[i];
        if (strcmp(name->name, row->name) != 0)
            continue;
        if (row->key == GpScheduleKey_count)
            (void)gp_attr_int(a, value, 1, &unused);
        else
            gp_attr_read_schedule(a, row->key, arg, value, out);
        return;
    }
    if (name && (!strcmp(name->name, "latency") || !strcmp(name->name, "allow_tma"))) {
        gp_attr_malformed(a, arg->span, "a hint for the kernel; this one is an argument of loads");
        return;
    }
    gp_attr_malformed(a, arg->span,
              "`num_worker_warps_per_cta`, `num_cta_in_cga`, `occupancy` or `max_divisibility`");
}

static bool is_repeated(const GpNodeList *keys, uint32_t at) {
    GpNode *value;
    GpSym name = gp_attr_key(keys->at[at], &value);
    for (uint32_t i = 0; name && i < at; i++)
        if (gp_attr_key(keys->at[i], &value) == name)
            return true;
    return false;
}

static bool read_arch(GpSym name, uint16_t *sm) {
    uint32_t number = 0;
    if (strncmp(name->name, "sm_", 3) != 0 || !name->name[3])
        return false;
    for (const char *c = name->name + 3; *c; c++) {
        if (*c < '0' || *c > '9' || number > UINT16_MAX / 10)
            return false;
        number = number * 10 + (uint32_t)(*c - '0');
    }
    *sm = (uint16_t)number;
    return true;
}

static void read_hints(const GpAttr *a, GpNode *list) {
    GpKernelAttrs *kernel = &a->def->kernel;
    GpNodeList archs = hint_list(a, &list);
    kernel->hints = GP_NEW_ARRAY(arena_of(a), GpArchHint, archs.len);
    for (uint32_t i = 0; i < archs.len; i++) {
        GpArchHint *hint = &kernel->hints[kernel->hint_count];
        GpNode *value, *arg = archs.at[i];
        GpSym arch = gp_attr_key(arg, &value);
        if (!arch || !read_arch(arch, &hint->sm)) {
            gp_attr_malformed(a, arg->span, "`sm_90 = (..)`");
            continue;
        }
        for (uint32_t k = 0; k < kernel->hint_count; k++) {
            if (kernel->hints[k].sm == hint->sm)
                gp_attr_malformed(a, arg->span, "each GPU once");
        }
        GpNodeList keys = hint_list(a, &value);
        for (uint32_t k = 0; k < keys.len; k++) {
            if (is_repeated(&keys, k))
                gp_attr_malformed(a, keys.at[k]->span, "each hint once");
            else
                read_hint(a, keys.at[k], &hint->schedule);
        }
        kernel->hint_count++;
    }
}

/* ---- Preconditions --------------------------------------------------------------------------- */

static const char term_form[] = "`dim(tensor, axis)` with the name of a parameter";

/* dim(tensor, axis) */
static bool read_dim(const GpAttr *a, GpNode *n, GpExtentName *out) {
    GpAstFn *fn = GP_AS(Fn, a->def->node);
    n = bare(n);
    GpAstCall *call = n->kind == GpNode_Call ? GP_AS(Call, n) : NULL;
    GpSym callee = call ? gp_attr_name(call->callee) : NULL;
    GpSym name = callee && call->args.len == 2 ? gp_attr_name(bare(call->args.at[0])) : NULL;
    if (!name || strcmp(callee->name, "dim") != 0) {
        gp_attr_malformed(a, n->span, term_form);
        return false;
    }
    if (!gp_attr_int(a, bare(call->args.at[1]), 0, &out->axis))
        return false;
    out->span = n->span;
    for (uint32_t i = 0; i < fn->params.len; i++) {
        GpNode *p = fn->params.at[i];
        GpNode *pat = p->kind == GpNode_Param ? GP_AS(Param, p)->pat : NULL;
        if (!pat || pat->kind != GpNode_PatName || GP_AS(PatName, pat)->name != name)
            continue;
        out->param = i;
        return true;
    }
    gp_attr_malformed(a, call->args.at[0]->span, term_form);
    return false;
}

static GpAstBinary *binary_of(GpNode *n, GpTok op) {
    n = bare(n);
    return n->kind == GpNode_Binary && GP_AS(Binary, n)->op == op ? GP_AS(Binary, n) : NULL;
}

static bool is_zero(GpNode *n) {
    uint64_t v;
    n = bare(n);
    return n->kind == GpNode_Lit && GP_AS(Lit, n)->tok == GpTok_Int &&
           gp_parse_int(GP_AS(Lit, n)->text, &v) && v == 0;
}

static void read_precondition(const GpAttr *a, GpNode *n, GpPrecondition *out) {
    GpAstBinary *eq = binary_of(n, GpTok_EqEq);
    GpAstBinary *rem = eq ? binary_of(eq->lhs, GpTok_Percent) : NULL;
    out->span = n->span;
    if (!eq) {
        gp_attr_malformed(a, n->span, "`dim(x, 1) == dim(y, 0)` or `dim(x, 0) % 64 == 0`");
    } else if (rem) {
        if (!is_zero(eq->rhs))
            gp_attr_malformed(a, eq->rhs->span, "`0`");
        else if (read_dim(a, rem->lhs, &out->left))
            (void)gp_attr_int(a, bare(rem->rhs), 1, &out->divisor);
    } else if (read_dim(a, eq->lhs, &out->left)) {
        out->is_equal = read_dim(a, eq->rhs, &out->right);
    }
}

static void read_preconditions(const GpAttr *a, GpNode *value) {
    GpKernelAttrs *kernel = &a->def->kernel;
    GpNodeList items = members(&value);
    kernel->preconditions = GP_NEW_ARRAY(arena_of(a), GpPrecondition, items.len);
    for (uint32_t i = 0; i < items.len; i++) {
        GpPrecondition *p = &kernel->preconditions[kernel->precondition_count];
        read_precondition(a, items.at[i], p);
        kernel->precondition_count += p->is_equal || p->divisor;
    }
}

/* ---- The attribute --------------------------------------------------------------------------- */

static void read_key(const GpAttr *a, GpSym key, GpNode *arg, GpNode *value) {
    const char *name = key->name;
    if (strcmp(name, "optimization_hints") == 0) {
        read_hints(a, value);
    } else if (strcmp(name, "print_ir") == 0) {
        (void)gp_attr_bool(a, value); /* `gpulua emit` shows IR */
    } else if (strcmp(name, "unchecked_accesses") == 0) {
        a->def->kernel.unchecked = gp_attr_bool(a, value);
    } else if (strcmp(name, "deny_in_kernel_checks") == 0) {
        a->def->kernel.denies_checks = gp_attr_bool(a, value);
    } else if (strcmp(name, "preconditions") == 0) {
        read_preconditions(a, value);
    } else if (strcmp(name, "dump_mlir_dir") == 0) {
        if (value->kind != GpNode_Lit || GP_AS(Lit, value)->tok != GpTok_Str)
            gp_attr_malformed(a, value->span, "a folder's name; `gpulua emit` prints IR instead");
    } else if (strcmp(name, "use_debug_mlir") == 0) {
        gp_attr_refuse(a, arg->span, gp_arena_printf(arena_of(a), "`%s`", name));
    } else {
        gp_attr_malformed(a, arg->span,
                          "`optimization_hints`, `preconditions`, `deny_in_kernel_checks`, "
                          "`unchecked_accesses` or `print_ir`");
    }
}

void gp_attr_read_entry(const GpAttr *a) {
    gp_attr_set_kernel(a, GpTrack_Tile);
    if (a->def->kind != GpDef_Fn)
        return;
    for (uint32_t i = 0; i < a->node->args.len; i++) {
        GpNode *value, *arg = a->node->args.at[i];
        GpSym key = gp_attr_key(arg, &value);
        if (key)
            read_key(a, key, arg, value);
        else
            gp_attr_malformed(a, arg->span, "`key = value`");
    }
    if (a->node->tokens && GP_AS(Tokens, a->node->tokens)->text->len)
        gp_attr_malformed(a, a->node->node.span, "`key = value` pairs");
}
