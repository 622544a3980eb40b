/* How exact values have to be for what becomes of them, and shorter forms of functions for what is rounded. */
#ifndef GP_IR_ROUNDED_H
#define GP_IR_ROUNDED_H

#include "dsl/ir/ir.h"

/* What a value's users demand of it, a set. Nothing: in the end it is rounded to 8 bits or fewer (bf16, f8, ..). On the way it
** may be multiplied, divided and chosen from, and powers added to constants, which keeps relative errors. */
enum {
    GP_DEMAND_ALL = 1,
    GP_DEMAND_11 = 2,       /* it is rounded to 11 bits (f16, tf32) */
    GP_DEMAND_TERM = 4,     /* a reduction adds it up */
    GP_DEMAND_ADDED = 8,    /* to others: errors are relative to the sum */
    GP_DEMAND_HANDED = 16,  /* loops and branches hand it on */
    GP_DEMAND_ARGUMENT = 32 /* of a short tanh */
};
/* By id; `uses` is of gp_ir_count_uses. */
uint8_t *gp_ir_find_demands(const GpIrFn *fn, const uint32_t *uses);

/* It is rounded itself: neither added to others nor handed on before. */
static inline bool gp_ir_is_rounded(uint8_t demands) { return !(demands & ~GP_DEMAND_11); }

/* How exact a value has to be where errors may be relative to the sum of all that is added. */
typedef enum GpExactness { GpExact_8, GpExact_11, GpExact_All } GpExactness;
static inline GpExactness gp_ir_exactness(uint8_t demands) {
    bool is_all = demands & (GP_DEMAND_ALL | GP_DEMAND_ARGUMENT);
    return is_all ? GpExact_All : demands & GP_DEMAND_11 ? GpExact_11 : GpExact_8;
}

/* The sum of a power, of e or 2, and a number from `least` to 2^60. */
bool gp_ir_is_power_and(const GpValue *v, double least);
/* Of such a sum with 1 or more, in which a power is as exact as the logarithm has to be: log(c + p) is at least p / (c + p). */
bool gp_ir_is_log_of_power(const GpInst *inst);
/* The operand of a sum, difference or fma that is tanh in a +- a * tanh(x), and used there only; operand_count: none. */
uint32_t gp_ir_find_tanh(const GpInst *inst, const uint32_t *uses);

/* Of f32:
**   tanh_rounded    within 2^-14 of the value, relative to it
**   tanh_near       c * tanh(x), within c * 2^-21
**   log_rounded     the natural logarithm of a number that is 1 or more, within 2^-15 of it, relative to it
**   one_plus_tanh   1 + tanh(x), or 1 - tanh(x), within 2^-16 of the value, relative to it; 0 below 2^-125 */
GpValue *gp_build_tanh_rounded(GpBuilder *b, GpValue *x);
GpValue *gp_build_tanh_near(GpBuilder *b, GpValue *x, double c);
GpValue *gp_build_log_rounded(GpBuilder *b, GpValue *x);
GpValue *gp_build_one_plus_tanh(GpBuilder *b, GpValue *x, bool is_less);

/* One value is the same in each element, or in each of a row. */
bool gp_ir_repeats(const GpValue *c);
/* The quotient by such a value as a product with the inverse. */
GpValue *gp_build_by_inverse(GpBuilder *b, const GpInst *quotient);

/* Same number: the value itself, or constants. */
bool gp_ir_is_same(const GpValue *x, const GpValue *y);

#endif
