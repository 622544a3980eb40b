/* The table of element types, and shapes. */
#include "core/elem.h"

const GpElemInfo gp_elem_info[GpElem_count] = {
#define GP_ELEM(id, spelling, bits, class, ctype, npy)                                             \
    [GpElem_##id] = {spelling, bits, sizeof(ctype), GpClass_##class, npy},
#include "core/elem.def"
};

void gp_elem_print_all(GpText *out) {
    for (int e = 0; e < GpElem_count; e++)
        gp_text_printf(out, "%s%s", e ? ", " : "", gp_elem_info[e].name);
}

bool gp_elem_find(GpStr name, GpElem *out) {
    for (int e = 0; e < GpElem_count; e++) {
        if (!gp_str_eq(name, gp_str_from(gp_elem_info[e].name)))
            continue;
        *out = (GpElem)e;
        return true;
    }
    return false;
}

bool gp_shape_eq(const GpShape *a, const GpShape *b) {
    if (a->rank != b->rank)
        return false;
    for (int i = 0; i < a->rank; i++) {
        if (a->dim[i] != b->dim[i])
            return false;
    }
    return true;
}

bool gp_shape_numel(const GpShape *s, int64_t *out) {
    int64_t product = 1;
    bool is_empty = false; /* one extent of 0 makes 0, whatever the others multiply to */
    bool is_over = false;
    for (int i = 0; i < s->rank; i++) {
        if (s->dim[i] < 0)
            return false;
        if (s->dim[i] == 0)
            is_empty = true;
        if (!is_empty && __builtin_mul_overflow(product, s->dim[i], &product))
            is_over = true;
    }
    if (is_over && !is_empty)
        return false;
    *out = is_empty ? 0 : product;
    return true;
}

void gp_shape_print(const GpShape *s, GpText *out) {
    gp_text_puts(out, "[");
    for (int i = 0; i < s->rank; i++) {
        gp_text_printf(out, "%s%lld", i ? ", " : "", (long long)s->dim[i]);
    }
    gp_text_puts(out, "]");
}
