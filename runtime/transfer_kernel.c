/* Copies within a GPU in pieces that its copy engine is slow to move: cut into nests of three loops, each
** of which is a kernel's. The innermost loop is over what lies side by side in the target, the one around
** it over what lies nearest in the source. */
#include "runtime/internal.h"

enum {
    NEST = 3,
    MOST_EXTENT = 1 << 20, /* a grid has 65535 blocks on its last two axes */
};

typedef struct Cut {
    GpTensor *dst, *src;
    GpSite site;
} Cut;

/* At least NEST loops; the nest's are the last ones, and the outermost of them is the longest that is left. */
static GpStrided order_loops(const GpStrided *l) {
    GpStrided o = {.rank = GP_MAX(l->rank, (uint8_t)NEST)};
    int added = o.rank - l->rank, longest = 0;
    for (int i = 0; i < o.rank; i++) {
        int is = GP_MAX(i - added, 0);
        o.dim[i] = i < added ? 1 : l->dim[is];
        o.to[i] = i < added ? l->to[0] * l->dim[0] : l->to[is];
        o.from[i] = i < added ? l->from[0] * l->dim[0] : l->from[is];
    }
    gp_strided_bring(&o, gp_strided_nearest(&o, GP_MIN(added, o.rank - 2), o.rank - 2), o.rank - 2);
    for (int i = 0; i <= o.rank - NEST; i++)
        longest = o.dim[i] > o.dim[longest] ? i : longest;
    gp_strided_bring(&o, longest, o.rank - NEST);
    return o;
}

/* The nest in `t`, from element `at` on, as bits. */
static GpStatus view_nest(GpTensor *t, const GpStrided *nest, const int64_t *stride, int64_t at, GpDiags *diags,
                          GpTensor **out) {
    static const GpElem bits[] = {[1] = GpElem_U8, [2] = GpElem_U16, [4] = GpElem_U32, [8] = GpElem_U64};
    GpTensor like = {.elem = bits[gp_elem_info[t->elem].bytes], .shape = {.rank = NEST}, .offset = t->offset + at};
    memcpy(like.shape.dim, nest->dim, NEST * sizeof *nest->dim);
    memcpy(like.stride, stride, NEST * sizeof *stride);
    return gp_tensor_make(t->storage, &like, diags, out);
}

static GpStatus copy_nest(const Cut *c, const GpStrided *nest, int64_t to_at, int64_t from_at, GpDiags *diags) {
    const GpRuntimeHooks *hooks = &c->dst->storage->device->rt->hooks;
    GpTensor *to = NULL, *from = NULL;
    GpStatus status = view_nest(c->dst, nest, nest->to, to_at, diags, &to);
    if (status == GpStatus_Ok)
        status = view_nest(c->src, nest, nest->from, from_at, diags, &from);
    if (status == GpStatus_Ok)
        status = hooks->copy(hooks->ud, to, from, c->site, diags);
    gp_tensor_release(from);
    gp_tensor_release(to);
    return status;
}

/* The loop that a kernel cannot have: one around the nest, or too long a one; -1: none. */
static int find_cut(const GpStrided *l) {
    if (l->rank > NEST)
        return 0;
    for (int i = 0; i < NEST; i++)
        if (l->dim[i] > MOST_EXTENT)
            return i;
    return -1;
}

static GpStatus copy_loops(const Cut *c, const GpStrided *l, int64_t to, int64_t from, GpDiags *diags) {
    int axis = find_cut(l);
    if (axis < 0)
        return copy_nest(c, l, to, from, diags);
    int64_t step = l->rank > NEST ? 1 : MOST_EXTENT;
    GpStatus status = GpStatus_Ok;
    for (int64_t i = 0; i < l->dim[axis] && status == GpStatus_Ok; i += step) {
        GpStrided part = *l;
        part.dim[axis] = GP_MIN(step, l->dim[axis] - i);
        if (l->rank > NEST) {
            gp_strided_bring(&part, 0, part.rank - 1);
            part.rank--;
        }
        status = copy_loops(c, &part, to + i * l->to[axis], from + i * l->from[axis], diags);
    }
    return status;
}

GpStatus gp_copy_by_kernel(GpTensor *dst, GpTensor *src, const GpStrided *l, GpSite site, GpDiags *diags) {
    Cut c = {dst, src, site};
    GpStrided o = order_loops(l);
    if (dst->storage->device->rt->recording)
        return gp_graph_refuse_host(diags);
    return copy_loops(&c, &o, 0, 0, diags);
}
