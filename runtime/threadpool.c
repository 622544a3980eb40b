/* The thread pool: shares, chunks, and a wake-up that spins briefly before it sleeps. */
#include "runtime/threadpool.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>

#define CACHE_LINE 64
#define CHUNKS_PER_SHARE 16
#define MOST_BLOCKS      UINT64_C(1024) /* between two questions whether to stop */
#define SPINS 2000
#define JOB_ACTIVE UINT64_C(0xffff) /* workers at it */
#define JOB_OPEN (UINT64_C(1) << 16)
#define JOB_NUMBER 32 /* bits from here on */

/* One thread's part of the blocks. Others add to `next` too when they help. */
typedef struct Share {
    _Alignas(CACHE_LINE) _Atomic uint64_t next;
    uint64_t end, chunk;
} Share;

typedef struct Worker {
    GpThreadPool *pool;
    pthread_t thread;
    uint32_t index;
} Worker;

struct GpThreadPool {
    GpSession *session;
    uint32_t threads, started; /* started counts the workers, without the caller */
    bool is_started;
    pthread_mutex_t lock;
    pthread_cond_t wake, idle;
    /* The job: its number, whether workers may still join, how many are at it. One word, so
    ** that the caller can close the job and need not wait for workers that slept through it. */
    _Atomic uint64_t job;
    _Atomic uint32_t sleepers;
    _Atomic bool is_stopping;
    GpStop stop; /* of the job */
    GpBlocksFn fn;
    void *ud;
    Share *shares;
    void *share_block;
    Worker *workers;
};

static uint32_t count_quota(void) {
    FILE *f = fopen("/sys/fs/cgroup/cpu.max", "re");
    if (!f)
        return UINT32_MAX;
    unsigned long long quota = 0, period = 0;
    int got = fscanf(f, "%llu %llu", &quota, &period);
    fclose(f);
    if (got != 2 || quota == 0 || period == 0)
        return UINT32_MAX;
    return (uint32_t)GP_MIN((quota + period - 1) / period, 65536ULL);
}

uint32_t gp_threadpool_cores(void) {
    cpu_set_t set;
    CPU_ZERO(&set);
    int cores = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
    return GP_MIN((uint32_t)GP_MAX(cores, 1), count_quota());
}

GpThreadPool *gp_threadpool_new(GpSession *s, uint32_t threads) {
    GpThreadPool *pool = GP_TRY_NEW(s, GpThreadPool);
    if (!pool)
        return NULL;
    *pool = (GpThreadPool){.session = s, .threads = threads, .stop = {.session = s}};
    pool->share_block = gp_try_calloc(s, sizeof(Share) * threads + CACHE_LINE);
    pool->workers = gp_try_calloc(s, sizeof(Worker) * threads);
    pthread_mutex_init(&pool->lock, NULL);
    pthread_cond_init(&pool->wake, NULL);
    pthread_cond_init(&pool->idle, NULL);
    if (!pool->share_block || !pool->workers) {
        gp_threadpool_free(pool, false);
        return NULL;
    }
    pool->shares = (Share *)gp_align_up((uintptr_t)pool->share_block, CACHE_LINE);
    return pool;
}

void gp_threadpool_free(GpThreadPool *pool, bool is_forked) {
    if (!pool)
        return;
    GpSession *s = pool->session;
    if (!is_forked) {
        pthread_mutex_lock(&pool->lock);
        atomic_store(&pool->is_stopping, true);
        pthread_cond_broadcast(&pool->wake);
        pthread_mutex_unlock(&pool->lock);
        for (uint32_t i = 0; i < pool->started; i++)
            pthread_join(pool->workers[i].thread, NULL);
        pthread_cond_destroy(&pool->idle);
        pthread_cond_destroy(&pool->wake);
        pthread_mutex_destroy(&pool->lock);
    }
    gp_free(s, pool->share_block, sizeof(Share) * pool->threads + CACHE_LINE);
    gp_free(s, pool->workers, sizeof(Worker) * pool->threads);
    gp_free(s, pool, sizeof *pool);
}

/* Takes chunks of one share until it is empty. */
static void run_share(GpThreadPool *pool, Share *share) {
    while (!gp_stopped(&pool->stop)) {
        uint64_t first =
            atomic_fetch_add_explicit(&share->next, share->chunk, memory_order_relaxed);
        if (first >= share->end)
            return;
        pool->fn(pool->ud, first, GP_MIN(share->chunk, share->end - first), &pool->stop);
    }
}

static void run_job(GpThreadPool *pool, uint32_t self) {
    for (uint32_t i = 0; i < pool->threads; i++)
        run_share(pool, &pool->shares[(self + i) % pool->threads]);
}

static void relax(void) {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#endif
}

static bool is_to_join(uint64_t job, uint64_t seen) {
    return (job & JOB_OPEN) && job >> JOB_NUMBER != seen;
}

/* Returns when there is an open job that is not number `seen`, or the pool stops. */
static void await_job(GpThreadPool *pool, uint64_t seen) {
    for (int i = 0; i < SPINS; i++) {
        if (is_to_join(atomic_load(&pool->job), seen) || atomic_load(&pool->is_stopping))
            return;
        relax();
    }
    pthread_mutex_lock(&pool->lock);
    atomic_fetch_add(&pool->sleepers, 1); /* before the last look, so that no call is missed */
    while (!is_to_join(atomic_load(&pool->job), seen) && !atomic_load(&pool->is_stopping))
        pthread_cond_wait(&pool->wake, &pool->lock);
    atomic_fetch_sub(&pool->sleepers, 1);
    pthread_mutex_unlock(&pool->lock);
}

/* Joins the open job, if it still is; true when it did, with `seen` its number. */
static bool join_job(GpThreadPool *pool, uint64_t *seen) {
    uint64_t job = atomic_load(&pool->job);
    while (is_to_join(job, *seen)) {
        if (atomic_compare_exchange_weak(&pool->job, &job, job + 1)) {
            *seen = job >> JOB_NUMBER;
            return true;
        }
    }
    return false;
}

static void leave_job(GpThreadPool *pool) {
    uint64_t before = atomic_fetch_sub(&pool->job, 1);
    if ((before & JOB_ACTIVE) != 1 || (before & JOB_OPEN))
        return;
    pthread_mutex_lock(&pool->lock);
    pthread_cond_signal(&pool->idle);
    pthread_mutex_unlock(&pool->lock);
}

static void *run_worker(void *ud) {
    Worker *worker = ud;
    GpThreadPool *pool = worker->pool;
    for (uint64_t seen = 0;;) {
        await_job(pool, seen);
        if (atomic_load(&pool->is_stopping))
            return NULL;
        if (!join_job(pool, &seen))
            continue;
        run_job(pool, worker->index);
        leave_job(pool);
    }
}

/* Signals belong to the host's threads, so the workers take none. */
static void start_workers(GpThreadPool *pool) {
    pool->is_started = true;
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    for (uint32_t i = 0; i + 1 < pool->threads; i++) {
        pool->workers[i] = (Worker){.pool = pool, .index = i + 1};
        if (pthread_create(&pool->workers[i].thread, NULL, run_worker, &pool->workers[i]) != 0)
            break;
        pool->started++;
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

static void split(GpThreadPool *pool, uint64_t blocks) {
    uint64_t threads = pool->threads, first = 0;
    for (uint64_t i = 0; i < threads; i++) {
        uint64_t count = blocks / threads + (i < blocks % threads);
        Share *share = &pool->shares[i];
        share->end = first + count;
        share->chunk = GP_MIN(GP_MAX(count / CHUNKS_PER_SHARE, UINT64_C(1)), MOST_BLOCKS);
        atomic_store_explicit(&share->next, first, memory_order_relaxed);
        first += count;
    }
}

/* Opens the job and wakes as many sleepers as there are blocks for. */
static void open_job(GpThreadPool *pool, uint64_t blocks) {
    uint64_t number = (atomic_load(&pool->job) >> JOB_NUMBER) + 1;
    atomic_store(&pool->job, (number & UINT32_MAX) << JOB_NUMBER | JOB_OPEN);
    uint64_t wanted = GP_MIN(blocks - 1, (uint64_t)atomic_load(&pool->sleepers));
    if (wanted == 0)
        return;
    pthread_mutex_lock(&pool->lock);
    for (; wanted > 0; wanted--)
        pthread_cond_signal(&pool->wake);
    pthread_mutex_unlock(&pool->lock);
}

/* Lets nobody join any more and waits for those who did. */
static void close_job(GpThreadPool *pool) {
    atomic_fetch_and(&pool->job, ~JOB_OPEN);
    for (int i = 0; i < SPINS; i++) {
        if (!(atomic_load(&pool->job) & JOB_ACTIVE))
            return;
        relax();
    }
    pthread_mutex_lock(&pool->lock);
    while (atomic_load(&pool->job) & JOB_ACTIVE)
        pthread_cond_wait(&pool->idle, &pool->lock);
    pthread_mutex_unlock(&pool->lock);
}

GpStatus gp_threadpool_run(GpThreadPool *pool, uint64_t blocks, GpBlocksFn fn, void *ud) {
    if (blocks == 0)
        return GpStatus_Ok;
    pool->fn = fn;
    pool->ud = ud;
    atomic_store(&pool->stop.is_stopped, false);
    split(pool, blocks);
    bool is_parallel = blocks > 1 && pool->threads > 1;
    if (is_parallel && !pool->is_started)
        start_workers(pool);
    is_parallel = is_parallel && pool->started > 0;
    if (is_parallel)
        open_job(pool, blocks);
    run_job(pool, 0);
    if (is_parallel)
        close_job(pool);
    return atomic_load(&pool->stop.is_stopped) ? GpStatus_Interrupted : GpStatus_Ok;
}
