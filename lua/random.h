/* Random numbers on the host: those that library/random.rs computes on a GPU. */
#ifndef GP_RANDOM_H
#define GP_RANDOM_H

#include "core/elem.h"

typedef struct GpRandom {
    uint64_t seed, stream;
    bool is_normal;
} GpRandom;
/* The first `count` numbers in the storage form of the element type, a float. */
void gp_random_fill(const GpRandom *r, GpElem elem, int64_t count, uint8_t *out);

#endif
