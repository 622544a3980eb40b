#include "codegen/emit.h"
void gp_tile_gpu_whole(GpEmit *e, const GpInst *inst) { (void)e, (void)inst; gp_unreachable(); }
void gp_tile_gpu_access(GpEmit *e, const GpInst *inst) { (void)e, (void)inst; gp_unreachable(); }
