/* gpulua_state, and what the Lua module's files share. Only lua/ may raise Lua errors; nothing
** may raise between acquiring something in C and storing it in a userdata: create the userdata
** empty first, fill it second. */
#ifndef GP_STATE_H
#define GP_STATE_H

#include <signal.h>

#include <lauxlib.h>
#include <lua.h>

#include "core/include/gpulua.h"
#include "lua/engine.h"

/* A Lua function, and where in its code it is. */
typedef struct GpLuaPlace {
    const void *function; /* lua_topointer */
    const void *pc;
} GpLuaPlace;

/* Reference-counted: the opener has one reference, every live userdata and C handle one more, so
** finalisers may run in any order, after gpulua_close too. */
struct gpulua_state {
    uint32_t refs;
    bool is_closed;
    GpEngine *engine;
    lua_State *L;
    struct GpBox *boxes; /* the filled ones of all its userdata */
    uint32_t anchors;
    lua_State *running; /* the coroutine of the last call; NULL: the last call came from C */
    bool owns_lua;
    GpDiags *diags;     /* of the call being served; the same list as long as the state lives */
    GpDiags *last;      /* what the C API reports: the last call's diagnostics; may be NULL */
    GpText text;        /* that the last call of the C API gave */
    GpText typed;       /* the chunk that was typed last, "=stdin\n" and its text; empty: none */
    volatile sig_atomic_t interrupted; /* set by gpulua_interrupt, taken by the next wait */
    gpulua_config config;
    GpLuaPlace caller;  /* of the last call, and what that is for the engine */
    GpSite caller_site;
    uint64_t random_seed, random_stream;
    uint64_t gc_debt;   /* device bytes allocated since the collector was last driven */
};

/* Opens a state. L NULL: with a Lua of its own. package.preload.gpulua of L then gives the
** module over this state.
**
** The functions of the module have an anchor as upvalue 1: a userdata with the state, which holds
** a reference until Lua finalises it. Functions that run later (in finalisers of older objects)
** find it empty. */
gpulua_status gp_state_open(lua_State *L, const gpulua_config *config, gpulua_state **out);
/* The text that main chunks of that name, "=stdin", have from now on. */
void gp_state_type(gpulua_state *g, const char *name, const char *text);
/* What the engine knows the chunk of a function as. */
const char *gp_state_chunk(const gpulua_state *g, const lua_Debug *ar);
gpulua_state *gp_state_retain(gpulua_state *g);
void gp_state_release(gpulua_state *g);

/* ---- Userdata: one metatable each; the name is what users read in messages ------------------
** Each box holds one reference, NULL once given up, and a reference to the state. */

/* One address each: a box knows its type by it, without a look at the registry. */
extern const char gp_type_tensor[];
extern const char gp_type_partition[];
extern const char gp_type_module[];
extern const char gp_type_kernel[];
extern const char gp_type_op[];
extern const char gp_type_graph[];
extern const char gp_type_stream[];
extern const char gp_type_device[];
extern const char gp_type_error[];
#define GP_TENSOR gp_type_tensor
#define GP_PARTITION gp_type_partition
#define GP_MODULE gp_type_module /* what gpu.kernels returns */
#define GP_KERNEL gp_type_kernel
#define GP_RUN_OP gp_type_op /* user values: the written arguments, in parameter order */
#define GP_GRAPH gp_type_graph   /* user value 1: its arguments by name */
#define GP_STREAM gp_type_stream
#define GP_DEVICE gp_type_device
#define GP_ERROR gp_type_error /* user value 1: the traceback */

typedef struct GpBox {
    gpulua_state *state; /* NULL: empty */
    union {
        void *object;
        GpTensor *tensor;
        GpPartition *partition;
        GpModule *module;
        GpKernel *kernel;
        GpRunOp *op;
        GpGraph *graph;
        GpStream *stream;
        GpDevice *device;
        GpDiags *diags;
    };
    uint32_t written; /* ops: number of user values */
    const char *type;
    struct GpBox *next, **at; /* the filled boxes of the state, and where this one hangs */
} GpBox;

/* Pushes an empty box; fill it with gp_box_fill, which cannot raise and takes the reference. */
GpBox *gp_box_push(lua_State *L, const char *type, int user_values);
void gp_box_fill(lua_State *L, GpBox *box, void *object);
/* The same for a state that is at hand. */
void gp_box_give(gpulua_state *g, GpBox *box, void *object);
/* Gives back what it holds; nothing for an empty one. */
void gp_box_empty(GpBox *box);
/* The box at `index`; raises a type error naming what was there, or "closed" for an empty one. */
GpBox *gp_box_check(lua_State *L, int index, const char *type);
/* The same without raising: NULL when it is something else. */
GpBox *gp_box_test(lua_State *L, int index, const char *type);
GpStream *gp_box_opt_stream(lua_State *L, int index); /* NULL where there is nothing or nil */
/* What may be a box: its type tells, which in userdata of others is no type of ours. */
static inline GpBox *gp_box_at(lua_State *L, int index) {
    GpBox *box = lua_touserdata(L, index);
    return box && lua_rawlen(L, index) == sizeof(GpBox) ? box : NULL;
}

/* Pushes an anchor with a reference to the state; `closes`: gpulua_close runs when it dies. */
void gp_lua_push_anchor(lua_State *L, gpulua_state *g, bool closes);
/* The state in the anchor at `index`; NULL once it was finalised. */
gpulua_state *gp_lua_anchored(lua_State *L, int index);
/* The state behind the running function; notes the coroutine that runs. Raises when the state was
** closed. */
gpulua_state *gp_lua_state(lua_State *L);
/* The site of the Lua code that called the running C function. */
GpSite gp_lua_site(lua_State *L);
/* The same for a state that is at hand. */
GpSite gp_state_site(gpulua_state *g, lua_State *L);
/* The nearest Lua function on the stack, level 0 being the running C function; false when C code
** called it. */
bool gp_lua_caller(lua_State *L, lua_Debug *ar);
/* What runs at the level that lua_getstack found (lframe.c); of a C function, the function alone. */
GpLuaPlace gp_lua_place(const lua_Debug *ar);
/* Clears registers of the functions on the stack that nothing will read (lframe.c). */
void gp_lua_clear_dead(lua_State *L);
/* The name that the caller's code has for a tensor, partition or op (lname.c): what the running
** method is called on, else a local, an upvalue, a global, or a field of one of those, rather one
** that stands on the line that runs. `at` gets its place there, no span without one. */
bool gp_lua_name(lua_State *L, gpulua_state *g, const void *object, GpText *out, GpSpan *at);

/* ---- Errors (lerror.c) --------------------------------------------------------------------- */

/* Where the call being served reports to: empty now. Lives as long as the state, whatever calls a
** finaliser makes meanwhile. */
GpDiags *gp_lua_diags(lua_State *L);
/* The same for a state that is at hand. */
GpDiags *gp_state_diags(gpulua_state *g, lua_State *L);
/* Returns on Ok; otherwise raises an error object with what was reported and a traceback. */
void gp_lua_check(lua_State *L, GpStatus status);
/* Pushes nil and the error object for an environment failure and returns 2; raises for a mistake
** of the caller. */
int gp_lua_fail(lua_State *L, GpStatus status);
/* Pushes the error object. */
void gp_lua_push_error(lua_State *L, GpStatus status);

/* ---- Arguments ----------------------------------------------------------------------------- */

/* The length of a list; raises where a __len makes it negative. */
lua_Integer gp_lua_len(lua_State *L, int index);
/* Reads a shape from a table {n, ..} at `index` (or from a lone integer). Raises with the
** argument's number on anything else, more numbers behind it, a negative extent, or more than
** GP_MAX_RANK. `what` names it in messages: "a shape". */
void gp_lua_shape(lua_State *L, int index, const char *what, GpShape *out);
/* The shape of a tensor to be made: the table may have the field `dtype`, and a number may follow. */
void gp_lua_new_shape(lua_State *L, int index, GpShape *out);
/* Reads a dtype name; `preset` when none or nil. */
GpElem gp_lua_elem(lua_State *L, int index, GpElem preset);
/* The dtype of a tensor to be made: at `arg`, else a field of the shape's table, else `preset`. */
GpElem gp_lua_new_elem(lua_State *L, int shape, int arg, GpElem preset);
/* A number or boolean as a value of `elem`; false when it is none or does not convert. */
bool gp_lua_to_scalar(lua_State *L, int index, GpElem elem, GpScalar *out);
/* The same, raising with the argument's number. */
GpScalar gp_lua_scalar(lua_State *L, int index, GpElem elem);

/* The values from index `first` to `last` as a kernel's arguments; returns their count. Texts that
** describe unfit ones stay on the stack. */
enum { GP_LUA_MAX_ARGS = 64 };
uint32_t gp_lua_read_args(lua_State *L, int first, int last, GpCallArg *args);

/* op:graph(), in lgraph.c. */
int gp_lua_op_graph(lua_State *L);

/* ---- The module's tables ---------------------------------------------------------------------
** {name, function, usage, doc}: the doc strings feed gpu.help() and docs/api.md. A name that
** starts with __ is a metamethod. NULL name ends a table. */
typedef struct GpLuaFn {
    const char *name;
    lua_CFunction fn;
    const char *usage; /* "zeros{n, ..} [, dtype] -> Tensor" */
    const char *doc;
} GpLuaFn;

/* What a launch takes of its device (api_make.c). */
GpStatus gp_kernel_info(GpKernel *kernel, const GpRunRequest *request, gpulua_launch_info *out);
int gp_lua_push_extents(lua_State *L, const int64_t *dims, int rank); /* lpartition.c: as a table */

extern const GpLuaFn gp_lua_kernel_functions[];   /* lkernel.c: gpu.kernels, gpu.try_kernels */
extern const GpLuaFn gp_lua_create_functions[];   /* lcreate.c: gpu.zeros, ... */
extern const GpLuaFn gp_lua_borrow_functions[];   /* lborrow.c: gpu.borrow */
extern const GpLuaFn gp_lua_device_functions[];   /* ldevice.c: gpu.device, gpu.stream, gpu.sync, ... */
extern const GpLuaFn gp_lua_tune_functions[];     /* ltune.c: gpu.tune */
extern const GpLuaFn gp_lua_graph_functions[];    /* lgraph.c: gpu.graph */
extern const GpLuaFn gp_lua_image_functions[];    /* limage.c: gpu.write_png */
extern const GpLuaFn gp_lua_ops_functions[];      /* lops.c: gpu.ops */
extern const GpLuaFn gp_lua_help_functions[];     /* lhelp.c: gpu.help */
extern const GpLuaFn gp_lua_tensor_methods[];     /* ltensor.c */
extern const GpLuaFn gp_lua_partition_methods[];  /* lpartition.c */
extern const GpLuaFn gp_lua_module_methods[];     /* lkernel.c */
extern const GpLuaFn gp_lua_kernel_methods[];     /* lkernel.c */
extern const GpLuaFn gp_lua_op_methods[];         /* lop.c */
extern const GpLuaFn gp_lua_graph_methods[];      /* lgraph.c */
extern const GpLuaFn gp_lua_stream_methods[];     /* lstream.c */
extern const GpLuaFn gp_lua_device_methods[];     /* ldevice.c */
extern const GpLuaFn gp_lua_error_methods[];      /* lerror.c */

/* The functions of the module itself, table by table; NULL ends it. */
extern const GpLuaFn *const gp_lua_functions[];

/* Every type of userdata with its methods; drives opening, help and docs. NULL type ends it. */
typedef struct GpLuaType {
    const char *type;
    const GpLuaFn *methods;
    void (*release)(GpBox *box); /* gives the object's reference back */
} GpLuaType;
extern const GpLuaType gp_lua_types[];

/* Drives Lua's collector after `bytes` of device memory were allocated, so that dropped tensors
** are found before the device is full (lgc.c). */
void gp_lua_account(lua_State *L, gpulua_state *g, uint64_t bytes);

#endif
