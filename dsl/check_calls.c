/* The call graph of a module: helpers take the track of what they call, a kernel may not reach the
** other track's operations through them, and nothing may call itself, since all is inlined; nor
** may a constant need its own value. */
#include "dsl/check_body.h"

GpDiag *gp_report_track(GpCheck *c, const GpDef *fn, GpSpan span, const char *callee, GpTrack track) {
    const char *name = fn->name ? fn->name->name : "_";
    const char *theirs = track == GpTrack_Tile ? "tile" : "SIMT";
    const char *own = track == GpTrack_Tile ? "SIMT" : "tile";
    GpDiag *d = gp_diag(c->diags, GpDiag_G0221, span, callee, theirs, name, own);
    if (fn->kernel.track != GpTrack_None && fn->kernel.span.src)
        gp_label(d, fn->kernel.span, "this makes `%s` a %s kernel", name, own);
    return d;
}

/* One round of spreading tracks from callees to callers. */
static bool spread(GpCheck *c, GpDef *fn) {
    bool changed = false;
    for (uint32_t i = 0; i < fn->call_count; i++) {
        const GpCallEdge *e = &fn->calls[i];
        GpTrack track = e->callee->track;
        if (e->callee->is_std || track == GpTrack_None || fn->track == track)
            continue;
        if (fn->track == GpTrack_None) {
            fn->track = track;
            changed = true;
        } else if (e->callee->kernel.track == GpTrack_None) {
            GpDiag *d = gp_report_track(c, fn, e->span, e->callee->name->name, track);
            gp_primary_label(d, "uses %s operations", track == GpTrack_Tile ? "tile" : "SIMT");
        }
    }
    return changed;
}

/* ---- recursion --------------------------------------------------------------------------- */

typedef struct Visit {
    GpDef *fn;
    uint32_t at; /* next edge */
} Visit;

enum { Seen_No = 2, Seen_Open = 3, Seen_Done = 4 }; /* check_state, which the checker left at 2 */

static void report_cycle(GpCheck *c, const GpDef *from, const GpCallEdge *e) {
    if (e->callee->kind == GpDef_Const) {
        gp_primary_label(gp_diag(c->diags, GpDiag_E0391, e->callee->span, e->callee->name->name),
                         "the constant needs its own value");
        return;
    }
    if (e->callee->kernel.track != GpTrack_None) /* its call is the mistake: G0222 */
        return;
    GpDiag *d = gp_diag(c->diags, GpDiag_G0250, e->span,
                        gp_arena_printf(c->arena, "`%s` leads to itself", e->callee->name->name));
    gp_primary_label(d, from == e->callee ? "recursive call" : "leads back to `%s`",
                     e->callee->name->name);
    gp_help(d, "write it as a loop");
}

/* Depth first with a stack of our own: chains of helpers may be long. */
static void find_cycles(GpCheck *c, GpDef *root) {
    GP_VEC(Visit) stack = {0};
    root->check_state = Seen_Open;
    GP_PUSH(c->arena, &stack, ((Visit){root, 0}));
    while (stack.len) {
        Visit *v = &stack.at[stack.len - 1];
        if (v->at == v->fn->call_count) {
            v->fn->check_state = Seen_Done;
            stack.len--;
            continue;
        }
        const GpCallEdge *e = &v->fn->calls[v->at++];
        if (e->callee->check_state == Seen_Open) {
            report_cycle(c, v->fn, e);
        } else if (e->callee->check_state == Seen_No) {
            GpDef *next = (GpDef *)(uintptr_t)e->callee;
            next->check_state = Seen_Open;
            GP_PUSH(c->arena, &stack, ((Visit){next, 0}));
        }
    }
}

/* A cycle that a shape needed was reported already. */
static bool has_cycle(const GpDiags *ds) {
    for (uint32_t i = 0; i < gp_diags_count(ds); i++)
        if (gp_diag_code(gp_diags_at(ds, i)) == GpDiag_E0391)
            return true;
    return false;
}

void gp_check_calls(GpCheck *c) {
    GpModule *m = c->module;
    bool changed = true;
    while (changed) {
        changed = false;
        for (uint32_t i = 0; i < m->fn_count; i++)
            changed |= spread(c, m->fns[i]);
    }
    bool is_reported = has_cycle(c->diags);
    for (uint32_t i = 0; i < m->const_count; i++) {
        if (is_reported)
            m->consts[i]->check_state = Seen_Done;
        else if (m->consts[i]->check_state == Seen_No)
            find_cycles(c, m->consts[i]);
    }
    for (uint32_t i = 0; i < m->fn_count; i++)
        if (m->fns[i]->check_state == Seen_No)
            find_cycles(c, m->fns[i]);
}
