/* gp_vgpu_tool FILE [EDIT]: runs the kernel of a PTX file on the virtual GPU and checks what it
** leaves. Comments of the file say how:
**
**   // BLOCK: 32             threads; GRID: blocks; SHARED: dynamic bytes
**   // DEPENDENT: 1          launched before the kernel ahead has ended
**   // ARG: TYPE COUNT       memory of zeros, a parameter; TYPE is u32, u64, f32 or bf16
**   // ARG: TYPE ROWS COLS   memory of small whole numbers
**   // MAP: N ROWS COLS BOX_ROWS BOX_COLS SWIZZLE   tensor map of parameter N's memory, a parameter
**   // OUT: N VALUE..        what parameter N holds in the end
**   // PRODUCT: C A B [D]    parameter C is A times B transposed, and D is added
**
** EDIT plants a mistake: pairs of lines `- text of the file` and `+ text in its place`; each text
** must be there. Exit status: 0 right, 1 wrong, 2 the launch or the load failed. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/elem.h"
#include "runtime/cuda_types.h"

#define GP_CUDA_FN(field, symbol, version, plain, need, params)                                    \
    extern GpCuResult cu_##field params __asm__(plain);
#include "runtime/cuda_api.def"

#define MAX_ARGS 8
typedef struct Arg {
    GpElem elem;
    uint64_t rows, cols; /* rows 0: a list of `cols` zeros */
    uint8_t *host;
    size_t bytes;
    GpCuPtr device;
    bool is_map;
    GpCuTensorMap map;
} Arg;

typedef struct Tool {
    Arg args[MAX_ARGS];
    uint32_t count;
    char *text;
} Tool;

static void stop(const char *what, const char *with) {
    fprintf(stderr, "gp_vgpu_tool: %s%s\n", what, with);
    exit(3);
}

static char *read_file(const char *path) {
    FILE *f = fopen(path, "rb");
    if (!f)
        stop("cannot read ", path);
    char *text = calloc(1, 1 << 20);
    size_t len = fread(text, 1, (1 << 20) - 1, f);
    text[len] = '\0';
    fclose(f);
    return text;
}

/* ---- Edits -------------------------------------------------------------------------------- */

static void replace(Tool *t, const char *from, const char *to) {
    char *at = strstr(t->text, from), *out = calloc(1, strlen(t->text) + strlen(to) + 1);
    if (!at)
        stop("the edit's text is not in the file: ", from);
    size_t before = (size_t)(at - t->text), with = strlen(to);
    memcpy(out, t->text, before);
    memcpy(out + before, to, with);
    memcpy(out + before + with, at + strlen(from), strlen(at + strlen(from)) + 1);
    free(t->text);
    t->text = out;
}

static void edit(Tool *t, const char *path) {
    char *text = read_file(path), *from = NULL;
    for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n")) {
        if (line[0] == '-' && line[1] == ' ')
            from = line + 2;
        else if (line[0] == '+' && from)
            replace(t, from, line[1] ? line + 2 : "");
    }
    free(text);
}

/* ---- Arguments ---------------------------------------------------------------------------- */

static const char *directive(const Tool *t, const char *key, const char *from) {
    const char *at = strstr(from ? from : t->text, key);
    return at ? at + strlen(key) : NULL;
}

static uint32_t number(const Tool *t, const char *key, uint32_t otherwise) {
    const char *at = directive(t, key, NULL);
    return at ? (uint32_t)strtoul(at, NULL, 10) : otherwise;
}

static double small_number(uint64_t row, uint64_t col, uint32_t salt) {
    return (double)((row * 7 + col * 3 + row * col % 5 + salt) % 13) - 6.0;
}

static void add_memory(Tool *t, const char *at) {
    Arg *a = &t->args[t->count];
    char name[16];
    uint64_t first = 0, second = 0;
    int read = sscanf(at, " %15s %" SCNu64 " %" SCNu64, name, &first, &second);
    if (read < 2 || !gp_elem_find(gp_str_from(name), &a->elem))
        stop("ARG wants a type and a count: ", at);
    a->rows = read == 3 ? first : 0;
    a->cols = read == 3 ? second : first;
    uint64_t numel = GP_MAX(a->rows, 1u) * a->cols;
    uint32_t bytes = gp_elem_info[a->elem].bytes;
    a->bytes = numel * bytes;
    a->host = calloc(1, a->bytes);
    for (uint64_t i = 0; a->rows && i < numel; i++) {
        GpScalar v = {.elem = a->elem, .f = small_number(i / a->cols, i % a->cols, t->count)};
        gp_scalar_store(v, a->host + i * bytes);
    }
    if (cu_mem_alloc(&a->device, a->bytes) || cu_copy_to_device(a->device, a->host, a->bytes, NULL))
        stop("no memory", "");
    t->count++;
}

static void add_map(Tool *t, const char *at) {
    Arg *a = &t->args[t->count++];
    uint64_t dims[2], strides[1];
    uint32_t box[2], steps[2] = {1, 1}, of, swizzle;
    if (sscanf(at, " %u %" SCNu64 " %" SCNu64 " %u %u %u", &of, &dims[1], &dims[0], &box[1],
               &box[0], &swizzle) != 6)
        stop("MAP wants six numbers: ", at);
    const Arg *memory = &t->args[of];
    bool is_half = memory->elem == GpElem_BF16;
    strides[0] = dims[0] * gp_elem_info[memory->elem].bytes;
    a->is_map = true;
    int code = swizzle == 128  ? GpCu_MapSwizzle128
               : swizzle == 64 ? GpCu_MapSwizzle64
               : swizzle == 32 ? GpCu_MapSwizzle32
                               : GpCu_MapSwizzle0;
    if (cu_encode_tiled(&a->map, is_half ? GpCu_MapBf16 : GpCu_MapF32, 2,
                        (void *)(uintptr_t)memory->device, dims, strides, box, steps, GpCu_MapPlain,
                        code, GpCu_MapPromote256, GpCu_MapFillZero))
        exit(2);
}

static void add_args(Tool *t) {
    for (const char *line = t->text; line && t->count < MAX_ARGS; line = strchr(line, '\n')) {
        line += *line == '\n';
        if (strncmp(line, "// ARG:", 7) == 0)
            add_memory(t, line + 7);
        else if (strncmp(line, "// MAP:", 7) == 0)
            add_map(t, line + 7);
    }
}

/* ---- Checks ------------------------------------------------------------------------------- */

static GpScalar element(const Arg *a, uint64_t i) {
    return gp_scalar_load(a->elem, a->host + i * gp_elem_info[a->elem].bytes);
}

static bool check_values(const Tool *t, const char *at) {
    char *end;
    const Arg *a = &t->args[strtoul(at, &end, 10)];
    for (uint64_t i = 0; *end == ' '; i++) {
        const char *start = end + 1;
        GpScalar v = element(a, i);
        bool is_float = gp_elem_is_float(a->elem), is_same;
        double wanted = 0;
        uint64_t bits = 0;
        if (is_float) {
            wanted = strtod(start, &end);
            is_same = v.f == wanted || (v.f != v.f && wanted != wanted);
        } else {
            bits = strtoull(start, &end, 0);
            is_same = v.u == bits;
        }
        if (!is_same && is_float)
            printf("element %" PRIu64 " is %.9g instead of %.9g\n", i, v.f, wanted);
        else if (!is_same)
            printf("element %" PRIu64 " is %#" PRIx64 " instead of %#" PRIx64 "\n", i, v.u, bits);
        if (!is_same)
            return false;
    }
    return true;
}

static bool check_product(const Tool *t, const char *at) {
    uint32_t c, a, b, d;
    int read = sscanf(at, " %u %u %u %u", &c, &a, &b, &d);
    if (read < 3)
        stop("PRODUCT wants three numbers or four: ", at);
    const Arg *left = &t->args[a], *right = &t->args[b], *out = &t->args[c];
    for (uint64_t i = 0; i < left->rows; i++) {
        for (uint64_t j = 0; j < right->rows; j++) {
            uint64_t place = i * right->rows + j;
            double sum = read == 4 ? element(&t->args[d], place).f : 0, got = element(out, place).f;
            for (uint64_t k = 0; k < left->cols; k++)
                sum += element(left, i * left->cols + k).f * element(right, j * left->cols + k).f;
            if (got != sum) {
                printf("row %" PRIu64 ", column %" PRIu64 " is %g instead of %g\n", i, j, got, sum);
                return false;
            }
        }
    }
    return true;
}

static bool check(Tool *t) {
    bool is_right = true;
    const char *at = NULL;
    for (uint32_t i = 0; i < t->count; i++) {
        Arg *a = &t->args[i];
        if (!a->is_map && cu_copy_to_host(a->host, a->device, a->bytes, NULL))
            stop("cannot read the results", "");
    }
    while ((at = directive(t, "// OUT: ", at)))
        is_right &= check_values(t, at);
    at = directive(t, "// PRODUCT:", NULL);
    return is_right && (!at || check_product(t, at));
}

static int launch(Tool *t) {
    GpCuModule module;
    GpCuFunction f;
    if (cu_module_load(&module, t->text, 0, NULL, NULL))
        return 2;
    if (cu_module_function(&f, module, "k"))
        stop("there is no kernel `k`", "");
    uint32_t shared = number(t, "// SHARED:", 0);
    void *params[MAX_ARGS];
    for (uint32_t i = 0; i < t->count; i++)
        params[i] = t->args[i].is_map ? (void *)&t->args[i].map : (void *)&t->args[i].device;
    if (cu_function_set(f, GpCu_FuncMaxDynamicShared, (int)shared))
        return 2;
    GpCuLaunchAttribute attr = {.id = GpCu_AttributeDependent,
                                .value.flag = (int)number(t, "// DEPENDENT:", 0)};
    GpCuLaunchConfig config = {number(t, "// GRID:", 1), 1, 1, number(t, "// BLOCK:", 32), 1, 1,
                               shared, NULL, &attr, 1};
    int result = cu_launch_ex(&config, f, params, NULL) ? 2 : check(t) ? 0 : 1;
    (void)cu_module_unload(module);
    return result;
}

int main(int argc, char **argv) {
    static Tool t;
    GpCuContext context;
    if (argc < 2)
        stop("which file?", "");
    if (cu_init(0) || cu_primary_retain(&context, 0) || cu_context_set(context))
        stop("no device", "");
    t.text = read_file(argv[1]);
    if (argc > 2)
        edit(&t, argv[2]);
    add_args(&t);
    int result = launch(&t);
    for (uint32_t i = 0; i < t.count; i++) {
        if (!t.args[i].is_map)
            (void)cu_mem_free(t.args[i].device);
        free(t.args[i].host);
    }
    free(t.text);
    return result;
}
