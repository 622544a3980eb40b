/* What the files of the asynchronous units share. */
#ifndef VG_ASYNC_H
#define VG_ASYNC_H

#include "spec/vgpu/vgpu.h"

VgMbar *vg_mbar_find(VgCta *c, uint32_t offset); /* NULL when absent */
/* The mbarrier at an address, and the block that has it; NULL: reported. */
VgMbar *vg_mbar_at(VgRun *x, uint64_t address, uint32_t lane, VgCta **owner);
VgOutcome vg_mbar_arrive(VgRun *x, VgMbar *m, uint32_t lane, uint64_t count);
/* Runs the loads that are on their way, and ends the phase if that was all. */
VgOutcome vg_mbar_deliver(VgRun *x, VgMbar *m);
void vg_mbar_drop(VgLaunch *l, VgMbar *m);

/* Copies the bytes. False: reported. */
bool vg_bulk_run(VgRun *x, const VgBulk *b);
void vg_issued_drop(VgIssued *i);

void vg_groups_start(VgCta *c);
void vg_groups_free(VgCta *c);

/* Address bits 4 to 6 as the swizzle of 32, 64 or 128 bytes (GpCu_MapSwizzle..) leaves them. */
static inline uint32_t vg_swizzle(uint32_t address, uint32_t swizzle) {
    return address ^ ((address >> 7 & ((1u << swizzle) - 1)) << 4);
}

#endif
