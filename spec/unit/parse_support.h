/* Reads and parses one file, for the parser's test, its dump program and its fuzz target. */
#ifndef GP_PARSE_SUPPORT_H
#define GP_PARSE_SUPPORT_H

#include <stdio.h>
#include <stdlib.h>

#include "dsl/ast.h"

typedef struct ParseCase {
    GpSession s;
    GpArena *arena;
    GpInterner *names;
    GpDiags *diags;
    GpSource *src, *printed;
    GpAstFile *file;
    GpText text;    /* the printed tree */
    bool is_parsed; /* without errors */
    bool is_stable; /* the printed tree parses to an equal one */
    bool has_thrown;
} ParseCase;

static inline void parse_in(GpSession *s, void *ud) {
    ParseCase *c = ud;
    c->names = gp_interner_make(c->arena);
    GpParse p = {c->arena, c->names, c->diags, NULL};
    c->file = gp_parse_file(&p, c->src);
    c->is_parsed = gp_diags_errors(c->diags) == 0;
    if (!c->is_parsed)
        return;
    gp_node_print(&c->file->node, &c->text);
    if (c->text.failed)
        return;
    c->printed = gp_source_new(s, "printed", gp_text_cstr(&c->text), c->text.len, 1, 1);
    if (!c->printed)
        return;
    GpAstFile *again = gp_parse_file(&p, c->printed);
    c->is_stable = gp_diags_errors(c->diags) == 0 && gp_node_equal(&c->file->node, &again->node);
}

/* Fills *c; end with parse_case_done. */
static inline void parse_case_init(ParseCase *c, const char *name, const char *text, size_t len) {
    *c = (ParseCase){0};
    gp_session_init(&c->s, NULL, NULL, NULL);
    c->text.session = &c->s;
    c->arena = gp_arena_new(&c->s);
    c->diags = gp_diags_new(&c->s);
    c->src = gp_source_new(&c->s, name, text, len, 1, 1);
    if (!c->arena || !c->diags || !c->src)
        abort();
    c->has_thrown = gp_protect(&c->s, parse_in, c) != GpStatus_Ok;
}

static inline void parse_case_done(ParseCase *c) {
    gp_text_free(&c->text);
    gp_diags_release(c->diags);
    gp_source_release(c->src);
    gp_source_release(c->printed);
    gp_arena_free(c->arena);
}

#endif
