/* Compiled images: a copy shares nothing with what it was made from. */
#include "core/image.h"
#include "spec/unit/unit.h"

static void count_release(void *self) { ++*(int *)self; }

static GpImage *copy_sample(GpSession *s, int *released) {
    char name[] = "add", entry[] = "add_f32", ptx[] = ".version 8.0", file[] = "a.lua";
    char what[] = "a[i]";
    GpImageParam params[] = {
        {GpParam_Base, 0, 0, 8, 0}, {GpParam_Len, 0, 0, 8, 8}, {GpParam_Mailbox, 0, 0, 8, 16}};
    GpCheckSite sites[] = {{GpCheck_Index, 0, {file, 3, 9}, what},
                           {GpCheck_Assert, 0, {file, 4, 1}, NULL}};
    GpImageMap maps[] = {{.arg = 1, .elem = GpElem_F16, .rank = 2, .box = {64, 32}, .swizzle = 64}};
    GpImage image = {
        .kind = GpImage_Ptx,
        .name = name,
        .params = params,
        .param_count = 3,
        .param_bytes = 24,
        .sites = sites,
        .site_count = 2,
        .maps = maps,
        .map_count = 1,
        .ptx = ptx,
        .ptx_len = strlen(ptx),
        .entry = entry,
        .threads = 128,
        .cluster = {1, 1, 1},
        .cpu_self = released,
        .release = released ? count_release : NULL,
    };
    GpImage *copy = gp_image_copy(s, &image);
    memset(name, 'x', 3);
    memset(entry, 'x', 3);
    memset(ptx, 'x', 3);
    memset(file, 'x', 3);
    memset(what, 'x', 3);
    memset(params, 0xff, sizeof params);
    memset(sites, 0xff, sizeof sites);
    memset(maps, 0xff, sizeof maps);
    return copy;
}

static void test_copy(void **state) {
    (void)state;
    GpSession s;
    gp_session_init(&s, NULL, NULL, NULL);
    int released = 0;
    GpImage *copy = copy_sample(&s, &released);
    assert_ptr_equal(copy->session, &s);
    assert_int_equal(copy->refs, 1);
    assert_string_equal(copy->name, "add");
    assert_string_equal(copy->entry, "add_f32");
    assert_string_equal(copy->ptx, ".version 8.0");
    assert_int_equal(copy->params[2].kind, GpParam_Mailbox);
    assert_int_equal(copy->params[2].offset, 16);
    assert_string_equal(copy->sites[0].what, "a[i]");
    assert_string_equal(copy->sites[1].place.file, "a.lua");
    assert_null(copy->sites[1].what);
    assert_int_equal(copy->threads, 128);
    assert_int_equal(copy->map_count, 1);
    assert_int_equal(copy->maps[0].arg, 1);
    assert_int_equal(copy->maps[0].box[1], 32);
    assert_ptr_equal(gp_image_retain(copy), copy);
    gp_image_release(copy);
    assert_int_equal(released, 0);
    gp_image_release(copy);
    assert_int_equal(released, 1);
    gp_image_release(NULL);
    assert_int_equal(s.bytes, 0);
}

static bool make_copy(GpSession *s) {
    GpImage *copy = copy_sample(s, NULL);
    bool is_made = copy != NULL;
    gp_image_release(copy);
    return is_made;
}

static void test_every_allocation_fails(void **state) {
    (void)state;
    assert_int_equal(fail_every_allocation(make_copy), 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_copy),
        cmocka_unit_test(test_every_allocation_fails),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
