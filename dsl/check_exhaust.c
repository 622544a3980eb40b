/* Which values no arm of a match, or no single pattern, matches.
**
** This is Maranget's usefulness ("Warnings for pattern matching", JFP 2007): a row of
** wildcards is useful after the arms exactly when some value falls through, and the proof is a
** witness to print. Integers are split at the ends of all ranges in the column, so that every
** piece is covered by a range or disjoint from it. References are transparent: patterns were
** already typed, so a column holds values of one type under equally many references. */
#include <stdio.h>
#include <stdlib.h>

#include "dsl/check_body.h"

typedef enum MatKind { Mat_Wild, Mat_Ctor, Mat_Range, Mat_Or, Mat_Opaque } MatKind;

/* A pattern in normal form. */
typedef struct Mat {
    MatKind kind;
    uint32_t ctor;          /* Ctor: variant index, 0 for types with one shape */
    uint64_t lo, hi;        /* Range: order-preserving keys, see key_of */
    const GpType *type;     /* of witnesses */
    struct Mat *const *sub; /* Ctor: fields; Or: alternatives */
    uint32_t sub_count;
} Mat;

typedef struct Row {
    const Mat *const *at; /* one per column */
} Row;

typedef struct Match {
    GpBody *b;
    uint32_t budget; /* steps left; at 0 the match is refused */
} Match;

#define GP_MATCH_BUDGET 200000

static const Mat wild = {.kind = Mat_Wild};

/* ---- types of columns -------------------------------------------------------------------- */

static const GpType *strip(GpBody *b, const GpType *t) {
    t = gp_body_head(b, t);
    while (t->kind == GpTy_Ref)
        t = gp_body_head(b, t->inner);
    return t;
}

static bool is_ranged(const GpType *t) {
    return gp_body_is_int(t) || t->kind == GpTy_Char ||
           (t->kind == GpTy_Elem && t->elem == GpElem_Bool);
}

static bool is_enum(const GpType *t) { return t->kind == GpTy_Adt && t->def->kind == GpDef_Enum; }

static const GpDef *variant_at(const GpType *t, uint32_t i) {
    return is_enum(t) ? t->def->items[i] : t->def;
}

static uint32_t ctor_count(const GpType *t) { return is_enum(t) ? t->def->item_count : 1; }

static bool has_ctors(const GpType *t) {
    return is_enum(t) || t->kind == GpTy_Tuple ||
           (t->kind == GpTy_Adt && t->def->kind == GpDef_Struct);
}

static uint32_t field_count(const GpType *t, uint32_t ctor) {
    return t->kind == GpTy_Tuple ? t->arg_count : variant_at(t, ctor)->field_count;
}

static const GpType *field_type(GpBody *b, const GpType *t, uint32_t ctor, uint32_t i) {
    if (t->kind == GpTy_Tuple)
        return strip(b, t->args[i].type);
    return strip(b, gp_body_field_type(b, variant_at(t, ctor), t->args, t->arg_count, i));
}

static bool is_signed(const GpType *t) {
    return t->kind == GpTy_Isize || t->kind == GpTy_Infer ||
           (t->kind == GpTy_Elem && gp_elem_is_signed(t->elem));
}

static uint32_t bits_of(const GpType *t) {
    if (t->kind == GpTy_Char)
        return 21;
    if (t->kind == GpTy_Infer)
        return 32;
    if (t->kind == GpTy_Elem)
        return t->elem == GpElem_Bool ? 1 : gp_elem_info[t->elem].bits;
    return 64;
}

/* Keys order as the values do: signed ones are moved up by half the range. */
static uint64_t key_max(const GpType *t) {
    return t->kind == GpTy_Char ? 0x10ffff : UINT64_MAX >> (64 - bits_of(t));
}
static uint64_t key_of(const GpType *t, uint64_t value) {
    if (is_signed(t))
        value += UINT64_C(1) << (bits_of(t) - 1);
    return value & (t->kind == GpTy_Char ? UINT64_MAX : key_max(t));
}

/* ---- patterns to normal form ------------------------------------------------------------- */

static Mat *make(GpBody *b, MatKind kind, const GpType *type) {
    Mat *m = GP_NEW(b->c->arena, Mat);
    m->kind = kind;
    m->type = type;
    return m;
}

static Mat *make_ctor(GpBody *b, const GpType *t, uint32_t ctor) {
    Mat *m = make(b, Mat_Ctor, t);
    m->ctor = ctor;
    m->sub_count = field_count(t, ctor);
    Mat **sub = GP_NEW_ARRAY(b->c->arena, Mat *, m->sub_count);
    for (uint32_t i = 0; i < m->sub_count; i++)
        sub[i] = make(b, Mat_Wild, NULL);
    m->sub = sub;
    return m;
}

static Mat *normal(GpBody *b, GpNode *pat);

static void set_sub(Mat *m, uint32_t i, Mat *sub) {
    if (i < m->sub_count)
        ((Mat **)(uintptr_t)m->sub)[i] = sub;
}

static bool key_of_node(const GpType *t, GpNode *value, uint64_t *out) {
    value = gp_node_bare(value);
    bool is_negative = value->kind == GpNode_Unary && GP_AS(Unary, value)->op == GpTok_Minus;
    if (is_negative)
        value = gp_node_bare(GP_AS(Unary, value)->operand);
    uint64_t v;
    if (value->kind != GpNode_Lit || !gp_lit_int(value, &v))
        return false;
    *out = key_of(t, is_negative ? ~v + 1 : v);
    return true;
}

static Mat *normal_range(GpBody *b, const GpType *t, GpNode *lo, GpNode *hi, bool is_closed) {
    Mat *m = make(b, is_ranged(t) ? Mat_Range : Mat_Opaque, t);
    if (m->kind == Mat_Opaque)
        return m;
    m->lo = 0;
    m->hi = key_max(t);
    if ((lo && !key_of_node(t, lo, &m->lo)) || (hi && !key_of_node(t, hi, &m->hi)))
        m->kind = Mat_Opaque;
    if (hi && !is_closed) {
        if (m->hi == 0)
            m->kind = Mat_Opaque;
        m->hi--;
    }
    if (m->lo > m->hi)
        m->kind = Mat_Opaque; /* matches nothing */
    return m;
}

static Mat *normal_list(GpBody *b, const GpType *t, uint32_t ctor, GpNodeList pats) {
    Mat *m = make_ctor(b, t, ctor);
    uint32_t rest = pats.len;
    for (uint32_t i = 0; i < pats.len; i++) {
        if (pats.at[i]->kind == GpNode_PatRest)
            rest = i;
        else
            set_sub(m, i < rest ? i : m->sub_count - (pats.len - i), normal(b, pats.at[i]));
    }
    return m;
}

static Mat *normal_struct(GpBody *b, const GpType *t, GpNode *pat) {
    GpAstPatStruct *p = GP_AS(PatStruct, pat);
    Mat *m =
        make_ctor(b, t, pat->res->def->kind == GpDef_Variant ? pat->res->def->variant_index : 0);
    for (uint32_t i = 0; i < p->fields.len; i++) {
        GpAstPatField *f = GP_AS(PatField, p->fields.at[i]);
        if (f->node.res)
            set_sub(m, f->node.res->index, normal(b, f->pat));
    }
    return m;
}

static Mat *normal_or(GpBody *b, const GpType *t, GpNodeList pats) {
    Mat *m = make(b, Mat_Or, t);
    m->sub_count = pats.len;
    Mat **sub = GP_NEW_ARRAY(b->c->arena, Mat *, pats.len);
    for (uint32_t i = 0; i < pats.len; i++)
        sub[i] = normal(b, pats.at[i]);
    m->sub = sub;
    return m;
}

static Mat *normal(GpBody *b, GpNode *pat) {
    if (pat->kind == GpNode_PatParen)
        return normal(b, GP_AS(PatParen, pat)->pat);
    if (pat->kind == GpNode_PatRef)
        return normal(b, GP_AS(PatRef, pat)->pat);
    const GpType *t = strip(b, pat->type);
    if (pat->kind == GpNode_PatWild || t->kind == GpTy_Error)
        return make(b, Mat_Wild, t);
    if (pat->kind == GpNode_PatOr)
        return normal_or(b, t, GP_AS(PatOr, pat)->pats);
    const GpRes *res = pat->res;
    if (pat->kind == GpNode_PatName && res && res->kind == GpRes_Local) {
        GpNode *sub = GP_AS(PatName, pat)->sub;
        return sub ? normal(b, sub) : make(b, Mat_Wild, t);
    }
    if (pat->kind == GpNode_PatLit)
        return normal_range(b, t, GP_AS(PatLit, pat)->value, GP_AS(PatLit, pat)->value, true);
    if (pat->kind == GpNode_PatRange) {
        GpAstPatRange *r = GP_AS(PatRange, pat);
        return normal_range(b, t, r->lo, r->hi, r->is_closed);
    }
    if (pat->kind == GpNode_PatTuple && t->kind == GpTy_Tuple)
        return normal_list(b, t, 0, GP_AS(PatTuple, pat)->pats);
    if (!has_ctors(t) || !res || res->kind != GpRes_Construct)
        return make(b, Mat_Opaque, t);
    uint32_t ctor = res->def->kind == GpDef_Variant ? res->def->variant_index : 0;
    if (pat->kind == GpNode_PatTupleStruct)
        return normal_list(b, t, ctor, GP_AS(PatTupleStruct, pat)->pats);
    if (pat->kind == GpNode_PatStruct)
        return normal_struct(b, t, pat);
    return make_ctor(b, t, ctor);
}

/* ---- usefulness -------------------------------------------------------------------------- */

typedef GP_VEC(Row) Rows;

static Row make_row(GpBody *b, const Mat *const *head, uint32_t head_count, const Mat *const *tail,
                    uint32_t tail_count) {
    const Mat **at = GP_NEW_ARRAY(b->c->arena, const Mat *, head_count + tail_count);
    if (head_count)
        memcpy(at, head, head_count * sizeof *at);
    if (tail_count)
        memcpy(at + head_count, tail, tail_count * sizeof *at);
    return (Row){at};
}

/* The rows of a column of constructors, sorted by which: linked lists in the rows' order. */
typedef struct Column {
    uint32_t *first, *next; /* per constructor: its rows, and behind them one list of wildcards */
    uint32_t ctors;
} Column;

static Column sort_rows(GpBody *b, const Rows *rows, const GpType *t) {
    Column c = {.ctors = ctor_count(t)};
    c.first = GP_NEW_ARRAY(b->c->arena, uint32_t, c.ctors + 1);
    c.next = GP_NEW_ARRAY(b->c->arena, uint32_t, rows->len);
    memset(c.first, 0xff, (c.ctors + 1) * sizeof *c.first);
    for (uint32_t i = rows->len; i-- > 0;) {
        const Mat *m = rows->at[i].at[0];
        uint32_t list = m->kind == Mat_Wild ? c.ctors : m->ctor;
        if (m->kind != Mat_Wild && m->kind != Mat_Ctor)
            continue;
        c.next[i] = c.first[list];
        c.first[list] = i;
    }
    return c;
}

/* The rows that agree with constructor `ctor` in column 0, with its fields in front. */
static Rows specialise(GpBody *b, const Rows *rows, const Column *c, uint32_t fields, uint32_t ctor,
                       uint32_t columns) {
    const Mat **wilds = GP_NEW_ARRAY(b->c->arena, const Mat *, fields);
    for (uint32_t i = 0; i < fields; i++)
        wilds[i] = &wild;
    Rows out = {0};
    uint32_t own = c->first[ctor], any = c->first[c->ctors];
    while (own != UINT32_MAX || any != UINT32_MAX) {
        uint32_t *from = own < any ? &own : &any;
        const Row row = rows->at[*from];
        const Mat *const *head = from == &any ? wilds : (const Mat *const *)row.at[0]->sub;
        GP_PUSH(b->c->arena, &out, make_row(b, head, fields, row.at + 1, columns - 1));
        *from = c->next[*from];
    }
    return out;
}

/* The rows with a wildcard in column 0, which is dropped. */
static Rows drop_column(GpBody *b, const Rows *rows) {
    Rows out = {0};
    for (uint32_t i = 0; i < rows->len; i++)
        if (rows->at[i].at[0]->kind == Mat_Wild)
            GP_PUSH(b->c->arena, &out, ((Row){rows->at[i].at + 1}));
    return out;
}

static bool find_witness(Match *x, const Rows *rows, const GpType *const *types, uint32_t columns,
                         const Mat **out);

static bool witness_ctors(Match *x, const Rows *rows, const GpType *const *types, uint32_t columns,
                          const Mat **out) {
    GpBody *b = x->b;
    const GpType *t = types[0];
    Column column = sort_rows(b, rows, t);
    bool has_missing = false;
    for (uint32_t ctor = 0; ctor < column.ctors; ctor++) {
        bool is_missing = column.first[ctor] == UINT32_MAX;
        if (is_missing && has_missing)
            continue; /* falls through exactly when the first that no row names does */
        has_missing |= is_missing;
        uint32_t fields = field_count(t, ctor);
        const GpType **inner = GP_NEW_ARRAY(b->c->arena, const GpType *, fields + columns);
        for (uint32_t i = 0; i < fields; i++)
            inner[i] = field_type(b, t, ctor, i);
        for (uint32_t i = 1; i < columns; i++)
            inner[fields + i - 1] = types[i];
        const Mat **found = GP_NEW_ARRAY(b->c->arena, const Mat *, fields + columns);
        Rows special = specialise(b, rows, &column, fields, ctor, columns);
        if (!find_witness(x, &special, inner, fields + columns - 1, found))
            continue;
        Mat *w = make_ctor(b, t, ctor);
        for (uint32_t i = 0; i < fields; i++)
            set_sub(w, i, (Mat *)(uintptr_t)found[i]);
        out[0] = w;
        memcpy(out + 1, found + fields, (columns - 1) * sizeof *out);
        return true;
    }
    return false;
}

typedef struct Start {
    uint64_t lo;
    uint32_t row;
} Start;

/* The ranges of a column while its values are swept from below. */
typedef struct Sweep {
    const Rows *rows;
    Start *starts; /* of every range, by value */
    uint32_t count, next;
    uint32_t *open; /* rows whose range holds the value */
    uint32_t open_count;
} Sweep;

static int compare_starts(const void *a, const void *b) {
    const Start *x = a, *y = b;
    return x->lo != y->lo ? (x->lo < y->lo ? -1 : 1) : x->row < y->row ? -1 : x->row > y->row;
}

static Sweep sweep_of(GpBody *b, const Rows *rows) {
    Sweep s = {.rows = rows};
    s.starts = GP_NEW_ARRAY(b->c->arena, Start, rows->len);
    s.open = GP_NEW_ARRAY(b->c->arena, uint32_t, rows->len);
    for (uint32_t i = 0; i < rows->len; i++)
        if (rows->at[i].at[0]->kind == Mat_Range)
            s.starts[s.count++] = (Start){rows->at[i].at[0]->lo, i};
    qsort(s.starts, s.count, sizeof *s.starts, compare_starts);
    return s;
}

/* The rows open at lo; the end of the piece that begins there: before the next range starts, or
** where one ends. */
static uint64_t sweep_to(Sweep *s, uint64_t lo, uint64_t max) {
    uint32_t kept = 0;
    for (uint32_t i = 0; i < s->open_count; i++)
        if (s->rows->at[s->open[i]].at[0]->hi >= lo)
            s->open[kept++] = s->open[i];
    s->open_count = kept;
    while (s->next < s->count && s->starts[s->next].lo <= lo)
        s->open[s->open_count++] = s->starts[s->next++].row;
    uint64_t end = s->next < s->count ? s->starts[s->next].lo - 1 : max;
    for (uint32_t i = 0; i < s->open_count; i++)
        end = GP_MIN(end, s->rows->at[s->open[i]].at[0]->hi);
    return end;
}

/* Every piece is covered by the wildcards and the ranges that are open there. */
static bool witness_ranges(Match *x, const Rows *rows, const GpType *const *types, uint32_t columns,
                           const Mat **out) {
    GpBody *b = x->b;
    uint64_t max = key_max(types[0]), lo = 0;
    Rows wilds = drop_column(b, rows);
    if (!find_witness(x, &wilds, types + 1, columns - 1, out + 1))
        return false; /* they cover every piece */
    Sweep sweep = sweep_of(b, rows);
    for (;;) {
        uint64_t hi = sweep_to(&sweep, lo, max);
        Rows rest = {0};
        for (uint32_t i = 0; i < wilds.len; i++)
            GP_PUSH(b->c->arena, &rest, wilds.at[i]);
        for (uint32_t i = 0; i < sweep.open_count; i++)
            GP_PUSH(b->c->arena, &rest, ((Row){rows->at[sweep.open[i]].at + 1}));
        if (find_witness(x, &rest, types + 1, columns - 1, out + 1)) {
            Mat *w = make(b, Mat_Range, types[0]);
            w->lo = lo;
            w->hi = hi;
            out[0] = w;
            return true;
        }
        if (hi == max)
            return false;
        lo = hi + 1;
    }
}

/* Alternatives in column 0 become rows of their own. */
static void split_or(GpBody *b, const Row *row, uint32_t columns, Rows *out) {
    const Mat *m = row->at[0];
    if (m->kind != Mat_Or) {
        GP_PUSH(b->c->arena, out, *row);
        return;
    }
    for (uint32_t i = 0; i < m->sub_count; i++) {
        const Mat *head[1] = {m->sub[i]};
        Row part = make_row(b, head, 1, row->at + 1, columns - 1);
        split_or(b, &part, columns, out);
    }
}

static bool find_witness(Match *x, const Rows *all, const GpType *const *types, uint32_t columns,
                         const Mat **out) {
    if (columns == 0)
        return all->len == 0;
    Rows split = {0};
    for (uint32_t i = 0; i < all->len; i++)
        split_or(x->b, &all->at[i], columns, &split);
    const Rows *rows = &split;
    if (x->budget == 0)
        return false;
    x->budget--;
    bool has_ctor = false, has_range = false;
    for (uint32_t i = 0; i < rows->len; i++) {
        has_ctor |= rows->at[i].at[0]->kind == Mat_Ctor;
        has_range |= rows->at[i].at[0]->kind == Mat_Range;
    }
    if (has_ctor && has_ctors(types[0]))
        return witness_ctors(x, rows, types, columns, out);
    if (has_range && is_ranged(types[0]))
        return witness_ranges(x, rows, types, columns, out);
    Rows rest = drop_column(x->b, rows);
    out[0] = &wild;
    return find_witness(x, &rest, types + 1, columns - 1, out + 1);
}

/* ---- printing witnesses ------------------------------------------------------------------ */

static void print_key(const GpType *t, uint64_t key, bool is_lo, GpText *out) {
    const char *name = t->kind == GpTy_Usize   ? "usize"
                       : t->kind == GpTy_Isize ? "isize"
                       : t->kind == GpTy_Elem  ? gp_elem_info[t->elem].name
                                               : "i32";
    if (t->kind == GpTy_Char)
        gp_text_printf(out, "'\\u{%llx}'", (unsigned long long)key);
    else if (is_signed(t) && key == 0 && is_lo)
        gp_text_printf(out, "%s::MIN", name);
    else if (key == key_max(t) && !is_lo)
        gp_text_printf(out, "%s::MAX", name);
    else if (is_signed(t))
        gp_text_printf(out, "%lld_%s", (long long)(key - (UINT64_C(1) << (bits_of(t) - 1))), name);
    else
        gp_text_printf(out, "%llu_%s", (unsigned long long)key, name);
}

static void print_range(const Mat *m, GpText *out) {
    if (m->type->kind == GpTy_Elem && m->type->elem == GpElem_Bool && m->lo == m->hi) {
        gp_text_puts(out, m->lo ? "true" : "false");
    } else if (m->lo == 0 && m->hi == key_max(m->type)) {
        gp_text_puts(out, "_");
    } else {
        print_key(m->type, m->lo, true, out);
        if (m->lo == m->hi)
            return;
        gp_text_puts(out, "..=");
        print_key(m->type, m->hi, false, out);
    }
}

static void print_witness(const Mat *m, GpText *out) {
    if (m->kind == Mat_Range) {
        print_range(m, out);
        return;
    }
    if (m->kind != Mat_Ctor) {
        gp_text_puts(out, "_");
        return;
    }
    const GpDef *def = m->type->kind == GpTy_Adt ? variant_at(m->type, m->ctor) : NULL;
    bool is_option = gp_ty_is_lang(m->type, GpLang_Option);
    if (def && def->kind == GpDef_Variant && !is_option)
        gp_text_printf(out, "%s::", m->type->def->name->name);
    if (def)
        gp_text_puts(out, def->name->name);
    if (def && !m->sub_count)
        return;
    bool is_named = def && def->field_names && def->field_names[0];
    gp_text_puts(out, is_named ? " { " : "(");
    for (uint32_t i = 0; i < m->sub_count; i++) {
        if (i)
            gp_text_puts(out, ", ");
        if (is_named)
            gp_text_printf(out, "%s: ", def->field_names[i]->name);
        print_witness(m->sub[i], out);
    }
    gp_text_puts(out, is_named ? " }" : m->sub_count == 1 && !def ? ",)" : ")");
}

/* ---- whole matches ----------------------------------------------------------------------- */

static void add_row(GpBody *b, GpNode *pat, Rows *rows) {
    const Mat *head[1] = {normal(b, pat)};
    GP_PUSH(b->c->arena, rows, make_row(b, head, 1, NULL, 0));
}

/* "`A`", "`A` and `B`", "`A`, `B` and `C`", "`A`, `B`, `C` and 2 more"; NULL when nothing falls
** through. */
static const char *uncovered(GpBody *b, Rows *rows, const GpType *type, uint32_t *count) {
    Match x = {.b = b, .budget = GP_MATCH_BUDGET};
    GP_VEC(const char *) names = {0};
    const Mat *w[1];
    type = strip(b, type);
    while (names.len < 32 && find_witness(&x, rows, &type, 1, w)) {
        GpText t = {.session = gp_arena_session(b->c->arena)};
        print_witness(w[0], &t);
        GP_PUSH(b->c->arena, &names, gp_arena_copy(b->c->arena, gp_text_cstr(&t), t.len));
        gp_text_free(&t);
        GP_PUSH(b->c->arena, rows, make_row(b, w, 1, NULL, 0));
    }
    *count = names.len;
    if (!names.len)
        return x.budget ? NULL : "_";
    GpText t = {.session = gp_arena_session(b->c->arena)};
    uint32_t shown = names.len > 4 ? 3 : names.len;
    for (uint32_t i = 0; i < shown; i++)
        gp_text_printf(&t, "%s`%s`",
                       i == 0               ? ""
                       : i + 1 == names.len ? " and "
                                            : ", ",
                       names.at[i]);
    if (shown < names.len)
        gp_text_printf(&t, " and %u more", names.len - shown);
    const char *copy = gp_arena_copy(b->c->arena, gp_text_cstr(&t), t.len);
    gp_text_free(&t);
    return copy;
}

void gp_body_exhaustive(GpBody *b, GpAstMatch *m, const GpType *type) {
    Rows rows = {0};
    for (uint32_t i = 0; i < m->arms.len; i++) {
        GpAstArm *arm = GP_AS(Arm, m->arms.at[i]);
        if (!arm->guard)
            add_row(b, arm->pat, &rows);
    }
    uint32_t count;
    const char *names = uncovered(b, &rows, type, &count);
    if (!names)
        return;
    GpDiag *d = gp_diag(b->c->diags, GpDiag_E0004, m->scrutinee->span, names);
    gp_primary_label(d, "pattern%s %s not covered", gp_plural(count), names);
    gp_note(d, "the matched value is of type `%s`", gp_body_name(b, type));
    gp_help(d,
            "ensure that all possible cases are being handled by adding a match arm with a "
            "wildcard pattern%s",
            count == 1
                ? " or an explicit pattern as shown"
                : ", a match arm with multiple or-patterns as shown, or multiple match arms");
}

void gp_body_irrefutable(GpBody *b, GpNode *pat, const GpType *type, const char *where) {
    if (pat->kind == GpNode_PatName || pat->kind == GpNode_PatWild) {
        if (!pat->res || pat->res->kind == GpRes_Local)
            return;
    }
    if (strip(b, type)->kind == GpTy_Error || pat->kind == GpNode_PatSlice)
        return;
    Rows rows = {0};
    add_row(b, pat, &rows);
    uint32_t count;
    const char *names = uncovered(b, &rows, type, &count);
    if (!names)
        return;
    GpDiag *d = gp_diag(b->c->diags, GpDiag_E0005, pat->span, where);
    gp_primary_label(d, "pattern%s %s not covered", gp_plural(count), names);
    if (strcmp(where, "local binding") == 0)
        gp_note(d, "`let` bindings require an \"irrefutable pattern\", like a `struct` or an "
                   "`enum` with only one variant");
    gp_note(d, "the matched value is of type `%s`", gp_body_name(b, type));
}
