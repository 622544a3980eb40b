/* `gp_codegen_tool agree`: one function on data that its file describes, CPU image against the
** interpreter. */
#include <stdlib.h>

#include "spec/codegen/gp_codegen_tool.h"

static const char *directive(const Tool *t, const char *key, const char *from) {
    const char *at = strstr(from ? from : t->src->text, key);
    return at ? at + strlen(key) : NULL;
}

static void read_three(const Tool *t, const char *key, uint32_t *to) {
    const char *at = directive(t, key, NULL);
    if (at)
        (void)sscanf(at, "%u %u %u", &to[0], &to[1], &to[2]);
}

static void read_args(Tool *t, Launch *l) {
    const char *at = NULL;
    uint64_t state = 88172645463325252u;
    for (uint32_t i = 0; i < l->fn->param_count; i++)
        if (l->fn->params[i].kind != GpParam_Len)
            l->elem[l->fn->params[i].arg] = l->fn->body->params[i]->type->elem;
    while ((at = directive(t, "// DIMS:", at)) && l->args < 8) {
        uint32_t n = l->args++;
        int64_t numel = 1;
        for (const char *p = at; *p == ' ';) {
            char *end;
            numel *= l->shape[n].dim[l->shape[n].rank++] = strtoll(p, &end, 10);
            p = end;
        }
        l->bytes[n] = (size_t)numel * gp_elem_info[l->elem[n]].bytes;
        l->before[n] = gp_arena_alloc(t->arena, l->bytes[n] + 8);
        l->after[n] = gp_arena_alloc(t->arena, l->bytes[n] + 8);
        fill(l->elem[n], l->before[n], (size_t)numel, &state);
    }
}

static double read_number(const char **at) {
    while (**at == ' ' || **at == '\n')
        ++*at;
    const char *rest = *at;
    char *end;
    double v = strncmp(rest, "true", 4) == 0 ? 1 : strtod(rest, &end); /* "false" is 0 */
    while (**at && **at != ' ' && **at != '\n')
        ++*at;
    return v;
}

/* `elem [shape e e ..] = value ..`, contiguous; integers beyond 2^53 are not exact. */
static bool read_arg(Tool *t, Launch *l, const char *at) {
    uint32_t n = l->args++;
    int64_t numel = 1;
    const char *equals = strchr(at, '='), *shape = strstr(at, " shape ");
    const char *strides = strstr(at, " strides ");
    if (!equals || (strides && strides < equals))
        return false;
    if (shape && shape < equals) {
        for (const char *p = shape + 7; *p != '=';) {
            char *end;
            numel *= l->shape[n].dim[l->shape[n].rank++] = strtoll(p, &end, 10);
            p = *end == ' ' ? end + 1 : end;
        }
    } else {
        l->shape[n].rank = 1;
        for (const char *p = equals + 1; *p && *p != '\n'; p++)
            l->shape[n].dim[0] += p[-1] == ' ' && *p != ' ';
        numel = l->shape[n].dim[0];
    }
    uint32_t bytes = gp_elem_info[l->elem[n]].bytes;
    l->bytes[n] = (size_t)numel * bytes;
    l->before[n] = gp_arena_alloc(t->arena, l->bytes[n] + 8);
    l->after[n] = gp_arena_alloc(t->arena, l->bytes[n] + 8);
    const char *p = equals + 1;
    bool is_iota = strncmp(p, " iota", 5) == 0;
    for (int64_t i = 0; i < numel; i++) {
        double v = is_iota ? (double)i : read_number(&p);
        GpScalar x = {.elem = l->elem[n]};
        if (gp_elem_is_float(x.elem))
            x.f = v;
        else
            x.i = (int64_t)v;
        gp_scalar_store(gp_scalar_wrap(x), l->before[n] + (size_t)i * bytes);
    }
    return true;
}

static bool read_given_args(Tool *t, Launch *l) {
    const char *at = NULL;
    while ((at = directive(t, "// ARG:", at)) && l->args < 8)
        if (!read_arg(t, l, at))
            return false;
    return true;
}

/* Results are those of the interpreter, and something was written. */
static void judge(Tool *t, const Launch *l, uint8_t *const *got) {
    for (uint32_t i = 0; i < l->args; i++) {
        Case c = {.op = GpOp_Add, .from = l->elem[i], .to = l->elem[i]};
        size_t count = l->bytes[i] / gp_elem_info[l->elem[i]].bytes;
        Outcome o = {l->name, got[i], l->after[i], (int64_t)count, l->bound};
        compare(t, &c, &o);
    }
    bool is_changed = false;
    for (uint32_t i = 0; i < l->args; i++)
        is_changed |= memcmp(l->before[i], l->after[i], l->bytes[i]) != 0;
    if (!is_changed) {
        printf("FAILED %s: writes nothing\n", l->name);
        t->status = 1;
    }
}

/* The launch that the file's directives describe. */
static bool read_launch(Tool *t, Launch *l) {
    read_three(t, "// GRID:", l->grid.grid);
    read_three(t, "// BLOCK:", l->grid.block);
    read_args(t, l);
    const char *bound = directive(t, "// ULP:", NULL);
    l->bound = bound ? strtod(bound, NULL) : 0;
    return read_given_args(t, l);
}

static GpMailbox run_launch(const GpImage *image, const Launch *l, uint8_t *const *memory) {
    static uint64_t block[64];
    GpMailbox box = {0};
    uint64_t blocks = (uint64_t)l->grid.grid[0] * l->grid.grid[1] * l->grid.grid[2];
    pack_launch(image, l, memory, (uint8_t *)block, &box);
    image->cpu_entry(image->cpu_self, (const uint8_t *)block, &l->grid, 0, blocks, NULL);
    return box;
}

static void run_images(Tool *t, Launch *l, const GpImage *image, const GpImage *oracle) {
    uint8_t *got[8];
    for (uint32_t i = 0; i < l->args; i++) {
        got[i] = gp_arena_alloc(t->arena, l->bytes[i] + 8);
        memcpy(got[i], l->before[i], l->bytes[i]);
        memcpy(l->after[i], l->before[i], l->bytes[i]);
    }
    GpMailbox ours = run_launch(image, l, got), theirs = run_launch(oracle, l, l->after);
    judge(t, l, got);
    if (memcmp(&ours, &theirs, sizeof ours) != 0) {
        printf("FAILED %s: mailboxes differ\n", l->name);
        t->status = 1;
    }
}

void agree(Tool *t) {
    GpIrFn *fn = t->argc >= 3 ? parse_file(t, t->argv[2]) : NULL;
    Launch l = {.fn = fn, .grid = {{1, 1, 1}, {1, 1, 1}}};
    if (!fn || !read_launch(t, &l)) {
        t->status = 2;
        return;
    }
    l.name = fn->name;
    GpTarget cpu = {.kind = GpTarget_Cpu}, interp = {.kind = GpTarget_Interp};
    GpImage *image = NULL, *oracle = NULL;
    if (gp_codegen_compile(t->cg, fn, &cpu, t->diags, &image) != GpStatus_Ok ||
        gp_codegen_compile(t->cg, fn, &interp, t->diags, &oracle) != GpStatus_Ok) {
        print_diags(t);
        return;
    }
    run_images(t, &l, image, oracle);
    if (t->argc > 3)
        t->records = fopen(t->argv[3], "ab");
    write_record(t, &l);
    if (t->records)
        fclose(t->records);
    if (!t->status)
        printf("%s agrees\n", l.name);
    gp_image_release(image);
    gp_image_release(oracle);
}
