/* What every elementwise operation means for one element: the only place that says so. Constant
** folding and the interpreter use it, and the backends are tested against it.
**
** Integers wrap to their width. f64 is computed in double and f32 in float; narrower floats are
** computed in float and rounded to nearest even after every operation. Of the two zeros -0 is
** the lesser for min and max. Transcendentals come from libm in double, rounded once. */
#ifndef GP_IR_EVAL_H
#define GP_IR_EVAL_H

#include "dsl/ir/ir.h"

/* Operands of an elementwise operation. */
uint32_t gp_eval_arity(GpSig sig);

/* The value of an elementwise operation (gp_sig_info[].elementwise) on args, of element type
** `elem`; `pred` only for cmp. False when it has none: division or remainder of integers by
** zero. *out is then zero. */
bool gp_eval(GpOp op, GpPred pred, GpElem elem, const GpScalar *args, GpScalar *out);

#endif
