/* Block and grid of a launch: inferred, or given and checked. Limits of devices are the
** runtime's to check. */
#include "dsl/bind.h"

enum { BLOCK_DEFAULT = 256 };
#define GRID_MAX INT64_C(0x7fffffff)

static const char *name_dims(GpBinder *b, const uint32_t d[3]) {
    return gp_bind_text(b, "(%u, %u, %u)", d[0], d[1], d[2]);
}

static bool is_given(const uint32_t d[3]) { return d[0] || d[1] || d[2]; }

static void copy_dims(uint32_t to[3], const uint32_t from[3]) {
    for (int i = 0; i < 3; i++)
        to[i] = from[i] ? from[i] : 1;
}

static bool is_equal(const uint32_t a[3], const uint32_t z[3]) {
    return a[0] == z[0] && a[1] == z[1] && a[2] == z[2];
}

/* ---- Block ------------------------------------------------------------------------------------
 */

static void check_contract_block(GpBinder *b) {
    const GpKernelAttrs *k = &b->kernel->kernel;
    uint32_t want[3];
    copy_dims(want, k->block);
    if (!is_given(k->block) || is_equal(want, b->inst->block))
        return;
    GpDiag *d = gp_bind_refuse(b, GpDiag_G0323, gp_bind_kernel_name(b), "");
    gp_primary_label(d, "this launch has blocks of %s, the contract says %s",
                     name_dims(b, b->inst->block), name_dims(b, want));
    gp_note_at(d, gp_bind_attr_span(b, "launch_contract"), "the contract is made here");
}

static void check_bounds(GpBinder *b) {
    const GpKernelAttrs *k = &b->kernel->kernel;
    uint64_t threads = (uint64_t)b->inst->block[0] * b->inst->block[1];
    threads = threads > UINT32_MAX ? threads : threads * b->inst->block[2];
    if (!k->max_threads || threads <= k->max_threads)
        return;
    GpDiag *d =
        gp_bind_refuse(b, GpDiag_G0324, gp_bind_text(b, "%llu", (unsigned long long)threads),
                       gp_bind_kernel_name(b));
    gp_primary_label(d, "at most %u threads are allowed", k->max_threads);
    gp_note_at(d, gp_bind_attr_span(b, "launch_bounds"), "the bound is set here");
}

void gp_bind_block(GpBinder *b, const uint32_t given[3]) {
    const GpKernelAttrs *k = &b->kernel->kernel;
    uint32_t one[3] = {1, 1, 1};
    if (k->track != GpTrack_Simt) {
        copy_dims(b->inst->block, one);
        if (!given || !is_given(given))
            return;
        GpDiag *d = gp_bind_refuse(b, GpDiag_G0322, gp_bind_kernel_name(b), "");
        gp_primary_label(d, "a tile kernel has no block: the compiler chooses its threads");
        return;
    }
    if (given && is_given(given))
        copy_dims(b->inst->block, given);
    else if (is_given(k->block))
        copy_dims(b->inst->block, k->block);
    else {
        one[0] = k->max_threads ? k->max_threads : BLOCK_DEFAULT;
        copy_dims(b->inst->block, one);
    }
    check_contract_block(b);
    if (!b->has_failed)
        check_bounds(b);
}

/* ---- Grid -------------------------------------------------------------------------------------
 */

static bool set_extent(GpBinder *b, uint32_t arg, int axis, int64_t blocks) {
    if (blocks <= GRID_MAX) {
        b->inst->grid[axis] = (uint32_t)blocks;
        return true;
    }
    GpDiag *d = gp_bind_refuse(b, GpDiag_G0322, gp_bind_kernel_name(b), "");
    gp_primary_label(d, "argument %u, `%s`, needs %lld blocks on axis %d", arg + 1,
                     gp_bind_param_name(b, arg), (long long)blocks, axis);
    return false;
}

/* Overflow-free: extents reach 2^63 - 1. */
static int64_t count_blocks(int64_t n, int64_t size) { return n / size + (n % size != 0); }

static bool grid_of_partition(GpBinder *b, uint32_t arg) {
    const GpArgDesc *a = &b->request->args[arg];
    uint32_t one[3] = {1, 1, 1};
    copy_dims(b->inst->grid, one);
    if (a->share.map.rank)
        return set_extent(b, arg, 0, a->share.blocks);
    for (int i = 0; i < a->tile.rank; i++) {
        int64_t tiles = a->tile.dim[i] > 0 ? count_blocks(a->shape.dim[i], a->tile.dim[i]) : 0;
        if (i < 3 && !set_extent(b, arg, i, tiles))
            return false;
        if (i < 3 || tiles == 1)
            continue;
        GpDiag *d = gp_bind_refuse(b, GpDiag_G0322, gp_bind_kernel_name(b), "");
        gp_primary_label(d, "argument %u, `%s`, has %lld tiles on axis %d; a grid has 3 axes",
                         arg + 1, gp_bind_param_name(b, arg), (long long)tiles, i);
        return false;
    }
    return true;
}

/* All partitions have one grid: that of the first. */
static bool grid_of_tiles(GpBinder *b, uint32_t *from) {
    uint32_t first[3] = {0};
    bool has_one = false;
    for (uint32_t i = 0; i < b->inst->arg_count; i++) {
        if (b->request->args[i].kind != GpArg_Partition || b->request->args[i].share.is_prefix)
            continue;
        if (!grid_of_partition(b, i))
            return false;
        if (has_one && !is_equal(first, b->inst->grid)) {
            GpDiag *d = gp_bind_refuse(b, GpDiag_G0321, gp_bind_kernel_name(b), "");
            gp_primary_label(d, "`%s` has %s tiles, but `%s` has %s", gp_bind_param_name(b, *from),
                             name_dims(b, first), gp_bind_param_name(b, i),
                             name_dims(b, b->inst->grid));
            return false;
        }
        if (!has_one)
            *from = i;
        has_one = true;
        memcpy(first, b->inst->grid, sizeof first);
    }
    return has_one;
}

static bool grid_of_slices(GpBinder *b) {
    for (uint32_t i = 0; i < b->inst->arg_count; i++) {
        if (gp_bind_form(b->kernel->sig.params[i]) != GpParamForm_Disjoint)
            continue;
        int64_t n;
        if (!gp_shape_numel(&b->request->args[i].shape, &n))
            return false;
        b->inst->grid[1] = b->inst->grid[2] = 1;
        return set_extent(b, i, 0, count_blocks(n, b->inst->block[0]));
    }
    return false;
}

static const char *why_unknown(const GpBinder *b) {
    for (uint32_t i = 0; i < b->inst->arg_count; i++)
        if (b->request->args[i].kind == GpArg_Partition && b->request->args[i].share.is_prefix)
            return "a partition that is covered in part gives no grid";
    return b->kernel->kernel.track == GpTrack_Tile ? "no argument is a partition"
                                                   : "no parameter is a `DisjointSlice`";
}

static void refuse_unknown(GpBinder *b) {
    GpDiag *d = gp_bind_refuse(b, GpDiag_G0320, gp_bind_kernel_name(b), "");
    gp_primary_label(d, "%s", why_unknown(b));
    gp_help(d, "give it: `k.%s:with{grid = 8}`", gp_bind_kernel_name(b));
}

static void check_domain(GpBinder *b) {
    const GpKernelAttrs *k = &b->kernel->kernel;
    for (uint32_t i = k->domain; k->domain && i < 3; i++) {
        if (b->inst->grid[i] == 1 && b->inst->block[i] == 1)
            continue;
        GpDiag *d = gp_bind_refuse(b, GpDiag_G0323, gp_bind_kernel_name(b), "");
        gp_primary_label(d, "a grid of %s in blocks of %s has more than %u dimension%s",
                         name_dims(b, b->inst->grid), name_dims(b, b->inst->block), k->domain,
                         gp_plural(k->domain));
        gp_note_at(d, gp_bind_attr_span(b, "launch_contract"), "the contract is made here");
        return;
    }
}

/* A grid leaves tiles of a prefix out at most. */
static void check_prefixes(GpBinder *b) {
    uint32_t grid[3];
    memcpy(grid, b->inst->grid, sizeof grid);
    for (uint32_t i = 0; i < b->inst->arg_count && !b->has_failed; i++) {
        const GpArgDesc *a = &b->request->args[i];
        if (a->kind != GpArg_Partition || !a->share.is_prefix || !grid_of_partition(b, i))
            continue;
        for (int axis = 0; axis < 3 && !b->has_failed; axis++) {
            if (grid[axis] <= b->inst->grid[axis])
                continue;
            GpDiag *d = gp_bind_refuse(b, GpDiag_G0322, gp_bind_kernel_name(b), "");
            gp_primary_label(d, "the grid is %s, but argument %u, `%s`, has %s tiles: too few on axis %d",
                             name_dims(b, grid), i + 1, gp_bind_param_name(b, i),
                             name_dims(b, b->inst->grid), axis);
        }
    }
    memcpy(b->inst->grid, grid, sizeof grid);
}

static void bind_tile_grid(GpBinder *b) {
    const uint32_t *given = b->request->grid;
    uint32_t from = 0, want[3];
    bool is_known = grid_of_tiles(b, &from);
    if (b->has_failed)
        return;
    copy_dims(want, given);
    if (!is_known) {
        if (is_given(given))
            copy_dims(b->inst->grid, want);
        else
            refuse_unknown(b);
        return;
    }
    if (!is_given(given) || is_equal(want, b->inst->grid))
        return;
    GpDiag *d = gp_bind_refuse(b, GpDiag_G0322, gp_bind_kernel_name(b), "");
    gp_primary_label(d, "the grid is given as %s, but argument %u, `%s`, has %s tiles",
                     name_dims(b, want), from + 1, gp_bind_param_name(b, from),
                     name_dims(b, b->inst->grid));
    gp_help(d, "leave the grid out: it follows from the tiles");
}

void gp_bind_grid(GpBinder *b) {
    if (b->kernel->kernel.track == GpTrack_Tile) {
        bind_tile_grid(b);
        if (!b->has_failed)
            check_prefixes(b);
        return;
    }
    if (is_given(b->request->grid))
        copy_dims(b->inst->grid, b->request->grid);
    else if (!grid_of_slices(b)) {
        if (!b->has_failed)
            refuse_unknown(b);
        return;
    }
    check_domain(b);
}
