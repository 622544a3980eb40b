/* The thread pool: every block once, whatever the counts; interruption; many pools. */
#include <stdatomic.h>

#include "runtime/threadpool.h"
#include "spec/unit/unit.h"

#define MAX_BLOCKS 5000

static _Atomic int counts[MAX_BLOCKS];

static void count_blocks(void *ud, uint64_t first, uint64_t count, GpStop *stop) {
    (void)ud, (void)stop;
    for (uint64_t i = first; i < first + count; i++)
        atomic_fetch_add(&counts[i], 1);
}

static void test_each_once(void **state) {
    (void)state;
    static const uint64_t sizes[] = {0, 1, 2, 3, 7, 16, 100, 1000, MAX_BLOCKS};
    GpSession s;
    gp_session_init(&s, NULL, NULL, NULL);
    for (uint32_t threads = 1; threads <= 9; threads += 2) {
        GpThreadPool *pool = gp_threadpool_new(&s, threads);
        assert_non_null(pool);
        for (int turn = 0; turn < 200; turn++) {
            uint64_t blocks = sizes[(size_t)turn % GP_COUNT(sizes)];
            memset(counts, 0, sizeof counts);
            assert_int_equal(gp_threadpool_run(pool, blocks, count_blocks, NULL), GpStatus_Ok);
            for (uint64_t i = 0; i < MAX_BLOCKS; i++)
                assert_int_equal(counts[i], i < blocks);
        }
        gp_threadpool_free(pool, false);
    }
    assert_int_equal(s.bytes, 0);
    assert_true(gp_threadpool_cores() >= 1);
}

static bool interrupt(void *ud) {
    (void)ud;
    return true;
}

static void test_interrupt(void **state) {
    (void)state;
    GpSession s;
    gp_session_init(&s, NULL, NULL, &(GpHooks){.interrupted = interrupt});
    GpThreadPool *pool = gp_threadpool_new(&s, 3);
    memset(counts, 0, sizeof counts);
    assert_int_equal(gp_threadpool_run(pool, MAX_BLOCKS, count_blocks, NULL),
                     GpStatus_Interrupted);
    int done = 0;
    for (int i = 0; i < MAX_BLOCKS; i++)
        done += counts[i];
    assert_true(done < MAX_BLOCKS);
    s.hooks.interrupted = NULL;
    memset(counts, 0, sizeof counts);
    assert_int_equal(gp_threadpool_run(pool, MAX_BLOCKS, count_blocks, NULL), GpStatus_Ok);
    for (int i = 0; i < MAX_BLOCKS; i++)
        assert_int_equal(counts[i], 1);
    gp_threadpool_free(pool, false);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_each_once),
    cmocka_unit_test(test_interrupt),
};

int main(void) { return cmocka_run_group_tests(tests, NULL, NULL); }
