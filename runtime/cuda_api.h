/* The CUDA driver, found and opened at run time, and what its results mean.
**
** Opening it never fails hard: the outcome is data, so that a program without a driver runs on
** the CPU and `doctor` can say why. The library is never closed: the driver keeps threads and
** exit handlers of its own. */
#ifndef GP_CUDA_API_H
#define GP_CUDA_API_H

#include "core/diag.h"
#include "runtime/cuda_types.h"

/* What an entry point is needed for. Without a Required one the driver is not used at all. */
typedef enum GpCudaNeed {
    GpCudaNeed_Required,
    GpCudaNeed_Pools,
    GpCudaNeed_Clusters,
    GpCudaNeed_TensorMaps,
    GpCudaNeed_Graphs,
} GpCudaNeed;

typedef struct GpCuda {
    void *library;
    char path[256];       /* of the library, as the loader names it */
    int version;          /* 13000; 0 unknown */
    uint32_t missing;     /* bit n: entry points of GpCudaNeed n are missing */
    const char *absent;   /* the first required symbol that is missing; NULL */
    bool is_found;        /* a library was opened */
    bool is_tried;        /* cuInit ran, or there is nothing to run it on */
    GpCuResult outcome;   /* of cuInit and the count */
    int count;            /* devices */
#define GP_CUDA_FN(field, symbol, version, plain, need, params) GpCuResult(*field) params;
#include "runtime/cuda_api.def"
} GpCuda;

#define GP_CUDA_OLDEST 12000 /* the oldest driver that gpulua works with */

/* Opens the library: `path`, or the usual places. Does not call cuInit. */
void gp_cuda_open(GpCuda *cu, const char *path);
/* cuInit and the device count, once. Ok, or the outcome as a diagnostic. Takes 0.1 s. */
GpStatus gp_cuda_start(GpCuda *cu, GpDiags *diags);
static inline bool gp_cuda_has(const GpCuda *cu, GpCudaNeed need) {
    return !(cu->missing & (UINT32_C(1) << need));
}
/* Newest PTX version that a driver reads: 90 for driver 13000. */
uint16_t gp_cuda_max_ptx(int driver_version);

typedef struct GpCudaError {
    const char *name; /* "CUDA_ERROR_ILLEGAL_ADDRESS" */
    GpCuResult value;
    GpStatus status;
    GpDiagCode code;
    bool is_sticky;
    const char *help;
} GpCudaError;
/* Never NULL: results that we do not know are CUDA_ERROR_UNKNOWN's row. */
const GpCudaError *gp_cuda_error(GpCuResult result);
/* Reports `result` of doing `what`; the row's status. */
GpStatus gp_cuda_report(GpCuResult result, const char *what, GpDiags *diags);

#endif
