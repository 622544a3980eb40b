/* Private to dsl/ast_print*.c: the printer's state and what its files call in each other. */
#ifndef GP_AST_PRINT_H
#define GP_AST_PRINT_H

#include "dsl/ast.h"

typedef struct GpPrinter {
    GpText *out;
    int indent;
    bool is_expr_path; /* generic arguments need `::` before them */
} GpPrinter;

void gp_print_node(GpPrinter *p, const GpNode *n); /* NULL prints nothing */
void gp_print_expr_path(GpPrinter *p, const GpNode *path);
void gp_print_puts(GpPrinter *p, const char *text);
void gp_print_line(GpPrinter *p);             /* a new line, indented */
void gp_print_name(GpPrinter *p, GpSym name); /* r# where it is a keyword; NULL is `_` */
void gp_print_sym(GpPrinter *p, GpSym sym);   /* as it is; NULL prints nothing */
void gp_print_list(GpPrinter *p, GpNodeList list, const char *sep);
/* Braces around the inner ones of `inner`, the nodes of `list`, each followed by `after`, and
** tail, one a line. */
void gp_print_block_of(GpPrinter *p, GpNodeList inner, GpNodeList list, const char *after,
                       const GpNode *tail);
void gp_print_attrs(GpPrinter *p, GpNodeList attrs, bool is_inner, bool on_lines);
void gp_print_bounds(GpPrinter *p, const char *before, GpNodeList bounds);

/* One printer for each kind of node. */
#define GP_AST(Kind, group, fields) void gp_print_##Kind(GpPrinter *p, const GpAst##Kind *n);
#include "dsl/ast.def"

#endif
