/* Layouts: evaluation, comparison, coverage, the blocked and the accumulator's layout. Layouts made
** from others are in layout_map.c.
**
** Invariant of a well-formed layout: every atom extent is a power of two and every basis lies
** inside the atom, so XOR never leaves it. */
#include "dsl/ir/layout.h"

#include "core/gpu.h"

static bool is_power_of_two(uint64_t n) { return n != 0 && (n & (n - 1)) == 0; }

static uint8_t log2_of(uint64_t power) {
    uint8_t n = 0;
    while (power > 1) {
        power >>= 1;
        n++;
    }
    return n;
}

uint32_t gp_layout_registers(const GpLayout *l) {
    uint32_t count = UINT32_C(1) << l->bits[GpLayoutDim_Register];
    for (int a = 0; a < l->rank; a++) count *= (uint32_t)l->repeat[a];
    return count;
}

uint8_t gp_layout_group_bits(const GpLayout *l) {
    return (uint8_t)(l->bits[GpLayoutDim_Lane] + l->bits[GpLayoutDim_Warp]);
}

uint32_t gp_layout_threads(const GpLayout *l) { return (uint32_t)l->groups << gp_layout_group_bits(l); }

/* How many groups take the repetitions of an axis in turns. */
static int32_t groups_on(const GpLayout *l, int axis) {
    return l->groups > 1 && axis == l->group_axis ? l->groups : 1;
}

int32_t gp_layout_group_step(const GpLayout *l, int axis) { return groups_on(l, axis) > 1 ? l->atom[axis] : 0; }

uint32_t gp_layout_group_mask(const GpLayout *l) {
    uint32_t mask = 0;
    for (uint32_t bit = 1; bit < l->groups && l->group_axis < 0; bit *= 2) mask |= bit << gp_layout_group_bits(l);
    return mask;
}

uint32_t gp_layout_useless_mask(const GpLayout *l) {
    uint32_t mask = gp_layout_group_mask(l), bit = 0;
    for (int d = GpLayoutDim_Lane; d <= GpLayoutDim_Warp; d++)
        for (int i = 0; i < l->bits[d]; i++, bit++) {
            bool is_zero = true;
            for (int a = 0; a < l->rank; a++) is_zero &= l->bases[d][i][a] == 0;
            if (is_zero) mask |= UINT32_C(1) << bit;
        }
    return mask;
}

GpShape gp_layout_shape(const GpLayout *l) {
    GpShape shape = {.rank = l->rank};
    for (int a = 0; a < l->rank; a++)
        shape.dim[a] = (int64_t)l->atom[a] * l->repeat[a] * groups_on(l, a);
    return shape;
}

static void apply_bits(const GpLayout *l, GpLayoutDim d, uint32_t index, int32_t *coord) {
    for (int i = 0; i < l->bits[d]; i++)
        if (index >> i & 1)
            for (int a = 0; a < l->rank; a++) coord[a] ^= l->bases[d][i][a];
}

void gp_layout_at(const GpLayout *l, uint32_t reg, uint32_t lane, uint32_t warp, int32_t *coord) {
    for (int a = 0; a < l->rank; a++) coord[a] = 0;
    apply_bits(l, GpLayoutDim_Register, reg, coord);
    apply_bits(l, GpLayoutDim_Lane, lane, coord);
    apply_bits(l, GpLayoutDim_Warp, warp, coord);
    uint32_t digits = reg >> l->bits[GpLayoutDim_Register];
    for (int a = l->rank - 1; a >= 0; a--) { /* the innermost axis repeats fastest */
        uint32_t repeat = (uint32_t)l->repeat[a];
        coord[a] += (int32_t)(digits % repeat) * groups_on(l, a) * l->atom[a];
        coord[a] += (int32_t)(warp >> l->bits[GpLayoutDim_Warp]) * gp_layout_group_step(l, a);
        digits /= repeat;
    }
}

bool gp_layout_equal(const GpLayout *a, const GpLayout *b) {
    if (a->rank != b->rank || a->groups != b->groups || a->group_axis != b->group_axis) return false;
    for (int x = 0; x < a->rank; x++)
        if (a->atom[x] != b->atom[x] || a->repeat[x] != b->repeat[x]) return false;
    for (int d = 0; d < GpLayoutDim_count; d++) {
        if (a->bits[d] != b->bits[d]) return false;
        for (int i = 0; i < a->bits[d]; i++)
            for (int x = 0; x < a->rank; x++)
                if (a->bases[d][i][x] != b->bases[d][i][x]) return false;
    }
    return true;
}

/* Gaussian elimination over GF(2): adds a vector to the pivots; true when it was independent. */
static bool add_pivot(int32_t pivots[GP_MAX_RANK][32][GP_MAX_RANK], const int32_t *basis,
                      int rank) {
    int32_t v[GP_MAX_RANK] = {0};
    memcpy(v, basis, (size_t)rank * sizeof v[0]);
    for (int a = 0; a < rank; a++) {
        for (int bit = 30; bit >= 0; bit--) {
            if (!(v[a] >> bit & 1)) continue;
            int32_t *pivot = pivots[a][bit];
            if (pivot[a] == 0) {
                memcpy(pivot, v, sizeof v);
                return true;
            }
            for (int x = 0; x < rank; x++) v[x] ^= pivot[x];
        }
    }
    return false;
}

bool gp_layout_covers(const GpLayout *l) {
    int want = 0, have = 0;
    for (int a = 0; a < l->rank; a++) {
        if (l->atom[a] < 1 || l->repeat[a] < 1 || !is_power_of_two((uint64_t)l->atom[a]))
            return false;
        want += log2_of((uint64_t)l->atom[a]);
    }
    int32_t pivots[GP_MAX_RANK][32][GP_MAX_RANK] = {0};
    for (int d = 0; d < GpLayoutDim_count; d++) {
        for (int i = 0; i < l->bits[d]; i++) {
            for (int a = 0; a < l->rank; a++)
                if (l->bases[d][i][a] < 0 || l->bases[d][i][a] >= l->atom[a]) return false;
            have += add_pivot(pivots, l->bases[d][i], l->rank);
        }
    }
    return have == want;
}

/* The greatest power of two that divides n. */
static uint32_t power_in(uint32_t n) { return n & -n; }

/* Without bits yet. The atom of an axis is the power of two in its extent. */
static GpLayout *make_layout(GpArena *arena, const GpShape *shape, uint32_t threads) {
    GpLayout *l = GP_NEW(arena, GpLayout);
    l->rank = shape->rank;
    l->groups = (uint8_t)(threads / power_in(threads));
    l->group_axis = -1;
    for (int a = 0; a < shape->rank; a++) {
        gp_assert(shape->dim[a] >= 1 && shape->dim[a] <= INT32_MAX);
        l->atom[a] = (int32_t)(shape->dim[a] & -shape->dim[a]);
        l->repeat[a] = (int32_t)(shape->dim[a] / l->atom[a]);
        if (l->groups > 1 && l->group_axis < 0 && l->repeat[a] % l->groups == 0) {
            l->group_axis = (int8_t)a;
            l->repeat[a] /= l->groups;
        }
    }
    return l;
}

/* The bits of each axis's coordinate that were handed out, from the lowest on. */
typedef struct BitSource {
    int used[GP_MAX_RANK];
} BitSource;

static bool take_bit(GpLayout *l, BitSource *from, GpLayoutDim d, int axis) {
    if (axis < 0 || l->atom[axis] >> from->used[axis] <= 1) return false;
    gp_assert(l->bits[d] < GP_LAYOUT_BITS);
    l->bases[d][l->bits[d]++][axis] = (int32_t)1 << from->used[axis]++;
    return true;
}

/* The next bit of the innermost of the axes up to `axis` that has one. */
static bool take_from(GpLayout *l, BitSource *from, GpLayoutDim d, int axis) {
    while (axis >= 0 && !take_bit(l, from, d, axis)) axis--;
    return axis >= 0;
}

const GpLayout *gp_layout_blocked(GpArena *arena, const GpShape *shape, uint32_t vector,
                                  uint32_t threads, int inner) {
    gp_assert(is_power_of_two(vector) && threads >= GP_GPU_LANES);
    GpLayout *l = make_layout(arena, shape, threads);
    BitSource from = {{0}};
    int last = shape->rank - 1, bits = log2_of(power_in(threads));
    bool is_scan = last >= 0 && inner == GP_LAYOUT_SCAN;
    if (is_scan)
        inner = GP_LAYOUT_ROWS;
    for (int i = 0; i < log2_of(vector); i++) take_bit(l, &from, GpLayoutDim_Register, last);
    for (int i = 0; i < bits; i++) {
        GpLayoutDim d = i < GP_GPU_LANE_BITS ? GpLayoutDim_Lane : GpLayoutDim_Warp;
        bool is_taken = (i < inner && take_bit(l, &from, d, last)) || take_from(l, &from, d, last - 1);
        while (!is_taken && is_scan && i >= GP_GPU_LANE_BITS && l->atom[last] >> from.used[last] > 1 << (bits - i))
            take_bit(l, &from, GpLayoutDim_Register, last);
        is_taken = is_taken || take_bit(l, &from, d, last);
        if (!is_taken) l->bits[d]++; /* no coordinate is left for it: it holds everything twice */
    }
    while (take_from(l, &from, GpLayoutDim_Register, last)) {}
    return l;
}

/* Bits `first`.. of an axis's coordinate, to the last one of the atom. */
static void take_axis(GpLayout *l, GpLayoutDim d, int axis, int32_t first, int count) {
    for (int32_t bit = first; bit < l->atom[axis] && count > 0; bit *= 2, count--)
        l->bases[d][l->bits[d]++][axis] = bit;
}

/* How many warp bits an axis's coordinate has from bit `first` on. */
static int count_bits(const GpLayout *l, int axis, int32_t first, int most) {
    int count = 0;
    while (count < most && first << count < l->atom[axis])
        count++;
    return count;
}

const GpLayout *gp_layout_mma(GpArena *arena, const GpShape *shape, uint32_t threads, uint32_t across) {
    int row = shape->rank - 2, column = shape->rank - 1, warps = log2_of(power_in(threads)) - GP_GPU_LANE_BITS;
    gp_assert(row >= 0 && shape->dim[row] % 16 == 0 && shape->dim[column] % 8 == 0);
    GpLayout *l = make_layout(arena, shape, threads);
    int wide = count_bits(l, column, 16, log2_of(across));
    int tall = count_bits(l, row, 16, warps - log2_of(across));
    take_axis(l, GpLayoutDim_Register, column, 1, 1);
    take_axis(l, GpLayoutDim_Register, row, 8, 1);
    take_axis(l, GpLayoutDim_Register, column, 8, 1);
    take_axis(l, GpLayoutDim_Register, column, (int32_t)16 << wide, GP_LAYOUT_BITS);
    take_axis(l, GpLayoutDim_Lane, column, 2, 2);
    take_axis(l, GpLayoutDim_Lane, row, 1, 3);
    take_axis(l, GpLayoutDim_Warp, row, 16, tall);
    take_axis(l, GpLayoutDim_Warp, column, 16, wide);
    take_axis(l, GpLayoutDim_Register, row, (int32_t)16 << tall, GP_LAYOUT_BITS);
    l->bits[GpLayoutDim_Warp] = (uint8_t)warps;
    if (row == 1)
        take_axis(l, GpLayoutDim_Register, 0, 1, GP_LAYOUT_BITS);
    return l;
}

/* Bits of the innermost coordinate that anything but the low `run` register bits sets. */
static int32_t foreign_bits(const GpLayout *l, int run) {
    int32_t bits = 0;
    for (int d = 0; d < GpLayoutDim_count; d++)
        for (int i = d == GpLayoutDim_Register ? run : 0; i < l->bits[d]; i++)
            bits |= l->bases[d][i][l->rank - 1];
    return bits;
}

static bool is_unit_basis(const GpLayout *l, int i) {
    for (int a = 0; a < l->rank - 1; a++)
        if (l->bases[GpLayoutDim_Register][i][a] != 0) return false;
    return l->bases[GpLayoutDim_Register][i][l->rank - 1] == (int32_t)1 << i;
}

uint32_t gp_layout_run(const GpLayout *l) {
    if (l->rank == 0) return 1;
    int run = 0;
    while (run < l->bits[GpLayoutDim_Register] && is_unit_basis(l, run)) run++;
    while (run > 0 && (foreign_bits(l, run) & (((int32_t)1 << run) - 1)) != 0) run--;
    return UINT32_C(1) << run;
}
