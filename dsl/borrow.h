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

/* What becomes live and dead at each step of a block. */
typedef struct GpLiveChanges {
    GpIdVec all;   /* live indices, doubled, plus one for those that die; the last step's first */
    uint32_t *end; /* per step: where its changes end; they begin where the next step's end */
} GpLiveChanges;

/* Regions that flow into each other, as one. */
typedef struct GpRegionSet {
    GpIdVec longer;  /* the sets that flow into this one, once for each constraint */
    GpIdVec loans;   /* of these regions */
    bool is_eternal; /* flows into a region of the caller */
} GpRegionSet;

typedef struct GpBorrows {
    GpForm *f;
    GpBits *live_in, *live_out; /* per block, over locals with regions */
    uint32_t *slot_of_region;   /* GP_NONE: none's */
    uint32_t *slot_of_live;
    uint32_t *set_of_region;
    GpRegionSet *sets;
    uint32_t set_count;
    GpLiveChanges *changes; /* per block */
    GpBits *in_scope;       /* per block, over loans, at its entry */
    GpIdVec *held;          /* per temporary: two-phase loans that its use activates */
    GpMap reported;         /* place and span of each error */
} GpBorrows;

/* The loans of places in one slot that are in scope; `unique` admit no reads once active. */
typedef struct GpOpenLoans {
    GpIdVec shared, unique;
} GpOpenLoans;

/* The loans in scope while a block is walked, step by step. */
typedef struct GpCursor {
    GpBits live;       /* locals, before the next step */
    uint32_t *count;   /* per region set: its live locals and the live sets that it flows into */
    GpIdVec work;      /* sets whose count is to change */
    GpBits scope;      /* loans */
    GpOpenLoans *open; /* the same, per slot */
    uint32_t *place;   /* per loan in scope: where in the list of its slot */
    GpBits active;     /* two-phase loans that were activated */
} GpCursor;

/* ---- borrow_live.c */
void gp_borrow_live(GpBorrows *b);
bool gp_loan_is_ignored(const GpForm *f, const GpLoan *l);        /* can meet no other access */
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
