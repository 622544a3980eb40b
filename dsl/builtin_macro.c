/* The table of the macros that kernels may call. */
#include "dsl/check.h"

static const struct {
    const char *name;
    GpMacroKind kind;
} rows[] = {
#define GP_MACRO(name, kind, doc) {#name, GpMacro_##kind},
#include "dsl/builtin_macro.def"
};

bool gp_macro_kind(const char *name, GpMacroKind *out) {
    for (size_t i = 0; i < GP_COUNT(rows); i++) {
        if (strcmp(rows[i].name, name) != 0)
            continue;
        *out = rows[i].kind;
        return true;
    }
    return false;
}

static const char *find_similar(const char *name) {
    uint32_t least = (uint32_t)GP_MAX(strlen(name) / 3, (size_t)1);
    const char *found = NULL;
    for (size_t i = 0; i < GP_COUNT(rows); i++) {
        uint32_t distance = gp_str_distance(gp_str_from(name), gp_str_from(rows[i].name));
        if (distance > least || (found && distance == least))
            continue;
        least = distance;
        found = rows[i].name;
    }
    return found;
}

void gp_report_macro(GpCheck *c, GpNode *call) {
    if (call->kind != GpNode_Macro)
        return;
    GpAstPath *path = GP_AS(Path, GP_AS(Macro, call)->path);
    GpAstSegment *last = GP_AS(Segment, path->segments.at[path->segments.len - 1]);
    GpDiag *d = gp_diag(c->diags, GpDiag_G0223, path->node.span, last->name->name);
    const char *similar = find_similar(last->name->name);
    gp_primary_label(d, "not a macro that kernels know");
    if (similar)
        gp_suggest(d, path->node.span, similar, "a macro with a similar name exists");
}
