/* Tokens of IR text. */
#ifndef GP_IR_LEX_H
#define GP_IR_LEX_H

#include "core/source.h"

typedef enum GpIrTok {
    GpIrTok_Word,   /* op, keyword or number: letters, digits and any of _ . ? + - */
    GpIrTok_Value,  /* %name; the text is without the sign */
    GpIrTok_Label,  /* ^name */
    GpIrTok_Name,   /* @name */
    GpIrTok_String, /* the text is between the quotes, escapes as written */
    GpIrTok_Punct,  /* one character */
    GpIrTok_End,
} GpIrTok;

typedef struct GpIrToken {
    GpIrTok tok;
    GpStr text;
    GpSpan span;
} GpIrToken;

/* The token that starts at or after *at; moves *at behind it. */
GpIrToken gp_ir_lex(GpSource *src, uint32_t *at);

#endif
