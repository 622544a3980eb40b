/* The numbers of library/random.rs, bit for bit: sums of products are fused there and here, and
** every other operation is rounded by itself. */
#include "lua/random.h"

#include <math.h>

#include "lua/philox.h"

/* Which every value of f32 in that grid holds exactly. */
static double uniform(uint32_t word) { return (double)(word >> 8) * 0x1p-24; }

static double horner(const double *c, int count, double t) {
    double p = c[0];
    for (int i = 1; i < count; i++) p = fma(p, t, c[i]);
    return p;
}

/* Of 2^e * m, sqrt(1/2) <= m < sqrt(2): e * ln 2 + 2 * artanh((m - 1) / (m + 1)). */
static double ln(double u) {
    static const double c[] = {2.0 / 21, 2.0 / 19, 2.0 / 17, 2.0 / 15, 2.0 / 13, 2.0 / 11,
                               2.0 / 9,  2.0 / 7,  2.0 / 5,  2.0 / 3,  2.0};
    int e;
    double m = frexp(u, &e);
    if (m < 0.7071067811865476) {
        m = m + m;
        e--;
    }
    double s = (m - 1) / (m + 1), t = s * s;
    double p = s * horner(c, 11, t);
    return fma(e, 0.6931471805599453, p);
}

/* Cosine and sine of v turns. */
static void turn(double v, double *cosine, double *sine) {
    static const double sines[] = {-1.0 / 1307674368000, 1.0 / 6227020800, -1.0 / 39916800,
                                   1.0 / 362880, -1.0 / 5040, 1.0 / 120, -1.0 / 6, 1.0};
    static const double cosines[] = {1.0 / 20922789888000, -1.0 / 87178291200, 1.0 / 479001600,
                                     -1.0 / 3628800, 1.0 / 40320, -1.0 / 720, 1.0 / 24, -0.5, 1.0};
    double k = floor(fma(v, 4, 0.5)), quarter = fma(v, 4, -k);
    double r = quarter * 1.5707963267948966, t = r * r;
    double s = horner(sines, 8, t) * r, c = horner(cosines, 9, t);
    int quadrant = (int)k;
    double x = quadrant & 1 ? s : c, y = quadrant & 1 ? c : s;
    *cosine = (quadrant + 1) & 2 ? -x : x;
    *sine = quadrant & 2 ? -y : y;
}

/* Box and Muller: two normal values from two words. */
static void normal_pair(const uint32_t words[2], double out[2]) {
    double u = ((double)words[0] + 1) * 0x1p-32;
    double radius = sqrt(ln(u) * -2), cosine, sine;
    turn((double)words[1] * 0x1p-32, &cosine, &sine);
    out[0] = radius * cosine;
    out[1] = radius * sine;
}

/* The four values of counter `block`: uniform in [0, 1) with 24 bits, or normal. */
static void random_block(bool is_normal, uint64_t seed, uint64_t stream, uint64_t block, double out[4]) {
    uint32_t words[4];
    gp_philox(seed, stream, block, words);
    if (is_normal) {
        normal_pair(words, out);
        normal_pair(words + 2, out + 2);
    } else {
        for (int i = 0; i < 4; i++) out[i] = uniform(words[i]);
    }
}

void gp_random_fill(const GpRandom *r, GpElem elem, int64_t count, uint8_t *out) {
    for (int64_t i = 0; i < count; i += 4) {
        double values[4];
        random_block(r->is_normal, r->seed, r->stream, (uint64_t)i / 4, values);
        for (int64_t k = 0; k < GP_MIN(4, count - i); k++)
            gp_scalar_store((GpScalar){.elem = elem, .f = values[k]}, out + (size_t)(i + k) * gp_elem_info[elem].bytes);
    }
}
