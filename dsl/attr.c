/* Attributes of items. What is known and harmless is ignored, what is known and not there yet is
** refused by name, what is unknown is an error: nothing is dropped in silence. */
#include <stdio.h>

#include "dsl/attr.h"

typedef GpAttr Attr;

static GpCheck *check_of(const Attr *a) { return a->k->c; }

void gp_attr_refuse(const Attr *a, GpSpan span, const char *what) {
    gp_primary_label(gp_diag(check_of(a)->diags, GpDiag_G0201, span, what), "not supported yet");
}

void gp_attr_malformed(const Attr *a, GpSpan span, const char *expected) {
    gp_primary_label(gp_diag(check_of(a)->diags, GpDiag_G0202, span, a->name), "expected %s",
                     expected);
}

static bool expect_fn(const Attr *a) {
    if (a->def->kind == GpDef_Fn)
        return true;
    GpDiag *d = gp_diag(check_of(a)->diags, GpDiag_G0204, a->node->node.span, a->name);
    gp_primary_label(d, "not a function");
    return false;
}

/* ---- values -----------------------------------------------------------------------------------
 */

bool gp_attr_int(const Attr *a, GpNode *n, uint32_t least, uint32_t *out) {
    uint64_t value;
    if (n->kind == GpNode_Lit && GP_AS(Lit, n)->tok == GpTok_Int &&
        gp_parse_int(GP_AS(Lit, n)->text, &value) && value >= least && value <= INT32_MAX) {
        *out = (uint32_t)value;
        return true;
    }
    gp_attr_malformed(a, n->span, least ? "a positive integer literal" : "an integer literal");
    return false;
}

GpSym gp_attr_name(GpNode *n) {
    if (n->kind != GpNode_PathExpr)
        return NULL;
    GpAstPath *p = GP_AS(Path, GP_AS(PathExpr, n)->path);
    return p->segments.len == 1 && !p->self_type ? GP_AS(Segment, p->segments.at[0])->name : NULL;
}

/* The text of a string literal, NULL when n is none. */
static GpSym attr_string(const Attr *a, GpNode *n) {
    if (!n || n->kind != GpNode_Lit || GP_AS(Lit, n)->tok != GpTok_Str)
        return NULL;
    GpSym text = GP_AS(Lit, n)->text;
    if (text->len >= 2 && text->name[0] == '"')
        return gp_intern(check_of(a)->names, text->name + 1, text->len - 2);
    return text;
}

/* key = value; NULL when n is something else. */
GpSym gp_attr_key(GpNode *n, GpNode **value) {
    if (n->kind != GpNode_Assign || GP_AS(Assign, n)->op != GpTok_Eq)
        return NULL;
    *value = GP_AS(Assign, n)->rhs;
    return gp_attr_name(GP_AS(Assign, n)->lhs);
}

bool gp_attr_bool(const Attr *a, GpNode *n) {
    if (n->kind == GpNode_Lit &&
        (GP_AS(Lit, n)->tok == GpTok_True || GP_AS(Lit, n)->tok == GpTok_False))
        return GP_AS(Lit, n)->tok == GpTok_True;
    gp_attr_malformed(a, n->span, "`true` or `false`");
    return false;
}

/* ---- kernels ----------------------------------------------------------------------------------
 */

void gp_attr_set_kernel(const Attr *a, GpTrack track) {
    GpKernelAttrs *kernel = &a->def->kernel;
    if (!expect_fn(a))
        return;
    if (kernel->track != GpTrack_None) {
        GpDiag *d =
            gp_diag(check_of(a)->diags, GpDiag_G0205, a->node->node.span, a->def->name->name);
        gp_primary_label(d, "one too many");
        gp_label(d, kernel->span, "it is a kernel by this one");
        return;
    }
    GpDef *holder = a->def->parent;
    if (holder && holder->kind != GpDef_Module) {
        GpDiag *d = gp_diag(check_of(a)->diags, GpDiag_G0206, a->node->node.span);
        gp_primary_label(d, "inside %s %s", gp_def_article(holder), gp_def_kind_name(holder));
        return;
    }
    kernel->track = track;
    kernel->span = a->node->node.span;
    a->def->track = track;
}

GpSchedule gp_kernel_schedule(const GpKernelAttrs *kernel, uint16_t sm) {
    for (uint32_t i = 0; i < kernel->hint_count; i++) {
        if (kernel->hints[i].sm == sm)
            return gp_schedule_merge(kernel->hints[i].schedule, kernel->schedule);
    }
    return kernel->schedule;
}

static void read_Tile(const Attr *a) {
    gp_attr_set_kernel(a, GpTrack_Tile);
    if (a->node->tokens || a->node->value)
        gp_attr_malformed(a, a->node->node.span, "`#[tile]` or `#[tile(warps = 8, stages = 4)]`");
    for (uint32_t i = 0; i < a->node->args.len; i++) {
        GpNode *value, *arg = a->node->args.at[i];
        GpSym name = gp_attr_key(arg, &value);
        GpScheduleKey key;
        if (name && gp_schedule_find((GpStr){name->name, name->len}, &key))
            gp_attr_read_schedule(a, key, arg, value, &a->def->kernel.schedule);
        else
            gp_attr_malformed(a, arg->span, "`warps`, `stages`, `cluster` or `persistent` with a value");
    }
}

static void read_Kernel(const Attr *a) {
    gp_attr_set_kernel(a, GpTrack_Simt);
    if (a->node->tokens || a->node->value)
        gp_attr_malformed(a, a->node->node.span, "`#[kernel]` or `#[kernel(unchecked_indexing)]`");
    for (uint32_t i = 0; i < a->node->args.len; i++) {
        GpNode *arg = a->node->args.at[i], *value;
        GpSym flag = gp_attr_name(arg), key = gp_attr_key(arg, &value);
        if (flag && strcmp(flag->name, "unchecked_indexing") == 0)
            a->def->kernel.unchecked = true;
        else if (key)
            gp_attr_refuse(a, arg->span,
                   gp_arena_printf(check_of(a)->arena, "`%s` of `#[kernel]`", key->name));
        else
            gp_attr_refuse(a, arg->span, "a list of types in `#[kernel]`");
    }
}

static void read_Entry(const Attr *a) { gp_attr_read_entry(a); }

static void read_Bounds(const Attr *a) {
    GpKernelAttrs *kernel = &a->def->kernel;
    if (!expect_fn(a))
        return;
    if (a->node->args.len < 1 || a->node->args.len > 2) {
        gp_attr_malformed(a, a->node->node.span,
                  "`#[launch_bounds(max_threads)]` or `#[launch_bounds(max_threads, min_blocks)]`");
        return;
    }
    if (gp_attr_int(a, a->node->args.at[0], 1, &kernel->max_threads) && kernel->max_threads > 1024) {
        GpDiag *d = gp_diag(check_of(a)->diags, GpDiag_G0207, a->node->args.at[0]->span,
                            gp_arena_printf(check_of(a)->arena, "%u", kernel->max_threads));
        gp_primary_label(d, "at most 1024");
    }
    if (a->node->args.len == 2)
        (void)gp_attr_int(a, a->node->args.at[1], 1, &kernel->min_blocks);
}

bool gp_check_threads(GpDiags *diags, const uint32_t *block, GpSpan span) {
    uint64_t product = 1;
    char text[24];
    for (uint32_t i = 0; i < 3; i++)
        product = GP_MIN(product * block[i], UINT64_C(1) << 30);
    if (product <= 1024 && block[2] <= 64)
        return true;
    snprintf(text, sizeof text, "%llu", (unsigned long long)product);
    gp_primary_label(gp_diag(diags, GpDiag_G0207, span, text), "at most 1024 in all, at most 64 in z");
    return false;
}

static void read_block(const Attr *a, GpNode *value) {
    GpKernelAttrs *kernel = &a->def->kernel;
    if (value->kind != GpNode_Tuple || GP_AS(Tuple, value)->items.len != 3) {
        gp_attr_malformed(a, value->span, "three integers: `block = (256, 1, 1)`");
        return;
    }
    for (uint32_t i = 0; i < 3; i++) {
        if (!gp_attr_int(a, GP_AS(Tuple, value)->items.at[i], 1, &kernel->block[i]))
            return;
    }
    gp_check_threads(check_of(a)->diags, kernel->block, value->span);
}

static void read_Contract(const Attr *a) {
    GpKernelAttrs *kernel = &a->def->kernel;
    uint32_t errors = gp_diags_errors(check_of(a)->diags);
    if (!expect_fn(a))
        return;
    for (uint32_t i = 0; i < a->node->args.len; i++) {
        GpNode *value, *arg = a->node->args.at[i];
        GpSym key = gp_attr_key(arg, &value);
        if (key && strcmp(key->name, "domain") == 0) {
            if (gp_attr_int(a, value, 1, &kernel->domain) && kernel->domain > 3)
                gp_attr_malformed(a, value->span, "1, 2 or 3");
        } else if (key && strcmp(key->name, "block") == 0) {
            read_block(a, value);
        } else if (key) {
            gp_attr_refuse(a, arg->span,
                   gp_arena_printf(check_of(a)->arena, "`%s` of `#[launch_contract]`", key->name));
        } else {
            gp_attr_malformed(a, arg->span, "`key = value`");
        }
    }
    if (!kernel->domain && errors == gp_diags_errors(check_of(a)->diags))
        gp_attr_malformed(a, a->node->node.span, "`domain = 1`");
}

/* A thread follows a pointer in its own `unsafe`; operations on pointer tiles are no such place. */
static void check_pointers(GpCollect *k, const GpDef *def) {
    const GpAstFn *fn = GP_AS(Fn, def->node);
    for (uint32_t i = 0; i < fn->params.len && !fn->is_unsafe; i++) {
        GpNode *p = fn->params.at[i];
        if (p->kind == GpNode_Param && GP_AS(Param, p)->type &&
            GP_AS(Param, p)->type->kind == GpNode_TypePtr)
            gp_primary_label(gp_diag(k->c->diags, GpDiag_G0229, GP_AS(Param, p)->type->span),
                             "the kernel is not `unsafe`");
    }
}

/* What only all attributes together can say. */
static void finish_kernel(GpCollect *k, GpDef *def) {
    GpKernelAttrs *kernel = &def->kernel;
    if (kernel->unchecked && kernel->track == GpTrack_Tile && !GP_AS(Fn, def->node)->is_unsafe) {
        GpDiag *d = gp_diag(k->c->diags, GpDiag_G0210, def->span, def->name->name);
        gp_primary_label(d, "not `unsafe`");
    }
    if (kernel->track == GpTrack_Tile)
        check_pointers(k, def);
    uint32_t product = kernel->block[0] * kernel->block[1] * kernel->block[2];
    bool has_launch = kernel->max_threads || kernel->domain;
    if (has_launch && kernel->track != GpTrack_Simt) {
        GpDiag *d = gp_diag(k->c->diags, GpDiag_G0208, def->span,
                            kernel->domain ? "launch_contract" : "launch_bounds");
        gp_primary_label(d, kernel->track == GpTrack_Tile ? "a tile kernel has no threads"
                                                          : "not a `#[kernel]`");
        return;
    }
    if (product && kernel->max_threads && product > kernel->max_threads) {
        GpDiag *d = gp_diag(k->c->diags, GpDiag_G0209, def->span,
                            gp_arena_printf(k->c->arena, "%u", product),
                            gp_arena_printf(k->c->arena, "%u", kernel->max_threads));
        gp_primary_label(d, "`launch_contract` and `launch_bounds` disagree");
    }
    if (product && !kernel->max_threads)
        kernel->max_threads = product;
}

/* ---- the others -------------------------------------------------------------------------------
 */

static void read_TileModule(const Attr *a) {
    if (a->def->kind == GpDef_Module)
        a->def->track = GpTrack_Tile;
    else
        gp_primary_label(gp_diag(check_of(a)->diags, GpDiag_G0204, a->node->node.span, a->name),
                         "not a module");
}

static void read_SimtModule(const Attr *a) {
    if (a->def->kind == GpDef_Module)
        a->def->track = GpTrack_Simt;
    else
        gp_primary_label(gp_diag(check_of(a)->diags, GpDiag_G0204, a->node->node.span, a->name),
                         "not a module");
}

static void read_Device(const Attr *a) {
    if (expect_fn(a) && a->def->track == GpTrack_None)
        a->def->track = GpTrack_Simt;
}

static void read_Derive(const Attr *a) {
    for (uint32_t i = 0; i < a->node->args.len; i++) {
        GpSym name = gp_attr_name(a->node->args.at[i]);
        if (name && strcmp(name->name, "Copy") == 0)
            a->def->is_copy = true;
        else if (!name || (strcmp(name->name, "Clone") != 0 && strcmp(name->name, "Debug") != 0))
            gp_attr_refuse(a, a->node->args.at[i]->span,
                   name ? gp_arena_printf(check_of(a)->arena, "`#[derive(%s)]`", name->name)
                        : "this derive");
    }
}

/* `const S: [i32; N]` of the item stands for every rank. */
static void read_AnyRank(const Attr *a) {
    if (a->def->kind == GpDef_Trait || a->def->kind == GpDef_Impl)
        a->def->is_any_rank = true;
    else
        gp_primary_label(
            gp_diag(check_of(a)->diags, GpDiag_G0204, a->node->node.span, a->name),
            "not a trait or impl");
}

static void read_Ignore(const Attr *a) { (void)a; }

static void read_Unsupported(const Attr *a) {
    gp_attr_refuse(a, a->node->node.span, gp_arena_printf(check_of(a)->arena, "`#[%s]`", a->name));
}

static bool expect_std(const Attr *a) {
    if (a->k->is_std)
        return true;
    gp_primary_label(gp_diag(check_of(a)->diags, GpDiag_G0022, a->node->node.span, a->name),
                     "unknown attribute");
    return false;
}

static void read_Optional(const Attr *a) {
    (void)expect_std(a); /* on parameters only: gp_check_part_attr */
}

/* Ids of the .def tables: a misspelt one is a bug of dsl/std. */
static uint32_t find_id(const char *const *ids, uint32_t count, GpSym id) {
    for (uint32_t i = 1; i < count; i++) {
        if (strcmp(ids[i], id->name) == 0)
            return i;
    }
    gp_unreachable();
}

static void read_Lang(const Attr *a) {
    static const char *const ids[] = {
        "None",
#define GP_LANG(id, kind) #id,
#include "dsl/lang.def"
    };
    if (!expect_std(a))
        return;
    a->def->lang = (GpLang)find_id(ids, GP_COUNT(ids), attr_string(a, a->node->value));
    check_of(a)->std->lang[a->def->lang] = a->def;
}

static void read_Op(const Attr *a) {
    if (!expect_std(a))
        return;
    GpSym spelling = attr_string(a, a->node->value);
    bool found = spelling && gp_op_find((GpStr){spelling->name, spelling->len}, &a->def->op);
    gp_assert(found);
    a->def->has_op = true;
}

static void read_Intrinsic(const Attr *a) {
    static const char *const ids[] = {
        "None",
#define GP_INTRINSIC(id, track, doc) #id,
#include "dsl/intrinsic.def"
    };
    static const GpTrack tracks[] = {
        GpTrack_None,
#define GP_INTRINSIC(id, track, doc) GpTrack_##track,
#include "dsl/intrinsic.def"
    };
    if (!expect_std(a))
        return;
    GpNodeList args = a->node->args;
    GpSym id = args.len ? gp_attr_name(args.at[0]) : attr_string(a, a->node->value);
    gp_assert(id != NULL);
    a->def->intrinsic = (GpIntrinsic)find_id(ids, GP_COUNT(ids), id);
    a->def->track = tracks[a->def->intrinsic];
    a->def->intrinsic_arg = args.len > 1 ? attr_string(a, args.at[1]) : a->def->name;
}

static const struct Row {
    const char *path;
    void (*read)(const Attr *a);
} rows[] = {
#define GP_ATTR(path, meaning) {path, read_##meaning},
#include "dsl/attr.def"
};

/* "cutile::entry" */
static const char *path_of(GpCheck *c, GpAstAttr *node) {
    GpAstPath *p = GP_AS(Path, node->path);
    const char *text = "";
    for (uint32_t i = 0; i < p->segments.len; i++) {
        const char *name = GP_AS(Segment, p->segments.at[i])->name->name;
        bool is_prefix = i + 1 < p->segments.len && i == 0 &&
                         (strcmp(name, "cuda_device") == 0 || strcmp(name, "cuda_host") == 0 ||
                          strcmp(name, "core") == 0);
        if (!is_prefix)
            text = gp_arena_printf(c->arena, "%s%s%s", text, *text ? "::" : "", name);
    }
    return text;
}

static const struct Row *find_row(const char *path) {
    for (uint32_t i = 0; i < GP_COUNT(rows); i++) {
        if (strcmp(rows[i].path, path) == 0)
            return &rows[i];
    }
    return NULL;
}

static void report_unknown(GpCollect *k, GpAstAttr *node, const char *path) {
    if (strncmp(path, "clippy::", 8) == 0 || strncmp(path, "rustfmt::", 9) == 0)
        return;
    GpSym similar[GP_COUNT(rows)];
    for (uint32_t i = 0; i < GP_COUNT(rows); i++)
        similar[i] = gp_intern_cstr(k->c->names, rows[i].path);
    GpSym near = gp_find_nearest(gp_intern_cstr(k->c->names, path), similar, GP_COUNT(rows));
    GpDiag *d = gp_diag(k->c->diags, GpDiag_G0022, node->path->span, path);
    if (near)
        gp_suggest(d, node->path->span, near->name, "a similar name exists");
    gp_primary_label(d, "unknown attribute");
}

static void read_one(GpCollect *k, GpDef *def, GpAstAttr *node) {
    Attr a = {k, def, node, path_of(k->c, node)};
    const struct Row *row = find_row(a.name);
    if (row)
        row->read(&a);
    else
        report_unknown(k, node, a.name);
}

bool gp_check_part_attr(GpCollect *k, GpNode *node) {
    Attr a = {k, NULL, GP_AS(Attr, node), path_of(k->c, GP_AS(Attr, node))};
    const struct Row *row = find_row(a.name);
    if (row && row->read == read_Optional && k->is_std)
        return true;
    if (!row)
        report_unknown(k, a.node, a.name);
    else if (row->read == read_Unsupported)
        gp_attr_refuse(&a, node->span, gp_arena_printf(k->c->arena, "`#[%s]`", a.name));
    else if (row->read != read_Ignore)
        gp_primary_label(gp_diag(k->c->diags, GpDiag_G0204, node->span, a.name), "not an item");
    return false;
}

void gp_read_attrs(GpCollect *k, GpDef *def, GpNodeList attrs) {
    for (uint32_t i = 0; i < attrs.len; i++) {
        if (attrs.at[i]->kind == GpNode_Attr)
            read_one(k, def, GP_AS(Attr, attrs.at[i]));
    }
    if (def->kind == GpDef_Fn)
        finish_kernel(k, def);
}
