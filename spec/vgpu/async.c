#include "spec/vgpu/vgpu.h"
VgOutcome vg_run_prefetch_map(VgRun *x, const VgInst *in);
VgOutcome vg_run_prefetch_map(VgRun *x, const VgInst *in) {
    (void)x;
    (void)in;
    return VgOutcome_Next;
}
VgOutcome vg_run_fence_proxy(VgRun *x, const VgInst *in);
VgOutcome vg_run_fence_proxy(VgRun *x, const VgInst *in) {
    (void)x;
    (void)in;
    return VgOutcome_Next;
}
