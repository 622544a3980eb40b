/* Partitions: a tensor cut into tiles, one block each. One made by a move owns the storage
** until it is unwrapped or dies; one made by a borrow holds nothing of its own. */
#include <stdio.h>

#include "runtime/internal.h"

static GpStatus report_tile(GpTensor *t, const GpShape *tile, GpSite site, GpDiags *diags) {
    GpRuntime *rt = t->storage->device->rt;
    GpText name = {.session = rt->session}, whole = name, part = name;
    gp_value_name(rt, t, "the tensor", &name);
    gp_shape_print(&t->shape, &whole);
    gp_shape_print(tile, &part);
    GpDiag *d = gp_diag(diags, GpDiag_G0312, gp_site_span(rt, site), gp_text_cstr(&name),
                        gp_text_cstr(&whole), gp_text_cstr(&part));
    if (tile->rank != t->shape.rank) {
        gp_primary_label(d, "the tensor has %d axes, the tile %d", t->shape.rank, tile->rank);
    } else {
        gp_primary_label(d, "extents of a tile are 1 or more");
    }
    gp_text_free(&name);
    gp_text_free(&whole);
    gp_text_free(&part);
    return GpStatus_Diagnostics;
}

GpStatus gp_partition_new(GpTensor *t, const GpShape *tile, GpAccess access, GpSite site,
                          GpDiags *diags, GpPartition **out) {
    *out = NULL;
    GpStorage *st = t->storage;
    gp_assert(access != GpAccess_Read);
    bool is_move = access == GpAccess_Move;
    /* A borrowing partition is only checked as a view is: it is used by the launch. */
    GpRequest q = {.tensor = t, .verb = GpVerb_Move, .site = site};
    GpStatus status = is_move ? gp_own_check(&q, diags) : gp_own_check_alive(t, site, diags);
    if (status != GpStatus_Ok)
        return status;
    if (tile->rank != t->shape.rank)
        return report_tile(t, tile, site, diags);
    for (int i = 0; i < tile->rank; i++) {
        if (tile->dim[i] < 1)
            return report_tile(t, tile, site, diags);
    }
    GpPartition *p = GP_TRY_NEW(st->device->rt->session, GpPartition);
    if (!p)
        return gp_report_no_memory(diags);
    *p = (GpPartition){.refs = 1,
                       .tensor = gp_tensor_retain(t),
                       .tile = *tile,
                       .access = access,
                       .made_at = site};
    if (is_move) {
        st->state = GpOwn_Partitioned;
        st->state_at = site;
        st->state_by = "partition";
        st->owner = p;
    }
    *out = p;
    return GpStatus_Ok;
}

GpPartition *gp_partition_retain(GpPartition *p) {
    p->refs++;
    return p;
}

/* The storage is owned by its handles again. */
static void give_back(GpPartition *p) {
    GpStorage *st = p->tensor->storage;
    if (st->state != GpOwn_Partitioned || st->owner != p)
        return;
    st->state = GpOwn_Owned;
    st->owner = NULL;
}

void gp_partition_release(GpPartition *p) {
    if (!p || --p->refs != 0)
        return;
    give_back(p);
    GpSession *s = p->tensor->storage->device->rt->session;
    GpTensor *tensor = p->tensor;
    gp_free(s, p, sizeof *p);
    gp_tensor_release(tensor); /* last: it may take the runtime with it */
}

GpTensor *gp_partition_tensor(GpPartition *p) { return p->tensor; }
const GpShape *gp_partition_tile(const GpPartition *p) { return &p->tile; }

const GpShare *gp_partition_share(const GpPartition *p) { return &p->share; }

/* Tiles of the axes that the map shares out; saturates. */
static int64_t count_streamed(const GpPartition *p, const GpShape *map) {
    int64_t count = 1;
    for (int i = 0; i < map->rank; i++)
        if (map->dim[i] &&
            __builtin_mul_overflow(count, gp_ceil_div(p->tensor->shape.dim[i], p->tile.dim[i]),
                                   &count))
            return INT64_MAX;
    return count;
}

static const char *find_map_error(const GpPartition *p, const GpShape *map) {
    bool is_streamed = false;
    if (map->rank != p->tile.rank)
        return "it has an entry for each axis of the partition";
    for (int i = 0; i < map->rank; i++) {
        is_streamed |= map->dim[i] > 0;
        if (map->dim[i] < 0)
            return "its entries are not negative";
        if (map->dim[i] > 1 && (map->rank == 1 || i + 2 < map->rank))
            return "only the last two axes of several are grouped";
    }
    return is_streamed ? NULL : "at least one axis is shared out: its entry is not 0";
}

GpStatus gp_partition_map(GpPartition *p, const GpShape *map, int64_t blocks, GpSite site,
                          GpDiags *diags) {
    GpRuntime *rt = p->tensor->storage->device->rt;
    const char *why = find_map_error(p, map);
    int64_t tiles = why ? 0 : count_streamed(p, map);
    char text[96];
    if (!why && (blocks < 1 || blocks > tiles || blocks > INT32_MAX)) {
        snprintf(text, sizeof text, "%lld blocks for %lld tiles; there is 1 at least and one for each tile at most",
                 (long long)blocks, (long long)tiles);
        why = text;
    }
    if (!why) {
        p->share = (GpShare){.map = *map, .blocks = (uint32_t)blocks};
        return GpStatus_Ok;
    }
    GpText shape = {.session = rt->session};
    gp_shape_print(map, &shape);
    gp_primary_label(gp_diag(diags, GpDiag_G0316, gp_site_span(rt, site), gp_text_cstr(&shape)),
                     "%s", why);
    gp_text_free(&shape);
    return GpStatus_Diagnostics;
}

void gp_partition_prefix(GpPartition *p) {
    p->share = (GpShare){.is_prefix = true};
}

bool gp_partition_grid(const GpPartition *p, uint32_t grid[3]) {
    uint64_t blocks[3] = {1, 1, 1};
    if (p->share.map.rank) {
        memcpy(grid, (uint32_t[]){p->share.blocks, 1, 1}, 3 * sizeof *grid);
        return true;
    }
    for (int i = 0; i < p->tile.rank; i++) {
        uint64_t count = (uint64_t)gp_ceil_div(p->tensor->shape.dim[i], p->tile.dim[i]);
        int axis = GP_MIN(i, 2); /* axes past the third share the last one of the grid */
        if (__builtin_mul_overflow(blocks[axis], count, &blocks[axis]))
            return false;
    }
    for (int i = 0; i < 3; i++) {
        if (blocks[i] > UINT32_MAX)
            return false;
        grid[i] = (uint32_t)blocks[i];
    }
    return true;
}

GpStatus gp_partition_unwrap(GpPartition *p, GpSite site, GpDiags *diags, GpTensor **out) {
    *out = NULL;
    GpRequest q = {.tensor = p->tensor, .via = p, .site = site,
                   .verb = p->access == GpAccess_Move ? GpVerb_Drop : GpVerb_Read};
    GpStatus status = gp_own_check(&q, diags);
    if (status != GpStatus_Ok)
        return status;
    give_back(p);
    p->is_ended = true;
    p->ended_at = site;
    *out = gp_tensor_retain(p->tensor);
    return GpStatus_Ok;
}
