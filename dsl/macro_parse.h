/* What the parts of macro expansion ask of the parser's inside. Private to dsl/. */
#ifndef GP_MACRO_PARSE_H
#define GP_MACRO_PARSE_H

#include "dsl/macro.h"
#include "dsl/parse.h"

/* A parser over the tokens of a macro; toks[count - 1] is End. */
void gp_parser_init_tokens(GpParser *p, const GpParse *in, const GpToken *toks, uint32_t count);
/* A name, or a word that the language has or keeps for itself. */
static inline bool gp_macro_is_word(const GpToken *t) {
    GpTokClass cls = gp_tok_info[t->tok].cls;
    return t->tok == GpTok_Name || cls == GpTokClass_Keyword || cls == GpTokClass_Reserved;
}
GpNode *gp_parse_as(GpParser *p, GpFragmentKind kind);

#endif
