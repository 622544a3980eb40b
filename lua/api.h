/* What the files of the C API share: handles, and the diagnostics of the call being served. */
#ifndef GP_API_H
#define GP_API_H

#include "lua/state.h"

/* Each holds a reference to its state, its first member, so that it can be freed after gpulua_close. */
struct gpulua_tensor {
    gpulua_state *state;
    GpTensor *tensor;
};
struct gpulua_partition {
    gpulua_state *state;
    GpPartition *partition;
};
struct gpulua_module {
    gpulua_state *state;
    GpModule *module;
    GpKernel **kernels; /* one per kernel of the module, made on first use */
    size_t kernel_count;
};
struct gpulua_op {
    gpulua_state *state;
    GpRunOp *op;
};
struct gpulua_stream {
    gpulua_state *state;
    GpStream *stream;
};
struct gpulua_graph {
    gpulua_state *state;
    GpGraph *graph;
};

enum { GP_API_ARGS = 64 };

/* C code has no lines. */
static inline GpSite gp_api_site(void) { return (GpSite){0, 0}; }

/* The state of a handle, which may be NULL, or a state itself. */
#define GP_API_STATE(object) \
    ((object) ? _Generic((object), gpulua_state *: (void *)(object), default: ((gpulua_tensor *)(object))->state) : NULL)
/* A NULL where something has to be: the call's status, told in place of the last call's diagnostics where there is a state. */
gpulua_status gp_api_missing(gpulua_state *g);
/* The first line of a call that makes something: its object and the place for what is made are there. */
#define GP_API_NEEDS(object, out)                                              \
    do {                                                                       \
        if (out) *(out) = NULL;                                                \
        if (!(object) || !(out)) return gp_api_missing(GP_API_STATE(object)); \
    } while (0)
/* Starts a call: its diagnostics replace those of the last one. NULL when out of memory. */
GpDiags *gp_api_begin(gpulua_state *g);
/* Ends it: a failure that nobody described gets its status' text. */
gpulua_status gp_api_end(gpulua_state *g, GpStatus status);
/* A wrong argument in words; false. */
GP_PRINTF(2, 3) bool gp_api_refuse(GpDiags *diags, const char *fmt, ...);
/* False for no dtype, and reports which there are. */
bool gp_api_elem(gpulua_state *g, const char *name, GpElem *out);
/* False for extents that make no shape, and reports which. */
bool gp_api_shape(const int64_t *dims, size_t rank, GpDiags *diags, GpShape *out);
/* Takes the reference; frees it when there is no memory for the handle. */
GpStatus gp_api_wrap_tensor(gpulua_state *g, GpTensor *t, gpulua_tensor **out);
/* A new tensor like t on device d, with t's contents. */
GpStatus gp_api_copied(gpulua_tensor *t, GpDevice *d, GpDiags *diags, GpTensor **out);
/* The kernel with the options, a reference of its own. */
GpStatus gp_api_kernel(gpulua_module *m, const char *name, const gpulua_launch_options *options,
                       GpKernel **out);
typedef struct GpApiCall {
    gpulua_module *module;
    const char *kernel;
    const gpulua_arg *args;
    size_t arg_count;
    const gpulua_launch_options *options;
} GpApiCall;
/* Every check before ownership; `*used` is a reference to the kernel that owns the request. */
GpStatus gp_api_prepare(const GpApiCall *call, GpKernel **used, GpRunRequest *request);

#endif
