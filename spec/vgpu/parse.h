/* What the files of the PTX parser share. */
#ifndef VG_PARSE_H
#define VG_PARSE_H

#include "spec/vgpu/vgpu.h"

#define VG_MAX_SCOPES 16

typedef enum VgSymbolKind {
    VgSymbol_Reg,
    VgSymbol_Var,
    VgSymbol_Label,
    VgSymbol_Func
} VgSymbolKind;
typedef struct VgSymbol {
    VgSymbolKind kind;
    VgOperand operand; /* Reg, Var: what a use of the name stands for */
    VgVar *var;
    VgFunc *func;
    bool is_placed; /* Label */
    uint32_t pc;
    GP_VEC(struct VgSymbol *) targets; /* Label of a .branchtargets list */
} VgSymbol;

typedef struct VgParse {
    VgModule *m;
    GpArena *arena;
    const char *at;
    uint32_t line, kernel_line;  /* of the PTX; of the kernel's source, by .loc */
    VgFunc *func;                /* NULL between functions */
    GpMap labels;                /* of the function */
    GpMap scopes[VG_MAX_SCOPES]; /* 0: the module's */
    uint32_t depth;
    char *error;
    size_t error_bytes;
} VgParse;

/* Ends the parse with "line N: ..". */
GP_PRINTF(2, 3) GP_NORETURN void vg_parse_fail(VgParse *p, const char *fmt, ...);
void vg_skip_space(VgParse *p);
/* Takes the punctuation if it comes next. */
bool vg_accept(VgParse *p, const char *what);
void vg_expect(VgParse *p, const char *what);
/* A name of letters, digits, `_`, `$` and `%`; empty when none comes. */
GpStr vg_name(VgParse *p);
GpSym vg_symbol_name(VgParse *p, GpStr name);
VgSymbol *vg_find(const VgParse *p, GpStr name); /* NULL when unknown */
/* A number as its bits; false when none comes. */
bool vg_number(VgParse *p, uint64_t *bits);
uint64_t vg_integer(VgParse *p);
/* One operand: register, number, name, {..}, [..]. */
VgOperand vg_operand(VgParse *p);
/* The label of a name, placed or not. */
VgSymbol *vg_label(VgParse *p, GpStr name);
/* An instruction whose name begins at p->at, with its `;`. */
void vg_instruction(VgParse *p, VgOperand guard);

#endif
