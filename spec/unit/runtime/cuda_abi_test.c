/* Our description of the driver against NVIDIA's cuda.h, where that is installed: sizes and
** offsets of structures, constants, result codes, and the prototype of every entry point in the
** version that we ask for. Compiling it is the test. */
#include <stddef.h>

#if __has_include(<cuda.h>) && __has_include(<cudaTypedefs.h>)
#include <cuda.h>
#include <cudaTypedefs.h>


#include "core/base.h"
#include "core/status.h"
#include "runtime/cuda_types.h"

#define SAME_SIZE(ours, theirs) _Static_assert(sizeof(ours) == sizeof(theirs), #theirs)
#define SAME_PLACE(ours, a, theirs, b)                                                             \
    _Static_assert(offsetof(ours, a) == offsetof(theirs, b), #theirs "." #b)

SAME_SIZE(GpCuResult, CUresult);
SAME_SIZE(GpCuDevice, CUdevice);
SAME_SIZE(GpCuPtr, CUdeviceptr);
SAME_SIZE(GpCuStream, CUstream);
SAME_SIZE(GpCuDeviceAttribute, CUdevice_attribute);
SAME_SIZE(GpCuFunctionAttribute, CUfunction_attribute);
SAME_SIZE(GpCuPoolAttribute, CUmemPool_attribute);
SAME_SIZE(GpCuPointerAttribute, CUpointer_attribute);
SAME_SIZE(GpCuJitOption, CUjit_option);
SAME_SIZE(GpCuMapType, CUtensorMapDataType);
SAME_SIZE(GpCuTensorMap, CUtensorMap);
_Static_assert(_Alignof(GpCuTensorMap) >= _Alignof(CUtensorMap), "CUtensorMap");
SAME_SIZE(GpCuPoolProps, CUmemPoolProps);
SAME_PLACE(GpCuPoolProps, location_type, CUmemPoolProps, location.type);
SAME_PLACE(GpCuPoolProps, location_id, CUmemPoolProps, location.id);
SAME_PLACE(GpCuPoolProps, max_size, CUmemPoolProps, maxSize);
SAME_SIZE(GpCuMemcpy2D, CUDA_MEMCPY2D);
SAME_PLACE(GpCuMemcpy2D, src_type, CUDA_MEMCPY2D, srcMemoryType);
SAME_PLACE(GpCuMemcpy2D, src_host, CUDA_MEMCPY2D, srcHost);
SAME_PLACE(GpCuMemcpy2D, src_device, CUDA_MEMCPY2D, srcDevice);
SAME_PLACE(GpCuMemcpy2D, src_pitch, CUDA_MEMCPY2D, srcPitch);
SAME_PLACE(GpCuMemcpy2D, dst_type, CUDA_MEMCPY2D, dstMemoryType);
SAME_PLACE(GpCuMemcpy2D, dst_host, CUDA_MEMCPY2D, dstHost);
SAME_PLACE(GpCuMemcpy2D, dst_device, CUDA_MEMCPY2D, dstDevice);
SAME_PLACE(GpCuMemcpy2D, dst_pitch, CUDA_MEMCPY2D, dstPitch);
SAME_PLACE(GpCuMemcpy2D, width, CUDA_MEMCPY2D, WidthInBytes);
SAME_PLACE(GpCuMemcpy2D, height, CUDA_MEMCPY2D, Height);
SAME_SIZE(GpCuLaunchAttribute, CUlaunchAttribute);
SAME_PLACE(GpCuLaunchAttribute, value.cluster, CUlaunchAttribute, value.clusterDim);
SAME_PLACE(GpCuLaunchAttribute, value.flag, CUlaunchAttribute, value.programmaticStreamSerializationAllowed);
SAME_SIZE(GpCuLaunchConfig, CUlaunchConfig);
SAME_PLACE(GpCuLaunchConfig, block_z, CUlaunchConfig, blockDimZ);
SAME_PLACE(GpCuLaunchConfig, shared_bytes, CUlaunchConfig, sharedMemBytes);
SAME_PLACE(GpCuLaunchConfig, stream, CUlaunchConfig, hStream);
SAME_PLACE(GpCuLaunchConfig, attrs, CUlaunchConfig, attrs);
SAME_PLACE(GpCuLaunchConfig, attr_count, CUlaunchConfig, numAttrs);

#define GP_CU_CONST(ours, theirs, value) _Static_assert((int)(theirs) == (value), #theirs);
GP_CU_CONSTANTS(GP_CU_CONST)

#define GP_CUDA_ERROR(name, value, status, code, sticky, help)                                     \
    _Static_assert((int)(name) == (value), #name);
#include "runtime/cuda_errors.def"

_Static_assert(GP_CU_PROC_DEFAULT == CU_GET_PROC_ADDRESS_DEFAULT, "flags");

int gp_check_prototypes(void);
int main(void) { return gp_check_prototypes(); }
#else
int main(void) { return 77; } /* CTest: skipped */
#endif
