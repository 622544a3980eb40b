/* Whether two views of one storage share an element, or a byte where theirs differ in size.
**
** View A has elements sA + sum a_i x_i, view B sB + sum b_j y_j, 0 <= x_i < m_i, 0 <= y_j < n_j.
** With x_i replaced by m_i - 1 - x_i the question "is some element in both" becomes
**
**     sum c_k z_k = D    with c_k > 0 and 0 <= z_k <= u_k,
**
** a bounded sum over at most thirteen terms. Equal coefficients are one term. Terms are tried from
** the largest coefficient down, each within the bounds that the rest leaves, which for strides
** that nest is two or three values; the search stops at once where the greatest common divisor
** of what is left does not divide D, or where what is left reaches every multiple of it. */
#include "runtime/internal.h"

#define MAX_TERMS (2 * GP_MAX_RANK + 1) /* the axes of both, and the bytes of an element */
/* Not reached by views that can be made; past it the answer is the safe one. */
#define MAX_STEPS 4000000

typedef struct Sum {
    int count, steps;
    int64_t c[MAX_TERMS], u[MAX_TERMS];
    int64_t reach[MAX_TERMS + 1];     /* the largest sum of terms k and after */
    int64_t gcd[MAX_TERMS + 1];       /* of their coefficients */
    bool is_dense[MAX_TERMS + 1];     /* they reach every multiple of the gcd up to reach */
} Sum;

static int64_t gcd(int64_t a, int64_t b) {
    while (b) {
        int64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

static void add_term(Sum *s, int64_t c, int64_t u) {
    if (u <= 0 || c == 0)
        return;
    int at = 0;
    while (at < s->count && s->c[at] > c)
        at++;
    if (at < s->count && s->c[at] == c) {
        s->u[at] += u;
        return;
    }
    for (int i = s->count++; i > at; i--) {
        s->c[i] = s->c[i - 1];
        s->u[i] = s->u[i - 1];
    }
    s->c[at] = c;
    s->u[at] = u;
}

/* From the last term up: a set that reaches all multiples of g up to R stays gapless when a
** coefficient of at most R + g joins that g divides. */
static void summarise(Sum *s) {
    int n = s->count;
    s->reach[n] = 0;
    s->gcd[n] = 0;
    s->is_dense[n] = true;
    for (int k = n - 1; k >= 0; k--) {
        s->reach[k] = s->reach[k + 1] + s->c[k] * s->u[k];
        s->gcd[k] = gcd(s->c[k], s->gcd[k + 1]);
        s->is_dense[k] = k == n - 1 ||
                         (s->is_dense[k + 1] && s->gcd[k] == s->gcd[k + 1] &&
                          s->c[k] <= s->reach[k + 1] + s->gcd[k + 1]);
    }
}

static bool has_solution(Sum *s, int k, int64_t d) {
    if (d < 0 || d > s->reach[k])
        return false;
    if (k == s->count)
        return true; /* d is 0 */
    if (d % s->gcd[k] != 0)
        return false;
    if (s->is_dense[k])
        return true;
    int64_t rest = d - s->reach[k + 1];
    int64_t low = rest > 0 ? gp_ceil_div(rest, s->c[k]) : 0;
    int64_t high = GP_MIN(d / s->c[k], s->u[k]);
    for (int64_t z = high; z >= low; z--) {
        if (++s->steps > MAX_STEPS || has_solution(s, k + 1, d - z * s->c[k]))
            return true;
    }
    return false;
}

static int64_t last_element(const GpTensor *t) {
    int64_t last = t->offset;
    for (int i = 0; i < t->shape.rank; i++)
        last += (t->shape.dim[i] - 1) * t->stride[i];
    return last;
}

bool gp_tensor_overlaps(const GpTensor *a, const GpTensor *b) {
    if (a->storage != b->storage || a->numel == 0 || b->numel == 0)
        return false;
    if (a->is_whole || b->is_whole)
        return true;
    int64_t a_bytes = gp_elem_info[a->elem].bytes, b_bytes = gp_elem_info[b->elem].bytes;
    if (a_bytes == b_bytes)
        a_bytes = b_bytes = 1; /* elements do */
    Sum sum = {0};
    for (int i = 0; i < a->shape.rank; i++)
        add_term(&sum, a->stride[i] * a_bytes, a->shape.dim[i] - 1);
    for (int i = 0; i < b->shape.rank; i++)
        add_term(&sum, b->stride[i] * b_bytes, b->shape.dim[i] - 1);
    add_term(&sum, 1, a_bytes + b_bytes - 2);
    summarise(&sum);
    return has_solution(&sum, 0, (last_element(a) + 1) * a_bytes - 1 - b->offset * b_bytes);
}
