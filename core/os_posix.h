/* What gpulua needs of the operating system beside memory: a clock and whole files. */
#ifndef GP_OS_POSIX_H
#define GP_OS_POSIX_H

#include "core/str.h"

/* Monotonic time in nanoseconds; only differences mean anything. */
uint64_t gp_clock_ns(void);

/* Appends the whole file to `out`. GpStatus_Io leaves errno telling why. Blocks. */
GP_NODISCARD GpStatus gp_file_read(const char *path, GpText *out);
/* Writes the file beside its place and renames it there: readers see the old contents or the
** new, never a part. GpStatus_Io leaves errno and the old file. Blocks. */
GP_NODISCARD GpStatus gp_file_write(GpSession *s, const char *path, const void *data, size_t len);

#endif
