/* Shared by ir_verify.c and the files of ir_verify_sig.h. */
#ifndef GP_IR_VERIFY_H
#define GP_IR_VERIFY_H

#include "dsl/ir/ir_text.h"

enum { GP_MAX_TILE = 1 << 20 };

typedef struct GpVerifier {
    const GpIrFn *fn;
    GpText *why;
    const GpValue **visible; /* by id: the value, while it dominates what is looked at */
    bool *is_known;          /* by id: seen before, so a second value with it is wrong */
    bool failed;
} GpVerifier;

/* Writes the reason; returns false. */
GP_PRINTF(3, 4) bool gp_ir_refuse(GpVerifier *v, const GpInst *inst, const char *fmt, ...);
/* Operands, results and regions against the signature of the operation. */
bool gp_ir_check_sig(GpVerifier *v, const GpInst *inst);

#endif
