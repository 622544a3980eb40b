/* The text of a print: the same for the interpreter and compiled code on the CPU. */
#ifndef GP_IR_PRINTED_H
#define GP_IR_PRINTED_H

#include "dsl/ir/ir.h"

/* What a value is, as numbers: 1 for an address, the element type, the rank, the extents. */
enum { GP_PRINTED_WORDS = 3 + GP_MAX_RANK };
void gp_printed_type(const GpIrType *type, int64_t *words);

typedef GpScalar (*GpPrintedGet)(const void *ud, uint32_t operand, int64_t element);
/* `types` holds GP_PRINTED_WORDS for each {} of the text. Elements are row-major, an address is in
** `u`. */
void gp_printed_text(const char *text, const int64_t *types, GpPrintedGet get, const void *ud,
                     GpText *out);
/* The same from memory, to the host's `write` hook: what compiled code calls. */
void gp_printed_write(const GpHooks *hooks, const char *text, const int64_t *types,
                      const void *const *values);

#endif
