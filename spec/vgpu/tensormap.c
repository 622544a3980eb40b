/* cuTensorMapEncodeTiled: what it refuses, and the fields in the 128 bytes. */
#include "spec/vgpu/vgpu.h"

static const uint8_t type_bytes[] = {1, 2, 4, 4, 8, 8, 2, 4, 8, 2, 4, 4, 4};

static const char *wrong_sizes(const VgMap *m, const uint32_t *steps) {
    for (uint32_t i = 0; i < m->rank; i++) {
        if (m->dims[i] == 0 || m->dims[i] > UINT64_C(1) << 32)
            return "an extent is not in 1 to 2^32";
        if (m->box[i] == 0 || m->box[i] > 256)
            return "a box extent is not in 1 to 256";
        if (steps[i] != 1)
            return "element strides other than 1 are not run";
        if (i > 0 && (m->strides[i] % 16 || m->strides[i] >= UINT64_C(1) << 40))
            return "a stride is no multiple of 16 bytes below 2^40";
    }
    return NULL;
}

static const char *wrong(const VgMap *m, const uint32_t *steps, int interleave, int fill) {
    uint32_t row = m->box[0] * m->bytes;
    if (m->rank < 1 || m->rank > 5)
        return "the rank is not 1 to 5";
    if (m->base % 16)
        return "the address is no multiple of 16";
    if (interleave || fill)
        return "interleaved layouts and fills other than zero are not run";
    if (row % 16)
        return "a row of the box is no multiple of 16 bytes";
    if (m->swizzle > GpCu_MapSwizzle128)
        return "the swizzle is not known";
    if (m->swizzle && row > 16u << m->swizzle)
        return "a row of the box is longer than the swizzle's span";
    return wrong_sizes(m, steps);
}

/* NOLINTNEXTLINE(readability-function-size): the driver's prototype */
GpCuResult vg_encode_tiled(GpCuTensorMap *map, GpCuMapType type, uint32_t rank, void *base,
                           const uint64_t *dims, const uint64_t *strides, const uint32_t *box,
                           const uint32_t *steps, GpCuMapInterleave interleave,
                           GpCuMapSwizzle swizzle, GpCuMapFill fill) {
    VgMap m = {.magic = VG_MAP_MAGIC,
               .rank = (uint8_t)GP_MIN(rank, 6u),
               .swizzle = (uint8_t)swizzle,
               .base = (uint64_t)(uintptr_t)base};
    const char *what = NULL;
    if ((uint32_t)type >= sizeof type_bytes)
        what = "the element type is not known";
    else
        m.bytes = type_bytes[type];
    for (uint32_t i = 0; i < GP_MIN(rank, 5u); i++) {
        m.dims[i] = dims[i];
        m.box[i] = (uint16_t)GP_MIN(box[i], 1000u);
        m.strides[i] = i ? strides[i - 1] : m.bytes;
    }
    if (!what && (uintptr_t)map % 64)
        what = "the map is not aligned to 64 bytes";
    if (!what)
        what = wrong(&m, steps, interleave, fill);
    if (what) {
        fprintf(stderr, "vgpu: cuTensorMapEncodeTiled: %s\n", what);
        return 1;
    }
    memset(map, 0, sizeof *map);
    memcpy(map, &m, sizeof m);
    return 0;
}
