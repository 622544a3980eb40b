/* A step that repeats, as a graph: the launches are recorded once, and each replay is one piece of
** work, on a GPU one call of the driver. Here a bar of 64 cells loses its heat from both ends.
**
**   cc graph.c $(pkg-config --cflags --libs gpulua) && ./a.out */
#include <stdio.h>
#include <string.h>

#include <gpulua.h>

static const char kernels[] =
    "#[kernel]\n"
    "fn step(x: &[f32], mut z: DisjointSlice<f32>) {\n"
    "    let idx = thread::index_1d();\n"
    "    let i = idx.get();\n"
    "    if let Some(out) = z.get_mut(idx) {\n"
    "        let left = if i > 0 { x[i - 1] } else { 0.0 };\n"
    "        let right = if i + 1 < x.len() { x[i + 1] } else { 0.0 };\n"
    "        *out = 0.25 * left + 0.5 * x[i] + 0.25 * right;\n"
    "    }\n"
    "}\n";

enum { CELLS = 64, REPLAYS = 100 };

static void write_to(void *file, const char *text, size_t len) {
    fwrite(text, 1, len, (FILE *)file);
}

static int is_ok(gpulua_state *g, gpulua_status status) {
    if (status != GPULUA_OK) gpulua_diag_render(g, 0, write_to, stderr);
    return status == GPULUA_OK;
}

/* z = one step from x. */
static gpulua_status step(gpulua_module *m, gpulua_tensor *x, gpulua_tensor *z) {
    gpulua_arg args[2];
    args[0] = gpulua_arg_tensor(x);
    args[1] = gpulua_arg_tensor(z);
    return gpulua_launch(m, "step", args, 2, NULL);
}

/* There and back: two steps, after which `x` holds the newer state. */
static int record(gpulua_state *g, gpulua_module *m, gpulua_tensor *x, gpulua_tensor *z,
                  gpulua_graph **out) {
    return is_ok(g, gpulua_graph_begin(g, out)) && is_ok(g, step(m, x, z)) &&
           is_ok(g, step(m, z, x)) && is_ok(g, gpulua_graph_end(*out));
}

static int cool(gpulua_state *g, gpulua_module *m) {
    const int64_t cells = CELLS;
    float bar[CELLS], sum = 0;
    gpulua_tensor *x = NULL, *z = NULL;
    gpulua_graph *graph = NULL;
    int i, ok = is_ok(g, gpulua_tensor_new(g, "f32", &cells, 1, &x)) &&
                is_ok(g, gpulua_tensor_new(g, "f32", &cells, 1, &z)) && record(g, m, x, z, &graph) &&
                is_ok(g, gpulua_tensor_fill(x, 1.0));
    for (i = 0; ok && i < REPLAYS; i++) ok = is_ok(g, gpulua_graph_launch(graph, NULL));
    ok = ok && is_ok(g, gpulua_tensor_read(x, bar, sizeof(bar)));
    for (i = 0; i < CELLS; i++) sum += bar[i];
    if (ok) printf("%d steps later %.0f%% of the heat is left\n", 2 * REPLAYS, 100 * sum / CELLS);
    gpulua_graph_free(graph);
    gpulua_tensor_free(x);
    gpulua_tensor_free(z);
    return ok;
}

int main(void) {
    gpulua_state *g;
    gpulua_module *m = NULL;
    int ok;
    if (gpulua_open(NULL, &g) != GPULUA_OK) return 1;
    ok = is_ok(g, gpulua_compile(g, "graph.rs", kernels, strlen(kernels), &m)) && cool(g, m);
    gpulua_module_free(m);
    gpulua_close(g);
    return ok ? 0 : 1;
}
