/* Element types, scalar values of any element type, and shapes. */
#ifndef GP_ELEM_H
#define GP_ELEM_H

#include "core/str.h"

typedef enum GpElem {
#define GP_ELEM(id, spelling, bits, class, ctype, npy) GpElem_##id,
#include "core/elem.def"
    GpElem_count
} GpElem;

typedef enum GpElemClass {
    GpClass_Float, GpClass_Code, GpClass_Int, GpClass_Uint, GpClass_Bool
} GpElemClass;

typedef struct GpElemInfo {
    const char *name;
    uint8_t bits, bytes;
    GpElemClass cls;
    const char *npy;
} GpElemInfo;
extern const GpElemInfo gp_elem_info[GpElem_count];
bool gp_elem_find(GpStr name, GpElem *out);
/* Their names, "f64, f32, ..". */
void gp_elem_print_all(GpText *out);

/* Whether values are held in `f` of a GpScalar; those of class Code have no arithmetic. */
static inline bool gp_elem_is_float(GpElem e) { return gp_elem_info[e].cls <= GpClass_Code; }
static inline bool gp_elem_is_signed(GpElem e) { return gp_elem_info[e].cls == GpClass_Int; }
/* i4..u64, not bool */
static inline bool gp_elem_is_integer(GpElem e) {
    return gp_elem_info[e].cls == GpClass_Int || gp_elem_info[e].cls == GpClass_Uint;
}

/* One value of an element type. Integers and bool are sign- or zero-extended in `i`/`u`;
** floats of every width are held as the double of the same value in `f`. */
typedef struct GpScalar {
    GpElem elem;
    union {
        int64_t i;
        uint64_t u;
        double f;
    };
} GpScalar;

/* Reads and writes the storage form (little-endian, gp_elem_info[].bytes bytes). Writing
** rounds to nearest even; integers must already be in range. */
GpScalar gp_scalar_load(GpElem elem, const void *from);
/* What gp_scalar_store writes, in the low bytes. */
uint64_t gp_scalar_bits(GpScalar v);
void gp_scalar_store(GpScalar v, void *to);
/* Rust's `as`: float to int saturates (NaN is 0), int to int wraps, to float rounds to nearest. */
GpScalar gp_scalar_cast(GpScalar v, GpElem to);
/* The value rounded to what `elem` can hold (floats); integers wrap to its width. */
GpScalar gp_scalar_wrap(GpScalar v);
/* Exact: 300 into u8, 0.1 into f32 of a double that f32 cannot hold, 1.5 into i32 are false.
** A Lua float converts to a float type by rounding to nearest and is never refused for that;
** it is refused only when finite and out of range. */
bool gp_scalar_from_double(double v, GpElem to, GpScalar *out);
bool gp_scalar_from_int(int64_t v, GpElem to, GpScalar *out);
/* Round-trips: "1", "-0.5", "inf", "nan", "true". */
void gp_scalar_print(GpScalar v, GpText *out);

float gp_f32_from_f16(uint16_t bits);
uint16_t gp_f16_from_f64(double v);
float gp_f32_from_bf16(uint16_t bits);
uint16_t gp_bf16_from_f64(double v);
float gp_f32_from_f8e4m3(uint8_t bits);
uint8_t gp_f8e4m3_from_f32(float v); /* saturates to 448, NaN stays NaN */
uint8_t gp_f8e4m3_from_f64(double v);
float gp_f32_from_f8e5m2(uint8_t bits);
uint8_t gp_f8e5m2_from_f64(double v); /* overflows to infinity */
/* A power of two from 2^-127 to 2^127, to which it saturates; negative numbers become NaN. */
float gp_f32_from_f8e8m0(uint8_t bits);
uint8_t gp_f8e8m0_from_f64(double v);
float gp_f32_from_f8e5m3(uint8_t bits);
uint8_t gp_f8e5m3_from_f64(double v); /* saturates to 114688; negative numbers become NaN */
float gp_f32_from_f4e2m1(uint8_t bits);
uint8_t gp_f4e2m1_from_f64(double v); /* saturates to 6, also NaN */
float gp_tf32_from_f64(double v); /* nearest even on 10 mantissa bits */

/* Shapes. Rank 0 is a scalar. In types -1 is an extent known only at launch. */
#define GP_MAX_RANK 6
#define GP_DYNAMIC (-1)
typedef struct GpShape {
    int64_t dim[GP_MAX_RANK];
    uint8_t rank;
} GpShape;
bool gp_shape_eq(const GpShape *a, const GpShape *b);
/* Product of extents; false on overflow of int64 or a negative extent. */
bool gp_shape_numel(const GpShape *s, int64_t *out);
/* "[128, 64]" */
void gp_shape_print(const GpShape *s, GpText *out);

#endif
