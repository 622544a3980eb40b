/* Prints statements and expressions. Parentheses of the source are nodes; more are added where
** the binding powers of token.def ask for them. */
#include "dsl/ast_print.h"

enum { Power_Jump = 1, Power_Range = 4, Power_Let = 8, Power_Prefix = 27, Power_Postfix = 30 };

static unsigned power_of(const GpNode *n) {
    if (n->kind == GpNode_Binary)
        return gp_tok_info[((const GpAstBinary *)n)->op].lbp;
    if (n->kind == GpNode_Assign)
        return gp_tok_info[((const GpAstAssign *)n)->op].lbp;
    if (n->kind == GpNode_Cast)
        return gp_tok_info[GpTok_As].lbp;
    if (n->kind == GpNode_Unary || n->kind == GpNode_Borrow)
        return Power_Prefix;
    if (n->kind == GpNode_Range)
        return Power_Range;
    if (n->kind == GpNode_LetCond)
        return Power_Let;
    bool is_open = n->kind == GpNode_Closure || n->kind == GpNode_Break || n->kind == GpNode_Return;
    return is_open ? Power_Jump : Power_Postfix;
}

static void print_operand(GpPrinter *p, const GpNode *n, unsigned min_power) {
    if (!n)
        return;
    bool has_parens = power_of(n) < min_power;
    if (has_parens)
        gp_print_puts(p, "(");
    gp_print_node(p, n);
    if (has_parens)
        gp_print_puts(p, ")");
}

/* An operand before a dot: a number without a suffix would swallow it. */
static void print_before_dot(GpPrinter *p, const GpNode *n, unsigned min_power) {
    const GpAstLit *lit = n && n->kind == GpNode_Lit ? (const GpAstLit *)n : NULL;
    bool is_number = lit && (lit->tok == GpTok_Int || lit->tok == GpTok_Float) && !lit->suffix;
    if (is_number)
        gp_print_puts(p, "(");
    print_operand(p, n, min_power);
    if (is_number)
        gp_print_puts(p, ")");
}

static void print_word(GpPrinter *p, GpTok tok) { gp_print_puts(p, gp_tok_info[tok].spelling); }

static void print_label(GpPrinter *p, GpSym label) {
    if (!label)
        return;
    gp_print_sym(p, label);
    gp_print_puts(p, ": ");
}

/* Statements */

void gp_print_Let(GpPrinter *p, const GpAstLet *n) {
    gp_print_attrs(p, n->attrs, false, true);
    gp_print_puts(p, "let ");
    gp_print_node(p, n->pat);
    if (n->type)
        gp_print_puts(p, ": ");
    gp_print_node(p, n->type);
    if (n->init)
        gp_print_puts(p, " = ");
    gp_print_node(p, n->init);
    if (n->otherwise)
        gp_print_puts(p, " else ");
    gp_print_node(p, n->otherwise);
    gp_print_puts(p, ";");
}

void gp_print_ExprStmt(GpPrinter *p, const GpAstExprStmt *n) {
    gp_print_attrs(p, n->attrs, false, true);
    gp_print_node(p, n->expr);
    if (n->has_semi)
        gp_print_puts(p, ";");
}

void gp_print_ItemStmt(GpPrinter *p, const GpAstItemStmt *n) { gp_print_node(p, n->item); }

/* Expressions */

void gp_print_Lit(GpPrinter *p, const GpAstLit *n) {
    gp_print_sym(p, n->text);
    gp_print_sym(p, n->suffix);
}

void gp_print_PathExpr(GpPrinter *p, const GpAstPathExpr *n) { gp_print_expr_path(p, n->path); }

void gp_print_Unary(GpPrinter *p, const GpAstUnary *n) {
    print_word(p, n->op);
    print_operand(p, n->operand, Power_Prefix);
}

void gp_print_Binary(GpPrinter *p, const GpAstBinary *n) {
    const GpTokInfo *op = &gp_tok_info[n->op];
    bool is_compare = op->lbp == gp_tok_info[GpTok_EqEq].lbp;
    print_operand(p, n->lhs, is_compare ? op->rbp : op->lbp);
    gp_print_puts(p, " ");
    print_word(p, n->op);
    gp_print_puts(p, " ");
    print_operand(p, n->rhs, op->rbp);
}

void gp_print_Assign(GpPrinter *p, const GpAstAssign *n) {
    print_operand(p, n->lhs, gp_tok_info[n->op].lbp + 1u);
    gp_print_puts(p, " ");
    print_word(p, n->op);
    gp_print_puts(p, " ");
    gp_print_node(p, n->rhs);
}

static void print_args(GpPrinter *p, GpNodeList args) {
    gp_print_puts(p, "(");
    gp_print_list(p, args, ", ");
    gp_print_puts(p, ")");
}

void gp_print_Call(GpPrinter *p, const GpAstCall *n) {
    bool is_field = n->callee->kind == GpNode_Field;
    print_operand(p, n->callee, is_field ? Power_Postfix + 1u : Power_Postfix);
    print_args(p, n->args);
}

void gp_print_MethodCall(GpPrinter *p, const GpAstMethodCall *n) {
    print_before_dot(p, n->receiver, Power_Postfix);
    gp_print_puts(p, ".");
    gp_print_name(p, n->name);
    if (n->has_generics) {
        gp_print_puts(p, "::<");
        gp_print_list(p, n->generics, ", ");
        gp_print_puts(p, ">");
    }
    print_args(p, n->args);
}

void gp_print_Field(GpPrinter *p, const GpAstField *n) {
    print_before_dot(p, n->base, Power_Postfix);
    gp_print_puts(p, ".");
    gp_print_name(p, n->name);
}

void gp_print_Index(GpPrinter *p, const GpAstIndex *n) {
    print_operand(p, n->base, Power_Postfix);
    gp_print_puts(p, "[");
    gp_print_node(p, n->index);
    gp_print_puts(p, "]");
}

void gp_print_Range(GpPrinter *p, const GpAstRange *n) {
    const GpAstLit *lit = n->lo && n->lo->kind == GpNode_Lit ? (const GpAstLit *)n->lo : NULL;
    bool ends_in_dot = lit && lit->text->name[lit->text->len - 1] == '.';
    if (ends_in_dot)
        print_before_dot(p, n->lo, Power_Range + 1u);
    else
        print_operand(p, n->lo, Power_Range + 1u);
    gp_print_puts(p, n->is_closed ? "..=" : "..");
    print_operand(p, n->hi, Power_Range + 1u);
}

void gp_print_Borrow(GpPrinter *p, const GpAstBorrow *n) {
    gp_print_puts(p, n->is_raw   ? (n->is_mut ? "&raw mut " : "&raw const ")
                     : n->is_mut ? "&mut "
                                 : "&");
    print_operand(p, n->operand, Power_Prefix);
}

void gp_print_Cast(GpPrinter *p, const GpAstCast *n) {
    print_operand(p, n->operand, gp_tok_info[GpTok_As].lbp);
    gp_print_puts(p, " as ");
    bool has_plus = n->type->kind == GpNode_TypeBounds;
    gp_print_puts(p, has_plus ? "(" : "");
    gp_print_node(p, n->type);
    gp_print_puts(p, has_plus ? ")" : "");
}

void gp_print_Tuple(GpPrinter *p, const GpAstTuple *n) {
    gp_print_puts(p, "(");
    gp_print_list(p, n->items, ", ");
    gp_print_puts(p, n->items.len == 1 ? ",)" : ")");
}

void gp_print_Array(GpPrinter *p, const GpAstArray *n) {
    gp_print_puts(p, "[");
    gp_print_list(p, n->items, ", ");
    gp_print_puts(p, "]");
}

static void print_repeat_inner(GpPrinter *p, const GpAstRepeat *n) {
    gp_print_node(p, n->value);
    gp_print_puts(p, "; ");
    gp_print_node(p, n->count);
}

void gp_print_Repeat(GpPrinter *p, const GpAstRepeat *n) {
    gp_print_puts(p, "[");
    print_repeat_inner(p, n);
    gp_print_puts(p, "]");
}

void gp_print_StructLit(GpPrinter *p, const GpAstStructLit *n) {
    gp_print_expr_path(p, n->path);
    gp_print_puts(p, " { ");
    gp_print_list(p, n->fields, ", ");
    if (n->base)
        gp_print_puts(p, n->fields.len > 0 ? ", .." : "..");
    gp_print_node(p, n->base);
    gp_print_puts(p, " }");
}

void gp_print_FieldInit(GpPrinter *p, const GpAstFieldInit *n) {
    gp_print_attrs(p, n->attrs, false, false);
    gp_print_name(p, n->name);
    if (n->value)
        gp_print_puts(p, ": ");
    gp_print_node(p, n->value);
}

void gp_print_If(GpPrinter *p, const GpAstIf *n) {
    gp_print_attrs(p, n->attrs, false, true);
    gp_print_puts(p, "if ");
    gp_print_node(p, n->cond);
    gp_print_puts(p, " ");
    gp_print_node(p, n->then);
    if (n->otherwise)
        gp_print_puts(p, " else ");
    gp_print_node(p, n->otherwise);
}

void gp_print_LetCond(GpPrinter *p, const GpAstLetCond *n) {
    gp_print_puts(p, "let ");
    gp_print_node(p, n->pat);
    gp_print_puts(p, " = ");
    print_operand(p, n->init, Power_Let + 1u);
}

void gp_print_Match(GpPrinter *p, const GpAstMatch *n) {
    gp_print_attrs(p, n->attrs, false, true);
    gp_print_puts(p, "match ");
    gp_print_node(p, n->scrutinee);
    gp_print_puts(p, " ");
    gp_print_block_of(p, n->attrs, n->arms, ",", NULL);
}

void gp_print_Arm(GpPrinter *p, const GpAstArm *n) {
    gp_print_attrs(p, n->attrs, false, true);
    gp_print_node(p, n->pat);
    if (n->guard)
        gp_print_puts(p, " if ");
    gp_print_node(p, n->guard);
    gp_print_puts(p, " => ");
    gp_print_node(p, n->body);
}

void gp_print_While(GpPrinter *p, const GpAstWhile *n) {
    gp_print_attrs(p, n->attrs, false, true);
    print_label(p, n->label);
    gp_print_puts(p, "while ");
    gp_print_node(p, n->cond);
    gp_print_puts(p, " ");
    gp_print_node(p, n->body);
}

void gp_print_Loop(GpPrinter *p, const GpAstLoop *n) {
    gp_print_attrs(p, n->attrs, false, true);
    print_label(p, n->label);
    gp_print_puts(p, "loop ");
    gp_print_node(p, n->body);
}

void gp_print_For(GpPrinter *p, const GpAstFor *n) {
    gp_print_attrs(p, n->attrs, false, true);
    print_label(p, n->label);
    gp_print_puts(p, "for ");
    gp_print_node(p, n->pat);
    gp_print_puts(p, " in ");
    gp_print_node(p, n->iter);
    gp_print_puts(p, " ");
    gp_print_node(p, n->body);
}

/* A block of one short value, as in generic arguments, stands on one line. */
static bool is_short_block(const GpAstBlock *n) {
    if (!n->tail || n->stmts.len > 0 || n->attrs.len > 0)
        return false;
    GpNodeKind kind = n->tail->kind;
    return kind == GpNode_Array || kind == GpNode_Lit || kind == GpNode_PathExpr ||
           kind == GpNode_Unary || kind == GpNode_Repeat || kind == GpNode_Binary ||
           kind == GpNode_Index || kind == GpNode_Field;
}

static void print_block(GpPrinter *p, const GpAstBlock *n) {
    print_label(p, n->label);
    if (n->is_unsafe)
        gp_print_puts(p, "unsafe ");
    if (n->is_const)
        gp_print_puts(p, "const ");
    if (is_short_block(n)) {
        gp_print_puts(p, "{ ");
        gp_print_node(p, n->tail);
        gp_print_puts(p, " }");
        return;
    }
    gp_print_block_of(p, n->attrs, n->stmts, "", n->tail);
}

void gp_print_Block(GpPrinter *p, const GpAstBlock *n) {
    gp_print_attrs(p, n->attrs, false, true);
    print_block(p, n);
}

static void print_jump(GpPrinter *p, const char *word, GpSym label, const GpNode *value) {
    gp_print_puts(p, word);
    if (label)
        gp_print_puts(p, " ");
    gp_print_sym(p, label);
    if (value)
        gp_print_puts(p, " ");
    gp_print_node(p, value);
}

void gp_print_Break(GpPrinter *p, const GpAstBreak *n) {
    print_jump(p, "break", n->label, n->value);
}

void gp_print_Continue(GpPrinter *p, const GpAstContinue *n) {
    print_jump(p, "continue", n->label, NULL);
}

void gp_print_Return(GpPrinter *p, const GpAstReturn *n) {
    print_jump(p, "return", NULL, n->value);
}

void gp_print_Closure(GpPrinter *p, const GpAstClosure *n) {
    gp_print_puts(p, n->is_move ? "move |" : "|");
    gp_print_list(p, n->params, ", ");
    gp_print_puts(p, n->ret ? "| -> " : "| ");
    gp_print_node(p, n->ret);
    if (n->ret)
        gp_print_puts(p, " ");
    gp_print_node(p, n->body);
}

void gp_print_Try(GpPrinter *p, const GpAstTry *n) {
    print_operand(p, n->operand, Power_Postfix);
    gp_print_puts(p, "?");
}

void gp_print_Paren(GpPrinter *p, const GpAstParen *n) {
    gp_print_puts(p, "(");
    gp_print_node(p, n->operand);
    gp_print_puts(p, ")");
}

void gp_print_Macro(GpPrinter *p, const GpAstMacro *n) {
    bool has_lines = n->open == GpTok_LBrace ||
                     (n->tokens && strstr(GP_AS(Tokens, n->tokens)->text->name, "//"));
    gp_print_expr_path(p, n->path);
    gp_print_puts(p, n->open == GpTok_LBrace ? "! " : "!");
    print_word(p, n->open);
    if (has_lines)
        gp_print_puts(p, "\n");
    gp_print_list(p, n->args, ", ");
    if (n->has_comma)
        gp_print_puts(p, ",");
    if (n->repeat)
        print_repeat_inner(p, GP_AS(Repeat, n->repeat));
    gp_print_node(p, n->tokens);
    if (has_lines)
        gp_print_line(p);
    print_word(p, n->open == GpTok_LParen     ? GpTok_RParen
                  : n->open == GpTok_LBracket ? GpTok_RBracket
                                              : GpTok_RBrace);
}

void gp_print_Wild(GpPrinter *p, const GpAstWild *n) {
    (void)n;
    gp_print_puts(p, "_");
}

void gp_print_Bad(GpPrinter *p, const GpAstBad *n) {
    (void)n;
    gp_print_puts(p, "/* bad */");
}
