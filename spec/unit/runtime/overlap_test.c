/* Overlap of views against the definition: every element of both, enumerated. The views come
** from random chains of slice, permute and reshape over one small storage. */
#include "runtime/internal.h"
#include "spec/unit/runtime/support.h"

static uint32_t seed = 12345;

static uint32_t random_below(uint32_t n) {
    seed = seed * 1664525u + 1013904223u;
    return (seed >> 8) % n;
}

static void mark_elements(const GpTensor *t, uint8_t *marks, uint8_t bit) {
    for (int64_t i = 0; i < t->numel; i++) {
        int64_t at = t->offset, rest = i;
        for (int axis = t->shape.rank - 1; axis >= 0; axis--) {
            at += rest % t->shape.dim[axis] * t->stride[axis];
            rest /= t->shape.dim[axis];
        }
        assert_true(at >= 0 && at < t->storage->numel);
        assert_false(marks[at] & bit); /* the elements of a view are distinct */
        marks[at] |= bit;
    }
}

static bool overlaps_by_enumeration(const GpTensor *a, const GpTensor *b) {
    uint8_t marks[1024] = {0};
    bool is_shared = false;
    mark_elements(a, marks, 1);
    mark_elements(b, marks, 2);
    for (size_t i = 0; i < sizeof marks; i++)
        is_shared = is_shared || marks[i] == 3;
    return is_shared;
}

static GpTensor *slice_randomly(World *w, GpTensor *t) {
    int64_t start[GP_MAX_RANK], stop[GP_MAX_RANK];
    for (int i = 0; i < t->shape.rank; i++) {
        start[i] = random_below((uint32_t)t->shape.dim[i] + 1);
        stop[i] = start[i] + random_below((uint32_t)(t->shape.dim[i] - start[i]) + 1);
        if (stop[i] == start[i] && random_below(8))
            start[i] = 0, stop[i] = t->shape.dim[i];
    }
    GpTensor *view;
    expect_status(w, gp_tensor_slice(t, start, stop, line(1), w->diags, &view), GpStatus_Ok);
    return view;
}

static GpTensor *permute_randomly(World *w, GpTensor *t) {
    uint8_t axes[GP_MAX_RANK] = {0};
    for (uint8_t i = 0; i < t->shape.rank; i++) {
        uint8_t at = (uint8_t)random_below(i + 1u);
        axes[i] = axes[at];
        axes[at] = i;
    }
    GpTensor *view;
    expect_status(w, gp_tensor_permute(t, axes, line(1), w->diags, &view), GpStatus_Ok);
    return view;
}

static GpTensor *make_view(World *w, GpTensor *base) {
    static const GpShape shapes[] = {{{720}, 1}, {{6, 120}, 2}, {{8, 9, 10}, 3}, {{45, 16}, 2},
                                     {{2, 3, 4, 5, 6}, 5}, {{3, 2, 2, 5, 3, 4}, 6}, {{24, 30}, 2}};
    GpTensor *t;
    expect_status(w, gp_tensor_reshape(base, &shapes[random_below(GP_COUNT(shapes))], line(1),
                                       w->diags, &t), GpStatus_Ok);
    for (uint32_t steps = 1 + random_below(3); steps > 0; steps--) {
        GpTensor *view = random_below(3) ? slice_randomly(w, t) : permute_randomly(w, t);
        gp_tensor_release(t);
        t = view;
    }
    return t;
}

static void test_overlap(void **state) {
    (void)state;
    World w;
    open_world(&w);
    GpTensor *base = new_tensor(&w, GpElem_I32, (GpShape){{720}, 1}, "base");
    int shared = 0, apart = 0;
    for (int i = 0; i < 20000; i++) {
        GpTensor *a = make_view(&w, base), *b = make_view(&w, base);
        bool want = overlaps_by_enumeration(a, b);
        assert_int_equal(gp_tensor_overlaps(a, b), want);
        assert_int_equal(gp_tensor_overlaps(b, a), want);
        *(want ? &shared : &apart) += 1;
        gp_tensor_release(a);
        gp_tensor_release(b);
    }
    assert_true(shared > 2000 && apart > 2000); /* both answers were asked for */
    gp_tensor_release(base);
    close_world(&w);
}

/* Elements of four bytes and of one: bytes 24 to 27 are the float at 6, and no element 24 of it. */
static void test_sizes(void **state) {
    (void)state;
    World w;
    open_world(&w);
    GpTensor *base = new_iota(&w, 8, "base"), *bytes, *wide, *narrow;
    expect_status(&w, gp_tensor_reinterpret(base, GpElem_U8, &(GpShape){{4, 8}, 2}, line(1), w.diags, &bytes),
                  GpStatus_Ok);
    for (int64_t i = 0; i < 8; i++) {
        expect_status(&w, gp_tensor_slice(base, &i, &(int64_t){i + 1}, line(1), w.diags, &wide), GpStatus_Ok);
        for (int64_t k = 0; k < 8; k++) { /* column k of 4 x 8 bytes: k, k + 8, .. */
            const int64_t start[] = {1, k}, stop[] = {3, k + 1};
            expect_status(&w, gp_tensor_slice(bytes, start, stop, line(1), w.diags, &narrow), GpStatus_Ok);
            bool want = (k + 8) / 4 == i || (k + 16) / 4 == i;
            assert_int_equal(gp_tensor_overlaps(wide, narrow), want);
            assert_int_equal(gp_tensor_overlaps(narrow, wide), want);
            gp_tensor_release(narrow);
        }
        gp_tensor_release(wide);
    }
    gp_tensor_release(bytes);
    gp_tensor_release(base);
    close_world(&w);
}

/* Strides that no enumeration could walk: even and odd columns of 2^40 elements. */
static void test_large(void **state) {
    (void)state;
    GpStorage st = {.numel = INT64_C(1) << 40};
    GpTensor even = {.storage = &st, .shape = {{INT64_C(1) << 20, INT64_C(1) << 19}, 2},
                     .stride = {INT64_C(1) << 20, 2}, .numel = INT64_C(1) << 39};
    GpTensor odd = even;
    odd.offset = 1;
    assert_false(gp_tensor_overlaps(&even, &odd));
    odd.offset = (INT64_C(1) << 20) + 2;
    assert_true(gp_tensor_overlaps(&even, &odd));
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_overlap),
    cmocka_unit_test(test_sizes),
    cmocka_unit_test(test_large),
};
RUN_TESTS(tests)
