/* Places in words, as rustc writes them: `a.b`, `*p`, `v[_]`; a reference that a field or index
** goes through is not written. */
#include "dsl/place.h"

static const char *field_name(GpForm *f, const GpPlace *p) {
    const GpPlace *base = p->parent;
    const GpDef *def = base->variant                  ? base->variant
                       : base->type->kind == GpTy_Adt ? base->type->def
                                                      : NULL;
    if (def && p->index < def->field_count && def->field_names && def->field_names[p->index])
        return def->field_names[p->index]->name;
    return gp_arena_printf(f->c->arena, "%u", p->index);
}

/* NULL: a part of it has no name. */
static const char *write(GpForm *f, const GpPlace *p, bool is_base) {
    if (!p->parent) {
        const GpLocal *l = f->slots.at[p->local].local;
        return l && l->name ? l->name->name : NULL;
    }
    bool is_field = p->proj != GpProj_Deref;
    const char *base = write(f, p->parent, is_field);
    if (!base)
        return NULL;
    switch (p->proj) {
    case GpProj_Root:
        gp_unreachable();
    case GpProj_Deref:
        return is_base ? base : gp_arena_printf(f->c->arena, "*%s", base);
    case GpProj_Field:
        if (p->parent->type->kind == GpTy_Array)
            return gp_arena_printf(f->c->arena, "%s[..]", base);
        return gp_arena_printf(f->c->arena, "%s.%s", base, field_name(f, p));
    case GpProj_Index:
        return gp_arena_printf(f->c->arena, "%s[_]", base);
    case GpProj_Variant:
        return NULL;
    }
    gp_unreachable();
}

const char *gp_place_name(GpForm *f, const GpPlace *p) { return write(f, p, false); }

const char *gp_place_quoted(GpForm *f, const GpPlace *p) {
    const char *name = gp_place_name(f, p);
    return name ? gp_arena_printf(f->c->arena, "`%s`", name) : "value";
}
