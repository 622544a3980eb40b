/* What every unit test includes: cmocka with its prerequisites, in the order that it needs. */
#ifndef GP_UNIT_H
#define GP_UNIT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "core/str.h"

/* Calls fn with the first, second, ... allocation failing until it succeeds. fn returns whether
** it did; whatever happens, it must give all memory back. Returns how many runs failed. */
static inline int fail_every_allocation(bool (*fn)(GpSession *s)) {
    for (int n = 1;; n++) {
        GpSession s;
        gp_session_init(&s, NULL, NULL, NULL);
        s.fail_at = (uint64_t)n;
        bool is_done = fn(&s);
        assert_int_equal(s.bytes, 0);
        if (is_done)
            return n - 1;
        assert_true(n < 10000);
    }
}

#endif
