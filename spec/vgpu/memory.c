/* Global memory: blocks of the host's heap, in order of address, with room between them. */
#include <stdlib.h>

#include "spec/vgpu/vgpu.h"

typedef struct Block {
    uint64_t start, end;
} Block;

static struct {
    Block *blocks;
    size_t count, cap;
} memory;

/* The first block that ends behind `at`. */
static size_t find(uint64_t at) {
    size_t low = 0, high = memory.count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (memory.blocks[middle].end <= at)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

bool vg_memory_add(void *at, size_t bytes) {
    if (memory.count == memory.cap) {
        size_t cap = memory.cap ? 2 * memory.cap : 64;
        Block *grown = realloc(memory.blocks, cap * sizeof *grown);
        if (!grown)
            return false;
        memory.blocks = grown;
        memory.cap = cap;
    }
    uint64_t start = (uint64_t)(uintptr_t)at;
    size_t i = find(start);
    memmove(&memory.blocks[i + 1], &memory.blocks[i], (memory.count - i) * sizeof(Block));
    memory.blocks[i] = (Block){start, start + bytes};
    memory.count++;
    return true;
}

bool vg_memory_remove(void *at) {
    uint64_t start = (uint64_t)(uintptr_t)at;
    size_t i = find(start);
    if (i == memory.count || memory.blocks[i].start != start)
        return false;
    memory.count--;
    memmove(&memory.blocks[i], &memory.blocks[i + 1], (memory.count - i) * sizeof(Block));
    return true;
}

bool vg_memory_find(uint64_t at, uint64_t bytes, uint64_t *start, uint64_t *end) {
    size_t i = find(at);
    if (i == memory.count || memory.blocks[i].start > at || at + bytes > memory.blocks[i].end)
        return false;
    *start = memory.blocks[i].start;
    *end = memory.blocks[i].end;
    return true;
}

void vg_memory_describe(uint64_t at, char *text, size_t bytes) {
    size_t i = find(at);
    if (i < memory.count && memory.blocks[i].start <= at) {
        snprintf(text, bytes, "it begins %llu bytes into a block of %llu",
                 (unsigned long long)(at - memory.blocks[i].start),
                 (unsigned long long)(memory.blocks[i].end - memory.blocks[i].start));
        return;
    }
    uint64_t behind = i > 0 ? at - memory.blocks[i - 1].end : UINT64_MAX;
    uint64_t before = i < memory.count ? memory.blocks[i].start - at : UINT64_MAX;
    if (behind == UINT64_MAX && before == UINT64_MAX) {
        snprintf(text, bytes, "there is no memory");
        return;
    }
    if (GP_MIN(behind, before) > 1 << 20) {
        snprintf(text, bytes, "no block is near");
        return;
    }
    const Block *near = &memory.blocks[behind <= before ? i - 1 : i];
    snprintf(text, bytes, "%llu bytes %s the nearest block, which has %llu",
             (unsigned long long)GP_MIN(behind, before), behind <= before ? "behind" : "before",
             (unsigned long long)(near->end - near->start));
}
