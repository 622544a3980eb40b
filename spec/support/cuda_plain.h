/* Exports a stand-in's functions under the driver's plain names. The includer defines
**   CUDA_FN(field)     its function for a row of cuda_api.def
**   CUDA_NAME(field)   that function's name as a string, `field` being one */
#define GP_CUDA_FN(field, symbol, version, plain, need, params)                                    \
    extern __typeof__(CUDA_FN(field)) plain_##field __asm__(plain)                                 \
        __attribute__((alias(CUDA_NAME(#field)), visibility("default")));
#include "runtime/cuda_api.def"
