/* Philox4x32-10: counter-based random numbers (Salmon, Moraes, Dror, Shaw, "Parallel random
** numbers: as easy as 1, 2, 3", SC'11). Value i of a stream depends on (seed, stream, i) alone. */
#ifndef GP_PHILOX_H
#define GP_PHILOX_H

#include <stdint.h>

static inline void gp_philox_round(uint32_t c[4], const uint32_t k[2]) {
    uint64_t p0 = (uint64_t)0xD2511F53u * c[0], p1 = (uint64_t)0xCD9E8D57u * c[2];
    uint32_t c1 = c[1], c3 = c[3];
    c[0] = (uint32_t)(p1 >> 32) ^ c1 ^ k[0];
    c[1] = (uint32_t)p1;
    c[2] = (uint32_t)(p0 >> 32) ^ c3 ^ k[1];
    c[3] = (uint32_t)p0;
}

/* Four 32-bit words for counter `block` of `stream`. */
static inline void gp_philox(uint64_t seed, uint64_t stream, uint64_t block, uint32_t out[4]) {
    uint32_t k[2] = {(uint32_t)seed, (uint32_t)(seed >> 32)};
    out[0] = (uint32_t)block;
    out[1] = (uint32_t)(block >> 32);
    out[2] = (uint32_t)stream;
    out[3] = (uint32_t)(stream >> 32);
    for (int round = 0; round < 10; round++) {
        gp_philox_round(out, k);
        k[0] += 0x9E3779B9u;
        k[1] += 0xBB67AE85u;
    }
}

#endif
