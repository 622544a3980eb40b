/* Inside launch binding (bind*.c): the state of one call. Not for other files.
**
** Reading order: bind.c (driver, facts, key), bind_generic.c (generics by name and by inference),
** bind_arg.c (an argument against its parameter), bind_grid.c (block and grid), bind_fact.c
** (preconditions). */
#ifndef GP_BIND_H
#define GP_BIND_H

#include "dsl/check.h"

/* Where a generic's value came from: its parameter's index, or: */
enum { GP_BOUND_NOT = -1, GP_BOUND_BY_NAME = -2, GP_BOUND_PRESET = -3 };

typedef struct GpBinder {
    GpModule *module;
    GpTypes *types;
    GpArena *arena;
    GpDiags *diags;
    const GpBindRequest *request;
    const GpDef *kernel;
    GpInstance *inst;
    int32_t *origin; /* per generic */
    uint32_t arg;    /* being matched */
    bool is_assumed; /* there is no call, so no arguments either */
    bool has_failed;
} GpBinder;

/* ---- bind.c */
/* A refusal of the whole call; the kernel is noted. */
GpDiag *gp_bind_refuse(GpBinder *b, GpDiagCode code, const char *first, const char *second);
/* E0308 on argument b->arg: label and a note at the parameter. */
GP_PRINTF(2, 3) GpDiag *gp_bind_mismatch(GpBinder *b, const char *fmt, ...);
const char *gp_bind_param_name(const GpBinder *b, uint32_t arg);
GpSpan gp_bind_param_span(const GpBinder *b, uint32_t arg);
/* The attribute of that name on the kernel, else what makes it a kernel. */
GpSpan gp_bind_attr_span(const GpBinder *b, const char *name);
const char *gp_bind_kernel_name(const GpBinder *b);
/* The parameter's type under what is bound so far. */
const GpType *gp_bind_type(GpBinder *b, uint32_t arg);
GP_PRINTF(2, 3) const char *gp_bind_text(GpBinder *b, const char *fmt, ...);
const char *gp_bind_shape(GpBinder *b, const GpShape *s);

/* ---- bind_generic.c */
void gp_bind_named(GpBinder *b, const GpNamedArg *named, uint32_t count);
/* Nothing decided it yet. */
bool gp_bind_is_open(const GpBinder *b, const GpDef *generic);
/* Makes a generic what the current argument says; false after a report. */
bool gp_bind_set_elem(GpBinder *b, const GpDef *generic, GpElem elem);
bool gp_bind_set_int(GpBinder *b, const GpDef *generic, int64_t value);
bool gp_bind_set_shape(GpBinder *b, const GpDef *generic, const GpShape *shape);
void gp_bind_presets(GpBinder *b);
void gp_bind_missing(
    GpBinder *b); /* G0325 for each generic that nothing decides, G0328 for bounds */

/* ---- bind_arg.c */
/* Matches argument i; binds generics; scalars of a generic type wait for the second round. */
void gp_bind_arg(GpBinder *b, uint32_t i, bool is_second);
/* What a parameter takes, for assumed instances too. */
typedef enum GpParamForm {
    GpParamForm_Tensor,
    GpParamForm_TensorMut,
    GpParamForm_Mapped,
    GpParamForm_Slice,
    GpParamForm_SliceMut,
    GpParamForm_Disjoint,
    GpParamForm_Pointer,
    GpParamForm_Scalar,
    GpParamForm_Other
} GpParamForm;
GpParamForm gp_bind_form(const GpType *t);
const GpType *gp_bind_elem_type(const GpType *t, GpParamForm form);
bool gp_bind_elem(const GpType *t, GpElem *out);

/* ---- bind_fact.c */
void gp_bind_preconditions(GpBinder *b);

/* ---- bind_grid.c */
void gp_bind_block(GpBinder *b, const uint32_t given[3]);
void gp_bind_grid(GpBinder *b);

#endif
