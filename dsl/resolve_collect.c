/* Items to defs: the first pass over a crate, and the order of the others. Names are entered into
** the maps of their scope; nothing is looked up here. Items inside function bodies belong to the
** function: they are visible in all of it. */
#include "dsl/resolve.h"

GpMap *gp_def_map(GpDef *def, GpNamespace ns) {
    switch (ns) {
    case GpNs_Type:
        return &def->types;
    case GpNs_Value:
        return &def->values;
    case GpNs_Macro:
        return &def->macros;
    }
    gp_unreachable();
}

const char *gp_def_kind_name(const GpDef *def) {
    switch (def->kind) {
    case GpDef_Module:
        return "module";
    case GpDef_Fn:
        return def->parent && (def->parent->kind == GpDef_Impl || def->parent->kind == GpDef_Trait)
                   ? (def->sig.has_self ? "method" : "associated function")
                   : "function";
    case GpDef_Struct:
        return "struct";
    case GpDef_Union:
        return "union";
    case GpDef_Enum:
        return "enum";
    case GpDef_Variant:
        return "variant";
    case GpDef_Trait:
        return "trait";
    case GpDef_Impl:
        return "impl";
    case GpDef_TypeAlias:
        return "type alias";
    case GpDef_Const:
        return "constant";
    case GpDef_Static:
        return "static";
    case GpDef_AssocType:
        return "associated type";
    case GpDef_TypeParam:
        return "type parameter";
    case GpDef_ConstParam:
        return "const parameter";
    case GpDef_Macro:
        return "macro";
    }
    gp_unreachable();
}

const char *gp_def_article(const GpDef *def) {
    return strchr("aeiou", gp_def_kind_name(def)[0]) ? "an" : "a";
}

GpNodeList gp_node_attrs(GpNode *item) {
#define FIELD(Kind)                                                                                \
    if (item->kind == GpNode_##Kind)                                                               \
        return GP_AS(Kind, item)->attrs;
    FIELD(Module)
    FIELD(Fn)
    FIELD(Struct) FIELD(Union) FIELD(Enum) FIELD(Trait) FIELD(Impl) FIELD(TypeAlias) FIELD(Const)
        FIELD(Static) FIELD(MacroRules) FIELD(Variant) FIELD(Generic) FIELD(Extern) FIELD(Use)
            FIELD(MacroItem)
#undef FIELD
                return (GpNodeList){NULL, 0};
}

static bool is_name_byte(char b) {
    return b == '_' || (b >= '0' && b <= '9') || (b >= 'a' && b <= 'z') || (b >= 'A' && b <= 'Z') ||
           (unsigned char)b >= 0x80;
}

/* Where the item's name stands: its first occurrence as a word after the outer attributes. */
static GpSpan find_name_span(GpNode *item, GpSym name) {
    GpSpan span = item->span;
    if (!name || !span.src)
        return span;
    uint32_t at = span.off, end = span.off + span.len;
    GpNodeList attrs = gp_node_attrs(item);
    for (uint32_t i = 0; i < attrs.len; i++) {
        GpSpan attr = attrs.at[i]->span;
        if (!GP_AS(Attr, attrs.at[i])->is_inner && attr.off + attr.len > at && attr.off < end)
            at = attr.off + attr.len;
    }
    const char *text = span.src->text;
    for (; at + name->len <= end; at++) {
        if (memcmp(text + at, name->name, name->len) == 0 && !is_name_byte(text[at + name->len]) &&
            (at == span.off || !is_name_byte(text[at - 1])))
            return (GpSpan){span.src, at, name->len};
    }
    return span;
}

GpDef *gp_collect_def(GpCollect *k, GpDefKind kind, GpSym name, GpSpan span, GpNode *node,
                      GpDef *parent) {
    GpDef *def = GP_NEW(k->c->arena, GpDef);
    def->kind = kind;
    def->name = name;
    def->span = span;
    def->node = node;
    def->parent = parent;
    def->is_std = k->is_std;
    def->id = (*k->next_id)++;
    if (node)
        GP_PUSH(k->c->arena, &k->defs, def);
    return def;
}

static void report_twice(GpCollect *k, GpDef *scope, GpDef *def, GpDef *old, GpNamespace ns) {
    static const char *const spaces[] = {
        [GpNs_Type] = "type", [GpNs_Value] = "value", [GpNs_Macro] = "macro"};
    GpDiag *d = gp_diag(k->c->diags, GpDiag_E0428, def->span, def->name->name);
    gp_primary_label(d, "`%s` redefined here", def->name->name);
    gp_label(d, old->span, "previous definition of the %s `%s` here", spaces[ns], def->name->name);
    gp_note(d, "`%s` must be defined only once in the %s namespace of this %s", def->name->name,
            spaces[ns], scope->kind == GpDef_Fn ? "block" : gp_def_kind_name(scope));
}

/* Items of impls are compared with those of other impls later (E0592), so only names within one
** scope clash here. */
static void enter_name(GpCollect *k, GpDef *scope, GpDef *def, GpNamespace ns) {
    GpMap *map = gp_def_map(scope, ns);
    GpDef *old = def->name ? gp_map_get(map, def->name) : NULL;
    if (!def->name)
        return;
    if (old && old != def)
        report_twice(k, scope, def, old, ns);
    else
        gp_map_set(k->c->arena, map, def->name, def);
}

static void collect_item(GpCollect *k, GpDef *parent, GpNode *item);

static void visit_body(GpNode *n, void *ud);
typedef struct BodyVisit {
    GpCollect *k;
    GpDef *fn;
} BodyVisit;

/* Items in a body become items of the function. */
static void visit_body(GpNode *n, void *ud) {
    BodyVisit *v = ud;
    if (n->kind == GpNode_ItemStmt)
        collect_item(v->k, v->fn, GP_AS(ItemStmt, n)->item);
    else if (n->kind == GpNode_Attr)
        (void)gp_check_part_attr(v->k, n);
    else
        gp_node_children(n, visit_body, v);
}

/* Attributes of the parts of an item: parameters, fields, generics. */
static void visit_part(GpNode *n, void *ud) {
    if (n->kind == GpNode_Attr)
        (void)gp_check_part_attr(ud, n);
    else if (gp_node_group(n->kind) == GpGroup_Part)
        gp_node_children(n, visit_part, ud);
}

static void check_parts(GpCollect *k, GpNodeList parts) {
    for (uint32_t i = 0; i < parts.len; i++)
        visit_part(parts.at[i], k);
}

static GpDef *start_item(GpCollect *k, GpDefKind kind, GpSym name, GpNode *item, GpDef *parent) {
    GpDef *def = gp_collect_def(k, kind, name, find_name_span(item, name), item, parent);
    gp_read_attrs(k, def, gp_node_attrs(item));
    gp_resolve_generics(k, def);
    return def;
}

static void collect_fn(GpCollect *k, GpDef *parent, GpAstFn *fn) {
    GpDef *def = start_item(k, GpDef_Fn, fn->name, &fn->node, parent);
    def->is_pub = fn->is_pub;
    def->is_unsafe = fn->is_unsafe;
    def->has_body = fn->body != NULL;
    enter_name(k, parent, def, GpNs_Value);
    check_parts(k, fn->params);
    check_parts(k, fn->generics);
    if (!fn->body)
        return;
    GP_PUSH(k->c->arena, &k->fns, def);
    if (def->kernel.track != GpTrack_None)
        GP_PUSH(k->c->arena, &k->kernels, def);
    BodyVisit v = {k, def};
    gp_node_children(fn->body, visit_body, &v);
}

static void collect_struct(GpCollect *k, GpDef *parent, GpAstStruct *s) {
    GpDef *def = start_item(k, GpDef_Struct, s->name, &s->node, parent);
    def->is_pub = s->is_pub;
    check_parts(k, s->fields);
    enter_name(k, parent, def, GpNs_Type);
    if (s->is_tuple || s->is_unit)
        enter_name(k, parent, def, GpNs_Value);
}

static void collect_enum(GpCollect *k, GpDef *parent, GpAstEnum *e) {
    GpDef *def = start_item(k, GpDef_Enum, e->name, &e->node, parent);
    def->is_pub = e->is_pub;
    enter_name(k, parent, def, GpNs_Type);
    def->items = GP_NEW_ARRAY(k->c->arena, GpDef *, e->variants.len);
    for (uint32_t i = 0; i < e->variants.len; i++) {
        GpAstVariant *v = GP_AS(Variant, e->variants.at[i]);
        GpDef *variant = gp_collect_def(k, GpDef_Variant, v->name,
                                        find_name_span(&v->node, v->name), &v->node, def);
        variant->generics = def->generics;
        variant->generic_count = def->generic_count;
        variant->parent_generic_count = def->generic_count;
        variant->variant_index = i;
        variant->is_pub = true;
        visit_part(&v->node, k);
        enter_name(k, def, variant, GpNs_Type);
        gp_map_set(k->c->arena, &def->values, v->name, variant);
        def->items[def->item_count++] = variant;
    }
}

static void collect_trait(GpCollect *k, GpDef *parent, GpAstTrait *t) {
    GpDef *def = start_item(k, GpDef_Trait, t->name, &t->node, parent);
    def->is_pub = t->is_pub;
    def->is_unsafe = t->is_unsafe;
    enter_name(k, parent, def, GpNs_Type);
    gp_collect_items(k, def, t->items);
}

static void collect_const(GpCollect *k, GpDef *parent, GpAstConst *item) {
    GpDef *def = start_item(k, GpDef_Const, item->name, &item->node, parent);
    def->is_pub = item->is_pub;
    enter_name(k, parent, def, GpNs_Value);
    if (item->value)
        GP_PUSH(k->c->arena, &k->consts, def);
}

static void collect_static(GpCollect *k, GpDef *parent, GpAstStatic *item) {
    GpDef *def = start_item(k, GpDef_Static, item->name, &item->node, parent);
    def->is_pub = item->is_pub;
    enter_name(k, parent, def, GpNs_Value);
    if (item->value)
        GP_PUSH(k->c->arena, &k->consts, def);
}

static void collect_alias(GpCollect *k, GpDef *parent, GpAstTypeAlias *item) {
    bool is_assoc = parent->kind == GpDef_Impl || parent->kind == GpDef_Trait;
    GpDef *def = start_item(k, is_assoc ? GpDef_AssocType : GpDef_TypeAlias, item->name,
                            &item->node, parent);
    def->is_pub = item->is_pub;
    enter_name(k, parent, def, GpNs_Type);
}

static void collect_module(GpCollect *k, GpDef *parent, GpAstModule *m) {
    GpDef *def = start_item(k, GpDef_Module, m->name, &m->node, parent);
    def->is_pub = m->is_pub;
    if (m->is_file) {
        GpDiag *d = gp_diag(k->c->diags, GpDiag_G0023, def->span, m->name->name);
        gp_primary_label(d, "not supported");
        gp_help(d, "write the module inline: `mod %s { .. }`", m->name->name);
    }
    enter_name(k, parent, def, GpNs_Type);
    gp_collect_items(k, def, m->items);
}

static void report_unsupported(GpCollect *k, GpSpan span, const char *what) {
    gp_primary_label(gp_diag(k->c->diags, GpDiag_G0008, span, what), "not supported");
}

/* Calls are expanded before names are resolved; the def is what `use` finds. A later definition of
** the name hides an earlier one. */
static void collect_macro(GpCollect *k, GpDef *parent, GpAstMacroRules *item) {
    GpDef *def = start_item(k, GpDef_Macro, item->name, &item->node, parent);
    def->is_pub = true;
    if (item->name)
        gp_map_set(k->c->arena, &parent->macros, item->name, def);
}

static void collect_item(GpCollect *k, GpDef *parent, GpNode *item) {
    GpDef *def;
    if (item->kind == GpNode_Fn) {
        collect_fn(k, parent, GP_AS(Fn, item));
    } else if (item->kind == GpNode_Struct) {
        collect_struct(k, parent, GP_AS(Struct, item));
    } else if (item->kind == GpNode_Enum) {
        collect_enum(k, parent, GP_AS(Enum, item));
    } else if (item->kind == GpNode_Trait) {
        collect_trait(k, parent, GP_AS(Trait, item));
    } else if (item->kind == GpNode_Impl) {
        def = start_item(k, GpDef_Impl, NULL, item, parent);
        GP_PUSH(k->c->arena, &k->impls, def);
        gp_collect_items(k, def, GP_AS(Impl, item)->items);
    } else if (item->kind == GpNode_Const) {
        collect_const(k, parent, GP_AS(Const, item));
    } else if (item->kind == GpNode_Static) {
        collect_static(k, parent, GP_AS(Static, item));
    } else if (item->kind == GpNode_TypeAlias) {
        collect_alias(k, parent, GP_AS(TypeAlias, item));
    } else if (item->kind == GpNode_Module) {
        collect_module(k, parent, GP_AS(Module, item));
    } else if (item->kind == GpNode_Use) {
        gp_collect_use(k, parent, GP_AS(Use, item));
    } else if (item->kind == GpNode_MacroRules) {
        collect_macro(k, parent, GP_AS(MacroRules, item));
    } else if (item->kind == GpNode_MacroItem) {
        gp_report_macro(k->c, GP_AS(MacroItem, item)->macro);
    } else if (item->kind == GpNode_Extern) {
        report_unsupported(k, item->span, "extern blocks");
    } else if (item->kind == GpNode_Union) {
        report_unsupported(k, item->span, "unions");
    } else {
        gp_assert(item->kind == GpNode_Bad);
    }
}

void gp_collect_items(GpCollect *k, GpDef *parent, GpNodeList items) {
    uint32_t first = k->defs.len;
    for (uint32_t i = 0; i < items.len; i++)
        collect_item(k, parent, items.at[i]);
    uint32_t count = parent->item_count;
    for (uint32_t i = first; i < k->defs.len; i++)
        count += k->defs.at[i]->parent == parent;
    GpDef **all = GP_NEW_ARRAY(k->c->arena, GpDef *, count);
    for (uint32_t i = 0; i < parent->item_count; i++)
        all[i] = parent->items[i];
    parent->items = all;
    for (uint32_t i = first; i < k->defs.len; i++) {
        if (k->defs.at[i]->parent == parent)
            parent->items[parent->item_count++] = k->defs.at[i];
    }
}

void gp_collect_passes(GpCollect *k) {
    gp_resolve_uses(k);
    for (uint32_t i = 0; i < k->defs.len; i++)
        gp_resolve_const_types(k, k->defs.at[i]);
    for (uint32_t i = 0; i < k->defs.len; i++)
        gp_resolve_bounds(k, k->defs.at[i]);
    for (uint32_t i = 0; i < k->impls.len; i++)
        gp_resolve_impl(k, k->impls.at[i]);
    for (uint32_t i = 0; i < k->defs.len; i++) {
        if (k->defs.at[i]->kind == GpDef_Impl || k->defs.at[i]->kind == GpDef_Trait)
            gp_index_items(k->c, k->defs.at[i]);
    }
    for (uint32_t i = 0; i < k->defs.len; i++)
        gp_resolve_fields(k, k->defs.at[i]);
    for (uint32_t i = 0; i < k->defs.len; i++)
        gp_resolve_sig(k, k->defs.at[i]);
    for (uint32_t i = 0; i < k->impls.len; i++)
        gp_check_impl_items(k, k->impls.at[i]);
    for (uint32_t i = 0; i < k->defs.len; i++) {
        gp_check_decl(k, k->defs.at[i]);
        gp_check_lifetimes(k, k->defs.at[i]);
    }
}

void gp_collect(GpCheck *c, GpAstFile *file) {
    GpModule *m = c->module;
    GpCollect k = {.c = c, .next_id = &m->next_def_id};
    m->root = gp_collect_def(&k, GpDef_Module, NULL, file->node.span, NULL, NULL);
    gp_read_attrs(&k, m->root, file->attrs);
    gp_collect_items(&k, m->root, file->items);
    gp_collect_passes(&k);
    m->fns = k.fns.at;
    m->fn_count = k.fns.len;
    m->kernels = k.kernels.at;
    m->kernel_count = k.kernels.len;
    m->consts = k.consts.at;
    m->const_count = k.consts.len;
    m->impls = k.impls.at;
    m->impl_count = k.impls.len;
}
