/* What a kernel prints goes to the host's `write` hook, one call for each print. */
#include "dsl/ir/printed.h"

void gp_printed_type(const GpIrType *type, int64_t *words) {
    words[0] = type->kind == GpIrType_Ptr;
    words[1] = type->elem;
    words[2] = type->kind == GpIrType_Tile ? type->shape.rank : 0;
    for (int a = 0; a < GP_MAX_RANK; a++)
        words[3 + a] = a < words[2] ? type->shape.dim[a] : 1;
}

/* The brackets of every axis that begins at element e, or ends before it. */
static int64_t count_axes(const int64_t *type, int64_t e) {
    int64_t block = 1, count = 0;
    for (int64_t a = type[2] - 1; a >= 0; a--) {
        block *= type[3 + a];
        if (e % block == 0)
            count++;
    }
    return count;
}

static void print_brackets(GpText *out, const char *bracket, int64_t count) {
    for (int64_t i = 0; i < count; i++)
        gp_text_puts(out, bracket);
}

static void print_value(const int64_t *type, GpPrintedGet get, const void *ud, uint32_t operand,
                        GpText *out) {
    int64_t n = 1;
    for (int64_t a = 0; a < type[2]; a++)
        n *= type[3 + a];
    if (type[0]) {
        gp_text_printf(out, "0x%llx", (unsigned long long)get(ud, operand, 0).u);
        return;
    }
    for (int64_t e = 0; e < n; e++) {
        if (e)
            print_brackets(out, "]", count_axes(type, e));
        if (e)
            gp_text_puts(out, ", ");
        print_brackets(out, "[", count_axes(type, e));
        gp_scalar_print(get(ud, operand, e), out);
    }
    print_brackets(out, "]", count_axes(type, n));
}

void gp_printed_text(const char *text, const int64_t *types, GpPrintedGet get, const void *ud,
                     GpText *out) {
    uint32_t operand = 0;
    for (const char *c = text; *c; c++) {
        if (c[0] == '{' && c[1] == '}') {
            print_value(types + (size_t)operand * GP_PRINTED_WORDS, get, ud, operand, out);
            operand++;
        } else {
            gp_text_add(out, c, 1);
        }
        if (*c == '{' || *c == '}')
            c++;
    }
}

typedef struct Memory {
    const int64_t *types;
    const void *const *values;
} Memory;

static GpScalar get_memory(const void *ud, uint32_t operand, int64_t element) {
    const Memory *m = ud;
    const int64_t *type = m->types + (size_t)operand * GP_PRINTED_WORDS;
    GpElem elem = type[0] ? GpElem_U64 : (GpElem)type[1];
    const uint8_t *at = m->values[operand];
    return gp_scalar_load(elem, at + element * gp_elem_info[elem].bytes);
}

void gp_printed_write(const GpHooks *hooks, const char *text, const int64_t *types,
                      const void *const *values) {
    if (!hooks->write)
        return;
    GpSession session;
    gp_session_init(&session, NULL, NULL, hooks);
    GpText out = {.session = &session};
    Memory memory = {types, values};
    gp_printed_text(text, types, get_memory, &memory, &out);
    hooks->write(hooks->ud, gp_text_cstr(&out), out.len);
    gp_text_free(&out);
}
