/* Literals: their types, their values, and whether a number fits its type once that is known. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "dsl/check_body.h"

static uint32_t digit_value(char c) {
    if (c >= '0' && c <= '9')
        return (uint32_t)(c - '0');
    if (c >= 'a' && c <= 'f')
        return (uint32_t)(c - 'a') + 10;
    if (c >= 'A' && c <= 'F')
        return (uint32_t)(c - 'A') + 10;
    return 99;
}

static bool parse_int(const char *at, uint64_t *out) {
    uint32_t base = 10;
    if (at[0] == '0' && (at[1] == 'x' || at[1] == 'o' || at[1] == 'b')) {
        base = at[1] == 'x' ? 16 : at[1] == 'o' ? 8 : 2;
        at += 2;
    }
    uint64_t v = 0;
    for (; *at; at++) {
        if (*at == '_')
            continue;
        uint32_t d = digit_value(*at);
        if (d >= base || v > (UINT64_MAX - d) / base)
            return false;
        v = v * base + d;
    }
    *out = v;
    return true;
}

static uint64_t parse_escape(const char *at) {
    switch (at[0]) {
    case 'n':
        return '\n';
    case 't':
        return '\t';
    case 'r':
        return '\r';
    case '0':
        return 0;
    case 'x':
        return strtoull(at + 1, NULL, 16);
    case 'u':
        return strtoull(at + 2, NULL, 16);
    }
    return (unsigned char)at[0];
}

/* The code point between the quotes of 'x' or b'x'. */
static uint64_t parse_char(const char *at) {
    while (*at && *at != '\'')
        at++;
    if (*at)
        at++;
    if (*at == '\\')
        return parse_escape(at + 1);
    uint64_t c = (unsigned char)*at;
    uint32_t more = c >= 0xf0 ? 3 : c >= 0xe0 ? 2 : c >= 0xc0 ? 1 : 0;
    if (more)
        c &= 0x3fu >> more;
    for (uint32_t i = 1; i <= more && at[i]; i++)
        c = c << 6 | ((unsigned char)at[i] & 0x3f);
    return c;
}

bool gp_lit_int(const GpNode *lit, uint64_t *out) {
    const GpAstLit *l = (const GpAstLit *)(const void *)lit;
    if (l->tok == GpTok_True || l->tok == GpTok_False) {
        *out = l->tok == GpTok_True;
        return true;
    }
    if (l->tok == GpTok_Char || l->tok == GpTok_Byte) {
        *out = parse_char(l->text->name);
        return true;
    }
    return l->tok == GpTok_Int && parse_int(l->text->name, out);
}

double gp_lit_float(const GpNode *lit) {
    const GpAstLit *l = (const GpAstLit *)(const void *)lit;
    uint64_t v;
    if (l->tok == GpTok_Int && parse_int(l->text->name, &v))
        return (double)v;
    char buf[512];
    size_t len = 0;
    for (const char *at = l->text->name; *at && len + 1 < sizeof buf; at++)
        if (*at != '_')
            buf[len++] = *at;
    buf[len] = 0;
    return strtod(buf, NULL);
}

static const GpType *suffix_type(GpBody *b, GpSym suffix) {
    GpElem elem;
    if (gp_elem_find((GpStr){suffix->name, suffix->len}, &elem))
        return gp_ty_elem(b->c->types, elem);
    if (strcmp(suffix->name, "usize") == 0)
        return gp_ty_usize(b->c->types);
    if (strcmp(suffix->name, "isize") == 0)
        return gp_ty_isize(b->c->types);
    return gp_body_error(b); /* G0018, already reported */
}

static const GpType *number_type(GpBody *b, const GpAstLit *l, const GpType *hint) {
    if (l->suffix)
        return suffix_type(b, l->suffix);
    bool is_float = l->tok == GpTok_Float;
    if (hint) {
        hint = gp_body_head(b, hint);
        if (is_float ? gp_body_is_float(hint) : gp_body_is_int(hint))
            return hint;
    }
    return gp_fresh_type(b->c, is_float ? GpInfer_Float : GpInfer_Int);
}

const GpType *gp_check_lit(GpBody *b, GpNode *n, const GpType *hint) {
    const GpAstLit *l = GP_AS(Lit, n);
    GpTypes *ts = b->c->types;
    if (l->tok == GpTok_Int || l->tok == GpTok_Float)
        return number_type(b, l, hint);
    if (l->tok == GpTok_True || l->tok == GpTok_False)
        return gp_body_bool(b);
    if (l->tok == GpTok_Char)
        return gp_ty_char(ts);
    if (l->tok == GpTok_Byte)
        return gp_ty_elem(ts, GpElem_U8);
    if (l->tok == GpTok_Str)
        return gp_ty_ref(ts, gp_ty_str(ts), false);
    gp_body_unsupported(b, n->span, "byte strings");
    return gp_body_error(b);
}

/* ---- range ---------------------------------------------------------------------------------- */

static void report_range(GpBody *b, GpSpan span, const GpType *t, const char *text) {
    const char *name = gp_ty_name(b->c->arena, t);
    GpDiag *d = gp_diag(b->c->diags, GpDiag_G0155, span, name);
    (void)text;
    if (t->kind == GpTy_Elem && gp_elem_is_integer(t->elem)) {
        uint8_t bits = gp_elem_info[t->elem].bits;
        if (gp_elem_is_signed(t->elem))
            gp_note(d, "the literal does not fit into the type `%s` whose range is `%lld..=%lld`",
                    name,
                    (long long)(-(int64_t)(UINT64_C(1) << (bits - 1) & INT64_MAX) - (bits == 64)),
                    (long long)((UINT64_C(1) << (bits - 1)) - 1));
        else
            gp_note(d, "the literal does not fit into the type `%s` whose range is `0..=%llu`",
                    name, (unsigned long long)(UINT64_MAX >> (64 - bits)));
    } else if (gp_body_is_float(t)) {
        gp_note(d, "the literal does not fit into the type `%s` and will be converted to infinity",
                name);
    }
}

static bool fits_int(const GpType *t, uint64_t v, bool is_negative) {
    uint32_t bits = t->kind == GpTy_Elem ? gp_elem_info[t->elem].bits : 64;
    bool is_signed = t->kind == GpTy_Isize || (t->kind == GpTy_Elem && gp_elem_is_signed(t->elem));
    if (!is_signed)
        return v <= UINT64_MAX >> (64 - bits);
    uint64_t limit = UINT64_C(1) << (bits - 1);
    return is_negative ? v <= limit : v < limit;
}

static bool fits_float(const GpType *t, const GpNode *lit) {
    double v = gp_lit_float(lit);
    if (t->kind != GpTy_Elem)
        return true;
    GpScalar s;
    return !isinf(v) && gp_scalar_from_double(v, t->elem, &s);
}

/* A literal under a minus is judged with it, so each literal is judged once: the walk meets the
** operand first and marks it by its Operator result. */
void gp_check_lit_range(GpBody *b, GpNode *n, bool is_negative) {
    GpNode *lit = is_negative ? gp_node_bare(GP_AS(Unary, n)->operand) : n;
    if (lit->kind != GpNode_Lit || !lit->type)
        return;
    GpTok tok = GP_AS(Lit, lit)->tok;
    if (!is_negative && lit->res)
        return;
    const GpType *t = lit->type;
    uint64_t v = 0;
    if (tok == GpTok_Int && gp_body_is_int(t)) {
        if (!gp_lit_int(lit, &v) || !fits_int(t, v, is_negative))
            report_range(b, n->span, t, NULL);
    } else if (tok == GpTok_Float || (tok == GpTok_Int && gp_body_is_float(t))) {
        if (!fits_float(t, lit))
            report_range(b, n->span, t, NULL);
    }
}
