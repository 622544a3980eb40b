/* How exact values have to be for what becomes of them, and shorter forms of functions for what is rounded. */
#ifndef GP_IR_ROUNDED_H
#define GP_IR_ROUNDED_H

#include "dsl/ir/ir.h"

/* A float that has 11 bits or fewer. */
bool gp_ir_is_narrow(GpElem elem);

/* What becomes of a value in the end. */
typedef enum GpExactness {
    GpExact_8,   /* it is rounded to 8 bits or fewer (bf16, f8, ..) */
    GpExact_11,  /* it is rounded to 11 bits (f16, tf32), or added up by reductions */
    GpExact_All,
} GpExactness;

/* A GpExactness for each value, by id. On the way values may be multiplied, divided, chosen from and added, and
** loops and branches may hand them on: that keeps errors relative to the sum of what is added. */
uint8_t *gp_ir_find_exactness(const GpIrFn *fn);

/* Of f32:
**   tanh_rounded    within 2^-14 of the value, relative to it
**   tanh_near       c * tanh(x), within c * 2^-21
**   one_plus_tanh   1 + tanh(x), or 1 - tanh(x), within 2^-16 of the value, relative to it; 0 below 2^-125 */
GpValue *gp_build_tanh_rounded(GpBuilder *b, GpValue *x);
GpValue *gp_build_tanh_near(GpBuilder *b, GpValue *x, double c);
GpValue *gp_build_one_plus_tanh(GpBuilder *b, GpValue *x, bool is_less);

/* One value is the same in each element, or in each of a row. */
bool gp_ir_repeats(const GpValue *c);
/* The quotient by such a value as a product with the inverse. */
GpValue *gp_build_by_inverse(GpBuilder *b, const GpInst *quotient);

/* Same number: the value itself, or constants. */
bool gp_ir_is_same(const GpValue *x, const GpValue *y);

#endif
