/* The interpreter behind a CPU image: what every backend is tested against. */
#include "codegen/emit.h"

typedef struct Oracle {
    GpArena *arena; /* holds the function and this */
    const GpIrFn *fn;
} Oracle;

static void run_oracle(void *self, const uint8_t *params, const GpGrid *grid, uint64_t first,
                       uint64_t count, GpStop *stop) {
    gp_interp_run(((const Oracle *)self)->fn, params, grid, first, count, stop);
}

static void release_oracle(void *self) { gp_arena_free(((Oracle *)self)->arena); }

typedef struct Copy {
    GpArena *arena;
    const GpIrFn *from;
    Oracle *oracle;
} Copy;

static void copy_function(GpSession *s, void *ud) {
    (void)s;
    Copy *c = ud;
    c->oracle = GP_NEW(c->arena, Oracle);
    GpIrFn *fn = gp_ir_clone(c->arena, c->from);
    gp_ir_number(fn);
    *c->oracle = (Oracle){c->arena, fn};
}

GpStatus gp_oracle_compile(GpSession *s, const GpIrFn *fn, GpImage *image) {
    Copy c = {gp_arena_new(s), fn, NULL};
    if (!c.arena)
        return GpStatus_NoMemory;
    GpStatus status = gp_protect(s, copy_function, &c);
    if (status != GpStatus_Ok) {
        gp_arena_free(c.arena);
        return status;
    }
    image->kind = GpImage_Cpu;
    image->cpu_entry = run_oracle;
    image->cpu_self = c.oracle;
    image->release = release_oracle;
    return GpStatus_Ok;
}
