/* Mapped partitions: a launch has as many blocks as it likes, and each visits the tiles t, t + blocks,
** t + 2 * blocks, .. of a schedule, t being its own number. The map orders them: row-major, in bands
** of rows (the last axis but one), or in bands cut into groups of columns. An axis that the map
** calls 0 is no part of the schedule: each block has all of it.
**
** A coordinate that a schedule gave is remembered by its value, so that only such ones store. */
#include "dsl/lower_tile.h"

typedef struct GpMint {
    int64_t views[2]; /* ids of the tensors */
    uint32_t axis;
    GpValue *count[GP_MAX_RANK]; /* tiles on each axis, of both */
} GpMint;

typedef struct Schedule {
    uint32_t rank;
    GpShape map;
    GpScalar views[2];
    GpValue *count[GP_MAX_RANK], *first[GP_MAX_RANK], *len[GP_MAX_RANK];
} Schedule;

static uint32_t slot(uint32_t axis, uint32_t what) {
    return GP_SCHEDULE_LEAD + axis * GP_SCHEDULE_PER_AXIS + what;
}

static GpValue *number(GpLower *lo, int64_t v) { return gp_build_int(&lo->b, GpElem_I32, v); }

static GpValue *build2(GpLower *lo, GpOp op, GpValue *x, GpValue *y) {
    return gp_build2(&lo->b, op, x, y);
}

static GpShape map_of(GpLower *lo, const GpType *t) {
    return gp_lower_shape(lo, t->args[t->arg_count - 1].shape);
}

static GpValue *id_of(GpLower *lo, GpValue *tensor) {
    return number(lo, (int64_t)gp_lower_resolve(tensor)->id);
}

/* ---- Making schedules ------------------------------------------------------------------------ */

static bool refuse_map(GpLower *lo, GpSpan span, const char *why) {
    gp_primary_label(gp_diag(lo->diags, GpDiag_G0257, span), "%s", why);
    lo->has_failed = true;
    return false;
}

static bool check_map(GpLower *lo, GpSpan span, const GpShape *map) {
    bool is_streamed = false;
    for (int i = 0; i < map->rank; i++) {
        is_streamed |= map->dim[i] > 0;
        if (map->dim[i] < 0)
            return refuse_map(lo, span, "an entry of the map is negative");
        if (map->dim[i] > 1 && (map->rank == 1 || i + 2 < map->rank))
            return refuse_map(lo, span, "only the last two axes of several are grouped");
    }
    return is_streamed || refuse_map(lo, span, "no axis is left to share out");
}

/* Both partitions have as many tiles. */
static void require_grid(GpLower *lo, const GpLowerCall *call, const GpTileView *a,
                         const GpTileView *b) {
    for (uint32_t i = 0; i < a->rank; i++) {
        if (gp_tile_is_same(a->count[i], b->count[i]))
            continue;
        GpTileNeed need = {
            gp_build_cmp(&lo->b, GpPred_Eq, a->count[i], b->count[i]), a->count[i], b->count[i],
            gp_arena_printf(lo->arena, "that both partitions have as many tiles on axis %u", i)};
        gp_tile_require(lo, call, &need);
    }
}

/* What is known at compile time to be no part of the axis; reported. */
static bool refuse_range(GpLower *lo, const GpLowerCall *call, uint32_t axis, const char *why) {
    gp_primary_label(gp_diag(lo->diags, GpDiag_G0258, call->span,
                             gp_arena_printf(lo->arena, "%u", axis)),
                     "%s", why);
    lo->has_failed = true;
    return false;
}

static bool check_known_range(GpLower *lo, const GpLowerCall *call, uint32_t axis, GpValue *first,
                              GpValue *len, GpValue *count) {
    GpScalar a, n, all;
    bool has_first = gp_tile_known(first, &a), has_len = gp_tile_known(len, &n);
    bool has_count = gp_tile_known(count, &all);
    if (has_first && a.i < 0)
        return refuse_range(lo, call, axis, "its start is negative");
    if (has_len && n.i < 0)
        return refuse_range(lo, call, axis, "its length is negative; -1 means the rest of the axis");
    if (has_first && has_count && a.i > all.i)
        return refuse_range(lo, call, axis, "it starts behind the last tile");
    if (has_first && has_len && has_count && a.i + n.i > all.i)
        return refuse_range(lo, call, axis, "it ends behind the last tile");
    return true;
}

/* 0 <= first <= first + len <= count */
static void require_range(GpLower *lo, const GpLowerCall *call, uint32_t axis, GpValue *first,
                          GpValue *len, GpValue *count) {
    gp_tile_require_within(lo, call, first, count,
                   gp_arena_printf(lo->arena, "that the range on axis %u starts within its tiles", axis));
    gp_tile_require_within(lo, call, len, build2(lo, GpOp_Sub, count, first),
                   gp_arena_printf(lo->arena, "that the range on axis %u ends within its tiles", axis));
}

static bool is_const(GpValue *v, int64_t k) {
    GpScalar s;
    return gp_tile_known(v, &s) && s.i == k;
}

/* Argument 1 is an array of (start, length). */
static bool read_ranges(GpLower *lo, const GpLowerCall *call, const GpTileView *v, Schedule *s) {
    GpVal ranges = gp_call_arg(lo, call, 1);
    if (ranges.count != 2 * v->rank) {
        gp_lower_refuse(lo, call->span, "%u ranges of a partition of rank %u", ranges.count / 2,
                        v->rank);
        return false;
    }
    for (uint32_t i = 0; i < v->rank; i++) {
        GpValue *first = gp_lower_get(lo, &ranges, 2 * i);
        GpValue *len = gp_lower_get(lo, &ranges, 2 * i + 1);
        bool is_rest = is_const(len, -1);
        if (is_rest && is_const(first, 0))
            continue;
        if (!s->map.dim[i])
            return refuse_range(lo, call, i, "the map leaves this axis to each block whole");
        if (!check_known_range(lo, call, i, first, is_rest ? number(lo, 0) : len, v->count[i]))
            return false;
        if (is_rest)
            len = build2(lo, GpOp_Sub, v->count[i], first);
        require_range(lo, call, i, first, len, v->count[i]);
        s->first[i] = first;
        s->len[i] = len;
    }
    return true;
}

static GpVal pack(GpLower *lo, const GpLowerCall *call, const Schedule *s, GpValue *const *ids) {
    GpVal out = gp_lower_undef(lo, call->type);
    out.at[0].value = ids[0];
    out.at[1].value = ids[1];
    for (uint32_t i = 0; i < s->rank; i++) {
        out.at[slot(i, 0)].value = s->count[i];
        out.at[slot(i, 1)].value = s->first[i];
        out.at[slot(i, 2)].value = s->len[i];
    }
    return out;
}

GpVal gp_lower_IterIndices(GpLower *lo, const GpLowerCall *call) {
    GpTileView v, other;
    Schedule s = {.map = map_of(lo, call->type)};
    bool has_other = gp_call_ends(call, "_with"), has_ranges = strstr(call->def->name->name, "within");
    if (!gp_tile_read_view(lo, call, 0, &v) || !check_map(lo, call->span, &s.map))
        return gp_lower_undef(lo, call->type);
    s.rank = v.rank;
    GpValue *ids[2] = {id_of(lo, v.tensor), id_of(lo, v.tensor)};
    for (uint32_t i = 0; i < v.rank; i++) {
        s.count[i] = v.count[i];
        s.first[i] = number(lo, 0);
        s.len[i] = s.map.dim[i] ? v.count[i] : number(lo, 1);
    }
    if (has_other) {
        if (!gp_tile_read_view(lo, call, call->arg_count - 1, &other))
            return gp_lower_undef(lo, call->type);
        require_grid(lo, call, &v, &other);
        ids[1] = id_of(lo, other.tensor);
    }
    if (has_ranges && !read_ranges(lo, call, &v, &s))
        return gp_lower_undef(lo, call->type);
    return pack(lo, call, &s, ids);
}

static bool unpack(GpLower *lo, const GpVal *v, GpSpan span, Schedule *s) {
    *s = (Schedule){.map = map_of(lo, v->type)};
    s->rank = s->map.rank;
    for (uint32_t i = 0; i < s->rank; i++) {
        s->count[i] = gp_lower_get(lo, v, slot(i, 0));
        s->first[i] = gp_lower_get(lo, v, slot(i, 1));
        s->len[i] = gp_lower_get(lo, v, slot(i, 2));
    }
    for (uint32_t i = 0; i < 2; i++)
        if (!gp_ir_const(gp_lower_get(lo, v, i), &s->views[i])) {
            gp_lower_refuse(lo, span, "a schedule that depends on a branch");
            return false;
        }
    return true;
}

/* ---- Walking them ---------------------------------------------------------------------------- */

bool gp_lower_schedule_range(GpLower *lo, const GpVal *schedule, GpSpan span, GpValue *out[3]) {
    Schedule s;
    if (lo->has_failed || !unpack(lo, schedule, span, &s))
        return false;
    GpValue *total = s.len[0];
    for (uint32_t i = 1; i < s.rank; i++)
        total = build2(lo, GpOp_Mul, total, s.len[i]);
    out[0] = gp_tile_axis_op(lo, GpOp_ProgramId, 0);
    out[1] = total;
    out[2] = gp_tile_axis_op(lo, GpOp_NumPrograms, 0);
    return true;
}

/* t / width and t % width, which is not zero where the loop runs. */
static void divide(GpLower *lo, GpValue *t, GpValue *width, GpValue **quotient, GpValue **rest) {
    *quotient = build2(lo, GpOp_Div, t, width);
    *rest = build2(lo, GpOp_Rem, t, width);
}

/* Row and column of tile t of size[0] x size[1]: in bands of `rows`, those in groups of `columns`. */
static void swizzle(GpLower *lo, GpValue *t, GpValue *const *size, const int64_t *map,
                    GpValue **out) {
    GpValue *m = size[0], *n = size[1], **row = &out[0], **column = &out[1];
    GpValue *band, *in_band, *group, *in_group, *r, *c;
    int64_t rows = map[0], columns = map[1];
    if (rows <= 1 && columns <= 1) {
        divide(lo, t, n, row, column);
        return;
    }
    divide(lo, t, build2(lo, GpOp_Mul, number(lo, rows), n), &band, &in_band);
    GpValue *first = build2(lo, GpOp_Mul, band, number(lo, rows));
    GpValue *height = build2(lo, GpOp_Min, build2(lo, GpOp_Sub, m, first), number(lo, rows));
    if (columns <= 1) {
        divide(lo, in_band, height, column, &r);
        *row = build2(lo, GpOp_Add, first, r);
        return;
    }
    divide(lo, in_band, build2(lo, GpOp_Mul, height, number(lo, columns)), &group, &in_group);
    divide(lo, in_group, height, &c, &r);
    *row = build2(lo, GpOp_Add, first, r);
    *column = build2(lo, GpOp_Add, build2(lo, GpOp_Mul, group, number(lo, columns)), c);
}

static void find_coords(GpLower *lo, const Schedule *s, GpValue *t, GpValue **out) {
    uint32_t rank = s->rank;
    if (rank == 1) {
        out[0] = t;
        return;
    }
    GpValue *inner = build2(lo, GpOp_Mul, s->len[rank - 2], s->len[rank - 1]), *lead = NULL;
    if (rank > 2)
        divide(lo, t, inner, &lead, &t);
    swizzle(lo, t, s->len + rank - 2, s->map.dim + rank - 2, out + rank - 2);
    for (uint32_t i = rank - 2; i-- > 0;) {
        if (i)
            divide(lo, lead, s->len[i], &lead, &out[i]);
        else
            out[0] = lead;
    }
}

GpVal gp_lower_schedule_index(GpLower *lo, const GpVal *schedule, GpValue *t, const GpType *index) {
    Schedule s;
    GpVal out = gp_lower_undef(lo, index);
    GpValue *coords[GP_MAX_RANK] = {NULL};
    const GpIrType *type = gp_ir_scalar(lo->fn, GpElem_I32);
    if (!unpack(lo, schedule, lo->b.span, &s))
        return out;
    find_coords(lo, &s, t, coords);
    for (uint32_t i = 0; i < s.rank; i++) {
        GpValue *at = s.map.dim[i] ? build2(lo, GpOp_Add, s.first[i], coords[i]) : number(lo, 0);
        at = gp_build(&lo->b, GpOp_Below, (GpValue *[]){at, s.count[i]}, 2, &type, 1)->results[0];
        GpMint *mint = GP_NEW(lo->arena, GpMint);
        *mint = (GpMint){{s.views[0].i, s.views[1].i}, i, {NULL}};
        memcpy(mint->count, s.count, sizeof mint->count);
        gp_map_set(lo->arena, &lo->minted, at, mint);
        gp_map_set(lo->arena, &lo->below, at, s.count[i]);
        out.at[i].value = at;
    }
    return out;
}

GpVal gp_lower_IndexParts(GpLower *lo, const GpLowerCall *call) {
    GpVal v = gp_call_arg(lo, call, 0);
    v.type = call->type;
    return v;
}

/* The coordinates of a number in the schedule; nothing is known of them. */
GpVal gp_lower_SwizzleIndex(GpLower *lo, const GpLowerCall *call) {
    uint32_t from = call->arg_count - 3;
    GpVal out = gp_lower_undef(lo, call->type);
    const GpGArg *map = call->generic_count ? &call->generics[call->generic_count - 1] : NULL;
    GpShape shape = map && map->kind == GpGArg_Shape ? gp_lower_shape(lo, map->shape) : (GpShape){0};
    if (shape.rank != 2 || out.count != 2 || !check_map(lo, call->span, &shape)) {
        gp_lower_refuse(lo, call->span, "a swizzled index of another rank than 2");
        return out;
    }
    GpValue *size[] = {gp_call_scalar(lo, call, from + 1), gp_call_scalar(lo, call, from + 2)};
    GpValue *at[2] = {NULL};
    swizzle(lo, gp_call_scalar(lo, call, from), size, shape.dim, at);
    out.at[0].value = at[0];
    out.at[1].value = at[1];
    return out;
}

/* ---- Stores ---------------------------------------------------------------------------------- */

typedef struct Store {
    GpTileView view;
    GpShape map;
    int64_t id;
    GpValue *coords[GP_MAX_RANK];
} Store;

static const GpMint *mint_of(GpLower *lo, const Store *s, uint32_t axis) {
    const GpMint *mint = gp_map_get(&lo->minted, gp_lower_resolve(s->coords[axis]));
    bool is_own = mint && mint->axis == axis && (mint->views[0] == s->id || mint->views[1] == s->id);
    return is_own ? mint : NULL;
}

/* On an axis that each block has whole, an index of the axis's Dim will do too. */
static const char *refuse_coord(GpLower *lo, const Store *s, uint32_t axis, bool is_composite) {
    if (mint_of(lo, s, axis))
        return NULL;
    if (!is_composite)
        return "it is no index of this partition's own `iter_indices()`";
    if (s->map.dim[axis])
        return "on a shared axis it is a component of this partition's own `iter_indices()`";
    if (gp_tile_is_below(lo, s->coords[axis], s->view.count[axis]))
        return NULL;
    /* Partitions that share a schedule have one grid: either's dimension will do. */
    for (uint32_t i = 0; i < s->view.rank; i++) {
        const GpMint *mint = mint_of(lo, s, i);
        if (mint && gp_tile_is_below(lo, s->coords[axis], mint->count[axis]))
            return NULL;
    }
    return "on an axis that each block has whole it comes from the axis's own dimension, "
           "and this is of a different dimension";
}

static bool has_whole_axis(const GpShape *map) {
    for (int i = 0; i < map->rank; i++)
        if (!map->dim[i])
            return true;
    return false;
}

GpVal gp_lower_MappedStore(GpLower *lo, const GpLowerCall *call) {
    Store s;
    GpVal index = gp_call_arg(lo, call, 2);
    if (!gp_tile_read_view(lo, call, 0, &s.view) ||
        !gp_tile_read_coords(lo, call, 2, s.view.rank, s.coords))
        return gp_lower_undef(lo, call->type);
    s.map = map_of(lo, gp_call_spot(lo, call, 0).type);
    s.id = (int64_t)gp_lower_resolve(s.view.tensor)->id;
    bool is_composite =
        !gp_ty_is_lang(index.type, GpLang_PartitionIndex) && has_whole_axis(&s.map);
    for (uint32_t i = 0; i < s.view.rank; i++) {
        const char *why = refuse_coord(lo, &s, i, is_composite);
        if (!why)
            continue;
        gp_primary_label(gp_diag(lo->diags, GpDiag_G0259, call->span,
                                 gp_arena_printf(lo->arena, "%u", i)),
                         "%s", why);
        lo->has_failed = true;
        return gp_lower_undef(lo, call->type);
    }
    return gp_tile_store_view(lo, call, &s.view, s.coords, NULL);
}
