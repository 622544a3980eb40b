/* gp_codegen_bench add|saxpy|simt: a CPU image against the same loop in C, both on two threads,
** alternating. Prints the median of each and the ratio. Compile with -O3 -march=native. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "codegen/codegen.h"

enum { LOG_COUNT = 26, TURNS = 15, THREADS = 2 };

static const char tile_text[] =
    "fn @k tile (%%z: tensor<? x f32> base 0 written unique aligned16 unit_stride,\n"
    "  %%x: tensor<? x f32> base 1 aligned16 unit_stride,\n"
    "  %%y: tensor<? x f32> base 2 aligned16 unit_stride) {\n"
    "  %%b = program_id[0] : i32\n"
    "  %%tx = load_tile %%x, %%b : tile<%d x f32>\n"
    "  %%ty = load_tile %%y, %%b : tile<%d x f32>\n"
    "  %%c = const[2] : tile<%d x f32>\n"
    "  %%m = %s : tile<%d x f32>\n"
    "  store_tile %%z, %%m, %%b\n  return\n}\n";
static const char simt_text[] =
    "fn @k simt, equal_lens (%y: ptr<f32, global> base 0 written unique, %y_len: u64 len 0,\n"
    "  %x: ptr<f32, global> base 1, %x_len: u64 len 1, %w: ptr<f32, global> base 2, %w_len: u64 "
    "len 2) {\n"
    "  site index 0 \"x[i]\"\n"
    "  %t = thread_id[0] : u32\n  %blk = block_id[0] : u32\n  %dim = block_dim[0] : u32\n"
    "  %first = mul %blk, %dim : u32\n  %i32 = add %first, %t : u32\n  %i = cast %i32 : u64\n"
    "  %in = cmp[lt] %i, %y_len : bool\n"
    "  if %in {\n    %ok = check_index[site 0] %i, %x_len : bool\n"
    "    %px = ptr_add %x, %i : ptr<f32, global>\n    %v = load %px, %ok : f32\n"
    "    %py = ptr_add %y, %i : ptr<f32, global>\n    %u = load %py : f32\n"
    "    %a = const[2] : f32\n    %s = fma %a, %v, %u : f32\n    store %py, %s\n"
    "    yield\n  } else {\n    yield\n  }\n  return\n}\n";

static void add_loop(float *restrict z, const float *restrict x, const float *restrict y,
                     size_t n) {
    for (size_t i = 0; i < n; i++)
        z[i] = x[i] + y[i];
}
static void fma_loop(float *restrict z, const float *restrict x, const float *restrict y,
                     size_t n) {
    for (size_t i = 0; i < n; i++)
        z[i] = 2.0f * x[i] + y[i];
}
static void saxpy_loop(float *restrict z, const float *restrict x, const float *restrict y,
                       size_t n) {
    (void)y; /* the kernel's y is z */
    for (size_t i = 0; i < n; i++)
        z[i] = 2.0f * x[i] + z[i];
}

typedef struct Kind {
    const char *name;
    const char *op; /* of the tile kernel; NULL: the SIMT kernel */
    int size;       /* elements a block, unless asked for */
    void (*loop)(float *z, const float *x, const float *y, size_t n);
} Kind;
static const Kind kinds[] = {
    {"add", "add %tx, %ty", 1024, add_loop},
    {"saxpy", "fma %c, %tx, %ty", 1024, fma_loop},
    {"simt", NULL, 256, saxpy_loop},
};

typedef struct Work {
    const Kind *kind;
    const GpImage *image; /* NULL: the C loop */
    uint8_t params[256];
    GpGrid grid;
    float *arrays[3];            /* z, x, y */
    uint64_t first, count, size; /* blocks, elements a block */
} Work;

static void *run(void *ud) {
    const Work *w = ud;
    size_t at = w->first * w->size;
    if (w->image)
        w->image->cpu_entry(w->image->cpu_self, w->params, &w->grid, w->first, w->count, NULL);
    else
        w->kind->loop(w->arrays[0] + at, w->arrays[1] + at, w->arrays[2] + at, w->count * w->size);
    return NULL;
}

static double timed(Work w, uint64_t blocks) {
    struct timespec a, b;
    pthread_t other;
    Work half[THREADS] = {w, w};
    half[0].first = 0, half[0].count = blocks / 2;
    half[1].first = blocks / 2, half[1].count = blocks - blocks / 2;
    clock_gettime(CLOCK_MONOTONIC, &a);
    if (pthread_create(&other, NULL, run, &half[1]) != 0)
        return 0;
    run(&half[0]);
    pthread_join(other, NULL);
    clock_gettime(CLOCK_MONOTONIC, &b);
    return (double)(b.tv_sec - a.tv_sec) * 1e3 + (double)(b.tv_nsec - a.tv_nsec) * 1e-6;
}

static int compare(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The kernel for blocks of `size`, or NULL. */
static GpImage *compile(GpSession *s, const Kind *kind, int size) {
    GpArena *arena = gp_arena_new(s);
    GpDiags *diags = gp_diags_new(s);
    GpCodegen *cg = gp_codegen_new(s);
    if (!arena || !diags || !cg)
        return NULL;
    GpText text = {.session = s};
    if (kind->op)
        gp_text_printf(&text, tile_text, size, size, size, kind->op, size);
    else
        gp_text_puts(&text, simt_text);
    GpSource *src = gp_source_new(s, "bench", text.at, text.len, 1, 1);
    GpIrFn *fn = gp_ir_parse(arena, src, diags);
    GpImage *image = NULL;
    GpTarget cpu = {.kind = GpTarget_Cpu};
    bool is_good = fn && gp_codegen_compile(cg, fn, &cpu, diags, &image) == GpStatus_Ok;
    return is_good ? image : NULL;
}

/* Fills the arrays, and packs them and their length for the kernel. */
static void prepare(Work *w, const GpImage *image, size_t n) {
    for (int i = 0; i < 3; i++) {
        w->arrays[i] = aligned_alloc(4096, n * sizeof(float));
        for (size_t j = 0; j < n; j++)
            w->arrays[i][j] = (float)(j & 1023);
    }
    for (uint32_t i = 0; i < image->param_count; i++) {
        const GpImageParam *p = &image->params[i];
        int64_t v = p->kind == GpParam_Base ? (int64_t)(uintptr_t)w->arrays[p->arg] : (int64_t)n;
        memcpy(w->params + p->offset, &v, p->bytes);
    }
}

int main(int argc, char **argv) {
    const char *name = argc > 1 ? argv[1] : "add";
    const Kind *kind = NULL;
    for (size_t i = 0; i < GP_COUNT(kinds); i++)
        if (strcmp(name, kinds[i].name) == 0)
            kind = &kinds[i];
    if (!kind)
        return 2;
    int size = argc > 2 ? atoi(argv[2]) : kind->size;
    GpSession s;
    gp_session_init(&s, NULL, NULL, NULL);
    GpImage *image = compile(&s, kind, size);
    if (!image)
        return 3;
    size_t n = (size_t)1 << LOG_COUNT;
    uint64_t blocks = n / (uint64_t)size;
    Work w = {.kind = kind, .size = (uint64_t)size};
    w.grid = (GpGrid){{(uint32_t)blocks, 1, 1}, {kind->op ? 1 : (uint32_t)size, 1, 1}};
    prepare(&w, image, n);
    double ours[TURNS], theirs[TURNS];
    for (int i = 0; i < TURNS; i++) {
        w.image = NULL, theirs[i] = timed(w, blocks);
        w.image = image, ours[i] = timed(w, blocks);
    }
    qsort(ours, TURNS, sizeof *ours, compare);
    qsort(theirs, TURNS, sizeof *theirs, compare);
    printf("%s block %d: ours %.2f ms, C %.2f ms, ratio %.3f\n", name, size, ours[TURNS / 2],
           theirs[TURNS / 2], theirs[TURNS / 2] / ours[TURNS / 2]);
    gp_image_release(image);
    return 0;
}
