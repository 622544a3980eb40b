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

void gp_strided_bring(GpStrided *l, int at, int place) {
    for (; at < place; at++) {
        swap(&l->dim[at], &l->dim[at + 1]);
        swap(&l->to[at], &l->to[at + 1]);
        swap(&l->from[at], &l->from[at + 1]);
    }
}

int gp_strided_nearest(const GpStrided *l, int first, int last) {
    int nearest = first;
    for (int i = first + 1; i <= last; i++)
        nearest = l->from[i] < l->from[nearest] ? i : nearest;
    return nearest;
}

enum {
    CACHE_LINE = 64,
    TURNED = 32, /* elements that are copied of each line, where the lines after it share their sources' cache lines */
};

void gp_strided_copy(const GpStrided *l, void *to, const void *from, size_t elem_bytes) {
    GpStrided o = *l;
    GpPieces p = gp_strided_pieces(l), line = {0};
    int64_t unit = (int64_t)elem_bytes, lines = 1, run = p.height;
    if (p.outer) {
        p.outer--;
        gp_strided_bring(&o, gp_strided_nearest(&o, 0, p.outer), p.outer);
        line = (GpPieces){.to_pitch = o.to[p.outer], .from_pitch = o.from[p.outer]};
        lines = o.dim[p.outer];
        bool is_turned = line.from_pitch < p.from_pitch && p.from_pitch * unit >= CACHE_LINE;
        run = is_turned ? GP_MIN(run, (int64_t)TURNED) : run;
    }
    for (uint64_t i = 0; p.count && i < p.count / (uint64_t)lines; i++) {
        int64_t to_at, from_at;
        gp_strided_at(&o, &p, i, &to_at, &from_at);
        for (int64_t h = 0; h < p.height; h += run) {
            for (int64_t k = 0; k < lines; k++)
                copy_elements((char *)to + (to_at + h * p.to_pitch + k * line.to_pitch) * unit, p.to_pitch * unit,
                              (const char *)from + (from_at + h * p.from_pitch + k * line.from_pitch) * unit,
                              p.from_pitch * unit, GP_MIN(run, p.height - h), (size_t)p.width * elem_bytes);
        }
    }
}
