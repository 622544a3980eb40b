/* Types as rustc prints them. Polynomials are printed in the order of declaration of their
** generics, not in the table's order, so that the text does not depend on addresses. */
#include "dsl/type_table.h"

#include "dsl/def.h"

static void print_sym(GpSym name, GpText *out) { gp_text_puts(out, name ? name->name : "_"); }

static void print_quotient(GpAtom atom, bool alone, GpText *out) {
    const GpMonomial *first = atom.of->terms;
    bool bare = atom.of->kind == GpConst_Infer ||
                (atom.of->term_count == 1 && first->factor == 1 && first->atom_count == 1);
    gp_text_puts(out, alone ? "" : "(");
    gp_text_puts(out, bare ? "" : "(");
    gp_const_print(atom.of, out);
    gp_text_printf(out, "%s / %d%s", bare ? "" : ")", atom.index, alone ? "" : ")");
}

static void print_atom(GpAtom atom, bool alone, GpText *out) {
    if (atom.of) {
        print_quotient(atom, alone, out);
        return;
    }
    if (!atom.param) {
        gp_text_puts(out, "_");
        return;
    }
    print_sym(atom.param->name, out);
    if (atom.index >= 0)
        gp_text_printf(out, "[%d]", atom.index);
}

/* Quotients by their texts. */
static int compare_quotients(GpAtom s, GpAtom t, GpSession *session) {
    GpText x = {.session = session}, y = {.session = session};
    print_quotient(s, true, &x);
    print_quotient(t, true, &y);
    int order = strcmp(gp_text_cstr(&x), gp_text_cstr(&y));
    gp_text_free(&x);
    gp_text_free(&y);
    return order;
}

/* Higher degree first, then by declaration, quotients last. */
static bool prints_before(const GpMonomial *a, const GpMonomial *b, GpSession *session) {
    if (a->atom_count != b->atom_count)
        return a->atom_count > b->atom_count;
    for (uint32_t i = 0; i < a->atom_count; i++) {
        GpAtom s = a->atoms[i], t = b->atoms[i];
        int order =
            s.of && t.of ? compare_quotients(s, t, session) : (s.of != NULL) - (t.of != NULL);
        if (order)
            return order < 0;
        if (s.param != t.param)
            return t.param && (!s.param || s.param->id < t.param->id);
        if (s.index != t.index)
            return s.index < t.index;
    }
    return false;
}

static void print_monomial(const GpMonomial *t, bool first, GpText *out) {
    bool minus = t->factor < 0;
    uint64_t factor = minus ? 0 - (uint64_t)t->factor : (uint64_t)t->factor;
    gp_text_puts(out, first ? (minus ? "-" : "") : minus ? " - " : " + ");
    if (factor != 1 || !t->atom_count)
        gp_text_printf(out, "%llu%s", (unsigned long long)factor, t->atom_count ? " * " : "");
    for (uint32_t i = 0; i < t->atom_count; i++) {
        gp_text_puts(out, i ? " * " : "");
        print_atom(t->atoms[i], factor == 1 && t->atom_count == 1, out);
    }
}

static void print_poly(const GpConst *c, GpText *out) {
    uint64_t done = 0; /* at most 32 terms */
    if (!c->term_count)
        gp_text_puts(out, "0");
    for (uint32_t n = 0; n < c->term_count; n++) {
        uint32_t best = c->term_count;
        for (uint32_t i = 0; i < c->term_count; i++) {
            if (!(done >> i & 1) && (best == c->term_count ||
                                     prints_before(&c->terms[i], &c->terms[best], out->session)))
                best = i;
        }
        done |= UINT64_C(1) << best;
        print_monomial(&c->terms[best], n == 0, out);
    }
}

void gp_const_print(const GpConst *c, GpText *out) {
    switch (c->kind) {
    case GpConst_Poly:
        print_poly(c, out);
        return;
    case GpConst_Dynamic:
        gp_text_puts(out, "-1");
        return;
    case GpConst_Infer:
        gp_text_puts(out, "_");
        return;
    case GpConst_Error:
        gp_text_puts(out, "{unknown}");
        return;
    }
}

void gp_shapety_print(const GpShapeTy *s, GpText *out) {
    switch (s->kind) {
    case GpShape_List:
        gp_text_puts(out, "{[");
        for (uint8_t i = 0; i < s->rank; i++) {
            gp_text_puts(out, i ? ", " : "");
            gp_const_print(s->dim[i], out);
        }
        gp_text_puts(out, "]}");
        return;
    case GpShape_Param:
        print_sym(s->param->name, out);
        return;
    case GpShape_Infer:
        gp_text_puts(out, "_");
        return;
    case GpShape_Error:
        gp_text_puts(out, "{unknown}");
        return;
    }
}

static void print_garg(GpGArg a, GpText *out) {
    switch (a.kind) {
    case GpGArg_Type:
        gp_ty_print(a.type, out);
        return;
    case GpGArg_Const:
        gp_const_print(a.value, out);
        return;
    case GpGArg_Shape:
        gp_shapety_print(a.shape, out);
        return;
    }
}

static void print_args(const GpType *t, GpText *out) {
    for (uint32_t i = 0; i < t->arg_count; i++) {
        gp_text_puts(out, i ? ", " : "");
        print_garg(t->args[i], out);
    }
}

static void print_infer(const GpType *t, GpText *out) {
    switch (t->infer) {
    case GpInfer_Any:
        gp_text_puts(out, "_");
        return;
    case GpInfer_Int:
        gp_text_puts(out, "{integer}");
        return;
    case GpInfer_Float:
        gp_text_puts(out, "{float}");
        return;
    }
}

static void print_fn(const GpType *t, GpText *out) {
    gp_text_puts(out, "fn(");
    for (uint32_t i = 0; i < t->def->sig.param_count; i++) {
        gp_text_puts(out, i ? ", " : "");
        gp_ty_print(t->def->sig.params[i], out);
    }
    gp_text_puts(out, ")");
    if (t->def->sig.ret && !(t->def->sig.ret->kind == GpTy_Tuple && !t->def->sig.ret->arg_count)) {
        gp_text_puts(out, " -> ");
        gp_ty_print(t->def->sig.ret, out);
    }
    gp_text_puts(out, " {");
    print_sym(t->def->name, out);
    gp_text_puts(out, "}");
}

static void print_named(const GpType *t, GpText *out) {
    print_sym(t->def->name, out);
    if (t->arg_count) {
        gp_text_puts(out, "<");
        print_args(t, out);
        gp_text_puts(out, ">");
    }
}

static void print_assoc(const GpType *t, GpText *out) {
    gp_text_puts(out, "<");
    gp_ty_print(t->inner, out);
    gp_text_puts(out, " as ");
    print_sym(t->def->parent ? t->def->parent->name : NULL, out);
    gp_text_puts(out, ">::");
    print_sym(t->def->name, out);
}

static void print_tuple(const GpType *t, GpText *out) {
    gp_text_puts(out, "(");
    print_args(t, out);
    gp_text_puts(out, t->arg_count == 1 ? ",)" : ")");
}

static void print_array(const GpType *t, GpText *out) {
    gp_text_puts(out, "[");
    gp_ty_print(t->inner, out);
    if (t->count) {
        gp_text_puts(out, "; ");
        gp_const_print(t->count, out);
    }
    gp_text_puts(out, "]");
}

void gp_ty_print(const GpType *t, GpText *out) {
    switch (t->kind) {
    case GpTy_Error:
        gp_text_puts(out, "{unknown}");
        return;
    case GpTy_Never:
        gp_text_puts(out, "!");
        return;
    case GpTy_Infer:
        print_infer(t, out);
        return;
    case GpTy_Elem:
        gp_text_puts(out, gp_elem_info[t->elem].name);
        return;
    case GpTy_Usize:
        gp_text_puts(out, "usize");
        return;
    case GpTy_Isize:
        gp_text_puts(out, "isize");
        return;
    case GpTy_Char:
        gp_text_puts(out, "char");
        return;
    case GpTy_Str:
        gp_text_puts(out, "str");
        return;
    case GpTy_Tuple:
        print_tuple(t, out);
        return;
    case GpTy_Array:
    case GpTy_Slice:
        print_array(t, out);
        return;
    case GpTy_Ref:
        gp_text_puts(out, t->is_mut ? "&mut " : "&");
        gp_ty_print(t->inner, out);
        return;
    case GpTy_RawPtr:
        gp_text_puts(out, t->is_mut ? "*mut " : "*const ");
        gp_ty_print(t->inner, out);
        return;
    case GpTy_Adt:
        print_named(t, out);
        return;
    case GpTy_Param:
        print_sym(t->def->name, out);
        return;
    case GpTy_FnItem:
        print_fn(t, out);
        return;
    case GpTy_Closure:
        gp_text_puts(out, "{closure}");
        return;
    case GpTy_Assoc:
        print_assoc(t, out);
        return;
    }
}

static void free_text(void *text) { gp_text_free(text); }

const char *gp_ty_name(GpArena *arena, const GpType *t) {
    GpText *text = GP_NEW(arena, GpText);
    text->session = gp_arena_session(arena);
    GpDeferred *deferred = gp_arena_defer(arena);
    deferred->object = text;
    deferred->fn = free_text;
    gp_ty_print(t, text);
    const char *name = gp_arena_copy(arena, gp_text_cstr(text), text->len);
    gp_text_free(text);
    return name;
}
