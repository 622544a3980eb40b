/* The place form: what a function's body does to places, as a control-flow graph. Moves and
** borrows are judged on it (move.c, borrow*.c); nothing else reads it.
**
** Reading order: place.c (graph, locals, scopes, places), place_expr.c, place_flow.c,
** place_pat.c, place_closure.c (building), place_region.c (lifetimes of types and signatures),
** place_text.c (places in words), move.c and move_report.c, borrow.c, borrow_live.c and
** borrow_report.c.
**
** Everything is a step: it reads operands, may borrow one place, then writes one place. Values
** in flight are in temporaries, so a loan is live exactly while some local that may hold it is.
** Types are the checker's; lifetimes, which types do not keep, are vectors of region variables
** beside them, one for each reference and lifetime argument in the order of the type's text. */
#ifndef GP_PLACE_H
#define GP_PLACE_H

#include "dsl/check.h"

#define GP_NONE UINT32_MAX

typedef struct GpRegions {
    const uint32_t *at;
    uint32_t len;
} GpRegions;

typedef enum GpProj {
    GpProj_Root,
    GpProj_Deref,
    GpProj_Field,
    GpProj_Index,
    GpProj_Variant
} GpProj;

/* A place, interned: equal places are one. */
typedef struct GpPlace {
    uint32_t id;
    uint32_t local;
    GpProj proj;
    uint32_t index;       /* Field */
    const GpDef *variant; /* Variant */
    const GpType *type;
    GpRegions regions;
    struct GpPlace *parent; /* NULL: the local itself */
    struct GpPlace *child, *sibling;
    uint32_t child_count;
    uint32_t depth;
    bool is_owned; /* no Deref and no Index on the way: it can be moved out of */
} GpPlace;

typedef enum GpSlotKind {
    GpSlot_Temp,
    GpSlot_User,
    GpSlot_Param,
    GpSlot_Upvar,
    GpSlot_Return
} GpSlotKind;

typedef struct GpSlot {
    GpSlotKind kind;
    const GpLocal *local; /* NULL: a temporary */
    GpPlace *place;
    GpSpan span;
    GpSpan let_span; /* User: its `let` statement; GP_NO_SPAN */
    bool has_init;   /* User: declared together with a value */
    uint32_t live;   /* index among locals with regions; GP_NONE */
} GpSlot;

typedef enum GpUseKind {
    GpUse_Copy,
    GpUse_Move,
    GpUse_Look,    /* which variant: reads the head, no field */
    GpUse_Inspect, /* must be there; nothing is read */
} GpUseKind;
typedef struct GpOperand {
    GpUseKind kind;
    GpPlace *place;
    GpSpan span;
} GpOperand;

typedef enum GpLoanKind { GpLoan_Shared, GpLoan_Mut, GpLoan_TwoPhase } GpLoanKind;
typedef struct GpLoan {
    GpLoanKind kind;
    GpPlace *place;
    uint32_t region;
    GpSpan span;           /* of the borrow expression */
    uint32_t holder;       /* TwoPhase: the temporary whose use activates it */
    uint32_t block, step;  /* where it is made */
    const GpNode *closure; /* a capture of that closure */
    GpSpan use_span;       /* captures: the use inside the closure */
} GpLoan;

typedef enum GpStepKind {
    GpStep_Assign,
    GpStep_Call,
    GpStep_Live,   /* `dst` starts to exist, uninitialised */
    GpStep_Dead,   /* `dst` ends */
    GpStep_Return, /* the function ends: reads the return slot */
} GpStepKind;

/* Why a value moves, for the label. */
typedef enum GpMoveWhy {
    GpMove_Plain,
    GpMove_Method,
    GpMove_Call,
    GpMove_Closure,
    GpMove_Pattern
} GpMoveWhy;

typedef struct GpStep {
    GpStepKind kind;
    GpSpan span;
    GpSpan name_span; /* Call: of the function's name */
    GpOperand *uses;
    uint32_t use_count;
    uint32_t loan; /* GP_NONE: none */
    GpPlace *dst;  /* NULL: none */
    bool is_init;  /* of a local's declaration: no assignment in the source */
    GpMoveWhy why;
    const GpDef *callee;
    uint32_t arg; /* the parameter that the first use becomes */
    const GpNode *node;
    const GpNode *stmt; /* the statement around it */
} GpStep;

typedef struct GpBlockCond {
    GpSpan span;  /* the condition that decides among the successors */
    GpSpan whole; /* the `if` */
} GpBlockCond;

typedef struct GpBlock {
    GP_VEC(GpStep) steps;
    GP_VEC(uint32_t) next;
    GP_VEC(uint32_t) prev; /* in the order in which the edges were made */
    bool is_loop;          /* the head of a loop .. */
    GpSpan loop_span;      /* .. and how it is shown */
    GpBlockCond cond;
    uint32_t order; /* in reverse postorder; GP_NONE unreachable */
} GpBlock;

typedef struct GpOutlives {
    uint32_t longer, shorter;
    GpSpan span;
    bool is_return;
} GpOutlives;

typedef struct GpLifetime {
    GpSym name; /* universal: its lifetime, NULL for an elided one */
    GpSpan span;
    bool is_universal; /* of the caller's: lives past the function */
    uint32_t first;    /* constraints with this `longer`, linked */
} GpLifetime;

typedef struct GpNamedLife {
    GpSym name;
    uint32_t region;
} GpNamedLife;

typedef enum GpCaptureKind { GpCapture_Ref, GpCapture_Mut, GpCapture_Value } GpCaptureKind;
typedef struct GpCapture {
    GpPlace *place; /* in the closure's own body */
    GpCaptureKind kind;
    bool is_moved; /* the closure moves it out again: it can be called once */
    GpSpan span;   /* the use that asks for it */
} GpCapture;

typedef enum GpClosureKind { GpClosure_Fn, GpClosure_Mut, GpClosure_Once } GpClosureKind;

typedef struct GpForm GpForm;
typedef struct GpClosureForm {
    GpForm *body;
    GpClosureKind kind;
    GP_VEC(GpCapture) captures;
    GpSpan moved_span; /* Once: what makes it so */
    const char *moved_name;
} GpClosureForm;

/* One body: of a function or of a closure. */
struct GpForm {
    GpCheck *c;
    GpDef *fn;
    const GpNode *closure; /* NULL: the function's own body */
    const char *bound;     /* closures for a bound: "Fn", "FnMut", "FnOnce"; NULL: inferred */
    GpForm *outer;
    GP_VEC(GpSlot) slots;
    GP_VEC(GpPlace *) places;
    GpMap children; /* of places with many: parent and projection -> GpPlace * */
    GP_VEC(GpLoan) loans;
    GP_VEC(GpBlock) blocks;
    GP_VEC(GpLifetime) regions;
    GP_VEC(GpOutlives) outlives;
    GP_VEC(uint32_t) chain; /* next constraint of the same `longer` */
    GpMap slot_of;          /* GpLocal -> its slot's place */
    uint32_t live_count;    /* slots with regions */
    uint32_t *order;        /* blocks in reverse postorder */
    uint32_t order_count;
    GpMap closures;            /* Closure node -> GpClosureForm, of this body */
    GP_VEC(GpNamedLife) names; /* the function's lifetimes */
    GP_VEC(GpOutlives) known;  /* what the signature promises among the caller's regions */
    uint32_t static_region;    /* plus one; 0: not made yet */
    GpMap variance;            /* GpDef of a type -> bool per lifetime and generic: invariant */
    GpRegions ret;             /* regions of the return type */
    uint32_t reported;         /* errors of this body */
};

/* ---- place.c: locals, places, steps */
uint32_t gp_form_slot(GpForm *f, GpSlotKind kind, const GpType *type, GpSpan span);
uint32_t gp_form_slot_with(GpForm *f, GpSlotKind kind, const GpType *type, GpRegions regions,
                           GpSpan span);
GpPlace *gp_place_deref(GpForm *f, GpPlace *p);
GpPlace *gp_place_field(GpForm *f, GpPlace *p, uint32_t index, const GpType *type);
GpPlace *gp_place_index(GpForm *f, GpPlace *p, const GpType *type);
GpPlace *gp_place_variant(GpForm *f, GpPlace *p, const GpDef *variant);
bool gp_place_is_prefix(const GpPlace *prefix, const GpPlace *p);

/* ---- place_region.c */
uint32_t gp_region_new(GpForm *f);
uint32_t gp_region_count(GpForm *f, const GpType *t);
GpRegions gp_regions_fresh(GpForm *f, const GpType *t);
/* a value with regions `from` becomes one of type t with regions `to` */
void gp_regions_flow(GpForm *f, const GpType *t, GpRegions from, GpRegions to, GpSpan span,
                     bool is_return);
void gp_region_outlives(GpForm *f, uint32_t longer, uint32_t shorter, GpSpan span, bool is_return);
GpRegions gp_regions_of_field(GpForm *f, const GpDef *owner, uint32_t index, const GpType *adt,
                              GpRegions regions, const GpType *type);
/* Lifetimes of the function's own parameters and result. */
typedef struct GpSigRegions {
    GpRegions *params;
    GpRegions ret;
} GpSigRegions;
GpSigRegions gp_regions_of_fn(GpForm *f, const GpDef *fn);
/* The same for one call: named lifetimes and generics are fresh variables. */
GpSigRegions gp_regions_of_call(GpForm *f, const GpRes *callee, const GpType *const *params,
                                const GpType *ret, GpSpan span);
/* of a written type inside the body: `let x: &'a T` */
GpRegions gp_regions_of_node(GpForm *f, GpNode *node, const GpType *t);

/* ---- place_build.h's work, entered here */
GpForm *gp_form_make(GpCheck *c, GpDef *fn);
/* Reverse postorder and predecessors. */
void gp_form_finish(GpForm *f);

/* ---- place_text.c: "`a.b`", or NULL when the place has no name */
const char *gp_place_name(GpForm *f, const GpPlace *p);
const char *gp_place_quoted(GpForm *f, const GpPlace *p); /* in backticks, or "value" */

/* ---- bit sets, one word row per block */
typedef struct GpBits {
    uint64_t *at;
    uint32_t words;
} GpBits;
static inline GpBits gp_bits_make(GpArena *a, uint32_t count) {
    uint32_t words = (count + 63) / 64;
    return (GpBits){GP_NEW_ARRAY(a, uint64_t, words), words};
}
static inline bool gp_bits_has(GpBits b, uint32_t i) { return b.at[i / 64] >> (i % 64) & 1; }
static inline void gp_bits_add(GpBits b, uint32_t i) { b.at[i / 64] |= (uint64_t)1 << (i % 64); }
static inline void gp_bits_del(GpBits b, uint32_t i) { b.at[i / 64] &= ~((uint64_t)1 << (i % 64)); }
/* Sets or clears [from, to). */
static inline void gp_bits_fill(GpBits b, uint32_t from, uint32_t to, bool value) {
    for (uint32_t w = from / 64; w * 64 < to; w++) {
        uint64_t mask = w == from / 64 ? UINT64_MAX << (from % 64) : UINT64_MAX;
        if ((w + 1) * 64 > to)
            mask &= UINT64_MAX >> ((w + 1) * 64 - to);
        b.at[w] = value ? b.at[w] | mask : b.at[w] & ~mask;
    }
}
/* The first one in [from, to); `to` when there is none. */
static inline uint32_t gp_bits_next(GpBits b, uint32_t from, uint32_t to) {
    for (uint32_t w = from / 64; w * 64 < to; w++) {
        uint64_t word = b.at[w] & (w == from / 64 ? UINT64_MAX << (from % 64) : UINT64_MAX);
        if (word)
            return GP_MIN(to, w * 64 + (uint32_t)__builtin_ctzll(word));
    }
    return to;
}
static inline bool gp_bits_join(GpBits into, GpBits from) {
    uint64_t changed = 0;
    for (uint32_t i = 0; i < into.words; i++) {
        changed |= from.at[i] & ~into.at[i];
        into.at[i] |= from.at[i];
    }
    return changed != 0;
}
static inline void gp_bits_copy(GpBits into, GpBits from) {
    memcpy(into.at, from.at, into.words * sizeof *into.at);
}

/* ---- move.c */
void gp_form_check_moves(GpForm *f);
/* ---- borrow.c */
void gp_form_check_borrows(GpForm *f);

#endif
