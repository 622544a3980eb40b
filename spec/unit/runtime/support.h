/* What tests of the runtime share: a script with lines for sites, names for values, and the
** test kernel on whichever device is under test. */
#ifndef GP_RUNTIME_TEST_SUPPORT_H
#define GP_RUNTIME_TEST_SUPPORT_H

#include <dlfcn.h>

#include "core/os_posix.h"
#include "runtime/runtime.h"
#include "spec/support/fakecuda.h"
#include "spec/support/test_kernels.h"
#include "spec/unit/unit.h"

static const char *test_device = "cpu";
static const char *test_folder = ".";

#define MAX_NAMES 32

typedef struct World {
    GpSession s;
    GpSource *script, *kernels;
    GpRuntime *rt;
    GpDevice *device;
    GpDiags *diags;
    GpText written; /* through the write hook */
    GpExec *scale;
    struct {
        const void *value;
        const char *name;
    } names[MAX_NAMES];
    int name_count, collections;
    void (*on_collect)(struct World *w);
    void *garbage;
} World;

static inline GpSpan resolve_site(void *ud, GpSite site, const GpSiteHint *hint) {
    World *w = ud;
    if (hint && hint->is_name)
        return GP_NO_SPAN; /* the lines of the script name nothing */
    uint32_t start = w->script->line_starts[site.line - 1];
    GpStr line = gp_source_line(w->script, site.line - 1);
    return (GpSpan){w->script, start, (uint32_t)line.len};
}

static inline GpSpan locate_place(void *ud, const GpCheckSite *site) {
    World *w = ud;
    return (GpSpan){w->kernels, w->kernels->line_starts[site->place.line - 1] + site->place.column - 1, 5};
}

static inline void collect_garbage(void *ud) {
    World *w = ud;
    w->collections++;
    if (w->on_collect)
        w->on_collect(w);
}

static inline bool name_value(void *ud, const void *value, GpText *out, GpSpan *at) {
    World *w = ud;
    if (at)
        *at = GP_NO_SPAN;
    for (int i = w->name_count - 1; i >= 0; i--) {
        if (w->names[i].value != value)
            continue;
        gp_text_puts(out, w->names[i].name);
        return true;
    }
    return false;
}

static inline void write_text(void *ud, const char *text, size_t len) {
    gp_text_add(&((World *)ud)->written, text, len);
}

static inline void call_it(World *w, const void *value, const char *name) {
    assert_true(w->name_count < MAX_NAMES);
    w->names[w->name_count].value = value;
    w->names[w->name_count++].name = name;
}

static inline GpSite line(uint32_t number) { return (GpSite){1, number}; }

/* The kernel of test_kernels.h: out: &mut [f32], in: &[f32], by: f32. */
static inline GpImage *make_scale(GpSession *s, bool is_gpu) {
    GpImageParam params[] = {{GpParam_Base, 0, 0, 8, 0},   {GpParam_Len, 0, 0, 8, 8},
                             {GpParam_Base, 1, 0, 8, 16},  {GpParam_Len, 1, 0, 8, 24},
                             {GpParam_Mailbox, 0, 0, 8, 32}, {GpParam_Scalar, 2, 0, 4, 40}};
    GpCheckSite sites[] = {{GpCheck_Index, 0, {"scale.rs", 2, 14}, "a[i]"},
                           {GpCheck_Index, 0, {"scale.rs", 2, 5}, "o[i]"}};
    GpImage image = {.session = s,
                     .refs = 1,
                     .kind = is_gpu ? GpImage_Ptx : GpImage_Cpu,
                     .name = "scale",
                     .params = params,
                     .param_count = GP_COUNT(params),
                     .param_bytes = 44,
                     .sites = sites,
                     .site_count = GP_COUNT(sites),
                     .ptx = is_gpu ? "// scale" : NULL,
                     .ptx_len = is_gpu ? 8 : 0,
                     .entry = is_gpu ? "scale" : NULL,
                     .cluster = {1, 1, 1},
                     .ptx_version = 80,
                     .min_sm = 80,
                     .unpiped = GpUnpiped_Jump,
                     .cpu_entry = is_gpu ? NULL : test_scale};
    return gp_image_copy(s, &image);
}

/* The same with a tensor map of the input, the virtual grid, and a launch that is persistent. */
static inline GpImage *make_scale_map(GpSession *s, uint8_t rank) {
    GpImage *plain = make_scale(s, true);
    GpImageParam params[10];
    GpImageMap map = {.arg = 1, .elem = GpElem_F32, .rank = rank, .box = {4, 8, 32}, .swizzle = 128};
    GpImage with = *plain;
    memcpy(params, plain->params, sizeof *params * plain->param_count);
    params[6] = (GpImageParam){GpParam_TensorMap, 1, 0, GP_TENSOR_MAP_BYTES, 64};
    for (uint8_t axis = 0; axis < 3; axis++)
        params[7 + axis] = (GpImageParam){GpParam_Grid, 0, axis, 4, (uint16_t)(192 + 4 * axis)};
    with.params = params;
    with.param_count = GP_COUNT(params);
    with.param_bytes = 204;
    with.maps = &map;
    with.map_count = 1;
    with.entry = "scale_map";
    with.threads = 128;
    with.is_persistent = true;
    GpImage *image = gp_image_copy(s, &with);
    gp_image_release(plain);
    return image;
}

static inline void open_world(World *w) {
    static const char script[] = "line1()\nline2()\nline3()\nline4()\nline5()\nline6()\n";
    static const char kernels[] = "fn scale() {\n    o[i] = * a[i];\n}\n";
    *w = (World){0};
    gp_session_init(&w->s, NULL, NULL, &(GpHooks){.write = write_text, .ud = w});
    w->written.session = &w->s;
    w->script = gp_source_new(&w->s, "script.lua", script, sizeof script - 1, 1, 1);
    w->kernels = gp_source_new(&w->s, "scale.rs", kernels, sizeof kernels - 1, 1, 1);
    w->diags = gp_diags_new(&w->s);
    GpRuntimeConfig config = {.hooks = {.resolve = resolve_site,
                                        .collect = collect_garbage,
                                        .name = name_value,
                                        .locate = locate_place,
                                        .ud = w},
                              .cache_dir = "",
                              .cpu_threads = 3};
    assert_int_equal(gp_runtime_new(&w->s, &config, &w->rt), GpStatus_Ok);
    GpStatus status =
        gp_device_open(w->rt, gp_str_from(test_device), w->diags, &w->device, NULL);
    assert_int_equal(status, GpStatus_Ok);
    GpImage *image = make_scale(&w->s, gp_device_info(w->device)->kind == GpDevice_Cuda);
    assert_int_equal(gp_exec_new(w->device, image, w->diags, &w->scale), GpStatus_Ok);
    gp_image_release(image);
}

/* A function of the fake driver, or NULL where that is not loaded. */
static inline void *fake_symbol(const char *name) {
    void *library = getenv("GPULUA_LIBCUDA")
                        ? dlopen(getenv("GPULUA_LIBCUDA"), RTLD_NOW | RTLD_NOLOAD)
                        : NULL;
    return library ? dlsym(library, name) : NULL;
}

static inline int fake_number(const char *name) {
    int (*number)(void) = NULL;
    void *symbol = fake_symbol(name);
    memcpy(&number, &symbol, sizeof symbol);
    return number ? number() : 0;
}
static inline int fake_live(void) { return fake_number("gp_fake_live"); }
static inline int fake_encodes(void) { return fake_number("gp_fake_encodes"); }

static inline const FakeLaunch *fake_last(void) {
    const FakeLaunch *(*last)(void) = NULL;
    void *symbol = fake_symbol("gp_fake_last");
    memcpy(&last, &symbol, sizeof symbol);
    return last();
}

/* Everything that was taken is given back. */
static inline void end_world(World *w) {
    gp_exec_release(w->scale);
    gp_runtime_free(w->rt);
    gp_diags_release(w->diags);
    gp_source_release(w->script);
    gp_source_release(w->kernels);
    gp_text_free(&w->written);
    assert_int_equal(w->s.bytes, 0);
}

/* To the driver too. */
static inline void close_world(World *w) {
    end_world(w);
    assert_int_equal(fake_live(), 0);
}

static inline void forget_diags(World *w) {
    gp_diags_release(w->diags);
    w->diags = gp_diags_new(&w->s);
}

static inline GpTensor *new_tensor(World *w, GpElem elem, GpShape shape, const char *name) {
    GpTensor *t;
    assert_int_equal(gp_tensor_new(w->device, elem, &shape, line(1), w->diags, &t), GpStatus_Ok);
    call_it(w, t, name);
    return t;
}

/* f32, 0 1 2 ... */
static inline GpTensor *new_iota(World *w, int64_t count, const char *name) {
    GpTensor *t = new_tensor(w, GpElem_F32, (GpShape){{count}, 1}, name);
    float *host = malloc((size_t)count * sizeof *host + 1);
    for (int64_t i = 0; i < count; i++)
        host[i] = (float)i;
    assert_int_equal(gp_tensor_write(t, host, (size_t)count * 4, line(1), w->diags), GpStatus_Ok);
    free(host);
    return t;
}

typedef struct ScaleCall {
    GpRunArg args[3];
    GpRunRequest r;
} ScaleCall;

/* out = 2 * in; the factor is c->args[2]. */
static inline const GpRunRequest *call_scale(World *w, ScaleCall *c, GpTensor *out, GpTensor *in,
                                             uint32_t blocks, uint32_t at) {
    *c = (ScaleCall){.args = {{.access = GpAccess_Write, .tensor = out, .param = "out"},
                              {.access = GpAccess_Read, .tensor = in, .param = "a"},
                              {.scalar = {.elem = GpElem_F32, .f = 2}, .param = "by"}}};
    c->r = (GpRunRequest){.exec = w->scale,
                          .grid = {{blocks, 1, 1}, {1, 1, 1}},
                          .args = c->args,
                          .arg_count = 3,
                          .kernel = "scale",
                          .site = line(at)};
    return &c->r;
}

static inline void expect_status(World *w, GpStatus got, GpStatus want) {
    if (got != want) {
        GpText text = {.session = &w->s};
        gp_diags_render(w->diags, (GpRenderStyle){false, false}, &text);
        print_error("%s instead of %s\n%s", gp_status_name(got), gp_status_name(want),
                    gp_text_cstr(&text));
        gp_text_free(&text);
    }
    assert_int_equal(got, want);
}

static inline double peek(World *w, GpTensor *t, int64_t i) {
    GpScalar got;
    expect_status(w, gp_tensor_peek(t, i, &got, line(1), w->diags), GpStatus_Ok);
    return got.f;
}

/* For tests in which every allocation fails in turn: the kernel and three tensors of four elements,
** without assertions. `use` says whether it came to its end. */
static inline bool use_poor_world(GpSession *s, bool (*use)(World *w, GpTensor *const *t)) {
    World w = {.s = *s, .diags = gp_diags_new(s)};
    GpRuntimeConfig config = {.cache_dir = "", .cpu_threads = 2};
    GpImage *image = NULL;
    GpTensor *t[3] = {NULL, NULL, NULL};
    GpShape shape = {{4}, 1};
    bool is_done =
        w.diags && gp_runtime_new(s, &config, &w.rt) == GpStatus_Ok &&
        gp_device_open(w.rt, gp_str_from(test_device), w.diags, &w.device, NULL) == GpStatus_Ok;
    if (is_done)
        image = make_scale(s, gp_device_info(w.device)->kind == GpDevice_Cuda);
    is_done = image && gp_exec_new(w.device, image, w.diags, &w.scale) == GpStatus_Ok;
    for (int i = 0; i < 3; i++)
        is_done = is_done && gp_tensor_new(w.device, GpElem_F32, &shape, line(0), w.diags, &t[i]) ==
                                 GpStatus_Ok;
    is_done = is_done && use(&w, t);
    for (int i = 0; i < 3; i++)
        gp_tensor_release(t[i]);
    gp_exec_release(w.scale);
    gp_image_release(image);
    gp_runtime_free(w.rt);
    gp_diags_release(w.diags);
    return is_done;
}

/* The only diagnostic has this code; it is forgotten. */
static inline void expect_code(World *w, GpStatus got, const char *code) {
    assert_int_not_equal(got, GpStatus_Ok);
    assert_int_equal(gp_diags_count(w->diags), 1);
    assert_string_equal(gp_diag_row(gp_diag_code(gp_diags_at(w->diags, 0)))->code, code);
    forget_diags(w);
}

/* The diagnostics render as the file says; they are forgotten. GPULUA_BLESS=1 writes it. */
static inline void expect_text(World *w, const char *file) {
    GpText got = {.session = &w->s}, want = got, path = got;
    gp_diags_render(w->diags, (GpRenderStyle){false, false}, &got);
    gp_text_printf(&path, "%s/%s", test_folder, file);
    if (getenv("GPULUA_BLESS"))
        assert_int_equal(gp_file_write(&w->s, path.at, got.at, got.len), GpStatus_Ok);
    assert_int_equal(gp_file_read(path.at, &want), GpStatus_Ok);
    assert_string_equal(gp_text_cstr(&got), gp_text_cstr(&want));
    gp_text_free(&got);
    gp_text_free(&want);
    gp_text_free(&path);
    forget_diags(w);
}

#define RUN_TESTS(tests)                                                                           \
    int main(int argc, char **argv) {                                                              \
        test_folder = argc > 1 ? argv[1] : ".";                                                    \
        test_device = argc > 2 ? argv[2] : "cpu";                                                  \
        return cmocka_run_group_tests(tests, NULL, NULL);                                          \
    }

#endif
