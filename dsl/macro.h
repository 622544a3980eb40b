/* Macros by example: macro_rules! definitions, matching, transcription. Between dsl/macro_*.c,
** expand.c and the parser.
**
** Reading order: parse_fragment.c (a variable's tokens as a node), macro_def.c (a definition's
** rules), macro_match.c, macro_write.c, expand.c (the walk over a tree).
**
** Tokens are copied, never text: each keeps its place, and through GpToken.src the expansion that
** wrote it. That is what hygiene asks: a name means a local only if both were written by the same
** expansion, or both in the text. */
#ifndef GP_MACRO_H
#define GP_MACRO_H

#include "dsl/ast.h"

typedef enum GpFragmentKind {
#define GP_FRAGMENT(id, name, follow) GpFragment_##id,
#include "dsl/fragment.def"
    GpFragment_count
} GpFragmentKind;

typedef struct GpFragmentRow {
    const char *name, *follow;
} GpFragmentRow;
extern const GpFragmentRow gp_fragment_rows[GpFragment_count];

#define GP_FRAGMENT_EXPRS (1u << GpFragment_Expr | 1u << GpFragment_Expr2021)
#define GP_FRAGMENT_PATS  (1u << GpFragment_Pat | 1u << GpFragment_PatParam)

typedef struct GpTokenRun {
    const GpToken *toks;
    uint32_t len;
} GpTokenRun;

/* What a variable stands for. The tokens of expressions, types, patterns and paths are kept whole:
** `$a * 2` multiplies all of `$a`. */
struct GpFragment {
    GpFragmentKind kind;
    GpTokenRun run;          /* End stands behind it */
    const uint32_t *partner; /* run.len + 1 of them */
};

/* ---- definitions (macro_def.c) ------------------------------------------------------------- */

typedef enum GpTreeKind {
    GpTree_Token,
    GpTree_Group, /* ( .. ), [ .. ], { .. } */
    GpTree_Seq,   /* $( .. ) sep op */
    GpTree_Decl,  /* $name:kind in a matcher */
    GpTree_Use,   /* $name in a transcriber */
} GpTreeKind;

/* A token tree of a matcher or transcriber. */
typedef struct GpTree {
    GpTreeKind kind;
    GpToken tok;         /* Token; Group: the opening one; Decl, Use: the name */
    GpToken close;       /* Group: the closing one */
    struct GpTree *kids; /* Group, Seq */
    uint32_t count;
    GpSym name;              /* Decl, Use */
    GpFragmentKind fragment; /* Decl */
    bool has_kind;           /* Decl: a fragment specifier was written */
    uint32_t var;            /* Decl: index among the rule's variables */
    GpToken dollar;          /* Use: its `$` */
    bool has_sep;            /* Seq */
    GpToken sep;
    GpTok op;    /* Seq: Star, Plus or Question */
    GpSpan span; /* Decl, Use, Seq: all of it */
} GpTree;

typedef struct GpRule {
    GpTree *lhs, *rhs; /* lists */
    uint32_t lhs_count, rhs_count;
    GpTree **vars; /* the Decl trees, in order */
    uint32_t var_count;
    GpSpan rhs_span;
} GpRule;

typedef struct GpRules {
    GpSym name;
    GpSpan span;       /* `macro_rules! name`'s name */
    GpSource *written; /* the text or expansion that the definition is in */
    GpRule *rules;
    uint32_t count;
    const GpNode *node; /* the definition: which macro it is */
    bool is_broken;     /* reported */
} GpRules;

/* Reads a definition; what is wrong with it is reported and makes it broken. */
GpRules *gp_macro_define(GpParse *in, const GpAstMacroRules *node, const GpTokenRun *body);

/* ---- matching (macro_match.c) -------------------------------------------------------------- */

/* What a variable matched: a fragment, or one binding per repetition. */
typedef struct GpBinding {
    const GpFragment *fragment; /* NULL: repeated */
    struct GpBinding *items;
    uint32_t count, cap;
} GpBinding;

typedef struct GpMatch {
    const GpRule *rule;
    GpBinding *vars; /* one per rule->vars */
} GpMatch;

/* The first rule that fits the tokens of `call` (delimiters included). False after a report. */
bool gp_macro_match(GpParse *in, const GpRules *rules, GpSpan call, const GpTokenRun *args,
                    GpMatch *out);

/* ---- transcription (macro_write.c) --------------------------------------------------------- */

/* The tokens of the expansion, End last; NULL after a report. `expansion` is the source of what the
** macro itself writes, `end` where the rule ends. `budget` counts the tokens still allowed. */
const GpToken *gp_macro_write(GpParse *in, const GpMatch *match, GpSource *expansion, GpSpan end,
                              uint32_t *budget, uint32_t *count);

/* ---- expansion (expand.c) ------------------------------------------------------------------ */

/* Replaces every call of a macro that the file defines by what it expands to, and drops the
** definitions. Errors are reported; the call then becomes a Bad node or nothing. */
void gp_expand_file(GpParse *in, GpAstFile *file);

#endif
