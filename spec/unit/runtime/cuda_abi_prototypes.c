/* The other half of cuda_abi_test.c: with cuda.h's own types under our names, each prototype of
** cuda_api.def is the type that cudaTypedefs.h gives that symbol in that version. */
int gp_check_prototypes(void);

#if __has_include(<cuda.h>) && __has_include(<cudaTypedefs.h>)
#include <cuda.h>
#include <cudaTypedefs.h>

#define GP_CUDA_TYPES_FROM_CUDA_H 1
#include "runtime/cuda_types.h"

/* Pasted where the name stands, so that cuda.h's renaming macros do not see it. */
#define GP_CUDA_FN(field, symbol, version, plain, need, params)                                    \
    typedef CUresult(*Ours_##field) params;                                                        \
    _Static_assert(__builtin_types_compatible_p(Ours_##field, PFN_##symbol##_v##version), plain);
#include "runtime/cuda_api.def"
#endif

int gp_check_prototypes(void) { return 0; }
