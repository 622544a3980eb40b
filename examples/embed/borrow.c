/* A tensor over an array of the program: kernels work in it, on the CPU, and nothing is copied.
**
**   cc borrow.c $(pkg-config --cflags --libs gpulua) && ./a.out */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <gpulua.h>

static const char kernels[] =
    "#[tile]\n"
    "fn brighten<const H: i32, const W: i32>(image: &mut Tensor<f32, {[H, W]}>, by: f32) {\n"
    "    image.store(image.load() * by);\n"
    "}\n";

enum { ROWS = 4, COLUMNS = 6, PITCH = 8 }; /* rows of 8 elements, of which the image has 6 */

static void write_to(void *file, const char *text, size_t len) {
    fwrite(text, 1, len, (FILE *)file);
}

/* The last handle is gone, and no kernel works in the memory any more: here it could be freed. */
static void take_back(void *image) {
    const float *row = (const float *)image;
    printf("given back: %g .. %g, and beside the image %g\n", row[0], row[COLUMNS - 1], row[COLUMNS]);
}

static gpulua_status brighten(gpulua_state *g, float *image, double by) {
    const int64_t shape[2] = {ROWS, COLUMNS}, strides[2] = {PITCH, 1}, tile[2] = {2, 2};
    gpulua_module *module = NULL;
    gpulua_tensor *t = NULL;
    gpulua_partition *tiles = NULL;
    gpulua_arg args[2];
    gpulua_borrow memory;
    memset(&memory, 0, sizeof(memory));
    memory.size = sizeof(memory);
    memory.device = "cpu";
    memory.address = (uint64_t)(uintptr_t)image;
    memory.bytes = ROWS * PITCH * sizeof(float);
    memory.dtype = "f32";
    memory.shape = shape;
    memory.strides = strides;
    memory.rank = 2;
    memory.release = take_back;
    memory.ud = image;
    gpulua_status status = gpulua_compile(g, "brighten.rs", kernels, strlen(kernels), &module);
    if (status == GPULUA_OK) status = gpulua_tensor_borrow(g, &memory, &t);
    if (status == GPULUA_OK) status = gpulua_tiles(t, tile, 2, &tiles);
    if (status == GPULUA_OK) {
        args[0] = gpulua_arg_partition(tiles);
        args[1] = gpulua_arg_float(by);
        status = gpulua_launch(module, "brighten", args, 2, NULL);
    }
    if (status != GPULUA_OK) gpulua_diag_render(g, 0, write_to, stderr);
    gpulua_partition_free(tiles);
    gpulua_tensor_free(t);
    gpulua_module_free(module);
    return status;
}

int main(void) {
    static float image[ROWS][PITCH];
    gpulua_state *g = NULL;
    for (int i = 0; i < ROWS * PITCH; i++) image[i / PITCH][i % PITCH] = (float)(i % PITCH + 1);
    gpulua_status status = gpulua_open(NULL, &g);
    if (status == GPULUA_OK) status = brighten(g, image[0], 3.0);
    gpulua_close(g);
    return status == GPULUA_OK ? EXIT_SUCCESS : EXIT_FAILURE;
}
