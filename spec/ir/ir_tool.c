/* gp_ir_tool FILE: reads IR text, does what the file's own `// DO:` lines say, prints the result
** for FileCheck. Testing builds only.
**
**   // DO: print                 the function
**   // DO: pass NAME             one pass; `semantic` and `optimize` run a stage
**   // DO: reject                the verifier's message, which must come
**   // DO: refuse                the parser's diagnostic, which must come
**   // DO: abi                   the parameters of the compiled function
**   // DO: overwrites            the arguments that gp_ir_overwrites names
**   // DO: run                   interprets; then what the kernel prints, arguments and mailbox. The run is
**                                made again after all passes of the optimizing stage and must
**                                give the same bytes
**   // GRID: x y z  // BLOCK: x y z
**   // ARG: f32 [shape 2 3] [strides 3 1] = 1 2 3 | iota
**
** Whatever a file asks for, it is also printed, parsed and printed again, and cloned and printed:
** the texts must be equal; and it must verify unless it says reject. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>

#include "dsl/ir/ir_text.h"
#include "dsl/ir/pass.h"

enum { MAX_ARGS = 8 };

typedef struct Arg {
    GpElem elem;
    GpShape shape;
    int64_t stride[GP_MAX_RANK];
    int64_t count; /* elements of memory */
    uint8_t *memory, *before;
} Arg;

typedef struct Tool {
    GpSession *session;
    GpArena *arena;
    GpSource *src;
    GpDiags *diags;
    GpIrFn *fn;
    GpGrid grid;
    Arg args[MAX_ARGS];
    uint32_t arg_count;
    GpMailbox mailbox;
    GpText *output; /* of the run under way */
    int status;
} Tool;

static void fail(Tool *t, const char *what) {
    printf("FAILED: %s\n", what);
    t->status = 1;
}

static void put(GpText *text) {
    fputs(gp_text_cstr(text), stdout);
    gp_text_free(text);
}

static void print_fn(const Tool *t) {
    GpText text = {.session = t->session};
    gp_ir_print(t->fn, &text);
    put(&text);
}

static bool verify(Tool *t, const char *when) {
    GpText why = {.session = t->session};
    bool ok = gp_ir_verify(t->fn, &why);
    if (!ok) {
        fail(t, when);
        puts(gp_text_cstr(&why));
    }
    gp_text_free(&why);
    return ok;
}

static void check_round_trip(Tool *t) {
    GpText first = {.session = t->session}, second = {.session = t->session};
    GpText third = {.session = t->session};
    gp_ir_print(t->fn, &first);
    GpSource *src = gp_source_new(t->session, "printed", first.at, first.len, 1, 1);
    GpIrFn *again = gp_ir_parse(t->arena, src, t->diags);
    if (again) gp_ir_print(again, &second);
    gp_ir_print(gp_ir_clone(t->arena, t->fn), &third);
    if (!again || strcmp(gp_text_cstr(&first), gp_text_cstr(&second)) != 0)
        fail(t, "a printed function is not read back as it was");
    if (strcmp(gp_text_cstr(&first), gp_text_cstr(&third)) != 0)
        fail(t, "a clone prints differently");
    gp_source_release(src);
    gp_text_free(&first);
    gp_text_free(&second);
    gp_text_free(&third);
}

/* Words of a directive. */
static const char *next_word(const char **at, char *word, size_t size) {
    size_t n = 0;
    while (**at == ' ') (*at)++;
    while (**at && !isspace((unsigned char)**at) && n + 1 < size) word[n++] = *(*at)++;
    word[n] = '\0';
    return n ? word : NULL;
}

static GpScalar parse_scalar(GpElem elem, const char *word) {
    if (gp_elem_is_float(elem)) return gp_scalar_wrap((GpScalar){.elem = elem, .f = atof(word)});
    GpScalar v = {.elem = elem};
    if (gp_elem_is_signed(elem)) v.i = strtoll(word, NULL, 10);
    else v.u = strcmp(word, "true") == 0 ? 1 : strtoull(word, NULL, 10);
    return gp_scalar_wrap(v);
}

static void put_value(Arg *a, int64_t i, GpScalar v) {
    if (i < a->count) gp_scalar_store(v, a->memory + i * gp_elem_info[a->elem].bytes);
}

static void set_strides(Arg *a) {
    int64_t stride = 1;
    for (int i = a->shape.rank - 1; i >= 0; i--) {
        a->stride[i] = stride;
        stride *= a->shape.dim[i];
    }
}

static void read_arg(Tool *t, const char *at) {
    char word[64];
    Arg *a = &t->args[t->arg_count++];
    bool has_strides = false, has_shape = false;
    if (!next_word(&at, word, sizeof word) || !gp_elem_find(gp_str_from(word), &a->elem))
        fail(t, "ARG without element type");
    int64_t *list = NULL, n = 0;
    while (next_word(&at, word, sizeof word) && strcmp(word, "=") != 0) {
        if (strcmp(word, "shape") == 0) list = a->shape.dim, has_shape = true, n = 0;
        else if (strcmp(word, "strides") == 0) list = a->stride, has_strides = true, n = 0;
        else if (list && n < GP_MAX_RANK) list[n++] = atoll(word);
        if (!has_strides) a->shape.rank = (uint8_t)n;
    }
    const char *values = at;
    int64_t given = 0;
    while (next_word(&values, word, sizeof word)) given++;
    if (!has_shape) a->shape = (GpShape){.dim = {given}, .rank = 1};
    if (!has_strides) set_strides(a);
    (void)gp_shape_numel(&a->shape, &a->count);
    size_t bytes = (size_t)a->count * gp_elem_info[a->elem].bytes;
    a->memory = gp_arena_alloc(t->arena, bytes);
    a->before = gp_arena_alloc(t->arena, bytes);
    for (int64_t i = 0; next_word(&at, word, sizeof word); i++) {
        if (strcmp(word, "iota") != 0) {
            put_value(a, i, parse_scalar(a->elem, word));
            continue;
        }
        for (int64_t e = 0; e < a->count; e++)
            put_value(a, e, gp_scalar_cast((GpScalar){.elem = GpElem_I64, .i = e}, a->elem));
    }
    memcpy(a->before, a->memory, bytes);
}

static void store_int(uint8_t *to, uint8_t bytes, int64_t v) { memcpy(to, &v, bytes); }

static uint8_t *pack(Tool *t) {
    uint32_t count, bytes;
    GpImageParam *params = gp_ir_abi(t->fn, t->arena, &count, &bytes);
    uint8_t *block = gp_arena_alloc(t->arena, (size_t)bytes + 8);
    for (uint32_t i = 0; i < count; i++) {
        uint8_t *to = block + params[i].offset;
        Arg *a = &t->args[params[i].arg];
        uint8_t size = params[i].bytes, axis = params[i].axis;
        switch (params[i].kind) {
        case GpParam_Base: store_int(to, size, (int64_t)(uintptr_t)a->memory); break;
        case GpParam_Dim: store_int(to, size, a->shape.dim[axis]); break;
        case GpParam_Stride: store_int(to, size, a->stride[axis]); break;
        case GpParam_Len: store_int(to, size, a->count); break;
        case GpParam_Scalar: memcpy(to, a->memory, size); break;
        case GpParam_Mailbox: store_int(to, size, (int64_t)(uintptr_t)&t->mailbox); break;
        case GpParam_Grid:
        case GpParam_TensorMap: gp_unreachable(); /* compiled kernels' only */
        }
    }
    return block;
}

static void print_result(const Tool *t, GpText *out) {
    for (uint32_t i = 0; i < t->arg_count; i++) {
        const Arg *a = &t->args[i];
        gp_text_printf(out, "arg%u =", i);
        for (int64_t e = 0; e < a->count; e++) {
            gp_text_puts(out, " ");
            gp_scalar_print(gp_scalar_load(a->elem, a->memory + e * gp_elem_info[a->elem].bytes),
                            out);
        }
        gp_text_puts(out, "\n");
    }
    const GpMailbox *m = &t->mailbox;
    if (m->state)
        gp_text_printf(out,
                       "mailbox: state %u site %u block (%u, %u, %u) thread (%u, %u, %u) "
                       "value %lld limit %lld\n",
                       m->state, m->site, m->block[0], m->block[1], m->block[2], m->thread[0],
                       m->thread[1], m->thread[2], (long long)m->value, (long long)m->limit);
}

/* The session's write hook; only runs write. */
static void add_output(void *ud, const char *text, size_t len) {
    Tool *t = ud;
    gp_text_add(t->output, text, len);
}

static void run_once(Tool *t, GpText *out) {
    t->output = out;
    memset(&t->mailbox, 0, sizeof t->mailbox);
    for (uint32_t i = 0; i < t->arg_count; i++) {
        Arg *a = &t->args[i];
        memcpy(a->memory, a->before, (size_t)a->count * gp_elem_info[a->elem].bytes);
    }
    const uint32_t *g = t->grid.grid;
    gp_interp_run(t->fn, pack(t), &t->grid, 0, (uint64_t)g[0] * g[1] * g[2], NULL);
    print_result(t, out);
}

static void run(Tool *t) {
    GpText plain = {.session = t->session}, optimized = {.session = t->session};
    GpIrFn *fn = t->fn;
    run_once(t, &plain);
    t->fn = gp_ir_clone(t->arena, fn);
    gp_ir_run_passes(t->fn, GpPassStage_Optimize);
    run_once(t, &optimized);
    t->fn = fn;
    if (strcmp(gp_text_cstr(&plain), gp_text_cstr(&optimized)) != 0) {
        fail(t, "the optimizing passes changed the result; with them:");
        fputs(gp_text_cstr(&optimized), stdout);
    }
    put(&plain);
    gp_text_free(&optimized);
}

static void print_overwrites(const Tool *t) {
    uint64_t args = gp_ir_overwrites(t->fn);
    printf("overwrites:");
    for (uint32_t i = 0; i < 64; i++)
        if (args >> i & 1) printf(" %u", i);
    puts("");
}

static void print_abi(const Tool *t) {
    uint32_t count, bytes;
    GpImageParam *params = gp_ir_abi(t->fn, t->arena, &count, &bytes);
    for (uint32_t i = 0; i < count; i++)
        printf("%s arg %u axis %u: %u bytes at %u\n", gp_ir_param_words[params[i].kind],
               params[i].arg, params[i].axis, params[i].bytes, params[i].offset);
    printf("%u bytes in all\n", bytes);
}

static void run_pass(Tool *t, const char *name) {
    if (strcmp(name, "semantic") == 0) {
        gp_ir_run_passes(t->fn, GpPassStage_Semantic);
    } else if (strcmp(name, "optimize") == 0) {
        gp_ir_run_passes(t->fn, GpPassStage_Optimize);
    } else {
        const GpPassInfo *found = NULL;
        for (uint32_t i = 0; i < gp_pass_count; i++)
            if (strcmp(gp_pass_info[i].name, name) == 0) found = &gp_pass_info[i];
        if (!found) fail(t, "no such pass");
        else (void)found->run(t->fn);
    }
    if (verify(t, name)) check_round_trip(t);
}

static void reject(Tool *t) {
    GpText why = {.session = t->session};
    if (gp_ir_verify(t->fn, &why)) fail(t, "the verifier accepts it");
    else printf("rejected: %s\n", gp_text_cstr(&why));
    gp_text_free(&why);
}

static void obey(Tool *t, const char *at) {
    char verb[32], name[32];
    if (!next_word(&at, verb, sizeof verb)) return;
    if (strcmp(verb, "print") == 0) print_fn(t);
    else if (strcmp(verb, "abi") == 0) print_abi(t);
    else if (strcmp(verb, "overwrites") == 0) print_overwrites(t);
    else if (strcmp(verb, "run") == 0) run(t);
    else if (strcmp(verb, "reject") == 0) reject(t);
    else if (strcmp(verb, "pass") == 0 && next_word(&at, name, sizeof name)) run_pass(t, name);
    else fail(t, "unknown directive");
}

static void read_three(const char *at, uint32_t *to) {
    char word[32];
    for (int i = 0; i < 3 && next_word(&at, word, sizeof word); i++)
        to[i] = (uint32_t)strtoul(word, NULL, 10);
}

/* Calls fn for each line that starts with `// KEY: `. */
static void each_directive(Tool *t, const char *key, void (*fn)(Tool *, const char *)) {
    for (uint32_t i = 0; i < t->src->line_count; i++) {
        GpStr line = gp_source_line(t->src, i);
        size_t n = strlen(key);
        if (line.len < n + 3 || memcmp(line.at, "// ", 3) != 0 || memcmp(line.at + 3, key, n) != 0)
            continue;
        fn(t, gp_arena_copy(t->arena, line.at + 3 + n, line.len - 3 - n));
    }
}

static void set_grid(Tool *t, const char *at) { read_three(at, t->grid.grid); }
static void set_block(Tool *t, const char *at) { read_three(at, t->grid.block); }

static void print_diags(Tool *t) {
    for (uint32_t i = 0; i < gp_diags_count(t->diags); i++) {
        const GpDiag *d = gp_diags_at(t->diags, i);
        GpPlaceInFile place = gp_span_start(gp_diag_label_at(d, 0).span);
        printf("refused at line %u: %s\n", place.line, gp_diag_title(d));
    }
}

static void work(GpSession *s, void *ud) {
    Tool *t = ud;
    (void)s;
    bool refuses = strstr(t->src->text, "// DO: refuse") != NULL;
    bool rejects = strstr(t->src->text, "// DO: reject") != NULL;
    t->fn = gp_ir_parse(t->arena, t->src, t->diags);
    if (!t->fn || refuses) {
        if (t->fn || !refuses) fail(t, t->fn ? "the parser accepts it" : "the parser refuses it");
        print_diags(t);
        return;
    }
    if (!rejects && !verify(t, "it does not verify")) return;
    check_round_trip(t);
    each_directive(t, "GRID:", set_grid);
    each_directive(t, "BLOCK:", set_block);
    each_directive(t, "ARG:", read_arg);
    each_directive(t, "DO:", obey);
}

static GpSource *read_file(GpSession *s, const char *path) {
    FILE *f = fopen(path, "rb");
    if (!f) return NULL;
    char text[65536];
    size_t len = fread(text, 1, sizeof text, f);
    fclose(f);
    const char *name = strrchr(path, '/');
    return gp_source_new(s, name ? name + 1 : path, text, len, 1, 1);
}

int main(int argc, char **argv) {
    GpSession session;
    Tool t = {.session = &session, .grid = {{1, 1, 1}, {1, 1, 1}}};
    gp_session_init(&session, NULL, NULL, &(GpHooks){.write = add_output, .ud = &t});
    t.src = argc == 2 ? read_file(&session, argv[1]) : NULL;
    t.arena = gp_arena_new(&session);
    t.diags = gp_diags_new(&session);
    if (!t.src || !t.arena || !t.diags) return 2;
    if (gp_protect(&session, work, &t) != GpStatus_Ok) fail(&t, "a hard limit");
    gp_diags_release(t.diags);
    gp_arena_free(t.arena);
    gp_source_release(t.src);
    if (session.bytes != 0) fail(&t, "memory was not given back");
    return t.status;
}
