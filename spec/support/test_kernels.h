/* Kernels in C for tests of the runtime: the CPU device runs them through cpu_entry, the fake
** driver by name. One block handles one element. All take the same parameter block. */
#ifndef GP_TEST_KERNELS_H
#define GP_TEST_KERNELS_H

#include "core/image.h"

/* Offsets of the parameter block: f32 out[len], f32 in[len], f32 by, mailbox. */
typedef struct TestParams {
    uint64_t out, out_len, in, in_len, box;
    float by;
} TestParams;

static inline void test_fail(GpMailbox *box, uint32_t site, uint64_t block, int64_t limit) {
    uint32_t free_state = 0;
    if (!__atomic_compare_exchange_n(&box->state, &free_state, 1, false, __ATOMIC_ACQ_REL,
                                     __ATOMIC_RELAXED))
        return;
    box->site = site;
    box->block[0] = (uint32_t)block;
    box->value = (int64_t)block;
    box->limit = limit;
    __atomic_store_n(&box->state, 2, __ATOMIC_RELEASE);
}

/* out[i] = in[i] * by. Past the end of either a failed check, as compiled kernels have it. */
static inline void test_scale(void *self, const uint8_t *params, const GpGrid *grid,
                              uint64_t first, uint64_t count, GpStop *stop) {
    (void)self, (void)stop;
    (void)grid;
    TestParams p;
    memcpy(&p, params, offsetof(TestParams, by) + sizeof p.by);
    float *out = (float *)(uintptr_t)p.out;
    const float *in = (const float *)(uintptr_t)p.in;
    for (uint64_t i = first; i < first + count; i++) {
        if (i >= p.in_len || i >= p.out_len) {
            test_fail((GpMailbox *)(uintptr_t)p.box, i >= p.in_len ? 0 : 1, i,
                      (int64_t)GP_MIN(p.in_len, p.out_len));
            continue;
        }
        out[i] = in[i] * p.by;
    }
}

#endif
