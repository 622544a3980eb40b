/* Random numbers on the host: those that library/random.rs computes on a GPU. */
#ifndef GP_RANDOM_H
#define GP_RANDOM_H

#include <stdbool.h>
#include <stdint.h>

/* The four values of counter `block`: uniform in [0, 1) with 24 bits, or normal. */
void gp_random_block(bool is_normal, uint64_t seed, uint64_t stream, uint64_t block, double out[4]);

#endif
