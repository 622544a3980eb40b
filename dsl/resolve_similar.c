/* "Did you mean": the nearest name in scope by edit distance, as rustc measures it: at most a
** third of the length. Ties go to the name that was declared first, so that messages do not
** depend on the order of a map. */
#include <strings.h>

#include "dsl/resolve.h"

uint32_t gp_name_distance(GpSym a, GpSym b) {
    return gp_str_distance((GpStr){a->name, a->len}, (GpStr){b->name, b->len});
}

bool gp_names_share(GpSym a, GpSym b, uint32_t distance) {
    return distance < GP_MAX(a->len, b->len) || strcasecmp(a->name, b->name) == 0;
}

typedef struct Best {
    GpSym sought, name;
    GpWanted wanted;
    const GpDef *excluded; /* an item is no help inside itself */
    uint32_t distance, id;
} Best;

static void consider(Best *best, GpSym name, uint32_t id) {
    if (!name || name == best->sought)
        return;
    uint32_t d = gp_name_distance(best->sought, name);
    uint32_t longer = GP_MAX(best->sought->len, name->len), limit = GP_MAX(longer / 3, 1);
    if (d > limit || !gp_names_share(best->sought, name, d) || d > best->distance || (d == best->distance && id >= best->id))
        return;
    best->name = name;
    best->distance = d;
    best->id = id;
}

static bool is_type(GpDefKind kind) {
    return kind == GpDef_Struct || kind == GpDef_Union || kind == GpDef_Enum ||
           kind == GpDef_TypeAlias || kind == GpDef_TypeParam || kind == GpDef_AssocType;
}

static bool is_constant(GpDefKind kind) {
    return kind == GpDef_Const || kind == GpDef_ConstParam;
}

static void consider_def(Best *best, GpSym name, const GpDef *def) {
    if (def != best->excluded && (best->wanted != GpWanted_Constant || is_constant(def->kind)) &&
        (best->wanted != GpWanted_Type || is_type(def->kind)) &&
        (best->wanted != GpWanted_Trait || def->kind == GpDef_Trait))
        consider(best, name, def->id);
}

static void consider_map(Best *best, const GpMap *map) {
    for (uint32_t i = 0; i < map->cap; i++) {
        if (map->slots[i].key && map->slots[i].value)
            consider_def(best, map->slots[i].key, map->slots[i].value);
    }
}

static void consider_module(Best *best, GpDef *module, GpNamespace ns, uint32_t depth) {
    struct GpImports *in = module->imports;
    consider_map(best, gp_def_map(module, ns));
    if (!in || depth > 8)
        return;
    consider_map(best, ns == GpNs_Type ? &in->types : ns == GpNs_Value ? &in->values : &in->macros);
    for (uint32_t i = 0; i < in->globs.len; i++)
        consider_module(best, in->globs.at[i], ns, depth + 1);
}

GpSym gp_find_nearest(GpSym name, const GpSym *names, uint32_t count) {
    Best best = {name, NULL, GpWanted_Value, NULL, UINT32_MAX, UINT32_MAX};
    for (uint32_t i = 0; i < count; i++)
        consider(&best, names[i], i);
    return best.name;
}

GpSym gp_find_similar_in(GpDef *module, GpSym name, GpNamespace ns) {
    Best best = {name, NULL, ns == GpNs_Type ? GpWanted_Head : GpWanted_Value, NULL, UINT32_MAX, UINT32_MAX};
    consider_module(&best, module, ns, 0);
    return best.name;
}

GpSym gp_find_similar(GpCheck *c, GpDef *scope, GpSym name, GpWanted wanted) {
    Best best = {name, NULL, wanted, scope, UINT32_MAX, UINT32_MAX};
    GpNamespace ns = wanted == GpWanted_Value || wanted == GpWanted_Constant ? GpNs_Value : GpNs_Type;
    GpTrack track = gp_scope_track(scope);
    for (GpDef *at = scope; at; at = at->parent) {
        for (uint32_t i = 0; i < at->generic_count; i++) {
            if ((at->generics[i]->kind == GpDef_TypeParam) == (ns == GpNs_Type) &&
                !at->generics[i]->is_impl_trait)
                consider_def(&best, at->generics[i]->name, at->generics[i]);
        }
        if (at->kind == GpDef_Fn || at->kind == GpDef_Module)
            consider_module(&best, at, ns, 0);
        if (at->kind == GpDef_Module)
            break;
    }
    for (uint32_t i = 0; i < GP_COUNT(c->std->prelude); i++) {
        if (c->std->prelude[i] && (i == GpTrack_None || track == GpTrack_None || i == track))
            consider_module(&best, c->std->prelude[i], ns, 0);
    }
    for (int i = 0; i < GpElem_count && (wanted == GpWanted_Type || wanted == GpWanted_Head); i++)
        consider(&best, gp_intern_cstr(c->names, gp_elem_info[i].name), UINT32_MAX - 1);
    return best.name;
}

/* The first declared item of that name in the modules below that can be named from here; `*path` gets how it is called there. */
static const GpDef *find_below(GpCheck *c, GpDef *module, GpSym name, const char **path, uint32_t depth) {
    const GpMap *map = gp_def_map(module, GpNs_Type);
    const GpDef *found = NULL;
    for (uint32_t i = 0; i < map->cap && depth < 8; i++) {
        GpDef *inner = map->slots[i].key ? map->slots[i].value : NULL;
        if (!inner || inner->kind != GpDef_Module || inner->is_std || inner->parent != module ||
            (depth && !inner->is_pub))
            continue;
        const char *rest = name->name;
        const GpDef *def = gp_map_get(gp_def_map(inner, GpNs_Value), name);
        if (!def || !def->is_pub)
            def = find_below(c, inner, name, &rest, depth + 1);
        if (!def || (found && found->id < def->id))
            continue;
        found = def;
        *path = gp_arena_printf(c->arena, "%s::%s", inner->name->name, rest);
    }
    return found;
}

const char *gp_find_elsewhere(GpCheck *c, GpDef *scope, GpSym name) {
    const char *path = NULL;
    while (scope && scope->kind != GpDef_Module)
        scope = scope->parent;
    const GpDef *def = scope ? find_below(c, scope, name, &path, 0) : NULL;
    return def && def->kind == GpDef_Fn ? path : NULL;
}

/* ---- names of other languages ----------------------------------------------------------------- */

const char *gp_find_foreign(const char *name, GpForeignKind kind) {
    static const struct {
        const char *name;
        GpForeignKind kind;
        const char *here;
    } rows[] = {
#define GP_FOREIGN(name, kind, here) {#name, GpForeign_##kind, here},
#include "dsl/foreign.def"
    };
    for (size_t i = 0; i < GP_COUNT(rows); i++)
        if (rows[i].kind == kind && strcmp(rows[i].name, name) == 0)
            return rows[i].here;
    return NULL;
}

bool gp_help_foreign(GpDiag *d, GpSpan span, GpSym name) {
    const char *value = gp_find_foreign(name->name, GpForeign_Value);
    const char *word = gp_find_foreign(name->name, GpForeign_Word);
    if (value)
        gp_suggest(d, span, value, "it is called `%s` here", value);
    else if (word)
        gp_help(d, "%s", word);
    return value || word;
}
