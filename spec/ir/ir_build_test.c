/* Building and changing IR through the C interface, and what memory exhaustion leaves behind. */
#include <pthread.h>

#include "dsl/ir/ir_text.h"
#include "dsl/ir/pass.h"
#include "spec/unit/unit.h"

static GpSession session;

static GpIrFn *make_fn(GpArena *arena) {
    GpIrFn *fn = gp_ir_fn_make(arena, "f", GpTrack_Simt, GP_NO_SPAN);
    GpIrParam base = {.kind = GpParam_Base, .arg = 0, .is_written = true};
    gp_ir_add_param(fn, gp_ir_ptr(fn, GpElem_F32, GpSpace_Global), base, "p");
    gp_ir_add_param(fn, gp_ir_scalar(fn, GpElem_U64), (GpIrParam){.kind = GpParam_Len}, "n");
    return fn;
}

static bool verifies(const GpIrFn *fn) {
    GpText why = {.session = &session};
    bool ok = gp_ir_verify(fn, &why);
    if (!ok) print_message("%s\n", gp_text_cstr(&why));
    gp_text_free(&why);
    return ok;
}

static void test_types_are_one_pointer(GpArena *arena) {
    GpIrFn *fn = make_fn(arena);
    GpShape a = {.dim = {4, 8}, .rank = 2}, b = {.dim = {8, 4}, .rank = 2};
    assert_ptr_equal(gp_ir_tile(fn, GpElem_F32, &a), gp_ir_tile(fn, GpElem_F32, &a));
    assert_ptr_not_equal(gp_ir_tile(fn, GpElem_F32, &a), gp_ir_tile(fn, GpElem_F32, &b));
    assert_ptr_not_equal(gp_ir_tile(fn, GpElem_F32, &a), gp_ir_tensor(fn, GpElem_F32, &a));
    assert_ptr_not_equal(gp_ir_ptr(fn, GpElem_F32, GpSpace_Global),
                         gp_ir_ptr(fn, GpElem_F32, GpSpace_Shared));
    for (int64_t n = 1; n <= 1000; n++) {
        GpShape s = {.dim = {n}, .rank = 1};
        const GpIrType *t = gp_ir_tile(fn, GpElem_I32, &s);
        assert_ptr_equal(t, gp_ir_tile(fn, GpElem_I32, &s));
    }
}

static void test_build_and_replace(GpArena *arena) {
    GpIrFn *fn = make_fn(arena);
    GpBuilder b = {.fn = fn, .region = fn->body};
    GpValue *x = gp_build_const(&b, gp_ir_scalar(fn, GpElem_F32),
                                (GpScalar){.elem = GpElem_F32, .f = 2.0});
    GpValue *y = gp_build2(&b, GpOp_Add, x, x);
    GpValue *c = gp_build_cmp(&b, GpPred_Lt, x, y);
    GpValue *s = gp_build_select(&b, c, x, y);
    GpValue *i = gp_build_cast(&b, s, GpElem_I32);
    assert_int_equal(i->type->elem, GpElem_I32);
    assert_int_equal(c->type->elem, GpElem_Bool);
    GpInst *store = gp_build(&b, GpOp_Store, (GpValue *[]){fn->body->params[0], s}, 2, NULL, 0);
    assert_null(gp_ir_terminator(fn->body));
    gp_build(&b, GpOp_Return, NULL, 0, NULL, 0);
    assert_true(verifies(fn));
    assert_int_equal(gp_ir_count_uses(fn, arena)[x->id], 4);
    b.before = store;
    GpValue *z = gp_build1(&b, GpOp_Neg, x);
    s->forward = y;
    y->forward = z;
    gp_ir_apply_forwards(fn);
    assert_ptr_equal(store->operands[1], z);
    gp_ir_remove(i->inst);
    gp_ir_remove(s->inst);
    gp_ir_remove(c->inst);
    gp_ir_remove(y->inst);
    gp_ir_number(fn);
    assert_int_equal(fn->next_id, 4);
    assert_int_equal(z->id, 3);
    assert_true(verifies(fn));
    GpScalar v;
    assert_true(gp_ir_const(x, &v) && v.f == 2.0);
    assert_false(gp_ir_const(z, &v));
}

typedef struct Trace {
    GpOp ops[16];
    int count;
} Trace;
static void note_op(GpInst *inst, void *ud) {
    Trace *t = ud;
    t->ops[t->count++] = inst->op;
}

static void test_walk_orders(GpArena *arena) {
    GpIrFn *fn = make_fn(arena);
    GpBuilder b = {.fn = fn, .region = fn->body};
    GpInst *block = gp_build(&b, GpOp_Block, NULL, 0, NULL, 0);
    gp_build(&b, GpOp_Return, NULL, 0, NULL, 0);
    GpRegion *r = gp_ir_region(fn);
    gp_ir_set_regions(fn, block, &r, 1);
    b.region = r;
    gp_build(&b, GpOp_Yield, NULL, 0, NULL, 0);
    assert_true(verifies(fn));
    Trace before = {.count = 0}, after = {.count = 0};
    gp_ir_walk(fn, GpWalk_Before, note_op, &before);
    gp_ir_walk(fn, GpWalk_After, note_op, &after);
    assert_int_equal(before.count, 3);
    assert_true(before.ops[0] == GpOp_Block && before.ops[1] == GpOp_Yield);
    assert_true(after.ops[0] == GpOp_Yield && after.ops[1] == GpOp_Block);
    assert_false(gp_ir_region_writes(fn->body));
}

/* Rules that no text can break. */
static void test_verifier_on_broken_structure(GpArena *arena) {
    GpText why = {.session = &session};
    GpIrFn *fn = make_fn(arena);
    GpBuilder b = {.fn = fn, .region = fn->body};
    GpValue *x = gp_build_int(&b, GpElem_I32, 1);
    gp_build(&b, GpOp_Return, NULL, 0, NULL, 0);
    GpBuilder first = {.fn = fn, .region = fn->body, .before = x->inst};
    GpValue *early = gp_build1(&first, GpOp_Neg, x);
    assert_false(gp_ir_verify(fn, &why)); /* used before it is defined */
    assert_non_null(strstr(gp_text_cstr(&why), "operand 0 is not defined"));
    gp_ir_remove(early->inst);
    assert_true(verifies(fn));
    uint32_t id = x->id;
    x->id = fn->body->params[0]->id;
    assert_false(verifies(fn));
    x->id = id;
    x->inst->imm.elem = GpElem_I64;
    assert_false(verifies(fn));
    x->inst->imm.elem = GpElem_I32;
    x->inst->parent = NULL;
    assert_false(verifies(fn));
    x->inst->parent = fn->body;
    assert_true(verifies(fn));
    gp_text_free(&why);
}

/* Attributes that no text can give. */
static void test_verifier_on_broken_attributes(GpArena *arena) {
    GpIrFn *fn = gp_ir_fn_make(arena, "f", GpTrack_Tile, GP_NO_SPAN);
    GpShape any = {.dim = {GP_DYNAMIC}, .rank = 1}, four = {.dim = {4}, .rank = 1};
    GpValue *t = gp_ir_add_param(fn, gp_ir_tensor(fn, GpElem_F16, &any),
                                 (GpIrParam){.kind = GpParam_Base}, "t");
    GpValue *p = gp_ir_add_param(fn, gp_ir_ptr(fn, GpElem_I32, GpSpace_Global),
                                 (GpIrParam){.kind = GpParam_Base, .arg = 1}, "p");
    GpBuilder b = {.fn = fn, .region = fn->body};
    GpValue *at = gp_build_int(&b, GpElem_I32, 0), *far = gp_build_int(&b, GpElem_I64, 0);
    GpValue *yes = gp_build_int(&b, GpElem_Bool, 1);
    const GpIrType *tile = gp_ir_tile(fn, GpElem_F16, &four);
    GpInst *load = gp_build(&b, GpOp_LoadTile, (GpValue *[]){t, at}, 2, &tile, 1);
    GpInst *add = gp_build(&b, GpOp_AtomicRmw, (GpValue *[]){p, far, at, yes}, 4, &at->type, 1);
    GpInst *print = gp_build(&b, GpOp_Print, NULL, 0, NULL, 0);
    gp_build(&b, GpOp_Return, NULL, 0, NULL, 0);
    assert_false(verifies(fn)); /* an update cannot be weak */
    add->ordering = GpOrdering_Relaxed;
    assert_false(verifies(fn)); /* no text */
    print->text = "";
    assert_true(verifies(fn));
    assert_true(gp_ir_pad(load).elem == GpElem_F16 && gp_ir_pad(load).u == 0);
    load->imm = (GpScalar){.elem = GpElem_F32, .f = 1};
    assert_false(verifies(fn));
    load->imm.elem = GpElem_F16;
    assert_true(verifies(fn));
    assert_true(gp_ir_pad(load).f == 1.0);
    add->atomic = GpAtomic_count;
    assert_false(verifies(fn));
    add->atomic = GpAtomic_Xor;
    add->scope = GpMemScope_count;
    assert_false(verifies(fn));
    add->scope = GpMemScope_System;
    assert_true(verifies(fn));
}

static const char program[] =
    "fn @f simt (%p: ptr<f32, global> base 0 written, %n: u64 len 0, %x: f32 scalar 1) {\n"
    "  site index 0 \"p[i]\"\n"
    "  %t = thread_id[0] : u32\n  %i = cast %t : u64\n  %in = cmp[lt] %i, %n : bool\n"
    "  if %in {\n    %ok = check_index[site 0] %i, %n : bool\n"
    "    %q = ptr_add %p, %i : ptr<f32, global>\n    %v = load %q, %ok : f32\n"
    "    %m = mul %v, %v : f32\n    %s = add %m, %x : f32\n    store %q, %s, %ok\n"
    "    yield\n  } else {\n    yield\n  }\n  return\n}\n";

typedef struct Compile {
    GpArena *arena;
    GpSource *src;
    GpDiags *diags;
    GpText text; /* its heap is given back here, whatever is thrown */
    bool is_done;
} Compile;

static void compile(GpSession *s, void *ud) {
    (void)s;
    Compile *c = ud;
    GpIrFn *fn = gp_ir_parse(c->arena, c->src, c->diags);
    assert_non_null(fn);
    gp_ir_run_passes(fn, GpPassStage_Semantic);
    gp_ir_run_passes(fn, GpPassStage_Optimize);
    fn = gp_ir_clone(c->arena, fn);
    uint32_t count, bytes;
    gp_ir_abi(fn, c->arena, &count, &bytes);
    assert_int_equal(bytes, 32);
    gp_ir_print(fn, &c->text);
    c->is_done = !c->text.failed;
}

static bool compile_all(GpSession *s) {
    Compile c = {.arena = gp_arena_new(s), .diags = gp_diags_new(s), .text.session = s};
    c.src = gp_source_new(s, "f", program, sizeof program - 1, 1, 1);
    if (c.arena && c.src && c.diags) (void)gp_protect(s, compile, &c);
    gp_diags_release(c.diags);
    gp_source_release(c.src);
    gp_arena_free(c.arena);
    gp_text_free(&c.text);
    return c.is_done;
}

static void test_out_of_memory(GpArena *arena) {
    (void)arena;
    assert_true(fail_every_allocation(compile_all) > 3);
}

static const char counting[] =
    "fn @f tile (%p: ptr<f32, global> base 0 written) {\n"
    "  %at = const[0] : i64\n  %one = const[1] : f32\n  %yes = const[true] : bool\n"
    "  %old = atomic_rmw[add, relaxed, device] %p, %at, %one, %yes : f32\n  return\n}\n";

enum { THREADS = 4, BLOCKS = 4000 };

typedef struct Counter {
    const GpIrFn *fn;
    float *count;
} Counter;

static void *count_blocks(void *ud) {
    Counter *c = ud;
    uint8_t params[8];
    memcpy(params, &c->count, sizeof params);
    gp_interp_run(c->fn, params, &(GpGrid){{BLOCKS, 1, 1}, {1, 1, 1}}, 0, BLOCKS, NULL);
    return NULL;
}

/* Blocks of one launch may be interpreted by several threads. */
static void test_atomics_of_threads(GpArena *arena) {
    GpDiags *diags = gp_diags_new(&session);
    GpSource *src = gp_source_new(&session, "f", counting, sizeof counting - 1, 1, 1);
    float count = 0;
    Counter c = {gp_ir_parse(arena, src, diags), &count};
    assert_non_null(c.fn);
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, count_blocks, &c), 0);
    for (int i = 0; i < THREADS; i++) assert_int_equal(pthread_join(threads[i], NULL), 0);
    assert_true(count == (float)(THREADS * BLOCKS));
    gp_source_release(src);
    gp_diags_release(diags);
}

static void in_protect(GpSession *s, void *ud) {
    void (*test)(GpArena *) = *(void (**)(GpArena *))ud;
    GpArena *arena = gp_arena_new(s);
    test(arena);
    gp_arena_free(arena);
    assert_int_equal(s->bytes, 0);
}

static void with_arena(void (*test)(GpArena *)) {
    gp_session_init(&session, NULL, NULL, NULL);
    assert_int_equal(gp_protect(&session, in_protect, &test), GpStatus_Ok);
}

#define WITH_ARENA(name)                                                                           \
    static void arena_##name(void **state) {                                                       \
        (void)state;                                                                               \
        with_arena(test_##name);                                                                   \
    }
WITH_ARENA(types_are_one_pointer)
WITH_ARENA(build_and_replace)
WITH_ARENA(walk_orders)
WITH_ARENA(verifier_on_broken_structure)
WITH_ARENA(verifier_on_broken_attributes)
WITH_ARENA(atomics_of_threads)
WITH_ARENA(out_of_memory)

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(arena_types_are_one_pointer),
        cmocka_unit_test(arena_build_and_replace),
        cmocka_unit_test(arena_walk_orders),
        cmocka_unit_test(arena_verifier_on_broken_structure),
        cmocka_unit_test(arena_verifier_on_broken_attributes),
        cmocka_unit_test(arena_atomics_of_threads),
        cmocka_unit_test(arena_out_of_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
