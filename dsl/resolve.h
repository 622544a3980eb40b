/* Between the parts of the resolver (resolve_*.c, attr.c, std.c).
**
** Reading order: resolve_collect.c (items to defs), resolve_use.c (imports), resolve_sig.c
** (generics, bounds, impls, fields, signatures), resolve_path.c, resolve_type.c, resolve_const.c.
** A crate is collected in passes, each over all its defs: a later pass may use whatever an
** earlier one filled, of any def, in any order of declaration. */
#ifndef GP_RESOLVE_H
#define GP_RESOLVE_H

#include "dsl/generic.h"

typedef GP_VEC(GpDef *) GpDefVec;

/* One name or glob of a use tree. */
typedef struct GpImport {
    GpDef *scope;      /* module or fn that holds the `use` */
    const GpSym *path; /* without the last name of a named import */
    const GpSpan *spans;
    uint32_t path_len;
    bool is_global; /* ::path */
    bool is_glob;
    bool is_pub;
    GpSym name, alias; /* named: what is imported, and as what */
    GpSpan span;       /* of the last name, or of the glob */
    bool is_done;
    bool is_reported; /* names from it were reported once, at the `use` */
    struct GpImport *same; /* the next unknown import of the alias in the scope */
} GpImport;

/* What `use` brought into a scope. */
struct GpImports {
    GpMap types, values, macros;
    GpDefVec globs;
    GpMap unknown; /* alias -> the first GpImport of a crate or part of one that is not built in */
    GP_VEC(const GpImport *) unknown_globs;
};

typedef struct GpCollect {
    GpCheck *c;
    bool is_std;
    uint32_t *next_id;
    GpDefVec defs; /* every def that has a node, in source order */
    GpDefVec fns, kernels, impls, consts;
    GP_VEC(GpImport) imports;
} GpCollect;

/* resolve_collect.c */
GpDef *gp_collect_def(GpCollect *k, GpDefKind kind, GpSym name, GpSpan span, GpNode *node,
                      GpDef *parent);
void gp_collect_items(GpCollect *k, GpDef *parent, GpNodeList items);
void gp_collect_passes(GpCollect *k); /* everything after the defs exist */
GpMap *gp_def_map(GpDef *def, GpNamespace ns);
const char *gp_def_kind_name(const GpDef *def); /* "struct", "function" .. */
const char *gp_def_article(const GpDef *def);   /* "a", "an" */

/* resolve_use.c */
void gp_collect_use(GpCollect *k, GpDef *scope, GpAstUse *use);
void gp_resolve_uses(GpCollect *k);
/* A name in a module as others see it: its items, imports and globs. */
GpDef *gp_find_in_module(GpCheck *c, GpDef *module, GpSym name, GpNamespace ns);
GpDef *gp_find_crate(GpCheck *c, GpSym name);
GpDef *gp_module_of(GpDef *scope); /* the nearest module around, itself included */
GpDef *gp_crate_of(GpDef *def);    /* the root module */
/* Whether def may be named from scope: it is `pub`, or scope is in its module. */
bool gp_is_visible(const GpDef *def, GpDef *scope);
bool gp_is_field_visible(const GpDef *def, uint32_t field, GpDef *scope);
void gp_report_private(GpCheck *c, const GpDef *def, GpSpan use); /* E0603, E0624 */
void gp_note_unknown_globs(GpCheck *c, GpDef *scope, GpDiag *d);
/* Why a name that was not found is missing, where that is known: its import is of an unknown
** crate (E0432), or a peer has it and it is not there yet (G0211). False: not reported. */
bool gp_report_unknown_import(GpCheck *c, GpDef *scope, GpSym name, GpSpan use);
bool gp_report_peer_name(GpCheck *c, GpSym name, GpSpan use);

/* resolve_path.c */
typedef struct GpTarget {
    GpDef *def;         /* NULL: a type without one, `type` */
    const GpGArg *args; /* for def->generics */
    uint32_t arg_count;
    const GpType *type; /* when the path names a type */
} GpTarget;
/* `fill`: left-out generic arguments become variables. Reports. */
bool gp_resolve_target(GpCheck *c, GpDef *scope, GpAstPath *path, GpNamespace ns, bool fill,
                       GpTarget *out);
/* Looks a lone name up without reporting; NULL when the path is none or unknown. */
GpDef *gp_find_path_quietly(GpCheck *c, GpDef *scope, GpNode *path, GpNamespace ns);
const GpType *gp_find_primitive(GpCheck *c, GpSym name); /* NULL when it is none */
GpDef *gp_resolve_trait(GpCheck *c, GpDef *scope,
                        GpAstPath *path); /* E0405, E0404; NULL after it */

/* resolve_similar.c: as gp_find_similar, of what a module declares, imports or re-exports */
GpSym gp_find_similar_in(GpDef *module, GpSym name, GpNamespace ns);
/* The same, in a list. */
GpSym gp_find_nearest(GpSym name, const GpSym *names, uint32_t count);

/* resolve_args.c: generic arguments of a path segment, E0107, E0747. The first ones come from
** where the path went before: an impl's, a trait's Self. */
typedef struct GpOwnerArgs {
    const GpGArg *at; /* NULL: errors that were reported */
    uint32_t count;
} GpOwnerArgs;
#define GP_NO_OWNER ((GpOwnerArgs){NULL, 0})
const GpGArg *gp_resolve_args(GpCheck *c, GpDef *scope, GpDef *def, GpOwnerArgs owner,
                              GpAstSegment *seg, bool fill);
GpGArg gp_garg_error(GpCheck *c, const GpDef *generic);

/* resolve_type.c */
const GpType *gp_alias_type(GpCheck *c, GpDef *alias);     /* resolves it on demand */
GpGArg gp_garg_of_param(GpCheck *c, const GpDef *generic); /* the generic itself as an argument */
const GpType *gp_self_type(GpCheck *c, GpDef *scope);      /* what Self is; NULL outside of impls */

/* resolve_const.c */
bool gp_parse_int(GpSym text, uint64_t *out);

/* resolve_sig.c */
void gp_resolve_generics(GpCollect *k, GpDef *def);
void gp_resolve_const_types(GpCollect *k, GpDef *def);
void gp_resolve_bounds(GpCollect *k, GpDef *def);
void gp_resolve_impl(GpCollect *k, GpDef *def);
void gp_resolve_fields(GpCollect *k, GpDef *def);
void gp_resolve_sig(GpCollect *k, GpDef *def);
GpNodeList gp_node_attrs(GpNode *item);
GpNodeList gp_node_generics(GpNode *item);

/* resolve_impl.c */
void gp_check_impl_items(GpCollect *k, GpDef *def);

/* resolve_decl.c, resolve_life.c: what a declaration shows to be wrong by itself */
void gp_check_decl(GpCollect *k, GpDef *def);
void gp_check_lifetimes(GpCollect *k, GpDef *def);

/* attr.c: reads attributes into the def */
void gp_read_attrs(GpCollect *k, GpDef *def, GpNodeList attrs);
/* An attribute of a parameter, field, statement or expression: only those without a meaning may
** stand there. True for #[optional] in the built-in crates. */
bool gp_check_part_attr(GpCollect *k, GpNode *attr);

/* surface.c: declarations that follow from op.def and elem.def */
void gp_surface_print(GpText *tile, GpText *core);

/* resolve_similar.c: edits between two names, a swap of neighbours counting as one. */
uint32_t gp_name_distance(GpSym a, GpSym b);
/* Names of one letter are near each other and have nothing in common, unless it is the same one. */
bool gp_names_share(GpSym a, GpSym b, uint32_t distance);

#endif
