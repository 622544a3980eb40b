/* Random tile programs: what a pass makes of one must verify, read back from its text, and print
** and leave in memory what the program did before. */
#include "dsl/ir/ir_text.h"
#include "dsl/ir/pass.h"
#include "spec/unit/unit.h"

enum { PROGRAMS = 400, STEPS = 40, MAX_VALUES = 64, MEMORY = 64, ROWS = 5, COLUMNS = 7 };

static const GpElem elems[] = {GpElem_I32, GpElem_F32, GpElem_F16, GpElem_I8, GpElem_Bool};

typedef struct Make {
    GpBuilder b;
    uint64_t seed;
    GpValue *values[MAX_VALUES]; /* tiles in scope */
    uint32_t count;
    GpValue *address, *tensor, *scalars[2], *flag; /* parameters */
    int depth;
} Make;

static uint32_t pick(Make *m, uint32_t below) {
    m->seed ^= m->seed << 13;
    m->seed ^= m->seed >> 7;
    m->seed ^= m->seed << 17;
    return (uint32_t)(m->seed >> 11) % below;
}

static void keep(Make *m, GpValue *v) {
    if (m->count < MAX_VALUES) m->values[m->count++] = v;
    else m->values[pick(m, MAX_VALUES)] = v;
}

/* A recent value more often than an old one. */
static GpValue *any(Make *m) {
    uint32_t first = pick(m, m->count), second = pick(m, m->count);
    uint32_t back = GP_MIN(first, second);
    return m->values[m->count - 1 - back];
}

static GpValue *build(Make *m, GpOp op, GpValue *const *x, uint32_t n, const GpIrType *type) {
    return gp_build(&m->b, op, x, n, &type, 1)->results[0];
}

static GpScalar some_scalar(Make *m, GpElem elem) {
    static const double numbers[] = {0, -0.0, 1, -1, 2, 0.5, 3, 100, -7};
    double v = numbers[pick(m, GP_COUNT(numbers))];
    if (gp_elem_is_float(elem)) return (GpScalar){.elem = elem, .f = v};
    GpScalar s = {.elem = elem, .i = elem == GpElem_Bool ? v != 0 : (int64_t)v};
    return s;
}

static GpValue *constant(Make *m, GpElem elem) {
    return gp_build_const(&m->b, gp_ir_scalar(m->b.fn, elem), some_scalar(m, elem));
}

static GpValue *int_const(Make *m, int64_t v) { return gp_build_int(&m->b, GpElem_I32, v); }

/* ---- A step each ------------------------------------------------------------------------------ */

static void make_source(Make *m) {
    GpShape shape = {.rank = (uint8_t)pick(m, 3)};
    for (int a = 0; a < shape.rank; a++) shape.dim[a] = 1 + pick(m, 4);
    GpElem elem = elems[pick(m, GP_COUNT(elems))];
    const GpIrType *type = gp_ir_tile(m->b.fn, elem, &shape);
    GpValue *x = elem == GpElem_I32 || elem == GpElem_F32 ? m->scalars[elem == GpElem_F32] : NULL;
    if (x && pick(m, 2)) keep(m, build(m, GpOp_Splat, &x, 1, type));
    else keep(m, gp_build_const(&m->b, type, some_scalar(m, elem)));
}

static void make_elementwise(Make *m) {
    static const GpOp ops[] = {GpOp_Add, GpOp_Mul, GpOp_Sub, GpOp_Max, GpOp_Min, GpOp_And};
    GpValue *x = any(m), *y = any(m);
    if (x->type != y->type) y = x;
    GpOp op = ops[pick(m, GP_COUNT(ops))];
    if (gp_sig_takes(gp_op_info[op].sig, x->type->elem)) keep(m, gp_build2(&m->b, op, x, y));
    else keep(m, gp_build_cast(&m->b, x, elems[pick(m, 4)]));
    if (pick(m, 3) == 0) {
        GpValue *c = gp_build_cmp(&m->b, (GpPred)pick(m, GP_PRED_COUNT), x, y);
        keep(m, gp_build_select(&m->b, c, y, x));
    }
}

static void make_permute(Make *m) {
    GpValue *x = any(m);
    GpShape shape = x->type->shape;
    GpPerm perm = {.rank = shape.rank};
    for (uint8_t a = 0; a < shape.rank; a++) {
        uint32_t at = pick(m, a + 1u);
        perm.axis[a] = perm.axis[at];
        perm.axis[at] = a;
    }
    for (int k = 0; k < perm.rank; k++) shape.dim[k] = x->type->shape.dim[perm.axis[k]];
    GpValue *v = build(m, GpOp_Permute, &x, 1, gp_ir_tile(m->b.fn, x->type->elem, &shape));
    v->inst->perm = perm;
    keep(m, v);
}

static void make_cat(Make *m) {
    GpValue *x = any(m), *y = any(m);
    GpShape shape = x->type->shape;
    if (shape.rank == 0) return;
    uint8_t axis = (uint8_t)pick(m, shape.rank);
    bool fits = y->type->elem == x->type->elem && y->type->shape.rank == shape.rank;
    for (int a = 0; fits && a < shape.rank; a++)
        fits = a == axis || y->type->shape.dim[a] == shape.dim[a];
    if (!fits) y = x;
    shape.dim[axis] += y->type->shape.dim[axis];
    if (shape.dim[axis] > 16) return;
    GpValue *both[] = {x, y};
    GpValue *v = build(m, GpOp_Cat, both, 2, gp_ir_tile(m->b.fn, x->type->elem, &shape));
    v->inst->axis = axis;
    keep(m, v);
}

static void make_extract(Make *m) {
    GpValue *x = any(m), *operands[1 + GP_MAX_RANK] = {x};
    GpShape shape = x->type->shape;
    for (int a = 0; a < shape.rank; a++) {
        operands[1 + a] = pick(m, 2) ? m->scalars[0] : int_const(m, pick(m, 3));
        if (shape.dim[a] % 2 == 0 && pick(m, 2)) shape.dim[a] /= 2;
    }
    keep(m, build(m, GpOp_ExtractTile, operands, 1u + shape.rank,
                  gp_ir_tile(m->b.fn, x->type->elem, &shape)));
}

/* acc and x by one operation, or acc and x times what is captured from outside. */
static void make_body(Make *m, GpInst *inst, GpElem elem, GpValue *captured) {
    static const GpOp ops[] = {GpOp_Add, GpOp_Max, GpOp_Min, GpOp_Mul};
    GpRegion *r = gp_ir_region(m->b.fn);
    GpValue *acc = gp_ir_region_param(m->b.fn, r, gp_ir_scalar(m->b.fn, elem), "acc");
    GpValue *x = gp_ir_region_param(m->b.fn, r, acc->type, "x");
    gp_ir_set_regions(m->b.fn, inst, &r, 1);
    GpBuilder outer = m->b;
    m->b.region = r;
    m->b.before = NULL;
    if (elem == GpElem_Bool) {
        acc = gp_build2(&m->b, pick(m, 2) ? GpOp_And : GpOp_Xor, acc, x);
    } else {
        if (pick(m, 3) == 0) x = gp_build2(&m->b, GpOp_Mul, x, captured);
        if (pick(m, 6) == 0) x = gp_build2(&m->b, GpOp_Add, x, constant(m, elem));
        acc = gp_build2(&m->b, ops[pick(m, GP_COUNT(ops))], acc, x);
    }
    gp_build(&m->b, GpOp_Yield, &acc, 1, NULL, 0);
    m->b = outer;
}

static void make_reduction(Make *m) {
    GpValue *x = any(m);
    GpShape shape = x->type->shape;
    if (shape.rank == 0) return;
    GpElem elem = x->type->elem;
    uint8_t axis = (uint8_t)pick(m, shape.rank);
    GpValue *identity = constant(m, elem), *operands[] = {x, identity};
    bool scans = pick(m, 2);
    if (!scans) {
        shape.rank--;
        for (int a = axis; a < shape.rank; a++) shape.dim[a] = x->type->shape.dim[a + 1];
        shape.dim[shape.rank] = 0;
    }
    uint64_t seed = m->seed;
    int times = pick(m, 3) == 0 ? 2 : 1; /* the same one again, for cse */
    for (int i = 0; i < times; i++) {
        m->seed = i ? seed : m->seed;
        GpValue *v = build(m, scans ? GpOp_Scan : GpOp_Reduce, operands, 2,
                           gp_ir_tile(m->b.fn, elem, &shape));
        v->inst->axis = axis;
        v->inst->is_reverse = scans && pick(m, 2);
        make_body(m, v->inst, elem, identity);
        keep(m, v);
    }
}

static void make_mma(Make *m) {
    GpValue *x = any(m);
    GpElem elem = x->type->elem, acc = elem == GpElem_I8 ? GpElem_I32 : GpElem_F32, sum;
    if (x->type->shape.rank != 2 || !gp_mma_find(elem, elem, acc, &sum)) return;
    int64_t rows = x->type->shape.dim[0];
    GpShape turned = {.dim = {x->type->shape.dim[1], rows}, .rank = 2};
    GpShape square = {.dim = {rows, rows}, .rank = 2};
    GpValue *y = build(m, GpOp_Permute, &x, 1, gp_ir_tile(m->b.fn, elem, &turned));
    y->inst->perm = (GpPerm){{1, 0}, 2};
    const GpIrType *type = gp_ir_tile(m->b.fn, acc, &square);
    GpValue *c = gp_build_const(&m->b, type, some_scalar(m, acc));
    keep(m, build(m, GpOp_Mma, (GpValue *[]){x, y, c}, 3, type));
}

/* Offsets inside of the memory, and a mask, in the shape of an i32 tile. */
static void make_places(Make *m, GpValue *x, GpValue **offsets, GpValue **mask) {
    const GpIrType *ints = gp_ir_tile(m->b.fn, GpElem_I32, &x->type->shape);
    GpValue *limit = gp_build_const(&m->b, ints, (GpScalar){.elem = GpElem_I32, .i = MEMORY - 1});
    *offsets = gp_build_cast(&m->b, gp_build2(&m->b, GpOp_And, x, limit), GpElem_I64);
    const GpIrType *bools = gp_ir_tile(m->b.fn, GpElem_Bool, &x->type->shape);
    GpScalar on = {.elem = GpElem_Bool, .u = pick(m, 2)};
    *mask = pick(m, 3) ? gp_build_cmp(&m->b, GpPred_Lt, x, limit)
                       : gp_build_const(&m->b, bools, on);
}

static void make_access(Make *m) {
    GpValue *x = any(m), *offsets, *mask;
    if (x->type->elem != GpElem_I32) return;
    make_places(m, x, &offsets, &mask);
    GpValue *operands[] = {m->address, offsets, x, mask, mask};
    GpInst *inst = NULL;
    switch (pick(m, 4)) {
    case 0:
        operands[2] = mask;
        operands[3] = m->scalars[0];
        inst = gp_build(&m->b, GpOp_Gather, operands, 4, &x->type, 1);
        inst->ordering = pick(m, 4) ? GpOrdering_Weak : GpOrdering_Relaxed;
        break;
    case 1: inst = gp_build(&m->b, GpOp_Scatter, operands, 4, NULL, 0); break;
    case 2:
        inst = gp_build(&m->b, GpOp_AtomicRmw, operands, 4, &x->type, 1);
        inst->atomic = (GpAtomic)pick(m, GpAtomic_count);
        inst->ordering = GpOrdering_Relaxed;
        break;
    case 3:
        operands[3] = x;
        inst = gp_build(&m->b, GpOp_AtomicCas, operands, 5, &x->type, 1);
        inst->ordering = GpOrdering_AcqRel;
        break;
    }
    gp_assert(inst != NULL);
    if (inst->result_count) keep(m, inst->results[0]);
}

static void make_tile_access(Make *m) {
    GpValue *x = any(m), *at[2];
    for (int a = 0; a < 2; a++) at[a] = int_const(m, (int64_t)pick(m, 4) - 1);
    GpScalar on = {.elem = GpElem_Bool, .u = pick(m, 2)};
    GpValue *mask = pick(m, 2) ? m->flag
                               : gp_build_const(&m->b, gp_ir_scalar(m->b.fn, GpElem_Bool), on);
    uint32_t masked = pick(m, 2);
    GpInst *inst;
    if (x->type->elem == GpElem_F32 && x->type->shape.rank == 2) {
        inst = gp_build(&m->b, GpOp_StoreTile, (GpValue *[]){m->tensor, x, at[0], at[1], mask},
                        4 + masked, NULL, 0);
    } else {
        GpShape shape = {.dim = {1 + pick(m, 3), 1 + pick(m, 3)}, .rank = 2};
        const GpIrType *type = gp_ir_tile(m->b.fn, GpElem_F32, &shape);
        inst = gp_build(&m->b, GpOp_LoadTile, (GpValue *[]){m->tensor, at[0], at[1], mask},
                        3 + masked, &type, 1);
        if (pick(m, 2)) inst->imm = some_scalar(m, GpElem_F32);
        keep(m, inst->results[0]);
    }
    inst->by_element = pick(m, 2);
}

static void make_print(Make *m) {
    GpValue *x[] = {any(m), any(m)};
    gp_build(&m->b, GpOp_Print, x, 2, NULL, 0)->text = "{} {}\n";
}

static void make_steps(Make *m, int steps);

static void make_if(Make *m) {
    if (m->depth == 2) return;
    GpInst *inst = gp_build(&m->b, GpOp_If, &m->flag, 1, NULL, 0);
    GpRegion *regions[2] = {gp_ir_region(m->b.fn), gp_ir_region(m->b.fn)};
    gp_ir_set_regions(m->b.fn, inst, regions, 2);
    Make outer = *m;
    for (int side = 0; side < 2; side++) {
        memcpy(m->values, outer.values, sizeof m->values);
        m->count = outer.count;
        m->b.region = regions[side];
        m->depth = outer.depth + 1;
        make_steps(m, 6);
        make_print(m);
        gp_build(&m->b, GpOp_Yield, NULL, 0, NULL, 0);
    }
    outer.seed = m->seed;
    *m = outer;
}

static void make_steps(Make *m, int steps) {
    static void (*const makers[])(Make *) = {
        make_source, make_elementwise, make_elementwise, make_permute,     make_permute,
        make_cat,    make_extract,     make_reduction,   make_reduction,   make_mma,
        make_access, make_access,      make_tile_access, make_tile_access, make_print, make_if};
    for (int i = 0; i < steps; i++) makers[pick(m, GP_COUNT(makers))](m);
}

static GpIrFn *make_program(GpArena *arena, uint64_t seed) {
    GpIrFn *fn = gp_ir_fn_make(arena, "f", GpTrack_Tile, GP_NO_SPAN);
    Make m = {.b = {.fn = fn, .region = fn->body}, .seed = seed * UINT64_C(0x9E3779B97F4A7C15) | 1};
    GpShape any_shape = {.dim = {GP_DYNAMIC, GP_DYNAMIC}, .rank = 2};
    GpIrParam base = {.kind = GpParam_Base, .is_written = true};
    m.address = gp_ir_add_param(fn, gp_ir_ptr(fn, GpElem_I32, GpSpace_Global), base, "p");
    base.arg = 1;
    m.tensor = gp_ir_add_param(fn, gp_ir_tensor(fn, GpElem_F32, &any_shape), base, "t");
    GpIrParam scalar = {.kind = GpParam_Scalar, .arg = 2};
    m.scalars[0] = gp_ir_add_param(fn, gp_ir_scalar(fn, GpElem_I32), scalar, "i");
    m.scalars[1] = gp_ir_add_param(fn, gp_ir_scalar(fn, GpElem_F32), scalar, "x");
    m.flag = gp_ir_add_param(fn, gp_ir_scalar(fn, GpElem_Bool), scalar, "flag");
    for (int i = 0; i < 4; i++) make_source(&m);
    make_steps(&m, STEPS);
    for (int i = 0; i < 4; i++) make_print(&m);
    gp_build(&m.b, GpOp_Return, NULL, 0, NULL, 0);
    return fn;
}

/* ---- Running ---------------------------------------------------------------------------------- */

typedef struct World {
    GpText text; /* what was printed, then the memory */
    int32_t memory[MEMORY];
    float tensor[ROWS * COLUMNS];
} World;

static void add_output(void *ud, const char *text, size_t len) {
    World **world = ud;
    gp_text_add(&(*world)->text, text, len);
}

static void run(const GpIrFn *fn, bool flag, World *world, World **now) {
    *now = world;
    world->text.len = 0;
    for (int i = 0; i < MEMORY; i++) world->memory[i] = i * 37 % 101 - 50;
    for (int i = 0; i < ROWS * COLUMNS; i++) world->tensor[i] = (float)i * 0.25f;
    struct {
        void *address, *base;
        int32_t dim[2];
        int64_t stride[2];
        int32_t i;
        float x;
        bool flag;
    } params = {world->memory, world->tensor, {ROWS, COLUMNS}, {COLUMNS, 1}, 3, 1.5f, flag};
    gp_interp_run(fn, (const uint8_t *)&params, &(GpGrid){{1, 1, 1}, {1, 1, 1}}, 0, 1, NULL);
}

static bool is_same_memory(const void *a, const void *b, size_t len) {
    return memcmp(a, b, len) == 0;
}

static bool is_same_world(const World *a, const World *b) {
    return a->text.len == b->text.len && is_same_memory(a->text.at, b->text.at, a->text.len) &&
           is_same_memory(a->memory, b->memory, sizeof a->memory) &&
           is_same_memory(a->tensor, b->tensor, sizeof a->tensor);
}

typedef struct Test {
    GpSession *session;
    GpArena *arena;
    World *before, *after, **now;
    uint64_t seed;
} Test;

static void must(const Test *t, const GpIrFn *fn, const char *pass, bool ok, const char *what) {
    if (ok) return;
    GpText text = {.session = t->session};
    gp_ir_print(fn, &text);
    print_message("program %llu, %s: %s\n%s", (unsigned long long)t->seed, pass, what,
                  gp_text_cstr(&text));
    fail();
}

static void check_text(const Test *t, const GpIrFn *fn, const char *pass) {
    GpText first = {.session = t->session}, second = {.session = t->session};
    GpDiags *diags = gp_diags_new(t->session);
    gp_ir_print(fn, &first);
    GpSource *src = gp_source_new(t->session, "printed", first.at, first.len, 1, 1);
    GpIrFn *again = gp_ir_parse(t->arena, src, diags);
    must(t, fn, pass, again != NULL, "its text does not parse");
    gp_ir_print(again, &second);
    must(t, fn, pass, strcmp(gp_text_cstr(&first), gp_text_cstr(&second)) == 0,
         "its text reads back differently");
    gp_source_release(src);
    gp_diags_release(diags);
    gp_text_free(&first);
    gp_text_free(&second);
}

/* After pass number `pass`, or after all of them. */
static void check_pass(const Test *t, const GpIrFn *fn, uint32_t pass, bool flag) {
    GpText why = {.session = t->session};
    GpIrFn *changed = gp_ir_clone(t->arena, fn);
    const char *name = pass < gp_pass_count ? gp_pass_info[pass].name : "optimize";
    if (pass < gp_pass_count) (void)gp_pass_info[pass].run(changed);
    else gp_ir_run_passes(changed, GpPassStage_Optimize);
    must(t, changed, name, gp_ir_verify(changed, &why), gp_text_cstr(&why));
    gp_text_free(&why);
    check_text(t, changed, name);
    run(changed, flag, t->after, t->now);
    must(t, changed, name, is_same_world(t->before, t->after), "the result is another");
}

static void check_program(Test *t) {
    GpText why = {.session = t->session};
    GpIrFn *fn = make_program(t->arena, t->seed);
    must(t, fn, "as made", gp_ir_verify(fn, &why), gp_text_cstr(&why));
    gp_text_free(&why);
    check_text(t, fn, "as made");
    for (int flag = 0; flag < 2; flag++) {
        run(fn, flag, t->before, t->now);
        for (uint32_t pass = 0; pass <= gp_pass_count; pass++) {
            bool rounds = pass < gp_pass_count && gp_pass_info[pass].stage == GpPassStage_Semantic;
            if (!rounds) check_pass(t, fn, pass, flag);
        }
    }
}

static void check_programs(GpSession *s, void *ud) {
    static World before, after;
    before.text.session = after.text.session = s;
    for (uint64_t seed = 1; seed <= PROGRAMS; seed++) {
        Test t = {.session = s, .arena = gp_arena_new(s), .before = &before, .after = &after,
                  .now = ud, .seed = seed};
        check_program(&t);
        gp_arena_free(t.arena);
    }
    gp_text_free(&before.text);
    gp_text_free(&after.text);
}

static void test_passes_keep_results(void **state) {
    (void)state;
    GpSession session;
    World *now = NULL;
    gp_session_init(&session, NULL, NULL, &(GpHooks){.write = add_output, .ud = &now});
    assert_int_equal(gp_protect(&session, check_programs, &now), GpStatus_Ok);
    assert_int_equal(session.bytes, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_passes_keep_results)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
