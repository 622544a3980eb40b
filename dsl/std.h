/* The embedded sources of the built-in crates (dsl/std, made into C by cmake/EmbedStd.cmake). */
#ifndef GP_STD_H
#define GP_STD_H

#include <stddef.h>

typedef struct GpStdSource {
    const char *crate; /* file name without .rs */
    const char *text;
    size_t len;
} GpStdSource;
/* dsl/std, and lua/library: kernels of the library itself. */
extern const GpStdSource gp_std_sources[];
extern const size_t gp_std_source_count;
extern const GpStdSource gp_library_sources[];
extern const size_t gp_library_source_count;

#endif
