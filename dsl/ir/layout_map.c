/* Layouts made from others, and which register of one is which of another.
**
** All questions are answered on bases: the coordinates that a thread's registers reach from its own
** are the span of the register bases, times the repetitions, and the same for every thread. */
#include "dsl/ir/layout.h"

static const int32_t *basis_of(const GpLayout *l, int d, int i) { return l->bases[d][i]; }

static bool is_zero(const int32_t *basis, int rank) {
    for (int a = 0; a < rank; a++)
        if (basis[a] != 0) return false;
    return true;
}

/* Drops registers bits that change nothing; bits of lanes and warps stay, for they number threads. */
static void drop_zero_registers(GpLayout *l) {
    int kept = 0;
    for (int i = 0; i < l->bits[GpLayoutDim_Register]; i++) {
        int32_t basis[GP_MAX_RANK];
        memcpy(basis, basis_of(l, GpLayoutDim_Register, i), sizeof basis);
        if (!is_zero(basis, l->rank))
            memcpy(l->bases[GpLayoutDim_Register][kept++], basis, sizeof basis);
    }
    l->bits[GpLayoutDim_Register] = (uint8_t)kept;
}

/* Axis k of the result is axis from[k] of `l`; below zero: an axis of extent 1. */
static const GpLayout *pick_axes(GpArena *arena, const GpLayout *l, const int *from, int rank) {
    GpLayout *out = GP_NEW(arena, GpLayout);
    out->rank = (uint8_t)rank;
    memcpy(out->bits, l->bits, sizeof out->bits);
    for (int k = 0; k < rank; k++) {
        int a = from[k];
        out->atom[k] = a < 0 ? 1 : l->atom[a];
        out->repeat[k] = a < 0 ? 1 : l->repeat[a];
        for (int d = 0; d < GpLayoutDim_count; d++)
            for (int i = 0; i < l->bits[d] && a >= 0; i++)
                out->bases[d][i][k] = basis_of(l, d, i)[a];
    }
    drop_zero_registers(out);
    return out;
}

const GpLayout *gp_layout_slice(GpArena *arena, const GpLayout *l, int axis) {
    int from[GP_MAX_RANK], rank = 0;
    for (int a = 0; a < l->rank; a++)
        if (a != axis) from[rank++] = a;
    return pick_axes(arena, l, from, rank);
}

const GpLayout *gp_layout_permute(GpArena *arena, const GpLayout *l, const GpPerm *perm) {
    int from[GP_MAX_RANK];
    for (int k = 0; k < l->rank; k++) from[k] = perm->axis[k];
    return pick_axes(arena, l, from, l->rank);
}

/* Pairs the axes whose extent is not 1, in order; false: they differ. */
static bool pair_axes(const GpShape *old, const GpShape *shape, int *from) {
    int a = 0;
    for (int k = 0; k < shape->rank; k++) {
        from[k] = -1;
        if (shape->dim[k] == 1) continue;
        while (a < old->rank && old->dim[a] == 1) a++;
        if (a == old->rank || old->dim[a] != shape->dim[k]) return false;
        from[k] = a++;
    }
    while (a < old->rank && old->dim[a] == 1) a++;
    return a == old->rank;
}

static bool is_power_of_two(const GpShape *s) {
    for (int a = 0; a < s->rank; a++)
        if ((s->dim[a] & (s->dim[a] - 1)) != 0) return false;
    return true;
}

/* Where extents are powers of two, coordinates are fields of the bits of the row-major offset. */
static void split_offset(int64_t offset, const GpShape *shape, int32_t *coord) {
    for (int a = shape->rank - 1; a >= 0; a--) {
        coord[a] = (int32_t)(offset % shape->dim[a]);
        offset /= shape->dim[a];
    }
}

static int64_t offset_of(const int32_t *coord, const GpShape *shape) {
    int64_t offset = 0;
    for (int a = 0; a < shape->rank; a++) offset = offset * shape->dim[a] + coord[a];
    return offset;
}

const GpLayout *gp_layout_reshape(GpArena *arena, const GpLayout *l, const GpShape *shape) {
    GpShape old = gp_layout_shape(l);
    int from[GP_MAX_RANK];
    if (pair_axes(&old, shape, from)) return pick_axes(arena, l, from, shape->rank);
    if (!is_power_of_two(&old) || !is_power_of_two(shape)) return NULL;
    GpLayout *out = GP_NEW(arena, GpLayout);
    out->rank = shape->rank;
    memcpy(out->bits, l->bits, sizeof out->bits);
    for (int a = 0; a < shape->rank; a++) {
        out->atom[a] = (int32_t)shape->dim[a];
        out->repeat[a] = 1;
    }
    for (int d = 0; d < GpLayoutDim_count; d++)
        for (int i = 0; i < l->bits[d]; i++)
            split_offset(offset_of(basis_of(l, d, i), &old), shape, out->bases[d][i]);
    return out;
}

/* The register bases in echelon form: `lead` is the highest bit of the first axis that is not 0. */
typedef struct Pivot {
    int32_t at[GP_MAX_RANK];
    uint32_t registers; /* whose bases sum to it */
    int axis;
    int32_t lead;
} Pivot;

typedef struct Echelon {
    Pivot row[GP_LAYOUT_BITS];
    int count, rank;
} Echelon;

static void reduce(const Echelon *e, Pivot *v) {
    for (int i = 0; i < e->count; i++) {
        const Pivot *p = &e->row[i];
        if (!(v->at[p->axis] & p->lead)) continue;
        for (int a = 0; a < e->rank; a++) v->at[a] ^= p->at[a];
        v->registers ^= p->registers;
    }
}

/* Each row's lead is cleared in the rows after it, which one pass of `reduce` relies on. */
static Echelon echelon_of(const GpLayout *l) {
    Echelon e = {.rank = l->rank};
    for (int i = 0; i < l->bits[GpLayoutDim_Register]; i++) {
        Pivot v = {.registers = UINT32_C(1) << i};
        memcpy(v.at, basis_of(l, GpLayoutDim_Register, i), sizeof v.at);
        reduce(&e, &v);
        while (v.axis < l->rank && v.at[v.axis] == 0) v.axis++;
        if (v.axis == l->rank) continue;
        v.lead = 1;
        while (v.lead <= v.at[v.axis] / 2) v.lead *= 2;
        e.row[e.count++] = v;
    }
    return e;
}

static bool find_register(const GpLayout *l, const Echelon *e, const int32_t *coord, uint32_t *reg) {
    Pivot v = {.registers = 0};
    uint32_t digits = 0;
    for (int a = 0; a < l->rank; a++) {
        v.at[a] = coord[a] % l->atom[a];
        digits = digits * (uint32_t)l->repeat[a] + (uint32_t)(coord[a] / l->atom[a]);
    }
    reduce(e, &v);
    *reg = digits << l->bits[GpLayoutDim_Register] | v.registers;
    return is_zero(v.at, l->rank);
}

bool gp_layout_register(const GpLayout *l, const int32_t *coord, uint32_t *reg) {
    Echelon e = echelon_of(l);
    return find_register(l, &e, coord, reg);
}

bool gp_layout_same_thread(const GpLayout *from, const GpLayout *to, uint32_t *map) {
    GpShape a = gp_layout_shape(from), b = gp_layout_shape(to);
    if (!gp_shape_eq(&a, &b)) return false;
    for (int d = GpLayoutDim_Lane; d <= GpLayoutDim_Warp; d++) {
        if (from->bits[d] != to->bits[d]) return false;
        for (int i = 0; i < from->bits[d]; i++)
            if (memcmp(basis_of(from, d, i), basis_of(to, d, i), sizeof(int32_t) * from->rank) != 0)
                return false;
    }
    Echelon e = echelon_of(from);
    for (uint32_t r = 0; r < gp_layout_registers(to); r++) {
        int32_t at[GP_MAX_RANK];
        gp_layout_at(to, r, 0, 0, at);
        if (!find_register(from, &e, at, &map[r])) return false;
    }
    return true;
}
