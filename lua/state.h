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

struct gpulua_state {
    GpEngine *engine;
    lua_State *L;
    bool owns_lua;
    GpDiags *diags;                    /* of the last call of the C API; never NULL */
    volatile sig_atomic_t interrupted; /* set by gpulua_interrupt */
    int (*host_interrupted)(void *ud); /* the host's own poll, or NULL */
    void *hook_ud;
    void (*write)(void *ud, const char *text, size_t len);
    void (*log)(void *ud, const char *text, size_t len);
};

/* Opens a state. L NULL: with a Lua of its own. The Lua module is registered in package.preload
** of L, with the state as its upvalue. */
gpulua_status gp_state_open(lua_State *L, const gpulua_config *config, gpulua_state **out);

/* ---- Userdata (one metatable each; the name is what users read in messages) --------------- */

#define GP_TENSOR "gpulua.Tensor"       /* GpTensorBox */
#define GP_PARTITION "gpulua.Partition" /* GpPartitionBox */
#define GP_MODULE "gpulua.Module"       /* GpModuleBox: what gpu.kernels returns */
#define GP_KERNEL "gpulua.Kernel"       /* GpKernelBox */
#define GP_OP_NAME "gpulua.Op"          /* GpOpBox */
#define GP_STREAM "gpulua.Stream"       /* GpStreamBox */
#define GP_DEVICE "gpulua.Device"       /* GpDeviceBox */
#define GP_ERROR "gpulua.Error"         /* GpErrorBox */

/* Each holds one reference, NULL once given up (moved, closed, collected). */
typedef struct GpTensorBox { GpTensor *tensor; } GpTensorBox;
typedef struct GpPartitionBox { GpPartition *partition; } GpPartitionBox;
typedef struct GpModuleBox { GpModule *module; } GpModuleBox;
typedef struct GpKernelBox { GpKernel *kernel; } GpKernelBox;
typedef struct GpOpBox { GpRunOp *op; GpKernel *kernel; } GpOpBox;
typedef struct GpStreamBox { GpStream *stream; } GpStreamBox;
typedef struct GpDeviceBox { GpDevice *device; } GpDeviceBox;
typedef struct GpErrorBox { GpDiags *diags; } GpErrorBox; /* user value 1: the traceback */

/* The state behind the running function: every function of the module has it as upvalue 1. */
gpulua_state *gp_lua_state(lua_State *L);
/* The site of the Lua code that called the running C function. */
GpSite gp_lua_site(lua_State *L);

/* Pushes a new userdata; the reference moves into it. May raise out of memory before it takes. */
void gp_lua_push_tensor(lua_State *L, GpTensor *t);

/* ---- Errors (lerror.c) -------------------------------------------------------------------- */

/* A fresh list in a to-be-closed position on the stack (a gpulua.Error userdata that is pushed),
** so that nothing leaks when something raises. */
GpDiags *gp_lua_diags(lua_State *L);
/* Raises the error object at the top of the stack when `status` is not Ok; returns on Ok. */
void gp_lua_check(lua_State *L, GpStatus status, GpDiags *diags);
/* nil, err for environment failures; raises for mistakes of the caller. Returns the number of
** results when it returns. */
int gp_lua_fail(lua_State *L, GpStatus status, GpDiags *diags);

/* ---- Functions with their documentation ---------------------------------------------------
** {name, function, "signature", "doc"}: the doc strings feed gpu.help() and docs/api.md. */
typedef struct GpLuaFn {
    const char *name;
    lua_CFunction fn;
    const char *usage; /* "zeros{n, ..} [, dtype] -> Tensor" */
    const char *doc;
} GpLuaFn;

/* Tables of functions, NULL name at the end; one per file. */
extern const GpLuaFn gp_lua_module_fns[];     /* lmodule.c: gpu.* */
extern const GpLuaFn gp_lua_creation_fns[];   /* lcreate.c: gpu.zeros ... */
extern const GpLuaFn gp_lua_tensor_fns[];     /* ltensor.c: methods */
extern const GpLuaFn gp_lua_partition_fns[];
extern const GpLuaFn gp_lua_kernel_fns[];
extern const GpLuaFn gp_lua_op_fns[];
extern const GpLuaFn gp_lua_stream_fns[];
extern const GpLuaFn gp_lua_device_fns[];
extern const GpLuaFn gp_lua_error_fns[];

#endif
