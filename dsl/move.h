/* Between move.c and move_report.c. */
#ifndef GP_MOVE_H
#define GP_MOVE_H

#include "dsl/place.h"

typedef enum GpAccessVerb { GpAccess_Use, GpAccess_Borrow, GpAccess_Assign } GpAccessVerb;

/* A step that moved a place out, as seen from a later use. */
typedef struct GpMoveSite {
    uint32_t block, step;
    GpPlace *place;
    GpSpan span;
    bool is_earlier_round; /* in a previous iteration of a loop */
} GpMoveSite;

typedef struct GpMoveSet {
    GpMoveSite *at;
    uint32_t len;
} GpMoveSet;

typedef struct GpBadUse {
    GpPlace *place; /* what is used, as it is named */
    GpPlace *used;  /* what is used */
    GpAccessVerb verb;
    GpSpan span;
    uint32_t block, step;
    const GpLoan *loan;
} GpBadUse;

typedef struct GpMoveError {
    GpBadUse use;
    GpMoveSet sites;
} GpMoveError;

typedef struct GpMoves {
    GpForm *f;
    uint32_t *index;    /* place id -> bit; parts follow their whole */
    uint32_t *end;      /* bit -> one past its parts */
    GpPlace **place_of; /* bit -> place */
    uint32_t count;
    uint32_t *once; /* slot -> bit behind those of places: may be assigned; GP_NONE: not asked */
    uint32_t bits;  /* of both */
    bool *is_path;  /* place id: moved or assigned somewhere, so that messages name it */
    GpBits *entry;  /* per block */
    GP_VEC(GpMoveError) errors;     /* E0382 to report */
    GP_VEC(const GpPlace *) uninit; /* locals with an E0381 */
} GpMoves;

void gp_report_moved(GpMoves *m, const GpBadUse *use, GpMoveSet sites);
void gp_report_uninit(GpMoves *m, const GpBadUse *use, bool is_partial_assign, bool is_conditional);
void gp_report_illegal_move(GpMoves *m, const GpStep *s, GpOperand use);
/* E0594, E0596 of what a `Fn` closure captured */
void gp_report_captured(GpMoves *m, GpDiagCode code, const GpPlace *p, GpSpan span);
/* E0596 of a variable that a call borrows mutably, unless it is declared so */
void gp_report_immutable(GpMoves *m, const GpLoan *l);
void gp_report_reassign(GpMoves *m, const GpPlace *p, GpSpan span);

/* `if P implemented Clone ..`, for types of the user's own */
void gp_note_clone(GpForm *f, GpDiag *d, const GpType *t);
GpSpan gp_slot_decl_span(const GpSlot *slot); /* with its `mut` */

#endif
