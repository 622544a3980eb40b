/* Kernels of run.rs from source to the interpreter, against C written for each of them. Random
** inputs at sizes around the block and tile size; every kernel's reference with one operator
** changed must disagree, so that a comparison of nothing cannot pass. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <math.h>

#include "spec/lower/call_text.h"

typedef struct Run {
    GpSession s;
    GpStd *std;
    GpDiags *diags;
    GpSource *src;
    GpModule *m;
    GpMailbox mailbox;
} Run;

typedef struct Arg {
    const void *data; /* tensors */
    GpElem elem;
    int64_t n, tile; /* tile > 0: partition */
    double number;
} Arg;

static const char *source_path;

static void run_init(Run *r) {
    static char text[1 << 16];
    memset(r, 0, sizeof *r);
    FILE *f = fopen(source_path, "rb");
    assert_non_null(f);
    size_t len = fread(text, 1, sizeof text, f);
    fclose(f);
    gp_session_init(&r->s, NULL, NULL, NULL);
    r->src = gp_source_new(&r->s, "run.rs", text, len, 1, 1);
    r->std = gp_std_new(&r->s);
    r->diags = gp_diags_new(&r->s);
    assert_int_equal(gp_module_new(r->std, r->src, r->diags, &r->m), GpStatus_Ok);
}

static void fail_with_diags(Run *r) {
    GpText text = {.session = &r->s};
    gp_diags_render(r->diags, (GpRenderStyle){false, false}, &text);
    if (text.len)
        print_error("%s\n", gp_text_cstr(&text));
    gp_text_free(&text);
    assert_int_equal(gp_diags_errors(r->diags), 0);
}

static void run_done(Run *r) {
    gp_module_release(r->m);
    gp_diags_release(r->diags);
    gp_std_free(r->std);
    gp_source_release(r->src);
    assert_int_equal(r->s.bytes, 0);
}

static GpArgDesc describe(const Arg *a) {
    GpArgDesc d;
    memset(&d, 0, sizeof d);
    d.kind = !a->data  ? a->elem == GpElem_F32 ? GpArg_Float : GpArg_Int
             : a->tile ? GpArg_Partition
                       : GpArg_Tensor;
    d.elem = a->elem;
    d.shape = (GpShape){.dim = {a->n}, .rank = 1};
    d.stride[0] = 1;
    d.tile = (GpShape){.dim = {a->tile}, .rank = 1};
    d.address = (uint64_t)(uintptr_t)a->data;
    d.i = (int64_t)a->number;
    d.f = a->number;
    return d;
}

static void put_param(uint8_t *block, const GpImageParam *p, const Arg *args,
                      const GpInstance *inst, GpMailbox *mailbox) {
    const Arg *a = &args[p->arg];
    int64_t one = 1;
    uint8_t *to = block + p->offset;
    switch (p->kind) {
    case GpParam_Base:
        memcpy(to, &a->data, sizeof a->data);
        return;
    case GpParam_Dim:
    case GpParam_Len:
        memcpy(to, &a->n, p->bytes);
        return;
    case GpParam_Stride:
        memcpy(to, &one, p->bytes);
        return;
    case GpParam_Scalar:
        gp_scalar_store(inst->args[p->arg].scalar, to);
        return;
    case GpParam_Mailbox:
        memcpy(to, &mailbox, sizeof mailbox);
        return;
    case GpParam_Grid:
    case GpParam_TensorMap:
        fail_msg("the function is not compiled for a GPU");
        return;
    }
}

static void launch(Run *r, const char *kernel, const Arg *args, uint32_t count) {
    GpArena *arena = gp_arena_new(&r->s);
    GpArgDesc descs[CALL_ARGS];
    for (uint32_t i = 0; i < count; i++)
        descs[i] = describe(&args[i]);
    GpBindRequest request = {.kernel = gp_module_find_kernel(r->m, gp_str_from(kernel)),
                             .args = descs,
                             .arg_count = count};
    assert_non_null(request.kernel);
    GpInstance *inst = NULL;
    GpIrFn *fn = NULL;
    gp_bind(r->m, arena, &request, r->diags, &inst);
    fail_with_diags(r);
    assert_non_null(inst);
    gp_instantiate(r->m, arena, inst, r->diags, &fn);
    fail_with_diags(r);
    assert_non_null(fn);
    uint32_t params, bytes;
    GpImageParam *abi = gp_ir_abi(fn, arena, &params, &bytes);
    uint8_t *block = gp_arena_alloc(arena, bytes);
    for (uint32_t i = 0; i < params; i++)
        put_param(block, &abi[i], args, inst, &r->mailbox);
    GpGrid grid;
    memcpy(grid.grid, inst->grid, sizeof grid.grid);
    memcpy(grid.block, inst->block, sizeof grid.block);
    gp_interp_run(fn, block, &grid, 0, grid.grid[0], NULL);
    gp_arena_free(arena);
}

/* ---- Data ------------------------------------------------------------------------------------ */

enum { N_MAX = 1025 };
static const int64_t sizes[] = {0, 1, 7, 128, 1000, N_MAX};
static float fx[N_MAX], fy[N_MAX], fz[N_MAX];
static int32_t ix[N_MAX], iz[N_MAX];
static int64_t lz[N_MAX];

static uint32_t seed = 1;
static uint32_t next_random(void) {
    seed ^= seed << 13;
    seed ^= seed >> 17;
    return seed ^= seed << 5;
}

static void fill(void) {
    for (int i = 0; i < N_MAX; i++) {
        fx[i] = (float)((int32_t)next_random() % 100000) / 64.0f;
        fy[i] = (float)((int32_t)next_random() % 100000) / 256.0f;
        fz[i] = fx[i] + 1.0f;
        ix[i] = (int32_t)next_random() % (i % 3 ? 200 : 100000);
        iz[i] = 0;
        lz[i] = 0;
    }
    ix[3] = 0;
}

#define F32(p, n_, tile_)                                                                          \
    { .data = (p), .elem = GpElem_F32, .n = (n_), .tile = (tile_) }
#define I32(p, n_, tile_)                                                                          \
    { .data = (p), .elem = GpElem_I32, .n = (n_), .tile = (tile_) }
#define INT(v)                                                                                     \
    { .elem = GpElem_I32, .number = (v) }
#define FLOAT(v)                                                                                   \
    { .elem = GpElem_F32, .number = (v) }

/* Each case: run at n, then count elements that differ from the reference (off = 0) or from a
** reference that is wrong on purpose (off = 1). */
typedef int64_t (*Case)(Run *r, int64_t n, int off);

static void run_case(Case c) {
    int64_t wrong = 0;
    for (size_t i = 0; i < GP_COUNT(sizes); i++) {
        Run r;
        run_init(&r);
        fail_with_diags(&r);
        fill();
        assert_int_equal(c(&r, sizes[i], 0), 0);
        assert_int_equal(r.mailbox.state, 0);
        fill();
        wrong += c(&r, sizes[i], 1);
        run_done(&r);
    }
    assert_true(wrong > 0);
}

/* Bit for bit: a NaN is itself, and 0 is not -0. */
static bool is_same(const void *a, const void *b, size_t len) { return memcmp(a, b, len) == 0; }

static int64_t count_f32(const float *want, int64_t n) {
    int64_t bad = 0;
    for (int64_t i = 0; i < n; i++)
        bad += !is_same(&want[i], &fz[i], sizeof fz[i]);
    return bad;
}

static int64_t case_add(Run *r, int64_t n, int off) {
    float want[N_MAX];
    for (int64_t i = 0; i < n; i++)
        want[i] = off ? fx[i] - fy[i] : fx[i] + fy[i];
    Arg args[] = {F32(fz, n, 128), F32(fx, n, 0), F32(fy, n, 0)};
    launch(r, "add", args, 3);
    return count_f32(want, n);
}

static int64_t case_saxpy(Run *r, int64_t n, int off) {
    float want[N_MAX];
    for (int64_t i = 0; i < n; i++)
        want[i] = fmaf(off ? 2.25f : 2.5f, fx[i], fz[i]);
    Arg args[] = {F32(fz, n, 64), F32(fx, n, 0), FLOAT(2.5)};
    launch(r, "saxpy", args, 3);
    return count_f32(want, n);
}

static int64_t case_vecadd(Run *r, int64_t n, int off) {
    float want[N_MAX];
    for (int64_t i = 0; i < n; i++)
        want[i] = fx[i] + (off ? fx[i] : fy[i]);
    Arg args[] = {F32(fx, n, 0), F32(fy, n, 0), F32(fz, n, 0)};
    launch(r, "vecadd", args, 3);
    return count_f32(want, n);
}

static int64_t case_clip(Run *r, int64_t n, int off) {
    int64_t bad = 0;
    Arg args[] = {I32(iz, n, 32), I32(ix, n, 0), INT(7)};
    launch(r, "clip", args, 3);
    for (int64_t i = 0; i < n; i++) {
        int32_t acc = 0;
        for (int32_t k = 0; k < 7; k++)
            acc = k % 2 == off ? acc + ix[i] : acc - k;
        bad += iz[i] != (acc > 100 ? 100 : acc);
    }
    return bad;
}

static int64_t case_mandelbrot(Run *r, int64_t n, int off) {
    int64_t bad = 0;
    Arg args[] = {I32(iz, n, 0), INT(40), FLOAT(0.0625), INT(60)};
    launch(r, "mandelbrot", args, 4);
    for (int64_t i = 0; i < n; i++) {
        int64_t row = i / 40, column = i % 40;
        float cx = fmaf((float)column, 0.0625f, -2.0f), cy = fmaf((float)row, 0.0625f, -1.0f);
        float x = 0, y = 0;
        int32_t k = off;
        while (k < 60 && fmaf(x, x, y * y) < 4.0f) {
            float t = fmaf(x, x, -(y * y)) + cx;
            y = fmaf(2.0f * x, y, cy);
            x = t;
            k++;
        }
        bad += iz[i] != k;
    }
    return bad;
}

static int32_t classify(int32_t x) {
    if (x < 0)
        return -1;
    if (x == 0)
        return 0;
    int32_t n = 0;
    for (uint32_t v = (uint32_t)x; v != 1; n++) {
        if (n >= 50)
            return 1000;
        v = (int32_t)v % 2 == 0 ? (uint32_t)((int32_t)v / 2) : v * 3 + 1;
    }
    return n;
}

static uint32_t gcd(uint32_t a, uint32_t b) { return b ? gcd(b, a % b) : a; }

static int32_t mixed(int32_t v, int off) {
    static const int32_t table[] = {7, 11, 13, 17};
    uint32_t total = (uint32_t)(classify(v) + (int32_t)gcd((uint32_t)v & 1023, 360));
    uint32_t a = (uint32_t)v, b = 3;
    for (uint32_t k = 0; k < 5; k++) {
        if (k == 3)
            continue;
        a += k;
        b -= 2 * k;
        total += k;
        if ((int32_t)total > 5000)
            break;
    }
    for (uint32_t k = 4; k >= 1; k--)
        total = total * 3 + k;
    for (uint32_t k = 250; k <= 255; k++)
        total += k;
    total += (uint32_t)table[v & 3];
    int32_t hist[8] = {0};
    for (int32_t k = 0; k < 16; k++)
        hist[(v >> k) & 7] += k + off;
    int32_t m = v & 7, r = v > 100 ? 1 : v > 50 ? 2 : 3;
    int32_t extra = m == 0 ? 5 : m <= 2 ? 6 : m <= 5 ? hist[2] : m == 6 ? 7 : -1;
    return (int32_t)(total + a + b + (uint32_t)extra + (uint32_t)hist[5] + (uint32_t)r);
}

static int64_t case_mixed(Run *r, int64_t n, int off) {
    int64_t bad = 0;
    Arg args[] = {I32(ix, n, 0), I32(iz, n, 0)};
    launch(r, "mixed", args, 2);
    for (int64_t i = 0; i < n; i++)
        bad += iz[i] != mixed(ix[i], off);
    return bad;
}

static int64_t case_casts(Run *r, int64_t n, int off) {
    int64_t bad = 0;
    Arg args[] = {F32(fx, n, 0), I32(ix, n, 0), {.data = lz, .elem = GpElem_I64, .n = n}};
    launch(r, "casts", args, 3);
    for (int64_t i = 0; i < n; i++) {
        int64_t a = (int32_t)fx[i], b = fx[i] < 0 ? 0 : fx[i] > 255 ? 255 : (uint8_t)fx[i];
        /* NOLINTNEXTLINE(bugprone-signed-char-misuse): the sign of an i8 is kept */
        int64_t c = (int8_t)ix[i], d = (uint32_t)ix[i] >> 3;
        int64_t e = ix[i] < 0 ? 0 : (int64_t)sqrtf((float)ix[i]);
        int64_t g = ix[i] > 0 && fx[i] > 1.0f, h = ix[i] == 0 ? off : 1000 / ix[i];
        bad += lz[i] != a + 2 * b + 3 * c + 5 * d + 7 * e + 11 * g + 13 * h;
    }
    return bad;
}

static int64_t case_sum_while(Run *r, int64_t n, int off) {
    float want[N_MAX];
    for (int64_t i = 0; i < n; i++) {
        want[i] = (float)off;
        for (int64_t j = i; j < n; j += 17)
            want[i] += fx[j];
    }
    Arg args[] = {F32(fx, n, 0), F32(fz, n, 0), INT(17)};
    launch(r, "sum_while", args, 3);
    return count_f32(want, n);
}

static int32_t max_of(int32_t a, int32_t z) { return a > z ? a : z; }

/* Traits, closures, generics, Option, enums, labels, let-else: what `features` says in Rust. */
static int32_t features(int64_t n, int64_t i) {
    int32_t v = ix[i], late = v % 2 == 0 ? 1 : 2, q = v / 10, r = v % 10, a = r + 1, b = q;
    int32_t sum = (a * 3 + b) * 3 + b;
    int32_t weights = v * 6 + 3 + ((int32_t)(uint8_t)v + 5) * 4 + 5;
    int32_t top = max_of(max_of(max_of(a, b), max_of(q, r)), 7), seen = 0, first = 1000, steps = 0;
    bool has_seen = false;
    for (int32_t j = 0; j < 4; j++) {
        if (has_seen && seen > 10)
            continue;
        seen = v + j;
        has_seen = true;
    }
    for (int64_t k = n; k-- > i;)
        if (ix[k] < 0)
            first = ix[k];
    int32_t area = v < 0 ? 1 : v < 50 ? 3 * v * v : v * 2, last = 100;
    for (int32_t p = 0; p < 5; p++)
        for (int32_t k = 0; k < 3; k++) {
            if (p == 3 && v > 0)
                goto done;
            steps += p + k;
        }
done:
    while (last >= 10)
        last -= 7;
    int32_t or_zero = seen > 5 ? seen : seen + 1;
    int32_t chain = seen > 0 && seen % 2 == 0 ? seen : -or_zero;
    return late + sum + weights + top + seen + first + area + steps + last + chain + ((v ^ 5) & 15);
}

static int64_t case_features(Run *r, int64_t n, int off) {
    int64_t bad = 0;
    for (int i = 0; i < N_MAX; i++)
        ix[i] %= 20000; /* no product overflows */
    Arg args[] = {I32(ix, n, 0), I32(iz, n, 0)};
    launch(r, "features", args, 2);
    for (int64_t i = 0; i < n; i++)
        bad += iz[i] != features(n, i) + off;
    return bad;
}

static int64_t case_tiles(Run *r, int64_t n, int off) {
    float want[N_MAX];
    for (int64_t i = 0; i < n; i++) {
        float s = 0, lane = (float)(i % 16);
        for (int k = 0; k < 5; k++)
            s = k % 3 == 0 ? s + fx[i] : k % 3 == 1 ? fmaf(fx[i], 2.0f, s) : s;
        float v = s + s + s + (s + s);
        want[i] = (v < 0 ? -v : v) + (float)(4 + off) + 1.0f - lane + lane;
    }
    Arg args[] = {F32(fz, n, 16), F32(fx, n, 0), INT(5)};
    launch(r, "tiles", args, 3);
    return count_f32(want, n);
}

static int64_t case_powers(Run *r, int64_t n, int off) {
    float want[N_MAX];
    for (int64_t i = 0; i < n; i++) {
        float x = fx[i], p = 1, a = x;
        int e = (int)(i % 9) - 4 + off;
        for (int b = e;;) {
            if (b % 2)
                p *= a;
            b /= 2;
            if (!b)
                break;
            a *= a;
        }
        want[i] = fmaf(x, x * x, e < 0 ? 1.0f / p : p); /* contracted: one rounding */
    }
    Arg args[] = {F32(fx, n, 0), F32(fz, n, 0)};
    launch(r, "powers", args, 2);
    return count_f32(want, n);
}

#define TEST(name)                                                                                 \
    static void test_##name(void **state) {                                                        \
        (void)state;                                                                               \
        run_case(case_##name);                                                                     \
    }
TEST(add)
TEST(saxpy)
TEST(vecadd)
TEST(clip)
TEST(mandelbrot)
TEST(mixed)
TEST(casts)
TEST(sum_while)
TEST(features)
TEST(tiles)
TEST(powers)

/* A read past the end gives zero, the kernel goes on, and the mailbox names the place. */
static void test_failed_check(void **state) {
    (void)state;
    Run r;
    run_init(&r);
    fill();
    Arg args[] = {I32(ix, 300, 0), I32(iz, 300, 0)};
    launch(&r, "past_the_end", args, 2);
    for (int i = 0; i < 299; i++)
        assert_int_equal(iz[i], ix[i + 1] + 1);
    assert_int_equal(iz[299], 1);
    assert_int_equal(r.mailbox.state, 2);
    assert_int_equal(r.mailbox.block[0], 1);
    assert_int_equal(r.mailbox.thread[0], 299 - 256);
    assert_int_equal(r.mailbox.value, 300);
    assert_int_equal(r.mailbox.limit, 300);
    run_done(&r);
}

/* Whichever allocation fails, binding and instantiation say so and nothing is lost. */
static void test_out_of_memory(void **state) {
    (void)state;
    Run r;
    run_init(&r);
    Arg args[] = {I32(ix, 300, 0), I32(iz, 300, 0)};
    GpArgDesc descs[2] = {describe(&args[0]), describe(&args[1])};
    GpBindRequest request = {
        .kernel = gp_module_find_kernel(r.m, GP_STR("features")), .args = descs, .arg_count = 2};
    bool is_done = false;
    for (uint64_t n = 1; !is_done; n++) {
        GpArena *arena = gp_arena_new(&r.s);
        GpInstance *inst = NULL;
        GpIrFn *fn = NULL;
        r.s.fail_at = n;
        GpStatus status = gp_bind(r.m, arena, &request, r.diags, &inst);
        if (status == GpStatus_Ok)
            status = gp_instantiate(r.m, arena, inst, r.diags, &fn);
        is_done = r.s.fail_at != 0;
        r.s.fail_at = 0;
        assert_int_equal(status, is_done ? GpStatus_Ok : GpStatus_NoMemory);
        assert_true(is_done == (fn != NULL));
        gp_arena_free(arena);
        assert_true(n < 1000);
    }
    run_done(&r);
}

int main(int argc, char **argv) {
    source_path = argc > 1 ? argv[1] : "spec/lower/run.rs";
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_add),           cmocka_unit_test(test_saxpy),
        cmocka_unit_test(test_vecadd),        cmocka_unit_test(test_clip),
        cmocka_unit_test(test_mandelbrot),    cmocka_unit_test(test_mixed),
        cmocka_unit_test(test_casts),         cmocka_unit_test(test_sum_while),
        cmocka_unit_test(test_tiles),         cmocka_unit_test(test_powers),
        cmocka_unit_test(test_features),      cmocka_unit_test(test_failed_check),
        cmocka_unit_test(test_out_of_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
