/* libFuzzer's mutator for kernel sources: it works on tokens, so that most mutants are read far
** into the front end. One step in twelve is libFuzzer's own on bytes. */
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

/* Replaces data[from, to) by `len` bytes of `text`; the new size, or the old one when too large. */
static size_t replace(uint8_t *data, size_t size, size_t max, size_t from, size_t to,
                      const uint8_t *text, size_t len) {
    if (size - (to - from) + len > max)
        return size;
    uint8_t *copy = malloc(len + 1);
    if (!copy)
        return size;
    memcpy(copy, text, len);
    memmove(data + from + len, data + to, size - to);
    memcpy(data + from, copy, len);
    free(copy);
    return size - (to - from) + len;
}

/* The first number from token i on becomes the next one, in its last digit: limits are off by one.
 */
static size_t nudge(uint8_t *data, size_t size, const Tokens *t, uint32_t i) {
    for (; i < t->count; i++) {
        uint8_t *last = &data[t->from[i + 1] - 1];
        if (t->from[i + 1] > t->from[i] && isdigit(*last)) {
            *last = (uint8_t)('0' + (*last - '0' + 1) % 10);
            break;
        }
    }
    return size;
}

static uint8_t last_byte(const uint8_t *data, const Tokens *t, uint32_t i) {
    return t->from[i + 1] > t->from[i] ? data[t->from[i + 1] - 1] : ' ';
}

/* Removes what stands between two ends of statements or fields around token i. */
static size_t drop_stmt(uint8_t *data, size_t size, size_t max, const Tokens *t, uint32_t i) {
    uint32_t from = i, to = i;
    while (from > 0 && !strchr("{};,", last_byte(data, t, from - 1)))
        from--;
    while (to < t->count && !strchr(";,}", last_byte(data, t, to)))
        to++;
    if (to < t->count && last_byte(data, t, to) != '}')
        to++;
    return replace(data, size, max, t->from[from], t->from[to], data, 0);
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned seed) {
    static Tokens t; /* too large for the stack of a sanitizer */
    split(data, size, &t);
    unsigned kind = next_random(&seed) % 12;
    if (kind == 0 || t.count < 2)
        return LLVMFuzzerMutate(data, size, max_size);
    uint32_t i = next_random(&seed) % t.count, j = next_random(&seed) % t.count;
    uint32_t run = 1 + next_random(&seed) % 8, end = i + run < t.count ? i + run : t.count;
    const char *word = words[next_random(&seed) % (sizeof words / sizeof *words)];
    char spaced[40];
    spaced[0] = ' ';
    strncpy(spaced + 1, word, sizeof spaced - 2);
    spaced[sizeof spaced - 1] = '\0';
    const uint8_t *other = data + t.from[j];
    uint32_t other_len = t.from[j + 1] - t.from[j];
    if (kind == 8)
        return nudge(data, size, &t, i);
    if (kind == 9)
        return drop_stmt(data, size, max_size, &t, i);
    if (kind >= 10) { /* a word for a word, a mark for a mark: most of these parse */
        while (j + 1 < t.count &&
               is_word(last_byte(data, &t, j)) != is_word(last_byte(data, &t, i)))
            j++;
        return replace(data, size, max_size, t.from[i], t.from[i + 1], data + t.from[j],
                       t.from[j + 1] - t.from[j]);
    }
    if (kind == 1)
        return replace(data, size, max_size, t.from[i], t.from[end], data, 0);
    if (kind == 2)
        return replace(data, size, max_size, t.from[i], t.from[i], data + t.from[i],
                       t.from[end] - t.from[i]);
    if (kind == 3)
        return replace(data, size, max_size, t.from[i], t.from[i + 1], other, other_len);
    if (kind == 4)
        return replace(data, size, max_size, t.from[i], t.from[i], other, other_len);
    if (kind == 5)
        return replace(data, size, max_size, t.from[j], t.from[j], data + t.from[i],
                       t.from[end] - t.from[i]);
    uint32_t to = kind == 6 ? t.from[i + 1] : t.from[i];
    return replace(data, size, max_size, t.from[i], to, (const uint8_t *)spaced, strlen(spaced));
}

/* The start of one source up to a token, then the rest of the other from a token. */
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
