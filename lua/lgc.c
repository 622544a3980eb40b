/* Device memory in Lua's garbage collection. A tensor is a few bytes to Lua and gigabytes to the
** device, so every allocation drives the collector by a step in proportion. With a step of
** bytes / D kilobytes the dropped but uncollected tensors peak at about D x Lua's heap, so D is
** chosen to keep that near a quarter of the device's memory. */
#include "lua/state.h"

enum { GP_GC_SHARE = 4 };

void gp_lua_account(lua_State *L, gpulua_state *g, uint64_t bytes) {
    GpMemoryInfo memory;
    GpDevice *device;
    g->gc_debt += bytes;
    if (gp_engine_device(g->engine, g->diags, &device) != GpStatus_Ok) return;
    if (gp_device_memory(device, &memory) != GpStatus_Ok || memory.total == 0) return;
    uint64_t heap = (uint64_t)GP_MAX(lua_gc(L, LUA_GCCOUNT), 1) * 1024;
    uint64_t divisor = GP_MAX(memory.total / GP_GC_SHARE / heap, 1);
    uint64_t step_kib = g->gc_debt / 1024 / divisor;
    if (step_kib == 0) return;
    g->gc_debt = 0;
    lua_gc(L, LUA_GCSTEP, (int)GP_MIN(step_kib, (uint64_t)1 << 30));
}
