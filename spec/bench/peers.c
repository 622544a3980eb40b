/* The peers of spec/bench that are written in C. Not part of gpulua: it shares no code with it and
** finds the driver by dlopen, so that it builds without CUDA's headers.
**
**   peers nothing         ends at once: what any process costs
**   peers lua             opens Lua's library as lua5.4 -e "" does
**   peers init            prints the seconds of cuInit (with dlopen) and of the primary context
**   peers serve           says "ok", then answers requests, a line each: "ok VALUE" or
**                         "error MESSAGE"
**
** Requests: `spawn PROGRAM WORD..` seconds from spawn to exit; `launch N` and `enqueue N REPEATS`
** seconds a launch, with the wait and without; `graph NODES N` seconds a launch in a graph of so many
** that is replayed N times; `ptx FILE` seconds to load a module from PTX;
** `add N THREADS RUNS` and `saxpy N THREADS RUNS` seconds a run on the CPU. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static int compare(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

static double median(double *values, int count) {
    qsort(values, (size_t)count, sizeof(*values), compare);
    return count % 2 ? values[count / 2] : (values[count / 2 - 1] + values[count / 2]) / 2;
}

static void answer(const char *format, ...) {
    va_list ap;
    va_start(ap, format);
    vprintf(format, ap);
    va_end(ap);
    putchar('\n');
    fflush(stdout);
}

/* ---- The driver ----------------------------------------------------------------------------- */

typedef void *Handle;

typedef struct Cuda {
    int (*init)(unsigned flags);
    int (*device_get)(int *device, int ordinal);
    int (*context_retain)(Handle *context, int device);
    int (*context_set)(Handle context);
    int (*stream_create)(Handle *stream, unsigned flags);
    int (*stream_sync)(Handle stream);
    int (*alloc)(uint64_t *address, size_t bytes);
    int (*module_load)(Handle *module, const void *image, unsigned n, int *options, void **values);
    int (*module_function)(Handle *function, Handle module, const char *name);
    int (*module_unload)(Handle module);
    int (*launch)(Handle function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
                  unsigned bz, unsigned shared, Handle stream, void **params, void **extra);
    int (*capture_begin)(Handle stream, int mode);
    int (*capture_end)(Handle stream, Handle *graph);
    int (*graph_instantiate)(Handle *exec, Handle graph, unsigned long long flags);
    int (*graph_launch)(Handle exec, Handle stream);
    int (*graph_exec_destroy)(Handle exec);
    int (*graph_destroy)(Handle graph);
    double init_seconds, context_seconds;
    Handle stream, function;
    uint64_t memory[3];
    bool is_open;
} Cuda;

static const char tiny_kernel[] =
    ".version 7.0\n.target sm_80\n.address_size 64\n"
    ".visible .entry add(.param .u64 x, .param .u64 y, .param .u64 z, .param .u32 n) {\n"
    ".reg .pred p; .reg .f32 a, b; .reg .b32 i, t, d, c, m; .reg .b64 px, py, pz, o;\n"
    "ld.param.u64 px, [x]; ld.param.u64 py, [y]; ld.param.u64 pz, [z]; ld.param.u32 m, [n];\n"
    "mov.u32 t, %tid.x; mov.u32 d, %ntid.x; mov.u32 c, %ctaid.x; mad.lo.s32 i, c, d, t;\n"
    "setp.ge.s32 p, i, m; @p bra end;\n"
    "cvta.to.global.u64 px, px; cvta.to.global.u64 py, py; cvta.to.global.u64 pz, pz;\n"
    "mul.wide.s32 o, i, 4; add.s64 px, px, o; add.s64 py, py, o; add.s64 pz, pz, o;\n"
    "ld.global.f32 a, [px]; ld.global.f32 b, [py]; add.f32 a, a, b; st.global.f32 [pz], a;\n"
    "end: ret; }\n";

static bool find_entries(Cuda *cu, void *library) {
    const struct {
        void *to;
        const char *name;
    } entries[] = {
        {&cu->init, "cuInit"},
        {&cu->device_get, "cuDeviceGet"},
        {&cu->context_retain, "cuDevicePrimaryCtxRetain"},
        {&cu->context_set, "cuCtxSetCurrent"},
        {&cu->stream_create, "cuStreamCreate"},
        {&cu->stream_sync, "cuStreamSynchronize"},
        {&cu->alloc, "cuMemAlloc_v2"},
        {&cu->module_load, "cuModuleLoadDataEx"},
        {&cu->module_function, "cuModuleGetFunction"},
        {&cu->module_unload, "cuModuleUnload"},
        {&cu->launch, "cuLaunchKernel"},
        {&cu->capture_begin, "cuStreamBeginCapture_v2"},
        {&cu->capture_end, "cuStreamEndCapture"},
        {&cu->graph_instantiate, "cuGraphInstantiateWithFlags"},
        {&cu->graph_launch, "cuGraphLaunch"},
        {&cu->graph_exec_destroy, "cuGraphExecDestroy"},
        {&cu->graph_destroy, "cuGraphDestroy"},
    };
    for (size_t i = 0; i < sizeof(entries) / sizeof(*entries); i++) {
        void *found = dlsym(library, entries[i].name);
        if (!found) return false;
        memcpy(entries[i].to, &found, sizeof(found));
    }
    return true;
}

/* Opens the first device; returns what failed, or NULL. */
static const char *open_device(Cuda *cu) {
    int device;
    Handle context;
    double from = now();
    void *library = dlopen("libcuda.so.1", RTLD_NOW);
    if (!library) return "there is no libcuda.so.1";
    if (!find_entries(cu, library)) return "libcuda.so.1 lacks an entry point";
    if (cu->init(0)) return "cuInit failed";
    double middle = now();
    if (cu->device_get(&device, 0) || cu->context_retain(&context, device) ||
        cu->context_set(context))
        return "the primary context was not made";
    cu->init_seconds = middle - from;
    cu->context_seconds = now() - middle;
    return NULL;
}

static const char *prepare(Cuda *cu) {
    Handle module;
    if (cu->is_open) return NULL;
    const char *wrong = open_device(cu);
    if (wrong) return wrong;
    if (cu->stream_create(&cu->stream, 1)) return "no stream";
    for (int i = 0; i < 3; i++)
        if (cu->alloc(&cu->memory[i], 4096)) return "no memory";
    if (cu->module_load(&module, tiny_kernel, 0, NULL, NULL)) return "the kernel was not loaded";
    if (cu->module_function(&cu->function, module, "add")) return "the kernel was not found";
    cu->is_open = true;
    return NULL;
}

static int launch_once(Cuda *cu) {
    int n = 1024;
    void *params[] = {&cu->memory[0], &cu->memory[1], &cu->memory[2], &n};
    return cu->launch(cu->function, 4, 1, 1, 256, 1, 1, 0, cu->stream, params, NULL);
}

/* ---- Requests to the driver ----------------------------------------------------------------- */

static void serve_launch(Cuda *cu, int count) {
    int result = 0;
    double from = now();
    for (int i = 0; i < count; i++) result |= launch_once(cu);
    result |= cu->stream_sync(cu->stream);
    double seconds = now() - from;
    if (result) answer("error a launch failed with %d", result);
    else answer("ok %.9g", seconds / count);
}

static void serve_enqueue(Cuda *cu, int count, int repeats) {
    double times[64];
    int result = 0;
    repeats = repeats > 64 ? 64 : repeats;
    for (int r = 0; r < repeats; r++) {
        double from = now();
        for (int i = 0; i < count; i++) result |= launch_once(cu);
        times[r] = (now() - from) / count;
        result |= cu->stream_sync(cu->stream);
    }
    if (result) answer("error a launch failed with %d", result);
    else answer("ok %.9g", median(times, repeats));
}

static void serve_graph(Cuda *cu, int nodes, int replays) {
    Handle graph, exec;
    int result = cu->capture_begin(cu->stream, 2);
    for (int i = 0; i < nodes; i++) result |= launch_once(cu);
    result |= cu->capture_end(cu->stream, &graph);
    if (!result) result = cu->graph_instantiate(&exec, graph, 0);
    if (result) {
        answer("error the graph was not made: %d", result);
        return;
    }
    result = cu->graph_launch(exec, cu->stream) | cu->stream_sync(cu->stream);
    double from = now();
    for (int i = 0; i < replays; i++) result |= cu->graph_launch(exec, cu->stream);
    result |= cu->stream_sync(cu->stream);
    double seconds = now() - from;
    (void)cu->graph_exec_destroy(exec);
    (void)cu->graph_destroy(graph);
    if (result) answer("error a replay failed with %d", result);
    else answer("ok %.9g", seconds / ((double)nodes * replays));
}

static char *read_file(const char *path) {
    FILE *f = fopen(path, "r");
    char *text = NULL;
    size_t len = 0;
    if (!f) return NULL;
    if (getdelim(&text, &len, '\0', f) < 0) {
        free(text);
        text = NULL;
    }
    fclose(f);
    return text;
}

static void serve_ptx(Cuda *cu, const char *path) {
    Handle module;
    char *text = read_file(path);
    if (!text) {
        answer("error cannot read %s", path);
        return;
    }
    double from = now();
    int result = cu->module_load(&module, text, 0, NULL, NULL);
    double seconds = now() - from;
    free(text);
    if (result) {
        answer("error loading failed with %d", result);
        return;
    }
    (void)cu->module_unload(module);
    answer("ok %.9g", seconds);
}

/* ---- Processes ------------------------------------------------------------------------------ */

static void serve_spawn(char **words) {
    pid_t pid;
    int status = 0;
    double from = now();
    int failed = posix_spawnp(&pid, words[0], NULL, NULL, words, environ);
    if (failed) {
        answer("error %s: %s", words[0], strerror(failed));
        return;
    }
    waitpid(pid, &status, 0);
    double seconds = now() - from;
    if (status) answer("error %s ended with status %d", words[0], status);
    else answer("ok %.9g", seconds);
}

/* What lua5.4 -e "" does, for machines that have Lua's library only. */
static int run_lua(void) {
    void *library = dlopen("liblua5.4.so.0", RTLD_NOW);
    if (!library) return 1;
    void *(*new_state)(void) = (void *(*)(void))dlsym(library, "luaL_newstate");
    void (*open_libs)(void *) = (void (*)(void *))dlsym(library, "luaL_openlibs");
    int (*load)(void *, const char *) = (int (*)(void *, const char *))dlsym(library, "luaL_loadstring");
    void (*close_state)(void *) = (void (*)(void *))dlsym(library, "lua_close");
    if (!new_state || !open_libs || !load || !close_state) return 1;
    void *L = new_state();
    open_libs(L);
    int failed = load(L, "");
    close_state(L);
    return failed;
}

/* ---- Loops on the CPU ----------------------------------------------------------------------- */

enum { MAX_THREADS = 256 };

typedef struct Cpu {
    size_t n;
    float *x, *y, *z;
} Cpu;

typedef struct Part {
    const Cpu *cpu;
    size_t from, to;
    int what; /* 0 fills, 1 adds, 2 saxpy */
} Part;

__attribute__((noinline)) static void add(size_t n, float *restrict z, const float *restrict x,
                                          const float *restrict y) {
    for (size_t i = 0; i < n; i++) z[i] = x[i] + y[i];
}

__attribute__((noinline)) static void saxpy(size_t n, float alpha, const float *restrict x,
                                            float *restrict y) {
    for (size_t i = 0; i < n; i++) y[i] = alpha * x[i] + y[i];
}

static float next_value(uint64_t *state) {
    float sum = 0;
    for (int i = 0; i < 4; i++) {
        *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        sum += (float)(*state >> 40) * 0x1p-24f;
    }
    return (sum - 2) * 1.7320508f; /* about normal(0, 1) */
}

static void *run_part(void *ud) {
    const Part *p = ud;
    const Cpu *c = p->cpu;
    size_t n = p->to - p->from;
    if (p->what == 1) {
        add(n, c->z + p->from, c->x + p->from, c->y + p->from);
    } else if (p->what == 2) {
        saxpy(n, 0x1p-20f, c->x + p->from, c->y + p->from);
    } else {
        uint64_t state = p->from * 2 + 1;
        for (size_t i = p->from; i < p->to; i++) {
            c->x[i] = next_value(&state);
            c->y[i] = next_value(&state);
            c->z[i] = 0;
        }
    }
    return NULL;
}

static bool run_threads(const Cpu *c, int what, int threads) {
    pthread_t handles[MAX_THREADS];
    Part parts[MAX_THREADS];
    size_t share = (c->n / (size_t)threads + 15) / 16 * 16;
    int started = 1;
    for (int i = 0; i < threads; i++) {
        size_t from = share * (size_t)i, to = i + 1 == threads ? c->n : from + share;
        from = from < c->n ? from : c->n;
        parts[i] = (Part){c, from, to < c->n ? to : c->n, what};
    }
    while (started < threads &&
           pthread_create(&handles[started], NULL, run_part, &parts[started]) == 0)
        started++;
    run_part(&parts[0]);
    for (int i = 1; i < started; i++) pthread_join(handles[i], NULL);
    return started == threads;
}

/* Huge pages where the system gives them, as gpulua's tensors have. */
static float *map_floats(size_t n) {
    size_t bytes = (n * sizeof(float) + 0x1fffff) / 0x200000 * 0x200000, extra = 0x200000;
    char *at = mmap(NULL, bytes + extra, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (at == MAP_FAILED) return NULL;
    at += (extra - (uintptr_t)at % extra) % extra;
    (void)madvise(at, bytes, MADV_HUGEPAGE);
    return (float *)(void *)at;
}

static void serve_cpu(Cpu *c, int what, size_t n, int threads, int runs) {
    if (threads < 1 || threads > MAX_THREADS || runs < 1 || n == 0) {
        answer("error wants N THREADS RUNS");
        return;
    }
    if (c->n == 0) {
        *c = (Cpu){n, map_floats(n), map_floats(n), map_floats(n)};
        if (!c->x || !c->y || !c->z || !run_threads(c, 0, threads)) {
            answer("error no memory or no threads");
            c->n = 0;
            return;
        }
    }
    if (c->n != n) {
        answer("error one size a process");
        return;
    }
    double from = now();
    for (int i = 0; i < runs; i++) {
        if (!run_threads(c, what, threads)) {
            answer("error no threads");
            return;
        }
    }
    answer("ok %.9g", (now() - from) / runs);
}

/* ---- The loop ------------------------------------------------------------------------------- */

static long word_number(char **words, int i) { return words[i] ? strtol(words[i], NULL, 10) : 0; }

/* Answers a request to the driver; false when it is none. */
static bool serve_driver(Cuda *cu, char **words) {
    bool is_launch = strcmp(words[0], "launch") == 0, is_enqueue = strcmp(words[0], "enqueue") == 0;
    bool is_ptx = strcmp(words[0], "ptx") == 0, is_graph = strcmp(words[0], "graph") == 0;
    if (!is_launch && !is_enqueue && !is_ptx && !is_graph) return false;
    const char *wrong = prepare(cu);
    bool has_repeats = (is_enqueue || is_graph) && words[1];
    long count = word_number(words, 1), repeats = has_repeats ? word_number(words, 2) : 1;
    if (wrong) answer("error %s", wrong);
    else if (is_ptx && words[1]) serve_ptx(cu, words[1]);
    else if (is_ptx || count < 1 || repeats < 1) answer("error wants a number or a file");
    else if (is_launch) serve_launch(cu, (int)count);
    else if (is_graph) serve_graph(cu, (int)count, (int)repeats);
    else serve_enqueue(cu, (int)count, (int)repeats);
    return true;
}

static void serve_line(Cuda *cu, Cpu *cpu, char *line) {
    char *words[64], *next = line;
    int count = 0;
    while (next && count < 63) words[count++] = strsep(&next, " ");
    words[count] = NULL;
    bool is_add = strcmp(words[0], "add") == 0, is_saxpy = strcmp(words[0], "saxpy") == 0;
    if (serve_driver(cu, words)) return;
    if (strcmp(words[0], "spawn") == 0 && count > 1) serve_spawn(words + 1);
    else if ((is_add || is_saxpy) && count > 3)
        serve_cpu(cpu, is_add ? 1 : 2, (size_t)word_number(words, 1), (int)word_number(words, 2),
                  (int)word_number(words, 3));
    else answer("error unknown request %s", words[0]);
}

static void serve(void) {
    char line[8192];
    Cuda cu = {0};
    Cpu cpu = {0};
    answer("ok");
    while (fgets(line, sizeof(line), stdin)) {
        line[strcspn(line, "\n")] = '\0';
        serve_line(&cu, &cpu, line);
    }
}

int main(int argc, char **argv) {
    const char *what = argc > 1 ? argv[1] : "";
    if (strcmp(what, "nothing") == 0) return 0;
    if (strcmp(what, "lua") == 0) return run_lua();
    if (strcmp(what, "serve") == 0) {
        serve();
        return 0;
    }
    if (strcmp(what, "init") == 0) {
        Cuda cu = {0};
        const char *wrong = open_device(&cu);
        if (wrong) fprintf(stderr, "%s\n", wrong);
        else printf("%.9g %.9g\n", cu.init_seconds, cu.context_seconds);
        return wrong != NULL;
    }
    fprintf(stderr, "usage: peers nothing | lua | init | serve\n");
    return 2;
}
