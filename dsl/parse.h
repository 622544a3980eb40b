/* The parser's own header: state, token helpers, and the functions that its files call in each
** other. Private to dsl/parse*.c; everyone else uses gp_parse_file of dsl/ast.h.
**
** Reading order: parse.c (driver, helpers, recovery), parse_delim.c (tokens and their partners),
** parse_item.c, parse_members.c, parse_generics.c, parse_path.c, parse_type.c, parse_pat.c,
** parse_stmt.c, parse_expr.c, parse_primary.c, parse_control.c, parse_macro.c, parse_attr.c,
** parse_fragment.c.
**
** How errors unwind: the first error in a statement or item is reported and *parks* the parser:
** from then on the current token is End, so every loop and every expect gives up quietly. The
** nearest block, item list or file loop then recovers: it puts the parser after the broken part.
** A speculative parse is quiet: its first error parks without a report, nothing recovers inside,
** and whoever started it goes back. */
#ifndef GP_PARSE_H
#define GP_PARSE_H

#include "dsl/ast.h"

/* What messages may list as expected: token kinds, then these. */
typedef enum GpExpect {
    GpExpect_Operator = GpTok_count,
    GpExpect_Expr,
    GpExpect_Type,
    GpExpect_Pattern,
    GpExpect_Path,
    GpExpect_Item,
    GpExpect_count
} GpExpect;

#define GP_MAX_DEPTH  256  /* nested calls of the parser */
#define GP_MAX_HEIGHT 1000 /* of an expression tree: long chains are deep on the left */

typedef struct GpParser {
    GpArena *arena;
    GpInterner *names;
    GpDiags *diags;
    GpMap *macros;         /* as GpParse's */
    bool is_expansion;     /* the tokens come from several places */
    GpSource *src;         /* of the current token */
    const GpToken *toks;     /* the last one is End */
    const uint32_t *partner; /* for delimiters: index of the other one */
    uint32_t count;
    uint32_t at;   /* index of the current token */
    GpToken tok;   /* toks[at], the rest of it after a split, or End while parked */
    GpSpan prev;   /* the token consumed last */
    bool parked;   /* an error waits for recovery */
    bool gave_up;  /* too deep: nothing more is parsed */
    bool is_quiet; /* speculating */
    uint32_t depth;
    uint32_t height;      /* of the tallest expression parsed since it was last set to 0 */
    uint64_t expected[3]; /* bits: asked for at the current token */
} GpParser;

typedef GP_VEC(GpNode *) GpNodeVec;

/* parse_delim.c */
/* Fills toks, partner and count. False when delimiters do not match: reported, do not parse. */
bool gp_parser_read_tokens(GpParser *p);

/* Pairs the delimiters of tokens that are known to nest. */
void gp_parser_pair_tokens(GpParser *p);

/* parse.c: looking */
GpTok gp_parser_peek(const GpParser *p, uint32_t ahead); /* 0 is the current token */
bool gp_parser_is(GpParser *p, GpTok tok);               /* asks, and notes what was asked for */
bool gp_parser_is_punct(GpParser *p, GpTok tok); /* tok, or a longer one that starts with it */
bool gp_parser_is_weak(const GpParser *p, uint32_t ahead, GpTok weak);
bool gp_parser_is_tight(const GpParser *p, uint32_t ahead); /* no space before that token */
void gp_parser_note_expected(GpParser *p, unsigned what);
GpSpan gp_parser_span(const GpParser *p);                /* of the current token */
GpSpan gp_parser_since(const GpParser *p, GpSpan first); /* from first to the last consumed token */
GpSym gp_parser_sym(GpParser *p, GpSpan span);

/* parse.c: moving */
void gp_parser_bump(GpParser *p);
bool gp_parser_eat(GpParser *p, GpTok tok);
bool gp_parser_eat_punct(GpParser *p, GpTok tok); /* splits `>>` and the like */
bool gp_parser_expect(GpParser *p, GpTok tok);    /* eats it or reports and parks */
bool gp_parser_expect_punct(GpParser *p, GpTok tok);
GpSym gp_parser_expect_name(GpParser *p);           /* NULL after a report */
bool gp_parser_eat_comma(GpParser *p, GpTok close); /* between members; false at the end */
typedef struct GpParserMark {
    uint32_t at;
    GpToken tok;
    GpSpan prev;
    uint32_t depth, height;
} GpParserMark;
GpParserMark gp_parser_mark(const GpParser *p);
void gp_parser_back(GpParser *p, GpParserMark mark);
bool gp_parser_enter(GpParser *p); /* false: too deep, reported */
void gp_parser_leave(GpParser *p);
bool gp_parser_grow(GpParser *p, uint32_t height); /* sets height; false: too tall, reported */

/* parse.c: errors */
/* True when a report may be made here; else the parser is parked already or parks now. */
bool gp_parser_may_report(GpParser *p);
void gp_parser_park(GpParser *p);
void gp_parser_unexpected(GpParser *p); /* "expected .., found .." from the noted set; parks */
/* "expected `what`, found .." with what given; parks. */
GpDiag *gp_parser_expected(GpParser *p, const char *what);
/* Adds what other languages write at the current token to a report that expects `what` there. */
void gp_parser_help_foreign(const GpParser *p, GpDiag *d, const char *what);
const char *gp_parser_describe(GpParser *p, uint32_t ahead); /* "keyword `let`" */
/* "`what` are not supported" at span; goes on. */
void gp_parser_unsupported(GpParser *p, GpSpan span, const char *what);
/* After a parked error: continues behind the broken member that began at token `start`, inside
** the delimiters that end at token `close` (the End token for a file). Members are separated by
** sep, Semi or Comma. Does nothing when not parked; stays parked while quiet. */
void gp_parser_recover(GpParser *p, uint32_t start, uint32_t close, GpTok sep);
/* A missing `;` at the end of a line is reported and assumed. */
bool gp_parser_expect_semi(GpParser *p);

/* parse.c: building */
GpNodeList gp_parser_list(const GpNodeVec *v);
#define GP_PARSER_NEW(p, Kind, first) GP_AST_NEW((p)->arena, Kind, gp_parser_since((p), (first)))
GpNode *gp_parser_bad(GpParser *p);

/* Items */
void gp_parse_items(GpParser *p, uint32_t close, GpNodeVec *out);
/* An item, or NULL with nothing consumed when none starts here. */
GpNode *gp_parse_item(GpParser *p, GpNodeList attrs);
bool gp_parser_at_item(const GpParser *p);
GpNodeList gp_parse_fields(GpParser *p, const char *what);
GpNodeList gp_parse_tuple_fields(GpParser *p);
GpNode *gp_parse_use(GpParser *p, GpNodeList attrs, GpSpan first, bool is_pub);
GpNode *gp_parse_enum(GpParser *p, GpNodeList attrs, GpSpan first, bool is_pub);
bool gp_parse_visibility(GpParser *p);

/* Attributes and macros */
GpNodeList gp_parse_outer_attrs(GpParser *p);
void gp_parse_inner_attrs(GpParser *p, GpNodeVec *out);
/* The tokens between the delimiters at token `open`, as they were written. */
GpNode *gp_parser_tokens(GpParser *p, uint32_t open);
void gp_parser_skip_group(GpParser *p);
/* The delimited group as a list of expressions, or as `value; count` into *repeat unless repeat is
** NULL. False, and back before it, when it is neither. One attempt: nested groups must not be
** parsed twice a level. */
bool gp_parse_args_or_back(GpParser *p, GpTok close, GpNodeVec *args, GpNode **repeat);
/* Attributes with nothing after them: true when that was reported. `what` could have followed. */
bool gp_parser_report_lost_attrs(GpParser *p, GpNodeList attrs, const char *what);
GpNodeList gp_parser_join(GpParser *p, GpNodeList a, GpNodeList b);
GpNode *gp_parse_macro_rules(GpParser *p, GpNodeList attrs);
GpNode *gp_parse_macro(GpParser *p, GpNode *path); /* from `!` on */
GpNode *gp_parse_abi(GpParser *p);                 /* NULL when no string follows */
GpNode *gp_parse_meta(GpParser *p, GpSpan first, bool is_inner); /* an attribute without `#[` `]` */
void gp_parser_start(GpParser *p); /* at the first of its tokens */

/* Generics, paths, types, patterns */
GpNodeList gp_parse_generics(GpParser *p);
GpNodeList gp_parse_bounds(GpParser *p);
GpNodeList gp_parse_where(GpParser *p);
GpNodeList gp_parse_for_lifetimes(GpParser *p);
typedef enum GpPathStyle { GpPath_Type, GpPath_Expr, GpPath_Plain } GpPathStyle;
GpNode *gp_parse_path(GpParser *p, GpPathStyle style);
bool gp_parser_at_path(GpParser *p);
GpNodeList gp_parse_generic_args(GpParser *p); /* after `<`, up to and with `>` */
GpSym gp_parse_lifetime(GpParser *p);
/* A label, hygienic: what a macro wrote gets a name of its expansion, which prints the same (the
** bytes that tell it from others stand behind a NUL). */
GpSym gp_parse_label(GpParser *p);
GpNode *gp_parse_type(GpParser *p);
GpNode *gp_parse_type_no_bounds(GpParser *p); /* no `+` */
GpNode *gp_parse_ret(GpParser *p);            /* -> Type, or NULL */
GpNode *gp_parse_pat(GpParser *p);            /* with | */
GpNode *gp_parse_pat_no_or(GpParser *p);

/* Fragments: what a macro's variable stands for, kept whole as one token */
bool gp_parser_at_fragment(const GpParser *p, unsigned kinds); /* a bit per GpFragmentKind */
GpNode *gp_parse_fragment(GpParser *p, unsigned as);           /* reads it as that kind */

/* Statements and expressions */
GpNode *gp_parse_stmt(GpParser *p, GpNode **tail);
GpNode *gp_parse_stmt_alone(GpParser *p); /* without its semicolon; NULL for none */
typedef enum GpExprFlags {
    GpExpr_NoStruct = 1, /* `{` after a path starts a block */
    GpExpr_Let = 2,      /* `let` conditions may stand here */
    GpExpr_Stmt = 4      /* a block-like expression ends the statement */
} GpExprFlags;
GpNode *gp_parse_block(GpParser *p, GpNodeVec *inner); /* inner NULL: kept by the block */
GpNode *gp_parse_expr(GpParser *p);
GpNode *gp_parse_expr_with(GpParser *p, unsigned flags);
GpNode *gp_parse_primary(GpParser *p, unsigned flags);
GpNode *gp_parse_postfix(GpParser *p, GpNode *base, GpSpan first);
GpNode *gp_parse_lit(GpParser *p);     /* NULL when no literal is here */
GpNode *gp_parse_neg_lit(GpParser *p); /* -lit too */
GpNode *gp_parse_if(GpParser *p);
GpNode *gp_parse_match(GpParser *p);
GpNode *gp_parse_loop(GpParser *p); /* [label:] while, loop, for, block */
bool gp_node_is_block_like(const GpNode *n);
bool gp_parser_at_expr(const GpParser *p);

#endif
