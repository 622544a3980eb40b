/* libFuzzer's mutator for kernel sources: it works on tokens, groups and statements, so that most
** mutants are read far into the front end. Now and then a step is libFuzzer's own on bytes. */
#include <ctype.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max_size);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned seed);
size_t LLVMFuzzerCustomCrossOver(const uint8_t *a, size_t a_size, const uint8_t *b, size_t b_size,
                                 uint8_t *out, size_t max_size, unsigned seed);

/* Words and punctuation of the language and of its built-in crates. */
static const char *const words[] = {
#define GP_TOKEN(id, spelling, cls, lbp, rbp) spelling,
#include "dsl/token.def"
    "i32",
    "u32",
    "f32",
    "f64",
    "usize",
    "u8",
    "bool",
    "f16",
    "0",
    "1",
    "1.5",
    "2u8",
    "'a",
    "'x'",
    "\"s\"",
    "T",
    "N",
    "x",
    "y",
    "f",
    "Tile",
    "Tensor",
    "Option",
    "Some",
    "None",
    "&mut",
    "#[tile]",
    "#[kernel]",
    "{[N]}",
    "{[-1]}",
    "load_like",
    "store",
    "DisjointSlice",
    "get_mut",
    "thread::index_1d()",
    "shape!",
    "assert!",
    "macro_rules!",
    "$x",
    "$x:expr",
    "$($x:tt)*",
    "|x|",
    "..",
    "Copy",
    "Clone",
    "impl",
    "Add",
    "Output",
    "dyn",
    "where",
    "as",
    "_",
    "::<",
    "-> i32",
};

#define MAX_TOKENS 4096
typedef struct Tokens {
    uint32_t from[MAX_TOKENS + 1];
    uint32_t count;
} Tokens;

static int is_word(uint8_t c) { return isalnum(c) || c == '_' || c == '$'; }

/* Runs of word bytes and single others, each with the white space before it. */
static void split(const uint8_t *data, size_t size, Tokens *t) {
    t->count = 0;
    for (size_t i = 0; i < size && t->count < MAX_TOKENS;) {
        t->from[t->count++] = (uint32_t)i;
        while (i < size && isspace(data[i]))
            i++;
        size_t start = i;
        while (i < size && is_word(data[i]))
            i++;
        if (i == start && i < size)
            i++;
    }
    t->from[t->count] = (uint32_t)size;
}

static unsigned next_random(unsigned *seed) {
    *seed = *seed * 1664525u + 1013904223u;
    return *seed >> 8;
}

/* One mutation: what it changes and what was drawn for it. */
typedef struct Edit {
    uint8_t *data;
    size_t size, max;
    const Tokens *t;
    uint32_t i, j; /* two tokens */
    uint32_t end;  /* behind a short run of tokens from i on */
    unsigned seed;
} Edit;

/* Puts `len` bytes of text over [from, to); the new size, or the old one when that is too large. */
static size_t put(const Edit *e, size_t from, size_t to, const void *text, size_t len) {
    uint8_t *copy = malloc(len + 1);
    size_t size = e->size - (to - from) + len;
    if (!copy || size > e->max) {
        free(copy);
        return e->size;
    }
    memcpy(copy, text, len);
    memmove(e->data + from + len, e->data + to, e->size - to);
    memcpy(e->data + from, copy, len);
    free(copy);
    return size;
}

/* Puts tokens [a, b) of the text over tokens [from, to). */
static size_t put_tokens(const Edit *e, uint32_t from, uint32_t to, uint32_t a, uint32_t b) {
    const uint32_t *at = e->t->from;
    return put(e, at[from], at[to], e->data + at[a], at[b] - at[a]);
}

static uint8_t last_byte(const Edit *e, uint32_t i) {
    return e->t->from[i + 1] > e->t->from[i] ? e->data[e->t->from[i + 1] - 1] : ' ';
}

/* Never of the NUL that strchr finds in every set. */
static int is_one_of(uint8_t c, const char *set) { return c && strchr(set, c); }

/* ---- tokens -----------------------------------------------------------------------------------
 */

static size_t drop_run(Edit *e) { return put_tokens(e, e->i, e->end, e->i, e->i); }
static size_t double_run(Edit *e) { return put_tokens(e, e->i, e->i, e->i, e->end); }
static size_t copy_run(Edit *e) { return put_tokens(e, e->j, e->j, e->i, e->end); }
static size_t put_other(Edit *e) { return put_tokens(e, e->i, e->i, e->j, e->j + 1); }
static size_t put_over(Edit *e) { return put_tokens(e, e->i, e->i + 1, e->j, e->j + 1); }

/* A word for a word, a mark for a mark: most of these parse. */
static size_t put_like(Edit *e) {
    while (e->j + 1 < e->t->count && is_word(last_byte(e, e->j)) != is_word(last_byte(e, e->i)))
        e->j++;
    return put_over(e);
}

static size_t put_word(Edit *e, uint32_t to) {
    const char *word = words[next_random(&e->seed) % (sizeof words / sizeof *words)];
    char spaced[40] = " ";
    strncpy(spaced + 1, word, sizeof spaced - 2);
    return put(e, e->t->from[e->i], e->t->from[to], spaced, strlen(spaced));
}
static size_t word_before(Edit *e) { return put_word(e, e->i); }
static size_t word_over(Edit *e) { return put_word(e, e->i + 1); }

/* The first number from token i on becomes the next one, in its last digit: limits are off by one.
 */
static size_t nudge(Edit *e) {
    for (uint32_t i = e->i; i < e->t->count; i++) {
        uint8_t *last = &e->data[e->t->from[i + 1] - 1];
        if (e->t->from[i + 1] > e->t->from[i] && isdigit(*last)) {
            *last = (uint8_t)('0' + (*last - '0' + 1) % 10);
            break;
        }
    }
    return e->size;
}

static int is_text(const Edit *e, uint32_t i, const char *text) {
    size_t end = e->t->from[i + 1], len = strlen(text);
    return end >= e->t->from[i] + len && !memcmp(e->data + end - len, text, len);
}

/* The first condition from token i on becomes a pattern that always matches. */
static size_t let_condition(Edit *e) {
    for (uint32_t i = e->i; i < e->t->count; i++)
        if (is_text(e, i, "if") || is_text(e, i, "while"))
            return put(e, e->t->from[i + 1], e->t->from[i + 1], " let _ =", 8);
    return e->size;
}

/* ---- groups and statements --------------------------------------------------------------------
 */

/* The first group from token i on that opens with one of `openers`: from *from to the result; both
** are one where there is none. */
static uint32_t find_group(const Edit *e, uint32_t i, const char *openers, uint32_t *from) {
    while (i < e->t->count && !is_one_of(last_byte(e, i), openers))
        i++;
    *from = i;
    for (int depth = 0; i < e->t->count; i++) {
        depth += is_one_of(last_byte(e, i), "([{") ? 1 : 0;
        depth -= is_one_of(last_byte(e, i), ")]}") ? 1 : 0;
        if (depth == 0)
            return i + 1;
    }
    return *from;
}

/* A group of another place for one of the same kind. */
static size_t put_group(Edit *e) {
    uint32_t from, to = find_group(e, e->i, "([{", &from);
    if (to == from)
        return e->size;
    const char opener[] = {(char)last_byte(e, from), '\0'};
    uint32_t other, end = find_group(e, e->j, opener, &other);
    return end == other ? e->size : put_tokens(e, from, to, other, end);
}

/* Back to behind one of `ends`. */
static uint32_t find_start(const Edit *e, uint32_t i, const char *ends) {
    while (i > 0 && !is_one_of(last_byte(e, i - 1), ends))
        i--;
    return i;
}

/* What stands around token i between two ends of statements or fields: from *from to the result. */
static uint32_t find_stmt(const Edit *e, uint32_t i, uint32_t *from) {
    uint32_t to = i;
    *from = find_start(e, i, "{};,");
    while (to < e->t->count && !is_one_of(last_byte(e, to), ";,}"))
        to++;
    return to < e->t->count && last_byte(e, to) != '}' ? to + 1 : to;
}

static size_t drop_stmt(Edit *e) {
    uint32_t from, to = find_stmt(e, e->i, &from);
    return put_tokens(e, from, to, from, from);
}

static size_t copy_stmt(Edit *e) {
    uint32_t from, to = find_stmt(e, e->i, &from), at = find_start(e, e->j, "{};,");
    return put_tokens(e, at, at, from, to);
}

/* Statements in forms that programs seldom use; each $ is a name of the text. */
static const char *const phrases[] = {
    "let a = $;",
    "let mut a = $; a = $;",
    "let a; if $ { a = $; } a;",
    "if let a = $ { $; }",
    "if let Some(a) = $ && $ { $; }",
    "let Some(a) = $ else { return; };",
    "match $ { a => {} }",
    "match $ { $ => {}, _ => $ }",
    "match $ { ref mut a => { *a = $; } }",
    "while let Some(a) = $ { $; break; }",
    "loop { $; if $ { break; } $ = $; }",
    "for a in 0..$ { $; continue; }",
    "let a = &mut $; let b = &$; *a = $; b;",
    "let a = &$; $ = $; a;",
    "let a = &mut $; a[0] = $; $; a;",
    "let a = ($, $); a.0; $; a;",
    "let [a, b] = $;",
    "let mut a = || $; a(); $;",
    "let a = move || $; $; a();",
    "let a: [i32; 2] = [$; 2]; let b: &[i32] = &a;",
    "let a = 'l: { if $ { break 'l $; } $ };",
    "return $;",
};

/* A name that stands a little before the place. */
static const char *name_near(Edit *e, size_t *len) {
    for (uint32_t k = 0; k < 64; k++) {
        uint32_t back = next_random(&e->seed) % 64, i = e->i > back ? e->i - back : 0;
        uint32_t at = e->t->from[i], end = e->t->from[i + 1];
        while (at < end && isspace(e->data[at]))
            at++;
        *len = end - at;
        if (at < end && (isalpha(e->data[at]) || e->data[at] == '_'))
            return (const char *)e->data + at;
    }
    *len = 1;
    return "a";
}

static size_t put_phrase(Edit *e) {
    char text[400];
    size_t len = 0;
    const char *phrase = phrases[next_random(&e->seed) % (sizeof phrases / sizeof *phrases)];
    for (; *phrase; phrase++) {
        size_t part = 1;
        const char *name = *phrase == '$' ? name_near(e, &part) : phrase;
        if (part > sizeof text - len)
            return e->size;
        memcpy(text + len, name, part);
        len += part;
    }
    uint32_t at = e->t->from[find_start(e, e->i, "{};")];
    return put(e, at, at, text, len);
}

/* One row for each share of the mutants. */
static size_t (*const edits[])(Edit *e) = {
    drop_run,  double_run,  copy_run,  put_other,  put_over,   put_like,
    put_like,  word_before, word_over, nudge,      put_group,  put_group,
    drop_stmt, copy_stmt,   copy_stmt, put_phrase, put_phrase, let_condition, let_condition,
};

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned seed) {
    static Tokens t; /* too large for the stack of a sanitizer */
    unsigned kinds = sizeof edits / sizeof *edits;
    split(data, size, &t);
    unsigned kind = next_random(&seed) % (kinds + 1);
    if (kind == kinds || t.count < 2)
        return LLVMFuzzerMutate(data, size, max_size);
    Edit e = {.data = data, .size = size, .max = max_size, .t = &t};
    e.i = next_random(&seed) % t.count;
    e.j = next_random(&seed) % t.count;
    uint32_t run = 1 + next_random(&seed) % 8;
    e.end = e.i + run < t.count ? e.i + run : t.count;
    e.seed = seed;
    return edits[kind](&e);
}

/* The start of one source up to a token, then the rest of the other from a token. */
/* NOLINTNEXTLINE(readability-function-size): the fuzzer's prototype */
size_t LLVMFuzzerCustomCrossOver(const uint8_t *a, size_t a_size, const uint8_t *b, size_t b_size,
                                 uint8_t *out, size_t max_size, unsigned seed) {
    static Tokens t;
    split(a, a_size, &t);
    size_t head = t.count ? t.from[next_random(&seed) % t.count] : 0;
    split(b, b_size, &t);
    size_t from = t.count ? t.from[next_random(&seed) % t.count] : 0;
    size_t tail = b_size - from;
    head = head < max_size ? head : max_size;
    tail = tail < max_size - head ? tail : max_size - head;
    memcpy(out, a, head);
    memcpy(out + head, b + from, tail);
    return head + tail;
}
