/* Borrowed memory, on each device. The lender is another runtime with a tensor of its own: memory
** that this one knows nothing of, and that the test reads by its address everywhere. */
#include <math.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "spec/unit/runtime/support.h"

/* What is lent, and what was seen when it was given back. */
typedef struct Lent {
    World lender;
    GpTensor *tensor;
    GpBorrow memory;
    float *host; /* the same memory */
    int released;
    float seen[3];          /* the first elements then */
    GpTensor *also_release; /* a handle that goes in the same moment */
} Lent;

enum { COUNT = 12 };

static void take_back(void *ud) {
    Lent *l = ud;
    l->released++;
    memcpy(l->seen, l->host, sizeof l->seen);
    gp_tensor_release(l->also_release);
    l->also_release = NULL;
}

static void open_lent(Lent *l) {
    *l = (Lent){0};
    open_world(&l->lender);
    l->tensor = new_iota(&l->lender, COUNT, "lent");
    uint64_t address = gp_tensor_address(l->tensor);
    l->host = (float *)(uintptr_t)address;
    l->memory = (GpBorrow){.address = address,
                           .bytes = COUNT * sizeof(float),
                           .elem = GpElem_F32,
                           .shape = {{COUNT}, 1},
                           .release = take_back,
                           .ud = l};
}

static void close_lent(Lent *l) {
    gp_tensor_release(l->tensor);
    close_world(&l->lender);
}

static GpTensor *borrow(World *w, const GpBorrow *b) {
    GpTensor *t;
    expect_status(w, gp_tensor_borrow(w->device, b, line(2), w->diags, &t), GpStatus_Ok);
    call_it(w, t, "x");
    return t;
}

/* The two worlds of a test; the lender's is closed last. */
static void open_both(World *w, Lent *l) {
    open_lent(l);
    open_world(w);
}
static void close_both(World *w, Lent *l) {
    end_world(w);
    close_lent(l);
}

/* ---- Contents --------------------------------------------------------------------------- */

static void test_contents(void **state) {
    (void)state;
    World w;
    Lent l;
    float got[COUNT];
    open_both(&w, &l);
    GpTensor *t = borrow(&w, &l.memory), *part;
    assert_true(gp_tensor_address(t) == l.memory.address);
    assert_false(gp_tensor_is_view(t));
    expect_status(&w, gp_tensor_read(t, got, sizeof got, line(3), w.diags), GpStatus_Ok);
    for (int i = 0; i < COUNT; i++)
        assert_true(got[i] == (float)i);
    GpMemoryInfo info;
    assert_int_equal(gp_device_memory(w.device, &info), GpStatus_Ok);
    assert_int_equal(info.used, 0);
    assert_int_equal(info.peak, 0);
    int64_t start = 4, stop = 8;
    expect_status(&w, gp_tensor_slice(t, &start, &stop, line(3), w.diags, &part), GpStatus_Ok);
    gp_tensor_release(t);
    assert_int_equal(l.released, 0); /* the view has it */
    expect_status(&w, gp_tensor_fill(part, (GpScalar){.elem = GpElem_F32, .f = -1}, line(3), w.diags),
                  GpStatus_Ok);
    gp_tensor_release(part);
    assert_int_equal(l.released, 1);
    for (int i = 0; i < COUNT; i++)
        assert_true(l.host[i] == (i >= start && i < stop ? -1 : (float)i));
    close_both(&w, &l);
}

/* Columns of 4 x 3 that lie in rows of three. */
static void test_strides(void **state) {
    (void)state;
    World w;
    Lent l;
    float got[COUNT];
    open_both(&w, &l);
    int64_t stride[] = {1, 3};
    l.memory.shape = (GpShape){{3, 4}, 2};
    l.memory.stride = stride;
    GpTensor *t = borrow(&w, &l.memory);
    expect_status(&w, gp_tensor_read(t, got, sizeof got, line(3), w.diags), GpStatus_Ok);
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 4; k++)
            assert_true(got[4 * i + k] == (float)(3 * k + i));
    gp_tensor_release(t);
    /* Every other element; it ends with the last one of them. */
    stride[0] = 2;
    l.memory.shape = (GpShape){{COUNT / 2}, 1};
    l.memory.bytes = (COUNT - 1) * sizeof(float);
    t = borrow(&w, &l.memory);
    expect_status(&w, gp_tensor_fill(t, (GpScalar){.elem = GpElem_F32, .f = -1}, line(3), w.diags),
                  GpStatus_Ok);
    gp_tensor_release(t);
    assert_int_equal(l.released, 2);
    for (int i = 0; i < COUNT; i++)
        assert_true(l.host[i] == (i % 2 ? (float)i : -1));
    close_both(&w, &l);
}

/* No elements take no memory, and are given back all the same. */
static void test_empty(void **state) {
    (void)state;
    World w;
    Lent l;
    open_both(&w, &l);
    l.memory.address = l.memory.bytes = 0;
    l.memory.shape = (GpShape){{INT64_MAX, 0, INT64_MAX}, 3};
    GpTensor *t = borrow(&w, &l.memory);
    expect_status(&w, gp_tensor_read(t, NULL, 0, line(3), w.diags), GpStatus_Ok);
    gp_tensor_release(t);
    assert_int_equal(l.released, 1);
    close_both(&w, &l);
}

/* ---- Giving back ------------------------------------------------------------------------ */

static bool is_always(void *ud) {
    (void)ud;
    return true;
}

/* The last handle goes while the memory is written, on another stream; an interrupt does not end the
** wait. */
static void test_release_waits_for_writer(void **state) {
    (void)state;
    World w;
    Lent l;
    ScaleCall c;
    GpStream *s;
    open_both(&w, &l);
    GpTensor *in = new_iota(&w, COUNT, "in"), *out = borrow(&w, &l.memory);
    expect_status(&w, gp_stream_new(w.device, w.diags, &s), GpStatus_Ok);
    for (int i = 1; i <= 4; i++) { /* the device is asked more than once before the last is done */
        call_scale(&w, &c, out, in, COUNT, 3);
        c.args[2].scalar.f = i;
        expect_status(&w, gp_launch_now(w.rt, &c.r, s, w.diags), GpStatus_Ok);
    }
    w.s.hooks.interrupted = is_always;
    gp_tensor_release(out);
    w.s.hooks.interrupted = NULL;
    assert_int_equal(l.released, 1);
    assert_true(l.seen[0] == 0 && l.seen[1] == 4 && l.seen[2] == 8);
    gp_tensor_release(in);
    gp_stream_release(s);
    close_both(&w, &l);
}

/* The last handle goes while two streams read the memory. */
static void test_release_waits_for_readers(void **state) {
    (void)state;
    World w;
    Lent l;
    ScaleCall c;
    GpStream *s[2];
    open_both(&w, &l);
    GpTensor *in = borrow(&w, &l.memory), *out[2];
    for (int i = 0; i < 2; i++) {
        out[i] = new_iota(&w, COUNT, "out");
        expect_status(&w, gp_stream_new(w.device, w.diags, &s[i]), GpStatus_Ok);
        call_scale(&w, &c, out[i], in, COUNT, 3);
        expect_status(&w, gp_launch_now(w.rt, &c.r, s[i], w.diags), GpStatus_Ok);
    }
    gp_tensor_release(in);
    assert_int_equal(l.released, 1);
    for (int i = 0; i < 2; i++) {
        const float *there = (const float *)(uintptr_t)gp_tensor_address(out[i]);
        assert_true(there[1] == 2 && there[COUNT - 1] == 2 * (COUNT - 1));
        gp_tensor_release(out[i]);
        gp_stream_release(s[i]);
    }
    close_both(&w, &l);
}

/* An op that was not run holds the memory, and its loan keeps others away. */
static void test_op(void **state) {
    (void)state;
    World w;
    Lent l;
    ScaleCall c;
    GpRunOp *op;
    open_both(&w, &l);
    GpTensor *in = new_iota(&w, COUNT, "in"), *out = borrow(&w, &l.memory), *p;
    call_scale(&w, &c, out, in, COUNT, 3);
    expect_status(&w, gp_op_make(w.rt, &c.r, w.diags, &op), GpStatus_Ok);
    GpScalar one = {.elem = GpElem_F32, .f = 1};
    expect_code(&w, gp_tensor_fill(out, one, line(4), w.diags), "E0506");
    expect_code(&w, gp_tensor_borrow(w.device, &l.memory, line(4), w.diags, &p), "G0318");
    gp_tensor_release(out);
    assert_int_equal(l.released, 0);
    expect_status(&w, gp_op_sync(op, NULL, line(5), w.diags), GpStatus_Ok);
    gp_op_release(op);
    assert_int_equal(l.released, 1);
    assert_true(l.seen[2] == 4);
    gp_tensor_release(in);
    close_both(&w, &l);
}

/* A graph holds what it was recorded with; its last replay is waited for. */
static void test_graph(void **state) {
    (void)state;
    World w;
    Lent l;
    ScaleCall c;
    GpGraph *graph;
    open_both(&w, &l);
    GpTensor *in = new_iota(&w, COUNT, "in"), *out = borrow(&w, &l.memory);
    expect_status(&w, gp_graph_begin(w.rt, line(3), w.diags, &graph), GpStatus_Ok);
    call_scale(&w, &c, out, in, COUNT, 3);
    expect_status(&w, gp_launch_now(w.rt, &c.r, NULL, w.diags), GpStatus_Ok);
    expect_status(&w, gp_graph_end(graph, line(4), w.diags), GpStatus_Ok);
    gp_tensor_release(out);
    expect_status(&w, gp_graph_launch(graph, NULL, line(5), w.diags), GpStatus_Ok);
    assert_int_equal(l.released, 0);
    gp_graph_release(graph);
    assert_int_equal(l.released, 1);
    assert_true(l.seen[1] == 2 && l.seen[2] == 4);
    gp_tensor_release(in);
    close_both(&w, &l);
}

/* In a child of fork the memory is the parent's to give back. */
static void test_fork(void **state) {
    (void)state;
    World w;
    Lent l;
    int status = -1;
    open_both(&w, &l);
    GpTensor *t = borrow(&w, &l.memory);
    pid_t child = fork();
    if (child == 0) {
        gp_tensor_release(t);
        _exit(l.released);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    gp_tensor_release(t);
    assert_int_equal(l.released, 1);
    close_both(&w, &l);
}

static void test_drop(void **state) {
    (void)state;
    World w;
    Lent l;
    float got[COUNT];
    open_both(&w, &l);
    GpTensor *t = borrow(&w, &l.memory);
    expect_status(&w, gp_tensor_drop(t, line(3), w.diags), GpStatus_Ok);
    assert_int_equal(l.released, 1);
    expect_code(&w, gp_tensor_read(t, got, sizeof got, line(4), w.diags), "G0302");
    GpTensor *again = borrow(&w, &l.memory); /* it is nobody's now */
    expect_status(&w, gp_tensor_drop(t, line(5), w.diags), GpStatus_Ok);
    gp_tensor_release(t);
    assert_int_equal(l.released, 1);
    gp_tensor_release(again);
    assert_int_equal(l.released, 2);
    close_both(&w, &l);
}

/* Closing gives back, with work under way, and the lender lets its handle go in that moment. */
static void test_close(void **state) {
    (void)state;
    World w;
    Lent l, other;
    ScaleCall c;
    open_lent(&other);
    open_both(&w, &l);
    GpTensor *first = borrow(&w, &other.memory);
    GpTensor *in = new_iota(&w, COUNT, "in"), *out = borrow(&w, &l.memory);
    call_scale(&w, &c, out, in, COUNT, 3);
    expect_status(&w, gp_launch_now(w.rt, &c.r, NULL, w.diags), GpStatus_Ok);
    l.also_release = out;
    other.also_release = first;
    gp_runtime_close(w.rt);
    assert_int_equal(l.released, 1);
    assert_int_equal(other.released, 1);
    assert_true(l.seen[1] == 2);
    gp_tensor_release(in);
    gp_tensor_release(other.tensor);
    end_world(&other.lender);
    close_both(&w, &l);
}

/* Nothing is left to wait for after the device was lost. */
static void test_lost(void **state) {
    (void)state;
    World w;
    Lent l;
    ScaleCall c;
    if (strcmp(test_device, "cuda") != 0)
        skip();
    open_lent(&l);
    setenv("GPULUA_FAKE_STICKY", "1:700", 1);
    open_world(&w);
    unsetenv("GPULUA_FAKE_STICKY");
    GpTensor *in = new_iota(&w, COUNT, "in"), *out = borrow(&w, &l.memory);
    call_scale(&w, &c, out, in, COUNT, 3);
    expect_status(&w, gp_launch_now(w.rt, &c.r, NULL, w.diags), GpStatus_Ok);
    gp_tensor_release(out);
    assert_int_equal(l.released, 1);
    GpTensor *t;
    assert_int_equal(gp_tensor_borrow(w.device, &l.memory, line(4), w.diags, &t), GpStatus_Poisoned);
    assert_null(t);
    gp_tensor_release(in);
    end_world(&w);
    gp_tensor_release(l.tensor);
    end_world(&l.lender);
    assert_int_equal(fake_live(), 2); /* the memory of both tensors is the lost context's */
}

static Lent lent_to_poor;

static bool borrow_poor(World *w, GpTensor *const *unused) {
    (void)unused;
    GpTensor *t = NULL;
    lent_to_poor.released = 0;
    GpStatus status = gp_tensor_borrow(w->device, &lent_to_poor.memory, line(0), w->diags, &t);
    gp_tensor_release(t);
    assert_int_equal(lent_to_poor.released, status == GpStatus_Ok);
    return status == GpStatus_Ok;
}

static bool borrow_once(GpSession *s) { return use_poor_world(s, borrow_poor); }

/* A borrow that fails for want of memory takes nothing; one that does not is given back once. */
static void test_no_memory(void **state) {
    (void)state;
    open_lent(&lent_to_poor);
    assert_true(fail_every_allocation(borrow_once) > 5);
    close_lent(&lent_to_poor);
}

/* ---- Refusals --------------------------------------------------------------------------- */

static void refused(World *w, const GpBorrow *b, const char *why) {
    GpTensor *t;
    assert_int_equal(gp_tensor_borrow(w->device, b, line(2), w->diags, &t), GpStatus_Diagnostics);
    assert_null(t);
    const char *title = gp_diag_title(gp_diags_at(w->diags, 0));
    if (!strstr(title, why))
        print_error("%s\n", title);
    assert_non_null(strstr(title, why));
    expect_code(w, GpStatus_Diagnostics, "G0317");
}

static void test_layouts(void **state) {
    (void)state;
    World w;
    Lent l;
    open_both(&w, &l);
    const GpBorrow fine = l.memory;
    static const struct {
        GpShape shape;
        int64_t stride[2];
        const char *why;
    } cases[] = {
        {{{COUNT}, 1}, {-1}, "a stride of -1"},
        {{{COUNT}, 1}, {0}, "two elements would be in one place"},
        {{{3, 4}, 2}, {3, 1}, "two elements would be in one place"},
        {{{2, 2}, 2}, {1, 1}, "two elements would be in one place"},
        {{{3, 4}, 2}, {4, 2}, "two elements would be in one place"},
        {{{COUNT + 1}, 1}, {1}, "its elements span 52 bytes, and there are 48"},
        {{{2, 6}, 2}, {7, 1}, "its elements span 52 bytes, and there are 48"},
        {{{2}, 1}, {INT64_MAX}, "its elements end behind the last address"},
        {{{2}, 1}, {INT64_MAX / 2}, "its elements end behind the last address"},
        {{{3, 3}, 2}, {INT64_MAX / 2, INT64_MAX / 2}, "its elements end behind the last address"},
        {{{INT64_MAX, 2}, 2}, {1, 1}, "its elements end behind the last address"},
    };
    for (size_t i = 0; i < GP_COUNT(cases); i++) {
        GpBorrow b = fine;
        b.shape = cases[i].shape;
        b.stride = cases[i].stride;
        refused(&w, &b, cases[i].why);
    }
    GpBorrow b = fine;
    b.shape = (GpShape){{INT64_MAX, INT64_MAX}, 2}; /* row-major */
    refused(&w, &b, "its elements end behind the last address");
    b = fine;
    b.bytes = 0;
    refused(&w, &b, "its elements span 48 bytes, and there are 0");
    assert_int_equal(l.released, 0);
    close_both(&w, &l);
}

static void test_addresses(void **state) {
    (void)state;
    World w;
    Lent l;
    bool is_gpu = strcmp(test_device, "cuda") == 0;
    open_both(&w, &l);
    GpBorrow b = l.memory;
    b.address = 0;
    refused(&w, &b, "its address is null");
    b.address = 6;
    refused(&w, &b, "address 0x6 is no multiple of 4, which `f32` needs");
    b.address = UINT64_MAX - 31;
    refused(&w, &b, "its elements end behind the last address");
    b = l.memory;
    b.bytes = UINT64_MAX;
    b.shape.dim[0] = 1 << 20;
    b.address = (uint64_t)(uintptr_t)&w / 8 * 8;
    if (is_gpu)
        refused(&w, &b, "the driver knows no memory of `cuda:0` at its first element");
    b.address = l.memory.address;
    if (is_gpu)
        refused(&w, &b, "the driver knows no memory of `cuda:0` at its last element");
    setenv("GPULUA_FAKE_OWNER", "1", 1);
    if (is_gpu)
        refused(&w, &l.memory, "its first element is on `cuda:1`, not on `cuda:0`");
    unsetenv("GPULUA_FAKE_OWNER");
    assert_int_equal(l.released, 0);
    close_both(&w, &l);
}

static void let_garbage_go(World *w) {
    gp_tensor_release(w->garbage);
    w->garbage = NULL;
}

/* Memory of one's own, or that is borrowed already, has an owner that the runtime knows. */
static void test_owned(void **state) {
    (void)state;
    World w;
    Lent l;
    open_both(&w, &l);
    GpTensor *own = new_iota(&w, COUNT, "own"), *t;
    GpBorrow b = l.memory;
    b.address = gp_tensor_address(own) + 8;
    b.shape.dim[0] = 1;
    expect_code(&w, gp_tensor_borrow(w.device, &b, line(3), w.diags, &t), "G0318");
    GpTensor *first = borrow(&w, &l.memory);
    b.address = l.memory.address + 44;
    assert_int_equal(gp_tensor_borrow(w.device, &b, line(3), w.diags, &t), GpStatus_Diagnostics);
    expect_text(&w, "borrow_twice.txt");
    if (strcmp(test_device, "cpu") == 0) { /* both of them are on the host */
        GpDevice *oracle;
        expect_status(&w, gp_device_open(w.rt, GP_STR("interp"), w.diags, &oracle, NULL), GpStatus_Ok);
        expect_code(&w, gp_tensor_borrow(oracle, &b, line(3), w.diags, &t), "G0318");
    }
    /* A handle that is garbage is no owner. */
    w.on_collect = let_garbage_go;
    w.garbage = first;
    GpTensor *second = borrow(&w, &b);
    assert_int_equal(l.released, 1);
    gp_tensor_release(second);
    assert_int_equal(l.released, 2);
    gp_tensor_release(own);
    close_both(&w, &l);
}

/* ---- Many ------------------------------------------------------------------------------- */

enum { MEMORY = 1 << 16 };

static void open_memory(World *w, World *lender, GpTensor **memory) {
    open_world(lender);
    open_world(w);
    GpShape shape = {{MEMORY}, 1};
    expect_status(lender, gp_tensor_new(lender->device, GpElem_U8, &shape, line(1), lender->diags, memory),
                  GpStatus_Ok);
}

static GpBorrow bytes_of(const GpTensor *memory, uint32_t first, uint32_t count) {
    return (GpBorrow){.address = gp_tensor_address(memory) + first,
                      .bytes = count,
                      .elem = GpElem_U8,
                      .shape = {{count}, 1}};
}

/* Ranges come and go; one is refused where a byte of it is in use, and only there. */
static void test_random_ranges(void **state) {
    (void)state;
    World w, lender;
    GpTensor *memory, *live[64] = {0};
    uint32_t seed = 1, first[GP_COUNT(live)], count[GP_COUNT(live)];
    static uint8_t used[MEMORY];
    open_memory(&w, &lender, &memory);
    for (int turn = 0; turn < 4000; turn++) {
        seed = seed * 1664525u + 1013904223u;
        uint32_t i = seed >> 8 & 63, from = seed >> 14 & 1023, n = 1 + from * 7 % 40, in_use = 0;
        if (live[i]) {
            gp_tensor_release(live[i]);
            live[i] = NULL;
            memset(used + first[i], 0, count[i]);
            continue;
        }
        for (uint32_t k = from; k < from + n; k++)
            in_use += used[k];
        GpBorrow b = bytes_of(memory, from, n);
        GpStatus status = gp_tensor_borrow(w.device, &b, line(2), w.diags, &live[i]);
        assert_int_equal(status, in_use ? GpStatus_Diagnostics : GpStatus_Ok);
        forget_diags(&w);
        if (status != GpStatus_Ok)
            continue;
        first[i] = from;
        count[i] = n;
        memset(used + from, 1, n);
    }
    for (size_t i = 0; i < GP_COUNT(live); i++)
        gp_tensor_release(live[i]);
    end_world(&w);
    gp_tensor_release(memory);
    close_world(&lender);
}

/* Seconds of this process for `count` borrowed tensors that live at once. */
static double time_many(World *w, const GpTensor *memory, uint32_t count) {
    static GpTensor *live[MEMORY];
    clock_t start = clock();
    for (uint32_t i = 0; i < count; i++) {
        GpBorrow b = bytes_of(memory, i, 1);
        expect_status(w, gp_tensor_borrow(w->device, &b, line(2), w->diags, &live[i]), GpStatus_Ok);
    }
    double took = (double)(clock() - start) / CLOCKS_PER_SEC;
    for (uint32_t i = 0; i < count; i++)
        gp_tensor_release(live[i]);
    return took;
}

/* Thirty-two times as many take about that much longer: it would be a thousand times as long if each one were
** compared with all the others. */
static void test_many(void **state) {
    (void)state;
    World w, lender;
    GpTensor *memory;
    open_memory(&w, &lender, &memory);
    double few = (double)INFINITY, many = (double)INFINITY;
    for (int i = 0; i < 3; i++) {
        few = fmin(few, time_many(&w, memory, MEMORY / 32));
        many = fmin(many, time_many(&w, memory, MEMORY));
    }
    if (many > few * 200)
        print_error("%d took %g s, %d took %g s\n", MEMORY / 32, few, MEMORY, many);
    assert_true(many <= few * 200);
    end_world(&w);
    gp_tensor_release(memory);
    close_world(&lender);
}

static void test_readonly(void **state) {
    (void)state;
    World w;
    Lent l;
    open_both(&w, &l);
    l.memory.is_readonly = true;
    GpTensor *t = borrow(&w, &l.memory);
    assert_true(gp_tensor_is_frozen(t));
    GpScalar one = {.elem = GpElem_F32, .f = 1};
    assert_int_equal(gp_tensor_fill(t, one, line(4), w.diags), GpStatus_Diagnostics);
    expect_text(&w, "borrow_readonly.txt");
    gp_tensor_release(t);
    assert_int_equal(l.released, 1);
    assert_true(l.host[1] == 1);
    close_both(&w, &l);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_contents),
    cmocka_unit_test(test_strides),
    cmocka_unit_test(test_empty),
    cmocka_unit_test(test_release_waits_for_writer),
    cmocka_unit_test(test_release_waits_for_readers),
    cmocka_unit_test(test_op),
    cmocka_unit_test(test_graph),
    cmocka_unit_test(test_fork),
    cmocka_unit_test(test_drop),
    cmocka_unit_test(test_close),
    cmocka_unit_test(test_lost),
    cmocka_unit_test(test_no_memory),
    cmocka_unit_test(test_layouts),
    cmocka_unit_test(test_addresses),
    cmocka_unit_test(test_owned),
    cmocka_unit_test(test_readonly),
    cmocka_unit_test(test_random_ranges),
    cmocka_unit_test(test_many),
};
RUN_TESTS(tests)
