/* The part of the CUDA driver's binary interface that gpulua uses, written from its
** documentation, so that building needs no CUDA toolkit.
**
** Names start with GpCu, so that a test can include NVIDIA's cuda.h beside this header and
** compare sizes, constants and prototypes. With GP_CUDA_TYPES_FROM_CUDA_H the names stand for
** the types of cuda.h. */
#ifndef GP_CUDA_TYPES_H
#define GP_CUDA_TYPES_H

#include <stddef.h>
#include <stdint.h>

#ifdef GP_CUDA_TYPES_FROM_CUDA_H
typedef CUresult GpCuResult;
typedef CUdevice GpCuDevice;
typedef CUcontext GpCuContext;
typedef CUmodule GpCuModule;
typedef CUfunction GpCuFunction;
typedef CUstream GpCuStream;
typedef CUevent GpCuEvent;
typedef CUmemoryPool GpCuPool;
typedef CUdeviceptr GpCuPtr;
typedef CUdevice_attribute GpCuDeviceAttribute;
typedef CUfunction_attribute GpCuFunctionAttribute;
typedef CUmemPool_attribute GpCuPoolAttribute;
typedef CUpointer_attribute GpCuPointerAttribute;
typedef CUjit_option GpCuJitOption;
typedef CUmemPoolProps GpCuPoolProps;
typedef CUDA_MEMCPY2D GpCuMemcpy2D;
typedef CUlaunchConfig GpCuLaunchConfig;
typedef CUgraph GpCuGraph;
typedef CUgraphExec GpCuGraphExec;
typedef CUstreamCaptureMode GpCuCaptureMode;
typedef CUtensorMap GpCuTensorMap;
typedef CUtensorMapDataType GpCuMapType;
typedef CUtensorMapInterleave GpCuMapInterleave;
typedef CUtensorMapSwizzle GpCuMapSwizzle;
typedef CUtensorMapL2promotion GpCuMapPromotion;
typedef CUtensorMapFloatOOBfill GpCuMapFill;
#else
typedef int GpCuResult; /* cuda_errors.def lists the values */
typedef int GpCuDevice;
typedef struct GpCuContextTag *GpCuContext;
typedef struct GpCuModuleTag *GpCuModule;
typedef struct GpCuFunctionTag *GpCuFunction;
typedef struct GpCuStreamTag *GpCuStream;
typedef struct GpCuEventTag *GpCuEvent;
typedef struct GpCuPoolTag *GpCuPool;
typedef struct GpCuGraphTag *GpCuGraph;
typedef struct GpCuGraphExecTag *GpCuGraphExec;
typedef unsigned long long GpCuPtr;
typedef int GpCuDeviceAttribute;
typedef int GpCuFunctionAttribute;
typedef int GpCuPoolAttribute;
typedef int GpCuPointerAttribute;
typedef int GpCuJitOption;
typedef int GpCuCaptureMode;
typedef int GpCuMapType;
typedef int GpCuMapInterleave;
typedef int GpCuMapSwizzle;
typedef int GpCuMapPromotion;
typedef int GpCuMapFill;

typedef struct GpCuTensorMap {
    _Alignas(128) uint64_t opaque[16]; /* the driver asks for 64, the header since CUDA 13 for 128 */
} GpCuTensorMap;

typedef struct GpCuPoolProps {
    int alloc_type;
    int handle_types;
    int location_type, location_id;
    void *security;
    size_t max_size;
    unsigned short usage;
    unsigned char reserved[54];
} GpCuPoolProps;

typedef struct GpCuMemcpy2D {
    size_t src_x, src_y;
    int src_type;
    const void *src_host;
    GpCuPtr src_device;
    void *src_array;
    size_t src_pitch;
    size_t dst_x, dst_y;
    int dst_type;
    void *dst_host;
    GpCuPtr dst_device;
    void *dst_array;
    size_t dst_pitch;
    size_t width, height; /* bytes, rows */
} GpCuMemcpy2D;

typedef struct GpCuLaunchAttribute {
    int id;
    char pad[4];
    union {
        char bytes[64];
        unsigned cluster[3];
        int flag;
        void *align;
    } value;
} GpCuLaunchAttribute;

typedef struct GpCuLaunchConfig {
    unsigned grid_x, grid_y, grid_z;
    unsigned block_x, block_y, block_z;
    unsigned shared_bytes;
    GpCuStream stream;
    GpCuLaunchAttribute *attrs;
    unsigned attr_count;
} GpCuLaunchConfig;
#endif

/* GP_CU_CONST(ours, cuda.h's name, value) */
#define GP_CU_CONSTANTS(X)                                                                         \
    X(GpCu_MaxThreadsPerBlock, CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK, 1)                       \
    X(GpCu_MaxBlockX, CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X, 2)                                      \
    X(GpCu_MaxBlockY, CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y, 3)                                      \
    X(GpCu_MaxBlockZ, CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z, 4)                                      \
    X(GpCu_MaxGridX, CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X, 5)                                        \
    X(GpCu_MaxGridY, CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y, 6)                                        \
    X(GpCu_MaxGridZ, CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z, 7)                                        \
    X(GpCu_MaxPitch, CU_DEVICE_ATTRIBUTE_MAX_PITCH, 11)                                            \
    X(GpCu_Multiprocessors, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, 16)                          \
    X(GpCu_MaxThreadsPerProcessor, CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR, 39)         \
    X(GpCu_CapabilityMajor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, 75)                      \
    X(GpCu_CapabilityMinor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, 76)                      \
    X(GpCu_MaxSharedOptin, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN, 97)              \
    X(GpCu_PoolsSupported, CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED, 115)                        \
    X(GpCu_FuncMaxThreads, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, 0)                             \
    X(GpCu_FuncSharedBytes, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, 1)                                \
    X(GpCu_FuncLocalBytes, CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES, 3)                                  \
    X(GpCu_FuncRegisters, CU_FUNC_ATTRIBUTE_NUM_REGS, 4)                                           \
    X(GpCu_FuncMaxDynamicShared, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 8)               \
    X(GpCu_PoolReleaseThreshold, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, 4)                             \
    X(GpCu_PoolReserved, CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT, 5)                                  \
    X(GpCu_PointerDevice, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, 9)                                  \
    X(GpCu_JitErrorLog, CU_JIT_ERROR_LOG_BUFFER, 5)                                                \
    X(GpCu_JitErrorLogBytes, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES, 6)                                \
    X(GpCu_AllocPinned, CU_MEM_ALLOCATION_TYPE_PINNED, 1)                                          \
    X(GpCu_LocationDevice, CU_MEM_LOCATION_TYPE_DEVICE, 1)                                         \
    X(GpCu_TypeHost, CU_MEMORYTYPE_HOST, 1)                                                        \
    X(GpCu_TypeDevice, CU_MEMORYTYPE_DEVICE, 2)                                                    \
    X(GpCu_HostPortable, CU_MEMHOSTALLOC_PORTABLE, 1)                                              \
    X(GpCu_HostMapped, CU_MEMHOSTALLOC_DEVICEMAP, 2)                                               \
    X(GpCu_StreamNonBlocking, CU_STREAM_NON_BLOCKING, 1)                                           \
    X(GpCu_EventNoTiming, CU_EVENT_DISABLE_TIMING, 2)                                              \
    X(GpCu_AttributeCluster, CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION, 4)                             \
    X(GpCu_AttributeDependent, CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION, 6)           \
    X(GpCu_CaptureRelaxed, CU_STREAM_CAPTURE_MODE_RELAXED, 2)                                      \
    X(GpCu_MapU8, CU_TENSOR_MAP_DATA_TYPE_UINT8, 0)                                                \
    X(GpCu_MapU16, CU_TENSOR_MAP_DATA_TYPE_UINT16, 1)                                              \
    X(GpCu_MapU32, CU_TENSOR_MAP_DATA_TYPE_UINT32, 2)                                              \
    X(GpCu_MapI32, CU_TENSOR_MAP_DATA_TYPE_INT32, 3)                                               \
    X(GpCu_MapU64, CU_TENSOR_MAP_DATA_TYPE_UINT64, 4)                                              \
    X(GpCu_MapI64, CU_TENSOR_MAP_DATA_TYPE_INT64, 5)                                               \
    X(GpCu_MapF16, CU_TENSOR_MAP_DATA_TYPE_FLOAT16, 6)                                             \
    X(GpCu_MapF32, CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 7)                                             \
    X(GpCu_MapF64, CU_TENSOR_MAP_DATA_TYPE_FLOAT64, 8)                                             \
    X(GpCu_MapBf16, CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, 9)                                           \
    X(GpCu_MapTf32, CU_TENSOR_MAP_DATA_TYPE_TFLOAT32, 11)                                          \
    X(GpCu_MapPlain, CU_TENSOR_MAP_INTERLEAVE_NONE, 0)                                             \
    X(GpCu_MapSwizzle0, CU_TENSOR_MAP_SWIZZLE_NONE, 0)                                             \
    X(GpCu_MapSwizzle32, CU_TENSOR_MAP_SWIZZLE_32B, 1)                                             \
    X(GpCu_MapSwizzle64, CU_TENSOR_MAP_SWIZZLE_64B, 2)                                             \
    X(GpCu_MapSwizzle128, CU_TENSOR_MAP_SWIZZLE_128B, 3)                                           \
    X(GpCu_MapPromote64, CU_TENSOR_MAP_L2_PROMOTION_L2_64B, 1)                                     \
    X(GpCu_MapPromote256, CU_TENSOR_MAP_L2_PROMOTION_L2_256B, 3)                                   \
    X(GpCu_MapFillZero, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE, 0)

enum {
#define GP_CU_CONST(ours, theirs, value) ours = value,
    GP_CU_CONSTANTS(GP_CU_CONST)
#undef GP_CU_CONST
};

/* `flags` of cuGetProcAddress: symbols with the semantics of the legacy default stream. */
#define GP_CU_PROC_DEFAULT 0

#endif
