/* Second opinions on a checked module, for the checkers' fuzz target: each is told by code that is
** simpler than what it judges, and ends the process where the two disagree.
**
** judge_diags.c: reports are well formed. judge_twin.c: programs that mean the same are told the
** same. judge_tree.c: an accepted tree leaves nothing to infer. judge_match.c: the arms of an accepted match name
** all variants. judge_moves.c, judge_loans.c: moves and borrows on the place form, path by path. judge_ir.c: what is
** accepted lowers to IR that the verifier accepts. */
#ifndef GP_JUDGE_H
#define GP_JUDGE_H

#include "dsl/place.h"

typedef struct Judged {
    GpStd *std;
    GpSource *src;
    GpModule *module;
    GpDiags *diags; /* of its definition, sorted */
} Judged;

/* Ends the process with the text and the program unless `holds`. */
GP_PRINTF(3, 4) void judge_require(const Judged *j, bool holds, const char *fmt, ...);
/* Runs fn under protection; running out of a limit is an answer like any other. */
void judge_protect(const Judged *j, void (*fn)(GpSession *s, void *ud), void *ud);

void judge_diags(const Judged *j, const GpDiags *ds);
void judge_twins(const Judged *j);
void judge_tree(const Judged *j);
void judge_matches(const Judged *j);
/* Whether types are right, so that moves and borrows were judged. */
bool judge_has_types(const Judged *j);
/* Of every body, when types are not what the module is refused for. */
void judge_bodies(const Judged *j);
void judge_ir(const Judged *j);

/* What judge_bodies asks of one body: whether some path uses what is gone, and assigns twice what
** may be assigned once. False when there are too many states to tell. */
bool judge_moves(GpForm *f, bool *is_used, bool *is_reassigned);
/* Whether some access meets a loan that is in scope; false when there is too much to look at. */
bool judge_loans(GpForm *f, bool *is_met);

#endif
