/* The text of a tensor, for tostring and the C API. */
#ifndef GP_LPRINT_H
#define GP_LPRINT_H

#include "lua/engine.h"

/* "tensor{2, 3} f32 cpu  [[1, 2, 3], [4, 5, 6]]", the middle of long axes left out; only what is
** shown is fetched. Counts as a read and waits for pending work. */
GpStatus gp_tensor_print(GpTensor *t, GpSite site, GpDiags *diags, GpText *out);

#endif
