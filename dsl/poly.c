/* Compile-time integers as polynomials with int64 coefficients, in a normal form: monomials in
** the order of their atoms, no monomial twice, no factor 0. Atoms are ordered by address, which
** keeps the order valid for as long as the table lives; printing sorts by declaration. */
#include "dsl/type_table.h"

enum { MAX_TERMS = 32, MAX_ATOMS = 8 };

/* A polynomial being built. */
typedef struct Term {
    int64_t factor;
    uint32_t atom_count;
    GpAtom atoms[MAX_ATOMS];
} Term;
typedef struct Sum {
    Term terms[MAX_TERMS];
    uint32_t count;
    bool failed; /* overflow, or beyond the limits above */
} Sum;

static int compare_atoms(GpAtom a, GpAtom b) {
    if (a.param != b.param)
        return (uintptr_t)a.param < (uintptr_t)b.param ? -1 : 1;
    if (a.of != b.of)
        return (uintptr_t)a.of < (uintptr_t)b.of ? -1 : 1;
    return a.index == b.index ? 0 : a.index < b.index ? -1 : 1;
}

static int compare_monomials(const GpAtom *a, uint32_t a_count, const GpAtom *b, uint32_t b_count) {
    if (a_count != b_count)
        return a_count < b_count ? -1 : 1;
    for (uint32_t i = 0; i < a_count; i++) {
        int order = compare_atoms(a[i], b[i]);
        if (order)
            return order;
    }
    return 0;
}

static void add_term(Sum *sum, int64_t factor, const GpAtom *atoms, uint32_t atom_count) {
    uint32_t i = 0;
    int order = 1;
    while (i < sum->count) {
        order = compare_monomials(atoms, atom_count, sum->terms[i].atoms, sum->terms[i].atom_count);
        if (order <= 0)
            break;
        i++;
    }
    if (i < sum->count && order == 0) {
        sum->failed |= __builtin_add_overflow(sum->terms[i].factor, factor, &sum->terms[i].factor);
        if (sum->terms[i].factor == 0) {
            sum->count--;
            memmove(&sum->terms[i], &sum->terms[i + 1], (sum->count - i) * sizeof(Term));
        }
        return;
    }
    if (factor == 0)
        return;
    if (sum->count == MAX_TERMS || atom_count > MAX_ATOMS) {
        sum->failed = true;
        return;
    }
    memmove(&sum->terms[i + 1], &sum->terms[i], (sum->count - i) * sizeof(Term));
    sum->terms[i].factor = factor;
    sum->terms[i].atom_count = atom_count;
    for (uint32_t k = 0; k < atom_count; k++)
        sum->terms[i].atoms[k] = atoms[k];
    sum->count++;
}

static uint32_t hash_const(const void *key) {
    const GpConst *c = key;
    uint32_t h = gp_hash_u64((uint64_t)c->kind | (uint64_t)c->var << 32, 3);
    for (uint32_t i = 0; i < c->term_count; i++) {
        h = gp_hash_u64((uint64_t)c->terms[i].factor, h);
        for (uint32_t k = 0; k < c->terms[i].atom_count; k++) {
            h = gp_hash_u64(
                (uintptr_t)c->terms[i].atoms[k].param ^ (uintptr_t)c->terms[i].atoms[k].of, h);
            h = gp_hash_u64((uint64_t)(uint32_t)c->terms[i].atoms[k].index, h);
        }
    }
    return h;
}

static bool same_const(const void *x, const void *y) {
    const GpConst *a = x, *b = y;
    if (a->kind != b->kind || a->var != b->var || a->term_count != b->term_count)
        return false;
    for (uint32_t i = 0; i < a->term_count; i++) {
        const GpMonomial *s = &a->terms[i], *t = &b->terms[i];
        if (s->factor != t->factor ||
            compare_monomials(s->atoms, s->atom_count, t->atoms, t->atom_count) != 0)
            return false;
    }
    return true;
}

static const void *copy_const(GpTypes *ts, const void *key) {
    GpConst *c = GP_NEW(ts->arena, GpConst);
    *c = *(const GpConst *)key;
    GpMonomial *terms = GP_NEW_ARRAY(ts->arena, GpMonomial, c->term_count);
    for (uint32_t i = 0; i < c->term_count; i++) {
        GpAtom *atoms = GP_NEW_ARRAY(ts->arena, GpAtom, c->terms[i].atom_count);
        for (uint32_t k = 0; k < c->terms[i].atom_count; k++)
            atoms[k] = c->terms[i].atoms[k];
        terms[i] = (GpMonomial){c->terms[i].factor, c->terms[i].atom_count, atoms};
    }
    c->terms = terms;
    return c;
}

static const GpConst *intern_const(GpTypes *ts, GpConst key) {
    return gp_pool_intern(ts, &ts->consts, hash_const(&key), &key, same_const, copy_const);
}

static const GpConst *intern_sum(GpTypes *ts, const Sum *sum) {
    if (sum->failed)
        return gp_const_error(ts);
    if (sum->count == 1 && sum->terms[0].factor == 1 && sum->terms[0].atom_count == 1 &&
        gp_atom_is_var(sum->terms[0].atoms[0]))
        return intern_const(
            ts, (GpConst){.kind = GpConst_Infer, .var = (uint32_t)sum->terms[0].atoms[0].index});
    GpMonomial terms[MAX_TERMS];
    for (uint32_t i = 0; i < sum->count; i++) {
        const Term *t = &sum->terms[i];
        terms[i] = (GpMonomial){t->factor, t->atom_count, t->atoms};
    }
    return intern_const(ts,
                        (GpConst){.kind = GpConst_Poly, .term_count = sum->count, .terms = terms});
}

const GpConst *gp_const_int(GpTypes *ts, int64_t value) {
    GpMonomial term = {value, 0, NULL};
    return intern_const(ts,
                        (GpConst){.kind = GpConst_Poly, .term_count = value != 0, .terms = &term});
}

const GpConst *gp_const_dynamic(GpTypes *ts) {
    return intern_const(ts, (GpConst){.kind = GpConst_Dynamic});
}

const GpConst *gp_const_error(GpTypes *ts) {
    return intern_const(ts, (GpConst){.kind = GpConst_Error});
}

const GpConst *gp_const_var(GpTypes *ts, uint32_t var) {
    return intern_const(ts, (GpConst){.kind = GpConst_Infer, .var = var});
}

const GpConst *gp_const_atom(GpTypes *ts, GpAtom atom) {
    if (gp_atom_is_var(atom))
        return gp_const_var(ts, (uint32_t)atom.index);
    GpMonomial term = {1, 1, &atom};
    return intern_const(ts, (GpConst){.kind = GpConst_Poly, .term_count = 1, .terms = &term});
}

/* Adds factor * c; false when c has no polynomial. */
static bool add_scaled(Sum *sum, const GpConst *c, int64_t factor) {
    GpAtom var;
    switch (c->kind) {
    case GpConst_Poly:
        for (uint32_t i = 0; i < c->term_count; i++) {
            int64_t product;
            sum->failed |= __builtin_mul_overflow(c->terms[i].factor, factor, &product);
            add_term(sum, product, c->terms[i].atoms, c->terms[i].atom_count);
        }
        return true;
    case GpConst_Infer:
        var = gp_atom_var(c->var);
        add_term(sum, factor, &var, 1);
        return true;
    case GpConst_Dynamic:
    case GpConst_Error:
        return false;
    }
    gp_unreachable();
}

const GpConst *gp_const_add(GpTypes *ts, const GpConst *a, const GpConst *b) {
    Sum sum = {.count = 0};
    if (!add_scaled(&sum, a, 1) || !add_scaled(&sum, b, 1))
        return gp_const_error(ts);
    return intern_sum(ts, &sum);
}

const GpConst *gp_const_sub(GpTypes *ts, const GpConst *a, const GpConst *b) {
    Sum sum = {.count = 0};
    if (!add_scaled(&sum, a, 1) || !add_scaled(&sum, b, -1))
        return gp_const_error(ts);
    return intern_sum(ts, &sum);
}

static void add_product(Sum *sum, const Term *a, const Term *b) {
    int64_t factor;
    GpAtom atoms[2 * MAX_ATOMS];
    uint32_t i = 0, k = 0, count = 0;
    while (i < a->atom_count || k < b->atom_count) {
        bool from_a = k == b->atom_count ||
                      (i < a->atom_count && compare_atoms(a->atoms[i], b->atoms[k]) <= 0);
        atoms[count++] = from_a ? a->atoms[i++] : b->atoms[k++];
    }
    sum->failed |= __builtin_mul_overflow(a->factor, b->factor, &factor);
    add_term(sum, factor, atoms, count);
}

const GpConst *gp_const_mul(GpTypes *ts, const GpConst *a, const GpConst *b) {
    Sum left = {.count = 0}, right = {.count = 0}, product = {.count = 0};
    if (!add_scaled(&left, a, 1) || !add_scaled(&right, b, 1) || left.failed || right.failed)
        return gp_const_error(ts);
    for (uint32_t i = 0; i < left.count; i++) {
        for (uint32_t k = 0; k < right.count; k++)
            add_product(&product, &left.terms[i], &right.terms[k]);
    }
    return intern_sum(ts, &product);
}

/* The greatest number that divides `by` and every factor. */
static int64_t common_factor(const Sum *sum, int64_t by) {
    uint64_t common = (uint64_t)by;
    for (uint32_t i = 0; i < sum->count; i++) {
        int64_t factor = sum->terms[i].factor;
        uint64_t rest = factor < 0 ? 0 - (uint64_t)factor : (uint64_t)factor;
        while (rest) {
            uint64_t next = common % rest;
            common = rest;
            rest = next;
        }
    }
    return (int64_t)common;
}

/* In lowest terms; what is rounded twice is one quotient: (x / a) / b = x / (a * b). */
const GpConst *gp_const_div(GpTypes *ts, const GpConst *a, int32_t by) {
    int64_t value, whole = by < 0 ? -(int64_t)by : by;
    Sum sum = {.count = 0};
    if (!add_scaled(&sum, a, by < 0 ? -1 : 1))
        return gp_const_error(ts);
    int64_t common = common_factor(&sum, whole);
    for (uint32_t i = 0; i < sum.count; i++)
        sum.terms[i].factor /= common;
    const GpConst *rest = intern_sum(ts, &sum);
    whole /= common;
    if (rest->kind == GpConst_Error || whole == 1)
        return rest;
    if (gp_const_value(rest, &value))
        return gp_const_int(ts, value / whole);
    GpAtom atom = {NULL, (int32_t)whole, rest};
    if (sum.count == 1 && sum.terms[0].factor == 1 && sum.terms[0].atom_count == 1 &&
        sum.terms[0].atoms[0].of) {
        atom.of = sum.terms[0].atoms[0].of;
        if (__builtin_mul_overflow((int32_t)whole, sum.terms[0].atoms[0].index, &atom.index))
            return gp_const_error(ts);
    }
    return gp_const_atom(ts, atom);
}

bool gp_const_value(const GpConst *c, int64_t *out) {
    if (c->kind != GpConst_Poly || c->term_count > 1 || (c->term_count && c->terms[0].atom_count))
        return false;
    *out = c->term_count ? c->terms[0].factor : 0;
    return true;
}

bool gp_const_has_infer(const GpConst *c) {
    if (c->kind == GpConst_Infer)
        return true;
    for (uint32_t i = 0; i < c->term_count; i++) {
        for (uint32_t k = 0; k < c->terms[i].atom_count; k++) {
            GpAtom atom = c->terms[i].atoms[k];
            if (gp_atom_is_var(atom) || (atom.of && gp_const_has_infer(atom.of)))
                return true;
        }
    }
    return false;
}

bool gp_const_has_param(const GpConst *c) {
    for (uint32_t i = 0; i < c->term_count; i++) {
        for (uint32_t k = 0; k < c->terms[i].atom_count; k++) {
            GpAtom atom = c->terms[i].atoms[k];
            if (atom.param || (atom.of && gp_const_has_param(atom.of)))
                return true;
        }
    }
    return false;
}
