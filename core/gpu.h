/* What each NVIDIA GPU has that kernels are compiled for (CUDA C++ Programming Guide, "Compute Capabilities"; PTX ISA).
** What differs from one to the other stands in codegen/target.def. */
#ifndef GP_GPU_H
#define GP_GPU_H

enum {
    GP_GPU_LANE_BITS = 5,
    GP_GPU_LANES = 1 << GP_GPU_LANE_BITS, /* threads of a warp */
    GP_GPU_WARPGROUP_BITS = 7,
    GP_GPU_WARPGROUP = 1 << GP_GPU_WARPGROUP_BITS, /* threads of four warps, the first a multiple of four */
    GP_GPU_LINE_BYTES = 128,          /* of the caches; a word of each bank of shared memory */
    GP_GPU_SECTOR_BYTES = 32,         /* of global memory that move together */
    GP_GPU_VECTOR_BYTES = 16,         /* that an instruction of a thread moves at most */
    GP_GPU_WORD_BYTES = 4,            /* of a register, and of a bank of shared memory */
    GP_GPU_STATIC_SHARED = 48 * 1024, /* bytes of shared memory that a block has unasked */
    GP_GPU_REGISTERS = 64 * 1024      /* of a multiprocessor */
};

#endif
