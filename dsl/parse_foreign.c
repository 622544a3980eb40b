/* What other languages write where the grammar ends, and what stands there here. */
#include "dsl/parse.h"

/* NULL: anything. `what` is what the report expects, `before` and `before_that` are the tokens ahead of the one
** that is not. `instead` stands in the place of the token before; where `is_behind`, behind it. */
typedef struct Row {
    const char *what, *before_that, *before, *at;
    const char *help, *instead;
    bool is_behind;
} Row;

#define LET_TYPE "the type stands behind the name: `let v: f32 = ..`"
#define LET      "a variable is declared by `let`"
#define LOOP     "a loop over numbers is `for j in 0..n { .. }`; a parameter has its type behind the name: `n: i32`"
#define PARAM    "a parameter has its type behind the name: `x: f32`"
#define FN       "a function is declared by `fn`"
#define BODY     "a body stands in braces: `{ .. }`"
#define CHOICE   "a choice is `if condition { a } else { b }`"

static const Row rows[] = {
    {NULL, NULL, "def", NULL, FN, "fn", false},
    {NULL, NULL, "func", NULL, FN, "fn", false},
    {NULL, NULL, "function", NULL, FN, "fn", false},
    {NULL, NULL, "__global__", NULL,
     "a kernel is declared by `#[kernel] fn f(x: &[f32], mut c: DisjointSlice<f32>)`", NULL, false},
    {NULL, "let", "float", NULL, LET_TYPE, NULL, false},
    {NULL, "let", "int", NULL, LET_TYPE, NULL, false},
    {NULL, "(", "int", NULL, LOOP, NULL, false},
    {NULL, "(", "float", NULL, PARAM, NULL, false},
    {NULL, ",", "int", NULL, PARAM, NULL, false},
    {NULL, ",", "float", NULL, PARAM, NULL, false},
    {NULL, NULL, "float", NULL, LET, "let", false},
    {NULL, NULL, "double", NULL, LET, "let", false},
    {NULL, NULL, "int", NULL, LET, "let", false},
    {NULL, NULL, "auto", NULL, LET, "let", false},
    {NULL, NULL, "var", NULL, LET, "let", false},
    {NULL, NULL, "local", NULL, LET, "let", false},
    {NULL, NULL, "elif", NULL, "another condition follows `else`", "else if", false},
    {NULL, NULL, "elseif", NULL, "another condition follows `else`", "else if", false},
    {"`{`", NULL, NULL, "then", BODY, NULL, false},
    {"`{`", NULL, NULL, ":", BODY, NULL, false},
    {NULL, NULL, ")", ":", BODY, NULL, false},
    {NULL, NULL, NULL, "step", "steps are taken by `(0..n).step_by(2)`", NULL, false},
    {"type", NULL, ":", "...", "a list of any length is a slice: `&[f32]`", NULL, false},
    {"expression", NULL, NULL, ".", "a float literal has a digit before the dot: `0.5`", NULL, false},
    {NULL, NULL, NULL, "...", "a range is `0..n`, and `0..=n` with its end", NULL, false},
    {NULL, "(", NULL, "=", "a loop over numbers is `for j in 0..n { .. }`", NULL, false},
    {"type", NULL, "[", "-", "extents stand in braces: `Tensor<f32, {[-1]}>`", NULL, false},
    {NULL, NULL, "not", NULL, "the operator is `!`", "!", false},
    {NULL, NULL, "lambda", NULL, "a closure is `|x| x + 1.0`", NULL, false},
    {NULL, NULL, "#", NULL, "a comment begins with `//`", NULL, false},
    {NULL, NULL, "?", NULL, CHOICE, NULL, false},
    {"expression", NULL, NULL, "where", "elements are chosen by `select(condition, a, b)`", NULL, false},
    {"item", NULL, NULL, "@", "attributes are written `#[tile]`", NULL, false},
    {"one of `:` or `@`", NULL, NULL, NULL, "a parameter has a type: `t: Tile<f32, {[B]}>`", NULL, false},
    {"`:`", "const", NULL, ">", "a const generic has a type", ": i32", true},
    {"`:`", "const", NULL, ",", "a const generic has a type", ": i32", true},
    {NULL, NULL, NULL, "if", CHOICE, NULL, false},
    {NULL, NULL, NULL, "@", "a product of matrices is `mma(a, b, acc)`", NULL, false},
};

static bool is_text(const char *want, const GpToken *t) {
    return !want || (t && strlen(want) == t->len && memcmp(t->src->text + t->off, want, t->len) == 0);
}

/* The words around an operator stand on one line. */
static bool is_on_line(const GpToken *before, const GpToken *at) {
    return before && before->src == at->src && before->off <= at->off && /* a macro may turn words around */
           !memchr(at->src->text + before->off, '\n', at->off - before->off);
}

void gp_parser_help_foreign(const GpParser *p, GpDiag *d, const char *what) {
    const GpToken *at = &p->tok, *before = p->at > 0 ? &p->toks[p->at - 1] : NULL;
    const GpToken *before_that = p->at > 1 ? &p->toks[p->at - 2] : NULL;
    for (size_t i = 0; i < GP_COUNT(rows); i++) {
        const Row *r = &rows[i];
        if (!is_text(r->before, before) || !is_text(r->before_that, before_that) || !is_text(r->at, at) ||
            (r->what ? strcmp(r->what, what) != 0 : !is_on_line(before, at)))
            continue;
        if (!r->instead || !before) {
            gp_help(d, "%s", r->help);
            return;
        }
        uint32_t end = r->is_behind ? before->len : 0;
        gp_suggest(d, (GpSpan){before->src, before->off + end, before->len - end}, r->instead, "%s", r->help);
        return;
    }
}
