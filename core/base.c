/* The one abort of gpulua. */
#include "core/base.h"

#include <stdio.h>
#include <stdlib.h>

void gp_bug(const char *file, int line, const char *what) {
    fprintf(stderr, "gpulua: internal error at %s:%d: %s\n", file, line, what);
    abort();
}
