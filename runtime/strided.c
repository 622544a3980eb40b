/* Loops over strided elements: merged to as few as possible, cut into rectangles for the
** device, or walked on the host. Order does not matter, so loops are sorted by the target's
** stride, which brings rows together. */
#include "runtime/internal.h"

void gp_row_major(const GpShape *shape, int64_t *stride) {
    int64_t step = 1;
    for (int i = shape->rank - 1; i >= 0; i--) {
        stride[i] = step;
        if (__builtin_mul_overflow(step, GP_MAX(shape->dim[i], (int64_t)1), &step))
            step = INT64_MAX; /* another extent is 0 */
    }
}

static void swap(int64_t *a, int64_t *b) {
    int64_t keep = *a;
    *a = *b;
    *b = keep;
}

static void sort_by_stride(GpStrided *l) {
    for (int i = 1; i < l->rank; i++) {
        for (int j = i; j > 0 && (l->to[j - 1] < l->to[j] ||
                                  (l->to[j - 1] == l->to[j] && l->from[j - 1] < l->from[j]));
             j--) {
            swap(&l->dim[j - 1], &l->dim[j]);
            swap(&l->to[j - 1], &l->to[j]);
            swap(&l->from[j - 1], &l->from[j]);
        }
    }
}

void gp_strided_join(GpStrided *l, const GpShape *shape, const int64_t *to, const int64_t *from) {
    *l = (GpStrided){0};
    for (int i = 0; i < shape->rank; i++) {
        if (shape->dim[i] == 1)
            continue;
        l->dim[l->rank] = shape->dim[i];
        l->to[l->rank] = to[i];
        l->from[l->rank] = from[i];
        l->rank++;
    }
    sort_by_stride(l);
    int kept = 0;
    for (int i = 1; i < l->rank; i++) {
        bool is_one_loop = l->to[kept] == l->to[i] * l->dim[i] &&
                           l->from[kept] == l->from[i] * l->dim[i];
        if (is_one_loop) {
            l->dim[kept] *= l->dim[i];
        } else {
            kept++;
            l->dim[kept] = l->dim[i];
        }
        l->to[kept] = l->to[i];
        l->from[kept] = l->from[i];
    }
    l->rank = (uint8_t)(l->rank ? kept + 1 : 0);
}

GpPieces gp_strided_pieces(const GpStrided *l) {
    GpPieces p = {.width = 1, .height = 1, .count = 1};
    int left = l->rank;
    if (left && l->to[left - 1] == 1 && l->from[left - 1] == 1)
        p.width = l->dim[--left];
    if (left) {
        left--;
        p.height = l->dim[left];
        p.to_pitch = l->to[left];
        p.from_pitch = l->from[left];
    }
    p.outer = (uint8_t)left;
    for (int i = 0; i < left; i++)
        p.count *= (uint64_t)l->dim[i];
    if (p.width == 0 || p.height == 0)
        p.count = 0;
    return p;
}

void gp_strided_at(const GpStrided *l, const GpPieces *p, uint64_t i, int64_t *to, int64_t *from) {
    *to = *from = 0;
    for (int axis = p->outer - 1; axis >= 0; axis--) {
        int64_t index = (int64_t)(i % (uint64_t)l->dim[axis]);
        i /= (uint64_t)l->dim[axis];
        *to += index * l->to[axis];
        *from += index * l->from[axis];
    }
}

/* Widths known to the compiler become single moves. */
static void copy_elements(char *to, int64_t to_step, const char *from, int64_t from_step,
                          int64_t count, size_t bytes) {
#define COPY(n)                                                                                    \
    for (int64_t i = 0; i < count; i++)                                                            \
    memcpy(to + i * to_step, from + i * from_step, n)
    if (bytes == 4) {
        COPY(4);
    } else if (bytes == 2) {
        COPY(2);
    } else if (bytes == 8) {
        COPY(8);
    } else if (bytes == 1) {
        COPY(1);
    } else {
        COPY(bytes);
    }
#undef COPY
}

void gp_strided_copy(const GpStrided *l, void *to, const void *from, size_t elem_bytes) {
    GpPieces p = gp_strided_pieces(l);
    int64_t unit = (int64_t)elem_bytes;
    size_t row = (size_t)p.width * elem_bytes;
    for (uint64_t i = 0; i < p.count; i++) {
        int64_t to_at, from_at;
        gp_strided_at(l, &p, i, &to_at, &from_at);
        copy_elements((char *)to + to_at * unit, p.to_pitch * unit,
                      (const char *)from + from_at * unit, p.from_pitch * unit, p.height, row);
    }
}
