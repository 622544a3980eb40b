/* One argument against its parameter: kind, element type, rank, extents, and the facts that the
** code of a variant may use. */
#include "dsl/bind.h"

#include "core/gpu.h"

bool gp_bind_elem(const GpType *t, GpElem *out) {
    if (t->kind == GpTy_Elem)
        *out = t->elem;
    else if (t->kind == GpTy_Usize)
        *out = GpElem_U64;
    else if (t->kind == GpTy_Isize)
        *out = GpElem_I64;
    else
        return false;
    return true;
}

GpParamForm gp_bind_form(const GpType *t) {
    GpElem elem;
    if (t->kind == GpTy_Ref && gp_ty_is_lang(t->inner, GpLang_Tensor))
        return t->is_mut ? GpParamForm_TensorMut : GpParamForm_Tensor;
    if (t->kind == GpTy_Ref && t->inner->kind == GpTy_Slice)
        return t->is_mut ? GpParamForm_SliceMut : GpParamForm_Slice;
    if (gp_ty_is_lang(t, GpLang_DisjointSlice))
        return GpParamForm_Disjoint;
    if (gp_ty_is_lang(t, GpLang_MappedPartitionMut))
        return GpParamForm_Mapped;
    if (t->kind == GpTy_RawPtr)
        return GpParamForm_Pointer;
    if (gp_bind_elem(t, &elem) || t->kind == GpTy_Param)
        return GpParamForm_Scalar;
    return GpParamForm_Other;
}

const GpType *gp_bind_elem_type(const GpType *t, GpParamForm form) {
    if (form == GpParamForm_Slice || form == GpParamForm_SliceMut)
        return t->inner->inner;
    if (form == GpParamForm_Disjoint || form == GpParamForm_Mapped)
        return t->args[0].type;
    if (form == GpParamForm_Pointer)
        return t->inner;
    if (form == GpParamForm_Tensor || form == GpParamForm_TensorMut)
        return t->inner->args[0].type;
    return t;
}

static const char *describe(GpBinder *b, const GpArgDesc *a) {
    switch (a->kind) {
    case GpArg_Tensor:
        return gp_bind_text(b, "a tensor of `%s` with shape %s", gp_elem_info[a->elem].name,
                            gp_bind_shape(b, &a->shape));
    case GpArg_Partition:
        if (a->share.map.rank)
            return gp_bind_text(b, "a partition of `%s` in tiles of %s mapped by %s",
                                gp_elem_info[a->elem].name, gp_bind_shape(b, &a->tile),
                                gp_bind_shape(b, &a->share.map));
        return gp_bind_text(b, "a partition of `%s` in tiles of %s", gp_elem_info[a->elem].name,
                            gp_bind_shape(b, &a->tile));
    case GpArg_Int:
        return gp_bind_text(b, "the number %lld", (long long)a->i);
    case GpArg_Float:
        return gp_bind_text(b, "the number %.17g", a->f);
    case GpArg_Bool:
        return a->i ? "`true`" : "`false`";
    case GpArg_Other:
        return a->other;
    }
    gp_unreachable();
}

static void wrong_kind(GpBinder *b, const GpArgDesc *a, const GpType *t, const char *help) {
    GpDiag *d =
        gp_bind_mismatch(b, "expected `%s`, found %s", gp_ty_name(b->arena, t), describe(b, a));
    if (a->kind == GpArg_Other && strcmp(a->other, "a table") == 0)
        help = "a tensor is made of a table by `gpu.from_table{..}`";
    if (help)
        gp_help(d, "%s", help);
}

/* ---- Element types and extents ----------------------------------------------------------------
 */

/* Tile extents that the type leaves open are part of the code. */
static void note_tile(GpBinder *b, uint32_t i, const GpType *tensor, const GpShape *tile) {
    const GpShapeTy *sh = tensor->args[1].shape;
    for (int k = 0; sh->kind == GpShape_List && k < sh->rank && k < tile->rank; k++)
        if (sh->dim[k]->kind == GpConst_Dynamic)
            b->inst->args[i].tile[k] = tile->dim[k];
}

static bool match_elem(GpBinder *b, const GpType *t, GpElem elem) {
    GpElem want;
    if (t->kind == GpTy_Param)
        return gp_bind_set_elem(b, t->def, elem);
    if (gp_bind_elem(t, &want) && want == elem)
        return true;
    GpDiag *d = gp_bind_mismatch(b, "expected elements of `%s`, found `%s`", gp_ty_name(b->arena, t),
                                 gp_elem_info[elem].name);
    GpParamForm form = gp_bind_form(b->kernel->sig.params[b->arg]);
    bool is_read = form == GpParamForm_Tensor || form == GpParamForm_Slice;
    if (is_read && gp_bind_elem(t, &want))
        gp_help(d, "`t:convert(\"%s\")` gives a tensor with such elements", gp_elem_info[want].name);
    return false;
}

/* A lone generic takes the extent, one times a number what makes the extent if nothing else decided it; anything else is
** compared once all generics are known. */
static bool match_extent(GpBinder *b, const GpConst *c, int64_t extent, int axis, const char *what,
                         bool is_second) {
    int64_t want;
    if (c->kind != GpConst_Poly)
        return true;
    if (gp_const_value(c, &want)) {
        if (want == extent)
            return true;
        gp_bind_mismatch(b, "expected %s %lld on axis %d, found %lld", what, (long long)want, axis,
                         (long long)extent);
        return false;
    }
    bool is_one = c->term_count == 1 && c->terms[0].atom_count == 1 && c->terms[0].atoms[0].index < 0;
    int64_t factor = is_one ? c->terms[0].factor : 0;
    gp_assert(!is_second || factor != 1);
    if (factor < 1)
        return true;
    if (extent % factor != 0) {
        gp_bind_mismatch(b, "the extent on axis %d, %lld, is no multiple of %lld", axis, (long long)extent, (long long)factor);
        return false;
    }
    const GpDef *generic = c->terms[0].atoms[0].param;
    return factor > 1 && !gp_bind_is_open(b, generic) ? true : gp_bind_set_int(b, generic, extent / factor);
}

/* The tensor's generic `arg`, a shape, against one of the host. */
static bool match_shape(GpBinder *b, const GpType *tensor, uint32_t arg, const GpShape *shape,
                        const char *what, bool is_second) {
    if (arg >= tensor->arg_count || tensor->args[arg].kind != GpGArg_Shape)
        return true;
    const GpShapeTy *sh = tensor->args[arg].shape;
    if (sh->kind == GpShape_Param)
        return gp_bind_set_shape(b, sh->param, shape);
    if (sh->rank != shape->rank) {
        gp_bind_mismatch(b, "expected rank %d, found rank %d (shape %s)", sh->rank, shape->rank,
                         gp_bind_shape(b, shape));
        return false;
    }
    for (int i = 0; i < sh->rank; i++)
        if (!match_extent(b, sh->dim[i], shape->dim[i], i, what, is_second))
            return false;
    return true;
}

/* ---- Facts ------------------------------------------------------------------------------------
 */

/* Extents of what has no elements may be of any size. */
static bool is_contiguous(const GpArgDesc *a) {
    int64_t stride = 1, numel;
    if (!gp_shape_numel(&a->shape, &numel) || numel == 0)
        return true;
    for (int i = a->shape.rank - 1; i >= 0; i--) {
        if (a->shape.dim[i] != 1 && a->stride[i] != stride)
            return false;
        stride *= a->shape.dim[i];
    }
    return true;
}

static bool has_small_offsets(const GpArgDesc *a) {
    int64_t last = 0, step;
    for (int i = 0; i < a->shape.rank; i++) {
        int64_t n = a->shape.dim[i] > 0 ? a->shape.dim[i] - 1 : 0;
        int64_t stride = a->stride[i] < 0 ? -a->stride[i] : a->stride[i];
        if (__builtin_mul_overflow(n, stride, &step) || __builtin_add_overflow(last, step, &last))
            return false;
    }
    return last < INT64_C(1) << 31;
}

/* What a tensor map takes as an outer stride. */
static bool is_map_stride(int64_t stride, int64_t elem_bytes) {
    return stride >= 0 && stride < (INT64_C(1) << 40) / elem_bytes && stride * elem_bytes % 16 == 0;
}

static void find_facts(GpBinder *b, uint32_t i, const GpArgDesc *a, GpPass pass, bool is_slice) {
    struct GpArgFacts *f = &b->inst->args[i];
    int64_t bytes = gp_elem_info[a->elem].bytes;
    int rank = a->shape.rank;
    f->pass = pass;
    f->elem = a->elem;
    f->rank = is_slice ? 1 : a->shape.rank;
    f->unit_stride = is_slice || rank == 0 || a->stride[rank - 1] == 1;
    f->aligned16 = a->address % 16 == 0;
    for (int k = 0; !is_slice && k < rank; k++) {
        bool is_inner = k + 1 == rank;
        f->aligned16 &= a->shape.dim[k] > 0 && (is_inner || is_map_stride(a->stride[k], bytes));
        f->splits_lines |= !is_inner && a->shape.dim[k] > 1 && a->stride[k] % GP_GPU_LINE_BYTES * bytes % GP_GPU_LINE_BYTES != 0;
    }
    f->splits_lines &= f->aligned16; /* others are copied in another way: no variant of their own */
    f->small = has_small_offsets(a);
}

/* Kernels count tiles and elements of an axis in i32, as shapes do. */
static bool check_extents(GpBinder *b, const GpArgDesc *a) {
    for (int k = 0; k < a->shape.rank; k++) {
        if (a->shape.dim[k] <= INT32_MAX)
            continue;
        GpDiag *d = gp_bind_mismatch(b, "expected extents that an `i32` counts, found %lld on axis %d",
                                     (long long)a->shape.dim[k], k);
        gp_help(d, "`t:reshape{..}` gives the same elements on more axes");
        return false;
    }
    return true;
}

/* ---- Kinds of parameters ----------------------------------------------------------------------
 */

static void bind_tensor(GpBinder *b, uint32_t i, const GpType *t, bool is_second) {
    const GpArgDesc *a = &b->request->args[i];
    if (a->kind != GpArg_Tensor) {
        wrong_kind(b, a, t,
                   a->kind == GpArg_Partition ? "pass the tensor itself, without `:tiles`" : NULL);
        return;
    }
    if (check_extents(b, a) && match_elem(b, t->inner->args[0].type, a->elem) &&
        match_shape(b, t->inner, 1, &a->shape, "extent", is_second))
        find_facts(b, i, a, GpPass_Shared, false);
}

static void bind_tensor_mut(GpBinder *b, uint32_t i, const GpType *t, bool is_second) {
    const GpArgDesc *a = &b->request->args[i];
    if (a->kind != GpArg_Partition) {
        wrong_kind(b, a, t,
                   a->kind == GpArg_Tensor ? "a written tensor is passed in tiles: `t:tiles{..}`"
                                           : NULL);
        return;
    }
    if (a->share.map.rank) {
        wrong_kind(b, a, t, "a mapped partition is for a `MappedPartitionMut`");
        return;
    }
    if (check_extents(b, a) && match_elem(b, t->inner->args[0].type, a->elem) &&
        match_shape(b, t->inner, 1, &a->tile, "a tile extent of", is_second)) {
        find_facts(b, i, a, GpPass_Unique, false);
        note_tile(b, i, t->inner, &a->tile);
    }
}

static void bind_mapped(GpBinder *b, uint32_t i, const GpType *t, bool is_second) {
    const GpArgDesc *a = &b->request->args[i];
    if (a->kind != GpArg_Partition || !a->share.map.rank) {
        wrong_kind(b, a, t,
                   a->kind == GpArg_Partition || a->kind == GpArg_Tensor
                       ? "its tiles are shared out by a map: `t:tiles{..}:map({1, 1}, blocks)`"
                       : NULL);
        return;
    }
    if (check_extents(b, a) && match_elem(b, t->args[0].type, a->elem) &&
        match_shape(b, t, 1, &a->tile, "a tile extent of", is_second) &&
        match_shape(b, t, 2, &a->share.map, "a map entry of", is_second))
        find_facts(b, i, a, GpPass_Unique, false);
}

static void bind_slice(GpBinder *b, uint32_t i, const GpType *t, GpParamForm form) {
    const GpArgDesc *a = &b->request->args[i];
    if (a->kind != GpArg_Tensor) {
        wrong_kind(b, a, t,
                   a->kind == GpArg_Partition ? "pass the tensor itself, without `:tiles`" : NULL);
        return;
    }
    if (!match_elem(b, gp_bind_elem_type(t, form), a->elem))
        return;
    if (!is_contiguous(a)) {
        GpDiag *d =
            gp_bind_refuse(b, GpDiag_G0327, gp_bind_param_name(b, i), gp_bind_kernel_name(b));
        gp_primary_label(d, "argument %u is no single run of elements in row-major order", i + 1);
        gp_note_at(d, gp_bind_param_span(b, i), "parameter `%s` is a %s",
                   gp_bind_param_name(b, i), form == GpParamForm_Pointer ? "pointer" : "slice");
        return;
    }
    bool is_shared = form == GpParamForm_Slice || (form == GpParamForm_Pointer && !t->is_mut);
    find_facts(b, i, a, is_shared ? GpPass_Shared : GpPass_Unique, true);
}

static void bind_scalar(GpBinder *b, uint32_t i, const GpType *t) {
    const GpArgDesc *a = &b->request->args[i];
    struct GpArgFacts *f = &b->inst->args[i];
    GpElem elem;
    if (!gp_bind_elem(t, &elem))
        return; /* a generic, known in the second round */
    bool is_bool = elem == GpElem_Bool, is_number = a->kind == GpArg_Int || a->kind == GpArg_Float;
    if (is_bool ? a->kind != GpArg_Bool : !is_number) {
        wrong_kind(b, a, t, NULL);
        return;
    }
    f->pass = GpPass_Scalar;
    f->elem = elem;
    f->scalar = (GpScalar){.elem = elem, .i = a->i};
    if (is_bool)
        return;
    if (a->kind == GpArg_Int ? gp_scalar_from_int(a->i, elem, &f->scalar)
                             : gp_scalar_from_double(a->f, elem, &f->scalar))
        return;
    GpDiag *d =
        gp_bind_mismatch(b, "expected `%s`, found %s", gp_ty_name(b->arena, t), describe(b, a));
    if (gp_elem_is_float(elem) && a->kind == GpArg_Int)
        gp_help(d, "an integer converts only exactly; as a float, `%lld.0`, it is rounded", (long long)a->i);
    else if (gp_elem_is_float(elem))
        gp_help(d, "it is beyond the largest `%s`", gp_ty_name(b->arena, t));
    else
        gp_help(d, "a Lua number converts only when its value is exactly one of `%s`",
                gp_ty_name(b->arena, t));
}

void gp_bind_arg(GpBinder *b, uint32_t i, bool is_second) {
    const GpType *t = is_second ? gp_bind_type(b, i) : b->kernel->sig.params[i];
    GpParamForm form = gp_bind_form(t);
    b->arg = i;
    switch (form) {
    case GpParamForm_Tensor:
        bind_tensor(b, i, t, is_second);
        return;
    case GpParamForm_TensorMut:
        bind_tensor_mut(b, i, t, is_second);
        return;
    case GpParamForm_Mapped:
        bind_mapped(b, i, t, is_second);
        return;
    case GpParamForm_Slice:
    case GpParamForm_SliceMut:
    case GpParamForm_Disjoint:
    case GpParamForm_Pointer:
        bind_slice(b, i, t, form);
        return;
    case GpParamForm_Scalar:
        bind_scalar(b, i, t);
        return;
    case GpParamForm_Other:
        break;
    }
    GpDiag *d =
        gp_diag(b->diags, GpDiag_G0251, gp_bind_param_span(b, i),
                gp_bind_text(b, "a kernel parameter of type `%s`", gp_ty_name(b->arena, t)));
    gp_primary_label(d, "kernels take tensors, slices, pointers and numbers");
    b->has_failed = true;
}
