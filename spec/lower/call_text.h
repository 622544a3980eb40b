/* Calls of kernels as text, for the tools and tests of lowering and launch binding:
**
**   //@ call add{B = 128, T = "f16", grid = 8 2, block = 64}(part f32 [1024] tile [128],
**       tensor f32 [4, 4] stride [4, 1] at 16, 3, 0.5, true)
**
** or `//@ assume add{B = 128}`, on one line. The options may be left out; strides are row-major and
*addresses aligned when they
** are not given. */
#ifndef GP_CALL_TEXT_H
#define GP_CALL_TEXT_H

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>

#include "dsl/module.h"

enum { CALL_ARGS = 16 };

typedef struct CallText {
    GpStr kernel;
    GpArgDesc args[CALL_ARGS];
    uint32_t arg_count;
    GpNamedArg named[CALL_ARGS];
    uint32_t named_count;
    uint32_t grid[3], block[3];
    GpSpan site;
    bool is_assumed;
} CallText;

typedef struct CallReader {
    const char *at;
    bool is_bad;
} CallReader;

static inline void skip_blank(CallReader *r) {
    while (*r->at == ' ')
        r->at++;
}

static inline bool take(CallReader *r, const char *text) {
    skip_blank(r);
    size_t n = strlen(text);
    if (strncmp(r->at, text, n))
        return false;
    if (isalpha((unsigned char)text[0]) && (isalnum((unsigned char)r->at[n]) || r->at[n] == '_'))
        return false;
    r->at += n;
    return true;
}

static inline void need(CallReader *r, const char *text) { r->is_bad |= !take(r, text); }

static inline GpStr read_word(CallReader *r) {
    skip_blank(r);
    const char *from = r->at;
    while (isalnum((unsigned char)*r->at) || *r->at == '_')
        r->at++;
    r->is_bad |= r->at == from;
    return (GpStr){from, (size_t)(r->at - from)};
}

static inline int64_t read_int(CallReader *r) {
    char *end;
    skip_blank(r);
    int64_t v = strtoll(r->at, &end, 0);
    r->is_bad |= end == r->at;
    r->at = end;
    return v;
}

static inline uint8_t read_list(CallReader *r, int64_t *out) {
    uint8_t n = 0;
    need(r, "[");
    while (!r->is_bad && !take(r, "]") && n < GP_MAX_RANK) {
        out[n++] = read_int(r);
        take(r, ",");
    }
    return n;
}

static inline void read_tensor(CallReader *r, GpArgDesc *a) {
    GpStr elem = read_word(r);
    r->is_bad |= !gp_elem_find(elem, &a->elem);
    a->shape.rank = read_list(r, a->shape.dim);
    int64_t stride = 1;
    for (int i = a->shape.rank - 1; i >= 0; i--) {
        a->stride[i] = stride;
        stride *= a->shape.dim[i] ? a->shape.dim[i] : 1;
    }
    if (a->kind == GpArg_Partition) {
        need(r, "tile");
        a->tile.rank = read_list(r, a->tile.dim);
        a->share.is_prefix = take(r, "prefix");
        if (take(r, "map")) {
            a->share.map.rank = read_list(r, a->share.map.dim);
            a->share.blocks = (uint32_t)read_int(r);
        }
    }
    if (take(r, "stride"))
        read_list(r, a->stride);
    if (take(r, "at"))
        a->address = (uint64_t)read_int(r);
}

static inline void read_number(CallReader *r, GpArgDesc *a) {
    char *end;
    skip_blank(r);
    size_t n = strspn(r->at, "+-0123456789");
    bool is_float = r->at[n] == '.' || r->at[n] == 'e' || r->at[n] == 'n' || r->at[n] == 'i';
    a->kind = is_float ? GpArg_Float : GpArg_Int;
    if (is_float)
        a->f = strtod(r->at, &end);
    else
        a->i = strtoll(r->at, &end, 10);
    r->is_bad |= end == r->at;
    r->at = end;
}

static inline void read_arg(CallReader *r, GpArgDesc *a) {
    memset(a, 0, sizeof *a);
    if (take(r, "tensor")) {
        a->kind = GpArg_Tensor;
        read_tensor(r, a);
    } else if (take(r, "part")) {
        a->kind = GpArg_Partition;
        read_tensor(r, a);
    } else if (take(r, "true") || take(r, "false")) {
        a->kind = GpArg_Bool;
        a->i = r->at[-2] == 'u';
    } else {
        read_number(r, a);
    }
}

static inline void read_option(CallReader *r, CallText *c) {
    GpStr name = read_word(r);
    need(r, "=");
    uint32_t *dims = gp_str_eq(name, GP_STR("grid"))    ? c->grid
                     : gp_str_eq(name, GP_STR("block")) ? c->block
                                                        : NULL;
    if (dims) {
        for (int i = 0; i < 3; i++) {
            skip_blank(r);
            if (isdigit((unsigned char)*r->at))
                dims[i] = (uint32_t)read_int(r);
        }
        return;
    }
    GpNamedArg *n = &c->named[c->named_count++];
    *n = (GpNamedArg){.name = name};
    if (take(r, "\"")) {
        n->kind = GpNamed_Text;
        n->text = read_word(r);
        need(r, "\"");
    } else if (take(r, "[")) {
        n->kind = GpNamed_Shape;
        while (!r->is_bad && !take(r, "]")) {
            n->shape.dim[n->shape.rank++] = read_int(r);
            r->is_bad |= n->shape.rank == GP_MAX_RANK;
            take(r, ",");
        }
    } else {
        n->value = read_int(r);
    }
}

/* Reads a call that starts at *text (after "//@ call"); false when it is malformed. */
static inline bool read_call(const char *text, CallText *c) {
    CallReader r = {text, false};
    memset(c, 0, sizeof *c);
    c->kernel = read_word(&r);
    if (take(&r, "{"))
        while (!r.is_bad && !take(&r, "}") && c->named_count < CALL_ARGS) {
            read_option(&r, c);
            take(&r, ",");
        }
    if (*r.at == '\n')
        return !r.is_bad;
    need(&r, "(");
    while (!r.is_bad && !take(&r, ")") && c->arg_count < CALL_ARGS) {
        read_arg(&r, &c->args[c->arg_count++]);
        take(&r, ",");
    }
    return !r.is_bad;
}

/* The next call at or after `from`; NULL when there is none. *c is filled, its site too. */
static inline const char *next_call(GpSource *src, const char *from, CallText *c, bool *is_bad) {
    static const char call[] = "//@ call ", assume[] = "//@ assume ";
    const char *at = from;
    while ((at = strstr(at, "//@ ")) && strncmp(at, call, sizeof call - 1) &&
           strncmp(at, assume, sizeof assume - 1))
        at++;
    if (!at)
        return NULL;
    bool is_assumed = at[4] == 'a';
    at += (is_assumed ? sizeof assume : sizeof call) - 1;
    size_t len = strcspn(at, "\n");
    *is_bad = !read_call(at, c);
    c->is_assumed = is_assumed;
    c->site = (GpSpan){src, (uint32_t)(at - src->text), (uint32_t)len};
    return at + len;
}

#endif
