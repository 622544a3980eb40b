/* Every body's place form, made anew, as the checker judges it and as the second judges do. */
#include "dsl/place_build.h"
#include "spec/fuzz/judge.h"

/* Codes that only bodies get whose types are right. */
static const GpDiagCode codes_of_bodies[] = {GpDiag_E0373, GpDiag_E0381, GpDiag_E0382, GpDiag_E0499,
                                             GpDiag_E0502, GpDiag_E0503, GpDiag_E0505, GpDiag_E0506,
                                             GpDiag_E0507, GpDiag_E0508, GpDiag_E0515, GpDiag_E0597,
                                             GpDiag_E0621, GpDiag_E0716, GpDiag_G0160};

static bool is_of_body(GpDiagCode code) {
    for (size_t i = 0; i < GP_COUNT(codes_of_bodies); i++)
        if (codes_of_bodies[i] == code)
            return true;
    return false;
}

bool judge_has_types(const Judged *j) {
    for (uint32_t i = 0; i < gp_diags_count(j->diags); i++) {
        const GpDiag *d = gp_diags_at(j->diags, i);
        if (gp_diag_severity(d) == GpSeverity_Error && !is_of_body(gp_diag_code(d)))
            return false;
    }
    return true;
}

static bool has_any(const GpDiags *ds, const GpDiagCode *codes, size_t count) {
    for (uint32_t i = 0; i < gp_diags_count(ds); i++)
        for (size_t k = 0; k < count; k++)
            if (gp_diag_code(gp_diags_at(ds, i)) == codes[k])
                return true;
    return false;
}

typedef struct Bodies {
    const Judged *j;
    GpCheck c;
} Bodies;

static void compare(Bodies *b, const GpForm *f, const char *what, bool is_told, bool is_so) {
    judge_require(b->j, is_told == is_so, "%s of %s%s: %s, but %s", what, f->fn->name->name,
                  f->closure ? "'s closure" : "", is_told ? "reported" : "not reported",
                  is_so ? "a path has it" : "no path has it");
}

static GpDiags *fresh_diags(Bodies *b) {
    GpDiags *ds = gp_diags_new(b->c.std->session);
    if (!ds)
        gp_throw(b->c.std->session, GpStatus_NoMemory);
    b->c.diags = ds;
    return ds;
}

static void compare_moves(Bodies *b, GpForm *f) {
    static const GpDiagCode used[] = {GpDiag_E0381, GpDiag_E0382}, reassigned[] = {GpDiag_E0384};
    bool is_used, is_reassigned;
    if (!judge_moves(f, &is_used, &is_reassigned))
        return;
    GpDiags *ds = fresh_diags(b);
    gp_form_check_moves(f);
    bool is_full = gp_diags_errors(ds) >= GP_MAX_ERRORS;
    bool told_used = has_any(ds, used, GP_COUNT(used)),
         told_reassigned = has_any(ds, reassigned, GP_COUNT(reassigned));
    gp_diags_release(ds);
    if (is_full)
        return;
    compare(b, f, "a use of what is gone", told_used, is_used);
    compare(b, f, "a second assignment", told_reassigned, is_reassigned);
}

static void compare_loans(Bodies *b, GpForm *f) {
    static const GpDiagCode conflicts[] = {GpDiag_E0373, GpDiag_E0499, GpDiag_E0502,
                                           GpDiag_E0503, GpDiag_E0505, GpDiag_E0506,
                                           GpDiag_E0515, GpDiag_E0597, GpDiag_E0716};
    bool is_met;
    if (!judge_loans(f, &is_met))
        return;
    GpDiags *ds = fresh_diags(b);
    gp_form_check_borrows(f);
    bool is_full = gp_diags_errors(ds) >= GP_MAX_ERRORS;
    bool is_told = has_any(ds, conflicts, GP_COUNT(conflicts));
    gp_diags_release(ds);
    if (!is_full)
        compare(b, f, "a conflict of borrows", is_told, is_met);
}

static void judge_form(Bodies *b, GpForm *f) {
    compare_moves(b, f);
    compare_loans(b, f);
    for (uint32_t i = 0; i < f->closures.cap; i++)
        if (f->closures.slots[i].key)
            judge_form(b, ((GpClosureForm *)f->closures.slots[i].value)->body);
}

static void judge_all(GpSession *s, void *ud) {
    Bodies *b = ud;
    (void)s;
    const GpModule *m = b->j->module;
    for (uint32_t i = 0; i < m->fn_count; i++) {
        GpNode *n = m->fns[i]->node;
        if (n && n->kind == GpNode_Fn && GP_AS(Fn, n)->body)
            judge_form(b, gp_form_make(&b->c, m->fns[i]));
    }
}

void judge_bodies(const Judged *j) {
    if (!judge_has_types(j))
        return;
    GpStd *std = j->std;
    Bodies b = {j,
                {.module = j->module,
                 .std = std,
                 .arena = j->module->arena,
                 .types = std->types,
                 .names = std->names}};
    judge_protect(j, judge_all, &b);
}
