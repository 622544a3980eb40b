/* What the files of gp_codegen_tool share. */
#ifndef GP_CODEGEN_TOOL_H
#define GP_CODEGEN_TOOL_H

#include <stdio.h>

#include "codegen/codegen.h"

enum { MAX_COUNT = 1025, OPERANDS = 3, TILE = 64 };

typedef struct Tool {
    GpSession *session;
    GpArena *arena;
    GpDiags *diags;
    GpCodegen *cg;
    GpSource *src;
    FILE *records; /* NULL: none wanted */
    int argc;
    char **argv;
    int status;
} Tool;

/* One operation under test: parameter 0 is written, 1.. are read. */
typedef struct Case {
    GpOp op;
    GpPred pred;
    GpElem from, to;
    uint32_t operands;
    GpElem operand_elem[OPERANDS];
} Case;

typedef struct Launch {
    const GpIrFn *fn;
    const char *name;
    GpGrid grid;
    uint32_t args;
    GpElem elem[8];
    GpShape shape[8];
    size_t bytes[8];
    uint8_t *before[8], *after[8]; /* `after`: what the interpreter left */
    double bound;                  /* in units of the last place */
} Launch;

/* What a run left in a case's parameter 0, and what the interpreter did. */
typedef struct Outcome {
    const char *track;
    const uint8_t *got, *want;
    int64_t count;
    double bound; /* in units of the last place */
} Outcome;

GpIrFn *parse_file(Tool *t, const char *path);
void print_diags(Tool *t);
void fill(GpElem elem, uint8_t *at, size_t count, uint64_t *state);
void compare(Tool *t, const Case *c, const Outcome *o);
void pack_launch(const GpImage *image, const Launch *l, uint8_t *const *memory,
                 uint8_t *block, GpMailbox *mailbox);
void write_record(Tool *t, const Launch *l);
void agree(Tool *t);

#endif
