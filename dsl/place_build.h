/* Inside the builder of the place form (place*.c). Not for other files. */
#ifndef GP_PLACE_BUILD_H
#define GP_PLACE_BUILD_H

#include "dsl/place.h"

/* What ends together: the variables of a block or the temporaries of a statement. */
typedef struct GpPlaceScope {
    GP_VEC(uint32_t) slots;
    GpSpan end; /* shown as the place where they are dropped */
} GpPlaceScope;

typedef struct GpLeaving {
    const GpNode *node;
    uint32_t on_break, on_continue; /* blocks; GP_NONE */
    GpPlace *dst;                   /* what `break value` gives; NULL */
    uint32_t depth;                 /* scopes that stay */
    struct GpLeaving *outer;
} GpLeaving;

typedef struct GpBuild {
    GpForm *f;
    GpArena *arena;
    uint32_t block; /* where the next step goes */
    GP_VEC(GpPlaceScope) scopes;
    uint32_t temps; /* the scope that takes temporaries */
    GpLeaving *target;
    GpPlace *ret;
    const GpNode *stmt;
    uint32_t exit;     /* the block that returns */
    uint32_t extend;   /* the scope that takes extended temporaries */
    bool is_extended;  /* the operand of & lives as long as the block: `let x = &f();` */
    const char *bound; /* of the parameter that the next closure is for */
    bool is_arg;       /* a mutable borrow by adjustment is two-phase */
} GpBuild;

/* ---- place.c */
uint32_t gp_build_block(GpBuild *b);
void gp_build_goto(GpBuild *b, uint32_t block); /* and goes on in `block` */
void gp_build_edge(GpBuild *b, uint32_t from, uint32_t to);
void gp_build_dead_end(GpBuild *b); /* what follows is unreachable */
GpStep *gp_build_step(GpBuild *b, GpStepKind kind, GpSpan span);
void gp_step_uses(GpBuild *b, GpStep *s, const GpOperand *uses, uint32_t count);
void gp_build_copy(GpBuild *b, GpPlace *dst, GpOperand from, GpSpan span);
void gp_build_inspect(GpBuild *b, GpPlace *p, GpSpan span);
uint32_t gp_build_loan(GpBuild *b, GpPlace *dst, GpPlace *of, GpLoanKind kind, GpSpan span);
void gp_scope_push(GpBuild *b, GpSpan end);
void gp_scope_pop(GpBuild *b);
void gp_scope_leave(GpBuild *b, uint32_t depth); /* ends, but does not forget, inner scopes */
GpPlace *gp_build_temp(GpBuild *b, const GpType *t, GpSpan span);
GpOperand gp_operand_of(GpBuild *b, GpPlace *p, GpSpan span);

/* ---- place_expr.c */
void gp_build_into(GpBuild *b, GpPlace *dst, GpNode *n);
GpOperand gp_build_operand(GpBuild *b, GpNode *n);
GpPlace *gp_build_place(GpBuild *b, GpNode *n);
void gp_build_drop(GpBuild *b, GpNode *n); /* evaluates and forgets */
void gp_build_regions(GpBuild *b, GpPlace *from, GpPlace *to, GpSpan span);

/* ---- place_call.c */
void gp_build_call(GpBuild *b, GpPlace *dst, GpNode *n);
void gp_build_method(GpBuild *b, GpPlace *dst, GpNode *n);
void gp_build_macro(GpBuild *b, GpPlace *dst, GpNode *n);
/* An operator that is a trait's method; rhs NULL: a unary one. */
void gp_build_overload(GpBuild *b, GpPlace *dst, GpNode *n, GpNode *lhs, GpNode *rhs);

/* ---- place_flow.c */
void gp_build_block_into(GpBuild *b, GpPlace *dst, GpNode *n);
void gp_build_if(GpBuild *b, GpPlace *dst, GpNode *n);
void gp_build_match(GpBuild *b, GpPlace *dst, GpNode *n);
void gp_build_loop(GpBuild *b, GpPlace *dst, GpNode *n);
void gp_build_while(GpBuild *b, GpNode *n);
void gp_build_for(GpBuild *b, GpNode *n);
void gp_build_leave(GpBuild *b, GpNode *n); /* break, continue, return */
/* Evaluates a condition; goes on where it holds; *otherwise gets the block where it does not. */
void gp_build_cond(GpBuild *b, GpNode *n, uint32_t otherwise, uint32_t depth);

/* ---- place_pat.c */
void gp_pat_declare(GpBuild *b, GpNode *pat, GpSpan let_span, bool has_init);
/* Whether matching looks at the value; and reads what decides. */
void gp_place_test(GpBuild *b, GpNode *pat, GpPlace *p, GpSpan span);
/* What a guard sees: the bindings, with nothing moved yet. */
void gp_pat_show(GpBuild *b, GpNode *pat, GpPlace *p);
void gp_place_bind(GpBuild *b, GpNode *pat, GpPlace *p, GpNode *init);
bool gp_pat_is_wild(const GpNode *pat);
uint32_t gp_build_local_slot(GpBuild *b, const GpLocal *l);
GpPlace *gp_build_local(GpBuild *b, const GpLocal *l);

/* ---- place_closure.c */
void gp_build_closure(GpBuild *b, GpPlace *dst, GpNode *n);
const GpClosureForm *gp_find_closure(const GpForm *f, const GpNode *n);

static inline GpPlace *gp_form_place(const GpForm *f, uint32_t slot) {
    return f->slots.at[slot].place;
}

/* Without parentheses, as far as nothing is done to the value on the way. */
static inline GpNode *gp_bare(GpNode *n) {
    while (n && n->kind == GpNode_Paren && !n->adjust)
        n = GP_AS(Paren, n)->operand;
    return n;
}

#endif
