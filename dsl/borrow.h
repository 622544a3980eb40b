/* Between borrow.c, borrow_live.c and borrow_report.c. */
#ifndef GP_BORROW_H
#define GP_BORROW_H

#include "dsl/place.h"

/* What a step does to a place. */
typedef enum GpTouch {
    GpTouch_Copy,
    GpTouch_Look,
    GpTouch_Shared,
    GpTouch_Mut,
    GpTouch_Reserve,
    GpTouch_Move,
    GpTouch_Assign,
    GpTouch_End,
} GpTouch;

typedef GP_VEC(uint32_t) GpIdVec;

typedef struct GpBorrows {
    GpForm *f;
    GpBits *live_in, *live_out; /* per block, over locals with regions */
    uint32_t *slot_of_region;   /* GP_NONE: none's */
    uint32_t *slot_of_live;
    GpIdVec *loans_of_live;    /* per live index: the loans it may hold */
    GpIdVec *loans_of_slot;    /* per slot: loans of places in it */
    bool *is_eternal;          /* per loan: must outlive the function */
    GpBits *in_scope;          /* per block, over loans, at its entry */
    GpIdVec *held;             /* per temporary: two-phase loans that its use activates */
    GP_VEC(uint64_t) reported; /* place and span of each error */
} GpBorrows;

/* The loans in scope while a block is walked, step by step. */
typedef struct GpCursor {
    GpBits live;      /* locals, before the next step */
    uint32_t *count;  /* per loan: live holders */
    GpBits scope;     /* loans */
    GpBits active;    /* two-phase loans that were activated */
    GpIdVec *changes; /* per step: live indices that flip before it (from the one before) */
} GpCursor;

/* ---- borrow_live.c */
void gp_borrow_live(GpBorrows *b);
bool gp_loan_is_ignored(const GpForm *f, const GpLoan *l);        /* can meet no other access */
void gp_step_live(const GpForm *f, const GpStep *s, GpBits live); /* live before, from live after */
bool gp_step_uses_slot(const GpForm *f, const GpStep *s, uint32_t slot, GpOperand *out);
bool gp_step_defines_slot(const GpStep *s, uint32_t slot);

/* ---- borrow_report.c */
typedef struct GpConflict {
    uint32_t block, step;
    GpTouch touch;
    const GpPlace *place;
    GpSpan span;
    uint32_t mine;   /* the loan being made; GP_NONE */
    uint32_t theirs; /* the loan in the way */
    GpBits live;     /* before the step */
} GpConflict;
void gp_report_conflict(GpBorrows *b, const GpConflict *c);
void gp_report_lifetimes(GpBorrows *b);

#endif
