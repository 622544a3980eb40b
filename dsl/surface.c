/* Declarations that follow from tables: IR ops that kernels call by name (op.def's surface
** column), and what every number type has (elem.def). They are text in the kernel language, read
** together with dsl/std, so that nothing else knows that they were not written by hand. */
#include "dsl/resolve.h"

static uint32_t operands(GpSig sig) { return sig == GpSig_Float2 ? 2 : 1; }

/* The peer's spelling of some operations ends in modes: those are an intrinsic. */
typedef struct Moded {
    const char *name, *intrinsic, *generics, *params;
} Moded;

static const Moded *find_moded(const char *name) {
    static const Moded rows[] = {
        {"sqrt", "RootMode", ", R: rounding::Mode, F: ftz::Mode",
         ", #[optional] rounding: R, #[optional] ftz: F"},
        {"rsqrt", "MathMode", ", F: ftz::Mode", ", #[optional] ftz: F"},
        {"exp2", "MathMode", ", F: ftz::Mode", ", #[optional] ftz: F"},
        {"exp", "ApproxMode", ", R: rounding::Mode", ", #[optional] rounding: R"},
        {"tanh", "ApproxMode", ", R: rounding::Mode", ", #[optional] rounding: R"},
    };
    for (size_t i = 0; i < GP_COUNT(rows); i++) {
        if (strcmp(rows[i].name, name) == 0)
            return &rows[i];
    }
    return NULL;
}

static void print_tile_fn(const GpOpInfo *op, GpText *out) {
    const Moded *m = find_moded(op->name);
    gp_text_printf(out, "/// %s\n#[%s = \"%s\"]\n", op->doc, m ? "intrinsic" : "op",
                   m ? m->intrinsic : op->name);
    gp_text_printf(out, "pub fn %s<E: FloatElement, const S: [i32; N]%s>(", op->name,
                   m ? m->generics : "");
    for (uint32_t i = 0; i < operands(op->sig); i++)
        gp_text_printf(out, "%s%c: Tile<E, S>", i ? ", " : "", "xy"[i]);
    gp_text_printf(out, "%s) -> Tile<E, S>;\n", m ? m->params : "");
}

static void print_method(const GpOpInfo *op, GpText *out) {
    gp_text_printf(out, "    /// %s\n    #[op = \"%s\"]\n    pub fn %s(self%s) -> T;\n", op->doc,
                   op->name, op->name, operands(op->sig) == 2 ? ", y: T" : "");
}

static bool has_method(GpSurface s) { return s == GpSurface_Math || s == GpSurface_Method; }
static bool has_tile_fn(GpSurface s) { return s == GpSurface_Math || s == GpSurface_Tile; }

/* MIN and MAX of an integer type. */
static void print_limits(const char *name, uint32_t bits, bool is_signed, GpText *out) {
    uint64_t max = UINT64_MAX >> (64 - bits + (is_signed ? 1 : 0));
    gp_text_printf(out, "impl %s {\n    pub const MAX: %s = %llu;\n", name, name,
                   (unsigned long long)max);
    if (is_signed)
        gp_text_printf(out, "    pub const MIN: %s = -%llu;\n", name, (unsigned long long)max + 1);
    else
        gp_text_printf(out, "    pub const MIN: %s = 0;\n", name);
    gp_text_printf(out, "    pub const BITS: u32 = %u;\n}\n", bits);
}

static void print_literal(GpScalar v, GpText *out) {
    gp_scalar_print(v, out);
    if (gp_elem_is_float(v.elem) && (v.f == 0.0 || v.f == 1.0))
        gp_text_puts(out, ".0");
}

static void print_elem_traits(GpElem elem, GpText *out) {
    const GpElemInfo *e = &gp_elem_info[elem];
    bool is_float = e->cls == GpClass_Float, is_bool = e->cls == GpClass_Bool;
    bool is_code = e->cls == GpClass_Code;
    static const uint8_t none[8] = {0};
    GpScalar zero = gp_scalar_load(elem, none), one; /* f8e8m0fnu has no 0 */
    gp_assert(gp_scalar_from_int(1, elem, &one));
    gp_text_printf(out, "impl ElementType for %s {\n    const ZERO: %s = ", e->name, e->name);
    print_literal(zero, out);
    gp_text_printf(out, ";\n    const ONE: %s = ", e->name);
    print_literal(one, out);
    gp_text_puts(out, ";\n}\n");
    if (is_float)
        gp_text_printf(out, "impl FloatElement for %s {}\n", e->name);
    else if (!is_bool && !is_code)
        gp_text_printf(out, "impl IntElement for %s {}\n", e->name);
    if (!is_float && !is_code)
        gp_text_printf(out, "impl BitsElement for %s {}\n", e->name);
}

/* The operators that a bound such as T: Mul<Output = T> speaks of. */
static void print_operators(const char *name, GpElemClass cls, GpText *out) {
    bool is_float = cls == GpClass_Float;
    static const struct {
        const char *trait, *method, *op;
        bool is_int_only;
    } ops[] = {{"Add", "add", "add", false},   {"Sub", "sub", "sub", false},
               {"Mul", "mul", "mul", false},   {"Div", "div", "div", false},
               {"Rem", "rem", "rem", false},   {"BitAnd", "bitand", "and", true},
               {"BitOr", "bitor", "or", true}, {"BitXor", "bitxor", "xor", true},
               {"Shl", "shl", "shl", true},    {"Shr", "shr", "shr", true}};
    for (size_t i = 0; i < GP_COUNT(ops); i++) {
        if (is_float && ops[i].is_int_only)
            continue;
        bool is_shift = strncmp(ops[i].op, "sh", 2) == 0; /* by an integer of any type */
        gp_text_printf(out,
                       "impl%s ops::%s%s for %s {\n    type Output = %s;\n    #[op = \"%s\"]\n"
                       "    fn %s(self, rhs: %s) -> %s;\n}\n",
                       is_shift ? "<R: num::Int>" : "", ops[i].trait, is_shift ? "<R>" : "", name,
                       name, ops[i].op, ops[i].method, is_shift ? "R" : name, name);
    }
    if (cls != GpClass_Uint)
        gp_text_printf(out,
                       "impl ops::Neg for %s {\n    type Output = %s;\n    #[op = \"neg\"]\n    fn "
                       "neg(self) -> %s;\n}\n",
                       name, name, name);
    gp_text_printf(out, "impl cmp::PartialEq for %s {}\nimpl cmp::PartialOrd for %s {}\n", name,
                   name);
    if (!is_float)
        gp_text_printf(out,
                       "impl ops::Not for %s {\n    type Output = %s;\n    #[op = \"not\"]\n    fn "
                       "not(self) -> %s;\n}\n"
                       "impl num::Int for %s {}\n",
                       name, name, name, name);
}

void gp_surface_print(GpText *tile, GpText *core) {
    gp_text_puts(core, "impl<T: num::Float> T {\n");
    for (int i = 0; i < GpOp_count; i++) {
        if (has_tile_fn(gp_op_info[i].surface))
            print_tile_fn(&gp_op_info[i], tile);
        if (has_method(gp_op_info[i].surface))
            print_method(&gp_op_info[i], core);
    }
    gp_text_puts(core, "}\n");
    for (int i = 0; i < GpElem_count; i++) {
        const GpElemInfo *e = &gp_elem_info[i];
        print_elem_traits((GpElem)i, tile);
        if (e->cls != GpClass_Bool && e->cls != GpClass_Code)
            print_operators(e->name, e->cls, core);
        if (gp_elem_is_integer((GpElem)i))
            print_limits(e->name, e->bits, e->cls == GpClass_Int, core);
    }
    print_operators("usize", GpClass_Uint, core);
    print_operators("isize", GpClass_Int, core);
    print_limits("usize", 64, false, core);
    print_limits("isize", 64, true, core);
}
