/* Inside the checker of calls (check_call.c, check_method.c, check_args.c). Not for other files. */
#ifndef GP_CHECK_CALL_H
#define GP_CHECK_CALL_H

#include "dsl/check_body.h"

typedef struct GpCallee {
    const GpDef *def;              /* NULL: a value */
    const GpType *const *params;   /* with generics replaced; without self */
    const GpType *const *declared; /* as declared; NULL for values */
    uint32_t count;
    const GpGArg *args; /* for def's generics */
    uint32_t arg_count;
    GpNode *receiver; /* NULL: no method */
    uint32_t bounds;  /* functions: where their bounds are pending */
    const char *noun; /* "function", "method", "struct", "enum variant", "closure" */
    GpSpan span;      /* of the name, for labels */
} GpCallee;

/* Checks the arguments of `call`, and reports how many there should be. */
void gp_check_args(GpBody *b, const GpCallee *c, GpNode *call, GpNodeList args);
/* Types the arguments of a call that means nothing. */
void gp_forget_args(GpBody *b, GpNodeList args);
/* Lets the type that is wanted of a call decide its generics. */
void gp_guide_by_result(GpBody *b, const GpType *ret, const GpType *hint);
/* The Fn bound of a parameter's declared type, or NULL. */
const GpType *gp_fn_bound(const GpType *declared);

#endif
