/* Threads that run the blocks of a CPU launch.
**
** Each thread owns an equal, contiguous share of the blocks and takes it in chunks; when its
** share is empty it helps with others'. So the same block tends to run on the same thread, and
** memory that a thread touched first stays near it. The caller takes part. Threads start with
** the first launch that has work for them. */
#ifndef GP_THREADPOOL_H
#define GP_THREADPOOL_H

#include "core/session.h"

typedef struct GpThreadPool GpThreadPool;

/* `stop` is the job's. */
typedef void (*GpBlocksFn)(void *ud, uint64_t first, uint64_t count, GpStop *stop);

/* `threads` counts the caller and is at least 1. NULL when out of memory. */
GP_NODISCARD GpThreadPool *gp_threadpool_new(GpSession *s, uint32_t threads);
/* Ends the threads. With `is_forked` the process is a child that has none of them. */
void gp_threadpool_free(GpThreadPool *pool, bool is_forked);
/* Runs fn over [0, blocks), each block once, and waits. GpStatus_Interrupted when the session
** was interrupted: some blocks then did not run. */
GpStatus gp_threadpool_run(GpThreadPool *pool, uint64_t blocks, GpBlocksFn fn, void *ud);
/* Cores that this process may use: affinity and cgroup quota. At least 1. */
uint32_t gp_threadpool_cores(void);

#endif
