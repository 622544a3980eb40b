/* Types and constants: equal ones are one pointer, polynomials have a normal form, unification
** binds what it must and nothing when it fails. */
#include "dsl/check.h"
#include "spec/unit/unit.h"

typedef struct Fixture {
    GpArena *arena;
    GpTypes *ts;
    GpCheck c;
    GpDef a, b, s; /* const A: i32, const B: i32, const S: [i32; 2] */
} Fixture;

static const GpConst *atom(Fixture *f, const GpDef *d, int32_t index) {
    return gp_const_atom(f->ts, (GpAtom){.param = d, .index = index});
}

static void expect_text(Fixture *f, const GpConst *k, const char *want) {
    GpText text = {.session = gp_arena_session(f->arena)};
    gp_const_print(k, &text);
    assert_string_equal(gp_text_cstr(&text), want);
    gp_text_free(&text);
}

static void check_polynomials(Fixture *f) {
    GpTypes *ts = f->ts;
    const GpConst *a = atom(f, &f->a, -1), *b = atom(f, &f->b, -1), *two = gp_const_int(ts, 2);
    const GpConst *sum = gp_const_add(ts, a, b);
    const GpConst *square = gp_const_mul(ts, sum, sum);
    const GpConst *expanded = gp_const_add(
        ts, gp_const_add(ts, gp_const_mul(ts, a, a), gp_const_mul(ts, two, gp_const_mul(ts, b, a))),
        gp_const_mul(ts, b, b));
    int64_t value;
    assert_ptr_equal(square, expanded);
    expect_text(f, square, "A * A + 2 * A * B + B * B");
    expect_text(f, gp_const_sub(ts, two, a), "-A + 2");
    assert_ptr_equal(gp_const_sub(ts, square, expanded), gp_const_int(ts, 0));
    assert_true(gp_const_value(gp_const_sub(ts, sum, sum), &value) && value == 0);
    assert_false(gp_const_value(a, &value));
    assert_int_equal(gp_const_mul(ts, gp_const_int(ts, INT64_MAX), two)->kind, GpConst_Error);
    assert_int_equal(gp_const_add(ts, gp_const_dynamic(ts), two)->kind, GpConst_Error);
    const GpDef *params[] = {&f->a, &f->b};
    GpGArg args[] = {{GpGArg_Const, {.value = gp_const_int(ts, 3)}},
                     {GpGArg_Const, {.value = gp_const_int(ts, 4)}}};
    GpSubst s = {params, args, 2};
    assert_ptr_equal(gp_const_subst(ts, square, &s), gp_const_int(ts, 49));
}

static void check_quotients(Fixture *f) {
    GpTypes *ts = f->ts;
    const GpConst *a = atom(f, &f->a, -1), *b = atom(f, &f->b, -1), *two = gp_const_int(ts, 2);
    const GpConst *half = gp_const_div(ts, a, 2), *var = gp_const_var(ts, 0);
    const GpConst *odd = gp_const_add(ts, gp_const_mul(ts, two, a), gp_const_int(ts, 1));
    assert_ptr_equal(gp_const_div(ts, gp_const_mul(ts, two, a), 4), half);
    assert_ptr_equal(gp_const_div(ts, gp_const_mul(ts, two, a), 2), a);
    assert_ptr_equal(gp_const_div(ts, half, 3), gp_const_div(ts, a, 6));
    assert_ptr_equal(gp_const_sub(ts, half, half), gp_const_int(ts, 0));
    assert_ptr_not_equal(gp_const_mul(ts, two, half), a);
    assert_ptr_equal(gp_const_add(ts, gp_const_div(ts, a, -2), half),
                     gp_const_add(ts, gp_const_div(ts, gp_const_sub(ts, gp_const_int(ts, 0), a), 2), half));
    assert_int_equal(gp_const_div(ts, gp_const_dynamic(ts), 2)->kind, GpConst_Error);
    assert_int_equal(gp_const_div(ts, gp_const_div(ts, a, INT32_MAX), 2)->kind, GpConst_Error);
    expect_text(f, half, "A / 2");
    expect_text(f, gp_const_div(ts, odd, 2), "(2 * A + 1) / 2");
    expect_text(f, gp_const_mul(ts, b, half), "(A / 2) * B");
    expect_text(f, gp_const_sub(ts, gp_const_div(ts, b, 3), gp_const_mul(ts, two, half)), "-2 * (A / 2) + B / 3");
    expect_text(f, gp_const_div(ts, var, 2), "_ / 2");
    const GpDef *params[] = {&f->a};
    const int64_t from[] = {7, -7, 6, 0}, to[] = {3, -3, 3, 0};
    for (int i = 0; i < 4; i++) {
        GpGArg arg = {GpGArg_Const, {.value = gp_const_int(ts, from[i])}};
        GpSubst s = {params, &arg, 1};
        assert_ptr_equal(gp_const_subst(ts, half, &s), gp_const_int(ts, to[i]));
        assert_ptr_equal(gp_const_subst(ts, gp_const_div(ts, odd, 2), &s),
                         gp_const_int(ts, (2 * from[i] + 1) / 2));
    }
}

static void check_shapes(Fixture *f) {
    GpTypes *ts = f->ts;
    const GpConst *in_order[] = {atom(f, &f->s, 0), atom(f, &f->s, 1)};
    const GpConst *swapped[] = {in_order[1], in_order[0]};
    assert_ptr_equal(gp_shape_list(ts, in_order, 2), gp_shape_param(ts, &f->s));
    assert_ptr_not_equal(gp_shape_list(ts, swapped, 2), gp_shape_param(ts, &f->s));
    const GpConst *dims[] = {gp_const_int(ts, 8), gp_const_dynamic(ts)};
    const GpDef *params[] = {&f->s};
    GpGArg args[] = {{GpGArg_Shape, {.shape = gp_shape_list(ts, dims, 2)}}};
    GpSubst s = {params, args, 1};
    const GpConst *back[] = {dims[1], dims[0]};
    assert_ptr_equal(gp_shape_subst(ts, gp_shape_list(ts, swapped, 2), &s),
                     gp_shape_list(ts, back, 2));
}

static void check_types(Fixture *f) {
    GpTypes *ts = f->ts;
    const GpType *f32 = gp_ty_elem(ts, GpElem_F32);
    const GpType *pair[] = {f32, gp_ty_ref(ts, gp_ty_slice(ts, f32), true)};
    assert_ptr_equal(gp_ty_tuple(ts, pair, 2), gp_ty_tuple(ts, pair, 2));
    assert_ptr_not_equal(gp_ty_ref(ts, f32, true), gp_ty_ref(ts, f32, false));
    assert_string_equal(gp_ty_name(f->arena, gp_ty_tuple(ts, pair, 2)), "(f32, &mut [f32])");
    assert_string_equal(gp_ty_name(f->arena, gp_ty_array(ts, f32, atom(f, &f->a, -1))), "[f32; A]");
    assert_true(gp_ty_is_copy(gp_ty_ref(ts, f32, false)) &&
                !gp_ty_is_copy(gp_ty_tuple(ts, pair, 2)));
}

static void check_unification(Fixture *f) {
    GpCheck *c = &f->c;
    const GpType *f32 = gp_ty_elem(f->ts, GpElem_F32), *i32 = gp_ty_elem(f->ts, GpElem_I32);
    gp_unify_begin(c);
    const GpType *any = gp_fresh_type(c, GpInfer_Any), *whole = gp_fresh_type(c, GpInfer_Int);
    assert_false(gp_unify(c, whole, f32));
    assert_true(gp_unify(c, any, whole));
    assert_int_equal(gp_shallow(c, any)->infer, GpInfer_Int);
    assert_false(gp_unify(c, any, gp_ty_slice(f->ts, any)));
    const GpType *left[] = {any, f32}, *right[] = {i32, i32};
    assert_false(gp_unify(c, gp_ty_tuple(f->ts, left, 2), gp_ty_tuple(f->ts, right, 2)));
    assert_int_equal(gp_shallow(c, any)->kind, GpTy_Infer); /* the failed try bound nothing */
    gp_unify_defaults(c);
    assert_ptr_equal(gp_zonk(c, gp_ty_tuple(f->ts, left, 2))->args[0].type, i32);
    /* 2 * ?n + A == 8 + A gives 4; 2 * ?m == 7 gives nothing */
    const GpConst *n = gp_fresh_arg(c, &f->a).value, *m = gp_fresh_arg(c, &f->a).value;
    const GpConst *two = gp_const_int(f->ts, 2), *a = atom(f, &f->a, -1);
    assert_true(gp_unify_const(c, gp_const_add(f->ts, gp_const_mul(f->ts, two, n), a),
                               gp_const_add(f->ts, gp_const_int(f->ts, 8), a)));
    assert_ptr_equal(gp_zonk_arg(c, (GpGArg){GpGArg_Const, {.value = n}}).value,
                     gp_const_int(f->ts, 4));
    assert_false(gp_unify_const(c, gp_const_mul(f->ts, two, m), gp_const_int(f->ts, 7)));
    /* a fresh shape of rank 2 against S */
    const GpShapeTy *sh = gp_fresh_arg(c, &f->s).shape;
    assert_true(gp_unify_shape(c, sh, gp_shape_param(f->ts, &f->s)));
    assert_ptr_equal(gp_zonk_arg(c, (GpGArg){GpGArg_Shape, {.shape = sh}}).shape,
                     gp_shape_param(f->ts, &f->s));
}

static void run_all(GpSession *s, void *ud) {
    Fixture *f = ud;
    (void)s;
    GpInterner *names = gp_interner_make(f->arena);
    f->ts = gp_types_make(f->arena);
    const GpType *i32 = gp_ty_elem(f->ts, GpElem_I32);
    f->a = (GpDef){
        .kind = GpDef_ConstParam, .name = gp_intern_cstr(names, "A"), .id = 1, .const_type = i32};
    f->b = (GpDef){
        .kind = GpDef_ConstParam, .name = gp_intern_cstr(names, "B"), .id = 2, .const_type = i32};
    f->s = (GpDef){.kind = GpDef_ConstParam,
                   .name = gp_intern_cstr(names, "S"),
                   .id = 3,
                   .const_type = gp_ty_array(f->ts, i32, gp_const_int(f->ts, 2))};
    f->c = (GpCheck){.arena = f->arena, .types = f->ts, .names = names};
    check_polynomials(f);
    check_quotients(f);
    check_shapes(f);
    check_types(f);
    check_unification(f);
}

static void test_types(void **state) {
    GpSession s;
    Fixture f;
    (void)state;
    gp_session_init(&s, NULL, NULL, NULL);
    f.arena = gp_arena_new(&s);
    assert_non_null(f.arena);
    assert_int_equal(gp_protect(&s, run_all, &f), GpStatus_Ok);
    gp_arena_free(f.arena);
    assert_int_equal(s.bytes, 0);
}

static bool make_module(GpSession *s) {
    static const char text[] =
        "fn f<const N: i32>(x: Tile<f32, {[2 * N]}>) -> Tile<f32, {[2 * N]}> { x }";
    GpStd *std = gp_std_new(s);
    GpDiags *diags = gp_diags_new(s);
    GpSource *src = gp_source_new(s, "text", text, sizeof text - 1, 1, 1);
    GpModule *m = NULL;
    bool is_done = std && diags && src && gp_module_new(std, src, diags, &m) == GpStatus_Ok;
    if (is_done)
        assert_int_equal(gp_diags_count(diags), 0);
    gp_module_release(m);
    gp_source_release(src);
    gp_diags_release(diags);
    gp_std_free(std);
    return is_done;
}

static void test_out_of_memory(void **state) {
    (void)state;
    assert_true(fail_every_allocation(make_module) > 10);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_types),
                                       cmocka_unit_test(test_out_of_memory)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
