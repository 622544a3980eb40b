/* lower_tool FILE.rs: checks the file, makes every `//@ call` in it, prints what comes out: the
** IR of each instance (without optimizing passes) or the diagnostics. `//@ assume k{B = 1}` makes
** an instance from names and assumed facts. `--bind` prints the instance instead of its IR. */
#include "spec/lower/call_text.h"

typedef struct Tool {
    GpSession s;
    GpStd *std;
    GpDiags *diags;
    GpSource *src;
    GpModule *m;
    bool only_bind;
} Tool;

static char *read_file(const char *path, size_t *len) {
    FILE *f = fopen(path, "rb");
    if (!f)
        return NULL;
    char *text = malloc(1 << 20);
    *len = text ? fread(text, 1, 1 << 20, f) : 0;
    fclose(f);
    return text;
}

static void print_instance(GpSession *s, const GpInstance *inst) {
    printf("grid %u %u %u block %u %u %u%s\n", inst->grid[0], inst->grid[1], inst->grid[2],
           inst->block[0], inst->block[1], inst->block[2], inst->equal_lens ? " equal_lens" : "");
    for (uint32_t i = 0; i < inst->arg_count; i++) {
        static const char *const passes[] = {"shared", "unique", "moved", "scalar"};
        printf("arg %u %s %s", i, passes[inst->args[i].pass],
               gp_elem_info[inst->args[i].elem].name);
        if (inst->args[i].pass != GpPass_Scalar)
            printf(" rank %u%s%s%s", inst->args[i].rank,
                   inst->args[i].aligned16 ? " aligned16" : "",
                   inst->args[i].unit_stride ? " unit_stride" : "",
                   inst->args[i].small ? " small" : "");
        else {
            GpText value = {.session = s};
            gp_scalar_print(inst->args[i].scalar, &value);
            printf(" = %s", gp_text_cstr(&value));
            gp_text_free(&value);
        }
        printf("\n");
    }
    printf("key %016llx%016llx\n", (unsigned long long)inst->key[0],
           (unsigned long long)inst->key[1]);
}

static void run_call(Tool *t, const CallText *c) {
    GpArena *arena = gp_arena_new(&t->s);
    const GpDef *kernel = gp_module_find_kernel(t->m, c->kernel);
    GpInstance *inst = NULL;
    GpIrFn *fn = NULL;
    if (!kernel) {
        printf("no kernel %.*s\n", (int)c->kernel.len, c->kernel.at);
        exit(2);
    }
    GpBindRequest request = {.kernel = kernel,
                             .args = c->args,
                             .arg_count = c->arg_count,
                             .named = c->named,
                             .named_count = c->named_count,
                             .site = c->is_assumed ? GP_NO_SPAN : c->site};
    memcpy(request.grid, c->grid, sizeof request.grid);
    memcpy(request.block, c->block, sizeof request.block);
    if (c->is_assumed)
        gp_bind_assumed(t->m, arena, &request, t->diags, &inst);
    else
        gp_bind(t->m, arena, &request, t->diags, &inst);
    if (inst && t->only_bind)
        print_instance(&t->s, inst);
    else if (inst && gp_instantiate(t->m, arena, inst, t->diags, &fn) == GpStatus_Ok) {
        GpText text = {.session = &t->s};
        gp_ir_print(fn, &text);
        fputs(gp_text_cstr(&text), stdout);
        gp_text_free(&text);
    }
    gp_arena_free(arena);
}

static void run_calls(Tool *t) {
    CallText c;
    bool is_bad = false;
    for (const char *at = t->src->text; (at = next_call(t->src, at, &c, &is_bad));) {
        if (is_bad) {
            printf("malformed call: %.*s\n", (int)c.site.len, t->src->text + c.site.off);
            exit(2);
        }
        run_call(t, &c);
    }
}

int main(int argc, char **argv) {
    Tool t = {.only_bind = argc == 3 && !strcmp(argv[1], "--bind")};
    size_t len;
    const char *path = argc > 1 ? argv[argc - 1] : "";
    char *text = read_file(path, &len);
    if (!text)
        return 2;
    gp_session_init(&t.s, NULL, NULL, NULL);
    const char *name = strrchr(path, '/');
    t.src = gp_source_new(&t.s, name ? name + 1 : path, text, len, 1, 1);
    free(text);
    t.std = gp_std_new(&t.s);
    t.diags = gp_diags_new(&t.s);
    if (!t.src || !t.std || !t.diags)
        return 2;
    GpStatus status = gp_module_new(t.std, t.src, t.diags, &t.m);
    if (status == GpStatus_Ok && !gp_diags_errors(t.diags))
        run_calls(&t);
    GpText out = {.session = &t.s};
    gp_diags_sort(t.diags);
    gp_diags_render(t.diags, (GpRenderStyle){false, false}, &out);
    fputs(gp_text_cstr(&out), stdout);
    gp_text_free(&out);
    bool has_failed = gp_diags_errors(t.diags) > 0 || status != GpStatus_Ok;
    gp_module_release(t.m);
    gp_diags_release(t.diags);
    gp_std_free(t.std);
    gp_source_release(t.src);
    return has_failed || t.s.bytes != 0;
}
