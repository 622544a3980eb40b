/* gp_codegen_tool: what the code generation specs run. Testing builds only.
**
**   emit STAGE TARGET FILE   prints ir, ir-opt, llvm, llvm-opt, ptx or asm of the function in FILE
**   time TARGET FILE         milliseconds of processor time of a compile: first, best of the rest
**   keys FILE                the cache keys of the function in FILE are those of its targets
**   ops                      every elementwise operation on every element type and both tracks:
**                            CPU image against the interpreter on random data
**   agree FILE [OUT]         the function in FILE on random data, CPU image against interpreter:
**                              // DIMS: e e ..   extents (or length) of the next argument
**                              // GRID: x y z  // BLOCK: x y z
**                              // ARG: elem [shape e e ..] = value ..   the next argument itself
**                              // ULP: n   distance that floats may have; 0 when not given
**                            arguments and mailbox must come out equal
**   accuracy [STEP]          the f32 functions that the CPU computes inline, at every STEP-th f32
**                            (1021 when not given) and at each power of two and its neighbours:
**                            distance to the C library's double functions, specials the same
**   vectors OUT              `ops`, and its largest cases as records that gpu_vectors.py runs on a
**                            GPU: PTX, parameter block, memory before and after
**
** With OUT, agree appends a record for sm_90a to that file. A refusal is printed as `refused CODE:
*TITLE` and gives exit status 3. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "dsl/ir/eval.h"
#include "spec/codegen/gp_codegen_tool.h"

/* Milliseconds of processor time: other programs on the machine do not count. */
static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

void print_diags(Tool *t) {
    for (uint32_t i = 0; i < gp_diags_count(t->diags); i++) {
        const GpDiag *d = gp_diags_at(t->diags, i);
        printf("refused %s: %s\n", gp_diag_row(gp_diag_code(d))->code, gp_diag_title(d));
    }
    t->status = 3;
}

GpIrFn *parse_file(Tool *t, const char *path) {
    FILE *f = fopen(path, "rb");
    if (!f)
        return NULL;
    static char text[65536];
    size_t len = fread(text, 1, sizeof text, f);
    fclose(f);
    const char *name = strrchr(path, '/');
    GpSource *src = gp_source_new(t->session, name ? name + 1 : path, text, len, 1, 1);
    GpIrFn *fn = gp_ir_parse(t->arena, src, t->diags);
    t->src = src; /* spans point into it */
    if (!fn)
        print_diags(t);
    return fn;
}

static bool find_stage(const char *name, GpStage *out) {
    static const char *const names[] = {
        [GpStage_Ir] = "ir",     [GpStage_IrOptimized] = "ir-opt",
        [GpStage_Llvm] = "llvm", [GpStage_LlvmOptimized] = "llvm-opt",
        [GpStage_Ptx] = "ptx",   [GpStage_Asm] = "asm"};
    for (size_t i = 0; i < GP_COUNT(names); i++) {
        if (strcmp(names[i], name) != 0)
            continue;
        *out = (GpStage)i;
        return true;
    }
    return false;
}

static void emit(Tool *t) {
    GpStage stage;
    GpTarget target;
    GpText out = {.session = t->session};
    GpIrFn *fn = t->argc == 5 ? parse_file(t, t->argv[4]) : NULL;
    if (!fn || !find_stage(t->argv[2], &stage) ||
        gp_target_parse(gp_str_from(t->argv[3]), &target) != GpStatus_Ok) {
        t->status = t->status ? t->status : 2;
        return;
    }
    GpStatus status = gp_codegen_emit(t->cg, fn, &target, stage, t->diags, &out);
    if (status != GpStatus_Ok)
        print_diags(t);
    fputs(gp_text_cstr(&out), stdout);
    gp_text_free(&out);
}

enum { TIMED_COMPILES = 20 };

static void time_compile(Tool *t) {
    GpTarget target;
    GpIrFn *fn = t->argc == 4 ? parse_file(t, t->argv[3]) : NULL;
    if (!fn || gp_target_parse(gp_str_from(t->argv[2]), &target) != GpStatus_Ok) {
        t->status = 2;
        return;
    }
    double best = 1e9, first = 0;
    for (int i = 0; i < TIMED_COMPILES; i++) {
        GpImage *image;
        double start = now();
        GpStatus status = gp_codegen_compile(t->cg, fn, &target, t->diags, &image);
        double took = now() - start;
        if (status != GpStatus_Ok) {
            print_diags(t);
            return;
        }
        gp_image_release(image);
        if (i == 0)
            first = took;
        else
            best = GP_MIN(best, took);
    }
    printf("first %.2f ms, then %.2f ms\n", first, best);
}

/* Operations */

static uint64_t next_random(uint64_t *state) {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

static GpScalar random_scalar(GpElem elem, uint64_t *state) {
    uint64_t r = next_random(state);
    if (!gp_elem_is_float(elem)) {
        GpScalar v = {.elem = elem, .u = (r & 7) == 0 ? r >> 60 : r >> 3};
        if (elem == GpElem_Bool)
            v.u = r >> 40 & 1;
        return gp_scalar_wrap(v);
    }
    static const double special[] = {0.0, -0.0,  1.0,     -1.0, HUGE_VAL,     -HUGE_VAL,
                                     0.5, 1e-40, 65504.0, 3e38, 2147483648.0, -9.3e18,   1.9e19,
                                     (double)NAN};
    GpScalar v = {.elem = elem};
    if ((r & 15) == 0)
        v.f = special[(r >> 8) % GP_COUNT(special)];
    else
        v.f = ldexp((double)(r >> 11) * 0x1p-53 - 0.5, (int)(r >> 5 & 15) - 4);
    return gp_scalar_wrap(v);
}

void fill(GpElem elem, uint8_t *at, size_t count, uint64_t *state) {
    for (size_t i = 0; i < count; i++)
        gp_scalar_store(random_scalar(elem, state), at + i * gp_elem_info[elem].bytes);
}

static GpIrFn *build_tile(Tool *t, const Case *c) {
    GpIrFn *fn = gp_ir_fn_make(t->arena, "op", GpTrack_Tile, GP_NO_SPAN);
    GpShape dynamic = {{GP_DYNAMIC}, 1}, tile = {{TILE}, 1};
    GpValue *tensor[1 + OPERANDS], *x[OPERANDS];
    for (uint32_t i = 0; i <= c->operands; i++) {
        GpElem elem = i == 0 ? c->to : c->operand_elem[i - 1];
        GpIrParam p = {.kind = GpParam_Base,
                       .arg = (uint8_t)i,
                       .is_written = i == 0,
                       .is_unique = i == 0,
                       .unit_stride = true};
        tensor[i] = gp_ir_add_param(fn, gp_ir_tensor(fn, elem, &dynamic), p, NULL);
    }
    GpBuilder b = {fn, fn->body, NULL, GP_NO_SPAN};
    const GpIrType *i32 = gp_ir_scalar(fn, GpElem_I32);
    GpValue *pid = gp_build(&b, GpOp_ProgramId, NULL, 0, &i32, 1)->results[0];
    for (uint32_t i = 0; i < c->operands; i++) {
        const GpIrType *type = gp_ir_tile(fn, c->operand_elem[i], &tile);
        x[i] =
            gp_build(&b, GpOp_LoadTile, (GpValue *[]){tensor[i + 1], pid}, 2, &type, 1)->results[0];
    }
    const GpIrType *type = gp_ir_tile(fn, c->to, &tile);
    GpInst *inst = gp_build(&b, c->op, x, c->operands, &type, 1);
    inst->pred = c->pred;
    gp_build(&b, GpOp_StoreTile, (GpValue *[]){tensor[0], inst->results[0], pid}, 3, NULL, 0);
    gp_build(&b, GpOp_Return, NULL, 0, NULL, 0);
    return fn;
}

static GpValue *build_index(GpBuilder *b) {
    const GpIrType *u32 = gp_ir_scalar(b->fn, GpElem_U32);
    GpValue *block = gp_build(b, GpOp_BlockId, NULL, 0, &u32, 1)->results[0];
    GpValue *dim = gp_build(b, GpOp_BlockDim, NULL, 0, &u32, 1)->results[0];
    GpValue *thread = gp_build(b, GpOp_ThreadId, NULL, 0, &u32, 1)->results[0];
    GpValue *at = gp_build2(b, GpOp_Add, gp_build2(b, GpOp_Mul, block, dim), thread);
    return gp_build_cast(b, at, GpElem_U64);
}

static GpIrFn *build_simt(Tool *t, const Case *c) {
    GpIrFn *fn = gp_ir_fn_make(t->arena, "op", GpTrack_Simt, GP_NO_SPAN);
    GpValue *base[1 + OPERANDS], *len[1 + OPERANDS], *x[OPERANDS];
    for (uint32_t i = 0; i <= c->operands; i++) {
        GpElem elem = i == 0 ? c->to : c->operand_elem[i - 1];
        GpIrParam p = {
            .kind = GpParam_Base, .arg = (uint8_t)i, .is_written = i == 0, .is_unique = i == 0};
        base[i] = gp_ir_add_param(fn, gp_ir_ptr(fn, elem, GpSpace_Global), p, NULL);
        p.kind = GpParam_Len;
        len[i] = gp_ir_add_param(fn, gp_ir_scalar(fn, GpElem_U64), p, NULL);
    }
    fn->equal_lens = true;
    GpBuilder b = {fn, fn->body, NULL, GP_NO_SPAN};
    GpValue *at = build_index(&b), *in = gp_build_cmp(&b, GpPred_Lt, at, len[0]);
    GpInst *branch = gp_build(&b, GpOp_If, &in, 1, NULL, 0);
    GpRegion *regions[] = {gp_ir_region(fn), gp_ir_region(fn)};
    gp_ir_set_regions(fn, branch, regions, 2);
    GpBuilder then = {fn, regions[0], NULL, GP_NO_SPAN}, other = {fn, regions[1], NULL, GP_NO_SPAN};
    for (uint32_t i = 0; i < c->operands; i++) {
        const GpIrType *ptr = gp_ir_ptr(fn, c->operand_elem[i], GpSpace_Global);
        const GpIrType *elem = gp_ir_scalar(fn, c->operand_elem[i]);
        GpValue *p =
            gp_build(&then, GpOp_PtrAdd, (GpValue *[]){base[i + 1], at}, 2, &ptr, 1)->results[0];
        x[i] = gp_build(&then, GpOp_Load, &p, 1, &elem, 1)->results[0];
    }
    const GpIrType *type = gp_ir_scalar(fn, c->to), *ptr = gp_ir_ptr(fn, c->to, GpSpace_Global);
    GpInst *inst = gp_build(&then, c->op, x, c->operands, &type, 1);
    inst->pred = c->pred;
    GpValue *p = gp_build(&then, GpOp_PtrAdd, (GpValue *[]){base[0], at}, 2, &ptr, 1)->results[0];
    gp_build(&then, GpOp_Store, (GpValue *[]){p, inst->results[0]}, 2, NULL, 0);
    gp_build(&then, GpOp_Yield, NULL, 0, NULL, 0);
    gp_build(&other, GpOp_Yield, NULL, 0, NULL, 0);
    gp_build(&b, GpOp_Return, NULL, 0, NULL, 0);
    return fn;
}

static void run_image(const GpImage *image, uint8_t *const *memory, int64_t count, bool is_tile) {
    static uint64_t block[64];
    GpMailbox mailbox = {0};
    uint32_t size = is_tile ? TILE : 128;
    uint32_t blocks = (uint32_t)gp_ceil_div(count, size);
    Launch l = {.grid = {{blocks, 1, 1}, {is_tile ? 1 : size, 1, 1}}};
    for (uint32_t i = 0; i <= OPERANDS; i++)
        l.shape[i] = (GpShape){{count}, 1};
    pack_launch(image, &l, memory, (uint8_t *)block, &mailbox);
    image->cpu_entry(image->cpu_self, (const uint8_t *)block, &l.grid, 0, blocks, NULL);
}

/* Distance in units of the last place of `elem`'s type; equal NaNs are 0. */
static double distance(GpElem elem, GpScalar a, GpScalar b) {
    if (!gp_elem_is_float(elem))
        return a.u == b.u ? 0 : HUGE_VAL;
    if (isnan(a.f) && isnan(b.f))
        return 0;
    if (a.f == b.f)
        return signbit(a.f) == signbit(b.f) ? 0 : HUGE_VAL;
    if (isnan(a.f) || isnan(b.f) || isinf(a.f) || isinf(b.f))
        return HUGE_VAL;
    int digits = elem == GpElem_F64 ? 53 : elem == GpElem_F32 ? 24 : elem == GpElem_BF16 ? 8 : 11;
    return fabs(a.f - b.f) / ldexp(1.0, GP_MAX(ilogb(b.f), -126) - digits + 1);
}

static bool is_inexact(GpOp op) {
    return op == GpOp_Exp2Flush || op == GpOp_RcpFlush || op == GpOp_Log2Flush || op == GpOp_TanhApprox ||
           (gp_op_info[op].surface != GpSurface_None && op != GpOp_Sqrt && op != GpOp_Floor &&
            op != GpOp_Ceil && op != GpOp_Trunc && op != GpOp_Round);
}

void compare(Tool *t, const Case *c, const Outcome *o) {
    double worst = 0;
    int64_t at = 0;
    size_t bytes = gp_elem_info[c->to].bytes;
    for (int64_t i = 0; i < o->count; i++) {
        double d = distance(c->to, gp_scalar_load(c->to, o->got + (size_t)i * bytes),
                            gp_scalar_load(c->to, o->want + (size_t)i * bytes));
        if (d > worst)
            worst = d, at = i;
    }
    if (worst <= o->bound)
        return;
    t->status = 1;
    GpText text = {.session = t->session};
    gp_scalar_print(gp_scalar_load(c->to, o->got + (size_t)at * bytes), &text);
    gp_text_puts(&text, " instead of ");
    gp_scalar_print(gp_scalar_load(c->to, o->want + (size_t)at * bytes), &text);
    printf("FAILED %s %s %s -> %s pred %d, %lld elements: %g ulp, [%lld] is %s\n",
           o->track, gp_op_info[c->op].name, gp_elem_info[c->from].name, gp_elem_info[c->to].name,
           (int)c->pred, (long long)o->count, worst, (long long)at, gp_text_cstr(&text));
    gp_text_free(&text);
}

static uint8_t guard_after(const uint8_t *memory, size_t bytes) {
    uint8_t bad = 0;
    for (size_t i = bytes; i < bytes + 64; i++)
        bad |= memory[i] ^ 0xa5;
    return bad;
}

static void record_case(Tool *t, const Case *c, const GpIrFn *fn, bool is_tile,
                        uint8_t (*inputs)[MAX_COUNT * 8 + 64],
                        uint8_t (*results)[MAX_COUNT * 8 + 64]) {
    uint32_t size = is_tile ? TILE : 128;
    Launch l = {.fn = fn, .args = c->operands + 1, .bound = is_inexact(c->op) ? 4 : 0};
    l.grid = (GpGrid){{(MAX_COUNT + size - 1) / size, 1, 1}, {is_tile ? 1 : size, 1, 1}};
    l.name = gp_arena_printf(t->arena, "%s %s %s %s %d", is_tile ? "tile" : "simt",
                             gp_op_info[c->op].name, gp_elem_info[c->from].name,
                             gp_elem_info[c->to].name, (int)c->pred);
    for (uint32_t i = 0; i < l.args; i++) {
        l.elem[i] = i == 0 ? c->to : c->operand_elem[i - 1];
        l.shape[i] = (GpShape){{MAX_COUNT}, 1};
        l.bytes[i] = (size_t)MAX_COUNT * gp_elem_info[l.elem[i]].bytes;
        l.before[i] = inputs[i];
        l.after[i] = results[i];
    }
    write_record(t, &l);
}

static void run_case(Tool *t, const Case *c, bool is_tile) {
    static const int64_t sizes[] = {1, 7, 1000, MAX_COUNT};
    static uint8_t memory[2][1 + OPERANDS][MAX_COUNT * 8 + 64];
    GpTarget cpu = {.kind = GpTarget_Cpu}, interp = {.kind = GpTarget_Interp};
    GpImage *image = NULL, *oracle = NULL;
    GpIrFn *fn = is_tile ? build_tile(t, c) : build_simt(t, c);
    if (gp_codegen_compile(t->cg, fn, &cpu, t->diags, &image) != GpStatus_Ok ||
        gp_codegen_compile(t->cg, fn, &interp, t->diags, &oracle) != GpStatus_Ok) {
        printf("%s on %s\n", gp_op_info[c->op].name, gp_elem_info[c->from].name);
        print_diags(t);
        return;
    }
    uint64_t state = 88172645463325252u + (uint64_t)c->op;
    for (size_t s = 0; s < GP_COUNT(sizes); s++) {
        uint8_t *at[2][1 + OPERANDS];
        for (uint32_t i = 0; i <= c->operands; i++) {
            at[0][i] = memory[0][i], at[1][i] = memory[1][i];
            memset(memory[0][i], 0xa5, sizeof memory[0][i]);
            if (i)
                fill(c->operand_elem[i - 1], at[0][i], (size_t)sizes[s], &state);
            memcpy(memory[1][i], memory[0][i], sizeof memory[0][i]);
        }
        run_image(image, at[0], sizes[s], is_tile);
        run_image(oracle, at[1], sizes[s], is_tile);
        Outcome o = {is_tile ? "tile" : "simt", at[0][0], at[1][0], sizes[s],
                     is_inexact(c->op) ? 2 : 0};
        compare(t, c, &o);
        if (guard_after(at[0][0], (size_t)sizes[s] * gp_elem_info[c->to].bytes)) {
            printf("FAILED %s writes beyond its tensor\n", gp_op_info[c->op].name);
            t->status = 1;
        }
    }
    record_case(t, c, fn, is_tile, memory[0], memory[1]);
    gp_image_release(image);
    gp_image_release(oracle);
}

static void run_both(Tool *t, Case c) {
    GpMark mark = gp_arena_mark(t->arena);
    run_case(t, &c, true);
    run_case(t, &c, false);
    gp_arena_restore(t->arena, mark);
}

static Case same_case(GpOp op, GpElem elem, uint32_t operands) {
    return (Case){.op = op,
                  .from = elem,
                  .to = elem,
                  .operands = operands,
                  .operand_elem = {elem, elem, elem}};
}

static void run_predicates(Tool *t, Case c) {
    c.to = GpElem_Bool;
    for (int p = 0; p < GP_PRED_COUNT; p++)
        c.pred = (GpPred)p, run_both(t, c);
}

static bool converts(GpOp op, GpElem from, GpElem to) {
    bool is_same_width = gp_elem_info[to].bits == gp_elem_info[from].bits;
    if (op == GpOp_Bitcast)
        return is_same_width && to != GpElem_Bool && from != GpElem_Bool;
    return to != GpElem_Bool || from == GpElem_Bool;
}

static void run_conversions(Tool *t, Case c) {
    for (int to = 0; to < GpElem_count; to++) {
        c.to = (GpElem)to;
        if (converts(c.op, c.from, c.to))
            run_both(t, c);
    }
}

static void run_op(Tool *t, GpOp op, GpElem elem) {
    GpSig sig = gp_op_info[op].sig;
    if (!gp_sig_info[sig].elementwise || !gp_sig_takes(sig, elem))
        return;
    Case c = same_case(op, elem, gp_eval_arity(sig));
    if (sig == GpSig_Select)
        c.operand_elem[0] = GpElem_Bool;
    if (sig == GpSig_Cmp)
        run_predicates(t, c);
    else if (sig == GpSig_Cast || sig == GpSig_Bitcast)
        run_conversions(t, c);
    else
        run_both(t, c);
}

static void run_ops(Tool *t) {
    for (int op = 0; op < GpOp_count; op++) {
        if (t->argc > 2 && strcmp(gp_op_info[op].name, t->argv[2]) != 0)
            continue;
        for (int elem = 0; elem < GpElem_count; elem++)
            run_op(t, (GpOp)op, (GpElem)elem);
    }
    if (!t->status)
        puts("every operation agrees with the interpreter");
}

static void write_vectors(Tool *t) {
    if (t->argc != 3 || !(t->records = fopen(t->argv[2], "wb"))) {
        t->status = 2;
        return;
    }
    t->argc = 2;
    run_ops(t);
    fclose(t->records);
}

/* The same function for the same target has one key; another target or tile another. */
static void check_keys(Tool *t) {
    static const char *const names[] = {"cpu", "interp", "sm_80", "sm_90", "sm_90a"};
    enum { NAMES = GP_COUNT(names), KEYS = 2 * NAMES };
    uint8_t key[KEYS][32];
    GpIrFn *fn = t->argc == 3 ? parse_file(t, t->argv[2]) : NULL;
    for (int i = 0; i < KEYS && fn; i++) {
        GpTarget target;
        (void)gp_target_parse(gp_str_from(names[i % NAMES]), &target);
        if (gp_codegen_key(t->cg, fn, &target, key[i]) != GpStatus_Ok)
            t->status = 2;
        for (int j = 0; j < i; j++) {
            bool is_same = memcmp(key[i], key[j], sizeof key[i]) == 0;
            if (is_same == (i % NAMES == j % NAMES))
                continue;
            printf("FAILED: keys of %s and %s\n", names[i % NAMES], names[j % NAMES]);
            t->status = 1;
        }
    }
    if (!fn)
        t->status = 2;
}

/* One function of one argument that has an exact-enough reference. */
typedef struct Inline {
    GpOp op;
    double (*reference)(double);
    double bound; /* in units of the last place of the exact value */
} Inline;
static const Inline inlines[] = {{GpOp_Exp, exp, 1.0},   {GpOp_Exp2, exp2, 1.1},
                                 {GpOp_Log, log, 1.0},   {GpOp_Ln, log, 1.0},
                                 {GpOp_Log2, log2, 1.4}, {GpOp_Log10, log10, 1.1},
                                 {GpOp_Tanh, tanh, 1.6}};
enum { BATCH = 1 << 20 };

static double distance_to_exact(float got, double want) {
    float rounded = (float)want;
    if (isnan(want) || isinf(rounded) || rounded == 0.0f) {
        bool is_same = isnan(want) ? isnan(got) : got == rounded;
        is_same &= isnan(want) || !signbit(got) == !signbit(rounded);
        /* one step beside the largest and the smallest number */
        bool is_near = fabsf(got) == 0x1.fffffep127f || fabsf(got) == 0x1p-149f;
        return is_same ? 0 : is_near && !isinf(want) && want != 0 ? 1 : HUGE_VAL;
    }
    if (!isfinite(got))
        return isinf(got) && fabs(want) > 0x1.fffffep127 ? 1 : HUGE_VAL;
    return fabs((double)got - want) / ldexp(1.0, GP_MAX(ilogb(want), -126) - 23);
}

static uint32_t next_sample(uint64_t *i, uint64_t step) {
    enum { EDGES = 512 * 3 };
    uint64_t n = (*i)++;
    if (n < EDGES)
        return (uint32_t)(n / 3 << 23) + (uint32_t)(n % 3) - 1;
    return (uint32_t)GP_MIN((n - EDGES) * step, UINT64_C(0xffffffff));
}

static void measure_inline(Tool *t, const Inline *f, uint64_t step) {
    Case c = same_case(f->op, GpElem_F32, 1);
    GpTarget cpu = {.kind = GpTarget_Cpu};
    GpImage *image = NULL;
    if (gp_codegen_compile(t->cg, build_tile(t, &c), &cpu, t->diags, &image) != GpStatus_Ok) {
        print_diags(t);
        return;
    }
    static float x[BATCH], y[BATCH];
    double worst = 0;
    float at = 0;
    uint64_t i = 0, count = UINT64_C(0x100000000) / step + UINT64_C(512) * 3 + 1;
    while (i < count) {
        for (int k = 0; k < BATCH; k++) {
            uint32_t bits = next_sample(&i, step);
            memcpy(&x[k], &bits, sizeof bits);
        }
        run_image(image, (uint8_t *[]){(uint8_t *)y, (uint8_t *)x}, BATCH, true);
        for (int k = 0; k < BATCH; k++) {
            double d = distance_to_exact(y[k], f->reference((double)x[k]));
            if (d > worst)
                worst = d, at = x[k];
        }
    }
    printf("%s %s: %.3f ulp at %a\n", worst > f->bound ? "FAILED" : "ok", gp_op_info[f->op].name,
           worst, (double)at);
    if (worst > f->bound)
        t->status = 1;
    gp_image_release(image);
}

static void measure_inlines(Tool *t) {
    uint64_t step = t->argc > 2 ? strtoull(t->argv[2], NULL, 10) : 1021;
    for (size_t i = 0; i < GP_COUNT(inlines); i++)
        measure_inline(t, &inlines[i], GP_MAX(step, UINT64_C(1)));
}

static void work(GpSession *s, void *ud) {
    (void)s;
    Tool *t = ud;
    const char *verb = t->argc > 1 ? t->argv[1] : "";
    if (strcmp(verb, "emit") == 0)
        emit(t);
    else if (strcmp(verb, "time") == 0)
        time_compile(t);
    else if (strcmp(verb, "ops") == 0)
        run_ops(t);
    else if (strcmp(verb, "keys") == 0)
        check_keys(t);
    else if (strcmp(verb, "agree") == 0)
        agree(t);
    else if (strcmp(verb, "accuracy") == 0)
        measure_inlines(t);
    else if (strcmp(verb, "vectors") == 0)
        write_vectors(t);
    else
        t->status = 2;
}

int main(int argc, char **argv) {
    GpSession session;
    gp_session_init(&session, NULL, NULL, NULL);
    Tool t = {.session = &session, .argc = argc, .argv = argv};
    t.arena = gp_arena_new(&session);
    t.diags = gp_diags_new(&session);
    t.cg = gp_codegen_new(&session);
    if (!t.arena || !t.diags || !t.cg)
        return 2;
    if (gp_protect(&session, work, &t) != GpStatus_Ok)
        t.status = 4;
    gp_codegen_free(t.cg);
    gp_source_release(t.src);
    gp_diags_release(t.diags);
    gp_arena_free(t.arena);
    return t.status;
}
