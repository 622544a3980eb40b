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
    out->groups = l->groups;
    out->group_axis = -1;
    memcpy(out->bits, l->bits, sizeof out->bits);
    for (int k = 0; k < rank; k++) {
        int a = from[k];
        if (a >= 0 && a == l->group_axis)
            out->group_axis = (int8_t)k;
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

static void insert_register(GpLayout *l, int at, int axis) {
    int count = l->bits[GpLayoutDim_Register]++;
    gp_assert(count < GP_LAYOUT_BITS);
    int32_t (*bases)[GP_MAX_RANK] = l->bases[GpLayoutDim_Register];
    memmove(bases + at + 1, bases + at, (size_t)(count - at) * sizeof bases[0]);
    memset(bases[at], 0, sizeof bases[0]);
    bases[at][axis] = l->atom[axis];
}

/* How many of the lowest registers' bases are of the innermost axis alone: runs begin with them. */
static int inner_registers(const GpLayout *l) {
    int count = 0;
    while (count < l->bits[GpLayoutDim_Register] && is_zero(basis_of(l, GpLayoutDim_Register, count), l->rank - 1))
        count++;
    return count;
}

const GpLayout *gp_layout_widen(GpArena *arena, const GpLayout *l, const GpShape *shape) {
    GpShape from = gp_layout_shape(l);
    GpLayout *out = GP_NEW(arena, GpLayout);
    *out = *l;
    for (int a = 0; a < l->rank; a++) {
        if (shape->dim[a] == from.dim[a]) continue;
        if (gp_layout_group_step(l, a) || shape->dim[a] % from.dim[a] != 0) return NULL;
        out->repeat[a] *= (int32_t)(shape->dim[a] / from.dim[a]);
        for (; out->repeat[a] % 2 == 0; out->repeat[a] /= 2, out->atom[a] *= 2)
            insert_register(out, a == l->rank - 1 ? inner_registers(out) : out->bits[GpLayoutDim_Register], a);
    }
    return out;
}

/* Takes the bits above `limit` of the axis from the registers; false: others have some of them. */
static bool drop_above(GpLayout *l, int axis, int32_t limit) {
    for (int d = 0; d < GpLayoutDim_count; d++)
        for (int i = 0; i < l->bits[d]; i++) {
            int32_t *basis = l->bases[d][i], coord = basis[axis];
            if (coord < limit) continue;
            basis[axis] = 0;
            if (d != GpLayoutDim_Register || coord % limit != 0 || !is_zero(basis, l->rank)) return false;
        }
    l->atom[axis] = limit;
    l->repeat[axis] = 1;
    return true;
}

const GpLayout *gp_layout_narrow(GpArena *arena, const GpLayout *l, const GpShape *shape) {
    GpShape from = gp_layout_shape(l);
    GpLayout *out = GP_NEW(arena, GpLayout);
    *out = *l;
    for (int a = 0; a < l->rank; a++) {
        int64_t limit = shape->dim[a];
        if (limit == from.dim[a]) continue;
        bool is_part = limit <= l->atom[a] && (limit & (limit - 1)) == 0 && !gp_layout_group_step(l, a);
        if (!is_part || !drop_above(out, a, (int32_t)limit)) return NULL;
    }
    drop_zero_registers(out);
    return out;
}

/* Axes of one shape, and of another one, that make up the same part of the row-major offset. */
typedef struct Part {
    int from[2], to[2]; /* the first, and behind the last: of the old shape, of the new one */
} Part;

/* The part behind `p`; false: there is none. */
static bool next_part(const GpShape *old, const GpShape *shape, Part *p) {
    int64_t extent[2] = {1, 1};
    p->from[0] = p->from[1];
    p->to[0] = p->to[1];
    do {
        if (extent[0] <= extent[1] && p->from[1] < old->rank)
            extent[0] *= old->dim[p->from[1]++];
        else if (p->to[1] < shape->rank)
            extent[1] *= shape->dim[p->to[1]++];
        else
            return false;
    } while (extent[0] != extent[1]);
    return true;
}

/* The part's slowest axis, which may repeat; the others are powers of two. -1: they are not. */
static int slowest_axis(const GpShape *s, const int *range) {
    int first = range[0];
    while (first + 1 < range[1] && s->dim[first] == 1) first++;
    for (int a = first + 1; a < range[1]; a++)
        if ((s->dim[a] & (s->dim[a] - 1)) != 0) return -1;
    return first;
}

/* Inside the atoms, coordinates of a part are fields of the bits of its offset. */
static void move_basis(const GpLayout *l, const int32_t *basis, const Part *p, const GpLayout *out, int32_t *to) {
    int32_t offset = 0;
    for (int a = p->from[0]; a < p->from[1]; a++) offset = offset * l->atom[a] + basis[a];
    for (int k = p->to[1] - 1; k >= p->to[0]; k--) {
        to[k] = offset % out->atom[k];
        offset /= out->atom[k];
    }
}

static bool reshape_part(const GpLayout *l, const GpShape *old, const Part *p, const GpShape *shape, GpLayout *out) {
    int from = slowest_axis(old, p->from), to = slowest_axis(shape, p->to);
    if (from < 0 || to < 0) return false;
    for (int k = p->to[0]; k < p->to[1]; k++) {
        out->atom[k] = (int32_t)(shape->dim[k] & -shape->dim[k]);
        out->repeat[k] = k == to && from < p->from[1] ? l->repeat[from] : 1;
    }
    if (gp_layout_group_step(l, from)) out->group_axis = (int8_t)to;
    for (int d = 0; d < GpLayoutDim_count; d++)
        for (int i = 0; i < l->bits[d]; i++) move_basis(l, basis_of(l, d, i), p, out, out->bases[d][i]);
    return true;
}

const GpLayout *gp_layout_reshape(GpArena *arena, const GpLayout *l, const GpShape *shape) {
    GpShape old = gp_layout_shape(l);
    GpLayout *out = GP_NEW(arena, GpLayout);
    Part part = {{0, 0}, {0, 0}};
    out->rank = shape->rank;
    out->groups = l->groups;
    out->group_axis = -1;
    memcpy(out->bits, l->bits, sizeof out->bits);
    while (part.from[1] < old.rank || part.to[1] < shape->rank)
        if (!next_part(&old, shape, &part) || !reshape_part(l, &old, &part, shape, out)) return NULL;
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
    bool is_first = true; /* the group's that is asked */
    for (int a = 0; a < l->rank; a++) {
        int32_t groups = gp_layout_group_step(l, a) ? l->groups : 1, digit = coord[a] / l->atom[a];
        v.at[a] = coord[a] % l->atom[a];
        is_first &= digit % groups == 0;
        digits = digits * (uint32_t)l->repeat[a] + (uint32_t)(digit / groups);
    }
    reduce(e, &v);
    *reg = digits << l->bits[GpLayoutDim_Register] | v.registers;
    return is_first && is_zero(v.at, l->rank);
}

bool gp_layout_register(const GpLayout *l, const int32_t *coord, uint32_t *reg) {
    Echelon e = echelon_of(l);
    return find_register(l, &e, coord, reg);
}

bool gp_layout_same_thread(const GpLayout *from, const GpLayout *to, uint32_t *map) {
    GpShape a = gp_layout_shape(from), b = gp_layout_shape(to);
    if (!gp_shape_eq(&a, &b) || from->groups != to->groups || from->group_axis != to->group_axis) return false;
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
