/* Lexer: a source text to tokens, one at a time. Knows no grammar. */
#ifndef GP_LEX_H
#define GP_LEX_H

#include "core/diag.h"
#include "core/source.h"

typedef enum GpTok {
#define GP_TOKEN(id, spelling, class, lbp, rbp) GpTok_##id,
#include "dsl/token.def"
    GpTok_count
} GpTok;

typedef enum GpTokClass {
    GpTokClass_Special,
    GpTokClass_Keyword,
    GpTokClass_Reserved,
    GpTokClass_Weak,
    GpTokClass_Punct
} GpTokClass;

typedef struct GpTokInfo {
    const char *spelling;
    GpTokClass cls;
    uint8_t lbp, rbp;
} GpTokInfo;
extern const GpTokInfo gp_tok_info[GpTok_count];

typedef struct GpFragment GpFragment; /* dsl/macro.h */

typedef struct GpToken {
    GpTok tok;
    bool space_before; /* white space or a comment stands before it */
    uint32_t off, len; /* literals include their suffix */
    uint32_t suffix;            /* length of the literal's suffix, 0 without one */
    GpSource *src;              /* where off is; the expansion that wrote the token */
    const GpFragment *fragment; /* Fragment: what the macro's variable stands for; never lexed */
} GpToken;

typedef struct GpLexer {
    GpSource *src;
    GpDiags *diags;
    uint32_t at;
    uint32_t end;
} GpLexer;

void gp_lex_init(GpLexer *lx, GpSource *src, GpDiags *diags);
/* The next token; GpTok_End for ever at the end. Unknown characters and unterminated literals
** are reported and give GpTok_Error. Doc comments are tokens, other comments are not. `>>` comes
** as one token: the parser splits it (and `>=`, `>>=`, `||`, `&&`, `..=`) where the grammar wants a part. */
GpToken gp_lex_next(GpLexer *lx);
/* The punctuation spelled at[0..len), GpTok_Error when there is none. */
GpTok gp_tok_punct(const char *at, size_t len);
/* The Keyword or Reserved token spelled at[0..len), GpTok_Name when it is none. */
GpTok gp_tok_keyword(const char *at, size_t len);

#endif
