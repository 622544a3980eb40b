/* The only setjmp and longjmp. Used for exhausted resources and hard limits, never for a
** user's mistake; no frame of LLVM, CUDA or Lua may lie between throw and protect. */
#include <setjmp.h>

#include "core/session.h"

struct GpJump {
    jmp_buf env;
    GpJump *outer;
    volatile GpStatus status; /* written between setjmp and longjmp */
};

GpStatus gp_protect(GpSession *s, void (*fn)(GpSession *s, void *ud), void *ud) {
    GpJump jump = {.outer = s->jump, .status = GpStatus_Ok};
    s->jump = &jump;
    if (setjmp(jump.env) == 0)
        fn(s, ud);
    s->jump = jump.outer;
    return jump.status;
}

void gp_throw(GpSession *s, GpStatus status) {
    gp_assert(s->jump != NULL);
    gp_assert(status != GpStatus_Ok);
    s->jump->status = status;
    longjmp(s->jump->env, 1);
}
