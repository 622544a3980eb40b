/* gpulua in a C program, with a Lua of its own that nobody sees: compile a kernel, fill tensors,
** launch, read the result back; then print what gpulua says of a wrong launch.
**
**   cc minimal.c $(pkg-config --cflags --libs gpulua) && ./a.out
**
** Runs on the GPU when there is one, else on the CPU. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <gpulua.h>

static const char kernels[] =
    "#[tile]\n"
    "fn axpy<const B: i32>(y: &mut Tensor<f32, {[B]}>, a: f32, x: &Tensor<f32, {[-1]}>) {\n"
    "    let tx = x.load_like(y);\n"
    "    let ty = y.load();\n"
    "    y.store(a * tx + ty);\n"
    "}\n";

enum { COUNT = 1000, TILE = 256 };

static void write_to(void *file, const char *text, size_t len) {
    fwrite(text, 1, len, (FILE *)file);
}

/* True when all went well; else says what did not. */
static int is_ok(gpulua_state *g, gpulua_status status, const char *what) {
    if (status == GPULUA_OK) return 1;
    fprintf(stderr, "%s: %s\n", what, gpulua_status_name(status));
    gpulua_diag_render(g, 0, write_to, stderr);
    return 0;
}

/* y = a * x + y, with x and y given and y's new value returned in place. */
static int run_axpy(gpulua_state *g, gpulua_module *module, float a, const float *x, float *y) {
    const int64_t shape[1] = {COUNT}, tile[1] = {TILE};
    const size_t bytes = COUNT * sizeof(float);
    gpulua_tensor *tx = NULL, *ty = NULL;
    gpulua_partition *tiles = NULL;
    int ok = is_ok(g, gpulua_tensor_new(g, "f32", shape, 1, &tx), "x") &&
             is_ok(g, gpulua_tensor_new(g, "f32", shape, 1, &ty), "y") &&
             is_ok(g, gpulua_tensor_write(tx, x, bytes), "write x") &&
             is_ok(g, gpulua_tensor_write(ty, y, bytes), "write y") &&
             is_ok(g, gpulua_tiles(ty, tile, 1, &tiles), "tiles of y");
    if (ok) {
        /* The tile's extent B and the grid, 4 blocks, follow from the arguments. */
        gpulua_arg args[3];
        args[0] = gpulua_arg_partition(tiles);
        args[1] = gpulua_arg_float(a);
        args[2] = gpulua_arg_tensor(tx);
        ok = is_ok(g, gpulua_launch(module, "axpy", args, 3, NULL), "launch") &&
             is_ok(g, gpulua_tensor_read(ty, y, bytes), "read y");
    }
    gpulua_partition_free(tiles);
    gpulua_tensor_free(ty);
    gpulua_tensor_free(tx);
    return ok;
}

/* A kernel reads the tensor that it writes: refused before anything runs. */
static int show_refusal(gpulua_state *g, gpulua_module *module) {
    const int64_t shape[1] = {COUNT}, tile[1] = {TILE};
    gpulua_tensor *t = NULL;
    gpulua_partition *tiles = NULL;
    int refused = 0;
    if (is_ok(g, gpulua_tensor_new(g, "f32", shape, 1, &t), "tensor") &&
        is_ok(g, gpulua_tiles(t, tile, 1, &tiles), "tiles")) {
        gpulua_arg args[3];
        gpulua_diag diag;
        args[0] = gpulua_arg_partition(tiles);
        args[1] = gpulua_arg_float(1.0);
        args[2] = gpulua_arg_tensor(t);
        refused = gpulua_launch(module, "axpy", args, 3, NULL) == GPULUA_E_DIAGNOSTICS;
        if (refused && gpulua_diag_at(g, 0, &diag)) printf("refused, %s: %s\n", diag.code, diag.title);
    }
    gpulua_partition_free(tiles);
    gpulua_tensor_free(t);
    return refused;
}

int main(void) {
    static float x[COUNT], y[COUNT];
    gpulua_state *g = NULL;
    gpulua_module *module = NULL;
    const char *device = "";
    int wrong = 0;
    gpulua_status status = gpulua_open(NULL, &g);
    if (status != GPULUA_OK) {
        fprintf(stderr, "open: %s\n", gpulua_status_name(status));
        return EXIT_FAILURE;
    }
    for (int i = 0; i < COUNT; i++) {
        x[i] = (float)i;
        y[i] = 0.5f;
    }
    int ok = is_ok(g, gpulua_device_name(g, &device), "device") &&
             is_ok(g, gpulua_compile(g, "axpy.rs", kernels, strlen(kernels), &module), "compile");
    if (ok) printf("gpulua %s on %s\n", gpulua_version(), strncmp(device, "cuda", 4) ? "the CPU" : "a GPU");
    ok = ok && run_axpy(g, module, 2.0f, x, y);
    for (int i = 0; ok && i < COUNT; i++) wrong += y[i] != 2.0f * (float)i + 0.5f;
    if (ok) printf("axpy of %d elements, %d wrong\n", COUNT, wrong);
    ok = ok && show_refusal(g, module);
    gpulua_module_free(module);
    gpulua_close(g);
    return ok && wrong == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
