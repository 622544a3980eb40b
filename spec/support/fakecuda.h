/* What the fake driver tells a test that loaded it. */
#ifndef GP_FAKECUDA_H
#define GP_FAKECUDA_H

#include "runtime/cuda_types.h"

/* The fake's CUtensorMap: what it was asked for. */
typedef struct FakeMap {
    uint64_t base, dims[5], strides[4];
    uint32_t box[5];
    uint8_t type, rank, swizzle, promotion;
} FakeMap;
_Static_assert(sizeof(FakeMap) <= sizeof(GpCuTensorMap), "a map holds it");

/* The last launch that the driver took. `map` and `virtual_grid` are parameters 6 to 9 of the
** kernel scale_map. */
typedef struct FakeLaunch {
    uint32_t grid[3], shared_bytes, cluster;
    uint32_t virtual_grid[3];
    FakeMap map;
    bool is_dependent; /* it may start before the one ahead has ended */
} FakeLaunch;

#endif
