/* Imports, and lookup of names in modules.
**
** Imports are resolved to a fixpoint: each round enters what can be found, until a round finds
** nothing new. What is left names an unknown crate, or a part of a known one that is not built
** in: that is an error only when a name from it is used, so that a file's host-side imports do
** no harm. A missing name in a module that is there is an error at once. */
#include "dsl/resolve.h"

GpDef *gp_module_of(GpDef *scope) {
    while (scope->kind != GpDef_Module)
        scope = scope->parent;
    return scope;
}

GpDef *gp_crate_of(GpDef *def) {
    while (def->parent)
        def = def->parent;
    return def;
}

GpDef *gp_find_crate(GpCheck *c, GpSym name) { return gp_map_get(&c->std->crates, name); }

/* ---- collecting ----------------------------------------------------------------------------- */

static struct GpImports *get_imports(GpCheck *c, GpDef *scope) {
    if (!scope->imports)
        scope->imports = GP_NEW(c->arena, struct GpImports);
    return scope->imports;
}

/* The path so far while a use tree is flattened. */
typedef struct Prefix {
    GpSym names[32];
    GpSpan spans[32];
    uint32_t len;
    bool is_global, is_pub;
    GpDef *scope;
} Prefix;

static void add_import(GpCollect *k, const Prefix *p, uint32_t path_len, GpAstUseTree *leaf) {
    GpSym *path = GP_NEW_ARRAY(k->c->arena, GpSym, path_len);
    GpSpan *spans = GP_NEW_ARRAY(k->c->arena, GpSpan, path_len);
    for (uint32_t i = 0; i < path_len; i++) {
        path[i] = p->names[i];
        spans[i] = p->spans[i];
    }
    GpImport import = {.scope = p->scope,
                       .path = path,
                       .spans = spans,
                       .path_len = path_len,
                       .is_global = p->is_global,
                       .is_pub = p->is_pub,
                       .is_glob = leaf->is_glob,
                       .span = leaf->node.span};
    if (!leaf->is_glob) {
        import.name = p->names[path_len];
        import.alias = leaf->alias ? leaf->alias : import.name;
        import.span = p->spans[path_len];
    }
    GP_PUSH(k->c->arena, &k->imports, import);
}

static GpSpan name_span(GpAstUseTree *tree) {
    GpSpan span = tree->node.span;
    if (tree->name && span.len > tree->name->len)
        span.len = tree->name->len;
    return span;
}

static void flatten(GpCollect *k, Prefix p, GpAstUseTree *tree) {
    p.is_global |= tree->is_global;
    if (tree->name && p.len < GP_COUNT(p.names)) {
        p.names[p.len] = tree->name;
        p.spans[p.len++] = name_span(tree);
    }
    for (uint32_t i = 0; i < tree->children.len; i++)
        flatten(k, p, GP_AS(UseTree, tree->children.at[i]));
    if (tree->children.len || tree->is_group)
        return;
    if (tree->is_glob) {
        add_import(k, &p, p.len, tree);
        return;
    }
    /* `use a::{self}` imports a */
    if (p.len > 1 && strcmp(p.names[p.len - 1]->name, "self") == 0)
        p.len--;
    if (p.len)
        add_import(k, &p, p.len - 1, tree);
}

void gp_collect_use(GpCollect *k, GpDef *scope, GpAstUse *use) {
    Prefix p = {.scope = scope, .is_pub = use->is_pub};
    if (use->tree && use->tree->kind == GpNode_UseTree)
        flatten(k, p, GP_AS(UseTree, use->tree));
}

/* ---- lookup --------------------------------------------------------------------------------- */

/* Globs may form cycles: `depth` bounds the walk. */
static GpDef *find_in_module(GpDef *module, GpSym name, GpNamespace ns, uint32_t depth) {
    GpDef *def = gp_map_get(gp_def_map(module, ns), name);
    struct GpImports *in = module->imports;
    if (def || !in || depth > 16)
        return def;
    GpMap *named = ns == GpNs_Type ? &in->types : ns == GpNs_Value ? &in->values : &in->macros;
    def = gp_map_get(named, name);
    for (uint32_t i = 0; i < in->globs.len && !def; i++) {
        if (in->globs.at[i] != module)
            def = find_in_module(in->globs.at[i], name, ns, depth + 1);
    }
    return def;
}

GpDef *gp_find_in_module(GpCheck *c, GpDef *module, GpSym name, GpNamespace ns) {
    (void)c;
    return find_in_module(module, name, ns, 0);
}

static bool is_inside(const GpDef *scope, const GpDef *module) {
    while (scope && scope != module)
        scope = scope->parent;
    return scope != NULL;
}

bool gp_is_visible(const GpDef *def, GpDef *scope) {
    const GpDef *owner = def->parent;
    if (def->is_pub || def->is_std || !owner)
        return true;
    if (owner->kind == GpDef_Impl && !owner->trait) /* private to the module of the impl */
        owner = gp_module_of((GpDef *)(uintptr_t)owner);
    return owner->kind != GpDef_Module || is_inside(scope, owner);
}

bool gp_is_field_visible(const GpDef *def, uint32_t field, GpDef *scope) {
    if (def->is_std || def->kind != GpDef_Struct || !def->node)
        return true;
    GpNodeList fields = GP_AS(Struct, def->node)->fields;
    return GP_AS(FieldDef, fields.at[field])->is_pub || is_inside(scope, def->parent);
}

void gp_report_private(GpCheck *c, const GpDef *def, GpSpan use) {
    bool is_item = def->parent->kind == GpDef_Impl;
    GpDiag *d = gp_diag(c->diags, is_item ? GpDiag_E0624 : GpDiag_E0603, use, gp_def_kind_name(def),
                        def->name->name);
    gp_primary_label(d, "private %s", gp_def_kind_name(def));
    gp_note_at(d, def->span, "the %s `%s` is defined here", gp_def_kind_name(def), def->name->name);
}

/* ---- resolving ------------------------------------------------------------------------------ */

static GpDef *first_of_path(GpCheck *c, const GpImport *im, GpSym name) {
    GpDef *module = gp_module_of(im->scope);
    if (strcmp(name->name, "crate") == 0)
        return gp_crate_of(module);
    if (strcmp(name->name, "self") == 0)
        return module;
    if (strcmp(name->name, "super") == 0)
        return module->parent ? gp_module_of(module->parent) : NULL;
    if (im->is_global)
        return gp_find_crate(c, name);
    GpDef *def = NULL;
    for (GpDef *at = im->scope; !def; at = at->parent) {
        if (at->kind == GpDef_Module || at->kind == GpDef_Fn)
            def = find_in_module(at, name, GpNs_Type, 0);
        if (at->kind == GpDef_Module)
            break;
    }
    return def ? def : gp_find_crate(c, name);
}

static GpDef *next_of_path(GpDef *at, GpSym name) {
    if (at->kind == GpDef_Module && strcmp(name->name, "super") == 0)
        return at->parent ? gp_module_of(at->parent) : NULL;
    if (at->kind == GpDef_Module || at->kind == GpDef_Enum)
        return find_in_module(at, name, GpNs_Type, 0);
    return NULL;
}

/* The module or enum that the path before the last name leads to; *depth counts what was found. */
static GpDef *find_holder(GpCheck *c, const GpImport *im, uint32_t *depth) {
    GpDef *at = im->path_len ? NULL : gp_module_of(im->scope);
    for (*depth = 0; *depth < im->path_len; ++*depth) {
        GpDef *next =
            *depth == 0 ? first_of_path(c, im, im->path[0]) : next_of_path(at, im->path[*depth]);
        if (!next)
            return NULL;
        at = next;
    }
    return at;
}

/* `use name;` alone: a crate or what the scope has under that name. */
static GpDef *find_lone(GpCheck *c, const GpImport *im, GpNamespace ns) {
    GpDef *crate = ns == GpNs_Type ? gp_find_crate(c, im->name) : NULL;
    return crate ? crate : gp_map_get(gp_def_map(gp_module_of(im->scope), ns), im->name);
}

static bool enter_import(GpCheck *c, GpImport *im, GpDef *holder, GpNamespace ns) {
    struct GpImports *in = get_imports(c, im->scope);
    GpMap *map = ns == GpNs_Type ? &in->types : ns == GpNs_Value ? &in->values : &in->macros;
    if (gp_map_has(map, im->alias))
        return false;
    GpDef *def = im->path_len ? find_in_module(holder, im->name, ns, 0) : find_lone(c, im, ns);
    if (!def)
        return false;
    gp_map_set(c->arena, map, im->alias, def);
    if (!gp_is_visible(def, im->scope))
        gp_report_private(c, def, im->span);
    im->is_done = true;
    return true;
}

static bool resolve_import(GpCheck *c, GpImport *im) {
    uint32_t depth;
    GpDef *holder = find_holder(c, im, &depth);
    if (!holder)
        return false;
    if (im->is_glob) {
        if (im->is_done || (holder->kind != GpDef_Module && holder->kind != GpDef_Enum))
            return false;
        GP_PUSH(c->arena, &get_imports(c, im->scope)->globs, holder);
        return im->is_done = true;
    }
    bool progress = false;
    progress |= enter_import(c, im, holder, GpNs_Type);
    progress |= enter_import(c, im, holder, GpNs_Value);
    progress |= enter_import(c, im, holder, GpNs_Macro);
    return progress;
}

static const char *path_text(GpCheck *c, const GpImport *im, uint32_t len) {
    const char *text = "";
    for (uint32_t i = 0; i < len && i < im->path_len; i++)
        text = gp_arena_printf(c->arena, "%s%s%s", text, i ? "::" : "", im->path[i]->name);
    if (len > im->path_len && im->name)
        text = gp_arena_printf(c->arena, "%s%s%s", text, im->path_len ? "::" : "", im->name->name);
    return text;
}

/* The user's own modules hold no unknown parts, and neither do the built-in modules below a
** crate's root: what is missing there is a mistake. */
static bool is_lenient(GpCheck *c, const GpImport *im, GpDef *holder, uint32_t depth) {
    GpSym first = im->path_len ? im->path[0] : im->name;
    if (strcmp(first->name, "crate") == 0 || strcmp(first->name, "self") == 0 ||
        strcmp(first->name, "super") == 0)
        return false;
    if (!holder)
        return depth == 0 || gp_find_crate(c, first) != NULL;
    return holder->is_std && !holder->parent;
}

static void report_import(GpCheck *c, const GpImport *im, GpDef *holder, uint32_t depth) {
    if (!holder) {
        GpDef *at = NULL;
        const char *where = "the crate root";
        for (uint32_t i = 0; i < depth; i++)
            at = i == 0 ? first_of_path(c, im, im->path[0]) : next_of_path(at, im->path[i]);
        if (at && at->name)
            where = gp_arena_printf(c->arena, "`%s`", at->name->name);
        GpDiag *d = gp_diag(c->diags, GpDiag_E0432, im->spans[depth], path_text(c, im, depth + 1));
        gp_primary_label(d, "could not find `%s` in %s", im->path[depth]->name, where);
        return;
    }
    if (im->is_glob)
        return;
    GpDiag *d = gp_diag(c->diags, GpDiag_E0432, im->span, path_text(c, im, im->path_len + 1));
    gp_primary_label(d, "no `%s` in %s", im->name->name,
                     holder->name
                         ? gp_arena_printf(c->arena, "`%s`", path_text(c, im, im->path_len))
                         : "the root");
}

static void report_twice(GpCheck *c, const GpImport *im, GpDiagCode code, const char *label) {
    GpDiag *d = gp_diag(c->diags, code, im->span, im->alias->name);
    gp_primary_label(d, "`%s` %s", im->alias->name, label);
    gp_help(d, "give it another name: `%s as other_%s`", im->name->name, im->alias->name);
}

/* Another import of the scope has brought the name already. */
static bool is_taken(GpCheck *c, const GpImport *im, GpDef *holder) {
    if (!holder || im->is_glob)
        return false;
    struct GpImports *in = get_imports(c, im->scope);
    return (find_in_module(holder, im->name, GpNs_Type, 0) && gp_map_has(&in->types, im->alias)) ||
           (find_in_module(holder, im->name, GpNs_Value, 0) && gp_map_has(&in->values, im->alias));
}

/* An item of the scope has the name of what is imported: E0255. */
static void check_clash(GpCheck *c, const GpImport *im) {
    const struct GpImports *in = im->scope->imports;
    for (GpNamespace ns = GpNs_Type; !im->is_glob && ns <= GpNs_Value; ns++) {
        const GpDef *own = gp_map_get(gp_def_map(im->scope, ns), im->alias);
        const GpDef *brought = gp_map_get(ns == GpNs_Type ? &in->types : &in->values, im->alias);
        if (!own || !brought || own == brought)
            continue;
        report_twice(c, im, GpDiag_E0255, "is an item of this scope too");
        return;
    }
}

static void settle_import(GpCollect *k, GpImport *im) {
    uint32_t depth;
    GpDef *holder = find_holder(k->c, im, &depth);
    struct GpImports *in = get_imports(k->c, im->scope);
    im->is_reported = !is_lenient(k->c, im, holder, depth);
    if (is_taken(k->c, im, holder))
        report_twice(k->c, im, GpDiag_E0252, "reimported here");
    else if (im->is_reported)
        report_import(k->c, im, holder, depth);
    if (im->is_glob) {
        GP_PUSH(k->c->arena, &in->unknown_globs, im);
        return;
    }
    GpImport *last = gp_map_get(&in->unknown, im->alias);
    while (last && last->same)
        last = last->same;
    if (last)
        last->same = im;
    else
        gp_map_set(k->c->arena, &in->unknown, im->alias, im);
}

void gp_resolve_uses(GpCollect *k) {
    bool progress = true, is_back = false;
    /* Both ways in turn, since imports of imports may stand in either order. */
    for (; progress; is_back = !is_back) {
        progress = false;
        for (uint32_t i = 0; i < k->imports.len; i++)
            progress |= resolve_import(k->c, &k->imports.at[is_back ? k->imports.len - 1 - i : i]);
    }
    for (uint32_t i = 0; i < k->imports.len; i++) {
        if (!k->imports.at[i].is_done)
            settle_import(k, &k->imports.at[i]);
        else if (!k->is_std)
            check_clash(k->c, &k->imports.at[i]);
    }
}

/* A glob of an unknown crate around the scope: it may have held the name that is missing. */
void gp_note_unknown_globs(GpCheck *c, GpDef *scope, GpDiag *d) {
    for (GpDef *at = scope; at; at = at->parent) {
        for (uint32_t i = 0; at->imports && i < at->imports->unknown_globs.len; i++) {
            const GpImport *im = at->imports->unknown_globs.at[i];
            gp_note_at(d, im->span,
                       "`%s` is no crate that kernels can use, so this brings no names",
                       path_text(c, im, im->path_len));
        }
        if (at->kind == GpDef_Module)
            return;
    }
}

/* ---- unknown crates ------------------------------------------------------------------------- */

/* The import of an unknown crate that would define the name; NULL when none does. */
static const GpImport *find_unknown_import(GpDef *scope, GpSym name) {
    for (GpDef *at = scope; at; at = at->parent) {
        const GpImport *im = at->imports ? gp_map_get(&at->imports->unknown, name) : NULL;
        if (im)
            return im;
        if (at->kind == GpDef_Module)
            break;
    }
    return NULL;
}

static bool report_import_use(GpCheck *c, const GpImport *im, GpSym name, GpSpan use) {
    GpSym first = im->path_len ? im->path[0] : im->name;
    GpDiag *d = gp_diag(c->diags, GpDiag_E0432, im->span, path_text(c, im, im->path_len + 1));
    if (gp_find_crate(c, first))
        gp_primary_label(d, "not in the part of `%s` that kernels can use", first->name);
    else
        gp_primary_label(d, "use of unresolved module or unlinked crate `%s`", first->name);
    gp_label(d, use, "`%s` is used here", name->name);
    return true;
}

typedef enum PeerKind { PeerKind_Item, PeerKind_Module } PeerKind;
static const struct Peer {
    const char *module, *name;
    PeerKind kind;
    const char *instead;
} peers[] = {
#define GP_PEER(module, name, kind, instead) {module, name, PeerKind_##kind, instead},
#include "dsl/peer.def"
};

bool gp_report_peer_name(GpCheck *c, GpSym name, GpSpan use) {
    const char *rest = use.src ? use.src->text + use.off + use.len : "";
    for (size_t i = 0; i < GP_COUNT(peers); i++) {
        bool is_meant = peers[i].kind == PeerKind_Item || strncmp(rest, "::", 2) == 0;
        if (!is_meant || strcmp(peers[i].name, name->name) != 0)
            continue;
        GpDiag *d = gp_diag(c->diags, GpDiag_G0211, use, name->name, peers[i].module);
        gp_primary_label(d, peers[i].instead[0] ? "not supported" : "not supported yet");
        if (peers[i].instead[0])
            gp_help(d, "%s", peers[i].instead);
        return true;
    }
    return false;
}

bool gp_report_unknown_import(GpCheck *c, GpDef *scope, GpSym name, GpSpan use) {
    const GpImport *im = find_unknown_import(scope, name);
    if (!im)
        return gp_report_peer_name(c, name, use);
    for (; im; im = im->same) {
        bool is_of_crate = im->name == name && im->path_len && gp_find_crate(c, im->path[0]);
        if (!im->is_reported && !(is_of_crate && gp_report_peer_name(c, name, use)))
            report_import_use(c, im, name, use);
    }
    return true;
}
